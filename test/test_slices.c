/* Testudo: tests of what the client sees while a collection runs in slices:
   never the place from which an object was moved (interface, section 5.4).
   SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include "code/clock.h"
#include "trace/enter.h"
#include "trace/pause.h"

#include "test/objects.h"
#include "test/suite.h"

enum { WEAK = 64, LENGTH = 60 };

static mps_addr_t weak[WEAK];
static mps_root_t weak_root;

/* Lists that start at the table, with work for many slices. */
static void build_lists(void) {
  for (size_t i = 0; i < ROOTS; ++i) {
    mps_addr_t p = table[i] = numbered(i);
    for (size_t k = 0; k < LENGTH; ++k) {
      mps_addr_t q = numbered(i);
      *obj_ref(p, 1) = q;
      p = q;
    }
  }
}

/* The same, and a collection of them that has just begun. */
static void begin(void (*prepare)(void)) {
  mps_arena_park(arena);
  build_lists();
  prepare();
  mps_arena_release(arena);
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
}

static void prepare_nothing(void) {
}

/* Where there is no limit to a pause, what is in progress ends at once. */
START_TEST(limit_taken_away) {
  const tdo_heap_t *heap;
  size_t count = 0;
  heap_start(mps_class_amc());
  heap = arena;
  mps_arena_pause_time_set(arena, 0);
  begin(prepare_nothing);
  ck_assert_int_eq(tdo_trace_busy(&heap->trace), tdo_heap_guarded(heap));
  mps_arena_pause_time_set(arena, INFINITY);
  for (; tdo_trace_busy(&heap->trace) && count < 10000; ++count)
    (void)node(10);
  ck_assert_uint_lt(count, 10000);
  heap_stop();
}
END_TEST

static size_t full_collections(void) {
  return statistics().full_collections;
}

/* A heap, a minor collection of it in progress, and a full one asked for. */
static void ask_in_minor(void) {
  tdo_heap_t *heap;
  heap_start(mps_class_amc());
  heap = arena;
  mps_arena_pause_time_set(arena, 0);
  mps_arena_park(arena);
  build_lists();
  tdo_heap_enter(heap);
  ck_assert(tdo_trace_start(heap, chain, 0, "test"));
  tdo_heap_leave(heap);
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  if (tdo_heap_guarded(heap)) {
    ck_assert(tdo_trace_flipped(&heap->trace) && !heap->trace.full);
    ck_assert_uint_eq(full_collections(), 0);
  }
}

static void end_by_steps(void) {
  while (mps_arena_step(arena, 1.0, 0.0))
    continue;
}

static void end_by_parking(void) {
  mps_arena_park(arena);
  mps_arena_release(arena);
}

static void end_by_allocating(void) {
  for (size_t i = 0; full_collections() == 0 && i < 100000; ++i)
    (void)node(100);
}

/* A full collection that is asked for during a minor one comes when that has
   ended, once, whatever the program does; one that comes otherwise will do. */
START_TEST(asked_for_in_a_minor) {
  void (*ends[])(void) = {end_by_steps, end_by_parking, end_by_allocating,
                          collect};
  if (suite_stressed() && ends[_i] == end_by_allocating)
    return; /* there are others all the time */
  ask_in_minor();
  if (full_collections() == 0) /* else it was done at once */
    ends[_i]();
  ck_assert_uint_eq(full_collections(), 1);
  end_by_parking();
  end_by_steps();
  ck_assert_uint_eq(full_collections(), 1);
  heap_stop();
}
END_TEST

/* It does not begin, and so nothing moves, while the arena is clamped or
   parked, but when it is released. */
START_TEST(asked_for_and_clamped) {
  mps_addr_t before[ROOTS];
  mps_word_t flips;
  size_t full;
  ask_in_minor();
  mps_arena_clamp(arena);
  flips = mps_collections(arena);
  full = full_collections();
  memcpy(before, table, sizeof table);
  mps_arena_park(arena);
  ck_assert(!tdo_trace_busy(&((tdo_heap_t *)arena)->trace));
  ck_assert_uint_eq(mps_collections(arena), flips);
  ck_assert_uint_eq(full_collections(), full);
  ck_assert_mem_eq(before, table, sizeof table);
  mps_arena_release(arena);
  end_by_steps();
  ck_assert_uint_eq(full_collections(), 1);
  heap_stop();
}
END_TEST

/* A step of next to no time does not do all that there is to do for a
   generation that has grown far beyond its capacity. */
START_TEST(short_steps) {
  const tdo_heap_t *heap;
  size_t steps = 0;
  heap_start(mps_class_amc());
  heap = arena;
  mps_arena_clamp(arena);
  build_lists();
  ck_assert(mps_arena_step(arena, 1e-9, 0.0));
  ck_assert_int_eq(tdo_trace_busy(&heap->trace), tdo_heap_guarded(heap));
  while (steps < 100000 && mps_arena_step(arena, 1e-9, 0.0))
    ++steps;
  ck_assert_uint_lt(steps, 100000);
  ck_assert_uint_eq(full_collections(), 0);
  for (size_t i = 0; i < ROOTS; ++i)
    REQUIRE(number_of(*obj_ref(table[i], 1)) == i);
  heap_stop();
}
END_TEST

/* Messages of TYPE in the queue, which are discarded. */
static size_t count_posted(mps_message_type_t type) {
  mps_message_t message;
  size_t count = 0;
  for (; mps_message_get(&message, arena, type); ++count)
    mps_message_discard(arena, message);
  return count;
}

/* The end of a collection is told of if its beginning was, also where messages
   of that type are enabled only while it is in progress. */
START_TEST(told_of_the_end) {
  bool slices;
  heap_start(mps_class_amc());
  mps_arena_pause_time_set(arena, 0);
  mps_message_type_enable(arena, mps_message_type_gc_start());
  begin(prepare_nothing);
  slices = tdo_trace_busy(&((tdo_heap_t *)arena)->trace);
  mps_message_type_enable(arena, mps_message_type_gc());
  mps_arena_park(arena);
  ck_assert_uint_eq(count_posted(mps_message_type_gc_start()), 1);
  ck_assert_uint_eq(count_posted(mps_message_type_gc()), slices);
  heap_stop();
}
END_TEST

static void fill_weak(void) {
  for (size_t i = 0; i < WEAK; i += 2) {
    weak[i] = *obj_ref(table[i], 1); /* not referred to by a root */
    weak[i + 1] = node(1);           /* dead */
  }
}

START_TEST(weak_roots) {
  heap_start(mps_class_amc());
  mps_arena_pause_time_set(arena, 0);
  ck_assert_int_eq(mps_root_create_table(&weak_root, arena, mps_rank_weak(), 0,
                                         weak, WEAK),
                   MPS_RES_OK);
  for (int round = 0; round < 10; ++round) {
    begin(fill_weak);
    for (size_t i = 0; i < WEAK; i += 2)
      ck_assert_ptr_eq(weak[i], *obj_ref(table[i], 1));
    mps_arena_park(arena);
    for (size_t i = 0; i < WEAK; i += 2)
      ck_assert_ptr_null(weak[i + 1]);
  }
  mps_root_destroy(weak_root);
  heap_stop();
}
END_TEST

static void register_all(void) {
  for (size_t i = 0; i < ROOTS; ++i)
    ck_assert_int_eq(mps_finalize(arena, obj_ref(table[i], 1)), MPS_RES_OK);
}

/* Registrations are taken back whether their objects have moved or not. */
START_TEST(definalization) {
  heap_start(mps_class_amc());
  mps_arena_pause_time_set(arena, 0);
  mps_message_type_enable(arena, mps_message_type_finalization());
  begin(register_all);
  for (size_t i = 0; i < ROOTS; ++i) {
    ck_assert_int_eq(mps_definalize(arena, obj_ref(table[i], 1)), MPS_RES_OK);
    ck_assert_int_eq(mps_definalize(arena, obj_ref(table[i], 1)),
                     MPS_RES_FAIL);
  }
  memset(table, 0, sizeof table);
  collect();
  ck_assert(!mps_message_poll(arena));
  heap_stop();
}
END_TEST

static mps_word_t secret[ROOTS];

/* Nodes in an old list, of 128 bytes. */
static size_t old_length(void) {
  return suite_size(320, 20);
}

/* Old lists, of which the first half die. */
static void build_old(void) {
  for (size_t i = 0; i < ROOTS; ++i) {
    for (size_t k = 0; k < old_length(); ++k) {
      mps_addr_t p = node(15);
      *obj_ref(p, 0) = (mps_addr_t)(i << 2 | 1);
      *obj_ref(p, 1) = table[i];
      table[i] = p;
    }
  }
  for (size_t round = 0; round < 4; ++round)
    collect();
  for (size_t i = 0; i < ROOTS / 2; ++i) {
    secret[i] = ~(mps_word_t)table[i];
    table[i] = NULL;
  }
}

static void check_old(void) {
  for (size_t i = ROOTS / 2; i < ROOTS; ++i) {
    size_t length = 0;
    for (mps_addr_t p = table[i]; p != NULL; p = *obj_ref(p, 1), ++length)
      REQUIRE(number_of(p) == i);
    REQUIRE(length == old_length());
  }
}

static bool tracing(void) {
  return ((tdo_heap_t *)arena)->trace.state == TDO_TRACE_FLIPPED;
}

/* At a flip what is dead is closed together with what lives. Who looks at it
   all the same sees what was there. */
START_TEST(closed) {
  const tdo_shield_t *shield;
  heap_start(mps_class_amc());
  shield = &((tdo_heap_t *)arena)->shield;
  mps_arena_pause_time_set(arena, 0);
  build_old();
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  if (tdo_shield_hides(shield) && !suite_stressed())
    ck_assert_uint_gt(shield->hidden, 2);
  for (size_t i = 0; i < ROOTS / 2 && tracing(); ++i) {
    REQUIRE(number_of((mps_addr_t)~secret[i]) == i);
    REQUIRE(i > 0 || tracing() || suite_stressed()); /* that was no work */
  }
  check_old();
  tdo_arena_check(arena);
  mps_arena_park(arena);
  check_old();
  ck_assert(suite_stressed() || mps_pool_total_size(pool) < 22 << 20);
  heap_stop();
}
END_TEST

#define SECONDS 1e9

/* Seconds that a pause beginning now may take. */
static double allowed(tdo_heap_t *heap, double left) {
  heap->pause_left = left * SECONDS;
  heap->pause_ended = tdo_clock_ns();
  return (double)(tdo_pause_deadline(heap) - tdo_clock_ns()) / SECONDS;
}

/* Pauses that follow on each other count as one, but each may do something;
   long ones are not paid back by a longer one. */
START_TEST(pauses) {
  tdo_heap_t *heap;
  uint64_t now = tdo_clock_ns();
  heap_start(mps_class_amc());
  heap = arena;
  mps_arena_pause_time_set(arena, 10000);
  ck_assert_double_eq_tol(allowed(heap, 1e6), 8000, 500);
  ck_assert_double_eq_tol(allowed(heap, 5000), 5000, 500);
  ck_assert_double_eq_tol(allowed(heap, 0), 200, 190);
  heap->pause_left = 5000 * SECONDS;
  heap->pause_ended = now;
  tdo_pause_over(heap, now, now + (uint64_t)(3000 * SECONDS));
  ck_assert_double_eq_tol(heap->pause_left / SECONDS, 2000, 1);
  heap->pause_ended = now;
  tdo_pause_over(heap, now, now + (uint64_t)(3000 * SECONDS));
  ck_assert_double_eq_tol(heap->pause_left / SECONDS, 0, 1);
  heap->pause_ended = now;
  tdo_pause_over(heap, now + (uint64_t)(4000 * SECONDS),
                    now + (uint64_t)(4500 * SECONDS));
  ck_assert_double_eq_tol(heap->pause_left / SECONDS, 3500, 1);
  heap->pause_left = 0;
  heap->pause_ended = now;
  mps_arena_pause_time_set(arena, 1000);
  (void)allowed(heap, 500); /* a second of which would do */
  ck_assert(tdo_pause_has_flip(heap));
  ck_assert_uint_gt(tdo_pause_promotes(heap, 1e12), (size_t)1 << 32);
  heap->top.size += 1e12;
  ck_assert(tdo_pause_has_flip(heap));
  mps_arena_pause_time_set(arena, 1);
  (void)allowed(heap, 0.7);
  ck_assert(!tdo_pause_has_flip(heap));
  heap->top.size -= 1e12;
  (void)allowed(heap, 0);
  ck_assert(tdo_pause_has_flip(heap)); /* next to nothing is to be done */
  mps_arena_pause_time_set(arena, 0.1);
  (void)allowed(heap, 0.01);
  ck_assert_uint_eq(tdo_pause_promotes(heap, 1e9), 0);
  ck_assert_uint_ge(tdo_pause_promotes(heap, 1e8), 1e8); /* little, at once */
  mps_arena_pause_time_set(arena, INFINITY);
  ck_assert_uint_eq(tdo_pause_deadline(heap), 0);
  ck_assert_uint_eq(tdo_pause_late_deadline(heap, 100), 0);
  ck_assert_uint_eq(tdo_pause_promotes(heap, 1e12), SIZE_MAX);
  heap_stop();
}
END_TEST

static double allowed_late(tdo_heap_t *heap, double left, double late) {
  (void)allowed(heap, left);
  return (double)(tdo_pause_late_deadline(heap, late) - tdo_clock_ns()) /
         SECONDS;
}

/* The more the program gets during a collection, the more it waits. */
START_TEST(late_slices) {
  heap_start(mps_class_amc());
  mps_arena_pause_time_set(arena, 10000);
  ck_assert_double_eq_tol(allowed_late(arena, 0, 0), 50, 40);
  ck_assert_double_eq_tol(allowed_late(arena, 0, 1), 50, 40);
  ck_assert_double_eq_tol(allowed_late(arena, 0, 2), 200, 50);
  ck_assert_double_eq_tol(allowed_late(arena, 0, 4), 800, 100);
  ck_assert_double_eq_tol(allowed_late(arena, 0, 100), 2000, 100);
  ck_assert_double_eq_tol(allowed_late(arena, 5000, 100), 5000, 100);
  heap_stop();
}
END_TEST

/* ---- the dead before a buffer ---- */

enum { POINTS = 60, DYING = 20, DEAD = 77 };

static mps_ap_t points[POINTS];
static mps_addr_t reserved[POINTS]; /* keeps a point's buffer at a flip */
static bool died;                   /* all that is numbered DEAD */

static mps_res_t scan_living(mps_ss_t ss, mps_addr_t base, mps_addr_t limit) {
  for (char *p = base; died && p < (char *)limit; p = obj_skip(p))
    REQUIRE(obj_kind(p) != OBJ_NODE || number_of(p) != DEAD);
  return obj_scan(ss, base, limit);
}

static void reserve_all(void) {
  for (size_t i = 0; i < POINTS; ++i)
    REQUIRE(mps_reserve(&reserved[i], points[i], obj_bytes(2)) == MPS_RES_OK);
}

/* There was a flip, so that none is valid. */
static void void_all(void) {
  for (size_t i = 0; i < POINTS; ++i)
    REQUIRE(!mps_commit(points[i], reserved[i], obj_bytes(2)));
}

static void make_dying(void) {
  for (size_t i = 0; i < POINTS; ++i)
    for (size_t j = 0; j < DYING; ++j)
      *obj_ref(obj_on(points[i], OBJ_NODE, 2), 0) =
          (mps_addr_t)(DEAD << 2 | 1);
}

/* Objects before the buffers die, and then collections that do not concern
   them find their segments grey. */
static void die_before_buffers(mps_ap_t other_ap) {
  died = false;
  mps_arena_park(arena);
  make_dying();
  reserve_all();
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  void_all();
  died = true;
  reserve_all();
  mps_arena_release(arena);
  for (size_t n = mps_collections(arena); mps_collections(arena) < n + 3;)
    (void)obj_on(other_ap, OBJ_NODE, 2);
  void_all();
}

/* Segments that were collected while they had buffers are grey in the slices
   of a collection of another chain: what died there is not looked at. */
START_TEST(dead_before_buffers) {
  mps_gen_param_s gen = {64, 0.5};
  mps_chain_t first, other;
  mps_pool_t other_pool;
  mps_ap_t other_ap;
  heap_start_with(mps_class_amc(), scan_living);
  first = chain;
  ck_assert_int_eq(mps_chain_create(&other, arena, 1, &gen), MPS_RES_OK);
  chain = other;
  other_pool = obj_pool(mps_class_amc());
  chain = first;
  other_ap = point(other_pool);
  mps_arena_pause_time_set(arena, 0);
  for (size_t i = 0; i < POINTS; ++i)
    points[i] = point(pool);
  for (int round = 0; round < 4; ++round)
    die_before_buffers(other_ap);
  mps_arena_park(arena);
  for (size_t i = 0; i < POINTS; ++i)
    mps_ap_destroy(points[i]);
  mps_ap_destroy(other_ap);
  mps_pool_destroy(other_pool);
  mps_chain_destroy(other);
  heap_stop();
}
END_TEST

/* A chain without pools may go meanwhile: that ends the collection. */
START_TEST(chain_goes) {
  mps_gen_param_s gen = {64, 0.5};
  mps_chain_t other;
  heap_start(mps_class_amc());
  ck_assert_int_eq(mps_chain_create(&other, arena, 1, &gen), MPS_RES_OK);
  mps_arena_pause_time_set(arena, 0);
  begin(prepare_nothing);
  mps_chain_destroy(other);
  ck_assert(!tdo_trace_flipped(&((tdo_heap_t *)arena)->trace));
  for (size_t i = 0; i < ROOTS; ++i)
    REQUIRE(number_of(*obj_ref(table[i], 1)) == i);
  tdo_arena_check(arena);
  heap_stop();
}
END_TEST

SUITE_LOOPS_MAIN("slices", 60, {limit_taken_away, 1},
                 {asked_for_in_a_minor, 4}, {asked_for_and_clamped, 1},
                 {short_steps, 1}, {told_of_the_end, 1}, {weak_roots, 1},
                 {pauses, 1}, {late_slices, 1}, {definalization, 1},
                 {closed, 1}, {dead_before_buffers, 1}, {chain_goes, 1})
