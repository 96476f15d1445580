/* Testudo: arenas across a fork. SPDX-License-Identifier: BSD-2-Clause */
#include "trace/fork.h"
#include "code/event.h"
#include "code/fork.h"
#include "code/populate.h"
#include "trace/heaps.h"

/* Under the global lock. */
static tdo_heap_t *fork_busy; /* the first that another thread is inside of */
static bool fork_stops; /* the forking thread has the right to stop threads */

/* An arena that the forking thread has entered already (it forks within a
   callback, or in a signal handler) is left as it is. But what another arena
   lent it is in the middle of that one's session, and so may be what a thread
   is inside of that is stopped, or that waits for the right: it does not leave,
   and the child has nobody to end the session (.frozen). */
static void fork_enter(tdo_heap_t *heap) {
  heap->frozen = false;
  if (fork_busy != NULL)
    return;
  if (tdo_lock_mine(&heap->lock)) {
    heap->frozen = heap->held_for != NULL && heap->lender != 0;
    return;
  }
  heap->forking = tdo_lock_try(&heap->lock);
  heap->frozen = !heap->forking && fork_stops;
  if (!heap->forking && !fork_stops)
    fork_busy = heap;
}

static void fork_leave(tdo_heap_t *heap) {
  if (heap->forking) {
    heap->forking = false;
    tdo_lock_release(&heap->lock);
  }
}

static void fork_lend(tdo_heap_t *heap) {
  if (heap->forking)
    atomic_store(&heap->lent, true);
}

static void fork_recall(tdo_heap_t *heap) {
  if (heap->forking)
    atomic_store(&heap->lent, false);
}

/* What the arena has can be read, and it can get more, but is never collected:
   nothing else is certain where a session ended anywhere. */
static void fork_freeze(tdo_heap_t *heap) {
  heap->held_for = NULL;
  heap->forked = false;
  atomic_store(&heap->behind, false);
  tdo_lock_reset(&heap->lock);
  tdo_heap_postmortem(heap);
}

static void fork_leave_child(tdo_heap_t *heap) {
  /* The rest of the session that the child is within must not act on the
     parent's pages. Others begin with a look at `forked`: most children
     execute another program and never come here again. */
  if (heap->shielded && !heap->forking)
    tdo_shield_abandon(&heap->shield);
  heap->forked = heap->shielded;
  atomic_store(&heap->behind, heap->shielded || atomic_load(&heap->behind));
  tdo_readers_after_fork_in_child(&heap->control.looking);
  atomic_store(&heap->awaited, 0);
  if (heap->frozen)
    fork_freeze(heap);
  else if (tdo_lock_mine(&heap->lock))
    tdo_lock_forget(&heap->lock);
  fork_leave(heap); /* the thread that took the lock is this one */
}

/* Under the global lock. */
static bool fork_quiet; /* it was for this that the thread became quiet */
static unsigned long fork_process; /* which forks */

bool tdo_heap_fork_is_over(void) {
  return tdo_fork_process() != fork_process;
}

/* Until nobody is inside HEAP. It is not destroyed meanwhile. */
static void fork_wait(tdo_heap_t *heap) {
  ++heap->awaited;
  tdo_lock_global_release();
  tdo_lock_claim(&heap->lock);
  tdo_lock_release(&heap->lock);
  --heap->awaited;
  tdo_lock_global_claim();
}

/* All of them or none: who is inside one may have to wait for another, in a
   handler that touches its memory, or for the global lock, in one that makes an
   arena. With that lock none is destroyed. */
static void fork_enter_all(void) {
  for (;;) {
    fork_busy = NULL;
    tdo_heaps_each(fork_enter);
    if (fork_busy == NULL)
      return;
    tdo_heaps_each(fork_leave);
    fork_wait(fork_busy);
  }
}

static void fork_prepare(void) {
  bool quiet = tdo_stop_quiet(); /* a handler's hits would find half a fork */
  tdo_event_flush(); /* or the child would write it again */
  (void)tdo_heaps_claim();
  fork_stops = tdo_stop_has_right();
  fork_enter_all();
  fork_quiet = quiet;
  fork_process = tdo_fork_process();
  tdo_heaps_each(fork_lend); /* see abroad.h */
  tdo_stop_begin();
  tdo_heaps_each(fork_recall);
}

static void fork_over(void) {
  tdo_heaps_release(fork_quiet);
}

static void fork_parent(void) {
  tdo_stop_end();
  tdo_heaps_each(fork_leave);
  fork_over();
}

static void fork_child(void) {
  tdo_heaps_after_fork_in_child();
  tdo_stop_after_fork_in_child();
  tdo_stop_end();
  tdo_populate_after_fork_in_child();
  tdo_event_after_fork_in_child();
  tdo_heaps_each(fork_leave_child);
  tdo_lock_global_forget();
  fork_over();
}

mps_res_t tdo_heap_fork_install(void) {
  return tdo_fork_install(fork_prepare, fork_parent, fork_child);
}
