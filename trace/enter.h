/* Testudo: entering an arena and leaving it.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_ENTER_H
#define TDO_TRACE_ENTER_H

#include "trace/heap.h"

/* Take the arena's lock, and give it back after flushing the shield and
   letting threads go. */
void tdo_heap_enter(tdo_heap_t *heap);
void tdo_heap_leave(tdo_heap_t *heap);

/* The same for an interface function; false if this thread is inside the
   arena already. That is a client's mistake, and reported, in a function that
   the library called. In a signal handler that interrupted the library it is
   none (interface, section 11.16): what such a thread asks for cannot be had
   now, but it must be told so. Nor can it if the thread is inside another
   arena and would have to wait: who is inside this one may be interrupted,
   too, and wait for that. */
bool tdo_heap_try_enter(tdo_heap_t *heap);

/* In such a handler: free P, of SIZE > 0 bytes, and destroy ROOT, as soon as
   somebody enters. The root is not scanned from now on. */
void tdo_heap_free_late(tdo_heap_t *heap, mps_pool_t pool, mps_addr_t p,
                        size_t size);
void tdo_heap_destroy_late(tdo_heap_t *heap, tdo_root_t *root);

/* Do what was left to the next one that enters (heap->behind). */
void tdo_heap_catch_up(tdo_heap_t *heap);

/* The same for a hit, in the function whose frame is at FRAME. This thread
   may have the lock already, if no session is under way (tdo_heap_between):
   then it is left with it. */
bool tdo_heap_enter_hit(tdo_heap_t *heap, const void *frame);
void tdo_heap_leave_hit(tdo_heap_t *heap, bool had_lock);

/* Has this thread the lock and no session? A signal handler may find it so,
   between the two, and who forks. */
static inline bool tdo_heap_between(const tdo_heap_t *heap) {
  return heap->frame == NULL;
}

/* Give back the lock and what else the session has, but end nothing. */
void tdo_heap_release(tdo_heap_t *heap);

/* The collector is about to work: the session counts as a pause. */
void tdo_heap_note_work(tdo_heap_t *heap);

/* ---- in line, where nothing else is to be done: what frequent functions of
   the interface pay for the lock ---- */

/* As tdo_heap_enter, if nobody is inside; else false. The frame is that of
   the function which this one ends up in. */
static inline bool tdo_heap_enter_fast(tdo_heap_t *heap) {
  if (TDO_UNLIKELY(!tdo_lock_try(&heap->lock)))
    return false;
  heap->frame = __builtin_frame_address(0);
  if (TDO_UNLIKELY(atomic_load_explicit(&heap->behind, memory_order_relaxed)))
    tdo_heap_catch_up(heap);
  return true;
}

/* As tdo_heap_leave. */
static inline void tdo_heap_leave_fast(tdo_heap_t *heap) {
  if (TDO_UNLIKELY(heap->eventful || !tdo_shield_idle(&heap->shield))) {
    tdo_heap_leave(heap);
    return;
  }
  heap->frame = NULL;
  atomic_signal_fence(memory_order_seq_cst);
  if (TDO_UNLIKELY(heap->eventful)) { /* by a handler, just before */
    tdo_heap_leave(heap);
    return;
  }
  if (TDO_UNLIKELY(!tdo_lock_release_alone(&heap->lock)))
    tdo_lock_release(&heap->lock);
}

#endif /* TDO_TRACE_ENTER_H */
