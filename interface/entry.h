/* Testudo: what every entry point does first and last.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_INTERFACE_ENTRY_H
#define TDO_INTERFACE_ENTRY_H

#include "code/check.h"
#include "trace/enter.h"

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

/* Take the lock. A signal handler that interrupted the library, and what the
   library itself called, get RESULT instead (see tdo_heap_try_enter). */
#define ENTRY_ENTER(arena, result)                                            \
  do {                                                                        \
    if (TDO_UNLIKELY(!tdo_heap_try_enter(arena)))                             \
      return result;                                                          \
  } while (0)

/* The same for functions that make no sense in such a handler. */
#define ENTRY_ENTER_OUTSIDE(arena, result)                                    \
  do {                                                                        \
    ENTRY_REQUIRE(!tdo_lock_mine(&(arena)->lock),                             \
                  "this thread is already inside the library (was this "      \
                  "function called from a callback or a signal handler?)",    \
                  result);                                                    \
    tdo_heap_enter(arena);                                                    \
  } while (0)

/* The lock if it can be had, for those who only look; undone by `if (entered)
   tdo_heap_leave`. Where it cannot, another thread may be inside. */
#define ENTRY_LOOK(arena) tdo_heap_try_enter(arena)

/* May rings be gone through? Another thread changes them. */
#define ENTRY_CAN_WALK(arena) tdo_lock_mine(&(arena)->lock)

/* From here on the collector may scan the caller's stack, from HOT: of the
   entry point's TDO_FRAME_RETURN. */
static inline void entry_scannable(tdo_heap_t *heap, void *hot) {
  heap->hot = hot;
  heap->eventful = true;
}

/* BYTES of blocks that do not move are allocated, or about to be: has the
   collector to get a chance? Once in so many bytes: blocks, and the holes for
   them, are small. */
#define ENTRY_POLL ((size_t)4096)

static inline bool entry_poll_due(tdo_heap_t *heap, size_t bytes) {
  heap->unpolled += bytes;
  return heap->unpolled >= ENTRY_POLL || heap->stress.each != 0;
}

#endif /* TDO_INTERFACE_ENTRY_H */
