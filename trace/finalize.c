/* Testudo: finalization.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "code/check.h"
#include "code/event.h"
#include "trace/heap.h"

void tdo_finals_init(tdo_pool_t *pool) {
  for (int i = 0; i < TDO_FINAL_LISTS; ++i)
    tdo_ring_init(&pool->final_lists[i]);
}

/* ---- the index ---- */

/* FINAL becomes part of the index, and of LIST, or of that in which others of
   its object are. Without memory there is no index. */
static void index_add(mps_arena_t heap, tdo_ring_t *list,
                      tdo_message_t *final) {
  tdo_finals_t *f = &heap->finals;
  tdo_message_t *first;
  void *found;

  final->more = false;
  if (f->indexed && tdo_table_get(&found, &f->firsts, final->ref)) {
    first = found;
    tdo_ring_prepend(&first->ring, &final->ring);
    final->more = first->more;
    first->more = true;
    return;
  }
  tdo_ring_append(list, &final->ring);
  if (f->indexed &&
      tdo_table_set(&f->firsts, final->ref, final) != MPS_RES_OK) {
    tdo_table_finish(&f->firsts);
    f->indexed = false;
  }
}

/* FINAL, the first of the object that was at REF, leaves its list. */
static void index_remove(mps_arena_t heap, tdo_message_t *final,
                         mps_addr_t ref) {
  tdo_finals_t *f = &heap->finals;
  tdo_message_t *next =
      TDO_RING_ENTRY(tdo_message_t, ring, final->ring.next);

  tdo_ring_remove(&final->ring);
  if (!f->indexed)
    return;
  if (final->more)
    (void)tdo_table_set(&f->firsts, ref, next);
  else
    (void)tdo_table_remove(NULL, &f->firsts, ref);
}

static void index_add_list(mps_arena_t heap, tdo_ring_t *list) {
  tdo_ring_t all;

  tdo_ring_init(&all);
  tdo_ring_splice(&all, list);
  TDO_RING_FOR(node, &all) {
    tdo_ring_remove(node);
    index_add(heap, list, TDO_RING_ENTRY(tdo_message_t, ring, node));
  }
}

/* Enter all that are registered. */
static void index_make(mps_arena_t heap) {
  tdo_table_memory_t memory = tdo_heap_table_memory(heap);

  tdo_table_init(&heap->finals.firsts, &memory);
  heap->finals.indexed = true;
  TDO_RING_FOR(node, &heap->pools) {
    tdo_pool_t *pool = TDO_RING_ENTRY(tdo_pool_t, heap_ring, node);
    for (int i = 0; pool->finals > 0 && i < TDO_FINAL_LISTS; ++i)
      index_add_list(heap, &pool->final_lists[i]);
  }
}

/* ---- owners ---- */

static mps_res_t owners_grow(mps_arena_t heap) {
  tdo_finals_t *f = &heap->finals;
  size_t room = f->owner_room == 0 ? 4 : 2 * f->owner_room;
  void *p;
  mps_res_t res = tdo_control_alloc(&p, &heap->control,
                                    room * sizeof(tdo_final_owner_t));

  if (res != MPS_RES_OK)
    return res;
  if (f->owner_room == 0) {
    f->owner_count = 1; /* none has number 0 */
  } else {
    memcpy(p, f->owners, f->owner_count * sizeof *f->owners);
    tdo_control_free(&heap->control, f->owners,
                     f->owner_room * sizeof *f->owners);
  }
  f->owners = p;
  f->owner_room = room;
  return MPS_RES_OK;
}

/* Give POOL a number. */
static mps_res_t owner_add(mps_arena_t heap, tdo_pool_t *pool) {
  tdo_finals_t *f = &heap->finals;
  size_t i = f->owner_free;

  if (i != 0) {
    f->owner_free = f->owners[i].left;
  } else {
    if (f->owner_count == f->owner_room) {
      mps_res_t res = owners_grow(heap);
      if (res != MPS_RES_OK)
        return res;
    }
    i = f->owner_count++;
  }
  TDO_CHECK(i < (size_t)1 << 28); /* pools take more memory than that */
  f->owners[i].pool = pool;
  pool->finals_owner = (unsigned)i;
  return MPS_RES_OK;
}

static void owner_free(mps_arena_t heap, size_t i) {
  tdo_finals_t *f = &heap->finals;

  f->owners[i].left = f->owner_free;
  f->owner_free = i;
}

/* POOL, which has a number, will be gone; messages may be left. */
static void owner_leave(mps_arena_t heap, const tdo_pool_t *pool) {
  tdo_final_owner_t *o = &heap->finals.owners[pool->finals_owner];

  o->pool = NULL;
  o->left = pool->finals;
  if (o->left == 0)
    owner_free(heap, pool->finals_owner);
}

bool tdo_final_gone(mps_arena_t heap, const tdo_message_t *final) {
  return heap->finals.owners[final->owner].pool == NULL;
}

void tdo_final_drop(mps_arena_t heap, const tdo_message_t *final) {
  tdo_final_owner_t *o = &heap->finals.owners[final->owner];

  if (o->pool != NULL)
    --o->pool->finals;
  else if (--o->left == 0)
    owner_free(heap, final->owner);
}

/* ---- registrations ---- */

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

/* Does REF lead into an object of SEG, and not to it? A pool that cannot tell
   notices when it collects. */
static bool final_inside(tdo_gcseg_t *seg, mps_addr_t ref) {
  tdo_pool_t *pool = seg->pool;
  mps_addr_t obj;

  return pool->klass->addr_object != NULL && tdo_format_skips(pool->format) &&
         pool->klass->addr_object(&obj, pool, seg,
                                  (char *)ref - pool->format->header) ==
             MPS_RES_OK &&
         obj != ref;
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
  if (TDO_COOL && final_inside(seg, ref)) {
    TDO_ASSERT(false, "what is to be finalized is no client pointer: it leads "
                      "into a block");
    return MPS_RES_FAIL;
  }
  if (seg->pool->finals_owner == 0) {
    res = owner_add(heap, seg->pool);
    if (res != MPS_RES_OK)
      return res;
  }
  res = tdo_message_alloc(&final, heap, TDO_MESSAGE_FINALIZATION);
  if (res != MPS_RES_OK)
    return res;
  final->ref = ref;
  final->owner = seg->pool->finals_owner & ((1u << 28) - 1);
  ++seg->pool->finals;
  index_add(heap, finals_list(seg), final);
  TDO_EVENT(OBJECT, FINALIZE, (tdo_word_t)heap, (tdo_word_t)ref);
  return MPS_RES_OK;
}

/* Does collecting, as it is done now, look at list I? */
static bool finals_condemned(mps_arena_t heap, int i) {
  return heap->trace.full || (heap->trace.bits & (1u << i)) != 0;
}

/* May registrations have addresses from before the flip? Those of condemned
   objects, until the finalization pass. */
static bool finals_old(mps_arena_t heap) {
  return tdo_trace_flipped(&heap->trace) && !heap->trace.finalized;
}

/* Is FINAL a registration of the object that is now at REF? */
static bool final_is_of(mps_arena_t heap, const tdo_message_t *final,
                        mps_addr_t ref) {
  mps_addr_t now = final->ref;

  if (now == ref)
    return true;
  return finals_old(heap) && tdo_trace_alive(heap, &now) && now == ref;
}

/* The first registration of the object at REF in SEG, by looking at each that
   may not be found in the index; null if there is none. */
static tdo_message_t *final_look(mps_arena_t heap, const tdo_gcseg_t *seg,
                                 mps_addr_t ref) {
  for (int i = 0; i < TDO_FINAL_LISTS; ++i) {
    if (heap->finals.indexed &&
        !(finals_old(heap) && finals_condemned(heap, i)))
      continue;
    TDO_RING_FOR(node, &seg->pool->final_lists[i]) {
      tdo_message_t *final = TDO_RING_ENTRY(tdo_message_t, ring, node);
      ++heap->finals.looks;
      if (final_is_of(heap, final, ref))
        return final;
    }
  }
  return NULL;
}

static mps_res_t final_remove(mps_arena_t heap, mps_addr_t ref) {
  const tdo_gcseg_t *seg = tdo_gcseg_of(&heap->space, ref);
  tdo_message_t *final;
  void *found;

  if (seg == NULL || seg->pool->finals == 0)
    return MPS_RES_FAIL;
  if (!heap->finals.indexed)
    index_make(heap);
  if (heap->finals.indexed && tdo_table_get(&found, &heap->finals.firsts, ref))
    final = found;
  else
    final = final_look(heap, seg, ref);
  if (final == NULL)
    return MPS_RES_FAIL;
  index_remove(heap, final, final->ref);
  tdo_message_free(heap, final);
  return MPS_RES_OK;
}

mps_res_t tdo_definalize(mps_arena_t heap, mps_addr_t ref) {
  mps_res_t res;

  TDO_ASSERT(tdo_space_owner(&heap->space, ref) != NULL,
             "definalize: the address is not in this arena");
  res = final_remove(heap, ref);
  tdo_trace_pause(heap);
  return res;
}

/* The object of FINAL, which was at BEFORE, survives: LIST is for it now. All
   of an object come here one after the other. */
static void finals_move(mps_arena_t heap, tdo_message_t *final,
                        mps_addr_t before, tdo_ring_t *list) {
  if (final->ref == before) {
    tdo_ring_remove(&final->ring);
    tdo_ring_append(list, &final->ring);
  } else {
    index_remove(heap, final, before);
    index_add(heap, list, final);
  }
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
    mps_addr_t before = final->ref;
    tdo_gcseg_t *seg = tdo_gcseg_of(&heap->space, before);
    TDO_CHECK(seg != NULL);
    if (!seg->white ||
        seg->pool->klass->alive(seg->pool, seg, &final->ref)) {
      seg = tdo_gcseg_of(&heap->space, final->ref);
      finals_move(heap, final, before, finals_list(seg));
    } else {
      index_remove(heap, final, before);
      tdo_ring_append(dead, node);
    }
  }
}

/* The same for all objects of POOL that are condemned. */
static void finals_sort_pool(mps_arena_t heap, tdo_pool_t *pool,
                             tdo_ring_t *dead) {
  for (int i = 0; pool->finals > 0 && i < TDO_FINAL_LISTS; ++i)
    if (finals_condemned(heap, i))
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

/* False if a minor collection may condemn what M refers to. */
static bool finals_scan_message(tdo_scan_t *scan, tdo_message_t *m) {
  const tdo_gcseg_t *seg;

  if (m->type != TDO_MESSAGE_FINALIZATION || tdo_final_gone(scan->heap, m))
    return true;
  (void)tdo_scan_fix(scan, &m->ref);
  seg = tdo_gcseg_of(&scan->heap->space, m->ref);
  return seg == NULL || seg->gen == &scan->heap->top;
}

/* Those that nobody got; but for what is settled, in minor collections. */
static void finals_scan_queue(tdo_scan_t *scan) {
  tdo_messages_t *messages = &scan->heap->messages;
  tdo_ring_t *at = &messages->queue;
  bool settled = true;

  if (scan->heap->trace.full)
    messages->settled = NULL;
  if (messages->settled != NULL)
    at = &messages->settled->ring;
  while ((at = at->next) != &messages->queue) {
    tdo_message_t *m = TDO_RING_ENTRY(tdo_message_t, ring, at);
    settled = finals_scan_message(scan, m) && settled;
    if (settled)
      messages->settled = m;
  }
}

void tdo_finals_forget(mps_arena_t heap, tdo_pool_t *pool) {
  for (int i = 0; pool->finals > 0 && i < TDO_FINAL_LISTS; ++i)
    TDO_RING_FOR(node, &pool->final_lists[i]) {
      tdo_message_t *final = TDO_RING_ENTRY(tdo_message_t, ring, node);
      ++heap->finals.looks;
      index_remove(heap, final, final->ref);
      tdo_message_free(heap, final);
    }
  if (pool->finals_owner != 0)
    owner_leave(heap, pool);
}

void tdo_finals_scan_messages(mps_arena_t heap, tdo_scan_t *scan) {
  finals_scan_queue(scan);
  TDO_RING_FOR(node, &heap->messages.retrieved) {
    tdo_message_t *m = TDO_RING_ENTRY(tdo_message_t, ring, node);
    (void)finals_scan_message(scan, m);
  }
}
