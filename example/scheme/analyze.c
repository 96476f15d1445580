/* Testudo: what the Scheme compiler must know before it makes code.
   SPDX-License-Identifier: BSD-2-Clause

   First, which local procedures are loops: those that are only called, with
   the right number of arguments, and only where the call is the last thing
   that the expression which binds them does. They become jumps. Then, in
   whose frame each variable lives, and which are captured by closures or
   must survive the copying of the frame by continuations. */
#include "ast.h"

/* Candidates whose calls are in tail position here, innermost first. */
struct chain {
  struct chain *up;
  struct var *var;
};

static void find_loops(struct node *node, struct chain *tail);

static void find_in_sub(struct node *node, int from, struct chain *tail) {
  for (int i = from; i < node->n; i++)
    find_loops(node->sub[i], i == node->n - 1 ? tail : NULL);
}

static bool in_chain(struct chain *c, struct var *var) {
  while (c != NULL && c->var != var)
    c = c->up;
  return c != NULL;
}

static void find_in_call(struct node *node, struct chain *tail) {
  struct node *f = node->sub[0];
  if (f->kind == N_LREF && f->var->loop != NULL &&
      f->var->loop->n == node->n - 1 && in_chain(tail, f->var))
    f->var->loop_calls++;
  else
    find_loops(f, NULL);
  find_in_sub(node, 1, NULL);
}

static unsigned count_calls(struct chain *c) {
  unsigned n = 0;
  for (; c != NULL; c = c->up)
    n += c->var->loop_calls;
  return n;
}

/* The lambda is a real procedure after all: what it called as a loop from
   its body cannot be one. */
static void fail_outer(struct chain *c) {
  for (; c != NULL; c = c->up)
    c->var->failed = true;
}

static void find_in_candidate(struct node *fix, struct chain *tail) {
  struct var *var = fix->vars[0];
  struct chain link = {tail, var};
  var->loop = fix->sub[0];
  unsigned before = count_calls(tail);
  find_loops(fix->sub[0]->body, &link);
  bool uses_outer = count_calls(tail) != before;
  find_loops(fix->body, &link);
  fix->loop = var->refs == var->loop_calls && !var->mutated && !var->failed;
  if (fix->loop)
    return;
  var->loop = NULL;
  if (uses_outer)
    fail_outer(tail);
}

static void find_in_fix(struct node *node, struct chain *tail) {
  if (node->n == 1 && node->sub[0]->kind == N_LAMBDA && !node->sub[0]->rest) {
    find_in_candidate(node, tail);
    return;
  }
  find_in_sub(node, 0, NULL);
  find_loops(node->body, tail);
}

static void find_loops(struct node *node, struct chain *tail) {
  check_form_depth();
  switch (node->kind) {
  case N_CONST:
  case N_LREF:
  case N_GREF:
    return;
  case N_LSET:
  case N_GSET:
  case N_GDEF:
    find_loops(node->body, NULL);
    return;
  case N_LAMBDA:
    find_loops(node->body, NULL);
    return;
  case N_IF:
    find_loops(node->sub[0], NULL);
    find_loops(node->sub[1], tail);
    find_loops(node->sub[2], tail);
    return;
  case N_OR:
  case N_SEQ:
    find_in_sub(node, 0, tail);
    return;
  case N_CASES:
  case N_PRIM:
    for (int i = 0; i < node->n; i++)
      find_loops(node->sub[i], NULL);
    return;
  case N_CALL:
    find_in_call(node, tail);
    return;
  case N_LET:
    for (int i = 0; i < node->n; i++)
      find_loops(node->sub[i], NULL);
    find_loops(node->body, tail);
    return;
  case N_FIX:
    find_in_fix(node, tail);
    return;
  }
}

bool is_loop_call(struct node *node) {
  return node->kind == N_CALL && node->sub[0]->kind == N_LREF &&
         node->sub[0]->var->loop != NULL;
}

/* ---- owners */

static void find_owners(struct node *node, struct node *lambda);

static void own(struct node *node, struct node *lambda) {
  for (int i = 0; i < node->n; i++)
    node->vars[i]->owner = lambda;
}

static void owners_in_sub(struct node *node, struct node *lambda) {
  for (int i = 0; i < node->n; i++)
    find_owners(node->sub[i], lambda);
}

static void find_owners(struct node *node, struct node *lambda) {
  check_form_depth();
  switch (node->kind) {
  case N_CONST:
  case N_GREF:
    return;
  case N_LREF:
    node->var->captured |= node->var->owner != lambda;
    return;
  case N_LSET:
    node->var->captured |= node->var->owner != lambda;
    find_owners(node->body, lambda);
    return;
  case N_GSET:
  case N_GDEF:
    find_owners(node->body, lambda);
    return;
  case N_LAMBDA:
    own(node, node);
    find_owners(node->body, node);
    return;
  case N_IF:
  case N_OR:
  case N_SEQ:
  case N_CASES:
  case N_PRIM:
    owners_in_sub(node, lambda);
    return;
  case N_CALL:
    lambda->calls |= !is_loop_call(node);
    owners_in_sub(node, lambda);
    return;
  case N_LET:
    own(node, lambda);
    owners_in_sub(node, lambda);
    find_owners(node->body, lambda);
    return;
  case N_FIX:
    own(node, lambda);
    if (node->loop) {
      own(node->sub[0], lambda);
      find_owners(node->sub[0]->body, lambda);
    } else {
      owners_in_sub(node, lambda);
    }
    find_owners(node->body, lambda);
    return;
  }
}

void analyze(struct node *lambda) {
  find_loops(lambda, NULL);
  find_owners(lambda, lambda);
}
