/* Testudo: the least a copier can do: two halves of memory, cells of 16 bytes,
   no barriers, no checks. What it copies in a second is the yardstick for the
   workload trees. SPDX-License-Identifier: BSD-2-Clause

   usage: cheney DEPTH: copies a binary tree, depth-first as built. */
#include "cheney.h"

typedef struct cell_s cell_t;
struct cell_s {
  cell_t *a, *b; /* a is marked by bit 0 when it says where the cell went */
};

static unsigned depth;
static cell_t *from, *to, *root;
static cell_t *next;

static cell_t *build(unsigned levels) {
  cell_t *a = levels == 0 ? NULL : build(levels - 1);
  cell_t *b = levels == 0 ? NULL : build(levels - 1);
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

static void build_all(void) {
  next = from;
  root = build(depth);
}

static void copy_all(void) {
  next = to;
  root = copy(root);
  for (cell_t *scan = to; scan < next; ++scan) {
    scan->a = copy(scan->a);
    scan->b = copy(scan->b);
  }
}

static size_t size_of(const cell_t *tree) {
  return tree == NULL ? 0 : 1 + size_of(tree->a) + size_of(tree->b);
}

int main(int argc, char *argv[]) {
  depth = depth_wanted(argc, argv);
  size_t cells = ((size_t)2 << depth) - 1;
  size_t bytes = cells * sizeof(cell_t);
  from = half(bytes);
  to = half(bytes);
  time_copies(bytes, build_all, copy_all);
  return size_of(root) != cells;
}
