/* Testudo: locks that know their owner. SPDX-License-Identifier: BSD-2-Clause
 */
#include "code/lock.h"
#include "code/check.h"
#include "code/platform.h"

/* Its address is the identity of the thread. Initial-exec: reading it never
   allocates, so a signal handler may. */
static _Thread_local char lock_thread
    __attribute__((tls_model("initial-exec")));

/* The lock that this thread is taking or giving back. */
static _Thread_local tdo_lock_t *volatile lock_moving
    __attribute__((tls_model("initial-exec")));

static tdo_lock_t lock_global = {PTHREAD_MUTEX_INITIALIZER, 0};

static uintptr_t lock_self(void) {
  return (uintptr_t)&lock_thread;
}

void tdo_lock_init(tdo_lock_t *lock) {
  (void)pthread_mutex_init(&lock->mutex, NULL);
  atomic_init(&lock->owner, 0);
}

void tdo_lock_finish(tdo_lock_t *lock) {
  TDO_ASSERT(!tdo_lock_held(lock), "a lock is destroyed while it is held");
  (void)pthread_mutex_destroy(&lock->mutex);
}

void tdo_lock_claim(tdo_lock_t *lock) {
  TDO_ASSERT(!tdo_lock_mine(lock),
             "this thread is already inside the library (was a locked "
             "function called from a callback?)");
#if TDO_THREADS
  lock_moving = lock;
  (void)pthread_mutex_lock(&lock->mutex);
#endif
  atomic_store_explicit(&lock->owner, lock_self(), memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
  lock_moving = NULL;
}

void tdo_lock_release(tdo_lock_t *lock) {
  TDO_CHECK(tdo_lock_mine(lock));
  lock_moving = lock;
  atomic_signal_fence(memory_order_seq_cst);
  atomic_store_explicit(&lock->owner, 0, memory_order_relaxed);
#if TDO_THREADS
  (void)pthread_mutex_unlock(&lock->mutex);
#endif
  lock_moving = NULL;
}

bool tdo_lock_held(tdo_lock_t *lock) {
  return atomic_load_explicit(&lock->owner, memory_order_relaxed) != 0;
}

bool tdo_lock_mine(tdo_lock_t *lock) {
  return atomic_load_explicit(&lock->owner, memory_order_relaxed) ==
         lock_self();
}

bool tdo_lock_entangled(tdo_lock_t *lock) {
  return lock_moving == lock || tdo_lock_mine(lock);
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
