/* Testudo: MFS, manual fixed small pools (interface, section 4.7): blocks of
   one size, last freed first used, O(1).
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "pool/options.h"
#include "code/args.h"
#include "code/bits.h"
#include "code/check.h"
#include "mpscmfs.h"
#include "mpstd.h"

#define MFS_EXTEND_BY 65536

typedef struct mfs {
  tdo_pool_t pool;           /* first */
  tdo_space_t *space;        /* the arena's */
  size_t asked;              /* unit size as the client gave it */
  size_t unit;               /* rounded up to MPS_PF_ALIGN */
  size_t extend_by;          /* bytes */
  void *freed;               /* free units, linked through their first words */
  char *fresh, *fresh_limit; /* units never used, of the newest extent */
} mfs_t;

/* In the cool build each extent knows which of its places were freed. */
typedef struct mfs_extent {
  tdo_seg_t seg; /* first */
  size_t slack;  /* bytes at the end that make no unit */
  size_t bytes;  /* of the next, apart, so that descriptors stay mapped */
  tdo_bits_t *freed;
} mfs_extent_t;

static mfs_t *mfs_of(tdo_pool_t *pool) {
  return (mfs_t *)(void *)pool;
}

static void mfs_varargs(mps_arg_s args[], va_list list) {
  args[0].key = MPS_KEY_EXTEND_BY;
  args[0].val.size = va_arg(list, size_t);
  args[1].key = MPS_KEY_MFS_UNIT_SIZE;
  args[1].val.size = va_arg(list, size_t);
  args[2].key = MPS_KEY_ARGS_END;
}

static mps_res_t mfs_init(tdo_pool_t *pool, mps_arg_s args[]) {
  mfs_t *mfs = mfs_of(pool);
  mps_arg_s arg;
  mps_res_t res;
  bool good;

  pool->align = MPS_PF_ALIGN;
  mfs->space = tdo_pool_space(pool);
  mfs->extend_by = MFS_EXTEND_BY;
  res = tdo_option_size(&mfs->extend_by, args, MPS_KEY_EXTEND_BY);
  if (res != MPS_RES_OK)
    return res;
  if (!tdo_arg_require(&arg, args, MPS_KEY_MFS_UNIT_SIZE))
    return MPS_RES_PARAM;
  good = arg.val.size > 0;
  TDO_ASSERT(good, "the unit size of a pool is zero");
  if (!good)
    return MPS_RES_PARAM;
  mfs->asked = arg.val.size;
  mfs->unit = tdo_round_up(tdo_max(mfs->asked, sizeof(void *)), pool->align);
  return mfs->unit == 0 ? MPS_RES_RESOURCE : MPS_RES_OK;
}

static void mfs_finish(tdo_pool_t *pool) {
  TDO_RING_FOR(node, &pool->segs) {
    tdo_seg_t *seg = TDO_RING_ENTRY(tdo_seg_t, pool_ring, node);
    mfs_extent_t *extent = (mfs_extent_t *)(void *)seg;
    pool->total += extent->slack;
    if (TDO_COOL)
      tdo_pool_control_free(pool, extent->freed, extent->bytes);
    tdo_pool_seg_free(pool, seg, sizeof *extent);
  }
}

/* Make SIZE bytes of new units the fresh ones; there are none left. */
static mps_res_t mfs_extend(mfs_t *mfs, size_t size) {
  tdo_space_t *sp = mfs->space;
  size_t held = tdo_space_bytes(sp, tdo_space_grains_for(sp, size));
  size_t bytes = tdo_bits_words(held / MPS_PF_ALIGN) * sizeof(tdo_bits_t);
  mfs_extent_t *extent;
  tdo_seg_t *seg;
  void *freed = NULL;
  mps_res_t res;

  if (held == 0 || held > tdo_space_bytes(sp, sp->grains))
    return MPS_RES_RESOURCE;
  if (TDO_COOL) {
    res = tdo_pool_control_alloc(&freed, &mfs->pool, bytes);
    if (res != MPS_RES_OK)
      return res;
    memset(freed, 0, bytes);
  }
  res = tdo_pool_seg_alloc(&seg, &mfs->pool, sizeof *extent, held, false);
  if (res != MPS_RES_OK) {
    if (TDO_COOL)
      tdo_pool_control_free(&mfs->pool, freed, bytes);
    return res;
  }
  extent = (mfs_extent_t *)(void *)seg;
  extent->bytes = bytes;
  extent->freed = freed;
  extent->slack = held % mfs->unit;
  mfs->pool.total -= extent->slack;
  mfs->pool.free += held - extent->slack;
  mfs->fresh = seg->base;
  mfs->fresh_limit = seg->limit - extent->slack;
  return MPS_RES_OK;
}

/* Note in the cool build whether the unit at P is free from now on; true if it
   was free before, false in other builds. */
static bool mfs_mark(mfs_t *mfs, const char *p, bool freed) {
  mfs_extent_t *extent;
  size_t at;
  bool before;

  if (!TDO_COOL)
    return false;
  extent = (mfs_extent_t *)(void *)tdo_seg_of(mfs->space, p);
  at = (size_t)(p - extent->seg.base) / MPS_PF_ALIGN;
  before = tdo_bits_get(extent->freed, at);
  if (freed)
    tdo_bits_set(extent->freed, at);
  else
    tdo_bits_clear(extent->freed, at);
  return before;
}

static mps_res_t mfs_alloc(mps_addr_t *p_o, tdo_pool_t *pool, size_t size) {
  mfs_t *mfs = mfs_of(pool);
  bool same = size == mfs->asked;

  TDO_ASSERT(same, "a block is not of the pool's unit size");
  if (!same)
    return MPS_RES_PARAM;
  if (mfs->freed != NULL) {
    *p_o = mfs->freed;
    memcpy(&mfs->freed, mfs->freed, sizeof mfs->freed);
    (void)mfs_mark(mfs, *p_o, false);
  } else {
    if (mfs->fresh == mfs->fresh_limit) {
      size_t most = tdo_max(mfs->extend_by, mfs->unit);
      mps_res_t res = mfs_extend(mfs, most);
      if (res != MPS_RES_OK && most > mfs->unit)
        res = mfs_extend(mfs, mfs->unit);
      if (res != MPS_RES_OK)
        return res;
    }
    *p_o = mfs->fresh;
    mfs->fresh += mfs->unit;
  }
  pool->free -= mfs->unit;
  return MPS_RES_OK;
}

/* Does a unit at P lie in the pool, if SEG is the segment there? */
static inline bool mfs_has(const mfs_t *mfs, const tdo_seg_t *seg,
                           const char *p) {
  return TDO_LIKELY(seg != NULL) && !seg->automatic &&
         seg->pool == &mfs->pool && (size_t)(seg->limit - p) >= mfs->unit;
}

static inline bool mfs_is_fresh(const mfs_t *mfs, const char *p) {
  return (tdo_word_t)p - (tdo_word_t)mfs->fresh <
         (tdo_word_t)mfs->fresh_limit - (tdo_word_t)mfs->fresh;
}

static inline void mfs_put(mfs_t *mfs, void *p) {
  memcpy(p, &mfs->freed, sizeof mfs->freed);
  mfs->freed = p;
  mfs->pool.free += mfs->unit;
}

/* What is not in the arena's first block of memory, or is no unit in use. */
static TDO_NOINLINE void mfs_free_slowly(mfs_t *mfs, char *p, size_t size) {
  bool same = size == mfs->asked;
  bool aligned = (tdo_word_t)p % MPS_PF_ALIGN == 0;
  bool ours = mfs_has(mfs, tdo_seg_of(mfs->space, p), p), twice;

  TDO_ASSERT(same, "a block to free is not of the pool's unit size");
  TDO_ASSERT(aligned, "the address of a block to free is misaligned");
  TDO_ASSERT(ours, "a block to free is not in the pool");
  if (!same || !aligned || !ours)
    return;
  twice = mfs_is_fresh(mfs, p) || mfs_mark(mfs, p, true);
  TDO_ASSERT(!twice, "a block to free is free already");
  if (!twice)
    mfs_put(mfs, p);
}

static void mfs_free(tdo_pool_t *pool, mps_addr_t p, size_t size) {
  mfs_t *mfs = mfs_of(pool);
  const tdo_space_t *sp = mfs->space;

  if (TDO_LIKELY(!TDO_COOL && size == mfs->asked &&
                 (tdo_word_t)p % MPS_PF_ALIGN == 0 && tdo_space_near(sp, p) &&
                 mfs_has(mfs, tdo_space_near_owner(sp, p), p) &&
                 !mfs_is_fresh(mfs, p)))
    mfs_put(mfs, p);
  else
    mfs_free_slowly(mfs, p, size);
}

static const tdo_pool_class_t mfs_class = {
    .sig = TDO_POOL_CLASS_SIG,
    .name = "MFS",
    .size = sizeof(mfs_t),
    .varargs = mfs_varargs,
    .init = mfs_init,
    .finish = mfs_finish,
    .alloc = mfs_alloc,
    .free = mfs_free,
};

mps_pool_class_t mps_class_mfs(void) {
  return (mps_pool_class_t)(uintptr_t)&mfs_class;
}
