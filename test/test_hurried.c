/* Testudo: tests of flips for which there is no time: what roots refer to that
   has not moved by then stays where it is (trace/scan.h, .hurried).
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/clock.h"
#include "test/objects.h"
#include "test/random.h"
#include "test/suite.h"

enum { SLOW = 64, LATE = 1024, HERE = 2 * LATE };

static double pause_time = 0.02;
static mps_root_t slow_root, late_root; /* scanned in this order */
static mps_addr_t slow[SLOW], late[LATE];
static void *places[HERE]; /* of those in `late`, and of what they refer to */
static bool lingers;

/* Scanning this root takes longer than half of the pause time, and than the
   least that a flip may take, at times. */
static mps_res_t scan_slowly(mps_ss_t ss, void *base, void *limit,
                             void *closure) {
  mps_res_t res = mps_scan_area(ss, base, limit, closure);
  uint64_t end = tdo_clock_ns() + (uint64_t)(tdo_fmax(pause_time, 1e-3) * 1e9);

  while (lingers && tdo_clock_ns() < end)
    continue;
  return res;
}

static void begin(void) {
  heap_start(mps_class_amc());
  mps_arena_pause_time_set(arena, pause_time);
  REQUIRE(mps_root_create_area(&slow_root, arena, mps_rank_exact(), 0, slow,
                               slow + SLOW, scan_slowly,
                               NULL) == MPS_RES_OK);
  REQUIRE(mps_root_create_table(&late_root, arena, mps_rank_exact(), 0, late,
                                LATE) == MPS_RES_OK);
}

static void end(void) {
  lingers = false;
  mps_arena_park(arena);
  mps_root_destroy(late_root);
  mps_root_destroy(slow_root);
  memset(late, 0, sizeof late);
  memset(slow, 0, sizeof slow);
  heap_stop();
}

/* Two objects that know their number, the first, in *SLOT, has the second. */
static void make_two(mps_addr_t *slot, size_t n) {
  mps_addr_t second;

  *slot = numbered(n);
  second = numbered(n);
  *obj_ref(*slot, 1) = second;
}

static void check_two(mps_addr_t first, size_t n) {
  mps_addr_t second = *obj_ref(first, 1);

  REQUIRE(obj_kind(first) == OBJ_NODE && number_of(first) == n);
  REQUIRE(obj_kind(second) == OBJ_NODE && number_of(second) == n);
}

static void check_all(void) {
  for (size_t i = 0; i < SLOW; ++i)
    check_two(slow[i], i);
  for (size_t i = 0; i < LATE; ++i)
    check_two(late[i], i);
  tdo_arena_check(arena);
}

/* All is young, and has garbage between; nothing is collected. */
static void build(void) {
  mps_arena_clamp(arena);
  for (size_t i = 0; i < LATE; ++i) {
    (void)node(3);
    if (i < SLOW)
      make_two(&slow[i], i);
    make_two(&late[i], i);
  }
}

static void note_places(void) {
  for (size_t i = 0; i < LATE; ++i) {
    places[2 * i] = late[i];
    places[2 * i + 1] = *obj_ref(late[i], 1);
  }
}

/* How many of those that `late` refers to, or SECOND ones, have moved? */
static size_t count_moved(bool second) {
  size_t n = 0;

  for (size_t i = 0; i < LATE; ++i)
    n += places[2 * i + second] != (second ? *obj_ref(late[i], 1) : late[i]);
  return n;
}

/* The flip of a collection that comes of itself; all of that. */
static void await_flip(void) {
  mps_word_t collections = mps_collections(arena);

  mps_arena_release(arena);
  for (size_t n = 0; n < 100000 && mps_collections(arena) == collections; ++n)
    (void)node(3);
  ck_assert_uint_gt(mps_collections(arena), collections);
}

static void await_collection(void) {
  await_flip();
  mps_arena_park(arena);
}

/* Are there pauses to be kept short at all? */
static bool hurries(void) {
  const char *mode = getenv("TESTUDO_SHIELD"), *adapt = getenv("TESTUDO_ADAPT");

  return (mode == NULL || strcmp(mode, "off") != 0) &&
         (adapt == NULL || strcmp(adapt, "off") != 0);
}

/* What is scanned late stays; what it refers to moves, since that can be done
   later. */
static void collect_late(void) {
  begin();
  build();
  note_places();
  lingers = true;
  await_collection();
  check_all();
  if (suite_stressed())
    return;
  ck_assert_uint_eq(count_moved(false), hurries() ? 0 : LATE);
  ck_assert_uint_eq(count_moved(true), LATE);
}

START_TEST(stays) {
  collect_late();
  end();
}
END_TEST

/* A client that asks for a collection waits for all of it. */
START_TEST(asked_for) {
  collect_late();
  lingers = false;
  collect();
  check_all();
  note_places();
  lingers = true;
  collect();
  ck_assert_uint_eq(count_moved(false), LATE);
  check_all();
  end();
}
END_TEST

/* Nothing depends on the clock. */
START_TEST(unhurried) {
  REQUIRE(setenv("TESTUDO_ADAPT", "off", 1) == 0);
  collect_late();
  end();
}
END_TEST

/* The garbage beside what stays is found, now or later. */
START_TEST(garbage) {
  size_t used;
  collect_late();
  lingers = false;
  memset(late, 0, sizeof late);
  collect();
  used = in_use(pool);
  ck_assert_uint_le(used, SLOW * 2 * obj_bytes(2) + suite_pages(1 << 18));
  end();
}
END_TEST

/* Every flip is late: minor ones, full ones, those of small heaps. */
START_TEST(always) {
  size_t rounds = suite_size(200000, 4000);
  random_start();
  pause_time = 0.001;
  begin();
  build();
  lingers = !suite_stressed();
  mps_arena_release(arena);
  for (size_t n = 0; n < rounds; ++n) {
    size_t i = random_below(LATE);
    check_two(late[i], i);
    make_two(&late[i], i);
    (void)node(20);
    if (n % 1000 == 0)
      make_two(&slow[i % SLOW], i % SLOW);
  }
  mps_arena_park(arena);
  check_all();
  end();
}
END_TEST

/* Large objects to which a late root refers, each with small ones beside it
   that several of them keep. */
enum { FEW = 8, WIDE = 1024, SMALL = LATE * FEW };

static void *smalls[SMALL]; /* while nothing moves */

/* The small object to which slot K of the large one I refers. */
static size_t kept_by(size_t i, size_t k) {
  return (i * 619 + k * 7919) % SMALL;
}

static void build_wide(void) {
  mps_arena_clamp(arena);
  for (size_t i = 0; i < LATE; ++i) {
    late[i] = node(WIDE);
    for (size_t k = 0; k < FEW; ++k)
      *obj_ref(late[i], k) = numbered(i * FEW + k);
    (void)node(WIDE / 2);
  }
  for (size_t n = 0; n < SMALL; ++n)
    smalls[n] = *obj_ref(late[n / FEW], n % FEW);
  for (size_t i = 0; i < LATE; ++i)
    for (size_t k = 0; k < WIDE; ++k)
      *obj_ref(late[i], k) = smalls[kept_by(i, k)];
}

static void check_wide(void) {
  for (size_t i = 0; i < LATE; ++i)
    for (size_t k = 0; k < WIDE; ++k)
      REQUIRE(number_of(*obj_ref(late[i], k)) == kept_by(i, k));
  tdo_arena_check(arena);
}

/* Let the collection in progress end, in slices. */
static void go_on(void) {
  mps_message_t message;

  while (!mps_message_get(&message, arena, mps_message_type_gc()))
    (void)node(3);
  mps_message_discard(arena, message);
}

/* Segments in which something stays, and to which references lead from
   everywhere, are not opened by each slice again. */
START_TEST(opened_few_times) {
  tdo_statistics_s before, after;

  pause_time = 1e-6;
  begin();
  mps_message_type_enable(arena, mps_message_type_gc());
  build_wide();
  lingers = true;
  await_flip();
  tdo_statistics(arena, &before);
  go_on();
  tdo_statistics(arena, &after);
  mps_arena_park(arena);
  ck_assert_uint_le(after.protect_calls - before.protect_calls, 20 * LATE);
  check_wide();
  end();
}
END_TEST

SUITE_MAIN("hurried", 60, stays, asked_for, unhurried, garbage, always,
           opened_few_times)
