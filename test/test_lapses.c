/* Testudo: tests of what clients forget: reported where that can be, and no
   harm is done (interface, section 7).
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include "test/objects.h"
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "test/suite.h"

/* ---- threads ---- */

START_TEST(roots_of_a_thread_that_went) {
  mps_thr_t t;
  mps_root_t root;
  heap_start(mps_class_amc());
  table[0] = numbered(3);
  ck_assert_int_eq(mps_thread_reg(&t, arena), MPS_RES_OK);
  ck_assert_int_eq(mps_root_create_thread(&root, arena, t, &root), MPS_RES_OK);
  ASSERTED(mps_thread_dereg(t));
  for (int i = 0; i < 3; ++i)
    collect();
  mps_root_destroy(root);
  ck_assert_uint_eq(number_of(table[0]), 3);
  ck_assert_int_eq(mps_thread_reg(&t, arena), MPS_RES_OK);
  ck_assert_int_eq(mps_root_create_thread(&root, arena, t, &root), MPS_RES_OK);
  mps_root_destroy(root);
  ASSERTED_NEVER(mps_thread_dereg(t));
  heap_stop();
}
END_TEST

/* A key whose destructor works on managed objects, and deregisters. */
enum { LIST = 300, LEAVERS = 10 };

static pthread_key_t key;
static atomic_int left;

typedef struct leaver {
  mps_thr_t thr;
  mps_ap_t ap;
  mps_root_t root, stack;
  mps_addr_t list[1];
} leaver_t;

/* Where the stack of this thread begins. */
static void *stack_cold(void) {
  pthread_attr_t attr;
  void *base;
  size_t size;
  REQUIRE(pthread_getattr_np(pthread_self(), &attr) == 0);
  REQUIRE(pthread_attr_getstack(&attr, &base, &size) == 0);
  (void)pthread_attr_destroy(&attr);
  return (char *)base + size;
}

/* Only the stack refers to this one while collections go by. */
static void wait_with(mps_ap_t on) {
  mps_addr_t volatile held = obj_on(on, OBJ_NODE, 2);
  mps_word_t start = mps_collections(arena);
  mps_addr_t ref = held;
  REQUIRE(mps_finalize(arena, &ref) == MPS_RES_OK);
  while (mps_collections(arena) < start + 4)
    (void)sched_yield();
  ref = held;
  REQUIRE(mps_definalize(arena, &ref) == MPS_RES_OK); /* it did not die */
}

static void leave(void *p) {
  leaver_t *l = p;
  wait_with(l->ap);
  for (int round = 0; round < 20; ++round) {
    size_t n = 0;
    for (mps_addr_t o = l->list[0]; o != NULL; o = *obj_ref(o, 1), ++n)
      REQUIRE(obj_kind(o) == OBJ_NODE && number_of(o) == n);
    REQUIRE(n == LIST);
    for (size_t i = 0; i < 500; ++i)
      (void)obj_on(l->ap, OBJ_NODE, i % 9);
  }
  mps_root_destroy(l->stack);
  mps_root_destroy(l->root);
  mps_ap_destroy(l->ap);
  mps_thread_dereg(l->thr);
  free(l);
  atomic_fetch_add(&left, 1);
}

static void *come_and_go(void *p) {
  leaver_t *l = calloc(1, sizeof *l);
  REQUIRE(l != NULL && pthread_setspecific(key, l) == 0);
  REQUIRE(mps_thread_reg(&l->thr, arena) == MPS_RES_OK);
  REQUIRE(mps_root_create_table(&l->root, arena, mps_rank_exact(), 0, l->list,
                                1) == MPS_RES_OK);
  REQUIRE(mps_root_create_thread(&l->stack, arena, l->thr, stack_cold()) ==
          MPS_RES_OK);
  l->ap = point(pool);
  for (size_t i = LIST; i-- > 0;) {
    mps_addr_t o = obj_on(l->ap, OBJ_NODE, 2);
    *obj_ref(o, 0) = (mps_addr_t)(i << 2 | 1);
    *obj_ref(o, 1) = l->list[0];
    l->list[0] = o;
  }
  return p;
}

/* KIND 0: our key is older than the client's; 1: it is newer. */
START_TEST(destructors) {
  pthread_t id[LEAVERS];
  if (_i == 1)
    ck_assert_int_eq(pthread_key_create(&key, leave), 0);
  heap_start(mps_class_amc());
  if (_i == 0)
    ck_assert_int_eq(pthread_key_create(&key, leave), 0);
  table[0] = numbered(0);
  for (size_t i = 0; i < LEAVERS; ++i)
    ck_assert_int_eq(pthread_create(&id[i], NULL, come_and_go, NULL), 0);
  while (atomic_load(&left) < LEAVERS) {
    collect();
    for (size_t i = 0; i < 1000; ++i)
      table[i % 100] = numbered(i);
    (void)mps_arena_start_collect(arena);
  }
  for (size_t i = 0; i < LEAVERS; ++i)
    ck_assert_int_eq(pthread_join(id[i], NULL), 0);
  heap_stop();
}
END_TEST

/* ---- references ---- */

static const struct {
  mps_pool_class_t (*cls)(void);
  size_t header;
} classes[] = {{mps_class_amc, 0}, {mps_class_amc, 16}, {mps_class_amcz, 16},
               {mps_class_ams, 0}, {mps_class_ams, 16}, {mps_class_awl, 16},
               {mps_class_lo, 16}};

/* An exact reference beside an object: the cool build tells, and in all of
   them what is well stays well. */
START_TEST(misaligned_reference) {
  obj_header = classes[_i].header;
  heap_start(classes[_i].cls());
  table[0] = numbered(4);
  table[1] = (char *)numbered(5) + 1;
  if (TDO_COOL) {
    ASSERTED_COOL(collect());
    table[1] = NULL;
    collect();
    collect();
    ck_assert_uint_eq(number_of(table[0]), 4);
  }
  table[1] = NULL;
  heap_stop();
}
END_TEST

/* ---- sizes ---- */

/* An object tells another size than it was reserved. */
START_TEST(wrong_size) {
  mps_pool_t p;
  mps_ap_t q;
  mps_addr_t obj;
  heap_start(mps_class_amc());
  mps_arena_park(arena);
  p = obj_pool(mps_class_amc());
  q = point(p);
  (void)obj_on(q, OBJ_LEAF, 4);
  obj = obj_on(q, OBJ_LEAF, 4);
  obj_base(obj)[0] = obj_bytes(5) << 3 | OBJ_LEAF;
  ASSERTED_COOL(mps_ap_destroy(q));
  obj_base(obj)[0] = obj_bytes(4) << 3 | OBJ_LEAF;
  mps_pool_destroy(p);
  heap_stop();
}
END_TEST

/* ---- finalization ---- */

START_TEST(pool_with_registrations) {
  mps_message_t message, kept;
  mps_pool_t p;
  mps_ap_t q;
  heap_start(mps_class_amc());
  mps_message_type_enable(arena, mps_message_type_finalization());
  for (int round = 0; round < 5; ++round) {
    size_t n = 0;
    p = obj_pool(classes[_i].cls());
    q = point(p);
    for (size_t i = 0; i < 100; ++i) {
      table[i] = obj_on(q, OBJ_LEAF, 4);
      ck_assert_int_eq(mps_finalize(arena, &table[i]), MPS_RES_OK);
    }
    memset(table, 0, 50 * sizeof table[0]);
    collect();
    ck_assert(mps_message_get(&kept, arena, mps_message_type_finalization()));
    mps_arena_park(arena);
    memset(table, 0, sizeof table);
    mps_ap_destroy(q);
    mps_pool_destroy(p);
    /* Others at the same places are not meant. */
    for (size_t i = 0; i < 2000; ++i)
      (void)numbered(i);
    collect();
    mps_message_discard(arena, kept);
    while (mps_message_get(&message, arena, mps_message_type_finalization())) {
      mps_message_discard(arena, message);
      ++n;
    }
    ck_assert_uint_eq(n, 49);
  }
  heap_stop();
}
END_TEST

SUITE_LOOPS_MAIN("lapses", 60, {roots_of_a_thread_that_went, 1},
                 {destructors, 2}, {misaligned_reference, 7},
                 {wrong_size, 1}, {pool_with_registrations, 7})
