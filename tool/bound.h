/* Testudo: the lower bound: the fewest protection calls that any shield could
   make which knows the future. SPDX-License-Identifier: BSD-2-Clause

   What it must do is what the shield promises, no more: when a session ends,
   every page in use allows what is wanted (read-barred: nothing; write-barred:
   reading; else everything); and a page that is exposed is open from then to
   the end of its exposure. Free pages are of no concern, but must be opened
   before they are used again. When it calls, and
   for how many pages at once, it chooses. And it knows the future: a write bar
   that is hit, or given up, before the next collection begins tells nobody
   anything, because the page counts as written then in any case; so it need
   not be put up, and here it is not. (One that is put up all the same spares
   a call at times: one that closes pages on both sides of it, too.)

   At the ends of sessions all is determined, so each session has a bound of
   its own, the larger of

   - the number of different kinds of call that it cannot do without: one that
     opens, if a closed page is exposed or no longer barred; one that closes to
     everything, and one that closes to writes, if a page needs it;
   - half of the edges that it must make: a call makes two at most, one at each
     end. Edges are counted in a set of pages, with whatever lies between them
     left out: once in that of pages that were open before or came into use,
     once in that of pages that were closed and are opened or not touched.

   In dirty mode a page is armed where it would be closed to writes, and that
   is a call, too. A page that is exposed must be armed again, since the
   collector may have written it. No call arms pages that shall be open: each
   write to them would cost a fault. Those that were armed before may stay so,
   or not, and count as open: to take the tracking back is not counted. */
#ifndef TDO_TOOL_BOUND_H
#define TDO_TOOL_BOUND_H

#include "shield/shield.h"

typedef struct bound bound_t;

/* For the requests made of SHIELD, which is new. Null: no memory. */
bound_t *bound_new(const tdo_shield_t *shield);
/* The bound of what was noted so far; frees BOUND. */
size_t bound_finish(bound_t *bound);

/* After any request about these pages but an exposure; after an exposure; when
   their write bars were hit, or lost; when they were found to be written. */
void bound_touch(bound_t *bound, size_t first, size_t limit);
void bound_expose(bound_t *bound, size_t first, size_t limit);
void bound_useless(bound_t *bound, size_t first, size_t limit);
void bound_written(bound_t *bound, size_t first, size_t limit);
/* A session ends; a collection begins. */
void bound_session(bound_t *bound);
void bound_collection(bound_t *bound);

#endif /* TDO_TOOL_BOUND_H */
