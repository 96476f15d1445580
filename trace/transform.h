/* Testudo: transforms, which replace references to given objects by others
   everywhere (interface, section 2.24).
   SPDX-License-Identifier: BSD-2-Clause

   Applying one is a pass over every exact and weak root and every object of
   every pool, in which each slot is met exactly once, so that a new object
   may be another pair's old one; then a full collection, to which the old
   objects are ordinary garbage. Before anything is changed, every ambiguous
   reference is looked at: one that would pin an old object prevents it all.

   Invariants:
   .present  the addresses in the table are those of the objects now: no
             collection began since the transform was made, or it is stale. */
#ifndef TDO_TRACE_TRANSFORM_H
#define TDO_TRACE_TRANSFORM_H

#include "code/table.h"
#include "trace/heap.h"

typedef struct mps_transform_s tdo_transform_t;

struct mps_transform_s {
  tdo_sig_t sig;
  mps_arena_t heap;
  size_t born;       /* collections begun when it was made, */
  size_t applied;    /* and transforms applied */
  tdo_table_t pairs; /* old to new; in control blocks, gone with the arena */
};

#define TDO_TRANSFORM_SIG ((tdo_sig_t)0x51974A95) /* TRANS */

/* All need the arena's lock. */

mps_res_t tdo_transform_create(tdo_transform_t **transform_o,
                               mps_arena_t heap);
void tdo_transform_destroy(tdo_transform_t *transform);

/* Add COUNT pairs, those with a null old one left out. Memory codes; then
   none of them was added. */
mps_res_t tdo_transform_add(tdo_transform_t *transform, mps_addr_t *old,
                            mps_addr_t *new, size_t count);

/* Replace, and collect everything; *APPLIED_O false: an ambiguous reference
   forbids it, nothing was done. MPS_RES_PARAM: stale; MPS_RES_LIMIT: a
   collection is in progress. */
mps_res_t tdo_transform_apply(bool *applied_o, tdo_transform_t *transform);

#endif /* TDO_TRACE_TRANSFORM_H */
