/* Testudo: the least a copier can do: two halves of memory, cells of 16 bytes,
   no barriers, no checks. What it copies in a second is the yardstick for the
   workload trees. SPDX-License-Identifier: BSD-2-Clause

   usage: cheney DEPTH: copies a binary tree, depth-first as built. */
#include "cheney.h"

typedef struct cell_s cell_t;
struct cell_s {
  cell_t *a, *b; /* a is marked by bit 0 when it says where the cell went */
};

static cell_t *next;

static cell_t *build(unsigned depth) {
  cell_t *a = depth == 0 ? NULL : build(depth - 1);
  cell_t *b = depth == 0 ? NULL : build(depth - 1);
  *next = (cell_t){a, b};
  return next++;
}

static inline cell_t *copy(cell_t *cell) {
  if (cell == NULL)
    return NULL;
  uintptr_t a = (uintptr_t)cell->a;
  if (a & 1)
    return (cell_t *)(a - 1);
  *next = *cell;
  cell->a = (cell_t *)((uintptr_t)next + 1);
  return next++;
}

static cell_t *copy_all(cell_t *root, cell_t *to) {
  next = to;
  root = copy(root);
  for (cell_t *scan = to; scan < next; ++scan) {
    scan->a = copy(scan->a);
    scan->b = copy(scan->b);
  }
  return root;
}

static size_t size_of(const cell_t *tree) {
  return tree == NULL ? 0 : 1 + size_of(tree->a) + size_of(tree->b);
}

int main(int argc, char *argv[]) {
  unsigned depth = depth_wanted(argc, argv);
  size_t cells = ((size_t)2 << depth) - 1;
  size_t bytes = cells * sizeof(cell_t);
  cell_t *from = half(bytes), *to = half(bytes);
  uint64_t times[ROUNDS];
  cell_t *root = NULL;
  for (unsigned i = 0; i < ROUNDS; ++i) {
    next = from;
    root = build(depth);
    uint64_t begun = clock_ns();
    root = copy_all(root, to);
    times[i] = clock_ns() - begun;
  }
  if (size_of(root) != cells)
    return 1;
  print_times(bytes, times);
  return 0;
}
