/* Testudo: minor: the same young objects stored into the same number of pages,
   whatever the size of the old heap around them: what a minor collection
   takes must not grow with it.
   SPDX-License-Identifier: BSD-2-Clause */
#include "workload.h"

#define VECTOR_SLOTS 511
#define WRITTEN      512 /* vectors, spread over the heap */

const char workload_name[] = "minor";
const unsigned workload_batch = 16;

void workload(void) {
  size_t count = options.heap / OBJ_BYTES(VECTOR_SLOTS);
  count = count < WRITTEN ? WRITTEN : count;
  obj_t **vectors = heap_roots(count);
  uint64_t state = random_state(0);
  for (size_t i = 0; i < count; ++i) {
    vectors[i] = heap_slots(VECTOR_SLOTS);
    meter_tick(&meter);
  }
  heap_collect();
  heap_collect();
  build_done();
  size_t n = 0;
  while (n < options.ops) {
    for (unsigned i = 0; i < workload_batch; ++i, ++n) {
      size_t v = random_below(&state, WRITTEN) * (count / WRITTEN);
      obj_t *pair = heap_pair(FIXNUM(v), FIXNUM(n));
      SLOT_SET(vectors[v], random_below(&state, 8), pair);
    }
    meter_tick(&meter);
  }
  work_done(n);
  for (size_t i = 0; i < count; ++i)
    for (size_t j = 0; j < VECTOR_SLOTS; ++j)
      if (SLOT(vectors[i], j) != NULL)
        check(FIXNUM_VALUE(SLOT(SLOT(vectors[i], j), 0)) == i);
}
