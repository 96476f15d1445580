/* Testudo: entering an arena and leaving it, in line where nothing else is to
   be done: what frequent functions of the interface pay for the lock.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_ENTER_H
#define TDO_TRACE_ENTER_H

#include "trace/heap.h"

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
  if (TDO_UNLIKELY(!tdo_lock_release_alone(&heap->lock)))
    tdo_lock_release(&heap->lock);
}

#endif /* TDO_TRACE_ENTER_H */
