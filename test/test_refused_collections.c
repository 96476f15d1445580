/* Testudo: the library's own memory refused while collections run: what
   survives may stay in place, or keep more alive, but nothing is lost.
   SPDX-License-Identifier: BSD-2-Clause */
#include "mpscamc.h"
#include "mpscams.h"
#include "mpscawl.h"
#include "test/refused.h"

enum { PAIRS_IN_TABLE = 100 };

/* A table of pairs, and keys of which every other is kept. */
static void fill_pairs(mps_ap_t objects) {
  node_t *keys = make(objects, NODE, PAIRS_IN_TABLE);
  table[1] = keys;
  table[0] = make(ap, PAIRS, 2 * PAIRS_IN_TABLE + 1);
  for (size_t i = 0; i < PAIRS_IN_TABLE; ++i) {
    table[0]->word[2 * i + 1] = make(objects, NODE, 1);
    table[0]->word[2 * i + 2] = make(objects, NODE, 2);
    if (i % 2 == 0)
      keys->word[i] = table[0]->word[2 * i + 1];
  }
}

static mps_ap_t moving_ap;

/* What is refused may keep a pair, but never lose one or leave a half. */
static mps_res_t collect_pairs(void) {
  size_t left = 0, at = fail_at;
  fail_at = 0;
  fill_pairs(moving_ap);
  fail_at = at;
  collect();
  for (size_t i = 0; i < PAIRS_IN_TABLE; ++i) {
    node_t *key = table[0]->word[2 * i + 1];
    node_t *value = table[0]->word[2 * i + 2];
    REQUIRE((key == NULL) == (value == NULL));
    if (i % 2 == 0)
      REQUIRE(key == table[1]->word[i]);
    if (key != NULL) {
      REQUIRE(node_words(key) == 2 && node_words(value) == 3);
      ++left;
    }
  }
  if (at == 0)
    ck_assert_uint_eq(left, PAIRS_IN_TABLE / 2);
  table[0] = table[1] = NULL;
  at = fail_at;
  fail_at = 0;
  collect();
  collect();
  fail_at = at;
  return MPS_RES_OK;
}

START_TEST(ephemerons) {
  mps_pool_t moving;
  open_pool(mps_class_aeph(), mps_rank_ephemeron());
  moving = make_pool(mps_class_amc(), moving_format, NULL);
  moving_ap = make_ap(moving, mps_rank_exact());
  each_refused(collect_pairs);
  mps_arena_park(arena);
  mps_ap_destroy(moving_ap);
  mps_pool_destroy(moving);
  close_pool();
}
END_TEST

/* Chains of nodes on many pages, some of them pinned by ambiguous words, one
   of them large: refused memory leaves some of it in place. */
static void fill_chain(void) {
  for (size_t i = 0; i < 16; ++i) {
    size_t slots = i == 7 ? 20000 : 300 + i;
    table[i] = NULL;
    for (size_t j = 0; j < 6; ++j) {
      node_t *p = make(ap, NODE, slots);
      p->word[0] = table[i];
      p->word[slots - 1] = p;
      table[i] = p;
      if (j == i % 6)
        hints[i] = i % 3 == 0 ? (void *)p : (void *)&p->word[5];
    }
  }
}

static void check_chain(void) {
  for (size_t i = 0; i < 16; ++i) {
    size_t slots = i == 7 ? 20000 : 300 + i, j = 0;
    for (node_t *p = table[i]; p != NULL; p = p->word[0], ++j) {
      REQUIRE(node_slots(p) == slots && node_kind(p) == NODE);
      REQUIRE(p->word[slots - 1] == p);
      if (j == 5 - i % 6)
        REQUIRE((void *)p == hints[i] || (void *)&p->word[5] == hints[i]);
    }
    REQUIRE(j == 6);
  }
}

static mps_res_t collect_chain(void) {
  size_t at = fail_at;
  fail_at = 0;
  fill_chain();
  fail_at = at;
  collect();
  check_chain();
  collect();
  fail_at = 0;
  check_chain();
  memset(table, 0, sizeof table);
  memset(hints, 0, sizeof hints);
  collect();
  collect();
  fail_at = at;
  return MPS_RES_OK;
}

START_TEST(collections) {
  open_pool(mps_class_amc(), mps_rank_exact());
  each_refused(collect_chain);
  close_pool();
}
END_TEST

enum { REGION = 100, REGION_SLOTS = 99 };

/* A large region of many objects in a pool that does not move them: they live
   each by itself if there is memory for their tables, else all together. */
static mps_res_t collect_region(void) {
  const size_t bytes = (REGION_SLOTS + 1) * sizeof(mps_word_t);
  size_t at = fail_at;
  mps_addr_t p;
  fail_at = 0;
  do {
    REQUIRE(mps_reserve(&p, ap, REGION * bytes) == MPS_RES_OK);
    memset(p, 0, REGION * bytes);
    for (size_t i = 0; i < REGION; ++i)
      ((node_t *)((char *)p + i * bytes))->head = HEAD(NODE, REGION_SLOTS + 1);
  } while (!mps_commit(ap, p, REGION * bytes));
  for (size_t i = 0; i < 3; ++i)
    table[i] = (node_t *)((char *)p + 40 * i * bytes);
  fail_at = at;
  collect();
  collect();
  fail_at = 0;
  for (size_t i = 0; i < 3; ++i)
    REQUIRE(node_kind(table[i]) == NODE &&
            node_slots(table[i]) == REGION_SLOTS);
  if (at == 0)
    ck_assert_uint_eq(mps_pool_total_size(pool) - mps_pool_free_size(pool),
                      3 * bytes);
  memset(table, 0, sizeof table);
  collect();
  collect();
  ck_assert_uint_eq(mps_pool_total_size(pool), 0);
  fail_at = at;
  return MPS_RES_OK;
}

START_TEST(regions) {
  open_pool(mps_class_ams(), mps_rank_exact());
  each_refused(collect_region);
  close_pool();
}
END_TEST

/* When memory ran out each object that survives stays; for few of them is more
   asked for. */
START_TEST(few_asked) {
  enum { NODES = 5000, ASKED = 200 };
  size_t n = 0;
  open_pool(mps_class_amc(), mps_rank_exact());
  for (size_t i = 0; i < NODES; ++i) {
    node_t *p = make(ap, NODE, 4);
    p->word[0] = table[0];
    table[0] = p;
  }
  fail_at = 1;
  fail_count = 0;
  fail_rest = true;
  collect();
  fail_at = 0;
  ck_assert_uint_gt(fail_count, 0);
  ck_assert_uint_lt(fail_count, ASKED);
  for (node_t *p = table[0]; p != NULL; p = p->word[0])
    ++n;
  ck_assert_uint_eq(n, NODES);
  tdo_arena_check(arena);
  table[0] = NULL;
  close_pool();
}
END_TEST

/* A large block, cut into small objects; the list of them goes to and fro. */
static void fill_recut(size_t pieces, size_t words) {
  node_t *base = make(ap, NODE, pieces * words - 1);
  table[0] = base;
  for (size_t i = 0; i < pieces; ++i) {
    node_t *p = (node_t *)((mps_word_t *)base + i * 7 % pieces * words);
    node_t *next =
        (node_t *)((mps_word_t *)base + (i + 1) * 7 % pieces * words);
    p->head = HEAD(NODE, words);
    memset(p->word, 0, (words - 1) * sizeof *p->word);
    p->word[0] = i + 1 < pieces ? next : NULL;
    p->word[1] = (node_t *)(2 * i + 1); /* no reference */
  }
}

/* Some of its objects have moved when there is no more memory to copy to, nor
   for a table of what stays: all the others do. */
static mps_res_t collect_recut(void) {
  enum { PIECES = 1500, WORDS = 8 };
  size_t at = fail_at, n = 0;
  fail_at = 0;
  fill_recut(PIECES, WORDS);
  fail_at = at;
  for (int i = 0; i < 2; ++i) {
    collect();
    fail_at = 0;
    tdo_arena_check(arena);
  }
  for (node_t *p = table[0]; p != NULL; p = p->word[0], ++n)
    REQUIRE(node_words(p) == WORDS && p->word[1] == (node_t *)(2 * n + 1));
  REQUIRE(n == PIECES);
  memset(table, 0, sizeof table);
  collect();
  collect();
  fail_at = at;
  return MPS_RES_OK;
}

START_TEST(recut) {
  open_pool(mps_class_amc(), mps_rank_exact());
  each_refused(collect_recut);
  close_pool();
}
END_TEST

/* A list that takes more room than all else. */
static void build_garbage(void) {
  for (size_t i = 0; i < 5000; ++i) {
    node_t *p = make(ap, NODE, 40);
    p->word[0] = table[TABLE - 1];
    table[TABLE - 1] = p;
  }
}

/* The groups that zones belong to run out: segments of chains that have none
   lie in shared zones, and what there is is collected as ever, old and
   young. */
START_TEST(groups) {
  enum { CHAINS = 100 };
  static mps_chain_t chains[CHAINS];
  static mps_pool_t full[CHAINS];
  mps_gen_param_s gens[] = {{10, 0.5}, {20, 0.5}, {30, 0.5}};
  size_t old;
  open_pool(mps_class_amc(), mps_rank_exact());
  fill_chain();
  for (int round = 0; round < 3; ++round) {
    size_t before = held();
    for (size_t n = 0; n < CHAINS; ++n) {
      mps_ap_t point;
      ck_assert_int_eq(mps_chain_create(&chains[n], arena, 3, gens),
                       MPS_RES_OK);
      full[n] = make_pool(mps_class_amc(), moving_format, chains[n]);
      point = make_ap(full[n], mps_rank_exact());
      (void)make(point, NODE, 40);
      mps_ap_destroy(point);
    }
    ck_assert(!chains[0]->gens[0].shares && chains[CHAINS - 1]->gens[0].shares);
    tdo_arena_check(arena);
    build_garbage();
    collect();
    old = mps_pool_total_size(pool);
    table[TABLE - 1] = NULL;
    collect();
    ck_assert_uint_lt(mps_pool_total_size(pool), old / 2);
    check_chain();
    mps_arena_release(arena);
    for (size_t i = 0; i < 20000; ++i)
      (void)make(ap, NODE, 40);
    check_chain();
    mps_arena_park(arena);
    mps_arena_clamp(arena);
    for (size_t n = CHAINS; n-- > 0;) {
      mps_pool_destroy(full[n]);
      mps_chain_destroy(chains[n]);
    }
    mps_ap_destroy(ap); /* it may have a buffer, and a segment for that */
    collect();
    collect();
    ap = make_ap(pool, mps_rank_exact());
    check_chain();
    ck_assert(round == 0 || held() <= before);
  }
  close_pool();
}
END_TEST

SUITE_MAIN("refused collections", 60, ephemerons, collections, regions,
           few_asked, recut, groups)
