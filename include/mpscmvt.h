/* Testudo: manual pools that put off reuse.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef mpscmvt_h
#define mpscmvt_h

#include "mps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pools for allocation points and mps_free, which place together what is
   allocated together. Arguments: MPS_KEY_ALIGN, _MIN_SIZE, _MEAN_SIZE,
   _MAX_SIZE, the next keys. The sizes ascend in this order; without a key they
   are MPS_PF_ALIGN, 32 and 8192. Needs no lock, and works before any arena
   exists. */
mps_pool_class_t mps_class_mvt(void);

/* The number of blocks of mean size to hold back from reuse. */
extern const struct mps_key_s _mps_key_MVT_RESERVE_DEPTH;
#define MPS_KEY_MVT_RESERVE_DEPTH       (&_mps_key_MVT_RESERVE_DEPTH)
#define MPS_KEY_MVT_RESERVE_DEPTH_FIELD count
/* The part of the pool, 0.0 to 1.0, that may be free before it is reused. */
extern const struct mps_key_s _mps_key_MVT_FRAG_LIMIT;
#define MPS_KEY_MVT_FRAG_LIMIT       (&_mps_key_MVT_FRAG_LIMIT)
#define MPS_KEY_MVT_FRAG_LIMIT_FIELD d

/* Deprecated names. */
#define mps_mvt_size      mps_pool_total_size
#define mps_mvt_free_size mps_pool_free_size

#ifdef __cplusplus
}
#endif

#endif /* mpscmvt_h */
