/* Testudo: the balanced tree of a manual pool's extents.
   SPDX-License-Identifier: BSD-2-Clause

   An AVL tree by base address, with parents. An extent made inside a hole of
   another one follows it; one made where another has lost its first grains
   has the same base, and the descriptors' addresses decide.

   Invariants:
   .order    all extents on side 0 come before, all on side 1 after.
   .balance  the heights of a node's sides differ by at most 1.
   .longest  extent->longest is what its table of runs says.
   .reach    see pool/freelist.h. */
#ifndef TDO_POOL_EXTENTS_H
#define TDO_POOL_EXTENTS_H

#include "pool/freelist.h"

static inline bool tdo_extent_before(const tdo_extent_t *a,
                                     const tdo_extent_t *b) {
  return a->seg.base < b->seg.base || (a->seg.base == b->seg.base && a < b);
}

void tdo_extents_insert(tdo_freelist_t *fl, tdo_extent_t *extent);
void tdo_extents_remove(tdo_freelist_t *fl, tdo_extent_t *extent);
/* The runs of EXTENT changed: make .longest and .reach hold again. */
void tdo_extents_changed(tdo_extent_t *extent, unsigned shift);
/* Depth-first check of .order, .balance and .reach. */
bool tdo_extents_check(const tdo_freelist_t *fl);

static inline size_t tdo_extent_reach(const tdo_extent_t *extent) {
  return extent == NULL ? 0 : extent->reach;
}

#endif /* TDO_POOL_EXTENTS_H */
