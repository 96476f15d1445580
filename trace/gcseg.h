/* Testudo: collected segments: colour, generation, and what is known of each
   of their pages.
   SPDX-License-Identifier: BSD-2-Clause

   Colours, for the one collection that may be in progress. White: condemned,
   not yet reached as a whole; single objects in it may be known to survive.
   Grey: holds an object that survives and has not been scanned; a page with a
   grey object is read-barred, so that the mutator never sees a reference to a
   white object's old place. Black: neither.

   The summary (trace/summary.h) has a byte for each page of a scanned segment.

   Invariants:
   .summary  a page without TDO_DIRTY is write-barred (or its writes are
             tracked), and its bits cover every reference in it; but for
             references into the chain that is being promoted (tenure.h).
   .grey     a grey segment is in the trace's grey ring of its rank, and, if
             scanned, its pages with grey objects are read-barred.
   .filled   whole objects lie back to back in [seg.base, filled) (moving
             classes); nothing is read beyond. */
#ifndef TDO_TRACE_GCSEG_H
#define TDO_TRACE_GCSEG_H

#include "arena/segment.h"
#include "trace/gen.h"
#include "trace/pool.h"

struct tdo_gcseg {
  tdo_seg_t seg; /* first; seg.automatic is true */
  tdo_pool_t *pool;
  /* What the class's fix method does with an exact reference to this segment,
     while it is white and nothing has to be asked about it; else null. */
  mps_res_t (*express)(tdo_scan_t *scan, tdo_gcseg_t *seg, mps_addr_t *ref_io);
  /* Here begins the second cache line: what fixing wants to know is in the
     first two, and in what the class puts behind this structure first. */
  tdo_gen_t *gen;
  char *filled;         /* see .filled; stale while AP is attached */
  tdo_ap_t *ap;         /* whose buffer lies here, or null */
  mps_rank_t rank;      /* of the references in it */
  bool leaf;            /* never scanned, never protected */
  bool white, grey;
  bool barred;          /* read bar raised on the whole segment: it is grey, or
                           white and about to be, or to die; or it goes up at
                           the flip that is to come */
  bool owed;            /* grey, and its remembered pages are not scanned */
  bool filling;         /* the collector will go on copying into it */
  bool open;            /* white, and open for forwarding markers */
  bool nailed;          /* white, and something in it stays in place */
  bool unsteady;        /* written to by scans of other objects: never clean */
  bool passed;          /* it cannot be condemned ahead of the flip */
  uint16_t descriptor;  /* bytes of the class's descriptor */
  tdo_ring_t gen_ring;  /* in gen->segs or gen->white */
  tdo_ring_t grey_ring; /* in heap->trace.grey[rank] */
  size_t offered;       /* number of the collection that last offered it */
};

/* A new black segment of at least SIZE bytes in GEN for POOL, its pages dirty
   (clean for a leaf); DESCRIPTOR is the size of the class's structure, which
   begins with a tdo_gcseg_t and is zeroed beyond it. Counts in pool->total
   and gen->size. Results as tdo_space_alloc. */
mps_res_t tdo_gcseg_alloc(tdo_gcseg_t **seg_o, tdo_pool_t *pool,
                          tdo_gen_t *gen, size_t descriptor, size_t size,
                          bool leaf);
void tdo_gcseg_free(tdo_gcseg_t *seg);
/* Give whole grains at one end back. */
void tdo_gcseg_shrink(tdo_gcseg_t *seg, char *base, char *limit);
/* BYTES of white SEG live on. */
void tdo_gcseg_survived(tdo_gcseg_t *seg, size_t bytes);
/* Move a surviving segment (white or not) into GEN, in place. */
void tdo_gcseg_promote(tdo_gcseg_t *seg, tdo_gen_t *gen);

/* Have what is mostly wanted of the descriptor at DESCRIPTOR fetched, if there
   is one. */
static inline void tdo_gcseg_fetch(const void *descriptor) {
  const char *p = descriptor;

  if (p == NULL)
    return;
  __builtin_prefetch(p);
  __builtin_prefetch(p + TDO_CACHE_LINE);
  __builtin_prefetch(p + 2 * TDO_CACHE_LINE);
}

/* The same for a segment that comes some segments above SEG: a generation's
   rings run mostly upwards, and who walks one waits for each descriptor. */
void tdo_gcseg_fetch_above(const tdo_gcseg_t *seg);

/* Colour. Greying puts the read bar up on the whole segment. */
void tdo_gcseg_set_grey(tdo_gcseg_t *seg);
void tdo_gcseg_set_black(tdo_gcseg_t *seg);
void tdo_gcseg_set_white(tdo_gcseg_t *seg);
/* The same, and the mutator goes on: its bars stay as they are. */
void tdo_gcseg_set_white_ahead(tdo_gcseg_t *seg);
/* The read bar alone: raise it; lower it, if it is up. */
void tdo_gcseg_bar(tdo_gcseg_t *seg);
void tdo_gcseg_unbar(tdo_gcseg_t *seg);
/* The write bars of white SEG may go; NOW: it is exposed next. */
void tdo_gcseg_release(tdo_gcseg_t *seg, bool now);
/* White no more: it survived in place and is black. */
void tdo_gcseg_clear_white(tdo_gcseg_t *seg);

/* The collector's access to whole pages around [BASE, LIMIT). */
void tdo_gcseg_expose(tdo_gcseg_t *seg, char *base, char *limit);
void tdo_gcseg_cover(tdo_gcseg_t *seg, char *base, char *limit);

/* Open white SEG, which is not nailed, for good, and with it the white
   segments of moving pools around it in its zone that nothing nailed: one call
   for all. Sets `open` in each. */
void tdo_gcseg_open_white(tdo_gcseg_t *seg);

/* The summary of the pages [FIRST, LIMIT) of SEG is BITS. */
void tdo_gcseg_summarize(tdo_gcseg_t *seg, size_t first, size_t limit,
                         uint8_t bits);
/* Can a write bar on pages of SEG pay at all? */
bool tdo_gcseg_may_bar(const tdo_gcseg_t *seg);

/* Note in the summary that references in [BASE, LIMIT) lead to SEEN. */
void tdo_gcseg_note(tdo_gcseg_t *seg, char *base, char *limit,
                    unsigned seen);
/* Everything in the pages around [BASE, LIMIT) is scanned and noted (SEEN is
   what the scan found), and the mutator was held off: ask for the write bar.
   Where it is not granted the pages are dirty. It is not even asked for where
   it cannot pay, since the next minor collection needs the page anyway: in a
   nursery, in memory that is being filled, in pages that refer to a
   nursery. */
void tdo_gcseg_offer(tdo_gcseg_t *seg, char *base, char *limit,
                     unsigned seen);
/* SEG, new and empty, is for what survived: its pages earn their write bars at
   once. */
void tdo_gcseg_trust(tdo_gcseg_t *seg);
/* The mutator may write [BASE, LIMIT) from now on: dirty and open. */
void tdo_gcseg_dirty(tdo_gcseg_t *seg, char *base, char *limit);

/* End of the committed objects, AP or not. */
static inline char *tdo_gcseg_filled(const tdo_gcseg_t *seg) {
  return seg->ap != NULL ? tdo_ap_settled(seg->ap) : seg->filled;
}

/* The collected segment that holds P, or null. */
static inline tdo_gcseg_t *tdo_gcseg_of(const tdo_space_t *sp,
                                        const void *p) {
  tdo_seg_t *seg = tdo_seg_of(sp, p);
  return seg != NULL && seg->automatic ? (tdo_gcseg_t *)(void *)seg : NULL;
}

#endif /* TDO_TRACE_GCSEG_H */
