/* Testudo: does the program let go of what is old?
   SPDX-License-Identifier: BSD-2-Clause

   What dies among old objects has been let go of by a write: mostly to other
   old objects, and where much dies to many, which barriers tell of. Of a write
   to a root none does; and where the same few words are written again and
   again, as the head of a queue, they tell of hardly any.

   So while something is taken to be built (full.h, .build), the words of small
   exact roots, and of the few old pages that may be written to, are looked at
   each time before what is young becomes old. One that referred to something
   old the last time, and refers to something else that is old now, let go of
   that. One that refers to what is young by then, as the end of a list does
   that grows, only follows what the program makes. */
#ifndef TDO_TRACE_TURNOVER_H
#define TDO_TRACE_TURNOVER_H

#include <stddef.h>
#include "mps.h"

enum {
  TDO_TURNOVER_WORDS = 128,      /* that are looked at, of all roots */
  TDO_TURNOVER_BYTES = 64 << 10, /* and of all pages, */
  TDO_TURNOVER_PAGES = 16        /* as many of these at most */
};

/* Words as they were the last time; 0: nothing old. */
typedef struct tdo_turnover {
  mps_word_t root[TDO_TURNOVER_WORDS];
  size_t roots;
  mps_word_t *words; /* of pages, each at its place; or null */
  size_t page[TDO_TURNOVER_PAGES]; /* which those are, and one; 0: none */
  size_t collections; /* full ones, by then: they move what is old */
  size_t changes;     /* of the set of roots, since ever, */
  size_t seen_changes; /* and by then */
} tdo_turnover_t;

/* Threads must be stopped, and no collection in progress. */
void tdo_turnover_look(mps_arena_t heap);
/* Give back what that took. */
void tdo_turnover_forget(mps_arena_t heap);

#endif /* TDO_TRACE_TURNOVER_H */
