/* Testudo: MVT, manual variable temporal pools (interface, section 4.9):
   blocks that are allocated together lie together, and freed memory rests
   before it is used again.
   SPDX-License-Identifier: BSD-2-Clause */
#include "pool/frames.h"
#include "pool/freelist.h"
#include "pool/options.h"
#include "code/args.h"
#include "code/check.h"
#include "mpscmvt.h"
#include "mpstd.h"

#define MVT_EXTENT        65536 /* least bytes of an extent */
#define MVT_MEAN          32
#define MVT_MAX           8192
#define MVT_RESERVE_DEPTH 1024
#define MVT_FRAG_LIMIT    0.3
#define MVT_SPARE         0.75 /* of the pool, that may be free beside the
                                  reserve and an extent */

typedef struct mvt {
  tdo_pool_t pool; /* first */
  tdo_freelist_t list;
  size_t max;        /* larger blocks get extents of their own */
  size_t extent;     /* bytes of an extent for the others */
  size_t reserve;    /* bytes to hold back from reuse */
  double frag_limit; /* part of the pool that may be free before it is used
                        whatever the reserve says */
} mvt_t;

static mvt_t *mvt_of(tdo_pool_t *pool) {
  return (mvt_t *)(void *)pool;
}

static void mvt_varargs(mps_arg_s args[], va_list list) {
  args[0].key = MPS_KEY_MIN_SIZE;
  args[0].val.size = va_arg(list, size_t);
  args[1].key = MPS_KEY_MEAN_SIZE;
  args[1].val.size = va_arg(list, size_t);
  args[2].key = MPS_KEY_MAX_SIZE;
  args[2].val.size = va_arg(list, size_t);
  args[3].key = MPS_KEY_MVT_RESERVE_DEPTH;
  args[3].val.count = va_arg(list, mps_word_t);
  args[4].key = MPS_KEY_MVT_FRAG_LIMIT;
  args[4].val.d = (double)va_arg(list, mps_word_t) / 100.0;
  args[5].key = MPS_KEY_ARGS_END;
}

/* The sizes that the client expects, and what to hold back for them. The value
   of a key that was not given must be in order, too. */
static mps_res_t mvt_init_sizes(mvt_t *mvt, mps_arg_s args[]) {
  size_t min = MPS_PF_ALIGN, mean = MVT_MEAN, max = MVT_MAX;
  mps_word_t depth = MVT_RESERVE_DEPTH;
  mps_arg_s arg;
  bool good;
  mps_res_t res = tdo_option_size(&min, args, MPS_KEY_MIN_SIZE);

  if (res == MPS_RES_OK)
    res = tdo_option_size(&mean, args, MPS_KEY_MEAN_SIZE);
  if (res == MPS_RES_OK)
    res = tdo_option_size(&max, args, MPS_KEY_MAX_SIZE);
  if (res != MPS_RES_OK)
    return res;
  good = min <= mean && mean <= max;
  TDO_ASSERT(good, "a pool's sizes are not in order: minimum, mean, maximum");
  if (!good)
    return MPS_RES_PARAM;
  if (tdo_arg_pick(&arg, args, MPS_KEY_MVT_RESERVE_DEPTH))
    depth = arg.val.count;
  mvt->max = max;
  mvt->extent = tdo_max(MVT_EXTENT, max);
  mvt->reserve = depth > SIZE_MAX / mean ? SIZE_MAX : depth * mean;
  return MPS_RES_OK;
}

static mps_res_t mvt_init(tdo_pool_t *pool, mps_arg_s args[]) {
  mvt_t *mvt = mvt_of(pool);
  mps_res_t res = mvt_init_sizes(mvt, args);

  mvt->frag_limit = MVT_FRAG_LIMIT;
  if (res == MPS_RES_OK)
    res = tdo_option_fraction(&mvt->frag_limit, args, MPS_KEY_MVT_FRAG_LIMIT);
  if (res == MPS_RES_OK)
    res = tdo_option_align(pool, args);
  if (res == MPS_RES_OK)
    tdo_freelist_init(&mvt->list, pool);
  return res;
}

static void mvt_finish(tdo_pool_t *pool) {
  tdo_freelist_finish(&mvt_of(pool)->list);
}

/* Is free memory to be used again for SIZE bytes? Beyond the reserve, and when
   too much of the pool is free. */
static bool mvt_reuses(const mvt_t *mvt, size_t size) {
  const tdo_pool_t *pool = &mvt->pool;

  return (double)pool->free > mvt->frag_limit * (double)pool->total ||
         (pool->free >= size && pool->free - size >= mvt->reserve);
}

static bool mvt_reuse(tdo_area_t *area_o, mvt_t *mvt, size_t size) {
  return tdo_freelist_lowest(area_o, &mvt->list, size) ||
         tdo_freelist_join(area_o, &mvt->list, size);
}

static mps_res_t mvt_find(tdo_area_t *area_o, mvt_t *mvt, size_t size) {
  size_t most = tdo_max(size, mvt->extent);
  mps_res_t res;

  if (size > mvt->max) {
    res = tdo_freelist_extend(area_o, &mvt->list, size, TDO_EXTEND_OWN);
    if (res == MPS_RES_OK) {
      area_o->limit = area_o->base + size;
      return MPS_RES_OK;
    }
  } else {
    if (mvt_reuses(mvt, size) && mvt_reuse(area_o, mvt, size))
      return MPS_RES_OK;
    res = tdo_freelist_extend(area_o, &mvt->list, most, TDO_EXTEND_LOW);
  }
  /* Memory is short: the reserve is for this. */
  if (res != MPS_RES_OK && mvt_reuse(area_o, mvt, size))
    return MPS_RES_OK;
  if (res != MPS_RES_OK && most > size)
    res = tdo_freelist_extend(area_o, &mvt->list, size, TDO_EXTEND_LOW);
  if (res != MPS_RES_OK && tdo_freelist_return_all(&mvt->list, SIZE_MAX) > 0)
    res = tdo_freelist_extend(area_o, &mvt->list, size, TDO_EXTEND_LOW);
  return res;
}

static mps_res_t mvt_fill(tdo_pool_t *pool, tdo_ap_t *ap, size_t size) {
  mvt_t *mvt = mvt_of(pool);
  tdo_area_t area;
  mps_res_t res = mvt_find(&area, mvt, size);

  if (res != MPS_RES_OK)
    return res;
  if (tdo_area_size(&area) > tdo_max(size, mvt->extent))
    area.limit =
        area.base + tdo_max(size, tdo_round_down(mvt->extent, pool->align));
  tdo_freelist_take(&mvt->list, &area);
  tdo_frames_attach(ap, area.extent, area.base, area.limit);
  return MPS_RES_OK;
}

/* [BASE, LIMIT) of EXTENT is free from now on. Extents of one block go back
   at once, by grains; others when all of them is free, beyond the reserve; and
   where blocks here and there keep that from being so, grains of any. */
static void mvt_release(mvt_t *mvt, tdo_extent_t *extent, char *base,
                        char *limit) {
  size_t most = 0;

  tdo_freelist_give(&mvt->list, extent, base, limit);
  if (extent->own)
    most = SIZE_MAX;
  else if (extent->free == extent->held &&
           mvt->pool.free - extent->held >= mvt->reserve)
    most = extent->held;
  if (most > 0) {
    tdo_area_t area = tdo_freelist_around(&mvt->list, extent, base);
    (void)tdo_freelist_return(&mvt->list, &area, most);
  } else {
    tdo_freelist_spare(&mvt->list, extent, base, MVT_SPARE,
                       (double)mvt->reserve + (double)mvt->extent);
  }
}

static void mvt_empty(tdo_pool_t *pool, tdo_ap_t *ap, char *init,
                      char *limit) {
  tdo_frames_detach(ap);
  if (init < limit)
    mvt_release(mvt_of(pool), ap->seg, init, limit);
}

static void mvt_free(tdo_pool_t *pool, mps_addr_t p, size_t size) {
  mvt_t *mvt = mvt_of(pool);
  tdo_extent_t *extent = tdo_freelist_block(&mvt->list, p, size);
  char *base = p, *limit = base + tdo_option_rounded(pool, size);

  if (extent == NULL)
    return;
  tdo_frames_freed(extent, base, limit);
  mvt_release(mvt, extent, base, limit);
}

static size_t mvt_relinquish(tdo_pool_t *pool) {
  return tdo_freelist_return_all(&mvt_of(pool)->list, SIZE_MAX);
}

static const tdo_pool_class_t mvt_class = {
    .sig = TDO_POOL_CLASS_SIG,
    .name = "MVT",
    .size = sizeof(mvt_t),
    .varargs = mvt_varargs,
    .init = mvt_init,
    .finish = mvt_finish,
    .free = mvt_free,
    .relinquish = mvt_relinquish,
    .fill = mvt_fill,
    .empty = mvt_empty,
    .frame_push = tdo_frames_push,
    .frame_pop = tdo_frames_pop,
};

mps_pool_class_t mps_class_mvt(void) {
  return (mps_pool_class_t)(uintptr_t)&mvt_class;
}
