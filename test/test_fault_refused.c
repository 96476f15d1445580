/* Testudo: tests of a system that refuses: every path without memory gives a
   result code or goes on, and the heap is right after each.
   SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test/objects.h"
#include "test/refusing.h"
#include "test/suite.h"

/* Creation of an arena: either it works or there is nothing. */
START_TEST(test_create) {
  bool done = false;
  for (size_t n = 1; !done; ++n) {
    mps_arena_t a = (mps_arena_t)&a;
    mps_res_t res;
    refuse(n, false);
    res = mps_arena_create_k(&a, mps_arena_class_vm(), mps_args_none);
    done = refuse_count < n;
    refuse(0, false);
    if (res == MPS_RES_OK) {
      mps_arena_destroy(a);
    } else {
      ck_assert(memory_code(res));
      ck_assert_ptr_eq(a, &a);
    }
    ck_assert_uint_lt(n, 1000);
  }
  for (size_t n = 1; n < 20; ++n) { /* from then on nothing */
    mps_arena_t a;
    mps_res_t res;
    refuse(n, true);
    res = mps_arena_create_k(&a, mps_arena_class_vm(), mps_args_none);
    refuse(0, false);
    if (res == MPS_RES_OK)
      mps_arena_destroy(a);
    else
      ck_assert(memory_code(res));
  }
}
END_TEST

enum { LIVE = 200 };

/* A workload that may be told "no" at any moment, and loses nothing. */
static size_t failures;

static bool replace(size_t i, size_t n) {
  mps_addr_t obj;
  mps_res_t res = obj_try(&obj, ap, OBJ_NODE, 2 + n % 60);
  if (res != MPS_RES_OK) {
    ck_assert(memory_code(res));
    ++failures;
    return false;
  }
  *obj_ref(obj, 0) = (mps_addr_t)(i << 2 | 1);
  *obj_ref(obj, 1) = table[(i + 1) % LIVE];
  table[i] = obj;
  return true;
}

static void check_live(void) {
  for (size_t i = 0; i < LIVE; ++i) {
    REQUIRE(number_of(table[i]) == i);
    REQUIRE(*obj_ref(table[i], 1) == NULL ||
            number_of(*obj_ref(table[i], 1)) == (i + 1) % LIVE);
  }
}

static void workload(size_t objects) {
  for (size_t n = 0; n < objects; ++n) {
    (void)replace(n % LIVE, n);
    if (n % 16 == 0) /* break the chains */
      *obj_ref(table[n % LIVE], 1) = NULL;
  }
  (void)mps_arena_start_collect(arena);
  for (size_t n = 0; n < objects / 6; ++n)
    (void)replace(n % LIVE, n);
}

static void start_workload(void) {
  heap_start(mps_class_amc());
  for (size_t i = 0; i < LIVE; ++i)
    table[i] = numbered(i);
  mps_arena_spare_set(arena, 0.1); /* so that memory goes and comes */
}

/* The N-th call fails, for every N. */
START_TEST(test_workload) {
  bool done = false;
  size_t step = 1;
  start_workload();
  for (size_t n = 1; !done; n += step) {
    refuse(n, false);
    workload(3000);
    (void)mps_arena_collect(arena);
    mps_arena_release(arena);
    done = refuse_count < n;
    refuse(0, false);
    tdo_arena_check(arena);
    check_live();
    step = 1 + n / 20; /* every one of the first, then fewer */
  }
  heap_stop();
}
END_TEST

/* From the N-th on all fail; afterwards everything works again. */
START_TEST(test_workload_nothing_more) {
  start_workload();
  for (size_t n = 1; n < 200; n += 1 + n / 4) {
    refuse(n, true);
    workload(400);
    (void)mps_arena_collect(arena);
    mps_arena_release(arena);
    refuse(0, false);
    tdo_arena_check(arena);
    check_live();
    for (size_t i = 0; i < LIVE; ++i)
      ck_assert(replace(i, i));
  }
  heap_stop();
}
END_TEST

/* Every creation function, the N-th call refused. */
static mps_res_t create_things(void) {
  mps_gen_param_s gens[] = {{10, 0.5}, {20, 0.5}};
  mps_fmt_t f = NULL;
  mps_chain_t c = NULL;
  mps_pool_t p = NULL, m = NULL;
  mps_ap_t q = NULL;
  mps_root_t r = NULL;
  mps_thr_t t = NULL;
  mps_addr_t obj, block;
  mps_arena_t a;
  mps_res_t res = mps_arena_create_k(&a, mps_arena_class_vm(), mps_args_none);
  if (res != MPS_RES_OK)
    return res;
  mps_message_type_enable(a, mps_message_type_gc());
  if ((res = mps_fmt_create_fixed(
           &f, a,
           &(mps_fmt_fixed_s){8, obj_scan, obj_fwd, obj_isfwd, obj_pad})) !=
      MPS_RES_OK)
    goto done;
  if ((res = mps_chain_create(&c, a, 2, gens)) != MPS_RES_OK)
    goto done;
  if ((res = mps_pool_create(&p, a, mps_class_amcz(), f, c)) != MPS_RES_OK)
    goto done;
  if ((res = mps_pool_create_k(&m, a, mps_class_mvff(), mps_args_none)) !=
      MPS_RES_OK)
    goto done;
  if ((res = mps_ap_create_k(&q, p, mps_args_none)) != MPS_RES_OK)
    goto done;
  if ((res = mps_root_create_table(&r, a, mps_rank_exact(), 0, table, 4)) !=
      MPS_RES_OK)
    goto done;
  if ((res = mps_thread_reg(&t, a)) != MPS_RES_OK)
    goto done;
  if ((res = mps_alloc(&block, m, 100000)) != MPS_RES_OK)
    goto done;
  mps_free(m, block, 100000);
  if ((res = obj_try(&obj, q, OBJ_NODE, 3)) != MPS_RES_OK)
    goto done;
  res = mps_finalize(a, &obj);
done:
  if (t != NULL)
    mps_thread_dereg(t);
  if (r != NULL)
    mps_root_destroy(r);
  if (q != NULL)
    mps_ap_destroy(q);
  if (m != NULL)
    mps_pool_destroy(m);
  if (p != NULL)
    mps_pool_destroy(p);
  if (c != NULL)
    mps_chain_destroy(c);
  if (f != NULL)
    mps_fmt_destroy(f);
  tdo_arena_check(a);
  mps_arena_destroy(a);
  return res;
}

START_TEST(test_create_things) {
  bool done = false;
  asserted_start();
  for (size_t n = 1; !done; ++n) {
    for (int rest = 0; rest < 2; ++rest) {
      mps_res_t res;
      refuse(n, rest);
      res = create_things();
      done = refuse_count < n;
      refuse(0, false);
      ck_assert(res == MPS_RES_OK || memory_code(res));
      ck_assert(!done || res == MPS_RES_OK);
    }
  }
  ck_assert_uint_eq(asserted_count, 0);
}
END_TEST

/* ---- for real ---- */

/* Little address space: a smaller window, or a result code. */
START_TEST(test_address_space) {
  static const size_t most[] = {(size_t)40 << 20, (size_t)100 << 20,
                                (size_t)400 << 20, (size_t)2 << 30};
  for (size_t i = 0; i < sizeof most / sizeof most[0]; ++i) {
    int status;
    pid_t pid = fork();
    if (pid == 0) {
      struct rlimit limit = {most[i], most[i]};
      mps_arena_t a;
      mps_res_t res;
      if (setrlimit(RLIMIT_AS, &limit) != 0)
        suite_leave(3);
      res = mps_arena_create_k(&a, mps_arena_class_vm(), mps_args_none);
      if (res != MPS_RES_OK)
        suite_leave(memory_code(res) ? 42 : 4);
      mps_arena_destroy(a);
      MPS_ARGS_BEGIN(args) {
        MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, (size_t)8 << 20);
        res = mps_arena_create_k(&arena, mps_arena_class_vm(), args);
      }
      MPS_ARGS_END(args);
      if (res != MPS_RES_OK)
        suite_leave(memory_code(res) ? 42 : 5);
      asserted_start();
      heap_in_arena(mps_class_amc());
      for (size_t j = 0; j < LIVE; ++j)
        table[j] = numbered(j);
      for (size_t n = 0; n < 40000; ++n)
        (void)replace(n % LIVE, n % 40);
      check_live();
      heap_stop();
      suite_leave(asserted_count == 0 ? 42 : 6);
    }
    while (waitpid(pid, &status, 0) < 0)
      ck_assert_int_eq(errno, EINTR);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 42);
  }
}
END_TEST

SUITE_MAIN("fault_refused", 100, test_create, test_workload,
           test_workload_nothing_more, test_create_things, test_address_space)
