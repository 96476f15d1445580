/* Testudo: tests of what the debug variant of pools that mark and sweep looks
   at (interface, section 2.25).
   SPDX-License-Identifier: BSD-2-Clause */
#include "mpscams.h"
#include "test/nodes.h"
#include "test/suite.h"

static mps_pool_t pool;
static mps_ap_t exact;

static void open_pool(void) {
  start();
  pool = make_pool(mps_class_ams_debug(), format, NULL);
  exact = make_ap(pool, mps_rank_exact());
}

static void close_pool(void) {
  mps_arena_park(arena);
  mps_ap_destroy(exact);
  mps_pool_destroy(pool);
  stop();
}

START_TEST(free_pattern) {
  mps_addr_t addr;
  node_t *p;
  char *bytes;
  size_t size = 64 * sizeof(mps_word_t);

  open_pool();
  ck_assert_int_eq(mps_reserve(&addr, exact, size), MPS_RES_OK);
  bytes = addr;
  for (size_t i = 0; i < size; ++i)
    ck_assert_int_eq(bytes[i], "FREE"[(uintptr_t)(bytes + i) % 4]);
  memset(addr, 0, size);
  p = addr;
  p->head = HEAD(NODE, 64);
  ck_assert(mps_commit(exact, addr, size));
  table[0] = make(exact, NODE, 3);
  mps_ap_destroy(exact);
  collect(); /* P dies */
  bytes = addr;
  for (size_t i = 0; i < size; ++i)
    ck_assert_int_eq(bytes[i], "FREE"[(uintptr_t)(bytes + i) % 4]);
  mps_pool_check_free_space(pool);
  mps_pool_check_fenceposts(pool);
  ck_assert_uint_eq(asserted_count, 0);
  bytes[17] ^= 1;
  ASSERTED_ALWAYS(mps_pool_check_free_space(pool));
  bytes[17] ^= 1;
  ASSERTED_NEVER(mps_pool_check_free_space(pool));
  bytes[size - 1] ^= 1;
  ASSERTED_ALWAYS(exact = make_ap(pool, mps_rank_exact());
                  (void)make(exact, NODE, 1));
  close_pool();
}
END_TEST

/* What a large block leaves of its last grain is free memory, too. */
START_TEST(behind_large) {
  enum { WORDS = 5000 };
  char *end;

  open_pool();
  table[0] = make(exact, LEAF, WORDS);
  end = (char *)&table[0]->word[WORDS];
  ck_assert_uint_ne((uintptr_t)end % suite_pages(1), 0);
  ck_assert_int_eq(*end, "FREE"[(uintptr_t)end % 4]);
  ASSERTED_NEVER(mps_pool_check_free_space(pool));
  *end ^= 1;
  ASSERTED_ALWAYS(mps_pool_check_free_space(pool));
  *end ^= 1;
  collect();
  ASSERTED_NEVER(mps_pool_check_free_space(pool));
  *end ^= 1;
  table[0] = NULL;
  ASSERTED_ALWAYS(collect()); /* it dies, and its memory goes back */
  close_pool();
}
END_TEST

START_TEST(no_splatting) {
  static const mps_pool_debug_option_s options = {"", 0, "", 0};
  mps_pool_t bare;
  mps_ap_t ap;
  node_t *p;

  start();
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, format);
    MPS_ARGS_ADD(args, MPS_KEY_POOL_DEBUG_OPTIONS,
                 (mps_pool_debug_option_s *)(uintptr_t)&options);
    ck_assert_int_eq(
        mps_pool_create_k(&bare, arena, mps_class_ams_debug(), args),
        MPS_RES_OK);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  ap = make_ap(bare, mps_rank_exact());
  p = make(ap, LEAF, 4);
  table[0] = make(ap, LEAF, 4);
  collect();
  p->word[0] = p;
  mps_pool_check_free_space(bare);
  mps_arena_park(arena);
  mps_ap_destroy(ap);
  mps_pool_destroy(bare);
  stop();
}
END_TEST

SUITE_MAIN("ams_debug", 100, free_pattern, behind_large, no_splatting)
