/* Testudo: pinned: pairs that die at once, beside many that an array on the
   stack refers to. SPDX-License-Identifier: BSD-2-Clause */
#include <alloca.h>
#include "workload.h"

const char workload_name[] = "pinned";
const unsigned workload_batch = 64;

#define PAIR 24    /* bytes */
#define MOST 400000 /* pairs: the stack has 8 MiB */

void workload(void) {
  size_t n = options.heap / PAIR < MOST ? options.heap / PAIR : MOST;
  obj_t *volatile *pins = alloca(n * sizeof *pins);

  for (size_t i = 0; i < n; ++i)
    pins[i] = NULL;
  for (size_t i = 0; i < n; ++i)
    pins[i] = heap_pair(FIXNUM(i), i == 0 ? NULL : pins[i - 1]);
  build_done();
  for (size_t i = 0; i < options.ops; ++i) {
    obj_t *pair = heap_pair(FIXNUM(i), n == 0 ? NULL : pins[i % n]);
    check(SLOT(pair, 0) == FIXNUM(i));
    if (i % workload_batch == 0)
      meter_tick(&meter);
  }
  work_done(options.ops);
  for (size_t i = 0; i < n; ++i)
    check(SLOT(pins[i], 0) == FIXNUM(i) &&
          SLOT(pins[i], 1) == (i == 0 ? NULL : pins[i - 1]));
}
