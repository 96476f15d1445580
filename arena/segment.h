/* Testudo: segments, runs of grains that belong to a pool.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_ARENA_SEGMENT_H
#define TDO_ARENA_SEGMENT_H

#include "arena/space.h"
#include "code/ring.h"

typedef struct tdo_seg tdo_seg_t;

/* The common head of every owner in the owner table. Upper floors embed it
   in descriptors of their own, of the size of a slab's blocks (control.h): who
   looks an owner up without the lock may read it just after it was given back.
   POOL is null for the library's own blocks. */
struct tdo_seg {
  tdo_sig_t sig;
  bool automatic; /* the descriptor is a collected segment's (trace/) */
  char *base, *limit;
  void *pool;
  tdo_ring_t pool_ring;
};

#define TDO_SEG_SIG ((tdo_sig_t)0x5195E60F) /* SEG */

/* Allocate SIZE bytes, rounded up to grains, and make SEG their owner. The
   descriptor's other fields are the caller's. Results as tdo_space_alloc. */
mps_res_t tdo_seg_init(tdo_seg_t *seg, tdo_space_t *sp, size_t size,
                       tdo_group_t group, bool high, void *pool);
/* The same over [BASE, LIMIT), grains that other segments of POOL have: SEG is
   set for them, and becomes their owner piece by piece. */
void tdo_seg_set(tdo_seg_t *seg, char *base, char *limit, void *pool);
void tdo_seg_adopt(tdo_seg_t *seg, tdo_space_t *sp, const char *base,
                   const char *limit);
/* Give the grains back. */
void tdo_seg_finish(tdo_seg_t *seg, tdo_space_t *sp);
/* Give back only the grains [BASE, LIMIT), a proper part at either end. */
void tdo_seg_shrink(tdo_seg_t *seg, tdo_space_t *sp, char *base,
                    char *limit);

static inline size_t tdo_seg_size(const tdo_seg_t *seg) {
  return (size_t)(seg->limit - seg->base);
}

/* The segment that holds P, or null. Usable without the lock. */
static inline tdo_seg_t *tdo_seg_of(const tdo_space_t *sp, const void *p) {
  return tdo_space_owner(sp, p);
}

#endif /* TDO_ARENA_SEGMENT_H */
