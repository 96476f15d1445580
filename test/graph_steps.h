/* Testudo: what graph_work.h does with the graph between its full collections:
   objects are made, read and written, roots, pools and points come and go.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_GRAPH_STEPS_H
#define TDO_TEST_GRAPH_STEPS_H

#include "test/graph_heap.h"

enum {
  REGION = 300, /* objects in one reserve */
  FRAMES = 16,
  LITTER = 2000,
  MANY = 12000 /* objects that the model may have */
};

static struct {
  object_t *objects[200];
  size_t count, frames;
  mps_frame_t frame[FRAMES];
  size_t below[FRAMES];
} stacks[POINTS];
static size_t litter, transformed, collected;

/* ---- making objects ---- */

/* Go on, mostly; or begin what is due, or, seldom, with everything. */
static void nudge(void) {
  if (random_below(20) == 0)
    (void)mps_arena_start_collect(arena);
  else
    (void)mps_arena_step(arena, 0.0001, 0);
}

/* Slot I of new O leads to what is in a slot of root 0. */
static void link_slot(object_t *o, mps_word_t *slots, size_t i) {
  size_t s = (o->number * 5 + i * 11 + o->words) % FREE_SLOTS;
  if (!may_lead(o->pool, roots[0].to[s]))
    return;
  o->to[i] = roots[0].to[s];
  slots[i] = roots[0].word[s];
}

static void link_pair(object_t *o, mps_word_t *slots, size_t i) {
  link_slot(o, slots, i);
  link_slot(o, slots, i + 1);
  if (o->to[i] == NULL || o->to[i + 1] == NULL) {
    o->to[i] = o->to[i + 1] = NULL;
    slots[i] = slots[i + 1] = 0;
  }
}

static void write_object(object_t *o, mps_word_t *base) {
  mps_word_t *slots;
  base[0] = head_of(o);
  if (header_of(o) > 0)
    base[1] = ~head_of(o);
  o->at = base + header_of(o);
  slots = slots_of(o);
  for (size_t i = 0; i < o->slots; ++i)
    slots[i] = o->kind == LEAF ? leaf_word(o, i) : 0;
  if (o->kind == KEYS)
    slots[0] = (mps_word_t)o->to[0]->at;
  else if (has_pairs(o) && o->slots > 2)
    link_pair(o, slots, 1);
  else if (o->kind == PLAIN || o->kind == WEAK)
    for (size_t i = 0; i < 3 && i < o->slots; ++i)
      link_slot(o, slots, i);
}

/* Write MADE in one reserve on AP; false if that is refused. */
static bool commit_objects(mps_ap_t ap, object_t **made, size_t count) {
  bool nudged = random_below(40) != 0;
  size_t size = 0;
  mps_addr_t p;
  for (size_t i = 0; i < count; ++i)
    size += made[i]->words * WORD;
  do {
    mps_word_t *base;
    if (!had(mps_reserve(&p, ap, size))) {
      for (size_t i = 0; i < count; ++i)
        drop_object(made[i]);
      return false;
    }
    if (!nudged)
      nudge();
    nudged = true;
    base = p;
    for (size_t i = 0; i < count; base += made[i++]->words)
      write_object(made[i], base);
  } while (!mps_commit(ap, p, size));
  return true;
}

static size_t any_size(void) {
  size_t n = random_below(1000);
  return random_below(n < 600 ? 8 : n < 940 ? 40 : n < 998 ? 600 : 13000);
}

/* An object with at least SLOTS slots, not yet in the heap. */
static object_t *new_object(size_t pool, kind_t kind, size_t slots) {
  const place_t *p = &places[pool];
  size_t lead = lead_words(p->header), unit = p->align / WORD;
  size_t words = lead + slots + (p->header > 0 && slots == 0);
  words = (words + unit - 1) / unit * unit;
  return add_object(kind, pool, words, words - lead);
}

static kind_t any_kind(const place_t *p, size_t point) {
  mps_rank_t rank = p->rank[point];
  if (rank == mps_rank_weak())
    return WEAK;
  if (rank == mps_rank_ephemeron())
    return PAIRS + (kind_t)random_below(3);
  return p->leaves || random_below(6) == 0 ? LEAF : PLAIN;
}

/* A large block that does not move lives as a whole where memory is refused
   for its tables. */
static bool regions_anywhere = true;

static void make_objects(size_t count, size_t slots) {
  static object_t *made[REGION];
  size_t pool = random_below(STACK), point = random_below(POINTS);
  const place_t *p = &places[pool];
  kind_t kind;
  if (p->pool == NULL || p->ap[point] == NULL ||
      object_count + count > OBJECTS / 2 ||
      (count > 1 && !regions_anywhere && !p->moves))
    return;
  kind = any_kind(p, point);
  for (size_t i = 0; i < count; ++i) {
    made[i] = new_object(pool, kind, slots);
    made[i]->hinting = kind == PLAIN && p->rank[point] == mps_rank_ambig();
  }
  if (commit_objects(p->ap[point], made, count))
    for (size_t i = 0; i < count; i += 1 + random_below(8))
      hold(any_slot(), (mps_word_t)made[i]->at, made[i]);
}

static void do_make(void) {
  for (size_t n = 1 + random_below(8); n > 0; --n)
    make_objects(1, any_size());
}

static void do_region(void) {
  size_t count = 2 + random_below(random_below(2) == 0 ? 10 : REGION - 2);
  make_objects(count, random_below(random_below(20) == 0 ? 300 : 12));
}

/* Leaves that nobody refers to, so that there is something to collect. The
   model does not know them; their number is OBJECTS. */
static void do_litter(void) {
  const place_t *p = &places[random_below(STACK)];
  size_t words = p->header > 0 ? p->align / WORD : 2;
  mps_addr_t base;
  for (size_t n = p->ap[0] == NULL ? 0 : litter; n > 0; --n)
    do {
      if (!had(mps_reserve(&base, p->ap[0], words * WORD)))
        return;
      *(mps_word_t *)base = HEAD(OBJECT, LEAF, words, OBJECTS);
    } while (!mps_commit(p->ap[0], base, words * WORD));
}

/* Values, and keys that depend on each other. */
static void do_make_keys(void) {
  size_t pool = random_below(STACK), slots = 1 + random_below(20);
  const place_t *p = &places[pool];
  object_t *values, *keys;
  if (p->ap[0] == NULL || p->ap[1] == NULL || p->points != 2 ||
      p->rank[1] != mps_rank_weak())
    return; /* not of class AWL */
  values = new_object(pool, VALUES, slots);
  if (!commit_objects(p->ap[0], &values, 1))
    return;
  hold(any_slot(), (mps_word_t)values->at, values);
  keys = new_object(pool, KEYS, slots);
  keys->to[0] = values;
  if (!commit_objects(p->ap[1], &keys, 1))
    return;
  slots_of(values)[0] = (mps_word_t)keys->at;
  values->to[0] = keys;
}

/* ---- reading and writing ---- */

/* An object that is reached from root 0, at *AT_O; null if there is none. */
static object_t *stroll(mps_word_t **at_o) {
  size_t s = any_slot();
  object_t *o = roots[0].to[s];
  mps_word_t word = roots[0].word[s];
  for (size_t n = random_below(8); o != NULL; --n) {
    size_t i;
    *at_o = (mps_word_t *)word;
    check_head(o, *at_o);
    if (n == 0 || o->kind != PLAIN || o->slots == 0)
      break;
    i = random_below(random_below(4) == 0 || o->slots < 3 ? o->slots : 3);
    if (o->to[i] == NULL)
      break;
    word = slots_at(o, *at_o)[i];
    REQUIRE(word != 0);
    o = o->to[i];
  }
  return o;
}

static void store_slot(object_t *o, mps_word_t *slots, size_t i) {
  size_t s = any_slot();
  bool null = random_below(4) == 0;
  if (!null && !may_lead(o->pool, roots[0].to[s]))
    return;
  slots[i] = null ? 0 : roots[0].word[s];
  o->to[i] = null ? NULL : roots[0].to[s];
}

/* The slots of a pair are never of different pairs. */
static void store_pair(object_t *k, size_t i, object_t *v, size_t j) {
  size_t key = any_slot(), value = any_slot();
  const object_t *x = roots[0].to[key], *y = roots[0].to[value];
  if (x == NULL || y == NULL || !may_lead(k->pool, x) ||
      !may_lead(v->pool, y) || (v->kind == VALUES && y->kind != LEAF))
    return;
  slots_of(v)[j] = 0;
  slots_of(k)[i] = roots[0].word[key];
  slots_of(v)[j] = roots[0].word[value];
  k->to[i] = roots[0].to[key];
  v->to[j] = roots[0].to[value];
}

static void do_store(void) {
  mps_word_t *at;
  object_t *o = stroll(&at);
  size_t i;
  if (o == NULL || o->to == NULL)
    return;
  i = random_below(random_below(2) == 0 || o->slots < 3 ? o->slots : 3);
  if (o->kind == PLAIN || o->kind == WEAK || (i == 0 && has_pairs(o)))
    store_slot(o, slots_at(o, at), i);
  else if (has_pairs(o) && pair_of(i) + 1 < o->slots)
    store_pair(o, pair_of(i), o, pair_of(i) + 1);
  else if (o->kind == VALUES && i > 0 && o->to[0] != NULL)
    store_pair(o->to[0], i, o, i);
}

static void do_load(void) {
  mps_word_t *at;
  object_t *o = stroll(&at);
  size_t i;
  if (o == NULL || o->to == NULL)
    return;
  i = random_below(o->slots);
  if (o->to[i] == NULL) {
    REQUIRE(slots_at(o, at)[i] == 0);
  } else if (!is_table(o)) {
    hold(any_slot(), slots_at(o, at)[i], o->to[i]);
  } else if (!find_again(&slots_of(o)[i], o->to[i])) {
    REQUIRE(!slot_lives(o, i));
    forget_slot(o, i);
    ++cleared;
  }
}

static void do_drop(void) {
  for (size_t n = 1 + random_below(8); n > 0; --n)
    hold(any_slot(), 0, NULL);
}

/* ---- roots ---- */

static root_t *any_root(void) {
  return &roots[1 + random_below(ROOTS - 1)];
}

/* What slot S of root 0 has, or, if null, what is no reference. */
static void set_root(root_t *r, size_t i, size_t s) {
  object_t *o = roots[0].to[s];
  const place_t *p = o == NULL ? NULL : &places[o->pool];
  r->to[i] = o;
  r->offset[i] = 0;
  if (r->kind == AMBIG && o != NULL && p->moves && p->interior)
    r->offset[i] = random_below(o->words * WORD) - p->header * WORD;
  r->word[i] = roots[0].word[s] + r->offset[i];
  if (r->kind == TAGGED)
    r->word[i] = o != NULL ? r->word[i] + TAG : roots[0].word[any_slot()] + 2;
}

static void do_root(void) {
  root_t *r = any_root();
  size_t i = random_below(ROOM), s = any_slot();
  if (r->handle == NULL)
    return;
  if (random_below(2) == 0) {
    set_root(r, i, s);
  } else if (r->to[i] != NULL && r->kind == WEAK_ROOT) {
    if (!find_again(&r->word[i], r->to[i])) {
      REQUIRE(dead(r->to[i]));
      r->to[i] = NULL;
    }
  } else if (r->to[i] != NULL) {
    hold(s, r->word[i] - r->offset[i] - (r->kind == TAGGED ? TAG : 0),
         r->to[i]);
  }
}

/* Null if it is refused. */
static void *root_memory(size_t from) {
  size_t size = ROOM * WORD;
  mps_addr_t p;
  if (from == 3)
    return malloc(size);
  if (from == 2) {
    do
      if (!had(mps_reserve(&p, temporal_ap, size)))
        return NULL;
    while (!mps_commit(temporal_ap, p, size));
    return p;
  }
  return had(mps_alloc(&p, from == 0 ? manual : units, size)) ? p : NULL;
}

static mps_res_t create_root(root_t *r, mps_word_t *word) {
  if (r->kind == TAGGED)
    return mps_root_create_area_tagged(&r->handle, arena, mps_rank_exact(), 0,
                                       word, word + ROOM, mps_scan_area_tagged,
                                       7, TAG);
  return mps_root_create_table(&r->handle, arena,
                               r->kind == EXACT   ? mps_rank_exact()
                               : r->kind == AMBIG ? mps_rank_ambig()
                                                  : mps_rank_weak(),
                               0, (mps_addr_t *)word, ROOM);
}

static void free_root(root_t *r) {
  mps_pool_t from[] = {manual, units, temporal};
  if (r->memory < 3) {
    mps_free(from[r->memory], r->word, ROOM * WORD);
    --blocks[r->memory];
  } else {
    free(r->word);
  }
  memset(r, 0, sizeof *r);
}

static void open_root(root_t *r, root_kind_t kind) {
  memset(r, 0, sizeof *r);
  lift_limit();
  r->kind = kind;
  r->memory = random_below(4);
  r->word = root_memory(r->memory);
  if (r->word == NULL) {
    memset(r, 0, sizeof *r);
    return;
  }
  if (r->memory < 3)
    ++blocks[r->memory];
  memset(r->word, 0, ROOM * WORD);
  if (!had(create_root(r, r->word)))
    free_root(r);
}

static void close_root(root_t *r) {
  if (r->handle == NULL)
    return;
  mps_root_destroy(r->handle);
  free_root(r);
}

static void do_renew_root(void) {
  root_t *r = any_root();
  if (r->handle != NULL)
    close_root(r);
  else
    open_root(r, (root_kind_t)random_below(4));
}

/* ---- pools and points come and go ---- */

/* Forget the objects of POOL, which goes, wherever they may be known. There
   must be no messages left that tell of them. */
static void leave_pool(size_t pool) {
  EACH_OBJECT(o)
    if (o->pool == pool && o->registered > 0)
      mps_arena_park(arena);
  do_messages();
  for (root_t *r = roots; r < roots + ROOTS; ++r)
    for (size_t i = 0; r->handle != NULL && i < ROOM; ++i)
      if (r->to[i] != NULL && r->to[i]->pool == pool) {
        r->to[i] = NULL;
        r->word[i] = r->offset[i] = 0;
      }
  for (struct held *h = held; h < held + HELD; ++h)
    if (h->message != NULL && h->object->pool == pool)
      discard(h);
  EACH_OBJECT(o)
    if (o->pool == pool)
      drop_object(o);
}

static void do_renew_pool(void) {
  size_t pool = LASTING + random_below(PASSING);
  place_t *p = &places[pool];
  if (p->pool == NULL) {
    size_t which = random_below(CLASSES), r = random_below(4);
    open_place(p, which, r % 2 != 0, r / 2 != 0);
  } else {
    leave_pool(pool);
    close_place(p);
  }
}

static void do_renew_point(void) {
  place_t *p = &places[random_below(STACK)];
  size_t i = random_below(POINTS);
  if (i >= p->points)
    return;
  if (p->ap[i] != NULL)
    mps_ap_destroy(p->ap[i]);
  open_point(p, i);
}

static void do_ramp(void) {
  mps_ap_t ap = places[AMC].ap[random_below(POINTS)];
  if (ap == NULL)
    return;
  if (random_below(3) == 0)
    REQUIRE(mps_ap_alloc_pattern_begin(
                ap, random_below(2) == 0
                        ? mps_alloc_pattern_ramp()
                        : mps_alloc_pattern_ramp_collect_all()) == MPS_RES_OK);
  else
    (void)mps_ap_alloc_pattern_end(ap, mps_alloc_pattern_ramp());
}

/* ---- stacks ---- */

static void pop_objects(size_t s, size_t count) {
  while (stacks[s].count > count)
    drop_object(stacks[s].objects[--stacks[s].count]);
}

static void push_object(size_t s) {
  object_t *o;
  if (stacks[s].count == sizeof stacks[s].objects / sizeof o)
    return;
  o = new_object(STACK, PLAIN, any_size());
  o->stacked = true;
  if (commit_objects(places[STACK].ap[s], &o, 1))
    stacks[s].objects[stacks[s].count++] = o;
}

/* What a stack has goes with its point. */
static void renew_stack(size_t s) {
  mps_ap_destroy(places[STACK].ap[s]);
  (void)mps_arena_commit_limit_set(arena, SIZE_MAX);
  ++calm;
  open_point(&places[STACK], s);
  --calm;
  stacks[s].frames = 0;
  pop_objects(s, 0);
}

static void do_stack(void) {
  size_t s = random_below(POINTS), n = random_below(100);
  mps_ap_t ap = places[STACK].ap[s];
  if (n < 60) {
    push_object(s);
  } else if (n < 80 && stacks[s].frames < FRAMES) {
    size_t f = stacks[s].frames;
    if (had(mps_ap_frame_push(&stacks[s].frame[f], ap)))
      stacks[s].below[stacks[s].frames++] = stacks[s].count;
  } else if (n < 99 && stacks[s].frames > 0) {
    size_t f = random_below(stacks[s].frames);
    REQUIRE(mps_ap_frame_pop(ap, stacks[s].frame[f]) == MPS_RES_OK);
    stacks[s].frames = f;
    pop_objects(s, stacks[s].below[f]);
  } else if (n == 99) {
    renew_stack(s);
  }
}

static void do_stacked(void) {
  size_t s = random_below(POINTS), i;
  object_t *o;
  if (stacks[s].count == 0)
    return;
  o = stacks[s].objects[random_below(stacks[s].count)];
  if (o->slots == 0)
    return;
  i = random_below(tdo_min(o->slots, (size_t)4));
  if (random_below(2) == 0)
    store_slot(o, slots_of(o), i);
  else
    hold(any_slot(), slots_of(o)[i], o->to[i]);
}

static void do_walk(void) {
  mps_arena_park(arena);
  reach();
  walk();
  mps_arena_release(arena);
}

#endif /* TDO_TEST_GRAPH_STEPS_H */
