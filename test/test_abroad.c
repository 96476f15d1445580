/* Testudo: tests of roots of one arena in protected memory of another, while
   several threads use both (interface, section 2.2).
   SPDX-License-Identifier: BSD-2-Clause */
#include "test/objects.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>
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

static world_t worlds[BOTH + 2]; /* the last two for in_a_third */
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
  size_t rounds = suite_slow() ? 200 : 600;
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

enum { MILLI = 1000 /* microseconds */ };

/* Of an arena whose collection is to take so long. */
static mps_res_t stay_root(mps_ss_t ss, void *p, size_t s) {
  bool *stays = p;
  (void)ss;
  if (*stays)
    for (size_t n = 0; n < s; ++n)
      (void)usleep(10 * MILLI);
  *stays = false;
  return MPS_RES_OK;
}

static void collect_long(world_t *w, size_t n) {
  bool stays = true;
  mps_root_t root;
  REQUIRE(mps_root_create(&root, w->arena, mps_rank_exact(), 0, stay_root,
                          &stays, n) == MPS_RES_OK);
  REQUIRE(mps_arena_collect(w->arena) == MPS_RES_OK);
  mps_root_destroy(root);
}

/* Inside an arena of its own, registered with the first one, too. */
static void *stay_in_a_third(void *p) {
  world_t *w = p;
  mps_thr_t there;
  world_start(w, FRAME_COLD());
  REQUIRE(mps_thread_reg(&there, worlds[0].arena) == MPS_RES_OK);
  collect_long(w, 100);
  mps_thread_dereg(there);
  world_stop(w);
  mps_arena_destroy(w->arena);
  return NULL;
}

/* With the right to stop threads, which the next two come to wait for. */
static void *stay_in_a_fourth(void *w) {
  (void)usleep(100 * MILLI);
  collect_long(w, 50);
  return NULL;
}

static void *collect_second(void *w) {
  (void)usleep(250 * MILLI);
  REQUIRE(mps_arena_collect(((world_t *)w)->arena) == MPS_RES_OK);
  return NULL;
}

static void *collect_first(void *w) {
  (void)usleep(400 * MILLI);
  REQUIRE(mps_arena_collect(((world_t *)w)->arena) == MPS_RES_OK);
  return NULL;
}

/* The second arena, with a root in the first, waits for the third one, when
   the first is lent to it: a thread that the first is to stop is inside the
   third, and was stopped there. */
START_TEST(in_a_third) {
  void *(*const does[])(void *) = {collect_first, collect_second,
                                   stay_in_a_third, stay_in_a_fourth};
  enum { N = sizeof does / sizeof does[0], THIRD = 2 };
  pthread_t ids[N];
  for (size_t i = 0; i < N; ++i)
    if (i != THIRD)
      world_start(&worlds[i], FRAME_COLD());
  world_lend(&worlds[1], &worlds[0]);
  for (size_t i = 0; i < N; ++i)
    REQUIRE(pthread_create(&ids[i], NULL, does[i], &worlds[i]) == 0);
  for (size_t i = 0; i < N; ++i)
    REQUIRE(pthread_join(ids[i], NULL) == 0);
  mps_root_destroy(worlds[1].abroad_root);
  for (size_t i = 0; i < N; ++i) {
    if (i == THIRD)
      continue;
    world_stop(&worlds[i]);
    mps_arena_destroy(worlds[i].arena);
  }
}
END_TEST

/* Inside the second arena, which only this thread is registered with: until the
   flag is set, and a while longer. */
static atomic_int asks, made, collected, held;

static void await(const atomic_int *n, int least) {
  while (*n < least)
    (void)usleep(MILLI);
}

static void hold(mps_addr_t *ref, mps_root_t root, void *flag, size_t s) {
  atomic_int *until = flag;
  (void)ref, (void)root, (void)s;
  if (*until > 0)
    return;
  ++held;
  await(until, 1);
  (void)usleep(100 * MILLI);
}

static mps_addr_t never; /* one word of it */

static void *hold_twice(void *unused) {
  mps_pool_t manual;
  world_start(&worlds[1], FRAME_COLD());
  REQUIRE(mps_pool_create_k(&manual, worlds[1].arena, mps_class_mvff(),
                            mps_args_none) == MPS_RES_OK);
  REQUIRE(mps_alloc(&never, manual, sizeof(mps_addr_t)) == MPS_RES_OK);
  mps_arena_park(worlds[1].arena);
  mps_arena_roots_walk(worlds[1].arena, hold, &asks, 0);
  await(&made, 1);
  mps_arena_roots_walk(worlds[1].arena, hold, &collected, 0);
  await(&made, 2);
  mps_pool_destroy(manual);
  world_stop(&worlds[1]);
  mps_arena_destroy(worlds[1].arena);
  return unused;
}

/* A root of the first arena is in memory of the second that is never
   protected, and was made while somebody was inside that: the first can be
   collected while somebody is. */
START_TEST(never_protected) {
  pthread_t id;
  mps_root_t root;
  world_start(&worlds[0], FRAME_COLD());
  REQUIRE(pthread_create(&id, NULL, hold_twice, NULL) == 0);
  await(&held, 1);
  asks = 1;
  *(mps_addr_t *)never = worlds[0].held;
  REQUIRE(mps_root_create_table(&root, worlds[0].arena, mps_rank_exact(), 0,
                                never, 1) == MPS_RES_OK);
  made = 1;
  await(&held, 2);
  REQUIRE(mps_arena_collect(worlds[0].arena) == MPS_RES_OK);
  collected = 1;
  mps_root_destroy(root);
  made = 2;
  REQUIRE(pthread_join(id, NULL) == 0);
  world_stop(&worlds[0]);
  mps_arena_destroy(worlds[0].arena);
}
END_TEST

SUITE_LOOPS_MAIN("roots abroad", 60, {both_ways, 3}, {in_a_third, 1},
                 {never_protected, 1})
