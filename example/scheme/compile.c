/* Testudo: the code generator of the Scheme interpreter.
   SPDX-License-Identifier: BSD-2-Clause

   A procedure's frame is an array of slots: arguments, then variables and
   intermediate values, given out like a stack. An expression is compiled for
   a slot that receives its value, or for the tail, where it returns. */
#include "ast.h"

#include <string.h>

struct patch {
  struct patch *next;
  int at;
};

struct fn {
  struct fn *up;
  struct node *lambda;
  struct insn *code;
  int n, size;
  val *consts;
  int nconsts, consts_size;
  struct var **free;
  int nfree, free_size;
  val files;       /* that the code is from, in a list */
  val file;        /* that of the last of the lines, and its position */
  uint32_t pos;    /* in there */
  uint64_t *lines; /* instruction << 32 | position or number of a file */
  int nlines, lines_size;
  int top, slots; /* next free slot, most ever used */
};

enum { TAIL = -1, MAX_SLOTS = 60000 };

static void gen(struct fn *f, struct node *node, int dst);

/* ---- growing arrays in the region */

static void *grow(void *old, int n, int *size_io, size_t item) {
  if (n < *size_io)
    return old;
  int size = *size_io * 2 + 16;
  void *p = region_alloc((size_t)size * item);
  if (n > 0)
    memcpy(p, old, (size_t)n * item);
  *size_io = size;
  return p;
}

static int emit(struct fn *f, enum op op, int a, int b, int c) {
  f->code = grow(f->code, f->n, &f->size, sizeof *f->code);
  f->code[f->n] =
      (struct insn){(uint16_t)op, (uint16_t)a, (uint16_t)b, (uint16_t)c};
  return f->n++;
}

static void add_line(struct fn *f, uint32_t what) {
  f->lines = grow(f->lines, f->nlines, &f->lines_size, sizeof *f->lines);
  f->lines[f->nlines++] = (uint64_t)f->n << 32 | what;
}

static uint32_t file_number(struct fn *f, val file) {
  uint32_t n = 0;
  val l = f->files;
  for (; CAR(l) != file && n < FIRST_POSITION - 1; l = CDR(l), n++)
    if (CDR(l) == NIL) {
      val last = cons(file, NIL);
      CDR(l) = last;
    }
  return n;
}

/* What is included is in the middle of code from another file. */
static void emit_line(struct fn *f, struct node *node) {
  if (!is_fix(node->pos))
    return;
  uint32_t pos = fix_int(node->pos) < UINT32_MAX
                     ? (uint32_t)fix_int(node->pos)
                     : UINT32_MAX;
  if (node->file != f->file)
    add_line(f, file_number(f, node->file));
  else if (pos == f->pos)
    return;
  add_line(f, pos);
  f->file = node->file;
  f->pos = pos;
}

static int constant(struct fn *f, val v) {
  for (int i = 0; i < f->nconsts && i < 256; i++)
    if (f->consts[i] == v)
      return i;
  f->consts = grow(f->consts, f->nconsts, &f->consts_size, sizeof(val));
  f->consts[f->nconsts] = v;
  if (f->nconsts >= MAX_SLOTS)
    raise_syntax("procedure too large", f->lambda->value);
  return f->nconsts++;
}

static int push_slots(struct fn *f, int n) {
  int slot = f->top;
  f->top += n;
  if (f->top > MAX_SLOTS)
    raise_syntax("procedure too large", f->lambda->value);
  if (f->top > f->slots)
    f->slots = f->top;
  return slot;
}

/* ---- jumps: the word after the instruction holds the distance */

static int emit_jump(struct fn *f, enum op op, int a, int b) {
  int at = emit(f, op, a, b, 0);
  f->code = grow(f->code, f->n, &f->size, sizeof *f->code);
  f->n++;
  return at;
}

static void set_jump(struct fn *f, int at, int target) {
  int64_t distance = target - at;
  memcpy(&f->code[at + 1], &distance, sizeof distance);
}

static void add_patch(struct patch **list, int at) {
  struct patch *p = region_alloc(sizeof *p);
  p->at = at;
  p->next = *list;
  *list = p;
}

static void patch_here(struct fn *f, struct patch *list) {
  for (; list != NULL; list = list->next)
    set_jump(f, list->at, f->n);
}

static void jump_to_list(struct fn *f, enum op op, int a, int b,
                         struct patch **list) {
  add_patch(list, emit_jump(f, op, a, b));
}

/* ---- variables */

/* What is assigned to and seen by closures; or by a frame that may return
   more than once, since continuations are copies of frames. */
static bool is_boxed(struct var *v) {
  return v->mutated && (v->captured || v->owner->calls);
}

static int free_index(struct fn *f, struct var *v) {
  for (int i = 0; i < f->nfree; i++)
    if (f->free[i] == v)
      return i;
  f->free = grow(f->free, f->nfree, &f->free_size, sizeof *f->free);
  f->free[f->nfree] = v;
  return f->nfree++;
}

static void gen_const(struct fn *f, val v, int dst) {
  int64_t s = (int64_t)v;
  if (!is_ref(v) && s == (int32_t)s)
    emit(f, OP_IMM, dst, (int)(s & 0xffff), (int)((s >> 16) & 0xffff));
  else
    emit(f, OP_CONST, dst, constant(f, v), 0);
}

static void gen_lref(struct fn *f, struct node *node, int dst) {
  struct var *v = node->var;
  if (v->early)
    emit_line(f, node);
  if (v->owner == f->lambda) {
    if (is_boxed(v))
      emit(f, OP_UNBOX, dst, v->slot, v->early ? constant(f, v->name) + 1 : 0);
    else if (v->early)
      emit(f, OP_CHECKED, dst, v->slot, constant(f, v->name));
    else if (v->slot != dst)
      emit(f, OP_MOVE, dst, v->slot, 0);
  } else if (is_boxed(v)) {
    emit(f, OP_FREEBOX, dst, free_index(f, v),
         v->early ? constant(f, v->name) + 1 : 0);
  } else {
    emit(f, OP_FREE, dst, free_index(f, v), 0);
  }
}

/* A fresh variable gets its value from the slot it already lives in. */
static void bind_var(struct fn *f, struct var *v, int slot) {
  v->slot = slot;
  if (is_boxed(v))
    emit(f, OP_MKBOX, slot, slot, 0);
}

/* The slot that holds a value; evaluates into a new one if need be. */
static int operand(struct fn *f, struct node *node) {
  if (node->kind == N_LREF && node->var->owner == f->lambda &&
      !is_boxed(node->var) && !node->var->early)
    return node->var->slot;
  int slot = push_slots(f, 1);
  gen(f, node, slot);
  return slot;
}

static void gen_lset(struct fn *f, struct node *node) {
  struct var *v = node->var;
  int top = f->top;
  if (v->owner == f->lambda && !is_boxed(v)) {
    int slot = operand(f, node->body);
    emit(f, OP_MOVE, v->slot, slot, 0);
  } else {
    int slot = operand(f, node->body);
    if (v->owner == f->lambda)
      emit(f, OP_SETBOX, v->slot, slot, 0);
    else
      emit(f, OP_SETFREE, slot, free_index(f, v), 0);
  }
  f->top = top;
}

static void gen_gset(struct fn *f, struct node *node, enum op op) {
  int top = f->top;
  int slot = operand(f, node->body);
  emit_line(f, node);
  emit(f, op, slot, constant(f, node->value), 0);
  f->top = top;
}

/* ---- procedures in line */

static bool small_constant(struct node *node) {
  if (node->kind != N_CONST || !is_fix(node->value))
    return false;
  intptr_t n = fix_int(node->value);
  return n == (int16_t)n;
}

static void gen_prim(struct fn *f, struct node *node, int dst) {
  int top = f->top, slot[3] = {0, 0, 0};
  enum op op = node->op;
  if ((op == OP_ADD || op == OP_SUB) && small_constant(node->sub[1])) {
    slot[0] = operand(f, node->sub[0]);
    slot[1] = (int)fix_int(node->sub[1]->value);
    op = op == OP_ADD ? OP_ADDI : OP_SUBI;
  } else {
    for (int i = 0; i < node->n; i++)
      slot[i] = operand(f, node->sub[i]);
  }
  emit_line(f, node);
  if (op == OP_VSET) {
    emit(f, op, slot[0], slot[1], slot[2]);
    gen_const(f, UNSPEC, dst);
  } else if (op == OP_SETCAR || op == OP_SETCDR) {
    emit(f, op, slot[0], slot[1], 0);
    gen_const(f, UNSPEC, dst);
  } else {
    emit(f, op, dst, slot[0], slot[1]);
  }
  if (op == OP_RECREF)
    emit(f, OP_MOVE, (int)fix_int(node->value), 0, 0);
  f->top = top;
}

/* ---- tests: jump to the list when the node is what `when` says */

static void gen_jump(struct fn *f, struct node *node, bool when,
                     struct patch **list);

static enum op jump_op(enum op op) {
  switch (op) {
  case OP_NULLP:
    return OP_JNULLP;
  case OP_PAIRP:
    return OP_JPAIRP;
  case OP_ZEROP:
    return OP_JZEROP;
  case OP_EQ:
    return OP_JEQ;
  case OP_NUMEQ:
    return OP_JNUMEQ;
  case OP_LT:
    return OP_JLT;
  case OP_GT:
    return OP_JGT;
  case OP_LE:
    return OP_JLE;
  case OP_GE:
    return OP_JGE;
  default:
    return OP_JT;
  }
}

/* The variant with a constant lies as far behind as JNUMEQI behind JNUMEQ. */
static bool jump_with_constant(enum op op) {
  return op >= OP_JNUMEQ && op <= OP_JGE;
}

static void gen_jump_prim(struct fn *f, struct node *node, bool when,
                          struct patch **list) {
  enum op op = jump_op(node->op);
  int a = operand(f, node->sub[0]), b = 0;
  if (node->n == 2 && jump_with_constant(op) && small_constant(node->sub[1])) {
    b = (int)fix_int(node->sub[1]->value);
    op += OP_JNUMEQI - OP_JNUMEQ;
  } else if (node->n == 2) {
    b = operand(f, node->sub[1]);
  }
  emit_line(f, node);
  jump_to_list(f, when ? op : op + 1, a, b, list);
}

static void gen_jump_if(struct fn *f, struct node *node, bool when,
                        struct patch **list) {
  struct patch *other = NULL, *end = NULL;
  int top = f->top;
  gen_jump(f, node->sub[0], false, &other);
  gen_jump(f, node->sub[1], when, list);
  f->top = top;
  if (node->sub[2]->kind == N_CONST && node->sub[2]->value == FALSE) {
    if (when) {
      patch_here(f, other);
    } else {
      while (other != NULL) {
        struct patch *next = other->next;
        other->next = *list;
        *list = other;
        other = next;
      }
    }
    return;
  }
  jump_to_list(f, OP_JUMP, 0, 0, &end);
  patch_here(f, other);
  gen_jump(f, node->sub[2], when, list);
  patch_here(f, end);
}

static void gen_jump_or(struct fn *f, struct node *node, bool when,
                        struct patch **list) {
  struct patch *end = NULL;
  for (int i = 0; i < node->n - 1; i++)
    gen_jump(f, node->sub[i], true, when ? list : &end);
  gen_jump(f, node->sub[node->n - 1], when, list);
  patch_here(f, end);
}

static void gen_jump(struct fn *f, struct node *node, bool when,
                     struct patch **list) {
  int top = f->top;
  if (node->kind == N_PRIM && node->op == OP_NOT)
    gen_jump(f, node->sub[0], !when, list);
  else if (node->kind == N_PRIM && jump_op(node->op) != OP_JT)
    gen_jump_prim(f, node, when, list);
  else if (node->kind == N_IF)
    gen_jump_if(f, node, when, list);
  else if (node->kind == N_OR)
    gen_jump_or(f, node, when, list);
  else if (node->kind == N_CONST) {
    if ((node->value != FALSE) == when)
      jump_to_list(f, OP_JUMP, 0, 0, list);
  } else {
    int slot = operand(f, node);
    jump_to_list(f, when ? OP_JT : OP_JF, slot, 0, list);
  }
  f->top = top;
}

static void gen_if(struct fn *f, struct node *node, int dst) {
  struct patch *other = NULL, *end = NULL;
  gen_jump(f, node->sub[0], false, &other);
  gen(f, node->sub[1], dst);
  if (dst != TAIL)
    jump_to_list(f, OP_JUMP, 0, 0, &end);
  patch_here(f, other);
  gen(f, node->sub[2], dst);
  patch_here(f, end);
}

static void gen_or(struct fn *f, struct node *node, int dst) {
  struct patch *end = NULL;
  int top = f->top;
  int slot = push_slots(f, 1);
  for (int i = 0; i < node->n - 1; i++) {
    gen(f, node->sub[i], slot);
    jump_to_list(f, OP_JT, slot, 0, &end);
  }
  gen(f, node->sub[node->n - 1], dst == TAIL ? TAIL : slot);
  patch_here(f, end);
  if (dst == TAIL)
    emit(f, OP_RETURN, slot, 0, 0);
  else
    emit(f, OP_MOVE, dst, slot, 0);
  f->top = top;
}

/* ---- calls */

static void gen_call(struct fn *f, struct node *node, int dst) {
  int top = f->top, argc = node->n - 1;
  int base = dst != TAIL && dst == top - 1 ? dst : push_slots(f, 1);
  struct node *proc = node->sub[0];
  bool global = proc->kind == N_GREF;
  f->top = base + 2;
  push_slots(f, 1);
  if (!global)
    gen(f, proc, base + 2);
  for (int i = 0; i < argc; i++) {
    int slot = push_slots(f, 1);
    gen(f, node->sub[i + 1], slot);
  }
  emit_line(f, node);
  if (dst == TAIL)
    emit(f, global ? OP_TAILG : OP_TAIL, base, argc,
         global ? constant(f, proc->value) : 0);
  else
    emit(f, global ? OP_CALLG : OP_CALL, base, argc,
         global ? constant(f, proc->value) : 0);
  f->top = top;
  if (dst != TAIL && dst != base)
    emit(f, OP_MOVE, dst, base, 0);
}

static bool is_param_of(struct node *lambda, struct var *v) {
  for (int i = 0; i < lambda->n; i++)
    if (lambda->vars[i] == v)
      return true;
  return false;
}

/* May the value be fetched after other parameters were overwritten? */
static bool is_late_value(struct node *lambda, struct node *node) {
  return node->kind == N_CONST ||
         (node->kind == N_LREF && !is_param_of(lambda, node->var));
}

static bool is_unchanged(struct var *param, struct node *node) {
  return node->kind == N_LREF && node->var == param && !is_boxed(param);
}

static void assign_param(struct fn *f, struct var *param, int slot) {
  emit(f, is_boxed(param) ? OP_MKBOX : OP_MOVE, param->slot, slot, 0);
}

/* All values first, then the parameters; the last computed value may go
   straight to its place. */
static void gen_loop_args(struct fn *f, struct node *lambda,
                          struct node **args) {
  int *slots = region_alloc(((size_t)lambda->n + 1) * sizeof *slots);
  int last = -1;
  for (int i = 0; i < lambda->n; i++)
    if (!is_late_value(lambda, args[i]) &&
        !is_unchanged(lambda->vars[i], args[i]))
      last = i;
  for (int i = 0; i < lambda->n; i++) {
    struct var *param = lambda->vars[i];
    slots[i] = -1;
    if (is_late_value(lambda, args[i]) || is_unchanged(param, args[i]))
      continue;
    if (i == last && args[i]->kind == N_PRIM && !is_boxed(param)) {
      gen(f, args[i], param->slot);
    } else {
      slots[i] = push_slots(f, 1);
      gen(f, args[i], slots[i]);
    }
  }
  for (int i = 0; i < lambda->n; i++) {
    struct var *param = lambda->vars[i];
    if (slots[i] >= 0) {
      assign_param(f, param, slots[i]);
    } else if (is_late_value(lambda, args[i])) {
      gen(f, args[i], param->slot);
      if (is_boxed(param))
        emit(f, OP_MKBOX, param->slot, param->slot, 0);
    }
  }
}

static void gen_loop_call(struct fn *f, struct node *node) {
  struct var *v = node->sub[0]->var;
  int top = f->top;
  gen_loop_args(f, v->loop, node->sub + 1);
  f->top = top;
  int at = emit_jump(f, OP_JUMP, 0, 0);
  if (v->label >= 0)
    set_jump(f, at, v->label);
  else
    add_patch(&v->patches, at);
}

/* ---- binding */

static void gen_let(struct fn *f, struct node *node, int dst) {
  int top = f->top;
  for (int i = 0; i < node->n; i++) {
    node->vars[i]->slot = push_slots(f, 1);
    gen(f, node->sub[i], node->vars[i]->slot);
    if (node->serial)
      bind_var(f, node->vars[i], node->vars[i]->slot);
  }
  for (int i = 0; i < node->n && !node->serial; i++)
    bind_var(f, node->vars[i], node->vars[i]->slot);
  gen(f, node->body, dst);
  f->top = top;
}

static void gen_loop(struct fn *f, struct node *node, int dst) {
  int top = f->top;
  struct var *v = node->vars[0];
  struct node *lambda = node->sub[0];
  struct patch *end = NULL;
  for (int i = 0; i < lambda->n; i++)
    lambda->vars[i]->slot = push_slots(f, 1);
  v->label = -1;
  v->patches = NULL;
  gen(f, node->body, dst);
  if (!is_loop_call(node->body) && dst != TAIL)
    jump_to_list(f, OP_JUMP, 0, 0, &end);
  patch_here(f, v->patches);
  v->label = f->n;
  gen(f, lambda->body, dst);
  patch_here(f, end);
  f->top = top;
}

static val gen_procedure(struct fn *up, struct node *lambda, struct fn *f_o);

static void gen_captures(struct fn *f, struct fn *inner) {
  for (int i = 0; i < inner->nfree; i++) {
    struct var *v = inner->free[i];
    if (v->owner == f->lambda)
      emit(f, OP_MOVE, 0, v->slot, 0);
    else
      emit(f, OP_MOVE, 1, free_index(f, v), 0);
  }
}

static void gen_closure(struct fn *f, struct node *lambda, int dst,
                        struct fn *inner) {
  val code = gen_procedure(f, lambda, inner);
  if (inner->nfree == 0) {
    val closure = make_object(T_CLOSURE, 1, code);
    gen_const(f, closure, dst);
    return;
  }
  for (int i = 0; i < inner->nfree; i++)
    if (inner->free[i]->owner != f->lambda)
      free_index(f, inner->free[i]);
  emit(f, OP_CLOSURE, dst, constant(f, code), inner->nfree);
  gen_captures(f, inner);
}

static void gen_value(struct fn *f, struct node *node, int dst,
                      struct fn *inner) {
  inner->nfree = 0;
  if (node->kind == N_LAMBDA)
    gen_closure(f, node, dst, inner);
  else
    gen(f, node, dst);
}

/* A closure made before those it refers to is completed afterwards. The slots
   of the variables follow each other. */
static void gen_patches(struct fn *f, struct node *fix, struct fn *inner) {
  for (int i = 0; i < fix->n; i++)
    for (int k = 0; k < inner[i].nfree; k++) {
      struct var *v = inner[i].free[k];
      int j = v->slot - fix->vars[0]->slot;
      if (j >= i && j < fix->n && fix->vars[j] == v && !is_boxed(v))
        emit(f, OP_PATCH, fix->vars[i]->slot, k, v->slot);
    }
}

static void gen_fix(struct fn *f, struct node *node, int dst) {
  if (node->loop) {
    gen_loop(f, node, dst);
    return;
  }
  int top = f->top;
  struct fn *inner = region_alloc((size_t)node->n * sizeof *inner);
  for (int i = 0; i < node->n; i++) {
    node->vars[i]->slot = push_slots(f, 1);
    if (is_boxed(node->vars[i])) {
      gen_const(f, UNSPEC, node->vars[i]->slot);
      bind_var(f, node->vars[i], node->vars[i]->slot);
    }
  }
  for (int i = 0; i < node->n; i++) {
    struct var *v = node->vars[i];
    if (is_boxed(v)) {
      int slot = push_slots(f, 1);
      gen_value(f, node->sub[i], slot, &inner[i]);
      emit(f, OP_SETBOX, v->slot, slot, 0);
      inner[i].nfree = 0;
    } else {
      gen_value(f, node->sub[i], v->slot, &inner[i]);
    }
  }
  gen_patches(f, node, inner);
  gen(f, node->body, dst);
  f->top = top;
}

static void gen_cases(struct fn *f, struct node *node, int dst) {
  struct node *call = region_alloc(sizeof *call);
  struct node *maker = region_alloc(sizeof *maker);
  maker->kind = N_GREF;
  maker->value = own_symbol(intern("%make-cases"));
  call->kind = N_CALL;
  call->pos = FALSE;
  call->n = node->n + 1;
  call->sub = region_alloc((size_t)call->n * sizeof *call->sub);
  call->sub[0] = maker;
  for (int i = 0; i < node->n; i++)
    call->sub[i + 1] = node->sub[i];
  gen(f, call, dst);
}

static void gen_seq(struct fn *f, struct node *node, int dst) {
  int top = f->top;
  for (int i = 0; i < node->n - 1; i++) {
    enum node_kind kind = node->sub[i]->kind;
    if (kind == N_CONST || (kind == N_LREF && !node->sub[i]->var->early))
      continue;
    int slot = push_slots(f, 1);
    gen(f, node->sub[i], slot);
    f->top = top;
  }
  gen(f, node->sub[node->n - 1], dst);
}

/* ---- every kind of node */

/* Kinds that hand the tail on; true if the node was one. */
static bool gen_control(struct fn *f, struct node *node, int dst) {
  switch (node->kind) {
  case N_IF:
    gen_if(f, node, dst);
    return true;
  case N_OR:
    gen_or(f, node, dst);
    return true;
  case N_SEQ:
    gen_seq(f, node, dst);
    return true;
  case N_CALL:
    if (is_loop_call(node))
      gen_loop_call(f, node);
    else
      gen_call(f, node, dst);
    return true;
  case N_CASES:
    gen_cases(f, node, dst);
    return true;
  case N_LET:
    gen_let(f, node, dst);
    return true;
  case N_FIX:
    gen_fix(f, node, dst);
    return true;
  default:
    return false;
  }
}

static void gen_simple(struct fn *f, struct node *node, int dst) {
  struct fn *inner;
  switch (node->kind) {
  case N_CONST:
    gen_const(f, node->value, dst);
    return;
  case N_LREF:
    gen_lref(f, node, dst);
    return;
  case N_GREF:
    emit_line(f, node);
    emit(f, OP_GREF, dst, constant(f, node->value), 0);
    return;
  case N_LSET:
    gen_lset(f, node);
    gen_const(f, UNSPEC, dst);
    return;
  case N_GSET:
    gen_gset(f, node, OP_GSET);
    gen_const(f, UNSPEC, dst);
    return;
  case N_GDEF:
    gen_gset(f, node, OP_GDEF);
    gen_const(f, UNSPEC, dst);
    return;
  case N_PRIM:
    gen_prim(f, node, dst);
    return;
  default:
    inner = region_alloc(sizeof *inner);
    gen_closure(f, node, dst, inner);
    return;
  }
}

static void gen(struct fn *f, struct node *node, int dst) {
  check_form_depth();
  if (gen_control(f, node, dst))
    return;
  if (dst != TAIL) {
    gen_simple(f, node, dst);
    return;
  }
  int top = f->top;
  int slot = operand(f, node);
  emit(f, OP_RETURN, slot, 0, 0);
  f->top = top;
}

/* ---- a whole procedure */

/* See place_in_code. */
static val make_debug(struct fn *f) {
  size_t bytes = (size_t)f->nlines * sizeof *f->lines;
  val lines = make_leaf(T_BYTES, bytes == 0 ? 8 : bytes);
  if (bytes == 0)
    memset(BODY(lines), 0, 8);
  else
    memcpy(BODY(lines), f->lines, bytes);
  return cons(lines, f->files);
}

static val finish_code(struct fn *f, struct node *lambda) {
  int fixed = lambda->n - lambda->rest;
  size_t slots = (size_t)f->slots + 4;
  emit(f, OP_RETURN, 0, 0, 0); /* the counter never points past the end */
  if (fixed > 10000)
    raise_syntax("too many parameters", lambda->value);
  if (slots > vm.max_slots)
    vm.max_slots = slots;
  val debug = make_debug(f);
  intptr_t info = (intptr_t)(4 + f->nconsts) | (intptr_t)slots << 16 |
                  (intptr_t)(fixed * 2 + lambda->rest) << 32;
  return make_code(FIX(info), lambda->value, debug, f->consts,
                   (size_t)f->nconsts, f->code, (size_t)f->n);
}

static val gen_procedure(struct fn *up, struct node *lambda, struct fn *f_o) {
  struct fn *f = f_o;
  memset(f, 0, sizeof *f);
  f->up = up;
  f->lambda = lambda;
  f->file = lambda->file;
  f->files = cons(f->file, NIL);
  push_slots(f, lambda->n);
  for (int i = 0; i < lambda->n; i++)
    bind_var(f, lambda->vars[i], i);
  gen(f, lambda->body, TAIL);
  return finish_code(f, lambda);
}

val generate(struct node *lambda) {
  struct fn *f = region_alloc(sizeof *f);
  return gen_procedure(NULL, lambda, f);
}
