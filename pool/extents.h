/* Testudo: the balanced tree of a manual pool's extents.
   SPDX-License-Identifier: BSD-2-Clause

   An AVL tree by base address, with parents. An extent made inside a hole of
   another one follows it; one made where another has lost its first grains
   has the same base, and the descriptors' addresses decide.

   Invariants:
   .order    all extents on side 0 come before, all on side 1 after.
   .balance  the heights of a node's sides differ by at most 1.
   .longest  extent->longest is what its table of runs says, unless it is in
             the list of stale ones.
   .short, .reach, .stale: see pool/freelist.h. */
#ifndef TDO_POOL_EXTENTS_H
#define TDO_POOL_EXTENTS_H

#include "pool/freelist.h"

static inline bool tdo_extent_before(const tdo_extent_t *a,
                                     const tdo_extent_t *b) {
  return a->seg.base < b->seg.base || (a->seg.base == b->seg.base && a < b);
}

void tdo_extents_insert(tdo_freelist_t *fl, tdo_extent_t *extent);
void tdo_extents_remove(tdo_freelist_t *fl, tdo_extent_t *extent);
/* The runs of EXTENT changed: make .short hold again. */
void tdo_extents_changed(tdo_freelist_t *fl, tdo_extent_t *extent);
/* EXTENT has no short run of the length that .short promises: promise what it
   has. */
void tdo_extents_lower(tdo_extent_t *extent);
/* Empty the list of stale extents. */
void tdo_extents_renew(tdo_freelist_t *fl);
/* Depth-first check of all invariants, after that. */
bool tdo_extents_check(tdo_freelist_t *fl);

static inline unsigned tdo_extent_short(const tdo_extent_t *extent) {
  return extent == NULL ? 0 : extent->reach_short;
}

static inline size_t tdo_extent_reach(const tdo_extent_t *extent) {
  return extent == NULL ? 0 : extent->reach;
}

#endif /* TDO_POOL_EXTENTS_H */
