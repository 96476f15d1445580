/* Testudo: allocation points (interface, section 2.11).
   SPDX-License-Identifier: BSD-2-Clause

   Invariants:
   .protocol base <= init <= alloc <= limit while not trapped; while the
             mutator may be between reserve and commit (init != alloc) only
             `limit` may be changed, and only to null.
   .trapped  pub.limit is null iff the point has no buffer or is trapped.
   .whole    a buffer made for one large block is given to a block of its size,
             whole, or given back: where the flip came before the commit, the
             point stays trapped until it comes back to fill.
   .held     the mutator may be anywhere between reserve and commit when a
             flip traps the point, and go on to write to the block that it
             reserved: the buffer's memory from `frozen` on is the point's
             until it comes back to fill or trip. */
#ifndef TDO_TRACE_AP_H
#define TDO_TRACE_AP_H

#include "code/base.h"
#include "code/ring.h"

typedef struct tdo_ap tdo_ap_t;

struct tdo_ap {
  mps_ap_s pub; /* what the client sees; first */
  tdo_sig_t sig;
  struct mps_pool_s *pool;
  tdo_ring_t pool_ring;
  void *seg;       /* segment of the buffer (pool class's), null: none */
  char *base;      /* of the buffer */
  char *counted;   /* end of what its generation knows to be new */
  char *limit;     /* true limit of the buffer */
  bool trapped;    /* by a flip: the client's fields are stale */
  bool whole;      /* the buffer is for one block (.whole) */
  char *frozen;    /* while trapped: end of what was committed then */
  bool hash_arrays;/* do not count towards scheduling */
  mps_rank_t rank;
  size_t gen;      /* generation to allocate into */
  unsigned ramps, full_ramps;
  size_t next_size;/* bytes of the next buffer: grows with the rate */
  void *frames;    /* the class's */
  tdo_ring_t framed_ring; /* with others that have frames in their buffers in
                             the same segment, or alone (frames.h) */
  tdo_word_t frame_shift; /* from a place in the buffer to a frame (frames.h) */
};

#define TDO_AP_SIG ((tdo_sig_t)0x519A9014) /* AP */

static inline tdo_ap_t *tdo_ap_of(mps_ap_t ap) {
  return (tdo_ap_t *)(void *)ap;
}

static inline bool tdo_ap_reserved(const tdo_ap_t *ap) {
  return ap->pub.init != ap->pub.alloc;
}

mps_res_t tdo_ap_create(tdo_ap_t **ap_o, struct mps_pool_s *pool,
                        mps_arg_s args[]);
void tdo_ap_destroy(tdo_ap_t *ap);
bool tdo_ap_check(const tdo_ap_t *ap);

/* The slow paths of reserve and commit. The caller holds the lock and has
   given the collector its chance. */
mps_res_t tdo_ap_fill(mps_addr_t *p_o, tdo_ap_t *ap, size_t size);
bool tdo_ap_trip(tdo_ap_t *ap, mps_addr_t p, size_t size);

/* End of what is committed in the buffer, of the calling thread's point or
   while the others are stopped. */
static inline char *tdo_ap_committed(const tdo_ap_t *ap) {
  return ap->trapped ? ap->frozen : (char *)ap->pub.init;
}

/* The same at any time, for who will read the objects: the client writes them
   without a fence, so where stores may be seen out of order the threads are
   stopped from here on. */
char *tdo_ap_settled(const tdo_ap_t *ap);

/* Bytes that went through the buffer, which may be gone already. */
static inline size_t tdo_ap_used(const tdo_ap_t *ap) {
  return ap->base == NULL ? 0 : (size_t)(tdo_ap_committed(ap) - ap->base);
}

/* Bytes of new blocks, which end at INIT, since the last call. An unused
   buffer is not new: many points with buffers do not make a small generation
   due. */
static inline size_t tdo_ap_count(tdo_ap_t *ap, char *init) {
  size_t bytes = init > ap->counted ? (size_t)(init - ap->counted) : 0;

  ap->counted = init;
  return bytes;
}

/* The mutator is not between reserve and commit, or learns that its block is
   void: a trapped point gets the rest of its buffer back, if any, but for what
   is .whole. */
void tdo_ap_resume(tdo_ap_t *ap);
/* Give the buffer back to the pool's class (method `empty`); the point then
   has none. Not between reserve and commit, unless trapped. */
void tdo_ap_detach(tdo_ap_t *ap);
/* Classes: give the point the buffer [BASE, LIMIT) of segment SEG. It is not
   .whole; the class may say so next. */
void tdo_ap_attach(tdo_ap_t *ap, void *seg, char *base, char *limit);
/* The flip: make the point's next use fail, while the mutator may be
   anywhere. The buffer stays attached (.held). */
void tdo_ap_trap(tdo_ap_t *ap);

#endif /* TDO_TRACE_AP_H */
