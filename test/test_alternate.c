/* Testudo: tests of threads that run on an alternate signal stack while their
   roots are scanned (interface, section 2.15).
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "test/objects.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include "test/suite.h"

enum { HELD = 20, STACK = 1 << 16, MANY = 300 };

static char *alternate; /* STACK bytes */
static bool collects;   /* the handler does it itself */
static bool faults;     /* the handler hits barriers */
static mps_ap_t handler_ap;
static atomic_int inside; /* threads in the handler */
static atomic_bool go_on;

/* Nothing but the thread's own stack refers to these. */
typedef struct held {
  mps_addr_t volatile obj[HELD];
} held_t;

static __attribute__((noinline)) void hold(held_t *held) {
  for (size_t i = 0; i < HELD; ++i)
    held->obj[i] = numbered(1000 + i);
}

static __attribute__((noinline)) void check_held(const held_t *held) {
  for (size_t i = 0; i < HELD; ++i) {
    REQUIRE(obj_kind(held->obj[i]) == OBJ_NODE);
    REQUIRE(number_of(held->obj[i]) == 1000 + i);
  }
}

/* Collect, and write to the memory of what died. */
static void churn(mps_ap_t on) {
  for (int round = 0; round < 10; ++round) {
    collect();
    for (size_t i = 0; i < 5000; ++i)
      (void)obj_on(on, OBJ_LEAF, i % 20);
    (void)mps_arena_start_collect(arena);
  }
}

static void handler(int signal) {
  held_t here; /* on the alternate stack */
  (void)signal;
  suite_handler();
  REQUIRE((uintptr_t)&here - (uintptr_t)alternate < STACK);
  for (size_t i = 0; i < HELD; ++i)
    here.obj[i] = obj_on(handler_ap, OBJ_NODE, 2),
    *obj_ref(here.obj[i], 0) = (mps_addr_t)((1000 + i) << 2 | 1);
  atomic_fetch_add(&inside, 1);
  if (collects)
    churn(handler_ap);
  else
    while (!atomic_load(&go_on))
      for (size_t i = 0; faults && i < MANY; ++i)
        *obj_ref(table[i], 1) = table[(i * 7) % MANY];
  check_held(&here);
}

static void *work(void *p) {
  stack_t stack = {.ss_sp = alternate, .ss_size = STACK};
  mps_thr_t thread;
  mps_root_t root;
  held_t held;
  void *cold = &cold;
  (void)p;
  REQUIRE(sigaltstack(&stack, NULL) == 0);
  REQUIRE(mps_thread_reg(&thread, arena) == MPS_RES_OK);
  REQUIRE(mps_root_create_thread(&root, arena, thread, FRAME_COLD()) ==
          MPS_RES_OK);
  handler_ap = point(pool);
  hold(&held);
  REQUIRE(raise(SIGUSR1) == 0);
  check_held(&held);
  mps_ap_destroy(handler_ap);
  mps_root_destroy(root);
  mps_thread_dereg(thread);
  stack.ss_flags = SS_DISABLE;
  REQUIRE(sigaltstack(&stack, NULL) == 0);
  return NULL;
}

static void check(void) {
  struct sigaction action = {.sa_handler = handler,
                             .sa_flags = SA_ONSTACK | SA_RESTART};
  pthread_t id;
  heap_start(mps_class_amc());
  for (size_t i = 0; i < MANY; ++i)
    table[i] = numbered(i);
  REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
  REQUIRE(pthread_create(&id, NULL, work, NULL) == 0);
  if (!collects) {
    while (atomic_load(&inside) == 0)
      (void)sched_yield();
    churn(ap);
    atomic_store(&go_on, true);
  }
  REQUIRE(pthread_join(id, NULL) == 0);
  ck_assert_int_eq(atomic_load(&inside), 1);
  for (size_t i = 0; i < MANY; ++i)
    REQUIRE(number_of(table[i]) == i);
  heap_stop();
}

/* A page that nobody may touch on either side. */
static char *guarded_stack(void) {
  char *base =
      mmap(NULL, 3 * STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert(base != MAP_FAILED);
  ck_assert_int_eq(mprotect(base + STACK, STACK, PROT_READ | PROT_WRITE), 0);
  return base + STACK;
}

static const struct {
  bool collects, faults;
} kinds[] = {{false, false}, {false, true}, {true, false}};

/* Somewhere else. */
START_TEST(elsewhere) {
  collects = kinds[_i].collects;
  faults = kinds[_i].faults;
  alternate = guarded_stack();
  check();
}
END_TEST

/* Far above the thread's stack, and below it. */
START_TEST(above) {
  char here[STACK];
  collects = kinds[_i].collects;
  faults = kinds[_i].faults;
  alternate = here;
  check();
}
END_TEST

START_TEST(below) {
  static char here[STACK];
  collects = kinds[_i].collects;
  faults = kinds[_i].faults;
  alternate = here;
  check();
}
END_TEST

SUITE_LOOPS_MAIN("alternate", 60, {elsewhere, 3}, {above, 3}, {below, 3})
