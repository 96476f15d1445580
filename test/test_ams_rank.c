/* Testudo: tests of blocks of ambiguous rank in pools that mark and sweep
   (interface, section 4.3).
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/heap.h" /* first: its functions have names of ours */
#include "code/platform.h"
#include "test/ams_pools.h"
#include "test/suite.h"

/* Blocks of ambiguous rank: any words; nothing in them is changed. */
START_TEST(ambiguous_rank) {
  mps_ap_t ambig, bad;
  mps_pool_t none;
  node_t *p, *moved, *stays;

  open_pools(_i);
  ambig = make_ap(pool, mps_rank_ambig());
  p = table[0] = make(ambig, NODE, 6);
  p->word[0] = stays = make(moving_ap, NODE, 1);
  p->word[1] = (node_t *)((char *)make(moving_ap, NODE, 1) + 8);
  p->word[2] = make(exact, NODE, 1);
  p->word[3] = (node_t *)((char *)make(exact, NODE, 1) + 3);
  p->word[4] = make(ambig, NODE, 1);
  p->word[5] = (node_t *)((char *)p + ((size_t)1 << 20)); /* unallocated */
  table[1] = moved = make(moving_ap, NODE, 1);
  stays->word[0] = make(exact, NODE, 7);
  for (size_t i = 0; i < 3; ++i) {
    mps_word_t copy[7];
    memcpy(copy, p, 7 * sizeof(mps_word_t));
    collect();
    ck_assert_mem_eq(copy, p, 7 * sizeof(mps_word_t));
    ck_assert_ptr_eq(p->word[0], stays);
    ck_assert_uint_eq(node_words(stays), 2);
    ck_assert_uint_eq(node_words(stays->word[0]), 8);
    ck_assert_uint_eq(live_bytes() - unused(ambig),
                      (7 + 2 + 2 + 8) * sizeof(mps_word_t));
  }
  ck_assert_ptr_ne(table[1], moved);
  /* Dead ones keep nothing for long, not even themselves. */
  p->word[2] = p;
  table[0] = NULL;
  collect();
  collect();
  collect();
  ck_assert_uint_eq(live_bytes() - unused(ambig), 0);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_RANK, mps_rank_weak());
    ck_assert_int_eq(mps_ap_create_k(&bad, pool, args), MPS_RES_PARAM);
  }
  MPS_ARGS_END(args);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, format);
    MPS_ARGS_ADD(args, MPS_KEY_AMS_SUPPORT_AMBIGUOUS, 0);
    ck_assert_int_eq(mps_pool_create_k(&none, arena, class_of(_i), args),
                     MPS_RES_OK);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_RANK, mps_rank_ambig());
    ck_assert_int_eq(mps_ap_create_k(&bad, none, args), MPS_RES_PARAM);
  }
  MPS_ARGS_END(args);
  mps_arena_park(arena);
  mps_ap_destroy(ambig);
  mps_pool_destroy(none);
  close_pools();
}
END_TEST

/* Old blocks of ambiguous rank that refer to what is old, too, are not scanned
   by each collection of what is young, once they have bars; but those that the
   client writes to are, and what they refer to stays where it is. */
START_TEST(old_ambiguous) {
  enum { COUNT = 4000, ROUNDS = 60 };
  mps_chain_t young;
  mps_pool_t nursery, old;
  mps_ap_t ap, ambig;
  node_t *p, *last = NULL;
  size_t least = SIZE_MAX;

  if (!TDO_BARRIERS)
    return;
  ck_assert_int_eq(setenv("TESTUDO_SHIELD", "ranged", 1), 0);
  ck_assert_int_eq(setenv("TESTUDO_CHECK", "off", 1), 0); /* it scans, too */
  ck_assert_int_eq(setenv("TESTUDO_STRESS", "0", 1), 0);
  open_pools(_i);
  young = make_chain(30);
  nursery = make_pool(mps_class_amc(), moving_format, young);
  ap = make_ap(nursery, mps_rank_exact());
  old = old_pool(class_of(_i), chain, 2);
  ambig = make_ap(old, mps_rank_ambig());
  for (size_t i = 0; i < COUNT; ++i) {
    p = make(moving_ap, NODE, 1);
    p->word[0] = table[0];
    table[0] = p;
  }
  for (size_t i = 0; i < 4; ++i)
    collect();
  mps_arena_park(arena);
  for (node_t *to = table[0]; to != NULL; to = to->word[0]) {
    p = make(ambig, NODE, 2);
    p->word[0] = last;
    p->word[1] = to;
    last = p;
  }
  table[0] = last;
  mps_ap_destroy(ambig); /* a segment with a buffer has no bars */
  collect();
  for (size_t i = 0; i < ROUNDS; ++i) {
    mps_word_t done = mps_collections(arena);
    last->word[1] = make(ap, NODE, 5);
    table[1] = make(ap, NODE, 7);
    nodes_scanned = 0;
    mps_arena_release(arena);
    for (size_t k = 0; k < 5000; ++k)
      (void)make(ap, NODE, 3);
    mps_arena_park(arena);
    done = mps_collections(arena) - done;
    if (done > 0)
      least = tdo_min(least, nodes_scanned / done);
    ck_assert_ptr_eq(table[0], last);
    ck_assert_uint_eq(node_words(last->word[1]), 6);
    ck_assert_uint_eq(node_words(table[1]), 8);
  }
  if (suite_pages(1) == 4096) /* else all lie in two pages */
    ck_assert_uint_lt(least, COUNT / 8);
  mps_arena_park(arena);
  mps_ap_destroy(ap);
  mps_pool_destroy(old);
  mps_pool_destroy(nursery);
  mps_chain_destroy(young);
  close_pools();
}
END_TEST

/* Where nothing moves, nothing need be held in place: blocks of ambiguous rank
   are scanned once, when they are known to survive, and the dead never. */
START_TEST(nothing_moves) {
  enum { LIVE = 100, DEAD = 1000 };
  mps_ap_t ambig;

  ck_assert_int_eq(setenv("TESTUDO_CHECK", "off", 1), 0); /* it scans, too */
  ck_assert_int_eq(setenv("TESTUDO_STRESS", "0", 1), 0);
  open_pools(_i);
  ambig = make_ap(pool, mps_rank_ambig());
  for (size_t i = 0; i < LIVE + DEAD; ++i) {
    node_t *p = make(ambig, NODE, 2);
    p->word[1] = p;
    if (i < LIVE) {
      p->word[0] = table[0];
      table[0] = p;
    }
  }
  for (size_t i = 0; i < 3; ++i) {
    nodes_scanned = 0;
    collect();
    ck_assert_uint_eq(nodes_scanned, LIVE);
  }
  mps_arena_park(arena);
  mps_ap_destroy(ambig);
  close_pools();
}
END_TEST

SUITE_LOOPS_MAIN("ams_rank", 100, {ambiguous_rank, 2}, {old_ambiguous, 2},
                 {nothing_moves, 2})
