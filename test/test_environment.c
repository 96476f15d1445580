/* Testudo: the settings of the environment reach the arena, whatever the
   program asked for; and the line about each collection.
   SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
#include "mpscams.h"
#include "mpscawl.h"
#include "code/platform.h"
#include "trace/heap.h"

#include "test/objects.h"
#include "test/suite.h"

static void set(const char *name, const char *value) {
  ck_assert_int_eq(setenv(name, value, 1), 0);
}

/* Without those of the test's own run. */
static void forget_settings(void) {
  ck_assert_int_eq(unsetenv("TESTUDO_SHIELD"), 0);
  ck_assert_int_eq(unsetenv("TESTUDO_STRESS"), 0);
  ck_assert_int_eq(unsetenv("TESTUDO_STRESS_BLOCKS"), 0);
  ck_assert_int_eq(unsetenv("TESTUDO_CHECK"), 0);
}

START_TEST(settings) {
  forget_settings();
  set("TESTUDO_SHIELD", "ranged");
  set("TESTUDO_QUEUE", "77");
  set("TESTUDO_QUANTUM", "8K");
  set("TESTUDO_DEFER_FRESH", "3");
  set("TESTUDO_DEFER_HIT", "9");
  set("TESTUDO_BUDGET", "0.125");
  set("TESTUDO_HIDE", "32M");
  set("TESTUDO_SMALL", "2M");
  set("TESTUDO_ADAPT", "off");
  set("TESTUDO_GRAIN", "64K");
  set("TESTUDO_SPARE", "0.5");
  set("TESTUDO_HUGE", "1");
  set("TESTUDO_RESERVE", "256M");
  MPS_ARGS_BEGIN(args) {
    TDO_ARGS_ADD(args, TDO_KEY_SHIELD_MODE, TDO_MODE_NAIVE);
    TDO_ARGS_ADD(args, TDO_KEY_SHIELD_QUEUE, (size_t)5);
    TDO_ARGS_ADD(args, TDO_KEY_SHIELD_QUANTUM, (size_t)4096);
    TDO_ARGS_ADD(args, TDO_KEY_HUGE, TDO_HUGE_OLD);
    MPS_ARGS_ADD(args, MPS_KEY_SPARE, 0.25);
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_GRAIN_SIZE, 16384);
    ck_assert_int_eq(mps_arena_create_k(&arena, mps_arena_class_vm(), args),
                     MPS_RES_OK);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END); /* all were taken */
  }
  MPS_ARGS_END(args);
  asserted_start();
  if (TDO_BARRIERS) {
    ck_assert_uint_eq(arena->shield.settings.mode, TDO_SHIELD_RANGED);
    ck_assert_uint_eq(arena->shield.settings.queue_length, 77);
    ck_assert_uint_eq(arena->shield.settings.defer_fresh, 3);
    ck_assert_uint_eq(arena->shield.settings.defer_hit, 9);
    ck_assert(arena->shield.settings.budget == 0.125);
    ck_assert_uint_eq(arena->shield.settings.hide_least, 32 << 20);
  }
  ck_assert_uint_eq(arena->small_most, 2 << 20);
  ck_assert(!arena->adapts);
  ck_assert_uint_eq(arena->hits.quantum, 8192);
  ck_assert_uint_eq(arena->huge, 1);
  ck_assert_uint_eq((size_t)1 << arena->space.grain_shift, 65536);
  ck_assert(mps_arena_spare(arena) == 0.5);
  ck_assert_uint_le(mps_arena_reserved(arena), (size_t)257 << 20);
  ck_assert_uint_gt(mps_arena_reserved(arena), (size_t)128 << 20);
  heap_in_arena(mps_class_amc());
  for (size_t i = 0; i < 20000; ++i)
    table[i % 100] = numbered(i);
  collect();
  for (size_t i = 19900; i < 20000; ++i)
    ck_assert_uint_eq(number_of(table[i % 100]), i);
  heap_stop();
}
END_TEST

/* What the program asks for, without variables but one that turns something
   off. */
START_TEST(keywords) {
  forget_settings();
  set("TESTUDO_HIDE", "0");
  MPS_ARGS_BEGIN(args) {
    TDO_ARGS_ADD(args, TDO_KEY_SHIELD_QUEUE, (size_t)5);
    MPS_ARGS_ADD(args, MPS_KEY_SPARE_COMMIT_LIMIT, 0);
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_GRAIN_SIZE, 16384);
    ck_assert_int_eq(mps_arena_create_k(&arena, mps_arena_class_vm(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  asserted_start();
  if (TDO_BARRIERS) {
    ck_assert_uint_eq(arena->shield.settings.queue_length, 5);
    ck_assert(!tdo_shield_hides(&arena->shield));
  }
  ck_assert(mps_arena_spare(arena) == 0.0);
  ck_assert_uint_eq((size_t)1 << arena->space.grain_shift, suite_pages(16384));
  stop();
}
END_TEST

/* A line for each collection, kind and amounts; nothing without the setting.
 */
static size_t logged(const char *value, char *text, size_t size) {
  FILE *file = tmpfile();
  int saved = dup(STDERR_FILENO);
  size_t n;
  ck_assert_ptr_nonnull(file);
  set("TESTUDO_LOG", value);
  set("TESTUDO_SMALL", "0");
  ck_assert_int_ge(dup2(fileno(file), STDERR_FILENO), 0);
  heap_start(mps_class_amc());
  for (size_t i = 0; i < 20000; ++i)
    table[i % 100] = numbered(i);
  collect();
  heap_stop();
  ck_assert_int_ge(dup2(saved, STDERR_FILENO), 0);
  (void)close(saved);
  rewind(file);
  n = fread(text, 1, size - 1, file);
  text[n] = '\0';
  (void)fclose(file);
  return n;
}

START_TEST(log_lines) {
  static char text[1 << 16];
  const char *line = text;
  unsigned minor = 0, copying = 0; /* what a client asks for copies */
  forget_settings();
  ck_assert_uint_eq(logged("off", text, sizeof text), 0);
  ck_assert_uint_gt(logged("on", text, sizeof text), 0);
  while (*line != '\0') {
    const char *end = strchr(line, '\n');
    ck_assert_ptr_nonnull(end);
    ck_assert_int_eq(strncmp(line, "testudo: collection ", 20), 0);
    minor += strstr(line, ", minor: condemned ") != NULL &&
             strstr(line, ", minor: condemned ") < end;
    copying += strstr(line, ", full, copying: condemned ") != NULL &&
               strstr(line, ", full, copying: condemned ") < end;
    ck_assert(strstr(line, " MiB committed. ") < end);
    line = end + 1;
  }
  ck_assert_uint_gt(minor, 0);
  ck_assert_uint_gt(copying, 0);
}
END_TEST

static atomic_int hold; /* 1: stderr is locked; 2: no more wanted */

static void *hold_stderr(void *closure) {
  flockfile(stderr);
  atomic_store(&hold, 1);
  while (atomic_load(&hold) != 2)
    (void)usleep(1000);
  funlockfile(stderr);
  return closure;
}

/* As if a stopped thread had been about to write. */
START_TEST(log_past_a_lock) {
  static char text[1 << 16];
  pthread_t holder;
  forget_settings();
  REQUIRE(pthread_create(&holder, NULL, hold_stderr, NULL) == 0);
  while (atomic_load(&hold) != 1)
    (void)usleep(1000);
  ck_assert_uint_gt(logged("on", text, sizeof text), 0);
  atomic_store(&hold, 2);
  REQUIRE(pthread_join(holder, NULL) == 0);
}
END_TEST

/* The description of an arena without barriers names its mode. */
START_TEST(without_barriers) {
  tdo_statistics_s s;
  forget_settings();
  set("TESTUDO_SHIELD", "off");
  start();
  tdo_statistics(arena, &s);
  ck_assert_int_eq((int)s.mode, TDO_MODE_OFF);
  ck_assert_ptr_null(s.fallback);
  ck_assert_uint_eq(s.protect_calls, 0);
  stop();
}
END_TEST

/* Collections while few blocks are made, fewer than a page of them. */
static size_t stressed(mps_pool_class_t cls, const char *blocks) {
  size_t most = 4096 / obj_bytes(2) - 1, collections;
  set("TESTUDO_STRESS", "1");
  set("TESTUDO_STRESS_BLOCKS", blocks);
  heap_start(cls);
  collections = statistics().collections;
  for (size_t i = 0; i < most; ++i) {
    table[i % 50] = numbered(i);
    for (size_t j = i < 50 ? 0 : i - 49; j <= i; ++j)
      ck_assert_uint_eq(number_of(table[j % 50]), j);
  }
  collections = statistics().collections - collections;
  heap_stop();
  return collections;
}

/* Each block is a chance to collect: one that nothing refers to is gone at the
   next, not when a page is full. */
START_TEST(stress_blocks) {
  mps_pool_class_t classes[] = {mps_class_amc(), mps_class_ams(),
                                mps_class_awl()};
  forget_settings();
  for (size_t i = 0; i < sizeof classes / sizeof classes[0]; ++i) {
    ck_assert_uint_lt(stressed(classes[i], "off"), 10);
    ck_assert_uint_gt(stressed(classes[i], "on"), 20);
  }
}
END_TEST

/* By itself the setting collects nothing. */
START_TEST(stress_blocks_alone) {
  forget_settings();
  set("TESTUDO_STRESS_BLOCKS", "on");
  heap_start(mps_class_amc());
  for (size_t i = 0; i < 100; ++i)
    table[i % 10] = numbered(i);
  ck_assert_uint_eq(statistics().collections, 0);
  heap_stop();
}
END_TEST

SUITE_MAIN("environment", 60, settings, keywords, log_lines, log_past_a_lock,
           without_barriers, stress_blocks, stress_blocks_alone)
