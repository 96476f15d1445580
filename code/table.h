/* Testudo: hash tables from addresses to pointers, in memory that the caller
   supplies. SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_TABLE_H
#define TDO_CODE_TABLE_H

#include "code/base.h"

/* Where a table's memory comes from. Alloc: MPS_RES_OK and SIZE bytes aligned
   for pointers, or why not. */
typedef struct tdo_table_memory {
  void *closure;
  mps_res_t (*alloc)(void **p_o, void *closure, size_t size);
  void (*free)(void *closure, void *p, size_t size);
} tdo_table_memory_t;

typedef struct tdo_table_entry {
  void *key; /* NULL: empty */
  void *value;
} tdo_table_entry_t;

/* Open addressing with linear probing; an entry is removed by moving later
   ones up, so that there are no tombstones. No locking. Invariants:
   .load   at most 3/4 of the entries are in use
   .probe  no empty entry lies between an entry's home and its place */
typedef struct tdo_table {
  tdo_sig_t sig;
  tdo_table_memory_t memory;
  tdo_table_entry_t *entries; /* NULL while nothing was ever entered */
  size_t capacity;            /* 0 or a power of two */
  size_t count;
} tdo_table_t;

/* Make TABLE empty; allocates nothing. Finish gives its memory back. */
void tdo_table_init(tdo_table_t *table, const tdo_table_memory_t *memory);
void tdo_table_finish(tdo_table_t *table);
bool tdo_table_check(const tdo_table_t *table);

size_t tdo_table_count(const tdo_table_t *table);

/* The value of KEY; false if it has none. */
bool tdo_table_get(void **value_o, const tdo_table_t *table, const void *key);

/* Give KEY (not NULL) the value VALUE, in place of an earlier one. What alloc
   said if the table had to grow and could not; then nothing has changed. */
mps_res_t tdo_table_set(tdo_table_t *table, void *key, void *value);

/* Make room so that the count can reach N without allocating. */
mps_res_t tdo_table_reserve(tdo_table_t *table, size_t n);

/* Remove KEY and tell its value (VALUE_O may be NULL); false if it is not
   there. */
bool tdo_table_remove(void **value_o, tdo_table_t *table, const void *key);

/* The entry at or after position *POSITION_IO, which moves past it; NULL at
   the end. Begin with 0. Values may be changed between calls, keys not. */
tdo_table_entry_t *tdo_table_next(const tdo_table_t *table,
                                  size_t *position_io);

#endif /* TDO_CODE_TABLE_H */
