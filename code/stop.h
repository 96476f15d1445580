/* Testudo: the platform contract for stopping threads and seeing their
   registers. Linux: signals SIGXCPU (suspend) and SIGXFSZ (resume), or what
   CONFIG_PTHREADEXT_SIGSUSPEND / _SIGRESUME name.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_STOP_H
#define TDO_CODE_STOP_H

#include "code/base.h"

/* The state of one thread at a point: its stack pointer, and its registers
   as words that may hold references. */
typedef struct tdo_context {
  void *sp;                /* hot end: lowest address in use */
  tdo_word_t registers[40]; /* callee-saved or all, see count */
  size_t count;            /* registers filled in */
} tdo_context_t;

/* Fill *CTX with the callee-saved registers and this frame's address. A
   macro so that it acts in the frame of its caller: the caller's callers'
   values are either in the registers or in frames above CTX. CTX is a local
   variable of the function that uses it. */
#if defined(__x86_64__)
#define TDO_CONTEXT_SAVE(ctx)                                                 \
  do {                                                                        \
    __asm__ volatile("movq %%rbx, 0(%0)\n\tmovq %%rbp, 8(%0)\n\t"             \
                     "movq %%r12, 16(%0)\n\tmovq %%r13, 24(%0)\n\t"           \
                     "movq %%r14, 32(%0)\n\tmovq %%r15, 40(%0)"               \
                     :                                                        \
                     : "r"((ctx)->registers)                                  \
                     : "memory");                                             \
    (ctx)->count = 6;                                                         \
    (ctx)->sp = (void *)(ctx);                                                \
  } while (0)
#elif defined(__aarch64__)
#define TDO_CONTEXT_SAVE(ctx)                                                 \
  do {                                                                        \
    __asm__ volatile("stp x19, x20, [%0]\n\tstp x21, x22, [%0, 16]\n\t"       \
                     "stp x23, x24, [%0, 32]\n\tstp x25, x26, [%0, 48]\n\t"   \
                     "stp x27, x28, [%0, 64]\n\tstr x29, [%0, 80]"            \
                     :                                                        \
                     : "r"((ctx)->registers)                                  \
                     : "memory");                                             \
    (ctx)->count = 11;                                                        \
    (ctx)->sp = (void *)(ctx);                                                \
  } while (0)
#else
#include <setjmp.h>
/* Generic: whatever setjmp saves. A port where setjmp hides registers must
   add a case above. */
#define TDO_CONTEXT_SAVE(ctx)                                                 \
  do {                                                                        \
    (void)setjmp(*(jmp_buf *)(void *)(ctx)->registers);                       \
    (ctx)->count = sizeof(jmp_buf) / sizeof(tdo_word_t);                      \
    (ctx)->sp = (void *)(ctx);                                                \
  } while (0)
#endif

/* One registered thread of the process, shared by all its registrations;
   opaque, counted, allocated from static or its own mapped memory (never
   malloc, never managed memory). */
typedef struct tdo_stop_thread tdo_stop_thread_t;

/* The record of the calling thread, made at the first call, with one more
   reference; the first call in a process installs the signal handlers.
   MPS_RES_MEMORY if there is no room. */
mps_res_t tdo_stop_register(tdo_stop_thread_t **thread_o);
/* Drop a reference; any thread may. */
void tdo_stop_deregister(tdo_stop_thread_t *thread);

/* True if THREAD is the calling thread. */
bool tdo_stop_is_self(const tdo_stop_thread_t *thread);
/* False once the thread has exited (or did not survive a fork): it is then
   never signalled again. */
bool tdo_stop_is_alive(const tdo_stop_thread_t *thread);

/* Begin and end a stop of the world. Between them the calling thread owns
   the process-wide right to stop threads (two arenas never stop each other's
   collectors half-way). Nothing is stopped by begin itself. */
void tdo_stop_begin(void);
void tdo_stop_end(void);

/* Stop THREADS[0..N) (NULLs, the caller itself and dead ones are skipped; the
   same record may occur twice and is stopped once), returning when all have
   stopped; then let them run again, returning when none can still be seen in
   the old stop. Threads blocked in system calls stop too, and restartable
   calls are restarted (SA_RESTART); errno is preserved. Call between
   begin and end. */
void tdo_stop_threads(tdo_stop_thread_t *const threads[], size_t n);
void tdo_resume_threads(tdo_stop_thread_t *const threads[], size_t n);

/* Registers and stack pointer of a stopped thread (red zone included in the
   stack range: sp is lowered by it). Only between stop and resume. False if
   the thread is dead. */
bool tdo_stop_context(tdo_context_t *ctx_o, const tdo_stop_thread_t *thread);

/* For the child of a fork: forget every thread but the calling one. */
void tdo_stop_after_fork_in_child(void);

#endif /* TDO_CODE_STOP_H */
