/* Testudo: tests of what minor collections scan of older generations.
   SPDX-License-Identifier: BSD-2-Clause */
#include "test/objects.h"
#include "mpscams.h"
#include "test/suite.h"

enum { BIG_REFS = (1 << 17) + 100 }; /* 1 MiB and a bit */

static size_t big_scans;

static mps_res_t counting_scan(mps_ss_t ss, mps_addr_t base,
                               mps_addr_t limit) {
  big_scans += (size_t)((char *)limit - (char *)base) > BIG_REFS * WORD;
  return obj_scan(ss, base, limit);
}

static mps_pool_t counting_pool(mps_pool_class_t cls, mps_fmt_t *fmt_o) {
  mps_pool_t p;
  *fmt_o = obj_format_with(counting_scan);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, *fmt_o);
    MPS_ARGS_ADD(args, MPS_KEY_CHAIN, chain);
    if (cls == mps_class_ams())
      MPS_ARGS_ADD(args, MPS_KEY_GEN, 2);
    ck_assert_int_eq(mps_pool_create_k(&p, arena, cls, args), MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  return p;
}

static mps_ap_t oldest_point(mps_pool_t p) {
  mps_ap_t q;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_GEN, 2);
    ck_assert_int_eq(mps_ap_create_k(&q, p, args), MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  return q;
}

/* Collections of any kind: mps_collections has only those that move. */
static size_t collections(void) {
  return statistics().collections;
}

/* A block of many pages, all written to, is scanned once in a collection and
   not once for each of its pages. */
static void check_big(mps_pool_class_t cls) {
  mps_fmt_t big_fmt;
  mps_pool_t big_pool;
  mps_ap_t q;
  size_t before;
  (void)unsetenv("TESTUDO_CHECK"); /* it scans, too */
  heap_start(mps_class_amc());
  big_pool = counting_pool(cls, &big_fmt);
  q = oldest_point(big_pool);
  table[0] = obj_on(q, OBJ_NODE, BIG_REFS);
  (void)obj_on(q, OBJ_NODE, 1); /* the point leaves the block alone */
  mps_arena_park(arena); /* what a collection scanned before is not counted */
  before = collections();
  big_scans = 0;
  mps_arena_release(arena);
  for (size_t i = 0; collections() < before + 20; ++i)
    *obj_ref(table[0], i * 501 % BIG_REFS) = numbered(i);
  mps_arena_park(arena);
  ck_assert_uint_gt(big_scans, 0);
  ck_assert_uint_le(big_scans, collections() - before);
  mps_ap_destroy(q);
  mps_pool_destroy(big_pool);
  mps_fmt_destroy(big_fmt);
  heap_stop();
}

START_TEST(big_moving) {
  check_big(mps_class_amc());
}
END_TEST

START_TEST(big_marked) {
  check_big(mps_class_ams());
}
END_TEST

/* A pool of the oldest generation, whose blocks do not move and lie at
   multiples of ALIGN. */
static mps_pool_t wide_pool(mps_fmt_t *fmt_o, size_t align) {
  mps_pool_t p;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ALIGN, align);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SCAN, obj_scan);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, obj_skip);
    ck_assert_int_eq(mps_fmt_create_k(fmt_o, arena, args), MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, *fmt_o);
    MPS_ARGS_ADD(args, MPS_KEY_CHAIN, chain);
    MPS_ARGS_ADD(args, MPS_KEY_GEN, 2);
    ck_assert_int_eq(mps_pool_create_k(&p, arena, mps_class_ams(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  return p;
}

static void collect_young(size_t n) {
  size_t before = collections();
  while (collections() < before + n)
    (void)numbered(1);
}

/* Blocks may lie at multiples of more than a page, and what is to be scanned
   ends at any page: of a block that begins before there, all is. */
START_TEST(wide) {
  size_t align = 2 * suite_pages(1), last = align / WORD - 2;
  mps_fmt_t wide_fmt;
  mps_pool_t p;
  mps_ap_t q;
  (void)setenv("TESTUDO_SMALL", "0", 1);
  (void)setenv("TESTUDO_SHIELD", "ranged", 0);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_GRAIN_SIZE, 4 * align);
    ck_assert_int_eq(mps_arena_create_k(&arena, mps_arena_class_vm(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  asserted_start();
  heap_in_arena(mps_class_amc());
  p = wide_pool(&wide_fmt, align);
  q = point(p);
  for (size_t i = 0; i < 3; ++i)
    table[i] = obj_on(q, OBJ_NODE, last + 1);
  mps_ap_destroy(q); /* the blocks' pages may be clean */
  collect_young(8);
  *obj_ref(table[0], last) = NULL;
  *obj_ref(table[1], 0) = numbered(77);
  collect_young(3);
  ck_assert_uint_eq(number_of(*obj_ref(table[1], 0)), 77);
  mps_arena_park(arena);
  mps_pool_destroy(p);
  mps_fmt_destroy(wide_fmt);
  heap_stop();
}
END_TEST

SUITE_MAIN("remember", 60, big_moving, big_marked, wide)
