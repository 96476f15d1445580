/* Testudo: meters. SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "measure.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define METER_GAP 20000 /* ns: shorter batches are not kept as gaps */

/* ns that this thread was ready to run and did not. */
static uint64_t meter_waited(const meter_t *meter) {
  char text[96];
  ssize_t size = -1;
  if (meter->wait_file >= 0)
    size = pread(meter->wait_file, text, sizeof text - 1, 0);
  if (size <= 0)
    return 0;
  text[size] = '\0';
  char *rest = text;
  strtoull(rest, &rest, 10);
  return strtoull(rest, NULL, 10);
}

/* How often this thread gave up the processor of its own accord. */
static uint64_t meter_slept(void) {
  struct rusage usage;
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nvcsw : 0;
}

void meter_start(meter_t *meter) {
  memset(meter, 0, sizeof *meter);
  meter->wait_file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  meter->waited = meter->waited_first = meter_waited(meter);
  meter->ran = clock_read(CLOCK_THREAD_CPUTIME_ID);
  meter->slept = meter_slept();
  meter->begun = meter->last = meter->sampled = clock_ns();
  meter->due = meter->begun + METER_SAMPLE;
}

void meter_stop(meter_t *meter) {
  meter_note(meter, clock_ns());
  meter->ended = clock_ns();
  if (meter->wait_file >= 0)
    close(meter->wait_file);
  meter->wait_file = -1;
  meter->batches = 0;
  for (unsigned i = 0; i < METER_BUCKETS; ++i)
    meter->batches += meter->counts[i];
}

void meter_free(meter_t *meter) {
  free(meter->gaps);
  meter->gaps = NULL;
}

/* Keep a gap; when there is no room for it, it is not kept. */
static void meter_keep(meter_t *meter, uint64_t start, uint64_t length) {
  if (meter->gap_count == meter->gap_space) {
    size_t space = meter->gap_space == 0 ? 1024 : 2 * meter->gap_space;
    meter_gap_t *gaps = realloc(meter->gaps, space * sizeof *gaps);
    if (gaps == NULL)
      return;
    meter->gaps = gaps;
    meter->gap_space = space;
  }
  meter->gaps[meter->gap_count++] = (meter_gap_t){start, length};
}

static uint64_t meter_less(uint64_t a, uint64_t b) {
  return a > b ? a - b : 0;
}

void meter_note(meter_t *meter, uint64_t now) {
  uint64_t length = now - meter->last;
  uint64_t waited = meter_waited(meter);
  uint64_t ran = clock_read(CLOCK_THREAD_CPUTIME_ID), slept = meter_slept();
  uint64_t wait = waited - meter->waited;
  uint64_t own = meter_less(length, wait), stolen = 0;
  if (meter->wait_file >= 0 && slept == meter->slept)
    stolen = meter_less(now - meter->sampled, wait + (ran - meter->ran));
  if (stolen > own)
    stolen = own;
  own -= stolen;
  meter->stolen += stolen;
  if (length > meter->longest)
    meter->longest = length;
  if (own > meter->longest_own)
    meter->longest_own = own;
  if (own >= METER_GAP)
    meter_keep(meter, meter->last - meter->begun, own);
  meter->waited = waited;
  meter->ran = ran;
  meter->slept = slept;
  meter->sampled = now;
  /* What was read took time, where system calls are traced much. */
  meter->due = clock_ns() + METER_SAMPLE;
}

void meter_add(meter_t *sum, const meter_t *meter) {
  for (unsigned i = 0; i < METER_BUCKETS; ++i)
    sum->counts[i] += meter->counts[i];
  /* SUM goes on with its own thread, and its `waited` is read again. */
  sum->waited_first -= meter->waited - meter->waited_first;
  sum->stolen += meter->stolen;
  if (meter->longest > sum->longest)
    sum->longest = meter->longest;
  if (meter->longest_own > sum->longest_own)
    sum->longest_own = meter->longest_own;
}

uint64_t meter_bucket_base(unsigned bucket) {
  if (bucket < 2 * METER_SUB)
    return bucket;
  unsigned log = bucket / METER_SUB + 3;
  return (uint64_t)(METER_SUB + bucket % METER_SUB) << (log - 4);
}

uint64_t meter_quantile(const meter_t *meter, double part) {
  uint64_t limit = (uint64_t)(part * (double)meter->batches);
  uint64_t sum = 0;
  for (unsigned i = 0; i < METER_BUCKETS; ++i) {
    sum += meter->counts[i];
    if (sum > limit)
      return meter_bucket_base(i);
  }
  return meter->longest;
}

double meter_utilisation(const meter_t *meter, uint64_t window) {
  /* The worst window ends with a gap, or begins with one; by symmetry it is
     enough to take the gaps back from the end of each. */
  uint64_t worst = 0, sum = 0;
  size_t first = 0;
  for (size_t i = 0; i < meter->gap_count; ++i) {
    const meter_gap_t *gap = &meter->gaps[i];
    uint64_t end = gap->start + gap->length;
    uint64_t begin = end > window ? end - window : 0;
    sum += gap->length;
    while (meter->gaps[first].start + meter->gaps[first].length <= begin)
      sum -= meter->gaps[first++].length;
    const meter_gap_t *cut = &meter->gaps[first];
    uint64_t over = cut->start < begin ? begin - cut->start : 0;
    uint64_t lost = sum > over ? sum - over : 0;
    if (lost > worst)
      worst = lost;
  }
  return worst >= window ? 0.0 : 1.0 - (double)worst / (double)window;
}

double meter_lost(const meter_t *meter, uint64_t from) {
  uint64_t sum = 0;
  for (size_t i = 0; i < meter->gap_count; ++i)
    if (meter->gaps[i].start >= from)
      sum += meter->gaps[i].length;
  return (double)sum * 1e-9;
}
