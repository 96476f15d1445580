/* Testudo: tests of memory that is touched ahead of its use: that it is, that
   nothing else changes, and which memory that is.
   SPDX-License-Identifier: BSD-2-Clause */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* CPU_COUNT */
#endif
#include <dirent.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "arena/internal.h"
#include "code/populate.h"
#include "code/vm_double.h"
#include "trace/heap.h"

#include "test/objects.h"
#include "test/suite.h"

enum { GRAIN = 4096, PER_ZONE = 256, ZONES = 256, CALLS = 4000 };

#define AHEAD ((size_t)1536 << 10)

/* ---- the system's part */

static void nap(void) {
  struct timespec t = {0, 1000000};
  (void)nanosleep(&t, NULL);
}

static char *map(size_t size) {
  char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(p != MAP_FAILED);
  return p;
}

/* Can this system do it at all? */
static bool able(void) {
  char *p = map(GRAIN);
  cpu_set_t set;
  bool ok = madvise(p, GRAIN, 23) == 0 && !suite_emulated() &&
            sched_getaffinity(0, sizeof set, &set) == 0 &&
            CPU_COUNT(&set) > 1;
#if defined(__SANITIZE_THREAD__)
  ok = false;
#endif
  REQUIRE(munmap(p, GRAIN) == 0);
  return ok;
}

static size_t resident(char *p, size_t size) {
  static unsigned char in[4096];
  size_t n = 0, pages = size / GRAIN;
  REQUIRE(pages <= sizeof in && mincore(p, size, in) == 0);
  for (size_t i = 0; i < pages; ++i)
    n += in[i] & 1;
  return n * GRAIN;
}

/* Wait until all of it is there: seconds at most. */
static bool comes(char *p, size_t size) {
  for (int i = 0; i < 10000; ++i) {
    if (resident(p, size) == size)
      return true;
    nap();
  }
  return false;
}

static size_t threads(void) {
  DIR *dir = opendir("/proc/self/task");
  size_t n = 0;
  REQUIRE(dir != NULL);
  while (readdir(dir) != NULL)
    ++n;
  (void)closedir(dir);
  return n - 2;
}

static void ask(char *p, size_t size) {
  tdo_populate_ask(tdo_vm_system(), p, size);
}

/* What is asked comes, with its contents as they were; the thread leaves, and
   another comes when there is more to do. */
START_TEST(touched) {
  enum { SIZE = 4 << 20 };
  char *p = map(SIZE);
  if (!able())
    return;
  p[GRAIN] = 7;
  for (int i = 0; i < 3; ++i) {
    size_t before = atomic_load(&tdo_vm_system()->counters.advise);
    char *part = p + i * SIZE / 4;
    ask(part, SIZE / 4);
    ck_assert(comes(part, SIZE / 4));
    ck_assert_uint_gt(atomic_load(&tdo_vm_system()->counters.advise), before);
    for (int n = 0; threads() > 1; ++n) {
      ck_assert_int_lt(n, 10000);
      nap();
    }
  }
  ck_assert_int_eq(p[GRAIN], 7);
  ck_assert_int_eq(p[0], 0);
  ck_assert_uint_eq(resident(p + SIZE / 4 * 3, SIZE / 4), 0);
  ck_assert_int_eq(munmap(p, SIZE), 0);
}
END_TEST

/* Memory that is closed, or gone, is no harm; nor is too much of it. */
START_TEST(untouched) {
  enum { SIZE = 1 << 20 };
  char *p = map(SIZE), *q = map(SIZE);
  ck_assert_int_eq(mprotect(p, SIZE, PROT_NONE), 0);
  for (int i = 0; i < 1000; ++i) {
    ask(p, SIZE);
    ask(q, SIZE);
    if (i == 500)
      ck_assert_int_eq(munmap(q, SIZE), 0);
  }
  nap();
  /* An emulator does not tell about closed memory. */
  ck_assert_int_eq(mprotect(p, SIZE, PROT_READ), 0);
  ck_assert_uint_eq(resident(p, SIZE), 0);
  ck_assert_int_eq(munmap(p, SIZE), 0);
}
END_TEST

/* Nothing is touched while that is held, as often as it is; then it is. What
   is cancelled meanwhile is not. */
START_TEST(held) {
  enum { SIZE = 2 << 20 };
  char *p = map(SIZE), *q = map(SIZE);
  ask(p, SIZE);
  tdo_populate_hold();
  nap(); /* what was just being touched */
  tdo_populate_hold();
  ask(q, SIZE);
  nap();
  ck_assert_uint_eq(resident(q, SIZE), 0);
  tdo_populate_release();
  nap();
  ck_assert_uint_eq(resident(q, SIZE), 0);
  tdo_populate_release();
  ck_assert(!able() || comes(q, SIZE));
  ck_assert_int_eq(munmap(p, SIZE), 0);
  ck_assert_int_eq(munmap(q, SIZE), 0);
}
END_TEST

/* What is cancelled while it is held half done is not gone on with. */
START_TEST(held_and_cancelled) {
  enum { SIZE = 4 << 20 };
  for (int i = 0; i < 100; ++i) {
    char *p = map(SIZE);
    size_t was;
    ask(p, SIZE);
    tdo_populate_hold();
    tdo_populate_cancel(p, SIZE);
    was = resident(p, SIZE);
    tdo_populate_release();
    if (i % 4 == 0)
      nap();
    ck_assert_uint_eq(resident(p, SIZE), was);
    ck_assert_int_eq(munmap(p, SIZE), 0);
  }
}
END_TEST

/* What was cancelled is not touched: what is mapped there next stays empty. */
START_TEST(cancelled) {
  enum { SIZE = 2 << 20 };
  for (int i = 0; i < 200; ++i) {
    char *p = map(SIZE);
    ask(p, SIZE);
    if (i % 2 == 0)
      nap();
    tdo_populate_cancel(p, SIZE);
    ck_assert_ptr_eq(mmap(p, SIZE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), p);
    if (i % 8 < 2)
      nap();
    ck_assert_uint_eq(resident(p, SIZE), 0);
    ck_assert_int_eq(munmap(p, SIZE), 0);
  }
}
END_TEST

/* The child has a thread of its own when it needs one; the arena's handlers
   tell it so. */
START_TEST(forked) {
  enum { SIZE = 1 << 20 };
  char *p = map(2 * SIZE);
  int status;
  pid_t child;
  heap_start(mps_class_amc());
  if (able()) {
    ask(p, SIZE);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
      ask(p + SIZE, SIZE);
      suite_leave(comes(p + SIZE, SIZE) ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert(comes(p, SIZE));
  }
  heap_stop();
  ck_assert_int_eq(munmap(p, 2 * SIZE), 0);
}
END_TEST

/* Who holds it and forks, as a handler does that interrupts a flush, releases
   it in the child, too. */
START_TEST(forked_while_held) {
  enum { SIZE = 1 << 20 };
  char *p = map(SIZE);
  int status;
  pid_t child;
  heap_start(mps_class_amc());
  if (able()) {
    tdo_populate_hold();
    child = fork();
    ck_assert_int_ge(child, 0);
    tdo_populate_release();
    if (child == 0) {
      ask(p, SIZE);
      suite_leave(comes(p, SIZE) ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
  }
  heap_stop();
  ck_assert_int_eq(munmap(p, SIZE), 0);
}
END_TEST

/* ---- which memory, over the double */

static tdo_vm_double_t twin;
static tdo_vm_call_t calls[CALLS];
static tdo_space_t space;
static tdo_group_t group;

static void space_start(size_t grain) {
  static const tdo_space_hooks_t none;
  size_t size = (size_t)ZONES * PER_ZONE * GRAIN;
  tdo_vm_double_options_t options = {
      .pages = size / GRAIN, .calls = calls, .calls_max = CALLS};
  REQUIRE(tdo_vm_double_init(&twin, &options) == MPS_RES_OK);
  REQUIRE(tdo_space_init(&space, &twin.vm, size / 2, 0, grain, SIZE_MAX, 1.0,
                         0) == MPS_RES_OK);
  REQUIRE(tdo_space_start(&space, size / 2, &none) == MPS_RES_OK);
  space.populate = true;
  space.populate_most = SIZE_MAX;
  group = tdo_space_group_new(&space, 0);
  tdo_vm_double_clear(&twin);
}

static void space_stop(void) {
  REQUIRE(tdo_space_check(&space));
  tdo_space_finish(&space);
  tdo_vm_double_finish(&twin);
}

static size_t take(size_t n, tdo_group_t who) {
  size_t first = SIZE_MAX;
  REQUIRE(tdo_space_alloc(&first, &space, n, who, false, &space) ==
          MPS_RES_OK);
  return first;
}

/* Bytes asked for in all; each page once at most, none in use, no more ahead
   of LAST than promised. */
static size_t asked(void) {
  static unsigned char seen[ZONES * PER_ZONE];
  size_t bytes = 0;
  memset(seen, 0, sizeof seen);
  REQUIRE(twin.calls_count < CALLS);
  for (size_t i = 0; i < twin.calls_count; ++i)
    if (calls[i].kind == TDO_VM_POPULATE) {
      size_t first = (size_t)((char *)calls[i].base - space.base) / GRAIN;
      ck_assert_uint_le(calls[i].size, AHEAD);
      bytes += calls[i].size;
      for (size_t p = 0; p < calls[i].size / GRAIN; ++p) {
        ck_assert_int_eq(seen[first + p], 0);
        seen[first + p] = 1;
      }
    }
  ck_assert_uint_eq(bytes, space.populated);
  return bytes;
}

/* Take, piece by piece, N grains. */
static void take_pieces(size_t n, size_t piece) {
  for (size_t i = 0; i < n; i += piece)
    (void)take(piece, group);
}

/* Take most of the space and give it back; the bytes asked for so far. */
static size_t use_and_free(size_t n) {
  size_t first = take(n, group), bytes = asked();
  tdo_space_free(&space, first, n);
  return bytes;
}

/* Nothing in a small space; then whatever is taken was asked for before, but
   for the pieces at which commits begin. */
START_TEST(ahead) {
  enum { PIECE = 16 };
  size_t small = 0, used = 0;
  space_start(GRAIN);
  while (space.committed < (size_t)20 << 20) {
    (void)take(PIECE, group);
    small += PIECE;
  }
  ck_assert_uint_eq(asked(), 0);
  while (small + used < (ZONES / 2 - 2) * PER_ZONE) {
    size_t first = take(PIECE, group);
    ck_assert(!tdo_bits_get(space.fresh, first));
    used += PIECE;
    if (used % (4 * PIECE) == 0)
      REQUIRE(tdo_space_check(&space));
  }
  ck_assert_uint_gt(asked(), used * GRAIN * 3 / 4);
  ck_assert_uint_le(asked(), used * GRAIN + 2 * AHEAD);
  space_stop();
}
END_TEST

/* What is used again, is not for a generation, or was not wished, is not
   asked for. */
START_TEST(not_ahead) {
  size_t n = 80 * PER_ZONE, before;
  space_start(GRAIN);
  before = use_and_free(n);
  take_pieces(n, 64);
  ck_assert_uint_eq(asked(), before); /* it was touched already */
  (void)take(64, TDO_GROUP_MANUAL);
  (void)take(64, TDO_GROUP_CONTROL);
  ck_assert_uint_eq(asked(), before);
  space.populate = false;
  take_pieces(8 * PER_ZONE, 16);
  ck_assert_uint_eq(asked(), before);
  space_stop();
  space_start((size_t)1 << 20); /* a grain is more than what is ahead */
  take_pieces(80, 1);
  ck_assert_uint_eq(asked(), 0);
  space_stop();
}
END_TEST

/* Memory that went and came again is fresh again. */
START_TEST(again) {
  size_t before;
  space_start(GRAIN);
  before = use_and_free(80 * PER_ZONE);
  tdo_space_purge(&space, SIZE_MAX / 4);
  ck_assert_uint_eq(tdo_bits_count(space.fresh, 0, space.grains), 0);
  (void)take(76 * PER_ZONE, group);
  take_pieces(4 * PER_ZONE, 16);
  ck_assert_uint_gt(asked(), before);
  space_stop();
}
END_TEST

/* ---- a whole arena */

/* A heap that grows and grows, in the oldest generation. */
static void grow(bool populate) {
  tdo_statistics_s s;
  mps_ap_t old;
  MPS_ARGS_BEGIN(args) {
    TDO_ARGS_ADD(args, TDO_KEY_POPULATE, populate);
    ck_assert_int_eq(mps_arena_create_k(&arena, mps_arena_class_vm(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  heap_in_arena(mps_class_amc());
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_GEN, 2);
    ck_assert_int_eq(mps_ap_create_k(&old, pool, args), MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  mps_arena_clamp(arena);
  for (size_t i = 0; i < 900000; ++i) {
    mps_addr_t o = obj_on(old, OBJ_NODE, 10);
    *obj_ref(o, 1) = table[i % ROOTS];
    table[i % ROOTS] = o;
  }
  tdo_statistics(arena, &s);
  if (populate)
    ck_assert_uint_gt(s.populated, (size_t)1 << 20);
  else
    ck_assert_uint_eq(s.populated, 0);
  mps_ap_destroy(old);
  heap_stop();
}

START_TEST(grows) {
  grow(true);
}
END_TEST

START_TEST(grows_without) {
  grow(false);
}
END_TEST

SUITE_MAIN("populate", 60, touched, untouched, held, held_and_cancelled,
           cancelled, forked, forked_while_held, ahead, not_ahead, again,
           grows, grows_without)
