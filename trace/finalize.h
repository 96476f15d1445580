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
#include "trace/message.h"
#include "trace/scan.h"

typedef struct tdo_finals {
  bool indexed;       /* is there such a table? */
  tdo_table_t firsts; /* of each object that has any the first registration,
                         behind which the others lie in the same list */
  size_t looks;       /* registrations that were looked at without it, by
                         mps_definalize or the end of a pool */
  /* By number, from 1 on, whose registrations and messages there are. */
  struct tdo_final_owner *owners;
  size_t owner_count, owner_room;
  size_t owner_free;  /* a number that can be used again; 0: none */
} tdo_finals_t;

/* A pool that has had registrations, from the first on, and until none is left
   and the pool is gone. */
typedef struct tdo_final_owner {
  tdo_pool_t *pool; /* null once it is gone */
  size_t left;      /* then: so many messages; of a free one: the next */
} tdo_final_owner_t;

void tdo_finals_init(tdo_pool_t *pool);
mps_res_t tdo_finalize(mps_arena_t heap, mps_addr_t ref);
mps_res_t tdo_definalize(mps_arena_t heap, mps_addr_t ref);
/* POOL is about to be destroyed: looks at its registrations, not at
   messages. */
void tdo_finals_forget(mps_arena_t heap, tdo_pool_t *pool);
/* The pool of a registration, or message, is gone: its REF is no reference. */
bool tdo_final_gone(mps_arena_t heap, const tdo_message_t *final);
/* FINAL is about to be freed. */
void tdo_final_drop(mps_arena_t heap, const tdo_message_t *final);
/* The exact closure is complete: post and preserve what is dead and
   registered, update the rest. */
void tdo_finals_trace(mps_arena_t heap, tdo_scan_t *scan);
/* Messages not yet discarded are roots. */
void tdo_finals_scan_messages(mps_arena_t heap, tdo_scan_t *scan);

#endif /* TDO_TRACE_FINALIZE_H */
