/* Testudo: tests of every row of the tables of keyword arguments: the member
   that carries the value, who takes the key, who leaves it, what happens
   without it and with values that are no good (interface, section 3).
   SPDX-License-Identifier: BSD-2-Clause */
#include "mpsacl.h"
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "mpscmfs.h"
#include "mpscmvff.h"
#include "mpscmvt.h"
#include "mpscsnc.h"
#include "mpstd.h"
#include "test/objects.h"
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test/suite.h"

/* ---- 3.1 the union ---- */

#define MEMBER_IS(member, type)                                               \
  _Static_assert(__builtin_types_compatible_p(                                \
                     __typeof__(((mps_arg_s *)0)->val.member), type),         \
                 #member)

MEMBER_IS(b, mps_bool_t);
MEMBER_IS(c, char);
MEMBER_IS(string, const char *);
MEMBER_IS(i, int);
MEMBER_IS(u, unsigned);
MEMBER_IS(l, long);
MEMBER_IS(ul, unsigned long);
MEMBER_IS(f, float);
MEMBER_IS(d, double);
MEMBER_IS(size, size_t);
MEMBER_IS(fun, mps_fun_t);
MEMBER_IS(addr, mps_addr_t);
MEMBER_IS(fmt_scan, mps_fmt_scan_t);
MEMBER_IS(fmt_skip, mps_fmt_skip_t);
MEMBER_IS(fmt_fwd, mps_fmt_fwd_t);
MEMBER_IS(fmt_isfwd, mps_fmt_isfwd_t);
MEMBER_IS(fmt_pad, mps_fmt_pad_t);
MEMBER_IS(fmt_class, mps_fmt_class_t);
MEMBER_IS(format, mps_fmt_t);
MEMBER_IS(pool, mps_pool_t);
MEMBER_IS(chain, mps_chain_t);
MEMBER_IS(pool_debug_options, struct mps_pool_debug_option_s *);
MEMBER_IS(addr_method, mps_awl_find_dependent_t);
MEMBER_IS(align, mps_align_t);
MEMBER_IS(count, mps_word_t);
MEMBER_IS(p, void *);
MEMBER_IS(rank, mps_rank_t);

#define NAME_(x) #x
#define NAME(x)  NAME_(x)
#define ROW(key, member)                                                      \
  { #key, NAME(MPS_KEY_##key##_FIELD), #member }

static const struct {
  const char *key, *field, *member;
} rows[] = {
    ROW(ARENA_SIZE, size),
    ROW(ARENA_CL_BASE, addr),
    ROW(ARENA_GRAIN_SIZE, size),
    ROW(ARENA_ZONED, b),
    ROW(ARENA_EXTENDED, fun),
    ROW(ARENA_CONTRACTED, fun),
    ROW(COMMIT_LIMIT, size),
    ROW(SPARE, d),
    ROW(SPARE_COMMIT_LIMIT, size),
    ROW(PAUSE_TIME, d),
    ROW(VMW3_TOP_DOWN, b),
    ROW(FMT_ALIGN, align),
    ROW(FMT_HEADER_SIZE, size),
    ROW(FMT_SCAN, fmt_scan),
    ROW(FMT_SKIP, fmt_skip),
    ROW(FMT_FWD, fmt_fwd),
    ROW(FMT_ISFWD, fmt_isfwd),
    ROW(FMT_PAD, fmt_pad),
    ROW(FMT_CLASS, fmt_class),
    ROW(FORMAT, format),
    ROW(CHAIN, chain),
    ROW(GEN, u),
    ROW(INTERIOR, b),
    ROW(EXTEND_BY, size),
    ROW(LARGE_SIZE, size),
    ROW(MEAN_SIZE, size),
    ROW(MIN_SIZE, size),
    ROW(MAX_SIZE, size),
    ROW(ALIGN, align),
    ROW(AMS_SUPPORT_AMBIGUOUS, b),
    ROW(AWL_FIND_DEPENDENT, addr_method),
    ROW(MFS_UNIT_SIZE, size),
    ROW(MVFF_ARENA_HIGH, b),
    ROW(MVFF_SLOT_HIGH, b),
    ROW(MVFF_FIRST_FIT, b),
    ROW(MVT_RESERVE_DEPTH, count),
    ROW(MVT_FRAG_LIMIT, d),
    ROW(POOL_DEBUG_OPTIONS, pool_debug_options),
    ROW(RANK, rank),
    ROW(AP_HASH_ARRAYS, b),
};

START_TEST(members) {
  ck_assert_str_eq(rows[_i].field, rows[_i].member);
}
END_TEST

/* ---- 3.4 who takes which key ---- */

enum {
  AMC = 1 << 0,
  AMCZ = 1 << 1,
  AMS = 1 << 2,
  AMS_DEBUG = 1 << 3,
  AWL = 1 << 4,
  LO = 1 << 5,
  SNC = 1 << 6,
  MFS = 1 << 7,
  MVFF = 1 << 8,
  MVFF_DEBUG = 1 << 9,
  MVT = 1 << 10,
  CLASSES = 11,
  MOVING = AMC | AMCZ,
  RESTING = AMS | AMS_DEBUG | AWL | LO,
  FORMATTED = MOVING | RESTING | SNC,
  FIRST_FIT = MVFF | MVFF_DEBUG,
  MANUAL = MFS | FIRST_FIT | MVT
};

static mps_pool_class_t class_of(int bit) {
  mps_pool_class_t (*const get[])(void) = {
      mps_class_amc,  mps_class_amcz,       mps_class_ams, mps_class_ams_debug,
      mps_class_awl,  mps_class_lo,         mps_class_snc, mps_class_mfs,
      mps_class_mvff, mps_class_mvff_debug, mps_class_mvt};
  return get[bit]();
}

static mps_addr_t no_dependent(mps_addr_t obj) {
  (void)obj;
  return NULL;
}

static mps_pool_debug_option_s debug_options = {"fence", 5, "free", 4};

/* One key with a good value, as section 3.4 has it. */
static mps_arg_s good(mps_key_t key) {
  mps_arg_s arg;
  memset(&arg, 0, sizeof arg);
  arg.key = key;
  if (key == MPS_KEY_CHAIN)
    arg.val.chain = chain;
  else if (key == MPS_KEY_GEN)
    arg.val.u = 1;
  else if (key == MPS_KEY_SPARE || key == MPS_KEY_MVT_FRAG_LIMIT)
    arg.val.d = 0.5;
  else if (key == MPS_KEY_AWL_FIND_DEPENDENT)
    arg.val.addr_method = no_dependent;
  else if (key == MPS_KEY_POOL_DEBUG_OPTIONS)
    arg.val.pool_debug_options = &debug_options;
  else if (key == MPS_KEY_INTERIOR || key == MPS_KEY_AMS_SUPPORT_AMBIGUOUS ||
           key == MPS_KEY_MVFF_ARENA_HIGH || key == MPS_KEY_MVFF_SLOT_HIGH ||
           key == MPS_KEY_MVFF_FIRST_FIT)
    arg.val.b = 1;
  else if (key == MPS_KEY_ALIGN)
    arg.val.align = 16;
  else if (key == MPS_KEY_MIN_SIZE)
    arg.val.size = 16;
  else if (key == MPS_KEY_MEAN_SIZE)
    arg.val.size = 64;
  else if (key == MPS_KEY_MVT_RESERVE_DEPTH)
    arg.val.count = 100;
  else
    arg.val.size = 40960;
  return arg;
}

/* The result of creating a pool of class BIT with what it must have, then
   ARG; ARGS is the list afterwards. */
static mps_res_t create(mps_pool_t *pool_o, mps_arg_s args[], int bit,
                        mps_arg_s arg) {
  size_t n = 0;
  if ((FORMATTED >> bit & 1) && arg.key != MPS_KEY_FORMAT) {
    args[n].key = MPS_KEY_FORMAT;
    args[n++].val.format = fmt;
  }
  if ((MFS >> bit & 1) && arg.key != MPS_KEY_MFS_UNIT_SIZE) {
    args[n].key = MPS_KEY_MFS_UNIT_SIZE;
    args[n++].val.size = 64;
  }
  args[n++] = arg;
  args[n].key = MPS_KEY_ARGS_END;
  return mps_pool_create_k(pool_o, arena, class_of(bit), args);
}

static void takes(mps_key_t key, unsigned classes) {
  mps_arg_s args[4];
  mps_pool_t p;
  for (int bit = 0; bit < CLASSES; ++bit) {
    ck_assert_int_eq(create(&p, args, bit, good(key)), MPS_RES_OK);
    ck_assert_msg(args[0].key == (classes >> bit & 1 ? MPS_KEY_ARGS_END : key),
                  "class %d", bit);
    mps_pool_destroy(p);
  }
}

START_TEST(pool_keys) {
  heap_start(mps_class_amc());
  takes(MPS_KEY_CHAIN, MOVING | RESTING);
  takes(MPS_KEY_GEN, RESTING);
  takes(MPS_KEY_INTERIOR, MOVING);
  takes(MPS_KEY_EXTEND_BY, MOVING | MFS | FIRST_FIT);
  takes(MPS_KEY_LARGE_SIZE, MOVING);
  takes(MPS_KEY_MEAN_SIZE, FIRST_FIT | MVT);
  takes(MPS_KEY_MIN_SIZE, MVT);
  takes(MPS_KEY_MAX_SIZE, MVT);
  takes(MPS_KEY_ALIGN, FIRST_FIT | MVT);
  takes(MPS_KEY_SPARE, FIRST_FIT);
  takes(MPS_KEY_AMS_SUPPORT_AMBIGUOUS, AMS | AMS_DEBUG);
  takes(MPS_KEY_AWL_FIND_DEPENDENT, AWL);
  takes(MPS_KEY_MVFF_ARENA_HIGH, FIRST_FIT);
  takes(MPS_KEY_MVFF_SLOT_HIGH, FIRST_FIT);
  takes(MPS_KEY_MVFF_FIRST_FIT, FIRST_FIT);
  takes(MPS_KEY_MVT_RESERVE_DEPTH, MVT);
  takes(MPS_KEY_MVT_FRAG_LIMIT, MVT);
  takes(MPS_KEY_POOL_DEBUG_OPTIONS, AMS_DEBUG | MVFF_DEBUG);
  takes(MPS_KEY_ARENA_SIZE, 0);
  heap_stop();
}
END_TEST

/* ---- values that are no good ---- */

/* Asserted; and where the handler returns, and in the rash build, there is no
   pool, and the out-parameter stays. */
static void refuses(mps_arg_s arg, unsigned classes) {
  mps_arg_s args[4];
  for (int bit = 0; bit < CLASSES; ++bit) {
    mps_pool_t p = NULL;
    mps_res_t res = MPS_RES_OK;
    if (!(classes >> bit & 1))
      continue;
    asserted_count = 0;
    res = create(&p, args, bit, arg);
    ck_assert_msg((asserted_count > 0) == !TDO_RASH, "class %d, size %zu", bit,
                  arg.val.size);
    ck_assert_msg(res != MPS_RES_OK && p == NULL, "class %d, size %zu", bit,
                  arg.val.size);
    asserted_count = 0;
  }
}

static mps_arg_s with_size(mps_key_t key, size_t size) {
  mps_arg_s arg = {.key = key, .val.size = size};
  return arg;
}

static mps_arg_s with_double(mps_key_t key, double d) {
  mps_arg_s arg = {.key = key, .val.d = d};
  return arg;
}

static mps_arg_s with_gen(unsigned u) {
  mps_arg_s arg = {.key = MPS_KEY_GEN, .val.u = u};
  return arg;
}

START_TEST(bad_sizes) {
  const size_t aligns[] = {0, 1, 4, 12, 24, 2 * suite_pages(1)};
  heap_start(mps_class_amc());
  refuses(with_size(MPS_KEY_EXTEND_BY, 0), MOVING | MFS | FIRST_FIT);
  refuses(with_size(MPS_KEY_MEAN_SIZE, 0), FIRST_FIT | MVT);
  refuses(with_size(MPS_KEY_MEAN_SIZE, 4), MVT); /* below the smallest */
  refuses(with_size(MPS_KEY_MEAN_SIZE, 8193), MVT);
  refuses(with_size(MPS_KEY_MIN_SIZE, 0), MVT);
  refuses(with_size(MPS_KEY_MIN_SIZE, 33), MVT); /* above the mean */
  refuses(with_size(MPS_KEY_MAX_SIZE, 0), MVT);
  refuses(with_size(MPS_KEY_MAX_SIZE, 31), MVT);
  refuses(with_size(MPS_KEY_MFS_UNIT_SIZE, 0), MFS);
  for (size_t i = 0; i < sizeof aligns / sizeof aligns[0]; ++i) {
    mps_arg_s arg = {.key = MPS_KEY_ALIGN, .val.align = aligns[i]};
    refuses(arg, FIRST_FIT | MVT);
  }
  refuses(with_double(MPS_KEY_SPARE, -0.01), FIRST_FIT);
  refuses(with_double(MPS_KEY_SPARE, 1.01), FIRST_FIT);
  refuses(with_double(MPS_KEY_SPARE, NAN), FIRST_FIT);
  refuses(with_double(MPS_KEY_MVT_FRAG_LIMIT, 1.01), MVT);
  refuses(with_double(MPS_KEY_MVT_FRAG_LIMIT, -0.01), MVT);
  refuses(with_double(MPS_KEY_MVT_FRAG_LIMIT, NAN), MVT);
  refuses(with_gen(3), RESTING); /* of the default chain: 0, 1, top */
  refuses(with_gen(UINT_MAX), RESTING);
  heap_stop();
}
END_TEST

/* Formats and chains: none, of another arena, missing. */
START_TEST(bad_handles) {
  mps_gen_param_s gen = {100, 0.5};
  mps_arg_s arg = {.key = MPS_KEY_FORMAT};
  mps_arena_t second;
  mps_arena_t first;
  heap_start(mps_class_amc());
  first = arena;
  ck_assert_int_eq(
      mps_arena_create_k(&second, mps_arena_class_vm(), mps_args_none),
      MPS_RES_OK);
  refuses(arg, FORMATTED);
  arena = second;
  arg.val.format = obj_format();
  arena = first;
  refuses(arg, FORMATTED);
  mps_fmt_destroy(arg.val.format);
  arg.key = MPS_KEY_CHAIN;
  arg.val.chain = NULL;
  refuses(arg, MOVING | RESTING);
  ck_assert_int_eq(mps_chain_create(&arg.val.chain, second, 1, &gen),
                   MPS_RES_OK);
  refuses(arg, MOVING | RESTING);
  mps_chain_destroy(arg.val.chain);
  mps_arena_destroy(second);
  for (int bit = 0; bit < CLASSES; ++bit) {
    mps_pool_t p = NULL;
    if (!((FORMATTED | MFS) >> bit & 1))
      continue;
    ASSERTED(ck_assert_int_ne(
        mps_pool_create_k(&p, arena, class_of(bit), mps_args_none),
        MPS_RES_OK));
    ck_assert_ptr_null(p);
  }
  heap_stop();
}
END_TEST

/* What is allowed at the edges. */
START_TEST(edges) {
  static const double fractions[] = {0.0, 1.0};
  mps_arg_s args[4], arg;
  mps_pool_t p;
  heap_start(mps_class_amc());
  for (int bit = 0; bit < CLASSES; ++bit)
    for (int i = 0; i < 2; ++i) {
      size_t sizes[] = {1, (size_t)1 << 20};
      ck_assert_int_eq(
          create(&p, args, bit,
                 with_double(MPS_KEY_MVT_FRAG_LIMIT, fractions[i])),
          MPS_RES_OK);
      mps_pool_destroy(p);
      ck_assert_int_eq(
          create(&p, args, bit, with_double(MPS_KEY_SPARE, fractions[i])),
          MPS_RES_OK);
      mps_pool_destroy(p);
      ck_assert_int_eq(
          create(&p, args, bit, with_size(MPS_KEY_EXTEND_BY, sizes[i])),
          MPS_RES_OK);
      mps_pool_destroy(p);
      ck_assert_int_eq(
          create(&p, args, bit, with_size(MPS_KEY_LARGE_SIZE, sizes[i])),
          MPS_RES_OK);
      mps_pool_destroy(p);
      ck_assert_int_eq(create(&p, args, bit, with_gen(2 * (unsigned)i)),
                       MPS_RES_OK);
      mps_pool_destroy(p);
      arg = (mps_arg_s){.key = MPS_KEY_ALIGN, .val.align = i ? 4096 : 8};
      ck_assert_int_eq(create(&p, args, bit, arg), MPS_RES_OK);
      mps_pool_destroy(p);
    }
  heap_stop();
}
END_TEST

/* ---- 3.5 allocation points ---- */

static mps_res_t point_with(mps_ap_t *ap_o, mps_arg_s args[], mps_pool_t p,
                            mps_arg_s arg) {
  args[0] = arg;
  args[1].key = MPS_KEY_ARGS_END;
  return mps_ap_create_k(ap_o, p, args);
}

START_TEST(point_keys) {
  mps_arg_s rank = {.key = MPS_KEY_RANK, .val.rank = mps_rank_exact()};
  mps_arg_s hash = {.key = MPS_KEY_AP_HASH_ARRAYS, .val.b = 1};
  mps_arg_s bad = {.key = MPS_KEY_RANK, .val.rank = 77}, args[4];
  mps_arg_s gen = with_gen(1);
  heap_start(mps_class_amc());
  for (int bit = 0; bit < CLASSES; ++bit) {
    bool ranked = ((AMS | AMS_DEBUG | AWL | SNC) >> bit & 1) != 0;
    bool moving = (MOVING >> bit & 1) != 0;
    mps_pool_t p;
    mps_ap_t a = NULL;
    if (MFS >> bit & 1)
      continue;
    ck_assert_int_eq(create(&p, args, bit, with_size(MPS_KEY_ARENA_SIZE, 1)),
                     MPS_RES_OK);
    ck_assert_int_eq(point_with(&a, args, p, rank), MPS_RES_OK);
    ck_assert((args[0].key == MPS_KEY_ARGS_END) == ranked);
    mps_ap_destroy(a);
    ck_assert_int_eq(point_with(&a, args, p, hash), MPS_RES_OK);
    ck_assert((args[0].key == MPS_KEY_ARGS_END) == moving);
    mps_ap_destroy(a);
    ck_assert_int_eq(point_with(&a, args, p, gen), MPS_RES_OK);
    ck_assert((args[0].key == MPS_KEY_ARGS_END) == moving);
    mps_ap_destroy(a);
    a = NULL;
    if (ranked)
      ASSERTED(ck_assert_int_ne(point_with(&a, args, p, bad), MPS_RES_OK));
    if (moving)
      ASSERTED(
          ck_assert_int_ne(point_with(&a, args, p, with_gen(3)), MPS_RES_OK));
    ck_assert_ptr_null(a);
    mps_pool_destroy(p);
  }
  heap_stop();
}
END_TEST

/* Ranks by class: which work, and that others are refused (decision 9). */
START_TEST(ranks) {
  const struct {
    int bit;
    mps_rank_t rank;
    bool good;
  } cases[] = {
      {2, mps_rank_ambig(), true},      {2, mps_rank_exact(), true},
      {2, mps_rank_weak(), false},      {4, mps_rank_ambig(), false},
      {4, mps_rank_exact(), true},      {4, mps_rank_weak(), true},
      {6, mps_rank_ambig(), false},     {6, mps_rank_exact(), true},
      {6, mps_rank_weak(), false},      {2, mps_rank_ephemeron(), false},
      {4, mps_rank_ephemeron(), false},
  };
  mps_arg_s args[4];
  heap_start(mps_class_amc());
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    mps_arg_s arg = {.key = MPS_KEY_RANK, .val.rank = cases[i].rank};
    mps_pool_t p;
    mps_ap_t a = NULL;
    ck_assert_int_eq(
        create(&p, args, cases[i].bit, with_size(MPS_KEY_ARENA_SIZE, 1)),
        MPS_RES_OK);
    ck_assert_int_eq(point_with(&a, args, p, arg),
                     cases[i].good ? MPS_RES_OK : MPS_RES_PARAM);
    ck_assert_int_eq(a != NULL, cases[i].good);
    if (a != NULL)
      mps_ap_destroy(a);
    mps_pool_destroy(p);
  }
  heap_stop();
}
END_TEST

/* ---- 3.2 arenas ---- */

static char client_memory[1 << 20];

/* Nothing is ever extended here. */
static void extended(mps_arena_t a, void *base, size_t size) {
  (void)a, (void)base, (void)size;
}

START_TEST(arena_keys) {
  mps_arg_s values[] = {
      {.key = MPS_KEY_ARENA_SIZE, .val.size = sizeof client_memory},
      {.key = MPS_KEY_ARENA_GRAIN_SIZE, .val.size = 8192},
      {.key = MPS_KEY_ARENA_ZONED, .val.b = 0},
      {.key = MPS_KEY_COMMIT_LIMIT, .val.size = (size_t)100 << 20},
      {.key = MPS_KEY_SPARE, .val.d = 0.25},
      {.key = MPS_KEY_SPARE_COMMIT_LIMIT, .val.size = 1000},
      {.key = MPS_KEY_PAUSE_TIME, .val.d = INFINITY},
      {.key = MPS_KEY_ARENA_EXTENDED, .val.fun = (mps_fun_t)extended},
      {.key = MPS_KEY_ARENA_CONTRACTED, .val.fun = (mps_fun_t)extended},
      {.key = MPS_KEY_VMW3_TOP_DOWN, .val.b = 1},
      {.key = MPS_KEY_ARGS_END}};
  mps_arg_s args[12];
  mps_arena_t a;
  asserted_start();
  memcpy(args, values, sizeof values);
  ck_assert_int_eq(mps_arena_create_k(&a, mps_arena_class_vm(), args),
                   MPS_RES_OK);
  ck_assert_ptr_eq(args[0].key, MPS_KEY_VMW3_TOP_DOWN);
  ck_assert_ptr_eq(args[1].key, MPS_KEY_ARGS_END);
  ck_assert(mps_arena_spare(a) == 0.25); /* SPARE wins */
  ck_assert_uint_eq(mps_arena_commit_limit(a), (size_t)100 << 20);
  ck_assert(isinf(mps_arena_pause_time(a)));
  mps_arena_destroy(a);
  args[0] =
      (mps_arg_s){.key = MPS_KEY_ARENA_CL_BASE, .val.addr = client_memory};
  memcpy(args + 1, values, sizeof values);
  ck_assert_int_eq(mps_arena_create_k(&a, mps_arena_class_cl(), args),
                   MPS_RES_OK);
  ck_assert_ptr_eq(args[0].key, MPS_KEY_ARENA_EXTENDED);
  ck_assert_ptr_eq(args[1].key, MPS_KEY_ARENA_CONTRACTED);
  ck_assert_ptr_eq(args[2].key, MPS_KEY_VMW3_TOP_DOWN);
  ck_assert_ptr_eq(args[3].key, MPS_KEY_ARGS_END);
  ck_assert(mps_arena_spare(a) == 0.25);
  ck_assert_uint_eq(mps_arena_spare_committed(a), 0);
  mps_arena_destroy(a);
  ck_assert_uint_eq(asserted_count, 0);
}
END_TEST

START_TEST(bad_arena_keys) {
  const size_t bad_grain = 3 * suite_pages(1);
  const mps_arg_s bad[] = {
      {.key = MPS_KEY_SPARE, .val.d = -0.1},
      {.key = MPS_KEY_SPARE, .val.d = 1.1},
      {.key = MPS_KEY_SPARE, .val.d = NAN},
      {.key = MPS_KEY_PAUSE_TIME, .val.d = -0.1},
      {.key = MPS_KEY_PAUSE_TIME, .val.d = NAN},
      {.key = MPS_KEY_ARENA_GRAIN_SIZE, .val.size = bad_grain},
      {.key = TDO_KEY_SHIELD_MODE, .val.u = TDO_MODE_OFF + 1},
      {.key = TDO_KEY_SHIELD_QUEUE, .val.size = 0},
      {.key = TDO_KEY_SHIELD_QUANTUM, .val.size = 4095}};
  asserted_start();
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    mps_arg_s args[2] = {bad[i], {.key = MPS_KEY_ARGS_END}};
    mps_arena_t a = NULL;
    mps_res_t res;
    ASSERTED(res = mps_arena_create_k(&a, mps_arena_class_vm(), args));
    ck_assert_msg(res != MPS_RES_OK && a == NULL, "%zu", i);
  }
}
END_TEST

/* ---- 3.3 formats ---- */

/* A method that is missing is an assertion when it is needed, and only then;
   in every variety, for there is nothing to jump to. */
enum { NO_SCAN, NO_SKIP, NO_FWD, NO_ISFWD, NO_PAD, METHODS };

static void leave(const char *file, unsigned line, const char *text) {
  (void)file, (void)line, (void)text;
  _exit(42);
}

static mps_fmt_t format_without(int method) {
  mps_fmt_t f;
  MPS_ARGS_BEGIN(args) {
    if (method != NO_SCAN)
      MPS_ARGS_ADD(args, MPS_KEY_FMT_SCAN, obj_scan);
    if (method != NO_SKIP)
      MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, obj_skip);
    if (method != NO_FWD)
      MPS_ARGS_ADD(args, MPS_KEY_FMT_FWD, obj_fwd);
    if (method != NO_ISFWD)
      MPS_ARGS_ADD(args, MPS_KEY_FMT_ISFWD, obj_isfwd);
    if (method != NO_PAD)
      MPS_ARGS_ADD(args, MPS_KEY_FMT_PAD, obj_pad);
    REQUIRE(mps_fmt_create_k(&f, arena, args) == MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  return f;
}

/* In a child: a heap of CLS whose format lacks METHOD; 0 if all went well. */
static int live_without(mps_pool_class_t cls, int method) {
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    mps_gen_param_s gens[] = {{64, 0.85}, {256, 0.45}};
    mps_root_t ambig;
    void *volatile inside;
    start();
    (void)mps_lib_assert_fail_install(leave);
    fmt = format_without(method);
    REQUIRE(mps_chain_create(&chain, arena, 2, gens) == MPS_RES_OK);
    REQUIRE(mps_root_create_table(&table_root, arena, mps_rank_exact(), 0,
                                  table, ROOTS) == MPS_RES_OK);
    REQUIRE(mps_root_create_area(&ambig, arena, mps_rank_ambig(), 0,
                                 (void *)&inside, (void *)(&inside + 1),
                                 mps_scan_area, NULL) == MPS_RES_OK);
    pool = obj_pool(cls);
    ap = point(pool);
    mps_arena_park(arena);
    for (size_t i = 0; i < 100; ++i)
      table[i % 50] = node(3);
    inside = (char *)table[7] + WORD; /* pinned: needs pads around it */
    (void)mps_arena_collect(arena);
    (void)mps_arena_collect(arena);
    _exit(0);
  }
  REQUIRE(waitpid(pid, &status, 0) == pid);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

START_TEST(missing_methods) {
  for (int m = 0; m < METHODS; ++m) {
    bool moves = m == NO_FWD || m == NO_ISFWD || m == NO_PAD;
    ck_assert_int_eq(live_without(mps_class_amc(), m), 42);
    ck_assert_int_eq(live_without(mps_class_amcz(), m), m == NO_SCAN ? 0 : 42);
    ck_assert_int_eq(live_without(mps_class_ams(), m), moves ? 0 : 42);
    ck_assert_int_eq(live_without(mps_class_awl(), m), moves ? 0 : 42);
    ck_assert_int_eq(live_without(mps_class_lo(), m), m == NO_SKIP ? 42 : 0);
  }
}
END_TEST

/* Defaults, and what a format may be made of. */
START_TEST(format_keys) {
  static const size_t aligns[] = {1, 2, 8, 64, 4096};
  mps_fmt_t f;
  start();
  ck_assert_int_eq(mps_fmt_create_k(&f, arena, mps_args_none), MPS_RES_OK);
  mps_fmt_destroy(f);
  for (size_t i = 0; i < sizeof aligns / sizeof aligns[0]; ++i) {
    MPS_ARGS_BEGIN(args) {
      MPS_ARGS_ADD(args, MPS_KEY_FMT_ALIGN, aligns[i]);
      MPS_ARGS_ADD(args, MPS_KEY_FMT_HEADER_SIZE, 8 * i);
      MPS_ARGS_ADD(args, MPS_KEY_FMT_CLASS, no_dependent);
      MPS_ARGS_ADD(args, MPS_KEY_CHAIN, NULL);
      ck_assert_int_eq(mps_fmt_create_k(&f, arena, args), MPS_RES_OK);
      ck_assert_ptr_eq(args[0].key, MPS_KEY_CHAIN);
    }
    MPS_ARGS_END(args);
    mps_fmt_destroy(f);
  }
  for (size_t align = 0; align < 7; align += 3) {
    f = NULL;
    MPS_ARGS_BEGIN(args) {
      MPS_ARGS_ADD(args, MPS_KEY_FMT_ALIGN, align);
      ASSERTED(
          ck_assert_int_ne(mps_fmt_create_k(&f, arena, args), MPS_RES_OK));
    }
    MPS_ARGS_END(args);
    ck_assert_ptr_null(f);
  }
  stop();
}
END_TEST

SUITE_LOOPS_MAIN("keys", 60, {pool_keys, 1}, {bad_sizes, 1}, {bad_handles, 1},
                 {edges, 1}, {point_keys, 1}, {ranks, 1}, {arena_keys, 1},
                 {bad_arena_keys, 1}, {format_keys, 1}, {missing_methods, 1},
                 {members, sizeof rows / sizeof rows[0]})
