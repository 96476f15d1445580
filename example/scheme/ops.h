/* Testudo: instructions of the Scheme interpreter's machine.
   SPDX-License-Identifier: BSD-2-Clause

   An instruction is 64 bits: operation and three operands a, b, c, usually
   slots of the frame. Operations of jumps are followed by a word with the
   distance from the jump, in instructions. */
#ifndef SCHEME_OPS_H
#define SCHEME_OPS_H

#include <stdint.h>

struct insn {
  uint16_t op, a, b, c;
};

/* clang-format off */
#define OPS(X)                                                              \
  X(MOVE)     /* a := b */                                                  \
  X(CONST)    /* a := constant b */                                         \
  X(IMM)      /* a := c:b sign-extended */                                  \
  X(FREE)     /* a := free value b of this closure */                       \
  X(UNBOX)    /* a := contents of box b; c: checked */                      \
  X(FREEBOX)  /* a := contents of the box that is free value b */           \
  X(SETBOX)   /* contents of box a := b */                                  \
  X(SETFREE)  /* contents of the box that is free value b := a */           \
  X(CHECKED)  /* a := b, which must have a value; constant c: its name */   \
  X(MKBOX)    /* a := new box with b */                                     \
  X(GREF)     /* a := global constant b */                                  \
  X(GSET)     /* global constant b := a */                                  \
  X(GDEF)     /* define global constant b as a */                           \
  X(CLOSURE)  /* a := closure of code constant b; c captures follow */      \
  X(PATCH)    /* free value b of closure a := c */                          \
  X(JUMP)                                                                   \
  X(JT)       /* jump if a is true */                                       \
  X(JF)       /* jump if a is false */                                      \
  X(CALL)     /* call slot a+2 with b arguments from a+3; result to a */    \
  X(CALLG)    /* the same, procedure is global constant c */                \
  X(TAIL)     /* the same, replacing this frame */                          \
  X(TAILG)                                                                  \
  X(RETURN)   /* a */                                                       \
  X(RECREF)   /* a := field of record b; constants c and c+1 */             \
  X(ADDI) X(SUBI) /* a := b and signed c */                                 \
  PRIMOPS1(X) PRIMOPS2(X) PRIMOPS3(X) JUMPOPS(X)

/* Procedures compiled in line: a := operation of b, of b and c */
#define PRIMOPS1(X)                                                         \
  X(CAR) X(CDR) X(CAAR) X(CADR) X(CDAR) X(CDDR) X(NOT) X(NULLP) X(PAIRP)    \
  X(ZEROP) X(SYMBOLP) X(STRINGP) X(VECTORP) X(CHARP) X(PROCEDUREP)          \
  X(EOFP) X(VLEN) X(SLEN) X(CHARINT)
#define PRIMOPS2(X)                                                         \
  X(CONS) X(EQ) X(EQV) X(ADD) X(SUB) X(MUL) X(NUMEQ) X(LT) X(GT) X(LE)      \
  X(GE) X(QUOTIENT) X(REMAINDER) X(VREF) X(SREF) X(CHAREQ)                  \
  X(SETCAR) X(SETCDR)
#define PRIMOPS3(X) X(VSET)

/* Each twice: jump if it holds, jump if it does not. With a constant: the
   operand b is a signed number. */
#define JUMPOPS(X)                                                          \
  X(JNULLP) X(JNNULLP) X(JPAIRP) X(JNPAIRP) X(JZEROP) X(JNZEROP)            \
  X(JEQ) X(JNEQ) X(JNUMEQ) X(JNNUMEQ) X(JLT) X(JNLT) X(JGT) X(JNGT)         \
  X(JLE) X(JNLE) X(JGE) X(JNGE)                                             \
  X(JNUMEQI) X(JNNUMEQI) X(JLTI) X(JNLTI) X(JGTI) X(JNGTI)                  \
  X(JLEI) X(JNLEI) X(JGEI) X(JNGEI)
/* clang-format on */

enum op {
#define OP_ENUM(name) OP_##name,
  OPS(OP_ENUM)
#undef OP_ENUM
      OP_LIMIT
};

/* CODE_INFO of a code object, a fixnum: offset in words of the first
   instruction (16 bits), slots of the frame (16), arguments (15), rest. */
#define INFO_START(i) ((i)&0xffff)
#define INFO_SLOTS(i) (((i) >> 16) & 0xffff)
#define INFO_ARITY(i) ((i) >> 32) /* arguments * 2 + has rest */

#endif /* SCHEME_OPS_H */
