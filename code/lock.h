/* Testudo: locks that know their owner.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_LOCK_H
#define TDO_CODE_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include "code/base.h"

/* Not recursive; a fault or a signal handler on the owner's thread can ask
   whether it would deadlock. CONFIG_THREAD_SINGLE: no mutual exclusion. */
typedef struct tdo_lock {
  pthread_mutex_t mutex;
  atomic_uintptr_t owner; /* identity of the holding thread, or 0 */
} tdo_lock_t;

void tdo_lock_init(tdo_lock_t *lock);
void tdo_lock_finish(tdo_lock_t *lock);
void tdo_lock_claim(tdo_lock_t *lock);
void tdo_lock_release(tdo_lock_t *lock);
/* True if some thread (the calling thread) holds it. */
bool tdo_lock_held(tdo_lock_t *lock);
bool tdo_lock_mine(tdo_lock_t *lock);
/* True if the calling thread holds it, or runs a signal handler that
   interrupted the thread while it was taking or giving back this lock. */
bool tdo_lock_entangled(tdo_lock_t *lock);
/* In the child of a fork: make it free and usable whatever it was. */
void tdo_lock_reset(tdo_lock_t *lock);

/* One lock for the process: the list of arenas and the like. */
void tdo_lock_global_claim(void);
void tdo_lock_global_release(void);

#endif /* TDO_CODE_LOCK_H */
