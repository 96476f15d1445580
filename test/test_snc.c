/* Testudo: tests of pools that are stacks (interface, section 4.6).
   SPDX-License-Identifier: BSD-2-Clause */
#include "mpscamc.h"
#include "mpscsnc.h"
#include "test/nodes.h"
#include "test/suite.h"

static mps_pool_t pool, moving;
static mps_ap_t stack, other, moving_ap;
static mps_chain_t chain;

static void open_pools(void) {
  start();
  chain = make_chain(100);
  ck_assert_int_eq(mps_pool_create(&pool, arena, mps_class_snc(), format),
                   MPS_RES_OK);
  moving = make_pool(mps_class_amc(), moving_format, chain);
  ck_assert_int_eq(mps_ap_create(&stack, pool, mps_rank_exact()), MPS_RES_OK);
  other = make_ap(pool, mps_rank_exact());
  moving_ap = make_ap(moving, mps_rank_exact());
}

static void close_pools(void) {
  mps_arena_park(arena);
  mps_ap_destroy(moving_ap);
  mps_ap_destroy(other);
  mps_ap_destroy(stack);
  mps_pool_destroy(moving);
  mps_pool_destroy(pool);
  mps_chain_destroy(chain);
  stop();
}

static size_t live_bytes(void) {
  return in_use(pool) - unused(stack) - unused(other);
}

static mps_frame_t push(mps_ap_t ap) {
  mps_frame_t frame;

  REQUIRE(mps_ap_frame_push(&frame, ap) == MPS_RES_OK);
  return frame;
}

static void pop(mps_ap_t ap, mps_frame_t frame) {
  REQUIRE(mps_ap_frame_pop(ap, frame) == MPS_RES_OK);
}

static mps_res_t walk_area(mps_ss_t ss, void *base, void *limit,
                           void *closure) {
  (void)ss;
  for (char *p = base; p < (char *)limit; p = nodes_skip(p))
    if (node_kind((node_t *)(void *)p) != PAD)
      *(size_t *)closure += (size_t)((char *)nodes_skip(p) - p);
  return MPS_RES_OK;
}

static void walk_object(mps_addr_t object, mps_fmt_t fmt, mps_pool_t in,
                        void *p, size_t s) {
  (void)fmt, (void)s;
  if (in == pool && node_kind(object) != PAD)
    *(size_t *)p += (size_t)((char *)nodes_skip(object) - (char *)object);
}

/* Bytes of the objects that both walks visit. */
static size_t walked(void) {
  size_t area = 0, objects = 0;

  mps_arena_park(arena);
  ck_assert_int_eq(mps_pool_walk(pool, walk_area, &area), MPS_RES_OK);
  mps_arena_formatted_objects_walk(arena, walk_object, &objects, 0);
  ck_assert_uint_eq(area, objects);
  mps_arena_release(arena);
  mps_arena_clamp(arena);
  return area;
}

/* Blocks keep what they refer to, and follow it; they are kept by nothing but
   their frame. */
START_TEST(roots) {
  node_t *p, *q;
  mps_frame_t frame;

  open_pools();
  ck_assert_ptr_eq(mps_class_snc(), mps_class_snc());
  p = make(stack, NODE, 2);
  p->word[0] = make(moving_ap, NODE, 1);
  frame = push(stack);
  q = make(stack, NODE, 2);
  q->word[0] = table[0] = make(moving_ap, NODE, 1);
  q->word[1] = p->word[0];
  p->word[0]->word[0] = make(moving_ap, LEAF, 1);
  collect();
  ck_assert_ptr_eq(q->word[0], table[0]);
  ck_assert_ptr_eq(q->word[1], p->word[0]);
  ck_assert_int_eq((int)node_kind(p->word[0]->word[0]), LEAF);
  ck_assert_uint_eq(live_bytes(), 6 * sizeof(mps_word_t));
  ck_assert_uint_eq(walked(), live_bytes());
  mps_message_type_enable(arena, mps_message_type_finalization());
  ck_assert_int_eq(mps_finalize(arena, (mps_addr_t *)&table[0]), MPS_RES_OK);
  table[0] = NULL;
  collect();
  ck_assert(!mps_message_poll(arena));
  pop(stack, frame);
  collect();
  ck_assert(mps_message_poll(arena));
  ck_assert_uint_eq(live_bytes(), 3 * sizeof(mps_word_t));
  ck_assert_uint_eq(walked(), live_bytes());
  ck_assert_int_eq((int)node_kind(p->word[0]->word[0]), LEAF);
  ck_assert_ptr_eq(make(stack, NODE, 1), q); /* the same place */
  close_pools();
}
END_TEST

/* Popping several frames, over many buffers; the memory stays and is used
   again. */
START_TEST(many_buffers) {
  mps_frame_t outer, inner;
  size_t total;
  node_t *first;

  open_pools();
  first = make(stack, LEAF, 5);
  outer = push(stack);
  for (size_t i = 0; i < 2000; ++i)
    (void)make(stack, NODE, 1 + i % 9);
  inner = push(stack);
  (void)push(stack);
  for (size_t i = 0; i < 20000; ++i)
    (void)make(stack, NODE, 1 + i % 9);
  (void)make(stack, NODE, 40000);
  total = mps_pool_total_size(pool);
  ck_assert_uint_eq(walked(), live_bytes());
  pop(stack, inner);
  ck_assert_uint_eq(walked(), live_bytes());
  ck_assert_uint_eq(mps_pool_total_size(pool), total);
  pop(stack, outer);
  ck_assert_uint_eq(live_bytes(), 6 * sizeof(mps_word_t));
  ck_assert_uint_eq(walked(), live_bytes());
  ck_assert_uint_eq(mps_pool_total_size(pool), total);
  for (size_t i = 0; i < 12000; ++i)
    (void)make(i % 2 ? stack : other, NODE, 1 + i % 9);
  ck_assert_uint_eq(mps_pool_total_size(pool), total);
  ck_assert_uint_eq(node_words(first), 6);
  close_pools();
}
END_TEST

/* Frames of points do not depend on each other. Frames that are no more are
   refused. */
START_TEST(frames) {
  mps_frame_t a, b, c;
  mps_addr_t p;
  node_t *kept;

  open_pools();
  a = push(stack); /* of an empty stack */
  b = push(other);
  kept = make(other, LEAF, 2);
  c = push(other);
  pop(other, c);
  ASSERTED(ck_assert_int_ne(mps_ap_frame_pop(other, c), MPS_RES_OK));
  (void)make(stack, LEAF, 3);
  c = push(stack);
  (void)make(stack, LEAF, 4);
  pop(stack, a);
  ck_assert_uint_eq(live_bytes(), 3 * sizeof(mps_word_t));
  ASSERTED(ck_assert_int_ne(mps_ap_frame_pop(stack, c), MPS_RES_OK));
  ASSERTED(ck_assert_int_ne(mps_ap_frame_pop(stack, a), MPS_RES_OK));
  ck_assert_uint_eq(node_words(kept), 3);
  ck_assert_int_eq(mps_reserve(&p, stack, 16), MPS_RES_OK);
  ck_assert_int_eq(mps_ap_frame_push(&c, stack), MPS_RES_FAIL);
  ck_assert_int_eq(mps_ap_frame_pop(stack, a), MPS_RES_FAIL);
  ((node_t *)p)->head = HEAD(LEAF, 2);
  ck_assert(mps_commit(stack, p, 16));
  pop(other, b);
  ck_assert_uint_eq(live_bytes(), 2 * sizeof(mps_word_t));
  close_pools();
}
END_TEST

/* The blocks of a point die with it, and others use the memory. */
START_TEST(points_end) {
  mps_ap_t ap;
  size_t total;

  open_pools();
  ap = make_ap(pool, mps_rank_exact());
  for (size_t i = 0; i < 10000; ++i)
    make(ap, NODE, 3)->word[0] = NULL;
  (void)push(ap);
  total = mps_pool_total_size(pool);
  mps_ap_destroy(ap);
  ck_assert_uint_eq(live_bytes(), 0);
  ck_assert_uint_eq(walked(), 0);
  ck_assert_uint_eq(mps_pool_free_size(pool), total);
  for (size_t i = 0; i < 9000; ++i)
    (void)make(stack, NODE, 3);
  ck_assert_uint_eq(mps_pool_total_size(pool), total);
  close_pools();
}
END_TEST

/* A flip between reserve and commit makes the commit fail. */
START_TEST(commit_fails) {
  mps_addr_t p;
  node_t *before;

  open_pools();
  before = make(stack, NODE, 1);
  table[0] = make(moving_ap, NODE, 1);
  ck_assert_int_eq(mps_reserve(&p, stack, 16), MPS_RES_OK);
  ((node_t *)p)->head = HEAD(NODE, 2);
  ((node_t *)p)->word[0] = table[0];
  collect();
  ck_assert(!mps_commit(stack, p, 16));
  ck_assert_uint_eq(walked(), 2 * sizeof(mps_word_t));
  before->word[0] = make(stack, NODE, 1);
  ck_assert_uint_eq(walked(), 4 * sizeof(mps_word_t));
  collect();
  ck_assert_uint_eq(live_bytes(), 4 * sizeof(mps_word_t));
  close_pools();
}
END_TEST

/* Ranks, manual allocation, finalization: not here. */
START_TEST(misuse) {
  mps_ap_t ap;
  mps_addr_t p;

  open_pools();
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_RANK, mps_rank_weak());
    ck_assert_int_eq(mps_ap_create_k(&ap, pool, args), MPS_RES_PARAM);
  }
  MPS_ARGS_END(args);
  ASSERTED((void)mps_alloc(&p, pool, 16));
  p = make(stack, NODE, 1);
  ASSERTED(mps_free(pool, p, 16));
  ASSERTED((void)mps_finalize(arena, &p));
  ck_assert_int_eq(mps_ap_alloc_pattern_begin(stack, mps_alloc_pattern_ramp()),
                   MPS_RES_OK);
  close_pools();
}
END_TEST

static unsigned failing; /* scans that are going to fail */

static mps_res_t scan_badly(mps_ss_t ss, mps_addr_t base, mps_addr_t limit) {
  if (failing == 0)
    return nodes_scan(ss, base, limit);
  --failing;
  return MPS_RES_FAIL;
}

/* A scan method that fails is reported, and keeps no other from being
   scanned. */
START_TEST(scan_fails) {
  mps_fmt_t bad_format;
  mps_pool_t bad;
  mps_ap_t points[2];
  node_t *p[2];

  open_pools();
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SCAN, scan_badly);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, nodes_skip);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_PAD, nodes_pad);
    ck_assert_int_eq(mps_fmt_create_k(&bad_format, arena, args), MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  ck_assert_int_eq(mps_pool_create(&bad, arena, mps_class_snc(), bad_format),
                   MPS_RES_OK);
  for (int i = 0; i < 2; ++i) {
    points[i] = make_ap(bad, mps_rank_exact());
    p[i] = make(points[i], NODE, 1);
    p[i]->word[0] = make(moving_ap, NODE, 3 + (size_t)i);
  }
  failing = 1;
  ASSERTED((void)mps_arena_collect(arena));
  ck_assert_uint_eq(failing, 0);
  ck_assert(node_words(p[0]->word[0]) == 4 || node_words(p[1]->word[0]) == 5);
  for (int i = 0; i < 2; ++i)
    mps_ap_destroy(points[i]);
  mps_pool_destroy(bad);
  mps_fmt_destroy(bad_format);
  close_pools();
}
END_TEST

/* A stack machine on top of a moving heap, with collections in progress. */
START_TEST(machine) {
  enum { DEPTH = 60 };
  mps_frame_t frame[DEPTH];
  node_t *top[DEPTH];
  size_t depth = 0;

  random_start();
  open_pools();
  mps_arena_pause_time_set(arena, 0.0);
  mps_arena_release(arena);
  for (size_t step = 0; step < 30000; ++step) {
    if (depth < DEPTH && random_below(5) < 3) {
      frame[depth] = push(stack);
      top[depth] = make(stack, NODE, 3);
      top[depth]->word[0] = depth > 0 ? top[depth - 1] : NULL;
      top[depth]->word[1] = make(moving_ap, NODE, 2);
      top[depth]->word[1]->word[0] =
          depth > 0 ? top[depth - 1]->word[1] : NULL;
      ++depth;
    } else if (depth > 0) {
      size_t to = depth - 1 - random_below(random_below(depth) + 1);
      for (size_t i = 0; i < depth; ++i)
        REQUIRE(top[i]->word[1]->word[0] ==
                (i > 0 ? top[i - 1]->word[1] : NULL));
      pop(stack, frame[to]);
      depth = to;
    }
    if (step % 2500 == 0)
      mps_arena_start_collect(arena);
  }
  close_pools();
}
END_TEST

/* Segments that frames gave back serve again what fits into them; a larger
   block gets a new one. A frame that begins at a segment's end can be popped,
   too, and then another one begins there. */
START_TEST(spare_segments) {
  node_t *kept, *full;
  mps_frame_t frame;
  size_t before, slots = 3000;

  open_pools();
  kept = make(stack, NODE, 2);
  frame = push(stack);
  for (size_t i = 0; i < 4; ++i)
    (void)make(stack, NODE, slots);
  before = mps_pool_total_size(pool);
  pop(stack, frame);
  ck_assert_uint_eq(live_bytes(), 3 * sizeof(mps_word_t));
  frame = push(stack);
  for (size_t i = 0; i < 4; ++i)
    (void)make(stack, NODE, slots);
  ck_assert_uint_eq(mps_pool_total_size(pool), before);
  pop(stack, frame);
  full = make(stack, NODE, 1000000);
  ck_assert_uint_gt(mps_pool_total_size(pool), before);
  full->word[999999] = table[0] = make(moving_ap, NODE, 1);
  collect();
  ck_assert_ptr_eq(full->word[999999], table[0]);
  (void)make(stack, NODE, 1); /* from now on, unused() is right again */
  while (unused(stack) > 3 * sizeof(mps_word_t))
    (void)make(stack, NODE,
               unused(stack) / sizeof(mps_word_t) > 1000 ? 500 : 1);
  if (unused(stack) > 0)
    (void)make(stack, NODE, unused(stack) / sizeof(mps_word_t) - 1);
  ck_assert_uint_eq(unused(stack), 0);
  frame = push(stack);
  before = live_bytes();
  for (size_t i = 0; i < 2; ++i) {
    (void)make(stack, NODE, 10);
    pop(stack, frame);
    ck_assert_uint_eq(live_bytes(), before);
    frame = push(stack);
  }
  ck_assert_uint_eq(node_slots(kept), 2);
  ck_assert_uint_eq(walked(), live_bytes());
  close_pools();
}
END_TEST

/* Where memory is short, one that fits is found behind any number of others of
   about its size that do not. */
START_TEST(spare_behind_others) {
  enum { POINTS = 40, LARGE = 2500, SMALL = 2000 }; /* words */
  mps_ap_t points[POINTS];
  size_t total;

  open_pools();
  for (int i = 0; i < POINTS; ++i) {
    points[i] = make_ap(pool, mps_rank_exact());
    (void)make(points[i], NODE, i == 0 ? LARGE : SMALL);
  }
  for (int i = 0; i < POINTS; ++i)
    mps_ap_destroy(points[i]);
  total = mps_pool_total_size(pool);
  mps_arena_spare_set(arena, 0);
  ck_assert_int_eq(
      mps_arena_commit_limit_set(arena, mps_arena_committed(arena)),
      MPS_RES_OK);
  (void)make(other, NODE, LARGE);
  ck_assert_uint_eq(mps_pool_total_size(pool), total);
  ck_assert_int_eq(mps_arena_commit_limit_set(arena, SIZE_MAX), MPS_RES_OK);
  close_pools();
}
END_TEST

/* After a block was refused, others go where it would have been. */
START_TEST(refused) {
  mps_frame_t frame;
  mps_addr_t p;
  node_t *first, *second;

  open_pools();
  first = make(stack, NODE, 1);
  mps_arena_spare_set(arena, 0);
  ck_assert_int_eq(
      mps_arena_commit_limit_set(arena, mps_arena_committed(arena)),
      MPS_RES_OK);
  ck_assert_int_ne(mps_reserve(&p, stack, (size_t)1 << 26), MPS_RES_OK);
  ck_assert_int_eq(mps_arena_commit_limit_set(arena, SIZE_MAX), MPS_RES_OK);
  frame = push(stack);
  second = make(stack, NODE, 1);
  ck_assert_ptr_eq(second, nodes_skip(first));
  pop(stack, frame);
  ck_assert_ptr_eq(make(stack, NODE, 1), second);
  close_pools();
}
END_TEST

SUITE_MAIN("snc", 60, roots, many_buffers, frames, points_end, commit_fails,
           misuse, scan_fails, machine, spare_segments, spare_behind_others,
           refused)
