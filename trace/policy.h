/* Testudo: what both deciding when to collect (policy.c) and learning from what
   a collection found (learn.c) look at.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_POLICY_H
#define TDO_TRACE_POLICY_H

#include "trace/heap.h"

/* Writes to old objects that were noticed, since ever; SIZE_MAX if none are
   noticed, or if young objects die. */
size_t tdo_policy_writes(const tdo_heap_t *heap);

#endif /* TDO_TRACE_POLICY_H */
