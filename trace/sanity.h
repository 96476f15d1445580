/* Testudo: a check of the whole heap from outside the collector. It shares
   nothing with tracing but the client's scan methods: it walks every object
   of every pool and every root that is not ambiguous, looks each reference up,
   and compares with the tables. SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_SANITY_H
#define TDO_TRACE_SANITY_H

#include "trace/heap.h"

/* Is every object reachable that is referred to, every summary right? For debug
   runs. Nothing is done while a collection is in progress. */
void tdo_sanity_check(tdo_heap_t *heap);
/* The same around a collection, if the client wants it: around each while the
   heap is small, less often the larger it is, so that checking costs some
   multiple of collecting and not the square. */
void tdo_sanity_around(tdo_heap_t *heap);

#endif /* TDO_TRACE_SANITY_H */
