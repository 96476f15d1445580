/* Testudo: characters and strings of the Scheme interpreter, their memory.
   SPDX-License-Identifier: BSD-2-Clause

   A string is an object that refers to a leaf with its characters: one byte
   for each, or four as soon as one of them is above 255. The leaf is
   replaced when a narrow string must become wide. */
#include "scheme.h"

#include <stdlib.h>
#include <string.h>

static bool is_wide(val s) {
  return HEADER_FLAG(*obj(s)) & STRING_WIDE;
}

static uint32_t *wide_body(val s) {
  return (uint32_t *)(void *)BODY(STRING_BODY(s));
}

static unsigned char *narrow_body(val s) {
  return BODY(STRING_BODY(s));
}

val make_string(size_t length, bool wide) {
  val body = make_leaf(T_BYTES, length * (wide ? 4 : 1));
  val s = make_object(T_STRING, 2, FIX(length));
  if (wide)
    *obj(s) = HEADER_WITH_FLAG(*obj(s), STRING_WIDE);
  STRING_BODY(s) = body;
  return s;
}

uint32_t string_get(val s, size_t i) {
  return is_wide(s) ? wide_body(s)[i] : narrow_body(s)[i];
}

static void string_widen(val s) {
  size_t n = STRING_LEN(s);
  val body = make_leaf(T_BYTES, n * 4);
  uint32_t *to = (uint32_t *)(void *)BODY(body);
  unsigned char *from = narrow_body(s);
  for (size_t i = 0; i < n; i++)
    to[i] = from[i];
  STRING_BODY(s) = body;
  *obj(s) = HEADER_WITH_FLAG(*obj(s), STRING_WIDE);
}

void string_put(val s, size_t i, uint32_t c) {
  if (!is_wide(s)) {
    if (c < 256) {
      narrow_body(s)[i] = (unsigned char)c;
      return;
    }
    string_widen(s);
  }
  wide_body(s)[i] = c;
}

bool string_is_wide(val s) {
  return is_wide(s);
}

void string_copy(val to, size_t at, val from, size_t start, size_t end) {
  if (start == end)
    return;
  if (is_wide(from) && !is_wide(to))
    string_widen(to);
  if (!is_wide(to)) {
    memmove(narrow_body(to) + at, narrow_body(from) + start, end - start);
  } else if (is_wide(from)) {
    memmove(wide_body(to) + at, wide_body(from) + start, (end - start) * 4);
  } else {
    uint32_t *p = wide_body(to) + at;
    unsigned char *q = narrow_body(from) + start;
    for (size_t n = end - start; n > 0; n--)
      *p++ = *q++;
  }
}

val substring(val s, size_t start, size_t end) {
  val r = make_string(end - start, is_wide(s));
  string_copy(r, 0, s, start, end);
  return r;
}

/* ---- UTF-8 */

size_t utf8_encode(uint32_t c, char *out) {
  unsigned char *o = (unsigned char *)out;
  if (c < 0x80) {
    o[0] = (unsigned char)c;
    return 1;
  }
  size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (size_t i = n - 1; i > 0; i--) {
    o[i] = (unsigned char)(0x80 | (c & 0x3f));
    c >>= 6;
  }
  o[0] = (unsigned char)((0xf00 >> n) | c);
  return n;
}

size_t utf8_decode(const char *s, size_t n, uint32_t *c_o) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  unsigned char b = (unsigned char)s[0];
  size_t len = b < 0x80   ? 1
               : b < 0xc2 ? 0
               : b < 0xe0 ? 2
               : b < 0xf0 ? 3
               : b < 0xf5 ? 4
                          : 0;
  *c_o = 0xfffd;
  if (len == 1)
    *c_o = b;
  if (len < 2)
    return 1;
  uint32_t c = b & (0x7fu >> len);
  for (size_t i = 1; i < len; i++) {
    if (i >= n || ((unsigned char)s[i] & 0xc0) != 0x80)
      return i;
    c = c << 6 | ((unsigned char)s[i] & 0x3f);
  }
  if (c >= least[len] && c < 0x110000 && (c < 0xd800 || c > 0xdfff))
    *c_o = c;
  return len;
}

val string_from_utf8(const char *s, size_t bytes) {
  size_t length = 0;
  bool wide = false;
  for (size_t i = 0; i < bytes; length++) {
    uint32_t c;
    i += utf8_decode(s + i, bytes - i, &c);
    wide |= c > 255;
  }
  val r = make_string(length, wide);
  for (size_t i = 0, k = 0; i < bytes; k++) {
    uint32_t c;
    i += utf8_decode(s + i, bytes - i, &c);
    string_put(r, k, c);
  }
  return r;
}

val string_from_c(const char *s) {
  return string_from_utf8(s, strlen(s));
}

/* ---- C strings

   They are listed, the last first, so that an error, which leaves all C code
   that uses them, frees them. */

struct c_string {
  struct c_string *next;
  char text[];
};

static struct c_string *c_strings;

char *c_string_new(size_t size) {
  struct c_string *s = malloc(sizeof *s + size);
  if (s == NULL)
    raise_kind("memory", NULL, "out of memory", NIL);
  s->next = c_strings;
  c_strings = s;
  return s->text;
}

void c_string_free(char *text) {
  struct c_string **link = &c_strings;
  while ((*link)->text != text)
    link = &(*link)->next;
  struct c_string *s = *link;
  *link = s->next;
  free(s);
}

void c_strings_free_all(void) {
  while (c_strings != NULL)
    c_string_free(c_strings->text);
}

char *string_to_utf8(val s, size_t *bytes_o) {
  size_t n = STRING_LEN(s), used = 0;
  char *p = c_string_new(n * 4 + 1);
  for (size_t i = 0; i < n; i++)
    used += utf8_encode(string_get(s, i), p + used);
  p[used] = 0;
  if (bytes_o != NULL)
    *bytes_o = used;
  return p;
}

char *string_to_name(val s, const char *proc) {
  size_t n;
  char *name = string_to_utf8(s, &n);
  if (strlen(name) == n)
    return name;
  c_string_free(name);
  raise_kind("file", proc, "null character in a name", cons(s, NIL));
}

int string_compare(val a, val b) {
  size_t na = STRING_LEN(a), nb = STRING_LEN(b);
  size_t n = na < nb ? na : nb;
  if (!is_wide(a) && !is_wide(b)) {
    int r = memcmp(narrow_body(a), narrow_body(b), n);
    if (r != 0)
      return r < 0 ? -1 : 1;
  } else {
    for (size_t i = 0; i < n; i++) {
      uint32_t x = string_get(a, i), y = string_get(b, i);
      if (x != y)
        return x < y ? -1 : 1;
    }
  }
  return na < nb ? -1 : na > nb;
}

uint64_t string_hash(val s) {
  uint64_t h = 14695981039346656037u;
  size_t n = STRING_LEN(s);
  for (size_t i = 0; i < n; i++)
    h = (h ^ string_get(s, i)) * 1099511628211u;
  return h ^ h >> 29;
}

/* ---- symbols: a weak array, where each is in the first place from that of
   its hash on that was free. One that nobody has is forgotten, unless a name
   read later would show that: what has a value is kept, and what is to be told
   of when it dies, or is in a weak table. */

enum { SYMBOLS_LEAST = 1024 };

#define SYMTAB_LEN(t)    (obj_words(t) - WEAK_FIRST)
#define SYMTAB_REF(t, i) SLOT(t, WEAK_FIRST + (i))

static size_t symbols_used; /* places that are not free, with dead ones */

static void symbols_start(size_t length) {
  vm.root[R_SYMTAB] = make_weak_array(length, true);
  symbols_used = 0;
}

void symbols_init(void) {
  symbols_start(SYMBOLS_LEAST);
  vm.root[R_KEPT] = NIL;
}

static val make_symbol(val name) {
  val s = make_object(T_SYMBOL, 4, FALSE);
  SYM_NAME(s) = name;
  SYM_VALUE(s) = UNBOUND;
  SYM_HASH(s) = FIX(string_hash(name) >> 4);
  return s;
}

val make_uninterned(val string) {
  return make_symbol(string);
}

/* Where a symbol of that hash is looked for first. */
static size_t symbol_place(val tab, val hash) {
  return (size_t)fix_int(hash) & (SYMTAB_LEN(tab) - 1);
}

static size_t symbol_next(val tab, size_t at) {
  return (at + 1) & (SYMTAB_LEN(tab) - 1);
}

static void symbol_enter(val s) {
  val tab = vm.root[R_SYMTAB];
  size_t at = symbol_place(tab, SYM_HASH(s));
  while (SYMTAB_REF(tab, at) != UNBOUND && SYMTAB_REF(tab, at) != TOMB)
    at = symbol_next(tab, at);
  symbols_used += SYMTAB_REF(tab, at) == UNBOUND;
  SYMTAB_REF(tab, at) = s;
}

/* Those that live, into an array of the right size. */
static void symbols_rehash(void) {
  val old = vm.root[R_SYMTAB];
  size_t n = SYMBOLS_LEAST, live = 0;
  for (size_t i = 0; i < SYMTAB_LEN(old); i++)
    live += is_ref(SYMTAB_REF(old, i));
  while (n < live * 2)
    n *= 2;
  symbols_start(n);
  PIN(old);
  for (size_t i = 0; i < SYMTAB_LEN(old); i++) {
    val s = SYMTAB_REF(old, i);
    if (is_ref(s))
      symbol_enter(s);
  }
}

val intern_string(val string) {
  val hash = FIX(string_hash(string) >> 4), tab = vm.root[R_SYMTAB], s;
  for (size_t at = symbol_place(tab, hash);
       (s = SYMTAB_REF(tab, at)) != UNBOUND; at = symbol_next(tab, at))
    if (s != TOMB && SYM_HASH(s) == hash &&
        string_compare(SYM_NAME(s), string) == 0)
      return s;
  if (symbols_used * 4 >= SYMTAB_LEN(tab) * 3)
    symbols_rehash();
  s = make_symbol(substring(string, 0, STRING_LEN(string)));
  *obj(s) = HEADER_WITH_FLAG(*obj(s), SYMBOL_INTERNED);
  symbol_enter(s);
  return s;
}

val intern(const char *name) {
  return intern_string(string_from_c(name));
}

void symbol_keep(val v) {
  if (is_symbol(v) && HEADER_FLAG(*obj(v)) == SYMBOL_INTERNED) {
    vm.root[R_KEPT] = cons(v, vm.root[R_KEPT]);
    *obj(v) = HEADER_WITH_FLAG(*obj(v), SYMBOL_KEPT);
  }
}

void symbol_define(val symbol, val v) {
  symbol_keep(symbol);
  SYM_VALUE(symbol) = v;
}
