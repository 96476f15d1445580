/* Testudo: tests of the barriers through the public interface: what the
   mutator writes behind the collector's back, and what it reads in the middle
   of a collection, in every mode. SPDX-License-Identifier: BSD-2-Clause */
#include "trace/heap.h" /* first: its functions have names of ours */
#include "test/objects.h"
#include "test/random.h"
#include "test/refusing.h"
#include "test/suite.h"

enum { MODES = 5, PAGE = 4096 };

/* A heap in mode MODE whose shield queues QUEUE ranges; nothing is collected
   unless the test says so. */
static void barrier_start(unsigned mode, size_t queue) {
  MPS_ARGS_BEGIN(args) {
    TDO_ARGS_ADD(args, TDO_KEY_SHIELD_MODE, mode);
    TDO_ARGS_ADD(args, TDO_KEY_SHIELD_QUEUE, queue);
    TDO_ARGS_ADD(args, TDO_KEY_SHIELD_QUANTUM, (size_t)PAGE);
    ck_assert_int_eq(mps_arena_create_k(&arena, mps_arena_class_vm(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  asserted_start();
  heap_in_arena(mps_class_amc());
  mps_arena_clamp(arena);
}

static void minor(void) {
  /* A step too short for all of the heap collects what is due. */
  mps_arena_release(arena);
  for (size_t n = 0; n < suite_size(200, 8) * 1024; n += obj_bytes(30))
    (void)node(30);
  mps_arena_clamp(arena);
}

static void full(void) {
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  mps_arena_clamp(arena);
}

/* Old objects of about an eighth of a page, in table[0..n). */
static void grow_old(size_t n) {
  for (size_t i = 0; i < n; ++i) {
    table[i] = node(60);
    *obj_ref(table[i], 0) = (mps_addr_t)(i << 2 | 1);
  }
  for (int i = 0; i < 4; ++i)
    full();
}

/* Give every old object a young one that says where it is. */
static void write_young(size_t n, size_t step) {
  for (size_t i = 0; i < n; i += step)
    *obj_ref(table[i], 1 + i % 50) = numbered(i);
}

static void check_young(size_t n, size_t step) {
  for (size_t i = 0; i < n; i += step) {
    REQUIRE(number_of(table[i]) == i);
    REQUIRE(number_of(*obj_ref(table[i], 1 + i % 50)) == i);
  }
}

/* What the mutator wrote into old objects lives, minor collection after
   minor collection, when pages have their bars and when they lost them. */
START_TEST(test_written) {
  barrier_start((unsigned)_i, 64);
  grow_old(800);
  for (size_t round = 1; round <= 12; ++round) {
    write_young(800, round);
    minor();
    check_young(800, round);
    minor();
    check_young(800, round);
    tdo_arena_check(arena);
  }
  heap_stop();
}
END_TEST

/* A bar that is refused while it is granted is no bar: the page stays
   dirty. */
START_TEST(test_refused_at_once) {
  for (size_t queue = 1; queue <= 64; queue *= 8) {
    barrier_start((unsigned)_i, queue);
    grow_old(800);
    for (size_t n = 1; n < 40; n += 1 + n / (suite_slow() ? 2 : 8)) {
      write_young(800, 1); /* so that there are pages to clean */
      refuse(n, n % 2 == 0);
      minor();
      refuse(0, false);
      tdo_arena_check(arena);
      write_young(800, 7);
      minor();
      tdo_arena_check(arena);
      check_young(800, 7);
    }
    heap_stop();
  }
}
END_TEST

/* Objects that point anywhere, in the table, each the I-th with number I. */
static void random_node(size_t i) {
  mps_addr_t obj = node(2 + random_below(60));
  *obj_ref(obj, 0) = (mps_addr_t)(i << 2 | 1);
  table[i] = obj;
}

/* Write references into objects of any age, some of them just promoted. */
static void random_stores(size_t n) {
  for (size_t k = 0; k < n; ++k) {
    mps_addr_t obj = table[random_below(ROOTS)];
    size_t slot = 1 + random_below(obj_refs(obj) - 1);
    mps_addr_t to = table[random_below(ROOTS)];
    *obj_ref(obj, slot) = random_below(4) == 0 ? NULL : to;
  }
}

static void check_random(void) {
  for (size_t i = 0; i < ROOTS; ++i) {
    REQUIRE(number_of(table[i]) == i);
    for (size_t k = 1; k < obj_refs(table[i]); ++k) {
      mps_addr_t to = *obj_ref(table[i], k);
      REQUIRE(to == NULL || number_of(to) < ROOTS);
    }
  }
}

/* The mutator works between the slices of collections, on the pages that
   survivors were copied to, which collectors copy to again; each collection
   leaves every page's summary right. */
START_TEST(test_between_slices) {
  size_t before = 0;
  barrier_start((unsigned)_i, 64);
  mps_arena_pause_time_set(arena, 0.0);
  random_start();
  for (size_t i = 0; i < ROOTS; ++i)
    random_node(i);
  mps_arena_release(arena);
  for (size_t n = 0; n < suite_size(suite_rounds(60000), 2000); ++n) {
    random_node(random_below(ROOTS));
    random_stores(3);
    if (n % 40 == 0) /* one slice, if there is anything to do */
      (void)mps_arena_step(arena, 1e-9, 0.0);
    if (mps_collections(arena) != before) {
      before = mps_collections(arena);
      tdo_arena_check(arena);
    }
    if (n % 5000 == 0)
      check_random();
  }
  ck_assert_uint_gt(before, 20);
  check_random();
  heap_stop();
}
END_TEST

/* One list from young to old: its head in table[0], and in table[1] a part
   that was promoted to the top generation by the collection before. That part
   ends in the segment that survivors will be copied to next. While the
   collector still follows the young part, the mutator writes references to
   new objects into the old one; then that segment fills up, and is scanned
   from where it was filled before. */
enum { PART = 400 };

static mps_pool_t list_pool;
static mps_chain_t list_chain;
static mps_ap_t list_ap;

/* A second generation that is always full: each minor collection promotes
   from both. */
static void list_start(unsigned mode) {
  mps_gen_param_s gens[] = {{256, 0.8}, {1, 0.5}};
  barrier_start(mode, 64);
  mps_arena_pause_time_set(arena, 0.0);
  REQUIRE(mps_chain_create(&list_chain, arena, 2, gens) == MPS_RES_OK);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
    MPS_ARGS_ADD(args, MPS_KEY_CHAIN, list_chain);
    REQUIRE(mps_pool_create_k(&list_pool, arena, mps_class_amc(), args) ==
            MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  list_ap = point(list_pool);
}

static void list_stop(void) {
  mps_arena_park(arena);
  mps_ap_destroy(list_ap);
  mps_pool_destroy(list_pool);
  mps_chain_destroy(list_chain);
  heap_stop();
}

static void list_grow(void) {
  for (size_t i = 0; i < PART; ++i) {
    mps_addr_t obj = obj_on(list_ap, OBJ_NODE, 60);
    *obj_ref(obj, 0) = (mps_addr_t)(i << 2 | 1);
    *obj_ref(obj, 1) = table[0];
    table[0] = obj;
  }
}

/* A minor collection; its first slice. */
static void list_flip(void) {
  size_t before = arena->stats.collections;
  mps_arena_release(arena);
  while (arena->trace.state == TDO_TRACE_IDLE &&
         arena->stats.collections == before)
    (void)obj_on(list_ap, OBJ_NODE, 20);
  mps_arena_clamp(arena);
}

static void list_finish(void) {
  mps_arena_release(arena);
  while (arena->trace.state != TDO_TRACE_IDLE)
    (void)mps_arena_step(arena, 1e-9, 0.0);
  mps_arena_clamp(arena);
}

static void list_write(mps_addr_t obj) {
  for (size_t i = 0; i < PART && obj != NULL; ++i, obj = *obj_ref(obj, 1)) {
    mps_addr_t young = obj_on(list_ap, OBJ_NODE, 2);
    *obj_ref(young, 0) = (mps_addr_t)(i << 2 | 1);
    *obj_ref(obj, 3) = young;
  }
}

static void list_check(mps_addr_t obj) {
  for (size_t i = 0; i < PART && obj != NULL; ++i, obj = *obj_ref(obj, 1))
    REQUIRE(number_of(*obj_ref(obj, 3)) == i);
}

/* What comes after the youngest part. */
static mps_addr_t list_part(mps_addr_t obj) {
  for (size_t i = 0; i < PART; ++i)
    obj = *obj_ref(obj, 1);
  return obj;
}

START_TEST(test_copied_to_again) {
  const size_t rounds = suite_size(suite_rounds(60), 6);
  size_t interrupted = 0;
  list_start((unsigned)_i);
  for (size_t i = 8; i < ROOTS; ++i)
    table[i] = node(300); /* an old generation that is worth large segments */
  full();
  for (size_t round = 0; round < rounds; ++round) {
    list_grow();
    list_flip();
    interrupted += arena->trace.state == TDO_TRACE_FLIPPED;
    list_write(table[1]);
    list_finish();
    tdo_arena_check(arena);
    list_check(table[1]);
    table[1] = list_part(table[0]);
  }
  ck_assert(suite_stressed() || interrupted > rounds / 3 ||
            arena->shield.settings.mode == TDO_SHIELD_OFF);
  list_stop();
}
END_TEST

SUITE_LOOPS_MAIN("barrier", 60, {test_written, MODES},
                 {test_refused_at_once, MODES}, {test_between_slices, MODES},
                 {test_copied_to_again, MODES})
