/* Testudo: times of passes over bit tables of growing size, for the
   benchmarks. Prints one JSON object.
   SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "code/bits.h"

#define SIZES  7
#define ROUNDS 21

static const size_t sizes[SIZES] = {1 << 14, 1 << 16, 1 << 18, 1 << 20,
                                    1 << 22, 1 << 24, 1 << 26};
static tdo_bits_t *table;
static size_t sink;

/* Find every set bit, one after the other: what goes wrong is to start
   again from the first. One bit in 256 is set. */
static void pass_each(size_t n) {
  size_t i = tdo_bits_next_set(table, 0, n);
  while (i < n) {
    ++sink;
    i = tdo_bits_next_set(table, i + 1, n);
  }
}

static void pass_runs(size_t n) {
  size_t i = 0;
  while ((i = tdo_bits_next_set(table, i, n)) < n) {
    ++sink;
    i = tdo_bits_next_clear(table, i, n);
  }
}

static void pass_count(size_t n) {
  sink += tdo_bits_count(table, 0, n);
}

static void pass_fit(size_t n) {
  size_t found = 0;
  sink += tdo_bits_find_clear_run(&found, table, 0, n, 4096);
}

static const struct {
  const char *name;
  void (*pass)(size_t n);
} passes[] = {{"each set bit", pass_each},
              {"each run", pass_runs},
              {"count", pass_count},
              {"search for a run", pass_fit}};

#define PASSES (sizeof passes / sizeof passes[0])

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The least time of several: other work on the machine only adds. */
static double time_of(void (*pass)(size_t n), size_t n) {
  double least = 1e9;
  for (int i = 0; i < ROUNDS; ++i) {
    double begun = now();
    pass(n);
    double took = now() - begun;
    least = took < least ? took : least;
  }
  return least;
}

int main(void) {
  size_t most = sizes[SIZES - 1];
  table = calloc(tdo_bits_words(most), sizeof *table);
  if (table == NULL)
    return 3;
  for (size_t i = 0; i < most; i += 256)
    tdo_bits_set(table, i + i / 256 % 64);
  printf("{\"n\": [");
  for (size_t i = 0; i < SIZES; ++i)
    printf("%s%zu", i == 0 ? "" : ", ", sizes[i]);
  printf("], \"passes\": {");
  for (size_t p = 0; p < PASSES; ++p) {
    printf("%s\"%s\": [", p == 0 ? "" : ", ", passes[p].name);
    for (size_t i = 0; i < SIZES; ++i)
      printf("%s%.3g", i == 0 ? "" : ", ", time_of(passes[p].pass, sizes[i]));
    printf("]");
  }
  printf("}}\n");
  free(table);
  return sink == 0;
}
