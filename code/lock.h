/* Testudo: locks that know their owner.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_LOCK_H
#define TDO_CODE_LOCK_H

#include <stdatomic.h>
#include "code/base.h"

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
} tdo_lock_t;

#define TDO_LOCK_INIT {0, 0, 0}

void tdo_lock_init(tdo_lock_t *lock);
void tdo_lock_finish(tdo_lock_t *lock);
void tdo_lock_claim(tdo_lock_t *lock);
void tdo_lock_release(tdo_lock_t *lock);
/* True if some thread (the calling thread) holds it. */
bool tdo_lock_held(tdo_lock_t *lock);
bool tdo_lock_mine(tdo_lock_t *lock);
/* In the child of a fork: make it free and usable whatever it was. */
void tdo_lock_reset(tdo_lock_t *lock);

/* One lock for the process: the list of arenas and the like. */
void tdo_lock_global_claim(void);
void tdo_lock_global_release(void);

#endif /* TDO_CODE_LOCK_H */
