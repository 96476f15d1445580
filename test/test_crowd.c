/* Testudo: many arenas at once (interface, section 2.2).
   SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "mpsavm.h"
#include "mpscmvff.h"
#include "test/require.h"
#include "test/suite.h"

enum { ARENAS = 500, SIZE = 3000 };

/* They leave address space for each other, and for the program. */
START_TEST(five_hundred) {
  static mps_arena_t arenas[ARENAS];
  static mps_pool_t pools[ARENAS];
  static mps_addr_t blocks[ARENAS];
  void *p;
  for (size_t i = 0; i < ARENAS; ++i) {
    REQUIRE(mps_arena_create_k(&arenas[i], mps_arena_class_vm(),
                               mps_args_none) == MPS_RES_OK);
    REQUIRE(mps_pool_create_k(&pools[i], arenas[i], mps_class_mvff(),
                              mps_args_none) == MPS_RES_OK);
    REQUIRE(mps_alloc(&blocks[i], pools[i], SIZE) == MPS_RES_OK);
    memset(blocks[i], (int)i, SIZE);
  }
  p = malloc((size_t)4 << 30);
  ck_assert_ptr_nonnull(p);
  free(p);
  for (size_t i = 0; i < ARENAS; ++i) {
    for (size_t j = 0; j < 3; ++j)
      REQUIRE(mps_arena_has_addr(arenas[(i + j) % ARENAS], blocks[i]) ==
              (j == 0));
    REQUIRE(((unsigned char *)blocks[i])[SIZE - 1] == (unsigned char)i);
  }
  for (size_t i = 0; i < ARENAS; ++i) {
    mps_pool_destroy(pools[i]);
    mps_arena_destroy(arenas[i]);
  }
}
END_TEST

SUITE_MAIN("crowd", 100, five_hundred)
