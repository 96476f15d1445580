/* Testudo: define-record-type of the Scheme interpreter.
   SPDX-License-Identifier: BSD-2-Clause

   It is rewritten into definitions of the type and its procedures: see
   record.c for what those call. */
#include "ast.h"

#define G(name)  global_id(name)
#define LIST     syntax_list
#define CADR(f)  CAR(CDR(f))
#define CADDR(f) CAR(CDR(CDR(f)))
#define CDDR(f)  CDR(CDR(f))

/* ---- is it well formed? */

static void check_names(val list, int max, val form) {
  intptr_t n = list_length(list);
  if (n < 1 || (max >= 0 && n > max))
    raise_syntax("bad record type", form);
  for (; list != NIL; list = CDR(list))
    if (!is_identifier(CAR(list)))
      raise_syntax("identifier expected", form);
}

/* A table of the names: each may be there once. */
static val distinct(val names, val form) {
  val table = make_table(TABLE_EQ, TABLE_STRONG);
  for (; names != NIL; names = CDR(names)) {
    if (table_ref(table, CAR(names), FALSE) != FALSE)
      raise_syntax("field twice", form);
    table_set(table, CAR(names), TRUE);
  }
  return table;
}

static val field_name(val field) {
  return is_pair(field) ? CAR(field) : field;
}

/* The names of fields that are names or (name [accessor [modifier]]). */
static val field_names(val fields, val form) {
  val names = NIL;
  for (val l = list_reverse(fields); l != NIL; l = CDR(l)) {
    if (!is_identifier(CAR(l)))
      check_names(CAR(l), 3, form);
    names = syntax_cons(field_name(CAR(l)), names);
  }
  return names;
}

/* (maker field ...), also of a name alone, which stands for all fields; FALSE
   for none. */
static val maker_spec(val maker, val names, val form) {
  val known = distinct(names, form);
  if (maker == FALSE || maker == TRUE)
    return FALSE;
  if (is_identifier(maker))
    return syntax_cons(maker, names);
  check_names(maker, -1, form);
  distinct(CDR(maker), form);
  for (val l = CDR(maker); l != NIL; l = CDR(l))
    if (table_ref(known, CAR(l), FALSE) == FALSE)
      raise_syntax("no such field", form);
  return maker;
}

/* ---- definitions */

/* Its parameters have names of their own: a field may be called like the
   type, or like something global. */
static val define_maker(val type, val spec, val names) {
  val args = NIL, formals = NIL;
  val params = make_table(TABLE_EQ, TABLE_STRONG);
  for (val l = list_reverse(CDR(spec)); l != NIL; l = CDR(l)) {
    val param = syntax_fresh("field");
    table_set(params, CAR(l), param);
    formals = syntax_cons(param, formals);
  }
  for (val l = list_reverse(names); l != NIL; l = CDR(l))
    args = syntax_cons(table_ref(params, CAR(l), FALSE), args);
  val body = syntax_cons(G("%record"), syntax_cons(type, args));
  return LIST(3, G("define"), syntax_cons(CAR(spec), formals), body);
}

static val define_predicate(val type, val name) {
  val v = syntax_fresh("v");
  return LIST(3, G("define"), LIST(2, name, v),
              LIST(3, G("%record?"), v, type));
}

/* What a field has of accessor and modifier is defined in front of list. */
static val define_field(val type, val field, int i, val list) {
  if (!is_pair(field) || CDR(field) == NIL)
    return list;
  val r = syntax_fresh("record"), v = syntax_fresh("value");
  val get = LIST(3, G("define"), LIST(2, CADR(field), r),
                 LIST(4, G("%record-ref"), r, type, FIX(i)));
  list = syntax_cons(get, list);
  if (CDDR(field) == NIL)
    return list;
  val name = syntax_quote(CADDR(field));
  val set = LIST(3, G("define"), LIST(3, CADDR(field), r, v),
                 LIST(6, G("%record-set!"), r, type, FIX(i), v, name));
  return syntax_cons(set, list);
}

static val type_name(val type, val form) {
  if (is_identifier(type))
    return type;
  check_names(type, -1, form);
  return CAR(type);
}

static val predicate_name(val predicate, val form) {
  if (!is_identifier(predicate) && predicate != FALSE && predicate != TRUE)
    raise_syntax("identifier expected", form);
  return is_identifier(predicate) ? predicate : FALSE;
}

/* (define-record-type type maker predicate field ...); the type may be in a
   list, and the maker or the predicate a boolean: there is none. At the top
   level a program may define the name of the type once more: the procedures
   know the type itself. */
val rewrite_define_record_type(val form, struct scope *sc) {
  if (list_length(form) < 4)
    raise_syntax("bad syntax", form);
  val rest = CDDR(form), fields = CDDR(rest), list = NIL;
  val type = type_name(CADR(form), form);
  val predicate = predicate_name(CADR(rest), form);
  val names = field_names(fields, form);
  val maker = maker_spec(CAR(rest), names, form);
  int i = 0;
  val rtd = LIST(3, G("%make-rtd"), syntax_quote(type), syntax_quote(names));
  val name = type;
  if (sc == NULL) {
    rtd = syntax_quote(make_rtd(syntax_strip(type), syntax_strip(names)));
    type = rtd;
  }
  for (val l = fields; l != NIL; l = CDR(l))
    list = define_field(type, CAR(l), i++, list);
  if (predicate != FALSE)
    list = syntax_cons(define_predicate(type, predicate), list);
  if (maker != FALSE)
    list = syntax_cons(define_maker(type, maker, names), list);
  list = syntax_cons(LIST(3, G("define"), name, rtd), list);
  return syntax_begin(list);
}
