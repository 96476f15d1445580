/* Testudo: data out of forms, in the Scheme interpreter.
   SPDX-License-Identifier: BSD-2-Clause

   What a macro has inserted into a literal are aliases; a program sees the
   symbols that they stand for. Literals may be shared in parts or circular:
   datum labels make them so. */
#include "ast.h"

/* ---- is there something of a kind? */

/* What has been looked at; in a table only when that is much. */
struct search {
  bool (*wanted)(val v);
  val seen;
  int steps;
};

enum { STEPS_UNSEEN = 1000 };

static bool was_seen(struct search *s, val v) {
  if (s->steps > 0) {
    s->steps--;
    return false;
  }
  if (s->seen == FALSE)
    s->seen = make_table(TABLE_EQ, TABLE_STRONG);
  if (table_ref(s->seen, v, FALSE) != FALSE)
    return true;
  table_set(s->seen, v, TRUE);
  return false;
}

static bool search(struct search *s, val v) {
  check_form_depth();
  for (; is_pair(v); v = CDR(v))
    if (was_seen(s, v))
      return false;
    else if (search(s, CAR(v)))
      return true;
  if (!is_vector(v))
    return is_identifier(v) && s->wanted(v);
  if (was_seen(s, v))
    return false;
  for (size_t i = 0; i < VEC_LEN(v); i++) {
    PIN(v);
    if (search(s, VEC_REF(v, i)))
      return true;
  }
  return false;
}

bool syntax_has(val form, bool (*wanted)(val id)) {
  struct search s = {wanted, FALSE, STEPS_UNSEEN};
  return search(&s, form);
}

static bool is_alias(val id) {
  return ref_type(id) == T_ALIAS;
}

/* ---- copies without */

static val strip(val v, val copies);

static val strip_vector(val v, val copies) {
  val new = make_vector(VEC_LEN(v), FALSE);
  table_set(copies, v, new);
  for (size_t i = 0; i < VEC_LEN(v); i++) {
    PIN(v);
    PIN(new);
    VEC_REF(new, i) = strip(VEC_REF(v, i), copies);
  }
  return new;
}

static val strip_list(val v, val copies) {
  val head = NIL, last = NIL;
  do {
    val pair = cons(FALSE, NIL);
    table_set(copies, v, pair);
    if (head == NIL)
      head = pair;
    else
      CDR(last) = pair;
    last = pair;
    val car = strip(CAR(v), copies);
    CAR(pair) = car;
    v = CDR(v);
  } while (is_pair(v) && table_ref(copies, v, FALSE) == FALSE);
  val tail = strip(v, copies);
  CDR(last) = tail;
  return head;
}

/* A copy of the same shape; copies says what has one. */
static val strip(val v, val copies) {
  check_form_depth();
  while (is_type(v, T_ALIAS))
    v = ALIAS_NAME(v);
  if (!is_pair(v) && !is_vector(v))
    return v;
  val copy = table_ref(copies, v, FALSE);
  if (copy != FALSE)
    return copy;
  return is_vector(v) ? strip_vector(v, copies) : strip_list(v, copies);
}

val syntax_strip(val form) {
  if (is_type(form, T_ALIAS))
    return strip(form, FALSE);
  return syntax_has(form, is_alias)
             ? strip(form, make_table(TABLE_EQ, TABLE_STRONG))
             : form;
}
