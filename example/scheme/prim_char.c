/* Testudo: primitives on characters and symbols. SPDX-License-Identifier:
 * BSD-2-Clause */
#include "scheme.h"
#include "char_table.h"

#include <wctype.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Case mapping, one character to one, by the C library's tables. */
static uint32_t char_up(uint32_t c) {
  return c == 0xdf ? c : (uint32_t)towupper((wint_t)c);
}

static uint32_t char_down(uint32_t c) {
  return (uint32_t)towlower((wint_t)c);
}

static uint32_t char_fold(uint32_t c) {
  for (size_t i = 0; i < COUNT(char_folds) && char_folds[i].first <= c; i++)
    if (c <= char_folds[i].last)
      return c + (uint32_t)char_folds[i].add;
  return char_down(c);
}

static bool is_title(uint32_t c) {
  for (size_t i = 0; i < COUNT(char_titles) && char_titles[i].first <= c; i++)
    if (c <= char_titles[i].last)
      return true;
  return false;
}

static val mapped(val s, uint32_t (*map)(uint32_t)) {
  size_t n = STRING_LEN(s);
  val r = make_string(n, string_is_wide(s));
  for (size_t i = 0; i < n; i++)
    string_put(r, i, map(string_get(s, i)));
  return r;
}

/* The sharp s is the one letter of Latin-1 that becomes two. */
static val mapped_long(val s, uint32_t (*map)(uint32_t), char ss) {
  size_t n = STRING_LEN(s), extra = 0;
  for (size_t i = 0; i < n; i++)
    extra += string_get(s, i) == 0xdf;
  if (extra == 0)
    return mapped(s, map);
  val r = make_string(n + extra, string_is_wide(s));
  for (size_t i = 0, k = 0; i < n; i++) {
    uint32_t c = string_get(s, i);
    if (c == 0xdf)
      string_put(r, k++, (uint32_t)ss);
    string_put(r, k++, c == 0xdf ? (uint32_t)ss : map(c));
  }
  return r;
}

static val string_upcase(val s) {
  return mapped_long(s, char_up, 'S');
}

val string_foldcase(val s) {
  return mapped_long(s, char_fold, 's');
}

/* At the end of a word, capital sigma becomes the final one. */
static val string_downcase(val s) {
  val r = mapped(s, char_down);
  size_t n = STRING_LEN(s);
  for (size_t i = 0; i < n; i++)
    if (string_get(s, i) == 0x3a3 && i > 0 &&
        iswalpha((wint_t)string_get(s, i - 1)) &&
        (i + 1 == n || !iswalpha((wint_t)string_get(s, i + 1))))
      string_put(r, i, 0x3c2);
  return r;
}

/* ---- characters */

static val p_charp(int argc, val *argv) {
  (void)argc;
  return boolean(is_char(argv[0]));
}

static val p_char_to_integer(int argc, val *argv) {
  (void)argc;
  return FIX(arg_char(argv, 0));
}

static val p_integer_to_char(int argc, val *argv) {
  (void)argc;
  intptr_t n = arg_fix(argv, 0);
  if (n < 0 || n > 0x10ffff || (n >= 0xd800 && n < 0xe000))
    raise_range(0, argv[0]);
  return CHAR(n);
}

/* The names end in <? >? =? <=? >=?, after char or char-ci. */
static bool ordered(const char *op, uint32_t a, uint32_t b) {
  bool with_equal = op[1] == '=';
  switch (op[0]) {
  case '<':
    return with_equal ? a <= b : a < b;
  case '>':
    return with_equal ? a >= b : a > b;
  default:
    return a == b;
  }
}

static val p_char_compare(int argc, val *argv) {
  const char *name = prim_name();
  bool ci = name[4] == '-', holds = true;
  for (int i = 0; i < argc; i++)
    arg_char(argv, i);
  for (int i = 0; i + 1 < argc; i++) {
    uint32_t a = char_int(argv[i]), b = char_int(argv[i + 1]);
    holds = holds && ordered(name + (ci ? 7 : 4), ci ? char_fold(a) : a,
                             ci ? char_fold(b) : b);
  }
  return boolean(holds);
}

static val p_char_upcase(int argc, val *argv) {
  (void)argc;
  return CHAR(char_up(arg_char(argv, 0)));
}

static val p_char_downcase(int argc, val *argv) {
  (void)argc;
  return CHAR(char_down(arg_char(argv, 0)));
}

static val p_char_foldcase(int argc, val *argv) {
  (void)argc;
  return CHAR(char_fold(arg_char(argv, 0)));
}

/* The value of a decimal digit, or -1. */
static int digit_of(uint32_t c) {
  for (size_t i = 0; i < COUNT(char_zeros) && char_zeros[i] <= c; i++)
    if (c < char_zeros[i] + 10)
      return (int)(c - char_zeros[i]);
  return -1;
}

static val p_char_alphabetic(int argc, val *argv) {
  (void)argc;
  uint32_t c = arg_char(argv, 0);
  return boolean(iswalpha((wint_t)c) && digit_of(c) < 0);
}

static val p_char_numeric(int argc, val *argv) {
  (void)argc;
  return boolean(digit_of(arg_char(argv, 0)) >= 0);
}

static val p_digit_value(int argc, val *argv) {
  (void)argc;
  int d = digit_of(arg_char(argv, 0));
  return d < 0 ? FALSE : FIX(d);
}

static val p_char_whitespace(int argc, val *argv) {
  (void)argc;
  uint32_t c = arg_char(argv, 0);
  return boolean(iswspace((wint_t)c) || c == 0x85 || c == 0xa0 ||
                 c == 0x2007 || c == 0x202f);
}

static val p_char_upper(int argc, val *argv) {
  (void)argc;
  uint32_t c = arg_char(argv, 0);
  return boolean(iswupper((wint_t)c) && !is_title(c));
}

static val p_char_lower(int argc, val *argv) {
  (void)argc;
  uint32_t c = arg_char(argv, 0);
  return boolean(iswlower((wint_t)c) && !is_title(c));
}

static val p_string_upcase(int argc, val *argv) {
  (void)argc;
  return string_upcase(arg_string(argv, 0));
}

static val p_string_downcase(int argc, val *argv) {
  (void)argc;
  return string_downcase(arg_string(argv, 0));
}

static val p_string_foldcase(int argc, val *argv) {
  (void)argc;
  return string_foldcase(arg_string(argv, 0));
}

/* ---- symbols and booleans */

static val p_symbolp(int argc, val *argv) {
  (void)argc;
  return boolean(is_symbol(argv[0]));
}

static val p_symbol_to_string(int argc, val *argv) {
  (void)argc;
  val name = SYM_NAME(arg_symbol(argv, 0));
  return substring(name, 0, STRING_LEN(name));
}

static val p_string_to_symbol(int argc, val *argv) {
  (void)argc;
  return intern_string(arg_string(argv, 0));
}

static val p_gensym(int argc, val *argv) {
  static unsigned count;
  char text[32];
  (void)argc;
  (void)argv;
  snprintf(text, sizeof text, " g%u", ++count);
  return make_uninterned(string_from_c(text));
}

static val p_booleanp(int argc, val *argv) {
  (void)argc;
  return boolean(argv[0] == TRUE || argv[0] == FALSE);
}

static val p_same(int argc, val *argv) {
  bool symbols = prim_name()[0] == 's', same = true;
  for (int i = 0; i < argc; i++) {
    if (symbols)
      arg_symbol(argv, i);
    else if (argv[i] != TRUE && argv[i] != FALSE)
      raise_type(i, argv[i], "boolean");
    same = same && argv[i] == argv[0];
  }
  return boolean(same);
}

const struct prim prims_char[] = {
    {"char?", p_charp, 1, 1},
    {"char->integer", p_char_to_integer, 1, 1},
    {"integer->char", p_integer_to_char, 1, 1},
    {"char=?", p_char_compare, 1, -1},
    {"char<?", p_char_compare, 1, -1},
    {"char>?", p_char_compare, 1, -1},
    {"char<=?", p_char_compare, 1, -1},
    {"char>=?", p_char_compare, 1, -1},
    {"char-ci=?", p_char_compare, 1, -1},
    {"char-ci<?", p_char_compare, 1, -1},
    {"char-ci>?", p_char_compare, 1, -1},
    {"char-ci<=?", p_char_compare, 1, -1},
    {"char-ci>=?", p_char_compare, 1, -1},
    {"char-upcase", p_char_upcase, 1, 1},
    {"char-downcase", p_char_downcase, 1, 1},
    {"char-foldcase", p_char_foldcase, 1, 1},
    {"char-alphabetic?", p_char_alphabetic, 1, 1},
    {"char-numeric?", p_char_numeric, 1, 1},
    {"char-whitespace?", p_char_whitespace, 1, 1},
    {"char-upper-case?", p_char_upper, 1, 1},
    {"char-lower-case?", p_char_lower, 1, 1},
    {"digit-value", p_digit_value, 1, 1},
    {"string-upcase", p_string_upcase, 1, 1},
    {"string-downcase", p_string_downcase, 1, 1},
    {"string-foldcase", p_string_foldcase, 1, 1},
    {"symbol?", p_symbolp, 1, 1},
    {"symbol->string", p_symbol_to_string, 1, 1},
    {"string->symbol", p_string_to_symbol, 1, 1},
    {"generate-symbol", p_gensym, 0, 1},
    {"gensym", p_gensym, 0, 1},
    {"boolean?", p_booleanp, 1, 1},
    {"boolean=?", p_same, 2, -1},
    {"symbol=?", p_same, 2, -1},
    {NULL, NULL, 0, 0},
};
