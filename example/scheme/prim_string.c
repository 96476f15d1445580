/* Testudo: primitives on strings. SPDX-License-Identifier: BSD-2-Clause */
#include "scheme.h"

#include <string.h>

static val p_stringp(int argc, val *argv) {
  (void)argc;
  return boolean(is_string(argv[0]));
}

static val p_make_string(int argc, val *argv) {
  size_t n = arg_index(argv, 0, (size_t)1 << 40);
  uint32_t c = argc > 1 ? arg_char(argv, 1) : ' ';
  val s = make_string(n, c > 255);
  for (size_t i = 0; i < n; i++)
    string_put(s, i, c);
  return s;
}

static val p_string(int argc, val *argv) {
  val s = make_string((size_t)argc, false);
  for (int i = 0; i < argc; i++)
    string_put(s, (size_t)i, arg_char(argv, i));
  return s;
}

static val p_string_length(int argc, val *argv) {
  (void)argc;
  return FIX(STRING_LEN(arg_string(argv, 0)));
}

static size_t arg_position(val *argv, int i, size_t length) {
  size_t k = arg_index(argv, i, length);
  if (k == length)
    raise_range(i, argv[i]);
  return k;
}

static val p_string_ref(int argc, val *argv) {
  (void)argc;
  val s = arg_string(argv, 0);
  return CHAR(string_get(s, arg_position(argv, 1, STRING_LEN(s))));
}

static val p_string_set(int argc, val *argv) {
  (void)argc;
  val s = arg_string(argv, 0);
  size_t k = arg_position(argv, 1, STRING_LEN(s));
  string_put(s, k, arg_char(argv, 2));
  return UNSPEC;
}

/* ---- comparison: the name says how, as for characters */

static int compare_folded(val a, val b) {
  return string_compare(string_foldcase(a), string_foldcase(b));
}

static bool ordered(const char *op, int c) {
  bool with_equal = op[1] == '=';
  switch (op[0]) {
  case '<':
    return with_equal ? c <= 0 : c < 0;
  case '>':
    return with_equal ? c >= 0 : c > 0;
  default:
    return c == 0;
  }
}

static val p_string_compare(int argc, val *argv) {
  const char *name = prim_name();
  bool ci = name[6] == '-', holds = true;
  const char *op = name + (ci ? 9 : 6);
  for (int i = 0; i < argc; i++)
    arg_string(argv, i);
  for (int i = 0; i + 1 < argc && holds; i++)
    holds = ordered(op, ci ? compare_folded(argv[i], argv[i + 1])
                           : string_compare(argv[i], argv[i + 1]));
  return boolean(holds);
}

/* ---- parts */

static val p_substring(int argc, val *argv) {
  val s = arg_string(argv, 0);
  size_t start, end;
  arg_range(argc, argv, 1, STRING_LEN(s), &start, &end);
  return substring(s, start, end);
}

static val p_string_append(int argc, val *argv) {
  size_t n = 0, at = 0;
  bool wide = false;
  for (int i = 0; i < argc; i++) {
    n += STRING_LEN(arg_string(argv, i));
    wide |= string_is_wide(argv[i]);
  }
  val r = make_string(n, wide);
  for (int i = 0; i < argc; i++) {
    string_copy(r, at, argv[i], 0, STRING_LEN(argv[i]));
    at += STRING_LEN(argv[i]);
  }
  return r;
}

static val p_string_copy_to(int argc, val *argv) {
  val to = arg_string(argv, 0), from = arg_string(argv, 2);
  size_t at = arg_index(argv, 1, STRING_LEN(to)), start, end;
  arg_range(argc, argv, 3, STRING_LEN(from), &start, &end);
  if (end - start > STRING_LEN(to) - at)
    raise_range(1, argv[1]);
  string_copy(to, at, from, start, end);
  return UNSPEC;
}

static val p_string_fill(int argc, val *argv) {
  val s = arg_string(argv, 0);
  uint32_t c = arg_char(argv, 1);
  size_t start, end;
  arg_range(argc, argv, 2, STRING_LEN(s), &start, &end);
  for (size_t i = start; i < end; i++)
    string_put(s, i, c);
  return UNSPEC;
}

/* ---- conversions */

static val p_string_to_list(int argc, val *argv) {
  val s = arg_string(argv, 0), list = NIL;
  size_t start, end;
  arg_range(argc, argv, 1, STRING_LEN(s), &start, &end);
  for (size_t i = end; i > start; i--) {
    PIN(s);
    list = cons(CHAR(string_get(s, i - 1)), list);
  }
  return list;
}

static val p_list_to_string(int argc, val *argv) {
  (void)argc;
  intptr_t n = list_length(argv[0]);
  if (n < 0)
    raise_type(0, argv[0], "list");
  val s = make_string((size_t)n, false);
  size_t i = 0;
  for (val l = argv[0]; l != NIL; l = CDR(l)) {
    if (!is_char(CAR(l)))
      raise_type(0, argv[0], "list of characters");
    string_put(s, i++, char_int(CAR(l)));
  }
  return s;
}

static val p_string_to_vector(int argc, val *argv) {
  val s = arg_string(argv, 0);
  size_t start, end;
  arg_range(argc, argv, 1, STRING_LEN(s), &start, &end);
  val v = make_vector(end - start, FALSE);
  for (size_t i = start; i < end; i++)
    VEC_REF(v, i - start) = CHAR(string_get(s, i));
  return v;
}

static val p_vector_to_string(int argc, val *argv) {
  val v = arg_vector(argv, 0);
  size_t start, end;
  arg_range(argc, argv, 1, VEC_LEN(v), &start, &end);
  val s = make_string(end - start, false);
  for (size_t i = start; i < end; i++) {
    if (!is_char(VEC_REF(v, i)))
      raise_type(0, v, "vector of characters");
    string_put(s, i - start, char_int(VEC_REF(v, i)));
  }
  return s;
}

static val p_string_to_utf8(int argc, val *argv) {
  val s = arg_string(argv, 0);
  size_t start, end, n;
  arg_range(argc, argv, 1, STRING_LEN(s), &start, &end);
  char *text = string_to_utf8(substring(s, start, end), &n);
  val bv = make_leaf(T_BYTEVECTOR, sizeof(val) + n);
  BV_LEN(bv) = n;
  memcpy(BV_DATA(bv), text, n);
  c_string_free(text);
  return bv;
}

static val p_utf8_to_string(int argc, val *argv) {
  val bv = arg_of(argv, 0, T_BYTEVECTOR, "bytevector");
  size_t start, end;
  arg_range(argc, argv, 1, BV_LEN(bv), &start, &end);
  char *copy = c_string_new(end - start + 1);
  memcpy(copy, BV_DATA(bv) + start, end - start);
  val s = string_from_utf8(copy, end - start);
  c_string_free(copy);
  return s;
}

/* ---- searching */

static val p_string_index(int argc, val *argv) {
  val s = arg_string(argv, 0);
  uint32_t c = arg_char(argv, 1);
  size_t start, end;
  arg_range(argc, argv, 2, STRING_LEN(s), &start, &end);
  for (size_t i = start; i < end; i++)
    if (string_get(s, i) == c)
      return FIX(i);
  return FALSE;
}

static bool matches_at(val s, size_t at, val part) {
  for (size_t i = 0; i < STRING_LEN(part); i++)
    if (string_get(s, at + i) != string_get(part, i))
      return false;
  return true;
}

static val p_string_contains(int argc, val *argv) {
  (void)argc;
  val s = arg_string(argv, 0), part = arg_string(argv, 1);
  size_t n = STRING_LEN(s), m = STRING_LEN(part);
  for (size_t i = 0; i + m <= n; i++)
    if (matches_at(s, i, part))
      return FIX(i);
  return FALSE;
}

static val p_string_null(int argc, val *argv) {
  (void)argc;
  return boolean(STRING_LEN(arg_string(argv, 0)) == 0);
}

const struct prim prims_string[] = {
    {"string?", p_stringp, 1, 1},
    {"make-string", p_make_string, 1, 2},
    {"string", p_string, 0, -1},
    {"string-length", p_string_length, 1, 1},
    {"string-ref", p_string_ref, 2, 2},
    {"string-set!", p_string_set, 3, 3},
    {"string=?", p_string_compare, 1, -1},
    {"string<?", p_string_compare, 1, -1},
    {"string>?", p_string_compare, 1, -1},
    {"string<=?", p_string_compare, 1, -1},
    {"string>=?", p_string_compare, 1, -1},
    {"string-ci=?", p_string_compare, 1, -1},
    {"string-ci<?", p_string_compare, 1, -1},
    {"string-ci>?", p_string_compare, 1, -1},
    {"string-ci<=?", p_string_compare, 1, -1},
    {"string-ci>=?", p_string_compare, 1, -1},
    {"substring", p_substring, 2, 3},
    {"string-copy", p_substring, 1, 3},
    {"string-append", p_string_append, 0, -1},
    {"string-copy!", p_string_copy_to, 3, 5},
    {"string-fill!", p_string_fill, 2, 4},
    {"string->list", p_string_to_list, 1, 3},
    {"list->string", p_list_to_string, 1, 1},
    {"string->vector", p_string_to_vector, 1, 3},
    {"vector->string", p_vector_to_string, 1, 3},
    {"string->utf8", p_string_to_utf8, 1, 3},
    {"utf8->string", p_utf8_to_string, 1, 3},
    {"string-index", p_string_index, 2, 4},
    {"string-contains", p_string_contains, 2, 2},
    {"string-null?", p_string_null, 1, 1},
    {NULL, NULL, 0, 0},
};
