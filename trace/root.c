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
  if (root->thread != NULL)
    ++root->thread->roots;
  tdo_ring_init(&root->heap_ring);
  tdo_ring_append(&heap->roots, &root->heap_ring);
  root->sig = TDO_ROOT_SIG;
  *root_o = root;
  return MPS_RES_OK;
}

void tdo_root_destroy(tdo_root_t *root) {
  if (root->thread != NULL)
    --root->thread->roots;
  tdo_ring_remove(&root->heap_ring);
  root->sig = TDO_SIG_DEAD;
  tdo_control_free(&root->heap->control, root, sizeof *root);
}

void tdo_root_forget_thread(const tdo_thread_t *thread) {
  TDO_RING_FOR(node, &thread->heap->roots) {
    tdo_root_t *root = TDO_RING_ENTRY(tdo_root_t, heap_ring, node);
    if (root->thread == thread)
      root->thread = NULL;
  }
}

#define ROOT_STACK_NEAR ((size_t)256 << 10)

/* Registers and stack of the root's thread. An alternate signal stack is not
   asked for while the stack pointer looks right: that is a system call. */
static bool root_context(tdo_context_t *ctx_o, const tdo_root_t *root) {
  const char *cold = root->cold;

  if (root->thread == NULL || !tdo_thread_context(ctx_o, root->thread))
    return false;
  if (ctx_o->alternate == NULL && tdo_stop_is_self(root->thread->stop) &&
      (size_t)(cold - (char *)ctx_o->sp) > ROOT_STACK_NEAR)
    tdo_context_own(ctx_o);
  return true;
}

#define ROOT_CHUNK ((size_t)4096)

/* Can what is scanned by AREA be scanned in parts? */
static bool root_divides(mps_area_scan_t area) {
  return area == mps_scan_area || area == mps_scan_area_masked ||
         area == mps_scan_area_tagged || area == mps_scan_area_tagged_or_zero;
}

/* References in roots lead anywhere: what they need is fetched ahead. */
static mps_res_t root_scan_area(tdo_scan_t *scan, tdo_root_t *root, char *base,
                                char *limit) {
  size_t chunk = root_divides(root->area) ? ROOT_CHUNK : SIZE_MAX;
  mps_res_t res;

  do {
    char *end = (size_t)(limit - base) > chunk ? base + chunk : limit;
    tdo_scan_fetch(scan, base, end);
    res = root->area(&scan->ss, base, end, root->closure);
    tdo_scan_fetched(scan);
    base = end;
  } while (base < limit && res == MPS_RES_OK);
  return res;
}

/* The aligned words in [HOT, COLD), if that is a part of a stack. */
static mps_res_t root_scan_stack(tdo_scan_t *scan, tdo_root_t *root, void *hot,
                                 void *cold) {
  char *base = (char *)tdo_round_up((size_t)hot, sizeof(mps_word_t));
  char *limit = (char *)tdo_round_down((size_t)cold, sizeof(mps_word_t));

  return base < limit ? root_scan_area(scan, root, base, limit) : MPS_RES_OK;
}

/* From the hot end of the stack to the cold one, the alternate stack, and the
   registers. */
static mps_res_t root_scan_thread(tdo_scan_t *scan, tdo_root_t *root) {
  tdo_context_t ctx;
  mps_res_t res;

  if (!root_context(&ctx, root))
    return MPS_RES_OK;
  res = root_scan_stack(scan, root, ctx.sp, root->cold);
  if (res == MPS_RES_OK)
    res = root_scan_stack(scan, root, ctx.alternate, ctx.alternate_limit);
  if (res == MPS_RES_OK && ctx.count > 0)
    res = root->area(&scan->ss, ctx.registers, ctx.registers + ctx.count,
                     root->closure);
  if (res != MPS_RES_OK || ctx.more_count == 0)
    return res;
  return root->area(&scan->ss, (void *)(uintptr_t)ctx.more,
                    (void *)(uintptr_t)(ctx.more + ctx.more_count),
                    root->closure);
}

mps_res_t tdo_root_scan(tdo_scan_t *scan, tdo_root_t *root) {
  if (TDO_UNLIKELY(atomic_load_explicit(&root->gone, memory_order_relaxed)))
    return MPS_RES_OK;
  switch (root->kind) {
  case TDO_ROOT_FUNCTION:
    return root->function(&scan->ss, root->p, root->s);
  case TDO_ROOT_FORMAT:
    return root->format(&scan->ss, root->base, root->limit);
  case TDO_ROOT_AREA:
    return root_scan_area(scan, root, root->base, root->limit);
  case TDO_ROOT_THREAD:
    return root_scan_thread(scan, root);
  }
  return MPS_RES_FAIL;
}
