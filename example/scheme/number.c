/* Testudo: numbers as text in the Scheme interpreter. SPDX-License-Identifier:
 * BSD-2-Clause */
#include "bignum.h"

#include <ctype.h>
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- printing */

/* Does d > 0 with that many digits, rounded that way, read back as d? */
static bool reads_back(double d, int precision, int rounding, char text[40]) {
  (void)fesetround(rounding);
  snprintf(text, 40, "%.*e", precision - 1, d);
  (void)fesetround(FE_TONEAREST);
  return strtod(text, NULL) == d;
}

/* Digits of the shortest decimal that reads back as d > 0, without trailing
   zeros, and its exponent: d = 0.DIGITS * 10^exponent. Where d is a power of
   two, the next number below is half as far as the one above, so that the
   nearest decimal may be another number's while one above is d's. */
static int shortest_digits(double d, char *digits, int *exponent_o) {
  char text[40];
  int precision = d < 2.3e-308 ? 1 : 15;
  while (!reads_back(d, precision, FE_TONEAREST, text) &&
         !reads_back(d, precision, FE_UPWARD, text))
    precision++;
  int n = 0;
  char *p = text;
  for (; *p != 'e'; p++)
    if (isdigit((unsigned char)*p))
      digits[n++] = *p;
  while (n > 1 && digits[n - 1] == '0')
    n--;
  *exponent_o = atoi(p + 1) + 1;
  return n;
}

/* Without an exponent, unless that needs many zeros; the choice is Guile's.
   The first of n digits is that of 10^e. */
static bool is_plain(int n, int e) {
  return e >= -3 && e <= (n + 2 > 6 ? n + 2 : 6);
}

static void format_plain(char *out, const char *digits, int n, int point) {
  if (point <= 0) {
    out += sprintf(out, "0.");
    for (int i = point; i < 0; i++)
      *out++ = '0';
    memcpy(out, digits, (size_t)n);
    out[n] = 0;
    return;
  }
  for (int i = 0; i < point; i++)
    *out++ = i < n ? digits[i] : '0';
  *out++ = '.';
  if (n <= point)
    *out++ = '0';
  else
    memcpy(out, digits + point, (size_t)(n - point));
  out[n <= point ? 0 : n - point] = 0;
}

static char *double_to_c(double d) {
  char *s = c_string_new(64), digits[32], *p = s;
  int exponent;
  if (isnan(d) || isinf(d)) {
    strcpy(s, isnan(d) ? "+nan.0" : d > 0 ? "+inf.0" : "-inf.0");
    return s;
  }
  if (signbit(d))
    *p++ = '-';
  if (d == 0) {
    strcpy(p, "0.0");
    return s;
  }
  int n = shortest_digits(fabs(d), digits, &exponent);
  if (is_plain(n, exponent - 1)) {
    format_plain(p, digits, n, exponent);
  } else {
    *p++ = digits[0];
    *p++ = '.';
    memcpy(p, n > 1 ? digits + 1 : "0", (size_t)(n > 1 ? n - 1 : 1));
    p += n > 1 ? n - 1 : 1;
    sprintf(p, "e%d", exponent - 1);
  }
  return s;
}

/* ---- flonums in other radices

   Without an exponent, since e may be a digit. Fractions are scaled by
   2^FRACTION_BITS, so that half the distance of any two flonums is an
   integer. */

enum { FRACTION_BITS = 1075, MOST_DIGITS = 2400 };

static val scaled_fraction(double d) {
  val v = to_exact(make_flonum(d));
  val num = int_shift(numerator_of(v), FRACTION_BITS);
  return arith_quotient(num, denominator_of(v));
}

/* Digits of a fraction until what is left is less than near, half the
   distance to the next number: what is read then is the number itself. In a
   radix that is a power of two near is 0, and the digits come to an end. */
static void write_fraction(char *out, val rest, val near, int radix) {
  val one = int_shift(FIX(1), FRACTION_BITS);
  bool low, high;
  do {
    rest = int_mul(rest, FIX(radix));
    near = int_mul(near, FIX(radix));
    intptr_t digit = fix_int(int_shift(rest, -FRACTION_BITS));
    rest = int_sub(rest, int_shift(FIX(digit), FRACTION_BITS));
    low = rest == FIX(0) || int_compare(rest, near) < 0;
    high = int_compare(rest, int_sub(one, near)) > 0;
    if (high && (!low || int_bits(rest) == FRACTION_BITS))
      digit++;
    *out++ = "0123456789abcdefghijklmnopqrstuvwxyz"[digit];
  } while (!low && !high);
  *out = 0;
}

static bool is_power_of_two(int n) {
  return (n & (n - 1)) == 0;
}

/* d > 0 and finite, into room for MOST_DIGITS. */
static void write_positive(char *out, double d, int radix) {
  char *whole = int_to_c(int_from_double(floor(d)), radix);
  out += sprintf(out, "%s.", whole);
  c_string_free(whole);
  double fraction = d - floor(d);
  if (fraction == 0) {
    strcpy(out, "0");
    return;
  }
  val near = FIX(0);
  if (!is_power_of_two(radix))
    near = int_shift(scaled_fraction(d - nextafter(d, 0)), -1);
  write_fraction(out, scaled_fraction(fraction), near, radix);
}

static char *double_to_radix(double d, int radix) {
  if (!isfinite(d) || d == 0)
    return double_to_c(d);
  char text[MOST_DIGITS] = "-";
  write_positive(text + 1, fabs(d), radix);
  const char *first = d < 0 ? text : text + 1;
  return strcpy(c_string_new(strlen(first) + 1), first);
}

char *number_to_c(val v, int radix) {
  if (is_flonum(v))
    return radix == 10 ? double_to_c(flonum_double(v))
                       : double_to_radix(flonum_double(v), radix);
  if (!is_type(v, T_RATIO))
    return int_to_c(v, radix);
  char *a = int_to_c(RATIO_NUM(v), radix), *b = int_to_c(RATIO_DEN(v), radix);
  size_t n = strlen(a) + strlen(b) + 2;
  char *s = c_string_new(n);
  snprintf(s, n, "%s/%s", a, b);
  c_string_free(a);
  c_string_free(b);
  return s;
}

/* ---- parsing: FALSE for what is no number */

struct parse {
  const char *s, *end;
  int radix;
  char exactness; /* 'e', 'i' or 0 */
};

static bool is_digit(int c, int radix) {
  if (c >= '0' && c <= '9')
    return c - '0' < radix;
  c |= 32;
  return c >= 'a' && c - 'a' + 10 < radix;
}

static size_t count_digits(const char *s, const char *end, int radix) {
  const char *p = s;
  while (p < end && is_digit((unsigned char)*p, radix))
    p++;
  return (size_t)(p - s);
}

static val with_exactness(struct parse *p, val v) {
  return p->exactness == 'i' ? to_inexact(v) : v;
}

/* DIGITS * radix^scale, exactly. */
static val exact_decimal(const char *digits, size_t n, int radix,
                         intptr_t scale, bool negative) {
  val v = n == 0 ? FIX(0) : int_from_digits(digits, n, radix, negative);
  if (v == FIX(0))
    return v;
  if (scale > 100000 || scale < -100000)
    return FALSE;
  val power = arith_expt(FIX(radix), FIX(scale < 0 ? -scale : scale));
  return scale < 0 ? arith_div(v, power) : arith_mul(v, power);
}

static val parse_exact_decimal(struct parse *p, bool negative,
                               const char *whole, size_t nwhole,
                               const char *fraction, size_t nfraction,
                               intptr_t exponent) {
  char *digits = c_string_new(nwhole + nfraction + 1);
  memcpy(digits, whole, nwhole);
  memcpy(digits + nwhole, fraction, nfraction);
  digits[nwhole + nfraction] = 0;
  val v = exact_decimal(digits, nwhole + nfraction, p->radix,
                        exponent - (intptr_t)nfraction, negative);
  c_string_free(digits);
  return v;
}

static val parse_decimal(struct parse *p, bool negative) {
  const char *whole = p->s, *q = p->s;
  size_t nwhole = count_digits(q, p->end, 10), nfraction = 0;
  q += nwhole;
  const char *fraction = q;
  if (q < p->end && *q == '.') {
    fraction = ++q;
    nfraction = count_digits(q, p->end, 10);
    q += nfraction;
  }
  if (nwhole + nfraction == 0)
    return FALSE;
  intptr_t exponent = 0;
  if (q < p->end && (*q | 32) == 'e') {
    const char *e = ++q;
    if (q < p->end && (*q == '+' || *q == '-'))
      q++;
    size_t n = count_digits(q, p->end, 10);
    if (n == 0)
      return FALSE;
    size_t zeros = strspn(q, "0");
    exponent = n > 9 + zeros ? (*e == '-' ? -999999999 : 999999999) : atol(e);
    q += n;
  }
  if (q != p->end)
    return FALSE;
  if (p->exactness == 'e')
    return parse_exact_decimal(p, negative, whole, nwhole, fraction, nfraction,
                               exponent);
  double d = strtod(whole, NULL);
  return make_flonum(negative ? -d : d);
}

/* DIGITS . DIGITS in a radix other than ten. */
static val parse_point(struct parse *p, bool negative) {
  const char *whole = p->s;
  size_t nwhole = count_digits(whole, p->end, p->radix), nfraction;
  const char *fraction = whole + nwhole;
  if (fraction == p->end || *fraction++ != '.')
    return FALSE;
  nfraction = count_digits(fraction, p->end, p->radix);
  if (nwhole + nfraction == 0 || fraction + nfraction != p->end)
    return FALSE;
  val v =
      parse_exact_decimal(p, negative, whole, nwhole, fraction, nfraction, 0);
  if (v == FALSE || p->exactness == 'e')
    return v;
  return v == FIX(0) && negative ? make_flonum(-0.0) : to_inexact(v);
}

static val parse_rational(struct parse *p, bool negative) {
  size_t n = count_digits(p->s, p->end, p->radix);
  const char *q = p->s + n;
  if (n > 0 && q == p->end)
    return with_exactness(p, int_from_digits(p->s, n, p->radix, negative));
  if (n > 0 && *q == '/') {
    size_t m = count_digits(q + 1, p->end, p->radix);
    if (m == 0 || q + 1 + m != p->end)
      return FALSE;
    val num = int_from_digits(p->s, n, p->radix, negative);
    val den = int_from_digits(q + 1, m, p->radix, false);
    if (den == FIX(0))
      return FALSE;
    return with_exactness(p, make_ratio(num, den));
  }
  return p->radix == 10 ? parse_decimal(p, negative)
                        : parse_point(p, negative);
}

static val parse_special(struct parse *p, bool negative) {
  size_t n = (size_t)(p->end - p->s);
  if (p->exactness == 'e')
    return FALSE;
  if (n == 5 && strncasecmp(p->s, "inf.0", 5) == 0)
    return make_flonum(negative ? -INFINITY : INFINITY);
  if (n == 5 && strncasecmp(p->s, "nan.0", 5) == 0)
    return make_flonum(NAN);
  return FALSE;
}

static int prefix_radix(int c) {
  switch (c) {
  case 'x':
    return 16;
  case 'd':
    return 10;
  case 'o':
    return 8;
  case 'b':
    return 2;
  default:
    return 0;
  }
}

/* At most one of each kind. */
static bool parse_prefix(struct parse *p) {
  bool has_radix = false;
  for (; p->end - p->s >= 2 && p->s[0] == '#'; p->s += 2) {
    char c = (char)(p->s[1] | 32);
    int radix = prefix_radix(c);
    bool again = radix > 0 ? has_radix : p->exactness != 0;
    if (again || (radix == 0 && c != 'e' && c != 'i'))
      return false;
    if (radix == 0)
      p->exactness = c;
    else
      p->radix = radix;
    has_radix |= radix > 0;
  }
  return true;
}

/* s[n] must be readable and no part of a number: a zero, say. */
val parse_number(const char *s, size_t n, int radix) {
  struct parse p = {s, s + n, radix, 0};
  bool negative = false;
  if (n == 0 || !parse_prefix(&p) || p.s == p.end)
    return FALSE;
  if (*p.s == '+' || *p.s == '-') {
    negative = *p.s++ == '-';
    val v = parse_special(&p, negative);
    if (v != FALSE)
      return v;
  }
  if (p.s == p.end || (!is_digit((unsigned char)*p.s, p.radix) && *p.s != '.'))
    return FALSE;
  val v = parse_rational(&p, negative);
  return v;
}
