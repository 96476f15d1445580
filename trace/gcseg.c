/* Testudo: collected segments: colour, generation, and what is known of each
   of their pages.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "code/check.h"
#include "trace/heap.h"
#include "trace/tell.h"

#define FETCH_AHEAD 4 /* segments */

static int gcseg_place(const tdo_pool_t *pool, bool leaf) {
  if (pool->klass->moving)
    return leaf ? TDO_PLACE_LEAF : TDO_PLACE_SCANNED;
  return leaf ? TDO_PLACE_FIXED_LEAF : TDO_PLACE_FIXED;
}

/* Bytes that GEN is going to take soon beyond the next segment. None during a
   full collection: its calls for protection would wait for those that touch
   memory, and for the processor that does. Not beyond a generation's capacity:
   it may never use the rest of its last zone. */
static size_t gcseg_ahead(const tdo_gen_t *gen) {
  if (gen->heap->trace.state != TDO_TRACE_IDLE && gen->heap->trace.full)
    return 0;
  if (gen->chain == NULL)
    return SIZE_MAX;
  return (size_t)tdo_fmax(0, gen->capacity - gen->fresh);
}

mps_res_t tdo_gcseg_alloc(tdo_gcseg_t **seg_o, tdo_pool_t *pool,
                          tdo_gen_t *gen, size_t descriptor, size_t size,
                          bool leaf) {
  tdo_heap_t *heap = pool->heap;
  tdo_gcseg_t *seg;
  void *p;
  mps_res_t res = tdo_control_alloc(&p, &heap->control, descriptor);

  if (res != MPS_RES_OK)
    return res;
  seg = p;
  memset(seg, 0, descriptor);
  if (gen->chain != NULL)
    tdo_chain_secure(gen->chain);
  heap->space.populate_most = gcseg_ahead(gen);
  res = tdo_seg_init(&seg->seg, &heap->space, size,
                     gen->group[gcseg_place(pool, leaf)],
                     false, pool);
  if (res != MPS_RES_OK) {
    tdo_control_free(&heap->control, seg, descriptor);
    return res;
  }
  seg->seg.automatic = true;
  seg->pool = pool;
  seg->gen = gen;
  seg->filled = seg->seg.base;
  seg->rank = TDO_RANK_EXACT;
  seg->leaf = leaf;
  TDO_CHECK(descriptor <= UINT16_MAX);
  seg->descriptor = (uint16_t)descriptor;
  tdo_ring_init(&seg->grey_ring);
  tdo_ring_init(&seg->gen_ring);
  tdo_ring_append(&gen->segs, &seg->gen_ring);
  tdo_ring_append(&pool->segs, &seg->seg.pool_ring);
  pool->total += tdo_seg_size(&seg->seg);
  gen->size += (double)tdo_seg_size(&seg->seg);
  if (!leaf)
    tdo_gcseg_summarize(seg, tdo_heap_page(heap, seg->seg.base),
                        tdo_heap_page(heap, seg->seg.limit), TDO_DIRTY);
  heap->page_limit = tdo_max(heap->page_limit,
                             tdo_heap_page_up(heap, seg->seg.limit));
  *seg_o = seg;
  return MPS_RES_OK;
}

/* Forget what was known of the pages in [BASE, LIMIT). */
static void gcseg_forget(tdo_gcseg_t *seg, char *base, char *limit) {
  tdo_heap_t *heap = seg->pool->heap;
  size_t size = (size_t)(limit - base);

  if (!seg->leaf) {
    size_t first = tdo_heap_page(heap, base);
    tdo_summary_set(&heap->summary, first,
                    first + (size >> heap->page_shift), 0);
    tdo_tell_forget(heap, first, first + (size >> heap->page_shift));
  }
  seg->pool->total -= size;
  seg->gen->size -= (double)size;
}

void tdo_gcseg_free(tdo_gcseg_t *seg) {
  tdo_heap_t *heap = seg->pool->heap;

  TDO_CHECK(seg->ap == NULL);
  tdo_ring_remove(&seg->grey_ring);
  tdo_ring_remove(&seg->gen_ring);
  gcseg_forget(seg, seg->seg.base, seg->seg.limit);
  tdo_seg_finish(&seg->seg, &heap->space);
  tdo_control_free(&heap->control, seg, seg->descriptor);
}

void tdo_gcseg_shrink(tdo_gcseg_t *seg, char *base, char *limit) {
  gcseg_forget(seg, base, limit);
  tdo_seg_shrink(&seg->seg, &seg->pool->heap->space, base, limit);
}

void tdo_gcseg_survived(tdo_gcseg_t *seg, size_t bytes) {
  seg->pool->heap->trace.survived += bytes;
  seg->gen->survived += (double)bytes;
}

void tdo_gcseg_promote(tdo_gcseg_t *seg, tdo_gen_t *gen) {
  tdo_space_t *space = &seg->pool->heap->space;
  size_t first, limit;

  if (seg->gen == gen)
    return;
  seg->gen->size -= (double)tdo_seg_size(&seg->seg);
  gen->size += (double)tdo_seg_size(&seg->seg);
  seg->gen = gen;
  tdo_ring_remove(&seg->gen_ring);
  tdo_ring_append(&gen->segs, &seg->gen_ring);
  /* Its zones now hold two generations: the exact answer is the
     descriptor's. */
  first = tdo_space_grain(space, seg->seg.base);
  limit = tdo_space_grain(space, seg->seg.limit - 1) + 1;
  tdo_space_share(space, first, limit);
}

void tdo_gcseg_fetch_above(const tdo_gcseg_t *seg) {
  const tdo_space_t *sp = &seg->pool->heap->space;
  const char *p = seg->seg.limit + FETCH_AHEAD * tdo_seg_size(&seg->seg);

  if (tdo_space_near(sp, p))
    tdo_gcseg_fetch(tdo_space_near_owner(sp, p));
}

static void gcseg_pages(size_t *first_o, size_t *limit_o, tdo_gcseg_t *seg,
                        char *base, char *limit) {
  *first_o = tdo_heap_page(seg->pool->heap, base);
  *limit_o = tdo_heap_page_up(seg->pool->heap, limit);
}

void tdo_gcseg_expose(tdo_gcseg_t *seg, char *base, char *limit) {
  tdo_heap_t *heap = seg->pool->heap;
  size_t p, q;

  if (seg->leaf || !heap->shielded)
    return;
  gcseg_pages(&p, &q, seg, base, limit);
  tdo_shield_expose(&heap->shield, p, q);
}

void tdo_gcseg_cover(tdo_gcseg_t *seg, char *base, char *limit) {
  tdo_heap_t *heap = seg->pool->heap;
  size_t p, q;

  if (seg->leaf || !heap->shielded)
    return;
  gcseg_pages(&p, &q, seg, base, limit);
  tdo_shield_cover(&heap->shield, p, q);
}

void tdo_gcseg_bar(tdo_gcseg_t *seg) {
  tdo_heap_t *heap = seg->pool->heap;
  size_t p, q;

  seg->barred = true;
  gcseg_pages(&p, &q, seg, seg->seg.base, seg->seg.limit);
  tdo_shield_raise(&heap->shield, p, q, TDO_BAR_READ);
}

void tdo_gcseg_unbar(tdo_gcseg_t *seg) {
  size_t p, q;

  if (seg->barred) {
    seg->barred = false;
    gcseg_pages(&p, &q, seg, seg->seg.base, seg->seg.limit);
    tdo_shield_lower(&seg->pool->heap->shield, p, q, TDO_BAR_READ);
  }
}

void tdo_gcseg_set_grey(tdo_gcseg_t *seg) {
  tdo_heap_t *heap = seg->pool->heap;

  TDO_CRITICAL(!seg->leaf);
  /* A segment of pairs that is settling must be scanned once more. */
  if (!seg->grey || seg->rank == TDO_RANK_EPHEMERON) {
    seg->grey = true;
    tdo_ring_remove(&seg->grey_ring);
    tdo_ring_append(&heap->trace.grey[seg->rank], &seg->grey_ring);
  }
  if (!seg->barred && heap->shielded)
    tdo_gcseg_bar(seg);
}

void tdo_gcseg_set_black(tdo_gcseg_t *seg) {
  seg->grey = false;
  tdo_ring_remove(&seg->grey_ring);
  tdo_gcseg_unbar(seg);
}

void tdo_gcseg_release(tdo_gcseg_t *seg, bool now) {
  tdo_heap_t *heap = seg->pool->heap;
  size_t p, q;

  if (seg->leaf || !heap->shielded)
    return;
  gcseg_pages(&p, &q, seg, seg->seg.base, seg->seg.limit);
  tdo_shield_release(&heap->shield, p, q, now);
}

void tdo_gcseg_set_white_ahead(tdo_gcseg_t *seg) {
  seg->white = true;
  tdo_tell_white(seg);
  tdo_ring_remove(&seg->gen_ring);
  tdo_ring_append(&seg->gen->white, &seg->gen_ring);
}

void tdo_gcseg_set_white(tdo_gcseg_t *seg) {
  tdo_gcseg_set_white_ahead(seg);
  /* What survives is copied to other pages, or scanned and offered anew. */
  if (!seg->barred)
    tdo_gcseg_release(seg, false);
}

void tdo_gcseg_clear_white(tdo_gcseg_t *seg) {
  seg->white = false;
  seg->express = NULL;
  tdo_ring_remove(&seg->gen_ring);
  tdo_ring_append(&seg->gen->segs, &seg->gen_ring);
}

/* May SEG be opened together with a white neighbour? Not where objects stay:
   what was scanned there has its bars again. */
static bool gcseg_opens(const tdo_gcseg_t *seg) {
  return seg != NULL && seg->white && !seg->leaf && !seg->nailed &&
         !seg->open && seg->pool->klass->moving;
}

void tdo_gcseg_open_white(tdo_gcseg_t *seg) {
  tdo_heap_t *heap = seg->pool->heap;
  tdo_space_t *sp = &heap->space;
  size_t zone = (size_t)1 << sp->zone_shift;
  char *base = seg->seg.base, *limit = seg->seg.limit;
  char *low = sp->base + tdo_round_down((size_t)(base - sp->base), zone);
  char *high = sp->base + tdo_round_up((size_t)(limit - sp->base), zone);
  tdo_gcseg_t *next;

  seg->open = true;
  if (seg->leaf || !heap->shielded)
    return;
  while (base > low && gcseg_opens(next = tdo_gcseg_of(sp, base - 1))) {
    next->open = true;
    base = next->seg.base;
  }
  while (limit < high && gcseg_opens(next = tdo_gcseg_of(sp, limit))) {
    next->open = true;
    limit = next->seg.limit;
  }
  tdo_shield_expose(&heap->shield, tdo_heap_page(heap, base),
                    tdo_heap_page(heap, limit));
  tdo_shield_lower(&heap->shield, tdo_heap_page(heap, base),
                   tdo_heap_page(heap, limit), TDO_BAR_WRITE);
  tdo_shield_cover(&heap->shield, tdo_heap_page(heap, base),
                   tdo_heap_page(heap, limit));
}

void tdo_gcseg_summarize(tdo_gcseg_t *seg, size_t first, size_t limit,
                         uint8_t bits) {
  tdo_heap_t *heap = seg->pool->heap;

  tdo_summary_set(&heap->summary, first, limit, bits);
  tdo_tell_summary(heap, first, limit, bits, false);
}

void tdo_gcseg_note(tdo_gcseg_t *seg, char *base, char *limit,
                    unsigned seen) {
  tdo_heap_t *heap = seg->pool->heap;
  size_t p, q;

  gcseg_pages(&p, &q, seg, base, limit);
  tdo_tell_summary(heap, p, q, seen & 0x7F, true);
  tdo_summary_add(&heap->summary, p, q, seen & 0x7F);
}

/* What was noted stays noted: a segment that is being filled may be scanned
   in parts. */
static void gcseg_make_dirty(tdo_gcseg_t *seg, size_t p, size_t q) {
  tdo_heap_t *heap = seg->pool->heap;

  tdo_summary_add(&heap->summary, p, q, TDO_DIRTY);
  tdo_tell_summary(heap, p, q, TDO_DIRTY, true);
  if (heap->shielded)
    tdo_shield_lower(&heap->shield, p, q, TDO_BAR_WRITE);
}

bool tdo_gcseg_may_bar(const tdo_gcseg_t *seg) {
  return seg->ap == NULL && !seg->filling && !seg->unsteady &&
         !seg->gen->youngest;
}

/* Can a write bar on pages of SEG that refer to SEEN pay? */
static bool gcseg_bar_pays(const tdo_gcseg_t *seg, unsigned seen) {
  const tdo_heap_t *heap = seg->pool->heap;

  return tdo_gcseg_may_bar(seg) && (seen & heap->nursery_bits) == 0 &&
         !(heap->trace.small && tdo_trace_busy(&heap->trace));
}

void tdo_gcseg_offer(tdo_gcseg_t *seg, char *base, char *limit,
                     unsigned seen) {
  tdo_heap_t *heap = seg->pool->heap;
  size_t p, q;

  gcseg_pages(&p, &q, seg, base, limit);
  if (!heap->shielded || !gcseg_bar_pays(seg, seen)) {
    gcseg_make_dirty(seg, p, q);
    return;
  }
  /* Before: a bar that the system refuses at once makes its page dirty. */
  tdo_summary_clean(&heap->summary, p, q);
  while (p < q) {
    bool granted = false;
    size_t end = p + tdo_shield_offer(&heap->shield, p, q, &granted);
    if (!granted)
      tdo_summary_add(&heap->summary, p, end, TDO_DIRTY);
    p = end;
  }
}

void tdo_gcseg_trust(tdo_gcseg_t *seg) {
  tdo_heap_t *heap = seg->pool->heap;
  size_t p, q;

  if (seg->leaf || !heap->shielded)
    return;
  gcseg_pages(&p, &q, seg, seg->seg.base, seg->seg.limit);
  tdo_shield_trust(&heap->shield, p, q);
}

void tdo_gcseg_dirty(tdo_gcseg_t *seg, char *base, char *limit) {
  size_t p, q;

  if (seg->leaf)
    return;
  gcseg_pages(&p, &q, seg, base, limit);
  gcseg_make_dirty(seg, p, q);
}
