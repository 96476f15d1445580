/* Testudo: entry points for messages, finalization and location dependencies
   (interface, sections 2.18-2.21).
   SPDX-License-Identifier: BSD-2-Clause */
#include "interface/entry.h"
#include "trace/hit.h"

static bool type_known(mps_message_type_t type) {
  return type < TDO_MESSAGE_TYPES;
}

#define ENTRY_TYPE(type, result)                                              \
  ENTRY_REQUIRE(type_known(type), "not a message type", result)
#define ENTRY_MESSAGE(message, result)                                        \
  ENTRY_REQUIRE((message) != NULL && (message)->sig == TDO_MESSAGE_SIG,       \
                "not a message, or one discarded", result)

void mps_message_type_enable(mps_arena_t arena, mps_message_type_t type) {
  ENTRY_ARENA(arena, );
  ENTRY_TYPE(type, );
  ENTRY_ENTER_OUTSIDE(arena, );
  tdo_message_enable(arena, type, true);
  tdo_heap_leave(arena);
}

void mps_message_type_disable(mps_arena_t arena, mps_message_type_t type) {
  ENTRY_ARENA(arena, );
  ENTRY_TYPE(type, );
  ENTRY_ENTER_OUTSIDE(arena, );
  tdo_message_enable(arena, type, false);
  tdo_heap_leave(arena);
}

mps_bool_t mps_message_poll(mps_arena_t arena) {
  bool found;

  ENTRY_ARENA(arena, 0);
  ENTRY_ENTER(arena, 0);
  found = tdo_message_first(arena) != NULL;
  tdo_heap_leave(arena);
  return found;
}

mps_bool_t mps_message_queue_type(mps_message_type_t *type_o,
                                  mps_arena_t arena) {
  mps_message_type_t type = 0;
  tdo_message_t *m;

  ENTRY_ARENA(arena, 0);
  ENTRY_REQUIRE(type_o != NULL, "no place for the type", 0);
  ENTRY_ENTER(arena, 0);
  m = tdo_message_first(arena);
  if (m != NULL)
    type = m->type;
  tdo_heap_leave(arena);
  if (m == NULL)
    return 0;
  *type_o = type;
  return 1;
}

mps_bool_t mps_message_get(mps_message_t *message_o, mps_arena_t arena,
                           mps_message_type_t type) {
  tdo_message_t *m;

  ENTRY_ARENA(arena, 0);
  ENTRY_TYPE(type, 0);
  ENTRY_REQUIRE(message_o != NULL, "no place for the message", 0);
  ENTRY_ENTER(arena, 0);
  m = tdo_message_get(arena, type);
  tdo_heap_leave(arena);
  if (m == NULL)
    return 0;
  *message_o = m;
  return 1;
}

void mps_message_discard(mps_arena_t arena, mps_message_t message) {
  ENTRY_ARENA(arena, );
  ENTRY_MESSAGE(message, );
  ENTRY_ENTER(arena, );
  tdo_message_discard(arena, message);
  tdo_heap_leave(arena);
}

mps_message_type_t mps_message_type(mps_arena_t arena,
                                    mps_message_t message) {
  ENTRY_ARENA(arena, 0);
  ENTRY_MESSAGE(message, 0);
  return message->type;
}

mps_clock_t mps_message_clock(mps_arena_t arena, mps_message_t message) {
  ENTRY_ARENA(arena, 0);
  ENTRY_MESSAGE(message, 0);
  return message->type == TDO_MESSAGE_FINALIZATION ? 0 : message->clock;
}

#define GC_FIELD(name, field)                                                 \
  size_t name(mps_arena_t arena, mps_message_t message) {                     \
    ENTRY_ARENA(arena, 0);                                                    \
    ENTRY_MESSAGE(message, 0);                                                \
    ENTRY_REQUIRE(message->type == TDO_MESSAGE_GC,                            \
                  "not a message about a collection", 0);                     \
    return message->field;                                                    \
  }

GC_FIELD(mps_message_gc_live_size, live)
GC_FIELD(mps_message_gc_condemned_size, condemned)
GC_FIELD(mps_message_gc_not_condemned_size, not_condemned)

const char *mps_message_gc_start_why(mps_arena_t arena,
                                     mps_message_t message) {
  ENTRY_ARENA(arena, "");
  ENTRY_MESSAGE(message, "");
  ENTRY_REQUIRE(message->type == TDO_MESSAGE_GC_START,
                "not a message about a collection's start", "");
  return message->why;
}

void mps_message_finalization_ref(mps_addr_t *ref_o, mps_arena_t arena,
                                  mps_message_t message) {
  ENTRY_ARENA(arena, );
  ENTRY_MESSAGE(message, );
  ENTRY_REQUIRE(ref_o != NULL, "no place for the reference", );
  ENTRY_REQUIRE(message->type == TDO_MESSAGE_FINALIZATION,
                "not a finalization message", );
  ENTRY_ENTER_OUTSIDE(arena, );
  tdo_heap_poke(arena, ref_o, message->ref);
  tdo_heap_leave(arena);
}

mps_res_t mps_finalize(mps_arena_t arena, mps_addr_t *ref_p) {
  mps_res_t res;

  ENTRY_ARENA(arena, MPS_RES_PARAM);
  ENTRY_REQUIRE(ref_p != NULL, "no reference to finalize", MPS_RES_PARAM);
  ENTRY_ENTER(arena, MPS_RES_FAIL);
  res = tdo_finalize(arena, tdo_heap_peek(arena, ref_p));
  tdo_heap_leave(arena);
  return res;
}

mps_res_t mps_definalize(mps_arena_t arena, mps_addr_t *ref_p) {
  mps_res_t res;

  ENTRY_ARENA(arena, MPS_RES_PARAM);
  ENTRY_REQUIRE(ref_p != NULL, "no reference to definalize", MPS_RES_PARAM);
  ENTRY_ENTER(arena, MPS_RES_FAIL);
  res = tdo_definalize(arena, tdo_heap_peek(arena, ref_p));
  tdo_heap_leave(arena);
  return res;
}

#define ENTRY_LD(ld, result)                                                  \
  ENTRY_REQUIRE((ld) != NULL, "not a location dependency", result)

void mps_ld_reset(mps_ld_t ld, mps_arena_t arena) {
  ENTRY_ARENA(arena, );
  ENTRY_LD(ld, );
  /* Written without the lock, which a fault on LD's page needs. */
  tdo_ld_reset(ld, arena);
}

void mps_ld_add(mps_ld_t ld, mps_arena_t arena, mps_addr_t addr) {
  ENTRY_ARENA(arena, );
  ENTRY_LD(ld, );
  tdo_ld_add(ld, arena, addr);
}

void mps_ld_merge(mps_ld_t dest, mps_arena_t arena, mps_ld_t src) {
  ENTRY_ARENA(arena, );
  ENTRY_LD(dest, );
  ENTRY_LD(src, );
  tdo_ld_merge(dest, arena, src);
}

mps_bool_t mps_ld_isstale_any(mps_ld_t ld, mps_arena_t arena) {
  ENTRY_ARENA(arena, 1);
  ENTRY_LD(ld, 1);
  return tdo_ld_isstale_any(ld, arena);
}

mps_bool_t mps_ld_isstale(mps_ld_t ld, mps_arena_t arena, mps_addr_t addr) {
  ENTRY_ARENA(arena, 1);
  ENTRY_LD(ld, 1);
  (void)addr; /* it may be the old or the new address: see trace/ld.h */
  return tdo_ld_isstale_any(ld, arena);
}
