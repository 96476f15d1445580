/* Testudo: tests of recordings of the shield's requests, and of what a
   process says at its end. SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "mpscawl.h"
#include "shield/record.h"
#include "trace/heap.h"
#include "test/objects.h"
#include "test/suite.h"

static char path[] = "/tmp/testudo-record-XXXXXX";
static unsigned char recording[1 << 24];
static size_t recorded;

static void record_read(void) {
  int fd = open(path, O_RDONLY);
  ssize_t n;
  ck_assert_int_ge(fd, 0);
  recorded = 0;
  while ((n = read(fd, recording + recorded, sizeof recording - recorded)) > 0)
    recorded += (size_t)n;
  ck_assert_int_eq(n, 0);
  (void)close(fd);
}

/* Weak blocks of another chain: passes leave them for later. */
static mps_pool_t weak_pool;
static mps_ap_t weak_ap;

static void weak_start(void) {
  mps_addr_t p;
  CREATE(weak_pool, mps_class_awl(), FORMAT, fmt);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_RANK, mps_rank_weak());
    REQUIRE(mps_ap_create_k(&weak_ap, weak_pool, args) == MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  p = obj_on(weak_ap, OBJ_NODE, 1000);
  for (size_t i = 0; i < 1000; ++i)
    *obj_ref(p, i) = table[i];
  table[ROOTS - 1] = p;
}

static void weak_stop(void) {
  mps_arena_park(arena);
  mps_ap_destroy(weak_ap);
  mps_pool_destroy(weak_pool);
}

static void work(tdo_statistics_s *statistics) {
  REQUIRE(setenv("TESTUDO_SMALL", "0", 1) == 0); /* with bars */
  heap_start(mps_class_amc());
  for (size_t n = 0; n < 20000; ++n) {
    mps_addr_t obj = numbered(n);
    *obj_ref(obj, 1) = table[(n * 7) % (ROOTS - 1)];
    table[n % (ROOTS - 1)] = obj;
    if (n == 10000)
      weak_start();
  }
  collect();
  collect();
  tdo_statistics(arena, statistics);
  weak_stop();
  heap_stop();
}

static uint64_t number_at(size_t *at) {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    REQUIRE(*at < recorded && shift < 64);
    value |= (uint64_t)(recording[*at] & 127) << shift;
    if (!(recording[(*at)++] & 128))
      return value;
  }
}

/* What was recorded is what was asked: each request within the window, and
   as many as the statistics say. */
START_TEST(test_recording) {
  static const struct {
    bool pages;
    unsigned numbers;
  } shapes[] = {
#define SHAPE(name, pages, numbers) {pages, numbers},
      TDO_REQUESTS(SHAPE)
#undef SHAPE
  };
  size_t counts[TDO_REQUESTS_COUNT] = {0}, at = TDO_RECORD_HEADER, end = 0;
  tdo_statistics_s statistics;
  uint64_t header[4];
  ck_assert_int_ge(mkstemp(path), 0);
  ck_assert_int_eq(setenv("TESTUDO_RECORD", path, 1), 0);
  work(&statistics);
  record_read();
  (void)unlink(path);
  ck_assert_uint_gt(recorded, TDO_RECORD_HEADER);
  ck_assert_mem_eq(recording, TDO_RECORD_MAGIC, 8);
  memcpy(header, recording + 8, sizeof header);
  ck_assert_uint_eq(header[0], (uint64_t)sysconf(_SC_PAGESIZE));
  ck_assert_uint_eq(header[2], statistics.mode);
  while (at < recorded && recording[at] != 0) {
    unsigned request = recording[at++] & 31;
    REQUIRE(request < TDO_REQUESTS_COUNT);
    ++counts[request];
    if (shapes[request].pages) {
      uint64_t step = number_at(&at);
      end += step % 2 == 0 ? step / 2 : 0 - (step + 1) / 2;
      end += number_at(&at);
      REQUIRE(end <= header[1]);
    }
    for (unsigned i = 0; i < shapes[request].numbers; ++i)
      (void)number_at(&at);
  }
  /* Those of the passes themselves are not recorded. */
  ck_assert_uint_ge(counts[TDO_REQUEST_EXPOSE], 1);
  ck_assert_uint_ge(counts[TDO_REQUEST_PAGES], 1);
  ck_assert_uint_ge(counts[TDO_REQUEST_REMEMBER], 1);
  ck_assert_uint_eq(counts[TDO_REQUEST_REMEMBER],
                    counts[TDO_REQUEST_REMEMBERED]);
  ck_assert_uint_ge(counts[TDO_REQUEST_REACHED], 1);
  ck_assert_uint_ge(counts[TDO_REQUEST_ADOPT], 1);
  ck_assert_uint_eq(counts[TDO_REQUEST_EXPOSE], counts[TDO_REQUEST_COVER]);
  ck_assert(statistics.exposes > 0 || statistics.mode == TDO_MODE_OFF);
}
END_TEST

/* A recording by itself, in a file that has no name any more. */
static void alone(tdo_shield_record_t *record) {
  char name[] = "/tmp/testudo-record-XXXXXX";
  int fd = mkstemp(name);
  ck_assert_int_ge(fd, 0);
  ck_assert_int_eq(tdo_shield_record_open(record, name, 4096, 64, 1, 0),
                   MPS_RES_OK);
  (void)close(fd);
  (void)unlink(name);
}

/* A request about no pages is no record: none has an empty range. */
START_TEST(test_empty) {
  tdo_shield_record_t record;
  unsigned char *at;
  alone(&record);
  at = record.file.at;
  tdo_shield_record_note(&record, TDO_REQUEST_LOWER, 1, 8, 8);
  ck_assert_ptr_eq(record.file.at, at);
  tdo_shield_record_note(&record, TDO_REQUEST_LOWER, 1, 8, 9);
  tdo_shield_record_note(&record, TDO_REQUEST_FLUSH, 0, 0, 0);
  ck_assert_ptr_eq(record.file.at, at + 4);
  tdo_record_close(&record.file);
}
END_TEST

/* Where requests follow from what was noted, memory comes and goes as ever. */
START_TEST(test_quiet) {
  static const unsigned char whole[] = {TDO_REQUEST_COMMITTED, 0, 2,
                                        TDO_REQUEST_ADOPT, 3, 1,
                                        TDO_REQUEST_COVER, 6, 1};
  tdo_shield_record_t record;
  unsigned char *at;
  alone(&record);
  at = record.file.at;
  record.quiet = true;
  tdo_shield_record_note(&record, TDO_REQUEST_EXPOSE, 0, 4, 5);
  tdo_shield_record_note(&record, TDO_REQUEST_COMMITTED, 0, 0, 2);
  tdo_shield_record_note(&record, TDO_REQUEST_ADOPT, 0, 0, 1);
  record.quiet = false;
  tdo_shield_record_note(&record, TDO_REQUEST_COVER, 0, 4, 5);
  ck_assert_ptr_eq(record.file.at, at + sizeof whole);
  ck_assert_mem_eq(at, whole, sizeof whole);
  tdo_record_close(&record.file);
}
END_TEST

/* The numbers of a request, which cannot be read before a handler has run. */
static tdo_shield_record_t interrupted;
static uint64_t *numbers;

static void interrupt(int signal) {
  (void)signal;
  (void)mprotect(numbers, (size_t)sysconf(_SC_PAGESIZE), PROT_READ);
  tdo_shield_record_note(&interrupted, TDO_REQUEST_LOWER, 1, 30, 40);
}

/* What a handler asks for while a request is recorded is left out, and that
   request, and those before and after, are there as ever. */
START_TEST(test_interrupted) {
  static const unsigned char whole[] = {
      TDO_REQUEST_FLUSH, TDO_REQUEST_PAGES | 1 << 5, 16, 1, 5, 6,
      TDO_REQUEST_COVER, 0, 2};
  struct sigaction action = {.sa_handler = interrupt};
  size_t size = (size_t)sysconf(_SC_PAGESIZE);
  unsigned char *at;
  alone(&interrupted);
  at = interrupted.file.at;
  numbers = mmap(NULL, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(numbers, MAP_FAILED);
  numbers[0] = 5;
  numbers[1] = 6;
  ck_assert_int_eq(mprotect(numbers, size, PROT_NONE), 0);
  ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
  tdo_shield_record_note(&interrupted, TDO_REQUEST_FLUSH, 0, 0, 0);
  tdo_shield_record_numbers(&interrupted, TDO_REQUEST_PAGES, 1, 8, 9, numbers);
  tdo_shield_record_note(&interrupted, TDO_REQUEST_COVER, 0, 9, 11);
  ck_assert_ptr_eq(interrupted.file.at, at + sizeof whole);
  ck_assert_mem_eq(at, whole, sizeof whole);
  (void)signal(SIGSEGV, SIG_DFL);
  (void)munmap(numbers, size);
  tdo_record_close(&interrupted.file);
}
END_TEST

static void check_blocks(const tdo_shield_record_t *record) {
  struct stat status;
  ck_assert_int_eq(fstat(record->file.fd, &status), 0);
  ck_assert_int_ge(status.st_blocks * 512, status.st_size);
}

/* What will be written has its place on the disk before: a full one ends no
   program. */
START_TEST(test_blocks) {
  tdo_shield_record_t record;
  alone(&record);
  check_blocks(&record);
  while (record.file.offset == 0)
    tdo_shield_record_note(&record, TDO_REQUEST_FLUSH, 0, 0, 0);
  ck_assert_ptr_nonnull(record.file.window);
  check_blocks(&record);
  tdo_record_close(&record.file);
}
END_TEST

/* A file that is being written is left alone: who writes it has it mapped. */
START_TEST(test_taken) {
  tdo_shield_record_t record, other;
  char name[] = "/tmp/testudo-record-XXXXXX";
  struct stat status;
  int fd = mkstemp(name);
  ck_assert_int_ge(fd, 0);
  ck_assert_int_eq(write(fd, "old", 3), 3); /* it is emptied */
  ck_assert_int_eq(tdo_shield_record_open(&record, name, 4096, 64, 1, 0),
                   MPS_RES_OK);
  ck_assert_int_eq(tdo_shield_record_open(&other, name, 4096, 64, 1, 0),
                   MPS_RES_FAIL);
  while (record.file.offset == 0)
    tdo_shield_record_note(&record, TDO_REQUEST_FLUSH, 0, 0, 0);
  tdo_record_close(&record.file);
  ck_assert_int_eq(tdo_shield_record_open(&other, name, 4096, 64, 1, 0),
                   MPS_RES_OK);
  tdo_record_close(&other.file);
  ck_assert_int_eq(fstat(fd, &status), 0);
  ck_assert_int_eq(status.st_size, TDO_RECORD_HEADER);
  (void)close(fd);
  (void)unlink(name);
}
END_TEST

/* The first arena is the one that is recorded, and marked: not one that could
   not be made, nor a later one. */
static void make_two(bool fail, bool early) {
  mps_arena_t first, second;
  ck_assert_int_ge(mkstemp(path), 0);
  if (early)
    ck_assert_int_eq(setenv("TESTUDO_RECORD", path, 1), 0);
  if (fail)
    MPS_ARGS_BEGIN(args) {
      MPS_ARGS_ADD(args, MPS_KEY_COMMIT_LIMIT, 1);
      ck_assert_int_ne(mps_arena_create_k(&first, mps_arena_class_vm(), args),
                       MPS_RES_OK);
    }
    MPS_ARGS_END(args);
  ck_assert_int_eq(
      mps_arena_create_k(&first, mps_arena_class_vm(), mps_args_none),
      MPS_RES_OK);
  ck_assert_int_eq(setenv("TESTUDO_RECORD", path, 1), 0);
  ck_assert_int_eq(
      mps_arena_create_k(&second, mps_arena_class_vm(), mps_args_none),
      MPS_RES_OK);
  ck_assert(first->first && !second->first);
  ck_assert_int_eq(first->found != NULL, early);
  ck_assert_ptr_null(second->found);
  mps_arena_destroy(second);
  mps_arena_destroy(first);
  record_read();
  ck_assert_int_eq(recorded >= TDO_RECORD_HEADER, early);
  (void)unlink(path);
}

START_TEST(test_first_fails) {
  make_two(true, true);
}
END_TEST

START_TEST(test_first_is_recorded) {
  make_two(false, true);
}
END_TEST

START_TEST(test_set_later) {
  make_two(false, false);
}
END_TEST

/* Where the file cannot be made, all goes on without. */
START_TEST(test_no_file) {
  tdo_statistics_s statistics;
  ck_assert_int_eq(setenv("TESTUDO_RECORD", "/nowhere/at/all", 1), 0);
  work(&statistics);
  ck_assert_uint_gt(statistics.collections, 0);
}
END_TEST

/* So it does where it must not be as large: no signal ends the program. */
START_TEST(test_file_limit) {
  tdo_statistics_s statistics;
  struct rlimit limit = {100000, 100000};
  ck_assert_int_ge(mkstemp(path), 0);
  ck_assert_int_eq(setenv("TESTUDO_RECORD", path, 1), 0);
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
  work(&statistics);
  record_read();
  (void)unlink(path);
  ck_assert_uint_eq(recorded, 0);
}
END_TEST

/* Statistics on standard error: of an arena that was destroyed, and of one
   that the process left behind. */
static void statistics_of(bool leave, char *text, size_t size) {
  int pipes[2], status;
  size_t length = 0;
  ssize_t n;
  pid_t pid;
  ck_assert_int_eq(pipe(pipes), 0);
  pid = fork();
  if (pid == 0) {
    tdo_statistics_s statistics;
    (void)dup2(pipes[1], STDERR_FILENO);
    (void)setenv("TESTUDO_STATISTICS", "on", 1);
    if (leave)
      start();
    else
      work(&statistics);
    exit(0);
  }
  (void)close(pipes[1]);
  while ((n = read(pipes[0], text + length, size - 1 - length)) > 0)
    length += (size_t)n;
  text[length] = '\0';
  (void)close(pipes[0]);
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

START_TEST(test_statistics) {
  static char text[10000];
  for (int leave = 0; leave < 2; ++leave) {
    statistics_of(leave, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "protection"));
    ck_assert_ptr_nonnull(strstr(text, "mappings"));
    /* Once. */
    ck_assert_ptr_null(strstr(strstr(text, "protection") + 1, "protection"));
  }
}
END_TEST

SUITE_MAIN("record", 60, test_recording, test_empty, test_quiet,
           test_interrupted, test_blocks, test_taken, test_first_fails,
           test_first_is_recorded, test_set_later, test_no_file,
           test_file_limit, test_statistics)
