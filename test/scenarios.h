/* Testudo: what the scenarios of test_scenarios.c stand on: a world, that is
   an arena of some kind with a pool of some class, and blocks in it that are
   handled alike whatever the class. SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_SCENARIOS_H
#define TDO_TEST_SCENARIOS_H

#include "mpsacl.h"
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "mpscmfs.h"
#include "mpscmvt.h"
#include "mpscsnc.h"
#include "test/objects.h"
#include "test/random.h"
#include "test/suite.h"

/* What a class does. */
enum {
  COLLECTS = 1, /* automatic */
  MOVES = 2,
  SCANS = 4,
  POINTS = 8,
  ALLOCS = 16, /* mps_alloc */
  FREES = 32,
  STACKS = 64, /* frames free */
  TRAPS = 128, /* a flip may void a reserved block */
  FORMATS = 256,
  UNITS = 512,   /* one size */
  GUARDS = 1024, /* fenceposts */
  WEAKENS = 2048 /* points of weak rank */
};

typedef struct kind {
  const char *name;
  mps_pool_class_t (*of)(void);
  unsigned does;
} kind_t;

static const kind_t kinds[] = {
    {"AMC", mps_class_amc,
     COLLECTS | MOVES | SCANS | POINTS | TRAPS | FORMATS},
    {"AMCZ", mps_class_amcz, COLLECTS | MOVES | POINTS | FORMATS},
    {"AMS", mps_class_ams, COLLECTS | SCANS | POINTS | TRAPS | FORMATS},
    {"AMS debug", mps_class_ams_debug,
     COLLECTS | SCANS | POINTS | TRAPS | FORMATS},
    {"AWL", mps_class_awl,
     COLLECTS | WEAKENS | SCANS | POINTS | TRAPS | FORMATS},
    {"AWL0", mps_class_awl0,
     COLLECTS | WEAKENS | SCANS | POINTS | TRAPS | FORMATS},
    {"AEPH", mps_class_aeph, COLLECTS | SCANS | POINTS | TRAPS | FORMATS},
    {"LO", mps_class_lo, COLLECTS | POINTS | FORMATS},
    {"SNC", mps_class_snc, SCANS | POINTS | STACKS | TRAPS | FORMATS},
    {"MFS", mps_class_mfs, ALLOCS | FREES | UNITS},
    {"MVFF", mps_class_mvff, ALLOCS | FREES | POINTS},
    {"MVFF debug", mps_class_mvff_debug, ALLOCS | FREES | GUARDS},
    {"MVT", mps_class_mvt, FREES | POINTS}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Arenas, and formats in them. */
typedef struct world {
  const char *name;
  size_t size, grain, header, align;
  bool client;
} world_t;

static const world_t worlds[] = {
    {"plain", (size_t)256 << 20, 4096, 0, 8, false},
    {"coarse", 0, 65536, 16, 16, false},
    {"client", (size_t)32 << 20, 8192, 8, 8, true},
    {"tiny grains", (size_t)32 << 20, 1024, 0, 32, true},
    {"wide", 1, 4096, 64, 64, false}};
enum { WORLDS = sizeof worlds / sizeof worlds[0] };

static const world_t *world;
static const kind_t *kind;
static char client_memory[(size_t)32 << 20];

static inline bool does(unsigned what) {
  return (kind->does & what) == what;
}

static inline mps_res_t world_arena(mps_arena_t *arena_o, size_t limit) {
  mps_res_t res;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, world->size);
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_GRAIN_SIZE, world->grain);
    MPS_ARGS_ADD(args, MPS_KEY_COMMIT_LIMIT, limit);
    if (world->client)
      MPS_ARGS_ADD(args, MPS_KEY_ARENA_CL_BASE, client_memory);
    res = mps_arena_create_k(
        arena_o, world->client ? mps_arena_class_cl() : mps_arena_class_vm(),
        args);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  return res;
}

static inline size_t rounded(size_t size) {
  return (size + world->align - 1) & ~(world->align - 1);
}

/* Bytes of a block for N words of its owner's. */
static inline size_t bytes(size_t n) {
  return does(UNITS) ? 256 : rounded(obj_bytes(n));
}

/* Bytes that it counts for in the pool. */
static inline size_t weight(size_t n) {
  return does(GUARDS) ? bytes(n) + 16 : bytes(n);
}

static inline mps_res_t world_format(mps_fmt_t *fmt_o) {
  mps_res_t res;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ALIGN, world->align);
    if (!does(STACKS))
      MPS_ARGS_ADD(args, MPS_KEY_FMT_HEADER_SIZE, world->header);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SCAN, obj_scan);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, obj_skip);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_FWD, obj_fwd);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ISFWD, obj_isfwd);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_PAD, obj_pad);
    res = mps_fmt_create_k(fmt_o, arena, args);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  return res;
}

/* A pool of the kind; without a chain it uses the arena's. */
static inline mps_res_t world_pool(mps_pool_t *pool_o, mps_chain_t on) {
  mps_res_t res;
  MPS_ARGS_BEGIN(args) {
    if (does(FORMATS))
      MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
    if (does(COLLECTS) && on != NULL)
      MPS_ARGS_ADD(args, MPS_KEY_CHAIN, on);
    if (does(UNITS))
      MPS_ARGS_ADD(args, MPS_KEY_MFS_UNIT_SIZE, 256);
    if (!does(FORMATS) && !does(UNITS) && !does(GUARDS))
      MPS_ARGS_ADD(args, MPS_KEY_ALIGN, world->align);
    res = mps_pool_create_k(pool_o, arena, kind->of(), args);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  return res;
}

static inline void world_open(const world_t *in, const kind_t *of) {
  mps_gen_param_s gens[] = {{128, 0.8}, {512, 0.5}};
  world = in;
  kind = of;
  obj_header = does(STACKS) || !does(FORMATS) ? 0 : world->header;
  ck_assert_int_eq(world_arena(&arena, SIZE_MAX), MPS_RES_OK);
  asserted_start();
  ck_assert_int_eq(world_format(&fmt), MPS_RES_OK);
  ck_assert_int_eq(mps_chain_create(&chain, arena, 2, gens), MPS_RES_OK);
  ck_assert_int_eq(mps_thread_reg(&thr, arena), MPS_RES_OK);
  ck_assert_int_eq(mps_root_create_table(&table_root, arena, mps_rank_exact(),
                                         0, table, ROOTS),
                   MPS_RES_OK);
  ck_assert_int_eq(world_pool(&pool, chain), MPS_RES_OK);
  ap = does(POINTS) ? point(pool) : NULL;
}

/* A block with N words, null, in pool P, on ON if that is a point. */
static inline mps_res_t block_try(mps_addr_t *p_o, mps_pool_t p, mps_ap_t on,
                                  size_t n) {
  size_t size = bytes(n);
  mps_addr_t base;
  do {
    mps_res_t res =
        on != NULL ? mps_reserve(&base, on, size) : mps_alloc(&base, p, size);
    if (res != MPS_RES_OK)
      return res;
    REQUIRE(((mps_word_t)base & (does(FORMATS) ? world->align - 1 : 7)) == 0);
    memset(base, 0, size);
    *(mps_word_t *)base = size << 3 | (does(SCANS) ? OBJ_NODE : OBJ_LEAF);
  } while (on != NULL && !mps_commit(on, base, size));
  *p_o = (char *)base + obj_header;
  return MPS_RES_OK;
}

static inline mps_addr_t block(size_t n) {
  mps_addr_t p = NULL;
  REQUIRE(block_try(&p, pool, ap, n) == MPS_RES_OK);
  return p;
}

static inline void release(mps_addr_t p, size_t n) {
  mps_free(pool, obj_base(p), bytes(n));
}

/* A block that says N. */
static inline mps_addr_t told(size_t n) {
  mps_addr_t p = block(3);
  *obj_ref(p, 0) = (mps_addr_t)(n << 2 | 1);
  return p;
}

/* Blocks in the table: entry I says I. */
static inline void tell(size_t n) {
  for (size_t i = 0; i < n; ++i)
    table[i] = told(i);
}

static inline void check_told(size_t n) {
  for (size_t i = 0; i < n; ++i)
    ck_assert_uint_eq(number_of(table[i]), i);
}

/* What follows happens in pool MADE, on a point of its own, until nothing is
   left of it. */
static mps_pool_t home;
static mps_ap_t home_ap;

static inline void move_to(mps_pool_t made) {
  home = pool;
  home_ap = ap;
  pool = made;
  ap = point(made);
}

static inline void return_home(void) {
  memset(table, 0, sizeof table);
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  pool = home;
  ap = home_ap;
}

/* Attached to ON and not used. */
static inline size_t rest(mps_ap_t on) {
  return on == NULL || on->limit == NULL
             ? 0
             : (size_t)((char *)on->limit - (char *)on->init);
}

/* What clients may check at any moment (interface, section 2.3). */
static inline void invariants(void) {
  size_t committed = mps_arena_committed(arena);
  size_t spare = mps_arena_spare_committed(arena);
  REQUIRE(mps_arena_spare(arena) >= 0 && mps_arena_spare(arena) <= 1);
  REQUIRE((double)spare <= mps_arena_spare(arena) * (double)committed);
  REQUIRE(spare < committed && committed <= mps_arena_reserved(arena));
  REQUIRE(committed <= mps_arena_commit_limit(arena));
  REQUIRE(mps_pool_free_size(pool) <= mps_pool_total_size(pool));
}

static inline void invariants_of_arena(void) {
  size_t committed = mps_arena_committed(arena);
  REQUIRE((double)mps_arena_spare_committed(arena) <=
          mps_arena_spare(arena) * (double)committed);
  REQUIRE(committed <= mps_arena_reserved(arena));
  REQUIRE(committed <= mps_arena_commit_limit(arena));
}

/* Roots of all kinds. */
static __attribute__((unused)) mps_word_t words[64];

/* The first N of them, of RANK. */
static inline mps_root_t words_root(mps_rank_t rank, size_t n) {
  mps_root_t root;
  ck_assert_int_eq(
      mps_root_create_table(&root, arena, rank, 0, (mps_addr_t *)words, n),
      MPS_RES_OK);
  return root;
}

static inline size_t count_posted(void) {
  size_t n = 0;
  mps_message_t message;
  while (mps_message_get(&message, arena, mps_message_type_finalization())) {
    mps_message_discard(arena, message);
    ++n;
  }
  return n;
}

/* Blocks that nothing else keeps, and that tell when they die: one for each
   word, which hides it until it is set. */
static __attribute__((unused)) mps_addr_t hidden[64];

static __attribute__((noinline, unused)) void hide(size_t n) {
  mps_message_type_enable(arena, mps_message_type_finalization());
  mps_arena_park(arena);
  for (size_t i = 0; i < n; ++i) {
    mps_addr_t p = told(i);
    ck_assert_int_eq(mps_finalize(arena, &p), MPS_RES_OK);
    hidden[i] = p;
  }
}

/* A scenario, and the classes it is for. */
typedef struct scenario {
  const char *name;
  void (*play)(void);
  unsigned needs, except;
} scenario_t;

/* What is played: scenarios in worlds with kinds, where they apply. */
static int plays[16 * 1024];

static inline void play(const scenario_t *scenarios, int i) {
  const scenario_t *s = &scenarios[plays[i] / (WORLDS * KINDS)];
  world_open(&worlds[plays[i] / KINDS % WORLDS], &kinds[plays[i] % KINDS]);
  s->play();
  ck_assert_msg(asserted_count == 0, "%s on %s, %s: %u assertions, first %s",
                s->name, kind->name, world->name, asserted_count,
                asserted_first);
  heap_stop();
}

/* A test that plays them all; where that is slow, and in other modes, each
   scenario with each kind in one of the worlds. */
static inline Suite *scenarios_suite(const char *name,
                                     const scenario_t *scenarios, size_t n,
                                     const TTest *test) {
  Suite *suite = suite_create(name);
  TCase *tcase = tcase_create(name);
  int count = 0;
  random_start();
  for (size_t i = 0; i < n * WORLDS * KINDS; ++i) {
    const scenario_t *s = &scenarios[i / (WORLDS * KINDS)];
    unsigned is = kinds[i % KINDS].does;
    bool turn = (i / (WORLDS * KINDS) + i) % WORLDS == i / KINDS % WORLDS;
    if ((is & s->needs) == s->needs && (is & s->except) == 0 &&
        (turn || !(suite_slow() || suite_varied())))
      plays[count++] = (int)i;
  }
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, test, 0, count);
  suite_add_tcase(suite, tcase);
  return suite;
}

#endif /* TDO_TEST_SCENARIOS_H */
