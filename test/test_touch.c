/* Testudo: tests of what touches protected memory of an arena whose lock its
   thread has: signal handlers that interrupted the library, and who forks.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>
#include "trace/enter.h"

#include "test/objects.h"
#include "test/suite.h"

enum { LENGTH = 200 };

static mps_arena_t far;
static mps_thr_t twice; /* the other thread, once more */
static atomic_size_t turns;
static atomic_bool ready, quit;
static pthread_t other;

/* Another thread for a stop to stop, of both arenas. */
static void *turn(void *p) {
  mps_thr_t here, there;
  REQUIRE(mps_thread_reg(&here, arena) == MPS_RES_OK);
  REQUIRE(mps_thread_reg(&there, far) == MPS_RES_OK);
  REQUIRE(mps_thread_reg(&twice, arena) == MPS_RES_OK);
  ready = true;
  while (!quit)
    ++turns;
  mps_thread_dereg(there);
  mps_thread_dereg(here);
  return p;
}

static void begin(void) {
  heap_start(mps_class_amc());
  REQUIRE(mps_arena_create_k(&far, mps_arena_class_vm(), mps_args_none) ==
          MPS_RES_OK);
  mps_arena_park(arena);
  for (size_t i = 0; i < ROOTS; ++i)
    for (size_t k = 0; k < LENGTH; ++k) {
      mps_addr_t p = numbered(i);
      *obj_ref(p, 1) = table[i];
      table[i] = p;
    }
  for (size_t round = 0; round < 3; ++round)
    collect();
  ready = quit = false;
  REQUIRE(pthread_create(&other, NULL, turn, NULL) == 0);
  while (!ready)
    (void)usleep(100);
}

static void end(void) {
  quit = true;
  REQUIRE(pthread_join(other, NULL) == 0);
  if (twice != NULL)
    mps_thread_dereg(twice);
  for (size_t i = 0; i < ROOTS; ++i) {
    size_t length = 0;
    for (mps_addr_t p = table[i]; p != NULL; p = *obj_ref(p, 1), ++length)
      REQUIRE(number_of(p) == i);
    REQUIRE(length == LENGTH);
  }
  mps_arena_park(arena);
  tdo_arena_check(arena);
  mps_arena_destroy(far);
  heap_stop();
}

static bool barred(mps_addr_t p) {
  return arena->shielded &&
         (tdo_shield_bars(&arena->shield, tdo_heap_page(arena, (char *)p)) &
          TDO_BAR_READ) != 0;
}

/* A collection is under way, and this object lies behind a read bar. Null
   where there are none. */
static mps_addr_t find_barred(void) {
  for (int round = 0; round < 10; ++round) {
    mps_arena_pause_time_set(arena, 0);
    (void)mps_arena_start_collect(arena);
    for (size_t i = 0; i < ROOTS; ++i)
      if (barred(table[i]))
        return table[i];
    mps_arena_park(arena);
    mps_arena_release(arena);
  }
  REQUIRE(!arena->shielded || arena->shield.settings.mode == TDO_SHIELD_OFF);
  return NULL;
}

static void others_run(void) {
  size_t before = turns;
  while (turns == before)
    (void)usleep(100);
}

/* Nothing of a session is left. */
static void check_over(void) {
  sigset_t mask;
  ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, NULL, &mask), 0);
  ck_assert_int_eq(sigismember(&mask, SIGUSR1), 0);
  ck_assert_int_eq(sigismember(&mask, SIGUSR2), 0);
  ck_assert(!arena->is_stopped && !arena->quiet && !arena->bars_lost);
  ck_assert(tdo_heap_between(arena));
  others_run();
}

static mps_addr_t target;

static void touch(int sig) {
  volatile mps_word_t *p = target;
  (void)sig;
  suite_handler();
  (void)*p;
}

static void look_at_root(mps_addr_t *ref, mps_root_t root, void *p,
                         size_t s) {
  (void)ref, (void)root, (void)p, (void)s;
}

static void stop_far(int sig) {
  int saved = errno;
  size_t before = far->stats.stops;
  (void)sig;
  suite_handler();
  mps_arena_park(far);
  mps_arena_roots_walk(far, look_at_root, NULL, 0);
  REQUIRE(far->stats.stops == before + 1);
  errno = saved;
}

static void handle(int sig, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler};
  ck_assert_int_eq(sigaction(sig, &action, NULL), 0);
}

static size_t count_hits(void) {
  size_t n = 0;
  for (size_t i = 0; i < sizeof arena->stats.hit_log2 / sizeof(size_t); ++i)
    n += arena->stats.hit_log2[i];
  return n;
}

/* The lock and no session, as between the two, and in a fork: the hit is a
   session of its own, which keeps the lock. */
START_TEST(between) {
  size_t hits;
  begin();
  target = find_barred();
  if (target != NULL) {
    hits = count_hits();
    tdo_lock_claim(&arena->lock);
    touch(0);
    ck_assert(tdo_lock_mine(&arena->lock));
    check_over();
    tdo_lock_release(&arena->lock);
    ck_assert_uint_eq(count_hits(), hits + 1);
  }
  end();
}
END_TEST

/* In a session: the page is opened, and the other threads are stopped for that
   until the session ends. Signals come until then, and their handlers may
   stop threads for another arena. */
START_TEST(inside) {
  sigset_t mask;
  begin();
  handle(SIGUSR1, touch);
  handle(SIGUSR2, stop_far);
  target = find_barred();
  if (target != NULL) {
    bool stops;
    tdo_heap_enter(arena);
    ck_assert(!arena->is_stopped);
    REQUIRE(raise(SIGUSR1) == 0);
    stops = arena->is_stopped;
    ck_assert(stops && arena->bars_lost && !arena->quiet);
    ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, NULL, &mask), 0);
    ck_assert_int_eq(sigismember(&mask, SIGUSR2), 0);
    if (_i == 1)
      REQUIRE(raise(SIGUSR2) == 0);
    ck_assert(arena->is_stopped);
    tdo_heap_leave(arena);
    check_over();
    ck_assert_int_eq(arena->trace.state, TDO_TRACE_IDLE);
  }
  end();
}
END_TEST

/* A registration of a thread that such a touch has stopped ends. */
START_TEST(deregistered) {
  begin();
  handle(SIGUSR1, touch);
  target = find_barred();
  if (target != NULL) {
    tdo_stop_thread_t *stop;
    size_t before;
    tdo_heap_enter(arena);
    REQUIRE(raise(SIGUSR1) == 0);
    before = turns;
    stop = tdo_thread_deregister(twice);
    twice = NULL;
    for (int i = 0; i < 1000; ++i)
      (void)usleep(100);
    ck_assert_uint_eq(turns, before); /* it is registered as well */
    ck_assert(arena->is_stopped && arena->bars_lost);
    tdo_heap_leave(arena);
    tdo_stop_deregister(stop);
    check_over();
  }
  end();
}
END_TEST

/* The session's work is done, but for leaving: what a handler opens then is
   found on the short way, too. */
START_TEST(at_the_end) {
  begin();
  handle(SIGUSR1, touch);
  target = find_barred();
  if (target != NULL) {
    tdo_heap_enter(arena);
    arena->frame = NULL; /* as tdo_heap_leave_fast has it */
    REQUIRE(raise(SIGUSR1) == 0);
    check_over();
    ck_assert(tdo_lock_mine(&arena->lock));
    tdo_heap_leave_fast(arena);
    ck_assert(!tdo_lock_held(&arena->lock));
    check_over();
  }
  end();
}
END_TEST

static bool forking;

static void touch_forking(void) {
  if (forking && target != NULL)
    touch(0);
}

/* Handlers of a fork that run before the library's, and after them. */
START_TEST(in_a_fork) {
  int status;
  pid_t child;
  void (*none)(void) = NULL;
  /* Before the library's: its prepare comes after the library's, its others
     before them. */
  REQUIRE(pthread_atfork(_i == 0 ? touch_forking : none,
                         _i == 1 ? touch_forking : none,
                         _i == 2 ? touch_forking : none) == 0);
  begin();
  target = find_barred();
  forking = true;
  child = fork();
  forking = false;
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    mps_arena_park(arena);
    for (size_t i = 0; i < ROOTS; ++i)
      for (mps_addr_t p = table[i]; p != NULL; p = *obj_ref(p, 1))
        if (number_of(p) != i)
          suite_leave(1);
    tdo_arena_check(arena);
    suite_leave(0);
  }
  check_over();
  while (waitpid(child, &status, 0) < 0)
    continue;
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  end();
}
END_TEST

static atomic_bool far_entered;

/* Inside the far arena, where a handler touches the other, which a fork may
   have by now. */
static void *touch_from_far(void *p) {
  mps_thr_t here;
  REQUIRE(mps_thread_reg(&here, arena) == MPS_RES_OK);
  tdo_heap_enter(far);
  far_entered = true;
  for (int i = 0; i < 500 && !tdo_lock_held(&arena->lock); ++i)
    (void)usleep(100); /* it is given back each time: this ends by itself */
  touch(0);
  tdo_heap_leave(far);
  mps_thread_dereg(here);
  return p;
}

/* A fork does not keep one arena while it waits for the next. */
START_TEST(forked_meanwhile) {
  pthread_t id;
  pid_t child;
  int status;
  begin();
  target = find_barred();
  if (target != NULL) {
    ck_assert_int_eq(pthread_create(&id, NULL, touch_from_far, NULL), 0);
    while (!far_entered)
      (void)usleep(100);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
      suite_leave(0);
    while (waitpid(child, &status, 0) < 0)
      continue;
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_int_eq(pthread_join(id, NULL), 0);
    check_over();
  }
  end();
}
END_TEST

SUITE_LOOPS_MAIN("touching inside", 60, {between, 1}, {inside, 2},
                 {deregistered, 1}, {at_the_end, 1}, {in_a_fork, 3},
                 {forked_meanwhile, 1})
