/* Testudo: tests of arenas (interface, sections 2.2-2.6).
   SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "mpscmfs.h"
#include "mpscmvt.h"
#include "trace/heap.h"
#include "test/arenas.h"
#include "test/suite.h"

/* ---- creation ---- */

START_TEST(test_defaults) {
  start();
  ck_assert_uint_ge(mps_arena_reserved(arena), (size_t)1 << 28);
  ck_assert_uint_eq(mps_arena_commit_limit(arena), SIZE_MAX);
  ck_assert_double_eq(mps_arena_spare(arena), 0.75);
  ck_assert_double_eq(mps_arena_pause_time(arena), 0.1);
  ck_assert_uint_le(mps_arena_committed(arena), 160000);
  ck_assert_uint_eq(mps_collections(arena), 0);
  ck_assert(!mps_arena_busy(arena));
  ck_assert_ptr_eq(mps_arena_class_vm(), mps_arena_class_vm());
  check_invariants(arena);
  stop();
}
END_TEST

START_TEST(test_sizes) {
  static const size_t sizes[] = {0, 1, 4095, 4097, 1000003, 123456789};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    mps_arena_t a = create(sizes[i], SIZE_MAX, 0.5);
    mps_pool_t p = manual(a);
    mps_addr_t q;
    ck_assert_uint_ge(mps_arena_reserved(a), sizes[i]);
    ck_assert_int_eq(mps_alloc(&q, p, 100000), MPS_RES_OK);
    check_invariants(a);
    mps_pool_destroy(p);
    mps_arena_destroy(a);
  }
}
END_TEST

START_TEST(test_varargs) {
  mps_arena_t a;
  ck_assert_int_eq(mps_arena_create(&a, mps_arena_class_vm(), 5 * MIB),
                   MPS_RES_OK);
  ck_assert_uint_ge(mps_arena_reserved(a), 5 * MIB);
  mps_arena_destroy(a);
}
END_TEST

START_TEST(test_impossible) {
  mps_arena_t a = (mps_arena_t)&a;
  ck_assert_int_eq(mps_arena_create(&a, mps_arena_class_vm(), SIZE_MAX),
                   MPS_RES_RESOURCE);
  ck_assert_int_eq(mps_arena_create(&a, mps_arena_class_vm(), (size_t)1 << 50),
                   MPS_RES_RESOURCE);
  for (int shift = 40; shift < 8 * (int)sizeof(size_t); ++shift)
    MPS_ARGS_BEGIN(args) {
      MPS_ARGS_ADD(args, MPS_KEY_ARENA_GRAIN_SIZE, (size_t)1 << shift);
      ck_assert_int_eq(mps_arena_create_k(&a, mps_arena_class_vm(), args),
                       MPS_RES_RESOURCE);
    }
    MPS_ARGS_END(args);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_COMMIT_LIMIT, 16384);
    ck_assert_int_eq(mps_arena_create_k(&a, mps_arena_class_vm(), args),
                     MPS_RES_COMMIT_LIMIT);
  }
  MPS_ARGS_END(args);
  ck_assert_ptr_eq(a, &a);
}
END_TEST

START_TEST(test_grain) {
  static const size_t grains[] = {1, 3, 512, 4096, 8192, 65536, MIB};
  for (size_t i = 0; i < sizeof grains / sizeof grains[0]; ++i) {
    start();
    mps_arena_destroy(arena);
    MPS_ARGS_BEGIN(args) {
      MPS_ARGS_ADD(args, MPS_KEY_ARENA_GRAIN_SIZE, grains[i]);
      MPS_ARGS_ADD(args, MPS_KEY_ARENA_ZONED, 0);
      MPS_ARGS_ADD(args, MPS_KEY_PAUSE_TIME, INFINITY);
      MPS_ARGS_ADD(args, MPS_KEY_VMW3_TOP_DOWN, 1);
      ck_assert_int_eq(mps_arena_create_k(&arena, mps_arena_class_vm(), args),
                       MPS_RES_OK);
      ck_assert_ptr_eq(args[0].key, MPS_KEY_VMW3_TOP_DOWN); /* left */
    }
    MPS_ARGS_END(args);
    asserted_start();
    heap_in_arena(mps_class_amc());
    for (size_t j = 0; j < 20000; ++j)
      table[j % ROOTS] = numbered(j);
    collect();
    ck_assert_uint_eq(number_of(table[0]), 20000 / ROOTS * ROOTS);
    heap_stop();
  }
}
END_TEST

START_TEST(test_spare_commit_limit_key) {
  mps_arena_t a;
  for (size_t i = 0; i < 2; ++i) {
    MPS_ARGS_BEGIN(args) {
      MPS_ARGS_ADD(args, MPS_KEY_COMMIT_LIMIT, 10 * MIB);
      MPS_ARGS_ADD(args, MPS_KEY_SPARE_COMMIT_LIMIT, i == 0 ? MIB : 20 * MIB);
      ck_assert_int_eq(mps_arena_create_k(&a, mps_arena_class_vm(), args),
                       MPS_RES_OK);
    }
    MPS_ARGS_END(args);
    ck_assert_double_eq_tol(mps_arena_spare(a), i == 0 ? 0.1 : 1.0, 1e-9);
    mps_arena_destroy(a);
  }
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_SPARE_COMMIT_LIMIT, MIB);
    MPS_ARGS_ADD(args, MPS_KEY_SPARE, 0.25);
    ck_assert_int_eq(mps_arena_create_k(&a, mps_arena_class_vm(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  ck_assert_double_eq(mps_arena_spare(a), 0.25);
  mps_arena_destroy(a);
}
END_TEST

/* Without a commit limit it is a number of bytes. */
START_TEST(test_spare_commit_limit_bytes) {
  mps_pool_t m;
  mps_addr_t p;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_SPARE_COMMIT_LIMIT, MIB);
    ck_assert_int_eq(mps_arena_create_k(&arena, mps_arena_class_vm(), args),
                     MPS_RES_OK);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  asserted_start();
  m = manual(arena);
  ck_assert_int_eq(mps_alloc(&p, m, 10 * MIB), MPS_RES_OK);
  ck_assert_uint_eq(mps_arena_spare_commit_limit(arena), MIB);
  mps_pool_destroy(m);
  ck_assert_uint_le(mps_arena_spare_committed(arena), MIB);
  ck_assert_uint_gt(mps_arena_spare_committed(arena), 0);
  mps_arena_spare_set(arena, 1.0);
  m = manual(arena);
  ck_assert_int_eq(mps_alloc(&p, m, 10 * MIB), MPS_RES_OK);
  mps_pool_destroy(m);
  ck_assert_uint_ge(mps_arena_spare_committed(arena), 10 * MIB);
  check_invariants(arena);
  stop();
}
END_TEST

START_TEST(test_many_arenas) {
  enum { MANY = 12 };
  mps_arena_t a[MANY];
  mps_pool_t p[MANY];
  mps_addr_t q[MANY];
  for (int i = 0; i < MANY; ++i) {
    a[i] = create(MIB, SIZE_MAX, 0.5);
    p[i] = manual(a[i]);
    ck_assert_int_eq(mps_alloc(&q[i], p[i], 5 * MIB), MPS_RES_OK);
    memset(q[i], i, 5 * MIB);
  }
  for (int i = 0; i < MANY; ++i)
    for (int j = 0; j < MANY; ++j)
      ck_assert_int_eq(mps_arena_has_addr(a[i], q[j]), i == j);
  for (int i = 0; i < MANY; ++i) {
    ck_assert_int_eq(*(char *)q[i], i);
    mps_pool_destroy(p[i]);
    mps_arena_destroy(a[i]);
  }
}
END_TEST

START_TEST(test_thousands) {
  int count = suite_emulated() ? 300 : 3000;
  for (int i = 0; i < count; ++i) {
    mps_arena_t a = create(MIB, SIZE_MAX, 0.5);
    mps_arena_destroy(a);
  }
}
END_TEST

START_TEST(test_pause_time) {
  start();
  mps_arena_pause_time_set(arena, 0.0);
  ck_assert_double_eq(mps_arena_pause_time(arena), 0.0);
  mps_arena_pause_time_set(arena, INFINITY);
  ck_assert(isinf(mps_arena_pause_time(arena)));
  stop();
}
END_TEST

/* ---- states ---- */

START_TEST(test_states) {
  mps_addr_t before;
  heap_start(mps_class_amc());
  ck_assert_uint_gt(churn(20000), 0); /* unclamped at first */
  mps_arena_clamp(arena);
  ck_assert_uint_eq(churn(20000), 0);
  before = table[0];
  mps_arena_park(arena);
  ck_assert_uint_eq(churn(20000), 0);
  mps_arena_release(arena);
  ck_assert_uint_gt(churn(20000), 0);
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  before = table[0];
  ck_assert_uint_eq(churn(20000), 0); /* parked by that */
  (void)before;
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  ck_assert_uint_gt(churn(40000), 0); /* released by that */
  heap_stop();
}
END_TEST

/* What the program reads there makes no collection go on: what is dead stays,
   and no message comes. */
START_TEST(test_clamped_reads) {
  enum { OBJECTS = 1000, REFS = 2000 };
  mps_word_t done;
  heap_start(mps_class_amc());
  mps_message_type_enable(arena, mps_message_type_finalization());
  mps_arena_park(arena);
  for (size_t i = 0; i < OBJECTS; ++i) {
    table[i] = node(REFS);
    for (size_t k = 0; k < REFS; ++k)
      *obj_ref(table[i], k) = table[(i * 7 + k) % (i + 1)];
  }
  table[OBJECTS] = node(1);
  ck_assert_int_eq(mps_finalize(arena, &table[OBJECTS]), MPS_RES_OK);
  table[OBJECTS] = NULL;
  mps_arena_pause_time_set(arena, 0.001);
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  mps_arena_clamp(arena);
  mps_arena_pause_time_set(arena, 10); /* else it would do all of it */
  arena->hits.quantum = SIZE_MAX / 8;
  done = mps_collections(arena);
  if (tdo_trace_busy(&arena->trace)) {
    for (size_t i = 0; i < OBJECTS; i += 9) /* some, and the rest behind it */
      REQUIRE(obj_size(table[i]) == obj_bytes(REFS));
    ck_assert(tdo_trace_busy(&arena->trace));
    ck_assert_uint_eq(mps_collections(arena), done);
    ck_assert(!mps_message_poll(arena));
  }
  mps_arena_park(arena);
  ck_assert(mps_message_poll(arena));
  heap_stop();
}
END_TEST

static void collect_till_nothing(mps_pool_class_t cls, bool moves) {
  heap_start(cls); /* a pool and a point, no object */
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_FAIL);
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_FAIL);
  table[0] = node(0);
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  table[0] = NULL;
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_FAIL);
  ck_assert_uint_eq(mps_collections(arena), moves ? 2 : 0);
  for (size_t i = 0; i < 1000; ++i) { /* the point ends in the middle */
    table[0] = node(0);
    table[1] = i == 500 ? table[0] : table[1];
  }
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  table[0] = NULL;
  for (size_t i = 0; i < 3; ++i)
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  table[1] = NULL;
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_FAIL);
  heap_stop();
}

START_TEST(test_collect_nothing) {
  start();
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_FAIL);
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_FAIL);
  stop();
  collect_till_nothing(mps_class_amc(), true);
  collect_till_nothing(mps_class_amcz(), true);
  collect_till_nothing(mps_class_ams(), false);
  collect_till_nothing(mps_class_awl(), false);
  collect_till_nothing(mps_class_lo(), false);
}
END_TEST

/* A long list makes work for many slices. */
START_TEST(test_step) {
  int steps = 0;
  heap_start(mps_class_amc());
  ck_assert_int_eq(mps_arena_step(arena, 0.0, 0.0), 0);
  push_nodes(0, 100000);
  mps_arena_park(arena);
  ck_assert_int_eq(mps_arena_step(arena, 0.0, 0.0) & ~1, 0);
  while (mps_arena_step(arena, 0.001, 1000.0) && steps < 10000) {
    if (mps_collections(arena) > 20)
      break;
    ++steps;
  }
  ck_assert_uint_gt(mps_collections(arena), 0);
  mps_arena_park(arena);
  heap_stop();
}
END_TEST

/* A client with nothing to do offers time again and again: what there is is
   collected once, not all day; more when something was made. */
START_TEST(test_step_idle) {
  size_t before;
  heap_start(mps_class_amc());
  for (int round = 0; round < 3; ++round) {
    int steps = 0;
    for (size_t i = 0; i < 20000; ++i) {
      mps_addr_t obj = node(2);
      *obj_ref(obj, 0) = i % 100 == 0 ? NULL : table[0];
      table[0] = obj;
    }
    before = mps_collections(arena);
    while (mps_arena_step(arena, 10.0, 100.0) && steps < 1000)
      ++steps;
    ck_assert_uint_gt(mps_collections(arena), before);
    ck_assert_int_lt(steps, 1000);
  }
  heap_stop();
}
END_TEST

/* A client that allocates by mps_alloc only sees collections through, too. */
START_TEST(test_manual_advances) {
  mps_pool_t m;
  size_t n = 0;
  heap_start(mps_class_amc());
  m = manual(arena);
  mps_arena_clamp(arena);
  push_nodes(0, 100000);
  mps_message_type_enable(arena, mps_message_type_gc());
  mps_arena_pause_time_set(arena, 0.0);
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  for (; n < 100000 && !mps_message_poll(arena); ++n) {
    mps_addr_t p = alloc(m, 4096);
    mps_free(m, p, 4096);
  }
  ck_assert_uint_lt(n, 100000);
  mps_pool_destroy(m);
  heap_stop();
}
END_TEST

/* A step leaves a clamped or parked arena clamped. */
START_TEST(test_step_clamps) {
  heap_start(mps_class_amc());
  (void)churn(100);
  mps_arena_park(arena);
  (void)mps_arena_step(arena, 0.001, 0.0);
  ck_assert_uint_eq(churn(30000), 0);
  mps_arena_release(arena);
  (void)mps_arena_step(arena, 0.001, 0.0);
  ck_assert_uint_gt(churn(30000), 0);
  heap_stop();
}
END_TEST

/* ---- introspection ---- */

START_TEST(test_addresses) {
  mps_pool_t m, found = NULL;
  mps_fmt_t found_fmt = NULL;
  mps_addr_t p;
  heap_start(mps_class_amc());
  m = manual(arena);
  p = alloc(m, 1000);
  table[0] = node(3);
  ck_assert(mps_arena_has_addr(arena, p));
  ck_assert(mps_arena_has_addr(arena, table[0]));
  ck_assert(mps_arena_has_addr(arena, pool)); /* descriptors live there */
  ck_assert(mps_arena_has_addr(arena, thr));
  ck_assert(!mps_arena_has_addr(arena, NULL));
  ck_assert(!mps_arena_has_addr(arena, &p));
  ck_assert(mps_addr_pool(&found, arena, (char *)p + 999));
  ck_assert_ptr_eq(found, m);
  ck_assert(!mps_addr_fmt(&found_fmt, arena, p));
  ck_assert_ptr_null(found_fmt);
  ck_assert(mps_addr_fmt(&found_fmt, arena, table[0]));
  ck_assert_ptr_eq(found_fmt, fmt);
  found = NULL;
  ck_assert(!mps_addr_pool(&found, arena, &p));
  ck_assert(!mps_addr_pool(&found, arena, NULL));
  ck_assert_ptr_null(found);
  ck_assert_int_eq(mps_addr_object(&p, arena, p), MPS_RES_UNIMPL);
  mps_pool_destroy(m);
  heap_stop();
}
END_TEST

/* Who looks up an address without the lock reads the descriptor of what was
   there, which another thread may be giving back: it stays mapped. */
START_TEST(test_look_late) {
  mps_pool_class_t cls[] = {mps_class_mvff(), mps_class_mvff_debug(),
                            mps_class_mvt(), mps_class_mfs()};
  start();
  mps_arena_spare_set(arena, 0.0);
  for (size_t i = 0; i < sizeof cls / sizeof cls[0]; ++i) {
    const tdo_seg_t *seg;
    mps_addr_t p;
    mps_pool_t m;
    mps_ap_t q;
    size_t begun;
    MPS_ARGS_BEGIN(args) {
      MPS_ARGS_ADD(args, MPS_KEY_MFS_UNIT_SIZE, 4 * MIB);
      ck_assert_int_eq(mps_pool_create_k(&m, arena, cls[i], args), MPS_RES_OK);
    }
    MPS_ARGS_END(args);
    if (cls[i] == mps_class_mvt()) {
      ck_assert_int_eq(mps_ap_create_k(&q, m, mps_args_none), MPS_RES_OK);
      ck_assert_int_eq(mps_reserve(&p, q, 4 * MIB), MPS_RES_OK);
      ck_assert(mps_commit(q, p, 4 * MIB));
      mps_ap_destroy(q);
    } else {
      p = alloc(m, 4 * MIB);
    }
    seg = tdo_seg_of(&arena->space, p);
    ck_assert_ptr_eq(seg->pool, m);
    begun = tdo_control_look(&arena->control);
    mps_pool_destroy(m);
    mps_arena_spare_set(arena, 0.0);
    ck_assert(!mps_arena_has_addr(arena, p));
    ck_assert(mps_arena_has_addr(arena, (mps_addr_t)seg));
    (void)*(void *const volatile *)&seg->pool;
    tdo_control_looked(&arena->control, begun);
  }
  stop();
}
END_TEST

/* ---- extension callbacks ---- */

static struct {
  void *base;
  size_t size;
  bool back;
} chunks[1000];
static size_t chunk_count, chunks_back;

static void extended(mps_arena_t a, void *base, size_t size) {
  (void)a;
  chunks[chunk_count].base = base;
  chunks[chunk_count++].size = size;
}

static void contracted(mps_arena_t a, void *base, size_t size) {
  (void)a;
  for (size_t i = 0; i < chunk_count; ++i)
    if (chunks[i].base == base && !chunks[i].back) {
      ck_assert_uint_eq(chunks[i].size, size);
      chunks[i].back = true;
      ++chunks_back;
      return;
    }
  ck_abort_msg("given back what was never acquired");
}

START_TEST(test_extensions) {
  mps_pool_t m;
  mps_addr_t p[30];
  asserted_start();
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, MIB);
    MPS_ARGS_ADD(args, MPS_KEY_SPARE, 0.0);
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_EXTENDED, (mps_fun_t)extended);
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_CONTRACTED, (mps_fun_t)contracted);
    ck_assert_int_eq(mps_arena_create_k(&arena, mps_arena_class_vm(), args),
                     MPS_RES_OK);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  ck_assert_uint_eq(chunk_count, 1);
  ck_assert_int_eq(mps_arena_vm_growth(arena, 4 * MIB, MIB), MPS_RES_OK);
  m = manual(arena);
  for (int i = 0; i < 30; ++i)
    p[i] = alloc(m, 2 * MIB);
  ck_assert_uint_gt(chunk_count, 5);
  for (int i = 0; i < 30; ++i)
    mps_free(m, p[i], 2 * MIB);
  (void)mps_arena_collect(arena); /* at latest now */
  ck_assert_uint_gt(chunks_back, 0);
  mps_pool_destroy(m);
  mps_arena_destroy(arena);
  ck_assert_uint_eq(chunk_count, chunks_back);
  ck_assert_uint_eq(asserted_count, 0);
}
END_TEST

/* Blocks far larger than the arena was. */
START_TEST(test_growth) {
  mps_pool_t m;
  char *p;
  arena = create(MIB, SIZE_MAX, 0.5);
  m = manual(arena);
  p = alloc(m, 300 * MIB);
  p[0] = p[300 * MIB - 1] = 1;
  ck_assert_uint_ge(mps_arena_reserved(arena), 300 * MIB);
  ck_assert_uint_ge(mps_arena_committed(arena), 300 * MIB);
  mps_free(m, p, 300 * MIB);
  mps_pool_destroy(m);
  mps_arena_destroy(arena);
}
END_TEST

/* To prefer more than there can be asks for all there is, not for none. */
START_TEST(test_growth_without_end) {
  mps_pool_t m;
  mps_addr_t p;
  size_t count = 0;
  ck_assert_int_eq(setenv("TESTUDO_RESERVE", "64M", 1), 0);
  asserted_start();
  arena = create(MIB, SIZE_MAX, 0.5);
  ck_assert_int_eq(mps_arena_vm_growth(arena, SIZE_MAX, SIZE_MAX), MPS_RES_OK);
  m = manual(arena);
  while (mps_alloc(&p, m, MIB) == MPS_RES_OK)
    ++count;
  ck_assert_uint_ge(count, 60);
  check_invariants(arena);
  mps_pool_destroy(m);
  mps_arena_destroy(arena);
  ck_assert_uint_eq(asserted_count, 0);
}
END_TEST

/* Where there is little address space nothing fails that has room when all that
   is dead has gone. */
START_TEST(test_little_space) {
  enum { LISTS = 500 };
  size_t length[LISTS] = {0}, per = 11 * MIB / LISTS;
  unsigned seed = 1;
  ck_assert_int_eq(setenv("TESTUDO_RESERVE", "16M", 1), 0);
  heap_start(mps_class_amc());
  for (size_t i = 0; i < suite_size(400000, 2000); ++i) {
    size_t at = (size_t)rand_r(&seed) % LISTS;
    mps_addr_t p = node(2 + (size_t)rand_r(&seed) % 14);
    if (length[at] + obj_size(p) > per)
      length[at] = 0;
    else
      *obj_ref(p, 0) = table[at];
    length[at] += obj_size(p);
    table[at] = p;
  }
  heap_stop();
}
END_TEST

/* The tables of what it grows by count as reserved, as they do as committed. */
START_TEST(test_growth_by_pieces) {
  mps_pool_t m;
  mps_addr_t p[60];
  size_t count = sizeof p / sizeof p[0];
  arena = create(MIB, SIZE_MAX, 0.5);
  m = manual(arena);
  for (size_t i = 0; i < count; ++i) {
    p[i] = alloc(m, 3 * MIB);
    check_invariants(arena);
  }
  for (size_t i = 0; i < count; ++i) {
    mps_free(m, p[i], 3 * MIB);
    check_invariants(arena);
  }
  mps_pool_destroy(m);
  mps_arena_destroy(arena);
}
END_TEST

/* What an arena can get where RESOURCE is limited to LIMIT bytes, in MiB. */
static size_t filled_within(int resource, size_t limit) {
  pid_t child = fork();
  int status;
  if (child == 0) {
    struct rlimit limits = {limit, limit};
    mps_addr_t p;
    mps_pool_t m;
    size_t n = 0;
    if (setrlimit(resource, &limits) != 0)
      _exit(255);
    arena = create(64 * MIB, SIZE_MAX, 0.5);
    m = manual(arena);
    while (n < 254 && mps_alloc(&p, m, MIB) == MPS_RES_OK)
      ++n;
    suite_leave((int)n);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status));
  return (size_t)WEXITSTATUS(status);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

/* Most of a process's limits is there for an arena; an emulator, or a
   sanitizer, needs it for itself. */
START_TEST(test_process_limits) {
  if (SANITIZED || suite_emulated())
    return;
  ck_assert_uint_ge(filled_within(RLIMIT_DATA, 200 * MIB), 150);
  ck_assert_uint_ge(filled_within(RLIMIT_AS, 400 * MIB), 150);
}
END_TEST

START_TEST(test_topless) {
  mps_pool_t m;
  mps_addr_t p = &p;
  start();
  m = manual(arena);
  ck_assert_int_eq(mps_alloc(&p, m, SIZE_MAX / 2 + 1), MPS_RES_RESOURCE);
  ck_assert_int_eq(mps_alloc(&p, m, SIZE_MAX - 4096), MPS_RES_RESOURCE);
  ck_assert_ptr_eq(p, &p);
  mps_pool_destroy(m);
  stop();
}
END_TEST

/* Messages and transforms that nobody retrieved are no obstacle. */
START_TEST(test_destroy_in_use) {
  mps_message_t message;
  mps_transform_t transform;
  heap_start(mps_class_amc());
  mps_message_type_enable(arena, mps_message_type_gc());
  for (int i = 0; i < 5; ++i) {
    table[0] = node(1);
    collect();
  }
  ck_assert(mps_message_get(&message, arena, mps_message_type_gc()));
  mps_arena_park(arena);
  ck_assert_int_eq(mps_transform_create(&transform, arena), MPS_RES_OK);
  heap_stop();
}
END_TEST

SUITE_MAIN("arena", 60, test_defaults, test_sizes, test_varargs,
           test_impossible, test_grain, test_spare_commit_limit_key,
           test_spare_commit_limit_bytes, test_many_arenas, test_thousands,
           test_pause_time, test_states, test_clamped_reads,
           test_collect_nothing, test_step, test_step_idle,
           test_manual_advances, test_step_clamps, test_addresses,
           test_look_late, test_extensions, test_growth,
           test_growth_without_end, test_little_space, test_growth_by_pieces,
           test_process_limits, test_topless, test_destroy_in_use)
