/* Testudo: where short free runs begin. SPDX-License-Identifier: BSD-2-Clause
 */
#include <string.h>
#include "pool/starts.h"
#include "code/check.h"
#include "pool/peaks.h"

#define STARTS_ALL (~(tdo_bits_t)0)

/* Bytes of one level, in whole groups. */
static size_t starts_level_bytes(size_t count) {
  return tdo_round_up(count, TDO_PEAKS);
}

static size_t starts_groups(size_t count) {
  return (count + TDO_PEAKS - 1) / TDO_PEAKS;
}

size_t tdo_starts_bytes(size_t words) {
  size_t bytes = starts_level_bytes(words);

  while (words > TDO_PEAKS) {
    words = starts_groups(words);
    bytes += starts_level_bytes(words);
  }
  return bytes;
}

void tdo_starts_init(tdo_starts_t *s, const tdo_bits_t *used, size_t words,
                     void *memory) {
  uint8_t *p = memory;

  s->used = used;
  s->words = words;
  s->levels = s->most = 0;
  memset(memory, 0, tdo_starts_bytes(words));
  for (;;) {
    TDO_CHECK(s->levels < TDO_STARTS_LEVELS);
    s->level[s->levels++] = p;
    p += starts_level_bytes(words);
    if (words <= TDO_PEAKS)
      return;
    words = starts_groups(words);
  }
}

/* ---- one word ---- */

/* Free units from the start of word W on, as far as it matters. */
static size_t starts_prefix(const tdo_bits_t *used, size_t w) {
  if (used[w] != 0)
    return (size_t)__builtin_ctzl(used[w]);
  if (used[w + 1] != 0)
    return TDO_WORD_BITS + (size_t)__builtin_ctzl(used[w + 1]);
  return 2 * TDO_WORD_BITS;
}

/* The free units of word W, without a run that comes from the one before. */
static tdo_bits_t starts_free(const tdo_bits_t *used, size_t w) {
  tdo_bits_t x = ~used[w];
  bool enters = used[(ptrdiff_t)w - 1] >> (TDO_WORD_BITS - 1) == 0;

  return enters ? x & (x + 1) : x;
}

/* Length of the longest run of ones, less than 64; without branches, which
   would be taken at random. Where two to the power K ones follow upwards, and
   from that where N do, N built up from high powers to low. */
static size_t starts_longest(tdo_bits_t x) {
  tdo_bits_t x2 = x & x >> 1, x4 = x2 & x2 >> 2, x8 = x4 & x4 >> 4;
  tdo_bits_t x16 = x8 & x8 >> 8, x32 = x16 & x16 >> 16;
  const tdo_bits_t places[] = {x, x2, x4, x8, x16, x32};
  tdo_bits_t at = STARTS_ALL;
  size_t n = 0;

#pragma GCC unroll 6
  for (unsigned k = 6; k-- > 0;) {
    tdo_bits_t more = at & places[k] >> n, mask = -(tdo_bits_t)(more != 0);
    at ^= (at ^ more) & mask;
    n += ((size_t)1 << k) & mask;
  }
  return n;
}

/* .word, from the bits */
static unsigned starts_word(const tdo_bits_t *used, size_t w) {
  tdo_bits_t x = starts_free(used, w);
  size_t tail, behind = starts_prefix(used, w + 1), longest;

  if (TDO_UNLIKELY(x == STARTS_ALL))
    return (unsigned)tdo_min(TDO_WORD_BITS + behind, TDO_STARTS_MOST);
  tail = (size_t)__builtin_clzl(~x);
  longest = starts_longest(x & STARTS_ALL >> tail);
  tail += behind & -(size_t)(tail != 0);
  return (unsigned)tdo_min(tdo_max(longest, tail), TDO_STARTS_MOST);
}

/* ---- all ---- */

static unsigned starts_group(const tdo_starts_t *s, unsigned k, size_t group) {
  return tdo_peaks_most(s->level[k] + group * TDO_PEAKS);
}

/* Word W has a run of N: make .word and .max hold. What is to be read is read
   before it is written to: a processor that looks at sixteen bytes of which
   it wrote one just now waits until that has reached the cache. */
static void starts_set(tdo_starts_t *s, size_t w, unsigned n) {
  for (unsigned k = 0; k < s->levels; ++k, w /= TDO_PEAKS) {
    unsigned others = tdo_peaks_others(
        s->level[k] + tdo_round_down(w, TDO_PEAKS), w % TDO_PEAKS);
    s->level[k][w] = (uint8_t)n;
    n = n > others ? n : others;
  }
  s->most = n;
}

/* The bytes of words [FIRST, LAST] changed: make .max hold. All levels, since
   an early end would be a branch taken at random. */
static void starts_lift(tdo_starts_t *s, size_t first, size_t last) {
  for (unsigned k = 0; k + 1 < s->levels; ++k) {
    first /= TDO_PEAKS;
    last /= TDO_PEAKS;
    s->level[k + 1][first] = (uint8_t)starts_group(s, k, first);
    for (size_t g = first + 1; g <= last; ++g)
      s->level[k + 1][g] = (uint8_t)starts_group(s, k, g);
  }
  s->most = starts_group(s, s->levels - 1, 0);
}

/* The run that comes to BASE from the words before, if any, is shorter now,
   and one may begin at LIMIT. What is further away is long in any case. */
void tdo_starts_taken(tdo_starts_t *s, size_t base, size_t limit) {
  const tdo_bits_t *used = s->used;
  size_t first = base / TDO_WORD_BITS, last = (limit - 1) / TDO_WORD_BITS;
  size_t low = first, high = tdo_min(limit / TDO_WORD_BITS, s->words - 1);
  tdo_bits_t below = ((tdo_bits_t)1 << base % TDO_WORD_BITS) - 1;

  if (used[(ptrdiff_t)first - 1] >> (TDO_WORD_BITS - 1) == 0 &&
      (used[first] & below) == 0) {
    low -= 1 + (first > 1 && used[first - 1] == 0);
    for (size_t w = low; w < first; ++w)
      s->level[0][w] = (uint8_t)starts_word(used, w);
  }
  if (TDO_LIKELY(low == high)) {
    starts_set(s, low, starts_word(used, low));
    return;
  }
  s->level[0][first] = (uint8_t)starts_word(used, first);
  if (TDO_UNLIKELY(first + 1 < last))
    memset(s->level[0] + first + 1, 0, last - first - 1);
  for (size_t w = tdo_max(first + 1, last); w <= high; ++w)
    s->level[0][w] = (uint8_t)starts_word(used, w);
  starts_lift(s, low, high);
}

/* The base of the run that free unit AT belongs to, if it does not lie too far
   away to matter: then something lower than AT. */
static size_t starts_base(const tdo_bits_t *used, size_t at) {
  size_t w = at / TDO_WORD_BITS;
  tdo_bits_t x = used[w] & (((tdo_bits_t)1 << at % TDO_WORD_BITS) - 1);

  for (unsigned i = 0; x == 0; ++i) {
    x = used[(ptrdiff_t)w - 1];
    if (x >> (TDO_WORD_BITS - 1) != 0)
      return w * TDO_WORD_BITS;
    if (i == 3)
      return SIZE_MAX;
    --w;
  }
  return (w + 1) * TDO_WORD_BITS - (size_t)__builtin_clzl(x);
}

/* Free units from AT on, as far as it matters. */
static size_t starts_follow(const tdo_bits_t *used, size_t at) {
  size_t w = at / TDO_WORD_BITS, bit = at % TDO_WORD_BITS;
  tdo_bits_t x = used[w] >> bit;

  return x != 0 ? (size_t)__builtin_ctzl(x)
                : TDO_WORD_BITS - bit + starts_prefix(used, w + 1);
}

/* They are part of one run, which is longer than what it swallowed; one that
   began at LIMIT begins there no more. */
void tdo_starts_freed(tdo_starts_t *s, size_t base, size_t limit) {
  size_t begin = starts_base(s->used, base);
  size_t follow = starts_follow(s->used, limit);
  size_t w = begin / TDO_WORD_BITS, end = limit / TDO_WORD_BITS;
  unsigned n;

  if (follow > 0 && end != w)
    starts_set(s, end, starts_word(s->used, end));
  if (begin == SIZE_MAX)
    return;
  n = (unsigned)tdo_min(limit + follow - begin, TDO_STARTS_MOST);
  for (unsigned k = 0; k < s->levels; ++k, w /= TDO_PEAKS)
    if (s->level[k][w] < n)
      s->level[k][w] = (uint8_t)n;
  if (s->most < n)
    s->most = n;
}

/* Where N ones follow upwards in X. */
static tdo_bits_t starts_places(tdo_bits_t x, size_t n) {
  while (n > 1) {
    size_t half = n / 2;
    x &= x >> half;
    n -= half;
  }
  return x;
}

size_t tdo_starts_lowest(const tdo_starts_t *s, size_t n) {
  size_t w = 0;
  tdo_bits_t x, places = 0;

  for (unsigned k = s->levels; k-- > 0;) {
    const uint8_t *group = s->level[k] + w * TDO_PEAKS;
    w = TDO_PEAKS * w + tdo_peaks_first(tdo_peaks_from(group, (unsigned)n));
  }
  x = starts_free(s->used, w);
  if (n <= TDO_WORD_BITS)
    places = starts_places(x, n);
  if (places != 0)
    return w * TDO_WORD_BITS + (size_t)__builtin_ctzl(places);
  return (w + 1) * TDO_WORD_BITS -
         (x == STARTS_ALL ? TDO_WORD_BITS : (size_t)__builtin_clzl(~x));
}

size_t tdo_starts_highest(const tdo_starts_t *s, size_t n) {
  size_t w = 0, tail, at;
  tdo_bits_t x, used;

  for (unsigned k = s->levels; k-- > 0;) {
    const uint8_t *group = s->level[k] + w * TDO_PEAKS;
    w = TDO_PEAKS * w + tdo_peaks_last(tdo_peaks_from(group, (unsigned)n));
  }
  x = starts_free(s->used, w);
  tail = x == STARTS_ALL ? TDO_WORD_BITS : (size_t)__builtin_clzl(~x);
  if (tail > 0 && tail + starts_prefix(s->used, w + 1) >= n)
    return (w + 1) * TDO_WORD_BITS - tail;
  x = starts_places(x, n); /* of the highest run, the highest place */
  at = TDO_WORD_BITS - 1 - (size_t)__builtin_clzl(x);
  used = s->used[w] & (((tdo_bits_t)1 << at) - 1);
  if (used != 0)
    at = TDO_WORD_BITS - (size_t)__builtin_clzl(used);
  else
    at = 0;
  return w * TDO_WORD_BITS + at;
}

bool tdo_starts_check(const tdo_starts_t *s) {
  size_t count = s->words;

  TDO_CHECK(s->used[-1] == STARTS_ALL && s->used[count] == STARTS_ALL &&
            s->used[count + 1] == STARTS_ALL);
  for (size_t w = 0; w < count; ++w) /* .word */
    TDO_CHECK(s->level[0][w] == starts_word(s->used, w));
  for (unsigned k = 0; k + 1 < s->levels; ++k) { /* .max */
    count = starts_groups(count);
    for (size_t g = 0; g < count; ++g)
      TDO_CHECK(s->level[k + 1][g] == starts_group(s, k, g));
  }
  TDO_CHECK(s->most == starts_group(s, s->levels - 1, 0));
  return true;
}
