/* Testudo: sparse: as storm, but of so many pages of the old heap (--depth)
   only one is written. SPDX-License-Identifier: BSD-2-Clause */
#include "workload.h"

enum { SLOTS = 127, PAGE = 4, GARBAGE = 8 }; /* of a vector of 1 KiB; vectors
                                      in a page; pairs that die for one that
                                      is stored */

const char workload_name[] = "sparse";
const unsigned workload_batch = 16;

/* A vector that is to be written, at the end of a list of N that are not but
   for it. */
static void build_list(obj_t **vector_o, obj_t **list_o, size_t n) {
  *vector_o = *list_o = heap_slots(SLOTS);
  for (size_t k = 1; k < n; ++k) {
    obj_t *next = heap_slots(SLOTS);
    SLOT_SET(next, 0, *list_o);
    *list_o = next;
  }
}

static void check_heap(obj_t **lists, size_t count, size_t n, size_t writes) {
  size_t full = 0;
  for (size_t i = 0; i < count; ++i) {
    obj_t *vector = lists[i];
    for (size_t k = 1; k < n; ++k) {
      check(OBJ_SLOTS(vector) == SLOTS);
      vector = SLOT(vector, 0);
    }
    for (size_t j = 0; j < SLOTS; ++j) {
      obj_t *pair = SLOT(vector, j);
      if (pair != NULL) {
        ++full;
        check(FIXNUM_VALUE(SLOT(pair, 0)) == i);
      }
    }
  }
  check(full <= writes && (writes == 0 || full != 0));
}

void workload(void) {
  size_t length = options.depth * PAGE;
  size_t count = options.heap / (length * OBJ_BYTES(SLOTS)) + 1;
  obj_t **vectors = heap_roots(2 * count), **lists = vectors + count;
  uint64_t state = random_state(0);
  for (size_t i = 0; i < count; ++i) {
    build_list(&vectors[i], &lists[i], length);
    meter_tick(&meter);
  }
  build_done();
  size_t rounds = options.ops / workload_batch;
  size_t n = 0;
  for (size_t round = 0; round < rounds; ++round) {
    for (unsigned i = 0; i < workload_batch; ++i, ++n) {
      size_t v = random_below(&state, count);
      obj_t *pair = heap_pair(FIXNUM(v), FIXNUM(n));
      SLOT_SET(vectors[v], n % SLOTS, pair);
      for (unsigned k = 0; k < GARBAGE; ++k)
        (void)heap_pair(FIXNUM(k), FIXNUM(n));
    }
    meter_tick(&meter);
  }
  work_done(n);
  check_heap(lists, count, length, n);
}
