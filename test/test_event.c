/* Testudo: trace events, read back. SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "code/event.h"
#include "mpslib.h"
#include "test/suite.h"

#if TDO_RASH

START_TEST(nothing) {
  tdo_event_set(~(tdo_word_t)0);
  ck_assert_uint_eq(tdo_event_get(), 0);
  ck_assert_uint_ne(tdo_event_intern("a"), tdo_event_intern("a"));
}
END_TEST

SUITE_MAIN("event", 30, nothing)

#else

enum { MANY = 20000, THREADS = 4 };

static char directory[] = "/tmp/test_event_XXXXXX";
static char name[64];
static uint64_t *words;
static size_t count;

static void setup(void) {
  ck_assert_int_eq(unsetenv("MPS_TELEMETRY_CONTROL"), 0);
  ck_assert_ptr_nonnull(mkdtemp(directory));
  (void)snprintf(name, sizeof name, "%s/log", directory);
  ck_assert_int_eq(setenv("MPS_TELEMETRY_FILENAME", name, 1), 0);
}

static void teardown(void) {
  (void)unlink(name);
  (void)rmdir(directory);
  free(words);
}

static void load(void) {
  FILE *file = fopen(name, "rb");
  ck_assert_ptr_nonnull(file);
  words = malloc(64 << 20);
  count = fread(words, sizeof words[0], (64 << 20) / sizeof words[0], file);
  (void)fclose(file);
  ck_assert_int_eq(memcmp(words, "TDOEVT1\n", 8), 0);
  ck_assert_uint_eq(words[1], 0x0102030405060708u);
}

/* The next record at *AT_IO, whose code is CODE (0: any); NULL at the end. */
static const uint64_t *next(size_t *at_io, unsigned code) {
  while (*at_io < count) {
    const uint64_t *record = words + *at_io;
    *at_io += 2 + (record[0] >> 16 & 0xffff) + ((record[0] >> 32) + 7) / 8;
    ck_assert_uint_le(*at_io, count);
    if (code == 0 || (record[0] & 0xffff) == code)
      return record;
  }
  return NULL;
}

static size_t count_of(unsigned code) {
  size_t at = 2, n = 0;
  while (next(&at, code) != NULL)
    ++n;
  return n;
}

START_TEST(silent) {
  setup();
  tdo_event_init();
  ck_assert_uint_eq(tdo_event_get(), 0);
  TDO_EVENT(ARENA, ARENA_DESTROY, 1);
  tdo_event_label(NULL, tdo_event_intern("unheard"));
  tdo_event_flush();
  ck_assert_int_ne(access(name, F_OK), 0);
  teardown();
}
END_TEST

/* No event waits for longer than a tenth of a second if another comes. */
START_TEST(late) {
  const struct timespec pause = {0, 110000000};
  setup();
  tdo_event_set(1);
  TDO_EVENT(ARENA, ARENA_DESTROY, 1);
  (void)nanosleep(&pause, NULL);
  TDO_EVENT(ARENA, ARENA_DESTROY, 2);
  load();
  ck_assert_uint_eq(count_of(TDO_EVENT_ARENA_DESTROY), 2);
  tdo_event_close();
  teardown();
}
END_TEST

START_TEST(written) {
  setup();
  ck_assert_int_eq(setenv("MPS_TELEMETRY_CONTROL", "arena user", 1), 0);
  ck_assert_uint_eq(tdo_event_get(), 0x41);
  TDO_EVENT(ARENA, ARENA_CREATE, 11, 12, 13);
  TDO_EVENT(POOL, POOL_DESTROY, 99);
  tdo_word_t label = tdo_event_intern("nine char");
  ck_assert_uint_gt(tdo_event_intern("nine char"), label);
  tdo_event_label(&label, label);
  tdo_event_reset(1);
  ck_assert_uint_eq(tdo_event_get(), 0x40);
  TDO_EVENT(ARENA, ARENA_DESTROY, 11);
  tdo_event_flush();
  load();
  size_t at = 2, definitions = 0;
#define COUNT_EVENT(code, event, kind, args) ++definitions;
  TDO_EVENTS(COUNT_EVENT)
#undef COUNT_EVENT
  ck_assert_uint_eq(count_of(TDO_EVENT_DEFINE), definitions);
  const uint64_t *record = next(&at, TDO_EVENT_ARENA_CREATE);
  ck_assert_ptr_nonnull(record);
  ck_assert_uint_eq(record[0] >> 16, 3);
  ck_assert_uint_eq(record[2], 11);
  ck_assert_uint_eq(record[4], 13);
  record = next(&at, TDO_EVENT_INTERN);
  ck_assert_ptr_nonnull(record);
  ck_assert_uint_eq(record[2], label);
  ck_assert_uint_eq(record[0] >> 32, 9);
  ck_assert_int_eq(memcmp(record + 3, "nine char\0\0\0\0\0\0\0", 16), 0);
  record = next(&at, TDO_EVENT_LABEL);
  ck_assert_ptr_nonnull(record);
  ck_assert_uint_eq(record[2], (uintptr_t)&label);
  ck_assert_uint_eq(count_of(TDO_EVENT_POOL_DESTROY), 0);
  ck_assert_uint_eq(count_of(TDO_EVENT_ARENA_DESTROY), 0);
  tdo_event_close();
  teardown();
}
END_TEST

static void *write_many(void *p) {
  tdo_word_t thread = (tdo_word_t)(uintptr_t)p;
  for (tdo_word_t i = 0; i < MANY; ++i)
    TDO_EVENT(SEG, SEG_FREE, thread, i, i * i);
  return NULL;
}

/* No event is lost without being counted, and none is torn. */
START_TEST(many_threads) {
  pthread_t ids[THREADS];
  setup();
  tdo_event_set(~(tdo_word_t)0);
  for (uintptr_t i = 0; i < THREADS; ++i)
    ck_assert_int_eq(pthread_create(&ids[i], NULL, write_many, (void *)i), 0);
  for (int i = 0; i < THREADS; ++i)
    ck_assert_int_eq(pthread_join(ids[i], NULL), 0);
  tdo_event_flush();
  load();
  size_t at = 2, n = 0;
  const uint64_t *record;
  uint64_t before[THREADS] = {0};
  while ((record = next(&at, TDO_EVENT_SEG_FREE)) != NULL) {
    ck_assert_uint_lt(record[2], THREADS);
    ck_assert_uint_eq(record[4], record[3] * record[3]);
    ck_assert_uint_ge(record[3], before[record[2]]);
    before[record[2]] = record[3];
    ++n;
  }
  for (at = 2; (record = next(&at, TDO_EVENT_DROPPED)) != NULL;)
    n += record[2];
  ck_assert_uint_eq(n, THREADS * MANY);
  tdo_event_close();
  teardown();
}
END_TEST

static jmp_buf escape;

static void caught(const char *file, unsigned line, const char *text) {
  (void)file, (void)line, (void)text;
  longjmp(escape, 1);
}

START_TEST(foreign_label) {
  setup();
  (void)mps_lib_assert_fail_install(caught);
  if (setjmp(escape) == 0) {
    tdo_event_label(NULL, 12345);
    ck_abort_msg("accepted");
  }
  teardown();
}
END_TEST

/* Output that cannot be opened is given up, and hurts nobody. */
START_TEST(no_output) {
  setup();
  ck_assert_int_eq(setenv("MPS_TELEMETRY_FILENAME", "/no/such/place", 1), 0);
  tdo_event_set(1);
  for (tdo_word_t i = 0; i < MANY; ++i)
    TDO_EVENT(ARENA, ARENA_DESTROY, i);
  tdo_event_flush();
  tdo_event_close();
  teardown();
}
END_TEST

START_TEST(after_fork) {
  setup();
  tdo_event_set(1);
  TDO_EVENT(ARENA, ARENA_DESTROY, 1);
  tdo_event_after_fork_in_child();
  ck_assert_uint_eq(tdo_event_get(), 0);
  tdo_event_flush();
  tdo_event_set(1);
  TDO_EVENT(ARENA, ARENA_DESTROY, 2);
  tdo_event_close();
  load(); /* a stream of its own, without the parent's events */
  size_t at = 2;
  ck_assert_uint_eq(count_of(TDO_EVENT_ARENA_DESTROY), 1);
  ck_assert_uint_eq(next(&at, TDO_EVENT_ARENA_DESTROY)[2], 2);
  teardown();
}
END_TEST

SUITE_MAIN("event", 30, silent, late, written, many_threads, foreign_label,
           no_output, after_fork)

#endif
