/* Testudo: what the tests of collected pools share: objects that are a header
   and words, a format for them, an arena, and a root table.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_NODES_H
#define TDO_TEST_NODES_H

#include <stdlib.h>
#include <string.h>
#include "mpsavm.h"
#include "test/asserted.h"
#include "test/random.h"
#include "test/require.h"
#include "testudo.h"

/* The header word: number of words (the header counts) and a kind. */
enum {
  NODE = 1,
  LEAF,
  WEAK_ARRAY,
  PAIRS,     /* word 0 is strong; then keys and values in turn */
  OR_PAIRS,  /* the same */
  AND_PAIRS, /* the same */
  FORWARD,
  PAD,
  KINDS
};

typedef struct node {
  mps_word_t head;
  struct node *word[];
} node_t;

#define HEAD(kind, words) (((mps_word_t)(words) << 8) | (kind))

static inline unsigned node_kind(const node_t *p) {
  return (unsigned)(p->head & 0xFF);
}

static inline size_t node_words(const node_t *p) {
  return (size_t)(p->head >> 8);
}

/* Slots of the node: words without the header. */
static inline size_t node_slots(const node_t *p) {
  return node_words(p) - 1;
}

static unsigned nodes_scanned; /* by nodes_scan */

/* In a WEAK_ARRAY word 0 is a strong reference to the partner, and a word
   that is found dead makes the partner's word null, too. */
static inline mps_res_t node_scan(mps_ss_t ss, node_t *p) {
  node_t *partner = NULL;

  MPS_SCAN_BEGIN(ss) {
    for (size_t i = 0; i < node_slots(p); ++i) {
      mps_addr_t ref = p->word[i];
      if (!MPS_FIX1(ss, ref))
        continue;
      mps_res_t res = MPS_FIX2(ss, &ref);
      if (res != MPS_RES_OK)
        return res;
      p->word[i] = ref;
      if (ref == NULL && node_kind(p) == WEAK_ARRAY && i > 0) {
        partner = p->word[0];
        if (partner != NULL)
          partner->word[i] = NULL;
      }
    }
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

/* Fix a table of pairs. */
static inline mps_res_t pairs_scan(mps_ss_t ss, node_t *p) {
  mps_res_t res = MPS_RES_OK;

  MPS_SCAN_BEGIN(ss) {
    mps_addr_t first = p->word[0];
    res = MPS_FIX12(ss, &first);
    p->word[0] = first;
  }
  MPS_SCAN_END(ss);
  for (size_t i = 1; i + 1 < node_slots(p) && res == MPS_RES_OK; i += 2) {
    mps_addr_t key = p->word[i], value = p->word[i + 1];
    res = node_kind(p) == PAIRS ? mps_fix_weak_pair(ss, p, &key, &value)
          : node_kind(p) == OR_PAIRS
              ? mps_fix_weak_or_pair(ss, p, &key, &value)
              : mps_fix_weak_and_pair(ss, p, &key, &value);
    p->word[i] = key;
    p->word[i + 1] = value;
  }
  return res;
}

static inline bool node_is_pairs(const node_t *p) {
  return node_kind(p) >= PAIRS && node_kind(p) <= AND_PAIRS;
}

static inline mps_res_t nodes_scan(mps_ss_t ss, mps_addr_t base,
                                   mps_addr_t limit) {
  node_t *p = base;

  MPS_SCAN_BEGIN(ss) {
    while (p < (node_t *)limit) {
      mps_res_t res = MPS_RES_OK;
      REQUIRE(p->head != 0 && node_kind(p) < KINDS);
      if (node_kind(p) == NODE || node_kind(p) == WEAK_ARRAY) {
        ++nodes_scanned;
        MPS_FIX_CALL(ss, res = node_scan(ss, p));
      } else if (node_is_pairs(p)) {
        MPS_FIX_CALL(ss, res = pairs_scan(ss, p));
      }
      if (res != MPS_RES_OK)
        return res;
      p = (node_t *)((mps_word_t *)p + node_words(p));
    }
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

static inline mps_addr_t nodes_skip(mps_addr_t addr) {
  node_t *p = addr;

  REQUIRE(p->head != 0 && node_kind(p) < KINDS);
  return (mps_word_t *)addr + node_words(p);
}

static inline void nodes_fwd(mps_addr_t old, mps_addr_t new) {
  node_t *p = old;

  p->head = HEAD(FORWARD, node_words(p));
  p->word[0] = new;
}

static inline mps_addr_t nodes_isfwd(mps_addr_t addr) {
  node_t *p = addr;

  return node_kind(p) == FORWARD ? p->word[0] : NULL;
}

static inline void nodes_pad(mps_addr_t base, size_t size) {
  ((node_t *)base)->head = HEAD(PAD, size / sizeof(mps_word_t));
}

/* What the test must not have called. */
static inline mps_res_t never_scan(mps_ss_t ss, mps_addr_t base,
                                   mps_addr_t limit) {
  (void)ss, (void)base, (void)limit;
  ck_abort_msg("the scan method was called");
  return MPS_RES_FAIL;
}

static inline void never_fwd(mps_addr_t old, mps_addr_t new) {
  (void)old, (void)new;
  ck_abort_msg("the fwd method was called");
}

static inline mps_addr_t never_isfwd(mps_addr_t addr) {
  (void)addr;
  ck_abort_msg("the isfwd method was called");
  return NULL;
}

static inline void never_pad(mps_addr_t base, size_t size) {
  (void)base, (void)size;
  ck_abort_msg("the pad method was called");
}

/* ---- surroundings ---- */

#define TABLE 64

static mps_arena_t arena;
static mps_fmt_t format; /* of non-moving pools */
static mps_fmt_t moving_format;
static mps_root_t table_root;
static node_t *table[TABLE]; /* exact */
static mps_root_t ambig_root;
static void *hints[TABLE]; /* ambiguous */
static mps_thr_t thread;

static inline mps_fmt_t make_format(mps_fmt_scan_t scan, size_t align,
                                    bool moving) {
  mps_fmt_t fmt;

  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ALIGN, align);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SCAN, scan);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, nodes_skip);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_FWD, moving ? nodes_fwd : never_fwd);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ISFWD, moving ? nodes_isfwd : never_isfwd);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_PAD, moving ? nodes_pad : never_pad);
    ck_assert_int_eq(mps_fmt_create_k(&fmt, arena, args), MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  return fmt;
}

/* A format of pools that do not move, for blocks that are no nodes. */
static inline mps_fmt_t make_plain_format(mps_fmt_scan_t scan,
                                          mps_fmt_skip_t skip, size_t align) {
  mps_fmt_t fmt;

  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ALIGN, align);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SCAN, scan);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, skip);
    ck_assert_int_eq(mps_fmt_create_k(&fmt, arena, args), MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  return fmt;
}

/* A root of N objects, null. */
static inline node_t **make_root(mps_root_t *root_o, size_t n) {
  node_t **objects = calloc(n, sizeof *objects);

  ck_assert_ptr_nonnull(objects);
  ck_assert_int_eq(mps_root_create_table(root_o, arena, mps_rank_exact(), 0,
                                         (mps_addr_t *)objects, n),
                   MPS_RES_OK);
  return objects;
}

/* A hit of a barrier does little work. Nothing is collected but by `collect`,
   until the arena is released: what tests keep in variables is safe. SIZE is
   that of the arena (0: the default). */
static inline void start_sized(size_t size) {
  memset(table, 0, sizeof table);
  memset(hints, 0, sizeof hints);
  MPS_ARGS_BEGIN(args) {
    TDO_ARGS_ADD(args, TDO_KEY_SHIELD_QUANTUM, (size_t)4096);
    if (size != 0)
      MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, size);
    ck_assert_int_eq(mps_arena_create_k(&arena, mps_arena_class_vm(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  asserted_start();
  format = make_format(nodes_scan, sizeof(mps_word_t), false);
  moving_format = make_format(nodes_scan, sizeof(mps_word_t), true);
  ck_assert_int_eq(mps_thread_reg(&thread, arena), MPS_RES_OK);
  ck_assert_int_eq(mps_root_create_table(&table_root, arena, mps_rank_exact(),
                                         0, (mps_addr_t *)table, TABLE),
                   MPS_RES_OK);
  ck_assert_int_eq(mps_root_create_table(&ambig_root, arena, mps_rank_ambig(),
                                         0, hints, TABLE),
                   MPS_RES_OK);
  mps_arena_clamp(arena);
}

static inline void start(void) {
  start_sized(0);
}

/* Pools are gone by now. */
static inline void stop(void) {
  mps_root_destroy(ambig_root);
  mps_root_destroy(table_root);
  mps_thread_dereg(thread);
  mps_fmt_destroy(moving_format);
  mps_fmt_destroy(format);
  mps_arena_destroy(arena);
  asserted_none();
}

/* The collections that messages tell of since the last call, once their type is
   enabled. */
static inline size_t collections_told(void) {
  mps_message_t m;
  size_t count = 0;

  while (mps_message_get(&m, arena, mps_message_type_gc())) {
    ++count;
    mps_message_discard(arena, m);
  }
  return count;
}

/* An ordinary pool of class CLS with FMT, in CHAIN (null: the default). */
static inline mps_pool_t make_pool(mps_pool_class_t cls, mps_fmt_t fmt,
                                   mps_chain_t chain) {
  mps_pool_t pool;

  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
    if (chain != NULL)
      MPS_ARGS_ADD(args, MPS_KEY_CHAIN, chain);
    ck_assert_int_eq(mps_pool_create_k(&pool, arena, cls, args), MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  return pool;
}

/* A chain of two generations of KB kilobytes. */
static inline mps_chain_t make_chain(size_t kb) {
  mps_gen_param_s gens[] = {{kb, 0.8}, {2 * kb, 0.5}};
  mps_chain_t chain;

  ck_assert_int_eq(mps_chain_create(&chain, arena, 2, gens), MPS_RES_OK);
  return chain;
}

static inline mps_ap_t make_ap(mps_pool_t pool, mps_rank_t rank) {
  mps_ap_t ap;

  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_RANK, rank);
    ck_assert_int_eq(mps_ap_create_k(&ap, pool, args), MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  return ap;
}

/* A node of KIND with SLOTS null slots; null if it is refused. */
static inline node_t *try_make(mps_ap_t ap, unsigned kind, size_t slots) {
  size_t size = (slots + 1) * sizeof(mps_word_t);
  mps_addr_t p;

  do {
    if (mps_reserve(&p, ap, size) != MPS_RES_OK)
      return NULL;
    memset(p, 0, size);
    ((node_t *)p)->head = HEAD(kind, slots + 1);
  } while (!mps_commit(ap, p, size));
  return p;
}

static inline node_t *make(mps_ap_t ap, unsigned kind, size_t slots) {
  node_t *p = try_make(ap, kind, slots);

  REQUIRE(p != NULL);
  return p;
}

/* Collect everything; it does not matter if there is nothing. */
static inline void collect(void) {
  (void)mps_arena_collect(arena);
  mps_arena_clamp(arena);
}

static inline size_t in_use(mps_pool_t pool) {
  size_t total = mps_pool_total_size(pool), free = mps_pool_free_size(pool);

  REQUIRE(free <= total);
  return total - free;
}

/* What is not used in the buffer of the point. */
static inline size_t unused(mps_ap_t ap) {
  return ap->limit == NULL ? 0
                           : (size_t)((char *)ap->limit - (char *)ap->init);
}

#endif /* TDO_TEST_NODES_H */
