/* Testudo: primitives on pairs and lists, and equivalence.
   SPDX-License-Identifier: BSD-2-Clause */
#include "scheme.h"

/* ---- tools */

intptr_t pair_count(val list, val *end_o) {
  intptr_t n = 0;
  val slow = list;
  *end_o = FALSE;
  while (is_pair(list)) {
    list = CDR(list);
    if ((++n & 1) == 0) {
      slow = CDR(slow);
      if (slow == list)
        return -1;
    }
  }
  *end_o = list;
  return n;
}

intptr_t list_length(val list) {
  val end;
  intptr_t n = pair_count(list, &end);
  return end == NIL ? n : -1;
}

val list_reverse(val list) {
  val r = NIL;
  for (; is_pair(list); list = CDR(list))
    r = cons(CAR(list), r);
  return r;
}

static val arg_list(val *argv, int i) {
  if (list_length(argv[i]) < 0)
    raise_type(i, argv[i], "list");
  return argv[i];
}

/* A second reference follows at half the speed: a circular list is no list. */
struct walk {
  val list, slow;
  bool odd;
};

static bool walk_on(struct walk *w) {
  w->list = CDR(w->list);
  w->odd = !w->odd;
  if (!w->odd)
    w->slow = CDR(w->slow);
  return w->list != w->slow;
}

static val last_pair(val *argv, int i) {
  val last = arg_pair(argv, i);
  struct walk w = {last, last, false};
  while (is_pair(CDR(w.list)))
    if (!walk_on(&w))
      raise_type(i, argv[i], "list");
  return w.list;
}

/* ---- equivalence: see equal.c */

static val p_eq(int argc, val *argv) {
  (void)argc;
  return boolean(argv[0] == argv[1]);
}

static val p_eqv(int argc, val *argv) {
  (void)argc;
  return boolean(eqv(argv[0], argv[1]));
}

static val p_equal(int argc, val *argv) {
  (void)argc;
  return boolean(equal(argv[0], argv[1]));
}

static val p_not(int argc, val *argv) {
  (void)argc;
  return boolean(argv[0] == FALSE);
}

/* ---- pairs */

static val p_cons(int argc, val *argv) {
  (void)argc;
  return cons(argv[0], argv[1]);
}

static val p_pairp(int argc, val *argv) {
  (void)argc;
  return boolean(is_pair(argv[0]));
}

static val p_nullp(int argc, val *argv) {
  (void)argc;
  return boolean(argv[0] == NIL);
}

static val p_listp(int argc, val *argv) {
  (void)argc;
  return boolean(list_length(argv[0]) >= 0);
}

static val p_set_car(int argc, val *argv) {
  (void)argc;
  CAR(arg_pair(argv, 0)) = argv[1];
  return UNSPEC;
}

static val p_set_cdr(int argc, val *argv) {
  (void)argc;
  CDR(arg_pair(argv, 0)) = argv[1];
  return UNSPEC;
}

/* c[ad]+r: the name says the path, read from the right. */
static val path(val *argv) {
  const char *name = prim_name(), *p = name;
  val v = argv[0];
  while (p[1] != 'r')
    p++;
  for (; p > name; p--) {
    if (!is_pair(v))
      raise_type(0, argv[0], "list of the right shape");
    v = *p == 'a' ? CAR(v) : CDR(v);
  }
  return v;
}

static val p_path(int argc, val *argv) {
  (void)argc;
  return path(argv);
}

/* ---- lists */

static val p_list(int argc, val *argv) {
  val list = NIL;
  for (int i = argc - 1; i >= 0; i--)
    list = cons(argv[i], list);
  return list;
}

static val p_cons_star(int argc, val *argv) {
  val list = argv[argc - 1];
  for (int i = argc - 2; i >= 0; i--)
    list = cons(argv[i], list);
  return list;
}

static val p_make_list(int argc, val *argv) {
  val list = NIL;
  for (size_t n = arg_index(argv, 0, (size_t)1 << 40); n > 0; n--)
    list = cons(argc > 1 ? argv[1] : UNSPEC, list);
  return list;
}

static val p_length(int argc, val *argv) {
  (void)argc;
  return FIX(list_length(arg_list(argv, 0)));
}

/* A copy of the list that ends in tail. */
static val copy_before(val list, val tail) {
  if (!is_pair(list))
    return tail;
  val head = cons(CAR(list), NIL), last = head;
  for (list = CDR(list); is_pair(list); list = CDR(list)) {
    val pair = cons(CAR(list), NIL);
    CDR(last) = pair;
    last = pair;
  }
  CDR(last) = tail;
  return head;
}

static val p_append(int argc, val *argv) {
  if (argc == 0)
    return NIL;
  val result = argv[argc - 1];
  for (int i = argc - 2; i >= 0; i--)
    result = copy_before(arg_list(argv, i), result);
  return result;
}

static val p_append_in_place(int argc, val *argv) {
  val result = NIL;
  for (int i = argc - 1; i >= 0; i--) {
    if (argv[i] == NIL)
      continue;
    if (result != NIL)
      CDR(last_pair(argv, i)) = result;
    result = argv[i];
  }
  return result;
}

static val p_reverse(int argc, val *argv) {
  (void)argc;
  return list_reverse(arg_list(argv, 0));
}

static val p_reverse_in_place(int argc, val *argv) {
  (void)argc;
  val list = arg_list(argv, 0), r = NIL;
  while (list != NIL) {
    val next = CDR(list);
    CDR(list) = r;
    r = list;
    list = next;
  }
  return r;
}

/* Is there a first of k more pairs? A list that is circular has as many as
   anyone asks for: that can be interrupted. */
static void check_more(val *argv, val list, intptr_t k) {
  if (UNLIKELY(k < 0 || !is_pair(list)))
    raise_range(1, argv[1]);
  if (UNLIKELY((k & 0xffff) == 0))
    interrupt_check();
}

static val nth_tail(val *argv) {
  val list = argv[0];
  for (intptr_t k = arg_fix(argv, 1); k != 0; k--) {
    check_more(argv, list, k);
    list = CDR(list);
  }
  return list;
}

static val p_list_tail(int argc, val *argv) {
  (void)argc;
  return nth_tail(argv);
}

static val p_list_ref(int argc, val *argv) {
  (void)argc;
  val tail = nth_tail(argv);
  if (!is_pair(tail))
    raise_range(1, argv[1]);
  return CAR(tail);
}

static val p_list_set(int argc, val *argv) {
  (void)argc;
  val tail = nth_tail(argv);
  if (!is_pair(tail))
    raise_range(1, argv[1]);
  CAR(tail) = argv[2];
  return UNSPEC;
}

static val p_list_head(int argc, val *argv) {
  (void)argc;
  val list = argv[0], r = NIL;
  for (intptr_t k = arg_fix(argv, 1); k != 0; k--, list = CDR(list)) {
    check_more(argv, list, k);
    r = cons(CAR(list), r);
  }
  return list_reverse(r);
}

static val p_list_copy(int argc, val *argv) {
  (void)argc;
  struct walk w = {argv[0], argv[0], false};
  while (is_pair(w.list))
    if (!walk_on(&w))
      raise_type(0, argv[0], "list");
  return copy_before(argv[0], w.list);
}

static val p_last_pair(int argc, val *argv) {
  (void)argc;
  return last_pair(argv, 0);
}

static val p_list_kind(int argc, val *argv) {
  (void)argc;
  struct walk w = {argv[0], argv[0], false};
  while (is_pair(w.list))
    if (!walk_on(&w))
      return intern("circular");
  return intern(w.list == NIL ? "list" : "improper");
}

/* ---- searching */

static val member(val *argv, bool (*same)(val, val)) {
  struct walk w = {argv[1], argv[1], false};
  while (is_pair(w.list)) {
    if (same(argv[0], CAR(w.list)))
      return w.list;
    if (!walk_on(&w))
      break;
  }
  if (w.list != NIL)
    raise_type(1, argv[1], "list");
  return FALSE;
}

static val assoc(val *argv, bool (*same)(val, val)) {
  struct walk w = {argv[1], argv[1], false};
  while (is_pair(w.list)) {
    if (!is_pair(CAR(w.list)))
      raise_type(1, argv[1], "list of pairs");
    if (same(argv[0], CAR(CAR(w.list))))
      return CAR(w.list);
    if (!walk_on(&w))
      break;
  }
  if (w.list != NIL)
    raise_type(1, argv[1], "list");
  return FALSE;
}

static bool same_word(val a, val b) {
  return a == b;
}

static val p_memq(int argc, val *argv) {
  (void)argc;
  return member(argv, same_word);
}

static val p_memv(int argc, val *argv) {
  (void)argc;
  return member(argv, eqv);
}

static val p_member(int argc, val *argv) {
  (void)argc;
  return member(argv, equal);
}

static val p_assq(int argc, val *argv) {
  (void)argc;
  return assoc(argv, same_word);
}

static val p_assv(int argc, val *argv) {
  (void)argc;
  return assoc(argv, eqv);
}

static val p_assoc(int argc, val *argv) {
  (void)argc;
  return assoc(argv, equal);
}

static val p_memq_delete(int argc, val *argv) {
  (void)argc;
  val r = NIL;
  for (val l = arg_list(argv, 1); l != NIL; l = CDR(l))
    if (CAR(l) != argv[0])
      r = cons(CAR(l), r);
  return list_reverse(r);
}

static val p_iota(int argc, val *argv) {
  intptr_t n = arg_fix(argv, 0);
  val start = argc > 1 ? argv[1] : FIX(0), step = argc > 2 ? argv[2] : FIX(1);
  val list = NIL;
  if (n < 0)
    raise_range(0, argv[0]);
  for (intptr_t i = n - 1; i >= 0; i--)
    list = cons(arith_add(start, arith_mul(FIX(i), step)), list);
  return list;
}

const struct prim prims_list[] = {
    {"eq?", p_eq, 2, 2},
    {"eqv?", p_eqv, 2, 2},
    {"equal?", p_equal, 2, 2},
    {"not", p_not, 1, 1},
    {"cons", p_cons, 2, 2},
    {"pair?", p_pairp, 1, 1},
    {"null?", p_nullp, 1, 1},
    {"list?", p_listp, 1, 1},
    {"set-car!", p_set_car, 2, 2},
    {"set-cdr!", p_set_cdr, 2, 2},
    {"car", p_path, 1, 1},
    {"cdr", p_path, 1, 1},
    {"caar", p_path, 1, 1},
    {"cadr", p_path, 1, 1},
    {"cdar", p_path, 1, 1},
    {"cddr", p_path, 1, 1},
    {"caaar", p_path, 1, 1},
    {"caadr", p_path, 1, 1},
    {"cadar", p_path, 1, 1},
    {"caddr", p_path, 1, 1},
    {"cdaar", p_path, 1, 1},
    {"cdadr", p_path, 1, 1},
    {"cddar", p_path, 1, 1},
    {"cdddr", p_path, 1, 1},
    {"caaaar", p_path, 1, 1},
    {"caaadr", p_path, 1, 1},
    {"caadar", p_path, 1, 1},
    {"caaddr", p_path, 1, 1},
    {"cadaar", p_path, 1, 1},
    {"cadadr", p_path, 1, 1},
    {"caddar", p_path, 1, 1},
    {"cadddr", p_path, 1, 1},
    {"cdaaar", p_path, 1, 1},
    {"cdaadr", p_path, 1, 1},
    {"cdadar", p_path, 1, 1},
    {"cdaddr", p_path, 1, 1},
    {"cddaar", p_path, 1, 1},
    {"cddadr", p_path, 1, 1},
    {"cdddar", p_path, 1, 1},
    {"cddddr", p_path, 1, 1},
    {"list", p_list, 0, -1},
    {"cons*", p_cons_star, 1, -1},
    {"make-list", p_make_list, 1, 2},
    {"length", p_length, 1, 1},
    {"append", p_append, 0, -1},
    {"append!", p_append_in_place, 0, -1},
    {"reverse", p_reverse, 1, 1},
    {"reverse!", p_reverse_in_place, 1, 1},
    {"list-tail", p_list_tail, 2, 2},
    {"list-ref", p_list_ref, 2, 2},
    {"list-set!", p_list_set, 3, 3},
    {"list-head", p_list_head, 2, 2},
    {"list-copy", p_list_copy, 1, 1},
    {"last-pair", p_last_pair, 1, 1},
    {"%list-kind", p_list_kind, 1, 1},
    {"memq", p_memq, 2, 2},
    {"memv", p_memv, 2, 2},
    {"%member", p_member, 2, 2},
    {"assq", p_assq, 2, 2},
    {"assv", p_assv, 2, 2},
    {"%assoc", p_assoc, 2, 2},
    {"delq", p_memq_delete, 2, 2},
    {"iota", p_iota, 1, 3},
    {NULL, NULL, 0, 0},
};
