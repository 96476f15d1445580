/* Testudo: walking pools and roots. SPDX-License-Identifier: BSD-2-Clause */
#include "trace/walk.h"
#include "code/check.h"

/* Two zones as large as half of memory, with everything white in them. */
static const unsigned char walk_zones[2] = {0xFF, 0xFF};

void tdo_walk_scan_init(tdo_scan_t *scan, mps_arena_t heap, mps_rank_t rank,
                        mps_res_t (*fix)(tdo_scan_t *scan, mps_addr_t *ref_io),
                        void *closure) {
  tdo_scan_init(scan, heap, rank);
  scan->ss._zones = walk_zones;
  scan->ss._shift = 8 * sizeof(mps_word_t) - 1;
  tdo_scan_use(scan, fix);
  scan->closure = closure;
}

/* ---- objects ---- */

typedef struct walk_area {
  mps_area_scan_t area;
  void *closure;
  mps_res_t res;
} walk_area_t;

/* SS meets no reference: the client follows and changes them itself. */
static bool walk_area_visit(void *closure, tdo_pool_t *pool, char *base,
                            char *limit) {
  walk_area_t *w = closure;
  size_t header = pool->format->header;
  tdo_gcseg_t *seg = tdo_gcseg_of(&pool->heap->space, base);
  tdo_scan_t scan;

  tdo_scan_init(&scan, pool->heap, TDO_RANK_EXACT);
  scan.ss._size = 0;
  w->res = w->area(&scan.ss, base + header, limit + header, w->closure);
  if (seg != NULL)
    tdo_gcseg_dirty(seg, base, limit);
  return w->res == MPS_RES_OK;
}

/* A scan method may write each reference back, changed or not: a thread that
   stored another one meanwhile would lose it. */
mps_res_t tdo_walk_pool(tdo_pool_t *pool, mps_area_scan_t area,
                        void *closure) {
  walk_area_t w = {area, closure, MPS_RES_OK};

  TDO_CHECK(!tdo_trace_busy(&pool->heap->trace));
  if (pool->klass->walk != NULL) {
    tdo_threads_stop(pool->heap);
    (void)pool->klass->walk(pool, walk_area_visit, &w);
  }
  return w.res;
}

typedef struct walk_objects {
  tdo_walk_step_t step;
  void *closure;
} walk_objects_t;

static bool walk_objects_visit(void *closure, tdo_pool_t *pool, char *base,
                               char *limit) {
  walk_objects_t *w = closure;
  const tdo_format_t *fmt = pool->format;
  char *next;

  for (char *p = base; p < limit; p = next) {
    mps_addr_t ref = p + fmt->header;
    next = tdo_format_next(fmt, p);
    /* Before the end of a collection some objects have moved away. */
    if (!tdo_trace_busy(&pool->heap->trace) || !pool->klass->moving ||
        fmt->isfwd(ref) == NULL)
      w->step(w->closure, pool, ref);
  }
  return true;
}

void tdo_walk_objects(tdo_pool_t *pool, tdo_walk_step_t step, void *closure) {
  walk_objects_t w = {step, closure};

  if (pool->klass->walk != NULL)
    (void)pool->klass->walk(pool, walk_objects_visit, &w);
}

/* ---- roots ---- */

mps_res_t tdo_walk_each_root(mps_arena_t heap, tdo_walk_root_t visit,
                             void *closure) {
  for (size_t rank = 0; rank < TDO_RANKS; ++rank)
    TDO_RING_FOR(node, &heap->roots[rank]) {
      tdo_root_t *root = TDO_RING_ENTRY(tdo_root_t, heap_ring, node);
      mps_res_t res = visit(heap, root, closure);
      if (res != MPS_RES_OK)
        return res;
    }
  return MPS_RES_OK;
}

typedef struct walk_roots {
  mps_roots_stepper_t step;
  tdo_root_t *root;
  void *p;
  size_t s;
} walk_roots_t;

static mps_res_t walk_roots_fix(tdo_scan_t *scan, mps_addr_t *ref_io) {
  walk_roots_t *w = scan->closure;
  mps_addr_t *slot = scan->slot != NULL ? scan->slot : ref_io;

  scan->slot = NULL;
  if (tdo_gcseg_of(&scan->heap->space, *ref_io) != NULL)
    w->step(slot, w->root, w->p, w->s);
  return MPS_RES_OK;
}

static mps_res_t walk_roots_visit(mps_arena_t heap, tdo_root_t *root,
                                  void *closure) {
  walk_roots_t *w = closure;
  tdo_scan_t scan;
  mps_res_t res;

  w->root = root;
  tdo_walk_scan_init(&scan, heap, root->rank, walk_roots_fix, w);
  res = tdo_root_scan(&scan, root);
  TDO_ASSERT(res == MPS_RES_OK, "a root's scan method failed");
  return MPS_RES_OK; /* on with the others */
}

void tdo_walk_roots(mps_arena_t heap, mps_roots_stepper_t step, void *p,
                    size_t s) {
  walk_roots_t w = {step, NULL, p, s};

  tdo_threads_stop(heap);
  (void)tdo_walk_each_root(heap, walk_roots_visit, &w);
}
