/* Testudo: promoting a chain's generations as they are, where they lie: for
   times in which nearly everything survives, so that a minor collection would
   copy all and find nothing. To put up the write bars of much takes longer than
   a pause may last, so it is done in parts: the oldest segments first, until
   nothing is left in the chain. Only then no page with a bar refers to anything
   young, and no collection may begin before. What the mutator takes meanwhile
   is promoted, too.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_TENURE_H
#define TDO_TRACE_TENURE_H

#include "trace/gen.h"

#define TDO_TENURE_OPENS 16

typedef struct tdo_tenure {
  size_t chains;      /* that are promoted as they are */
  tdo_chain_t *chain; /* one of which only a part was yet, or null */
  char *open[TDO_TENURE_OPENS]; /* segments promoted with points in them */
  size_t opens;
} tdo_tenure_t;

/* Promote what moves in CHAIN's generations to the top as it is, in no time; at
   most MOST bytes or one segment more. Its bytes. If that is not all,
   heap->tenure.chain is CHAIN from then on; until the rest was promoted, by
   further calls, the summaries of pages with bars do not name the chain. No
   collection is in progress. */
size_t tdo_tenure(mps_arena_t heap, tdo_chain_t *chain, size_t most);
/* The same with all chains. */
void tdo_tenure_all(mps_arena_t heap);
/* The rest of a promotion that was begun; its bytes. */
size_t tdo_tenure_finish(mps_arena_t heap);

#endif /* TDO_TRACE_TENURE_H */
