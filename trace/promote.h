/* Testudo: what is young becomes old as it is, without a collection (tenure.h),
   where collections would find next to nothing of it dead, or nothing else is
   possible.
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

#endif /* TDO_TRACE_PROMOTE_H */
