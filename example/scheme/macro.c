/* Testudo: syntax-rules of the Scheme interpreter. SPDX-License-Identifier:
   BSD-2-Clause

   Matching binds pattern variables to forms; a variable under an ellipsis is
   bound to a sequence of bindings, and so on for every level. */
#include "ast.h"

#include <string.h>

struct match {
  struct match *next;
  val id;
  val form;             /* level 0 */
  struct match **items; /* level 1 and more: one list of matches each */
  int n;
  int depth; /* ellipses that follow the variable */
};

struct rules {
  val literals, ellipsis;
  struct scope *definition, *use;
};

/* ---- what is what */

static bool is_ellipsis(struct rules *r, val id) {
  if (!is_identifier(id))
    return false;
  if (r->ellipsis != FALSE ? id != r->ellipsis
                           : !is_keyword(id, r->definition, "..."))
    return false;
  for (val l = r->literals; is_pair(l); l = CDR(l))
    if (CAR(l) == id)
      return false;
  return true;
}

static bool is_literal(struct rules *r, val id) {
  for (val l = r->literals; is_pair(l); l = CDR(l))
    if (CAR(l) == id)
      return true;
  return false;
}

static bool is_underscore(struct rules *r, val id) {
  return is_keyword(id, r->definition, "_");
}

/* Does a part of a pattern stand for a form of the use? */
static bool is_variable(struct rules *r, val id) {
  return !is_literal(r, id) && !is_ellipsis(r, id) && !is_underscore(r, id);
}

static bool followed_by_ellipsis(struct rules *r, val pattern) {
  return is_pair(CDR(pattern)) && is_ellipsis(r, CAR(CDR(pattern)));
}

static struct match *bind(struct match *list, val id, val form) {
  struct match *m = region_alloc(sizeof *m);
  m->next = list;
  m->id = id;
  m->form = form;
  return m;
}

/* ---- matching; *out grows, which is harmless when matching fails */

static bool match(struct rules *r, val pattern, val form, struct match **out);

static val vector_list(val v) {
  val list = NIL;
  for (size_t i = VEC_LEN(v); i > 0; i--) {
    PIN(v);
    list = cons(VEC_REF(v, i - 1), list);
  }
  return list;
}

/* All variables of a pattern, to be bound to n lists of matches; so many
   ellipses follow. */
static void bind_many(struct rules *r, val pattern, int depth,
                      struct match **items, int n, struct match **out) {
  if (is_identifier(pattern)) {
    if (!is_variable(r, pattern))
      return;
    struct match *m = bind(*out, pattern, FALSE);
    m->depth = depth;
    m->items = items;
    m->n = n;
    *out = m;
  } else if (is_pair(pattern)) {
    int inner = depth + followed_by_ellipsis(r, pattern);
    bind_many(r, CAR(pattern), inner, items, n, out);
    bind_many(r, CDR(pattern), depth, items, n, out);
  } else if (is_vector(pattern)) {
    bind_many(r, vector_list(pattern), depth, items, n, out);
  }
}

static bool match_ellipsis(struct rules *r, val pattern, val form,
                           struct match **out) {
  val tail = CDR(CDR(pattern)), end;
  int n = (int)(pair_count(form, &end) - pair_count(tail, &end));
  if (n < 0)
    return false; /* a circular form has -1 */
  struct match **items = region_alloc(((size_t)n + 1) * sizeof *items);
  for (int i = 0; i < n; i++, form = CDR(form))
    if (!match(r, CAR(pattern), CAR(form), &items[i]))
      return false;
  bind_many(r, CAR(pattern), 1, items, n, out);
  return match(r, tail, form, out);
}

static bool match_identifier(struct rules *r, val pattern, val form,
                             struct match **out) {
  if (is_literal(r, pattern))
    return is_identifier(form) &&
           same_identifier(form, r->use, pattern, r->definition);
  if (!is_underscore(r, pattern))
    *out = bind(*out, pattern, form);
  return true;
}

static bool match(struct rules *r, val pattern, val form, struct match **out) {
  check_form_depth();
  for (; is_pair(pattern); pattern = CDR(pattern), form = CDR(form)) {
    if (followed_by_ellipsis(r, pattern))
      return match_ellipsis(r, pattern, form, out);
    if (!is_pair(form) || !match(r, CAR(pattern), CAR(form), out))
      return false;
  }
  if (is_identifier(pattern))
    return match_identifier(r, pattern, form, out);
  if (is_vector(pattern))
    return is_vector(form) &&
           match(r, vector_list(pattern), vector_list(form), out);
  return !is_pair(form) && !is_vector(form) && equal(pattern, form);
}

/* ---- templates */

struct instance {
  struct rules *rules;
  struct match *renamed; /* symbol -> alias, the same within one expansion */
};

static val instantiate(struct instance *in, val t, struct match *ms);

static struct match *find(struct match *ms, val id) {
  while (ms != NULL && ms->id != id)
    ms = ms->next;
  return ms;
}

/* The same, of that depth: an ellipsis puts what it has taken out of a
   sequence in front of the sequence. */
static struct match *find_at(struct match *ms, val id, int depth) {
  while (ms != NULL && (ms->id != id || ms->depth != depth))
    ms = ms->next;
  return ms;
}

static val rename_id(struct instance *in, val id) {
  struct match *m = find(in->renamed, id);
  if (m == NULL)
    m = in->renamed =
        bind(in->renamed, id, make_alias(id, in->rules->definition));
  return m->form;
}

static struct rules without_ellipsis(struct rules *r) {
  struct rules plain = *r;
  plain.ellipsis = UNSPEC;
  return plain;
}

/* The sequences that an ellipsis after t goes through, in front of list: of
   variables that the ellipses within t, and the `depth` that follow this one,
   are not enough for. Where they are more than enough, the innermost count:
   ((a b ...) ...) has all of b with each a. */
static struct match *sequences(struct rules *r, val t, int depth,
                               struct match *ms, struct match *list) {
  check_form_depth();
  if (is_pair(t) && is_ellipsis(r, CAR(t)) && is_pair(CDR(t))) {
    struct rules plain = without_ellipsis(r);
    return sequences(&plain, CAR(CDR(t)), depth, ms, list);
  }
  while (is_pair(t)) {
    val item = CAR(t);
    int inner = depth;
    for (t = CDR(t); is_pair(t) && is_ellipsis(r, CAR(t)); t = CDR(t))
      inner++;
    list = sequences(r, item, inner, ms, list);
  }
  if (is_vector(t))
    return sequences(r, vector_list(t), depth, ms, list);
  struct match *m = is_identifier(t) ? find_at(ms, t, depth + 1) : NULL;
  if (m == NULL)
    return list;
  struct match *copy = region_alloc(sizeof *copy);
  *copy = *m;
  copy->next = list;
  return copy;
}

/* Their items i, over ms. */
static struct match *enter_item(struct match *list, int i, struct match *ms) {
  for (; list != NULL; list = list->next) {
    struct match *copy = region_alloc(sizeof *copy);
    *copy = *find(list->items[i], list->id);
    copy->next = ms;
    ms = copy;
  }
  return ms;
}

static val append_reversed(val list, val tail) {
  for (; is_pair(list); list = CDR(list))
    tail = syntax_cons(CAR(list), tail);
  return tail;
}

/* Results of t for each item, reversed, in front of acc. `depth` more
   ellipses follow. */
static val repeat(struct instance *in, val t, int depth, struct match *ms,
                  val acc) {
  struct match *list = sequences(in->rules, t, depth, ms, NULL);
  if (list == NULL)
    raise_syntax("ellipsis after a template without a sequence", t);
  for (struct match *m = list->next; m != NULL; m = m->next)
    if (m->n != list->n)
      raise_syntax("sequences of different lengths", t);
  for (int i = 0; i < list->n; i++) {
    struct match *item = enter_item(list, i, ms);
    acc = depth > 0 ? repeat(in, t, depth - 1, item, acc)
                    : syntax_cons(instantiate(in, t, item), acc);
  }
  return acc;
}

/* (... template): no ellipsis inside. */
static val instantiate_plainly(struct instance *in, val t, struct match *ms) {
  struct rules plain = without_ellipsis(in->rules);
  struct instance escaped = {&plain, in->renamed};
  val v = instantiate(&escaped, t, ms);
  in->renamed = escaped.renamed;
  return v;
}

/* Items, each with the ellipses that follow it, and what comes after them. */
static val instantiate_items(struct instance *in, val t, struct match *ms) {
  struct rules *r = in->rules;
  val acc = NIL;
  if (is_pair(t) && is_ellipsis(r, CAR(t)))
    raise_syntax("ellipsis after no template", syntax_strip(t));
  while (is_pair(t)) {
    val item = CAR(t);
    int depth = 0;
    t = CDR(t);
    while (is_pair(t) && is_ellipsis(r, CAR(t))) {
      depth++;
      t = CDR(t);
    }
    acc = depth > 0 ? repeat(in, item, depth - 1, ms, acc)
                    : syntax_cons(instantiate(in, item, ms), acc);
  }
  return append_reversed(acc, t == NIL ? NIL : instantiate(in, t, ms));
}

static val instantiate_vector(struct instance *in, val t, struct match *ms) {
  val list = instantiate_items(in, vector_list(t), ms);
  val v = make_vector((size_t)list_length(list), FALSE);
  for (size_t i = 0; list != NIL; list = CDR(list))
    VEC_REF(v, i++) = CAR(list);
  return v;
}

static val instantiate(struct instance *in, val t, struct match *ms) {
  check_form_depth();
  if (is_identifier(t)) {
    struct match *m = find_at(ms, t, 0);
    if (m != NULL)
      return m->form;
    if (find(ms, t) != NULL)
      raise_syntax("pattern variable needs an ellipsis", syntax_strip(t));
    return rename_id(in, t);
  }
  if (is_pair(t))
    return is_ellipsis(in->rules, CAR(t)) && is_pair(CDR(t))
               ? instantiate_plainly(in, CAR(CDR(t)), ms)
               : instantiate_items(in, t, ms);
  return is_vector(t) ? instantiate_vector(in, t, ms) : t;
}

/* ---- entry */

static struct scope *macro_scope(val macro) {
  return (struct scope *)(MACRO_SCOPE(macro) & ~(val)1);
}

val macro_expand(val macro, val form, struct scope *sc) {
  struct rules r = {.literals = MACRO_LITERALS(macro),
                    .ellipsis = MACRO_ELLIPSIS(macro),
                    .definition = macro_scope(macro),
                    .use = sc};
  struct region_mark mark = region_mark();
  for (val l = MACRO_RULES(macro); l != NIL; l = CDR(l)) {
    struct match *ms = NULL;
    val rule = CAR(l);
    if (match(&r, CDR(CAR(rule)), CDR(form), &ms)) {
      struct instance in = {&r, NULL};
      val result = instantiate(&in, CAR(CDR(rule)), ms);
      region_release(mark);
      return result;
    }
  }
  raise_syntax("no matching syntax rule", form);
}

/* A keyword that another macro or special form means. */
static val macro_alias(val spec, struct scope *sc) {
  if (is_identifier(spec)) {
    struct binding *b = scope_find(&spec, sc);
    val v = b == NULL ? SYM_VALUE(spec) : b->var == NULL ? b->macro : FALSE;
    if (is_syntax(v) || is_type(v, T_MACRO))
      return v;
  }
  raise_syntax("syntax-rules expected", spec);
}

/* A pattern is looked at once, where its macro is defined: one ellipsis at
   each level, no variable twice. *seen are the variables so far. */
static void check_pattern(struct rules *r, val pattern, val *seen) {
  check_form_depth();
  bool many = false;
  val p = is_vector(pattern) ? vector_list(pattern) : pattern, slow = p;
  for (int n = 1; is_pair(p); p = CDR(p), n++) {
    if (!is_ellipsis(r, CAR(p)))
      check_pattern(r, CAR(p), seen);
    else if (many)
      raise_syntax("two ellipses at one level of a pattern",
                   syntax_strip(pattern));
    else
      many = true;
    slow = n % 2 == 0 ? CDR(slow) : slow;
    if (CDR(p) == slow)
      raise_syntax("circular pattern", pattern);
  }
  if (is_vector(p))
    check_pattern(r, p, seen);
  if (!is_identifier(p) || !is_variable(r, p))
    return;
  for (val l = *seen; l != NIL; l = CDR(l))
    if (CAR(l) == p)
      raise_syntax("pattern variable twice", syntax_strip(p));
  *seen = cons(p, *seen);
}

/* A template may share parts, but nothing in it may contain itself. */
enum { ENTERED = 1, LEFT };

static bool enter(val t, val states) {
  val state = table_ref(states, t, FALSE);
  if (state == FIX(ENTERED))
    raise_syntax("circular template", t);
  table_set(states, t, state == FALSE ? FIX(ENTERED) : state);
  return state == FALSE;
}

static void check_template(val t, val states) {
  check_form_depth();
  val p = t;
  for (; is_pair(p) && enter(p, states); p = CDR(p))
    check_template(CAR(p), states);
  if (is_vector(p) && enter(p, states)) {
    check_template(vector_list(p), states);
    table_set(states, p, FIX(LEFT));
  }
  for (; t != p; t = CDR(t))
    table_set(states, t, FIX(LEFT));
}

static void check_rule(struct rules *r, val rule) {
  val seen = NIL;
  if (list_length(rule) != 2 || !is_pair(CAR(rule)))
    raise_syntax("bad syntax rule", rule);
  check_pattern(r, CDR(CAR(rule)), &seen);
  check_template(CAR(CDR(rule)), make_table(TABLE_EQ, TABLE_STRONG));
}

val macro_from_spec(val spec, struct scope *sc) {
  if (!is_pair(spec) || !is_identifier(CAR(spec)) ||
      !is_keyword(CAR(spec), sc, "syntax-rules"))
    return macro_alias(spec, sc);
  val rest = CDR(spec), ellipsis = FALSE;
  if (list_length(spec) < 2)
    raise_syntax("bad syntax-rules", spec);
  if (is_identifier(CAR(rest))) {
    ellipsis = CAR(rest);
    rest = CDR(rest);
  }
  if (!is_pair(rest) || list_length(CAR(rest)) < 0)
    raise_syntax("bad syntax-rules", spec);
  struct rules r = {
      .literals = CAR(rest), .ellipsis = ellipsis, .definition = sc};
  for (val l = CDR(rest); l != NIL; l = CDR(l))
    check_rule(&r, CAR(l));
  val macro = make_object(T_MACRO, 4, FALSE);
  MACRO_SCOPE(macro) = (val)sc | 1;
  MACRO_LITERALS(macro) = CAR(rest);
  MACRO_RULES(macro) = CDR(rest);
  MACRO_ELLIPSIS(macro) = ellipsis;
  return macro;
}
