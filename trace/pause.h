/* Testudo: how long the collector may keep the program waiting, and when work
   must end that is done meanwhile (manual, "Tuning").
   SPDX-License-Identifier: BSD-2-Clause

   .weak  While a collection goes on in slices, to read a weak table makes it a
   strong one: what only dead entries refer to stays, and each such hit takes
   more than the rest of a small heap would. So where there are weak tables,
   what takes no longer than a few milliseconds is done at once, even if the
   pause time is shorter. Slices are tried from time to time: maybe no table is
   read meanwhile.

   .close  Pauses that follow close on each other count as one. What they use up
   of the pause time comes back as the program runs.

   .late  So a program that allocates fast could get many times the heap while
   one is collected, in slices too short to keep up. They are longer the more it
   got. */
#ifndef TDO_TRACE_PAUSE_H
#define TDO_TRACE_PAUSE_H

#include "trace/heap.h"

/* Pauses are to last SECONDS at most, from now on. */
void tdo_pause_set_time(tdo_heap_t *heap, double seconds);
/* The pause time, of a second if it is longer: to plan by. In ns. */
double tdo_pause_ns(const tdo_heap_t *heap);

/* Does .weak hold? Bytes that are collected at once, without slices; seconds
   that what is in a nursery may take. */
bool tdo_pause_weak(const tdo_heap_t *heap);
double tdo_pause_once(const tdo_heap_t *heap);
double tdo_pause_young(const tdo_heap_t *heap);
/* When what .weak has done at once must end, if there is more than was thought
   (ns). */
uint64_t tdo_pause_weak_deadline(void);
/* There will be weak tables; one was read in mid-collection; a collection has
   ended. */
void tdo_pause_weak_comes(tdo_heap_t *heap);
void tdo_pause_weak_met(tdo_heap_t *heap);
void tdo_pause_collected(tdo_heap_t *heap);

/* When the pause that there is, or that begins now, must end (ns); 0: whenever
   its work is done. */
uint64_t tdo_pause_deadline(const tdo_heap_t *heap);
/* The same for a slice of a collection during which the program got LATE times
   what it should (.late). */
uint64_t tdo_pause_late_deadline(const tdo_heap_t *heap, double late);
/* As tdo_pause_deadline, less what it takes to close what the first slice of
   the collection in progress does not get to. */
uint64_t tdo_pause_first_deadline(const tdo_heap_t *heap);
/* May collections run in slices: if barriers can keep the mutator out. */
bool tdo_pause_slices(const tdo_heap_t *heap);
/* Nanoseconds that a slice should take at least, which begins with opening what
   is scanned, and ends with closing it. */
double tdo_pause_slice_ns(const tdo_heap_t *heap);
/* How many of BYTES may be promoted as they are in this pause; 0: too little is
   left to stop for. */
size_t tdo_pause_promotes(const tdo_heap_t *heap, double bytes);
/* Is enough left for the flip of a large heap? When a part of what comes before
   must end. */
bool tdo_pause_has_flip(const tdo_heap_t *heap);
uint64_t tdo_pause_ahead_deadline(const tdo_heap_t *heap);
/* When the flip in progress leaves what it can (scan.h, .hurried; what written
   pages refer to); 0: it does all. */
uint64_t tdo_pause_flip_deadline(const tdo_heap_t *heap);

/* There was a pause from BEGUN to ENDED (ns). */
void tdo_pause_over(tdo_heap_t *heap, uint64_t begun, uint64_t ended);
/* Let the shield open as much at once as the pause time allows. */
void tdo_pause_set_reach(tdo_heap_t *heap);

#endif /* TDO_TRACE_PAUSE_H */
