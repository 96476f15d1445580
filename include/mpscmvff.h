/* Testudo: manual pools of blocks of any size.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef mpscmvff_h
#define mpscmvff_h

#include "mps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pools for mps_alloc, mps_free and allocation points; the second surrounds
   blocks with fenceposts, writes patterns over free memory and checks both.
   Arguments: MPS_KEY_EXTEND_BY, _MEAN_SIZE, _ALIGN, _SPARE, the next keys;
   MPS_KEY_POOL_DEBUG_OPTIONS for the second. Need no lock, and work before
   any arena exists. */
mps_pool_class_t mps_class_mvff(void);
mps_pool_class_t mps_class_mvff_debug(void);

/* Whether to grow into high addresses of the arena; false by default. */
extern const struct mps_key_s _mps_key_MVFF_ARENA_HIGH;
#define MPS_KEY_MVFF_ARENA_HIGH       (&_mps_key_MVFF_ARENA_HIGH)
#define MPS_KEY_MVFF_ARENA_HIGH_FIELD b
/* Whether to use the high end of a free area; false by default. */
extern const struct mps_key_s _mps_key_MVFF_SLOT_HIGH;
#define MPS_KEY_MVFF_SLOT_HIGH       (&_mps_key_MVFF_SLOT_HIGH)
#define MPS_KEY_MVFF_SLOT_HIGH_FIELD b
/* Whether to use the lowest area that fits, or the highest; true by
   default. */
extern const struct mps_key_s _mps_key_MVFF_FIRST_FIT;
#define MPS_KEY_MVFF_FIRST_FIT       (&_mps_key_MVFF_FIRST_FIT)
#define MPS_KEY_MVFF_FIRST_FIT_FIELD b

/* Deprecated names. */
#define mps_mvff_size      mps_pool_total_size
#define mps_mvff_free_size mps_pool_free_size

#ifdef __cplusplus
}
#endif

#endif /* mpscmvff_h */
