/* Testudo: what is young becomes old as it is, without a collection (tenure.c),
   where collections would find next to nothing of it dead, or nothing else is
   possible.

   .flip  What roots refer to is copied in the flip, which cannot be divided:
   with a table of large objects for a root that is most of a nursery. The size
   of a nursery bounds it, but not what is made while a full collection goes on;
   and that copies what is young of all generations. Where to copy it is more
   than a pause has time for, it is promoted.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_PROMOTE_H
#define TDO_TRACE_PROMOTE_H

#include "trace/heap.h"

/* Is CHAIN to be promoted, now that a generation of it passed its capacity? */
bool tdo_promote_due(tdo_heap_t *heap, const tdo_chain_t *chain);

/* Promote a part of CHAIN, as much as may be in this pause; nothing, if it is
   hardly worth stopping for what is left of the pause time. True if there is
   more to be promoted. */
bool tdo_promote_part(tdo_heap_t *heap, tdo_chain_t *chain);

/* A full collection is to begin: promote all chains if its flip asks for that
   (.flip). (Linear in chains.) */
void tdo_promote_for_flip(tdo_heap_t *heap);

#endif /* TDO_TRACE_PROMOTE_H */
