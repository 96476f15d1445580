/* Testudo: what comes and goes, at random: arenas of each class and grain,
   pools of each class, chains, points, roots, threads and children, while
   collections are under way and a timer's handler allocates on whatever thread
   it interrupts. References lead within a pool, or to the arena's first one;
   each object has its number, and that of what it refers to.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "mpsacl.h"
#include "mpscamc.h"
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "mpscmfs.h"
#include "mpscmvff.h"
#include "mpscmvt.h"
#include "test/leaves.h"
#include "test/suite.h"

enum {
  THREADS = 3, /* at most */
  HOMES = 3,   /* arenas */
  POOLS = 6,   /* of each thread in each arena, the first for good */
  SLOTS = 200, /* objects of each thread in each arena */
  NEW = 8,     /* objects of a transform */
  BLOCKS = 40, /* of a manual pool */
  STEPS = 400000,
  SLOW = 30000,
  FEW = 1500,
  MILLI = 1000 /* microseconds */
};

typedef struct home {
  mps_arena_t arena;
  mps_fmt_t format;
  void *memory; /* a client's */
} home_t;

static home_t homes[HOMES];

typedef struct room { /* a pool */
  mps_pool_t pool;      /* null: none */
  mps_chain_t chain;    /* its own, or null */
  mps_ap_t ap;          /* of a collected one */
  bool leaves;
  unsigned char *block[BLOCKS]; /* of a manual one */
  size_t bytes[BLOCKS];
} room_t;

/* What a thread has in an arena. */
typedef struct part {
  mps_thr_t thr;
  mps_root_t stack, slots_root;
  room_t rooms[POOLS];
  node_t **slots;         /* a root: objects, those of a transform, */
  unsigned number[SLOTS]; /* that of the handler */
  unsigned char where[SLOTS];
  mps_ap_t handler_ap;
} part_t;

typedef struct worker {
  pthread_t id;
  size_t no;
  uint64_t seed, handler_seed;
  bool alone;
  void *cold;
  part_t parts[HOMES];
} worker_t;

static worker_t workers[THREADS];
static _Thread_local worker_t *self; /* null: the handler does nothing */
static atomic_uint last_number;
static atomic_size_t handled, refused, transformed, children, visitors, pools,
    arenas;

static size_t below(worker_t *w, size_t n) {
  return (size_t)(random_next(&w->seed) % n);
}

/* ---- objects ---- */

static void check_object(const node_t *p, unsigned number) {
  REQUIRE((p == NULL) == (number == 0));
  for (unsigned depth = 0; p != NULL && depth < 4; ++depth) {
    REQUIRE(p->word[0] == tag(number));
    if (node_kind(p) == LEAF) {
      check_leaf(p, number);
      break;
    }
    REQUIRE(node_kind(p) == NODE);
    number = tagged(p->word[2]);
    p = p->word[1];
    REQUIRE((p == NULL) == (number == 0));
  }
}

static void replace(worker_t *w, part_t *part, size_t i) {
  size_t r = below(w, POOLS), other = below(w, SLOTS);
  size_t slots = 3 + below(w, below(w, 60) == 0 ? 3000 : 8);
  room_t *room = &part->rooms[r];
  unsigned number;
  node_t *p;

  if (room->ap == NULL)
    return;
  number = ++last_number;
  if (room->leaves)
    p = try_make_leaf(room->ap, slots, number);
  else if ((p = try_make(room->ap, NODE, slots)) != NULL) {
    bool leads = part->where[other] == r || part->where[other] == 0;
    p->word[0] = tag(number);
    p->word[1] = leads ? part->slots[other] : NULL;
    p->word[2] = tag(leads ? part->number[other] : 0);
  }
  if (p == NULL) {
    ++refused;
    return;
  }
  part->slots[i] = p;
  part->number[i] = number;
  part->where[i] = (unsigned char)r;
}

static void drop(part_t *part, size_t i) {
  part->slots[i] = NULL;
  part->number[i] = 0;
  part->where[i] = 0;
}

static void copy_reference(part_t *part, size_t i, size_t j) {
  part->slots[i] = part->slots[j];
  part->number[i] = part->number[j];
  part->where[i] = part->where[j];
}

static void check_part(const part_t *part) {
  for (size_t i = 0; i < SLOTS; ++i)
    check_object(part->slots[i], part->number[i]);
}

/* ---- pools ---- */

static mps_chain_t new_chain(worker_t *w, mps_arena_t in) {
  mps_gen_param_s gens[3];
  mps_chain_t new;
  size_t n = 1 + below(w, 3);
  for (size_t i = 0; i < n; ++i)
    gens[i] = (mps_gen_param_s){50 + below(w, 2000), 0.5};
  return mps_chain_create(&new, in, n, gens) == MPS_RES_OK ? new : NULL;
}

static mps_pool_class_t collected_class(size_t which) {
  switch (which) {
  case 0:
    return mps_class_amc();
  case 1:
    return mps_class_ams();
  case 2:
    return mps_class_awl();
  case 3:
    return mps_class_amcz();
  default:
    return mps_class_lo();
  }
}

/* The first room has a pool of class AMC. */
static void open_collected(worker_t *w, home_t *home, room_t *room,
                           bool first) {
  size_t which = first ? 0 : below(w, 5);
  mps_res_t res;
  room->leaves = which > 2;
  room->chain = below(w, 2) == 0 ? new_chain(w, home->arena) : NULL;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, home->format);
    if (room->chain != NULL)
      MPS_ARGS_ADD(args, MPS_KEY_CHAIN, room->chain);
    res = mps_pool_create_k(&room->pool, home->arena, collected_class(which),
                            args);
  }
  MPS_ARGS_END(args);
  if (res == MPS_RES_OK &&
      mps_ap_create_k(&room->ap, room->pool, mps_args_none) == MPS_RES_OK)
    return;
  if (res == MPS_RES_OK)
    mps_pool_destroy(room->pool);
  if (room->chain != NULL)
    mps_chain_destroy(room->chain);
  memset(room, 0, sizeof *room);
  ++refused;
}

static void open_manual(worker_t *w, home_t *home, room_t *room) {
  mps_pool_class_t classes[] = {mps_class_mvff(), mps_class_mvt(),
                                mps_class_mfs()};
  size_t which = below(w, 3);
  mps_res_t res;
  MPS_ARGS_BEGIN(args) {
    if (which == 2)
      MPS_ARGS_ADD(args, MPS_KEY_MFS_UNIT_SIZE, 64);
    res = mps_pool_create_k(&room->pool, home->arena, classes[which], args);
  }
  MPS_ARGS_END(args);
  if (res != MPS_RES_OK) {
    memset(room, 0, sizeof *room);
    ++refused;
    return;
  }
  if (which == 1) /* allocates by points only: its blocks go with it */
    (void)mps_ap_create_k(&room->ap, room->pool, mps_args_none);
  for (size_t i = 0; i < BLOCKS && which != 1; ++i) {
    size_t size = which == 2 ? 64 : 8 + below(w, 20000);
    mps_addr_t p;
    if (mps_alloc(&p, room->pool, size) != MPS_RES_OK)
      continue;
    room->block[i] = p;
    room->bytes[i] = size;
    memset(p, (int)i, size);
  }
  if (which == 1 && room->ap != NULL) {
    for (size_t i = 0; i < BLOCKS; ++i)
      refused += try_make_leaf(room->ap, 3 + below(w, 500), 1) == NULL;
    mps_ap_destroy(room->ap);
    room->ap = NULL;
  }
}

static void open_room(worker_t *w, home_t *home, room_t *room, bool first) {
  memset(room, 0, sizeof *room);
  ++pools;
  if (first || below(w, 3) > 0)
    open_collected(w, home, room, first);
  else
    open_manual(w, home, room);
}

/* No reference leads into the room from another one. */
static void close_room(part_t *part, size_t r) {
  room_t *room = &part->rooms[r];
  if (room->pool == NULL)
    return;
  for (size_t i = 0; i < SLOTS; ++i)
    if (part->slots[i] != NULL && part->where[i] == r)
      drop(part, i);
  for (size_t i = 0; i < BLOCKS; ++i) {
    if (room->block[i] == NULL)
      continue;
    REQUIRE(room->block[i][0] == (unsigned char)i &&
            room->block[i][room->bytes[i] - 1] == (unsigned char)i);
    if (i % 2 == 0) /* the rest goes with the pool */
      mps_free(room->pool, room->block[i], room->bytes[i]);
  }
  if (room->ap != NULL)
    mps_ap_destroy(room->ap);
  mps_pool_destroy(room->pool);
  if (room->chain != NULL)
    mps_chain_destroy(room->chain);
  memset(room, 0, sizeof *room);
}

static void renew_point(room_t *room) {
  if (room->ap == NULL)
    return;
  mps_ap_destroy(room->ap);
  while (mps_ap_create_k(&room->ap, room->pool, mps_args_none) != MPS_RES_OK)
    ++refused;
}

/* ---- arenas, and what threads have in them ---- */

static void hold_signals(bool held) {
  sigset_t set;
  (void)sigemptyset(&set);
  (void)sigaddset(&set, SIGALRM);
  REQUIRE(pthread_sigmask(held ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL) == 0);
}

/* What the library blocks it lets come again. */
static void check_signals(void) {
  sigset_t now;
  REQUIRE(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
  REQUIRE(!sigismember(&now, SIGALRM));
}

static void open_part(worker_t *w, size_t h) {
  part_t *part = &w->parts[h];
  home_t *home = &homes[h];
  memset(part, 0, sizeof *part);
  part->slots = calloc(SLOTS + NEW + 1, sizeof *part->slots);
  REQUIRE(part->slots != NULL);
  REQUIRE(mps_thread_reg(&part->thr, home->arena) == MPS_RES_OK);
  REQUIRE(mps_root_create_thread(&part->stack, home->arena, part->thr,
                                 w->cold) == MPS_RES_OK);
  REQUIRE(mps_root_create_table(&part->slots_root, home->arena,
                                mps_rank_exact(), 0,
                                (mps_addr_t *)part->slots,
                                SLOTS + NEW + 1) == MPS_RES_OK);
  while (part->rooms[0].pool == NULL)
    open_room(w, home, &part->rooms[0], true);
  REQUIRE(mps_ap_create_k(&part->handler_ap, part->rooms[0].pool,
                          mps_args_none) == MPS_RES_OK);
}

static void close_part(worker_t *w, size_t h) {
  part_t *part = &w->parts[h];
  check_part(part);
  memset(part->slots, 0, (SLOTS + NEW + 1) * sizeof *part->slots);
  memset(part->number, 0, sizeof part->number);
  mps_ap_destroy(part->handler_ap);
  for (size_t r = POOLS; r-- > 0;)
    close_room(part, r);
  mps_root_destroy(part->slots_root);
  mps_root_destroy(part->stack);
  mps_thread_dereg(part->thr);
  free(part->slots);
  memset(part, 0, sizeof *part);
}

static void open_home(uint64_t *seed, home_t *home) {
  enum { MEMORY = 48 << 20 };
  size_t grain = (size_t)4096 << random_next(seed) % 6;
  bool clients = random_next(seed) % 4 == 0;
  home->memory = clients ? malloc(MEMORY) : NULL;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_GRAIN_SIZE, grain);
    MPS_ARGS_ADD(args, MPS_KEY_PAUSE_TIME,
                 (double)(random_next(seed) % 3) * 0.001);
    if (clients) {
      MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, MEMORY);
      MPS_ARGS_ADD(args, MPS_KEY_ARENA_CL_BASE, home->memory);
    }
    REQUIRE(mps_arena_create_k(&home->arena,
                               clients ? mps_arena_class_cl()
                                       : mps_arena_class_vm(),
                               args) == MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  arena = home->arena; /* for make_format */
  home->format = make_format(nodes_scan, sizeof(mps_word_t), true);
  ++arenas;
}

static void close_home(home_t *home) {
  mps_arena_park(home->arena);
  tdo_arena_check(home->arena);
  mps_fmt_destroy(home->format);
  mps_arena_destroy(home->arena);
  free(home->memory);
}

static void renew_home(worker_t *w, size_t h) {
  hold_signals(true);
  close_part(w, h);
  close_home(&homes[h]);
  open_home(&w->seed, &homes[h]);
  open_part(w, h);
  hold_signals(false);
}

/* ---- transforms ---- */

/* What is to be replaced lies where no collector looks. */
typedef struct change {
  mps_addr_t old[NEW], new[NEW];
  size_t slot[NEW], count;
} change_t;

static void choose(worker_t *w, part_t *part, change_t *c) {
  c->count = 0;
  for (size_t k = 0; k < NEW; ++k) {
    size_t i = below(w, SLOTS);
    node_t *old = part->slots[i], *new;
    bool twice = old == NULL || part->where[i] != 0;
    for (size_t n = 0; n < c->count; ++n)
      twice = twice || c->old[n] == old;
    if (twice)
      continue;
    new = try_make(part->rooms[0].ap, NODE, node_slots(old));
    if (new == NULL)
      continue;
    old = part->slots[i];
    memcpy(new, old, node_words(old) * sizeof(mps_word_t));
    part->slots[SLOTS + c->count] = new;
    c->old[c->count] = old;
    c->slot[c->count++] = i;
  }
  /* Other threads collect, which moved them. */
  for (size_t n = 0; n < c->count; ++n) {
    c->old[n] = part->slots[c->slot[n]];
    c->new[n] = part->slots[SLOTS + n];
  }
}

static __attribute__((noinline)) void transform(worker_t *w, size_t h) {
  static _Thread_local change_t c;
  part_t *part = &w->parts[h];
  mps_transform_t t;
  mps_bool_t applied = 0;

  mps_arena_park(homes[h].arena);
  if (mps_transform_create(&t, homes[h].arena) == MPS_RES_OK) {
    choose(w, part, &c); /* a collection of another thread's ends it */
    if (mps_transform_add_oldnew(t, c.old, c.new, c.count) == MPS_RES_OK &&
        mps_transform_apply(&applied, t) == MPS_RES_OK && applied) {
      ++transformed;
      for (size_t n = 0; n < c.count; ++n)
        REQUIRE(part->slots[c.slot[n]] == part->slots[SLOTS + n]);
    }
    mps_transform_destroy(t);
  }
  memset(&c, 0, sizeof c);
  memset(part->slots + SLOTS, 0, NEW * sizeof *part->slots);
  check_part(part);
  mps_arena_release(homes[h].arena);
}

/* ---- the handler ---- */

static void use_arena(worker_t *w) {
  size_t h = (size_t)(random_next(&w->handler_seed) % HOMES);
  bool touches = w->alone || h == 0; /* manual, "Threads" */
  part_t *part = &w->parts[h];
  node_t *p = part->slots[SLOTS + NEW];
  const node_t *any = part->slots[random_next(&w->handler_seed) % SLOTS];
  if (touches && any != NULL) /* wherever it is now, and whatever bars are
                                 there */
    (void)*(const volatile mps_word_t *)&any->head;
  if (touches && p != NULL &&
      !mps_arena_busy(homes[h].arena)) /* it is what it was */
    check_leaf(p, tagged(p->word[0]));
  p = try_make_leaf(part->handler_ap, 3 + random_next(&w->handler_seed) % 50,
                ++last_number);
  if (p != NULL)
    part->slots[SLOTS + NEW] = p;
  else
    ++refused;
  ++handled;
}

static void handle(int sig) {
  int saved = errno;
  (void)sig;
  suite_handler();
  if (self != NULL)
    use_arena(self);
  errno = saved;
}

/* ---- threads and children ---- */

typedef struct visit {
  home_t *home;
  mps_pool_t pool;
} visit_t;

static __attribute__((noinline)) void stay(mps_ap_t ap) {
  node_t *volatile list = NULL; /* known to the stack only */
  for (unsigned i = 1; i < 300; ++i) {
    node_t *p = try_make(ap, NODE, 3);
    if (p == NULL)
      continue;
    p->word[0] = tag(i);
    p->word[1] = list;
    p->word[2] = list == NULL ? tag(0) : list->word[0];
    list = p;
  }
  for (node_t *p = list; p != NULL; p = p->word[1])
    REQUIRE(p->word[1] == NULL || p->word[1]->word[0] == p->word[2]);
}

static void *visitor(void *arg) {
  visit_t *visit = arg;
  mps_thr_t thr;
  mps_root_t stack;
  mps_ap_t ap;
  hold_signals(true);
  if (mps_thread_reg(&thr, visit->home->arena) != MPS_RES_OK)
    return NULL;
  if (mps_root_create_thread(&stack, visit->home->arena, thr, FRAME_COLD()) ==
      MPS_RES_OK) {
    if (mps_ap_create_k(&ap, visit->pool, mps_args_none) == MPS_RES_OK) {
      stay(ap);
      mps_ap_destroy(ap);
    }
    mps_root_destroy(stack);
  }
  mps_thread_dereg(thr);
  ++visitors;
  return NULL;
}

/* The thread sanitizer starts a thread, and forks, with locks of its own held
   by threads that it does not know to be stopped. */
#if !defined(__SANITIZE_THREAD__)
static void receive(worker_t *w, size_t h) {
  visit_t visit = {&homes[h], w->parts[h].rooms[0].pool};
  pthread_t id;
  REQUIRE(pthread_create(&id, NULL, visitor, &visit) == 0);
  for (size_t n = 0; n < 50; ++n)
    replace(w, &w->parts[h], below(w, SLOTS));
  REQUIRE(pthread_join(id, NULL) == 0);
}

static void step(worker_t *w, size_t k);

/* A child goes on alone. */
static void breed(worker_t *w) {
  int status;
  pid_t child;
  hold_signals(true); /* the C library has locks of its own then */
  child = fork();
  hold_signals(false);
  REQUIRE(child >= 0);
  if (child == 0) {
    for (size_t n = 0; n < suite_size(500, 20); ++n)
      step(w, 200 + below(w, 9800));
    for (size_t h = 0; h < HOMES; ++h) {
      (void)mps_arena_collect(homes[h].arena);
      check_part(&w->parts[h]);
    }
    suite_leave(0);
  }
  while (waitpid(child, &status, 0) < 0)
    continue;
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ++children;
}
#else
static void breed(worker_t *w) {
  (void)w;
}

static void receive(worker_t *w, size_t h) {
  (void)visitor, (void)w, (void)h;
}
#endif

/* ---- all together ---- */

static void govern(worker_t *w, size_t h) {
  static const double pauses[] = {0, 0.001, 0.01, 1e9};
  mps_arena_t a = homes[h].arena;
  switch (below(w, 6)) {
  case 0:
    (void)mps_arena_collect(a);
    break;
  case 1:
    (void)mps_arena_start_collect(a);
    break;
  case 2:
    mps_arena_park(a);
    break;
  case 3:
    (void)mps_arena_step(a, 0.001, 1.0);
    break;
  case 4:
    mps_arena_spare_set(a, (double)below(w, 100) / 100);
    break;
  default:
    mps_arena_pause_time_set(a, pauses[below(w, 4)]);
  }
  mps_arena_release(a);
}

static void step(worker_t *w, size_t k) {
  size_t h = below(w, HOMES), i = below(w, SLOTS), r = 1 + below(w, POOLS - 1);
  part_t *part = &w->parts[h];
  if (k < 3)
    breed(w);
  else if (k < 5)
    receive(w, h);
  else if (k < 8 && w->alone)
    renew_home(w, h);
  else if (k < 200)
    check_object(part->slots[i], part->number[i]);
  else if (k < 210)
    check_part(part);
  else if (k < 220)
    govern(w, h);
  else if (k < 226)
    transform(w, h);
  else if (k < 250)
    renew_point(&part->rooms[r]);
  else if (k < 290)
    close_room(part, r);
  else if (k < 340 && part->rooms[r].pool == NULL)
    open_room(w, &homes[h], &part->rooms[r], false);
  else if (k < 6500)
    replace(w, part, i);
  else if (k < 7000)
    copy_reference(part, i, below(w, SLOTS));
  else if (k < 7800)
    drop(part, i);
  else
    check_object(part->slots[i], part->number[i]);
}

static __attribute__((noinline)) void work(worker_t *w) {
  size_t steps = suite_size(suite_slow() ? SLOW : STEPS, FEW);
  for (size_t h = 0; h < HOMES; ++h)
    open_part(w, h);
  self = w;
  for (size_t n = steps; n > 0; --n) {
    step(w, below(w, 10000));
    if (n % 16 == 0)
      check_signals();
  }
  hold_signals(true);
  self = NULL;
  for (size_t h = 0; h < HOMES; ++h)
    close_part(w, h);
}

static void *worker_main(void *arg) {
  worker_t *w = arg;
  w->cold = FRAME_COLD();
  work(w);
  return NULL;
}

START_TEST(upheaval) {
  size_t threads = _i == 0 ? 1 : THREADS;
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  struct itimerval every = {{0, 2 * MILLI}, {0, 2 * MILLI}};
  struct itimerval never = {{0, 0}, {0, 0}};
  random_start();
  asserted_start();
  for (size_t h = 0; h < HOMES; ++h)
    open_home(&random_state, &homes[h]);
  for (size_t i = 0; i < threads; ++i) {
    workers[i].no = i;
    workers[i].seed = random_word();
    workers[i].handler_seed = random_word();
    workers[i].alone = threads == 1;
  }
  REQUIRE(sigaction(SIGALRM, &action, NULL) == 0);
  REQUIRE(setitimer(ITIMER_REAL, &every, NULL) == 0);
  for (size_t i = 0; i < threads; ++i)
    REQUIRE(pthread_create(&workers[i].id, NULL, worker_main, &workers[i]) ==
            0);
  hold_signals(true); /* the workers' are meant */
  for (size_t i = 0; i < threads; ++i)
    REQUIRE(pthread_join(workers[i].id, NULL) == 0);
  REQUIRE(setitimer(ITIMER_REAL, &never, NULL) == 0);
  for (size_t h = 0; h < HOMES; ++h)
    close_home(&homes[h]);
  asserted_none();
  printf("%u objects, %zu pools, %zu arenas, %zu transforms, %zu visitors, "
         "%zu children, %zu handled, %zu refused\n",
         (unsigned)last_number, (size_t)pools, (size_t)arenas,
         (size_t)transformed, (size_t)visitors, (size_t)children,
         (size_t)handled, (size_t)refused);
}
END_TEST

SUITE_LOOPS_MAIN("upheaval", 60, {upheaval, 2})
