/* Testudo: MVT pools (interface, sections 2.9-2.13 and 4.9).
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "mpscmvt.h"
#include "testudo.h"
#include "test/pools.h"
#include "test/random.h"
#include "test/suite.h"

static mps_pool_t create(size_t max, size_t depth, double frag) {
  mps_pool_t pool;

  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_MIN_SIZE, 16);
    MPS_ARGS_ADD(args, MPS_KEY_MEAN_SIZE, 32);
    MPS_ARGS_ADD(args, MPS_KEY_MAX_SIZE, max);
    MPS_ARGS_ADD(args, MPS_KEY_MVT_RESERVE_DEPTH, depth);
    MPS_ARGS_ADD(args, MPS_KEY_MVT_FRAG_LIMIT, frag);
    MPS_ARGS_ADD(args, MPS_KEY_ALIGN, 16);
    ck_assert_int_eq(mps_pool_create_k(&pool, arena, mps_class_mvt(), args),
                     MPS_RES_OK);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  return pool;
}

/* Blocks of 1024 bytes for all of an extent; the first of them. */
static char *fill_extent(mps_ap_t ap) {
  char *first = make(ap, 1024);

  for (size_t i = 1; i < 64; ++i)
    ck_assert_ptr_eq(make(ap, 1024), first + i * 1024);
  return first;
}

START_TEST(adjacent) {
  mps_pool_t pool;
  mps_ap_t ap;
  char *p, *q;

  start();
  ck_assert_ptr_eq(mps_class_mvt(), mps_class_mvt());
  ck_assert_int_eq(
      mps_pool_create_k(&pool, arena, mps_class_mvt(), mps_args_none),
      MPS_RES_OK);
  ap = point(pool);
  p = make(ap, 40);
  q = make(ap, 400);
  ck_assert_ptr_eq(q, p + 40);
  ck_assert_ptr_eq(make(ap, 8), q + 400);
  mps_ap_destroy(ap);
  ck_assert_uint_eq(in_use(pool), 448);
  mps_free(pool, p, 40);
  mps_free(pool, q, 200); /* in parts */
  mps_free(pool, q + 208, 192);
  ck_assert_uint_eq(in_use(pool), 16);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

/* Freed memory rests until more than the reserve is free. */
START_TEST(rest) {
  mps_pool_t pool;
  mps_ap_t ap;
  char *p;

  start();
  pool = create(8192, 4096, 1.0); /* 128 KiB are held back */
  ap = point(pool);
  p = fill_extent(ap);
  mps_free(pool, p, 1024);
  ck_assert_ptr_ne(make(ap, 1024), p);
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  /* Not with a reserve of nothing. */
  pool = create(8192, 0, 1.0);
  ap = point(pool);
  p = make(ap, 1024);
  (void)make(ap, 1024);
  mps_free(pool, p, 1024);
  mps_ap_destroy(ap);
  ap = point(pool);
  ck_assert(make(ap, 1024) >= p);
  ck_assert_uint_eq(mps_pool_total_size(pool), 65536);
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  /* Nor when as much as the fragmentation limit is free: lowest first. */
  pool = create(8192, 1 << 20, 0.0);
  ap = point(pool);
  p = make(ap, 1024);
  (void)make(ap, 64);
  mps_ap_destroy(ap);
  mps_free(pool, p, 1024);
  ap = point(pool);
  ck_assert_ptr_eq(make(ap, 1024), p);
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

/* A block here and there keeps no extent from going back but for its grain:
   of what is beyond the reserve, three quarters of the pool may be free, and
   what lies in no whole grain. */
START_TEST(few_left) {
  enum { BLOCKS = 40000, SIZE = 112, EACH = 400 };
  static char *blocks[BLOCKS];
  size_t page = suite_pages(1), left = 0;
  mps_pool_t pool;
  mps_ap_t ap;

  start();
  pool = create(8192, 1024, 0.3);
  ap = point(pool);
  for (size_t i = 0; i < BLOCKS; ++i)
    blocks[i] = make(ap, SIZE);
  mps_ap_destroy(ap);
  for (size_t i = 0; i < BLOCKS; ++i)
    if (i % EACH != 0)
      mps_free(pool, blocks[i], SIZE);
    else
      ++left;
  ck_assert_uint_eq(in_use(pool), left * SIZE);
  ck_assert_uint_le(mps_pool_total_size(pool),
                    4 * (2 * left * page + 1024 * 32 + 65536));
  for (size_t i = 0; i < BLOCKS; i += EACH)
    mps_free(pool, blocks[i], SIZE);
  ck_assert_uint_le(mps_pool_total_size(pool),
                    4 * (1024 * 32 + 65536 + page));
  mps_pool_destroy(pool);
  stop();
}
END_TEST

/* What is free on both sides of a border between extents is one run. */
START_TEST(over_borders) {
  const size_t size = tdo_max(65536, 4 * suite_pages(1));
  mps_pool_t pool;
  mps_ap_t ap;
  size_t total;
  char *p, *q;

  start();
  pool = create(size, 0, 0.0);
  ap = point(pool);
  p = make(ap, size);
  q = make(ap, size);
  mps_ap_destroy(ap);
  total = mps_pool_total_size(pool);
  ck_assert_uint_eq(total, 2 * size);
  ck_assert_ptr_eq(q, p + size);
  mps_free(pool, p + size / 2, size / 2);
  mps_free(pool, q, size / 2);
  ap = point(pool);
  ck_assert_ptr_eq(make(ap, size), p + size / 2);
  mps_ap_destroy(ap);
  ck_assert_uint_eq(mps_pool_total_size(pool), total);
  tdo_arena_check(arena);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

/* Blocks above the maximum lie alone, and go back when they are freed. */
START_TEST(oversize) {
  mps_pool_t pool;
  mps_ap_t ap;
  char *small, *p, *q;
  size_t total;

  start();
  pool = create(1000, 1024, 0.3);
  ap = point(pool);
  small = make(ap, 32);
  total = mps_pool_total_size(pool);
  p = make(ap, 100000);
  memset(p, 1, 100000);
  ck_assert_uint_eq(mps_pool_total_size(pool), total + suite_pages(100000));
  q = make(ap, (size_t)100 << 20);
  ck_assert_uint_eq(mps_pool_total_size(pool), 
                    total + suite_pages(100000) + (100 << 20));
  mps_free(pool, p, 100000);
  ck_assert_uint_eq(mps_pool_total_size(pool), total + (100 << 20));
  /* In parts: nothing is lost for good. */
  mps_free(pool, q, (size_t)50 << 20);
  mps_free(pool, q + (50 << 20), (size_t)50 << 20);
  mps_ap_destroy(ap);
  ck_assert_uint_eq(mps_pool_total_size(pool), total);
  ck_assert_uint_eq(in_use(pool), 32);
  mps_free(pool, small, 32);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

START_TEST(misuse) {
  mps_pool_t pool;
  mps_addr_t p;
  mps_sac_t sac;
  mps_sac_class_s cls = {64, 4, 1};
  mps_ap_t ap;
  char *a;

  start();
  pool = create(8192, 1024, 0.3);
  ap = point(pool);
  a = make(ap, 64);
  ASSERTED(ck_assert_int_ne(mps_alloc(&p, pool, 64), MPS_RES_OK));
  ASSERTED(mps_free(pool, NULL, 64));
  ASSERTED(mps_free(pool, a, 0));
  ASSERTED(mps_free(pool, a + 8, 16));
  ASSERTED(mps_free(pool, &p, 16));
  mps_ap_destroy(ap);
  ASSERTED(mps_free(pool, a, 80));
  mps_free(pool, a, 64);
  ASSERTED(mps_free(pool, a, 64));
  /* A cache on it is noticed when it wants a block. */
  if (mps_sac_create(&sac, pool, 1, &cls) == MPS_RES_OK) {
    ASSERTED(ck_assert_int_ne(mps_sac_alloc(&p, sac, 8, 0), MPS_RES_OK));
    mps_sac_destroy(sac);
  }
  mps_pool_destroy(pool);
  stop();
}
END_TEST

START_TEST(arguments) {
  mps_pool_t pool;
  mps_ap_t ap;

  start();
  ck_assert_int_eq(mps_pool_create(&pool, arena, mps_class_mvt(), (size_t)8,
                                   (size_t)32, (size_t)65536, (mps_word_t)256,
                                   (mps_word_t)50),
                   MPS_RES_OK);
  ck_assert_int_eq(mps_ap_create(&ap, pool, mps_rank_exact()), MPS_RES_OK);
  (void)make(ap, 8);
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  CREATE(pool, mps_class_mvt(), MVT_RESERVE_DEPTH, 0);
  mps_pool_destroy(pool);
  CREATE(pool, mps_class_mvt(), MVT_RESERVE_DEPTH, SIZE_MAX);
  mps_pool_destroy(pool);
  CREATE(pool, mps_class_mvt(), MVT_FRAG_LIMIT, 0.0);
  mps_pool_destroy(pool);
  CREATE(pool, mps_class_mvt(), MEAN_SIZE, 8192);
  mps_pool_destroy(pool);
  CREATE(pool, mps_class_mvt(), MIN_SIZE, 32);
  ap = point(pool);
  (void)make(ap, 8); /* smaller than the client said */
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  REFUSED(mps_class_mvt(), MVT_FRAG_LIMIT, 1.01);
  REFUSED(mps_class_mvt(), MVT_FRAG_LIMIT, -0.01);
  REFUSED(mps_class_mvt(), ALIGN, 12);
  REFUSED(mps_class_mvt(), ALIGN, 2);
  REFUSED(mps_class_mvt(), ALIGN, 1 << 20);
  REFUSED(mps_class_mvt(), MIN_SIZE, 0);
  REFUSED(mps_class_mvt(), MEAN_SIZE, 0);
  REFUSED(mps_class_mvt(), MAX_SIZE, 0);
  /* Against the values of keys that are not given. */
  REFUSED(mps_class_mvt(), MIN_SIZE, 33);
  REFUSED(mps_class_mvt(), MEAN_SIZE, 4);
  REFUSED(mps_class_mvt(), MEAN_SIZE, 8193);
  REFUSED(mps_class_mvt(), MAX_SIZE, 31);
  ASSERTED(ck_assert_int_ne(
      mps_pool_create(&pool, arena, mps_class_mvt(), (size_t)64, (size_t)32,
                      (size_t)65536, (mps_word_t)256, (mps_word_t)50),
      MPS_RES_OK));
  stop();
}
END_TEST

START_TEST(frames) {
  mps_pool_t pool;
  mps_frame_t frame;
  mps_ap_t ap;
  char *p;

  start();
  pool = create(8192, 0, 0.0);
  ap = point(pool);
  (void)make(ap, 16);
  ck_assert_int_eq(mps_ap_frame_push(&frame, ap), MPS_RES_OK);
  p = make(ap, 64);
  ck_assert_int_eq(mps_ap_frame_pop(ap, frame), MPS_RES_OK);
  ck_assert_ptr_eq(make(ap, 64), p);
  ck_assert_int_eq(mps_ap_frame_push(&frame, ap), MPS_RES_OK);
  p = make(ap, 64);
  mps_free(pool, p, 64);
  ck_assert_int_eq(mps_ap_frame_pop(ap, frame), MPS_RES_OK);
  ck_assert_ptr_ne(make(ap, 64), p);
  ck_assert_int_eq(mps_ap_alloc_pattern_begin(ap, mps_alloc_pattern_ramp()),
                   MPS_RES_OK);
  ck_assert_int_eq(mps_ap_alloc_pattern_reset(ap), MPS_RES_OK);
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

/* A frame of an earlier buffer does nothing, though its place lies in the
   present one, in a block. */
START_TEST(frame_of_another_buffer) {
  enum { BLOCK = 992, LARGE = 1 << 20 };
  mps_pool_t pool;
  mps_frame_t frame;
  mps_ap_t ap;
  char *block, *large, *p;

  start();
  pool = create(8192, 0, 0.0);
  ap = point(pool);
  block = make(ap, BLOCK);
  ck_assert_int_eq(mps_ap_frame_push(&frame, ap), MPS_RES_OK);
  large = make(ap, LARGE); /* in another buffer */
  mps_free(pool, block, BLOCK);
  mps_free(pool, large, LARGE);
  do { /* until a block lies over where the frame was */
    p = make(ap, BLOCK - 96);
    ck_assert_int_eq(mps_ap_frame_pop(ap, frame), MPS_RES_OK);
    ck_assert_ptr_eq(ap->init, p + BLOCK - 96);
  } while (p > block + BLOCK || p + BLOCK - 96 <= block + BLOCK);
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

/* Memory is short: the reserve is used before a request fails. */
START_TEST(no_memory) {
  mps_pool_t pool;
  mps_ap_t ap;
  mps_addr_t p;
  char *first;
  mps_res_t res;

  start();
  pool = create(8192, 1 << 20, 1.0);
  ap = point(pool);
  first = fill_extent(ap);
  ck_assert_int_eq(
      mps_arena_commit_limit_set(arena, mps_arena_committed(arena) + 500000),
      MPS_RES_OK);
  while ((res = mps_reserve(&p, ap, 512)) == MPS_RES_OK)
    ck_assert(mps_commit(ap, p, 512));
  ck_assert_int_eq(res, MPS_RES_COMMIT_LIMIT);
  mps_free(pool, first, 60000);
  for (int i = 0; i < 60000 / 512; ++i) {
    char *q = make(ap, 512);
    ck_assert(first <= q && q < first + 60000);
  }
  ck_assert_int_eq(mps_reserve(&p, ap, 512), MPS_RES_COMMIT_LIMIT);
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

START_TEST(at_random) {
  enum { LIVE = 1000 };
  static struct {
    char *p;
    size_t size;
  } live[LIVE];
  size_t count = 0, sum = 0, most = 0;
  mps_pool_t pool;
  mps_ap_t ap;

  random_start();
  start();
  pool = create(2000, 256, 0.3);
  ap = point(pool);
  for (size_t i = 0; i < 300000; ++i) {
    if (count < LIVE && random_below(2)) {
      size_t size = 16 * (1 + random_below(random_below(60) ? 100 : 1000));
      live[count].p = make(ap, size);
      live[count].size = size;
      memset(live[count].p, (int)(size / 16), size);
      sum += size;
      most = tdo_max(most, sum);
      ++count;
    } else if (count > 0) {
      size_t at = random_below(count), size = live[at].size;
      for (size_t k = 0; k < size; ++k)
        REQUIRE(live[at].p[k] == (char)(size / 16));
      mps_free(pool, live[at].p, size);
      sum -= size;
      live[at] = live[--count];
    }
    REQUIRE(in_use(pool) ==
            sum + (size_t)((char *)ap->limit - (char *)ap->init));
  }
  /* Some of it rests, but not without bound. */
  ck_assert_uint_le(mps_pool_total_size(pool), 4 * most + (1 << 20));
  mps_ap_destroy(ap);
  ck_assert_uint_eq(in_use(pool), sum);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

SUITE_MAIN("mvt", 60, adjacent, rest, few_left, over_borders, oversize, misuse,
           arguments, frames, frame_of_another_buffer, no_memory, at_random)
