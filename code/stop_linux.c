/* Testudo: stopping threads on Linux. SPDX-License-Identifier: BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "code/platform.h"
#include "code/stop.h"

#if TDO_PF_LINUX && TDO_THREADS

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include "code/check.h"
#include "code/clock.h"
#include "code/context_linux.h"
#include "code/lock.h"
#include "code/ring.h"
#include "code/stop_tsan.h"
#include "code/vm.h"

#define STOP_SIG ((tdo_sig_t)0x57095703)

/* The life of a stop, one word for each thread (PARK):

     RUNS --stop--> WANTED --handler--> PARKED --resume--> FREED
       ^                                  ^                  |
       |                                  +------stop--------+
       +------------------handler, on its way out------------+

   A thread that is FREED but has not woken yet has not run since: it is
   stopped again by one store, and nobody waits for it to wake, unless that
   goes on (stop_grant). CONTEXT is valid from PARKED until RUNS. */
enum { STOP_RUNS, STOP_WANTED, STOP_PARKED, STOP_FREED };

struct tdo_stop_thread {
  tdo_sig_t sig;
  atomic_bool alive;
  atomic_uint park;
  pid_t tid;
  unsigned evasions;   /* see stop_evades; the thread's own */
  unsigned farewells;  /* see stop_exit; the thread's own */
  size_t references;   /* registrations; under the right */
  size_t stops;        /* not resumed yet; under the right */
  const void *context; /* ucontext_t of the interrupted code */
  tdo_ring_t link;     /* in stop_used or stop_free; under the right */
};

enum { STOP_FIRST = 64 };

static tdo_stop_thread_t stop_first[STOP_FIRST];
static tdo_ring_t stop_used = {&stop_used, &stop_used};
static tdo_ring_t stop_free = {&stop_free, &stop_free};

/* The right to stop threads and to change the records. A thread that waits
   for it can itself be stopped.

   .quiet  Who has it blocks the client's signals: a handler that touched
   protected memory of another arena would wait for ever if a stopped thread is
   inside that. They stay blocked until the arena has been left, too: what
   waited comes at once then, and may do what it likes.

   .nest  A handler that touches protected memory of an arena that it
   interrupted stops threads for the interrupted session, and after its return
   signals come again: these may stop threads for other arenas. */
static tdo_lock_t stop_right = TDO_LOCK_INIT;
static size_t stop_depth; /* of stops within the first; under the right */

static pid_t stop_pid;
static pthread_key_t stop_key; /* its destructor sees threads exit */
static bool stop_ready;        /* key, handlers and first records exist */
static struct sigaction stop_earlier[2]; /* of suspend, of resume */

static atomic_uint stop_pending; /* threads WANTED: the stopper's futex */
static atomic_uint stop_turn;    /* one more at each resume: the parked's */

static _Thread_local tdo_stop_thread_t *volatile stop_self
    __attribute__((tls_model("initial-exec")));

/* System calls as the kernel has them: usable in signal handlers, and never
   through a function that wants a thread which may be gone. */

/* The error number, 0 when woken. */
static int stop_wait(atomic_uint *word, unsigned value,
                     const struct timespec *timeout) {
  long r =
      syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout, NULL, 0);
  return r == 0 ? 0 : errno;
}

static void stop_wake(atomic_uint *word) {
  (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Not by nanosleep, where a thread that another one cancels would end, with
   all its locks. */
static void stop_sleep(long ns) {
  struct timespec time = {0, ns};
  (void)syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL);
}

/* False if that thread no longer exists. One that a filter of system calls
   keeps from being stopped runs on while references change: the client is
   told. */
static bool stop_signal(const tdo_stop_thread_t *thread, int signal) {
  for (;;) {
    if (syscall(SYS_tgkill, stop_pid, thread->tid, signal) == 0)
      return true;
    if (errno != EAGAIN) { /* EAGAIN: the queue of signals is full */
      TDO_ASSERT(errno == ESRCH, "the system lets threads be stopped (tgkill)");
      return false;
    }
    stop_sleep(1000000);
  }
}

/* In the signal handler. */

STOP_PLAIN static void stop_park(tdo_stop_thread_t *self) {
  unsigned expected;
  STOP_RELEASE(&stop_pending);
  atomic_store(&self->park, STOP_PARKED);
  if (atomic_fetch_sub(&stop_pending, 1) == 1)
    stop_wake(&stop_pending);
  do {
    unsigned turn = atomic_load(&stop_turn);
    if (atomic_load(&self->park) == STOP_PARKED)
      (void)stop_wait(&stop_turn, turn, NULL);
    expected = STOP_FREED;
  } while (!atomic_compare_exchange_strong(&self->park, &expected, STOP_RUNS));
  STOP_ACQUIRE(&self->park);
}

/* A signal that nobody here sent, such as a CPU time limit, or what a copy of
   this library in the same process stops a thread of its own by: for the
   earlier handler if there is one. */
static void stop_pass(const struct sigaction *earlier, int signal,
                      siginfo_t *info, void *context) {
  if (earlier->sa_flags & SA_SIGINFO)
    earlier->sa_sigaction(signal, info, context);
  else if (earlier->sa_handler != SIG_DFL &&
             earlier->sa_handler != SIG_IGN)
    earlier->sa_handler(signal);
}

/* Interrupted on the alternate signal stack, and it cannot be told where the
   thread's own stack ends: the stopper asks again soon. When that goes on,
   the alternate stack is the one there is. */
static bool stop_evades(tdo_stop_thread_t *self, const void *uc) {
  enum { STOP_EVASIONS = 8 };
  tdo_context_t at;
  tdo_context_linux_fill(&at, uc);
  bool lost = !tdo_context_linux_own(&at, uc);
  self->evasions = lost ? self->evasions + 1 : 0;
  return lost && self->evasions <= STOP_EVASIONS;
}

STOP_PLAIN static void stop_entry(int signal, siginfo_t *info,
                                  void *context) {
#if STOP_TSAN
  if (stop_in_sanitizer(context))
    return;
#endif
  int saved_errno = errno;
  tdo_stop_thread_t *self = stop_self;
  if (self != NULL && atomic_load(&self->park) == STOP_WANTED) {
    /* Inside our fault handler, too: a handler of the client's may have
       interrupted that, and what it holds must be found. The state at the
       fault lies on the same stack, or on the alternate one. */
    const void *fault = tdo_context_linux_fault();
    bool evades = stop_evades(self, context);
    if (!evades || fault != NULL) {
      self->context = evades ? fault : context;
      stop_park(self);
    }
  } else if (self == NULL || info->si_code != SI_TKILL ||
             info->si_pid != stop_pid) {
    stop_pass(&stop_earlier[0], signal, info, context);
  }
  errno = saved_errno;
}

/* The resume signal is reserved by the interface. Parked threads wait on a
   futex, which lets all of them go by one system call. */
static void stop_resume_entry(int signal, siginfo_t *info, void *context) {
  int saved_errno = errno;
  stop_pass(&stop_earlier[1], signal, info, context);
  errno = saved_errno;
}

/* Records of threads. */

static void stop_forked(void);

static void stop_add_records(tdo_stop_thread_t *records, size_t n) {
  for (size_t i = 0; i < n; ++i)
    tdo_ring_append(&stop_free, &records[i].link);
}

static tdo_stop_thread_t *stop_new_record(void) {
  tdo_vm_t *vm = tdo_vm_system();
  void *page;
  if (tdo_ring_empty(&stop_free)) {
    if (vm->reserve_table(&page, vm, vm->page_size) != MPS_RES_OK)
      return NULL;
    stop_add_records(page, vm->page_size / sizeof(tdo_stop_thread_t));
  }
  tdo_ring_t *link = stop_free.next;
  tdo_stop_thread_t *thread = TDO_RING_ENTRY(tdo_stop_thread_t, link, link);
  tdo_ring_remove(link);
  tdo_ring_append(&stop_used, link);
  return thread;
}

/* A record is free when its thread is gone and nobody refers to it. */
static void stop_collect_record(tdo_stop_thread_t *thread) {
  if (thread->references == 0 && !atomic_load(&thread->alive)) {
    thread->sig = TDO_SIG_DEAD;
    tdo_ring_remove(&thread->link);
    tdo_ring_append(&stop_free, &thread->link);
  }
}

void tdo_stop_begin(void) {
  TDO_CHECK(tdo_stop_is_quiet());
  if (!tdo_lock_mine(&stop_right)) {
    tdo_lock_claim(&stop_right);
    return;
  }
  ++stop_depth;
  if (stop_ready && getpid() != stop_pid)
    stop_forked(); /* in a fork handler that ran before the library's */
}

void tdo_stop_end(void) {
  if (stop_depth > 0)
    --stop_depth;
  else
    tdo_lock_release(&stop_right);
}

bool tdo_stop_has_right(void) {
  return tdo_lock_mine(&stop_right);
}

/* The right for a moment, to change records. */
static bool stop_take(void) {
  bool quiet = tdo_stop_quiet();
  tdo_stop_begin();
  return quiet;
}

static void stop_give(bool quiet) {
  tdo_stop_end();
  if (quiet)
    tdo_stop_loud();
}

/* Destructor of the key: the thread exits. Destructors of the client's keys
   may still use managed memory, so ours comes back, to be among the last.
   While it waits for the right it is alive, and stops if it must. */
static void stop_exit(void *p) {
  enum { STOP_FAREWELLS = PTHREAD_DESTRUCTOR_ITERATIONS - 2 };
  tdo_stop_thread_t *thread = p;
  if (thread->farewells < STOP_FAREWELLS &&
      pthread_setspecific(stop_key, thread) == 0) {
    ++thread->farewells;
    return;
  }
  bool quiet = stop_take();
  stop_self = NULL;
  atomic_store(&thread->alive, false);
  stop_collect_record(thread);
  stop_give(quiet);
}

static bool stop_install(int signal, struct sigaction *earlier,
                         void (*entry)(int, siginfo_t *, void *)) {
  struct sigaction action = {.sa_sigaction = entry};
  (void)sigfillset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  return sigaction(signal, NULL, earlier) == 0 &&
         stop_set_action(signal, &action);
}

static bool stop_init(void) {
  if (stop_ready)
    return true;
  if (pthread_key_create(&stop_key, stop_exit) != 0)
    return false;
  if (!stop_install(CONFIG_PTHREADEXT_SIGSUSPEND, &stop_earlier[0],
                    stop_entry) ||
      !stop_install(CONFIG_PTHREADEXT_SIGRESUME, &stop_earlier[1],
                    stop_resume_entry)) {
    (void)pthread_key_delete(stop_key);
    return false;
  }
  stop_pid = getpid();
  stop_add_records(stop_first, STOP_FIRST);
  stop_ready = true;
  return true;
}

/* The record of the calling thread, or NULL if there is no room. */
static tdo_stop_thread_t *stop_make_self(void) {
  tdo_stop_thread_t *thread = stop_init() ? stop_new_record() : NULL;
  if (thread == NULL)
    return NULL;
  thread->tid = (pid_t)syscall(SYS_gettid);
  thread->references = 0;
  thread->stops = 0;
  thread->farewells = 0;
  thread->context = NULL;
  atomic_store(&thread->park, STOP_RUNS);
  if (pthread_setspecific(stop_key, thread) != 0) {
    atomic_store(&thread->alive, false);
    stop_collect_record(thread);
    return NULL;
  }
  atomic_store(&thread->alive, true);
  thread->sig = STOP_SIG;
  stop_self = thread;
  return thread;
}

mps_res_t tdo_stop_register(tdo_stop_thread_t **thread_o) {
  bool quiet = stop_take();
  tdo_stop_thread_t *thread = stop_self;
  if (thread == NULL)
    thread = stop_make_self();
  if (thread != NULL) {
    ++thread->references;
    *thread_o = thread;
  }
  stop_give(quiet);
  return thread != NULL ? MPS_RES_OK : MPS_RES_MEMORY;
}

void tdo_stop_deregister(tdo_stop_thread_t *thread) {
  bool quiet = stop_take();
  TDO_CHECK(thread->sig == STOP_SIG);
  TDO_CHECK(thread->references > 0);
  --thread->references;
  stop_collect_record(thread);
  stop_give(quiet);
}

bool tdo_stop_is_self(const tdo_stop_thread_t *thread) {
  return thread == stop_self;
}

bool tdo_stop_is_alive(const tdo_stop_thread_t *thread) {
  return atomic_load(&thread->alive);
}

/* The thread vanished without the destructor having run. */
static void stop_bury(tdo_stop_thread_t *thread) {
  unsigned expected = STOP_WANTED;
  atomic_store(&thread->alive, false);
  if (atomic_compare_exchange_strong(&thread->park, &expected, STOP_RUNS))
    (void)atomic_fetch_sub(&stop_pending, 1);
}

static void stop_ask(tdo_stop_thread_t *thread) {
  unsigned expected = STOP_FREED;
  TDO_CHECK(thread->sig == STOP_SIG);
  if (atomic_compare_exchange_strong(&thread->park, &expected, STOP_PARKED))
    return; /* it never left the last stop */
  (void)atomic_fetch_add(&stop_pending, 1);
  atomic_store(&thread->park, STOP_WANTED);
  if (!stop_signal(thread, CONFIG_PTHREADEXT_SIGSUSPEND))
    stop_bury(thread);
}

static bool stop_concerns(const tdo_stop_thread_t *thread) {
  return thread != NULL && thread != stop_self && tdo_stop_is_alive(thread);
}

/* Ask those again that have not answered: they evaded, or they are dead. */
static void stop_ask_again(tdo_stop_thread_t *const threads[], size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (stop_concerns(threads[i]) &&
        atomic_load(&threads[i]->park) == STOP_WANTED &&
        !stop_signal(threads[i], CONFIG_PTHREADEXT_SIGSUSPEND))
      stop_bury(threads[i]);
  }
}

/* Stops that follow each other at once would keep threads where they are for
   as long as that goes on: waking takes longer than the time between. So after
   a number of stops in a row, or when they took long, those that had no time
   to run are given some. */
enum {
  STOP_WOKEN_NS = 100000, /* in that time a thread wakes and runs, */
  STOP_RUN_NS = 20000,    /* in less than that it does not */
  STOP_GRACE_NS = 300000,
  STOP_ROW = 16,        /* stops */
  STOP_ROW_NS = 4000000 /* that they took together */
};

static struct {
  uint64_t stopped, resumed; /* when, the last time */
  uint64_t took;             /* of the stops in a row, together */
  unsigned stops;            /* in a row */
} stop_row; /* under the right */

/* Has any of them not woken since it was let go? */
static bool stop_asleep(tdo_stop_thread_t *const threads[], size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (stop_concerns(threads[i]) &&
        atomic_load(&threads[i]->park) == STOP_FREED)
      return true;
  }
  return false;
}

static void stop_grant(bool asleep) {
  uint64_t now = tdo_clock_ns(), ran = now - stop_row.resumed;
  bool fair = ran >= (asleep ? STOP_WOKEN_NS : STOP_RUN_NS);
  if (!fair && (stop_row.stops >= STOP_ROW || stop_row.took >= STOP_ROW_NS)) {
    stop_sleep(STOP_GRACE_NS);
    now = tdo_clock_ns();
    fair = true;
  }
  if (fair) {
    stop_row.stops = 0;
    stop_row.took = 0;
  }
  stop_row.stopped = now;
}

static void stop_granted(void) {
  stop_row.resumed = tdo_clock_ns();
  stop_row.took += stop_row.resumed - stop_row.stopped;
  ++stop_row.stops;
}

void tdo_stop_threads(tdo_stop_thread_t *const threads[], size_t n) {
  struct timespec patience = {0, STOP_TSAN ? 50000 : 1000000};
  unsigned pending;
  TDO_CHECK(tdo_lock_mine(&stop_right));
  stop_grant(stop_asleep(threads, n));
  for (size_t i = 0; i < n; ++i) {
    if (stop_concerns(threads[i]) && threads[i]->stops++ == 0)
      stop_ask(threads[i]);
  }
  while ((pending = atomic_load(&stop_pending)) != 0) {
    if (stop_wait(&stop_pending, pending, &patience) == ETIMEDOUT) {
      stop_ask_again(threads, n);
      patience.tv_nsec = !STOP_TSAN && patience.tv_nsec < 100000000
                             ? patience.tv_nsec * 2
                             : patience.tv_nsec;
    }
  }
}

void tdo_resume_threads(tdo_stop_thread_t *const threads[], size_t n) {
  bool any = false;
  TDO_CHECK(tdo_lock_mine(&stop_right));
  for (size_t i = 0; i < n; ++i) {
    unsigned expected = STOP_PARKED;
    if (stop_concerns(threads[i]) && --threads[i]->stops == 0 &&
        atomic_compare_exchange_strong(&threads[i]->park, &expected,
                                       STOP_FREED))
      any = true;
  }
  if (any) {
    (void)atomic_fetch_add(&stop_turn, 1);
    stop_wake(&stop_turn);
    stop_granted();
  }
}

bool tdo_stop_context(tdo_context_t *ctx_o, const tdo_stop_thread_t *thread) {
  if (!tdo_stop_is_alive(thread))
    return false;
  TDO_CHECK(atomic_load(&thread->park) == STOP_PARKED);
  tdo_context_linux_fill(ctx_o, thread->context);
  (void)tdo_context_linux_own(ctx_o, thread->context);
  return true;
}

/* The right is this thread's, in a new process. */
static void stop_forked(void) {
  stop_pid = getpid();
  atomic_store(&stop_pending, 0);
  TDO_RING_FOR(link, &stop_used) {
    tdo_stop_thread_t *thread = TDO_RING_ENTRY(tdo_stop_thread_t, link, link);
    atomic_store(&thread->park, STOP_RUNS);
    if (thread == stop_self) {
      thread->tid = (pid_t)syscall(SYS_gettid);
    } else {
      atomic_store(&thread->alive, false);
      stop_collect_record(thread);
    }
  }
}

void tdo_stop_after_fork_in_child(void) {
  bool quiet;
  if (!tdo_lock_mine(&stop_right)) { /* else it was taken in order to fork */
    tdo_lock_reset(&stop_right);
    stop_depth = 0;
  }
  quiet = stop_take();
  stop_forked();
  stop_give(quiet);
}

#endif /* TDO_PF_LINUX && TDO_THREADS */
