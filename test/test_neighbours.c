/* Testudo: segments of pools that move objects and of pools that do not, side
   by side in one zone, where address space is scarce.
   SPDX-License-Identifier: BSD-2-Clause */
#include "mpscamc.h"
#include "mpscams.h"
#include "mpsclo.h"
#include "mpscmvff.h"
#include "test/nodes.h"
#include "test/suite.h"
#include "trace/sanity.h"

enum {
  NODES = 400,
  SLOTS = 40,
  ARENA = 8 << 20,
  FEW_ZONES = 5 << 20, /* bytes of a block that leaves so many */
  NO_ZONES = 6 << 20
};

/* Is a segment whose objects move next to one whose objects do not? */
static bool mixed(const node_t *p) {
  const tdo_space_t *sp = &arena->space;
  tdo_gcseg_t *seg = tdo_gcseg_of(sp, p);
  tdo_gcseg_t *next = tdo_gcseg_of(sp, seg->seg.limit);
  bool zone = ((size_t)(seg->seg.limit - sp->base) >> sp->zone_shift) ==
              ((size_t)(seg->seg.base - sp->base) >> sp->zone_shift);
  return next != NULL && zone && !seg->leaf && !next->leaf &&
         seg->pool->klass->moving != next->pool->klass->moving;
}

/* A node of a random kind: what refers to what is random, too. */
static size_t make_nodes(mps_ap_t ap[]) {
  size_t found = 0;
  for (size_t i = 0; i < NODES; ++i) {
    size_t where = random_below(3);
    node_t *p =
        make(ap[where], where == 2 ? LEAF : NODE, 1 + random_below(SLOTS));
    for (size_t j = 0; where != 2 && j < node_slots(p); ++j)
      p->word[j] = random_below(16) == 0 ? table[random_below(TABLE)] : NULL;
    found += mixed(p);
    table[random_below(TABLE)] = p;
  }
  return found;
}

/* One arena, of which a manual block leaves a zone or two: collect, and check.
   What was side by side is counted. */
static size_t trial(size_t block_bytes) {
  size_t found = 0;
  mps_addr_t block;
  mps_pool_t blocks;
  start_sized(ARENA);
  REQUIRE(mps_pool_create_k(&blocks, arena, mps_class_mvff(), mps_args_none) ==
          MPS_RES_OK);
  REQUIRE(mps_alloc(&block, blocks, block_bytes) == MPS_RES_OK);
  mps_pool_t pools[] = {make_pool(mps_class_amc(), moving_format, NULL),
                        make_pool(mps_class_ams(), format, NULL),
                        make_pool(mps_class_lo(), format, NULL)};
  for (size_t round = suite_size(30, 3); round > 0; --round) {
    mps_ap_t ap[3];
    for (int i = 0; i < 3; ++i)
      ap[i] = make_ap(pools[i], mps_rank_exact());
    found += make_nodes(ap);
    for (int i = 0; i < 3; ++i)
      mps_ap_destroy(ap[i]);
    for (int i = 0; i < 2; ++i) {
      collect();
      tdo_sanity_check(arena);
    }
    for (size_t n = random_below(TABLE); n > 0; --n)
      table[random_below(TABLE)] = NULL;
  }
  for (int i = 0; i < 3; ++i)
    mps_pool_destroy(pools[i]);
  mps_free(blocks, block, block_bytes);
  mps_pool_destroy(blocks);
  stop();
  return found;
}

/* What a collection opens for an object that it moves, it does not take from
   neighbours that it has looked at already: after it the checker finds each
   page either with a bar or to be scanned. */
START_TEST(bars) {
  size_t found = 0;
  REQUIRE(setenv("TESTUDO_RESERVE", "1M", 1) == 0);
  random_start();
  for (size_t n = suite_slow() ? 4 : 16; n > 0; --n)
    found += trial(n % 2 == 0 ? FEW_ZONES : NO_ZONES);
  ck_assert_uint_gt(found, 0);
}
END_TEST

SUITE_MAIN("neighbours", 60, bars)
