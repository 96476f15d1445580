/* Testudo: condemning. SPDX-License-Identifier: BSD-2-Clause */
#include "trace/condemn.h"
#include "code/check.h"
#include "code/clock.h"
#include "trace/enter.h"
#include "trace/tell.h"

/* Nothing but a buffer: there is nothing to collect in it, and what goes in
   from now on is black. */
static bool condemn_is_buffer(const tdo_gcseg_t *seg) {
  return seg->ap != NULL && seg->pool->klass->bare(seg);
}

static bool condemn_has_objects(const tdo_gen_t *gen) {
  TDO_RING_FOR(node, (tdo_ring_t *)&gen->segs) {
    if (!condemn_is_buffer(TDO_RING_ENTRY(tdo_gcseg_t, gen_ring, node)))
      return true;
  }
  return false;
}

/* SEG becomes white, but for its bars. */
static void condemn_seg(mps_arena_t heap, tdo_gcseg_t *seg) {
  size_t size = tdo_seg_size(&seg->seg);

  heap->trace.condemned += size;
  heap->trace.filled += seg->pool->klass->moving
                            ? (size_t)(tdo_gcseg_filled(seg) - seg->seg.base)
                            : size;
  seg->gen->condemned_size += (double)size;
  heap->trace.moves |= seg->pool->klass->moving;
  seg->pool->klass->whiten(seg->pool, seg);
}

/* White SEG is scanned, if it lives, and then its pages are told anew. */
static void condemn_forget(mps_arena_t heap, tdo_gcseg_t *seg) {
  size_t page = tdo_heap_page(heap, seg->seg.base);
  size_t end = tdo_heap_page(heap, seg->seg.limit);

  if (seg->leaf)
    return;
  tdo_gcseg_summarize(seg, page, end, 0);
  if (seg->ap != NULL) { /* the mutator goes on filling the rest */
    size_t first = tdo_heap_page(heap, tdo_ap_committed(seg->ap));
    tdo_gcseg_summarize(seg, first, end, TDO_DIRTY);
  }
}

/* What is closed at once when the mutator goes on. */
static bool condemn_closes(const tdo_gcseg_t *seg) {
  return seg->pool->heap->trace.closes && seg->nailed && !seg->leaf;
}

/* Only what goes into the buffer of SEG from now on is new. */
static void condemn_count_buffer(const tdo_gcseg_t *seg) {
  if (seg->ap != NULL)
    (void)tdo_ap_count(seg->ap, tdo_ap_committed(seg->ap));
}

/* Was something of GEN condemned ahead of the flip? */
static bool condemn_begun(const tdo_gen_t *gen) {
  return !tdo_ring_empty((tdo_ring_t *)&gen->white);
}

bool tdo_condemn_any(const tdo_gen_t *gen) {
  return condemn_begun(gen) || condemn_has_objects(gen);
}

void tdo_condemn_gen(mps_arena_t heap, tdo_gen_t *gen) {
  if (tdo_condemn_any(gen))
    tdo_gen_condemn(gen);
  if (!condemn_begun(gen))
    gen->survived = gen->stayed = gen->condemned_size = 0;
  gen->fresh = 0;
  heap->trace.bits |= gen->condemned ? gen->bit : 0;
  TDO_RING_FOR(node, &gen->segs) {
    tdo_gcseg_t *seg = TDO_RING_ENTRY(tdo_gcseg_t, gen_ring, node);
    tdo_gcseg_fetch_above(seg);
    seg->passed = false;
    condemn_count_buffer(seg);
    if (condemn_is_buffer(seg))
      continue;
    condemn_seg(heap, seg);
    condemn_forget(heap, seg);
    if (condemn_closes(seg))
      tdo_gcseg_bar(seg);
    tdo_gcseg_set_white(seg);
  }
}

/* ---- ahead of the flip ---- */

#define AHEAD_CLOCK 32 /* segments between looks at the clock */

/* Condemn SEG of the top generation, if that can be done ahead. */
static bool condemn_seg_ahead(mps_arena_t heap, tdo_gcseg_t *seg) {
  const tdo_pool_class_t *klass = seg->pool->klass;
  tdo_gen_t *gen = seg->gen;

  if (seg->leaf || klass->stays == NULL || !klass->stays(seg->pool, seg))
    return false;
  if (!condemn_begun(gen))
    gen->survived = gen->stayed = gen->condemned_size = 0;
  condemn_seg(heap, seg);
  tdo_bits_set_range(heap->ahead, tdo_heap_page(heap, seg->seg.base),
                     tdo_heap_page(heap, seg->seg.limit));
  seg->barred = true;
  tdo_gcseg_set_white_ahead(seg);
  return true;
}

bool tdo_condemn_ahead(mps_arena_t heap, size_t bytes, uint64_t deadline) {
  tdo_ring_t *segs = &heap->top.segs;
  size_t most = heap->trace.condemned + tdo_min(bytes, SIZE_MAX / 2);
  unsigned count = 0;

  tdo_heap_note_work(heap);
  while (!tdo_ring_empty(segs)) {
    tdo_gcseg_t *seg = TDO_RING_ENTRY(tdo_gcseg_t, gen_ring, segs->next);
    if (seg->passed)
      break;
    tdo_gcseg_fetch_above(seg);
    if (!condemn_seg_ahead(heap, seg)) {
      seg->passed = true;
      tdo_ring_remove(&seg->gen_ring);
      tdo_ring_append(segs, &seg->gen_ring);
    }
    if (heap->trace.condemned >= most ||
        (++count % AHEAD_CLOCK == 0 && tdo_clock_past(deadline)))
      return false;
  }
  return true;
}

void tdo_condemn_bar_ahead(mps_arena_t heap) {
  size_t limit = heap->page_limit, p, q = 0;

  if (!condemn_begun(&heap->top))
    return;
  while ((p = tdo_bits_next_set(heap->ahead, q, limit)) < limit) {
    q = tdo_bits_next_clear(heap->ahead, p, limit);
    tdo_summary_set(&heap->summary, p, q, 0);
    tdo_tell_summary(heap, p, q, 0, false);
    tdo_shield_raise(&heap->shield, p, q, TDO_BAR_READ);
    tdo_bits_clear_range(heap->ahead, p, q);
  }
}

void tdo_condemn_pardon(mps_arena_t heap) {
  tdo_ring_t *white = &heap->top.white;

  while (!tdo_ring_empty(white)) {
    tdo_gcseg_t *seg = TDO_RING_ENTRY(tdo_gcseg_t, gen_ring, white->next);
    tdo_bits_clear_range(heap->ahead, tdo_heap_page(heap, seg->seg.base),
                         tdo_heap_page(heap, seg->seg.limit));
    seg->barred = seg->grey = false;
    tdo_ring_remove(&seg->grey_ring);
    seg->pool->klass->pardon(seg);
    tdo_gcseg_clear_white(seg);
  }
  TDO_RING_FOR(node, &heap->top.segs)
  TDO_RING_ENTRY(tdo_gcseg_t, gen_ring, node)->passed = false;
}
