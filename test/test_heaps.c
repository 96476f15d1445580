/* Testudo: arenas that come and go while threads look for theirs.
   SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include "mpsavm.h"
#include "test/require.h"
#include "test/suite.h"
#include "trace/heaps.h"

static mps_arena_t other;
static atomic_bool inside, gone, seen;

static mps_arena_t make_arena(void) {
  mps_arena_t made;
  REQUIRE(mps_arena_create_k(&made, mps_arena_class_vm(), mps_args_none) ==
          MPS_RES_OK);
  return made;
}

/* Looks at its arena for a while, once it has told that it does. */
static void look(tdo_heap_t *heap) {
  if (heap != other)
    return;
  inside = true;
  for (int i = 0; i < 50; ++i) {
    (void)usleep(1000);
    REQUIRE(!gone && heap->sig == TDO_HEAP_SIG);
  }
  seen = true;
}

static void *look_at_all(void *unused) {
  tdo_heaps_each(look);
  return unused;
}

static pthread_t start_looking(void) {
  pthread_t looker;
  inside = gone = seen = false;
  other = make_arena();
  REQUIRE(pthread_create(&looker, NULL, look_at_all, NULL) == 0);
  while (!inside)
    (void)usleep(100);
  return looker;
}

/* An arena stays until nobody looks at it any more. */
START_TEST(looked_at) {
  pthread_t looker = start_looking();
  mps_arena_destroy(other);
  gone = true;
  ck_assert(seen);
  REQUIRE(pthread_join(looker, NULL) == 0);
}
END_TEST

/* The thread that looks is not in the child, which does not wait for it. */
START_TEST(looked_at_in_parent) {
  pthread_t looker = start_looking();
  int status;
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    (void)alarm(30);
    mps_arena_destroy(other);
    suite_leave(EXIT_SUCCESS);
  }
  REQUIRE(waitpid(child, &status, 0) == child);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
  REQUIRE(pthread_join(looker, NULL) == 0);
  mps_arena_destroy(other);
}
END_TEST

static pid_t forked;

static void fork_looking(tdo_heap_t *heap) {
  if (heap == other)
    forked = fork();
}

/* The thread that forks looked itself, as one does whose handler of a signal
   forks within a hit: in the child, too, it stops. */
START_TEST(forked_looking) {
  int status;
  other = make_arena();
  tdo_heaps_each(fork_looking);
  REQUIRE(forked >= 0);
  if (forked == 0)
    (void)alarm(30);
  mps_arena_destroy(other);
  if (forked == 0)
    suite_leave(EXIT_SUCCESS);
  REQUIRE(waitpid(forked, &status, 0) == forked);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
}
END_TEST

static void *come_and_go(void *unused) {
  while (!gone)
    mps_arena_destroy(make_arena());
  return unused;
}

/* A hit asks each arena whether an address is its own: others go meanwhile. */
START_TEST(asked_meanwhile) {
  mps_arena_t first = make_arena(); /* its place is taken again and again */
  pthread_t others[2];
  other = make_arena();
  gone = false;
  mps_arena_destroy(first);
  for (int i = 0; i < 2; ++i)
    REQUIRE(pthread_create(&others[i], NULL, come_and_go, NULL) == 0);
  for (size_t n = suite_slow() ? 100000 : 3000000; n > 0; --n)
    REQUIRE(tdo_heaps_find(other->space.base) == other);
  gone = true;
  for (int i = 0; i < 2; ++i)
    REQUIRE(pthread_join(others[i], NULL) == 0);
  mps_arena_destroy(other);
}
END_TEST

SUITE_LOOPS_MAIN("arenas of the process", 60, {looked_at, 1},
                 {looked_at_in_parent, 1}, {forked_looking, 1},
                 {asked_meanwhile, 1})
