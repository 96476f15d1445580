/* Testudo: a pool that marks and sweeps, plain or debug, beside one that moves,
   on one chain. SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_AMS_POOLS_H
#define TDO_TEST_AMS_POOLS_H

#include "mpscamc.h"
#include "mpscams.h"
#include "test/nodes.h"

static mps_pool_t pool, moving;
static mps_ap_t exact, moving_ap;
static mps_chain_t chain;

static inline mps_pool_class_t class_of(int i) {
  return i == 0 ? mps_class_ams() : mps_class_ams_debug();
}

static inline void open_pools(int i) {
  start();
  chain = make_chain(100);
  pool = make_pool(class_of(i), format, chain);
  moving = make_pool(mps_class_amc(), moving_format, chain);
  exact = make_ap(pool, mps_rank_exact());
  moving_ap = make_ap(moving, mps_rank_exact());
}

static inline void close_pools(void) {
  mps_arena_park(arena);
  mps_ap_destroy(moving_ap);
  mps_ap_destroy(exact);
  mps_pool_destroy(moving);
  mps_pool_destroy(pool);
  mps_chain_destroy(chain);
  stop();
}

static inline size_t live_bytes(void) {
  return in_use(pool) - unused(exact);
}

/* A pool whose blocks begin in generation GEN of ON. */
static inline mps_pool_t old_pool(mps_pool_class_t cls, mps_chain_t on,
                                  unsigned gen) {
  mps_pool_t p;

  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, format);
    MPS_ARGS_ADD(args, MPS_KEY_CHAIN, on);
    MPS_ARGS_ADD(args, MPS_KEY_GEN, gen);
    ck_assert_int_eq(mps_pool_create_k(&p, arena, cls, args), MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  return p;
}

#endif /* TDO_TEST_AMS_POOLS_H */
