/* Testudo: small heaps are collected as a whole. Numbers only: policy.c
   gathers them. SPDX-License-Identifier: BSD-2-Clause

   .whole  What survives a small nursery has mostly had no time to die. It dies
   among the old, where only a full collection finds it: a heap with 200 KiB of
   live objects grew to several megabytes of dead ones. To copy all that lives
   costs such a heap little more than a minor collection, no page needs a bar,
   and the memory is what lives, twice, and a nursery.

   .growth  What is old beside the nursery is copied again when it has grown to
   half as much more than survived the last time: until then little can have
   died, unless the last one took hardly longer than a minor one. Where nearly
   all survived, a heap is being built, and may grow threefold.

   .loose  A full collection leaves most of what lives where it is, and the
   room between, which is of no use and makes what minor collections scan lie
   on more pages. Where that is most of a heap, what lives is soon copied.

   .alike  Where much survives a minor collection, or it has many pages to scan,
   to copy a few times as much is no more work: copying goes through new memory
   in order. So a larger heap is small as well, if what is old dies. What lives
   is then taken to be a quarter more than the last time, not all that is old.

   .weak  Where weak tables may be read in mid-collection (pause.h), minor
   collections fill the old generation with what only dead entries refer to. So
   each one is of everything if a pause is long enough for that, by what lived
   the last time if some of what is old dies.

   .instead  A full collection that is due anyway takes less time by copying
   than by marking in place, where what is old dies: what is copied lies in the
   order in which the next one finds it, while objects in place lie where there
   was room when they were made. It goes on in slices if that is more than a
   pause is long enough for. The first one knows only where a heap was built
   before it (full.h, .ended). Else it is soon followed by another if it left
   much room.

   .flip  But what roots refer to is copied in the flip, and left where it is
   when half of the pause time is over (scan.h, .hurried). Where that would be
   most of it, to mark is less work: so none begins whose flip would take longer
   than a pause. That goes by the shorter of the last two that left nothing, for
   the system may be in the way of one; or at first by that of a collection that
   marked. */
#ifndef TDO_TRACE_SMALL_H
#define TDO_TRACE_SMALL_H

#include <stdbool.h>

typedef struct tdo_small {
  double most; /* .growth: old bytes until the next collection of everything */
  double room; /* .loose: bytes to be rid of; 0: not worth it */
  bool sparse; /* the last collection of everything found some of it dead, */
  bool loose;  /* and left so much room that the next one comes soon */
  double flip; /* .flip: seconds that one takes, for each byte that lives; */
  double last; /* that the last one took in which something was copied, or 0 */
} tdo_small_t;

/* Bytes, but for the pause time (seconds). */
typedef struct tdo_small_facts {
  double old;     /* beyond the nursery that is full */
  double nursery; /* its capacity, */
  double young;   /* and what is in it: more, after a collection in slices */
  double minor;   /* that minor collections look at, lately */
  double alive;   /* that survived the last collection of everything, */
  double built;   /* or with what was built since, if that has ended; or 0 */
  double most;    /* that a small heap has (TESTUDO_SMALL) */
  double pause;
  double once; /* that need no slices */
  bool quick; /* the last one was hardly longer than a minor one (worth.h) */
  bool weak;  /* .weak of pause.h holds */
} tdo_small_facts_t;

/* The nursery is full: is the next collection to be of everything? */
bool tdo_small_due(const tdo_small_t *small, const tdo_small_facts_t *facts);
/* A full collection is due: is it to copy everything? */
bool tdo_small_instead(const tdo_small_t *small,
                       const tdo_small_facts_t *facts);
/* Is one due already, if it would do that: FRESH bytes came since the last,
   which ALIVE bytes survived? */
bool tdo_small_soon(const tdo_small_t *small, double alive, double fresh);
/* Is a pause long enough for a collection of everything? For sure, unless .weak
   has it estimated. */
bool tdo_small_at_once(const tdo_small_t *small,
                       const tdo_small_facts_t *facts);

/* The flip of a collection of everything took SECONDS, and left nothing of what
   it had to copy; ALIVE bytes survived, and most were COPIED, or marked in
   place. */
void tdo_small_flipped(tdo_small_t *small, double seconds, double alive,
                       bool copied);

/* It was, and of OLD bytes beyond the nursery so many survived. */
void tdo_small_collected(tdo_small_t *small, double old, double survived);

/* A full collection that left in place what it could has left a heap of SIZE
   bytes beside what was made meanwhile, of which so many survived it. */
void tdo_small_marked(tdo_small_t *small, double size, double survived);

#endif /* TDO_TRACE_SMALL_H */
