/* Testudo: threads that run on their alternate signal stack, on Linux.
   SPDX-License-Identifier: BSD-2-Clause

   What was interrupted is on the thread's own stack. Where that ends only the
   kernel's record of the interruption tells, which lies somewhere on the
   alternate stack, and is known by what it repeats: the place and the size
   of that stack. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "code/platform.h"
#include "code/context_linux.h"

#if TDO_PF_LINUX

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include "code/vm.h"

enum {
  ALTERNATE_ALIGN = 16, /* of such a record, on every machine here */
#if defined(__x86_64__)
  ALTERNATE_RED_ZONE = 128
#else
  ALTERNATE_RED_ZONE = 0
#endif
};

TDO_NO_SANITIZE static char *alternate_sp(const ucontext_t *uc) {
#if defined(__x86_64__)
  return (char *)(uintptr_t)uc->uc_mcontext.gregs[REG_RSP];
#else
  return (char *)(uintptr_t)uc->uc_mcontext.sp;
#endif
}

TDO_NO_SANITIZE static bool
alternate_has(const stack_t *stack, const char *p) {
  return (uintptr_t)p - (uintptr_t)stack->ss_sp < stack->ss_size;
}

/* The record of the first interruption that went to STACK: the one with the
   highest address. Null if there is none at or above HOT. */
TDO_NO_SANITIZE static const ucontext_t *
alternate_record(const stack_t *stack, const char *hot) {
  const char *limit = (char *)stack->ss_sp + stack->ss_size;
  uintptr_t p = tdo_round_down(
      (uintptr_t)limit - offsetof(ucontext_t, uc_sigmask), ALTERNATE_ALIGN);

  for (; p >= (uintptr_t)hot; p -= ALTERNATE_ALIGN) {
    const ucontext_t *uc = (const ucontext_t *)p;
    if (uc->uc_stack.ss_sp == stack->ss_sp &&
        uc->uc_stack.ss_size == stack->ss_size &&
        !alternate_has(stack, alternate_sp(uc)))
      return uc;
  }
  return NULL;
}

/* CTX is of a thread whose alternate stack is STACK. */
TDO_NO_SANITIZE static bool
alternate_own(tdo_context_t *ctx, const stack_t *stack) {
  char *hot = ctx->sp;
  const ucontext_t *uc;

  if ((stack->ss_flags & SS_DISABLE) || stack->ss_size == 0)
    return true; /* so the kernel wrote its record below sp */
  ctx->unproved = true;
  if (!alternate_has(stack, hot)) {
    hot += ALTERNATE_RED_ZONE; /* it may reach below the stack's base */
    if (!alternate_has(stack, hot))
      return true;
    hot = stack->ss_sp;
  }
  uc = alternate_record(stack, hot);
  if (uc == NULL)
    return false;
  ctx->alternate = hot;
  ctx->alternate_limit = (char *)stack->ss_sp + stack->ss_size;
  ctx->sp = alternate_sp(uc) - ALTERNATE_RED_ZONE;
  return true;
}

/* What the kernel never leaves out of its record: without it, zeros and an
   address of the stack would do where there is no alternate stack. */
TDO_NO_SANITIZE static bool alternate_is_code(const ucontext_t *uc) {
#if defined(__x86_64__)
  enum { ALTERNATE_USER_CS = 0x33 }; /* the selector of 64-bit programs */
  return (uc->uc_mcontext.gregs[REG_CSGSFS] & 0xffff) == ALTERNATE_USER_CS &&
         uc->uc_mcontext.gregs[REG_RIP] != 0;
#else
  return uc->uc_mcontext.pc != 0 && uc->uc_mcontext.pc % 4 == 0;
#endif
}

/* Does the kernel's record of an interruption of this thread lie at or above
   HOT, of code no further out than FRAME's caller? Where that caller itself
   was interrupted, the record may lie over what was FRAME. */
TDO_NO_SANITIZE static bool
alternate_between(const stack_t *stack, const char *hot, const char *frame) {
  enum { ALTERNATE_CALLER = 1024 }; /* from FRAME to its caller's stack end */
  const char *limit = frame + ALTERNATE_CALLER;
  uintptr_t p = tdo_round_up((uintptr_t)hot, ALTERNATE_ALIGN);

  for (; p + sizeof(ucontext_t) <= (uintptr_t)limit; p += ALTERNATE_ALIGN) {
    const ucontext_t *uc = (const ucontext_t *)p;
    if (uc->uc_link == NULL && uc->uc_stack.ss_sp == stack->ss_sp &&
        uc->uc_stack.ss_size == stack->ss_size && alternate_is_code(uc) &&
        alternate_sp(uc) > (const char *)uc && alternate_sp(uc) <= limit)
      return true;
  }
  return false;
}

bool tdo_context_interrupted(const void *frame) {
  enum { ALTERNATE_FAR = 1 << 20 };
  const char *hot = __builtin_frame_address(0);
  int saved_errno = errno;
  stack_t stack;
  bool known = sigaltstack(NULL, &stack) == 0;

  errno = saved_errno;
#if defined(__SANITIZE_THREAD__)
  known = false; /* it runs handlers when it likes, from a call */
#endif
  if (!known || ((stack.ss_flags & SS_ONSTACK) != 0 &&
                 !alternate_has(&stack, frame)))
    return true; /* it was interrupted on another stack */
  return (uintptr_t)frame - (uintptr_t)hot > ALTERNATE_FAR ||
         alternate_between(&stack, hot, frame);
}

bool tdo_context_linux_own(tdo_context_t *ctx, const void *uc) {
  ctx->alternate = ctx->alternate_limit = NULL;
  ctx->unproved = false;
  return alternate_own(ctx, &((const ucontext_t *)uc)->uc_stack);
}

void tdo_context_own(tdo_context_t *ctx) {
  int saved_errno = errno;
  stack_t stack;

  if (sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK)) {
    stack.ss_flags = 0;
    (void)alternate_own(ctx, &stack);
  }
  errno = saved_errno;
}

/* Can the word at P be read? The kernel reads a set of signals there, and only
   then sees that it is not told what to do with it. */
static bool alternate_readable(const char *p) {
  enum { ALTERNATE_NO_HOW = -1, ALTERNATE_SET = 8 };
  return syscall(SYS_rt_sigprocmask, ALTERNATE_NO_HOW, p, NULL,
                 ALTERNATE_SET) == 0 ||
         errno != EFAULT;
}

/* The end of the stack at COLD that is beyond HOT, where nothing can be read.
   First in steps that double: what else lies between is not to be met. */
static char *alternate_end(char *hot, char *cold, size_t page) {
  size_t good = 0, bad = 1; /* pages from COLD on */

  while (bad < (size_t)(cold - hot) / page &&
         alternate_readable(cold - bad * page)) {
    good = bad;
    bad *= 2;
  }
  bad = tdo_min(bad, (size_t)(cold - hot) / page);
  while (good + 1 < bad) {
    size_t middle = good + (bad - good) / 2;
    if (alternate_readable(cold - middle * page))
      good = middle;
    else
      bad = middle;
  }
  return cold - good * page;
}

void tdo_context_bound(tdo_context_t *ctx, const void *cold) {
  size_t page = tdo_vm_system()->page_size;
  uintptr_t hot = tdo_round_down((uintptr_t)ctx->sp, page);
  uintptr_t last = tdo_round_down((uintptr_t)cold, page);
  int saved_errno = errno;

  if (ctx->unproved && hot < last && !alternate_readable((char *)hot))
    ctx->sp = alternate_end((char *)hot, (char *)last, page);
  errno = saved_errno;
}

#endif /* TDO_PF_LINUX */
