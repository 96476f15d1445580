/* Testudo: what the pools have in common whose blocks are reclaimed by the
   collector and never move: segments with bit tables, marking, sweeping, and
   buffers in what was swept.
   SPDX-License-Identifier: BSD-2-Clause

   A segment is divided in units: of the pool's alignment, or, for a large
   block, the whole segment is one unit. A *block* is what the tables know of:
   an object; or, where several were committed as one large block and there was
   no memory for more units, all of these. References to the inside of a block
   stand for the block.

   Tables are two bits and a half a unit: the first unit of a block is known to
   be in use without its bit in `used`, so a white segment has its marks there;
   and two units have one bit in `greys`. Where both are blocks, and marked, a
   black one may so be scanned again.

   Invariants:
   .used     bit i of `used` is set iff unit i is part of a block or of the
             buffer, except at starts in a white segment (.marks); pool->free
             counts the bytes of the others.
   .starts   bit i of `starts` is set iff a block begins at unit i; a block
             ends before the next start, free unit, or unit of `known`.
   .known    while a point has its buffer here, the objects below `known` are
             blocks, those in [known, init) are not blocks yet, and black.
   .marks    in a white segment, bit i of `used`, where bit i of `starts` is
             set, is set iff the block is known to survive.
   .greys    bit i of `greys` is set iff one or both of the units 2i and 2i + 1,
             within [grey_first, grey_limit), is a marked block that was not
             scanned yet.
   .room     a segment is in a ring of its pool's room iff it has free units,
             no buffer, and is neither white nor grey. */
#ifndef TDO_POOL_NONMOVING_H
#define TDO_POOL_NONMOVING_H

#include "code/bits.h"
#include "trace/heap.h"

typedef struct tdo_nm_seg {
  tdo_gcseg_t gc; /* first */
  tdo_ring_t room_ring;
  unsigned shift; /* base-2 logarithm of a unit's bytes */
  size_t units;
  char *top;                         /* where the last unit ends */
  tdo_bits_t *starts, *used, *greys; /* no greys in leaf segments */
  size_t grey_first, grey_limit;
  size_t free;    /* bytes counted in pool->free */
  size_t largest; /* no free run has more units */
  size_t rover;   /* the unit from which on the next one is sought */
  char *known;
} tdo_nm_seg_t;

#define TDO_NM_ROOMS 24 /* by the logarithm of `largest` */

typedef struct tdo_nm_pool tdo_nm_pool_t;

struct tdo_nm_pool {
  tdo_pool_t pool; /* first */
  tdo_chain_t *chain;
  tdo_gen_t *gen;
  unsigned shift; /* of the alignment */
  tdo_ring_t room[TDO_RANKS][TDO_NM_ROOMS];
  /* Scan objects [BASE, LIMIT), adjacent; null: with the format. */
  mps_res_t (*scan_objects)(tdo_nm_pool_t *nm, tdo_scan_t *scan, char *base,
                            char *limit);
  /* Memory that a point gets, and that was part of the free memory (not
     FRESH) or of a new segment. Null: nothing to do. */
  void (*taken)(tdo_nm_pool_t *nm, tdo_nm_seg_t *seg, char *base, char *limit,
                bool fresh);
  /* Memory that becomes free. Null: nothing to do. */
  void (*freed)(tdo_nm_pool_t *nm, tdo_nm_seg_t *seg, char *base, char *limit);
};

static inline tdo_nm_pool_t *tdo_nm_of(tdo_pool_t *pool) {
  return (tdo_nm_pool_t *)(void *)pool;
}

static inline tdo_nm_seg_t *tdo_nm_seg_of(tdo_gcseg_t *seg) {
  return (tdo_nm_seg_t *)(void *)seg;
}

/* Keywords and positional arguments. Init takes FORMAT, CHAIN and GEN; the
   other hooks are null on return. Ap_init takes RANK, which must be in the set
   RANKS (bit r for rank r), else MPS_RES_PARAM. */
mps_res_t tdo_nm_init(tdo_nm_pool_t *nm, mps_arg_s args[]);
mps_res_t tdo_nm_ap_init(tdo_ap_t *ap, mps_arg_s args[], unsigned ranks);
void tdo_nm_ap_varargs(mps_arg_s args[], va_list list);

/* Methods of the classes; see trace/pool.h. */
void tdo_nm_finish(tdo_pool_t *pool);
mps_res_t tdo_nm_fill(tdo_pool_t *pool, tdo_ap_t *ap, size_t size);
void tdo_nm_empty(tdo_pool_t *pool, tdo_ap_t *ap, char *init, char *limit);
bool tdo_nm_bare(const tdo_gcseg_t *gc);
void tdo_nm_whiten(tdo_pool_t *pool, tdo_gcseg_t *gc);
mps_addr_t tdo_nm_whole(const tdo_gcseg_t *gc, mps_addr_t ref);
void tdo_nm_fetch(const tdo_gcseg_t *gc, const char *ref);
mps_res_t tdo_nm_fix(tdo_pool_t *pool, tdo_scan_t *scan, tdo_gcseg_t *gc,
                     mps_addr_t *ref_io);
bool tdo_nm_alive(tdo_pool_t *pool, tdo_gcseg_t *gc, mps_addr_t *ref_io);
mps_res_t tdo_nm_scan(tdo_pool_t *pool, tdo_scan_t *scan, tdo_gcseg_t *gc);
void tdo_nm_widen(tdo_pool_t *pool, tdo_gcseg_t *gc, char **base_io,
                  char **limit_io);
mps_res_t tdo_nm_scan_range(tdo_pool_t *pool, tdo_scan_t *scan,
                            tdo_gcseg_t *gc, char *base, char *limit);
void tdo_nm_reclaim(tdo_pool_t *pool, tdo_gcseg_t *gc);
bool tdo_nm_walk(tdo_pool_t *pool, tdo_walk_visit_t visit, void *closure);

/* Scan every block of SEG (exposed), those of a white segment only if they
   are known to survive. */
mps_res_t tdo_nm_scan_all(tdo_nm_pool_t *nm, tdo_scan_t *scan,
                          tdo_nm_seg_t *seg);

/* The block that holds P, which lies in SEG: [*BASE_O, *LIMIT_O); false if
   no block is known there. */
bool tdo_nm_block(char **base_o, char **limit_o, const tdo_nm_seg_t *seg,
                  const char *p);

/* Visit the free runs of SEG. */
void tdo_nm_each_free(tdo_nm_pool_t *nm, tdo_nm_seg_t *seg,
                      void (*visit)(tdo_nm_pool_t *nm, tdo_nm_seg_t *seg,
                                    char *base, char *limit));

#endif /* TDO_POOL_NONMOVING_H */
