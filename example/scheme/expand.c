/* Testudo: from forms to trees in the Scheme interpreter.
   SPDX-License-Identifier: BSD-2-Clause */
#include "ast.h"

#include <stdarg.h>
#include <string.h>

typedef struct node *(*expander)(val form, struct scope *sc);

/* More than any program has of procedures that return procedures. */
enum { MOST_CURRIED = 1000 };

static val current_pos; /* of the innermost form that has one */

/* ---- the interpreter's own names

   A program may define what it likes. What the prelude calls, and what forms
   are rewritten into, stays what it was: that has a second symbol of the same
   name, which no program can name. */

static bool in_prelude = true;

val own_symbol(val name) {
  val own = table_ref(vm.root[R_OWN], name, FALSE);
  if (own == FALSE && !in_prelude)
    return name;
  if (own == FALSE) {
    own = make_uninterned(SYM_NAME(name));
    SYM_VALUE(own) = SYM_VALUE(name);
    SYM_INLINE(own) = SYM_INLINE(name);
    table_set(vm.root[R_OWN], name, own);
  }
  return own;
}

static void own_all(void) {
  for (val l = vm.root[R_KEPT]; l != NIL; l = CDR(l))
    own_symbol(CAR(l)); /* all of them have a value yet */
}

val global_id(const char *name) {
  val id = intern(name);
  return make_alias(in_prelude ? id : own_symbol(id), NULL);
}

void prelude_ends(void) {
  in_prelude = false;
}

/* ---- small tools */

struct node *node_new(enum node_kind kind, int n) {
  struct node *node = region_alloc(sizeof *node);
  node->kind = kind;
  node->n = n;
  node->file = vm.root[R_FILE];
  node->pos = current_pos;
  if (n > 0)
    node->sub = region_alloc((size_t)n * sizeof *node->sub);
  return node;
}

struct node *node_const(val v) {
  struct node *node = node_new(N_CONST, 0);
  node->value = v;
  return node;
}

static struct node *node_ref(struct var *var) {
  struct node *node = node_new(N_LREF, 0);
  node->var = var;
  var->refs++;
  return node;
}

val form_pos(val form) {
  return is_pair(form) && obj_words(form) == 4 ? PAIR_POS(form) : FALSE;
}

val position_enter(val form) {
  val outer = current_pos;
  if (form_pos(form) != FALSE)
    current_pos = form_pos(form);
  return outer;
}

void position_leave(val outer) {
  current_pos = outer;
}

val syntax_cons(val car, val cdr) {
  return make_pair_at(car, cdr, current_pos);
}

val syntax_list(int n, ...) {
  val items[16], list = NIL;
  va_list ap;
  va_start(ap, n);
  for (int i = 0; i < n; i++)
    items[i] = va_arg(ap, val);
  va_end(ap);
  for (int i = n - 1; i >= 0; i--)
    list = syntax_cons(items[i], list);
  return list;
}

int syntax_length(val list, val form) {
  intptr_t n = list_length(list);
  if (n < 0)
    raise_syntax("bad syntax", form);
  return (int)n;
}

/* ---- references and calls */

static val head_meaning(val form, struct scope *sc) {
  val id = CAR(form);
  if (!is_identifier(id))
    return FALSE;
  struct binding *b = scope_find(&id, sc);
  val v = b == NULL ? SYM_VALUE(id) : b->var == NULL ? b->macro : FALSE;
  return is_syntax(v) || is_type(v, T_MACRO) ? v : FALSE;
}

static struct node *expand_ref(val id, struct scope *sc) {
  val name = id;
  struct binding *b = scope_find(&name, sc);
  if (b != NULL && b->var != NULL)
    return node_ref(b->var);
  if (b != NULL || is_syntax(SYM_VALUE(name)) ||
      is_type(SYM_VALUE(name), T_MACRO))
    raise_syntax("syntactic keyword used as a variable", name);
  struct node *node = node_new(N_GREF, 0);
  node->value = in_prelude ? own_symbol(name) : name;
  return node;
}

static struct node *prim_node(enum op op, struct node *a, struct node *b) {
  struct node *node = node_new(N_PRIM, b == NULL ? 1 : 2);
  node->op = op;
  node->sub[0] = a;
  if (b != NULL)
    node->sub[1] = b;
  return node;
}

/* + - * of any number of arguments, by pairs from the left. */
static struct node *inline_fold(enum op op, struct node *call) {
  int n = call->n - 1;
  if (n < 2)
    return NULL;
  struct node *acc = call->sub[1];
  for (int i = 2; i <= n; i++)
    acc = prim_node(op, acc, call->sub[i]);
  return acc;
}

static struct node *inline_call(struct node *call) {
  struct node *f = call->sub[0];
  if (f->kind != N_GREF || !is_fix(SYM_INLINE(f->value)))
    return call;
  const struct inlined *in = &inlined_table[fix_int(SYM_INLINE(f->value))];
  if (in->args < 0) {
    struct node *node = inline_fold(in->op, call);
    return node == NULL ? call : node;
  }
  if (call->n != in->args + 1)
    return call;
  struct node *node = node_new(N_PRIM, in->args);
  node->op = in->op;
  for (int i = 0; i < in->args; i++)
    node->sub[i] = call->sub[i + 1];
  return node;
}

/* ((lambda (x ...) body) value ...) is a let. */
static struct node *call_to_let(struct node *call) {
  struct node *f = call->sub[0];
  if (f->kind != N_LAMBDA || f->rest || f->n != call->n - 1)
    return inline_call(call);
  struct node *let = node_new(N_LET, f->n);
  let->vars = f->vars;
  let->body = f->body;
  for (int i = 0; i < f->n; i++)
    let->sub[i] = call->sub[i + 1];
  return let;
}

static struct node *expand_call(val form, struct scope *sc) {
  int n = syntax_length(form, form);
  struct node *call = node_new(N_CALL, n);
  if (n > 20000)
    raise_syntax("too many arguments", CAR(form));
  for (int i = 0; i < n; i++, form = CDR(form))
    call->sub[i] = expand(CAR(form), sc);
  return call_to_let(call);
}

/* ---- the primitive forms */

static void check_form(val form, int min, int max) {
  intptr_t n = list_length(form);
  if (n < min || (max >= 0 && n > max))
    raise_syntax("bad syntax", form);
}

#define FORM1(f) CAR(CDR(f))
#define FORM2(f) CAR(CDR(CDR(f)))
#define REST1(f) CDR(CDR(f))

static struct node *expand_quote(val form, struct scope *sc) {
  (void)sc;
  check_form(form, 2, 2);
  return node_const(syntax_strip(FORM1(form)));
}

static struct node *expand_if(val form, struct scope *sc) {
  check_form(form, 3, 4);
  struct node *node = node_new(N_IF, 3);
  node->sub[0] = expand(FORM1(form), sc);
  node->sub[1] = expand(FORM2(form), sc);
  val rest = CDR(REST1(form));
  node->sub[2] = rest == NIL ? node_const(UNSPEC) : expand(CAR(rest), sc);
  return node;
}

static struct node *expand_sequence(val forms, struct scope *sc) {
  int n = syntax_length(forms, forms);
  if (n == 1)
    return expand(CAR(forms), sc);
  if (n == 0)
    return node_const(UNSPEC);
  struct node *node = node_new(N_SEQ, n);
  for (int i = 0; i < n; i++, forms = CDR(forms))
    node->sub[i] = expand(CAR(forms), sc);
  return node;
}

static struct node *expand_begin(val form, struct scope *sc) {
  return expand_sequence(CDR(form), sc);
}

static struct node *expand_in_file(val form, struct scope *sc) {
  val outer = enter_file(form);
  struct node *node = expand_sequence(REST1(form), sc);
  vm.root[R_FILE] = outer;
  return node;
}

static struct node *make_lambda(val params, val body, val name,
                                struct scope *sc, val form) {
  struct node *node = node_new(N_LAMBDA, 0);
  struct scope *inner = scope_new(sc);
  val rest;
  int fixed = (int)pair_count(params, &rest);
  if (fixed < 0)
    raise_syntax("circular formals", form);
  node->rest = rest != NIL;
  node->n = fixed + node->rest;
  node->vars = region_alloc(((size_t)node->n + 1) * sizeof *node->vars);
  node->value = name;
  for (int i = 0; i < node->n; i++) {
    val id = i < fixed ? CAR(params) : params;
    scope_check_new(inner, id, form);
    node->vars[i] = scope_add(inner, id);
    if (i < fixed)
      params = CDR(params);
  }
  node->body = expand_body(body, inner);
  scope_end(inner);
  return node;
}

static struct node *expand_lambda(val form, struct scope *sc) {
  if (list_length(form) < 3)
    raise_syntax("bad lambda", form);
  return make_lambda(FORM1(form), REST1(form), FALSE, sc, form);
}

static struct node *expand_case_lambda(val form, struct scope *sc) {
  int n = syntax_length(CDR(form), form);
  struct node *node = node_new(N_CASES, n);
  val clauses = CDR(form);
  for (int i = 0; i < n; i++, clauses = CDR(clauses)) {
    if (list_length(CAR(clauses)) < 2)
      raise_syntax("bad clause", CAR(clauses));
    node->sub[i] =
        make_lambda(CAR(CAR(clauses)), CDR(CAR(clauses)), FALSE, sc, form);
  }
  return node;
}

static struct node *named(struct node *node, val id) {
  if (node->kind == N_LAMBDA && node->value == FALSE)
    node->value = syntax_strip(id);
  if (node->kind == N_CASES)
    for (int i = 0; i < node->n; i++)
      named(node->sub[i], id);
  return node;
}

static struct node *expand_set(val form, struct scope *sc) {
  check_form(form, 3, 3);
  val id = FORM1(form);
  if (!is_identifier(id))
    raise_syntax("identifier expected", form);
  struct node *value = named(expand(FORM2(form), sc), id);
  struct binding *b = scope_find(&id, sc);
  struct node *node = node_new(b == NULL ? N_GSET : N_LSET, 0);
  if (b != NULL && b->var == NULL)
    raise_syntax("set! of a syntactic keyword", form);
  node->body = value;
  node->value = id;
  if (b != NULL) {
    node->var = b->var;
    b->var->mutated = true;
    b->var->refs++;
  } else {
    SYM_INLINE(id) = FALSE;
  }
  return node;
}

/* What (((id . params) ...) . params) defines; FALSE if it goes round. */
static val innermost(val target) {
  for (int n = 0; is_pair(target); target = CAR(target))
    if (++n > MOST_CURRIED)
      return FALSE;
  return target;
}

/* (define id [value]), (define (id . params) body ...), curried too. */
val define_target(val form) {
  if (list_length(form) < 2)
    raise_syntax("bad define", form);
  val target = innermost(FORM1(form));
  if (!is_identifier(target))
    raise_syntax("identifier expected", form);
  return target;
}

struct node *define_value(val form, struct scope *sc) {
  val target = FORM1(form), body = REST1(form);
  if (!is_pair(target)) {
    if (body == NIL)
      return node_const(UNSPEC);
    check_form(form, 3, 3);
    return named(expand(CAR(body), sc), target);
  }
  if (body == NIL)
    raise_syntax("bad define", form);
  while (is_pair(CAR(target))) {
    val lambda =
        syntax_cons(global_id("lambda"), syntax_cons(CDR(target), body));
    body = syntax_list(1, lambda);
    target = CAR(target);
  }
  return make_lambda(CDR(target), body, syntax_strip(CAR(target)), sc, form);
}

/* The interpreter's own name is defined, and then the program's. */
static struct node *define_own(struct node *define) {
  struct node *copy = node_new(N_GDEF, 0), *both = node_new(N_SEQ, 2);
  copy->value = define->value;
  copy->body = node_new(N_GREF, 0);
  copy->body->value = define->value = own_symbol(define->value);
  SYM_INLINE(define->value) = FALSE;
  both->sub[0] = define;
  both->sub[1] = copy;
  return both;
}

static struct node *expand_define(val form, struct scope *sc) {
  val id = syntax_strip(define_target(form));
  if (sc != NULL)
    raise_syntax("definition where an expression is expected", form);
  struct node *node = node_new(N_GDEF, 0);
  if (is_syntax(SYM_VALUE(id)) || is_type(SYM_VALUE(id), T_MACRO))
    SYM_VALUE(id) = UNBOUND;
  SYM_INLINE(id) = FALSE;
  node->value = id;
  node->body = define_value(form, sc);
  return in_prelude ? define_own(node) : node;
}

static struct node *expand_define_syntax(val form, struct scope *sc) {
  check_form(form, 3, 3);
  val id = FORM1(form);
  if (!is_identifier(id))
    raise_syntax("identifier expected", form);
  if (sc != NULL)
    raise_syntax("definition where an expression is expected", form);
  val macro = macro_from_spec(FORM2(form), sc);
  symbol_define(syntax_strip(id), macro);
  return node_const(UNSPEC);
}

static struct node *expand_macro_scope(val form, struct scope *sc, bool rec) {
  if (list_length(form) < 3 || list_length(FORM1(form)) < 0)
    raise_syntax("bad syntax", form);
  struct scope *inner = scope_new(sc);
  for (val l = FORM1(form); l != NIL; l = CDR(l)) {
    check_form(CAR(l), 2, 2);
    val macro = macro_from_spec(FORM1(CAR(l)), rec ? inner : sc);
    scope_add_macro(inner, CAR(CAR(l)), macro);
  }
  struct node *body = expand_body(REST1(form), inner);
  scope_end(inner);
  return body;
}

static struct node *expand_let_syntax(val form, struct scope *sc) {
  return expand_macro_scope(form, sc, false);
}

static struct node *expand_letrec_syntax(val form, struct scope *sc) {
  return expand_macro_scope(form, sc, true);
}

/* ---- let */

static void check_bindings(val bindings, val form) {
  if (list_length(bindings) < 0)
    raise_syntax("bad bindings", form);
  for (val l = bindings; l != NIL; l = CDR(l))
    if (list_length(CAR(l)) != 2 || !is_identifier(CAR(CAR(l))))
      raise_syntax("bad binding", form);
}

/* A loop: the name is bound to a procedure, called with the values. */
static struct node *expand_named_let(val form, struct scope *sc) {
  val name = FORM1(form), rest = REST1(form);
  if (!is_pair(rest) || CDR(rest) == NIL)
    raise_syntax("bad let", form);
  check_bindings(CAR(rest), form);
  int n = syntax_length(CAR(rest), form);
  struct node *fix = node_new(N_FIX, 1);
  struct node *call = node_new(N_CALL, n + 1);
  val params = NIL, list = NIL;
  int i = 1;
  for (val l = CAR(rest); l != NIL; l = CDR(l)) {
    call->sub[i++] = expand(FORM1(CAR(l)), sc);
    list = cons(CAR(CAR(l)), list);
  }
  for (; list != NIL; list = CDR(list))
    params = cons(CAR(list), params);
  struct scope *inner = scope_new(sc);
  fix->vars = region_alloc(sizeof *fix->vars);
  fix->vars[0] = scope_add(inner, name);
  fix->sub[0] =
      make_lambda(params, CDR(rest), syntax_strip(name), inner, form);
  scope_end(inner);
  call->sub[0] = node_ref(fix->vars[0]);
  fix->body = call;
  return fix;
}

static struct node *expand_let(val form, struct scope *sc) {
  if (list_length(form) < 3)
    raise_syntax("bad let", form);
  if (is_identifier(FORM1(form)))
    return expand_named_let(form, sc);
  check_bindings(FORM1(form), form);
  int n = syntax_length(FORM1(form), form);
  struct node *let = node_new(N_LET, n);
  let->vars = region_alloc(((size_t)n + 1) * sizeof *let->vars);
  val l = FORM1(form);
  for (int i = 0; i < n; i++, l = CDR(l))
    let->sub[i] = named(expand(FORM1(CAR(l)), sc), CAR(CAR(l)));
  struct scope *inner = scope_new(sc);
  l = FORM1(form);
  for (int i = 0; i < n; i++, l = CDR(l)) {
    scope_check_new(inner, CAR(CAR(l)), form);
    let->vars[i] = scope_add(inner, CAR(CAR(l)));
  }
  let->body = expand_body(REST1(form), inner);
  scope_end(inner);
  return let;
}

/* One scope for all variables: when a value is expanded, those after it are
   not there yet. */
static struct node *expand_let_star(val form, struct scope *sc) {
  if (list_length(form) < 3)
    raise_syntax("bad let*", form);
  check_bindings(FORM1(form), form);
  int n = syntax_length(FORM1(form), form);
  struct node *let = node_new(N_LET, n);
  struct scope *inner = scope_new(sc);
  let->serial = true;
  let->vars = region_alloc(((size_t)n + 1) * sizeof *let->vars);
  val l = FORM1(form);
  for (int i = 0; i < n; i++, l = CDR(l)) {
    let->sub[i] = named(expand(FORM1(CAR(l)), inner), CAR(CAR(l)));
    let->vars[i] = scope_add_again(inner, CAR(CAR(l)));
  }
  let->body = expand_body(REST1(form), inner);
  scope_end(inner);
  return let;
}

static struct node *expand_or(val form, struct scope *sc) {
  int n = syntax_length(CDR(form), form);
  if (n == 0)
    return node_const(FALSE);
  if (n == 1)
    return expand(FORM1(form), sc);
  struct node *node = node_new(N_OR, n);
  form = CDR(form);
  for (int i = 0; i < n; i++, form = CDR(form))
    node->sub[i] = expand(CAR(form), sc);
  return node;
}

static struct node *expand_and(val form, struct scope *sc) {
  int n = syntax_length(CDR(form), form);
  if (n == 0)
    return node_const(TRUE);
  struct node **nodes = region_alloc((size_t)n * sizeof *nodes);
  form = CDR(form);
  for (int i = 0; i < n; i++, form = CDR(form))
    nodes[i] = expand(CAR(form), sc);
  struct node *acc = nodes[n - 1];
  for (int i = n - 2; i >= 0; i--) {
    struct node *node = node_new(N_IF, 3);
    node->sub[0] = nodes[i];
    node->sub[1] = acc;
    node->sub[2] = node_const(FALSE);
    acc = node;
  }
  return acc;
}

/* (%record-ref object type index), from define-record-type. */
static struct node *expand_record_ref(val form, struct scope *sc) {
  check_form(form, 4, 4);
  struct node *node = node_new(N_PRIM, 2);
  node->op = OP_RECREF;
  node->sub[0] = expand(FORM1(form), sc);
  node->sub[1] = expand(FORM2(form), sc);
  node->value = CAR(CDR(REST1(form)));
  return node;
}

static struct node *expand_error(val form, struct scope *sc) {
  (void)sc;
  raise_syntax("bad use of a syntactic keyword", form);
}

static const struct core {
  const char *name;
  expander expand;
} core_forms[] = {
    {"quote", expand_quote},
    {"if", expand_if},
    {"lambda", expand_lambda},
    {"case-lambda", expand_case_lambda},
    {"set!", expand_set},
    {"let", expand_let},
    {"let*", expand_let_star},
    {"or", expand_or},
    {"and", expand_and},
    {"let-syntax", expand_let_syntax},
    {"letrec-syntax", expand_letrec_syntax},
    {"%record-ref", expand_record_ref},
    {"syntax-rules", expand_error},
    {"define", expand_define},
    {"define-syntax", expand_define_syntax},
    {"begin", expand_begin},
    {"%in-file", expand_in_file},
    /* words that other forms look for: see is_keyword */
    {"else", expand_error},
    {"=>", expand_error},
    {"...", expand_error},
    {"_", expand_error},
    {"unquote", expand_error},
    {"unquote-splicing", expand_error},
};

enum { CORE_COUNT = sizeof core_forms / sizeof *core_forms };

/* More than any program needs; each step looks through all before it. */
enum { MOST_REWRITES = 20000 };

/* One step of rewriting: a macro or a derived form. */
static val rewrite(val meaning, val form, struct scope *sc, int *steps) {
  if (++*steps > MOST_REWRITES)
    raise_syntax("macro expansion does not end", form);
  if (!is_syntax(meaning))
    return macro_expand(meaning, form, sc);
  return derived_forms[IMM_PAYLOAD(meaning) - CORE_COUNT].rewrite(form, sc);
}

static bool is_rewritten(val meaning) {
  return meaning != FALSE &&
         (!is_syntax(meaning) || IMM_PAYLOAD(meaning) >= CORE_COUNT);
}

enum head form_head(val form, struct scope *sc) {
  val meaning = is_pair(form) ? head_meaning(form, sc) : FALSE;
  if (!is_syntax(meaning) || IMM_PAYLOAD(meaning) >= CORE_COUNT)
    return HEAD_OTHER;
  expander core = core_forms[IMM_PAYLOAD(meaning)].expand;
  return core == expand_define          ? HEAD_DEFINE
         : core == expand_define_syntax ? HEAD_DEFINE_SYNTAX
         : core == expand_begin         ? HEAD_BEGIN
         : core == expand_in_file       ? HEAD_IN_FILE
         : core == expand_lambda        ? HEAD_LAMBDA
                                        : HEAD_OTHER;
}

val rewrite_head(val form, struct scope *sc, enum head *head_o) {
  val meaning;
  int steps = 0;
  while (is_pair(form) && is_rewritten(meaning = head_meaning(form, sc)))
    form = rewrite(meaning, form, sc, &steps);
  *head_o = form_head(form, sc);
  return form;
}

static struct node *expand_compound(val form, struct scope *sc) {
  for (int steps = 0;;) {
    val meaning = head_meaning(form, sc);
    if (meaning == FALSE)
      return expand_call(form, sc);
    if (!is_rewritten(meaning))
      return core_forms[IMM_PAYLOAD(meaning)].expand(form, sc);
    form = rewrite(meaning, form, sc, &steps);
    if (!is_pair(form))
      return expand(form, sc);
  }
}

struct node *expand(val form, struct scope *sc) {
  check_form_depth();
  if (is_pair(form)) {
    val outer = position_enter(form);
    struct node *node = expand_compound(form, sc);
    position_leave(outer);
    return node;
  }
  if (is_identifier(form))
    return expand_ref(form, sc);
  if (form == NIL)
    raise_syntax("empty combination", form);
  return node_const(syntax_strip(form));
}

/* ---- entry */

void syntax_init(void) {
  for (int i = 0; i < CORE_COUNT; i++)
    symbol_define(intern(core_forms[i].name), SYNTAX(i));
  for (int i = 0; i < derived_count; i++)
    symbol_define(intern(derived_forms[i].name), SYNTAX(CORE_COUNT + i));
  for (int i = 0; i < inlined_count; i++)
    SYM_INLINE(intern(inlined_table[i].name)) = FIX(i);
  vm.root[R_OWN] = make_table(TABLE_EQ, TABLE_STRONG);
  own_all();
}

/* The value of NODE, for which the frame waits: so that errors in what it calls
   last, which is often all there is in a file, can be told where that was. */
static struct node *expand_waiting(struct node *node) {
  struct scope *inner = scope_new(NULL);
  struct node *let = node_new(N_LET, 1);
  let->vars = region_alloc(sizeof *let->vars);
  let->sub[0] = node;
  let->vars[0] = scope_add(inner, own_symbol(intern("value")));
  let->body = node_ref(let->vars[0]);
  scope_end(inner);
  return let;
}

val compile_toplevel(val form, val place) {
  region_reset();
  scope_none();
  current_pos = place;
  struct node *lambda = node_new(N_LAMBDA, 0);
  lambda->value = FALSE;
  lambda->body = expand(form, NULL);
  if (place != FALSE && lambda->body->kind != N_GDEF)
    lambda->body = expand_waiting(lambda->body);
  analyze(lambda);
  val code = generate(lambda);
  region_reset();
  val closure = make_object(T_CLOSURE, 1, code);
  return closure;
}

static bool note_name(val id) {
  if (is_symbol(id))
    SYM_INLINE(id) = FALSE;
  return false;
}

/* What an import set leaves out or calls otherwise is for the program. */
static void note_import(val set) {
  check_c_depth();
  if (list_length(set) < 2 || !is_pair(FORM1(set)))
    return;
  if (CAR(set) == intern("except") || CAR(set) == intern("rename"))
    (void)syntax_has(REST1(set), note_name);
  note_import(FORM1(set));
}

static void note_all(val forms) {
  for (intptr_t n = list_length(forms); n > 0; n--, forms = CDR(forms))
    note_redefinitions(CAR(forms));
}

/* Programs that define their own version of a procedure which is compiled
   in line do so at the top level: look before compiling anything. */
void note_redefinitions(val form) {
  check_c_depth();
  if (list_length(form) < 2 || !is_symbol(CAR(form)))
    return;
  val head = CAR(form), l = CDR(form);
  if (head == intern("begin") || head == intern("define-library")) {
    note_all(l);
  } else if (head == intern("cond-expand")) {
    for (; l != NIL; l = CDR(l))
      if (is_pair(CAR(l)))
        note_all(CDR(CAR(l)));
  } else if (head == intern("import")) {
    for (; l != NIL; l = CDR(l))
      note_import(CAR(l));
  } else if (head == intern("define") || head == intern("set!")) {
    val target = innermost(CAR(l));
    if (is_symbol(target))
      SYM_INLINE(target) = FALSE;
  } else if (head == intern("define-values")) {
    (void)syntax_has(CAR(l), note_name);
  } else if (head == intern("define-record-type")) {
    (void)syntax_has(l, note_name);
  }
}

val compile_position(void) {
  return current_pos;
}
