/* Testudo: hits of barriers: the mutator is about to read or write what the
   collector protects.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_HIT_H
#define TDO_TRACE_HIT_H

#include "code/fault.h"

typedef struct tdo_hits {
  size_t quantum;       /* bytes scanned for each hit of a read bar, at least */
  size_t quantum_now;   /* the same, larger while hits come close together */
  uint64_t ended, took; /* the last of them; ns */
} tdo_hits_t;

/* A fault at ADDR, on the faulting thread; see tdo_fault_handler_t. */
bool tdo_hit_fault(void *addr, tdo_fault_kind_t kind);

/* Read and write a word of the client's that may be in protected memory, with
   the lock held. */
mps_addr_t tdo_heap_peek(mps_arena_t heap, mps_addr_t *p);
void tdo_heap_poke(mps_arena_t heap, mps_addr_t *p, mps_addr_t value);

#endif /* TDO_TRACE_HIT_H */
