/* Testudo: promoting generations as they are, where they lie.
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/tenure.h"
#include "code/check.h"
#include "trace/enter.h"
#include "trace/sanity.h"

/* Is there nothing but what is old and what is promoted with CHAIN? Else the
   summaries must name it. */
static bool tenure_is_whole(const tdo_heap_t *heap, const tdo_chain_t *chain) {
  TDO_RING_FOR(node, (tdo_ring_t *)&heap->chains) {
    const tdo_chain_t *c = TDO_RING_ENTRY(tdo_chain_t, heap_ring, node);
    for (size_t i = 0; i < c->count && c != chain; ++i)
      if (!tdo_ring_empty((tdo_ring_t *)&c->gens[i].segs))
        return false;
  }
  TDO_RING_FOR(node, (tdo_ring_t *)&heap->traced) {
    const tdo_pool_t *pool = TDO_RING_ENTRY(tdo_pool_t, traced_ring, node);
    if (pool->klass->automatic && pool->klass->tenured == NULL)
      TDO_RING_FOR(seg_node, (tdo_ring_t *)&pool->segs) {
        const tdo_gcseg_t *seg =
            TDO_RING_ENTRY(tdo_gcseg_t, seg.pool_ring, seg_node);
        if (seg->gen->chain != NULL)
          return false;
      }
  }
  return true;
}

/* SEG refers to what is old, and to what will be when its chain is promoted:
   with its write bar, nothing need look at it in the next minor collection.
   Where a point is in it, what that makes there may refer to what is young: a
   later promotion cleans it, when the point has left. Where there are many
   points some stay as they are. */
static void tenure_clean(tdo_heap_t *heap, tdo_gcseg_t *seg) {
  if (seg->leaf || !heap->shielded)
    return;
  if (seg->ap != NULL) {
    if (heap->tenure.opens < TDO_TENURE_OPENS)
      heap->tenure.open[heap->tenure.opens++] = seg->seg.base;
    return;
  }
  tdo_gcseg_summarize(seg, tdo_heap_page(heap, seg->seg.base),
                      tdo_heap_page(heap, seg->seg.limit), 0);
  tdo_gcseg_trust(seg);
  tdo_gcseg_offer(seg, seg->seg.base, seg->seg.limit, 0);
}

/* Clean those that earlier promotions left. Another old segment may lie there
   by now; that is as good. */
static void tenure_clean_left(tdo_heap_t *heap) {
  size_t n = heap->tenure.opens;

  heap->tenure.opens = 0; /* no more come back than were read */
  for (size_t i = 0; i < n; ++i) {
    tdo_gcseg_t *seg = tdo_gcseg_of(&heap->space, heap->tenure.open[i]);
    if (seg != NULL && seg->gen == &heap->top)
      tenure_clean(heap, seg);
  }
}

size_t tdo_tenure(tdo_heap_t *heap, tdo_chain_t *chain, size_t most) {
  tdo_ring_t *last = heap->top.segs.prev;
  size_t bytes = 0;
  bool whole = tenure_is_whole(heap, chain);

  TDO_CHECK(!tdo_trace_busy(&heap->trace));
  TDO_CHECK(heap->tenure.chain == NULL || heap->tenure.chain == chain);
  tdo_heap_note_work(heap);
  tdo_threads_stop(heap);
  if (heap->shielded)
    tdo_shield_note_stopped(&heap->shield);
  if (heap->tenure.chain == NULL)
    tdo_turnover_look(heap);
  if (whole)
    tenure_clean_left(heap);
  for (size_t i = 0; i < chain->count && bytes < most; ++i)
    bytes += tdo_gen_tenure(&chain->gens[i], most - bytes);
  heap->tenure.chain = bytes < most ? NULL : chain;
  heap->stats.tenured += bytes;
  for (tdo_ring_t *node = last->next; node != &heap->top.segs;
       node = node->next) {
    tdo_gcseg_t *seg = TDO_RING_ENTRY(tdo_gcseg_t, gen_ring, node);
    tdo_gcseg_fetch_above(seg);
    seg->pool->klass->tenured(seg->pool, seg);
    if (whole)
      tenure_clean(heap, seg);
  }
  tdo_sanity_around(heap);
  return bytes;
}

size_t tdo_tenure_finish(tdo_heap_t *heap) {
  return heap->tenure.chain == NULL
             ? 0
             : tdo_tenure(heap, heap->tenure.chain, SIZE_MAX);
}

void tdo_tenure_all(tdo_heap_t *heap) {
  TDO_RING_FOR(node, &heap->chains) {
    (void)tdo_tenure(heap, TDO_RING_ENTRY(tdo_chain_t, heap_ring, node),
                     SIZE_MAX);
  }
}
