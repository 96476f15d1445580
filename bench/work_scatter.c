/* Testudo: scatter: a write to every second page of old vectors, in the order
   of their addresses, round after round.
   SPDX-License-Identifier: BSD-2-Clause */
#include "workload.h"

#define VECTOR_SLOTS 1023 /* 8 KiB with the header: two pages */

const char workload_name[] = "scatter";
const unsigned workload_batch = 16;

static void check_heap(obj_t **vectors, size_t count, size_t writes) {
  for (size_t i = 0; i < count; ++i) {
    check(OBJ_SLOTS(vectors[i]) == VECTOR_SLOTS);
    size_t full = 0;
    for (size_t j = 0; j < VECTOR_SLOTS; ++j) {
      obj_t *pair = SLOT(vectors[i], j);
      if (pair != NULL) {
        ++full;
        check(FIXNUM_VALUE(SLOT(pair, 0)) == i);
        check(FIXNUM_VALUE(SLOT(pair, 1)) < writes);
      }
    }
    check(i >= writes || full != 0);
  }
}

void workload(void) {
  size_t count = options.heap / OBJ_BYTES(VECTOR_SLOTS) + 1;
  obj_t **vectors = heap_roots(count);
  for (size_t i = 0; i < count; ++i) {
    vectors[i] = heap_slots(VECTOR_SLOTS);
    meter_tick(&meter);
  }
  build_done();
  size_t n = 0, v = 0, round = 0;
  while (n < options.ops) {
    for (unsigned i = 0; i < workload_batch; ++i, ++n) {
      obj_t *pair = heap_pair(FIXNUM(v), FIXNUM(n));
      SLOT_SET(vectors[v], round % VECTOR_SLOTS, pair);
      if (++v == count) {
        v = 0;
        ++round;
      }
    }
    meter_tick(&meter);
  }
  work_done(n);
  check_heap(vectors, count, n);
}
