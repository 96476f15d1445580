/* Testudo: tests of pools of weak objects (interface, section 4.5).
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/pause.h" /* first: its functions have names of ours */
#include "mpscamc.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "test/nodes.h"
#include "test/suite.h"

static mps_pool_t pool, moving;
static mps_ap_t weak, strong, moving_ap;
static mps_chain_t chain;
static unsigned dependents_asked;

static mps_addr_t partner_of(mps_addr_t addr) {
  node_t *p = addr;

  ++dependents_asked;
  return node_kind(p) == WEAK_ARRAY ? p->word[0] : NULL;
}

static void open_pools(mps_pool_class_t cls) {
  start();
  chain = make_chain(200);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, format);
    MPS_ARGS_ADD(args, MPS_KEY_CHAIN, chain);
    MPS_ARGS_ADD(args, MPS_KEY_AWL_FIND_DEPENDENT, partner_of);
    ck_assert_int_eq(mps_pool_create_k(&pool, arena, cls, args), MPS_RES_OK);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  moving = make_pool(mps_class_amc(), moving_format, chain);
  weak = make_ap(pool, mps_rank_weak());
  strong = make_ap(pool, mps_rank_exact());
  moving_ap = make_ap(moving, mps_rank_exact());
}

static void close_pools(void) {
  mps_arena_park(arena);
  mps_ap_destroy(moving_ap);
  mps_ap_destroy(strong);
  mps_ap_destroy(weak);
  mps_pool_destroy(moving);
  mps_pool_destroy(pool);
  mps_chain_destroy(chain);
  stop();
}

static mps_pool_class_t class_of(int i) {
  return i == 0 ? mps_class_awl() : mps_class_awl0();
}

START_TEST(classes_differ) {
  ck_assert_ptr_ne(mps_class_awl(), mps_class_awl0());
  ck_assert_ptr_eq(mps_class_awl(), mps_class_awl());
}
END_TEST

/* Exact objects keep, weak ones do not; dead targets' slots become null, and
   the weak object itself is an ordinary one. */
START_TEST(weak_slots) {
  node_t *w, *s, *kept, *where;

  open_pools(class_of(_i));
  w = table[0] = make(weak, NODE, 4);
  s = table[1] = make(strong, NODE, 2);
  w->word[0] = make(moving_ap, NODE, 1);
  w->word[1] = kept = make(moving_ap, NODE, 1);
  w->word[2] = make(strong, NODE, 1);
  w->word[3] = table[2] = make(strong, NODE, 1);
  s->word[0] = kept;
  s->word[1] = make(strong, NODE, 1);
  s->word[1]->word[0] = s;
  collect();
  ck_assert_ptr_eq(table[0], w);
  ck_assert_ptr_eq(table[1], s);
  ck_assert_ptr_null(w->word[0]);
  ck_assert_ptr_null(w->word[2]);
  ck_assert_ptr_nonnull(w->word[1]);
  ck_assert_ptr_eq(w->word[1], s->word[0]);
  ck_assert_ptr_ne(w->word[1], kept);
  ck_assert_ptr_eq(w->word[3], table[2]);
  ck_assert_ptr_eq(s->word[1]->word[0], s);
  where = s;
  table[1] = NULL;
  collect();
  ck_assert_ptr_null(w->word[1]);
  ck_assert_ptr_eq(w->word[3], table[2]);
  /* the dead are gone: three objects are left */
  (void)where;
  ck_assert_uint_eq(in_use(pool) - unused(weak) - unused(strong),
                    (5 + 2) * sizeof(mps_word_t));
  close_pools();
}
END_TEST

/* Tables with weak keys: a keys block and a values block, dependents of each
   other. */
START_TEST(weak_key_tables) {
  enum { ROOM = 40, TABLES = TABLE / 2, ROUNDS = 30 };
  static node_t *keep[TABLES][ROOM];
  const size_t tables = suite_size(TABLES, 3), rounds = suite_size(ROUNDS, 4);
  mps_root_t keep_root;

  random_start();
  open_pools(class_of(_i));
  memset(keep, 0, sizeof keep);
  ck_assert_int_eq(mps_root_create_table(&keep_root, arena, mps_rank_exact(),
                                         0, (mps_addr_t *)keep, TABLES * ROOM),
                   MPS_RES_OK);
  for (size_t round = 0; round < rounds; ++round) {
    mps_arena_release(arena);
    for (size_t t = 0; t < tables; ++t) {
      if (table[t] == NULL || random_below(8) == 0) {
        node_t *values = make(strong, WEAK_ARRAY, ROOM + 1);
        table[t] = values;
        node_t *keys = make(weak, WEAK_ARRAY, ROOM + 1);
        values = table[t];
        values->word[0] = keys;
        keys->word[0] = values;
        memset(keep[t], 0, sizeof keep[t]);
      }
      for (size_t i = 0; i < ROOM; ++i) {
        if (random_below(2) != 0)
          continue;
        node_t *key = make(random_below(2) ? moving_ap : strong, NODE, 1);
        keep[t][i] = key;
        node_t *value = make(moving_ap, NODE, 1);
        value->word[0] = random_below(2) ? keep[t][i] : NULL;
        table[t]->word[i + 1] = value;
        table[t]->word[0]->word[i + 1] = keep[t][i];
        if (random_below(3) == 0) {
          /* The value must not keep the key. */
          value->word[0] = NULL;
          keep[t][i] = NULL;
        }
      }
    }
    if (round % 3 == 0)
      collect();
    for (size_t t = 0; t < tables; ++t) {
      node_t *values = table[t], *keys = values->word[0];
      REQUIRE(node_kind(keys) == WEAK_ARRAY && keys->word[0] == values);
      for (size_t i = 0; i < ROOM; ++i) {
        REQUIRE(keep[t][i] == NULL || keys->word[i + 1] == keep[t][i]);
        REQUIRE(keep[t][i] == NULL || values->word[i + 1] != NULL);
        REQUIRE((keys->word[i + 1] == NULL) == (values->word[i + 1] == NULL));
        if (round % 3 == 0 && keep[t][i] == NULL)
          REQUIRE(keys->word[i + 1] == NULL);
      }
    }
  }
  ck_assert_uint_gt(dependents_asked, 0);
  mps_root_destroy(keep_root);
  close_pools();
}
END_TEST

/* The bytes in use and the blocks that a walk visits. */
static mps_res_t count_area(mps_ss_t ss, void *base, void *limit,
                            void *closure) {
  (void)ss;
  *(size_t *)closure += (size_t)((char *)limit - (char *)base);
  return MPS_RES_OK;
}

START_TEST(memory_is_reused) {
  const size_t blocks = suite_size(20000, 2000);
  size_t walked = 0;

  open_pools(class_of(_i));
  for (size_t round = 0; round < suite_size(12, 3); ++round) {
    mps_arena_release(arena);
    for (size_t i = 0; i < blocks; ++i) {
      node_t *p = make(strong, NODE, 1 + i % 7);
      if (i % 100 == 0)
        table[i / 100 % TABLE] = p;
    }
    collect();
    ck_assert_uint_le(mps_pool_total_size(pool), 2 << 20);
  }
  mps_arena_park(arena);
  ck_assert_int_eq(mps_pool_walk(pool, count_area, &walked), MPS_RES_OK);
  ck_assert_uint_eq(walked, in_use(pool) - unused(weak) - unused(strong));
  memset(table, 0, sizeof table);
  mps_arena_collect(arena);
  ck_assert_uint_eq(in_use(pool), unused(weak) + unused(strong));
  close_pools();
}
END_TEST

/* Ranks of points. */
START_TEST(ranks) {
  mps_ap_t ap;

  open_pools(class_of(_i));
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_RANK, mps_rank_ambig());
    ck_assert_int_eq(mps_ap_create_k(&ap, pool, args), MPS_RES_PARAM);
  }
  MPS_ARGS_END(args);
  ck_assert_int_eq(mps_ap_create(&ap, pool, mps_rank_weak()), MPS_RES_OK);
  table[0] = make(ap, NODE, 1);
  table[0]->word[0] = make(strong, NODE, 1);
  collect();
  ck_assert_ptr_null(table[0]->word[0]);
  mps_ap_destroy(ap);
  ASSERTED(MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_RANK, 9);
    ck_assert_int_ne(mps_ap_create_k(&ap, pool, args), MPS_RES_OK);
  } MPS_ARGS_END(args));
  close_pools();
}
END_TEST

/* Positional arguments; objects without a dependent function. */
START_TEST(positional) {
  mps_pool_t old;
  mps_ap_t ap;

  start();
  ck_assert_int_eq(
      mps_pool_create(&old, arena, class_of(_i), format, partner_of),
      MPS_RES_OK);
  ck_assert_int_eq(mps_ap_create(&ap, old, mps_rank_exact()), MPS_RES_OK);
  table[0] = make(ap, WEAK_ARRAY, 3);
  dependents_asked = 0;
  collect();
  ck_assert_uint_gt(dependents_asked, 0);
  mps_arena_park(arena);
  mps_ap_destroy(ap);
  mps_pool_destroy(old);
  stop();
}
END_TEST

/* Only the client pointer retains, when it is ambiguous. */
START_TEST(ambiguous) {
  node_t *p[4];

  open_pools(class_of(_i));
  for (size_t i = 0; i < 4; ++i)
    p[i] = make(strong, NODE, 3);
  hints[0] = p[0];
  hints[1] = (char *)p[1] + 1;
  hints[2] = (char *)p[2] + sizeof(mps_word_t);
  collect();
  ck_assert_uint_eq(in_use(pool) - unused(weak) - unused(strong),
                    4 * sizeof(mps_word_t));
  ck_assert_uint_eq(node_words(p[0]), 4);
  close_pools();
}
END_TEST

/* A large block: memory of its own, given back when it dies. */
START_TEST(large_blocks) {
  size_t words = ((size_t)9 << 20) / sizeof(mps_word_t), before;

  open_pools(class_of(_i));
  collect();
  before = mps_pool_total_size(pool);
  table[0] = make(_i == 0 ? strong : weak, NODE, words);
  table[1] = make(moving_ap, NODE, 1);
  table[0]->word[words - 1] = table[1];
  table[0]->word[words / 2] = make(moving_ap, NODE, 1);
  collect();
  ck_assert_ptr_eq(table[0]->word[words - 1], table[1]);
  if (_i == 0)
    ck_assert_ptr_nonnull(table[0]->word[words / 2]);
  else
    ck_assert_ptr_null(table[0]->word[words / 2]);
  ck_assert_uint_ge(mps_pool_total_size(pool), before + ((size_t)9 << 20));
  table[0] = NULL;
  collect();
  ck_assert_uint_le(mps_pool_total_size(pool), before + (1 << 16));
  close_pools();
}
END_TEST

/* Several objects in one block, kept by references to the inner ones; and
   several objects in one reserved region. */
START_TEST(objects_in_objects) {
  mps_addr_t addr;
  node_t *outer, *inner, *next;
  size_t size = 12 * sizeof(mps_word_t);

  open_pools(class_of(_i));
  outer = make(strong, NODE, 11);
  inner = (node_t *)&outer->word[5];
  outer->word[0] = make(moving_ap, NODE, 1);
  table[0] = inner;
  do {
    REQUIRE(mps_reserve(&addr, strong, size) == MPS_RES_OK);
    memset(addr, 0, size);
    next = addr;
    next->head = HEAD(NODE, 4);
    next = (node_t *)&next->word[3];
    next->head = HEAD(NODE, 8);
  } while (!mps_commit(strong, addr, size));
  table[1] = next;
  next->word[0] = outer;
  collect();
  ck_assert_ptr_eq(table[0], inner);
  ck_assert_uint_eq(node_words(outer), 12);
  ck_assert_ptr_nonnull(outer->word[0]);
  ck_assert_uint_eq(node_words(outer->word[0]), 2);
  ck_assert_uint_eq(node_words(next), 8);
  ck_assert_uint_eq(in_use(pool) - unused(weak) - unused(strong),
                    (12 + 8) * sizeof(mps_word_t));
  close_pools();
}
END_TEST

/* Weak references to what waits for finalization are not splatted. */
START_TEST(finalization) {
  mps_message_t message;
  mps_addr_t ref;

  open_pools(class_of(_i));
  mps_message_type_enable(arena, mps_message_type_finalization());
  table[0] = make(weak, NODE, 2);
  ref = make(strong, NODE, 1);
  table[0]->word[0] = ref;
  table[0]->word[1] = make(strong, NODE, 1);
  ((node_t *)ref)->word[0] = table[0]->word[1];
  ck_assert_int_eq(mps_finalize(arena, &ref), MPS_RES_OK);
  collect();
  ck_assert_ptr_eq(table[0]->word[0], ref);
  ck_assert_ptr_nonnull(table[0]->word[1]);
  ck_assert(mps_message_get(&message, arena, mps_message_type_finalization()));
  mps_message_finalization_ref(&ref, arena, message);
  ck_assert_ptr_eq(ref, table[0]->word[0]);
  mps_message_discard(arena, message);
  collect();
  ck_assert_ptr_null(table[0]->word[0]);
  ck_assert_ptr_null(table[0]->word[1]);
  close_pools();
}
END_TEST

/* The mutator works on weak and strong objects while collections are in
   progress. */
START_TEST(mutator) {
  enum { SLOTS = 30 };
  const size_t nodes = suite_size(2500, 100), steps = suite_size(150000, 3000);
  mps_root_t graph_root;
  node_t **graph;

  random_start();
  open_pools(class_of(_i));
  mps_arena_pause_time_set(arena, 0.0);
  graph = make_root(&graph_root, nodes);
  for (size_t i = 0; i < nodes; ++i)
    graph[i] = make(i % 2 ? weak : strong, NODE, SLOTS);
  mps_arena_release(arena);
  for (size_t step = 0; step < steps; ++step) {
    size_t t = random_below(nodes), i = random_below(SLOTS);
    node_t *p = make(step % 3 ? moving_ap : strong, NODE, 2);
    if (graph[t]->word[i] != NULL) {
      REQUIRE(node_words(graph[t]->word[i]) == 3);
      p->word[0] = NULL;
    }
    graph[t]->word[i] = p;
    if (step % 10000 == 0)
      mps_arena_start_collect(arena);
    if (random_below(500) == 0)
      graph[t] = make(t % 2 ? weak : strong, NODE, SLOTS);
    if (step % 1000 == 0)
      mps_arena_step(arena, 0.0001, 0.0);
  }
  collect();
  for (size_t t = 0; t < nodes; ++t)
    for (size_t i = 0; i < SLOTS; ++i) {
      if (t % 2)
        REQUIRE(graph[t]->word[i] == NULL);
      else if (graph[t]->word[i] != NULL)
        REQUIRE(node_words(graph[t]->word[i]) == 3);
    }
  mps_root_destroy(graph_root);
  free(graph);
  close_pools();
}
END_TEST

static bool collecting(void) {
  return tdo_trace_flipped(&arena->trace);
}

/* A small heap with weak tables is collected at once, however short a pause is
   to be; slices are tried when that was so for long, and are given up for twice
   as long when a table is read meanwhile. */
START_TEST(at_once) {
  enum { SLOTS = 5000 };
  bool slices;
  node_t *keys;

  open_pools(class_of(_i));
  mps_arena_pause_time_set(arena, 0.0);
  slices = tdo_pause_slices(arena);
  table[0] = make(strong, NODE, SLOTS);
  keys = table[1] = make(weak, WEAK_ARRAY, SLOTS);
  mps_arena_release(arena);
  if (arena->small_most > 0 && !suite_stressed()) {
    ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
    ck_assert(!collecting());
  }
  arena->weak_left = 0;
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  ck_assert(collecting() == slices || suite_stressed());
  ck_assert_ptr_null(keys->word[1]);
  ck_assert(arena->weak_left == 128 * slices || suite_stressed());
  mps_arena_park(arena);
  mps_arena_release(arena);
  if (arena->small_most > 0 && !suite_stressed()) {
    ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
    ck_assert(!collecting());
    for (size_t i = 2; i < TABLE; ++i) /* too much */
      table[i] = make(strong, NODE, 2 * SLOTS);
    ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
    ck_assert(collecting() == slices);
  }
  close_pools();
}
END_TEST

/* A client that allocates nothing stores a value, and then its key in place of
   a dead one: the end of a collection, for which a hit between the two does
   enough, clears no value. */
START_TEST(between_two_stores) {
  enum { SLOTS = 5000 }; /* each block is a segment of its own */
  node_t *values, *keys, *between;

  open_pools(class_of(_i));
  mps_arena_pause_time_set(arena, 0.0);
  values = table[0] = make(strong, NODE, SLOTS);
  keys = table[1] = make(weak, WEAK_ARRAY, SLOTS);
  between = table[2] = make(strong, NODE, SLOTS);
  keys->word[0] = values;
  keys->word[1] = make(moving_ap, NODE, 1); /* dead */
  table[3] = make(moving_ap, NODE, 1);
  table[4] = make(moving_ap, NODE, 2);
  mps_arena_release(arena);
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  values->word[1] = table[4];
  mps_arena_pause_time_set(arena, 1.0);
  arena->hits.quantum = SIZE_MAX / 4;
  ck_assert_ptr_null(between->word[0]);
  keys->word[1] = table[3];
  ck_assert_ptr_eq(values->word[1], table[4]);
  collect();
  ck_assert_ptr_eq(keys->word[1], table[3]);
  ck_assert_ptr_eq(values->word[1], table[4]);
  close_pools();
}
END_TEST

/* Roots of weak rank. */
START_TEST(weak_roots) {
  static node_t *slots[4];
  mps_root_t root;

  open_pools(class_of(_i));
  memset(slots, 0, sizeof slots);
  ck_assert_int_eq(mps_root_create_table(&root, arena, mps_rank_weak(), 0,
                                         (mps_addr_t *)slots, 4),
                   MPS_RES_OK);
  slots[0] = make(strong, NODE, 1);
  slots[1] = make(moving_ap, NODE, 1);
  table[2] = slots[2] = make(strong, NODE, 1);
  table[3] = slots[3] = make(moving_ap, NODE, 1);
  collect();
  ck_assert_ptr_null(slots[0]);
  ck_assert_ptr_null(slots[1]);
  ck_assert_ptr_eq(slots[2], table[2]);
  ck_assert_ptr_eq(slots[3], table[3]);
  mps_root_destroy(root);
  close_pools();
}
END_TEST

/* Dependents may be anywhere: in memory of the client's own, in a pool of
   leaves, in the object itself; and frames are accepted. */
START_TEST(dependents_anywhere) {
  mps_pool_t leaves;
  mps_ap_t leaf;
  mps_frame_t frame;
  node_t *own = calloc(4, sizeof(mps_word_t)), *in_leaf, *self;

  open_pools(class_of(_i));
  ck_assert_ptr_nonnull(own);
  leaves = make_pool(mps_class_lo(), format, chain);
  leaf = make_ap(leaves, mps_rank_exact());
  ck_assert_int_eq(mps_ap_frame_push(&frame, weak), MPS_RES_OK);
  own->head = HEAD(LEAF, 4);
  table[3] = in_leaf = make(leaf, LEAF, 3);
  for (size_t i = 0; i < 3; ++i) {
    table[i] = make(weak, WEAK_ARRAY, 3);
    table[i]->word[1] = make(strong, NODE, 1);
    table[i]->word[2] = table[3];
  }
  self = table[2];
  table[0]->word[0] = own;
  table[1]->word[0] = in_leaf;
  self->word[0] = self;
  own->word[1] = in_leaf->word[1] = own->word[2] = in_leaf->word[2] = own;
  collect();
  for (size_t i = 0; i < 3; ++i) {
    ck_assert_ptr_null(table[i]->word[1]);
    ck_assert_ptr_eq(table[i]->word[2], in_leaf);
  }
  ck_assert_ptr_null(own->word[1]);
  ck_assert_ptr_eq(own->word[2], own);
  ck_assert_ptr_null(in_leaf->word[1]);
  ck_assert_ptr_eq(in_leaf->word[2], own);
  ck_assert_ptr_eq(self->word[0], self);
  ck_assert_int_eq(mps_ap_frame_pop(weak, frame), MPS_RES_OK);
  ck_assert_ptr_eq(table[2], self);
  mps_arena_park(arena);
  mps_ap_destroy(leaf);
  mps_pool_destroy(leaves);
  free(own);
  close_pools();
}
END_TEST

static Suite *awl_suite(void) {
  static const TTest *const *const tests[] = {
      &weak_slots,   &weak_key_tables,    &memory_is_reused,
      &ranks,        &positional,         &ambiguous,
      &large_blocks, &objects_in_objects, &finalization,
      &mutator,      &weak_roots,         &dependents_anywhere,
      &at_once,      &between_two_stores};
  Suite *suite = suite_create("awl");
  TCase *tcase = tcase_create("awl");

  tcase_set_timeout(tcase, 100);
  tcase_add_test(tcase, classes_differ);
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; ++i)
    tcase_add_loop_test(tcase, *tests[i], 0, 2);
  suite_add_tcase(suite, tcase);
  return suite;
}

int main(void) {
  return suite_run(awl_suite());
}
