/* Testudo: pools that mark and sweep.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef mpscams_h
#define mpscams_h

#include "mps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Automatic pools that do not move blocks; the second writes patterns over
   free memory and checks them. An ambiguous reference keeps a block only if
   it is its client pointer. Arguments: MPS_KEY_FORMAT, required;
   MPS_KEY_CHAIN, MPS_KEY_GEN, the next key; MPS_KEY_POOL_DEBUG_OPTIONS for
   the second. Of allocation points: MPS_KEY_RANK. Need no lock, and work
   before any arena exists. */
mps_pool_class_t mps_class_ams(void);
mps_pool_class_t mps_class_ams_debug(void);

/* Whether allocation points may be of ambiguous rank; true by default.
   Ambiguous references to blocks keep these in any case. */
extern const struct mps_key_s _mps_key_AMS_SUPPORT_AMBIGUOUS;
#define MPS_KEY_AMS_SUPPORT_AMBIGUOUS       (&_mps_key_AMS_SUPPORT_AMBIGUOUS)
#define MPS_KEY_AMS_SUPPORT_AMBIGUOUS_FIELD b

#ifdef __cplusplus
}
#endif

#endif /* mpscams_h */
