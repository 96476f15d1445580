/* Testudo: a client that uses the library as the runtime of a large editor
   does (interface, section 11): tagged words, ambiguous stacks, several
   allocation points for each thread on pools of every automatic class, weak
   tables hashed by address, conservative structures, roots that come and go,
   signal handlers on alternate stacks, forks, walks, parking by hand. What it
   finds is compared with a record outside the heap.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test/editor_heap.h"
#include "test/suite.h"

enum {
  SLOTS = 300,  /* strong references of a thread */
  CHILDREN = 4, /* of an object, that its record knows */
  PINS = 16,
  POINTS = 10,
  PAIRS = 20,
  DEPTH = 200 /* of the conservative list */
};

typedef struct record {
  word_t serial; /* 0: nothing there */
  kind_t kind;
  size_t n;
  word_t child[CHILDREN]; /* serials, 0: no reference */
} record_t;

typedef struct weak_table {
  word_t vectors[2]; /* keys, values: tagged, strong from here */
  mps_root_t root;
  size_t n, count;
  mps_ld_s ld;
} weak_table_t;

typedef struct actor {
  uint64_t random;
  bool alone; /* nobody else runs */
  mps_thr_t thr;
  mps_root_t stack, strong, ambiguous, pair_root;
  word_t slot[SLOTS];
  record_t record[SLOTS];
  void *pin[PINS + 1]; /* the last: a conservative list */
  word_t pinned[PINS]; /* serials */
  mps_ap_t point[POINTS];
  mps_ap_t frames, weak, values, pairs, conservative, handler;
  weak_table_t table;
  word_t pair_vector;
  word_t pair_key[PAIRS], pair_value[PAIRS]; /* serials */
  size_t signals, refused;
} actor_t;

static _Thread_local actor_t *volatile self; /* for handlers */
static bool one_lock; /* threads run one at a time under BIG */
static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
static atomic_size_t finalized, weak_hits, rehashed, pairs_died;

static size_t below(actor_t *a, size_t n) {
  return (size_t)(random_next(&a->random) % n);
}

/* ---- making objects ---- */

static void forget(actor_t *a, size_t part) {
  for (size_t i = 0; i < SLOTS; ++i)
    if (below(a, 3) < part) {
      a->slot[i] = number(3);
      a->record[i].serial = 0;
    }
}

static void messages(void);

/* Let others work, who may hold the memory. */
static void give_way(actor_t *a) {
  if (one_lock && !a->alone) {
    (void)pthread_mutex_unlock(&big);
    (void)usleep(100);
    (void)pthread_mutex_lock(&big);
  }
  messages();
}

static void *make(actor_t *a, mps_ap_t ap, kind_t kind, size_t n,
                  word_t fill) {
  void *p;
  for (int i = 0; (p = object(ap, kind, n, fill)) == NULL; ++i) {
    REQUIRE(i < 1000);
    forget(a, 2);
    give_way(a);
  }
  return p;
}

static void check_record(const record_t *r, word_t w) {
  void *p = untag(w);
  REQUIRE(serial_of(p) == r->serial && kind_of(p) == r->kind);
  if (r->kind == LEAF) {
    for (size_t i = 0; i < r->n; i += 1 + r->n / 8)
      REQUIRE(slots_of(p)[i] == r->serial * 31 + i);
    return;
  }
  for (size_t i = 0; i < CHILDREN; ++i) {
    word_t child = slots_of(p)[i];
    REQUIRE(is_reference(child) == (r->child[i] != 0));
    REQUIRE(r->child[i] == 0 || serial_of(untag(child)) == r->child[i]);
  }
}

static void verify(const actor_t *a) {
  for (size_t i = 0; i < SLOTS; ++i)
    if (a->record[i].serial != 0)
      check_record(&a->record[i], a->slot[i]);
}

/* Between its birth and the slot only the stack refers to it. */
static __attribute__((noinline)) void new_object(actor_t *a) {
  size_t i = below(a, SLOTS), point = below(a, POINTS);
  kind_t kind = point_kind(point);
  size_t n =
      below(a, 100) == 0 ? CHILDREN + below(a, 3000) : CHILDREN + below(a, 30);
  void *p = make(a, a->point[point], kind, n, number(0));
  a->record[i] = (record_t){.serial = serial_of(p), .kind = kind, .n = n};
  a->slot[i] = tagged(p);
  if (below(a, 40) == 0) {
    mps_addr_t ref = p;
    mps_res_t res = mps_finalize(arena, &ref);
    REQUIRE(res == MPS_RES_OK || res == MPS_RES_COMMIT_LIMIT ||
            res == MPS_RES_MEMORY);
  }
}

static void store(actor_t *a) {
  size_t i = below(a, SLOTS), j = below(a, SLOTS), k = below(a, CHILDREN);
  record_t *r = &a->record[i];
  if (r->serial == 0 || r->kind == LEAF || a->record[j].serial == 0)
    return;
  slots_of(untag(a->slot[i]))[k] = a->slot[j];
  r->child[k] = a->record[j].serial;
}

/* ---- a weak table, hashed by address ---- */

static size_t hash(word_t key, size_t n) {
  return 1 +
         (size_t)((untagged(key) >> 4) * 0x9E3779B97F4A7C15u >> 20) % (n - 1);
}

static void table_make(actor_t *a, size_t n) {
  weak_table_t *t = &a->table;
  void *keys, *values;
  keys = make(a, a->weak, KEYS, n, number(1));
  t->vectors[0] = tagged(keys);
  values = make(a, a->values, VALUES, n, number(1));
  t->vectors[1] = tagged(values);
  keys = untag(t->vectors[0]);
  slots_of(keys)[0] = (word_t)values;
  slots_of(values)[0] = (word_t)keys;
  t->n = n;
  t->count = 0;
  mps_ld_reset(&t->ld, arena);
}

static void table_put(actor_t *a, word_t key, word_t value) {
  weak_table_t *t = &a->table;
  word_t *keys = slots_of(untag(t->vectors[0]));
  size_t i;
  mps_ld_add(&t->ld, arena, untag(key));
  i = hash(key, t->n);
  while (is_reference(keys[i]))
    i = i + 1 < t->n ? i + 1 : 1;
  keys[i] = key;
  slots_of(untag(t->vectors[1]))[i] = value;
  ++t->count;
}

static __attribute__((noinline)) void table_rehash(actor_t *a) {
  weak_table_t *t = &a->table;
  void *volatile keys = untag(t->vectors[0]);
  void *volatile values = untag(t->vectors[1]);
  size_t n = t->n, live = 0;
  atomic_fetch_add(&rehashed, 1);
  for (size_t i = 1; i < n; ++i)
    live += is_reference(slots_of(keys)[i]);
  table_make(a, 3 * live + 64);
  for (size_t i = 1; i < n; ++i) {
    word_t key = slots_of(keys)[i];
    if (is_reference(key))
      table_put(a, key, slots_of(values)[i]);
  }
}

/* A key that died leaves a hole, where a chain ends too early: so a miss in a
   table that is not stale means another try after hashing again. */
static word_t table_get(actor_t *a, word_t key) {
  weak_table_t *t = &a->table;
  for (int round = 0; round < 20; ++round) {
    word_t *keys = slots_of(untag(t->vectors[0]));
    size_t i = hash(key, t->n);
    for (size_t n = 0; n < t->n && keys[i] != number(1); ++n) {
      if (keys[i] == key)
        return slots_of(untag(t->vectors[1]))[i];
      i = i + 1 < t->n ? i + 1 : 1;
    }
    if (round > 0 && !mps_ld_isstale(&t->ld, arena, untag(key)))
      break;
    table_rehash(a);
  }
  return 0;
}

static __attribute__((noinline)) void weak_step(actor_t *a) {
  size_t i = below(a, SLOTS);
  word_t key = a->slot[i], want = number(a->record[i].serial), found;
  if (a->record[i].serial == 0)
    return;
  found = table_get(a, key);
  if (found != 0) {
    atomic_fetch_add(&weak_hits, 1);
    REQUIRE(found == want);
    return;
  }
  if (a->table.count * 2 > a->table.n)
    table_rehash(a);
  if (a->record[i].serial == 0)
    return; /* rehashing was short of memory */
  table_put(a, a->slot[i], want);
  REQUIRE(table_get(a, a->slot[i]) == want);
}

/* ---- ephemerons whose values refer to their keys ---- */

static word_t *pair(actor_t *a, size_t j) {
  return slots_of(untag(a->pair_vector)) + 2 * j;
}

/* Between the looks at key and value the stack keeps the key, lest another
   thread's collection end both. */
static __attribute__((noinline)) void check_pair(actor_t *a, size_t j) {
  const word_t *p = pair(a, j);
  void *volatile key = (void *)p[0];
  if (key == NULL) {
    REQUIRE(p[1] == 0);
    atomic_fetch_add(&pairs_died, 1);
    a->pair_key[j] = 0;
    return;
  }
  REQUIRE(serial_of(untag(p[0])) == a->pair_key[j]);
  REQUIRE(serial_of(untag(p[1])) == a->pair_value[j]);
  (void)key;
}

static __attribute__((noinline)) void pair_step(actor_t *a) {
  size_t j = below(a, PAIRS), i = below(a, SLOTS);
  void *value;
  if (a->pair_key[j] != 0)
    check_pair(a, j);
  if (a->pair_key[j] != 0 && below(a, 10) != 0)
    return;
  value = make(a, a->point[0], NODE, CHILDREN, number(2));
  if (a->record[i].serial == 0)
    return;
  slots_of(value)[0] = a->slot[i];
  pair(a, j)[0] = number(0);
  pair(a, j)[1] = tagged(value);
  pair(a, j)[0] = a->slot[i];
  a->pair_key[j] = a->record[i].serial;
  a->pair_value[j] = serial_of(value);
}

/* ---- ambiguous references ---- */

/* The place in PIN[J] is inside the object, in its first words. */
static bool pin_holds(const actor_t *a, size_t j) {
  char *p = (char *)untagged((word_t)a->pin[j]);
  for (int i = 0; i < 4; ++i, p -= sizeof(word_t))
    if (((word_t *)(void *)p)[0] == a->pinned[j] &&
        (((word_t *)(void *)p)[-1] & 7) == 5)
      return true;
  return false;
}

static __attribute__((noinline)) void pin_step(actor_t *a) {
  size_t j = below(a, PINS), i = below(a, SLOTS);
  mps_pool_t pool;
  REQUIRE(a->pinned[j] == 0 || pin_holds(a, j));
  a->pinned[j] = 0;
  a->pin[j] = NULL;
  if (a->record[i].serial == 0)
    return;
  REQUIRE(mps_addr_pool(&pool, arena, untag(a->slot[i])));
  if (pool == amc || pool == amcz) {
    a->pin[j] = (char *)untag(a->slot[i]) + below(a, 16);
    a->pinned[j] = a->record[i].serial;
  }
}

/* A list of blocks scanned word by word, each with a pointer into the middle
   of a movable object that nothing else holds. */
static __attribute__((noinline)) void deep_step(actor_t *a) {
  a->pin[PINS] = NULL;
  for (size_t i = 0; i < DEPTH; ++i) {
    void *block = make(a, a->conservative, WORDS, 4, 0), *held;
    slots_of(block)[0] = (word_t)a->pin[PINS];
    a->pin[PINS] = block;
    held = make(a, a->point[0], NODE, CHILDREN, number(i));
    block = a->pin[PINS];
    slots_of(block)[1] = (word_t)held + 9;
    slots_of(block)[2] = serial_of(held);
    slots_of(block)[3] = below(a, SIZE_MAX); /* no reference at all */
    if (i % 20 == 0)
      for (int j = 0; j < 20; ++j)
        new_object(a);
  }
  for (void *b = a->pin[PINS]; b != NULL; b = (void *)slots_of(b)[0])
    REQUIRE(serial_of((void *)(slots_of(b)[1] - 9)) == slots_of(b)[2]);
  a->pin[PINS] = NULL;
}

/* ---- frames ---- */

static void frame_step(actor_t *a, size_t depth) {
  mps_frame_t frame;
  size_t i = below(a, SLOTS), n = 2 + below(a, 30);
  word_t want = a->record[i].serial, *p = NULL;
  if (mps_ap_frame_push(&frame, a->frames) != MPS_RES_OK)
    return;
  if (want != 0)
    p = frame_object(a->frames, n, a->slot[i]);
  for (int k = 0; k < 5; ++k)
    new_object(a);
  if (depth > 0)
    frame_step(a, depth - 1);
  if (p != NULL)
    REQUIRE(is_reference(p[n - 1]) && serial_of(untag(p[n - 1])) == want);
  REQUIRE(mps_ap_frame_pop(a->frames, frame) == MPS_RES_OK);
}

/* ---- roots that come and go with blocks of malloc ---- */

static mps_scan_tag_s strip = {7, 0};

static mps_res_t root_of(mps_root_t *root_o, size_t kind, word_t *words,
                         size_t n, word_t tag) {
  switch (kind) {
  case 0:
    return mps_root_create_area(root_o, arena, mps_rank_exact(), 0, words,
                                words + n, scan_words, scan_closure());
  case 1:
    return mps_root_create(root_o, arena, mps_rank_exact(), 0, scan_function,
                           words, n);
  case 2:
    return mps_root_create_area(root_o, arena, mps_rank_ambig(), 0, words,
                                words + n, mps_scan_area_masked, &strip);
  default:
    return mps_root_create_area_tagged(root_o, arena, mps_rank_exact(), 0,
                                       words, words + n, mps_scan_area_tagged,
                                       7, tag);
  }
}

enum { ROOTS_MOST = 60, ROOTS_WORDS = 8 };

static bool in_child; /* of a fork */

/* The Ith block of N words. A child has no malloc: the address sanitizer's
   lock may have been another thread's when the process forked. */
static word_t *roots_words(size_t i, size_t n) {
  static word_t own[ROOTS_MOST][ROOTS_WORDS];
  word_t *words = in_child ? own[i] : malloc(n * sizeof(word_t));
  REQUIRE(words != NULL);
  return words;
}

static void roots_free(word_t *words) {
  if (!in_child)
    free(words);
}

static void roots_step(actor_t *a) {
  mps_root_t root[ROOTS_MOST];
  word_t *words[ROOTS_MOST], want[ROOTS_MOST];
  size_t made = 0;
  for (; made < ROOTS_MOST; ++made) {
    size_t n = 1 + below(a, ROOTS_WORDS), i = below(a, SLOTS);
    words[made] = roots_words(made, n);
    want[made] = a->record[i].serial;
    for (size_t k = 0; k < n; ++k)
      words[made][k] = number(1);
    if (root_of(&root[made], made % 4, words[made], n,
                want[made] != 0 ? a->slot[i] & 7 : 1) != MPS_RES_OK) {
      roots_free(words[made]);
      break;
    }
    for (size_t k = 0; want[made] != 0 && k < n; ++k)
      words[made][k] = a->slot[i];
  }
  for (int k = 0; k < 100; ++k)
    new_object(a);
  while (made-- > 0) {
    if (want[made] != 0)
      REQUIRE(serial_of(untag(words[made][0])) == want[made]);
    mps_root_destroy(root[made]);
    roots_free(words[made]);
  }
}

/* ---- messages ---- */

static pthread_mutex_t message_lock = PTHREAD_MUTEX_INITIALIZER;

static void messages(void) {
  mps_message_type_t type;
  mps_message_t m;
  (void)pthread_mutex_lock(&message_lock);
  while (mps_message_queue_type(&type, arena)) {
    REQUIRE(mps_message_get(&m, arena, type));
    if (type == mps_message_type_finalization()) {
      mps_addr_t ref;
      mps_message_finalization_ref(&ref, arena, m);
      REQUIRE(kind_of(ref) == NODE || kind_of(ref) == LEAF);
      atomic_fetch_add(&finalized, 1);
    } else if (type == mps_message_type_gc()) {
      REQUIRE(mps_message_gc_live_size(arena, m) <=
              mps_message_gc_condemned_size(arena, m));
    } else {
      REQUIRE(mps_message_gc_start_why(arena, m)[0] != '\0');
    }
    mps_message_discard(arena, m);
  }
  (void)pthread_mutex_unlock(&message_lock);
}

/* ---- an actor ---- */

static void handler(int signal) {
  actor_t *a = self;
  int saved = errno;
  (void)signal;
  suite_handler();
  if (a != NULL) {
    void *p = object(a->handler, LEAF, 3, 0);
    ++a->signals;
    if (p == NULL)
      ++a->refused;
    else
      REQUIRE(serial_of(p) != 0);
  }
  errno = saved;
}

static void actor_roots(actor_t *a, void *cold) {
  REQUIRE(mps_thread_reg(&a->thr, arena) == MPS_RES_OK);
  REQUIRE(mps_root_create_thread_tagged(&a->stack, arena, mps_rank_ambig(), 0,
                                        a->thr, mps_scan_area_masked, 7, 0,
                                        cold) == MPS_RES_OK);
  REQUIRE(mps_root_create_area(&a->strong, arena, mps_rank_exact(), 0, a->slot,
                               a->slot + SLOTS, scan_words,
                               scan_closure()) == MPS_RES_OK);
  REQUIRE(mps_root_create_area(&a->ambiguous, arena, mps_rank_ambig(), 0,
                               a->pin, a->pin + PINS + 1, mps_scan_area,
                               NULL) == MPS_RES_OK);
  REQUIRE(mps_root_create_area_tagged(
              &a->table.root, arena, mps_rank_exact(), 0, a->table.vectors,
              a->table.vectors + 2, mps_scan_area_tagged, 7,
              TAG_OTHER) == MPS_RES_OK);
  REQUIRE(mps_root_create_area_tagged(&a->pair_root, arena, mps_rank_exact(),
                                      0, &a->pair_vector, &a->pair_vector + 1,
                                      mps_scan_area_tagged, 7,
                                      TAG_OTHER) == MPS_RES_OK);
}

static void actor_start(actor_t *a, void *cold) {
  void *p;
  actor_roots(a, cold);
  for (size_t i = 0; i < POINTS; ++i)
    a->point[i] = point_on(point_pool(i), mps_rank_exact());
  a->frames = point_on(snc, mps_rank_exact());
  a->weak = point_on(awl, mps_rank_weak());
  a->values = point_on(awl, mps_rank_exact());
  a->pairs = point_on(aeph, mps_rank_ephemeron());
  a->conservative = point_on(ams, mps_rank_ambig());
  a->handler = point_on(amcz, mps_rank_exact());
  table_make(a, 64);
  p = make(a, a->pairs, EPHEMERONS, 2 * PAIRS, number(0));
  a->pair_vector = tagged(p);
  self = a;
}

static void actor_stop(actor_t *a) {
  self = NULL;
  verify(a);
  mps_ap_destroy(a->handler);
  mps_ap_destroy(a->conservative);
  mps_ap_destroy(a->pairs);
  mps_ap_destroy(a->values);
  mps_ap_destroy(a->weak);
  mps_ap_destroy(a->frames);
  for (size_t i = 0; i < POINTS; ++i)
    mps_ap_destroy(a->point[i]);
  mps_root_destroy(a->pair_root);
  mps_root_destroy(a->table.root);
  mps_root_destroy(a->ambiguous);
  mps_root_destroy(a->strong);
  mps_root_destroy(a->stack);
  mps_thread_dereg(a->thr);
}

static void act(actor_t *a) {
  switch (below(a, 40)) {
  case 0:
    verify(a);
    break;
  case 1:
    pin_step(a);
    break;
  case 2:
    frame_step(a, 3);
    break;
  case 3:
    if (below(a, 10) == 0)
      roots_step(a);
    break;
  case 4:
  case 5:
    weak_step(a);
    break;
  case 6:
    pair_step(a);
    break;
  case 7:
    if (below(a, 20) == 0)
      forget(a, 1);
    break;
  case 8:
    if (below(a, 20) == 0)
      deep_step(a);
    break;
  default:
    if (below(a, 4) == 0)
      store(a);
    else
      new_object(a);
  }
}

static void act_often(actor_t *a, size_t n) {
  for (size_t i = 0; i < n; ++i)
    act(a);
}

/* ---- what the first thread does now and then ---- */

static void step_object(mps_addr_t obj, mps_fmt_t fmt, mps_pool_t pool,
                        void *p, size_t s) {
  mps_pool_t found;
  mps_fmt_t format;
  REQUIRE(s == 7);
  REQUIRE(mps_addr_pool(&found, arena, obj) && found == pool);
  REQUIRE(mps_addr_fmt(&format, arena, obj) && format == fmt);
  REQUIRE(mps_arena_busy(arena) && mps_arena_has_addr(arena, obj));
  ++*(size_t *)p;
}

/* Also words of stacks. */
TDO_NO_SANITIZE
static void step_root(mps_addr_t *ref, mps_root_t root, void *p, size_t s) {
  REQUIRE(s == 8 && root != NULL && mps_arena_has_addr(arena, *ref));
  ++*(size_t *)p;
}

static void step_apply(mps_addr_t obj, void *p, size_t s) {
  REQUIRE(s == 9 && kind_of(obj) != FORWARDED);
  ++*(size_t *)p;
}

/* Any address in an object, its header too, leads to the object. */
static void ask_objects(actor_t *a) {
  for (size_t i = 0; i < SLOTS; ++i) {
    char *p = untag(a->slot[i]);
    mps_addr_t found = NULL;
    mps_pool_t pool;
    mps_res_t res;
    if (a->record[i].serial == 0)
      continue;
    REQUIRE(mps_addr_pool(&pool, arena, p));
    res = mps_addr_object(&found, arena, p - HEADER + below(a, size_of(p)));
    if (pool == amc || pool == amcz)
      REQUIRE(res == MPS_RES_OK && found == p);
    else
      REQUIRE(res == MPS_RES_UNIMPL && found == NULL);
  }
}

/* Others may allocate meanwhile, but nothing moves: they see to that. */
static void walk(actor_t *a) {
  mps_pool_t pools[] = {amc, amcz, ams, lo, awl, aeph, snc};
  size_t objects = 0, refs = 0, applied = 0;
  mps_arena_park(arena);
  mps_arena_formatted_objects_walk(arena, step_object, &objects, 7);
  mps_arena_roots_walk(arena, step_root, &refs, 8);
  mps_amc_apply(amc, step_apply, &applied, 9);
  REQUIRE(objects > 0 && applied > 0 && refs > 0);
  REQUIRE(objects >= applied || !a->alone);
  if (a->alone)
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; ++i)
      REQUIRE(mps_pool_walk(pools[i], scan_walked, pools[i]) == MPS_RES_OK);
  ask_objects(a);
  mps_arena_release(arena);
}

static void child(actor_t *a) {
  (void)pthread_mutex_init(&big, NULL);
  (void)pthread_mutex_init(&message_lock, NULL);
  in_child = a->alone = true;
  act_often(a, 200);
  (void)mps_arena_collect(arena);
  verify(a);
  mps_arena_release(arena);
  act_often(a, 200);
  verify(a);
  _exit(0);
}

static void fork_step(actor_t *a) {
  int status;
  pid_t pid;
  (void)pthread_mutex_lock(&message_lock);
  pid = fork();
  if (pid == 0)
    child(a);
  (void)pthread_mutex_unlock(&message_lock);
  REQUIRE(pid > 0);
  while (waitpid(pid, &status, 0) < 0)
    REQUIRE(errno == EINTR);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void empty_transform(void) {
  mps_transform_t t;
  mps_bool_t applied = 0;
  mps_arena_park(arena);
  REQUIRE(mps_transform_create(&t, arena) == MPS_RES_OK);
  REQUIRE(mps_transform_apply(&applied, t) == MPS_RES_OK && applied);
  mps_transform_destroy(t);
  mps_arena_release(arena);
}

static void large(actor_t *a) {
  enum { LARGE = 1 << 18 };
  void *p = object(a->point[0], NODE, LARGE, number(9));
  size_t i = below(a, SLOTS);
  if (p == NULL)
    return;
  a->slot[i] = tagged(p);
  a->record[i] = (record_t){.serial = serial_of(p), .kind = NODE, .n = LARGE};
  act_often(a, 100);
}

static void direct(actor_t *a, size_t what) {
  switch (what % 8) {
  case 0:
    (void)mps_arena_collect(arena);
    verify(a);
    mps_arena_release(arena);
    break;
  case 1:
    mps_arena_park(arena);
    act_often(a, 50);
    mps_arena_release(arena);
    break;
  case 2:
    (void)mps_arena_step(arena, 0.005, 10);
    break;
  case 3:
    (void)mps_arena_start_collect(arena);
    break;
  case 4:
    walk(a);
    break;
  case 5:
    fork_step(a);
    break;
  case 6:
    large(a);
    break;
  default:
    if (a->alone)
      empty_transform();
  }
}

/* ---- the program ---- */

typedef struct setting {
  size_t threads, limit, rounds;
  bool one_lock;
} setting_t;

static const setting_t settings[] = {
    {0, 0, 240, false},
    {2, 0, 120, false},
    {3, 0, 120, true},
    {0, (size_t)24 << 20, 160, false},
};

static atomic_bool ending;

static void *run_actor(void *p) {
  enum { ALTERNATE = 1 << 16 };
  stack_t alternate = {.ss_sp = malloc(ALTERNATE), .ss_size = ALTERNATE};
  actor_t *a = calloc(1, sizeof *a);
  REQUIRE(a != NULL && alternate.ss_sp != NULL);
  REQUIRE(sigaltstack(&alternate, NULL) == 0);
  a->random = (uintptr_t)p;
  if (one_lock)
    (void)pthread_mutex_lock(&big);
  actor_start(a, FRAME_COLD());
  while (!atomic_load(&ending)) {
    act_often(a, 100);
    give_way(a);
  }
  actor_stop(a);
  if (one_lock)
    (void)pthread_mutex_unlock(&big);
  alternate.ss_flags = SS_DISABLE;
  REQUIRE(sigaltstack(&alternate, NULL) == 0);
  free(alternate.ss_sp);
  free(a);
  return NULL;
}

static void set_timer(suseconds_t us) {
  struct itimerval it = {{0, us}, {0, us}};
  REQUIRE(setitimer(ITIMER_REAL, &it, NULL) == 0);
}

static __attribute__((noinline)) void run_first(actor_t *a,
                                                const setting_t *s) {
  bool stress = getenv("TESTUDO_STRESS") != NULL;
  size_t rounds = stress ? s->rounds / 40 : s->rounds;
  for (size_t i = 0; i < rounds; ++i) {
    act_often(a, 300);
    direct(a, i);
    messages();
    if (one_lock)
      give_way(a);
  }
}

START_TEST(editor) {
  const setting_t *s = &settings[_i];
  struct sigaction action = {.sa_handler = handler,
                             .sa_flags = SA_RESTART | SA_ONSTACK};
  static actor_t first;
  pthread_t id[4];
  random_start();
  editor_heap_start(s->limit);
  ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
  first.random = random_word();
  first.alone = s->threads == 0;
  one_lock = s->one_lock;
  (void)pthread_mutex_lock(&big);
  actor_start(&first, FRAME_COLD());
  for (size_t i = 0; i < s->threads; ++i)
    ck_assert_int_eq(pthread_create(&id[i], NULL, run_actor,
                                    (void *)(uintptr_t)random_word()),
                     0);
  set_timer(suite_emulated() ? 50000 : 2000);
  run_first(&first, s);
  set_timer(0);
  atomic_store(&ending, true);
  (void)pthread_mutex_unlock(&big);
  for (size_t i = 0; i < s->threads; ++i)
    ck_assert_int_eq(pthread_join(id[i], NULL), 0);
  ck_assert_uint_gt(mps_collections(arena), 0);
  ck_assert_uint_gt(weak_hits + rehashed + pairs_died + finalized, 0);
  actor_stop(&first);
  editor_heap_stop();
}
END_TEST

SUITE_LOOPS_MAIN("editor", 60, {editor, sizeof settings / sizeof settings[0]})
