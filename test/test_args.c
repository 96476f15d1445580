/* Testudo: argument lists and keys. SPDX-License-Identifier: BSD-2-Clause */
#include <stdint.h>
#include <string.h>
#include "code/args.h"
#include "code/keys.h"
#include "mpsacl.h"
#include "mpscams.h"
#include "mpscawl.h"
#include "mpscmfs.h"
#include "mpscmvff.h"
#include "mpscmvt.h"
#include "mpslib.h"
#include "test/suite.h"

static const mps_key_t all_keys[] = {
    MPS_KEY_ARGS_END,       MPS_KEY_ARENA_SIZE,
    MPS_KEY_ARENA_CL_BASE,  MPS_KEY_ARENA_GRAIN_SIZE,
    MPS_KEY_ARENA_ZONED,    MPS_KEY_ARENA_EXTENDED,
    MPS_KEY_COMMIT_LIMIT,   MPS_KEY_ARENA_CONTRACTED,
    MPS_KEY_SPARE,          MPS_KEY_SPARE_COMMIT_LIMIT,
    MPS_KEY_PAUSE_TIME,     MPS_KEY_VMW3_TOP_DOWN,
    MPS_KEY_FMT_ALIGN,      MPS_KEY_FMT_HEADER_SIZE,
    MPS_KEY_FMT_SCAN,       MPS_KEY_FMT_SKIP,
    MPS_KEY_FMT_FWD,        MPS_KEY_FMT_ISFWD,
    MPS_KEY_FMT_PAD,        MPS_KEY_FMT_CLASS,
    MPS_KEY_FORMAT,         MPS_KEY_CHAIN,
    MPS_KEY_GEN,            MPS_KEY_INTERIOR,
    MPS_KEY_EXTEND_BY,      MPS_KEY_LARGE_SIZE,
    MPS_KEY_MEAN_SIZE,      MPS_KEY_MIN_SIZE,
    MPS_KEY_MAX_SIZE,       MPS_KEY_ALIGN,
    MPS_KEY_MFS_UNIT_SIZE,  MPS_KEY_AMS_SUPPORT_AMBIGUOUS,
    MPS_KEY_MVFF_SLOT_HIGH, MPS_KEY_AWL_FIND_DEPENDENT,
    MPS_KEY_MVFF_FIRST_FIT, MPS_KEY_MVFF_ARENA_HIGH,
    MPS_KEY_MVT_FRAG_LIMIT, MPS_KEY_MVT_RESERVE_DEPTH,
    MPS_KEY_RANK,           MPS_KEY_POOL_DEBUG_OPTIONS,
    MPS_KEY_AP_HASH_ARRAYS};

enum { KEYS = sizeof all_keys / sizeof all_keys[0] };

/* Every failure since the last call of failures(), with its sentence. */
static unsigned failed;
static const char *sentence;

static void count_failure(const char *file, unsigned line, const char *text) {
  ck_assert_ptr_nonnull(file);
  ck_assert_uint_ne(line, 0);
  sentence = text;
  ++failed;
}

static unsigned failures(void) {
  unsigned n = failed;
  failed = 0;
  return n;
}

static void catch_failures(void) {
  mps_lib_assert_fail_install(count_failure);
  failed = 0;
}

/* How often a failure of a check is reported: never in the rash variety. */
enum { REPORTED = !TDO_RASH };

START_TEST(keys_are_distinct) {
  ck_assert_uint_eq(KEYS, 41);
  for (size_t i = 0; i < KEYS; ++i) {
    ck_assert_uint_eq(all_keys[i]->sig, TDO_SIG_KEY);
    ck_assert_int_eq(strncmp(all_keys[i]->name, "MPS_KEY_", 8), 0);
    for (size_t j = 0; j < i; ++j) {
      ck_assert_ptr_ne(all_keys[i], all_keys[j]);
      ck_assert_str_ne(all_keys[i]->name, all_keys[j]->name);
    }
  }
}
END_TEST

START_TEST(empty_list) {
  mps_arg_s arg = {.key = MPS_KEY_CHAIN};
  ck_assert_ptr_eq(mps_args_none[0].key, MPS_KEY_ARGS_END);
  ck_assert(tdo_args_check(mps_args_none));
  ck_assert(!tdo_arg_pick(&arg, mps_args_none, MPS_KEY_SPARE));
  ck_assert_ptr_eq(arg.key, MPS_KEY_CHAIN);
  ck_assert_uint_eq(failures(), 0);
}
END_TEST

/* A list of the keys FROM..TO-1 of all_keys, with their indices as values. */
static void fill_list(mps_arg_s list[], size_t from, size_t to) {
  size_t n = 0;
  for (size_t i = from; i < to; ++i) {
    list[n].key = all_keys[i];
    list[n++].val.size = i;
  }
  list[n].key = MPS_KEY_ARGS_END;
}

/* Lists made by hand may be longer than those of the macros. */
START_TEST(pick_removes) {
  for (size_t victim = 1; victim < KEYS; ++victim) {
    mps_arg_s list[KEYS + 1];
    mps_arg_s arg;
    fill_list(list, 1, KEYS);
    ck_assert(tdo_arg_pick(&arg, list, all_keys[victim]));
    ck_assert_ptr_eq(arg.key, all_keys[victim]);
    ck_assert_uint_eq(arg.val.size, victim);
    ck_assert(!tdo_arg_pick(&arg, list, all_keys[victim]));
    for (size_t i = 0; i < KEYS - 2; ++i) {
      size_t was = i + 1 + (i + 1 >= victim);
      ck_assert_ptr_eq(list[i].key, all_keys[was]);
      ck_assert_uint_eq(list[i].val.size, was);
    }
    ck_assert_ptr_eq(list[KEYS - 2].key, MPS_KEY_ARGS_END);
  }
  ck_assert_uint_eq(failures(), 0);
}
END_TEST

START_TEST(first_of_equals) {
  mps_arg_s arg;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_MIN_SIZE, 1);
    MPS_ARGS_ADD(args, MPS_KEY_ALIGN, 2);
    MPS_ARGS_ADD(args, MPS_KEY_MIN_SIZE, 3);
    ck_assert(tdo_arg_pick(&arg, args, MPS_KEY_MIN_SIZE));
    ck_assert_uint_eq(arg.val.size, 1);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_ALIGN);
    ck_assert_ptr_eq(args[1].key, MPS_KEY_MIN_SIZE);
    ck_assert_ptr_eq(args[2].key, MPS_KEY_ARGS_END);
    ck_assert(tdo_arg_require(&arg, args, MPS_KEY_MIN_SIZE));
    ck_assert_uint_eq(arg.val.size, 3);
    ck_assert(tdo_arg_pick(&arg, args, MPS_KEY_ALIGN));
    ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  ck_assert_uint_eq(failures(), 0);
}
END_TEST

START_TEST(missing_key) {
  mps_arg_s arg = {.key = MPS_KEY_CHAIN};
  ck_assert(!tdo_arg_require(&arg, mps_args_none, MPS_KEY_FORMAT));
  ck_assert_ptr_eq(arg.key, MPS_KEY_CHAIN);
  ck_assert_uint_eq(failures(), REPORTED);
  ck_assert(!REPORTED || strstr(sentence, "MPS_KEY_FORMAT") != NULL);
}
END_TEST

START_TEST(null_list) {
  ck_assert(!tdo_args_check(NULL));
  ck_assert_uint_eq(failures(), REPORTED);
}
END_TEST

START_TEST(null_key_and_no_end) {
  mps_arg_s list[4];
  mps_arg_s arg = {.key = MPS_KEY_CHAIN};
  fill_list(list, 1, 3);
  list[2].key = NULL;
  ck_assert(!tdo_args_check(list));
  ck_assert_uint_eq(failures(), REPORTED);
  ck_assert(!tdo_arg_pick(&arg, list, all_keys[1]));
  ck_assert_uint_eq(failures(), REPORTED);
  ck_assert_ptr_eq(arg.key, MPS_KEY_CHAIN);
  ck_assert_ptr_eq(list[0].key, all_keys[1]);
}
END_TEST

/* Whatever stands behind a list without end. */
START_TEST(no_end) {
  mps_arg_s list[2 * TDO_ARGS_MOST];
  for (size_t i = 0; i < 2 * TDO_ARGS_MOST; ++i)
    list[i].key = MPS_KEY_RANK;
  list[2 * TDO_ARGS_MOST - 1].key = MPS_KEY_ARGS_END;
  ck_assert(!tdo_args_check(list));
  ck_assert_uint_eq(failures(), REPORTED);
  list[TDO_ARGS_MOST].key = MPS_KEY_ARGS_END;
  ck_assert(tdo_args_check(list));
  list[3].key = (mps_key_t)(uintptr_t)0xDEAD0001;
  ck_assert(!tdo_args_check(list));
  ck_assert_uint_eq(failures(), REPORTED);
}
END_TEST

START_TEST(key_that_is_none) {
  static const struct mps_key_s dead = {TDO_SIG_DEAD, "", ""};
  mps_arg_s list[2];
  fill_list(list, 1, 2);
  list[0].key = &dead;
  ck_assert(!tdo_args_check(list));
  ck_assert_uint_eq(failures(), REPORTED);
}
END_TEST

/* MPS_ARGS_MAX counts the end; what is too much is reported, not stored. */
START_TEST(full_list) {
  MPS_ARGS_BEGIN(args) {
    for (size_t i = 0; i < MPS_ARGS_MAX - 1; ++i)
      MPS_ARGS_ADD(args, MPS_KEY_MIN_SIZE, i);
    ck_assert_uint_eq(failures(), 0);
    MPS_ARGS_ADD(args, MPS_KEY_MAX_SIZE, 1);
    ck_assert_uint_eq(failures(), REPORTED);
    ck_assert_ptr_eq(args[MPS_ARGS_MAX - 2].key, MPS_KEY_MIN_SIZE);
    ck_assert_ptr_eq(args[MPS_ARGS_MAX - 1].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
}
END_TEST

START_TEST(closed_list) {
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_MIN_SIZE, 1);
    MPS_ARGS_DONE(args);
    MPS_ARGS_ADD(args, MPS_KEY_MAX_SIZE, 1);
    ck_assert_uint_eq(failures(), REPORTED);
    ck_assert_ptr_eq(args[1].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      keys_are_distinct, empty_list,          pick_removes,
      first_of_equals,   missing_key,         null_list,
      full_list,         null_key_and_no_end, key_that_is_none,
      closed_list,       no_end};
  Suite *suite = suite_create("args");
  TCase *tcase = tcase_create("args");
  tcase_add_checked_fixture(tcase, catch_failures, NULL);
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; ++i)
    tcase_add_test(tcase, tests[i]);
  suite_add_tcase(suite, tcase);
  return suite_run(suite);
}
