/* Testudo: tests of pools that mark and sweep, most of them of the debug
   variant as well (interface, section 4.3).
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/heap.h" /* first: its functions have names of ours */
#include "test/ams_pools.h"
#include "test/suite.h"

START_TEST(classes) {
  ck_assert_ptr_ne(mps_class_ams(), mps_class_ams_debug());
  ck_assert_ptr_eq(mps_class_ams(), mps_class_ams());
  ck_assert_ptr_eq(mps_class_ams_debug(), mps_class_ams_debug());
}
END_TEST

/* What is reachable stays, in place, with what it refers to; cycles die. */
START_TEST(live_and_dead) {
  node_t *a, *b;

  open_pools(_i);
  a = table[0] = make(exact, NODE, 3);
  b = a->word[0] = make(exact, NODE, 2);
  b->word[0] = a;
  b->word[1] = make(moving_ap, NODE, 1);
  b->word[1]->word[0] = make(exact, NODE, 4);
  a->word[1] = make(exact, NODE, 5); /* loses its reference below */
  a->word[1]->word[0] = make(exact, NODE, 6);
  a->word[1]->word[0]->word[0] = a->word[1];
  a->word[1] = NULL;
  collect();
  ck_assert_ptr_eq(table[0], a);
  ck_assert_ptr_eq(a->word[0], b);
  ck_assert_ptr_eq(b->word[0], a);
  ck_assert_uint_eq(node_words(b->word[1]->word[0]), 5);
  ck_assert_uint_eq(live_bytes(), (4 + 3 + 5) * sizeof(mps_word_t));
  table[0] = NULL;
  collect();
  ck_assert_uint_eq(live_bytes(), 0);
  close_pools();
}
END_TEST

/* A list in an unlucky order, long enough to overflow any stack. */
START_TEST(long_lists) {
  enum { LENGTH = 200000 };

  open_pools(_i);
  for (size_t i = 0; i < LENGTH; ++i) {
    node_t *p = make(exact, NODE, 1);
    p->word[0] = table[i % 2];
    table[i % 2] = p;
  }
  collect();
  ck_assert_uint_eq(live_bytes(), LENGTH * 2 * sizeof(mps_word_t));
  for (size_t i = 0; i < 2; ++i) {
    size_t n = 0;
    for (node_t *p = table[i]; p != NULL; p = p->word[0])
      ++n;
    ck_assert_uint_eq(n, LENGTH / 2);
  }
  close_pools();
}
END_TEST

/* Ambiguous references count if they equal the client pointer. */
START_TEST(ambiguous_references) {
  node_t *p[5];

  open_pools(_i);
  for (size_t i = 0; i < 5; ++i)
    p[i] = make(exact, NODE, 3);
  hints[0] = p[0];
  hints[1] = p[1]->word;
  hints[2] = (char *)p[2] + 1;
  hints[3] = (char *)p[3] - 1;
  hints[4] = (char *)mps_pool_total_size + 1;
  hints[5] = (char *)p[4] + 100000; /* unallocated */
  collect();
  ck_assert_uint_eq(live_bytes(), 4 * sizeof(mps_word_t));
  ck_assert_uint_eq(node_words(p[0]), 4);
  close_pools();
}
END_TEST

/* Objects that refer to each other, one of them ambiguously: they die, and
   while they live the ambiguous reference is followed by a pin. */
START_TEST(ambiguous_cycle) {
  enum { CYCLES = 200, KEPT = 50 };
  mps_ap_t ambig;
  node_t *objects[CYCLES];

  open_pools(_i);
  ambig = make_ap(pool, mps_rank_ambig());
  for (size_t i = 0; i < CYCLES; ++i) {
    node_t *p = make(ambig, NODE, 2);
    objects[i] = p->word[1] = make(moving_ap, NODE, i == 0 ? 20000 : 1 + i % 9);
    objects[i]->word[0] = p;
    table[i % KEPT] = i % 4 == 0 ? p : i % 4 == 1 ? objects[i] : NULL;
  }
  for (int round = 0; round < 3; ++round) {
    collect();
    for (size_t i = CYCLES - KEPT; i < CYCLES; ++i)
      if (table[i % KEPT] != NULL) {
        node_t *p = objects[i]->word[0]; /* it did not move */
        ck_assert_ptr_eq(p->word[1], objects[i]);
        ck_assert_ptr_eq(table[i % KEPT], i % 4 == 0 ? p : objects[i]);
      }
  }
  memset(table, 0, sizeof table);
  mps_ap_destroy(moving_ap); /* a pad may lie before where its buffer begins */
  moving_ap = make_ap(moving, mps_rank_exact());
  collect();
  ck_assert_uint_eq(live_bytes() - unused(ambig), 0);
  ck_assert_uint_eq(in_use(moving), unused(moving_ap));
  mps_ap_destroy(ambig);
  close_pools();
}
END_TEST

/* Positional arguments. */
START_TEST(positional) {
  static const mps_pool_debug_option_s options = {"POST", 4, "nothing here",
                                                  12};
  mps_pool_debug_option_s copy = options;
  mps_pool_t old;
  mps_ap_t ap;

  start();
  chain = make_chain(100);
  if (_i == 0)
    ck_assert_int_eq(mps_pool_create(&old, arena, mps_class_ams(), format,
                                     chain, (mps_bool_t)1),
                     MPS_RES_OK);
  else
    ck_assert_int_eq(mps_pool_create(&old, arena, mps_class_ams_debug(), &copy,
                                     format, chain, (mps_bool_t)1),
                     MPS_RES_OK);
  memset(&copy, 0, sizeof copy);
  ck_assert_int_eq(mps_ap_create(&ap, old, mps_rank_exact()), MPS_RES_OK);
  table[0] = make(ap, NODE, 1);
  (void)make(ap, NODE, 3);
  collect();
  ck_assert_uint_eq(in_use(old) - unused(ap), 2 * sizeof(mps_word_t));
  mps_arena_park(arena);
  mps_ap_destroy(ap);
  mps_pool_destroy(old);
  mps_chain_destroy(chain);
  stop();
}
END_TEST

/* A flip between reserve and commit: the block is void, and the next one
   works. References to what is reserved are not followed. */
START_TEST(commit_fails) {
  mps_addr_t p;
  size_t size = 3 * sizeof(mps_word_t);

  open_pools(_i);
  table[0] = make(exact, NODE, 2); /* or nothing would flip */
  for (size_t i = 0; i < 20; ++i) {
    ck_assert_int_eq(mps_reserve(&p, exact, size), MPS_RES_OK);
    memset(p, 0xEE, size);
    hints[0] = p;
    if (i % 2 == 0) {
      collect();
      ck_assert(!mps_commit(exact, p, size));
      continue;
    }
    memset(p, 0, size);
    ((node_t *)p)->head = HEAD(NODE, 3);
    ck_assert(mps_commit(exact, p, size));
    ((node_t *)p)->word[0] = table[0];
    table[0] = p;
  }
  hints[0] = NULL;
  collect();
  ck_assert_uint_eq(live_bytes(), 11 * size);
  close_pools();
}
END_TEST

/* Accounting, and memory going back. */
static mps_res_t walk_area(mps_ss_t ss, void *base, void *limit,
                           void *closure) {
  *(size_t *)closure += (size_t)((char *)limit - (char *)base);
  return nodes_scan(ss, base, limit);
}

START_TEST(accounting) {
  size_t live = 0, seen = 0, most;

  random_start();
  open_pools(_i);
  ck_assert_uint_eq(mps_pool_total_size(pool), 0);
  for (size_t i = 0; i < 20000; ++i) {
    size_t slots = random_below(20) + 1;
    node_t *p = make(exact, NODE, slots);
    if (i % 333 == 0) {
      table[i / 333] = p;
      live += node_words(p) * sizeof(mps_word_t);
    }
  }
  most = mps_pool_total_size(pool);
  collect();
  ck_assert_uint_eq(live_bytes(), live);
  mps_ap_destroy(exact);
  ck_assert_uint_eq(in_use(pool), live);
  exact = make_ap(pool, mps_rank_exact());
  for (size_t i = 0; i < 10000; ++i)
    (void)make(exact, NODE, random_below(20) + 1);
  ck_assert_uint_le(mps_pool_total_size(pool), most + (1 << 17));
  mps_arena_park(arena);
  ck_assert_int_eq(mps_pool_walk(pool, walk_area, &seen), MPS_RES_OK);
  ck_assert_uint_eq(seen, live_bytes());
  memset(table, 0, sizeof table);
  collect();
  ck_assert_uint_eq(live_bytes(), 0);
  ck_assert_uint_le(mps_pool_total_size(pool), 1 << 16);
  close_pools();
}
END_TEST

/* Generations: survivors stay in theirs; a minor collection of others leaves
   blocks alone, and follows what they refer to. */
START_TEST(generations) {
  mps_pool_t old;
  mps_ap_t ap;

  random_start();
  open_pools(_i);
  old = old_pool(class_of(_i), chain, 2);
  ap = make_ap(old, mps_rank_exact());
  for (size_t i = 0; i < TABLE; ++i)
    table[i] = make(ap, NODE, 500);
  mps_arena_release(arena);
  for (size_t i = 0; i < 40000; ++i) {
    node_t *p = make(i % 2 ? moving_ap : exact, NODE, 2 + i % 5);
    node_t *in = table[random_below(TABLE)];
    size_t slot = random_below(500);
    if (in->word[slot] != NULL)
      REQUIRE(node_kind(in->word[slot]) == NODE);
    p->word[0] = i % 10 ? NULL : in->word[slot];
    if (random_below(4) == 0)
      in->word[slot] = p;
    if (random_below(300) == 0)
      memset(in->word, 0, 500 * sizeof(mps_word_t));
  }
  ck_assert_uint_eq(in_use(old) - unused(ap),
                    TABLE * 501 * sizeof(mps_word_t));
  mps_arena_park(arena);
  mps_ap_destroy(ap);
  mps_pool_destroy(old);
  close_pools();
}
END_TEST

/* A graph against a model, while the collector works in slices. */
START_TEST(mutator) {
  enum { NODES = 5000, SLOTS = 12 };
  static unsigned number[NODES], linked[NODES][SLOTS];
  unsigned next = 1;
  mps_root_t graph_root;
  node_t **graph;

  random_start();
  open_pools(_i);
  mps_arena_pause_time_set(arena, 0.0);
  graph = make_root(&graph_root, NODES);
  memset(number, 0, sizeof number);
  memset(linked, 0, sizeof linked);
  mps_arena_release(arena);
  for (size_t step = 0; step < 200000; ++step) {
    size_t i = random_below(NODES), j = random_below(NODES);
    size_t slot = random_below(SLOTS);
    if (graph[i] == NULL || random_below(300) == 0) {
      graph[i] = make(random_below(2) ? exact : moving_ap, NODE, SLOTS + 1);
      number[i] = next++;
      memset(linked[i], 0, sizeof linked[i]);
      /* a leaf of its own carries the number */
      node_t *tag = make(random_below(2) ? exact : moving_ap, LEAF, 1);
      tag->word[0] = (node_t *)(uintptr_t)number[i];
      graph[i]->word[SLOTS] = tag;
    }
    if (linked[i][slot] != 0) {
      node_t *to = graph[i]->word[slot];
      REQUIRE((uintptr_t)to->word[SLOTS]->word[0] == linked[i][slot]);
    }
    if (graph[j] != NULL) {
      graph[i]->word[slot] = graph[j];
      linked[i][slot] = number[j];
    }
    if (step % 10000 == 0)
      mps_arena_start_collect(arena);
  }
  mps_root_destroy(graph_root);
  free(graph);
  close_pools();
}
END_TEST

START_TEST(finalization) {
  mps_message_t message;
  mps_addr_t ref[3];
  size_t count = 0;

  open_pools(_i);
  mps_message_type_enable(arena, mps_message_type_finalization());
  for (size_t i = 0; i < 3; ++i) {
    ref[i] = make(exact, NODE, 1);
    if (i > 0)
      ((node_t *)ref[i])->word[0] = ref[i - 1];
    ck_assert_int_eq(mps_finalize(arena, &ref[i]), MPS_RES_OK);
  }
  ((node_t *)ref[0])->word[0] = ref[2]; /* a cycle */
  table[0] = ref[1];
  collect();
  ck_assert(!mps_message_poll(arena));
  table[0] = NULL;
  collect();
  while (mps_message_get(&message, arena, mps_message_type_finalization())) {
    mps_addr_t got;
    mps_message_finalization_ref(&got, arena, message);
    ck_assert(got == ref[0] || got == ref[1] || got == ref[2]);
    ck_assert_uint_eq(node_words(got), 2);
    mps_message_discard(arena, message);
    ++count;
  }
  ck_assert_uint_eq(count, 3);
  collect();
  ck_assert_uint_eq(live_bytes(), 0);
  close_pools();
}
END_TEST

/* Objects in a buffer that a flip cannot take away, since something is
   reserved in it, refer to what a minor collection moves. */
START_TEST(held_buffers) {
  mps_chain_t young = NULL;
  mps_pool_t nursery;
  mps_ap_t ap;
  mps_addr_t reserved;
  mps_word_t begun;
  size_t size = 3 * sizeof(mps_word_t);

  open_pools(_i);
  young = make_chain(30);
  nursery = make_pool(mps_class_amc(), moving_format, young);
  ap = make_ap(nursery, mps_rank_exact());
  for (size_t round = 0; round < 20; ++round) {
    node_t *p = make(exact, NODE, 2);
    p->word[1] = table[1];
    table[1] = p;
    p->word[0] = make(ap, NODE, 1);
    p->word[0]->word[0] = p;
    ck_assert_int_eq(mps_reserve(&reserved, exact, size), MPS_RES_OK);
    mps_arena_release(arena);
    begun = mps_collections(arena);
    while (mps_collections(arena) == begun)
      (void)make(ap, NODE, 3);
    mps_arena_clamp(arena);
    for (p = table[1]; p != NULL; p = p->word[1])
      ck_assert_ptr_eq(p->word[0]->word[0], p);
    memset(reserved, 0, size);
    ((node_t *)reserved)->head = HEAD(NODE, 3);
    ck_assert(!mps_commit(exact, reserved, size));
  }
  ck_assert_uint_gt(mps_collections(arena), 0);
  collect();
  ck_assert_uint_eq(live_bytes(), 20 * size);
  mps_arena_park(arena);
  mps_ap_destroy(ap);
  mps_pool_destroy(nursery);
  mps_chain_destroy(young);
  close_pools();
}
END_TEST

/* A buffer in free memory at the beginning of a segment, which a flip cannot
   take away: the blocks behind it are collected with all else, since what is
   old is named by no summary. */
START_TEST(buffer_before_blocks) {
  enum { COUNT = TABLE / 2, GAP = 511 }; /* a page */
  mps_addr_t reserved;
  size_t size = (GAP + 1) * sizeof(mps_word_t);
  mps_chain_t large;
  mps_pool_t old;
  mps_ap_t ap;

  open_pools(_i);
  large = make_chain(4000); /* segments of many pages */
  old = old_pool(class_of(_i), large, 1); /* no nursery: pages get bars */
  ap = make_ap(old, mps_rank_exact());
  for (size_t i = 0; i < COUNT; ++i) {
    (void)make(ap, NODE, GAP);
    table[i] = make(ap, NODE, 1);
    ((node_t *)table[i])->word[0] = make(moving_ap, LEAF, 1 + i);
  }
  for (size_t i = 0; i < 10; ++i) /* until write bars have been granted */
    collect();
  for (size_t round = 0; round < COUNT; ++round) {
    ck_assert_int_eq(mps_reserve(&reserved, ap, size), MPS_RES_OK);
    collect();
    for (size_t i = 0; i < COUNT; ++i) {
      const node_t *leaf = ((node_t *)table[i])->word[0];
      ck_assert_uint_eq(leaf->head, HEAD(LEAF, 2 + i));
    }
    memset(reserved, 0, size);
    ((node_t *)reserved)->head = HEAD(NODE, GAP + 1);
    ck_assert(!mps_commit(ap, reserved, size));
    table[COUNT + round] = make(ap, NODE, GAP); /* take the room */
  }
  mps_arena_park(arena);
  mps_ap_destroy(ap);
  mps_pool_destroy(old);
  mps_chain_destroy(large);
  close_pools();
}
END_TEST

/* Destroying pools in the middle of a collection. */
START_TEST(destroyed_in_time) {
  mps_pool_t more;
  mps_ap_t ap;

  open_pools(_i);
  mps_arena_pause_time_set(arena, 0.0);
  for (size_t round = 0; round < 5; ++round) {
    more = make_pool(class_of(_i), format, round % 2 ? chain : NULL);
    ap = make_ap(more, mps_rank_exact());
    for (size_t i = 0; i < 20000; ++i) {
      node_t *p = make(i % 2 ? ap : exact, NODE, 1 + i % 9);
      p->word[0] = table[i % TABLE];
      table[i % TABLE] = i % 100 ? p : NULL;
    }
    mps_arena_release(arena);
    mps_arena_start_collect(arena);
    memset(table, 0, sizeof table);
    mps_ap_destroy(ap);
    mps_pool_destroy(more);
    mps_arena_clamp(arena);
  }
  close_pools();
}
END_TEST

/* What addresses are. */
START_TEST(queries) {
  mps_addr_t object;
  mps_pool_t in;
  mps_fmt_t fmt;
  node_t *p;

  open_pools(_i);
  p = make(exact, NODE, 3);
  ck_assert(mps_addr_pool(&in, arena, p));
  ck_assert_ptr_eq(in, pool);
  ck_assert(mps_addr_fmt(&fmt, arena, p->word));
  ck_assert_ptr_eq(fmt, format);
  ck_assert_int_eq(mps_addr_object(&object, arena, p), MPS_RES_UNIMPL);
  ck_assert(mps_arena_has_addr(arena, p));
  close_pools();
}
END_TEST

/* Objects that do not move can be replaced. */
START_TEST(transforms) {
  mps_transform_t transform;
  mps_addr_t old, new;
  mps_bool_t applied = 0;

  open_pools(_i);
  table[0] = make(exact, NODE, 2);
  table[1] = make(exact, NODE, 2);
  old = table[0]->word[0] = make(exact, NODE, 3);
  new = table[0]->word[1] = make(exact, NODE, 4);
  table[1]->word[0] = make(moving_ap, NODE, 1);
  table[1]->word[0]->word[0] = old;
  mps_arena_park(arena);
  ck_assert_int_eq(mps_transform_create(&transform, arena), MPS_RES_OK);
  ck_assert_int_eq(mps_transform_add_oldnew(transform, &old, &new, 1),
                   MPS_RES_OK);
  ck_assert_int_eq(mps_transform_apply(&applied, transform), MPS_RES_OK);
  mps_transform_destroy(transform);
  ck_assert(applied);
  ck_assert_ptr_eq(table[0]->word[0], new);
  ck_assert_ptr_eq(table[0]->word[1], new);
  ck_assert_ptr_eq(table[1]->word[0]->word[0], new);
  collect();
  ck_assert_uint_eq(live_bytes(), (3 + 3 + 5) * sizeof(mps_word_t));
  close_pools();
}
END_TEST

/* An exact reference to nothing is noticed. */
/* Where nothing else is made, and all stays in its generation, as much is made
   before the next collection as lives: each of them looks at all of it. */
START_TEST(few_collections) {
  enum { LIVE = 1000, WORDS = 1000, ROUNDS = 10 };
  size_t collections = 0;
  mps_pool_t p;
  mps_ap_t ap;
  node_t *all;

  start();
  p = make_pool(class_of(_i), format, NULL);
  ap = make_ap(p, mps_rank_exact());
  mps_arena_release(arena);
  all = table[0] = make(ap, NODE, LIVE);
  for (size_t i = 0; i < LIVE; ++i)
    all->word[i] = make(ap, NODE, WORDS);
  mps_message_type_enable(arena, mps_message_type_gc());
  for (size_t i = 0; i < ROUNDS * LIVE; ++i) {
    all->word[i * 7 % LIVE] = make(ap, NODE, WORDS);
    collections += collections_told();
  }
  if (!suite_stressed())
    ck_assert_uint_le(collections, ROUNDS);
  mps_arena_park(arena);
  mps_ap_destroy(ap);
  mps_pool_destroy(p);
  stop();
}
END_TEST

/* Its pages have no bars then; but as soon as something is made in the nursery,
   whose collections would scan them all. */
START_TEST(bars_again) {
  enum { LIVE = 1000, WORDS = 1000, YOUNG = 200000 };
  size_t begun;
  mps_pool_t p, young;
  mps_ap_t ap, young_ap;
  tdo_gen_t *gens;

  start();
  p = make_pool(class_of(_i), format, NULL);
  young = make_pool(mps_class_amc(), moving_format, NULL);
  ap = make_ap(p, mps_rank_exact());
  young_ap = make_ap(young, mps_rank_exact());
  gens = arena->default_chain->gens;
  mps_arena_pause_time_set(arena, 1e6); /* none takes all that time */
  mps_arena_release(arena);
  table[0] = make(ap, NODE, LIVE);
  for (size_t i = 0; i < 4 * LIVE; ++i) {
    node_t *one = make(ap, NODE, WORDS);
    table[0]->word[i % LIVE] = one;
  }
  if (!suite_stressed())
    ck_assert(gens[1].youngest);
  begun = arena->stats.collections;
  for (size_t i = 0; i < YOUNG; ++i)
    (void)make(young_ap, NODE, 20);
  if (!suite_varied()) {
    ck_assert_uint_ge(arena->stats.collections, begun + 4);
    ck_assert(!gens[1].youngest);
    ck_assert_uint_lt(arena->trace.scanned, 100000);
  }
  mps_arena_park(arena);
  mps_ap_destroy(young_ap);
  mps_ap_destroy(ap);
  mps_pool_destroy(young);
  mps_pool_destroy(p);
  stop();
}
END_TEST

START_TEST(dangling) {
  node_t *p;

  open_pools(_i);
  p = make(exact, NODE, 5);
  table[1] = make(exact, NODE, 1);
  collect();
  table[0] = p; /* dead by now */
  ASSERTED(collect());
  table[0] = NULL;
  close_pools();
}
END_TEST

/* Blocks whose sizes are no multiples of words. */
static mps_addr_t odd_skip(mps_addr_t p) {
  return (char *)p + *(uint32_t *)p;
}

static mps_res_t odd_scan(mps_ss_t ss, mps_addr_t base, mps_addr_t limit) {
  (void)ss, (void)base, (void)limit; /* they have no references */
  return MPS_RES_OK;
}

static void *odd_make(mps_ap_t ap, size_t size) {
  mps_addr_t p;

  do {
    REQUIRE(mps_reserve(&p, ap, size) == MPS_RES_OK);
    memset(p, 0, size);
    *(uint32_t *)p = (uint32_t)size;
  } while (!mps_commit(ap, p, size));
  return p;
}

/* The last page of a block is the last that is read for it, though the block
   does not end with a word. */
START_TEST(odd_end) {
  enum { PAGES = 400, FIRST = 12 };
  size_t page = suite_pages(1), alone = 0;
  mps_root_t root;
  mps_fmt_t odd_format;
  mps_pool_t odd;
  node_t **blocks;

  start();
  odd_format = make_plain_format(odd_scan, odd_skip, sizeof(uint32_t));
  odd = make_pool(class_of(_i), odd_format, NULL);
  blocks = make_root(&root, PAGES);
  for (size_t i = 0; i < PAGES; ++i) { /* a page of two blocks */
    mps_ap_t ap = make_ap(odd, mps_rank_exact());
    (void)odd_make(ap, FIRST);
    blocks[i] = odd_make(ap, page - FIRST);
    mps_ap_destroy(ap);
  }
  for (size_t i = 1; i < PAGES; i += 2)
    blocks[i] = NULL;
  mps_arena_spare_set(arena, 0.0);
  collect();
  for (size_t i = 0; i < PAGES; i += 2)
    alone += !mps_arena_has_addr(arena, (char *)blocks[i] + page - FIRST);
  ck_assert_uint_gt(alone, PAGES / 4);
  collect();
  ck_assert_uint_eq(in_use(odd), PAGES / 2 * (page - FIRST));
  mps_root_destroy(root);
  free(blocks);
  mps_arena_park(arena);
  mps_pool_destroy(odd);
  mps_fmt_destroy(odd_format);
  stop();
}
END_TEST

/* How many of NEW blocks come to lie in holes of one block each, where one
   block of EACH died. */
static size_t in_holes(size_t each, size_t new) {
  enum { BLOCKS = 6000, WORDS = 7 };
  static mps_word_t holes[BLOCKS]; /* in no root */
  size_t count = 0, found = 0;

  open_pools(0);
  for (size_t i = 0; i < BLOCKS; ++i) {
    node_t *p = make(exact, NODE, WORDS);
    p->word[0] = table[0];
    if (i % each == each / 2) {
      holes[count++] = (mps_word_t)p;
      table[1] = p; /* until the next one */
    } else {
      table[0] = p;
    }
  }
  table[1] = NULL;
  collect();
  for (size_t i = 0; i < new; ++i) {
    table[1] = make(exact, NODE, WORDS);
    for (size_t k = 0; k < count; ++k)
      found += holes[k] == (mps_word_t)table[1];
  }
  close_pools();
  return found;
}

/* Holes of one block are filled when they are much of the pool: each makes the
   point ask for memory. */
START_TEST(short_holes) {
  ck_assert_uint_eq(in_holes(20, 100), 0);
  ck_assert_uint_gt(in_holes(4, 1200), 600);
}
END_TEST

/* The check functions do nothing on ordinary pools. */
START_TEST(no_checks) {
  open_pools(0);
  (void)make(exact, NODE, 1);
  mps_pool_check_free_space(pool);
  mps_pool_check_fenceposts(pool);
  close_pools();
}
END_TEST

int main(void) {
  static const TTest *const *const tests[] = {
      &live_and_dead,        &long_lists,      &ambiguous_references,
      &ambiguous_cycle,      &positional,      &commit_fails,
      &accounting,           &generations,     &mutator,
      &finalization,         &dangling,        &held_buffers,
      &queries,              &transforms,      &destroyed_in_time,
      &buffer_before_blocks, &odd_end,         &few_collections,
      &bars_again};
  Suite *suite = suite_create("ams");
  TCase *tcase = tcase_create("ams");

  tcase_set_timeout(tcase, 100);
  tcase_add_test(tcase, classes);
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; ++i)
    tcase_add_loop_test(tcase, *tests[i], 0, 2);
  tcase_add_test(tcase, short_holes);
  tcase_add_test(tcase, no_checks);
  suite_add_tcase(suite, tcase);
  return suite_run(suite);
}
