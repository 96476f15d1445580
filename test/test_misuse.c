/* Testudo: tests of misuse (interface, section 7, row by row): in the checked
   build each ends in the assertion handler, which ends a child process with a
   status of its own. What looks like misuse and must work stands at the end.
   SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "mpsacl.h"
#include "mpscamc.h"
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "mpscmfs.h"
#include "mpscmvff.h"
#include "mpscmvt.h"
#include "mpscsnc.h"
#include "test/objects.h"
#include "test/suite.h"

enum { CAUGHT = 77, MISSED = 78 };

static mps_pool_t mvff, mfs, snc;
static mps_arena_t other;
static mps_addr_t block, out;
static mps_res_t res;

/* A file, a line, and a sentence that a client understands. */
static bool helpful(const char *file, unsigned line, const char *text) {
  return file != NULL && *file != '\0' && line != 0 && text != NULL &&
         strchr(text, ' ') != NULL && strstr(text, "==") == NULL &&
         strstr(text, "->") == NULL;
}

static void caught(const char *file, unsigned line, const char *text) {
  suite_leave(helpful(file, line, text) ? CAUGHT : 1);
}

static void surroundings(void) {
  heap_start(mps_class_amc());
  REQUIRE(mps_arena_create_k(&other, mps_arena_class_vm(), mps_args_none) ==
          MPS_RES_OK);
  REQUIRE(mps_pool_create_k(&mvff, arena, mps_class_mvff(), mps_args_none) ==
          MPS_RES_OK);
  CREATE(mfs, mps_class_mfs(), MFS_UNIT_SIZE, 64);
  CREATE(snc, mps_class_snc(), FORMAT, fmt);
  block = alloc(mvff, 64);
  table[0] = numbered(1);
  (void)mps_lib_assert_fail_install(caught);
}

typedef struct misuse {
  const char *what;
  void (*body)(void);
} misuse_t;

/* Keys and a value, to a pool of CLS. */
#define POOL_WITH(cls, name, value)                                           \
  do {                                                                        \
    mps_pool_t made;                                                          \
    MPS_ARGS_BEGIN(args) {                                                    \
      MPS_ARGS_ADD(args, MPS_KEY_##name, value);                              \
      res = mps_pool_create_k(&made, arena, cls, args);                       \
    }                                                                         \
    MPS_ARGS_END(args);                                                       \
  } while (0)

#define POOL_WITH_2(cls, name1, value1, name2, value2)                        \
  do {                                                                        \
    mps_pool_t made;                                                          \
    MPS_ARGS_BEGIN(args) {                                                    \
      MPS_ARGS_ADD(args, MPS_KEY_##name1, value1);                            \
      MPS_ARGS_ADD(args, MPS_KEY_##name2, value2);                            \
      res = mps_pool_create_k(&made, arena, cls, args);                       \
    }                                                                         \
    MPS_ARGS_END(args);                                                       \
  } while (0)

#define ARENA_WITH(name, value)                                               \
  do {                                                                        \
    mps_arena_t made;                                                         \
    MPS_ARGS_BEGIN(args) {                                                    \
      MPS_ARGS_ADD(args, MPS_KEY_##name, value);                              \
      res = mps_arena_create_k(&made, mps_arena_class_vm(), args);            \
    }                                                                         \
    MPS_ARGS_END(args);                                                       \
  } while (0)

#define FORMAT_WITH(name, value)                                              \
  do {                                                                        \
    mps_fmt_t made;                                                           \
    MPS_ARGS_BEGIN(args) {                                                    \
      MPS_ARGS_ADD(args, MPS_KEY_##name, value);                              \
      res = mps_fmt_create_k(&made, arena, args);                             \
    }                                                                         \
    MPS_ARGS_END(args);                                                       \
  } while (0)

/* What the functions below need, once. */
static mps_gen_param_s good_gens[] = {{100, 0.5}};
static mps_addr_t other_words[2];
static mps_root_t made_root;
static mps_thr_t made_thr;
static mps_chain_t made_chain;
static mps_fmt_t made_fmt;
static mps_pool_t made_pool;
static mps_ap_t made_ap;
static mps_sac_t made_sac;
static mps_message_t message;
static mps_frame_t frame;
static mps_ld_s ld;
static mps_transform_t made_transform;
static mps_message_type_t type_of_first;
static mps_bool_t applied;

static mps_word_t client[1 << 18]; /* an arena's memory */

static mps_res_t scan_root(mps_ss_t ss, void *p, size_t s) {
  (void)ss, (void)p, (void)s;
  return MPS_RES_OK;
}

static mps_res_t scan_reg(mps_ss_t ss, mps_thr_t t, void *p, size_t s) {
  (void)ss, (void)t, (void)p, (void)s;
  return MPS_RES_OK;
}

static void get_message(mps_message_type_t type) {
  mps_message_type_enable(arena, mps_message_type_finalization());
  mps_message_type_enable(arena, mps_message_type_gc());
  mps_message_type_enable(arena, mps_message_type_gc_start());
  REQUIRE(mps_finalize(arena, &table[0]) == MPS_RES_OK);
  table[0] = NULL;
  REQUIRE(mps_arena_collect(arena) == MPS_RES_OK);
  REQUIRE(mps_message_get(&message, arena, type));
}

static void in_callback(mps_addr_t obj, mps_fmt_t f, mps_pool_t p, void *q,
                        size_t s) {
  (void)obj, (void)f, (void)p, (void)q, (void)s;
  (void)mps_arena_committed(arena);
}

static void step(mps_addr_t obj, void *p, size_t s) {
  (void)obj, (void)p, (void)s;
}

static void step_root(mps_addr_t *ref, mps_root_t root, void *p, size_t s) {
  (void)ref, (void)root, (void)p, (void)s;
}

static void root_made(void) {
  REQUIRE(mps_root_create(&made_root, arena, mps_rank_exact(), 0, scan_root,
                          NULL, 0) == MPS_RES_OK);
}

#define NEW_TRANSFORM                                                         \
  do {                                                                        \
    mps_arena_park(arena);                                                    \
    REQUIRE(mps_transform_create(&made_transform, arena) == MPS_RES_OK);      \
  } while (0)
#define MVT                                                                   \
  REQUIRE(mps_pool_create_k(&made_pool, arena, mps_class_mvt(),               \
                            mps_args_none) == MPS_RES_OK)

/* Begins a collection that is not done at once. */
static void in_progress(void) {
  push_nodes(0, 200000);
  mps_arena_pause_time_set(arena, 0.0);
  REQUIRE(mps_arena_start_collect(arena) == MPS_RES_OK);
}

/* One function for each, named by its line. */
#define CONCAT_(a, b) a##b
#define CONCAT(a, b)  CONCAT_(a, b)
#define M(...)                                                                \
  static void CONCAT(misuse_, __LINE__)(void) {                               \
    __VA_ARGS__;                                                              \
  }                                                                           \
  static const misuse_t CONCAT(entry_, __LINE__)                              \
      __attribute__((used, section("misuses"))) = {#__VA_ARGS__,              \
                                                   CONCAT(misuse_, __LINE__)}
#include "test/misuses.h"

extern const misuse_t __start_misuses[], __stop_misuses[];

static int run(void (*body)(void)) {
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    surroundings();
    body();
    suite_leave(MISSED);
  }
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

START_TEST(test_rows) {
  size_t missed = 0, n = (size_t)(__stop_misuses - __start_misuses);
  ck_assert_uint_gt(n, 100);
  if (!TDO_COOL)
    return;
  for (size_t i = 0; i < n; ++i) {
    const misuse_t *m = &__start_misuses[i];
    int got = run(m->body);
    /* A destroyed arena's memory may be gone. */
    if (got == -SIGSEGV && strstr(m->what, "mps_arena_destroy(other)"))
      continue;
    if (got != CAUGHT) {
      fprintf(stderr, "status %d: %s\n", got, m->what);
      ++missed;
    }
  }
  ck_assert_uint_eq(missed, 0);
}
END_TEST

/* ---- afterwards ---- */

static unsigned told;
static bool jump;
static jmp_buf escape;

static void tell(const char *file, unsigned line, const char *text) {
  if (!helpful(file, line, text))
    suite_leave(1);
  ++told;
  if (jump)
    longjmp(escape, 1);
}

/* The heap is right, and goes on. */
static void goes_on(void) {
  mps_ap_t point_now = point(pool);
  mps_pool_t m;
  told = 0;
  tdo_arena_check(arena);
  for (size_t i = 0; i < 3000; ++i) {
    mps_addr_t obj = obj_on(point_now, OBJ_NODE, 2);
    *obj_ref(obj, 0) = (mps_addr_t)(i << 2 | 1);
    *obj_ref(obj, 1) = table[(i + 1) % ROOTS];
    table[i % ROOTS] = obj;
  }
  REQUIRE(mps_pool_create_k(&m, arena, mps_class_mvff(), mps_args_none) ==
          MPS_RES_OK);
  memset(alloc(m, 100000), 1, 100000);
  collect();
  for (size_t i = 0; i < ROOTS; ++i)
    REQUIRE(number_of(table[i]) % ROOTS == i);
  mps_pool_destroy(m);
  mps_ap_destroy(point_now);
  tdo_arena_check(arena);
}

/* A child: BODY with a handler that returns or jumps out; then the heap. */
static void survive(void (*body)(void)) {
  surroundings();
  (void)mps_lib_assert_fail_install(tell);
  if (setjmp(escape) == 0)
    body();
  if (told == 0)
    suite_leave(MISSED);
  memset(table, 0, sizeof table); /* what it left there */
  if (!mps_arena_busy(arena)) {
    jump = false;
    goes_on();
  } else { /* jumped out with the lock held: look only */
    jump = false;
    mps_arena_postmortem(arena);
    told = 0;
    tdo_arena_check(arena);
  }
  suite_leave(told == 0 ? CAUGHT : 1);
}

/* Does the arena live on after it? A callback that calls the library may wait
   for itself. */
static bool survivable(const char *what) {
  return (jump || strstr(what, "in_callback") == NULL) &&
         strcmp(what, "mps_arena_destroy(arena)") != 0 &&
         strstr(what, "postmortem") == NULL &&
         strstr(what, "mps_arena_destroy(other)") == NULL;
}

static void survivals(bool with_jump) {
  size_t lost = 0;
  if (!TDO_COOL)
    return;
  jump = with_jump;
  for (const misuse_t *m = __start_misuses; m < __stop_misuses; ++m) {
    int status;
    pid_t pid;
    if (!survivable(m->what))
      continue;
    pid = fork();
    if (pid == 0) {
      (void)signal(SIGALRM, SIG_DFL); /* Check has a handler */
      (void)alarm(20);
      survive(m->body);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != CAUGHT) {
      fprintf(stderr, "status %x: %s\n", (unsigned)status, m->what);
      ++lost;
    }
  }
  ck_assert_uint_eq(lost, 0);
}

START_TEST(test_returned) {
  survivals(false);
}
END_TEST

START_TEST(test_jumped) {
  survivals(true);
}
END_TEST

/* ---- what looks like misuse and must work ---- */

START_TEST(test_no_misuse) {
  mps_addr_t p, q;
  mps_gen_param_s many[33];
  mps_ap_t made;
  surroundings();
  asserted_start();
  for (int i = 0; i < 33; ++i)
    many[i] = (mps_gen_param_s){10, 0.5};
  ck_assert_int_eq(mps_chain_create(&made_chain, arena, 33, many), MPS_RES_OK);
  mps_chain_destroy(made_chain);
  mps_ld_reset(&ld, arena);
  mps_ld_add(&ld, other, table[0]);
  (void)mps_ld_isstale(&ld, other, table[0]);
  ck_assert_int_eq(mps_reserve(&p, ap, 16), MPS_RES_OK);
  ck_assert_int_eq(mps_reserve(&q, ap, 16), MPS_RES_OK);
  ck_assert_ptr_eq(p, q); /* by the macro, it extends the first */
  *(mps_word_t *)p = 32 << 3 | OBJ_LEAF;
  ck_assert(mps_commit(ap, p, 32));
  ck_assert_int_eq(mps_root_create_fmt(&made_root, arena, mps_rank_ambig(), 0,
                                       obj_scan, (char *)&table[0] + 1,
                                       (char *)&table[0] + 2),
                   MPS_RES_OK);
  mps_root_destroy(made_root);
  mps_message_type_enable(arena, mps_message_type_gc());
  mps_message_type_enable(arena, mps_message_type_gc());
  mps_message_type_disable(arena, mps_message_type_gc());
  mps_message_type_disable(arena, mps_message_type_gc());
  for (int i = 0; i < 3; ++i) {
    mps_arena_park(arena);
    mps_arena_clamp(arena);
    mps_arena_clamp(arena);
    mps_arena_release(arena);
    mps_arena_park(arena);
    mps_arena_park(arena);
  }
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_RANK, mps_rank_exact());
    MPS_ARGS_ADD(args, MPS_KEY_MFS_UNIT_SIZE, 16);
    ck_assert_int_eq(mps_ap_create_k(&made, mvff, args), MPS_RES_OK);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_RANK);
    ck_assert_ptr_eq(args[1].key, MPS_KEY_MFS_UNIT_SIZE);
  }
  MPS_ARGS_END(args);
  ck_assert_int_eq(mps_ap_alloc_pattern_begin(made, mps_alloc_pattern_ramp()),
                   MPS_RES_OK);
  ck_assert_int_eq(mps_ap_frame_push(&frame, made), MPS_RES_OK);
  mps_ap_destroy(made);
  /* A unit larger than what the pool extends itself by. */
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_MFS_UNIT_SIZE, 100000);
    MPS_ARGS_ADD(args, MPS_KEY_EXTEND_BY, 64);
    ck_assert_int_eq(mps_pool_create_k(&made_pool, arena, mps_class_mfs(),
                                       args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  for (int i = 0; i < 3; ++i)
    memset(alloc(made_pool, 100000), i, 100000);
  ck_assert_uint_eq(asserted_count, 0);
}
END_TEST

/* A handler that returns: the pool is refused, in every variety. */
START_TEST(test_refused) {
  mps_pool_class_t classes[] = {mps_class_amc(), mps_class_amcz(),
                                mps_class_ams(), mps_class_awl(),
                                mps_class_lo()};
  surroundings();
  asserted_start();
  REQUIRE(mps_fmt_create_k(&made_fmt, other, mps_args_none) == MPS_RES_OK);
  REQUIRE(mps_chain_create(&made_chain, other, 1, good_gens) == MPS_RES_OK);
  for (size_t i = 0; i < sizeof classes / sizeof classes[0]; ++i) {
    ASSERTED(res = mps_pool_create_k(&made_pool, arena, classes[i],
                                     mps_args_none));
    ck_assert_int_eq(res, MPS_RES_PARAM);
    ASSERTED(POOL_WITH(classes[i], FORMAT, made_fmt));
    ck_assert_int_eq(res, MPS_RES_PARAM);
    ASSERTED(POOL_WITH_2(classes[i], FORMAT, fmt, CHAIN, NULL));
    ck_assert_int_eq(res, MPS_RES_PARAM);
    ASSERTED(POOL_WITH_2(classes[i], FORMAT, fmt, CHAIN, made_chain));
    ck_assert_int_eq(res, MPS_RES_PARAM);
  }
  ASSERTED(res = mps_pool_create_k(&made_pool, arena, mps_class_snc(),
                                   mps_args_none));
  ck_assert_int_eq(res, MPS_RES_PARAM);
}
END_TEST

/* What an arena that is destroyed still has is called by what the client made:
   the chain of a pool that names none is not. */
START_TEST(test_left_in_arena) {
  mps_arena_t a;
  ck_assert_int_eq(
      mps_arena_create_k(&a, mps_arena_class_vm(), mps_args_none), MPS_RES_OK);
  ck_assert_int_eq(mps_fmt_create_k(&made_fmt, a, mps_args_none), MPS_RES_OK);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, made_fmt);
    ck_assert_int_eq(mps_pool_create_k(&made_pool, a, mps_class_amc(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  asserted_start();
  mps_arena_destroy(a);
  ck_assert_uint_eq(asserted_count, TDO_RASH ? 0 : 2);
  ck_assert(TDO_RASH || strstr(asserted_first, "before its pools") != NULL);
}
END_TEST

/* ---- what is told ---- */

/* STATEMENT is told, where CHECKED is true, in a sentence with WORDS. */
#define TOLD_IF(checked, statement, words)                                    \
  do {                                                                        \
    ASSERTED_IF(checked, statement);                                          \
    if (checked)                                                              \
      ck_assert_msg(strstr(asserted_first, words) != NULL, "%s: %s",          \
                    #statement, asserted_first);                              \
  } while (0)

static bool standing;

static mps_res_t scan_nothing(mps_ss_t ss, mps_addr_t from, mps_addr_t to) {
  (void)ss, (void)from, (void)to;
  return MPS_RES_OK;
}

static void pass(mps_addr_t obj, mps_fmt_t f, mps_pool_t p, void *q,
                 size_t s) {
  (void)obj, (void)f, (void)p, (void)q, (void)s;
}

static mps_addr_t standing_skip(mps_addr_t obj) {
  return standing ? obj : obj_skip(obj);
}

/* A format whose skip method is the one above, and that scans nothing. */
static mps_fmt_t standing_format(void) {
  mps_fmt_t f;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_HEADER_SIZE, obj_header);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SCAN, scan_nothing);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, standing_skip);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_FWD, obj_fwd);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ISFWD, obj_isfwd);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_PAD, obj_pad);
    REQUIRE(mps_fmt_create_k(&f, arena, args) == MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  return f;
}

/* Whoever skips objects says that the method gets nowhere, and goes on to the
   end; in cool that is also who copies one. */
static void check_standing(mps_pool_class_t cls, size_t header, bool moves) {
  mps_ap_t on;
  (void)signal(SIGALRM, SIG_DFL); /* Check has a handler */
  (void)alarm(20);
  obj_header = header;
  surroundings();
  asserted_start();
  CREATE(made_pool, cls, FORMAT, standing_format());
  on = point(made_pool);
  for (size_t i = 0; i < ROOTS; ++i)
    table[i] = obj_on(on, OBJ_LEAF, 2);
  mps_arena_park(arena);
  standing = true;
  TOLD_IF(!TDO_RASH, mps_arena_formatted_objects_walk(arena, pass, NULL, 0),
          "does not go forward");
  if (moves && TDO_COOL)
    TOLD_IF(true, res = mps_arena_collect(arena), "does not go forward");
  standing = false;
}

START_TEST(test_standing_skip) {
  mps_pool_class_t classes[] = {mps_class_amc(), mps_class_amcz(),
                                mps_class_ams(), mps_class_awl(),
                                mps_class_lo()};
  if (!TDO_RASH)
    check_standing(classes[_i / 2], _i % 2 * 2 * WORD, _i / 2 < 2);
}
END_TEST

/* A reference with its tag is no client pointer, whatever the header, nor is
   one into an object. */
START_TEST(test_tagged_finalized) {
  mps_addr_t ref;
  obj_header = _i * 2 * WORD;
  surroundings();
  asserted_start();
  for (size_t tag = 1; tag < 8; ++tag) {
    ref = (char *)table[0] + tag;
    TOLD_IF(!TDO_RASH, res = mps_finalize(arena, &ref), "is it tagged?");
    ck_assert_int_eq(res, MPS_RES_FAIL);
    ck_assert_int_eq(mps_definalize(arena, &ref), MPS_RES_FAIL);
  }
  if (TDO_COOL) {
    ref = (char *)table[0] + WORD;
    TOLD_IF(true, res = mps_finalize(arena, &ref), "into a block");
    ck_assert_int_eq(res, MPS_RES_FAIL);
  }
  ck_assert_int_eq(mps_finalize(arena, &table[0]), MPS_RES_OK);
  ck_assert_int_eq(mps_definalize(arena, &table[0]), MPS_RES_OK);
  ck_assert_uint_eq(asserted_count, 0);
}
END_TEST

/* A reference that was not fixed, after its object has moved; where it was
   there is nothing now, though what is new lies nearby. */
START_TEST(test_dangling) {
  mps_addr_t old;
  surroundings();
  asserted_start();
  mps_arena_park(arena);
  for (size_t i = 0; i < ROOTS; ++i)
    table[i] = node(100);
  old = table[ROOTS / 2];
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_ptr_ne(table[ROOTS / 2], old);
  table[0] = node(2);
  table[1] = old;
  if (TDO_COOL)
    TOLD_IF(true, res = mps_arena_collect(arena), "memory not in use");
}
END_TEST

/* An exact reference that leads behind a large block, into the grain where it
   ends: also where that block is several objects by now. */
START_TEST(test_behind_block) {
  mps_pool_class_t classes[] = {mps_class_ams(), mps_class_awl(),
                                mps_class_lo()};
  size_t refs = 100000 / WORD, size;
  mps_addr_t large;
  obj_header = _i / 6 * 2 * WORD;
  surroundings();
  asserted_start();
  mps_arena_park(arena);
  made_pool = obj_pool(classes[_i % 3]);
  size = obj_bytes(refs);
  made_ap = point(made_pool);
  large = table[0] = obj_on(made_ap, OBJ_LEAF, refs);
  if (_i / 3 % 2 == 1) {
    size_t half = size / 2 / WORD * WORD;
    *obj_base(large) = half << 3 | OBJ_LEAF;
    table[1] = (char *)large + half;
    *obj_base(table[1]) = (size - half) << 3 | OBJ_LEAF;
  }
  mps_ap_destroy(made_ap);
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_uint_eq(asserted_count, 0);
  table[2] = (char *)large + size;
  if (TDO_COOL)
    TOLD_IF(true, res = mps_arena_collect(arena), "leads to no object");
  table[2] = NULL;
}
END_TEST

START_TEST(test_cold_end) {
  surroundings();
  asserted_start();
  TOLD_IF(!TDO_RASH,
          res = mps_root_create_thread(&made_root, arena, thr, NULL),
          "and not null");
  ck_assert_int_eq(res, MPS_RES_PARAM);
}
END_TEST

/* STATEMENT is told once, and nothing is collected: memory is not short. */
#define TOLD_ONCE(statement)                                                  \
  do {                                                                        \
    size_t collections = statistics().collections;                            \
    asserted_count = 0;                                                       \
    statement;                                                                \
    ck_assert_msg(asserted_count == !TDO_RASH, "%u assertions: %s",           \
                  asserted_count, #statement);                                \
    asserted_count = 0;                                                       \
    ck_assert_uint_eq(statistics().collections, collections);                 \
  } while (0)

START_TEST(test_told_once) {
  mps_sac_class_s sizes[] = {{64, 4, 1}};
  surroundings();
  asserted_start();
  ck_assert_int_eq(mps_sac_create(&made_sac, mfs, 1, sizes), MPS_RES_OK);
  TOLD_ONCE(res = mps_sac_alloc(&out, made_sac, 65, 0));
  ck_assert_int_eq(res, MPS_RES_PARAM);
  ck_assert_int_eq(mps_sac_create(&made_sac, snc, 1, sizes), MPS_RES_OK);
  TOLD_ONCE(res = mps_sac_alloc(&out, made_sac, 64, 0));
  ck_assert_int_eq(res, MPS_RES_UNIMPL);
  TOLD_ONCE(res = mps_alloc(&out, mfs, 65));
  ck_assert_int_eq(res, MPS_RES_PARAM);
}
END_TEST

SUITE_LOOPS_MAIN("misuse", 100, {test_rows, 1}, {test_returned, 1},
                 {test_jumped, 1}, {test_no_misuse, 1}, {test_refused, 1},
                 {test_left_in_arena, 1}, {test_standing_skip, 10},
                 {test_tagged_finalized, 2}, {test_dangling, 1},
                 {test_behind_block, 12}, {test_cold_end, 1}, {test_told_once, 1})
