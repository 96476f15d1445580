/* Testudo: small scenarios of heaps that live, in pools of every class, in
   arenas and formats of several kinds (interface, sections 2.11, 2.19, 2.22, 4
   and 5). SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include "test/scenarios.h"

/* Slots of weak rank, in blocks and in roots. */
static void weak_slots(void) {
  mps_ap_t weak;
  mps_addr_t holder;
  ck_assert_int_eq(mps_ap_create(&weak, pool, mps_rank_weak()), MPS_RES_OK);
  mps_arena_park(arena);
  table[1] = told(1);
  ck_assert_int_eq(block_try(&holder, pool, weak, 3), MPS_RES_OK);
  *obj_ref(holder, 0) = table[1];
  *obj_ref(holder, 1) = told(2);
  table[0] = holder;
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_ptr_eq(*obj_ref(holder, 0), table[1]);
  ck_assert_ptr_null(*obj_ref(holder, 1));
  table[1] = NULL;
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_ptr_null(*obj_ref(holder, 0));
  mps_ap_destroy(weak);
}

static void weak_roots(void) {
  mps_root_t root;
  hide(3);
  memcpy(words, hidden, 3 * WORD);
  table[1] = hidden[1];
  words[2] = 0; /* waits to be finalized, as the first */
  root = words_root(mps_rank_weak(), 3);
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_uint_eq(number_of((mps_addr_t)words[0]), 0);
  ck_assert_uint_eq(words[1], (mps_word_t)table[1]);
  ck_assert_uint_eq(count_posted(), 2);
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_uint_eq(words[0], 0);
  ck_assert_uint_eq(number_of((mps_addr_t)words[1]), 1);
  table[1] = NULL;
  (void)mps_arena_collect(arena);
  (void)count_posted();
  (void)mps_arena_collect(arena);
  ck_assert_uint_eq(words[1], 0);
  mps_root_destroy(root);
}

/* Every generation, the oldest included, and one that is not. */
static void generations(void) {
  mps_pool_t made = NULL;
  for (unsigned gen = 0; gen < 4; ++gen) {
    mps_res_t res;
    MPS_ARGS_BEGIN(args) {
      MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
      MPS_ARGS_ADD(args, MPS_KEY_CHAIN, chain);
      MPS_ARGS_ADD(args, MPS_KEY_GEN, gen);
      res = mps_pool_create_k(&made, arena, kind->of(), args);
    }
    MPS_ARGS_END(args);
    ck_assert(res == MPS_RES_OK || gen == 3);
    if (res == MPS_RES_OK && gen < 3) {
      mps_ap_t on = point(made);
      mps_addr_t p;
      for (size_t i = 0; i < suite_size(20000, 2000); ++i) {
        REQUIRE(block_try(&p, made, on, 5) == MPS_RES_OK);
        *obj_ref(p, 0) = (mps_addr_t)(i << 2 | 1);
        if (i < 100)
          table[i] = p;
      }
      ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
      check_told(100);
      memset(table, 0, sizeof table);
      mps_ap_destroy(on);
      mps_pool_destroy(made);
      mps_arena_release(arena);
    }
  }
  asserted_count = 0; /* the last one */
}

/* Only the client pointer keeps. */
static void no_interior(void) {
  mps_pool_t made;
  mps_root_t root;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
    MPS_ARGS_ADD(args, MPS_KEY_INTERIOR, 0);
    ck_assert_int_eq(mps_pool_create_k(&made, arena, kind->of(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  move_to(made);
  hide(2);
  words[0] = (mps_word_t)hidden[0];
  words[1] = (mps_word_t)hidden[1] + 2 * world->align;
  memset(hidden, 0, sizeof hidden);
  root = words_root(mps_rank_ambig(), 2);
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_uint_eq(number_of((mps_addr_t)words[0]), 0);
  ck_assert_uint_eq(count_posted(), 1);
  mps_root_destroy(root);
  return_home();
}

/* By small steps, of any pause time, to the end. */
static void stepped(void) {
  double pauses[] = {0.0, 0.001, 0.1, (double)INFINITY};
  for (size_t i = 0; i < 4; ++i) {
    size_t posted = 0;
    mps_arena_pause_time_set(arena, pauses[i]);
    tell(1000);
    hide(5);
    memset(hidden, 0, sizeof hidden);
    ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
    for (size_t steps = 0; posted < 5; ++steps) {
      REQUIRE(steps < 100000);
      (void)mps_arena_step(arena, 0.0, 0.0);
      posted += count_posted();
    }
    ck_assert_uint_eq(posted, 5);
    mps_arena_park(arena);
    check_told(1000);
    mps_arena_release(arena);
  }
}

/* Nobody reads them, and the arena goes. */
static void messages_left(void) {
  mps_message_t message;
  mps_message_type_enable(arena, mps_message_type_gc());
  mps_message_type_enable(arena, mps_message_type_gc_start());
  table[0] = told(0);
  for (size_t i = 0; i < 60; ++i) {
    hide(1);
    hidden[0] = NULL;
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  }
  for (size_t i = 0; i < 10; ++i)
    ck_assert(mps_message_get(&message, arena,
                              i % 2 ? mps_message_type_gc()
                                    : mps_message_type_finalization()));
  ck_assert_uint_eq(number_of(table[0]), 0);
}

/* From one word to megabytes, in turn. */
static void all_sizes(void) {
  for (size_t round = 0; round < 4; ++round) {
    for (size_t i = 0; i < 18; ++i) {
      table[i] = block((size_t)1 << i);
      *obj_ref(table[i], 0) = (mps_addr_t)(i << 2 | 1);
      if (does(SCANS) && i > 1)
        *obj_ref(table[i], ((size_t)1 << i) - 1) = table[i - 1];
    }
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
    mps_arena_release(arena);
    for (size_t i = 0; i < 18; ++i) {
      ck_assert_uint_eq(number_of(table[i]), i);
      ck_assert_uint_eq(obj_size(table[i]), bytes((size_t)1 << i));
      if (does(SCANS) && i > 1)
        ck_assert_ptr_eq(*obj_ref(table[i], ((size_t)1 << i) - 1),
                         table[i - 1]);
    }
  }
}

/* What dies gives its memory back. */
static void nothing_left(void) {
  size_t before;
  mps_arena_spare_set(arena, 0.0);
  table[0] = told(0);
  (void)mps_arena_collect(arena);
  before = mps_arena_committed(arena);
  mps_arena_clamp(arena);
  for (size_t i = 0; i < 10000; ++i)
    (void)block(30);
  ck_assert_uint_gt(mps_arena_committed(arena),
                    before + 10000 * bytes(30) / 2);
  for (int i = 0; i < 3; ++i)
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_uint_lt(mps_arena_committed(arena), before + ((size_t)1 << 20));
  ck_assert_uint_lt(in_use(pool), (size_t)1 << 18);
}

/* A list longer than any stack is deep. */
static void long_list(void) {
  const size_t length = suite_size(60000, 5000);
  size_t n = 0;
  mps_addr_t p;
  for (size_t i = 0; i < length; ++i) {
    p = told(i);
    *obj_ref(p, 1) = table[0];
    table[0] = p;
  }
  for (int i = 0; i < 3; ++i)
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  for (p = table[0]; p != NULL; p = *obj_ref(p, 1))
    REQUIRE(number_of(p) == length - ++n);
  ck_assert_uint_eq(n, length);
}

/* Points on which nothing counts, and frames and patterns outstanding. */
static void odd_points(void) {
  for (int round = 0; round < 20; ++round) {
    mps_ap_t on;
    mps_frame_t frame;
    mps_addr_t p = NULL;
    MPS_ARGS_BEGIN(args) {
      MPS_ARGS_ADD(args, MPS_KEY_AP_HASH_ARRAYS, 1);
      ck_assert_int_eq(mps_ap_create_k(&on, pool, args), MPS_RES_OK);
    }
    MPS_ARGS_END(args);
    ck_assert_int_eq(mps_ap_frame_push(&frame, on), MPS_RES_OK);
    ck_assert_int_eq(mps_ap_alloc_pattern_begin(on, mps_alloc_pattern_ramp()),
                     MPS_RES_OK);
    for (size_t i = 0; i < suite_size(2000, 200); ++i)
      REQUIRE(block_try(&p, pool, on, 9) == MPS_RES_OK);
    *obj_ref(p, 0) = (mps_addr_t)((mps_word_t)round << 2 | 1);
    table[round] = p;
    mps_ap_destroy(on);
  }
  check_told(20);
}

/* Barriers are hit, and nobody's memory is lost: old blocks are written and
   read while collections go on. */
static void mutated(void) {
  mps_arena_pause_time_set(arena, 0.0);
  tell(500);
  for (int i = 0; i < 3; ++i)
    (void)mps_arena_collect(arena);
  mps_arena_release(arena);
  for (size_t i = 0; i < suite_size(40000, 1000); ++i) {
    mps_addr_t p = told(i);
    size_t at = random_below(500);
    REQUIRE(number_of(table[at]) == at);
    *obj_ref(table[at], 1) = p;
    at = random_below(500);
    p = *obj_ref(table[at], 1);
    REQUIRE(p == NULL || number_of(p) <= i);
    if (i % 5000 == 0)
      (void)mps_arena_start_collect(arena);
  }
}

static const scenario_t scenarios[] = {
    {"weak slots", weak_slots, WEAKENS, 0},
    {"weak roots", weak_roots, COLLECTS, 0},
    {"generations", generations, COLLECTS, MOVES},
    {"no interior", no_interior, MOVES, 0},
    {"stepped", stepped, COLLECTS, 0},
    {"messages left", messages_left, COLLECTS, 0},
    {"all sizes", all_sizes, COLLECTS, 0},
    {"nothing left", nothing_left, COLLECTS, 0},
    {"long list", long_list, COLLECTS | SCANS, 0},
    {"odd points", odd_points, COLLECTS, 0},
    {"mutated", mutated, COLLECTS | SCANS, 0}};

START_TEST(living) {
  play(scenarios, _i);
}
END_TEST

int main(void) {
  size_t n = sizeof scenarios / sizeof scenarios[0];
  return suite_run(scenarios_suite("living", scenarios, n, living));
}
