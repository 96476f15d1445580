/* Testudo: tests of the commit limit and spare memory, and of what goes back to
   the system when a heap falls (interface, sections 2.3 and 2.4).
   SPDX-License-Identifier: BSD-2-Clause */
#include "mpscams.h"
#include "trace/heap.h"
#include "test/arenas.h"
#include "test/suite.h"

START_TEST(test_commit_limit) {
  mps_addr_t p[64];
  mps_pool_t m;
  size_t committed, n = 0;
  start();
  m = manual(arena);
  committed = mps_arena_committed(arena);
  ck_assert_int_eq(mps_arena_commit_limit_set(arena, 0), MPS_RES_FAIL);
  ck_assert_uint_eq(mps_arena_commit_limit(arena), SIZE_MAX);
  mps_arena_spare_set(arena, 0.0);
  committed = mps_arena_committed(arena);
  ck_assert_uint_eq(mps_arena_spare_committed(arena), 0);
  ck_assert_int_eq(mps_arena_commit_limit_set(arena, committed - 1),
                   MPS_RES_FAIL);
  ck_assert_int_eq(mps_arena_commit_limit_set(arena, committed), MPS_RES_OK);
  ck_assert_int_eq(mps_alloc(&p[0], m, MIB), MPS_RES_COMMIT_LIMIT);
  ck_assert_int_eq(mps_arena_commit_limit_set(arena, committed + 10 * MIB),
                   MPS_RES_OK);
  while (mps_alloc(&p[n], m, MIB) == MPS_RES_OK) {
    check_invariants(arena);
    ++n;
  }
  ck_assert_uint_ge(n, 9);
  ck_assert_int_eq(mps_alloc(&p[n], m, MIB), MPS_RES_COMMIT_LIMIT);
  ck_assert_int_eq(
      mps_arena_commit_limit_set(arena, mps_arena_commit_limit(arena) + MIB),
      MPS_RES_OK);
  ck_assert_int_eq(mps_alloc(&p[n], m, MIB / 2), MPS_RES_OK);
  mps_free(m, p[n], MIB / 2);
  while (n-- > 0)
    mps_free(m, p[n], MIB);
  check_invariants(arena);
  mps_pool_destroy(m);
  stop();
}
END_TEST

/* Spare memory anywhere makes room. */
START_TEST(test_limit_uses_spare) {
  mps_addr_t p, q;
  mps_pool_t m, n;
  size_t most;
  start();
  mps_arena_spare_set(arena, 1.0);
  m = manual(arena);
  ck_assert_int_eq(mps_alloc(&p, m, 8 * MIB), MPS_RES_OK);
  mps_pool_destroy(m);
  ck_assert_uint_ge(mps_arena_spare_committed(arena), 8 * MIB);
  most = mps_arena_committed(arena);
  ck_assert_int_eq(mps_arena_commit_limit_set(arena, most), MPS_RES_OK);
  n = manual(arena);
  ck_assert_int_eq(mps_alloc(&q, n, 5 * MIB), MPS_RES_OK);
  check_invariants(arena);
  ck_assert_int_eq(mps_arena_commit_limit_set(
                       arena, most - mps_arena_spare_committed(arena) / 2),
                   MPS_RES_OK);
  check_invariants(arena);
  mps_pool_destroy(n);
  stop();
}
END_TEST

/* What is not said to be spare is in use, the nursery's share, too. And who
   wants little spare memory gets a small share. */
START_TEST(test_limit_below_use) {
  static const double spares[] = {0.75, 0.1, 0.001};
  for (size_t i = 0; i < sizeof spares / sizeof spares[0]; ++i) {
    size_t used;
    heap_start(mps_class_amc());
    mps_arena_spare_set(arena, spares[i]);
    for (size_t n = 0; n < 200000; ++n)
      (void)numbered(n);
    mps_arena_park(arena);
    check_invariants(arena);
    used = mps_arena_committed(arena) - mps_arena_spare_committed(arena);
    ck_assert_int_eq(mps_arena_commit_limit_set(arena, used - 1),
                     MPS_RES_FAIL);
    ck_assert_uint_eq(mps_arena_commit_limit(arena), SIZE_MAX);
    if (spares[i] == 0.001)
      ck_assert_uint_lt(arena->space.spare,
                        tdo_max(arena->space.committed / 8,
                                tdo_space_bytes(&arena->space, 8)));
    ck_assert_int_eq(mps_arena_commit_limit_set(arena, used), MPS_RES_OK);
    check_invariants(arena);
    mps_arena_release(arena);
    heap_stop();
  }
}
END_TEST

/* Who keeps all of it gives none back when other memory is needed. */
START_TEST(test_spare_all) {
  enum { BLOCKS = 64 };
  mps_addr_t p[BLOCKS], q;
  size_t before;
  mps_pool_t m;
  start();
  mps_arena_spare_set(arena, 1.0);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_SPARE, 0.0);
    ck_assert_int_eq(mps_pool_create_k(&m, arena, mps_class_mvff(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  for (size_t i = 0; i < BLOCKS; ++i)
    ck_assert_int_eq(mps_alloc(&p[i], m, MIB), MPS_RES_OK);
  for (size_t i = 0; i < BLOCKS; ++i) /* no room for larger ones */
    mps_free(m, p[i], MIB - (i % 2) * suite_pages(1));
  before = mps_arena_committed(arena);
  ck_assert_uint_gt(mps_arena_spare_committed(arena), before / 10 * 8);
  ck_assert_int_eq(mps_alloc(&q, m, 4 * MIB), MPS_RES_OK);
  ck_assert_uint_ge(mps_arena_committed(arena), before + 3 * MIB);
  check_invariants(arena);
  mps_pool_destroy(m);
  stop();
}
END_TEST

START_TEST(test_spare) {
  mps_addr_t p;
  mps_pool_t m;
  size_t committed;
  start();
  mps_arena_spare_set(arena, 1.0);
  m = manual(arena);
  ck_assert_int_eq(mps_alloc(&p, m, 10 * MIB), MPS_RES_OK);
  committed = mps_arena_committed(arena);
  mps_pool_destroy(m);
  ck_assert_uint_eq(mps_arena_committed(arena), committed); /* kept */
  mps_arena_spare_set(arena, 0.25);
  check_invariants(arena);
  mps_arena_spare_set(arena, 0.0);
  ck_assert_uint_eq(mps_arena_spare_committed(arena), 0);
  committed = mps_arena_committed(arena);
  m = manual(arena);
  ck_assert_int_eq(mps_alloc(&p, m, 10 * MIB), MPS_RES_OK);
  mps_pool_destroy(m);
  ck_assert_uint_le(mps_arena_committed(arena), committed + 8192 * 16);
  ck_assert_uint_eq(mps_arena_spare_committed(arena), 0);
  mps_arena_spare_commit_limit_set(arena, SIZE_MAX);
  ck_assert_double_eq(mps_arena_spare(arena), 1.0);
  mps_arena_spare_commit_limit_set(arena, mps_arena_committed(arena) / 2);
  ck_assert_double_eq_tol(mps_arena_spare(arena), 0.5, 0.01);
  ck_assert_uint_eq(
      mps_arena_spare_commit_limit(arena),
      (size_t)(mps_arena_spare(arena) * (double)mps_arena_committed(arena)));
  stop();
}
END_TEST

/* What described a heap goes with it: nearly all when the client asks, most of
   it when it only goes on, or has nothing to do, and where what died is to be
   finalized, too. */
enum { ASKED, GOES_ON, IDLE, FALLS };

#define AGES 10000000000000 /* ns: longer than anything waits here */

static size_t described(void) {
  return tdo_space_bytes(&arena->space, arena->control.slabs);
}

/* A collection in progress may have seen alive what is let go of then, or the
   rest of it be the one that finds it dead. */
static void finish_it(void) {
  mps_arena_park(arena);
  mps_arena_release(arena);
}

static void heap_fell(mps_pool_class_t cls, int how, bool finalized) {
  enum { OBJECTS = 200000 };
  size_t grown, most;
  heap_start(cls);
  for (size_t i = 0; i < OBJECTS; ++i) {
    mps_addr_t obj = node(2);
    *obj_ref(obj, 0) = table[0];
    table[0] = obj;
    if (finalized)
      REQUIRE(mps_finalize(arena, &obj) == MPS_RES_OK);
  }
  grown = described();
  most = tdo_max(grown / 2, MIB * 5 / 4);
  ck_assert_uint_gt(grown, OBJECTS * obj_bytes(2) / 40);
  if (how == IDLE)
    finish_it();
  table[0] = NULL;
  for (int n = 0; n <= finalized && how == ASKED; ++n)
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  for (int n = 0; n <= finalized && how == IDLE; ++n) {
    arena->whole.ended -= AGES; /* else it would wait */
    while (mps_arena_step(arena, 0.01, 1000.0))
      ;
  }
  for (size_t i = 0; how == GOES_ON && described() > most; ++i) {
    ck_assert_uint_lt(i, 10000);
    arena->whole.ended -= 1000000000;
    (void)churn(2000);
  }
  if (how == ASKED)
    ck_assert_uint_lt(mps_arena_committed(arena), 4 * MIB);
  if (how != IDLE || !suite_stressed()) /* steps may begin none there */
    ck_assert_uint_le(described(), how == ASKED ? grown / 4 : most);
  heap_stop();
}

START_TEST(test_fall) {
  for (int way = 0; way < 2 * FALLS; ++way) {
    heap_fell(mps_class_amc(), way / 2, way % 2 != 0);
    heap_fell(mps_class_ams(), way / 2, way % 2 != 0);
  }
}
END_TEST

/* What is old dies without anything being promoted; it is found in time, which
   is longer where such a look was in vain. */
static double rest_after(int most) {
  double rest = arena->whole.rest;
  for (int i = 0; i < most && arena->whole.rest == rest; ++i) {
    arena->whole.ended -= AGES; /* however slow the machine is: else another
                                   collection finds it first */
    (void)churn(2000);
  }
  return arena->whole.rest / TDO_WHOLE_REST;
}

START_TEST(test_late) {
  double size;
  if (suite_stressed()) /* there it comes to no other collection */
    return;
  heap_start(mps_class_ams());
  push_nodes(20, 200000);
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  mps_arena_release(arena);
  size = tdo_heap_size(arena);
  ck_assert_double_gt(size, 4 * MIB);
  ck_assert_double_eq(rest_after(5000), 2);
  ck_assert_double_eq(rest_after(5000), 4);
  finish_it();
  table[20] = NULL;
  ck_assert_double_eq(rest_after(5000), 1);
  ck_assert_double_lt(arena->alive, size / 4); /* the rest is young */
  ck_assert(!arena->whole.late);
  heap_stop();
}
END_TEST

/* Generations that do not adapt are as large as the heap has it, however much
   of the time collecting them takes, and nothing is looked at since the time
   has come. */
START_TEST(test_no_adapt) {
  double capacity;
  mps_pool_t own;
  mps_ap_t on;
  ck_assert_int_eq(setenv("TESTUDO_ADAPT", "off", 1), 0);
  ck_assert_int_eq(setenv("TESTUDO_SMALL", "0", 1), 0);
  heap_start(mps_class_amc());
  own = own_chain_pool(mps_class_amc());
  on = point(own);
  table[20] = obj_on(on, OBJ_NODE, 2);
  capacity = arena->default_chain->gens[0].capacity;
  for (size_t i = 0; i < suite_size(400000, 2000); ++i) {
    mps_addr_t obj = obj_on(on, OBJ_NODE, 2);
    *obj_ref(obj, 0) = i % 190000 == 0 ? NULL : table[20];
    table[20] = obj;
  }
  ck_assert(suite_stressed() || tdo_heap_size(arena) > (double)(4 * MIB));
  ck_assert_double_eq(rest_after(50), 1);
  ck_assert(suite_stressed() || mps_collections(arena) > 0);
  /* An eighth of the heap. */
  ck_assert_double_le(arena->default_chain->gens[0].capacity,
                      tdo_fmax(capacity, tdo_heap_size(arena) / 4));
  mps_arena_park(arena);
  mps_ap_destroy(on);
  mps_pool_destroy(own);
  heap_stop();
}
END_TEST

/* Two lightly used pools work under every limit from 160,000 bytes,
   where pages have 4 KiB. */
START_TEST(test_little_limits) {
  size_t page = suite_pages(1), most = page / 4096 * 400000;

  for (size_t limit = page / 4096 * 160000; limit < most; limit += page) {
    mps_pool_t m[2];
    mps_addr_t p[2];
    arena = create(MIB, limit, 0.0);
    for (int i = 0; i < 2; ++i) {
      m[i] = manual(arena);
      ck_assert_int_eq(mps_alloc(&p[i], m[i], 256), MPS_RES_OK);
    }
    for (int i = 0; i < 2; ++i) {
      mps_free(m[i], p[i], 256);
      mps_pool_destroy(m[i]);
    }
    mps_arena_destroy(arena);
  }
}
END_TEST

SUITE_MAIN("spare", 60, test_commit_limit, test_limit_uses_spare,
           test_limit_below_use, test_spare, test_fall, test_late,
           test_no_adapt, test_spare_all, test_little_limits)
