/* Testudo: small scenarios of collections, in the order of the interface's
   sections: roots, dependencies, messages, finalization, walks, transforms,
   each in pools of every class, in arenas and formats of several kinds.
   SPDX-License-Identifier: BSD-2-Clause */
#include "test/scenarios.h"

/* ---- 2.15, 2.17: roots and scanners ---- */

/* Any pointer that should keep does, and no other; it is never written. */
static void ambiguous(void) {
  mps_root_t root;
  ptrdiff_t header = (ptrdiff_t)obj_header, size = (ptrdiff_t)bytes(3);
  ptrdiff_t offsets[] = {
      0, -header, 8, size - header - 1, size - header, -header - 1};
  bool keeps[] = {true,        does(MOVES) || header == 0,
                  does(MOVES), does(MOVES),
                  false,       false};
  for (size_t i = 0; i < 6; ++i) {
    char *base;
    hide(1);
    (void)block(200); /* with neighbours that die */
    base = hidden[0];
    hidden[0] = NULL;
    words[0] = (mps_word_t)(base + offsets[i]);
    root = words_root(mps_rank_ambig(), 1);
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
    ck_assert_msg((count_posted() == 0) == keeps[i], "offset %zd", offsets[i]);
    ck_assert_uint_eq(words[0], (mps_word_t)(base + offsets[i]));
    if (keeps[i])
      ck_assert_uint_eq(number_of(base), 0);
    mps_root_destroy(root);
    (void)mps_arena_collect(arena);
    (void)count_posted();
  }
}

/* Tagged words: which are fixed, and that they keep their tags. */
static void tagged(void) {
  static const struct {
    mps_area_scan_t scan;
    mps_word_t mask, pattern;
    unsigned fixed; /* bit T: words with tag T */
  } cases[] = {{mps_scan_area_masked, 7, 0, 0xFF},
               {mps_scan_area_masked, 3, 0, 0x0F},
               {mps_scan_area_tagged, 7, 5, 0x20},
               {mps_scan_area_tagged, 3, 1, 0x02},
               {mps_scan_area_tagged, 3, 4, 0x00},
               {mps_scan_area_tagged, 7, 0, 0x01},
               {mps_scan_area_tagged_or_zero, 7, 3, 0x09}};
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
    mps_root_t root;
    hide(8);
    for (mps_word_t t = 0; t < 8; ++t) {
      bool risky = t >= 4 && cases[c].mask == 3; /* not a reference */
      words[t] = risky ? t : (mps_word_t)hidden[t] | t;
      if (risky) /* it dies */
        hidden[t] = NULL;
    }
    ck_assert_int_eq(mps_root_create_area_tagged(
                         &root, arena, mps_rank_exact(), 0, words, words + 8,
                         cases[c].scan, cases[c].mask, cases[c].pattern),
                     MPS_RES_OK);
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
    for (mps_word_t t = 0; t < 8; ++t) {
      bool fixed = (cases[c].fixed >> t & 1) != 0 && words[t] != t;
      REQUIRE((words[t] & 7) == t);
      if (fixed)
        REQUIRE(number_of((mps_addr_t)(words[t] - t)) == t);
      if (fixed && does(MOVES))
        REQUIRE(words[t] - t != (mps_word_t)hidden[t]);
      if (!fixed && words[t] != t)
        REQUIRE(words[t] - t == (mps_word_t)hidden[t]);
    }
    mps_root_destroy(root);
    (void)mps_arena_collect(arena);
    (void)count_posted();
  }
}

static mps_res_t scan_all(mps_ss_t ss, void *p, size_t s) {
  return mps_scan_area(ss, p, (mps_word_t *)p + s, NULL);
}

/* Each constructor of exact roots keeps, and forgets when destroyed. */
static void exact_roots(void) {
  mps_addr_t *t = (mps_addr_t *)words;
  for (int i = 0; i < 4; ++i) {
    mps_rank_t exact = mps_rank_exact();
    mps_root_t root;
    mps_res_t res;
    hide(4);
    memcpy(words, hidden, 4 * WORD);
    res = i == 0   ? mps_root_create(&root, arena, exact, 0, scan_all, t, 4)
          : i == 1 ? mps_root_create_area(&root, arena, exact, 0, t, t + 4,
                                          mps_scan_area, NULL)
          : i == 2
              ? mps_root_create_table_masked(&root, arena, exact, 0, t, 4, 1)
              : mps_root_create_table(&root, arena, exact, MPS_RM_CONST, t, 4);
    ck_assert_int_eq(res, MPS_RES_OK);
    for (int round = 0; round < 3; ++round)
      ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
    ck_assert_uint_eq(count_posted(), 0);
    for (size_t j = 0; j < 4; ++j)
      ck_assert_uint_eq(number_of(t[j]), j);
    mps_root_destroy(root);
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
    ck_assert_uint_eq(count_posted(), 4);
  }
}

/* A reference to a header, to a manual block, to another arena: nothing. */
static void foreign_references(void) {
  mps_pool_t manual;
  mps_arena_t other;
  mps_pool_t other_pool;
  mps_message_t message;
  const world_t *here = world;
  ck_assert_int_eq(
      mps_pool_create_k(&manual, arena, mps_class_mvff(), mps_args_none),
      MPS_RES_OK);
  ck_assert_int_eq(
      mps_arena_create_k(&other, mps_arena_class_vm(), mps_args_none),
      MPS_RES_OK);
  ck_assert_int_eq(
      mps_pool_create_k(&other_pool, other, mps_class_mvff(), mps_args_none),
      MPS_RES_OK);
  mps_message_type_enable(arena, mps_message_type_gc());
  table[0] = told(3);
  (void)mps_arena_collect(arena);
  ck_assert(mps_message_get(&message, arena, mps_message_type_gc()));
  table[1] = alloc(manual, 100);
  ck_assert_int_eq(mps_alloc(&table[2], other_pool, 100), MPS_RES_OK);
  table[3] = (mps_addr_t)message;
  table[4] = &other;
  table[5] = (mps_addr_t)arena;
  memcpy(words, table, 6 * WORD);
  for (int i = 0; i < 3; ++i)
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_int_eq(memcmp(words + 1, table + 1, 5 * WORD), 0);
  ck_assert_uint_eq(number_of(table[0]), 3);
  mps_message_discard(arena, message);
  table[3] = table[2] = table[1] = NULL;
  mps_pool_destroy(other_pool);
  mps_arena_destroy(other);
  mps_pool_destroy(manual);
  ck_assert_ptr_eq(world, here);
}

/* ---- 2.18: location dependencies ---- */

static void dependencies(void) {
  mps_ld_s one, two, none;
  mps_addr_t old;
  mps_arena_park(arena);
  mps_ld_reset(&one, arena);
  mps_ld_reset(&two, arena);
  mps_ld_reset(&none, arena);
  table[0] = old = told(1);
  table[1] = told(2);
  mps_ld_add(&one, arena, table[0]);
  mps_ld_add(&one, arena, NULL);
  mps_ld_add(&one, arena, (mps_addr_t)(uintptr_t)12345);
  mps_ld_merge(&two, arena, &one);
  ck_assert(!mps_ld_isstale(&one, arena, table[0]));
  ck_assert(!mps_ld_isstale_any(&two, arena));
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  for (int i = 0; i < 2; ++i) {
    mps_ld_t ld = i == 0 ? &one : &two;
    ck_assert(mps_ld_isstale(ld, arena, table[0]) == does(MOVES));
    ck_assert(mps_ld_isstale(ld, arena, old) == does(MOVES));
    ck_assert(mps_ld_isstale_any(ld, arena) == does(MOVES));
  }
  ck_assert(!mps_ld_isstale(&none, arena, table[0]));
  ck_assert(!mps_ld_isstale_any(&none, arena));
  mps_ld_merge(&none, arena, &two);
  ck_assert(mps_ld_isstale(&none, arena, table[0]) == does(MOVES));
  mps_ld_reset(&one, arena);
  mps_ld_add(&one, arena, table[0]);
  ck_assert(!mps_ld_isstale(&one, arena, table[0]));
  for (int i = 0; i < 200; ++i) /* very old */
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert(!does(MOVES) || mps_ld_isstale(&one, arena, table[0]));
  ck_assert(does(MOVES) || !mps_ld_isstale(&one, arena, table[0]));
}

/* In a managed block, which moves. */
static void dependency_inside(void) {
  mps_addr_t p = block(8);
  mps_ld_t ld = (mps_ld_t)(void *)obj_ref(p, 2);
  mps_word_t copy[sizeof(mps_ld_s) / WORD];
  mps_arena_park(arena);
  *obj_base(p) = (*obj_base(p) & ~(mps_word_t)7) | OBJ_LEAF;
  table[0] = p;
  table[1] = told(1);
  mps_ld_reset(ld, arena);
  mps_ld_add(ld, arena, table[1]);
  memcpy(copy, ld, sizeof copy);
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ld = (mps_ld_t)(void *)obj_ref(table[0], 2);
  ck_assert_int_eq(memcmp(copy, ld, sizeof copy), 0);
  ck_assert(mps_ld_isstale(ld, arena, table[1]) == does(MOVES));
  mps_arena_release(arena);
  (void)mps_arena_start_collect(arena);
  mps_ld_reset((mps_ld_t)(void *)obj_ref(table[0], 2), arena);
  mps_arena_park(arena);
}

/* ---- 2.19-2.21: messages and finalization ---- */

static mps_message_type_t next_type(void) {
  mps_message_type_t type = 99;
  ck_assert(mps_message_poll(arena));
  ck_assert(mps_message_queue_type(&type, arena));
  return type;
}

/* In order, with what they say. */
static void messages(void) {
  mps_message_type_t types[] = {
      mps_message_type_gc_start(), mps_message_type_finalization(),
      mps_message_type_finalization(), mps_message_type_gc()};
  ck_assert(!mps_message_poll(arena));
  table[0] = told(1);
  (void)mps_arena_collect(arena);
  ck_assert(!mps_message_poll(arena));
  mps_message_type_enable(arena, mps_message_type_gc());
  mps_message_type_enable(arena, mps_message_type_gc());
  mps_message_type_enable(arena, mps_message_type_gc_start());
  for (int round = 0; round < 20; ++round) {
    hide(2);
    (void)block(1); /* the stack may know the last */
    memset(hidden, 0, sizeof hidden);
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  }
  for (int i = 0; i < 80; ++i) {
    mps_message_t m;
    mps_message_type_t type = types[i % 4];
    ck_assert_uint_eq(next_type(), type);
    ck_assert(mps_message_get(&m, arena, type));
    ck_assert_uint_eq(mps_message_type(arena, m), type);
    if (type == mps_message_type_gc()) {
      size_t live = mps_message_gc_live_size(arena, m);
      ck_assert_uint_le(live, mps_message_gc_condemned_size(arena, m));
      ck_assert_uint_gt(live, 0);
      ck_assert_uint_le(mps_message_gc_not_condemned_size(arena, m),
                        world->grain < 4096 ? 4096 : world->grain);
    } else if (type == mps_message_type_gc_start()) {
      ck_assert_int_ne(mps_message_gc_start_why(arena, m)[0], 0);
    } else {
      ck_assert_uint_eq(mps_message_clock(arena, m), 0);
    }
    mps_message_discard(arena, m);
  }
  ck_assert(!mps_message_poll(arena));
  hide(2);
  memset(hidden, 0, sizeof hidden);
  (void)mps_arena_collect(arena);
  mps_message_type_disable(arena, mps_message_type_finalization());
  mps_message_type_disable(arena, mps_message_type_gc_start());
  ck_assert_uint_eq(next_type(), mps_message_type_gc());
  mps_message_type_disable(arena, mps_message_type_gc());
  ck_assert(!mps_message_poll(arena));
}

/* Cycles, and what they refer to, in one collection; alive until discarded,
   registered again. */
static void finalized(void) {
  enum { N = 10 };
  mps_message_t m[N];
  hide(N);
  for (size_t i = 0; does(SCANS) && i < N; ++i)
    *obj_ref(hidden[i], 1) = hidden[(i + 1) % N];
  memset(hidden, 0, sizeof hidden);
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  for (size_t i = 0; i < N; ++i)
    ck_assert(mps_message_get(&m[i], arena, mps_message_type_finalization()));
  ck_assert(!mps_message_poll(arena));
  for (int round = 0; round < 3; ++round)
    (void)mps_arena_collect(arena);
  for (size_t i = 0; i < N; ++i) {
    mps_message_finalization_ref(&table[i], arena, m[i]);
    ck_assert_uint_lt(number_of(table[i]), N);
    if (does(SCANS))
      ck_assert_uint_eq(number_of(*obj_ref(table[i], 1)),
                        (number_of(table[i]) + 1) % N);
  }
  for (size_t i = 0; i < N; ++i) {
    mps_message_discard(arena, m[i]);
    ck_assert_int_eq(mps_finalize(arena, &table[i]), MPS_RES_OK);
    ck_assert_int_eq(mps_finalize(arena, &table[i]), MPS_RES_OK);
    ck_assert_int_eq(mps_definalize(arena, &table[i]), MPS_RES_OK);
  }
  (void)mps_arena_collect(arena);
  ck_assert(!mps_message_poll(arena));
  memset(table, 0, sizeof table);
  (void)mps_arena_collect(arena);
  ck_assert_uint_eq(count_posted(), N);
  table[0] = told(1);
  ck_assert_int_eq(mps_definalize(arena, &table[0]), MPS_RES_FAIL);
}

/* N registrations, at most N messages, one at a time. */
static void registered_often(void) {
  size_t posted = 0;
  hide(1);
  table[0] = hidden[0];
  hidden[0] = NULL;
  for (int i = 0; i < 4; ++i)
    ck_assert_int_eq(mps_finalize(arena, &table[0]), MPS_RES_OK);
  table[0] = NULL;
  for (int i = 0; i < 12; ++i) {
    (void)mps_arena_collect(arena);
    posted += count_posted();
  }
  ck_assert_uint_ge(posted, 1);
  ck_assert_uint_le(posted, 5);
}

/* A reference in the block itself, behind a barrier. */
static void registered_inside(void) {
  mps_arena_park(arena);
  mps_message_type_enable(arena, mps_message_type_finalization());
  table[0] = block(3);
  *obj_ref(table[0], 1) = told(2);
  for (int i = 0; i < 4; ++i)
    (void)mps_arena_collect(arena);
  mps_arena_release(arena);
  (void)mps_arena_start_collect(arena);
  ck_assert_int_eq(mps_finalize(arena, obj_ref(table[0], 1)), MPS_RES_OK);
  mps_arena_park(arena);
  *obj_ref(table[0], 1) = NULL;
  (void)mps_arena_collect(arena);
  ck_assert_uint_eq(count_posted(), 1);
}

/* ---- 2.23: walks ---- */

typedef struct walked {
  size_t objects, bytes, pads, seen[64];
} walked_t;

static void walk_step(mps_addr_t obj, mps_fmt_t f, mps_pool_t p, void *closure,
                      size_t s) {
  walked_t *w = closure;
  mps_pool_t found;
  ck_assert_uint_eq(s, 42);
  REQUIRE(f == fmt && p == pool && mps_arena_busy(arena));
  REQUIRE(mps_addr_pool(&found, arena, obj) && found == pool);
  w->bytes += obj_size(obj);
  if (obj_kind(obj) == OBJ_PAD) {
    w->pads += obj_size(obj);
  } else {
    ++w->objects;
    if (number_of(obj) < 64)
      ++w->seen[number_of(obj)];
  }
}

static mps_res_t walk_area(mps_ss_t ss, void *base, void *limit,
                           void *closure) {
  (void)ss;
  for (char *p = base; p < (char *)limit; p = obj_skip(p))
    walk_step(p, fmt, pool, closure, 42);
  return MPS_RES_OK;
}

static mps_res_t walk_stopped(mps_ss_t ss, void *base, void *limit,
                              void *closure) {
  (void)ss, (void)base, (void)limit;
  ++*(size_t *)closure;
  return MPS_RES_IO;
}

static void walks(void) {
  walked_t a = {0}, b = {0};
  size_t calls = 0;
  mps_arena_park(arena);
  tell(64);
  if (does(COLLECTS))
    for (size_t i = 0; i < 64; i += 2)
      ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  for (size_t i = 0; i < 500; ++i)
    *obj_ref(block(1 + i % 90), 0) = (mps_addr_t)(uintptr_t)(77 << 2 | 1);
  mps_arena_formatted_objects_walk(arena, walk_step, &a, 42);
  ck_assert_int_eq(mps_pool_walk(pool, walk_area, &b), MPS_RES_OK);
  ck_assert_uint_eq(a.objects, 564);
  ck_assert_uint_eq(b.objects, 564);
  for (size_t i = 0; i < 64; ++i)
    ck_assert_uint_eq(a.seen[i] + b.seen[i], 2);
  ck_assert_uint_eq(a.bytes, b.bytes);
  ck_assert_uint_eq(a.bytes + rest(ap), in_use(pool));
  ck_assert_int_eq(mps_pool_walk(pool, walk_stopped, &calls), MPS_RES_IO);
  ck_assert_uint_eq(calls, 1);
}

static void walks_of_nothing(void) {
  walked_t w = {0};
  (void)block(20);
  mps_arena_park(arena);
  mps_arena_formatted_objects_walk(arena, walk_step, &w, 42);
  ck_assert_int_eq(mps_pool_walk(pool, walk_area, &w), MPS_RES_OK);
  ck_assert_uint_eq(w.objects + w.pads, 0);
  mps_pool_check_fenceposts(pool);
  mps_pool_check_free_space(pool);
}

static mps_res_t walk_change(mps_ss_t ss, void *base, void *limit,
                             void *closure) {
  MPS_SCAN_BEGIN(ss) {
    for (char *p = base; p < (char *)limit; p = obj_skip(p))
      if (obj_kind(p) == OBJ_NODE) {
        mps_addr_t *slot = obj_ref(p, 1);
        *slot = *(mps_addr_t *)closure;
        if (MPS_FIX1(ss, *slot))
          (void)MPS_FIX2(ss, slot);
      }
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

/* What a walk stores in old objects is not lost. */
static void walks_that_change(void) {
  mps_arena_park(arena);
  tell(60);
  for (int i = 0; i < 5; ++i)
    (void)mps_arena_collect(arena);
  table[60] = told(60);
  ck_assert_int_eq(mps_pool_walk(pool, walk_change, &table[60]), MPS_RES_OK);
  table[60] = NULL;
  mps_arena_release(arena);
  for (size_t i = 0; i < suite_size(20000, 2000); ++i)
    table[61] = told(61);
  (void)mps_arena_collect(arena);
  for (size_t i = 0; i < 60; ++i) {
    ck_assert_uint_eq(number_of(table[i]), i);
    ck_assert_uint_eq(number_of(*obj_ref(table[i], 1)), 60);
  }
}

static void root_step(mps_addr_t *ref, mps_root_t root, void *p, size_t s) {
  size_t *seen = p;
  ck_assert_uint_eq(s, 3);
  if (root == table_root) {
    REQUIRE(ref >= table && ref < table + ROOTS);
    ++seen[ref - table];
  }
}

static void walks_of_roots(void) {
  size_t seen[ROOTS] = {0};
  for (size_t i = 0; i < 50; ++i)
    table[2 * i] = told(i);
  mps_arena_park(arena);
  for (int i = 0; i < 3; ++i)
    mps_arena_roots_walk(arena, root_step, seen, 3);
  for (size_t i = 0; i < ROOTS; ++i)
    ck_assert_uint_eq(seen[i], i < 100 && i % 2 == 0 ? 3 : 0);
}

/* ---- 2.24: transforms ---- */

static __attribute__((noinline)) mps_transform_t transform_made(size_t n) {
  mps_transform_t t;
  mps_addr_t old[20], new[20];
  memcpy(old, table, n * sizeof(mps_addr_t));
  memcpy(new, table + 20, n * sizeof(mps_addr_t));
  old[n - 1] = NULL;
  new[0] = NULL;
  new[1] = old[1];
  ck_assert_int_eq(mps_transform_create(&t, arena), MPS_RES_OK);
  ck_assert_int_eq(mps_transform_add_oldnew(t, old, new, 0), MPS_RES_OK);
  ck_assert_int_eq(mps_transform_add_oldnew(t, old, new, n / 2), MPS_RES_OK);
  ck_assert_int_eq(
      mps_transform_add_oldnew(t, old + n / 2, new + n / 2, n - n / 2),
      MPS_RES_OK);
  return t;
}

static void transforms(void) {
  mps_transform_t one, two;
  mps_bool_t applied = 77;
  mps_word_t flips;
  mps_arena_park(arena);
  tell(40);
  for (size_t i = 0; does(SCANS) && i < 20; ++i)
    *obj_ref(table[20 + i], 1) = table[i];
  one = transform_made(20);
  two = transform_made(10);
  flips = mps_collections(arena);
  ck_assert_int_eq(mps_transform_apply(&applied, one), MPS_RES_OK);
  ck_assert_int_eq(applied, 1);
  if (does(MOVES))
    ck_assert_uint_eq(mps_collections(arena), flips + 1);
  applied = 77;
  ck_assert_int_eq(mps_transform_apply(&applied, one), MPS_RES_PARAM);
  ck_assert_int_eq(mps_transform_apply(&applied, two), MPS_RES_PARAM);
  ck_assert_int_eq(applied, 77);
  ck_assert_ptr_null(table[0]);
  for (size_t i = 1; i < 20; ++i) {
    size_t now = i == 1 || i == 19 ? i : 20 + i;
    ck_assert_uint_eq(number_of(table[i]), now);
    if (does(SCANS))
      ck_assert_uint_eq(number_of(*obj_ref(table[20 + i], 1)), now);
  }
  mps_transform_destroy(one);
  mps_transform_destroy(two);
}

/* All or nothing. */
static void transforms_refused(void) {
  mps_transform_t t;
  mps_bool_t applied = 77;
  mps_root_t root;
  mps_arena_park(arena);
  tell(40);
  words[0] = (mps_word_t)table[5];
  root = words_root(mps_rank_ambig(), 1);
  t = transform_made(20);
  ck_assert_int_eq(mps_transform_apply(&applied, t), MPS_RES_OK);
  ck_assert_int_eq(applied, 0);
  mps_transform_destroy(t);
  check_told(40);
  mps_root_destroy(root);
}

/* ---- 4 and 5: classes and policy ---- */

static size_t begun(void) {
  tdo_statistics_s s;
  tdo_statistics(arena, &s);
  return s.collections;
}

/* Collections begin by themselves, and memory is given back, whatever dies. How
   much is taken meanwhile depends on the machine's speed. */
static void churn(void) {
  size_t before = begun();
  for (size_t i = 0; i < suite_size(60000, 4000); ++i) {
    mps_addr_t p = block(10 + i % 31);
    if (does(SCANS) && i % 3 == 0)
      *obj_ref(p, 1) = table[i % 50];
    *obj_ref(p, 0) = (mps_addr_t)(i << 2 | 1);
    if (does(SCANS) && table[i % 50] != NULL)
      *obj_ref(table[i % 50], 1) = NULL;
    table[i % 50] = p;
  }
  ck_assert_uint_gt(begun(), before);
  collect();
  ck_assert_uint_lt(mps_arena_committed(arena) -
                        mps_arena_spare_committed(arena),
                    (size_t)2 << 20);
}

/* Old blocks refer to young ones, all of them through other pools. */
static void across_pools(void) {
  mps_pool_t amc, here = pool;
  mps_ap_t on;
  const kind_t *of = kind;
  kind = &kinds[0];
  ck_assert_int_eq(world_pool(&amc, chain), MPS_RES_OK);
  on = point(amc);
  kind = of;
  tell(100);
  for (size_t i = 0; i < 30000; ++i) {
    mps_addr_t p = obj_on(on, OBJ_NODE, (bytes(3) - obj_lead()) / WORD);
    *obj_ref(p, 0) = (mps_addr_t)(i << 2 | 1);
    *obj_ref(p, 1) = table[i % 100];
    *obj_ref(table[i * 7 % 100], 1) = p;
    if (*obj_ref(p, 1) != NULL)
      *obj_ref(p, 1) = NULL;
    *obj_ref(table[i * 7 % 100], 2) = (mps_addr_t)(i << 2 | 1);
  }
  for (size_t i = 0; i < 100; ++i) {
    mps_addr_t p = *obj_ref(table[i], 1);
    ck_assert_uint_eq(number_of(table[i]), i);
    ck_assert_ptr_eq(*obj_ref(p, 0), *obj_ref(table[i], 2));
  }
  memset(table, 0, sizeof table);
  (void)mps_arena_collect(arena); /* nothing refers to that pool any more */
  mps_ap_destroy(on);
  mps_pool_destroy(amc);
  mps_arena_release(arena);
  ck_assert_ptr_eq(pool, here);
}

static const scenario_t scenarios[] = {
    {"ambiguous", ambiguous, COLLECTS, 0},
    {"tagged", tagged, COLLECTS, 0},
    {"exact roots", exact_roots, COLLECTS, 0},
    {"foreign references", foreign_references, COLLECTS, 0},
    {"dependencies", dependencies, COLLECTS, 0},
    {"dependency inside", dependency_inside, COLLECTS, 0},
    {"messages", messages, COLLECTS, 0},
    {"finalized", finalized, COLLECTS, 0},
    {"registered often", registered_often, COLLECTS, 0},
    {"registered inside", registered_inside, COLLECTS | SCANS, 0},
    {"walks", walks, FORMATS, 0},
    {"walks of nothing", walks_of_nothing, 0, FORMATS},
    {"walks that change", walks_that_change, COLLECTS | SCANS, 0},
    {"walks of roots", walks_of_roots, COLLECTS, 0},
    {"transforms", transforms, COLLECTS, 0},
    {"transforms refused", transforms_refused, COLLECTS, 0},
    {"churn", churn, COLLECTS, 0},
    {"across pools", across_pools, COLLECTS | SCANS, 0}};

START_TEST(collecting) {
  play(scenarios, _i);
}
END_TEST

int main(void) {
  size_t n = sizeof scenarios / sizeof scenarios[0];
  return suite_run(scenarios_suite("collecting", scenarios, n, collecting));
}
