/* Testudo: which units of one extent are free, as a bit table with sums over
   its runs, so that the lowest, highest or largest free run of at least N
   units is found in O(log n). Nothing is stored in the free units themselves.
   SPDX-License-Identifier: BSD-2-Clause

   Units are numbered from 0; ranges are [base, limit). Runs of up to
   TDO_STARTS_MOST units, which most blocks need, are found by where they
   begin (starts.h). For longer ones the table is cut into cells of
   TDO_RUNS_CELL units; a binary tree over the cells holds for each node the
   free runs at its two ends and its longest one. A change only notes that the
   sums of its cells are stale; who asks for a sum renews them first.

   .plain  A table is not written to while all that is used comes before all
   that is free, as in an extent for one large block, or one that is filled for
   the first time: where the free units begin is all that there is to know.

   A table may have room for more units than there are yet.

   Invariants:
   .beyond  units from `units` up to the end of the last cell of `room` are
            used.
   .sum     every node's sum is that of the bits below it, if none of the
            cells there is stale; stale cells lie in [stale_first,
            stale_limit). */
#ifndef TDO_POOL_RUNS_H
#define TDO_POOL_RUNS_H

#include "pool/starts.h"

#define TDO_RUNS_CELL ((size_t)1024) /* units; a multiple of a word's bits */

/* Lengths in units: of the free runs at the start and the end of a node, and
   of the longest one in it. */
typedef struct tdo_run_sum {
  size_t prefix, suffix, longest;
} tdo_run_sum_t;

typedef struct tdo_runs {
  size_t units, room;
  unsigned height;     /* the tree has 1 << height leaves */
  void *memory;
  bool plain;          /* if so, nothing below is set but starts.most and */
  size_t edge;         /* this, where the free units begin; see .plain */
  tdo_run_sum_t *sums; /* children of node i are 2i and 2i + 1; root is 1 */
  tdo_bits_t *stale;   /* cells */
  size_t stale_first, stale_limit;
  tdo_bits_t *used;
  tdo_starts_t starts;
} tdo_runs_t;

/* Bytes of memory (word aligned) that a table with ROOM for so many units
   needs, > 0. */
size_t tdo_runs_bytes(size_t room);
/* UNITS of ROOM > 0, all used. MEMORY stays the caller's. */
void tdo_runs_init(tdo_runs_t *r, size_t units, size_t room, void *memory);
/* There are units up to LIMIT now, more than before, within the room: those
   from BASE on, all new or used before, are free, new ones below that used.
   Cost as of tdo_runs_free; .plain goes on if that can be. */
void tdo_runs_grow(tdo_runs_t *r, size_t base, size_t limit);
/* Renews the sums. */
bool tdo_runs_check(tdo_runs_t *r);

/* Make [BASE, LIMIT), not empty, free (used); all of it was used (free)
   before. O(1) while .plain holds, O(units) by words when it ends, else
   O(log n), and O(LIMIT - BASE) by words. Renewing sums costs as much again,
   once for each change. */
void tdo_runs_free(tdo_runs_t *r, size_t base, size_t limit);
void tdo_runs_take(tdo_runs_t *r, size_t base, size_t limit);

bool tdo_runs_all_used(const tdo_runs_t *r, size_t base, size_t limit);

static inline bool tdo_runs_all_free(const tdo_runs_t *r, size_t base,
                                     size_t limit) {
  return r->plain ? base >= r->edge
                  : tdo_bits_all_clear(r->used, base, limit);
}

/* The first free unit of [FROM, LIMIT), or LIMIT; how many there are. */
static inline size_t tdo_runs_next(const tdo_runs_t *r, size_t from,
                                   size_t limit) {
  return r->plain ? tdo_min(tdo_max(from, r->edge), limit)
                  : tdo_bits_next_clear(r->used, from, limit);
}

static inline size_t tdo_runs_count(const tdo_runs_t *r) {
  return r->units -
         (r->plain ? r->edge : tdo_bits_count(r->used, 0, r->units));
}

/* Length of the longest free run; the same, but at most TDO_STARTS_MOST, in
   O(1). */
size_t tdo_runs_longest(tdo_runs_t *r);
static inline unsigned tdo_runs_short(const tdo_runs_t *r) {
  return r->starts.most;
}

/* The start of the lowest (highest) free run of at least N > 0 units. False if
   there is none. */
bool tdo_runs_lowest(size_t *base_o, tdo_runs_t *r, size_t n);
bool tdo_runs_highest(size_t *base_o, tdo_runs_t *r, size_t n);

/* Start and limit of the free run that holds the free unit AT. */
size_t tdo_runs_start(tdo_runs_t *r, size_t at);
size_t tdo_runs_limit(tdo_runs_t *r, size_t at);

#endif /* TDO_POOL_RUNS_H */
