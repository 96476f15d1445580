/* Testudo: tests of promotion without a collection, while nearly everything
   survives. SPDX-License-Identifier: BSD-2-Clause */
#include "trace/enter.h" /* first: its functions have names of ours */
#include "trace/policy.h"
#include "trace/tenure.h"
#include "test/objects.h"
#include "mpscawl.h"
#include "test/suite.h"

enum { BIG = 1000, MANY = 600, FEW = 10 }; /* references in a vector; vectors */

/* Vectors; and objects of which N were made otherwise. */
static size_t many(void) {
  return suite_size(MANY, FEW);
}

static size_t times(size_t n) {
  return suite_size(n, n / (MANY / FEW));
}

static mps_pool_t young_pool; /* on the arena's own chain */
static mps_ap_t young;

static void begin(void) {
  heap_start(mps_class_amc());
  young_pool = own_chain_pool(mps_class_amc());
  young = point(young_pool);
}

/* Collections end at once, however slow the machine is: what slices miss
   while the nursery grows would not be told apart. */
static void begin_unhurried(void) {
  begin();
  mps_arena_pause_time_set(arena, 1e6);
}

static void end(void) {
  mps_arena_park(arena);
  mps_ap_destroy(young);
  mps_pool_destroy(young_pool);
  heap_stop();
}

/* Bytes promoted. */
static size_t tenured(void) {
  return statistics().tenured;
}

/* At least LEAST and at most MOST; at every chance it is as it happens. */
static void check_tenured(size_t least, size_t most) {
  size_t bytes = tenured();
  ck_assert(suite_stressed() || (bytes >= least && bytes <= most));
}

static mps_addr_t leafy(size_t n) {
  mps_addr_t obj = obj_on(young, OBJ_NODE, 12);
  *obj_ref(obj, 0) = (mps_addr_t)(n << 2 | 1);
  return obj;
}

/* A vector whose elements know where they are. */
static mps_addr_t vector(size_t i) {
  mps_addr_t keep, *root = &table[ROOTS - 1];
  *root = obj_on(young, OBJ_NODE, BIG);
  for (size_t k = 0; k < BIG; ++k) {
    mps_addr_t e = leafy(i * BIG + k);
    *obj_ref(*root, k) = e;
  }
  keep = *root;
  *root = NULL;
  return keep;
}

static void check_some(size_t n) {
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < BIG; ++k) {
      mps_addr_t e = *obj_ref(table[i], k);
      REQUIRE(obj_kind(e) == OBJ_NODE);
      REQUIRE(number_of(e) == i * BIG + k);
    }
}

static void check_vectors(void) {
  check_some(many());
}

static void build_some(size_t n) {
  for (size_t i = 0; i < n; ++i)
    table[i] = vector(i);
}

static void build(void) {
  build_some(many());
}

/* What is built and lives is promoted without collections, and is there. */
START_TEST(built) {
  size_t collections;
  begin_unhurried();
  build();
  collections = mps_collections(arena);
  check_tenured(16 << 20, SIZE_MAX);
  check_vectors();
  tdo_arena_check(arena);
  collect();
  ck_assert_uint_gt(mps_collections(arena), collections);
  check_vectors();
  end();
}
END_TEST

static size_t small_ones; /* full collections while the heap was small */

static size_t full_collections(void) {
  return statistics().full_collections - small_ones;
}

/* Chain one more vector before each of those there are. */
static void build_more(void) {
  for (size_t i = 0; i < many(); ++i) {
    mps_addr_t v = vector(i);
    *obj_ref(v, 0) = table[i];
    table[i] = v;
  }
}

/* Until collections of everything are no longer the rule (small.h). */
static void build_beyond_small(void) {
  small_ones = 0;
  build_some(many() / 3);
  small_ones = full_collections();
}

static void write_heads(void) {
  for (size_t i = 0; i < many(); ++i) {
    mps_addr_t v = *obj_ref(table[i], 0);
    if (v != NULL)
      *obj_ref(v, 1) = NULL;
  }
}

static tdo_mode_t mode(void) {
  return statistics().mode;
}

/* While all survives, and old objects are written to, the heap is looked at as
   a whole each time it is four times as large as the last time, or somewhat
   later where writes are not noticed at once. Sizes are those at the end of a
   round that adds half of the first one. */
START_TEST(grown) {
  size_t size[3] = {0}, full = 0;
  begin_unhurried();
  build_beyond_small();
  while (full < 2 && !suite_stressed()) {
    build_more();
    write_heads();
    if (full_collections() > full)
      size[++full] = mps_pool_total_size(young_pool);
  }
  ck_assert_uint_ge(size[2], 3 * size[1] / 2);
  ck_assert_uint_le(size[2], (mode() == TDO_MODE_DIRTY ? 10 : 6) * size[1]);
  end();
}
END_TEST

/* While nothing old is written to, it may grow further: the first one was of
   less than half of the round's size. Where nobody knows, it is looked at again
   at four times its size. */
START_TEST(left_alone) {
  size_t size = 0;
  begin_unhurried();
  build_beyond_small();
  while (full_collections() == 0)
    build_more();
  size = mps_pool_total_size(young_pool);
  size = mode() == TDO_MODE_OFF ? 6 * size : 7 * size / 4;
  while (mps_pool_total_size(young_pool) < size && !suite_stressed())
    build_more();
  ck_assert(suite_stressed() || mode() == TDO_MODE_OFF ||
            full_collections() == 1);
  ck_assert(suite_stressed() || mode() != TDO_MODE_OFF ||
            full_collections() == 2 || full_collections() == 3);
  end();
}
END_TEST

/* Promoted objects are written to: what they alone refer to survives minor
   collections. */
START_TEST(written) {
  mps_word_t before;
  begin();
  build();
  before = mps_collections(arena);
  for (size_t n = many() * BIG; mps_collections(arena) < before + 20; ++n) {
    size_t i = n * 7919 % (many() * BIG);
    mps_addr_t e = leafy(i);
    *obj_ref(table[i / BIG], i % BIG) = e;
    for (size_t k = 0; k < 4; ++k)
      (void)leafy(0); /* and some of the nursery dies */
  }
  check_vectors();
  tdo_arena_check(arena);
  end();
}
END_TEST

/* When what is allocated dies again, promotion ends, and memory is bounded. */
START_TEST(churned) {
  size_t committed, most = 0, promoted = 0;
  begin_unhurried();
  build();
  committed = mps_arena_committed(arena);
  for (size_t n = 0; n < times(4000000); ++n) {
    (void)leafy(n);
    if (n % 4096 == 0 && mps_arena_committed(arena) > most)
      most = mps_arena_committed(arena);
    if (n == times(2000000))
      promoted = tenured();
  }
  check_tenured(promoted, promoted);
  ck_assert_uint_lt(most, 3 * committed);
  check_vectors();
  end();
}
END_TEST

/* The same where half of the heap is garbage and all of it is written to, so
   that a full collection comes before a minor one: that ends promotion, too. */
START_TEST(churned_dirty) {
  size_t promoted = 0;
  begin_unhurried();
  build();
  for (size_t i = many() / 2; i < many(); ++i)
    table[i] = NULL;
  collect();
  for (size_t n = 0; n < times(3200000); ++n) {
    mps_addr_t *ref = obj_ref(table[n % (many() / 2)], n * 7919 % BIG);
    mps_addr_t e = *ref;
    *ref = e;
    *obj_ref(e, 1) = NULL;
    (void)leafy(n);
    if (n == times(1600000))
      promoted = tenured();
  }
  check_tenured(promoted, promoted);
  ck_assert(suite_stressed() || promoted > 0);
  check_some(many() / 2);
  end();
}
END_TEST

/* After a full collection that had no nursery to look at, the next one
   tells. */
START_TEST(looked_at) {
  size_t before;
  begin_unhurried();
  build();
  collect();
  collect(); /* nothing is in the nursery */
  before = mps_collections(arena);
  for (size_t n = 0; n < times(120000); ++n)
    (void)leafy(n);
  ck_assert(suite_stressed() || mps_collections(arena) > before);
  check_vectors();
  end();
}
END_TEST

/* A block that is reserved while its surroundings are promoted is initialised
   after that, with references to young objects. */
START_TEST(reserved) {
  const size_t size = obj_bytes(12);
  mps_ap_t other;
  size_t committed = 0, refused = 0;
  begin_unhurried();
  other = point(young_pool);
  for (size_t i = 0; i < many(); ++i) {
    mps_addr_t p;
    REQUIRE(mps_reserve(&p, other, size) == MPS_RES_OK);
    table[i] = vector(i);
    memset(p, 0, size);
    *(mps_word_t *)p = size << 3 | OBJ_NODE;
    *obj_ref((char *)p + obj_header, 1) = leafy(i);
    *obj_ref((char *)p + obj_header, 0) = table[i];
    if (mps_commit(other, p, size)) {
      table[i] = (char *)p + obj_header;
      ++committed;
    } else {
      ++refused; /* by a flip */
    }
  }
  check_tenured(16 << 20, SIZE_MAX);
  ck_assert(suite_stressed() || committed > refused);
  for (size_t round = 0; round < 3; ++round) {
    for (size_t i = 0; i < many(); ++i) {
      mps_addr_t v = table[i];
      if (obj_refs(v) < BIG) {
        REQUIRE(number_of(*obj_ref(v, 1)) == i);
        v = *obj_ref(v, 0);
      }
      REQUIRE(obj_refs(v) >= BIG && number_of(*obj_ref(v, 7)) == i * BIG + 7);
    }
    collect();
  }
  mps_ap_destroy(other);
  end();
}
END_TEST

/* The two vectors of each chain, but for the one reference between them. */
static void check_chains(void) {
  for (size_t i = 0; i < many(); ++i) {
    mps_addr_t v = table[i];
    for (size_t k = 1; k < BIG; ++k)
      REQUIRE(number_of(*obj_ref(v, k)) == i * BIG + k);
    v = *obj_ref(v, 0);
    for (size_t k = 0; k < BIG; ++k)
      REQUIRE(number_of(*obj_ref(v, k)) == i * BIG + k);
  }
}

/* They are all there, and are after collections of everything. */
static void end_with_chains(void) {
  check_chains();
  tdo_arena_check(arena);
  collect();
  check_chains();
  end();
}

/* Much that is to be promoted is so in parts, of which none takes long; between
   them old and new objects are written to, and get to refer to young ones. */
START_TEST(in_parts) {
  size_t parts = 0, before, n = 0;
  begin_unhurried();
  build();
  mps_arena_clamp(arena);
  build_more();
  mps_arena_release(arena);
  mps_arena_pause_time_set(arena, 0.0002);
  before = tenured();
  while (n < times(400000) || arena->tenure.chain != NULL) {
    bool between = arena->tenure.chain != NULL;
    size_t at = n++ * 7919 % (many() * BIG), k = at % (BIG - 1) + 1;
    mps_addr_t e = leafy(at / BIG * BIG + k), v = table[at / BIG];
    *obj_ref(n % 2 == 0 ? v : *obj_ref(v, 0), k) = e;
    if (between && tenured() > before) {
      ++parts;
      before = tenured();
      if (parts == 3)
        tdo_arena_check(arena);
      if (parts == 5) /* a minor collection begins: it ends that first */
        (void)mps_arena_step(arena, 0, 0);
    }
  }
  ck_assert(mode() != TDO_MODE_DEFERRED || suite_stressed() || parts >= 5);
  end_with_chains();
}
END_TEST

/* Segments of the oldest generation of which a page may refer to anything. */
static size_t dirty_segs(size_t *all_o) {
  size_t dirty = 0, all = 0;
  TDO_RING_FOR(node, &arena->top.segs) {
    const tdo_gcseg_t *seg = TDO_RING_ENTRY(tdo_gcseg_t, gen_ring, node);
    size_t limit = tdo_heap_page(arena, seg->seg.limit);
    size_t page = tdo_heap_page(arena, seg->seg.base);
    while (page < limit && !(arena->summary.page[page] & TDO_DIRTY))
      ++page;
    dirty += page < limit;
    ++all;
  }
  *all_o = all;
  return dirty;
}

/* A segment with a point in it is promoted, too, and cleaned when that has
   left: one for each promotion stayed dirty, and each minor collection scanned
   them. */
START_TEST(with_points) {
  size_t n = times(600000), length = 0, dirty, all;
  begin();
  mps_arena_pause_time_set(arena, 0.001); /* a small nursery: many promotions */
  for (size_t i = 0; i < n; ++i) {
    mps_addr_t e = leafy(i);
    *obj_ref(e, 1) = table[0];
    table[0] = e;
  }
  check_tenured(16 << 20, SIZE_MAX);
  dirty = dirty_segs(&all);
  ck_assert_msg(mode() != TDO_MODE_DEFERRED || suite_stressed() ||
                    (all >= 1000 && dirty <= 4),
                "%zu of %zu segments are dirty", dirty, all);
  for (mps_addr_t e = table[0]; e != NULL; e = *obj_ref(e, 1))
    REQUIRE(number_of(e) == n - ++length);
  REQUIRE(length == n);
  end();
}
END_TEST

/* Pools whose objects stay where they are, on the same chain: these are not
   promoted, and nothing is lost. */
START_TEST(together) {
  mps_pool_t marked;
  mps_ap_t q;
  begin();
  marked = own_chain_pool(mps_class_awl());
  q = point(marked);
  build();
  for (size_t i = 0; i < many(); ++i) {
    mps_addr_t e, *root = &table[ROOTS - 1];
    *root = obj_on(q, OBJ_NODE, 4);
    *obj_ref(*root, 0) = table[i];
    e = leafy(i);
    *obj_ref(*root, 1) = e;
    table[i] = *root;
  }
  for (size_t n = 0; n < times(100000); ++n)
    (void)leafy(n);
  for (size_t i = 0; i < many(); ++i) {
    REQUIRE(number_of(*obj_ref(table[i], 1)) == i);
    table[i] = *obj_ref(table[i], 0);
  }
  check_vectors();
  mps_arena_park(arena);
  mps_ap_destroy(q);
  mps_pool_destroy(marked);
  mps_arena_release(arena);
  end();
}
END_TEST

/* What dies at once takes little memory, however much of it there is. */
START_TEST(small) {
  size_t committed, most = 0;
  begin_unhurried();
  for (size_t n = 0; n < times(1000000); ++n) {
    table[n % 100] = leafy(n);
    committed = mps_arena_committed(arena);
    most = committed > most ? committed : most;
    if (n == 20000) /* 2 MiB: one that is small is full */
      ck_assert(suite_stressed() || mps_collections(arena) > 0);
  }
  ck_assert_uint_le(most, 12 << 20); /* a machine that stalls may have it
                                        take larger steps */
  ck_assert(suite_stressed() || mps_collections(arena) > 10);
  end();
}
END_TEST

/* In a large heap the nursery is larger. */
START_TEST(large) {
  mps_word_t before;
  begin_unhurried();
  build();
  collect();
  for (size_t n = 0; n < times(400000); ++n)
    (void)leafy(n);
  before = mps_collections(arena);
  for (size_t n = 0; n < times(600000); ++n)
    (void)leafy(n);
  /* 60 MiB and more, 5 to 8 MiB at a time. */
  ck_assert(suite_stressed() || mps_collections(arena) - before < 20);
  check_vectors();
  end();
}
END_TEST

/* So is a chain that the client made, however small its generations are, and
   where each is. */
START_TEST(clients_chain) {
  heap_start(mps_class_amc());
  mps_arena_pause_time_set(arena, 1e6);
  young = ap;
  build();
  check_tenured(16 << 20, SIZE_MAX);
  check_vectors();
  collect();
  check_vectors();
  heap_stop();
}
END_TEST

/* A limit that is far off ends no promotion as it is. */
START_TEST(limited) {
  begin();
  ck_assert_int_eq(mps_arena_commit_limit_set(arena, (size_t)1 << 40),
                   MPS_RES_OK);
  build_some(FEW);
  mps_arena_collect(arena); /* the nursery has next to nothing now */
  mps_arena_release(arena);
  tdo_chain_set_tenure(arena->default_chain, 1 << 20);
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  mps_arena_park(arena);
  ck_assert(arena->trace.full && arena->default_chain->tenure > 0);
  check_some(FEW);
  end();
}
END_TEST

/* A promotion in parts of another chain than the first goes on under stress: it
   is not forgotten. */
START_TEST(under_stress) {
  tdo_chain_t *other;
  begin();
  build_some(FEW);
  for (size_t i = 0; i < 1000; ++i)
    table[FEW + i % 10] = obj_on(ap, OBJ_NODE, 50);
  mps_arena_park(arena);
  tdo_heap_enter(arena);
  other = TDO_RING_ENTRY(tdo_chain_t, heap_ring, arena->chains.prev);
  ck_assert_ptr_ne(other,
                   TDO_RING_ENTRY(tdo_chain_t, heap_ring, arena->chains.next));
  ck_assert_uint_gt(tdo_tenure(arena, other, 1), 0);
  ck_assert_ptr_eq(arena->tenure.chain, other);
  arena->clamp = TDO_UNCLAMPED;
  arena->stress.each = 1;
  arena->stress.count = 0;
  arena->stress.turn = arena->stress.tenure = false;
  tdo_policy_poll(arena);
  ck_assert(arena->tenure.chain == NULL || arena->tenure.chain == other);
  tdo_heap_leave(arena);
  check_some(FEW);
  end();
}
END_TEST

SUITE_MAIN("tenure", 60, built, grown, left_alone, written, churned,
           churned_dirty, looked_at, with_points, reserved, in_parts, together,
           small, large, clients_chain, limited, under_stress)
