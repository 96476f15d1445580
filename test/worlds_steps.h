/* Testudo: what threads of test_worlds.c do with a world that they have locked.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_WORLDS_STEPS_H
#define TDO_TEST_WORLDS_STEPS_H

#include "test/suite.h"
#include "test/worlds_heap.h"

enum {
  THREADS = 5, /* registered ones, at most */
  SHARED = 4,  /* worlds that all use, on each side */
  WORLDS = THREADS + SHARED,
  HINTS = 16,
  STACKED = 60, /* objects */
  FRAMES = 8,
  BORROWED = 4 /* where the words of a root are from */
};

static world_t worlds[SIDES][WORLDS]; /* first each thread's, then shared */

/* A thread. Its points are used in any world that it has locked. */
typedef struct worker {
  size_t no;
  uint64_t seed;
  pthread_t id;
  bool running;
  atomic_bool ready; /* for signals */
  bool alternate, registered;
  size_t steps;
  void *cold;
  mps_scan_tag_s tag;
  mps_thr_t thr[SIDES];
  mps_root_t stack[SIDES];
  mps_ap_t ap[SIDES][PLACES];
  /* Of the handler, on side 0; ambiguous. */
  mps_ap_t handler_ap;
  mps_root_t hints_root;
  volatile mps_word_t hints[HINTS], more_hints[1];
  /* Objects of class SNC, in its own world. */
  object_t *stacked[SIDES][STACKED];
  size_t stacked_count[SIDES], frames[SIDES];
  mps_frame_t frame[SIDES][FRAMES];
  size_t frame_below[SIDES][FRAMES];
} worker_t;

static worker_t workers[THREADS];
static _Thread_local worker_t *me; /* null: not one of them */

static atomic_size_t finalized, cleared, found, moved;

static mps_arena_t arena_of(const world_t *w) {
  return sides[w->side].arena;
}

static void lock(world_t *w) {
  REQUIRE(pthread_mutex_lock(&w->lock) == 0);
}

static void unlock(world_t *w) {
  REQUIRE(pthread_mutex_unlock(&w->lock) == 0);
}

/* ---- making objects ---- */

static size_t any_size(void) {
  size_t n = below(1000);
  return below(n < 600 ? 8 : n < 940 ? 30 : n < 998 ? 500 : 9000);
}

static void link_slot(world_t *w, object_t *o, mps_word_t *slots, size_t i) {
  size_t s = below(ROOM);
  o->to[i] = w->to[s];
  slots[i] = (mps_word_t)get(w, s);
}

static void refuse(const world_t *w) {
  ++refused;
  if (below(30) == 0)
    (void)mps_arena_commit_limit_set(arena_of(w), SIZE_MAX);
}

/* A new object in the heap, some of it linked to what the root has; null if
   refused. */
static mps_word_t *make(world_t *w, object_t **o_o, kind_t kind, size_t place,
                        size_t slots) {
  mps_ap_t ap = me->ap[w->side][place];
  object_t *o = add_object(w, kind, place, LEAD + slots, slots);
  mps_addr_t p;
  do {
    if (mps_reserve(&p, ap, o->words * WORD) != MPS_RES_OK) {
      refuse(w);
      *o_o = NULL;
      return NULL; /* it is forgotten with the dead */
    }
    write_object(p, kind, o->words, o->number);
    for (size_t i = 0; kind == PLAIN && i < 3 && i < slots; ++i)
      link_slot(w, o, (mps_word_t *)p + LEAD, i);
  } while (!mps_commit(ap, p, o->words * WORD));
  *o_o = o;
  return p;
}

static mps_word_t *make_any(world_t *w, object_t **o_o) {
  size_t place = below(USUAL);
  kind_t kind = place_leaves(place) || below(6) == 0 ? LEAF : PLAIN;
  return make(w, o_o, kind, place, any_size());
}

static void do_make(world_t *w) {
  for (size_t n = 1 + below(8); n > 0; --n) {
    object_t *o;
    mps_word_t *p = make_any(w, &o);
    if (p != NULL)
      put(w, below(ROOM), p, o);
  }
}

/* Objects of no world, so that there is something to collect. */
static void do_litter(world_t *w) {
  size_t place = below(USUAL), words = LEAD + below(20);
  mps_ap_t ap = me->ap[w->side][place];
  kind_t kind = place_leaves(place) ? LEAF : PLAIN;
  mps_addr_t p;
  for (size_t n = suite_size(500, 5); n > 0; --n)
    do {
      if (mps_reserve(&p, ap, words * WORD) != MPS_RES_OK) {
        ++refused;
        return;
      }
      write_object(p, kind, words, 0);
    } while (!mps_commit(ap, p, words * WORD));
}

/* Several in one reserve, each of which leads to the next: once they are
   committed another thread may collect what nothing leads to. */
static void do_region(world_t *w) {
  enum { REGION = 60 };
  size_t place = below(USUAL), count = 2 + below(REGION - 2), slots = below(9);
  mps_ap_t ap = me->ap[w->side][place];
  kind_t kind = place_leaves(place) ? LEAF : PLAIN;
  object_t *made[REGION];
  size_t words = LEAD + slots, size = count * words * WORD;
  mps_addr_t p;
  for (size_t n = 0; n < count; ++n)
    made[n] = add_object(w, kind, place, words, slots);
  do {
    if (mps_reserve(&p, ap, size) != MPS_RES_OK) {
      ++refused;
      return;
    }
    for (size_t n = 0; n < count; ++n) {
      mps_word_t *base = (mps_word_t *)p + n * words;
      write_object(base, kind, words, made[n]->number);
      for (size_t i = 0; kind == PLAIN && i < slots; ++i)
        link_slot(w, made[n], base + LEAD, i);
      if (kind == PLAIN && slots > 0 && n + 1 < count) {
        base[LEAD] = (mps_word_t)(base + words);
        made[n]->to[0] = made[n + 1];
      }
    }
  } while (!mps_commit(ap, p, size));
  put(w, below(ROOM), p, made[0]);
}

/* ---- reading and writing ---- */

/* An object that is reached from the root; null if there is none. */
static object_t *stroll(world_t *w, volatile mps_word_t **p_o) {
  size_t s = below(ROOM);
  object_t *o = w->to[s];
  volatile mps_word_t *p = get(w, s);
  REQUIRE((o == NULL) == (p == NULL));
  for (size_t n = below(8); o != NULL; --n) {
    size_t i;
    check_head(p, o);
    if (n == 0 || o->kind != PLAIN || o->slots == 0)
      break;
    i = below(below(4) == 0 || o->slots < 3 ? o->slots : 3);
    if (o->to[i] == NULL)
      break;
    p = (volatile mps_word_t *)p[LEAD + i];
    REQUIRE(p != NULL);
    o = o->to[i];
  }
  *p_o = p;
  return o;
}

static void do_store(world_t *w) {
  volatile mps_word_t *p;
  object_t *o = stroll(w, &p);
  size_t i, s = below(ROOM);
  bool null = below(4) == 0;
  if (o == NULL || o->kind != PLAIN || o->slots == 0)
    return;
  i = below(below(2) == 0 || o->slots < 3 ? o->slots : 3);
  p[LEAD + i] = null ? 0 : (mps_word_t)get(w, s);
  o->to[i] = null ? NULL : w->to[s];
  keep(p);
}

static void do_load(world_t *w) {
  volatile mps_word_t *p;
  object_t *o = stroll(w, &p);
  if (o != NULL)
    put(w, below(ROOM), p, o);
}

static void do_drop(world_t *w) {
  for (size_t n = 1 + below(8); n > 0; --n)
    put(w, below(ROOM), NULL, NULL);
}

/* Few objects are to be left. */
static void thin(world_t *w) {
  if (w->count < MANY)
    return;
  for (size_t s = 0; w->count > 2 * MANY && s < ROOM; ++s)
    if (below(2) == 0)
      put(w, s, NULL, NULL);
  reach(w);
  forget_dead(w);
  if (w->count > MANY)
    for (size_t s = 0; s < ROOM; ++s)
      if (below(2) == 0)
        put(w, s, NULL, NULL);
}

/* ---- tables ---- */

/* P, which led to O in a weak slot or message, is in the root again; `reach`
   has been called. */
static void regain(world_t *w, volatile mps_word_t *p, object_t *o) {
  put(w, below(ROOM), p, o);
  reach(w);
  for (size_t n = 0; n < w->count; ++n) {
    object_t *x = w->objects[n];
    if (x->level == LIVE && x->before != LIVE)
      x->found = true;
    if (x->level == LIVE && x->before < KEPT)
      x->risen = true;
  }
  ++found;
}

static void weak_seen(world_t *w, volatile mps_word_t *p, object_t *o) {
  check_head(p, o);
  if (below(3) == 0) {
    reach(w);
    regain(w, p, o);
  }
  keep(p);
}

static void weak_gone(world_t *w, object_t *t, size_t i) {
  reach(w);
  REQUIRE(!slot_stands(t, i));
  forget_slot(t, i);
  ++cleared;
}

static void new_table(world_t *w, size_t s) {
  size_t slots = 3 + 2 * below(20);
  object_t *t, *keys;
  volatile mps_word_t *p, *q;
  kind_t kind = s == VALUES_SLOT ? VALUES
                : s == WEAK_SLOT ? WEAK
                                 : PAIRS + (kind_t)below(3);
  p = make(w, &t, kind,
           s == VALUES_SLOT ? STRONG
           : s == WEAK_SLOT ? WEAKS
                            : PAIRED,
           slots);
  if (p == NULL)
    return;
  put(w, s, p, t);
  if (s != VALUES_SLOT)
    return;
  q = make(w, &keys, KEYS, WEAKS, slots);
  if (q == NULL) {
    put(w, s, NULL, NULL);
    return;
  }
  p[LEAD] = (mps_word_t)q;
  t->to[0] = keys;
  q[LEAD] = (mps_word_t)p;
  keys->to[0] = t;
  keep(q);
  keep(p);
}

static void do_keys(world_t *w) {
  object_t *values = w->to[VALUES_SLOT], *keys, *leaf;
  volatile mps_word_t *v = get(w, VALUES_SLOT), *k, *p, *q;
  size_t i, s = below(ROOM);
  if (values == NULL || below(300) == 0) {
    new_table(w, VALUES_SLOT);
    return;
  }
  check_head(v, values);
  keys = values->to[0];
  k = (volatile mps_word_t *)v[LEAD];
  check_head(k, keys);
  i = 1 + below(keys->slots - 1);
  p = (volatile mps_word_t *)k[LEAD + i];
  if (keys->to[i] == NULL) {
    REQUIRE(p == NULL && v[LEAD + i] == 0);
  } else if (p == NULL) {
    REQUIRE(v[LEAD + i] == 0);
    weak_gone(w, keys, i);
  } else {
    q = (volatile mps_word_t *)v[LEAD + i];
    check_head(q, values->to[i]);
    weak_seen(w, p, keys->to[i]);
  }
  q = make(w, &leaf, LEAF, below(2) == 0 ? LEAVES : MARKED_LEAVES, below(9));
  p = get(w, s);
  v[LEAD + i] = 0;
  k[LEAD + i] = 0;
  values->to[i] = keys->to[i] = NULL;
  if (p != NULL && q != NULL) {
    k[LEAD + i] = (mps_word_t)p;
    v[LEAD + i] = (mps_word_t)q;
    keys->to[i] = w->to[s];
    values->to[i] = leaf;
  }
  keep(p);
  keep(q);
  keep(k);
  keep(v);
}

static void do_pairs(world_t *w) {
  object_t *t = w->to[PAIRS_SLOT];
  volatile mps_word_t *at = get(w, PAIRS_SLOT), *p, *q;
  size_t i, s = below(ROOM), r = below(ROOM);
  if (t == NULL || below(300) == 0) {
    new_table(w, PAIRS_SLOT);
    return;
  }
  check_head(at, t);
  i = 1 + 2 * below((t->slots - 1) / 2);
  p = (volatile mps_word_t *)at[LEAD + i];
  q = (volatile mps_word_t *)at[LEAD + i + 1];
  if (t->to[i] == NULL) {
    REQUIRE(p == NULL && q == NULL);
  } else if (p == NULL || q == NULL) {
    REQUIRE(at[LEAD + i] == 0 && at[LEAD + i + 1] == 0);
    weak_gone(w, t, i);
  } else {
    check_head(q, t->to[i + 1]);
    weak_seen(w, p, t->to[i]);
    keep(q);
  }
  p = get(w, s);
  q = get(w, r);
  at[LEAD + i] = at[LEAD + i + 1] = 0;
  t->to[i] = t->to[i + 1] = NULL;
  if (p != NULL && q != NULL) {
    at[LEAD + i] = (mps_word_t)p;
    at[LEAD + i + 1] = (mps_word_t)q;
    t->to[i] = w->to[s];
    t->to[i + 1] = w->to[r];
  }
  keep(p);
  keep(q);
  keep(at);
}

static void do_weak(world_t *w) {
  object_t *t = w->to[WEAK_SLOT];
  volatile mps_word_t *at = get(w, WEAK_SLOT), *p;
  size_t i, s = below(ROOM);
  if (t == NULL || below(300) == 0) {
    new_table(w, WEAK_SLOT);
    return;
  }
  check_head(at, t);
  i = 1 + below(t->slots - 1);
  p = (volatile mps_word_t *)at[LEAD + i];
  if (t->to[i] == NULL)
    REQUIRE(p == NULL);
  else if (p == NULL)
    weak_gone(w, t, i);
  else
    weak_seen(w, p, t->to[i]);
  p = get(w, s);
  at[LEAD + i] = (mps_word_t)p;
  t->to[i] = w->to[s];
  keep(p);
  keep(at);
}

/* ---- finalization ---- */

static void do_finalize(world_t *w) {
  size_t s = below(ROOM);
  mps_addr_t ref = (mps_addr_t)get(w, s);
  if (ref == NULL)
    return;
  if (mps_finalize(arena_of(w), &ref) == MPS_RES_OK)
    ++w->to[s]->registered;
  else
    ++refused;
}

static void do_definalize(world_t *w) {
  size_t s = below(ROOM);
  mps_addr_t ref = (mps_addr_t)get(w, s);
  if (ref == NULL)
    return;
  if (mps_definalize(arena_of(w), &ref) == MPS_RES_OK)
    REQUIRE(w->to[s]->registered-- > 0);
}

/* The object at P is told of by a message; until that is in the model nobody
   forgets it. */
static object_t *told(volatile mps_word_t *p) {
  size_t number = head_number(p[0]);
  object_t *o;
  REQUIRE(number > 0 && number < OBJECTS);
  o = objects[number];
  REQUIRE(o != NULL);
  return o;
}

static void take_message(mps_arena_t arena, mps_message_t message,
                         bool locked) {
  mps_addr_t ref;
  volatile mps_word_t *p;
  object_t *o;
  mps_message_finalization_ref(&ref, arena, message);
  p = ref;
  o = told(p);
  if (!locked)
    lock(o->world);
  check_head(p, o);
  reach(o->world);
  REQUIRE(o->registered > 0);
  REQUIRE(o->level != LIVE || o->found);
  if (me != NULL && below(3) == 0)
    regain(o->world, p, o);
  --o->registered;
  if (!locked)
    unlock(o->world);
  ++finalized;
  keep(p);
}

static void do_messages(mps_arena_t arena, bool locked) {
  mps_message_t message;
  mps_message_type_t type;
  for (size_t n = 0; n < 20 && mps_message_queue_type(&type, arena); ++n) {
    if (!mps_message_get(&message, arena, type))
      continue; /* another thread was faster */
    REQUIRE(mps_message_type(arena, message) == type);
    if (type == mps_message_type_finalization())
      take_message(arena, message, locked);
    mps_message_discard(arena, message);
  }
}

/* ---- what the library tells of addresses ---- */

static void do_depend(world_t *w) {
  mps_arena_t arena = arena_of(w);
  for (size_t n = 0; n < DEPENDENT; ++n) {
    size_t s = w->depends_slot[n];
    volatile mps_word_t *p = get(w, s);
    if (w->depends[n] == 0 || w->to[s] == NULL ||
        w->to[s]->number != w->depends[n] || (uintptr_t)p == w->was[n])
      continue;
    REQUIRE(place_moves(w->to[s]->place));
    REQUIRE(mps_ld_isstale(&w->dependency, arena, (mps_addr_t)p));
    REQUIRE(
        mps_ld_isstale(&w->dependency, arena, (mps_addr_t)w->was[n]));
    REQUIRE(mps_ld_isstale_any(&w->dependency, arena));
    ++moved;
  }
  mps_ld_reset(&w->dependency, arena);
  for (size_t n = 0; n < DEPENDENT; ++n) {
    size_t s = below(ROOM);
    volatile mps_word_t *p = get(w, s);
    w->depends_slot[n] = s;
    w->depends[n] = p == NULL ? 0 : w->to[s]->number;
    w->was[n] = (uintptr_t)p;
    mps_ld_add(&w->dependency, arena, (mps_addr_t)p);
    keep(p);
  }
}

static void do_ask(world_t *w) {
  mps_arena_t arena = arena_of(w);
  size_t s = below(ROOM);
  volatile mps_word_t *p = get(w, s);
  object_t *o = w->to[s];
  mps_addr_t at = NULL, inside;
  mps_pool_t pool;
  mps_fmt_t format;
  mps_res_t res;
  if (o == NULL)
    return;
  inside = (char *)p + below(o->words * WORD);
  REQUIRE(mps_arena_has_addr(arena, inside));
  REQUIRE(side_count < 2 ||
          !mps_arena_has_addr(sides[1 - w->side].arena, inside));
  REQUIRE(mps_addr_pool(&pool, arena, inside) &&
          pool == sides[w->side].pool[pool_at[o->place]]);
  REQUIRE(mps_addr_fmt(&format, arena, inside) &&
          format == sides[w->side].format);
  res = mps_addr_object(&at, arena, inside);
  REQUIRE(place_moves(o->place) ? res == MPS_RES_OK && at == (mps_addr_t)p
                                : res == MPS_RES_UNIMPL);
  keep(p);
}

/* ---- roots ---- */

/* Blocks that may be protected, in the other arena, are ambiguous roots there.
   Only worlds of side 1 borrow: handlers touch objects of side 0, and were
   they to wait for it inside the arena that it borrows from, it would wait for
   them (manual, chapter "Threads and signals"). */
static volatile mps_word_t lent[SIDES][WORLDS];
static mps_root_t lent_root[SIDES];

static mps_word_t *borrow(const world_t *w) {
  enum { WORDS = LEAD + ALL_SLOTS };
  size_t other = 1 - w->side;
  mps_addr_t p;
  if (w->side == 0 || me == NULL)
    return NULL;
  do {
    if (mps_reserve(&p, me->ap[other][MARKED], WORDS * WORD) != MPS_RES_OK)
      return NULL;
    write_object(p, BLOB, WORDS, 0);
  } while (!mps_commit(me->ap[other][MARKED], p, WORDS * WORD));
  return p;
}

static mps_word_t *new_memory(const world_t *w, size_t from) {
  size_t size = ALL_SLOTS * WORD;
  mps_addr_t p = NULL;
  const side_t *other = &sides[side_count - 1 - w->side];
  if (from == BORROWED) {
    p = borrow(w);
    if (p == NULL)
      return NULL;
    lent[0][w - worlds[1]] = (mps_word_t)p;
    return (mps_word_t *)p + LEAD;
  }
  if (from == 0)
    p = malloc(size);
  else if (mps_alloc(&p,
                     from == 1   ? sides[w->side].manual
                     : from == 2 ? sides[w->side].units
                                 : other->manual,
                     size) != MPS_RES_OK)
    p = NULL;
  if (p != NULL)
    memset(p, 0, size);
  return p;
}

static void free_memory(size_t side, size_t from, mps_word_t *p) {
  size_t size = ALL_SLOTS * WORD;
  if (from == BORROWED)
    return; /* it is garbage */
  if (from == 0)
    free(p);
  else
    mps_free(from == 1   ? sides[side].manual
             : from == 2 ? sides[side].units
                         : sides[side_count - 1 - side].manual,
             p, size);
}

static mps_res_t scan_words(mps_ss_t ss, void *word, size_t count) {
  return mps_scan_area(ss, word, (mps_word_t *)word + count, NULL);
}

static mps_res_t new_root(mps_root_t *root_o, mps_arena_t arena,
                          root_kind_t kind, mps_word_t *word) {
  if (kind == TAGGED)
    return mps_root_create_area_tagged(root_o, arena, mps_rank_exact(), 0,
                                       word, word + ALL_SLOTS,
                                       mps_scan_area_tagged, TAG_MASK, TAG);
  if (kind == EXACT && below(2) == 0)
    return mps_root_create(root_o, arena, mps_rank_exact(), 0, scan_words,
                           word, ALL_SLOTS);
  if (kind == EXACT)
    return mps_root_create_area(root_o, arena, mps_rank_exact(), 0, word,
                                word + ALL_SLOTS, mps_scan_area, NULL);
  return mps_root_create_table(root_o, arena, mps_rank_ambig(), 0,
                               (mps_addr_t *)word, ALL_SLOTS);
}

/* Another root for the world: where there is one, what that has is copied. */
static void do_root(world_t *w) {
  world_t old = *w;
  size_t from = below(1 + BORROWED);
  root_kind_t kind = (root_kind_t)below(ROOT_KINDS);
  mps_word_t *word;
  mps_root_t root;
  if (from == BORROWED && old.memory == BORROWED)
    from = 0;
  word = new_memory(w, from);
  if (word == NULL || new_root(&root, arena_of(w), kind, word) != MPS_RES_OK) {
    if (word != NULL)
      free_memory(w->side, from, word);
    ++refused;
    return;
  }
  w->word = word;
  w->kind = kind;
  w->memory = from;
  w->root = root;
  if (old.word == NULL)
    return;
  for (size_t s = 0; s < ALL_SLOTS; ++s)
    put(w, s, get(&old, s), w->to[s]);
  mps_root_destroy(old.root);
  free_memory(w->side, old.memory, (mps_word_t *)old.word);
}

/* ---- stacks ---- */

static void pop_objects(worker_t *k, size_t side, size_t count) {
  while (k->stacked_count[side] > count)
    k->stacked[side][--k->stacked_count[side]]->stacked = 0;
}

/* In the thread's own world. No other object gets a reference to one on the
   stack, which it would outlive. */
static void do_stack(world_t *w) {
  size_t side = w->side, n = below(100), *count = &me->stacked_count[side];
  mps_ap_t ap = me->ap[side][STACK];
  object_t *o;
  if (w != &worlds[side][me->no])
    return;
  if (n < 50) {
    mps_word_t *p;
    if (*count == STACKED)
      return;
    p = make(w, &o, PLAIN, STACK, 1 + below(20));
    if (p == NULL)
      return;
    o->at = p;
    o->stacked = 1 + me->no;
    me->stacked[side][(*count)++] = o;
  } else if (n < 65 && me->frames[side] < FRAMES) {
    size_t f = me->frames[side];
    if (mps_ap_frame_push(&me->frame[side][f], ap) != MPS_RES_OK)
      return;
    me->frame_below[side][f] = *count;
    ++me->frames[side];
  } else if (n < 80 && me->frames[side] > 0) {
    size_t f = below(me->frames[side]);
    pop_objects(me, side, me->frame_below[side][f]);
    REQUIRE(mps_ap_frame_pop(ap, me->frame[side][f]) == MPS_RES_OK);
    me->frames[side] = f;
  } else if (*count > 0) {
    size_t i, s = below(ROOM);
    o = me->stacked[side][below(*count)];
    i = below(o->slots);
    check_head(o->at, o);
    if (n % 2 == 0) {
      ((volatile mps_word_t *)o->at)[LEAD + i] = (mps_word_t)get(w, s);
      o->to[i] = w->to[s];
    } else {
      volatile mps_word_t *p =
          (volatile mps_word_t *)((volatile mps_word_t *)o->at)[LEAD + i];
      REQUIRE((p == NULL) == (o->to[i] == NULL));
      if (p != NULL)
        check_head(p, o->to[i]);
      put(w, s, p, o->to[i]);
    }
  }
}

static void do_renew_point(world_t *w) {
  size_t side = w->side, place = below(PLACES);
  if (place == STACK) {
    if (w != &worlds[side][me->no] || below(4) != 0)
      return;
    pop_objects(me, side, 0);
    me->frames[side] = 0;
  }
  mps_ap_destroy(me->ap[side][place]);
  RETRY(new_point(&me->ap[side][place], sides[side].pool[pool_at[place]],
                  rank_at(place)));
}

static void do_ramp(world_t *w) {
  mps_ap_t ap = me->ap[w->side][below(2) == 0 ? NODES : NODES_NEW];
  if (below(2) == 0)
    REQUIRE(mps_ap_alloc_pattern_begin(
                ap, below(2) == 0 ? mps_alloc_pattern_ramp()
                                  : mps_alloc_pattern_ramp_collect_all()) ==
            MPS_RES_OK);
  else
    (void)mps_ap_alloc_pattern_end(ap, mps_alloc_pattern_ramp());
}

#endif /* TDO_TEST_WORLDS_STEPS_H */
