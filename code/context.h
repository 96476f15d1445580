/* Testudo: the registers and stack pointer of a thread at a point.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_CONTEXT_H
#define TDO_CODE_CONTEXT_H

#include "code/base.h"

/* The state of one thread at a point: its stack pointer, and its registers
   as words that may hold references. */
typedef struct tdo_context {
  void *sp;                 /* hot end: lowest address in use */
  tdo_word_t registers[32]; /* general ones, see count; none if they are in the
                               stack (tdo_frame_t) */
  size_t count;             /* registers filled in */
  const tdo_word_t *more;   /* vector registers, in place: a block move may */
  size_t more_count;        /* hold the only copy of a reference there */
  /* If the thread runs on an alternate signal stack: the part of that in use,
     and sp is of what was interrupted. Else null. */
  void *alternate, *alternate_limit;
  bool unproved; /* nothing tells that memory at sp can be read: the thread has
                    an alternate stack, and may have overflowed its own */
} tdo_context_t;

/* All that a function's frame holds which does nothing but call another one
   with TDO_FRAME_RETURN: the registers that the ABI makes callees preserve, as
   its caller left them. A collector scans the stack from there; what lies
   hotter is the library's own, and what earlier calls left in its frames
   keeps nothing alive. The words make up a whole frame, since the stack is
   aligned by 16: what would pad it nobody would have written. They are
   operands in memory since with an address the compiler would preserve, and
   need, a register for that. */
#define TDO_FRAME_4(frame, i)                                                 \
  "=m"((frame)->words[i]), "=m"((frame)->words[(i) + 1]),                     \
      "=m"((frame)->words[(i) + 2]), "=m"((frame)->words[(i) + 3])

#if defined(__x86_64__) && !defined(TDO_FRAME_SETJMP)
/* The frame address is asked for so that RBP is always pushed: with it, and
   where the caller goes on, an even number of words. */
typedef struct tdo_frame {
  tdo_word_t words[8];
} tdo_frame_t;
#define TDO_FRAME_SAVE(frame, hot_o)                                          \
  __asm__ volatile(                                                           \
      "movq %%rbx, %1\n\tmovq %9, %2\n\tmovq %%r12, %3\n\t"                   \
      "movq %%r13, %4\n\tmovq %%r14, %5\n\tmovq %%r15, %6\n\t"                \
      "movq %%rbp, %7\n\tmovq %%rsp, %8\n\tmovq %%rsp, %0"                    \
      : "=&r"(hot_o), TDO_FRAME_4(frame, 0), TDO_FRAME_4(frame, 4)            \
      : "r"(__builtin_frame_address(0)))
#elif defined(__aarch64__) && !defined(TDO_FRAME_SETJMP)
/* The lower halves of vector registers 8 to 15 are preserved, too. */
typedef struct tdo_frame {
  tdo_word_t words[20];
} tdo_frame_t;
#define TDO_FRAME_SAVE(frame, hot_o)                                          \
  __asm__ volatile(                                                           \
      "str x19, %1\n\tstr x20, %2\n\tstr x21, %3\n\tstr x22, %4\n\t"          \
      "str x23, %5\n\tstr x24, %6\n\tstr x25, %7\n\tstr x26, %8\n\t"          \
      "str x27, %9\n\tstr x28, %10\n\tstr x29, %11\n\tstr x30, %12\n\t"       \
      "str d8, %13\n\tstr d9, %14\n\tstr d10, %15\n\tstr d11, %16\n\t"        \
      "str d12, %17\n\tstr d13, %18\n\tstr d14, %19\n\tstr d15, %20\n\t"      \
      "mov %0, sp"                                                            \
      : "=&r"(hot_o), TDO_FRAME_4(frame, 0), TDO_FRAME_4(frame, 4),           \
        TDO_FRAME_4(frame, 8), TDO_FRAME_4(frame, 12),                        \
        TDO_FRAME_4(frame, 16))
#else
#include <setjmp.h>
#include <string.h>
/* Generic, and for a test (TDO_FRAME_SETJMP): whatever setjmp saves. A port
   where setjmp hides registers, or where a frame keeps saved registers below
   its variables, must add a case above. */
typedef struct tdo_frame {
  jmp_buf words;
} tdo_frame_t;
#define TDO_FRAME_SAVE(frame, hot_o)                                          \
  do {                                                                        \
    memset((frame), 0, sizeof *(frame));                                      \
    (void)setjmp((frame)->words);                                             \
    (hot_o) = (void *)(frame);                                                \
  } while (0)
#endif

/* Clear the dead stack below the caller's frame: as much as a call without
   much work in it uses, and one in which the collector worked. References left
   there would be in the next frames of the client, where these have variables
   not yet written, and keep dead objects alive (Boehm, "Space Efficient
   Conservative Garbage Collection", 1993). Gives RESULT. */
enum { TDO_CONTEXT_DEAD = 512, TDO_CONTEXT_DEAD_DEEP = 2048 };
tdo_word_t tdo_context_clear(tdo_word_t result);
void tdo_context_clear_deep(void);

/* All that a function does which lets the collector run: give, as TYPE, the
   result of CALL, a call of a function that is TDO_NOINLINE and does the work.
   It gets the variable HOT, from where on the stack is to be scanned. The
   function around it is TDO_NO_SANITIZE, or its frame might lie elsewhere. It
   leaves no reference in the dead stack. */
#define TDO_FRAME_RETURN(type, hot, call)                                     \
  do {                                                                        \
    tdo_word_t result_;                                                       \
    void *hot;                                                                \
    {                                                                         \
      tdo_frame_t frame_;                                                     \
      TDO_FRAME_SAVE(&frame_, hot);                                           \
      result_ = (tdo_word_t)(call);                                           \
      frame_ = (tdo_frame_t){0};                                              \
      __asm__ volatile("" : : "m"(frame_)); /* it is really written */        \
    }                                                                         \
    return (type)tdo_context_clear(result_);                                  \
  } while (0)

/* If the calling thread is inside our memory fault handler: true, and *CTX_O
   is the state of the interrupted instruction, whose stack may be another
   one than the handler's: the frames between are the library's own.
   Signal-safe. */
bool tdo_context_of_fault(tdo_context_t *ctx_o);

/* CTX is of the calling thread, its sp by TDO_FRAME_RETURN: if it runs on its
   alternate signal stack, tell that from its own. One system call on Linux. */
void tdo_context_own(tdo_context_t *ctx);

/* CTX is of a thread whose stack begins at COLD. If sp lies past the other end
   of it, which is how a thread overflows its stack, put it there. One system
   call, and a few dozen after an overflow, if CTX is unproved; else none. */
void tdo_context_bound(tdo_context_t *ctx, const void *cold);

/* True if the calling thread runs a signal handler that interrupted the
   function whose frame is at FRAME, or one called from there. Never false
   then; where it cannot be told it is true. One system call on Linux. */
bool tdo_context_interrupted(const void *frame);

#endif /* TDO_CODE_CONTEXT_H */
