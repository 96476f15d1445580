/* Testudo: tests of the sizes of the default chain's generations, in numbers.
   SPDX-License-Identifier: BSD-2-Clause */
#include <stdint.h>
#include "test/suite.h"
#include "trace/nursery.h"

#define MIB ((double)(1 << 20))

/* The nursery, and the middle generation, in MiB. */
static double nursery, middle;
static double copied; /* with the last one */
static double rooted; /* beside the heap */
static double stayed; /* in the middle one, for good */
static bool unused;   /* the nursery */

/* What they get in a heap of so much, OLD of it beyond the chain, if they had
   better have so much. */
static void sizes_old(double heap, double old, double wished,
                      double wished_middle, double pause, double limit) {
  tdo_nursery_facts_t facts = {.heap = heap * MIB,
                               .old = old * MIB,
                               .rooted = rooted * MIB,
                               .copied = copied * MIB,
                               .stayed = stayed * MIB,
                               .unused = unused,
                               .pause_time = pause,
                               .commit_limit = limit * MIB,
                               .least = MIB};
  nursery = wished * MIB;
  middle = wished_middle * MIB;
  tdo_nursery_sizes(&nursery, &middle, &facts);
  nursery /= MIB;
  middle /= MIB;
}

/* The same where nearly all is old. */
static void sizes(double heap, double wished, double wished_middle,
                  double pause, double limit) {
  sizes_old(heap, heap, wished, wished_middle, pause, limit);
}

static void check_sizes(double expected_nursery, double expected_middle) {
  ck_assert_double_eq_tol(nursery, expected_nursery, 0.01);
  ck_assert_double_eq_tol(middle, expected_middle, 0.01);
}

/* Small while the heap is; the middle one bounded by both. */
START_TEST(by_heap) {
  sizes(0, 1, 1, 0.1, 1e6);
  check_sizes(1, 0.125);
  sizes(3, 1, 4, 0.1, 1e6);
  check_sizes(1, 3);
  sizes(30, 1, 16, 0.1, 1e6);
  check_sizes(3.75, 15);
  sizes(1000, 1, 1, 0.1, 1e6);
  check_sizes(8, 32);
  sizes(1000, 100, 1, 0.1, 1e6);
  check_sizes(64, 36);
  sizes(100, 100, 50, 0.1, 1e6);
  check_sizes(25, 36);
  sizes(10, 100, 2, 0.1, 1e6);
  check_sizes(8, 2);
  sizes(2, 100, 2, 0.1, 1e6); /* no larger than the heap */
  check_sizes(2, 2);
}
END_TEST

/* What is scanned besides counts as heap, but takes no part of a limit. */
START_TEST(by_rooted) {
  rooted = 30;
  sizes(0, 1, 1, 0.1, 1e6);
  check_sizes(3.75, 0.47);
  sizes(2, 100, 2, 0.1, 1e6);
  check_sizes(8, 2);
  rooted = 100;
  sizes(2, 100, 2, 0.1, 1e6);
  check_sizes(25.5, 3.19);
  sizes(10, 100, 10, 0.1, 40);
  check_sizes(10, 10);
  rooted = 0;
  sizes(10, 100, 10, 0.1, 30);
  check_sizes(5, 5);
  rooted = 100;
  sizes(10, 100, 10, 0.1, 30);
  check_sizes(5, 5);
  rooted = 0;
}
END_TEST

/* As much is to be made as what stays in the middle one, if there is room. */
START_TEST(by_stayed) {
  stayed = 90;
  sizes(100, 1, 1, 0.1, 1e6);
  check_sizes(8, 90);
  sizes(100, 1, 200, 0.1, 1e6);
  check_sizes(8, 90);
  sizes(100, 1, 1, 0.1, 300);
  check_sizes(8, 50);
  stayed = 3;
  sizes(100, 1, 20, 0.1, 1e6);
  check_sizes(8, 32);
  stayed = 0;
}
END_TEST

/* What a nursery may have, in MiB, if so many are scanned besides in a heap of
   HEAP. */
static double beside(double heap, double scanned, double pause, double limit) {
  tdo_nursery_facts_t facts = {.heap = heap * MIB,
                               .pause_time = pause,
                               .commit_limit = limit * MIB,
                               .least = MIB};
  return tdo_nursery_beside(&facts, scanned * MIB) / MIB;
}

START_TEST(by_beside) {
  ck_assert_double_eq_tol(beside(100, 0.4, 0.1, 1e6), 0.05, 0.01);
  ck_assert_double_eq_tol(beside(100, 80, 0.1, 1e6), 10, 0.01);
  ck_assert_double_eq_tol(beside(10, 80, 0.1, 1e6), 1.25, 0.01);
  ck_assert_double_eq_tol(beside(2000, 1900, 0.1, 1e6), 64, 0.1);
  ck_assert_double_eq_tol(beside(1000, 900, 0.01, 1e6), 6.48, 0.01);
  ck_assert_double_eq_tol(beside(100, 80, 0.1, 160), 7.5, 0.01);
}
END_TEST

/* The middle one is a nursery where nothing is made in that. */
START_TEST(by_unused) {
  unused = true;
  sizes(0, 1, 0.1, 0.1, 1e6);
  check_sizes(1, 1);
  sizes(1000, 1, 1, 0.1, 1e6);
  check_sizes(8, 32);
  unused = false;
}
END_TEST

/* As large as what is copied each time, if that is all that lives in a heap
   which is not too large for it. */
START_TEST(by_copied) {
  copied = 12;
  sizes(20, 100, 2, 0.1, 1e6);
  check_sizes(12, 12);
  sizes(10, 100, 2, 0.1, 1e6);
  check_sizes(10, 2);
  copied = 30;
  sizes(40, 100, 32, 0.1, 1e6);
  check_sizes(30, 32);
  copied = 70;
  sizes(90, 100, 100, 0.1, 1e6);
  check_sizes(64, 36);
  copied = 30;
  sizes(20, 100, 100, 0.1, 64);
  check_sizes(12, 12);
  copied = 3;
  sizes(10, 100, 2, 0.1, 1e6);
  check_sizes(8, 2);
  copied = 0;
}
END_TEST

/* The middle one as it had better be while the heap is small, and not far below
   what bounds it when it is not. */
START_TEST(as_wished) {
  sizes(6, 4, 0.01, 0.1, 1e6);
  check_sizes(4, 0.5);
  sizes(6, 4, 1.5, 0.1, 1e6);
  check_sizes(4, 1.5);
  sizes(11, 4, 1.5, 0.1, 1e6);
  check_sizes(4, 3);
  sizes(40, 6, 1.5, 0.1, 1e6);
  check_sizes(6, 24);
}
END_TEST

/* Its own garbage does not let the middle one grow. */
START_TEST(by_old) {
  sizes_old(40, 4, 6, 1.5, 0.1, 1e6);
  check_sizes(6, 1.5);
  sizes_old(40, 20, 6, 1.5, 0.1, 1e6);
  check_sizes(6, 12);
}
END_TEST

/* It grows where much of it survives, and shrinks where next to nothing
   does. */
START_TEST(middle_found) {
  ck_assert_double_eq(tdo_nursery_middle(2, 100, 90), 8);
  ck_assert_double_eq(tdo_nursery_middle(2, 100, 30), 4);
  ck_assert_double_eq(tdo_nursery_middle(2, 100, 10), 2);
  ck_assert_double_eq(tdo_nursery_middle(2, 100, 1), 1);
}
END_TEST

/* No larger than what can be copied in a pause. */
START_TEST(by_limits) {
  sizes(1000, 100, 100, 0.01, 1e6);
  check_sizes(6.8e6 / MIB, 4 * 6.8e6 / MIB);
  sizes(1000, 100, 100, 0, 1e6);
  check_sizes(1, 4);
}
END_TEST

/* All may be copied at once, under a commit limit; or else a part of that, and
   of what is left. */
START_TEST(by_commit_limit) {
  sizes(20, 100, 100, 0.1, 64);
  check_sizes(8, 12);
  sizes(30, 100, 100, 0.1, 64);
  check_sizes(4, 4);
  sizes(50, 100, 100, 0.1, 64);
  check_sizes(1.75, 1.75);
  sizes(63, 100, 100, 0.1, 64);
  check_sizes(1, 0.125);
}
END_TEST

static double share = 0.5; /* of a nursery, that survives */
static double most = 64 * MIB; /* that it may have */

/* TIMES nurseries of SIZE take COST ns a byte, and more than their share of the
   time: the size that comes of it. */
static double collect(tdo_nursery_t *n, double size, double cost,
                      unsigned times) {
  tdo_nursery_found_t found = {size, share * size, share * size, most};
  for (unsigned i = 0; i < times; ++i) {
    tdo_nursery_note(n, cost * size, size, share * size);
    size = tdo_nursery_adapt(n, size, 0.3, &found);
  }
  return size;
}

/* A trial that saves time stays; one that does not is undone, and not repeated
   for a time that doubles. */
START_TEST(tried) {
  tdo_nursery_t n = {0};
  double size = collect(&n, MIB, 1.0, 2);
  ck_assert_double_eq(size, MIB);
  size = collect(&n, size, 1.0, 1);
  ck_assert_double_eq(size, 2 * MIB);
  size = collect(&n, size, 0.5, 3);
  ck_assert_double_eq(size, 4 * MIB); /* the next trial */
  size = collect(&n, size, 0.45, 3);
  ck_assert_double_eq(size, 2 * MIB);
  ck_assert_uint_eq(n.hold, 8);
  size = collect(&n, size, 0.5, 7);
  ck_assert_double_eq(size, 2 * MIB);
  size = collect(&n, size, 0.5, 1);
  ck_assert_double_eq(size, 4 * MIB);
  size = collect(&n, size, 0.5, 3);
  ck_assert_double_eq(size, 2 * MIB);
  ck_assert_uint_eq(n.hold, 16);
  for (unsigned i = 0; i < 20; ++i)
    size = collect(&n, collect(&n, size, 0.5, n.hold), 0.5, 3);
  ck_assert_double_eq(size, 2 * MIB);
  ck_assert_uint_eq(n.hold, 256);
}
END_TEST

/* Where it cannot be doubled a trial is of what it may have, if that is much
   more, and undone to what it was; a little more it gets without a trial. */
START_TEST(bounded) {
  tdo_nursery_t n = {0};
  most = 1.8 * MIB;
  ck_assert_double_eq(collect(&n, MIB, 1.0, 3), most);
  ck_assert_double_eq(collect(&n, most, 1.0, 3), MIB);
  ck_assert_uint_eq(n.hold, 8);
  n = (tdo_nursery_t){0};
  most = 1.2 * MIB;
  ck_assert_double_eq(collect(&n, MIB, 1.0, 3), most);
  ck_assert_double_eq(collect(&n, most, 1.0, 8), most);
  ck_assert_uint_eq(n.hold, 0);
  most = MIB / 2; /* the heap has shrunk: that is not this function's */
  ck_assert_double_eq(collect(&n, MIB, 1.0, 3), MIB);
  most = 64 * MIB;
}
END_TEST

/* Where another share survives than before, nothing is undone. */
START_TEST(not_compared) {
  tdo_nursery_t n = {0};
  double size = collect(&n, MIB, 1.0, 3);
  ck_assert_double_eq(size, 2 * MIB);
  share = 0.3;
  ck_assert_double_eq(collect(&n, size, 1.0, 2), 2 * MIB);
  ck_assert_double_eq(collect(&n, size, 1.0, 1), 4 * MIB);
  share = 0.33; /* much the same */
  ck_assert_double_eq(collect(&n, 2 * size, 1.0, 3), size);
  n = (tdo_nursery_t){0};
  ck_assert_double_eq(collect(&n, MIB, 1.0, 3), 2 * MIB);
  share = 0.6;
  ck_assert_double_eq(collect(&n, 2 * MIB, 1.0, 2), 2 * MIB);
  ck_assert_double_eq(collect(&n, 2 * MIB, 1.0, 1), 4 * MIB);
  share = 0.5;
}
END_TEST

/* Collections that looked at little of the nursery tell nothing of its cost:
   there is no trial, and none is judged. */
START_TEST(not_noted) {
  tdo_nursery_t n = {0};
  tdo_nursery_found_t found = {MIB, MIB / 2, MIB / 2, most};
  for (unsigned i = 0; i < 8; ++i)
    ck_assert_double_eq(tdo_nursery_adapt(&n, MIB, 0.3, &found), MIB);
  ck_assert_double_eq(collect(&n, MIB, 1.0, 3), 2 * MIB);
  for (unsigned i = 0; i < 8; ++i)
    ck_assert_double_eq(tdo_nursery_adapt(&n, 2 * MIB, 0.3, &found), 2 * MIB);
}
END_TEST

static double once(double size, double time, double survived, double scanned) {
  tdo_nursery_t n = {0};
  tdo_nursery_found_t found = {size, survived * size, scanned * size, most};
  for (unsigned i = 0; i < 8; ++i)
    tdo_nursery_note(&n, size, size, survived * size);
  n.runs = 2;
  return tdo_nursery_adapt(&n, size, time, &found) / size;
}

/* Where collecting is dear, and that is not for what survives. */
START_TEST(when) {
  ck_assert_double_eq(once(MIB, 0.3, 0.5, 0.5), 2);
  ck_assert_double_eq(once(MIB, 0.3, 0.9, 2.0), 2);
  ck_assert_double_eq(once(MIB, 0.3, 0.9, 0.9), 1);
  ck_assert_double_eq(once(MIB, 0.2, 0.5, 0.5), 1);
  ck_assert_double_eq(once(MIB / 2, 0.39, 0.5, 0.5), 1);
  ck_assert_double_eq(once(MIB / 2, 0.41, 0.5, 0.5), 2);
  ck_assert_double_eq(once(8 * MIB, 0.2, 0.5, 0.5), 2);
  ck_assert_double_eq(once(8 * MIB, 0.1, 0.5, 0.5), 1);
  ck_assert_double_eq(once(8 * MIB, 0.02, 0.5, 0.5), 0.5);
  ck_assert_double_eq(once(MIB, 0.02, 0.5, 0.5), 0.5);
}
END_TEST

SUITE_MAIN("nursery", 10, by_heap, by_rooted, by_stayed, by_beside, by_unused,
           by_copied, as_wished, by_old, middle_found, by_limits,
           by_commit_limit, tried, bounded, not_compared, not_noted, when)
