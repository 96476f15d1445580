/* Testudo: manual variable first fit pools, for the class itself and for its
   debugging variant.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_POOL_MVFF_H
#define TDO_POOL_MVFF_H

#include "pool/freelist.h"

typedef struct tdo_mvff {
  tdo_pool_t pool; /* first */
  tdo_freelist_t list;
  size_t extend_by; /* bytes of a new extent */
  double spare;     /* part of the pool that may stay free */
  bool arena_high;  /* new extents from high addresses */
  bool slot_high;   /* use the high end of the area */
  bool first_fit;   /* the lowest area that fits, else the highest */
} tdo_mvff_t;

static inline tdo_mvff_t *tdo_mvff_of(tdo_pool_t *pool) {
  return (tdo_mvff_t *)(void *)pool;
}

/* The class's methods; see tdo_pool_class_t. */
void tdo_mvff_varargs(mps_arg_s args[], va_list list);
mps_res_t tdo_mvff_init(tdo_pool_t *pool, mps_arg_s args[]);
void tdo_mvff_finish(tdo_pool_t *pool);
size_t tdo_mvff_relinquish(tdo_pool_t *pool);
mps_res_t tdo_mvff_fill(tdo_pool_t *pool, tdo_ap_t *ap, size_t size);
void tdo_mvff_empty(tdo_pool_t *pool, tdo_ap_t *ap, char *init, char *limit);

/* Find SIZE bytes (aligned, not 0) by address, or at least SIZE bytes in the
   largest area; extend the pool if need be. They are still free. */
mps_res_t tdo_mvff_find(tdo_area_t *area_o, tdo_mvff_t *mvff, size_t size);
mps_res_t tdo_mvff_find_buffer(tdo_area_t *area_o, tdo_mvff_t *mvff,
                               size_t size);
/* [BASE, LIMIT) of EXTENT is free from now on; give back what is too much. */
void tdo_mvff_release(tdo_mvff_t *mvff, tdo_extent_t *extent, char *base,
                      char *limit);

#endif /* TDO_POOL_MVFF_H */
