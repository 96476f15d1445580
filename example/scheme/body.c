/* Testudo: bodies with definitions, in the Scheme interpreter.
   SPDX-License-Identifier: BSD-2-Clause

   All definitions of a body are found first, so that macros see them. Then
   the values are expanded in order. A variable that something before its own
   definition refers to is early: it is bound at once, assigned later, and
   checked. All others are plain nested bindings. A definition without a value
   binds a variable that is assigned later, and checked. */
#include "ast.h"

#include <string.h>

struct item {
  struct var *var; /* null for an expression */
  val form, file;
  bool lambda, early;
  struct node *node;
};

struct body {
  struct item *items;
  int n, size;
  struct scope *sc;
};

static void body_push(struct body *b, struct var *var, val form, bool lambda) {
  if (b->n == b->size) {
    int size = b->size * 2 + 8;
    struct item *items = region_alloc((size_t)size * sizeof *items);
    if (b->n > 0)
      memcpy(items, b->items, (size_t)b->n * sizeof *items);
    b->items = items;
    b->size = size;
  }
  b->items[b->n++] = (struct item){
      .var = var, .form = form, .file = vm.root[R_FILE], .lambda = lambda};
}

static bool defines_lambda(val form, struct scope *sc) {
  enum head head = HEAD_OTHER;
  if (is_pair(CAR(CDR(form))))
    return true;
  val value = CDR(CDR(form));
  if (is_pair(value) && is_pair(CAR(value)))
    head = form_head(CAR(value), sc);
  return head == HEAD_LAMBDA;
}

/* (define id), without a value */
static bool defines_place(val form) {
  return is_identifier(CAR(CDR(form))) && CDR(CDR(form)) == NIL;
}

static void body_define(struct body *b, val form) {
  val id = define_target(form);
  scope_check_new(b->sc, id, form);
  struct var *var = scope_add(b->sc, id);
  body_push(b, var, form, defines_lambda(form, b->sc));
}

static void body_define_syntax(struct body *b, val form) {
  if (list_length(form) != 3 || !is_identifier(CAR(CDR(form))))
    raise_syntax("bad syntax", form);
  val id = CAR(CDR(form));
  scope_add_macro(b->sc, id, FALSE);
  scope_add_macro(b->sc, id, macro_from_spec(CAR(CDR(CDR(form))), b->sc));
}

static void body_scan(struct body *b, val forms);

static void body_scan_file(struct body *b, val form) {
  val outer = enter_file(form);
  body_scan(b, CDR(CDR(form)));
  vm.root[R_FILE] = outer;
}

static void body_scan(struct body *b, val forms) {
  check_form_depth();
  syntax_length(forms, forms);
  for (; forms != NIL; forms = CDR(forms)) {
    enum head head;
    val outer = position_enter(CAR(forms));
    val form = rewrite_head(CAR(forms), b->sc, &head);
    if (head == HEAD_DEFINE)
      body_define(b, form);
    else if (head == HEAD_DEFINE_SYNTAX)
      body_define_syntax(b, form);
    else if (head == HEAD_BEGIN)
      body_scan(b, CDR(form));
    else if (head == HEAD_IN_FILE)
      body_scan_file(b, form);
    else
      body_push(b, NULL, form, false);
    position_leave(outer);
  }
}

static void body_expand_item(struct body *b, struct item *it) {
  val outer = vm.root[R_FILE], position = position_enter(it->form);
  vm.root[R_FILE] = it->file;
  if (it->var == NULL) {
    it->node = expand(it->form, b->sc);
  } else if (defines_place(it->form)) {
    it->node = node_const(UNBOUND);
    it->var->early = true;
  } else {
    it->node = define_value(it->form, b->sc);
  }
  position_leave(position);
  vm.root[R_FILE] = outer;
  if (it->var != NULL && !it->lambda)
    it->early = it->var->refs > 0;
}

static void body_expand_items(struct body *b) {
  for (int i = 0; i < b->n;) {
    int end = i;
    while (end < b->n && b->items[end].lambda)
      end++;
    for (int k = i; k < end; k++)
      b->items[k].early = b->items[k].var->refs > 0;
    if (end == i)
      end = i + 1;
    for (; i < end; i++)
      body_expand_item(b, &b->items[i]);
  }
}

/* ---- from items to nested nodes */

static struct node *seq2(struct node *a, struct node *b) {
  struct node *node = node_new(N_SEQ, 2);
  node->sub[0] = a;
  node->sub[1] = b;
  return node;
}

/* Expressions in a row, and then rest, if any. */
static struct node *sequence(struct item *items, int n, struct node *rest) {
  if (n == 1 && rest == NULL)
    return items[0].node;
  struct node *node = node_new(N_SEQ, n + (rest != NULL));
  for (int i = 0; i < n; i++)
    node->sub[i] = items[i].node;
  if (rest != NULL)
    node->sub[n] = rest;
  return node;
}

static struct node *late_set(struct item *it, struct node *rest) {
  struct node *set = node_new(N_LSET, 0);
  set->var = it->var;
  set->body = it->node;
  it->var->mutated = it->var->early = true;
  return seq2(set, rest);
}

static struct node *bind_one(struct item *it, struct node *value,
                             struct node *rest) {
  struct node *let = node_new(N_LET, 1);
  let->vars = region_alloc(sizeof *let->vars);
  let->vars[0] = it->var;
  let->sub[0] = value;
  let->body = rest;
  return let;
}

static struct node *bind_lambdas(struct item *items, int n,
                                 struct node *rest) {
  struct node *fix = node_new(N_FIX, n);
  fix->vars = region_alloc((size_t)n * sizeof *fix->vars);
  fix->n = 0;
  for (int i = n - 1; i >= 0; i--)
    if (items[i].early)
      rest = late_set(&items[i], rest);
  for (int i = 0; i < n; i++)
    if (!items[i].early) {
      fix->vars[fix->n] = items[i].var;
      fix->sub[fix->n++] = items[i].node;
    }
  fix->body = rest;
  return fix->n == 0 ? rest : fix;
}

static struct node *bind_early(struct body *b, struct node *node) {
  for (int i = 0; i < b->n; i++)
    if (b->items[i].early)
      node = bind_one(&b->items[i], node_const(UNBOUND), node);
  return node;
}

/* Where the run of expressions or of procedures that ends at i begins. */
static int run_start(struct item *items, int i) {
  bool lambda = items[i].lambda;
  if (items[i].var != NULL && !lambda)
    return i;
  while (i > 0 && items[i - 1].lambda == lambda &&
         (items[i - 1].var != NULL) == lambda)
    i--;
  return i;
}

/* A variable that is assigned has one place, also if a continuation computes
   again what comes before the procedure that is its first value. */
static void body_place_lambdas(struct body *b) {
  for (int i = 0; i < b->n; i++)
    if (b->items[i].lambda && b->items[i].var->mutated)
      b->items[i].early = true;
}

static struct node *body_nest(struct body *b) {
  struct node *rest = NULL;
  body_place_lambdas(b);
  for (int i = b->n - 1; i >= 0; i--) {
    int start = run_start(b->items, i), n = i - start + 1;
    struct item *it = &b->items[start];
    if (rest == NULL && it->var != NULL)
      rest = node_const(UNSPEC);
    if (it->var == NULL)
      rest = sequence(it, n, rest);
    else if (it->lambda)
      rest = bind_lambdas(it, n, rest);
    else
      rest = it->early ? late_set(it, rest) : bind_one(it, it->node, rest);
    i = start;
  }
  return bind_early(b, rest);
}

struct node *expand_body(val forms, struct scope *sc) {
  struct body b = {.sc = scope_new(sc)};
  body_scan(&b, forms);
  body_expand_items(&b);
  scope_end(b.sc);
  return b.n == 0 ? node_const(UNSPEC) : body_nest(&b);
}
