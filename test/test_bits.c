/* Testudo: bit tables against a table of bytes, at random; and tables of bytes.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "code/bits.h"
#include "code/bytes.h"
#include "test/random.h"
#include "test/require.h"
#include "test/suite.h"

enum { BITS = 700, ROUNDS = 20000 };

static tdo_bits_t table[(BITS + 63) / 64 + 1];
static bool model[BITS];

static void compare(void) {
  for (size_t i = 0; i < BITS; ++i)
    REQUIRE(tdo_bits_get(table, i) == model[i]);
}

static size_t model_next(size_t base, size_t limit, bool value) {
  while (base < limit && model[base] != value)
    ++base;
  return base;
}

static size_t model_count(size_t base, size_t limit) {
  size_t count = 0;
  for (size_t i = base; i < limit; ++i)
    count += model[i];
  return count;
}

static size_t model_last(size_t base, size_t limit) {
  while (limit > base && !model[limit - 1])
    --limit;
  return limit;
}

/* The lowest (highest) run of N clear bits, or SIZE_MAX. */
static size_t model_run(size_t base, size_t limit, size_t n, bool high) {
  size_t found = SIZE_MAX;
  for (size_t i = base; i + n <= limit; ++i) {
    if (model_count(i, i + n) == 0) {
      found = i;
      if (!high)
        break;
    }
  }
  return found;
}

static void change(size_t base, size_t limit, bool value) {
  if (limit - base == 1)
    (value ? tdo_bits_set : tdo_bits_clear)(table, base);
  else
    (value ? tdo_bits_set_range : tdo_bits_clear_range)(table, base, limit);
  for (size_t i = base; i < limit; ++i)
    model[i] = value;
}

/* Bits that are in the table and not in another, which has every third. */
static void search_in(size_t base, size_t limit) {
  static tdo_bits_t other[sizeof table / sizeof table[0]];
  size_t i = base;
  for (size_t k = 0; k < limit; k += 3)
    tdo_bits_set(other, k);
  while (i < limit && !(model[i] && i % 3 != 0))
    ++i;
  ck_assert_uint_eq(tdo_bits_next_in(table, other, base, limit), i);
}

static void search(size_t base, size_t limit) {
  size_t set = model_next(base, limit, true);
  size_t clear = model_next(base, limit, false);
  ck_assert_uint_eq(tdo_bits_next_set(table, base, limit), set);
  ck_assert_uint_eq(tdo_bits_next_clear(table, base, limit), clear);
  search_in(base, limit);
  ck_assert_int_eq(tdo_bits_all_clear(table, base, limit), set == limit);
  ck_assert_int_eq(tdo_bits_all_set(table, base, limit), clear == limit);
  ck_assert_uint_eq(tdo_bits_last_set(table, base, limit),
                    model_last(base, limit));
  ck_assert_uint_eq(tdo_bits_count(table, base, limit),
                    model_count(base, limit));
}

static void search_run(size_t base, size_t limit, size_t n) {
  size_t found = SIZE_MAX, expected = model_run(base, limit, n, false);
  bool ok = tdo_bits_find_clear_run(&found, table, base, limit, n);
  ck_assert_int_eq(ok, expected != SIZE_MAX);
  ck_assert_uint_eq(found, expected);
  found = SIZE_MAX;
  expected = model_run(base, limit, n, true);
  ok = tdo_bits_find_clear_run_high(&found, table, base, limit, n);
  ck_assert_int_eq(ok, expected != SIZE_MAX);
  ck_assert_uint_eq(found, expected);
}

static void random_range(size_t *base_o, size_t *limit_o) {
  size_t a = random_below(BITS + 1), b = random_below(BITS + 1);
  if (random_below(2) == 0 && a < BITS)
    b = a + random_below(BITS - a < 9 ? BITS - a : 9) + 1;
  *base_o = a < b ? a : b;
  *limit_o = a < b ? b : a;
}

START_TEST(against_model) {
  for (int round = 0; round < ROUNDS; ++round) {
    size_t base, limit;
    random_range(&base, &limit);
    change(base, limit, random_below(3) == 0);
    random_range(&base, &limit);
    search(base, limit);
    if (round % 16 == 0) {
      search_run(base, limit, random_below(8) + 1);
      search_run(base, limit, random_below(200) + 1);
      compare();
    }
  }
}
END_TEST

START_TEST(empty_ranges) {
  memset(table, 0xff, sizeof table);
  for (size_t i = 0; i <= 128; i += 16) {
    ck_assert_uint_eq(tdo_bits_next_set(table, i, i), i);
    ck_assert_uint_eq(tdo_bits_last_set(table, i, i), i);
    ck_assert(tdo_bits_all_clear(table, i, i));
    ck_assert(tdo_bits_all_set(table, i, i));
    ck_assert_uint_eq(tdo_bits_count(table, i, i), 0);
    tdo_bits_clear_range(table, i, i);
  }
  ck_assert(tdo_bits_all_set(table, 0, BITS));
}
END_TEST

/* Runs, some of which are kept, and free bits between. */
START_TEST(keep_runs) {
  static tdo_bits_t starts[sizeof table / sizeof table[0]];
  static tdo_bits_t kept[sizeof table / sizeof table[0]];
  for (int round = 0; round < ROUNDS / 10; ++round) {
    size_t longest = 1 + random_below(round % 2 == 0 ? 5 : 150);
    size_t n = 1 + random_below(BITS);
    memset(table, 0, sizeof table);
    memset(starts, 0, sizeof starts);
    memset(kept, 0, sizeof kept);
    memset(model, 0, sizeof model);
    for (size_t i = random_below(2); i < n;) {
      size_t end = i + 1 + random_below(longest);
      bool keep = random_below(2) == 0;
      end = end < n ? end : n;
      tdo_bits_set_range(table, i, end);
      tdo_bits_set(starts, i);
      if (keep)
        tdo_bits_set(kept, i);
      else
        tdo_bits_clear(table, i);
      for (; i < end; ++i)
        model[i] = keep;
      i += random_below(3) == 0 ? random_below(longest) : 0;
    }
    tdo_bits_keep_runs(table, starts, n);
    compare();
    ck_assert_mem_eq(starts, kept, sizeof kept);
  }
}
END_TEST

START_TEST(clear_in) {
  static tdo_bits_t in[sizeof table / sizeof table[0]];
  for (int round = 0; round < ROUNDS / 10; ++round) {
    size_t n = random_below(BITS + 1);
    memset(table, 0, sizeof table);
    memset(in, 0, sizeof in);
    memset(model, 0, sizeof model);
    for (size_t i = 0; i < n; ++i) {
      size_t which = random_below(4);
      if (which % 2 != 0)
        tdo_bits_set(table, i);
      if (which / 2 != 0)
        tdo_bits_set(in, i);
      model[i] = which == 1;
    }
    tdo_bits_clear_in(table, in, n);
    compare();
  }
}
END_TEST

START_TEST(words) {
  ck_assert_uint_eq(tdo_bits_words(0), 0);
  ck_assert_uint_eq(tdo_bits_words(1), 1);
  ck_assert_uint_eq(tdo_bits_words(64), 1);
  ck_assert_uint_eq(tdo_bits_words(65), 2);
}
END_TEST

/* Never touch a word outside the range: the last word's neighbour here. */
START_TEST(stays_inside) {
  memset(table, 0, sizeof table);
  table[2] = 0x5555;
  tdo_bits_set_range(table, 0, 128);
  ck_assert_uint_eq(table[2], 0x5555);
  tdo_bits_clear_range(table, 1, 128);
  ck_assert_uint_eq(table[2], 0x5555);
  ck_assert_uint_eq(table[0], 1);
}
END_TEST

START_TEST(bytes) {
  static _Alignas(8) uint8_t found[96];
  for (int round = 0; round < ROUNDS; ++round) {
    size_t at = random_below(sizeof found + 1);
    size_t limit = at + random_below(sizeof found + 1 - at), i = at;
    uint8_t mask = (uint8_t)random_below(256);
    for (size_t k = 0; k < sizeof found; ++k)
      found[k] = random_below(20) == 0 ? (uint8_t)random_below(256) : 0;
    while (i < limit && (found[i] & mask) == 0)
      ++i;
    ck_assert_uint_eq(tdo_bytes_next(found, at, limit, mask), i);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("bits");
  TCase *tests = tcase_create("bits");
  random_start();
  tcase_add_test(tests, against_model);
  tcase_add_test(tests, empty_ranges);
  tcase_add_test(tests, keep_runs);
  tcase_add_test(tests, clear_in);
  tcase_add_test(tests, words);
  tcase_add_test(tests, stays_inside);
  tcase_add_test(tests, bytes);
  tcase_set_timeout(tests, 60);
  suite_add_tcase(suite, tests);
  return suite_run(suite);
}
