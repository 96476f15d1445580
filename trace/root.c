/* Testudo: roots.
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/check.h"
#include "trace/heap.h"

bool tdo_root_check(const tdo_root_t *root) {
  TDO_CHECK(root != NULL && root->sig == TDO_ROOT_SIG);
  return true;
}

mps_res_t tdo_root_create(tdo_root_t **root_o, mps_arena_t heap,
                          const tdo_root_t *like) {
  tdo_root_t *root;
  void *p;
  mps_res_t res = tdo_control_alloc(&p, &heap->control, sizeof *root);

  if (res != MPS_RES_OK)
    return res;
  root = p;
  *root = *like;
  root->heap = heap;
  if (root->tagged)
    root->closure = &root->tag;
  tdo_ring_init(&root->heap_ring);
  tdo_ring_append(&heap->roots, &root->heap_ring);
  root->sig = TDO_ROOT_SIG;
  *root_o = root;
  return MPS_RES_OK;
}

void tdo_root_destroy(tdo_root_t *root) {
  tdo_ring_remove(&root->heap_ring);
  root->sig = TDO_SIG_DEAD;
  tdo_control_free(&root->heap->control, root, sizeof *root);
}

/* Registers and stack, from the hot end to the cold one. */
static mps_res_t root_scan_thread(tdo_scan_t *scan, tdo_root_t *root) {
  tdo_context_t ctx;
  char *hot, *cold = root->cold;
  mps_res_t res;

  if (!tdo_thread_context(&ctx, root->thread))
    return MPS_RES_OK;
  hot = (char *)tdo_round_up((size_t)ctx.sp, sizeof(mps_word_t));
  if (hot < cold) {
    res = root->area(&scan->ss, hot, cold, root->closure);
    if (res != MPS_RES_OK)
      return res;
  }
  res = root->area(&scan->ss, ctx.registers, ctx.registers + ctx.count,
                   root->closure);
  if (res != MPS_RES_OK || ctx.more_count == 0)
    return res;
  return root->area(&scan->ss, (void *)(uintptr_t)ctx.more,
                    (void *)(uintptr_t)(ctx.more + ctx.more_count),
                    root->closure);
}

mps_res_t tdo_root_scan(tdo_scan_t *scan, tdo_root_t *root) {
  switch (root->kind) {
  case TDO_ROOT_FUNCTION:
    return root->function(&scan->ss, root->p, root->s);
  case TDO_ROOT_FORMAT:
    return root->format(&scan->ss, root->base, root->limit);
  case TDO_ROOT_AREA:
    return root->area(&scan->ss, root->base, root->limit, root->closure);
  case TDO_ROOT_THREAD:
    return root_scan_thread(scan, root);
  }
  return MPS_RES_FAIL;
}
