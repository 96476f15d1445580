/* Testudo: the loop of the Scheme interpreter's machine.
   SPDX-License-Identifier: BSD-2-Clause

   Register discipline. `fp`, `ip` and `code` are C locals: what they point
   into is pinned while they do (MACHINE-ROOTS). vm.fp always equals fp, and
   vm.pc is stored before anything that may raise an error. */
#include "ops.h"
#include "scheme.h"

#include <string.h>

#define R(i)     fp[i]
#define K(i)     code[4 + (i)]
#define NEXT     goto *table[(++ip)->op]
#define SAVE()   (vm.pc = ip + 1)
#define DISTANCE (*(const int64_t *)(const void *)(ip + 1))

#define JUMP_IF(cond)                                                         \
  do {                                                                        \
    if (cond)                                                                 \
      ip += DISTANCE - 1;                                                     \
    else                                                                      \
      ip++;                                                                   \
    NEXT;                                                                     \
  } while (0)

/* Where the loop goes on, by operation. It never asks whether it is to stop:
   then all entries are `stop`. */
static const void *table[OP_LIMIT];
static const void *const *usual, *stop;

void machine_stop(void) {
  for (int i = 0; i < OP_LIMIT; i++)
    table[i] = stop;
}

void machine_resume(void) {
  memcpy(table, usual, sizeof table);
}

NORETURN static void op_type(const char *proc, int i, val bad,
                             const char *expected) {
  char text[80];
  snprintf(text, sizeof text, "argument %d is not a %s", i, expected);
  raise_kind("type", proc, text, cons(bad, NIL));
}

NORETURN static void op_range(const char *proc, val bad) {
  raise_kind("range", proc, "index out of range", cons(bad, NIL));
}

NORETURN static void op_unbound(val symbol) {
  if (SYM_VALUE(symbol) != UNBOUND)
    raise_syntax("syntactic keyword used as a variable", symbol);
  raise_kind("unbound", NULL, "unbound variable", cons(symbol, NIL));
}

NORETURN static void op_early(val name) {
  raise_kind("unbound", NULL, "variable used before its definition",
             cons(name, NIL));
}

/* The frame that made the call may be gone, but not yet its code. */
static void blame_caller(val *code, const struct insn *ip) {
  if (code == NULL)
    return;
  vm.root[R_BLAME] = (val)code;
  vm.blame = (const char *)(ip + 1) - (const char *)code;
}

NORETURN static void arity_error(val *code, const struct insn *ip, val proc,
                                 int argc) {
  char text[80];
  blame_caller(code, ip);
  snprintf(text, sizeof text, "wrong number of arguments (%d)", argc);
  raise_kind("arity", NULL, text, cons(proc, NIL));
}

NORETURN static void not_procedure(val v) {
  raise_kind("type", NULL, "not a procedure", cons(v, NIL));
}

/* Keywords that became global after the reference was compiled. */
static bool is_variable_value(val v) {
  return v != UNBOUND && !is_syntax(v) && !is_type(v, T_MACRO);
}

static val global_value(val symbol) {
  val v = SYM_VALUE(symbol);
  if (!is_variable_value(v))
    op_unbound(symbol);
  return v;
}

static val global_set(val symbol, val v) {
  if (!is_variable_value(SYM_VALUE(symbol)))
    op_unbound(symbol);
  return SYM_VALUE(symbol) = v;
}

static void global_define(val symbol, val v) {
  symbol_define(symbol, v);
  if (is_type(v, T_CLOSURE) && CODE_NAME(CLOSURE_CODE(v)) == FALSE)
    CODE_NAME(CLOSURE_CODE(v)) = symbol;
}

static val make_closure(val *fp, val code, const struct insn *captures,
                        int n) {
  size_t bytes = (size_t)(n + 2) * sizeof(val);
  val *p;
  do {
    p = reserve(vm.ap_object, bytes);
    p[0] = HEADER(T_CLOSURE, n + 2);
    p[1] = code;
    for (int i = 0; i < n; i++)
      p[i + 2] = captures[i].a == 0 ? fp[captures[i].b]
                                    : CLOSURE_FREE(fp[-1], captures[i].b);
  } while (!mps_commit(vm.ap_object, p, bytes));
  return (val)p;
}

static val call_prim(val prim, int argc, val *argv) {
  unsigned index = (unsigned)PRIM_INDEX(prim);
  const struct prim *p = prim_table[index];
  vm.prim = index;
  if (UNLIKELY(argc < p->min || (p->max >= 0 && argc > p->max)))
    arity_error(NULL, NULL, prim, argc);
  return p->fn(argc, argv);
}

static inline int special_of(val prim) {
  uintptr_t fn = (uintptr_t)prim_table[PRIM_INDEX(prim)]->fn;
  return fn < 16 ? (int)fn : 0;
}

/* The closure of a case-lambda that takes argc arguments. */
static val select_case(val *code, const struct insn *ip, val cases,
                       int argc) {
  for (size_t i = 1; i <= VEC_LEN(cases); i++) {
    intptr_t info = fix_int(CODE_INFO(CLOSURE_CODE(SLOT(cases, i))));
    int fixed = (int)(INFO_ARITY(info) >> 1);
    if (argc == fixed || (argc > fixed && (INFO_ARITY(info) & 1)))
      return SLOT(cases, i);
  }
  arity_error(code, ip, cases, argc);
}

/* apply: [f, a, b, ..., list] becomes a call of f. */
static int spread_apply(int argc) {
  val *fp = vm.fp;
  if (argc == 1) {
    fp[-1] = fp[0];
    return 0;
  }
  val list = fp[argc - 1];
  memmove(fp - 1, fp, (size_t)(argc - 1) * sizeof(val));
  return argc - 2 + stack_spread(argc - 2, list);
}

/* call-with-values, second half: [f, values]. */
static int spread_values(void) {
  val *fp = vm.fp;
  val v = fp[1];
  fp[-1] = fp[0];
  fp[0] = v;
  if (!is_type(v, T_VALUES))
    return 1;
  size_t n = VEC_LEN(v);
  if (fp + n + vm.max_slots > vm.limit)
    stack_overflow(0, n + vm.max_slots);
  if (n > vm.max_slots)
    vm.arg_top = vm.fp + n;
  memcpy(vm.fp, &SLOT(v, 1), n * sizeof(val));
  return (int)n;
}

static int call_with_continuation(void) {
  stack_capture(1);
  val k = make_continuation();
  vm.fp[-1] = vm.fp[0];
  vm.fp[0] = k;
  return 1;
}

val run(int argc) {
#define OP_LABEL(name) &&L_##name,
  static const void *const labels[] = {OPS(OP_LABEL)};
#undef OP_LABEL
  val *fp = vm.fp;
  val *code = NULL;
  const struct insn *ip = NULL;
  val value, v, w;
  if (UNLIKELY(usual == NULL)) {
    usual = labels;
    stop = &&stopped;
    machine_resume();
  }
  goto apply;

stopped: /* before the instruction at ip */
  SAVE();
  machine_resume();
  interrupt_check();
  goto *labels[ip->op];

  /* ---- values */
L_MOVE:
  R(ip->a) = R(ip->b);
  NEXT;
L_CONST:
  R(ip->a) = K(ip->b);
  NEXT;
L_IMM:
  R(ip->a) = (val)(intptr_t)(int32_t)((uint32_t)ip->c << 16 | ip->b);
  NEXT;
L_FREE:
  R(ip->a) = CLOSURE_FREE(R(-1), ip->b);
  NEXT;
L_UNBOX:
  v = BOX_REF(R(ip->b));
  goto check_box;
L_FREEBOX:
  v = BOX_REF(CLOSURE_FREE(R(-1), ip->b));
check_box:
  if (UNLIKELY(v == UNBOUND)) {
    SAVE();
    op_early(ip->c == 0 ? FALSE : K(ip->c - 1));
  }
  R(ip->a) = v;
  NEXT;
L_CHECKED:
  v = R(ip->b);
  if (UNLIKELY(v == UNBOUND)) {
    SAVE();
    op_early(K(ip->c));
  }
  R(ip->a) = v;
  NEXT;
L_SETBOX:
  BOX_REF(R(ip->a)) = R(ip->b);
  NEXT;
L_SETFREE:
  BOX_REF(CLOSURE_FREE(R(-1), ip->b)) = R(ip->a);
  NEXT;
L_MKBOX:
  SAVE();
  R(ip->a) = make_box(R(ip->b));
  NEXT;
L_GREF:
  v = SYM_VALUE(K(ip->b));
  if (UNLIKELY(v == UNBOUND)) {
    SAVE();
    op_unbound(K(ip->b));
  }
  R(ip->a) = v;
  NEXT;
L_GSET:
  SAVE();
  global_set(K(ip->b), R(ip->a));
  NEXT;
L_GDEF:
  SAVE();
  global_define(K(ip->b), R(ip->a));
  NEXT;
L_CLOSURE:
  SAVE();
  R(ip->a) = make_closure(fp, K(ip->b), ip + 1, ip->c);
  ip += ip->c;
  NEXT;
L_PATCH:
  CLOSURE_FREE(R(ip->a), ip->b) = R(ip->c);
  NEXT;

  /* ---- jumps */
L_JUMP:
  ip += DISTANCE - 1;
  NEXT;
L_JT:
  JUMP_IF(R(ip->a) != FALSE);
L_JF:
  JUMP_IF(R(ip->a) == FALSE);
L_JNULLP:
  JUMP_IF(R(ip->a) == NIL);
L_JNNULLP:
  JUMP_IF(R(ip->a) != NIL);
L_JPAIRP:
  JUMP_IF(is_pair(R(ip->a)));
L_JNPAIRP:
  JUMP_IF(!is_pair(R(ip->a)));
L_JEQ:
  JUMP_IF(R(ip->a) == R(ip->b));
L_JNEQ:
  JUMP_IF(R(ip->a) != R(ip->b));
L_JZEROP:
  v = R(ip->a);
  if (UNLIKELY(!is_fix(v))) {
    SAVE();
    JUMP_IF(arith_is_zero(v));
  }
  JUMP_IF(v == FIX(0));
L_JNZEROP:
  v = R(ip->a);
  if (UNLIKELY(!is_fix(v))) {
    SAVE();
    JUMP_IF(!arith_is_zero(v));
  }
  JUMP_IF(v != FIX(0));

#define COMPARE_JUMP(name, second, op, not )                                  \
  v = R(ip->a);                                                               \
  w = second;                                                                 \
  if (UNLIKELY(!(v & w & 1))) {                                               \
    SAVE();                                                                   \
    JUMP_IF(not arith_test_##name(v, w));                                     \
  }                                                                           \
  JUMP_IF(not((intptr_t)v op(intptr_t) w));
#define BOTH_JUMPS(name, op)                                                  \
  L_J##name : COMPARE_JUMP(name, R(ip->b), op, ) L_JN##name                   \
      : COMPARE_JUMP(name, R(ip->b), op, !) L_J##name##I                      \
      : COMPARE_JUMP(name, FIX((int16_t)ip->b), op, ) L_JN##name##I           \
      : COMPARE_JUMP(name, FIX((int16_t)ip->b), op, !)
  BOTH_JUMPS(NUMEQ, ==)
  BOTH_JUMPS(LT, <)
  BOTH_JUMPS(GT, >)
  BOTH_JUMPS(LE, <=)
  BOTH_JUMPS(GE, >=)

#define COMPARE(name, op)                                                     \
  L_##name : v = R(ip->b);                                                    \
  w = R(ip->c);                                                               \
  if (LIKELY(v & w & 1)) {                                                    \
    R(ip->a) = boolean((intptr_t)v op(intptr_t) w);                           \
  } else {                                                                    \
    SAVE();                                                                   \
    R(ip->a) = boolean(arith_test_##name(v, w));                              \
  }                                                                           \
  NEXT;
  COMPARE(NUMEQ, ==)
  COMPARE(LT, <)
  COMPARE(GT, >)
  COMPARE(LE, <=)
  COMPARE(GE, >=)

  /* ---- numbers */
L_ADDI:
  w = FIX((int16_t)ip->c);
  goto add;
L_ADD:
  w = R(ip->c);
add : {
  intptr_t sum;
  v = R(ip->b);
  if (LIKELY(v & w & 1) &&
      !__builtin_add_overflow((intptr_t)v, (intptr_t)(w - 1), &sum)) {
    R(ip->a) = (val)sum;
    NEXT;
  }
}
  SAVE();
  R(ip->a) = arith_add(v, w);
  NEXT;
L_SUBI:
  w = FIX((int16_t)ip->c);
  goto sub;
L_SUB:
  w = R(ip->c);
sub : {
  intptr_t difference;
  v = R(ip->b);
  if (LIKELY(v & w & 1) &&
      !__builtin_sub_overflow((intptr_t)v, (intptr_t)(w - 1), &difference)) {
    R(ip->a) = (val)difference;
    NEXT;
  }
}
  SAVE();
  R(ip->a) = arith_sub(v, w);
  NEXT;
L_MUL : {
  intptr_t product;
  v = R(ip->b);
  w = R(ip->c);
  if (LIKELY(v & w & 1) &&
      !__builtin_mul_overflow((intptr_t)(v - 1), fix_int(w), &product)) {
    R(ip->a) = (val)product + 1;
    NEXT;
  }
}
  SAVE();
  R(ip->a) = arith_mul(v, w);
  NEXT;
L_QUOTIENT:
  v = R(ip->b);
  w = R(ip->c);
  if (LIKELY((v & w & 1) && (intptr_t)w > (intptr_t)FIX(0))) {
    R(ip->a) = FIX(fix_int(v) / fix_int(w));
    NEXT;
  }
  SAVE();
  R(ip->a) = arith_quotient(v, w);
  NEXT;
L_REMAINDER:
  v = R(ip->b);
  w = R(ip->c);
  if (LIKELY((v & w & 1) && (intptr_t)w > (intptr_t)FIX(0))) {
    R(ip->a) = FIX(fix_int(v) % fix_int(w));
    NEXT;
  }
  SAVE();
  R(ip->a) = arith_remainder(v, w);
  NEXT;
L_ZEROP:
  SAVE();
  R(ip->a) = boolean(arith_is_zero(R(ip->b)));
  NEXT;

  /* ---- pairs */
#define PAIR_OP(name, proc, test, expr)                                       \
  L_##name : v = R(ip->b);                                                    \
  if (UNLIKELY(!(test))) {                                                    \
    SAVE();                                                                   \
    op_type(proc, 1, v, "pair");                                              \
  }                                                                           \
  R(ip->a) = expr;                                                            \
  NEXT;
  PAIR_OP(CAR, "car", is_pair(v), CAR(v))
  PAIR_OP(CDR, "cdr", is_pair(v), CDR(v))
  PAIR_OP(CAAR, "caar", is_pair(v) && is_pair(CAR(v)), CAR(CAR(v)))
  PAIR_OP(CADR, "cadr", is_pair(v) && is_pair(CDR(v)), CAR(CDR(v)))
  PAIR_OP(CDAR, "cdar", is_pair(v) && is_pair(CAR(v)), CDR(CAR(v)))
  PAIR_OP(CDDR, "cddr", is_pair(v) && is_pair(CDR(v)), CDR(CDR(v)))
L_CONS:
  SAVE();
  R(ip->a) = cons(R(ip->b), R(ip->c));
  NEXT;
L_SETCAR:
  v = R(ip->a);
  if (UNLIKELY(!is_pair(v))) {
    SAVE();
    op_type("set-car!", 1, v, "pair");
  }
  CAR(v) = R(ip->b);
  NEXT;
L_SETCDR:
  v = R(ip->a);
  if (UNLIKELY(!is_pair(v))) {
    SAVE();
    op_type("set-cdr!", 1, v, "pair");
  }
  CDR(v) = R(ip->b);
  NEXT;

  /* ---- predicates */
#define TEST_OP(name, expr)                                                   \
  L_##name : v = R(ip->b);                                                    \
  R(ip->a) = boolean(expr);                                                   \
  NEXT;
  TEST_OP(NOT, v == FALSE)
  TEST_OP(NULLP, v == NIL)
  TEST_OP(PAIRP, is_pair(v))
  TEST_OP(SYMBOLP, is_symbol(v))
  TEST_OP(STRINGP, is_string(v))
  TEST_OP(VECTORP, is_vector(v))
  TEST_OP(CHARP, is_char(v))
  TEST_OP(PROCEDUREP, is_procedure(v))
  TEST_OP(EOFP, v == EOFVAL)
  TEST_OP(EQ, v == R(ip->c))
  TEST_OP(EQV, eqv(v, R(ip->c)))
L_CHAREQ:
  v = R(ip->b);
  w = R(ip->c);
  if (UNLIKELY(!is_char(v) || !is_char(w))) {
    SAVE();
    op_type("char=?", is_char(v) ? 2 : 1, is_char(v) ? w : v, "character");
  }
  R(ip->a) = boolean(v == w);
  NEXT;

  /* ---- vectors, strings, records */
L_VREF:
  v = R(ip->b);
  w = R(ip->c);
  if (UNLIKELY(!is_vector(v))) {
    SAVE();
    op_type("vector-ref", 1, v, "vector");
  }
  if (UNLIKELY(!is_fix(w) || (size_t)fix_int(w) >= VEC_LEN(v))) {
    SAVE();
    op_range("vector-ref", w);
  }
  R(ip->a) = VEC_REF(v, fix_int(w));
  NEXT;
L_VSET:
  v = R(ip->a);
  w = R(ip->b);
  if (UNLIKELY(!is_vector(v))) {
    SAVE();
    op_type("vector-set!", 1, v, "vector");
  }
  if (UNLIKELY(!is_fix(w) || (size_t)fix_int(w) >= VEC_LEN(v))) {
    SAVE();
    op_range("vector-set!", w);
  }
  VEC_REF(v, fix_int(w)) = R(ip->c);
  NEXT;
L_VLEN:
  v = R(ip->b);
  if (UNLIKELY(!is_vector(v))) {
    SAVE();
    op_type("vector-length", 1, v, "vector");
  }
  R(ip->a) = FIX(VEC_LEN(v));
  NEXT;
L_SLEN:
  v = R(ip->b);
  if (UNLIKELY(!is_string(v))) {
    SAVE();
    op_type("string-length", 1, v, "string");
  }
  R(ip->a) = SLOT(v, 2);
  NEXT;
L_SREF:
  v = R(ip->b);
  w = R(ip->c);
  if (UNLIKELY(!is_string(v))) {
    SAVE();
    op_type("string-ref", 1, v, "string");
  }
  if (UNLIKELY(!is_fix(w) || (size_t)fix_int(w) >= STRING_LEN(v))) {
    SAVE();
    op_range("string-ref", w);
  }
  R(ip->a) = CHAR(string_get(v, (size_t)fix_int(w)));
  NEXT;
L_CHARINT:
  v = R(ip->b);
  if (UNLIKELY(!is_char(v))) {
    SAVE();
    op_type("char->integer", 1, v, "character");
  }
  R(ip->a) = FIX(char_int(v));
  NEXT;
L_RECREF:
  v = R(ip->b);
  if (UNLIKELY(!is_type(v, T_RECORD) || RECORD_RTD(v) != R(ip->c) ||
               ip[1].a + 2u >= obj_words(v))) {
    SAVE();
    record_type_error(v, R(ip->c), CODE_NAME((val)code));
  }
  R(ip->a) = RECORD_FIELD(v, ip[1].a);
  ip++;
  NEXT;

  /* ---- calls */
L_CALLG:
  v = SYM_VALUE(K(ip->c));
  if (UNLIKELY(!is_ref(v))) {
    SAVE();
    v = global_value(K(ip->c));
  }
  R(ip->a + 2) = v;
  goto call;
L_CALL:
  v = R(ip->a + 2);
call:
  if (LIKELY(is_ref(v))) {
    val *base = fp + ip->a;
    argc = ip->b;
    if (ref_type(v) == T_CLOSURE) {
      base[0] = FIX(ip->a + 3);
      base[1] = FIX((const char *)(ip + 1) - (const char *)code);
      vm.fp = fp = base + 3;
      goto enter;
    }
    if (ref_type(v) == T_PRIM && !special_of(v)) {
      SAVE();
      value = call_prim(v, argc, base + 3);
      base[0] = value;
      NEXT;
    }
    SAVE();
    base[0] = FIX(ip->a + 3);
    base[1] = FIX((const char *)(ip + 1) - (const char *)code);
    vm.fp = fp = base + 3;
    goto apply;
  }
  SAVE();
  not_procedure(v);
L_TAILG:
  v = SYM_VALUE(K(ip->c));
  if (UNLIKELY(!is_ref(v))) {
    SAVE();
    v = global_value(K(ip->c));
  }
  R(ip->a + 2) = v;
  goto tail;
L_TAIL:
  v = R(ip->a + 2);
tail : {
  val *from = fp + ip->a + 3;
  argc = ip->b;
  SAVE();
  if (UNLIKELY(!is_ref(v)))
    not_procedure(v);
  if (ref_type(v) == T_PRIM && !special_of(v)) {
    value = call_prim(v, argc, from);
    goto give;
  }
  fp[-1] = v;
  for (int i = 0; i < argc; i++)
    fp[i] = from[i];
}
  if (LIKELY(ref_type(v) == T_CLOSURE))
    goto enter;

apply: /* any procedure at fp[-1] with argc arguments at fp */
  v = fp[-1];
  if (!is_procedure(v)) {
    blame_caller(code, ip);
    not_procedure(v);
  }
  switch (ref_type(v)) {
  case T_CLOSURE:
    goto enter;
  case T_PRIM:
    break;
  case T_CASES:
    fp[-1] = v = select_case(code, ip, v, argc);
    goto enter;
  case T_PARAM:
    if (argc != 0)
      arity_error(code, ip, v, argc);
    value = PARAM_VALUE(v);
    goto give;
  case T_GUARDIAN:
    value = guardian_call(v, argc, fp);
    goto give;
  case T_CONT:
    value = values_of(argc, fp);
    vm.arg_top = NULL;
    goto throw;
  default:
    not_procedure(v);
  }
  switch (special_of(v)) {
  case SP_APPLY:
    if (argc < 1)
      arity_error(code, ip, v, argc);
    blame_caller(code, ip);
    argc = spread_apply(argc);
    vm.root[R_BLAME] = FALSE;
    fp = vm.fp;
    goto apply;
  case SP_APPLY_VALUES:
    argc = spread_values();
    fp = vm.fp;
    goto apply;
  case SP_CALLCC:
    if (argc != 1)
      arity_error(code, ip, v, argc);
    argc = call_with_continuation();
    fp = vm.fp;
    goto apply;
  case SP_THROW:
    v = fp[0];
    value = fp[1];
    goto reinstate;
  default:
    blame_caller(code, ip);
    value = call_prim(v, argc, fp);
    vm.root[R_BLAME] = FALSE;
    vm.arg_top = NULL;
    goto give;
  }

  throw : /* to continuation v */
          if (CONT_WINDERS(v) != vm.root[R_WINDERS]) {
    fp[-1] = vm.root[R_REWIND];
    fp[0] = v;
    fp[1] = value;
    argc = 2;
    goto apply;
  }
reinstate:
  stack_reinstate(v);
  fp = vm.fp;
  goto give;

enter : { /* closure v = fp[-1] with argc arguments at fp */
  val *callee = obj(CLOSURE_CODE(v));
  intptr_t info = fix_int(callee[1]);
  if (UNLIKELY(INFO_ARITY(info) != argc * 2)) {
    int fixed = (int)(INFO_ARITY(info) >> 1);
    if (argc < fixed || !(INFO_ARITY(info) & 1))
      arity_error(code, ip, v, argc);
    stack_collect_rest(fixed, argc);
    vm.arg_top = NULL;
    argc = fixed + 1;
  }
  if (UNLIKELY(fp + INFO_SLOTS(info) > vm.limit)) {
    stack_overflow((size_t)argc, (size_t)INFO_SLOTS(info));
    fp = vm.fp;
  }
  code = callee;
  ip = (const struct insn *)(const void *)(code + INFO_START(info)) - 1;
  NEXT;
}

L_RETURN:
  value = R(ip->a);
give: /* return value from the frame at fp */
  for (;;) {
    val distance = fp[-3], offset = fp[-2];
    if (LIKELY(distance != FIX(0))) {
      fp[-3] = value;
      vm.fp = fp = fp - fix_int(distance);
      code = obj(CLOSURE_CODE(fp[-1]));
      ip = (const struct insn *)(const void *)((const char *)code +
                                               fix_int(offset)) -
           1;
      NEXT;
    }
    if (!stack_restore())
      return value;
    fp = vm.fp;
  }
}

/* ---- entry */

static int signal_argc(void) {
  val *base = vm.fp + vm.max_slots;
  if (base < vm.arg_top)
    base = vm.arg_top;
  vm.arg_top = NULL;
  if (base + 3 + vm.max_slots > vm.touched)
    vm.touched = base + 3 + vm.max_slots;
  base[0] = FIX(base + 3 - vm.fp);
  base[1] = FIX(0);
  base[2] = vm.root[R_SIGNAL];
  base[3] = vm.root[R_CONDITION];
  vm.fp = base + 3;
  return 1;
}

static void start_frame(val proc, int argc, const val *argv) {
  vm.fp = vm.stack + 3;
  vm.limit = vm.stack + STACK_FRAMES;
  vm.arg_top = NULL;
  vm.fp[-3] = vm.fp[-2] = FIX(0);
  vm.fp[-1] = proc;
  if (argc > 0)
    memcpy(vm.fp, argv, (size_t)argc * sizeof(val));
  vm.root[R_SEGMENT] = NIL;
  vm.root[R_HANDLERS] = vm.root[R_WINDERS] = NIL;
  memory_escaped();
}

val machine_call(val proc, int argc, const val *argv) {
  jmp_buf here, *saved = vm.escape;
  val result = UNBOUND;
  start_frame(proc, argc, argv);
  stack_clear_unused();
  vm.escape = &here;
  switch (setjmp(here)) {
  case 0:
    result = run(argc);
    break;
  case 1:
    if (is_type(vm.root[R_SIGNAL], T_CLOSURE))
      result = run(signal_argc());
    break;
  default:
    break;
  }
  vm.escape = saved;
  return result;
}

void (*machine_at_end)(val);

bool machine_do(void (*action)(val), val v) {
  jmp_buf here, *saved = vm.escape;
  start_frame(FALSE, 0, NULL);
  vm.escape = &here;
  int raised = setjmp(here);
  if (raised == 0)
    action(v);
  vm.escape = saved;
  return raised == 0;
}

void machine_abandon(void) {
  c_strings_free_all();
  longjmp(*vm.escape, 2);
}
