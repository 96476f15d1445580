/* Testudo: what both deciding when to collect (policy.c) and learning from what
   a collection found (learn.c) look at.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_POLICY_H
#define TDO_TRACE_POLICY_H

#include "trace/heap.h"

/* Writes to old objects that were noticed, since ever; SIZE_MAX if none are
   noticed, or if young objects die. */
size_t tdo_policy_writes(const tdo_heap_t *heap);

/* What bounds the sizes of chains. */
tdo_nursery_facts_t tdo_policy_bounds(const tdo_heap_t *heap);

/* Give CHAIN the capacities that suit the heap, and as far as that allows those
   that its generations have been given. */
void tdo_policy_size_chain(tdo_heap_t *heap, tdo_chain_t *chain);

#endif /* TDO_TRACE_POLICY_H */
