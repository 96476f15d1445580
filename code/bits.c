/* Testudo: bit tables a word at a time. SPDX-License-Identifier: BSD-2-Clause
 */
#include "code/bits.h"
#include "code/check.h"

#define BITS_ALL (~(tdo_bits_t)0)

_Static_assert(sizeof(tdo_bits_t) == sizeof(unsigned long),
               "the builtins below count bits of an unsigned long");

/* The bits of word WORD that lie in [BASE, LIMIT), which meets the word. */
static tdo_bits_t bits_mask(size_t word, size_t base, size_t limit) {
  tdo_bits_t mask = BITS_ALL;
  size_t first = word * TDO_WORD_BITS;
  if (base > first)
    mask <<= base - first;
  if (limit - first < TDO_WORD_BITS)
    mask &= ((tdo_bits_t)1 << (limit - first)) - 1;
  return mask;
}

static size_t bits_low(tdo_bits_t x) {
  return (size_t)__builtin_ctzl(x);
}

static size_t bits_high(tdo_bits_t x) {
  return TDO_WORD_BITS - 1 - (size_t)__builtin_clzl(x);
}

void tdo_bits_set_range(tdo_bits_t *t, size_t base, size_t limit) {
  TDO_CRITICAL(base <= limit);
  for (size_t w = base / TDO_WORD_BITS; w < tdo_bits_words(limit); ++w)
    t[w] |= bits_mask(w, base, limit);
}

void tdo_bits_clear_range(tdo_bits_t *t, size_t base, size_t limit) {
  TDO_CRITICAL(base <= limit);
  for (size_t w = base / TDO_WORD_BITS; w < tdo_bits_words(limit); ++w)
    t[w] &= ~bits_mask(w, base, limit);
}

size_t tdo_bits_next_far(const tdo_bits_t *t, size_t base, size_t limit,
                         tdo_bits_t flip) {
  size_t w = base / TDO_WORD_BITS, end = tdo_bits_words(limit);

  while (++w < end) {
    tdo_bits_t x = t[w] ^ flip;
    if (x != 0)
      return tdo_min(w * TDO_WORD_BITS + bits_low(x), limit);
  }
  return limit;
}

size_t tdo_bits_next_in(const tdo_bits_t *t, const tdo_bits_t *not_in,
                        size_t base, size_t limit) {
  TDO_CRITICAL(base <= limit);
  for (size_t w = base / TDO_WORD_BITS; w < tdo_bits_words(limit); ++w) {
    tdo_bits_t x = t[w] & ~not_in[w] & bits_mask(w, base, limit);
    if (x != 0)
      return w * TDO_WORD_BITS + bits_low(x);
  }
  return limit;
}

bool tdo_bits_all_clear(const tdo_bits_t *t, size_t base, size_t limit) {
  return tdo_bits_next_set(t, base, limit) == limit;
}

bool tdo_bits_all_set(const tdo_bits_t *t, size_t base, size_t limit) {
  return tdo_bits_next_clear(t, base, limit) == limit;
}

size_t tdo_bits_last_set(const tdo_bits_t *t, size_t base, size_t limit) {
  TDO_CRITICAL(base <= limit);
  for (size_t w = tdo_bits_words(limit); w > base / TDO_WORD_BITS; --w) {
    tdo_bits_t x = t[w - 1] & bits_mask(w - 1, base, limit);
    if (x != 0)
      return (w - 1) * TDO_WORD_BITS + bits_high(x) + 1;
  }
  return base;
}

void tdo_bits_clear_in(tdo_bits_t *t, const tdo_bits_t *in, size_t n) {
  for (size_t w = 0; w < tdo_bits_words(n); ++w)
    t[w] &= ~in[w];
}

/* Where a kept run goes on, a bit is added to the lowest of the bits that it
   goes on with: the carry clears them all, and shows where they end. */
void tdo_bits_keep_runs(tdo_bits_t *t, tdo_bits_t *starts, size_t n) {
  tdo_bits_t goes_on = 0; /* bit 0: into this word */

  for (size_t w = 0; w < tdo_bits_words(n); ++w) {
    tdo_bits_t kept = t[w] & starts[w], more = t[w] & ~starts[w];
    tdo_bits_t first = (kept << 1 | goes_on) & more, sum;
    bool carry = __builtin_add_overflow(more, first, &sum);
    goes_on = (tdo_bits_t)carry | kept >> (TDO_WORD_BITS - 1);
    t[w] = kept | (more & ~sum);
    starts[w] = kept;
  }
}

size_t tdo_bits_count(const tdo_bits_t *t, size_t base, size_t limit) {
  size_t count = 0;
  TDO_CRITICAL(base <= limit);
  for (size_t w = base / TDO_WORD_BITS; w < tdo_bits_words(limit); ++w) {
    if (t[w] != 0) { /* few processors count for nothing */
      count += (size_t)__builtin_popcountl(t[w] & bits_mask(w, base, limit));
    }
  }
  return count;
}

/* The places in X where N set bits follow upwards, N <= TDO_WORD_BITS; in
   O(log N) steps, by doubling the length already proved. */
static tdo_bits_t bits_runs(tdo_bits_t x, size_t n) {
  while (n > 1 && x != 0) {
    size_t half = n / 2;
    x &= x >> half;
    n -= half;
  }
  return x;
}

/* Both searches keep RUN, the clear bits that reach up to the edge of the
   word at hand, and spend a bounded time on each word. */

bool tdo_bits_find_clear_run(size_t *found_o, const tdo_bits_t *t, size_t base,
                             size_t limit, size_t n) {
  size_t run = 0;
  TDO_CRITICAL(base <= limit);
  TDO_CHECK(n > 0);
  for (size_t w = base / TDO_WORD_BITS; w < tdo_bits_words(limit); ++w) {
    size_t first = w * TDO_WORD_BITS;
    tdo_bits_t clear = ~t[w] & bits_mask(w, base, limit);
    size_t low = clear == BITS_ALL ? TDO_WORD_BITS : bits_low(~clear);
    if (run + low >= n) {
      *found_o = first - run;
      return true;
    }
    if (low == TDO_WORD_BITS) {
      run += TDO_WORD_BITS;
      continue;
    }
    tdo_bits_t starts = n < TDO_WORD_BITS ? bits_runs(clear, n) : 0;
    if (starts != 0) {
      *found_o = first + bits_low(starts);
      return true;
    }
    run = TDO_WORD_BITS - 1 - bits_high(~clear);
  }
  return false;
}

bool tdo_bits_find_clear_run_high(size_t *found_o, const tdo_bits_t *t,
                                  size_t base, size_t limit, size_t n) {
  size_t run = 0;
  TDO_CRITICAL(base <= limit);
  TDO_CHECK(n > 0);
  for (size_t w = tdo_bits_words(limit); w > base / TDO_WORD_BITS; --w) {
    size_t first = (w - 1) * TDO_WORD_BITS;
    tdo_bits_t clear = ~t[w - 1] & bits_mask(w - 1, base, limit);
    size_t high = clear == BITS_ALL ? TDO_WORD_BITS
                                    : TDO_WORD_BITS - 1 - bits_high(~clear);
    if (run + high >= n) {
      *found_o = first + TDO_WORD_BITS + run - n;
      return true;
    }
    if (high == TDO_WORD_BITS) {
      run += TDO_WORD_BITS;
      continue;
    }
    tdo_bits_t starts = n < TDO_WORD_BITS ? bits_runs(clear, n) : 0;
    if (starts != 0) {
      *found_o = first + bits_high(starts);
      return true;
    }
    run = bits_low(~clear);
  }
  return false;
}
