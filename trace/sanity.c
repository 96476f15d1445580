/* Testudo: a check of the whole heap from outside the collector.
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/sanity.h"
#include "code/check.h"
#include "trace/remember.h"
#include "trace/walk.h"

typedef struct sanity {
  mps_arena_t heap;
  unsigned seen; /* bits of what the present range refers to */
} sanity_t;

/* Every reference must lead into memory that a pool has, to a place where
   objects can be. */
static mps_res_t sanity_fix(tdo_scan_t *scan, mps_addr_t *ref_io) {
  sanity_t *s = scan->closure;
  tdo_seg_t *seg = tdo_seg_of(&s->heap->space, *ref_io);
  tdo_gcseg_t *gc;

  if (!tdo_space_contains(&s->heap->space, *ref_io))
    return MPS_RES_OK;
  TDO_ASSERT(seg != NULL, "a reference leads to memory that is not in use");
  if (seg == NULL || !seg->automatic)
    return MPS_RES_OK;
  gc = (tdo_gcseg_t *)(void *)seg;
  TDO_ASSERT(!gc->pool->klass->moving ||
                 (char *)*ref_io < tdo_gcseg_filled(gc) +
                                       gc->pool->format->header,
             "a reference leads beyond the objects of its segment");
  s->seen |= gc->gen->bit;
  return MPS_RES_OK;
}

/* Are the words of the object at BASE no more than maybe references? */
static bool sanity_ambiguous(mps_arena_t heap, const char *base) {
  tdo_gcseg_t *seg = tdo_gcseg_of(&heap->space, base);

  return seg != NULL && seg->rank == TDO_RANK_AMBIG;
}

/* Bits of the generations that no summary need name: they are being
   promoted. */
static unsigned sanity_tenuring(mps_arena_t heap) {
  const tdo_chain_t *chain = heap->tenure.chain;
  unsigned bits = 0;

  for (size_t i = 0; chain != NULL && i < chain->count; ++i)
    bits |= chain->gens[i].bit;
  return bits;
}

/* The summary of each clean page must cover what its objects refer to. */
static bool sanity_visit(void *closure, tdo_pool_t *pool, char *base,
                         char *limit) {
  sanity_t *s = closure;
  mps_arena_t heap = s->heap;
  char *p = base, *next;

  for (; p < limit; p = next) {
    tdo_scan_t scan;
    next = tdo_format_next(pool->format, p);
    TDO_ASSERT(next > p && next <= limit,
               "an object's size does not agree with its segment");
    if (next <= p || next > limit)
      return false;
    if (!pool->klass->scanned || sanity_ambiguous(heap, p))
      continue;
    tdo_walk_scan_init(&scan, heap, TDO_RANK_EXACT, sanity_fix, s);
    s->seen = 0;
    (void)tdo_scan_formatted(&scan, pool, p, next);
    if ((size_t)(next - p) <= (size_t)1 << heap->page_shift &&
        tdo_heap_page(heap, p) == tdo_heap_page(heap, next - 1)) {
      size_t page = tdo_heap_page(heap, p);
      uint8_t have = heap->summary.page[page];
      TDO_ASSERT((have & TDO_DIRTY) || !heap->shielded ||
                     (tdo_shield_bars(&heap->shield, page) & TDO_BAR_WRITE),
                 "a clean page has no write bar");
      TDO_ASSERT((have & TDO_DIRTY) ||
                     (s->seen & ~(have | sanity_tenuring(heap))) == 0,
                 "a clean page refers to a generation that its summary "
                 "does not name");
    }
  }
  return true;
}

/* Words of an ambiguous root need not be references. */
static mps_res_t sanity_root(mps_arena_t heap, tdo_root_t *root,
                             void *closure) {
  tdo_scan_t scan;

  if (root->rank == TDO_RANK_AMBIG)
    return MPS_RES_OK;
  tdo_walk_scan_init(&scan, heap, root->rank, sanity_fix, closure);
  (void)tdo_root_scan(&scan, root);
  return MPS_RES_OK;
}

/* Points of pools that are not automatic are in use, perhaps: their threads
   need not be registered, and then are not stopped. */
static void sanity_points(const tdo_pool_t *pool) {
  if (pool->klass->automatic)
    TDO_RING_FOR(node, &pool->aps)
      (void)tdo_ap_check(TDO_RING_ENTRY(tdo_ap_t, pool_ring, node));
}

/* The records of what the client made. */
static void sanity_records(mps_arena_t heap) {
  (void)tdo_heap_check(heap);
  TDO_RING_FOR(node, &heap->formats)
  (void)tdo_format_check(TDO_RING_ENTRY(tdo_format_t, heap_ring, node));
  TDO_RING_FOR(node, &heap->chains)
  (void)tdo_chain_check(TDO_RING_ENTRY(tdo_chain_t, heap_ring, node));
  for (size_t rank = 0; rank < TDO_RANKS; ++rank)
    TDO_RING_FOR(node, &heap->roots[rank])
      (void)tdo_root_check(TDO_RING_ENTRY(tdo_root_t, heap_ring, node));
  TDO_RING_FOR(node, &heap->threads)
  (void)tdo_thread_check(TDO_RING_ENTRY(tdo_thread_t, heap_ring, node));
  TDO_RING_FOR(node, &heap->pools) {
    tdo_pool_t *pool = TDO_RING_ENTRY(tdo_pool_t, heap_ring, node);
    (void)tdo_pool_check(pool);
    sanity_points(pool);
  }
}

void tdo_sanity_check(tdo_heap_t *heap) {
  sanity_t s = {heap, 0};

  if (tdo_trace_busy(&heap->trace))
    return;
  tdo_threads_stop(heap); /* what they write now would confuse it */
  tdo_remember_harvest(heap);
  (void)tdo_space_check(&heap->space);
  sanity_records(heap);
  (void)tdo_summary_check(&heap->summary, heap->page_limit);
  if (heap->shielded)
    (void)tdo_shield_check(&heap->shield);
  TDO_RING_FOR(node, &heap->pools) {
    tdo_pool_t *pool = TDO_RING_ENTRY(tdo_pool_t, heap_ring, node);
    if (pool->klass->walk != NULL && pool->klass->automatic)
      (void)pool->klass->walk(pool, sanity_visit, &s);
  }
  (void)tdo_walk_each_root(heap, sanity_root, &s);
}

#define SANITY_EACH ((size_t)1 << 20) /* bytes that make it wait one more */

void tdo_sanity_around(tdo_heap_t *heap) {
  if (!heap->check_heap)
    return;
  if (heap->check_wait > 0) {
    --heap->check_wait;
    return;
  }
  tdo_sanity_check(heap);
  heap->check_wait = heap->space.committed / SANITY_EACH;
}
