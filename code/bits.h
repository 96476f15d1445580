/* Testudo: bit tables, searched and changed a machine word at a time; every
   pass is linear in the words of its range.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_BITS_H
#define TDO_CODE_BITS_H

#include "code/check.h"

/* A table of N bits is an array of tdo_bits_words(N) words; bit I is bit
   I % 64 of word I / 64. Memory belongs to the caller. No locking. */
typedef tdo_word_t tdo_bits_t;

#define TDO_WORD_BITS (8 * sizeof(tdo_bits_t))

static inline size_t tdo_bits_words(size_t n) {
  return (n + TDO_WORD_BITS - 1) / TDO_WORD_BITS;
}

static inline bool tdo_bits_get(const tdo_bits_t *t, size_t i) {
  return (t[i / TDO_WORD_BITS] >> (i % TDO_WORD_BITS)) & 1;
}

static inline void tdo_bits_set(tdo_bits_t *t, size_t i) {
  t[i / TDO_WORD_BITS] |= (tdo_bits_t)1 << (i % TDO_WORD_BITS);
}

static inline void tdo_bits_clear(tdo_bits_t *t, size_t i) {
  t[i / TDO_WORD_BITS] &= ~((tdo_bits_t)1 << (i % TDO_WORD_BITS));
}

#define TDO_BITS_AHEAD 4 /* words of a table, ahead of a walk */

/* Bits stand for pieces of 1 << SHIFT bytes from BASE on, and a walk over those
   of the WORDS words of T has come to bit I: have what the next words tell of
   read into the cache. *FETCHED words were seen to before. */
static inline void tdo_bits_fetch(const tdo_bits_t *t, size_t words,
                                  const char *base, unsigned shift, size_t i,
                                  size_t *fetched) {
  size_t end = tdo_min(i / TDO_WORD_BITS + TDO_BITS_AHEAD, words);

  for (size_t w = *fetched; w < end; ++w) {
    const char *first = base + (w * TDO_WORD_BITS << shift);
    for (tdo_bits_t x = t[w]; x != 0; x &= x - 1)
      __builtin_prefetch(first + ((size_t)__builtin_ctzl(x) << shift));
    *fetched = w + 1;
  }
}

/* Set or clear bits [BASE, LIMIT). */
void tdo_bits_set_range(tdo_bits_t *t, size_t base, size_t limit);
void tdo_bits_clear_range(tdo_bits_t *t, size_t base, size_t limit);

/* True if every bit of [BASE, LIMIT) is clear (is set). */
bool tdo_bits_all_clear(const tdo_bits_t *t, size_t base, size_t limit);
bool tdo_bits_all_set(const tdo_bits_t *t, size_t base, size_t limit);

/* The first bit of [BASE, LIMIT) that is set once words are xored with FLIP, or
   LIMIT: any, and one that is not in BASE's word. */
size_t tdo_bits_next_far(const tdo_bits_t *t, size_t base, size_t limit,
                         tdo_bits_t flip);

static inline size_t tdo_bits_next(const tdo_bits_t *t, size_t base,
                                   size_t limit, tdo_bits_t flip) {
  tdo_bits_t x;

  TDO_CRITICAL(base <= limit);
  if (base == limit)
    return limit;
  x = (t[base / TDO_WORD_BITS] ^ flip) >> base % TDO_WORD_BITS;
  if (x != 0) /* mostly there is no more to it */
    return tdo_min(base + (size_t)__builtin_ctzl(x), limit);
  return tdo_bits_next_far(t, base, limit, flip);
}

/* Index of the first set (clear) bit in [BASE, LIMIT), or LIMIT if none. */
static inline size_t tdo_bits_next_set(const tdo_bits_t *t, size_t base,
                                       size_t limit) {
  return tdo_bits_next(t, base, limit, 0);
}

static inline size_t tdo_bits_next_clear(const tdo_bits_t *t, size_t base,
                                         size_t limit) {
  return tdo_bits_next(t, base, limit, ~(tdo_bits_t)0);
}

/* The same for bits that are set in T and clear in NOT_IN. */
size_t tdo_bits_next_in(const tdo_bits_t *t, const tdo_bits_t *not_in,
                        size_t base, size_t limit);

/* One past the last set bit in [BASE, LIMIT), or BASE if none. */
size_t tdo_bits_last_set(const tdo_bits_t *t, size_t base, size_t limit);

/* Clear those of the N bits of T that are set in IN. */
void tdo_bits_clear_in(tdo_bits_t *t, const tdo_bits_t *in, size_t n);

/* The N bits of T are runs, each of which begins with a bit of STARTS and goes
   on with the bits set in T up to the next such, or the next that is clear in
   both: keep those runs whose first bit is set in T too, and clear the others,
   in both tables. */
void tdo_bits_keep_runs(tdo_bits_t *t, tdo_bits_t *starts, size_t n);

/* Number of set bits in [BASE, LIMIT). */
size_t tdo_bits_count(const tdo_bits_t *t, size_t base, size_t limit);

/* Lowest (highest) run of N clear bits within [BASE, LIMIT); true and its
   first index in *FOUND_O, or false. N > 0. */
bool tdo_bits_find_clear_run(size_t *found_o, const tdo_bits_t *t,
                             size_t base, size_t limit, size_t n);
bool tdo_bits_find_clear_run_high(size_t *found_o, const tdo_bits_t *t,
                                  size_t base, size_t limit, size_t n);

#endif /* TDO_CODE_BITS_H */
