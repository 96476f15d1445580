/* Testudo: forms that the Scheme interpreter rewrites in terms of others.
   SPDX-License-Identifier: BSD-2-Clause

   Names that a rewriting inserts are aliases of global names, so that local
   variables of the program cannot capture them; a fresh alias also serves as
   a variable that the program cannot name. */
#include "ast.h"

#define G(name)  global_id(name)
#define LIST     syntax_list
#define CADR(f)  CAR(CDR(f))
#define CADDR(f) CAR(CDR(CDR(f)))
#define CDDR(f)  CDR(CDR(f))

static void need(val form, int min) {
  if (list_length(form) < min)
    raise_syntax("bad syntax", form);
}

val syntax_quote(val v) {
  return LIST(2, G("quote"), v);
}

val syntax_begin(val forms) {
  return syntax_cons(G("begin"), forms);
}

static val let_body(val forms) {
  return syntax_cons(G("let"), syntax_cons(NIL, forms));
}

static val lambda(val params, val body) {
  return syntax_cons(G("lambda"), syntax_cons(params, body));
}

val syntax_fresh(const char *name) {
  return make_alias(intern(name), NULL);
}

/* ---- binding */

static val rewrite_letrec(val form, struct scope *sc) {
  (void)sc;
  need(form, 3);
  syntax_length(CADR(form), form);
  val body = LIST(1, let_body(CDDR(form)));
  for (val l = list_reverse(CADR(form)); l != NIL; l = CDR(l)) {
    need(CAR(l), 2);
    body = syntax_cons(syntax_cons(G("define"), CAR(l)), body);
  }
  return let_body(body);
}

static bool is_lambda(val init, struct scope *sc) {
  return is_pair(init) && form_head(init, sc) == HEAD_LAMBDA;
}

static bool is_constant(val init, struct scope *sc) {
  return is_pair(init) ? is_keyword(CAR(init), sc, "quote")
                       : !is_identifier(init);
}

static val define(val id, val rest) {
  return syntax_cons(G("define"), syntax_cons(id, rest));
}

static val list_onto(val list, val rest) {
  for (val l = list_reverse(list); l != NIL; l = CDR(l))
    rest = syntax_cons(CAR(l), rest);
  return rest;
}

/* A continuation may compute a value again. It finds the other variables as
   they were, since all values are there before any variable has its own; and
   a variable has the place that it had, since that is made before. */
static val rewrite_plain_letrec(val form, struct scope *sc) {
  need(form, 3);
  syntax_length(CADR(form), form);
  val places = NIL, values = NIL, sets = NIL, lambdas = NIL;
  for (val l = list_reverse(CADR(form)); l != NIL; l = CDR(l)) {
    need(CAR(l), 2);
    val id = CAR(CAR(l)), init = CDR(CAR(l));
    if (is_lambda(CAR(init), sc)) {
      lambdas = syntax_cons(define(id, init), lambdas);
      continue;
    }
    if (!is_constant(CAR(init), sc)) {
      val t = make_alias(syntax_strip(id), NULL);
      values = syntax_cons(define(t, init), values);
      init = LIST(1, t);
    }
    places = syntax_cons(define(id, NIL), places);
    sets = syntax_cons(syntax_cons(G("set!"), syntax_cons(id, init)), sets);
  }
  if (values == NIL)
    return rewrite_letrec(form, sc);
  val body = list_onto(lambdas, LIST(1, let_body(CDDR(form))));
  return let_body(list_onto(places, list_onto(values, list_onto(sets, body))));
}

static val fresh_for(val id, val *pairs_io) {
  if (!is_identifier(id))
    raise_syntax("identifier expected", id);
  val t = syntax_fresh("t");
  *pairs_io = cons(cons(id, t), *pairs_io);
  return t;
}

/* Formals with every variable replaced by a fresh one; *pairs_io collects
   (variable . fresh). */
static val fresh_formals(val formals, val *pairs_io) {
  val list = NIL, rest;
  if (pair_count(formals, &rest) < 0)
    raise_syntax("circular formals", formals);
  for (; is_pair(formals); formals = CDR(formals))
    list = cons(fresh_for(CAR(formals), pairs_io), list);
  rest = rest == NIL ? NIL : fresh_for(rest, pairs_io);
  for (; list != NIL; list = CDR(list))
    rest = syntax_cons(CAR(list), rest);
  return rest;
}

static val call_with_values(val expr, val formals, val body) {
  return LIST(3, G("call-with-values"), lambda(NIL, LIST(1, expr)),
              lambda(formals, body));
}

/* (cons a (cons b rest)) for (a b . rest). */
static val list_of(val formals) {
  val list = NIL, rest;
  if (pair_count(formals, &rest) < 0)
    raise_syntax("circular formals", formals);
  for (; is_pair(formals); formals = CDR(formals))
    list = cons(CAR(formals), list);
  rest = rest == NIL ? syntax_quote(NIL) : rest;
  for (; list != NIL; list = CDR(list))
    rest = LIST(3, G("cons"), CAR(list), rest);
  return rest;
}

static val nth_value(val all, intptr_t n) {
  return n == 0 ? LIST(2, G("car"), all)
                : LIST(3, G("list-ref"), all, FIX(n));
}

/* Bindings for a clause, in reverse: in front of *all_io that of a fresh
   variable to the list of the values, or to the only one, and in front of
   *vars_io those of the clause's variables. No clause lies within another. */
static void bind_clause(val clause, val *all_io, val *vars_io) {
  need(clause, 2);
  val formals = CAR(clause), all = syntax_fresh("values"), rest;
  bool one = is_pair(formals) && CDR(formals) == NIL;
  val kept = one ? CAR(formals) : list_of(formals);
  val value = call_with_values(CADR(clause), formals, LIST(1, kept));
  *all_io = syntax_cons(LIST(2, all, value), *all_io);
  intptr_t i = 0;
  for (rest = formals; is_pair(rest); rest = CDR(rest), i++) {
    val part = one ? all : nth_value(all, i);
    *vars_io = syntax_cons(LIST(2, CAR(rest), part), *vars_io);
  }
  if (rest != NIL) {
    val part = i == 0 ? all : LIST(3, G("list-tail"), all, FIX(i));
    *vars_io = syntax_cons(LIST(2, rest, part), *vars_io);
  }
}

static val rewrite_let_values(val form, struct scope *sc) {
  (void)sc;
  need(form, 3);
  val all = NIL, vars = NIL;
  syntax_length(CADR(form), form);
  for (val l = CADR(form); l != NIL; l = CDR(l))
    bind_clause(CAR(l), &all, &vars);
  val body =
      syntax_cons(G("let"), syntax_cons(list_reverse(vars), CDDR(form)));
  return LIST(3, G("let"), list_reverse(all), body);
}

static val rewrite_let_star_values(val form, struct scope *sc) {
  (void)sc;
  need(form, 3);
  val bindings = NIL;
  syntax_length(CADR(form), form);
  for (val l = CADR(form); l != NIL; l = CDR(l))
    bind_clause(CAR(l), &bindings, &bindings);
  bindings = list_reverse(bindings);
  return syntax_cons(G("let*"), syntax_cons(bindings, CDDR(form)));
}

/* The first variable holds the list of all values until the others have
   theirs. Nothing is defined before there are values. */
static val rewrite_define_values(val form, struct scope *sc) {
  (void)sc;
  need(form, 3);
  val pairs = NIL, temps = NIL, all = NIL;
  val formals = fresh_formals(CADR(form), &pairs);
  if (pairs == NIL)
    return call_with_values(CADDR(form), NIL, LIST(1, FALSE));
  for (val p = pairs; p != NIL; p = CDR(p))
    temps = syntax_cons(CDR(CAR(p)), temps);
  pairs = list_reverse(pairs);
  val first = CAR(CAR(pairs));
  val values = call_with_values(CADDR(form), formals,
                                LIST(1, syntax_cons(G("list"), temps)));
  intptr_t i = 1;
  all = syntax_cons(LIST(3, G("define"), first, values), all);
  for (val p = CDR(pairs); p != NIL; p = CDR(p)) {
    val value = nth_value(first, i++);
    all = syntax_cons(LIST(3, G("define"), CAR(CAR(p)), value), all);
  }
  val last = LIST(3, G("set!"), first, LIST(2, G("car"), first));
  return syntax_begin(list_reverse(syntax_cons(last, all)));
}

static val rewrite_parameterize(val form, struct scope *sc) {
  (void)sc;
  need(form, 3);
  val list = NIL;
  syntax_length(CADR(form), form);
  for (val l = list_reverse(CADR(form)); l != NIL; l = CDR(l)) {
    need(CAR(l), 2);
    val pair = LIST(3, G("cons"), CAR(CAR(l)), CADR(CAR(l)));
    list = syntax_cons(pair, list);
  }
  return LIST(3, G("%parameterize"), syntax_cons(G("list"), list),
              lambda(NIL, CDDR(form)));
}

/* ---- conditionals */

static val rewrite_when(val form, struct scope *sc) {
  (void)sc;
  need(form, 2);
  return LIST(3, G("if"), CADR(form), syntax_begin(CDDR(form)));
}

static val rewrite_unless(val form, struct scope *sc) {
  (void)sc;
  need(form, 2);
  return LIST(3, G("if"), LIST(2, G("not"), CADR(form)),
              syntax_begin(CDDR(form)));
}

/* The value of CLAUSE, which begins with `else`. */
static val last_clause(val clause, val value, bool last) {
  if (!last)
    raise_syntax("clause after else", clause);
  return value;
}

static val cond_clause(val clause, val rest, bool last, struct scope *sc) {
  need(clause, 1);
  val test = CAR(clause), body = CDR(clause);
  if (is_keyword(test, sc, "else"))
    return last_clause(clause, syntax_begin(body), last);
  if (body == NIL)
    return LIST(3, G("or"), test, rest);
  if (is_keyword(CAR(body), sc, "=>")) {
    need(body, 2);
    val t = syntax_fresh("t");
    return LIST(3, G("let"), LIST(1, LIST(2, t, test)),
                LIST(4, G("if"), t, LIST(2, CADR(body), t), rest));
  }
  if (last)
    return LIST(3, G("if"), test, syntax_begin(body));
  return LIST(4, G("if"), test, syntax_begin(body), rest);
}

static val rewrite_cond(val form, struct scope *sc) {
  val rest = UNSPEC;
  bool last = true;
  syntax_length(CDR(form), form);
  for (val l = list_reverse(CDR(form)); l != NIL; l = CDR(l)) {
    rest = cond_clause(CAR(l), rest, last, sc);
    last = false;
  }
  return rest;
}

/* More data than are compared one after the other. */
enum { MANY_DATA = 12 };

static val many_data(val data) {
  val table = make_table(TABLE_EQV, TABLE_STRONG);
  for (; data != NIL; data = CDR(data))
    table_set(table, syntax_strip(CAR(data)), TRUE);
  return table;
}

static val case_test(val data, val key, val form) {
  val test = FALSE;
  if (syntax_length(data, form) > MANY_DATA)
    return LIST(3, G("hash-table-contains?"), syntax_quote(many_data(data)),
                key);
  for (val l = list_reverse(data); l != NIL; l = CDR(l)) {
    val one = LIST(3, G("eqv?"), key, syntax_quote(CAR(l)));
    test = test == FALSE ? one : LIST(3, G("or"), one, test);
  }
  return test;
}

static val case_body(val body, val key, struct scope *sc) {
  if (is_pair(body) && is_keyword(CAR(body), sc, "=>")) {
    need(body, 2);
    return LIST(2, CADR(body), key);
  }
  return syntax_begin(body);
}

static val rewrite_case(val form, struct scope *sc) {
  need(form, 2);
  val key = syntax_fresh("key"), rest = UNSPEC;
  for (val l = list_reverse(CDDR(form)); l != NIL; l = CDR(l)) {
    need(CAR(l), 1);
    val data = CAR(CAR(l)), body = case_body(CDR(CAR(l)), key, sc);
    if (is_keyword(data, sc, "else"))
      rest = last_clause(CAR(l), body, rest == UNSPEC);
    else
      rest = LIST(4, G("if"), case_test(data, key, form), body, rest);
  }
  return LIST(3, G("let"), LIST(1, LIST(2, key, CADR(form))), rest);
}

static val rewrite_do(val form, struct scope *sc) {
  (void)sc;
  need(form, 3);
  val loop = syntax_fresh("do-loop"), inits = NIL, steps = NIL;
  syntax_length(CADR(form), form);
  for (val l = list_reverse(CADR(form)); l != NIL; l = CDR(l)) {
    need(CAR(l), 2);
    val var = CAR(CAR(l)), rest = CDDR(CAR(l));
    inits = syntax_cons(LIST(2, var, CADR(CAR(l))), inits);
    steps = syntax_cons(rest == NIL ? var : CAR(rest), steps);
  }
  val exit = CADDR(form), body = CDR(CDDR(form));
  need(exit, 1);
  val result = CDR(exit) == NIL ? UNSPEC : syntax_begin(CDR(exit));
  val again = syntax_cons(loop, steps);
  if (body != NIL)
    again = LIST(3, G("begin"), syntax_begin(body), again);
  return LIST(4, G("let"), loop, inits,
              LIST(4, G("if"), CAR(exit), result, again));
}

/* ---- exceptions and promises */

/* (guard (var clause ...) body ...) */
static val rewrite_guard(val form, struct scope *sc) {
  need(form, 3);
  need(CADR(form), 1);
  val var = CAR(CADR(form)), clauses = CDR(CADR(form));
  val reraise = syntax_fresh("reraise");
  bool has_else = false;
  for (val l = clauses; is_pair(l); l = CDR(l))
    has_else |= is_pair(CAR(l)) && is_keyword(CAR(CAR(l)), sc, "else");
  if (!has_else) {
    val list = LIST(1, LIST(2, G("else"), LIST(1, reraise)));
    for (val l = list_reverse(clauses); l != NIL; l = CDR(l))
      list = syntax_cons(CAR(l), list);
    clauses = list;
  }
  return LIST(
      3, G("%guard"), lambda(NIL, CDDR(form)),
      lambda(LIST(2, var, reraise), LIST(1, syntax_cons(G("cond"), clauses))));
}

static val rewrite_delay(val form, struct scope *sc) {
  (void)sc;
  need(form, 2);
  val promise = LIST(3, G("%make-promise"), TRUE, CADR(form));
  return LIST(3, G("%make-promise"), FALSE, lambda(NIL, LIST(1, promise)));
}

static val rewrite_delay_force(val form, struct scope *sc) {
  (void)sc;
  need(form, 2);
  return LIST(3, G("%make-promise"), FALSE, lambda(NIL, LIST(1, CADR(form))));
}

static val rewrite_cons_stream(val form, struct scope *sc) {
  (void)sc;
  need(form, 3);
  return LIST(3, G("cons"), CADR(form), LIST(2, G("delay"), CADDR(form)));
}

/* ---- quasiquote: depth counts nested quasiquotations

   What has nothing to unquote is a literal as it is: it may be circular. */

static val quasi(val t, int depth, struct scope *sc);
static val quasi_item(val t, int depth, struct scope *sc);

/* Might it be one, whatever the scope says? */
static bool is_quasi_word(val id) {
  val name = syntax_strip(id);
  return is_keyword(name, NULL, "unquote") ||
         is_keyword(name, NULL, "unquote-splicing") ||
         is_keyword(name, NULL, "quasiquote");
}

static bool is_form(val t, struct scope *sc, const char *name) {
  return is_pair(t) && is_keyword(CAR(t), sc, name) && is_pair(CDR(t)) &&
         CDDR(t) == NIL;
}

/* A list that looks like an unquotation has one operand, or is a mistake. */
static void check_unquote(val t, struct scope *sc) {
  intptr_t n = list_length(t);
  if (n <= 0 || n == 2)
    return;
  if (is_keyword(CAR(t), sc, "unquote") ||
      is_keyword(CAR(t), sc, "unquote-splicing")) {
    (void)position_enter(t);
    raise_syntax("bad unquote", t);
  }
}

/* Does the expression stand for the datum itself? */
static bool stands_for(val expr, val datum, struct scope *sc) {
  if (is_form(expr, sc, "quote"))
    return CADR(expr) == datum;
  return expr == datum && !is_pair(expr) && !is_identifier(expr);
}

static val quasi_cons(val head, val tail, struct scope *sc, val original) {
  if (stands_for(head, CAR(original), sc) &&
      stands_for(tail, CDR(original), sc))
    return syntax_quote(original);
  return LIST(3, G("cons"), head, tail);
}

static val quasi_nested(val t, int depth, struct scope *sc) {
  val inner = quasi(CDR(t), depth, sc);
  return quasi_cons(syntax_quote(CAR(t)), inner, sc, t);
}

/* The first of t, or what is spliced there, in front of what the rest has
   become. */
static val quasi_element(val t, val tail, int depth, struct scope *sc) {
  val head = CAR(t);
  if (depth == 0)
    check_unquote(head, sc);
  if (depth > 0 || !is_form(head, sc, "unquote-splicing"))
    return quasi_cons(quasi_item(head, depth, sc), tail, sc, t);
  if (is_form(tail, sc, "quote") && CADR(tail) == NIL)
    return CADR(head);
  return LIST(3, G("append"), CADR(head), tail);
}

static val quasi_pair(val t, int depth, struct scope *sc) {
  if (is_form(t, sc, "unquote"))
    return depth == 0 ? CADR(t) : quasi_nested(t, depth - 1, sc);
  if (is_form(t, sc, "quasiquote"))
    return quasi_nested(t, depth + 1, sc);
  if (is_form(t, sc, "unquote-splicing"))
    return quasi_nested(t, depth - 1, sc);
  return quasi_element(t, quasi(CDR(t), depth, sc), depth, sc);
}

/* No tail of its elements is a form to unquote. */
static val quasi_vector(val t, int depth, struct scope *sc) {
  val list = NIL, q = syntax_quote(NIL);
  for (size_t i = VEC_LEN(t); i > 0; i--) {
    PIN(t);
    list = cons(VEC_REF(t, i - 1), list);
    q = quasi_element(list, q, depth, sc);
  }
  return stands_for(q, list, sc) ? syntax_quote(t)
                                 : LIST(2, G("list->vector"), q);
}

static val quasi(val t, int depth, struct scope *sc) {
  check_form_depth();
  if (is_pair(t))
    return quasi_pair(t, depth, sc);
  if (is_vector(t))
    return quasi_vector(t, depth, sc);
  return is_identifier(t) || t == NIL ? syntax_quote(t) : t;
}

static val quasi_item(val t, int depth, struct scope *sc) {
  bool compound = is_pair(t) || is_vector(t);
  return compound && !syntax_has(t, is_quasi_word) ? syntax_quote(t)
                                                   : quasi(t, depth, sc);
}

static val rewrite_quasiquote(val form, struct scope *sc) {
  need(form, 2);
  check_unquote(CADR(form), sc);
  return quasi_item(CADR(form), 0, sc);
}

/* ---- errors */

static val rewrite_syntax_error(val form, struct scope *sc) {
  (void)sc;
  need(form, 2);
  val e = make_object(T_ERROR, 5, FALSE);
  ERROR_KIND(e) = intern("syntax");
  ERROR_MESSAGE(e) = CADR(form);
  ERROR_IRRITANTS(e) = syntax_strip(CDDR(form));
  ERROR_PLACE(e) = place_string(vm.root[R_FILE], form_pos(form));
  raise_value(e);
}

const struct derived derived_forms[] = {
    {"letrec", rewrite_plain_letrec},
    {"letrec*", rewrite_letrec},
    {"let-values", rewrite_let_values},
    {"let*-values", rewrite_let_star_values},
    {"define-values", rewrite_define_values},
    {"parameterize", rewrite_parameterize},
    {"when", rewrite_when},
    {"unless", rewrite_unless},
    {"cond", rewrite_cond},
    {"case", rewrite_case},
    {"do", rewrite_do},
    {"guard", rewrite_guard},
    {"delay", rewrite_delay},
    {"delay-force", rewrite_delay_force},
    {"cons-stream", rewrite_cons_stream},
    {"quasiquote", rewrite_quasiquote},
    {"define-record-type", rewrite_define_record_type},
    {"cond-expand", rewrite_cond_expand},
    {"include", rewrite_include},
    {"include-ci", rewrite_include_ci},
    {"import", rewrite_import},
    {"define-library", rewrite_define_library},
    {"%alias", rewrite_alias},
    {"syntax-error", rewrite_syntax_error},
};

const int derived_count = sizeof derived_forms / sizeof *derived_forms;
