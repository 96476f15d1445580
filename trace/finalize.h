/* Testudo: finalization (interface, section 2.20).
   SPDX-License-Identifier: BSD-2-Clause

   A registration is the message that will tell of the object. They lie in
   lists by the generation of their object, so that a collection looks at those
   of condemned generations only. */
#ifndef TDO_TRACE_FINALIZE_H
#define TDO_TRACE_FINALIZE_H

#include "trace/scan.h"

#define TDO_FINAL_LISTS 9 /* one a generation bit, one for the top */

typedef struct tdo_finals {
  tdo_ring_t lists[TDO_FINAL_LISTS];
} tdo_finals_t;

void tdo_finals_init(tdo_finals_t *f);
mps_res_t tdo_finalize(mps_arena_t heap, mps_addr_t ref);
mps_res_t tdo_definalize(mps_arena_t heap, mps_addr_t ref);
/* POOL is about to be destroyed. */
void tdo_finals_forget(mps_arena_t heap, const tdo_pool_t *pool);
/* The exact closure is complete: post and preserve what is dead and
   registered, update the rest. */
void tdo_finals_trace(mps_arena_t heap, tdo_scan_t *scan);
/* Messages not yet discarded are roots. */
void tdo_finals_scan_messages(mps_arena_t heap, tdo_scan_t *scan);

#endif /* TDO_TRACE_FINALIZE_H */
