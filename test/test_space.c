/* Testudo: tests of an arena's address space over the double of the platform:
   placement, chunks, limits, spare memory, and a platform that refuses.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "arena/internal.h"
#include "code/vm_double.h"
#include "test/random.h"
#include "test/require.h"
#include "test/suite.h"

enum { GRAIN = 4096, ZONES = 24, MANY_ZONES = 160, PIECES = 300 };

#define ZONE ((size_t)1 << 20)

static tdo_vm_double_t twin;
static tdo_space_t space;

/* What the hooks were told, page by page. */
static tdo_bits_t told_memory[MANY_ZONES * 4], told_taken[MANY_ZONES * 4];
static size_t told_reserved;
static size_t zones = ZONES; /* in the window */

static void told_set(tdo_bits_t *bits, size_t first, size_t limit,
                     bool value) {
  REQUIRE(value ? tdo_bits_next_set(bits, first, limit) == limit
                : tdo_bits_all_set(bits, first, limit));
  if (value)
    tdo_bits_set_range(bits, first, limit);
  else
    tdo_bits_clear_range(bits, first, limit);
}

static void on_committed(void *closure, size_t first, size_t limit) {
  told_set(closure, first, limit, true);
}

/* They have their memory still, and nobody uses it. */
static void on_decommitting(void *closure, size_t first, size_t limit) {
  REQUIRE(tdo_bits_all_set(closure, first, limit));
  REQUIRE(tdo_bits_next_set(told_taken, first, limit) == limit);
}

static void on_decommitted(void *closure, size_t first, size_t limit) {
  told_set(closure, first, limit, false);
  REQUIRE(tdo_bits_next_set(told_taken, first, limit) == limit);
}

static void on_taken(void *closure, size_t first, size_t limit) {
  REQUIRE(tdo_bits_all_set(closure, first, limit)); /* they have memory */
  REQUIRE(space.busy == 0); /* spare memory may go to open them */
  told_set(told_taken, first, limit, true);
}

static void on_dropped(void *closure, size_t first, size_t limit) {
  (void)closure;
  told_set(told_taken, first, limit, false);
}

static void on_extended(void *closure, void *base, size_t size) {
  (void)closure, (void)base;
  told_reserved += size;
}

static void on_contracted(void *closure, void *base, size_t size) {
  (void)closure, (void)base;
  told_reserved -= size;
}

static const tdo_space_hooks_t hooks = {
    told_memory, on_committed, on_decommitting, on_decommitted, on_taken,
    on_dropped,  NULL,         on_extended,     on_contracted};

/* A space of CHUNK bytes to begin with, in a window of so many zones; with huge
   pages as large as a zone, or without. */
static void space_start_with(size_t chunk, size_t limit, double spare,
                             bool huge) {
  tdo_vm_double_options_t options = {.pages = zones * ZONE / GRAIN,
                                     .huge_size = huge ? ZONE : 0};
  memset(told_memory, 0, sizeof told_memory);
  memset(told_taken, 0, sizeof told_taken);
  told_reserved = 0;
  REQUIRE(tdo_vm_double_init(&twin, &options) == MPS_RES_OK);
  REQUIRE(tdo_space_init_huge(&space, &twin.vm, chunk, zones * ZONE, GRAIN,
                              limit, spare, 0,
                              options.huge_size) == MPS_RES_OK);
  REQUIRE(tdo_space_start(&space, chunk, &hooks) == MPS_RES_OK);
}

static void space_start(size_t chunk, size_t limit, double spare) {
  space_start_with(chunk, limit, spare, false);
}

static void space_verify(void) {
  size_t runs = 0;
  REQUIRE(tdo_space_check(&space));
  REQUIRE(told_reserved == space.reserved);
  for (size_t g = 0; g < space.grains; ++g) {
    bool memory = tdo_bits_get(space.memory, g);
    REQUIRE(memory == tdo_bits_get(told_memory, g));
    runs += memory && (g == 0 || !tdo_bits_get(space.memory, g - 1));
    REQUIRE(tdo_bits_get(space.used, g) == tdo_bits_get(told_taken, g));
    REQUIRE(memory ==
            (tdo_vm_double_access(&twin, tdo_space_addr(&space, g)) ==
             TDO_ACCESS_WRITE));
    REQUIRE(!tdo_bits_get(space.zone_huge, space_zone_of(&space, g)) ||
            tdo_vm_double_advised(&twin, tdo_space_addr(&space, g)));
  }
  REQUIRE(runs == space.runs);
}

static void space_stop(void) {
  space_verify();
  tdo_space_finish(&space);
  ck_assert_uint_eq(told_reserved, 0);
  tdo_vm_double_finish(&twin);
}

static size_t take(size_t n, tdo_group_t group, bool high) {
  size_t first = SIZE_MAX;
  REQUIRE(tdo_space_alloc(&first, &space, n, group, high, &space) ==
          MPS_RES_OK);
  return first;
}

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

/* The commit limit and the spare fraction; spare memory makes room. */
START_TEST(test_limits) {
  size_t a, b, committed;
  space_start(8 * ZONE, SIZE_MAX, 0.5);
  a = take(500, TDO_GROUP_MANUAL, false);
  b = take(500, TDO_GROUP_MANUAL, true);
  tdo_space_free(&space, a, 500);
  ck_assert_uint_gt(tdo_space_spare(&space), 0);
  committed = space.committed;
  ck_assert_int_eq(tdo_space_commit_limit_set(&space, 1000), MPS_RES_FAIL);
  ck_assert_uint_eq(space.commit_limit, SIZE_MAX);
  ck_assert_int_eq(tdo_space_commit_limit_set(&space, committed - GRAIN),
                   MPS_RES_OK);
  ck_assert_uint_lt(space.committed, committed);
  /* Other grains than the spare ones: spare memory makes room for them. */
  ck_assert(tdo_space_charge(&space, space.spare / 2));
  a = SIZE_MAX;
  ck_assert_int_eq(
      tdo_space_alloc(&a, &space, 1500, TDO_GROUP_MANUAL, false, &space),
      MPS_RES_COMMIT_LIMIT);
  ck_assert_uint_eq(a, SIZE_MAX);
  ck_assert(!tdo_space_charge(&space, ZONES * ZONE));
  space_verify();
  ck_assert_int_eq(tdo_space_commit_limit_set(&space, SIZE_MAX), MPS_RES_OK);
  committed = space.committed;
  ck_assert(tdo_space_charge(&space, 12345));
  ck_assert_uint_eq(space.committed, committed + 12345);
  tdo_space_credit(&space, 12345);
  ck_assert_uint_eq(space.committed, committed);
  /* What is held does not count as spare. */
  tdo_space_free(&space, b, 500);
  tdo_space_hold(&space, 2 * space.spare); /* at this fraction */
  ck_assert_uint_eq(tdo_space_spare(&space), 0);
  tdo_space_spare_set(&space, 0.0);
  ck_assert_uint_eq(space.spare, 0);
  space_stop();
}
END_TEST

#define LEFT_ZONES 40

/* Where nearly all that is spare is kept, what is left in zones of many groups
   does not add up: beyond the usual share fresh memory takes its place. A piece
   of each group fills a zone, of which but one grain stays; or there is much in
   use, and the rest of a zone is committed with its first grain. */
START_TEST(test_left) {
  size_t in_use = _i == 0 ? 1 : 4 * ZONE / GRAIN;
  size_t size = _i == 0 ? ZONE / GRAIN : 1;
  size_t a, committed;
  zones = MANY_ZONES;
  space_start(MANY_ZONES * ZONE, SIZE_MAX, 0.999);
  a = take(in_use, TDO_GROUP_MANUAL, false);
  for (int i = 0; i < LEFT_ZONES; ++i) {
    size_t first = take(size, tdo_space_group_new(&space, 5), false);
    if (size > 1)
      tdo_space_free(&space, first + 1, size - 1);
    space_verify();
  }
  ck_assert_uint_eq(space.committed - space.spare - space.charged,
                    (in_use + LEFT_ZONES) * GRAIN);
  ck_assert_uint_le(space.committed,
                    4 * ((in_use + LEFT_ZONES + size) * GRAIN + space.charged));
  /* Without need for fresh memory nothing goes. */
  committed = space.committed;
  tdo_space_free(&space, a, in_use);
  tdo_space_settle(&space);
  ck_assert_uint_eq(space.committed, committed);
  for (size_t g = 0; g < space.grains; ++g)
    if (tdo_bits_get(space.used, g))
      tdo_space_free(&space, g, 1);
  ck_assert_uint_eq(space.committed, committed);
  ck_assert_uint_eq(space.spare, committed - space.charged);
  space_stop();
  zones = ZONES;
}
END_TEST

/* What cannot be had costs nothing: not the tables of its zones, and spare
   memory only where that could have sufficed. */
START_TEST(test_too_large) {
  size_t a, committed, spare;
  space_start(ZONES * ZONE, 4 * ZONE, 0.5);
  a = take(200, TDO_GROUP_MANUAL, false);
  tdo_space_free(&space, take(200, TDO_GROUP_MANUAL, false), 200);
  committed = space.committed;
  spare = space.spare;
  for (size_t n = 5; n < ZONES; ++n)
    ck_assert_int_eq(tdo_space_alloc(&a, &space, n * space.zone_grains,
                                     TDO_GROUP_MANUAL, false, &space),
                     MPS_RES_COMMIT_LIMIT);
  ck_assert_uint_eq(space.committed, committed);
  ck_assert_uint_eq(space.spare, spare);
  ck_assert_int_eq(tdo_space_commit_limit_set(&space, SIZE_MAX), MPS_RES_OK);
  tdo_vm_double_refuse_kind(&twin, TDO_VM_COMMIT, true);
  ck_assert_int_eq(tdo_space_alloc(&a, &space, 8 * space.zone_grains,
                                   TDO_GROUP_MANUAL, false, &space),
                   MPS_RES_MEMORY);
  ck_assert_uint_eq(space.committed - space.spare, committed - spare);
  tdo_vm_double_refuse_kind(&twin, TDO_VM_COMMIT, false);
  (void)take(8 * space.zone_grains, TDO_GROUP_MANUAL, false);
  space_stop();
}
END_TEST

/* Where the system takes nothing back, it is not asked for every grain of a
   run; the lower end goes where the upper one may not. */
START_TEST(test_not_taken_back) {
  size_t a, calls, spare, result;
  space_start(ZONES * ZONE, SIZE_MAX, 1.0);
  a = take(200, TDO_GROUP_MANUAL, false);
  tdo_space_free(&space, a + 1, 198); /* between two that are used */
  tdo_vm_double_refuse_kind(&twin, TDO_VM_COMMIT, true);
  tdo_vm_double_refuse_kind(&twin, TDO_VM_DECOMMIT, true);
  calls = twin.calls_count;
  (void)tdo_space_alloc(&result, &space, 1, tdo_space_group_new(&space, 5),
                        false, &space);
  ck_assert_uint_gt(twin.calls_count, calls);
  ck_assert_uint_lt(twin.calls_count, calls + 50);
  tdo_vm_double_refuse_kind(&twin, TDO_VM_COMMIT, false);
  tdo_vm_double_refuse_kind(&twin, TDO_VM_DECOMMIT, false);
  space_verify();
  space_stop();

  space_start(ZONES * ZONE, SIZE_MAX, 1.0);
  a = take(200, TDO_GROUP_MANUAL, false);
  tdo_space_free(&space, a, 190); /* free address space below */
  tdo_vm_double_limit(&twin, twin.mappings);
  spare = space.spare;
  tdo_space_purge(&space, 5 * GRAIN);
  ck_assert_uint_eq(space.spare, spare - 5 * GRAIN);
  ck_assert(a == 0 || !tdo_bits_get(space.memory, a));
  ck_assert(tdo_bits_get(space.memory, a + 180));
  tdo_vm_double_limit(&twin, SIZE_MAX);
  space_verify();
  space_stop();
}
END_TEST

/* At the mapping limit what was refused is not asked for at each free again. */
START_TEST(test_refused_once) {
  size_t n = ZONES * ZONE / GRAIN / 2, a, calls, spare;
  space_start(ZONES * ZONE, SIZE_MAX, 0.0);
  a = take(n, TDO_GROUP_MANUAL, false);
  tdo_vm_double_limit(&twin, twin.mappings);
  calls = twin.calls_count;
  for (size_t i = 1; i < n - 1; i += 2)
    tdo_space_free(&space, a + i, 1);
  ck_assert_uint_gt(twin.calls_count, calls);
  ck_assert_uint_lt(twin.calls_count - calls, 20 * n);
  /* Once there is room for mappings, it goes. */
  tdo_vm_double_limit(&twin, SIZE_MAX);
  spare = space.spare;
  ck_assert_uint_gt(spare, n * GRAIN / 4);
  for (size_t i = 2; i < n - 1; i += 2)
    tdo_space_free(&space, a + i, 1);
  tdo_space_settle(&space);
  ck_assert_uint_eq(space.spare, 0);
  space_stop();
}
END_TEST

/* Giving back what nobody needs leaves most mappings to others: so many runs
   are parted, and no more, but where the memory must go. */
START_TEST(test_parted) {
  size_t n = ZONES * ZONE / GRAIN, a;
  space_start(ZONES * ZONE, SIZE_MAX, 0.0);
  tdo_vm_double_limit(&twin, 8 * (n / 4));
  a = take(n, TDO_GROUP_MANUAL, false);
  for (size_t i = 1; i < n - 1; i += 2)
    tdo_space_free(&space, a + i, 1);
  tdo_space_settle(&space);
  ck_assert_uint_eq(space.runs, n / 4);
  space_verify();
  /* What lies at an edge of a run parts nothing. */
  for (size_t i = 2; i < n / 4; i += 2)
    tdo_space_free(&space, a + i, 1);
  tdo_space_settle(&space);
  ck_assert_uint_le(space.runs, n / 4);
  space_verify();
  if (_i == 0)
    tdo_space_purge(&space, SIZE_MAX / 4);
  else
    tdo_space_spare_set(&space, 0.0);
  ck_assert_uint_eq(space.spare, 0);
  space_stop();
}
END_TEST

/* A block that is all there is, freed and wanted again over and over, takes no
   calls, unless it is large or little is to be spare. Who asks sees what is to
   be. */
START_TEST(test_little) {
  static const struct {
    size_t zones;
    double spare;
    bool stays;
  } cases[] = {{3, 0.75, true}, {1, 0.25, true},   {3, 0.25, false},
               {9, 0.75, false}, {1, 0.0, false}};
  for (size_t i = 0; i < 5; ++i) {
    size_t n = cases[i].zones * ZONE / GRAIN, calls, least;
    space_start(ZONES * ZONE, SIZE_MAX, cases[i].spare);
    tdo_space_free(&space, take(n, TDO_GROUP_MANUAL, false), n);
    calls = twin.calls_count;
    least = space.spare;
    for (int k = 0; k < 10; ++k) {
      tdo_space_free(&space, take(n, TDO_GROUP_MANUAL, false), n);
      least = tdo_min(least, space.spare);
      space_verify();
    }
    ck_assert((twin.calls_count == calls) == cases[i].stays);
    ck_assert((least >= n * GRAIN) == cases[i].stays);
    tdo_space_settle(&space);
    ck_assert((double)space.spare <=
              cases[i].spare * (double)space.committed);
    space_stop();
  }
}
END_TEST

/* Where none is to be spare, all goes at once. */
START_TEST(test_none_spare) {
  size_t n = MANY_ZONES * ZONE / GRAIN, a;
  zones = MANY_ZONES;
  space_start(MANY_ZONES * ZONE, SIZE_MAX, 0.0);
  a = take(n, TDO_GROUP_MANUAL, false);
  tdo_space_free(&space, a, n);
  ck_assert_uint_eq(space.spare, 0);
  space_verify();
  space_stop();
}
END_TEST

/* What is withheld stays free, whoever else might have it. */
START_TEST(test_withheld) {
  size_t a, n = 0;
  space_start(8 * ZONE, 4 * ZONE, 0.5);
  tdo_space_withhold(&space, ZONE);
  while (tdo_space_alloc(&a, &space, 10, TDO_GROUP_MANUAL, false, &space) ==
         MPS_RES_OK)
    ++n;
  ck_assert_uint_gt(n, 0);
  ck_assert_int_eq(
      tdo_space_alloc(&a, &space, 10, TDO_GROUP_MANUAL, false, &space),
      MPS_RES_COMMIT_LIMIT);
  ck_assert_int_eq(tdo_space_alloc(&a, &space, space.grains, TDO_GROUP_MANUAL,
                                   false, &space),
                   MPS_RES_RESOURCE); /* the limit is not the only reason */
  ck_assert_uint_ge(tdo_space_room(&space), ZONE);
  ck_assert_uint_lt(tdo_space_room(&space), ZONE + 10 * GRAIN);
  tdo_space_withhold(&space, 0);
  (void)take(ZONE / GRAIN / 2, TDO_GROUP_MANUAL, false);
  space_verify();
  space_stop();
}
END_TEST

/* The first of 200 free grains, of which the last 50 have no memory. */
static size_t begin_with_hole(void) {
  size_t a;
  space_start(4 * ZONE, SIZE_MAX, 1.0);
  a = take(200, TDO_GROUP_MANUAL, false);
  tdo_space_free(&space, a, 200);
  tdo_space_purge(&space, 50 * GRAIN); /* from above */
  return a;
}

/* A run that is partly spare is filled up where it is not. */
START_TEST(test_holes) {
  size_t a = begin_with_hole();
  ck_assert_uint_eq(take(256, TDO_GROUP_MANUAL, false), a);
  space_stop();
}
END_TEST

static mps_res_t (*commit)(tdo_vm_t *vm, void *base, size_t size);

/* A signal's handler that wants memory back, in the middle of it all. */
static mps_res_t commit_interrupted(tdo_vm_t *vm, void *base, size_t size) {
  ck_assert_uint_gt(space.busy, 0); /* so that it does not */
  tdo_space_purge(&space, SIZE_MAX / 4);
  return commit(vm, base, size);
}

/* What a run has already stays, whoever gives spare memory back meanwhile. */
START_TEST(test_kept) {
  size_t a = begin_with_hole();
  commit = twin.vm.commit;
  twin.vm.commit = commit_interrupted;
  ck_assert_uint_eq(take(256, TDO_GROUP_MANUAL, false), a);
  twin.vm.commit = commit;
  ck_assert(tdo_bits_all_set(space.memory, a, a + 256));
  ck_assert_uint_eq(space.busy, 0);
  space_stop();
}
END_TEST

/* The system has so many bytes in all. */
static size_t commit_most;
static mps_res_t (*commit_all)(tdo_vm_t *, void *, size_t);

static mps_res_t commit_little(tdo_vm_t *vm, void *base, size_t size) {
  return space.committed + size > commit_most ? MPS_RES_MEMORY
                                              : commit_all(vm, base, size);
}

/* Memory is committed ahead of its use only if the system has that much; and
   what it has not, spare memory may be given back for. */
START_TEST(test_scarce) {
  size_t a, b, n;
  space_start(8 * ZONE, SIZE_MAX, 0.0);
  commit_all = twin.vm.commit;
  twin.vm.commit = commit_little;
  commit_most = SIZE_MAX;
  n = 2 * space.zone_grains;
  a = take(n, TDO_GROUP_MANUAL, false);
  tdo_space_spare_set(&space, 1.0);
  commit_most = space.committed + 102 * GRAIN; /* two for tables */
  ck_assert_uint_eq(take(100, TDO_GROUP_MANUAL, false), a + n);
  ck_assert_uint_eq(space.spare, 0);
  tdo_space_free(&space, a, n);
  b = take(100, tdo_space_group_new(&space, 5), true);
  ck_assert_uint_gt(b, a + n);
  ck_assert_uint_lt(space.spare, tdo_space_bytes(&space, n));
  space_stop();
}
END_TEST

/* What the system would grant is a limit, too, and what is owed is not
   granted. */
START_TEST(test_granted) {
  size_t a, committed;
  space_start(8 * ZONE, SIZE_MAX, 0.0);
  tdo_vm_double_limit_data(&twin, 300);
  (void)take(200, TDO_GROUP_MANUAL, false);
  committed = space.committed;
  ck_assert_uint_le(tdo_space_room(&space), tdo_space_bytes(&space, 301));
  ck_assert_int_eq(
      tdo_space_alloc(&a, &space, 101, TDO_GROUP_MANUAL, false, &space),
      MPS_RES_MEMORY);
  atomic_store(&twin.vm.owed, 60 * GRAIN);
  ck_assert_int_eq(
      tdo_space_alloc(&a, &space, 41, TDO_GROUP_MANUAL, false, &space),
      MPS_RES_MEMORY);
  ck_assert_uint_eq(space.committed, committed);
  (void)take(40, TDO_GROUP_MANUAL, false);
  ck_assert_int_eq(tdo_space_commit_limit_set(&space, space.committed),
                   MPS_RES_OK);
  atomic_store(&twin.vm.owed, 0);
  ck_assert_int_eq(
      tdo_space_alloc(&a, &space, 60, TDO_GROUP_MANUAL, false, &space),
      MPS_RES_COMMIT_LIMIT);
  space_stop();
}
END_TEST

/* ---- at random ---- */

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
                 {test_fullest, 1}, {test_mixed, 1},
                 {test_chunks, 1}, {test_reserve, 1}, {test_reserved_chunk, 1},
                 {test_limits, 1}, {test_left, 2}, {test_too_large, 1},
                 {test_withheld, 1}, {test_holes, 1}, {test_kept, 1},
                 {test_scarce, 1}, {test_granted, 1}, {test_create_refused, 1},
                 {test_not_taken_back, 1}, {test_refused_once, 1},
                 {test_parted, 2}, {test_little, 1}, {test_none_spare, 1},
                 {test_random, 4})
