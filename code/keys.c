/* Testudo: the keys of argument lists, and the empty list.
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/args.h"
#include "mpsacl.h"
#include "mpscams.h"
#include "mpscawl.h"
#include "mpscmfs.h"
#include "mpscmvff.h"
#include "mpscmvt.h"

#define KEY(name) TDO_KEY_DEFINE(_mps_key_##name, "MPS_KEY_" #name)

/* mps.h */
KEY(ARGS_END);
KEY(ARENA_SIZE);
KEY(ARENA_GRAIN_SIZE);
KEY(ARENA_ZONED);
KEY(ARENA_EXTENDED);
KEY(ARENA_CONTRACTED);
KEY(COMMIT_LIMIT);
KEY(SPARE);
KEY(SPARE_COMMIT_LIMIT);
KEY(PAUSE_TIME);
KEY(VMW3_TOP_DOWN);
KEY(FMT_ALIGN);
KEY(FMT_HEADER_SIZE);
KEY(FMT_SCAN);
KEY(FMT_SKIP);
KEY(FMT_FWD);
KEY(FMT_ISFWD);
KEY(FMT_PAD);
KEY(FMT_CLASS);
KEY(FORMAT);
KEY(CHAIN);
KEY(GEN);
KEY(INTERIOR);
KEY(EXTEND_BY);
KEY(LARGE_SIZE);
KEY(MEAN_SIZE);
KEY(MIN_SIZE);
KEY(MAX_SIZE);
KEY(ALIGN);
KEY(POOL_DEBUG_OPTIONS);
KEY(RANK);
KEY(AP_HASH_ARRAYS);

/* mpsacl.h */
KEY(ARENA_CL_BASE);

/* mpscams.h */
KEY(AMS_SUPPORT_AMBIGUOUS);

/* mpscawl.h */
KEY(AWL_FIND_DEPENDENT);

/* mpscmfs.h */
KEY(MFS_UNIT_SIZE);

/* mpscmvff.h */
KEY(MVFF_ARENA_HIGH);
KEY(MVFF_SLOT_HIGH);
KEY(MVFF_FIRST_FIT);

/* mpscmvt.h */
KEY(MVT_RESERVE_DEPTH);
KEY(MVT_FRAG_LIMIT);

mps_arg_s mps_args_none[] = {{MPS_KEY_ARGS_END, {0}}};

#undef KEY
