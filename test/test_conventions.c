/* Testudo: what the interface promises everywhere, and small promises that no
   other test has (interface, sections 1, 2 and 6).
   SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "mpsacl.h"
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "mpscmfs.h"
#include "mpscmvt.h"
#include "mpscsnc.h"
#include "test/objects.h"
#include "test/suite.h"

#define MIB ((size_t)1 << 20)

/* ---- before any arena ---- */

START_TEST(classes) {
  mps_pool_class_t (*const getters[])(void) = {
      mps_class_amc, mps_class_amcz, mps_class_ams,  mps_class_ams_debug,
      mps_class_awl, mps_class_lo,   mps_class_mfs,  mps_class_mvff,
      mps_class_mvt, mps_class_snc,  mps_class_mvff_debug};
  size_t n = sizeof getters / sizeof getters[0];
  for (size_t i = 0; i < n; ++i) {
    ck_assert_ptr_nonnull(getters[i]());
    ck_assert_ptr_eq(getters[i](), getters[i]());
    for (size_t j = 0; j < i; ++j)
      ck_assert_ptr_ne(getters[i](), getters[j]());
  }
  ck_assert_ptr_ne(mps_arena_class_vm(), mps_arena_class_cl());
  ck_assert_ptr_eq(mps_arena_class_cl(), mps_arena_class_cl());
  ck_assert_ptr_ne(mps_alloc_pattern_ramp(),
                   mps_alloc_pattern_ramp_collect_all());
}
END_TEST

/* The filter is the process's; labels of any length up to 256 bytes. */
START_TEST(telemetry) {
  char longest[256];
  mps_word_t mask = TDO_RASH ? 0 : 5;
  memset(longest, 'x', sizeof longest);
  longest[sizeof longest - 1] = '\0';
  mps_telemetry_reset(~(mps_word_t)0);
  mps_telemetry_set(7);
  mps_telemetry_reset(2);
  ck_assert_uint_eq(mps_telemetry_get(), mask);
  mps_telemetry_reset(~(mps_word_t)0);
  ck_assert_uint_eq(mps_telemetry_get(), 0);
  ck_assert_uint_ne(mps_telemetry_intern(longest),
                    mps_telemetry_intern(longest));
  mps_telemetry_flush();
}
END_TEST

static void (*handler_of(int signal))(int) {
  struct sigaction action;
  REQUIRE(sigaction(signal, NULL, &action) == 0);
  return action.sa_handler;
}

/* The first arena takes SIGSEGV, the first thread the two signals that stop
   threads; nothing else changes. */
START_TEST(signals) {
  struct sigaction action;
  mps_thr_t t;
  (void)signal(SIGSEGV, SIG_DFL);
  (void)signal(SIGUSR1, SIG_DFL);
  (void)signal(SIGUSR2, SIG_IGN);
  start();
  ck_assert(handler_of(SIGSEGV) != SIG_DFL);
  ck_assert(handler_of(SIGXCPU) == SIG_DFL);
  ck_assert(handler_of(SIGXFSZ) == SIG_DFL);
  ck_assert_int_eq(mps_thread_reg(&t, arena), MPS_RES_OK);
  ck_assert_int_eq(sigaction(SIGXCPU, NULL, &action), 0);
  ck_assert(action.sa_handler != SIG_DFL && (action.sa_flags & SA_RESTART));
  ck_assert_int_eq(sigaction(SIGXFSZ, NULL, &action), 0);
  ck_assert(action.sa_handler != SIG_DFL && (action.sa_flags & SA_RESTART));
  ck_assert_int_eq(sigaction(SIGSEGV, NULL, &action), 0);
  ck_assert_int_eq(action.sa_flags & (SA_SIGINFO | SA_RESTART),
                   SA_SIGINFO | SA_RESTART);
  ck_assert(handler_of(SIGUSR1) == SIG_DFL);
  ck_assert(handler_of(SIGUSR2) == SIG_IGN);
  mps_thread_dereg(t);
  stop();
}
END_TEST

/* ---- out-parameters ---- */

/* Functions that answer "no" leave them as they were. */
START_TEST(untouched) {
  char mark;
  mps_message_t message = (mps_message_t)(void *)&mark;
  mps_message_type_t type = 99;
  mps_pool_t p = (mps_pool_t)(void *)&mark;
  mps_fmt_t f = (mps_fmt_t)(void *)&mark;
  mps_addr_t obj = &mark;
  mps_sac_class_s nine[9];
  mps_sac_t sac = (mps_sac_t)(void *)&mark;
  mps_frame_t frame = (mps_frame_t)(void *)&mark;
  heap_start(mps_class_amc());
  ck_assert(!mps_message_get(&message, arena, mps_message_type_gc()));
  ck_assert_ptr_eq(message, &mark);
  ck_assert(!mps_message_queue_type(&type, arena));
  ck_assert_uint_eq(type, 99);
  ck_assert(!mps_addr_pool(&p, arena, &mark));
  ck_assert_ptr_eq(p, &mark);
  ck_assert(!mps_addr_fmt(&f, arena, &mark));
  ck_assert_ptr_eq(f, &mark);
  ck_assert_int_eq(mps_addr_object(&obj, arena, &mark), MPS_RES_FAIL);
  ck_assert_ptr_eq(obj, &mark);
  CREATE(p, mps_class_mvff(), SPARE, 0.5);
  for (size_t i = 0; i < 9; ++i)
    nine[i] = (mps_sac_class_s){8 * (i + 1), 1, 1};
  ck_assert_int_eq(mps_sac_create(&sac, p, 9, nine), MPS_RES_LIMIT);
  ck_assert_ptr_eq(sac, &mark);
  mps_pool_destroy(p);
  ck_assert_int_eq(mps_reserve(&obj, ap, 16), MPS_RES_OK);
  ck_assert_int_eq(mps_ap_frame_push(&frame, ap), MPS_RES_FAIL);
  ck_assert_ptr_eq(frame, &mark);
  *(mps_word_t *)obj = 16 << 3 | OBJ_LEAF;
  (void)mps_commit(ap, obj, 16);
  heap_stop();
}
END_TEST

/* What is passed by pointer is copied. */
START_TEST(copied) {
  mps_gen_param_s gens[] = {{100, 0.5}, {200, 0.5}};
  mps_sac_class_s cls[] = {{16, 3, 1}, {64, 3, 1}};
  char fence[] = "post", free_text[] = "free";
  mps_pool_debug_option_s options = {fence, 4, free_text, 4};
  mps_chain_t c;
  mps_pool_t p;
  mps_sac_t sac;
  mps_addr_t block;
  start();
  ck_assert_int_eq(mps_chain_create(&c, arena, 2, gens), MPS_RES_OK);
  memset(gens, 0xFF, sizeof gens);
  mps_chain_destroy(c);
  CREATE(p, mps_class_mvff_debug(), POOL_DEBUG_OPTIONS, &options);
  memset(&options, 0xFF, sizeof options);
  memset(fence, 0, sizeof fence);
  memset(free_text, 0, sizeof free_text);
  ck_assert_int_eq(mps_sac_create(&sac, p, 2, cls), MPS_RES_OK);
  memset(cls, 0, sizeof cls);
  ck_assert_int_eq(mps_sac_alloc(&block, sac, 60, 0), MPS_RES_OK);
  ck_assert_mem_eq(block, "freefree", 8);
  mps_sac_free(sac, block, 60);
  mps_sac_destroy(sac);
  mps_pool_check_fenceposts(p);
  mps_pool_check_free_space(p);
  mps_pool_destroy(p);
  stop();
}
END_TEST

/* ---- arenas ---- */

START_TEST(destroyed_in_any_state) {
  for (int state = 0; state < 4; ++state) {
    mps_pool_t m;
    start();
    CREATE(m, mps_class_mvff(), SPARE, 1.0);
    (void)alloc(m, 100000);
    if (state == 1)
      mps_arena_clamp(arena);
    else if (state == 2)
      mps_arena_park(arena);
    else if (state == 3)
      (void)mps_arena_collect(arena);
    mps_pool_destroy(m);
    stop();
  }
}
END_TEST

/* A reference in another arena keeps nothing alive; a root may lie in another
   arena's memory. */
START_TEST(two_arenas) {
  mps_arena_t other;
  mps_pool_t m;
  mps_root_t root;
  mps_addr_t *words;
  mps_message_t message;
  heap_start(mps_class_amc());
  ck_assert_int_eq(mps_arena_create_k(&other, mps_arena_class_vm(),
                                      mps_args_none),
                   MPS_RES_OK);
  ck_assert_int_eq(mps_pool_create_k(&m, other, mps_class_mvff(),
                                     mps_args_none),
                   MPS_RES_OK);
  words = (mps_addr_t *)(void *)alloc(m, 2 * sizeof *words);
  ck_assert_int_eq(mps_root_create_area(&root, arena, mps_rank_exact(), 0,
                                        words, words + 1, mps_scan_area,
                                        NULL),
                   MPS_RES_OK);
  words[0] = table[0] = numbered(1);
  words[1] = table[1] = numbered(2);
  mps_message_type_enable(arena, mps_message_type_finalization());
  for (int i = 0; i < 2; ++i)
    ck_assert_int_eq(mps_finalize(arena, &table[i]), MPS_RES_OK);
  memset(table, 0, sizeof table);
  collect();
  ck_assert_uint_eq(number_of(words[0]), 1); /* it is a root */
  ck_assert(mps_message_get(&message, arena,
                            mps_message_type_finalization()));
  mps_message_finalization_ref(&table[1], arena, message);
  ck_assert_uint_eq(number_of(table[1]), 2); /* that was none */
  mps_message_discard(arena, message);
  ck_assert(!mps_message_poll(arena));
  mps_root_destroy(root);
  mps_pool_destroy(m);
  mps_arena_destroy(other);
  heap_stop();
}
END_TEST

/* Reserved is not allocated. */
START_TEST(addresses) {
  mps_pool_t m;
  char *p, *q;
  size_t size = 4 * MIB;
  start();
  mps_arena_spare_set(arena, 0.0);
  CREATE(m, mps_class_mvff(), SPARE, 0.0);
  p = alloc(m, size);
  for (q = p; q < p + size; q += 4093)
    ck_assert(mps_arena_has_addr(arena, q));
  mps_free(m, p, size);
  ck_assert(!mps_arena_has_addr(arena, p + size / 2));
  mps_pool_destroy(m);
  ck_assert(!mps_arena_has_addr(arena, p));
  stop();
}
END_TEST

/* Spare memory of a client arena: a setting that is read back, no memory. */
START_TEST(client_spare) {
  static mps_word_t memory[MIB / 4];
  mps_pool_t m;
  mps_arena_t a;
  mps_addr_t p;
  ck_assert_int_eq(mps_arena_create(&a, mps_arena_class_cl(), sizeof memory,
                                    (mps_addr_t)memory),
                   MPS_RES_OK);
  mps_arena_spare_set(a, 0.375);
  ck_assert_double_eq(mps_arena_spare(a), 0.375);
  ck_assert_int_eq(mps_pool_create_k(&m, a, mps_class_mvff(), mps_args_none),
                   MPS_RES_OK);
  ck_assert_int_eq(mps_alloc(&p, m, 200000), MPS_RES_OK);
  mps_free(m, p, 200000);
  mps_pool_destroy(m);
  ck_assert_uint_eq(mps_arena_spare_committed(a), 0);
  ck_assert_uint_le(mps_arena_reserved(a), sizeof memory);
  ck_assert_int_eq(mps_arena_extend(a, memory, 1), MPS_RES_MEMORY);
  mps_arena_destroy(a);
}
END_TEST

/* ---- collections ---- */

START_TEST(collect_again) {
  heap_start(mps_class_amc());
  push_nodes(0, 50000);
  mps_arena_pause_time_set(arena, 0.0);
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  mps_arena_clamp(arena);
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK); /* parked */
  heap_stop();
}
END_TEST

static mps_res_t area(mps_ss_t ss, void *base, void *limit, void *closure) {
  (void)ss, (void)base, (void)limit, (void)closure;
  return MPS_RES_OK;
}

/* A collection of nothing fails, and parks all the same: only a parked arena
   may be walked. */
START_TEST(parked_by_failure) {
  heap_start(mps_class_amc());
  ASSERTED(ck_assert_int_ne(mps_pool_walk(pool, area, NULL), MPS_RES_OK));
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_FAIL);
  ck_assert_int_eq(mps_pool_walk(pool, area, NULL), MPS_RES_OK);
  heap_stop();
}
END_TEST

/* Collections that move nothing do not count. */
START_TEST(nothing_moves) {
  mps_pool_class_t cls[] = {mps_class_ams(), mps_class_awl(), mps_class_lo()};
  for (size_t i = 0; i < 3; ++i) {
    heap_start(cls[i]);
    for (size_t n = 0; n < 20000; ++n)
      table[n % ROOTS] = obj_on(ap, OBJ_LEAF, 3);
    collect();
    ck_assert_uint_eq(mps_collections(arena), 0);
    heap_stop();
  }
}
END_TEST

/* Garbage serves mps_alloc, unless the arena is clamped or parked. */
START_TEST(garbage_serves) {
  mps_addr_t p = NULL;
  mps_res_t res = MPS_RES_OK;
  mps_pool_t m;
  heap_start(mps_class_amc());
  CREATE(m, mps_class_mvff(), SPARE, 0.0);
  mps_arena_park(arena);
  for (size_t i = 0; i < 50000; ++i)
    (void)node(20);
  ck_assert_int_eq(
      mps_arena_commit_limit_set(arena, mps_arena_committed(arena)),
      MPS_RES_OK);
  ck_assert_int_eq(mps_alloc(&p, m, 4 * MIB), MPS_RES_COMMIT_LIMIT);
  mps_arena_clamp(arena);
  ck_assert_int_eq(mps_alloc(&p, m, 4 * MIB), MPS_RES_COMMIT_LIMIT);
  for (size_t i = 0; res == MPS_RES_OK; ++i)
    res = obj_try(&p, ap, OBJ_LEAF, 1000);
  ck_assert_int_eq(res, MPS_RES_COMMIT_LIMIT);
  mps_arena_release(arena);
  ck_assert_int_eq(mps_alloc(&p, m, 4 * MIB), MPS_RES_OK);
  ck_assert_int_eq(obj_try(&table[0], ap, OBJ_NODE, 10), MPS_RES_OK);
  mps_pool_destroy(m);
  heap_stop();
}
END_TEST

/* The clock of a message is that of its posting. */
START_TEST(message_clocks) {
  mps_message_t message;
  mps_clock_t before, after;
  heap_start(mps_class_amc());
  mps_message_type_enable(arena, mps_message_type_gc());
  mps_message_type_enable(arena, mps_message_type_gc_start());
  table[0] = node(2);
  before = mps_clock();
  collect();
  after = mps_clock();
  for (mps_message_type_t type = mps_message_type_gc();
       type <= mps_message_type_gc_start(); ++type) {
    ck_assert(mps_message_get(&message, arena, type));
    ck_assert_uint_eq(mps_message_type(arena, message), type);
    ck_assert_uint_ge(mps_message_clock(arena, message), before);
    ck_assert_uint_le(mps_message_clock(arena, message), after);
    ck_assert_int_eq(mps_arena_has_addr(arena, message), 1);
    mps_message_discard(arena, message);
  }
  heap_stop();
}
END_TEST

/* A dependency used with another arena, older or younger than its own: no
   harm, and no assertion. */
START_TEST(foreign_dependency) {
  mps_arena_t other;
  mps_ld_s here, there, zero;
  heap_start(mps_class_amc());
  ck_assert_int_eq(
      mps_arena_create_k(&other, mps_arena_class_vm(), mps_args_none),
      MPS_RES_OK);
  for (int i = 0; i < 5; ++i) {
    table[0] = node(2);
    collect();
  }
  memset(&zero, 0, sizeof zero);
  mps_ld_reset(&here, arena);
  mps_ld_reset(&there, other);
  mps_ld_add(&here, arena, table[0]);
  ck_assert(!mps_ld_isstale(&here, arena, table[0]));
  mps_ld_add(&there, arena, table[0]);
  mps_ld_add(&here, other, table[0]);
  mps_ld_add(&zero, arena, table[0]);
  (void)mps_ld_isstale(&there, arena, table[0]);
  (void)mps_ld_isstale(&here, other, table[0]);
  (void)mps_ld_isstale_any(&here, other);
  mps_ld_merge(&here, arena, &there);
  ck_assert(mps_ld_isstale(&here, arena, table[0])); /* to be safe */
  ck_assert(mps_ld_isstale(&zero, arena, table[0]));
  mps_arena_destroy(other);
  heap_stop();
}
END_TEST

/* ---- allocation points ---- */

/* An object of 200 MiB, of which only the ends are touched by the client. */
START_TEST(huge) {
  mps_pool_class_t cls[] = {mps_class_amc(), mps_class_amcz(), mps_class_lo()};
  size_t size = 200 * MIB;
  if (suite_emulated())
    return; /* its address space is small */
  for (size_t i = 0; i < 3; ++i) {
    mps_addr_t p;
    heap_start(cls[i]);
    do {
      ck_assert_int_eq(mps_reserve(&p, ap, size), MPS_RES_OK);
      *(mps_word_t *)p = size << 3 | OBJ_LEAF;
      ((char *)p)[size - 1] = 42;
    } while (!mps_commit(ap, p, size));
    table[0] = p;
    collect();
    ck_assert_uint_eq(obj_size(table[0]), size);
    ck_assert_int_eq(((char *)table[0])[size - 1], 42);
    table[0] = NULL;
    collect();
    ck_assert_uint_lt(mps_pool_total_size(pool), size);
    heap_stop();
  }
}
END_TEST

/* A commit by hand, as compilers write it: one whose point is trapped. */
START_TEST(trip_by_hand) {
  mps_addr_t p;
  heap_start(mps_class_amc());
  table[0] = node(2);
  ck_assert_int_eq((mps_reserve)(&p, ap, 32), MPS_RES_OK);
  *(mps_word_t *)p = 32 << 3 | OBJ_LEAF;
  collect();
  ck_assert_ptr_null(ap->limit);
  ap->init = ap->alloc;
  ck_assert_int_eq(mps_ap_trip(ap, p, 32), 0);
  ck_assert_int_eq((mps_reserve)(&p, ap, 32), MPS_RES_OK);
  *(mps_word_t *)p = 32 << 3 | OBJ_LEAF;
  ap->init = ap->alloc;
  ck_assert(ap->limit != NULL);
  table[1] = p;
  collect();
  ck_assert_uint_eq(obj_size(table[1]), 32);
  heap_stop();
}
END_TEST

/* Patterns are hints, on every class that has points. */
START_TEST(patterns) {
  mps_pool_class_t cls[] = {mps_class_amcz(), mps_class_ams(),
                            mps_class_awl(),  mps_class_lo(),
                            mps_class_snc(),  mps_class_mvff(),
                            mps_class_mvt()};
  mps_alloc_pattern_t ramp = mps_alloc_pattern_ramp();
  heap_start(mps_class_amc());
  for (size_t i = 0; i < sizeof cls / sizeof cls[0]; ++i) {
    mps_pool_t p;
    mps_ap_t q;
    MPS_ARGS_BEGIN(args) {
      MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
      ck_assert_int_eq(mps_pool_create_k(&p, arena, cls[i], args),
                       MPS_RES_OK);
    }
    MPS_ARGS_END(args);
    q = point(p);
    ck_assert_int_eq(mps_ap_alloc_pattern_begin(q, ramp), MPS_RES_OK);
    (void)obj_on(q, OBJ_LEAF, 10);
    ck_assert_int_eq(mps_ap_alloc_pattern_end(q, ramp), MPS_RES_OK);
    ck_assert_int_eq(mps_ap_alloc_pattern_end(q, ramp), MPS_RES_FAIL);
    ck_assert_int_eq(mps_ap_alloc_pattern_begin(q, ramp), MPS_RES_OK);
    ck_assert_int_eq(mps_ap_alloc_pattern_reset(q), MPS_RES_OK);
    ck_assert_int_eq(mps_ap_alloc_pattern_end(q, ramp), MPS_RES_FAIL);
    mps_ap_destroy(q);
    mps_pool_destroy(p);
  }
  heap_stop();
}
END_TEST

/* A rank that the class has not: refused; one that a class without ranks is
   given in the old form: ignored. */
START_TEST(ranks_of_points) {
  mps_pool_class_t cls[] = {mps_class_awl(), mps_class_snc()};
  mps_ap_t q = NULL;
  for (size_t i = 0; i < 2; ++i) {
    mps_pool_t p;
    heap_start(mps_class_amc());
    CREATE(p, cls[i], FORMAT, fmt);
    ck_assert_int_eq(mps_ap_create(&q, p, mps_rank_ambig()), MPS_RES_PARAM);
    ck_assert_ptr_null(q);
    mps_pool_destroy(p);
    ck_assert_int_eq(mps_ap_create(&q, pool, mps_rank_weak()), MPS_RES_OK);
    mps_ap_destroy(q);
    q = NULL;
    heap_stop();
  }
}
END_TEST

/* Fixing is harmless for whatever is no reference: null, the library's own
   records, memory of other owners. */
START_TEST(fixed_anything) {
  mps_addr_t before[ROOTS], here = &here, there = malloc(64);
  ck_assert_ptr_nonnull(there);
  heap_start(mps_class_amc());
  mps_addr_t words[] = {NULL,  here,   there,      table, &table[7], arena,
                        pool,  thr,    table_root, fmt,   chain,     ap,
                        (mps_addr_t)~(mps_word_t)7, (mps_addr_t)(mps_word_t)8};
  enum { N = sizeof words / sizeof words[0] };
  memcpy(table, words, sizeof words);
  for (size_t i = 0; i < N; ++i) {
    table[N + i] = node(2);
    *obj_ref(table[N + i], 0) = words[i];
  }
  for (int round = 0; round < 3; ++round) {
    memcpy(before, table, sizeof before);
    collect();
    for (size_t i = 0; i < N; ++i) {
      ck_assert_ptr_eq(table[i], before[i]);
      ck_assert_ptr_ne(table[N + i], before[N + i]);
      ck_assert_ptr_eq(*obj_ref(table[N + i], 0), words[i]);
    }
  }
  heap_stop();
  free(there);
}
END_TEST

/* The words of a stack that have low bits set are no references, unless the
   root says so. Hides FINALIZED objects behind them. */
enum { HIDDEN = 200 };

static __attribute__((noinline)) void hide(volatile mps_word_t words[]) {
  for (size_t i = 0; i < HIDDEN; ++i) {
    mps_addr_t obj = numbered(i);
    REQUIRE(mps_finalize(arena, &obj) == MPS_RES_OK);
    words[i] = (mps_word_t)obj | 1;
  }
}

static size_t found_dead(void) {
  mps_message_t message;
  size_t n = 0;
  for (int i = 0; i < 3; ++i)
    collect();
  for (; mps_message_get(&message, arena, mps_message_type_finalization()); ++n)
    mps_message_discard(arena, message);
  return n;
}

START_TEST(tagged_words_on_a_stack) {
  volatile mps_word_t words[HIDDEN];
  mps_root_t stack;
  size_t n;
  heap_start(mps_class_amc());
  mps_message_type_enable(arena, mps_message_type_finalization());
  if (_i == 0)
    ck_assert_int_eq(
        mps_root_create_thread(&stack, arena, thr, FRAME_COLD()), MPS_RES_OK);
  else
    ck_assert_int_eq(mps_root_create_thread_tagged(
                         &stack, arena, mps_rank_ambig(), 0, thr,
                         mps_scan_area_tagged, 7, 1, FRAME_COLD()),
                     MPS_RES_OK);
  mps_arena_clamp(arena);
  hide(words);
  n = found_dead();
  if (_i == 0)
    ck_assert_uint_gt(n, HIDDEN * 9 / 10); /* but for words left over */
  else
    ck_assert_uint_eq(n, 0);
  for (size_t i = 0; i < HIDDEN && _i == 1; ++i)
    ck_assert_uint_eq(number_of((mps_addr_t)(words[i] - 1)), i);
  mps_root_destroy(stack);
  heap_stop();
}
END_TEST

/* A collection goes on only where the client allocates, steps, or meets a
   barrier. */
START_TEST(no_progress_alone) {
  tdo_statistics_s before, after;
  mps_message_t message;
  heap_start(mps_class_amc());
  for (size_t i = 0; i < suite_size(100000, 2000); ++i) {
    mps_addr_t obj = node(2);
    *obj_ref(obj, 0) = table[0];
    table[0] = obj;
  }
  mps_arena_park(arena);
  mps_message_type_enable(arena, mps_message_type_gc());
  mps_arena_pause_time_set(arena, 0.0);
  mps_arena_release(arena);
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  tdo_statistics(arena, &before);
  (void)usleep(100000);
  tdo_statistics(arena, &after);
  ck_assert_uint_eq(after.pauses, before.pauses);
  ck_assert_uint_eq(after.collections, before.collections);
  for (size_t i = 0; !mps_message_poll(arena); ++i) {
    REQUIRE(i < 10000000);
    (void)node(2);
  }
  ck_assert(mps_message_get(&message, arena, mps_message_type_gc()));
  mps_message_discard(arena, message);
  heap_stop();
}
END_TEST

/* A point whose reserve failed works again when memory was freed. */
START_TEST(point_after_failure) {
  mps_pool_class_t cls[] = {mps_class_mvff(), mps_class_amc()};
  mps_pool_t m, own;
  mps_addr_t block, p;
  mps_ap_t q;
  heap_start(mps_class_amc());
  CREATE(m, mps_class_mvff(), SPARE, 0.0);
  if (_i == 0)
    CREATE(own, cls[0], SPARE, 0.0);
  else
    own = obj_pool(cls[1]);
  q = point(own);
  ck_assert_int_eq(mps_alloc(&block, m, 4 * MIB), MPS_RES_OK);
  mps_arena_spare_set(arena, 0.0);
  ck_assert_int_eq(
      mps_arena_commit_limit_set(arena, mps_arena_committed(arena)),
      MPS_RES_OK);
  for (int i = 0; i < 5; ++i)
    ck_assert_int_eq(mps_reserve(&p, q, 2 * MIB), MPS_RES_COMMIT_LIMIT);
  mps_free(m, block, 4 * MIB);
  for (int i = 0; i < 5; ++i) {
    ck_assert_int_eq(mps_reserve(&p, q, _i == 0 ? 16 * 1024 : 64),
                     MPS_RES_OK);
    *(mps_word_t *)p = (_i == 0 ? 16 * 1024 : 64) << 3 | OBJ_LEAF;
    (void)mps_commit(q, p, _i == 0 ? 16 * 1024 : 64);
  }
  ck_assert_int_eq(mps_reserve(&p, q, 2 * MIB), MPS_RES_OK);
  *(mps_word_t *)p = (2 * MIB) << 3 | OBJ_LEAF;
  (void)mps_commit(q, p, 2 * MIB);
  mps_arena_park(arena);
  mps_ap_destroy(q);
  mps_pool_destroy(own);
  mps_pool_destroy(m);
  heap_stop();
}
END_TEST

/* Dependencies are added without the arena's lock, even in callbacks. */
static mps_ld_s inside;

static void depend(mps_addr_t obj, mps_fmt_t f, mps_pool_t p, void *q,
                   size_t s) {
  (void)f, (void)p, (void)q, (void)s;
  mps_ld_add(&inside, arena, obj);
}

START_TEST(dependency_in_callback) {
  heap_start(mps_class_amc());
  table[0] = node(2);
  mps_arena_park(arena);
  mps_ld_reset(&inside, arena);
  mps_arena_formatted_objects_walk(arena, depend, NULL, 0);
  ck_assert(!mps_ld_isstale(&inside, arena, table[0]));
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert(mps_ld_isstale(&inside, arena, table[0]));
  heap_stop();
}
END_TEST

SUITE_LOOPS_MAIN("conventions", 60, {classes, 1}, {telemetry, 1},
                 {signals, 1}, {untouched, 1}, {copied, 1},
                 {destroyed_in_any_state, 1}, {two_arenas, 1}, {addresses, 1},
                 {client_spare, 1}, {collect_again, 1}, {nothing_moves, 1},
                 {garbage_serves, 1}, {message_clocks, 1}, {huge, 1},
                 {parked_by_failure, 1}, {foreign_dependency, 1},
                 {patterns, 1}, {trip_by_hand, 1}, {ranks_of_points, 1},
                 {fixed_anything, 1}, {tagged_words_on_a_stack, 2},
                 {no_progress_alone, 1}, {point_after_failure, 2},
                 {dependency_in_callback, 1})
