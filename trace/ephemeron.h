/* Testudo: pairs whose key keeps their value alive (interface, section 11,
   item 2).
   SPDX-License-Identifier: BSD-2-Clause

   Segments of rank TDO_RANK_EPHEMERON are scanned twice. First with that rank,
   when nothing else is grey: what a pair keeps alive already is fixed, and a
   pair whose key may yet die *waits*, as addresses in a table of ours, until
   the key is reached. Then with weak rank, when everything that lives is
   known: each pair is kept or made null. In between the segment is grey,
   and *settling*. Each pair is touched a bounded number of times.

   Invariants:
   .waiting  `waiting` maps the address of each white object that was a
             trigger (of the first one in its block, where blocks live as a
             whole) to the list of its pairs (index + 1; 0: none). */
#ifndef TDO_TRACE_EPHEMERON_H
#define TDO_TRACE_EPHEMERON_H

#include "code/table.h"
#include "trace/scan.h"

typedef struct tdo_pair {
  mps_addr_t target; /* lives if the trigger does */
  size_t next;       /* index + 1 of the next in the list */
} tdo_pair_t;

typedef struct tdo_ephemerons {
  tdo_ring_t settling; /* tdo_gcseg_t.grey_ring */
  tdo_table_t waiting; /* .waiting */
  tdo_pair_t *pairs;
  size_t count, room;
  size_t ready;  /* list of pairs whose trigger lives */
  bool searched; /* nothing was marked since all triggers were looked
                    at */
  size_t searches; /* times that all were, in all collections */
} tdo_ephemerons_t;

void tdo_ephemerons_init(tdo_ephemerons_t *e, mps_arena_t heap);
/* The collection is over: forget all pairs. */
void tdo_ephemerons_reset(tdo_ephemerons_t *e, mps_arena_t heap);

/* Nothing else is grey: go on with pairs. False if there is nothing to do;
   then no pair that waits has a live trigger. */
bool tdo_ephemerons_step(mps_arena_t heap);
/* Is there nothing to do? */
bool tdo_ephemerons_idle(const mps_arena_t heap);
/* Everything that lives is known: keep or clear every pair. */
void tdo_ephemerons_settle(mps_arena_t heap);

/* The fix method of white SEG, while pairs wait. */
mps_res_t tdo_ephemerons_fix(tdo_scan_t *scan, tdo_gcseg_t *seg,
                             mps_addr_t *ref_io);

#endif /* TDO_TRACE_EPHEMERON_H */
