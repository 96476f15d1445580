/* Testudo: entry points for walking pools and roots (interface, section
   2.23). SPDX-License-Identifier: BSD-2-Clause */
#include "interface/entry.h"
#include "mpscamc.h"
#include "trace/walk.h"

/* With the lock held: without COND, give it back and give up. */
#define ENTRY_WALKS(arena, cond, result)                                      \
  do {                                                                        \
    if (!(cond)) {                                                            \
      TDO_ASSERT(false, "park the arena before walking it");                  \
      tdo_heap_leave(arena);                                                  \
      return result;                                                          \
    }                                                                         \
  } while (0)

/* Is nothing of it being collected? */
static bool walk_idle(mps_arena_t arena) {
  return !tdo_trace_busy(&arena->trace);
}

/* Nor can that begin? */
static bool walk_parked(mps_arena_t arena) {
  return arena->clamp != TDO_UNCLAMPED && walk_idle(arena);
}

static TDO_NOINLINE mps_res_t
walk_pool(mps_pool_t pool, mps_area_scan_t area, void *closure, void *hot) {
  mps_arena_t arena;
  mps_res_t res;

  ENTRY_POOL(pool, MPS_RES_PARAM);
  ENTRY_REQUIRE(area != NULL, "a walk needs a scanner", MPS_RES_PARAM);
  arena = pool->heap;
  ENTRY_ENTER(arena, MPS_RES_FAIL);
  ENTRY_WALKS(arena, walk_parked(arena), MPS_RES_LIMIT);
  entry_scannable(arena, hot);
  res = tdo_walk_pool(pool, area, closure);
  tdo_heap_leave(arena);
  return res;
}

TDO_NO_SANITIZE mps_res_t mps_pool_walk(mps_pool_t pool, mps_area_scan_t area,
                                        void *closure) {
  TDO_FRAME_RETURN(mps_res_t, hot, walk_pool(pool, area, closure, hot));
}

typedef struct walk_formatted {
  mps_formatted_objects_stepper_t step;
  void *p;
  size_t s;
} walk_formatted_t;

static void walk_formatted_step(void *closure, tdo_pool_t *pool,
                                mps_addr_t ref) {
  walk_formatted_t *w = closure;

  w->step(ref, pool->format, pool, w->p, w->s);
}

void mps_arena_formatted_objects_walk(mps_arena_t arena,
                                      mps_formatted_objects_stepper_t step,
                                      void *p, size_t s) {
  walk_formatted_t w = {step, p, s};

  ENTRY_ARENA(arena, );
  ENTRY_REQUIRE(step != NULL, "a walk needs a stepper", );
  ENTRY_ENTER_OUTSIDE(arena, );
  TDO_RING_FOR(node, &arena->pools)
  tdo_walk_objects(TDO_RING_ENTRY(tdo_pool_t, heap_ring, node),
                   walk_formatted_step, &w);
  tdo_heap_leave(arena);
}

typedef struct walk_apply {
  mps_amc_apply_stepper_t step;
  void *p;
  size_t s;
} walk_apply_t;

static void walk_apply_step(void *closure, tdo_pool_t *pool, mps_addr_t ref) {
  walk_apply_t *w = closure;

  (void)pool;
  w->step(ref, w->p, w->s);
}

void mps_amc_apply(mps_pool_t pool, mps_amc_apply_stepper_t step, void *p,
                   size_t s) {
  walk_apply_t w = {step, p, s};
  mps_arena_t arena;

  ENTRY_POOL(pool, );
  ENTRY_REQUIRE(step != NULL, "a walk needs a stepper", );
  ENTRY_REQUIRE(pool->klass->moving, "not a pool of class AMC or AMCZ", );
  arena = pool->heap;
  ENTRY_ENTER_OUTSIDE(arena, );
  ENTRY_WALKS(arena, walk_idle(arena), );
  tdo_walk_objects(pool, walk_apply_step, &w);
  tdo_heap_leave(arena);
}

static TDO_NOINLINE mps_res_t walk_roots(mps_arena_t arena,
                                         mps_roots_stepper_t step, void *p,
                                         size_t s, void *hot) {
  ENTRY_ARENA(arena, MPS_RES_PARAM);
  ENTRY_REQUIRE(step != NULL, "a walk needs a stepper", MPS_RES_PARAM);
  ENTRY_ENTER_OUTSIDE(arena, MPS_RES_FAIL);
  ENTRY_WALKS(arena, walk_parked(arena), MPS_RES_LIMIT);
  entry_scannable(arena, hot);
  tdo_walk_roots(arena, step, p, s);
  tdo_heap_leave(arena);
  return MPS_RES_OK;
}

TDO_NO_SANITIZE static TDO_NOINLINE mps_res_t
walk_roots_framed(mps_arena_t arena, mps_roots_stepper_t step, void *p,
                  size_t s) {
  TDO_FRAME_RETURN(mps_res_t, hot, walk_roots(arena, step, p, s, hot));
}

void mps_arena_roots_walk(mps_arena_t arena, mps_roots_stepper_t step, void *p,
                          size_t s) {
  (void)walk_roots_framed(arena, step, p, s);
}
