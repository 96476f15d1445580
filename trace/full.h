/* Testudo: when a full collection is due. Numbers only: policy.c gathers them.
   SPDX-License-Identifier: BSD-2-Clause

   .build  A program that builds something, or loads it, gains nothing from
   full collections, which find it all alive. It is taken to go on building
   while

     nearly all that the last full collection looked at survived, that was no
     small heap, and the collection of everything before had not found much of
     it dead: now and then all that there is lives by chance, and

     what was old then is not written to, but for few pages: what dies among
     old objects has mostly been let go of by a write to another one, and

     roots are little beside what survived: writes to them are not seen, and
     large ones are tables that may hold all of it.

   The heap may grow further meanwhile; not far, since what only roots referred
   to, as the first object of a queue, dies without a write. When writes begin,
   what was built until then counts as found alive.

   .let_go  When a few words are seen to let go of old objects now and again
   (turnover.h), .build has ended, too, but nothing more counts as alive. If
   the full collection after that finds all alive, they may do so twice as often
   the next time, before it is believed.

   .ended  If something was built by then, the program has now begun with what
   it built that for. Mostly as much lives from here on, and the rest is dead:
   so the heap grows no further than by that much (or hardly, where most of it
   was built), and the next full collection does well to copy (small.h,
   .instead).

   .room  After a full collection the heap has more than what survived: what
   came meanwhile, and the room between old objects that stayed where they are,
   which is of no use before they move. If all of that counted, what the heap
   may grow by would itself grow with each collection, and never stop.

   .paid  When .build has ended, nobody knows how much of it lives. Where minor
   collections have taken as long as a full one would, it is time to look.

   .easy  Where the last full collection has been over for many times as long as
   another would take, that comes before the heap has grown by as much as lives:
   in a program that makes little beside what else it does, or large objects, of
   which collections look at tables only. That most is alive then tells nothing.
   Where next to none of what was promoted had died, the next one waits twice as
   long.

   .cheap  Where little lives, and minor collections have roots and old objects
   to scan that are as much, a full collection is worth it for much less. */
#ifndef TDO_TRACE_FULL_H
#define TDO_TRACE_FULL_H

#include <stdbool.h>
#include <stddef.h>

#define TDO_FULL_LEAST ((double)(24 << 20)) /* bytes promoted for one that is
                                              neither the first nor .cheap */

typedef struct tdo_full {
  double growth;      /* of the heap that makes one due */
  double survivors;   /* bytes that counted as alive after the last one */
  double filled, scanned; /* what it looked at, and of that found alive */
  double minor; /* bytes that minor collections scan, the last ones mostly */
  double ns;    /* .paid: what a byte took that it looked at, */
  double spent; /* and what minor ones have taken since */
  double asked;       /* .easy: bytes promoted when that was asked last; */
  bool early;         /* one began for that; */
  unsigned in_vain;   /* those in a row that found next to nothing */
  bool building;      /* .build holds since then; */
  double build_most;  /* bytes that may be promoted while it does, and */
  double built;       /* bytes that were when it ended */
  size_t writes;      /* to old objects, by then, and how many more may be */
  double writes_most; /* while .build holds, before anything is promoted */
  size_t let_go;      /* how often words did, while .build held, */
  size_t let_go_most; /* and may */
} tdo_full_t;

/* What a full collection found, in bytes. */
typedef struct tdo_full_facts {
  double filled;    /* condemned, without room that was never used */
  double survived;  /* of that */
  double scanned;
  double size;      /* of the heap, afterwards */
  double rooted;    /* in roots */
  size_t writes;    /* as in tdo_full_grown */
  double ns;        /* that it took */
  bool sparse;      /* the collection of everything before, of a small heap or
                       not, had found much dead */
  bool late;        /* this one began as the last was long ago: that all lives
                       does not tell that something is built */
} tdo_full_facts_t;

/* Has the heap grown enough for a full collection, now that FRESH bytes were
   promoted since the last one? WRITES counts writes to old objects, as far as
   barriers were hit or pages found written; SIZE_MAX where nobody knows. */
bool tdo_full_grown(tdo_full_t *full, double fresh, size_t writes);

/* .easy: for how many ns must the last one be over for one to be due, now that
   FRESH bytes were promoted? INFINITY where that is not the question, or
   nothing was promoted since it was asked last: to answer it takes a look at
   the clock. */
double tdo_full_wait(tdo_full_t *full, double fresh);
/* One begins, since it is. */
void tdo_full_begin_early(tdo_full_t *full);

/* .ended: bytes that are taken to live; 0 where nothing was built, or it still
   is. */
double tdo_full_ended(const tdo_full_t *full);

/* .let_go: words were seen to, once more. */
void tdo_full_let_go(tdo_full_t *full);

/* A minor collection scanned so many bytes, and took NS. */
void tdo_full_minor(tdo_full_t *full, double scanned, double ns);

/* One is over. True if .build holds: then tdo_full_build tells how much memory
   the system has left. */
bool tdo_full_collected(tdo_full_t *full, const tdo_full_facts_t *facts);
void tdo_full_build(tdo_full_t *full, double available);

#endif /* TDO_TRACE_FULL_H */
