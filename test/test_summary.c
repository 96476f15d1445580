/* Testudo: the summary of pages against a table of bytes, at random.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "test/random.h"
#include "test/require.h"
#include "test/suite.h"
#include "trace/summary.h"

enum { PAGES = 1000, BLOCKS = 16, ROUNDS = 20000, RUN = 100 };

static uint8_t memory[(size_t)PAGES * 2];
static uint8_t model[PAGES];
static tdo_summary_t summary;

static void start(bool blocks) {
  memset(memory, 0, sizeof memory);
  memset(model, 0, sizeof model);
  REQUIRE(tdo_summary_bytes(PAGES) <= sizeof memory);
  tdo_summary_init(&summary, PAGES, memory);
  if (!blocks)
    summary.block = NULL;
}

static size_t model_next(size_t p, size_t limit, uint8_t mask) {
  while (p < limit && (model[p] & mask) == 0)
    ++p;
  return p;
}

static void change(void) {
  size_t first = random_below(PAGES);
  size_t limit = tdo_min(PAGES, first + random_below(RUN));
  uint8_t bits = (uint8_t)(1u << random_below(8));

  switch (random_below(5)) {
  case 0:
    tdo_summary_set(&summary, first, limit, bits);
    memset(model + first, bits, limit - first);
    break;
  case 1:
    tdo_summary_set(&summary, first, limit, 0);
    memset(model + first, 0, limit - first);
    break;
  case 2:
    tdo_summary_add(&summary, first, limit, bits);
    for (size_t p = first; p < limit; ++p)
      model[p] |= bits;
    break;
  case 3:
    bits &= (uint8_t)~TDO_DIRTY;
    tdo_summary_found(&summary, first, limit, bits);
    for (size_t p = first; p < limit; ++p)
      model[p] = (uint8_t)((model[p] & TDO_DIRTY) | bits);
    break;
  default:
    tdo_summary_clean(&summary, first, limit);
    for (size_t p = first; p < limit; ++p)
      model[p] &= (uint8_t)~TDO_DIRTY;
  }
}

static void look(void) {
  size_t p = random_below(PAGES + 1);
  size_t limit = p + random_below(PAGES + 1 - p);
  uint8_t mask = (uint8_t)random_below(256);
  size_t found = tdo_summary_next(&summary, p, limit, mask), end = found;
  size_t dirty = 0;

  ck_assert_uint_eq(found, model_next(p, limit, mask));
  while (end < limit && (model[end] & mask))
    ++end;
  ck_assert_uint_eq(tdo_summary_run(&summary, found, limit, mask), end);
  for (size_t i = 0; i < limit; ++i)
    dirty += (model[i] & TDO_DIRTY) != 0;
  ck_assert_uint_eq(tdo_summary_dirty(&summary, limit), dirty);
}

static void at_random(bool blocks) {
  random_start();
  start(blocks);
  for (int i = 0; i < ROUNDS; ++i) {
    change();
    look();
    REQUIRE(memcmp(summary.page, model, PAGES) == 0);
    REQUIRE(tdo_summary_check(&summary, PAGES));
  }
}

START_TEST(test_with_blocks) {
  at_random(true);
}
END_TEST

START_TEST(test_without_blocks) {
  at_random(false);
}
END_TEST

/* Who looks in vain makes the byte of a block exact: the next one passes it
   by, and so finds the only page in question in the only block. */
START_TEST(test_exact) {
  start(true);
  tdo_summary_set(&summary, 0, PAGES, TDO_DIRTY);
  tdo_summary_set(&summary, 0, PAGES, 1);
  tdo_summary_add(&summary, 700, 701, TDO_DIRTY);
  ck_assert_uint_eq(summary.block[0], TDO_DIRTY | 1);
  ck_assert_uint_eq(tdo_summary_next(&summary, 0, PAGES, TDO_DIRTY), 700);
  for (size_t b = 0; b < BLOCKS; ++b)
    ck_assert_uint_eq(summary.block[b],
                      b < 700 / TDO_SUMMARY_BLOCK ? 1 : TDO_DIRTY | 1);
  ck_assert_uint_eq(tdo_summary_dirty(&summary, PAGES), 1);
  for (size_t b = 0; b < PAGES / TDO_SUMMARY_BLOCK; ++b)
    ck_assert_uint_eq(summary.block[b],
                      b != 700 / TDO_SUMMARY_BLOCK ? 1 : TDO_DIRTY | 1);
}
END_TEST

SUITE_MAIN("summary", 60, test_with_blocks, test_without_blocks, test_exact)
