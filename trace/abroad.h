/* Testudo: roots of one arena in memory of another (interface, section 2.2).

   Such memory may be protected. To open it the collecting thread has to enter
   the other arena, with its own arena's threads stopped: whoever is inside the
   other one must not be among them, nor wait for this thread. So before an
   arena with such roots stops threads, it takes the locks of all other arenas,
   and keeps them until the threads go.

   .right  It has the right to stop threads then. Whoever is inside another
   arena leaves that, or comes to wait for the right itself, where it lends the
   arena (heap->lent): with its threads stopped, what was lent can be touched as
   by a signal handler of its owner's, and it is given back before the right.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_ABROAD_H
#define TDO_TRACE_ABROAD_H

#include "trace/heap.h"

/* Does P lie in memory of another arena than HEAP's that may be protected? To
   be asked before HEAP is entered: it may wait for the other arena. Where this
   thread is inside a third one, which rules that out, the answer is yes in case
   of doubt. */
bool tdo_abroad(const tdo_heap_t *heap, const void *p);
/* Take the locks, with the right; and give them back. */
void tdo_abroad_hold(tdo_heap_t *heap);
void tdo_abroad_release(tdo_heap_t *heap);

#endif /* TDO_TRACE_ABROAD_H */
