/* Testudo: hash tables of the Scheme interpreter. SPDX-License-Identifier:
   BSD-2-Clause

   Keys are hashed by address, which the collector changes: a table has a
   location dependency. When a key is not found where its address says, and
   an address that the table depends on may have changed, everything is
   hashed again.

   Open addressing in two arrays, of keys and of values. UNBOUND is a place
   never used, TOMB a deleted one. In a weak table one of the arrays is weak;
   when an object there dies, both places become TOMB (memory.c). */
#include "scheme.h"

#include <string.h>

/* The slots; what follows them is an mps_ld_s, which is no reference. */
#define KEYS(t)    SLOT(t, 1)
#define VALUES(t)  SLOT(t, 2)
#define KIND(t)    SLOT(t, 3) /* comparison | weakness << 8 */
#define USED(t)    SLOT(t, 4) /* places that are not UNBOUND */
#define DELETED(t) SLOT(t, 5) /* of them, those deleted by the program */
#define LD(t)      ((mps_ld_t)(void *)&SLOT(t, 6))

enum { FIRST = 3, LEAST = 8, TABLE_WORDS = 6 };

static int compare_of(val t) {
  return (int)(fix_int(KIND(t)) & 0xff);
}

static int weakness_of(val t) {
  return (int)(fix_int(KIND(t)) >> 8);
}

static size_t capacity(val t) {
  return obj_words(KEYS(t)) - FIRST;
}

/* ---- hashing */

static uint64_t mix(uint64_t h) {
  h *= 0x9e3779b97f4a7c15u;
  return h ^ h >> 32;
}

static uint64_t hash_address(val t, val v) {
  if (is_ref(v))
    mps_ld_add(LD(t), vm.arena, (mps_addr_t)v);
  return mix(v >> 1);
}

static uint64_t hash_leaf(val v) {
  uint64_t h = HEADER_TYPE(*obj(v));
  for (size_t i = 1; i < obj_words(v); i++)
    h = mix(h ^ SLOT(v, i));
  return h;
}

static uint64_t hash_eqv(val t, val v) {
  if (!is_ref(v))
    return mix(v >> 1);
  switch (ref_type(v)) {
  case T_FLONUM:
  case T_BIGNUM:
    return hash_leaf(v);
  case T_RATIO:
    return mix(hash_eqv(t, RATIO_NUM(v)) ^ hash_eqv(t, RATIO_DEN(v)) << 1);
  default:
    return hash_address(t, v);
  }
}

static uint64_t hash_bytes(val v) {
  uint64_t h = BV_LEN(v);
  for (size_t i = 0; i < BV_LEN(v); i++)
    h = (h ^ BV_DATA(v)[i]) * 1099511628211u;
  return mix(h);
}

/* Looks at a bounded part of a structure. */
static uint64_t hash_equal(val t, val v, int *budget) {
  uint64_t h = 17;
  if (!is_ref(v) || --*budget < 0)
    return is_ref(v) ? h : mix(v >> 1);
  switch (ref_type(v)) {
  case T_STRING:
    return mix(string_hash(v));
  case T_BYTEVECTOR:
    return hash_bytes(v);
  case T_PAIR:
    for (; is_pair(v) && *budget > 0; v = CDR(v))
      h = mix(h ^ hash_equal(t, CAR(v), budget)) + 3;
    return is_pair(v) ? h : mix(h ^ hash_equal(t, v, budget));
  case T_VECTOR:
    for (size_t i = 0; i < VEC_LEN(v) && *budget > 0; i++)
      h = mix(h ^ hash_equal(t, VEC_REF(v, i), budget)) + 5;
    return h;
  default:
    return hash_eqv(t, v);
  }
}

static uint64_t hash(val t, val key) {
  int budget = 64;
  switch (compare_of(t)) {
  case TABLE_EQ:
    return hash_address(t, key);
  case TABLE_EQV:
    return hash_eqv(t, key);
  case TABLE_STRING:
    return is_string(key) ? mix(string_hash(key)) : 0;
  default:
    return hash_equal(t, key, &budget);
  }
}

static bool same(val t, val a, val b) {
  if (a == b)
    return true;
  switch (compare_of(t)) {
  case TABLE_EQ:
    return false;
  case TABLE_EQV:
    return eqv(a, b);
  default:
    return equal(a, b);
  }
}

/* ---- the arrays */

static val make_array(val t, size_t n, bool weak) {
  if (weakness_of(t) == TABLE_STRONG) {
    val v = make_vector(n + FIRST - 1, UNBOUND);
    SLOT(v, 1) = SLOT(v, 2) = FALSE;
    return v;
  }
  return make_weak_array(n, weak);
}

static void make_arrays(val t, size_t n) {
  int weakness = weakness_of(t);
  val keys = make_array(t, n, weakness == TABLE_WEAK_KEY);
  val values = make_array(t, n, weakness == TABLE_WEAK_VALUE);
  if (weakness != TABLE_STRONG)
    weak_arrays_link(keys, values);
  KEYS(t) = keys;
  VALUES(t) = values;
  USED(t) = DELETED(t) = FIX(0);
  mps_ld_reset(LD(t), vm.arena);
}

val make_table(int compare, int weakness) {
  val t = make_object(
      T_TABLE, TABLE_WORDS - 1 + (sizeof(mps_ld_s) + 7) / sizeof(val), FALSE);
  KIND(t) = FIX(compare | weakness << 8);
  make_arrays(t, LEAST);
  return t;
}

/* Deaths that the collector noted in the arrays. */
static size_t deaths(val t) {
  if (weakness_of(t) == TABLE_STRONG)
    return 0;
  return (size_t)(fix_int(SLOT(KEYS(t), 2)) + fix_int(SLOT(VALUES(t), 2)));
}

static size_t table_count(val t) {
  return (size_t)(fix_int(USED(t)) - fix_int(DELETED(t))) - deaths(t);
}

/* The place of the key, or -1, and then *free_o where to put it. */
static intptr_t probe(val t, val key, uint64_t h, size_t *free_o) {
  size_t mask = capacity(t) - 1, i = h & mask;
  for (;; i = (i + 1) & mask) {
    val k = SLOT(KEYS(t), i + FIRST);
    if (k == UNBOUND)
      break;
    if (k != TOMB && same(t, k, key))
      return (intptr_t)i;
  }
  *free_o = i;
  return -1;
}

static void put_new(val t, val key, val value) {
  size_t at = 0;
  probe(t, key, hash(t, key), &at);
  SLOT(KEYS(t), at + FIRST) = key;
  SLOT(VALUES(t), at + FIRST) = value;
  USED(t) += FIX(1) - FIX(0);
}

/* Hashes everything again into arrays of the right size. */
static void rehash(val t) {
  val keys = KEYS(t), values = VALUES(t);
  size_t n = LEAST, old = obj_words(keys) - FIRST;
  while (n < table_count(t) * 3 + 3)
    n *= 2;
  make_arrays(t, n);
  PIN(keys);
  PIN(values);
  for (size_t i = FIRST; i < old + FIRST; i++) {
    val k = SLOT(keys, i), v = SLOT(values, i);
    if (k != UNBOUND && k != TOMB)
      put_new(t, k, v);
  }
}

/* May the address of the key have changed since it was hashed? */
static bool is_stale(val t, val key) {
  if (!is_ref(key))
    return false;
  if (compare_of(t) <= TABLE_EQV)
    return mps_ld_isstale(LD(t), vm.arena, (mps_addr_t)key);
  return mps_ld_isstale_any(LD(t), vm.arena);
}

static intptr_t find(val t, val key) {
  size_t unused;
  intptr_t at = probe(t, key, hash(t, key), &unused);
  if (at < 0 && is_stale(t, key)) {
    rehash(t);
    at = probe(t, key, hash(t, key), &unused);
  }
  return at;
}

val table_ref(val t, val key, val missing) {
  intptr_t at = find(t, key);
  return at < 0 ? missing : SLOT(VALUES(t), at + FIRST);
}

void table_set(val t, val key, val value) {
  intptr_t at = find(t, key);
  if (at >= 0) {
    SLOT(VALUES(t), at + FIRST) = value;
    return;
  }
  if ((size_t)fix_int(USED(t)) * 4 >= capacity(t) * 3)
    rehash(t);
  put_new(t, key, value);
}

void table_delete(val t, val key) {
  intptr_t at = find(t, key);
  if (at < 0)
    return;
  SLOT(KEYS(t), at + FIRST) = TOMB;
  SLOT(VALUES(t), at + FIRST) = TOMB;
  DELETED(t) += FIX(1) - FIX(0);
}

/* ---- primitives */

static val arg_table(val *argv, int i) {
  return arg_of(argv, i, T_TABLE, "hash table");
}

static val p_make_table(int argc, val *argv) {
  (void)argc;
  return make_table((int)arg_fix(argv, 0), (int)arg_fix(argv, 1));
}

static val p_tablep(int argc, val *argv) {
  (void)argc;
  return boolean(is_type(argv[0], T_TABLE));
}

static val p_ref(int argc, val *argv) {
  val t = arg_table(argv, 0);
  return table_ref(t, argv[1], argc > 2 ? argv[2] : FALSE);
}

static val p_set(int argc, val *argv) {
  (void)argc;
  table_set(arg_table(argv, 0), argv[1], argv[2]);
  return UNSPEC;
}

static val p_delete(int argc, val *argv) {
  (void)argc;
  table_delete(arg_table(argv, 0), argv[1]);
  return UNSPEC;
}

static val p_contains(int argc, val *argv) {
  (void)argc;
  return boolean(find(arg_table(argv, 0), argv[1]) >= 0);
}

static val p_count(int argc, val *argv) {
  (void)argc;
  return FIX(table_count(arg_table(argv, 0)));
}

static val p_clear(int argc, val *argv) {
  (void)argc;
  make_arrays(arg_table(argv, 0), LEAST);
  return UNSPEC;
}

/* A list of (key . value), in no order that means anything. */
static val p_to_alist(int argc, val *argv) {
  (void)argc;
  val t = arg_table(argv, 0), keys = KEYS(t), values = VALUES(t), list = NIL;
  for (size_t i = FIRST; i < obj_words(keys); i++) {
    PIN(keys);
    PIN(values);
    val k = SLOT(keys, i), v = SLOT(values, i);
    if (k != UNBOUND && k != TOMB)
      list = cons(cons(k, v), list);
  }
  return list;
}

static val p_hash(int argc, val *argv) {
  int budget = 64;
  val t = vm.root[R_GUARDED];
  uint64_t h = hash_equal(t, argv[0], &budget) >> 8;
  return FIX(argc > 1 ? h % (size_t)arg_fix(argv, 1) : h >> 8);
}

static val p_string_hash(int argc, val *argv) {
  uint64_t h = string_hash(arg_string(argv, 0)) >> 8;
  return FIX(argc > 1 ? h % (size_t)arg_fix(argv, 1) : h >> 8);
}

const struct prim prims_table[] = {
    {"%make-hash-table", p_make_table, 2, 2},
    {"hash-table?", p_tablep, 1, 1},
    {"hash-table-ref/default", p_ref, 3, 3},
    {"hashq-ref", p_ref, 2, 3},
    {"hashv-ref", p_ref, 2, 3},
    {"hash-ref", p_ref, 2, 3},
    {"hash-table-set!", p_set, 3, 3},
    {"hashq-set!", p_set, 3, 3},
    {"hashv-set!", p_set, 3, 3},
    {"hash-set!", p_set, 3, 3},
    {"hash-table-delete!", p_delete, 2, 2},
    {"hashq-remove!", p_delete, 2, 2},
    {"hashv-remove!", p_delete, 2, 2},
    {"hash-remove!", p_delete, 2, 2},
    {"hash-table-contains?", p_contains, 2, 2},
    {"hash-table-exists?", p_contains, 2, 2},
    {"hash-table-count", p_count, 1, 1},
    {"hash-table-size", p_count, 1, 1},
    {"hash-table-clear!", p_clear, 1, 1},
    {"hash-table->alist", p_to_alist, 1, 1},
    {"hash", p_hash, 1, 2},
    {"equal-hash", p_hash, 1, 2},
    {"string-hash", p_string_hash, 1, 2},
    {NULL, NULL, 0, 0},
};
