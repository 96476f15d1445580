/* Testudo: every part at once and at random. Threads make, move, share and
   lose objects in pools of all collected classes, through weak tables, tables
   of pairs, finalization and location dependencies, and know at each moment
   what each reference must lead to; another thread clamps, parks, collects,
   walks, and changes pause time and commit limit under them.
   SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "mpscamc.h"
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "mpscmvff.h"
#include "test/leaves.h"
#include "test/suite.h"

enum {
  THREADS = 4, /* at most */
  ROWS = 100,  /* of each thread */
  SLOTS = 40,  /* of each row */
  WEAKS = 64,  /* entries of each weak table and table of pairs */
  BLOCKS = 64, /* manual ones of each thread */
  DEPENDENT = 16,
  POTS = 4,
  STEPS = 1500000, /* of each thread */
  SLOW = 100000,
  FEW = 3000,
  NUMBERS = 1 << 24 /* of objects */
};

/* In the root of each thread: its rows, its tables, and what it depends on. */
enum { WEAK_TABLE = ROWS, PAIRS_TABLE, KEPT };

/* What objects are allocated in; rows and objects alike. */
enum { NODES, LEAVES, MARKED, MARKED_LEAVES, STRONG, AGAIN, POOLS };

static mps_pool_t pools[POOLS], pairs_pool, manual;

/* References from rows to the object of each number, and whether a weak
   table led to it: then it may be in use and be finalized all the same. */
static atomic_ushort held[NUMBERS];
static atomic_bool regained[NUMBERS];
static atomic_uint last_number;
static atomic_size_t cleared, finalized, moved, exchanged, refused;
static atomic_size_t working; /* threads */

/* Rows that threads exchange, with what is in them. */
typedef struct pot {
  node_t **row; /* a root */
  mps_root_t root;
  unsigned number[SLOTS];
} pot_t;

static pot_t pots[POTS];
static pthread_mutex_t pots_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct worker {
  pthread_t id;
  size_t no;
  uint64_t seed;
  mps_ap_t ap[POOLS], weak_ap, pairs_ap;
  node_t **rows; /* a root */
  mps_root_t root;
  unsigned number[ROWS][SLOTS];
  unsigned weak[WEAKS], key[WEAKS];
  mps_addr_t block[BLOCKS];
  size_t bytes[BLOCKS];
  mps_ld_s dependency;
  bool depends;
  uintptr_t was[DEPENDENT]; /* where what is kept was then */
} worker_t;

static size_t below(worker_t *w, size_t n) {
  return (size_t)(random_next(&w->seed) % n);
}

/* ---- objects ---- */

/* Null if refused, which is counted. */
static node_t *make_or_not(mps_ap_t ap, unsigned kind, size_t slots) {
  node_t *p = try_make(ap, kind, slots);
  refused += p == NULL;
  return p;
}

static node_t *make_leaf(mps_ap_t ap, size_t slots, unsigned number) {
  node_t *p = try_make_leaf(ap, slots, number);
  refused += p == NULL;
  return p;
}

/* A node has its number, and then perhaps a leaf with the same. */
static void check_object(const node_t *p, unsigned number) {
  REQUIRE((p == NULL) == (number == 0));
  if (p == NULL)
    return;
  if (node_kind(p) == LEAF) {
    check_leaf(p, number);
  } else {
    REQUIRE(node_kind(p) == NODE && p->word[0] == tag(number));
    if (p->word[1] != NULL)
      check_leaf(p->word[1], number);
  }
}

static unsigned next_number(void) {
  unsigned number = ++last_number;
  REQUIRE(number < NUMBERS);
  return number;
}

/* A new object of either kind, of any pool and usual size; null if refused. */
static node_t *make_object(worker_t *w, unsigned *number_o) {
  static const unsigned mostly[] = {NODES, NODES,  NODES,  LEAVES,
                                    AGAIN, MARKED, STRONG, MARKED_LEAVES};
  unsigned number = next_number(), where = mostly[below(w, 8)];
  size_t slots = 2 + below(w, below(w, 40) == 0 ? 600 : 6);
  node_t *leaf = NULL, *p;
  *number_o = number;
  if (where == LEAVES || where == MARKED_LEAVES)
    return make_leaf(w->ap[where], slots, number);
  if (below(w, 2) == 0) {
    leaf = make_leaf(w->ap[below(w, 8) == 0 ? MARKED_LEAVES : LEAVES], slots,
                     number);
    if (leaf == NULL)
      return NULL;
  }
  p = make_or_not(w->ap[where], NODE, slots);
  if (p != NULL) {
    p->word[0] = tag(number);
    p->word[1] = leaf;
  }
  return p;
}

/* ---- rows ---- */

/* An object counts as held before it is, and no longer before it is not. */
static void put(worker_t *w, size_t i, size_t j, node_t *p, unsigned number) {
  if (number != 0)
    ++held[number];
  if (w->number[i][j] != 0)
    --held[w->number[i][j]];
  w->rows[i]->word[j] = p;
  w->number[i][j] = number;
}

static void replace(worker_t *w, size_t i, size_t j) {
  unsigned number;
  node_t *p = make_object(w, &number);
  mps_addr_t ref = p;
  if (p == NULL)
    return;
  if (below(w, 100) == 0 && mps_finalize(arena, &ref) != MPS_RES_OK)
    ++refused;
  put(w, i, j, p, number);
}

static bool renew_row(worker_t *w, size_t i) {
  mps_ap_t ap = w->ap[below(w, 6) == 0 ? MARKED : NODES];
  node_t *p = make_or_not(ap, NODE, SLOTS);
  if (p == NULL)
    return false;
  for (size_t j = 0; j < SLOTS; ++j) {
    if (w->number[i][j] != 0)
      --held[w->number[i][j]];
    w->number[i][j] = 0;
  }
  w->rows[i] = p;
  return true;
}

static void check_row(worker_t *w, size_t i) {
  REQUIRE(node_slots(w->rows[i]) == SLOTS);
  for (size_t j = 0; j < SLOTS; ++j)
    check_object(w->rows[i]->word[j], w->number[i][j]);
}

static void check_rows(worker_t *w) {
  for (size_t i = 0; i < ROWS; ++i)
    check_row(w, i);
}

static void copy_reference(worker_t *w, size_t i, size_t j) {
  size_t a = below(w, ROWS), b = below(w, SLOTS);
  if (held[w->number[a][b]] < 1000)
    put(w, i, j, w->rows[a]->word[b], w->number[a][b]);
}

static void exchange(worker_t *w) {
  pot_t *pot = &pots[below(w, POTS)];
  size_t i = below(w, ROWS);
  unsigned number[SLOTS];
  check_row(w, i);
  REQUIRE(pthread_mutex_lock(&pots_lock) == 0);
  if (*pot->row == NULL) {
    *pot->row = make_or_not(w->ap[NODES], NODE, SLOTS);
  } else {
    node_t *p = *pot->row;
    *pot->row = w->rows[i];
    w->rows[i] = p;
    memcpy(number, pot->number, sizeof number);
    memcpy(pot->number, w->number[i], sizeof number);
    memcpy(w->number[i], number, sizeof number);
    ++exchanged;
  }
  REQUIRE(pthread_mutex_unlock(&pots_lock) == 0);
  check_row(w, i);
}

/* ---- what is weak ---- */

/* The object of NUMBER, found through what is weak, is strong again. */
static void regain(worker_t *w, node_t *p, unsigned number) {
  regained[number] = true;
  put(w, below(w, ROWS), below(w, SLOTS), p, number);
}

/* Entries may be cleared whenever a thread is stopped: they are read once. */
static void use_weak(worker_t *w) {
  size_t e = below(w, WEAKS), i = below(w, ROWS), j = below(w, SLOTS);
  node_t *t = w->rows[WEAK_TABLE], *p;
  if (t == NULL) {
    w->rows[WEAK_TABLE] = make_or_not(w->weak_ap, NODE, WEAKS);
    return;
  }
  p = *(node_t *volatile *)&t->word[e];
  if (w->weak[e] != 0 && p == NULL) {
    REQUIRE(held[w->weak[e]] == 0);
    ++cleared;
  } else {
    check_object(p, w->weak[e]);
    if (w->weak[e] != 0 && below(w, 2) == 0)
      regain(w, p, w->weak[e]);
  }
  t->word[e] = w->rows[i]->word[j];
  w->weak[e] = w->number[i][j];
}

static void set_pair(worker_t *w, size_t e, node_t *key, unsigned number) {
  node_t *t = w->rows[PAIRS_TABLE], *leaf = NULL;
  size_t where = below(w, 2) == 0 ? LEAVES : MARKED_LEAVES;
  if (number != 0)
    leaf = make_leaf(w->ap[where], 3, number);
  t->word[2 * e + 1] = leaf == NULL ? NULL : key;
  t->word[2 * e + 2] = leaf;
  w->key[e] = leaf == NULL ? 0 : number;
}

static void use_pairs(worker_t *w) {
  size_t e = below(w, WEAKS), i = below(w, ROWS), j = below(w, SLOTS);
  node_t *t = w->rows[PAIRS_TABLE], *key;
  if (t == NULL) {
    w->rows[PAIRS_TABLE] = make_or_not(w->pairs_ap, PAIRS, 2 * WEAKS + 1);
    return;
  }
  key = *(node_t *volatile *)&t->word[2 * e + 1];
  if (w->key[e] != 0 && key == NULL) {
    REQUIRE(t->word[2 * e + 2] == NULL && held[w->key[e]] == 0);
    ++cleared;
  } else if (w->key[e] != 0) {
    check_object(key, w->key[e]);
    check_leaf(t->word[2 * e + 2], w->key[e]);
    if (below(w, 3) == 0)
      regain(w, key, w->key[e]);
  }
  set_pair(w, e, w->rows[i]->word[j], w->number[i][j]);
}

static void finalize(worker_t *w) {
  mps_message_t message;
  while (mps_message_get(&message, arena, mps_message_type_finalization())) {
    mps_addr_t ref;
    mps_message_finalization_ref(&ref, arena, message);
    node_t *p = ref;
    unsigned number = tagged(p->word[0]);
    REQUIRE(number < NUMBERS && (held[number] == 0 || regained[number]));
    check_object(p, number);
    ++finalized;
    if (below(w, 8) == 0)
      regain(w, p, number);
    mps_message_discard(arena, message);
  }
}

/* What has moved since a dependency was told of it makes that stale. */
static void depend(worker_t *w) {
  node_t **kept = w->rows + KEPT;
  for (size_t k = 0; w->depends && k < DEPENDENT; ++k) {
    if (kept[k] != NULL && (uintptr_t)kept[k] != w->was[k]) {
      REQUIRE(mps_ld_isstale(&w->dependency, arena, kept[k]));
      ++moved;
    }
  }
  mps_ld_reset(&w->dependency, arena);
  w->depends = true;
  for (size_t k = 0; k < DEPENDENT; ++k) {
    kept[k] = w->rows[below(w, ROWS)]->word[below(w, SLOTS)];
    w->was[k] = (uintptr_t)kept[k];
    if (kept[k] != NULL)
      mps_ld_add(&w->dependency, arena, kept[k]);
  }
}

/* ---- the rest ---- */

static void use_block(worker_t *w) {
  size_t e = below(w, BLOCKS);
  size_t size = 8 + below(w, below(w, 20) == 0 ? 200000 : 2000);
  unsigned char *p = w->block[e], mark = (unsigned char)(w->no * BLOCKS + e);
  if (p != NULL) {
    REQUIRE(p[0] == mark && p[w->bytes[e] - 1] == mark);
    mps_free(manual, p, w->bytes[e]);
    w->block[e] = NULL;
  } else if (mps_alloc(&w->block[e], manual, size) == MPS_RES_OK) {
    w->bytes[e] = size;
    memset(w->block[e], mark, size);
  } else {
    w->block[e] = NULL;
    ++refused;
  }
}

static void use_ramp(worker_t *w) {
  mps_alloc_pattern_t ramp = below(w, 2) == 0
                                 ? mps_alloc_pattern_ramp()
                                 : mps_alloc_pattern_ramp_collect_all();
  mps_ap_t ap = w->ap[below(w, 2) == 0 ? NODES : AGAIN];
  size_t objects = suite_size(500, 5);
  REQUIRE(mps_ap_alloc_pattern_begin(ap, ramp) == MPS_RES_OK);
  for (size_t n = 0; n < objects; ++n)
    put(w, below(w, ROWS), below(w, SLOTS), NULL, 0);
  for (size_t n = 0; n < objects; ++n)
    replace(w, below(w, ROWS), below(w, SLOTS));
  REQUIRE(mps_ap_alloc_pattern_end(ap, ramp) == MPS_RES_OK);
}

static void renew_point(worker_t *w) {
  size_t where = below(w, POOLS);
  mps_ap_destroy(w->ap[where]);
  while (mps_ap_create_k(&w->ap[where], pools[where], mps_args_none) !=
         MPS_RES_OK)
    ++refused;
}

static void make_garbage(worker_t *w) {
  unsigned number;
  for (size_t n = 0; n < 4; ++n)
    (void)make_object(w, &number);
}

static void step(worker_t *w, size_t k) {
  size_t i = below(w, ROWS), j = below(w, SLOTS);
  if (k < 3) {
    if (renew_row(w, i))
      for (j = 0; j < suite_size(SLOTS, 1); ++j)
        replace(w, i, j);
  } else if (k < 6)
    exchange(w);
  else if (k < 7)
    check_rows(w);
  else if (k < 8)
    below(w, 4) == 0 ? use_ramp(w) : renew_point(w);
  else if (k < 60)
    use_weak(w);
  else if (k < 100)
    use_pairs(w);
  else if (k < 104)
    depend(w);
  else if (k < 200)
    use_block(w);
  else if (k < 210 && w->no == 0)
    finalize(w);
  else if (k < 4000)
    replace(w, i, j);
  else if (k < 4400)
    copy_reference(w, i, j);
  else if (k < 4700)
    put(w, i, j, NULL, 0);
  else if (k < 6500)
    make_garbage(w);
  else
    check_object(w->rows[i]->word[j], w->number[i][j]);
}

static __attribute__((noinline)) void work(worker_t *w) {
  size_t steps = suite_slow() ? SLOW : suite_varied() ? STEPS / 3 : STEPS;
  for (size_t i = 0; i < ROWS; ++i) {
    while (!renew_row(w, i))
      continue;
    for (size_t j = 0; j < suite_size(SLOTS, 1); ++j)
      replace(w, i, j);
  }
  for (size_t n = suite_size(steps, FEW); n > 0; --n)
    step(w, below(w, 10000));
  check_rows(w);
}

static void *worker_main(void *arg) {
  worker_t *w = arg;
  mps_thr_t thr;
  mps_root_t stack;
  while (mps_thread_reg(&thr, arena) != MPS_RES_OK)
    ++refused;
  while (mps_root_create_thread(&stack, arena, thr, FRAME_COLD()) !=
         MPS_RES_OK)
    ++refused;
  work(w);
  mps_root_destroy(stack);
  mps_thread_dereg(thr);
  --working;
  return NULL;
}

/* ---- the keeper of the arena ---- */

/* Objects that a walk comes to are whole. */
static void look(mps_addr_t obj, mps_fmt_t f, mps_pool_t pool, void *p,
                 size_t s) {
  (void)f, (void)pool, (void)p, (void)s;
  REQUIRE(node_kind(obj) == PAD || node_words(obj) > 1);
}

static void walk(void) {
  mps_arena_park(arena);
  mps_arena_formatted_objects_walk(arena, look, NULL, 0);
}

static void change_limit(worker_t *keeper) {
  size_t used = mps_arena_committed(arena);
  size_t more = below(keeper, 2) == 0 ? 1000000 : used / 2;
  (void)mps_arena_commit_limit_set(arena, used + more);
}

static void keep(worker_t *keeper) {
  static const double pauses[] = {0, 0.001, 0.01, 0.1, 1e9};
  switch (below(keeper, 8)) {
  case 0:
    (void)mps_arena_collect(arena);
    break;
  case 1:
    (void)mps_arena_start_collect(arena);
    break;
  case 2:
    mps_arena_park(arena);
    break;
  case 3:
    mps_arena_clamp(arena);
    break;
  case 4:
    (void)mps_arena_step(arena, 0.005, 1.0);
    break;
  case 5:
    walk();
    break;
  case 6:
    change_limit(keeper);
    break;
  default:
    mps_arena_pause_time_set(arena, pauses[below(keeper, 5)]);
  }
  (void)usleep((useconds_t)below(keeper, 5000));
  mps_arena_release(arena);
  (void)mps_arena_commit_limit_set(arena, SIZE_MAX);
  (void)usleep((useconds_t)below(keeper, 20000));
}

/* ---- all together ---- */

static void open_worker(worker_t *w, size_t no) {
  memset(w, 0, sizeof *w);
  w->no = no;
  w->seed = random_word();
  for (size_t i = 0; i < POOLS; ++i)
    w->ap[i] = make_ap(pools[i], mps_rank_exact());
  w->weak_ap = make_ap(pools[STRONG], mps_rank_weak());
  w->pairs_ap = make_ap(pairs_pool, mps_rank_ephemeron());
  w->rows = make_root(&w->root, KEPT + DEPENDENT);
}

static void close_worker(worker_t *w) {
  check_rows(w);
  for (size_t i = 0; i < BLOCKS; ++i)
    if (w->block[i] != NULL)
      mps_free(manual, w->block[i], w->bytes[i]);
  mps_root_destroy(w->root);
  free(w->rows);
  mps_ap_destroy(w->pairs_ap);
  mps_ap_destroy(w->weak_ap);
  for (size_t i = 0; i < POOLS; ++i)
    mps_ap_destroy(w->ap[i]);
}

static void run(size_t threads) {
  static worker_t workers[THREADS];
  worker_t keeper = {.seed = random_word()};
  for (size_t i = 0; i < threads; ++i)
    open_worker(&workers[i], i);
  working = threads;
  mps_arena_release(arena);
  for (size_t i = 0; i < threads; ++i)
    REQUIRE(pthread_create(&workers[i].id, NULL, worker_main, &workers[i]) ==
            0);
  while (working > 0)
    keep(&keeper);
  for (size_t i = 0; i < threads; ++i)
    REQUIRE(pthread_join(workers[i].id, NULL) == 0);
  mps_arena_park(arena);
  tdo_arena_check(arena);
  for (size_t i = 0; i < threads; ++i)
    close_worker(&workers[i]);
}

/* Threads, and kilobytes of the first generation (0: the arena's chain). */
static const struct {
  size_t threads, nursery;
} runs[] = {{3, 0}, {1, 0}, {4, 300}, {2, 2000}};
enum { RUNS = sizeof runs / sizeof runs[0] };

START_TEST(soak) {
  random_start();
  start();
  size_t nursery = runs[_i].nursery;
  mps_chain_t chain = nursery == 0 ? NULL : make_chain(nursery);
  tdo_statistics_s statistics;
  mps_pool_class_t classes[] = {mps_class_amc(), mps_class_amcz(),
                                mps_class_ams(), mps_class_lo(),
                                mps_class_awl(), mps_class_amc()};
  mps_message_type_enable(arena, mps_message_type_finalization());
  for (size_t i = 0; i < POOLS; ++i)
    pools[i] = make_pool(classes[i], moving_format, i == AGAIN ? NULL : chain);
  pairs_pool = make_pool(mps_class_aeph(), moving_format, chain);
  REQUIRE(mps_pool_create_k(&manual, arena, mps_class_mvff(), mps_args_none) ==
          MPS_RES_OK);
  for (size_t i = 0; i < POTS; ++i)
    pots[i].row = make_root(&pots[i].root, 1);
  run(runs[_i].threads);
  for (size_t i = 0; i < POTS; ++i) {
    mps_root_destroy(pots[i].root);
    free(pots[i].row);
  }
  printf("%zu collections, %u objects, %zu cleared, %zu finalized, %zu moved, "
         "%zu exchanged, %zu refused\n",
         (size_t)mps_collections(arena), (unsigned)last_number,
         (size_t)cleared, (size_t)finalized, (size_t)moved, (size_t)exchanged,
         (size_t)refused);
  tdo_statistics(arena, &statistics);
  ck_assert_uint_gt(suite_stressed() ? statistics.collections
                                     : mps_collections(arena),
                    0); /* in few steps nothing may have moved */
  mps_pool_destroy(manual);
  mps_pool_destroy(pairs_pool);
  for (size_t i = 0; i < POOLS; ++i)
    mps_pool_destroy(pools[i]);
  if (chain != NULL)
    mps_chain_destroy(chain);
  stop();
}
END_TEST

SUITE_LOOPS_MAIN("soak", 60, {soak, RUNS})
