/* Testudo: tests of walking pools and roots (interface, section 2.23).
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/heap.h" /* first: its functions have names of ours */
#include "test/objects.h"
#include "test/suite.h"

enum { OBJECTS = 500 };

/* Objects numbered 0..OBJECTS, every second one dropped. */
static void fill(void) {
  for (size_t i = 0; i < OBJECTS; ++i)
    table[i] = numbered(i);
  for (size_t i = 1; i < OBJECTS; i += 2)
    table[i] = NULL;
}

static unsigned seen[OBJECTS];
static size_t seen_bytes, seen_pads, ranges;
static char *range_limit[OBJECTS], *range_base[OBJECTS];

static void count_object(mps_addr_t obj) {
  ck_assert_uint_ne(obj_kind(obj), OBJ_FORWARD);
  seen_bytes += obj_size(obj);
  if (obj_kind(obj) == OBJ_PAD)
    ++seen_pads;
  else
    ++seen[number_of(obj)];
}

static void forget(void) {
  memset(seen, 0, sizeof seen);
  seen_bytes = seen_pads = ranges = 0;
}

static mps_res_t count_area(mps_ss_t ss, void *base, void *limit,
                            void *closure) {
  ck_assert_ptr_eq(closure, &seen);
  ck_assert(mps_arena_busy(arena));
  range_base[ranges] = base;
  range_limit[ranges] = limit;
  for (size_t i = 0; i < ranges; ++i)
    REQUIRE(range_limit[i] <= (char *)base || range_base[i] >= (char *)limit);
  ++ranges;
  for (char *p = base; p < (char *)limit; p = obj_skip(p)) {
    count_object(p);
    MPS_SCAN_BEGIN(ss) {
      REQUIRE(!MPS_FIX1(ss, p));
    }
    MPS_SCAN_END(ss);
  }
  return MPS_RES_OK;
}

static void check_live(void) {
  for (size_t i = 0; i < OBJECTS; i += 2)
    ck_assert_uint_eq(seen[i], 1);
}

/* Committed but uncollected, then after a collection. Visited bytes and
   unused space of points are what the pool has in use. */
static void check_pool_walk(mps_pool_class_t cls, size_t header) {
  obj_header = header;
  heap_start(cls);
  mps_arena_park(arena);
  fill();
  for (int i = 0; i < 2; ++i) {
    forget();
    ck_assert_int_eq(mps_pool_walk(pool, count_area, &seen), MPS_RES_OK);
    check_live();
    if (i == 0)
      for (size_t j = 1; j < OBJECTS; j += 2)
        ck_assert_uint_eq(seen[j], 1); /* dead, but there */
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  }
  forget();
  ck_assert_int_eq(mps_pool_walk(pool, count_area, &seen), MPS_RES_OK);
  for (size_t j = 1; j < OBJECTS; j += 2)
    ck_assert_uint_eq(seen[j], 0);
  heap_stop();
}

START_TEST(test_pool_walk) {
  check_pool_walk(mps_class_amc(), 0);
}
END_TEST

START_TEST(test_pool_walk_header) {
  check_pool_walk(mps_class_amc(), 2 * WORD);
}
END_TEST

START_TEST(test_pool_walk_leaf) {
  check_pool_walk(mps_class_amcz(), WORD);
}
END_TEST

static mps_res_t stop_area(mps_ss_t ss, void *base, void *limit,
                           void *closure) {
  (void)ss, (void)base, (void)limit;
  ++*(int *)closure;
  return MPS_RES_IO;
}

START_TEST(test_pool_walk_stops) {
  int calls = 0;
  heap_start(mps_class_amc());
  for (size_t i = 0; i < ROOTS; ++i) /* many segments */
    table[i] = node(200);
  mps_arena_park(arena);
  ck_assert_int_eq(mps_pool_walk(pool, stop_area, &calls), MPS_RES_IO);
  ck_assert_int_eq(calls, 1);
  heap_stop();
}
END_TEST

/* A walk that changes references, by the scanning protocol. */
static mps_res_t redirect_area(mps_ss_t ss, void *base, void *limit,
                               void *closure) {
  MPS_SCAN_BEGIN(ss) {
    for (char *p = base; p < (char *)limit; p = obj_skip(p))
      if (obj_kind(p) == OBJ_NODE && *obj_ref(p, 1) != NULL) {
        mps_res_t res;
        *obj_ref(p, 1) = closure;
        res = MPS_FIX12(ss, obj_ref(p, 1));
        if (res != MPS_RES_OK)
          return res;
      }
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

START_TEST(test_pool_walk_changes) {
  heap_start(mps_class_amc());
  for (size_t i = 0; i < 100; ++i)
    table[i] = numbered(i);
  for (size_t i = 0; i < 100; ++i)
    *obj_ref(table[i], 1) = table[i];
  for (int i = 0; i < 6; ++i) /* old, clean pages that refer to old ones */
    collect();
  mps_arena_park(arena);
  table[100] = numbered(777); /* young */
  ck_assert_int_eq(mps_pool_walk(pool, redirect_area, table[100]), MPS_RES_OK);
  table[100] = NULL;
  mps_arena_release(arena);
  for (size_t i = 0; i < 20000; ++i) /* minor collections */
    table[200 + i % 50] = numbered(i);
  for (size_t i = 0; i < 100; ++i) {
    ck_assert_uint_eq(number_of(table[i]), i);
    ck_assert_uint_eq(number_of(*obj_ref(table[i], 1)), 777);
  }
  heap_stop();
}
END_TEST

START_TEST(test_pool_walk_manual) {
  mps_pool_t manual;
  int calls = 0;
  start();
  ck_assert_int_eq(
      mps_pool_create_k(&manual, arena, mps_class_mvff(), mps_args_none),
      MPS_RES_OK);
  (void)alloc(manual, 100);
  mps_arena_clamp(arena); /* without a collection that is enough */
  ck_assert_int_eq(mps_pool_walk(manual, stop_area, &calls), MPS_RES_OK);
  ck_assert_int_eq(calls, 0);
  mps_pool_destroy(manual);
  stop();
}
END_TEST

static void step_object(mps_addr_t obj, mps_fmt_t f, mps_pool_t p, void *q,
                        size_t s) {
  mps_pool_t found;
  mps_fmt_t found_fmt;
  ck_assert_ptr_eq(f, fmt);
  ck_assert_ptr_eq(p, pool);
  ck_assert_ptr_eq(q, &seen);
  ck_assert_uint_eq(s, 42);
  ck_assert(mps_arena_has_addr(arena, obj));
  ck_assert(mps_addr_pool(&found, arena, obj));
  ck_assert_ptr_eq(found, pool);
  ck_assert(mps_addr_fmt(&found_fmt, arena, obj));
  ck_assert_ptr_eq(found_fmt, fmt);
  ck_assert(mps_arena_busy(arena));
  count_object(obj);
}

START_TEST(test_formatted_objects_walk) {
  obj_header = WORD;
  heap_start(mps_class_amc());
  fill();
  mps_arena_park(arena);
  forget();
  mps_arena_formatted_objects_walk(arena, step_object, &seen, 42);
  check_live();
  ck_assert(!mps_arena_busy(arena));
  heap_stop();
}
END_TEST

/* In the middle of a collection no forwarding object is shown. */
START_TEST(test_walk_in_collection) {
  heap_start(mps_class_amc());
  mps_arena_pause_time_set(arena, 0.0);
  mps_arena_clamp(arena);
  fill();
  for (size_t i = OBJECTS; i < ROOTS; ++i) {
    table[i] = node(500);
    *obj_ref(table[i], 0) = (mps_addr_t)1;
  }
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  forget();
  mps_arena_formatted_objects_walk(arena, step_object, &seen, 42);
  ck_assert_uint_gt(seen_bytes, 0);
  mps_arena_park(arena);
  heap_stop();
}
END_TEST

static void apply_object(mps_addr_t obj, void *p, size_t s) {
  ck_assert_ptr_eq(p, &seen);
  ck_assert_uint_eq(s, 43);
  count_object(obj);
}

START_TEST(test_amc_apply) {
  heap_start(mps_class_amcz());
  fill();
  mps_arena_park(arena);
  forget();
  mps_amc_apply(pool, apply_object, &seen, 43);
  check_live();
  heap_stop();
}
END_TEST

/* What is being collected is no object's memory for certain: nothing is
   shown. */
START_TEST(test_amc_apply_in_collection) {
  heap_start(mps_class_amc());
  push_nodes(0, 200000);
  mps_arena_pause_time_set(arena, 0.0);
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  forget();
  if (tdo_trace_busy(&arena->trace)) {
    ASSERTED(mps_amc_apply(pool, apply_object, &seen, 43));
    ck_assert_uint_eq(seen_bytes, 0);
  }
  mps_arena_park(arena);
  heap_stop();
}
END_TEST

/* ---- roots ---- */

static size_t met, met_table;
static mps_addr_t ambiguous[4];
static mps_root_t ambiguous_root;

static void step_root(mps_addr_t *ref, mps_root_t root, void *p, size_t s) {
  ck_assert_ptr_eq(p, &met);
  ck_assert_uint_eq(s, 44);
  ++met;
  if (root == table_root) {
    ++met_table;
    ck_assert(ref >= table && ref < table + ROOTS); /* the slot itself */
    ck_assert_uint_eq(number_of(*ref), (size_t)(ref - table));
  } else {
    ck_assert_ptr_eq(root, ambiguous_root);
    ck_assert(ref >= ambiguous && ref < ambiguous + 4);
  }
}

START_TEST(test_roots_walk) {
  mps_pool_t manual;
  heap_start(mps_class_amc());
  ck_assert_int_eq(
      mps_pool_create_k(&manual, arena, mps_class_mvff(), mps_args_none),
      MPS_RES_OK);
  fill();
  ck_assert_int_eq(mps_root_create_area_tagged(
                       &ambiguous_root, arena, mps_rank_ambig(), 0, ambiguous,
                       ambiguous + 4, mps_scan_area_tagged, 7, 0),
                   MPS_RES_OK);
  ambiguous[0] = (char *)table[0] + WORD;                /* interior */
  ambiguous[1] = (mps_addr_t)((mps_word_t)table[0] | 1); /* tagged out */
  ambiguous[2] = alloc(manual, 64);                      /* not automatic */
  ambiguous[3] = &met;                                   /* not managed */
  mps_arena_park(arena);
  for (int i = 0; i < 3; ++i) {
    met = met_table = 0;
    mps_arena_roots_walk(arena, step_root, &met, 44);
    ck_assert_uint_eq(met_table, OBJECTS / 2);
    ck_assert_uint_eq(met, OBJECTS / 2 + 1);
  }
  mps_root_destroy(ambiguous_root);
  mps_pool_destroy(manual);
  heap_stop();
}
END_TEST

/* Slots of a stack may be what the sanitizer thinks nobody may read. */
__attribute__((no_sanitize("address"))) static void
step_thread(mps_addr_t *ref, mps_root_t root, void *p, size_t s) {
  (void)root, (void)s;
  met += *ref == *(mps_addr_t *)p;
}

START_TEST(test_roots_walk_thread) {
  mps_root_t root;
  mps_addr_t here[1] = {NULL};
  heap_start(mps_class_amc());
  ck_assert_int_eq(mps_root_create_thread(&root, arena, thr, FRAME_COLD()),
                   MPS_RES_OK);
  table[0] = numbered(1);
  here[0] = table[0];
  mps_arena_park(arena);
  met = 0;
  mps_arena_roots_walk(arena, step_thread, here, 0);
  ck_assert_uint_ge(met, 2); /* the table, and this frame */
  mps_root_destroy(root);
  heap_stop();
}
END_TEST

static mps_res_t scan_badly(mps_ss_t ss, void *p, size_t s) {
  (void)ss, (void)p, (void)s;
  return MPS_RES_FAIL;
}

/* A root that cannot be scanned is reported, and hides no other. */
START_TEST(test_roots_walk_failing) {
  mps_root_t bad;
  heap_start(mps_class_amc());
  mps_root_destroy(table_root);
  ck_assert_int_eq(mps_root_create(&bad, arena, mps_rank_exact(), 0,
                                   scan_badly, NULL, 0), MPS_RES_OK);
  ck_assert_int_eq(mps_root_create_table(&table_root, arena, mps_rank_exact(),
                                         0, table, ROOTS), MPS_RES_OK);
  mps_arena_clamp(arena);
  table[0] = numbered(0);
  mps_arena_park(arena);
  met = met_table = 0;
  ASSERTED(mps_arena_roots_walk(arena, step_root, &met, 44));
  ck_assert_uint_eq(met_table, 1);
  mps_root_destroy(bad);
  heap_stop();
}
END_TEST

START_TEST(test_walk_misuse) {
  mps_pool_t manual;
  heap_start(mps_class_amc());
  ck_assert_int_eq(
      mps_pool_create_k(&manual, arena, mps_class_mvff(), mps_args_none),
      MPS_RES_OK);
  table[0] = numbered(1);
  ASSERTED(mps_amc_apply(manual, apply_object, &seen, 43));
  mps_arena_release(arena);
  ASSERTED((void)mps_pool_walk(pool, count_area, &seen));
  ASSERTED(mps_arena_roots_walk(arena, step_root, &met, 44));
  mps_arena_park(arena);
  ASSERTED((void)mps_pool_walk(pool, NULL, &seen));
  ASSERTED((void)mps_pool_walk(NULL, count_area, &seen));
  ASSERTED(mps_arena_roots_walk(arena, NULL, &met, 44));
  ASSERTED(mps_arena_formatted_objects_walk(arena, NULL, &met, 44));
  ASSERTED(mps_amc_apply(pool, NULL, &met, 44));
  mps_pool_destroy(manual);
  heap_stop();
}
END_TEST

SUITE_MAIN("walk", 30, test_pool_walk, test_pool_walk_header,
           test_pool_walk_leaf, test_pool_walk_stops, test_pool_walk_changes,
           test_pool_walk_manual, test_formatted_objects_walk,
           test_walk_in_collection, test_amc_apply,
           test_amc_apply_in_collection, test_roots_walk,
           test_roots_walk_thread, test_roots_walk_failing,
           test_walk_misuse)
