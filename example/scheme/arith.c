/* Testudo: the numeric tower of the Scheme interpreter: integers, ratios,
   flonums. SPDX-License-Identifier: BSD-2-Clause */
#include "bignum.h"

#include <math.h>
#include <stdlib.h>

enum level { L_FIX, L_BIG, L_RATIO, L_FLO, L_NONE };

static enum level level_of(val v) {
  if (is_fix(v))
    return L_FIX;
  if (!is_ref(v))
    return L_NONE;
  switch (ref_type(v)) {
  case T_BIGNUM:
    return L_BIG;
  case T_RATIO:
    return L_RATIO;
  case T_FLONUM:
    return L_FLO;
  default:
    return L_NONE;
  }
}

bool is_number(val v) {
  return level_of(v) != L_NONE;
}

void number_error(const char *proc, int i, val bad) {
  char text[80];
  snprintf(text, sizeof text, "argument %d is not a number", i);
  raise_kind("type", proc, text, cons(bad, NIL));
}

static enum level common_level(const char *proc, val a, val b) {
  enum level la = level_of(a), lb = level_of(b);
  if (la == L_NONE)
    number_error(proc, 1, a);
  if (lb == L_NONE)
    number_error(proc, 2, b);
  return la > lb ? la : lb;
}

NORETURN static void division_by_zero(const char *proc) {
  raise_kind("division", proc, "division by zero", NIL);
}

/* ---- ratios */

static val ratio_new(val num, val den) {
  val r = make_object(T_RATIO, 2, FALSE);
  RATIO_NUM(r) = num;
  RATIO_DEN(r) = den;
  return r;
}

val make_ratio(val num, val den) {
  if (int_negative(den)) {
    num = int_negate(num);
    den = int_negate(den);
  }
  val g = int_gcd(num, den);
  if (g != FIX(1)) {
    int_divide(num, g, &num, NULL);
    int_divide(den, g, &den, NULL);
  }
  return den == FIX(1) ? num : ratio_new(num, den);
}

val numerator_of(val v) {
  return is_type(v, T_RATIO) ? RATIO_NUM(v) : v;
}

val denominator_of(val v) {
  return is_type(v, T_RATIO) ? RATIO_DEN(v) : FIX(1);
}

/* The quotient rounded to the nearest double: enough bits of it are computed
   that one rounding decides. */
static double ratio_to_double(val r) {
  val num = int_abs(RATIO_NUM(r)), den = RATIO_DEN(r), q, rest;
  intptr_t shift = (intptr_t)int_bits(den) - (intptr_t)int_bits(num) + 66;
  if (shift > 1075)
    shift = 1075; /* a subnormal has fewer bits: this is half its last one */
  if (shift > 0)
    num = int_shift(num, shift);
  else
    den = int_shift(den, -shift);
  int_divide(num, den, &q, &rest);
  if (rest != FIX(0))
    q = int_add(int_shift(q, 1), FIX(1));
  else
    q = int_shift(q, 1);
  double d = ldexp(int_to_double(q), (int)(-shift - 1));
  return int_negative(RATIO_NUM(r)) ? -d : d;
}

double to_double(val v) {
  switch (level_of(v)) {
  case L_FIX:
  case L_BIG:
    return int_to_double(v);
  case L_RATIO:
    return ratio_to_double(v);
  case L_FLO:
    return flonum_double(v);
  default:
    number_error(prim_name(), 1, v);
  }
}

/* ---- the four operations */

static val ratio_add(val a, val b, val (*op)(val, val)) {
  val x = int_mul(numerator_of(a), denominator_of(b));
  val y = int_mul(numerator_of(b), denominator_of(a));
  val den = int_mul(denominator_of(a), denominator_of(b));
  return make_ratio(op(x, y), den);
}

val arith_add(val a, val b) {
  switch (common_level("+", a, b)) {
  case L_FLO:
    return make_flonum(to_double(a) + to_double(b));
  case L_RATIO:
    return ratio_add(a, b, int_add);
  default:
    return int_add(a, b);
  }
}

val arith_sub(val a, val b) {
  switch (common_level("-", a, b)) {
  case L_FLO:
    return make_flonum(to_double(a) - to_double(b));
  case L_RATIO:
    return ratio_add(a, b, int_sub);
  default:
    return int_sub(a, b);
  }
}

val arith_mul(val a, val b) {
  switch (common_level("*", a, b)) {
  case L_FLO:
    return make_flonum(to_double(a) * to_double(b));
  case L_RATIO: {
    val num = int_mul(numerator_of(a), numerator_of(b));
    return make_ratio(num, int_mul(denominator_of(a), denominator_of(b)));
  }
  default:
    return int_mul(a, b);
  }
}

val arith_div(val a, val b) {
  enum level level = common_level("/", a, b);
  if (b == FIX(0))
    division_by_zero("/");
  if (level == L_FLO)
    return make_flonum(to_double(a) / to_double(b));
  val num = int_mul(numerator_of(a), denominator_of(b));
  return make_ratio(num, int_mul(denominator_of(a), numerator_of(b)));
}

val arith_negate(val a) {
  if (is_flonum(a))
    return make_flonum(-flonum_double(a));
  return arith_sub(FIX(0), a);
}

/* ---- comparison; exact against inexact is exact */

static int compare_doubles(double x, double y) {
  return isnan(x) || isnan(y) ? 2 : (x > y) - (x < y);
}

static int compare_exact(val a, val b) {
  if (is_integer_exact(a) && is_integer_exact(b))
    return int_compare(a, b);
  val x = int_mul(numerator_of(a), denominator_of(b));
  val y = int_mul(numerator_of(b), denominator_of(a));
  return int_compare(x, y);
}

static int compare_to_double(val exact, double d) {
  if (isnan(d))
    return 2;
  if (isinf(d))
    return d > 0 ? -1 : 1;
  if (is_fix(exact) && fix_int(exact) < (intptr_t)1 << 53 &&
      fix_int(exact) > -((intptr_t)1 << 53))
    return compare_doubles((double)fix_int(exact), d);
  return compare_exact(exact, to_exact(make_flonum(d)));
}

static int compare_named(const char *proc, val a, val b) {
  if (common_level(proc, a, b) != L_FLO)
    return compare_exact(a, b);
  if (is_flonum(a) && is_flonum(b))
    return compare_doubles(flonum_double(a), flonum_double(b));
  if (is_flonum(b))
    return compare_to_double(a, flonum_double(b));
  int c = compare_to_double(b, flonum_double(a));
  return c == 2 ? 2 : -c;
}

int arith_compare(val a, val b) {
  return compare_named(prim_name(), a, b);
}

bool arith_test_NUMEQ(val a, val b) {
  return compare_named("=", a, b) == 0;
}

bool arith_test_LT(val a, val b) {
  return compare_named("<", a, b) == -1;
}

bool arith_test_GT(val a, val b) {
  return compare_named(">", a, b) == 1;
}

bool arith_test_LE(val a, val b) {
  int c = compare_named("<=", a, b);
  return c == -1 || c == 0;
}

bool arith_test_GE(val a, val b) {
  int c = compare_named(">=", a, b);
  return c == 1 || c == 0;
}

bool arith_is_zero(val a) {
  if (is_flonum(a))
    return flonum_double(a) == 0;
  if (!is_number(a))
    number_error("zero?", 1, a);
  return a == FIX(0);
}

int arith_sign(val v) {
  if (is_flonum(v)) {
    double d = flonum_double(v);
    return (d > 0) - (d < 0);
  }
  v = numerator_of(v);
  return v == FIX(0) ? 0 : int_negative(v) ? -1 : 1;
}

/* ---- integers, flonums among them */

bool is_exact(val v) {
  return !is_flonum(v);
}

bool is_rational(val v) {
  return is_number(v) && (!is_flonum(v) || isfinite(flonum_double(v)));
}

bool is_integer(val v) {
  if (is_flonum(v))
    return isfinite(flonum_double(v)) &&
           flonum_double(v) == floor(flonum_double(v));
  return is_integer_exact(v);
}

static void check_integers(const char *proc, val a, val b) {
  if (!is_integer(a) || !is_integer(b)) {
    int i = is_integer(a) ? 2 : 1;
    char text[80];
    snprintf(text, sizeof text, "argument %d is not an integer", i);
    raise_kind("type", proc, text, cons(i == 1 ? a : b, NIL));
  }
  if (arith_is_zero(b))
    division_by_zero(proc);
}

/* The quotient of doubles may have been rounded up to an integer. Below 2^53
   the distance to the next one is more than what rounding does, and what is
   less than 1 is not rounded up to it. */
static val flonum_quotient(val a, val b, double (*round)(double),
                           val (*of_integers)(val, val)) {
  double x = to_double(a), y = to_double(b);
  if (fabs(x) < fmax(0x1p53, fabs(y)) || !isfinite(x))
    return make_flonum(round(x / y));
  return to_inexact(of_integers(int_from_double(x), int_from_double(y)));
}

val arith_quotient(val a, val b) {
  check_integers("quotient", a, b);
  if (is_flonum(a) || is_flonum(b))
    return flonum_quotient(a, b, trunc, arith_quotient);
  val q;
  int_divide(a, b, &q, NULL);
  return q;
}

val arith_remainder(val a, val b) {
  check_integers("remainder", a, b);
  if (is_flonum(a) || is_flonum(b))
    return make_flonum(fmod(to_double(a), to_double(b)));
  val r;
  int_divide(a, b, NULL, &r);
  return r;
}

val arith_modulo(val a, val b) {
  check_integers("modulo", a, b);
  if (is_flonum(a) || is_flonum(b)) {
    double x = to_double(a), y = to_double(b), m = fmod(x, y);
    return make_flonum(m != 0 && (m < 0) != (y < 0) ? m + y : m);
  }
  val r;
  int_divide(a, b, NULL, &r);
  return r != FIX(0) && int_negative(r) != int_negative(b) ? int_add(r, b) : r;
}

val arith_floor_quotient(val a, val b) {
  check_integers("floor-quotient", a, b);
  if (is_flonum(a) || is_flonum(b))
    return flonum_quotient(a, b, floor, arith_floor_quotient);
  val q, r;
  int_divide(a, b, &q, &r);
  if (r != FIX(0) && int_negative(r) != int_negative(b))
    q = int_sub(q, FIX(1));
  return q;
}

/* ---- exactness */

val to_exact(val v) {
  if (!is_flonum(v))
    return v;
  double d = flonum_double(v);
  if (!isfinite(d))
    raise_kind("type", "exact", "no exact representation", cons(v, NIL));
  if (d == floor(d))
    return int_from_double(d);
  int e;
  double m = frexp(d, &e);
  return make_ratio(FIX((intptr_t)ldexp(m, 53)), int_shift(FIX(1), 53 - e));
}

val to_inexact(val v) {
  return is_flonum(v) ? v : make_flonum(to_double(v));
}

/* ---- powers */

static val power_of(val base, uintptr_t n) {
  val result = FIX(1);
  for (;;) {
    if (n & 1)
      result = arith_mul(result, base);
    n >>= 1;
    if (n == 0)
      return result;
    base = arith_mul(base, base);
  }
}

/* Of an exact number other than 0, 1 and -1. */
static val exact_power(val base, val power) {
  size_t a = int_bits(numerator_of(base)), b = int_bits(denominator_of(base));
  size_t bits = (a > b ? a : b) - 1; /* the power has about n times as many */
  uintptr_t n = is_fix(power) ? (uintptr_t)labs(fix_int(power)) : UINTPTR_MAX;
  if (n > INT_MOST_WORDS * 64 / bits)
    int_too_large();
  val result = power_of(base, n);
  return int_negative(power) ? arith_div(FIX(1), result) : result;
}

static val integer_power(val base, val power) {
  if (power == FIX(0) || base == FIX(1))
    return FIX(1);
  if (base == FIX(-1))
    return int_odd(power) ? base : FIX(1);
  if (base == FIX(0))
    return int_negative(power) ? arith_div(FIX(1), base) : base;
  return exact_power(base, power);
}

/* A large odd power is even as a double, and so loses the sign. */
static double double_power(double base, val power) {
  double d = pow(fabs(base), to_double(power));
  return signbit(base) && int_odd(power) ? -d : d;
}

val arith_expt(val base, val power) {
  if (is_integer_exact(power) && is_exact(base))
    return integer_power(base, power);
  if (is_integer_exact(power))
    return make_flonum(double_power(flonum_double(base), power));
  if (base == FIX(1) ||
      (base == FIX(0) && arith_sign(power) > 0 && is_exact(power)))
    return base;
  return make_flonum(pow(to_double(base), to_double(power)));
}
