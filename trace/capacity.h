/* Testudo: the capacities of generations: nursery.h, for the heap as it is.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_CAPACITY_H
#define TDO_TRACE_CAPACITY_H

#include "trace/heap.h"

/* What bounds them. (Linear in chains.) */
tdo_nursery_facts_t tdo_capacity_bounds(const tdo_heap_t *heap);

/* Give CHAIN the capacities that suit the heap, and as far as that allows those
   that its generations have been given. Under stress a client's stay. */
void tdo_capacity_set(tdo_heap_t *heap, tdo_chain_t *chain,
                      const tdo_nursery_facts_t *facts);

#endif /* TDO_TRACE_CAPACITY_H */
