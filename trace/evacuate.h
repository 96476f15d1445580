/* Testudo: which old segments move in a full collection. Numbers only: pools
   tell what they find.
   SPDX-License-Identifier: BSD-2-Clause

   A full collection leaves old segments where they are, but those that the
   last one found sparse: what lives in these moves together, and they go. But
   memory that runs out half-way leaves segments that are half empty and do not
   go, and the room that was left is used up. So where memory is short only the
   sparsest move, no more than there is room for: what they leave is the room
   of the next time. (Detlefs, Flood, Heller, Printezis: Garbage-first garbage
   collection, ISMM 2004, chooses regions in such a way.) */
#ifndef TDO_TRACE_EVACUATE_H
#define TDO_TRACE_EVACUATE_H

#include <stdbool.h>
#include <stddef.h>

#define TDO_EVACUATE_BANDS 60 /* of 1/64 each; what is denser always stays */

typedef struct tdo_evacuate {
  /* Bytes that live in segments of each band, by the share that does, and how
     many such segments there are. */
  double live[TDO_EVACUATE_BANDS];
  double count[TDO_EVACUATE_BANDS];
  double least; /* the least share that was found; 1: none */
} tdo_evacuate_t;

/* A full collection begins: forget what the last one found. */
void tdo_evacuate_begin(tdo_evacuate_t *evacuate);

/* It left a segment of SIZE bytes where it is, filled or not, of which LIVE
   do. */
void tdo_evacuate_found(tdo_evacuate_t *evacuate, size_t live, size_t size);

/* The share of live bytes from which on segments stay where they are in the
   next one, if ROOM bytes can be copied, of MOST that memory has at all: 0.75,
   or less, but more where memory is short. Of those of the next band a part can
   be moved, in which so many bytes live: in a heap in which every other
   object died all segments may be of one band. */
double tdo_evacuate_share(const tdo_evacuate_t *evacuate, double room,
                          double most, double *part_o);

/* Is a segment of which LIVE of SIZE bytes do to be moved, but for *PART_IO,
   if segments stay from SHARE on? Takes its bytes off, then. */
bool tdo_evacuate_take(double *part_io, double share, size_t live,
                       size_t size);

#endif /* TDO_TRACE_EVACUATE_H */
