/* Testudo: tests of threads that run on an alternate signal stack while their
   roots are scanned (interface, section 2.15).
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "test/objects.h"
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
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
static void (*act)(void); /* what the thread does, with objects held */

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
  act();
  check_held(&held);
  mps_ap_destroy(handler_ap);
  mps_root_destroy(root);
  mps_thread_dereg(thread);
  stack.ss_flags = SS_DISABLE;
  REQUIRE(sigaltstack(&stack, NULL) == 0);
  return NULL;
}

static void check_on(const pthread_attr_t *attr) {
  pthread_t id;
  heap_start(mps_class_amc());
  for (size_t i = 0; i < MANY; ++i)
    table[i] = numbered(i);
  REQUIRE(pthread_create(&id, attr, work, NULL) == 0);
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

static void interrupt(void) {
  REQUIRE(raise(SIGUSR1) == 0);
}

static void check(const pthread_attr_t *attr) {
  struct sigaction action = {.sa_handler = handler,
                             .sa_flags = SA_ONSTACK | SA_RESTART};
  REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
  act = interrupt;
  check_on(attr);
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
  check(NULL);
}
END_TEST

/* Far above the thread's stack, and below it. */
START_TEST(above) {
  char here[STACK];
  collects = kinds[_i].collects;
  faults = kinds[_i].faults;
  alternate = here;
  check(NULL);
}
END_TEST

START_TEST(below) {
  static char here[STACK];
  collects = kinds[_i].collects;
  faults = kinds[_i].faults;
  alternate = here;
  check(NULL);
}
END_TEST

/* Just below a small stack, with a closed page between. The thread sanitizer
   wants larger ones. */
START_TEST(beside) {
  pthread_attr_t attr;
  size_t page = suite_pages(1);
  char *base;
  if (suite_slow())
    return;
  base = mmap(NULL, 3 * STACK, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert(base != MAP_FAILED);
  REQUIRE(mprotect(base + STACK, page, PROT_NONE) == 0);
  collects = true;
  alternate = base;
  REQUIRE(pthread_attr_init(&attr) == 0);
  REQUIRE(pthread_attr_setstack(&attr, base + STACK + page,
                                2 * STACK - page) == 0);
  check(&attr);
  REQUIRE(pthread_attr_destroy(&attr) == 0);
}
END_TEST

/* ---- threads that have overflowed their own stack ---- */

enum { SMALL = 1 << 21, GUARD = 1 << 20 };

static char *small; /* SMALL bytes of stack, and GUARD below that are closed */
static sigjmp_buf out;

static void wait_or_collect(void) {
  REQUIRE(atomic_fetch_add(&inside, 1) == 0);
  if (collects)
    churn(handler_ap);
  else
    while (!atomic_load(&go_on))
      (void)sched_yield();
}

static void overflowed(int signal) {
  char here;
  (void)signal;
  suite_handler();
  REQUIRE((uintptr_t)&here - (uintptr_t)alternate < STACK);
  wait_or_collect();
  siglongjmp(out, 1);
}

static __attribute__((noinline)) size_t deeper(size_t n) {
  volatile char frame[1000];
  frame[0] = (char)n;
  return n == SIZE_MAX ? 0 : deeper(n + 1) + (size_t)frame[0];
}

static void overflow(void) {
  if (sigsetjmp(out, 1) == 0)
    (void)deeper(0);
}

#if defined(__x86_64__)
/* The stack pointer is past the end for a while, and nothing is touched there:
   so it is between a function's first instruction and the next. */
static void stand_past(void) {
  __asm__ volatile("movq %%rsp, %%rbx\n\t"
                   "movq %0, %%rsp\n\t"
                   "movl $1, (%1)\n"
                   "1:\tpause\n\t"
                   "cmpb $0, (%2)\n\t"
                   "je 1b\n\t"
                   "movq %%rbx, %%rsp"
                   :
                   : "r"(small - GUARD / 2), "r"(&inside), "r"(&go_on)
                   : "rbx", "memory", "cc");
}
#endif

static const struct {
  void (*act)(void);
  bool collects;
} ends[] = {{overflow, false},
            {overflow, true},
#if defined(__x86_64__)
            {stand_past, false},
#endif
};

static char *small_stack(void) {
  char *base = mmap(NULL, GUARD + SMALL, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert(base != MAP_FAILED);
  ck_assert_int_eq(mprotect(base + GUARD, SMALL, PROT_READ | PROT_WRITE), 0);
  return base + GUARD;
}

/* What can be read of the stack is scanned, and no more: its objects live, and
   nobody hits the guard. */
START_TEST(past_the_end) {
  struct sigaction action = {.sa_handler = overflowed,
                             .sa_flags = SA_ONSTACK | SA_NODEFER};
  pthread_attr_t attr;
  REQUIRE(sigaction(SIGSEGV, &action, NULL) == 0); /* before the library */
  act = ends[_i].act;
  collects = ends[_i].collects;
  alternate = guarded_stack();
  small = small_stack();
  REQUIRE(pthread_attr_init(&attr) == 0);
  REQUIRE(pthread_attr_setstack(&attr, small, SMALL) == 0);
  check_on(&attr);
  REQUIRE(pthread_attr_destroy(&attr) == 0);
}
END_TEST

SUITE_LOOPS_MAIN("alternate", 60, {elsewhere, 3}, {above, 3}, {below, 3},
                 {beside, 1},
                 {past_the_end, sizeof ends / sizeof ends[0]})
