/* Testudo: several threads against models (test/worlds.h). Each uses worlds of
   its own and shared ones, in one arena or two, in pools of all automatic
   classes; threads come, go, block, fork, are interrupted by signals and govern
   arenas, all at random. What a world should have is known at any moment, and
   so is what should be left of all when the threads are gone.
   SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include "test/worlds_arena.h"

enum {
  MANUALS = 2, /* threads that are not registered */
  BLOCKS = 24,
  STEPS = 12000, /* of all threads together */
  SLOW = 2000,
  FEW = 300
};

static atomic_size_t steps_left, blocked, handled, forks, made;
static atomic_bool ending;
static int pipes[2];
static pthread_mutex_t signalling = PTHREAD_MUTEX_INITIALIZER;

/* The thread sanitizer runs handlers when it likes, and with signals blocked;
   and it is not made for forks of programs with threads. */
static bool tsan(void) {
#if defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

static world_t *any_world(void) {
  size_t side = below(side_count), n = below(3);
  return &worlds[side][n == 0 ? THREADS + below(SHARED) : me->no];
}

/* ---- threads come and go ---- */

static mps_res_t new_stack(worker_t *k, size_t side) {
  mps_arena_t arena = sides[side].arena;
  k->tag = (mps_scan_tag_s){TAG_MASK, TAG};
  if (below(2) == 0)
    return mps_root_create_thread_tagged(
        &k->stack[side], arena, mps_rank_ambig(), 0, k->thr[side],
        mps_scan_area_tagged_or_zero, TAG_MASK, TAG, k->cold);
  return mps_root_create_thread_scanned(&k->stack[side], arena,
                                        mps_rank_ambig(), 0, k->thr[side],
                                        mps_scan_area_masked, &k->tag, k->cold);
}

static void enter(worker_t *k) {
  for (size_t side = 0; side < side_count; ++side) {
    RETRY(mps_thread_reg(&k->thr[side], sides[side].arena));
    RETRY(new_stack(k, side));
  }
  k->registered = true;
}

static void leave(worker_t *k) {
  for (size_t side = 0; side < side_count; ++side) {
    mps_root_destroy(k->stack[side]);
    mps_thread_dereg(k->thr[side]);
  }
  k->registered = false;
}

/* For a moment this thread knows no object. */
static void do_again(void) {
  atomic_store(&me->ready, false);
  leave(me);
  if (below(2) == 0)
    (void)sched_yield();
  enter(me);
  atomic_store(&me->ready, true);
}

static void do_block(void) {
  char c = 0;
  ssize_t n;
  ++blocked;
  errno = 77;
  n = read(pipes[0], &c, 1);
  REQUIRE(n == 1 && c == 'x' && errno == 77);
}

/* ---- handlers ---- */

static void handler(int signal) {
  worker_t *k = me;
  int saved = errno;
  volatile mps_word_t *p;
  mps_addr_t obj, block;
  mps_root_t root;
  (void)signal;
  suite_handler();
  if (k == NULL || !atomic_load(&k->ready)) {
    errno = saved;
    return;
  }
  ++handled;
  do {
    enum { WORDS = LEAD + 6 };
    if (mps_reserve(&obj, k->handler_ap, WORDS * WORD) != MPS_RES_OK)
      break;
    write_object(obj, LEAF, WORDS, 0);
    if (mps_commit(k->handler_ap, obj, WORDS * WORD)) {
      k->hints[handled % HINTS] = (mps_word_t)obj;
      break;
    }
  } while (true);
  p = (volatile mps_word_t *)k->hints[(handled * 7) % HINTS];
  if (p != NULL) {
    REQUIRE(head_what(p[0]) == OBJECT && p[1] == ~p[0]);
    p[LEAD + 2] = p[LEAD + 1];
    REQUIRE(mps_arena_has_addr(sides[0].arena, (mps_addr_t)p));
  }
  if (mps_alloc(&block, sides[0].manual, 48) == MPS_RES_OK)
    mps_free(sides[0].manual, block, 48);
  if (handled % 8 == 0 &&
      mps_root_create_table(&root, sides[0].arena, mps_rank_ambig(), 0,
                            (mps_addr_t *)k->more_hints, 1) == MPS_RES_OK) {
    k->more_hints[0] = (mps_word_t)p;
    mps_root_destroy(root);
  }
  errno = saved;
}

static void *signaller(void *unused) {
  seed = 12345;
  (void)unused;
  while (!atomic_load(&ending)) {
    (void)usleep(50 + (useconds_t)below(1000));
    REQUIRE(pthread_mutex_lock(&signalling) == 0);
    worker_t *k = &workers[below(THREADS)];
    if (k->running)
      (void)pthread_kill(k->id, below(2) == 0 ? SIGUSR1 : SIGUSR2);
    REQUIRE(pthread_mutex_unlock(&signalling) == 0);
  }
  return NULL;
}

/* ---- threads that are not registered ---- */

static mps_res_t manual_alloc(mps_addr_t *p_o, const mps_pool_t pools[3],
                              size_t from, mps_ap_t temporal, size_t size) {
  mps_res_t res;
  if (from < 2)
    return mps_alloc(p_o, pools[from], size);
  do
    res = mps_reserve(p_o, temporal, size);
  while (res == MPS_RES_OK && !mps_commit(temporal, *p_o, size));
  return res;
}

static void use_manual(void) {
  static const size_t units = ALL_SLOTS * WORD;
  unsigned char *block[BLOCKS] = {NULL};
  size_t size[BLOCKS] = {0}, from[BLOCKS] = {0};
  mps_ap_t temporal[SIDES];
  for (size_t i = 0; i < side_count; ++i)
    RETRY(mps_ap_create_k(&temporal[i], sides[i].temporal, mps_args_none));
  for (size_t n = suite_size(2000, 100); n > 0; --n) {
    size_t e = below(BLOCKS);
    side_t *side = &sides[e % side_count];
    mps_pool_t pools[] = {side->manual, side->units, side->temporal};
    mps_addr_t p;
    if (block[e] != NULL) {
      REQUIRE(block[e][0] == (unsigned char)e &&
              block[e][size[e] - 1] == (unsigned char)e);
      mps_free(pools[from[e]], block[e], size[e]);
      block[e] = NULL;
      continue;
    }
    from[e] = below(3);
    size[e] = from[e] == 1 ? units
                           : WORD * (1 + below(below(9) == 0 ? 4000 : 40));
    if (manual_alloc(&p, pools, from[e], temporal[e % side_count], size[e]) !=
        MPS_RES_OK) {
      ++refused;
      continue;
    }
    memset(p, (int)e, size[e]);
    block[e] = p;
  }
  for (size_t e = 0; e < BLOCKS; ++e) {
    side_t *side = &sides[e % side_count];
    mps_pool_t pools[] = {side->manual, side->units, side->temporal};
    if (block[e] != NULL)
      mps_free(pools[from[e]], block[e], size[e]);
  }
  for (size_t i = 0; i < side_count; ++i)
    mps_ap_destroy(temporal[i]);
}

static void use_cache(size_t n) {
  static mps_sac_class_s classes[] = {{16, 8, 1}, {64, 8, 3}, {256, 4, 1}};
  mps_sac_t sac;
  mps_addr_t p[50];
  size_t count = 0;
  if (mps_sac_create(&sac, sides[n].manual, 3, classes) != MPS_RES_OK) {
    ++refused;
    return;
  }
  for (size_t i = 0; i < 500; ++i) {
    if (count < 50 && below(2) == 0) {
      mps_res_t res;
      MPS_SAC_ALLOC_FAST(res, p[count], sac, 60, 0);
      if (res == MPS_RES_OK)
        memset(p[count++], 7, 60);
    } else if (count > 0) {
      --count;
      REQUIRE(((char *)p[count])[59] == 7);
      MPS_SAC_FREE_FAST(sac, p[count], 60);
    }
  }
  while (count > 0)
    mps_sac_free(sac, p[--count], 60);
  mps_sac_destroy(sac);
}

/* An arena of this thread's own. */
static TDO_NOINLINE void use_arena(void *cold) {
  mps_arena_t arena;
  mps_fmt_t format;
  mps_pool_t pool;
  mps_ap_t ap;
  mps_thr_t thr;
  mps_root_t root, stack;
  volatile mps_word_t *top = calloc(1, WORD);
  REQUIRE(top != NULL);
  REQUIRE(mps_arena_create_k(&arena, mps_arena_class_vm(), mps_args_none) ==
          MPS_RES_OK);
  REQUIRE(mps_thread_reg(&thr, arena) == MPS_RES_OK);
  REQUIRE(mps_root_create_thread(&stack, arena, thr, cold) == MPS_RES_OK);
  REQUIRE(new_format(&format, arena) == MPS_RES_OK);
  REQUIRE(new_pool(&pool, arena, AMC, format, NULL) == MPS_RES_OK);
  REQUIRE(new_point(&ap, pool, mps_rank_exact()) == MPS_RES_OK);
  REQUIRE(mps_root_create_table(&root, arena, mps_rank_exact(), 0,
                                (mps_addr_t *)top, 1) == MPS_RES_OK);
  fill_passing(ap, top);
  (void)mps_arena_collect(arena);
  mps_root_destroy(root);
  mps_root_destroy(stack);
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  mps_fmt_destroy(format);
  mps_thread_dereg(thr);
  mps_arena_destroy(arena);
  free((void *)top);
  ++made;
}

static void *manual_main(void *p) {
  seed = (uint64_t)(uintptr_t)p;
  while (!atomic_load(&ending)) {
    use_manual();
    use_cache(below(side_count));
    do_govern(below(side_count));
    if (below(4) == 0)
      use_arena(FRAME_COLD());
    (void)usleep(200);
  }
  return NULL;
}

/* ---- forks ---- */

static void step_world(world_t *w);

static void lock_all(void (*each)(world_t *)) {
  for (size_t side = 0; side < side_count; ++side)
    for (size_t i = 0; i < WORLDS; ++i)
      each(&worlds[side][i]);
}

static void lock_controls(bool locks) {
  for (size_t side = 0; side < side_count; ++side)
    REQUIRE((locks ? pthread_rwlock_wrlock(&sides[side].control)
                   : pthread_rwlock_unlock(&sides[side].control)) == 0);
}

/* The child has this thread only, and all worlds. */
static void go_on_in_child(void) {
  alone = true;
  for (size_t side = 0; side < side_count; ++side)
    mps_arena_release(sides[side].arena);
  for (size_t n = suite_size(400, 10); n > 0; --n) {
    size_t side = below(side_count);
    world_t *w = &worlds[side][below(WORLDS)];
    step_world(w);
    if (below(20) == 0)
      govern(sides[side].arena);
    if (below(30) == 0)
      do_messages(sides[side].arena, true);
  }
  for (size_t side = 0; side < side_count; ++side) {
    mps_arena_park(sides[side].arena);
    (void)mps_arena_collect(sides[side].arena);
    tdo_arena_check(sides[side].arena);
    for (size_t i = 0; i < WORLDS; ++i)
      compare(&worlds[side][i], false);
  }
  suite_leave(asserted_count == 0 ? 42 : 43);
}

static void do_fork(void) {
  pid_t child;
  int status;
  if (tsan())
    return;
  lock_all(lock);
  lock_controls(true);
  child = fork();
  REQUIRE(child >= 0);
  if (child == 0)
    go_on_in_child();
  lock_controls(false);
  lock_all(unlock);
  while (waitpid(child, &status, 0) < 0)
    REQUIRE(errno == EINTR);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 42);
  ++forks;
}

/* ---- all together ---- */

static const struct {
  size_t weight;
  void (*run)(world_t *);
} operations[] = {
    {3000, do_make},   {100, do_litter},     {100, do_region},
    {3000, do_store},  {1500, do_load},      {400, do_drop},
    {300, do_keys},    {300, do_pairs},      {300, do_weak},
    {200, do_finalize}, {30, do_definalize}, {100, do_depend},
    {200, do_ask},     {40, do_root},        {400, do_stack},
    {60, do_renew_point}, {30, do_ramp},     {8, do_walk},
};

static void step_world(world_t *w) {
  enum { N = sizeof operations / sizeof operations[0] };
  size_t all = 0, n, i;
  for (i = 0; i < N; ++i)
    all += operations[i].weight;
  n = below(all);
  for (i = 0; n >= operations[i].weight; ++i)
    n -= operations[i].weight;
  operations[i].run(w);
  thin(w);
}

static void step(void) {
  size_t n = below(5000);
  if (n < 100) {
    do_govern(below(side_count));
  } else if (n < 150) {
    do_messages(sides[below(side_count)].arena, false);
  } else if (n < 155) {
    do_passing(below(side_count));
  } else if (n < 160) {
    do_again();
  } else if (n < 170) {
    do_block();
  } else if (n < 171) {
    do_fork();
  } else {
    world_t *w = any_world();
    lock(w);
    for (size_t i = 1 + below(8); i > 0; --i)
      step_world(w);
    unlock(w);
  }
}

static void open_points(worker_t *k) {
  for (size_t side = 0; side < side_count; ++side)
    for (size_t place = 0; place < PLACES; ++place)
      RETRY(new_point(&k->ap[side][place], sides[side].pool[pool_at[place]],
                      rank_at(place)));
  RETRY(new_point(&k->handler_ap, sides[0].pool[AMC], mps_rank_exact()));
  RETRY(mps_root_create_table(&k->hints_root, sides[0].arena,
                              mps_rank_ambig(), 0, (mps_addr_t *)k->hints,
                              HINTS));
}

/* By any thread, when K handles no more signals. */
static void close_points(worker_t *k) {
  for (size_t side = 0; side < side_count; ++side) {
    world_t *w = &worlds[side][k->no];
    lock(w);
    pop_objects(k, side, 0);
    k->frames[side] = 0;
    for (size_t place = 0; place < PLACES; ++place)
      mps_ap_destroy(k->ap[side][place]);
    unlock(w);
  }
  mps_root_destroy(k->hints_root);
  memset((void *)k->hints, 0, sizeof k->hints);
  mps_ap_destroy(k->handler_ap);
}

static TDO_NOINLINE void work(worker_t *k) {
  while (k->steps-- > 0 && atomic_load(&steps_left) > 0) {
    (void)atomic_fetch_sub(&steps_left, 1);
    step();
  }
}

static void *worker_main(void *arg) {
  static _Thread_local char alternate[65536];
  worker_t *k = arg;
  stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate}, old;
  me = k;
  seed = k->seed;
  k->cold = FRAME_COLD();
  if (k->alternate)
    REQUIRE(sigaltstack(&stack, &old) == 0);
  enter(k);
  open_points(k);
  atomic_store(&k->ready, true);
  work(k);
  atomic_store(&k->ready, false);
  k->seed = seed;
  REQUIRE(pthread_mutex_lock(&signalling) == 0);
  k->running = false;
  REQUIRE(pthread_mutex_unlock(&signalling) == 0);
  if (below(6) != 0) { /* else who joins it does that */
    close_points(k);
    leave(k);
  }
  if (k->alternate)
    REQUIRE(sigaltstack(&old, NULL) == 0);
  return NULL;
}

static void start_worker(worker_t *k) {
  k->steps = suite_size(500 + random_below(10000), 50);
  k->alternate = random_below(2) == 0;
  REQUIRE(pthread_mutex_lock(&signalling) == 0);
  k->running = true;
  REQUIRE(pthread_create(&k->id, NULL, worker_main, k) == 0);
  REQUIRE(pthread_mutex_unlock(&signalling) == 0);
}

static void join_worker(worker_t *k) {
  REQUIRE(pthread_join(k->id, NULL) == 0);
  if (k->registered) {
    close_points(k);
    leave(k);
  }
}

static bool is_running(worker_t *k) {
  bool is;
  REQUIRE(pthread_mutex_lock(&signalling) == 0);
  is = k->running;
  REQUIRE(pthread_mutex_unlock(&signalling) == 0);
  return is;
}

static void serve_blocked(void) {
  while (atomic_load(&blocked) > 0) {
    --blocked;
    REQUIRE(write(pipes[1], "x", 1) == 1);
  }
}

static void crew(size_t threads) {
  pthread_t manuals[MANUALS], signals;
  size_t running = threads;
  for (size_t i = 0; i < threads; ++i)
    start_worker(&workers[i]);
  for (size_t i = 0; i < MANUALS; ++i)
    REQUIRE(pthread_create(&manuals[i], NULL, manual_main,
                           (void *)(uintptr_t)random_word()) == 0);
  if (!tsan())
    REQUIRE(pthread_create(&signals, NULL, signaller, NULL) == 0);
  while (running > 0) {
    serve_blocked();
    for (size_t i = 0; i < threads; ++i)
      if (workers[i].id != 0 && !is_running(&workers[i])) {
        join_worker(&workers[i]);
        workers[i].id = 0;
        if (atomic_load(&steps_left) > 0)
          start_worker(&workers[i]);
        else
          --running;
      }
    (void)usleep(500);
  }
  atomic_store(&ending, true);
  for (size_t i = 0; i < MANUALS; ++i)
    REQUIRE(pthread_join(manuals[i], NULL) == 0);
  if (!tsan())
    REQUIRE(pthread_join(signals, NULL) == 0);
}

static void open_side(side_t *side) {
  mps_gen_param_s gens[] = {{64, 0.8}, {400, 0.5}};
  memset(side, 0, sizeof *side);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_GRAIN_SIZE,
                 (size_t)4096 << random_below(4));
    MPS_ARGS_ADD(args, TDO_KEY_SHIELD_QUANTUM, (size_t)4096);
    REQUIRE(mps_arena_create_k(&side->arena, mps_arena_class_vm(), args) ==
            MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  REQUIRE(pthread_rwlock_init(&side->control, NULL) == 0);
  mps_message_type_enable(side->arena, mps_message_type_finalization());
  mps_message_type_enable(side->arena, mps_message_type_gc());
  REQUIRE(mps_chain_create(&side->chain, side->arena, 2, gens) == MPS_RES_OK);
  REQUIRE(new_format(&side->format, side->arena) == MPS_RES_OK);
  for (size_t i = 0; i < POOLS; ++i)
    REQUIRE(new_pool(&side->pool[i], side->arena, i, side->format,
                     i == AMC_NEW || i == LO || i == SNC ? NULL
                                                         : side->chain) ==
            MPS_RES_OK);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_MFS_UNIT_SIZE, (size_t)(ALL_SLOTS * WORD));
    REQUIRE(mps_pool_create_k(&side->units, side->arena, mps_class_mfs(),
                              args) == MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  REQUIRE(mps_pool_create_k(&side->manual, side->arena, mps_class_mvff(),
                            mps_args_none) == MPS_RES_OK);
  REQUIRE(mps_pool_create_k(&side->temporal, side->arena, mps_class_mvt(),
                            mps_args_none) == MPS_RES_OK);
}

static void close_side(side_t *side) {
  mps_arena_park(side->arena);
  mps_pool_destroy(side->temporal);
  mps_pool_destroy(side->manual);
  mps_pool_destroy(side->units);
  for (size_t i = 0; i < POOLS; ++i)
    mps_pool_destroy(side->pool[i]);
  mps_chain_destroy(side->chain);
  mps_fmt_destroy(side->format);
}

static void open_worlds(void) {
  for (size_t side = 0; side < side_count; ++side)
    REQUIRE(mps_root_create_table(&lent_root[side], sides[side].arena,
                                  mps_rank_ambig(), 0,
                                  (mps_addr_t *)lent[side],
                                  WORLDS) == MPS_RES_OK);
  for (size_t side = 0; side < side_count; ++side)
    for (size_t i = 0; i < WORLDS; ++i) {
      world_t *w = &worlds[side][i];
      memset(w, 0, sizeof *w);
      w->side = side;
      REQUIRE(pthread_mutex_init(&w->lock, NULL) == 0);
      do
        do_root(w);
      while (w->word == NULL);
      mps_ld_reset(&w->dependency, arena_of(w));
    }
}

/* The threads are gone. What lives is there, and nothing else. */
static void settle(size_t side) {
  mps_arena_t arena = sides[side].arena;
  for (size_t n = 0; n < 3; ++n) {
    (void)mps_arena_commit_limit_set(arena, SIZE_MAX);
    (void)mps_arena_collect(arena);
    tdo_arena_check(arena);
    for (size_t i = 0; i < WORLDS; ++i)
      compare(&worlds[side][i], true);
    while (mps_message_poll(arena))
      do_messages(arena, true);
    for (size_t i = 0; i < WORLDS; ++i) {
      world_t *w = &worlds[side][i];
      reach(w);
      for (size_t k = 0; k < w->count; ++k)
        REQUIRE(n == 0 || w->objects[k]->registered == 0 ||
                w->objects[k]->level == LIVE);
      forget_dead(w);
    }
  }
}

static void close_world(world_t *w) {
  mps_root_destroy(w->root);
  memset(w->to, 0, sizeof w->to);
  reach(w);
}

static void end_world(world_t *w) {
  reach(w);
  forget_dead(w);
  REQUIRE(w->count == 0);
  free(w->objects);
  free_memory(w->side, w->memory, (mps_word_t *)w->word);
}

static void end_side(size_t side) {
  mps_arena_t arena = sides[side].arena;
  for (size_t n = 0; n < 3; ++n) {
    (void)mps_arena_collect(arena);
    while (mps_message_poll(arena))
      do_messages(arena, true);
  }
  for (size_t i = 0; i < POOLS; ++i)
    REQUIRE(mps_pool_total_size(sides[side].pool[i]) ==
            mps_pool_free_size(sides[side].pool[i]));
}

/* Threads, and arenas. */
static const struct {
  size_t threads, sides;
} runs[] = {{3, 1}, {2, 2}, {5, 2}, {1, 1}};
enum { RUNS = sizeof runs / sizeof runs[0] };

static size_t step_count(void) {
  size_t steps = suite_slow() ? SLOW : suite_varied() ? STEPS / 3 : STEPS;
  return suite_size(steps, FEW);
}

START_TEST(test_worlds) {
  struct sigaction action = {.sa_handler = handler,
                             .sa_flags = SA_RESTART | SA_ONSTACK};
  random_start();
  random_state += (uint64_t)_i << 32;
  (void)sigaddset(&action.sa_mask, SIGUSR1);
  (void)sigaddset(&action.sa_mask, SIGUSR2);
  seed = random_word();
  side_count = runs[_i].sides;
  steps_left = step_count();
  ending = false;
  ck_assert_int_eq(pipe(pipes), 0);
  nowhere = fopen("/dev/null", "w");
  ck_assert_ptr_nonnull(nowhere);
  for (size_t i = 0; i < side_count; ++i)
    open_side(&sides[i]);
  asserted_start();
  open_worlds();
  ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
  action.sa_flags = SA_RESTART;
  ck_assert_int_eq(sigaction(SIGUSR2, &action, NULL), 0);
  for (size_t i = 0; i < THREADS; ++i) {
    workers[i].no = i;
    workers[i].seed = random_word();
  }
  crew(runs[_i].threads);
  for (size_t i = 0; i < side_count; ++i)
    settle(i);
  printf("%zu objects, %zu and %zu moves, %zu handled, %zu finalized, "
         "%zu cleared, %zu found, %zu forks, %zu walks, %zu stale, "
         "%zu passed, %zu refused, %zu transformed, %zu made\n",
         (size_t)last_number, (size_t)mps_collections(sides[0].arena),
         side_count < 2 ? 0 : (size_t)mps_collections(sides[1].arena),
         (size_t)handled, (size_t)finalized, (size_t)cleared, (size_t)found,
         (size_t)forks, (size_t)walks, (size_t)moved, (size_t)passed,
         (size_t)refused, (size_t)transformed, (size_t)made);
  for (size_t side = 0; side < side_count; ++side)
    for (size_t i = 0; i < WORLDS; ++i)
      close_world(&worlds[side][i]);
  for (size_t i = 0; i < side_count; ++i)
    mps_root_destroy(lent_root[i]);
  for (size_t i = 0; i < side_count; ++i)
    end_side(i);
  for (size_t side = 0; side < side_count; ++side)
    for (size_t i = 0; i < WORLDS; ++i)
      end_world(&worlds[side][i]);
  for (size_t i = 0; i < side_count; ++i)
    close_side(&sides[i]);
  for (size_t i = 0; i < side_count; ++i)
    mps_arena_destroy(sides[i].arena);
  (void)fclose(nowhere);
  (void)close(pipes[0]);
  (void)close(pipes[1]);
  asserted_none();
}
END_TEST

SUITE_LOOPS_MAIN("worlds", 60, {test_worlds, RUNS})
