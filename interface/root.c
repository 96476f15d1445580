/* Testudo: entry points for roots, threads and ranks (interface, sections
   2.15 and 2.16).
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "interface/entry.h"
#include "trace/abroad.h"

mps_rank_t mps_rank_ambig(void) {
  return TDO_RANK_AMBIG;
}

mps_rank_t mps_rank_exact(void) {
  return TDO_RANK_EXACT;
}

mps_rank_t mps_rank_weak(void) {
  return TDO_RANK_WEAK;
}

static bool is_word_aligned(const void *p) {
  return ((tdo_word_t)p & (sizeof(tdo_word_t) - 1)) == 0;
}

static mps_res_t root_create(mps_root_t *root_o, mps_arena_t arena,
                             mps_rank_t rank, mps_rm_t mode,
                             tdo_root_t *like) {
  mps_res_t res;

  ENTRY_ARENA(arena, MPS_RES_PARAM);
  ENTRY_REQUIRE(root_o != NULL, "no place for the new root",
                MPS_RES_PARAM);
  ENTRY_REQUIRE(rank < TDO_RANKS && rank != TDO_RANK_FINAL,
                "not a rank for a root", MPS_RES_PARAM);
  ENTRY_REQUIRE((mode & ~(MPS_RM_CONST | MPS_RM_PROT)) == 0,
                "a root mode has undefined bits", MPS_RES_PARAM);
  like->rank = rank;
  like->mode = mode;
  like->abroad = tdo_abroad(
      arena, like->kind == TDO_ROOT_FUNCTION ? like->p : like->base);
  ENTRY_ENTER(arena, MPS_RES_FAIL);
  res = tdo_root_create(root_o, arena, like);
  tdo_heap_leave(arena);
  return res;
}

mps_res_t mps_root_create(mps_root_t *root_o, mps_arena_t arena,
                          mps_rank_t rank, mps_rm_t mode,
                          mps_root_scan_t scan, void *p, size_t s) {
  tdo_root_t like;

  ENTRY_REQUIRE(scan != NULL, "a root needs a function that scans it",
                MPS_RES_PARAM);
  ENTRY_REQUIRE(mode == 0, "this kind of root must have mode 0",
                MPS_RES_PARAM);
  memset(&like, 0, sizeof like);
  like.kind = TDO_ROOT_FUNCTION;
  like.function = scan;
  like.p = p;
  like.s = s;
  return root_create(root_o, arena, rank, mode, &like);
}

mps_res_t mps_root_create_fmt(mps_root_t *root_o, mps_arena_t arena,
                              mps_rank_t rank, mps_rm_t mode,
                              mps_fmt_scan_t scan, mps_addr_t base,
                              mps_addr_t limit) {
  tdo_root_t like;

  ENTRY_REQUIRE(scan != NULL, "a root needs a function that scans it",
                MPS_RES_PARAM);
  ENTRY_REQUIRE(base != NULL && (char *)base < (char *)limit,
                "a root's base must be below its limit", MPS_RES_PARAM);
  memset(&like, 0, sizeof like);
  like.kind = TDO_ROOT_FORMAT;
  like.format = scan;
  like.base = base;
  like.limit = limit;
  return root_create(root_o, arena, rank, mode, &like);
}

static mps_res_t root_create_area(mps_root_t *root_o, mps_arena_t arena,
                                  mps_rank_t rank, mps_rm_t mode, void *base,
                                  void *limit, mps_area_scan_t scan,
                                  tdo_root_t *like) {
  ENTRY_REQUIRE(scan != NULL, "a root needs a function that scans it",
                MPS_RES_PARAM);
  ENTRY_REQUIRE(base != NULL && (char *)base < (char *)limit,
                "a root's base must be below its limit", MPS_RES_PARAM);
  ENTRY_REQUIRE(is_word_aligned(base) && is_word_aligned(limit),
                "a root's base and limit must be word-aligned",
                MPS_RES_PARAM);
  like->kind = TDO_ROOT_AREA;
  like->area = scan;
  like->base = base;
  like->limit = limit;
  return root_create(root_o, arena, rank, mode, like);
}

mps_res_t mps_root_create_area(mps_root_t *root_o, mps_arena_t arena,
                               mps_rank_t rank, mps_rm_t mode, void *base,
                               void *limit, mps_area_scan_t scan,
                               void *closure) {
  tdo_root_t like;

  memset(&like, 0, sizeof like);
  like.closure = closure;
  return root_create_area(root_o, arena, rank, mode, base, limit, scan,
                          &like);
}

mps_res_t mps_root_create_area_tagged(mps_root_t *root_o, mps_arena_t arena,
                                      mps_rank_t rank, mps_rm_t mode,
                                      void *base, void *limit,
                                      mps_area_scan_t scan, mps_word_t mask,
                                      mps_word_t pattern) {
  tdo_root_t like;

  memset(&like, 0, sizeof like);
  like.tagged = true;
  like.tag.mask = mask;
  like.tag.pattern = pattern;
  return root_create_area(root_o, arena, rank, mode, base, limit, scan,
                          &like);
}

/* Where a table of COUNT words at BASE ends; null, which no root may end at, if
   that is beyond all memory. */
static void *root_table_limit(mps_addr_t *base, size_t count) {
  return count > (SIZE_MAX - (size_t)base) / sizeof *base ? NULL
                                                          : base + count;
}

mps_res_t mps_root_create_table(mps_root_t *root_o, mps_arena_t arena,
                                mps_rank_t rank, mps_rm_t mode,
                                mps_addr_t *base, size_t count) {
  return mps_root_create_area(root_o, arena, rank, mode, base,
                              root_table_limit(base, count), mps_scan_area,
                              NULL);
}

mps_res_t mps_root_create_table_masked(mps_root_t *root_o, mps_arena_t arena,
                                       mps_rank_t rank, mps_rm_t mode,
                                       mps_addr_t *base, size_t count,
                                       mps_word_t mask) {
  return mps_root_create_area_tagged(root_o, arena, rank, mode, base,
                                     root_table_limit(base, count),
                                     mps_scan_area_tagged, mask, 0);
}

static mps_res_t root_create_thread(mps_root_t *root_o, mps_arena_t arena,
                                    mps_rank_t rank, mps_rm_t mode,
                                    mps_thr_t thr, mps_area_scan_t scan,
                                    void *cold, tdo_root_t *like) {
  ENTRY_REQUIRE(thr != NULL && thr->sig == TDO_THREAD_SIG,
                "not a thread, or one deregistered", MPS_RES_PARAM);
  ENTRY_REQUIRE(thr->heap == arena, "the thread is another arena's",
                MPS_RES_PARAM);
  ENTRY_REQUIRE(rank == TDO_RANK_AMBIG, "a thread's root must be ambiguous",
                MPS_RES_PARAM);
  ENTRY_REQUIRE(mode == 0, "this kind of root must have mode 0",
                MPS_RES_PARAM);
  ENTRY_REQUIRE(scan != NULL, "a root needs a function that scans it",
                MPS_RES_PARAM);
  ENTRY_REQUIRE(cold != NULL && is_word_aligned(cold),
                "a stack's cold end must be word-aligned, and not null",
                MPS_RES_PARAM);
  like->kind = TDO_ROOT_THREAD;
  like->thread = thr;
  like->area = scan;
  like->cold = cold;
  return root_create(root_o, arena, rank, mode, like);
}

mps_res_t mps_root_create_thread_scanned(mps_root_t *root_o,
                                         mps_arena_t arena, mps_rank_t rank,
                                         mps_rm_t mode, mps_thr_t thr,
                                         mps_area_scan_t scan, void *closure,
                                         void *cold) {
  tdo_root_t like;

  memset(&like, 0, sizeof like);
  like.closure = closure;
  return root_create_thread(root_o, arena, rank, mode, thr, scan, cold,
                            &like);
}

mps_res_t mps_root_create_thread_tagged(mps_root_t *root_o,
                                        mps_arena_t arena, mps_rank_t rank,
                                        mps_rm_t mode, mps_thr_t thr,
                                        mps_area_scan_t scan, mps_word_t mask,
                                        mps_word_t pattern, void *cold) {
  tdo_root_t like;

  memset(&like, 0, sizeof like);
  like.tagged = true;
  like.tag.mask = mask;
  like.tag.pattern = pattern;
  return root_create_thread(root_o, arena, rank, mode, thr, scan, cold,
                            &like);
}

mps_res_t mps_root_create_thread(mps_root_t *root_o, mps_arena_t arena,
                                 mps_thr_t thr, void *cold) {
  return mps_root_create_thread_tagged(
      root_o, arena, TDO_RANK_AMBIG, 0, thr, mps_scan_area_tagged,
      sizeof(mps_word_t) - 1, 0, cold);
}

mps_res_t mps_root_create_reg(mps_root_t *root_o, mps_arena_t arena,
                              mps_rank_t rank, mps_rm_t mode, mps_thr_t thr,
                              mps_reg_scan_t scan, void *p, size_t s) {
  (void)s;
  ENTRY_REQUIRE(scan == mps_stack_scan_ambig,
                "a register root's function must be mps_stack_scan_ambig",
                MPS_RES_PARAM);
  return mps_root_create_thread_tagged(root_o, arena, rank, mode, thr,
                                       mps_scan_area_tagged,
                                       sizeof(mps_word_t) - 1, 0, p);
}

mps_res_t mps_stack_scan_ambig(mps_ss_t ss, mps_thr_t thr, void *p,
                               size_t s) {
  tdo_root_t root;

  (void)s;
  memset(&root, 0, sizeof root);
  root.kind = TDO_ROOT_THREAD;
  root.thread = thr;
  root.cold = p;
  root.area = mps_scan_area_tagged;
  root.tag.mask = sizeof(mps_word_t) - 1;
  root.closure = &root.tag;
  return tdo_root_scan(tdo_scan_of(ss), &root);
}

void mps_root_destroy(mps_root_t root) {
  mps_arena_t arena;

  ENTRY_REQUIRE(root != NULL && root->sig == TDO_ROOT_SIG,
                "not a root, or one destroyed", );
  arena = root->heap;
  if (TDO_UNLIKELY(!tdo_heap_try_enter(arena))) {
    tdo_heap_destroy_late(arena, root);
    return;
  }
  tdo_root_destroy(root);
  tdo_heap_leave(arena);
}

mps_res_t mps_thread_reg(mps_thr_t *thr_o, mps_arena_t arena) {
  tdo_stop_thread_t *stop;
  mps_res_t res;

  ENTRY_ARENA(arena, MPS_RES_PARAM);
  ENTRY_REQUIRE(thr_o != NULL, "no place for the thread", MPS_RES_PARAM);
  res = tdo_stop_register(&stop);
  if (res != MPS_RES_OK)
    return res;
  res = MPS_RES_FAIL;
  if (tdo_heap_try_enter(arena)) {
    res = tdo_thread_register(thr_o, arena, stop);
    tdo_heap_leave(arena);
  }
  if (res != MPS_RES_OK)
    tdo_stop_deregister(stop);
  return res;
}

void mps_thread_dereg(mps_thr_t thr) {
  tdo_stop_thread_t *stop;
  mps_arena_t arena;

  ENTRY_REQUIRE(thr != NULL && thr->sig == TDO_THREAD_SIG,
                "not a thread, or one deregistered", );
  arena = thr->heap;
  ENTRY_ENTER_OUTSIDE(arena, );
  stop = tdo_thread_deregister(thr);
  tdo_heap_leave(arena);
  tdo_stop_deregister(stop);
}
