/* Testudo: tests of what testudo.h offers, of telemetry as clients see it, and
   of the types of the interface (sections 1.2-1.4, 2.26, 11).
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/heap.h" /* first: its functions have names of ours */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
#include "mpscawl.h"
#include "mpsio.h"
#include "mpslib.h"
#include "code/platform.h"
#include "test/objects.h"
#include "test/suite.h"

void ArenaDescribe(mps_arena_t a, FILE *stream, size_t depth);

static char text[65536];

static size_t described(bool by_old_name) {
  size_t n;
  FILE *stream = tmpfile();
  ck_assert_ptr_nonnull(stream);
  if (by_old_name)
    ArenaDescribe(arena, stream, 0);
  else
    tdo_arena_describe(arena, stream);
  rewind(stream);
  n = fread(text, 1, sizeof text - 1, stream);
  text[n] = '\0';
  (void)fclose(stream);
  return n;
}

START_TEST(test_describe) {
  heap_start(mps_class_amc());
  table[0] = node(1);
  collect();
  ck_assert_uint_gt(described(false), 0);
  ck_assert_ptr_nonnull(strstr(text, "arena"));
  ck_assert_ptr_nonnull(strstr(text, "collections"));
  ck_assert_uint_gt(described(true), 0);
  heap_stop();
}
END_TEST

/* No line ends in a blank; what is counted by size says of what. */
START_TEST(test_nothing_counted) {
  start();
  (void)described(false);
  ck_assert_ptr_null(strstr(text, " \n"));
  ck_assert_ptr_nonnull(strstr(text, "\n  hit time ns  -\n"));
  ck_assert_ptr_nonnull(strstr(text, "\n  quantum B    -\n"));
  stop();
}
END_TEST

/* The histogram of pages that really changed agrees with their number, and
   has no more calls than were made. */
static void check_changed(const tdo_statistics_s *s) {
  size_t calls = 0, least = 0, most = 0;
  for (size_t i = 0; i < TDO_HISTOGRAM; ++i) {
    calls += s->changed_per_call[i];
    least += s->changed_per_call[i] << i;
    most += s->changed_per_call[i] << (i + 1);
  }
  ck_assert_uint_le(calls, s->protect_calls - s->protect_refused);
  ck_assert_uint_le(least, s->protect_changed);
  ck_assert_uint_ge(most, s->protect_changed);
}

START_TEST(test_statistics) {
  tdo_statistics_s s;
  heap_start(mps_class_amc());
  for (size_t i = 0; i < 20000; ++i)
    table[i % 100] = numbered(i);
  collect();
  tdo_statistics(arena, &s);
  ck_assert_uint_gt(s.collections, 0);
  ck_assert_uint_gt(s.full_collections, 0);
  ck_assert_uint_le(s.full_collections, s.collections);
  ck_assert_uint_gt(s.map_calls, 0);
  ck_assert_uint_le(s.protect_changed, s.protect_pages);
  check_changed(&s);
  ck_assert(s.longest_pause <= s.collect_seconds);
  ck_assert_uint_eq(s.bars_conceded, arena->shield.stats.bars_conceded);
  ck_assert_uint_ge(s.copied, 100 * sizeof(mps_word_t));
  ck_assert_uint_ge(s.survived, s.copied);
  ck_assert(s.trace_seconds > 0);
  heap_stop();
}
END_TEST

/* A fault handler that came later passes faults on. */
static atomic_bool passed, foreign;

static void later(int signal, siginfo_t *info, void *context) {
  if (tdo_fault(signal, info, context)) {
    passed = true;
    return;
  }
  foreign = true;
  suite_leave(42);
}

START_TEST(test_fault) {
  struct sigaction action = {.sa_sigaction = later,
                             .sa_flags = SA_SIGINFO | SA_NODEFER};
  tdo_statistics_s s;
  heap_start(mps_class_amc());
  ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
  mps_arena_pause_time_set(arena, 0.0);
  for (size_t i = 0; i < ROOTS; ++i)
    table[i] = node(400);
  for (size_t i = 0; i < ROOTS; ++i)
    *obj_ref(table[i], 0) = table[(i + 1) % ROOTS];
  for (int round = 0; round < 8; ++round) {
    ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
    for (size_t i = 0; i < ROOTS; ++i)
      ck_assert_ptr_eq(*obj_ref(table[i], 0), table[(i + 1) % ROOTS]);
    mps_arena_park(arena);
    mps_arena_release(arena);
  }
  tdo_statistics(arena, &s);
  ck_assert(passed || s.hits_read + s.hits_write == 0);
  ck_assert(!foreign);
  heap_stop();
}
END_TEST

START_TEST(test_version) {
  ck_assert_str_eq(tdo_version(), TDO_VERSION);
}
END_TEST

START_TEST(test_check) {
  heap_start(mps_class_amc());
  table[0] = node(3);
  tdo_arena_check(arena);
  ASSERTED(tdo_arena_check(NULL));
  ASSERTED(tdo_statistics(arena, NULL));
  ASSERTED(tdo_arena_describe(arena, NULL));
  heap_stop();
}
END_TEST

START_TEST(test_shield_keys) {
  for (unsigned mode = TDO_MODE_NAIVE; mode <= TDO_MODE_OFF; ++mode) {
    tdo_statistics_s s;
    MPS_ARGS_BEGIN(args) {
      TDO_ARGS_ADD(args, TDO_KEY_SHIELD_MODE, mode);
      TDO_ARGS_ADD(args, TDO_KEY_SHIELD_QUEUE, 32);
      TDO_ARGS_ADD(args, TDO_KEY_SHIELD_QUANTUM, 65536);
      ck_assert_int_eq(mps_arena_create_k(&arena, mps_arena_class_vm(), args),
                       MPS_RES_OK);
      ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
    }
    MPS_ARGS_END(args);
    asserted_start();
    tdo_statistics(arena, &s);
    if (getenv("TESTUDO_SHIELD") == NULL && mode != TDO_MODE_DIRTY &&
        TDO_BARRIERS)
      ck_assert_int_eq((int)s.mode, (int)mode);
    heap_in_arena(mps_class_amc());
    for (size_t i = 0; i < 30000; ++i) {
      table[i % 500] = numbered(i);
      *obj_ref(table[i % 500], 1) = table[(i + 250) % 500];
    }
    collect();
    for (size_t i = 29501; i < 30000; ++i)
      ck_assert_uint_eq(number_of(table[i % 500]), i);
    heap_stop();
  }
}
END_TEST

/* ---- telemetry ---- */

START_TEST(test_telemetry) {
  mps_label_t a, b;
  mps_word_t before;
  a = mps_telemetry_intern("one"); /* before any arena */
  b = mps_telemetry_intern("one");
  ck_assert_uint_ne(a, b);
  before = mps_telemetry_get();
  mps_telemetry_set(0x42);
  ck_assert_uint_eq(mps_telemetry_get(), TDO_RASH ? 0 : before | 0x42);
  mps_telemetry_reset(0x40);
  ck_assert_uint_eq(mps_telemetry_get(),
                    TDO_RASH ? 0 : (before | 0x42) & ~(mps_word_t)0x40);
  mps_telemetry_reset(0x42);
  mps_telemetry_label(&a, a);
  mps_telemetry_flush();
}
END_TEST

/* ---- types ---- */

#define SAME(a, ...)                                                          \
  _Static_assert(_Generic((__typeof__(a) *)0, __typeof__(__VA_ARGS__) * : 1,  \
                          default : 0),                                       \
                 #a)

SAME(mps_root_scan_t, mps_res_t (*)(mps_ss_t, void *, size_t));
SAME(mps_area_scan_t, mps_res_t (*)(mps_ss_t, void *, void *, void *));
SAME(mps_reg_scan_t, mps_res_t (*)(mps_ss_t, mps_thr_t, void *, size_t));
SAME(mps_fmt_scan_t, mps_res_t (*)(mps_ss_t, mps_addr_t, mps_addr_t));
SAME(mps_fmt_skip_t, mps_addr_t (*)(mps_addr_t));
SAME(mps_fmt_copy_t, void (*)(mps_addr_t, mps_addr_t));
SAME(mps_fmt_fwd_t, void (*)(mps_addr_t, mps_addr_t));
SAME(mps_fmt_isfwd_t, mps_addr_t (*)(mps_addr_t));
SAME(mps_fmt_pad_t, void (*)(mps_addr_t, size_t));
SAME(mps_fmt_class_t, mps_addr_t (*)(mps_addr_t));
SAME(mps_awl_find_dependent_t, mps_addr_t (*)(mps_addr_t));
SAME(mps_arena_extended_t, void (*)(mps_arena_t, void *, size_t));
SAME(mps_arena_contracted_t, void (*)(mps_arena_t, void *, size_t));
SAME(mps_formatted_objects_stepper_t,
     void (*)(mps_addr_t, mps_fmt_t, mps_pool_t, void *, size_t));
SAME(mps_roots_stepper_t, void (*)(mps_addr_t *, mps_root_t, void *, size_t));
SAME(mps_amc_apply_stepper_t, void (*)(mps_addr_t, void *, size_t));
SAME(mps_lib_assert_fail_t, void (*)(const char *, unsigned, const char *));
SAME(mps_fun_t, void (*)(void));

SAME(mps_arena_t, struct mps_arena_s *);
SAME(mps_arena_class_t, struct mps_arena_class_s *);
SAME(mps_pool_t, struct mps_pool_s *);
SAME(mps_pool_class_t, struct mps_pool_class_s *);
SAME(mps_class_t, mps_pool_class_t);
SAME(mps_chain_t, struct mps_chain_s *);
SAME(mps_fmt_t, struct mps_fmt_s *);
SAME(mps_root_t, struct mps_root_s *);
SAME(mps_thr_t, struct mps_thr_s *);
SAME(mps_message_t, struct mps_message_s *);
SAME(mps_alloc_pattern_t, struct mps_alloc_pattern_s *);
SAME(mps_frame_t, struct mps_frame_s *);
SAME(mps_transform_t, struct mps_transform_s *);
SAME(mps_io_t, struct mps_io_s *);
SAME(mps_lib_FILE, struct mps_lib_stream_s);
SAME(mps_key_t, const struct mps_key_s *);

START_TEST(test_types) {
  /* Getters passed as functions. */
  size_t (*getters[])(mps_arena_t) = {
      mps_arena_reserved, mps_arena_committed, mps_arena_spare_committed,
      mps_arena_commit_limit, mps_arena_spare_commit_limit};
  ck_assert_uint_eq(sizeof(mps_word_t), sizeof(void *));
  start();
  for (size_t i = 0; i < sizeof getters / sizeof getters[0]; ++i)
    (void)getters[i](arena);
  stop();
}
END_TEST

SUITE_MAIN("extension", 60, test_version, test_describe, test_nothing_counted,
           test_statistics, test_fault, test_check, test_shield_keys,
           test_telemetry, test_types)
