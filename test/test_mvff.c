/* Testudo: MVFF pools (interface, sections 2.9-2.13 and 4.8).
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "mpscmvff.h"
#include "pool/mvff.h"
#include "test/pools.h"
#include "test/random.h"
#include "test/suite.h"
#include "testudo.h"

START_TEST(placement) {
  mps_pool_t pool;

  start();
  for (int first = 0; first < 2; ++first)
    for (int high = 0; high < 2; ++high) {
      char *a, *b, *base;
      MPS_ARGS_BEGIN(args) {
        MPS_ARGS_ADD(args, MPS_KEY_MVFF_FIRST_FIT, first);
        MPS_ARGS_ADD(args, MPS_KEY_MVFF_SLOT_HIGH, high);
        MPS_ARGS_ADD(args, MPS_KEY_MVFF_ARENA_HIGH, high);
        ck_assert_int_eq(
            mps_pool_create_k(&pool, arena, mps_class_mvff(), args),
            MPS_RES_OK);
        ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
      }
      MPS_ARGS_END(args);
      base = alloc(pool, 4000);
      a = alloc(pool, 100); /* rounded to 104 */
      b = alloc(pool, 8);
      ck_assert_ptr_eq(a, high ? base - 104 : base + 4000);
      ck_assert_ptr_eq(b, high ? a - 8 : a + 104);
      ck_assert_uint_eq(in_use(pool), 4112);
      /* Two areas now: which, and which end of it? */
      mps_free(pool, a, 100);
      b = alloc(pool, 48);
      if ((first != 0) == (high == 0)) /* the hole is the first looked at */
        ck_assert_ptr_eq(b, high ? a + 104 - 48 : a);
      else
        ck_assert(b < a || b >= a + 104);
      mps_pool_destroy(pool);
    }
  stop();
}
END_TEST

START_TEST(partial_free) {
  mps_pool_t pool;
  char *p, *q;

  start();
  CREATE(pool, mps_class_mvff(), ALIGN, 16);
  p = alloc(pool, 1000);
  ck_assert_uint_eq(in_use(pool), 1008);
  mps_free(pool, p + 160, 160);
  mps_free(pool, p + 480, 1);
  ck_assert_uint_eq(in_use(pool), 1008 - 176);
  ck_assert_ptr_eq(alloc(pool, 16), p + 160);
  q = alloc(pool, 145);
  ck_assert(q > p + 1000);
  ASSERTED(mps_free(pool, p, 1000));
  mps_free(pool, p, 176);
  mps_free(pool, p + 320, 160);
  mps_free(pool, p + 496, 512);
  mps_free(pool, q, 145);
  ck_assert_uint_eq(in_use(pool), 0);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

START_TEST(misuse) {
  mps_pool_t pool, other;
  mps_addr_t p;
  char *a, *b;

  start();
  CREATE(pool, mps_class_mvff(), SPARE, 1.0);
  CREATE(other, mps_class_mvff(), SPARE, 1.0);
  a = alloc(pool, 64);
  b = alloc(other, 64);
  ASSERTED(mps_free(pool, NULL, 64));
  ASSERTED(mps_free(pool, a, 0));
  ASSERTED(mps_free(pool, a + 1, 8));
  ASSERTED(mps_free(pool, b, 64));
  ASSERTED(mps_free(pool, &p, 8));
  ASSERTED(mps_free(pool, a, 72));
  ASSERTED(mps_free(pool, a, (size_t)1 << 40));
  ASSERTED(mps_free(pool, a, SIZE_MAX));
  mps_free(pool, a, 64);
  ASSERTED(mps_free(pool, a, 64));
  ASSERTED(mps_free(pool, a + 8, 8));
  ck_assert_uint_eq(in_use(pool), 0);
  ck_assert(tdo_freelist_check(&tdo_mvff_of(pool)->list));
  mps_pool_destroy(pool);
  ck_assert(tdo_freelist_check(&tdo_mvff_of(other)->list));
  mps_pool_destroy(other);
  stop();
}
END_TEST

START_TEST(bad_arguments) {
  start();
  REFUSED(mps_class_mvff(), EXTEND_BY, 0);
  REFUSED(mps_class_mvff(), MEAN_SIZE, 0);
  REFUSED(mps_class_mvff(), ALIGN, 0);
  REFUSED(mps_class_mvff(), ALIGN, 4);
  REFUSED(mps_class_mvff(), ALIGN, 24);
  REFUSED(mps_class_mvff(), ALIGN, 2 * suite_pages(1));
  REFUSED(mps_class_mvff(), SPARE, -0.1);
  REFUSED(mps_class_mvff(), SPARE, 1.1);
  stop();
}
END_TEST

START_TEST(arguments) {
  mps_pool_t pool;

  start();
  ck_assert_ptr_eq(mps_class_mvff(), mps_class_mvff());
  ck_assert_int_eq(mps_pool_create(&pool, arena, mps_class_mvff(),
                                   (size_t)8192, (size_t)40, (mps_align_t)32,
                                   (mps_bool_t)1, (mps_bool_t)0,
                                   (mps_bool_t)1),
                   MPS_RES_OK);
  ck_assert_uint_eq((uintptr_t)alloc(pool, 3) % 32, 0);
  ck_assert_uint_eq(mps_pool_total_size(pool), suite_pages(8192));
  ck_assert_uint_eq(in_use(pool), 32);
  mps_pool_destroy(pool);
  /* Keys of others stay where they are. */
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_MAX_SIZE, 77);
    MPS_ARGS_ADD(args, MPS_KEY_MEAN_SIZE, 77);
    ck_assert_int_eq(mps_pool_create_k(&pool, arena, mps_class_mvff(), args),
                     MPS_RES_OK);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_MAX_SIZE);
    ck_assert_ptr_eq(args[1].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  mps_pool_destroy(pool);
  /* The largest alignment there is. */
  CREATE(pool, mps_class_mvff(), ALIGN, 4096);
  ck_assert_uint_eq((uintptr_t)alloc(pool, 1) % 4096, 0);
  ck_assert_uint_eq((uintptr_t)alloc(pool, 4097) % 4096, 0);
  ck_assert_uint_eq(in_use(pool), 3 * 4096);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

START_TEST(points) {
  mps_pool_t pool;
  mps_ap_t ap, second;
  mps_addr_t p, q;
  char *hole;

  start();
  CREATE(pool, mps_class_mvff(), SPARE, 1.0);
  ck_assert_int_eq(mps_ap_create(&ap, pool, mps_rank_exact()), MPS_RES_OK);
  p = make(ap, 32);
  ck_assert_uint_eq(mps_pool_total_size(pool), 65536);
  ck_assert_uint_eq(mps_pool_free_size(pool), 0);
  q = make(ap, 32);
  ck_assert_ptr_eq(q, (char *)p + 32);
#if TDO_COOL /* memory of a point that was not given out */
  ASSERTED(mps_free(pool, (char *)q + 32, 8));
  ASSERTED(mps_free(pool, q, 40));
#endif
  /* A block from an allocation point is a block like any other. */
  mps_free(pool, p, 32);
  ck_assert_uint_eq(mps_pool_free_size(pool), 32);
  ck_assert_ptr_eq(alloc(pool, 32), p);
  mps_ap_destroy(ap);
  ck_assert_uint_eq(in_use(pool), 64);
  /* Worst fit: the largest area, not the first. */
  hole = alloc(pool, 1000);
  (void)alloc(pool, 8);
  mps_free(pool, hole, 1000);
  ap = point(pool);
  ck_assert_int_eq(mps_reserve(&p, ap, 8), MPS_RES_OK);
  ck_assert((char *)p > hole + 1000);
  ck_assert(mps_commit(ap, p, 8));
  /* Another point gets what is left, or a buffer of its own. */
  second = point(pool);
  ck_assert_int_eq(mps_reserve(&q, second, 8), MPS_RES_OK);
  ck_assert_ptr_eq(q, hole);
  ck_assert(mps_commit(second, q, 8));
  /* A block beyond any buffer. */
  ck_assert_int_eq(mps_reserve(&p, ap, (size_t)200 << 20), MPS_RES_OK);
  ((char *)p)[((size_t)200 << 20) - 1] = 1;
  ck_assert(mps_commit(ap, p, (size_t)200 << 20));
  ck_assert(tdo_freelist_check(&tdo_mvff_of(pool)->list));
  ASSERTED(mps_pool_destroy(pool));
  arena = NULL; /* what was refused may have been done all the same */
}
END_TEST

START_TEST(frames) {
  mps_pool_t pool;
  mps_ap_t ap;
  mps_frame_t frame, inner;
  mps_addr_t p, q;

  start();
  CREATE(pool, mps_class_mvff(), SPARE, 1.0);
  ap = point(pool);
  ck_assert_int_eq(mps_ap_frame_push(&frame, ap), MPS_RES_OK);
  ck_assert_int_eq(mps_ap_frame_pop(ap, frame), MPS_RES_OK);
  ck_assert_int_eq(mps_reserve(&p, ap, 32), MPS_RES_OK);
  ck_assert_int_eq(mps_ap_frame_push(&inner, ap), MPS_RES_FAIL);
  ck_assert_int_eq(mps_ap_frame_pop(ap, frame), MPS_RES_FAIL);
  ck_assert(mps_commit(ap, p, 32));
  /* The buffer is the same: allocation goes back. */
  ck_assert_int_eq(mps_ap_frame_push(&frame, ap), MPS_RES_OK);
  p = make(ap, 64);
  ck_assert_int_eq(mps_ap_frame_push(&inner, ap), MPS_RES_OK);
  q = make(ap, 64);
  ck_assert_int_eq(mps_ap_frame_pop(ap, frame), MPS_RES_OK);
  ck_assert_int_eq(mps_reserve(&q, ap, 16), MPS_RES_OK);
  ck_assert_ptr_eq(q, p);
  ck_assert(mps_commit(ap, q, 16));
  /* Not over a block that was freed, and may be somebody's by now. */
  ck_assert_int_eq(mps_ap_frame_push(&frame, ap), MPS_RES_OK);
  p = make(ap, 16);
  mps_free(pool, p, 16);
  ck_assert_ptr_eq(alloc(pool, 16), p);
  ck_assert_int_eq(mps_ap_frame_pop(ap, frame), MPS_RES_OK);
  ck_assert_int_eq(mps_reserve(&q, ap, 16), MPS_RES_OK);
  ck_assert_ptr_ne(q, p);
  ck_assert(mps_commit(ap, q, 16));
  /* One of a buffer that is used up is none, and nothing goes back to it. */
  ck_assert_int_eq(mps_ap_frame_push(&frame, ap), MPS_RES_OK);
  p = make(ap, (size_t)((char *)ap->limit - (char *)ap->init));
  ck_assert_int_eq(mps_ap_frame_push(&frame, ap), MPS_RES_OK);
  ck_assert_int_eq(mps_ap_frame_pop(ap, frame), MPS_RES_OK);
  ck_assert_int_eq(mps_reserve(&q, ap, 16), MPS_RES_OK);
  ck_assert_ptr_ne(q, p);
  ck_assert(mps_commit(ap, q, 16));
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

/* One free of neighbours, of which one lies beside the buffer. */
START_TEST(frames_over_neighbours) {
  enum { SIZE = 64, PART = 4096 };
  mps_pool_t pool;
  mps_ap_t ap;
  mps_frame_t frame;
  char *before, *p, *all;

  start();
  CREATE(pool, mps_class_mvff(), SPARE, 1.0);
  ap = point(pool);
  before = alloc(pool, SIZE);
  ck_assert_ptr_eq(make(ap, SIZE), before + SIZE);
  ck_assert_int_eq(mps_ap_frame_push(&frame, ap), MPS_RES_OK);
  (void)make(ap, SIZE);
  mps_free(pool, before, 3 * SIZE);
  ck_assert_ptr_eq(alloc(pool, 3 * SIZE), before);
  ck_assert_int_eq(mps_ap_frame_pop(ap, frame), MPS_RES_OK);
  ck_assert_ptr_eq(make(ap, SIZE), before + 3 * SIZE);
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  /* Behind a buffer that is used up. */
  CREATE(pool, mps_class_mvff(), SPARE, 1.0);
  ap = point(pool);
  all = alloc(pool, 16 * PART);
  mps_free(pool, all + PART, 2 * PART);
  p = make(ap, PART);
  ck_assert_ptr_eq(p, all + PART);
  ck_assert_int_eq(mps_ap_frame_push(&frame, ap), MPS_RES_OK);
  ck_assert_ptr_eq(make(ap, PART), p + PART);
  mps_free(pool, p + PART, 2 * PART);
  tdo_arena_check(arena);
  ck_assert_int_eq(mps_ap_frame_pop(ap, frame), MPS_RES_OK);
  ck_assert_ptr_eq(ap->init, p + 2 * PART);
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

/* A pool whose extents have SIZE bytes, and of which this SPARE fraction stays
   free. */
static mps_pool_t pool_of(size_t size, double spare) {
  mps_pool_t pool;

  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_EXTEND_BY, size);
    MPS_ARGS_ADD(args, MPS_KEY_SPARE, spare);
    ck_assert_int_eq(mps_pool_create_k(&pool, arena, mps_class_mvff(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  return pool;
}

/* How many points a free of what lies beside the point's buffer looks at. */
static size_t looked_at(mps_ap_t ap) {
  tdo_extent_t *extent = tdo_ap_of(ap)->seg;
  size_t count = 0;

  TDO_RING_FOR(node, &extent->framed)
    ++count;
  return count;
}

/* A free looks at the points with frames in their buffers in the extent of the
   block, however many there are; none of them goes back over the block. */
START_TEST(framed_points) {
  enum { POINTS = 20 };
  size_t size = suite_pages(1) * 16; /* of extents that do not grow */
  mps_pool_t pool;
  mps_ap_t aps[POINTS];
  mps_frame_t outer[POINTS], frame;
  char *blocks[POINTS], *p;

  start();
  pool = pool_of(size, 1.0);
  p = alloc(pool, 3 * size);
  mps_free(pool, p, 3 * size); /* the first three have this extent */
  for (size_t i = 0; i < POINTS; ++i) {
    aps[i] = point(pool);
    (void)make(aps[i], 64);
    ck_assert_uint_eq(looked_at(aps[i]), 0);
  }
  ck_assert_ptr_eq(tdo_ap_of(aps[0])->seg, tdo_ap_of(aps[2])->seg);
  ck_assert_ptr_ne(tdo_ap_of(aps[0])->seg, tdo_ap_of(aps[3])->seg);
  for (size_t i = 0; i < 5; ++i) {
    ck_assert_int_eq(mps_ap_frame_push(&outer[i], aps[i]), MPS_RES_OK);
    blocks[i] = make(aps[i], 64);
    ck_assert_int_eq(mps_ap_frame_push(&frame, aps[i]), MPS_RES_OK);
  }
  for (size_t i = 0; i < POINTS; ++i)
    ck_assert_uint_eq(looked_at(aps[i]), i < 3 ? 3 : i < 5 ? 1 : 0);
  for (size_t i = 0; i < 4; ++i)
    if (i != 1)
      mps_free(pool, blocks[i], 64);
  for (size_t i = 0; i < 5; ++i) {
    ck_assert_int_eq(mps_ap_frame_pop(aps[i], outer[i]), MPS_RES_OK);
    p = make(aps[i], 64);
    ck_assert(i == 1 || i == 4 ? p == blocks[i] : p > blocks[i]);
  }
  (void)make(aps[0], size); /* another buffer */
  ck_assert_uint_eq(looked_at(aps[0]), 0);
  ck_assert_uint_eq(looked_at(aps[1]), 2);
  mps_ap_destroy(aps[1]);
  ck_assert_uint_eq(looked_at(aps[2]), 1);
  aps[1] = point(pool);
  for (size_t i = 0; i < POINTS; ++i)
    mps_ap_destroy(aps[i]);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

/* A frame of an earlier buffer does nothing, though its place lies in the
   present one, in a block. */
START_TEST(frame_of_another_buffer) {
  enum { BLOCKS = 10, BLOCK = 1000, LARGE = 70000, OTHER = 1496 };
  mps_pool_t pool;
  mps_ap_t ap, second;
  mps_frame_t frame, none;
  char *block[BLOCKS], *large, *p, *more;

  start();
  CREATE(pool, mps_class_mvff(), SPARE, 1.0);
  ap = point(pool);
  ck_assert_int_eq(mps_ap_frame_push(&none, ap), MPS_RES_OK);
  for (size_t i = 0; i < BLOCKS; ++i)
    block[i] = make(ap, BLOCK);
  ck_assert_int_eq(mps_ap_frame_push(&frame, ap), MPS_RES_OK);
  large = make(ap, LARGE); /* in another buffer */
  ck_assert(large >= block[9] + BLOCK || large + LARGE <= block[0]);
  for (size_t i = 0; i < BLOCKS; ++i)
    mps_free(pool, block[i], BLOCK);
  mps_free(pool, large, LARGE);
  do { /* until a block lies over where the frame was */
    p = make(ap, OTHER);
    ck_assert_int_eq(mps_ap_frame_pop(ap, frame), MPS_RES_OK);
    ck_assert_int_eq(mps_ap_frame_pop(ap, none), MPS_RES_OK);
    ck_assert_ptr_eq(ap->init, p + OTHER);
  } while (p > block[9] + BLOCK || p + OTHER <= block[9] + BLOCK);
  /* Nor does one of another point. */
  second = point(pool);
  p = make(second, OTHER);
  ck_assert_int_eq(mps_ap_frame_push(&frame, second), MPS_RES_OK);
  ck_assert_int_eq(mps_ap_frame_pop(ap, frame), MPS_RES_OK);
  more = make(second, OTHER); /* in the same one, if it has room */
  ck_assert_int_eq(mps_ap_frame_pop(second, frame), MPS_RES_OK);
  ck_assert_ptr_eq(second->init, more == p + OTHER ? more : more + OTHER);
  mps_ap_destroy(second);
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

/* Where a point used up its buffer and all of that was freed, the extent is
   gone, while the point stands there: a frame there is none, and what had
   frames there leaves no trace. */
START_TEST(frame_where_nothing_is) {
  enum { TIMES = 50 };
  size_t size = suite_pages(1);
  mps_pool_t pool;
  mps_ap_t ap, second;
  mps_frame_t frame;

  start();
  pool = pool_of(size, 0.0);
  ap = point(pool);
  second = point(pool);
  for (size_t i = 0; i < TIMES; ++i) {
    char *p = make(ap, size / 2), *q;
    tdo_extent_t *extent = tdo_ap_of(ap)->seg;
    if (i % 2 == 0)
      ck_assert_int_eq(mps_ap_frame_push(&frame, ap), MPS_RES_OK);
    q = make(ap, size / 2);
    ck_assert_ptr_eq(q, p + size / 2);
    mps_free(pool, p, size / 2);
    mps_free(pool, q, size / 2);
    ck_assert_uint_eq(mps_pool_total_size(pool), 0);
    memset(&extent->framed, 0, sizeof extent->framed); /* nobody's now */
    ck_assert_int_eq(mps_ap_frame_push(&frame, ap), MPS_RES_OK);
    ck_assert_int_eq(mps_ap_frame_pop(ap, frame), MPS_RES_OK);
    ck_assert_ptr_eq(ap->init, ap->limit);
    ck_assert_ptr_null(extent->framed.next);
    ck_assert_ptr_null(extent->framed.prev);
    mps_free(pool, make(second, size), size);
  }
  mps_ap_destroy(ap);
  mps_ap_destroy(second);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

START_TEST(patterns) {
  mps_pool_t pool;
  mps_ap_t ap;

  start();
  CREATE(pool, mps_class_mvff(), SPARE, 0.5);
  ap = point(pool);
  ck_assert_int_eq(mps_ap_alloc_pattern_begin(ap, mps_alloc_pattern_ramp()),
                   MPS_RES_OK);
  ck_assert_int_eq(mps_ap_alloc_pattern_end(ap, mps_alloc_pattern_ramp()),
                   MPS_RES_OK);
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

/* Blocks larger than any memory: a result, whatever is free. */
START_TEST(without_end) {
  mps_pool_t pool;
  start();
  CREATE(pool, mps_class_mvff(), SPARE, 1.0);
  mps_free(pool, alloc(pool, 100000), 100000);
  for (unsigned shift = 0; shift < 16; ++shift) {
    mps_addr_t p = NULL;
    size_t size = SIZE_MAX >> shift;
    ck_assert_int_eq(mps_alloc(&p, pool, size), MPS_RES_RESOURCE);
    ck_assert_int_eq(mps_alloc(&p, pool, size - 4095), MPS_RES_RESOURCE);
    ck_assert_ptr_null(p);
  }
  mps_pool_destroy(pool);
  stop();
}
END_TEST

/* At the commit limit: an error code, again and again; freeing works, and
   what was freed serves this pool and others. */
START_TEST(no_memory) {
  mps_pool_t pool, other;
  mps_addr_t p;
  char *first = NULL, *last = NULL, *none = NULL;
  size_t n = 0;
  mps_res_t res;

  start();
  CREATE(pool, mps_class_mvff(), SPARE, 0.75);
  CREATE(other, mps_class_mvff(), SPARE, 0.75);
  (void)alloc(other, 8);
  ck_assert_int_eq(mps_arena_commit_limit_set(arena, (size_t)2 << 20),
                   MPS_RES_OK);
  while ((res = mps_alloc(&p, pool, 1000)) == MPS_RES_OK) {
    memcpy(p, &last, sizeof last);
    last = p;
    first = first == NULL ? p : first;
    ++n;
  }
  ck_assert_int_eq(res, MPS_RES_COMMIT_LIMIT);
  ck_assert_uint_gt(n * 1000, (size_t)1500 << 10);
  ck_assert_int_eq(mps_alloc(&p, pool, 100000), MPS_RES_COMMIT_LIMIT);
  ck_assert_uint_le(mps_arena_committed(arena), (size_t)2 << 20);
  mps_free(pool, first, 1000);
  ck_assert_ptr_eq(alloc(pool, 1000), first);
  memcpy(first, &none, sizeof none);
  while (last != NULL) {
    char *next;
    memcpy(&next, last, sizeof next);
    mps_free(pool, last, 1000);
    last = next;
  }
  ck_assert_uint_eq(mps_pool_total_size(pool), 0);
  (void)alloc(other, (size_t)1500 << 10);
  mps_pool_destroy(pool);
  mps_pool_destroy(other);
  stop();
}
END_TEST

/* Two lightly used pools live within 160,000 bytes. */
START_TEST(small_arena) {
  mps_pool_t pool, other;

  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_GRAIN_SIZE, 4096);
    MPS_ARGS_ADD(args, MPS_KEY_COMMIT_LIMIT,
                 suite_pages(1) / 4096 * 160000);
    ck_assert_int_eq(mps_arena_create_k(&arena, mps_arena_class_vm(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  asserted_start();
  CREATE(pool, mps_class_mvff(), SPARE, 0.75);
  CREATE(other, mps_class_mvff(), SPARE, 0.75);
  for (int i = 0; i < 100; ++i) {
    char *p = alloc(pool, 500), *q = alloc(other, 700);
    mps_free(pool, p, 500);
    mps_free(other, q, 700);
  }
  mps_pool_destroy(pool);
  mps_pool_destroy(other);
  stop();
}
END_TEST

/* Random work; the sizes add up at every step and no two blocks overlap. */
START_TEST(at_random) {
  enum { LIVE = 500, ROUNDS = 200000 };
  static struct {
    char *p;
    size_t size;
  } live[LIVE];
  size_t count = 0, sum = 0;
  mps_pool_t pool;

  random_start();
  start();
  CREATE(pool, mps_class_mvff(), SPARE, 0.25);
  for (size_t i = 0; i < ROUNDS; ++i) {
    if (count < LIVE && random_below(100) < 52) {
      size_t size = 1 + random_below(random_below(50) ? 300 : 200000);
      live[count].p = alloc(pool, size);
      live[count].size = size;
      memset(live[count].p, (int)(size & 0xFF), size);
      ++count;
      sum += tdo_round_up(size, 8);
    } else if (count > 0) {
      size_t at = random_below(count), size = live[at].size;
      for (size_t k = 0; k < size; ++k)
        REQUIRE((unsigned char)live[at].p[k] == (size & 0xFF));
      mps_free(pool, live[at].p, size);
      live[at] = live[--count];
      sum -= tdo_round_up(size, 8);
    }
    REQUIRE(in_use(pool) == sum);
    if (i % 10000 == 0)
      REQUIRE(tdo_freelist_check(&tdo_mvff_of(pool)->list));
  }
  mps_pool_destroy(pool);
  stop();
}
END_TEST

SUITE_MAIN("mvff", 60, placement, partial_free, misuse, bad_arguments,
           arguments, points, frames, frames_over_neighbours, framed_points,
           frame_of_another_buffer, frame_where_nothing_is, patterns,
           without_end, no_memory, small_arena, at_random)
