/* Testudo: the extents of a manual pool in address order, and which of them
   has a free run that is long enough.
   SPDX-License-Identifier: BSD-2-Clause

   A tree with up to sixteen entries a node: a search looks at one line of
   maxima (peaks.h) at each level, without a branch that depends on the data.
   An extent made for one block inside a hole of another one follows that, until
   it loses all grains before the hole.

   Invariants:
   .order    the extents below each entry come before those below the next.
   .depth    all leaves lie at the same depth; no node is empty, and a root
             that is no leaf has two entries at least.
   .place    an extent's node and slot, and those of a node that is not the
             root, tell where its entry is. Entries from `count` on have no
             peak and no reach.
   .peak     of an extent: at least its longest free run (units, at most
             TDO_STARTS_MOST). Lowered when a search went there in vain: most
             blocks that are taken take the longest run, and as many are given
             back. Of a node: the greatest of its peaks.
   .reach    of an extent: the longest free run (bytes) that its table tells,
             unless it is stale. Of a node: the greatest of its reaches.
   .sum      of an extent: where its grains begin and end, and how much is free
             there (whole grains), unless it is stale. Of a node: the same of
             all its extents; and the longest free run of whole grains that
             goes over a border between two of them.
   .stale    the extents whose reach and sum may be wrong are in the list.

   Searches and changes take O(log n). All functions need the arena's lock. */
#ifndef TDO_POOL_EXTENTS_H
#define TDO_POOL_EXTENTS_H

#include "pool/freelist.h"
#include "pool/peaks.h"

/* See .sum. All but the addresses in bytes. */
typedef struct tdo_extents_sum {
  char *base, *limit;
  size_t prefix, suffix; /* free at BASE, up to LIMIT */
  size_t joint;          /* the longest run over a border; 0: none */
} tdo_extents_sum_t;

struct tdo_extents {
  uint8_t peak[TDO_PEAKS]; /* see .peak */
  tdo_extents_t *parent;   /* null for the root */
  unsigned slot;           /* in it; see .place */
  unsigned count;          /* of entries */
  bool leaf;
  size_t reach[TDO_PEAKS]; /* see .reach */
  union {
    tdo_extents_t *node;
    tdo_extent_t *extent; /* in leaves */
  } entry[TDO_PEAKS];
  tdo_extents_sum_t sum[TDO_PEAKS]; /* see .sum */
};

static inline bool tdo_extent_before(const tdo_extent_t *a,
                                     const tdo_extent_t *b) {
  return a->seg.base < b->seg.base || (a->seg.base == b->seg.base && a < b);
}

/* Enter EXTENT, whose base and table are set. Refused if there is no memory
   for a node; nothing has changed then but the shape of the tree. */
mps_res_t tdo_extents_insert(tdo_freelist_t *fl, tdo_extent_t *extent);
void tdo_extents_remove(tdo_freelist_t *fl, tdo_extent_t *extent);
/* The runs of EXTENT changed: make .peak hold again. */
void tdo_extents_changed(tdo_freelist_t *fl, tdo_extent_t *extent);
/* The base of EXTENT, whose runs changed, too, is higher than it was: make
   .order hold again. */
void tdo_extents_moved(tdo_freelist_t *fl, tdo_extent_t *extent);

/* The last extent that begins before BASE, or null. */
tdo_extent_t *tdo_extents_below(const tdo_freelist_t *fl, const char *base);
/* The lowest, or the highest, extent with a free run of N units, from 1 to
   TDO_STARTS_MOST; with one of SIZE > 0 bytes; or null. */
tdo_extent_t *tdo_extents_short(tdo_freelist_t *fl, size_t n, bool highest);
tdo_extent_t *tdo_extents_long(tdo_freelist_t *fl, size_t size, bool highest);
/* Bytes of the longest free run of all, borders between extents aside. */
size_t tdo_extents_reach(tdo_freelist_t *fl);
/* Where the lowest run of whole free grains over borders between extents begins
   that has at least SIZE > 0 bytes; or null. */
char *tdo_extents_joint(tdo_freelist_t *fl, size_t size);

/* Check all invariants. */
bool tdo_extents_check(tdo_freelist_t *fl);

#endif /* TDO_POOL_EXTENTS_H */
