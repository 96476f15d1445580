/* Testudo: the library's own blocks (descriptors, messages, bit tables),
   inside the arena, never protected, never moved.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_ARENA_CONTROL_H
#define TDO_ARENA_CONTROL_H

#include "arena/segment.h"
#include "code/readers.h"

#define TDO_CONTROL_CLASSES 24 /* see control.c */

/* The part of the newest slab that was never used. */
typedef struct tdo_control_slab {
  char *fresh, *limit;
} tdo_control_slab_t;

/* Descriptors lie together, and not between their tables: who goes through all
   of them meets few pages.

   Invariants:
   .note     the note of a slab's grain is what of it lies in free lists, in
             units; it is *leaving* once that is all of it, and then the note
             is marked, and counts what was taken out of the lists for good.
   .leaving  a leaving slab goes back when nothing of it is in a list; until
             the first of it was taken out, it may still be used instead.
   .looking  nothing goes back while somebody looks at descriptors without the
             lock (tdo_control_look): what they see may be in no use any more,
             but it is there. */
typedef struct tdo_control {
  tdo_space_t *space;
  tdo_seg_t owner; /* of every grain used here; has no pool */
  void *free[TDO_CONTROL_CLASSES];
  tdo_control_slab_t small, large; /* of blocks up to 512 bytes, and beyond */
  size_t large_size;               /* of the largest class */
  size_t allocated;                /* bytes in use */
  size_t slabs, leaving;           /* grains; .leaving */
  /* The lists are swept for blocks of leaving slabs: those of classes below
     were, and of this one all but these. */
  unsigned sweep_class; /* TDO_CONTROL_CLASSES: they are not */
  void *unswept;
  tdo_readers_t looking;
} tdo_control_t;

void tdo_control_init(tdo_control_t *c, tdo_space_t *space);
/* SIZE > 0 bytes, aligned to 16, more than 128 to a cache line; contents
   undefined. Results as tdo_space_alloc. O(1) for small blocks. Needs the
   arena's lock. */
mps_res_t tdo_control_alloc(void **p_o, tdo_control_t *c, size_t size);
/* Exactly the size it was allocated with. O(1). */
void tdo_control_free(tdo_control_t *c, void *p, size_t size);
/* Give slabs of which nothing is in use back to the space: a piece of work
   small enough not to be felt, where they are three quarters of all slabs (ease;
   true if there is more), or half of them, for who has nothing else to do
   (idle); or all of them, in a time that grows with the number of free blocks
   (settle). */
bool tdo_control_ease(tdo_control_t *c);
bool tdo_control_ease_idle(tdo_control_t *c);
void tdo_control_settle(tdo_control_t *c);

/* Is there a sweep that goes on by pieces? */
static inline bool tdo_control_sweeping(const tdo_control_t *c) {
  return c->sweep_class < TDO_CONTROL_CLASSES;
}

/* .looking: between these two, of which the second gets what the first
   returned. Need no lock, and may be nested. */
static inline size_t tdo_control_look(tdo_control_t *c) {
  return tdo_readers_begin(&c->looking);
}

static inline void tdo_control_looked(tdo_control_t *c, size_t begun) {
  tdo_readers_end(&c->looking, begun);
}

#endif /* TDO_ARENA_CONTROL_H */
