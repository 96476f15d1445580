/* Testudo: finalization (interface, section 2.20).
   SPDX-License-Identifier: BSD-2-Clause

   A registration is the message that will tell of the object. They lie in
   lists of the object's pool by its generation, so that a collection looks at
   those of condemned generations only, and the end of a pool at its own. From
   the first mps_definalize on a table tells where those of an object are, as
   long as there is memory for it. */
#ifndef TDO_TRACE_FINALIZE_H
#define TDO_TRACE_FINALIZE_H

#include "code/table.h"
#include "trace/scan.h"

typedef struct tdo_finals {
  bool indexed;       /* is there such a table? */
  tdo_table_t firsts; /* of each object that has any the first registration,
                         behind which the others lie in the same list */
  size_t looks;       /* registrations that were looked at without it */
} tdo_finals_t;

void tdo_finals_init(tdo_pool_t *pool);
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
