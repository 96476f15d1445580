/* Testudo: the memory of MVFF pools: how they extend themselves, what lies over
   the borders of extents, and what goes back (interface, section 4.8).
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "mpsacl.h"
#include "mpscmvff.h"
#include "mpscmvt.h"
#include "pool/mvff.h"
#include "test/pools.h"
#include "test/suite.h"
#include "testudo.h"

START_TEST(extension) {
  mps_pool_t pool;
  mps_addr_t p;

  start();
  CREATE(pool, mps_class_mvff(), EXTEND_BY, 20000);
  ck_assert_uint_eq(mps_pool_total_size(pool), 0);
  (void)alloc(pool, 8);
  ck_assert_uint_eq(mps_pool_total_size(pool), suite_pages(20480));
  (void)alloc(pool, 300000);
  ck_assert_uint_eq(mps_pool_total_size(pool),
                    suite_pages(20480) + suite_pages(303104));
  ck_assert_int_eq(mps_alloc(&p, pool, SIZE_MAX / 2 + 2), MPS_RES_RESOURCE);
  ck_assert_int_eq(mps_alloc(&p, pool, (size_t)1 << 62), MPS_RES_RESOURCE);
  mps_pool_destroy(pool);
  /* More than there is address space: just enough will do. */
  CREATE(pool, mps_class_mvff(), EXTEND_BY, (size_t)1 << 62);
  (void)alloc(pool, 5000);
  ck_assert_uint_eq(mps_pool_total_size(pool), suite_pages(8192));
  mps_pool_destroy(pool);
  stop();
}
END_TEST

/* SPARE: whole grains go back until free <= spare * total. */
START_TEST(spare) {
  static const double spares[] = {0.0, 0.3, 0.75, 1.0};
  enum { N = 64 };
  size_t page = suite_pages(1);
  char *p[N];
  mps_pool_t pool;

  start();
  for (int i = 0; i < 4; ++i) {
    CREATE(pool, mps_class_mvff(), SPARE, spares[i]);
    for (int k = 0; k < N; ++k)
      p[k] = alloc(pool, page);
    ck_assert_uint_eq(mps_pool_total_size(pool), N * page);
    for (int k = 0; k < N; ++k) {
      int at = k * 37 % N;
      size_t before = mps_pool_total_size(pool);
      mps_free(pool, p[at], page);
      size_t free = mps_pool_free_size(pool);
      size_t total = mps_pool_total_size(pool);
      ck_assert((double)free <= spares[i] * (double)total);
      ck_assert_uint_eq(total - free, (size_t)(N - 1 - k) * page);
      /* Not more than it must. */
      if (total < before)
        ck_assert((double)(free + page) >
                  spares[i] * (double)(total + page) - 1.0);
    }
    ck_assert_uint_eq(mps_pool_total_size(pool),
                      spares[i] < 1.0 ? 0 : N * page);
    mps_pool_destroy(pool);
  }
  stop();
}
END_TEST

/* With none to spare whole grains go at once, also those that were never in
   use, where a longer run has none. */
START_TEST(none_spare) {
  size_t page = suite_pages(1);
  mps_pool_t pool;
  char *p, *q;

  start();
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_EXTEND_BY, 16 * page);
    MPS_ARGS_ADD(args, MPS_KEY_SPARE, 0.0);
    ck_assert_int_eq(mps_pool_create_k(&pool, arena, mps_class_mvff(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  for (size_t n = 0; n < 3; ++n) {
    size_t before = mps_pool_total_size(pool);
    p = alloc(pool, 15 * page);
    ck_assert_uint_eq(mps_pool_total_size(pool), before + 16 * page);
    mps_free(pool, p + 16, 2 * page - 32);
    ck_assert_uint_eq(mps_pool_total_size(pool), before + 15 * page);
    q = alloc(pool, 2 * page - 32);
    ck_assert_ptr_eq(q, p + 16);
  }
  mps_pool_destroy(pool);
  stop();
}
END_TEST

/* The same where the longest free run, of one page and a half, has no whole
   grain: it is enough when as much was freed as may be free. */
START_TEST(spare_in_short_runs) {
  enum { N = 100, FIRST = 3 };
  size_t page = suite_pages(1), longest = page / 2 * 3;
  char *first, *p[N];
  mps_pool_t pool;

  start();
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_EXTEND_BY, (N + FIRST) * page);
    MPS_ARGS_ADD(args, MPS_KEY_SPARE, 0.5);
    ck_assert_int_eq(mps_pool_create_k(&pool, arena, mps_class_mvff(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  first = alloc(pool, FIRST * page);
  for (int i = 0; i < N; ++i)
    p[i] = alloc(pool, page);
  mps_free(pool, first + page / 4, longest);
  for (int i = 0; i < N; ++i)
    mps_free(pool, p[i] + (i % 2) * page / 4, page / (size_t)(1 + i % 2));
  for (size_t freed = 0; freed < mps_pool_total_size(pool); freed += longest)
    if (2 * mps_pool_free_size(pool) > mps_pool_total_size(pool))
      mps_free(pool, alloc(pool, longest), longest);
  ck_assert_uint_le(2 * mps_pool_free_size(pool), mps_pool_total_size(pool));
  mps_pool_destroy(pool);
  stop();
}
END_TEST

/* A buffer that grows by a tenth at a time, beside small blocks that stay: of
   each extent that it leaves all goes back, or nothing, so that what is free
   lies together and serves it again. */
START_TEST(growing_buffer) {
  mps_pool_t pool;
  size_t size = 4096, was = 0;
  char *p, *old = NULL;

  start();
  CREATE(pool, mps_class_mvff(), SPARE, 0.75);
  for (; size < (size_t)4 << 20; size += size / 10) {
    p = alloc(pool, size);
    (void)alloc(pool, 112);
    if (old != NULL)
      mps_free(pool, old, was);
    old = p;
    was = size;
    ck_assert_uint_lt(mps_arena_committed(arena),
                      8 * size + 512 * suite_pages(1));
  }
  mps_pool_destroy(pool);
  stop();
}
END_TEST

/* Hundreds of MiB, touched only at the ends. */
START_TEST(large_blocks) {
  mps_pool_t pool;
  size_t size = suite_emulated() ? (size_t)3 << 26 : (size_t)3 << 30;
  size_t page = suite_pages(1);
  char *p;

  start();
  CREATE(pool, mps_class_mvff(), SPARE, 0.75);
  p = alloc(pool, size);
  p[0] = p[size - 1] = 1;
  ck_assert_uint_eq(in_use(pool), size);
  mps_free(pool, p + page, size - 2 * page);
  ck_assert_uint_eq(in_use(pool), 2 * page);
  ck_assert_uint_le(mps_pool_total_size(pool), 2 * page * 4);
  p[0] = p[size - 1] = 2;
  mps_pool_destroy(pool);
  stop();
}
END_TEST

/* What a pool keeps free serves another that finds none, clamped or not. */
START_TEST(for_others) {
  enum { BLOCKS = 600, EACH = 16 };
  const size_t size = suite_pages(1);
  static mps_addr_t p[BLOCKS];
  const mps_pool_class_t classes[] = {mps_class_mvff(), mps_class_mvt(),
                                      mps_class_mvff_debug()};
  for (size_t c = 0; c < 3; ++c) {
    size_t n = 0, most, got = 0;
    mps_pool_t pool, other;
    mps_ap_t ap = NULL;
    mps_addr_t q;
    start();
    if (c % 2 == 1)
      mps_arena_clamp(arena);
    if (classes[c] == mps_class_mvt()) {
      CREATE(pool, classes[c], MAX_SIZE, 2 * size);
      ap = point(pool);
    } else {
      CREATE(pool, classes[c], SPARE, 1.0);
    }
    for (; n < BLOCKS; ++n)
      if (ap == NULL) {
        p[n] = alloc(pool, size);
      } else {
        do
          ck_assert_int_eq(mps_reserve(&p[n], ap, size), MPS_RES_OK);
        while (!mps_commit(ap, p[n], size));
      }
    for (n = 0; n < BLOCKS; ++n)
      if (n % EACH >= 5)
        mps_free(pool, p[n], size);
    most = mps_arena_committed(arena);
    ck_assert_int_eq(mps_arena_commit_limit_set(arena, most), MPS_RES_OK);
    CREATE(other, mps_class_mvff(), EXTEND_BY, size);
    while (mps_alloc(&q, other, size) == MPS_RES_OK)
      ++got;
    ck_assert_uint_ge(got, BLOCKS / 2);
    tdo_arena_check(arena);
    if (ap != NULL)
      mps_ap_destroy(ap);
    mps_pool_destroy(other);
    mps_pool_destroy(pool);
    stop();
  }
}
END_TEST

/* The arena of the next test is client memory of SIZE bytes at BASE. */
static void start_client(void *base, size_t size) {
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_CL_BASE, base);
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, size);
    ck_assert_int_eq(mps_arena_create_k(&arena, mps_arena_class_cl(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  asserted_start();
}

/* The most of the N blocks of SIZE bytes at P that lie side by side. */
static size_t side_by_side(size_t *first_o, char **p, size_t n, size_t size) {
  size_t most = 0;

  for (size_t i = 0, run = 0; i < n; ++i) {
    run = i > 0 && p[i] == p[i - 1] + size ? run + 1 : 1;
    if (run > most) {
      most = run;
      *first_o = i + 1 - run;
    }
  }
  return most;
}

/* SIZE bytes are free in a row, in several extents: the pool does not grow for
   a block of so many. */
static void use_over_borders(mps_pool_t pool, bool by_point, size_t size) {
  size_t total = mps_pool_total_size(pool), used = in_use(pool);
  mps_ap_t ap = NULL;
  char *p;

  if (by_point) {
    ap = point(pool);
    p = make(ap, size);
    mps_ap_destroy(ap);
  } else {
    p = alloc(pool, size);
  }
  ck_assert_uint_le(mps_pool_total_size(pool), total);
  ck_assert_uint_eq(in_use(pool), used + size);
  memset(p, 1, size);
  tdo_arena_check(arena);
  ck_assert(tdo_freelist_check(&tdo_mvff_of(pool)->list));
  mps_free(pool, p, size);
}

/* Blocks that had extents of their own make room for a larger one, whole, and
   in part: the last quarter and the first one; the arena has no other. */
START_TEST(over_borders) {
  enum { BLOCKS = 400 };
  static _Alignas(65536) char memory[8 << 20];
  const size_t size = 8 * suite_pages(1);
  static char *p[BLOCKS];

  for (int way = 0; way < 4; ++way) {
    size_t n = 0, first, run, table;
    mps_pool_t pool;
    mps_addr_t q;
    if (way / 2 == 0)
      start();
    else
      start_client(memory, sizeof memory);
    MPS_ARGS_BEGIN(args) {
      MPS_ARGS_ADD(args, MPS_KEY_SPARE, 1.0);
      MPS_ARGS_ADD(args, MPS_KEY_EXTEND_BY, size);
      ck_assert_int_eq(
          mps_pool_create_k(&pool, arena, mps_class_mvff(), args),
          MPS_RES_OK);
    }
    MPS_ARGS_END(args);
    for (; n < BLOCKS && mps_alloc(&q, pool, size) == MPS_RES_OK; ++n)
      p[n] = q;
    if (way / 2 == 1) {
      ck_assert_uint_lt(n, BLOCKS);
      ck_assert_int_ne(mps_alloc(&q, pool, size), MPS_RES_OK);
    }
    run = side_by_side(&first, p, n, size);
    ck_assert_uint_ge(run, 3);
    run = tdo_min(run, 12); /* whose table takes less than a block */
    mps_free(pool, p[first] + size / 4, size / 4 * 3);
    for (size_t i = 1; i < run - 1; ++i)
      mps_free(pool, p[first + i], size);
    mps_free(pool, p[first + run - 1], size / 4 * 3);
    /* Where the arena has no more, a table is needed, too. */
    table = way / 2 == 0 ? 0 : size;
    use_over_borders(pool, way % 2 == 1,
                     (run - 2) * size + size / 4 * 6 - table);
    mps_free(pool, p[first], size / 4);
    mps_free(pool, p[first + run - 1] + size / 4 * 3, size / 4);
    use_over_borders(pool, way % 2 == 1, run * size - table);
    mps_pool_destroy(pool);
    stop();
  }
}
END_TEST

/* Blocks of more than half of an extent lie side by side, but for the rest of a
   grain: what is free at the end of one extent counts with the next one. */
START_TEST(larger_than_half) {
  enum { BLOCKS = 50 };
  const size_t page = suite_pages(1), size = 9 * page - 64;

  start();
  for (int high = 0; high < 2; ++high) {
    char *p = NULL;
    mps_pool_t pool;
    MPS_ARGS_BEGIN(args) {
      MPS_ARGS_ADD(args, MPS_KEY_EXTEND_BY, 16 * page);
      MPS_ARGS_ADD(args, MPS_KEY_MVFF_FIRST_FIT, !high);
      MPS_ARGS_ADD(args, MPS_KEY_MVFF_SLOT_HIGH, high);
      MPS_ARGS_ADD(args, MPS_KEY_MVFF_ARENA_HIGH, high);
      ck_assert_int_eq(
          mps_pool_create_k(&pool, arena, mps_class_mvff(), args),
          MPS_RES_OK);
    }
    MPS_ARGS_END(args);
    for (size_t i = 0; i < BLOCKS; ++i) {
      char *last = p;
      p = alloc(pool, size);
      if (i > 0)
        ck_assert_uint_le((size_t)(high ? last - p : p - last), 10 * page);
    }
    ck_assert_uint_le(mps_pool_total_size(pool), (10 * BLOCKS + 16) * page);
    ck_assert(tdo_freelist_check(&tdo_mvff_of(pool)->list));
    mps_pool_destroy(pool);
  }
  stop();
}
END_TEST

/* Where an extent is not much larger than a block, those that follow become
   part of it: little is lost at its end. Of two pools by turns what follows is
   the other's, and they hold all the same. So does what goes from there, and
   comes again. */
START_TEST(small_extents) {
  enum { BLOCKS = 320, POOLS = 2 };
  const size_t page = suite_pages(1);
  const size_t sizes[] = {page / 4 * 3, page / 4 * 5};
  static char *p[POOLS][BLOCKS];

  start();
  for (size_t i = 0; i < 4; ++i) {
    size_t size = sizes[i / 2], pools = 1 + i % 2;
    mps_pool_t pool[POOLS];
    for (size_t k = 0; k < pools; ++k)
      CREATE(pool[k], mps_class_mvff(), EXTEND_BY, page);
    for (int round = 0; round < 3; ++round) {
      for (size_t j = 0; j < BLOCKS * pools; ++j) {
        char **at = &p[j % pools][j / pools];
        if (round == 0 || j % 3 != 0)
          *at = alloc(pool[j % pools], size);
        memset(*at, 1, size);
      }
      for (size_t k = 0; k < pools; ++k) {
        if (pools == 1)
          ck_assert_uint_le(mps_pool_total_size(pool[k]),
                            BLOCKS * size / 8 * 9);
        ck_assert(tdo_freelist_check(&tdo_mvff_of(pool[k])->list));
      }
      for (size_t j = 0; j < BLOCKS * pools; ++j)
        if (j % 3 != 0)
          mps_free(pool[j % pools], p[j % pools][j / pools], size);
    }
    for (size_t j = 0; j < BLOCKS * pools; j += 3)
      mps_free(pool[j % pools], p[j % pools][j / pools], size);
    for (size_t k = 0; k < pools; ++k) {
      ck_assert_uint_eq(in_use(pool[k]), 0);
      ck_assert(tdo_freelist_check(&tdo_mvff_of(pool[k])->list));
      mps_pool_destroy(pool[k]);
    }
  }
  stop();
}
END_TEST

/* A pool that keeps nothing. */
static mps_pool_t spareless(size_t extend_by) {
  mps_pool_t pool;

  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_SPARE, 0.0);
    MPS_ARGS_ADD(args, MPS_KEY_EXTEND_BY, extend_by);
    ck_assert_int_eq(mps_pool_create_k(&pool, arena, mps_class_mvff(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  return pool;
}

/* Memory that comes to lie where some of a block went before: first fit is by
   address there, too, and free memory joins what is free around it. */
START_TEST(in_holes) {
  const size_t size = suite_pages(65536);
  mps_pool_t pool;
  char *p, *q;

  start();
  pool = spareless(size);
  p = alloc(pool, 6 * size);
  mps_free(pool, p + size, 2 * size);
  ck_assert_uint_eq(mps_pool_total_size(pool), 4 * size);
  q = alloc(pool, size);
  ck_assert_ptr_eq(q, p + size);
  mps_free(pool, p + 5 * size + 64, 64);
  mps_free(pool, q + 64, 64);
  ck_assert_ptr_eq(alloc(pool, 64), q + 64);
  mps_free(pool, p + size - 64, 64);
  mps_free(pool, q, 64);
  ck_assert_ptr_eq(alloc(pool, 128), p + size - 64);
  /* The rest of what came for a small block goes with the next one freed. */
  (void)alloc(pool, suite_pages(1) - 64);
  ck_assert_uint_eq(mps_pool_total_size(pool), 6 * size);
  mps_free(pool, p, 64);
  ck_assert_uint_eq(mps_pool_total_size(pool), 5 * size + suite_pages(1));
  mps_free(pool, p + 64, 2 * size - 64 - 64);
  ck_assert_uint_eq(mps_pool_total_size(pool),
                    3 * size + 2 * suite_pages(1));
  ck_assert(tdo_freelist_check(&tdo_mvff_of(pool)->list));
  mps_pool_destroy(pool);
  stop();
}
END_TEST

/* What is left of memory that came to lie in a hole goes with the next block
   freed, though a free run that has no whole page is longer. */
START_TEST(rest_of_a_hole) {
  const size_t page = suite_pages(1);
  mps_pool_t pool;
  char *p, *q;

  start();
  pool = spareless(4 * page);
  p = alloc(pool, 16 * page);
  mps_free(pool, p + 8 * page, 4 * page);
  mps_free(pool, p + page + 8, 2 * page - 16);
  ck_assert_uint_eq(mps_pool_total_size(pool), 12 * page);
  q = alloc(pool, 3 * page);
  ck_assert_ptr_eq(q, p + 8 * page);
  ck_assert_uint_eq(mps_pool_total_size(pool), 16 * page);
  mps_free(pool, p, 8);
  ck_assert_uint_eq(mps_pool_total_size(pool), 15 * page);
  ck_assert(tdo_freelist_check(&tdo_mvff_of(pool)->list));
  mps_pool_destroy(pool);
  stop();
}
END_TEST

SUITE_MAIN("mvff_extents", 60, extension, spare, none_spare,
           spare_in_short_runs, growing_buffer, large_blocks, for_others,
           over_borders, larger_than_half, small_extents, in_holes,
           rest_of_a_hole)
