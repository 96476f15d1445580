/* Testudo: every arena of the process.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_HEAPS_H
#define TDO_TRACE_HEAPS_H

#include "trace/heap.h"

/* The global lock, which a fork has, too. Whoever has it keeps the client's
   handlers away: one that forked would have to wait for all arenas, and a
   thread inside one of them may wait for that lock. Release gets what claim
   returned. */
bool tdo_heaps_claim(void);
void tdo_heaps_release(bool quiet);

/* MPS_RES_LIMIT if there are too many. */
mps_res_t tdo_heaps_add(tdo_heap_t *heap);
/* When it returns nobody looks at HEAP any more who came across it in one of
   the functions below. */
void tdo_heaps_remove(tdo_heap_t *heap);

/* These take no lock; handlers of signals may call them. */
size_t tdo_heaps_count(void);
/* The arena whose addresses ADDR is one of, or null. */
tdo_heap_t *tdo_heaps_find(const void *addr);
/* Is this thread inside an arena? */
bool tdo_heaps_inside(void);
/* Take the lock of HEAP, which another thread has. False where this one is
   inside an arena, which that one may wait for. */
bool tdo_heaps_wait(tdo_heap_t *heap);
/* From begin to end, which gets what that returned, none of those that VISIT
   is run for goes; both nest. */
size_t tdo_heaps_begin(void);
void tdo_heaps_end(size_t begun);
/* Run VISIT for every arena. */
void tdo_heaps_each(void (*visit)(tdo_heap_t *heap));

/* Nobody is looking in the child (code/readers.h). */
void tdo_heaps_after_fork_in_child(void);

#endif /* TDO_TRACE_HEAPS_H */
