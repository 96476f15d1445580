/* Testudo: a test of location dependencies while epochs go by
   (interface, section 2.18). SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <stdatomic.h>
#include "trace/heap.h"

#include "test/objects.h"
#include "test/suite.h"

enum { SETS = 64, ROUNDS = 500 };

static atomic_int stale;  /* one past the last set that has moved */
static atomic_int checks; /* 0: the reader waits; it answers with -1 */
static size_t wrong;

/* Objects in set K, known since before all others moved. */
static mps_ld_s dependency_on(int k) {
  mps_ld_s ld;
  mps_ld_reset(&ld, arena);
  ((unsigned long *)(void *)&ld)[1] = 1ul << k;
  return ld;
}

/* What has moved has moved, whatever epoch it is by now. */
static void *read_all(void *lds_p) {
  mps_ld_s *lds = lds_p;
  for (int todo; (todo = atomic_load(&checks)) != 2;) {
    int last = atomic_load(&stale);
    if (todo == 0)
      atomic_store(&checks, -1);
    else if (todo == 1 && last > 0)
      wrong += !mps_ld_isstale_any(&lds[last - 1], arena);
  }
  return NULL;
}

/* Each set moves, and in the next epoch what is known of it goes from the slot
   of the oldest one to what is known of all before. */
static void move_all(tdo_ld_history_t *h) {
  for (int k = 0; k < SETS; ++k) {
    tdo_ld_age(h, 1ul << k);
    atomic_store(&stale, k + 1);
    for (int i = 0; i < 3; ++i)
      tdo_ld_age(h, 0);
  }
}

START_TEST(read_meanwhile) {
  mps_ld_s lds[SETS];
  tdo_ld_history_t *h;
  pthread_t id;
  heap_start(mps_class_amc());
  h = &((tdo_heap_t *)arena)->ld;
  ck_assert_int_eq(pthread_create(&id, NULL, read_all, lds), 0);
  for (int round = 0; round < ROUNDS; ++round) {
    for (atomic_store(&checks, 0); atomic_load(&checks) == 0;)
      continue;
    atomic_store(&stale, 0);
    tdo_ld_history_init(h);
    for (int k = 0; k < SETS; ++k)
      lds[k] = dependency_on(k);
    for (int i = 0; i < TDO_LD_EPOCHS - SETS + round % SETS; ++i)
      tdo_ld_age(h, 0);
    atomic_store(&checks, 1);
    move_all(h);
  }
  atomic_store(&checks, 2);
  ck_assert_int_eq(pthread_join(id, NULL), 0);
  ck_assert_uint_eq(wrong, 0);
  heap_stop();
}
END_TEST

SUITE_MAIN("ld", 60, read_meanwhile)
