/* Testudo: hash tables of the Scheme interpreter. SPDX-License-Identifier:
   BSD-2-Clause

   Keys are hashed by address, which the collector changes: a table has a
   location dependency. When a key is not found where its address says, and
   an address that the table depends on may have changed, everything is
   hashed again. Symbols, strings and numbers are hashed by what they are,
   so that tables with such keys depend on nothing.

   Open addressing in two arrays, of keys and of values. UNBOUND is a place
   never used, TOMB a deleted one. In a weak table one of the arrays is weak;
   when an object there dies, both places become TOMB (memory.c). In an
   ephemeron table the two are one array of pairs. */
#include "scheme.h"

#include <stdlib.h>
#include <string.h>

/* The slots; what follows them is an mps_ld_s, which is no reference. */
#define KEYS(t)    SLOT(t, 1)
#define VALUES(t)  SLOT(t, 2)
#define KIND(t)    SLOT(t, 3) /* comparison | weakness << 8 */
#define USED(t)    SLOT(t, 4) /* places that are not UNBOUND */
#define DELETED(t) SLOT(t, 5) /* of them, those deleted by the program */
#define LD(t)      ((mps_ld_t)(void *)&SLOT(t, 6))

enum { FIRST = WEAK_FIRST, LEAST = 8, TABLE_WORDS = 6 };

static int compare_of(val t) {
  return (int)(fix_int(KIND(t)) & 0xff);
}

static int weakness_of(val t) {
  return (int)(fix_int(KIND(t)) >> 8);
}

static bool is_ephemeral(val t) {
  return weakness_of(t) == TABLE_EPHEMERON;
}

static size_t capacity(val t) {
  return (obj_words(KEYS(t)) - FIRST) >> is_ephemeral(t);
}

static val *key_at(val t, size_t i) {
  return &SLOT(KEYS(t), FIRST + (i << is_ephemeral(t)));
}

static val *value_at(val t, size_t i) {
  return is_ephemeral(t) ? key_at(t, i) + 1 : &SLOT(VALUES(t), FIRST + i);
}

/* ---- hashing */

static uint64_t mix(uint64_t h) {
  h *= 0x9e3779b97f4a7c15u;
  return h ^ h >> 32;
}

/* Why a key is hashed: to be stored in the table of `dependency`, which then
   depends on addresses; to be found, when by_address tells whether any took
   part; or for a number that stays the same, when none may. */
static enum { TO_STORE, TO_FIND, TO_KEEP } purpose;
static mps_ld_t dependency;
static bool by_address;

static uint64_t hash_address(val v) {
  if (!is_ref(v))
    return mix(v >> 1);
  if (ref_type(v) == T_SYMBOL)
    return mix(SYM_HASH(v));
  if (purpose == TO_KEEP)
    return 23;
  if (purpose == TO_STORE)
    mps_ld_add(dependency, vm.arena, (mps_addr_t)v);
  by_address = true;
  return mix(v >> 1);
}

static uint64_t hash_leaf(val v) {
  uint64_t h = HEADER_TYPE(*obj(v));
  for (size_t i = 1; i < obj_words(v); i++)
    h = mix(h ^ SLOT(v, i));
  return h;
}

static uint64_t hash_eqv(val v) {
  if (!is_ref(v))
    return mix(v >> 1);
  switch (ref_type(v)) {
  case T_FLONUM:
  case T_BIGNUM:
    return hash_leaf(v);
  case T_RATIO:
    return mix(hash_eqv(RATIO_NUM(v)) ^ hash_eqv(RATIO_DEN(v)) << 1);
  default:
    return hash_address(v);
  }
}

static uint64_t hash_bytes(val v) {
  uint64_t h = BV_LEN(v);
  for (size_t i = 0; i < BV_LEN(v); i++)
    h = (h ^ BV_DATA(v)[i]) * 1099511628211u;
  return mix(h);
}

/* Looks at a bounded part of a structure, which may be circular: at so much
   that what programs use for keys (a board, a line of a file) seldom differs
   beyond. */
#define HASH_MOST 4096

static uint64_t hash_equal(val v, int *budget) {
  uint64_t h = 17;
  if (--*budget < 0 || !is_ref(v))
    return is_ref(v) ? h : mix(v >> 1);
  switch (ref_type(v)) {
  case T_STRING:
    return mix(string_hash(v));
  case T_BYTEVECTOR:
    return hash_bytes(v);
  case T_PAIR:
    for (; is_pair(v) && *budget > 0; v = CDR(v))
      h = mix(h ^ hash_equal(CAR(v), budget)) + 3;
    return is_pair(v) ? h : mix(h ^ hash_equal(v, budget));
  case T_VECTOR:
    for (size_t i = 0; i < VEC_LEN(v) && *budget > 0; i++)
      h = mix(h ^ hash_equal(VEC_REF(v, i), budget)) + 5;
    return h;
  default:
    return hash_eqv(v);
  }
}

static uint64_t hash_as(int compare, val key) {
  int budget = HASH_MOST;
  switch (compare) {
  case TABLE_EQ:
    return hash_address(key);
  case TABLE_EQV:
    return hash_eqv(key);
  case TABLE_STRING:
    return is_string(key) ? mix(string_hash(key)) : 0;
  default:
    return hash_equal(key, &budget);
  }
}

/* Of a key that will be in the table: the dependency comes first. */
static uint64_t hash_to_store(val t, val key) {
  purpose = TO_STORE;
  dependency = LD(t);
  return hash_as(compare_of(t), key);
}

/* Of a key that may be in the table. */
static uint64_t hash_to_find(val t, val key) {
  purpose = TO_FIND;
  by_address = false;
  return hash_as(compare_of(t), key);
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
  val keys, values;
  if (weakness == TABLE_EPHEMERON) {
    keys = values = make_ephemerons(n);
  } else {
    keys = make_array(t, n, weakness == TABLE_WEAK_KEY);
    values = make_array(t, n, weakness == TABLE_WEAK_VALUE);
    if (weakness != TABLE_STRONG)
      weak_arrays_link(keys, values);
  }
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
  intptr_t n = fix_int(WEAK_DEATHS(KEYS(t)));
  if (!is_ephemeral(t))
    n += fix_int(WEAK_DEATHS(VALUES(t)));
  return (size_t)n;
}

static size_t table_count(val t) {
  return (size_t)(fix_int(USED(t)) - fix_int(DELETED(t))) - deaths(t);
}

/* The place of the key, or -1, and then *free_o where to put it. */
static intptr_t probe(val t, val key, uint64_t h, size_t *free_o) {
  size_t mask = capacity(t) - 1, i = h & mask;
  for (;; i = (i + 1) & mask) {
    val k = *key_at(t, i);
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
  probe(t, key, hash_to_store(t, key), &at);
  *key_at(t, at) = key;
  *value_at(t, at) = value;
  USED(t) += FIX(1) - FIX(0);
}

/* ---- hashing everything again */

#define BIT(set, i) ((set)[(i) / 8] & 1u << (i) % 8)

static void clear_bit(unsigned char *set, size_t i) {
  set[i / 8] &= (unsigned char)~(1u << i % 8);
}

/* Takes an entry out; false if there is none, or if it died just now. */
static bool take_out(val t, size_t i, val *key_o, val *value_o) {
  *key_o = *key_at(t, i);
  *value_o = *value_at(t, i);
  *key_at(t, i) = *value_at(t, i) = UNBOUND;
  return *key_o != TOMB && *key_o != UNBOUND;
}

/* Puts an entry in its new place; if one is there that still is in its old
   place, that one has to go next, and so on. */
static void put_moved(val t, unsigned char *old, val key, val value) {
  size_t mask = capacity(t) - 1;
  bool more = true;
  while (more) {
    size_t i = hash_to_store(t, key) & mask;
    val k = UNBOUND, v = UNBOUND;
    while (*key_at(t, i) != UNBOUND && !BIT(old, i))
      i = (i + 1) & mask;
    more = BIT(old, i) && take_out(t, i, &k, &v);
    clear_bit(old, i);
    *key_at(t, i) = key;
    *value_at(t, i) = value;
    USED(t) += FIX(1) - FIX(0);
    key = k;
    value = v;
  }
}

static void forget_deaths(val t) {
  USED(t) = DELETED(t) = FIX(0);
  if (weakness_of(t) != TABLE_STRONG)
    WEAK_DEATHS(KEYS(t)) = WEAK_DEATHS(VALUES(t)) = FIX(0);
  mps_ld_reset(LD(t), vm.arena);
}

/* Without new arrays: they would bring the next collection closer, after
   which everything is hashed again. Nothing is allocated, so no key moves
   meanwhile; but where the arrays are behind a barrier, the first touch of
   them may still find dead keys: the first pass touches everything. */
static bool rehash_in_place(val t) {
  size_t n = capacity(t);
  unsigned char *old = calloc(n / 8, 1);
  if (old == NULL)
    return false;
  for (size_t i = 0; i < n; i++)
    if (*value_at(t, i) == TOMB || *key_at(t, i) == TOMB)
      *key_at(t, i) = *value_at(t, i) = UNBOUND;
    else if (*key_at(t, i) != UNBOUND)
      old[i / 8] |= (unsigned char)(1u << i % 8);
  forget_deaths(t);
  for (size_t i = 0; i < n; i++) {
    val k, v;
    if (!BIT(old, i))
      continue;
    clear_bit(old, i);
    if (take_out(t, i, &k, &v))
      put_moved(t, old, k, v);
  }
  free(old);
  return true;
}

/* Into new arrays. The old ones hang on a table that nobody else knows. */
static void rehash_to(val t, size_t n) {
  val old = make_object(T_TABLE, TABLE_WORDS - 1, FALSE);
  KEYS(old) = KEYS(t);
  VALUES(old) = VALUES(t);
  KIND(old) = KIND(t);
  make_arrays(t, n);
  for (size_t i = 0; i < capacity(old); i++) {
    PIN(old);
    val k = *key_at(old, i), v = *value_at(old, i);
    if (k != UNBOUND && k != TOMB)
      put_new(t, k, v);
  }
}

/* In arrays of the right size; in the old ones, if there is no need for
   others, where others might not be had: to look for a key takes no memory
   then. */
static void rehash(val t, bool need) {
  size_t n = LEAST, old = capacity(t);
  while (n < table_count(t) * 2 + 3)
    n *= 2;
  if ((n < old && n * 4 > old) ||
      (!(need && n > old) && !memory_has_room(2 * n * sizeof(val))))
    n = old;
  if (n != old || !rehash_in_place(t))
    rehash_to(t, n);
}

/* May the address of the key have changed since it was hashed? */
static bool is_stale(val t, val key) {
  if (compare_of(t) <= TABLE_EQV)
    return mps_ld_isstale(LD(t), vm.arena, (mps_addr_t)key);
  return mps_ld_isstale_any(LD(t), vm.arena);
}

static intptr_t find(val t, val key) {
  size_t unused;
  intptr_t at = probe(t, key, hash_to_find(t, key), &unused);
  if (at < 0 && by_address && is_stale(t, key)) {
    rehash(t, false);
    at = probe(t, key, hash_to_find(t, key), &unused);
  }
  return at;
}

val table_ref(val t, val key, val missing) {
  intptr_t at = find(t, key);
  return at < 0 ? missing : *value_at(t, (size_t)at);
}

void table_set(val t, val key, val value) {
  if (weakness_of(t) != TABLE_STRONG) {
    symbol_keep(key);
    symbol_keep(value);
  }
  intptr_t at = find(t, key);
  if (at >= 0) {
    *value_at(t, (size_t)at) = value;
    return;
  }
  if ((size_t)fix_int(USED(t)) * 4 >= capacity(t) * 3)
    rehash(t, true);
  put_new(t, key, value);
}

void table_delete(val t, val key) {
  intptr_t at = find(t, key);
  if (at < 0)
    return;
  *key_at(t, (size_t)at) = *value_at(t, (size_t)at) = TOMB;
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

/* A new table of the same kind. */
static val p_make_alike(int argc, val *argv) {
  (void)argc;
  val t = arg_table(argv, 0);
  return make_table(compare_of(t), weakness_of(t));
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

/* A list of (key . value), in no order that means anything. What is there
   at the start counts, so the arrays are held, not the table. */
static val p_to_alist(int argc, val *argv) {
  (void)argc;
  val t = arg_table(argv, 0), keys = KEYS(t), values = VALUES(t), list = NIL;
  size_t n = capacity(t), pair = is_ephemeral(t);
  for (size_t i = 0; i < n; i++) {
    PIN(keys);
    PIN(values);
    val k = SLOT(keys, FIRST + (i << pair));
    val v = SLOT(values, FIRST + (i << pair) + pair);
    if (k != UNBOUND && k != TOMB)
      list = cons(cons(k, v), list);
  }
  return list;
}

/* A fixnum, below the optional second argument. */
static val hash_result(int argc, val *argv, uint64_t h) {
  if (argc < 2)
    return FIX(h >> 8);
  if (arg_fix(argv, 1) < 1)
    raise_range(1, argv[1]);
  return FIX((h >> 8) % (size_t)arg_fix(argv, 1));
}

static val p_hash(int argc, val *argv) {
  int budget = HASH_MOST;
  purpose = TO_KEEP;
  return hash_result(argc, argv, hash_equal(argv[0], &budget));
}

static val p_string_hash(int argc, val *argv) {
  return hash_result(argc, argv, string_hash(arg_string(argv, 0)));
}

const struct prim prims_table[] = {
    {"%make-hash-table", p_make_table, 2, 2},
    {"%hash-table-copy:empty", p_make_alike, 1, 1},
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
