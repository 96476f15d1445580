/* Testudo: entry points for allocation points, frames and patterns
   (interface, sections 2.11-2.13).
   SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include "code/args.h"
#include "interface/entry.h"
#include "trace/policy.h"
#include "trace/shortage.h"

mps_res_t mps_ap_create_k(mps_ap_t *ap_o, mps_pool_t pool,
                          mps_arg_s args[]) {
  tdo_ap_t *ap;
  mps_res_t res;

  ENTRY_POOL(pool, MPS_RES_PARAM);
  ENTRY_REQUIRE(ap_o != NULL, "no place for the new allocation point",
                MPS_RES_PARAM);
  ENTRY_REQUIRE(pool->klass->fill != NULL,
                "this pool class does not support allocation points",
                MPS_RES_UNIMPL);
  if (!tdo_args_check(args))
    return MPS_RES_PARAM;
  ENTRY_ENTER(pool->heap, MPS_RES_FAIL);
  res = tdo_ap_create(&ap, pool, args);
  tdo_heap_leave(pool->heap);
  if (res == MPS_RES_OK)
    *ap_o = &ap->pub;
  return res;
}

mps_res_t mps_ap_create_v(mps_ap_t *ap_o, mps_pool_t pool, va_list list) {
  mps_arg_s args[MPS_ARGS_MAX];

  ENTRY_POOL(pool, MPS_RES_PARAM);
  args[0].key = MPS_KEY_ARGS_END;
  if (pool->klass->ap_varargs != NULL)
    pool->klass->ap_varargs(args, list);
  return mps_ap_create_k(ap_o, pool, args);
}

mps_res_t mps_ap_create(mps_ap_t *ap_o, mps_pool_t pool, ...) {
  va_list list;
  mps_res_t res;

  va_start(list, pool);
  res = mps_ap_create_v(ap_o, pool, list);
  va_end(list);
  return res;
}

void mps_ap_destroy(mps_ap_t ap) {
  mps_arena_t arena;

  ENTRY_AP(ap, );
  arena = tdo_ap_of(ap)->pool->heap;
  ENTRY_ENTER_OUTSIDE(arena, );
  tdo_ap_destroy(tdo_ap_of(ap));
  tdo_heap_leave(arena);
}

static TDO_NOINLINE mps_res_t
ap_fill(mps_addr_t *p_o, mps_ap_t ap_pub, size_t size, void *hot) {
  tdo_ap_t *ap = tdo_ap_of(ap_pub);
  mps_arena_t arena;
  mps_addr_t p;
  mps_res_t res;
  bool polls;

  ENTRY_AP(ap_pub, MPS_RES_PARAM);
  ENTRY_REQUIRE(p_o != NULL, "no place for the new block", MPS_RES_PARAM);
  ENTRY_REQUIRE(size > 0, "a block must have a size", MPS_RES_PARAM);
  ENTRY_REQUIRE((size & (ap->pool->align - 1)) == 0,
                "the size is not a multiple of the pool's alignment",
                MPS_RES_PARAM);
  ENTRY_REQUIRE(!tdo_ap_reserved(ap),
                "reserved twice without a commit", MPS_RES_PARAM);
  arena = ap->pool->heap;
  if (size > SIZE_MAX / 2)
    return MPS_RES_RESOURCE;
  ENTRY_ENTER(arena, MPS_RES_FAIL);
  polls = entry_poll_due(arena, tdo_max(size, tdo_ap_used(ap))) ||
          ap->pool->klass->moving;
  entry_scannable(arena, hot);
  if (polls) {
    arena->filling = ap;
    tdo_policy_poll(arena);
    arena->filling = NULL;
  }
  res = tdo_shortage_fill(&p, ap, size);
  tdo_heap_leave(arena);
  if (res == MPS_RES_OK)
    *p_o = p;
  return res;
}

TDO_NO_SANITIZE mps_res_t mps_ap_fill(mps_addr_t *p_o, mps_ap_t ap,
                                      size_t size) {
  TDO_FRAME_RETURN(mps_res_t, hot, ap_fill(p_o, ap, size, hot));
}

mps_bool_t mps_ap_trip(mps_ap_t ap_pub, mps_addr_t p, size_t size) {
  tdo_ap_t *ap = tdo_ap_of(ap_pub);
  bool valid;

  ENTRY_AP(ap_pub, 0);
  ENTRY_REQUIRE(ap_pub->limit == NULL && ap_pub->init == ap_pub->alloc &&
                    (char *)p + size == (char *)ap_pub->alloc,
                "committed another block or size than was reserved (or "
                "tripped an allocation point that is not trapped)", 0);
  ENTRY_ENTER(ap->pool->heap, 0);
  valid = tdo_ap_trip(ap, p, size);
  tdo_heap_leave(ap->pool->heap);
  return valid;
}

mps_res_t (mps_reserve)(mps_addr_t *p_o, mps_ap_t ap, size_t size) {
  ENTRY_AP(ap, MPS_RES_PARAM);
  ENTRY_REQUIRE(p_o != NULL, "no place for the new block", MPS_RES_PARAM);
  ENTRY_REQUIRE(size > 0, "a block must have a size", MPS_RES_PARAM);
  ENTRY_REQUIRE((size & (tdo_ap_of(ap)->pool->align - 1)) == 0,
                "the size is not a multiple of the pool's alignment",
                MPS_RES_PARAM);
  ENTRY_REQUIRE(!tdo_ap_reserved(tdo_ap_of(ap)),
                "reserved twice without a commit", MPS_RES_PARAM);
  return mps_reserve(p_o, ap, size);
}

mps_bool_t (mps_commit)(mps_ap_t ap, mps_addr_t p, size_t size) {
  ENTRY_AP(ap, 0);
  ENTRY_REQUIRE(p != NULL && p == ap->init,
                "committed a block that was not reserved", 0);
  ENTRY_REQUIRE(size > 0 && (char *)p + size == (char *)ap->alloc,
                "committed another size than was reserved", 0);
  return mps_commit(ap, p, size);
}

/* ---- frames ---- */

mps_res_t (mps_ap_frame_push)(mps_frame_t *frame_o, mps_ap_t ap_pub) {
  tdo_ap_t *ap = tdo_ap_of(ap_pub);
  mps_res_t res = MPS_RES_OK;

  ENTRY_AP(ap_pub, MPS_RES_PARAM);
  ENTRY_REQUIRE(frame_o != NULL, "no place for the frame", MPS_RES_PARAM);
  if (tdo_ap_reserved(ap))
    return MPS_RES_FAIL;
  ENTRY_ENTER(ap->pool->heap, MPS_RES_FAIL);
  tdo_ap_resume(ap);
  if (ap->pool->klass->frame_push != NULL)
    res = ap->pool->klass->frame_push(frame_o, ap);
  else
    *frame_o = NULL;
  tdo_heap_leave(ap->pool->heap);
  return res;
}

mps_res_t (mps_ap_frame_pop)(mps_ap_t ap_pub, mps_frame_t frame) {
  tdo_ap_t *ap = tdo_ap_of(ap_pub);
  mps_res_t res = MPS_RES_OK;

  ENTRY_AP(ap_pub, MPS_RES_PARAM);
  if (tdo_ap_reserved(ap))
    return MPS_RES_FAIL;
  ENTRY_ENTER(ap->pool->heap, MPS_RES_FAIL);
  tdo_ap_resume(ap);
  if (ap->pool->klass->frame_pop != NULL)
    res = ap->pool->klass->frame_pop(ap, frame);
  tdo_heap_leave(ap->pool->heap);
  return res;
}

/* ---- patterns ---- */

struct mps_alloc_pattern_s {
  bool collect_all;
};

static const struct mps_alloc_pattern_s pattern_ramp = {false};
static const struct mps_alloc_pattern_s pattern_ramp_all = {true};

mps_alloc_pattern_t mps_alloc_pattern_ramp(void) {
  return (mps_alloc_pattern_t)&pattern_ramp;
}

mps_alloc_pattern_t mps_alloc_pattern_ramp_collect_all(void) {
  return (mps_alloc_pattern_t)&pattern_ramp_all;
}

/* One begin and its end, told to the class; AP's counts follow. */
static void pattern_change(tdo_ap_t *ap, bool begin, bool all) {
  if (begin) {
    ++ap->ramps;
    ap->full_ramps += all;
  } else {
    --ap->ramps;
    all = ap->full_ramps > 0 && ap->ramps == 0;
    if (ap->ramps == 0)
      ap->full_ramps = 0;
  }
  if (ap->pool->klass->ramp != NULL)
    ap->pool->klass->ramp(ap, begin, all);
}

mps_res_t mps_ap_alloc_pattern_begin(mps_ap_t ap,
                                     mps_alloc_pattern_t pattern) {
  ENTRY_AP(ap, MPS_RES_PARAM);
  ENTRY_REQUIRE(pattern != NULL, "not an allocation pattern",
                MPS_RES_PARAM);
  ENTRY_ENTER(tdo_ap_of(ap)->pool->heap, MPS_RES_FAIL);
  pattern_change(tdo_ap_of(ap), true, pattern->collect_all);
  tdo_heap_leave(tdo_ap_of(ap)->pool->heap);
  return MPS_RES_OK;
}

mps_res_t mps_ap_alloc_pattern_end(mps_ap_t ap_pub,
                                   mps_alloc_pattern_t pattern) {
  tdo_ap_t *ap = tdo_ap_of(ap_pub);
  mps_res_t res = MPS_RES_FAIL;

  ENTRY_AP(ap_pub, MPS_RES_PARAM);
  ENTRY_REQUIRE(pattern != NULL, "not an allocation pattern",
                MPS_RES_PARAM);
  ENTRY_ENTER(ap->pool->heap, MPS_RES_FAIL);
  if (ap->ramps > 0) {
    pattern_change(ap, false, pattern->collect_all);
    res = MPS_RES_OK;
  }
  tdo_heap_leave(ap->pool->heap);
  return res;
}

mps_res_t mps_ap_alloc_pattern_reset(mps_ap_t ap_pub) {
  tdo_ap_t *ap = tdo_ap_of(ap_pub);

  ENTRY_AP(ap_pub, MPS_RES_PARAM);
  ENTRY_ENTER(ap->pool->heap, MPS_RES_FAIL);
  while (ap->ramps > 0)
    pattern_change(ap, false, false);
  tdo_heap_leave(ap->pool->heap);
  return MPS_RES_OK;
}
