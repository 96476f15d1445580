/* Testudo: tests of forks (interface, section 2.16): parent and child both go
   on with allocation, collections, barriers and threads.
   SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>
#include "mpscams.h"
#include "trace/enter.h"
#include "test/objects.h"
#include "test/suite.h"

enum { LIVE = 300, OTHERS = 3 };

static void fill(size_t from) {
  for (size_t i = 0; i < LIVE; ++i)
    table[i] = numbered(from + i);
}

static void check(size_t from) {
  for (size_t i = 0; i < LIVE; ++i)
    REQUIRE(number_of(table[i]) == from + i);
}

/* Garbage, young references in old objects, collections of every kind. */
static void churn(size_t from) {
  for (size_t round = 0; round < 5; ++round) {
    for (size_t i = 0; i < 5000; ++i) {
      mps_addr_t fresh = numbered(i);
      *obj_ref(table[i % LIVE], 1) = fresh;
    }
    for (size_t i = 0; i < LIVE; ++i)
      REQUIRE(number_of(*obj_ref(table[i], 1)) % LIVE == i);
    REQUIRE(mps_arena_start_collect(arena) == MPS_RES_OK);
    for (size_t i = 0; i < 500; ++i)
      (void)numbered(i);
    collect();
    check(from);
  }
  tdo_arena_check(arena);
}

/* In a child, at its end; and in the parent: it ended well. */
static void leave_child(void) {
  suite_leave(asserted_count == 0 ? 42 : 43);
}

static void await_child(pid_t pid) {
  int status;
  while (waitpid(pid, &status, 0) < 0)
    ck_assert_int_eq(errno, EINTR);
  ck_assert(WIFEXITED(status));
  ck_assert_int_eq(WEXITSTATUS(status), 42);
}

/* Run BODY in a child; its exit status is the test's. */
static void in_child(void (*body)(void)) {
  pid_t pid = fork();
  ck_assert_int_ge(pid, 0);
  if (pid == 0) {
    body();
    leave_child();
  }
  await_child(pid);
}

static void child_churn(void) {
  churn(0);
  fill(1000);
  churn(1000);
}

START_TEST(test_both_go_on) {
  heap_start(mps_class_amc());
  fill(0);
  for (int i = 0; i < 4; ++i)
    collect();
  in_child(child_churn);
  churn(0);
  heap_stop();
}
END_TEST

START_TEST(test_in_collection) {
  heap_start(mps_class_amc());
  fill(0);
  for (size_t i = LIVE; i < ROOTS; ++i)
    table[i] = node(1000);
  mps_arena_pause_time_set(arena, 0.0);
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  in_child(child_churn);
  churn(0);
  heap_stop();
}
END_TEST

static void child_destroys(void) {
  heap_stop();
  heap_start(mps_class_amc());
  fill(5);
  churn(5);
  heap_stop();
}

START_TEST(test_child_destroys) {
  heap_start(mps_class_amc());
  fill(0);
  in_child(child_destroys);
  check(0);
  heap_stop();
}
END_TEST

/* ---- with other threads, which do not exist in the child ---- */

static atomic_bool others_end;
static mps_thr_t others_thr[OTHERS];
static mps_root_t others_root[OTHERS];
static mps_ap_t others_ap[OTHERS];
static pthread_barrier_t others_ready;

static void *other(void *p) {
  size_t n = (size_t)(uintptr_t)p;
  REQUIRE(mps_thread_reg(&others_thr[n], arena) == MPS_RES_OK);
  REQUIRE(mps_root_create_thread(&others_root[n], arena, others_thr[n],
                                 FRAME_COLD()) == MPS_RES_OK);
  others_ap[n] = point(pool);
  (void)pthread_barrier_wait(&others_ready);
  while (!atomic_load(&others_end))
    for (size_t i = 0; i < 100; ++i) {
      mps_addr_t fresh = obj_on(others_ap[n], OBJ_NODE, 4);
      *obj_ref(fresh, 0) = table[n];
      *obj_ref(table[LIVE + n], 0) = fresh;
    }
  mps_ap_destroy(others_ap[n]);
  mps_root_destroy(others_root[n]);
  mps_thread_dereg(others_thr[n]);
  return NULL;
}

static void child_alone(void) {
  churn(0);
  /* Dormant descriptors are still there to be deregistered. */
  mps_arena_park(arena);
  for (size_t i = 0; i < OTHERS; ++i) {
    mps_root_destroy(others_root[i]);
    mps_thread_dereg(others_thr[i]);
  }
}

START_TEST(test_threads) {
  pthread_t threads[OTHERS];
  mps_root_t here;
  heap_start(mps_class_amc());
  ck_assert_int_eq(mps_root_create_thread(&here, arena, thr, FRAME_COLD()),
                   MPS_RES_OK);
  fill(0);
  for (size_t i = 0; i < OTHERS; ++i)
    table[LIVE + i] = node(1);
  ck_assert_int_eq(pthread_barrier_init(&others_ready, NULL, OTHERS + 1), 0);
  for (size_t i = 0; i < OTHERS; ++i)
    ck_assert_int_eq(
        pthread_create(&threads[i], NULL, other, (void *)(uintptr_t)i), 0);
  (void)pthread_barrier_wait(&others_ready);
  for (int i = 0; i < 5; ++i)
    in_child(child_alone);
  churn(0);
  atomic_store(&others_end, true);
  for (size_t i = 0; i < OTHERS; ++i)
    ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
  mps_root_destroy(here);
  heap_stop();
}
END_TEST

/* The child makes threads of its own. */
static void *child_thread(void *p) {
  mps_thr_t t;
  mps_ap_t q;
  (void)p;
  REQUIRE(mps_thread_reg(&t, arena) == MPS_RES_OK);
  q = point(pool);
  for (size_t i = 0; i < 20000; ++i)
    (void)obj_on(q, OBJ_NODE, 3);
  mps_ap_destroy(q);
  mps_thread_dereg(t);
  return NULL;
}

static void child_threads(void) {
  pthread_t thread;
  mps_root_t here;
  REQUIRE(mps_root_create_thread(&here, arena, thr, FRAME_COLD()) ==
          MPS_RES_OK);
  REQUIRE(pthread_create(&thread, NULL, child_thread, NULL) == 0);
  churn(0);
  REQUIRE(pthread_join(thread, NULL) == 0);
  mps_root_destroy(here);
}

START_TEST(test_child_threads) {
  heap_start(mps_class_amc());
  fill(0);
  in_child(child_threads);
  churn(0);
  heap_stop();
}
END_TEST

static size_t looks; /* since when */

/* What threads of the parent look at does not stay in the child for ever; nor
   what this one did, if it forked in a handler meanwhile. */
static void child_falls(void) {
  size_t slabs = arena->control.slabs;
  tdo_control_looked(&arena->control, looks);
  table[0] = NULL;
  collect();
  REQUIRE(arena->control.slabs < slabs);
}

START_TEST(test_looking) {
  heap_start(mps_class_ams());
  push_nodes(0, 20000);
  looks = tdo_control_look(&arena->control);
  in_child(child_falls);
  tdo_control_looked(&arena->control, looks);
  heap_stop();
}
END_TEST

/* Until N threads wait for the arena. */
static void wait_for_waiting(unsigned n) {
  while (atomic_load(&arena->lock.waiting) != n)
    (void)sched_yield();
}

/* Nor do threads of the parent wait for a lock there: each time that it was
   given back the system was asked to wake them. */
static void *waiter(void *p) {
  (void)p;
  mps_arena_pause_time_set(arena, 0.1);
  return NULL;
}

static void child_waits_not(void) {
  REQUIRE(atomic_load(&arena->lock.waiting) == 0);
  tdo_heap_leave(arena);
  churn(0);
}

START_TEST(test_waiting) {
  pthread_t thread;
  heap_start(mps_class_amc());
  fill(0);
  tdo_heap_enter(arena);
  ck_assert_int_eq(pthread_create(&thread, NULL, waiter, NULL), 0);
  wait_for_waiting(1);
  in_child(child_waits_not);
  tdo_heap_leave(arena);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  churn(0);
  heap_stop();
}
END_TEST

/* But this thread may, where a handler forks which interrupted that. */
static pid_t handler_child = -1;

static void forking_handler(int signal) {
  int saved = errno;
  (void)signal;
  handler_child = fork();
  errno = saved;
}

static void *holder(void *p) {
  pthread_t *waits = p;
  tdo_heap_enter(arena);
  (void)pthread_barrier_wait(&others_ready);
  wait_for_waiting(1);
  REQUIRE(pthread_kill(*waits, SIGUSR1) == 0);
  wait_for_waiting(2);
  tdo_heap_leave(arena);
  return NULL;
}

START_TEST(test_waiting_itself) {
#if defined(__SANITIZE_THREAD__)
  return; /* it runs handlers when it likes */
#endif
  struct sigaction action = {.sa_handler = forking_handler};
  pthread_t thread, self = pthread_self();
  heap_start(mps_class_amc());
  fill(0);
  ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
  ck_assert_int_eq(pthread_barrier_init(&others_ready, NULL, 2), 0);
  ck_assert_int_eq(pthread_create(&thread, NULL, holder, &self), 0);
  (void)pthread_barrier_wait(&others_ready);
  mps_arena_pause_time_set(arena, 0.1);
  if (handler_child == 0) {
    REQUIRE(atomic_load(&arena->lock.waiting) == 0);
    churn(0);
    leave_child();
  }
  ck_assert_int_gt(handler_child, 0);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  await_child(handler_child);
  heap_stop();
}
END_TEST

static void child_of_child(void) {
  churn(0);
  in_child(child_churn);
}

START_TEST(test_twice) {
  heap_start(mps_class_amc());
  fill(0);
  in_child(child_of_child);
  heap_stop();
}
END_TEST

/* ---- within the arena: in a scan method ---- */

static bool scan_forks;
static pid_t scan_child = -1;
static int scan_gate[2]; /* the child goes on when it can read from it */

static mps_res_t forking_scan(mps_ss_t ss, mps_addr_t base, mps_addr_t limit) {
  mps_res_t res = obj_scan(ss, base, limit);
  if (scan_forks) {
    char c;
    scan_forks = false;
    scan_child = fork();
    REQUIRE(scan_child >= 0);
    if (scan_child == 0)
      REQUIRE(read(scan_gate[0], &c, 1) == 1);
  }
  return res;
}

static void refer_to_young(size_t from) {
  for (size_t i = 0; i < LIVE; ++i) {
    mps_addr_t fresh = numbered(from + i);
    *obj_ref(table[i], 1) = fresh;
  }
}

static void check_young(size_t from) {
  for (size_t i = 0; i < LIVE; ++i)
    REQUIRE(number_of(*obj_ref(table[i], 1)) == from + i);
}

/* The child ends its session after what the parent wrote since the fork: the
   parent must not forget that for it. */
START_TEST(test_within) {
  heap_start_with(mps_class_amc(), forking_scan);
  ck_assert_int_eq(pipe(scan_gate), 0);
  fill(0);
  for (int i = 0; i < 4; ++i)
    collect();
  for (int i = 0; i < 4; ++i) { /* in place: the pages get their bars again */
    scan_forks = i == 3;
    ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
    mps_arena_park(arena);
    mps_arena_release(arena);
  }
  if (scan_child == 0) {
    churn(0);
    leave_child();
  }
  refer_to_young(1000);
  ck_assert_int_eq(write(scan_gate[1], "", 1), 1);
  await_child(scan_child);
  for (size_t i = 0; i < 20000; ++i)
    (void)numbered(i);
  check_young(1000);
  tdo_arena_check(arena);
  heap_stop();
}
END_TEST

/* ---- while another thread is stopped inside an arena ---- */

static mps_arena_t first;
static atomic_bool stays;

/* In the heap's arena, and registered with the first one. LENDS: it comes to
   wait for the right to stop threads there. */
static void *stay(void *lends) {
  mps_thr_t there;
  REQUIRE(mps_thread_reg(&there, first) == MPS_RES_OK);
  tdo_heap_enter(arena);
  (void)pthread_barrier_wait(&others_ready);
  while (atomic_load(&stays)) {
    if (lends != NULL) {
      tdo_threads_stop(arena);
      tdo_threads_go(arena);
    }
    (void)sched_yield();
  }
  tdo_heap_leave(arena);
  mps_thread_dereg(there);
  return NULL;
}

static mps_res_t fork_root(mps_ss_t ss, void *p, size_t s) {
  (void)ss, (void)p, (void)s;
  if (scan_child < 0) {
    scan_child = fork();
    REQUIRE(scan_child >= 0);
  }
  return MPS_RES_OK;
}

static void pass(mps_addr_t *ref, mps_root_t root, void *p, size_t s) {
  (void)ref, (void)root, (void)p, (void)s;
}

/* Nobody can wait until it leaves that, be it stopped there, or be the arena
   lent for the time of the stop. In the child, where that thread does not
   exist, the arena is as it was, and frozen. */
START_TEST(test_stopped_inside) {
  bool lends = _i == 1;
  pthread_t thread;
  mps_root_t root, abroad;
  heap_start(mps_class_amc());
  fill(0);
  churn(0);
  ck_assert_int_eq(
      mps_arena_create_k(&first, mps_arena_class_vm(), mps_args_none),
      MPS_RES_OK);
  ck_assert_int_eq(mps_root_create(&root, first, mps_rank_exact(), 0,
                                   fork_root, NULL, 0), MPS_RES_OK);
  if (lends)
    ck_assert_int_eq(mps_root_create_table(&abroad, first, mps_rank_exact(), 0,
                                           obj_ref(table[0], 1), 1),
                     MPS_RES_OK);
  ck_assert_int_eq(pthread_barrier_init(&others_ready, NULL, 2), 0);
  atomic_store(&stays, true);
  ck_assert_int_eq(pthread_create(&thread, NULL, stay,
                                  lends ? &stays : NULL), 0);
  (void)pthread_barrier_wait(&others_ready);
  mps_arena_park(first);
  mps_arena_roots_walk(first, pass, NULL, 0);
  if (scan_child == 0) {
    for (size_t i = 0; i < LIVE; ++i)
      *obj_ref(table[i], 1) = numbered(1000 + i);
    check(0);
    check_young(1000);
    mps_arena_release(first);
    mps_root_destroy(root);
    leave_child();
  }
  await_child(scan_child);
  atomic_store(&stays, false);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  if (lends)
    mps_root_destroy(abroad);
  churn(0);
  mps_root_destroy(root);
  mps_arena_destroy(first);
  heap_stop();
}
END_TEST

/* ---- while another thread, inside an arena, makes one ---- */

static mps_arena_t made;
static pthread_t forks;

static void child_leaves(void) {
}

static void *forker(void *p) {
  in_child(child_leaves);
  return p;
}

static mps_res_t make_arena(mps_ss_t ss, void *p, size_t s) {
  (void)ss, (void)p, (void)s;
  if (made != NULL)
    return MPS_RES_OK;
  REQUIRE(pthread_create(&forks, NULL, forker, NULL) == 0);
  wait_for_waiting(1);
  return mps_arena_create_k(&made, mps_arena_class_vm(), mps_args_none);
}

/* The fork waits for the arena, with nothing that this one waits for. */
START_TEST(test_making) {
  mps_root_t root;
  heap_start(mps_class_amc());
  fill(0);
  ck_assert_int_eq(mps_root_create(&root, arena, mps_rank_exact(), 0,
                                   make_arena, NULL, 0), MPS_RES_OK);
  collect();
  ck_assert_ptr_nonnull(made);
  ck_assert_int_eq(pthread_join(forks, NULL), 0);
  mps_arena_destroy(made);
  mps_root_destroy(root);
  heap_stop();
}
END_TEST

/* The fork waits for an arena that a thread inside another one destroys. */
START_TEST(test_unmaking) {
  heap_start(mps_class_amc());
  fill(0);
  ck_assert_int_eq(mps_arena_create_k(&made, mps_arena_class_vm(),
                                      mps_args_none), MPS_RES_OK);
  tdo_heap_enter(made);
  ck_assert_int_eq(pthread_create(&forks, NULL, forker, NULL), 0);
  while (atomic_load(&made->lock.waiting) == 0)
    (void)sched_yield();
  tdo_heap_enter(arena);
  tdo_heap_leave(made);
  mps_arena_destroy(made);
  tdo_heap_leave(arena);
  ck_assert_int_eq(pthread_join(forks, NULL), 0);
  heap_stop();
}
END_TEST

/* ---- in handlers of forks that were there before the library's ---- */

static bool handler_looks;

static void wait_and_look(void) {
  char c;
  if (!handler_looks)
    return;
  REQUIRE(read(scan_gate[0], &c, 1) == 1);
  check(0);
}

/* The child's hits, in a collection under way, scan what the parent has
   written meanwhile: the parent must not forget that for it. */
START_TEST(test_before) {
  pid_t pid;
  ck_assert_int_eq(setenv("TESTUDO_SHIELD", "dirty", 1), 0);
  ck_assert_int_eq(setenv("TESTUDO_SMALL", "0", 1), 0);
  ck_assert_int_eq(pthread_atfork(NULL, NULL, wait_and_look), 0);
  ck_assert_int_eq(pipe(scan_gate), 0);
  heap_start(mps_class_amc());
  for (size_t i = 0; i < LIVE; ++i) {
    table[i] = node(400);
    *obj_ref(table[i], 0) = (mps_addr_t)(i << 2 | 1);
  }
  for (int i = 0; i < 6; ++i)
    collect();
  for (size_t i = 0; i < 20000; ++i)
    (void)node(20);
  mps_arena_pause_time_set(arena, 0.0);
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  handler_looks = true;
  pid = fork();
  handler_looks = false;
  if (pid == 0) {
    churn(0);
    leave_child();
  }
  ck_assert_int_gt(pid, 0);
  refer_to_young(1000);
  ck_assert_int_eq(write(scan_gate[1], "", 1), 1);
  await_child(pid);
  for (size_t i = 0; i < 100000; ++i)
    (void)numbered(i);
  check_young(1000);
  tdo_arena_check(arena);
  heap_stop();
}
END_TEST

SUITE_LOOPS_MAIN("fork", 60, {test_both_go_on, 1}, {test_in_collection, 1},
                 {test_child_destroys, 1}, {test_threads, 1},
                 {test_child_threads, 1}, {test_looking, 1}, {test_waiting, 1},
                 {test_waiting_itself, 1}, {test_twice, 1}, {test_within, 1},
                 {test_stopped_inside, 2}, {test_making, 1},
                 {test_unmaking, 1}, {test_before, 1})
