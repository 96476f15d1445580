/* Testudo: virtual memory arenas.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef mpsavm_h
#define mpsavm_h

#include "mps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The class of arenas that take memory from the system as they grow.
   Arguments: MPS_KEY_ARENA_SIZE, _GRAIN_SIZE, _ZONED, _EXTENDED and
   _CONTRACTED, MPS_KEY_COMMIT_LIMIT, _SPARE and _PAUSE_TIME. Needs no lock,
   and works before any arena exists. */
mps_arena_class_t mps_arena_class_vm(void);

/* The bytes of address space to ask for when the arena next grows, and the
   fewest that will do; desired >= minimum. Gives MPS_RES_OK. Locked. */
mps_res_t mps_arena_vm_growth(mps_arena_t arena, size_t desired,
                              size_t minimum);

#ifdef __cplusplus
}
#endif

#endif /* mpsavm_h */
