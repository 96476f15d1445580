/* Testudo: tests of roots of one arena in protected memory of another, while
   several threads use both (interface, section 2.2).
   SPDX-License-Identifier: BSD-2-Clause */
#include "test/objects.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include "test/suite.h"

enum { WORDS = 200, WORKERS = 2, BOTH = 2 };

typedef struct world {
  mps_arena_t arena;
  mps_fmt_t fmt;
  mps_pool_t pool;
  mps_ap_t ap;
  mps_thr_t thr;
  mps_root_t held_root, abroad_root, stack;
  mps_addr_t held; /* an object, whose words are a root of the other arena */
} world_t;

static world_t worlds[BOTH];
static atomic_bool over;

static void world_start(world_t *w, void *cold) {
  REQUIRE(mps_arena_create_k(&w->arena, mps_arena_class_vm(), mps_args_none) ==
          MPS_RES_OK);
  arena = w->arena;
  fmt = w->fmt = obj_format();
  w->pool = own_chain_pool(mps_class_amc());
  w->ap = point(w->pool);
  REQUIRE(mps_thread_reg(&w->thr, arena) == MPS_RES_OK);
  REQUIRE(mps_root_create_thread(&w->stack, arena, w->thr, cold) ==
          MPS_RES_OK);
  /* Ambiguous: it stays where it is. */
  REQUIRE(mps_root_create_table(&w->held_root, arena, mps_rank_ambig(), 0,
                                &w->held, 1) == MPS_RES_OK);
  w->held = obj_on(w->ap, OBJ_NODE, WORDS);
}

static void world_lend(world_t *w, world_t *other) {
  REQUIRE(mps_root_create_area(&w->abroad_root, w->arena, mps_rank_exact(), 0,
                               obj_ref(other->held, 0),
                               obj_ref(other->held, WORDS), mps_scan_area,
                               NULL) == MPS_RES_OK);
}

static void world_stop(world_t *w) {
  tdo_arena_check(w->arena);
  mps_arena_park(w->arena);
  mps_root_destroy(w->held_root);
  mps_root_destroy(w->stack);
  mps_thread_dereg(w->thr);
  mps_ap_destroy(w->ap);
  mps_pool_destroy(w->pool);
  mps_fmt_destroy(w->fmt);
}

/* Makes garbage in one of them, registered with both. */
static void *work(void *p) {
  void *cold = FRAME_COLD();
  mps_thr_t thrs[BOTH];
  mps_root_t stacks[BOTH];
  mps_ap_t on;
  for (size_t i = 0; i < BOTH; ++i) {
    REQUIRE(mps_thread_reg(&thrs[i], worlds[i].arena) == MPS_RES_OK);
    REQUIRE(mps_root_create_thread(&stacks[i], worlds[i].arena, thrs[i],
                                   cold) == MPS_RES_OK);
  }
  on = point(((world_t *)p)->pool);
  for (size_t n = 0; !over; ++n) {
    mps_addr_t volatile kept = obj_on(on, OBJ_NODE, 2 + n % 30);
    REQUIRE(obj_kind(kept) == OBJ_NODE);
  }
  mps_ap_destroy(on);
  for (size_t i = 0; i < BOTH; ++i) {
    mps_root_destroy(stacks[i]);
    mps_thread_dereg(thrs[i]);
  }
  return NULL;
}

static void look_at(const world_t *w) {
  for (size_t i = 0; i < WORDS; ++i) {
    mps_addr_t obj = *obj_ref(w->held, i);
    REQUIRE(obj == NULL || obj_kind(obj) == OBJ_NODE);
  }
}

static void fork_once(void) {
  int status;
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0)
    _exit(EXIT_SUCCESS);
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
}

static void come_and_go(void) {
  mps_arena_t made;
  REQUIRE(mps_arena_create_k(&made, mps_arena_class_vm(), mps_args_none) ==
          MPS_RES_OK);
  mps_arena_destroy(made);
}

static void (*const besides[])(void) = {NULL, fork_once, come_and_go};

/* A collection comes upon a closed page of the other arena, which a thread is
   inside of that it would have stopped, or that waits for the right to stop
   it. */
START_TEST(both_ways) {
  size_t rounds = suite_slow() ? 200 : 1500;
  pthread_t workers[WORKERS];
  REQUIRE(setenv("TESTUDO_STRESS", "3", 1) == 0);
  for (size_t i = 0; i < BOTH; ++i)
    world_start(&worlds[i], FRAME_COLD());
  for (size_t i = 0; i < BOTH; ++i)
    world_lend(&worlds[i], &worlds[1 - i]);
  over = false;
  for (size_t i = 0; i < WORKERS; ++i)
    REQUIRE(pthread_create(&workers[i], NULL, work, &worlds[i % BOTH]) == 0);
  for (size_t n = 0; n < rounds; ++n) {
    for (size_t i = 0; i < BOTH; ++i)
      *obj_ref(worlds[i].held, n * 7 % WORDS) =
          obj_on(worlds[1 - i].ap, OBJ_NODE, 5);
    if (n % 50 == 0)
      for (size_t i = 0; i < BOTH; ++i)
        look_at(&worlds[i]);
    if (n % 100 == 0 && besides[_i] != NULL)
      besides[_i]();
  }
  over = true;
  for (size_t i = 0; i < WORKERS; ++i)
    REQUIRE(pthread_join(workers[i], NULL) == 0);
  for (size_t i = 0; i < BOTH; ++i)
    mps_root_destroy(worlds[i].abroad_root);
  for (size_t i = 0; i < BOTH; ++i)
    world_stop(&worlds[i]);
  for (size_t i = 0; i < BOTH; ++i)
    mps_arena_destroy(worlds[i].arena);
}
END_TEST

SUITE_LOOPS_MAIN("roots abroad", 60, {both_ways, 3})
