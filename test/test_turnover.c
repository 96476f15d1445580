/* Testudo: test of heaps whose old objects a word or two let go of
   (trace/full.h, .let_go). SPDX-License-Identifier: BSD-2-Clause */
#include "test/objects.h"
#include "test/suite.h"

enum {
  MIB = 1 << 20,
  LIVE = 32 * MIB, /* of a heap that may be taken to be built */
  NODE = 8 * WORD,
  FIRST = 0,       /* in a small root */
  LAST,
  WORDS
};

static mps_addr_t words[WORDS], holder;
static size_t added, taken, committed_most;

/* Word W of the queue: in the small root, or in an object. */
static mps_addr_t *queue(size_t w) {
  return holder == NULL ? &words[w] : obj_ref(holder, w);
}

static void add(void) {
  mps_addr_t node = obj_on(ap, OBJ_NODE, NODE / WORD - 1);
  *obj_ref(node, 1) = (mps_addr_t)(uintptr_t)(2 * added++ + 1);
  if (*queue(FIRST) == NULL)
    *queue(FIRST) = node;
  else
    *obj_ref(*queue(LAST), 0) = node;
  *queue(LAST) = node;
  if (mps_arena_committed(arena) > committed_most)
    committed_most = mps_arena_committed(arena);
}

static void take(void) {
  mps_addr_t node = *queue(FIRST);
  REQUIRE((uintptr_t)*obj_ref(node, 1) == 2 * taken++ + 1);
  *queue(FIRST) = *obj_ref(node, 0);
}

/* Memory of some five times what lives: it would be what lives and all that is
   turned over here, since no full collection came before. */
START_TEST(a_queue) {
  mps_root_t root, holder_root;
  heap_start(mps_class_amc());
  REQUIRE(mps_root_create_table(&root, arena, mps_rank_exact(), 0, words,
                                WORDS) == MPS_RES_OK);
  REQUIRE(mps_root_create_table(&holder_root, arena, mps_rank_exact(), 0,
                                &holder, 1) == MPS_RES_OK);
  if (_i == 1)
    holder = obj_on(ap, OBJ_NODE, WORDS);
  while (added < LIVE / NODE)
    add();
  for (size_t n = 10 * LIVE / NODE; n > 0; --n) {
    add();
    take();
  }
  ck_assert_uint_lt(committed_most, 9 * (size_t)LIVE);
  while (taken < added - 1)
    take();
  mps_root_destroy(holder_root);
  mps_root_destroy(root);
  heap_stop();
}
END_TEST

SUITE_LOOPS_MAIN("turnover", 60, {a_queue, 2})
