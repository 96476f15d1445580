/* Testudo: entering an arena and leaving it.
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/enter.h"
#include "code/check.h"
#include "code/clock.h"
#include "code/event.h"
#include "trace/fork.h"
#include "trace/heaps.h"
#include "trace/pause.h"

/* ---- what signal handlers left to be done ---- */

/* A block is in one of two lists of its pool's: one of up to a word has its
   size less one beside the address of the next, in bits that addresses of
   blocks do not use; a larger one has room for both. */
typedef struct late_block {
  tdo_word_t link;
  size_t size; /* not in a block of a word */
} late_block_t;

#define LATE_BITS ((tdo_word_t)sizeof(tdo_word_t) - 1)

static void enter_note_late(_Atomic tdo_word_t *list, late_block_t *block,
                            tdo_word_t bits) {
  tdo_word_t next = atomic_load(list);

  do
    block->link = next | bits;
  while (!atomic_compare_exchange_weak(list, &next, (tdo_word_t)block));
}

void tdo_heap_free_late(tdo_heap_t *heap, mps_pool_t pool, mps_addr_t p,
                        size_t size) {
  late_block_t *block = p;
  bool aligned = ((tdo_word_t)p & LATE_BITS) == 0;

  TDO_ASSERT(aligned, "freed a misaligned block");
  if (!aligned)
    return;
  if (size <= sizeof block->link) {
    enter_note_late(&pool->late_words, block, size - 1);
  } else {
    block->size = size;
    enter_note_late(&pool->late_blocks, block, 0);
  }
  atomic_store(&heap->behind, true);
}

void tdo_heap_destroy_late(tdo_heap_t *heap, tdo_root_t *root) {
  if (atomic_exchange(&root->gone, true))
    return;
  root->late_next = atomic_load(&heap->late_roots);
  while (!atomic_compare_exchange_weak(&heap->late_roots, &root->late_next,
                                       root))
    ;
  atomic_store(&heap->behind, true);
}

/* NOTED bytes from BLOCK on were written to remember it. */
static void enter_free_block(tdo_pool_t *pool, late_block_t *block,
                             size_t size, size_t noted) {
  if (size < noted && pool->klass->mend != NULL)
    pool->klass->mend(pool, (char *)block + size, (char *)block + noted);
  pool->klass->free(pool, block, size);
}

static void enter_free_blocks(tdo_pool_t *pool) {
  tdo_word_t next = atomic_exchange(&pool->late_blocks, 0);

  while (next != 0) {
    late_block_t *block = (late_block_t *)next, late = *block;
    enter_free_block(pool, block, late.size, sizeof *block);
    next = late.link;
  }
}

static void enter_free_words(tdo_pool_t *pool) {
  tdo_word_t next = atomic_exchange(&pool->late_words, 0);

  while (next != 0) {
    late_block_t *block = (late_block_t *)next;
    tdo_word_t link = block->link;
    enter_free_block(pool, block, (link & LATE_BITS) + 1, sizeof link);
    next = link & ~LATE_BITS;
  }
}

static void enter_settle_late(tdo_heap_t *heap) {
  tdo_root_t *root = atomic_exchange(&heap->late_roots, NULL);

  TDO_RING_FOR(node, &heap->pools) {
    tdo_pool_t *pool = TDO_RING_ENTRY(tdo_pool_t, heap_ring, node);
    enter_free_blocks(pool);
    enter_free_words(pool);
  }
  while (root != NULL) {
    tdo_root_t *next = root->late_next;
    tdo_root_destroy(root);
    root = next;
  }
}

static void enter_after_fork(tdo_heap_t *heap) {
  if (TDO_UNLIKELY(heap->forked)) {
    heap->forked = false;
    tdo_shield_after_fork(&heap->shield);
  }
}

void tdo_heap_catch_up(tdo_heap_t *heap) {
  atomic_store(&heap->behind, false); /* before a look at what there is */
  enter_after_fork(heap);
  enter_settle_late(heap);
}

/* ---- entering and leaving ---- */

static void enter_locked(tdo_heap_t *heap, const void *frame) {
  heap->frame = frame;
  enter_after_fork(heap);
}

bool tdo_heap_enter_hit(tdo_heap_t *heap, const void *frame) {
  bool had_lock = tdo_lock_mine(&heap->lock);

  if (!had_lock)
    tdo_lock_claim(&heap->lock);
  else if (heap->forking && tdo_heap_fork_is_over())
    heap->forked = heap->shielded; /* else it would act on the parent's pages */
  enter_locked(heap, frame);
  return had_lock;
}

static void enter_release(tdo_heap_t *heap, bool had_lock) {
  bool quiet = heap->quiet;

  heap->quiet = false;
  heap->frame = NULL;
  if (!had_lock)
    tdo_lock_release(&heap->lock);
  if (quiet)
    tdo_stop_loud();
}

void tdo_heap_release(tdo_heap_t *heap) {
  enter_release(heap, false);
}

static void enter_begin(tdo_heap_t *heap, const void *frame) {
  enter_locked(heap, frame);
  TDO_CHECK(heap->sig == TDO_HEAP_SIG);
  if (TDO_UNLIKELY(
          atomic_load_explicit(&heap->behind, memory_order_relaxed)))
    tdo_heap_catch_up(heap);
}

TDO_NOINLINE void tdo_heap_enter(tdo_heap_t *heap) {
  tdo_lock_claim(&heap->lock);
  enter_begin(heap, __builtin_frame_address(0));
}

/* Is this thread inside, so that it cannot enter? */
static bool enter_inside(tdo_heap_t *heap) {
  const void *frame;

  if (TDO_LIKELY(!tdo_lock_mine(&heap->lock)))
    return false;
  frame = heap->frame;
  TDO_ASSERT(frame == NULL || tdo_context_interrupted(frame),
             "this thread is already inside the library (was a locked "
             "function called from a callback?)");
  return true;
}

bool tdo_heap_try_enter(tdo_heap_t *heap) {
  if (enter_inside(heap))
    return false;
  if (TDO_UNLIKELY(!tdo_lock_try(&heap->lock)) && !tdo_heaps_wait(heap))
    return false;
  enter_begin(heap, __builtin_frame_address(0));
  return true;
}

void tdo_heap_note_work(tdo_heap_t *heap) {
  heap->eventful = true;
  if (heap->session_ns == 0)
    heap->session_ns = tdo_clock_ns();
}

static void enter_count_pause(tdo_heap_t *heap) {
  uint64_t now = tdo_clock_ns(), ns = now - heap->session_ns;

  TDO_EVENT(TRACE, PAUSE, (tdo_word_t)heap, ns);
  tdo_pause_over(heap, heap->session_ns, now);
  heap->session_ns = 0;
  ++heap->stats.pauses;
  heap->stats.paused_ns += ns;
  if (ns > heap->stats.pause_longest_ns)
    heap->stats.pause_longest_ns = ns;
  tdo_heap_tally(heap->stats.pause_log2, ns);
}

/* A read bar that was refused, or given up for a handler: no grey page may
   stay open. The other threads are not let go before. */
static void enter_close(tdo_heap_t *heap) {
  tdo_shield_flush(&heap->shield);
  while (heap->bars_lost) {
    heap->bars_lost = false;
    tdo_threads_stop(heap);
    if (tdo_trace_flipped(&heap->trace)) /* nothing is grey to anybody before */
      tdo_trace_finish(heap);
    tdo_shield_flush(&heap->shield);
  }
  tdo_shield_leave(&heap->shield);
}

/* Who follows the events sees a collection when it is over, its last pause
   included. */
static void enter_flush_events(tdo_heap_t *heap) {
  if (heap->flushed != heap->stats.collections) {
    heap->flushed = heap->stats.collections;
    tdo_event_flush();
  }
}

/* End the session, whatever handlers do meanwhile: what they touch is opened
   at once while there is a frame, which makes the session eventful again; if
   that stopped threads, only another round lets them go. Then there is no
   frame, and each hit is a session of its own. */
static void enter_settle(tdo_heap_t *heap, const void *frame) {
  bool worked = false;

  do {
    bool stopped = heap->is_stopped;
    heap->frame = frame;
    heap->eventful = false;
    if (stopped && heap->has_right)
      tdo_threads_quiet(heap);
    if (heap->shielded)
      enter_close(heap);
    if (heap->session_ns != 0) {
      worked = true;
      enter_count_pause(heap);
    }
    atomic_signal_fence(memory_order_seq_cst);
    if (heap->eventful)
      continue;
    if (stopped)
      tdo_threads_go(heap);
    if (worked) {
      enter_flush_events(heap);
      tdo_context_clear_deep();
    }
    heap->frame = NULL;
    atomic_signal_fence(memory_order_seq_cst);
  } while (heap->eventful);
}

static void enter_leave(tdo_heap_t *heap, const void *frame, bool had_lock) {
  if (!heap->postmortem) {
    heap->hot = NULL;
    enter_settle(heap, frame);
  }
  if (!heap->postmortem || tdo_lock_mine(&heap->lock))
    enter_release(heap, had_lock);
}

TDO_NOINLINE void tdo_heap_leave(tdo_heap_t *heap) {
  enter_leave(heap, __builtin_frame_address(0), false);
}

void tdo_heap_leave_hit(tdo_heap_t *heap, bool had_lock) {
  enter_leave(heap, __builtin_frame_address(0), had_lock);
}
