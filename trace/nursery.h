/* Testudo: how large generations are, above all those of the arena's own chain.
   Numbers only: capacity.c and learn.c gather them.
   SPDX-License-Identifier: BSD-2-Clause

   .adapt  Most of what a minor collection costs (roots, written pages) does not
   grow with the nursery, so this grows while collecting takes more than its
   share of the time, and shrinks, for the caches' sake, when that is next to
   nothing. A small one is doubled on trial: where it is each object that costs
   (such as those to be finalized), a larger nursery saves nothing, and is
   memory for nothing. If another share survives than before, the program does
   something else now, or more time to die made a difference: then nothing is
   compared. No small one is larger than the heap, of whose memory it would be
   most; and what each collection scans besides, since it is a root, counts as
   heap: else a small heap beside large roots would scan them for every few
   bytes.

   .beside  What a collection scans besides what moves on is the price of making
   it at all. A nursery for which that is many times its size would have the
   program scan old pages most of the time, so it has a part of that, but no
   more than a small part of the heap.

   .sample  That nearly all of a nursery survived tells that what is made lives
   on only where it is a fair part of the heap. Of a few large objects that live
   for a while it tells nothing: what is promoted as it is then is garbage soon.
*/
#ifndef TDO_TRACE_NURSERY_H
#define TDO_TRACE_NURSERY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tdo_nursery {
  unsigned runs;  /* collections in a row that took too long for a small one */
  double ns, bytes, survived; /* what collecting nurseries of this size took,
                     and of which so much survived, */
  unsigned seen;    /* of so many; */
  double from;      /* bytes that it had before it was doubled on trial, */
  double before, share; /* ns a byte, and surviving share, before that; or 0 */
  unsigned hold, hold_next; /* collections for which it does not grow, since
                     that did not pay: from now, and after the next trial */
} tdo_nursery_t;

/* What bounds the sizes. */
typedef struct tdo_nursery_facts {
  double heap, old;    /* bytes in automatic pools, and beyond their chains */
  double rooted;       /* bytes that each collection scans besides */
  double stayed;       /* of what is in the generation after the nursery, those
                          that are there for good; */
  bool unused;         /* and nothing is made in the nursery */
  double copied;       /* by the last collection, of a small heap; else 0 */
  double pause_time;   /* seconds */
  double commit_limit; /* bytes */
  double least;        /* bytes, of any nursery */
} tdo_nursery_facts_t;

/* What a collection found, in bytes. */
typedef struct tdo_nursery_found {
  double condemned, survived, scanned;
  double most; /* that the nursery may have */
} tdo_nursery_found_t;

/* The least that the nursery has, and the most that it may have. */
double tdo_nursery_least(const tdo_nursery_facts_t *facts);
double tdo_nursery_most(const tdo_nursery_facts_t *facts);

/* The capacities that the nursery and the generation after it had better have,
   and what they may have. What stays in the latter is collected each time: as
   much is to be made first as there is of that. */
void tdo_nursery_sizes(double *nursery_io, double *middle_io,
                       const tdo_nursery_facts_t *facts);

/* What a nursery may have where each collection scans BYTES besides what moves
   on (.beside); bytes that may be made before what STAYED is looked at
   again. */
double tdo_nursery_beside(const tdo_nursery_facts_t *facts, double bytes);
double tdo_nursery_again(const tdo_nursery_facts_t *facts, double stayed);

/* The generation after the nursery, of CAPACITY, was collected: what it had
   better have. */
double tdo_nursery_middle(double capacity, double condemned, double survived);

/* To collect BYTES of nursery, and nothing else, took so long, and so much
   survived. */
void tdo_nursery_note(tdo_nursery_t *nursery, double ns, double bytes,
                      double survived);

/* A collection is over: what a nursery of CAPACITY had better have, where
   collections take SHARE of the time. */
double tdo_nursery_adapt(tdo_nursery_t *nursery, double capacity, double share,
                         const tdo_nursery_found_t *found);

#endif /* TDO_TRACE_NURSERY_H */
