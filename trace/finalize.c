/* Testudo: finalization.
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/check.h"
#include "code/event.h"
#include "trace/heap.h"

void tdo_finals_init(tdo_pool_t *pool) {
  for (int i = 0; i < TDO_FINAL_LISTS; ++i)
    tdo_ring_init(&pool->final_lists[i]);
}

/* The list for objects of SEG. */
static tdo_ring_t *finals_list(const tdo_gcseg_t *seg) {
  unsigned bit = seg->gen->bit;

  return &seg->pool->final_lists[bit == 0 ? TDO_FINAL_LISTS - 1
                                          : __builtin_ctz(bit)];
}

/* May an object of SEG have REF as its client pointer? */
static bool final_aligned(const tdo_gcseg_t *seg, mps_addr_t ref) {
  const tdo_format_t *fmt = seg->pool->format;

  return (((tdo_word_t)ref - fmt->header) & (fmt->align - 1)) == 0;
}

mps_res_t tdo_finalize(mps_arena_t heap, mps_addr_t ref) {
  tdo_gcseg_t *seg = tdo_gcseg_of(&heap->space, ref);
  tdo_message_t *final;
  mps_res_t res;

  TDO_ASSERT(seg != NULL,
             "only blocks of automatic pools can be finalized");
  if (seg == NULL)
    return MPS_RES_FAIL;
  if (!final_aligned(seg, ref)) {
    TDO_ASSERT(false, "what is to be finalized is no client pointer: it is "
                      "not aligned (is it tagged?)");
    return MPS_RES_FAIL;
  }
  res = tdo_message_alloc(&final, heap, TDO_MESSAGE_FINALIZATION);
  if (res != MPS_RES_OK)
    return res;
  final->ref = ref;
  ++seg->pool->finals;
  tdo_ring_append(finals_list(seg), &final->ring);
  TDO_EVENT(OBJECT, FINALIZE, (tdo_word_t)heap, (tdo_word_t)ref);
  return MPS_RES_OK;
}

/* Is FINAL a registration of the object that is now at REF? Until the
   finalization pass it may have the address before the flip. */
static bool final_is_of(mps_arena_t heap, const tdo_message_t *final,
                        mps_addr_t ref) {
  mps_addr_t now = final->ref;

  if (now == ref)
    return true;
  return tdo_trace_busy(&heap->trace) && tdo_trace_alive(heap, &now) &&
         now == ref;
}

static mps_res_t final_remove(mps_arena_t heap, mps_addr_t ref) {
  const tdo_gcseg_t *seg = tdo_gcseg_of(&heap->space, ref);

  for (int i = 0; seg != NULL && i < TDO_FINAL_LISTS; ++i)
    TDO_RING_FOR(node, &seg->pool->final_lists[i]) {
      tdo_message_t *final = TDO_RING_ENTRY(tdo_message_t, ring, node);
      if (final_is_of(heap, final, ref)) {
        tdo_message_free(heap, final);
        return MPS_RES_OK;
      }
    }
  return MPS_RES_FAIL;
}

mps_res_t tdo_definalize(mps_arena_t heap, mps_addr_t ref) {
  mps_res_t res;

  TDO_ASSERT(tdo_space_owner(&heap->space, ref) != NULL,
             "definalize: the address is not in this arena");
  res = final_remove(heap, ref);
  tdo_trace_pause(heap);
  return res;
}

/* Move the registrations of live objects to the right list, leave those of
   dead ones in DEAD. */
static void finals_sort(mps_arena_t heap, tdo_ring_t *list,
                        tdo_ring_t *dead) {
  tdo_ring_t all;

  tdo_ring_init(&all);
  tdo_ring_splice(&all, list);
  TDO_RING_FOR(node, &all) {
    tdo_message_t *final = TDO_RING_ENTRY(tdo_message_t, ring, node);
    tdo_gcseg_t *seg = tdo_gcseg_of(&heap->space, final->ref);
    tdo_ring_remove(node);
    TDO_CHECK(seg != NULL);
    if (!seg->white ||
               seg->pool->klass->alive(seg->pool, seg, &final->ref)) {
      seg = tdo_gcseg_of(&heap->space, final->ref);
      tdo_ring_append(finals_list(seg), node);
    } else {
      tdo_ring_append(dead, node);
    }
  }
}

/* The same for all objects of POOL that are condemned. */
static void finals_sort_pool(mps_arena_t heap, tdo_pool_t *pool,
                             tdo_ring_t *dead) {
  for (int i = 0; pool->finals > 0 && i < TDO_FINAL_LISTS; ++i)
    if (heap->trace.full || (heap->trace.bits & (1u << i)))
      finals_sort(heap, &pool->final_lists[i], dead);
}

void tdo_finals_trace(mps_arena_t heap, tdo_scan_t *scan) {
  tdo_ring_t dead;

  tdo_ring_init(&dead);
  TDO_RING_FOR(node, &heap->traced) {
    finals_sort_pool(heap, TDO_RING_ENTRY(tdo_pool_t, traced_ring, node),
                     &dead);
  }
  /* All are found before any is preserved, so that members of cycles and
     what other finalizable blocks refer to are posted too. */
  TDO_RING_FOR(node, &dead) {
    tdo_message_t *final = TDO_RING_ENTRY(tdo_message_t, ring, node);
    (void)scan->fix(scan, &final->ref);
    tdo_ring_remove(&final->ring);
    TDO_EVENT(OBJECT, FINALIZED, (tdo_word_t)heap, (tdo_word_t)final->ref);
    tdo_message_post(heap, final);
  }
}

static void finals_scan_ring(tdo_scan_t *scan, tdo_ring_t *ring) {
  TDO_RING_FOR(node, ring) {
    tdo_message_t *m = TDO_RING_ENTRY(tdo_message_t, ring, node);
    if (m->type == TDO_MESSAGE_FINALIZATION && !m->gone)
      (void)tdo_scan_fix(scan, &m->ref);
  }
}

static bool final_in_pool(mps_arena_t heap, mps_addr_t ref,
                          const tdo_pool_t *pool) {
  const tdo_gcseg_t *seg = tdo_gcseg_of(&heap->space, ref);

  return seg != NULL && seg->pool == pool;
}

/* Of POOL COUNT messages are left, in this ring or others; how many in
   others? */
static size_t finals_forget_messages(mps_arena_t heap, tdo_ring_t *ring,
                                     const tdo_pool_t *pool, size_t count) {
  TDO_RING_FOR(node, ring) {
    tdo_message_t *m = TDO_RING_ENTRY(tdo_message_t, ring, node);
    if (count == 0)
      break;
    if (m->type == TDO_MESSAGE_FINALIZATION && !m->gone) {
      m->gone = final_in_pool(heap, m->ref, pool);
      count -= m->gone;
    }
  }
  return count;
}

void tdo_finals_forget(mps_arena_t heap, const tdo_pool_t *pool) {
  size_t count;

  for (int i = 0; pool->finals > 0 && i < TDO_FINAL_LISTS; ++i)
    TDO_RING_FOR(node, (tdo_ring_t *)&pool->final_lists[i]) {
      tdo_message_free(heap, TDO_RING_ENTRY(tdo_message_t, ring, node));
    }
  count = finals_forget_messages(heap, &heap->messages.queue, pool,
                                 pool->finals);
  (void)finals_forget_messages(heap, &heap->messages.retrieved, pool, count);
}

void tdo_finals_scan_messages(mps_arena_t heap, tdo_scan_t *scan) {
  finals_scan_ring(scan, &heap->messages.queue);
  finals_scan_ring(scan, &heap->messages.retrieved);
}
