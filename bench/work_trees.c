/* Testudo: trees: short-lived binary trees of all depths beside a long-lived
   one, built from above and from below.
   SPDX-License-Identifier: BSD-2-Clause */
#include "workload.h"

#define KEPT 8 /* trees of middling age */

const char workload_name[] = "trees";
const unsigned workload_batch = 64;

static unsigned countdown;
static size_t nodes;

static inline obj_t *node(obj_t *a, obj_t *b) {
  if (countdown-- == 0) {
    countdown = workload_batch - 1;
    meter_tick(&meter);
    heap_idle();
  }
  ++nodes;
  return heap_pair(a, b);
}

static obj_t *from_below(unsigned depth) {
  if (depth == 0)
    return node(NULL, NULL);
  obj_t *a = from_below(depth - 1);
  obj_t *b = from_below(depth - 1);
  return node(a, b);
}

static void from_above(obj_t *tree, unsigned depth) {
  if (depth == 0)
    return;
  SLOT_SET(tree, 0, node(NULL, NULL));
  SLOT_SET(tree, 1, node(NULL, NULL));
  from_above(SLOT(tree, 0), depth - 1);
  from_above(SLOT(tree, 1), depth - 1);
}

static size_t size_of(const obj_t *tree) {
  if (tree == NULL)
    return 0;
  check(OBJ_SLOTS(tree) == 2);
  return 1 + size_of(SLOT(tree, 0)) + size_of(SLOT(tree, 1));
}

void workload(void) {
  unsigned depth = (unsigned)options.depth;
  obj_t **roots = heap_roots(1 + KEPT);
  uint64_t state = random_state(0);
  roots[0] = node(NULL, NULL);
  from_above(roots[0], depth + 2);
  size_t turn = 0;
  while (nodes < options.ops) {
    for (unsigned d = 4; d <= depth; d += 2) {
      size_t copies = (size_t)1 << (depth - d);
      for (size_t i = 0; i < copies; ++i) {
        obj_t *tree = from_below(d);
        obj_t *other = node(NULL, NULL);
        from_above(other, d);
        if (d == depth)
          roots[1 + random_below(&state, KEPT)] = turn++ & 1 ? tree : other;
      }
    }
  }
  work_done(nodes);
  check(size_of(roots[0]) == ((size_t)8 << depth) - 1);
  for (size_t i = 1; i <= KEPT; ++i)
    check(roots[i] == NULL || size_of(roots[i]) == ((size_t)2 << depth) - 1);
}
