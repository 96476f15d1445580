/* Testudo: the reader of the Scheme interpreter. SPDX-License-Identifier:
   BSD-2-Clause

   Pairs that are read have a fourth word with their place: that is how
   errors know the line. */
#include "scheme.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct reader {
  val port;
  val labels; /* table of placeholders by the number of #n=, once needed */
  char *token;
  size_t used;
  bool barred; /* some of the token stood between bars */
};

/* The token's memory outlives errors. */
static char *token_buffer;
static size_t token_size;

/* Not data but what ends a list. */
enum { END_CLOSE = 1, END_DOT = 2 };
#define MARK(n) IMM(IMM_CONST, 100 + (n))

static val read_item(struct reader *r);

NORETURN static void fail_at(struct reader *r, val pos, const char *message,
                             val irritants) {
  val place = place_string(port_name(r->port), pos);
  val e = make_object(T_ERROR, 5, FALSE);
  ERROR_KIND(e) = intern("read");
  ERROR_MESSAGE(e) = string_from_c(message);
  ERROR_IRRITANTS(e) = irritants;
  ERROR_PLACE(e) = place;
  raise_value(e);
}

/* The text has ended inside a datum. */
static bool ended_early;

bool read_ended_early(void) {
  return ended_early;
}

NORETURN static void fail_at_end(struct reader *r, val pos,
                                 const char *message) {
  ended_early = true;
  fail_at(r, pos, message, NIL);
}

NORETURN static void fail(struct reader *r, const char *message) {
  fail_at(r, port_position(r->port), message, NIL);
}

static void push(struct reader *r, uint32_t c) {
  if (r->used + 5 > token_size) {
    size_t size = token_size * 2 + 64;
    char *p = memory_may_have(r->used) ? realloc(token_buffer, size) : NULL;
    if (p == NULL)
      fail(r, "out of memory");
    token_buffer = p;
    token_size = size;
  }
  r->token = token_buffer;
  r->used += utf8_encode(c, r->token + r->used);
  r->token[r->used] = 0;
}

static bool is_space(int c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == 0xa0 || c == 0xfeff;
}

static bool is_delimiter(int c) {
  return c < 0 || is_space(c) || c == '(' || c == ')' || c == '"' ||
         c == ';' || c == '\'' || c == '|';
}

static void skip_block_comment(struct reader *r, val pos) {
  int depth = 1, prev = 0;
  while (depth > 0) {
    int c = port_getc(r->port);
    if (c < 0)
      fail_at_end(r, pos, "block comment is not closed");
    if (prev == '|' && c == '#') {
      depth--;
      c = 0;
    } else if (prev == '#' && c == '|') {
      depth++;
      c = 0;
    }
    prev = c;
  }
}

/* Reads up to the next delimiter into the token. */
static void read_token(struct reader *r) {
  int c;
  while (!is_delimiter(c = port_peekc(r->port))) {
    if (c == 0)
      fail(r, "null character outside of a string");
    push(r, (uint32_t)port_getc(r->port));
  }
}

/* Is there a character of this number? */
static bool is_scalar_value(long c) {
  return (c >= 0 && c < 0xd800) || (c > 0xdfff && c <= 0x10ffff);
}

static int read_hex_escape(struct reader *r) {
  long c = 0;
  int digits = 0;
  for (;;) {
    int d = port_getc(r->port);
    if (d == ';' && digits > 0 && is_scalar_value(c))
      return (int)c;
    if (d < 0 || d > 127 || !isxdigit(d) || c > 0x10ffff)
      fail(r, "bad \\x escape");
    c = c * 16 + (d <= '9' ? d - '0' : (d | 32) - 'a' + 10);
    digits++;
  }
}

/* After a backslash and a blank: the line ending and its indentation. */
static void skip_line_continuation(struct reader *r, int c) {
  while (c == ' ' || c == '\t')
    c = port_get_text(r->port);
  if (c != '\n')
    fail(r, "bad escape in a string");
  while (port_peekc(r->port) == ' ' || port_peekc(r->port) == '\t')
    port_getc(r->port);
}

static void read_escape(struct reader *r) {
  static const char from[] = "abtnvfr0\"\\|";
  static const char to[] = "\a\b\t\n\v\f\r\0\"\\|";
  int c = port_get_text(r->port);
  const char *p = c > 0 && c < 128 ? strchr(from, c) : NULL;
  if (p != NULL)
    push(r, (unsigned char)to[p - from]);
  else if (c == 'x' || c == 'X')
    push(r, (uint32_t)read_hex_escape(r));
  else
    skip_line_continuation(r, c);
}

/* Text up to the closing quote, a double one or a bar. */
static void read_quoted(struct reader *r, int quote, val pos) {
  for (;;) {
    int c = quote == '"' ? port_get_text(r->port) : port_getc(r->port);
    if (c < 0)
      fail_at_end(r, pos,
                  quote == '"' ? "string is not closed"
                               : "symbol is not closed");
    if (c == quote)
      return;
    if (c == '\\')
      read_escape(r);
    else
      push(r, (uint32_t)c);
  }
}

static val read_string(struct reader *r, val pos) {
  r->used = 0;
  push(r, ' ');
  r->used = 0;
  read_quoted(r, '"', pos);
  return string_from_utf8(r->token, r->used);
}

/* One of integers, of which the second is zero? */
static bool is_division_by_zero(const char *s) {
  s += *s == '+' || *s == '-';
  size_t digits = strspn(s, "0123456789");
  if (digits == 0 || s[digits] != '/')
    return false;
  s += digits + 1;
  return *s != 0 && s[strspn(s, "0")] == 0;
}

/* A symbol may be plain and quoted in parts. */
static val read_symbol_or_number(struct reader *r, val pos) {
  r->barred = false;
  r->used = 0;
  for (;;) {
    read_token(r);
    if (port_peekc(r->port) != '|')
      break;
    port_getc(r->port);
    push(r, ' ');
    r->used--;
    read_quoted(r, '|', pos);
    r->barred = true;
  }
  if (!r->barred) {
    val n = parse_number(r->token, r->used, 10);
    if (n != FALSE)
      return n;
    if (r->used > 0 && is_division_by_zero(r->token))
      fail_at(r, pos, "division by zero in a number",
              cons(string_from_utf8(r->token, r->used), NIL));
  }
  val name = string_from_utf8(r->token, r->used);
  if ((port_flags(r->port) & PORT_FOLD) && !r->barred)
    name = string_foldcase(name);
  return intern_string(name);
}

static val char_by_name(const char *s, size_t n, bool fold) {
  static const struct {
    const char *name;
    uint32_t c;
  } names[] = {{"space", ' '},   {"newline", '\n'}, {"tab", '\t'},
               {"nul", 0},       {"null", 0},       {"altmode", 27},
               {"return", '\r'}, {"linefeed", 10},  {"backspace", 8},
               {"delete", 127},  {"rubout", 127},   {"escape", 27},
               {"alarm", 7},     {"page", 12},      {"vtab", 11}};
  uint32_t c;
  if (utf8_decode(s, n, &c) == n)
    return CHAR(c);
  if ((s[0] | 32) == 'x' || (s[0] | 32) == 'u') {
    char *end;
    long x = strtol(s + 1, &end, 16);
    if (*end == 0 && is_scalar_value(x) && isxdigit((int)s[1]))
      return CHAR(x);
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if ((fold ? strcasecmp : strcmp)(names[i].name, s) == 0)
      return CHAR(names[i].c);
  return FALSE;
}

static val read_char(struct reader *r) {
  int c = port_getc(r->port);
  if (c < 0)
    fail_at_end(r, port_position(r->port), "end of file in a character");
  r->used = 0;
  push(r, (uint32_t)c);
  if (c != ' ')
    read_token(r);
  bool fold = port_flags(r->port) & PORT_FOLD;
  val v = char_by_name(r->token, r->used, fold);
  if (v == FALSE)
    fail_at(r, port_position(r->port), "unknown character name",
            cons(string_from_utf8(r->token, r->used), NIL));
  return v;
}

/* How many elements there are between the parentheses. */
static size_t proper_length(struct reader *r, val list, val pos) {
  intptr_t n = list_length(list);
  if (n < 0)
    fail_at(r, pos, "bad dotted list", NIL);
  return (size_t)n;
}

static val list_to_vector(struct reader *r, val list, val pos) {
  val v = make_vector(proper_length(r, list, pos), FALSE);
  for (size_t i = 0; list != NIL; list = CDR(list))
    VEC_REF(v, i++) = CAR(list);
  return v;
}

static val list_to_bytevector(struct reader *r, val list, val pos) {
  size_t n = proper_length(r, list, pos);
  val bv = make_leaf(T_BYTEVECTOR, sizeof(val) + n);
  BV_LEN(bv) = n;
  for (size_t i = 0; i < n; i++, list = CDR(list)) {
    if (!is_fix(CAR(list)) || fix_int(CAR(list)) < 0 ||
        fix_int(CAR(list)) > 255)
      fail(r, "bytevector element is not a byte");
    BV_DATA(bv)[i] = (unsigned char)fix_int(CAR(list));
  }
  return bv;
}

static val read_tail(struct reader *r, val pos) {
  val tail = read_item(r);
  if (tail == MARK(END_CLOSE) || tail == MARK(END_DOT))
    fail_at(r, pos, "bad dotted list", NIL);
  val end = tail == EOFVAL ? EOFVAL : read_item(r);
  if (end == EOFVAL)
    fail_at_end(r, pos, "list is not closed");
  if (end != MARK(END_CLOSE))
    fail_at(r, pos, "bad dotted list", NIL);
  return tail;
}

static val read_list(struct reader *r, val pos) {
  val head = NIL, last = NIL;
  for (;;) {
    val item_pos = port_position(r->port);
    val item = read_item(r);
    if (item == MARK(END_CLOSE))
      return head;
    if (item == EOFVAL)
      fail_at_end(r, pos, "list is not closed");
    if (item == MARK(END_DOT)) {
      if (head == NIL)
        fail_at(r, pos, "bad dotted list", NIL);
      CDR(last) = read_tail(r, pos);
      return head;
    }
    val pair = make_pair_at(item, NIL, head == NIL ? pos : item_pos);
    if (head == NIL)
      head = pair;
    else
      CDR(last) = pair;
    last = pair;
  }
}

static val read_datum_needed(struct reader *r, val pos) {
  val v = read_item(r);
  if (v == EOFVAL)
    fail_at_end(r, pos, "end of file in a datum");
  if (v == MARK(END_CLOSE) || v == MARK(END_DOT))
    fail_at(r, pos, "datum expected", NIL);
  return v;
}

static val read_abbreviation(struct reader *r, const char *name, val pos) {
  val v = read_datum_needed(r, pos);
  return make_pair_at(intern(name), make_pair_at(v, NIL, pos), pos);
}

/* ---- datum labels

   A label stands for a placeholder, a box with the datum. When everything
   has been read, the placeholders in it are replaced by what they hold. No
   other boxes are in data. */

static val label_box(struct reader *r, val n) {
  val box = r->labels == FALSE ? FALSE : table_ref(r->labels, n, FALSE);
  if (box == FALSE)
    fail(r, "unknown datum label");
  return box;
}

static val read_label(struct reader *r, int c, val pos) {
  intptr_t n = c - '0';
  while ((c = port_getc(r->port)) >= '0' && c <= '9' && n < 1 << 28)
    n = n * 10 + c - '0';
  if (c == '#')
    return label_box(r, FIX(n));
  if (c != '=')
    fail(r, "bad # syntax");
  val box = make_box(FALSE);
  if (r->labels == FALSE)
    r->labels = make_table(TABLE_EQ, TABLE_STRONG);
  table_set(r->labels, FIX(n), box);
  val datum = read_datum_needed(r, pos);
  if (datum == box)
    fail(r, "datum label refers to itself");
  BOX_REF(box) = datum;
  return datum;
}

static val unboxed(val v) {
  while (is_type(v, T_BOX))
    v = BOX_REF(v);
  return v;
}

static bool was_seen(val seen, val v) {
  if (table_ref(seen, v, FALSE) != FALSE)
    return true;
  table_set(seen, v, TRUE);
  return false;
}

static void replace_boxes(val v, val seen) {
  check_c_depth();
  for (; is_pair(v) && !was_seen(seen, v); v = CDR(v)) {
    CAR(v) = unboxed(CAR(v));
    CDR(v) = unboxed(CDR(v));
    replace_boxes(CAR(v), seen);
  }
  if (!is_vector(v) || was_seen(seen, v))
    return;
  for (size_t i = 0; i < VEC_LEN(v); i++) {
    VEC_REF(v, i) = unboxed(VEC_REF(v, i));
    replace_boxes(VEC_REF(v, i), seen);
  }
}

/* ---- what begins with #: upper and lower case are the same there */

static bool token_is(struct reader *r, const char *s) {
  return strcasecmp(r->token, s) == 0;
}

static val read_directive(struct reader *r, val pos) {
  r->used = 0;
  read_token(r);
  if (r->used == 0)
    push(r, ' ');
  if (token_is(r, "fold-case"))
    port_set_fold(r->port, true);
  else if (token_is(r, "no-fold-case"))
    port_set_fold(r->port, false);
  else if (token_is(r, "eof"))
    return EOFVAL;
  else if (fix_int(pos) >> 12 == 1)
    port_skip_line(r->port);
  else
    fail_at(r, pos, "unknown #! directive", NIL);
  return read_item(r);
}

static val read_named_constant(struct reader *r, val pos) {
  if (token_is(r, "#t") || token_is(r, "#true"))
    return TRUE;
  if (token_is(r, "#f") || token_is(r, "#false"))
    return FALSE;
  if (token_is(r, "#u8") && port_peekc(r->port) == '(') {
    port_getc(r->port);
    return list_to_bytevector(r, read_list(r, pos), pos);
  }
  val n = parse_number(r->token, r->used, 10);
  if (n == FALSE)
    fail_at(r, pos, "bad # syntax",
            cons(string_from_utf8(r->token, r->used), NIL));
  return n;
}

static val read_hash(struct reader *r, val pos) {
  int c = port_getc(r->port);
  switch (c) {
  case '(':
    return list_to_vector(r, read_list(r, pos), pos);
  case '\\':
    return read_char(r);
  case '|':
    skip_block_comment(r, pos);
    return read_item(r);
  case ';':
    read_datum_needed(r, pos);
    return read_item(r);
  case '!':
    return read_directive(r, pos);
  case '0':
  case '1':
  case '2':
  case '3':
  case '4':
  case '5':
  case '6':
  case '7':
  case '8':
  case '9':
    return read_label(r, c, pos);
  default:
    r->used = 0;
    push(r, '#');
    if (c >= 0)
      push(r, (uint32_t)c);
    read_token(r);
    return read_named_constant(r, pos);
  }
}

static val read_dot_or_symbol(struct reader *r, val pos) {
  val v = read_symbol_or_number(r, pos);
  if (r->used == 1 && r->token[0] == '.' && !r->barred)
    return MARK(END_DOT);
  return v;
}

static int skip_blanks(struct reader *r) {
  int c = port_peekc(r->port);
  while (is_space(c) || c == ';') {
    if (c == ';')
      port_skip_line(r->port);
    else
      port_getc(r->port);
    c = port_peekc(r->port);
  }
  return c;
}

static val item_place = FALSE; /* where the last one that was read begins */

val read_place(void) {
  return item_place;
}

static val read_item(struct reader *r) {
  if (c_depth_is_used_up())
    fail(r, "nested too deeply");
  int c = skip_blanks(r);
  val pos = item_place = port_position(r->port);
  if (c < 0)
    return EOFVAL;
  if (c == 0 || c > 127 || strchr("()'`,\"#", c) == NULL)
    return read_dot_or_symbol(r, pos);
  port_getc(r->port);
  switch (c) {
  case '(':
    return read_list(r, pos);
  case ')':
    return MARK(END_CLOSE);
  case '\'':
    return read_abbreviation(r, "quote", pos);
  case '`':
    return read_abbreviation(r, "quasiquote", pos);
  case ',':
    if (port_peekc(r->port) != '@')
      return read_abbreviation(r, "unquote", pos);
    port_getc(r->port);
    return read_abbreviation(r, "unquote-splicing", pos);
  case '"':
    return read_string(r, pos);
  default:
    return read_hash(r, pos);
  }
}

val read_datum(val port) {
  struct reader r = {.port = port, .labels = FALSE};
  ended_early = false;
  val v = read_item(&r);
  if (v == MARK(END_CLOSE))
    fail_at(&r, item_place, "unexpected )", NIL);
  if (v == MARK(END_DOT))
    fail_at(&r, item_place, "unexpected .", NIL);
  if (r.labels == FALSE)
    return v;
  v = unboxed(v);
  replace_boxes(v, make_table(TABLE_EQ, TABLE_STRONG));
  return v;
}
