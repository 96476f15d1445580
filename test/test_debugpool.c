/* Testudo: debugging MVFF pools (interface, section 2.25).
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "mpscmvff.h"
#include "test/pools.h"
#include "test/random.h"
#include "test/suite.h"

static mps_pool_t pool;

static void create(const char *fence, const char *free_pattern, size_t align) {
  mps_pool_debug_option_s options = {fence, strlen(fence), free_pattern,
                                     strlen(free_pattern)};
  char copies[2][32];

  strcpy(copies[0], fence);
  strcpy(copies[1], free_pattern);
  options.fence_template = copies[0];
  options.free_template = copies[1];
  start();
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_POOL_DEBUG_OPTIONS, &options);
    MPS_ARGS_ADD(args, MPS_KEY_ALIGN, align);
    MPS_ARGS_ADD(args, MPS_KEY_SPARE, 0.75);
    ck_assert_int_eq(
        mps_pool_create_k(&pool, arena, mps_class_mvff_debug(), args),
        MPS_RES_OK);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  memset(copies, 0, sizeof copies); /* the library has its own */
  memset(&options, 0, sizeof options);
}

static void check_clean(void) {
  ASSERTED_NEVER(mps_pool_check_fenceposts(pool));
  ASSERTED_NEVER(mps_pool_check_free_space(pool));
}

static void finish(void) {
  check_clean();
  mps_pool_destroy(pool);
  stop();
}

START_TEST(layout) {
  static const size_t aligns[] = {8, 16, 64, 4096};
  char *p, *q;

  ck_assert_ptr_eq(mps_class_mvff_debug(), mps_class_mvff_debug());
  ck_assert_ptr_ne(mps_class_mvff_debug(), mps_class_mvff());
  for (size_t i = 0; i < 4; ++i) {
    size_t align = aligns[i];
    create("abcde", "xyz", align);
    p = alloc(pool, align + 1);
    ck_assert_uint_eq((uintptr_t)p % align, 0);
    ck_assert_uint_eq(in_use(pool), 4 * align); /* two fenceposts */
    q = alloc(pool, align);
    ck_assert_uint_eq((uintptr_t)q % align, 0);
    ck_assert_uint_eq(in_use(pool), 7 * align);
    memset(p, 1, align + 1);
    memset(q, 1, align);
    check_clean();
    mps_free(pool, p, align + 1);
    mps_free(pool, q, align);
    ck_assert_uint_eq(in_use(pool), 0);
    finish();
  }
}
END_TEST

START_TEST(shows_free_pattern) {
  char *p;

  create("", "FREE", 8);
  for (int round = 0; round < 3; ++round) {
    p = alloc(pool, 1000);
    ck_assert_uint_eq(in_use(pool), 1000);
    for (size_t i = 0; i < 1000; i += 4)
      REQUIRE(memcmp(p + i, "FREE", 4) == 0);
    memset(p, 7, 1000);
    mps_free(pool, p, 1000);
  }
  finish();
  /* With neither there is nothing to see, and parts may be freed. */
  create("", "", 8);
  p = alloc(pool, 1000);
  mps_free(pool, p + 16, 8);
  mps_free(pool, p, 16);
  mps_free(pool, p + 24, 976);
  p[0] = 1;
  ck_assert_uint_eq(in_use(pool), 0);
  finish();
}
END_TEST

/* One byte before the block, one beyond the size asked. */
START_TEST(fenceposts) {
  static const size_t sizes[] = {1, 7, 8, 9, 100, 4096, 100001};

  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i)
    for (int side = 0; side < 2; ++side) {
      size_t size = sizes[i];
      char *p, *bad, was;
      create("POST", "FREE", 8);
      p = alloc(pool, size);
      bad = side ? p + size : p - 1;
      was = *bad;
      *bad = (char)(was + 1);
      ASSERTED_NEVER(mps_pool_check_free_space(pool));
      ASSERTED_ALWAYS(mps_pool_check_fenceposts(pool));
      *bad = was;
      check_clean();
      *bad = (char)(was + 1);
      if (size % 2 == 1)
        ASSERTED_ALWAYS(mps_free(pool, p, size));
      else
        ASSERTED_ALWAYS(mps_pool_destroy(pool));
      if (size % 2 == 1)
        finish();
      else
        stop();
    }
}
END_TEST

START_TEST(wrong_frees) {
  char *p;
  mps_ap_t ap;

  create("POST", "FREE", 8);
  p = alloc(pool, 100);
  ASSERTED_ALWAYS(mps_free(pool, p, 99));
  ASSERTED_ALWAYS(mps_free(pool, p, 96));
  ASSERTED_ALWAYS(mps_free(pool, p, 104));
  ASSERTED_ALWAYS(mps_free(pool, p + 8, 92));
  ASSERTED_ALWAYS(mps_free(pool, (char *)&p, 8));
  check_clean();
  mps_free(pool, p, 100);
  ASSERTED_ALWAYS(mps_free(pool, p, 100));
  /* Blocks of allocation points have no fenceposts. */
  ap = point(pool);
  p = make(ap, 64);
  mps_ap_destroy(ap);
  ASSERTED_ALWAYS(mps_free(pool, p, 64));
  ck_assert_uint_eq(in_use(pool), 64);
  finish();
}
END_TEST

/* Writing to a freed block is seen: by the check, when the memory is used
   again, when it goes back to the arena, when the pool goes. */
START_TEST(use_after_free) {
  for (int how = 0; how < 3; ++how) {
    char *p, *bad, *again = NULL;
    create("POST", "FREE", 8);
    p = alloc(pool, 64);
    (void)alloc(pool, 50000);
    mps_free(pool, p, 64);
    check_clean();
    bad = how % 2 ? p : p + 63;
    *bad ^= 1;
    ASSERTED_NEVER(mps_pool_check_fenceposts(pool));
    if (how == 0) {
      ASSERTED_ALWAYS(mps_pool_check_free_space(pool));
      *bad ^= 1;
    } else if (how == 1) {
      ASSERTED_ALWAYS(again = alloc(pool, 64));
      ck_assert_ptr_eq(again, p);
    }
    if (how < 2) {
      finish();
    } else {
      ASSERTED_ALWAYS(mps_pool_destroy(pool));
      stop();
    }
  }
}
END_TEST

START_TEST(leaves_for_arena) {
  char *p;

  create("POST", "FREE", 8);
  p = alloc(pool, 200000);
  (void)alloc(pool, 8);
  mps_free(pool, p, 200000);
  check_clean();
  finish();
  /* Memory that stays, damaged, then leaves because more of it is free. */
  create("", "FREE", 8);
  p = alloc(pool, 65536);
  mps_free(pool, p, 8192 * 5);
  p[8192 * 5 - 1] ^= 1;
  ASSERTED_ALWAYS(mps_free(pool, p + 8192 * 5, 65536 - 8192 * 5));
  ck_assert_uint_eq(mps_pool_total_size(pool), 0);
  finish();
}
END_TEST

/* Points use and give back patterned memory. */
START_TEST(points) {
  mps_ap_t ap;
  char *p;

  create("POST", "FREE", 8);
  ap = point(pool);
  p = make(ap, 64);
  ck_assert_int_eq(memcmp(p, "FREE", 4), 0);
  memset(p, 0, 64);
  memset(make(ap, 64), 0, 64);
  check_clean();
  mps_ap_destroy(ap);
  check_clean();
  p = alloc(pool, 64);
  memset(p, 0, 64);
  mps_free(pool, p, 64);
  p = alloc(pool, 64);
  p[200] ^= 1; /* in the largest free area */
  ap = point(pool);
  ASSERTED_ALWAYS(make(ap, 64));
  mps_ap_destroy(ap);
  finish();
}
END_TEST

/* Without options, and with the old form. */
START_TEST(defaults) {
  mps_pool_debug_option_s options = {"AB", 2, NULL, 0};
  char *p;

  start();
  ck_assert_int_eq(
      mps_pool_create_k(&pool, arena, mps_class_mvff_debug(), mps_args_none),
      MPS_RES_OK);
  p = alloc(pool, 20);
  ck_assert_int_eq(memcmp(p, "FREEFREE", 8), 0);
  ck_assert_int_eq(memcmp(p - 8, "POSTPOST", 8), 0);
  ck_assert_int_eq(memcmp(p + 20, "POSTPOSTPOST", 12), 0);
  mps_free(pool, p, 20);
  finish();
  start();
  ck_assert_int_eq(mps_pool_create(&pool, arena, mps_class_mvff_debug(),
                                   &options, (size_t)4096, (size_t)32,
                                   (mps_align_t)8, 0, 0, 1),
                   MPS_RES_OK);
  p = alloc(pool, 6);
  ck_assert_int_eq(memcmp(p - 8, "ABABABAB", 8), 0);
  ck_assert_int_eq(memcmp(p + 6, "ABABABABAB", 10), 0);
  ck_assert_uint_eq(mps_pool_total_size(pool), suite_pages(4096));
  mps_free(pool, p, 6);
  finish();
  /* On other pools the checks do nothing. */
  start();
  CREATE(pool, mps_class_mvff(), SPARE, 0.5);
  finish();
}
END_TEST

START_TEST(at_random) {
  enum { LIVE = 200 };
  static struct {
    char *p;
    size_t size;
  } live[LIVE];
  size_t count = 0;

  random_start();
  create("fence", "splat", 8);
  for (size_t i = 0; i < 100000; ++i) {
    if (count < LIVE && random_below(2)) {
      size_t size = 1 + random_below(random_below(100) ? 200 : 50000);
      live[count].p = alloc(pool, size);
      live[count].size = size;
      memset(live[count].p, (int)i, size);
      ++count;
    } else if (count > 0) {
      size_t at = random_below(count);
      mps_free(pool, live[at].p, live[at].size);
      live[at] = live[--count];
    }
    if (i % 1000 == 0)
      check_clean();
  }
  finish();
}
END_TEST

/* Freeing works at the commit limit, and a refused block leaves no trace. */
START_TEST(no_memory) {
  char *p, *last = NULL;
  mps_addr_t got;
  mps_res_t res;

  create("POST", "FREE", 8);
  ck_assert_int_eq(
      mps_arena_commit_limit_set(arena, mps_arena_committed(arena) + 300000),
      MPS_RES_OK);
  while ((res = mps_alloc(&got, pool, 100)) == MPS_RES_OK) {
    memcpy(got, &last, sizeof last);
    last = got;
  }
  ck_assert_int_eq(res, MPS_RES_COMMIT_LIMIT);
  check_clean();
  while (last != NULL) {
    memcpy(&p, last, sizeof p);
    mps_free(pool, last, 100);
    last = p;
  }
  ck_assert_uint_eq(in_use(pool), 0);
  finish();
}
END_TEST

/* A block that was freed is not taken back by its frame's end, nor what the
   point got after it. */
START_TEST(frames) {
  char *p, *q, *r, *s;
  mps_frame_t frame;
  mps_ap_t ap;

  create("", "FREE", 8);
  ap = point(pool);
  p = make(ap, 64);
  ck_assert_int_eq(mps_ap_frame_push(&frame, ap), MPS_RES_OK);
  q = make(ap, 64);
  r = make(ap, 64);
  memset(p, 1, 64);
  memset(r, 2, 64);
  mps_free(pool, q, 64);
  check_clean();
  ck_assert_int_eq(mps_ap_frame_pop(ap, frame), MPS_RES_OK);
  s = make(ap, 64);
  ck_assert(s >= r + 64 || s + 64 <= p);
  memset(s, 3, 64);
  for (size_t i = 0; i < 64; ++i)
    ck_assert(p[i] == 1 && r[i] == 2 && q[i] == "FREE"[(uintptr_t)&q[i] % 4]);
  mps_free(pool, s, 64);
  mps_free(pool, r, 64);
  mps_free(pool, p, 64);
  mps_ap_destroy(ap);
  ck_assert_uint_eq(in_use(pool), 0);
  finish();
}
END_TEST

SUITE_MAIN("debugpool", 60, layout, shows_free_pattern, fenceposts,
           wrong_frees, use_after_free, leaves_for_arena, points, defaults,
           at_random, no_memory, frames)
