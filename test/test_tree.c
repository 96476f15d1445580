/* Testudo: trees of address ranges against an array, at random.
   SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include "code/tree.h"
#include "test/random.h"
#include "test/suite.h"

enum { SLOTS = 300, SLOT = 64, ROUNDS = 20000 };

static tdo_tree_t tree;
static tdo_tree_node_t nodes[SLOTS];
static bool present[SLOTS]; /* node I lies somewhere within slot I */
static char space[SLOTS * SLOT];

static void place(size_t i, char **base_o, size_t *size_o) {
  size_t offset = random_below(SLOT);
  *base_o = space + i * SLOT + offset;
  *size_o = 1 + random_below(SLOT - offset);
}

static void change(void) {
  size_t i = random_below(SLOTS);
  char *base;
  size_t size;
  if (!present[i]) {
    place(i, &nodes[i].base, &nodes[i].size);
    tdo_tree_insert(&tree, &nodes[i]);
    present[i] = true;
  } else if (random_below(2) == 0) {
    place(i, &base, &size);
    tdo_tree_resize(&tree, &nodes[i], base, size);
  } else {
    tdo_tree_remove(&tree, &nodes[i]);
    present[i] = false;
  }
}

static bool holds(size_t i, const char *addr) {
  return present[i] && addr >= nodes[i].base &&
         addr < nodes[i].base + nodes[i].size;
}

static void search_address(const char *addr) {
  tdo_tree_node_t *in = NULL, *below = NULL, *above = NULL;
  for (size_t i = 0; i < SLOTS; ++i) {
    in = holds(i, addr) ? &nodes[i] : in;
    below = present[i] && nodes[i].base <= addr ? &nodes[i] : below;
    bool later = above == NULL && present[i] && nodes[i].base > addr;
    above = later ? &nodes[i] : above;
  }
  ck_assert_ptr_eq(tdo_tree_find(&tree, addr), in);
  ck_assert_ptr_eq(tdo_tree_at_or_below(&tree, addr), below);
  ck_assert_ptr_eq(tdo_tree_above(&tree, addr), above);
}

static void search_size(size_t size) {
  tdo_tree_node_t *first = NULL, *last = NULL;
  size_t largest = 0;
  for (size_t i = 0; i < SLOTS; ++i) {
    if (present[i]) {
      bool fits = nodes[i].size >= size;
      first = fits && first == NULL ? &nodes[i] : first;
      last = fits ? &nodes[i] : last;
      largest = tdo_max(largest, nodes[i].size);
    }
  }
  ck_assert_ptr_eq(tdo_tree_first_fit(&tree, size), first);
  ck_assert_ptr_eq(tdo_tree_last_fit(&tree, size), last);
  tdo_tree_node_t *found = tdo_tree_largest(&tree);
  ck_assert_uint_eq(found == NULL ? 0 : found->size, largest);
}

static void compare(void) {
  tdo_tree_node_t *node = tdo_tree_first(&tree);
  for (size_t i = 0; i < SLOTS; ++i) {
    if (present[i]) {
      ck_assert_ptr_eq(node, &nodes[i]);
      node = tdo_tree_next(&tree, node);
    }
  }
  ck_assert_ptr_null(node);
  ck_assert(tdo_tree_check(&tree));
}

START_TEST(against_model) {
  random_start();
  tdo_tree_init(&tree);
  compare();
  search_size(1);
  for (int round = 0; round < ROUNDS; ++round) {
    change();
    search_address(space + random_below(sizeof space));
    search_size(1 + random_below(SLOT + 8));
    if (round % 32 == 0) {
      compare();
    }
  }
}
END_TEST

/* In ascending, then descending order, the worst for a plain tree. */
START_TEST(stays_low) {
  enum { MANY = 100000 };
  tdo_tree_node_t *many = calloc(MANY, sizeof *many);
  tdo_tree_init(&tree);
  for (size_t i = 0; i < MANY; ++i) {
    size_t at = i % 2 == 0 ? i : MANY - i;
    many[i].base = (char *)(uintptr_t)(4096 + at * 16);
    many[i].size = 16;
    tdo_tree_insert(&tree, &many[i]);
  }
  ck_assert(tdo_tree_check(&tree));
  ck_assert_uint_le(tree.root->height, 24); /* 1.44 * log2(100000) */
  for (size_t i = 0; i < MANY; ++i) {
    tdo_tree_remove(&tree, &many[i]);
  }
  ck_assert_ptr_null(tree.root);
  ck_assert_uint_eq(tree.count, 0);
  free(many);
}
END_TEST

SUITE_MAIN("tree", 60, against_model, stays_low)
