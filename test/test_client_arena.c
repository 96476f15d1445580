/* Testudo: arenas over client memory (interface, section 2.2, "CL class").
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/vm.h"
#include "mpsacl.h"
#include "mpscmfs.h"
#include "test/objects.h"
#include "test/random.h"
#include "test/suite.h"

static char memory[8 << 20];

static mps_res_t create(mps_arena_t *arena_o, void *base, size_t size,
                        size_t limit) {
  mps_res_t res;

  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, size);
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_CL_BASE, base);
    MPS_ARGS_ADD(args, MPS_KEY_COMMIT_LIMIT, limit);
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_CONTRACTED, (mps_fun_t)abort);
    res = mps_arena_create_k(arena_o, mps_arena_class_cl(), args);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_ARENA_CONTRACTED);
    ck_assert_ptr_eq(args[1].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  return res;
}

static void start_client(void *base, size_t size) {
  ck_assert_int_eq(create(&arena, base, size, SIZE_MAX), MPS_RES_OK);
  asserted_start();
}

static void check_accounts(void) {
  size_t committed = mps_arena_committed(arena);

  ck_assert_uint_eq(mps_arena_spare_committed(arena), 0);
  ck_assert_uint_gt(committed, 0);
  ck_assert_uint_le(committed, mps_arena_reserved(arena));
}

/* A size that fails fails at every smaller one, with MEMORY; enough is what
   the reference takes. */
START_TEST(sizes) {
  mps_arena_t none = (mps_arena_t)(void *)memory;
  bool worked = false;

  ck_assert_ptr_eq(mps_arena_class_cl(), mps_arena_class_cl());
  ck_assert_ptr_ne(mps_arena_class_cl(), mps_arena_class_vm());
  for (size_t size = 0; size < 300000; size += size < 3000 ? 1 : 509) {
    mps_res_t res;
    arena = none;
    res = create(&arena, memory + size % 32, size, SIZE_MAX);
    if (res == MPS_RES_OK) {
      worked = true;
      ck_assert_uint_le(mps_arena_reserved(arena), size);
      check_accounts();
      mps_arena_destroy(arena);
    } else {
      ck_assert_int_eq(res, MPS_RES_MEMORY);
      ck_assert(!worked);
      ck_assert_ptr_eq(arena, none);
    }
    ck_assert(worked || size < 256 * 1024);
  }
  ck_assert_int_eq(create(&arena, memory, 16, SIZE_MAX), MPS_RES_MEMORY);
  ck_assert_int_eq(create(&arena, memory, SIZE_MAX, SIZE_MAX), MPS_RES_MEMORY);
  ck_assert_int_eq(create(&arena, memory, sizeof memory, 16384),
                   MPS_RES_COMMIT_LIMIT);
}
END_TEST

START_TEST(arguments) {
  start();
  ASSERTED(ck_assert_int_ne(create(&arena, NULL, sizeof memory, SIZE_MAX),
                            MPS_RES_OK));
  ASSERTED(ck_assert_int_ne(
      mps_arena_create_k(&arena, mps_arena_class_cl(), mps_args_none),
      MPS_RES_OK));
  for (size_t grain = 1; grain <= 1 << 17; grain *= 2)
    for (int odd = 0; odd < 2; ++odd) {
      mps_arena_t a = NULL;
      mps_res_t res;
      asserted_count = 0;
      MPS_ARGS_BEGIN(args) {
        MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, sizeof memory);
        MPS_ARGS_ADD(args, MPS_KEY_ARENA_CL_BASE, memory);
        MPS_ARGS_ADD(args, MPS_KEY_ARENA_GRAIN_SIZE, grain + (size_t)odd * 8);
        res = mps_arena_create_k(&a, mps_arena_class_cl(), args);
      }
      MPS_ARGS_END(args);
      if (grain + (size_t)odd * 8 >= 8 && (!odd || grain == 8)) {
        ck_assert_int_eq(res, MPS_RES_OK);
        ck_assert_uint_eq(asserted_count, 0);
        mps_arena_destroy(a);
      } else {
        ck_assert_int_ne(res, MPS_RES_OK);
        ck_assert_uint_eq(asserted_count > 0, !TDO_RASH);
      }
    }
  asserted_count = 0;
  ASSERTED(mps_arena_extend(arena, memory, sizeof memory));
  stop();
  /* The old form. */
  ck_assert_int_eq(mps_arena_create(&arena, mps_arena_class_cl(),
                                    sizeof memory, (mps_addr_t)memory),
                   MPS_RES_OK);
  asserted_start();
  ASSERTED(mps_arena_vm_growth(arena, 2, 1));
  ASSERTED(mps_arena_extend(arena, NULL, 100000));
  stop();
}
END_TEST

/* Full: an error, again and again; free again: works again. */
START_TEST(exhaustion) {
  mps_pool_t p;
  mps_addr_t at;
  mps_res_t res;
  size_t n = 0;

  start_client(memory + 5, (size_t)2 << 20);
  mps_arena_spare_set(arena, 0.9);
  ck_assert(mps_arena_spare(arena) == 0.9);
  CREATE(p, mps_class_mvff(), SPARE, 0.0);
  for (int round = 0; round < 3; ++round) {
    mps_addr_t last = NULL;
    for (n = 0; (res = mps_alloc(&at, p, 5000)) == MPS_RES_OK; ++n) {
      REQUIRE((char *)at >= memory && (char *)at + 5000 <= memory + (2 << 20));
      REQUIRE(mps_arena_has_addr(arena, at));
      *(mps_addr_t *)at = last;
      last = at;
    }
    ck_assert(res == MPS_RES_MEMORY || res == MPS_RES_RESOURCE);
    ck_assert_uint_gt(n * 5000, (size_t)1500 << 10);
    check_accounts();
    while (last != NULL) {
      at = *(mps_addr_t *)last;
      mps_free(p, last, 5000);
      last = at;
    }
    ck_assert_uint_eq(mps_pool_total_size(p), 0);
    check_accounts();
  }
  /* The commit limit alone is in the way. */
  ck_assert_int_eq(
      mps_arena_commit_limit_set(arena, mps_arena_committed(arena) + 100000),
      MPS_RES_OK);
  ck_assert_int_eq(mps_alloc(&at, p, 500000), MPS_RES_COMMIT_LIMIT);
  ck_assert_int_eq(
      mps_arena_commit_limit_set(arena, mps_arena_committed(arena) - 1),
      MPS_RES_FAIL);
  mps_pool_destroy(p);
  stop();
}
END_TEST

/* Client memory only: nothing is asked of the system (but by the checks of
   the heap, for a table). */
START_TEST(no_calls) {
  tdo_vm_counters_t *c = &tdo_vm_system()->counters;
  unsigned long before = c->map + c->unmap + c->protect + c->advise;

  (void)unsetenv("TESTUDO_CHECK");
  start_client(memory, sizeof memory / 2);
  ck_assert_int_eq(
      mps_arena_extend(arena, memory + sizeof memory / 2, sizeof memory / 2),
      MPS_RES_OK);
  heap_in_arena(mps_class_amc());
  for (int i = 0; i < 100000; ++i)
    table[i % ROOTS] = node(4);
  collect();
  ck_assert_uint_eq(c->map + c->unmap + c->protect + c->advise, before);
  heap_stop();
}
END_TEST

/* Blocks from all over the address space; objects that refer across them,
   move, and keep what they refer to. A root refers to a block of a manual
   pool, too, which neither moves nor is kept. */
START_TEST(extension) {
  enum { BLOCKS = 12 };
  static char fixed[1000003];
  char *blocks[BLOCKS];
  size_t reserved, outside = 0;
  mps_pool_t found, manual;
  mps_root_t manual_root;
  mps_addr_t block, kept;

  random_start();
  memset(table, 0, sizeof table);
  start_client(memory + 3, 300000); /* less than a nursery */
  heap_in_arena(mps_class_amc());
  CREATE(manual, mps_class_mfs(), MFS_UNIT_SIZE, 64);
  block = kept = alloc(manual, 64);
  REQUIRE(mps_root_create_table(&manual_root, arena, mps_rank_exact(), 0,
                                &block, 1) == MPS_RES_OK);
  for (int i = 0; i < BLOCKS; ++i) {
    size_t size = i % 3 == 2 ? 100000 : 3000000;
    blocks[i] = i == 0 ? fixed : malloc(size);
    size = i == 0 ? sizeof fixed : size;
    reserved = mps_arena_reserved(arena);
    ck_assert_int_eq(mps_arena_extend(arena, blocks[i], size), MPS_RES_OK);
    ck_assert_uint_gt(mps_arena_reserved(arena), reserved);
    ck_assert_uint_le(mps_arena_reserved(arena), reserved + size);
    for (size_t n = 0; n < 60000; ++n) {
      size_t at = random_below(ROOTS);
      mps_addr_t obj = numbered(at);
      *obj_ref(obj, 1) = table[random_below(ROOTS)];
      /* Chains do not grow for ever. */
      if (*obj_ref(obj, 1) != NULL && random_below(4) == 0)
        *obj_ref(*obj_ref(obj, 1), 1) = NULL;
      table[at] = obj;
    }
    for (size_t n = 0; n < ROOTS; ++n)
      if (table[n] != NULL) {
        REQUIRE(number_of(table[n]) == n);
        REQUIRE(mps_addr_pool(&found, arena, table[n]) && found == pool);
        outside += (size_t)((char *)table[n] - memory) >= sizeof memory;
      }
    if (i % 4 == 3) {
      collect();
      for (size_t n = 0; n < ROOTS; ++n)
        REQUIRE(table[n] == NULL || number_of(table[n]) == n);
    }
    check_accounts();
  }
  ck_assert(outside > 0 || suite_stressed()); /* which leaves no garbage */
  ck_assert(!mps_arena_has_addr(arena, &found));
  ck_assert(!mps_arena_has_addr(arena, NULL));
  ck_assert_int_eq(mps_arena_extend(arena, fixed, 10), MPS_RES_MEMORY);
  ck_assert_int_eq(mps_arena_extend(arena, fixed, sizeof fixed),
                   MPS_RES_PARAM);
  ck_assert_ptr_eq(block, kept);
  mps_root_destroy(manual_root);
  mps_pool_destroy(manual);
  memset(table, 0, sizeof table);
  heap_stop();
  for (int i = 1; i < BLOCKS; ++i)
    free(blocks[i]);
}
END_TEST

/* Some hundred blocks of one size can be added, then larger ones: each may have
   to hold the tables of all (mps.h). */
START_TEST(many_extensions) {
  enum { EACH = 65536, MANY = 400 };
  static char blocks[MANY][2][EACH]; /* that do not touch */
  mps_res_t res = MPS_RES_OK;
  size_t n = 0, reserved;

  start_client(memory, 300000);
  while (res == MPS_RES_OK && n < MANY)
    res = mps_arena_extend(arena, blocks[n++][0], EACH);
  ck_assert_int_eq(res, MPS_RES_MEMORY);
  ck_assert_uint_gt(n, 100);
  reserved = mps_arena_reserved(arena);
  ck_assert_uint_gt(reserved, (n - 1) * EACH * 3 / 4);
  check_accounts();
  ck_assert_int_eq(mps_arena_extend(arena, blocks[n], 4 * EACH), MPS_RES_OK);
  ck_assert_uint_gt(mps_arena_reserved(arena), reserved);
  while (n + 3 < MANY && res == MPS_RES_MEMORY)
    res = mps_arena_extend(arena, blocks[n += 3][0], EACH);
  ck_assert_int_eq(res, MPS_RES_OK);
  check_accounts();
  stop();
}
END_TEST

/* A block larger than the first serves requests larger than the first. */
START_TEST(large_extension) {
  static char large[16 << 20];
  mps_pool_t p, q;

  start_client(memory, 300000);
  ck_assert_int_eq(mps_arena_extend(arena, large, sizeof large), MPS_RES_OK);
  CREATE(p, mps_class_mvff(), SPARE, 0.5);
  memset(alloc(p, 10 << 20), 1, 10 << 20);
  CREATE(q, mps_class_mfs(), MFS_UNIT_SIZE, 2 << 20);
  memset(alloc(q, 2 << 20), 1, 2 << 20);
  mps_pool_destroy(p);
  mps_pool_destroy(q);
  stop();
}
END_TEST

static size_t null_seen;

static mps_res_t scan_null(mps_ss_t ss, void *p, size_t s) {
  (void)p, (void)s;
  MPS_SCAN_BEGIN(ss) {
    null_seen += MPS_FIX1(ss, NULL);
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

/* Null is no reference, however many blocks there are, nor is what leads to
   none of them. */
START_TEST(null_reference) {
  static char more[500000];
  static mps_word_t outside[2];
  mps_root_t root;
  start_client(memory, sizeof memory / 2);
  heap_in_arena(mps_class_amc());
  REQUIRE(mps_root_create(&root, arena, mps_rank_exact(), 0, scan_null, NULL,
                          0) == MPS_RES_OK);
  for (int i = 0; i < 2; ++i) {
    table[0] = numbered(1);
    table[1] = outside;
    collect();
    ck_assert_uint_eq(number_of(table[0]), 1);
    ck_assert_ptr_eq(table[1], outside);
    ck_assert_uint_eq(null_seen, 0);
    if (i == 0)
      ck_assert_int_eq(mps_arena_extend(arena, more, sizeof more),
                       MPS_RES_OK);
  }
  table[1] = NULL;
  mps_root_destroy(root);
  heap_stop();
}
END_TEST

/* Created and destroyed over and over in one place. */
START_TEST(again_and_again) {
  for (int i = 0; i < 2000; ++i) {
    mps_pool_t p;
    start_client(memory, 300000);
    CREATE(p, mps_class_mvff(), SPARE, 0.5);
    (void)alloc(p, 100);
    mps_pool_destroy(p);
    stop();
  }
}
END_TEST

SUITE_MAIN("client_arena", 100, sizes, arguments, exhaustion, no_calls,
           extension, null_reference, large_extension, many_extensions,
           again_and_again)
