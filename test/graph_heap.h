/* Testudo: the heap of graph_work.h: the format of its objects, its pools, and
   whether all that is as the model has it.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_GRAPH_HEAP_H
#define TDO_TEST_GRAPH_HEAP_H

#include <string.h>
#include "mpscamc.h"
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "mpscmvff.h"
#include "mpscsnc.h"
#include "code/clock.h"
#include "test/fix.h"
#include "test/graph.h"
#include "test/head.h"
#include "test/pools.h"
#include "test/random.h"
#include "testudo.h"

enum {
  WORD = sizeof(mps_word_t),
  HEADER = 2, /* words, of formats that have one */
  POINTS = 3, /* of each pool */
  LASTING = 14,
  PASSING = 4,
  STACK = LASTING + PASSING, /* the pool of class SNC */
  POOLS,
  CHAINS = 3,
  TAG = 5 /* of words in tagged roots that are references */
};

/* ---- the format ----

   A forwarding object has its new address in the second word, and one of a
   single word, in that. */

enum { FORWARD_WORD = 7 };

static inline size_t object_words(mps_word_t head) {
  return head_what(head) == FORWARD_WORD ? 1 : head_words(head);
}

static inline size_t lead_words(size_t header) {
  return header > 0 ? header : 1;
}

/* The object of HEAD with these SLOTS. */
static mps_res_t scan_object(mps_ss_t ss, mps_word_t head, void *base,
                             mps_word_t *slots, size_t n) {
  kind_t kind = head_kind(head);
  mps_res_t res = MPS_RES_OK;
  for (size_t i = 0; i < n && res == MPS_RES_OK; ++i) {
    if (kind >= PAIRS && i > 0) {
      if (i + 1 < n)
        res = fix_pair(ss, kind - PAIRS, base, &slots[i]);
      ++i;
    } else {
      res = fix_word(ss, &slots[i]);
      if (kind == KEYS && slots[i] == 0 && slots[0] != 0)
        ((mps_word_t *)slots[0] + (slots - (mps_word_t *)base))[i] = 0;
    }
  }
  return res;
}

static mps_res_t scan(mps_ss_t ss, mps_addr_t base, mps_addr_t limit,
                      size_t header) {
  mps_res_t res = MPS_RES_OK;
  MPS_SCAN_BEGIN(ss) {
    mps_word_t *p = base;
    while (p < (mps_word_t *)limit && res == MPS_RES_OK) {
      mps_word_t head = p[-(ptrdiff_t)header];
      size_t words = object_words(head), lead = lead_words(header);
      REQUIRE(words > 0);
      if (head_what(head) == OBJECT && head_kind(head) != LEAF)
        MPS_FIX_CALL(ss, res = scan_object(ss, head, p, p + lead - header,
                                           words - lead));
      p += words;
    }
  }
  MPS_SCAN_END(ss);
  return res;
}

static mps_addr_t skip(mps_addr_t p, size_t header) {
  mps_word_t head = ((mps_word_t *)p)[-(ptrdiff_t)header];
  REQUIRE(head_what(head) != 0 && object_words(head) > 0);
  return (mps_word_t *)p + object_words(head);
}

static void forward(mps_addr_t old, mps_addr_t new, size_t header) {
  mps_word_t *base = (mps_word_t *)old - header;
  size_t words = object_words(*base);
  REQUIRE(head_what(*base) == OBJECT);
  if (words == 1) {
    *base = (mps_word_t) new | FORWARD_WORD;
  } else {
    *base = HEAD(FORWARD, 0, words, 0);
    base[1] = (mps_word_t) new;
  }
}

static mps_addr_t forwarded(mps_addr_t p, size_t header) {
  const mps_word_t *base = (mps_word_t *)p - header;
  return head_what(*base) == FORWARD        ? (mps_addr_t)base[1]
         : head_what(*base) == FORWARD_WORD ? (mps_addr_t)(*base & ~7ul)
                                            : NULL;
}

static void pad(mps_addr_t base, size_t size) {
  *(mps_word_t *)base = HEAD(PAD, 0, size / WORD, 0);
}

#define METHODS(h)                                                            \
  static mps_res_t scan##h(mps_ss_t ss, mps_addr_t base, mps_addr_t limit) {  \
    return scan(ss, base, limit, h);                                          \
  }                                                                           \
  static mps_addr_t skip##h(mps_addr_t p) {                                   \
    return skip(p, h);                                                        \
  }                                                                           \
  static void forward##h(mps_addr_t old, mps_addr_t new) {                    \
    forward(old, new, h);                                                     \
  }                                                                           \
  static mps_addr_t forwarded##h(mps_addr_t p) {                              \
    return forwarded(p, h);                                                   \
  }                                                                           \
  static mps_addr_t dependent##h(mps_addr_t p) {                              \
    mps_word_t head = ((mps_word_t *)p)[-h];                                  \
    return head_kind(head) == KEYS || head_kind(head) == VALUES               \
               ? ((mps_addr_t *)p)[h == 0]                                    \
               : NULL;                                                        \
  }
METHODS(0)
METHODS(2) /* HEADER */

/* Time is what the library asks for, so that each run is the same. */
uint64_t tdo_clock_ns(void) {
  static uint64_t now;
  return now += 1000;
}

/* ---- what the heap has ---- */

typedef struct place { /* a pool */
  mps_pool_t pool;     /* null: there is none */
  mps_fmt_t format;
  mps_chain_t chain; /* its own, or null */
  size_t header, align;
  bool moves, leaves, interior;
  mps_ap_t ap[POINTS]; /* null: none */
  size_t points;
  mps_rank_t rank[POINTS];
} place_t;

static unsigned calm; /* if not 0, what the program asks for is there */

/* Does RES say that there was no memory? */
static bool memory_code(mps_res_t res) {
  return res == MPS_RES_MEMORY || res == MPS_RES_RESOURCE ||
         res == MPS_RES_COMMIT_LIMIT;
}

static place_t places[POOLS];
static mps_chain_t chains[CHAINS];
static mps_pool_t manual, units, temporal;
static mps_ap_t temporal_ap;
static size_t blocks[3]; /* of roots, in each */
static size_t found, finalized, cleared, refused;

/* False if RES says so, which it may. */
static bool had(mps_res_t res) {
  if (res == MPS_RES_OK)
    return true;
  REQUIRE(memory_code(res) && calm == 0);
  ++refused;
  return false;
}

static size_t header_of(const object_t *o) {
  return places[o->pool].header;
}

static bool moves(const object_t *o) {
  return places[o->pool].moves;
}

static bool passing(const object_t *o) {
  return o->pool >= LASTING && o->pool < STACK;
}

/* The slots of O, which is at AT. */
static mps_word_t *slots_at(const object_t *o, mps_word_t *at) {
  return at + (header_of(o) > 0 ? 0 : 1);
}

/* Those of O, which does not move. */
static mps_word_t *slots_of(const object_t *o) {
  return slots_at(o, o->at);
}

static mps_word_t head_of(const object_t *o) {
  return HEAD(OBJECT, o->kind, o->words, o->number);
}

static mps_word_t leaf_word(const object_t *o, size_t i) {
  return (o->number << 20) * 8 + i;
}

static void check_head(const object_t *o, const mps_word_t *at) {
  const mps_word_t *base = at - header_of(o);
  REQUIRE(base[0] == head_of(o));
  REQUIRE(header_of(o) == 0 || base[1] == ~head_of(o));
}

/* May objects of pool FROM lead to O? Passing pools go with theirs. */
static bool may_lead(size_t from, const object_t *o) {
  return o == NULL || !passing(o) || o->pool == from;
}

/* At times few slots of root 0 change, and most of the heap grows old. */
static size_t changing = FREE_SLOTS;

static size_t any_slot(void) {
  return random_below(changing);
}

static void hold(size_t s, mps_word_t word, object_t *o) {
  roots[0].word[s] = word;
  roots[0].to[s] = o;
}

/* ---- comparison ---- */

static unsigned round_now;
static bool exact; /* a full collection is just over */
static object_t *met;

/* WORD leads to O. */
static void meet(object_t *o, mps_word_t word) {
  mps_word_t *at = (mps_word_t *)word;
  REQUIRE((o == NULL) == (at == NULL));
  if (o == NULL)
    return;
  REQUIRE(o->at == at || (moves(o) && o->met != round_now));
  if (o->met == round_now)
    return;
  o->met = round_now;
  o->at = at;
  o->next = met;
  met = o;
}

static void compare_slot(object_t *o, size_t i) {
  mps_word_t word = slots_at(o, o->at)[i];
  if (o->to[i] == NULL || (word != 0 && !exact) || slot_lives(o, i)) {
    meet(o->to[i], word);
  } else {
    REQUIRE(word == 0);
    forget_slot(o, i);
    ++cleared;
  }
}

static void compare_object(object_t *o) {
  check_head(o, o->at);
  for (size_t i = 0; i < o->slots; ++i)
    if (o->kind == LEAF)
      REQUIRE(slots_at(o, o->at)[i] == leaf_word(o, i));
    else
      compare_slot(o, i);
}

static void compare_root(root_t *r) {
  for (size_t i = 0; i < ROOM; ++i) {
    mps_word_t word = r->word[i] - r->offset[i];
    if (r->kind == TAGGED && r->to[i] == NULL)
      continue;
    if (r->kind == WEAK_ROOT && r->to[i] != NULL && dead(r->to[i]) &&
        (exact || word == 0)) {
      REQUIRE(word == 0);
      r->to[i] = NULL;
    }
    meet(r->to[i], r->kind == TAGGED ? word - TAG : word);
  }
}

/* The heap is as the model has it, since `reach`. After a full collection that
   goes for tables that only registrations keep, too; before, the program must
   not know them. */
static void compare(void) {
  ++round_now;
  met = NULL;
  for (root_t *r = roots; r < roots + ROOTS; ++r)
    if (r->handle != NULL)
      compare_root(r);
  EACH_OBJECT(o)
    if (o->stacked || (exact && is_table(o) && !dead(o)))
      meet(o, (mps_word_t)o->at);
  for (object_t *o; (o = met) != NULL;) {
    met = o->next;
    compare_object(o);
  }
}

/* ---- messages ---- */

/* What is registered and does not live may be told of. */
static void expect_messages(void) {
  EACH_OBJECT(o)
    o->due = o->level == LIVE ? 0 : o->registered;
}

/* The object at client pointer AT. */
static object_t *object_at(mps_word_t *at) {
  mps_fmt_t f;
  REQUIRE(mps_addr_fmt(&f, arena, at));
  for (const place_t *p = places; p < places + POOLS; ++p)
    if (p->pool != NULL && p->format == f) {
      size_t number = head_number(at[-(ptrdiff_t)p->header]);
      REQUIRE(number < OBJECTS && objects[number] != NULL);
      return objects[number];
    }
  REQUIRE(false);
  return NULL;
}

static void take_message(mps_message_t message) {
  size_t s = any_slot(), h = random_below(2 * HELD);
  mps_word_t *got = &roots[0].word[GOT_SLOT];
  object_t *o;
  mps_message_finalization_ref((mps_addr_t *)got, arena, message);
  o = object_at((mps_word_t *)*got);
  check_head(o, (mps_word_t *)*got);
  REQUIRE(o->due > 0);
  --o->due;
  --o->registered;
  ++finalized;
  if (h < HELD && held[h].message == NULL) {
    held[h].message = message;
    held[h].object = o;
  } else {
    if (random_below(3) == 0)
      hold(s, *got, o); /* it lives again */
    mps_message_discard(arena, message);
  }
  *got = 0;
}

static void get_messages(void) {
  mps_message_t message;
  mps_message_type_t type;
  while (mps_message_queue_type(&type, arena)) {
    REQUIRE(mps_message_get(&message, arena, type));
    if (type == mps_message_type_finalization())
      take_message(message);
    else
      mps_message_discard(arena, message);
  }
}

static void do_messages(void) {
  if (!mps_message_poll(arena))
    return;
  reach();
  expect_messages();
  get_messages();
}

static void discard(struct held *h) {
  if (h->message == NULL)
    return;
  mps_message_discard(arena, h->message);
  memset(h, 0, sizeof *h);
}

static void do_discard(void) {
  discard(&held[random_below(HELD)]);
}

static void do_finalize(void) {
  size_t s = any_slot();
  object_t *o = roots[0].to[s];
  if (o == NULL)
    return;
  o->registered +=
      had(mps_finalize(arena, (mps_addr_t *)&roots[0].word[s]));
}

static void do_definalize(void) {
  size_t s = any_slot();
  object_t *o = roots[0].to[s];
  if (o == NULL)
    return;
  if (mps_definalize(arena, (mps_addr_t *)&roots[0].word[s]) == MPS_RES_OK)
    REQUIRE(o->registered-- > 0);
  else
    REQUIRE(o->registered == 0);
}

/* ---- what was dead, found again ---- */

static bool slot_stands(object_t *t, size_t i) {
  if (slots_of(t)[i] != 0)
    return true;
  forget_slot(t, i);
  ++cleared;
  return false;
}

/* May slot I of T, which is to stay, be null, since what it leads to was
   dead? */
static bool slot_doubtful(const object_t *t, size_t i) {
  size_t p = pair_of(i);
  if (t->to[i] == NULL || !slot_lives(t, i))
    return false;
  return has_pairs(t) && i > 0 ? !t->to[p]->lived || !t->to[p + 1]->lived
                               : !t->to[i]->lived;
}

static void look_at_weak(void) {
  EACH_OBJECT(o)
    for (size_t i = 0; is_table(o) && !dead(o) && i < o->slots; ++i)
      if (slot_doubtful(o, i))
        (void)slot_stands(o, i);
  for (root_t *r = roots; r < roots + ROOTS; ++r)
    for (size_t i = 0; r->kind == WEAK_ROOT && i < ROOM; ++i)
      if (r->word[i] == 0 && r->to[i] != NULL && !r->to[i]->lived)
        r->to[i] = NULL;
}

/* A table that only a registration keeps is not to be looked at but when
   nothing is under way. */
static void open_tables(void) {
  EACH_OBJECT(o)
    if (is_table(o) && o->level == KEPT) {
      mps_arena_park(arena);
      return;
    }
}

/* The weak word *WORD leads to X, or is null by now: then return false. */
static bool find_again(const mps_word_t *word, object_t *x) {
  mps_word_t *read = &roots[0].word[READ_SLOT];
  *read = *word;
  if (*read == 0) {
    reach();
    return false;
  }
  check_head(x, (mps_word_t *)*read);
  do_messages(); /* of what was dead until now */
  reach();
  EACH_OBJECT(o)
    o->lived = !dead(o);
  hold(any_slot(), *read, x);
  *read = 0;
  if (!x->lived) {
    ++found;
    open_tables();
    careful = true;
    reach();
    look_at_weak();
    careful = false;
  }
  return true;
}

/* ---- pools and points ---- */

enum { AMC, AMCZ, AMS, AWL, AWL0, AEPH, LO, CLASSES };

static mps_pool_class_t class_of(size_t which) {
  mps_pool_class_t classes[] = {
      mps_class_amc(),  mps_class_amcz(), mps_class_ams(), mps_class_awl(),
      mps_class_awl0(), mps_class_aeph(), mps_class_lo()};
  return classes[which];
}

/* Of N generations; null if that is refused. */
static mps_chain_t new_chain(size_t n) {
  mps_gen_param_s gens[CHAINS];
  mps_chain_t chain;
  for (size_t i = 0; i < n; ++i)
    gens[i] = (mps_gen_param_s){
        random_below(6) == 0 ? 1 + random_below(2) * 1000000
                             : 8 + random_below(200) * (i + 1),
        (double)random_below(11) / 10};
  return had(mps_chain_create(&chain, arena, n, gens)) ? chain : NULL;
}

static bool open_format(place_t *p) {
  bool has = p->header > 0, ok;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ALIGN, p->align);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_HEADER_SIZE, p->header * WORD);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SCAN, has ? scan2 : scan0);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, has ? skip2 : skip0);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_FWD, has ? forward2 : forward0);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ISFWD, has ? forwarded2 : forwarded0);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_PAD, pad);
    ok = had(mps_fmt_create_k(&p->format, arena, args));
  }
  MPS_ARGS_END(args);
  return ok;
}

/* Memory may be limited no more when something is to be made. */
static void lift_limit(void) {
  if (random_below(4) != 0)
    (void)mps_arena_commit_limit_set(arena, SIZE_MAX);
}

/* There is none if it is refused. */
static void open_point(place_t *p, size_t i) {
  lift_limit();
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_RANK, p->rank[i]);
    if (p->moves && random_below(4) == 0) /* for AMC, where to make objects */
      MPS_ARGS_ADD(args, MPS_KEY_GEN, random_below(2));
    if (!had(mps_ap_create_k(&p->ap[i], p->pool, args)))
      p->ap[i] = NULL;
  }
  MPS_ARGS_END(args);
}

static void open_points(place_t *p, size_t which) {
  mps_rank_t e = mps_rank_exact(), w = mps_rank_weak();
  mps_rank_t ranks[CLASSES][POINTS] = {
      [AMC] = {e, e, e},
      [AMS] = {e, mps_rank_ambig()},
      [AWL] = {e, w},
      [AWL0] = {e, w},
      [AEPH] = {e, w, mps_rank_ephemeron()}};
  size_t n = p->leaves ? 1 : which == AMC || which == AEPH ? 3 : 2;
  p->points = n;
  for (size_t i = 0; i < n; ++i) {
    p->rank[i] = p->leaves ? e : ranks[which][i];
    open_point(p, i);
  }
}

/* The same, or P has only some of its points. */
static void open_place(place_t *p, size_t which, bool has_header,
                       bool own_chain) {
  size_t gens = random_below(CHAINS);
  mps_chain_t chain = chains[gens];
  bool ok;
  memset(p, 0, sizeof *p);
  lift_limit();
  p->header = has_header ? HEADER : 0;
  p->align = has_header ? 4 * WORD : WORD;
  p->moves = which == AMC || which == AMCZ;
  p->leaves = which == AMCZ || which == LO;
  p->interior = random_below(4) != 0;
  if (!open_format(p))
    return;
  if (own_chain) {
    chain = p->chain = new_chain(1 + random_below(CHAINS));
    if (chain == NULL) {
      mps_fmt_destroy(p->format);
      return;
    }
  }
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, p->format);
    if (own_chain || random_below(4) != 0) /* else the arena's, of two */
      MPS_ARGS_ADD(args, MPS_KEY_CHAIN, chain);
    else
      gens = 1;
    if (p->moves && random_below(3) == 0)
      MPS_ARGS_ADD(args, MPS_KEY_EXTEND_BY,
                   (size_t)1 << (6 + random_below(12)));
    if (p->moves && random_below(3) == 0)
      MPS_ARGS_ADD(args, MPS_KEY_LARGE_SIZE,
                   (size_t)1 << (8 + random_below(12)));
    if (p->moves)
      MPS_ARGS_ADD(args, MPS_KEY_INTERIOR, p->interior);
    else if (!own_chain) /* mostly the last one, which all chains share */
      MPS_ARGS_ADD(args, MPS_KEY_GEN,
                   random_below(8) == 0 ? random_below(gens + 1) : gens + 1);
    if (which == AWL || which == AWL0)
      MPS_ARGS_ADD(args, MPS_KEY_AWL_FIND_DEPENDENT,
                   has_header ? dependent2 : dependent0);
    ok = had(mps_pool_create_k(&p->pool, arena, class_of(which), args));
  }
  MPS_ARGS_END(args);
  if (!ok) {
    p->pool = NULL;
    if (p->chain != NULL)
      mps_chain_destroy(p->chain);
    mps_fmt_destroy(p->format);
    return;
  }
  open_points(p, which);
}

static void open_stack(place_t *p) {
  memset(p, 0, sizeof *p);
  p->align = WORD;
  REQUIRE(open_format(p));
  REQUIRE(mps_pool_create(&p->pool, arena, mps_class_snc(), p->format) ==
          MPS_RES_OK);
  p->points = POINTS;
  for (size_t i = 0; i < POINTS; ++i) {
    p->rank[i] = mps_rank_exact();
    open_point(p, i);
  }
}

/* No object of the pool is in use any more. */
static void close_place(place_t *p) {
  for (size_t i = 0; i < POINTS; ++i)
    if (p->ap[i] != NULL)
      mps_ap_destroy(p->ap[i]);
  mps_pool_destroy(p->pool);
  mps_fmt_destroy(p->format);
  if (p->chain != NULL)
    mps_chain_destroy(p->chain);
  memset(p, 0, sizeof *p);
}

/* ---- walks ---- */

static size_t walked;

static void visit(const place_t *p, const mps_word_t *at) {
  mps_word_t head = at[-(ptrdiff_t)p->header];
  object_t *o;
  walked += object_words(head) * WORD;
  if (head_what(head) == PAD) {
    REQUIRE(p->moves || p == &places[STACK]);
    return;
  }
  REQUIRE(head_what(head) == OBJECT && head_number(head) <= OBJECTS);
  if (head_number(head) == OBJECTS) {
    REQUIRE(!exact);
    return;
  }
  o = objects[head_number(head)];
  REQUIRE(o != NULL && &places[o->pool] == p && o->met != round_now);
  REQUIRE(moves(o) || o->at == at);
  check_head(o, at);
  o->met = round_now;
}

/* The program may change objects that it walks through. */
static void exchange(const mps_word_t *at, size_t header) {
  mps_word_t head = at[-(ptrdiff_t)header], *slots, word;
  object_t *o, *to;
  if (head_what(head) != OBJECT || head_kind(head) != PLAIN)
    return;
  o = objects[head_number(head)];
  if (o->slots < 2)
    return;
  slots = slots_at(o, (mps_word_t *)at);
  word = slots[0];
  to = o->to[0];
  slots[0] = slots[1];
  slots[1] = word;
  o->to[0] = o->to[1];
  o->to[1] = to;
}

static mps_res_t walk_area(mps_ss_t ss, void *base, void *limit,
                           void *closure) {
  const place_t *p = closure;
  for (mps_word_t *at = base; at < (mps_word_t *)limit;
       at = skip(at, p->header)) {
    visit(p, at);
    if (random_below(16) == 0)
      exchange(at, p->header);
  }
  return scan(ss, base, limit, p->header);
}

static void walk_object(mps_addr_t at, mps_fmt_t format, mps_pool_t pool,
                        void *p, size_t s) {
  const place_t *place = places;
  (void)p, (void)s;
  while (place->pool != pool)
    ++place;
  REQUIRE(place->format == format && mps_arena_has_addr(arena, at));
  visit(place, at);
}

static size_t unused(mps_ap_t ap) {
  return ap == NULL || ap->limit == NULL
             ? 0
             : (size_t)((char *)ap->limit - (char *)ap->init);
}

static void walk_pool(place_t *p) {
  walked = 0;
  REQUIRE(mps_pool_walk(p->pool, walk_area, p) == MPS_RES_OK);
  for (size_t i = 0; i < POINTS; ++i)
    walked += unused(p->ap[i]);
  REQUIRE(walked == in_use(p->pool));
}

/* Each object is where it is to be, once. The arena is parked. */
static void walk(void) {
  ++round_now;
  if (random_below(3) == 0)
    mps_arena_formatted_objects_walk(arena, walk_object, NULL, 0);
  else
    for (place_t *p = places; p < places + POOLS; ++p)
      if (p->pool != NULL)
        walk_pool(p);
  EACH_OBJECT(o)
    REQUIRE(o->met == round_now || dead(o));
  EACH_OBJECT(o)
    REQUIRE(!exact || o->met != round_now || !dead(o));
  REQUIRE(in_use(manual) == blocks[0] * ROOM * WORD);
  REQUIRE(in_use(units) == blocks[1] * ROOM * WORD);
  REQUIRE(in_use(temporal) == blocks[2] * ROOM * WORD + unused(temporal_ap));
}

#endif /* TDO_TEST_GRAPH_HEAP_H */
