/* Testudo: balanced trees of disjoint address ranges, threaded through their
   members, that find ranges by address and by size in logarithmic time.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_TREE_H
#define TDO_CODE_TREE_H

#include "code/base.h"

typedef struct tdo_tree_node {
  struct tdo_tree_node *left, *right;
  char *base;     /* the range is [base, base + size) */
  size_t size;    /* bytes, not 0 */
  size_t largest; /* see .largest */
  size_t height;  /* see .balance */
} tdo_tree_node_t;

/* Invariants, for every node:
   .order    ranges to the left end at or below its base, ranges to the right
             begin at or above its end
   .balance  height is 1 + the greater height of its children, which differ by
             at most 1
   .largest  largest is the greatest size in its subtree
   No locking. Nothing allocates. */
typedef struct tdo_tree {
  tdo_tree_node_t *root;
  size_t count;
} tdo_tree_t;

void tdo_tree_init(tdo_tree_t *tree);
bool tdo_tree_check(const tdo_tree_t *tree);

/* Enter NODE, whose base and size are set and meet no other range. */
void tdo_tree_insert(tdo_tree_t *tree, tdo_tree_node_t *node);
void tdo_tree_remove(tdo_tree_t *tree, tdo_tree_node_t *node);

/* Change the range of NODE in the tree, without changing the order. */
void tdo_tree_resize(tdo_tree_t *tree, tdo_tree_node_t *node, char *base,
                     size_t size);

/* The range that contains ADDR, or NULL. */
tdo_tree_node_t *tdo_tree_find(const tdo_tree_t *tree, const void *addr);
/* The highest range that begins at or below ADDR, and the lowest one that
   begins above it; or NULL. */
tdo_tree_node_t *tdo_tree_at_or_below(const tdo_tree_t *tree,
                                      const void *addr);
tdo_tree_node_t *tdo_tree_above(const tdo_tree_t *tree, const void *addr);

/* The lowest (highest) range of at least SIZE bytes, or NULL; and a largest
   range, or NULL if the tree is empty. */
tdo_tree_node_t *tdo_tree_first_fit(const tdo_tree_t *tree, size_t size);
tdo_tree_node_t *tdo_tree_last_fit(const tdo_tree_t *tree, size_t size);
tdo_tree_node_t *tdo_tree_largest(const tdo_tree_t *tree);

/* All ranges in the order of addresses: begin with first; next is O(log n).
   NODE may leave the tree before the next one is asked for by its base. */
tdo_tree_node_t *tdo_tree_first(const tdo_tree_t *tree);
tdo_tree_node_t *tdo_tree_next(const tdo_tree_t *tree,
                               const tdo_tree_node_t *node);

#endif /* TDO_CODE_TREE_H */
