/* Testudo: the library's own memory refused (wrapped.h): the N-th allocation
   fails, for every N: of a record, of a table, of a segment. After each the
   arena is whole and nothing has leaked.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_REFUSED_H
#define TDO_TEST_REFUSED_H

#include "test/nodes.h"
#include "test/suite.h"
#include "test/wrapped.h"
#include "trace/heap.h"

static size_t fail_at, fail_count;
static bool fail_rest; /* all that follow, too */

static mps_res_t wrapped_block(void) {
  if (fail_at == 0)
    return MPS_RES_OK;
  ++fail_count;
  return fail_count == fail_at || (fail_rest && fail_count > fail_at)
             ? MPS_RES_MEMORY
             : MPS_RES_OK;
}

static mps_res_t wrapped_grains(void) {
  return wrapped_block();
}

/* Bytes of the arena's records. */
static size_t held(void) {
  const tdo_messages_t *m = &arena->messages; /* kept for collections */
  return arena->control.allocated -
         sizeof(tdo_message_t) * ((m->start != NULL) + (m->end != NULL));
}

/* Call BODY with the N-th allocation refused, for every N, then with all from
   the N-th on. BODY takes back what it made, and returns the first result
   that was not MPS_RES_OK. */
static void each_refused(mps_res_t (*body)(void)) {
  mps_res_t res = body(); /* what is made once and stays */
  ck_assert_int_eq(res, MPS_RES_OK);
  for (int rest = 0; rest < 2; ++rest) {
    bool done = false;
    for (size_t n = 1; !done; ++n) {
      size_t before = held();
      fail_at = n;
      fail_count = 0;
      fail_rest = rest;
      res = body();
      done = fail_count < n;
      fail_at = 0;
      REQUIRE(res == MPS_RES_OK || res == MPS_RES_MEMORY);
      REQUIRE(!done || res == MPS_RES_OK);
      tdo_arena_check(arena);
      ck_assert_msg(held() == before,
                    "%zu bytes became %zu when allocation %zu was refused",
                    before, held(), n);
      REQUIRE(asserted_count == 0);
    }
    ck_assert_uint_gt(fail_count, 0);
  }
}

static mps_pool_t pool;
static mps_ap_t ap;

static void open_pool(mps_pool_class_t cls, mps_rank_t rank) {
  start();
  pool = make_pool(cls, moving_format, NULL);
  ap = make_ap(pool, rank);
}

static void close_pool(void) {
  mps_arena_park(arena);
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  stop();
}

#endif /* TDO_TEST_REFUSED_H */
