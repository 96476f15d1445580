/* Testudo: tests of the heap checker: it says nothing about a heap as it should
   be, and finds what is wrong. SPDX-License-Identifier: BSD-2-Clause */
#include "trace/heap.h" /* first: its functions have names of ours */
#include "mpscamc.h"
#include "mpscams.h"
#include "mpscmvff.h"
#include "test/nodes.h"
#include "test/suite.h"

static mps_pool_t moving, fixed;
static mps_ap_t moving_ap, fixed_ap;

static void open_pools(void) {
  start();
  moving = make_pool(mps_class_amc(), moving_format, NULL);
  fixed = make_pool(mps_class_ams(), format, NULL);
  moving_ap = make_ap(moving, mps_rank_exact());
  fixed_ap = make_ap(fixed, mps_rank_exact());
}

static void close_pools(void) {
  mps_arena_park(arena);
  ASSERTED_NEVER(tdo_arena_check(arena));
  mps_ap_destroy(fixed_ap);
  mps_ap_destroy(moving_ap);
  mps_pool_destroy(fixed);
  mps_pool_destroy(moving);
  stop();
}

/* An address of the arena's that nothing uses. */
static node_t *nowhere(void) {
  mps_pool_t pool;
  mps_addr_t p;

  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_SPARE, 0.0);
    ck_assert_int_eq(mps_pool_create_k(&pool, arena, mps_class_mvff(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  ck_assert_int_eq(mps_alloc(&p, pool, suite_pages(4)), MPS_RES_OK);
  mps_pool_destroy(pool);
  ck_assert(!mps_addr_pool(&pool, arena, p));
  return p;
}

/* Objects in both pools that refer to each other. */
static void build(void) {
  for (size_t i = 0; i < TABLE; ++i) {
    table[i] = make(i % 2 == 0 ? moving_ap : fixed_ap, NODE, 2 + i % 7);
    table[i]->word[0] = i > 0 ? table[i - 1] : NULL;
    table[i]->word[1] = table[i];
  }
  ASSERTED_NEVER(tdo_arena_check(arena));
  collect();
  ASSERTED_NEVER(tdo_arena_check(arena));
}

/* *SLOT holds VALUE while all is checked. */
static void wrong_reference(node_t **slot, node_t *value) {
  node_t *was = *slot;

  *slot = value;
  ASSERTED(tdo_arena_check(arena));
  *slot = was;
  ASSERTED_NEVER(tdo_arena_check(arena));
}

START_TEST(references) {
  node_t *last, *away;

  open_pools();
  build();
  away = nowhere();
  wrong_reference(&table[0]->word[0], away);
  wrong_reference(&table[1]->word[1], away);
  last = make(moving_ap, NODE, 3); /* and nothing behind it */
  table[0]->word[0] = last;
  wrong_reference(&table[0]->word[0], (node_t *)&last->word[3]);
  close_pools();
}
END_TEST

/* Only what must be a reference is one. */
START_TEST(roots) {
  node_t *away;

  open_pools();
  build();
  away = nowhere();
  wrong_reference(&table[2], away);
  hints[0] = away;
  ASSERTED_NEVER(tdo_arena_check(arena));
  close_pools();
}
END_TEST

/* An object reaches beyond those that are there. */
START_TEST(sizes) {
  node_t *last;

  open_pools();
  build();
  for (int i = 0; i < 2; ++i) {
    last = make(i == 0 ? moving_ap : fixed_ap, NODE, 3);
    last->head = HEAD(NODE, 5);
    ASSERTED(tdo_arena_check(arena));
    last->head = HEAD(NODE, 4);
    ASSERTED_NEVER(tdo_arena_check(arena));
  }
  close_pools();
}
END_TEST

/* A page counts as clean that refers to what its summary does not name, or
   that has no bar. */
START_TEST(summaries) {
  uint8_t was, *summary;
  node_t *p;

  open_pools();
  build();
  ck_assert(arena->shielded);
  p = table[0]; /* or another, if that lies on two pages */
  if (tdo_heap_page(arena, (char *)p) !=
      tdo_heap_page(arena, (char *)&p->word[node_slots(p) - 1]))
    p = table[2];
  summary = &arena->summary.page[tdo_heap_page(arena, (char *)p)];
  was = *summary;
  *summary = 0;
  ASSERTED(tdo_arena_check(arena));
  *summary = was;
  close_pools();
}
END_TEST

SUITE_MAIN("sanity", 60, references, roots, sizes, summaries)
