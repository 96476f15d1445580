/* Testudo: the memory of a manual pool.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "pool/extents.h"
#include "pool/frames.h"
#include "code/check.h"
#include "code/event.h"

#define ROOM_TIMES  8  /* a small extent's table has room for so many of it, */
#define ROOM_GRAINS 16 /* or for so many grains, which is not small */
#define WHOLE_PART  4  /* 1/4 of an extent is much of it, */
#define WHOLE_SHARE 16 /* and 1/16 of the pool is little */
#define ALL_SHARE 0.5 /* of the pool, to be freed between looks at every run */

static size_t freelist_grain(const tdo_freelist_t *fl) {
  return (size_t)1 << fl->space->grain_shift;
}

static size_t freelist_unit(const tdo_freelist_t *fl, const tdo_extent_t *e,
                            const char *at) {
  return (size_t)(at - e->origin) >> fl->shift;
}

static char *freelist_at(const tdo_freelist_t *fl, const tdo_extent_t *e,
                         size_t unit) {
  return e->origin + (unit << fl->shift);
}

void tdo_freelist_init(tdo_freelist_t *fl, tdo_pool_t *pool) {
  TDO_CHECK(tdo_is_pow2(pool->align));
  fl->pool = pool;
  fl->space = tdo_pool_space(pool);
  fl->extents = NULL;
  tdo_ring_init(&fl->fresh);
  fl->stale = NULL;
  fl->since = 0;
  fl->made = fl->leaving = NULL;
  fl->shift = tdo_log2(pool->align);
  TDO_CHECK(pool->align <= freelist_grain(fl));
}

/* E has [BASE, LIMIT) no more: if that was at an end, the next grain that it
   has is the end now. */
static void freelist_trim(tdo_freelist_t *fl, tdo_extent_t *e, char *base,
                          char *limit) {
  size_t grain = freelist_grain(fl);

  e->held -= (size_t)(limit - base);
  if (e->held == 0)
    return;
  if (base == e->seg.base) {
    for (base = limit; tdo_space_owner(fl->space, base) != e; base += grain)
      ;
    e->seg.base = base;
    tdo_extents_moved(fl, e);
  } else if (limit == e->seg.limit) {
    for (limit = base; tdo_space_owner(fl->space, limit - grain) != e;
         limit -= grain)
      ;
    e->seg.limit = limit;
  }
}

/* Give back [BASE, LIMIT), grains that EXTENT still has, already marked as in
   use. */
static void freelist_drop(tdo_freelist_t *fl, tdo_extent_t *e, char *base,
                          char *limit) {
  tdo_space_t *sp = fl->space;

  TDO_EVENT(SEG, SEG_FREE, (tdo_word_t)fl->pool, (tdo_word_t)base,
            (tdo_word_t)(limit - base));
  fl->pool->total -= (size_t)(limit - base);
  tdo_space_free(sp, tdo_space_grain(sp, base),
                 (size_t)(limit - base) >> sp->grain_shift);
  freelist_trim(fl, e, base, limit);
}

/* A descriptor, with a table for ROOM bytes. */
static mps_res_t freelist_make(tdo_extent_t **e_o, tdo_freelist_t *fl,
                               size_t room) {
  size_t units = room >> fl->shift, bytes = tdo_runs_bytes(units);
  tdo_extent_t *e;
  void *p, *table;
  mps_res_t res = tdo_pool_control_alloc(&p, fl->pool, sizeof *e);

  if (res != MPS_RES_OK)
    return res;
  res = tdo_pool_control_alloc(&table, fl->pool, bytes);
  if (res != MPS_RES_OK) {
    tdo_pool_control_free(fl->pool, p, sizeof *e);
    return res;
  }
  e = memset(p, 0, sizeof *e);
  tdo_ring_init(&e->framed);
  tdo_ring_init(&e->fresh_ring);
  e->table = table;
  e->bytes = bytes;
  *e_o = e;
  return MPS_RES_OK;
}

static void freelist_free(tdo_freelist_t *fl, tdo_extent_t *e) {
  tdo_pool_control_free(fl->pool, e->table, e->bytes);
  tdo_pool_control_free(fl->pool, e, sizeof *e);
}

static void freelist_unmake(tdo_freelist_t *fl, tdo_extent_t *e) {
  TDO_CHECK(e->held == 0);
  tdo_frames_leave(e);
  tdo_extents_remove(fl, e);
  tdo_ring_remove(&e->fresh_ring);
  tdo_ring_remove(&e->seg.pool_ring);
  e->seg.sig = TDO_SIG_DEAD;
  freelist_free(fl, e);
}

/* Give back every grain that E still has, in runs. */
static void freelist_drop_all(tdo_freelist_t *fl, tdo_extent_t *e) {
  tdo_space_t *sp = fl->space;
  size_t grain = freelist_grain(fl);
  char *at = e->seg.base, *base;

  while (e->held > 0) {
    while (tdo_space_owner(sp, at) != e)
      at += grain;
    base = at;
    while (at < e->seg.limit && tdo_space_owner(sp, at) == e)
      at += grain;
    freelist_drop(fl, e, base, at);
  }
}

void tdo_freelist_finish(tdo_freelist_t *fl) {
  while (!tdo_ring_empty(&fl->pool->segs)) {
    tdo_extent_t *e = TDO_RING_ENTRY(tdo_extent_t, seg.pool_ring,
                                     fl->pool->segs.next);
    fl->pool->free -= e->free;
    freelist_drop_all(fl, e);
    freelist_unmake(fl, e);
  }
}

/* E, whose segment has its bounds, is all free, and in the tree; its table has
   ROOM for so many bytes. */
static mps_res_t freelist_enter(tdo_freelist_t *fl, tdo_extent_t *e,
                                size_t room) {
  size_t units = tdo_seg_size(&e->seg) >> fl->shift;

  e->origin = e->seg.base;
  tdo_runs_init(&e->runs, units, room >> fl->shift, e->table);
  tdo_runs_free(&e->runs, 0, units);
  return tdo_extents_insert(fl, e);
}

/* Nobody looked at AREA yet, which has come to its extent, or at what lies
   between it and what that knows of already. */
static void freelist_fresh(tdo_freelist_t *fl, const tdo_area_t *area) {
  tdo_extent_t *e = area->extent;
  size_t first = freelist_unit(fl, e, area->base);
  size_t limit = freelist_unit(fl, e, area->limit);

  if (tdo_ring_empty(&e->fresh_ring)) {
    tdo_ring_append(&fl->fresh, &e->fresh_ring);
    e->fresh = first;
    e->fresh_limit = limit;
  } else {
    e->fresh = tdo_min(e->fresh, first);
    e->fresh_limit = tdo_max(e->fresh_limit, limit);
  }
}

/* The free memory AREA has come to its extent, and counts. */
static void freelist_count(tdo_freelist_t *fl, const tdo_area_t *area) {
  size_t size = tdo_area_size(area);

  area->extent->held += size;
  area->extent->free += size;
  fl->pool->total += size;
  fl->pool->free += size;
  freelist_fresh(fl, area);
}

/* E counts, and is the area to return. */
static tdo_area_t freelist_begin(tdo_freelist_t *fl, tdo_extent_t *e) {
  tdo_area_t area = {e, e->seg.base, e->seg.limit};

  tdo_ring_append(&fl->pool->segs, &e->seg.pool_ring);
  freelist_count(fl, &area);
  return area;
}

/* The extent in a hole of which SEG lies, or behind it and within its table:
   grains new to the pool; or null. */
static tdo_extent_t *freelist_holed(tdo_freelist_t *fl, const tdo_seg_t *seg) {
  tdo_extent_t *e = tdo_extents_below(fl, seg->base);

  return e != NULL && seg->limit <= freelist_at(fl, e, e->runs.room) &&
                 !e->own
             ? e
             : NULL;
}

/* The grains of E, an extent so far, lie in a hole of AROUND, or behind it:
   they are part of that, and the area to return. */
static tdo_area_t freelist_fill_hole(tdo_freelist_t *fl, tdo_extent_t *around,
                                     tdo_extent_t *e) {
  tdo_area_t area = {around, e->seg.base, e->seg.limit};
  size_t base = freelist_unit(fl, around, area.base);
  size_t limit = freelist_unit(fl, around, area.limit);

  if (around->seg.limit < area.limit)
    around->seg.limit = area.limit;
  tdo_seg_adopt(&around->seg, fl->space, area.base, area.limit);
  e->seg.sig = TDO_SIG_DEAD;
  freelist_free(fl, e);
  if (limit > around->runs.units)
    tdo_runs_grow(&around->runs, base, limit);
  else
    tdo_runs_free(&around->runs, base, limit);
  freelist_count(fl, &area);
  tdo_extents_changed(fl, around);
  return area;
}

/* How many bytes the table of an extent of HELD bytes is for. Blocks lie in one
   extent: where these are small, much would be lost at their ends, unless what
   follows becomes part of them. (Not in client memory: what follows may be
   another block of that.) */
static size_t freelist_room(const tdo_freelist_t *fl, size_t held,
                            tdo_extend_t how) {
  size_t most = ROOM_GRAINS * freelist_grain(fl);

  return how != TDO_EXTEND_LOW || held >= most || tdo_space_many(fl->space)
             ? held
             : tdo_min(ROOM_TIMES * held, most);
}

mps_res_t tdo_freelist_extend(tdo_area_t *area_o, tdo_freelist_t *fl,
                              size_t size, tdo_extend_t how) {
  tdo_space_t *sp = fl->space;
  size_t held, room;
  tdo_extent_t *e, *around = NULL;
  mps_res_t res;

  held = tdo_space_bytes(sp, tdo_space_grains_for(sp, size));
  if (held == 0 || held > tdo_space_bytes(sp, sp->grains))
    return MPS_RES_RESOURCE;
  room = freelist_room(fl, held, how);
  res = freelist_make(&e, fl, room);
  if (res != MPS_RES_OK)
    return res;
  res = tdo_seg_init(&e->seg, sp, held, TDO_GROUP_MANUAL,
                     how == TDO_EXTEND_HIGH, fl->pool);
  e->own = how == TDO_EXTEND_OWN;
  if (res == MPS_RES_OK && !e->own)
    around = freelist_holed(fl, &e->seg);
  if (res == MPS_RES_OK && around == NULL) {
    res = freelist_enter(fl, e, room);
    if (res != MPS_RES_OK)
      tdo_seg_finish(&e->seg, sp);
  }
  if (res != MPS_RES_OK) {
    freelist_free(fl, e);
    return res;
  }
  *area_o = around == NULL ? freelist_begin(fl, e)
                           : freelist_fill_hole(fl, around, e);
  if (fl->made != NULL)
    fl->made(fl->pool, area_o->base, area_o->limit);
  return MPS_RES_OK;
}

/* The pool's extent that has the grain of AT, whatever AT is; or null. */
static tdo_extent_t *freelist_extent_of(const tdo_freelist_t *fl,
                                        const char *at) {
  tdo_seg_t *seg = tdo_seg_of(fl->space, at);

  return seg == NULL || seg->automatic || seg->pool != fl->pool
             ? NULL
             : (tdo_extent_t *)(void *)seg;
}

/* The same if AT is free, else null. */
static tdo_extent_t *freelist_free_at(const tdo_freelist_t *fl,
                                      const char *at) {
  tdo_extent_t *e = freelist_extent_of(fl, at);
  size_t unit;

  if (e == NULL)
    return NULL;
  unit = freelist_unit(fl, e, at);
  return tdo_runs_all_free(&e->runs, unit, unit + 1) ? e : NULL;
}

/* The end of the whole free grains from BASE on, which is a free grain's. */
static char *freelist_joint_limit(const tdo_freelist_t *fl, char *base) {
  size_t grain = freelist_grain(fl);
  char *at = base;
  tdo_extent_t *e;

  while ((e = freelist_free_at(fl, at)) != NULL) {
    at = tdo_freelist_around(fl, e, at).limit;
    if (tdo_round_down((tdo_word_t)at, grain) != (tdo_word_t)at)
      break;
  }
  return (char *)tdo_round_down((tdo_word_t)at, grain);
}

/* TO, which lies over what other extents have free, gets their grains. */
static void freelist_move(tdo_freelist_t *fl, tdo_extent_t *to) {
  tdo_area_t part;

  for (char *at = to->seg.base; at < to->seg.limit; at = part.limit) {
    tdo_extent_t *e = tdo_space_owner(fl->space, at);
    part = (tdo_area_t){e, at, tdo_freelist_around(fl, e, at).limit};
    part.limit = part.limit < to->seg.limit ? part.limit : to->seg.limit;
    tdo_freelist_take(fl, &part);
    fl->pool->total -= tdo_area_size(&part);
    tdo_seg_adopt(&to->seg, fl->space, part.base, part.limit);
    freelist_trim(fl, e, part.base, part.limit);
    if (e->held == 0)
      freelist_unmake(fl, e);
  }
}

bool tdo_freelist_join(tdo_area_t *area_o, tdo_freelist_t *fl, size_t size) {
  size_t least = tdo_space_bytes(fl->space,
                                 tdo_space_grains_for(fl->space, size));
  tdo_extent_t *e;
  char *base, *limit;

  if (least == 0 || fl->pool->free < least)
    return false;
  base = tdo_extents_joint(fl, least);
  if (base == NULL)
    return false;
  limit = freelist_joint_limit(fl, base);
  if (freelist_make(&e, fl, (size_t)(limit - base)) != MPS_RES_OK)
    return false;
  tdo_seg_set(&e->seg, base, limit, fl->pool);
  if (freelist_enter(fl, e, (size_t)(limit - base)) != MPS_RES_OK) {
    freelist_free(fl, e);
    return false;
  }
  freelist_move(fl, e);
  *area_o = freelist_begin(fl, e);
  return true;
}

bool tdo_freelist_part(tdo_area_t *area_o, tdo_freelist_t *fl, size_t size,
                       bool highest) {
  size_t n = size >> fl->shift, base;
  tdo_extent_t *e = n <= TDO_STARTS_MOST
                        ? tdo_extents_short(fl, n, highest)
                        : tdo_extents_long(fl, size, highest);

  if (e == NULL ||
      !(highest ? tdo_runs_highest : tdo_runs_lowest)(&base, &e->runs, n))
    return false;
  area_o->extent = e;
  area_o->base = freelist_at(fl, e, base);
  area_o->limit = area_o->base + size;
  return true;
}

static bool freelist_whole(tdo_area_t *area_io, const tdo_freelist_t *fl) {
  tdo_extent_t *e = area_io->extent;

  area_io->limit = freelist_at(
      fl, e, tdo_runs_limit(&e->runs, freelist_unit(fl, e, area_io->base)));
  return true;
}

bool tdo_freelist_lowest(tdo_area_t *area_o, tdo_freelist_t *fl, size_t size) {
  return tdo_freelist_part(area_o, fl, size, false) &&
         freelist_whole(area_o, fl);
}

bool tdo_freelist_highest(tdo_area_t *area_o, tdo_freelist_t *fl,
                          size_t size) {
  return tdo_freelist_part(area_o, fl, size, true) &&
         freelist_whole(area_o, fl);
}

bool tdo_freelist_largest(tdo_area_t *area_o, tdo_freelist_t *fl,
                          size_t size) {
  size_t most = tdo_extents_reach(fl);

  return most > 0 && most >= size && tdo_freelist_lowest(area_o, fl, most);
}

void tdo_freelist_take(tdo_freelist_t *fl, const tdo_area_t *area) {
  tdo_extent_t *e = area->extent;
  size_t base = freelist_unit(fl, e, area->base);
  size_t limit = freelist_unit(fl, e, area->limit);

  TDO_CRITICAL(tdo_runs_all_free(&e->runs, base, limit));
  tdo_runs_take(&e->runs, base, limit);
  e->free -= tdo_area_size(area);
  fl->pool->free -= tdo_area_size(area);
  tdo_extents_changed(fl, e);
}

tdo_extent_t *tdo_freelist_used(const tdo_freelist_t *fl, const char *base,
                                const char *limit) {
  tdo_space_t *sp = fl->space;
  tdo_extent_t *e = freelist_extent_of(fl, base);

  if (e == NULL || base >= limit || limit > e->seg.limit ||
      !tdo_runs_all_used(&e->runs, freelist_unit(fl, e, base),
                         freelist_unit(fl, e, limit)))
    return NULL;
  /* .holes: what was given back is not free either. */
  for (size_t g = tdo_space_grain(sp, base) + 1;
       g <= tdo_space_grain(sp, limit - 1); ++g)
    if (sp->owner[g] != e)
      return NULL;
  return e;
}

/* Does [BASE, LIMIT) meet what an allocation point has not given out? The
   points are other threads', which go on: what they commit now is no block that
   somebody can free. */
TDO_NO_SANITIZE static bool freelist_buffered(const tdo_freelist_t *fl,
                                              const char *base,
                                              const char *limit) {
  TDO_RING_FOR(node, &fl->pool->aps) {
    tdo_ap_t *ap = TDO_RING_ENTRY(tdo_ap_t, pool_ring, node);
    const char *init = ap->pub.init;
    if (ap->seg != NULL && init < ap->limit && base < ap->limit &&
        limit > init)
      return true;
  }
  return false;
}

tdo_extent_t *tdo_freelist_block(const tdo_freelist_t *fl, mps_addr_t p,
                                 size_t size) {
  char *base = p;
  size_t align = fl->pool->align, rounded = tdo_round_up(size, align);
  bool aligned =
      p != NULL && tdo_round_down((tdo_word_t)p, align) == (tdo_word_t)p;
  tdo_extent_t *extent = NULL;

  TDO_ASSERT(aligned, "the address of a block to free is null or not aligned "
                      "to the pool's alignment");
  if (!aligned)
    return NULL;
  if (rounded > 0 && rounded < UINTPTR_MAX - (tdo_word_t)p)
    extent = tdo_freelist_used(fl, base, base + rounded);
  if (TDO_COOL && extent != NULL &&
      freelist_buffered(fl, base, base + rounded))
    extent = NULL;
  TDO_ASSERT(extent != NULL, "a block to free is not in the pool, or some of "
                             "it is free already");
  return extent;
}

void tdo_freelist_give(tdo_freelist_t *fl, tdo_extent_t *extent, char *base,
                       char *limit) {
  tdo_runs_free(&extent->runs, freelist_unit(fl, extent, base),
                freelist_unit(fl, extent, limit));
  extent->free += (size_t)(limit - base);
  fl->pool->free += (size_t)(limit - base);
  fl->since += (size_t)(limit - base);
  tdo_extents_changed(fl, extent);
}

tdo_area_t tdo_freelist_around(const tdo_freelist_t *fl, tdo_extent_t *extent,
                               const char *at) {
  size_t unit = freelist_unit(fl, extent, at);
  tdo_area_t area = {
      extent, freelist_at(fl, extent, tdo_runs_start(&extent->runs, unit)),
      freelist_at(fl, extent, tdo_runs_limit(&extent->runs, unit))};

  return area;
}

/* Does all of E go, if BYTES of PART are to? If nothing in E is in use, and
   what would be left is of use to few: it lies between others'. */
static bool freelist_goes(const tdo_freelist_t *fl, const tdo_area_t *part,
                          size_t bytes) {
  const tdo_extent_t *e = part->extent;
  size_t made = e->runs.units << fl->shift, size = tdo_area_size(part);

  return size == e->held &&
         (size < made || bytes >= size / WHOLE_PART ||
          size <= fl->pool->total / WHOLE_SHARE);
}

size_t tdo_freelist_return(tdo_freelist_t *fl, const tdo_area_t *area,
                           size_t bytes) {
  tdo_extent_t *e = area->extent;
  size_t grain = freelist_grain(fl), most;
  tdo_area_t part = {e, NULL, NULL};

  part.limit = (char *)tdo_round_down((tdo_word_t)area->limit, grain);
  part.base = (char *)tdo_round_up((tdo_word_t)area->base, grain);
  if (bytes == 0 || part.base >= part.limit)
    return 0;
  most = tdo_area_size(&part);
  if (bytes < most && !freelist_goes(fl, &part, bytes)) {
    most = tdo_round_up(bytes, grain); /* the highest grains */
    part.base = part.limit - most;
  }
  if (fl->leaving != NULL)
    fl->leaving(fl->pool, part.base, part.limit);
  tdo_freelist_take(fl, &part);
  freelist_drop(fl, e, part.base, part.limit);
  if (e->held == 0) {
    freelist_unmake(fl, e);
    tdo_pool_ease(fl->pool);
  }
  return most;
}

size_t tdo_freelist_return_any(tdo_freelist_t *fl, size_t bytes) {
  size_t done = 0, part;
  tdo_area_t area;

  do {
    if (!tdo_freelist_largest(&area, fl, freelist_grain(fl)))
      break;
    part = tdo_freelist_return(fl, &area, bytes - done);
    done += part;
  } while (part > 0 && done < bytes);
  return done;
}

/* Give back whole free grains of E, at most BYTES, from runs in units [UNIT,
   LIMIT). May unmake it. */
static size_t freelist_return_from(tdo_freelist_t *fl, tdo_extent_t *e,
                                   size_t unit, size_t limit, size_t bytes) {
  size_t done = 0, most = tdo_min(bytes, e->held);

  while (done < most && unit < limit &&
         (unit = tdo_runs_next(&e->runs, unit, limit)) < limit) {
    tdo_area_t area = {e, freelist_at(fl, e, unit), NULL};
    unit = tdo_runs_limit(&e->runs, unit);
    area.limit = freelist_at(fl, e, unit);
    done += tdo_freelist_return(fl, &area, bytes - done);
  }
  return done;
}

size_t tdo_freelist_return_fresh(tdo_freelist_t *fl, size_t bytes) {
  size_t done = 0;

  while (done < bytes && !tdo_ring_empty(&fl->fresh)) {
    tdo_extent_t *e =
        TDO_RING_ENTRY(tdo_extent_t, fresh_ring, fl->fresh.next);
    tdo_ring_remove(&e->fresh_ring);
    done += freelist_return_from(fl, e, e->fresh, e->fresh_limit,
                                 bytes - done);
  }
  return done;
}

size_t tdo_freelist_return_all(tdo_freelist_t *fl, size_t bytes) {
  size_t done = 0;

  TDO_RING_FOR(node, &fl->pool->segs) {
    tdo_extent_t *e = TDO_RING_ENTRY(tdo_extent_t, seg.pool_ring, node);
    if (done >= bytes)
      break;
    done += freelist_return_from(fl, e, 0, e->runs.units, bytes - done);
  }
  return done;
}

void tdo_freelist_return_excess(tdo_freelist_t *fl, tdo_extent_t *extent,
                                const char *at, double spare, double excess) {
  /* What goes back is lost to both sides of the comparison. */
  tdo_area_t area = tdo_freelist_around(fl, extent, at);
  size_t bytes = (size_t)(excess / (1.0 - spare)), done;

  if ((double)bytes * (1.0 - spare) < excess)
    ++bytes;
  done = tdo_freelist_return(fl, &area, bytes);
  if (done < bytes)
    done += tdo_freelist_return_any(fl, bytes - done);
  /* What is left of a new extent, no free went around. */
  if (done < bytes && spare <= 0)
    done += tdo_freelist_return_fresh(fl, bytes - done);
  /* A run of less than two grains may have none, and shorter ones have: then
     all goes that can, since this is not done often. */
  if (done < bytes &&
      (double)fl->since > ALL_SHARE * (double)fl->pool->total) {
    fl->since = 0;
    (void)tdo_freelist_return_all(fl, SIZE_MAX);
  }
}

bool tdo_freelist_next(tdo_area_t *area_io, const tdo_freelist_t *fl) {
  tdo_ring_t *ring = &fl->pool->segs, *at = ring->next;
  size_t from = 0;

  if (area_io->extent != NULL) {
    at = &area_io->extent->seg.pool_ring;
    from = freelist_unit(fl, area_io->extent, area_io->limit);
  }
  for (; at != ring; at = at->next, from = 0) {
    tdo_extent_t *e = TDO_RING_ENTRY(tdo_extent_t, seg.pool_ring, at);
    size_t unit = tdo_runs_next(&e->runs, from, e->runs.units);
    if (unit < e->runs.units) {
      area_io->extent = e;
      area_io->base = freelist_at(fl, e, unit);
      area_io->limit = freelist_at(fl, e, tdo_runs_limit(&e->runs, unit));
      return true;
    }
  }
  return false;
}

bool tdo_freelist_check(tdo_freelist_t *fl) {
  tdo_space_t *sp = fl->space;
  size_t total = 0, free = 0;

  (void)tdo_extents_check(fl);
  TDO_RING_FOR(node, &fl->pool->segs) {
    tdo_extent_t *e = TDO_RING_ENTRY(tdo_extent_t, seg.pool_ring, node);
    size_t units = e->runs.units, held = 0;
    TDO_CHECK(e->seg.sig == TDO_SEG_SIG && tdo_runs_check(&e->runs));
    TDO_CHECK(e->free == tdo_runs_count(&e->runs) << fl->shift);
    for (const char *at = e->origin; at < freelist_at(fl, e, units);
         at += freelist_grain(fl)) {
      if (tdo_space_owner(sp, at) == e)
        held += freelist_grain(fl);
      else /* .holes */
        TDO_CHECK(tdo_runs_all_used(
            &e->runs, freelist_unit(fl, e, at),
            freelist_unit(fl, e, at + freelist_grain(fl))));
    }
    TDO_CHECK(tdo_space_owner(sp, e->seg.base) == e &&
              tdo_space_owner(sp, e->seg.limit - 1) == e);
    TDO_CHECK(held == e->held && held > 0);
    total += held;
    free += e->free;
  }
  TDO_CHECK(free == fl->pool->free);   /* .free */
  TDO_CHECK(total == fl->pool->total); /* .total */
  return true;
}
