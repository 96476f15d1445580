/* Testudo: locks that know their owner.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_LOCK_H
#define TDO_CODE_LOCK_H

#include <stdatomic.h>
#include "code/base.h"
#include "code/platform.h"

/* Where the C library tells whether the process has ever had a second thread,
   a lock need not keep one out. */
#if TDO_THREADS && defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define TDO_LOCK_ALONE() (__libc_single_threaded != 0)
#endif
#endif
#if !defined(TDO_LOCK_ALONE)
#define TDO_LOCK_ALONE() (!TDO_THREADS)
#endif

/* Not recursive; a fault or a signal handler on the owner's thread can ask
   whether it would deadlock. CONFIG_THREAD_SINGLE: no mutual exclusion.

   .whole  A thread becomes the owner, and ceases to be, by one store: there
           is no moment at which it has the lock and does not know it. So a
           signal handler may claim a lock that is not its thread's, also
           where it interrupted the thread's own claim or release of it. */
typedef struct tdo_lock {
  atomic_uintptr_t owner; /* identity of the holding thread, or 0 */
  atomic_uint waiting;    /* threads that wait for it */
  atomic_uint turn;       /* one more at each release with such threads */
  atomic_uint starved;    /* of those, who were woken in vain too often */
  atomic_uint saved;      /* how often such a one got it */
  atomic_bool late;       /* none came when it could */
} tdo_lock_t;

#define TDO_LOCK_INIT {0, 0, 0, 0, 0, false}

void tdo_lock_init(tdo_lock_t *lock);
void tdo_lock_finish(tdo_lock_t *lock);
void tdo_lock_claim(tdo_lock_t *lock);
void tdo_lock_release(tdo_lock_t *lock);
/* True if some thread (the calling thread) holds it. */
bool tdo_lock_held(tdo_lock_t *lock);

/* Its address is the identity of the thread. Initial-exec: reading it never
   allocates, so a signal handler may. */
extern _Thread_local char tdo_lock_thread
    __attribute__((tls_model("initial-exec")));

static inline bool tdo_lock_mine(tdo_lock_t *lock) {
  return atomic_load_explicit(&lock->owner, memory_order_relaxed) ==
         (uintptr_t)&tdo_lock_thread;
}

/* Claim it if nobody holds it. */
static inline bool tdo_lock_try(tdo_lock_t *lock) {
  uintptr_t nobody = 0, self = (uintptr_t)&tdo_lock_thread;

  if (!TDO_LOCK_ALONE())
    return atomic_compare_exchange_strong(&lock->owner, &nobody, self);
  if (atomic_load_explicit(&lock->owner, memory_order_relaxed) != 0)
    return false;
  atomic_store_explicit(&lock->owner, self, memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
  return true;
}

/* Release it, which the calling thread holds, if no other thread can be
   waiting for it. */
static inline bool tdo_lock_release_alone(tdo_lock_t *lock) {
  if (!TDO_LOCK_ALONE())
    return false;
  atomic_store_explicit(&lock->owner, 0, memory_order_release);
  return true;
}

/* Become the owner in the place of another thread, which waits meanwhile and
   holds it again afterwards. Returns that thread's identity. */
uintptr_t tdo_lock_take_over(tdo_lock_t *lock);
void tdo_lock_hand_back(tdo_lock_t *lock, uintptr_t owner);

/* In the child of a fork: make it free and usable whatever it was; or, of one
   that the calling thread has, forget the other threads that waited for it,
   which are not there: each release would call the system to wake one. (This
   one may wait for it, too, where a handler forked.) */
void tdo_lock_reset(tdo_lock_t *lock);
void tdo_lock_forget(tdo_lock_t *lock);

/* One lock for the process: the list of arenas and the like. */
void tdo_lock_global_claim(void);
void tdo_lock_global_release(void);
void tdo_lock_global_forget(void);

#endif /* TDO_CODE_LOCK_H */
