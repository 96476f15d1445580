/* Testudo: identifiers and scopes of the Scheme interpreter.
   SPDX-License-Identifier: BSD-2-Clause

   Hygiene. A macro's template does not insert symbols but aliases: fresh
   identifiers that remember a name and the scope of the macro's definition.
   An alias that is not bound itself means what its name means there.

   A scope finds its bindings by the addresses of their identifiers, which the
   region keeps where they are. */
#include "ast.h"

/* Bindings for each list of a scope, before there are more lists. */
enum { FULL_LISTS = 4 };

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

static struct binding **list_for(struct scope *sc, val id) {
  return &sc->lists[(id >> 4) & (sc->size - 1)];
}

static struct binding *bound_in(struct scope *sc, val id) {
  struct binding *b = *list_for(sc, id);
  while (b != NULL && b->id != id)
    b = b->next;
  return b;
}

/* The binding of *id_io; null when it is global, then *id_io is the symbol. */
struct binding *scope_find(val *id_io, struct scope *sc) {
  for (;;) {
    for (struct scope *s = sc; s != NULL; s = s->up) {
      struct binding *b = bound_in(s, *id_io);
      if (b != NULL)
        return b;
    }
    if (ref_type(*id_io) != T_ALIAS)
      return NULL;
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

static void binding_add(struct scope *sc, struct binding *b) {
  struct binding **list = list_for(sc, b->id);
  b->next = *list;
  *list = b;
}

static void scope_grow(struct scope *sc) {
  struct binding **lists = sc->lists;
  size_t size = sc->size;
  sc->size = size * 8;
  sc->lists = region_alloc(sc->size * sizeof *sc->lists);
  for (size_t i = 0; i < size; i++)
    for (struct binding *b = lists[i], *next; b != NULL; b = next) {
      next = b->next;
      binding_add(sc, b);
    }
}

static struct binding *binding_new(struct scope *sc, val id) {
  struct binding *b = region_alloc(sizeof *b);
  b->id = id;
  if (sc->n++ == FULL_LISTS * sc->size)
    scope_grow(sc);
  binding_add(sc, b);
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
  sc->up = up;
  sc->lists = &sc->only;
  sc->size = 1;
  return sc;
}

void scope_check_new(struct scope *sc, val id, val form) {
  if (bound_in(sc, id) != NULL)
    raise_syntax("variable bound twice", form);
}
