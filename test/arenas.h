/* Testudo: arenas by their settings, what holds in all of them, and garbage.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_ARENAS_H
#define TDO_TEST_ARENAS_H

#include "mpscmvff.h"
#include "test/objects.h"

#define MIB ((size_t)1 << 20)

static inline mps_arena_t create(size_t size, size_t limit, double spare) {
  mps_arena_t a;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, size);
    MPS_ARGS_ADD(args, MPS_KEY_COMMIT_LIMIT, limit);
    MPS_ARGS_ADD(args, MPS_KEY_SPARE, spare);
    ck_assert_int_eq(mps_arena_create_k(&a, mps_arena_class_vm(), args),
                     MPS_RES_OK);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  return a;
}

static inline void check_invariants(mps_arena_t a) {
  size_t committed = mps_arena_committed(a);
  double spare = mps_arena_spare(a);
  ck_assert(spare >= 0.0 && spare <= 1.0);
  ck_assert((double)mps_arena_spare_committed(a) <= spare * (double)committed);
  ck_assert_uint_lt(mps_arena_spare_committed(a), committed);
  ck_assert_uint_le(committed, mps_arena_reserved(a));
  ck_assert_uint_le(committed, mps_arena_commit_limit(a));
}

static inline mps_pool_t manual(mps_arena_t a) {
  mps_pool_t p;
  ck_assert_int_eq(mps_pool_create_k(&p, a, mps_class_mvff(), mps_args_none),
                   MPS_RES_OK);
  return p;
}

/* Allocate N objects of garbage; the collections that this made. */
static inline mps_word_t churn(size_t n) {
  mps_word_t before = mps_collections(arena);
  for (size_t i = 0; i < n; ++i)
    table[i % 10] = node(20);
  return mps_collections(arena) - before;
}

#endif /* TDO_TEST_ARENAS_H */
