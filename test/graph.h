/* Testudo: the model of test_graph.c: objects that refer to each other, and
   what of them lives, without any heap.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_GRAPH_H
#define TDO_TEST_GRAPH_H

#include <stdbool.h>
#include <stdlib.h>
#include "mps.h"
#include "test/require.h"

typedef enum kind {
  PLAIN,     /* slots are strong */
  LEAF,      /* no slots */
  WEAK,      /* slots are weak */
  KEYS,      /* the same: slot 0 leads to the values, others to their keys */
  VALUES,    /* slot 0 leads to the keys, others to leaves: strong, but made
                null when the key's slot is */
  PAIRS,     /* slot 0 is strong; then keys and values in turn, */
  OR_PAIRS,  /* of which either keeps the other, */
  AND_PAIRS, /* or neither does */
  KINDS
} kind_t;

/* KEPT is what only registrations for finalization keep. */
typedef enum level { DEAD, KEPT, LIVE } level_t;

typedef struct object object_t;
struct object {
  size_t number; /* its place in `objects` */
  kind_t kind;
  size_t pool, words, slots; /* words: all that it has */
  object_t **to;             /* what each slot leads to, or null */
  bool stacked;              /* lives until it is popped */
  bool hinting;              /* its slots are ambiguous */
  size_t registered;         /* for finalization, and no message got yet */
  size_t due;                /* messages that may be got now */
  level_t level;             /* by the last `reach` */
  bool lived;                /* before what was dead was found again */
  mps_word_t *at;            /* where it is, or was when it was last met */
  unsigned met;
  object_t *next, *next_table;
};

enum { OBJECTS = 1 << 15, ROOM = 64, HELD = 8 };

/* In root 0, what is read or got and not yet in the model. */
enum { READ_SLOT = ROOM - 2, GOT_SLOT, FREE_SLOTS = READ_SLOT };

typedef enum root_kind { EXACT, TAGGED, AMBIG, WEAK_ROOT } root_kind_t;

typedef struct root {
  mps_root_t handle; /* null: there is none */
  root_kind_t kind;
  object_t *to[ROOM];
  size_t offset[ROOM]; /* of an ambiguous word, from what it leads to */
  size_t memory;       /* where the words are from */
  mps_word_t *word;
} root_t;

enum { ROOTS = 12 };
static root_t roots[ROOTS];

/* Messages that were got and not discarded. */
static struct held {
  mps_message_t message; /* null: none */
  object_t *object;
} held[HELD];

static object_t *objects[OBJECTS]; /* null: none */
static size_t object_count;

/* ---- objects ---- */

static object_t *add_object(kind_t kind, size_t pool, size_t words,
                            size_t slots) {
  static size_t rover;
  object_t *o = calloc(1, sizeof *o);
  REQUIRE(o != NULL && object_count < OBJECTS);
  while (objects[rover % OBJECTS] != NULL)
    ++rover;
  o->number = rover++ % OBJECTS;
  o->kind = kind;
  o->pool = pool;
  o->words = words;
  o->slots = slots;
  if (kind != LEAF && slots > 0) {
    o->to = calloc(slots, sizeof(object_t *));
    REQUIRE(o->to != NULL);
  }
  objects[o->number] = o;
  ++object_count;
  return o;
}

static void drop_object(object_t *o) {
  objects[o->number] = NULL;
  --object_count;
  free(o->to);
  free(o);
}

#define EACH_OBJECT(o)                                                        \
  for (object_t **each = objects, *o; each < objects + OBJECTS; ++each)       \
    if ((o = *each) != NULL)

static bool has_pairs(const object_t *o) {
  return o->kind >= PAIRS;
}

/* May the collector make slots of O null? */
static bool is_table(const object_t *o) {
  return o->kind >= WEAK;
}

static bool dead(const object_t *o) {
  return o->level == DEAD;
}

/* Of the pair that slot I of T belongs to, the first slot. */
static size_t pair_of(size_t i) {
  return i - 1 + i % 2;
}

/* Slot I of T leads somewhere; is it to stay so? */
static bool slot_lives(const object_t *t, size_t i) {
  size_t p = pair_of(i);
  if (t->kind == PLAIN || (i == 0 && t->kind != WEAK && t->kind != KEYS))
    return true;
  if (t->kind == VALUES)
    return t->to[0]->to[i] != NULL && !dead(t->to[0]->to[i]);
  if (!has_pairs(t))
    return !dead(t->to[i]);
  return t->kind == PAIRS      ? !dead(t->to[p])
         : t->kind == OR_PAIRS ? !dead(t->to[p]) || !dead(t->to[p + 1])
                               : !dead(t->to[p]) && !dead(t->to[p + 1]);
}

/* The collector made slot I of T null, and what goes with it. */
static void forget_slot(object_t *t, size_t i) {
  if (t->kind == VALUES) {
    t = t->to[0];
  } else if (has_pairs(t)) {
    t->to[pair_of(i) + 1] = NULL;
    i = pair_of(i);
  }
  if (t->kind == KEYS && i > 0 && t->to[0] != NULL)
    t->to[0]->to[i] = NULL;
  t->to[i] = NULL;
}

/* ---- what lives ---- */

static object_t *grey, *tables;
static level_t reached;
static bool parked; /* nothing is collected, and all values were looked at */
static bool careful; /* what was dead may be found again, or be gone */

/* Is slot I of T as the model has it, and not null by now? */
static bool slot_stands(object_t *t, size_t i);

static void reach_object(object_t *o) {
  if (o == NULL || !dead(o))
    return;
  o->level = reached;
  o->next = grey;
  grey = o;
}

static void reach_slots(object_t *o) {
  size_t strong = o->kind == PLAIN || (o->kind == VALUES && parked) ? o->slots
                  : o->kind == VALUES || has_pairs(o)               ? 1
                                                                    : 0;
  for (size_t i = 0; i < strong && i < o->slots; ++i)
    reach_object(o->to[i]);
  if (has_pairs(o)) {
    o->next_table = tables;
    tables = o;
  }
}

/* Pair I of T lives, and keeps something that was not known to live. */
static bool reach_pair(object_t *t, size_t i) {
  object_t *key = t->to[i], *value = t->to[i + 1];
  if (key == NULL || t->kind == AND_PAIRS || !slot_lives(t, i) ||
      (!dead(key) && !dead(value)))
    return false;
  if (careful &&
      !(t->lived && (key->lived || (t->kind == OR_PAIRS && value->lived))) &&
      !slot_stands(t, i))
    return false;
  reach_object(key);
  reach_object(value);
  return true;
}

static void reach_all(void) {
  bool more;
  do {
    for (object_t *o; (o = grey) != NULL;) {
      grey = o->next;
      reach_slots(o);
    }
    more = false;
    for (object_t *t = tables; t != NULL; t = t->next_table)
      for (size_t i = 1; i + 1 < t->slots; i += 2)
        more = reach_pair(t, i) || more;
  } while (more);
}

/* Find out what lives: in mid-collection, what certainly does. */
static void reach(void) {
  EACH_OBJECT(o)
    o->level = DEAD;
  tables = NULL;
  reached = LIVE;
  for (root_t *r = roots; r < roots + ROOTS; ++r)
    for (size_t i = 0; r->kind != WEAK_ROOT && i < ROOM; ++i)
      reach_object(r->to[i]);
  for (size_t i = 0; i < HELD; ++i)
    reach_object(held[i].object);
  EACH_OBJECT(o)
    if (o->stacked)
      reach_object(o);
  reach_all();
  reached = KEPT;
  EACH_OBJECT(o)
    if (o->registered > 0)
      reach_object(o);
  reach_all();
}

#endif /* TDO_TEST_GRAPH_H */
