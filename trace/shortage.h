/* Testudo: when memory is short: what a commit limit, or client memory, leaves
   room for, and what is done when it ran out.
   SPDX-License-Identifier: BSD-2-Clause

   .room  A collection that copies needs room before it gives any back, and one
   that runs out of it half-way has used up what there was: what it began to
   empty is not empty. So where memory has a limit, a full collection moves no
   more than there is room for (evacuate.h), comes so early that there is some,
   and waits for no pause time; and what is young is promoted as it is rather
   than copied into nothing. */
#ifndef TDO_TRACE_SHORTAGE_H
#define TDO_TRACE_SHORTAGE_H

#include "trace/heap.h"

/* Has memory a limit at all? Else nothing here is ever true. */
bool tdo_shortage_possible(const tdo_heap_t *heap);

/* Bytes of old objects that a full collection has room to copy, however much
   of what is young survives it; infinite without a limit. */
double tdo_shortage_room(const tdo_heap_t *heap);

/* The share of live bytes from which on old segments stay in a full collection,
   and what of the next ones may move (evacuate.h). */
double tdo_shortage_share(const tdo_heap_t *heap, double *part_o);

/* May what survives of what is young not fit beside it? Is that near, or can
   little of what is old be moved? */
bool tdo_shortage_crammed(const tdo_heap_t *heap);
bool tdo_shortage_near(const tdo_heap_t *heap);

/* Is there room to copy all of CHAIN? */
bool tdo_shortage_fits(const tdo_heap_t *heap, const tdo_chain_t *chain);

/* Is there no room to copy what lives, old and young: of a heap so small that
   this was done the last time; of any? */
bool tdo_shortage_small(const tdo_heap_t *heap);
bool tdo_shortage_all(const tdo_heap_t *heap);

/* Bytes that the mutator does not get in pools that move, so that there is some
   room for moving. */
size_t tdo_shortage_withheld(const tdo_heap_t *heap);
/* The commit limit was raised, before which there was ROOM: all that it was
   raised by may be had. */
void tdo_shortage_raised(tdo_heap_t *heap, size_t room);
/* What is withheld of a request that would fail otherwise, before which there
   was ROOM: as much as collections made for it may be had. */
size_t tdo_shortage_kept(tdo_heap_t *heap, size_t room);

/* What is young becomes old as it is, if there may be no room to copy it: the
   full collection that is to begin marks it in place, and tells what is
   sparse. */
void tdo_shortage_promote(tdo_heap_t *heap);

/* Is it time for a full collection, for want of room? */
bool tdo_shortage_full_due(const tdo_heap_t *heap);

/* Bytes that the mutator may get while a full collection runs, which otherwise
   were ROOM; more than 0 where nothing is crammed. */
double tdo_shortage_pace(const tdo_heap_t *heap, double room);

/* A request for memory ended with RES: if memory ran out, take what pools keep
   free; then collect, if the client allows, in the end everything. True if it
   is worth trying again; *ATTEMPT_IO begins at 0 for each request, and ends a
   loop of attempts. */
bool tdo_shortage_collect(tdo_heap_t *heap, mps_res_t res,
                          unsigned *attempt_io);

/* tdo_ap_fill, and what is to be done if memory ran out: collections. What is
   withheld then gives way to a request that leaves as much room as there was
   before. */
mps_res_t tdo_shortage_fill(mps_addr_t *p_o, tdo_ap_t *ap, size_t size);

#endif /* TDO_TRACE_SHORTAGE_H */
