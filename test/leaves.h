/* Testudo: leaves that show whether they are what they were: a number in the
   first word, and what follows from it in the others.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_LEAVES_H
#define TDO_TEST_LEAVES_H

#include "test/nodes.h"

/* A number in a word, as no reference looks; and back. */
static inline node_t *tag(size_t n) {
  return (node_t *)(uintptr_t)(2 * n + 1);
}

static inline unsigned tagged(const node_t *word) {
  return (unsigned)((uintptr_t)word / 2);
}

/* Null if it is refused. */
static inline node_t *try_make_leaf(mps_ap_t ap, size_t slots,
                                    unsigned number) {
  node_t *p = try_make(ap, LEAF, slots);
  for (size_t i = 0; p != NULL && i < slots; ++i)
    p->word[i] = tag(number + i * i);
  return p;
}

static inline void check_leaf(const node_t *p, unsigned number) {
  REQUIRE(p != NULL && node_kind(p) == LEAF && node_slots(p) > 0);
  for (size_t i = 0; i < node_slots(p); ++i)
    REQUIRE(p->word[i] == tag(number + i * i));
}

#endif /* TDO_TEST_LEAVES_H */
