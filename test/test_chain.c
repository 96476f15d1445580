/* Testudo: tests of chains, and of the pools and points that share one
   (interface, sections 2.7 and 5).
   SPDX-License-Identifier: BSD-2-Clause */
#include "mpscams.h"
#include "mpsclo.h"
#include "trace/heap.h"
#include "test/objects.h"
#include "test/suite.h"

/* Small generations are collected often, large ones not. */
static mps_word_t collections_with(size_t capacity) {
  mps_gen_param_s gens[] = {{1, 0.5}, {1, 0.5}};
  mps_chain_t c;
  mps_pool_t p;
  mps_ap_t q;
  mps_word_t n;
  gens[0].mps_capacity = gens[1].mps_capacity = capacity;
  heap_start(mps_class_amc());
  ck_assert_int_eq(mps_chain_create(&c, arena, 2, gens), MPS_RES_OK);
  memset(gens, 0, sizeof gens); /* copied */
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
    MPS_ARGS_ADD(args, MPS_KEY_CHAIN, c);
    ck_assert_int_eq(mps_pool_create_k(&p, arena, mps_class_amc(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  q = point(p);
  n = mps_collections(arena);
  for (size_t i = 0; i < 20000; ++i)
    table[i % 50] = obj_on(q, OBJ_NODE, 10);
  n = mps_collections(arena) - n;
  memset(table, 0, sizeof table);
  mps_arena_park(arena);
  mps_ap_destroy(q);
  mps_pool_destroy(p);
  mps_chain_destroy(c);
  heap_stop();
  return n;
}

START_TEST(test_capacity) {
  mps_word_t often = collections_with(20);
  ck_assert_uint_gt(often, 10);
  if (getenv("TESTUDO_STRESS") == NULL)
    ck_assert_uint_eq(collections_with(1 << 20), 0);
}
END_TEST

/* Buffers of many points on a small generation do not make it due. */
START_TEST(test_many_points) {
  enum { POINTS = 16, BYTES = 20 << 20 };
  mps_ap_t points[POINTS];
  size_t bytes = 0, i = 0;
  if (getenv("TESTUDO_STRESS") != NULL)
    return;
  heap_start(mps_class_amc());
  for (i = 0; i < POINTS; ++i)
    points[i] = point(pool);
  for (; bytes < BYTES; bytes += obj_bytes(4))
    (void)obj_on(points[i++ % POINTS], OBJ_NODE, 4);
  /* The generation holds 64 KiB. */
  ck_assert_uint_le(mps_collections(arena), 4 * (BYTES >> 16));
  ck_assert_uint_gt(mps_collections(arena), 0);
  for (i = 0; i < POINTS; ++i)
    mps_ap_destroy(points[i]);
  heap_stop();
}
END_TEST

/* Pools that share one, with objects that refer to each other. */
static size_t pauses;

static void count_pause(mps_pool_t p) {
  (void)p;
  ++pauses;
}

/* Collections look at no pool that cannot have anything for them. */
START_TEST(test_without_points) {
  tdo_pool_class_t manual = *mps_class_mvff(), idle = *mps_class_lo();
  mps_pool_t p[2];
  mps_ap_t q;
  heap_start(mps_class_amc());
  table[0] = numbered(0);
  manual.pause = idle.pause = count_pause;
  p[0] = obj_pool(&idle);
  ck_assert_int_eq(mps_pool_create_k(&p[1], arena, &manual, mps_args_none),
                   MPS_RES_OK);
  q = point(p[1]);
  collect();
  ck_assert_uint_eq(pauses, 0);
  mps_ap_destroy(q);
  q = point(p[0]);
  collect();
  ck_assert_uint_gt(pauses, 0);
  mps_ap_destroy(q);
  mps_arena_park(arena);
  mps_pool_destroy(p[0]);
  mps_pool_destroy(p[1]);
  pauses = 0;
  mps_arena_release(arena);
  collect();
  ck_assert_uint_eq(pauses, 0);
  heap_stop();
}
END_TEST

START_TEST(test_shared_chain) {
  mps_pool_t p;
  mps_ap_t q;
  heap_start(mps_class_amc());
  p = obj_pool(mps_class_amcz());
  q = point(p);
  for (size_t i = 0; i < 30000; ++i) {
    size_t at = i % 200;
    mps_addr_t leaf = obj_on(q, OBJ_LEAF, 2);
    *obj_ref(leaf, 0) = (mps_addr_t)(i << 2 | 1);
    table[200 + at] = leaf;
    table[at] = numbered(i);
    *obj_ref(table[at], 1) = table[200 + at];
    table[200 + at] = NULL;
  }
  collect();
  for (size_t i = 30000 - 200; i < 30000; ++i) {
    ck_assert_uint_eq(number_of(table[i % 200]), i);
    ck_assert_uint_eq(number_of(*obj_ref(table[i % 200], 1)), i);
  }
  memset(table, 0, sizeof table);
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  mps_ap_destroy(q);
  mps_pool_destroy(p);
  heap_stop();
}
END_TEST

enum { GENS = 600, CHAINS = 300, BASE = 64, CHURN = 2000 };

static mps_gen_param_s many_gens[GENS];

static mps_chain_t chain_of(size_t count) {
  mps_chain_t c;
  for (size_t i = 0; i < count; ++i)
    many_gens[i] = (mps_gen_param_s){8, 0.5};
  ck_assert_int_eq(mps_chain_create(&c, arena, count, many_gens), MPS_RES_OK);
  return c;
}

/* A pool on C that allocates in generation GEN, if its class can be told. */
static mps_pool_t pool_on(mps_chain_t c, mps_pool_class_t cls, size_t gen) {
  mps_pool_t p;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
    MPS_ARGS_ADD(args, MPS_KEY_CHAIN, c);
    MPS_ARGS_ADD(args, MPS_KEY_GEN, (unsigned)gen);
    ck_assert_int_eq(mps_pool_create_k(&p, arena, cls, args), MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  return p;
}

static mps_ap_t point_in(mps_pool_t p, size_t gen) {
  mps_ap_t q;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_GEN, (unsigned)gen);
    ck_assert_int_eq(mps_ap_create_k(&q, p, args), MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  return q;
}

/* One more of the list at table[0], numbers downwards to zero. */
static void list_on(mps_ap_t on, size_t n) {
  mps_addr_t obj = obj_on(on, OBJ_NODE, 3);
  *obj_ref(obj, 0) = (mps_addr_t)(n << 2 | 1);
  *obj_ref(obj, 1) = table[0];
  table[0] = obj;
}

static void check_list(size_t n) {
  mps_addr_t obj = table[0];
  while (n-- > 0) {
    ck_assert_uint_eq(number_of(obj), n);
    obj = *obj_ref(obj, 1);
  }
  ck_assert_ptr_null(obj);
}

/* Garbage and some that lives, in generation GEN of P, so that it is due. The
   list's first object refers to what is new. */
static void churn(mps_pool_t p, size_t gen) {
  mps_ap_t q = point_in(p, gen);
  for (size_t i = 0; i < CHURN; ++i) {
    mps_addr_t obj = obj_on(q, OBJ_NODE, 10);
    *obj_ref(obj, 0) = (mps_addr_t)(i << 2 | 1);
    *obj_ref(obj, 1) = table[0];
    table[1 + i % BASE] = *obj_ref(table[0], 2) = obj;
  }
  for (size_t i = 0; i < BASE; ++i)
    ck_assert_ptr_eq(*obj_ref(table[1 + i], 1), table[0]);
  ck_assert_uint_eq(number_of(*obj_ref(table[0], 2)), CHURN - 1);
  mps_ap_destroy(q);
}

/* More generations than have memory of their own, whatever the class, with
   references up and down; each end of the chain is collected, and all. */
START_TEST(test_many_generations) {
  mps_pool_class_t marked[] = {mps_class_ams(), mps_class_lo()};
  mps_chain_t c;
  mps_pool_t p, m;
  mps_ap_t q;
  mps_addr_t obj;
  heap_start(mps_class_amc());
  c = chain_of(GENS);
  p = pool_on(c, mps_class_amc(), 0);
  m = pool_on(c, marked[_i], GENS - 100);
  for (size_t i = 0; i < GENS; ++i) {
    q = point_in(p, i);
    list_on(q, i);
    mps_ap_destroy(q);
  }
  q = point(m);
  for (size_t i = 0; i < 100; ++i) {
    obj = obj_on(q, _i == 0 ? OBJ_NODE : OBJ_LEAF, 2);
    *obj_ref(obj, 0) = (mps_addr_t)(i << 2 | 1);
    *obj_ref(obj, 1) = _i == 0 ? table[0] : NULL;
    table[200 + i] = obj;
  }
  mps_ap_destroy(q);
  check_list(GENS);
  for (size_t i = 0; i < 6; ++i)
    churn(p, i % 3 == 0 ? 0 : i % 3 == 1 ? GENS / 2 : GENS - 1);
  check_list(GENS);
  if (TDO_POLL)
    ck_assert_uint_gt(mps_collections(arena), 0);
  collect();
  check_list(GENS);
  for (size_t i = 0; i < 100; ++i) {
    ck_assert_uint_eq(number_of(table[200 + i]), i);
    ck_assert_ptr_eq(*obj_ref(table[200 + i], 1), _i == 0 ? table[0] : NULL);
  }
  memset(table, 0, sizeof table);
  collect();
  mps_arena_park(arena);
  ck_assert_uint_eq(mps_pool_total_size(p), mps_pool_free_size(p));
  mps_pool_destroy(m);
  mps_pool_destroy(p);
  mps_chain_destroy(c);
  heap_stop();
}
END_TEST

/* Many chains: those that are not used cost the others nothing. */
START_TEST(test_many_chains) {
  static mps_chain_t c[CHAINS];
  static mps_pool_t p[CHAINS];
  mps_pool_t own;
  mps_ap_t q;
  heap_start(mps_class_amc());
  own = own_chain_pool(mps_class_amc());
  for (size_t i = 0; i < CHAINS; ++i)
    c[i] = chain_of(2);
  q = point(own);
  list_on(q, 0);
  ck_assert(!arena->default_chain->gens[0].shares);
  mps_ap_destroy(q);
  for (size_t i = 0; i < CHAINS; ++i) {
    p[i] = pool_on(c[i], mps_class_amc(), 0);
    q = point(p[i]);
    list_on(q, i + 1);
    mps_ap_destroy(q);
  }
  ck_assert(!c[0]->gens[1].shares && c[CHAINS - 1]->gens[0].shares);
  check_list(CHAINS + 1);
  churn(p[0], 0);
  churn(p[CHAINS - 1], 1);
  churn(pool, 0); /* the oldest chain, for which nothing is left */
  ck_assert(chain->gens[0].shares);
  collect();
  check_list(CHAINS + 1);
  memset(table, 0, sizeof table);
  collect(); /* nothing dead refers to pools that go */
  mps_arena_park(arena);
  for (size_t i = 0; i < CHAINS; ++i) {
    mps_pool_destroy(p[i]);
    mps_chain_destroy(c[i]);
  }
  /* What they had is there again. */
  c[0] = chain_of(2);
  p[0] = pool_on(c[0], mps_class_amc(), 0);
  q = point(p[0]);
  (void)obj_on(q, OBJ_NODE, 2);
  ck_assert(!c[0]->gens[1].shares);
  mps_ap_destroy(q);
  mps_pool_destroy(p[0]);
  mps_chain_destroy(c[0]);
  mps_pool_destroy(own);
  heap_stop();
}
END_TEST

SUITE_LOOPS_MAIN("chain", 60, {test_capacity, 1}, {test_many_points, 1},
                 {test_without_points, 1}, {test_shared_chain, 1},
                 {test_many_generations, 2}, {test_many_chains, 1})
