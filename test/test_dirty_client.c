/* Testudo: a client in dirty mode: forks that go on, several arenas, a sandbox
   that refuses. SPDX-License-Identifier: BSD-2-Clause */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench/shield_heap.h"
#include "refuse_call.h"
#include "suite.h"

/* Random young pointers, each checked at the end: it names its vector. */
static void work(size_t writes) {
  for (size_t i = 0; i < suite_size(writes, writes / 30); ++i) {
    size_t v = heap_random() % vectors_count;
    vector_t *young = vector_make(2);
    young->slot[0] = vectors[v];
    vectors[v]->slot[heap_random() % VECTOR_SLOTS] = young;
  }
}

static bool right(void) {
  for (size_t v = 0; v < vectors_count; ++v) {
    for (size_t i = 0; i < VECTOR_SLOTS; ++i) {
      vector_t *young = vectors[v]->slot[i];
      if (young != NULL && young->slot[0] != vectors[v])
        return false;
    }
  }
  tdo_arena_check(arena);
  return true;
}

static void start(void) {
  ck_assert_int_eq(setenv("TESTUDO_SHIELD", "dirty", 1), 0);
  heap_start(suite_size((size_t)16 << 20, (size_t)4 << 20));
}

START_TEST(fork_goes_on) {
  tdo_statistics_s s;
  int status = -1;
  pid_t child;
  start();
  work(300000);
  child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    work(600000);
    suite_leave(right() ? 0 : 1);
  }
  work(300000);
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  ck_assert(right());
  tdo_statistics(arena, &s);
  if (s.fallback == NULL) { /* where the kernel has it */
    ck_assert_int_eq(s.mode, TDO_MODE_DIRTY);
    ck_assert_uint_gt(s.harvest_written, 0);
    ck_assert_uint_gt(s.track_calls, 0);
  }
}
END_TEST

START_TEST(several_arenas) {
  mps_arena_t first;
  vector_t **first_vectors;
  start();
  work(200000);
  first = arena;
  first_vectors = vectors;
  start();
  work(200000);
  ck_assert(right());
  arena = first;
  vectors = first_vectors;
  ck_assert(right());
}
END_TEST

START_TEST(sandboxed) {
  tdo_statistics_s s;
  ck_assert(refuse_call(SYS_userfaultfd, 0, EPERM));
  start();
  work(300000);
  ck_assert(right());
  tdo_statistics(arena, &s);
  ck_assert_int_eq(s.mode, TDO_MODE_DEFERRED);
  ck_assert_ptr_nonnull(s.fallback);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {fork_goes_on, several_arenas, sandboxed};
  /* The last filters system calls, which an emulator does not offer. */
  return suite_run(
      suite_of("dirty_client", 100, tests, suite_emulated() ? 2 : 3));
}
