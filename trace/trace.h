/* Testudo: the collection in progress: condemn, flip, scan in slices behind
   the read barrier, finalize, splat weak references, reclaim.
   SPDX-License-Identifier: BSD-2-Clause

   Invariants:
   .strong   while a collection is in progress the mutator holds no reference
             to a white object, and can load none: it lies in registers,
             roots and black or open pages only.
   .one      at most one collection is in progress. */
#ifndef TDO_TRACE_TRACE_H
#define TDO_TRACE_TRACE_H

#include "trace/ephemeron.h"
#include "trace/scan.h"

typedef enum tdo_trace_state {
  TDO_TRACE_IDLE,
  TDO_TRACE_AHEAD,     /* a full one has begun, and its flip is to come */
  TDO_TRACE_CONDEMNED, /* within start only */
  TDO_TRACE_FLIPPED,   /* grey work left */
  TDO_TRACE_RECLAIM    /* nothing grey; reclaiming segments */
} tdo_trace_state_t;

typedef struct tdo_trace {
  tdo_trace_state_t state;
  tdo_chain_t *chain; /* whose generations 0..last are condemned, or null: */
  size_t last;
  bool skipping;     /* the nursery is promoted to the top */
  bool full;         /* every generation is condemned */
  bool small;        /* of a small heap: all that lives is copied, at once
                        (small.h, .whole) */
  bool emergency;    /* memory ran out: preserve in place */
  unsigned refused;  /* segments of a grain for survivors that were not to be
                        had */
  bool in_place;     /* what is old stays where it is, */
  double dense;      /* but segments of which a smaller share lived, */
  double part;       /* and some of those that are a little denser, in which so
                        many bytes did (evacuate.h) */
  bool closes;       /* read bars go up on what stays in place at once, since
                        the shield closes all of it in no time */
  bool ahead;        /* all that can be was condemned ahead of the flip */
  bool move_all;     /* large objects move too (explicit collection) */
  bool moves;        /* objects of moving pools are condemned */
  bool messages;     /* secured: post a start and an end */
  bool hurried;      /* the flip left in place what it had no time to copy
                        (scan.h, .hurried) */
  bool finalized;    /* the finalization pass is over */
  bool at_hit;       /* a barrier was hit, maybe between two writes to a table
                        of weak references: nothing in it becomes null now */
  bool whole;        /* must end before the mutator goes on: a weak root, which
                        no barrier guards, refers to what may die */
  unsigned bits;     /* of the condemned generations */
  tdo_ring_t grey[TDO_RANKS];
  tdo_ephemerons_t ephemerons;
  size_t condemned;  /* bytes of white segments at the start */
  size_t filled;     /* bytes of objects in them, as far as is known */
  size_t survived;   /* bytes preserved, known when all is reclaimed */
  size_t left;       /* bytes in generations not condemned */
  size_t scanned;    /* bytes scanned so far */
  const char *sweep; /* where the segment scanned last ends; or null */
  size_t owed;       /* bytes of segments whose scan the flip put off */
  size_t taken;      /* bytes that the program got since the flip */
  uint64_t started;  /* ns */
  uint64_t paused;   /* heap->stats.paused_ns at the start */
  uint64_t flip_ns;  /* from the start to the end of the flip */
  uint64_t took_ns;  /* from the start to the end of it all */
  const char *why;
} tdo_trace_t;

void tdo_trace_init(tdo_trace_t *trace, mps_arena_t heap);

/* Start a collection of every generation (CHAIN null) or of generations
   0..LAST of CHAIN. False if nothing could be condemned. On return the flip
   is done and work may be left. WHY is a static English text. */
bool tdo_trace_start(mps_arena_t heap, tdo_chain_t *chain, size_t last,
                     const char *why);
/* Begin a collection of every generation whose flip comes later, so that some
   of what a flip does can be done before (condemn.h, .ahead). False, and
   nothing begun, if that would not pay. tdo_trace_start(HEAP, NULL, 0, WHY)
   flips. */
bool tdo_trace_begin_ahead(mps_arena_t heap, const char *why);
/* Work for about BYTES scanned, and until DEADLINE (ns; 0: none). True if the
   collection is over (or none was in progress). */
bool tdo_trace_work(mps_arena_t heap, size_t bytes, uint64_t deadline);
/* Is a collection in progress of which nothing is left but its end:
   finalization, weak references, and reclaiming? */
bool tdo_trace_drained(mps_arena_t heap);
/* Work until it is over. */
void tdo_trace_finish(mps_arena_t heap);
/* If the flip of one is to come, give it up: nothing has moved. It stays
   wanted. */
void tdo_trace_give_up(mps_arena_t heap);
/* Work until it is over, but where nothing may move give up what was not
   flipped. */
void tdo_trace_settle(mps_arena_t heap);
/* Nanoseconds that the collection in progress has kept the program waiting. */
uint64_t tdo_trace_worked_ns(mps_arena_t heap);

static inline bool tdo_trace_busy(const tdo_trace_t *trace) {
  return trace->state != TDO_TRACE_IDLE;
}

/* Is one, and may what is in the heap have moved by it? */
static inline bool tdo_trace_flipped(const tdo_trace_t *trace) {
  return tdo_trace_busy(trace) && trace->state != TDO_TRACE_AHEAD;
}

/* Does it copy what it finds, mostly? Else what is found is told by tables. */
static inline bool tdo_trace_copies(const tdo_trace_t *trace) {
  return trace->moves && !trace->in_place;
}

/* The mutator touched read-barred SEG: make it black now. */
void tdo_trace_access(mps_arena_t heap, tdo_gcseg_t *seg);

/* The mutator goes on: close what was opened to copy, or to look. */
void tdo_trace_pause(mps_arena_t heap);
/* The fix method of a trace. */
mps_res_t tdo_trace_fix(tdo_scan_t *scan, mps_addr_t *ref_io);
/* Is *REF_IO anything but a reference to a white object that is not known to
   survive? If the object moved, *REF_IO follows. */
bool tdo_trace_alive(mps_arena_t heap, mps_addr_t *ref_io);
/* Scan a segment of pairs for the first time; it stays grey. Scan it for the
   last: it is black. */
void tdo_trace_scan_first(mps_arena_t heap, tdo_gcseg_t *seg);
void tdo_trace_scan_last(mps_arena_t heap, tdo_gcseg_t *seg);

#endif /* TDO_TRACE_TRACE_H */
