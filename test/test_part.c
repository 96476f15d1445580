/* Testudo: tests of what the program gets of a segment that takes long to scan:
   the page that it touched (trace/trace.c, .part).
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/enter.h"

#include "test/objects.h"
#include "test/random.h"
#include "test/suite.h"

enum { VECTORS = 256, REFS = 200, LAST = VECTORS - 1 };

static tdo_heap_t *heap;

/* Vectors of numbers, each of more than a third of a page, all of them old. */
static void begin(void) {
  heap_start(mps_class_amc());
  heap = arena;
  mps_arena_park(arena);
  for (size_t i = 0; i < VECTORS; ++i) {
    table[i] = node(REFS);
    for (size_t k = 0; k < REFS; ++k) {
      mps_addr_t n = numbered(i * REFS + k);
      *obj_ref(table[i], k) = n;
    }
  }
  for (int round = 0; round < 4; ++round)
    collect();
  mps_arena_park(arena);
  /* No time at all for more than is asked for. */
  mps_arena_pause_time_set(arena, 0);
}

static void check(size_t i, size_t k) {
  REQUIRE(number_of(*obj_ref(table[i], k)) == i * REFS + k);
}

static void check_all(void) {
  for (size_t i = 0; i < VECTORS; ++i)
    for (size_t k = 0; k < REFS; ++k)
      check(i, k);
  tdo_arena_check(arena);
}

/* A full collection that leaves what is old where it is has flipped. */
static void flip(void) {
  tdo_heap_enter(heap);
  heap->stress_move = false;
  ck_assert(tdo_trace_start(heap, NULL, 0, "test"));
  ck_assert(heap->trace.in_place);
  tdo_heap_leave(heap);
}

static void finish(void) {
  mps_arena_park(arena);
  check_all();
  collect();
  check_all();
  mps_arena_park(arena);
  heap_stop();
}

static tdo_gcseg_t *seg_of(mps_addr_t p) {
  return tdo_gcseg_of(&heap->space, p);
}

static bool is_closed(mps_addr_t p) {
  return (tdo_shield_bars(&heap->shield, tdo_heap_page(heap, p)) &
          TDO_BAR_READ) != 0;
}

/* Are there segments of more than one page, and read bars? */
static bool has_parts(void) {
  return tdo_heap_guarded(heap) && heap->stress == 0 &&
         tdo_seg_size(&seg_of(table[0])->seg) > suite_pages(1);
}

/* A vector of the same segment, but of no page that V is on; none: NULL. */
static mps_addr_t neighbour(mps_addr_t v) {
  for (size_t i = 0; i < VECTORS; ++i) {
    char *p = table[i];
    if (seg_of(p) == seg_of(v) &&
        (p > (char *)v + 3 * suite_pages(1) ||
         p + 3 * suite_pages(1) < (char *)v))
      return p;
  }
  return NULL;
}

/* The page is open, others of the segment are not. */
START_TEST(page) {
  mps_addr_t v, far;
  begin();
  v = table[VECTORS / 2];
  far = neighbour(v);
  flip();
  if (has_parts() && far != NULL) {
    ck_assert(is_closed(v) && is_closed(far));
    check(VECTORS / 2, 0);
    ck_assert(!is_closed(v) && is_closed(far));
    ck_assert(seg_of(v)->grey && seg_of(v)->ajar);
    check(VECTORS / 2, REFS - 1);
    ck_assert(is_closed(far));
  }
  finish();
}
END_TEST

/* What was written there is found. */
START_TEST(written) {
  begin();
  flip();
  for (size_t i = 0; i < VECTORS; i += 3) {
    mps_addr_t young = numbered(i * REFS + 1);
    *obj_ref(table[i], 1) = young;
  }
  mps_arena_park(arena);
  mps_arena_release(arena);
  for (size_t n = 0; n < suite_size(20000, 500); ++n)
    (void)node(10); /* minor collections */
  finish();
}
END_TEST

/* When something else there is reached, all is closed, until it is scanned. */
START_TEST(closed_again) {
  mps_addr_t v, hidden;
  begin();
  v = table[VECTORS / 2];
  hidden = table[VECTORS / 2 + 1]; /* next to it */
  *obj_ref(table[LAST], 7) = hidden;
  table[VECTORS / 2 + 1] = NULL;
  flip();
  table[VECTORS / 2] = v;
  if (has_parts() && seg_of(v) == seg_of(hidden) &&
      seg_of(table[LAST]) != seg_of(v)) {
    check(VECTORS / 2, 0);
    ck_assert(seg_of(v)->ajar);
    table[VECTORS / 2 + 1] = *obj_ref(table[LAST], 7);
    ck_assert(is_closed(hidden) && is_closed(v));
    ck_assert(!seg_of(v)->ajar);
    check(VECTORS / 2 + 1, 3);
    check(VECTORS / 2, 3);
  }
  table[VECTORS / 2 + 1] = *obj_ref(table[LAST], 7);
  v = numbered(LAST * REFS + 7);
  *obj_ref(table[LAST], 7) = v;
  finish();
}
END_TEST

/* Reads and writes anywhere, while collections go on one after another. */
START_TEST(anywhere) {
  size_t rounds = suite_size(300000, 3000);
  begin();
  random_start();
  for (size_t n = 0; n < rounds; ++n) {
    size_t i = random_below(VECTORS), k = random_below(REFS);
    check(i, k);
    if (n % 5 == 0) {
      mps_addr_t young = numbered(i * REFS + k);
      *obj_ref(table[i], k) = young;
    }
    if (n % 1000 == 0 && !tdo_trace_busy(&heap->trace))
      flip();
    if (n % 50 == 0) {
      tdo_heap_enter(heap);
      (void)tdo_trace_work(heap, 4096, 0);
      tdo_heap_leave(heap);
    }
  }
  finish();
}
END_TEST

SUITE_MAIN("part", 60, page, written, closed_again, anywhere)
