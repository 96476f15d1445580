/* Testudo: tests of threads that run on stacks of the program's own, as the
   manual (threads) tells to register them.
   SPDX-License-Identifier: BSD-2-Clause */
#include "test/objects.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include "test/suite.h"

enum { COROUTINES = 3, HELD = 16, ROUNDS = 30, STACK = 1 << 16 };

typedef struct coroutine {
  ucontext_t context;
  char *low, *limit; /* of its stack */
  mps_root_t root;
  size_t turns;
} coroutine_t;

static coroutine_t coroutines[COROUTINES];
static ucontext_t scheduler;
static size_t current;
static atomic_bool over;

/* Nothing but its own stack refers to what each holds. */
static void run(void) {
  coroutine_t *self = &coroutines[current];
  mps_addr_t volatile held[HELD];
  size_t first = current * 1000;
  for (size_t i = 0; i < HELD; ++i)
    held[i] = numbered(first + i);
  for (;;) {
    for (size_t i = 0; i < HELD; ++i) {
      REQUIRE(obj_kind(held[i]) == OBJ_NODE);
      REQUIRE(number_of(held[i]) == first + i);
    }
    held[self->turns % HELD] = numbered(first + self->turns % HELD);
    if (self->turns++ % 3 == 0)
      collect();
    for (size_t i = 0; i < 500; ++i)
      (void)obj_on(ap, OBJ_LEAF, i % 20);
    REQUIRE(swapcontext(&self->context, &scheduler) == 0);
  }
}

static void coroutine_start(coroutine_t *c) {
  size_t size = suite_pages(STACK);
  c->low = mmap(NULL, size, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(c->low != MAP_FAILED);
  c->limit = c->low + size;
  c->turns = 0;
  REQUIRE(mps_root_create_area_tagged(
              &c->root, arena, mps_rank_ambig(), 0, c->low, c->limit,
              mps_scan_area_tagged, sizeof(mps_word_t) - 1, 0) == MPS_RES_OK);
  REQUIRE(getcontext(&c->context) == 0);
  c->context.uc_stack.ss_sp = c->low;
  c->context.uc_stack.ss_size = size;
  c->context.uc_link = NULL;
  makecontext(&c->context, run, 0);
}

static void *collect_beside(void *unused) {
  mps_thr_t self;
  REQUIRE(mps_thread_reg(&self, arena) == MPS_RES_OK);
  while (!over) {
    collect();
    (void)usleep(1000); /* the others get into the arena, too */
  }
  mps_thread_dereg(self);
  return unused;
}

/* They collect themselves, or another thread does so, too. */
START_TEST(switched) {
  mps_root_t registers;
  pthread_t other;
  heap_start(mps_class_amc());
  /* No stack lies below: only registers are scanned. */
  REQUIRE(mps_root_create_thread(&registers, arena, thr,
                                 (void *)sizeof(mps_word_t)) == MPS_RES_OK);
  for (size_t i = 0; i < COROUTINES; ++i)
    coroutine_start(&coroutines[i]);
  over = false;
  table[0] = node(0); /* so that there always is something to collect */
  if (_i > 0)
    REQUIRE(pthread_create(&other, NULL, collect_beside, NULL) == 0);
  for (size_t n = 0; n < ROUNDS; ++n)
    for (current = 0; current < COROUTINES; ++current)
      REQUIRE(swapcontext(&scheduler, &coroutines[current].context) == 0);
  over = true;
  if (_i > 0)
    REQUIRE(pthread_join(other, NULL) == 0);
  for (size_t i = 0; i < COROUTINES; ++i) {
    ck_assert_uint_eq(coroutines[i].turns, ROUNDS);
    mps_root_destroy(coroutines[i].root);
    REQUIRE(munmap(coroutines[i].low, (size_t)(coroutines[i].limit -
                                               coroutines[i].low)) == 0);
  }
  mps_root_destroy(registers);
  heap_stop();
}
END_TEST

SUITE_LOOPS_MAIN("coroutines", 60, {switched, 2})
