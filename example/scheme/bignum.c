/* Testudo: exact integers of the Scheme interpreter. SPDX-License-Identifier:
   BSD-2-Clause

   A bignum is a leaf object of limbs, without leading zeros, too large for a
   fixnum; a flag is its sign. Results are computed in scratch memory by the
   low-level functions of GMP and then copied to an object of the right
   size, so that no limb pointer is in use while memory is allocated. */
#include "bignum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- scratch memory */

enum { SCRATCHES = 4 };

static struct {
  mp_limb_t *limbs;
  size_t size;
} scratch[SCRATCHES];

mp_limb_t *big_scratch(int i, size_t n) {
  if (scratch[i].size < n) {
    mp_limb_t *p = realloc(scratch[i].limbs, (n + 64) * sizeof *p);
    if (p == NULL)
      raise_kind("memory", NULL, "out of memory", NIL);
    scratch[i].limbs = p;
    scratch[i].size = n + 64;
  }
  return scratch[i].limbs;
}

/* ---- views and results */

struct big big_view(val v, mp_limb_t *small) {
  if (is_fix(v)) {
    intptr_t n = fix_int(v);
    *small = n < 0 ? -(mp_limb_t)n : (mp_limb_t)n;
    return (struct big){small, n != 0, n < 0};
  }
  return (struct big){(mp_limb_t *)&SLOT(v, 1), obj_words(v) - 1,
                      HEADER_FLAG(*obj(v)) != 0};
}

val big_result(const mp_limb_t *p, size_t n, bool negative) {
  while (n > 0 && p[n - 1] == 0)
    n--;
  if (n == 0)
    return FIX(0);
  if (n == 1 && p[0] <= (mp_limb_t)FIX_MAX + negative)
    return FIX(negative ? -(intptr_t)p[0] : (intptr_t)p[0]);
  val v = make_leaf(T_BIGNUM, n * sizeof *p);
  memcpy(&SLOT(v, 1), p, n * sizeof *p);
  if (negative)
    *obj(v) = HEADER_WITH_FLAG(*obj(v), 1);
  return v;
}

val integer_from_int(intptr_t n) {
  if (fits_fix(n))
    return FIX(n);
  mp_limb_t limb = n < 0 ? -(mp_limb_t)n : (mp_limb_t)n;
  return big_result(&limb, 1, n < 0);
}

bool is_integer_exact(val v) {
  return is_fix(v) || is_type(v, T_BIGNUM);
}

bool int_negative(val v) {
  return is_fix(v) ? fix_int(v) < 0 : HEADER_FLAG(*obj(v)) != 0;
}

/* ---- arithmetic */

static int compare_limbs(struct big a, struct big b) {
  if (a.n != b.n)
    return a.n < b.n ? -1 : 1;
  return a.n == 0 ? 0 : mpn_cmp(a.p, b.p, (mp_size_t)a.n);
}

int int_compare(val x, val y) {
  if (is_fix(x) && is_fix(y))
    return ((intptr_t)x > (intptr_t)y) - ((intptr_t)x < (intptr_t)y);
  mp_limb_t sx, sy;
  struct big a = big_view(x, &sx), b = big_view(y, &sy);
  if (a.negative != b.negative)
    return a.negative ? -1 : 1;
  int c = compare_limbs(a, b);
  return a.negative ? -c : c;
}

/* |a| + |b| or |a| - |b|, with the sign of the larger. */
static val add_signed(struct big a, struct big b) {
  int c = compare_limbs(a, b);
  if (c < 0) {
    struct big t = a;
    a = b;
    b = t;
  }
  mp_limb_t *r = big_scratch(0, a.n + 1);
  mp_size_t an = (mp_size_t)a.n, bn = (mp_size_t)b.n;
  r[a.n] = 0;
  if (b.n == 0)
    return big_result(a.p, a.n, a.negative);
  if (a.negative == b.negative)
    r[a.n] = mpn_add(r, a.p, an, b.p, bn);
  else if (c == 0)
    return FIX(0);
  else
    mpn_sub(r, a.p, an, b.p, bn);
  return big_result(r, a.n + 1, a.negative);
}

val int_add(val x, val y) {
  mp_limb_t sx, sy;
  return add_signed(big_view(x, &sx), big_view(y, &sy));
}

val int_sub(val x, val y) {
  mp_limb_t sx, sy;
  struct big b = big_view(y, &sy);
  b.negative = !b.negative;
  return add_signed(big_view(x, &sx), b);
}

val int_mul(val x, val y) {
  mp_limb_t sx, sy;
  struct big a = big_view(x, &sx), b = big_view(y, &sy);
  if (a.n == 0 || b.n == 0)
    return FIX(0);
  if (a.n < b.n) {
    struct big t = a;
    a = b;
    b = t;
  }
  mp_limb_t *r = big_scratch(0, a.n + b.n);
  if (x == y)
    mpn_sqr(r, a.p, (mp_size_t)a.n);
  else
    mpn_mul(r, a.p, (mp_size_t)a.n, b.p, (mp_size_t)b.n);
  return big_result(r, a.n + b.n, a.negative != b.negative);
}

void int_divide(val x, val y, val *q_o, val *r_o) {
  mp_limb_t sx, sy;
  struct big a = big_view(x, &sx), b = big_view(y, &sy);
  if (a.n < b.n) {
    if (q_o != NULL)
      *q_o = FIX(0);
    if (r_o != NULL)
      *r_o = x;
    return;
  }
  mp_limb_t *q = big_scratch(0, a.n - b.n + 1), *r = big_scratch(1, b.n);
  bool negative = a.negative, opposite = a.negative != b.negative;
  size_t qn = a.n - b.n + 1, rn = b.n;
  mpn_tdiv_qr(q, r, 0, a.p, (mp_size_t)a.n, b.p, (mp_size_t)b.n);
  if (q_o != NULL)
    *q_o = big_result(q, qn, opposite);
  if (r_o != NULL)
    *r_o = big_result(r, rn, negative);
}

val int_negate(val x) {
  return int_sub(FIX(0), x);
}

val int_abs(val x) {
  return int_negative(x) ? int_negate(x) : x;
}

/* The value of z, which is cleared. */
static val take_mpz(mpz_t z) {
  size_t n = mpz_size(z);
  bool negative = mpz_sgn(z) < 0;
  mp_limb_t *r = big_scratch(0, n + 1);
  if (n > 0)
    memcpy(r, mpz_limbs_read(z), n * sizeof *r);
  mpz_clear(z);
  return big_result(r, n, negative);
}

static mpz_srcptr mpz_of(mpz_t z, struct big a) {
  mp_size_t n = (mp_size_t)a.n;
  return mpz_roinit_n(z, a.p, a.negative ? -n : n);
}

val int_gcd(val x, val y) {
  mp_limb_t sx, sy;
  mpz_t za, zb, zr;
  mpz_init(zr);
  mpz_gcd(zr, mpz_of(za, big_view(x, &sx)), mpz_of(zb, big_view(y, &sy)));
  return take_mpz(zr);
}

val int_bitwise(int op, val x, val y) {
  if (is_fix(x) && is_fix(y)) {
    intptr_t m = fix_int(x), n = fix_int(y);
    return FIX(op == '&' ? m & n : op == '|' ? m | n : m ^ n);
  }
  mp_limb_t sx, sy;
  mpz_t za, zb, zr;
  mpz_srcptr a = mpz_of(za, big_view(x, &sx)),
             b = mpz_of(zb, big_view(y, &sy));
  mpz_init(zr);
  if (op == '&')
    mpz_and(zr, a, b);
  else if (op == '|')
    mpz_ior(zr, a, b);
  else
    mpz_xor(zr, a, b);
  return take_mpz(zr);
}

val int_sqrt(val x, val *rest_o) {
  mp_limb_t sx;
  struct big a = big_view(x, &sx);
  *rest_o = FIX(0);
  if (a.n == 0)
    return FIX(0);
  mp_limb_t *s = big_scratch(0, (a.n + 1) / 2), *r = big_scratch(1, a.n);
  size_t sn = (a.n + 1) / 2;
  size_t rn = (size_t)mpn_sqrtrem(s, r, a.p, (mp_size_t)a.n);
  val root = big_result(s, sn, false);
  *rest_o = big_result(r, rn, false);
  return root;
}

void int_too_large(void) {
  raise_kind("memory", NULL, "number too large", NIL);
}

/* x * 2^bits; a negative shift drops bits towards zero. */
val int_shift(val x, intptr_t bits) {
  mp_limb_t sx;
  struct big a = big_view(x, &sx);
  size_t words = (size_t)(bits < 0 ? -bits : bits) / 64;
  unsigned rest = (unsigned)((bits < 0 ? -bits : bits) % 64);
  if (a.n == 0 || (bits < 0 && words >= a.n))
    return FIX(0);
  if (bits < 0) {
    mp_limb_t *r = big_scratch(0, a.n - words);
    memcpy(r, a.p + words, (a.n - words) * sizeof *r);
    if (rest > 0)
      mpn_rshift(r, r, (mp_size_t)(a.n - words), rest);
    return big_result(r, a.n - words, a.negative);
  }
  if (words > INT_MOST_WORDS)
    int_too_large();
  mp_limb_t *r = big_scratch(0, a.n + words + 1);
  memset(r, 0, words * sizeof *r);
  memcpy(r + words, a.p, a.n * sizeof *r);
  r[a.n + words] = 0;
  if (rest > 0)
    r[a.n + words] = mpn_lshift(r + words, r + words, (mp_size_t)a.n, rest);
  return big_result(r, a.n + words + 1, a.negative);
}

size_t int_bits(val x) {
  mp_limb_t sx;
  struct big a = big_view(x, &sx);
  if (a.n == 0)
    return 0;
  return a.n * 64 - (size_t)__builtin_clzl(a.p[a.n - 1]);
}

bool int_odd(val x) {
  return is_fix(x) ? fix_int(x) & 1 : SLOT(x, 1) & 1;
}

/* ---- conversions */

double int_to_double(val x) {
  if (is_fix(x))
    return (double)fix_int(x);
  size_t bits = int_bits(x);
  mp_limb_t small;
  struct big a = big_view(x, &small);
  intptr_t shift = (intptr_t)bits - 64;
  uint64_t top = a.p[a.n - 1];
  if (bits > 64) {
    unsigned up = (unsigned)(-(intptr_t)bits & 63);
    bool sticky = false;
    if (up > 0)
      top = top << up | a.p[a.n - 2] >> (64 - up);
    for (size_t i = 0; i + 2 < a.n; i++)
      sticky |= a.p[i] != 0;
    sticky |= (up == 0 ? a.p[a.n - 2] : a.p[a.n - 2] << up) != 0;
    top |= sticky;
  } else {
    shift = 0;
  }
  double d = ldexp((double)top, shift > 4000 ? 4000 : (int)shift);
  return a.negative ? -d : d;
}

val int_from_double(double d) {
  int e;
  double m = frexp(d, &e);
  intptr_t n = (intptr_t)ldexp(m, 53);
  return int_shift(FIX(n), e - 53);
}

char *int_to_c(val x, int radix) {
  mp_limb_t small;
  struct big a = big_view(x, &small);
  size_t digits = a.n * 64 + 3;
  if (radix == 10)
    digits = a.n * 20 + 3;
  char *s = c_string_new(digits), *p = s;
  if (a.negative)
    *p++ = '-';
  if (a.n == 0) {
    strcpy(p, "0");
    return s;
  }
  mp_limb_t *copy = big_scratch(0, a.n + 1);
  memcpy(copy, a.p, a.n * sizeof *copy);
  unsigned char *d = (unsigned char *)p;
  size_t n = mpn_get_str(d, radix, copy, (mp_size_t)a.n);
  size_t zeros = 0;
  while (zeros + 1 < n && d[zeros] == 0)
    zeros++;
  memmove(d, d + zeros, n - zeros);
  n -= zeros;
  for (size_t i = 0; i < n; i++)
    d[i] = (unsigned char)"0123456789abcdefghijklmnopqrstuvwxyz"[d[i]];
  d[n] = 0;
  return s;
}

/* n > 0 digits, already checked. */
val int_from_digits(const char *s, size_t n, int radix, bool negative) {
  if (n <= (radix <= 16 ? 15 : 11)) {
    intptr_t x = strtol(s, NULL, radix);
    return FIX(negative ? -x : x);
  }
  char *text = c_string_new(n);
  unsigned char *d = (unsigned char *)text;
  for (size_t i = 0; i < n; i++)
    d[i] = (unsigned char)(s[i] <= '9' ? s[i] - '0' : (s[i] | 32) - 'a' + 10);
  mp_limb_t *r = big_scratch(0, n / 10 + 2 + (radix > 10 ? n / 8 : 0));
  size_t rn = (size_t)mpn_set_str(r, d, n, radix);
  c_string_free(text);
  return big_result(r, rn, negative);
}
