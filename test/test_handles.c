/* Testudo: every entry point given null, and what is no handle (zeroes, as a
   destroyed object's memory may be), under an assertion handler that returns:
   the mistake is reported once, and the call gives a result of no effect.
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/heap.h"

#include "mpsacl.h"
#include "mpscamc.h"
#include "mpscams.h"
#include "mpscmvff.h"
#include "test/objects.h"
#include "test/suite.h"

/* CALL is reported, once, and gives VALUE. */
#define GIVES(call, value)                                                    \
  do {                                                                        \
    asserted_count = 0;                                                       \
    ck_assert((call) == (value));                                             \
    ck_assert_msg(asserted_count == !TDO_RASH, "%u assertions: %s",           \
                  asserted_count, #call);                                     \
    asserted_count = 0;                                                       \
  } while (0)

/* The same for what returns nothing. */
#define REPORTS(call) GIVES(((call), 0), 0)

/* No handle: the library looks around it for its signature. */
static mps_word_t zeroes[8192];
static void *const not_a_handle[] = {NULL, &zeroes[4096]};
#define HANDLES 2

static mps_addr_t out;
static mps_fmt_t out_fmt;
static mps_pool_t manual;

static void begin(void) {
  heap_start(mps_class_amc());
  ck_assert_int_eq(
      mps_pool_create_k(&manual, arena, mps_class_mvff(), mps_args_none),
      MPS_RES_OK);
  table[0] = numbered(5);
}

/* Nothing happened to the heap; nothing was written through a null handle. */
static void end(void) {
  tdo_arena_check(arena);
  ck_assert_uint_eq(number_of(table[0]), 5);
  for (size_t i = 0; i < sizeof zeroes / sizeof zeroes[0]; ++i)
    REQUIRE(zeroes[i] == 0);
  mps_pool_destroy(manual);
  heap_stop();
}

START_TEST(arenas) {
  begin();
  for (int i = 0; i < HANDLES; ++i) {
    mps_arena_t a = not_a_handle[i];
    REPORTS(mps_arena_destroy(a));
    GIVES(mps_arena_extend(a, zeroes, 4096), MPS_RES_PARAM);
    GIVES(mps_arena_vm_growth(a, 4096, 4096), MPS_RES_PARAM);
    GIVES(mps_arena_reserved(a), 0);
    GIVES(mps_arena_committed(a), 0);
    GIVES(mps_arena_spare_committed(a), 0);
    GIVES(mps_arena_commit_limit(a), 0);
    GIVES(mps_arena_spare(a), 0.0);
    GIVES(mps_arena_spare_commit_limit(a), 0);
    GIVES(mps_arena_pause_time(a), 0.0);
    GIVES(mps_arena_commit_limit_set(a, 4096), MPS_RES_PARAM);
    REPORTS(mps_arena_spare_set(a, 0.5));
    REPORTS(mps_arena_spare_commit_limit_set(a, 4096));
    REPORTS(mps_arena_pause_time_set(a, 0.1));
    GIVES(mps_collections(a), 0);
    REPORTS(mps_arena_clamp(a));
    REPORTS(mps_arena_park(a));
    REPORTS(mps_arena_release(a));
    REPORTS(mps_arena_postmortem(a));
    GIVES(mps_arena_collect(a), MPS_RES_PARAM);
    GIVES(mps_arena_start_collect(a), MPS_RES_PARAM);
    GIVES(mps_arena_step(a, 0.1, 1.0), 0);
    GIVES(mps_arena_busy(a), 0);
    GIVES(mps_arena_has_addr(a, table[0]), 0);
    GIVES(mps_addr_pool(&manual, a, table[0]), 0);
    GIVES(mps_addr_fmt(&out_fmt, a, table[0]), 0);
    GIVES(mps_addr_object(&out, a, table[0]), MPS_RES_PARAM);
  }
  GIVES(mps_arena_create_k(NULL, mps_arena_class_vm(), mps_args_none),
        MPS_RES_PARAM);
  GIVES(mps_arena_create_k(&arena, NULL, mps_args_none), MPS_RES_PARAM);
  GIVES(mps_arena_extend(arena, zeroes, 4096), MPS_RES_UNIMPL);
  GIVES(mps_addr_pool(NULL, arena, table[0]), 0);
  GIVES(mps_addr_fmt(NULL, arena, table[0]), 0);
  GIVES(mps_addr_object(NULL, arena, table[0]), MPS_RES_PARAM);
  ck_assert_int_eq(mps_addr_object(&out, arena, zeroes), MPS_RES_FAIL);
  end();
}
END_TEST

START_TEST(messages) {
  mps_message_t kept;
  begin();
  mps_message_type_enable(arena, mps_message_type_gc_start());
  collect();
  ck_assert(mps_message_get(&kept, arena, mps_message_type_gc_start()));
  for (int i = 0; i < HANDLES; ++i) {
    mps_arena_t a = not_a_handle[i];
    mps_message_t m = not_a_handle[i];
    mps_message_type_t type;
    mps_ld_s ld;
    GIVES(mps_message_poll(a), 0);
    GIVES(mps_message_queue_type(&type, a), 0);
    GIVES(mps_message_get(&m, a, mps_message_type_gc()), 0);
    REPORTS(mps_message_type_enable(a, mps_message_type_gc()));
    REPORTS(mps_message_type_disable(a, mps_message_type_gc()));
    REPORTS(mps_message_discard(a, kept));
    GIVES(mps_message_type(a, kept), 0);
    GIVES(mps_message_clock(a, kept), 0);
    GIVES(mps_message_gc_live_size(a, kept), 0);
    GIVES(mps_message_gc_condemned_size(a, kept), 0);
    GIVES(mps_message_gc_not_condemned_size(a, kept), 0);
    GIVES(*mps_message_gc_start_why(a, kept), '\0');
    REPORTS(mps_message_finalization_ref(&out, a, kept));
    GIVES(mps_finalize(a, &table[0]), MPS_RES_PARAM);
    GIVES(mps_definalize(a, &table[0]), MPS_RES_PARAM);
    REPORTS(mps_message_discard(arena, m));
    GIVES(mps_message_type(arena, m), 0);
    GIVES(mps_message_clock(arena, m), 0);
    GIVES(mps_message_gc_live_size(arena, m), 0);
    GIVES(mps_message_gc_condemned_size(arena, m), 0);
    GIVES(mps_message_gc_not_condemned_size(arena, m), 0);
    GIVES(*mps_message_gc_start_why(arena, m), '\0');
    REPORTS(mps_message_finalization_ref(&out, arena, m));
    REPORTS(mps_ld_reset(&ld, a));
    REPORTS(mps_ld_add(&ld, a, table[0]));
    REPORTS(mps_ld_merge(&ld, a, &ld));
    GIVES(mps_ld_isstale(&ld, a, table[0]), 1);
    GIVES(mps_ld_isstale_any(&ld, a), 1);
  }
  GIVES(mps_message_gc_not_condemned_size(arena, kept), 0); /* not its type */
  REPORTS(mps_message_finalization_ref(NULL, arena, kept));
  GIVES(mps_message_get(NULL, arena, mps_message_type_gc()), 0);
  GIVES(mps_message_queue_type(NULL, arena), 0);
  REPORTS(mps_ld_merge(NULL, arena, NULL));
  REPORTS(mps_ld_reset(NULL, arena));
  ck_assert_int_gt((int)strlen(mps_message_gc_start_why(arena, kept)), 0);
  mps_message_discard(arena, kept);
  end();
}
END_TEST

START_TEST(pools) {
  mps_sac_class_s class = {8, 1, 1};
  begin();
  mps_arena_park(arena);
  for (int i = 0; i < HANDLES; ++i) {
    mps_pool_t p = not_a_handle[i];
    mps_ap_t made;
    mps_sac_t sac;
    REPORTS(mps_pool_destroy(p));
    GIVES(mps_pool_total_size(p), 0);
    GIVES(mps_pool_free_size(p), 0);
    GIVES(mps_alloc(&out, p, 16), MPS_RES_PARAM);
    REPORTS(mps_free(p, table[0], 16));
    REPORTS(mps_pool_check_fenceposts(p));
    REPORTS(mps_pool_check_free_space(p));
    GIVES(mps_ap_create_k(&made, p, mps_args_none), MPS_RES_PARAM);
    GIVES(mps_ap_create(&made, p), MPS_RES_PARAM);
    GIVES(mps_sac_create(&sac, p, 1, &class), MPS_RES_PARAM);
    GIVES(mps_pool_walk(p, mps_scan_area, NULL), MPS_RES_PARAM);
    REPORTS(mps_amc_apply(p, NULL, NULL, 0));
    GIVES(mps_pool_create_k(&manual, (mps_arena_t)(void *)p, mps_class_mvff(),
                            mps_args_none),
          MPS_RES_PARAM);
    GIVES(mps_pool_create_k(&manual, arena, (mps_pool_class_t)(void *)p,
                            mps_args_none),
          MPS_RES_PARAM);
    GIVES(mps_pool_create(&manual, arena, (mps_pool_class_t)(void *)p),
          MPS_RES_PARAM);
  }
  GIVES(mps_pool_create_k(NULL, arena, mps_class_mvff(), mps_args_none),
        MPS_RES_PARAM);
  GIVES(mps_ap_create_k(NULL, pool, mps_args_none), MPS_RES_PARAM);
  GIVES(mps_sac_create(NULL, manual, 1, &class), MPS_RES_PARAM);
  GIVES(mps_alloc(NULL, manual, 16), MPS_RES_PARAM);
  GIVES(mps_pool_walk(pool, NULL, NULL), MPS_RES_PARAM);
  mps_arena_release(arena);
  GIVES(mps_pool_walk(pool, mps_scan_area, NULL), MPS_RES_LIMIT);
  end();
}
END_TEST

START_TEST(points) {
  mps_frame_t frame;
  begin();
  for (int i = 0; i < HANDLES; ++i) {
    mps_ap_t p = not_a_handle[i];
    REPORTS(mps_ap_destroy(p));
    GIVES(mps_ap_fill(&out, p, 16), MPS_RES_PARAM);
    GIVES(mps_ap_trip(p, table[0], 16), 0);
    GIVES((mps_reserve)(&out, p, 16), MPS_RES_PARAM);
    GIVES((mps_commit)(p, table[0], 16), 0);
    GIVES((mps_ap_frame_push)(&frame, p), MPS_RES_PARAM);
    GIVES((mps_ap_frame_pop)(p, NULL), MPS_RES_PARAM);
    GIVES(mps_ap_alloc_pattern_begin(p, mps_alloc_pattern_ramp()),
          MPS_RES_PARAM);
    GIVES(mps_ap_alloc_pattern_end(p, mps_alloc_pattern_ramp()),
          MPS_RES_PARAM);
    GIVES(mps_ap_alloc_pattern_reset(p), MPS_RES_PARAM);
  }
  GIVES(mps_ap_fill(NULL, ap, 16), MPS_RES_PARAM);
  GIVES((mps_reserve)(NULL, ap, 16), MPS_RES_PARAM);
  GIVES((mps_ap_frame_push)(NULL, ap), MPS_RES_PARAM);
  GIVES(mps_ap_alloc_pattern_begin(ap, NULL), MPS_RES_PARAM);
  GIVES(mps_ap_alloc_pattern_end(ap, NULL), MPS_RES_PARAM);
  ck_assert_int_eq((mps_reserve)(&out, ap, 16), MPS_RES_OK);
  *(mps_word_t *)out = 16 << 3 | OBJ_LEAF;
  GIVES((mps_commit)(ap, out, 0), 0);
  GIVES(mps_ap_trip(ap, out, 16), 0); /* not trapped */
  ck_assert((mps_commit)(ap, out, 16));
  end();
}
END_TEST

START_TEST(caches) {
  mps_sac_class_s class = {16, 1, 1};
  mps_sac_t sac;
  begin();
  for (int i = 0; i < HANDLES; ++i) {
    mps_sac_t s = not_a_handle[i];
    REPORTS(mps_sac_destroy(s));
    REPORTS(mps_sac_flush(s));
    GIVES(mps_sac_alloc(&out, s, 16, 0), MPS_RES_PARAM);
    GIVES(mps_sac_fill(&out, s, 16, 0), MPS_RES_PARAM);
    REPORTS(mps_sac_free(s, table[0], 16));
    REPORTS(mps_sac_empty(s, table[0], 16));
  }
  ck_assert_int_eq(mps_sac_create(&sac, manual, 1, &class), MPS_RES_OK);
  GIVES(mps_sac_alloc(NULL, sac, 16, 0), MPS_RES_PARAM);
  GIVES(mps_sac_fill(NULL, sac, 16, 0), MPS_RES_PARAM);
  GIVES(mps_sac_alloc(&out, sac, 0, 0), MPS_RES_PARAM);
  GIVES(mps_sac_fill(&out, sac, 0, 0), MPS_RES_PARAM);
  REPORTS(mps_sac_free(sac, NULL, 16));
  REPORTS(mps_sac_free(sac, zeroes, 0));
  REPORTS(mps_sac_empty(sac, NULL, 16));
  REPORTS(mps_sac_empty(sac, zeroes, 0));
  ck_assert_int_eq(mps_sac_fill(&out, sac, SIZE_MAX - 15, 0),
                   MPS_RES_RESOURCE);
  mps_sac_destroy(sac);
  end();
}
END_TEST

static void no_step(mps_addr_t obj, mps_fmt_t f, mps_pool_t p, void *q,
                    size_t s) {
  (void)obj, (void)f, (void)p, (void)q, (void)s;
}

static void no_root(mps_addr_t *slot, mps_root_t root, void *p, size_t s) {
  (void)slot, (void)root, (void)p, (void)s;
}

START_TEST(others) {
  mps_gen_param_s gen = {10, 0.5};
  begin();
  for (int i = 0; i < HANDLES; ++i) {
    mps_arena_t a = not_a_handle[i];
    void *h = not_a_handle[i];
    mps_chain_t made_chain;
    mps_fmt_t made_fmt;
    mps_root_t root;
    mps_thr_t made_thr;
    mps_transform_t transform;
    mps_bool_t applied;
    tdo_statistics_s s;
    GIVES(mps_chain_create(&made_chain, a, 1, &gen), MPS_RES_PARAM);
    GIVES(mps_fmt_create_k(&made_fmt, a, mps_args_none), MPS_RES_PARAM);
    GIVES(mps_root_create_table(&root, a, mps_rank_exact(), 0, table, 1),
          MPS_RES_PARAM);
    GIVES(mps_thread_reg(&made_thr, a), MPS_RES_PARAM);
    GIVES(mps_root_create_thread(&root, arena, h, &out), MPS_RES_PARAM);
    REPORTS(mps_chain_destroy(h));
    REPORTS(mps_fmt_destroy(h));
    REPORTS(mps_root_destroy(h));
    REPORTS(mps_thread_dereg(h));
    GIVES(mps_transform_create(&transform, a), MPS_RES_PARAM);
    GIVES(mps_transform_add_oldnew(h, &out, &out, 1), MPS_RES_PARAM);
    GIVES(mps_transform_apply(&applied, h), MPS_RES_PARAM);
    REPORTS(mps_transform_destroy(h));
    REPORTS(mps_arena_formatted_objects_walk(a, no_step, NULL, 0));
    REPORTS(mps_arena_roots_walk(a, no_root, NULL, 0));
    REPORTS(tdo_statistics(a, &s));
    REPORTS(tdo_arena_describe(a, stderr));
    REPORTS(tdo_arena_check(a));
  }
  GIVES(mps_root_create_table(NULL, arena, mps_rank_exact(), 0, table, 1),
        MPS_RES_PARAM);
  GIVES(mps_thread_reg(NULL, arena), MPS_RES_PARAM);
  GIVES(mps_chain_create(NULL, arena, 1, &gen), MPS_RES_PARAM);
  GIVES(mps_fmt_create_k(NULL, arena, mps_args_none), MPS_RES_PARAM);
  GIVES(mps_telemetry_intern(NULL), 0);
  REPORTS(tdo_statistics(arena, NULL));
  REPORTS(tdo_arena_describe(arena, NULL));
  REPORTS(mps_arena_roots_walk(arena, NULL, NULL, 0));
  REPORTS(mps_arena_roots_walk(arena, no_root, NULL, 0)); /* not parked */
  REPORTS(mps_arena_formatted_objects_walk(arena, NULL, NULL, 0));
  end();
}
END_TEST

/* An argument list that does not end, or has a null key. */
START_TEST(arguments) {
  mps_arg_s bad[2] = {{NULL, {0}}, {MPS_KEY_ARGS_END, {0}}};
  mps_arena_t made;
  mps_fmt_t made_fmt;
  mps_pool_t made_pool;
  mps_ap_t made_ap;
  begin();
  GIVES(mps_arena_create_k(&made, mps_arena_class_vm(), bad), MPS_RES_PARAM);
  GIVES(mps_fmt_create_k(&made_fmt, arena, bad), MPS_RES_PARAM);
  GIVES(mps_pool_create_k(&made_pool, arena, mps_class_mvff(), bad),
        MPS_RES_PARAM);
  GIVES(mps_ap_create_k(&made_ap, pool, bad), MPS_RES_PARAM);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, sizeof zeroes);
    GIVES(mps_arena_create_k(&made, mps_arena_class_cl(), args),
          MPS_RES_PARAM);
  }
  MPS_ARGS_END(args);
  end();
}
END_TEST

/* A format without a method that its pool needs: whoever calls it is told in
   every build, and the stand-in returns what does least. */
START_TEST(missing_methods) {
  mps_fmt_t f;
  mps_pool_t p;
  mps_ap_t q;
  begin();
  mps_arena_park(arena);
  ck_assert_int_eq(mps_fmt_create_k(&f, arena, mps_args_none), MPS_RES_OK);
  ASSERTED_ALWAYS(ck_assert_int_eq(f->scan(NULL, &out, &out), MPS_RES_OK));
  ASSERTED_ALWAYS(ck_assert(f->skip(&out) > (void *)&out));
  ASSERTED_ALWAYS(f->fwd(&out, &out));
  ASSERTED_ALWAYS(ck_assert_ptr_null(f->isfwd(&out)));
  ASSERTED_ALWAYS(f->pad(&out, sizeof out));
  mps_fmt_destroy(f);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, obj_skip);
    ck_assert_int_eq(mps_fmt_create_k(&f, arena, args), MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  CREATE(p, mps_class_ams(), FORMAT, f);
  q = point(p);
  table[1] = obj_on(q, OBJ_NODE, 2);
  ASSERTED_ALWAYS((void)mps_arena_collect(arena)); /* scans */
  ck_assert_uint_eq(obj_refs(table[1]), 2);
  table[1] = NULL;
  mps_ap_destroy(q);
  mps_pool_destroy(p);
  mps_fmt_destroy(f);
  end();
}
END_TEST

SUITE_MAIN("handles", 60, arenas, messages, pools, points, caches, others,
           arguments, missing_methods)
