/* Testudo: the first word of an object of a model's heap: what the object is
   (three bits), its kind, its words and its number.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_HEAD_H
#define TDO_TEST_HEAD_H

#include "mps.h"

enum { OBJECT = 1, FORWARD, PAD };

#define HEAD(what, kind, words, number)                                       \
  ((mps_word_t)(number) << 32 | (mps_word_t)(words) << 8 |                    \
   (mps_word_t)(kind) << 3 | (what))

static inline unsigned head_what(mps_word_t head) {
  return head & 7;
}

static inline unsigned head_kind(mps_word_t head) {
  return head >> 3 & 31;
}

static inline size_t head_words(mps_word_t head) {
  return head >> 8 & 0xFFFFFF;
}

static inline size_t head_number(mps_word_t head) {
  return head >> 32;
}

#endif /* TDO_TEST_HEAD_H */
