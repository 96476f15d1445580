/* Testudo: a random graph of objects in pools of all automatic classes, with
   roots in manual ones, against a model (test/graph.h) that knows what lives.
   After a full collection heap and model agree in every object, slot, message
   and size; before the next one there are small collections, and the program
   reads and writes in the middle of them. No stack is scanned: what the test
   holds is in root 0. What needs memory may be refused, but for full
   collections that are compared.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_GRAPH_WORK_H
#define TDO_TEST_GRAPH_WORK_H

#include <math.h>
#include "mpscmfs.h"
#include "mpscmvt.h"
#include "test/graph_steps.h"
#include "test/suite.h"

enum { STEPS = 50000, FEW = 1500 };

/* ---- full collections ---- */

/* Find out what a full collection will leave: nothing is under way, and what
   the last one did is known. */
static void prepare(void) {
  (void)mps_arena_commit_limit_set(arena, SIZE_MAX);
  mps_arena_park(arena);
  do_messages();
  reach();
  EACH_OBJECT(o)
    for (size_t i = 0; o->kind == KEYS && !dead(o) && i < o->slots; ++i)
      if (o->to[i] != NULL)
        (void)slot_stands(o, i);
  parked = true;
  reach();
  parked = false;
  expect_messages();
}

/* What is dead is gone, and nothing else. */
static void agree(void) {
  exact = true;
  compare();
  walk();
  exact = false;
  get_messages();
  EACH_OBJECT(o)
    REQUIRE(o->due == 0);
  EACH_OBJECT(o)
    if (dead(o))
      drop_object(o);
  ++collected;
}

static void do_collect(void) {
  prepare();
  ++calm;
  (void)mps_arena_collect(arena);
  agree();
  --calm;
  if (random_below(4) != 0)
    mps_arena_release(arena);
}


static void do_compare(void) {
  reach();
  compare();
}

/* ---- transforms ---- */

enum { NEW = 6 };
static struct {
  size_t count;
  object_t *old[NEW], *new[NEW];
  mps_addr_t old_at[NEW], new_at[NEW];
} change;

static bool changes(const object_t *o) {
  for (size_t n = 0; n < change.count; ++n)
    if (change.old[n] == o || change.new[n] == o)
      return true;
  return false;
}

/* May an object that is told of, or passes, or has a fixed place be replaced,
   or replace another one? */
static bool changeable(const object_t *o) {
  for (size_t i = 0; i < HELD; ++i)
    if (held[i].object == o)
      return false;
  return o != NULL && !passing(o) && o->registered == 0 && o->kind != KEYS &&
         o->kind != VALUES && !changes(o);
}

static void choose(void) {
  change.count = 0;
  for (size_t i = 0; i < NEW; ++i) {
    size_t n = change.count, s = any_slot(), t = any_slot();
    object_t *old = roots[0].to[s], *new = roots[0].to[t];
    if (!changeable(old) || !changeable(new) || old == new ||
        (old->kind == LEAF) != (new->kind == LEAF))
      continue;
    change.old[n] = old;
    change.new[n] = new;
    change.old_at[n] = (mps_addr_t)roots[0].word[s];
    change.new_at[n] = (mps_addr_t)roots[0].word[t];
    ++change.count;
  }
}

static bool replaced(const object_t *o) {
  for (size_t n = 0; n < change.count; ++n)
    if (change.old[n] == o)
      return true;
  return false;
}

/* Is there an ambiguous reference to what is to be replaced? */
static bool hinted(void) {
  for (const root_t *r = roots; r < roots + ROOTS; ++r)
    for (size_t i = 0; r->kind == AMBIG && i < ROOM; ++i)
      if (replaced(r->to[i]))
        return true;
  EACH_OBJECT(o)
    for (size_t i = 0; o->hinting && i < o->slots; ++i)
      if (replaced(o->to[i]))
        return true;
  return false;
}

static void replace(object_t **to) {
  for (size_t n = 0; n < change.count; ++n)
    if (*to == change.old[n]) {
      *to = change.new[n];
      return;
    }
}

static void replace_all(void) {
  for (root_t *r = roots; r < roots + ROOTS; ++r)
    for (size_t i = 0; r->handle != NULL && i < ROOM; ++i)
      replace(&r->to[i]);
  EACH_OBJECT(o)
    for (size_t i = 0; o->to != NULL && i < o->slots; ++i)
      replace(&o->to[i]);
}

static void do_transform(void) {
  mps_transform_t transform;
  mps_bool_t applied = 2;
  bool expected;
  do_collect(); /* so that nothing is left that hints */
  prepare();
  choose();
  expected = !hinted();
  if (!had(mps_transform_create(&transform, arena)))
    return;
  if (!had(mps_transform_add_oldnew(transform, change.old_at, change.new_at,
                                    change.count))) {
    mps_transform_destroy(transform);
    return;
  }
  if (expected)
    replace_all();
  prepare();
  ++calm;
  REQUIRE(mps_transform_apply(&applied, transform) == MPS_RES_OK);
  REQUIRE(applied == expected);
  mps_transform_destroy(transform);
  if (!expected)
    (void)mps_arena_collect(arena);
  agree();
  --calm;
  transformed += expected;
  mps_arena_release(arena);
}

/* ---- the arena ---- */

static void do_limit(void) {
  size_t more = suite_pages(random_below(600000));
  (void)mps_arena_commit_limit_set(
      arena, random_below(2) == 0 ? SIZE_MAX
                                  : mps_arena_committed(arena) + more);
}

static void do_govern(void) {
  static const double pauses[] = {0, 0.001, 0.1, INFINITY};
  switch (random_below(14)) {
  case 0:
    mps_arena_clamp(arena);
    break;
  case 1:
    mps_arena_park(arena);
    break;
  case 2:
    mps_arena_pause_time_set(arena, pauses[random_below(4)]);
    break;
  case 3:
    mps_arena_spare_set(arena, (double)random_below(5) / 4);
    break;
  case 4:
    do_limit();
    break;
  case 5:
    changing = random_below(2) == 0 ? FREE_SLOTS : 5;
    break;
  case 6:
  case 7:
    nudge();
    break;
  default:
    mps_arena_release(arena);
  }
}

static void do_check(void) {
  mps_arena_park(arena); /* else nothing is checked */
  tdo_arena_check(arena);
  mps_arena_release(arena);
}

/* ---- all together ---- */

static const struct {
  size_t weight; /* of 10000 or so */
  void (*run)(void);
} operations[] = {
    {3000, do_make},         {60, do_region},         {100, do_litter},
    {60, do_make_keys},      {3000, do_store},        {1500, do_load},
    {400, do_drop},          {800, do_root},          {20, do_renew_root},
    {40, do_renew_pool},     {60, do_renew_point},    {20, do_ramp},
    {400, do_stack},         {200, do_stacked},       {300, do_finalize},
    {40, do_definalize},     {60, do_messages},       {60, do_discard},
    {300, do_govern},        {15, do_walk},           {20, do_compare},
    {12, do_collect},        {8, do_transform},       {20, do_check},
};

static void step(void) {
  enum { N = sizeof operations / sizeof operations[0] };
  size_t all = 0, n, i;
  for (i = 0; i < N; ++i)
    all += operations[i].weight;
  n = random_below(all);
  for (i = 0; n >= operations[i].weight; ++i)
    n -= operations[i].weight;
  operations[i].run();
}

/* Settings of the library, of each run, unless they are given. */
typedef struct run {
  const char *small, *stress, *check;
  tdo_mode_t mode;
} run_t;

static void open_all(const run_t *run) {
  ++calm;
  (void)setenv("TESTUDO_SMALL", run->small, 0);
  (void)setenv("TESTUDO_STRESS", run->stress, 0);
  (void)setenv("TESTUDO_CHECK", run->check, 0);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, TDO_KEY_SHIELD_QUANTUM, (size_t)4096);
    TDO_ARGS_ADD(args, TDO_KEY_SHIELD_MODE, run->mode);
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_GRAIN_SIZE,
                 (size_t)4096 << random_below(5));
    REQUIRE(mps_arena_create_k(&arena, mps_arena_class_vm(), args) ==
            MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  asserted_start();
  mps_message_type_enable(arena, mps_message_type_finalization());
  mps_message_type_enable(arena, mps_message_type_gc());
  CREATE(units, mps_class_mfs(), MFS_UNIT_SIZE, ROOM * WORD);
  CREATE(manual, mps_class_mvff(), ALIGN, WORD);
  CREATE(temporal, mps_class_mvt(), ALIGN, WORD);
  temporal_ap = point(temporal);
  for (size_t i = 0; i < CHAINS; ++i)
    chains[i] = new_chain(i + 1);
  for (size_t i = 0; i < LASTING; ++i)
    open_place(&places[i], i % CLASSES, i >= CLASSES, false);
  open_stack(&places[STACK]);
  open_root(&roots[0], EXACT);
  --calm;
}

static void close_all(void) {
  mps_arena_park(arena);
  close_root(&roots[0]);
  for (size_t i = 0; i < POOLS; ++i)
    if (places[i].pool != NULL)
      close_place(&places[i]);
  for (size_t i = 0; i < CHAINS; ++i)
    mps_chain_destroy(chains[i]);
  mps_ap_destroy(temporal_ap);
  mps_pool_destroy(temporal);
  mps_pool_destroy(manual);
  mps_pool_destroy(units);
  stop();
}

/* Without roots, all that is registered is told of, and nothing is left. */
static void end(void) {
  size_t rounds = 0;
  ++calm;
  for (size_t i = 1; i < ROOTS; ++i)
    close_root(&roots[i]);
  for (size_t i = 0; i < POINTS; ++i)
    renew_stack(i);
  do {
    for (size_t i = 0; i < HELD; ++i)
      discard(&held[i]);
    for (size_t i = 0; i < ROOM; ++i)
      hold(i, 0, NULL);
    do_collect();
    REQUIRE(++rounds < 100); /* some live again, each time */
  } while (object_count > 0);
  --calm;
}

static void shrink(void) {
  for (size_t i = 0; i < FREE_SLOTS; i += 2)
    hold(i, 0, NULL);
  for (size_t i = 1; i < ROOTS; ++i)
    if (random_below(2) == 0)
      close_root(&roots[i]);
}

static void report(void) {
  tdo_statistics_s statistics;
  tdo_statistics(arena, &statistics);
  printf("%zu objects, %zu collections, %zu compared, %zu hits, %zu cleared, "
         "%zu finalized, %zu found again, %zu transforms, %zu refused\n",
         object_count, statistics.collections, collected,
         statistics.hits_read + statistics.hits_write, cleared, finalized,
         found, transformed, refused);
}

/* N, or less in other modes, of which there are many. */
static size_t step_count(size_t n) {
  bool varied = suite_varied() || getenv("TESTUDO_SMALL") != NULL;
  return suite_size(suite_slow() ? n / 5 * 2 : varied ? n / 5 : n, FEW);
}

/* STEPS of them, with BEFORE each. */
static void play(const run_t *run, size_t steps, void (*before)(void)) {
  open_all(run);
  for (size_t n = 0; n < steps; ++n) {
    before();
    step();
    if (object_count > MANY) {
      do_collect();
      if (object_count > MANY / 2)
        shrink();
    }
  }
  report();
  end();
  close_all();
}

#endif /* TDO_TEST_GRAPH_WORK_H */
