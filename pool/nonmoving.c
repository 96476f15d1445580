/* Testudo: pools whose blocks are collected and never move: memory. What the
   collector asks of them is in nonmoving_trace.c.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "code/args.h"
#include "code/check.h"
#include "pool/nonmoving_internal.h"
#include "pool/options.h"
#include "trace/pause.h"

#define NM_BUFFER_LEAST 4096
#define NM_BUFFER_SHARE 32.0  /* of a generation's capacity in one buffer */
#define NM_SEG_MOST     65536 /* of segments for more than one block */
#define NM_UNITS_MOST   16384 /* in them: their tables are small */
#define NM_FREE_SHARE   12    /* of a pool: when more is free, runs for just one
                                 block are used too, each of which makes the
                                 point ask for memory */
#define NM_TRIES        16    /* segments looked at that may not do, unless
                                 memory is short */

/* ---- creation ---- */

static mps_res_t nm_take_gen(tdo_nm_pool_t *nm, mps_arg_s args[]) {
  size_t index;
  mps_arg_s arg;
  bool given;
  mps_res_t res = tdo_option_chain(&nm->chain, &given, &nm->pool, args);

  if (res != MPS_RES_OK)
    return res;
  index = given ? 0 : 1; /* of the default chain the second */
  if (tdo_arg_pick(&arg, args, MPS_KEY_GEN))
    index = arg.val.u;
  TDO_ASSERT(index <= nm->chain->count,
             "GEN exceeds the number of generations");
  if (index > nm->chain->count)
    return MPS_RES_PARAM;
  nm->gen = tdo_chain_gen(nm->chain, index);
  return MPS_RES_OK;
}

mps_res_t tdo_nm_init(tdo_nm_pool_t *nm, mps_arg_s args[]) {
  mps_res_t res = tdo_pool_take_format(&nm->pool, args);

  if (res == MPS_RES_OK)
    res = nm_take_gen(nm, args);
  if (res != MPS_RES_OK)
    return res;
  nm->shift = tdo_log2(nm->pool.align);
  for (int rank = 0; rank < TDO_RANKS; ++rank)
    for (int i = 0; i < TDO_NM_ROOMS; ++i)
      tdo_ring_init(&nm->room[rank][i]);
  ++nm->chain->pools;
  return MPS_RES_OK;
}

void tdo_nm_finish(tdo_pool_t *pool) {
  TDO_RING_FOR(node, &pool->segs) {
    tdo_seg_t *seg = TDO_RING_ENTRY(tdo_seg_t, pool_ring, node);
    tdo_nm_seg_free((tdo_nm_seg_t *)(void *)seg);
  }
  --tdo_nm_of(pool)->chain->pools;
}

mps_res_t tdo_nm_ap_init(tdo_ap_t *ap, mps_arg_s args[], unsigned ranks) {
  mps_arg_s arg;

  if (tdo_arg_pick(&arg, args, MPS_KEY_RANK)) {
    TDO_ASSERT(arg.val.rank < TDO_RANKS, "not a rank");
    if (arg.val.rank >= TDO_RANKS || !((ranks >> arg.val.rank) & 1))
      return MPS_RES_PARAM;
    ap->rank = arg.val.rank;
  }
  if (ap->rank > TDO_RANK_EXACT)
    tdo_pause_weak_comes(ap->pool->heap);
  ap->next_size = NM_BUFFER_LEAST;
  return MPS_RES_OK;
}

void tdo_nm_ap_varargs(mps_arg_s args[], va_list list) {
  args[0].key = MPS_KEY_RANK;
  args[0].val.rank = va_arg(list, mps_rank_t);
  args[1].key = MPS_KEY_ARGS_END;
}

/* ---- segments ---- */

static void nm_free_table(tdo_nm_seg_t *seg, tdo_bits_t *table, size_t words) {
  if (table != NULL)
    tdo_pool_control_free(seg->gc.pool, table, words * sizeof(tdo_bits_t));
}

static void nm_free_tables(tdo_nm_seg_t *seg) {
  nm_free_table(seg, seg->starts, tdo_bits_words(seg->units));
  nm_free_table(seg, seg->used, tdo_bits_words(seg->units));
  nm_free_table(seg, seg->greys, tdo_nm_grey_words(seg->units));
}

static mps_res_t nm_alloc_table(tdo_bits_t **table_o, tdo_nm_seg_t *seg,
                                size_t words) {
  size_t bytes = words * sizeof(tdo_bits_t);
  void *p;
  mps_res_t res = tdo_pool_control_alloc(&p, seg->gc.pool, bytes);

  if (res == MPS_RES_OK)
    *table_o = memset(p, 0, bytes);
  return res;
}

static mps_res_t nm_alloc_tables(tdo_nm_seg_t *seg) {
  size_t words = tdo_bits_words(seg->units);
  mps_res_t res = nm_alloc_table(&seg->starts, seg, words);

  if (res == MPS_RES_OK)
    res = nm_alloc_table(&seg->used, seg, words);
  if (res == MPS_RES_OK && !seg->gc.leaf)
    res = nm_alloc_table(&seg->greys, seg, tdo_nm_grey_words(seg->units));
  if (res != MPS_RES_OK)
    nm_free_tables(seg);
  return res;
}

static void nm_set_free(tdo_nm_seg_t *seg, size_t bytes) {
  tdo_pool_t *pool = seg->gc.pool;

  pool->free -= seg->free;
  pool->free += bytes;
  seg->free = bytes;
}

void tdo_nm_seg_free(tdo_nm_seg_t *seg) {
  tdo_ring_remove(&seg->room_ring);
  nm_set_free(seg, 0);
  nm_free_tables(seg);
  tdo_gcseg_free(&seg->gc);
}

/* A new segment for blocks of RANK: many of them, or one of SIZE bytes. */
static mps_res_t nm_seg_alloc(tdo_nm_seg_t **seg_o, tdo_nm_pool_t *nm,
                              mps_rank_t rank, size_t size, bool single) {
  tdo_gcseg_t *gc;
  tdo_nm_seg_t *seg;
  mps_res_t res =
      tdo_gcseg_alloc(&gc, &nm->pool, nm->gen, sizeof(tdo_nm_seg_t), size,
                      !nm->pool.klass->scanned);

  if (res != MPS_RES_OK)
    return res;
  seg = tdo_nm_seg_of(gc);
  tdo_ring_init(&seg->room_ring);
  gc->rank = rank;
  if (single) {
    seg->shift = 8 * sizeof(size_t) - 2; /* more than any size, also twice */
    seg->units = 1;
    seg->top = gc->seg.base + size;
  } else {
    seg->shift = nm->shift;
    seg->units = tdo_seg_size(&gc->seg) >> nm->shift;
    seg->top = gc->seg.limit;
  }
  seg->grey_first = seg->units;
  res = nm_alloc_tables(seg);
  if (res != MPS_RES_OK) {
    tdo_gcseg_free(gc);
    return res;
  }
  nm_set_free(seg, (size_t)(gc->seg.limit - gc->seg.base));
  *seg_o = seg;
  return MPS_RES_OK;
}

/* Units of the largest free run. */
static size_t nm_largest(const tdo_nm_seg_t *seg) {
  size_t largest = 0, i = 0;

  while ((i = tdo_bits_next_clear(seg->used, i, seg->units)) < seg->units) {
    size_t end = tdo_bits_next_set(seg->used, i, seg->units);
    largest = tdo_max(largest, end - i);
    i = end;
  }
  return largest;
}

static unsigned nm_room_index(size_t units) {
  unsigned i = 8 * sizeof(size_t) - 1 - (unsigned)__builtin_clzl(units);

  return i < TDO_NM_ROOMS ? i : TDO_NM_ROOMS - 1;
}

void tdo_nm_give_room(tdo_nm_seg_t *seg) {
  tdo_nm_pool_t *nm = tdo_nm_of(seg->gc.pool);

  tdo_ring_remove(&seg->room_ring);
  if (seg->gc.ap != NULL || seg->gc.white || seg->gc.grey)
    return;
  if (seg->largest > 0)
    tdo_ring_prepend(&nm->room[seg->gc.rank][nm_room_index(seg->largest)],
                     &seg->room_ring);
}

/* A segment with a free run of at least UNITS, or null. The largest runs are
   used first: they make the longest buffers. */
static tdo_nm_seg_t *nm_find_room(tdo_nm_pool_t *nm, mps_rank_t rank,
                                  size_t units, size_t most) {
  unsigned least = nm_room_index(units);
  size_t tries = 0;

  for (unsigned i = TDO_NM_ROOMS; i-- > least;)
    TDO_RING_FOR(node, &nm->room[rank][i]) {
      tdo_nm_seg_t *seg = TDO_RING_ENTRY(tdo_nm_seg_t, room_ring, node);
      if (seg->largest >= units && !seg->gc.grey)
        return seg;
      if (++tries == most)
        return NULL;
    }
  return NULL;
}

/* ---- buffers ---- */

/* Give the point the free units [FIRST, LIMIT) of SEG. */
static void nm_attach(tdo_nm_pool_t *nm, tdo_ap_t *ap, tdo_nm_seg_t *seg,
                      size_t first, size_t limit, bool fresh) {
  char *base = tdo_nm_addr(seg, first), *end = tdo_nm_addr(seg, limit);
  size_t bytes = (size_t)(end - base);

  tdo_ring_remove(&seg->room_ring);
  tdo_bits_set_range(seg->used, first, limit);
  nm_set_free(seg, seg->free - bytes);
  seg->gc.ap = ap;
  seg->known = base;
  tdo_gcseg_dirty(&seg->gc, base, end);
  if (nm->taken != NULL)
    nm->taken(nm, seg, base, end, fresh);
  tdo_ap_attach(ap, seg, base, end);
}

/* Bytes of the largest buffer: a small share of what the generation may hold
   of new blocks, since buffers count as such. */
static size_t nm_buffer_most(const tdo_nm_pool_t *nm) {
  double share = nm->gen->capacity / NM_BUFFER_SHARE;

  if (share <= 0 || share >= NM_SEG_MOST)
    return NM_SEG_MOST;
  return tdo_max(NM_BUFFER_LEAST, tdo_round_down((size_t)share, 4096));
}

/* A run of UNITS that are free, upwards from where the last one was. */
static bool nm_find_run(size_t *first_o, const tdo_nm_seg_t *seg,
                        size_t units) {
  return tdo_bits_find_clear_run(first_o, seg->used, seg->rover, seg->units,
                                 units) ||
         (seg->rover > 0 &&
          tdo_bits_find_clear_run(first_o, seg->used, 0, seg->units, units));
}

/* A buffer of at least UNITS from what is free; look at MOST segments in
   vain. */
static bool nm_fill_room(tdo_nm_pool_t *nm, tdo_ap_t *ap, size_t units,
                         size_t most) {
  size_t first, limit;
  tdo_nm_seg_t *seg;

  for (size_t tries = 0; tries < most; ++tries) {
    seg = nm_find_room(nm, ap->rank, units, most);
    if (seg == NULL)
      return false;
    if (nm_find_run(&first, seg, units)) {
      limit = first + tdo_max(units, nm_buffer_most(nm) >> nm->shift);
      limit = tdo_bits_next_set(seg->used, first, tdo_min(limit, seg->units));
      seg->rover = limit;
      nm_attach(nm, ap, seg, first, limit, false);
      return true;
    }
    seg->largest = nm_largest(seg); /* less than was thought */
    tdo_nm_give_room(seg);
  }
  return false;
}

/* Bytes of the largest segment for many blocks. */
static size_t nm_seg_most(const tdo_nm_pool_t *nm) {
  size_t grain = (size_t)1 << nm->pool.heap->space.grain_shift;

  return tdo_max(grain,
                 tdo_min(NM_SEG_MOST, (size_t)NM_UNITS_MOST << nm->shift));
}

mps_res_t tdo_nm_fill(tdo_pool_t *pool, tdo_ap_t *ap, size_t size) {
  tdo_nm_pool_t *nm = tdo_nm_of(pool);
  size_t most = nm_seg_most(nm), units = size >> nm->shift, want;
  bool single = size > most / 2;
  tdo_nm_seg_t *seg;
  mps_res_t res;

  if (!single && (nm_fill_room(nm, ap, 2 * units, NM_TRIES) ||
                  (nm->pool.free > nm->pool.total / NM_FREE_SHARE &&
                   nm_fill_room(nm, ap, units, NM_TRIES))))
    return MPS_RES_OK;
  want = single ? size : tdo_max(size, tdo_min(ap->next_size, most));
  res = nm_seg_alloc(&seg, nm, ap->rank, want, single);
  if (res != MPS_RES_OK && want > size)
    res = nm_seg_alloc(&seg, nm, ap->rank, size, single);
  if (res != MPS_RES_OK && nm_fill_room(nm, ap, units, SIZE_MAX))
    return MPS_RES_OK;
  if (res != MPS_RES_OK)
    return res;
  if (!single)
    ap->next_size =
        tdo_min(2 * ap->next_size, tdo_min(most, nm_buffer_most(nm)));
  if (nm->freed != NULL && seg->top < seg->gc.seg.limit)
    nm->freed(nm, seg, seg->top, seg->gc.seg.limit);
  nm_attach(nm, ap, seg, 0, seg->units, true);
  ap->whole = single;
  return MPS_RES_OK;
}

/* What was committed as one large block is several objects, each of which lives
   or dies: SEG gets units as others have. It stays one block where there is no
   memory for their tables. */
static void nm_divide(tdo_nm_seg_t *seg) {
  tdo_nm_seg_t divided = *seg;

  divided.shift = tdo_nm_of(seg->gc.pool)->shift;
  divided.units = (size_t)(seg->top - seg->gc.seg.base) >> divided.shift;
  divided.starts = divided.used = divided.greys = NULL;
  divided.grey_first = divided.units;
  divided.grey_limit = 0;
  if (nm_alloc_tables(&divided) != MPS_RES_OK)
    return;
  nm_free_tables(seg);
  *seg = divided;
  tdo_bits_set_range(seg->used, 0, seg->units); /* the buffer is used */
}

void tdo_nm_absorb(tdo_nm_seg_t *seg, char *to) {
  const tdo_format_t *fmt = seg->gc.pool->format;
  char *p = seg->known, *next;

  for (; p < to; p = next) {
    next = tdo_format_next(fmt, p);
    if (seg->units == 1 && next < to)
      nm_divide(seg);
    /* And so marked: the buffer is used. */
    tdo_bits_set(seg->starts, tdo_nm_unit(seg, p));
    if (seg->units == 1)
      break;
  }
  seg->known = to;
  /* Black ones are not scanned: what is known of their pages is wrong. */
  if (seg->gc.white && !seg->gc.leaf)
    seg->gc.unsteady = true;
}

/* Units [FIRST, LIMIT), no block's, become free. */
static void nm_free_run(tdo_nm_seg_t *seg, size_t first, size_t limit) {
  tdo_bits_clear_range(seg->used, first, limit);
  first = tdo_bits_last_set(seg->used, 0, first);
  limit = tdo_bits_next_set(seg->used, limit, seg->units);
  seg->rover = tdo_min(seg->rover, first);
  seg->largest = tdo_max(seg->largest, limit - first);
}

void tdo_nm_empty(tdo_pool_t *pool, tdo_ap_t *ap, char *init, char *limit) {
  tdo_nm_pool_t *nm = tdo_nm_of(pool);
  tdo_nm_seg_t *seg = ap->seg;
  size_t unused = (size_t)(limit - init);

  tdo_nm_absorb(seg, init);
  seg->gc.ap = NULL;
  seg->known = NULL;
  if (unused > 0) {
    if (seg->units > 1)
      nm_free_run(seg, tdo_nm_unit(seg, init),
                  (size_t)(limit - seg->gc.seg.base) >> seg->shift);
    else if (init == seg->gc.seg.base)
      tdo_bits_clear(seg->used, 0);
    else
      seg->top = init;
    nm_set_free(seg, seg->free + unused);
    if (nm->freed != NULL)
      nm->freed(nm, seg, init, limit);
  }
  tdo_gen_fill(nm->gen, tdo_ap_count(ap, init));
  if (!seg->gc.white && seg->free == tdo_seg_size(&seg->gc.seg))
    tdo_nm_seg_free(seg);
  else
    tdo_nm_give_room(seg);
}

/* ---- sweeping ---- */

/* The first unit of [I, LIMIT) that is a block's or the buffer's, or LIMIT. */
static size_t nm_next_used(const tdo_nm_seg_t *seg, size_t i, size_t limit) {
  limit = tdo_bits_next_set(seg->starts, i, limit);
  return tdo_bits_next_set(seg->used, i, limit);
}

/* Tell that the blocks in units [BASE, LIMIT) are becoming free. */
static void nm_tell_freed(tdo_nm_pool_t *nm, tdo_nm_seg_t *seg, size_t base,
                          size_t limit) {
  while ((base = nm_next_used(seg, base, limit)) < limit) {
    size_t end = tdo_nm_next_free(seg, base, limit);
    nm->freed(nm, seg, tdo_nm_addr(seg, base), tdo_nm_addr(seg, end));
    base = end;
  }
}

/* No block in units [BASE, LIMIT) survived. */
static void nm_sweep_gap(tdo_nm_pool_t *nm, tdo_nm_seg_t *seg, size_t base,
                         size_t limit) {
  if (base >= limit)
    return;
  if (nm->freed != NULL)
    nm_tell_freed(nm, seg, base, limit);
  tdo_bits_clear_range(seg->used, base, limit);
  tdo_bits_clear_range(seg->starts, base, limit);
}

/* Free the gaps between marked blocks one by one: a buffer's part of them
   stays, and the pool may want to be told. */
static void nm_sweep_gaps(tdo_nm_pool_t *nm, tdo_nm_seg_t *seg) {
  size_t p = 0, known = seg->units, past = seg->units;

  if (seg->gc.ap != NULL) {
    known = tdo_nm_unit(seg, seg->known);
    past = seg->units == 1
               ? 1
               : (size_t)(seg->gc.ap->limit - seg->gc.seg.base) >> seg->shift;
  }
  while (p < seg->units) {
    size_t next = tdo_nm_next_marked(seg, p);
    nm_sweep_gap(nm, seg, p, tdo_min(next, known));
    nm_sweep_gap(nm, seg, tdo_max(p, past), next);
    p = next == seg->units ? next : tdo_nm_block_end(seg, next);
  }
}

/* Free what is not marked: the gaps between marked blocks. */
static void nm_sweep(tdo_nm_pool_t *nm, tdo_nm_seg_t *seg) {
  if (seg->gc.ap == NULL && nm->freed == NULL)
    tdo_bits_keep_runs(seg->used, seg->starts, seg->units);
  else
    nm_sweep_gaps(nm, seg);
}

/* Bytes in blocks and the buffer. */
static size_t nm_used_bytes(const tdo_nm_seg_t *seg) {
  size_t used = tdo_bits_count(seg->used, 0, seg->units);

  return seg->units > 1 ? used << seg->shift
                        : used * (size_t)(seg->top - seg->gc.seg.base);
}

/* A point whose buffer was full at the flip gets nothing more here. */
static void nm_part(tdo_nm_seg_t *seg) {
  tdo_ap_t *ap = seg->gc.ap;

  if (ap != NULL && seg->known == ap->limit) {
    ap->seg = NULL;
    seg->gc.ap = NULL;
    seg->known = NULL;
  }
}

void tdo_nm_reclaim(tdo_pool_t *pool, tdo_gcseg_t *gc) {
  tdo_nm_pool_t *nm = tdo_nm_of(pool);
  tdo_nm_seg_t *seg = tdo_nm_seg_of(gc);
  size_t used;

  nm_part(seg);
  nm_sweep(nm, seg);
  used = nm_used_bytes(seg);
  if (used == 0) {
    tdo_nm_seg_free(seg);
    return;
  }
  tdo_gcseg_survived(gc, used);
  gc->gen->stayed += (double)used;
  nm_set_free(seg, tdo_seg_size(&gc->seg) - used);
  tdo_gcseg_clear_white(gc);
  seg->largest = nm_largest(seg);
  seg->rover = 0;
  tdo_nm_give_room(seg);
}

void tdo_nm_each_free(tdo_nm_pool_t *nm, tdo_nm_seg_t *seg,
                      void (*visit)(tdo_nm_pool_t *nm, tdo_nm_seg_t *seg,
                                    char *base, char *limit)) {
  size_t i = 0;

  while ((i = tdo_nm_next_free(seg, i, seg->units)) < seg->units) {
    size_t end = nm_next_used(seg, i, seg->units);
    visit(nm, seg, tdo_nm_addr(seg, i), tdo_nm_addr(seg, end));
    i = end;
  }
  if (seg->top < seg->gc.seg.limit) /* behind a large block */
    visit(nm, seg, seg->top, seg->gc.seg.limit);
}
