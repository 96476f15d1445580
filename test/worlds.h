/* Testudo: the model of test_worlds.c: what each object and root of a world
   has. A world is objects that refer to each other and to no others, its root,
   and a lock that who uses either has.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_WORLDS_H
#define TDO_TEST_WORLDS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "mps.h"
#include "test/random.h"
#include "test/require.h"

typedef enum kind {
  LEAF,      /* words that follow from its number */
  BLOB,      /* any words */
  PLAIN,     /* slots are strong */
  WEAK,      /* slots are weak; the first has nothing */
  KEYS,      /* the same: slot 0 leads to the values, others to their keys */
  VALUES,    /* slot 0 leads to the keys, others to leaves: strong, but made
                null when the key's slot is */
  PAIRS,     /* slot 0 is strong; then keys and values in turn, */
  OR_PAIRS,  /* of which either keeps the other, */
  AND_PAIRS, /* or neither does */
} kind_t;

/* WEAKLY is what only weak slots lead to, KEPT what only registrations for
   finalization keep. */
typedef enum level { DEAD, WEAKLY, KEPT, LIVE } level_t;

typedef struct world world_t;
typedef struct object object_t;
struct object {
  size_t number; /* its place in `objects` */
  kind_t kind;
  size_t place, words, slots; /* words: all that it has */
  object_t **to;              /* what each slot leads to, or null */
  world_t *world;
  size_t stacked;    /* lives until it is popped, by this worker: 1, ... */
  size_t registered; /* for finalization, and no message got yet */
  level_t level;     /* by the last `reach` */
  level_t before;    /* by the one before */
  bool found;        /* was not LIVE once, and has been found again, */
  bool risen;        /* nor KEPT */
  mps_word_t *at;    /* where it is, if stacked or when last met */
  unsigned met;
  object_t *next, *next_table;
};

typedef enum root_kind { EXACT, TAGGED, AMBIG, ROOT_KINDS } root_kind_t;

enum {
  OBJECTS = 1 << 22, /* numbers; 0 is of objects that no world has */
  ROOM = 40,         /* slots of a root for any objects, */
  TABLES = 3,        /* and for tables */
  MANY = 1500,       /* objects of a world, about */
  DEPENDENT = 8
};
enum { VALUES_SLOT = ROOM, PAIRS_SLOT, WEAK_SLOT, ALL_SLOTS };

struct world {
  pthread_mutex_t lock;
  size_t side; /* its arena */
  volatile mps_word_t *word;
  object_t *to[ALL_SLOTS];
  root_kind_t kind;
  size_t memory; /* where the words are from */
  mps_root_t root;
  object_t **objects;
  size_t count, room;
  object_t *grey, *tables;
  unsigned round;
  mps_ld_s dependency;
  size_t depends[DEPENDENT], depends_slot[DEPENDENT]; /* numbers of objects */
  uintptr_t was[DEPENDENT];
};

static object_t *_Atomic objects[OBJECTS]; /* null: none */
static atomic_size_t last_number;

/* Each thread has random numbers of its own. */
static _Thread_local uint64_t seed;

static size_t below(size_t n) {
  return (size_t)(random_next(&seed) % n);
}

/* ---- objects ---- */

static object_t *add_object(world_t *w, kind_t kind, size_t place,
                            size_t words, size_t slots) {
  object_t *o = calloc(1, sizeof *o);
  REQUIRE(o != NULL);
  o->number = 1 + atomic_fetch_add(&last_number, 1) % (OBJECTS - 1);
  REQUIRE(objects[o->number] == NULL);
  o->kind = kind;
  o->place = place;
  o->words = words;
  o->slots = slots;
  o->world = w;
  if (kind != LEAF && slots > 0) {
    o->to = calloc(slots, sizeof(object_t *));
    REQUIRE(o->to != NULL);
  }
  if (w->count == w->room) {
    w->room = 2 * w->room + 64;
    w->objects = realloc(w->objects, w->room * sizeof *w->objects);
    REQUIRE(w->objects != NULL);
  }
  w->objects[w->count++] = o;
  objects[o->number] = o;
  return o;
}

static void free_object(object_t *o) {
  objects[o->number] = NULL;
  free(o->to);
  free(o);
}

static bool has_pairs(const object_t *o) {
  return o->kind >= PAIRS;
}

/* May the collector make slots of O null? */
static bool is_table(const object_t *o) {
  return o->kind >= WEAK;
}

/* Not even for finalization is it kept. */
static bool dead(const object_t *o) {
  return o->level < KEPT;
}

/* It was never dead. */
static bool certain(const object_t *o) {
  return !dead(o) && !o->risen;
}

/* Must slot I of T, or of a pair the key's, not be null? */
static bool slot_stands(const object_t *t, size_t i) {
  const object_t *key = t->to[i], *value;
  if (!has_pairs(t))
    return certain(key);
  value = t->to[i + 1];
  return t->kind == PAIRS      ? certain(key)
         : t->kind == OR_PAIRS ? certain(key) || certain(value)
                               : certain(key) && certain(value);
}

/* ---- what lives ---- */

static void reach_object(world_t *w, object_t *o, level_t level) {
  if (o == NULL || o->level != DEAD)
    return;
  o->level = level;
  o->next = w->grey;
  w->grey = o;
}

static void reach_slots(world_t *w, object_t *o) {
  size_t strong = o->kind == PLAIN || o->kind == VALUES ? o->slots
                  : has_pairs(o)                        ? 1
                                                        : 0;
  for (size_t i = 0; i < strong; ++i)
    reach_object(w, o->to[i], o->level);
  if (is_table(o)) {
    o->next_table = w->tables;
    w->tables = o;
  }
}

/* Pair I of T lives, and keeps something that was not known to live. */
static bool reach_pair(world_t *w, object_t *t, size_t i, level_t level) {
  object_t *key = t->to[i], *value = t->to[i + 1];
  bool k = key != NULL && key->level != DEAD;
  bool v = value != NULL && value->level != DEAD;
  if (key == NULL || k == v || t->kind == AND_PAIRS ||
      (t->kind == PAIRS && !k))
    return false;
  reach_object(w, key, level);
  reach_object(w, value, level);
  return true;
}

static void reach_all(world_t *w, level_t level) {
  bool more;
  do {
    for (object_t *o; (o = w->grey) != NULL;) {
      w->grey = o->next;
      reach_slots(w, o);
    }
    more = false;
    for (object_t *t = w->tables; t != NULL; t = t->next_table)
      for (size_t i = 1; has_pairs(t) && i + 1 < t->slots; i += 2)
        more = reach_pair(w, t, i, level) || more;
  } while (more);
}

/* Find out what of the world lives. */
static void reach(world_t *w) {
  for (size_t n = 0; n < w->count; ++n) {
    w->objects[n]->before = w->objects[n]->level;
    w->objects[n]->level = DEAD;
  }
  w->tables = NULL;
  for (size_t i = 0; i < ALL_SLOTS; ++i)
    reach_object(w, w->to[i], LIVE);
  for (size_t n = 0; n < w->count; ++n)
    if (w->objects[n]->stacked != 0)
      reach_object(w, w->objects[n], LIVE);
  reach_all(w, LIVE);
  for (size_t n = 0; n < w->count; ++n)
    if (w->objects[n]->registered > 0)
      reach_object(w, w->objects[n], KEPT);
  reach_all(w, KEPT);
}

/* After `reach`, forget what nothing can lead to any more. */
static void forget_dead(world_t *w) {
  size_t kept = 0;
  for (object_t *t = w->tables; t != NULL; t = t->next_table)
    for (size_t i = 0; i < t->slots; ++i)
      reach_object(w, t->to[i], WEAKLY);
  reach_all(w, WEAKLY);
  for (size_t n = 0; n < w->count; ++n) {
    object_t *o = w->objects[n];
    if (o->level != DEAD)
      w->objects[kept++] = o;
    else
      free_object(o);
  }
  w->count = kept;
}

#endif /* TDO_TEST_WORLDS_H */
