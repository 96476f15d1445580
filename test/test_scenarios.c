/* Testudo: many small scenarios, in the order of the interface's sections,
   each in pools of every class to which it applies, in arenas and formats of
   several kinds. SPDX-License-Identifier: BSD-2-Clause */
#include "test/scenarios.h"

/* ---- 1 and 2.1-2.3: conventions, arguments, arenas, limits ---- */

/* Each known key is taken out, the first of two; the rest moves up. */
static void arguments(void) {
  mps_pool_t made;
  mps_arg_s args[6];
  memset(args, 0, sizeof args);
  args[0].key = MPS_KEY_FMT_CLASS;
  args[1].key = MPS_KEY_FORMAT;
  args[1].val.format = fmt;
  args[2].key = MPS_KEY_MFS_UNIT_SIZE;
  args[2].val.size = 256;
  args[3].key = MPS_KEY_PAUSE_TIME;
  args[4].key = MPS_KEY_FORMAT;
  args[4].val.format = fmt;
  args[5].key = MPS_KEY_ARGS_END;
  ck_assert_int_eq(mps_pool_create_k(&made, arena, kind->of(), args),
                   MPS_RES_OK);
  ck_assert_ptr_eq(args[0].key, MPS_KEY_FMT_CLASS);
  if (does(FORMATS)) {
    ck_assert_ptr_eq(args[1].key, MPS_KEY_MFS_UNIT_SIZE);
    ck_assert_ptr_eq(args[2].key, MPS_KEY_PAUSE_TIME);
    ck_assert_ptr_eq(args[3].key, MPS_KEY_FORMAT);
    ck_assert_ptr_eq(args[4].key, MPS_KEY_ARGS_END);
  }
  mps_pool_destroy(made);
}

/* Points take their own keys only. */
static void point_arguments(void) {
  bool ranked = does(SCANS) && !does(MOVES);
  bool hashes = does(MOVES);
  mps_ap_t made;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_RANK, mps_rank_exact());
    MPS_ARGS_ADD(args, MPS_KEY_AP_HASH_ARRAYS, 1);
    MPS_ARGS_ADD(args, MPS_KEY_SPARE, 0.5);
    ck_assert_int_eq(mps_ap_create_k(&made, pool, args), MPS_RES_OK);
    ck_assert_ptr_eq(args[!ranked + !hashes].key, MPS_KEY_SPARE);
    ck_assert_ptr_eq(args[1 + !ranked + !hashes].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  mps_ap_destroy(made);
}

/* A rank in the older form is read or ignored. */
static void point_by_position(void) {
  mps_ap_t made;
  mps_addr_t p;
  ck_assert_int_eq(mps_ap_create(&made, pool, mps_rank_exact()), MPS_RES_OK);
  ck_assert_ptr_eq(made->limit, made->init);
  ck_assert_int_eq(block_try(&p, pool, made, 4), MPS_RES_OK);
  table[0] = does(COLLECTS) ? p : NULL;
  mps_ap_destroy(made);
}

/* Too large for any memory; nothing is written. */
static void impossible_sizes(void) {
  size_t top = ~(SIZE_MAX >> 1),
         sizes[] = {top, top + world->align, SIZE_MAX - 4095};
  for (size_t i = 0; i < 3; ++i) {
    mps_addr_t mark = &mark, p = mark;
    mps_res_t res = ap != NULL ? mps_reserve(&p, ap, sizes[i])
                               : mps_alloc(&p, pool, sizes[i]);
    ck_assert_int_eq(res, MPS_RES_RESOURCE);
    ck_assert_ptr_eq(p, mark);
  }
  (void)block(3);
}

/* Blocks until the limit; the code says why; nothing is written then, and the
   first is what it was. */
static size_t fill(mps_res_t *res_o) {
  size_t n = 0;
  mps_addr_t p = NULL;
  while ((*res_o = block_try(&p, pool, ap, 20)) == MPS_RES_OK) {
    REQUIRE(n++ < 200000);
    if (does(COLLECTS)) {
      *obj_ref(p, 0) = does(SCANS) ? table[0] : NULL;
      if (does(SCANS))
        table[0] = p;
      else
        table[n % ROOTS] = p;
    }
    p = NULL;
    if (n % 64 == 0)
      invariants();
  }
  ck_assert_ptr_null(p);
  return n;
}

static void limit_by(size_t more) {
  ck_assert_int_eq(
      mps_arena_commit_limit_set(arena, mps_arena_committed(arena) + more),
      MPS_RES_OK);
}

static void commit_limit(void) {
  mps_res_t res;
  size_t limit, before;
  (void)block(3);
  if (does(COLLECTS) && !does(SCANS))
    mps_arena_clamp(arena); /* the table cannot hold enough */
  limit_by(300000);
  limit = mps_arena_commit_limit(arena);
  (void)fill(&res);
  ck_assert_int_eq(res, MPS_RES_COMMIT_LIMIT);
  invariants();
  before = mps_arena_committed(arena);
  ck_assert_int_eq(mps_arena_commit_limit_set(arena, 0), MPS_RES_FAIL);
  ck_assert_uint_eq(mps_arena_commit_limit(arena), limit);
  ck_assert_uint_eq(mps_arena_committed(arena), before);
  ck_assert_int_eq(mps_arena_commit_limit_set(arena, limit + 200000),
                   MPS_RES_OK);
  for (size_t i = 0; i < 40; ++i) /* of clearly less than that */
    (void)block(100);
  invariants();
}

/* What one pool gave back another one uses. */
static void limit_shared(void) {
  enum { N = 1000 };
  mps_pool_t other;
  mps_addr_t p[N];
  mps_arena_spare_set(arena, 1.0);
  ck_assert_int_eq(
      mps_pool_create_k(&other, arena, mps_class_mvff(), mps_args_none),
      MPS_RES_OK);
  mps_arena_clamp(arena); /* else garbage makes room, too */
  for (size_t i = 0; i < N; ++i)
    p[i] = block(60);
  limit_by(0);
  if (does(FREES))
    for (size_t i = 0; i < N; ++i)
      release(p[i], 60);
  if (does(COLLECTS)) {
    memset(p, 0, sizeof p);
    (void)mps_arena_collect(arena);
  }
  if (ap != NULL)
    mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  (void)alloc(other, N * bytes(60) / 2);
  invariants_of_arena();
  mps_pool_destroy(other);
  ck_assert_int_eq(mps_arena_commit_limit_set(arena, SIZE_MAX), MPS_RES_OK);
  ck_assert_int_eq(world_pool(&pool, chain), MPS_RES_OK);
  ap = does(POINTS) ? point(pool) : NULL;
}

/* At once, in both directions. */
static void spare_memory(void) {
  enum { N = 2000 };
  mps_addr_t p[N];
  mps_arena_spare_set(arena, 1.0);
  for (size_t i = 0; i < N; ++i)
    p[i] = block(60);
  if (does(FREES))
    for (size_t i = 0; i < N; ++i)
      release(p[i], 60);
  memset(p, 0, sizeof p);
  (void)mps_arena_collect(arena);
  invariants();
  mps_arena_spare_set(arena, 0.0);
  ck_assert_uint_eq(mps_arena_spare_committed(arena), 0);
  invariants();
  ck_assert_uint_eq(mps_arena_spare_commit_limit(arena), 0);
  mps_arena_spare_commit_limit_set(arena, mps_arena_committed(arena) + 1);
  ck_assert(mps_arena_spare(arena) == 1.0);
  mps_arena_release(arena);
}

/* Anything, and at any moment the invariants hold. */
static void anything(void) {
  enum { N = 200 };
  mps_addr_t p[N] = {NULL};
  size_t size[N] = {0};
  for (size_t step = 0; step < 3000; ++step) {
    size_t i = random_below(N),
           n = 1 + random_below(random_below(9) ? 40 : 900);
    if (does(FREES) && p[i] != NULL) {
      release(p[i], size[i]);
      p[i] = NULL;
    } else {
      mps_addr_t made = block(n);
      if (does(FREES)) {
        p[i] = made;
        size[i] = n;
      } else if (does(COLLECTS)) {
        table[i] = made;
      }
    }
    if (step % 50 == 0)
      invariants();
    if (step % 300 == 0)
      mps_arena_spare_set(arena, (double)random_below(5) / 4);
    if (step % 500 == 0)
      (void)mps_arena_step(arena, 0.001, 1.0);
    if (step % 700 == 0) {
      (void)mps_arena_collect(arena);
      mps_arena_release(arena);
    }
  }
}

/* ---- 2.4: states ---- */

static void states(void) {
  mps_word_t before;
  mps_addr_t p = told(4);
  table[0] = does(COLLECTS) ? p : NULL;
  mps_arena_park(arena);
  mps_arena_park(arena);
  mps_arena_clamp(arena);
  mps_arena_clamp(arena);
  before = mps_collections(arena);
  for (size_t i = 0; i < 3000; ++i)
    (void)block(30);
  ck_assert_uint_eq(mps_collections(arena), before);
  ck_assert_uint_eq(number_of(p), 4);
  ck_assert_int_eq(mps_arena_collect(arena),
                   does(COLLECTS) ? MPS_RES_OK : MPS_RES_FAIL);
  ck_assert_uint_eq(mps_collections(arena), before + does(MOVES));
  ck_assert_int_eq(mps_arena_start_collect(arena),
                   does(COLLECTS) ? MPS_RES_OK : MPS_RES_FAIL);
  mps_arena_release(arena);
  mps_arena_release(arena);
  while (mps_arena_step(arena, 0.01, 0.0))
    continue;
  ck_assert(!mps_arena_busy(arena));
}

/* Garbage is not reclaimed while clamped, and it is after that. */
static void clamped_until_full(void) {
  mps_res_t res;
  mps_addr_t p = NULL;
  mps_arena_clamp(arena);
  limit_by(500000);
  while ((res = block_try(&p, pool, ap, 30)) == MPS_RES_OK)
    continue;
  ck_assert_int_eq(res, MPS_RES_COMMIT_LIMIT);
  ck_assert_int_eq(block_try(&p, pool, ap, 3000), MPS_RES_COMMIT_LIMIT);
  mps_arena_release(arena);
  for (size_t i = 0; i < suite_size(20000, 1000); ++i)
    table[0] = block(30);
  invariants();
}

/* ---- 2.5: questions ---- */

static void questions(void) {
  size_t size = bytes(40);
  char *p = block(40), *base = (char *)obj_base(p), *heap = malloc(10);
  mps_pool_t found;
  mps_fmt_t format;
  mps_addr_t obj;
  for (size_t i = 0; i < size; ++i) {
    REQUIRE(mps_arena_has_addr(arena, base + i));
    REQUIRE(mps_addr_pool(&found, arena, base + i) && found == pool);
    REQUIRE(mps_addr_fmt(&format, arena, base + i) == does(FORMATS));
    REQUIRE(!does(FORMATS) || format == fmt);
    obj = NULL;
    REQUIRE(mps_addr_object(&obj, arena, base + i) ==
            (does(MOVES) ? MPS_RES_OK : MPS_RES_UNIMPL));
    REQUIRE(obj == (does(MOVES) ? p : NULL));
  }
  if (does(MOVES))
    ck_assert_int_eq(mps_addr_object(&obj, arena, base + size), MPS_RES_FAIL);
  for (int i = 0; i < 3; ++i) {
    char *q = i == 0 ? NULL : i == 1 ? (char *)&obj : heap;
    ck_assert(!mps_arena_has_addr(arena, q));
    ck_assert(!mps_addr_pool(&found, arena, q));
    ck_assert(!mps_addr_fmt(&format, arena, q));
    ck_assert_int_eq(mps_addr_object(&obj, arena, q), MPS_RES_FAIL);
  }
  free(heap);
}

/* Reserved is not yet an object; nor is what one moved from, even in front of
   a point's buffer. */
static void no_objects(void) {
  mps_addr_t p, obj, old;
  size_t size = bytes(10);
  mps_arena_park(arena);
  ck_assert_int_eq(mps_reserve(&p, ap, size), MPS_RES_OK);
  ck_assert_int_eq(mps_addr_object(&obj, arena, p), MPS_RES_FAIL);
  memset(p, 0, size);
  *(mps_word_t *)p = size << 3 | OBJ_LEAF;
  ck_assert(mps_commit(ap, p, size));
  ck_assert_int_eq(mps_addr_object(&obj, arena, p), MPS_RES_OK);
  table[0] = old = obj;
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_ptr_ne(table[0], old);
  ck_assert_int_eq(mps_addr_object(&obj, arena, old), MPS_RES_FAIL);
  ck_assert_int_eq(mps_addr_object(&obj, arena, table[0]), MPS_RES_OK);
  ck_assert_ptr_eq(obj, table[0]);
}

/* ---- 2.7, 2.8: chains and formats ---- */

/* Through more generations than anybody has. */
static void many_generations(void) {
  mps_gen_param_s gens[40];
  mps_chain_t tall;
  mps_pool_t made;
  for (size_t i = 0; i < 40; ++i)
    gens[i] = (mps_gen_param_s){1 + i, i % 2 ? 0.0 : 1.0};
  ck_assert_int_eq(mps_chain_create(&tall, arena, 40, gens), MPS_RES_OK);
  ck_assert_int_eq(world_pool(&made, tall), MPS_RES_OK);
  move_to(made);
  for (size_t i = 0; i < suite_size(20000, 4000); ++i)
    table[i % 100] = told(i % 100);
  for (size_t i = 0; i < 45; ++i)
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  check_told(100);
  return_home();
  mps_chain_destroy(tall);
  mps_arena_release(arena);
}

/* Nothing is called that is not there. */
static void format_without_methods(void) {
  mps_fmt_t empty, keep = fmt;
  mps_pool_t made;
  mps_ap_t on;
  mps_addr_t p;
  mps_arena_park(arena);
  ck_assert_int_eq(mps_fmt_create_k(&empty, arena, mps_args_none), MPS_RES_OK);
  fmt = empty;
  ck_assert_int_eq(world_pool(&made, chain), MPS_RES_OK);
  fmt = keep;
  on = point(made);
  ck_assert_int_eq(mps_reserve(&p, on, 64), MPS_RES_OK);
  memset(p, 0, 64);
  ck_assert(mps_commit(on, p, 64));
  ck_assert_uint_ge(in_use(made), 64);
  ASSERTED_NEVER((void)mps_pool_free_size(made));
  mps_ap_destroy(on);
  asserted_count = 0; /* a pad may be wanted for what is left */
  mps_pool_destroy(made);
  mps_fmt_destroy(empty);
}

/* The pool is refused. */
static void too_aligned(void) {
  mps_pool_t made = NULL;
  mps_res_t res;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
    ASSERTED(res = mps_pool_create_k(&made, arena, kind->of(), args));
  }
  MPS_ARGS_END(args);
  ck_assert_int_eq(res, MPS_RES_PARAM);
  ck_assert_ptr_null(made);
  mps_fmt_destroy(fmt);
}

/* Any power of two up to the arena's grain. */
static void alignments(void) {
  static const size_t aligns[] = {8, 16, 32, 128, 1024, 4096, 65536};
  size_t grain = tdo_max(world->grain, world->client ? 4096 : suite_pages(1));
  for (size_t i = 0; i < sizeof aligns / sizeof aligns[0]; ++i) {
    world_t other = *world;
    const world_t *before = world;
    mps_pool_t made;
    mps_fmt_t keep_fmt = fmt;
    other.align = aligns[i];
    other.header = obj_header;
    world = &other;
    ck_assert_int_eq(world_format(&fmt), MPS_RES_OK);
    if (aligns[i] > grain) {
      too_aligned();
      fmt = keep_fmt;
      world = before;
      continue;
    }
    ck_assert_int_eq(world_pool(&made, chain), MPS_RES_OK);
    move_to(made);
    tell(20);
    for (int round = 0; round < 3; ++round)
      (void)mps_arena_collect(arena);
    check_told(20);
    for (size_t n = 0; n < 20; ++n)
      ck_assert_uint_eq((size_t)obj_base(table[n]) % aligns[i], 0);
    return_home();
    mps_fmt_destroy(fmt);
    mps_arena_release(arena);
    fmt = keep_fmt;
    world = before;
  }
}

/* ---- 2.9: pools and their sizes ---- */

static void sizes(void) {
  enum { N = 300 };
  mps_addr_t p[N];
  size_t live = 0;
  mps_arena_park(arena);
  ck_assert_uint_eq(in_use(pool), 0);
  for (size_t i = 0; i < N; ++i) {
    p[i] = block(i % 29);
    live += weight(i % 29);
    if (does(COLLECTS | MOVES) || does(STACKS))
      REQUIRE(in_use(pool) >= live + rest(ap));
    else
      REQUIRE(in_use(pool) == live + rest(ap));
  }
  if (does(FREES))
    for (size_t i = 0; i < N; ++i) {
      release(p[i], i % 29);
      live -= weight(i % 29);
      REQUIRE(in_use(pool) == live + rest(ap));
    }
  if (ap != NULL) {
    mps_ap_destroy(ap);
    if (!does(MOVES))
      ck_assert_uint_eq(in_use(pool), does(STACKS) ? 0 : live);
    ap = point(pool);
  }
}

/* ROUNDS pools, one after the other; committed memory after SETTLED of them. */
static size_t come_and_go(size_t rounds, size_t settled, bool collecting) {
  size_t first = 0;
  for (size_t i = 0; i < rounds; ++i) {
    mps_pool_t made;
    mps_ap_t on = NULL;
    mps_addr_t p;
    ck_assert_int_eq(world_pool(&made, NULL), MPS_RES_OK);
    if (does(POINTS))
      on = point(made);
    for (size_t j = 0; j < 500; ++j)
      REQUIRE(block_try(&p, made, on, 50) == MPS_RES_OK);
    mps_arena_park(arena);
    if (on != NULL)
      mps_ap_destroy(on);
    mps_pool_destroy(made);
    if (collecting)
      mps_arena_release(arena);
    if (i == settled)
      first = mps_arena_committed(arena);
  }
  return first;
}

/* Everything goes back. */
static void pools_come_and_go(void) {
  enum { ROUNDS = 100, SLACK = 32 << 10 };
  size_t first;
  mps_arena_spare_set(arena, 0.0);
  mps_arena_park(arena);
  first = come_and_go(30, 3, false);
  ck_assert_uint_le(mps_arena_committed(arena), first);
  mps_arena_release(arena);
  /* Collections come when they come: a few blocks more or less, but not one for
     each pool. */
  first = come_and_go(ROUNDS, ROUNDS / 2, true);
  ck_assert_uint_le(mps_arena_committed(arena), first + SLACK);
}

/* In the middle of a collection. */
static void pool_destroyed_midway(void) {
  for (size_t round = 0; round < 4; ++round) {
    mps_pool_t made;
    mps_ap_t on;
    mps_addr_t p;
    ck_assert_int_eq(world_pool(&made, chain), MPS_RES_OK);
    on = point(made);
    for (size_t j = 0; j < suite_size(3000, 500); ++j)
      REQUIRE(block_try(&p, made, on, 50) == MPS_RES_OK);
    tell(100);
    mps_arena_pause_time_set(arena, 0.0);
    ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
    for (size_t j = 0; j < round * 3; ++j)
      (void)mps_arena_step(arena, 0.0, 0.0);
    mps_ap_destroy(on);
    mps_pool_destroy(made);
    check_told(100);
  }
}

/* ---- 2.10: manual allocation ---- */

static void freed_at_the_limit(void) {
  enum { N = 4000 };
  static mps_addr_t p[N];
  size_t n = 0;
  mps_pool_t other;
  mps_addr_t q;
  ck_assert_int_eq(
      mps_pool_create_k(&other, arena, mps_class_mvff(), mps_args_none),
      MPS_RES_OK);
  limit_by(600000);
  while (n < N && block_try(&p[n], pool, ap, 31) == MPS_RES_OK)
    ++n;
  for (size_t i = 0; i < n; i += 2)
    release(p[i], 31);
  for (size_t i = 1; i < n; i += 2)
    release(p[i], 31);
  ck_assert_uint_eq(in_use(pool), rest(ap));
  for (size_t i = 0; i < n / 2; ++i)
    ck_assert_int_eq(block_try(&p[i], pool, ap, 31), MPS_RES_OK);
  for (size_t i = 0; i < n / 2; ++i)
    release(p[i], 31);
  if (!does(UNITS)) /* those keep theirs */
    ck_assert_int_eq(mps_alloc(&q, other, 200000), MPS_RES_OK);
  mps_pool_destroy(other);
}

/* Parts of blocks, in any order. */
static void freed_in_parts(void) {
  size_t unit = world->align, n = 64;
  for (size_t round = 0; round < 20; ++round) {
    char *base = (char *)obj_base(block(n * unit / WORD));
    size_t size = bytes(n * unit / WORD), start = size / unit;
    size_t before = in_use(pool);
    for (size_t i = round % 3; i < start; i += 3)
      mps_free(pool, base + i * unit, unit);
    for (size_t i = (round + 1) % 3; i < start; i += 3)
      mps_free(pool, base + i * unit, unit);
    for (size_t i = (round + 2) % 3; i < start; i += 3)
      mps_free(pool, base + i * unit, unit);
    ck_assert_uint_eq(in_use(pool), before - size);
  }
}

/* Sizes that are no multiple of anything, each with its own contents. */
static void odd_sizes(void) {
  enum { N = 300 };
  unsigned char *p[N];
  for (size_t i = 0; i < N; ++i) {
    p[i] = (unsigned char *)alloc(pool, 1 + i);
    memset(p[i], (int)i, 1 + i);
    ck_assert_uint_eq((size_t)p[i] % 8, 0);
  }
  for (size_t i = 0; i < N; ++i)
    for (size_t j = 0; j <= i; ++j)
      REQUIRE(p[i][j] == (unsigned char)i);
  mps_pool_check_fenceposts(pool);
  mps_pool_check_free_space(pool);
  for (size_t i = 0; i < N; ++i)
    mps_free(pool, p[i * 7 % N], 1 + i * 7 % N);
  ck_assert_uint_eq(in_use(pool), rest(ap));
  mps_pool_check_free_space(pool);
}

/* ---- 2.11: allocation points ---- */

/* What an allocation at the limit leaves works on. */
static void points_fail_and_work(void) {
  mps_res_t res;
  mps_addr_t p;
  mps_arena_clamp(arena);
  limit_by(200000);
  (void)fill(&res);
  ck_assert_int_eq(res, MPS_RES_COMMIT_LIMIT);
  ck_assert_int_eq(mps_arena_commit_limit_set(arena, SIZE_MAX), MPS_RES_OK);
  mps_arena_release(arena);
  for (size_t i = 0; i < 1000; ++i)
    ck_assert_int_eq(block_try(&p, pool, ap, 20), MPS_RES_OK);
}

/* Two reserves are one block; one block may be several objects. */
static void regions(void) {
  size_t size = bytes(4);
  mps_addr_t p, q;
  mps_arena_park(arena);
  (void)block(4);
  for (;;) { /* with room for two */
    if (rest(ap) >= 3 * size)
      break;
    (void)block(4);
  }
  REQUIRE(mps_reserve(&p, ap, size) == MPS_RES_OK);
  REQUIRE((mps_reserve)(&q, ap, size) != MPS_RES_OK || TDO_RASH);
  asserted_count = 0;
  if (TDO_RASH)
    ap->alloc = (char *)ap->init + size;
  REQUIRE(mps_reserve(&q, ap, size) == MPS_RES_OK);
  ck_assert_ptr_eq(q, p);
  ck_assert_uint_eq((size_t)((char *)ap->alloc - (char *)ap->init), 2 * size);
  for (int i = 0; i < 2; ++i) {
    mps_word_t *w = (mps_word_t *)(void *)((char *)p + (size_t)i * size);
    memset(w, 0, size);
    w[0] = size << 3 | OBJ_LEAF;
  }
  ck_assert(mps_commit(ap, p, 2 * size));
  (void)block(4);
}

/* A block reserved before a flip: void where it may hold references, valid
   elsewhere; and tripped by hand. */
static void flipped(void) {
  for (int round = 0; round < 6; ++round) {
    size_t size = bytes(4);
    mps_addr_t p;
    bool valid;
    table[0] = told(7);
    mps_arena_release(arena);
    REQUIRE(mps_reserve(&p, ap, size) == MPS_RES_OK);
    memset(p, 0, size);
    *(mps_word_t *)p = size << 3 | OBJ_LEAF;
    (void)mps_arena_collect(arena);
    if (round % 2 == 0) {
      valid = mps_commit(ap, p, size);
    } else {
      ap->init = ap->alloc;
      valid = ap->limit != NULL || mps_ap_trip(ap, p, size);
    }
    ck_assert(valid || does(TRAPS));
    ck_assert_uint_eq(number_of(table[0]), 7);
    (void)block(4);
  }
  mps_arena_release(arena);
}

/* Many at once, taking turns. */
static void many_points(void) {
  enum { N = 60 };
  const size_t n = suite_size(40 * N, 10 * N);
  mps_ap_t on[N];
  mps_addr_t p;
  for (size_t i = 0; i < N; ++i)
    on[i] = point(pool);
  for (size_t i = 0; i < n; ++i) {
    REQUIRE(block_try(&p, pool, on[i * 7 % N], 1 + i % 50) == MPS_RES_OK);
    *obj_ref(p, 0) = (mps_addr_t)((i % ROOTS) << 2 | 1);
    if (does(COLLECTS))
      table[i % ROOTS] = p;
  }
  check_told(!does(COLLECTS) ? 0 : n < ROOTS ? n : ROOTS);
  for (size_t i = 0; i < N; ++i)
    mps_ap_destroy(on[i]);
}

/* ---- 2.12, 2.13: frames and patterns ---- */

static void frames(void) {
  enum { DEEP = 50 };
  mps_frame_t frame[DEEP];
  mps_addr_t p, first = told(1), after[DEEP];
  size_t size = bytes(3);
  table[0] = does(COLLECTS) ? first : NULL;
  mps_arena_park(arena);
  ck_assert_int_eq(mps_reserve(&p, ap, size), MPS_RES_OK);
  ck_assert_int_eq(mps_ap_frame_push(&frame[0], ap), MPS_RES_FAIL);
  memset(p, 0, size);
  *(mps_word_t *)p = size << 3 | OBJ_LEAF;
  ck_assert(mps_commit(ap, p, size));
  for (size_t i = 0; i < DEEP; ++i) {
    ck_assert_int_eq(mps_ap_frame_push(&frame[i], ap), MPS_RES_OK);
    after[i] = told(i);
    for (size_t j = 0; j < 20; ++j)
      (void)block(100);
  }
  for (size_t i = DEEP; i > 0; i -= 10) {
    size_t total = mps_pool_total_size(pool);
    ck_assert_int_eq(mps_ap_frame_pop(ap, frame[i - 10]), MPS_RES_OK);
    if (does(STACKS)) {
      ck_assert_uint_eq(mps_pool_total_size(pool), total);
      ck_assert_ptr_eq(told(i - 10), after[i - 10]);
    }
  }
  ck_assert_uint_eq(number_of(first), 1);
}

static void patterns(void) {
  mps_alloc_pattern_t ramp = mps_alloc_pattern_ramp();
  mps_alloc_pattern_t all = mps_alloc_pattern_ramp_collect_all();
  mps_ap_t other = point(pool);
  ck_assert_int_eq(mps_ap_alloc_pattern_end(ap, ramp), MPS_RES_FAIL);
  for (int i = 0; i < 5; ++i) {
    ck_assert_int_eq(mps_ap_alloc_pattern_begin(ap, i % 2 ? ramp : all),
                     MPS_RES_OK);
    for (size_t j = 0; j < 2000; ++j)
      table[j % 64] = told(j % 64);
  }
  ck_assert_int_eq(mps_ap_alloc_pattern_end(other, ramp), MPS_RES_FAIL);
  for (int i = 0; i < 5; ++i)
    ck_assert_int_eq(mps_ap_alloc_pattern_end(ap, i % 2 ? ramp : all),
                     MPS_RES_OK);
  ck_assert_int_eq(mps_ap_alloc_pattern_end(ap, all), MPS_RES_FAIL);
  ck_assert_int_eq(mps_ap_alloc_pattern_begin(ap, all), MPS_RES_OK);
  ck_assert_int_eq(mps_ap_alloc_pattern_reset(ap), MPS_RES_OK);
  ck_assert_int_eq(mps_ap_alloc_pattern_end(ap, all), MPS_RES_FAIL);
  ck_assert_int_eq(mps_ap_alloc_pattern_begin(other, ramp), MPS_RES_OK);
  mps_ap_destroy(other);
  for (size_t j = 0; j < 5000; ++j)
    table[j % 64] = told(j % 64);
  check_told(64);
}

/* ---- 2.14: caches ---- */

static void caches(void) {
  enum { N = 200 };
  mps_sac_class_s classes[] = {{256, 7, 3}, {512, 2, 1}, {4096, 0, 2}};
  mps_addr_t p[N];
  size_t size[N], n = does(UNITS) ? 1 : 3;
  mps_res_t res;
  mps_sac_t sac;
  ck_assert_int_eq(mps_sac_create(&sac, pool, n, classes), MPS_RES_OK);
  for (int round = 0; round < 10; ++round) {
    for (size_t i = 0; i < N; ++i) {
      size[i] = does(UNITS) ? 1 + random_below(256) : 1 + random_below(6000);
      if (random_below(2) != 0)
        res = mps_sac_alloc(&p[i], sac, size[i], i % 2);
      else
        MPS_SAC_ALLOC_FAST(res, p[i], sac, size[i], 0);
      REQUIRE(res == MPS_RES_OK);
      memset(p[i], (int)i, size[i]);
    }
    for (size_t i = 0; i < N; ++i)
      for (size_t j = 0; j < size[i]; j += 61)
        REQUIRE(((unsigned char *)p[i])[j] == (unsigned char)i);
    for (size_t i = 0; i < N; ++i)
      if (random_below(2) != 0)
        mps_sac_free(sac, p[i], size[i]);
      else
        MPS_SAC_FREE_FAST(sac, p[i], size[i]);
    if (round % 3 == 0) {
      mps_sac_flush(sac);
      ck_assert_uint_eq(in_use(pool), rest(ap));
    }
  }
  mps_sac_destroy(sac);
  ck_assert_uint_eq(in_use(pool), rest(ap));
}

static const scenario_t scenarios[] = {
    {"arguments", arguments, 0, 0},
    {"point arguments", point_arguments, POINTS, 0},
    {"point by position", point_by_position, POINTS, 0},
    {"impossible sizes", impossible_sizes, 0, UNITS},
    {"commit limit", commit_limit, 0, UNITS},
    {"limit shared", limit_shared, 0, 0},
    {"spare memory", spare_memory, 0, 0},
    {"anything", anything, 0, UNITS},
    {"states", states, 0, UNITS},
    {"clamped until full", clamped_until_full, COLLECTS, 0},
    {"questions", questions, 0, GUARDS},
    {"no objects", no_objects, MOVES, 0},
    {"many generations", many_generations, COLLECTS, 0},
    {"format without methods", format_without_methods, COLLECTS, MOVES},
    {"alignments", alignments, COLLECTS, 0},
    {"sizes", sizes, 0, UNITS},
    {"pools come and go", pools_come_and_go, 0, 0},
    {"pool destroyed midway", pool_destroyed_midway, COLLECTS, 0},
    {"freed at the limit", freed_at_the_limit, FREES, 0},
    {"freed in parts", freed_in_parts, FREES, UNITS | GUARDS},
    {"odd sizes", odd_sizes, ALLOCS, UNITS},
    {"points fail and work", points_fail_and_work, POINTS, 0},
    {"regions", regions, POINTS, 0},
    {"flipped", flipped, COLLECTS, 0},
    {"many points", many_points, POINTS, 0},
    {"frames", frames, POINTS, 0},
    {"patterns", patterns, COLLECTS, 0},
    {"caches", caches, ALLOCS, 0}};

START_TEST(memory) {
  play(scenarios, _i);
}
END_TEST

int main(void) {
  size_t n = sizeof scenarios / sizeof scenarios[0];
  return suite_run(scenarios_suite("scenarios", scenarios, n, memory));
}
