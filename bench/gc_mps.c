/* Testudo: the heap of the benchmarks, over mps.h.
   SPDX-License-Identifier: BSD-2-Clause */
#include "gc_mps.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "mps.h"
#include "mpsavm.h"
#include "mpscamc.h"
#include "mpscams.h"
#include "mpsclo.h"
#include "mpscmfs.h"
#include "mpscmvff.h"
#include "mpscmvt.h"
#if defined(__has_include)
#if __has_include("testudo.h")
#include "testudo.h"
#define HAVE_TDO
#endif
#endif

const char heap_name[] = "mps";

_Thread_local mps_ap_t heap_ap, heap_ap_leaf;

static mps_arena_t arena;
static mps_fmt_t format;
static mps_chain_t chain;
static mps_pool_t objects, leaves, blocks;
static mps_ap_t block_ap;
static size_t finalized;
static double survived = -1;

void heap_must(mps_res_t res) {
  if (res != MPS_RES_OK) {
    fprintf(stderr, "the library gives result %d\n", res);
    exit(3);
  }
}

/* ---- the format ---- */

static mps_res_t format_scan(mps_ss_t ss, mps_addr_t base, mps_addr_t limit) {
  MPS_SCAN_BEGIN(ss) {
    char *p = base;
    while (p < (char *)limit) {
      obj_t *o = (obj_t *)p;
      char *end = p + OBJ_SIZE(o);
      if (OBJ_KIND(o) == KIND_SLOTS) {
        for (obj_t **s = o->slot; s < (obj_t **)end; ++s) {
          mps_addr_t ref = *s;
          if (MPS_FIX1(ss, ref) && !IS_FIXNUM(ref)) {
            mps_res_t res = MPS_FIX2(ss, &ref);
            if (res != MPS_RES_OK)
              return res;
            *s = ref;
          }
        }
      }
      p = end;
    }
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

static mps_addr_t format_skip(mps_addr_t addr) {
  return (char *)addr + OBJ_SIZE((obj_t *)addr);
}

static void format_fwd(mps_addr_t old, mps_addr_t new) {
  obj_t *o = old;
  o->header = OBJ_HEADER(OBJ_SIZE(o), KIND_MOVED);
  o->slot[0] = new;
}

static mps_addr_t format_isfwd(mps_addr_t addr) {
  obj_t *o = addr;
  return OBJ_KIND(o) == KIND_MOVED ? o->slot[0] : NULL;
}

static void format_pad(mps_addr_t addr, size_t size) {
  ((obj_t *)addr)->header = OBJ_HEADER(size, KIND_PAD);
}

static void make_format(void) {
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SCAN, format_scan);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, format_skip);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_FWD, format_fwd);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ISFWD, format_isfwd);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_PAD, format_pad);
    heap_must(mps_fmt_create_k(&format, arena, args));
  }
  MPS_ARGS_END(args);
}

/* ---- opening ---- */

void heap_pool(mps_pool_t *pool_o, mps_pool_class_t class) {
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, format);
    if (chain != NULL)
      MPS_ARGS_ADD(args, MPS_KEY_CHAIN, chain);
    heap_must(mps_pool_create_k(pool_o, arena, class, args));
  }
  MPS_ARGS_END(args);
}

static void make_chain(size_t nursery, size_t gen1) {
  mps_gen_param_s params[2] = {{nursery, 0.85}, {gen1, 0.45}};
  if (gen1 == 0)
    params[1].mps_capacity = 8 * nursery;
  if (nursery != 0)
    heap_must(mps_chain_create(&chain, arena, 2, params));
}

static void thread_open(mps_thr_t *thr_o, mps_root_t *root_o, void *cold) {
  heap_must(mps_thread_reg(thr_o, arena));
  heap_must(mps_root_create_thread(root_o, arena, *thr_o, cold));
  heap_must(mps_ap_create_k(&heap_ap, objects, mps_args_none));
  heap_must(mps_ap_create_k(&heap_ap_leaf, leaves, mps_args_none));
}

void heap_open(const heap_settings_t *settings, void *cold) {
  mps_thr_t thr;
  mps_root_t root;
  size_t size = settings->size * 4;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE,
                 size < (size_t)1 << 30 ? (size_t)1 << 30 : size);
    if (settings->limit != 0)
      MPS_ARGS_ADD(args, MPS_KEY_COMMIT_LIMIT, settings->limit);
    heap_must(mps_arena_create_k(&arena, mps_arena_class_vm(), args));
  }
  MPS_ARGS_END(args);
  if (settings->pause > 0)
    mps_arena_pause_time_set(arena, settings->pause);
  make_format();
  make_chain(settings->nursery, settings->gen1);
  heap_pool(&objects, settings->fixed ? mps_class_ams() : mps_class_amc());
  heap_pool(&leaves, settings->fixed ? mps_class_lo() : mps_class_amcz());
  thread_open(&thr, &root, cold);
  if (settings->survivors) {
    survived = 0;
    mps_message_type_enable(arena, mps_message_type_gc());
  }
}

/* ---- reports and messages ---- */

void heap_report(heap_report_t *report_o) {
  heap_idle();
  *report_o =
      (heap_report_t){(double)mps_collections(arena), -1, -1, -1, -1, survived,
                      -1, mps_arena_committed(arena)};
#ifdef HAVE_TDO
  tdo_statistics_s s;
  tdo_statistics(arena, &s);
  report_o->collections = (double)s.collections;
  report_o->full = (double)s.full_collections;
  report_o->seconds = s.collect_seconds;
  report_o->longest_pause = s.longest_pause;
  report_o->traced = s.trace_seconds;
  report_o->calls = (double)(s.map_calls + s.unmap_calls + s.advise_calls +
                             s.protect_calls_process);
#endif
}

void heap_idle(void) {
  mps_message_t message;
  if (survived < 0)
    return;
  while (mps_message_get(&message, arena, mps_message_type_gc())) {
    survived += (double)mps_message_gc_live_size(arena, message);
    mps_message_discard(arena, message);
  }
}

void heap_finalize(obj_t *o) {
  mps_addr_t ref = o;
  mps_message_type_enable(arena, mps_message_type_finalization());
  heap_must(mps_finalize(arena, &ref));
}

size_t heap_finalized(void) {
  mps_message_t message;
  while (mps_message_get(&message, arena, mps_message_type_finalization())) {
    mps_addr_t ref;
    mps_message_finalization_ref(&ref, arena, message);
    mps_message_discard(arena, message);
    ++finalized;
  }
  return finalized;
}

/* ---- threads ---- */

typedef struct start_s {
  void (*f)(void *p);
  void *p;
  pthread_t thread;
} start_t;

static void *thread_main(void *p) {
  start_t *start = p;
  mps_thr_t thr;
  mps_root_t root;
  thread_open(&thr, &root, __builtin_frame_address(0));
  start->f(start->p);
  mps_ap_destroy(heap_ap);
  mps_ap_destroy(heap_ap_leaf);
  mps_root_destroy(root);
  mps_thread_dereg(thr);
  return NULL;
}

void heap_threads(size_t n, void (*f)(void *p), void *p, size_t p_size) {
  start_t *starts = calloc(n, sizeof *starts);
  if (starts == NULL)
    heap_full();
  for (size_t i = 0; i < n; ++i) {
    starts[i].f = f;
    starts[i].p = (char *)p + i * p_size;
    if (pthread_create(&starts[i].thread, NULL, thread_main, &starts[i]) != 0)
      heap_full();
  }
  for (size_t i = 0; i < n; ++i)
    pthread_join(starts[i].thread, NULL);
  free(starts);
}

/* ---- the rest ---- */

obj_t **heap_roots(size_t n) {
  mps_root_t root;
  obj_t **table = calloc(n, sizeof *table);
  if (table == NULL)
    heap_full();
  heap_must(mps_root_create_table_masked(&root, arena, mps_rank_exact(), 0,
                                         (mps_addr_t *)table, n, 1));
  return table;
}

void heap_collect(void) {
  mps_arena_collect(arena);
  mps_arena_release(arena);
}

void heap_settle(void) {
  mps_arena_park(arena);
  mps_arena_release(arena);
}

void heap_blocks_open(unsigned kind, size_t mean) {
  MPS_ARGS_BEGIN(args) {
    if (kind == BLOCKS_MFS) {
      MPS_ARGS_ADD(args, MPS_KEY_MFS_UNIT_SIZE, mean);
      heap_must(mps_pool_create_k(&blocks, arena, mps_class_mfs(), args));
    } else {
      mps_pool_class_t class =
          kind == BLOCKS_MVT ? mps_class_mvt() : mps_class_mvff();
      MPS_ARGS_ADD(args, MPS_KEY_MEAN_SIZE, mean);
      heap_must(mps_pool_create_k(&blocks, arena, class, args));
    }
  }
  MPS_ARGS_END(args);
  if (kind == BLOCKS_MVT)
    heap_must(mps_ap_create_k(&block_ap, blocks, mps_args_none));
}

void *heap_block(size_t bytes) {
  mps_addr_t p;
  mps_res_t res;
  if (block_ap == NULL) {
    res = mps_alloc(&p, blocks, bytes);
    if (res != MPS_RES_OK)
      heap_full();
    return p;
  }
  do {
    MPS_RESERVE_BLOCK(res, p, block_ap, bytes);
    if (res != MPS_RES_OK)
      heap_full();
  } while (!mps_commit(block_ap, p, bytes));
  return p;
}

void heap_block_free(void *block, size_t bytes) {
  mps_free(blocks, block, bytes);
}

void heap_forked(void) {
}
