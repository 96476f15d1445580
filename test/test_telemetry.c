/* Testudo: what a client's arenas put into the telemetry, read back.
   SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "code/event.h"
#include "mpsacl.h"
#include "mpsclo.h"
#include "mpscmfs.h"
#include "mpscmvt.h"
#include "test/objects.h"
#include "test/suite.h"

static char room[] = "/tmp/test_telemetry_XXXXXX";
static char name[64];
static uint64_t *words;

static void begin(const char *control) {
  ck_assert_ptr_nonnull(mkdtemp(room));
  (void)snprintf(name, sizeof name, "%s/log", room);
  ck_assert_int_eq(setenv("MPS_TELEMETRY_FILENAME", name, 1), 0);
  if (control == NULL)
    ck_assert_int_eq(unsetenv("MPS_TELEMETRY_CONTROL"), 0);
  else
    ck_assert_int_eq(setenv("MPS_TELEMETRY_CONTROL", control, 1), 0);
}

static void end(void) {
  (void)unlink(name);
  (void)rmdir(room);
  free(words);
}

/* Pools of all sorts come, are used, and go. */
static void live(void) {
  mps_pool_t lo, mfs, mvff, mvt;
  mps_addr_t blocks[200];
  mps_ap_t on;
  heap_start(mps_class_amc());
  lo = obj_pool(mps_class_lo());
  on = point(lo);
  CREATE(mfs, mps_class_mfs(), MFS_UNIT_SIZE, 24);
  CREATE(mvff, mps_class_mvff(), SPARE, 0.0);
  CREATE(mvt, mps_class_mvt(), MAX_SIZE, 1000);
  mps_message_type_enable(arena, mps_message_type_finalization());
  for (size_t i = 0; i < 20000; ++i) {
    table[i % 300] = numbered(i);
    if (i % 1000 != 0)
      *obj_ref(table[i % 300], 1) = obj_on(on, OBJ_LEAF, 3);
    else
      ck_assert_int_eq(mps_finalize(arena, &table[i % 300]), MPS_RES_OK);
  }
  for (size_t i = 0; i < 200; ++i)
    blocks[i] = alloc(mvff, 10000 + 10 * i);
  for (size_t i = 0; i < 200; ++i)
    mps_free(mvff, blocks[(i * 7) % 200], 10000 + 10 * ((i * 7) % 200));
  (void)alloc(mfs, 24);
  memset(table, 0, sizeof table); /* nothing may refer to what goes */
  collect();
  mps_arena_park(arena);
  mps_ap_destroy(on);
  mps_pool_destroy(lo);
  mps_pool_destroy(mfs);
  mps_pool_destroy(mvff);
  mps_pool_destroy(mvt);
  heap_stop();
}

#if TDO_RASH

START_TEST(nothing) {
  begin("all");
  live();
  ck_assert_int_ne(access(name, F_OK), 0);
  end();
}
END_TEST

SUITE_MAIN("telemetry", 60, nothing)

#else

static size_t count; /* of words */

static void load(void) {
  enum { MOST = 64 << 20 };
  FILE *file = fopen(name, "rb");
  ck_assert_ptr_nonnull(file);
  words = malloc(MOST);
  count = fread(words, WORD, MOST / WORD, file);
  (void)fclose(file);
  ck_assert_uint_lt(count, MOST / WORD);
  ck_assert_int_eq(memcmp(words, "TDOEVT1\n", 8), 0);
}

/* The next record of CODE at *AT_IO; null at the end. */
static const uint64_t *next(size_t *at_io, unsigned code) {
  while (*at_io < count) {
    const uint64_t *record = words + *at_io;
    *at_io += 2 + (record[0] >> 16 & 0xffff) + ((record[0] >> 32) + 7) / 8;
    ck_assert_uint_le(*at_io, count);
    if ((record[0] & 0xffff) == code)
      return record;
  }
  return NULL;
}

static size_t number(unsigned code) {
  size_t at = 2, n = 0;
  while (next(&at, code) != NULL)
    ++n;
  return n;
}

/* The first record of CODE. */
static const uint64_t *first(unsigned code) {
  size_t at = 2;
  const uint64_t *record = next(&at, code);
  ck_assert_ptr_nonnull(record);
  return record;
}

/* The sum of argument I of the records of CODE. */
static uint64_t sum(unsigned code, size_t i) {
  const uint64_t *record;
  uint64_t total = 0;
  for (size_t at = 2; (record = next(&at, code)) != NULL;)
    total += record[2 + i];
  return total;
}

/* No file while the filter is 0. */
START_TEST(silent) {
  begin(NULL);
  live();
  mps_telemetry_flush();
  ck_assert_int_ne(access(name, F_OK), 0);
  end();
}
END_TEST

START_TEST(everything) {
  const uint64_t *record;
  begin("all");
  live(); /* flushed when the arena goes */
  load();
  ck_assert_uint_eq(number(TDO_EVENT_ARENA_CREATE), 1);
  ck_assert_uint_eq(number(TDO_EVENT_ARENA_DESTROY), 1);
  ck_assert_uint_ge(number(TDO_EVENT_ARENA_EXTEND), 1);
  ck_assert_uint_eq(number(TDO_EVENT_ARENA_EXTEND),
                    number(TDO_EVENT_ARENA_CONTRACT));
  ck_assert_uint_eq(number(TDO_EVENT_POOL_CREATE), 5);
  ck_assert_uint_eq(number(TDO_EVENT_POOL_DESTROY), 5);
  ck_assert_uint_eq(number(TDO_EVENT_AP_CREATE), 2);
  ck_assert_uint_eq(number(TDO_EVENT_AP_DESTROY), 2);
  ck_assert_uint_gt(number(TDO_EVENT_COLLECT_BEGIN), 3);
  ck_assert_uint_eq(number(TDO_EVENT_COLLECT_BEGIN),
                    number(TDO_EVENT_COLLECT_END));
  ck_assert_uint_eq(number(TDO_EVENT_FLIP), number(TDO_EVENT_COLLECT_END));
  ck_assert_uint_ge(number(TDO_EVENT_PAUSE), number(TDO_EVENT_FLIP));
  ck_assert_uint_gt(number(TDO_EVENT_FILL), 10);
  ck_assert_uint_eq(number(TDO_EVENT_FINALIZE), 20);
  ck_assert_uint_gt(number(TDO_EVENT_FINALIZED), 10);
  ck_assert_uint_eq(number(TDO_EVENT_DROPPED), 0);
  /* What the pools got they gave back. */
  ck_assert_uint_gt(sum(TDO_EVENT_SEG_ALLOC, 2), 200 * 10000);
  ck_assert_uint_eq(sum(TDO_EVENT_SEG_ALLOC, 2), sum(TDO_EVENT_SEG_FREE, 2));
  record = first(TDO_EVENT_COLLECT_BEGIN);
  ck_assert_uint_eq(record[2], first(TDO_EVENT_ARENA_CREATE)[2]);
  ck_assert_uint_gt(record[0] >> 32, 0); /* why */
  record = first(TDO_EVENT_POOL_CREATE);
  ck_assert_uint_eq(record[0] >> 32, 3);
  ck_assert_int_eq(memcmp(record + 4, "AMC", 4), 0);
  /* On the hot paths only in cool. */
  ck_assert_uint_eq(number(TDO_EVENT_FIX) > 0, TDO_COOL);
  ck_assert_uint_eq(number(TDO_EVENT_ALLOC), TDO_COOL ? 201 : 0);
  ck_assert_uint_eq(number(TDO_EVENT_FREE), TDO_COOL ? 200 : 0);
  end();
}
END_TEST

/* Of the kinds that are on, and no others. */
START_TEST(selected) {
  begin("pool user");
  mps_label_t label = mps_telemetry_intern("my pool");
  live();
  mps_telemetry_label(&label, label);
  mps_telemetry_set(1); /* from here on arenas, too */
  start();
  mps_telemetry_reset(1);
  stop();
  mps_telemetry_flush();
  load();
  ck_assert_uint_eq(number(TDO_EVENT_POOL_CREATE), 5);
  ck_assert_uint_eq(number(TDO_EVENT_COLLECT_BEGIN), 0);
  ck_assert_uint_eq(number(TDO_EVENT_SEG_ALLOC), 0);
  ck_assert_uint_eq(number(TDO_EVENT_FILL), 0);
  ck_assert_uint_eq(number(TDO_EVENT_ARENA_CREATE), 1);
  ck_assert_uint_eq(number(TDO_EVENT_ARENA_DESTROY), 0);
  ck_assert_uint_eq(first(TDO_EVENT_INTERN)[2], label);
  ck_assert_uint_eq(first(TDO_EVENT_LABEL)[2], (mps_word_t)&label);
  end();
}
END_TEST

/* What a collection writes is out when it is over, its pause included: with
   nothing that flushes, and no events that come later. */
START_TEST(prompt) {
  begin("arena trace");
  heap_start(mps_class_amc());
  table[0] = numbered(1);
  collect();
  load();
  ck_assert_uint_eq(number(TDO_EVENT_ARENA_CREATE), 1);
  ck_assert_uint_eq(number(TDO_EVENT_COLLECT_BEGIN), 1);
  ck_assert_uint_eq(number(TDO_EVENT_COLLECT_END), 1);
  ck_assert_uint_ge(number(TDO_EVENT_PAUSE), 1);
  heap_stop();
  end();
}
END_TEST

/* The child writes nothing, and nothing of the parent's twice. */
START_TEST(forked) {
  pid_t child;
  int status;
  begin("arena");
  heap_start(mps_class_amc());
  fflush(NULL);
  child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    if (mps_telemetry_get() != 0)
      suite_leave(1);
    table[0] = numbered(1);
    collect();
    heap_stop();
    exit(0);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  table[0] = numbered(1);
  collect();
  heap_stop();
  load();
  ck_assert_uint_eq(number(TDO_EVENT_ARENA_CREATE), 1);
  ck_assert_uint_eq(number(TDO_EVENT_COLLECT_BEGIN), 1);
  ck_assert_uint_eq(number(TDO_EVENT_ARENA_DESTROY), 1);
  end();
}
END_TEST

/* A client that leaves its arenas behind has its events all the same. */
START_TEST(left) {
  pid_t child;
  int status;
  begin("arena");
  fflush(NULL);
  child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    start();
    exit(0);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  load();
  ck_assert_uint_eq(number(TDO_EVENT_ARENA_CREATE), 1);
  end();
}
END_TEST

/* Blocks of client memory come and go in pairs, too. */
START_TEST(client_memory) {
  static mps_word_t memory[3][1 << 17];
  const uint64_t *record;
  uint64_t bases[3];
  size_t at = 2, i = 0;
  begin("arena");
  ck_assert_int_eq(mps_arena_create(&arena, mps_arena_class_cl(),
                                    sizeof memory[0], (mps_addr_t)memory[1]),
                   MPS_RES_OK);
  for (i = 0; i < 3; i += 2)
    ck_assert_int_eq(mps_arena_extend(arena, memory[i], sizeof memory[i]),
                     MPS_RES_OK);
  mps_arena_destroy(arena);
  load();
  for (i = 0; (record = next(&at, TDO_EVENT_ARENA_EXTEND)) != NULL; ++i)
    bases[i] = record[3];
  ck_assert_uint_eq(i, 3);
  at = 2;
  for (; (record = next(&at, TDO_EVENT_ARENA_CONTRACT)) != NULL;)
    ck_assert_uint_eq(record[3], bases[--i]);
  ck_assert_uint_eq(i, 0);
  ck_assert_uint_eq(sum(TDO_EVENT_ARENA_EXTEND, 2),
                    sum(TDO_EVENT_ARENA_CONTRACT, 2));
  end();
}
END_TEST

/* A sink that fails is given up, and hurts nobody: one that cannot be opened,
   a full disk, a limit of size in the middle of the stream, with threads
   registered (whose signal for that the library has) and without. */
static void fail_into(const char *sink, bool registered) {
  int saved;
  if (sink != NULL)
    ck_assert_int_eq(setenv("MPS_TELEMETRY_FILENAME", sink, 1), 0);
  for (int round = 0; round < 2; ++round) {
    if (registered) {
      live();
    } else {
      start();
      for (size_t i = 0; i < 20000; ++i)
        mps_telemetry_label(&saved, mps_telemetry_intern("a long label"));
      stop();
    }
    errno = saved = 4711;
    mps_telemetry_flush();
    ck_assert_int_eq(errno, saved);
    mps_telemetry_reset(1);
    mps_telemetry_set(1);
    ck_assert_uint_eq(mps_telemetry_get() & 127, 127);
  }
}

START_TEST(failing_sink) {
  begin("all");
  fail_into(_i == 0   ? "/dev/full"
            : _i == 1 ? "/tmp"
            : _i == 2 ? "/no/such/place"
                      : "",
            true);
  end();
}
END_TEST

/* A pipe that nobody reads: it is not waited for. */
START_TEST(unread) {
  begin("all");
  ck_assert_int_eq(mkfifo(name, 0600), 0);
  fail_into(NULL, _i == 1);
  end();
}
END_TEST

/* Make one, and its reader. */
static int open_pipe(void) {
  int reader;
  ck_assert_int_eq(mkfifo(name, 0600), 0);
  reader = open(name, O_RDONLY | O_NONBLOCK);
  ck_assert_int_ge(reader, 0);
  return reader;
}

/* One whose reader comes, reads a little, and goes: the program goes on, and
   has no signal from that. */
START_TEST(left_by_reader) {
  uint64_t magic;
  sigset_t set, pending;
  int reader;
  begin("all");
  reader = open_pipe();
  ck_assert_ptr_ne(signal(SIGPIPE, SIG_DFL), SIG_ERR);
  (void)sigemptyset(&set);
  (void)sigaddset(&set, SIGPIPE);
  if (_i == 1)
    ck_assert_int_eq(sigprocmask(SIG_BLOCK, &set, NULL), 0);
  start();
  stop();
  ck_assert_int_eq(read(reader, &magic, sizeof magic), sizeof magic);
  ck_assert_int_eq(memcmp(&magic, "TDOEVT1\n", 8), 0);
  ck_assert_int_eq(close(reader), 0);
  fail_into(NULL, true);
  ck_assert_int_eq(sigpending(&pending), 0);
  ck_assert_int_eq(sigismember(&pending, SIGPIPE), 0);
  end();
}
END_TEST

/* What is the program's own stays. */
START_TEST(pipe_of_its_own) {
  sigset_t set, pending;
  int reader;
  begin("all");
  reader = open_pipe();
  (void)sigemptyset(&set);
  (void)sigaddset(&set, SIGPIPE);
  ck_assert_int_eq(sigprocmask(SIG_BLOCK, &set, NULL), 0);
  ck_assert_int_eq(raise(SIGPIPE), 0);
  start();
  ck_assert_int_eq(close(reader), 0);
  stop();
  ck_assert_int_eq(sigpending(&pending), 0);
  ck_assert_int_eq(sigismember(&pending, SIGPIPE), 1);
  end();
}
END_TEST

START_TEST(limited_sink) {
  enum { MOST = 100000 };
  struct rlimit limit = {MOST, MOST};
  size_t at = 2;
  begin("all");
  if (_i == 0)
    ck_assert_ptr_ne(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
  if (_i == 2)
    ck_assert_ptr_ne(signal(SIGXFSZ, SIG_DFL), SIG_ERR);
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
  fail_into(NULL, _i == 1);
  load();
  ck_assert_uint_gt(count, MOST / WORD / (suite_pages(1) > 4096 ? 4 : 2));
  ck_assert_uint_le(count, MOST / WORD);
  while (at < count) { /* whole records, but for the last */
    const uint64_t *record = words + at;
    at += 2 + (record[0] >> 16 & 0xffff) + ((record[0] >> 32) + 7) / 8;
  }
  ck_assert_uint_lt(at, count + 100);
  end();
}
END_TEST

SUITE_LOOPS_MAIN("telemetry", 60, {silent, 1}, {everything, 1}, {selected, 1},
                 {prompt, 1}, {forked, 1}, {left, 1}, {client_memory, 1},
                 {failing_sink, 4}, {unread, 2}, {left_by_reader, 2},
                 {pipe_of_its_own, 1}, {limited_sink, 3})

#endif
