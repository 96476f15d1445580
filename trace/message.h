/* Testudo: messages to the client (interface, sections 2.19-2.21).
   SPDX-License-Identifier: BSD-2-Clause

   Invariants:
   .first  the first message of each type in the queue is known; it only goes
           on, so each message is passed at most once for each other type,
           however many of one are never got.
   .settled the objects that messages of finalization tell of, from the first to
           the one that is noted, are in no generation that a minor collection
           condemns: there may be many that nobody gets. */
#ifndef TDO_TRACE_MESSAGE_H
#define TDO_TRACE_MESSAGE_H

#include "code/base.h"
#include "code/ring.h"

typedef struct mps_message_s tdo_message_t;

enum {
  TDO_MESSAGE_FINALIZATION,
  TDO_MESSAGE_GC,
  TDO_MESSAGE_GC_START,
  TDO_MESSAGE_TYPES
};

/* One of finalization is there from the object's registration on: there may be
   as many as objects, so these have nothing from `clock` on. */
struct mps_message_s {
  tdo_sig_t sig;
  unsigned type : 2;
  unsigned queued : 1;
  unsigned more : 1;   /* the next in its list is one more registration of the
                          object (finalize.c) */
  unsigned owner : 28; /* finalization: the number of the object's pool */
  tdo_ring_t ring;     /* in the queue, among the retrieved, or in a list of
                          registrations */
  mps_addr_t ref;      /* finalization: the object, counted in its pool's
                          `finals`, and kept alive once queued */
  mps_clock_t clock;
  size_t live, condemned, not_condemned;
  const char *why;
};

#define TDO_MESSAGE_SIG ((tdo_sig_t)0x519E55A6) /* MESSAGE */

typedef struct tdo_messages {
  bool enabled[TDO_MESSAGE_TYPES];
  tdo_ring_t queue, retrieved;
  size_t queued[TDO_MESSAGE_TYPES]; /* in the queue */
  tdo_message_t *first[TDO_MESSAGE_TYPES]; /* of those; null: none */
  tdo_message_t *settled; /* .settled; null: not even of the first */
  /* Secured before they are needed; null: none to be had. */
  tdo_message_t *start, *end;
} tdo_messages_t;

void tdo_messages_init(tdo_messages_t *m);
/* Secure the two messages of a collection, if their types are enabled; false
   if there is no memory for both (then neither will be posted). */
bool tdo_messages_secure(mps_arena_t heap);
mps_res_t tdo_message_alloc(tdo_message_t **message_o, mps_arena_t heap,
                            mps_message_type_t type);
void tdo_message_free(mps_arena_t heap, tdo_message_t *message);
/* Queue MESSAGE, or free it if its type is disabled. */
void tdo_message_post(mps_arena_t heap, tdo_message_t *message);
void tdo_message_enable(mps_arena_t heap, mps_message_type_t type, bool on);
/* The first message (of TYPE); null if none. Get takes it from the queue. */
tdo_message_t *tdo_message_first(mps_arena_t heap);
tdo_message_t *tdo_message_get(mps_arena_t heap, mps_message_type_t type);
void tdo_message_discard(mps_arena_t heap, tdo_message_t *message);

#endif /* TDO_TRACE_MESSAGE_H */
