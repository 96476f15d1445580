/* Testudo: what threads of test_worlds.c do that concerns an arena and all of
   its worlds: they walk, transform, govern, and make pools that go again.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_WORLDS_ARENA_H
#define TDO_TEST_WORLDS_ARENA_H

#include <math.h>
#include "test/worlds_steps.h"

static atomic_size_t walks, passed, transformed;
static bool alone; /* in a child, with all locks */
static FILE *nowhere;

/* ---- the arena ---- */

static void begin_parked(side_t *side) {
  REQUIRE(pthread_rwlock_wrlock(&side->control) == 0);
  mps_arena_park(side->arena);
}

static void end_parked(side_t *side) {
  mps_arena_release(side->arena);
  REQUIRE(pthread_rwlock_unlock(&side->control) == 0);
}

static void see(const mps_word_t *p) {
  mps_word_t head = *p;
  REQUIRE(head_what(head) == PAD ||
          (head_what(head) == OBJECT && p[1] == ~head));
}

static mps_res_t see_area(mps_ss_t ss, void *base, void *limit,
                          void *closure) {
  (void)closure;
  for (mps_word_t *p = base; p < (mps_word_t *)limit; p = skip(p))
    see(p);
  return scan(ss, base, limit);
}

static void see_object(mps_addr_t at, mps_fmt_t format, mps_pool_t pool,
                       void *closure, size_t s) {
  mps_pool_t is;
  (void)s, (void)format;
  REQUIRE(mps_addr_pool(&is, closure, at) && is == pool);
  see(at);
}

static void see_root(mps_addr_t *ref, mps_root_t root, void *closure,
                     size_t s) {
  (void)root, (void)s, (void)closure;
  REQUIRE(ref != NULL);
}

/* ---- transforms ---- */

enum { CHANGES = 4 };

static void replace(object_t **to, object_t *const old[],
                    object_t *const new[], size_t count) {
  for (size_t n = 0; n < count; ++n)
    if (*to == old[n]) {
      *to = new[n];
      return;
    }
}

static void replace_all(world_t *w, object_t *const old[],
                        object_t *const new[], size_t count) {
  for (size_t s = 0; s < ROOM; ++s)
    replace(&w->to[s], old, new, count);
  for (size_t n = 0; n < w->count; ++n)
    for (size_t i = 0; w->objects[n]->to != NULL && i < w->objects[n]->slots;
         ++i)
      replace(&w->objects[n]->to[i], old, new, count);
}

/* May O be replaced, or replace another one? What was found again may be gone
   where it was weak. */
static bool changeable(const object_t *o, object_t *const old[],
                       object_t *const new[], size_t count) {
  for (size_t n = 0; n < count; ++n)
    if (o == old[n] || o == new[n])
      return false;
  return o != NULL && o->registered == 0 && !o->risen;
}

static TDO_NOINLINE size_t choose(world_t *w, object_t *old[], object_t *new[],
                                  mps_addr_t *at) {
  size_t count = 0;
  for (size_t n = 0; n < CHANGES; ++n) {
    size_t s = below(ROOM), t = below(ROOM);
    object_t *x = w->to[s], *y = w->to[t];
    if (x == y || !changeable(x, old, new, count) ||
        !changeable(y, old, new, count))
      continue;
    old[count] = x;
    new[count] = y;
    at[count] = (mps_addr_t)get(w, s);
    at[CHANGES + count++] = (mps_addr_t)get(w, t);
  }
  return count;
}

/* The arena is parked. Some other thread may have references only to what is
   being told of, and that is not changed. */
static void do_transform(world_t *w) {
  object_t *old[CHANGES], *new[CHANGES];
  mps_addr_t *at = calloc(2 * CHANGES, sizeof *at); /* no root */
  mps_arena_t arena = arena_of(w);
  mps_transform_t transform;
  mps_bool_t applied = 2;
  size_t count = choose(w, old, new, at);
  mps_res_t res = mps_transform_create(&transform, arena);
  if (res == MPS_RES_OK) {
    res = mps_transform_add_oldnew(transform, at, at + CHANGES, count);
    if (res == MPS_RES_OK)
      res = mps_transform_apply(&applied, transform);
    mps_transform_destroy(transform);
  }
  free(at);
  if (res != MPS_RES_OK) {
    ++refused;
    return;
  }
  REQUIRE(applied < 2);
  if (applied)
    replace_all(w, old, new, count);
  transformed += applied;
  compare(w, false);
}

static void do_walk(world_t *w) {
  side_t *side = &sides[w->side];
  if (alone)
    return;
  begin_parked(side);
  switch (below(6)) {
  case 5:
    do_transform(w);
    break;
  case 0:
    mps_arena_formatted_objects_walk(side->arena, see_object, side->arena, 0);
    break;
  case 1:
    REQUIRE(mps_pool_walk(side->pool[below(POOLS)], see_area, NULL) ==
            MPS_RES_OK);
    break;
  case 2:
    mps_arena_roots_walk(side->arena, see_root, NULL, 0);
    break;
  case 3:
    tdo_arena_check(side->arena);
    break;
  default:
    compare(w, false);
  }
  ++walks;
  end_parked(side);
}

static void set_limit(mps_arena_t arena) {
  size_t more = suite_pages(below(600000));
  (void)mps_arena_commit_limit_set(
      arena,
      below(2) == 0 ? SIZE_MAX : mps_arena_committed(arena) + more);
}

static void tell_sizes(const side_t *side) {
  mps_pool_t manual[] = {side->manual, side->units, side->temporal};
  for (size_t i = 0; i < POOLS; ++i)
    (void)(mps_pool_free_size(side->pool[i]) <
           mps_pool_total_size(side->pool[i]));
  for (size_t i = 0; i < 3; ++i)
    (void)(mps_pool_free_size(manual[i]) < mps_pool_total_size(manual[i]));
}

static void govern(mps_arena_t arena) {
  static const double pauses[] = {0, 0.001, 0.1, INFINITY};
  tdo_statistics_s statistics;
  switch (below(24)) {
  case 0:
    mps_arena_clamp(arena);
    break;
  case 1:
    mps_arena_park(arena);
    break;
  case 2:
    mps_arena_pause_time_set(arena, pauses[below(4)]);
    break;
  case 3:
    mps_arena_spare_set(arena, (double)below(5) / 4);
    break;
  case 4:
    set_limit(arena);
    break;
  case 5:
    (void)mps_arena_commit_limit_set(arena, SIZE_MAX);
    break;
  case 6:
    tdo_statistics(arena, &statistics);
    REQUIRE(statistics.full_collections <= statistics.collections);
    break;
  case 7:
    if (below(4) == 0)
      (void)mps_arena_collect(arena);
    break;
  case 8:
  case 9:
    (void)mps_arena_start_collect(arena);
    break;
  case 10:
  case 11:
  case 12:
    (void)mps_arena_step(arena, 0.0005, (double)below(3));
    break;
  case 13:
    if (below(4) == 0)
      tdo_arena_describe(arena, nowhere);
    break;
  case 14:
    tell_sizes(arena == sides[0].arena ? &sides[0] : &sides[1]);
    break;
  default:
    mps_arena_release(arena);
  }
}

/* No world is locked: the walker of one waits for `control`. */
static void do_govern(size_t n) {
  side_t *side = &sides[n];
  REQUIRE(pthread_rwlock_rdlock(&side->control) == 0);
  govern(side->arena);
  REQUIRE(pthread_rwlock_unlock(&side->control) == 0);
}

/* ---- pools that come and go ---- */

static void check_chain(volatile mps_word_t *p, size_t first) {
  for (; p != NULL; p = (volatile mps_word_t *)p[LEAD]) {
    REQUIRE(head_what(p[0]) == OBJECT && p[1] == ~p[0]);
    REQUIRE(p[LEAD + 1] == first--);
    keep(p);
  }
}

static TDO_NOINLINE void fill_passing(mps_ap_t ap,
                                      volatile mps_word_t *top) {
  enum { WORDS = LEAD + 2 };
  size_t n = 1 + below(suite_size(3000, 40));
  mps_addr_t p;
  for (size_t i = 1; i <= n; ++i) {
    do {
      if (mps_reserve(&p, ap, WORDS * WORD) != MPS_RES_OK) {
        ++refused;
        check_chain((volatile mps_word_t *)*top, i - 1);
        return;
      }
      write_object(p, PLAIN, WORDS, 0);
      ((mps_word_t *)p)[LEAD] = *top;
      ((mps_word_t *)p)[LEAD + 1] = i; /* no reference */
    } while (!mps_commit(ap, p, WORDS * WORD));
    *top = (mps_word_t)p;
  }
  check_chain((volatile mps_word_t *)*top, n);
}

/* A pool, and perhaps a chain, for one list. */
static void do_passing(size_t n) {
  side_t *side = &sides[n];
  mps_arena_t arena = side->arena;
  size_t class = below(3) == 0 ? AMS : below(2) == 0 ? AMC : AWL;
  mps_chain_t chain = NULL;
  mps_fmt_t format;
  mps_pool_t pool;
  mps_ap_t ap;
  mps_root_t root;
  volatile mps_word_t *top = calloc(1, WORD);
  REQUIRE(top != NULL);
  if (below(2) == 0) {
    mps_gen_param_s gens[] = {{8 + below(100), 0.5}, {50 + below(500), 0.5}};
    RETRY(mps_chain_create(&chain, arena, 1 + below(2), gens));
  }
  RETRY(new_format(&format, arena));
  RETRY(new_pool(&pool, arena, class, format, chain));
  RETRY(new_point(&ap, pool, mps_rank_exact()));
  RETRY(mps_root_create_table(&root, arena, mps_rank_exact(), 0,
                              (mps_addr_t *)top, 1));
  fill_passing(ap, top);
  if (below(2) == 0)
    do_govern(n);
  mps_root_destroy(root);
  mps_ap_destroy(ap);
  if (chain != NULL)
    begin_parked(side);
  mps_pool_destroy(pool);
  if (chain != NULL) {
    mps_chain_destroy(chain);
    end_parked(side);
  }
  mps_fmt_destroy(format);
  free((void *)top);
  ++passed;
}

#endif /* TDO_TEST_WORLDS_ARENA_H */
