/* Testudo: pools whose blocks are collected and never move: marking, scanning
   and walking.
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/check.h"
#include "pool/nonmoving_internal.h"

/* ---- finding blocks ---- */

/* The start of the block that unit I lies in; units if there is none. */
static size_t nm_block_start(const tdo_nm_seg_t *seg, size_t i) {
  size_t start;

  if (tdo_bits_get(seg->starts, i))
    return i;
  if (!tdo_bits_get(seg->used, i))
    return seg->units;
  start = tdo_bits_last_set(seg->starts, 0, i);
  if (start == 0 || tdo_nm_block_end(seg, start - 1) <= i)
    return seg->units;
  return start - 1;
}

/* Is P in the part of the buffer whose objects are not blocks yet? */
static bool nm_in_buffer(const tdo_nm_seg_t *seg, const char *p) {
  return seg->gc.ap != NULL && p >= seg->known && p < seg->gc.ap->limit;
}

bool tdo_nm_block(char **base_o, char **limit_o, const tdo_nm_seg_t *seg,
                  const char *p) {
  size_t start;

  if (p < seg->gc.seg.base || p >= seg->top)
    return false;
  start = nm_block_start(seg, tdo_nm_unit(seg, p));
  if (start == seg->units)
    return false;
  *base_o = tdo_nm_addr(seg, start);
  *limit_o = tdo_nm_addr(seg, tdo_nm_block_end(seg, start));
  return true;
}

/* ---- marking ---- */

/* There may be blocks before the buffer, in it, and behind it. */
bool tdo_nm_bare(const tdo_gcseg_t *gc) {
  const tdo_nm_seg_t *seg = (const tdo_nm_seg_t *)(const void *)gc;

  return tdo_ap_committed(gc->ap) == seg->known &&
         tdo_bits_all_clear(seg->starts, 0, seg->units);
}

void tdo_nm_whiten(tdo_pool_t *pool, tdo_gcseg_t *gc) {
  tdo_nm_seg_t *seg = tdo_nm_seg_of(gc);

  (void)pool;
  if (gc->ap != NULL)
    tdo_nm_absorb(seg, tdo_ap_committed(gc->ap));
  tdo_bits_clear_in(seg->used, seg->starts, seg->units);
  seg->grey_first = seg->units;
  seg->grey_limit = 0;
  gc->unsteady = false;
  tdo_ring_remove(&seg->room_ring);
}

static void nm_mark(tdo_nm_seg_t *seg, size_t i) {
  tdo_bits_set(seg->used, i);
  if (seg->gc.leaf)
    return;
  tdo_bits_set(seg->greys, i / 2);
  seg->grey_first = tdo_min(seg->grey_first, i);
  seg->grey_limit = tdo_max(seg->grey_limit, i + 1);
  if (!seg->gc.grey || seg->gc.rank == TDO_RANK_EPHEMERON)
    tdo_gcseg_set_grey(&seg->gc);
}

/* Is an object at BASE, as an ambiguous reference to it would have it? A
   block of several objects counts as a whole. */
static bool nm_object_at(tdo_nm_seg_t *seg, char *base) {
  const tdo_format_t *fmt = seg->gc.pool->format;
  size_t i;

  if (((tdo_word_t)base & (fmt->align - 1)) != 0 || base < seg->gc.seg.base ||
      base >= seg->top)
    return false;
  i = tdo_nm_unit(seg, base);
  if (!tdo_bits_get(seg->starts, i))
    return false;
  return seg->units > 1 || base == seg->gc.seg.base ||
         tdo_format_next(fmt, seg->gc.seg.base) < seg->top;
}

mps_addr_t tdo_nm_whole(const tdo_gcseg_t *gc, mps_addr_t ref) {
  const tdo_nm_seg_t *seg = (const tdo_nm_seg_t *)(const void *)gc;
  size_t header = gc->pool->format->header;
  char *base = (char *)ref - header;
  size_t i;

  if (nm_in_buffer(seg, base))
    return ref;
  i = nm_block_start(seg, tdo_nm_unit(seg, base));
  return i < seg->units ? tdo_nm_addr(seg, i) + header : ref;
}

void tdo_nm_fetch(const tdo_gcseg_t *gc, const char *ref) {
  const tdo_nm_seg_t *seg = (const tdo_nm_seg_t *)(const void *)gc;
  size_t word = tdo_nm_unit(seg, ref) / TDO_WORD_BITS;

  __builtin_prefetch(&seg->starts[word]);
  __builtin_prefetch(&seg->used[word], 1);
  if (!gc->leaf)
    __builtin_prefetch(&seg->greys[word / 2], 1);
}

mps_res_t tdo_nm_fix(tdo_pool_t *pool, tdo_scan_t *scan, tdo_gcseg_t *gc,
                     mps_addr_t *ref_io) {
  tdo_nm_seg_t *seg = tdo_nm_seg_of(gc);
  char *base = (char *)*ref_io - pool->format->header;
  size_t i;

  if (scan->rank == TDO_RANK_AMBIG) {
    if (!nm_object_at(seg, base))
      return MPS_RES_OK;
  } else {
    if (TDO_COOL && (((tdo_word_t)base & (pool->align - 1)) != 0 ||
                     base < gc->seg.base || base >= seg->top)) {
      TDO_ASSERT(false, "an exact reference leads to no object");
      return MPS_RES_OK;
    }
    if (TDO_UNLIKELY(nm_in_buffer(seg, base))) { /* black */
      scan->ss._seen |= gc->gen->bit;
      return MPS_RES_OK;
    }
  }
  i = tdo_nm_unit(seg, base);
  if (TDO_UNLIKELY(!tdo_bits_get(seg->starts, i))) {
    i = nm_block_start(seg, i);
    TDO_ASSERT(i < seg->units, "an exact reference leads to free memory");
    if (i >= seg->units)
      return MPS_RES_OK;
  }
  if (!tdo_bits_get(seg->used, i)) {
    if (scan->rank == TDO_RANK_WEAK) {
      *ref_io = NULL;
      return MPS_RES_OK;
    }
    nm_mark(seg, i);
  }
  scan->ss._seen |= gc->gen->bit;
  return MPS_RES_OK;
}

bool tdo_nm_alive(tdo_pool_t *pool, tdo_gcseg_t *gc, mps_addr_t *ref_io) {
  tdo_nm_seg_t *seg = tdo_nm_seg_of(gc);
  char *base = (char *)*ref_io - pool->format->header;
  size_t i;

  if (nm_in_buffer(seg, base))
    return true;
  i = nm_block_start(seg, tdo_nm_unit(seg, base));
  return i < seg->units && tdo_bits_get(seg->used, i);
}

/* ---- scanning ---- */

static mps_res_t nm_scan_objects(tdo_nm_pool_t *nm, tdo_scan_t *scan,
                                 char *base, char *limit) {
  return nm->scan_objects != NULL
             ? nm->scan_objects(nm, scan, base, limit)
             : tdo_scan_formatted(scan, &nm->pool, base, limit);
}

/* End of the blocks that follow each other from unit I on, within LIMIT. */
static size_t nm_run_end(const tdo_nm_seg_t *seg, size_t i, size_t limit) {
  if (seg->gc.ap != NULL && seg->units > 1) {
    size_t known = tdo_nm_unit(seg, seg->known);
    if (i < known)
      limit = tdo_min(limit, known);
  }
  return tdo_nm_next_free(seg, i, limit);
}

/* A buffer that outlives a flip holds committed objects: make them blocks. */
static void nm_absorb_committed(tdo_nm_seg_t *seg) {
  if (seg->gc.ap != NULL)
    tdo_nm_absorb(seg, tdo_ap_settled(seg->gc.ap));
}

mps_res_t tdo_nm_scan_range(tdo_pool_t *pool, tdo_scan_t *scan,
                            tdo_gcseg_t *gc, char *base, char *limit) {
  tdo_nm_seg_t *seg = tdo_nm_seg_of(gc);
  size_t i, end;

  nm_absorb_committed(seg); /* which may divide it */
  i = tdo_nm_unit(seg, base);
  end = limit >= seg->top ? seg->units : tdo_nm_unit(seg, limit);
  while ((i = tdo_bits_next_set(seg->starts, i, end)) < end) {
    size_t stop = nm_run_end(seg, i, end);
    mps_res_t res = nm_scan_objects(tdo_nm_of(pool), scan, tdo_nm_addr(seg, i),
                                    tdo_nm_addr(seg, stop));
    if (res != MPS_RES_OK)
      return res;
    i = stop;
  }
  return MPS_RES_OK;
}

mps_res_t tdo_nm_scan_all(tdo_nm_pool_t *nm, tdo_scan_t *scan,
                          tdo_nm_seg_t *seg) {
  size_t i = 0;

  if (!seg->gc.white)
    return tdo_nm_scan_range(&nm->pool, scan, &seg->gc, seg->gc.seg.base,
                             seg->top);
  while ((i = tdo_nm_next_marked(seg, i)) < seg->units) {
    size_t end = tdo_nm_block_end(seg, i);
    mps_res_t res =
        nm_scan_objects(nm, scan, tdo_nm_addr(seg, i), tdo_nm_addr(seg, end));
    if (res != MPS_RES_OK)
      return res;
    i = end;
  }
  return MPS_RES_OK;
}

/* Is the block at unit I grey, as far as is known? PAIR was until now. */
static bool nm_may_be_grey(const tdo_nm_seg_t *seg, size_t i, size_t pair) {
  return (i / 2 == pair || tdo_bits_get(seg->greys, i / 2)) &&
         tdo_nm_marked(seg, i);
}

/* Take the lowest grey block, and those that follow it without a gap, units
   [*BASE_O, *LIMIT_O); false if there is none. */
static bool nm_next_grey(size_t *base_o, size_t *limit_o, tdo_nm_seg_t *seg) {
  size_t end = (seg->grey_limit + 1) / 2, pair = end, i;

  if (seg->grey_first < seg->grey_limit)
    pair = tdo_bits_next_set(seg->greys, seg->grey_first / 2, end);
  if (pair == end) {
    seg->grey_first = seg->units;
    seg->grey_limit = 0;
    return false;
  }
  i = 2 * pair;
  if (!tdo_nm_marked(seg, i))
    ++i;
  *base_o = i;
  do {
    pair = i / 2;
    tdo_bits_clear(seg->greys, pair);
    i = tdo_nm_block_end(seg, i);
  } while (i < seg->grey_limit && nm_may_be_grey(seg, i, pair));
  *limit_o = seg->grey_first = i;
  return true;
}

mps_res_t tdo_nm_scan(tdo_pool_t *pool, tdo_scan_t *scan, tdo_gcseg_t *gc) {
  tdo_nm_pool_t *nm = tdo_nm_of(pool);
  tdo_nm_seg_t *seg = tdo_nm_seg_of(gc);
  size_t base, limit, fetched = seg->grey_first / 2 / TDO_WORD_BITS;

  if (!gc->white) /* all that is weak is grey; the rest was remembered */
    return gc->rank > TDO_RANK_EXACT ? tdo_nm_scan_all(nm, scan, seg)
                                     : MPS_RES_OK;
  while (nm_next_grey(&base, &limit, seg)) {
    tdo_bits_fetch(seg->greys, tdo_nm_grey_words(seg->grey_limit),
                   seg->gc.seg.base, seg->shift + 1, limit / 2, &fetched);
    mps_res_t res = nm_scan_objects(nm, scan, tdo_nm_addr(seg, base),
                                    tdo_nm_addr(seg, limit));
    if (res != MPS_RES_OK)
      return res;
  }
  return MPS_RES_OK;
}

void tdo_nm_widen(tdo_pool_t *pool, tdo_gcseg_t *gc, char **base_io,
                  char **limit_io) {
  tdo_nm_seg_t *seg = tdo_nm_seg_of(gc);
  size_t first, end, start;

  (void)pool;
  nm_absorb_committed(seg);
  end = seg->units;
  if (*base_io >= seg->top) {
    *limit_io = *base_io;
    return;
  }
  first = tdo_nm_unit(seg, *base_io);
  if (*limit_io < seg->top) /* maybe in a unit, where these exceed pages */
    end = tdo_nm_unit(seg, *limit_io - 1) + 1;
  start = nm_block_start(seg, first);
  if (start == seg->units)
    start = tdo_bits_next_set(seg->starts, first, end);
  if (start >= end) {
    *limit_io = *base_io;
    return;
  }
  *base_io = tdo_nm_addr(seg, start);
  /* The last block may go on beyond. */
  start = tdo_bits_last_set(seg->starts, start, end) - 1;
  *limit_io = tdo_nm_addr(seg, tdo_nm_block_end(seg, start));
}

/* ---- walking ---- */

/* Visit the blocks of SEG, which is exposed. */
static bool nm_walk_blocks(tdo_nm_pool_t *nm, tdo_nm_seg_t *seg,
                           tdo_walk_visit_t visit, void *closure) {
  size_t i = 0;

  while ((i = tdo_bits_next_set(seg->starts, i, seg->units)) < seg->units) {
    size_t end = nm_run_end(seg, i, seg->units);
    if (!visit(closure, &nm->pool, tdo_nm_addr(seg, i), tdo_nm_addr(seg, end)))
      return false;
    i = end;
  }
  return true;
}

bool tdo_nm_walk(tdo_pool_t *pool, tdo_walk_visit_t visit, void *closure) {
  TDO_RING_FOR(node, &pool->segs) {
    tdo_seg_t *s = TDO_RING_ENTRY(tdo_seg_t, pool_ring, node);
    tdo_nm_seg_t *seg = (tdo_nm_seg_t *)(void *)s;
    tdo_ap_t *ap = seg->gc.ap;
    char *filled = ap != NULL ? tdo_ap_settled(ap) : seg->known;
    bool more;
    tdo_gcseg_expose(&seg->gc, s->base, s->limit);
    more = nm_walk_blocks(tdo_nm_of(pool), seg, visit, closure);
    if (more && seg->known < filled)
      more = visit(closure, pool, seg->known, filled);
    tdo_gcseg_cover(&seg->gc, s->base, s->limit);
    if (!more)
      return false;
  }
  return true;
}
