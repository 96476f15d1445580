/* Testudo: tests of tables of pairs (interface, section 11, item 2).
   SPDX-License-Identifier: BSD-2-Clause */
#include "mpscamc.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "trace/heap.h"

#include "test/nodes.h"
#include "test/suite.h"

static mps_pool_t pool, moving, leaves;
static mps_ap_t pairs, strong, moving_ap, leaf_ap;
static mps_chain_t chain;

static void open_pools(void) {
  start();
  chain = make_chain(100);
  pool = make_pool(mps_class_aeph(), format, chain);
  moving = make_pool(mps_class_amc(), moving_format, chain);
  leaves = make_pool(mps_class_lo(), format, chain);
  pairs = make_ap(pool, mps_rank_ephemeron());
  strong = make_ap(pool, mps_rank_exact());
  moving_ap = make_ap(moving, mps_rank_exact());
  leaf_ap = make_ap(leaves, mps_rank_exact());
}

static void close_pools(void) {
  mps_arena_park(arena);
  mps_ap_destroy(leaf_ap);
  mps_ap_destroy(moving_ap);
  mps_ap_destroy(strong);
  mps_ap_destroy(pairs);
  mps_pool_destroy(leaves);
  mps_pool_destroy(moving);
  mps_pool_destroy(pool);
  mps_chain_destroy(chain);
  stop();
}

/* A table with room for N pairs. */
static node_t *make_table(unsigned kind, size_t n) {
  return make(pairs, kind, 2 * n + 1);
}

static node_t *key_of(const node_t *t, size_t i) {
  return t->word[2 * i + 1];
}

static node_t *value_of(const node_t *t, size_t i) {
  return t->word[2 * i + 2];
}

static void set_pair(node_t *t, size_t i, node_t *key, node_t *value) {
  t->word[2 * i + 1] = key;
  t->word[2 * i + 2] = value;
}

/* Is pair I whole, or gone? Never half of each. */
static bool pair_lives(const node_t *t, size_t i) {
  REQUIRE((key_of(t, i) == NULL) == (value_of(t, i) == NULL));
  return key_of(t, i) != NULL;
}

START_TEST(class_and_rank) {
  ck_assert_ptr_ne(mps_class_aeph(), mps_class_awl());
  ck_assert_ptr_eq(mps_class_aeph(), mps_class_aeph());
  ck_assert_int_ne(mps_rank_ephemeron(), mps_rank_weak());
  ck_assert_int_ne(mps_rank_ephemeron(), mps_rank_exact());
  ck_assert_int_ne(mps_rank_ephemeron(), mps_rank_ambig());
}
END_TEST

/* One pair of each kind, for each of: key kept or not, value kept or not, in
   three kinds of pool. */
START_TEST(kinds_of_pairs) {
  unsigned kinds[] = {PAIRS, OR_PAIRS, AND_PAIRS};
  unsigned kind = kinds[_i % 3];
  mps_ap_t ap;

  open_pools();
  ap = _i / 3 == 0 ? moving_ap : _i / 3 == 1 ? strong : leaf_ap;
  table[0] = make_table(kind, 4);
  for (size_t i = 0; i < 4; ++i) {
    unsigned obj = ap == leaf_ap ? LEAF : NODE;
    set_pair(table[0], i, make(ap, obj, 1), make(ap, obj, 1));
    table[10 + i] = i & 1 ? key_of(table[0], i) : NULL;
    table[20 + i] = i & 2 ? value_of(table[0], i) : NULL;
  }
  collect();
  for (size_t i = 0; i < 4; ++i) {
    bool key = i & 1, value = i & 2;
    bool lives = kind == PAIRS      ? key
                 : kind == OR_PAIRS ? key || value
                                    : key && value;
    ck_assert_int_eq(pair_lives(table[0], i), lives);
    if (lives && key)
      ck_assert_ptr_eq(key_of(table[0], i), table[10 + i]);
    if (lives && value)
      ck_assert_ptr_eq(value_of(table[0], i), table[20 + i]);
    if (lives)
      ck_assert_uint_eq(node_words(value_of(table[0], i)), 2);
  }
  close_pools();
}
END_TEST

/* A value that refers to its own key does not keep it; nor do two pairs keep
   each other. Null and foreign words may be keys. */
START_TEST(cycles) {
  static mps_word_t foreign[4];

  open_pools();
  foreign[0] = HEAD(LEAF, 4);
  table[0] = make_table(PAIRS, 6);
  set_pair(table[0], 0, make(moving_ap, NODE, 1), make(moving_ap, NODE, 1));
  value_of(table[0], 0)->word[0] = key_of(table[0], 0);
  set_pair(table[0], 1, make(strong, NODE, 1), make(strong, NODE, 1));
  set_pair(table[0], 2, value_of(table[0], 1), key_of(table[0], 1));
  set_pair(table[0], 3, (node_t *)foreign, make(strong, NODE, 1));
  set_pair(table[0], 4, make(moving_ap, NODE, 1), NULL);
  table[1] = make(strong, NODE, 1);
  set_pair(table[0], 5, table[1], make(moving_ap, NODE, 1));
  value_of(table[0], 5)->word[0] = table[1];
  collect();
  ck_assert(!pair_lives(table[0], 0));
  ck_assert(!pair_lives(table[0], 1));
  ck_assert(!pair_lives(table[0], 2));
  ck_assert(pair_lives(table[0], 3));
  ck_assert_ptr_null(key_of(table[0], 4));
  ck_assert(pair_lives(table[0], 5));
  ck_assert_ptr_eq(value_of(table[0], 5)->word[0], table[1]);
  close_pools();
}
END_TEST

/* Chains of pairs through many tables, in random order, and their time: ten
   times the length must not take a hundred times as long. */
static double chain_seconds(size_t length) {
  enum { TABLES = 32 };
  size_t *order = malloc(length * sizeof *order);
  size_t per = (length + TABLES - 1) / TABLES;
  node_t *next = NULL;
  mps_clock_t begin, end;

  ck_assert_ptr_nonnull(order);
  for (size_t i = 0; i < length; ++i)
    order[i] = i;
  for (size_t i = length; i-- > 1;) {
    size_t j = random_below(i + 1), o = order[i];
    order[i] = order[j];
    order[j] = o;
  }
  for (size_t t = 0; t < TABLES; ++t)
    table[t] = make_table(PAIRS, per);
  /* From the last value backwards: the key of each is the value before. */
  for (size_t i = 0; i < length; ++i) {
    node_t *value = next == NULL ? make(strong, NODE, 1) : next;
    next = make(i % 2 ? moving_ap : strong, NODE, 1);
    set_pair(table[order[i] % TABLES], order[i] / TABLES, next, value);
  }
  table[TABLES] = next;
  begin = clock();
  collect();
  end = clock();
  for (size_t i = 0; i < length; ++i)
    REQUIRE(pair_lives(table[order[i] % TABLES], order[i] / TABLES));
  table[TABLES] = NULL;
  collect();
  for (size_t i = 0; i < length; ++i)
    REQUIRE(!pair_lives(table[order[i] % TABLES], order[i] / TABLES));
  free(order);
  return (double)(end - begin) / CLOCKS_PER_SEC;
}

START_TEST(chains) {
  double little, much;

  random_start();
  open_pools();
  little = chain_seconds(3000);
  much = chain_seconds(60000);
  ck_assert_double_lt(much, 120 * little + 0.2);
  close_pools();
}
END_TEST

/* A block of an object and one in it, which it spans. */
static node_t *make_two(mps_ap_t ap) {
  node_t *p;
  mps_addr_t at;
  do {
    ck_assert_int_eq(mps_reserve(&at, ap, 4 * sizeof p->head), MPS_RES_OK);
    memset(at, 0, 4 * sizeof p->head);
    p = at;
    p->head = HEAD(NODE, 4);
    ((node_t *)(void *)&p->word[1])->head = HEAD(NODE, 2);
  } while (!mps_commit(ap, at, 4 * sizeof p->head));
  return p;
}

/* Keys that lie in another object: they live when that is reached, which is
   known at once. */
START_TEST(inner_keys) {
  enum { LENGTH = 1000 };
  size_t searches;

  open_pools();
  mps_arena_park(arena);
  searches = arena->trace.ephemerons.searches;
  table[1] = make_table(PAIRS, LENGTH);
  for (size_t i = LENGTH; i-- > 0;) { /* the first waits for the last */
    node_t *block = make_two(strong);
    set_pair(table[1], LENGTH - 1 - i, (node_t *)(void *)&block->word[1],
             i == LENGTH - 1 ? make(strong, NODE, 1) : table[0]);
    table[0] = block;
  }
  collect();
  for (size_t i = 0; i < LENGTH; ++i)
    REQUIRE(pair_lives(table[1], i));
  if (!suite_stressed())
    ck_assert_uint_le(arena->trace.ephemerons.searches - searches, 4);
  table[0] = NULL;
  collect();
  for (size_t i = 0; i < LENGTH; ++i)
    REQUIRE(!pair_lives(table[1], i));
  close_pools();
}
END_TEST

/* A table that is found through a value; keys that wait for finalization. */
START_TEST(late) {
  mps_message_t message;
  mps_addr_t ref;

  open_pools();
  mps_message_type_enable(arena, mps_message_type_finalization());
  table[0] = make_table(PAIRS, 3);
  table[1] = make(strong, NODE, 1);
  set_pair(table[0], 0, table[1], make_table(PAIRS, 2));
  set_pair(value_of(table[0], 0), 0, table[1], make(moving_ap, NODE, 1));
  set_pair(value_of(table[0], 0), 1, make(strong, NODE, 1), table[1]);
  ref = make(moving_ap, NODE, 1);
  set_pair(table[0], 1, ref, make(moving_ap, NODE, 1));
  ck_assert_int_eq(mps_finalize(arena, &ref), MPS_RES_OK);
  collect();
  ck_assert(pair_lives(table[0], 0));
  ck_assert(pair_lives(value_of(table[0], 0), 0));
  ck_assert(!pair_lives(value_of(table[0], 0), 1));
  ck_assert(pair_lives(table[0], 1));
  ck_assert(mps_message_get(&message, arena, mps_message_type_finalization()));
  mps_message_finalization_ref(&ref, arena, message);
  ck_assert_ptr_eq(ref, key_of(table[0], 1));
  mps_message_discard(arena, message);
  collect();
  ck_assert(!pair_lives(table[0], 1));
  close_pools();
}
END_TEST

/* The mutator changes tables while collections are in progress: what it holds
   keys of stays. */
START_TEST(mutator) {
  enum { TABLES = 400, ROOM = 40 };
  mps_root_t keys_root, tables_root;
  node_t **tables;
  static node_t *keys[TABLES][ROOM];

  random_start();
  open_pools();
  mps_arena_pause_time_set(arena, 0.0);
  memset(keys, 0, sizeof keys);
  ck_assert_int_eq(mps_root_create_table(&keys_root, arena, mps_rank_exact(),
                                         0, (mps_addr_t *)keys, TABLES * ROOM),
                   MPS_RES_OK);
  tables = make_root(&tables_root, TABLES);
  for (size_t t = 0; t < TABLES; ++t)
    tables[t] = make_table(PAIRS, ROOM);
  mps_arena_release(arena);
  for (size_t step = 0; step < 150000; ++step) {
    size_t t = random_below(TABLES), i = random_below(ROOM);
    if (keys[t][i] != NULL) {
      REQUIRE(key_of(tables[t], i) == keys[t][i]);
      REQUIRE(node_words(value_of(tables[t], i)) == 3);
      REQUIRE(value_of(tables[t], i)->word[1] == NULL ||
              node_words(value_of(tables[t], i)->word[1]) == 2);
      if (random_below(3) == 0)
        keys[t][i] = NULL;
      continue;
    }
    table[0] = make(step % 3 ? moving_ap : strong, NODE, 2);
    table[0]->word[1] = NULL;
    keys[t][i] = make(step % 2 ? moving_ap : strong, NODE, 1);
    table[0]->word[0] = keys[t][i];
    table[0]->word[1] = keys[t][i];
    set_pair(tables[t], i, keys[t][i], table[0]);
    table[0] = NULL;
    if (step % 10000 == 0)
      mps_arena_start_collect(arena);
    if (step % 1000 == 0)
      mps_arena_step(arena, 0.0001, 0.0);
    if (random_below(400) == 0) {
      memset(keys[t], 0, sizeof keys[t]);
      tables[t] = make_table(PAIRS, ROOM);
    }
  }
  collect();
  for (size_t t = 0; t < TABLES; ++t)
    for (size_t i = 0; i < ROOM; ++i)
      REQUIRE(pair_lives(tables[t], i) == (keys[t][i] != NULL));
  mps_root_destroy(tables_root);
  free(tables);
  mps_root_destroy(keys_root);
  close_pools();
}
END_TEST

/* In blocks of exact rank, and in walks, pairs are two references. */
static mps_res_t walk_area(mps_ss_t ss, void *base, void *limit,
                           void *closure) {
  ++*(unsigned *)closure;
  return nodes_scan(ss, base, limit);
}

/* Each table is known by an object that the one before it keeps, so that it is
   reached when its segment was scanned already. */
START_TEST(by_objects) {
  enum { LINKS = TABLE - 1 };
  unsigned kind = _i % 2 == 0 ? PAIRS : OR_PAIRS;
  node_t *t, *next;
  size_t links = 0;
  mps_ap_t ap;

  open_pools();
  ap = _i / 2 == 0 ? moving_ap : strong;
  t = table[0] = make_table(kind, 1);
  for (size_t i = 1; i <= LINKS; ++i, t = next) {
    next = make_table(kind, 1);
    table[i] = make(ap, NODE, 1);
    set_pair(t, 0, table[i], make(ap, NODE, 1));
    value_of(t, 0)->word[0] = next;
  }
  collect();
  for (t = table[0]; pair_lives(t, 0); t = value_of(t, 0)->word[0])
    ++links;
  ck_assert_uint_eq(links, LINKS);
  close_pools();
}
END_TEST

START_TEST(elsewhere) {
  unsigned ranges = 0;

  open_pools();
  table[0] = make(strong, PAIRS, 3);
  set_pair(table[0], 0, make(moving_ap, NODE, 1), make(moving_ap, NODE, 1));
  collect();
  ck_assert(pair_lives(table[0], 0));
  table[1] = make_table(OR_PAIRS, 1);
  set_pair(table[1], 0, make(moving_ap, NODE, 1), make(moving_ap, NODE, 1));
  mps_arena_park(arena);
  ck_assert_int_eq(mps_pool_walk(pool, walk_area, &ranges), MPS_RES_OK);
  ck_assert_uint_gt(ranges, 0);
  ck_assert(pair_lives(table[1], 0));
  close_pools();
}
END_TEST

SUITE_LOOPS_MAIN("ephemeron", 100, {class_and_rank, 1}, {kinds_of_pairs, 9},
                 {cycles, 1}, {chains, 1}, {late, 1}, {mutator, 1},
                 {elsewhere, 1}, {inner_keys, 1}, {by_objects, 4})
