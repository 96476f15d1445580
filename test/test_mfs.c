/* Testudo: MFS pools (interface, sections 2.9, 2.10 and 4.7).
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "mpsclo.h"
#include "mpscmfs.h"
#include "test/pools.h"
#include "test/random.h"
#include "test/suite.h"

static mps_pool_t create(size_t unit, size_t extend_by) {
  mps_pool_t pool;

  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_EXTEND_BY, extend_by);
    MPS_ARGS_ADD(args, MPS_KEY_MFS_UNIT_SIZE, unit);
    ck_assert_int_eq(mps_pool_create_k(&pool, arena, mps_class_mfs(), args),
                     MPS_RES_OK);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  return pool;
}

START_TEST(sizes) {
  mps_pool_t pool;

  start();
  ck_assert_ptr_eq(mps_class_mfs(), mps_class_mfs());
  CREATE(pool, mps_class_mfs(), MFS_UNIT_SIZE, 20);
  ck_assert_uint_eq(mps_pool_total_size(pool), 0);
  ck_assert_uint_eq((uintptr_t)alloc(pool, 20) % 8, 0);
  ck_assert_uint_eq(in_use(pool), 24);
  ck_assert_uint_eq(mps_pool_total_size(pool), 65536 / 24 * 24);
  mps_pool_destroy(pool);
  /* Units larger than an extent, than a grain; smaller than a pointer. */
  pool = create(100000, 4096);
  memset(alloc(pool, 100000), 1, 100000);
  ck_assert_uint_eq(mps_pool_total_size(pool), 100000);
  memset(alloc(pool, 100000), 2, 100000);
  ck_assert_uint_eq(mps_pool_total_size(pool), 200000);
  mps_pool_destroy(pool);
  pool = create(1, 1);
  ck_assert_uint_eq((uintptr_t)alloc(pool, 1) % 8, 0);
  ck_assert_uint_eq(in_use(pool), 8);
  ck_assert_uint_eq(mps_pool_total_size(pool), suite_pages(4096) / 8 * 8);
  mps_pool_destroy(pool);
  /* The old form: extent first, then unit. */
  ck_assert_int_eq(mps_pool_create(&pool, arena, mps_class_mfs(),
                                   (size_t)10000, (size_t)48),
                   MPS_RES_OK);
  (void)alloc(pool, 48);
  ck_assert_uint_eq(mps_pool_total_size(pool),
                    suite_pages(12288) / 48 * 48);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

/* What was freed last is used first; a bounded population needs no more. */
START_TEST(reuse) {
  mps_pool_t pool;
  char *p[300];
  size_t total;

  start();
  pool = create(64, 4096);
  for (int i = 0; i < 300; ++i) {
    p[i] = alloc(pool, 64);
    memset(p[i], i, 64);
  }
  total = mps_pool_total_size(pool);
  ck_assert_uint_ge(total, 300 * 64);
  for (int i = 0; i < 300; ++i) {
    for (int k = 0; k < 64; ++k)
      REQUIRE(p[i][k] == (char)i);
    mps_free(pool, p[i], 64);
    ck_assert_uint_eq(in_use(pool), (size_t)(299 - i) * 64);
  }
  for (int i = 299; i >= 0; --i)
    ck_assert_ptr_eq(alloc(pool, 64), p[i]);
  ck_assert_uint_eq(mps_pool_total_size(pool), total);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

START_TEST(misuse) {
  mps_pool_t pool, other, leaves;
  mps_fmt_t fmt;
  mps_ap_t ap, on;
  mps_addr_t p;
  char *a, *b;

  start();
  ck_assert_int_eq(mps_fmt_create_k(&fmt, arena, mps_args_none), MPS_RES_OK);
  CREATE(leaves, mps_class_lo(), FORMAT, fmt);
  on = point(leaves);
  pool = create(40, 65536);
  other = create(40, 65536);
  a = alloc(pool, 40);
  b = alloc(other, 40);
  ASSERTED(ck_assert_int_ne(mps_alloc(&p, pool, 39), MPS_RES_OK));
  ASSERTED(ck_assert_int_ne(mps_alloc(&p, pool, 48), MPS_RES_OK));
  ASSERTED(ck_assert_int_ne(mps_alloc(&p, pool, 0), MPS_RES_OK));
  /* Told once: it is not tried again after a collection. */
  ck_assert_int_eq(mps_alloc(&p, pool, 39), MPS_RES_PARAM);
  ck_assert_uint_eq(asserted_count, TDO_RASH ? 0 : 1);
  ASSERTED(mps_free(pool, a, 32));
  ASSERTED(mps_free(pool, NULL, 40));
  ASSERTED(mps_free(pool, a + 1, 40));
  ASSERTED(mps_free(pool, b, 40));
  ASSERTED(mps_free(pool, &p, 40));
  ASSERTED(mps_free(pool, a + 40, 40));        /* never was a block */
  ASSERTED(mps_free(pool, a + 65536 - 8, 40)); /* too near the end */
  ck_assert_int_eq(mps_reserve(&p, on, 40), MPS_RES_OK);
  ASSERTED(mps_free(pool, p, 40)); /* of an automatic pool */
  ASSERTED(
      ck_assert_int_ne(mps_ap_create_k(&ap, pool, mps_args_none), MPS_RES_OK));
  ck_assert_uint_eq(in_use(pool), 40);
  /* Inside a unit: not noticed. */
  (void)alloc(pool, 40);
  ASSERTED_NEVER(mps_free(pool, a + 8, 40));
  ck_assert_ptr_eq(alloc(pool, 40), a + 8);
  mps_free(pool, a, 40);
#if TDO_COOL
  ASSERTED(mps_free(pool, a, 40));
  ck_assert_ptr_eq(alloc(pool, 40), a);
  ck_assert_ptr_ne(alloc(pool, 40), a);
#endif
  mps_pool_destroy(pool);
  mps_pool_destroy(other);
  ck_assert(mps_commit(on, p, 40));
  mps_ap_destroy(on);
  asserted_count = 0; /* a pad may be wanted for what is left */
  mps_pool_destroy(leaves);
  mps_fmt_destroy(fmt);
  stop();
}
END_TEST

START_TEST(bad_arguments) {
  mps_pool_t pool;

  start();
  REFUSED(mps_class_mfs(), MFS_UNIT_SIZE, 0);
  REFUSED(mps_class_mfs(), EXTEND_BY, 100); /* no unit size */
  REFUSED(mps_class_mfs(), EXTEND_BY, 0);
  ASSERTED(ck_assert_int_ne(
      mps_pool_create_k(&pool, arena, mps_class_mfs(), mps_args_none),
      MPS_RES_OK));
  pool = create(SIZE_MAX / 4, 65536);
  ck_assert_int_eq(mps_alloc((mps_addr_t *)&pool, pool, SIZE_MAX / 4),
                   MPS_RES_RESOURCE);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

/* At the commit limit: a code, and freeing makes room. */
START_TEST(no_memory) {
  mps_pool_t pool;
  mps_addr_t p, last = NULL;
  size_t n = 0;
  mps_res_t res;

  start();
  pool = create(128, 65536);
  ck_assert_int_eq(
      mps_arena_commit_limit_set(arena, mps_arena_committed(arena) + 150000 +
                                             4 * (suite_pages(1) - 4096)),
      MPS_RES_OK);
  while ((res = mps_alloc(&p, pool, 128)) == MPS_RES_OK) {
    last = p;
    ++n;
  }
  ck_assert_int_eq(res, MPS_RES_COMMIT_LIMIT);
  ck_assert_uint_ge(n * 128, 131072);
  mps_free(pool, last, 128);
  ck_assert_ptr_eq(alloc(pool, 128), last);
  ck_assert_int_eq(mps_alloc(&p, pool, 128), MPS_RES_COMMIT_LIMIT);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

START_TEST(at_random) {
  enum { LIVE = 2000 };
  static char *live[LIVE];
  size_t count = 0;
  mps_pool_t pool;

  random_start();
  start();
  pool = create(56, 8192);
  for (size_t i = 0; i < 1000000; ++i) {
    if (count < LIVE && random_below(2)) {
      live[count] = alloc(pool, 56);
      memcpy(live[count] + 48, &live[count], 8);
      ++count;
    } else if (count > 0) {
      size_t at = random_below(count);
      REQUIRE(memcmp(live[at] + 48, &live[at], 8) == 0);
      mps_free(pool, live[at], 56);
      live[at] = live[--count];
    }
    REQUIRE(in_use(pool) == count * 56);
  }
  ck_assert_uint_le(mps_pool_total_size(pool), LIVE * 56 + suite_pages(8192));
  mps_pool_destroy(pool);
  stop();
}
END_TEST

SUITE_MAIN("mfs", 60, sizes, reuse, misuse, bad_arguments, no_memory,
           at_random)
