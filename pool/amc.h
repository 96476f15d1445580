/* Testudo: structures of the mostly-copying pools, for the files of amc.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_POOL_AMC_H
#define TDO_POOL_AMC_H

#include <string.h>
#include "code/bits.h"
#include "trace/heap.h"

typedef struct amc_seg amc_seg_t;

/* Where survivors of one generation are copied to. What copying asks for most
   is here, since this is in the cache when it does. */
typedef struct amc_to {
  const tdo_format_t *format;
  amc_seg_t *ready;  /* .ready */
  size_t ordinary;   /* objects below this size, the others are large */
  unsigned bit;      /* of `gen` */
  bool exposed;      /* `seg` is, for this slice */
  amc_seg_t *seg;    /* being filled, or null */
  amc_seg_t *large;  /* the last one made for a large object */
  tdo_gen_t *gen;
} amc_to_t;

struct amc_seg {
  tdo_gcseg_t gc;    /* first */
  amc_to_t *to;      /* white: where what survives goes */
  size_t copied;     /* bytes, by the collection in progress */
  char *condemned;   /* .condemned */
  tdo_bits_t *pins;  /* .pins; null while nothing is pinned */
  size_t unread, unread_limit; /* .unread; unread is pin_count if none is */
  tdo_bits_t *pin_table; /* room for pins and read, secured in advance, or
                            null */
  bool kept;         /* nailed, and everything stays that has not moved */
  bool large;        /* one object of its own extent */
  bool in_place;     /* white and nailed: whatever is reached stays */
  uint8_t opened;    /* how often it was, while nailed */
  bool pins_used;    /* pin_table may have bits set */
  size_t live;       /* bytes that survived the last collection in place;
                        0: not known */
  /* What it takes to condemn a segment is before this. */
  size_t marked;     /* bytes found in place by the collection in progress */
  tdo_bits_t *read;  /* .read; as pins */
  size_t pin_count;  /* bits in each */
  char *scanned;     /* .scanned */
  tdo_ring_t open_ring; /* in pool->open, while nailed and exposed */
  char *first;       /* what lies before it is a pad; null: nothing does */
  char *padded;      /* .padded; null: no pads are known */
  tdo_bits_t *held;  /* .held, .settled; null: none is */
  mps_addr_t *moved; /* .settled; null: it is not */
  void *starts;      /* .starts; null: there is no table */
  size_t card_count, starts_known;
  size_t starts_cuts;      /* .cut: heap->cuts when they were found, */
  const char *starts_next; /* and where the second object began */
};

typedef struct amc_pool {
  tdo_pool_t pool;   /* first */
  tdo_chain_t *chain;
  bool leaf, interior;
  unsigned shift;    /* log2 of the alignment */
  size_t extend_by, large;
  tdo_ring_t open;   /* nailed segments exposed in this slice */
  amc_to_t *to;      /* one a generation of the chain, one for the top */
} amc_pool_t;

static inline amc_pool_t *tdo_amc_of(tdo_pool_t *pool) {
  return (amc_pool_t *)(void *)pool;
}

static inline amc_seg_t *tdo_amc_seg_of(tdo_gcseg_t *seg) {
  return (amc_seg_t *)(void *)seg;
}

static inline char *tdo_amc_next(const amc_pool_t *amc, char *p) {
  return tdo_format_next(amc->pool.format, p);
}

static inline size_t tdo_amc_pin_bytes(const amc_seg_t *seg) {
  return 2 * tdo_bits_words(seg->pin_count) * sizeof(tdo_bits_t);
}

/* No pinned object waits to be scanned. */
static inline void tdo_amc_all_read(amc_seg_t *seg) {
  seg->unread = seg->pin_count;
  seg->unread_limit = 0;
}

/* Object I, not pinned so far, is, and waits to be scanned. */
static inline void tdo_amc_set_pin(amc_seg_t *seg, size_t i) {
  tdo_bits_set(seg->pins, i);
  seg->unread = tdo_min(seg->unread, i);
  seg->unread_limit = tdo_max(seg->unread_limit, i + 1);
}

/* Pads are counted from where SEG begins now (.padded); SEG has pins. */
void tdo_amc_shift_pads(amc_seg_t *seg);

/* Begin with no pins. Which blocks are pads stays known (.padded). */
static inline void tdo_amc_use_pins(amc_seg_t *seg) {
  size_t words = tdo_bits_words(seg->pin_count);

  seg->pins = seg->pin_table;
  seg->read = seg->pins + words;
  if (seg->pins_used)
    memset(seg->pins, 0, words * sizeof(tdo_bits_t));
  if (seg->padded == NULL) {
    if (seg->pins_used)
      memset(seg->read, 0, words * sizeof(tdo_bits_t));
  } else if (seg->padded != seg->gc.seg.base) {
    tdo_amc_shift_pads(seg);
  }
  seg->pins_used = true;
  tdo_amc_all_read(seg);
}

/* The table of a segment that is collected in place is cleared when the first
   object is found in it. */
static inline void tdo_amc_clean_pins(amc_seg_t *seg) {
  if (seg->in_place && seg->pins == NULL)
    tdo_amc_use_pins(seg);
}

static inline size_t tdo_amc_pin_index(const amc_pool_t *amc,
                                       const amc_seg_t *seg,
                                       const char *base) {
  return (size_t)(base - seg->gc.seg.base) >> amc->shift;
}

static inline bool tdo_amc_is_pinned(const amc_pool_t *amc,
                                     const amc_seg_t *seg,
                                     const char *base) {
  return seg->pins != NULL &&
         tdo_bits_get(seg->pins, tdo_amc_pin_index(amc, seg, base));
}

/* The bits of a reference to what is pinned in SEG, which may be promoted when
   the collection is over. */
static inline unsigned tdo_amc_pinned_bits(const amc_seg_t *seg) {
  return seg->gc.gen->bit | seg->to->bit;
}

/* Is the block at BASE known to be a pad (.padded)? */
static inline bool tdo_amc_is_pad(const amc_pool_t *amc, const amc_seg_t *seg,
                                  const char *base) {
  return seg->padded != NULL && !tdo_amc_is_pinned(amc, seg, base) &&
         tdo_bits_get(seg->pin_table + tdo_bits_words(seg->pin_count),
                      (size_t)(base - seg->padded) >> amc->shift);
}

static inline bool tdo_amc_is_held(const amc_pool_t *amc,
                                   const amc_seg_t *seg,
                                   const char *base) {
  return seg->held != NULL &&
         tdo_bits_get(seg->held, tdo_amc_pin_index(amc, seg, base));
}

/* amc.c: a new segment of SIZE bytes in GEN; free one, or its tables. */
mps_res_t tdo_amc_new_seg(amc_seg_t **seg_o, amc_pool_t *amc, tdo_gen_t *gen,
                          size_t size, bool large);
void tdo_amc_free_seg(amc_seg_t *seg);
/* Survivors go into SEG no more. */
void tdo_amc_close_to(amc_pool_t *amc, amc_seg_t *seg);
void tdo_amc_free_tables(amc_seg_t *seg);
/* Room for pins, secured in advance where it is needed without memory. */
mps_res_t tdo_amc_make_pins(amc_pool_t *amc, amc_seg_t *seg);

/* amc_pin.c: base of the last object that begins at or before ADDR, in a
   segment with at least one object. */
char *tdo_amc_find(amc_pool_t *amc, amc_seg_t *seg, char *addr);
/* Bytes of `starts`. */
size_t tdo_amc_starts_bytes(const amc_seg_t *seg);
/* The collector needs white SEG open: an ordinary one until it is freed, a
   nailed one, which the mutator may reach, until this slice ends; then it is
   closed. */
void tdo_amc_open_now(amc_pool_t *amc, amc_seg_t *seg);
static inline void tdo_amc_open(amc_pool_t *amc, amc_seg_t *seg) {
  if (TDO_UNLIKELY(!seg->gc.open))
    tdo_amc_open_now(amc, seg);
}
void tdo_amc_close(amc_seg_t *seg);
/* Bytes of `moved`. */
static inline size_t tdo_amc_moved_bytes(size_t count) {
  return (count + 1) * sizeof(mps_addr_t);
}
/* Nailed SEG, which is open, is settled (.settled) if there is memory for
   that. */
void tdo_amc_settle(amc_pool_t *amc, amc_seg_t *seg);
/* Where the object REF of white SEG, which is open or settled, has moved to, or
   null. */
static inline mps_addr_t tdo_amc_moved_to(const amc_pool_t *amc,
                                          const amc_seg_t *seg,
                                          mps_addr_t ref) {
  const tdo_format_t *fmt = amc->pool.format;
  size_t i;

  if (seg->moved == NULL)
    return fmt->isfwd(ref);
  i = tdo_amc_pin_index(amc, seg, (char *)ref - fmt->header);
  return tdo_bits_get(seg->held, i)
             ? seg->moved[tdo_bits_count(seg->held, 0, i)]
             : NULL;
}
/* The segment has something to scan. */
void tdo_amc_grey(amc_pool_t *amc, amc_seg_t *seg);
/* The object at BASE stays in place. */
void tdo_amc_pin(amc_pool_t *amc, amc_seg_t *seg, char *base);
/* Does the ambiguous reference ADDR, into the object at BASE, keep it? */
bool tdo_amc_pins(const amc_pool_t *amc, const char *base, const char *addr);
/* Fix the ambiguous reference ADDR. */
mps_res_t tdo_amc_fix_ambig(amc_pool_t *amc, tdo_scan_t *scan, amc_seg_t *seg,
                            char *addr);

/* amc_trace.c: a large object alone in its segment moves by changing its
   generation. False if SEG has none, or something keeps it as it is. */
bool tdo_amc_promote_large(amc_pool_t *amc, tdo_scan_t *scan, amc_seg_t *seg);
/* Methods of the class. */
void tdo_amc_whiten(tdo_pool_t *pool, tdo_gcseg_t *gc);
bool tdo_amc_stays(const tdo_pool_t *pool, const tdo_gcseg_t *gc);
void tdo_amc_pardon(tdo_gcseg_t *gc);
mps_res_t tdo_amc_fix(tdo_pool_t *pool, tdo_scan_t *scan, tdo_gcseg_t *gc,
                      mps_addr_t *ref_io);
bool tdo_amc_alive(tdo_pool_t *pool, tdo_gcseg_t *gc, mps_addr_t *ref_io);
mps_res_t tdo_amc_scan(tdo_pool_t *pool, tdo_scan_t *scan, tdo_gcseg_t *gc);
void tdo_amc_widen(tdo_pool_t *pool, tdo_gcseg_t *gc, char **base_io,
                   char **limit_io);
mps_res_t tdo_amc_scan_range(tdo_pool_t *pool, tdo_scan_t *scan,
                             tdo_gcseg_t *gc, char *base, char *limit);
void tdo_amc_pause(tdo_pool_t *pool);
void tdo_amc_reclaim(tdo_pool_t *pool, tdo_gcseg_t *gc);
void tdo_amc_fetch(const tdo_gcseg_t *gc, const char *ref);
void tdo_amc_tenured(tdo_pool_t *pool, tdo_gcseg_t *gc);

#endif /* TDO_POOL_AMC_H */
