/* Testudo: tests of huge pages: which memory they are advised for, that it is
   not given back in pieces without need, and that nothing depends on them.
   SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "arena/internal.h"
#include "code/vm_double.h"
#include "mpsacl.h"
#include "trace/heap.h"

#include "test/objects.h"
#include "test/suite.h"

/* ---- the address space over the double */

enum { GRAIN = 4096, ZONES = 80, CALLS = 1000, PER_ZONE = 512 };

#define HUGE ((size_t)PER_ZONE * GRAIN)

static tdo_vm_double_t twin;
static tdo_vm_call_t calls[CALLS];
static tdo_space_t space;
static tdo_group_t old, young;

/* OLD shall have huge pages. MAPPINGS is the system's limit, or 0. */
static void space_start(double spare, size_t commit_limit, size_t mappings) {
  static const tdo_space_hooks_t none;
  tdo_vm_double_options_t options = {.pages = ZONES * PER_ZONE,
                                     .huge_size = HUGE,
                                     .mapping_limit = mappings,
                                     .calls = calls,
                                     .calls_max = CALLS};
  REQUIRE(tdo_vm_double_init(&twin, &options) == MPS_RES_OK);
  REQUIRE(tdo_space_init_huge(&space, &twin.vm, ZONES * HUGE, 0, GRAIN,
                              commit_limit, spare, 0,
                              twin.vm.huge_size(&twin.vm)) == MPS_RES_OK);
  REQUIRE(tdo_space_start(&space, ZONES * HUGE, &none) == MPS_RES_OK);
  old = tdo_space_group_new(&space, 0);
  young = tdo_space_group_new(&space, 1);
  tdo_space_group_huge(&space, old, true);
  tdo_vm_double_clear(&twin);
}

static void space_stop(void) {
  REQUIRE(tdo_space_check(&space));
  tdo_space_finish(&space);
  tdo_vm_double_finish(&twin);
}

static size_t take(size_t n, tdo_group_t group) {
  size_t first = SIZE_MAX;
  REQUIRE(tdo_space_alloc(&first, &space, n, group, false, &space) ==
          MPS_RES_OK);
  REQUIRE(tdo_space_check(&space));
  return first;
}

static bool advised(size_t grain) {
  return tdo_vm_double_advised(&twin, tdo_space_addr(&space, grain));
}

/* Calls of KIND, and that they are about whole huge pages. */
static size_t count_calls(tdo_vm_call_kind_t kind) {
  size_t n = 0;
  ck_assert_uint_lt(twin.calls_count, CALLS);
  for (size_t i = 0; i < twin.calls_count; ++i)
    if (calls[i].kind == kind) {
      ++n;
      ck_assert_uint_eq((tdo_word_t)calls[i].base % HUGE, 0);
      ck_assert_uint_eq(calls[i].size % HUGE, 0);
    }
  return n;
}

/* One call when a zone comes to the group, and none when it comes again; the
   others get memory of their own. */
START_TEST(test_advice) {
  size_t a, b, c;
  space_start(1.0, SIZE_MAX, 0);
  a = take(PER_ZONE, young);
  ck_assert_uint_eq(count_calls(TDO_VM_ADVISE), 0);
  b = take(1, old);
  ck_assert_uint_eq(count_calls(TDO_VM_ADVISE), 1);
  ck_assert_uint_eq(space.huge_bytes, HUGE);
  ck_assert(advised(b) && !advised(a));
  ck_assert(tdo_bits_all_set(space.memory, tdo_round_down(b, PER_ZONE),
                             tdo_round_down(b, PER_ZONE) + PER_ZONE));
  (void)take(PER_ZONE - 1, old);
  ck_assert_uint_eq(count_calls(TDO_VM_ADVISE), 1);
  c = take(3 * PER_ZONE, old);
  ck_assert_uint_eq(count_calls(TDO_VM_ADVISE), 2);
  ck_assert_uint_eq(space.huge_bytes, 4 * HUGE);
  tdo_space_free(&space, c, 3 * PER_ZONE);
  tdo_space_free(&space, a, PER_ZONE);
  ck_assert(!advised(take(1, young)));
  for (size_t i = 0; i < 3; ++i)
    ck_assert(advised(take(PER_ZONE, old)));
  ck_assert_uint_eq(count_calls(TDO_VM_ADVISE), 2);
  space_stop();
}
END_TEST

/* What becomes the group's where it lies; neighbours in one call. */
START_TEST(test_merge) {
  space_start(1.0, SIZE_MAX, 0);
  for (size_t i = 0; i < 5 * PER_ZONE; ++i)
    (void)take(1, young);
  tdo_space_group_merge(&space, old, young);
  ck_assert_uint_eq(count_calls(TDO_VM_ADVISE), 1);
  ck_assert_uint_eq(space.huge_bytes, 5 * HUGE);
  ck_assert_uint_le(space.huge_borders, 2);
  space_stop();
}
END_TEST

/* The last zone, too; and where more free zones have small pages than are
   looked at, who wants a huge one gets it. */
START_TEST(test_edges) {
  size_t zone[ZONES];
  space_start(1.0, SIZE_MAX, 0);
  for (size_t i = 0; i < ZONES; ++i)
    zone[i] = take(PER_ZONE, young);
  tdo_space_group_merge(&space, old, young);
  ck_assert_uint_eq(space.huge_bytes, ZONES * HUGE);
  for (size_t i = 0; i < ZONES; ++i)
    ck_assert(advised(zone[i]));
  space_stop();
  space_start(1.0, SIZE_MAX, 0);
  for (size_t i = 0; i < ZONES - 1; ++i)
    zone[i] = take(PER_ZONE, young);
  for (size_t i = 0; i < ZONES - 1; ++i)
    tdo_space_free(&space, zone[i], PER_ZONE);
  ck_assert(advised(take(PER_ZONE, old)));
  space_stop();
}
END_TEST

/* Memory goes back by whole huge pages while that is enough; when it is not,
   what is left of one is no longer one. */
START_TEST(test_give_back) {
  size_t first, whole;
  space_start(0.0, SIZE_MAX, 0);
  first = take(PER_ZONE, old);
  whole = take(PER_ZONE, old);
  tdo_space_spare_set(&space, 1.0);
  tdo_vm_double_clear(&twin);
  tdo_space_free(&space, first, PER_ZONE / 2);
  tdo_space_free(&space, whole, PER_ZONE);
  tdo_space_purge(&space, GRAIN);
  ck_assert_uint_eq(count_calls(TDO_VM_DECOMMIT), 1);
  ck_assert_uint_eq(space.huge_bytes, HUGE);
  ck_assert(advised(first + PER_ZONE / 2));
  tdo_space_purge(&space, HUGE);
  ck_assert_uint_eq(space.spare, 0);
  ck_assert_uint_eq(space.huge_bytes, 0);
  ck_assert(advised(take(PER_ZONE, old)));
  space_stop();
}
END_TEST

/* A commit limit that has no room for the rest of a zone is kept, and such a
   zone is not one for huge pages. */
START_TEST(test_commit_limit) {
  space_start(1.0, SIZE_MAX, 0);
  REQUIRE(tdo_space_commit_limit_set(&space, space.committed + HUGE / 2) ==
          MPS_RES_OK);
  (void)take(PER_ZONE / 4, old);
  ck_assert_uint_eq(count_calls(TDO_VM_ADVISE), 0);
  ck_assert_uint_eq(space.huge_bytes, 0);
  space_stop();
}
END_TEST

/* A system that refuses is soon asked no more. */
START_TEST(test_refused) {
  space_start(1.0, SIZE_MAX, 0);
  tdo_vm_double_refuse_kind(&twin, TDO_VM_ADVISE, true);
  for (size_t i = 0; i < 30; ++i)
    ck_assert(!advised(take(PER_ZONE, old)));
  ck_assert_uint_eq(space.huge_bytes, 0);
  ck_assert_uint_eq(space.huge_refused, 16);
  ck_assert_uint_eq(count_calls(TDO_VM_ADVISE), 16);
  space_stop();
}
END_TEST

/* Memory for a whole zone, of which a part is in use, refused twice: once with
   more, once without. What is in use stays so. */
START_TEST(test_no_memory) {
  size_t a, b;
  space_start(0.0, SIZE_MAX, 0);
  tdo_space_group_huge(&space, old, false);
  a = take(10, old);
  tdo_space_group_huge(&space, old, true);
  tdo_vm_double_refuse_kind(&twin, TDO_VM_COMMIT, true);
  ck_assert_int_eq(tdo_space_alloc(&b, &space, 10, old, false, &space),
                   MPS_RES_MEMORY);
  tdo_vm_double_refuse_kind(&twin, TDO_VM_COMMIT, false);
  ck_assert(tdo_bits_all_set(space.used, a, a + 10));
  REQUIRE(tdo_space_check(&space));
  b = take(10, old);
  ck_assert(b >= a + 10 || b + 10 <= a);
  space_stop();
}
END_TEST

/* Advice makes no more borders of mappings than a part of the limit. */
START_TEST(test_borders) {
  enum { LIMIT = 160 };
  space_start(1.0, SIZE_MAX, LIMIT);
  for (size_t i = 0; i < 30; ++i) {
    (void)take(PER_ZONE, young);
    (void)take(PER_ZONE, old);
    ck_assert_uint_le(space.huge_borders, LIMIT / 16);
  }
  ck_assert_uint_eq(space.huge_bytes, 5 * HUGE);
  space_stop();
}
END_TEST

/* ---- whole arenas on the system */

static void arena_start(const char *mode, unsigned huge) {
  ck_assert_int_eq(setenv("TESTUDO_SHIELD", mode, 1), 0);
  MPS_ARGS_BEGIN(args) {
    TDO_ARGS_ADD(args, TDO_KEY_HUGE, huge);
    ck_assert_int_eq(mps_arena_create_k(&arena, mps_arena_class_vm(), args),
                     MPS_RES_OK);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  asserted_start();
  heap_in_arena(mps_class_amc());
}

/* A heap of some MiB, changed all over, while its survivors grow old. */
static void work(void) {
  for (size_t round = 0; round < 3; ++round) {
    for (size_t i = 0; i < ROOTS; ++i) {
      table[i] = node(300);
      *obj_ref(table[i], 0) = table[i / 2];
    }
    ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
    for (size_t i = 1; i < ROOTS; ++i)
      *obj_ref(table[i], 1) = table[ROOTS - i];
    collect();
  }
}

static void verify(void) {
  for (size_t i = 0; i < ROOTS; ++i) {
    REQUIRE(obj_refs(table[i]) >= 300);
    REQUIRE(*obj_ref(table[i], 0) == table[i / 2]);
    REQUIRE(i == 0 || *obj_ref(table[i], 1) == table[ROOTS - i]);
  }
  tdo_arena_check(arena);
}

static tdo_statistics_s look(void) {
  tdo_statistics_s s;
  tdo_statistics(arena, &s);
  return s;
}

/* Does the kernel say that it may use huge pages at P? -1: it says nothing.
   Adds up what it really did. */
static int kernel_says(const void *p, size_t *anonymous_o) {
  FILE *file = fopen("/proc/self/smaps", "r");
  char line[512];
  int here = 0, result = -1;
  *anonymous_o = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    unsigned long low, high;
    if (sscanf(line, "%lx-%lx ", &low, &high) == 2)
      here = (tdo_word_t)p >= low && (tdo_word_t)p < high;
    else if (here && sscanf(line, "AnonHugePages: %lu", &low) == 1)
      *anonymous_o += low;
    else if (here && strncmp(line, "VmFlags:", 8) == 0)
      result = strstr(line, " hg") != NULL;
  }
  if (file != NULL)
    (void)fclose(file);
  return result;
}

static const char *const modes[] = {"naive", "ranged", "deferred", "dirty",
                                    "off"};

START_TEST(test_modes) {
  size_t anonymous;
  int said;
  arena_start(modes[_i], TDO_HUGE_OLD);
  work();
  for (int i = 0; i < 2; ++i)
    collect(); /* all is old, however slowly that went */
  verify();
  if (tdo_vm_system()->huge_size(tdo_vm_system()) == 0 || suite_emulated()) {
    ck_assert_uint_eq(look().huge_refused, 0);
  } else {
    ck_assert_uint_gt(look().huge_bytes, 0);
    said = kernel_says(table[ROOTS / 2], &anonymous);
    printf("%s: %zu KiB are huge pages\n", modes[_i], anonymous);
    ck_assert_int_ne(said, 0); /* -1: it says nothing */
  }
  mps_arena_spare_set(arena, 0.0);
  verify();
  heap_stop();
}
END_TEST

/* Nothing is advised that was not asked for; neither in an arena over client
   memory. */
START_TEST(test_off) {
  static char memory[8 << 20];
  size_t calls_before;
  arena_start(modes[_i], TDO_HUGE_OFF);
  calls_before = look().advise_calls;
  work();
  verify();
  ck_assert_uint_eq(look().huge_bytes, 0);
  ck_assert_uint_eq(look().advise_calls, calls_before);
  heap_stop();
  MPS_ARGS_BEGIN(args) {
    TDO_ARGS_ADD(args, TDO_KEY_HUGE, TDO_HUGE_ALL);
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, sizeof memory);
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_CL_BASE, memory);
    ck_assert_int_eq(mps_arena_create_k(&arena, mps_arena_class_cl(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  heap_in_arena(mps_class_amc());
  table[0] = node(10);
  collect();
  ck_assert_uint_eq(look().huge_bytes, 0);
  heap_stop();
}
END_TEST

/* Every generation, and manual pools: more than the old ones alone. */
START_TEST(test_all) {
  mps_pool_t manual;
  mps_addr_t block;
  arena_start(modes[_i], TDO_HUGE_ALL);
  work();
  verify();
  ck_assert_int_eq(
      mps_pool_create_k(&manual, arena, mps_class_mvff(), mps_args_none),
      MPS_RES_OK);
  ck_assert_int_eq(mps_alloc(&block, manual, (size_t)24 << 20), MPS_RES_OK);
  memset(block, 7, (size_t)24 << 20);
  verify();
  if (tdo_vm_system()->huge_size(tdo_vm_system()) != 0 && !suite_emulated())
    ck_assert_uint_ge(look().huge_bytes, (size_t)24 << 20);
  mps_pool_destroy(manual);
  verify();
  heap_stop();
}
END_TEST

/* What the child inherits it may use, collect and give back. */
START_TEST(test_fork) {
  int status;
  pid_t child;
  arena_start(modes[_i], 1);
  work();
  child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    work();
    verify();
    mps_arena_spare_set(arena, 0.0);
    verify();
    suite_leave(0);
  }
  work();
  verify();
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  heap_stop();
}
END_TEST

static mps_res_t refuse(tdo_vm_t *vm, void *base, size_t size) {
  (void)vm, (void)base, (void)size;
  return MPS_RES_MEMORY;
}

static size_t two_mib(tdo_vm_t *vm) {
  (void)vm;
  return (size_t)2 << 20;
}

/* A kernel without huge pages. */
START_TEST(test_all_refused) {
  tdo_vm_system()->advise_huge = refuse;
  tdo_vm_system()->huge_size = two_mib;
  arena_start(modes[_i], TDO_HUGE_ALL);
  work();
  verify();
  ck_assert_uint_eq(look().huge_bytes, 0);
  ck_assert_uint_gt(look().huge_refused, 0);
  ck_assert_uint_le(look().huge_refused, 16);
  heap_stop();
}
END_TEST

SUITE_LOOPS_MAIN("huge", 60, {test_advice, 1}, {test_merge, 1},
                 {test_edges, 1}, {test_give_back, 1}, {test_commit_limit, 1},
                 {test_refused, 1}, {test_no_memory, 1}, {test_borders, 1},
                 {test_modes, 5},
                 {test_off, 5}, {test_all, 5}, {test_fork, 5},
                 {test_all_refused, 5})
