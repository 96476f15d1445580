/* Testudo: collected pools that do not move, used by several threads at once,
   each with its own points, while collections are in progress.
   SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include "mpscamc.h"
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "mpscsnc.h"
#include "test/nodes.h"
#include "test/suite.h"

enum { THREADS = 4, SLOTS = 60, STEPS = 3000, FEW = 200 };

static mps_pool_t ams, awl, aeph, lo, snc, amc;
static mps_chain_t chain;

typedef struct worker {
  pthread_t id;
  uint64_t seed;
  node_t **held; /* a root of SLOTS objects, and of weak and pair tables */
  mps_root_t root;
} worker_t;

static size_t worker_random(worker_t *w, size_t n) {
  return (size_t)(random_next(&w->seed) % n);
}

/* A tree of nodes whose leaves say where they are. */
static node_t *grow(mps_ap_t ap[], size_t n, node_t *before, size_t mark) {
  node_t *p = make(ap[n], NODE, 3);

  p->word[0] = before;
  p->word[2] = (node_t *)(uintptr_t)(2 * mark + 1);
  return p;
}

static void check_list(const node_t *p, size_t mark) {
  for (size_t n = 0; p != NULL && n < 50; ++n, p = p->word[0])
    REQUIRE(p->word[2] == (node_t *)(uintptr_t)(2 * mark + 1));
}

static void work(worker_t *w, mps_ap_t ap[], mps_ap_t weak, mps_ap_t pairs,
                 mps_ap_t leaf, mps_ap_t stack) {
  mps_frame_t frame;
  size_t steps = suite_size(STEPS, FEW);

  w->held[SLOTS] = make(weak, NODE, SLOTS);
  w->held[SLOTS + 1] = make(pairs, PAIRS, 2 * SLOTS + 1);
  for (size_t step = 0; step < steps; ++step) {
    size_t i = worker_random(w, SLOTS);
    node_t *top;
    check_list(w->held[i], i);
    if (worker_random(w, 20) == 0)
      w->held[i] = NULL;
    REQUIRE(mps_ap_frame_push(&frame, stack) == MPS_RES_OK);
    top = make(stack, NODE, 2); /* keeps what has no other root yet */
    top->word[0] = w->held[i];
    top->word[0] = grow(ap, worker_random(w, 2), top->word[0], i);
    top->word[1] = make(leaf, LEAF, 1 + i);
    memset(top->word[1]->word, 0x5A, 8 * (1 + i));
    w->held[i] = top->word[0];
    w->held[SLOTS]->word[i] = top->word[0];
    w->held[SLOTS + 1]->word[2 * i + 1] = top->word[0];
    w->held[SLOTS + 1]->word[2 * i + 2] = top->word[1];
    REQUIRE(mps_ap_frame_pop(stack, frame) == MPS_RES_OK);
    REQUIRE(w->held[SLOTS]->word[i] == w->held[i]);
    REQUIRE(node_words(w->held[SLOTS + 1]->word[2 * i + 2]) == 2 + i);
    if (step % (STEPS / 3) == 0)
      mps_arena_start_collect(arena);
  }
}

static void *worker_main(void *arg) {
  worker_t *w = arg;
  mps_thr_t thr;
  mps_root_t registers;
  mps_ap_t ap[2], weak, pairs, leaf, stack;

  REQUIRE(mps_thread_reg(&thr, arena) == MPS_RES_OK);
  REQUIRE(mps_root_create_thread(&registers, arena, thr, FRAME_COLD()) ==
          MPS_RES_OK);
  REQUIRE(mps_ap_create(&ap[0], ams, mps_rank_exact()) == MPS_RES_OK);
  REQUIRE(mps_ap_create(&ap[1], amc, mps_rank_exact()) == MPS_RES_OK);
  REQUIRE(mps_ap_create(&weak, awl, mps_rank_weak()) == MPS_RES_OK);
  REQUIRE(mps_ap_create(&pairs, aeph, mps_rank_ephemeron()) == MPS_RES_OK);
  REQUIRE(mps_ap_create(&leaf, lo, mps_rank_exact()) == MPS_RES_OK);
  REQUIRE(mps_ap_create(&stack, snc, mps_rank_exact()) == MPS_RES_OK);
  work(w, ap, weak, pairs, leaf, stack);
  mps_ap_destroy(stack);
  mps_ap_destroy(leaf);
  mps_ap_destroy(pairs);
  mps_ap_destroy(weak);
  mps_ap_destroy(ap[1]);
  mps_ap_destroy(ap[0]);
  mps_root_destroy(registers);
  mps_thread_dereg(thr);
  return NULL;
}

static void run_workers(void) {
  static worker_t workers[THREADS];

  for (size_t i = 0; i < THREADS; ++i) {
    workers[i].seed = random_word();
    workers[i].held = make_root(&workers[i].root, SLOTS + 2);
  }
  mps_arena_release(arena);
  for (size_t i = 0; i < THREADS; ++i)
    ck_assert_int_eq(
        pthread_create(&workers[i].id, NULL, worker_main, &workers[i]), 0);
  for (size_t i = 0; i < THREADS; ++i)
    ck_assert_int_eq(pthread_join(workers[i].id, NULL), 0);
  mps_arena_park(arena);
  for (size_t i = 0; i < THREADS; ++i) {
    for (size_t j = 0; j < SLOTS; ++j)
      check_list(workers[i].held[j], j);
    mps_root_destroy(workers[i].root);
    free(workers[i].held);
  }
}

START_TEST(threads) {
  random_start();
  start();
  mps_arena_pause_time_set(arena, _i == 0 ? 0.0 : 0.1);
  chain = make_chain(300);
  ams = make_pool(mps_class_ams(), format, chain);
  awl = make_pool(mps_class_awl(), format, chain);
  aeph = make_pool(mps_class_aeph(), format, NULL);
  lo = make_pool(mps_class_lo(), format, chain);
  snc = make_pool(mps_class_snc(), format, NULL);
  amc = make_pool(mps_class_amc(), moving_format, chain);
  run_workers();
  mps_pool_destroy(amc);
  mps_pool_destroy(snc);
  mps_pool_destroy(lo);
  mps_pool_destroy(aeph);
  mps_pool_destroy(awl);
  mps_pool_destroy(ams);
  mps_chain_destroy(chain);
  stop();
}
END_TEST

SUITE_LOOPS_MAIN("nonmoving_threads", 300, {threads, 2})
