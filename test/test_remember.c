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

SUITE_MAIN("remember", 60, big_moving, big_marked)
