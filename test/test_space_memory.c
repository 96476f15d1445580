/* Testudo: tests of the memory of an arena's address space over the double of
   the platform: limits, spare memory, and a platform that refuses some.
   SPDX-License-Identifier: BSD-2-Clause */
#include "test/space_twin.h"

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

SUITE_LOOPS_MAIN("space_memory", 60, {test_limits, 1}, {test_left, 2},
                 {test_too_large, 1}, {test_withheld, 1}, {test_holes, 1},
                 {test_kept, 1}, {test_scarce, 1}, {test_granted, 1},
                 {test_not_taken_back, 1}, {test_refused_once, 1},
                 {test_parted, 2}, {test_little, 1}, {test_none_spare, 1})
