/* Testudo: tests of misuse (interface, section 7, row by row): in the checked
   build each ends in the assertion handler, which ends a child process with a
   status of its own. What looks like misuse and must work stands at the end.
   SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "mpsacl.h"
#include "mpscamc.h"
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "mpscmfs.h"
#include "mpscmvff.h"
#include "mpscmvt.h"
#include "mpscsnc.h"
#include "test/objects.h"
#include "test/suite.h"

enum { CAUGHT = 77, MISSED = 78 };

static mps_pool_t mvff, mfs, snc;
static mps_arena_t other;
static mps_addr_t block, out;
static mps_res_t res;

static void caught(const char *file, unsigned line, const char *text) {
  _exit(file != NULL && line != 0 && text != NULL && *text != '\0' ? CAUGHT
                                                                   : 1);
}

static void surroundings(void) {
  heap_start(mps_class_amc());
  REQUIRE(mps_arena_create_k(&other, mps_arena_class_vm(), mps_args_none) ==
          MPS_RES_OK);
  REQUIRE(mps_pool_create_k(&mvff, arena, mps_class_mvff(), mps_args_none) ==
          MPS_RES_OK);
  CREATE(mfs, mps_class_mfs(), MFS_UNIT_SIZE, 64);
  CREATE(snc, mps_class_snc(), FORMAT, fmt);
  block = alloc(mvff, 64);
  table[0] = numbered(1);
  (void)mps_lib_assert_fail_install(caught);
}

typedef struct misuse {
  const char *what;
  void (*body)(void);
} misuse_t;

/* Keys and a value, to a pool of CLS. */
#define POOL_WITH(cls, name, value)                                           \
  do {                                                                        \
    mps_pool_t made;                                                          \
    MPS_ARGS_BEGIN(args) {                                                    \
      MPS_ARGS_ADD(args, MPS_KEY_##name, value);                              \
      res = mps_pool_create_k(&made, arena, cls, args);                       \
    }                                                                         \
    MPS_ARGS_END(args);                                                       \
  } while (0)

#define POOL_WITH_2(cls, name1, value1, name2, value2)                        \
  do {                                                                        \
    mps_pool_t made;                                                          \
    MPS_ARGS_BEGIN(args) {                                                    \
      MPS_ARGS_ADD(args, MPS_KEY_##name1, value1);                            \
      MPS_ARGS_ADD(args, MPS_KEY_##name2, value2);                            \
      res = mps_pool_create_k(&made, arena, cls, args);                       \
    }                                                                         \
    MPS_ARGS_END(args);                                                       \
  } while (0)

#define ARENA_WITH(name, value)                                               \
  do {                                                                        \
    mps_arena_t made;                                                         \
    MPS_ARGS_BEGIN(args) {                                                    \
      MPS_ARGS_ADD(args, MPS_KEY_##name, value);                              \
      res = mps_arena_create_k(&made, mps_arena_class_vm(), args);            \
    }                                                                         \
    MPS_ARGS_END(args);                                                       \
  } while (0)

#define FORMAT_WITH(name, value)                                              \
  do {                                                                        \
    mps_fmt_t made;                                                           \
    MPS_ARGS_BEGIN(args) {                                                    \
      MPS_ARGS_ADD(args, MPS_KEY_##name, value);                              \
      res = mps_fmt_create_k(&made, arena, args);                             \
    }                                                                         \
    MPS_ARGS_END(args);                                                       \
  } while (0)

/* What the functions below need, once. */
static mps_gen_param_s good_gens[] = {{100, 0.5}};
static mps_addr_t other_words[2];
static mps_root_t made_root;
static mps_thr_t made_thr;
static mps_chain_t made_chain;
static mps_fmt_t made_fmt;
static mps_pool_t made_pool;
static mps_ap_t made_ap;
static mps_sac_t made_sac;
static mps_message_t message;
static mps_frame_t frame;
static mps_ld_s ld;
static mps_transform_t made_transform;

static mps_res_t scan_root(mps_ss_t ss, void *p, size_t s) {
  (void)ss, (void)p, (void)s;
  return MPS_RES_OK;
}

static mps_res_t scan_reg(mps_ss_t ss, mps_thr_t t, void *p, size_t s) {
  (void)ss, (void)t, (void)p, (void)s;
  return MPS_RES_OK;
}

static void get_message(mps_message_type_t type) {
  mps_message_type_enable(arena, mps_message_type_finalization());
  mps_message_type_enable(arena, mps_message_type_gc());
  mps_message_type_enable(arena, mps_message_type_gc_start());
  REQUIRE(mps_finalize(arena, &table[0]) == MPS_RES_OK);
  table[0] = NULL;
  REQUIRE(mps_arena_collect(arena) == MPS_RES_OK);
  REQUIRE(mps_message_get(&message, arena, type));
}

static void in_callback(mps_addr_t obj, mps_fmt_t f, mps_pool_t p, void *q,
                        size_t s) {
  (void)obj, (void)f, (void)p, (void)q, (void)s;
  (void)mps_arena_committed(arena);
}

static void root_made(void) {
  REQUIRE(mps_root_create(&made_root, arena, mps_rank_exact(), 0, scan_root,
                          NULL, 0) == MPS_RES_OK);
}

/* One function for each, named by its line. */
#define CONCAT_(a, b) a##b
#define CONCAT(a, b)  CONCAT_(a, b)
#define M(...)                                                                \
  static void CONCAT(misuse_, __LINE__)(void) {                               \
    __VA_ARGS__;                                                              \
  }                                                                           \
  static const misuse_t CONCAT(entry_, __LINE__)                              \
      __attribute__((used, section("misuses"))) = {#__VA_ARGS__,              \
                                                   CONCAT(misuse_, __LINE__)}
/* clang-format off */

/* null, where something is required */
M(res = mps_arena_create_k(NULL, mps_arena_class_vm(), mps_args_none));
M(res = mps_arena_create_k(&other, NULL, mps_args_none));
M(res = mps_arena_create_k(&other, mps_arena_class_vm(), NULL));
M(mps_arena_destroy(NULL));
M(mps_arena_clamp(NULL));
M(mps_arena_park(NULL));
M(mps_arena_release(NULL));
M(mps_arena_postmortem(NULL));
M(res = mps_arena_collect(NULL));
M(res = mps_arena_start_collect(NULL));
M((void)mps_arena_step(NULL, 1.0, 1.0));
M((void)mps_arena_reserved(NULL));
M((void)mps_arena_committed(NULL));
M((void)mps_arena_spare_committed(NULL));
M((void)mps_arena_commit_limit(NULL));
M((void)mps_arena_commit_limit_set(NULL, 1));
M((void)mps_arena_spare(NULL));
M(mps_arena_spare_set(NULL, 0.5));
M((void)mps_arena_pause_time(NULL));
M(mps_arena_pause_time_set(NULL, 0.5));
M((void)mps_collections(NULL));
M((void)mps_arena_busy(NULL));
M((void)mps_arena_has_addr(NULL, NULL));
M((void)mps_addr_pool(&made_pool, NULL, NULL));
M((void)mps_addr_pool(NULL, arena, table[0]));
M((void)mps_addr_fmt(NULL, arena, table[0]));
M(res = mps_addr_object(NULL, arena, table[0]));
M(res = mps_chain_create(NULL, arena, 1, good_gens));
M(res = mps_chain_create(&made_chain, NULL, 1, good_gens));
M(res = mps_chain_create(&made_chain, arena, 1, NULL));
M(mps_chain_destroy(NULL));
M(res = mps_fmt_create_k(NULL, arena, mps_args_none));
M(res = mps_fmt_create_k(&made_fmt, NULL, mps_args_none));
M(res = mps_fmt_create_k(&made_fmt, arena, NULL));
M(res = mps_fmt_create_A(&made_fmt, arena, NULL));
M(res = mps_fmt_create_B(&made_fmt, arena, NULL));
M(res = mps_fmt_create_auto_header(&made_fmt, arena, NULL));
M(res = mps_fmt_create_fixed(&made_fmt, arena, NULL));
M(mps_fmt_destroy(NULL));
M(res = mps_pool_create_k(NULL, arena, mps_class_mvff(), mps_args_none));
M(res = mps_pool_create_k(&made_pool, NULL, mps_class_mvff(), mps_args_none));
M(res = mps_pool_create_k(&made_pool, arena, NULL, mps_args_none));
M(res = mps_pool_create_k(&made_pool, arena, mps_class_mvff(), NULL));
M(mps_pool_destroy(NULL));
M((void)mps_pool_total_size(NULL));
M((void)mps_pool_free_size(NULL));
M(mps_pool_check_fenceposts(NULL));
M(mps_pool_check_free_space(NULL));
M(res = mps_alloc(NULL, mvff, 16));
M(res = mps_alloc(&out, NULL, 16));
M(mps_free(NULL, block, 64));
M(res = mps_ap_create_k(NULL, pool, mps_args_none));
M(res = mps_ap_create_k(&made_ap, NULL, mps_args_none));
M(res = mps_ap_create_k(&made_ap, pool, NULL));
M(mps_ap_destroy(NULL));
M(res = mps_ap_fill(NULL, ap, 16));
M(res = mps_ap_fill(&out, NULL, 16));
M((void)mps_ap_trip(NULL, block, 16));
M(res = (mps_reserve)(NULL, ap, 16));
M(res = (mps_reserve)(&out, NULL, 16));
M((void)(mps_commit)(NULL, block, 16));
M(res = mps_ap_frame_push(NULL, ap));
M(res = mps_ap_frame_push(&frame, NULL));
M(res = mps_ap_frame_pop(NULL, NULL));
M(res = mps_ap_alloc_pattern_begin(NULL, mps_alloc_pattern_ramp()));
M(res = mps_ap_alloc_pattern_begin(ap, NULL));
M(res = mps_ap_alloc_pattern_end(NULL, mps_alloc_pattern_ramp()));
M(res = mps_ap_alloc_pattern_reset(NULL));
M(res = mps_sac_create(NULL, mvff, 1, (mps_sac_class_s[]){{8, 1, 1}}));
M(res = mps_sac_create(&made_sac, NULL, 1, (mps_sac_class_s[]){{8, 1, 1}}));
M(res = mps_sac_create(&made_sac, mvff, 1, NULL));
M(mps_sac_destroy(NULL));
M(mps_sac_flush(NULL));
M(res = mps_sac_alloc(&out, NULL, 8, 0));
M(mps_sac_free(NULL, block, 8));
M(res = mps_root_create(NULL, arena, mps_rank_exact(), 0, scan_root, NULL, 0));
M(res = mps_root_create(&made_root, NULL, mps_rank_exact(), 0, scan_root, NULL, 0));
M(res = mps_root_create(&made_root, arena, mps_rank_exact(), 0, NULL, NULL, 0));
M(mps_root_destroy(NULL));
M(res = mps_thread_reg(NULL, arena));
M(res = mps_thread_reg(&made_thr, NULL));
M(mps_thread_dereg(NULL));
M(mps_ld_reset(NULL, arena));
M(mps_ld_reset(&ld, NULL));
M(mps_ld_add(NULL, arena, table[0]));
M((void)mps_ld_isstale(NULL, arena, table[0]));
M((void)mps_ld_isstale_any(NULL, arena));
M(mps_ld_merge(&ld, arena, NULL));
M(mps_message_type_enable(NULL, mps_message_type_gc()));
M(mps_message_type_disable(NULL, mps_message_type_gc()));
M((void)mps_message_poll(NULL));
M((void)mps_message_queue_type(NULL, arena));
M((void)mps_message_get(NULL, arena, mps_message_type_gc()));
M(mps_message_discard(arena, NULL));
M((void)mps_message_type(arena, NULL));
M((void)mps_message_clock(arena, NULL));
M((void)mps_message_gc_live_size(arena, NULL));
M((void)mps_message_gc_condemned_size(arena, NULL));
M((void)mps_message_gc_not_condemned_size(arena, NULL));
M((void)mps_message_gc_start_why(arena, NULL));
M(mps_message_finalization_ref(&out, arena, NULL));
M(res = mps_finalize(NULL, &table[0]));
M(res = mps_finalize(arena, NULL));
M(res = mps_definalize(NULL, &table[0]));
M(res = mps_definalize(arena, NULL));
M(res = mps_pool_walk(NULL, mps_scan_area, NULL));
M(mps_arena_roots_walk(NULL, NULL, NULL, 0));
M(mps_arena_formatted_objects_walk(NULL, in_callback, NULL, 0));
M(mps_amc_apply(NULL, NULL, NULL, 0));
M(res = mps_transform_create(NULL, arena));
M(res = mps_transform_apply(NULL, NULL));
M(mps_transform_destroy(NULL));

/* destroyed handles */
M(res = mps_fmt_create_k(&made_fmt, arena, mps_args_none); mps_fmt_destroy(made_fmt); mps_fmt_destroy(made_fmt));
M(res = mps_fmt_create_k(&made_fmt, arena, mps_args_none); mps_fmt_destroy(made_fmt); POOL_WITH(mps_class_amc(), FORMAT, made_fmt));
M(mps_pool_destroy(mvff); mps_pool_destroy(mvff));
M(mps_pool_destroy(mvff); res = mps_alloc(&out, mvff, 16));
M(root_made(); mps_root_destroy(made_root); mps_root_destroy(made_root));
M(made_ap = point(pool); mps_ap_destroy(made_ap); mps_ap_destroy(made_ap));
M(made_ap = point(pool); mps_ap_destroy(made_ap); res = mps_ap_fill(&out, made_ap, 16));
M(res = mps_thread_reg(&made_thr, arena); mps_thread_dereg(made_thr); mps_thread_dereg(made_thr));
M(res = mps_chain_create(&made_chain, arena, 1, good_gens); mps_chain_destroy(made_chain); mps_chain_destroy(made_chain));
M(res = mps_chain_create(&made_chain, arena, 1, good_gens); mps_chain_destroy(made_chain); POOL_WITH_2(mps_class_amc(), FORMAT, fmt, CHAIN, made_chain));
M(get_message(mps_message_type_gc()); mps_message_discard(arena, message); mps_message_discard(arena, message));
M(get_message(mps_message_type_gc()); mps_message_discard(arena, message); (void)mps_message_type(arena, message));
M(res = mps_sac_create(&made_sac, mvff, 1, (mps_sac_class_s[]){{8, 1, 1}}); mps_sac_destroy(made_sac); mps_sac_destroy(made_sac));
M(res = mps_transform_create(&made_transform, arena); mps_transform_destroy(made_transform); mps_transform_destroy(made_transform));
M(mps_arena_destroy(other); (void)mps_arena_committed(other));

/* two arenas */
M(res = mps_fmt_create_k(&made_fmt, other, mps_args_none); POOL_WITH(mps_class_amc(), FORMAT, made_fmt));
M(res = mps_chain_create(&made_chain, other, 1, good_gens); POOL_WITH_2(mps_class_amc(), FORMAT, fmt, CHAIN, made_chain));
M(res = mps_root_create_thread(&made_root, other, thr, &out));

/* callbacks */
M(mps_arena_formatted_objects_walk(arena, in_callback, NULL, 0));

/* keywords */
M(POOL_WITH(mps_class_amc(), CHAIN, chain));
M(res = mps_pool_create_k(&made_pool, arena, mps_class_mfs(), mps_args_none));
M(mps_arg_s args[2000]; for (int i = 0; i < 2000; ++i) args[i].key = MPS_KEY_RANK; res = mps_ap_create_k(&made_ap, pool, args));
M(mps_arg_s args[2] = {{NULL, {0}}}; res = mps_ap_create_k(&made_ap, pool, args));

/* arenas */
M(ARENA_WITH(ARENA_GRAIN_SIZE, 3 * 4096));
M(ARENA_WITH(SPARE, 1.5));
M(ARENA_WITH(SPARE, -0.5));
M(ARENA_WITH(PAUSE_TIME, -1.0));
M(mps_arena_spare_set(arena, 1.5));
M(mps_arena_spare_set(arena, -0.1));
M(mps_arena_pause_time_set(arena, -0.1));
M((void)mps_arena_step(arena, -1.0, 0.0));
M((void)mps_arena_step(arena, 0.0, -1.0));
M(res = mps_arena_create(&other, mps_arena_class_cl(), (size_t)1 << 20, (mps_addr_t)NULL));
M(res = mps_arena_create_k(&other, mps_arena_class_cl(), mps_args_none));
M(mps_arena_destroy(arena));
M(mps_arena_t a; res = mps_arena_create_k(&a, mps_arena_class_vm(), mps_args_none); res = mps_pool_create_k(&made_pool, a, mps_class_mvff(), mps_args_none); mps_arena_destroy(a));
M(mps_arena_t a; res = mps_arena_create_k(&a, mps_arena_class_vm(), mps_args_none); res = mps_fmt_create_k(&made_fmt, a, mps_args_none); mps_arena_destroy(a));
M(mps_arena_t a; res = mps_arena_create_k(&a, mps_arena_class_vm(), mps_args_none); res = mps_root_create(&made_root, a, mps_rank_exact(), 0, scan_root, NULL, 0); mps_arena_destroy(a));
M(mps_arena_t a; res = mps_arena_create_k(&a, mps_arena_class_vm(), mps_args_none); res = mps_chain_create(&made_chain, a, 1, good_gens); mps_arena_destroy(a));
M(mps_arena_t a; res = mps_arena_create_k(&a, mps_arena_class_vm(), mps_args_none); res = mps_thread_reg(&made_thr, a); mps_arena_destroy(a));
M(res = mps_arena_extend(arena, other_words, 4096));
M(res = mps_arena_vm_growth(arena, 4096, 8192));

/* chains */
M(res = mps_chain_create(&made_chain, arena, 0, good_gens));
M(res = mps_chain_create(&made_chain, arena, 1, (mps_gen_param_s[]){{0, 0.5}}));
M(res = mps_chain_create(&made_chain, arena, 1, (mps_gen_param_s[]){{1, 1.5}}));
M(res = mps_chain_create(&made_chain, arena, 1, (mps_gen_param_s[]){{1, -0.5}}));
M(mps_chain_destroy(chain));

/* formats */
M(FORMAT_WITH(FMT_ALIGN, 0));
M(FORMAT_WITH(FMT_ALIGN, 24));
M(mps_fmt_destroy(fmt));

/* pools */
M(res = mps_pool_create_k(&made_pool, arena, mps_class_amc(), mps_args_none));
M(res = mps_pool_create_k(&made_pool, arena, mps_class_lo(), mps_args_none));
M(POOL_WITH_2(mps_class_amc(), FORMAT, fmt, EXTEND_BY, 0));
M(POOL_WITH_2(mps_class_amc(), FORMAT, fmt, CHAIN, NULL));
M(POOL_WITH(mps_class_mvff(), EXTEND_BY, 0));
M(POOL_WITH(mps_class_mvff(), MEAN_SIZE, 0));
M(POOL_WITH(mps_class_mvff(), ALIGN, 24));
M(POOL_WITH(mps_class_mvff(), ALIGN, 4));
M(POOL_WITH(mps_class_mvff(), ALIGN, (size_t)1 << 20));
M(POOL_WITH(mps_class_mvff(), SPARE, 2.0));
M(POOL_WITH(mps_class_mfs(), MFS_UNIT_SIZE, 0));
M(POOL_WITH_2(mps_class_mfs(), MFS_UNIT_SIZE, 8, EXTEND_BY, 0));
M(POOL_WITH_2(mps_class_mvt(), MIN_SIZE, 64, MEAN_SIZE, 32));
M(POOL_WITH_2(mps_class_mvt(), MEAN_SIZE, 64, MAX_SIZE, 32));
M(POOL_WITH(mps_class_mvt(), MVT_FRAG_LIMIT, 1.5));
M(POOL_WITH_2(mps_class_lo(), FORMAT, fmt, GEN, 9));
M(mps_pool_destroy(pool));

/* manual allocation */
M(res = mps_alloc(&out, pool, 16));
M(mps_free(pool, table[0], 16));
M(res = mps_alloc(&out, snc, 16));
M(res = mps_alloc(&out, mvff, 0));
M(mps_free(mvff, block, 0));
M(res = mps_alloc(&out, mfs, 32));
M(res = mps_alloc(&out, mfs, 64); mps_free(mfs, out, 32));
M(mps_free(mvff, NULL, 64));
M(mps_free(mvff, (char *)block + 1, 16));
M(mps_free(mvff, other_words, 16));
M(mps_free(mvff, table[0], 16));
M(mps_free(mvff, block, 64); mps_free(mvff, block, 64));
M(mps_free(mvff, block, 4096));

/* allocation points */
M(res = mps_ap_create_k(&made_ap, mfs, mps_args_none));
M(MPS_ARGS_BEGIN(args) { MPS_ARGS_ADD(args, MPS_KEY_RANK, 4); res = mps_ap_create_k(&made_ap, snc, args); } MPS_ARGS_END(args));
M(res = mps_ap_fill(&out, ap, 0));
M(res = (mps_reserve)(&out, ap, 0));
M(res = mps_ap_fill(&out, ap, 13));
M(res = (mps_reserve)(&out, ap, 13));
M(res = (mps_reserve)(&out, ap, 16); res = (mps_reserve)(&out, ap, 16));
M(res = (mps_reserve)(&out, ap, 16); res = mps_ap_fill(&out, ap, 16));
M(res = (mps_reserve)(&out, ap, 16); (void)(mps_commit)(ap, NULL, 16));
M(res = (mps_reserve)(&out, ap, 16); (void)(mps_commit)(ap, (char *)out + 8, 16));
M(res = (mps_reserve)(&out, ap, 16); (void)(mps_commit)(ap, out, 24));
M((void)(mps_commit)(ap, table[0], 16));
M(res = (mps_reserve)(&out, ap, 16); mps_ap_destroy(ap));
M((void)mps_ap_trip(ap, table[0], 16));

/* caches */
M(res = mps_sac_create(&made_sac, mvff, 0, (mps_sac_class_s[]){{8, 1, 1}}));
M(res = mps_sac_create(&made_sac, mvff, 2, (mps_sac_class_s[]){{16, 1, 1}, {8, 1, 1}}));
M(res = mps_sac_create(&made_sac, mvff, 1, (mps_sac_class_s[]){{4, 1, 1}}));
M(res = mps_sac_create(&made_sac, mvff, 1, (mps_sac_class_s[]){{12, 1, 1}}));
M(res = mps_sac_create(&made_sac, mvff, 1, (mps_sac_class_s[]){{8, 1, 1}}); res = mps_sac_alloc(&out, made_sac, 0, 0));

/* roots */
M(res = mps_root_create(&made_root, arena, 4, 0, scan_root, NULL, 0));
M(res = mps_root_create_table(&made_root, arena, mps_rank_exact(), 8, table, 4));
M(res = mps_root_create(&made_root, arena, mps_rank_exact(), MPS_RM_CONST, scan_root, NULL, 0));
M(res = mps_root_create_reg(&made_root, arena, mps_rank_ambig(), MPS_RM_PROT, thr, mps_stack_scan_ambig, &out, 0));
M(res = mps_root_create_thread_tagged(&made_root, arena, mps_rank_ambig(), MPS_RM_PROT, thr, mps_scan_area_tagged, 7, 0, &out));
M(res = mps_root_create_thread_scanned(&made_root, arena, mps_rank_ambig(), MPS_RM_PROT, thr, mps_scan_area, NULL, &out));
M(res = mps_root_create_table(&made_root, arena, mps_rank_exact(), 0, NULL, 4));
M(res = mps_root_create_table(&made_root, arena, mps_rank_exact(), 0, (mps_addr_t *)(mps_addr_t)((char *)table + 1), 4));
M(res = mps_root_create_table(&made_root, arena, mps_rank_exact(), 0, table, 0));
M(res = mps_root_create_table_masked(&made_root, arena, mps_rank_exact(), 0, table, 0, 7));
M(res = mps_root_create_area(&made_root, arena, mps_rank_exact(), 0, table, table, mps_scan_area, NULL));
M(res = mps_root_create_area(&made_root, arena, mps_rank_exact(), 0, table + 1, table, mps_scan_area, NULL));
M(res = mps_root_create_area(&made_root, arena, mps_rank_exact(), 0, (char *)table + 1, table + 9, mps_scan_area, NULL));
M(res = mps_root_create_area(&made_root, arena, mps_rank_exact(), 0, table, table + 9, NULL, NULL));
M(res = mps_root_create_area_tagged(&made_root, arena, mps_rank_exact(), 0, table, (char *)table + 9, mps_scan_area_tagged, 7, 0));
M(res = mps_root_create_fmt(&made_root, arena, mps_rank_exact(), 0, obj_scan, NULL, table));
M(res = mps_root_create_fmt(&made_root, arena, mps_rank_exact(), 0, obj_scan, table, table));
M(res = mps_root_create_fmt(&made_root, arena, mps_rank_exact(), 0, NULL, table, table + 1));
M(res = mps_root_create_thread(&made_root, arena, NULL, &out));
M(res = mps_root_create_thread(&made_root, arena, thr, NULL));
M(res = mps_root_create_thread(&made_root, arena, thr, (char *)&out + 1));
M(res = mps_root_create_thread_tagged(&made_root, arena, mps_rank_exact(), 0, thr, mps_scan_area_tagged, 7, 0, &out));
M(res = mps_root_create_thread_scanned(&made_root, arena, mps_rank_exact(), 0, thr, mps_scan_area, NULL, &out));
M(res = mps_root_create_reg(&made_root, arena, mps_rank_exact(), 0, thr, mps_stack_scan_ambig, &out, 0));
M(res = mps_root_create_reg(&made_root, arena, mps_rank_ambig(), 0, thr, scan_reg, &out, 0));

/* scanning */
M(table[1] = (char *)table[0] + 1; res = mps_arena_collect(arena));

/* location dependencies */
M(memset(&ld, 0x7E, sizeof ld); mps_ld_add(&ld, arena, table[0]));
M(memset(&ld, 0x7E, sizeof ld); (void)mps_ld_isstale(&ld, arena, table[0]));

/* messages */
M(mps_message_type_enable(arena, 17));
M(mps_message_type_disable(arena, 17));
M((void)mps_message_get(&message, arena, 17));
M(get_message(mps_message_type_gc()); (void)mps_message_gc_start_why(arena, message));
M(get_message(mps_message_type_gc()); mps_message_finalization_ref(&out, arena, message));
M(get_message(mps_message_type_gc_start()); (void)mps_message_gc_live_size(arena, message));
M(get_message(mps_message_type_finalization()); (void)mps_message_gc_condemned_size(arena, message));

/* finalization */
M(res = mps_finalize(arena, (mps_addr_t[]){&table[0]}));
M(res = mps_finalize(arena, &block));
M(res = mps_finalize(arena, (mps_addr_t[]){obj_on(point(snc), OBJ_NODE, 2)}));
M(res = mps_definalize(arena, (mps_addr_t[]){&table[0]}));

/* walking */
M(mps_arena_release(arena); res = mps_pool_walk(pool, mps_scan_area, NULL));
M(mps_amc_apply(mvff, NULL, NULL, 0));

/* telemetry */
M(mps_telemetry_label(table[0], 12345));

/* clang-format on */

extern const misuse_t __start_misuses[], __stop_misuses[];

static int run(void (*body)(void)) {
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    surroundings();
    body();
    _exit(MISSED);
  }
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

START_TEST(test_rows) {
  size_t missed = 0, n = (size_t)(__stop_misuses - __start_misuses);
  ck_assert_uint_gt(n, 100);
  if (!TDO_COOL)
    return;
  for (size_t i = 0; i < n; ++i) {
    const misuse_t *m = &__start_misuses[i];
    int got = run(m->body);
    /* A destroyed arena's memory may be gone. */
    if (got == -SIGSEGV && strstr(m->what, "mps_arena_destroy(other)"))
      continue;
    if (got != CAUGHT) {
      fprintf(stderr, "status %d: %s\n", got, m->what);
      ++missed;
    }
  }
  ck_assert_uint_eq(missed, 0);
}
END_TEST

/* ---- what looks like misuse and must work ---- */

START_TEST(test_no_misuse) {
  mps_addr_t p, q;
  mps_gen_param_s many[33];
  mps_ap_t made;
  surroundings();
  asserted_start();
  for (int i = 0; i < 33; ++i)
    many[i] = (mps_gen_param_s){10, 0.5};
  ck_assert_int_eq(mps_chain_create(&made_chain, arena, 33, many), MPS_RES_OK);
  mps_chain_destroy(made_chain);
  mps_ld_reset(&ld, arena);
  mps_ld_add(&ld, other, table[0]);
  (void)mps_ld_isstale(&ld, other, table[0]);
  ck_assert_int_eq(mps_reserve(&p, ap, 16), MPS_RES_OK);
  ck_assert_int_eq(mps_reserve(&q, ap, 16), MPS_RES_OK);
  ck_assert_ptr_eq(p, q); /* by the macro, it extends the first */
  *(mps_word_t *)p = 32 << 3 | OBJ_LEAF;
  ck_assert(mps_commit(ap, p, 32));
  ck_assert_int_eq(mps_root_create_fmt(&made_root, arena, mps_rank_ambig(), 0,
                                       obj_scan, (char *)&table[0] + 1,
                                       (char *)&table[0] + 2),
                   MPS_RES_OK);
  mps_root_destroy(made_root);
  mps_message_type_enable(arena, mps_message_type_gc());
  mps_message_type_enable(arena, mps_message_type_gc());
  mps_message_type_disable(arena, mps_message_type_gc());
  mps_message_type_disable(arena, mps_message_type_gc());
  for (int i = 0; i < 3; ++i) {
    mps_arena_park(arena);
    mps_arena_clamp(arena);
    mps_arena_clamp(arena);
    mps_arena_release(arena);
    mps_arena_park(arena);
    mps_arena_park(arena);
  }
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_RANK, mps_rank_exact());
    MPS_ARGS_ADD(args, MPS_KEY_MFS_UNIT_SIZE, 16);
    ck_assert_int_eq(mps_ap_create_k(&made, mvff, args), MPS_RES_OK);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_RANK);
    ck_assert_ptr_eq(args[1].key, MPS_KEY_MFS_UNIT_SIZE);
  }
  MPS_ARGS_END(args);
  ck_assert_int_eq(mps_ap_alloc_pattern_begin(made, mps_alloc_pattern_ramp()),
                   MPS_RES_OK);
  ck_assert_int_eq(mps_ap_frame_push(&frame, made), MPS_RES_OK);
  mps_ap_destroy(made);
  ck_assert_uint_eq(asserted_count, 0);
}
END_TEST

/* A handler that returns: the pool is refused, in every variety. */
START_TEST(test_refused) {
  mps_pool_class_t classes[] = {mps_class_amc(), mps_class_amcz(),
                                mps_class_ams(), mps_class_awl(),
                                mps_class_lo()};
  surroundings();
  asserted_start();
  REQUIRE(mps_fmt_create_k(&made_fmt, other, mps_args_none) == MPS_RES_OK);
  REQUIRE(mps_chain_create(&made_chain, other, 1, good_gens) == MPS_RES_OK);
  for (size_t i = 0; i < sizeof classes / sizeof classes[0]; ++i) {
    ASSERTED(res = mps_pool_create_k(&made_pool, arena, classes[i],
                                     mps_args_none));
    ck_assert_int_eq(res, MPS_RES_PARAM);
    ASSERTED(POOL_WITH(classes[i], FORMAT, made_fmt));
    ck_assert_int_eq(res, MPS_RES_PARAM);
    ASSERTED(POOL_WITH_2(classes[i], FORMAT, fmt, CHAIN, NULL));
    ck_assert_int_eq(res, MPS_RES_PARAM);
    ASSERTED(POOL_WITH_2(classes[i], FORMAT, fmt, CHAIN, made_chain));
    ck_assert_int_eq(res, MPS_RES_PARAM);
  }
  ASSERTED(res = mps_pool_create_k(&made_pool, arena, mps_class_snc(),
                                   mps_args_none));
  ck_assert_int_eq(res, MPS_RES_PARAM);
}
END_TEST

SUITE_MAIN("misuse", 100, test_rows, test_no_misuse, test_refused)
