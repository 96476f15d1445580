/* Testudo: tests of when full collections are due, in numbers.
   SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include "test/suite.h"
#include "trace/full.h"

#define MIB ((double)(1 << 20))

/* What a collection of SIZE found that left SURVIVED and scanned that. */
static tdo_full_facts_t facts(double size, double survived, size_t writes) {
  return (tdo_full_facts_t){.filled = size, .survived = survived,
                            .scanned = survived, .size = survived,
                            .writes = writes};
}

/* After it, where 16 GiB are available and 1,000 writes are known. */
static tdo_full_t after(double size, double survived) {
  tdo_full_t full = {0};
  tdo_full_facts_t found = facts(size, survived, 1000);
  if (tdo_full_collected(&full, &found))
    tdo_full_build(&full, 16384 * MIB);
  return full;
}

/* The same when WRITES are known as soon as it is over. */
static tdo_full_t after_writes(double size, double survived, size_t writes) {
  tdo_full_t full = after(size, survived);
  ck_assert(!tdo_full_grown(&full, 0, writes));
  return full;
}

/* Is one due after MOST, and not before? */
static void check_most(tdo_full_t full, double most, size_t writes) {
  ck_assert(!tdo_full_grown(&full, most, writes));
  ck_assert(tdo_full_grown(&full, most + 1, writes));
}

START_TEST(first) {
  tdo_full_t full = {0};
  check_most(full, 16 * MIB, 0);
}
END_TEST

/* Where much died, or writes are seen or cannot be, growth is by what
   survived. */
START_TEST(by_survivors) {
  check_most(after(100 * MIB, 10 * MIB), 24 * MIB, 1000);
  check_most(after(100 * MIB, 70 * MIB), 70 * MIB, 1000);
  check_most(after(100 * MIB, 80 * MIB), 160 * MIB, 1000);
  check_most(after_writes(100 * MIB, 96 * MIB, 2000), 288 * MIB, 2000);
  check_most(after_writes(100 * MIB, 96 * MIB, SIZE_MAX), 288 * MIB, 2000);
}
END_TEST

/* So it is where all lives for once, and the time before much did not. */
START_TEST(by_chance) {
  tdo_full_t full = {0};
  tdo_full_facts_t found = facts(100 * MIB, 96 * MIB, 1000);
  found.sparse = true;
  ck_assert(!tdo_full_collected(&full, &found));
  check_most(full, 288 * MIB, 1000);
  found.sparse = false;
  ck_assert(tdo_full_collected(&full, &found));
}
END_TEST

/* Room between survivors counts by half, and so the heap does not grow for
   ever where all that was promoted stays in place, with room in it: each time
   a full collection finds LIVE bytes. */
START_TEST(by_room) {
  double live = 100 * MIB, fresh = live;
  tdo_full_t full = {0};
  tdo_full_facts_t found = facts(200 * MIB, live, 1000);
  found.size = 160 * MIB;
  ck_assert(!tdo_full_collected(&full, &found));
  check_most(full, 130 * MIB, 1000);
  for (int i = 0; i < 100; ++i) {
    found.filled = found.size + fresh;
    found.size = live + fresh;
    ck_assert(!tdo_full_collected(&full, &found));
    for (fresh = 0; !tdo_full_grown(&full, fresh, 1000); fresh += MIB)
      ck_assert(fresh < 2.1 * live);
  }
  ck_assert(fresh > 1.9 * live);
}
END_TEST

/* A full collection that would scan at most twice what minor ones do is due
   for less: here one that would find 2 MiB to live, and a quarter of what
   came. */
START_TEST(cheap) {
  tdo_full_t full = after(8 * MIB, 2 * MIB);
  for (int i = 0; i < 100; ++i)
    tdo_full_minor(&full, MIB, 0);
  check_most(full, 24 * MIB, 1000);
  for (int i = 0; i < 3; ++i)
    tdo_full_minor(&full, 2 * MIB, 0);
  check_most(full, 4 * MIB, 1000);
}
END_TEST

/* Else by what the system has, or far. */
START_TEST(built) {
  check_most(after(300 * MIB, 290 * MIB), 5 * 290 * MIB, 1000);
  check_most(after(20 * MIB, 20 * MIB), 1024 * MIB, 1000);
  check_most(after(1024 * MIB, 1024 * MIB), 4096 * MIB, 1000);
  check_most(after(2048 * MIB, 2048 * MIB), 3 * 2048 * MIB, 1000);
}
END_TEST

/* Not by a heap that is small, nor where nobody knew of writes, nor where large
   roots may hold it. */
START_TEST(not_built) {
  tdo_full_t full = {0};
  tdo_full_facts_t found = facts(96 * MIB, 96 * MIB, SIZE_MAX);
  ck_assert(!tdo_full_collected(&full, &found));
  check_most(full, 3 * 96 * MIB, 1000);
  check_most(after(11 * MIB, 11 * MIB), 33 * MIB, 1000);
  found.writes = 1000;
  found.rooted = 7 * MIB;
  ck_assert(!tdo_full_collected(&full, &found));
  check_most(full, 3 * 96 * MIB, 1000);
  found.rooted = 5 * MIB;
  ck_assert(tdo_full_collected(&full, &found));
}
END_TEST

/* When writes begin, what was built counts as found alive, and as much again is
   due to come. */
START_TEST(begun) {
  tdo_full_t full = after(64 * MIB, 64 * MIB);
  size_t few = 1000 + (64 << 20) / 4096 / 256 + (256 << 20) / 4096 / 1024;
  ck_assert(!tdo_full_grown(&full, 300 * MIB, few));
  ck_assert(!tdo_full_grown(&full, 250 * MIB, few + 1));
  check_most(full, (64 + 2 * 250) * MIB, few + 1);
}
END_TEST

/* Where hardly anything was built, that tells nothing. */
START_TEST(ended) {
  tdo_full_t full = after(100 * MIB, 100 * MIB);
  ck_assert(!tdo_full_grown(&full, 10 * MIB, 1000));
  ck_assert(tdo_full_ended(&full) <= 0); /* it is still built */
  ck_assert(!tdo_full_grown(&full, 10 * MIB, 2000));
  ck_assert(tdo_full_ended(&full) <= 0);
  check_most(full, (3 * 100 + 2 * 10) * MIB, 2000);
  full = after(100 * MIB, 100 * MIB);
  ck_assert(!tdo_full_grown(&full, 11 * MIB, 2000));
  ck_assert_double_eq(tdo_full_ended(&full), 111 * MIB);
  check_most(full, (100 + 2 * 11) * MIB, 2000);
  full = after(20 * MIB, 20 * MIB);
  ck_assert(!tdo_full_grown(&full, 80 * MIB, 2000)); /* hardly anything else */
  ck_assert_double_eq(tdo_full_ended(&full), 100 * MIB);
  check_most(full, (3 * 20 + 2 * 80) * MIB, 2000);
}
END_TEST

static void let_go_times(tdo_full_t *full, size_t n) {
  while (n-- > 0)
    tdo_full_let_go(full);
}

/* When a few words let go of old objects, growth is by what survived, whatever
   was built. If all was alive, they may do so twice as often the next time, and
   as before when it was not. */
START_TEST(let_go) {
  tdo_full_t full = after(64 * MIB, 64 * MIB);
  tdo_full_facts_t found = facts(128 * MIB, 128 * MIB, 1000);
  let_go_times(&full, 4);
  ck_assert(!tdo_full_grown(&full, 300 * MIB, 1000));
  tdo_full_let_go(&full);
  ck_assert(tdo_full_ended(&full) <= 0);
  check_most(full, 3 * 64 * MIB, 1000);
  ck_assert(tdo_full_collected(&full, &found));
  let_go_times(&full, 8);
  ck_assert(full.building);
  tdo_full_let_go(&full);
  ck_assert(!full.building);
  found.survived = 20 * MIB;
  ck_assert(!tdo_full_collected(&full, &found));
  found.survived = 128 * MIB;
  ck_assert(tdo_full_collected(&full, &found));
  let_go_times(&full, 4);
  ck_assert(full.building);
  tdo_full_let_go(&full);
  ck_assert(!full.building);
}
END_TEST

/* Then it comes as soon as minor ones have taken as long as it would, if what
   came by then is half of what had survived. */
START_TEST(paid) {
  tdo_full_t full = {0};
  tdo_full_facts_t found = facts(64 * MIB, 64 * MIB, 0);
  found.ns = 64 * MIB; /* one for each byte */
  ck_assert(tdo_full_collected(&full, &found));
  tdo_full_minor(&full, MIB, 1000 * MIB);
  ck_assert(!tdo_full_grown(&full, 100 * MIB, 0)); /* it is still built */
  ck_assert(tdo_full_collected(&full, &found));
  tdo_full_minor(&full, MIB, 100 * MIB);
  ck_assert(!tdo_full_grown(&full, 30 * MIB, 1000)); /* .built */
  ck_assert(!tdo_full_grown(&full, 32 * MIB, 1000));
  ck_assert(tdo_full_grown(&full, 33 * MIB, 1000));
  ck_assert(tdo_full_grown(&full, 35 * MIB, 1000));
  ck_assert(!tdo_full_grown(&full, 37 * MIB, 1000)); /* it would take longer */
  tdo_full_minor(&full, MIB, MIB + 1);
  ck_assert(tdo_full_grown(&full, 37 * MIB, 1000));
}
END_TEST

/* After a collection of SIZE, a nanosecond a byte, that left SURVIVED. */
static void collected(tdo_full_t *full, double size, double survived) {
  tdo_full_facts_t found = facts(size, survived, 1000);
  found.ns = size;
  (void)tdo_full_collected(full, &found);
}

/* One that is little work comes early, once it has been for long; what it finds
   alive does not tell that something is built. */
START_TEST(easy) {
  tdo_full_t full = {0};
  ck_assert(isinf(tdo_full_wait(&full, 100 * MIB))); /* nothing is known */
  collected(&full, 200 * MIB, 120 * MIB);
  ck_assert(isinf(tdo_full_wait(&full, 30 * MIB)));
  ck_assert_double_eq(tdo_full_wait(&full, 40 * MIB), 30 * 160 * MIB);
  ck_assert(isinf(tdo_full_wait(&full, 40 * MIB))); /* asked already */
  ck_assert_double_eq(tdo_full_wait(&full, 80 * MIB), 30 * 200 * MIB);
  tdo_full_begin_early(&full);
  collected(&full, 200 * MIB, 195 * MIB); /* in vain */
  ck_assert(!full.building);
  check_most(full, 195 * MIB, 1000);
  ck_assert_double_eq(tdo_full_wait(&full, 50 * MIB), 60 * 245 * MIB);
  tdo_full_begin_early(&full);
  collected(&full, 240 * MIB, 200 * MIB);
  ck_assert_double_eq(tdo_full_wait(&full, 60 * MIB), 30 * 260 * MIB);
  collected(&full, 300 * MIB, 299 * MIB); /* not for that: it is built */
  ck_assert(full.building && isinf(tdo_full_wait(&full, 200 * MIB)));
}
END_TEST

/* Where nothing is known of the system's memory, as it always was. */
START_TEST(unknown) {
  tdo_full_t full = {0};
  tdo_full_facts_t found = facts(96 * MIB, 96 * MIB, 0);
  ck_assert(tdo_full_collected(&full, &found));
  tdo_full_build(&full, 0);
  check_most(full, 3 * 96 * MIB, 0);
}
END_TEST

SUITE_MAIN("full", 10, first, by_survivors, by_chance, by_room, cheap, built,
           not_built, begun, ended, let_go, paid, easy, unknown)
