/* Testudo: tests of when small heaps are collected as a whole, in numbers.
   SPDX-License-Identifier: BSD-2-Clause */
#include "test/suite.h"
#include "trace/small.h"

#define MIB ((double)(1 << 20))

/* With OLD MiB beyond a nursery of so many, all of which lived the last time; a
   minor collection looks at MINOR. */
static bool due_with(const tdo_small_t *small, double old, double nursery,
                     double minor, double pause) {
  tdo_small_facts_t facts = {.most = 16 * MIB, .old = old * MIB,
                             .nursery = nursery * MIB,
                             .alive = old * MIB,
                             .minor = minor * MIB, .pause = pause};
  return tdo_small_due(small, &facts);
}

static bool due(const tdo_small_t *small, double old) {
  return due_with(small, old, 1, 0.5, 0.1);
}

/* Only small ones, and where that keeps well within the pause time. */
START_TEST(by_size) {
  tdo_small_t small = {0};
  ck_assert(due(&small, 0));
  ck_assert(due(&small, 16));
  ck_assert(!due(&small, 16.1));
  ck_assert(due_with(&small, 8.1, 0.5, 1, 0.01));
  ck_assert(!due_with(&small, 8.2, 0.5, 1, 0.01));
  ck_assert(!due_with(&small, 0.1, 0.5, 1, 0));
}
END_TEST

/* As small as the settings say; or none is. */
START_TEST(by_setting) {
  tdo_small_t small = {0};
  tdo_small_facts_t facts = {.nursery = MIB, .pause = 1};
  ck_assert(!tdo_small_due(&small, &facts));
  facts.most = 40 * MIB;
  facts.old = 40 * MIB;
  ck_assert(tdo_small_due(&small, &facts));
  facts.old = 40.1 * MIB;
  ck_assert(!tdo_small_due(&small, &facts));
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

/* Or, where there is some, if that takes hardly longer than a minor one; but
   not if nothing old dies. */
START_TEST(quick) {
  tdo_small_t small = after(10, 8);
  tdo_small_facts_t facts = {.most = 16 * MIB, .old = 8 * MIB,
                             .nursery = 8 * MIB,
                             .alive = 8 * MIB, .pause = 0.1};
  ck_assert(!tdo_small_due(&small, &facts));
  facts.quick = true;
  ck_assert(tdo_small_due(&small, &facts));
  facts.old = 7.9 * MIB;
  ck_assert(!tdo_small_due(&small, &facts));
  facts.old = 17 * MIB; /* too large */
  ck_assert(!tdo_small_due(&small, &facts));
  facts.old = 8 * MIB;
  small = after(10, 8.1);
  ck_assert(!tdo_small_due(&small, &facts));
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
  ck_assert(due_marked(256, 16, 256));
  ck_assert(!due_marked(256.1, 16, 256.1));
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

/* A larger one, if minor collections are not much less work, and some of the
   old died the last time, however it was found. */
START_TEST(alike) {
  tdo_small_t small = after(30, 20);
  ck_assert(due_with(&small, 30.1, 8, 5.1, 0.1));
  ck_assert(!due_with(&small, 30.1, 8, 5, 0.1));
  ck_assert(!due_with(&small, 29.9, 8, 5.1, 0.1)); /* .growth */
  ck_assert(due_with(&small, 80, 8, 20, 0.1));
  ck_assert(!due_with(&small, 80.1, 8, 20, 0.1));
  ck_assert(due_with(&small, 30.1, 8, 5.1, 0.04));
  ck_assert(!due_with(&small, 30.1, 8, 5.1, 0.03));
  small = after(30, 24.1);
  ck_assert(!due_with(&small, 37, 8, 10, 0.1));
  tdo_small_marked(&small, 30 * MIB, 24 * MIB);
  ck_assert(due_with(&small, 37, 8, 10, 0.1));
  tdo_small_marked(&small, 30 * MIB, 24.1 * MIB);
  ck_assert(!due_with(&small, 37, 8, 10, 0.1));
}
END_TEST

/* What lives is taken to be a quarter more than the last time. */
START_TEST(alike_living) {
  tdo_small_t small = after(30, 20);
  tdo_small_facts_t facts = {.most = 16 * MIB, .old = 60 * MIB,
                             .nursery = 8 * MIB,
                             .alive = 20 * MIB, .minor = 4.17 * MIB,
                             .pause = 0.1};
  ck_assert(tdo_small_due(&small, &facts));
  facts.minor = 4.16 * MIB;
  ck_assert(!tdo_small_due(&small, &facts));
  facts.minor = 9.9 * MIB;
  facts.alive = 60 * MIB;
  ck_assert(!tdo_small_due(&small, &facts));
  facts.minor = 10 * MIB;
  ck_assert(tdo_small_due(&small, &facts));
}
END_TEST

static bool instead(double old, double alive, double pause) {
  tdo_small_t small = after(30, 20);
  tdo_small_facts_t facts = {.old = old * MIB, .nursery = 8 * MIB,
                             .alive = alive * MIB, .pause = pause};
  return tdo_small_instead(&small, &facts);
}

/* Instead of marking what is old, if what is taken to live is not nearly all of
   it, and the flip not too long for the pause time. */
START_TEST(instead_of_marking) {
  tdo_small_t small = after(30, 29);
  tdo_small_facts_t facts = {.old = 80 * MIB, .alive = 29 * MIB, .pause = 0.1};
  ck_assert(instead(80, 51, 0.1));
  ck_assert(!instead(80, 52, 0.1)); /* too much of it */
  ck_assert(instead(82, 52, 0.1));
  ck_assert(instead(182, 20, 0.01));
  ck_assert(!instead(183, 20, 0.01)); /* the flip */
  ck_assert(instead(183, 20, 0.011));
  ck_assert(instead(1024, 20, 0.1));
  ck_assert(!instead(1025, 20, 0.1));
  ck_assert(!tdo_small_instead(&small, &facts)); /* nothing had died, */
  facts.built = 51 * MIB; /* but what is old is more than what was built */
  ck_assert(tdo_small_instead(&small, &facts));
  facts.built = 52 * MIB;
  ck_assert(!tdo_small_instead(&small, &facts));
}
END_TEST

static const tdo_small_facts_t eighty_live = {
    .old = 200 * MIB, .alive = 80 * MIB, .pause = 0.1};

/* And where its flip would not be too long: to judge by the last one, */
START_TEST(by_flip) {
  tdo_small_t small = after(30, 20);
  tdo_small_facts_t facts = eighty_live;
  tdo_small_flipped(&small, 0.08, 100 * MIB, true);
  ck_assert(tdo_small_instead(&small, &facts));
  tdo_small_flipped(&small, 0.1, 100 * MIB, true);
  ck_assert(tdo_small_instead(&small, &facts));
  tdo_small_flipped(&small, 1, 100 * MIB, true); /* it may be by chance */
  ck_assert(tdo_small_instead(&small, &facts));
  facts.alive = 81 * MIB; /* 1.25 times that may live */
  ck_assert(!tdo_small_instead(&small, &facts));
  facts.alive = 80 * MIB;
  tdo_small_flipped(&small, 1, 100 * MIB, true);
  ck_assert(!tdo_small_instead(&small, &facts));
  tdo_small_flipped(&small, 0, 100 * MIB, false); /* which tells less */
  ck_assert(!tdo_small_instead(&small, &facts));
  tdo_small_flipped(&small, 0.1, 100 * MIB, true);
  ck_assert(tdo_small_instead(&small, &facts));
}
END_TEST

/* or as long as that by one in which nothing was copied. */
START_TEST(by_marking_flip) {
  tdo_small_t small = after(30, 20);
  tdo_small_flipped(&small, 0.0041, 100 * MIB, false);
  ck_assert(!tdo_small_instead(&small, &eighty_live));
  tdo_small_flipped(&small, 0.0039, 100 * MIB, false);
  ck_assert(tdo_small_instead(&small, &eighty_live));
}
END_TEST

/* FRESH MiB came since a heap of SIZE MiB was marked in which so many live. */
static bool soon(double size, double alive, double fresh) {
  tdo_small_t small = {0};
  tdo_small_facts_t facts = {.old = (size + fresh) * MIB, .nursery = 8 * MIB,
                             .alive = alive * MIB, .pause = 0.1};
  tdo_small_marked(&small, size * MIB, alive * MIB);
  return tdo_small_soon(&small, facts.alive, fresh * MIB) &&
         tdo_small_instead(&small, &facts);
}

/* The next one comes soon after one that left much room, if it copies. */
START_TEST(sooner) {
  tdo_small_t small = {0};
  ck_assert(soon(200, 100, 51));
  ck_assert(!soon(200, 100, 50));
  ck_assert(soon(200, 119, 60));
  ck_assert(!soon(200, 120, 100)); /* not that much room */
  ck_assert(soon(30, 10, 16.1));
  ck_assert(!soon(30, 10, 16));
  ck_assert(!soon(1000, 100, 51)); /* it would be too large to be copied */
  tdo_small_marked(&small, 200 * MIB, 100 * MIB);
  ck_assert(tdo_small_soon(&small, 100 * MIB, 100 * MIB));
  tdo_small_collected(&small, 200 * MIB, 100 * MIB);
  ck_assert(!tdo_small_soon(&small, 100 * MIB, 100 * MIB));
}
END_TEST

/* In one go where even all of it can be copied in a pause. */
START_TEST(at_once) {
  tdo_small_t small = {0};
  tdo_small_facts_t facts = {.old = 40 * MIB, .nursery = 12 * MIB,
                             .once = 55e6};
  ck_assert(tdo_small_at_once(&small, &facts));
  facts.nursery = 13 * MIB;
  ck_assert(!tdo_small_at_once(&small, &facts));
  tdo_small_marked(&small, 80 * MIB, 20 * MIB); /* 60 of it is room */
  facts.old = 100 * MIB;
  ck_assert(!tdo_small_at_once(&small, &facts));
  facts.nursery = 12 * MIB;
  ck_assert(tdo_small_at_once(&small, &facts));
  facts.young = 13 * MIB; /* than which there is more */
  ck_assert(!tdo_small_at_once(&small, &facts));
}
END_TEST

/* Where weak tables may be read meanwhile, all is collected at once though the
   pause time is short, by what lived the last time. */
START_TEST(weak) {
  tdo_small_t small = {0};
  tdo_small_facts_t facts = {.old = 2 * MIB, .nursery = MIB, .young = MIB,
                             .most = 16 * MIB, .pause = 0.001,
                             .once = 3.3 * MIB};
  ck_assert(!tdo_small_due(&small, &facts));
  facts.weak = true;
  facts.alive = MIB;
  ck_assert(tdo_small_due(&small, &facts));
  facts.old = 20 * MIB;
  ck_assert(tdo_small_due(&small, &facts));
  facts.young = 20 * MIB; /* of which most will be dead */
  ck_assert(tdo_small_due(&small, &facts));
  facts.alive = 1.2 * MIB; /* twice that, if nothing had died */
  ck_assert(!tdo_small_due(&small, &facts));
  tdo_small_collected(&small, 2 * MIB, 1.2 * MIB);
  ck_assert(tdo_small_due(&small, &facts));
  facts.alive = 1.9 * MIB;
  ck_assert(!tdo_small_due(&small, &facts));
  facts.old = 1.7 * MIB; /* not worth it yet */
  ck_assert(!tdo_small_due(&small, &facts));
  facts.old = 1.9 * MIB;
  ck_assert(tdo_small_due(&small, &facts));
  facts.most = 0;
  ck_assert(!tdo_small_due(&small, &facts));
}
END_TEST

SUITE_MAIN("small", 10, by_size, by_setting, growth, quick, dense, little,
           loose, tightened, alike, alike_living, instead_of_marking, by_flip,
           by_marking_flip, sooner, at_once, weak)
