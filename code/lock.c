/* Testudo: locks that know their owner. SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "code/lock.h"
#include "code/check.h"
#include "code/clock.h"
#include "code/platform.h"
#include "code/stop.h"

#if TDO_THREADS && TDO_PF_LINUX
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#elif TDO_THREADS
#include <sched.h>
#endif

_Thread_local char tdo_lock_thread
    __attribute__((tls_model("initial-exec")));

#define LOCK_SPINS 50 /* some microseconds: most claims are shorter */

static tdo_lock_t lock_global = TDO_LOCK_INIT;

/* What a thread waits for, and in handlers that interrupted it there. */
typedef struct lock_waits {
  const tdo_lock_t *lock;
  const struct lock_waits *outer;
} lock_waits_t;

static _Thread_local const lock_waits_t *volatile lock_waits
    __attribute__((tls_model("initial-exec")));

void tdo_lock_init(tdo_lock_t *lock) {
  atomic_init(&lock->owner, 0);
  atomic_init(&lock->waiting, 0);
  atomic_init(&lock->turn, 0);
  atomic_init(&lock->starved, 0);
  atomic_init(&lock->saved, 0);
  atomic_init(&lock->late, false);
}

void tdo_lock_finish(tdo_lock_t *lock) {
  TDO_ASSERT(!tdo_lock_held(lock), "a lock is destroyed while it is held");
}

#if TDO_THREADS

/* Tell the processor that this is a loop that waits. */
static inline void lock_relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

/* Most have it for less time than it takes to sleep and to be woken. */
static bool lock_spin(tdo_lock_t *lock) {
  for (int i = 0; i < LOCK_SPINS; ++i) {
    lock_relax();
    if (!tdo_lock_held(lock) && tdo_lock_try(lock))
      return true;
  }
  return false;
}

#define LOCK_PATIENCE_NS 2000000

/* Until *WORD is another than VALUE, or for a while. False when PATIENT no
   longer. */
static bool lock_sleep(atomic_uint *word, unsigned value, bool patient) {
#if TDO_PF_LINUX
  const struct timespec patience = {0, LOCK_PATIENCE_NS};
  int saved_errno = errno;
  bool late = syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value,
                      patient ? &patience : NULL, NULL, 0) != 0 &&
              errno == ETIMEDOUT;
  errno = saved_errno;
  return !late;
#else
  (void)word, (void)value, (void)patient;
  (void)sched_yield();
  return true;
#endif
}

static void lock_wake(atomic_uint *word, int most) {
#if TDO_PF_LINUX
  int saved_errno = errno;
  (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, most, NULL, NULL, 0);
  errno = saved_errno;
#else
  (void)word, (void)most;
#endif
}

/* A thread that does nothing but claim and release takes the lock again before
   a waiter is awake, each time: so may one that collects in a loop. A waiter
   that was woken in vain this often, for this long, is starved. Sooner, and
   threads that share the lock would take turns by sleeping; never, and one of
   32 waited twice as long. */
#define LOCK_VAIN 4
#define LOCK_VAIN_NS 2000000

/* A waiter is counted before it reads the turn and looks again, and who
   releases looks at the count afterwards: it sees this waiter, or this waiter
   sees that the lock is free. A wake that a signal handler's claim on this
   thread used up reaches the next waiter by that claim's release.

   Who has the lock may wait in turn until this thread is stopped, which may be
   in a handler that blocks all signals: when it takes long, it can be. */
static void lock_wait(tdo_lock_t *lock) {
  bool patient = true, blocked = false, starved = false;
  uint64_t begun = tdo_clock_ns();
  lock_waits_t waits = {lock, lock_waits};
  lock_waits = &waits;
  (void)atomic_fetch_add(&lock->waiting, 1);
  for (unsigned vain = 0;; ++vain) {
    unsigned turn = atomic_load(&lock->turn);
    if (tdo_lock_try(lock))
      break;
    if (!starved && vain >= LOCK_VAIN &&
        tdo_clock_past(begun + LOCK_VAIN_NS)) {
      starved = true;
      (void)atomic_fetch_add(&lock->starved, 1);
    }
    if (starved)
      atomic_store(&lock->late, false);
    if (!lock_sleep(&lock->turn, turn, patient)) {
      patient = false;
      blocked = tdo_stop_admit(true);
    }
  }
  (void)atomic_fetch_sub(&lock->waiting, 1);
  lock_waits = waits.outer;
  if (starved) {
    (void)atomic_fetch_sub(&lock->starved, 1);
    (void)atomic_fetch_add(&lock->saved, 1);
    lock_wake(&lock->saved, INT_MAX);
  }
  if (blocked)
    (void)tdo_stop_admit(false);
}

/* Wake a waiter, and while one is starved give way, for a while at most, until
   one of them has had the lock. If none came, not again before one has been
   awake: a handler may have interrupted it, on this very thread perhaps. */
static void lock_pass_on(tdo_lock_t *lock) {
  unsigned saved = atomic_load(&lock->saved);

  (void)atomic_fetch_add(&lock->turn, 1);
  lock_wake(&lock->turn, 1);
  if (atomic_load(&lock->starved) != 0 && !atomic_load(&lock->late) &&
      !lock_sleep(&lock->saved, saved, true))
    atomic_store(&lock->late, true);
}

#endif

void tdo_lock_claim(tdo_lock_t *lock) {
  TDO_ASSERT(!tdo_lock_mine(lock),
             "this thread is already inside the library (was a locked "
             "function called from a callback?)");
#if TDO_THREADS
  if (!tdo_lock_try(lock) && !lock_spin(lock))
    lock_wait(lock);
#else
  atomic_store_explicit(&lock->owner, (uintptr_t)&tdo_lock_thread,
                        memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
#endif
}

void tdo_lock_release(tdo_lock_t *lock) {
  TDO_CHECK(tdo_lock_mine(lock));
  if (tdo_lock_release_alone(lock))
    return;
  atomic_store(&lock->owner, 0);
#if TDO_THREADS
  if (atomic_load(&lock->waiting) != 0)
    lock_pass_on(lock);
#endif
}

bool tdo_lock_held(tdo_lock_t *lock) {
  return atomic_load_explicit(&lock->owner, memory_order_relaxed) != 0;
}

uintptr_t tdo_lock_take_over(tdo_lock_t *lock) {
  return atomic_exchange(&lock->owner, (uintptr_t)&tdo_lock_thread);
}

void tdo_lock_hand_back(tdo_lock_t *lock, uintptr_t owner) {
  TDO_CHECK(tdo_lock_mine(lock));
  atomic_store(&lock->owner, owner);
}

void tdo_lock_reset(tdo_lock_t *lock) {
  tdo_lock_init(lock);
}

/* One too many, if a handler forks at the very end, only costs calls. */
void tdo_lock_forget(tdo_lock_t *lock) {
  unsigned waiting = 0;
  TDO_CHECK(tdo_lock_mine(lock));
  for (const lock_waits_t *w = lock_waits; w != NULL; w = w->outer)
    waiting += w->lock == lock;
  atomic_store(&lock->waiting, waiting);
  if (waiting == 0)
    atomic_store(&lock->starved, 0);
}

void tdo_lock_global_claim(void) {
  tdo_lock_claim(&lock_global);
}

void tdo_lock_global_release(void) {
  tdo_lock_release(&lock_global);
}

void tdo_lock_global_forget(void) {
  tdo_lock_forget(&lock_global);
}
