/* Testudo: the memory of manual pools against simple models, at random: the
   table of one extent, and the extents together.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "mpsavm.h"
#include "pool/extents.h"
#include "pool/freelist.h"
#include "test/random.h"
#include "test/require.h"
#include "test/suite.h"
#include "trace/heap.h"

/* ---- One table ---- */

enum { UNITS_MOST = 70000 };

static bool is_free[UNITS_MOST];

static size_t model_run(size_t at, size_t units) {
  size_t end = at;

  while (end < units && is_free[end])
    ++end;
  return end - at;
}

static size_t model_next(size_t at, size_t units) {
  while (at < units && !is_free[at])
    ++at;
  return at;
}

static size_t model_count(size_t units) {
  size_t count = 0;

  for (size_t i = 0; i < units; ++i)
    count += is_free[i];
  return count;
}

/* Compare every question with the answer of the model. */
static void compare_runs(tdo_runs_t *r, size_t n) {
  size_t low = SIZE_MAX, high = SIZE_MAX, most = 0, got;

  for (size_t i = 0; i < r->units;) {
    size_t run = model_run(i, r->units);
    if (run >= n) {
      low = low == SIZE_MAX ? i : low;
      high = i;
    }
    most = tdo_max(most, run);
    if (run > 0) {
      size_t inside = i + random_below(run);
      REQUIRE(tdo_runs_start(r, inside) == i);
      REQUIRE(tdo_runs_limit(r, inside) == i + run);
    }
    i += run + 1;
  }
  REQUIRE(tdo_runs_longest(r) == most);
  REQUIRE(tdo_runs_short(r) == tdo_min(most, TDO_STARTS_MOST));
  REQUIRE(tdo_runs_lowest(&got, r, n) == (low != SIZE_MAX));
  if (low != SIZE_MAX) {
    REQUIRE(got == low);
    REQUIRE(tdo_runs_highest(&got, r, n));
    REQUIRE(got == high);
  } else {
    REQUIRE(!tdo_runs_highest(&got, r, n));
  }
}

/* Length of the run at BASE of units like that one, at most N. */
static size_t like(size_t base, size_t n) {
  size_t i = 1;

  while (i < n && is_free[base + i] == is_free[base])
    ++i;
  return i;
}

/* R has some more units, of which the last are free; so are those, perhaps,
   that were used right before. The units that there are. */
static size_t grow(tdo_runs_t *r) {
  size_t units = r->units, base = units, limit;

  if (units == r->room)
    return units;
  limit = units + 1 + random_below(r->room - units);
  if (random_below(2))
    base += random_below(limit - units);
  else
    for (size_t most = random_below(40);
         base > 0 && !is_free[base - 1] && most > 0; --most)
      --base;
  tdo_runs_grow(r, base, limit);
  memset(is_free + base, true, limit - base);
  return limit;
}

static void runs_against_model(size_t room, size_t rounds) {
  void *memory = malloc(tdo_runs_bytes(room));
  size_t units = 1 + random_below(room);
  tdo_runs_t r;

  tdo_runs_init(&r, units, room, memory);
  memset(is_free, 0, sizeof is_free);
  for (size_t i = 0; i < rounds; ++i) {
    if (random_below(rounds / 10) == 0)
      units = grow(&r);
    size_t span = random_below(2) ? units : tdo_min(units, 40);
    size_t n = 1 + random_below(span);
    size_t base = random_below(units - n + 1);
    bool give = !is_free[base];
    n = like(base, n);
    memset(is_free + base, give, n);
    (give ? tdo_runs_free : tdo_runs_take)(&r, base, base + n);
    compare_runs(&r, 1 + random_below(span));
    if (i % 64 == 0)
      REQUIRE(tdo_runs_check(&r));
  }
  free(memory);
}

START_TEST(table_against_model) {
  static const size_t sizes[] = {1,    2,    63,   64,    65,   128,  1000,
                                 1023, 1024, 1025, 2048,  3000, 4096, 5000,
                                 8192, 8193, 9999, 16385, 70000};

  random_start();
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i)
    runs_against_model(sizes[i], tdo_min(4000, 20000000 / sizes[i]));
}
END_TEST

/* Tables of which a few ranges were used, mostly side by side from the start:
   some are never written to. */
START_TEST(plain_tables) {
  enum { TABLES = 3000, CHANGES = 12, UNITS = 5000 };
  void *memory = malloc(tdo_runs_bytes(UNITS));
  size_t plain = 0;

  random_start();
  for (size_t t = 0; t < TABLES; ++t) {
    size_t units = 1 + random_below(random_below(2) ? 200 : UNITS), edge = 0;
    tdo_runs_t r;
    memset(memory, 0x5A, tdo_runs_bytes(UNITS));
    tdo_runs_init(&r, units, random_below(2) ? UNITS : units, memory);
    tdo_runs_free(&r, 0, units);
    memset(is_free, 0, sizeof is_free);
    memset(is_free, true, units);
    for (size_t i = 0; i < CHANGES; ++i) {
      if (random_below(4) == 0)
        units = grow(&r);
      size_t base = edge, limit = edge, rule = random_below(30);
      if (rule == 0 || (rule < 20 && edge < units)) {
        base = rule == 0 ? random_below(units) : edge;
        limit = base + like(base, 1 + random_below(units - base));
      } else if (edge > 0) {
        base = random_below(edge);
        limit = edge;
      }
      if (base == limit || like(base, limit - base) != limit - base)
        continue;
      (is_free[base] ? tdo_runs_take : tdo_runs_free)(&r, base, limit);
      edge = is_free[base] ? limit : base;
      memset(is_free + base, !is_free[base], limit - base);
      compare_runs(&r, 1 + random_below(units));
      REQUIRE(tdo_runs_count(&r) == model_count(units));
      REQUIRE(tdo_runs_next(&r, base, units) == model_next(base, units));
      REQUIRE(tdo_runs_check(&r));
    }
    plain += r.plain;
  }
  REQUIRE(plain > TABLES / 10 && plain < TABLES);
  free(memory);
}
END_TEST

/* ---- All extents ---- */

enum { LIVE_MOST = 3000, RUNS_MOST = 40000, EXTENTS_MOST = 300 };

typedef struct run {
  tdo_extent_t *extent;
  char *base, *limit;
} run_t;

static mps_arena_t arena;
static tdo_pool_t pool;
static tdo_freelist_t list;
static run_t runs[RUNS_MOST]; /* free, in order of extent and address */
static run_t live[LIVE_MOST];
static size_t run_count, live_count, extent_count, joined, filled;
static bool owned; /* are there extents for one block each? */

static void start(size_t align) {
  REQUIRE(mps_arena_create_k(&arena, mps_arena_class_vm(), mps_args_none) ==
          MPS_RES_OK);
  memset(&pool, 0, sizeof pool);
  pool.heap = arena;
  pool.align = align;
  tdo_ring_init(&pool.segs);
  tdo_ring_init(&pool.aps);
  tdo_freelist_init(&list, &pool);
  run_count = live_count = extent_count = joined = filled = 0;
}

static void stop(void) {
  tdo_freelist_finish(&list);
  REQUIRE(pool.total == 0);
  REQUIRE(pool.free == 0);
  mps_arena_destroy(arena);
}

/* The first run in the model that does not lie before BASE of EXTENT. */
static size_t run_find(const tdo_extent_t *extent, const char *base) {
  size_t low = 0, high = run_count;

  while (low < high) {
    size_t middle = (low + high) / 2;
    const run_t *r = &runs[middle];
    if (r->extent == extent ? r->base < base
                            : tdo_extent_before(r->extent, extent))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void run_insert(size_t at, run_t run) {
  REQUIRE(run_count < RUNS_MOST);
  memmove(runs + at + 1, runs + at, (run_count - at) * sizeof *runs);
  runs[at] = run;
  ++run_count;
}

static void run_delete(size_t at) {
  --run_count;
  memmove(runs + at, runs + at + 1, (run_count - at) * sizeof *runs);
}

static void model_give(run_t run) {
  size_t at = run_find(run.extent, run.base);

  if (at < run_count && runs[at].extent == run.extent &&
      runs[at].base == run.limit) {
    run.limit = runs[at].limit;
    run_delete(at);
  }
  if (at > 0 && runs[at - 1].extent == run.extent &&
      runs[at - 1].limit == run.base)
    runs[at - 1].limit = run.limit;
  else
    run_insert(at, run);
}

static void model_take(run_t run) {
  size_t at = run_find(run.extent, run.base + 1) - 1;
  run_t whole = runs[at];

  REQUIRE(whole.extent == run.extent);
  REQUIRE(whole.base <= run.base && run.limit <= whole.limit);
  run_delete(at);
  if (run.limit < whole.limit)
    run_insert(at, (run_t){run.extent, run.limit, whole.limit});
  if (whole.base < run.base)
    run_insert(at, (run_t){run.extent, whole.base, run.base});
}

static int run_order(const void *a, const void *b) {
  const run_t *r = a, *s = b;

  if (r->extent != s->extent)
    return tdo_extent_before(r->extent, s->extent) ? -1 : 1;
  return r->base < s->base ? -1 : r->base > s->base;
}

/* An extent that lost its first grains may follow others than before. */
static void model_sort(void) {
  for (size_t i = 1; i < run_count; ++i)
    if (run_order(&runs[i - 1], &runs[i]) > 0) {
      qsort(runs, run_count, sizeof *runs, run_order);
      return;
    }
}

static size_t run_size(const run_t *run) {
  return (size_t)(run->limit - run->base);
}

static bool same(const run_t *run, const tdo_area_t *area) {
  return run->extent == area->extent && run->base == area->base &&
         run->limit == area->limit;
}

static size_t random_size(void) {
  static const size_t most[] = {1, 4, 40, 400, 3000};

  return (1 + random_below(most[random_below(5)])) << list.shift;
}

static void step_extend(void) {
  static const tdo_extend_t ways[] = {TDO_EXTEND_LOW, TDO_EXTEND_HIGH,
                                      TDO_EXTEND_OWN};
  tdo_extend_t how = ways[random_below(owned ? 3 : 2)];
  bool whole;
  size_t size = random_size() + random_below(100000);
  tdo_area_t area;

  if (extent_count >= EXTENTS_MOST)
    return;
  REQUIRE(tdo_freelist_extend(&area, &list, size, how) == MPS_RES_OK);
  REQUIRE(tdo_area_size(&area) >= size);
  whole = area.extent->held == tdo_area_size(&area);
  REQUIRE(whole || how != TDO_EXTEND_OWN);
  model_give((run_t){area.extent, area.base, area.limit});
  extent_count += whole;
  filled += !whole;
}

/* Find an area by one of the three rules, as the model says, and use an end
   of it. */
static void step_take(void) {
  size_t size = random_size(), rule = random_below(3), best = run_count, most;
  tdo_area_t area;
  bool found;

  for (size_t i = 0; i < run_count; ++i)
    if (run_size(&runs[i]) >= size &&
        (best == run_count || rule == 1 ||
         (rule == 2 && run_size(&runs[i]) > run_size(&runs[best])))) {
      best = i;
      if (rule == 0)
        break;
    }
  found = (rule == 0   ? tdo_freelist_lowest
           : rule == 1 ? tdo_freelist_highest
                       : tdo_freelist_largest)(&area, &list, size);
  REQUIRE(found == (best < run_count));
  if (!found)
    return;
  REQUIRE(same(&runs[best], &area));
  most = tdo_area_size(&area);
  if (random_below(2))
    area.limit -= most - size;
  else
    area.base += most - size;
  if (live_count == LIVE_MOST)
    return;
  tdo_freelist_take(&list, &area);
  live[live_count] = (run_t){area.extent, area.base, area.limit};
  model_take(live[live_count++]);
}

/* Free a block in use, or a part of one. */
static void step_give(void) {
  size_t at, units, skip, n;
  run_t whole, part;

  if (live_count == 0)
    return;
  at = random_below(live_count);
  whole = part = live[at];
  live[at] = live[--live_count];
  units = run_size(&whole) >> list.shift;
  if (random_below(4) == 0) {
    skip = random_below(units);
    n = 1 + random_below(units - skip);
    part.base += skip << list.shift;
    part.limit = part.base + (n << list.shift);
    if (whole.base < part.base && live_count < LIVE_MOST)
      live[live_count++] = (run_t){whole.extent, whole.base, part.base};
    else
      part.base = whole.base;
    if (part.limit < whole.limit && live_count < LIVE_MOST)
      live[live_count++] = (run_t){whole.extent, part.limit, whole.limit};
    else
      part.limit = whole.limit;
  }
  REQUIRE(tdo_freelist_used(&list, part.base, part.limit) == part.extent);
  tdo_freelist_give(&list, part.extent, part.base, part.limit);
  REQUIRE(tdo_freelist_used(&list, part.base, part.limit) == NULL);
  REQUIRE(tdo_freelist_used(&list, whole.base, whole.limit) == NULL);
  model_give(part);
}

/* Give grains of some free run back to the arena. */
static void step_return(void) {
  size_t grain = (size_t)1 << arena->space.grain_shift, at, bytes, went;
  size_t total = pool.total, most = 0;
  char *high, *low;
  tdo_area_t area;
  bool last;

  if (run_count == 0)
    return;
  at = random_below(run_count);
  area = (tdo_area_t){runs[at].extent, runs[at].base, runs[at].limit};
  low = (char *)tdo_round_up((tdo_word_t)area.base, grain);
  high = (char *)tdo_round_down((tdo_word_t)area.limit, grain);
  if (low < high)
    most = (size_t)(high - low);
  bytes = random_below(4) ? random_below(3 * grain) : SIZE_MAX;
  last = area.extent->held == most;
  /* The model must forget the extent before it is unmade. */
  if (low < high && bytes > 0) {
    /* all of an extent goes if a quarter of it has to, or it is little of the
       pool, or some of it went */
    if (bytes < most &&
        !(last && (most < area.extent->runs.units << list.shift ||
                   bytes >= most / 4 || most <= total / 16)))
      most = tdo_round_up(bytes, grain);
    model_take((run_t){area.extent, high - most, high});
    last = area.extent->held == most;
  } else {
    most = 0;
    last = false;
  }
  went = tdo_freelist_return(&list, &area, bytes);
  REQUIRE(went == most);
  REQUIRE(pool.total == total - went);
  extent_count -= last;
  model_sort();
}

static int extent_order(const void *a, const void *b) {
  const tdo_extent_t *const *e = a, *const *f = b;

  return tdo_extent_before(*e, *f) ? -1 : *e != *f;
}

static char *grain_up(const char *p) {
  return (char *)tdo_round_up((tdo_word_t)p,
                              (tdo_word_t)1 << arena->space.grain_shift);
}

static char *grain_down(const char *p) {
  return (char *)tdo_round_down((tdo_word_t)p,
                                (tdo_word_t)1 << arena->space.grain_shift);
}

/* Where the whole free grains at the start of E end; where those at its end
   start. */
static char *model_prefix(const tdo_extent_t *e) {
  size_t at = run_find(e, e->seg.base);

  return at < run_count && runs[at].extent == e && runs[at].base == e->seg.base
             ? grain_down(runs[at].limit)
             : e->seg.base;
}

static char *model_suffix(const tdo_extent_t *e) {
  size_t at = run_find(e, e->seg.limit);
  const run_t *r = at > 0 ? &runs[at - 1] : NULL;

  return r != NULL && r->extent == e && r->limit == e->seg.limit
             ? grain_up(r->base)
             : e->seg.limit;
}

/* Where the lowest run of whole free grains over borders begins that has SIZE
   bytes; or null. */
static char *model_joint(size_t size) {
  static tdo_extent_t *extents[EXTENTS_MOST];
  size_t n = 0;
  char *start = NULL;

  TDO_RING_FOR(node, &pool.segs)
    extents[n++] = TDO_RING_ENTRY(tdo_extent_t, seg.pool_ring, node);
  REQUIRE(n == extent_count);
  qsort(extents, n, sizeof *extents, extent_order);
  for (size_t i = 0; i < n; ++i) {
    const tdo_extent_t *e = extents[i];
    char *limit = model_prefix(e);
    bool meet = i > 0 && extents[i - 1]->seg.limit == e->seg.base &&
                start < e->seg.base && limit > e->seg.base;
    if (meet && (size_t)(limit - start) >= size)
      return start;
    if (!meet || limit < e->seg.limit)
      start = model_suffix(e);
  }
  return NULL;
}

static char *model_free_until(const char *at) {
  for (size_t i = 0; i < run_count; ++i)
    if (runs[i].base <= at && at < runs[i].limit)
      return runs[i].limit;
  return NULL;
}

/* Take [BASE, LIMIT) out of whatever runs it is in. */
static void model_move(char *base, char *limit) {
  while (base < limit)
    for (size_t i = 0; i < run_count; ++i)
      if (runs[i].base <= base && base < runs[i].limit) {
        char *end = runs[i].limit < limit ? runs[i].limit : limit;
        model_take((run_t){runs[i].extent, base, end});
        base = end;
        break;
      }
}

static void step_join(void) {
  size_t grain = (size_t)1 << arena->space.grain_shift;
  size_t size = 1 + random_below(40 * grain), total = pool.total;
  char *base, *limit, *until;
  tdo_area_t area;

  if (extent_count >= EXTENTS_MOST)
    return;
  base = model_joint(tdo_round_up(size, grain));
  REQUIRE(tdo_extents_joint(&list, tdo_round_up(size, grain)) == base);
  if (base == NULL) {
    REQUIRE(!tdo_freelist_join(&area, &list, size));
    return;
  }
  for (limit = base; limit == grain_down(limit) &&
                     (until = model_free_until(limit)) != NULL;)
    limit = until;
  limit = grain_down(limit);
  model_move(base, limit);
  REQUIRE(tdo_freelist_join(&area, &list, size));
  REQUIRE(area.base == base && area.limit == limit);
  REQUIRE(tdo_area_size(&area) >= size);
  REQUIRE(pool.total == total);
  REQUIRE(area.extent->seg.base == base && area.extent->held ==
                                               tdo_area_size(&area));
  extent_count = 0;
  TDO_RING_FOR(node, &pool.segs)
    ++extent_count;
  model_sort();
  model_give((run_t){area.extent, area.base, area.limit});
  ++joined;
}

static void compare_all(void) {
  tdo_area_t area = {NULL, NULL, NULL};
  size_t count = 0, free = 0;

  REQUIRE(tdo_freelist_check(&list));
  while (tdo_freelist_next(&area, &list)) {
    size_t at = run_find(area.extent, area.base);
    REQUIRE(at < run_count && same(&runs[at], &area));
    ++count;
    free += tdo_area_size(&area);
  }
  for (size_t i = 1; i < run_count && !owned; ++i)
    REQUIRE(runs[i - 1].limit <= runs[i].base);
  REQUIRE(count == run_count);
  REQUIRE(free == pool.free);
}

static void list_against_model(size_t align, size_t rounds) {
  start(align);
  for (size_t i = 0; i < rounds; ++i) {
    size_t what = random_below(1000);
    /* Grow and shrink in turns. */
    size_t take = i / 20000 % 2 ? 560 : 420;
    if (what < take)
      step_take();
    else if (what < 985)
      step_give();
    else if (what < 992)
      step_extend();
    else if (what < 996)
      step_join();
    else
      step_return();
    if (i % 5000 == 0)
      compare_all();
  }
  compare_all();
  REQUIRE(joined > 0 && filled > 0);
  REQUIRE(tdo_space_check(&arena->space));
  stop();
}

START_TEST(extents_against_model) {
  random_start();
  for (size_t align = 8; align <= 4096; align *= 8) {
    owned = !owned;
    list_against_model(align, suite_rounds(600000));
  }
}
END_TEST

/* Many extents: the tree stays balanced, whatever the order of removal. */
START_TEST(many_extents) {
  enum { MANY = 3000 };
  static tdo_area_t areas[MANY];

  random_start();
  start(16);
  for (size_t i = 0; i < MANY; ++i) {
    REQUIRE(tdo_freelist_extend(&areas[i], &list, 4096,
                                i % 2 ? TDO_EXTEND_HIGH : TDO_EXTEND_LOW) ==
            MPS_RES_OK);
    if (i % 500 == 0)
      REQUIRE(tdo_freelist_check(&list));
  }
  for (size_t i = MANY; i > 0; --i) {
    size_t at = random_below(i);
    REQUIRE(tdo_freelist_return(&list, &areas[at], SIZE_MAX) ==
            tdo_area_size(&areas[at]));
    areas[at] = areas[i - 1];
    if (i % 100 == 0)
      REQUIRE(tdo_freelist_check(&list));
  }
  REQUIRE(list.extents == NULL);
  stop();
}
END_TEST

/* New memory of SIZE bytes, all of it in use. */
static tdo_area_t taken(size_t size) {
  tdo_area_t area;

  REQUIRE(tdo_freelist_extend(&area, &list, size, TDO_EXTEND_LOW) ==
          MPS_RES_OK);
  tdo_freelist_take(&list, &area);
  return area;
}

/* A grain given back from the middle of an extent is no longer the pool's. */
START_TEST(holes) {
  size_t grain;
  tdo_area_t area, hole;

  start(8);
  grain = (size_t)1 << arena->space.grain_shift;
  area = taken(16 * grain);
  hole = area;
  hole.base += 5 * grain - 8;
  hole.limit = hole.base + 2 * grain + 16;
  tdo_freelist_give(&list, hole.extent, hole.base, hole.limit);
  REQUIRE(tdo_freelist_return(&list, &hole, SIZE_MAX) == 2 * grain);
  REQUIRE(pool.total == 14 * grain);
  REQUIRE(pool.free == 16);
  REQUIRE(tdo_freelist_used(&list, area.base + 5 * grain,
                            area.base + 6 * grain) == NULL);
  REQUIRE(tdo_freelist_used(&list, area.base, area.limit) == NULL);
  REQUIRE(tdo_freelist_used(&list, area.base, area.base + 5 * grain - 8) ==
          area.extent);
  REQUIRE(tdo_freelist_check(&list));
  REQUIRE(tdo_space_check(&arena->space));
  stop();
}
END_TEST

/* An extent that has lost all before a hole, where another one lies, comes
   after that. */
START_TEST(behind_a_hole) {
  size_t grain;
  tdo_area_t area, own, hole;

  start(8);
  grain = (size_t)1 << arena->space.grain_shift;
  area = taken(16 * grain);
  hole = area;
  hole.base += 4 * grain;
  hole.limit = hole.base + 4 * grain;
  tdo_freelist_give(&list, hole.extent, hole.base, hole.limit);
  REQUIRE(tdo_freelist_return(&list, &hole, SIZE_MAX) == 4 * grain);
  REQUIRE(tdo_freelist_extend(&own, &list, 4 * grain, TDO_EXTEND_OWN) ==
          MPS_RES_OK);
  REQUIRE(own.base == area.base + 4 * grain);
  REQUIRE(own.extent != area.extent);
  REQUIRE(tdo_freelist_check(&list));
  hole.base = area.base;
  hole.limit = own.base;
  tdo_freelist_give(&list, hole.extent, hole.base, hole.limit);
  REQUIRE(tdo_freelist_return(&list, &hole, SIZE_MAX) == 4 * grain);
  REQUIRE(area.extent->seg.base == own.limit);
  REQUIRE(tdo_freelist_check(&list));
  tdo_freelist_give(&list, area.extent, area.limit - grain, area.limit);
  REQUIRE(tdo_freelist_lowest(&hole, &list, grain) && hole.base == own.base);
  stop();
}
END_TEST

/* Free grains go back wherever they are, as many as are wanted, or all;
   extents of which nothing is left go with them. */
START_TEST(all_grains) {
  enum { EXTENTS = 3, GRAINS = 16, FREE = 6, WANTED = 7 };
  size_t grain;
  tdo_area_t area, alone;

  start(8);
  grain = (size_t)1 << arena->space.grain_shift;
  for (size_t i = 0; i < EXTENTS; ++i) {
    REQUIRE(tdo_freelist_extend(&alone, &list, grain, TDO_EXTEND_LOW) ==
            MPS_RES_OK);
    area = taken(GRAINS * grain);
    tdo_freelist_give(&list, area.extent, area.base + grain / 4,
                      area.base + grain / 4 * 7); /* no whole one */
    for (size_t k = 1; k < FREE; ++k)
      tdo_freelist_give(&list, area.extent, area.base + 2 * k * grain,
                        area.base + (2 * k + 1) * grain);
  }
  REQUIRE(tdo_freelist_return_any(&list, SIZE_MAX) == 0);
  REQUIRE(tdo_freelist_return_all(&list, WANTED * grain - 1) ==
          WANTED * grain);
  REQUIRE(tdo_freelist_check(&list));
  REQUIRE(tdo_freelist_return_all(&list, SIZE_MAX) ==
          (EXTENTS * FREE - WANTED) * grain);
  REQUIRE(tdo_freelist_check(&list));
  REQUIRE(pool.free == EXTENTS * (grain / 4 * 6));
  REQUIRE(pool.total == EXTENTS * (GRAINS + 1 - FREE) * grain);
  stop();
}
END_TEST

/* Freeing and giving back need no memory at all. */
START_TEST(no_memory_needed) {
  tdo_area_t area;
  size_t before;

  start(8);
  area = taken(1 << 20);
  mps_arena_spare_set(arena, 0.0);
  before = mps_arena_committed(arena);
  REQUIRE(mps_arena_commit_limit_set(arena, before) == MPS_RES_OK);
  for (char *p = area.base; p < area.limit; p += 16) {
    tdo_freelist_give(&list, area.extent, p, p + 8);
    REQUIRE(mps_arena_committed(arena) == before);
  }
  for (char *p = area.base + 8; p < area.limit; p += 16)
    tdo_freelist_give(&list, area.extent, p, p + 8);
  REQUIRE(tdo_freelist_return_any(&list, SIZE_MAX) == 1 << 20);
  REQUIRE(mps_arena_committed(arena) <= before - (1 << 20));
  stop();
}
END_TEST

/* Sizes beyond any address space. */
START_TEST(too_large) {
  tdo_area_t area;

  start(8);
  REQUIRE(tdo_freelist_extend(&area, &list, SIZE_MAX, TDO_EXTEND_LOW) ==
          MPS_RES_RESOURCE);
  REQUIRE(tdo_freelist_extend(&area, &list, SIZE_MAX / 2 + 1,
                              TDO_EXTEND_LOW) == MPS_RES_RESOURCE);
  REQUIRE(tdo_freelist_extend(&area, &list, (size_t)1 << 60, TDO_EXTEND_LOW) ==
          MPS_RES_RESOURCE);
  REQUIRE(pool.total == 0);
  stop();
}
END_TEST

SUITE_MAIN("freelist", 100, table_against_model, plain_tables,
           extents_against_model, many_extents, holes, behind_a_hole,
           all_grains, no_memory_needed, too_large)
