/* Testudo: the library's own memory refused. The linker gives the program the
   functions that all blocks and grains of an arena come from (--wrap), so that
   the N-th allocation can fail, for every N: of a record, of a table, of a
   segment. After each the arena is whole and nothing has leaked.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_REFUSED_H
#define TDO_TEST_REFUSED_H

#include "test/nodes.h"
#include "test/suite.h"
#include "trace/heap.h"

static size_t fail_at, fail_count;
static bool fail_rest; /* all that follow, too */

static bool fails(void) {
  if (fail_at == 0)
    return false;
  ++fail_count;
  return fail_count == fail_at || (fail_rest && fail_count > fail_at);
}

mps_res_t __real_tdo_control_alloc(void **p_o, tdo_control_t *c, size_t size);
mps_res_t __wrap_tdo_control_alloc(void **p_o, tdo_control_t *c, size_t size);
mps_res_t __real_tdo_space_alloc(size_t *first_o, tdo_space_t *sp, size_t n,
                                 tdo_group_t group, bool high, void *owner);
mps_res_t __wrap_tdo_space_alloc(size_t *first_o, tdo_space_t *sp, size_t n,
                                 tdo_group_t group, bool high, void *owner);

mps_res_t __wrap_tdo_control_alloc(void **p_o, tdo_control_t *c, size_t size) {
  return fails() ? MPS_RES_MEMORY : __real_tdo_control_alloc(p_o, c, size);
}

mps_res_t __wrap_tdo_space_alloc(size_t *first_o, tdo_space_t *sp, size_t n,
                                 tdo_group_t group, bool high, void *owner) {
  return fails() ? MPS_RES_MEMORY
                 : __real_tdo_space_alloc(first_o, sp, n, group, high, owner);
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
