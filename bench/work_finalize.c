/* Testudo: finalize: objects whose deaths are to be told, one in eight of
   those made; each is told once.
   SPDX-License-Identifier: BSD-2-Clause */
#include "workload.h"

#define LIVE 1024

const char workload_name[] = "finalize";
const unsigned workload_batch = 32;

void workload(void) {
  obj_t **live = heap_roots(LIVE);
  size_t n = 0, registered = 0, told = 0;
  while (n < options.ops) {
    for (unsigned i = 0; i < workload_batch; ++i, ++n) {
      obj_t *pair = heap_pair(FIXNUM(n), NULL);
      live[n % LIVE] = pair;
      if (n % 8 == 0) {
        heap_finalize(pair);
        ++registered;
      }
    }
    if (n % 4096 == 0)
      told = heap_finalized();
    meter_tick(&meter);
  }
  work_done(n);
  for (size_t i = 0; i < LIVE && i < n; ++i)
    check(FIXNUM_VALUE(SLOT(live[i], 0)) % LIVE == i);
  size_t alive = registered < LIVE / 8 ? registered : LIVE / 8;
  check(told <= registered - (alive < registered ? alive : registered));
  memset(live, 0, LIVE * sizeof *live);
  for (unsigned i = 0; i < 4; ++i) {
    heap_collect();
    told = heap_finalized();
  }
  check(told <= registered && told + 64 >= registered);
  figure("told", (double)told);
}
