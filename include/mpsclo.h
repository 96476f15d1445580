/* Testudo: pools of leaf objects.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef mpsclo_h
#define mpsclo_h

#include "mps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Automatic pools whose blocks hold no references, never move and are never
   protected. An ambiguous reference keeps a block only if it is its client
   pointer. Arguments: MPS_KEY_FORMAT, required; MPS_KEY_CHAIN,
   MPS_KEY_GEN. Needs no lock, and works before any arena exists. */
mps_pool_class_t mps_class_lo(void);

#ifdef __cplusplus
}
#endif

#endif /* mpsclo_h */
