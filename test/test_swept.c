/* Testudo: free memory of pools whose blocks do not move, when there is no
   other: whatever free run is long enough is found (interface, section 2.11).
   SPDX-License-Identifier: BSD-2-Clause */
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "test/nodes.h"
#include "test/suite.h"

enum { CLASSES = 3, SEGMENT = 65536, KEPT = 8192 };

static mps_pool_t pool;
static mps_ap_t ap;
static mps_chain_t chain;
static mps_root_t kept_root;
static node_t **kept; /* what lives, unless something else does */
static size_t kept_count;

/* In a chain so large that segments are of the largest size. */
static void open_pool(int i) {
  mps_pool_class_t classes[CLASSES] = {mps_class_lo(), mps_class_ams(),
                                       mps_class_awl()};

  start();
  chain = make_chain((size_t)1 << 20);
  pool = make_pool(classes[i], format, chain);
  ap = make_ap(pool, mps_rank_exact());
  kept = make_root(&kept_root, KEPT);
  kept_count = 0;
}

static void close_pool(void) {
  mps_arena_park(arena);
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  mps_root_destroy(kept_root);
  free(kept);
  mps_chain_destroy(chain);
  stop();
}

static size_t slots_of(size_t bytes) {
  return bytes / sizeof(mps_word_t) - 1;
}

static void keep(node_t *p) {
  REQUIRE(kept_count < KEPT);
  kept[kept_count++] = p;
}

/* From here on there is no memory but what dead blocks leave in segments. */
static void run_short(void) {
  mps_ap_destroy(ap);
  collect();
  ap = make_ap(pool, mps_rank_exact());
  mps_arena_spare_set(arena, 0.0);
  ck_assert_int_eq(
      mps_arena_commit_limit_set(arena, mps_arena_committed(arena)),
      MPS_RES_OK);
}

/* Blocks of BYTES that can be made. */
static size_t count_made(size_t bytes) {
  size_t count = 0;

  while (try_make(ap, LEAF, slots_of(bytes)) != NULL)
    ++count;
  return count;
}

/* Blocks that have segments of their own where there is memory for these are
   found room in others where there is none. */
START_TEST(middling) {
  enum { SEGMENTS = 20, SMALL = 1024, MIDDLING = 40000 };
  size_t share = SEGMENT / SMALL;

  open_pool(_i);
  for (size_t i = 0; i < SEGMENTS * share; ++i) {
    node_t *p = make(ap, LEAF, slots_of(SMALL));
    if (i % share == 0)
      keep(p);
  }
  run_short();
  ck_assert_uint_ge(count_made(MIDDLING), SEGMENTS / 2);
  close_pool();
}
END_TEST

/* Segments whose runs are nearly long enough do not hide those whose are. */
START_TEST(few_of_many) {
  enum { SEGMENTS = 60, LIVE = 400, SHORT = 720, LONG = 880, WANTED = 800 };
  size_t size, longs = 0;

  open_pool(_i);
  while ((size = mps_pool_total_size(pool)) < (size_t)SEGMENTS * SEGMENT) {
    bool middle = size > (size_t)SEGMENTS * SEGMENT / 3 &&
                  size < (size_t)SEGMENTS * SEGMENT / 3 * 2;
    keep(make(ap, LEAF, slots_of(LIVE)));
    (void)make(ap, LEAF, slots_of(middle ? LONG : SHORT));
    longs += middle;
  }
  run_short();
  ck_assert_uint_ge(count_made(WANTED), longs);
  close_pool();
}
END_TEST

SUITE_LOOPS_MAIN("swept", 60, {middling, CLASSES}, {few_of_many, CLASSES})
