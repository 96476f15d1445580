/* Testudo: entry points for segregated allocation caches (interface, section
   2.14). SPDX-License-Identifier: BSD-2-Clause */
#include "interface/entry.h"
#include "trace/policy.h"
#include "trace/sac.h"
#include "trace/shortage.h"

#define ENTRY_SAC(sac, result)                                                \
  ENTRY_REQUIRE((sac) != NULL && tdo_sac_of(sac)->sig == TDO_SAC_SIG,         \
                "not an allocation cache, or one destroyed", result)

mps_res_t mps_sac_create(mps_sac_t *sac_o, mps_pool_t pool, size_t n,
                         mps_sac_class_s classes[]) {
  tdo_sac_t *sac;
  mps_res_t res;

  ENTRY_POOL(pool, MPS_RES_PARAM);
  ENTRY_REQUIRE(sac_o != NULL, "no place for the new cache", MPS_RES_PARAM);
  ENTRY_ENTER(pool->heap, MPS_RES_FAIL);
  res = tdo_sac_create(&sac, pool, n, classes);
  tdo_heap_leave(pool->heap);
  if (res == MPS_RES_OK)
    *sac_o = &sac->pub;
  return res;
}

void mps_sac_destroy(mps_sac_t sac) {
  mps_arena_t arena;

  ENTRY_SAC(sac, );
  arena = tdo_sac_of(sac)->pool->heap;
  ENTRY_ENTER_OUTSIDE(arena, );
  tdo_sac_destroy(tdo_sac_of(sac));
  tdo_heap_leave(arena);
}

void mps_sac_flush(mps_sac_t sac) {
  mps_arena_t arena;

  ENTRY_SAC(sac, );
  arena = tdo_sac_of(sac)->pool->heap;
  ENTRY_ENTER_OUTSIDE(arena, );
  tdo_sac_flush(tdo_sac_of(sac));
  tdo_heap_leave(arena);
}

static TDO_NOINLINE mps_res_t
sac_fill(mps_addr_t *p_o, mps_sac_t sac, size_t size, void *hot) {
  mps_arena_t arena;
  mps_addr_t p;
  mps_res_t res;
  unsigned attempt = 0;

  ENTRY_SAC(sac, MPS_RES_PARAM);
  ENTRY_REQUIRE(p_o != NULL, "no place for the new block", MPS_RES_PARAM);
  ENTRY_REQUIRE(size > 0, "a block must have a size", MPS_RES_PARAM);
  if (size > SIZE_MAX / 2)
    return MPS_RES_RESOURCE;
  arena = tdo_sac_of(sac)->pool->heap;
  ENTRY_ENTER(arena, MPS_RES_FAIL);
  entry_scannable(arena, hot);
  arena->unpolled += size;
  tdo_policy_poll(arena);
  res = tdo_sac_fill(&p, tdo_sac_of(sac), size);
  while (tdo_shortage_collect(arena, res, &attempt))
    res = tdo_sac_fill(&p, tdo_sac_of(sac), size);
  tdo_heap_leave(arena);
  if (res == MPS_RES_OK)
    *p_o = p;
  return res;
}

TDO_NO_SANITIZE mps_res_t mps_sac_fill(mps_addr_t *p_o, mps_sac_t sac,
                                       size_t size, mps_bool_t unused) {
  (void)unused;
  TDO_FRAME_RETURN(mps_res_t, hot, sac_fill(p_o, sac, size, hot));
}

void mps_sac_empty(mps_sac_t sac, mps_addr_t p, size_t size) {
  mps_arena_t arena;

  ENTRY_SAC(sac, );
  ENTRY_REQUIRE(p != NULL, "freed a null block", );
  ENTRY_REQUIRE(size > 0, "freed a block of no size", );
  arena = tdo_sac_of(sac)->pool->heap;
  if (TDO_UNLIKELY(!tdo_heap_try_enter(arena))) {
    tdo_heap_free_late(arena, tdo_sac_of(sac)->pool, p,
                       tdo_sac_size(tdo_sac_of(sac), size));
    return;
  }
  tdo_sac_empty(tdo_sac_of(sac), p, size);
  tdo_heap_leave(arena);
}

mps_res_t mps_sac_alloc(mps_addr_t *p_o, mps_sac_t sac, size_t size,
                        mps_bool_t unused) {
  ENTRY_SAC(sac, MPS_RES_PARAM);
  ENTRY_REQUIRE(p_o != NULL, "no place for the new block", MPS_RES_PARAM);
  ENTRY_REQUIRE(size > 0, "a block must have a size", MPS_RES_PARAM);
  if (tdo_sac_take(p_o, tdo_sac_of(sac), size))
    return MPS_RES_OK;
  return mps_sac_fill(p_o, sac, size, unused);
}

void mps_sac_free(mps_sac_t sac, mps_addr_t p, size_t size) {
  ENTRY_SAC(sac, );
  ENTRY_REQUIRE(p != NULL, "freed a null block", );
  ENTRY_REQUIRE(size > 0, "freed a block of no size", );
  if (!tdo_sac_put(tdo_sac_of(sac), p, size))
    mps_sac_empty(sac, p, size);
}
