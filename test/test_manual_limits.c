/* Testudo: manual pools with every amount of memory: whatever request is the
   first to be refused, nothing is lost, and freeing works.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "mpscmfs.h"
#include "mpscmvff.h"
#include "mpscmvt.h"
#include "test/pools.h"
#include "test/random.h"
#include "test/suite.h"
#include "trace/heap.h"

enum { STEPS = 150, STEP = 4096, ROUNDS = 400, LIVE = 64, POOLS = 5 };

static mps_pool_t pools[POOLS];
static mps_ap_t points[POOLS];
static mps_sac_t caches[POOLS];
static size_t refused;

/* Refused for want of memory, and for nothing else. */
static bool got(mps_res_t res) {
  REQUIRE(res == MPS_RES_OK || res == MPS_RES_COMMIT_LIMIT);
  refused += res != MPS_RES_OK;
  return res == MPS_RES_OK;
}

static void create_pools(void) {
  static mps_sac_class_s cls[] = {{40, 9, 1}};

  memset(pools, 0, sizeof pools);
  memset(points, 0, sizeof points);
  memset(caches, 0, sizeof caches);
  for (int i = 0; i < POOLS; ++i) {
    mps_pool_t p;
    mps_res_t res;
    if (i == 0)
      TRY_CREATE(res, p, mps_class_mvff(), SPARE, 0.75);
    else if (i == 1)
      TRY_CREATE(res, p, mps_class_mvff(), SPARE, 0.0);
    else if (i == 2)
      TRY_CREATE(res, p, mps_class_mvff_debug(), SPARE, 0.5);
    else if (i == 3)
      TRY_CREATE(res, p, mps_class_mfs(), MFS_UNIT_SIZE, 40);
    else
      TRY_CREATE(res, p, mps_class_mvt(), MAX_SIZE, 5000);
    if (!got(res))
      continue;
    pools[i] = p;
    if (i != 3 && !got(mps_ap_create_k(&points[i], p, mps_args_none)))
      points[i] = NULL;
    if (i != 4 && !got(mps_sac_create(&caches[i], p, 1, cls)))
      caches[i] = NULL;
  }
}

static void destroy_pools(void) {
  for (int i = 0; i < POOLS; ++i) {
    if (points[i] != NULL)
      mps_ap_destroy(points[i]);
    if (caches[i] != NULL)
      mps_sac_destroy(caches[i]);
    if (pools[i] != NULL)
      mps_pool_destroy(pools[i]);
  }
}

static struct {
  char *p;
  size_t size;
  int pool;
  bool cached;
} live[LIVE];

/* One request of some kind; false if it was refused, or is not possible. */
static bool request(size_t at) {
  int i = (int)random_below(POOLS);
  size_t kind = random_below(3);
  size_t size = 8 * (1 + random_below(random_below(8) ? 100 : 10000));
  mps_addr_t p = NULL;

  if (pools[i] == NULL)
    return false;
  if (i == 3)
    size = 40;
  live[at].cached = kind == 1;
  if (kind == 0 && i != 4) {
    if (!got(mps_alloc(&p, pools[i], size)))
      return false;
  } else if (kind == 1 && caches[i] != NULL) {
    size = 1 + random_below(40);
    if (!got(mps_sac_alloc(&p, caches[i], size, 0)))
      return false;
  } else if (kind == 2 && points[i] != NULL && i != 2) {
    if (!got(mps_reserve(&p, points[i], size)))
      return false;
    REQUIRE(mps_commit(points[i], p, size));
  } else {
    return false;
  }
  live[at].p = p;
  live[at].size = size;
  live[at].pool = i;
  memset(p, (int)size, size);
  return true;
}

static void give_back(size_t at) {
  for (size_t k = 0; k < live[at].size; ++k)
    REQUIRE(live[at].p[k] == (char)live[at].size);
  if (live[at].cached)
    mps_sac_free(caches[live[at].pool], live[at].p, live[at].size);
  else
    mps_free(pools[live[at].pool], live[at].p, live[at].size);
}

static void play(void) {
  size_t count = 0;

  create_pools();
  for (size_t round = 0; round < ROUNDS; ++round) {
    if (count < LIVE && random_below(3) != 0) {
      count += request(count);
    } else if (count > 0) {
      size_t at = random_below(count);
      give_back(at);
      live[at] = live[--count];
    }
    REQUIRE(mps_arena_committed(arena) <= mps_arena_commit_limit(arena));
  }
  while (count > 0)
    give_back(--count);
  if (pools[2] != NULL) {
    mps_pool_check_fenceposts(pools[2]);
    mps_pool_check_free_space(pools[2]);
  }
  REQUIRE(tdo_space_check(&arena->space));
  destroy_pools();
}

START_TEST(every_limit) {
  size_t least = 0;

  random_start();
  for (size_t step = 0; step < STEPS; ++step) {
    start();
    least = mps_arena_committed(arena);
    REQUIRE(mps_arena_commit_limit_set(arena, least + step * STEP) ==
            MPS_RES_OK);
    play();
    /* All of it is there again. */
    REQUIRE(mps_arena_committed(arena) - mps_arena_spare_committed(arena) <=
            least + step * STEP);
    stop();
  }
  ck_assert_uint_gt(refused, STEPS);
}
END_TEST

/* What the limit is raised by can be had, clearly less of it. */
START_TEST(raised_limit) {
  mps_pool_t p;
  mps_addr_t at;

  start();
  CREATE(p, mps_class_mvff(), SPARE, 0.75);
  (void)alloc(p, 100);
  for (size_t n = 16 * suite_pages(1); n <= 1 << 26; n *= 2) {
    size_t limit = mps_arena_committed(arena);
    REQUIRE(mps_arena_commit_limit_set(arena, limit) == MPS_RES_OK);
    while (mps_alloc(&at, p, 1000) == MPS_RES_OK)
      continue;
    REQUIRE(mps_alloc(&at, p, n / 10 * 9) == MPS_RES_COMMIT_LIMIT);
    REQUIRE(mps_arena_commit_limit_set(arena, limit + n) == MPS_RES_OK);
    REQUIRE(mps_alloc(&at, p, n / 10 * 8) == MPS_RES_OK);
  }
  mps_pool_destroy(p);
  stop();
}
END_TEST

/* A pool of either class that has one extent, half of which may be free. */
static mps_pool_t create_loose(int i, size_t size) {
  mps_pool_t p;

  MPS_ARGS_BEGIN(args) {
    if (i == 0) {
      MPS_ARGS_ADD(args, MPS_KEY_EXTEND_BY, size);
      MPS_ARGS_ADD(args, MPS_KEY_SPARE, 0.75);
    } else {
      MPS_ARGS_ADD(args, MPS_KEY_MAX_SIZE, size);
      MPS_ARGS_ADD(args, MPS_KEY_MVT_RESERVE_DEPTH, (mps_word_t)1 << 20);
      MPS_ARGS_ADD(args, MPS_KEY_MVT_FRAG_LIMIT, 1.0);
    }
    ck_assert_int_eq(
        mps_pool_create_k(&p, arena,
                          i == 0 ? mps_class_mvff() : mps_class_mvt(), args),
        MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  return p;
}

/* Free grains serve a block that no run has room for, though the longest run
   of all, of one page and a half, has no whole one. */
START_TEST(scattered_grains) {
  enum { PAGES = 64, FIRST = 3, WANTED = 16 };
  size_t page = suite_pages(1);
  char *first, *p[PAGES];
  mps_pool_t loose;
  mps_ap_t ap;

  start();
  mps_arena_spare_set(arena, 0.0);
  loose = create_loose(_i, (PAGES + FIRST) * page);
  ap = point(loose);
  first = make(ap, FIRST * page);
  for (size_t i = 0; i < PAGES; ++i)
    p[i] = make(ap, page);
  mps_ap_destroy(ap);
  mps_free(loose, first + page / 4, page / 2 * 3);
  for (size_t i = 0; i < PAGES; i += 2)
    mps_free(loose, p[i], page);
  ap = point(loose);
  ck_assert_int_eq(
      mps_arena_commit_limit_set(arena, mps_arena_committed(arena)),
      MPS_RES_OK);
  (void)make(ap, WANTED * page);
  mps_ap_destroy(ap);
  mps_pool_destroy(loose);
  stop();
}
END_TEST

SUITE_LOOPS_MAIN("manual_limits", 100, {every_limit, 1}, {raised_limit, 1},
                 {scattered_grains, 2})
