/* Testudo: when to collect what, and how fast (interface, section 5).
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_POLICY_H
#define TDO_TRACE_POLICY_H

#include "trace/heap.h"

/* The allocator gives the collector a chance. */
void tdo_policy_poll(tdo_heap_t *heap);
/* The client offers SECONDS to work in, and MULTIPLIER times as long before it
   needs all the time itself: a collection that fits in those may begin. Was
   anything done, or is there more to be given back to the system? */
bool tdo_policy_step(tdo_heap_t *heap, double seconds, double multiplier);
/* Start a full collection; run one to its end. False: nothing to condemn. */
bool tdo_policy_start_full(tdo_heap_t *heap, const char *why);
bool tdo_policy_collect(tdo_heap_t *heap, const char *why);

/* Writes to old objects that were noticed, since ever; SIZE_MAX if none are
   noticed, or if young objects die. */
size_t tdo_policy_writes(const tdo_heap_t *heap);

#endif /* TDO_TRACE_POLICY_H */
