/* Testudo: programs that live in little more memory than they need: what dies
   among the old is found, and what lives there moves together, before memory
   runs out. SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include "mpsacl.h"
#include "test/objects.h"
#include "test/random.h"
#include "test/suite.h"

enum { SLOTS = 255, FEW = 4, MANY = 300, MIB = 1 << 20 };

static mps_pool_t objects;
static mps_ap_t point_of; /* of the pool */
static size_t vectors, made;
static void *block; /* of client memory, or null */

static size_t live(void) {
  return vectors * (obj_bytes(SLOTS) + SLOTS * obj_bytes(6));
}

static void begin_arena(mps_arena_class_t cls, mps_arg_s args[], bool own) {
  ck_assert_int_eq(mps_arena_create_k(&arena, cls, args), MPS_RES_OK);
  asserted_start();
  heap_in_arena(mps_class_amc());
  objects = own ? own_chain_pool(mps_class_amc()) : pool;
  point_of = own ? point(objects) : ap;
  made = 0;
}

/* Within LIMIT, on the arena's own chain, or the client's. */
static void begin_within(size_t limit, bool own) {
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_COMMIT_LIMIT, limit);
    begin_arena(mps_arena_class_vm(), args, own);
  }
  MPS_ARGS_END(args);
}

/* The same, in memory of the client's. */
static void begin_in_block(size_t size, bool own) {
  block = aligned_alloc(MIB, size);
  REQUIRE(block != NULL);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_CL_BASE, block);
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, size);
    begin_arena(mps_arena_class_cl(), args, own);
  }
  MPS_ARGS_END(args);
}

/* With room for FACTOR times what will live, and a little for tables. */
static void begin(double factor, bool own) {
  vectors = suite_size(MANY, FEW);
  begin_within((size_t)(factor * (double)live()) + MIB / 2, own);
}

static void end(void) {
  memset(table, 0, sizeof table);
  if (objects != pool) {
    mps_arena_park(arena);
    mps_ap_destroy(point_of);
    mps_pool_destroy(objects);
  }
  heap_stop();
  free(block);
  block = NULL;
}

/* False, and nothing has changed, if there is no memory. */
static bool try_replace(size_t vector, size_t slot) {
  mps_addr_t obj;
  if (obj_try(&obj, point_of, OBJ_NODE, 6) != MPS_RES_OK)
    return false;
  *obj_ref(obj, 0) = (mps_addr_t)((vector * SLOTS + slot) << 2 | 1);
  *obj_ref(obj, 1) = (mps_addr_t)(++made << 2 | 1);
  *obj_ref(table[vector], slot) = obj;
  return true;
}

static void replace(size_t vector, size_t slot) {
  REQUIRE(try_replace(vector, slot));
}

static void build(void) {
  for (size_t v = 0; v < vectors; ++v) {
    table[v] = obj_on(point_of, OBJ_NODE, SLOTS);
    for (size_t i = 0; i < SLOTS; ++i)
      replace(v, i);
  }
}

static void check(void) {
  for (size_t v = 0; v < vectors; ++v)
    for (size_t i = 0; i < SLOTS; ++i) {
      mps_addr_t obj = *obj_ref(table[v], i);
      REQUIRE(number_of(obj) == v * SLOTS + i);
    }
}

static void replace_many(size_t times) {
  for (size_t i = 0; i < times * vectors * SLOTS; ++i)
    replace(random_below(vectors), random_below(SLOTS));
}

static const double factors[] = {2.5, 2.2, 2};

/* Objects die at random among the old, so that no page is ever free; the
   client may ask for a collection of everything that there is no room to copy.
 */
START_TEST(random_deaths) {
  begin(factors[_i / 2], _i % 2);
  build();
  replace_many(4);
  check();
  for (int i = 0; i < 3; ++i) {
    (void)mps_arena_collect(arena); /* of nothing, if one was about to flip */
    mps_arena_release(arena);
    replace_many(1);
  }
  check();
  end();
}
END_TEST

/* A heap that shrinks and grows again. */
START_TEST(comes_and_goes) {
  begin(factors[_i / 2], _i % 2);
  for (int round = 0; round < 3; ++round) {
    build();
    replace_many(1);
    check();
    for (size_t v = 0; v < vectors; ++v)
      for (size_t i = 0; i < SLOTS; ++i)
        if (random_below(12) > 0)
          *obj_ref(table[v], i) = NULL;
    for (size_t v = round % 2; v < vectors; v += 2)
      table[v] = NULL;
  }
  end();
}
END_TEST

/* ---- chains of the client's whose generations may grow larger than memory, so
   that it runs out before any is full ---- */

enum { CHAINS = 64 };

static mps_chain_t chains[CHAINS];
static mps_pool_t pools[CHAINS]; /* one in each */
static mps_ap_t points[CHAINS];

static void begin_chains(size_t count) {
  mps_gen_param_s gen = {1 << 20, 0.8}; /* 1 GiB */
  for (size_t i = 0; i < count; ++i) {
    ck_assert_int_eq(mps_chain_create(&chains[i], arena, 1, &gen), MPS_RES_OK);
    MPS_ARGS_BEGIN(args) {
      MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
      MPS_ARGS_ADD(args, MPS_KEY_CHAIN, chains[i]);
      ck_assert_int_eq(mps_pool_create_k(&pools[i], arena, mps_class_amc(),
                                         args),
                       MPS_RES_OK);
    }
    MPS_ARGS_END(args);
    points[i] = point(pools[i]);
  }
}

static void end_chains(size_t count) {
  mps_arena_park(arena);
  for (size_t i = 0; i < count; ++i) {
    mps_ap_destroy(points[i]);
    mps_pool_destroy(pools[i]);
    mps_chain_destroy(chains[i]);
  }
  end();
}

/* Objects are made in each in turn. Single requests may fail, where much is
   made while a collection goes on. (Of grains of 64 KiB there are too few.) */
START_TEST(large_generations) {
  const size_t count = _i % 2 == 0 ? 1 : 3;
  size_t refused = 0, most;
  if (sysconf(_SC_PAGESIZE) > 16384)
    return;
  begin(factors[_i / 2], false);
  begin_chains(count);
  point_of = points[0];
  build();
  most = vectors * SLOTS / 100;
  for (size_t i = 0; i < 5 * vectors * SLOTS && refused <= most; ++i) {
    point_of = points[i % count];
    refused += !try_replace(random_below(vectors), random_below(SLOTS));
  }
  ck_assert_uint_le(refused, most);
  check();
  point_of = ap;
  end_chains(count);
}
END_TEST

/* What is old is most of the heap, and each chain has little: a request does
   not collect one after the other. */
START_TEST(many_chains) {
  const size_t few = 24; /* collections */
  size_t most = 0;
  if (suite_stressed() || suite_slow())
    return;
  begin(1.6, false);
  build();
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  mps_arena_release(arena);
  begin_chains(CHAINS);
  for (size_t i = 0; i < 4 * vectors * SLOTS; ++i) {
    size_t before = mps_collections(arena);
    mps_addr_t obj;
    (void)obj_try(&obj, points[i % CHAINS], OBJ_NODE, 6); /* it may fail */
    if (mps_collections(arena) - before > most)
      most = mps_collections(arena) - before;
  }
  check();
  ck_assert_uint_gt(most, 0);
  ck_assert_uint_le(most, few);
  end_chains(CHAINS);
}
END_TEST

/* An object more, at the head of a list that counts down. */
static mps_res_t push(void) {
  mps_addr_t obj;
  mps_res_t res = obj_try(&obj, point_of, OBJ_NODE, 6);
  if (res == MPS_RES_OK) {
    *obj_ref(obj, 0) = (mps_addr_t)(made++ << 2 | 1);
    *obj_ref(obj, 1) = table[0];
    table[0] = obj;
  }
  return res;
}

static void fill(void) {
  while (push() == MPS_RES_OK)
    ;
}

static size_t pushed(void) {
  size_t n = 0, last = SIZE_MAX;
  for (mps_addr_t obj = table[0]; obj != NULL; obj = *obj_ref(obj, 1), ++n) {
    REQUIRE(number_of(obj) < last);
    last = number_of(obj);
  }
  return n;
}

/* Of each PERIOD objects one lives on. */
static void thin(size_t period) {
  for (mps_addr_t obj = table[0]; obj != NULL; obj = *obj_ref(obj, 1)) {
    mps_addr_t next = *obj_ref(obj, 1);
    for (size_t i = 1; i < period && next != NULL; ++i)
      next = *obj_ref(next, 1);
    *obj_ref(obj, 1) = next;
  }
}

/* Nothing more can be had, and then objects die one by one between what lives:
   that moves together. (Not where collections move all, room or not.) Without
   pauses as well, where much was made since the last collection began. */
START_TEST(thinned) {
  const size_t period = 2 + (size_t)_i / 2 % 2;
  const bool little = (_i >= 4 && _i < 8) || _i >= 12;
  const size_t part = little ? 8 : 4; /* its buffers are much of it */
  if (suite_stressed() || ((suite_varied() || suite_slow()) && _i % 5 != 0))
    return;
  if (_i < 4)
    begin_within(suite_size(8, 3) * (size_t)MIB, _i % 2);
  else if (little)
    begin_within(256 * suite_pages(1), _i % 2); /* 1 MiB, of small ones */
  else
    begin_in_block(suite_size(8, 2) * (size_t)MIB, _i % 2);
  if (_i >= 12)
    mps_arena_pause_time_set(arena, 0);
  for (int round = 0; round < 3; ++round) {
    size_t full, kept;
    fill();
    full = pushed();
    thin(period);
    kept = pushed();
    ck_assert_uint_eq(kept, (full + period - 1) / period);
    for (size_t i = 0; i < full / part; ++i)
      REQUIRE(push() == MPS_RES_OK);
    ck_assert_uint_eq(pushed(), kept + full / part);
  }
  end();
}
END_TEST

/* One object of half of BYTES. */
static mps_res_t try_half(size_t bytes) {
  mps_addr_t obj;
  return obj_try(&obj, point_of, OBJ_NODE, bytes / 2 / WORD);
}

static void set_limit(size_t limit) {
  ck_assert_int_eq(mps_arena_commit_limit_set(arena, limit), MPS_RES_OK);
}

/* Only what is in use. */
static void set_tight(void) {
  set_limit(mps_arena_committed(arena) - mps_arena_spare_committed(arena));
}

/* What is left to move with gives way: to what the limit is raised by, clearly
   less of it, and to as much as died. */
START_TEST(room_is_given) {
  const size_t some = 64 * suite_pages(1);
  if (suite_emulated() && _i != 0)
    return;
  begin_within(SIZE_MAX, _i % 2);
  while (mps_arena_committed(arena) < 32 * some)
    REQUIRE(push() == MPS_RES_OK);
  for (int round = 0; round < 4; ++round) {
    set_tight();
    set_limit(mps_arena_commit_limit(arena) + some);
    ck_assert_int_eq(try_half(some), MPS_RES_OK);
    set_tight();
    for (size_t i = 0; i < some; i += obj_bytes(6))
      table[0] = *obj_ref(table[0], 1);
    ck_assert_int_eq(try_half(some), MPS_RES_OK);
    (void)pushed();
  }
  end();
}
END_TEST

/* What is far too large is refused, and leaves the room that there was; an
   extent that large is only a wish. */
START_TEST(too_large) {
  const size_t large = (SIZE_MAX >> 31) + 1; /* more tables than the limit */
  mps_pool_t wishing;
  mps_ap_t on;
  mps_addr_t p;
  size_t committed;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_COMMIT_LIMIT, (size_t)16 * MIB);
    ck_assert_int_eq(mps_arena_create_k(&arena, mps_arena_class_vm(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  asserted_start();
  heap_in_arena(mps_class_amc());
  committed = mps_arena_committed(arena);
  ck_assert_int_ne(mps_reserve(&p, ap, large), MPS_RES_OK);
  ck_assert_uint_le(mps_arena_committed(arena), committed + MIB);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
    MPS_ARGS_ADD(args, MPS_KEY_EXTEND_BY, large);
    ck_assert_int_eq(mps_pool_create_k(&wishing, arena, mps_class_amc(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  on = point(wishing);
  for (size_t i = 0; i < ROOTS; ++i)
    table[i] = obj_on(on, OBJ_NODE, FEW);
  mps_arena_park(arena);
  mps_ap_destroy(on);
  mps_pool_destroy(wishing);
  memset(table, 0, sizeof table);
  heap_stop();
}
END_TEST

#define LOOPS (2 * sizeof factors / sizeof factors[0])

SUITE_LOOPS_MAIN("limit", 120, {random_deaths, LOOPS}, {comes_and_goes, LOOPS},
                 {large_generations, LOOPS}, {many_chains, 1},
                 {too_large, 1}, {thinned, 16}, {room_is_given, 2})
