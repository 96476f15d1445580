/* Testudo: programs whose data is limited (RLIMIT_DATA). The system counts
   what is writable, so barriers lend what it must be able to give back: the
   client is told that there is no memory before that happens, and loses
   nothing. SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "code/file.h"
#include "trace/heap.h"
#include "test/objects.h"
#include "test/suite.h"

enum { LISTS = 256, MIB = 1 << 20, PIECE = 1 << 16, DONE = 42 };

static size_t made; /* nodes */

/* From here on there may be some MiB more of data than now. */
static void limit_data(void) {
  size_t size = suite_size(24, 6) * MIB;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t most = tdo_file_number("/proc/self/statm", 5) * page + size;
  struct rlimit limit = {most, most};
  REQUIRE(setrlimit(RLIMIT_DATA, &limit) == 0);
}

/* A soft limit of 0 lets the hard one count: there is none. */
static void limit_nothing(void) {
  struct rlimit limit;
  REQUIRE(getrlimit(RLIMIT_DATA, &limit) == 0);
  limit.rlim_cur = 0;
  REQUIRE(setrlimit(RLIMIT_DATA, &limit) == 0);
}

/* BODY, in a process of its own with that LIMIT. A sanitizer has data without
   end, and an emulator no limit. */
static void apart(void (*limit)(void), void (*body)(void)) {
  pid_t pid;
  int status;
  if (suite_slow())
    return;
  pid = fork();
  if (pid == 0) {
    limit();
    asserted_start();
    body();
    asserted_none();
    suite_leave(DONE);
  }
  while (waitpid(pid, &status, 0) < 0)
    ck_assert_int_eq(errno, EINTR);
  ck_assert(WIFEXITED(status));
  ck_assert_int_eq(WEXITSTATUS(status), DONE);
}

/* Lists take turns, some nodes each: what dies of one leaves pages free. */
static size_t turn(void) {
  return made / suite_size(1024, 20) % LISTS;
}

/* A node more, at the head of a list. Each list counts down. */
static mps_res_t push(size_t list) {
  mps_addr_t obj;
  mps_res_t res = obj_try(&obj, ap, OBJ_NODE, suite_size(2 + made % 40, 1000));
  if (res == MPS_RES_OK) {
    size_t n = table[list] == NULL ? 0 : number_of(table[list]) + 1;
    *obj_ref(obj, 0) = (mps_addr_t)(n << 2 | 1);
    *obj_ref(obj, 1) = table[list];
    table[list] = obj;
    ++made;
  }
  return res;
}

/* All is there, and can be written. */
static void check_lists(void) {
  tdo_arena_check(arena);
  for (size_t i = 0; i < LISTS; ++i) {
    size_t n = table[i] == NULL ? 0 : number_of(table[i]) + 1;
    for (mps_addr_t obj = table[i]; obj != NULL; obj = *obj_ref(obj, 1)) {
      REQUIRE(number_of(obj) == --n);
      *obj_ref(obj, 0) = (mps_addr_t)(n << 2 | 1);
    }
    REQUIRE(n == 0);
  }
}

static void drop_lists(size_t keep) {
  for (size_t i = 0; i < LISTS; ++i)
    if (i % keep != 0)
      table[i] = NULL;
}

static void fill(void) {
  mps_res_t res;
  while ((res = push(turn())) == MPS_RES_OK)
    ;
  ck_assert_int_eq(res, MPS_RES_MEMORY);
}

/* It says so when memory runs out; with half of the lists gone there is more,
   though what dies may lie finely between what lives. */
static void grow(void) {
  size_t before;
  heap_start(mps_class_amc());
  ck_assert(!arena->shielded || !tdo_shield_hides(&arena->shield));
  fill();
  check_lists();
  drop_lists(2);
  before = made;
  for (size_t i = 0; i < before / 8; ++i)
    ck_assert_int_eq(push(0), MPS_RES_OK);
  check_lists();
  heap_stop();
}

START_TEST(test_grow) {
  apart(limit_data, grow);
}
END_TEST

/* Another arena, and the program's own memory, grow with it. */
static void others(void) {
  mps_arena_t other;
  mps_pool_t blocks;
  mps_addr_t block;
  void *own;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, MIB);
    ck_assert_int_eq(mps_arena_create_k(&other, mps_arena_class_vm(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  ck_assert_int_eq(mps_pool_create_k(&blocks, other, mps_class_mvff(),
                                     mps_args_none),
                   MPS_RES_OK);
  heap_start(mps_class_amc());
  for (size_t i = 0; push(turn()) == MPS_RES_OK; ++i)
    if (i % suite_size(1000, 20) == 0) {
      if (mps_alloc(&block, blocks, PIECE) == MPS_RES_OK)
        memset(block, 1, PIECE);
      own = malloc(PIECE / 2);
      if (own != NULL)
        memset(own, 1, PIECE / 2);
    }
  check_lists();
  drop_lists(2);
  for (size_t i = 0; i < suite_size(LISTS, 8); ++i)
    ck_assert_int_eq(push(i), MPS_RES_OK);
  check_lists();
  heap_stop();
  mps_pool_destroy(blocks);
  mps_arena_destroy(other);
}

START_TEST(test_others) {
  apart(limit_data, others);
}
END_TEST

/* The program takes all that the system gives, and with it what barriers
   closed: spare memory makes up for that. */
static void taken(void) {
  heap_start(mps_class_amc());
  mps_arena_spare_set(arena, 1.0);
  fill();
  drop_lists(4);
  collect();
  for (int i = 0; i < 4; ++i)
    collect();
  while (mmap(NULL, PIECE, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
    ;
  check_lists();
  heap_stop();
}

START_TEST(test_taken) {
  apart(limit_data, taken);
}
END_TEST

/* What the system does not grant is refused for the same reason when the
   client's own limit does not allow it either. */
static void both(void) {
  size_t most = suite_size(24, 6) * MIB, sizes[] = {2 * most, 64 * most};
  mps_pool_t blocks;
  mps_addr_t block;
  mps_res_t res[2];
  start();
  CREATE(blocks, mps_class_mvff(), SPARE, 0.0);
  for (int i = 0; i < 2; ++i)
    res[i] = mps_alloc(&block, blocks, sizes[i]);
  ck_assert_int_eq(res[0], MPS_RES_MEMORY);
  ck_assert_int_eq(mps_arena_commit_limit_set(arena, most / 4), MPS_RES_OK);
  for (int i = 0; i < 2; ++i)
    ck_assert_int_eq(mps_alloc(&block, blocks, sizes[i]), res[i]);
  ck_assert_int_eq(mps_alloc(&block, blocks, most / 2), MPS_RES_COMMIT_LIMIT);
  mps_pool_destroy(blocks);
  stop();
}

START_TEST(test_both) {
  apart(limit_data, both);
}
END_TEST

static void nominal(void) {
  heap_start(mps_class_amc());
  while (made < 1000)
    ck_assert_int_eq(push(turn()), MPS_RES_OK);
  check_lists();
  heap_stop();
}

START_TEST(test_nominal) {
  apart(limit_nothing, nominal);
}
END_TEST

SUITE_MAIN("data_limit", 120, test_grow, test_others, test_taken, test_both,
           test_nominal)
