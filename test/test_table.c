/* Testudo: hash tables against an array, at random. SPDX-License-Identifier:
   BSD-2-Clause */
#include <stdlib.h>
#include "code/table.h"
#include "test/random.h"
#include "test/require.h"
#include "test/suite.h"

enum { KEYS = 500, ROUNDS = 30000 };

static size_t allocated;
static bool refuse;

static mps_res_t get_memory(void **p_o, void *closure, size_t size) {
  ck_assert_ptr_eq(closure, &allocated);
  if (refuse)
    return MPS_RES_COMMIT_LIMIT;
  *p_o = malloc(size);
  ck_assert_ptr_nonnull(*p_o);
  allocated += size;
  return MPS_RES_OK;
}

static void put_memory(void *closure, void *p, size_t size) {
  ck_assert_ptr_eq(closure, &allocated);
  ck_assert_uint_le(size, allocated);
  allocated -= size;
  free(p);
}

static const tdo_table_memory_t memory = {&allocated, get_memory, put_memory};

/* Keys whose low bits are all equal, as addresses of segments are. */
static void *key_of(size_t i) {
  return (void *)(0x7f0000000000 + i * 65536);
}

static void *model[KEYS];

static void change(tdo_table_t *table) {
  size_t i = random_below(KEYS);
  void *value = (void *)(uintptr_t)(random_word() | 1);
  void *found = NULL;
  if (random_below(2) == 0) {
    ck_assert_int_eq(tdo_table_set(table, key_of(i), value), MPS_RES_OK);
    model[i] = value;
  } else {
    bool present = tdo_table_remove(&found, table, key_of(i));
    ck_assert_int_eq(present, model[i] != NULL);
    ck_assert_ptr_eq(found, model[i]);
    model[i] = NULL;
  }
}

static void compare(const tdo_table_t *table) {
  size_t count = 0, visited = 0, position = 0;
  tdo_table_entry_t *entry;
  for (size_t i = 0; i < KEYS; ++i) {
    void *found = NULL;
    REQUIRE(tdo_table_get(&found, table, key_of(i)) == (model[i] != NULL));
    REQUIRE(found == model[i]);
    count += model[i] != NULL;
  }
  while ((entry = tdo_table_next(table, &position)) != NULL) {
    size_t i = ((uintptr_t)entry->key - (uintptr_t)key_of(0)) / 65536;
    REQUIRE(model[i] == entry->value);
    ++visited;
  }
  ck_assert_uint_eq(visited, count);
  ck_assert_uint_eq(tdo_table_count(table), count);
  ck_assert(tdo_table_check(table));
}

START_TEST(against_model) {
  tdo_table_t table;
  random_start();
  tdo_table_init(&table, &memory);
  for (int round = 0; round < ROUNDS; ++round) {
    change(&table);
    if (round % 64 == 0)
      compare(&table);
  }
  compare(&table);
  tdo_table_finish(&table);
  ck_assert_uint_eq(allocated, 0);
}
END_TEST

START_TEST(empty) {
  tdo_table_t table;
  void *value;
  size_t position = 0;
  tdo_table_init(&table, &memory);
  ck_assert(tdo_table_check(&table));
  ck_assert(!tdo_table_get(&value, &table, key_of(0)));
  ck_assert(!tdo_table_remove(&value, &table, key_of(0)));
  ck_assert_ptr_null(tdo_table_next(&table, &position));
  tdo_table_finish(&table);
  ck_assert_uint_eq(allocated, 0);
}
END_TEST

START_TEST(refused) {
  tdo_table_t table;
  void *value;
  tdo_table_init(&table, &memory);
  refuse = true;
  ck_assert_int_eq(tdo_table_set(&table, key_of(0), NULL),
                   MPS_RES_COMMIT_LIMIT);
  refuse = false;
  ck_assert_int_eq(tdo_table_reserve(&table, 100), MPS_RES_OK);
  refuse = true; /* within the room that there is, nothing can fail */
  for (size_t i = 0; i < 100; ++i)
    ck_assert_int_eq(tdo_table_set(&table, key_of(i), key_of(i)), MPS_RES_OK);
  size_t i = 100;
  while (tdo_table_set(&table, key_of(i), key_of(i)) == MPS_RES_OK)
    ck_assert_uint_lt(++i, 100000);
  ck_assert_uint_eq(tdo_table_count(&table), i);
  ck_assert(!tdo_table_get(&value, &table, key_of(i)));
  ck_assert_int_eq(tdo_table_set(&table, key_of(0), key_of(1)), MPS_RES_OK);
  ck_assert(tdo_table_get(&value, &table, key_of(0)));
  ck_assert_ptr_eq(value, key_of(1));
  ck_assert(tdo_table_check(&table));
  tdo_table_finish(&table);
}
END_TEST

/* Entries that a look-up of one of them may pass: those of its run. */
static size_t mean_run(const tdo_table_t *table) {
  size_t sum = 0, run = 0;
  for (size_t i = 0; i < table->capacity; ++i) {
    run = table->entries[i].key != NULL ? run + 1 : 0;
    sum += 2 * run; /* in the end run * (run + 1) for each */
  }
  return sum / table->count;
}

/* Keys as far apart as objects of some size that lie side by side: however
   many there are, a look-up is short. */
START_TEST(equally_far) {
  enum { N = 50000, SIZES = 64 };
  for (size_t size = 8; size <= SIZES * 8; size += 8) {
    tdo_table_t table;
    tdo_table_init(&table, &memory);
    for (size_t i = 0; i < N; ++i) {
      void *key = (void *)(0x7f1234500000 + i * size);
      REQUIRE(tdo_table_set(&table, key, key) == MPS_RES_OK);
    }
    ck_assert_uint_lt(mean_run(&table), 20);
    tdo_table_finish(&table);
  }
}
END_TEST

SUITE_MAIN("table", 60, against_model, empty, refused, equally_far)
