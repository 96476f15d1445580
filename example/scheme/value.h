/* Testudo: the Scheme interpreter's words and objects.
   SPDX-License-Identifier: BSD-2-Clause

   A value is one machine word.
     ...xxx1   fixnum, 63 bits
     ...s010   immediate: kind in bits 3..7, payload above
     ...000    reference to an object; the word zero is no value at all
   An object is a header word and then its slots. The header is
     size of the whole object in words (48 bits) | flags (8) | type (8)
   so that every object, pad and forwarding marker is skipped alike.
   Every object has at least two words: a forwarding marker needs them. */
#ifndef SCHEME_VALUE_H
#define SCHEME_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uintptr_t val;

/* ---- fixnums and immediates */

#define FIX(n)  (((val)(intptr_t)(n) << 1) | 1)
#define FIX_MAX ((intptr_t)(INT64_MAX >> 1))
#define FIX_MIN ((intptr_t)(INT64_MIN >> 1))

static inline bool is_fix(val v) {
  return v & 1;
}

static inline intptr_t fix_int(val v) {
  return (intptr_t)v >> 1;
}

static inline bool fits_fix(intptr_t n) {
  return n >= FIX_MIN && n <= FIX_MAX;
}

enum imm_kind { IMM_CONST, IMM_CHAR, IMM_SYNTAX };

#define IMM(kind, payload) (((val)(payload) << 8) | ((val)(kind) << 3) | 2)
#define IMM_KIND(v)        ((v)&0xff)
#define IMM_PAYLOAD(v)     ((v) >> 8)

#define FALSE   IMM(IMM_CONST, 0)
#define TRUE    IMM(IMM_CONST, 1)
#define NIL     IMM(IMM_CONST, 2)
#define UNSPEC  IMM(IMM_CONST, 3)
#define EOFVAL  IMM(IMM_CONST, 4)
#define UNBOUND IMM(IMM_CONST, 5) /* a variable without a value */
#define TOMB    IMM(IMM_CONST, 6) /* a deleted entry of a hash table */
#define DEFAULT IMM(IMM_CONST, 7) /* an argument that was not given */

#define CHAR(c)   IMM(IMM_CHAR, c)
#define SYNTAX(n) IMM(IMM_SYNTAX, n)

static inline bool is_char(val v) {
  return IMM_KIND(v) == (IMM_CHAR << 3 | 2);
}

static inline bool is_syntax(val v) {
  return IMM_KIND(v) == (IMM_SYNTAX << 3 | 2);
}

static inline uint32_t char_int(val v) {
  return (uint32_t)IMM_PAYLOAD(v);
}

static inline val boolean(bool b) {
  return b ? TRUE : FALSE;
}

static inline bool is_ref(val v) {
  return (v & 7) == 0;
}

/* ---- objects */

enum type {
  T_PAD,
  T_FWD,
  /* leaves: no references inside, allocated in the leaf pool */
  T_FLONUM,     /* double */
  T_BIGNUM,     /* sign in the flags, limbs */
  T_BYTES,      /* anything: characters of a string, line tables */
  T_BYTEVECTOR, /* length, bytes */
  T_LAST_LEAF = T_BYTEVECTOR,
  /* objects of references, except where scan_limit says otherwise */
  T_PAIR, /* car, cdr, and for a pair that was read: position */
  T_RATIO,
  T_STRING, /* body, length; flag STRING_WIDE */
  T_SYMBOL, /* name, value, inline operation, hash; flags */
  T_VECTOR,
  T_CLOSURE, /* code, free values */
  T_CASES,   /* closures of a case-lambda */
  T_CODE,    /* info, name, debug, constants, then instructions */
  T_PRIM,    /* index */
  T_BOX,
  T_VALUES,
  T_CONT,    /* segment, top, winders, handlers */
  T_SEGMENT, /* next segment, its top, stack words */
  T_PARAM,   /* value, converter */
  T_PROMISE, /* box of (done? . value) */
  T_RTD,     /* name, field names, their number */
  T_RECORD,  /* rtd, fields */
  T_TABLE,   /* see table.c */
  T_PORT,    /* index of a port in port.c */
  T_ERROR,   /* kind, message, irritants, procedure, place */
  T_ALIAS,   /* identifier inserted by a macro: name, scope */
  T_MACRO,   /* scope, literals, rules, ellipsis */
  T_ENV,
  T_GUARDIAN,
  T_WEAK,      /* an array whose references may be weak */
  T_EPHEMERON, /* the same, of pairs */
  T_LIMIT
};

#define HEADER(type, words)      ((val)(words) << 16 | (val)(type))
#define HEADER_WORDS(h)          ((h) >> 16)
#define HEADER_TYPE(h)           ((enum type)((h)&0xff))
#define HEADER_FLAG(h)           (((h) >> 8) & 0xff)
#define HEADER_WITH_FLAG(h, flg) ((h) | (val)(flg) << 8)

static inline val *obj(val v) {
  return (val *)v;
}

static inline enum type ref_type(val v) {
  return HEADER_TYPE(*(val *)v);
}

static inline bool is_type(val v, enum type t) {
  return is_ref(v) && ref_type(v) == t;
}

static inline size_t obj_words(val v) {
  return HEADER_WORDS(*(val *)v);
}

/* ---- accessors: each names one slot */

#define SLOT(v, i) (obj(v)[i])

#define CAR(v)      SLOT(v, 1)
#define CDR(v)      SLOT(v, 2)
#define PAIR_POS(v) SLOT(v, 3) /* only if the pair has four words */

#define RATIO_NUM(v) SLOT(v, 1)
#define RATIO_DEN(v) SLOT(v, 2)

#define STRING_BODY(v) SLOT(v, 1)
#define STRING_LEN(v)  ((size_t)fix_int(SLOT(v, 2)))
#define STRING_WIDE    1 /* four bytes a character instead of one */
#define STRING_CONST   2 /* a literal: may not be changed */

#define BODY(v) ((unsigned char *)&SLOT(v, 1)) /* of T_BYTES */

#define BV_LEN(v)  (SLOT(v, 1)) /* a plain integer */
#define BV_DATA(v) ((unsigned char *)&SLOT(v, 2))

#define SYMBOL_INTERNED 1 /* flags: in the table of symbols, */
#define SYMBOL_KEPT     2 /* and in the list of those that stay there */
#define SYM_NAME(v)   SLOT(v, 1)
#define SYM_VALUE(v)  SLOT(v, 2)
#define SYM_INLINE(v) SLOT(v, 3)
#define SYM_HASH(v)   SLOT(v, 4)

#define VEC_LEN(v)    (obj_words(v) - 1 - HEADER_FLAG(*obj(v)))
#define VEC_REF(v, i) SLOT(v, (i) + 1)

#define CLOSURE_CODE(v)    SLOT(v, 1)
#define CLOSURE_FREE(v, i) SLOT(v, (i) + 2)

#define CODE_INFO(v)     SLOT(v, 1)
#define CODE_NAME(v)     SLOT(v, 2)
#define CODE_DEBUG(v)    SLOT(v, 3)
#define CODE_CONST(v, i) SLOT(v, (i) + 4)

#define PRIM_INDEX(v) fix_int(SLOT(v, 1))
#define BOX_REF(v)    SLOT(v, 1)

#define CONT_SEG(v)      SLOT(v, 1)
#define CONT_TOP(v)      SLOT(v, 2)
#define CONT_WINDERS(v)  SLOT(v, 3)
#define CONT_HANDLERS(v) SLOT(v, 4)

#define SEG_NEXT(v)    SLOT(v, 1)
#define SEG_NEXTTOP(v) SLOT(v, 2)
#define SEG_WORDS(v)   (&SLOT(v, 3))

#define PARAM_VALUE(v)   SLOT(v, 1)
#define PARAM_CONVERT(v) SLOT(v, 2)

#define PROMISE_BOX(v) SLOT(v, 1)

#define RTD_NAME(v)   SLOT(v, 1)
#define RTD_FIELDS(v) SLOT(v, 2)
#define RTD_COUNT(v)  SLOT(v, 3) /* of fields, a fixnum */

#define RECORD_RTD(v)      SLOT(v, 1)
#define RECORD_FIELD(v, i) SLOT(v, (i) + 2)

#define ERROR_KIND(v)      SLOT(v, 1)
#define ERROR_MESSAGE(v)   SLOT(v, 2)
#define ERROR_IRRITANTS(v) SLOT(v, 3)
#define ERROR_PROC(v)      SLOT(v, 4)
#define ERROR_PLACE(v)     SLOT(v, 5)

#define ALIAS_NAME(v)  SLOT(v, 1)
#define ALIAS_SCOPE(v) SLOT(v, 2)

#define MACRO_SCOPE(v)    SLOT(v, 1)
#define MACRO_LITERALS(v) SLOT(v, 2)
#define MACRO_RULES(v)    SLOT(v, 3)
#define MACRO_ELLIPSIS(v) SLOT(v, 4)

static inline bool is_pair(val v) {
  return is_type(v, T_PAIR);
}

static inline bool is_symbol(val v) {
  return is_type(v, T_SYMBOL);
}

static inline bool is_string(val v) {
  return is_type(v, T_STRING);
}

static inline bool is_vector(val v) {
  return is_type(v, T_VECTOR);
}

static inline bool is_flonum(val v) {
  return is_type(v, T_FLONUM);
}

static inline double flonum_double(val v) {
  return *(double *)&SLOT(v, 1);
}

#endif /* SCHEME_VALUE_H */
