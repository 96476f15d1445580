/* Testudo: libraries, in the Scheme interpreter.
   SPDX-License-Identifier: BSD-2-Clause

   All names are global: a library is a sequence of definitions, and what
   import or export calls otherwise is a second global name. What a library
   of the program exports is noted, so that import can tell; of any other
   import takes it that everything global is its. */
#include "ast.h"

#define G(name)  global_id(name)
#define LIST     syntax_list
#define CADR(f)  CAR(CDR(f))
#define CADDR(f) CAR(CDR(CDR(f)))
#define CDDR(f)  CDR(CDR(f))

static void need(val list, int min, val form) {
  if (list_length(list) < min)
    raise_syntax("bad syntax", form);
}

static void need_identifier(val id, val form) {
  if (!is_identifier(id))
    raise_syntax("identifier expected", form);
}

/* ---- which libraries there are: an association list of names and exports,
   which are pairs of the name outside and the one inside; FALSE: unknown */

static val *libraries(void) {
  return &SYM_VALUE(intern("%libraries"));
}

static bool is_library_name(val name) {
  if (list_length(name) < 1)
    return false;
  for (; name != NIL; name = CDR(name))
    if (!is_identifier(CAR(name)) &&
        !(is_fix(CAR(name)) && fix_int(CAR(name)) >= 0))
      return false;
  return true;
}

static val find_library(val name) {
  for (val l = *libraries(); l != NIL; l = CDR(l))
    if (equal(CAR(CAR(l)), name))
      return CAR(l);
  return FALSE;
}

/* ---- cond-expand */

static bool feature_holds(val req, struct scope *sc);

static bool has_feature(val name) {
  for (val l = vm.root[R_FEATURES]; is_pair(l); l = CDR(l))
    if (CAR(l) == name)
      return true;
  return name == intern("else");
}

static bool compound_holds(val req, struct scope *sc) {
  val head = syntax_strip(CAR(req));
  if (head == intern("library") || head == intern("not")) {
    if (list_length(req) != 2)
      raise_syntax("bad feature requirement", req);
    return head == intern("not")
               ? !feature_holds(CADR(req), sc)
               : find_library(syntax_strip(CADR(req))) != FALSE;
  }
  bool all = head == intern("and");
  if (!all && head != intern("or"))
    raise_syntax("bad feature requirement", req);
  for (val l = CDR(req); is_pair(l); l = CDR(l))
    if (feature_holds(CAR(l), sc) != all)
      return !all;
  return all;
}

static bool feature_holds(val req, struct scope *sc) {
  check_form_depth();
  if (is_identifier(req))
    return has_feature(syntax_strip(req));
  if (list_length(req) < 1)
    raise_syntax("bad feature requirement", req);
  return compound_holds(req, sc);
}

/* What follows the first requirement that holds. */
static val chosen(val form, struct scope *sc) {
  need(form, 1, form);
  for (val l = CDR(form); l != NIL; l = CDR(l)) {
    need(CAR(l), 1, form);
    if (feature_holds(CAR(CAR(l)), sc))
      return CDR(CAR(l));
  }
  return NIL;
}

val rewrite_cond_expand(val form, struct scope *sc) {
  return syntax_begin(chosen(form, sc));
}

/* ---- import

   An import set is a list of exports, and whether everything else that is
   global belongs to it under its own name. */

struct set {
  val list;
  bool all;
};

static val aliases(void) {
  return SYM_VALUE(intern("%aliases"));
}

/* Was the name made by an import or export, and not defined since? */
static bool is_alias(val name) {
  val old = table_ref(aliases(), name, FALSE);
  return old != FALSE && SYM_VALUE(old) == SYM_VALUE(name);
}

/* All that is bound under a name of its own: with aliases a prefix for all
   names would make twice as many each time. */
static val global_names(void) {
  val list = NIL;
  for (val l = vm.root[R_KEPT]; l != NIL; l = CDR(l)) {
    val name = SYM_NAME(CAR(l));
    bool own = STRING_LEN(name) > 0 && string_get(name, 0) == '%';
    if (SYM_VALUE(CAR(l)) != UNBOUND && !own && !is_alias(CAR(l)))
      list = cons(cons(CAR(l), CAR(l)), list);
  }
  return list;
}

static val prefixed(val prefix, val name) {
  val a = SYM_NAME(prefix), b = SYM_NAME(name);
  size_t m = STRING_LEN(a), n = STRING_LEN(b);
  val s = make_string(m + n, string_is_wide(a) || string_is_wide(b));
  string_copy(s, 0, a, 0, m);
  string_copy(s, m, b, 0, n);
  return intern_string(s);
}

/* The set's pair for a name. */
static val lookup(struct set set, val name, val form) {
  need_identifier(name, form);
  for (val l = set.list; l != NIL; l = CDR(l))
    if (CAR(CAR(l)) == name)
      return CAR(l);
  if (!set.all)
    raise_syntax("not exported", name);
  return cons(name, name);
}

static val without(val list, val pair) {
  val rest = NIL;
  for (; list != NIL; list = CDR(list))
    if (CAR(list) != pair)
      rest = cons(CAR(list), rest);
  return rest;
}

static struct set set_only(struct set set, val names, val form) {
  val list = NIL;
  for (; names != NIL; names = CDR(names))
    list = cons(lookup(set, CAR(names), form), list);
  return (struct set){list, false};
}

static struct set set_except(struct set set, val names, val form) {
  for (; names != NIL; names = CDR(names))
    set.list = without(set.list, lookup(set, CAR(names), form));
  return set;
}

static val add_prefixed(val prefix, val exports, val list) {
  for (; exports != NIL; exports = CDR(exports)) {
    val name = prefixed(prefix, CAR(CAR(exports)));
    list = cons(cons(name, CDR(CAR(exports))), list);
  }
  return list;
}

static struct set set_prefix(struct set set, val args, val form) {
  need(args, 1, form);
  need_identifier(CAR(args), form);
  val list = add_prefixed(CAR(args), set.list, NIL);
  if (set.all)
    list = add_prefixed(CAR(args), global_names(), list);
  return (struct set){list, false};
}

static struct set set_rename(struct set set, val pairs, val form) {
  val old = set.list, new = NIL;
  for (; pairs != NIL; pairs = CDR(pairs)) {
    if (list_length(CAR(pairs)) != 2)
      raise_syntax("bad import", form);
    need_identifier(CADR(CAR(pairs)), form);
    val pair = lookup(set, CAR(CAR(pairs)), form);
    old = without(old, pair);
    new = cons(cons(CADR(CAR(pairs)), CDR(pair)), new);
  }
  for (; old != NIL; old = CDR(old))
    new = cons(CAR(old), new);
  return (struct set){new, set.all};
}

static const struct modifier {
  const char *name;
  struct set (*apply)(struct set set, val args, val form);
} modifiers[] = {
    {"only", set_only},
    {"except", set_except},
    {"prefix", set_prefix},
    {"rename", set_rename},
};

static struct set import_set(val set, val form) {
  check_form_depth();
  if (list_length(set) >= 2 && is_pair(CADR(set)))
    for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++)
      if (CAR(set) == intern(modifiers[i].name))
        return modifiers[i].apply(import_set(CADR(set), form), CDDR(set),
                                  form);
  if (!is_library_name(set))
    raise_syntax("bad import", form);
  val library = find_library(set);
  bool known = library != FALSE && CDR(library) != FALSE;
  return (struct set){known ? CDR(library) : NIL, !known};
}

static val in_front(val reversed, val forms) {
  for (; reversed != NIL; reversed = CDR(reversed))
    forms = syntax_cons(CAR(reversed), forms);
  return forms;
}

static val define_alias(val new, val old, val forms) {
  return syntax_cons(LIST(3, G("%alias"), new, old), forms);
}

/* A table of the names that are to be defined. */
static val new_names(val exports) {
  val names = make_table(TABLE_EQ, TABLE_STRONG);
  for (; exports != NIL; exports = CDR(exports)) {
    val new = CAR(CAR(exports)), old = CDR(CAR(exports));
    if (new == old)
      continue;
    table_set(names, new, TRUE);
    if (SYM_VALUE(new) == UNBOUND)
      table_set(aliases(), new, old);
  }
  return names;
}

/* In front of forms, the definitions of what is called otherwise. An old name
   that becomes a new one is fetched before any is defined. */
static val define_aliases(val exports, val forms) {
  val names = new_names(exports), fetched = NIL;
  for (; exports != NIL; exports = CDR(exports)) {
    val new = CAR(CAR(exports)), old = CDR(CAR(exports));
    if (new == old)
      continue;
    if (table_ref(names, old, FALSE) != FALSE) {
      val first = make_uninterned(SYM_NAME(old));
      fetched = define_alias(first, old, fetched);
      old = first;
    }
    forms = define_alias(new, old, forms);
  }
  return in_front(fetched, forms);
}

val rewrite_import(val form, struct scope *sc) {
  (void)sc;
  val pairs = NIL;
  form = syntax_strip(form);
  need(form, 1, form);
  for (val l = CDR(form); l != NIL; l = CDR(l))
    for (val p = import_set(CAR(l), form).list; p != NIL; p = CDR(p))
      pairs = cons(CAR(p), pairs);
  return syntax_begin(define_aliases(pairs, NIL));
}

/* (%alias new old): whether it is a keyword shows when its turn has come. */
val rewrite_alias(val form, struct scope *sc) {
  (void)sc;
  if (list_length(form) != 3)
    raise_syntax("bad syntax", form);
  need_identifier(CADR(form), form);
  need_identifier(CADDR(form), form);
  val v = SYM_VALUE(syntax_strip(CADDR(form)));
  bool keyword = is_syntax(v) || is_type(v, T_MACRO);
  return LIST(3, keyword ? G("define-syntax") : G("define"), CADR(form),
              CADDR(form));
}

/* ---- define-library */

struct library {
  val exports;
  val imports, body; /* reversed */
};

static void export(struct library *library, val spec, val form) {
  val out = spec, in = spec;
  if (list_length(spec) == 3 && syntax_strip(CAR(spec)) == intern("rename")) {
    in = CADR(spec);
    out = CADDR(spec);
  }
  need_identifier(in, form);
  need_identifier(out, form);
  val pair = cons(syntax_strip(out), syntax_strip(in));
  library->exports = cons(pair, library->exports);
}

static void declare(struct library *library, val form, struct scope *sc);

static void declare_all(struct library *library, val forms, struct scope *sc) {
  for (; is_pair(forms); forms = CDR(forms))
    declare(library, CAR(forms), sc);
}

static bool is_body(val head, struct scope *sc) {
  return is_keyword(head, sc, "begin") || is_keyword(head, sc, "include") ||
         is_keyword(head, sc, "include-ci");
}

static void declare_in_file(struct library *library, val form,
                            struct scope *sc) {
  val outer = enter_file(form);
  declare_all(library, CDDR(form), sc);
  vm.root[R_FILE] = outer;
}

/* The body is looked at when the file of a declaration has been left. */
static void add_body(struct library *library, val form) {
  form = LIST(3, G("%in-file"), vm.root[R_FILE], form);
  library->body = syntax_cons(form, library->body);
}

static void declare(struct library *library, val form, struct scope *sc) {
  check_form_depth();
  need(form, 1, form);
  val head = CAR(form);
  if (is_body(head, sc))
    add_body(library, form);
  else if (is_keyword(head, sc, "import"))
    library->imports = syntax_cons(form, library->imports);
  else if (is_keyword(head, sc, "export"))
    for (val l = CDR(form); l != NIL; l = CDR(l))
      export(library, CAR(l), form);
  else if (is_keyword(head, sc, "cond-expand"))
    declare_all(library, chosen(form, sc), sc);
  else if (is_keyword(head, sc, "include-library-declarations"))
    declare_all(library, included_forms(form, false), sc);
  else if (is_keyword(head, sc, "%in-file"))
    declare_in_file(library, form, sc);
  else
    raise_syntax("bad library declaration", form);
}

/* Whatever the order of its declarations, imports come before the body. */
val rewrite_define_library(val form, struct scope *sc) {
  struct library library = {NIL, NIL, NIL};
  need(form, 2, form);
  val name = syntax_strip(CADR(form));
  if (!is_library_name(name))
    raise_syntax("bad library name", form);
  declare_all(&library, CDDR(form), sc);
  val list = cons(cons(name, library.exports), *libraries());
  *libraries() = list;
  val forms = define_aliases(library.exports, NIL);
  forms = in_front(library.body, forms);
  return syntax_begin(in_front(library.imports, forms));
}
