/* Testudo: tests of small heaps, which are collected as a whole.
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/heap.h" /* first: its functions have names of ours */
#include "test/objects.h"
#include "test/random.h"
#include "test/suite.h"

enum { MIB = 1 << 20 };

#define UNHURRIED 1e6 /* collections end at once, however slow the machine */

static mps_pool_t small_pool; /* on the arena's own chain, */
static mps_ap_t own_ap;       /* and its point */
static mps_ap_t small_ap;     /* what objects are made on: that, or another */

static void begin(double pause) {
  heap_start(mps_class_amc());
  small_pool = own_chain_pool(mps_class_amc());
  small_ap = own_ap = point(small_pool);
  mps_arena_pause_time_set(arena, pause);
}

static void end(void) {
  mps_arena_park(arena);
  mps_ap_destroy(own_ap);
  mps_pool_destroy(small_pool);
  heap_stop();
}

/* A list of LENGTH objects that know their number. */
static mps_addr_t list(size_t number, size_t length) {
  mps_addr_t *root = &table[ROOTS - 1];
  mps_addr_t keep;
  *root = NULL;
  for (size_t i = 0; i < length; ++i) {
    mps_addr_t obj = obj_on(small_ap, OBJ_NODE, 3);
    *obj_ref(obj, 0) = (mps_addr_t)(number << 2 | 1);
    *obj_ref(obj, 1) = *root;
    *root = obj;
  }
  keep = *root;
  *root = NULL;
  return keep;
}

static size_t lists; /* of so many objects each: */
static size_t length;

static void check_lists(void) {
  for (size_t i = 0; i < lists; ++i) {
    size_t n = 0;
    for (mps_addr_t p = table[i]; p != NULL; p = *obj_ref(p, 1), ++n)
      REQUIRE(number_of(p) == i);
    REQUIRE(n == length);
  }
}

static void build(size_t count, size_t each) {
  lists = count;
  length = each;
  for (size_t i = 0; i < lists; ++i)
    table[i] = list(i, length);
}

/* Replace lists at random; the most that is committed meanwhile. */
static size_t replace(size_t times) {
  size_t most = 0;
  for (size_t i = 0; i < times; ++i) {
    size_t at = random_below(lists);
    table[at] = list(at, length);
    if (mps_arena_committed(arena) > most)
      most = mps_arena_committed(arena);
  }
  return most;
}

/* Modes other than `naive` make calls for bars only. */
static bool calls_tell(void) {
  return !suite_stressed() && statistics().mode != TDO_MODE_NAIVE;
}

/* What dies among the old is found at once, and no bar is needed. */
START_TEST(replaced) {
  size_t most, calls;
  begin(0.1);
  build(100, 50);
  (void)replace(suite_size(1000, 100));
  calls = statistics().protect_calls;
  most = replace(suite_size(20000, 200));
  check_lists();
  ck_assert(suite_stressed() || most < 3 * MIB);
  ck_assert(suite_stressed() || statistics().collections > 20);
  ck_assert(suite_stressed() ||
            statistics().full_collections == statistics().collections);
  ck_assert(!calls_tell() || statistics().protect_calls <= calls + 5);
  end();
}
END_TEST

/* The same on a chain that the client made. */
START_TEST(clients_chain) {
  size_t most;
  begin(0.1);
  small_ap = ap;
  build(100, 50);
  most = replace(suite_size(20000, 200));
  check_lists();
  ck_assert(suite_stressed() || most < 3 * MIB);
  ck_assert(suite_stressed() ||
            statistics().full_collections == statistics().collections);
  end();
}
END_TEST

/* Where pauses may not be as long as that takes, collections are minor. */
START_TEST(short_pauses) {
  begin(0.0001);
  build(100, 50);
  (void)replace(suite_size(4000, 100));
  check_lists();
  ck_assert(suite_stressed() ||
            statistics().collections > 2 * statistics().full_collections);
  end();
}
END_TEST

/* What is made while a full collection goes on in slices is not taken to be
   dead as it did not survive it. */
START_TEST(made_meanwhile) {
  REQUIRE(setenv("TESTUDO_ADAPT", "off", 1) == 0); /* no flip is cut short */
  begin(0);
  build(100, 50);
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  mps_arena_clamp(arena);
  for (size_t i = 0; i < 200; ++i)
    (void)list(0, length);
  mps_arena_park(arena);
  ck_assert(arena->small.room <= 0 && !arena->small.loose &&
            !arena->small.sparse);
  check_lists();
  end();
}
END_TEST

/* Where all of the old lives on, nearly all collections are. */
START_TEST(lives_on) {
  tdo_statistics_s before, after;
  begin(0.1);
  build(100, 500);
  before = statistics();
  for (size_t i = 0; i < suite_size(40000, 200); ++i)
    (void)list(0, length);
  after = statistics();
  check_lists();
  ck_assert(suite_stressed() || after.collections > before.collections + 40);
  ck_assert(suite_stressed() ||
            after.full_collections - before.full_collections <
                (after.collections - before.collections) / 4);
  end();
}
END_TEST

/* A heap that grows is one of generations, with bars, and the other way. */
START_TEST(grows_and_shrinks) {
  size_t full, all;
  begin(0.1);
  for (int round = 0; round < 2; ++round) {
    build(200, suite_size(2000, 100));
    (void)replace(suite_size(2000, 20));
    check_lists();
    tdo_arena_check(arena);
    for (size_t i = 0; i < lists; ++i)
      table[i] = NULL;
    (void)mps_arena_collect(arena); /* of nothing, if one was about to flip */
    mps_arena_release(arena);
    build(100, 50);
    (void)replace(suite_size(20000, 20)); /* a nursery of 8 MiB, at first */
    full = statistics().full_collections;
    all = statistics().collections;
    (void)replace(suite_size(4000, 20));
    check_lists();
    ck_assert(suite_stressed() || (statistics().collections > all + 4 &&
                                   statistics().full_collections - full ==
                                       statistics().collections - all));
  }
  end();
}
END_TEST

enum { WIDE = 1000 }; /* references of an object, to others with so many: */
static size_t slots = 6;

/* Let the object at AT of the table refer to a new one of its own. */
static void put(size_t at, size_t slot) {
  mps_addr_t obj = obj_on(small_ap, OBJ_NODE, slots);
  *obj_ref(obj, 0) = (mps_addr_t)(at << 2 | 1);
  *obj_ref(table[at], slot) = obj;
}

/* LISTS objects with WIDE others each. */
static void build_wide(size_t count) {
  lists = count;
  for (size_t i = 0; i < lists; ++i) {
    table[i] = obj_on(small_ap, OBJ_NODE, WIDE);
    for (size_t j = 1; j < WIDE; ++j)
      put(i, j);
  }
}

/* Replace those at random, one by one. */
static void replace_singly(size_t times) {
  for (size_t i = 0; i < times; ++i)
    put(random_below(lists), 1 + random_below(WIDE - 1));
}

static void check_wide(void) {
  for (size_t i = 0; i < lists; ++i)
    for (size_t j = 1; j < WIDE; ++j) {
      mps_addr_t obj = *obj_ref(table[i], j);
      REQUIRE(obj == NULL || number_of(obj) == i);
    }
}

/* Was everything collected so many times? */
static bool all_collected(size_t times) {
  return statistics().full_collections >= times;
}

/* Let most of what the objects refer to die. */
static void thin_out(void) {
  for (size_t i = 0; i < lists; ++i)
    for (size_t j = 1; j < WIDE; ++j)
      if (random_below(10) < 6)
        *obj_ref(table[i], j) = NULL;
}

/* A heap that was marked in place, and is mostly room after it, is copied as
   soon as the nursery is full. */
START_TEST(loosened) {
  size_t built_size, goal;
  begin(UNHURRIED);
  build_wide(suite_size(340, 3));
  collect();
  mps_arena_release(arena);
  built_size = mps_pool_total_size(small_pool);
  ck_assert(suite_stressed() || built_size > 18 * MIB);
  thin_out();
  goal = statistics().full_collections + 2;
  ((tdo_heap_t *)arena)->full_wanted = true;
  for (size_t i = 0; i < 1000000 && !all_collected(goal); ++i)
    (void)obj_on(small_ap, OBJ_NODE, 6);
  check_wide();
  ck_assert(suite_stressed() || all_collected(goal));
  ck_assert(suite_stressed() ||
            mps_pool_total_size(small_pool) < 2 * built_size / 3);
  end();
}
END_TEST

/* What is built is not left alone for long when it begins to die: 3 MiB at
   least, else 9. */
START_TEST(built) {
  size_t least = SIZE_MAX;
  begin(UNHURRIED);
  build_wide(suite_size(45, 3));
  for (size_t i = 0; i < 400; ++i) {
    size_t size;
    replace_singly(suite_size(1250, 12));
    size = mps_pool_total_size(small_pool);
    least = i >= 100 && size < least ? size : least;
  }
  check_wide();
  ck_assert(suite_stressed() || least < 6 * MIB);
  end();
}
END_TEST

/* Where so much of each nursery survives that to copy all that lives is hardly
   more, larger heaps are small as well. */
START_TEST(alike) {
  size_t full, all;
  begin(UNHURRIED);
  build_wide(suite_size(270, 3));
  for (int i = 0; i < 12; ++i)
    replace_singly(suite_size(100000, 12));
  ck_assert(suite_stressed() || mps_pool_total_size(small_pool) > 16 * MIB);
  full = statistics().full_collections;
  all = statistics().collections;
  replace_singly(suite_size(800000, 12));
  check_wide();
  full = statistics().full_collections - full;
  all = statistics().collections - all;
  ck_assert(suite_stressed() || (all >= 2 && full == all));
  end();
}
END_TEST

/* The largest size of the pool while objects are replaced one by one. */
static size_t replace_watched(size_t rounds, size_t times) {
  size_t most = 0;
  for (size_t i = 0; i < rounds; ++i) {
    replace_singly(times);
    most = tdo_max(most, mps_pool_total_size(small_pool));
  }
  return most;
}

/* 100 MiB. */
static size_t build_large(double pause_time) {
  begin(pause_time);
  slots = 36;
  build_wide(suite_varied() ? 3 : 340);
  (void)mps_arena_collect(arena); /* of nothing, if one was about to flip */
  mps_arena_release(arena);
  ck_assert(suite_varied() || mps_pool_total_size(small_pool) > 90 * MIB);
  return mps_pool_total_size(small_pool);
}

/* What is larger still is copied, too, instead of being marked: then it has
   three times what lives at most (five, where objects stay in place). */
START_TEST(instead) {
  size_t built_size = build_large(UNHURRIED), most;
  (void)replace_watched(suite_varied() ? 1 : 600, 5000);
  most = replace_watched(suite_varied() ? 1 : 200, 5000);
  check_wide();
  tdo_arena_check(arena);
  ck_assert(suite_varied() || most < 4 * built_size);
  end();
}
END_TEST

/* Within a pause time that is done in slices, while the program goes on. */
START_TEST(instead_in_slices) {
  tdo_heap_t *heap;
  size_t built_size = build_large(0.1), slices = 0;
  size_t copied = statistics().copied;
  bool busy = false;
  heap = (tdo_heap_t *)arena;
  heap->alive = heap->top.size / 2;
  heap->small.sparse = true;
  heap->small.flip = 0;
  heap->full.building = false;
  heap->top.fresh = 1e12; /* a full one is due */
  for (size_t i = suite_varied() ? 1000 : 10000000;
       i > 0 && (busy || slices == 0); --i) {
    replace_singly(1);
    busy = tdo_trace_busy(&heap->trace);
    slices += busy && heap->trace.full && heap->instead;
  }
  check_wide();
  tdo_arena_check(arena);
  ck_assert(suite_varied() || slices > 0);
  ck_assert(suite_varied() || statistics().copied - copied > built_size / 2);
  end();
}
END_TEST

/* While something is taken to be built, minor collections notice what is old
   and refers to what is young, with bars or without. */
START_TEST(noticed) {
  tdo_heap_t *heap;
  begin(UNHURRIED);
  heap = (tdo_heap_t *)arena;
  build_wide(suite_size(340, 3));
  (void)mps_arena_collect(arena); /* of nothing, if one was about to flip */
  mps_arena_release(arena);
  for (size_t i = 0; i < lists; ++i)
    put(i, 1);
  heap->full.building = true;
  heap->full.writes_most = 1e30; /* hits do not end it */
  tdo_chain_set_tenure(heap->default_chain, 0);
  for (size_t i = 0; i < 1000000 && heap->remembered.written == 0; ++i)
    (void)obj_on(small_ap, OBJ_NODE, 6);
  check_wide();
  ck_assert(suite_stressed() || heap->remembered.written > 0);
  end();
}
END_TEST

/* The same where all that is old is one large object, which is scanned as a
   whole. */
START_TEST(noticed_large) {
  tdo_heap_t *heap;
  size_t refs = 100000;
  begin(UNHURRIED);
  random_start();
  heap = (tdo_heap_t *)arena;
  table[0] = obj_on(small_ap, OBJ_NODE, refs);
  (void)mps_arena_collect(arena);
  mps_arena_release(arena);
  heap->full.building = true;
  heap->full.writes_most = 1e30;
  tdo_chain_set_tenure(heap->default_chain, 0);
  for (size_t i = 0; i < 1000000 && heap->remembered.written == 0; ++i) {
    mps_addr_t p = obj_on(small_ap, OBJ_NODE, 6);
    *obj_ref(table[0], random_below(refs)) = p;
  }
  ck_assert(suite_stressed() || heap->remembered.written > 100);
  table[0] = NULL;
  end();
}
END_TEST

/* And where several chains have something, what others have counts as old: once
   it survived, whole collections do not come more often for it. */
START_TEST(beside_another_chain) {
  tdo_statistics_s before, after;
  size_t most;
  begin(0.1);
  table[ROOTS - 2] = obj_on(ap, OBJ_NODE, 3);
  build(100, 50);
  most = replace(suite_size(20000, 200));
  ck_assert(suite_stressed() || most < 3 * MIB);
  small_ap = ap;
  table[ROOTS - 3] = list(1, 100000); /* of the other chain */
  small_ap = own_ap;
  before = statistics();
  (void)replace(suite_size(20000, 200));
  after = statistics();
  check_lists();
  ck_assert(suite_stressed() ||
            after.collections - before.collections >
                4 * (after.full_collections - before.full_collections));
  table[ROOTS - 3] = NULL;
  end();
}
END_TEST

/* Nothing young grows old by another chain's nursery while there is a ramp. */
START_TEST(ramp) {
  size_t full;
  begin(0.1);
  build(100, 50);
  ck_assert_int_eq(mps_ap_alloc_pattern_begin(ap, mps_alloc_pattern_ramp()),
                   MPS_RES_OK);
  full = statistics().full_collections;
  (void)replace(suite_size(2000, 100));
  ck_assert(suite_stressed() || statistics().full_collections == full);
  ck_assert_int_eq(mps_ap_alloc_pattern_end(ap, mps_alloc_pattern_ramp()),
                   MPS_RES_OK);
  (void)replace(suite_size(2000, 100));
  ck_assert(suite_stressed() || statistics().full_collections > full);
  check_lists();
  end();
}
END_TEST

/* Calls that ask for memory, or give it back. */
static size_t memory_calls(void) {
  tdo_statistics_s s = statistics();
  return s.map_calls + s.unmap_calls + s.advise_calls;
}

/* Where large blocks come and go, their memory stays. */
START_TEST(large_replaced) {
  mps_ap_t leaf_ap;
  mps_pool_t leafs;
  size_t before = 0, full = 0, rounds = suite_size(4000, 400);
  begin(UNHURRIED);
  leafs = own_chain_pool(mps_class_amcz());
  leaf_ap = point(leafs);
  random_start();
  for (size_t i = 0; i < 2 * rounds; ++i) {
    if (i == rounds) {
      before = memory_calls();
      full = statistics().full_collections;
    }
    table[random_below(8)] = obj_on(leaf_ap, OBJ_LEAF, (size_t)4096 << i % 6);
  }
  if (!suite_varied() && statistics().mode != TDO_MODE_NAIVE) {
    full = statistics().full_collections - full;
    ck_assert_uint_gt(full, 100);
    ck_assert_uint_lt(memory_calls() - before, full / 4);
  }
  memset(table, 0, sizeof table);
  mps_arena_park(arena);
  mps_ap_destroy(leaf_ap);
  mps_pool_destroy(leafs);
  end();
}
END_TEST

SUITE_MAIN("small_heap", 60, replaced, clients_chain, short_pauses,
           made_meanwhile, lives_on, grows_and_shrinks, loosened, built, alike,
           instead, instead_in_slices, noticed, noticed_large,
           beside_another_chain, ramp, large_replaced)
