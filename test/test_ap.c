/* Testudo: tests of allocation points, frames and patterns (interface, sections
   2.9, 2.11-2.13).
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
  if (arena->stress.each != 0) { /* collects when it likes */
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
                 {test_accounts, 1})
