/* Testudo: what a collection that is over tells about the next ones.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_LEARN_H
#define TDO_TRACE_LEARN_H

#include "trace/heap.h"

/* After each collection: capacities, spare memory held for the nursery. */
void tdo_learn(tdo_heap_t *heap);

#endif /* TDO_TRACE_LEARN_H */
