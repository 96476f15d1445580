/* Testudo: what a pool is, to those who do not know its class.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "code/args.h"
#include "code/check.h"
#include "code/event.h"
#include "trace/heap.h"

bool tdo_pool_check(const tdo_pool_t *pool) {
  TDO_CHECK(pool != NULL && pool->sig == TDO_POOL_SIG);
  TDO_CHECK(pool->klass->sig == TDO_POOL_CLASS_SIG);
  TDO_CHECK(pool->free <= pool->total);
  return true;
}

mps_res_t tdo_pool_create(tdo_pool_t **pool_o, mps_arena_t heap,
                          const tdo_pool_class_t *klass, mps_arg_s args[]) {
  tdo_pool_t *pool;
  void *p;
  mps_res_t res = tdo_control_alloc(&p, &heap->control, klass->size);

  if (res != MPS_RES_OK)
    return res;
  pool = p;
  memset(pool, 0, klass->size);
  pool->klass = klass;
  pool->heap = heap;
  pool->align = sizeof(tdo_word_t);
  tdo_ring_init(&pool->heap_ring);
  tdo_ring_init(&pool->traced_ring);
  tdo_ring_init(&pool->aps);
  tdo_ring_init(&pool->segs);
  tdo_finals_init(pool);
  res = klass->init(pool, args);
  if (res != MPS_RES_OK) {
    if (pool->format != NULL)
      --pool->format->pools;
    tdo_control_free(&heap->control, pool, klass->size);
    return res;
  }
  tdo_ring_append(&heap->pools, &pool->heap_ring);
  pool->sig = TDO_POOL_SIG;
  TDO_EVENT_TEXT(POOL, POOL_CREATE, klass->name, (tdo_word_t)heap,
                 (tdo_word_t)pool);
  *pool_o = pool;
  return MPS_RES_OK;
}

void tdo_pool_pointed(tdo_pool_t *pool) {
  bool traced = pool->klass->automatic || pool->klass->rooted;

  if (traced && tdo_ring_empty(&pool->traced_ring))
    tdo_ring_append(&pool->heap->traced, &pool->traced_ring);
}

static bool pool_has_white(const tdo_pool_t *pool) {
  TDO_RING_FOR(node, (tdo_ring_t *)&pool->segs) {
    if (TDO_RING_ENTRY(tdo_gcseg_t, seg.pool_ring, node)->white)
      return true;
  }
  return false;
}

/* No collection in progress refers to POOL's segments any more. */
static void pool_uncollect(tdo_pool_t *pool) {
  mps_arena_t heap = pool->heap;

  if (heap->trace.state != TDO_TRACE_AHEAD)
    tdo_trace_finish(heap);
  else if (pool_has_white(pool))
    tdo_trace_give_up(heap);
}

void tdo_pool_destroy(tdo_pool_t *pool) {
  mps_arena_t heap = pool->heap;

  TDO_ASSERT(tdo_ring_empty(&pool->aps),
             "a pool was destroyed before its allocation points");
  if (!tdo_ring_empty(&pool->aps))
    return;
  if (pool->klass->automatic) {
    pool_uncollect(pool);
    tdo_finals_forget(heap, pool);
  }
  pool->klass->finish(pool);
  TDO_EVENT(POOL, POOL_DESTROY, (tdo_word_t)pool);
  if (pool->format != NULL)
    --pool->format->pools;
  tdo_ring_remove(&pool->heap_ring);
  tdo_ring_remove(&pool->traced_ring);
  pool->sig = TDO_SIG_DEAD;
  tdo_control_free(&heap->control, pool, pool->klass->size);
  while (tdo_control_ease(&heap->control)) /* of all that the pool had */
    ;
}

mps_res_t tdo_pool_take_format(tdo_pool_t *pool, mps_arg_s args[]) {
  const tdo_format_t *fmt;
  mps_arg_s arg;
  bool good;

  if (!tdo_arg_require(&arg, args, MPS_KEY_FORMAT))
    return MPS_RES_PARAM;
  fmt = arg.val.format;
  good = fmt != NULL && fmt->sig == TDO_FORMAT_SIG && fmt->heap == pool->heap;
  TDO_ASSERT(good, "the pool's format must belong to the pool's arena");
  if (!good)
    return MPS_RES_PARAM;
  good = fmt->align <= (size_t)1 << pool->heap->space.grain_shift;
  TDO_ASSERT(good, "a format's alignment must not be larger than the grain of "
                   "the pool's arena");
  if (!good)
    return MPS_RES_PARAM;
  pool->format = arg.val.format;
  ++pool->format->pools;
  pool->align = pool->format->align;
  return MPS_RES_OK;
}

tdo_space_t *tdo_pool_space(tdo_pool_t *pool) {
  return &pool->heap->space;
}

mps_res_t tdo_pool_control_alloc(void **p_o, tdo_pool_t *pool, size_t size) {
  return tdo_control_alloc(p_o, &pool->heap->control, size);
}

void tdo_pool_control_free(tdo_pool_t *pool, void *p, size_t size) {
  tdo_control_free(&pool->heap->control, p, size);
}

void tdo_pool_ease(tdo_pool_t *pool) {
  (void)tdo_control_ease(&pool->heap->control);
}

mps_res_t tdo_pool_seg_alloc(tdo_seg_t **seg_o, tdo_pool_t *pool,
                             size_t descriptor, size_t size, bool high) {
  mps_arena_t heap = pool->heap;
  void *p;
  tdo_seg_t *seg;
  mps_res_t res = tdo_control_alloc(&p, &heap->control, descriptor);

  if (res != MPS_RES_OK)
    return res;
  seg = p;
  memset(seg, 0, descriptor);
  res = tdo_seg_init(seg, &heap->space, size, TDO_GROUP_MANUAL, high, pool);
  if (res != MPS_RES_OK) {
    tdo_control_free(&heap->control, seg, descriptor);
    return res;
  }
  tdo_ring_append(&pool->segs, &seg->pool_ring);
  pool->total += tdo_seg_size(seg);
  if (pool->klass->rooted)
    heap->rooted += tdo_seg_size(seg);
  *seg_o = seg;
  return MPS_RES_OK;
}

void tdo_pool_seg_free(tdo_pool_t *pool, tdo_seg_t *seg, size_t descriptor) {
  pool->total -= tdo_seg_size(seg);
  if (pool->klass->rooted)
    pool->heap->rooted -= tdo_seg_size(seg);
  tdo_seg_finish(seg, &pool->heap->space);
  tdo_control_free(&pool->heap->control, seg, descriptor);
}
