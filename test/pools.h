/* Testudo: what the tests of manual pools share: an arena, pools in it, blocks
   in them. SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_POOLS_H
#define TDO_TEST_POOLS_H

#include "mpsavm.h"
#include "test/asserted.h"
#include "test/require.h"

static mps_arena_t arena;

/* Make the arena; assertions are counted from now on. */
static inline void start(void) {
  ck_assert_int_eq(
      mps_arena_create_k(&arena, mps_arena_class_vm(), mps_args_none),
      MPS_RES_OK);
  asserted_start();
}

/* Unmake it; nobody left anything behind. */
static inline void stop(void) {
  mps_arena_destroy(arena);
  asserted_none();
}

/* RES becomes the result of creating POOL of class CLS with one argument, its
   NAME without prefix; the argument is consumed. */
#define TRY_CREATE(res, pool, cls, name, value)                               \
  do {                                                                        \
    MPS_ARGS_BEGIN(args) {                                                    \
      MPS_ARGS_ADD(args, MPS_KEY_##name, value);                              \
      (res) = mps_pool_create_k(&(pool), arena, cls, args);                   \
      ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);                        \
    }                                                                         \
    MPS_ARGS_END(args);                                                       \
  } while (0)

#define CREATE(pool, cls, name, value)                                        \
  do {                                                                        \
    mps_res_t create_res;                                                     \
    TRY_CREATE(create_res, pool, cls, name, value);                           \
    ck_assert_int_eq(create_res, MPS_RES_OK);                                 \
  } while (0)

/* The argument is a client's mistake, and the client is told. */
#define REFUSED(cls, name, value)                                             \
  ASSERTED(do {                                                               \
    mps_pool_t refused_pool;                                                  \
    mps_res_t refused_res;                                                    \
    TRY_CREATE(refused_res, refused_pool, cls, name, value);                  \
    ck_assert_int_ne(refused_res, MPS_RES_OK);                                \
  } while (0))

static inline char *alloc(mps_pool_t pool, size_t size) {
  mps_addr_t p;

  REQUIRE(mps_alloc(&p, pool, size) == MPS_RES_OK);
  return p;
}

/* Reserve and commit. */
static inline char *make(mps_ap_t ap, size_t size) {
  mps_addr_t p;

  do
    REQUIRE(mps_reserve(&p, ap, size) == MPS_RES_OK);
  while (!mps_commit(ap, p, size));
  return p;
}

static inline mps_ap_t point(mps_pool_t pool) {
  mps_ap_t ap;

  ck_assert_int_eq(mps_ap_create_k(&ap, pool, mps_args_none), MPS_RES_OK);
  return ap;
}

static inline size_t in_use(mps_pool_t pool) {
  return mps_pool_total_size(pool) - mps_pool_free_size(pool);
}

#endif /* TDO_TEST_POOLS_H */
