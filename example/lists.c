/* Testudo: a small client: lists of numbers, in a pool whose objects move.
   SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include "mps.h"
#include "mpsavm.h"
#include "mpscamc.h"

/* What the heap consists of. The collector puts forwarding markers in the
   place of pairs that it moved, and pads where room is left over. */
typedef enum kind { PAIR, FORWARD, PAD } kind_t;

typedef struct object {
  size_t kind, size;
  struct object *next; /* of a pair; or where it went, of a marker */
  long number;
} object_t;

static mps_arena_t arena;
static mps_ap_t ap;
static object_t *list; /* a root: see main */

static void require(mps_res_t res) {
  if (res != MPS_RES_OK) {
    fprintf(stderr, "the library gives result %d\n", res);
    exit(1);
  }
}

/* ---- the format */

static mps_addr_t skip(mps_addr_t addr) {
  return (char *)addr + ((object_t *)addr)->size;
}

static mps_res_t scan(mps_ss_t ss, mps_addr_t base, mps_addr_t limit) {
  MPS_SCAN_BEGIN(ss) {
    for (object_t *o = base; o < (object_t *)limit; o = skip(o)) {
      mps_addr_t next = o->next;
      if (o->kind == PAIR && MPS_FIX1(ss, next)) {
        mps_res_t res = MPS_FIX2(ss, &next);
        if (res != MPS_RES_OK)
          return res;
        o->next = next;
      }
    }
  } MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

/* The size stays: skip passes markers, too. */
static void forward(mps_addr_t old, mps_addr_t new) {
  ((object_t *)old)->kind = FORWARD;
  ((object_t *)old)->next = new;
}

static mps_addr_t is_forwarded(mps_addr_t addr) {
  object_t *o = addr;
  return o->kind == FORWARD ? o->next : NULL;
}

/* A pad may be as small as the alignment, and two words are written here: so
   objects are aligned to two words. */
static void pad(mps_addr_t addr, size_t size) {
  ((object_t *)addr)->kind = PAD;
  ((object_t *)addr)->size = size;
}

/* ---- the program */

static object_t *cons(long number, object_t *next) {
  mps_addr_t p;
  object_t *o;
  do {
    require(mps_reserve(&p, ap, sizeof *o));
    o = p;
    *o = (object_t){PAIR, sizeof *o, next, number};
  } while (!mps_commit(ap, p, sizeof *o));
  return o;
}

/* Not a part of main: its frame must lie below the cold end. */
__attribute__((noinline)) static void work(void) {
  long sum = 0;
  for (long i = 0; i < 1000000; ++i) {
    if (i % 100 == 0)
      list = cons(i, list);
    else
      (void)cons(i, NULL); /* garbage at once */
  }
  for (object_t *o = list; o != NULL; o = o->next)
    sum += o->number;
  printf("%ld\n", sum);
}

int main(void) {
  void *cold = __builtin_frame_address(0);
  mps_fmt_t format;
  mps_pool_t pool;
  mps_thr_t thread;
  mps_root_t stack, variables;

  require(mps_arena_create_k(&arena, mps_arena_class_vm(), mps_args_none));
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ALIGN, 2 * sizeof(size_t));
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SCAN, scan);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, skip);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_FWD, forward);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ISFWD, is_forwarded);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_PAD, pad);
    require(mps_fmt_create_k(&format, arena, args));
  } MPS_ARGS_END(args);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, format);
    require(mps_pool_create_k(&pool, arena, mps_class_amc(), args));
  } MPS_ARGS_END(args);
  require(mps_ap_create_k(&ap, pool, mps_args_none));
  require(mps_thread_reg(&thread, arena));
  require(mps_root_create_thread(&stack, arena, thread, cold));
  require(mps_root_create_area(&variables, arena, mps_rank_exact(), 0, &list,
                               &list + 1, mps_scan_area, NULL));

  work();

  mps_arena_park(arena);
  mps_root_destroy(variables);
  mps_root_destroy(stack);
  mps_thread_dereg(thread);
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  mps_fmt_destroy(format);
  mps_arena_destroy(arena);
  return 0;
}
