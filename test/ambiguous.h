/* Testudo: a few words that are an ambiguous root.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_AMBIGUOUS_H
#define TDO_TEST_AMBIGUOUS_H

#include "test/pools.h"

enum { WORDS = 4 };

static mps_addr_t words[WORDS];
static mps_root_t words_root;

/* An ambiguous root of these words. */
static inline void ambiguous(void) {
  ck_assert_int_eq(mps_root_create_area(&words_root, arena, mps_rank_ambig(),
                                        0, words, words + WORDS, mps_scan_area,
                                        NULL),
                   MPS_RES_OK);
}

static inline void unambiguous(void) {
  mps_root_destroy(words_root);
  memset(words, 0, sizeof words);
}

#endif /* TDO_TEST_AMBIGUOUS_H */
