/* Testudo: a random graph of objects against a model (test/graph_work.h), in
   memory that is limited now and then.
   SPDX-License-Identifier: BSD-2-Clause */
#include "test/graph_work.h"

/* The mutator is to meet bars, and minor collections of small heaps. */
static const run_t runs[] = {{"16M", "0", "0", TDO_MODE_DEFERRED},
                             {"0", "0", "1", TDO_MODE_RANGED},
                             {"0", "10", "0", TDO_MODE_RANGED},
                             {"16M", "15", "0", TDO_MODE_DEFERRED},
                             {"0", "5", "0", TDO_MODE_DIRTY}};
enum { RUNS = sizeof runs / sizeof runs[0] };

static void nothing(void) {
}

START_TEST(graph) {
  litter = suite_size(LITTER, 10);
  random_start();
  random_state += (uint64_t)_i << 32; /* not the same in each run */
  play(&runs[_i], step_count(STEPS), nothing);
}
END_TEST

SUITE_LOOPS_MAIN("graph", 60, {graph, RUNS})
