/* Testudo: settings from the environment. SPDX-License-Identifier:
   BSD-2-Clause */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "code/settings.h"
#include "mpslib.h"

/* All parsers: the number or the word that is the whole of TEXT. Numbers are
   read by hand because the C library's depend on the locale. */

static bool settings_is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* Digits at *TEXT_IO, at least one, below 2^63. */
static bool settings_digits(uint64_t *value_o, const char **text_io) {
  const char *text = *text_io;
  uint64_t value = 0;
  if (!settings_is_digit(*text))
    return false;
  for (; settings_is_digit(*text); ++text) {
    if (value > (UINT64_MAX / 2 - 9) / 10)
      return false;
    value = value * 10 + (uint64_t)(*text - '0');
  }
  *text_io = text;
  *value_o = value;
  return true;
}

static bool settings_count(uint64_t *value_o, const char *text) {
  return settings_digits(value_o, &text) && *text == '\0';
}

static bool settings_size(uint64_t *value_o, const char *text) {
  static const char units[] = "KMG";
  uint64_t value;
  if (!settings_digits(&value, &text))
    return false;
  if (*text != '\0') {
    char letter = *text >= 'a' ? (char)(*text - 'a' + 'A') : *text;
    const char *unit = strchr(units, letter);
    unsigned shift = unit == NULL ? 0 : 10 * (unsigned)(unit - units + 1);
    if (unit == NULL || text[1] != '\0' || value > UINT64_MAX >> shift)
      return false;
    value <<= shift;
  }
  *value_o = value;
  return true;
}

/* 2, 0.5 or .5; exact up to 15 digits */
static bool settings_real(double *value_o, const char *text) {
  double digits = 0, scale = 1;
  bool any = false;
  for (; settings_is_digit(*text); ++text, any = true)
    digits = digits * 10 + (*text - '0');
  if (*text == '.') {
    for (++text; settings_is_digit(*text); ++text, any = true) {
      digits = digits * 10 + (*text - '0');
      scale *= 10;
    }
  }
  *value_o = digits / scale;
  return any && *text == '\0';
}

static bool settings_is_word(const char *text, const char *word) {
  for (; *word != '\0'; ++text, ++word) {
    if (*text != *word &&
        !(*text >= 'A' && *text <= 'Z' && *text - 'A' + 'a' == *word))
      return false;
  }
  return *text == '\0';
}

/* Index of TEXT in N WORDS. */
static bool settings_word(uint64_t *value_o, const char *text,
                          const char *const words[], size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (settings_is_word(text, words[i])) {
      *value_o = i;
      return true;
    }
  }
  return false;
}

const char *const tdo_settings_shields[5] = {"naive", "ranged", "deferred",
                                             "dirty", "off"};

static bool settings_choice(uint64_t *value_o, const char *text) {
  return settings_word(value_o, text, tdo_settings_shields, 5);
}

static bool settings_flag(uint64_t *value_o, const char *text) {
  static const char *const words[] = {"0",  "1",   "off",   "on",
                                      "no", "yes", "false", "true"};
  bool ok = settings_word(value_o, text, words, 8);
  *value_o &= 1;
  return ok;
}

/* Each type: parse TEXT and check its range; *VALUE_O on success. */

static bool settings_in_range(uint64_t value, double low, double high) {
  return (double)value >= low && (double)value <= high;
}

static bool settings_parse_SIZE(size_t *value_o, const char *text, double low,
                                double high) {
  uint64_t value;
  if (!settings_size(&value, text) || !settings_in_range(value, low, high))
    return false;
  *value_o = (size_t)value;
  return true;
}

static bool settings_parse_SIZE0(size_t *value_o, const char *text, double low,
                                 double high) {
  return settings_parse_SIZE(value_o, text, low, high) ||
         settings_parse_SIZE(value_o, text, 0, 0);
}

static bool settings_parse_POW2(size_t *value_o, const char *text, double low,
                                double high) {
  size_t value;
  if (!settings_parse_SIZE0(&value, text, low, high) ||
      (value != 0 && !tdo_is_pow2(value)))
    return false;
  *value_o = value;
  return true;
}

static bool settings_parse_COUNT(unsigned *value_o, const char *text,
                                 double low, double high) {
  uint64_t value;
  if (!settings_count(&value, text) || !settings_in_range(value, low, high))
    return false;
  *value_o = (unsigned)value;
  return true;
}

static bool settings_parse_REAL(double *value_o, const char *text, double low,
                                double high) {
  double value;
  if (!settings_real(&value, text) || !(value >= low && value <= high))
    return false;
  *value_o = value;
  return true;
}

static bool settings_parse_FLAG(bool *value_o, const char *text, double low,
                                double high) {
  uint64_t value = 0;
  if (!settings_flag(&value, text) || !settings_in_range(value, low, high))
    return false;
  *value_o = value != 0;
  return true;
}

static bool settings_parse_CHOICE(unsigned *value_o, const char *text,
                                  double low, double high) {
  uint64_t value;
  if (!settings_choice(&value, text) || !settings_in_range(value, low, high))
    return false;
  *value_o = (unsigned)value;
  return true;
}

static bool settings_parse_HUGE(unsigned *value_o, const char *text,
                                double low, double high) {
  static const char *const words[] = {"off", "old", "all"};
  static const unsigned values[] = {TDO_HUGE_OFF, TDO_HUGE_OLD, TDO_HUGE_ALL};
  uint64_t index;
  if (!settings_word(&index, text, words, 3))
    return settings_parse_COUNT(value_o, text, low, high);
  *value_o = values[index];
  return true;
}

static const tdo_setting_row_t settings_rows[] = {
#define SETTINGS_ROW(field, type, variable, value, text, low, high, accepts,  \
                     help)                                                    \
  {variable, text, accepts, help},
    TDO_SETTINGS(SETTINGS_ROW)
#undef SETTINGS_ROW
};

enum { SETTINGS_COUNT = sizeof settings_rows / sizeof settings_rows[0] };

const tdo_setting_row_t *tdo_settings_rows(size_t *count_o) {
  *count_o = SETTINGS_COUNT;
  return settings_rows;
}

static void settings_complain(size_t index, const char *text) {
  static atomic_bool said[SETTINGS_COUNT];
  const tdo_setting_row_t *row = &settings_rows[index];
  const char *const parts[] = {"testudo: ",
                               row->variable,
                               "=",
                               text,
                               " cannot be read: expected ",
                               row->accepts,
                               "; it is ignored\n"};
  if (!atomic_exchange(&said[index], true)) {
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i)
      (void)mps_lib_fputs(parts[i], mps_lib_get_stderr());
  }
}

/* The value of the variable, or NULL if it is unset or empty. */
static const char *settings_variable(const char *name) {
  const char *text = getenv(name);
  return text != NULL && *text != '\0' ? text : NULL;
}

void tdo_settings_defaults(tdo_settings_t *settings_o) {
#define SETTINGS_DEFAULT(field, type, variable, value, ...)                   \
  settings_o->field = value;                                                  \
  settings_o->field##_given = false;
  TDO_SETTINGS(SETTINGS_DEFAULT)
#undef SETTINGS_DEFAULT
}

void tdo_settings_read(tdo_settings_t *settings_o) {
  tdo_settings_t *s = settings_o;
  size_t index = 0;
  const char *text;
  tdo_settings_defaults(s);
#define SETTINGS_READ(field, type, variable, value, words, low, high, ...)    \
  text = settings_variable(variable);                                         \
  if (text != NULL) {                                                         \
    if (settings_parse_##type(&s->field, text, low, high)) {                  \
      s->field##_given = s->field > 0 || (low) <= 0;                          \
    } else {                                                                  \
      settings_complain(index, text);                                         \
    }                                                                         \
  }                                                                           \
  ++index;
  TDO_SETTINGS(SETTINGS_READ)
#undef SETTINGS_READ
}
