/* Testudo: tests of finalization, messages and location dependencies
   (interface, sections 2.18-2.21). SPDX-License-Identifier: BSD-2-Clause */
#include "mpscams.h"
#include "trace/heap.h"

#include "test/objects.h"
#include "test/random.h"
#include "test/suite.h"

enum { OBJECTS = 100 };

static mps_message_type_t FINAL, GC, START;

static void begin(mps_pool_class_t cls) {
  FINAL = mps_message_type_finalization();
  GC = mps_message_type_gc();
  START = mps_message_type_gc_start();
  heap_start(cls);
}

static void enable_all(void) {
  mps_message_type_enable(arena, FINAL);
  mps_message_type_enable(arena, GC);
  mps_message_type_enable(arena, START);
}

static mps_addr_t get_ref(void) {
  mps_message_t message;
  mps_addr_t ref = NULL;
  if (!mps_message_get(&message, arena, FINAL))
    return NULL;
  ck_assert_uint_eq(mps_message_type(arena, message), FINAL);
  ck_assert_uint_eq(mps_message_clock(arena, message), 0);
  mps_message_finalization_ref(&ref, arena, message);
  mps_message_discard(arena, message);
  return ref;
}

static size_t count_messages(mps_message_type_t type) {
  mps_message_t message;
  size_t n = 0;
  while (mps_message_get(&message, arena, type)) {
    mps_message_discard(arena, message);
    ++n;
  }
  return n;
}

/* ---- messages ---- */

START_TEST(test_constants) {
  switch (mps_message_type_gc()) {
  case mps_message_type_finalization():
  case mps_message_type_gc_start():
    ck_abort_msg("two types are one");
  case mps_message_type_gc():
    break;
  }
}
END_TEST

START_TEST(test_disabled) {
  begin(mps_class_amc());
  table[0] = numbered(0);
  ck_assert_int_eq(mps_finalize(arena, &table[0]), MPS_RES_OK);
  table[0] = NULL;
  collect();
  ck_assert(!mps_message_poll(arena));
  enable_all(); /* too late for the one above */
  collect();
  ck_assert_uint_eq(count_messages(FINAL), 0);
  heap_stop();
}
END_TEST

START_TEST(test_gc_messages) {
  mps_message_t m;
  mps_message_type_t type = 99;
  begin(mps_class_amc());
  ck_assert(!mps_message_queue_type(&type, arena));
  ck_assert_uint_eq(type, 99);
  ck_assert(!mps_message_get(&m, arena, GC));
  enable_all();
  mps_arena_park(arena);
  for (size_t i = 0; i < OBJECTS; ++i)
    table[i] = node(20);
  for (size_t i = 0; i < OBJECTS; i += 2)
    table[i] = NULL;
  table[0] = node(2);
  ck_assert_int_eq(mps_finalize(arena, &table[0]), MPS_RES_OK);
  table[0] = NULL;
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert(mps_message_poll(arena));
  /* Start, then what is finalized, then the end. */
  ck_assert(mps_message_queue_type(&type, arena));
  ck_assert_uint_eq(type, START);
  ck_assert(mps_message_get(&m, arena, START));
  ck_assert_uint_gt(strlen(mps_message_gc_start_why(arena, m)), 0);
  (void)mps_message_clock(arena, m);
  mps_message_discard(arena, m);
  ck_assert(mps_message_queue_type(&type, arena));
  ck_assert_uint_eq(type, FINAL);
  ck_assert_ptr_nonnull(get_ref());
  ck_assert(mps_message_queue_type(&type, arena));
  ck_assert_uint_eq(type, GC);
  ck_assert(mps_message_get(&m, arena, GC));
  ck_assert_uint_le(mps_message_gc_live_size(arena, m),
                    mps_message_gc_condemned_size(arena, m));
  ck_assert_uint_ge(mps_message_gc_live_size(arena, m),
                    OBJECTS / 2 * obj_bytes(20));
  ck_assert_uint_le(mps_message_gc_not_condemned_size(arena, m), 4096);
  mps_message_discard(arena, m);
  ck_assert(!mps_message_poll(arena));
  heap_stop();
}
END_TEST

START_TEST(test_accumulate) {
  begin(mps_class_amc());
  enable_all();
  table[0] = node(1);
  mps_arena_park(arena);
  for (int i = 0; i < 50; ++i)
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_uint_eq(count_messages(START), 50);
  ck_assert_uint_eq(count_messages(GC), 50);
  for (int i = 0; i < 3; ++i)
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  mps_message_type_disable(arena, GC); /* the queued ones go */
  ck_assert_uint_eq(count_messages(GC), 0);
  ck_assert_uint_eq(count_messages(START), 3);
  heap_stop();
}
END_TEST

/* Each type comes first in, first out, and the queue tells of the first of all,
   whatever of it is got or disabled in between. */
START_TEST(test_order) {
  enum { MOST = 4096, ROUNDS = 100000 };
  static unsigned type_of[MOST];
  static mps_message_t queued[MOST]; /* NULL: it is gone */
  size_t first = 0, end = 0;
  begin(mps_class_amc());
  mps_arena_park(arena);
  mps_message_type_enable(arena, GC);
  mps_message_type_enable(arena, START);
  random_start();
  for (size_t n = 0; n < suite_size(ROUNDS, 5000); ++n) {
    mps_message_type_t type = random_below(2) == 0 ? GC : START, told;
    size_t i = first;
    mps_message_t m;
    if (n % 2000 == 1999) {
      mps_message_type_disable(arena, type);
      mps_message_type_enable(arena, type);
      for (; i < end; ++i)
        if (type_of[i] == type)
          queued[i] = NULL;
    } else if (end < MOST && random_below(n / 1000 % 2 == 0 ? 3 : 2) > 0) {
      tdo_message_t *new;
      ck_assert_int_eq(tdo_message_alloc(&new, arena, type), MPS_RES_OK);
      tdo_message_post(arena, new);
      type_of[end] = type;
      queued[end++] = (mps_message_t)new;
    } else {
      while (i < end && (queued[i] == NULL || type_of[i] != type))
        ++i;
      REQUIRE(mps_message_get(&m, arena, type) == (i < end));
      if (i < end) {
        REQUIRE(m == queued[i]);
        queued[i] = NULL;
        mps_message_discard(arena, m);
      }
    }
    while (first < end && queued[first] == NULL)
      ++first;
    REQUIRE(mps_message_queue_type(&told, arena) == (first < end));
    REQUIRE(first == end || told == type_of[first]);
    if (first == end)
      first = end = 0;
  }
  heap_stop();
}
END_TEST

/* Messages that nobody gets keep what they tell of, of which minor collections
   look at what is young only; some are got in between, so that the next one is
   the last of the old ones. */
START_TEST(test_undrained) {
  enum { EACH = 300, ROUNDS = 12 };
  static bool seen[EACH * ROUNDS];
  size_t got = 0, rounds = suite_size(ROUNDS, 4), most = EACH * rounds;
  mps_addr_t ref;
  /* Let minor ones come, many of them. */
  REQUIRE(setenv("TESTUDO_SMALL", "0", 1) == 0 &&
          setenv("TESTUDO_ADAPT", "off", 1) == 0);
  begin(mps_class_amc());
  enable_all();
  for (size_t round = 0; round < rounds; ++round) {
    tdo_message_t **settled = &arena->messages.settled;
    mps_arena_park(arena);
    for (size_t i = 0; i < EACH; ++i) {
      table[0] = numbered(round * EACH + i);
      ck_assert_int_eq(mps_finalize(arena, &table[0]), MPS_RES_OK);
    }
    table[0] = NULL;
    for (size_t i = 0; i < round % 4; ++i)
      ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
    if (round % 4 == 3 && !suite_stressed())
      ck_assert_ptr_nonnull(*settled);
    mps_arena_release(arena);
    for (size_t n = 0; n < suite_size(20000, 100); ++n)
      table[1 + n % 900] = node(20); /* minor collections, of which it lives */
    memset(table, 0, sizeof table);
    mps_arena_park(arena);
    TDO_RING_FOR(at, &arena->messages.queue) {
      tdo_message_t *m = TDO_RING_ENTRY(tdo_message_t, ring, at);
      if (m->type != TDO_MESSAGE_FINALIZATION)
        continue;
      REQUIRE(tdo_gcseg_of(&arena->space, m->ref) != NULL);
      REQUIRE(!seen[number_of(m->ref)]);
    }
    for (size_t i = 0; i < round * 20 && (ref = get_ref()) != NULL; ++i) {
      REQUIRE(number_of(ref) < most && !seen[number_of(ref)]);
      seen[number_of(ref)] = true;
      ++got;
    }
    (void)count_messages(round % 2 == 0 ? GC : START);
    tdo_arena_check(arena);
  }
  for (int i = 0; i < 3; ++i)
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  while ((ref = get_ref()) != NULL) {
    REQUIRE(number_of(ref) < most && !seen[number_of(ref)]);
    seen[number_of(ref)] = true;
    ++got;
  }
  ck_assert_uint_eq(got, most);
  (void)count_messages(GC);
  (void)count_messages(START);
  ck_assert_ptr_null(arena->messages.settled);
  heap_stop();
}
END_TEST

/* A message's handle may be fixed like any word. */
START_TEST(test_fix_handle) {
  mps_message_t m;
  begin(mps_class_amc());
  enable_all();
  table[0] = node(1);
  collect();
  ck_assert(mps_message_get(&m, arena, GC));
  table[1] = m;
  collect();
  ck_assert_ptr_eq(table[1], m);
  mps_message_discard(arena, m);
  table[1] = NULL;
  heap_stop();
}
END_TEST

/* ---- finalization ---- */

static void check_finalize(mps_pool_class_t cls, size_t header) {
  bool seen[OBJECTS] = {false};
  mps_addr_t ref;
  obj_header = header;
  begin(cls);
  enable_all();
  for (size_t i = 0; i < OBJECTS; ++i) {
    table[i] = numbered(i);
    if (i % 2 == 0)
      ck_assert_int_eq(mps_finalize(arena, &table[i]), MPS_RES_OK);
  }
  collect();
  ck_assert_uint_eq(count_messages(FINAL), 0); /* all alive */
  for (size_t i = 0; i < OBJECTS; ++i)
    if (i % 4 < 2)
      table[i] = NULL;
  collect();
  while ((ref = get_ref()) != NULL) {
    size_t n = number_of(ref);
    ck_assert_uint_eq(n % 4, 0);
    ck_assert(!seen[n]);
    seen[n] = true;
  }
  for (size_t i = 0; i < OBJECTS; i += 4)
    ck_assert(seen[i]);
  collect();
  ck_assert_uint_eq(count_messages(FINAL), 0);
  heap_stop();
}

START_TEST(test_finalize) {
  check_finalize(mps_class_amc(), 0);
}
END_TEST

START_TEST(test_finalize_header_leaf) {
  check_finalize(mps_class_amcz(), 2 * WORD);
}
END_TEST

/* A cycle, and what only finalizable objects refer to: all in one go, and
   whole. */
START_TEST(test_cycle) {
  size_t sum = 0, n = 0;
  mps_addr_t ref;
  begin(mps_class_amc());
  enable_all();
  for (size_t i = 0; i < 10; ++i)
    table[i] = numbered(i);
  for (size_t i = 0; i < 10; ++i) {
    *obj_ref(table[i], 1) = table[(i + 1) % 10];
    if (i % 2 == 0)
      ck_assert_int_eq(mps_finalize(arena, &table[i]), MPS_RES_OK);
  }
  memset(table, 0, sizeof table);
  collect();
  while ((ref = get_ref()) != NULL) {
    sum += number_of(ref);
    ck_assert_uint_eq(number_of(*obj_ref(ref, 1)), (number_of(ref) + 1) % 10);
    ++n;
  }
  ck_assert_uint_eq(n, 5);
  ck_assert_uint_eq(sum, 0 + 2 + 4 + 6 + 8);
  heap_stop();
}
END_TEST

/* A message keeps its object until it is discarded, at its current place. */
START_TEST(test_message_keeps) {
  mps_message_t message;
  mps_addr_t ref, first;
  begin(mps_class_amc());
  enable_all();
  table[0] = numbered(12);
  *obj_ref(table[0], 1) = numbered(13);
  ck_assert_int_eq(mps_finalize(arena, &table[0]), MPS_RES_OK);
  table[0] = NULL;
  collect();
  collect(); /* queued */
  ck_assert(mps_message_get(&message, arena, FINAL));
  mps_message_finalization_ref(&first, arena, message);
  collect(); /* retrieved */
  mps_message_finalization_ref(&ref, arena, message);
  ck_assert_ptr_ne(ref, first);
  ck_assert_uint_eq(number_of(ref), 12);
  ck_assert_uint_eq(number_of(*obj_ref(ref, 1)), 13);
  /* Into a managed object; then it lives again, and again is finalized. */
  table[1] = node(1);
  for (int i = 0; i < 3; ++i)
    collect();
  mps_message_finalization_ref(obj_ref(table[1], 0), arena, message);
  mps_message_discard(arena, message);
  collect();
  ck_assert_uint_eq(number_of(*obj_ref(table[1], 0)), 12);
  ck_assert_int_eq(mps_finalize(arena, obj_ref(table[1], 0)), MPS_RES_OK);
  table[1] = NULL;
  collect();
  ck_assert_uint_eq(number_of(get_ref()), 12);
  heap_stop();
}
END_TEST

START_TEST(test_several_registrations) {
  size_t n = 0;
  begin(mps_class_amc());
  enable_all();
  table[0] = numbered(1);
  table[9] = numbered(9); /* something to collect */
  for (int i = 0; i < 3; ++i)
    ck_assert_int_eq(mps_finalize(arena, &table[0]), MPS_RES_OK);
  table[0] = NULL;
  for (int i = 0; i < 5; ++i) {
    collect();
    n += count_messages(FINAL);
  }
  ck_assert_uint_ge(n, 1);
  ck_assert_uint_le(n, 3);
  heap_stop();
}
END_TEST

START_TEST(test_definalize) {
  begin(mps_class_amc());
  enable_all();
  table[0] = numbered(1);
  table[1] = node(1);
  *obj_ref(table[1], 0) = table[0];
  ck_assert_int_eq(mps_definalize(arena, &table[0]), MPS_RES_FAIL);
  ck_assert_int_eq(mps_finalize(arena, &table[0]), MPS_RES_OK);
  ck_assert_int_eq(mps_finalize(arena, &table[0]), MPS_RES_OK);
  collect();
  ck_assert_int_eq(mps_definalize(arena, obj_ref(table[1], 0)), MPS_RES_OK);
  ck_assert_int_eq(mps_definalize(arena, &table[0]), MPS_RES_OK);
  ck_assert_int_eq(mps_definalize(arena, &table[0]), MPS_RES_FAIL);
  memset(table, 0, sizeof table);
  collect();
  ck_assert_uint_eq(count_messages(FINAL), 0);
  heap_stop();
}
END_TEST

enum { REGISTERED = 3000 };

static mps_addr_t many[REGISTERED];

static mps_root_t register_many(void) {
  mps_root_t root;
  begin(mps_class_amc());
  enable_all();
  ck_assert_int_eq(mps_root_create_table(&root, arena, mps_rank_exact(), 0,
                                         many, REGISTERED),
                   MPS_RES_OK);
  for (size_t i = 0; i < REGISTERED; ++i) {
    many[i] = numbered(i);
    ck_assert_int_eq(mps_finalize(arena, &many[i]), MPS_RES_OK);
  }
  return root;
}

/* However many are registered, what takes registrations back looks at few of
   them: only before the finalization pass of a collection at those of objects
   that may have moved. */
START_TEST(test_definalize_many) {
  mps_root_t root = register_many();
  collect(); /* all move */
  mps_arena_park(arena);
  for (size_t i = REGISTERED; i-- > 0;) {
    ck_assert_int_eq(mps_definalize(arena, &many[i]), MPS_RES_OK);
    ck_assert_int_eq(mps_definalize(arena, &many[i]), MPS_RES_FAIL);
    if (i % 1000 == 0)
      ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  }
  ck_assert_uint_eq(arena->finals.looks, 0);
  mps_arena_release(arena);
  ck_assert_uint_eq(count_messages(FINAL), 0);
  mps_root_destroy(root);
  heap_stop();
}
END_TEST

/* Without memory for the index all are looked at; with some it is made. */
START_TEST(test_definalize_without_memory) {
  mps_root_t root = register_many();
  mps_arena_park(arena);
  mps_arena_spare_set(arena, 0.0);
  ck_assert_int_eq(
      mps_arena_commit_limit_set(arena, mps_arena_committed(arena)),
      MPS_RES_OK);
  for (size_t i = 0; i < REGISTERED; i += 2)
    ck_assert_int_eq(mps_definalize(arena, &many[i]), MPS_RES_OK);
  ck_assert_uint_gt(arena->finals.looks, 0);
  ck_assert_int_eq(mps_arena_commit_limit_set(arena, SIZE_MAX), MPS_RES_OK);
  arena->finals.looks = 0;
  for (size_t i = 0; i < REGISTERED; ++i)
    ck_assert_int_eq(mps_definalize(arena, &many[i]),
                     i % 2 == 0 ? MPS_RES_FAIL : MPS_RES_OK);
  ck_assert_uint_eq(arena->finals.looks, 0);
  mps_root_destroy(root);
  heap_stop();
}
END_TEST

/* Registrations come and go, several of an object, while collections of any
   kind are in progress: as many messages come as were not taken back. */
static void definalize_random(mps_pool_class_t cls) {
  enum { LONG = 10000 };
  size_t registered[OBJECTS] = {0}, left = 0, posted = 0;
  random_start();
  begin(cls);
  mps_arena_pause_time_set(arena, 0);
  mps_message_type_enable(arena, FINAL);
  for (size_t i = 0; i < OBJECTS; ++i)
    table[i] = numbered(i);
  for (size_t i = 0; i < LONG; ++i) { /* what takes long to scan */
    mps_addr_t head = node(15);
    *obj_ref(head, 1) = table[OBJECTS];
    table[OBJECTS] = head;
  }
  for (size_t k = 0; k < suite_size(60000, 6000); ++k) {
    size_t i = random_below(OBJECTS);
    switch (random_below(8)) {
    case 0:
    case 1:
    case 2:
      ck_assert_int_eq(mps_finalize(arena, &table[i]), MPS_RES_OK);
      ++registered[i];
      break;
    case 3:
    case 4:
    case 5:
      ck_assert_int_eq(mps_definalize(arena, &table[i]),
                       registered[i] > 0 ? MPS_RES_OK : MPS_RES_FAIL);
      registered[i] -= registered[i] > 0;
      break;
    case 6:
      if (random_below(100) == 0)
        (void)mps_arena_start_collect(arena); /* what is new moves */
      else
        (void)mps_arena_step(arena, 1e-9, 0.0);
      break;
    case 7:
      table[i] = numbered(i);
      left += registered[i];
      registered[i] = 0;
      break;
    }
  }
  for (size_t i = 0; i < OBJECTS; ++i)
    left += registered[i];
  memset(table, 0, sizeof table);
  for (int i = 0; pool->finals > 0 && i < 100; ++i) {
    collect();
    posted += count_messages(FINAL);
  }
  ck_assert_uint_eq(posted, left);
  ck_assert_uint_eq(tdo_table_count(&arena->finals.firsts), 0);
  heap_stop();
}

START_TEST(test_definalize_random) {
  definalize_random(mps_class_amc());
}
END_TEST

START_TEST(test_definalize_random_ams) {
  definalize_random(mps_class_ams());
}
END_TEST

/* Pinned means alive. */
START_TEST(test_pinned) {
  mps_addr_t words[1];
  mps_root_t root;
  begin(mps_class_amc());
  enable_all();
  ck_assert_int_eq(mps_root_create_area(&root, arena, mps_rank_ambig(), 0,
                                        words, words + 1, mps_scan_area, NULL),
                   MPS_RES_OK);
  mps_arena_park(arena);
  table[0] = numbered(1);
  words[0] = (char *)table[0] + 3;
  ck_assert_int_eq(mps_finalize(arena, &table[0]), MPS_RES_OK);
  table[0] = NULL;
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_uint_eq(count_messages(FINAL), 0);
  words[0] = NULL;
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_uint_eq(count_messages(FINAL), 1);
  mps_root_destroy(root);
  heap_stop();
}
END_TEST

/* A pool knows how many registrations its destruction has to look for,
   wherever its objects move and the messages go. */
static void check_counts(mps_pool_t other, size_t here, size_t there) {
  ck_assert_uint_eq(pool->finals, here);
  ck_assert_uint_eq(other->finals, there);
}

START_TEST(test_counts) {
  mps_pool_t other;
  mps_ap_t on;
  mps_message_t message;
  begin(mps_class_amc());
  other = obj_pool(mps_class_amcz());
  on = point(other);
  mps_message_type_enable(arena, FINAL);
  for (size_t i = 0; i < 20; ++i) {
    table[i] = i < 10 ? numbered(i) : obj_on(on, OBJ_NODE, 2);
    ck_assert_int_eq(mps_finalize(arena, &table[i]), MPS_RES_OK);
  }
  check_counts(other, 10, 10);
  collect(); /* all move */
  check_counts(other, 10, 10);
  ck_assert_int_eq(mps_definalize(arena, &table[0]), MPS_RES_OK);
  check_counts(other, 9, 10);
  memset(table, 0, sizeof table);
  collect(); /* all die */
  check_counts(other, 9, 10);
  for (size_t i = 0; i < 4; ++i)
    ck_assert(mps_message_get(&message, arena, FINAL));
  check_counts(other, 9, 10);
  collect(); /* what is told of moves */
  mps_message_discard(arena, message);
  ck_assert_uint_eq(pool->finals + other->finals, 18);
  mps_ap_destroy(on);
  mps_arena_park(arena);
  mps_pool_destroy(other);
  mps_arena_release(arena);
  mps_message_type_disable(arena, FINAL);
  ck_assert_uint_le(pool->finals, 3); /* those that were got */
  heap_stop();
}
END_TEST

/* Many, dying young and old, found by collections of any kind. */
START_TEST(test_many) {
  size_t posted = 0;
  enum { MANY = 20000 };
  begin(mps_class_amc());
  enable_all();
  for (size_t i = 0; i < MANY; ++i) {
    table[i % 300] = numbered(i);
    ck_assert_int_eq(mps_finalize(arena, &table[i % 300]), MPS_RES_OK);
    if (i % 100 == 0) {
      posted += count_messages(FINAL);
      (void)count_messages(GC);
      (void)count_messages(START);
    }
  }
  memset(table, 0, sizeof table);
  collect();
  posted += count_messages(FINAL);
  ck_assert_uint_eq(posted, MANY);
  heap_stop();
}
END_TEST

/* ---- location dependencies ---- */

START_TEST(test_stale) {
  mps_ld_s ld[4];
  mps_addr_t before;
  begin(mps_class_amc());
  mps_arena_park(arena);
  table[0] = numbered(1);
  for (int i = 0; i < 4; ++i)
    mps_ld_reset(&ld[i], arena);
  before = table[0];
  ck_assert(!mps_ld_isstale(&ld[0], arena, table[0])); /* empty */
  mps_ld_add(&ld[0], arena, table[0]);
  mps_ld_add(&ld[1], arena, NULL);
  mps_ld_add(&ld[1], arena, (mps_addr_t)(mps_word_t)3);
  mps_ld_add(&ld[1], arena, &before);
  ck_assert(!mps_ld_isstale_any(&ld[0], arena));
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert(mps_ld_isstale(&ld[0], arena, before));
  ck_assert(mps_ld_isstale(&ld[0], arena, table[0]));
  ck_assert(mps_ld_isstale_any(&ld[0], arena));
  ck_assert(!mps_ld_isstale_any(&ld[1], arena)); /* nothing there moves */
  ck_assert(!mps_ld_isstale_any(&ld[2], arena));
  /* Merged: what was stale stays stale. */
  mps_ld_reset(&ld[2], arena);
  mps_ld_merge(&ld[2], arena, &ld[0]);
  ck_assert(mps_ld_isstale_any(&ld[2], arena));
  mps_ld_merge(&ld[3], arena, &ld[1]);
  ck_assert(!mps_ld_isstale_any(&ld[3], arena));
  mps_ld_reset(&ld[0], arena);
  mps_ld_add(&ld[0], arena, table[0]);
  ck_assert(!mps_ld_isstale_any(&ld[0], arena));
  heap_stop();
}
END_TEST

/* However old, never falsely fresh. */
START_TEST(test_old_dependency) {
  mps_ld_s ld, fresh;
  begin(mps_class_amc());
  mps_arena_park(arena);
  table[0] = numbered(1);
  mps_ld_reset(&ld, arena);
  mps_ld_add(&ld, arena, table[0]);
  for (int i = 0; i < 700; ++i) {
    mps_ld_reset(&fresh, arena);
    mps_ld_add(&fresh, arena, table[0]);
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
    ck_assert(mps_ld_isstale(&ld, arena, table[0]));
    ck_assert(mps_ld_isstale(&fresh, arena, table[0]));
  }
  heap_stop();
}
END_TEST

/* In a managed object that moves and is protected. */
START_TEST(test_managed_dependency) {
  begin(mps_class_amc());
  table[0] = node(4);
  table[1] = numbered(1);
  for (int i = 0; i < 6; ++i) {
    mps_ld_t ld = (mps_ld_t)(void *)obj_ref(table[0], 0);
    mps_ld_reset(ld, arena);
    /* The words of a dependency must not look like references here. */
    mps_ld_add(ld, arena, NULL);
    ck_assert(!mps_ld_isstale_any(ld, arena));
    memset(ld, 0, sizeof *ld);
    collect();
  }
  heap_stop();
}
END_TEST

/* A pool's end looks at its own registrations, not at those of all others. */
START_TEST(test_pools_end) {
  enum { COUNT = 100, EACH = 10 };
  mps_pool_t pools[COUNT];
  begin(mps_class_amc());
  enable_all();
  mps_arena_park(arena); /* objects in variables */
  table[0] = numbered(0);
  ck_assert_int_eq(mps_finalize(arena, &table[0]), MPS_RES_OK);
  for (size_t i = 0; i < COUNT; ++i) {
    mps_ap_t on;
    pools[i] = own_chain_pool(mps_class_amc());
    on = point(pools[i]);
    for (size_t k = 0; k < EACH; ++k) {
      mps_addr_t obj = obj_on(on, OBJ_NODE, 2);
      REQUIRE(mps_finalize(arena, &obj) == MPS_RES_OK);
    }
    mps_ap_destroy(on);
  }
  for (size_t i = 0; i < COUNT; ++i) {
    mps_pool_destroy(pools[i]);
    ck_assert_uint_eq(arena->finals.looks, (i + 1) * EACH);
  }
  ck_assert_uint_eq(pool->finals, 1);
  table[0] = NULL;
  collect();
  ck_assert_uint_eq(count_messages(FINAL), 1);
  heap_stop();
}
END_TEST

/* Of ten objects of a pool, which ends, some are registered still, of some
   messages wait, and of some messages were got. */
static void end_with_messages(mps_message_t got[2]) {
  mps_pool_t other = own_chain_pool(mps_class_amc());
  mps_ap_t on = point(other);
  for (size_t i = 0; i < 10; ++i) {
    table[i] = obj_on(on, OBJ_NODE, 2);
    ck_assert_int_eq(mps_finalize(arena, &table[i]), MPS_RES_OK);
  }
  memset(table + 3, 0, 7 * sizeof table[0]);
  collect();
  mps_arena_park(arena);
  for (size_t i = 0; i < 2; ++i)
    ck_assert(mps_message_get(&got[i], arena, FINAL));
  memset(table, 0, 3 * sizeof table[0]);
  mps_ap_destroy(on);
  mps_pool_destroy(other);
  mps_arena_release(arena);
}

/* A pool's end looks at its registrations, not at messages that wait, however
   many; these are still there afterwards, and keep nothing. The pool's number
   can be used again when none is left. */
START_TEST(test_messages_outlive_pools) {
  enum { POOLS = 20 };
  mps_message_t got[POOLS][2];
  size_t left;
  begin(mps_class_amc());
  mps_message_type_enable(arena, FINAL);
  mps_arena_park(arena);
  for (size_t round = 0; round < 3; ++round) {
    table[10] = numbered(10); /* of a pool that goes on */
    ck_assert_int_eq(mps_finalize(arena, &table[10]), MPS_RES_OK);
    table[10] = NULL;
    for (size_t i = 0; i < POOLS; ++i)
      end_with_messages(got[i]);
    collect();
    for (size_t i = 0; i < POOLS; ++i)
      for (size_t k = 0; k < 2; ++k)
        mps_message_discard(arena, got[i][k]);
    left = count_messages(FINAL);
    ck_assert_uint_eq(left, 5 * POOLS + 1);
    ck_assert_uint_eq(pool->finals, 0);
    ck_assert_uint_eq(arena->finals.looks, 3 * POOLS * (round + 1));
    ck_assert_uint_le(arena->finals.owner_count, 2 + POOLS);
  }
  heap_stop();
}
END_TEST

SUITE_MAIN("finalize", 60, test_constants, test_disabled, test_gc_messages,
           test_accumulate, test_order, test_undrained, test_fix_handle,
           test_finalize,
           test_finalize_header_leaf, test_cycle, test_message_keeps,
           test_several_registrations, test_definalize,
           test_definalize_many, test_definalize_without_memory,
           test_definalize_random,
           test_definalize_random_ams, test_pinned,
           test_counts, test_many, test_stale, test_old_dependency,
           test_managed_dependency, test_pools_end,
           test_messages_outlive_pools)
