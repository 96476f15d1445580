/* Testudo: tests of signal handlers that call the library on a thread that
   they interrupted inside it, and of what the library calls doing so
   (interface, sections 1.9, 7 and 11.16).
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "test/objects.h"
#include "mpscams.h"
#include "mpscawl.h"
#include "mpscmfs.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
#include "test/suite.h"

enum { STACK = 1 << 16 };

/* The thread sanitizer runs handlers without the kernel's record of what was
   interrupted: then every callback is taken for a handler. */
#if defined(__SANITIZE_THREAD__)
#define KNOWN 0
#else
#define KNOWN !TDO_RASH
#endif

static void (*intrude)(void); /* by a format method, from time to time */
static mps_pool_t manual;
static mps_ap_t handler_ap, quiet_ap;
static mps_addr_t block; /* 64 bytes of the manual pool */
static mps_root_t victim;
static mps_addr_t *victim_table;
static mps_sac_t sac;
static mps_ld_s dependency;
static atomic_size_t intrusions;

static mps_res_t scan_rudely(mps_ss_t ss, mps_addr_t base, mps_addr_t limit) {
  if (intrude != NULL)
    intrude();
  return obj_scan(ss, base, limit);
}

/* As heap_start, but the format intrudes; and what handlers work on. */
static void rude_start(void) {
  mps_sac_class_s classes[] = {{64, 2, 1}};
  heap_start_with(mps_class_amc(), scan_rudely);
  handler_ap = point(pool);
  quiet_ap = point(pool);
  REQUIRE(mps_pool_create_k(&manual, arena, mps_class_mvff(), mps_args_none) ==
          MPS_RES_OK);
  REQUIRE(mps_sac_create(&sac, manual, 1, classes) == MPS_RES_OK);
  mps_ld_reset(&dependency, arena);
}

static void rude_stop(void) {
  intrude = NULL;
  mps_sac_destroy(sac);
  mps_ap_destroy(quiet_ap);
  mps_ap_destroy(handler_ap);
  mps_pool_destroy(manual);
  heap_stop();
}

/* ---- in a handler ---- */

/* Allocation is refused at once. */
static void cannot_allocate(void) {
  mps_addr_t p = &p;
  mps_pool_t made = NULL;
  mps_ap_t made_ap = NULL;
  mps_frame_t frame;
  REQUIRE(obj_try(&p, handler_ap, OBJ_NODE, 2) == MPS_RES_FAIL);
  REQUIRE(mps_alloc(&p, manual, 32) == MPS_RES_FAIL);
  REQUIRE(mps_sac_alloc(&p, sac, 1000, 0) == MPS_RES_FAIL);
  REQUIRE(mps_pool_create_k(&made, arena, mps_class_mvff(), mps_args_none) ==
          MPS_RES_FAIL);
  REQUIRE(mps_ap_create_k(&made_ap, pool, mps_args_none) == MPS_RES_FAIL);
  REQUIRE(mps_ap_frame_push(&frame, quiet_ap) == MPS_RES_FAIL);
  REQUIRE(mps_ap_alloc_pattern_begin(quiet_ap, mps_alloc_pattern_ramp()) ==
          MPS_RES_FAIL);
  REQUIRE(p == &p && made == NULL && made_ap == NULL);
}

/* So is what needs the arena; out-parameters stay. */
static void cannot_change(void) {
  mps_root_t root = NULL;
  mps_thr_t t = NULL;
  mps_message_t message = NULL;
  mps_message_type_t type = 77;
  mps_transform_t transform = NULL;
  mps_addr_t obj = NULL;
  REQUIRE(mps_root_create_table(&root, arena, mps_rank_ambig(), 0, &obj, 1) ==
          MPS_RES_FAIL);
  REQUIRE(mps_thread_reg(&t, arena) == MPS_RES_FAIL);
  REQUIRE(mps_finalize(arena, &table[0]) == MPS_RES_FAIL);
  REQUIRE(mps_definalize(arena, &table[0]) == MPS_RES_FAIL);
  REQUIRE(mps_arena_collect(arena) == MPS_RES_FAIL);
  REQUIRE(mps_arena_start_collect(arena) == MPS_RES_FAIL);
  REQUIRE(mps_arena_commit_limit_set(arena, 1) == MPS_RES_FAIL);
  REQUIRE(mps_transform_create(&transform, arena) == MPS_RES_FAIL);
  REQUIRE(mps_addr_object(&obj, arena, table[0]) == MPS_RES_FAIL);
  REQUIRE(!mps_arena_step(arena, 0.001, 1.0));
  REQUIRE(!mps_message_poll(arena));
  REQUIRE(!mps_message_queue_type(&type, arena));
  REQUIRE(!mps_message_get(&message, arena, mps_message_type_gc()));
  REQUIRE(root == NULL && t == NULL && message == NULL && type == 77 &&
          transform == NULL && obj == NULL);
}

/* Looking works, and touching. */
static void can_look(void) {
  mps_pool_t found;
  mps_fmt_t format;
  mps_ld_s ld;
  REQUIRE(mps_arena_busy(arena));
  REQUIRE(mps_arena_committed(arena) <= mps_arena_reserved(arena));
  REQUIRE(mps_arena_spare_committed(arena) <= mps_arena_committed(arena));
  REQUIRE(mps_arena_commit_limit(arena) == SIZE_MAX);
  REQUIRE(mps_arena_pause_time(arena) >= 0);
  REQUIRE(mps_pool_free_size(pool) <= mps_pool_total_size(pool));
  (void)mps_collections(arena);
  REQUIRE(mps_arena_has_addr(arena, block));
  REQUIRE(mps_addr_pool(&found, arena, block) && found == manual);
  REQUIRE(!mps_addr_fmt(&format, arena, block));
  mps_ld_reset(&ld, arena);
  mps_ld_add(&ld, arena, block);
  (void)mps_ld_isstale(&ld, arena, block);
  for (size_t i = 0; i < 200; ++i)
    if (table[i] != NULL)
      *obj_ref(table[i], 2) = (mps_addr_t)(i << 2 | 1);
  mps_telemetry_flush();
}

/* Giving back is remembered. */
static void can_give_back(void) {
  if (block != NULL)
    mps_free(manual, block, 64);
  block = NULL;
  if (victim != NULL)
    mps_root_destroy(victim);
  victim = NULL;
  if (victim_table != NULL)
    memset(victim_table, 0x11, 4 * sizeof *victim_table); /* as free does */
  mps_arena_clamp(arena);
  mps_arena_release(arena);
}

static void handler(int signal) {
  int saved = errno;
  (void)signal;
  cannot_allocate();
  cannot_change();
  if (block != NULL)
    can_look();
  can_give_back();
  errno = saved;
}

static void send_signal(void) {
  ++intrusions;
  REQUIRE(raise(SIGUSR1) == 0);
}

/* Objects in 200 roots, and in a table of its own; what a handler may take
   away. */
static void furnish(void) {
  for (size_t i = 0; i < 200; ++i) {
    mps_addr_t obj = node(4);
    *obj_ref(obj, 0) = (mps_addr_t)(i << 2 | 1);
    *obj_ref(obj, 1) = table[i];
    table[i] = obj;
  }
  block = alloc(manual, 64);
  victim_table = calloc(4, sizeof *victim_table);
  REQUIRE(mps_root_create_table(&victim, arena, mps_rank_exact(), 0,
                                victim_table, 4) == MPS_RES_OK);
  victim_table[0] = table[0];
}

/* KIND 0: on the thread's stack; 1: on an alternate one. */
START_TEST(in_a_handler) {
  struct sigaction action = {.sa_handler = handler,
                             .sa_flags = _i == 1 ? SA_ONSTACK : 0};
  static char alternate[STACK];
  stack_t stack = {.ss_sp = alternate, .ss_size = STACK};
  size_t before;
  rude_start();
  ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
  ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
  for (int round = 0; round < 5; ++round) {
    intrude = NULL;
    mps_arena_park(arena);
    before = in_use(manual);
    furnish();
    intrude = send_signal;
    REQUIRE(mps_arena_collect(arena) == MPS_RES_OK);
    REQUIRE(mps_arena_collect(arena) == MPS_RES_OK);
    ck_assert_ptr_null(victim);
    free(victim_table);
    victim_table = NULL;
    ck_assert_uint_eq(in_use(manual), before);
    for (size_t i = 0; i < 200; ++i)
      REQUIRE(number_of(table[i]) == i);
    mps_arena_release(arena);
    for (size_t i = 0; i < 5000; ++i)
      (void)numbered(i);
  }
  ck_assert_uint_ge(intrusions, 10);
  ck_assert_uint_eq(asserted_count, 0);
  rude_stop();
}
END_TEST

/* ---- blocks too small for what is remembered of larger ones ---- */

enum { SMALL = 40, SMALL_EACH = 3 };

static mps_pool_t fine; /* aligned to words */
static size_t small_unit; /* bytes of each block; 0: from 1 to SMALL */
static mps_addr_t small[SMALL_EACH * SMALL];

static size_t small_size(size_t i) {
  return small_unit != 0 ? small_unit : i % SMALL + 1;
}

static void free_small(int signal) {
  int saved = errno;
  (void)signal;
  for (size_t i = 0; i < SMALL_EACH * SMALL; ++i) {
    mps_addr_t p = small[i];
    small[i] = NULL;
    if (p != NULL)
      mps_free(fine, p, small_size(i));
  }
  errno = saved;
}

static void fine_start(int i) {
  mps_pool_debug_option_s options = {"fence", 5, "free", 4};
  mps_pool_class_t classes[] = {mps_class_mvff(), mps_class_mvff_debug(),
                                mps_class_mfs(), mps_class_mfs()};
  small_unit = i == 2 ? 1 : i == 3 ? 24 : 0;
  MPS_ARGS_BEGIN(args) {
    if (small_unit != 0)
      MPS_ARGS_ADD(args, MPS_KEY_MFS_UNIT_SIZE, small_unit);
    else
      MPS_ARGS_ADD(args, MPS_KEY_ALIGN, sizeof(void *));
    if (i == 1)
      MPS_ARGS_ADD(args, MPS_KEY_POOL_DEBUG_OPTIONS, &options);
    REQUIRE(mps_pool_create_k(&fine, arena, classes[i], args) == MPS_RES_OK);
  }
  MPS_ARGS_END(args);
}

/* Every one is free again, whatever its size; a block of a debug pool is
   looked at with the size that it was freed with. */
START_TEST(small_blocks) {
  struct sigaction action = {.sa_handler = free_small};
  mps_addr_t kept;
  size_t before, came;
  rude_start();
  fine_start(_i);
  ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
  table[0] = node(1);
  kept = alloc(fine, small_size(0));
  before = in_use(fine);
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < SMALL_EACH * SMALL; ++i)
      small[i] = alloc(fine, small_size(i));
    came = intrusions;
    intrude = send_signal;
    collect();
    intrude = NULL;
    ck_assert_uint_gt(intrusions, came);
    ck_assert_uint_eq(in_use(fine), before);
  }
  ck_assert_uint_eq(asserted_count, 0);
  mps_free(fine, kept, small_size(0));
  ck_assert_uint_eq(in_use(fine), 0);
  mps_pool_destroy(fine);
  rude_stop();
}
END_TEST

/* ---- a foreign fault in the middle ---- */

static char *page;
static atomic_size_t foreign;

static void segv(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  REQUIRE((char *)info->si_addr == page);
  cannot_allocate();
  cannot_change();
  can_look();
  REQUIRE(mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0);
  ++foreign;
}

static void touch_page(void) {
  if (intrusions++ % 5 == 0)
    REQUIRE(mprotect(page, 4096, PROT_NONE) == 0);
  *(volatile char *)page = 1;
}

START_TEST(in_a_fault_handler) {
  struct sigaction action = {.sa_sigaction = segv, .sa_flags = SA_SIGINFO};
  page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
              -1, 0);
  ck_assert(page != MAP_FAILED);
  ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
  rude_start();
  furnish();
  intrude = touch_page;
  collect();
  collect();
  for (size_t i = 0; i < 200; ++i)
    ck_assert_uint_eq(number_of(table[i]), i);
  ck_assert_uint_gt(foreign, 0);
  intrude = NULL;
  mps_root_destroy(victim);
  free(victim_table);
  rude_stop();
}
END_TEST

/* ---- what the library calls ---- */

static void step(mps_addr_t obj, mps_fmt_t f, mps_pool_t p, void *q,
                 size_t s) {
  (void)obj, (void)f, (void)p, (void)q, (void)s;
  intrude();
}

static mps_res_t allocation(void) {
  mps_addr_t p;
  return obj_try(&p, handler_ap, OBJ_NODE, 2);
}

static mps_res_t manual_allocation(void) {
  mps_addr_t p;
  return mps_alloc(&p, manual, 32);
}

static mps_res_t collection(void) {
  return mps_arena_collect(arena);
}

static mps_res_t looking(void) {
  return mps_arena_committed(arena) > 0 ? MPS_RES_FAIL : MPS_RES_OK;
}

static mps_res_t destruction(void) {
  mps_ap_destroy(quiet_ap);
  mps_pool_destroy(pool);
  mps_fmt_destroy(fmt);
  mps_chain_destroy(chain);
  mps_thread_dereg(thr);
  mps_sac_destroy(sac);
  return MPS_RES_FAIL;
}

static mps_res_t (*const mistakes[])(void) = {
    allocation, manual_allocation, collection, looking, destruction};
enum { MISTAKES = sizeof mistakes / sizeof mistakes[0] };

static size_t mistake;

static void be_mistaken(void) {
  if (intrusions++ == 0)
    ck_assert_int_eq(mistakes[mistake](), MPS_RES_FAIL);
}

/* What only the walker of a stack could tell is not reported everywhere. */
static bool reported(void) {
  return KNOWN || (mistakes[mistake] == destruction && !TDO_RASH);
}

/* What barrier hits left on the stack below could pass for an interruption
   of what lies there next. */
static __attribute__((noinline)) void wipe_stack(void) {
  char dead[1 << 17];
  memset(dead, 0, sizeof dead);
  __asm__ volatile("" : : "r"(dead) : "memory");
}

/* Locked functions called from a scan method (in a collection, at a barrier)
   and from a stepper: reported, refused, and no harm is done. */
START_TEST(in_a_callback) {
  mistake = (size_t)_i % MISTAKES;
  rude_start();
  for (size_t i = 0; i < 200; ++i)
    table[i] = numbered(i);
  wipe_stack();
  if (_i < MISTAKES) {
    intrude = be_mistaken;
    ASSERTED_IF(reported(), collect());
  } else {
    mps_arena_park(arena);
    intrude = be_mistaken;
    ASSERTED_IF(reported(),
                mps_arena_formatted_objects_walk(arena, step, NULL, 0));
    mps_arena_release(arena);
  }
  intrude = NULL;
  ck_assert_uint_gt(intrusions, 0);
  for (size_t i = 0; i < 200; ++i)
    ck_assert_uint_eq(number_of(table[i]), i);
  rude_stop();
}
END_TEST

static bool at_barrier;

static void be_mistaken_at_barrier(void) {
  if (at_barrier)
    be_mistaken();
}

START_TEST(in_a_callback_at_a_barrier) {
  mistake = (size_t)_i;
  rude_start();
  mps_arena_park(arena);
  for (size_t i = 0; i < ROOTS; ++i)
    for (int j = 0; j < 30; ++j) {
      mps_addr_t obj = numbered(i);
      *obj_ref(obj, 1) = table[i];
      table[i] = obj;
    }
  for (int i = 0; i < 3; ++i)
    collect();
  intrude = be_mistaken_at_barrier;
  asserted_count = 0;
  for (int round = 0; round < 30 && intrusions == 0; ++round) {
    (void)mps_arena_start_collect(arena);
    at_barrier = true;
    for (size_t i = 0; i < ROOTS; ++i)
      for (mps_addr_t o = table[i]; o != NULL; o = *obj_ref(o, 1))
        REQUIRE(number_of(o) == i);
    at_barrier = false;
    mps_arena_park(arena);
    mps_arena_release(arena);
  }
  intrude = NULL;
  /* Without read bars nothing is scanned there. */
  ck_assert_int_eq(asserted_count > 0, intrusions > 0 && reported());
  asserted_count = 0;
  rude_stop();
}
END_TEST

/* ---- at any moment ---- */

enum { WORKERS = 3, ROUNDS = 40, FEW = 10, KEPT = 100 };

typedef struct worker {
  mps_thr_t thr;
  mps_root_t root, stack;
  mps_ap_t ap, own; /* own: the handler's */
  mps_addr_t kept[KEPT];
  mps_addr_t blocks[KEPT];
  volatile size_t handled, refused;
} worker_t;

static _Thread_local worker_t *volatile me;

static void count(worker_t *w, bool done) {
  if (!done)
    ++w->refused;
}

static void busy_handler(int signal) {
  worker_t *w = me;
  int saved = errno;
  mps_addr_t p, root_word[1] = {NULL};
  mps_root_t root;
  (void)signal;
  suite_handler();
  if (w == NULL)
    return;
  ++w->handled;
  count(w, obj_try(&p, w->own, OBJ_LEAF, 3) == MPS_RES_OK);
  if (mps_alloc(&p, manual, 48) == MPS_RES_OK)
    mps_free(manual, p, 48);
  else
    ++w->refused;
  for (size_t i = 0; i < KEPT; i += 9)
    if (w->blocks[i] != NULL) {
      p = w->blocks[i];
      w->blocks[i] = NULL;
      mps_free(manual, p, 48);
    }
  if (mps_root_create_table(&root, arena, mps_rank_ambig(), 0, root_word, 1) ==
      MPS_RES_OK)
    mps_root_destroy(root);
  else
    ++w->refused;
  if (w->kept[0] != NULL)
    *obj_ref(w->kept[0], 2) = (mps_addr_t)(w->handled << 2 | 1);
  (void)mps_arena_committed(arena);
  (void)mps_message_poll(arena);
  errno = saved;
}

static void worker_start(worker_t *w, void *cold) {
  REQUIRE(mps_thread_reg(&w->thr, arena) == MPS_RES_OK);
  REQUIRE(mps_root_create_thread(&w->stack, arena, w->thr, cold) ==
          MPS_RES_OK);
  REQUIRE(mps_root_create_table(&w->root, arena, mps_rank_exact(), 0, w->kept,
                                KEPT) == MPS_RES_OK);
  w->ap = point(pool);
  w->own = point(pool);
}

static void worker_stop(worker_t *w) {
  mps_ap_destroy(w->own);
  mps_ap_destroy(w->ap);
  mps_root_destroy(w->root);
  mps_root_destroy(w->stack);
  mps_thread_dereg(w->thr);
}

static __attribute__((noinline)) void worker_work(worker_t *w) {
  for (size_t i = 0; i < 2000; ++i) {
    mps_addr_t obj = obj_on(w->ap, OBJ_NODE, 3), b;
    *obj_ref(obj, 0) = (mps_addr_t)(i % KEPT << 2 | 1);
    *obj_ref(obj, 1) = w->kept[(i * 7) % KEPT];
    w->kept[i % KEPT] = obj;
    if (w->blocks[i % KEPT] == NULL &&
        mps_alloc(&b, manual, 48) == MPS_RES_OK)
      w->blocks[i % KEPT] = b;
  }
  for (size_t i = 0; i < KEPT; ++i)
    REQUIRE(number_of(w->kept[i]) == i);
}

static void *worker(void *p) {
  worker_t *w = calloc(1, sizeof *w);
  void *cold = &cold;
  REQUIRE(w != NULL);
  worker_start(w, cold);
  me = w;
  size_t rounds = suite_size(ROUNDS, FEW);
  for (size_t i = 0; i < rounds || (w->handled == 0 && i < 100 * rounds); ++i)
    worker_work(w);
  me = NULL;
  REQUIRE(w->handled > 0 && w->refused <= 3 * w->handled);
  worker_stop(w);
  free(w);
  return p;
}

/* However often this thread is stopped meanwhile: it is not to interrupt the
   others each time that one of them collects. */
static void pause_for(long nanoseconds) {
  struct timespec left = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  while (nanosleep(&left, &left) != 0)
    continue;
}

/* Several threads, each interrupted again and again, wherever it is; less often
   in time, since where handlers take as long as that the threads would not get
   on. */
START_TEST(at_any_moment) {
  struct sigaction action = {.sa_handler = busy_handler,
                             .sa_flags = SA_RESTART};
  pthread_t id[WORKERS];
  size_t running = WORKERS;
  rude_start();
  ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
  for (size_t i = 0; i < WORKERS; ++i)
    ck_assert_int_eq(pthread_create(&id[i], NULL, worker, NULL), 0);
  for (size_t turn = 0; running > 0; ++turn) {
    running = 0;
    for (size_t i = 0; i < WORKERS; ++i)
      if (id[i] != 0 && pthread_tryjoin_np(id[i], NULL) == 0)
        id[i] = 0;
      else if (id[i] != 0) {
        (void)pthread_kill(id[i], SIGUSR1);
        ++running;
      }
    if (turn % 500 == 0)
      (void)mps_arena_start_collect(arena);
    pause_for(100000 + 20 * (long)turn);
  }
  ck_assert_uint_eq(asserted_count, 0);
  rude_stop();
}
END_TEST

/* ---- two arenas ---- */

static mps_arena_t far;
static mps_pool_t far_manual;
static sem_t far_inside, far_go_on;
static mps_res_t far_res;

static atomic_bool signalled;
static bool stays_longer; /* than until the signal came */

static void stay(void) {
  REQUIRE(sem_post(&far_inside) == 0);
  while (!stays_longer && !signalled)
    (void)sched_yield();
  while (stays_longer && sem_wait(&far_go_on) != 0)
    continue;
}

/* A root of the far arena: the thread that collects it stays here. */
static mps_res_t stay_root(mps_ss_t ss, void *p, size_t s) {
  bool *stays = p;
  (void)ss, (void)s;
  if (*stays)
    stay();
  *stays = false;
  return MPS_RES_OK;
}

/* One of the near arena: a signal comes while other threads are stopped. */
static mps_res_t signal_root(mps_ss_t ss, void *p, size_t s) {
  bool *comes = p;
  (void)ss, (void)s;
  if (*comes)
    send_signal();
  *comes = false;
  signalled = true;
  return MPS_RES_OK;
}

static void want_far(int sig) {
  int saved = errno;
  mps_addr_t p;
  (void)sig;
  far_res = mps_alloc(&p, far_manual, 64);
  errno = saved;
}

/* That stops threads itself. */
static void want_stop(int sig) {
  int saved = errno;
  (void)sig;
  far_res = mps_arena_collect(far);
  errno = saved;
}

/* What has no result code to refuse with. */
static void look_far(int sig) {
  int saved = errno;
  tdo_statistics_s s;
  size_t reserved = mps_arena_reserved(far), used = mps_arena_committed(far);
  (void)sig;
  mps_arena_clamp(far);
  mps_arena_release(far);
  tdo_statistics(far, &s);
  if (used > 0 && used <= reserved && mps_arena_spare(far) == 0.75 &&
      mps_pool_free_size(far_manual) <= mps_pool_total_size(far_manual))
    far_res = MPS_RES_FAIL; /* as it is where one is refused */
  errno = saved;
}

static void *idle(void *p) {
  mps_thr_t here, there;
  (void)p;
  REQUIRE(mps_thread_reg(&here, arena) == MPS_RES_OK);
  REQUIRE(mps_thread_reg(&there, far) == MPS_RES_OK);
  stay();
  mps_thread_dereg(there);
  mps_thread_dereg(here);
  return NULL;
}

/* HERE: the near arena stops this thread. */
static void *collect_far(void *here_p) {
  bool stays = true;
  mps_thr_t *here = here_p, there;
  mps_root_t root;
  if (here != NULL)
    REQUIRE(mps_thread_reg(here, arena) == MPS_RES_OK);
  REQUIRE(mps_thread_reg(&there, far) == MPS_RES_OK);
  REQUIRE(mps_root_create(&root, far, mps_rank_exact(), 0, stay_root, &stays,
                          0) == MPS_RES_OK);
  REQUIRE(mps_arena_collect(far) == MPS_RES_OK);
  mps_root_destroy(root);
  mps_thread_dereg(there);
  if (here != NULL)
    mps_thread_dereg(*here);
  return NULL;
}

/* A signal comes to the thread that has stopped the others. Its handler wants
   an arena that one of these is inside of (0), or stops threads for that (1).
   It ran at once, and waited for ever; now it runs when they have been let go.
   Where nothing is stopped (2) it runs at once, and must not wait: who is
   inside the other arena may wait for this one; nor where it only looks (3). */
START_TEST(in_a_stop) {
  struct sigaction action = {.sa_handler = _i == 1   ? want_stop
                                           : _i == 3 ? look_far
                                                     : want_far,
                             .sa_flags = SA_RESTART};
  mps_arena_t near;
  mps_thr_t here;
  mps_fmt_t far_fmt;
  mps_pool_t far_pool;
  mps_ap_t far_ap;
  mps_root_t root;
  bool comes = true;
  pthread_t id;
  rude_start();
  near = arena;
  REQUIRE(sem_init(&far_inside, 0, 0) == 0 && sem_init(&far_go_on, 0, 0) == 0);
  REQUIRE(mps_arena_create_k(&far, mps_arena_class_vm(), mps_args_none) ==
          MPS_RES_OK);
  arena = far;
  far_fmt = obj_format_with(obj_scan);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, far_fmt);
    REQUIRE(mps_pool_create_k(&far_pool, far, mps_class_amc(), args) ==
            MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  far_ap = point(far_pool);
  (void)obj_on(far_ap, OBJ_NODE, 2);
  REQUIRE(mps_pool_create_k(&far_manual, far, mps_class_mvff(),
                            mps_args_none) == MPS_RES_OK);
  arena = near;
  REQUIRE(mps_root_create(&root, arena, mps_rank_exact(), 0, signal_root,
                          &comes, 0) == MPS_RES_OK);
  ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
  far_res = MPS_RES_UNIMPL;
  signalled = false;
  stays_longer = _i >= 2;
  ck_assert_int_eq(pthread_create(&id, NULL, _i == 1 ? idle : collect_far,
                                  _i == 0 ? &here : NULL), 0);
  while (sem_wait(&far_inside) != 0)
    continue;
  table[0] = node(1);
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_int_eq(far_res, _i >= 2 ? MPS_RES_FAIL : MPS_RES_OK);
  ck_assert_int_eq(sem_post(&far_go_on), 0);
  ck_assert_int_eq(pthread_join(id, NULL), 0);
  want_far(0);
  ck_assert_int_eq(far_res, MPS_RES_OK);
  mps_root_destroy(root);
  mps_arena_park(far);
  mps_ap_destroy(far_ap);
  mps_pool_destroy(far_manual);
  mps_pool_destroy(far_pool);
  mps_fmt_destroy(far_fmt);
  mps_arena_destroy(far);
  rude_stop();
}
END_TEST

/* ---- between instructions of a reserve ---- */

enum { RESERVED = 64, BETWEEN = 20, HANDLED = 4000 };

static mps_pool_class_t reserving_class(int i) {
  return i == 0 ? mps_class_amc() : i == 1 ? mps_class_ams() : mps_class_awl();
}

/* It allocates on a point of its own, until what is not used has been taken. */
static void allocate_much(int sig) {
  int saved = errno;
  (void)sig;
  for (size_t i = 0; i < suite_size(10 * HANDLED, 200); ++i) {
    mps_addr_t p = obj_on(handler_ap, OBJ_NODE, 6);
    *obj_ref(p, 5) = (mps_addr_t)(i % ROOTS << 2 | 1);
    table[i % ROOTS] = p;
  }
  errno = saved;
}

/* The macro, with a signal when the block was found to fit and is not taken
   yet: all that the library may do to the point is to null its limit. */
static mps_addr_t reserve_interrupted(bool comes) {
  mps_addr_t p = ap->init;
  if ((char *)ap->alloc + RESERVED > (char *)ap->limit) {
    REQUIRE(mps_ap_fill(&p, ap, RESERVED) == MPS_RES_OK);
    return p;
  }
  if (comes)
    REQUIRE(raise(SIGUSR2) == 0);
  ap->alloc = (char *)ap->alloc + RESERVED;
  return p;
}

static void make_interrupted(void) {
  mps_addr_t p;
  bool comes = true;
  do {
    p = reserve_interrupted(comes);
    comes = false;
    memset(p, 0x41, RESERVED);
    *(mps_word_t *)p = RESERVED << 3 | OBJ_NODE;
  } while (!mps_commit(ap, p, RESERVED));
}

START_TEST(in_a_reserve) {
  struct sigaction action = {.sa_handler = allocate_much};
  heap_start(reserving_class(_i));
  mps_arena_spare_set(arena, 0.0);
  handler_ap = point(pool);
  ck_assert_int_eq(sigaction(SIGUSR2, &action, NULL), 0);
  for (size_t round = 0; round < BETWEEN; ++round) {
    make_interrupted();
    for (size_t i = 0; i < ROOTS; ++i)
      REQUIRE(table[i] == NULL ||
              (obj_kind(table[i]) == OBJ_NODE &&
               *obj_ref(table[i], 5) == (mps_addr_t)(i << 2 | 1)));
  }
  ck_assert_uint_gt(statistics().collections, 0);
  mps_ap_destroy(handler_ap);
  heap_stop();
}
END_TEST

SUITE_LOOPS_MAIN("interrupt", 60, {in_a_reserve, 3}, {in_a_handler, 2},
                 {small_blocks, 4}, {in_a_fault_handler, 1},
                 {in_a_callback, 2 * MISTAKES},
                 {in_a_callback_at_a_barrier, MISTAKES}, {at_any_moment, 1},
                 {in_a_stop, 4})
