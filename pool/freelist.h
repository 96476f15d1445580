/* Testudo: the memory of a manual pool: extents in address order, and what is
   free in them. Shared by the classes of manual pools.
   SPDX-License-Identifier: BSD-2-Clause

   Each extent is a run of grains with a table of its free units (a unit is
   the pool's alignment), made together, so that freeing needs no memory and
   nothing is kept in free blocks. A tree over the extents (extents.h) finds
   the one that has a free run of some length. All searches and changes
   take O(log n), counting what a change leaves to be renewed, and time in
   proportion to the size of the range by machine words (64 units). Free runs
   end at the ends of their extent; whole free grains on both sides of a border
   can be made an extent of their own (tdo_freelist_join).

   Whole free grains can be given back to the arena from anywhere in an
   extent; the descriptor stays until the last one is gone. Its segment goes
   from the first grain that it still has to the last one, and may have holes:
   the arena's owner table tells whose a grain is. Grains that come to lie in
   a hole are that extent's again, and so are those that follow it, as far as
   its table goes: so the pool's memory is in address order, but for extents
   that were made for one block.

   Invariants:
   .free    pool->free = sum of the free runs of all extents.
   .total   pool->total = sum of the grains that extents still have.
   .holes   units of a grain given back are not free.

   All functions need the arena's lock. Sizes and addresses are multiples of
   the pool's alignment. */
#ifndef TDO_POOL_FREELIST_H
#define TDO_POOL_FREELIST_H

#include "arena/segment.h"
#include "pool/runs.h"
#include "trace/pool.h"

typedef struct tdo_extent tdo_extent_t;
typedef struct tdo_extents tdo_extents_t; /* a node of the tree, extents.h */

struct tdo_extent {
  tdo_seg_t seg; /* first; owns the grains */
  char *origin;  /* where the table's first unit is, or was */
  tdo_extents_t *node; /* where it is in the tree */
  unsigned slot;
  bool stale; /* in the list of extents.h, .stale */
  tdo_extent_t *stale_next;
  size_t held;    /* bytes of grains not given back */
  size_t free;    /* bytes of its free runs */
  void *table;    /* of its runs; apart, so that descriptors stay mapped */
  size_t bytes;   /* of the table */
  tdo_ring_t framed; /* points with frames in their buffers here (frames.h) */
  tdo_ring_t fresh_ring; /* of those with units that nobody looked at for what
                            can go, */
  size_t fresh, fresh_limit; /* which are these */
  bool own;       /* made for one block: goes back as soon as it can */
  tdo_runs_t runs;
};

typedef struct tdo_freelist {
  tdo_pool_t *pool;
  tdo_space_t *space; /* the arena's */
  tdo_extents_t *extents; /* the root, or null */
  tdo_extent_t *stale;    /* see extents.h, .stale */
  tdo_ring_t fresh;       /* tdo_extent_t.fresh_ring, oldest first */
  unsigned shift; /* log2 of the pool's alignment */
  size_t since;   /* bytes freed since all runs were looked at for grains */
  /* Told of memory that came from the arena, all free, and of free memory
     just before it goes back; may be null. */
  void (*made)(tdo_pool_t *pool, char *base, char *limit);
  void (*leaving)(tdo_pool_t *pool, char *base, char *limit);
} tdo_freelist_t;

/* A free run, or a part of one. */
typedef struct tdo_area {
  tdo_extent_t *extent;
  char *base, *limit;
} tdo_area_t;

static inline size_t tdo_area_size(const tdo_area_t *area) {
  return (size_t)(area->limit - area->base);
}

/* POOL's alignment is set, at most the grain size. */
void tdo_freelist_init(tdo_freelist_t *fl, tdo_pool_t *pool);
/* Gives all grains back. */
void tdo_freelist_finish(tdo_freelist_t *fl);
/* Renews what is stale. */
bool tdo_freelist_check(tdo_freelist_t *fl);

/* Where new memory is to come from, and for what. */
typedef enum tdo_extend {
  TDO_EXTEND_LOW,  /* from low addresses, if possible */
  TDO_EXTEND_HIGH, /* from high ones */
  TDO_EXTEND_OWN   /* from low ones, for one block: an extent of its own */
} tdo_extend_t;

/* New memory of SIZE > 0 bytes, rounded up to grains, all free: an extent, or
   part of one that had a hole there. Results as tdo_space_alloc. */
mps_res_t tdo_freelist_extend(tdo_area_t *area_o, tdo_freelist_t *fl,
                              size_t size, tdo_extend_t how);

/* Make the lowest run of at least SIZE > 0 bytes in whole free grains that goes
   over borders between extents one extent, all free. False if there is none, or
   no memory for the descriptor. */
bool tdo_freelist_join(tdo_area_t *area_o, tdo_freelist_t *fl, size_t size);

/* The lowest (highest, largest) free run of at least SIZE > 0 bytes, whole;
   the first SIZE bytes of the lowest or the highest, which is quicker. False
   if there is none. */
bool tdo_freelist_lowest(tdo_area_t *area_o, tdo_freelist_t *fl, size_t size);
bool tdo_freelist_highest(tdo_area_t *area_o, tdo_freelist_t *fl, size_t size);
bool tdo_freelist_largest(tdo_area_t *area_o, tdo_freelist_t *fl, size_t size);
bool tdo_freelist_part(tdo_area_t *area_o, tdo_freelist_t *fl, size_t size,
                       bool highest);

/* AREA, free, is in use from now on. */
void tdo_freelist_take(tdo_freelist_t *fl, const tdo_area_t *area);
/* The extent of [BASE, LIMIT) if that range lies in one extent and no part of
   it is free or given back; else null. */
tdo_extent_t *tdo_freelist_used(const tdo_freelist_t *fl, const char *base,
                                const char *limit);
/* The same for the block [P, P + SIZE), both as a client gave them: SIZE is
   rounded up. If that is no block in use the client is told, and the result is
   null. */
tdo_extent_t *tdo_freelist_block(const tdo_freelist_t *fl, mps_addr_t p,
                                 size_t size);
/* [BASE, LIMIT) of EXTENT, in use, is free from now on. Needs no memory. The
   extent stays, even if all of it is free. */
void tdo_freelist_give(tdo_freelist_t *fl, tdo_extent_t *extent, char *base,
                       char *limit);
/* The whole free run that holds the free address AT of EXTENT. */
tdo_area_t tdo_freelist_around(const tdo_freelist_t *fl, tdo_extent_t *extent,
                               const char *at);

/* Give whole free grains back to the arena, at most BYTES (rounded up to
   grains): those in the free run AREA; those in the largest runs, until one has
   none; those in memory that came since the last time; all that there
   are, which looks at every run. Of an extent of which
   nothing is in use all goes if that is much of it, or little of the pool, or
   part of it went before. Returns how many bytes went. May unmake extents. */
size_t tdo_freelist_return(tdo_freelist_t *fl, const tdo_area_t *area,
                           size_t bytes);
size_t tdo_freelist_return_any(tdo_freelist_t *fl, size_t bytes);
size_t tdo_freelist_return_fresh(tdo_freelist_t *fl, size_t bytes);
size_t tdo_freelist_return_all(tdo_freelist_t *fl, size_t bytes);

/* EXTENT has a free run at AT now: if more than SPARE of the pool and RESERVE
   bytes beside that are free, by EXCESS bytes, whole grains go back until it is
   not, those of that run first. */
void tdo_freelist_return_excess(tdo_freelist_t *fl, tdo_extent_t *extent,
                                const char *at, double spare, double excess);

static inline void tdo_freelist_spare(tdo_freelist_t *fl, tdo_extent_t *extent,
                                      const char *at, double spare,
                                      double reserve) {
  const tdo_pool_t *pool = fl->pool;
  double excess =
      (double)pool->free - spare * (double)pool->total - reserve;

  if (excess > 0.0 && spare < 1.0)
    tdo_freelist_return_excess(fl, extent, at, spare, excess);
}

/* Step through all free runs, extent by extent: *AREA_IO becomes the run after
   it; start with a null extent. False at the end. */
bool tdo_freelist_next(tdo_area_t *area_io, const tdo_freelist_t *fl);

#endif /* TDO_POOL_FREELIST_H */
