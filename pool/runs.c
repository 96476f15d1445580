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

static size_t runs_stale_bytes(size_t units) {
  return tdo_bits_words(runs_cells(units)) * sizeof(tdo_bits_t);
}

static size_t runs_words(size_t units) {
  return runs_cells(units) * RUNS_CELL_WORDS;
}

/* With the words of ones around them, see starts.h. */
static size_t runs_bits_bytes(size_t units) {
  return (1 + runs_words(units) + 2) * sizeof(tdo_bits_t);
}

size_t tdo_runs_bytes(size_t room) {
  return runs_sums_bytes(room) + runs_stale_bytes(room) +
         tdo_starts_bytes(runs_words(room)) + runs_bits_bytes(room);
}

/* .plain: the free units begin at EDGE. */
static void runs_edge(tdo_runs_t *r, size_t edge) {
  r->edge = edge;
  r->starts.most = (unsigned)tdo_min(r->units - edge, TDO_STARTS_MOST);
}

void tdo_runs_init(tdo_runs_t *r, size_t units, size_t room, void *memory) {
  TDO_CHECK(room > 0 && units <= room);
  r->units = units;
  r->room = room;
  r->height = runs_height(room);
  r->memory = memory;
  r->plain = true;
  runs_edge(r, units);
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

static bool runs_sum_equal(const tdo_run_sum_t *a, const tdo_run_sum_t *b) {
  return a->prefix == b->prefix && a->suffix == b->suffix &&
         a->longest == b->longest;
}

/* The sum of cell CELL, and those above it that change. */
static void runs_renew_cell(tdo_runs_t *r, size_t cell) {
  size_t i = ((size_t)1 << r->height) + cell, len = RUNS_CELL;
  tdo_run_sum_t was = r->sums[i];

  runs_cell_sum(&r->sums[i], r->used + cell * RUNS_CELL_WORDS);
  while (i > 1 && !runs_sum_equal(&was, &r->sums[i])) {
    i /= 2;
    was = r->sums[i];
    runs_join(&r->sums[i], &r->sums[2 * i], &r->sums[2 * i + 1], len);
    len *= 2;
  }
}

/* Make .sum hold everywhere. */
static void runs_renew(tdo_runs_t *r) {
  size_t cell = r->stale_first, limit = r->stale_limit;

  if (cell == limit)
    return;
  while ((cell = tdo_bits_next_set(r->stale, cell, limit)) < limit) {
    tdo_bits_clear(r->stale, cell);
    runs_renew_cell(r, cell);
  }
  r->stale_first = r->stale_limit = 0;
}

/* [BASE, LIMIT) changed. */
static void runs_changed(tdo_runs_t *r, size_t base, size_t limit) {
  size_t first = base / RUNS_CELL, end = (limit - 1) / RUNS_CELL + 1;

  if (first + 1 == end)
    tdo_bits_set(r->stale, first);
  else
    tdo_bits_set_range(r->stale, first, end);
  if (r->stale_first == r->stale_limit) {
    r->stale_first = first;
    r->stale_limit = end;
  } else {
    r->stale_first = tdo_min(r->stale_first, first);
    r->stale_limit = tdo_max(r->stale_limit, end);
  }
}

/* The bits of [BASE, LIMIT), if that lies in one word. */
static tdo_bits_t runs_mask(size_t base, size_t limit) {
  return ~(tdo_bits_t)0 >> (TDO_WORD_BITS - (limit - base))
                               << base % TDO_WORD_BITS;
}

static bool runs_in_one(size_t base, size_t limit) {
  return base / TDO_WORD_BITS == (limit - 1) / TDO_WORD_BITS;
}

/* .plain holds no more: write the table. */
static void runs_spread(tdo_runs_t *r) {
  size_t room = r->room, edge = r->edge;
  char *p = r->memory;

  r->plain = false;
  r->sums = (tdo_run_sum_t *)(void *)p;
  p += runs_sums_bytes(room);
  r->stale = (tdo_bits_t *)(void *)p;
  r->stale_first = r->stale_limit = 0;
  p += runs_stale_bytes(room);
  memset(r->memory, 0, (size_t)(p - (char *)r->memory));
  r->used = (tdo_bits_t *)(void *)(p + tdo_starts_bytes(runs_words(room)));
  memset(r->used, 0xFF, runs_bits_bytes(room));
  ++r->used;
  tdo_starts_init(&r->starts, r->used, runs_words(room), p);
  if (edge < r->units)
    tdo_runs_free(r, edge, r->units);
}

void tdo_runs_free(tdo_runs_t *r, size_t base, size_t limit) {
  TDO_CRITICAL(base < limit && limit <= r->units); /* .beyond */
  TDO_CRITICAL(tdo_runs_all_used(r, base, limit));
  if (TDO_UNLIKELY(r->plain)) {
    if (limit == r->edge) {
      runs_edge(r, base);
      return;
    }
    runs_spread(r);
  }
  if (TDO_LIKELY(runs_in_one(base, limit)))
    r->used[base / TDO_WORD_BITS] &= ~runs_mask(base, limit);
  else
    tdo_bits_clear_range(r->used, base, limit);
  tdo_starts_freed(&r->starts, base, limit);
  runs_changed(r, base, limit);
}

void tdo_runs_grow(tdo_runs_t *r, size_t base, size_t limit) {
  size_t units = r->units;

  TDO_CHECK(base < limit && units < limit && limit <= r->room);
  if (r->plain && r->edge < units && base > units)
    runs_spread(r);
  r->units = limit;
  if (r->plain)
    runs_edge(r, r->edge == units ? base : r->edge);
  else
    tdo_runs_free(r, base, limit);
}

void tdo_runs_take(tdo_runs_t *r, size_t base, size_t limit) {
  TDO_CRITICAL(base < limit && limit <= r->units);
  TDO_CRITICAL(tdo_runs_all_free(r, base, limit));
  if (TDO_UNLIKELY(r->plain)) {
    if (base == r->edge) {
      runs_edge(r, limit);
      return;
    }
    runs_spread(r);
  }
  if (TDO_LIKELY(runs_in_one(base, limit)))
    r->used[base / TDO_WORD_BITS] |= runs_mask(base, limit);
  else
    tdo_bits_set_range(r->used, base, limit);
  tdo_starts_taken(&r->starts, base, limit);
  runs_changed(r, base, limit);
}

bool tdo_runs_all_used(const tdo_runs_t *r, size_t base, size_t limit) {
  if (TDO_UNLIKELY(r->plain))
    return limit <= r->edge;
  return TDO_LIKELY(runs_in_one(base, limit))
             ? (~r->used[base / TDO_WORD_BITS] & runs_mask(base, limit)) == 0
             : tdo_bits_all_set(r->used, base, limit);
}

size_t tdo_runs_longest(tdo_runs_t *r) {
  if (TDO_UNLIKELY(r->plain))
    return r->units - r->edge;
  if (r->starts.most < TDO_STARTS_MOST)
    return r->starts.most;
  runs_renew(r);
  return r->sums[1].longest;
}

/* By the sums, for long runs. */
static bool runs_lowest_long(size_t *base_o, tdo_runs_t *r, size_t n) {
  size_t i = 1, start = 0, half = RUNS_CELL << r->height;

  runs_renew(r);
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

static bool runs_highest_long(size_t *base_o, tdo_runs_t *r, size_t n) {
  size_t i = 1, start = 0, found, half = RUNS_CELL << r->height;

  runs_renew(r);
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
      *base_o = tdo_runs_start(r, start + half - 1);
      return true;
    }
  }
  if (!tdo_bits_find_clear_run_high(&found, r->used, start, start + RUNS_CELL,
                                    n))
    return false;
  *base_o = tdo_runs_start(r, found);
  return true;
}

/* .plain: the only run, if it has N units. */
static bool runs_only(size_t *base_o, const tdo_runs_t *r, size_t n) {
  *base_o = r->edge;
  return n <= r->units - r->edge;
}

bool tdo_runs_lowest(size_t *base_o, tdo_runs_t *r, size_t n) {
  if (TDO_UNLIKELY(r->plain))
    return runs_only(base_o, r, n);
  if (n > r->starts.most)
    return n > TDO_STARTS_MOST && r->starts.most == TDO_STARTS_MOST &&
           runs_lowest_long(base_o, r, n);
  *base_o = tdo_starts_lowest(&r->starts, n);
  return true;
}

bool tdo_runs_highest(size_t *base_o, tdo_runs_t *r, size_t n) {
  if (TDO_UNLIKELY(r->plain))
    return runs_only(base_o, r, n);
  if (n > r->starts.most)
    return n > TDO_STARTS_MOST && r->starts.most == TDO_STARTS_MOST &&
           runs_highest_long(base_o, r, n);
  *base_o = tdo_starts_highest(&r->starts, n);
  return true;
}

/* Both look at a cell's bits more than they have to: that costs less than
   sums do, which most short runs at the end of a cell need not. */
size_t tdo_runs_start(tdo_runs_t *r, size_t at) {
  size_t cell = (at - tdo_min(at, RUNS_CELL)) / RUNS_CELL;
  size_t i = ((size_t)1 << r->height) + cell, len = RUNS_CELL;
  size_t start;

  if (TDO_UNLIKELY(r->plain))
    return r->edge;
  start = tdo_bits_last_set(r->used, cell * RUNS_CELL, at);
  if (start > cell * RUNS_CELL)
    return start;
  runs_renew(r);
  for (; i > 1; i /= 2, len *= 2)
    if (i % 2 == 1) {
      start -= r->sums[i - 1].suffix;
      if (r->sums[i - 1].suffix < len)
        break;
    }
  return start;
}

size_t tdo_runs_limit(tdo_runs_t *r, size_t at) {
  size_t cell = tdo_min(at / RUNS_CELL + 1, runs_cells(r->room) - 1);
  size_t i = ((size_t)1 << r->height) + cell, len = RUNS_CELL;
  size_t limit;

  if (TDO_UNLIKELY(r->plain))
    return r->units;
  limit = tdo_bits_next_set(r->used, at, (cell + 1) * RUNS_CELL);
  if (limit < (cell + 1) * RUNS_CELL)
    return limit;
  runs_renew(r);
  for (; i > 1; i /= 2, len *= 2)
    if (i % 2 == 0) {
      limit += r->sums[i + 1].prefix;
      if (r->sums[i + 1].prefix < len)
        break;
    }
  return limit;
}

bool tdo_runs_check(tdo_runs_t *r) {
  size_t leaves = (size_t)1 << r->height, cells = runs_cells(r->room);
  tdo_run_sum_t sum;

  TDO_CHECK(r->units <= r->room);
  if (r->plain) {
    TDO_CHECK(r->edge <= r->units);
    TDO_CHECK(r->starts.most ==
              tdo_min(r->units - r->edge, TDO_STARTS_MOST)); /* .plain */
    return true;
  }
  TDO_CHECK(
      tdo_bits_all_set(r->used, r->units, cells * RUNS_CELL)); /* .beyond */
  TDO_CHECK(tdo_starts_check(&r->starts));
  for (size_t i = 0; i < cells; ++i) {
    runs_cell_sum(&sum, r->used + i * RUNS_CELL_WORDS);
    if (tdo_bits_get(r->stale, i))
      TDO_CHECK(r->stale_first <= i && i < r->stale_limit); /* .sum */
    else
      TDO_CHECK(runs_sum_equal(&sum, &r->sums[leaves + i])); /* .sum */
  }
  runs_renew(r);
  for (size_t i = leaves - 1; i > 0; --i) {
    unsigned depth =
        (unsigned)(TDO_WORD_BITS - 1) - (unsigned)__builtin_clzl(i);
    runs_join(&sum, &r->sums[2 * i], &r->sums[2 * i + 1],
              RUNS_CELL << (r->height - depth - 1));
    TDO_CHECK(runs_sum_equal(&sum, &r->sums[i])); /* .sum */
  }
  return true;
}
