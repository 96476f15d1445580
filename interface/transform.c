/* Testudo: entry points for transforms (interface, section 2.24).
   SPDX-License-Identifier: BSD-2-Clause */
#include "interface/entry.h"
#include "trace/transform.h"

#define ENTRY_TRANSFORM(transform, result)                                    \
  ENTRY_REQUIRE((transform) != NULL && (transform)->sig == TDO_TRANSFORM_SIG, \
                "not a transform, or one destroyed", result)

mps_res_t mps_transform_create(mps_transform_t *transform_o,
                               mps_arena_t arena) {
  mps_res_t res;

  ENTRY_ARENA(arena, MPS_RES_PARAM);
  ENTRY_REQUIRE(transform_o != NULL, "no place for the new transform",
                MPS_RES_PARAM);
  ENTRY_ENTER(arena, MPS_RES_FAIL);
  res = tdo_transform_create(transform_o, arena);
  tdo_heap_leave(arena);
  return res;
}

mps_res_t mps_transform_add_oldnew(mps_transform_t transform, mps_addr_t *old,
                                   mps_addr_t *new, size_t count) {
  mps_arena_t arena;
  mps_res_t res;

  ENTRY_TRANSFORM(transform, MPS_RES_PARAM);
  ENTRY_REQUIRE(count == 0 || (old != NULL && new != NULL),
                "a transform needs its old and new objects", MPS_RES_PARAM);
  arena = transform->heap;
  ENTRY_ENTER(arena, MPS_RES_FAIL);
  res = tdo_transform_add(transform, old, new, count);
  tdo_heap_leave(arena);
  return res;
}

static TDO_NOINLINE mps_res_t transform_apply(mps_bool_t *applied_o,
                                              mps_transform_t transform,
                                              void *hot) {
  mps_arena_t arena;
  bool applied;
  mps_res_t res;

  ENTRY_TRANSFORM(transform, MPS_RES_PARAM);
  ENTRY_REQUIRE(applied_o != NULL, "no place for the answer", MPS_RES_PARAM);
  arena = transform->heap;
  ENTRY_ENTER(arena, MPS_RES_FAIL);
  entry_scannable(arena, hot);
  res = tdo_transform_apply(&applied, transform);
  if (res == MPS_RES_OK)
    arena->clamp = TDO_PARKED;
  tdo_heap_leave(arena);
  if (res == MPS_RES_OK)
    *applied_o = applied;
  return res;
}

TDO_NO_SANITIZE mps_res_t mps_transform_apply(mps_bool_t *applied_o,
                                              mps_transform_t transform) {
  TDO_FRAME_RETURN(mps_res_t, hot, transform_apply(applied_o, transform, hot));
}

void mps_transform_destroy(mps_transform_t transform) {
  mps_arena_t arena;

  ENTRY_TRANSFORM(transform, );
  arena = transform->heap;
  ENTRY_ENTER_OUTSIDE(arena, );
  tdo_transform_destroy(transform);
  tdo_heap_leave(arena);
}
