/* Testudo: tests of collection in place in large segments: the work does not
   grow faster than the segment, and can be left in the middle. The linker
   replaces the search for the next object to scan by one that counts the words
   it looks at (test/CMakeLists.txt). SPDX-License-Identifier: BSD-2-Clause */
#include "code/bits.h"
#include "test/objects.h"
#include "test/random.h"
#include "test/suite.h"

enum { PIECE = 1 << 19, LENGTH = PIECE / (4 * WORD), TOP = 2 };

static size_t looked; /* words */
static mps_addr_t nodes[LENGTH];

size_t __real_tdo_bits_next_in(const tdo_bits_t *t, const tdo_bits_t *not_in,
                               size_t base, size_t limit);
size_t __wrap_tdo_bits_next_in(const tdo_bits_t *t, const tdo_bits_t *not_in,
                               size_t base, size_t limit);

size_t __wrap_tdo_bits_next_in(const tdo_bits_t *t, const tdo_bits_t *not_in,
                               size_t base, size_t limit) {
  size_t found = __real_tdo_bits_next_in(t, not_in, base, limit);
  looked += found / TDO_WORD_BITS - base / TDO_WORD_BITS + 1;
  return found;
}

/* A pool of old objects in segments of PIECE bytes, and nodes in them. */
static void set_up(void) {
  heap_start(mps_class_amc());
  mps_arena_park(arena);
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
    MPS_ARGS_ADD(args, MPS_KEY_CHAIN, chain);
    MPS_ARGS_ADD(args, MPS_KEY_EXTEND_BY, PIECE);
    REQUIRE(mps_pool_create_k(&pool, arena, mps_class_amc(), args) ==
            MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_GEN, TOP);
    REQUIRE(mps_ap_create_k(&ap, pool, args) == MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  for (size_t i = 0; i < LENGTH; ++i)
    nodes[i] = node(3);
}

/* The nodes are a list that begins at the root, in the order of the array. */
static void link_up(void) {
  table[0] = nodes[0];
  for (size_t i = 0; i + 1 < LENGTH; ++i)
    *obj_ref(nodes[i], 1) = nodes[i + 1];
}

static void check_list(void) {
  mps_addr_t p = table[0];
  for (size_t i = 0; i < LENGTH; ++i) {
    ck_assert_ptr_eq(p, nodes[i]); /* nothing moved */
    p = *obj_ref(p, 1);
  }
  ck_assert_ptr_null(p);
}

static void swap(size_t i, size_t j) {
  mps_addr_t p = nodes[i];
  nodes[i] = nodes[j];
  nodes[j] = p;
}

static void upwards(void) {
}

static void downwards(void) {
  for (size_t i = 0; i < LENGTH / 2; ++i)
    swap(i, LENGTH - 1 - i);
}

static void anyhow(void) {
  random_start();
  for (size_t i = LENGTH - 1; i > 0; --i)
    swap(i, random_below(i + 1));
}

/* From the bottom, and the top, to the middle. */
static void from_ends(void) {
  for (size_t i = 0; i < LENGTH / 2; i += 2)
    swap(i, LENGTH - 1 - i);
}

static const struct {
  void (*order)(void);
} orders[] = {{upwards}, {downwards}, {anyhow}, {from_ends}};

START_TEST(linear) {
  set_up();
  orders[_i].order();
  link_up();
  mps_arena_release(arena);
  looked = 0;
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  mps_arena_park(arena);
  ck_assert_uint_ge(looked, 1);
  ck_assert_uint_lt(looked, 4 * LENGTH);
  check_list();
  heap_stop();
}
END_TEST

/* A slice for which there is no time leaves most of a segment. */
START_TEST(in_slices) {
  size_t least, most = 0, steps = 0;
  set_up();
  downwards();
  link_up();
  mps_arena_pause_time_set(arena, 0);
  mps_arena_release(arena);
  obj_scans = 0;
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  do {
    least = obj_scans;
    ++steps;
    (void)mps_arena_step(arena, 0, 0);
    most = obj_scans - least > most ? obj_scans - least : most;
  } while (obj_scans < LENGTH && steps < LENGTH);
  ck_assert_uint_ge(obj_scans, LENGTH);
  ck_assert_uint_le(most, LENGTH / 4);
  mps_arena_park(arena);
  check_list();
  heap_stop();
}
END_TEST

/* The same, and the mutator looks at what is left. */
START_TEST(in_slices_seen) {
  set_up();
  anyhow();
  link_up();
  mps_arena_pause_time_set(arena, 0);
  for (size_t i = 0; i < 8; ++i) {
    mps_arena_release(arena);
    ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
    for (size_t k = 0; k < i; ++k)
      (void)mps_arena_step(arena, 0, 0);
    check_list();
    mps_arena_park(arena);
    check_list();
  }
  heap_stop();
}
END_TEST

SUITE_LOOPS_MAIN("in_place", 60, {linear, 4}, {in_slices, 1},
                 {in_slices_seen, 1})
