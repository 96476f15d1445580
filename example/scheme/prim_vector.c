/* Testudo: primitives on vectors and bytevectors. SPDX-License-Identifier:
 * BSD-2-Clause */
#include "scheme.h"

#include <string.h>

/* ---- vectors */

static val p_vectorp(int argc, val *argv) {
  (void)argc;
  return boolean(is_vector(argv[0]));
}

static val p_make_vector(int argc, val *argv) {
  size_t n = arg_index(argv, 0, (size_t)1 << 40);
  return make_vector(n, argc > 1 ? argv[1] : UNSPEC);
}

static val p_vector(int argc, val *argv) {
  val v = make_vector((size_t)argc, FALSE);
  for (int i = 0; i < argc; i++)
    VEC_REF(v, i) = argv[i];
  return v;
}

static val p_vector_length(int argc, val *argv) {
  (void)argc;
  return FIX(VEC_LEN(arg_vector(argv, 0)));
}

static size_t arg_position(val *argv, int i, size_t length) {
  size_t k = arg_index(argv, i, length);
  if (k == length)
    raise_range(i, argv[i]);
  return k;
}

static val p_vector_ref(int argc, val *argv) {
  (void)argc;
  val v = arg_vector(argv, 0);
  return VEC_REF(v, arg_position(argv, 1, VEC_LEN(v)));
}

static val p_vector_set(int argc, val *argv) {
  (void)argc;
  val v = arg_vector(argv, 0);
  VEC_REF(v, arg_position(argv, 1, VEC_LEN(v))) = argv[2];
  return UNSPEC;
}

static val p_vector_to_list(int argc, val *argv) {
  val v = arg_vector(argv, 0), list = NIL;
  size_t start, end;
  arg_range(argc, argv, 1, VEC_LEN(v), &start, &end);
  for (size_t i = end; i > start; i--) {
    PIN(v);
    list = cons(VEC_REF(v, i - 1), list);
  }
  return list;
}

static val p_list_to_vector(int argc, val *argv) {
  (void)argc;
  intptr_t n = list_length(argv[0]);
  if (n < 0)
    raise_type(0, argv[0], "list");
  val v = make_vector((size_t)n, FALSE);
  size_t i = 0;
  for (val l = argv[0]; l != NIL; l = CDR(l))
    VEC_REF(v, i++) = CAR(l);
  return v;
}

static val p_vector_fill(int argc, val *argv) {
  val v = arg_vector(argv, 0);
  size_t start, end;
  arg_range(argc, argv, 2, VEC_LEN(v), &start, &end);
  for (size_t i = start; i < end; i++)
    VEC_REF(v, i) = argv[1];
  return UNSPEC;
}

static val p_vector_copy(int argc, val *argv) {
  val v = arg_vector(argv, 0);
  size_t start, end;
  arg_range(argc, argv, 1, VEC_LEN(v), &start, &end);
  val r = make_vector(end - start, FALSE);
  if (end > start)
    memcpy(&VEC_REF(r, 0), &VEC_REF(v, start), (end - start) * sizeof(val));
  return r;
}

static val p_vector_copy_to(int argc, val *argv) {
  val to = arg_vector(argv, 0), from = arg_vector(argv, 2);
  size_t at = arg_index(argv, 1, VEC_LEN(to)), start, end;
  arg_range(argc, argv, 3, VEC_LEN(from), &start, &end);
  if (end - start > VEC_LEN(to) - at)
    raise_range(1, argv[1]);
  if (end > start)
    memmove(&VEC_REF(to, at), &VEC_REF(from, start),
            (end - start) * sizeof(val));
  return UNSPEC;
}

static val p_vector_append(int argc, val *argv) {
  size_t n = 0, at = 0;
  for (int i = 0; i < argc; i++)
    n += VEC_LEN(arg_vector(argv, i));
  val r = make_vector(n, FALSE);
  for (int i = 0; i < argc; i++) {
    size_t k = VEC_LEN(argv[i]);
    if (k > 0)
      memcpy(&VEC_REF(r, at), &VEC_REF(argv[i], 0), k * sizeof(val));
    at += k;
  }
  return r;
}

/* ---- bytevectors */

static val arg_bytes(val *argv, int i) {
  return arg_of(argv, i, T_BYTEVECTOR, "bytevector");
}

static unsigned char arg_byte(val *argv, int i) {
  intptr_t n = arg_fix(argv, i);
  if (n < 0 || n > 255)
    raise_type(i, argv[i], "byte");
  return (unsigned char)n;
}

static val make_bytes(size_t n) {
  val bv = make_leaf(T_BYTEVECTOR, sizeof(val) + n);
  BV_LEN(bv) = n;
  return bv;
}

static val p_bytevectorp(int argc, val *argv) {
  (void)argc;
  return boolean(is_type(argv[0], T_BYTEVECTOR));
}

static val p_make_bytevector(int argc, val *argv) {
  size_t n = arg_index(argv, 0, (size_t)1 << 40);
  unsigned char b = argc > 1 ? arg_byte(argv, 1) : 0;
  val bv = make_bytes(n);
  memset(BV_DATA(bv), b, n);
  return bv;
}

static val p_bytevector(int argc, val *argv) {
  val bv = make_bytes((size_t)argc);
  for (int i = 0; i < argc; i++)
    BV_DATA(bv)[i] = arg_byte(argv, i);
  return bv;
}

static val p_bytevector_length(int argc, val *argv) {
  (void)argc;
  return FIX(BV_LEN(arg_bytes(argv, 0)));
}

static val p_bytevector_ref(int argc, val *argv) {
  (void)argc;
  val bv = arg_bytes(argv, 0);
  return FIX(BV_DATA(bv)[arg_position(argv, 1, BV_LEN(bv))]);
}

static val p_bytevector_set(int argc, val *argv) {
  (void)argc;
  val bv = arg_bytes(argv, 0);
  size_t k = arg_position(argv, 1, BV_LEN(bv));
  BV_DATA(bv)[k] = arg_byte(argv, 2);
  return UNSPEC;
}

static val p_bytevector_copy(int argc, val *argv) {
  val bv = arg_bytes(argv, 0);
  size_t start, end;
  arg_range(argc, argv, 1, BV_LEN(bv), &start, &end);
  val r = make_bytes(end - start);
  memcpy(BV_DATA(r), BV_DATA(bv) + start, end - start);
  return r;
}

static val p_bytevector_copy_to(int argc, val *argv) {
  val to = arg_bytes(argv, 0), from = arg_bytes(argv, 2);
  size_t at = arg_index(argv, 1, BV_LEN(to)), start, end;
  arg_range(argc, argv, 3, BV_LEN(from), &start, &end);
  if (end - start > BV_LEN(to) - at)
    raise_range(1, argv[1]);
  memmove(BV_DATA(to) + at, BV_DATA(from) + start, end - start);
  return UNSPEC;
}

static val p_bytevector_fill(int argc, val *argv) {
  val bv = arg_bytes(argv, 0);
  unsigned char b = arg_byte(argv, 1);
  size_t start, end;
  arg_range(argc, argv, 2, BV_LEN(bv), &start, &end);
  memset(BV_DATA(bv) + start, b, end - start);
  return UNSPEC;
}

static val p_bytevector_append(int argc, val *argv) {
  size_t n = 0, at = 0;
  for (int i = 0; i < argc; i++)
    n += BV_LEN(arg_bytes(argv, i));
  val r = make_bytes(n);
  for (int i = 0; i < argc; i++) {
    memcpy(BV_DATA(r) + at, BV_DATA(argv[i]), BV_LEN(argv[i]));
    at += BV_LEN(argv[i]);
  }
  return r;
}

const struct prim prims_vector[] = {
    {"vector?", p_vectorp, 1, 1},
    {"make-vector", p_make_vector, 1, 2},
    {"vector", p_vector, 0, -1},
    {"vector-length", p_vector_length, 1, 1},
    {"vector-ref", p_vector_ref, 2, 2},
    {"vector-set!", p_vector_set, 3, 3},
    {"vector->list", p_vector_to_list, 1, 3},
    {"list->vector", p_list_to_vector, 1, 1},
    {"vector-fill!", p_vector_fill, 2, 4},
    {"vector-copy", p_vector_copy, 1, 3},
    {"subvector", p_vector_copy, 3, 3},
    {"vector-copy!", p_vector_copy_to, 3, 5},
    {"vector-append", p_vector_append, 0, -1},
    {"bytevector?", p_bytevectorp, 1, 1},
    {"make-bytevector", p_make_bytevector, 1, 2},
    {"bytevector", p_bytevector, 0, -1},
    {"bytevector-length", p_bytevector_length, 1, 1},
    {"bytevector-u8-ref", p_bytevector_ref, 2, 2},
    {"bytevector-u8-set!", p_bytevector_set, 3, 3},
    {"bytevector-copy", p_bytevector_copy, 1, 3},
    {"bytevector-copy!", p_bytevector_copy_to, 3, 5},
    {"bytevector-fill!", p_bytevector_fill, 2, 4},
    {"bytevector-append", p_bytevector_append, 0, -1},
    {NULL, NULL, 0, 0},
};
