/* Testudo: churn: pairs that die at once; a few hundred live.
   SPDX-License-Identifier: BSD-2-Clause */
#include "workload.h"

#define LIVE 256

const char workload_name[] = "churn";
const unsigned workload_batch = 64;

void workload(void) {
  obj_t **live = heap_roots(LIVE);
  size_t rounds = options.ops / workload_batch;
  size_t n = 0;
  for (size_t round = 0; round < rounds; ++round) {
    for (unsigned i = 0; i < workload_batch; ++i, ++n) {
      obj_t *pair = heap_pair(FIXNUM(n), NULL);
      live[n % LIVE] = pair;
    }
    meter_tick(&meter);
  }
  work_done(n);
  for (size_t i = 0; i < LIVE && i < n; ++i) {
    check(OBJ_SLOTS(live[i]) == 2);
    check(FIXNUM_VALUE(SLOT(live[i], 0)) % LIVE == i);
    check(FIXNUM_VALUE(SLOT(live[i], 0)) + LIVE >= n);
    check(SLOT(live[i], 1) == NULL);
  }
}
