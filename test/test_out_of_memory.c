/* Testudo: every kind of thing that needs memory, where there is none: the
   N-th call of the system refused, for every N (where a sanitizer or an
   emulator makes that slow, for all the small N and every eighth part from
   there on); every call; and the commit limit reached. Each gives a memory
   code or goes on, writes nothing where it fails, and leaves the heap right.
   SPDX-License-Identifier: BSD-2-Clause */
#include "mpsavm.h"
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "mpscmfs.h"
#include "mpscmvt.h"
#include "mpscsnc.h"
#include "test/objects.h"
#include "test/refusing.h"
#include "test/suite.h"

enum { MOST = 60000 };

static void *things[MOST];

/* One more thing, and its end. Never more than `most` (0: MOST). */
typedef struct kind {
  const char *name;
  mps_res_t (*make)(void **thing_io, size_t i);
  void (*unmake)(void *thing, size_t i);
  size_t most; /* 0: until memory ends */
} kind_t;

static mps_pool_t helper; /* a pool of the kind's class */
static mps_ap_t helper_ap;
static mps_transform_t transform;

static mps_res_t make_format(void **io, size_t i) {
  mps_fmt_fixed_s f = {8, obj_scan, obj_fwd, obj_isfwd, obj_pad};
  (void)i;
  return mps_fmt_create_fixed((mps_fmt_t *)io, arena, &f);
}

static void unmake_format(void *thing, size_t i) {
  (void)i;
  mps_fmt_destroy(thing);
}

static mps_res_t make_chain(void **io, size_t i) {
  mps_gen_param_s gens[] = {{10, 0.5}, {20, 0.5}, {30, 0.5}};
  return mps_chain_create((mps_chain_t *)io, arena, 1 + i % 3, gens);
}

static void unmake_chain(void *thing, size_t i) {
  (void)i;
  mps_chain_destroy(thing);
}

static mps_pool_class_t class_of(size_t i) {
  mps_pool_class_t classes[] = {
      mps_class_amc(),       mps_class_amcz(),      mps_class_ams(),
      mps_class_awl(),       mps_class_lo(),        mps_class_snc(),
      mps_class_mfs(),       mps_class_mvff(),      mps_class_mvt(),
      mps_class_ams_debug(), mps_class_mvff_debug()};
  return classes[i % (sizeof classes / sizeof classes[0])];
}

static mps_res_t pool_of(mps_pool_t *pool_o, mps_pool_class_t cls) {
  mps_res_t res;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
    MPS_ARGS_ADD(args, MPS_KEY_MFS_UNIT_SIZE, 24);
    res = mps_pool_create_k(pool_o, arena, cls, args);
  }
  MPS_ARGS_END(args);
  return res;
}

static mps_res_t make_pool(void **io, size_t i) {
  return pool_of((mps_pool_t *)io, class_of(i));
}

static void unmake_pool(void *thing, size_t i) {
  (void)i;
  mps_pool_destroy(thing);
}

static mps_res_t make_point(void **io, size_t i) {
  (void)i;
  return mps_ap_create_k((mps_ap_t *)io, helper, mps_args_none);
}

static void unmake_point(void *thing, size_t i) {
  (void)i;
  mps_ap_destroy(thing);
}

/* A point and a block on it, committed. */
static mps_res_t make_filled(void **io, size_t i) {
  mps_ap_t p = NULL;
  mps_addr_t obj = NULL;
  mps_res_t res = mps_ap_create_k(&p, helper, mps_args_none);
  if (res != MPS_RES_OK)
    return res;
  res = obj_try(&obj, p, OBJ_LEAF, 1 + i % 300);
  if (res != MPS_RES_OK) {
    ck_assert_ptr_null(obj);
    mps_ap_destroy(p);
    return res;
  }
  *io = p;
  return MPS_RES_OK;
}

static mps_res_t root_scan(mps_ss_t ss, void *p, size_t s) {
  (void)ss, (void)p, (void)s;
  return MPS_RES_OK;
}

static mps_res_t make_root(void **io, size_t i) {
  mps_root_t *root = (mps_root_t *)io;
  mps_rank_t exact = mps_rank_exact(), ambig = mps_rank_ambig();
  mps_addr_t *t = &table[i % 100];
  switch (i % 10) {
  case 0:
    return mps_root_create(root, arena, exact, 0, root_scan, NULL, 0);
  case 1:
    return mps_root_create_fmt(root, arena, ambig, 0, obj_scan, t, t + 1);
  case 2:
    return mps_root_create_area(root, arena, exact, 0, t, t + 1, mps_scan_area,
                                NULL);
  case 3:
    return mps_root_create_area_tagged(root, arena, exact, 0, t, t + 1,
                                       mps_scan_area_tagged, 7, 0);
  case 4:
    return mps_root_create_table(root, arena, exact, 0, t, 1);
  case 5:
    return mps_root_create_table_masked(root, arena, exact, 0, t, 1, 7);
  case 6:
    return mps_root_create_thread(root, arena, thr, &root);
  case 7:
    return mps_root_create_thread_tagged(root, arena, ambig, 0, thr,
                                         mps_scan_area_tagged, 7, 0, &root);
  case 8:
    return mps_root_create_thread_scanned(root, arena, ambig, 0, thr,
                                          mps_scan_area, NULL, &root);
  default:
    return mps_root_create_reg(root, arena, ambig, 0, thr,
                               mps_stack_scan_ambig, &root, 0);
  }
}

static void unmake_root(void *thing, size_t i) {
  (void)i;
  mps_root_destroy(thing);
}

static mps_res_t make_thread(void **io, size_t i) {
  (void)i;
  return mps_thread_reg((mps_thr_t *)io, arena);
}

static void unmake_thread(void *thing, size_t i) {
  (void)i;
  mps_thread_dereg(thing);
}

static mps_res_t make_final(void **io, size_t i) {
  (void)io, (void)i;
  return mps_finalize(arena, &table[0]);
}

static void unmake_final(void *thing, size_t i) {
  (void)thing, (void)i;
  ck_assert_int_eq(mps_definalize(arena, &table[0]), MPS_RES_OK);
}

static mps_res_t make_sac(void **io, size_t i) {
  mps_sac_class_s classes[] = {{16, 5, 1}, {64, 5, 1}};
  mps_addr_t p = NULL;
  mps_sac_t sac = NULL;
  mps_res_t res = mps_sac_create(&sac, helper, 2, classes);
  if (res != MPS_RES_OK)
    return res;
  MPS_SAC_ALLOC_FAST(res, p, sac, 16 + i % 100, 0);
  if (res != MPS_RES_OK) {
    mps_sac_destroy(sac);
    return res;
  }
  memset(p, 1, 16 + i % 100);
  MPS_SAC_FREE_FAST(sac, p, 16 + i % 100);
  *io = sac;
  return MPS_RES_OK;
}

static void unmake_sac(void *thing, size_t i) {
  (void)i;
  mps_sac_flush(thing);
  mps_sac_destroy(thing);
}

static mps_res_t make_block(void **io, size_t i) {
  mps_addr_t p = &p;
  mps_res_t res = mps_alloc(&p, helper, 24 + i % 8 * 1000);
  if (res == MPS_RES_OK)
    *io = memset(p, 1, 24 + i % 8 * 1000);
  else
    ck_assert_ptr_eq(p, &p);
  return res;
}

static void unmake_block(void *thing, size_t i) {
  mps_free(helper, thing, 24 + i % 8 * 1000);
}

static mps_res_t make_unit(void **io, size_t i) {
  (void)i;
  return mps_alloc(io, helper, 24);
}

static void unmake_unit(void *thing, size_t i) {
  (void)i;
  mps_free(helper, thing, 24);
}

static mps_res_t make_frame(void **io, size_t i) {
  mps_addr_t obj;
  mps_res_t res;
  if (helper_ap == NULL) {
    res = mps_ap_create_k(&helper_ap, helper, mps_args_none);
    if (res != MPS_RES_OK)
      return res;
  }
  if (i % 2 == 1)
    return obj_try(&obj, helper_ap, OBJ_LEAF, 100);
  return mps_ap_frame_push((mps_frame_t *)io, helper_ap);
}

static void unmake_frame(void *thing, size_t i) {
  if (i % 2 == 0)
    ck_assert_int_eq(mps_ap_frame_pop(helper_ap, thing), MPS_RES_OK);
}

static mps_res_t make_transform(void **io, size_t i) {
  mps_addr_t *from = &table[i % 50], *to = &table[50];
  mps_transform_t t = NULL;
  mps_res_t res;
  mps_arena_park(arena);
  res = mps_transform_create(&t, arena);
  if (res != MPS_RES_OK)
    return res;
  res = mps_transform_add_oldnew(t, from, to, 1 + i % 40);
  if (res != MPS_RES_OK)
    mps_transform_destroy(t);
  else
    *io = t;
  return res;
}

static void unmake_transform(void *thing, size_t i) {
  (void)i;
  mps_transform_destroy(thing);
}

/* Collections, their messages, walks, and a transform that does nothing: what
   has no way to fail goes on. */
static mps_res_t walk_area(mps_ss_t ss, void *base, void *limit, void *p) {
  (void)p;
  return obj_scan(ss, base, limit);
}

static void walk_object(mps_addr_t obj, mps_fmt_t f, mps_pool_t p, void *q,
                        size_t s) {
  (void)obj, (void)f, (void)p, (void)q;
  ck_assert_uint_eq(s, 7);
}

static void walk_root(mps_addr_t *ref, mps_root_t root, void *p, size_t s) {
  (void)ref, (void)root, (void)p, (void)s;
}

static mps_res_t make_collection(void **io, size_t i) {
  mps_bool_t applied = 0;
  mps_res_t res;
  *io = NULL;
  mps_message_type_enable(arena, (mps_message_type_t)(i % 3));
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_int_eq(mps_pool_walk(pool, walk_area, NULL), MPS_RES_OK);
  mps_arena_formatted_objects_walk(arena, walk_object, NULL, 7);
  mps_arena_roots_walk(arena, walk_root, NULL, 0);
  mps_telemetry_label(table[0], mps_telemetry_intern("a label"));
  mps_telemetry_flush();
  if (transform == NULL &&
      mps_transform_create(&transform, arena) != MPS_RES_OK)
    transform = NULL;
  if (transform != NULL) {
    res = mps_transform_apply(&applied, transform);
    ck_assert(res == MPS_RES_OK || res == MPS_RES_PARAM || memory_code(res));
    mps_transform_destroy(transform);
    transform = NULL;
  }
  mps_arena_release(arena);
  return MPS_RES_OK;
}

static void unmake_nothing(void *thing, size_t i) {
  (void)thing, (void)i;
}

/* A small object that lives, and garbage. */
static mps_res_t make_object(void **io, size_t i) {
  mps_addr_t obj = NULL;
  mps_res_t res = obj_try(&obj, helper_ap, OBJ_NODE, 2 + i % 100);
  if (res != MPS_RES_OK)
    return res;
  *io = NULL;
  *obj_ref(obj, 0) = table[60];
  table[60] = obj;
  return res;
}

static const kind_t kinds[] = {
    {"format", make_format, unmake_format, 0},
    {"chain", make_chain, unmake_chain, 0},
    {"pool", make_pool, unmake_pool, 0},
    {"root", make_root, unmake_root, 0},
    {"thread", make_thread, unmake_thread, 0},
    {"finalization", make_final, unmake_final, 0},
    {"transform", make_transform, unmake_transform, 0},
    {"collection", make_collection, unmake_nothing, 20},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Kinds that need a pool of a class. */
static const struct {
  kind_t kind;
  mps_pool_class_t (*of)(void);
} pool_kinds[] = {
    {{"point on AMC", make_point, unmake_point, 0}, mps_class_amc},
    {{"point on MVT", make_point, unmake_point, 0}, mps_class_mvt},
    {{"block on AMC", make_filled, unmake_point, 0}, mps_class_amc},
    {{"block on AMCZ", make_filled, unmake_point, 0}, mps_class_amcz},
    {{"block on AMS", make_filled, unmake_point, 0}, mps_class_ams},
    {{"block on AMS debug", make_filled, unmake_point, 0},
     mps_class_ams_debug},
    {{"block on AWL", make_filled, unmake_point, 0}, mps_class_awl},
    {{"block on LO", make_filled, unmake_point, 0}, mps_class_lo},
    {{"block on SNC", make_filled, unmake_point, 0}, mps_class_snc},
    {{"block on MVFF", make_filled, unmake_point, 0}, mps_class_mvff},
    {{"block on MVT", make_filled, unmake_point, 0}, mps_class_mvt},
    {{"alloc MVFF", make_block, unmake_block, 0}, mps_class_mvff},
    {{"alloc MVFF debug", make_block, unmake_block, 0}, mps_class_mvff_debug},
    {{"alloc MFS", make_unit, unmake_unit, 0}, mps_class_mfs},
    {{"cache on MVFF", make_sac, unmake_sac, 0}, mps_class_mvff},
    {{"cache on MVFF debug", make_sac, unmake_sac, 0}, mps_class_mvff_debug},
    {{"frame on SNC", make_frame, unmake_frame, 0}, mps_class_snc},
    {{"objects on AMC", make_object, unmake_nothing, 0}, mps_class_amc},
};
enum { POOL_KINDS = sizeof pool_kinds / sizeof pool_kinds[0] };

static const kind_t *kind_of(int i) {
  return i < KINDS ? &kinds[i] : &pool_kinds[i - KINDS].kind;
}

static void surroundings(int i) {
  MPS_ARGS_BEGIN(args) { /* small: what is refused comes soon */
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, (size_t)1 << 20);
    MPS_ARGS_ADD(args, MPS_KEY_SPARE, 0.0);
    REQUIRE(mps_arena_create_k(&arena, mps_arena_class_vm(), args) ==
            MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  asserted_start();
  heap_in_arena(mps_class_amc());
  for (size_t j = 0; j < 200; ++j)
    table[j] = numbered(j);
  if (i >= KINDS)
    REQUIRE(pool_of(&helper, pool_kinds[i - KINDS].of()) == MPS_RES_OK);
  if (kind_of(i)->make == make_object)
    helper_ap = point(helper);
}

static void check(void) {
  tdo_arena_check(arena);
  for (size_t j = 0; j < 50; ++j)
    REQUIRE(number_of(table[j]) == j);
  ck_assert_uint_eq(asserted_count, 0);
}

static void leave(int i, size_t made) {
  const kind_t *k = kind_of(i);
  while (made-- > 0)
    k->unmake(things[made], made);
  check();
  if (helper_ap != NULL)
    mps_ap_destroy(helper_ap);
  helper_ap = NULL;
  mps_arena_park(arena);
  if (i >= KINDS) {
    memset(table, 0, sizeof table);
    mps_pool_destroy(helper);
  }
  heap_stop();
}

/* Make things until one fails or there are MOST; how many, and why not. */
static size_t make_all(int i, size_t most, mps_res_t *res_o) {
  const kind_t *k = kind_of(i);
  size_t n = 0;
  *res_o = MPS_RES_OK;
  for (; n < most; ++n) {
    void *mark = &mark;
    things[n] = mark;
    *res_o = k->make(&things[n], n);
    if (*res_o != MPS_RES_OK) {
      ck_assert_msg(things[n] == mark, "%s: out-parameter written", k->name);
      break;
    }
  }
  return n;
}

static size_t most_of(int i) {
  return kind_of(i)->most != 0 ? kind_of(i)->most : MOST;
}

/* From now on nothing: until the first failure; then all is as before. */
START_TEST(nothing_more) {
  const kind_t *k = kind_of(_i);
  mps_res_t res;
  size_t made;
  surroundings(_i);
  refuse(1, true);
  made = make_all(_i, most_of(_i), &res);
  if (k->most == 0)
    ck_assert_msg(memory_code(res), "%s: %d after %zu", k->name, res, made);
  refuse(0, false);
  check();
  if (k->most == 0 && made < MOST) {
    things[made] = NULL;
    ck_assert_int_eq(k->make(&things[made], made), MPS_RES_OK);
    ++made;
  }
  leave(_i, made);
}
END_TEST

/* Of blocks fewer are made: each needs a call or two; with collections at
   every chance, some more. */
static size_t enough(const kind_t *k) {
  bool many = k->make == make_chain || k->make == make_filled;

  if (k->most != 0)
    return 6;
  return many ? suite_size(100, 40) : suite_size(400, 60);
}

static size_t after(size_t n) {
  return n + 1 + (suite_stressed() ? n / 2 : suite_slow() ? n / 8 : 0);
}

/* The N-th call of the system refused, for every N: at most one thing is
   missing, and made when asked for again. */
START_TEST(every_call) {
  const kind_t *k = kind_of(_i);
  size_t count = enough(k);
  bool done = false;
  for (size_t n = 1; !done; n = after(n)) {
    size_t made = 0;
    surroundings(_i);
    refuse(n, false);
    while (made < count) {
      mps_res_t res = k->make(&things[made], made);
      ck_assert_msg(res == MPS_RES_OK || memory_code(res), "%s: %d", k->name,
                    res);
      made += res == MPS_RES_OK;
    }
    done = refuse_count < n;
    refuse(0, false);
    check();
    leave(_i, made);
  }
}
END_TEST

/* The commit limit is the only obstacle, and the code says so. */
START_TEST(commit_limit) {
  const kind_t *k = kind_of(_i);
  mps_res_t res;
  size_t made;
  surroundings(_i);
  ck_assert_int_eq(
      mps_arena_commit_limit_set(arena, mps_arena_committed(arena) + 65536),
      MPS_RES_OK);
  made = make_all(_i, most_of(_i), &res);
  if (k->most == 0)
    /* One page of 64 KiB is enough for as many chains as there may be. */
    ck_assert_msg(res == MPS_RES_COMMIT_LIMIT ||
                      (res == MPS_RES_LIMIT && suite_pages(1) > 4096),
                  "%s: %d after %zu", k->name, res, made);
  check();
  ck_assert_uint_le(mps_arena_committed(arena), mps_arena_commit_limit(arena));
  ck_assert_int_eq(mps_arena_commit_limit_set(arena, SIZE_MAX), MPS_RES_OK);
  leave(_i, made);
}
END_TEST

SUITE_LOOPS_MAIN("out_of_memory", 60, {nothing_more, KINDS + POOL_KINDS},
                 {every_call, KINDS + POOL_KINDS},
                 {commit_limit, KINDS + POOL_KINDS})
