/* Testudo: segments, runs of grains that belong to a pool.
   SPDX-License-Identifier: BSD-2-Clause */
#include "arena/segment.h"
#include "code/check.h"
#include "code/event.h"

void tdo_seg_set(tdo_seg_t *seg, char *base, char *limit, void *pool) {
  seg->automatic = false;
  seg->base = base;
  seg->limit = limit;
  seg->pool = pool;
  tdo_ring_init(&seg->pool_ring);
  seg->sig = TDO_SEG_SIG;
}

/* No memory changes hands between pools: there are no events. */
void tdo_seg_adopt(tdo_seg_t *seg, tdo_space_t *sp, const char *base,
                   const char *limit) {
  size_t first = tdo_space_grain(sp, base);
  size_t n = (size_t)(limit - base) >> sp->grain_shift;

  TDO_CHECK(base >= seg->base && limit <= seg->limit);
  for (size_t g = first; g < first + n; ++g) {
    TDO_CHECK(((tdo_seg_t *)sp->owner[g])->pool == seg->pool);
    tdo_space_own(sp, g, seg);
  }
}

mps_res_t tdo_seg_init(tdo_seg_t *seg, tdo_space_t *sp, size_t size,
                       tdo_group_t group, bool high, void *pool) {
  size_t first, n = tdo_space_grains_for(sp, size);
  char *base;
  mps_res_t res;

  if (n == 0)
    return MPS_RES_RESOURCE;
  res = tdo_space_alloc(&first, sp, n, group, high, seg);
  if (res != MPS_RES_OK)
    return res;
  base = tdo_space_addr(sp, first);
  tdo_seg_set(seg, base, base + tdo_space_bytes(sp, n), pool);
  TDO_EVENT(SEG, SEG_ALLOC, (tdo_word_t)pool, (tdo_word_t)seg->base,
            tdo_seg_size(seg));
  return MPS_RES_OK;
}

void tdo_seg_finish(tdo_seg_t *seg, tdo_space_t *sp) {
  TDO_CHECK(seg->sig == TDO_SEG_SIG);
  TDO_EVENT(SEG, SEG_FREE, (tdo_word_t)seg->pool, (tdo_word_t)seg->base,
            tdo_seg_size(seg));
  tdo_ring_remove(&seg->pool_ring);
  seg->sig = TDO_SIG_DEAD;
  tdo_space_free(sp, tdo_space_grain(sp, seg->base),
                 tdo_seg_size(seg) >> sp->grain_shift);
}

void tdo_seg_shrink(tdo_seg_t *seg, tdo_space_t *sp, char *base,
                    char *limit) {
  TDO_CHECK(seg->sig == TDO_SEG_SIG);
  TDO_CHECK((base == seg->base) != (limit == seg->limit));
  if (base == seg->base)
    seg->base = limit;
  else
    seg->limit = base;
  TDO_EVENT(SEG, SEG_FREE, (tdo_word_t)seg->pool, (tdo_word_t)base,
            (tdo_word_t)(limit - base));
  tdo_space_free(sp, tdo_space_grain(sp, base),
                 (size_t)(limit - base) >> sp->grain_shift);
}
