/* Testudo: entry points for pools, manual allocation and walking (interface,
   sections 2.9, 2.10, 2.23, 2.25).
   SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include "code/args.h"
#include "code/event.h"
#include "interface/entry.h"
#include "trace/enter.h"
#include "trace/policy.h"
#include "trace/shortage.h"

mps_res_t mps_pool_create_k(mps_pool_t *pool_o, mps_arena_t arena,
                            mps_pool_class_t klass, mps_arg_s args[]) {
  mps_res_t res;

  ENTRY_ARENA(arena, MPS_RES_PARAM);
  ENTRY_REQUIRE(pool_o != NULL, "no place for the new pool", MPS_RES_PARAM);
  ENTRY_REQUIRE(klass != NULL && klass->sig == TDO_POOL_CLASS_SIG,
                "not a pool class", MPS_RES_PARAM);
  if (!tdo_args_check(args))
    return MPS_RES_PARAM;
  ENTRY_ENTER(arena, MPS_RES_FAIL);
  res = tdo_pool_create(pool_o, arena, klass, args);
  tdo_heap_leave(arena);
  return res;
}

mps_res_t mps_pool_create_v(mps_pool_t *pool_o, mps_arena_t arena,
                            mps_pool_class_t klass, va_list list) {
  mps_arg_s args[MPS_ARGS_MAX];

  ENTRY_REQUIRE(klass != NULL && klass->sig == TDO_POOL_CLASS_SIG,
                "not a pool class", MPS_RES_PARAM);
  args[0].key = MPS_KEY_ARGS_END;
  if (klass->varargs != NULL)
    klass->varargs(args, list);
  return mps_pool_create_k(pool_o, arena, klass, args);
}

mps_res_t mps_pool_create(mps_pool_t *pool_o, mps_arena_t arena,
                          mps_pool_class_t klass, ...) {
  va_list list;
  mps_res_t res;

  va_start(list, klass);
  res = mps_pool_create_v(pool_o, arena, klass, list);
  va_end(list);
  return res;
}

void mps_pool_destroy(mps_pool_t pool) {
  mps_arena_t arena;

  ENTRY_POOL(pool, );
  arena = pool->heap;
  ENTRY_ENTER_OUTSIDE(arena, );
  tdo_pool_destroy(pool);
  tdo_heap_leave(arena);
}

size_t mps_pool_total_size(mps_pool_t pool) {
  size_t size;
  bool entered;

  ENTRY_POOL(pool, 0);
  entered = ENTRY_LOOK(pool->heap);
  size = pool->total;
  if (entered)
    tdo_heap_leave(pool->heap);
  return size;
}

/* Where the collector ended to fill segments, and points theirs, the rest is
   in no object. */
static size_t pool_tails(mps_pool_t pool) {
  size_t size = 0;

  TDO_RING_FOR(node, &pool->segs) {
    tdo_seg_t *seg = TDO_RING_ENTRY(tdo_seg_t, pool_ring, node);
    const tdo_gcseg_t *gc = (const tdo_gcseg_t *)(const void *)seg;
    size += (size_t)(seg->limit -
                     (gc->ap == NULL ? gc->filled : gc->ap->limit));
  }
  return size;
}

/* What a trapped point still has is nobody's to use, nor in use. */
static size_t pool_trapped(mps_pool_t pool) {
  size_t size = 0;

  TDO_RING_FOR(node, &pool->aps) {
    tdo_ap_t *ap = TDO_RING_ENTRY(tdo_ap_t, pool_ring, node);
    if (ap->trapped && ap->seg != NULL)
      size += (size_t)(ap->limit - ap->frozen);
  }
  return size;
}

size_t mps_pool_free_size(mps_pool_t pool) {
  size_t size;
  bool entered;

  ENTRY_POOL(pool, 0);
  entered = ENTRY_LOOK(pool->heap);
  size = pool->free;
  if (ENTRY_CAN_WALK(pool->heap))
    size += pool_trapped(pool);
  if (entered && pool->klass->moving)
    size += pool_tails(pool);
  if (entered)
    tdo_heap_leave(pool->heap);
  return size;
}

/* The rest of an allocation, in the arena: one not tried yet because it is
   time to poll (RES is MPS_RES_OK), or one that the pool refused. */
static TDO_NOINLINE mps_res_t
pool_alloc_from(mps_addr_t *p_o, mps_pool_t pool, size_t size, mps_res_t res,
                void *hot) {
  mps_arena_t arena = pool->heap;
  unsigned attempt = 0;

  entry_scannable(arena, hot);
  if (res == MPS_RES_OK) {
    tdo_policy_poll(arena);
    res = pool->klass->alloc(p_o, pool, size);
  }
  while (tdo_shortage_collect(arena, res, &attempt))
    res = pool->klass->alloc(p_o, pool, size);
  return res;
}

TDO_NO_SANITIZE static TDO_NOINLINE mps_res_t
pool_alloc(mps_addr_t *p_o, mps_pool_t pool, size_t size, mps_res_t res) {
  TDO_FRAME_RETURN(mps_res_t, hot,
                   pool_alloc_from(p_o, pool, size, res, hot));
}

/* The arena was entered: allocate, and leave it. */
static inline mps_res_t pool_alloc_inside(mps_addr_t *p_o, mps_pool_t pool,
                                          size_t size) {
  mps_arena_t arena = pool->heap;
  mps_res_t res = MPS_RES_OK;

  if (TDO_LIKELY(!entry_poll_due(arena, size))) {
    res = pool->klass->alloc(p_o, pool, size);
    if (TDO_UNLIKELY(res != MPS_RES_OK))
      res = pool_alloc(p_o, pool, size, res);
  } else {
    res = pool_alloc(p_o, pool, size, MPS_RES_OK);
  }
  if (TDO_COOL && res == MPS_RES_OK)
    TDO_EVENT_CRITICAL(OBJECT, ALLOC, (tdo_word_t)pool, (tdo_word_t)*p_o,
                       size);
  tdo_heap_leave_fast(arena);
  return res;
}

/* Another thread is in the arena, or an argument is wrong: that there is one
   branch for all of them costs the frequent case least. */
__attribute__((noinline)) static mps_res_t
pool_alloc_slowly(mps_addr_t *p_o, mps_pool_t pool, size_t size) {
  ENTRY_POOL(pool, MPS_RES_PARAM);
  ENTRY_REQUIRE(p_o != NULL, "no place for the new block", MPS_RES_PARAM);
  ENTRY_REQUIRE(pool->klass->alloc != NULL,
                "this pool class does not support mps_alloc", MPS_RES_UNIMPL);
  ENTRY_REQUIRE(size > 0, "a block must have a size", MPS_RES_PARAM);
  if (size > SIZE_MAX / 2)
    return MPS_RES_RESOURCE;
  ENTRY_ENTER(pool->heap, MPS_RES_FAIL);
  return pool_alloc_inside(p_o, pool, size);
}

mps_res_t mps_alloc(mps_addr_t *p_o, mps_pool_t pool, size_t size) {
  if (TDO_LIKELY(pool != NULL && pool->sig == TDO_POOL_SIG && p_o != NULL &&
                 pool->klass->alloc != NULL && size - 1 < SIZE_MAX / 2 &&
                 tdo_heap_enter_fast(pool->heap)))
    return pool_alloc_inside(p_o, pool, size);
  return pool_alloc_slowly(p_o, pool, size);
}

__attribute__((noinline)) static void
pool_free_slowly(mps_pool_t pool, mps_addr_t p, size_t size) {
  ENTRY_POOL(pool, );
  ENTRY_REQUIRE(pool->klass->free != NULL,
                "this pool class does not support mps_free", );
  ENTRY_REQUIRE(p != NULL, "freed a null block", );
  ENTRY_REQUIRE(size > 0, "freed a block of no size", );
  if (TDO_UNLIKELY(!tdo_heap_try_enter(pool->heap))) {
    tdo_heap_free_late(pool->heap, pool, p, size);
    return;
  }
  pool->klass->free(pool, p, size);
  tdo_heap_leave(pool->heap);
}

void mps_free(mps_pool_t pool, mps_addr_t p, size_t size) {
  TDO_EVENT_CRITICAL(OBJECT, FREE, (tdo_word_t)pool, (tdo_word_t)p, size);
  if (TDO_LIKELY(pool != NULL && pool->sig == TDO_POOL_SIG && p != NULL &&
                 pool->klass->free != NULL && size > 0 &&
                 tdo_heap_enter_fast(pool->heap))) {
    mps_arena_t arena = pool->heap;
    pool->klass->free(pool, p, size);
    tdo_heap_leave_fast(arena);
  } else {
    pool_free_slowly(pool, p, size);
  }
}

void mps_pool_check_fenceposts(mps_pool_t pool) {
  ENTRY_POOL(pool, );
  ENTRY_ENTER_OUTSIDE(pool->heap, );
  if (pool->klass->check_fenceposts != NULL)
    pool->klass->check_fenceposts(pool);
  tdo_heap_leave(pool->heap);
}

void mps_pool_check_free_space(mps_pool_t pool) {
  ENTRY_POOL(pool, );
  ENTRY_ENTER_OUTSIDE(pool->heap, );
  if (pool->klass->check_free_space != NULL)
    pool->klass->check_free_space(pool);
  tdo_heap_leave(pool->heap);
}
