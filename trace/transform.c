/* Testudo: transforms. SPDX-License-Identifier: BSD-2-Clause */
#include "trace/transform.h"
#include "code/check.h"
#include "trace/policy.h"
#include "trace/walk.h"

mps_res_t tdo_transform_create(tdo_transform_t **transform_o,
                               mps_arena_t heap) {
  tdo_table_memory_t memory = tdo_heap_table_memory(heap);
  tdo_transform_t *t;
  void *p;
  mps_res_t res = tdo_control_alloc(&p, &heap->control, sizeof *t);

  if (res != MPS_RES_OK)
    return res;
  t = p;
  t->heap = heap;
  t->born = heap->stats.collections;
  t->applied = heap->transforms;
  tdo_table_init(&t->pairs, &memory);
  t->sig = TDO_TRANSFORM_SIG;
  *transform_o = t;
  return MPS_RES_OK;
}

void tdo_transform_destroy(tdo_transform_t *t) {
  t->sig = TDO_SIG_DEAD;
  tdo_table_finish(&t->pairs);
  tdo_control_free(&t->heap->control, t, sizeof *t);
}

/* Has there been a collection since T was made, or is one under way? Then it
   cannot be applied, and what its client has for old objects may be gone. Where
   there was nothing to collect, applying one counts as such all the same. */
static bool transform_stale(const tdo_transform_t *t) {
  return tdo_trace_flipped(&t->heap->trace) ||
         t->born != t->heap->stats.collections ||
         t->applied != t->heap->transforms;
}

/* Is OLD something that a pair may replace? */
static bool transform_check_old(const tdo_transform_t *t, mps_addr_t old) {
  tdo_gcseg_t *seg = tdo_gcseg_of(&t->heap->space, old);
  bool automatic = seg != NULL && seg->pool->klass->automatic;
  void *other;
  bool again = tdo_table_get(&other, &t->pairs, old);

  TDO_ASSERT(automatic, "a transform's old objects must be blocks of "
                        "automatic pools of its arena");
  TDO_ASSERT(!again, "a transform's old object was added twice");
  return automatic && !again;
}

mps_res_t tdo_transform_add(tdo_transform_t *t, mps_addr_t *old,
                            mps_addr_t *new, size_t count) {
  mps_res_t res = MPS_RES_OK;

  if (transform_stale(t))
    return MPS_RES_OK;
  if (count > 0)
    res =
        count > SIZE_MAX / 64
            ? MPS_RES_MEMORY
            : tdo_table_reserve(&t->pairs, tdo_table_count(&t->pairs) + count);
  if (res != MPS_RES_OK)
    return res;
  for (size_t i = 0; i < count; ++i)
    if (old[i] != NULL && transform_check_old(t, old[i]))
      (void)tdo_table_set(&t->pairs, old[i], new[i]); /* room is reserved */
  return MPS_RES_OK;
}

/* ---- looking for ambiguous references ---- */

#define TRANSFORM_FOUND MPS_RES_FAIL /* ends the search */

typedef struct transform_search {
  const tdo_transform_t *transform;
  bool found;
} transform_search_t;

/* One ambiguous reference: what would it pin? */
static mps_res_t transform_probe(tdo_scan_t *scan, mps_addr_t *ref_io) {
  transform_search_t *search = scan->closure;
  tdo_gcseg_t *seg = tdo_gcseg_of(&scan->heap->space, *ref_io);
  mps_addr_t target = *ref_io;
  void *new;

  if (seg == NULL)
    return MPS_RES_OK;
  if (seg->pool->klass->pinned != NULL)
    target = seg->pool->klass->pinned(seg->pool, seg, target);
  search->found = tdo_table_get(&new, &search->transform->pairs, target);
  return search->found ? TRANSFORM_FOUND : MPS_RES_OK;
}

static mps_res_t transform_probe_root(mps_arena_t heap, tdo_root_t *root,
                                      void *closure) {
  const transform_search_t *search = closure;
  tdo_scan_t scan;
  mps_res_t res;

  if (root->rank != TDO_RANK_AMBIG)
    return MPS_RES_OK;
  tdo_walk_scan_init(&scan, heap, TDO_RANK_AMBIG, transform_probe, closure);
  res = tdo_root_scan(&scan, root);
  TDO_ASSERT(res == MPS_RES_OK || search->found,
             "a root's scan method failed");
  return res;
}

/* The rank of the references in the objects at BASE. */
static mps_rank_t transform_rank(mps_arena_t heap, const char *base) {
  tdo_gcseg_t *seg = tdo_gcseg_of(&heap->space, base);

  return seg == NULL ? TDO_RANK_EXACT : seg->rank;
}

static bool transform_probe_objects(void *closure, tdo_pool_t *pool,
                                    char *base, char *limit) {
  const transform_search_t *search = closure;
  tdo_scan_t scan;
  mps_res_t res;

  if (transform_rank(pool->heap, base) != TDO_RANK_AMBIG)
    return true;
  tdo_walk_scan_init(&scan, pool->heap, TDO_RANK_AMBIG, transform_probe,
                     closure);
  res = tdo_scan_formatted(&scan, pool, base, limit);
  TDO_ASSERT(res == MPS_RES_OK || search->found,
             "a format's scan method failed");
  return res == MPS_RES_OK;
}

/* Visit the objects of every pool that may hold references; false if a visit
   ended it. */
static bool transform_each_pool(mps_arena_t heap, tdo_walk_visit_t visit,
                                void *closure) {
  TDO_RING_FOR(node, &heap->pools) {
    tdo_pool_t *pool = TDO_RING_ENTRY(tdo_pool_t, heap_ring, node);
    if (pool->klass->scanned && pool->klass->walk != NULL &&
        !pool->klass->walk(pool, visit, closure))
      return false;
  }
  return true;
}

/* May there be an ambiguous reference to what would be replaced? */
static bool transform_pinned(const tdo_transform_t *t) {
  transform_search_t search = {t, false};

  return tdo_walk_each_root(t->heap, transform_probe_root, &search) !=
             MPS_RES_OK ||
         !transform_each_pool(t->heap, transform_probe_objects, &search);
}

/* ---- replacing ---- */

static mps_res_t transform_fix(tdo_scan_t *scan, mps_addr_t *ref_io) {
  const tdo_transform_t *t = scan->closure;
  void *new;

  if (tdo_table_get(&new, &t->pairs, *ref_io))
    *ref_io = new;
  return MPS_RES_OK;
}

static mps_res_t transform_replace_root(mps_arena_t heap, tdo_root_t *root,
                                        void *closure) {
  tdo_scan_t scan;
  mps_res_t res;

  if (root->rank == TDO_RANK_AMBIG)
    return MPS_RES_OK;
  tdo_walk_scan_init(&scan, heap, root->rank, transform_fix, closure);
  res = tdo_root_scan(&scan, root);
  TDO_ASSERT(res == MPS_RES_OK, "a root's scan method failed");
  return MPS_RES_OK; /* on with the others */
}

static bool transform_replace_objects(void *closure, tdo_pool_t *pool,
                                      char *base, char *limit) {
  tdo_gcseg_t *seg = tdo_gcseg_of(&pool->heap->space, base);
  mps_rank_t rank = transform_rank(pool->heap, base);
  tdo_scan_t scan;
  mps_res_t res;

  if (rank == TDO_RANK_AMBIG)
    return true;
  tdo_walk_scan_init(&scan, pool->heap, rank, transform_fix, closure);
  res = tdo_scan_formatted(&scan, pool, base, limit);
  TDO_ASSERT(res == MPS_RES_OK, "a format's scan method failed");
  /* The collection that follows finds out what these pages refer to now. */
  if (seg != NULL && !seg->leaf)
    tdo_gcseg_note(seg, base, limit, 0x7F);
  return true;
}

mps_res_t tdo_transform_apply(bool *applied_o, tdo_transform_t *t) {
  mps_arena_t heap = t->heap;
  unsigned long epoch = atomic_load(&heap->ld.epoch);

  if (tdo_trace_flipped(&heap->trace))
    return MPS_RES_LIMIT;
  if (transform_stale(t)) /* .present */
    return MPS_RES_PARAM;
  tdo_trace_give_up(heap); /* so that one collection is what comes of this */
  tdo_threads_stop(heap);
  if (transform_pinned(t)) {
    *applied_o = false;
    return MPS_RES_OK;
  }
  (void)tdo_walk_each_root(heap, transform_replace_root, t);
  (void)transform_each_pool(heap, transform_replace_objects, t);
  heap->explicit_collect = true;
  (void)tdo_policy_collect(heap, "A transform was applied.");
  heap->explicit_collect = false;
  if (atomic_load(&heap->ld.epoch) == epoch) /* nothing that moves was there */
    tdo_ld_age(&heap->ld, 0);
  ++heap->transforms; /* this one and others are spent, collected or not */
  *applied_o = true;
  return MPS_RES_OK;
}
