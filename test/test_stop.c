/* Testudo: stopping threads in every state they can be in.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "code/clock.h"
#include "code/fault.h"
#include "code/lock.h"
#include "code/stop.h"
#include "test/asserted.h"
#include "test/refuse_call.h"
#include "test/suite.h"

#if defined(__SANITIZE_THREAD__) /* where stopping takes its time */
enum { THREADS = 4, ROUNDS = 20 };
#else
enum { THREADS = 8, ROUNDS = 200 };
#endif

typedef struct worker {
  pthread_t id;
  tdo_stop_thread_t *thread;
  atomic_bool ready;
  atomic_ulong steps;
  atomic_bool wrong; /* saw EINTR, or lost errno */
  int fd[2];
} worker_t;

static worker_t workers[THREADS];
static tdo_stop_thread_t *records[THREADS + 3];
static atomic_bool go, quit;

static void arrive(worker_t *w) {
  ck_assert_int_eq(tdo_stop_register(&w->thread), MPS_RES_OK);
  atomic_store(&w->ready, true);
}

static void *spin(void *p) {
  worker_t *w = p;
  arrive(w);
  while (!atomic_load(&quit)) {
    errno = 1234;
    atomic_fetch_add(&w->steps, 1);
    if (errno != 1234)
      atomic_store(&w->wrong, true);
  }
  tdo_stop_deregister(w->thread);
  return NULL;
}

static void *reads(void *p) {
  worker_t *w = p;
  char c;
  arrive(w);
  ssize_t n = read(w->fd[0], &c, 1);
  atomic_store(&w->wrong, n != 1 || c != 'x');
  tdo_stop_deregister(w->thread);
  return NULL;
}

/* The system never restarts this one: it reports the time that remains. */
static void *sleeps(void *p) {
  worker_t *w = p;
  struct timespec rest = {0, 300000000};
  arrive(w);
  while (nanosleep(&rest, &rest) != 0) {
    if (errno != EINTR) {
      atomic_store(&w->wrong, true);
      break;
    }
  }
  tdo_stop_deregister(w->thread);
  return NULL;
}

static void start(void *(*body)(void *), size_t n) {
  atomic_store(&quit, false);
  for (size_t i = 0; i < n; ++i) {
    worker_t *w = &workers[i];
    atomic_store(&w->ready, false);
    atomic_store(&w->wrong, false);
    ck_assert_int_eq(pipe(w->fd), 0);
    ck_assert_int_eq(pthread_create(&w->id, NULL, body, w), 0);
    while (!atomic_load(&w->ready))
      sched_yield();
    records[i] = w->thread;
  }
}

static void finish(size_t n) {
  atomic_store(&quit, true);
  for (size_t i = 0; i < n; ++i) {
    ck_assert_int_eq(write(workers[i].fd[1], "x", 1), 1);
    ck_assert_int_eq(pthread_join(workers[i].id, NULL), 0);
    ck_assert(!atomic_load(&workers[i].wrong));
    (void)close(workers[i].fd[0]);
    (void)close(workers[i].fd[1]);
  }
}

static void sleep_us(long us) {
  struct timespec t = {0, us * 1000};
  (void)nanosleep(&t, NULL);
}

static void begin(void) {
  (void)tdo_stop_quiet();
  tdo_stop_begin();
}

static void end(void) {
  tdo_stop_end();
  tdo_stop_loud();
}

static void stop_and_look(size_t n) {
  unsigned long before[THREADS];
  tdo_context_t context;
  begin();
  tdo_stop_threads(records, n);
  for (size_t i = 0; i < THREADS; ++i)
    before[i] = atomic_load(&workers[i].steps);
  sleep_us(300);
  for (size_t i = 0; i < THREADS; ++i)
    ck_assert_uint_eq(atomic_load(&workers[i].steps), before[i]);
  for (size_t i = 0; i < n; ++i) {
    if (records[i] != NULL && !tdo_stop_is_self(records[i])) {
      ck_assert(tdo_stop_context(&context, records[i]));
      ck_assert_ptr_nonnull(context.sp);
      ck_assert_uint_gt(context.count, 8);
    }
  }
  tdo_resume_threads(records, n);
  end();
}

START_TEST(spinning) {
  start(spin, THREADS);
  records[THREADS] = NULL;
  records[THREADS + 1] = records[0]; /* twice */
  ck_assert_int_eq(tdo_stop_register(&records[THREADS + 2]), MPS_RES_OK);
  for (int i = 0; i < ROUNDS / 4; ++i)
    stop_and_look(THREADS + 3);
  for (size_t i = 0; i < THREADS; ++i) { /* they do run on */
    unsigned long before = atomic_load(&workers[i].steps);
    while (atomic_load(&workers[i].steps) == before)
      sched_yield();
  }
  tdo_stop_deregister(records[THREADS + 2]);
  finish(THREADS);
}
END_TEST

/* Stop again at once, when most threads have not woken yet. */
START_TEST(stopped_again) {
  start(spin, THREADS);
  begin();
  for (int i = 0; i < 20 * ROUNDS; ++i) {
    unsigned long steps[THREADS];
    tdo_stop_threads(records, THREADS);
    for (size_t j = 0; j < THREADS; ++j)
      steps[j] = atomic_load(&workers[j].steps);
    for (size_t j = 0; j < THREADS; ++j)
      ck_assert_uint_eq(atomic_load(&workers[j].steps), steps[j]);
    tdo_resume_threads(records, THREADS);
  }
  end();
  finish(THREADS);
}
END_TEST

START_TEST(blocked_in_read) {
  start(reads, THREADS);
  for (int i = 0; i < ROUNDS / 4; ++i)
    stop_and_look(THREADS);
  finish(THREADS);
}
END_TEST

START_TEST(blocked_in_nanosleep) {
  start(sleeps, THREADS);
  for (int i = 0; i < ROUNDS / 10; ++i)
    stop_and_look(THREADS);
  finish(THREADS);
}
END_TEST

/* A value that a stopped thread holds on its stack is within the range that
   its context gives. */
static void *holds(void *p) {
  worker_t *w = p;
  volatile tdo_word_t held[4] = {0, 0x1234567, 0, 0};
  w->fd[0] = (int)held[0];
  arrive(w);
  while (!atomic_load(&quit))
    atomic_store(&w->steps, (unsigned long)&held[1]);
  tdo_stop_deregister(w->thread);
  return (void *)held[1];
}

START_TEST(stack_range) {
  start(holds, 1);
  while (atomic_load(&workers[0].steps) < 4096)
    sched_yield();
  begin();
  tdo_stop_threads(records, 1);
  tdo_context_t context;
  ck_assert(tdo_stop_context(&context, records[0]));
  tdo_word_t *held = (tdo_word_t *)atomic_load(&workers[0].steps);
  ck_assert_uint_lt((uintptr_t)context.sp, (uintptr_t)held);
  ck_assert_uint_eq(*held, 0x1234567);
  ck_assert_uint_lt((uintptr_t)held - (uintptr_t)context.sp, 65536);
  tdo_resume_threads(records, 1);
  end();
  finish(1);
}
END_TEST

/* Threads that exit while registered, some while they are being stopped. */
static void *exits(void *p) {
  worker_t *w = p;
  arrive(w);
  sleep_us(50);
  return NULL;
}

static char *protected_page;
static _Atomic(char *) deep;

/* A fault handler that a client's signal handler interrupts: no other than one
   that takes its time, for whoever stops the thread. */
static bool dawdle(void *addr, tdo_fault_kind_t kind) {
  char local = 1;
  (void)addr, (void)kind;
  atomic_store(&deep, &local);
  while (!atomic_load(&go))
    sched_yield();
  return mprotect(protected_page, (size_t)sysconf(_SC_PAGESIZE),
                  PROT_READ | PROT_WRITE) == 0;
}

static bool lies_in(const char *p, const void *base, const void *limit) {
  return (uintptr_t)p >= (uintptr_t)base && (uintptr_t)p < (uintptr_t)limit;
}

static void *faults(void *p) {
  worker_t *w = p;
  arrive(w);
  *protected_page = 1;
  tdo_stop_deregister(w->thread);
  return NULL;
}

/* What lies deeper on the stack than the fault counts, too. */
START_TEST(in_the_fault_handler) {
  tdo_context_t context;
  long size = sysconf(_SC_PAGESIZE);
  ck_assert_int_eq(tdo_fault_install(dawdle), MPS_RES_OK);
  protected_page = mmap(NULL, (size_t)size, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(protected_page, MAP_FAILED);
  start(faults, 1);
  while (atomic_load(&deep) == NULL)
    sched_yield();
  begin();
  tdo_stop_threads(records, 1);
  ck_assert(tdo_stop_context(&context, records[0]));
  ck_assert(lies_in(atomic_load(&deep), context.sp,
                    (char *)context.sp + (1 << 20)) ||
            lies_in(atomic_load(&deep), context.alternate,
                    context.alternate_limit));
  tdo_resume_threads(records, 1);
  end();
  atomic_store(&go, true);
  finish(1);
}
END_TEST

START_TEST(exiting) {
  for (int round = 0; round < ROUNDS / 2; ++round) {
    start(exits, THREADS);
    begin();
    tdo_stop_threads(records, THREADS);
    tdo_resume_threads(records, THREADS);
    end();
    for (size_t i = 0; i < THREADS; ++i) {
      ck_assert_int_eq(pthread_join(workers[i].id, NULL), 0);
      ck_assert(!tdo_stop_is_alive(records[i]));
      (void)close(workers[i].fd[0]);
      (void)close(workers[i].fd[1]);
    }
    begin(); /* the dead are skipped */
    tdo_stop_threads(records, THREADS);
    tdo_context_t context;
    ck_assert(!tdo_stop_context(&context, records[0]));
    tdo_resume_threads(records, THREADS);
    end();
    for (size_t i = 0; i < THREADS; ++i)
      tdo_stop_deregister(records[i]);
  }
}
END_TEST

/* A stopped world does not keep new threads from coming, and they register
   when it is over. */
START_TEST(created_during_stop) {
  start(spin, 2);
  for (int i = 0; i < ROUNDS / 4; ++i) {
    pthread_t id;
    worker_t w = {.steps = 0};
    begin();
    tdo_stop_threads(records, 2);
    ck_assert_int_eq(pthread_create(&id, NULL, exits, &w), 0);
    sleep_us(100);
    ck_assert(!atomic_load(&w.ready));
    tdo_resume_threads(records, 2);
    end();
    ck_assert_int_eq(pthread_join(id, NULL), 0);
    ck_assert(atomic_load(&w.ready));
    tdo_stop_deregister(w.thread);
  }
  finish(2);
}
END_TEST

/* The suspend signal sent by somebody else. */
START_TEST(spurious) {
  start(spin, 2);
  for (int i = 0; i < ROUNDS; ++i) {
    ck_assert_int_eq(pthread_kill(workers[0].id, SIGXCPU), 0);
    ck_assert_int_eq(kill(getpid(), SIGXCPU), 0);
    ck_assert_int_eq(pthread_kill(workers[1].id, SIGXFSZ), 0);
    begin();
    tdo_stop_threads(records, 2);
    ck_assert_int_eq(pthread_kill(workers[1].id, SIGXFSZ), 0);
    tdo_resume_threads(records, 2);
    end();
  }
  finish(2);
}
END_TEST

/* Stopped again as soon as they were let go, and so on, threads get on all the
   same: in each of some turns, though there is no time for them to wake. */
START_TEST(in_a_row) {
  /* Of 40 ms, sanitized or not: in 4 there may be no time given yet. */
  enum { SPINNERS = 2, TURNS = 10, STOPS = 200 };
  unsigned long before[SPINNERS];
  start(spin, SPINNERS);
  begin();
  for (int turn = 0; turn < TURNS; ++turn) {
    for (size_t j = 0; j < SPINNERS; ++j)
      before[j] = atomic_load(&workers[j].steps);
    for (int i = 0; i < STOPS; ++i) {
      uint64_t until = tdo_clock_ns() + 200000;
      tdo_stop_threads(records, SPINNERS);
      while (!tdo_clock_past(until))
        continue;
      tdo_resume_threads(records, SPINNERS);
    }
    for (size_t j = 0; j < SPINNERS; ++j)
      ck_assert_uint_ne(atomic_load(&workers[j].steps), before[j]);
  }
  end();
  finish(SPINNERS);
}
END_TEST

/* Two threads of control that both stop the world, and each other. */
static void *stopper(void *p) {
  worker_t *w = p;
  arrive(w);
  while (!atomic_load(&go))
    sched_yield();
  while (!atomic_load(&quit)) {
    begin();
    tdo_stop_threads(records, 3);
    tdo_resume_threads(records, 3);
    end();
    atomic_fetch_add(&w->steps, 1);
  }
  tdo_stop_deregister(w->thread);
  return NULL;
}

START_TEST(two_stoppers) {
  for (size_t i = 0; i < 3; ++i) {
    records[i] = NULL;
    atomic_store(&workers[i].steps, 0);
  }
  start(stopper, 2);
  atomic_store(&go, true);
  while (atomic_load(&workers[0].steps) < ROUNDS ||
         atomic_load(&workers[1].steps) < ROUNDS)
    sleep_us(1000);
  finish(2);
}
END_TEST

/* A stop within a stop, as a signal handler may want one for another arena:
   who was stopped before it stays so. */
START_TEST(within_a_stop) {
  unsigned long before[3];
  start(spin, 3);
  begin();
  tdo_stop_threads(records, 2);
  for (int i = 0; i < 3; ++i)
    before[i] = atomic_load(&workers[i].steps);
  ck_assert(!tdo_stop_quiet());
  tdo_stop_begin();
  tdo_stop_threads(records + 1, 2);
  tdo_resume_threads(records + 1, 2);
  tdo_stop_end();
  while (atomic_load(&workers[2].steps) == before[2])
    sched_yield();
  sleep_us(1000);
  for (int i = 0; i < 2; ++i)
    ck_assert_uint_eq(atomic_load(&workers[i].steps), before[i]);
  tdo_resume_threads(records, 2);
  end();
  for (int i = 0; i < 2; ++i)
    while (atomic_load(&workers[i].steps) == before[i])
      sched_yield();
  finish(3);
}
END_TEST

/* Signals wait between quiet and loud, but those of faults and of stops. */
START_TEST(quiet) {
  sigset_t mask;
  ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, NULL, &mask), 0);
  ck_assert_int_eq(sigismember(&mask, SIGUSR1), 0);
  ck_assert(tdo_stop_quiet());
  ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, NULL, &mask), 0);
  ck_assert_int_eq(sigismember(&mask, SIGUSR1), 1);
  ck_assert_int_eq(sigismember(&mask, SIGSEGV), 0);
  ck_assert_int_eq(sigismember(&mask, SIGXCPU), 0);
  tdo_stop_loud();
  ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, NULL, &mask), 0);
  ck_assert_int_eq(sigismember(&mask, SIGUSR1), 0);
}
END_TEST

START_TEST(many_registrations) {
  tdo_stop_thread_t *first, *again;
  ck_assert_int_eq(tdo_stop_register(&first), MPS_RES_OK);
  for (int i = 0; i < 1000; ++i) {
    ck_assert_int_eq(tdo_stop_register(&again), MPS_RES_OK);
    ck_assert_ptr_eq(again, first);
    ck_assert(tdo_stop_is_self(again));
  }
  for (int i = 0; i < 1001; ++i)
    tdo_stop_deregister(first);
  ck_assert_int_eq(tdo_stop_register(&again), MPS_RES_OK);
  ck_assert(tdo_stop_is_self(again));
  tdo_stop_deregister(again);
}
END_TEST

/* In the child of a fork only the forking thread lives on, even when another
   thread had the right to stop. */
static void *keeps_right(void *p) {
  worker_t *w = p;
  begin();
  atomic_store(&w->ready, true);
  while (!atomic_load(&quit))
    sched_yield();
  end();
  return NULL;
}

static int child_of_fork(tdo_stop_thread_t *self) {
  tdo_stop_thread_t *again;
  tdo_stop_after_fork_in_child();
  if (!tdo_stop_is_alive(self) || tdo_stop_is_alive(records[0]))
    return 1;
  begin();
  tdo_stop_threads(records, 2);
  tdo_resume_threads(records, 2);
  end();
  tdo_stop_deregister(records[0]);
  if (tdo_stop_register(&again) != MPS_RES_OK || again != self)
    return 2;
#if !defined(__SANITIZE_THREAD__) /* which allows no thread here */
  if (!suite_emulated()) {        /* nor does qemu 7.2 */
    start(spin, 2);
    stop_and_look(2);
    finish(2);
  }
#endif
  return 0;
}

START_TEST(forked) {
  tdo_stop_thread_t *self;
  pthread_t id;
  worker_t holder = {.steps = 0};
  int status;
  ck_assert_int_eq(tdo_stop_register(&self), MPS_RES_OK);
  start(spin, 2);
  ck_assert_int_eq(pthread_create(&id, NULL, keeps_right, &holder), 0);
  while (!atomic_load(&holder.ready))
    sched_yield();
  pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0)
    suite_leave(child_of_fork(self));
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status));
  ck_assert_int_eq(WEXITSTATUS(status), 0);
  finish(2);
  ck_assert_int_eq(pthread_join(id, NULL), 0);
  tdo_stop_deregister(self);
}
END_TEST

static tdo_lock_t contended = TDO_LOCK_INIT;

/* Waits for a lock with all signals blocked, as a handler may. */
static void *claims(void *p) {
  worker_t *w = p;
  sigset_t all, after;
  arrive(w);
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
  tdo_lock_claim(&contended);
  tdo_lock_release(&contended);
  (void)pthread_sigmask(SIG_UNBLOCK, &all, &after);
  atomic_store(&w->wrong, sigismember(&after, SIGXCPU) != 1);
  tdo_stop_deregister(w->thread);
  return NULL;
}

START_TEST(waiting_blocked) {
  tdo_context_t context;
  tdo_lock_claim(&contended);
  start(claims, 1);
  while (atomic_load(&contended.waiting) == 0)
    sched_yield();
  begin();
  tdo_stop_threads(records, 1);
  ck_assert(tdo_stop_context(&context, records[0]));
  tdo_resume_threads(records, 1);
  end();
  tdo_lock_release(&contended);
  finish(1);
}
END_TEST

static atomic_uint passed;

static void count_passed(int signal) {
  (void)signal;
  (void)atomic_fetch_add(&passed, 1);
}

/* To a thread that is not registered nothing here sends signals: they are
   another's, a copy of the library, say, in the same process. */
START_TEST(of_a_copy) {
  struct sigaction action = {.sa_handler = count_passed};
  tdo_stop_thread_t *self;
  ck_assert_int_eq(sigaction(SIGXCPU, &action, NULL), 0);
  start(spin, 1);
  ck_assert_int_eq(raise(SIGXCPU), 0);
  ck_assert_uint_eq(atomic_load(&passed), 1);
  ck_assert_int_eq(tdo_stop_register(&self), MPS_RES_OK);
  ck_assert_int_eq(raise(SIGXCPU), 0);
  ck_assert_uint_eq(atomic_load(&passed), 1);
  tdo_stop_deregister(self);
  finish(1);
}
END_TEST

/* A thread that cannot be stopped is not taken for one that has ended. */
START_TEST(refused) {
  pid_t child = fork();
  int status;
  if (child == 0) {
    start(spin, 1);
    asserted_start();
    if (!refuse_call(SYS_tgkill, 0, EPERM))
      _exit(0); /* not permitted */
    begin();
    tdo_stop_threads(records, 1);
    _exit((asserted_count > 0) == !TDO_RASH ? 0 : 1);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

SUITE_MAIN("stop", 60, spinning, stopped_again, blocked_in_read,
           blocked_in_nanosleep, stack_range, in_the_fault_handler, exiting,
           created_during_stop, spurious, in_a_row, two_stoppers,
           within_a_stop, quiet, many_registrations, forked, waiting_blocked,
           of_a_copy, refused)
