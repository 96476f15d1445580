/* Testudo: what a benchmark measures while it runs.
   SPDX-License-Identifier: BSD-2-Clause

   A thread that works has a meter. Around each batch of operations, slow
   paths of allocation included, the meter reads the clock: the time of a
   batch is what the program sees of the collector's pauses. When another
   program has the processor the batch is long too; the kernel's count of
   the time a thread waited to run is read now and then. On a virtual machine
   the host can take the processor away meanwhile: that is what a thread that
   did not sleep neither ran nor waited. A long pause is given twice: as seen,
   and less both. */
#ifndef bench_measure_h
#define bench_measure_h

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define METER_SUB     16 /* buckets of the histogram to a factor of two */
#define METER_BUCKETS (64 * METER_SUB)
#define METER_SAMPLE  200000 /* ns after a read of the time waited */

/* A time in which the program did not get on: ns since the meter started. */
typedef struct meter_gap_s {
  uint64_t start, length;
} meter_gap_t;

typedef struct meter_s {
  uint64_t begun, last;          /* clock at the start, and at the last tick */
  uint64_t sampled, waited;      /* when the wait was read, and what it was; */
  uint64_t due;                  /* when to read it again */
  uint64_t waited_first;         /* what it was at the start */
  uint64_t ran, slept;           /* ns, and times, when that was read */
  uint64_t ended;                /* clock at the end */
  uint64_t stolen; /* ns that the host took, as far as batches show */
  uint64_t longest, longest_own; /* ns: as seen, and less what was others' */
  uint64_t batches;
  uint64_t counts[METER_BUCKETS]; /* batches by length */
  meter_gap_t *gaps;              /* batches much longer than most */
  size_t gap_count, gap_space;
  int wait_file; /* schedstat of this thread, or -1 */
} meter_t;

/* Nanoseconds on a clock, and on the one that always goes on. */
static inline uint64_t clock_read(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_ns(void) {
  return clock_read(CLOCK_MONOTONIC);
}

/* Start the meter of the calling thread; stop it; free what it holds. */
void meter_start(meter_t *meter);
void meter_stop(meter_t *meter);
void meter_free(meter_t *meter);

/* Add the figures of a stopped meter to one that is running. */
void meter_add(meter_t *sum, const meter_t *meter);

/* Note a batch that is long, or that time for a sample has come. Other files
   call it to bring `waited` up to date. */
void meter_note(meter_t *meter, uint64_t now);

/* The bucket of a length in ns, and the length that a bucket begins with. */
static inline unsigned meter_bucket(uint64_t ns) {
  if (ns < METER_SUB)
    return (unsigned)ns;
  unsigned log = 63u - (unsigned)__builtin_clzll(ns);
  return (log - 3) * METER_SUB + (unsigned)(ns >> (log - 4)) - METER_SUB;
}
uint64_t meter_bucket_base(unsigned bucket);

/* The end of a batch and the beginning of the next. */
static inline void meter_tick(meter_t *meter) {
  uint64_t now = clock_ns();
  ++meter->counts[meter_bucket(now - meter->last)];
  if (now >= meter->due)
    meter_note(meter, now);
  meter->last = now;
}

/* Leave out what is not part of the work since the last tick. */
static inline void meter_skip(meter_t *meter) {
  meter->last = clock_ns();
}

/* The length in ns that the given part of the batches does not exceed. */
uint64_t meter_quantile(const meter_t *meter, double part);

/* The least part of any window of so many ns that was the program's, as far
   as gaps are known. */
double meter_utilisation(const meter_t *meter, uint64_t window);

/* Seconds lost in gaps that began at the given ns after the start, or
   later. */
double meter_lost(const meter_t *meter, uint64_t from);

/* Hardware counters of the process and the threads it makes from now on:
   open, and print as members of a JSON object. */
void counters_open(void);
void counters_print(FILE *stream);

#endif /* bench_measure_h */
