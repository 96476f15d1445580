/* Testudo: tests of formats, each way to make one, and of missing methods
   (interface, sections 2.8 and 3.3).
   SPDX-License-Identifier: BSD-2-Clause */
#include "mpsclo.h"
#include "test/objects.h"
#include "test/suite.h"

static mps_addr_t no_class(mps_addr_t obj) {
  (void)obj;
  return NULL;
}

static const mps_fmt_A_s format_a = {8,       obj_scan,  obj_skip, NULL,
                                     obj_fwd, obj_isfwd, obj_pad};
static const mps_fmt_B_s format_b = {8,       obj_scan,  obj_skip, NULL,
                                     obj_fwd, obj_isfwd, obj_pad,  no_class};
static const mps_fmt_auto_header_s format_headed = {
    8, obj_scan, obj_skip, obj_fwd, obj_isfwd, obj_pad, 16};

START_TEST(test_formats) {
  mps_fmt_t f;
  mps_fmt_A_s a = format_a;
  mps_fmt_B_s b = format_b;
  mps_fmt_auto_header_s h = format_headed;
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
  mps_fmt_A_s a = format_a;
  mps_fmt_B_s b = format_b;
  mps_fmt_auto_header_s h = format_headed;
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

SUITE_LOOPS_MAIN("format", 60, {test_formats, 1}, {test_format_fixed, 1},
                 {test_format_missing, 1}, {test_format_variants, 4})
