/* Testudo: trees between the expander and the code generator of the Scheme
   interpreter. They live in the region. SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef SCHEME_AST_H
#define SCHEME_AST_H

#include "ops.h"
#include "scheme.h"

enum node_kind {
  N_CONST,  /* value */
  N_LREF,   /* var */
  N_LSET,   /* var, body */
  N_GREF,   /* value: symbol */
  N_GSET,   /* value: symbol, body */
  N_GDEF,   /* value: symbol, body */
  N_IF,     /* sub: test, then, else */
  N_OR,     /* sub */
  N_SEQ,    /* sub */
  N_LAMBDA, /* vars, rest, body, value: name */
  N_CASES,  /* sub: lambdas */
  N_CALL,   /* sub: procedure, arguments */
  N_PRIM,   /* op, sub; value, extra: constants of RECREF */
  N_LET,    /* vars, sub: values, body; serial: a value sees vars before it */
  N_FIX,    /* vars, sub: lambdas that may refer to all of vars, body */
};

struct node;
struct patch;

struct var {
  val name;
  struct node *owner; /* the lambda in whose frame it lives */
  struct node *loop;  /* the lambda it is bound to, a candidate loop */
  unsigned refs, loop_calls;
  int slot;
  int label;             /* a loop: its first instruction, or -1, */
  struct patch *patches; /* and the jumps that wait for it */
  bool captured, mutated;
  bool early;  /* may be seen without a value */
  bool failed; /* is no loop after all */
};

struct node {
  enum node_kind kind;
  enum op op;
  bool rest;
  bool serial;
  bool loop;  /* N_FIX: its lambda is a loop in the enclosing frame */
  bool calls; /* N_LAMBDA: its frame waits for calls to return */
  int n;
  val file, pos; /* where it was read */
  val value, extra;
  struct var *var;
  struct var **vars;
  struct node **sub;
  struct node *body;
};

/* ---- scopes: what identifiers mean, innermost first; null is global */

struct binding {
  struct binding *next;  /* of the same list of the table */
  struct binding *older; /* of the same scope */
  struct scope *scope;
  val id; /* symbol or alias */
  struct var *var;
  val macro; /* when var is null */
};

struct scope {
  size_t depth; /* number of scopes it lies in, and one */
  struct binding *bindings; /* the newest */
};

/* ---- expand.c */

struct node *expand(val form, struct scope *sc);
/* What the head of a form says, as far as bodies care. */
enum head {
  HEAD_OTHER,
  HEAD_DEFINE,
  HEAD_DEFINE_SYNTAX,
  HEAD_BEGIN,
  HEAD_IN_FILE,
  HEAD_LAMBDA
};
enum head form_head(val form, struct scope *sc);
/* Expands macros and derived forms until the head is something else. */
val rewrite_head(val form, struct scope *sc, enum head *head_o);
/* Of (define id value) and (define (id . params) body ...). */
val define_target(val form);
struct node *define_value(val form, struct scope *sc);

/* ---- scope.c */

bool is_identifier(val v);
/* Before a compilation: no scope is open. */
void scope_none(void);
/* Opens one within the innermost that is open. What is bound is bound in the
   innermost. */
struct scope *scope_new(struct scope *up);
/* The innermost; all that lies within it has been expanded. */
void scope_end(struct scope *sc);
/* An error if the scope already binds the identifier. */
void scope_check_new(struct scope *sc, val id, val form);
struct var *scope_add(struct scope *sc, val id);
/* The same; if the scope binds the identifier already, it means another
   variable from here on. */
struct var *scope_add_again(struct scope *sc, val id);
void scope_add_macro(struct scope *sc, val id, val macro);
struct binding *scope_find(val *id_io, struct scope *sc);
/* Do the two mean the same binding? */
bool same_identifier(val a, struct scope *sa, val b, struct scope *sb);
bool is_keyword(val id, struct scope *sc, const char *name);
val make_alias(val name, struct scope *sc);

/* ---- body.c */

struct node *expand_body(val forms, struct scope *sc);

/* ---- expand.c, tools */

struct node *node_new(enum node_kind kind, int n);
struct node *node_const(val v);
val global_id(const char *name);
/* strip.c: is there an identifier of that kind in the form? */
bool syntax_has(val form, bool (*wanted)(val id));
val form_pos(val form);
/* What is made from now on has the position of FORM, if that has one. Returns
   the one before, which position_leave restores. */
val position_enter(val form);
void position_leave(val outer);
val syntax_cons(val car, val cdr);
val syntax_list(int n, ...);
/* Length of a proper list or an error that names the form. */
int syntax_length(val list, val form);

/* ---- derive.c: forms that are rewritten in terms of others */

typedef val (*rewriter)(val form, struct scope *sc);
extern const struct derived {
  const char *name;
  rewriter rewrite;
} derived_forms[];
extern const int derived_count;
val syntax_quote(val v);
val syntax_begin(val forms);
/* An identifier that no program has. */
val syntax_fresh(const char *name);

/* ---- derive_record.c */

val rewrite_define_record_type(val form, struct scope *sc);

/* ---- include.c */

val rewrite_include(val form, struct scope *sc);
val rewrite_include_ci(val form, struct scope *sc);
/* A list of (%in-file path form ...) for the files that the form names. */
val included_forms(val form, bool fold);
/* Makes the file of (%in-file path form ...) that being read; returns the one
   before, which R_FILE is to be again. */
val enter_file(val form);

/* ---- library.c */

val rewrite_cond_expand(val form, struct scope *sc);
val rewrite_import(val form, struct scope *sc);
val rewrite_define_library(val form, struct scope *sc);
val rewrite_alias(val form, struct scope *sc);

/* ---- macro.c: syntax-rules */

val macro_from_spec(val spec, struct scope *sc);
val macro_expand(val macro, val form, struct scope *sc);

/* ---- analyze.c and compile.c */

void analyze(struct node *lambda);
/* A call that is a jump, after the analysis. */
bool is_loop_call(struct node *node);
val generate(struct node *lambda);

struct inlined {
  const char *name;
  enum op op;
  int args; /* -1: any number, by pairs */
};

extern const struct inlined inlined_table[];
extern const int inlined_count;

#endif /* SCHEME_AST_H */
