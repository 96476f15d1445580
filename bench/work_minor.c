/* Testudo: minor: the same young objects stored into the same number of pages,
   whatever the size of the old heap around them: what a minor collection
   takes must not grow with it.
   SPDX-License-Identifier: BSD-2-Clause */
#include "workload.h"

#define VECTOR_SLOTS 511
#define WRITTEN      512 /* vectors, spread over the heap */
#define WARM         4   /* times fewer writes to settle the heap than timed */

const char workload_name[] = "minor";
const unsigned workload_batch = 16;

/* Vector V. Roots must not grow with the heap either: shelves, which are old
   and not written to, hold the vectors. */
static obj_t *vector(obj_t **shelves, size_t v) {
  return SLOT(shelves[v / VECTOR_SLOTS], v % VECTOR_SLOTS);
}

static void build(obj_t **shelves, size_t count) {
  for (size_t v = 0; v < count; ++v) {
    if (v % VECTOR_SLOTS == 0)
      shelves[v / VECTOR_SLOTS] = heap_slots(VECTOR_SLOTS);
    obj_t *made = heap_slots(VECTOR_SLOTS);
    SLOT_SET(shelves[v / VECTOR_SLOTS], v % VECTOR_SLOTS, made);
    meter_tick(&meter);
  }
}

static size_t store(obj_t **shelves, size_t count, size_t ops,
                    uint64_t *state) {
  size_t n = 0;
  while (n < ops) {
    for (unsigned i = 0; i < workload_batch; ++i, ++n) {
      size_t v = random_below(state, WRITTEN) * (count / WRITTEN);
      obj_t *pair = heap_pair(FIXNUM(v), FIXNUM(n));
      SLOT_SET(vector(shelves, v), random_below(state, 8), pair);
    }
    meter_tick(&meter);
  }
  return n;
}

void workload(void) {
  size_t count = options.heap / OBJ_BYTES(VECTOR_SLOTS);
  count = count < WRITTEN ? WRITTEN : count;
  obj_t **shelves = heap_roots(count / VECTOR_SLOTS + 1);
  uint64_t state = random_state(0);
  build(shelves, count);
  for (int i = 0; i < 3; ++i) { /* the first collections may be large */
    heap_settle();
    (void)store(shelves, count, options.ops / WARM, &state);
  }
  build_done();
  work_done(store(shelves, count, options.ops, &state));
  for (size_t v = 0; v < count; ++v) {
    obj_t *found = vector(shelves, v);
    for (size_t j = 0; j < VECTOR_SLOTS; ++j)
      if (SLOT(found, j) != NULL)
        check(FIXNUM_VALUE(SLOT(SLOT(found, j), 0)) == v);
  }
}
