/* Testudo: pools that are stacks.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef mpscsnc_h
#define mpscsnc_h

#include "mps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pools whose blocks die when their frame is popped or their allocation
   point goes; until then what they refer to lives. Arguments:
   MPS_KEY_FORMAT, required. Of allocation points: MPS_KEY_RANK. Needs no
   lock, and works before any arena exists. */
mps_pool_class_t mps_class_snc(void);

#ifdef __cplusplus
}
#endif

#endif /* mpscsnc_h */
