/* Testudo: tests of several threads in one arena (interface, sections 1.9,
   2.16, 11.16, 11.17). SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "trace/heap.h"
#include "test/objects.h"
#include "test/suite.h"

enum { THREADS = 4, SHARE = 64 };

static atomic_bool ending;
static atomic_size_t rounds;
static char *_Atomic looked_up;

/* Each thread owns a part of the table, and writes to what all share. */
typedef struct worker {
  pthread_t thread;
  size_t index;
  mps_thr_t thr;
  mps_root_t root;
  mps_ap_t ap;
} worker_t;

static worker_t workers[THREADS];

static void worker_enter(worker_t *w, void *cold) {
  REQUIRE(mps_thread_reg(&w->thr, arena) == MPS_RES_OK);
  REQUIRE(mps_root_create_thread(&w->root, arena, w->thr, cold) == MPS_RES_OK);
  w->ap = point(pool);
}

static void worker_leave(worker_t *w) {
  mps_ap_destroy(w->ap);
  mps_root_destroy(w->root);
  mps_thread_dereg(w->thr);
}

static void worker_round(worker_t *w, size_t n) {
  mps_addr_t *own = table + SHARE * (1 + w->index);
  for (size_t i = 0; i < 500; ++i) {
    mps_addr_t obj = obj_on(w->ap, OBJ_NODE, 4);
    size_t at = (n + i) % SHARE;
    *obj_ref(obj, 0) = (mps_addr_t)(at << 2 | 1);
    *obj_ref(obj, 1) = own[at];
    *obj_ref(obj, 2) = table[at];
    if (i % 7 == 0) /* an old object that everybody shares */
      *obj_ref(table[at], 1 + w->index) = obj;
    if (own[at] != NULL)
      *obj_ref(own[at], 1) = NULL;
    own[at] = obj;
  }
  for (size_t i = 0; i < SHARE; ++i) {
    mps_addr_t obj = own[i];
    if (obj != NULL) {
      REQUIRE(number_of(obj) == i);
      REQUIRE(number_of(*obj_ref(obj, 2)) == i);
    }
    obj = *obj_ref(table[i], 1 + w->index);
    REQUIRE(obj == NULL || number_of(obj) == i);
  }
  atomic_fetch_add(&rounds, 1);
}

static void *work(void *p) {
  worker_t *w = p;
  worker_enter(w, FRAME_COLD());
  for (size_t n = 0; !atomic_load(&ending); ++n)
    worker_round(w, n);
  worker_leave(w);
  return NULL;
}

static void crew_start(void) {
  for (size_t i = 0; i < SHARE; ++i) {
    table[i] = node(1 + THREADS);
    *obj_ref(table[i], 0) = (mps_addr_t)(i << 2 | 1);
  }
  for (size_t i = 0; i < THREADS; ++i) {
    workers[i].index = i;
    ck_assert_int_eq(
        pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
}

static void crew_stop(void) {
  atomic_store(&ending, true);
  for (size_t i = 0; i < THREADS; ++i)
    ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
}

static void wait_rounds(size_t n) {
  size_t goal = atomic_load(&rounds) + n;
  while (atomic_load(&rounds) < goal)
    (void)usleep(1000);
}

START_TEST(test_allocate_and_mutate) {
  heap_start(mps_class_amc());
  mps_arena_pause_time_set(arena, _i == 0 ? 0.0 : 0.001);
  crew_start();
  for (int i = 0; i < 10; ++i) {
    wait_rounds(8);
    if (i % 2 == 0)
      collect();
    else
      (void)mps_arena_start_collect(arena);
    (void)mps_arena_step(arena, 0.001, 1.0);
  }
  crew_stop();
  ck_assert_uint_gt(mps_collections(arena), 5);
  heap_stop();
}
END_TEST

/* What one thread has committed another walks: whole, though nothing but the
   allocation point says so. */
static void *allocate(void *closure) {
  worker_t *w = closure;
  worker_enter(w, FRAME_COLD());
  for (size_t n = 0; !atomic_load(&ending); ++n) {
    size_t size = obj_bytes(1 + n % 30);
    mps_addr_t p;
    do {
      mps_word_t *block;
      REQUIRE(mps_reserve(&p, w->ap, size) == MPS_RES_OK);
      block = p;
      for (size_t i = 1; i < size / WORD; ++i)
        block[i] = size << 3 | i << 1 | 1;
      block[0] = size << 3 | OBJ_LEAF;
    } while (!mps_commit(w->ap, p, size));
    if (n % 1000 == 0) {
      atomic_fetch_add(&rounds, 1);
      (void)usleep(100);
    }
  }
  worker_leave(w);
  return NULL;
}

static void look(mps_addr_t obj, mps_fmt_t f, mps_pool_t p, void *closure,
                 size_t s) {
  (void)f, (void)p, (void)s;
  if (obj_kind(obj) == OBJ_PAD)
    return; /* nothing that may be asked about: a pad is no object */
  REQUIRE(obj_kind(obj) == OBJ_LEAF);
  for (size_t i = 1; i < obj_size(obj) / WORD; ++i)
    REQUIRE(obj_base(obj)[i] == (obj_size(obj) << 3 | i << 1 | 1));
  *(mps_addr_t *)closure = obj;
}

static mps_res_t look_area(mps_ss_t ss, void *base, void *limit,
                           void *closure) {
  (void)ss;
  for (char *p = base; p < (char *)limit; p = obj_skip(p))
    look(p, NULL, NULL, closure, 0);
  return MPS_RES_OK;
}

START_TEST(test_walk_what_others_allocate) {
  mps_pool_class_t classes[] = {mps_class_amc(), mps_class_amcz(),
                                mps_class_ams(), mps_class_lo(),
                                mps_class_awl()};
  bool moving = _i < 2;
  mps_addr_t last = NULL, found;
  heap_start(classes[_i]);
  /* One that stays: the others may all be about to commit theirs. */
  table[0] = obj_on(ap, OBJ_LEAF, 1);
  obj_base(table[0])[1] = obj_size(table[0]) << 3 | 1 << 1 | 1;
  for (size_t i = 0; i < THREADS; ++i)
    ck_assert_int_eq(
        pthread_create(&workers[i].thread, NULL, allocate, &workers[i]), 0);
  for (size_t i = 0; i < 60; ++i) {
    wait_rounds(2);
    mps_arena_park(arena);
    last = NULL;
    mps_arena_formatted_objects_walk(arena, look, &last, 0);
    ck_assert_ptr_nonnull(last);
    last = NULL;
    ck_assert_int_eq(mps_pool_walk(pool, look_area, &last), MPS_RES_OK);
    ck_assert_ptr_nonnull(last);
    ck_assert_int_eq(mps_addr_object(&found, arena, (char *)last + 1),
                     moving ? MPS_RES_OK : MPS_RES_UNIMPL);
    ck_assert(!moving || found == last);
    mps_arena_release(arena);
    if (i % 8 == 0) {
      (void)mps_arena_collect(arena); /* there may be nothing but buffers */
      mps_arena_release(arena);
    }
  }
  crew_stop();
  heap_stop();
}
END_TEST

/* The function of a pool walk has its objects to itself: it may write back what
   it read, as scan methods do. */
static atomic_size_t ticks;

static void *tick(void *p) {
  mps_thr_t t;
  REQUIRE(mps_thread_reg(&t, arena) == MPS_RES_OK);
  while (!atomic_load(&ending))
    (void)atomic_fetch_add(&ticks, 1);
  mps_thread_dereg(t);
  return p;
}

static mps_res_t look_alone(mps_ss_t ss, void *base, void *limit,
                            void *closure) {
  size_t before = atomic_load(&ticks);
  (void)ss, (void)base, (void)limit;
  for (size_t i = 0; i < 20; ++i)
    (void)usleep(1000);
  REQUIRE(atomic_load(&ticks) == before);
  ++*(size_t *)closure;
  return MPS_RES_OK;
}

START_TEST(test_walk_alone) {
  mps_pool_class_t classes[] = {mps_class_amc(), mps_class_ams(),
                                mps_class_awl()};
  pthread_t thread;
  size_t looked = 0;
  heap_start(classes[_i]);
  table[0] = node(2);
  ck_assert_int_eq(pthread_create(&thread, NULL, tick, NULL), 0);
  while (atomic_load(&ticks) == 0)
    (void)usleep(1000);
  mps_arena_park(arena);
  ck_assert_int_eq(mps_pool_walk(pool, look_alone, &looked), MPS_RES_OK);
  ck_assert_uint_gt(looked, 0);
  atomic_store(&ending, true);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  heap_stop();
}
END_TEST

/* Threads blocked in system calls stop, and the calls are not disturbed. */
static int pipes[2];

static void *block(void *p) {
  mps_thr_t t;
  char c = 0;
  ssize_t n;
  REQUIRE(mps_thread_reg(&t, arena) == MPS_RES_OK);
  atomic_fetch_add((atomic_size_t *)p, 1);
  errno = 77;
  n = read(pipes[0], &c, 1); /* never EINTR */
  REQUIRE(n == 1 && c == 'x');
  REQUIRE(errno == 77);
  mps_thread_dereg(t);
  return NULL;
}

START_TEST(test_blocked) {
  pthread_t threads[3];
  atomic_size_t waiting = 0;
  heap_start(mps_class_amc());
  ck_assert_int_eq(pipe(pipes), 0);
  for (int i = 0; i < 3; ++i)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, block, &waiting), 0);
  while (atomic_load(&waiting) < 3)
    (void)usleep(1000);
  (void)usleep(20000);
  for (size_t i = 0; i < 20; ++i) {
    table[i] = numbered(i);
    collect();
  }
  ck_assert_int_eq(write(pipes[1], "xxx", 3), 3);
  for (int i = 0; i < 3; ++i)
    ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
  heap_stop();
}
END_TEST

/* A thread that exits while it is registered. */
static void *leave_registered(void *p) {
  worker_enter(p, FRAME_COLD());
  for (size_t i = 0; i < 100; ++i)
    table[i] = obj_on(((worker_t *)p)->ap, OBJ_NODE, 2);
  return NULL;
}

START_TEST(test_exit_registered) {
  mps_addr_t obj;
  heap_start(mps_class_amc());
  for (size_t i = 0; i < THREADS; ++i) {
    ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, leave_registered,
                                    &workers[i]),
                     0);
    ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
    collect();
  }
  for (size_t i = 0; i < 3000; ++i)
    table[200] = numbered(i);
  obj = obj_on(workers[0].ap, OBJ_NODE, 2); /* points outlive their threads */
  ck_assert_uint_eq(obj_refs(obj), 2);
  for (size_t i = 0; i < THREADS; ++i)
    worker_leave(&workers[i]);
  heap_stop();
}
END_TEST

START_TEST(test_many_descriptors) {
  enum { MANY = 20 };
  mps_thr_t t[MANY];
  mps_arena_t first, second;
  heap_start(mps_class_amc());
  first = arena;
  ck_assert_int_eq(
      mps_arena_create_k(&second, mps_arena_class_vm(), mps_args_none),
      MPS_RES_OK);
  for (int i = 0; i < MANY; ++i) {
    ck_assert_int_eq(mps_thread_reg(&t[i], i % 2 ? first : second),
                     MPS_RES_OK);
    for (int j = 0; j < i; ++j)
      ck_assert_ptr_ne(t[i], t[j]);
  }
  table[0] = numbered(3);
  collect();
  for (int i = 0; i < MANY; ++i)
    mps_thread_dereg(t[(i * 7) % MANY]);
  mps_arena_destroy(second);
  heap_stop();
}
END_TEST

/* Descriptors of others may be dropped by anybody. */
static atomic_bool registered;

static void *only_register(void *p) {
  mps_thr_t *t = p;
  REQUIRE(mps_thread_reg(t, arena) == MPS_RES_OK);
  atomic_store(&registered, true);
  while (!atomic_load(&ending))
    (void)usleep(1000);
  return NULL;
}

START_TEST(test_deregister_other) {
  pthread_t thread;
  mps_thr_t t = NULL;
  heap_start(mps_class_amc());
  ck_assert_int_eq(pthread_create(&thread, NULL, only_register, &t), 0);
  while (!atomic_load(&registered))
    (void)usleep(1000);
  table[0] = numbered(1);
  collect();
  mps_thread_dereg(t);
  ASSERTED(mps_thread_dereg(t));
  collect();
  atomic_store(&ending, true);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  heap_stop();
}
END_TEST

/* Arenas of different threads know nothing of each other. */
static void *own_arena(void *p) {
  (void)p;
  for (int n = suite_emulated() ? 8 : 30; n > 0; --n) {
    mps_arena_t a;
    mps_thr_t t;
    REQUIRE(mps_arena_create_k(&a, mps_arena_class_vm(), mps_args_none) ==
            MPS_RES_OK);
    REQUIRE(mps_thread_reg(&t, a) == MPS_RES_OK);
    (void)mps_arena_collect(a);
    mps_thread_dereg(t);
    mps_arena_destroy(a);
  }
  return NULL;
}

START_TEST(test_arenas) {
  pthread_t threads[THREADS];
  heap_start(mps_class_amc());
  crew_start();
  for (int i = 0; i < THREADS; ++i)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, own_arena, NULL), 0);
  for (int i = 0; i < THREADS; ++i)
    ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
  wait_rounds(4);
  crew_stop();
  heap_stop();
}
END_TEST

/* ---- threads that are cancelled ---- */

static void *(*cancelled_work)(void *);
static atomic_bool finished;

/* Nothing here is a cancellation point, but what the library may call. */
static void *work_cancelled(void *p) {
  while (!atomic_load(&ending))
    (void)sched_yield();
  (void)cancelled_work(p);
  atomic_store(&finished, true);
  pthread_testcancel();
  return p;
}

/* A thread that has been cancelled already does all of DOING, then ends. */
static void cancel(void *(*doing)(void *)) {
  pthread_t thread;
  void *result;
  cancelled_work = doing;
  ck_assert_int_eq(pthread_create(&thread, NULL, work_cancelled, NULL), 0);
  ck_assert_int_eq(pthread_cancel(thread), 0);
  atomic_store(&ending, true);
  ck_assert_int_eq(pthread_join(thread, &result), 0);
  ck_assert_ptr_eq(result, PTHREAD_CANCELED);
  ck_assert(atomic_load(&finished));
}

static void *collect_often(void *p) {
  mps_thr_t t;
  REQUIRE(mps_thread_reg(&t, arena) == MPS_RES_OK);
  for (size_t i = 0; i < suite_size(50, 5); ++i) {
    for (size_t k = 0; k < 1000; ++k)
      table[k] = node(4);
    collect();
  }
  mps_thread_dereg(t);
  return p;
}

/* Cancelled while it allocates and collects, also where that is told, a thread
   does not end inside the arena, which others go on to use. */
START_TEST(test_cancelled) {
  int saved = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);
  if (_i == 1)
    ck_assert_int_eq(setenv("TESTUDO_LOG", "on", 1), 0);
  ck_assert_int_eq(setenv("MPS_TELEMETRY_FILENAME", "/dev/null", 1), 0);
  if (_i == 2)
    mps_telemetry_set(~(mps_word_t)0);
  ck_assert_int_ge(dup2(null, STDERR_FILENO), 0);
  heap_start(mps_class_amc());
  cancel(collect_often);
  ck_assert(!mps_arena_busy(arena));
  collect();
  heap_stop();
  ck_assert_int_ge(dup2(saved, STDERR_FILENO), 0);
  (void)close(saved);
  (void)close(null);
}
END_TEST

/* Nor does it end while it makes and unmakes arenas, with files of theirs; but
   where statistics are printed, by a stream, it may. */
START_TEST(test_cancelled_arenas) {
  char name[] = "/tmp/testudo-thread-XXXXXX";
  int file = mkstemp(name);
  ck_assert_int_ge(file, 0);
  ck_assert_int_eq(unsetenv("TESTUDO_STATISTICS"), 0);
  ck_assert_int_eq(setenv("TESTUDO_RECORD", name, 1), 0);
  if (_i == 1)
    ck_assert_int_eq(setenv("TESTUDO_SHIELD", "dirty", 1), 0);
  cancel(own_arena);
  start();
  stop();
  (void)close(file);
  (void)unlink(name);
}
END_TEST

/* ---- signal handlers that run client code ---- */

static atomic_size_t handled, refused;
static mps_ap_t handler_ap;
static mps_pool_t handler_manual;

static void handler(int signal) {
  mps_addr_t obj, block;
  int saved = errno;
  (void)signal;
  suite_handler();
  ++handled;
  if (obj_try(&obj, handler_ap, OBJ_NODE, 2) == MPS_RES_OK)
    *obj_ref(obj, 0) = (mps_addr_t)1;
  else
    ++refused;
  if (mps_alloc(&block, handler_manual, 32) == MPS_RES_OK)
    mps_free(handler_manual, block, 32);
  else
    ++refused;
  if (table[0] != NULL)
    *obj_ref(table[0], 0) = (mps_addr_t)(4 * 11 + 1);
  (void)mps_arena_busy(arena);
  (void)mps_collections(arena);
  (void)mps_arena_has_addr(arena, table[0]);
  errno = saved;
}

/* Format methods are where a collection can be interrupted for sure. */
static mps_res_t interrupted_scan(mps_ss_t ss, mps_addr_t base,
                                  mps_addr_t limit) {
  static int turn;
  if (++turn % 15 == 0)
    (void)raise(SIGUSR1);
  return obj_scan(ss, base, limit);
}

static void interrupting_heap(void) {
  heap_start_with(mps_class_amc(), interrupted_scan);
  handler_ap = point(pool);
  REQUIRE(mps_pool_create_k(&handler_manual, arena, mps_class_mvff(),
                            mps_args_none) == MPS_RES_OK);
}

START_TEST(test_signal_in_collection) {
  struct sigaction action = {.sa_handler = handler};
  interrupting_heap();
  ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
  for (size_t i = 0; i < 30000; ++i) {
    table[i % 200] = numbered(i);
    *obj_ref(table[i % 200], 1) = table[(i + 77) % 200];
  }
  collect();
  ck_assert_uint_gt(handled, 10);
  ck_assert_uint_gt(refused, 0);
  for (size_t i = 30000 - 199; i < 30000; ++i)
    if (i % 200 != 0)
      ck_assert_uint_eq(number_of(table[i % 200]), i);
  mps_arena_park(arena);
  (void)signal(SIGUSR1, SIG_IGN);
  mps_ap_destroy(handler_ap);
  mps_pool_destroy(handler_manual);
  heap_stop();
}
END_TEST

/* Signals from a timer, at any moment; each is asked for when the one before
   was handled, however long that took. */
static void timer_handler(int signal) {
  handler(signal);
  (void)ualarm(300, 0);
}

START_TEST(test_signal_anywhere) {
  struct sigaction action = {.sa_handler = timer_handler,
                             .sa_flags = SA_RESTART};
  mps_root_t stack;
  heap_start(mps_class_amc());
  /* The handler may collect while what it interrupted holds references in
     registers, which the kernel saved on this stack, or in variables of this
     very function. */
  ck_assert_int_eq(mps_root_create_thread(&stack, arena, thr, FRAME_COLD()),
                   MPS_RES_OK);
  handler_ap = point(pool);
  ck_assert_int_eq(mps_pool_create_k(&handler_manual, arena, mps_class_mvff(),
                                     mps_args_none),
                   MPS_RES_OK);
  table[0] = NULL;
  ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
  (void)ualarm(300, 0);
  for (int i = 0; i < 30 || handled == 0; ++i) {
    for (size_t j = 0; j < 3000; ++j) {
      /* Not an object that the handler could see half made. */
      table[1 + j % 200] = numbered(j);
      *obj_ref(table[1 + j % 200], 1) = table[1 + (j + 77) % 200];
    }
    (void)mps_arena_start_collect(arena);
  }
  /* Ignored first: one that comes as the timer is stopped would set it anew,
     and be heard when the point is gone. */
  (void)signal(SIGALRM, SIG_IGN);
  (void)ualarm(0, 0);
  ck_assert_uint_gt(handled, 0);
  mps_root_destroy(stack);
  mps_arena_park(arena);
  mps_ap_destroy(handler_ap);
  mps_pool_destroy(handler_manual);
  heap_stop();
}
END_TEST

/* ---- assertions ---- */

static void failing_handler(const char *file, unsigned line,
                            const char *text) {
  mps_pool_t found;
  (void)file, (void)line, (void)text;
  mps_arena_postmortem(arena);
  /* Everything can be looked at. */
  for (size_t i = 0; i < 200; ++i)
    if (table[i] == NULL || obj_size(table[i]) < WORD)
      suite_leave(1);
  if (mps_arena_busy(arena) || !mps_addr_pool(&found, arena, table[0]) ||
      found != pool || mps_arena_committed(arena) == 0)
    suite_leave(2);
  suite_leave(42);
}

static mps_res_t failing_scan(mps_ss_t ss, mps_addr_t base, mps_addr_t limit) {
  static int turn;
  if (++turn == 20)
    mps_lib_assert_fail(__FILE__, __LINE__, "in the middle");
  return obj_scan(ss, base, limit);
}

START_TEST(test_postmortem) {
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    mps_fmt_t f;
    mps_pool_t p;
    mps_ap_t q;
    heap_start(mps_class_amc());
    f = obj_format_with(failing_scan);
    MPS_ARGS_BEGIN(args) {
      MPS_ARGS_ADD(args, MPS_KEY_FORMAT, f);
      REQUIRE(mps_pool_create_k(&p, arena, mps_class_amc(), args) ==
              MPS_RES_OK);
    }
    MPS_ARGS_END(args);
    q = point(p);
    mps_arena_park(arena);
    for (size_t i = 0; i < 200; ++i)
      table[i] = numbered(i);
    for (size_t i = 200; i < ROOTS; ++i)
      table[i] = obj_on(q, OBJ_NODE, 300);
    (void)mps_lib_assert_fail_install(failing_handler);
    (void)mps_arena_collect(arena);
    suite_leave(3);
  }
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  ck_assert(WIFEXITED(status));
  ck_assert_int_eq(WEXITSTATUS(status), 42);
}
END_TEST

/* Without anybody being inside. */
START_TEST(test_postmortem_at_rest) {
  mps_pool_t found;
  heap_start(mps_class_amc());
  table[0] = numbered(8);
  for (int i = 0; i < 5; ++i)
    collect();
  (void)mps_arena_start_collect(arena);
  mps_arena_postmortem(arena);
  mps_arena_postmortem(arena);
  ck_assert_uint_eq(number_of(table[0]), 8);
  ck_assert(mps_addr_pool(&found, arena, table[0]));
  ck_assert_uint_gt(mps_arena_committed(arena), 0);
}
END_TEST

/* Threads that look up addresses without the lock, while the descriptors that
   they meet come, and go back to the system. */
static void *look_up(void *p) {
  size_t n = 0, ours = 0;
  (void)p;
  while (!atomic_load(&ending)) {
    char *at = atomic_load(&looked_up);
    mps_pool_t found;
    mps_fmt_t found_fmt;
    ++n;
    if (mps_addr_pool(&found, arena, at + n % 512 * 65536)) {
      REQUIRE(found == pool);
      ++ours;
    }
    if (mps_addr_fmt(&found_fmt, arena, at))
      REQUIRE(found_fmt == fmt);
  }
  atomic_fetch_add(&rounds, ours);
  return NULL;
}

START_TEST(test_look_up) {
  pthread_t threads[2];
  size_t objects = suite_size(suite_slow() ? 20000 : 100000, 2000);
  heap_start(mps_class_ams());
  mps_arena_spare_set(arena, 0.0);
  atomic_store(&ending, false);
  atomic_store(&rounds, 0);
  atomic_store(&looked_up, (char *)node(1));
  for (int i = 0; i < 2; ++i)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, look_up, NULL), 0);
  for (int round = 0; round < 20; ++round) {
    size_t slabs;
    push_nodes(0, objects);
    atomic_store(&looked_up, (char *)table[0]);
    slabs = arena->control.slabs;
    table[0] = NULL;
    collect();
    mps_arena_spare_set(arena, 0.0);
    ck_assert_uint_le(arena->control.slabs, slabs);
  }
  atomic_store(&ending, true);
  for (int i = 0; i < 2; ++i)
    ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
  ck_assert_uint_gt(atomic_load(&rounds), 0);
  heap_stop();
}
END_TEST

SUITE_LOOPS_MAIN("thread", 60, {test_blocked, 1}, {test_exit_registered, 1},
                 {test_many_descriptors, 1}, {test_deregister_other, 1},
                 {test_arenas, 1}, {test_cancelled, 3},
                 {test_cancelled_arenas, 2}, {test_signal_in_collection, 1},
                 {test_signal_anywhere, 1}, {test_postmortem, 1},
                 {test_postmortem_at_rest, 1}, {test_allocate_and_mutate, 2},
                 {test_walk_what_others_allocate, 5}, {test_walk_alone, 3},
                 {test_look_up, 1})
