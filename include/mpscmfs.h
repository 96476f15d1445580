/* Testudo: manual pools of blocks of one size.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef mpscmfs_h
#define mpscmfs_h

#include "mps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pools for mps_alloc and mps_free of blocks of one size. Arguments: the next
   key, required; MPS_KEY_EXTEND_BY. Needs no lock, and works before any
   arena exists. */
mps_pool_class_t mps_class_mfs(void);

/* Bytes in every block. */
extern const struct mps_key_s _mps_key_MFS_UNIT_SIZE;
#define MPS_KEY_MFS_UNIT_SIZE       (&_mps_key_MFS_UNIT_SIZE)
#define MPS_KEY_MFS_UNIT_SIZE_FIELD size

#ifdef __cplusplus
}
#endif

#endif /* mpscmfs_h */
