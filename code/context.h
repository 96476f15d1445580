/* Testudo: the registers and stack pointer of a thread at a point.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_CONTEXT_H
#define TDO_CODE_CONTEXT_H

#include <string.h>
#include "code/base.h"

/* The state of one thread at a point: its stack pointer, and its registers
   as words that may hold references. */
typedef struct tdo_context {
  void *sp;                 /* hot end: lowest address in use */
  tdo_word_t registers[40]; /* callee-saved or all general ones, see count */
  size_t count;             /* registers filled in */
  const tdo_word_t *more;   /* vector registers, in place: a block move may */
  size_t more_count;        /* hold the only copy of a reference there */
  /* If the thread runs on an alternate signal stack: the part of that in use,
     and sp is of what was interrupted. Else null. */
  void *alternate, *alternate_limit;
} tdo_context_t;

/* Fill *CTX with the callee-saved registers and this frame's hot end. A
   macro so that it acts in the frame of its caller: the caller's callers'
   values are either in the registers or in this frame and those above it.
   CTX is a local variable of the function that uses it. */
#if defined(__x86_64__)
#define TDO_CONTEXT_REGISTERS(ctx)                                            \
  do {                                                                        \
    __asm__ volatile("movq %%rbx, 0(%1)\n\tmovq %%rbp, 8(%1)\n\t"             \
                     "movq %%r12, 16(%1)\n\tmovq %%r13, 24(%1)\n\t"           \
                     "movq %%r14, 32(%1)\n\tmovq %%r15, 40(%1)\n\t"           \
                     "movq %%rsp, %0"                                         \
                     : "=&r"((ctx)->sp)                                       \
                     : "r"((ctx)->registers)                                  \
                     : "memory");                                             \
    (ctx)->count = 6;                                                         \
  } while (0)
#elif defined(__aarch64__)
#define TDO_CONTEXT_REGISTERS(ctx)                                            \
  do {                                                                        \
    __asm__ volatile("stp x19, x20, [%1]\n\tstp x21, x22, [%1, 16]\n\t"       \
                     "stp x23, x24, [%1, 32]\n\tstp x25, x26, [%1, 48]\n\t"   \
                     "stp x27, x28, [%1, 64]\n\tstr x29, [%1, 80]\n\t"        \
                     "mov %0, sp"                                             \
                     : "=&r"((ctx)->sp)                                       \
                     : "r"((ctx)->registers)                                  \
                     : "memory");                                             \
    (ctx)->count = 11;                                                        \
  } while (0)
#else
#include <setjmp.h>
/* Generic: whatever setjmp saves. A port where setjmp hides registers, or
   where a frame keeps saved registers below its variables, must add a case
   above. */
#define TDO_CONTEXT_REGISTERS(ctx)                                            \
  do {                                                                        \
    _Static_assert(sizeof(jmp_buf) <= sizeof((ctx)->registers), "too small"); \
    (void)setjmp(*(jmp_buf *)(void *)(ctx)->registers);                       \
    (ctx)->count = sizeof(jmp_buf) / sizeof(tdo_word_t);                      \
    (ctx)->sp = (void *)(ctx);                                                \
  } while (0)
#endif

/* CTX lies in the stack that will be scanned: what earlier calls left there
   must not keep anything alive. */
#define TDO_CONTEXT_SAVE(ctx)                                                 \
  do {                                                                        \
    memset((ctx), 0, sizeof *(ctx));                                          \
    TDO_CONTEXT_REGISTERS(ctx);                                               \
  } while (0)

/* If the calling thread is inside our memory fault handler: true, and *CTX_O
   is the state of the interrupted instruction, whose stack may be another
   one than the handler's. Then use it in the place of TDO_CONTEXT_SAVE: the
   frames between are the library's own. Signal-safe. */
bool tdo_context_of_fault(tdo_context_t *ctx_o);

/* CTX is of the calling thread, by TDO_CONTEXT_SAVE: if it runs on its
   alternate signal stack, tell that from its own. One system call on Linux. */
void tdo_context_own(tdo_context_t *ctx);

/* True if the calling thread runs a signal handler that interrupted the
   function whose frame is at FRAME, or one called from there. Never false
   then; where it cannot be told it is true. One system call on Linux. */
bool tdo_context_interrupted(const void *frame);

#endif /* TDO_CODE_CONTEXT_H */
