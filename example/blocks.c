/* Testudo: a small client whose arena lies in memory of its own, and gets more
   when that is full. SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include "mps.h"
#include "mpsacl.h"
#include "mpscmvff.h"

static void require(mps_res_t res) {
  if (res != MPS_RES_OK) {
    fprintf(stderr, "the library gives result %d\n", res);
    exit(1);
  }
}

/* A block for an arena: here from malloc, but it may be any memory. */
static void *block(size_t size) {
  void *p = malloc(size);
  if (p == NULL)
    exit(1);
  return p;
}

static mps_arena_t make_arena(void *base, size_t size) {
  mps_arena_t arena;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_CL_BASE, base);
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, size);
    require(mps_arena_create_k(&arena, mps_arena_class_cl(), args));
  } MPS_ARGS_END(args);
  return arena;
}

/* Allocate; when the arena is full, double it. */
static void *allocate(mps_arena_t arena, mps_pool_t pool, size_t size) {
  mps_addr_t p;
  mps_res_t res = mps_alloc(&p, pool, size);
  if (res == MPS_RES_MEMORY || res == MPS_RES_RESOURCE) {
    size_t more = mps_arena_reserved(arena) + 2 * size;
    require(mps_arena_extend(arena, block(more), more));
    res = mps_alloc(&p, pool, size);
  }
  require(res);
  return p;
}

int main(void) {
  enum { FIRST = 1 << 20, COUNT = 1000, SIZE = 20000 };
  mps_arena_t arena = make_arena(block(FIRST), FIRST);
  mps_pool_t pool;
  char *all[COUNT];

  require(mps_pool_create_k(&pool, arena, mps_class_mvff(), mps_args_none));
  for (int i = 0; i < COUNT; ++i) {
    all[i] = allocate(arena, pool, SIZE);
    all[i][0] = all[i][SIZE - 1] = (char)i;
  }
  for (int i = 0; i < COUNT; ++i) {
    if (all[i][0] != (char)i || all[i][SIZE - 1] != (char)i)
      return 1;
    mps_free(pool, all[i], SIZE);
  }
  printf("%zu MiB\n", mps_arena_reserved(arena) >> 20);
  mps_pool_destroy(pool);
  mps_arena_destroy(arena); /* the blocks are the program's, as before */
  return 0;
}
