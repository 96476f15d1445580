/* Testudo: runs of free units. SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "pool/runs.h"
#include "code/check.h"

#define RUNS_CELL       TDO_RUNS_CELL
#define RUNS_CELL_WORDS (RUNS_CELL / TDO_WORD_BITS)

_Static_assert(RUNS_CELL % TDO_WORD_BITS == 0, "a cell is a number of words");

static size_t runs_cells(size_t units) {
  return (units + RUNS_CELL - 1) / RUNS_CELL;
}

static unsigned runs_height(size_t units) {
  unsigned height = 0;

  while (((size_t)1 << height) < runs_cells(units))
    ++height;
  return height;
}

static size_t runs_sums_bytes(size_t units) {
  return ((size_t)2 << runs_height(units)) * sizeof(tdo_run_sum_t);
}

static size_t runs_bits_bytes(size_t units) {
  return runs_cells(units) * RUNS_CELL_WORDS * sizeof(tdo_bits_t);
}

size_t tdo_runs_bytes(size_t units) {
  return runs_sums_bytes(units) + runs_bits_bytes(units);
}

void tdo_runs_init(tdo_runs_t *r, size_t units, void *memory) {
  TDO_CHECK(units > 0);
  r->units = units;
  r->height = runs_height(units);
  r->sums = memory;
  r->used = (tdo_bits_t *)(void *)((char *)memory + runs_sums_bytes(units));
  memset(r->sums, 0, runs_sums_bytes(units));
  memset(r->used, 0xFF, runs_bits_bytes(units));
}

/* Is there a run of N set bits in X? N <= TDO_WORD_BITS. */
static bool runs_in_word(tdo_bits_t x, size_t n) {
  while (n > 1 && x != 0) {
    size_t half = n / 2;
    x &= x >> half;
    n -= half;
  }
  return x != 0;
}

/* The sum of one cell, from its bits. RUN is the free run that reaches up to
   the word at hand. */
static void runs_cell_sum(tdo_run_sum_t *sum, const tdo_bits_t *used) {
  size_t run = 0, longest = 0, prefix = RUNS_CELL;

  for (size_t w = 0; w < RUNS_CELL_WORDS; ++w) {
    tdo_bits_t free = ~used[w];
    if (free == ~(tdo_bits_t)0) {
      run += TDO_WORD_BITS;
      continue;
    }
    run += (size_t)__builtin_ctzl(~free);
    if (prefix == RUNS_CELL)
      prefix = run;
    if (run > longest)
      longest = run;
    while (longest < TDO_WORD_BITS && runs_in_word(free, longest + 1))
      ++longest;
    run = (size_t)__builtin_clzl(~free);
  }
  sum->prefix = prefix;
  sum->suffix = run;
  sum->longest = run > longest ? run : longest;
}

/* The sum of two neighbours of LEN units each. */
static void runs_join(tdo_run_sum_t *sum, const tdo_run_sum_t *a,
                      const tdo_run_sum_t *b, size_t len) {
  size_t across = a->suffix + b->prefix;

  sum->prefix = a->prefix == len ? len + b->prefix : a->prefix;
  sum->suffix = b->suffix == len ? len + a->suffix : b->suffix;
  sum->longest = tdo_max(across, tdo_max(a->longest, b->longest));
}

/* The longest free run of a cell; it is known to be from LEAST to MOST. */
static size_t runs_cell_longest(const tdo_bits_t *used, size_t least,
                                size_t most) {
  size_t run = 0, longest = least;

  for (size_t w = 0; w < RUNS_CELL_WORDS && longest < most; ++w) {
    tdo_bits_t free = ~used[w];
    if (free == 0) { /* most words are, where it matters */
      longest = tdo_max(longest, run);
      run = 0;
    } else if (free == ~(tdo_bits_t)0) {
      run += TDO_WORD_BITS;
    } else {
      run += (size_t)__builtin_ctzl(~free);
      longest = tdo_max(longest, run);
      while (longest < TDO_WORD_BITS && runs_in_word(free, longest + 1))
        ++longest;
      run = (size_t)__builtin_clzl(~free);
    }
  }
  return tdo_max(longest, run);
}

/* [BASE, LIMIT) of one cell was freed: only the run that it joined is new. */
static void runs_cell_freed(tdo_run_sum_t *sum, const tdo_bits_t *used,
                            size_t start, size_t base, size_t limit) {
  size_t end = start + RUNS_CELL;
  size_t low = tdo_bits_last_set(used, start, base);
  size_t high = tdo_bits_next_set(used, limit, end);

  sum->longest = tdo_max(sum->longest, high - low);
  if (low == start)
    sum->prefix = high - start;
  if (high == end)
    sum->suffix = end - low;
}

/* [BASE, LIMIT) of one cell was taken: only the run that it left is gone. */
static void runs_cell_taken(tdo_run_sum_t *sum, const tdo_bits_t *used,
                            size_t start, size_t base, size_t limit) {
  size_t end = start + RUNS_CELL;
  size_t low = tdo_bits_last_set(used, start, base);
  size_t high = tdo_bits_next_set(used, limit, end);

  if (low == start)
    sum->prefix = base - start;
  if (high == end)
    sum->suffix = end - limit;
  if (high - low == sum->longest)
    sum->longest =
        runs_cell_longest(used + start / TDO_WORD_BITS,
                          tdo_max(base - low, high - limit), sum->longest);
}

static bool runs_sum_equal(const tdo_run_sum_t *a, const tdo_run_sum_t *b) {
  return a->prefix == b->prefix && a->suffix == b->suffix &&
         a->longest == b->longest;
}

/* [BASE, LIMIT) changed: make .sum hold. */
static void runs_update(tdo_runs_t *r, size_t base, size_t limit, bool freed) {
  size_t leaves = (size_t)1 << r->height, value = freed ? RUNS_CELL : 0,
         len = RUNS_CELL;
  size_t first = base / RUNS_CELL, last = (limit - 1) / RUNS_CELL;
  size_t lo = leaves + first, hi = leaves + last;

  if (lo == hi) {
    (freed ? runs_cell_freed : runs_cell_taken)(
        &r->sums[lo], r->used, first * RUNS_CELL, base, limit);
  } else {
    for (size_t i = lo + 1; i < hi; ++i)
      r->sums[i].prefix = r->sums[i].suffix = r->sums[i].longest = value;
    runs_cell_sum(&r->sums[lo], r->used + first * RUNS_CELL_WORDS);
    runs_cell_sum(&r->sums[hi], r->used + last * RUNS_CELL_WORDS);
  }
  for (lo /= 2, hi /= 2; lo > 0; lo /= 2, hi /= 2, len *= 2) {
    bool same = lo == hi;
    for (size_t i = lo; i <= hi; ++i) {
      tdo_run_sum_t was = r->sums[i];
      runs_join(&r->sums[i], &r->sums[2 * i], &r->sums[2 * i + 1], len);
      same = same && runs_sum_equal(&was, &r->sums[i]);
    }
    if (same)
      break;
  }
}

void tdo_runs_free(tdo_runs_t *r, size_t base, size_t limit) {
  TDO_CRITICAL(base < limit && limit <= r->units); /* .beyond */
  TDO_CRITICAL(tdo_runs_all_used(r, base, limit));
  tdo_bits_clear_range(r->used, base, limit);
  runs_update(r, base, limit, true);
}

void tdo_runs_take(tdo_runs_t *r, size_t base, size_t limit) {
  TDO_CRITICAL(base < limit && limit <= r->units);
  TDO_CRITICAL(tdo_runs_all_free(r, base, limit));
  tdo_bits_set_range(r->used, base, limit);
  runs_update(r, base, limit, false);
}

bool tdo_runs_lowest(size_t *base_o, const tdo_runs_t *r, size_t n) {
  size_t i = 1, start = 0, half = RUNS_CELL << r->height;

  if (r->sums[1].longest < n)
    return false;
  while (half > RUNS_CELL) {
    const tdo_run_sum_t *a = &r->sums[2 * i], *b = a + 1;
    half /= 2;
    i *= 2;
    if (a->longest >= n)
      continue;
    if (a->suffix + b->prefix >= n) {
      *base_o = start + half - a->suffix;
      return true;
    }
    ++i;
    start += half;
  }
  return tdo_bits_find_clear_run(base_o, r->used, start, start + RUNS_CELL, n);
}

bool tdo_runs_highest(size_t *limit_o, const tdo_runs_t *r, size_t n) {
  size_t i = 1, start = 0, found, half = RUNS_CELL << r->height;

  if (r->sums[1].longest < n)
    return false;
  while (half > RUNS_CELL) {
    const tdo_run_sum_t *a = &r->sums[2 * i], *b = a + 1;
    half /= 2;
    i *= 2;
    if (b->longest >= n) {
      ++i;
      start += half;
    } else if (a->suffix + b->prefix >= n) {
      *limit_o = start + half + b->prefix;
      return true;
    }
  }
  if (!tdo_bits_find_clear_run_high(&found, r->used, start, start + RUNS_CELL,
                                    n))
    return false;
  *limit_o = found + n;
  return true;
}

size_t tdo_runs_largest(const tdo_runs_t *r) {
  size_t base = 0;
  bool found = tdo_runs_lowest(&base, r, r->sums[1].longest);

  TDO_CHECK(found);
  return base;
}

size_t tdo_runs_start(const tdo_runs_t *r, size_t at) {
  size_t cell = at / RUNS_CELL, i = ((size_t)1 << r->height) + cell,
         len = RUNS_CELL;
  size_t start = tdo_bits_last_set(r->used, cell * RUNS_CELL, at);

  if (start > cell * RUNS_CELL)
    return start;
  for (; i > 1; i /= 2, len *= 2)
    if (i % 2 == 1) {
      start -= r->sums[i - 1].suffix;
      if (r->sums[i - 1].suffix < len)
        break;
    }
  return start;
}

size_t tdo_runs_limit(const tdo_runs_t *r, size_t at) {
  size_t cell = at / RUNS_CELL, i = ((size_t)1 << r->height) + cell,
         len = RUNS_CELL;
  size_t limit = tdo_bits_next_set(r->used, at, (cell + 1) * RUNS_CELL);

  if (limit < (cell + 1) * RUNS_CELL)
    return limit;
  for (; i > 1; i /= 2, len *= 2)
    if (i % 2 == 0) {
      limit += r->sums[i + 1].prefix;
      if (r->sums[i + 1].prefix < len)
        break;
    }
  return limit;
}

bool tdo_runs_check(const tdo_runs_t *r) {
  size_t leaves = (size_t)1 << r->height, cells = runs_cells(r->units);
  tdo_run_sum_t sum;

  TDO_CHECK(
      tdo_bits_all_set(r->used, r->units, cells * RUNS_CELL)); /* .beyond */
  for (size_t i = 0; i < cells; ++i) {
    runs_cell_sum(&sum, r->used + i * RUNS_CELL_WORDS);
    TDO_CHECK(runs_sum_equal(&sum, &r->sums[leaves + i])); /* .sum */
  }
  for (size_t i = leaves - 1; i > 0; --i) {
    unsigned depth =
        (unsigned)(TDO_WORD_BITS - 1) - (unsigned)__builtin_clzl(i);
    runs_join(&sum, &r->sums[2 * i], &r->sums[2 * i + 1],
              RUNS_CELL << (r->height - depth - 1));
    TDO_CHECK(runs_sum_equal(&sum, &r->sums[i])); /* .sum */
  }
  return true;
}
