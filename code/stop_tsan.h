/* Testudo: the library's signal handlers under the thread sanitizer, part of
   stop_linux.c and fault_linux.c. SPDX-License-Identifier: BSD-2-Clause

   The sanitizer wraps signal handlers, to run them later at a moment of its
   own, and with every signal blocked: a thread that waits in a system call
   never comes to that moment, and one that waits in a handler never stops. So
   the handlers are installed past it. But a thread must not stop inside the
   sanitizer's run-time library, where it may hold a lock which the stopper
   needs: there it evades, and is asked again. This works where that library
   is a shared object (gcc).

   A client's handler that it holds back it runs at the thread's next atomic
   operation, whatever that is part of: in a handler of ours it would run on a
   thread that counts as stopped. So these are compiled without (STOP_PLAIN),
   and tell it by calls of their own what happens before what. */
#ifndef TDO_CODE_STOP_TSAN_H
#define TDO_CODE_STOP_TSAN_H

#include <signal.h>
#include <string.h>
#include "code/base.h"

#if defined(__SANITIZE_THREAD__) && defined(__x86_64__) && !defined(__clang__)

#include <link.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define STOP_TSAN  1
#define STOP_PLAIN __attribute__((no_sanitize_thread))

void __tsan_acquire(void *word);
void __tsan_release(void *word);
#define STOP_ACQUIRE(word) __tsan_acquire(word)
#define STOP_RELEASE(word) __tsan_release(word)

typedef struct stop_tsan_action {
  void (*handler)(int, siginfo_t *, void *);
  unsigned long flags;
  void (*restorer)(void);
  uint64_t mask;
} stop_tsan_action_t;

#define STOP_TSAN_RESTORER 0x04000000ul

void tdo_stop_tsan_restorer(void);
__asm__(".text\n"
        ".weak tdo_stop_tsan_restorer\n"
        ".hidden tdo_stop_tsan_restorer\n"
        "tdo_stop_tsan_restorer:\n"
        "  movq $15, %rax\n" /* rt_sigreturn */
        "  syscall\n");

static uintptr_t stop_tsan_base, stop_tsan_limit; /* of the library's code */

void __tsan_init(void);

/* The module that holds the run-time library's entry. */
static int stop_tsan_look(struct dl_phdr_info *info, size_t size, void *p) {
  (void)size, (void)p;
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    uintptr_t base = info->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_LOAD &&
        (uintptr_t)&__tsan_init - base < part->p_memsz) {
      stop_tsan_base = base;
      stop_tsan_limit = base + part->p_memsz;
      return 1;
    }
  }
  return 0;
}

static bool stop_set_action(int signal, const struct sigaction *action) {
  stop_tsan_action_t raw = {action->sa_sigaction,
                            (unsigned long)action->sa_flags |
                                STOP_TSAN_RESTORER,
                            tdo_stop_tsan_restorer, 0};
  memcpy(&raw.mask, &action->sa_mask, sizeof raw.mask);
  (void)dl_iterate_phdr(stop_tsan_look, NULL);
  return syscall(SYS_rt_sigaction, signal, &raw, NULL, sizeof raw.mask) == 0;
}

/* True if UC was interrupted where it must not stop. */
__attribute__((unused)) STOP_PLAIN static bool
stop_in_sanitizer(const ucontext_t *uc) {
  uintptr_t pc = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
  return pc >= stop_tsan_base && pc < stop_tsan_limit;
}

#else

#define STOP_TSAN          0
#define STOP_PLAIN
#define STOP_ACQUIRE(word) ((void)(word))
#define STOP_RELEASE(word) ((void)(word))

static bool stop_set_action(int signal, const struct sigaction *action) {
  return sigaction(signal, action, NULL) == 0;
}

#endif

#endif /* TDO_CODE_STOP_TSAN_H */
