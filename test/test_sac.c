/* Testudo: segregated allocation caches (interface, section 2.14).
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "mpscmfs.h"
#include "mpscmvff.h"
#include "test/pools.h"
#include "test/random.h"
#include "test/suite.h"
#include "trace/sac.h"

static mps_sac_class_s classes[] = {
    {16, 10, 1}, {48, 30, 4}, {128, 0, 1}, {1024, 3, 1}};
#define CLASSES (sizeof classes / sizeof classes[0])

static mps_pool_t pool;

static mps_sac_t create(void) {
  mps_sac_t sac;

  start();
  CREATE(pool, mps_class_mvff(), SPARE, 0.75);
  ck_assert_int_eq(mps_sac_create(&sac, pool, CLASSES, classes), MPS_RES_OK);
  return sac;
}

static void finish(mps_sac_t sac) {
  ck_assert(tdo_sac_check(tdo_sac_of(sac)));
  mps_sac_destroy(sac);
  ck_assert_uint_eq(in_use(pool), 0);
  mps_pool_destroy(pool);
  stop();
}

START_TEST(classes_serve) {
  static const size_t asked[] = {1,   16,  17,   48,   49,
                                 128, 129, 1024, 1025, 5000};
  static const size_t given[] = {16,  16,   48,   48,   128,
                                 128, 1024, 1024, 1032, 5000};
  mps_sac_t sac = create();
  mps_addr_t p;

  for (size_t i = 0; i < sizeof asked / sizeof asked[0]; ++i) {
    mps_sac_flush(sac);
    ck_assert_uint_eq(in_use(pool), 0);
    ck_assert_int_eq(mps_sac_alloc(&p, sac, asked[i], 0), MPS_RES_OK);
    memset(p, 1, asked[i]);
    mps_sac_flush(sac);
    ck_assert_uint_eq(in_use(pool), given[i]);
    mps_sac_free(sac, p, asked[i]);
    /* Kept, unless the class keeps none or there is no class. */
    ck_assert_uint_eq(in_use(pool),
                      asked[i] > 1024 || given[i] == 128 ? 0 : given[i]);
  }
  finish(sac);
}
END_TEST

/* Never more than the client said are kept. */
START_TEST(bounded) {
  mps_sac_t sac = create();
  char *p[200];

  for (size_t c = 0; c < CLASSES; ++c) {
    size_t size = classes[c].mps_block_size;
    for (int i = 0; i < 200; ++i)
      ck_assert_int_eq(mps_sac_alloc((mps_addr_t *)&p[i], sac, size, 0),
                       MPS_RES_OK);
    for (int i = 0; i < 200; ++i) {
      mps_sac_free(sac, p[i], size);
      ck_assert_uint_le(in_use(pool),
                        (classes[c].mps_cached_count + (size_t)(199 - i)) *
                            size);
    }
    mps_sac_flush(sac);
    ck_assert_uint_eq(in_use(pool), 0);
  }
  finish(sac);
}
END_TEST

/* The functions and the macros, on one cache, at random. */
START_TEST(macros) {
  enum { LIVE = 300 };
  static struct {
    char *p;
    size_t size;
  } live[LIVE];
  mps_sac_t sac = create();
  size_t count = 0;
  mps_addr_t p;
  mps_res_t res;

  random_start();
  for (size_t i = 0; i < 500000; ++i) {
    if (count < LIVE && random_below(2)) {
      size_t size = 1 + random_below(random_below(20) ? 150 : 2000);
      switch (random_below(3)) {
      case 0:
        MPS_SAC_ALLOC_FAST(res, p, sac, size, 0);
        break;
      case 1:
        MPS_SAC_ALLOC(res, p, sac, size, 1);
        break;
      default:
        res = mps_sac_alloc(&p, sac, size, 0);
      }
      REQUIRE(res == MPS_RES_OK);
      live[count].p = p;
      live[count].size = size;
      memset(p, (int)size, size);
      ++count;
    } else if (count > 0) {
      size_t at = random_below(count), size = live[at].size;
      p = live[at].p;
      for (size_t k = 0; k < size; ++k)
        REQUIRE(live[at].p[k] == (char)size);
      switch (random_below(3)) {
      case 0:
        MPS_SAC_FREE_FAST(sac, p, size);
        break;
      case 1:
        MPS_SAC_FREE(sac, p, size);
        break;
      default:
        mps_sac_free(sac, p, size);
      }
      live[at] = live[--count];
    }
    if (i % 1000 == 0)
      REQUIRE(tdo_sac_check(tdo_sac_of(sac)));
    if (i % 50000 == 0)
      mps_sac_flush(sac);
  }
  while (count > 0) {
    --count;
    mps_sac_free(sac, live[count].p, live[count].size);
  }
  finish(sac);
}
END_TEST

START_TEST(on_mfs) {
  mps_sac_class_s cls = {40, 100, 1};
  mps_sac_t sac;
  mps_addr_t p;

  start();
  CREATE(pool, mps_class_mfs(), MFS_UNIT_SIZE, 40);
  ck_assert_int_eq(mps_sac_create(&sac, pool, 1, &cls), MPS_RES_OK);
  for (int i = 0; i < 1000; ++i) {
    ck_assert_int_eq(mps_sac_alloc(&p, sac, 33, 0), MPS_RES_OK);
    mps_sac_free(sac, p, 33);
  }
  finish(sac);
}
END_TEST

START_TEST(on_debug) {
  mps_sac_class_s cls = {32, 5, 1};
  mps_sac_t sac;
  mps_addr_t p;

  start();
  CREATE(pool, mps_class_mvff_debug(), SPARE, 0.75);
  ck_assert_int_eq(mps_sac_create(&sac, pool, 1, &cls), MPS_RES_OK);
  ck_assert_int_eq(mps_sac_alloc(&p, sac, 32, 0), MPS_RES_OK);
  memset(p, 1, 32);
  mps_sac_free(sac, p, 32);
  mps_pool_check_fenceposts(pool);
  mps_pool_check_free_space(pool);
  ck_assert_uint_eq(asserted_count, 0);
  finish(sac);
}
END_TEST

START_TEST(limits) {
  mps_sac_class_s many[9];
  mps_sac_t sac = create(), other;

  for (size_t i = 0; i < 9; ++i) {
    many[i].mps_block_size = 16 * (i + 1);
    many[i].mps_cached_count = 5;
    many[i].mps_frequency = 1;
  }
  ck_assert_uint_eq(MPS_SAC_CLASS_LIMIT, 8);
  ck_assert_int_eq(mps_sac_create(&other, pool, 8, many), MPS_RES_OK);
  mps_sac_destroy(other);
  ck_assert_int_eq(mps_sac_create(&other, pool, 9, many), MPS_RES_LIMIT);
  finish(sac);
}
END_TEST

static void refused(size_t n, size_t first, size_t second) {
  mps_sac_class_s bad[2] = {{first, 1, 1}, {second, 1, 1}};
  mps_sac_t sac;

  ASSERTED(ck_assert_int_ne(mps_sac_create(&sac, pool, n, bad), MPS_RES_OK));
}

START_TEST(misuse) {
  mps_sac_t sac = create();
  mps_addr_t p = NULL;

  refused(0, 16, 32);
  refused(2, 32, 32);
  refused(2, 32, 16);
  refused(2, 12, 32);
  refused(1, 0, 0);
  refused(1, 4, 0);
  refused(1, SIZE_MAX, 0);
  ASSERTED(mps_sac_create(NULL, pool, CLASSES, classes));
  ASSERTED(mps_sac_create(&sac, NULL, CLASSES, classes));
  ASSERTED(mps_sac_alloc(&p, sac, 0, 0));
  ASSERTED(mps_sac_alloc(NULL, sac, 8, 0));
  ASSERTED(mps_sac_alloc(&p, NULL, 8, 0));
  ck_assert_ptr_null(p);
  ASSERTED(mps_sac_free(sac, NULL, 8));
  ASSERTED(mps_sac_free(sac, &p, 0));
  ASSERTED(mps_sac_flush(NULL));
  ASSERTED(mps_sac_destroy(NULL));
  finish(sac);
}
END_TEST

START_TEST(no_memory) {
  mps_sac_t sac = create();
  mps_addr_t p = &sac;
  mps_res_t res;

  ck_assert_int_eq(
      mps_arena_commit_limit_set(arena, mps_arena_committed(arena) + 200000),
      MPS_RES_OK);
  ck_assert_int_eq(mps_sac_alloc(&p, sac, (size_t)1 << 28, 0),
                   MPS_RES_COMMIT_LIMIT);
  ck_assert_int_eq(mps_sac_alloc(&p, sac, SIZE_MAX - 5, 0), MPS_RES_RESOURCE);
  MPS_SAC_ALLOC_FAST(res, p, sac, (size_t)1 << 28, 0);
  ck_assert_int_eq(res, MPS_RES_COMMIT_LIMIT);
  ck_assert_ptr_eq(p, &sac);
  while ((res = mps_sac_alloc(&p, sac, 1024, 0)) == MPS_RES_OK)
    continue;
  ck_assert_int_eq(res, MPS_RES_COMMIT_LIMIT);
  mps_sac_free(sac, p, 1024);
  ck_assert_int_eq(mps_sac_alloc(&p, sac, 1000, 0), MPS_RES_OK);
  mps_sac_destroy(sac);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

SUITE_MAIN("sac", 60, classes_serve, bounded, macros, on_mfs, on_debug, limits,
           misuse, no_memory)
