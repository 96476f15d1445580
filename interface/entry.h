/* Testudo: what every entry point does first and last.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_INTERFACE_ENTRY_H
#define TDO_INTERFACE_ENTRY_H

#include "code/check.h"
#include "trace/heap.h"

/* A check of a client's argument; without it the function gives up. */
#define ENTRY_REQUIRE(cond, sentence, result)                                 \
  do {                                                                        \
    if (TDO_UNLIKELY(!(cond))) {                                              \
      TDO_ASSERT(false, sentence);                                            \
      return result;                                                          \
    }                                                                         \
  } while (0)

#define ENTRY_ARENA(arena, result)                                            \
  ENTRY_REQUIRE((arena) != NULL && (arena)->sig == TDO_HEAP_SIG,              \
                "not an arena, or one destroyed", result)
#define ENTRY_POOL(pool, result)                                              \
  ENTRY_REQUIRE((pool) != NULL && (pool)->sig == TDO_POOL_SIG,                \
                "not a pool, or one destroyed", result)
#define ENTRY_AP(ap, result)                                                  \
  ENTRY_REQUIRE((ap) != NULL && tdo_ap_of(ap)->sig == TDO_AP_SIG,             \
                "not an allocation point, or one destroyed", result)

/* True if the calling thread is inside ARENA already: it runs a signal handler
   that interrupted the library (interface, section 11.16). What such a thread
   asks for cannot be had now, but it must be told so. */
static inline bool entry_interrupted(mps_arena_t arena) {
  return tdo_lock_entangled(&arena->lock);
}

/* From here on the caller's registers and frames are known, so that the
   collector can scan them. CTX is a local of the entry point itself. */
#define ENTRY_CONTEXT(heap, ctx)                                              \
  do {                                                                        \
    TDO_CONTEXT_SAVE(ctx);                                                    \
    (heap)->context = (ctx);                                                  \
  } while (0)

#endif /* TDO_INTERFACE_ENTRY_H */
