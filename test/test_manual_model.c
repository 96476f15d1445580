/* Testudo: several manual pools in one arena, of all classes and with random
   arguments, against a model: what is allocated in all ways, freed in parts,
   cached, popped, damaged; under limits that change, until memory is short.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "mpsacl.h"
#include "mpscmfs.h"
#include "mpscmvff.h"
#include "mpscmvt.h"
#include "pool/freelist.h"
#include "test/pools.h"
#include "test/random.h"
#include "test/suite.h"
#include "testudo.h"

enum {
  POOLS = 6,
  POINTS = 2,   /* a pool */
  CLASSES = 3,  /* of a cache */
  LIVE = 4000,  /* blocks */
  PARTS = 12,   /* 64 KiB each, of more client memory, at most */
  STEPS = 9000, /* in one arena */
  FENCES = 40   /* bytes of a template, at most */
};

typedef enum kind { MVFF, DEBUGGED, MVT, MFS, KINDS } kind_t;

/* How a block came, which is how it must go. */
typedef enum way { BY_ALLOC, BY_POINT, BY_CACHE } way_t;

typedef struct point {
  mps_ap_t ap;
  mps_addr_t reserved; /* not committed */
  size_t size;
  mps_frame_t frame; /* the last that was pushed, if any */
  char *mark;        /* where allocation stood then */
  bool framed;
} point_t;

typedef struct pool {
  mps_pool_t pool; /* null: none */
  kind_t kind;
  size_t align;
  size_t unit;  /* MFS: bytes of a block */
  size_t part;  /* most bytes of a block of which a part may be freed */
  size_t used;  /* by blocks and their fenceposts */
  size_t fence; /* bytes of one */
  double spare;
  bool slot_high, first_fit;
  char free_template[FENCES];
  size_t free_size;
  point_t points[POINTS];
  mps_sac_t cache;
  size_t classes;
} pool_t;

typedef struct block {
  char *p;
  size_t size; /* as asked */
  size_t held; /* as the pool counts it */
  pool_t *pool;
  way_t way;
  int point; /* index */
  uint64_t seed;
} block_t;

static pool_t pools[POOLS];
static block_t live[LIVE];
static size_t live_count;
static bool client; /* the arena is over memory of ours */
static _Alignas(65536) char memory[40 << 20];
static size_t given; /* bytes of it */
static size_t short_of; /* how often there was no memory */

/* ---- contents ---- */

static uint64_t content(const block_t *b, const char *at) {
  uint64_t z = (b->seed ^ (uintptr_t)at / 8) * 0x9e3779b97f4a7c15u;
  return z ^ z >> 29;
}

/* Each word of a small block, some of a large one; all start at words. */
static size_t stride(const block_t *b) {
  return b->size < 10000 ? 8 : 256;
}

static void write_block(const block_t *b) {
  for (size_t i = 0; i < b->size; i += stride(b)) {
    uint64_t word = content(b, b->p + i);
    memcpy(b->p + i, &word, tdo_min(b->size - i, 8));
  }
}

static void check_block(const block_t *b) {
  for (size_t i = 0; i < b->size; i += stride(b)) {
    uint64_t word = content(b, b->p + i);
    REQUIRE(memcmp(b->p + i, &word, tdo_min(b->size - i, 8)) == 0);
  }
}

/* ---- what there should be ---- */

static size_t point_bytes(const point_t *pt) {
  return pt->ap == NULL
             ? 0
             : (size_t)((char *)pt->ap->limit - (char *)pt->ap->init);
}

/* What the cache of POOL has for itself. */
static size_t cached(const pool_t *pool) {
  size_t sum = 0;

  if (pool->cache != NULL)
    for (size_t i = 0; i < pool->classes; ++i)
      sum += pool->cache->_lists[i]._count *
             (pool->cache->_lists[i]._size + 2 * pool->fence);
  return sum;
}

static void check_pool(const pool_t *pool) {
  size_t used = pool->used + cached(pool);

  for (size_t i = 0; i < POINTS; ++i)
    used += point_bytes(&pool->points[i]);
  REQUIRE(mps_pool_free_size(pool->pool) <= mps_pool_total_size(pool->pool));
  REQUIRE(in_use(pool->pool) == used);
}

static void check_arena(void) {
  size_t committed = mps_arena_committed(arena);
  size_t spare = mps_arena_spare_committed(arena);

  REQUIRE(committed <= mps_arena_commit_limit(arena));
  REQUIRE(committed <= mps_arena_reserved(arena));
  REQUIRE((double)spare <= mps_arena_spare(arena) * (double)committed);
  REQUIRE(!client || spare == 0);
}

static tdo_freelist_t *list_of(pool_t *pool) {
  /* The list follows the pool in the descriptor of each class that has one. */
  return (tdo_freelist_t *)(void *)(pool->pool + 1);
}

static int compare_places(const void *a, const void *b) {
  const block_t *m = a, *n = b;
  return m->p < n->p ? -1 : m->p > n->p;
}

static void check_all(void) {
  check_arena();
  for (size_t i = 0; i < POOLS; ++i)
    if (pools[i].pool != NULL) {
      check_pool(&pools[i]);
      REQUIRE(pools[i].kind == MFS || tdo_freelist_check(list_of(&pools[i])));
    }
  qsort(live, live_count, sizeof *live, compare_places);
  for (size_t i = 0; i < live_count; ++i) {
    const block_t *b = &live[i];
    mps_pool_t found;
    REQUIRE(i == 0 || b[-1].p + b[-1].held <= b->p);
    REQUIRE(mps_addr_pool(&found, arena, b->p + b->size - 1));
    REQUIRE(found == b->pool->pool);
    check_block(b);
  }
  tdo_arena_check(arena);
}

/* ---- arenas ---- */

static void start_arena(bool of_client, size_t limit) {
  static const size_t grains[] = {4096, 8192, 65536};

  client = of_client;
  given = client ? (1 + random_below(8)) << 20 : 0;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_COMMIT_LIMIT, limit);
    MPS_ARGS_ADD(args, MPS_KEY_SPARE, (double)random_below(5) / 4);
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_GRAIN_SIZE, grains[random_below(3)]);
    if (client) {
      MPS_ARGS_ADD(args, MPS_KEY_ARENA_CL_BASE, memory);
      MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, given);
    }
    ck_assert_int_eq(mps_arena_create_k(&arena,
                                        client ? mps_arena_class_cl()
                                               : mps_arena_class_vm(),
                                        args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  asserted_start();
}

/* A failure is for want of memory, and where there is much, there is none. */
static void check_short(mps_res_t res, size_t size) {
  size_t most = mps_arena_commit_limit(arena);
  size_t used = mps_arena_committed(arena) - mps_arena_spare_committed(arena);

  ++short_of;
  REQUIRE(res == MPS_RES_COMMIT_LIMIT ||
          (client && (res == MPS_RES_MEMORY || res == MPS_RES_RESOURCE)));
  if (!client)
    REQUIRE(most - used < size + size / 4 + 400000);
}

/* ---- pools ---- */

static size_t some_align(void) {
  return (size_t)8 << (random_below(3) ? random_below(3) : random_below(10));
}

static void cache_pool(pool_t *pool) {
  mps_sac_class_s classes[CLASSES];
  size_t size = 0;
  mps_res_t res;

  pool->cache = NULL;
  pool->classes = pool->kind == MFS ? 1 : 1 + random_below(CLASSES);
  if (pool->kind == MVT || random_below(2) ||
      (pool->kind == MFS && pool->unit % 8 != 0))
    return;
  for (size_t i = 0; i < pool->classes; ++i) {
    size += pool->kind == MFS ? pool->unit
                              : pool->align * (1 + random_below(20));
    classes[i].mps_block_size = size;
    classes[i].mps_cached_count = random_below(40);
    classes[i].mps_frequency = 1 + (unsigned)random_below(5);
  }
  res = mps_sac_create(&pool->cache, pool->pool, pool->classes, classes);
  if (res != MPS_RES_OK) {
    check_short(res, 2000);
    pool->cache = NULL;
  }
}

static mps_res_t create_mvff(pool_t *pool, mps_pool_class_t cls) {
  static const size_t extents[] = {1, 100, 4096, 20000, 65536, 300000};
  char fence[FENCES];
  mps_pool_debug_option_s debug = {fence, random_below(FENCES),
                                   pool->free_template,
                                   random_below(FENCES)};
  mps_res_t res;

  for (size_t i = 0; i < FENCES; ++i) {
    fence[i] = (char)random_word();
    pool->free_template[i] = (char)random_word();
  }
  if (random_below(3) == 0)
    debug.fence_size = 0;
  if (random_below(3) == 0)
    debug.free_size = 0;
  pool->align = some_align();
  pool->spare = (double)random_below(5) / 4;
  pool->slot_high = random_below(2);
  pool->first_fit = random_below(2);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ALIGN, pool->align);
    MPS_ARGS_ADD(args, MPS_KEY_SPARE, pool->spare);
    MPS_ARGS_ADD(args, MPS_KEY_EXTEND_BY, extents[random_below(6)]);
    MPS_ARGS_ADD(args, MPS_KEY_MVFF_SLOT_HIGH, pool->slot_high);
    MPS_ARGS_ADD(args, MPS_KEY_MVFF_FIRST_FIT, pool->first_fit);
    MPS_ARGS_ADD(args, MPS_KEY_MVFF_ARENA_HIGH, random_below(2));
    if (pool->kind == DEBUGGED) {
      MPS_ARGS_ADD(args, MPS_KEY_POOL_DEBUG_OPTIONS, &debug);
      pool->fence = tdo_round_up(debug.fence_size, pool->align);
      pool->free_size = debug.free_size;
    }
    res = mps_pool_create_k(&pool->pool, arena, cls, args);
  }
  MPS_ARGS_END(args);
  pool->part = pool->fence == 0 ? SIZE_MAX : 0;
  return res;
}

static mps_res_t create_mvt(pool_t *pool) {
  size_t mean = 1 + random_below(500);
  mps_res_t res;

  pool->align = some_align();
  pool->part = mean + random_below(random_below(2) ? 500 : 100000);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ALIGN, pool->align);
    MPS_ARGS_ADD(args, MPS_KEY_MIN_SIZE, 1);
    MPS_ARGS_ADD(args, MPS_KEY_MEAN_SIZE, mean);
    MPS_ARGS_ADD(args, MPS_KEY_MAX_SIZE, pool->part);
    MPS_ARGS_ADD(args, MPS_KEY_MVT_RESERVE_DEPTH,
                 random_below(2) ? random_below(5000) : random_below(2));
    MPS_ARGS_ADD(args, MPS_KEY_MVT_FRAG_LIMIT, (double)random_below(5) / 4);
    res = mps_pool_create_k(&pool->pool, arena, mps_class_mvt(), args);
  }
  MPS_ARGS_END(args);
  return res;
}

static mps_res_t create_mfs(pool_t *pool) {
  mps_res_t res;

  pool->unit = 8 + random_below(random_below(5) ? 200 : 20000);
  pool->align = 8;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_MFS_UNIT_SIZE, pool->unit);
    MPS_ARGS_ADD(args, MPS_KEY_EXTEND_BY, 1 + random_below(100000));
    res = mps_pool_create_k(&pool->pool, arena, mps_class_mfs(), args);
  }
  MPS_ARGS_END(args);
  return res;
}

static void create(pool_t *pool) {
  mps_res_t res = MPS_RES_OK;

  memset(pool, 0, sizeof *pool);
  pool->kind = (kind_t)random_below(KINDS);
  switch (pool->kind) {
  case MVFF:
    res = create_mvff(pool, mps_class_mvff());
    break;
  case DEBUGGED:
    res = create_mvff(pool, mps_class_mvff_debug());
    break;
  case MVT:
    res = create_mvt(pool);
    break;
  default:
    res = create_mfs(pool);
  }
  if (res != MPS_RES_OK) {
    check_short(res, 2000);
    pool->pool = NULL;
    return;
  }
  ck_assert_uint_eq(mps_pool_total_size(pool->pool), 0);
  cache_pool(pool);
}

static void forget(size_t at) {
  live[at].pool->used -= live[at].held + 2 * (live[at].way == BY_POINT
                                                  ? 0
                                                  : live[at].pool->fence);
  live[at] = live[--live_count];
}

static void leave_point(point_t *pt) {
  if (pt->reserved != NULL) { /* a block without a place in the model */
    REQUIRE(mps_commit(pt->ap, pt->reserved, pt->size));
    pt->reserved = NULL;
  }
  mps_ap_destroy(pt->ap);
  pt->ap = NULL;
}

static void destroy(pool_t *pool) {
  for (size_t i = 0; i < POINTS; ++i)
    if (pool->points[i].ap != NULL)
      leave_point(&pool->points[i]);
  if (pool->cache != NULL)
    mps_sac_destroy(pool->cache);
  for (size_t i = 0; i < live_count;)
    if (live[i].pool == pool) {
      check_block(&live[i]);
      forget(i);
    } else {
      ++i;
    }
  mps_pool_destroy(pool->pool);
  pool->pool = NULL;
}

/* ---- blocks ---- */

static size_t some_size(void) {
  size_t most[] = {64, 64, 300, 300, 2000, 5000, 70000, 400000};
  return 1 + random_below(random_below(200) ? most[random_below(8)]
                                            : (size_t)3 << 20);
}

static void enter(pool_t *pool, mps_addr_t p, size_t size, size_t held,
                  way_t way, int point) {
  block_t *b = &live[live_count++];
  mps_pool_t found;

  *b = (block_t){p, size, held, pool, way, point, random_word()};
  pool->used += held + 2 * (way == BY_POINT ? 0 : pool->fence);
  REQUIRE((uintptr_t)p % pool->align == 0);
  REQUIRE(mps_addr_pool(&found, arena, p) && found == pool->pool);
  write_block(b);
}

/* Where MVFF should place a block of SIZE bytes; or null: it must grow. */
static char *place_of(pool_t *pool, size_t size) {
  tdo_area_t area = {NULL, NULL, NULL}, best = area;

  while (tdo_freelist_next(&area, list_of(pool)))
    if (tdo_area_size(&area) >= size &&
        (best.base == NULL || (area.base < best.base) == pool->first_fit))
      best = area;
  return best.base != NULL && pool->slot_high ? best.limit - size : best.base;
}

static void check_free_template(const pool_t *pool, const char *p,
                                size_t size) {
  for (size_t i = 0; i < size && pool->free_size > 0; ++i)
    REQUIRE(p[i] == pool->free_template[(uintptr_t)(p + i) % pool->free_size]);
}

static void alloc_block(pool_t *pool) {
  size_t size = pool->kind == MFS ? pool->unit : some_size();
  size_t held = tdo_round_up(size, pool->align);
  /* What else is needed may take all that a pool has free. */
  bool places = pool->kind != MFS && pool->fence == 0 && random_below(8) == 0;
  char *place = NULL;
  mps_addr_t p = NULL;
  mps_res_t res;

  if (places)
    place = place_of(pool, held + 2 * pool->fence);
  res = mps_alloc(&p, pool->pool, size);
  if (res != MPS_RES_OK) {
    REQUIRE(p == NULL && place == NULL);
    check_short(res, held + 2 * pool->fence);
    return;
  }
  REQUIRE(place == NULL || place + pool->fence == p);
  if (pool->kind == DEBUGGED)
    check_free_template(pool, p, size);
  enter(pool, p, size, held, BY_ALLOC, 0);
}

static void cache_block(pool_t *pool) {
  size_t size = pool->kind == MFS ? 1 + random_below(pool->unit)
                                  : some_size() % 1000 + 1;
  size_t held = tdo_round_up(size, pool->align);
  const _mps_sac_list_s *list = pool->cache->_lists;
  mps_addr_t p;
  mps_res_t res;

  while (list->_size < size)
    ++list;
  if (list->_size != SIZE_MAX)
    held = list->_size;
  if (random_below(2))
    res = mps_sac_alloc(&p, pool->cache, size, false);
  else
    MPS_SAC_ALLOC(res, p, pool->cache, size, false);
  if (res != MPS_RES_OK)
    check_short(res, held + 2 * pool->fence);
  else
    enter(pool, p, size, held, BY_CACHE, 0);
}

static void commit_point(pool_t *pool, int i) {
  point_t *pt = &pool->points[i];

  REQUIRE(mps_commit(pt->ap, pt->reserved, pt->size));
  enter(pool, pt->reserved, pt->size, pt->size, BY_POINT, i);
  pt->reserved = NULL;
}

static void point_block(pool_t *pool, int i) {
  point_t *pt = &pool->points[i];
  mps_res_t res;

  if (pt->ap == NULL) {
    res = mps_ap_create_k(&pt->ap, pool->pool, mps_args_none);
    if (res != MPS_RES_OK) {
      check_short(res, 2000);
      pt->ap = NULL;
    }
    pt->reserved = NULL;
    pt->framed = false;
    return;
  }
  if (pt->reserved != NULL) {
    commit_point(pool, i);
    return;
  }
  if (random_below(200) == 0) {
    leave_point(pt);
    return;
  }
  pt->size = tdo_round_up(some_size(), pool->align);
  res = mps_reserve(&pt->reserved, pt->ap, pt->size);
  if (res != MPS_RES_OK) {
    check_short(res, pt->size);
    pt->reserved = NULL;
  } else if (random_below(4) > 0) {
    commit_point(pool, i);
  }
}

/* What lies in the buffer beyond the frame is gone, if that buffer is still
   there; blocks of others are not. */
static void frame_point(pool_t *pool, int i) {
  point_t *pt = &pool->points[i];
  char *before, *after;

  if (pt->ap == NULL || pt->reserved != NULL)
    return;
  if (!pt->framed) {
    REQUIRE(mps_ap_frame_push(&pt->frame, pt->ap) == MPS_RES_OK);
    pt->mark = pt->ap->init;
    pt->framed = true;
    return;
  }
  before = pt->ap->init;
  REQUIRE(mps_ap_frame_pop(pt->ap, pt->frame) == MPS_RES_OK);
  pt->framed = false;
  after = pt->ap->init;
  REQUIRE(after == before || after == pt->mark);
  if (after == before)
    return;
  for (size_t b = 0; b < live_count;)
    if (live[b].p >= after && live[b].p < before) {
      REQUIRE(live[b].pool == pool && live[b].way == BY_POINT &&
              live[b].point == i);
      check_block(&live[b]);
      forget(b);
    } else {
      ++b;
    }
}

/* With more free than may be, no run has a grain that could go. */
static void check_spare(pool_t *pool) {
  double total = (double)mps_pool_total_size(pool->pool);
  size_t grain;

  if ((pool->kind != MVFF && pool->kind != DEBUGGED) ||
      (double)mps_pool_free_size(pool->pool) <= pool->spare * total)
    return;
  grain = (size_t)1 << list_of(pool)->space->grain_shift;
  REQUIRE(place_of(pool, 2 * grain - pool->align) == NULL);
}

static void free_at(size_t at) {
  block_t *b = &live[at];
  pool_t *pool = b->pool;
  size_t size = b->size;

  check_block(b);
  if (b->way == BY_CACHE) {
    if (random_below(2))
      mps_sac_free(pool->cache, b->p, size);
    else
      MPS_SAC_FREE(pool->cache, b->p, size);
  } else {
    /* Any size that rounds to the same. */
    if (pool->kind != MFS && pool->fence == 0 && random_below(2))
      size = b->held - random_below(pool->align);
    mps_free(pool->pool, b->p, size);
  }
  if (b->way != BY_CACHE)
    check_spare(pool);
  forget(at);
}

/* Free what lies between two parts that stay, either of which may be empty. */
static void free_part(size_t at) {
  block_t b = live[at], *rest;
  size_t units = b.held / b.pool->align;
  size_t from = random_below(units) * b.pool->align;
  size_t n = (1 + random_below(units - from / b.pool->align)) * b.pool->align;

  check_block(&b);
  mps_free(b.pool->pool, b.p + from, n);
  forget(at);
  b.pool->used += b.held - n;
  if (from > 0) {
    rest = &live[live_count++];
    *rest = b;
    rest->size = tdo_min(from, b.size);
    rest->held = from;
    write_block(rest);
  }
  if (from + n < b.held) {
    rest = &live[live_count++];
    *rest = b;
    rest->p += from + n;
    rest->size = rest->held = b.held - from - n;
    write_block(rest);
  }
  check_spare(b.pool);
}

static void free_one(void) {
  size_t at;
  const block_t *b;

  if (live_count == 0)
    return;
  at = random_below(live_count);
  b = &live[at];
  if (b->way == BY_POINT && b->pool->fence > 0)
    return; /* stays until its pool goes */
  if (b->way != BY_CACHE && b->held <= b->pool->part && b->held > 8 &&
      b->pool->kind != MFS && random_below(4) == 0)
    free_part(at);
  else
    free_at(at);
}

/* ---- damage ---- */

static void damage(void) {
  const block_t *b;
  char *bad;

  if (live_count == 0)
    return;
  b = &live[random_below(live_count)];
  if (b->pool->kind != DEBUGGED)
    return;
  mps_pool_check_fenceposts(b->pool->pool);
  mps_pool_check_free_space(b->pool->pool);
  asserted_none();
  if (b->way == BY_POINT || b->pool->fence == 0)
    return;
  bad = random_below(2) ? b->p + b->held + random_below(b->pool->fence)
                        : b->p - 1 - random_below(b->pool->fence);
  if (b->way == BY_ALLOC && b->held > b->size && random_below(2))
    bad = b->p + b->size + random_below(b->held - b->size);
  *bad ^= 1;
  ASSERTED_ALWAYS(mps_pool_check_fenceposts(b->pool->pool));
  mps_pool_check_free_space(b->pool->pool);
  *bad ^= 1;
  mps_pool_check_fenceposts(b->pool->pool);
  asserted_none();
}

/* ---- limits ---- */

static void change_limit(void) {
  size_t committed = mps_arena_committed(arena);
  size_t least = committed - mps_arena_spare_committed(arena);
  size_t before = mps_arena_commit_limit(arena);
  size_t limit = random_below(3) ? least + random_below((size_t)8 << 20)
                                 : random_below(committed + 1);
  mps_res_t res;

  if (random_below(4) == 0)
    limit = SIZE_MAX;
  res = mps_arena_commit_limit_set(arena, limit);
  REQUIRE(res == (limit >= least ? MPS_RES_OK : MPS_RES_FAIL));
  REQUIRE(mps_arena_commit_limit(arena) == (res ? before : limit));
}

/* More memory of ours, beside what is there or not. It may have to hold tables
   for all. */
static void extend(void) {
  size_t size = (1 + random_below(PARTS)) << 16;
  size_t base = given + random_below(2) * size;
  mps_res_t res;

  if (!client || base + size > sizeof memory)
    return;
  res = mps_arena_extend(arena, memory + base, size);
  REQUIRE(res == MPS_RES_OK || res == MPS_RES_COMMIT_LIMIT ||
          res == MPS_RES_MEMORY);
  if (res == MPS_RES_OK)
    given = base + size;
}

static void change_arena(void) {
  switch (random_below(8)) {
  case 0:
    mps_arena_spare_set(arena, (double)random_below(9) / 8);
    break;
  case 1:
    extend();
    break;
  case 2:
    (void)mps_arena_collect(arena); /* which finds nothing to collect */
    mps_arena_release(arena);
    break;
  case 3:
    (void)mps_arena_step(arena, 0.001, 1.0);
    break;
  default:
    change_limit();
  }
  check_arena();
}

/* ---- one step ---- */

static void allocate(pool_t *pool) {
  if (live_count + 2 > LIVE)
    return;
  if (pool->kind == MVT || (pool->kind != MFS && random_below(3) == 0))
    point_block(pool, (int)random_below(POINTS));
  else if (pool->cache != NULL && random_below(2))
    cache_block(pool);
  else
    alloc_block(pool);
}

/* More is made than freed, or less, for some time. */
static void step(size_t i) {
  pool_t *pool = &pools[random_below(POOLS)];
  size_t share = i / 700 % 2 ? 45 : 65;

  if (random_below(200) == 0) {
    change_arena();
  } else if (pool->pool == NULL) {
    create(pool);
  } else if (random_below(1000) == 0) {
    destroy(pool);
  } else if (random_below(40) == 0 && pool->kind != MFS) {
    frame_point(pool, (int)random_below(POINTS));
  } else if (random_below(100) == 0) {
    damage();
  } else if (random_below(300) == 0 && pool->cache != NULL) {
    mps_sac_flush(pool->cache);
    REQUIRE(cached(pool) == 0);
  } else if (random_below(100) < share) {
    allocate(pool);
  } else {
    free_one();
  }
  if (pool->pool != NULL)
    check_pool(pool);
}

static void play(bool of_client, size_t limit) {
  size_t steps = suite_rounds(STEPS), fresh;

  live_count = 0;
  start_arena(of_client, limit);
  fresh = mps_arena_committed(arena);
  for (size_t i = 0; i < steps; ++i) {
    step(i);
    if (i % 500 == 0)
      check_all();
  }
  check_all();
  while (random_below(2) && live_count > 0)
    free_one();
  for (size_t i = random_below(POOLS), n = 0; n < POOLS; ++n, ++i)
    if (pools[i % POOLS].pool != NULL)
      destroy(&pools[i % POOLS]);
  REQUIRE(live_count == 0);
  mps_arena_spare_set(arena, 0.0);
  /* Tables of zones that were used, and slabs of the library's own blocks. */
  REQUIRE(mps_arena_committed(arena) <= fresh + ((size_t)1 << 20));
  stop();
}

START_TEST(no_limit) {
  random_start();
  for (int i = 0; i < 3; ++i)
    play(false, SIZE_MAX);
}
END_TEST

START_TEST(limited) {
  random_start();
  for (int i = 0; i < 4; ++i)
    play(false, ((size_t)2 << 20) + random_below((size_t)20 << 20));
  ck_assert_uint_gt(short_of, 0);
}
END_TEST

START_TEST(over_client_memory) {
  random_start();
  for (int i = 0; i < 4; ++i)
    play(true, SIZE_MAX);
  ck_assert_uint_gt(short_of, 0);
}
END_TEST

SUITE_MAIN("manual_model", 60, no_limit, limited, over_client_memory)
