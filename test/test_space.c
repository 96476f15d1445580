/* Testudo: tests of an arena's address space over the double of the platform:
   placement, chunks, all of it at random, and a platform that refuses.
   SPDX-License-Identifier: BSD-2-Clause */
#include "test/random.h"
#include "test/space_twin.h"

/* Groups have zones of their own while address space lasts, and share them
   when it does not. */
START_TEST(test_placement) {
  size_t zone_grains, a, b, c, n = 0, first;
  tdo_group_t group;
  space_start(ZONES * ZONE, SIZE_MAX, 0.5);
  zone_grains = space.zone_grains;
  group = tdo_space_group_new(&space, 5);
  a = take(3, TDO_GROUP_MANUAL, false);
  b = take(3, group, false);
  c = take(3, TDO_GROUP_MANUAL, true);
  ck_assert_uint_ne(a / zone_grains, b / zone_grains);
  ck_assert_uint_eq(a / zone_grains, c / zone_grains);
  ck_assert_uint_gt(c, a);
  ck_assert_uint_eq(space.zone_byte[b / zone_grains], 5);
  first = take(2 * zone_grains, TDO_GROUP_MANUAL, true);
  ck_assert_uint_eq(first + 2 * zone_grains, space.grains);
  /* One grain into each other zone: no free zone is left. */
  for (size_t z = 0; z < ZONES; ++z)
    n += space.zone_group[z] == TDO_GROUP_FREE;
  (void)take(n * zone_grains, group, false);
  /* MANUAL has room in its zone, and then only in the other's. */
  (void)take(zone_grains - 6, TDO_GROUP_MANUAL, false);
  first = take(4, TDO_GROUP_MANUAL, false);
  ck_assert_uint_eq(first / zone_grains, b / zone_grains);
  ck_assert_uint_eq(space.zone_byte[first / zone_grains],
                    TDO_ZONE_BYTE_SHARED);
  space_verify();
  tdo_space_free(&space, first, 4);
  first = SIZE_MAX;
  ck_assert_int_eq(
      tdo_space_alloc(&first, &space, zone_grains, group, false, &space),
      MPS_RES_RESOURCE);
  ck_assert_uint_eq(first, SIZE_MAX);
  tdo_space_group_merge(&space, TDO_GROUP_SHARED, group);
  space_stop();
}
END_TEST

/* Large runs go into zones that are shared, one behind the other over their
   borders, other ones do not; those of other groups stay theirs. */
START_TEST(test_between) {
  size_t zone_grains, first, other, beside;
  tdo_group_t group, apart;
  space_start(ZONES * ZONE, SIZE_MAX, 0.5);
  zone_grains = space.zone_grains;
  group = tdo_space_group_new(&space, 5);
  apart = tdo_space_group_new(&space, 6);
  first = take(zone_grains + 1, group, false);
  other = take(1, apart, false);
  ck_assert_uint_eq(other / zone_grains, first / zone_grains + 2);
  tdo_space_share(&space, first, first + zone_grains + 1);
  beside = take(zone_grains / 16, group, false);
  ck_assert_uint_eq(beside / zone_grains, other / zone_grains + 1);
  tdo_space_free(&space, beside, zone_grains / 16);
  beside = take(zone_grains / 16 + 1, group, false);
  ck_assert_uint_eq(beside, first + zone_grains + 1);
  tdo_space_free(&space, beside, zone_grains / 16 + 1);
  beside = take(zone_grains + 2, group, false);
  ck_assert_uint_gt(beside, other);
  tdo_space_free(&space, other, 1);
  other = take(zone_grains + 2, group, false);
  ck_assert_uint_eq(other, first + zone_grains + 1);
  ck_assert_uint_eq(space.zone_group[other / zone_grains], TDO_GROUP_SHARED);
  ck_assert_uint_eq(space.zone_group[other / zone_grains + 1], group);
  ck_assert_uint_gt(take(zone_grains / 2, TDO_GROUP_MANUAL, false), beside);
  space_verify();
  tdo_space_group_merge(&space, TDO_GROUP_SHARED, group);
  tdo_space_group_merge(&space, TDO_GROUP_SHARED, apart);
  space_stop();
}
END_TEST

/* Of the zones that a group has, the one that is used most is used on: the
   others may become free. */
START_TEST(test_fullest) {
  static const size_t freed[] = {10, 4, 14, 9};
  size_t zone_grains, piece, at[4], n = sizeof freed / sizeof *freed;
  tdo_group_t group;
  space_start(ZONES * ZONE, SIZE_MAX, 0.5);
  zone_grains = space.zone_grains;
  piece = zone_grains / 16;
  group = tdo_space_group_new(&space, 5);
  for (size_t i = 0; i < n; ++i)
    at[i] = take(zone_grains, group, false);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < freed[i]; ++j)
      tdo_space_free(&space, at[i] + j * piece, piece);
  for (size_t j = 0; j < 4; ++j)
    ck_assert_uint_eq(take(piece, group, j % 2) / zone_grains,
                      at[1] / zone_grains);
  ck_assert_uint_eq(take(10 * piece, group, true) / zone_grains,
                    at[0] / zone_grains);
  ck_assert_uint_eq(take(piece, group, false) / zone_grains,
                    at[3] / zone_grains);
  tdo_space_group_merge(&space, TDO_GROUP_SHARED, group);
  space_stop();
}
END_TEST

/* So it is where more is committed, while more is spare than in use. */
START_TEST(test_mixed_idle) {
  size_t a, b;
  tdo_group_t one, two;
  space_start(ZONES * ZONE, SIZE_MAX, 0.75);
  space.mix_most = ZONE / 8;
  one = tdo_space_group_new(&space, 5);
  two = tdo_space_group_new(&space, 6);
  a = take(space.zone_grains - 1, one, false);
  b = take(2, two, false);
  ck_assert_uint_ne(space_zone_of(&space, a), space_zone_of(&space, b));
  tdo_space_free(&space, a, space.zone_grains - 2);
  ck_assert_uint_gt(space.spare, space.committed / 2);
  ck_assert_uint_eq(take(space.zone_grains - 2, two, false), a);
  tdo_space_free(&space, a, 2);
  ck_assert_uint_lt(space.spare, space.committed / 2);
  ck_assert_uint_ne(space_zone_of(&space, take(2, one, false)),
                    space_zone_of(&space, a));
  tdo_space_group_merge(&space, TDO_GROUP_SHARED, one);
  tdo_space_group_merge(&space, TDO_GROUP_SHARED, two);
  space_stop();
}
END_TEST

/* While little is committed, spare memory of others' zones is taken before
   fresh memory is, but for that of manual pools and the library. */
START_TEST(test_mixed) {
  size_t a, b, manual, committed;
  tdo_group_t one, two;
  space_start(ZONES * ZONE, SIZE_MAX, 0.75);
  space.mix_most = 2 * ZONE;
  one = tdo_space_group_new(&space, 5);
  two = tdo_space_group_new(&space, 6);
  manual = take(8, TDO_GROUP_MANUAL, false);
  a = take(20, one, false);
  tdo_space_free(&space, manual, 4);
  tdo_space_free(&space, a, 16);
  committed = space.committed;
  b = take(4, two, false);
  ck_assert_uint_eq(b, a);
  ck_assert_uint_eq(space.committed, committed);
  ck_assert_uint_eq(space.zone_group[space_zone_of(&space, a)],
                    TDO_GROUP_SHARED);
  space_verify();
  /* Not enough in a row; nor for other groups, nor where much is committed. */
  b = take(14, two, false);
  ck_assert_uint_ne(space_zone_of(&space, b), space_zone_of(&space, a));
  ck_assert_uint_ne(space_zone_of(&space, take(2, TDO_GROUP_CONTROL, false)),
                    space_zone_of(&space, a));
  space.mix_most = space.committed - 1;
  ck_assert_uint_ne(space_zone_of(&space, take(2, one, false)),
                    space_zone_of(&space, a));
  space.mix_most = SIZE_MAX;
  /* Memory of its own comes first. */
  tdo_space_free(&space, b + 7, 1);
  ck_assert_uint_eq(take(1, two, false), b + 7);
  tdo_space_group_merge(&space, TDO_GROUP_SHARED, one);
  tdo_space_group_merge(&space, TDO_GROUP_SHARED, two);
  space_stop();
}
END_TEST

/* The window grows by chunks: what is preferred, or less; an idle chunk goes
   back, the first stays. */
START_TEST(test_chunks) {
  size_t a, b;
  space_start(ZONE, SIZE_MAX, 0.0);
  ck_assert_uint_eq(space.reserved, ZONE);
  space.growth = 8 * ZONE;
  space.growth_min = 4 * ZONE;
  a = take(space.zone_grains, TDO_GROUP_MANUAL, false);
  b = take(2 * space.zone_grains, TDO_GROUP_MANUAL, false);
  ck_assert_uint_eq(space.reserved, 9 * ZONE);
  ck_assert_int_eq(tdo_space_extend(&space, 14 * ZONE), MPS_RES_OK);
  ck_assert_uint_eq(space.reserved, 23 * ZONE);
  /* One zone is left: less than the least preferred. */
  ck_assert_int_eq(tdo_space_extend(&space, 1), MPS_RES_OK);
  ck_assert_uint_eq(space.reserved, ZONES * ZONE);
  ck_assert_int_eq(tdo_space_extend(&space, 1), MPS_RES_RESOURCE);
  ck_assert_int_eq(tdo_space_extend(&space, SIZE_MAX / 2), MPS_RES_RESOURCE);
  tdo_space_trim(&space);
  ck_assert_uint_eq(space.reserved, 9 * ZONE);
  tdo_space_free(&space, b, 2 * space.zone_grains);
  tdo_space_settle(&space);
  tdo_space_trim(&space);
  ck_assert_uint_eq(space.reserved, ZONE);
  tdo_space_free(&space, a, space.zone_grains);
  tdo_space_settle(&space);
  tdo_space_trim(&space);
  ck_assert_uint_eq(space.reserved, ZONE);
  b = take(3 * space.zone_grains, TDO_GROUP_MANUAL,
           false); /* and comes back */
  tdo_space_free(&space, b, 3 * space.zone_grains);
  space_stop();
}
END_TEST

/* The library's own blocks take as many zones more as they have, so that the
   others' lie together, and beside them in a small space. */
START_TEST(test_reserve) {
  size_t own[4], other[4];
  tdo_group_t group;
  zones = MANY_ZONES;
  space_start(MANY_ZONES * ZONE, SIZE_MAX, 0.0);
  group = tdo_space_group_new(&space, 0);
  for (int i = 0; i < 4; ++i) {
    own[i] = take(space.zone_grains, TDO_GROUP_CONTROL, false);
    other[i] = take(space.zone_grains, group, false);
  }
  ck_assert_uint_eq(other[0], own[0] + space.zone_grains);
  ck_assert_uint_eq(own[1], other[0] + space.zone_grains);
  ck_assert_uint_eq(own[2], own[1] + space.zone_grains);
  ck_assert_uint_eq(other[2], other[1] + space.zone_grains);
  ck_assert_uint_eq(other[3], own[3] + 4 * space.zone_grains);
  for (int i = 0; i < 4; ++i) {
    tdo_space_free(&space, own[i], space.zone_grains);
    tdo_space_free(&space, other[i], space.zone_grains);
  }
  space_stop();
  zones = ZONES;
}
END_TEST

/* Zones that were taken so, and not used, do not keep their chunk, and are
   anybody's when it comes back. */
START_TEST(test_reserved_chunk) {
  size_t own, a, b, c;
  zones = MANY_ZONES;
  space_start(130 * ZONE, SIZE_MAX, 0.0);
  space.growth = 30 * ZONE;
  own = take(space.zone_grains, TDO_GROUP_CONTROL, false);
  a = take(129 * space.zone_grains, TDO_GROUP_MANUAL, false);
  b = take(1, TDO_GROUP_CONTROL, false);
  c = take(1, TDO_GROUP_MANUAL, false);
  ck_assert_uint_ge(c, b + 2 * space.zone_grains);
  tdo_space_free(&space, b, 1);
  tdo_space_free(&space, c, 1);
  tdo_space_settle(&space);
  tdo_space_trim(&space);
  ck_assert_uint_eq(space.reserved, 130 * ZONE);
  c = take(2 * space.zone_grains, TDO_GROUP_MANUAL, false);
  ck_assert_uint_eq(c, b);
  tdo_space_free(&space, c, 2 * space.zone_grains);
  tdo_space_free(&space, a, 129 * space.zone_grains);
  tdo_space_free(&space, own, space.zone_grains);
  space_stop();
  zones = ZONES;
}
END_TEST

/* ---- at random ---- */

enum { PIECES = 300 };

static struct { size_t first, n; } pieces[PIECES];
static size_t failures;

static void random_piece(tdo_group_t groups[3]) {
  size_t i = random_below(PIECES), n = pieces[i].n;
  mps_res_t res;
  if (n > 0) {
    size_t cut = random_below(4) == 0 ? random_below(n) : 0;
    tdo_space_free(&space, pieces[i].first + cut, n - cut);
    pieces[i].n = cut;
    return;
  }
  n = 1 + random_below(random_below(8) == 0 ? 600 : 20);
  res = tdo_space_alloc(&pieces[i].first, &space, n, groups[random_below(3)],
                        random_below(2), &pieces[i]);
  if (res == MPS_RES_OK)
    pieces[i].n = n;
  else
    ++failures;
  REQUIRE(res == MPS_RES_OK || res == MPS_RES_RESOURCE ||
          res == MPS_RES_MEMORY || res == MPS_RES_COMMIT_LIMIT);
}

static void random_setting(void) {
  switch (random_below(6)) {
  case 0:
    tdo_space_spare_set(&space, (double)random_below(101) / 100);
    REQUIRE(twin.refuse_in != 0 ||
            tdo_space_spare(&space) <=
                tdo_space_spare_most(&space, space.committed));
    break;
  case 1:
    (void)tdo_space_commit_limit_set(&space, random_below(ZONES * ZONE));
    break;
  case 2:
    (void)tdo_space_commit_limit_set(&space, SIZE_MAX);
    break;
  case 3:
    tdo_space_hold(&space, random_below(ZONE));
    break;
  case 4:
    tdo_space_purge(&space, random_below(4 * ZONE));
    break;
  default:
    tdo_space_trim(&space);
  }
}

static void check_owners(void) {
  size_t used = 0;
  for (size_t i = 0; i < PIECES; ++i) {
    used += pieces[i].n;
    for (size_t g = 0; g < pieces[i].n; ++g)
      REQUIRE(space.owner[pieces[i].first + g] == &pieces[i]);
  }
  REQUIRE(tdo_bits_count(space.used, 0, space.grains) == used);
}

/* Of every so many calls of the platform one is refused, or none; with huge
   pages for some, or without. */
START_TEST(test_random) {
  tdo_group_t groups[3] = {TDO_GROUP_MANUAL, TDO_GROUP_CONTROL, 0};
  memset(pieces, 0, sizeof pieces);
  random_start();
  space_start_with(2 * ZONE, SIZE_MAX, 0.5, _i > 1);
  groups[2] = tdo_space_group_new(&space, 1);
  tdo_space_group_huge(&space, groups[2], true);
  for (size_t step = 0; step < 20000; ++step) {
    if (_i % 2 > 0 && twin.refuse_in == 0)
      tdo_vm_double_refuse_nth(&twin, 1 + random_below(30));
    random_piece(groups);
    if (random_below(50) == 0)
      random_setting();
    if (step % 200 == 0) {
      space_verify();
      check_owners();
    }
  }
  tdo_vm_double_refuse_nth(&twin, 0);
  ck_assert_uint_gt(failures, 0);
  for (size_t i = 0; i < PIECES; ++i)
    if (pieces[i].n > 0)
      tdo_space_free(&space, pieces[i].first, pieces[i].n);
  space_stop();
}
END_TEST

/* The N-th call of creation refused: a result code, and all goes back. */
START_TEST(test_create_refused) {
  size_t n = 1;
  bool done = false;
  for (; !done; ++n) {
    tdo_vm_double_options_t options = {.pages = ZONES * ZONE / GRAIN};
    mps_res_t res;
    REQUIRE(tdo_vm_double_init(&twin, &options) == MPS_RES_OK);
    tdo_vm_double_refuse_nth(&twin, n);
    res = tdo_space_init(&space, &twin.vm, ZONE, 8 * ZONE, GRAIN, SIZE_MAX,
                         0.5, 0);
    done = twin.refuse_in != 0;
    if (res == MPS_RES_OK) { /* perhaps with a smaller window */
      ck_assert_uint_ge(space.size, ZONE);
      tdo_space_finish(&space);
    } else {
      ck_assert(res == MPS_RES_RESOURCE || res == MPS_RES_MEMORY);
    }
    tdo_vm_double_finish(&twin);
    ck_assert_uint_lt(n, 20);
  }
  ck_assert_uint_gt(n, 2);
}
END_TEST

SUITE_LOOPS_MAIN("space", 60, {test_placement, 1}, {test_between, 1},
                 {test_fullest, 1}, {test_mixed, 1}, {test_mixed_idle, 1},
                 {test_chunks, 1}, {test_reserve, 1}, {test_reserved_chunk, 1},
                 {test_create_refused, 1}, {test_random, 4})
