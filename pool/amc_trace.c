/* Testudo: mostly-copying pools in a collection: copying, fixing, scanning,
   and what is left at the end (the invariants are in amc.c).
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "code/check.h"
#include "pool/amc.h"

#define AMC_TO_SIZE 65536 /* of segments that survivors fill */
#define COPY_AHEAD  768   /* bytes, that lines to be written are fetched */
#define OPENS_MOST  2     /* slices that open a nailed segment which is not
                             settled (.settled): the flip, and one more */
#define MOST_REFUSED 8    /* segments, of a collection; to ask for one takes
                             system calls where mappings ran out */

/* ---- copying ---- */

static void amc_to_cover(amc_to_t *to) {
  if (to->exposed) {
    to->exposed = false;
    to->ready = NULL;
    tdo_gcseg_cover(&to->seg->gc, to->seg->gc.seg.base, to->seg->gc.seg.limit);
  }
}

static void amc_to_expose(amc_to_t *to) {
  if (!to->exposed) {
    to->exposed = true;
    tdo_gcseg_expose(&to->seg->gc, to->seg->gc.seg.base,
                     to->seg->gc.seg.limit);
  }
}

/* Bytes of an ordinary new segment for survivors: small while the generation
   is, so that small arenas stay small. */
static size_t amc_to_size(const amc_pool_t *amc, const amc_to_t *to) {
  size_t share = (size_t)(to->gen->size / 16);

  return tdo_max(amc->extend_by, tdo_min(share, AMC_TO_SIZE));
}

/* Make TO have room for SIZE bytes. */
static mps_res_t amc_to_fill(amc_pool_t *amc, amc_to_t *to, size_t size) {
  size_t want =
      size >= amc->large ? size : tdo_max(size, amc_to_size(amc, to));
  tdo_trace_t *trace = &amc->pool.heap->trace;
  amc_seg_t *seg;
  mps_res_t res;

  if (trace->refused >= MOST_REFUSED)
    return MPS_RES_MEMORY;
  if (trace->emergency)
    want = size;
  res = tdo_amc_new_seg(&seg, amc, to->gen, want, size >= amc->large);
  if (res != MPS_RES_OK && want > size)
    res = tdo_amc_new_seg(&seg, amc, to->gen, size, size >= amc->large);
  if (res != MPS_RES_OK) {
    trace->refused += size <= tdo_space_bytes(tdo_pool_space(&amc->pool), 1);
    return res;
  }
  seg->large = size >= amc->large;
  if (!amc->leaf) {
    /* The mutator cannot reach it before it is black: nothing to remember
       but what scanning will find. */
    tdo_heap_t *heap = amc->pool.heap;
    tdo_gcseg_summarize(&seg->gc, tdo_heap_page(heap, seg->gc.seg.base),
                        tdo_heap_page(heap, seg->gc.seg.limit), 0);
    /* Large objects are often tables, and written for as long as they live. */
    if (to->gen->chain == NULL || !seg->large)
      tdo_gcseg_trust(&seg->gc);
  }
  tdo_gen_fill(to->gen, tdo_seg_size(&seg->gc.seg));
  if (seg->large) { /* do not give up a half-full ordinary one for it */
    to->large = seg;
    return MPS_RES_OK;
  }
  if (to->seg != NULL) {
    amc_to_cover(to);
    to->seg->gc.filling = false;
  }
  seg->gc.filling = true;
  to->seg = seg;
  to->exposed = false;
  to->ready = NULL;
  return MPS_RES_OK;
}

/* Room for SIZE bytes in generation TO; null if there is no memory. */
TDO_NOINLINE static char *amc_to_alloc_any(amc_seg_t **seg_o, amc_pool_t *amc,
                                           amc_to_t *to, size_t size) {
  amc_seg_t *seg = to->seg;
  char *p;

  if (seg == NULL || size >= amc->large ||
      size > (size_t)(seg->gc.seg.limit - seg->gc.filled)) {
    if (amc_to_fill(amc, to, size) != MPS_RES_OK)
      return NULL;
    seg = size >= amc->large ? to->large : to->seg;
  }
  if (seg == to->seg) {
    amc_to_expose(to);
    to->ready = seg;
  } else {
    tdo_gcseg_expose(&seg->gc, seg->gc.seg.base, seg->gc.seg.limit);
  }
  p = seg->gc.filled;
  seg->gc.filled = p + size;
  if (!amc->leaf && !seg->gc.grey)
    tdo_gcseg_set_grey(&seg->gc);
  *seg_o = seg;
  return p;
}

/* Is there room for SIZE bytes in DEST, where survivors are ready to go? */
static inline bool amc_has_room(const amc_to_t *to, const amc_seg_t *dest,
                                size_t size) {
  return dest != NULL && size < to->ordinary &&
         size <= (size_t)(dest->gc.seg.limit - dest->gc.filled);
}

#define WORD_COPY 128 /* bytes that are copied word by word */

/* Copy SIZE bytes; most objects are a few words, and most pools' objects are
   aligned to words. */
static inline void amc_copy_bytes(char *to, const char *from, size_t size) {
  if (TDO_LIKELY(size <= WORD_COPY && size % sizeof(tdo_word_t) == 0)) {
    while (size > 0) { /* from the end: one number counts, and is a place */
      size -= sizeof(tdo_word_t);
      memcpy(to + size, from + size, sizeof(tdo_word_t));
    }
  } else {
    memcpy(to, from, size);
  }
}

/* Copy the object REF, of SIZE bytes, out of SEG to COPY; its new place. */
static inline char *amc_move(amc_seg_t *seg, const tdo_format_t *fmt,
                             char *ref, size_t size, char *copy) {
  amc_copy_bytes(copy, ref - fmt->header, size);
  copy += fmt->header;
  seg->copied += size;
  fmt->fwd(ref, copy);
  return copy;
}

/* Copy the object REF out of SEG; null if there is no memory. */
static char *amc_copy(amc_pool_t *amc, amc_seg_t *seg, char *ref) {
  const tdo_format_t *fmt = amc->pool.format;
  amc_to_t *to = seg->to;
  size_t size = tdo_format_size(fmt, ref);
  amc_seg_t *dest;
  char *copy = amc_to_alloc_any(&dest, amc, to, size);

  if (copy == NULL)
    return NULL;
  copy = amc_move(seg, fmt, ref, size, copy);
  if (dest != to->seg)
    tdo_gcseg_cover(&dest->gc, dest->gc.seg.base, dest->gc.seg.limit);
  return copy;
}

/* SEG, no longer white, goes where its survivors go, as it is. */
static void amc_grow_old(amc_seg_t *seg) {
  tdo_gcseg_promote(&seg->gc, seg->to->gen);
  tdo_gen_fill(seg->to->gen, tdo_seg_size(&seg->gc.seg));
}

bool tdo_amc_promote_large(amc_pool_t *amc, tdo_scan_t *scan, amc_seg_t *seg) {
  char *base = seg->gc.seg.base;
  size_t size = (size_t)(seg->condemned - base);

  if (!seg->large || amc->pool.heap->trace.move_all || seg->gc.nailed ||
      seg->gc.ap != NULL || tdo_amc_next(amc, base) != seg->gc.filled)
    return false;
  tdo_gcseg_survived(&seg->gc, size);
  seg->gc.open = false;
  tdo_gcseg_clear_white(&seg->gc);
  amc_grow_old(seg);
  scan->ss._seen |= seg->to->bit;
  seg->scanned = base;
  if (!amc->leaf)
    tdo_gcseg_set_grey(&seg->gc);
  return true;
}

/* An exact reference to an object of a nailed segment. */
static mps_res_t amc_fix_nailed(amc_pool_t *amc, tdo_scan_t *scan,
                                amc_seg_t *seg, mps_addr_t *ref_io) {
  tdo_format_t *fmt = amc->pool.format;
  char *base = (char *)*ref_io - fmt->header;
  mps_addr_t moved;

  if (!seg->gc.open && seg->moved == NULL) {
    tdo_amc_open_now(amc, seg);
    if (seg->opened > OPENS_MOST)
      tdo_amc_settle(amc, seg);
  }
  moved = tdo_amc_moved_to(amc, seg, *ref_io);
  if (moved != NULL) {
    *ref_io = moved;
    scan->ss._seen |= seg->to->bit;
  } else if (tdo_amc_is_pinned(amc, seg, base) || seg->kept) {
    scan->ss._seen |= tdo_amc_pinned_bits(seg);
  } else if (scan->rank == TDO_RANK_WEAK) {
    *ref_io = NULL;
  } else {
    if (seg->moved == NULL && !tdo_amc_is_held(amc, seg, base) &&
        !scan->hurried)
      moved = amc_copy(amc, seg, *ref_io);
    if (moved != NULL) {
      *ref_io = moved;
      scan->ss._seen |= seg->to->bit;
    } else {
      tdo_amc_pin(amc, seg, base);
      scan->ss._seen |= tdo_amc_pinned_bits(seg);
    }
  }
  return MPS_RES_OK;
}

/* Can an object of SEG, whatever it is, begin at BASE? */
static inline bool amc_may_begin(const amc_seg_t *seg, const char *base) {
  return ((tdo_word_t)base & (seg->gc.pool->align - 1)) == 0 &&
         base >= seg->gc.seg.base;
}

/* An exact or weak reference into a segment that is collected in place: nothing
   but tables is touched. */
static mps_res_t amc_fix_in_place(tdo_scan_t *scan, tdo_gcseg_t *gc,
                                  mps_addr_t *ref_io) {
  amc_pool_t *amc = tdo_amc_of(gc->pool);
  amc_seg_t *seg = tdo_amc_seg_of(gc);
  char *base = (char *)*ref_io - amc->pool.format->header;
  size_t i = tdo_amc_pin_index(amc, seg, base);

  if (TDO_COOL && !amc_may_begin(seg, base))
    return tdo_amc_fix(gc->pool, scan, gc, ref_io);
  tdo_amc_clean_pins(seg);
  scan->ss._seen |= gc->gen->bit;
  if (tdo_bits_get(seg->pins, i))
    return MPS_RES_OK;
  if (scan->rank == TDO_RANK_WEAK) {
    *ref_io = NULL;
    return MPS_RES_OK;
  }
  tdo_amc_set_pin(seg, i);
  if (!amc->leaf && !gc->grey)
    tdo_gcseg_set_grey(gc);
  return MPS_RES_OK;
}

void tdo_amc_fetch(const tdo_gcseg_t *gc, const char *ref) {
  const amc_seg_t *seg = (const amc_seg_t *)(const void *)gc;
  size_t i;

  if (!seg->in_place && seg->moved == NULL) {
    __builtin_prefetch(ref - gc->pool->format->header);
    return;
  }
  i = tdo_amc_pin_index(tdo_amc_of(gc->pool), seg,
                        ref - gc->pool->format->header);
  __builtin_prefetch(&seg->pin_table[i / TDO_WORD_BITS], 1);
}

/* An exact reference to an object of a segment that is open, in which nothing
   is nailed and all is white. */
static mps_res_t amc_fix_moving(tdo_scan_t *scan, tdo_gcseg_t *gc,
                                mps_addr_t *ref_io) {
  amc_seg_t *seg = tdo_amc_seg_of(gc);
  amc_to_t *to = seg->to;
  const tdo_format_t *fmt = to->format;
  char *ref = *ref_io, *moved;

  if (TDO_COOL && !amc_may_begin(seg, ref - fmt->header))
    return tdo_amc_fix(gc->pool, scan, gc, ref_io);
  moved = fmt->isfwd(ref);
  if (moved == NULL) {
    size_t size = tdo_format_size(fmt, ref);
    amc_seg_t *dest = to->ready;
    char *copy;
    if (TDO_UNLIKELY(!amc_has_room(to, dest, size)))
      return tdo_amc_fix(gc->pool, scan, gc, ref_io);
    TDO_CRITICAL(dest->gc.leaf || dest->gc.grey); /* .ready */
    copy = dest->gc.filled;
    dest->gc.filled = copy + size;
    __builtin_prefetch(copy + COPY_AHEAD, 1);
    moved = amc_move(seg, fmt, ref, size, copy);
  }
  *ref_io = moved;
  scan->ss._seen |= to->bit;
  return MPS_RES_OK;
}

/* May exact references to SEG, in which nothing is nailed, take the short way
   from now on? */
static bool amc_is_plain(const amc_seg_t *seg) {
  return seg->gc.open && !seg->large && seg->gc.ap == NULL &&
         seg->gc.filled == seg->condemned;
}

mps_res_t tdo_amc_fix(tdo_pool_t *pool, tdo_scan_t *scan, tdo_gcseg_t *gc,
                      mps_addr_t *ref_io) {
  amc_pool_t *amc = tdo_amc_of(pool);
  amc_seg_t *seg = tdo_amc_seg_of(gc);
  tdo_format_t *fmt = pool->format;
  char *base = (char *)*ref_io - fmt->header;
  mps_addr_t moved;

  if (scan->rank == TDO_RANK_AMBIG)
    return tdo_amc_fix_ambig(amc, scan, seg, *ref_io);
  if (TDO_COOL && !amc_may_begin(seg, base)) {
    TDO_ASSERT(false, "an exact reference leads to no object");
    return MPS_RES_OK;
  }
  if (TDO_UNLIKELY(base >= seg->condemned)) { /* black */
    scan->ss._seen |= gc->gen->bit;
    return MPS_RES_OK;
  }
  if (TDO_UNLIKELY(seg->gc.nailed))
    return seg->in_place ? amc_fix_in_place(scan, gc, ref_io)
                         : amc_fix_nailed(amc, scan, seg, ref_io);
  moved = fmt->isfwd(*ref_io);
  if (moved == NULL && scan->rank == TDO_RANK_WEAK) {
    *ref_io = NULL;
    return MPS_RES_OK;
  }
  if (moved == NULL) {
    if (TDO_UNLIKELY(seg->large) && tdo_amc_promote_large(amc, scan, seg))
      return MPS_RES_OK;
    tdo_amc_open(amc, seg);
    if (TDO_LIKELY(!scan->hurried)) {
      moved = amc_copy(amc, seg, *ref_io);
      pool->heap->trace.emergency |= moved == NULL;
    }
    if (moved == NULL) {
      tdo_amc_pin(amc, seg, base);
      scan->ss._seen |= tdo_amc_pinned_bits(seg);
      return MPS_RES_OK;
    }
    if (amc_is_plain(seg))
      gc->express = amc_fix_moving;
  }
  *ref_io = moved;
  scan->ss._seen |= seg->to->bit;
  return MPS_RES_OK;
}

/* ---- scanning ---- */

/* Where the survivors go that come to GEN. */
static amc_to_t *amc_to_of(const amc_pool_t *amc, const tdo_gen_t *gen) {
  return &amc->to[gen->chain == NULL ? amc->chain->count : gen->index];
}

/* Scan all that has not moved of a kept segment. */
static mps_res_t amc_scan_kept(amc_pool_t *amc, tdo_scan_t *scan,
                               amc_seg_t *seg) {
  tdo_format_t *fmt = amc->pool.format;
  char *p = seg->gc.seg.base, *next;
  mps_res_t res = MPS_RES_OK;

  for (; p < seg->condemned && res == MPS_RES_OK; p = next) {
    next = tdo_amc_next(amc, p);
    if (fmt->isfwd(p + fmt->header) == NULL)
      res = tdo_scan_formatted(scan, &amc->pool, p, next);
  }
  return res;
}

/* Have pinned objects after bit I fetched, in a walk over them. */
static inline void amc_fetch_pinned(const amc_pool_t *amc,
                                    const amc_seg_t *seg, size_t i,
                                    size_t *fetched) {
  tdo_bits_fetch(seg->pins, tdo_bits_words(seg->pin_count),
                 seg->gc.seg.base, amc->shift, i, fetched);
}

/* A walk upwards over the pinned objects that were not scanned yet: what it
   has before it lies within [at, limit). What is pinned behind it meanwhile is
   for the next one (.unread). */
typedef struct amc_reading {
  size_t at, limit;
} amc_reading_t;

/* All that waits is before R. */
static void amc_read_on(amc_seg_t *seg, amc_reading_t *r) {
  r->at = seg->unread;
  r->limit = seg->unread_limit;
  tdo_amc_all_read(seg);
}

/* What was pinned since lies before R as far as it is above. Where nothing
   else does, R goes to it at once. */
static void amc_read_more(amc_seg_t *seg, amc_reading_t *r) {
  size_t behind = r->at;

  if (seg->unread_limit <= r->at)
    return;
  if (r->at >= r->limit)
    r->at = tdo_max(r->at, seg->unread);
  r->limit = tdo_max(r->limit, seg->unread_limit);
  if (seg->unread < behind)
    seg->unread_limit = behind;
  else
    tdo_amc_all_read(seg);
}

/* Go with R to the next object to scan; false if there is none. To begin each
   walk at the lowest and end it at the highest that waits makes a list linear
   in whichever order it lies in the segment. */
static bool amc_read_next(amc_seg_t *seg, amc_reading_t *r) {
  do {
    if (r->at >= r->limit)
      amc_read_on(seg, r);
    if (r->at >= r->limit)
      return false;
    r->at = tdo_bits_next_in(seg->pins, seg->read, r->at, r->limit);
  } while (r->at == r->limit);
  return true;
}

/* What R has before it waits. True if anything does. */
static bool amc_read_later(amc_seg_t *seg, const amc_reading_t *r) {
  if (r->at < r->limit) {
    seg->unread = tdo_min(seg->unread, r->at);
    seg->unread_limit = tdo_max(seg->unread_limit, r->limit);
  }
  return seg->unread < seg->unread_limit;
}

/* Scan the pinned objects that were not scanned yet, and those that this pins;
   as many as there is time for. */
static mps_res_t amc_scan_pinned(amc_pool_t *amc, tdo_scan_t *scan,
                                 amc_seg_t *seg) {
  amc_reading_t r = {0, 0};
  size_t fetched = 0;

  while (amc_read_next(seg, &r)) {
    char *p = seg->gc.seg.base + (r.at << amc->shift), *q = p;
    mps_res_t res;
    do { /* neighbours are scanned as one */
      amc_fetch_pinned(amc, seg, r.at, &fetched);
      tdo_bits_set(seg->read, r.at);
      q = tdo_amc_next(amc, q);
      r.at = tdo_amc_pin_index(amc, seg, q);
    } while (r.at < seg->pin_count && tdo_bits_get(seg->pins, r.at) &&
             !tdo_bits_get(seg->read, r.at));
    seg->marked += (size_t)(q - p);
    res = tdo_scan_formatted(scan, &amc->pool, p, q);
    if (res != MPS_RES_OK) {
      (void)amc_read_later(seg, &r);
      return res;
    }
    amc_read_more(seg, &r);
    if (TDO_UNLIKELY(tdo_scan_late(scan))) {
      scan->partly = amc_read_later(seg, &r);
      break;
    }
  }
  return MPS_RES_OK;
}

/* Scan what stays in a nailed white segment. */
static mps_res_t amc_scan_nailed(amc_pool_t *amc, tdo_scan_t *scan,
                                 amc_seg_t *seg) {
  mps_res_t res = seg->kept ? amc_scan_kept(amc, scan, seg)
                            : amc_scan_pinned(amc, scan, seg);

  /* The summary that is made of this covers the black ones, too. */
  if (res == MPS_RES_OK && !scan->partly && seg->gc.ap == NULL)
    res = tdo_scan_formatted(scan, &amc->pool, seg->condemned, seg->gc.filled);
  return res;
}

mps_res_t tdo_amc_scan(tdo_pool_t *pool, tdo_scan_t *scan, tdo_gcseg_t *gc) {
  amc_seg_t *seg = tdo_amc_seg_of(gc);
  mps_res_t res = MPS_RES_OK;

  if (gc->white)
    return amc_scan_nailed(tdo_amc_of(pool), scan, seg);
  while (seg->scanned < gc->filled && res == MPS_RES_OK) {
    char *base = seg->scanned, *limit = gc->filled;
    res = tdo_scan_formatted(scan, pool, base, limit);
    if (res == MPS_RES_OK)
      seg->scanned = limit;
  }
  if (gc->filling) /* it is going to be black (.ready) */
    amc_to_of(tdo_amc_of(pool), gc->gen)->ready = NULL;
  return res;
}

void tdo_amc_widen(tdo_pool_t *pool, tdo_gcseg_t *gc, char **base_io,
                   char **limit_io) {
  amc_pool_t *amc = tdo_amc_of(pool);
  amc_seg_t *seg = tdo_amc_seg_of(gc);
  char *filled = tdo_gcseg_filled(gc);

  if (*base_io >= filled) {
    *limit_io = *base_io;
    return;
  }
  *base_io = tdo_amc_find(amc, seg, *base_io);
  *limit_io = *limit_io >= filled
                  ? filled
                  : tdo_amc_next(amc, tdo_amc_find(amc, seg, *limit_io - 1));
}

mps_res_t tdo_amc_scan_range(tdo_pool_t *pool, tdo_scan_t *scan,
                             tdo_gcseg_t *gc, char *base, char *limit) {
  (void)gc;
  return tdo_scan_formatted(scan, pool, base, limit);
}

/* ---- the collection's start and end ---- */

/* Not if it was found sparse the last time: then its survivors move
   together. */
bool tdo_amc_stays(const tdo_pool_t *pool, const tdo_gcseg_t *gc) {
  const amc_seg_t *seg = (const amc_seg_t *)(const void *)gc;
  double size = (double)tdo_seg_size(&gc->seg);

  return pool->heap->trace.in_place && gc->gen->chain == NULL && !seg->large &&
         seg->pin_table != NULL && gc->ap == NULL &&
         (seg->live == 0 ||
          (double)seg->live >= pool->heap->trace.dense * size);
}

/* Is there room for it all the same? */
static bool amc_is_part(tdo_heap_t *heap, const amc_seg_t *seg) {
  return heap->trace.part > 0 && seg->live > 0 &&
         tdo_evacuate_take(&heap->trace.part, heap->trace.dense, seg->live,
                           tdo_seg_size(&seg->gc.seg));
}

/* Where what survives in white GEN goes. */
static amc_to_t *amc_next_to(const amc_pool_t *amc, const tdo_gen_t *gen) {
  bool top = gen->chain == NULL || amc->pool.heap->trace.skipping;

  return &amc->to[top ? amc->chain->count : gen->index + 1];
}

void tdo_amc_whiten(tdo_pool_t *pool, tdo_gcseg_t *gc) {
  amc_pool_t *amc = tdo_amc_of(pool);
  amc_seg_t *seg = tdo_amc_seg_of(gc);

  tdo_amc_close_to(amc, seg);
  gc->filled = seg->scanned = seg->condemned = tdo_gcseg_filled(gc);
  TDO_CHECK(!seg->gc.nailed && !seg->kept && seg->pins == NULL);
  seg->to = amc_next_to(amc, gc->gen);
  seg->in_place = tdo_amc_stays(pool, gc) && !amc_is_part(pool->heap, seg);
  gc->nailed = seg->in_place;
  gc->express = seg->in_place ? amc_fix_in_place : NULL;
}

void tdo_amc_pardon(tdo_gcseg_t *gc) {
  amc_seg_t *seg = tdo_amc_seg_of(gc);

  TDO_CHECK(seg->in_place);
  seg->pins = seg->read = NULL;
  gc->nailed = seg->in_place = false;
}

void tdo_amc_tenured(tdo_pool_t *pool, tdo_gcseg_t *gc) {
  tdo_amc_close_to(tdo_amc_of(pool), tdo_amc_seg_of(gc));
}

void tdo_amc_pause(tdo_pool_t *pool) {
  amc_pool_t *amc = tdo_amc_of(pool);

  for (size_t i = 0; i <= amc->chain->count; ++i)
    amc_to_cover(&amc->to[i]);
  TDO_RING_FOR(node, &amc->open)
  tdo_amc_close(TDO_RING_ENTRY(amc_seg_t, open_ring, node));
}

static bool amc_stays(amc_pool_t *amc, amc_seg_t *seg, char *base) {
  tdo_format_t *fmt = amc->pool.format;

  return tdo_amc_is_pinned(amc, seg, base) ||
         (seg->kept && fmt->isfwd(base + fmt->header) == NULL);
}

bool tdo_amc_alive(tdo_pool_t *pool, tdo_gcseg_t *gc, mps_addr_t *ref_io) {
  amc_pool_t *amc = tdo_amc_of(pool);
  amc_seg_t *seg = tdo_amc_seg_of(gc);
  char *base = (char *)*ref_io - pool->format->header;
  bool alive;
  mps_addr_t moved;

  if (base >= seg->condemned)
    return true;
  if (seg->in_place)
    return tdo_amc_is_pinned(amc, seg, base);
  if (seg->gc.nailed && seg->moved == NULL)
    tdo_amc_open(amc, seg);
  moved = tdo_amc_moved_to(amc, seg, *ref_io);
  alive = moved != NULL || (seg->gc.nailed && amc_stays(amc, seg, base));
  if (moved != NULL)
    *ref_io = moved;
  return alive;
}

/* Overwrite the dead [BASE, LIMIT) with one padding object. */
static void amc_pad(amc_pool_t *amc, char *base, char *limit) {
  if (base < limit)
    amc->pool.format->pad(base, (size_t)(limit - base));
}

/* From now on pads are noted (.padded), as far as there is a table for that.
   The pins stay; all of them have been read. */
static void amc_note_pads(amc_seg_t *seg) {
  seg->padded = NULL;
  if (seg->pins != NULL) {
    memset(seg->read, 0, tdo_amc_pin_bytes(seg) / 2);
    seg->padded = seg->gc.seg.base;
  }
}

/* The same, noted. */
static void amc_pad_between(amc_pool_t *amc, amc_seg_t *seg, char *base,
                            char *limit) {
  amc_pad(amc, base, limit);
  if (base < limit && seg->padded != NULL)
    tdo_bits_set(seg->read, tdo_amc_pin_index(amc, seg, base));
}

/* Give back the whole grains of dead [seg.base, FIRST), which is then where
   the segment's objects begin, and pad the rest. */
static void amc_cut_front(amc_pool_t *amc, amc_seg_t *seg, char *first) {
  tdo_space_t *sp = tdo_pool_space(&amc->pool);
  char *base = tdo_space_addr(sp, tdo_space_grain(sp, first));

  if (base > seg->gc.seg.base)
    tdo_gcseg_shrink(&seg->gc, seg->gc.seg.base, base);
  amc_pad(amc, seg->gc.seg.base, first);
  seg->first = first;
}

/* Give back the whole grains of SEG from LIMIT on, where its objects end. */
static void amc_cut_tail(amc_pool_t *amc, amc_seg_t *seg, const char *limit) {
  const tdo_space_t *sp = tdo_pool_space(&amc->pool);
  char *base = seg->gc.seg.base;
  size_t grains = tdo_space_grains_for(sp, (size_t)(limit - base));
  char *end = base + tdo_space_bytes(sp, grains);

  if (end < seg->gc.seg.limit)
    tdo_gcseg_shrink(&seg->gc, end, seg->gc.seg.limit);
}

/* SEG, LIVE bytes of which stay, is as small as it gets. It is sparse, too, if
   little was ever put into it. */
static void amc_found(amc_pool_t *amc, amc_seg_t *seg, size_t live) {
  seg->live = live;
  tdo_gcseg_survived(&seg->gc, live);
  if (seg->gc.gen->chain == NULL)
    tdo_evacuate_found(&amc->pool.heap->evacuate, live,
                       tdo_seg_size(&seg->gc.seg));
}

/* The first object at or after P, which is one, that stays in SEG; at least
   its end if there is none. Where only pins keep, the dead are not looked
   at. */
static char *amc_next_stay(amc_pool_t *amc, amc_seg_t *seg, char *p) {
  if (!seg->kept)
    return seg->gc.seg.base +
           (tdo_bits_next_set(seg->pins, tdo_amc_pin_index(amc, seg, p),
                              seg->pin_count)
            << amc->shift);
  while (p < seg->gc.filled && !amc_stays(amc, seg, p))
    p = tdo_amc_next(amc, p);
  return p;
}

/* LIVE bytes of SEG, which is young and black, were pinned again: maybe it
   grows old. */
static void amc_pinned_again(amc_pool_t *amc, amc_seg_t *seg, size_t live) {
  if (!tdo_pin_again(&amc->pool.heap->pin, live))
    return;
  amc_grow_old(seg);
  if (seg->gc.gen->chain == NULL)
    tdo_gcseg_trust(&seg->gc);
}

/* What is left of the nailed SEG: pads between what stays, and the grains at
   both ends given back. */
static void amc_reclaim_nailed(amc_pool_t *amc, amc_seg_t *seg) {
  char *p = seg->gc.seg.base, *first = NULL, *dead = p, *next;
  size_t live = 0, fetched = 0;
  bool again = seg->gc.gen->chain != NULL && seg->live > 0;

  amc_note_pads(seg);
  for (; (p = amc_next_stay(amc, seg, p)) < seg->gc.filled; p = next) {
    if (!seg->kept)
      amc_fetch_pinned(amc, seg, tdo_amc_pin_index(amc, seg, p), &fetched);
    next = tdo_amc_next(amc, p);
    if (first == NULL)
      first = p;
    else
      amc_pad_between(amc, seg, dead, p);
    dead = next;
    live += (size_t)(next - p);
  }
  if (first == NULL) {
    tdo_amc_free_seg(seg);
    return;
  }
  seg->gc.filled = seg->scanned = dead;
  tdo_amc_free_tables(seg);
  seg->gc.nailed = seg->kept = seg->in_place = false;
  amc_cut_tail(amc, seg, dead);
  amc_cut_front(amc, seg, first);
  amc_found(amc, seg, live);
  tdo_amc_close(seg);
  tdo_gcseg_clear_white(&seg->gc);
  if (again)
    amc_pinned_again(amc, seg, live);
}

/* A segment with black objects, or a buffer, beyond the white ones: these
   stay. Pinned objects before them just get pads between. */
static void amc_reclaim_tail(amc_pool_t *amc, amc_seg_t *seg) {
  tdo_gcseg_t *gc = &seg->gc;
  char *p = gc->seg.base, *next;

  tdo_amc_close(seg);
  tdo_gcseg_expose(gc, gc->seg.base, gc->seg.limit);
  if (gc->nailed) {
    amc_note_pads(seg);
    for (; p < seg->condemned; p = next) {
      next = tdo_amc_next(amc, p);
      if (!amc_stays(amc, seg, p))
        amc_pad_between(amc, seg, p, next);
    }
  } else {
    amc_cut_front(amc, seg, seg->condemned);
  }
  tdo_amc_free_tables(seg);
  gc->nailed = gc->open = seg->kept = false;
  tdo_gcseg_cover(gc, gc->seg.base, gc->seg.limit);
  tdo_gcseg_dirty(gc, gc->seg.base, gc->seg.limit);
  tdo_gcseg_clear_white(gc);
}

/* A leaf's point whose buffer was full at the flip gets nothing more here. */
static void amc_part(amc_seg_t *seg) {
  tdo_ap_t *ap = seg->gc.ap;

  if (ap != NULL && seg->condemned == ap->limit) {
    ap->seg = NULL;
    seg->gc.ap = NULL;
  }
}

/* Everything in SEG survived in place. */
static void amc_reclaim_full(amc_pool_t *amc, amc_seg_t *seg, size_t filled) {
  memset(seg->pins, 0, tdo_amc_pin_bytes(seg)); /* not in the next flip */
  seg->pins_used = false;
  seg->pins = seg->read = NULL;
  seg->padded = NULL;
  seg->gc.nailed = seg->in_place = false;
  amc_cut_tail(amc, seg, seg->gc.filled);
  amc_found(amc, seg, filled);
  tdo_gcseg_clear_white(&seg->gc);
}

void tdo_amc_reclaim(tdo_pool_t *pool, tdo_gcseg_t *gc) {
  amc_pool_t *amc = tdo_amc_of(pool);
  amc_seg_t *seg = tdo_amc_seg_of(gc);
  size_t filled = (size_t)(seg->condemned - gc->seg.base);
  size_t marked = seg->marked;

  tdo_gcseg_survived(gc, seg->copied);
  amc->pool.heap->stats.copied += seg->copied;
  seg->marked = seg->copied = 0;
  amc_part(seg);
  if (gc->ap != NULL || gc->filled > seg->condemned) {
    amc_reclaim_tail(amc, seg);
  } else if (seg->in_place && seg->pins == NULL) {
    tdo_amc_free_seg(seg);
  } else if (seg->in_place && marked == filled) {
    amc_reclaim_full(amc, seg, filled);
  } else if (seg->gc.nailed) {
    tdo_amc_open(amc, seg);
    amc_reclaim_nailed(amc, seg);
  } else {
    tdo_amc_free_seg(seg);
  }
}
