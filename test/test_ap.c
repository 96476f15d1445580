/* Testudo: tests of chains, formats, allocation points, frames and patterns
   (interface, sections 2.7, 2.8, 2.9, 2.11-2.13, 5).
   SPDX-License-Identifier: BSD-2-Clause */
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "mpscmvt.h"
#include "trace/heap.h"
#include "test/objects.h"
#include "test/suite.h"

/* ---- the protocol ---- */

START_TEST(test_protocol) {
  mps_addr_t p, q;
  size_t size = obj_bytes(2);
  heap_start(mps_class_amc());
  mps_arena_park(arena);
  ck_assert_ptr_null(ap->limit); /* empty at first */
  ck_assert_int_eq(mps_reserve(&p, ap, size), MPS_RES_OK);
  ck_assert_ptr_eq(ap->init, p);
  ck_assert_ptr_eq(ap->alloc, (char *)p + size);
  ck_assert((char *)ap->alloc <= (char *)ap->limit);
  *(mps_word_t *)p = size << 3 | OBJ_LEAF;
  ck_assert_int_eq(mps_commit(ap, p, size), 1);
  ck_assert_ptr_eq(ap->init, ap->alloc);
  /* By hand, and by the functions. */
  q = ap->init;
  ck_assert_ptr_eq(q, (char *)p + size); /* adjacent */
  ap->alloc = (char *)ap->alloc + size;
  *(mps_word_t *)q = size << 3 | OBJ_LEAF;
  ap->init = ap->alloc;
  ck_assert(ap->limit != NULL || mps_ap_trip(ap, q, size));
  ck_assert_int_eq((mps_reserve)(&p, ap, size), MPS_RES_OK);
  *(mps_word_t *)p = size << 3 | OBJ_LEAF;
  ck_assert_int_eq((mps_commit)(ap, p, size), 1);
  ck_assert_int_eq(mps_ap_fill(&p, ap, size), MPS_RES_OK); /* though it fits */
  *(mps_word_t *)p = size << 3 | OBJ_LEAF;
  ck_assert_int_eq(mps_commit(ap, p, size), 1);
  mps_res_t res;
  MPS_RESERVE_BLOCK(res, p, ap, size);
  ck_assert_int_eq(res, MPS_RES_OK);
  *(mps_word_t *)p = size << 3 | OBJ_LEAF;
  ck_assert_int_eq(mps_commit(ap, p, size), 1);
  heap_stop();
}
END_TEST

/* A collection that finds nothing does not flip: what is reserved stays. */
START_TEST(test_no_flip) {
  mps_pool_class_t cls[] = {mps_class_amc(), mps_class_ams()};
  size_t size = obj_bytes(2);
  mps_addr_t p;
  heap_start(cls[_i]);
  ck_assert_int_eq(mps_reserve(&p, ap, size), MPS_RES_OK);
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_FAIL);
  *(mps_word_t *)p = size << 3 | OBJ_LEAF;
  ck_assert_int_eq(mps_commit(ap, p, size), 1);
  ck_assert_int_eq(mps_reserve(&p, ap, size), MPS_RES_OK);
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_int_eq(mps_commit(ap, p, size), 0);
  heap_stop();
}
END_TEST

/* Sizes that overflow go to fill, and fail. */
/* What else than a large block is allocated where it became void? Nothing that
   leaves the block's bytes among the objects, and the next block of its size
   is there again. */
START_TEST(test_void_large) {
  mps_pool_class_t cls[] = {mps_class_ams(), mps_class_awl(), mps_class_aeph(),
                            mps_class_amc()};
  size_t size = (size_t)4 << 20, in_use, rest;
  mps_frame_t frame;
  mps_addr_t p, q;
  heap_start(cls[_i % 4]);
  table[0] = node(2);
  in_use = mps_pool_total_size(pool) - mps_pool_free_size(pool);
  ck_assert_int_eq(mps_reserve(&p, ap, size), MPS_RES_OK);
  memset(p, 0xFF, size);
  collect();
  ck_assert_int_eq(mps_commit(ap, p, size), 0);
  rest = ap->limit == NULL ? 0 : (size_t)((char *)ap->limit - (char *)p);
  ck_assert_uint_le(mps_pool_total_size(pool) - mps_pool_free_size(pool),
                    in_use + rest);
  if (_i < 4) {
    ck_assert_int_eq(mps_ap_frame_push(&frame, ap), MPS_RES_OK);
    for (size_t i = 0; i < 40; ++i)
      table[i] = numbered(i);
  } else {
    ck_assert_int_eq(mps_reserve(&q, ap, size), MPS_RES_OK);
    ck_assert_ptr_eq(p, q);
    *(mps_word_t *)q = size << 3 | OBJ_LEAF;
    ck_assert_int_eq(mps_commit(ap, q, size), 1);
    table[40] = q;
    for (size_t i = 0; i < 40; ++i)
      table[i] = numbered(i);
    ck_assert_uint_eq(obj_size(table[40]), size);
  }
  for (size_t round = 0; round < 3; ++round) {
    collect();
    for (size_t i = 0; i < 40; ++i)
      ck_assert_uint_eq(number_of(table[i]), i);
    memset(table, 0, 10 * sizeof table[0]);
    for (size_t i = 0; i < 10; ++i)
      table[i] = numbered(i);
  }
  heap_stop();
}
END_TEST

START_TEST(test_overflow) {
  mps_addr_t p = &p;
  heap_start(mps_class_amc());
  (void)node(2);
  ck_assert_int_eq(mps_reserve(&p, ap, (size_t)-64), MPS_RES_RESOURCE);
  ck_assert_int_eq(mps_reserve(&p, ap, SIZE_MAX / 2 + 1), MPS_RES_RESOURCE);
  ck_assert_ptr_eq(p, &p);
  ck_assert_uint_eq(obj_refs(node(2)), 2); /* it works again */
  heap_stop();
}
END_TEST

/* One block, several objects. */
START_TEST(test_several_in_one) {
  size_t size = obj_bytes(2);
  mps_addr_t p;
  heap_start(mps_class_amc());
  for (size_t i = 0; i < 300; ++i) {
    do {
      ck_assert_int_eq(mps_reserve(&p, ap, 3 * size), MPS_RES_OK);
      memset(p, 0, 3 * size);
      for (size_t j = 0; j < 3; ++j)
        *(mps_word_t *)(void *)((char *)p + j * size) = size << 3 | OBJ_NODE;
    } while (!mps_commit(ap, p, 3 * size));
    for (size_t j = 0; j < 3; ++j) {
      table[3 * i + j] = (char *)p + j * size;
      *obj_ref(table[3 * i + j], 0) = (mps_addr_t)((3 * i + j) << 2 | 1);
    }
  }
  collect();
  for (size_t i = 0; i < 900; ++i)
    ck_assert_uint_eq(number_of(table[i]), i);
  heap_stop();
}
END_TEST

static mps_res_t pool_v(mps_pool_t *p, mps_pool_class_t cls, ...) {
  va_list list;
  mps_res_t res;
  va_start(list, cls);
  res = mps_pool_create_v(p, arena, cls, list);
  va_end(list);
  return res;
}

static mps_res_t ap_v(mps_ap_t *q, mps_pool_t p, ...) {
  va_list list;
  mps_res_t res;
  va_start(list, p);
  res = mps_ap_create_v(q, p, list);
  va_end(list);
  return res;
}

static mps_res_t arena_v(mps_arena_t *a, mps_arena_class_t cls, ...) {
  va_list list;
  mps_res_t res;
  va_start(list, cls);
  res = mps_arena_create_v(a, cls, list);
  va_end(list);
  return res;
}

START_TEST(test_lists) {
  mps_pool_t p;
  mps_ap_t q;
  mps_arena_t a;
  ck_assert_int_eq(arena_v(&a, mps_arena_class_vm(), (size_t)1 << 20),
                   MPS_RES_OK);
  mps_arena_destroy(a);
  heap_start(mps_class_amc());
  ck_assert_int_eq(pool_v(&p, mps_class_amc(), fmt, chain), MPS_RES_OK);
  ck_assert_int_eq(ap_v(&q, p, mps_rank_exact()), MPS_RES_OK);
  table[0] = obj_on(q, OBJ_NODE, 2);
  collect();
  mps_arena_park(arena);
  mps_ap_destroy(q);
  mps_pool_destroy(p);
  heap_stop();
}
END_TEST

/* Destroying a pool in the middle of a collection. */
START_TEST(test_destroy_in_collection) {
  mps_pool_t p;
  mps_ap_t q;
  heap_start(mps_class_amc());
  mps_arena_pause_time_set(arena, 0.0);
  for (size_t round = 0; round < 10; ++round) {
    p = obj_pool(mps_class_amc());
    q = point(p);
    for (size_t i = 0; i < 300; ++i)
      table[i] = obj_on(i % 2 ? ap : q, OBJ_NODE, 300);
    ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
    memset(table, 0, sizeof table);
    mps_ap_destroy(q);
    mps_pool_destroy(p);
  }
  heap_stop();
}
END_TEST

/* ---- frames ---- */

START_TEST(test_frames) {
  mps_frame_t frame, inner;
  mps_addr_t p;
  size_t size = obj_bytes(2);
  heap_start(mps_class_amc());
  ck_assert_int_eq(mps_ap_frame_push(&frame, ap), MPS_RES_OK);
  table[0] = numbered(1);
  ck_assert_int_eq((mps_ap_frame_push)(&inner, ap), MPS_RES_OK);
  table[1] = numbered(2);
  ck_assert_int_eq(mps_ap_frame_pop(ap, frame), MPS_RES_OK);
  collect();
  ck_assert_uint_eq(number_of(table[0]), 1); /* pop has no effect here */
  ck_assert_uint_eq(number_of(table[1]), 2);
  ck_assert_int_eq(mps_reserve(&p, ap, size), MPS_RES_OK);
  ck_assert_int_eq(mps_ap_frame_push(&frame, ap), MPS_RES_FAIL);
  ck_assert_int_eq((mps_ap_frame_pop)(ap, frame), MPS_RES_FAIL);
  *(mps_word_t *)p = size << 3 | OBJ_LEAF;
  (void)mps_commit(ap, p, size);
  heap_stop();
}
END_TEST

/* Manual classes rewind the point. */
START_TEST(test_frames_manual) {
  mps_pool_class_t classes[] = {mps_class_mvff(), mps_class_mvt()};
  start();
  for (int i = 0; i < 2; ++i) {
    mps_pool_t p;
    mps_ap_t q;
    mps_frame_t frame;
    char *first, *second;
    ck_assert_int_eq(mps_pool_create_k(&p, arena, classes[i], mps_args_none),
                     MPS_RES_OK);
    q = point(p);
    first = make(q, 64);
    ck_assert_int_eq(mps_ap_frame_push(&frame, q), MPS_RES_OK);
    second = make(q, 64);
    ck_assert_ptr_eq(second, first + 64);
    ck_assert_int_eq(mps_ap_frame_pop(q, frame), MPS_RES_OK);
    ck_assert_ptr_eq(make(q, 64), second);
    mps_ap_destroy(q);
    mps_pool_destroy(p);
  }
  stop();
}
END_TEST

/* ---- patterns ---- */

static void check_patterns(mps_ap_t q) {
  mps_alloc_pattern_t ramp = mps_alloc_pattern_ramp();
  mps_alloc_pattern_t all = mps_alloc_pattern_ramp_collect_all();
  ck_assert_ptr_eq(ramp, mps_alloc_pattern_ramp());
  ck_assert_int_eq(mps_ap_alloc_pattern_end(q, ramp), MPS_RES_FAIL);
  ck_assert_int_eq(mps_ap_alloc_pattern_begin(q, ramp), MPS_RES_OK);
  ck_assert_int_eq(mps_ap_alloc_pattern_begin(q, all), MPS_RES_OK);
  ck_assert_int_eq(mps_ap_alloc_pattern_end(q, ramp), MPS_RES_OK);
  ck_assert_int_eq(mps_ap_alloc_pattern_end(q, all), MPS_RES_OK);
  ck_assert_int_eq(mps_ap_alloc_pattern_end(q, all), MPS_RES_FAIL);
  ck_assert_int_eq(mps_ap_alloc_pattern_begin(q, all), MPS_RES_OK);
  ck_assert_int_eq(mps_ap_alloc_pattern_begin(q, ramp), MPS_RES_OK);
  ck_assert_int_eq(mps_ap_alloc_pattern_reset(q), MPS_RES_OK);
  ck_assert_int_eq(mps_ap_alloc_pattern_end(q, ramp), MPS_RES_FAIL);
}

START_TEST(test_patterns) {
  mps_pool_t p;
  mps_ap_t q;
  heap_start(mps_class_amc());
  check_patterns(ap);
  q = point(pool);
  ck_assert_int_eq(mps_ap_alloc_pattern_begin(ap, mps_alloc_pattern_ramp()),
                   MPS_RES_OK);
  ck_assert_int_eq(mps_ap_alloc_pattern_end(q, mps_alloc_pattern_ramp()),
                   MPS_RES_FAIL); /* each point counts by itself */
  mps_ap_destroy(q);
  ck_assert_int_eq(
      mps_pool_create_k(&p, arena, mps_class_mvff(), mps_args_none),
      MPS_RES_OK);
  q = point(p);
  check_patterns(q);
  mps_ap_destroy(q);
  mps_pool_destroy(p);
  p = obj_pool(mps_class_lo());
  q = point(p);
  check_patterns(q);
  mps_ap_destroy(q);
  mps_pool_destroy(p);
  heap_stop();
}
END_TEST

/* In a ramp no minor collections; after "collect all" a full one. */
START_TEST(test_ramp_policy) {
  mps_alloc_pattern_t all = mps_alloc_pattern_ramp_collect_all();
  mps_word_t before;
  heap_start(mps_class_amc());
  mps_message_type_enable(arena, mps_message_type_gc());
  ck_assert_int_eq(mps_ap_alloc_pattern_begin(ap, all), MPS_RES_OK);
  before = mps_collections(arena);
  for (size_t i = 0; i < 5000; ++i)
    table[i % 100] = node(4);
  if (getenv("TESTUDO_STRESS") == NULL) {
    ck_assert(!mps_arena_step(arena, 0.0, 0.0));
    ck_assert_uint_eq(mps_collections(arena), before);
  }
  ck_assert_int_eq(mps_ap_alloc_pattern_end(ap, all), MPS_RES_OK);
  for (size_t i = 0; i < 50000; ++i)
    table[i % 100] = node(4);
  ck_assert_uint_gt(mps_collections(arena), before);
  heap_stop();
}
END_TEST

/* What a ramp allocated makes its generation due when it ends, also while
   nothing more is allocated there. While none is due, chains are not looked
   at. */
START_TEST(test_ramp_due) {
  mps_alloc_pattern_t ramp = mps_alloc_pattern_ramp();
  mps_word_t before;
  mps_pool_t p;
  mps_addr_t block;
  heap_start(mps_class_amc());
  if (arena->stress != 0) { /* collects when it likes */
    heap_stop();
    return;
  }
  ck_assert_int_eq(
      mps_pool_create_k(&p, arena, mps_class_mvff(), mps_args_none),
      MPS_RES_OK);
  ck_assert_int_eq(mps_ap_alloc_pattern_begin(ap, ramp), MPS_RES_OK);
  for (size_t i = 0; i < 50000; ++i)
    table[i % 100] = node(4);
  for (size_t i = 0; i < 1000; ++i)
    ck_assert_int_eq(mps_alloc(&block, p, 1000), MPS_RES_OK);
  ck_assert(!arena->due);
  before = mps_collections(arena);
  ck_assert_int_eq(mps_ap_alloc_pattern_end(ap, ramp), MPS_RES_OK);
  for (size_t i = 0; i < 1000; ++i)
    ck_assert_int_eq(mps_alloc(&block, p, 1000), MPS_RES_OK);
  ck_assert_uint_gt(mps_collections(arena), before);
  mps_pool_destroy(p);
  heap_stop();
}
END_TEST

/* The same, where the ramp that asked for it is not the last one to end. */
/* A ramp that does not end defers what is due, but not for ever. */
START_TEST(test_ramp_for_long) {
  mps_alloc_pattern_t ramp = mps_alloc_pattern_ramp();
  size_t most = (size_t)128 << 20;
  mps_ap_t other;
  heap_start(mps_class_amc());
  other = point(pool);
  ck_assert_int_eq(mps_ap_alloc_pattern_begin(_i == 0 ? ap : other, ramp),
                   MPS_RES_OK);
  for (size_t n = 0; n < suite_size(200000, 1000); ++n) {
    table[n % 100] = node(100);
    REQUIRE(n % 1000 != 0 || mps_arena_committed(arena) < most);
  }
  ck_assert_int_eq(mps_ap_alloc_pattern_end(_i == 0 ? ap : other, ramp),
                   MPS_RES_OK);
  mps_ap_destroy(other);
  heap_stop();
}
END_TEST

START_TEST(test_ramp_not_last) {
  mps_alloc_pattern_t all = mps_alloc_pattern_ramp_collect_all();
  mps_alloc_pattern_t ramp = mps_alloc_pattern_ramp();
  mps_ap_t q;
  heap_start(mps_class_amc());
  q = point(pool);
  for (int i = 0; i < 2; ++i) {
    ck_assert_int_eq(mps_ap_alloc_pattern_begin(ap, i == 0 ? all : ramp),
                     MPS_RES_OK);
    ck_assert_int_eq(mps_ap_alloc_pattern_begin(q, ramp), MPS_RES_OK);
    ck_assert_int_eq(mps_ap_alloc_pattern_end(ap, i == 0 ? all : ramp),
                     MPS_RES_OK);
    ck_assert(!arena->full_wanted);
    ck_assert_int_eq(mps_ap_alloc_pattern_end(q, ramp), MPS_RES_OK);
    ck_assert_int_eq(arena->full_wanted, i == 0);
    arena->full_wanted = false;
  }
  mps_ap_destroy(q);
  heap_stop();
}
END_TEST

/* ---- chains ---- */

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

/* ---- formats ---- */

static mps_addr_t no_class(mps_addr_t obj) {
  (void)obj;
  return NULL;
}

START_TEST(test_formats) {
  mps_fmt_t f;
  mps_fmt_A_s a = {8, obj_scan, obj_skip, NULL, obj_fwd, obj_isfwd, obj_pad};
  mps_fmt_B_s b = {8,       obj_scan,  obj_skip, NULL,
                   obj_fwd, obj_isfwd, obj_pad,  no_class};
  mps_fmt_auto_header_s h = {8,         obj_scan, obj_skip, obj_fwd,
                             obj_isfwd, obj_pad,  16};
  mps_fmt_fixed_s x = {8, obj_scan, obj_fwd, obj_isfwd, obj_pad};
  start();
  ck_assert_int_eq(mps_thread_reg(&thr, arena), MPS_RES_OK);
  ck_assert_int_eq(mps_root_create_table(&table_root, arena, mps_rank_exact(),
                                         0, table, ROOTS),
                   MPS_RES_OK);
  ck_assert_int_eq(mps_fmt_create_A(&f, arena, &a), MPS_RES_OK);
  mps_fmt_destroy(f);
  ck_assert_int_eq(mps_fmt_create_A(&f, arena, &a), MPS_RES_OK);
  memset(&a, 0, sizeof a);
  mps_fmt_destroy(f);
  ck_assert_int_eq(mps_fmt_create_B(&f, arena, &b), MPS_RES_OK);
  mps_fmt_destroy(f);
  ck_assert_int_eq(mps_fmt_create_fixed(&f, arena, &x), MPS_RES_OK);
  mps_fmt_destroy(f);
  obj_header = 16;
  ck_assert_int_eq(mps_fmt_create_auto_header(&f, arena, &h), MPS_RES_OK);
  mps_fmt_destroy(f);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ALIGN, 16);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_CLASS, no_class);
    ck_assert_int_eq(mps_fmt_create_k(&f, arena, args), MPS_RES_OK);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  mps_fmt_destroy(f);
  mps_root_destroy(table_root);
  mps_thread_dereg(thr);
  stop();
}
END_TEST

/* Sum of the ranges, in a walk. */
static mps_res_t add_range(mps_ss_t ss, void *base, void *limit, void *sum) {
  (void)ss;
  *(size_t *)sum += (size_t)((char *)limit - (char *)base);
  return MPS_RES_OK;
}

/* A format without skip does while nobody needs that. */
START_TEST(test_format_fixed) {
  mps_fmt_fixed_s x = {32, obj_scan, obj_fwd, obj_isfwd, obj_pad};
  mps_pool_t p;
  mps_ap_t q;
  mps_fmt_t f;
  mps_addr_t block;
  size_t sum = 0;
  start();
  ck_assert_int_eq(mps_fmt_create_fixed(&f, arena, &x), MPS_RES_OK);
  memset(&x, 0, sizeof x);
  mps_arena_park(arena);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, f);
    ck_assert_int_eq(mps_pool_create_k(&p, arena, mps_class_amc(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  q = point(p);
  for (size_t i = 1; i < 100; ++i) {
    ck_assert_int_eq(mps_reserve(&block, q, 32 * i), MPS_RES_OK);
    ck_assert_uint_eq((mps_word_t)block % 32, 0);
    *(mps_word_t *)block = (32 * i) << 3 | OBJ_LEAF;
    ck_assert(mps_commit(q, block, 32 * i));
  }
  ASSERTED(ck_assert_int_ne((mps_reserve)(&block, q, 48), MPS_RES_OK));
  mps_ap_destroy(q);
  ck_assert_int_eq(mps_pool_walk(p, add_range, &sum), MPS_RES_OK);
  ck_assert_uint_ge(sum, 32 * 99 * 100 / 2);
  ck_assert_uint_eq(sum % 32, 0);
  mps_pool_destroy(p);
  mps_fmt_destroy(f);
  stop();
}
END_TEST

/* A method that is needed and missing: asserted in every variety, and never
   jumped to; with a handler that returns, the library comes to an end. */
START_TEST(test_format_missing) {
  mps_fmt_t f;
  mps_pool_t p;
  start();
  ck_assert_int_eq(mps_thread_reg(&thr, arena), MPS_RES_OK);
  ck_assert_int_eq(mps_root_create_table(&table_root, arena, mps_rank_exact(),
                                         0, table, ROOTS),
                   MPS_RES_OK);
  ck_assert_int_eq(mps_fmt_create_k(&f, arena, mps_args_none), MPS_RES_OK);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, f);
    ck_assert_int_eq(mps_pool_create_k(&p, arena, mps_class_lo(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  ap = point(p);
  table[0] = obj_on(ap, OBJ_LEAF, 5);
  ASSERTED_ALWAYS((void)mps_arena_collect(arena));
  mps_root_destroy(table_root);
  mps_ap_destroy(ap);
  mps_pool_destroy(p);
  mps_fmt_destroy(f);
  mps_thread_dereg(thr);
  mps_arena_destroy(arena);
}
END_TEST

START_TEST(test_format_variants) {
  mps_fmt_t f;
  mps_fmt_A_s a = {8, obj_scan, obj_skip, NULL, obj_fwd, obj_isfwd, obj_pad};
  mps_fmt_B_s b = {8,       obj_scan,  obj_skip, NULL,
                   obj_fwd, obj_isfwd, obj_pad,  no_class};
  mps_fmt_auto_header_s h = {8,         obj_scan, obj_skip, obj_fwd,
                             obj_isfwd, obj_pad,  16};
  start();
  ck_assert_int_eq(mps_root_create_table(&table_root, arena, mps_rank_exact(),
                                         0, table, ROOTS),
                   MPS_RES_OK);
  switch (_i) {
  case 0:
    ck_assert_int_eq(mps_fmt_create_A(&f, arena, &a), MPS_RES_OK);
    memset(&a, 0, sizeof a);
    break;
  case 1:
    ck_assert_int_eq(mps_fmt_create_B(&f, arena, &b), MPS_RES_OK);
    memset(&b, 0, sizeof b);
    break;
  case 2:
    obj_header = 16;
    ck_assert_int_eq(mps_fmt_create_auto_header(&f, arena, &h), MPS_RES_OK);
    memset(&h, 0, sizeof h);
    break;
  default: /* no method at all: fine while none is needed */
    ck_assert_int_eq(mps_fmt_create_k(&f, arena, mps_args_none), MPS_RES_OK);
  }
  MPS_ARGS_BEGIN(args) {
    mps_pool_t p;
    mps_ap_t q;
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, f);
    ck_assert_int_eq(mps_pool_create_k(&p, arena, mps_class_amc(), args),
                     MPS_RES_OK);
    q = point(p);
    for (size_t i = 0; _i < 3 && i < 100; ++i)
      table[i] = obj_on(q, OBJ_NODE, 3);
    if (_i < 3)
      collect();
    for (size_t i = 0; _i < 3 && i < 100; ++i)
      ck_assert_uint_eq(obj_refs(table[i]), 3);
    memset(table, 0, sizeof table);
    mps_arena_park(arena);
    mps_ap_destroy(q);
    mps_pool_destroy(p);
  }
  MPS_ARGS_END(args);
  mps_fmt_destroy(f);
  mps_root_destroy(table_root);
  stop();
}
END_TEST

/* ---- sizes ---- */

START_TEST(test_accounts) {
  size_t live;
  heap_start(mps_class_amc());
  mps_arena_park(arena);
  ck_assert_uint_eq(in_use(pool), 0);
  for (size_t i = 0; i < 500; ++i)
    table[i] = node(i % 30);
  live = 0;
  for (size_t i = 0; i < 500; ++i)
    live += obj_size(table[i]);
  ck_assert_uint_ge(in_use(pool), live);
  ck_assert_uint_le(mps_pool_free_size(pool), mps_pool_total_size(pool));
  heap_stop();
}
END_TEST

SUITE_LOOPS_MAIN("ap", 60, {test_protocol, 1}, {test_no_flip, 2},
                 {test_void_large, 8}, {test_overflow, 1},
                 {test_several_in_one, 1}, {test_lists, 1},
                 {test_destroy_in_collection, 1}, {test_frames, 1},
                 {test_frames_manual, 1}, {test_patterns, 1},
                 {test_ramp_policy, 1}, {test_ramp_due, 1},
                 {test_ramp_not_last, 1}, {test_ramp_for_long, 2},
                 {test_capacity, 1},
                 {test_many_points, 1}, {test_without_points, 1},
                 {test_shared_chain, 1},
                 {test_many_generations, 2}, {test_many_chains, 1},
                 {test_formats, 1}, {test_format_fixed, 1},
                 {test_format_missing, 1}, {test_accounts, 1},
                 {test_format_variants, 4})
