/* Testudo: storm: store young pairs at random into old vectors of 1 to 8 KiB.
   SPDX-License-Identifier: BSD-2-Clause */
#include "workload.h"

#define SMALLEST 127 /* slots: 1 KiB with the header; times 2, 4, 8 */
#define MEAN     (1024 * (1 + 2 + 4 + 8) / 4)

const char workload_name[] = "storm";
const unsigned workload_batch = 16;

static size_t slots_of(size_t i) {
  return ((size_t)(SMALLEST + 1) << (i & 3)) - 1;
}

static void check_heap(obj_t **vectors, size_t count, size_t writes) {
  size_t full = 0;
  for (size_t i = 0; i < count; ++i) {
    check(OBJ_SLOTS(vectors[i]) == slots_of(i));
    for (size_t j = 0; j < slots_of(i); ++j) {
      obj_t *pair = SLOT(vectors[i], j);
      if (pair != NULL) {
        ++full;
        check(OBJ_SLOTS(pair) == 2);
        check(FIXNUM_VALUE(SLOT(pair, 0)) == i);
        check(FIXNUM_VALUE(SLOT(pair, 1)) == j);
      }
    }
  }
  check(full <= writes && (writes == 0 || full != 0));
}

void workload(void) {
  size_t count = options.heap / MEAN + 1;
  obj_t **vectors = heap_roots(count);
  uint64_t state = random_state(0);
  for (size_t i = 0; i < count; ++i) {
    vectors[i] = heap_slots(slots_of(i));
    meter_tick(&meter);
  }
  build_done();
  size_t rounds = options.ops / workload_batch;
  size_t n = 0;
  for (size_t round = 0; round < rounds; ++round) {
    for (unsigned i = 0; i < workload_batch; ++i, ++n) {
      size_t v = random_below(&state, count);
      size_t j = random_below(&state, slots_of(v));
      obj_t *pair = heap_pair(FIXNUM(v), FIXNUM(j));
      SLOT_SET(vectors[v], j, pair);
    }
    meter_tick(&meter);
  }
  work_done(n);
  check_heap(vectors, count, n);
}
