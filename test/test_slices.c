/* Testudo: tests of what the client sees while a collection runs in slices:
   never the place from which an object was moved (interface, section 5.4).
   SPDX-License-Identifier: BSD-2-Clause */
#include "test/objects.h"
#include "test/suite.h"

enum { WEAK = 64, LENGTH = 60 };

static mps_addr_t weak[WEAK];
static mps_root_t weak_root;

/* Lists that start at the table, with work for many slices, and a collection
   of them that has just begun. */
static void begin(void (*prepare)(void)) {
  mps_arena_park(arena);
  for (size_t i = 0; i < ROOTS; ++i) {
    mps_addr_t p = table[i] = numbered(i);
    for (size_t k = 0; k < LENGTH; ++k) {
      mps_addr_t q = numbered(i);
      *obj_ref(p, 1) = q;
      p = q;
    }
  }
  prepare();
  mps_arena_release(arena);
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
}

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

SUITE_MAIN("slices", 60, weak_roots, definalization)
