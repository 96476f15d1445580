/* Testudo: what the least copiers share: their halves of memory, and how they
   are timed. SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_BENCH_CHENEY_H
#define TDO_BENCH_CHENEY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "measure.h"

#define ROUNDS 15

static inline int compare(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Memory that was touched. */
static inline void *half(size_t bytes) {
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    exit(3);
  memset(p, 1, bytes);
  return p;
}

/* The depth of the tree, from the command line. */
static inline unsigned depth_wanted(int argc, char *argv[]) {
  unsigned depth = argc == 2 ? (unsigned)atoi(argv[1]) : 0;
  if (depth < 1 || depth > 26) {
    fprintf(stderr, "usage: %s DEPTH, from 1 to 26\n", argv[0]);
    exit(2);
  }
  return depth;
}

/* Copy what BUILD made, as often as it takes, and print how long that took of
   BYTES. */
static inline void time_copies(size_t bytes, void (*build)(void),
                               void (*copy)(void)) {
  uint64_t times[ROUNDS];
  for (unsigned i = 0; i < ROUNDS; ++i) {
    build();
    uint64_t begun = clock_ns();
    copy();
    times[i] = clock_ns() - begun;
  }
  qsort(times, ROUNDS, sizeof times[0], compare);
  printf("{\"bytes\": %zu, \"seconds\": %g, \"least_seconds\": %g}\n", bytes,
         (double)times[ROUNDS / 2] * 1e-9, (double)times[0] * 1e-9);
}

#endif /* TDO_BENCH_CHENEY_H */
