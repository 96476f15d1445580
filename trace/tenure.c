/* Testudo: promoting a chain's generations as they are, where they lie: for
   times in which nearly everything survives, so that a minor collection would
   copy all and find nothing.
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/check.h"
#include "trace/heap.h"

/* Has no chain anything left? Else the summaries must name it. */
static bool tenure_is_whole(const tdo_heap_t *heap) {
  TDO_RING_FOR(node, (tdo_ring_t *)&heap->chains) {
    const tdo_chain_t *c = TDO_RING_ENTRY(tdo_chain_t, heap_ring, node);
    for (size_t i = 0; i < c->count; ++i)
      if (!tdo_ring_empty((tdo_ring_t *)&c->gens[i].segs))
        return false;
  }
  return true;
}

/* SEG refers to old objects only, and to itself: with its write bar, nothing
   need look at it in the next minor collection. */
static void tenure_clean(tdo_heap_t *heap, tdo_gcseg_t *seg) {
  if (seg->leaf || seg->ap != NULL || !heap->shielded)
    return;
  tdo_gcseg_summarize(seg, tdo_heap_page(heap, seg->seg.base),
                      tdo_heap_page(heap, seg->seg.limit), 0);
  tdo_gcseg_trust(seg);
  tdo_gcseg_offer(seg, seg->seg.base, seg->seg.limit, 0);
}

size_t tdo_tenure(tdo_heap_t *heap, tdo_chain_t *chain) {
  tdo_ring_t *last = heap->top.segs.prev;
  size_t bytes = 0;
  bool whole;

  TDO_CHECK(!tdo_trace_busy(&heap->trace));
  tdo_heap_note_work(heap);
  tdo_threads_stop(heap);
  if (heap->shielded)
    tdo_shield_note_stopped(&heap->shield);
  for (size_t i = 0; i < chain->count; ++i)
    bytes += tdo_gen_tenure(&chain->gens[i]);
  heap->stats.tenured += bytes;
  whole = tenure_is_whole(heap);
  for (tdo_ring_t *node = last->next; node != &heap->top.segs;
       node = node->next) {
    tdo_gcseg_t *seg = TDO_RING_ENTRY(tdo_gcseg_t, gen_ring, node);
    seg->pool->klass->tenured(seg->pool, seg);
    if (whole)
      tenure_clean(heap, seg);
  }
  tdo_heap_sanity_around(heap, "after a promotion");
  return bytes;
}
