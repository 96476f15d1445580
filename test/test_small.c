/* Testudo: tests of when small heaps are collected as a whole, in numbers.
   SPDX-License-Identifier: BSD-2-Clause */
#include "test/suite.h"
#include "trace/small.h"

#define MIB ((double)(1 << 20))

static bool due(const tdo_small_t *small, double old) {
  return tdo_small_due(small, old * MIB, MIB, 0.1);
}

/* Only small ones, and where that keeps well within the pause time. */
START_TEST(by_size) {
  tdo_small_t small = {0};
  ck_assert(due(&small, 0));
  ck_assert(due(&small, 16));
  ck_assert(!due(&small, 16.1));
  ck_assert(tdo_small_due(&small, 1.7 * MIB, 0.5 * MIB, 0.01));
  ck_assert(!tdo_small_due(&small, 2 * MIB, 0.5 * MIB, 0.01));
  ck_assert(!tdo_small_due(&small, 0, 0.5 * MIB, 0));
}
END_TEST

/* The last one, of so much that was old, was this one. */
static tdo_small_t after(double old, double survived) {
  tdo_small_t small = {0};
  tdo_small_collected(&small, old * MIB, survived * MIB);
  return small;
}

/* The next one is due when half as much as survived has come. */
START_TEST(growth) {
  tdo_small_t small = after(4, 2);
  ck_assert(!due(&small, 2));
  ck_assert(!due(&small, 3));
  ck_assert(due(&small, 3.1));
  small = after(2, 1.79);
  ck_assert(due(&small, 1.5 * 1.8));
}
END_TEST

/* Where nearly all of the old survived, when it is three times as large; but
   once more before it is too large to be looked at. */
START_TEST(dense) {
  tdo_small_t small = after(2, 1.81);
  ck_assert(!due(&small, 5.4));
  ck_assert(due(&small, 5.5));
  small = after(6, 6);
  ck_assert(!due(&small, 14.3));
  ck_assert(due(&small, 14.5));
  small = after(10, 10);
  ck_assert(!due(&small, 14.9));
  ck_assert(due(&small, 15.1));
  small = after(15, 15);
  ck_assert(!due(&small, 16));
}
END_TEST

/* What is little beside a nursery is collected with it in any case. */
START_TEST(little) {
  tdo_small_t small = after(0.4, 0.4);
  ck_assert(due(&small, 0.4));
  small = after(0.6, 0.6);
  ck_assert(due(&small, 0.5));
  ck_assert(!due(&small, 0.6));
}
END_TEST

static bool due_marked(double size, double survived, double old) {
  tdo_small_t small = after(2, 2);
  tdo_small_marked(&small, size * MIB, survived * MIB);
  return due(&small, old);
}

/* What was marked in place and is mostly room is copied next, if what is no
   room is little. */
START_TEST(loose) {
  ck_assert(due_marked(16, 5, 16));
  ck_assert(due_marked(16, 5, 27));
  ck_assert(!due_marked(16, 5, 27.1));
  ck_assert(!due_marked(16, 8, 11));
  ck_assert(due_marked(16, 8, 12.1)); /* .growth */
  ck_assert(!due_marked(4, 2, 3));
  ck_assert(due_marked(32, 15, 32));
  ck_assert(!due_marked(32.1, 15, 32.1));
}
END_TEST

/* Once. */
START_TEST(tightened) {
  tdo_small_t small = {0};
  tdo_small_marked(&small, 16 * MIB, 5 * MIB);
  ck_assert(due(&small, 16.1));
  tdo_small_collected(&small, 16 * MIB, 5 * MIB);
  ck_assert(!due(&small, 16.1));
  ck_assert(!due(&small, 7.5));
  ck_assert(due(&small, 7.6));
  tdo_small_marked(&small, 16 * MIB, 5 * MIB);
  tdo_small_marked(&small, 16 * MIB, 15 * MIB);
  ck_assert(!due(&small, 16.1));
}
END_TEST

SUITE_MAIN("small", 10, by_size, growth, dense, little, loose, tightened)
