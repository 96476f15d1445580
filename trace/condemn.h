/* Testudo: condemning. The segments of a generation become white: at the flip,
   or those that stay in place in a full collection of a large heap, which are
   most of it, a part at a time before (.ahead).
   SPDX-License-Identifier: BSD-2-Clause

   .ahead  Between being condemned ahead and the flip, a white segment is like
   any other to the mutator, and its pages keep their summary and their bars: it
   may still be pardoned. No collection runs that would look at its colour. At
   the flip what is known of its pages is forgotten, and the read bars go up
   that keep the mutator out: heap->ahead tells where. A flip so looks at none
   of the descriptors, which for a large heap takes as long as all else that it
   does. */
#ifndef TDO_TRACE_CONDEMN_H
#define TDO_TRACE_CONDEMN_H

#include "trace/heap.h"

/* Does GEN hold anything that could be condemned? */
bool tdo_condemn_any(const tdo_gen_t *gen);
/* Make every segment of GEN white that is not yet. */
void tdo_condemn_gen(tdo_heap_t *heap, tdo_gen_t *gen);
/* The flip is to come: condemn about BYTES more of what stays in place, until
   DEADLINE (ns; 0: none). True if that is all. */
bool tdo_condemn_ahead(tdo_heap_t *heap, size_t bytes, uint64_t deadline);
/* Put up the read bars of what was condemned ahead. */
void tdo_condemn_bar_ahead(tdo_heap_t *heap);
/* There will be no flip: what was condemned ahead is as it was before. */
void tdo_condemn_pardon(tdo_heap_t *heap);

#endif /* TDO_TRACE_CONDEMN_H */
