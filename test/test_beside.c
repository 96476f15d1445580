/* Testudo: tests of small generations that a client gave: beside much that
   each of their collections looks at, and for what lives longer than that.
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/heap.h" /* first: its functions have names of ours */
#include "mpscamc.h"
#include "mpscams.h"
#include "test/nodes.h"
#include "test/suite.h"

enum { OLD = 2000, OLD_WORDS = 500, YOUNG_WORDS = 50, YOUNG = 150000 };

static mps_chain_t chain; /* its nursery has 100 kB */
static mps_pool_t pool;
static mps_ap_t ap;

static void begin(mps_pool_class_t cls) {
  start();
  chain = make_chain(100);
  pool = make_pool(cls, cls == mps_class_amc() ? moving_format : format, chain);
  ap = make_ap(pool, mps_rank_exact());
}

static void end(void) {
  mps_arena_park(arena);
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  mps_chain_destroy(chain);
  stop();
}

/* 8 MB of them. */
static void make_old(void) {
  table[0] = make(ap, NODE, OLD);
  for (size_t i = 0; i < OLD; ++i) {
    node_t *p = make(ap, NODE, OLD_WORDS);
    table[0]->word[i] = p;
  }
}

/* Collections while 60 MB are made in 8 MB of old blocks of CLS, each of which
   is written to all the time. */
static size_t collections_of(mps_pool_class_t cls) {
  size_t collections = 0;
  node_t *all;

  begin(cls);
  mps_arena_release(arena);
  make_old();
  mps_message_type_enable(arena, mps_message_type_gc());
  for (size_t i = 0; i < YOUNG; ++i) {
    node_t *p = make(ap, NODE, YOUNG_WORDS);
    all = table[0]->word[i * 7 % OLD];
    all->word[i % OLD_WORDS] = i % 8 == 0 ? p : NULL;
    collections += collections_told();
  }
  end();
  return collections;
}

/* Each would scan all that is old, for the 100 kB that the client gave. */
START_TEST(few_collections) {
  size_t collections =
      collections_of(_i == 0 ? mps_class_amc() : mps_class_ams());
  if (!suite_stressed())
    ck_assert_uint_lt(collections, 200);
}
END_TEST

/* Of a few large objects all survive 100 kB, and live for a while: that tells
   of no heap that is built, in which all that dies stays (2 GB here). Where it
   was taken for one, by chance, promotion waited for what time a pause has left
   while the nursery grew (to 60 MB, and all of it became old). */
START_TEST(large_for_a_while) {
  size_t most = 0;

  begin(mps_class_amc());
  random_start();
  mps_arena_release(arena);
  for (size_t i = 0; i < suite_size(8000, 100); ++i) {
    size_t words = (size_t)512 << random_below(8);
    table[random_below(TABLE)] = make(ap, NODE, words);
    chain->grown = 0; /* as where the program does much else */
    most = tdo_max(most, mps_arena_committed(arena));
  }
  if (!suite_stressed())
    ck_assert_uint_lt(most >> 20, 150);
  end();
}
END_TEST

/* What collecting takes too long for has more, all generations by the same
   factor, up to a part of the heap; and as much as was given, at least. */
START_TEST(takes_long) {
  static const double grown[] = {0, 1e6, 1e9, 5e4};

  begin(mps_class_amc());
  make_old();
  for (size_t i = 0; i < sizeof grown / sizeof grown[0]; ++i) {
    double nursery;
    collect();
    chain->dense = 0; /* all that was in them survived */
    chain->grown = grown[i];
    collect();
    nursery = chain->gens[0].capacity;
    ck_assert_double_eq_tol(chain->gens[1].capacity, 2 * nursery, 1);
    ck_assert_double_ge(nursery, 102400);
    if (!suite_stressed())
      ck_assert_double_eq_tol(nursery,
                              grown[i] > 1e8 ? 8 << 20
                                             : tdo_fmax(102400, grown[i]),
                              1 << 19);
  }
  end();
}
END_TEST

SUITE_LOOPS_MAIN("beside", 100, {few_collections, 2}, {large_for_a_while, 1},
                 {takes_long, 1})
