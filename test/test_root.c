/* Testudo: tests of roots and scanners (interface, sections 2.15, 2.17).
   SPDX-License-Identifier: BSD-2-Clause */
#include <sys/mman.h>
#include "mpscsnc.h"
#include "trace/heap.h"
#include "test/objects.h"
#include "test/suite.h"

enum { SLOTS = 16 };

static mps_word_t slots[SLOTS];
static mps_word_t before[SLOTS];
static mps_root_t root;

/* Fill the slots with references to new numbered objects, tag I in slot I,
   known to nobody else; parked. */
static void fill(mps_word_t tag) {
  mps_arena_park(arena);
  for (size_t i = 0; i < SLOTS; ++i) {
    mps_word_t t = tag == 9 ? i % 8 : tag;
    slots[i] = (mps_word_t)numbered(i) | t;
    before[i] = slots[i];
  }
  table[0] = node(1); /* something to collect */
}

/* Slot I was followed (updated with its tag kept), or was not. */
static void check_slot(size_t i, bool followed) {
  mps_word_t tag = before[i] & 7;
  if (followed) {
    ck_assert_uint_ne(slots[i], before[i]);
    ck_assert_uint_eq(slots[i] & 7, tag);
    ck_assert_uint_eq(number_of((mps_addr_t)(slots[i] & ~(mps_word_t)7)), i);
  } else {
    ck_assert_uint_eq(slots[i], before[i]);
  }
}

static void run(void) {
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
}

static void finish(void) {
  mps_root_destroy(root);
  memset(slots, 0, sizeof slots);
  heap_stop();
}

static void area(mps_area_scan_t scan, mps_word_t mask, mps_word_t pattern) {
  ck_assert_int_eq(mps_root_create_area_tagged(&root, arena, mps_rank_exact(),
                                               0, slots, slots + SLOTS, scan,
                                               mask, pattern),
                   MPS_RES_OK);
}

START_TEST(test_area) {
  heap_start(mps_class_amc());
  ck_assert_int_eq(mps_root_create_area(&root, arena, mps_rank_exact(),
                                        MPS_RM_PROT, slots, slots + SLOTS,
                                        mps_scan_area, NULL),
                   MPS_RES_OK);
  fill(0);
  run();
  for (size_t i = 0; i < SLOTS; ++i)
    check_slot(i, true);
  finish();
}
END_TEST

START_TEST(test_tagged) {
  heap_start(mps_class_amc());
  area(mps_scan_area_tagged, 7, 5);
  fill(9);
  run();
  for (size_t i = 0; i < SLOTS; ++i)
    check_slot(i, i % 8 == 5);
  finish();
}
END_TEST

START_TEST(test_tagged_or_zero) {
  heap_start(mps_class_amc());
  area(mps_scan_area_tagged_or_zero, 7, 5);
  fill(9);
  run();
  for (size_t i = 0; i < SLOTS; ++i)
    check_slot(i, i % 8 == 5 || i % 8 == 0);
  finish();
}
END_TEST

START_TEST(test_masked) {
  heap_start(mps_class_amc());
  area(mps_scan_area_masked, 7, 0);
  fill(9);
  run();
  for (size_t i = 0; i < SLOTS; ++i)
    check_slot(i, true);
  finish();
}
END_TEST

START_TEST(test_pattern_beyond_mask) {
  heap_start(mps_class_amc());
  area(mps_scan_area_tagged, 3, 7);
  fill(9);
  run();
  for (size_t i = 0; i < SLOTS; ++i)
    check_slot(i, false);
  finish();
}
END_TEST

START_TEST(test_table) {
  heap_start(mps_class_amc());
  ck_assert_int_eq(mps_root_create_table(&root, arena, mps_rank_exact(),
                                         MPS_RM_CONST, (mps_addr_t *)slots,
                                         SLOTS - 1),
                   MPS_RES_OK);
  fill(0);
  slots[1] = 0;
  run();
  for (size_t i = 0; i < SLOTS; ++i)
    if (i != 1)
      check_slot(i, i < SLOTS - 1);
  ck_assert_uint_eq(slots[1], 0);
  finish();
}
END_TEST

START_TEST(test_table_masked) {
  heap_start(mps_class_amc());
  ck_assert_int_eq(mps_root_create_table_masked(&root, arena, mps_rank_exact(),
                                                0, (mps_addr_t *)slots, SLOTS,
                                                5),
                   MPS_RES_OK);
  fill(0);
  slots[3] |= 1;
  before[3] |= 1;
  slots[5] |= 4;
  before[5] |= 4;
  run();
  for (size_t i = 0; i < SLOTS; ++i)
    check_slot(i, i != 3 && i != 5);
  finish();
}
END_TEST

static mps_res_t scan_slots(mps_ss_t ss, void *p, size_t s) {
  ck_assert_ptr_eq(p, slots);
  ck_assert_uint_eq(s, SLOTS);
  return mps_scan_area(ss, slots, slots + SLOTS, NULL);
}

START_TEST(test_function) {
  heap_start(mps_class_amc());
  ck_assert_int_eq(mps_root_create(&root, arena, mps_rank_exact(), 0,
                                   scan_slots, slots, SLOTS),
                   MPS_RES_OK);
  fill(0);
  run();
  for (size_t i = 0; i < SLOTS; ++i)
    check_slot(i, true);
  finish();
}
END_TEST

/* Nested brackets joined by MPS_FIX_CALL, `continue` and `return` within. */
static mps_res_t nested_part(mps_ss_t ss, mps_word_t *p) {
  mps_res_t res = MPS_RES_OK;
  MPS_SCAN_BEGIN(ss) {
    mps_addr_t ref = (mps_addr_t)*p;
    if (!MPS_FIX1(ss, ref))
      return MPS_RES_OK;
    res = MPS_FIX2(ss, &ref);
    if (res != MPS_RES_OK)
      return res;
    *p = (mps_word_t)ref;
  }
  MPS_SCAN_END(ss);
  return res;
}

static mps_res_t nested_scan(mps_ss_t ss, mps_addr_t base, mps_addr_t limit) {
  mps_res_t res;
  ck_assert_ptr_eq(base, slots);
  ck_assert_ptr_eq(limit, slots + SLOTS);
  MPS_SCAN_BEGIN(ss) {
    for (size_t i = 0; i < SLOTS; ++i) {
      if (i == 2)
        continue;
      if (i % 2 == 0) {
        MPS_FIX_CALL(ss, res = nested_part(ss, &slots[i]));
        if (res != MPS_RES_OK)
          return res;
      } else {
        mps_addr_t ref = (mps_addr_t)slots[i];
        res = MPS_FIX12(ss, &ref);
        if (res != MPS_RES_OK)
          return res;
        slots[i] = (mps_word_t)ref;
      }
    }
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

START_TEST(test_format) {
  heap_start(mps_class_amc());
  ck_assert_int_eq(mps_root_create_fmt(&root, arena, mps_rank_exact(),
                                       MPS_RM_PROT_INNER, nested_scan, slots,
                                       slots + SLOTS),
                   MPS_RES_OK);
  fill(0);
  run();
  for (size_t i = 0; i < SLOTS; ++i)
    check_slot(i, i != 2);
  finish();
}
END_TEST

/* An ambiguous root takes any word, and changes none. */
START_TEST(test_ambiguous) {
  heap_start(mps_class_amc());
  ck_assert_int_eq(mps_root_create_table(&root, arena, mps_rank_ambig(), 0,
                                         (mps_addr_t *)slots, SLOTS),
                   MPS_RES_OK);
  fill(9);
  slots[1] = before[1] = ~(mps_word_t)0;
  slots[2] = before[2] = (mps_word_t)arena;
  slots[3] = before[3] = (mps_word_t)pool + 1;
  slots[4] = before[4] += 3000000;
  run();
  for (size_t i = 0; i < SLOTS; ++i) {
    check_slot(i, false);
    if (i == 0 || i > 4)
      ck_assert_uint_eq(number_of((mps_addr_t)(slots[i] & ~(mps_word_t)7)), i);
  }
  finish();
}
END_TEST

/* A weak root: words to what is dead become null, the others follow. */
START_TEST(test_weak) {
  heap_start(mps_class_amc());
  ck_assert_int_eq(mps_root_create_table(&root, arena, mps_rank_weak(), 0,
                                         (mps_addr_t *)slots, SLOTS),
                   MPS_RES_OK);
  fill(0);
  for (size_t i = 0; i < SLOTS; i += 2)
    table[i + 1] = (mps_addr_t)slots[i];
  run();
  for (size_t i = 0; i < SLOTS; ++i)
    if (i % 2 == 0) {
      check_slot(i, true);
      ck_assert_uint_eq(slots[i], (mps_word_t)table[i + 1]);
    } else {
      ck_assert_uint_eq(slots[i], 0);
    }
  finish();
}
END_TEST

/* A finalizable target is not splatted while it is pending. */
START_TEST(test_weak_finalizable) {
  mps_message_t message;
  heap_start(mps_class_amc());
  mps_message_type_enable(arena, mps_message_type_finalization());
  ck_assert_int_eq(mps_root_create_table(&root, arena, mps_rank_weak(), 0,
                                         (mps_addr_t *)slots, SLOTS),
                   MPS_RES_OK);
  fill(0);
  ck_assert_int_eq(mps_finalize(arena, (mps_addr_t *)&slots[3]), MPS_RES_OK);
  run();
  check_slot(3, true);
  ck_assert_uint_eq(slots[4], 0);
  before[3] = slots[3];
  run();
  check_slot(3, true);
  ck_assert(mps_message_get(&message, arena, mps_message_type_finalization()));
  mps_message_discard(arena, message);
  run();
  ck_assert_uint_eq(slots[3], 0);
  finish();
}
END_TEST

/* ---- threads ---- */

/* What a client's scanner got, in ranges that do not overlap. */
typedef struct scanned {
  char *variable, *cold; /* what it must get: this word, all up to here */
  size_t variables, colds;
} scanned_t;

static mps_res_t counting_scan(mps_ss_t ss, void *base, void *limit,
                               void *closure) {
  scanned_t *got = closure;
  ck_assert((char *)base <= (char *)limit);
  got->variables += (char *)base <= got->variable &&
                    got->variable < (char *)limit;
  got->colds += (char *)limit == got->cold;
  return mps_scan_area(ss, base, limit, NULL);
}

static void check_thread(int kind) {
  mps_addr_t volatile here, tagged;
  scanned_t got = {(char *)(uintptr_t)&here, NULL, 0, 0};
  mps_addr_t *cold;
  mps_res_t res = MPS_RES_FAIL;
  heap_start(mps_class_amc());
  cold = FRAME_COLD();
  got.cold = (char *)cold;
  switch (kind) {
  case 0:
    res = mps_root_create_thread(&root, arena, thr, cold);
    break;
  case 1:
    res = mps_root_create_thread_tagged(&root, arena, mps_rank_ambig(), 0, thr,
                                        mps_scan_area_tagged, 7, 3, cold);
    break;
  case 2:
    res = mps_root_create_thread_scanned(&root, arena, mps_rank_ambig(), 0,
                                         thr, counting_scan, &got, cold);
    break;
  case 3:
    res = mps_root_create_reg(&root, arena, mps_rank_ambig(), 0, thr,
                              mps_stack_scan_ambig, cold, 0);
    break;
  }
  ck_assert_int_eq(res, MPS_RES_OK);
  mps_arena_park(arena);
  here = numbered(5);
  tagged = (char *)numbered(6) + 3;
  table[0] = node(1);
  run();
  if (kind != 1)
    ck_assert_uint_eq(number_of(here), 5);
  if (kind == 1 || kind == 2)
    ck_assert_uint_eq(number_of((char *)tagged - 3), 6);
  ck_assert(kind != 2 || (got.colds > 0 && got.variables == got.colds));
  finish();
}

START_TEST(test_thread) {
  check_thread(_i);
}
END_TEST

/* The client's own root function may scan its stack. */
static mps_res_t scan_stack(mps_ss_t ss, void *p, size_t s) {
  return mps_stack_scan_ambig(ss, thr, p, s);
}

START_TEST(test_stack_scan) {
  mps_addr_t volatile here;
  heap_start(mps_class_amc());
  ck_assert_int_eq(mps_root_create(&root, arena, mps_rank_ambig(), 0,
                                   scan_stack, FRAME_COLD(), 0),
                   MPS_RES_OK);
  mps_arena_park(arena);
  here = numbered(5);
  table[0] = node(1);
  run();
  ck_assert_uint_eq(number_of(here), 5);
  finish();
}
END_TEST

/* The library's frames keep nothing: garbage dies though the caller asks for
   its collection from far below. */
static __attribute__((noinline)) void drop(void) {
  mps_addr_t obj = numbered(1);
  ck_assert_int_eq(mps_finalize(arena, &obj), MPS_RES_OK);
  *(mps_addr_t volatile *)&obj = NULL;
}

START_TEST(test_frames_keep_nothing) {
  mps_message_t message;
  heap_start(mps_class_amc());
  mps_message_type_enable(arena, mps_message_type_finalization());
  ck_assert_int_eq(mps_root_create_thread(&root, arena, thr, FRAME_COLD()),
                   MPS_RES_OK);
  table[0] = node(1);
  for (int i = 0; i < 20; ++i)
    drop();
  run();
  run();
  for (int i = 0; i < 18; ++i) { /* but for what a register may hold */
    ck_assert(
        mps_message_get(&message, arena, mps_message_type_finalization()));
    mps_message_discard(arena, message);
  }
  finish();
}
END_TEST

/* Hundreds that come and go, in any order. */
START_TEST(test_many) {
  enum { MANY = 600 };
  static mps_root_t roots[MANY];
  static mps_addr_t words[MANY];
  heap_start(mps_class_amc());
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < MANY; ++i) {
      words[i] = numbered(i);
      ck_assert_int_eq(mps_root_create_table(&roots[i], arena,
                                             mps_rank_exact(), 0, &words[i],
                                             1),
                       MPS_RES_OK);
    }
    collect();
    for (size_t i = 0; i < MANY; ++i) {
      ck_assert_uint_eq(number_of(words[(i * 7) % MANY]), (i * 7) % MANY);
      mps_root_destroy(roots[(i * 7) % MANY]);
    }
    memset(words, 0, sizeof words);
  }
  heap_stop();
}
END_TEST

START_TEST(test_ranks) {
  ck_assert_uint_eq(mps_rank_ambig(), 0);
  ck_assert_uint_eq(mps_rank_exact(), 1);
  ck_assert_uint_eq(mps_rank_weak(), 3);
}
END_TEST

/* Collections while 32 MiB die at once, in the default chain. */
static size_t collections_of_garbage(void) {
  mps_pool_t p = own_chain_pool(mps_class_amc());
  mps_ap_t q = point(p);
  size_t n = statistics().collections;
  for (size_t i = 0; i < (4 << 20); i += 64)
    (void)obj_on(q, OBJ_NODE, 62);
  n = statistics().collections - n;
  mps_ap_destroy(q);
  mps_pool_destroy(p);
  return n;
}

/* Large roots, and blocks that are roots, are not scanned for every few bytes:
   the nursery counts them as heap, as long as they are there. */
START_TEST(test_large) {
  enum { WORDS = 4 << 20 };
  static mps_word_t large[WORDS];
  size_t few, many;
  mps_pool_t p;
  mps_ap_t q;
  heap_start(mps_class_amc());
  if (arena->stress.each != 0) { /* collects when it likes */
    heap_stop();
    return;
  }
  p = own_chain_pool(mps_class_snc());
  q = point(p);
  if (_i == 0)
    ck_assert_int_eq(mps_root_create_area(&root, arena, mps_rank_exact(), 0,
                                          large, large + WORDS, mps_scan_area,
                                          NULL),
                     MPS_RES_OK);
  else
    (void)obj_on(q, OBJ_NODE, WORDS);
  few = collections_of_garbage();
  if (_i == 0)
    mps_root_destroy(root);
  mps_ap_destroy(q);
  mps_pool_destroy(p);
  ck_assert_uint_eq(arena->rooted, sizeof table);
  many = collections_of_garbage();
  ck_assert_uint_lt(few, 30);
  ck_assert_uint_lt(2 * few, many);
  heap_stop();
}
END_TEST

/* Each collection looks at all of them, so the default chain has fewer. */
START_TEST(test_many_small) {
  enum { MANY = 20000, MADE = 20 << 20, EACH = 16 };
  static mps_addr_t words[MANY];
  static mps_root_t roots[MANY];
  mps_pool_t own;
  mps_word_t begun;
  mps_ap_t own_ap;
  heap_start(mps_class_amc());
  own = own_chain_pool(mps_class_amc());
  own_ap = point(own);
  for (size_t i = 0; i < MANY; ++i)
    ck_assert_int_eq(mps_root_create_area(&roots[i], arena, mps_rank_exact(), 0,
                                          &words[i], &words[i + 1],
                                          mps_scan_area, NULL), MPS_RES_OK);
  begun = mps_collections(arena);
  for (size_t n = 0; n < suite_size(MADE, MADE / 100); n += obj_bytes(EACH))
    words[n / 16 % MANY / 100] = obj_on(own_ap, OBJ_NODE, EACH);
  if (!suite_varied())
    ck_assert_uint_lt(mps_collections(arena) - begun, 45);
  for (size_t i = 0; i < MANY; ++i)
    mps_root_destroy(roots[i]);
  mps_ap_destroy(own_ap);
  mps_pool_destroy(own);
  heap_stop();
}
END_TEST

static mps_res_t scan_first_page(mps_ss_t ss, void *base, void *limit,
                                 void *closure) {
  (void)limit;
  return mps_scan_area(ss, base, (char *)base + suite_pages(1), closure);
}

/* An area of which only its own scanner knows what can be read, such as a stack
   that grows. */
START_TEST(test_part_of_area) {
  size_t size = suite_pages(1 << 20);
  char *area = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mps_addr_t *first = (mps_addr_t *)(void *)area;
  ck_assert(area != MAP_FAILED);
  ck_assert_int_eq(mprotect(area, suite_pages(1), PROT_READ | PROT_WRITE), 0);
  heap_start(mps_class_amc());
  ck_assert_int_eq(
      mps_root_create_area(&root, arena,
                           _i == 0 ? mps_rank_exact() : mps_rank_ambig(), 0,
                           area, area + size, scan_first_page, NULL),
      MPS_RES_OK);
  for (size_t i = 0; i < 20000; ++i)
    first[i % 100] = numbered(i);
  run();
  for (size_t i = 0; i < 100; ++i)
    ck_assert_uint_eq(number_of(first[i]), 19900 + i);
  mps_root_destroy(root);
  heap_stop();
  munmap(area, size);
}
END_TEST

SUITE_LOOPS_MAIN("root", 30, {test_area, 1}, {test_tagged, 1},
                 {test_tagged_or_zero, 1}, {test_masked, 1},
                 {test_pattern_beyond_mask, 1}, {test_table, 1},
                 {test_table_masked, 1}, {test_function, 1}, {test_format, 1},
                 {test_ambiguous, 1}, {test_weak, 1},
                 {test_weak_finalizable, 1}, {test_stack_scan, 1},
                 {test_frames_keep_nothing, 1}, {test_many, 1},
                 {test_ranks, 1}, {test_thread, 4}, {test_large, 2},
                 {test_many_small, 1}, {test_part_of_area, 2})
