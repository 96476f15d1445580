/* Testudo: tests of when small heaps are collected as a whole, in numbers.
   SPDX-License-Identifier: BSD-2-Clause */
#include "test/suite.h"
#include "trace/small.h"

#define MIB ((double)(1 << 20))

static bool due(tdo_small_t *small, double old) {
  return tdo_small_due(small, old * MIB, MIB, 0.1);
}

/* Only small ones, and where that keeps well within the pause time. */
START_TEST(by_size) {
  tdo_small_t small = {0};
  ck_assert(due(&small, 0));
  ck_assert(due(&small, 8));
  ck_assert(!due(&small, 8.1));
  ck_assert(tdo_small_due(&small, 0.2 * MIB, 0.5 * MIB, 0.01));
  ck_assert(!tdo_small_due(&small, 0.5 * MIB, 0.5 * MIB, 0.01));
  ck_assert(!tdo_small_due(&small, 0, 0.5 * MIB, 0));
}
END_TEST

/* Minor collections before the next one is due. */
static unsigned minors(tdo_small_t *small) {
  unsigned n = 0;
  while (!due(small, 3) && n < 1000)
    ++n;
  return n;
}

static unsigned minors_after(tdo_small_t *small, double old, double survived) {
  tdo_small_collected(small, old * MIB, survived * MIB, MIB);
  return minors(small);
}

/* Where nearly all of the old survives, minor ones come first: twice as many
   each time, up to 64, and none when something dies again. */
START_TEST(dense) {
  tdo_small_t small = {0};
  ck_assert_uint_eq(minors_after(&small, 2, 1), 0);
  for (unsigned n = 1; n <= 64; n *= 2)
    ck_assert_uint_eq(minors_after(&small, 2, 1.9), n);
  ck_assert_uint_eq(minors_after(&small, 2, 1.9), 64);
  ck_assert_uint_eq(minors_after(&small, 2, 1.3), 0);
  ck_assert_uint_eq(minors_after(&small, 2, 1.9), 1);
}
END_TEST

/* What is little beside a nursery is collected with it in any case. */
START_TEST(little) {
  tdo_small_t small = {0};
  ck_assert_uint_eq(minors_after(&small, 0.4, 0.4), 0);
  ck_assert_uint_eq(minors_after(&small, 0.6, 0.6), 1);
}
END_TEST

/* Where much survives, minor ones come first, too. */
START_TEST(much) {
  tdo_small_t small = {0};
  ck_assert_uint_eq(minors_after(&small, 7, 3.9), 0);
  ck_assert_uint_eq(minors_after(&small, 7, 4.1), 1);
}
END_TEST

/* A heap that is too large does not use up what it is to wait. */
START_TEST(waits) {
  tdo_small_t small = {0};
  tdo_small_collected(&small, 2 * MIB, 2 * MIB, MIB);
  ck_assert(!due(&small, 9));
  ck_assert(!due(&small, 2));
  ck_assert(due(&small, 2));
}
END_TEST

static bool due_marked(double size, double survived, double old) {
  tdo_small_t small = {0};
  tdo_small_collected(&small, 2 * MIB, 2 * MIB, MIB); /* it would wait */
  tdo_small_marked(&small, size * MIB, survived * MIB);
  return due(&small, old);
}

/* What was marked in place and is mostly room is copied next, if what is no
   room is little. */
START_TEST(loose) {
  ck_assert(due_marked(16, 5, 16));
  ck_assert(due_marked(16, 5, 19));
  ck_assert(!due_marked(16, 5, 19.1));
  ck_assert(!due_marked(16, 8, 16));
  ck_assert(!due_marked(4, 2, 4));
  ck_assert(due_marked(32, 7, 32));
  ck_assert(!due_marked(32.1, 7, 32));
}
END_TEST

/* Once. */
START_TEST(tightened) {
  tdo_small_t small = {0};
  tdo_small_marked(&small, 16 * MIB, 5 * MIB);
  ck_assert(due(&small, 16));
  tdo_small_collected(&small, 16 * MIB, 5 * MIB, MIB);
  ck_assert(!due(&small, 16));
  ck_assert(!due(&small, 5)); /* much survived */
  ck_assert(due(&small, 5));
  tdo_small_marked(&small, 16 * MIB, 5 * MIB);
  tdo_small_marked(&small, 16 * MIB, 15 * MIB);
  ck_assert(!due(&small, 16));
}
END_TEST

SUITE_MAIN("small", 10, by_size, dense, little, much, waits, loose, tightened)
