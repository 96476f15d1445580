/* Testudo: the printer of the Scheme interpreter. SPDX-License-Identifier:
   BSD-2-Clause

   Circular structures get datum labels. Whether there are any is found by a
   walk with a budget; only when it runs out are addresses recorded, with the
   arena clamped so that nothing moves meanwhile. */
#include "scheme.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct seen {
  val v;
  int label;   /* -1: once; -2: to be labelled; else its number */
  bool active; /* on the path from the root */
};

struct printer {
  val port;
  enum print_mode mode;
  struct seen *table; /* null when there is nothing to label */
  size_t size, count;
  int next_label;
};

static void print_value(struct printer *p, val v);

/* ---- finding what needs a label */

/* What may contain itself. But for pairs its slots are gone through alike:
   what is not printed of a record or an error is no compound. */
static bool is_compound(val v) {
  if (!is_ref(v))
    return false;
  switch (ref_type(v)) {
  case T_PAIR:
  case T_RECORD:
  case T_ERROR:
    return true;
  case T_VECTOR:
  case T_VALUES:
    return VEC_LEN(v) > 0;
  default:
    return false;
  }
}

static bool within_budget(val v, size_t *budget, int depth) {
  if (depth > 2000)
    return false;
  while (is_compound(v)) {
    if (*budget == 0)
      return false;
    (*budget)--;
    if (is_pair(v)) {
      if (!within_budget(CAR(v), budget, depth + 1))
        return false;
      v = CDR(v);
      continue;
    }
    for (size_t i = 0; i < VEC_LEN(v); i++)
      if (!within_budget(VEC_REF(v, i), budget, depth + 1))
        return false;
    return true;
  }
  return true;
}

static struct seen *lookup(struct printer *p, val v) {
  size_t i = (v >> 3) * 0x9e3779b97f4a7c15u >> 20;
  for (;; i++) {
    struct seen *s = &p->table[i & (p->size - 1)];
    if (s->v == v || s->v == 0)
      return s;
  }
}

static void grow_table(struct printer *p) {
  struct seen *old = p->table;
  size_t n = p->size, size = n == 0 ? 1024 : n * 2;
  struct seen *table = calloc(size, sizeof *table);
  if (table == NULL)
    raise_kind("memory", NULL, "out of memory", NIL);
  p->table = table;
  p->size = size;
  for (size_t i = 0; i < n; i++)
    if (old[i].v != 0)
      *lookup(p, old[i].v) = old[i];
  free(old);
}

/* True if the object was met before; notes it otherwise. */
static bool met(struct printer *p, val v) {
  if (p->count * 2 >= p->size)
    grow_table(p);
  struct seen *s = lookup(p, v);
  if (s->v != 0) {
    if (s->active || p->mode == PRINT_SHARED)
      s->label = -2;
    return true;
  }
  *s = (struct seen){v, -1, true};
  p->count++;
  return false;
}

static void leave(struct printer *p, val v) {
  lookup(p, v)->active = false;
}

/* What an outer call has entered stays active: the pairs that this one has
   entered are the first ones of the list. */
static void mark(struct printer *p, val v) {
  check_c_depth();
  size_t entered = 0;
  val start = v;
  for (; is_pair(v) && !met(p, v); v = CDR(v)) {
    entered++;
    mark(p, CAR(v));
  }
  if (!is_pair(v) && is_compound(v) && !met(p, v)) {
    for (size_t i = 0; i < VEC_LEN(v); i++)
      mark(p, VEC_REF(v, i));
    leave(p, v);
  }
  for (val l = start; entered > 0; l = CDR(l), entered--)
    leave(p, l);
}

static void find_labels(struct printer *p, val v) {
  size_t budget = p->mode == PRINT_SHARED ? 0 : 200000;
  if (p->mode == PRINT_SIMPLE || within_budget(v, &budget, 0))
    return;
  grow_table(p);
  mark(p, v);
}

/* ---- printing */

static void put(struct printer *p, const char *s) {
  port_puts(p->port, s);
}

static void print_number(struct printer *p, val v) {
  char *s = number_to_c(v, 10);
  put(p, s);
  c_string_free(s);
}

static void put_hex(struct printer *p, const char *before, uint32_t c,
                    const char *after) {
  char text[24];
  snprintf(text, sizeof text, "%s%x%s", before, c, after);
  put(p, text);
}

static void print_char(struct printer *p, uint32_t c) {
  static const struct {
    uint32_t c;
    const char *name;
  } names[] = {{0, "null"},    {7, "alarm"},    {8, "backspace"},
               {9, "tab"},     {10, "newline"}, {13, "return"},
               {27, "escape"}, {' ', "space"},  {127, "delete"}};
  if (p->mode == PRINT_DISPLAY) {
    port_putc(p->port, c);
    return;
  }
  put(p, "#\\");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].c == c) {
      put(p, names[i].name);
      return;
    }
  if (c < 32 || (c > 127 && c < 160))
    put_hex(p, "x", c, "");
  else
    port_putc(p->port, c);
}

static void print_escaped(struct printer *p, val s, char quote) {
  port_putc(p->port, (uint32_t)quote);
  for (size_t i = 0; i < STRING_LEN(s); i++) {
    uint32_t c = string_get(s, i);
    const char *escape =
        c < 128 && c > 0 ? strchr("\aa\bb\nn\rr\tt", (int)c) : NULL;
    if (c == (uint32_t)quote || c == '\\') {
      port_putc(p->port, '\\');
      port_putc(p->port, c);
    } else if (escape != NULL && c < 32) {
      port_putc(p->port, '\\');
      port_putc(p->port, (uint32_t)escape[1]);
    } else if (c < 32 || c == 127) {
      put_hex(p, "\\x", c, ";");
    } else {
      port_putc(p->port, c);
    }
  }
  port_putc(p->port, (uint32_t)quote);
}

static void print_plain(struct printer *p, val s) {
  size_t n;
  char *text = string_to_utf8(s, &n);
  port_write(p->port, text, n);
  c_string_free(text);
}

static void print_string(struct printer *p, val s) {
  if (p->mode == PRINT_DISPLAY)
    print_plain(p, s);
  else
    print_escaped(p, s, '"');
}

/* ---- symbols: without bars if the name is an <identifier> of the standard's
   grammar, which is ASCII, and no number */

static bool is_one_of(uint32_t c, const char *set) {
  return c > 0 && c < 128 && strchr(set, (int)c) != NULL;
}

static bool is_digit(uint32_t c) {
  return c >= '0' && c <= '9';
}

static bool is_initial(uint32_t c) {
  return ((c | 32) >= 'a' && (c | 32) <= 'z') ||
         is_one_of(c, "!$%&*/:<=>?^_~");
}

static bool is_subsequent(uint32_t c) {
  return is_initial(c) || is_digit(c) || is_one_of(c, "+-.@");
}

/* A name may begin with a sign or a dot, if no number begins like that. */
static bool begins_well(const char *s) {
  if (is_one_of((uint32_t)*s, "+-")) {
    if (*++s == 0)
      return true;
    if (*s != '.')
      return !is_digit((uint32_t)*s);
  } else if (*s != '.') {
    return is_initial((uint32_t)*s);
  }
  return s[1] != 0 && !is_digit((uint32_t)s[1]);
}

/* What some Scheme reads as a number: +i, -inf.0, +NaN.0i, ... */
static bool is_special_number(const char *s) {
  return is_one_of((uint32_t)*s, "+-") &&
         (strcasecmp(s + 1, "i") == 0 || strncasecmp(s + 1, "inf.0", 5) == 0 ||
          strncasecmp(s + 1, "nan.0", 5) == 0);
}

static bool is_plain_symbol(val name) {
  size_t n = STRING_LEN(name);
  for (size_t i = 0; i < n; i++)
    if (!is_subsequent(string_get(name, i)))
      return false;
  char *text = string_to_utf8(name, NULL);
  bool plain = n > 0 && begins_well(text) && !is_special_number(text);
  c_string_free(text);
  return plain;
}

static void print_symbol(struct printer *p, val s) {
  if (p->mode == PRINT_DISPLAY || is_plain_symbol(SYM_NAME(s)))
    print_plain(p, SYM_NAME(s));
  else
    print_escaped(p, SYM_NAME(s), '|');
}

static void print_constant(struct printer *p, val v) {
  static const char *const names[] = {
      "#f",     "#t",         "()",         "#<unspecified>",
      "#<eof>", "#<unbound>", "#<deleted>", "#<default>"};
  if (is_char(v))
    print_char(p, char_int(v));
  else if (is_syntax(v))
    put(p, "#<syntax>");
  else
    put(p, IMM_PAYLOAD(v) < 8 ? names[IMM_PAYLOAD(v)] : "#<mark>");
}

/* Prints a label; true if the datum itself is not to be printed again. */
static bool print_label(struct printer *p, val v) {
  char text[24];
  if (p->table == NULL)
    return false;
  struct seen *s = lookup(p, v);
  if (s->v == 0 || s->label == -1)
    return false;
  bool again = s->label >= 0;
  if (!again)
    s->label = p->next_label++;
  snprintf(text, sizeof text, again ? "#%d#" : "#%d=", s->label);
  put(p, text);
  return again;
}

static bool has_label(struct printer *p, val v) {
  return p->table != NULL && lookup(p, v)->v != 0 && lookup(p, v)->label != -1;
}

static void print_list(struct printer *p, val v) {
  port_putc(p->port, '(');
  print_value(p, CAR(v));
  for (v = CDR(v); is_pair(v) && !has_label(p, v); v = CDR(v)) {
    port_putc(p->port, ' ');
    print_value(p, CAR(v));
  }
  if (v != NIL) {
    put(p, " . ");
    print_value(p, v);
  }
  port_putc(p->port, ')');
}

static void print_vector(struct printer *p, val v) {
  put(p, "#(");
  for (size_t i = 0; i < VEC_LEN(v); i++) {
    if (i > 0)
      port_putc(p->port, ' ');
    print_value(p, VEC_REF(v, i));
  }
  port_putc(p->port, ')');
}

static void print_bytevector(struct printer *p, val v) {
  char text[8];
  put(p, "#u8(");
  for (size_t i = 0; i < BV_LEN(v); i++) {
    snprintf(text, sizeof text, i == 0 ? "%u" : " %u", BV_DATA(v)[i]);
    put(p, text);
  }
  port_putc(p->port, ')');
}

static void print_named(struct printer *p, const char *what, val name) {
  put(p, "#<");
  put(p, what);
  if (name != FALSE) {
    port_putc(p->port, ' ');
    print_value(p, name);
  }
  port_putc(p->port, '>');
}

static void print_record(struct printer *p, val v) {
  val rtd = RECORD_RTD(v);
  enum print_mode mode = p->mode;
  put(p, "#<");
  p->mode = PRINT_DISPLAY;
  print_value(p, RTD_NAME(rtd));
  p->mode = mode;
  size_t i = 0;
  for (val l = RTD_FIELDS(rtd); is_pair(l); l = CDR(l), i++) {
    port_putc(p->port, ' ');
    print_value(p, CAR(l));
    put(p, ": ");
    print_value(p, RECORD_FIELD(v, i));
  }
  port_putc(p->port, '>');
}

static void print_error(struct printer *p, val v) {
  put(p, "#<error ");
  print_value(p, ERROR_MESSAGE(v));
  val l = ERROR_IRRITANTS(v);
  for (; is_pair(l) && !has_label(p, l); l = CDR(l)) {
    port_putc(p->port, ' ');
    print_value(p, CAR(l));
  }
  if (is_pair(l)) {
    put(p, " . ");
    print_value(p, l);
  }
  port_putc(p->port, '>');
}

static void print_values(struct printer *p, val v) {
  for (size_t i = 0; i < VEC_LEN(v); i++) {
    if (i > 0)
      port_putc(p->port, ' ');
    print_value(p, SLOT(v, i + 1));
  }
}

/* All clauses have the name. */
static void print_cases(struct printer *p, val v) {
  val name = VEC_LEN(v) == 0 ? FALSE : CODE_NAME(CLOSURE_CODE(VEC_REF(v, 0)));
  print_named(p, "procedure", name);
}

static void print_other(struct printer *p, val v) {
  static const char *const names[T_LIMIT] = {
      [T_BOX] = "box",           [T_CONT] = "continuation",
      [T_PARAM] = "parameter",   [T_PROMISE] = "promise",
      [T_TABLE] = "hash-table",  [T_PORT] = "port",
      [T_MACRO] = "macro",       [T_ENV] = "environment",
      [T_GUARDIAN] = "guardian",
  };
  const char *name = names[ref_type(v)];
  print_named(p, name == NULL ? "object" : name, FALSE);
}

static void print_object(struct printer *p, val v) {
  switch (ref_type(v)) {
  case T_PAIR:
    print_list(p, v);
    return;
  case T_VECTOR:
    print_vector(p, v);
    return;
  case T_FLONUM:
  case T_BIGNUM:
  case T_RATIO:
    print_number(p, v);
    return;
  case T_STRING:
    print_string(p, v);
    return;
  case T_SYMBOL:
    print_symbol(p, v);
    return;
  case T_BYTEVECTOR:
    print_bytevector(p, v);
    return;
  case T_CLOSURE:
    print_named(p, "procedure", CODE_NAME(CLOSURE_CODE(v)));
    return;
  case T_CASES:
    print_cases(p, v);
    return;
  case T_PRIM:
    print_named(p, "procedure", intern(prim_table[PRIM_INDEX(v)]->name));
    return;
  case T_RECORD:
    print_record(p, v);
    return;
  case T_RTD:
    print_named(p, "record-type", RTD_NAME(v));
    return;
  case T_ERROR:
    print_error(p, v);
    return;
  case T_VALUES:
    print_values(p, v);
    return;
  case T_ALIAS:
    print_value(p, ALIAS_NAME(v));
    return;
  default:
    print_other(p, v);
  }
}

static void print_value(struct printer *p, val v) {
  check_c_depth();
  if (is_fix(v))
    print_number(p, v);
  else if (!is_ref(v))
    print_constant(p, v);
  else if (!is_compound(v) || !print_label(p, v))
    print_object(p, v);
}

static void print_compound(struct printer *p, val v) {
  mps_arena_clamp(vm.arena);
  find_labels(p, v);
  if (p->table == NULL)
    mps_arena_release(vm.arena);
  print_value(p, v);
}

/* Whatever is raised meanwhile, the arena is released. */
static void print_guarded(struct printer *p, val v) {
  jmp_buf here, *outer = vm.escape;
  vm.escape = &here;
  int raised = setjmp(here);
  if (raised == 0)
    print_compound(p, v);
  vm.escape = outer;
  free(p->table);
  mps_arena_release(vm.arena);
  if (raised != 0)
    longjmp(*outer, raised);
}

void print(val v, val port, enum print_mode mode) {
  struct printer p = {.port = port, .mode = mode};
  if (is_compound(v))
    print_guarded(&p, v);
  else
    print_value(&p, v);
}
