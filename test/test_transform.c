/* Testudo: tests of transforms (interface, section 2.24).
   SPDX-License-Identifier: BSD-2-Clause */
#include "mpscams.h"
#include "mpscmvff.h"
#include "test/objects.h"
#include "test/suite.h"

enum { OBJECTS = 200 };

static mps_transform_t transform;
static mps_addr_t old[OBJECTS], new[OBJECTS];

static void begin(void) {
  mps_arena_park(arena);
  ck_assert_int_eq(mps_transform_create(&transform, arena), MPS_RES_OK);
}

static void apply(mps_bool_t expected) {
  mps_bool_t applied = 7;
  mps_word_t before = mps_collections(arena);
  ck_assert_int_eq(mps_transform_apply(&applied, transform), MPS_RES_OK);
  ck_assert_int_eq(applied, expected);
  if (applied)
    ck_assert_uint_eq(mps_collections(arena), before + 1);
  memset(old, 0, sizeof old);
  memset(new, 0, sizeof new);
}

/* table[i] is numbered(i) and refers to table[i + 1], numbered. */
static void fill(void) {
  for (size_t i = 0; i < 2 * OBJECTS; ++i)
    table[i] = numbered(i);
  for (size_t i = 0; i < 2 * OBJECTS; ++i)
    *obj_ref(table[i], 1) = table[(i + 1) % (2 * OBJECTS)];
}

static void add_all(void) {
  for (size_t i = 0; i < OBJECTS; ++i) {
    old[i] = table[i];
    new[i] = table[OBJECTS + i];
  }
  ck_assert_int_eq(mps_transform_add_oldnew(transform, old, new, OBJECTS),
                   MPS_RES_OK);
}

static void check_all(void) {
  for (size_t i = 0; i < 2 * OBJECTS; ++i) {
    size_t here = i < OBJECTS ? i + OBJECTS : i;
    size_t next = (here + 1) % (2 * OBJECTS);
    ck_assert_uint_eq(number_of(table[i]), here);
    ck_assert_uint_eq(number_of(*obj_ref(table[i], 1)),
                      next < OBJECTS ? next + OBJECTS : next);
  }
}

static void check_transform(size_t header, int age) {
  obj_header = header;
  heap_start(mps_class_amc());
  fill();
  for (int i = 0; i < age; ++i)
    collect();
  begin();
  add_all();
  apply(1);
  check_all();
  mps_transform_destroy(transform);
  mps_arena_release(arena);
  collect();
  check_all();
  heap_stop();
}

START_TEST(test_apply) {
  check_transform(0, 0);
}
END_TEST

START_TEST(test_apply_old_with_header) {
  check_transform(2 * WORD, 5);
}
END_TEST

/* There is nothing to collect; others are spent all the same. */
START_TEST(test_empty) {
  mps_bool_t applied = 0;
  mps_transform_t other;
  start();
  begin();
  ck_assert_int_eq(mps_transform_create(&other, arena), MPS_RES_OK);
  ck_assert_int_eq(mps_transform_apply(&applied, transform), MPS_RES_OK);
  ck_assert_int_eq(applied, 1);
  applied = 7;
  ck_assert_int_eq(mps_transform_apply(&applied, transform), MPS_RES_PARAM);
  ck_assert_int_eq(mps_transform_apply(&applied, other), MPS_RES_PARAM);
  ck_assert_int_eq(applied, 7);
  mps_transform_destroy(other);
  mps_transform_destroy(transform);
  stop();
}
END_TEST

START_TEST(test_empty_with_objects) {
  heap_start(mps_class_amc());
  fill();
  begin();
  ck_assert_int_eq(mps_transform_add_oldnew(transform, NULL, NULL, 0),
                   MPS_RES_OK);
  apply(1);
  for (size_t i = 0; i < 2 * OBJECTS; ++i)
    ck_assert_uint_eq(number_of(table[i]), i);
  mps_transform_destroy(transform);
  heap_stop();
}
END_TEST

START_TEST(test_null_and_same) {
  heap_start(mps_class_amc());
  fill();
  begin();
  old[0] = NULL;
  new[0] = table[3];
  old[1] = NULL;
  new[1] = table[4];
  old[2] = table[5];
  new[2] = NULL;
  old[3] = table[6];
  new[3] = table[6];
  ck_assert_int_eq(mps_transform_add_oldnew(transform, old, new, 4),
                   MPS_RES_OK);
  apply(1);
  ck_assert_ptr_null(table[5]);
  ck_assert_ptr_null(*obj_ref(table[4], 1));
  ck_assert_uint_eq(number_of(table[6]), 6);
  ck_assert_uint_eq(number_of(table[3]), 3);
  mps_transform_destroy(transform);
  heap_stop();
}
END_TEST

/* A transform is a collection also where nothing moves, be there pairs or
   none. */
START_TEST(test_nothing_moves) {
  heap_start(mps_class_ams());
  fill();
  begin();
  if (_i == 0)
    add_all();
  apply(1);
  ck_assert_uint_eq(number_of(table[0]), _i == 0 ? OBJECTS : 0);
  mps_transform_destroy(transform);
  heap_stop();
}
END_TEST

/* A new object may be another pair's old one. */
START_TEST(test_swap) {
  heap_start(mps_class_amc());
  fill();
  begin();
  old[0] = new[1] = table[0];
  old[1] = new[0] = table[1];
  ck_assert_int_eq(mps_transform_add_oldnew(transform, old, new, 2),
                   MPS_RES_OK);
  apply(1);
  ck_assert_uint_eq(number_of(table[0]), 1);
  ck_assert_uint_eq(number_of(table[1]), 0);
  mps_transform_destroy(transform);
  heap_stop();
}
END_TEST

/* ---- ambiguous references ---- */

static mps_addr_t words[2];
static mps_root_t words_root;

static void check_ambiguous(ptrdiff_t offset, mps_bool_t expected,
                            mps_bool_t interior) {
  mps_pool_t p;
  mps_ap_t q;
  heap_start(mps_class_amc());
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
    MPS_ARGS_ADD(args, MPS_KEY_INTERIOR, interior);
    ck_assert_int_eq(mps_pool_create_k(&p, arena, mps_class_amc(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  q = point(p);
  fill();
  table[0] = obj_on(q, OBJ_NODE, 2);
  *obj_ref(table[0], 0) = (mps_addr_t)(4 * 999 + 1);
  ck_assert_int_eq(mps_root_create_area(&words_root, arena, mps_rank_ambig(),
                                        0, words, words + 2, mps_scan_area,
                                        NULL),
                   MPS_RES_OK);
  begin();
  words[0] = (char *)table[0] + offset;
  old[0] = table[2];
  new[0] = table[3];
  old[1] = table[0];
  new[1] = table[1];
  ck_assert_int_eq(mps_transform_add_oldnew(transform, old, new, 2),
                   MPS_RES_OK);
  apply(expected);
  ck_assert_uint_eq(number_of(table[0]), expected ? 1 : 999);
  ck_assert_uint_eq(number_of(table[2]), expected ? 3 : 2);
  mps_transform_destroy(transform);
  mps_root_destroy(words_root);
  mps_arena_park(arena);
  mps_ap_destroy(q);
  mps_pool_destroy(p);
  heap_stop();
}

static mps_res_t scan_badly(mps_ss_t ss, void *p, size_t s) {
  (void)ss, (void)p, (void)s;
  return MPS_RES_FAIL;
}

/* Where an ambiguous root cannot be scanned nothing is known: that is said, and
   nothing replaced. */
START_TEST(test_ambiguous_failing) {
  mps_bool_t applied = 7;
  heap_start(mps_class_amc());
  fill();
  begin();
  ck_assert_int_eq(mps_root_create(&words_root, arena, mps_rank_ambig(), 0,
                                   scan_badly, NULL, 0), MPS_RES_OK);
  old[0] = table[2];
  new[0] = table[3];
  ck_assert_int_eq(mps_transform_add_oldnew(transform, old, new, 1),
                   MPS_RES_OK);
  ASSERTED(ck_assert_int_eq(mps_transform_apply(&applied, transform),
                            MPS_RES_OK));
  ck_assert(!applied);
  ck_assert_uint_eq(number_of(table[2]), 2);
  mps_transform_destroy(transform);
  mps_root_destroy(words_root);
  heap_stop();
}
END_TEST

START_TEST(test_ambiguous) {
  check_ambiguous(0, 0, 1);
}
END_TEST

START_TEST(test_ambiguous_interior) {
  check_ambiguous(WORD, 0, 1);
}
END_TEST

START_TEST(test_ambiguous_beyond) {
  check_ambiguous((ptrdiff_t)obj_bytes(2), 1, 1);
}
END_TEST

START_TEST(test_ambiguous_not_interior) {
  check_ambiguous(WORD, 1, 0);
}
END_TEST

/* A reference in the stack of a thread that is a root counts. */
START_TEST(test_ambiguous_stack) {
  mps_root_t root;
  mps_addr_t volatile here;
  heap_start(mps_class_amc());
  ck_assert_int_eq(mps_root_create_thread(&root, arena, thr, FRAME_COLD()),
                   MPS_RES_OK);
  fill();
  here = table[0];
  begin();
  old[0] = table[0];
  new[0] = table[1];
  ck_assert_int_eq(mps_transform_add_oldnew(transform, old, new, 1),
                   MPS_RES_OK);
  apply(0);
  ck_assert_ptr_eq(here, table[0]);
  mps_transform_destroy(transform);
  mps_root_destroy(root);
  heap_stop();
}
END_TEST

/* The library's own frames do not count, nor does what lies dead below. */
static __attribute__((noinline)) void add_first(void) {
  mps_addr_t a[1] = {table[0]}, b[1] = {table[1]};
  ck_assert_int_eq(mps_transform_add_oldnew(transform, a, b, 1), MPS_RES_OK);
}

static __attribute__((noinline)) void fill_first(void) {
  fill();
}

START_TEST(test_dead_stack) {
#if defined(__SANITIZE_ADDRESS__)
  return; /* its frames have more in them */
#endif
  mps_root_t root;
  mps_bool_t applied;
  heap_start(mps_class_amc());
  fill_first();
  ck_assert_int_eq(mps_root_create_thread(&root, arena, thr, FRAME_COLD()),
                   MPS_RES_OK);
  begin();
  add_first();
  ck_assert_int_eq(mps_transform_apply(&applied, transform), MPS_RES_OK);
  ck_assert_int_eq(applied, 1);
  ck_assert_uint_eq(number_of(table[0]), 1);
  mps_transform_destroy(transform);
  mps_root_destroy(root);
  heap_stop();
}
END_TEST

/* ---- stale ---- */

START_TEST(test_stale) {
  mps_bool_t applied = 7;
  mps_addr_t gone, other_new;
  mps_pool_t in;
  mps_transform_t other;
  heap_start(mps_class_amc());
  fill();
  begin();
  ck_assert_int_eq(mps_transform_create(&other, arena), MPS_RES_OK);
  add_all();
  apply(1);
  ck_assert_int_eq(mps_transform_apply(&applied, transform), MPS_RES_PARAM);
  ck_assert_int_eq(mps_transform_apply(&applied, other), MPS_RES_PARAM);
  mps_transform_destroy(other);
  mps_transform_destroy(transform);
  begin();
  gone = node(60000); /* has segments of its own, soon nobody's */
  other_new = table[0];
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert(!mps_addr_pool(&in, arena, gone));
  ck_assert_int_eq(mps_transform_add_oldnew(transform, &gone, &other_new, 1),
                   MPS_RES_OK); /* of what was valid then */
  ck_assert_int_eq(mps_transform_apply(&applied, transform), MPS_RES_PARAM);
  ck_assert_int_eq(applied, 7);
  mps_transform_destroy(transform);
  heap_stop();
}
END_TEST

START_TEST(test_in_progress) {
  mps_bool_t applied = 7;
  heap_start(mps_class_amc());
  for (size_t i = 0; i < ROOTS; ++i)
    table[i] = node(2000);
  mps_arena_park(arena);
  mps_arena_pause_time_set(arena, 0.0);
  begin();
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  mps_arena_clamp(arena);
  old[0] = table[0];
  new[0] = table[1];
  ck_assert_int_eq(mps_transform_add_oldnew(transform, old, new, 1),
                   MPS_RES_OK); /* is ignored */
  mps_res_t res = mps_transform_apply(&applied, transform);
  ck_assert(res == MPS_RES_LIMIT || res == MPS_RES_PARAM);
  ck_assert_int_eq(applied, 7);
  mps_transform_destroy(transform);
  heap_stop();
}
END_TEST

START_TEST(test_many_pairs_and_left_behind) {
  heap_start(mps_class_amc());
  fill();
  begin();
  for (size_t i = 0; i < OBJECTS; ++i) {
    old[0] = table[i];
    new[0] = table[i + OBJECTS];
    ck_assert_int_eq(mps_transform_add_oldnew(transform, old, new, 1),
                     MPS_RES_OK);
  }
  apply(1);
  check_all();
  heap_stop(); /* with the transform */
}
END_TEST

static void forget_roots(void) {
  memset(table, 0, sizeof table);
}

/* Replaced objects are garbage, and finalized. */
START_TEST(test_old_dies) {
  mps_message_t message;
  mps_addr_t ref;
  heap_start(mps_class_amc());
  mps_message_type_enable(arena, mps_message_type_finalization());
  fill();
  ck_assert_int_eq(mps_finalize(arena, &table[0]), MPS_RES_OK);
  begin();
  add_all();
  apply(1);
  ck_assert(mps_message_get(&message, arena, mps_message_type_finalization()));
  mps_message_finalization_ref(&ref, arena, message);
  ck_assert_uint_eq(number_of(ref), 0);
  mps_message_discard(arena, message);
  mps_transform_destroy(transform);
  forget_roots();
  heap_stop();
}
END_TEST

START_TEST(test_misuse) {
  mps_pool_t manual;
  mps_bool_t applied;
  heap_start(mps_class_amc());
  ck_assert_int_eq(
      mps_pool_create_k(&manual, arena, mps_class_mvff(), mps_args_none),
      MPS_RES_OK);
  fill();
  begin();
  old[0] = old[1] = table[0];
  new[0] = new[1] = table[1];
  ASSERTED((void)mps_transform_add_oldnew(transform, old, new, 2));
  ASSERTED((void)mps_transform_add_oldnew(transform, old, new, 1));
  old[0] = alloc(manual, 16);
  ASSERTED((void)mps_transform_add_oldnew(transform, old, new, 1));
  old[0] = &manual;
  ASSERTED((void)mps_transform_add_oldnew(transform, old, new, 1));
  ASSERTED((void)mps_transform_add_oldnew(transform, NULL, new, 1));
  ASSERTED((void)mps_transform_add_oldnew(NULL, old, new, 1));
  ASSERTED((void)mps_transform_create(NULL, arena));
  ASSERTED((void)mps_transform_create(&transform, NULL));
  ASSERTED((void)mps_transform_apply(NULL, transform));
  ASSERTED((void)mps_transform_apply(&applied, NULL));
  ASSERTED(mps_transform_destroy(NULL));
  mps_transform_destroy(transform);
  ASSERTED(mps_transform_destroy(transform));
  mps_pool_destroy(manual);
  heap_stop();
}
END_TEST

SUITE_LOOPS_MAIN("transform", 30, {test_apply, 1},
                 {test_apply_old_with_header, 1}, {test_empty, 1},
                 {test_empty_with_objects, 1}, {test_nothing_moves, 2},
                 {test_null_and_same, 1}, {test_swap, 1}, {test_ambiguous, 1},
                 {test_ambiguous_interior, 1}, {test_ambiguous_beyond, 1},
                 {test_ambiguous_not_interior, 1}, {test_ambiguous_failing, 1},
                 {test_ambiguous_stack, 1}, {test_dead_stack, 1},
                 {test_stale, 1}, {test_in_progress, 1},
                 {test_many_pairs_and_left_behind, 1}, {test_old_dies, 1},
                 {test_misuse, 1})
