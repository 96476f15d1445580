/* Testudo: hash tables from addresses to pointers. SPDX-License-Identifier:
   BSD-2-Clause */
#include <string.h>
#include "code/check.h"
#include "code/table.h"

#define TABLE_SIG ((tdo_sig_t)0x5197AB1E)

enum { TABLE_FIRST = 16 };

/* Keys are often equally far apart, as objects that were allocated in turn are,
   at any distance: one multiplication would leave many of them in long runs. */
static size_t table_home(const tdo_table_t *table, const void *key) {
  uint64_t hash = (uint64_t)(uintptr_t)key;
  hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
  hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
  return (size_t)(hash ^ hash >> 33) & (table->capacity - 1);
}

static size_t table_after(const tdo_table_t *table, size_t i) {
  return (i + 1) & (table->capacity - 1);
}

/* Index of KEY, or of the empty entry where its probing ends. */
static size_t table_place(const tdo_table_t *table, const void *key) {
  size_t i = table_home(table, key);
  while (table->entries[i].key != NULL && table->entries[i].key != key)
    i = table_after(table, i);
  return i;
}

void tdo_table_init(tdo_table_t *table, const tdo_table_memory_t *memory) {
  table->memory = *memory;
  table->entries = NULL;
  table->capacity = 0;
  table->count = 0;
  table->sig = TABLE_SIG;
}

static void table_free(tdo_table_t *table, tdo_table_entry_t *entries,
                       size_t capacity) {
  if (entries != NULL)
    table->memory.free(table->memory.closure, entries,
                       capacity * sizeof *entries);
}

void tdo_table_finish(tdo_table_t *table) {
  TDO_CHECK(table->sig == TABLE_SIG);
  table->sig = TDO_SIG_DEAD;
  table_free(table, table->entries, table->capacity);
}

bool tdo_table_check(const tdo_table_t *table) {
  size_t count = 0;
  if (table->sig != TABLE_SIG || table->count > table->capacity / 4 * 3)
    return false; /* .load */
  for (size_t i = 0; i < table->capacity; ++i) {
    const void *key = table->entries[i].key;
    if (key != NULL) {
      ++count;
      if (table_place(table, key) != i)
        return false; /* .probe */
    }
  }
  return count == table->count;
}

size_t tdo_table_count(const tdo_table_t *table) {
  return table->count;
}

bool tdo_table_get(void **value_o, const tdo_table_t *table, const void *key) {
  if (table->count == 0 || key == NULL)
    return false;
  const tdo_table_entry_t *entry = &table->entries[table_place(table, key)];
  if (entry->key == NULL)
    return false;
  *value_o = entry->value;
  return true;
}

static mps_res_t table_resize(tdo_table_t *table, size_t capacity) {
  tdo_table_entry_t *old = table->entries;
  size_t old_capacity = table->capacity;
  void *memory;
  mps_res_t res = table->memory.alloc(&memory, table->memory.closure,
                                      capacity * sizeof *old);
  if (res != MPS_RES_OK)
    return res;
  memset(memory, 0, capacity * sizeof *old);
  table->entries = memory;
  table->capacity = capacity;
  for (size_t i = 0; i < old_capacity; ++i) {
    if (old[i].key != NULL)
      table->entries[table_place(table, old[i].key)] = old[i];
  }
  table_free(table, old, old_capacity);
  return MPS_RES_OK;
}

mps_res_t tdo_table_reserve(tdo_table_t *table, size_t n) {
  size_t capacity = tdo_max(table->capacity, TABLE_FIRST);
  TDO_CHECK(table->sig == TABLE_SIG);
  while (capacity / 4 * 3 < n) {
    if (capacity > SIZE_MAX / 2 / sizeof(tdo_table_entry_t))
      return MPS_RES_MEMORY;
    capacity *= 2;
  }
  return capacity == table->capacity ? MPS_RES_OK
                                     : table_resize(table, capacity);
}

mps_res_t tdo_table_set(tdo_table_t *table, void *key, void *value) {
  TDO_CHECK(key != NULL);
  if (table->capacity == 0 ||
      table->entries[table_place(table, key)].key == NULL) {
    mps_res_t res = tdo_table_reserve(table, table->count + 1);
    if (res != MPS_RES_OK)
      return res;
    ++table->count;
  }
  size_t i = table_place(table, key);
  table->entries[i].key = key;
  table->entries[i].value = value;
  return MPS_RES_OK;
}

/* Entry HOLE is to become empty: entries after it whose home is not after it
   move up (.probe). */
static void table_close_hole(tdo_table_t *table, size_t hole) {
  tdo_table_entry_t *e = table->entries;
  size_t mask = table->capacity - 1;
  for (size_t i = table_after(table, hole); e[i].key != NULL;
       i = table_after(table, i)) {
    size_t home = table_home(table, e[i].key);
    if (((i - home) & mask) >= ((i - hole) & mask)) {
      e[hole] = e[i];
      hole = i;
    }
  }
  e[hole].key = NULL;
  e[hole].value = NULL;
}

bool tdo_table_remove(void **value_o, tdo_table_t *table, const void *key) {
  void *value;
  if (!tdo_table_get(&value, table, key))
    return false;
  table_close_hole(table, table_place(table, key));
  --table->count;
  if (value_o != NULL)
    *value_o = value;
  return true;
}

tdo_table_entry_t *tdo_table_next(const tdo_table_t *table,
                                  size_t *position_io) {
  while (*position_io < table->capacity) {
    tdo_table_entry_t *entry = &table->entries[(*position_io)++];
    if (entry->key != NULL)
      return entry;
  }
  return NULL;
}
