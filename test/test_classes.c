/* Testudo: tests of the summary of pool classes, class by class and row by
   row (interface, section 4.0). SPDX-License-Identifier: BSD-2-Clause */
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "mpscmfs.h"
#include "mpscmvff.h"
#include "mpscmvt.h"
#include "mpscsnc.h"
#include "mpstd.h"
#include "test/objects.h"
#include <fcntl.h>
#include <unistd.h>
#include "test/suite.h"

typedef struct row {
  const char *name;
  mps_pool_class_t (*cls)(void);
  bool formatted, scanned, moves, reclaims, finalizable, roots;
  bool allocs, frees, points, trapped, interior;
  mps_res_t object; /* of mps_addr_object */
} row_t;

static const row_t rows[] = {
    {"AMC", mps_class_amc, .formatted = true, .scanned = true, .moves = true,
     .reclaims = true, .finalizable = true, .points = true, .trapped = true,
     .interior = true, .object = MPS_RES_OK},
    {"AMCZ", mps_class_amcz, .formatted = true, .moves = true,
     .reclaims = true, .finalizable = true, .points = true, .interior = true,
     .object = MPS_RES_OK},
    {"AMS", mps_class_ams, .formatted = true, .scanned = true,
     .reclaims = true, .finalizable = true, .points = true, .trapped = true,
     .object = MPS_RES_UNIMPL},
    {"AMS debug", mps_class_ams_debug, .formatted = true, .scanned = true,
     .reclaims = true, .finalizable = true, .points = true, .trapped = true,
     .object = MPS_RES_UNIMPL},
    {"AWL", mps_class_awl, .formatted = true, .scanned = true,
     .reclaims = true, .finalizable = true, .points = true, .trapped = true,
     .object = MPS_RES_UNIMPL},
    {"LO", mps_class_lo, .formatted = true, .reclaims = true,
     .finalizable = true, .points = true, .object = MPS_RES_UNIMPL},
    {"SNC", mps_class_snc, .formatted = true, .scanned = true, .points = true,
     .trapped = true, .roots = true, .object = MPS_RES_UNIMPL},
    {"MFS", mps_class_mfs, .allocs = true, .frees = true,
     .object = MPS_RES_UNIMPL},
    {"MVFF", mps_class_mvff, .allocs = true, .frees = true, .points = true,
     .object = MPS_RES_UNIMPL},
    {"MVFF debug", mps_class_mvff_debug, .allocs = true, .frees = true,
     .points = true, .object = MPS_RES_UNIMPL},
    {"MVT", mps_class_mvt, .frees = true, .points = true,
     .object = MPS_RES_UNIMPL},
};
enum { CLASSES = sizeof rows / sizeof rows[0], UNIT = 32 };

static const row_t *row;
static mps_pool_t tested;
static mps_ap_t tested_ap;
static void *hint; /* ambiguous */
static mps_root_t hint_root;

/* A pool of the class beside one of class AMC, all parked. */
static void open_class(int i) {
  row = &rows[i];
  heap_start(mps_class_amc());
  mps_arena_park(arena);
  hint = NULL;
  REQUIRE(mps_root_create_area(&hint_root, arena, mps_rank_ambig(), 0, &hint,
                               &hint + 1, mps_scan_area, NULL) == MPS_RES_OK);
  MPS_ARGS_BEGIN(args) {
    if (row->formatted)
      MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
    MPS_ARGS_ADD(args, MPS_KEY_MFS_UNIT_SIZE, UNIT);
    REQUIRE(mps_pool_create_k(&tested, arena, row->cls(), args) == MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  tested_ap = row->points ? point(tested) : NULL;
}

static void close_class(void) {
  mps_arena_park(arena);
  mps_root_destroy(hint_root);
  if (tested_ap != NULL)
    mps_ap_destroy(tested_ap);
  mps_pool_destroy(tested);
  heap_stop();
}

static bool collect_parked(void) {
  return mps_arena_collect(arena) == MPS_RES_OK;
}

/* A block of the class, by whichever way it has: with UNIT bytes, a node of
   the format with a number if it has one. */
static mps_addr_t any_block(void) {
  mps_addr_t p;
  if (row->formatted) {
    p = obj_on(tested_ap, row->scanned ? OBJ_NODE : OBJ_LEAF, UNIT / WORD - 1);
    *obj_ref(p, 0) = (mps_addr_t)(77 << 2 | 1);
    *obj_ref(p, 2) = (mps_addr_t)1;
  } else if (row->points) {
    p = make(tested_ap, UNIT);
  } else {
    p = alloc(tested, UNIT);
  }
  return p;
}

/* ---- allocation ---- */

START_TEST(allocation) {
  mps_addr_t p = NULL;
  mps_res_t res = MPS_RES_FAIL;
  mps_ap_t a = NULL;
  open_class(_i);
  if (row->allocs) {
    ck_assert_int_eq(mps_alloc(&p, tested, UNIT), MPS_RES_OK);
    ck_assert_uint_eq((uintptr_t)p % MPS_PF_ALIGN, 0);
    mps_free(tested, p, UNIT);
  } else {
    ASSERTED(res = mps_alloc(&p, tested, UNIT));
    ck_assert_int_ne(res, MPS_RES_OK);
    ck_assert_ptr_null(p);
  }
  if (!row->frees) {
    p = any_block();
    ASSERTED(mps_free(tested, p, UNIT));
  } else if (row->points) {
    p = make(tested_ap, UNIT);
    mps_ap_destroy(tested_ap);
    tested_ap = point(tested);
    if (row->cls != mps_class_mvff_debug) /* blocks without fenceposts */
      mps_free(tested, p, UNIT);
  }
  if (!row->points) {
    ASSERTED(res = mps_ap_create_k(&a, tested, mps_args_none));
    ck_assert_int_ne(res, MPS_RES_OK);
    ck_assert_ptr_null(a);
  }
  close_class();
}
END_TEST

START_TEST(caches) {
  mps_sac_class_s sizes = {UNIT, 4, 1};
  mps_addr_t p = NULL;
  mps_res_t res;
  mps_sac_t sac;
  open_class(_i);
  res = mps_sac_create(&sac, tested, 1, &sizes);
  if (row->allocs && row->frees) {
    ck_assert_int_eq(res, MPS_RES_OK);
    ck_assert_int_eq(mps_sac_alloc(&p, sac, UNIT, 0), MPS_RES_OK);
    mps_sac_free(sac, p, UNIT);
    mps_sac_destroy(sac);
  } else if (res == MPS_RES_OK) { /* noticed at the first miss */
    ASSERTED(res = mps_sac_alloc(&p, sac, UNIT, 0));
    ck_assert_int_ne(res, MPS_RES_OK);
    ck_assert_ptr_null(p);
    mps_sac_destroy(sac);
  }
  asserted_count = 0;
  close_class();
}
END_TEST

/* Frames and patterns are accepted by every class that has points; only SNC
   gives memory back. */
START_TEST(frames_and_patterns) {
  mps_alloc_pattern_t patterns[] = {mps_alloc_pattern_ramp(),
                                    mps_alloc_pattern_ramp_collect_all()};
  mps_frame_t frame;
  mps_addr_t first;
  size_t before;
  open_class(_i);
  if (row->points) {
    first = any_block();
    before = in_use(tested);
    ck_assert_int_eq(mps_ap_frame_push(&frame, tested_ap), MPS_RES_OK);
    for (int i = 0; i < 1000; ++i)
      (void)any_block();
    ck_assert_int_eq(mps_ap_frame_pop(tested_ap, frame), MPS_RES_OK);
    if (row->roots)
      ck_assert_uint_le(in_use(tested), before + 8192);
    else if (row->formatted)
      ck_assert_uint_ge(in_use(tested), 1001 * UNIT);
    if (row->formatted)
      ck_assert_uint_eq(number_of(first), 77);
    for (int i = 0; i < 2; ++i) {
      ck_assert_int_eq(mps_ap_alloc_pattern_begin(tested_ap, patterns[i]),
                       MPS_RES_OK);
      (void)any_block();
      ck_assert_int_eq(mps_ap_alloc_pattern_end(tested_ap, patterns[i]),
                       MPS_RES_OK);
      ck_assert_int_eq(mps_ap_alloc_pattern_end(tested_ap, patterns[i]),
                       MPS_RES_FAIL);
    }
  }
  close_class();
}
END_TEST

/* A flip between reserve and commit. */
START_TEST(traps) {
  mps_addr_t p;
  open_class(_i);
  if (row->points) {
    table[0] = node(3); /* something moves */
    REQUIRE(mps_reserve(&p, tested_ap, UNIT) == MPS_RES_OK);
    if (row->formatted)
      *(mps_word_t *)p = UNIT << 3 | (row->scanned ? OBJ_NODE : OBJ_LEAF);
    memset((char *)p + WORD, 1, UNIT - WORD);
    ck_assert(collect_parked());
    ck_assert_int_eq(mps_commit(tested_ap, p, UNIT) != 0, !row->trapped);
    (void)any_block();
  }
  close_class();
}
END_TEST

/* ---- references and collection ---- */

/* One block refers to an AMC object that nothing else refers to; it is itself
   referred to by an exact root, or by nothing at all. */
START_TEST(references) {
  mps_message_t m;
  mps_addr_t p, target;
  open_class(_i);
  mps_message_type_enable(arena, mps_message_type_finalization());
  for (int rooted = 0; rooted < 2; ++rooted) {
    bool keeps = row->scanned && (rooted || row->roots);
    p = any_block();
    target = numbered(5);
    ck_assert_int_eq(mps_finalize(arena, &target), MPS_RES_OK);
    if (row->formatted)
      *obj_ref(p, 1) = target;
    else
      memcpy(p, &target, sizeof target);
    table[rooted] = rooted && row->formatted ? p : NULL;
    p = target = NULL;
    ck_assert(collect_parked());
    ck_assert_int_eq(
        mps_message_get(&m, arena, mps_message_type_finalization()), !keeps);
    if (!keeps)
      mps_message_discard(arena, m);
    else if (rooted)
      ck_assert_uint_eq(number_of(*obj_ref(table[1], 1)), 5);
  }
  close_class();
}
END_TEST

/* Bytes in blocks: without what is left in the point's buffer. */
static size_t blocks(void) {
  size_t left =
      tested_ap == NULL || tested_ap->limit == NULL
          ? 0
          : (size_t)((char *)tested_ap->limit - (char *)tested_ap->init);
  return in_use(tested) - left;
}

/* What nothing refers to is reclaimed, or stays; what an exact root refers to
   moves, or does not, and then dependencies are stale and flips counted. */
START_TEST(moving_and_dying) {
  mps_addr_t before;
  mps_word_t flips;
  size_t used;
  mps_ld_s ld;
  open_class(_i);
  mps_ld_reset(&ld, arena);
  table[0] = before = any_block();
  if (!row->formatted)
    table[0] = NULL;
  mps_ld_add(&ld, arena, before);
  for (int i = 0; i < 10000; ++i)
    (void)any_block();
  used = blocks();
  flips = mps_collections(arena);
  (void)collect_parked();
  if (row->reclaims)
    ck_assert_uint_lt(blocks(), used / 2);
  else
    ck_assert_uint_eq(blocks(), used);
  if (row->formatted) {
    ck_assert_int_eq(table[0] != before, row->moves);
    ck_assert_uint_eq(number_of(table[0]), 77);
  }
  ck_assert_uint_eq(mps_collections(arena) - flips, row->moves);
  ck_assert_int_eq(mps_ld_isstale(&ld, arena, before), row->moves);
  close_class();
}
END_TEST

/* Ambiguous references: to the client pointer, into the block, beside it. */
START_TEST(ambiguous) {
  static const size_t offsets[] = {0, UNIT / 2, UNIT - 1};
  mps_message_t m;
  mps_addr_t p;
  open_class(_i);
  mps_message_type_enable(arena, mps_message_type_finalization());
  for (size_t i = 0; row->finalizable && i < 3; ++i) {
    bool keeps = i == 0 || row->interior;
    p = any_block();
    hint = (char *)p + offsets[i];
    ck_assert_int_eq(mps_finalize(arena, &p), MPS_RES_OK);
    p = NULL;
    ck_assert(collect_parked());
    ck_assert_int_eq(
        mps_message_get(&m, arena, mps_message_type_finalization()), !keeps);
    if (!keeps)
      mps_message_discard(arena, m);
    hint = NULL;
    (void)collect_parked();
    if (mps_message_get(&m, arena, mps_message_type_finalization()))
      mps_message_discard(arena, m);
  }
  close_class();
}
END_TEST

/* ---- protection ---- */

/* Blocks that hold no references are fit for system calls at any moment. */
START_TEST(system_calls) {
  enum { REFS = 1000, BYTES = REFS * WORD };
  int zero = open("/dev/zero", O_RDONLY);
  open_class(_i);
  ck_assert_int_ge(zero, 0);
  if (row->formatted && !row->scanned) {
    table[0] = obj_on(tested_ap, OBJ_LEAF, REFS);
    mps_arena_release(arena);
    for (size_t i = 0; i < 20000; ++i) {
      table[1 + i % 50] = numbered(i);
      if (i % 1000 == 0)
        (void)mps_arena_start_collect(arena);
      if (i % 20 == 0)
        REQUIRE(read(zero, obj_ref(table[0], 0), BYTES) == BYTES);
    }
    ck_assert_uint_gt(mps_collections(arena), 0); /* one may take long */
  }
  (void)close(zero);
  close_class();
}
END_TEST

/* ---- asking ---- */

START_TEST(questions) {
  mps_addr_t p, obj = NULL;
  mps_fmt_t f = NULL;
  mps_pool_t found;
  open_class(_i);
  p = any_block();
  for (size_t i = 0; i < UNIT; ++i) {
    char *q = (char *)p + i;
    ck_assert(mps_arena_has_addr(arena, q));
    ck_assert(mps_addr_pool(&found, arena, q) && found == tested);
    ck_assert_int_eq(mps_addr_fmt(&f, arena, q), row->formatted);
    ck_assert_ptr_eq(f, row->formatted ? fmt : NULL);
    ck_assert_int_eq(mps_addr_object(&obj, arena, q), row->object);
    ck_assert_ptr_eq(obj, row->object == MPS_RES_OK ? p : NULL);
  }
  close_class();
}
END_TEST

static size_t visits;

static void visit(mps_addr_t obj, mps_fmt_t f, mps_pool_t p, void *q,
                  size_t s) {
  (void)f, (void)q, (void)s;
  visits += p == tested && obj_kind(obj) != OBJ_PAD && number_of(obj) == 77;
}

static mps_res_t visit_area(mps_ss_t ss, void *base, void *limit,
                            void *closure) {
  (void)closure;
  for (char *p = base; p < (char *)limit; p = obj_skip(p))
    visits += obj_kind(p) != OBJ_PAD;
  return obj_scan(ss, base, limit);
}

START_TEST(walks) {
  open_class(_i);
  for (int i = 0; i < 100; ++i)
    (void)any_block();
  visits = 0;
  mps_arena_formatted_objects_walk(arena, visit, NULL, 0);
  ck_assert_uint_eq(visits, row->formatted ? 100 : 0);
  visits = 0;
  ck_assert_int_eq(mps_pool_walk(tested, visit_area, NULL), MPS_RES_OK);
  ck_assert_uint_eq(visits, row->formatted ? 100 : 0);
  close_class();
}
END_TEST

/* ---- finalization and transforms ---- */

START_TEST(finalization) {
  mps_message_t m;
  mps_addr_t p;
  open_class(_i);
  mps_message_type_enable(arena, mps_message_type_finalization());
  p = any_block();
  if (!row->finalizable) {
    ASSERTED(ck_assert_int_ne(mps_finalize(arena, &p), MPS_RES_OK));
  } else {
    ck_assert_int_eq(mps_finalize(arena, &p), MPS_RES_OK);
    p = NULL;
    ck_assert(collect_parked());
    ck_assert(mps_message_get(&m, arena, mps_message_type_finalization()));
    mps_message_finalization_ref(&p, arena, m);
    ck_assert_uint_eq(number_of(p), 77);
    mps_message_discard(arena, m);
  }
  close_class();
}
END_TEST

START_TEST(transforms) {
  mps_transform_t t;
  mps_bool_t applied = 0;
  mps_addr_t old, new;
  open_class(_i);
  ck_assert_int_eq(mps_transform_create(&t, arena), MPS_RES_OK);
  old = any_block();
  table[0] = row->formatted ? old : NULL;
  table[1] = new = numbered(9);
  if (row->finalizable) {
    ck_assert_int_eq(mps_transform_add_oldnew(t, &old, &new, 1), MPS_RES_OK);
    old = new = NULL;
    ck_assert_int_eq(mps_transform_apply(&applied, t), MPS_RES_OK);
    ck_assert(applied);
    ck_assert_uint_eq(number_of(table[0]), 9);
    ck_assert_ptr_eq(table[0], table[1]);
  } else {
    ASSERTED((void)mps_transform_add_oldnew(t, &old, &new, 1));
  }
  mps_transform_destroy(t);
  close_class();
}
END_TEST

SUITE_LOOPS_MAIN("classes", 60, {allocation, CLASSES}, {caches, CLASSES},
                 {frames_and_patterns, CLASSES}, {traps, CLASSES},
                 {references, CLASSES}, {moving_and_dying, CLASSES},
                 {ambiguous, CLASSES}, {system_calls, CLASSES},
                 {questions, CLASSES}, {walks, CLASSES},
                 {finalization, CLASSES}, {transforms, CLASSES})
