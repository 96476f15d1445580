/* Testudo: which units of one extent are free, as a bit table with sums over
   its runs, so that the lowest, highest or largest free run of at least N
   units is found in O(log n). Nothing is stored in the free units themselves.
   SPDX-License-Identifier: BSD-2-Clause

   Units are numbered from 0; ranges are [base, limit). The table is cut into
   cells of TDO_RUNS_CELL units; a binary tree over the cells holds for each
   node the free runs at its two ends and its longest one.

   Invariants:
   .beyond  units from `units` up to the end of the last cell are used.
   .sum     every node's sum is that of the bits below it. */
#ifndef TDO_POOL_RUNS_H
#define TDO_POOL_RUNS_H

#include "code/bits.h"

#define TDO_RUNS_CELL ((size_t)1024) /* units; a multiple of a word's bits */

/* Lengths in units: of the free runs at the start and the end of a node, and
   of the longest one in it. */
typedef struct tdo_run_sum {
  size_t prefix, suffix, longest;
} tdo_run_sum_t;

typedef struct tdo_runs {
  size_t units;
  unsigned height;     /* the tree has 1 << height leaves */
  tdo_run_sum_t *sums; /* children of node i are 2i and 2i + 1; root is 1 */
  tdo_bits_t *used;
} tdo_runs_t;

/* Bytes of memory (word aligned) that a table of UNITS > 0 units needs. */
size_t tdo_runs_bytes(size_t units);
/* All units used. MEMORY stays the caller's. */
void tdo_runs_init(tdo_runs_t *r, size_t units, void *memory);
bool tdo_runs_check(const tdo_runs_t *r);

/* Make [BASE, LIMIT), not empty, free (used); all of it was used (free)
   before. O(log n), and O(LIMIT - BASE) by words. */
void tdo_runs_free(tdo_runs_t *r, size_t base, size_t limit);
void tdo_runs_take(tdo_runs_t *r, size_t base, size_t limit);

static inline bool tdo_runs_all_used(const tdo_runs_t *r, size_t base,
                                     size_t limit) {
  return tdo_bits_all_set(r->used, base, limit);
}

static inline bool tdo_runs_all_free(const tdo_runs_t *r, size_t base,
                                     size_t limit) {
  return tdo_bits_all_clear(r->used, base, limit);
}

/* Length of the longest free run. O(1). */
static inline size_t tdo_runs_longest(const tdo_runs_t *r) {
  return r->sums[1].longest;
}

/* The start of the lowest free run of at least N units; the limit of the
   highest; the start of the lowest of the longest runs (there must be one).
   False if there is none; N > 0. */
bool tdo_runs_lowest(size_t *base_o, const tdo_runs_t *r, size_t n);
bool tdo_runs_highest(size_t *limit_o, const tdo_runs_t *r, size_t n);
size_t tdo_runs_largest(const tdo_runs_t *r);

/* Start and limit of the free run that holds the free unit AT. */
size_t tdo_runs_start(const tdo_runs_t *r, size_t at);
size_t tdo_runs_limit(const tdo_runs_t *r, size_t at);

#endif /* TDO_POOL_RUNS_H */
