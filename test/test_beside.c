/* Testudo: tests of small generations that a client gave, beside much that
   each of their collections looks at.
   SPDX-License-Identifier: BSD-2-Clause */
#include "mpscamc.h"
#include "mpscams.h"
#include "test/nodes.h"
#include "test/suite.h"

enum { OLD = 2000, OLD_WORDS = 500, YOUNG_WORDS = 50, YOUNG = 150000 };

/* Collections while 60 MB are made in 8 MB of old blocks of CLS, each of which
   is written to all the time. */
static size_t collections_of(mps_pool_class_t cls) {
  bool moves = cls == mps_class_amc();
  size_t collections = 0;
  mps_chain_t chain;
  mps_pool_t pool;
  mps_ap_t ap;
  node_t *all;

  start();
  chain = make_chain(100);
  pool = make_pool(cls, moves ? moving_format : format, chain);
  ap = make_ap(pool, mps_rank_exact());
  mps_arena_release(arena);
  table[0] = make(ap, NODE, OLD);
  for (size_t i = 0; i < OLD; ++i) {
    node_t *p = make(ap, NODE, OLD_WORDS);
    table[0]->word[i] = p;
  }
  mps_message_type_enable(arena, mps_message_type_gc());
  for (size_t i = 0; i < YOUNG; ++i) {
    node_t *p = make(ap, NODE, YOUNG_WORDS);
    all = table[0]->word[i * 7 % OLD];
    all->word[i % OLD_WORDS] = i % 8 == 0 ? p : NULL;
    collections += collections_told();
  }
  mps_arena_park(arena);
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  mps_chain_destroy(chain);
  stop();
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

SUITE_LOOPS_MAIN("beside", 100, {few_collections, 2})
