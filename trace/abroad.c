/* Testudo: roots of one arena in memory of another.
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/abroad.h"
#include <sched.h>
#include "trace/gcseg.h"
#include "trace/heaps.h"

bool tdo_abroad(const tdo_heap_t *heap, const void *p) {
  tdo_heap_t *other = tdo_heaps_find(p);
  const tdo_gcseg_t *seg;
  bool inside, protects;

  if (other == NULL || other == heap || !other->shielded)
    return false;
  inside = tdo_lock_mine(&other->lock);
  if (!inside && !tdo_lock_try(&other->lock) && !tdo_heaps_wait(other))
    return true;
  seg = tdo_gcseg_of(&other->space, p);
  protects = seg != NULL && !seg->leaf;
  if (!inside)
    tdo_lock_release(&other->lock);
  return protects;
}

/* Under the right. */
static tdo_heap_t *abroad_for; /* who takes locks */
static bool abroad_busy;       /* one could not be had */

static void abroad_take(tdo_heap_t *heap) {
  if (!heap->shielded || tdo_lock_mine(&heap->lock))
    return;
  if (tdo_lock_try(&heap->lock)) {
    if (heap->going) { /* it may be out of the table when locks go back */
      tdo_lock_release(&heap->lock);
      return;
    }
    heap->lender = 0;
  } else if (atomic_load(&heap->lent)) {
    heap->lender = tdo_lock_take_over(&heap->lock);
  } else {
    abroad_busy = true;
    return;
  }
  heap->held_for = abroad_for;
}

/* It says already that its threads are stopped. Those may have been inside
   other arenas until all locks were had. */
static void abroad_stop(tdo_heap_t *heap) {
  if (heap->held_for == abroad_for && heap->lender != 0 && heap->is_stopped)
    tdo_stop_threads(heap->stopped, heap->stopped_count);
}

void tdo_abroad_hold(tdo_heap_t *heap) {
  heap->holds_others = true;
  heap->others_begun = tdo_heaps_begin(); /* none goes meanwhile */
  abroad_for = heap;
  do {
    abroad_busy = false;
    tdo_heaps_each(abroad_take);
    if (abroad_busy)
      (void)sched_yield();
  } while (abroad_busy);
  tdo_heaps_each(abroad_stop);
}

static void abroad_give_back(tdo_heap_t *heap) {
  if (heap->held_for != abroad_for)
    return;
  heap->held_for = NULL;
  if (heap->lender == 0) {
    tdo_lock_release(&heap->lock);
    return;
  }
  if (heap->is_stopped)
    tdo_resume_threads(heap->stopped, heap->stopped_count);
  tdo_lock_hand_back(&heap->lock, heap->lender);
}

void tdo_abroad_release(tdo_heap_t *heap) {
  abroad_for = heap;
  tdo_heaps_each(abroad_give_back);
  tdo_heaps_end(heap->others_begun);
  heap->holds_others = false;
}
