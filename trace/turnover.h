/* Testudo: do roots let go of what is old?

   What dies among old objects has mostly been let go of by a write to another
   one, which barriers tell of. A root may do it, too, and no barrier tells: the
   head of a queue, say. So while something is taken to be built (full.h,
   .build), the words of small exact roots are looked at each time before what
   is young becomes old. One that referred to something old the last time, and
   refers to something else that is old now, let go of that. One that refers to
   what is young by then, as the end of a list does that grows, only follows
   what the program makes. */
#ifndef TDO_TRACE_TURNOVER_H
#define TDO_TRACE_TURNOVER_H

#include <stddef.h>
#include "mps.h"

#define TDO_TURNOVER_WORDS 128 /* that are looked at, of all roots */

typedef struct tdo_turnover {
  mps_word_t seen[TDO_TURNOVER_WORDS]; /* the last time; 0: nothing old */
  size_t count;
  size_t collections; /* full ones, by then: they move what is old */
  size_t changes;     /* of the set of roots, since ever, */
  size_t seen_changes; /* and by then */
} tdo_turnover_t;

/* Threads must be stopped, and no collection in progress. */
void tdo_turnover_look(mps_arena_t heap);

#endif /* TDO_TRACE_TURNOVER_H */
