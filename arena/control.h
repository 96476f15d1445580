/* Testudo: the library's own blocks (descriptors, messages, bit tables),
   inside the arena, never protected, never moved.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_ARENA_CONTROL_H
#define TDO_ARENA_CONTROL_H

#include "arena/segment.h"

#define TDO_CONTROL_CLASSES 24 /* see control.c */

/* The part of the newest slab that was never used. */
typedef struct tdo_control_slab {
  char *fresh, *limit;
} tdo_control_slab_t;

/* Descriptors lie together, and not between their tables: who goes through all
   of them meets few pages. */
typedef struct tdo_control {
  tdo_space_t *space;
  tdo_seg_t owner; /* of every grain used here; has no pool */
  void *free[TDO_CONTROL_CLASSES];
  tdo_control_slab_t small, large; /* of blocks up to 512 bytes, and beyond */
  size_t large_size;               /* of the largest class */
  size_t allocated;                /* bytes in use */
} tdo_control_t;

void tdo_control_init(tdo_control_t *c, tdo_space_t *space);
/* SIZE > 0 bytes, aligned to 16, more than 128 to a cache line; contents
   undefined. Results as tdo_space_alloc. O(1) for small blocks. Needs the
   arena's lock. */
mps_res_t tdo_control_alloc(void **p_o, tdo_control_t *c, size_t size);
/* Exactly the size it was allocated with. */
void tdo_control_free(tdo_control_t *c, void *p, size_t size);

#endif /* TDO_ARENA_CONTROL_H */
