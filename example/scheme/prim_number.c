/* Testudo: primitives on numbers. SPDX-License-Identifier: BSD-2-Clause */
#include "bignum.h"

#include <math.h>
#include <string.h>

/* ---- arguments */

static val arg_number(val *argv, int i) {
  if (!is_number(argv[i]))
    raise_type(i, argv[i], "number");
  return argv[i];
}

static val arg_integer(val *argv, int i) {
  if (!is_integer(argv[i]))
    raise_type(i, argv[i], "integer");
  return argv[i];
}

static val arg_exact(val *argv, int i) {
  if (!is_integer_exact(argv[i]))
    raise_type(i, argv[i], "exact integer");
  return argv[i];
}

/* ---- arithmetic of any number of arguments */

static val fold(int argc, val *argv, val unit, val (*op)(val, val)) {
  if (argc == 0)
    return unit;
  val acc = arg_number(argv, 0);
  for (int i = 1; i < argc; i++)
    acc = op(acc, arg_number(argv, i));
  return acc;
}

static val p_add(int argc, val *argv) {
  return fold(argc, argv, FIX(0), arith_add);
}

static val p_mul(int argc, val *argv) {
  return fold(argc, argv, FIX(1), arith_mul);
}

static val p_sub(int argc, val *argv) {
  if (argc == 1)
    return arith_negate(arg_number(argv, 0));
  return fold(argc, argv, FIX(0), arith_sub);
}

static val p_div(int argc, val *argv) {
  if (argc == 1)
    return arith_div(FIX(1), arg_number(argv, 0));
  return fold(argc, argv, FIX(1), arith_div);
}

static val chain(int argc, val *argv, bool (*test)(val, val)) {
  bool holds = true;
  for (int i = 0; i < argc; i++)
    arg_number(argv, i);
  for (int i = 0; i + 1 < argc; i++)
    holds = holds && test(argv[i], argv[i + 1]);
  return boolean(holds);
}

static val p_numeq(int argc, val *argv) {
  return chain(argc, argv, arith_test_NUMEQ);
}

static val p_lt(int argc, val *argv) {
  return chain(argc, argv, arith_test_LT);
}

static val p_gt(int argc, val *argv) {
  return chain(argc, argv, arith_test_GT);
}

static val p_le(int argc, val *argv) {
  return chain(argc, argv, arith_test_LE);
}

static val p_ge(int argc, val *argv) {
  return chain(argc, argv, arith_test_GE);
}

static bool is_nan(val v) {
  return is_flonum(v) && isnan(flonum_double(v));
}

static val extreme(int argc, val *argv, int wanted) {
  val best = arg_number(argv, 0);
  bool inexact = is_flonum(best);
  for (int i = 1; i < argc; i++) {
    int c = arith_compare(arg_number(argv, i), best);
    inexact |= is_flonum(argv[i]);
    if (c == wanted || (c == 2 && !is_nan(best)))
      best = argv[i];
  }
  return inexact ? to_inexact(best) : best;
}

static val p_max(int argc, val *argv) {
  return extreme(argc, argv, 1);
}

static val p_min(int argc, val *argv) {
  return extreme(argc, argv, -1);
}

/* ---- predicates */

static val p_numberp(int argc, val *argv) {
  (void)argc;
  return boolean(is_number(argv[0]));
}

static val p_rationalp(int argc, val *argv) {
  (void)argc;
  return boolean(is_rational(argv[0]));
}

static val p_integerp(int argc, val *argv) {
  (void)argc;
  return boolean(is_integer(argv[0]));
}

static val p_exactp(int argc, val *argv) {
  (void)argc;
  return boolean(is_exact(arg_number(argv, 0)));
}

static val p_inexactp(int argc, val *argv) {
  (void)argc;
  return boolean(!is_exact(arg_number(argv, 0)));
}

static val p_exact_integerp(int argc, val *argv) {
  (void)argc;
  return boolean(is_integer_exact(argv[0]));
}

static val p_finitep(int argc, val *argv) {
  (void)argc;
  return boolean(is_rational(arg_number(argv, 0)));
}

static val p_infinitep(int argc, val *argv) {
  (void)argc;
  val v = arg_number(argv, 0);
  return boolean(is_flonum(v) && isinf(flonum_double(v)));
}

static val p_nanp(int argc, val *argv) {
  (void)argc;
  return boolean(is_nan(arg_number(argv, 0)));
}

static val p_zerop(int argc, val *argv) {
  (void)argc;
  return boolean(arith_is_zero(arg_number(argv, 0)));
}

static val p_positivep(int argc, val *argv) {
  (void)argc;
  return boolean(arith_sign(arg_number(argv, 0)) > 0);
}

static val p_negativep(int argc, val *argv) {
  (void)argc;
  return boolean(arith_sign(arg_number(argv, 0)) < 0);
}

static bool is_odd(val v) {
  return is_flonum(v) ? fmod(flonum_double(v), 2) != 0 : int_odd(v);
}

static val p_oddp(int argc, val *argv) {
  (void)argc;
  return boolean(is_odd(arg_integer(argv, 0)));
}

static val p_evenp(int argc, val *argv) {
  (void)argc;
  return boolean(!is_odd(arg_integer(argv, 0)));
}

/* ---- division */

static val p_quotient(int argc, val *argv) {
  (void)argc;
  return arith_quotient(argv[0], argv[1]);
}

static val p_remainder(int argc, val *argv) {
  (void)argc;
  return arith_remainder(argv[0], argv[1]);
}

static val p_modulo(int argc, val *argv) {
  (void)argc;
  return arith_modulo(argv[0], argv[1]);
}

static val p_floor_quotient(int argc, val *argv) {
  (void)argc;
  return arith_floor_quotient(argv[0], argv[1]);
}

static val gcd(val a, val b) {
  if (is_flonum(a) || is_flonum(b)) {
    val g = int_gcd(to_exact(a), to_exact(b));
    return to_inexact(g);
  }
  return int_gcd(a, b);
}

static val p_gcd(int argc, val *argv) {
  val g = FIX(0);
  for (int i = 0; i < argc; i++)
    g = gcd(g, arg_integer(argv, i));
  return g;
}

static val lcm(val a, val b) {
  if (arith_is_zero(a) || arith_is_zero(b))
    return is_exact(a) && is_exact(b) ? FIX(0) : make_flonum(0);
  val g = gcd(a, b);
  val r = arith_mul(arith_quotient(a, g), b);
  return arith_sign(r) < 0 ? arith_negate(r) : r;
}

static val p_lcm(int argc, val *argv) {
  val m = FIX(1);
  for (int i = 0; i < argc; i++)
    m = lcm(m, arg_integer(argv, i));
  return m;
}

static val p_abs(int argc, val *argv) {
  (void)argc;
  val v = arg_number(argv, 0);
  if (is_flonum(v))
    return make_flonum(fabs(flonum_double(v)));
  return arith_sign(v) < 0 ? arith_negate(v) : v;
}

/* ---- rationals and rounding */

static val part(val *argv, val (*of)(val)) {
  val v = arg_number(argv, 0);
  if (!is_rational(v))
    raise_type(0, v, "rational number");
  return is_flonum(v) ? to_inexact(of(to_exact(v))) : of(v);
}

static val p_numerator(int argc, val *argv) {
  (void)argc;
  return part(argv, numerator_of);
}

static val p_denominator(int argc, val *argv) {
  (void)argc;
  return part(argv, denominator_of);
}

static val ratio_floor(val v) {
  return arith_floor_quotient(numerator_of(v), denominator_of(v));
}

static val ratio_round(val v) {
  val half = make_ratio(FIX(1), FIX(2));
  val up = ratio_floor(arith_add(v, half));
  bool tie = is_type(v, T_RATIO) && RATIO_DEN(v) == FIX(2);
  return tie && int_odd(up) ? int_sub(up, FIX(1)) : up;
}

static val p_floor(int argc, val *argv) {
  (void)argc;
  val v = arg_number(argv, 0);
  return is_flonum(v) ? make_flonum(floor(flonum_double(v))) : ratio_floor(v);
}

static val p_ceiling(int argc, val *argv) {
  (void)argc;
  val v = arg_number(argv, 0);
  if (is_flonum(v))
    return make_flonum(ceil(flonum_double(v)));
  return int_negate(ratio_floor(arith_negate(v)));
}

static val p_truncate(int argc, val *argv) {
  (void)argc;
  val v = arg_number(argv, 0);
  if (is_flonum(v))
    return make_flonum(trunc(flonum_double(v)));
  return arith_quotient(numerator_of(v), denominator_of(v));
}

static val p_round(int argc, val *argv) {
  (void)argc;
  val v = arg_number(argv, 0);
  return is_flonum(v) ? make_flonum(nearbyint(flonum_double(v)))
                      : ratio_round(v);
}

static val p_exact(int argc, val *argv) {
  (void)argc;
  return to_exact(arg_number(argv, 0));
}

static val p_inexact(int argc, val *argv) {
  (void)argc;
  return to_inexact(arg_number(argv, 0));
}

/* ---- transcendental functions */

/* v * 2^bits, exact. */
static val scaled(val v, intptr_t bits) {
  val power = int_shift(FIX(1), bits < 0 ? -bits : bits);
  return bits < 0 ? arith_div(v, power) : arith_mul(v, power);
}

static val real_function(val *argv, double (*f)(double)) {
  return make_flonum(f(to_double(arg_number(argv, 0))));
}

static val p_exp(int argc, val *argv) {
  (void)argc;
  return argv[0] == FIX(0) ? FIX(1) : real_function(argv, exp);
}

/* A number beyond the range of doubles is r * 2^e. */
static double log_of(val v) {
  double d = to_double(v);
  if (is_flonum(v) || arith_sign(v) <= 0 || isnormal(d))
    return log(d);
  intptr_t e = (intptr_t)int_bits(numerator_of(v)) -
               (intptr_t)int_bits(denominator_of(v));
  return log(to_double(scaled(v, -e))) + (double)e * log(2);
}

static val p_log(int argc, val *argv) {
  double d = log_of(arg_number(argv, 0));
  if (argc == 2)
    d /= log_of(arg_number(argv, 1));
  return argc == 1 && argv[0] == FIX(1) ? FIX(0) : make_flonum(d);
}

static val p_sin(int argc, val *argv) {
  (void)argc;
  return argv[0] == FIX(0) ? FIX(0) : real_function(argv, sin);
}

static val p_cos(int argc, val *argv) {
  (void)argc;
  return argv[0] == FIX(0) ? FIX(1) : real_function(argv, cos);
}

static val p_tan(int argc, val *argv) {
  (void)argc;
  return argv[0] == FIX(0) ? FIX(0) : real_function(argv, tan);
}

static val p_asin(int argc, val *argv) {
  (void)argc;
  return argv[0] == FIX(0) ? FIX(0) : real_function(argv, asin);
}

static val p_acos(int argc, val *argv) {
  (void)argc;
  return argv[0] == FIX(1) ? FIX(0) : real_function(argv, acos);
}

static val p_atan(int argc, val *argv) {
  if (argc == 1)
    return argv[0] == FIX(0) ? FIX(0) : real_function(argv, atan);
  if (argv[0] == FIX(0) && is_exact(arg_number(argv, 1)) &&
      arith_sign(argv[1]) > 0)
    return FIX(0);
  return make_flonum(
      atan2(to_double(arg_number(argv, 0)), to_double(arg_number(argv, 1))));
}

static val exact_root(val v) {
  val rest;
  if (!is_integer_exact(v) || int_negative(v))
    return FALSE;
  val root = int_sqrt(v, &rest);
  return rest == FIX(0) ? root : FALSE;
}

/* Root of a positive exact number: an integer root with more bits than a
   double has, and one more bit that says whether there is a rest. */
static double rounded_root(val v) {
  intptr_t bits = (intptr_t)int_bits(denominator_of(v)) -
                  (intptr_t)int_bits(numerator_of(v));
  intptr_t k = bits / 2 + 66;
  if (k > 1075)
    k = 1075; /* a subnormal has fewer bits */
  val w = scaled(v, 2 * k), rest;
  val root =
      int_sqrt(arith_quotient(numerator_of(w), denominator_of(w)), &rest);
  bool exact = rest == FIX(0) && is_integer_exact(w);
  root = int_add(int_shift(root, 1), FIX(!exact));
  return ldexp(int_to_double(root), (int)(k < -9999 ? 9999 : -k - 1));
}

/* Root of an integer that is exact as a double. */
static val small_root(intptr_t n) {
  double d = sqrt((double)n);
  intptr_t root = (intptr_t)d;
  return root * root == n ? FIX(root) : make_flonum(d);
}

static val p_sqrt(int argc, val *argv) {
  (void)argc;
  val v = arg_number(argv, 0);
  if (arith_sign(v) < 0)
    raise_type(0, v, "non-negative number");
  if (is_flonum(v))
    return make_flonum(sqrt(flonum_double(v)));
  if (is_fix(v) && fix_int(v) <= (intptr_t)1 << 53)
    return small_root(fix_int(v));
  val a = exact_root(numerator_of(v)), b = exact_root(denominator_of(v));
  return a != FALSE && b != FALSE ? make_ratio(a, b)
                                  : make_flonum(rounded_root(v));
}

static val values2(val a, val b) {
  val v = make_object(T_VALUES, 2, a);
  SLOT(v, 2) = b;
  return v;
}

static val p_exact_integer_sqrt(int argc, val *argv) {
  (void)argc;
  val rest, v = arg_exact(argv, 0);
  if (int_negative(v))
    raise_type(0, v, "non-negative exact integer");
  val root = int_sqrt(v, &rest);
  return values2(root, rest);
}

static val p_expt(int argc, val *argv) {
  (void)argc;
  return arith_expt(arg_number(argv, 0), arg_number(argv, 1));
}

/* ---- text */

static int arg_radix(int argc, val *argv) {
  intptr_t r = argc > 1 ? arg_fix(argv, 1) : 10;
  if (r < 2 || r > 36)
    raise_range(1, argv[1]);
  return (int)r;
}

static val p_number_to_string(int argc, val *argv) {
  char *s = number_to_c(arg_number(argv, 0), arg_radix(argc, argv));
  val v = string_from_c(s);
  c_string_free(s);
  return v;
}

static val p_string_to_number(int argc, val *argv) {
  size_t n;
  int radix = arg_radix(argc, argv);
  char *s = string_to_utf8(arg_string(argv, 0), &n);
  val v = strlen(s) == n ? parse_number(s, n, radix) : FALSE;
  c_string_free(s);
  return v;
}

/* ---- bits, and numbers for simulations */

static val p_shift(int argc, val *argv) {
  (void)argc;
  val v = arg_exact(argv, 0);
  intptr_t n = arg_fix(argv, 1);
  if (n >= 0 || !int_negative(v))
    return int_shift(v, n);
  /* the bits that are dropped are those of -1 - v, turned over */
  return arith_sub(FIX(-1), int_shift(arith_sub(FIX(-1), v), n));
}

static val bitwise(int argc, val *argv, intptr_t unit, int op) {
  val acc = FIX(unit);
  for (int i = 0; i < argc; i++)
    acc = int_bitwise(op, acc, arg_exact(argv, i));
  return acc;
}

static val p_logand(int argc, val *argv) {
  return bitwise(argc, argv, -1, '&');
}

static val p_logior(int argc, val *argv) {
  return bitwise(argc, argv, 0, '|');
}

static val p_logxor(int argc, val *argv) {
  return bitwise(argc, argv, 0, '^');
}

static val p_random(int argc, val *argv) {
  static uint64_t state = 88172645463325252u;
  (void)argc;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  if (is_flonum(argv[0]))
    return make_flonum((double)(state >> 11) * 0x1p-53 *
                       flonum_double(argv[0]));
  intptr_t n = arg_fix(argv, 0);
  if (n <= 0)
    raise_range(0, argv[0]);
  return FIX(state % (uintptr_t)n);
}

const struct prim prims_number[] = {
    {"+", p_add, 0, -1},
    {"*", p_mul, 0, -1},
    {"-", p_sub, 1, -1},
    {"/", p_div, 1, -1},
    {"=", p_numeq, 1, -1},
    {"<", p_lt, 1, -1},
    {">", p_gt, 1, -1},
    {"<=", p_le, 1, -1},
    {">=", p_ge, 1, -1},
    {"max", p_max, 1, -1},
    {"min", p_min, 1, -1},
    {"number?", p_numberp, 1, 1},
    {"complex?", p_numberp, 1, 1},
    {"real?", p_numberp, 1, 1},
    {"rational?", p_rationalp, 1, 1},
    {"integer?", p_integerp, 1, 1},
    {"exact?", p_exactp, 1, 1},
    {"inexact?", p_inexactp, 1, 1},
    {"exact-integer?", p_exact_integerp, 1, 1},
    {"finite?", p_finitep, 1, 1},
    {"infinite?", p_infinitep, 1, 1},
    {"nan?", p_nanp, 1, 1},
    {"zero?", p_zerop, 1, 1},
    {"positive?", p_positivep, 1, 1},
    {"negative?", p_negativep, 1, 1},
    {"odd?", p_oddp, 1, 1},
    {"even?", p_evenp, 1, 1},
    {"quotient", p_quotient, 2, 2},
    {"remainder", p_remainder, 2, 2},
    {"modulo", p_modulo, 2, 2},
    {"truncate-quotient", p_quotient, 2, 2},
    {"truncate-remainder", p_remainder, 2, 2},
    {"floor-quotient", p_floor_quotient, 2, 2},
    {"floor-remainder", p_modulo, 2, 2},
    {"gcd", p_gcd, 0, -1},
    {"lcm", p_lcm, 0, -1},
    {"abs", p_abs, 1, 1},
    {"magnitude", p_abs, 1, 1},
    {"numerator", p_numerator, 1, 1},
    {"denominator", p_denominator, 1, 1},
    {"floor", p_floor, 1, 1},
    {"ceiling", p_ceiling, 1, 1},
    {"truncate", p_truncate, 1, 1},
    {"round", p_round, 1, 1},
    {"exact", p_exact, 1, 1},
    {"inexact", p_inexact, 1, 1},
    {"inexact->exact", p_exact, 1, 1},
    {"exact->inexact", p_inexact, 1, 1},
    {"exp", p_exp, 1, 1},
    {"log", p_log, 1, 2},
    {"sin", p_sin, 1, 1},
    {"cos", p_cos, 1, 1},
    {"tan", p_tan, 1, 1},
    {"asin", p_asin, 1, 1},
    {"acos", p_acos, 1, 1},
    {"atan", p_atan, 1, 2},
    {"sqrt", p_sqrt, 1, 1},
    {"exact-integer-sqrt", p_exact_integer_sqrt, 1, 1},
    {"expt", p_expt, 2, 2},
    {"number->string", p_number_to_string, 1, 2},
    {"string->number", p_string_to_number, 1, 2},
    {"arithmetic-shift", p_shift, 2, 2},
    {"ash", p_shift, 2, 2},
    {"bitwise-and", p_logand, 0, -1},
    {"bitwise-ior", p_logior, 0, -1},
    {"bitwise-xor", p_logxor, 0, -1},
    {"logand", p_logand, 0, -1},
    {"logior", p_logior, 0, -1},
    {"logxor", p_logxor, 0, -1},
    {"random", p_random, 1, 1},
    {NULL, NULL, 0, 0},
};
