/* Testudo: tests of pools that mark and sweep: blocks of one unit or two, so
   that neighbours share what the tables tell, against a model; and many blocks
   that are committed together.
   SPDX-License-Identifier: BSD-2-Clause */
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "test/nodes.h"
#include "test/suite.h"

/* A block is a reference, and has a second one if bit 0 of the first is set. */
#define TWO ((mps_word_t)1)

static mps_addr_t units_skip(mps_addr_t p) {
  mps_word_t *w = p;

  return w + 1 + (*w & TWO);
}

static mps_res_t units_scan(mps_ss_t ss, mps_addr_t base, mps_addr_t limit) {
  mps_res_t res = MPS_RES_OK;

  MPS_SCAN_BEGIN(ss) {
    for (mps_word_t *p = base, *end; p < (mps_word_t *)limit; p = end) {
      end = units_skip(p);
      for (; p < end && res == MPS_RES_OK; ++p) {
        mps_word_t two = *p & TWO;
        mps_addr_t ref = (mps_addr_t)(*p - two);
        res = MPS_FIX12(ss, &ref);
        *p = (mps_word_t)ref + two;
      }
    }
  }
  MPS_SCAN_END(ss);
  return res;
}

/* ---- the model ---- */

enum { CELLS = 30000, ROOTS = 8 };

typedef struct cell {
  mps_word_t *at;
  struct cell *to[2];
  size_t words;
  bool live;
  struct cell *next; /* of those to be looked at */
} cell_t;

static cell_t cells[CELLS];
static size_t cell_count;
static cell_t *roots[ROOTS];

/* A neighbour, mostly, or any, or none. */
static cell_t *some_cell(void) {
  size_t back = random_below(3) == 0 ? cell_count : 4;

  if (cell_count == 0 || random_below(6) == 0)
    return NULL;
  return &cells[cell_count - 1 - random_below(tdo_min(back, cell_count))];
}

/* What word I of C has to be. */
static mps_word_t cell_word(const cell_t *c, size_t i) {
  mps_word_t ref = c->to[i] != NULL ? (mps_word_t)c->to[i]->at : 0;

  return ref + (i == 0 && c->words == 2 ? TWO : 0);
}

static void cell_refer(cell_t *c, size_t i) {
  c->to[i] = some_cell();
  c->at[i] = cell_word(c, i);
}

static void add_cell(mps_ap_t ap) {
  cell_t *c = &cells[cell_count];
  mps_addr_t p;
  size_t size;

  c->words = 1 + random_below(2);
  size = c->words * sizeof(mps_word_t);
  do {
    REQUIRE(mps_reserve(&p, ap, size) == MPS_RES_OK);
    c->at = p;
    for (size_t i = 0; i < c->words; ++i)
      cell_refer(c, i);
  } while (!mps_commit(ap, p, size));
  ++cell_count;
}

/* C, which may be null, lives. */
static void reach_cell(cell_t *c, cell_t **grey_io) {
  if (c == NULL || c->live)
    return;
  c->live = true;
  c->next = *grey_io;
  *grey_io = c;
}

static size_t reach(void) {
  cell_t *grey = NULL;
  size_t bytes = 0;

  for (size_t i = 0; i < cell_count; ++i)
    cells[i].live = false;
  for (size_t i = 0; i < ROOTS; ++i)
    reach_cell(roots[i], &grey);
  while (grey != NULL) {
    cell_t *c = grey;
    grey = c->next;
    bytes += c->words * sizeof(mps_word_t);
    for (size_t i = 0; i < c->words; ++i)
      reach_cell(c->to[i], &grey);
  }
  return bytes;
}

static void check_cells(void) {
  for (size_t i = 0; i < cell_count; ++i) {
    const cell_t *c = &cells[i];
    for (size_t k = 0; c->live && k < c->words; ++k)
      ck_assert_uint_eq(c->at[k], cell_word(c, k));
  }
}

/* Forget what is dead, and let others take its place. */
static void drop_dead(void) {
  size_t n = 0;

  for (size_t i = 0; i < cell_count; ++i)
    if (cells[i].live)
      cells[i].next = &cells[n++]; /* where it goes */
  for (size_t i = 0; i < cell_count; ++i)
    for (size_t k = 0; cells[i].live && k < cells[i].words; ++k)
      if (cells[i].to[k] != NULL)
        cells[i].to[k] = cells[i].to[k]->next;
  for (size_t i = 0; i < ROOTS; ++i)
    if (roots[i] != NULL)
      roots[i] = roots[i]->next;
  for (size_t i = 0; i < cell_count; ++i)
    if (cells[i].live)
      *cells[i].next = cells[i];
  cell_count = n;
}

/* ---- the pools ---- */

static mps_pool_t units_pool(int i, mps_fmt_t fmt) {
  return make_pool(i == 0   ? mps_class_ams()
                   : i == 1 ? mps_class_ams_debug()
                            : mps_class_awl(),
                   fmt, NULL);
}

START_TEST(at_random) {
  size_t rounds = suite_size(20, 4), most = suite_size(CELLS, 3000);
  mps_fmt_t fmt;
  mps_pool_t pool;

  start();
  random_start();
  fmt = make_plain_format(units_scan, units_skip, sizeof(mps_word_t));
  pool = units_pool(_i, fmt);
  cell_count = 0;
  for (size_t round = 0; round < rounds; ++round) {
    mps_ap_t ap = make_ap(pool, mps_rank_exact());
    size_t bytes;
    while (cell_count < most)
      add_cell(ap);
    mps_ap_destroy(ap);
    for (size_t i = 0; i < ROOTS; ++i) {
      roots[i] = some_cell();
      table[i] = roots[i] != NULL ? (node_t *)(void *)roots[i]->at : NULL;
    }
    for (size_t i = 0; i < most / 16; ++i) {
      cell_t *c = &cells[random_below(cell_count)];
      cell_refer(c, random_below(c->words));
    }
    bytes = reach();
    collect();
    ck_assert_uint_eq(in_use(pool), bytes);
    check_cells();
    drop_dead();
  }
  mps_pool_destroy(pool);
  mps_fmt_destroy(fmt);
  stop();
}
END_TEST

/* Many objects that are committed together live and die each by itself, however
   large the region is. */
START_TEST(regions) {
  enum { SLOTS = 7, KEPT = 3, HINTED = 9, DEAD = 20, WEAK = 4 };
  const mps_pool_class_t classes[] = {mps_class_ams(), mps_class_awl(),
                                      mps_class_lo()};
  const size_t size = (SLOTS + 1) * sizeof(mps_word_t);
  static node_t *weak[WEAK];
  size_t count = DEAD + ((size_t)8 << _i % 8), posted = 0;
  mps_root_t weak_root;
  mps_message_t message;
  mps_pool_t pool;
  mps_addr_t base, dead;
  mps_ap_t ap;
  char *p;

  start();
  mps_message_type_enable(arena, mps_message_type_finalization());
  pool = make_pool(classes[_i / 8], format, NULL);
  ap = make_ap(pool, mps_rank_exact());
  ck_assert_int_eq(mps_root_create_table(&weak_root, arena, mps_rank_weak(), 0,
                                         (mps_addr_t *)weak, WEAK),
                   MPS_RES_OK);
  do {
    ck_assert_int_eq(mps_reserve(&base, ap, count * size), MPS_RES_OK);
    memset(base, 0, count * size);
    for (size_t i = 0; i < count; ++i)
      ((node_t *)((char *)base + i * size))->head =
          HEAD(_i / 8 == 2 ? LEAF : NODE, SLOTS + 1);
  } while (!mps_commit(ap, base, count * size));
  p = base;
  mps_ap_destroy(ap);
  table[0] = (node_t *)(p + KEPT * size);
  hints[0] = p + HINTED * size;
  hints[1] = p + (HINTED + 2) * size + sizeof(mps_word_t); /* keeps nothing */
  for (size_t i = 0; i < WEAK; ++i)
    weak[i] = (node_t *)(p + (HINTED + i) * size);
  dead = p + DEAD * size;
  ck_assert_int_eq(mps_finalize(arena, &dead), MPS_RES_OK);
  for (int round = 0; round < 2; ++round) {
    collect();
    for (; mps_message_get(&message, arena, mps_message_type_finalization());
         ++posted)
      mps_message_discard(arena, message);
  }
  ck_assert_uint_eq(posted, 1);
  ck_assert_ptr_eq(weak[0], hints[0]);
  for (size_t i = 1; i < WEAK; ++i)
    ck_assert_ptr_null(weak[i]);
  ck_assert_uint_eq(in_use(pool), 2 * size);
  ck_assert_uint_eq(node_words(table[0]), SLOTS + 1);
  table[0] = hints[0] = NULL;
  collect();
  ck_assert_uint_eq(in_use(pool), 0);
  mps_root_destroy(weak_root);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

SUITE_LOOPS_MAIN("units", 100, {at_random, 3}, {regions, 24})
