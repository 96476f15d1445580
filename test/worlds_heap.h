/* Testudo: the heaps of test_worlds.c: the format of objects, the pools of each
   arena, and whether a world is as the model has it.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_WORLDS_HEAP_H
#define TDO_TEST_WORLDS_HEAP_H

#include "mpsavm.h"
#include "mpscamc.h"
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "mpscmfs.h"
#include "mpscmvff.h"
#include "mpscmvt.h"
#include "mpscsnc.h"
#include "test/asserted.h"
#include "test/fix.h"
#include "test/head.h"
#include "test/worlds.h"
#include "testudo.h"

enum {
  WORD = sizeof(mps_word_t),
  LEAD = 2, /* words before the slots: what it is, and the same negated */
  SIDES = 2,
  TAG = 5, /* of words in tagged roots that are references */
  TAG_MASK = 7
};

/* ---- the format ----

   A forwarding object has its new address in the second word. */

static mps_res_t scan_object(mps_ss_t ss, mps_word_t *base) {
  kind_t kind = head_kind(*base);
  mps_word_t *slots = base + LEAD;
  size_t n = head_words(*base) - LEAD;
  mps_res_t res = MPS_RES_OK;
  for (size_t i = 0; i < n && res == MPS_RES_OK; ++i) {
    if (kind >= PAIRS && i > 0) {
      if (i + 1 < n)
        res = fix_pair(ss, kind - PAIRS, base, &slots[i]);
      ++i;
    } else {
      res = fix_word(ss, &slots[i]);
      if (kind == KEYS && slots[i] == 0 && slots[0] != 0)
        ((mps_word_t *)slots[0])[LEAD + i] = 0;
    }
  }
  return res;
}

static mps_res_t scan(mps_ss_t ss, mps_addr_t base, mps_addr_t limit) {
  mps_res_t res = MPS_RES_OK;
  MPS_SCAN_BEGIN(ss) {
    for (mps_word_t *p = base; p < (mps_word_t *)limit && res == MPS_RES_OK;
         p += head_words(*p)) {
      REQUIRE(head_what(*p) != 0 && head_words(*p) > 0);
      if (head_what(*p) == OBJECT && head_kind(*p) >= PLAIN)
        MPS_FIX_CALL(ss, res = scan_object(ss, p));
    }
  }
  MPS_SCAN_END(ss);
  return res;
}

static mps_addr_t skip(mps_addr_t p) {
  mps_word_t head = *(mps_word_t *)p;
  REQUIRE(head_what(head) != 0 && head_words(head) > 0);
  return (mps_word_t *)p + head_words(head);
}

static void forward(mps_addr_t old, mps_addr_t new) {
  mps_word_t *base = old;
  REQUIRE(head_what(*base) == OBJECT);
  *base = HEAD(FORWARD, 0, head_words(*base), 0);
  base[1] = (mps_word_t) new;
}

static mps_addr_t forwarded(mps_addr_t p) {
  const mps_word_t *base = p;
  return head_what(*base) == FORWARD ? (mps_addr_t)base[1] : NULL;
}

static void pad(mps_addr_t base, size_t size) {
  *(mps_word_t *)base = HEAD(PAD, 0, size / WORD, 0);
}

static mps_addr_t dependent(mps_addr_t p) {
  kind_t kind = head_kind(*(mps_word_t *)p);
  return kind == KEYS || kind == VALUES ? ((mps_addr_t *)p)[LEAD] : NULL;
}

/* ---- arenas and pools ---- */

enum { AMC, AMC_NEW, AMCZ, AMS, AWL, AEPH, LO, SNC, POOLS };

/* What points are for: a pool, a rank. */
enum {
  NODES,
  NODES_NEW,
  LEAVES,
  MARKED,
  STRONG,
  STRONG_PAIRS,
  MARKED_LEAVES,
  WEAKS,
  PAIRED,
  STACK,
  PLACES,
  USUAL = WEAKS /* those before are for objects of every kind */
};

static const size_t pool_at[PLACES] = {
    [NODES] = AMC,   [NODES_NEW] = AMC_NEW, [LEAVES] = AMCZ,
    [MARKED] = AMS,  [STRONG] = AWL,        [STRONG_PAIRS] = AEPH,
    [WEAKS] = AWL,   [PAIRED] = AEPH,       [MARKED_LEAVES] = LO,
    [STACK] = SNC};

static bool place_moves(size_t place) {
  return place == NODES || place == NODES_NEW || place == LEAVES;
}

static bool place_leaves(size_t place) {
  return place == LEAVES || place == MARKED_LEAVES;
}

static mps_rank_t rank_at(size_t place) {
  return place == WEAKS    ? mps_rank_weak()
         : place == PAIRED ? mps_rank_ephemeron()
                           : mps_rank_exact();
}

/* An arena. Who wants it to stay parked has `control` to itself. */
typedef struct side {
  mps_arena_t arena;
  pthread_rwlock_t control;
  mps_fmt_t format;
  mps_chain_t chain;
  mps_pool_t pool[POOLS];
  mps_pool_t manual, units, temporal;
} side_t;

static side_t sides[SIDES];
static size_t side_count;
static atomic_size_t refused;

static mps_res_t new_format(mps_fmt_t *format_o, mps_arena_t arena) {
  mps_res_t res;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ALIGN, (mps_align_t)WORD);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SCAN, scan);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, skip);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_FWD, forward);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ISFWD, forwarded);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_PAD, pad);
    res = mps_fmt_create_k(format_o, arena, args);
  }
  MPS_ARGS_END(args);
  return res;
}

static mps_pool_class_t class_of(size_t pool) {
  mps_pool_class_t classes[POOLS] = {
      [AMC] = mps_class_amc(),   [AMC_NEW] = mps_class_amc(),
      [AMCZ] = mps_class_amcz(), [AMS] = mps_class_ams(),
      [AWL] = mps_class_awl(),   [AEPH] = mps_class_aeph(),
      [LO] = mps_class_lo(),     [SNC] = mps_class_snc()};
  return classes[pool];
}

/* In CHAIN, or if that is null the arena's. */
static mps_res_t new_pool(mps_pool_t *pool_o, mps_arena_t arena, size_t which,
                          mps_fmt_t format, mps_chain_t chain) {
  mps_res_t res;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, format);
    if (chain != NULL)
      MPS_ARGS_ADD(args, MPS_KEY_CHAIN, chain);
    if (which == AWL)
      MPS_ARGS_ADD(args, MPS_KEY_AWL_FIND_DEPENDENT, dependent);
    res = mps_pool_create_k(pool_o, arena, class_of(which), args);
  }
  MPS_ARGS_END(args);
  return res;
}

static mps_res_t new_point(mps_ap_t *ap_o, mps_pool_t pool, mps_rank_t rank) {
  mps_res_t res;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_RANK, rank);
    res = mps_ap_create_k(ap_o, pool, args);
  }
  MPS_ARGS_END(args);
  return res;
}

/* Something that memory may be short for, until a limit is lifted. */
#define RETRY(expression)                                                     \
  do                                                                          \
    while ((expression) != MPS_RES_OK) {                                      \
      ++refused;                                                              \
      for (size_t lift = 0; lift < side_count; ++lift)                        \
        (void)mps_arena_commit_limit_set(sides[lift].arena, SIZE_MAX);        \
    }                                                                         \
  while (0)

/* ---- objects in the heap ---- */

/* Until here P is in a register or on the stack: pools that do not move keep
   what is referred to by its beginning only. */
static inline void keep(const volatile void *p) {
  __asm__ volatile("" ::"r"(p) : "memory");
}

static mps_word_t head_of(const object_t *o) {
  return HEAD(OBJECT, o->kind, o->words, o->number);
}

static mps_word_t leaf_word(size_t number, size_t i) {
  return ((mps_word_t)number << 20) * 8 + i;
}

static void check_head(const volatile mps_word_t *p, const object_t *o) {
  REQUIRE(p[0] == head_of(o));
  REQUIRE(p[1] == ~head_of(o));
  if (o->kind == LEAF && o->slots > 0) {
    size_t i = below(o->slots);
    REQUIRE(p[LEAD + i] == leaf_word(o->number, i));
  }
  keep(p);
}

/* The reference in slot S of the root. */
static volatile mps_word_t *get(const world_t *w, size_t s) {
  mps_word_t word = w->word[s];
  if (w->kind == TAGGED)
    word = (word & TAG_MASK) == TAG ? word - TAG : 0;
  return (volatile mps_word_t *)word;
}

static void put(world_t *w, size_t s, volatile mps_word_t *p, object_t *o) {
  w->word[s] = (mps_word_t)p + (w->kind == TAGGED && p != NULL ? TAG : 0);
  w->to[s] = o;
  keep(p);
}

/* The object of NUMBER (0: of no world), of WORDS, not linked to anything;
   between reserve and commit. */
static void write_object(mps_word_t *p, kind_t kind, size_t words,
                         size_t number) {
  p[0] = HEAD(OBJECT, kind, words, number);
  p[1] = ~p[0];
  for (size_t i = 0; i < words - LEAD; ++i)
    p[LEAD + i] = kind == LEAF ? leaf_word(number, i) : 0;
}

/* ---- comparison ---- */

/* WORD leads to O. */
static void meet(world_t *w, object_t *o, mps_word_t word) {
  mps_word_t *at = (mps_word_t *)word;
  REQUIRE((o == NULL) == (at == NULL));
  if (o == NULL)
    return;
  REQUIRE(o->met != w->round || o->at == at);
  if (o->met == w->round)
    return;
  o->met = w->round;
  o->at = at;
  o->next = w->grey;
  w->grey = o;
}

/* The collector made slot I of T null, and what goes with it. */
static void forget_slot(object_t *t, size_t i) {
  if (has_pairs(t))
    t->to[i + 1] = NULL;
  if (t->kind == KEYS && t->to[0] != NULL)
    t->to[0]->to[i] = NULL;
  t->to[i] = NULL;
}

/* EXACT: a full collection is just over. */
static void compare_weak(world_t *w, object_t *t, size_t i, bool exact) {
  const volatile mps_word_t *slots = t->at + LEAD;
  if (t->to[i] != NULL && slots[i] == 0) {
    REQUIRE(!slot_stands(t, i));
    REQUIRE(!has_pairs(t) || slots[i + 1] == 0);
    forget_slot(t, i);
  }
  if (exact && t->to[i] != NULL && t->kind != OR_PAIRS)
    REQUIRE(t->to[i]->level >= KEPT);
  meet(w, t->to[i], slots[i]);
  if (has_pairs(t))
    meet(w, t->to[i + 1], slots[i + 1]);
}

static void compare_object(world_t *w, object_t *o, bool exact) {
  const volatile mps_word_t *slots = o->at + LEAD;
  check_head(o->at, o);
  if (o->kind == LEAF) {
    for (size_t i = 0; i < o->slots; ++i)
      REQUIRE(slots[i] == leaf_word(o->number, i));
    return;
  }
  if (o->kind == PLAIN) {
    for (size_t i = 0; i < o->slots; ++i)
      meet(w, o->to[i], slots[i]);
    return;
  }
  meet(w, o->to[0], slots[0]);
  if (o->kind != VALUES)
    for (size_t i = 1; i + has_pairs(o) < o->slots; i += 1 + has_pairs(o))
      compare_weak(w, o, i, exact);
}

/* Each object of the world is as the model has it. The arena is parked, and
   stays so. */
static void compare(world_t *w, bool exact) {
  ++w->round;
  reach(w);
  w->grey = NULL;
  for (size_t s = 0; s < ALL_SLOTS; ++s)
    meet(w, w->to[s], (mps_word_t)get(w, s));
  for (size_t n = 0; n < w->count; ++n)
    if (w->objects[n]->stacked != 0)
      meet(w, w->objects[n], (mps_word_t)w->objects[n]->at);
  for (object_t *o; (o = w->grey) != NULL;) {
    w->grey = o->next;
    compare_object(w, o, exact);
  }
}

#endif /* TDO_TEST_WORLDS_HEAP_H */
