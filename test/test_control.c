/* Testudo: tests of the library's own blocks.
   SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "arena/control.h"
#include "test/random.h"
#include "test/require.h"
#include "test/suite.h"

enum { BLOCKS = 2000, STEPS = 200000 };

static tdo_space_t space;
static tdo_control_t control;
static size_t grain;

/* With grains of 4 KiB and of 64, unless the system's pages are larger. */
enum { GRAINS = 2 };

static void control_start(int way, size_t limit) {
  static const tdo_space_hooks_t none;
  tdo_vm_t *vm = tdo_vm_system();
  grain = tdo_max((size_t)4096 << 4 * way, vm->page_size);
  REQUIRE(tdo_space_init(&space, vm, (size_t)64 << 20, 0, grain, limit, 0.5,
                         0) == MPS_RES_OK);
  REQUIRE(tdo_space_start(&space, (size_t)64 << 20, &none) == MPS_RES_OK);
  tdo_control_init(&control, &space);
}

static void control_stop(void) {
  ck_assert_uint_eq(control.allocated, 0);
  ck_assert(tdo_space_check(&space));
  tdo_space_finish(&space);
}

typedef struct block {
  unsigned char *base;
  size_t size;
} block_t;

static block_t blocks[BLOCKS];

/* Every byte of a block says whose it is, and nobody else writes there. */
static void block_check(size_t i) {
  for (size_t k = 0; k < blocks[i].size; ++k)
    REQUIRE(blocks[i].base[k] == (unsigned char)(i * 7));
}

static mps_res_t block_make(size_t i, size_t size) {
  void *p = &blocks;
  mps_res_t res = tdo_control_alloc(&p, &control, size);
  if (res != MPS_RES_OK) {
    REQUIRE(p == &blocks);
    return res;
  }
  REQUIRE((tdo_word_t)p % (size > 128 ? 64 : 16) == 0);
  REQUIRE(tdo_seg_of(&space, p) == &control.owner);
  blocks[i].base = p;
  blocks[i].size = size;
  memset(p, (int)(i * 7), size);
  return res;
}

static void block_free(size_t i) {
  block_check(i);
  tdo_control_free(&control, blocks[i].base, blocks[i].size);
  blocks[i].base = NULL;
}

static size_t grains_used(void) {
  return tdo_bits_count(space.used, 0, space.grains);
}

/* What lies in the lists is what the notes say, of every slab. */
static void lists_check(void) {
  size_t free = 0, dropped = 0, noted = 0, leaving = 0, slabs = 0;
  static const size_t sizes[TDO_CONTROL_CLASSES] = {
      16,  32,  48,   64,   80,   96,   112,   128,   192,    256,   320, 384,
      448, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144,
      524288};
  for (size_t i = 0; i < TDO_CONTROL_CLASSES; ++i) {
    void *list[2] = {control.free[i], NULL};
    if (tdo_control_sweeping(&control) && control.sweep_class == i)
      list[1] = control.unswept;
    for (size_t k = 0; k < 2; ++k)
      for (void *p = list[k]; p != NULL; memcpy(&p, p, sizeof p)) {
        REQUIRE(tdo_seg_of(&space, p) == &control.owner);
        free += sizes[i];
      }
  }
  for (size_t g = 0; g < space.grains; ++g) {
    if (!tdo_bits_get(space.used, g) || space.owner[g] != &control.owner)
      continue;
    slabs += space.note[g] != 0;
    if (space.note[g] >> 31 != 0) {
      ++leaving;
      noted += grain;
      dropped += (size_t)(space.note[g] << 1 >> 1) * 16;
    } else {
      noted += (size_t)space.note[g] * 16;
    }
  }
  REQUIRE(free + dropped == noted);
  REQUIRE(leaving == control.leaving);
  REQUIRE(slabs <= control.slabs);
}

static size_t random_size(void) {
  return 1 + random_below(random_below(10) == 0 ? grain + 904 : 300);
}

/* Block I goes if it is there, and comes if not. */
static void block_turn(size_t i) {
  if (blocks[i].base != NULL)
    block_free(i);
  else
    REQUIRE(block_make(i, random_size()) == MPS_RES_OK);
}

static void blocks_free(size_t from) {
  for (size_t i = from; i < BLOCKS; ++i)
    if (blocks[i].base != NULL)
      block_free(i);
}

/* Blocks of all sizes come and go; no two meet, and memory does not grow
   beyond what was needed at the worst moment. */
START_TEST(test_random) {
  size_t most = 0;
  random_start();
  control_start(_i, SIZE_MAX);
  memset(blocks, 0, sizeof blocks);
  for (size_t step = 0; step < STEPS; ++step) {
    block_turn(random_below(BLOCKS));
    most = tdo_max(most, control.allocated);
  }
  ck_assert_uint_lt(space.committed, 4 * most + ((size_t)1 << 20));
  lists_check();
  blocks_free(0);
  control_stop();
}
END_TEST

/* The same where many and few are there in turn, and slabs go back meanwhile:
   in the end, all but those that were cut into last. */
START_TEST(test_sweep) {
  size_t swept = 0;
  random_start();
  control_start(_i, SIZE_MAX);
  memset(blocks, 0, sizeof blocks);
  for (size_t step = 0; step < STEPS; ++step) {
    size_t i = random_below(step / (STEPS / 8) % 2 == 0 ? BLOCKS : 50);
    size_t slabs = control.slabs;
    if (step % (STEPS / 8) == 0)
      blocks_free(50);
    block_turn(i);
    tdo_control_ease(&control);
    if (random_below(5000) == 0)
      tdo_control_settle(&control);
    swept += slabs > control.slabs;
    if (step % 1000 == 0)
      lists_check();
  }
  ck_assert_uint_gt(swept, 10);
  blocks_free(0);
  tdo_control_settle(&control);
  lists_check();
  ck_assert_uint_eq(grains_used(), control.slabs);
  ck_assert_uint_le(control.slabs, 2);
  control_stop();
}
END_TEST

/* Between half and three quarters of them go only when there is time. */
START_TEST(test_idle) {
  size_t n, slabs;
  void **p;
  control_start(_i, SIZE_MAX);
  n = tdo_max(16 * grain, (size_t)8 << 20) / 128;
  REQUIRE((p = malloc(n * sizeof *p)) != NULL);
  for (size_t i = 0; i < n; ++i)
    REQUIRE(tdo_control_alloc(&p[i], &control, 128) == MPS_RES_OK);
  slabs = control.slabs;
  for (size_t i = n / 8 * 3; i < n; ++i)
    tdo_control_free(&control, p[i], 128);
  ck_assert(!tdo_control_ease(&control));
  ck_assert_uint_eq(control.slabs, slabs);
  ck_assert(tdo_control_ease_idle(&control));
  while (tdo_control_ease_idle(&control))
    ;
  ck_assert_uint_eq(control.leaving, 0);
  ck_assert_uint_lt(control.slabs, slabs / 2);
  for (size_t i = 0; i < n / 8 * 3; ++i)
    tdo_control_free(&control, p[i], 128);
  free(p);
  control_stop();
}
END_TEST

/* Slabs of which something is in use stay; others go by pieces of work, once
   they are most of all, and are used again until one has begun to go. */
START_TEST(test_goes_back) {
  enum { KEPT = 100 };
  size_t n, slabs, pieces = 0;
  void **p;
  control_start(_i % GRAINS, SIZE_MAX);
  n = tdo_max(8 * grain, (size_t)4 << 20) / 128;
  REQUIRE((p = malloc(n * sizeof *p)) != NULL);
  for (size_t i = 0; i < n; ++i)
    REQUIRE(tdo_control_alloc(&p[i], &control, 128) == MPS_RES_OK);
  slabs = control.slabs;
  for (size_t i = KEPT; i < n / 4; ++i)
    tdo_control_free(&control, p[i], 128);
  ck_assert_uint_gt(control.leaving, 0);
  tdo_control_ease(&control);
  ck_assert_uint_eq(control.slabs, slabs);
  for (size_t i = KEPT; i < n / 4; ++i)
    REQUIRE(tdo_control_alloc(&p[i], &control, 128) == MPS_RES_OK);
  ck_assert_uint_eq(control.leaving, 0);
  ck_assert_uint_eq(control.slabs, slabs);
  for (size_t i = KEPT; i < n; ++i)
    tdo_control_free(&control, p[i], 128);
  do {
    size_t before = control.slabs;
    tdo_control_ease(&control);
    /* what a piece looks at is 256 of them */
    ck_assert_uint_le(before - control.slabs, tdo_max(256 * 128 / grain, 1));
    ++pieces;
    if (_i >= GRAINS && pieces == 3) { /* all that is left at once */
      ck_assert(tdo_control_sweeping(&control) && control.unswept != NULL);
      tdo_control_settle(&control);
    }
  } while (tdo_control_sweeping(&control));
  if (_i < GRAINS)
    ck_assert_uint_eq(pieces, (n - KEPT) / 256 + 1);
  lists_check();
  ck_assert_uint_le(control.slabs, KEPT * 128 / grain + 2);
  ck_assert_uint_eq(grains_used(), control.slabs);
  for (size_t i = 0; i < KEPT; ++i)
    tdo_control_free(&control, p[i], 128);
  free(p);
  control_stop();
}
END_TEST

/* While somebody looks without the lock, memory stays. */
START_TEST(test_looking) {
  size_t slabs, begun;
  control_start(_i, SIZE_MAX);
  for (size_t i = 0; i < BLOCKS; ++i)
    REQUIRE(block_make(i, 448) == MPS_RES_OK);
  slabs = control.slabs;
  begun = tdo_control_look(&control);
  for (size_t i = 0; i < BLOCKS; ++i)
    block_free(i);
  tdo_control_settle(&control);
  ck_assert_uint_eq(control.slabs, slabs);
  lists_check();
  REQUIRE(block_make(0, 448) == MPS_RES_OK);
  tdo_control_looked(&control, begun);
  tdo_control_settle(&control);
  ck_assert_uint_le(control.slabs, 2);
  block_free(0);
  control_stop();
}
END_TEST

/* A block that was given back is the next one of its size. */
START_TEST(test_reuse) {
  size_t committed;
  control_start(_i, SIZE_MAX);
  for (size_t i = 0; i < 100; ++i)
    REQUIRE(block_make(i, 1 + 20 * i) == MPS_RES_OK);
  committed = space.committed;
  for (int round = 0; round < 50; ++round)
    for (size_t i = 0; i < 100; ++i) {
      unsigned char *was = blocks[i].base;
      block_free(i);
      REQUIRE(block_make(i, 1 + 20 * i) == MPS_RES_OK);
      REQUIRE(blocks[i].base == was);
    }
  ck_assert_uint_eq(space.committed, committed);
  for (size_t i = 0; i < 100; ++i)
    block_free(i);
  control_stop();
}
END_TEST

/* What is left of a slab too small for a block serves smaller ones. */
START_TEST(test_rest_of_slab) {
  size_t grains, half, i = 0;
  control_start(_i, SIZE_MAX);
  half = grain / 2; /* a slab has a grain */
  REQUIRE(block_make(i++, half) == MPS_RES_OK);
  REQUIRE(block_make(i++, half / 2) == MPS_RES_OK);
  grains = grains_used();
  REQUIRE(block_make(i++, half) == MPS_RES_OK); /* a new slab */
  ck_assert_uint_eq(grains_used(), grains + 1);
  REQUIRE(block_make(i++, half) == MPS_RES_OK); /* the new one is full */
  REQUIRE(block_make(i++, half / 2) == MPS_RES_OK);
  ck_assert_uint_eq(grains_used(), grains + 1);
  for (size_t k = 0; k < grain / 448; ++k) /* all but 64 or 128 bytes */
    REQUIRE(block_make(i++, 448) == MPS_RES_OK);
  ck_assert_uint_eq(grains_used(), grains + 2);
  REQUIRE(block_make(i++, 448) == MPS_RES_OK);
  ck_assert_uint_eq(grains_used(), grains + 3);
  REQUIRE(block_make(i++, tdo_min(grain % 448, 128)) == MPS_RES_OK);
  ck_assert(blocks[i - 1].base < blocks[i - 2].base);
  while (i > 0)
    block_free(--i);
  control_stop();
}
END_TEST

/* Descriptors lie together, not each beside its tables. */
START_TEST(test_together) {
  size_t each, pairs;
  control_start(_i, SIZE_MAX);
  each = grain / 320; /* in a slab */
  pairs = tdo_min(10, BLOCKS / 2 / each) * each;
  for (size_t i = 0; i < pairs; ++i) {
    REQUIRE(block_make(2 * i, 320) == MPS_RES_OK);
    REQUIRE(block_make(2 * i + 1, grain / 2) == MPS_RES_OK);
  }
  for (size_t i = 0; i + each < pairs; ++i)
    ck_assert_uint_le(
        (size_t)(blocks[2 * (i + each)].base - blocks[2 * i].base),
        (each / 2 + 2) * grain); /* slabs of tables come between */
  ck_assert_uint_eq(grains_used(), pairs / 2 + pairs / each);
  for (size_t i = 0; i < 2 * pairs; ++i)
    block_free(i);
  control_stop();
}
END_TEST

/* Blocks of several kilobytes share grains where these are large. */
START_TEST(test_larger_share) {
  size_t grains, each;
  control_start(_i, SIZE_MAX);
  each = grain / 4096;
  grains = grains_used();
  for (size_t i = 0; i < 4 * each; ++i)
    REQUIRE(block_make(i, 4096) == MPS_RES_OK);
  ck_assert_uint_eq(grains_used(), grains + 4);
  for (size_t i = 0; i < 4 * each; ++i)
    block_free(i);
  control_stop();
}
END_TEST

/* Large blocks have grains of their own, which go back. */
START_TEST(test_large) {
  size_t used;
  control_start(_i, SIZE_MAX);
  REQUIRE(block_make(0, 16) == MPS_RES_OK);
  used = grains_used();
  REQUIRE(block_make(1, grain / 2 + 1) == MPS_RES_OK);
  REQUIRE(block_make(2, 100000) == MPS_RES_OK);
  ck_assert_uint_eq(grains_used(), used + 1 + (100000 + grain - 1) / grain);
  block_free(1);
  block_free(2);
  ck_assert_uint_eq(grains_used(), used);
  block_free(0);
  control_stop();
}
END_TEST

/* At the commit limit: a result code, and nothing changed. */
START_TEST(test_limit) {
  size_t n = 0, allocated;
  control_start(_i, (size_t)256 << 10);
  while (n < BLOCKS && block_make(n, 500) == MPS_RES_OK)
    ++n;
  ck_assert_uint_gt(n, 100);
  ck_assert_uint_lt(n, BLOCKS);
  allocated = control.allocated;
  ck_assert_int_eq(block_make(n, 500), MPS_RES_COMMIT_LIMIT);
  ck_assert_int_eq(block_make(n, 50000), MPS_RES_COMMIT_LIMIT);
  ck_assert_uint_eq(control.allocated, allocated);
  block_free(n - 1);
  ck_assert_int_eq(block_make(n - 1, 500), MPS_RES_OK);
  while (n > 0)
    block_free(--n);
  /* Room that was for blocks of one size is for others. */
  while (block_make(n, grain / 2) == MPS_RES_OK)
    ++n;
  ck_assert_uint_gt(n * grain, (size_t)64 << 10);
  while (n > 0)
    block_free(--n);
  control_stop();
}
END_TEST

SUITE_LOOPS_MAIN("control", 60, {test_random, GRAINS}, {test_sweep, GRAINS},
                 {test_idle, GRAINS}, {test_goes_back, 2 * GRAINS},
                 {test_looking, GRAINS}, {test_reuse, GRAINS},
                 {test_rest_of_slab, GRAINS}, {test_together, GRAINS},
                 {test_larger_share, GRAINS}, {test_large, GRAINS},
                 {test_limit, GRAINS})
