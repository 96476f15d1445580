/* Testudo: the library's own memory refused, to all that a client makes.
   SPDX-License-Identifier: BSD-2-Clause */
#include "mpsacl.h"
#include "mpscamc.h"
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "mpscmfs.h"
#include "mpscmvff.h"
#include "mpscmvt.h"
#include "mpscsnc.h"
#include "pool/peaks.h"
#include "test/refused.h"

/* ---- things that are created ---- */

static mps_res_t make_threads(void) {
  enum { THREADS = 40 };
  mps_thr_t threads[THREADS];
  size_t n = 0;
  mps_res_t res = MPS_RES_OK;
  while (n < THREADS &&
         (res = mps_thread_reg(&threads[n], arena)) == MPS_RES_OK)
    ++n;
  while (n > 0)
    mps_thread_dereg(threads[--n]);
  return res;
}

/* Registering threads needs room in a list, which stays. */
START_TEST(threads) {
  start();
  for (size_t n = 1; n < 12; ++n) {
    size_t before = arena->thread_count;
    fail_at = n;
    fail_count = 0;
    ck_assert_int_eq(make_threads(), MPS_RES_MEMORY);
    fail_at = 0;
    ck_assert_uint_eq(arena->thread_count, before);
    tdo_arena_check(arena);
  }
  each_refused(make_threads);
  stop();
}
END_TEST

static mps_res_t make_format_and_chain(void) {
  mps_gen_param_s gens[] = {{10, 0.5}, {20, 0.5}, {30, 0.5}};
  mps_fmt_t fmt = NULL;
  mps_chain_t chain = NULL;
  mps_res_t res = mps_fmt_create_k(&fmt, arena, mps_args_none);
  if (res == MPS_RES_OK) {
    res = mps_chain_create(&chain, arena, 3, gens);
    mps_fmt_destroy(fmt);
  }
  if (res == MPS_RES_OK)
    mps_chain_destroy(chain);
  return res;
}

START_TEST(format_and_chain) {
  start();
  each_refused(make_format_and_chain);
  stop();
}
END_TEST

static mps_res_t make_roots(void) {
  static mps_addr_t words[4];
  mps_root_t roots[5];
  size_t n = 0;
  mps_res_t res =
      mps_root_create_table(&roots[n], arena, mps_rank_exact(), 0, words, 4);
  if (res == MPS_RES_OK)
    res = mps_root_create_area(&roots[++n], arena, mps_rank_ambig(), 0, words,
                               words + 4, mps_scan_area, NULL);
  if (res == MPS_RES_OK)
    res = mps_root_create_fmt(&roots[++n], arena, mps_rank_exact(), 0,
                              nodes_scan, words, words + 4);
  if (res == MPS_RES_OK)
    res = mps_root_create_thread(&roots[++n], arena, thread, &words[0]);
  if (res == MPS_RES_OK)
    res = mps_root_create_area_tagged(&roots[++n], arena, mps_rank_weak(), 0,
                                      words, words + 4, mps_scan_area_tagged,
                                      7, 0);
  n += res == MPS_RES_OK;
  while (n > 0)
    mps_root_destroy(roots[--n]);
  return res;
}

START_TEST(all_roots) {
  start();
  each_refused(make_roots);
  stop();
}
END_TEST

static mps_pool_t manual;

static mps_res_t make_cache(void) {
  mps_sac_class_s classes[] = {{16, 10, 1}, {64, 20, 2}, {256, 3, 1}};
  mps_addr_t blocks[40];
  size_t n = 0;
  mps_sac_t sac;
  mps_res_t res = mps_sac_create(&sac, manual, 3, classes);
  if (res != MPS_RES_OK)
    return res;
  while (n < 40 &&
         (res = mps_sac_alloc(&blocks[n], sac, 200, 0)) == MPS_RES_OK)
    ++n;
  while (n > 0)
    mps_sac_free(sac, blocks[--n], 200);
  mps_sac_destroy(sac);
  return res;
}

START_TEST(caches) {
  start();
  ck_assert_int_eq(
      mps_pool_create_k(&manual, arena, mps_class_mvff(), mps_args_none),
      MPS_RES_OK);
  each_refused(make_cache);
  ck_assert_uint_eq(in_use(manual), 0);
  mps_pool_destroy(manual);
  stop();
}
END_TEST

/* So many extents that the tree over them has three levels. */
static mps_res_t make_extents(void) {
  enum { EXTENTS = 200, BYTES = 4096 };
  static mps_addr_t blocks[EXTENTS];
  size_t n = 0;
  mps_res_t res = MPS_RES_OK;
  while (n < EXTENTS &&
         (res = mps_alloc(&blocks[n], manual, BYTES)) == MPS_RES_OK)
    ++n;
  while (n > 0)
    mps_free(manual, blocks[--n], BYTES);
  return res;
}

START_TEST(extents) {
  start();
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_EXTEND_BY, 4096);
    MPS_ARGS_ADD(args, MPS_KEY_SPARE, 0.0);
    ck_assert_int_eq(
        mps_pool_create_k(&manual, arena, mps_class_mvff(), args), MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  each_refused(make_extents);
  ck_assert_uint_eq(mps_pool_total_size(manual), 0);
  mps_pool_destroy(manual);
  stop();
}
END_TEST

/* A block over the borders of extents that are free. */
static mps_res_t make_joint(void) {
  enum { EXTENTS = TDO_PEAKS, FREE = 3 }; /* as many as one node has */
  size_t size = suite_pages((size_t)64 << 10);
  mps_addr_t blocks[EXTENTS], joint;
  size_t n = 0;
  mps_pool_t made;
  mps_res_t res;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_EXTEND_BY, size);
    MPS_ARGS_ADD(args, MPS_KEY_SPARE, 1.0);
    res = mps_pool_create_k(&made, arena, mps_class_mvff(), args);
  }
  MPS_ARGS_END(args);
  if (res != MPS_RES_OK)
    return res;
  while (n < EXTENTS && (res = mps_alloc(&blocks[n], made, size)) == MPS_RES_OK)
    ++n;
  for (size_t i = 1; i <= FREE && i < n; ++i)
    mps_free(made, blocks[i], size);
  if (res == MPS_RES_OK)
    res = mps_alloc(&joint, made, FREE * size);
  if (res == MPS_RES_OK)
    mps_free(made, joint, FREE * size);
  mps_pool_destroy(made);
  return res;
}

START_TEST(joints) {
  start();
  each_refused(make_joint);
  stop();
}
END_TEST

/* ---- pools ---- */

static mps_pool_class_t pool_class;

static mps_res_t pool_made(mps_pool_t *pool_o) {
  static mps_pool_debug_option_s debug = {"fence", 5, "free", 4};
  mps_pool_class_t cls = pool_class;
  bool collected = cls == mps_class_amc() || cls == mps_class_amcz() ||
                   cls == mps_class_ams() || cls == mps_class_ams_debug() ||
                   cls == mps_class_lo() || cls == mps_class_awl() ||
                   cls == mps_class_aeph() || cls == mps_class_snc();
  mps_res_t res;
  MPS_ARGS_BEGIN(args) {
    if (collected)
      MPS_ARGS_ADD(args, MPS_KEY_FORMAT, moving_format);
    if (cls == mps_class_mfs())
      MPS_ARGS_ADD(args, MPS_KEY_MFS_UNIT_SIZE, 64);
    if (cls == mps_class_ams_debug() || cls == mps_class_mvff_debug())
      MPS_ARGS_ADD(args, MPS_KEY_POOL_DEBUG_OPTIONS, &debug);
    res = mps_pool_create_k(pool_o, arena, cls, args);
  }
  MPS_ARGS_END(args);
  return res;
}

/* So many frames that their table grows. */
static mps_res_t push_frames(mps_ap_t on) {
  mps_frame_t frame;
  mps_res_t res = MPS_RES_OK;
  for (size_t i = 0; i < 20 && res == MPS_RES_OK; ++i)
    res = mps_ap_frame_push(&frame, on);
  return res;
}

/* Nodes of many sizes on a point; some of them are kept, linked. */
static mps_res_t fill_point(mps_pool_t made) {
  static const size_t sizes[] = {2, 9, 3, 700, 5, 40, 3000, 2};
  mps_ap_t on;
  mps_res_t res = mps_ap_create_k(&on, made, mps_args_none);
  if (res != MPS_RES_OK)
    return res;
  table[0] = NULL;
  if (pool_class == mps_class_snc())
    res = push_frames(on);
  for (size_t i = 0; i < 64 && res == MPS_RES_OK; ++i) {
    size_t words = sizes[i % 8];
    mps_addr_t p;
    do {
      res = mps_reserve(&p, on, words * sizeof(mps_word_t));
      if (res != MPS_RES_OK)
        break;
      memset(p, 0, words * sizeof(mps_word_t));
      ((node_t *)p)->head =
          HEAD(pool_class == mps_class_lo() || pool_class == mps_class_amcz()
                   ? LEAF
                   : NODE,
               words);
    } while (!mps_commit(on, p, words * sizeof(mps_word_t)));
  }
  mps_ap_destroy(on);
  return res;
}

/* Blocks of many sizes, half of them freed, and more. */
static mps_res_t fill_manual(mps_pool_t made) {
  enum { BLOCKS = 60 };
  mps_addr_t blocks[BLOCKS] = {NULL};
  size_t sizes[BLOCKS];
  mps_res_t res = MPS_RES_OK;
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < BLOCKS && res == MPS_RES_OK; ++i)
      if (blocks[i] == NULL) {
        sizes[i] = pool_class == mps_class_mfs() ? 64 : 64 * (1 + i * i % 97);
        res = mps_alloc(&blocks[i], made, sizes[i]);
        if (res != MPS_RES_OK)
          blocks[i] = NULL;
        else
          memset(blocks[i], 1, sizes[i]);
      }
    for (size_t i = 0; i < BLOCKS; i += 2 - (size_t)round)
      if (blocks[i] != NULL) {
        mps_free(made, blocks[i], sizes[i]);
        blocks[i] = NULL;
      }
  }
  for (size_t i = 0; i < BLOCKS; ++i)
    if (blocks[i] != NULL)
      mps_free(made, blocks[i], sizes[i]);
  return res;
}

static mps_res_t make_and_fill(void) {
  bool points = pool_class != mps_class_mfs() &&
                pool_class != mps_class_mvff() &&
                pool_class != mps_class_mvff_debug();
  mps_pool_t made;
  mps_res_t res = pool_made(&made);
  if (res != MPS_RES_OK)
    return res;
  res = points ? fill_point(made) : fill_manual(made);
  mps_pool_destroy(made);
  return res;
}

START_TEST(pools) {
  mps_pool_class_t classes[] = {
      mps_class_amc(),       mps_class_amcz(),       mps_class_ams(),
      mps_class_ams_debug(), mps_class_lo(),         mps_class_awl(),
      mps_class_aeph(),      mps_class_snc(),        mps_class_mfs(),
      mps_class_mvff(),      mps_class_mvff_debug(), mps_class_mvt()};
  start();
  ck_assert_int_lt(_i, (int)(sizeof classes / sizeof classes[0]));
  pool_class = classes[_i];
  each_refused(make_and_fill);
  stop();
}
END_TEST

/* A default chain is made once; without memory for it no pool is. */
START_TEST(default_chain) {
  mps_res_t res = MPS_RES_MEMORY;
  start();
  pool_class = mps_class_amc();
  for (fail_at = 1; res == MPS_RES_MEMORY; ++fail_at) {
    mps_pool_t made;
    fail_count = 0;
    res = pool_made(&made);
    if (res == MPS_RES_OK)
      mps_pool_destroy(made);
    else
      ck_assert_int_eq(res, MPS_RES_MEMORY);
    tdo_arena_check(arena);
  }
  ck_assert_uint_gt(fail_at, 3);
  fail_at = 0;
  stop();
}
END_TEST

/* ---- arenas ---- */

static mps_res_t make_arena(void) {
  mps_arena_t made;
  mps_res_t res =
      mps_arena_create_k(&made, mps_arena_class_vm(), mps_args_none);
  if (res == MPS_RES_OK)
    mps_arena_destroy(made);
  return res;
}

static char client_memory[(size_t)1 << 20];

static mps_res_t make_client_arena(void) {
  mps_arena_t made;
  mps_res_t res;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, sizeof client_memory);
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_CL_BASE, client_memory);
    res = mps_arena_create_k(&made, mps_arena_class_cl(), args);
  }
  MPS_ARGS_END(args);
  if (res == MPS_RES_OK)
    mps_arena_destroy(made);
  return res;
}

START_TEST(arenas) {
  start();
  each_refused(make_arena);
  each_refused(make_client_arena);
  stop();
}
END_TEST

/* ---- finalization, messages, transforms ---- */

static mps_res_t finalize_some(void) {
  mps_res_t res = MPS_RES_OK;
  size_t n = 0;
  for (; n < 5 && res == MPS_RES_OK; ++n)
    res = mps_finalize(arena, (mps_addr_t *)(void *)&table[n]);
  n -= res != MPS_RES_OK;
  for (size_t i = 0; i < 5; ++i)
    REQUIRE((mps_definalize(arena, (mps_addr_t *)(void *)&table[i]) ==
             MPS_RES_OK) == (i < n));
  return res;
}

START_TEST(finalization) {
  open_pool(mps_class_amc(), mps_rank_exact());
  for (size_t i = 0; i < 5; ++i)
    table[i] = make(ap, NODE, 1);
  each_refused(finalize_some);
  close_pool();
}
END_TEST

/* Without memory for its messages a collection goes on and is silent. */
static unsigned messages_got;

static mps_res_t collect_with_messages(void) {
  mps_message_t message;
  mps_res_t res = mps_arena_collect(arena);
  size_t at = fail_at;
  mps_arena_clamp(arena);
  REQUIRE(node_words(table[0]) == 2);
  for (int i = 0; i < 2; ++i)
    if (mps_message_get(&message, arena,
                        i == 0 ? mps_message_type_gc()
                               : mps_message_type_gc_start())) {
      mps_message_discard(arena, message);
      ++messages_got;
    }
  fail_at = 0;
  mps_message_type_disable(arena, mps_message_type_gc());
  mps_message_type_disable(arena, mps_message_type_gc_start());
  collect();
  mps_message_type_enable(arena, mps_message_type_gc());
  mps_message_type_enable(arena, mps_message_type_gc_start());
  fail_at = at;
  return res;
}

START_TEST(messages) {
  open_pool(mps_class_amc(), mps_rank_exact());
  table[0] = make(ap, NODE, 1);
  mps_message_type_enable(arena, mps_message_type_gc());
  mps_message_type_enable(arena, mps_message_type_gc_start());
  each_refused(collect_with_messages);
  ck_assert_uint_gt(messages_got, 4);
  messages_got = 0;
  ck_assert_int_eq(collect_with_messages(), MPS_RES_OK);
  ck_assert_uint_eq(messages_got, 2);
  close_pool();
}
END_TEST

/* Of one kind and age, so that each call finds the same. */
static void fill_table(void) {
  size_t at = fail_at;
  fail_at = 0;
  for (size_t i = 0; i < 40; ++i)
    table[i] = make(ap, NODE, 1);
  collect();
  fail_at = at;
}

static mps_res_t transform_some(void) {
  mps_addr_t old[40], new[40];
  mps_transform_t transform;
  mps_bool_t applied = 0;
  mps_res_t res = mps_transform_create(&transform, arena);
  if (res != MPS_RES_OK)
    return res;
  for (size_t i = 0; i < 20; ++i) {
    old[i] = table[i];
    new[i] = table[20 + i];
  }
  for (size_t i = 0; i < 20 && res == MPS_RES_OK; i += 5)
    res = mps_transform_add_oldnew(transform, old + i, new + i, 5);
  if (res == MPS_RES_OK)
    res = mps_transform_apply(&applied, transform);
  mps_transform_destroy(transform);
  mps_arena_clamp(arena);
  for (size_t i = 0; i < 20; ++i)
    REQUIRE((table[i] == table[20 + i]) == applied);
  fill_table();
  return res;
}

START_TEST(transforms) {
  open_pool(mps_class_amc(), mps_rank_exact());
  fill_table();
  each_refused(transform_some);
  close_pool();
}
END_TEST

SUITE_LOOPS_MAIN("refused blocks", 60, {threads, 1}, {format_and_chain, 1},
                 {all_roots, 1}, {caches, 1}, {extents, 1}, {joints, 1},
                 {pools, 12}, {default_chain, 1}, {arenas, 1},
                 {finalization, 1}, {messages, 1}, {transforms, 1})
