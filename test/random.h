/* Testudo: random numbers for tests, with the seed printed and taken back
   from TDO_SEED. SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_RANDOM_H
#define TDO_TEST_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t random_state;

/* Take the seed from TDO_SEED, where "random" means the clock, and print it.
   Without it the seed is 1: who runs the tests to learn whether a change is
   right is not to be told of what was wrong before. */
static inline void random_start(void) {
  const char *given = getenv("TDO_SEED");
  uint64_t seed = 1;
  if (given != NULL && strcmp(given, "random") == 0) {
    struct timespec now;
    (void)timespec_get(&now, TIME_UTC);
    seed = (uint64_t)now.tv_nsec ^ ((uint64_t)now.tv_sec << 20);
  } else if (given != NULL) {
    seed = strtoull(given, NULL, 0);
  }
  printf("TDO_SEED=%llu\n", (unsigned long long)seed);
  fflush(stdout);
  random_state = seed;
}

/* The next number of the state, splitmix64: for threads with states of their
   own. */
static inline uint64_t random_next(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline uint64_t random_word(void) {
  return random_next(&random_state);
}

/* A number below N > 0. */
static inline size_t random_below(size_t n) {
  return (size_t)(random_word() % n);
}

#endif /* TDO_TEST_RANDOM_H */
