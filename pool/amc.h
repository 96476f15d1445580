/* Testudo: structures of the mostly-copying pools, for the files of amc.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_POOL_AMC_H
#define TDO_POOL_AMC_H

#include "code/bits.h"
#include "trace/heap.h"

#define AMC_CARD_SHIFT 10 /* object starts are known for each KiB */

typedef struct amc_seg {
  tdo_gcseg_t gc;    /* first */
  bool kept;         /* nailed, and everything stays that has not moved */
  bool large;        /* one object of its own extent */
  bool in_place;     /* white and nailed: whatever is reached stays */
  size_t live;       /* bytes that survived the last collection in place;
                        0: not known */
  size_t marked;     /* bytes found to survive by the one in progress */
  tdo_ring_t open_ring; /* in pool->open, while nailed and exposed */
  char *scanned;     /* .scanned */
  char *condemned;   /* .condemned */
  /* .pins, .unread; null while nothing is pinned */
  tdo_bits_t *pins, *unread;
  tdo_bits_t *pin_table; /* room for both, secured in advance, or null */
  size_t pin_count;  /* bits in each */
  tdo_bits_t *held;  /* .held; null: none is */
  uint32_t *starts;  /* .starts */
  size_t card_count, starts_known;
} amc_seg_t;

/* Where survivors of one generation are copied to. */
typedef struct amc_to {
  tdo_gen_t *gen;
  amc_seg_t *seg;    /* being filled, or null */
  amc_seg_t *large;  /* the last one made for a large object */
  bool exposed;      /* `seg` is, for this slice */
} amc_to_t;

typedef struct amc_pool {
  tdo_pool_t pool;   /* first */
  tdo_chain_t *chain;
  bool leaf, interior;
  unsigned shift;    /* log2 of the alignment */
  size_t extend_by, large;
  tdo_ring_t open;   /* nailed segments exposed in this slice */
  amc_to_t *to;      /* one a generation of the chain, one for the top */
} amc_pool_t;

#endif /* TDO_POOL_AMC_H */
