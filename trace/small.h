/* Testudo: small heaps are collected as a whole. Numbers only: policy.c
   gathers them. SPDX-License-Identifier: BSD-2-Clause

   .whole  What survives a small nursery has mostly had no time to die. It dies
   among the old, where only a full collection finds it: a heap with 200 KiB of
   live objects grew to several megabytes of dead ones. To copy all that lives
   costs such a heap little more than a minor collection, no page needs a bar,
   and the memory is what lives, twice, and a nursery.

   .growth  What is old beside the nursery is copied again when it has grown to
   half as much more than survived the last time: until then little can have
   died. Where nearly all survived, a heap is being built, and may grow
   threefold.

   .loose  A full collection leaves most of what lives where it is, and the
   room between, which is of no use and makes what minor collections scan lie
   on more pages. Where that is most of a heap, what lives is soon copied. */
#ifndef TDO_TRACE_SMALL_H
#define TDO_TRACE_SMALL_H

#include <stdbool.h>

typedef struct tdo_small {
  double most; /* .growth: old bytes until the next collection of everything */
  double room; /* .loose: bytes to be rid of; 0: not worth it */
} tdo_small_t;

/* Is the next collection to be of everything, where OLD bytes are beyond a
   nursery of CAPACITY and pauses may last PAUSE seconds? */
bool tdo_small_due(const tdo_small_t *small, double old, double capacity,
                   double pause);

/* It was, and of OLD bytes beyond the nursery so many survived. */
void tdo_small_collected(tdo_small_t *small, double old, double survived);

/* A full collection that left in place what it could has left a heap of SIZE
   bytes, of which so many survived it. */
void tdo_small_marked(tdo_small_t *small, double size, double survived);

#endif /* TDO_TRACE_SMALL_H */
