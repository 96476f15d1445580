/* Testudo: memory faults, ours and those of others. Each case runs in a
   process of its own, because a handler is installed once for all.
   SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>
#include "code/context.h"
#include "code/fault.h"
#include "code/vm.h"
#include "test/suite.h"

static tdo_vm_t *vm;
static char *ours, *theirs; /* a closed page each */
static atomic_int hits, passed;
static tdo_fault_kind_t kind_seen;
static tdo_context_t context_seen;
static sigjmp_buf escape;

static bool resolve(void *addr, tdo_fault_kind_t kind) {
  char *p = addr;
  errno = 99;
  kind_seen = kind;
  if (p < ours || p >= ours + vm->page_size)
    return false;
  atomic_fetch_add(&hits, 1);
  if (!tdo_context_of_fault(&context_seen))
    return false;
  tdo_access_t access =
      kind == TDO_FAULT_READ ? TDO_ACCESS_READ : TDO_ACCESS_WRITE;
  return vm->protect(vm, ours, vm->page_size, access) == MPS_RES_OK;
}

static void disposition(void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  (void)sigemptyset(&action.sa_mask);
  (void)sigaddset(&action.sa_mask, SIGUSR1);
  ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
}

static char *closed_page(void) {
  void *base;
  ck_assert_int_eq(vm->reserve(&base, vm, vm->page_size, vm->page_size),
                   MPS_RES_OK);
  return base;
}

static void install(void) {
  vm = tdo_vm_system();
  ours = closed_page();
  theirs = closed_page();
  ck_assert_int_eq(tdo_fault_install(resolve), MPS_RES_OK);
  ck_assert_int_eq(tdo_fault_install(resolve), MPS_RES_OK);
}

START_TEST(resolved) {
  disposition(SIG_DFL, 0);
  install();
  errno = 7;
  ck_assert_int_eq(*(volatile char *)ours, 0);
  ck_assert_int_eq(errno, 7);
  ck_assert_int_eq(hits, 1);
  ck_assert_int_eq(kind_seen, TDO_FAULT_READ);
  *(volatile char *)ours = 1;
  ck_assert_int_eq(hits, 2);
  ck_assert_int_eq(kind_seen, TDO_FAULT_WRITE);
  ck_assert_int_eq(*(volatile char *)ours, 1);
  tdo_context_t context;
  ck_assert(!tdo_context_of_fault(&context));
}
END_TEST

/* Instructions that read or write a page, by name in the message. Some need
   what not every machine has. */
typedef struct access {
  const char *name;
  void (*act)(char *page);
  tdo_fault_kind_t kind;
  unsigned long needs; /* HWCAP_ bits */
} access_t;

/* clang-format off */
#define ACCESS(name, kind, needs, ...)                                        \
  static void name##_act(char *page) { __VA_ARGS__ }                          \
  static const access_t name = {#name, name##_act, TDO_FAULT_##kind, needs};
/* clang-format on */
ACCESS(reads_byte, READ, 0, (void)*(volatile char *)page;)
ACCESS(writes_word, WRITE, 0, *(volatile long *)page = 1;)
ACCESS(reads_double, READ, 0, (void)*(volatile double *)page;)
ACCESS(writes_double, WRITE, 0, *(volatile double *)page = 1;)
ACCESS(loads, READ, 0, (void)__atomic_load_n((long *)page, __ATOMIC_ACQUIRE);)
ACCESS(stores, WRITE, 0, __atomic_store_n((long *)page, 1, __ATOMIC_RELEASE);)
#if defined(__aarch64__)
#define MACHINE(name, kind, needs, text)                                      \
  ACCESS(name, kind, needs,                                                   \
         __asm__ volatile(".arch armv8.3-a\n\t" text ::"r"(page)              \
                          : "x4", "x5", "x6", "x7", "v4", "memory");)
MACHINE(ldp, READ, 0, "ldp x4, x5, [%0]")
MACHINE(stp, WRITE, 0, "stp x4, x5, [%0]")
MACHINE(ldrsw, READ, 0, "ldrsw x4, [%0]")
MACHINE(ldur_q, READ, 0, "ldur q4, [%0, 3]")
MACHINE(stur_q, WRITE, 0, "stur q4, [%0, 3]")
MACHINE(ld1, READ, 0, "ld1 {v4.16b}, [%0]")
MACHINE(st1, WRITE, 0, "st1 {v4.16b}, [%0]")
MACHINE(ldxr, READ, 0, "ldxr x4, [%0]")
MACHINE(dc_zva, WRITE, 0, "dc zva, %0")
MACHINE(cas, WRITE, HWCAP_ATOMICS, "cas x4, x5, [%0]")
MACHINE(casp, WRITE, HWCAP_ATOMICS, "casp x4, x5, x6, x7, [%0]")
MACHINE(ldadd, WRITE, HWCAP_ATOMICS, "ldadd x4, x5, [%0]")
MACHINE(ldapr, READ, HWCAP_LRCPC, "ldapr x4, [%0]")
#endif

static const access_t *const accesses[] = {
    &reads_byte, &writes_word, &reads_double, &writes_double, &loads,  &stores,
#if defined(__aarch64__)
    &ldp,        &stp,         &ldrsw,        &ldur_q,        &stur_q, &ld1,
    &st1,        &ldxr,        &dc_zva,       &cas,           &casp,   &ldadd,
    &ldapr,
#endif
};

START_TEST(kinds_of_access) {
  disposition(SIG_DFL, 0);
  install();
  for (size_t i = 0; i < sizeof accesses / sizeof accesses[0]; ++i) {
    const access_t *a = accesses[i];
    if ((getauxval(AT_HWCAP) & a->needs) != a->needs)
      continue;
    hits = 0;
    ck_assert_int_eq(vm->protect(vm, ours, vm->page_size, TDO_ACCESS_NONE),
                     MPS_RES_OK);
    a->act(ours);
    ck_assert_msg(hits == 1 && kind_seen == a->kind, "%s: %d faults, kind %d",
                  a->name, (int)hits, (int)kind_seen);
  }
}
END_TEST

/* The handler runs on another stack; the context is of the faulting one, with
   its registers. */
START_TEST(interrupted_context) {
  static char stack[1 << 16];
  stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  char here;
  disposition(SIG_DFL, 0);
  install();
  ck_assert_int_eq(sigaltstack(&alternate, NULL), 0);
#if defined(__x86_64__)
  tdo_word_t out;
  __asm__ volatile("movq %1, %%rbx\n\tmovq %1, %%xmm7\n\tmovq (%2), %0"
                   : "=r"(out)
                   : "r"((tdo_word_t)0x1234567876543210), "r"(ours)
                   : "rbx", "xmm7", "memory");
  size_t found = 0, more = 0;
  for (size_t i = 0; i < context_seen.count; ++i)
    found += context_seen.registers[i] == 0x1234567876543210;
  ck_assert_uint_ge(found, 1);
  ck_assert_uint_ge(context_seen.count, 15);
  more = context_seen.more_count;
  ck_assert_uint_ge(more, 512 / sizeof(tdo_word_t));
#elif defined(__aarch64__)
  tdo_word_t out;
  __asm__ volatile("mov x19, %1\n\tldr %0, [%2]"
                   : "=&r"(out)
                   : "r"((tdo_word_t)0x1234567876543210), "r"(ours)
                   : "x19", "memory");
  ck_assert_uint_eq(context_seen.count, 31);
  ck_assert_uint_eq(context_seen.registers[19], 0x1234567876543210);
  ck_assert_uint_ge(context_seen.more_count, 528 / sizeof(tdo_word_t));
#else
  (void)*(volatile char *)ours;
#endif
  ck_assert_int_eq(hits, 1);
  ck_assert_uint_lt((uintptr_t)context_seen.sp, (uintptr_t)&here);
  ck_assert_uint_lt((uintptr_t)&here - (uintptr_t)context_seen.sp, 65536);
}
END_TEST

static bool is_blocked(int signal) {
  sigset_t mask;
  (void)sigprocmask(SIG_SETMASK, NULL, &mask);
  return sigismember(&mask, signal) == 1;
}

static void note(int signal) {
  atomic_store(&passed, 1 + 2 * is_blocked(SIGUSR1) + 4 * is_blocked(signal));
  siglongjmp(escape, 1);
}

static void note_info(int signal, siginfo_t *info, void *context) {
  if (info->si_addr == theirs && context != NULL)
    note(signal);
}

/* Fault on a page that is not ours, and come back with what was noted. */
static int foreign_fault(void) {
  atomic_store(&passed, 0);
  if (sigsetjmp(escape, 1) == 0)
    *(volatile char *)theirs = 1;
  return atomic_load(&passed);
}

START_TEST(passed_on) {
  disposition(note, 0);
  install();
  ck_assert_int_eq(foreign_fault(), 7);
  ck_assert_int_eq(foreign_fault(), 7);
  ck_assert(!is_blocked(SIGUSR1));
  *(volatile char *)ours = 1; /* ours still work */
  ck_assert_int_eq(hits, 1);
}
END_TEST

START_TEST(passed_on_nodefer) {
  disposition(note, SA_NODEFER);
  install();
  ck_assert_int_eq(foreign_fault(), 3);
  ck_assert_int_eq(foreign_fault(), 3);
}
END_TEST

START_TEST(passed_on_siginfo) {
  struct sigaction action = {.sa_sigaction = note_info,
                             .sa_flags = SA_SIGINFO};
  (void)sigemptyset(&action.sa_mask);
  ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
  install();
  ck_assert_int_eq(foreign_fault(), 5);
}
END_TEST

static void store(void) {
  *(volatile char *)theirs = 1;
}

static void raise_it(void) {
  (void)raise(SIGSEGV);
}

static void store_twice(void) {
  if (foreign_fault() != 7)
    suite_leave(1);
  store();
}

/* The signal that ends a process with this disposition which does WHAT, or 0
   if it goes on. */
static int end_of(void (*handler)(int), int flags, void (*what)(void)) {
  int status;
  pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    disposition(handler, flags);
    install();
    what();
    suite_leave(0);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

START_TEST(default_kills) {
  ck_assert_int_eq(end_of(SIG_DFL, 0, store), SIGSEGV);
  ck_assert_int_eq(end_of(SIG_DFL, 0, raise_it), SIGSEGV);
}
END_TEST

START_TEST(ignored) {
  ck_assert_int_eq(end_of(SIG_IGN, 0, store), SIGSEGV);
  ck_assert_int_eq(end_of(SIG_IGN, 0, raise_it), 0);
}
END_TEST

START_TEST(once_only) {
  ck_assert_int_eq(end_of(note, (int)SA_RESETHAND, store_twice), SIGSEGV);
}
END_TEST

/* Another handler on top, which offers us what it gets. */
static void on_top(int signal, siginfo_t *info, void *context) {
  if (!tdo_fault_offer(signal, info, context))
    note(signal);
}

START_TEST(offered) {
  disposition(SIG_DFL, 0);
  install();
  struct sigaction action = {.sa_sigaction = on_top, .sa_flags = SA_SIGINFO};
  (void)sigemptyset(&action.sa_mask);
  ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
  *(volatile char *)ours = 1;
  ck_assert_int_eq(hits, 1);
  ck_assert_int_ne(foreign_fault(), 0);
  ck_assert(!tdo_fault_offer(SIGBUS, NULL, NULL));
}
END_TEST

SUITE_MAIN("fault", 30, resolved, kinds_of_access, interrupted_context,
           passed_on, passed_on_nodefer, passed_on_siginfo, default_kills,
           ignored, once_only, offered)
