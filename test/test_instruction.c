/* Testudo: tests of signal handlers that come between two given instructions
   of the library, one after the other. The processor is told to stop after each
   (the trap flag); on others than x86-64, and where the thread sanitizer runs
   handlers when it likes, nothing comes between.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include "code/platform.h"
#include "trace/enter.h"
#include "trace/heaps.h"
#include "test/pools.h"
#include "test/suite.h"

static void (*intrude)(void); /* after instruction `due`, the next time */
static volatile size_t due, done;
static volatile bool intruded, child;

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)

enum { TRAP_FLAG = 0x100 };

/* Where signals are blocked none would come, but this one does. */
static void stepped(int signal, siginfo_t *info, void *context) {
  ucontext_t *uc = context;
  int saved = errno;
  (void)signal, (void)info;
  if (sigismember(&uc->uc_sigmask, SIGUSR1) || done++ < due)
    return;
  uc->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
  intruded = true;
  intrude();
  errno = saved;
}

static void steps_begin(void) {
  __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t"
                   "orq %0, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp"
                   : : "i"(TRAP_FLAG) : "memory", "cc");
}

static void steps_end(void) {
  __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t"
                   "andq %0, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp"
                   : : "i"(~TRAP_FLAG) : "memory", "cc");
}

static void steps_install(void) {
  struct sigaction action = {.sa_sigaction = stepped, .sa_flags = SA_SIGINFO};
  REQUIRE(sigaction(SIGTRAP, &action, NULL) == 0);
}

#else

static void steps_begin(void) {
}

static void steps_end(void) {
}

static void steps_install(void) {
}

#endif

/* Do BODY with FUNCTION called after instruction N of it; false if it has
   fewer. */
static bool intrude_after(size_t n, void (*function)(void),
                          void (*body)(void)) {
  intrude = function;
  due = n;
  done = 0;
  intruded = false;
  steps_begin();
  body();
  steps_end();
  return intruded;
}

/* The child is to end well, however long this one waits for it: it kills itself
   where it hangs. */
static void fork_here(void) {
  enum { PATIENCE = 60 };
  int status;
  pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    child = true;
    (void)alarm(PATIENCE);
    return;
  }
  while (waitpid(pid, &status, 0) < 0)
    REQUIRE(errno == EINTR);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

static void come_and_go(void) {
  mps_arena_t a;
  REQUIRE(mps_arena_create_k(&a, mps_arena_class_vm(), mps_args_none) ==
          MPS_RES_OK);
  mps_arena_destroy(a);
}

/* A child goes on, and arenas come and go there. */
static void go_on(void) {
  if (child) {
    come_and_go();
    suite_leave(asserted_count == 0 ? 42 : 43);
  }
}

static void look(void) {
  REQUIRE(tdo_heaps_find(arena) == NULL);
  REQUIRE(!tdo_heaps_inside());
}

/* Handlers fork while their thread looks at all arenas, as a hit and a call
   that has to wait do: one of the two processes took it to look for ever, and
   waited for that when an arena was destroyed. */
START_TEST(forks_while_looking) {
  size_t stride = suite_slow() ? 3 : 1; /* so is a fork where it is */
  start();
  steps_install();
  for (size_t n = 0; intrude_after(n, fork_here, look); n += stride)
    go_on();
  go_on();
  stop();
}
END_TEST

static void leave_and_join(void) {
  tdo_heaps_remove(arena);
  REQUIRE(tdo_heaps_add(arena) == MPS_RES_OK);
}

/* They do while it makes an arena, or destroys one: where it had the lock for
   that, the fork waited for its own thread. */
START_TEST(forks_at_the_ends) {
  size_t forks = suite_slow() ? 10 : 30, stride;
  start();
  steps_install();
  (void)intrude_after(SIZE_MAX, fork_here, leave_and_join);
  stride = 1 + done / forks;
  for (size_t n = 0; intrude_after(n, fork_here, leave_and_join); n += stride)
    go_on();
  go_on();
  stop();
}
END_TEST

/* A thread that is inside the arena makes one, or destroys it, when a fork waits
   for it to leave, or when none will. */
static atomic_bool inside, over;
static mps_arena_t made;

static void *maker(void *p) {
  tdo_heap_enter(arena);
  atomic_store(&inside, true);
  while (!atomic_load(&over) && atomic_load(&arena->lock.waiting) == 0)
    (void)sched_yield();
  if (made == NULL) {
    REQUIRE(mps_arena_create_k(&made, mps_arena_class_vm(), mps_args_none) ==
            MPS_RES_OK);
  } else {
    mps_arena_destroy(made);
    made = NULL;
  }
  tdo_heap_leave(arena);
  return p;
}

static mps_arena_t other;

static void others_leave_and_join(void) {
  tdo_heaps_remove(other);
  REQUIRE(tdo_heaps_add(other) == MPS_RES_OK);
}

/* The fork kept the lock of the table while it waited, which the thread that it
   waited for needed. */
START_TEST(forks_while_others_make) {
  size_t forks = suite_slow() ? 4 : 10, stride;
  pthread_t thread;
  bool more = true;
  start();
  REQUIRE(mps_arena_create_k(&other, mps_arena_class_vm(), mps_args_none) ==
          MPS_RES_OK);
  steps_install();
  (void)intrude_after(SIZE_MAX, fork_here, others_leave_and_join);
  stride = 1 + done / forks;
  for (size_t n = 0; more; n += stride) {
    atomic_store(&inside, false);
    atomic_store(&over, false);
    REQUIRE(pthread_create(&thread, NULL, maker, NULL) == 0);
    while (!atomic_load(&inside))
      (void)sched_yield();
    more = intrude_after(n, fork_here, others_leave_and_join);
    go_on();
    atomic_store(&over, true);
    REQUIRE(pthread_join(thread, NULL) == 0);
  }
  if (made != NULL)
    mps_arena_destroy(made);
  mps_arena_destroy(other);
  stop();
}
END_TEST

SUITE_MAIN("instruction", 60, forks_while_looking, forks_at_the_ends,
           forks_while_others_make)
