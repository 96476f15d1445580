/* Testudo: threads: mutators with lists and small trees of their own.
   SPDX-License-Identifier: BSD-2-Clause */
#include "workload.h"

#include <stdlib.h>

#define LIVE       64 /* trees that each thread keeps */
#define TREE_DEPTH 5

const char workload_name[] = "threads";
const unsigned workload_batch = 2 << TREE_DEPTH;

typedef struct worker_s {
  size_t number, nodes;
  obj_t **live;
  meter_t meter;
} worker_t;

static obj_t *tree(unsigned depth, size_t mark) {
  if (depth == 0)
    return heap_pair(FIXNUM(mark), NULL);
  obj_t *a = tree(depth - 1, mark);
  obj_t *b = tree(depth - 1, mark);
  return heap_pair(a, b);
}

static void check_tree(const obj_t *o, unsigned depth, size_t mark) {
  check(OBJ_SLOTS(o) == 2);
  if (depth == 0) {
    check(FIXNUM_VALUE(SLOT(o, 0)) == mark && SLOT(o, 1) == NULL);
  } else {
    check_tree(SLOT(o, 0), depth - 1, mark);
    check_tree(SLOT(o, 1), depth - 1, mark);
  }
}

static void work(void *p) {
  worker_t *worker = p;
  uint64_t state = random_state(worker->number);
  meter_start(&worker->meter);
  while (worker->nodes < options.ops) {
    size_t i = random_below(&state, LIVE);
    worker->live[i] = tree(TREE_DEPTH, worker->number);
    worker->nodes += (2 << TREE_DEPTH) - 1;
    meter_tick(&worker->meter);
  }
  meter_stop(&worker->meter);
}

void workload(void) {
  size_t n = options.threads;
  worker_t *workers = calloc(n, sizeof *workers);
  check(workers != NULL);
  for (size_t i = 0; i < n; ++i) {
    workers[i].number = i;
    workers[i].live = heap_roots(LIVE);
  }
  heap_threads(n, work, workers, sizeof *workers);
  meter_skip(&meter); /* the threads have meters of their own */
  size_t nodes = 0;
  double least = 1;
  for (size_t i = 0; i < n; ++i) {
    double part = meter_utilisation(&workers[i].meter, 50000000);
    least = part < least ? part : least;
    nodes += workers[i].nodes;
    meter_add(&meter, &workers[i].meter);
    meter_free(&workers[i].meter);
  }
  figure("utilisation_50ms_of_worst_thread", least);
  work_done(nodes);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < LIVE; ++j)
      if (workers[i].live[j] != NULL)
        check_tree(workers[i].live[j], TREE_DEPTH, i);
  free(workers);
}
