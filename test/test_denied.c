/* Testudo: a random graph of objects against a model (test/graph_work.h),
   while memory is refused at random (test/denials.h): to the program, and to
   collections. What was refused has a memory code and changed nothing, and
   what there is stays as it was; with memory back, the next full collection
   leaves what the model says.
   SPDX-License-Identifier: BSD-2-Clause */
#include "test/graph_work.h"
#include "test/denials.h"

enum { CHANGE = 200, ROUGH = 500, DENIED_STEPS = 10000, DENIED_LITTER = 300 };

/* Also memory that is moved away when it is closed. */
static const run_t runs[] = {{"16M", "0", "1", TDO_MODE_DEFERRED},
                             {"0", "20", "0", TDO_MODE_DEFERRED},
                             {"0", "10", "0", TDO_MODE_RANGED},
                             {"0", "50", "0", TDO_MODE_NAIVE},
                             {"0", "5", "0", TDO_MODE_DIRTY}};
enum { RUNS = sizeof runs / sizeof runs[0] };

/* Something else is refused from now on; or a full collection begins, and
   ends, in want of memory. */
static void before(void) {
  if (random_below(CHANGE) == 0)
    deny_change();
  if (random_below(ROUGH) == 0) {
    (void)mps_arena_collect(arena);
    mps_arena_release(arena);
  }
}

START_TEST(denials) {
  litter = suite_size(DENIED_LITTER, 10);
  regions_anywhere = false;
  (void)setenv("TESTUDO_HIDE", "32K", 0);
  (void)setenv("TESTUDO_RESERVE", "256M", 1); /* all of it may be opened */
  random_start();
  random_state += (uint64_t)_i << 32; /* not the same in each run */
  deny_start();
  play(&runs[_i], step_count(DENIED_STEPS), before);
  printf("%zu denied\n", denied);
  ck_assert_uint_gt(denied, 0);
}
END_TEST

SUITE_LOOPS_MAIN("denied", 60, {denials, RUNS})
