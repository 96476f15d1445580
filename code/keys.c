/* Testudo: the keys of argument lists, and the empty list.
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/keys.h"
#include "mpsacl.h"
#include "mpscams.h"
#include "mpscawl.h"
#include "mpscmfs.h"
#include "mpscmvff.h"
#include "mpscmvt.h"
#include "testudo.h"

/* Define the key OBJECT, which clients write as NAME. */
#define KEY_DEFINE(object, name)                                              \
  const struct mps_key_s object = {                                           \
      TDO_SIG_KEY, name, "the required argument " name " is missing"}
#define KEY(name)     KEY_DEFINE(_mps_key_##name, "MPS_KEY_" #name)
#define OUR_KEY(name) KEY_DEFINE(tdo_key_##name, "TDO_KEY_" #name)

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

/* testudo.h */
OUR_KEY(SHIELD_MODE);
OUR_KEY(SHIELD_QUEUE);
OUR_KEY(SHIELD_QUANTUM);
OUR_KEY(HUGE);
OUR_KEY(POPULATE);

mps_arg_s mps_args_none[] = {{MPS_KEY_ARGS_END, {0}}};

/* All of them but the end. */
static const mps_key_t key_table[] = {
    MPS_KEY_ARENA_SIZE, MPS_KEY_ARENA_GRAIN_SIZE, MPS_KEY_ARENA_ZONED,
    MPS_KEY_ARENA_EXTENDED, MPS_KEY_ARENA_CONTRACTED, MPS_KEY_COMMIT_LIMIT,
    MPS_KEY_SPARE, MPS_KEY_SPARE_COMMIT_LIMIT, MPS_KEY_PAUSE_TIME,
    MPS_KEY_VMW3_TOP_DOWN, MPS_KEY_FMT_ALIGN, MPS_KEY_FMT_HEADER_SIZE,
    MPS_KEY_FMT_SCAN, MPS_KEY_FMT_SKIP, MPS_KEY_FMT_FWD, MPS_KEY_FMT_ISFWD,
    MPS_KEY_FMT_PAD, MPS_KEY_FMT_CLASS, MPS_KEY_FORMAT, MPS_KEY_CHAIN,
    MPS_KEY_GEN, MPS_KEY_INTERIOR, MPS_KEY_EXTEND_BY, MPS_KEY_LARGE_SIZE,
    MPS_KEY_MEAN_SIZE, MPS_KEY_MIN_SIZE, MPS_KEY_MAX_SIZE, MPS_KEY_ALIGN,
    MPS_KEY_POOL_DEBUG_OPTIONS, MPS_KEY_RANK, MPS_KEY_AP_HASH_ARRAYS,
    MPS_KEY_ARENA_CL_BASE, MPS_KEY_AMS_SUPPORT_AMBIGUOUS,
    MPS_KEY_AWL_FIND_DEPENDENT, MPS_KEY_MFS_UNIT_SIZE,
    MPS_KEY_MVFF_ARENA_HIGH, MPS_KEY_MVFF_SLOT_HIGH, MPS_KEY_MVFF_FIRST_FIT,
    MPS_KEY_MVT_RESERVE_DEPTH, MPS_KEY_MVT_FRAG_LIMIT, TDO_KEY_SHIELD_MODE,
    TDO_KEY_SHIELD_QUEUE, TDO_KEY_SHIELD_QUANTUM, TDO_KEY_HUGE,
    TDO_KEY_POPULATE};

bool tdo_key_known(mps_key_t key) {
  for (size_t i = 0; i < sizeof key_table / sizeof key_table[0]; ++i)
    if (key_table[i] == key)
      return true;
  return false;
}

#undef KEY_DEFINE
#undef KEY
#undef OUR_KEY
