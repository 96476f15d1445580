/* Testudo: arenas in a block of the client.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef mpsacl_h
#define mpsacl_h

#include "mps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The class of arenas that use memory given by the client, and no other.
   Arguments: the next key and MPS_KEY_ARENA_SIZE, required;
   MPS_KEY_ARENA_GRAIN_SIZE, MPS_KEY_COMMIT_LIMIT, _SPARE, _PAUSE_TIME. More
   can be given with mps_arena_extend. Needs no lock, and works before any
   arena exists. */
mps_arena_class_t mps_arena_class_cl(void);

/* Base of the block, of MPS_KEY_ARENA_SIZE bytes. */
extern const struct mps_key_s _mps_key_ARENA_CL_BASE;
#define MPS_KEY_ARENA_CL_BASE       (&_mps_key_ARENA_CL_BASE)
#define MPS_KEY_ARENA_CL_BASE_FIELD addr

#ifdef __cplusplus
}
#endif

#endif /* mpsacl_h */
