/* Testudo: what a pool is, to those who do not know its class. A pool class
   (pool/) fills in a tdo_pool_class_t; nothing else in the library names one.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_POOL_H
#define TDO_TRACE_POOL_H

#include <stdarg.h>
#include <stdatomic.h>
#include "arena/segment.h"
#include "code/ring.h"
#include "trace/ap.h"
#include "trace/format.h"

typedef struct mps_pool_s tdo_pool_t;
typedef struct mps_pool_class_s tdo_pool_class_t;
typedef struct tdo_gcseg tdo_gcseg_t;
typedef struct tdo_scan tdo_scan_t;

#define TDO_FINAL_LISTS 9 /* one a generation bit, one for the top */

/* The head of every pool; a class's own structure begins with it. */
struct mps_pool_s {
  tdo_sig_t sig;
  const tdo_pool_class_t *klass;
  mps_arena_t heap;
  tdo_ring_t heap_ring;   /* in heap->pools */
  tdo_ring_t traced_ring; /* in heap->traced, or alone */
  tdo_ring_t aps;         /* tdo_ap_t.pool_ring */
  tdo_ring_t segs;        /* tdo_seg_t.pool_ring */
  tdo_format_t *format;   /* null for manual pools */
  size_t align;
  size_t finals;          /* registrations for finalization of its blocks, and
                             messages of it that are not discarded */
  unsigned finals_owner;  /* its number there (finalize.h); 0: none yet */
  tdo_ring_t final_lists[TDO_FINAL_LISTS]; /* the registrations (finalize.h) */
  size_t total, free;     /* bytes; interface, section 2.9 "Size accounting";
                             buffers' unused part is not in `free` */
  /* Addresses of the last of the blocks that handlers freed (enter.c). */
  _Atomic tdo_word_t late_blocks, late_words;
};

#define TDO_POOL_SIG ((tdo_sig_t)0x519B0017) /* POOL */

/* Visitor for walks: objects [BASE, LIMIT), bases; false stops the walk. */
typedef bool (*tdo_walk_visit_t)(void *closure, tdo_pool_t *pool, char *base,
                                 char *limit);

/* All methods are called with the arena's lock held. A null method means
   what the comment says. */
struct mps_pool_class_s {
  tdo_sig_t sig;
  const char *name;
  size_t size;      /* of the class's pool structure */
  bool automatic;   /* blocks are reclaimed by the collector */
  bool scanned;     /* blocks may hold references: its points are trapped at
                       a flip, its segments may be protected */
  bool moving;      /* blocks may move */
  bool rooted;      /* blocks are roots for others (SNC) */

  /* Keyword list from the positional arguments of mps_pool_create; null:
     none. ARGS has room for MPS_ARGS_MAX. */
  void (*varargs)(mps_arg_s args[], va_list list);
  /* The common head is initialised, except format and align. */
  mps_res_t (*init)(tdo_pool_t *pool, mps_arg_s args[]);
  /* All points are gone. Free everything. */
  void (*finish)(tdo_pool_t *pool);

  /* Manual allocation; null: not supported. SIZE is as the client gave it,
     not 0. Never waits for a collection: the caller tries that. */
  mps_res_t (*alloc)(mps_addr_t *p_o, tdo_pool_t *pool, size_t size);
  void (*free)(tdo_pool_t *pool, mps_addr_t p, size_t size);
  /* Give what is free back to the arena, where whole grains are; the bytes that
     went. Null: nothing is kept. */
  size_t (*relinquish)(tdo_pool_t *pool);

  /* Allocation points; null ap_init: no keys; null fill: not supported. */
  mps_res_t (*ap_init)(tdo_ap_t *ap, mps_arg_s args[]);
  void (*ap_varargs)(mps_arg_s args[], va_list list);
  void (*ap_finish)(tdo_ap_t *ap);
  /* Find a buffer of at least SIZE bytes (aligned) and tdo_ap_attach it. The
     point has none. */
  mps_res_t (*fill)(tdo_pool_t *pool, tdo_ap_t *ap, size_t size);
  /* Take back [INIT, LIMIT) of the buffer [ap->base, LIMIT) in ap->seg. What
     lies before INIT is committed. */
  void (*empty)(tdo_pool_t *pool, tdo_ap_t *ap, char *init, char *limit);
  /* Frames; null: OK without effect. */
  mps_res_t (*frame_push)(mps_frame_t *frame_o, tdo_ap_t *ap);
  mps_res_t (*frame_pop)(tdo_ap_t *ap, mps_frame_t frame);

  /* Collection (automatic classes). See trace/gcseg.h for segments. */
  /* Is there nothing in SEG, which has a buffer, but that, and what is known to
     be dead or free? */
  bool (*bare)(const tdo_gcseg_t *seg);
  /* SEG was condemned: forget marks. Buffers were dealt with. */
  void (*whiten)(tdo_pool_t *pool, tdo_gcseg_t *seg);
  /* Would SEG, condemned now, be collected in place, and nothing that the
     mutator does matter to that? Null: no. */
  bool (*stays)(const tdo_pool_t *pool, const tdo_gcseg_t *seg);
  /* SEG, which was to stay, is as it was before it was made white: there is no
     collection. */
  void (*pardon)(tdo_gcseg_t *seg);
  /* *REF_IO lies in white SEG: preserve what it refers to, with scan->rank;
     change it if that moved (exact), or null it (weak, dead). */
  mps_res_t (*fix)(tdo_pool_t *pool, tdo_scan_t *scan, tdo_gcseg_t *seg,
                   mps_addr_t *ref_io);
  /* Is the object with client pointer REF in white SEG known to survive? If
     so and it moved, *REF_IO is updated. */
  bool (*alive)(tdo_pool_t *pool, tdo_gcseg_t *seg, mps_addr_t *ref_io);
  /* Client pointer of the object in SEG that the ambiguous reference ADDR
     would keep and keep in place; null if none. Null method: ADDR. */
  mps_addr_t (*pinned)(tdo_pool_t *pool, tdo_gcseg_t *seg, mps_addr_t addr);
  /* Scan all grey objects of SEG; it is exposed; it is black afterwards
     (method must leave no grey object, unless it says so in scan->partly, and
     may be called again later). */
  mps_res_t (*scan)(tdo_pool_t *pool, tdo_scan_t *scan, tdo_gcseg_t *seg);
  /* Widen [*BASE_IO, *LIMIT_IO) to the whole objects that overlap it, within
     what is filled (equal if there are none). Null: nothing to widen. */
  void (*widen)(tdo_pool_t *pool, tdo_gcseg_t *seg, char **base_io,
                char **limit_io);
  /* Scan every object of SEG (not white) in [BASE, LIMIT), which has been
     widened and is exposed. */
  mps_res_t (*scan_range)(tdo_pool_t *pool, tdo_scan_t *scan,
                          tdo_gcseg_t *seg, char *base, char *limit);
  /* Rooted classes: scan every block of rank scan->rank. */
  mps_res_t (*scan_roots)(tdo_pool_t *pool, tdo_scan_t *scan);
  /* A slice of work ends: the mutator runs next, so cover what is exposed
     for copying into. Null: nothing. */
  void (*pause)(tdo_pool_t *pool);
  /* The collection is over: free what died in SEG; it is white no more, or
     gone. */
  void (*reclaim)(tdo_pool_t *pool, tdo_gcseg_t *seg);
  /* The object that lives if REF, in white SEG, does, and the other way round:
     blocks of several objects live as a whole. Null: REF itself. */
  mps_addr_t (*whole)(const tdo_gcseg_t *seg, mps_addr_t ref);
  /* Ask the processor for the tables that tell of the object REF in white SEG,
     if it is not told by the object itself. Null: it always is. */
  void (*fetch)(const tdo_gcseg_t *seg, const char *ref);
  /* SEG was promoted to the top generation as it is. Null: it cannot be. */
  void (*tenured)(tdo_pool_t *pool, tdo_gcseg_t *seg);

  /* Visit every object of the pool; null: nothing to visit. */
  bool (*walk)(tdo_pool_t *pool, tdo_walk_visit_t visit, void *closure);
  /* Client pointer of the object at ADDR; null: MPS_RES_UNIMPL. */
  mps_res_t (*addr_object)(mps_addr_t *ref_o, tdo_pool_t *pool,
                           tdo_gcseg_t *seg, mps_addr_t addr);
  /* Debug pools (section 2.25); null: nothing to check. */
  void (*check_fenceposts)(tdo_pool_t *pool);
  void (*check_free_space)(tdo_pool_t *pool);
  /* [BASE, LIMIT), which lies between the end of a block and what its size is
     rounded up to, was written over: put back what is checked there. */
  void (*mend)(tdo_pool_t *pool, char *base, char *limit);
  /* A ramp began or ended on the point; null: ignored. */
  void (*ramp)(tdo_ap_t *ap, bool begin, bool collect_all);
};

#define TDO_POOL_CLASS_SIG ((tdo_sig_t)0x519C1A55) /* CLASS */

mps_res_t tdo_pool_create(tdo_pool_t **pool_o, mps_arena_t heap,
                          const tdo_pool_class_t *klass, mps_arg_s args[]);
void tdo_pool_destroy(tdo_pool_t *pool);
/* POOL has got a point: from now on collections look at it. */
void tdo_pool_pointed(tdo_pool_t *pool);
bool tdo_pool_check(const tdo_pool_t *pool);

/* For classes: take the required FORMAT key; sets format and align.
   MPS_RES_PARAM, after an assertion, if it is not there or not fit. */
mps_res_t tdo_pool_take_format(tdo_pool_t *pool, mps_arg_s args[]);

/* For classes: the arena's address space, and its control blocks. */
tdo_space_t *tdo_pool_space(tdo_pool_t *pool);
mps_res_t tdo_pool_control_alloc(void **p_o, tdo_pool_t *pool, size_t size);
void tdo_pool_control_free(tdo_pool_t *pool, void *p, size_t size);
/* Control blocks were freed, maybe where no collection comes by: a piece of
   what they leave goes back (tdo_control_ease). */
void tdo_pool_ease(tdo_pool_t *pool);

/* For manual classes: a plain segment whose descriptor (of DESCRIPTOR bytes,
   beginning with tdo_seg_t) is a control block. Accounts pool->total. Never
   collected, scanned or protected. Release undoes it. */
mps_res_t tdo_pool_seg_alloc(tdo_seg_t **seg_o, tdo_pool_t *pool,
                             size_t descriptor, size_t size, bool high);
void tdo_pool_seg_free(tdo_pool_t *pool, tdo_seg_t *seg, size_t descriptor);

#endif /* TDO_TRACE_POOL_H */
