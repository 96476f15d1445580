/* Testudo: tests of what is scanned of the caller's stack and registers, and
   of what calls leave in the stack. SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <unistd.h>
#include "code/context.h"
#include "test/objects.h"
#include "test/suite.h"

/* Bytes next to the caller's frame that a call must have cleared: all that the
   library clears, but for what the call of copy_dead itself writes. */
enum { NEAR = TDO_CONTEXT_DEAD, DEEP = TDO_CONTEXT_DEAD_DEEP, ROUNDS = 400 };

/* Frames of code that is not optimized have places that nobody writes. */
#if defined(__OPTIMIZE__)
enum { EXACT = 1 };
#else
enum { EXACT = 0 };
#endif

static mps_root_t stack_root;
static mps_word_t dead[DEEP / WORD];

/* SCANNED: by a client's scanner. */
static void stack_start_with(void *cold, bool scanned) {
  heap_start(mps_class_amc());
  ck_assert_int_eq(
      scanned ? mps_root_create_thread_scanned(&stack_root, arena,
                                               mps_rank_ambig(), 0, thr,
                                               mps_scan_area, NULL, cold)
              : mps_root_create_thread(&stack_root, arena, thr, cold),
      MPS_RES_OK);
}

static void stack_start(void *cold) {
  stack_start_with(cold, false);
}

static void stack_stop(void) {
  mps_root_destroy(stack_root);
  heap_stop();
}

/* Leave OBJ in all of the dead stack that calls will use. */
TDO_NO_SANITIZE static TDO_NOINLINE void litter(mps_addr_t obj) {
  mps_addr_t volatile words[4 * DEEP / WORD];
  for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i)
    words[i] = obj;
}

/* Copy the dead stack: it begins where calls of the caller's begin. Only the
   next word is written by the call, and what the compiler spills. */
TDO_NO_SANITIZE static TDO_NOINLINE void copy_dead(size_t bytes) {
  const volatile mps_word_t *top = __builtin_frame_address(0);
  for (size_t i = 0; i < bytes / WORD; ++i)
    dead[i] = top[-1 - (ptrdiff_t)i];
}

/* How many of the words refer to the pool? */
static size_t referring(size_t bytes) {
  mps_pool_t in;
  size_t n = 0;
  for (size_t i = 0; i < bytes / WORD; ++i)
    n += mps_addr_pool(&in, arena, (mps_addr_t)dead[i]) && in == pool;
  return n;
}

/* Does the test see what it looks for? */
START_TEST(test_litter) {
  stack_start(FRAME_COLD());
  litter(numbered(1));
  copy_dead(DEEP);
  ck_assert_uint_gt(referring(DEEP), DEEP / WORD / 2);
  stack_stop();
}
END_TEST

/* Fills that find room and such that let the collector work. */
START_TEST(test_fill_leaves_nothing) {
  mps_addr_t p;
  mps_res_t res;
  size_t size = 64 * WORD;
  stack_start(FRAME_COLD());
  table[0] = numbered(1);
  for (int round = 0; round < ROUNDS; ++round) {
    do {
      litter(table[0]);
      res = mps_ap_fill(&p, ap, size);
      copy_dead(NEAR); /* before Check's functions use the stack */
      ck_assert_int_eq(res, MPS_RES_OK);
      ck_assert(!EXACT || referring(NEAR) == 0);
      memset(p, 0, size);
      *(mps_word_t *)p = size << 3 | OBJ_NODE;
    } while (!mps_commit(ap, p, size));
  }
  ck_assert_uint_eq(number_of(table[0]), 1);
  stack_stop();
}
END_TEST

START_TEST(test_collection_leaves_nothing) {
  stack_start(FRAME_COLD());
  for (int round = 0; round < 10; ++round) {
    table[0] = numbered(1);
    for (size_t i = 1; i < 100; ++i)
      table[i] = node(3);
    litter(table[0]);
    switch (_i) {
    case 0:
      (void)mps_arena_collect(arena);
      break;
    case 1:
      (void)mps_arena_start_collect(arena);
      break;
    case 2:
      (void)mps_arena_step(arena, 1.0, 1.0);
      break;
    }
    copy_dead(DEEP);
    ck_assert(!EXACT || referring(_i == 2 ? NEAR : DEEP) == 0);
    mps_arena_release(arena);
  }
  stack_stop();
}
END_TEST

/* An object that is dead is told of by a message. */
static TDO_NOINLINE mps_word_t watched(void) {
  mps_addr_t obj = numbered(7);
  ck_assert_int_eq(mps_finalize(arena, &obj), MPS_RES_OK);
  return (mps_word_t)obj;
}

static bool is_dead(void) {
  mps_message_t message;
  bool got = mps_message_get(&message, arena,
                             mps_message_type_finalization());
  if (got)
    mps_message_discard(arena, message);
  return got;
}

/* A call from a place where earlier calls left references: what the library's
   own frames have not written yet is not scanned. */
static TDO_NOINLINE void drop(void) {
  litter((mps_addr_t)watched());
}

START_TEST(test_frames_keep_nothing) {
  stack_start(FRAME_COLD());
  mps_message_type_enable(arena, mps_message_type_finalization());
  table[0] = node(1);
  drop();
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert(is_dead() || !EXACT);
  stack_stop();
}
END_TEST

/* Only the register knows the object. */
#define IN_REGISTER(name, constraint)                                         \
  static TDO_NOINLINE void in_##name(void) {                                  \
    register mps_word_t held __asm__(#name) = watched();                      \
    __asm__ volatile("" : "+" constraint(held) : : "memory");                 \
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);                   \
    __asm__ volatile("" : "+" constraint(held) : : "memory");                 \
    ck_assert(!is_dead());                                                    \
    held = 0;                                                                 \
    __asm__ volatile("" : "+" constraint(held) : : "memory");                 \
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);                   \
    ck_assert(is_dead() || !EXACT);                                           \
  }

#if defined(__x86_64__)
IN_REGISTER(rbx, "r")
IN_REGISTER(r12, "r")
IN_REGISTER(r13, "r")
IN_REGISTER(r14, "r")
IN_REGISTER(r15, "r")
static void (*const in_registers[])(void) = {in_rbx, in_r12, in_r13, in_r14,
                                             in_r15};
#elif defined(__aarch64__)
IN_REGISTER(x19, "r")
IN_REGISTER(x20, "r")
IN_REGISTER(x21, "r")
IN_REGISTER(x22, "r")
IN_REGISTER(x23, "r")
IN_REGISTER(x24, "r")
IN_REGISTER(x25, "r")
IN_REGISTER(x26, "r")
IN_REGISTER(x27, "r")
IN_REGISTER(x28, "r")
IN_REGISTER(d8, "w")
IN_REGISTER(d15, "w")
static void (*const in_registers[])(void) = {
    in_x19, in_x20, in_x21, in_x22, in_x23, in_x24,
    in_x25, in_x26, in_x27, in_x28, in_d8,  in_d15};
#endif

START_TEST(test_registers) {
  stack_start_with(FRAME_COLD(), _i == 1);
  mps_message_type_enable(arena, mps_message_type_finalization());
  for (size_t i = 0; i < sizeof in_registers / sizeof in_registers[0]; ++i) {
    table[0] = node(1);
    litter(NULL);
    in_registers[i]();
  }
  stack_stop();
}
END_TEST

/* Allocate, write to what is old, and collect, all on this thread. */
static TDO_NOINLINE void on_least_stack(void *cold) {
  mps_root_t root;
  mps_thr_t here;
  REQUIRE(mps_thread_reg(&here, arena) == MPS_RES_OK);
  REQUIRE(mps_root_create_thread(&root, arena, here, cold) == MPS_RES_OK);
  for (size_t i = 0; i < 300000; ++i) {
    mps_addr_t obj = node(5);
    if (table[i % ROOTS] != NULL)
      *obj_ref(table[i * 7 % ROOTS], 0) = obj;
    table[i % ROOTS] = obj;
  }
  mps_root_destroy(root);
  mps_thread_dereg(here);
}

static void *least_stack(void *unused) {
  on_least_stack(FRAME_COLD());
  return unused;
}

/* The least stack that a thread may have is enough in every mode. */
START_TEST(test_least_stack) {
  pthread_t thread;
  pthread_attr_t least;
  long size = sysconf(_SC_THREAD_STACK_MIN);
  if (suite_slow() || size <= 0)
    return;
  MPS_ARGS_BEGIN(args) {
    TDO_ARGS_ADD(args, TDO_KEY_SHIELD_MODE, (unsigned)_i);
    ck_assert_int_eq(mps_arena_create_k(&arena, mps_arena_class_vm(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  heap_in_arena(mps_class_amc());
  ck_assert_int_eq(pthread_attr_init(&least), 0);
  ck_assert_int_eq(pthread_attr_setstacksize(&least, (size_t)size), 0);
  ck_assert_int_eq(pthread_create(&thread, &least, least_stack, NULL), 0);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  ck_assert_int_gt(mps_collections(arena), 3);
  heap_stop();
}
END_TEST

SUITE_LOOPS_MAIN("stack", 30, {test_litter, 1}, {test_fill_leaves_nothing, 1},
                 {test_collection_leaves_nothing, 3},
                 {test_frames_keep_nothing, 1}, {test_registers, 2},
                 {test_least_stack, 5})
