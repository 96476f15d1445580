/* Testudo: deep: recursion whose frames hold references on the stack.
   SPDX-License-Identifier: BSD-2-Clause */
#include "workload.h"

const char workload_name[] = "deep";
const unsigned workload_batch = 64;

static unsigned countdown;
static size_t calls;

/* Each call makes a pair of its own, which must be whole after the calls
   inside. Gives the number of calls. */
static size_t descend(size_t depth, obj_t *above) {
  if (countdown-- == 0) {
    countdown = workload_batch - 1;
    meter_tick(&meter);
  }
  ++calls;
  obj_t *own = heap_pair(FIXNUM(depth), above);
  size_t inside = depth == 0 ? 0 : descend(depth - 1, own);
  check(SLOT(own, 0) == FIXNUM(depth) && SLOT(own, 1) == above);
  return inside + 1;
}

void workload(void) {
  size_t depth = options.depth;
  obj_t **root = heap_roots(1);
  while (calls < options.ops) {
    root[0] = heap_pair(FIXNUM(calls), NULL);
    check(descend(depth, root[0]) == depth + 1);
  }
  work_done(calls);
  check(SLOT(root[0], 1) == NULL);
}
