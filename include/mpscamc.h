/* Testudo: pools that copy what survives.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef mpscamc_h
#define mpscamc_h

#include "mps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Automatic pools that move blocks, unless an ambiguous reference pins them,
   and promote them through the generations of a chain; the second is for
   blocks without references, which are never scanned or protected.
   Arguments: MPS_KEY_FORMAT, required; MPS_KEY_CHAIN, _INTERIOR, _EXTEND_BY,
   _LARGE_SIZE. Of allocation points: MPS_KEY_AP_HASH_ARRAYS, MPS_KEY_GEN.
   Need no lock, and work before any arena exists. */
mps_pool_class_t mps_class_amc(void);
mps_pool_class_t mps_class_amcz(void);

/* Called with the client pointer of each object, and p and s as given. It
   may read the object and call queries (mps.h). */
typedef void (*mps_amc_apply_stepper_t)(mps_addr_t obj, void *p, size_t s);

/* Deprecated, see mps_pool_walk: visit every object of such a pool, padding
   included. A collection in progress, and a pool of another class, are
   client bugs. Locked. */
void mps_amc_apply(mps_pool_t pool, mps_amc_apply_stepper_t f, void *p,
                   size_t s);

#ifdef __cplusplus
}
#endif

#endif /* mpscamc_h */
