/* Testudo: scanning: the state behind mps_ss_t, and what fixing does.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_SCAN_H
#define TDO_TRACE_SCAN_H

#include "code/clock.h"
#include "trace/gcseg.h"

#define TDO_SCAN_LOOK 65536 /* bytes scanned between looks at the clock */

/* Ranks, in the order in which their references are traced. */
enum {
  TDO_RANK_AMBIG = 0,
  TDO_RANK_EXACT = 1,
  TDO_RANK_FINAL = 2, /* of scans: registrations for finalization */
  TDO_RANK_EPHEMERON = 2, /* of segments: tables of pairs (ephemeron.h) */
  TDO_RANK_WEAK = 3,
  TDO_RANKS = 4
};

struct tdo_scan {
  mps_ss_s ss; /* first: the client's inline part */
  mps_arena_t heap;
  mps_rank_t rank;
  /* What MPS_FIX2 does: tracing, walking roots, transforming. */
  mps_res_t (*fix)(tdo_scan_t *scan, mps_addr_t *ref_io);
  /* The space's owners, by grains from ss._base, if segments' own shorter ways
     (tdo_gcseg_t.express) do the same as `fix`; else null. */
  void *const *express;
  unsigned grain_shift;
  void *closure;  /* of `fix` */
  size_t bytes;   /* scanned so far */
  /* .partly: a class's method may end when the time is up, and leave the rest
     of the segment grey. */
  uint64_t deadline; /* 0: there is none */
  size_t look;       /* at so many bytes, look at the clock */
  bool partly;       /* something was left */
  /* .ahead: where objects are copied, those that are about to be referred to
     are fetched. In what is being scanned, words [next_ahead, end_ahead) have
     not been looked at for that. */
  bool ahead;
  const mps_word_t *next_ahead, *end_ahead;
  /* .hurried: what exact roots refer to is copied in the flip, which nothing
     divides: with a table of large objects for a root it may be any share of
     the heap. When the deadline has passed, what has not moved stays where it
     is, as if an ambiguous root referred to it. */
  bool hurried;
  bool hold;      /* rank ambiguous: what is referred to stays in place if it
                     lives, and is not kept alive by this */
  /* Where the reference being fixed lies, if what `fix` gets is a copy and
     the slot holds it as it is; for walks. */
  mps_addr_t *slot;
};

static inline tdo_scan_t *tdo_scan_of(mps_ss_t ss) {
  return (tdo_scan_t *)(void *)ss;
}

/* A scan for the collection in progress. */
void tdo_scan_init(tdo_scan_t *scan, mps_arena_t heap, mps_rank_t rank);
/* The same, whatever zones know of colours: any word that may be a reference is
   given to MPS_FIX2. */
void tdo_scan_anywhere(tdo_scan_t *scan);
/* The same scan, for something else: MPS_FIX2 calls FIX. */
static inline void tdo_scan_use(tdo_scan_t *scan,
                                mps_res_t (*fix)(tdo_scan_t *scan,
                                                 mps_addr_t *ref_io)) {
  scan->fix = fix;
  scan->express = NULL;
}

/* Cards: base-2 logarithm of the bytes from whose beginning on an object is
   sought that an ambiguous reference leads into. */
#define TDO_SCAN_CARD_SHIFT 8

/* Scan formatted objects [BASE, LIMIT) (bases) with the pool's format. */
mps_res_t tdo_scan_formatted(tdo_scan_t *scan, tdo_pool_t *pool, char *base,
                             char *limit);
/* [BASE, LIMIT) is about to be scanned: get what fixing its references will
   look at on its way to the cache. It was scanned: look at it no more. */
void tdo_scan_fetch(tdo_scan_t *scan, const char *base, const char *limit);
void tdo_scan_fetched(tdo_scan_t *scan);
/* Is the time up, so that the rest may be left (.partly)? */
static inline bool tdo_scan_late(tdo_scan_t *scan) {
  if (TDO_LIKELY(scan->bytes < scan->look))
    return false;
  scan->look = scan->bytes + TDO_SCAN_LOOK;
  return tdo_clock_past(scan->deadline);
}
/* The next part of the roots is about to be scanned (.hurried). */
static inline void tdo_scan_hurry(tdo_scan_t *scan) {
  if (tdo_clock_past(scan->deadline)) {
    scan->hurried = true;
    scan->express = NULL;
    scan->deadline = 0;
  }
}
/* Fix one reference. */
mps_res_t tdo_scan_fix(tdo_scan_t *scan, mps_addr_t *ref_io);

#endif /* TDO_TRACE_SCAN_H */
