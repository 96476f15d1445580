/* Testudo: threads registered with an arena.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "code/check.h"
#include "code/clock.h"
#include "trace/abroad.h"
#include "trace/heap.h"

bool tdo_thread_check(const tdo_thread_t *thread) {
  TDO_CHECK(thread != NULL && thread->sig == TDO_THREAD_SIG);
  return true;
}

void tdo_threads_quiet(mps_arena_t heap) {
  if (!heap->quiet && tdo_stop_quiet())
    heap->quiet = heap->eventful = true;
}

/* Room for one more thread in the list of the stopped, secured now because a
   stop must not fail. */
static mps_res_t thread_secure(mps_arena_t heap) {
  size_t max = tdo_max(2 * heap->stopped_max, 8);
  void *p;
  mps_res_t res;

  if (heap->thread_count < heap->stopped_max)
    return MPS_RES_OK;
  res = tdo_control_alloc(&p, &heap->control, max * sizeof(void *));
  if (res != MPS_RES_OK)
    return res;
  if (heap->stopped_max > 0) {
    memcpy(p, heap->stopped, heap->stopped_count * sizeof(void *));
    tdo_control_free(&heap->control, heap->stopped,
                     heap->stopped_max * sizeof(void *));
  }
  heap->stopped = p;
  heap->stopped_max = max;
  return MPS_RES_OK;
}

mps_res_t tdo_thread_register(tdo_thread_t **thread_o, mps_arena_t heap,
                              tdo_stop_thread_t *stop) {
  tdo_thread_t *thread;
  void *p;
  mps_res_t res;

  tdo_threads_quiet(heap); /* a handler's hit would go through the lists */
  res = thread_secure(heap);
  if (res != MPS_RES_OK)
    return res;
  res = tdo_control_alloc(&p, &heap->control, sizeof *thread);
  if (res != MPS_RES_OK)
    return res;
  thread = p;
  thread->heap = heap;
  thread->roots = 0;
  thread->stop = stop;
  tdo_ring_init(&thread->heap_ring);
  tdo_ring_append(&heap->threads, &thread->heap_ring);
  ++heap->thread_count;
  thread->sig = TDO_THREAD_SIG;
  *thread_o = thread;
  return MPS_RES_OK;
}

/* If a handler's hit has stopped THREAD in this session: it is this arena's no
   longer, and must not lose its record before it runs again. */
static void thread_let_go(tdo_thread_t *thread) {
  mps_arena_t heap = thread->heap;

  for (size_t i = 0; i < heap->stopped_count; ++i)
    if (heap->stopped[i] == thread->stop) {
      tdo_resume_threads(&heap->stopped[i], 1);
      heap->stopped[i] = NULL;
      return;
    }
}

tdo_stop_thread_t *tdo_thread_deregister(tdo_thread_t *thread) {
  mps_arena_t heap = thread->heap;
  tdo_stop_thread_t *stop = thread->stop;

  tdo_threads_quiet(heap);
  TDO_ASSERT(thread->roots == 0,
             "a thread was deregistered before its roots were destroyed");
  if (thread->roots > 0)
    tdo_root_forget_thread(thread);
  thread_let_go(thread);
  tdo_ring_remove(&thread->heap_ring);
  thread->sig = TDO_SIG_DEAD;
  --heap->thread_count;
  tdo_control_free(&heap->control, thread, sizeof *thread);
  return stop;
}

static bool thread_others(mps_arena_t heap) {
  TDO_RING_FOR(node, &heap->threads)
    if (!tdo_stop_is_self(
            TDO_RING_ENTRY(tdo_thread_t, heap_ring, node)->stop))
      return true;
  return false;
}

/* The right to stop threads, and what else has to be had before. */
static void threads_begin(mps_arena_t heap) {
  atomic_store(&heap->lent, true);
  tdo_stop_begin();
  atomic_store(&heap->lent, false);
  heap->has_right = true;
  if (heap->abroad > 0)
    tdo_abroad_hold(heap);
}

static void threads_end(mps_arena_t heap) {
  if (heap->holds_others)
    tdo_abroad_release(heap);
  heap->has_right = false;
  tdo_stop_end();
}

void tdo_threads_stop(mps_arena_t heap) {
  if (heap->is_stopped ? heap->has_right
                       : thread_others(heap) || heap->abroad > 0)
    tdo_threads_quiet(heap);
  if (heap->is_stopped) /* maybe by a handler's hit, just before */
    return;
  heap->is_stopped = heap->eventful = true;
  heap->stopped_count = 0;
  TDO_RING_FOR(node, &heap->threads) {
    tdo_thread_t *t = TDO_RING_ENTRY(tdo_thread_t, heap_ring, node);
    if (!tdo_stop_is_self(t->stop))
      heap->stopped[heap->stopped_count++] = t->stop;
  }
  if (heap->stopped_count > 0) {
    ++heap->stats.stops;
    heap->stats.stopped += heap->stopped_count;
    heap->stopped_at = tdo_clock_ns();
  }
  if (heap->stopped_count > 0 || heap->abroad > 0) {
    threads_begin(heap);
    tdo_stop_threads(heap->stopped, heap->stopped_count);
  }
}

void tdo_threads_go(mps_arena_t heap) {
  if (!heap->is_stopped)
    return;
  if (heap->stopped_count > 0) {
    tdo_resume_threads(heap->stopped, heap->stopped_count);
    heap->stats.stopped_ns += tdo_clock_ns() - heap->stopped_at;
  }
  if (heap->has_right)
    threads_end(heap);
  heap->stopped_count = 0;
  heap->is_stopped = false;
}

bool tdo_thread_context(tdo_context_t *ctx_o, const tdo_thread_t *thread) {
  if (tdo_stop_is_self(thread->stop)) {
    if (thread->heap->hot == NULL)
      return tdo_context_of_fault(ctx_o);
    *ctx_o = (tdo_context_t){.sp = thread->heap->hot};
    return true;
  }
  return tdo_stop_context(ctx_o, thread->stop);
}
