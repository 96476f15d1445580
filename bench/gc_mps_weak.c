/* Testudo: weak tables of the benchmarks, over mps.h; a file of its own so
   that a library without them serves the other workloads.
   SPDX-License-Identifier: BSD-2-Clause */
#include "gc_mps.h"

#include "mpscawl.h"

static mps_pool_t tables;
static mps_ap_t table_ap;

static void tables_open(void) {
  heap_pool(&tables, mps_class_awl());
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_RANK, mps_rank_weak());
    heap_must(mps_ap_create_k(&table_ap, tables, args));
  }
  MPS_ARGS_END(args);
}

obj_t *heap_weak_table(size_t n) {
  obj_t *o;
  if (tables == NULL)
    tables_open();
  HEAP_ALLOC(table_ap, o, OBJ_BYTES(n),
             (o->header = OBJ_HEADER(OBJ_BYTES(n), KIND_SLOTS),
              memset(o->slot, 0, n * sizeof(o->slot[0]))));
  return o;
}

void heap_weak_put(obj_t *table, size_t i, obj_t *o) {
  SLOT_SET(table, i, o);
}

obj_t *heap_weak_get(obj_t *table, size_t i) {
  return SLOT(table, i);
}
