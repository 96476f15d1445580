/* Testudo: how much of the heap one hit of the read barrier scans: more where
   hits come close together, and no more where they do not.
   SPDX-License-Identifier: BSD-2-Clause */
#include <check.h>
#include <stdbool.h>
#include "bench/shield_heap.h"
#include "suite.h"

#define MIB ((size_t)1 << 20)

/* Begin a collection of 32 MiB and look at every object, with a pause after
   each look that took time if SLOWLY. Returns the number of hits. */
static size_t hits(bool slowly) {
  tdo_statistics_s before, after;
  uintptr_t sum = 0;
  tdo_statistics(arena, &before);
  mps_arena_pause_time_set(arena, 0.0); /* leave all the work for later */
  heap_require(mps_arena_start_collect(arena));
  mps_arena_pause_time_set(arena, 100.0);
  for (size_t v = 0; v < vectors_count; ++v) {
    double start = heap_seconds(), end;
    sum += vectors[v]->header;
    end = heap_seconds();
    while (slowly && heap_seconds() < end + 2 * (end - start)) {
    }
  }
  ck_assert_uint_eq(sum, vectors_count * (VECTOR_SLOTS + 1) * sizeof(void *));
  tdo_statistics(arena, &after);
  return after.hits_read - before.hits_read;
}

START_TEST(grows) {
  tdo_statistics_s s;
  size_t large = 0;
  ck_assert_int_eq(setenv("TESTUDO_SHIELD", "deferred", 1), 0);
  ck_assert_int_eq(setenv("TESTUDO_QUANTUM", "16K", 1), 0);
  heap_start(32 * MIB);
  size_t slowly = hits(true);
  tdo_statistics(arena, &s);
  for (size_t i = 20; i < TDO_HISTOGRAM_LONG; ++i)
    ck_assert_uint_eq(s.quantum[i], 0); /* none scanned a MiB */
  ck_assert_uint_gt(slowly, 100);
  mps_arena_park(arena);
  mps_arena_release(arena);
  size_t fast = hits(false);
  tdo_statistics(arena, &s);
  for (size_t i = 20; i < TDO_HISTOGRAM_LONG; ++i)
    large += s.quantum[i];
  ck_assert_uint_gt(fast, 0);
  ck_assert_uint_lt(fast, slowly / 4); /* 11 beside 269, on a free machine */
  ck_assert_uint_gt(large, 0);
  mps_arena_park(arena);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {grows};
  return suite_run(suite_of("quantum", 100, tests, 1));
}
