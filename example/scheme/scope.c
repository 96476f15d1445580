/* Testudo: identifiers and scopes of the Scheme interpreter.
   SPDX-License-Identifier: BSD-2-Clause

   Hygiene. A macro's template does not insert symbols but aliases: fresh
   identifiers that remember a name and the scope of the macro's definition.
   An alias that is not bound itself means what its name means there.

   The scopes that are open lie within each other, and each has its depth. All
   their bindings are in one table, by the addresses of their identifiers, which
   the region keeps where they are; of one identifier's, the newest is the
   innermost. A scope seen from outside, by an alias, is the outer ones
   alone. */
#include "ast.h"

static struct {
  struct binding **lists;
  size_t n, size; /* of bindings; of lists, a power of two */
} known;

enum { FIRST_LISTS = 32 };

bool is_identifier(val v) {
  return is_ref(v) && (ref_type(v) == T_SYMBOL || ref_type(v) == T_ALIAS);
}

val make_alias(val name, struct scope *sc) {
  val a = make_object(T_ALIAS, 2, FALSE);
  ALIAS_NAME(a) = name;
  ALIAS_SCOPE(a) = (val)sc | 1;
  return a;
}

static struct scope *scope_of(val tagged) {
  return (struct scope *)(tagged & ~(val)1);
}

static struct binding **list_for(val id) {
  return &known.lists[(id >> 4) & (known.size - 1)];
}

static struct binding *innermost(val id, struct scope *sc) {
  struct binding *b = sc == NULL ? NULL : *list_for(id);
  while (b != NULL && (b->id != id || b->scope->depth > sc->depth))
    b = b->next;
  return b;
}

static struct binding *bound_in(struct scope *sc, val id) {
  struct binding *b = innermost(id, sc);
  return b != NULL && b->scope == sc ? b : NULL;
}

/* The binding of *id_io; null when it is global, then *id_io is the symbol. */
struct binding *scope_find(val *id_io, struct scope *sc) {
  for (;;) {
    struct binding *b = innermost(*id_io, sc);
    if (b != NULL || ref_type(*id_io) != T_ALIAS)
      return b;
    sc = scope_of(ALIAS_SCOPE(*id_io));
    *id_io = ALIAS_NAME(*id_io);
  }
}

bool same_identifier(val a, struct scope *sa, val b, struct scope *sb) {
  struct binding *ba = scope_find(&a, sa), *bb = scope_find(&b, sb);
  return ba == bb && (ba != NULL || a == b);
}

bool is_keyword(val id, struct scope *sc, const char *name) {
  if (!is_identifier(id) || scope_find(&id, sc) != NULL)
    return false;
  val word = intern(name), own = own_symbol(word), v = SYM_VALUE(id);
  return id == word || id == own || (is_syntax(v) && v == SYM_VALUE(own));
}

static void make_lists(size_t size) {
  known.size = size;
  known.lists = region_alloc(size * sizeof *known.lists);
}

/* Oldest first, so that the newest are at the front again. */
static void move_list(struct binding *b) {
  struct binding *reversed = NULL, *next;
  for (; b != NULL; b = next) {
    next = b->next;
    b->next = reversed;
    reversed = b;
  }
  for (b = reversed; b != NULL; b = next) {
    struct binding **list = list_for(b->id);
    next = b->next;
    b->next = *list;
    *list = b;
  }
}

static void grow(void) {
  struct binding **lists = known.lists;
  size_t size = known.size;
  make_lists(size * 4);
  for (size_t i = 0; i < size; i++)
    move_list(lists[i]);
}

static struct binding *binding_new(struct scope *sc, val id) {
  struct binding *b = region_alloc(sizeof *b);
  b->id = id;
  b->scope = sc;
  b->older = sc->bindings;
  sc->bindings = b;
  if (known.n++ == known.size)
    grow();
  struct binding **list = list_for(id);
  b->next = *list;
  *list = b;
  return b;
}

/* The scope's binding of the identifier, the old one if it has one. */
static struct binding *binding_of(struct scope *sc, val id) {
  struct binding *b = bound_in(sc, id);
  return b != NULL ? b : binding_new(sc, id);
}

static struct var *var_new(val id) {
  if (!is_identifier(id))
    raise_syntax("identifier expected", id);
  struct var *var = region_alloc(sizeof *var);
  var->name = syntax_strip(id);
  return var;
}

struct var *scope_add(struct scope *sc, val id) {
  struct var *var = var_new(id);
  return binding_new(sc, id)->var = var;
}

struct var *scope_add_again(struct scope *sc, val id) {
  struct var *var = var_new(id);
  return binding_of(sc, id)->var = var;
}

void scope_add_macro(struct scope *sc, val id, val macro) {
  struct binding *b = binding_of(sc, id);
  b->var = NULL;
  b->macro = macro;
}

struct scope *scope_new(struct scope *up) {
  struct scope *sc = region_alloc(sizeof *sc);
  sc->depth = up == NULL ? 1 : up->depth + 1;
  return sc;
}

void scope_end(struct scope *sc) {
  for (struct binding *b = sc->bindings; b != NULL; b = b->older) {
    struct binding **list = list_for(b->id);
    while (*list != b)
      list = &(*list)->next;
    *list = b->next;
    known.n--;
  }
}

void scope_none(void) {
  known.n = 0;
  make_lists(FIRST_LISTS);
}

void scope_check_new(struct scope *sc, val id, val form) {
  if (bound_in(sc, id) != NULL)
    raise_syntax("variable bound twice", form);
}
