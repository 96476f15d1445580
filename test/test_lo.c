/* Testudo: tests of pools of leaf objects (interface, section 4.4).
   SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#include "mpscamc.h"
#include "mpsclo.h"
#include "test/nodes.h"
#include "test/suite.h"

static mps_pool_t pool, moving;
static mps_ap_t leaf, other, moving_ap;
static mps_chain_t chain;
static mps_fmt_t leaf_format;

static void open_pools(void) {
  start();
  chain = make_chain(100);
  leaf_format = make_format(never_scan, sizeof(mps_word_t), false);
  pool = make_pool(mps_class_lo(), leaf_format, chain);
  moving = make_pool(mps_class_amc(), moving_format, chain);
  leaf = make_ap(pool, mps_rank_exact());
  other = make_ap(pool, mps_rank_exact());
  moving_ap = make_ap(moving, mps_rank_exact());
}

static void close_pools(void) {
  mps_arena_park(arena);
  mps_ap_destroy(moving_ap);
  mps_ap_destroy(other);
  mps_ap_destroy(leaf);
  mps_pool_destroy(moving);
  mps_pool_destroy(pool);
  mps_fmt_destroy(leaf_format);
  mps_chain_destroy(chain);
  stop();
}

static size_t live_bytes(void) {
  return in_use(pool) - unused(leaf) - unused(other);
}

START_TEST(live_and_dead) {
  node_t *p[6];

  open_pools();
  ck_assert_ptr_eq(mps_class_lo(), mps_class_lo());
  for (size_t i = 0; i < 6; ++i) {
    p[i] = make(leaf, LEAF, 3);
    p[i]->word[0] = (node_t *)(uintptr_t)(i + 1000);
  }
  table[0] = p[0];             /* exact */
  hints[0] = p[1];             /* ambiguous */
  hints[1] = (char *)p[2] + 8; /* not the client pointer */
  hints[2] = (char *)p[3] + 1;
  table[1] = make(moving_ap, NODE, 1); /* from another pool */
  table[1]->word[0] = p[4];
  p[0]->word[1] = p[5]; /* leaves keep nothing */
  collect();
  ck_assert_uint_eq(live_bytes(), 3 * 4 * sizeof(mps_word_t));
  ck_assert_ptr_eq(table[0], p[0]);
  ck_assert_ptr_eq(table[1]->word[0], p[4]);
  ck_assert_uint_eq((uintptr_t)p[1]->word[0], 1001);
  ck_assert_uint_eq((uintptr_t)p[4]->word[0], 1004);
  memset(table, 0, sizeof table);
  memset(hints, 0, sizeof hints);
  collect();
  ck_assert_uint_eq(live_bytes(), 0);
  close_pools();
}
END_TEST

/* The format needs nothing but skip. */
START_TEST(skip_only) {
  mps_fmt_t fmt;
  mps_pool_t bare;
  mps_ap_t ap;

  start();
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, nodes_skip);
    ck_assert_int_eq(mps_fmt_create_k(&fmt, arena, args), MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  ck_assert_int_eq(mps_pool_create(&bare, arena, mps_class_lo(), fmt),
                   MPS_RES_OK);
  ck_assert_int_eq(mps_ap_create(&ap, bare, mps_rank_exact()), MPS_RES_OK);
  for (size_t i = 0; i < 1000; ++i)
    table[i % TABLE] = make(ap, LEAF, 1 + 2 * (i % 5));
  collect();
  for (size_t i = 0; i < TABLE; ++i)
    ck_assert_int_eq((int)node_kind(table[i]), LEAF);
  mps_arena_park(arena);
  mps_ap_destroy(ap);
  mps_pool_destroy(bare);
  mps_fmt_destroy(fmt);
  stop();
}
END_TEST

/* Bad keys. */
START_TEST(keys) {
  mps_pool_t bad;
  mps_res_t res;

  open_pools();
  ASSERTED(MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, leaf_format);
    MPS_ARGS_ADD(args, MPS_KEY_CHAIN, chain);
    MPS_ARGS_ADD(args, MPS_KEY_GEN, 3);
    res = mps_pool_create_k(&bad, arena, mps_class_lo(), args);
    ck_assert_int_ne(res, MPS_RES_OK);
  } MPS_ARGS_END(args));
  for (unsigned gen = 0; gen <= 2; ++gen) { /* the last means the top */
    mps_ap_t ap;
    MPS_ARGS_BEGIN(args) {
      MPS_ARGS_ADD(args, MPS_KEY_FORMAT, leaf_format);
      MPS_ARGS_ADD(args, MPS_KEY_CHAIN, chain);
      MPS_ARGS_ADD(args, MPS_KEY_GEN, gen);
      res = mps_pool_create_k(&bad, arena, mps_class_lo(), args);
      ck_assert_int_eq(res, MPS_RES_OK);
      ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
    }
    MPS_ARGS_END(args);
    ap = make_ap(bad, mps_rank_exact());
    table[0] = make(ap, LEAF, 1);
    (void)make(ap, LEAF, 1);
    collect();
    ck_assert_uint_eq(in_use(bad) - unused(ap), 2 * sizeof(mps_word_t));
    table[0] = NULL;
    mps_arena_park(arena);
    mps_ap_destroy(ap);
    mps_pool_destroy(bad);
  }
  close_pools();
}
END_TEST

/* Manual allocation is not supported. */
START_TEST(no_manual) {
  mps_addr_t p;

  open_pools();
  ASSERTED((void)mps_alloc(&p, pool, 16));
  ASSERTED(mps_free(pool, &p, 16));
  close_pools();
}
END_TEST

/* A flip between reserve and commit does not matter. */
START_TEST(commit_never_fails) {
  mps_addr_t p;
  size_t size = 4 * sizeof(mps_word_t);

  open_pools();
  for (size_t i = 0; i < 200; ++i) {
    ck_assert_int_eq(mps_reserve(&p, leaf, size), MPS_RES_OK);
    memset(p, 0, size);
    ((node_t *)p)->head = HEAD(LEAF, 4);
    ((node_t *)p)->word[2] = (node_t *)(uintptr_t)i;
    if (i % 3 != 0)
      collect();
    ck_assert(mps_commit(leaf, p, size));
    table[i % 10] = p;
    if (i % 4 == 0)
      collect();
    ck_assert_ptr_eq(((node_t *)p)->word[2], (void *)(uintptr_t)i);
    ck_assert_uint_le(live_bytes(), 13 * size);
  }
  collect();
  ck_assert_uint_eq(live_bytes(), 10 * size);
  close_pools();
}
END_TEST

/* Large blocks, also uncommitted and dead ones with their point attached. */
START_TEST(large_blocks) {
  size_t words = ((size_t)3 << 20) / sizeof(mps_word_t) + 1;
  size_t size = words * sizeof(mps_word_t);
  mps_addr_t p;

  open_pools();
  table[0] = make(leaf, LEAF, words - 1);
  memset(table[0]->word, 0x55, size - sizeof(mps_word_t));
  collect();
  ck_assert_uint_eq(live_bytes(), size);
  table[0] = NULL;
  collect();
  ck_assert_uint_eq(live_bytes(), 0);
  ck_assert_int_eq(mps_reserve(&p, leaf, size), MPS_RES_OK);
  collect();
  ((node_t *)p)->head = HEAD(LEAF, words);
  collect();
  ck_assert(mps_commit(leaf, p, size));
  table[0] = p;
  collect();
  ck_assert_uint_eq(live_bytes(), size);
  hints[0] = (char *)p + sizeof(mps_word_t);
  table[0] = NULL;
  collect();
  ck_assert_uint_eq(live_bytes(), 0);
  (void)make(leaf, LEAF, 1);
  close_pools();
}
END_TEST

/* Swept memory is used again, by any point; free extents go back. */
START_TEST(reuse) {
  size_t most;

  open_pools();
  for (size_t i = 0; i < 30000; ++i) {
    node_t *p = make(leaf, LEAF, 3);
    if (i % 500 == 0)
      table[i / 500] = p;
  }
  most = mps_pool_total_size(pool);
  collect();
  ck_assert_uint_eq(live_bytes(), 60 * 4 * sizeof(mps_word_t));
  ck_assert_uint_lt(mps_pool_total_size(pool), most + 1);
  for (size_t i = 0; i < 25000; ++i)
    (void)make(i % 2 ? other : leaf, LEAF, 3);
  ck_assert_uint_le(mps_pool_total_size(pool), most + (most / 4));
  for (size_t i = 0; i < 60; ++i)
    ck_assert_uint_eq(node_words(table[i]), 4);
  memset(table, 0, sizeof table);
  collect();
  ck_assert_uint_lt(mps_pool_total_size(pool), most / 4);
  close_pools();
}
END_TEST

/* Walks: every object once, whether its buffer is attached or not. */
typedef struct walked {
  size_t objects, bytes;
} walked_t;

static mps_res_t walk_area(mps_ss_t ss, void *base, void *limit,
                           void *closure) {
  walked_t *w = closure;

  (void)ss;
  for (char *p = base; p < (char *)limit; p = nodes_skip(p))
    ++w->objects;
  w->bytes += (size_t)((char *)limit - (char *)base);
  return MPS_RES_OK;
}

static void step_object(mps_addr_t object, mps_fmt_t fmt, mps_pool_t in,
                        void *p, size_t s) {
  ck_assert_ptr_eq(fmt, leaf_format);
  ck_assert_ptr_eq(in, pool);
  ck_assert(node_kind(object) == LEAF);
  ++*(size_t *)p;
  (void)s;
}

START_TEST(walks) {
  walked_t w = {0, 0};
  size_t objects = 0;

  open_pools();
  for (size_t i = 0; i < 5000; ++i) {
    node_t *p = make(i % 3 ? leaf : other, LEAF, 1 + i % 4);
    if (i % 90 == 0)
      table[i / 90] = p;
    if (i == 3000)
      collect();
  }
  mps_arena_park(arena);
  ck_assert_int_eq(mps_pool_walk(pool, walk_area, &w), MPS_RES_OK);
  ck_assert_uint_eq(w.bytes, live_bytes());
  ck_assert_uint_eq(w.objects, 1999 + 34);
  mps_arena_formatted_objects_walk(arena, step_object, &objects, 0);
  ck_assert_uint_eq(w.objects, objects);
  close_pools();
}
END_TEST

/* Objects with a header. */
static mps_addr_t headed_skip(mps_addr_t addr) {
  REQUIRE(((mps_word_t *)addr)[-1] == 0xEADE2);
  return (mps_word_t *)nodes_skip(addr) + 1;
}

START_TEST(headers) {
  mps_fmt_t fmt;
  mps_pool_t headed;
  mps_ap_t ap;
  size_t size = 5 * sizeof(mps_word_t);

  start();
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_HEADER_SIZE, sizeof(mps_word_t));
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ALIGN, sizeof(mps_word_t));
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, headed_skip);
    ck_assert_int_eq(mps_fmt_create_k(&fmt, arena, args), MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  headed = make_pool(mps_class_lo(), fmt, NULL);
  ap = make_ap(headed, mps_rank_exact());
  for (size_t i = 0; i < 4; ++i) {
    mps_addr_t p;
    mps_word_t *base;
    ck_assert_int_eq(mps_reserve(&p, ap, size), MPS_RES_OK);
    base = p;
    base[0] = 0xEADE2;
    base[1] = HEAD(LEAF, 4);
    ck_assert(mps_commit(ap, p, size));
    if (i == 0)
      table[0] = (node_t *)(base + 1);
    if (i == 1)
      hints[0] = base + 1;
    if (i == 2)
      hints[1] = base; /* not the client pointer */
  }
  collect();
  ck_assert_uint_eq(in_use(headed) - unused(ap), 2 * size);
  mps_arena_park(arena);
  mps_ap_destroy(ap);
  mps_pool_destroy(headed);
  mps_fmt_destroy(fmt);
  stop();
}
END_TEST

START_TEST(finalization) {
  mps_message_t message;
  mps_addr_t ref, again;

  open_pools();
  mps_message_type_enable(arena, mps_message_type_finalization());
  ref = again = make(leaf, LEAF, 1);
  ck_assert_int_eq(mps_finalize(arena, &ref), MPS_RES_OK);
  table[0] = ref;
  collect();
  ck_assert(!mps_message_poll(arena));
  table[0] = NULL;
  collect();
  ck_assert(mps_message_get(&message, arena, mps_message_type_finalization()));
  mps_message_finalization_ref(&ref, arena, message);
  ck_assert_ptr_eq(ref, again);
  ck_assert_uint_eq(live_bytes(), 2 * sizeof(mps_word_t));
  mps_message_discard(arena, message);
  collect();
  ck_assert_uint_eq(live_bytes(), 0);
  close_pools();
}
END_TEST

/* Never protected: the system, and threads that nobody registered, may write
   to blocks while collections are in progress. */
static _Atomic(unsigned) stop_writing;

static void *write_always(void *arg) {
  volatile unsigned char *p = arg;

  while (!stop_writing)
    for (size_t i = 16; i < 4096; ++i)
      ++p[i];
  return NULL;
}

START_TEST(never_protected) {
  pthread_t writer;
  int zero = open("/dev/zero", O_RDONLY);

  random_start();
  open_pools();
  ck_assert_int_ge(zero, 0);
  table[0] = make(leaf, LEAF, 511);
  table[1] = make(leaf, LEAF, 4095);
  stop_writing = 0;
  ck_assert_int_eq(pthread_create(&writer, NULL, write_always, table[0]), 0);
  mps_arena_pause_time_set(arena, 0.0);
  mps_arena_release(arena);
  for (size_t i = 0; i < 20000; ++i) {
    node_t *p = make(moving_ap, NODE, 2);
    p->word[0] = table[2 + i % 20];
    table[2 + random_below(20)] = p;
    if (i % 7 == 0)
      p->word[1] = make(leaf, LEAF, random_below(60));
    if (i % 1000 == 0)
      mps_arena_start_collect(arena);
    if (i % 50 == 0)
      ck_assert_int_eq((int)read(zero, table[1]->word, 32000), 32000);
    if (i % 100 == 0)
      memset(table + 2, 0, 20 * sizeof table[0]);
  }
  stop_writing = 1;
  ck_assert_int_eq(pthread_join(writer, NULL), 0);
  (void)close(zero);
  close_pools();
}
END_TEST

/* Frames and patterns are accepted and do nothing. */
START_TEST(frames) {
  mps_frame_t frame;

  open_pools();
  ck_assert_int_eq(mps_ap_frame_push(&frame, leaf), MPS_RES_OK);
  table[0] = make(leaf, LEAF, 1);
  ck_assert_int_eq(mps_ap_frame_pop(leaf, frame), MPS_RES_OK);
  (void)make(leaf, LEAF, 1);
  ck_assert_uint_eq(node_words(table[0]), 2);
  ck_assert_int_eq(mps_ap_alloc_pattern_begin(leaf, mps_alloc_pattern_ramp()),
                   MPS_RES_OK);
  ck_assert_int_eq(mps_ap_alloc_pattern_end(leaf, mps_alloc_pattern_ramp()),
                   MPS_RES_OK);
  close_pools();
}
END_TEST

/* Under a commit limit garbage is found before anything fails, and failing
   does no harm. */
START_TEST(limits) {
  size_t n = 0;
  mps_addr_t p;
  mps_res_t res = MPS_RES_OK;

  open_pools();
  ck_assert_int_eq(mps_arena_commit_limit_set(
                       arena, mps_arena_committed(arena) + ((size_t)8 << 20)),
                   MPS_RES_OK);
  mps_arena_release(arena);
  for (size_t i = 0; i < 40; ++i)
    (void)make(leaf, LEAF, ((size_t)1 << 20) / sizeof(mps_word_t));
  for (size_t i = 0; i < 100000; ++i)
    (void)make(other, LEAF, 63);
  while (n < TABLE && res == MPS_RES_OK) {
    res = mps_reserve(&p, leaf, (size_t)1 << 20);
    if (res == MPS_RES_OK) {
      ((node_t *)p)->head = HEAD(LEAF, ((size_t)1 << 20) / 8);
      ck_assert(mps_commit(leaf, p, (size_t)1 << 20));
      table[n++] = p;
    }
  }
  ck_assert_int_eq(res, MPS_RES_COMMIT_LIMIT);
  ck_assert_uint_gt(n, 3);
  table[0] = NULL;
  ck_assert_int_eq(mps_reserve(&p, leaf, (size_t)1 << 20), MPS_RES_OK);
  ((node_t *)p)->head = HEAD(LEAF, ((size_t)1 << 20) / 8);
  ck_assert(mps_commit(leaf, p, (size_t)1 << 20));
  close_pools();
}
END_TEST

SUITE_MAIN("lo", 60, live_and_dead, skip_only, keys, no_manual,
           commit_never_fails, large_blocks, reuse, walks, headers,
           finalization, never_protected, frames, limits)
