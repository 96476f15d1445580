/* Testudo: what every benchmark workload is made from.
   SPDX-License-Identifier: BSD-2-Clause

   A workload is one source that defines `workload`, and is compiled once
   for each collector. It works, calls `work_done`, and then checks its heap
   with `check`; what the check costs is not measured. */
#ifndef bench_workload_h
#define bench_workload_h

#include "gc_api.h"
#include "measure.h"

/* The options: X(name, default, meaning). Numbers are not negative
   and may end in K, M or G. */
#define OPTIONS(X)                                                            \
  X(heap, 64 << 20, "bytes that live, about")                                 \
  X(ops, 1000000, "operations")                                               \
  X(depth, 16, "of trees or of recursion; sparse: pages to one written")      \
  X(threads, 1, "threads that work")                                          \
  X(seed, 1, "of the random numbers")                                         \
  X(pause, 0, "pause time setting in microseconds; 0: as it is")              \
  X(nursery, 0, "kilobytes of a first generation; 0: the library's choice")   \
  X(gen1, 0, "kilobytes of the second; 0: eight times the first")             \
  X(fixed, 0, "1: objects in pools that do not move")                         \
  X(kind, 0, "manual: 0 mvff, 1 mvt, 2 mfs; fork: 1 for exec too")            \
  X(limit, 0, "bytes of memory that the heap may take; 0: any")               \
  X(survivors, 0, "1: count the bytes that survive collections")

typedef struct options_s {
#define X(name, value, meaning) size_t name;
  OPTIONS(X)
#undef X
} options_t;

extern options_t options;

/* The meter of the main thread, which is running when workload is called. */
extern meter_t meter;

/* The workload's name, and the number of operations (objects, nodes, writes)
   in a batch. */
extern const char workload_name[];
extern const unsigned workload_batch;
void workload(void);

/* What was built before the operations is ready. */
void build_done(void);

/* The operations are done, so many of them. */
void work_done(size_t operations);

/* Give one more figure in the report. The name is constant. */
void figure(const char *name, double value);

/* Stop with a message unless the condition holds. */
#define check(condition)                                                      \
  ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))
_Noreturn void check_failed(const char *file, int line, const char *what);

/* Random numbers, the same sequence for each collector. */
static inline uint64_t random_next(uint64_t *state) {
  uint64_t x = *state;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  *state = x;
  return x * 2685821657736338717u;
}

/* A random number below the limit, which is less than 2^32. */
static inline size_t random_below(uint64_t *state, size_t limit) {
  return (size_t)((random_next(state) >> 32) * limit >> 32);
}

/* A first state; streams are different for each thread. */
static inline uint64_t random_state(size_t stream) {
  uint64_t state = (options.seed + 1) * 0x9E3779B97F4A7C15u + stream * 77777u;
  random_next(&state);
  return state | 1;
}

#endif /* bench_workload_h */
