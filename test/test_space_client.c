/* Testudo: address space over client memory: blocks anywhere, tables in them,
   at random. SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "arena/internal.h"
#include "arena/space.h"
#include "test/random.h"
#include "test/require.h"
#include "test/suite.h"

enum { GRAIN = 8192, BLOCKS = 40, LIVE = 200 };

static const tdo_space_hooks_t no_hooks;
static char fixed[300000];

/* Where the blocks are: static, on the heap, in between. */
static struct {
  char *base;
  size_t size;
} blocks[BLOCKS];
static size_t block_count;

static bool inside(const char *base, const char *limit) {
  for (size_t i = 0; i < block_count; ++i)
    if (blocks[i].base <= base && limit <= blocks[i].base + blocks[i].size)
      return true;
  return false;
}

static void grow(tdo_space_t *sp, char *base, size_t size) {
  mps_res_t res;
  size_t reserved = block_count == 0 ? 0 : tdo_space_reserved(sp);

  blocks[block_count].base = base;
  blocks[block_count++].size = size;
  if (block_count == 1) {
    REQUIRE(tdo_space_init_client(sp, base, size, GRAIN, SIZE_MAX, 0.5, 3) ==
            MPS_RES_OK);
    REQUIRE(tdo_space_start(sp, 0, &no_hooks) == MPS_RES_OK);
  } else {
    res = tdo_space_add_block(sp, base, size);
    if (res == MPS_RES_MEMORY) { /* too small for the larger tables */
      REQUIRE(size < 256 * 1024 && tdo_space_reserved(sp) == reserved);
      --block_count;
      return;
    }
    REQUIRE(res == MPS_RES_OK);
    REQUIRE(tdo_space_add_block(sp, base, size) == MPS_RES_PARAM);
  }
  REQUIRE(tdo_space_reserved(sp) > reserved &&
          tdo_space_reserved(sp) <= reserved + size);
  REQUIRE(sp->committed <= tdo_space_reserved(sp));
  REQUIRE(tdo_space_check(sp));
}

typedef struct piece {
  size_t first, n;
  int id;
} piece_t;

static void check_piece(const tdo_space_t *sp, const piece_t *piece) {
  char *base = tdo_space_addr(sp, piece->first);
  char *limit = base + piece->n * GRAIN;

  REQUIRE((tdo_word_t)base % GRAIN == 0);
  REQUIRE(inside(base, limit));
  REQUIRE(tdo_space_addr(sp, piece->first + piece->n) == limit);
  REQUIRE(tdo_space_grain(sp, limit) == piece->first + piece->n);
  for (size_t i = 0; i < piece->n; ++i) {
    char *at = base + i * GRAIN + random_below(GRAIN);
    REQUIRE(tdo_space_contains(sp, at));
    REQUIRE(tdo_space_grain(sp, at) == piece->first + i);
    REQUIRE(tdo_space_at(sp, tdo_space_offset(sp, at)) == at);
    REQUIRE(tdo_space_owner(sp, at) == (const void *)&blocks[piece->id]);
    REQUIRE(*(int *)(void *)(base + i * GRAIN) == piece->id);
  }
}

static bool take(tdo_space_t *sp, piece_t *piece) {
  piece->n = 1 + random_below(random_below(4) ? 2 : 12);
  piece->id = (int)random_below(BLOCKS);
  if (tdo_space_alloc(&piece->first, sp, piece->n, TDO_GROUP_MANUAL,
                      random_below(2), &blocks[piece->id]) != MPS_RES_OK)
    return false;
  for (size_t i = 0; i < piece->n; ++i) {
    char *at = tdo_space_addr(sp, piece->first + i);
    memset(at, 0x55, GRAIN);
    *(int *)(void *)at = piece->id;
    sp->extra[(piece->first + i) * 3 + 2] = (unsigned char)piece->id;
  }
  return true;
}

START_TEST(blocks_anywhere) {
  static piece_t live[LIVE];
  tdo_space_t space, *sp = &space;
  size_t count = 0, tables;

  random_start();
  block_count = 0;
  grow(sp, fixed + 3, sizeof fixed - 5);
  tables = sp->committed;
  for (size_t round = 0; round < 60000; ++round) {
    if (round % 1500 == 1499 && block_count < BLOCKS) {
      size_t size = 60000 + random_below(1500000);
      grow(sp, (char *)malloc(size + 64) + random_below(64), size);
      tables = sp->committed;
      for (size_t i = 0; i < count; ++i)
        tables -= live[i].n * GRAIN;
    }
    if (count < LIVE && random_below(2)) {
      count += take(sp, &live[count]);
    } else if (count > 0) {
      size_t at = random_below(count);
      check_piece(sp, &live[at]);
      for (size_t i = 0; i < live[at].n; ++i)
        REQUIRE(sp->extra[(live[at].first + i) * 3 + 2] == live[at].id);
      tdo_space_free(sp, live[at].first, live[at].n);
      live[at] = live[--count];
    }
    if (round % 1000 == 0) {
      size_t sum = tables;
      REQUIRE(tdo_space_check(sp));
      for (size_t i = 0; i < count; ++i) {
        check_piece(sp, &live[i]);
        sum += live[i].n * GRAIN;
      }
      REQUIRE(sp->committed == sum);
    }
  }
  REQUIRE(!tdo_space_contains(sp, &count));
  REQUIRE(!tdo_space_contains(sp, NULL));
  REQUIRE(!tdo_space_contains(sp, fixed + sizeof fixed));
  tdo_space_finish(sp);
}
END_TEST

/* Blocks that touch: no run goes from one to the next, and ends are not
   starts. */
START_TEST(neighbours) {
  static char memory[64 * GRAIN] __attribute__((aligned(GRAIN)));
  static const int order[] = {4, 6, 2, 5, 3, 7, 1};
  tdo_space_t sp;
  size_t first, most = 0;

  random_start();
  block_count = 0;
  for (size_t i = 0; i < 7; ++i) {
    blocks[block_count].base = memory + order[i] * 8 * GRAIN;
    blocks[block_count++].size = 8 * GRAIN;
    if (i == 0) {
      REQUIRE(tdo_space_init_client(&sp, blocks[0].base, 8 * GRAIN, GRAIN,
                                    SIZE_MAX, 0.0, 0) == MPS_RES_OK);
      REQUIRE(tdo_space_start(&sp, 0, &no_hooks) == MPS_RES_OK);
    } else {
      REQUIRE(tdo_space_add_block(&sp, blocks[i].base, 8 * GRAIN) ==
              MPS_RES_OK);
    }
  }
  REQUIRE(tdo_space_alloc(&first, &sp, 9, TDO_GROUP_MANUAL, false, &sp) ==
          MPS_RES_RESOURCE);
  for (size_t n = 8; n > 0; --n)
    while (tdo_space_alloc(&first, &sp, n, TDO_GROUP_MANUAL, n % 2, &sp) ==
           MPS_RES_OK) {
      char *base = tdo_space_addr(&sp, first);
      REQUIRE(inside(base, base + n * GRAIN));
      REQUIRE(tdo_space_grain(&sp, base + n * GRAIN) == first + n);
      most += n;
    }
  REQUIRE(most >= 7 * 6);
  REQUIRE(tdo_space_check(&sp));
  tdo_space_finish(&sp);
}
END_TEST

/* Too small is too small at every smaller size, and nothing is written
   outside. */
START_TEST(sizes) {
  static char memory[200000];
  bool worked = false;
  tdo_space_t sp;

  for (size_t size = 0; size < sizeof memory - 32; size += 61) {
    mps_res_t res;
    memset(memory, 0x77, sizeof memory);
    res = tdo_space_init_client(&sp, memory + 16 + size % 16, size, GRAIN,
                                SIZE_MAX, 0.0, 1);
    REQUIRE(res == MPS_RES_OK || (res == MPS_RES_MEMORY && !worked));
    worked = res == MPS_RES_OK;
    for (size_t i = 0; i < 16; ++i)
      REQUIRE(memory[i] == 0x77);
    for (size_t i = 16 + size % 16 + size; i < sizeof memory; ++i)
      REQUIRE(memory[i] == 0x77);
    if (!worked)
      continue;
    REQUIRE(tdo_space_reserved(&sp) <= size);
    REQUIRE(tdo_space_start(&sp, 0, &no_hooks) == MPS_RES_OK);
    REQUIRE(tdo_space_add_block(&sp, &res, sizeof res) == MPS_RES_MEMORY);
    tdo_space_finish(&sp);
  }
  REQUIRE(worked);
}
END_TEST

START_TEST(limits) {
  static char memory[100000], more[1000000];
  tdo_space_t sp;
  size_t first;

  REQUIRE(tdo_space_init_client(&sp, memory, sizeof memory, GRAIN, 100, 0.0,
                                0) == MPS_RES_COMMIT_LIMIT);
  REQUIRE(tdo_space_init_client(&sp, memory, sizeof memory, GRAIN, 4 * GRAIN,
                                0.7, 0) == MPS_RES_OK);
  REQUIRE(tdo_space_start(&sp, 0, &no_hooks) == MPS_RES_OK);
  REQUIRE(tdo_space_alloc(&first, &sp, 4, TDO_GROUP_CONTROL, false, &sp) ==
          MPS_RES_COMMIT_LIMIT);
  REQUIRE(tdo_space_alloc(&first, &sp, 20, TDO_GROUP_CONTROL, false, &sp) ==
          MPS_RES_RESOURCE);
  REQUIRE(tdo_space_alloc(&first, &sp, 3, TDO_GROUP_CONTROL, false, &sp) ==
          MPS_RES_OK);
  REQUIRE(tdo_space_spare(&sp) == 0 && sp.spare_fraction == 0.7);
  REQUIRE(tdo_space_extend(&sp, 1) == MPS_RES_RESOURCE);
  REQUIRE(tdo_space_commit_limit_set(&sp, 2 * GRAIN) == MPS_RES_FAIL);
  tdo_space_free(&sp, first, 3);
  REQUIRE(tdo_space_commit_limit_set(&sp, 2 * GRAIN) == MPS_RES_OK);
  REQUIRE(tdo_space_spare(&sp) == 0);
  /* New tables would need more than the limit. */
  REQUIRE(tdo_space_commit_limit_set(&sp, sp.committed + 10) == MPS_RES_OK);
  REQUIRE(tdo_space_add_block(&sp, more, sizeof more) == MPS_RES_COMMIT_LIMIT);
  REQUIRE(tdo_space_check(&sp));
  REQUIRE(tdo_space_commit_limit_set(&sp, SIZE_MAX) == MPS_RES_OK);
  REQUIRE(tdo_space_add_block(&sp, more, sizeof more) == MPS_RES_OK);
  REQUIRE(tdo_space_alloc(&first, &sp, 100, TDO_GROUP_CONTROL, false, &sp) ==
          MPS_RES_OK);
  REQUIRE(tdo_space_check(&sp));
  tdo_space_finish(&sp);
}
END_TEST

SUITE_MAIN("space_client", 60, blocks_anywhere, neighbours, sizes, limits)
