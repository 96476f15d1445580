/* Testudo: exact integers of the Scheme interpreter. SPDX-License-Identifier:
   BSD-2-Clause

   An exact integer is a fixnum or a bignum. All functions take either and
   return whichever fits. */
#ifndef SCHEME_BIGNUM_H
#define SCHEME_BIGNUM_H

#include "scheme.h"

#include <gmp.h>

struct big {
  mp_limb_t *p;
  size_t n;
  bool negative;
};

/* Limbs of an integer; those of a fixnum are put into *small. */
struct big big_view(val v, mp_limb_t *small);
val big_result(const mp_limb_t *p, size_t n, bool negative);
mp_limb_t *big_scratch(int i, size_t n);

bool is_integer_exact(val v);
bool int_negative(val v);
bool int_odd(val v);
int int_compare(val x, val y);
val int_add(val x, val y);
val int_sub(val x, val y);
val int_mul(val x, val y);
/* Truncating; y is not zero; outputs may be null. */
void int_divide(val x, val y, val *q_o, val *r_o);
val int_negate(val x);
val int_abs(val x);
val int_gcd(val x, val y);
/* Of x >= 0; x = root^2 + *rest_o. */
val int_sqrt(val x, val *rest_o);
val int_shift(val x, intptr_t bits);
/* The bits of both in two's complement: op is '&', '|' or '^'. */
val int_bitwise(int op, val x, val y);
/* No result may have more words than that. */
#define INT_MOST_WORDS ((size_t)1 << 32)
NORETURN void int_too_large(void);
size_t int_bits(val x);
double int_to_double(val x);
val int_from_double(double d);
char *int_to_c(val x, int radix); /* a C string */
val int_from_digits(const char *s, size_t n, int radix, bool negative);

/* ---- arith.c, beyond scheme.h */

val make_ratio(val num, val den); /* in lowest terms; den is not zero */
val numerator_of(val v);
val denominator_of(val v);
bool is_exact(val v);
bool is_rational(val v);
bool is_integer(val v); /* flonums too */
val to_exact(val v);
val to_inexact(val v);
int arith_sign(val v);
val arith_modulo(val a, val b);
val arith_floor_quotient(val a, val b);
val arith_expt(val base, val power);
NORETURN void number_error(const char *proc, int i, val bad);

#endif /* SCHEME_BIGNUM_H */
