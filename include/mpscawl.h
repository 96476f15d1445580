/* Testudo: pools of weak objects, and of ephemerons.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef mpscawl_h
#define mpscawl_h

#include "mps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Automatic pools that do not move blocks, whose references may be weak, and
   whose blocks may have a dependent one, accessible while they are scanned.
   The second never emulates an access to a protected block: it opens the
   block whole. The third is for tables of pairs, whose scanner calls
   mps_fix_weak_pair. An ambiguous reference keeps a block only if it is its
   client pointer. Arguments: MPS_KEY_FORMAT, required; MPS_KEY_CHAIN,
   MPS_KEY_GEN, the next key. Of allocation points: MPS_KEY_RANK. Need no
   lock, and work before any arena exists. */
mps_pool_class_t mps_class_awl(void);
mps_pool_class_t mps_class_awl0(void);
mps_pool_class_t mps_class_aeph(void);

/* The dependent of the block with client pointer addr, or null. A callback:
   see the rules in mps.h. */
typedef mps_addr_t (*mps_awl_find_dependent_t)(mps_addr_t addr);

/* A mps_awl_find_dependent_t; without it no block has a dependent. */
extern const struct mps_key_s _mps_key_AWL_FIND_DEPENDENT;
#define MPS_KEY_AWL_FIND_DEPENDENT       (&_mps_key_AWL_FIND_DEPENDENT)
#define MPS_KEY_AWL_FIND_DEPENDENT_FIELD addr_method

#ifdef __cplusplus
}
#endif

#endif /* mpscawl_h */
