/* Testudo: locks that know their owner. SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "code/lock.h"
#include "code/check.h"
#include "code/platform.h"
#include "code/stop.h"

#if TDO_THREADS && TDO_PF_LINUX
#include <errno.h>
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

void tdo_lock_init(tdo_lock_t *lock) {
  atomic_init(&lock->owner, 0);
  atomic_init(&lock->waiting, 0);
  atomic_init(&lock->turn, 0);
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

/* Until the turn is another than TURN, or for a while. False when PATIENT no
   longer. */
static bool lock_sleep(tdo_lock_t *lock, unsigned turn, bool patient) {
#if TDO_PF_LINUX
  const struct timespec patience = {0, LOCK_PATIENCE_NS};
  int saved_errno = errno;
  bool late = syscall(SYS_futex, &lock->turn, FUTEX_WAIT_PRIVATE, turn,
                      patient ? &patience : NULL, NULL, 0) != 0 &&
              errno == ETIMEDOUT;
  errno = saved_errno;
  return !late;
#else
  (void)lock, (void)turn, (void)patient;
  (void)sched_yield();
  return true;
#endif
}

static void lock_wake(tdo_lock_t *lock) {
#if TDO_PF_LINUX
  int saved_errno = errno;
  (void)syscall(SYS_futex, &lock->turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  errno = saved_errno;
#else
  (void)lock;
#endif
}

/* A waiter is counted before it reads the turn and looks again, and who
   releases looks at the count afterwards: it sees this waiter, or this waiter
   sees that the lock is free. A wake that a signal handler's claim on this
   thread used up reaches the next waiter by that claim's release.

   Who has the lock may wait in turn until this thread is stopped, which may be
   in a handler that blocks all signals: when it takes long, it can be. */
static void lock_wait(tdo_lock_t *lock) {
  bool patient = true, blocked = false;
  (void)atomic_fetch_add(&lock->waiting, 1);
  for (;;) {
    unsigned turn = atomic_load(&lock->turn);
    if (tdo_lock_try(lock)) {
      break;
    }
    if (!lock_sleep(lock, turn, patient)) {
      patient = false;
      blocked = tdo_stop_admit(true);
    }
  }
  (void)atomic_fetch_sub(&lock->waiting, 1);
  if (blocked) {
    (void)tdo_stop_admit(false);
  }
}

#endif

void tdo_lock_claim(tdo_lock_t *lock) {
  TDO_ASSERT(!tdo_lock_mine(lock),
             "this thread is already inside the library (was a locked "
             "function called from a callback?)");
#if TDO_THREADS
  if (!tdo_lock_try(lock) && !lock_spin(lock)) {
    lock_wait(lock);
  }
#else
  atomic_store_explicit(&lock->owner, (uintptr_t)&tdo_lock_thread,
                        memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
#endif
}

void tdo_lock_release(tdo_lock_t *lock) {
  TDO_CHECK(tdo_lock_mine(lock));
  if (tdo_lock_release_alone(lock)) {
    return;
  }
  atomic_store(&lock->owner, 0);
#if TDO_THREADS
  if (atomic_load(&lock->waiting) != 0) {
    (void)atomic_fetch_add(&lock->turn, 1);
    lock_wake(lock);
  }
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

void tdo_lock_global_claim(void) {
  tdo_lock_claim(&lock_global);
}

void tdo_lock_global_release(void) {
  tdo_lock_release(&lock_global);
}
