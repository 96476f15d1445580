/* Testudo: locks. SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>
#include "code/clock.h"
#include "code/lock.h"
#include "mpslib.h"
#include "test/suite.h"

enum { THREADS = 4, ROUNDS = 20000 };

static tdo_lock_t lock;
static long counter;
static jmp_buf escape;

static void *count(void *p) {
  (void)p;
  for (int i = 0; i < ROUNDS; ++i) {
    tdo_lock_claim(&lock);
    ++counter;
    tdo_lock_release(&lock);
    tdo_lock_global_claim();
    tdo_lock_global_release();
  }
  return NULL;
}

START_TEST(excludes) {
  pthread_t ids[THREADS];
  tdo_lock_init(&lock);
  for (int i = 0; i < THREADS; ++i)
    ck_assert_int_eq(pthread_create(&ids[i], NULL, count, NULL), 0);
  for (int i = 0; i < THREADS; ++i)
    ck_assert_int_eq(pthread_join(ids[i], NULL), 0);
  ck_assert_int_eq(counter, THREADS * ROUNDS);
  ck_assert(!tdo_lock_held(&lock));
  tdo_lock_finish(&lock);
}
END_TEST

static void *claim(void *p) {
  tdo_lock_claim(&lock);
  ++*(int *)p;
  tdo_lock_release(&lock);
  return NULL;
}

/* Claimed while the process had one thread, which needs less, and released
   when another one waits for it. */
START_TEST(claimed_alone) {
  pthread_t id;
  int claims = 0;
  tdo_lock_init(&lock);
  tdo_lock_claim(&lock);
  ck_assert_int_eq(pthread_create(&id, NULL, claim, &claims), 0);
  while (atomic_load(&lock.waiting) == 0)
    (void)sched_yield();
  ck_assert_int_eq(claims, 0);
  tdo_lock_release(&lock);
  ck_assert_int_eq(pthread_join(id, NULL), 0);
  ck_assert_int_eq(claims, 1);
  tdo_lock_finish(&lock);
}
END_TEST

static void *ask(void *p) {
  bool *answers = p;
  answers[0] = tdo_lock_held(&lock);
  answers[1] = tdo_lock_mine(&lock);
  return NULL;
}

START_TEST(knows_its_owner) {
  pthread_t id;
  bool answers[2];
  tdo_lock_init(&lock);
  ck_assert(!tdo_lock_held(&lock));
  ck_assert(!tdo_lock_mine(&lock));
  tdo_lock_claim(&lock);
  ck_assert(tdo_lock_mine(&lock));
  ck_assert_int_eq(pthread_create(&id, NULL, ask, answers), 0);
  ck_assert_int_eq(pthread_join(id, NULL), 0);
  ck_assert(answers[0]);
  ck_assert(!answers[1]);
  tdo_lock_release(&lock);
  tdo_lock_finish(&lock);
}
END_TEST

static atomic_bool enough;
static atomic_long turns;

/* As one that collects in a loop does. */
static void *greedy(void *p) {
  while (!enough) {
    uint64_t end = tdo_clock_ns() + 200000;
    tdo_lock_claim(&lock);
    while (!tdo_clock_past(end)) {
    }
    atomic_fetch_add(&turns, 1);
    tdo_lock_release(&lock);
  }
  return p;
}

/* Nobody is kept out for long by a thread that claims again at once. */
START_TEST(none_starves) {
  enum { CLAIMS = 200, MOST = 300 };
  pthread_t id;
  long longest = 0;
  tdo_lock_init(&lock);
  ck_assert_int_eq(pthread_create(&id, NULL, greedy, NULL), 0);
  for (int i = 0; i < CLAIMS; ++i) {
    long before = turns, waited;
    while (turns == before)
      (void)sched_yield();
    before = turns;
    tdo_lock_claim(&lock);
    waited = turns - before;
    tdo_lock_release(&lock);
    longest = waited > longest ? waited : longest;
  }
  enough = true;
  ck_assert_int_lt(longest, MOST);
  ck_assert_int_eq(pthread_join(id, NULL), 0);
  ck_assert_uint_eq(lock.starved, 0);
  tdo_lock_finish(&lock);
}
END_TEST

/* Not again to one that does not come, which cannot while it is in a handler:
   one on its own thread would give way to it for ever. */
START_TEST(gives_way_once) {
  pthread_t id;
  bool answers[2];
  tdo_lock_init(&lock);
  ck_assert_int_eq(pthread_create(&id, NULL, ask, answers), 0); /* else no
                                                       thread can be waiting */
  ck_assert_int_eq(pthread_join(id, NULL), 0);
  atomic_store(&lock.waiting, 1); /* as if */
  atomic_store(&lock.starved, 1);
  tdo_lock_claim(&lock);
  ck_assert(!lock.late);
  tdo_lock_release(&lock);
  ck_assert(lock.late);
  atomic_store(&lock.starved, 0);
  atomic_store(&lock.waiting, 0);
  tdo_lock_finish(&lock);
}
END_TEST

static void caught(const char *file, unsigned line, const char *text) {
  (void)file, (void)line, (void)text;
  longjmp(escape, 1);
}

START_TEST(twice_is_a_mistake) {
  if (TDO_RASH)
    return; /* nothing is reported: the second claim waits for ever */
  tdo_lock_init(&lock);
  tdo_lock_claim(&lock);
  (void)mps_lib_assert_fail_install(caught);
  if (setjmp(escape) == 0) {
    tdo_lock_claim(&lock);
    ck_abort_msg("claimed twice");
  }
  tdo_lock_release(&lock);
  if (setjmp(escape) == 0) {
    tdo_lock_release(&lock);
    ck_abort_msg("released twice");
  }
}
END_TEST

/* A lock that another thread held when the process forked. */
START_TEST(reset_in_child) {
  pid_t child;
  int status;
  tdo_lock_init(&lock);
  tdo_lock_claim(&lock);
  child = fork();
  if (child == 0) {
    tdo_lock_reset(&lock);
    if (tdo_lock_held(&lock))
      suite_leave(1);
    tdo_lock_claim(&lock);
    tdo_lock_release(&lock);
    suite_leave(0);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ck_assert(tdo_lock_mine(&lock));
  tdo_lock_release(&lock);
}
END_TEST

SUITE_MAIN("lock", 30, excludes, claimed_alone, knows_its_owner, none_starves,
           gives_way_once, twice_is_a_mistake, reset_in_child)
