/* Testudo: roots.
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/check.h"
#include "trace/heap.h"

bool tdo_root_check(const tdo_root_t *root) {
  TDO_CHECK(root != NULL && root->sig == TDO_ROOT_SIG);
  return true;
}

/* Those of a thread, and what a function scans, are not known. */
static size_t root_bytes(const tdo_root_t *root) {
  return root->kind == TDO_ROOT_AREA || root->kind == TDO_ROOT_FORMAT
             ? (size_t)(root->limit - root->base)
             : 0;
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
  heap->abroad += root->abroad;
  heap->rooted += root_bytes(root);
  tdo_ring_init(&root->heap_ring);
  tdo_ring_append(&heap->roots[root->rank], &root->heap_ring);
  ++heap->root_count;
  ++heap->turnover.changes;
  root->sig = TDO_ROOT_SIG;
  *root_o = root;
  return MPS_RES_OK;
}

static void root_forget_early(tdo_root_t *root) {
  if (root->early == NULL)
    return;
  tdo_control_free(&root->heap->control, root->early, root_bytes(root));
  root->early = NULL;
  root->early_count = 0;
  --root->heap->roots_early;
}

void tdo_root_destroy(tdo_root_t *root) {
  root_forget_early(root);
  if (root->thread != NULL)
    --root->thread->roots;
  root->heap->abroad -= root->abroad;
  root->heap->rooted -= root_bytes(root);
  --root->heap->root_count;
  ++root->heap->turnover.changes;
  tdo_ring_remove(&root->heap_ring);
  root->sig = TDO_SIG_DEAD;
  tdo_control_free(&root->heap->control, root, sizeof *root);
}

void tdo_root_forget_thread(const tdo_thread_t *thread) {
  for (size_t rank = 0; rank < TDO_RANKS; ++rank)
    TDO_RING_FOR(node, &thread->heap->roots[rank]) {
      tdo_root_t *root = TDO_RING_ENTRY(tdo_root_t, heap_ring, node);
      if (root->thread == thread)
        root->thread = NULL;
    }
}

/* No thread has a stack as small (PTHREAD_STACK_MIN and what lies below it). */
#define ROOT_STACK_NEAR ((size_t)12 << 10)

/* Registers and stack of the root's thread. An alternate signal stack is not
   asked for while the stack pointer cannot be on one: that is a system call. */
static bool root_context(tdo_context_t *ctx_o, const tdo_root_t *root) {
  const char *cold = root->cold;

  if (root->thread == NULL || !tdo_thread_context(ctx_o, root->thread))
    return false;
  if (ctx_o->alternate == NULL && tdo_stop_is_self(root->thread->stop) &&
      (size_t)(cold - (char *)ctx_o->sp) > ROOT_STACK_NEAR)
    tdo_context_own(ctx_o);
  tdo_context_bound(ctx_o, cold);
  return true;
}

#define ROOT_CHUNK 4096

/* Can what is scanned by AREA be scanned in parts? */
static bool root_divides(mps_area_scan_t area) {
  return area == mps_scan_area || area == mps_scan_area_masked ||
         area == mps_scan_area_tagged || area == mps_scan_area_tagged_or_zero;
}

/* References in roots lead anywhere: what they need is fetched ahead. But a
   scanner of the client's own may know that some of an area cannot be read. */
static mps_res_t root_scan_area(tdo_scan_t *scan, tdo_root_t *root, char *base,
                                char *limit) {
  bool divides = root_divides(root->area);
  size_t chunk = divides ? ROOT_CHUNK : SIZE_MAX;
  mps_res_t res;

  do {
    char *end = (size_t)(limit - base) > chunk ? base + chunk : limit;
    if (end - base == ROOT_CHUNK)
      tdo_scan_hurry(scan);
    if (divides)
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

/* Was it destroyed by a handler, and may its memory be gone, too? */
static bool root_gone(const tdo_root_t *root) {
  return TDO_UNLIKELY(atomic_load_explicit(&root->gone, memory_order_relaxed));
}

mps_res_t tdo_root_scan(tdo_scan_t *scan, tdo_root_t *root) {
  if (root_gone(root))
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

/* ---- ahead of the flip (.early) ---- */

#define EARLY_MOST ((size_t)2 << 20) /* bytes of roots, in all */
#define CHUNK_WORDS (ROOT_CHUNK / sizeof(mps_word_t))
#define CHUNK_FEW   (CHUNK_WORDS / 8) /* words, to be scanned one by one */

/* May its words be read one by one? */
static bool root_is_table(const tdo_root_t *root) {
  return root->kind == TDO_ROOT_AREA && !root->abroad &&
         root_divides(root->area) &&
         root_bytes(root) % sizeof(mps_word_t) == 0 && !root_gone(root);
}

static bool root_is_early(const tdo_root_t *root) {
  return root_is_table(root) && root_bytes(root) >= ROOT_CHUNK; /* worth it */
}

/* What does not stay in place, or may not: the copy is made another word. */
static mps_res_t root_fix_early(tdo_scan_t *scan, mps_addr_t *ref_io) {
  (void)scan;
  *ref_io = NULL;
  return MPS_RES_OK;
}

/* As tdo_scan_init, where the flip is to come: only segments are white that
   were condemned ahead, of which most zones do not know yet. */
static bool root_scan_early_init(tdo_scan_t *scan, mps_arena_t heap) {
  tdo_scan_init(scan, heap, TDO_RANK_EXACT);
  tdo_scan_anywhere(scan);
  scan->fix = root_fix_early;
  return scan->express != NULL;
}

/* The program goes on: each word is read once. */
TDO_NO_SANITIZE static void root_copy(mps_word_t *to, const char *base,
                                      size_t count) {
  const volatile mps_word_t *from = (const volatile void *)base;

  for (size_t i = 0; i < count; ++i)
    to[i] = from[i];
}

size_t tdo_roots_words(mps_arena_t heap, mps_word_t *to, size_t most) {
  size_t count = 0;

  TDO_RING_FOR(node, &heap->roots[TDO_RANK_EXACT]) {
    const tdo_root_t *root = TDO_RING_ENTRY(tdo_root_t, heap_ring, node);
    size_t words = root_bytes(root) / sizeof *to;
    if (!root_is_table(root) || words > most - count)
      continue;
    root_copy(to + count, root->base, words);
    count += words;
  }
  return count;
}

/* Mark what the next words of ROOT refer to. */
static mps_res_t root_mark_chunk(tdo_scan_t *scan, tdo_root_t *root) {
  size_t done = root->early_count * sizeof(mps_word_t);
  size_t bytes = tdo_min(root_bytes(root) - done, ROOT_CHUNK);
  mps_word_t *copy = root->early + root->early_count;

  root_copy(copy, root->base + done, bytes / sizeof(mps_word_t));
  root->early_count += bytes / sizeof(mps_word_t);
  tdo_scan_fetch(scan, (char *)copy, (char *)copy + bytes);
  return root->area(&scan->ss, copy, (char *)copy + bytes, root->closure);
}

/* Room for the copies of ROOT's words. */
static bool root_begin_early(tdo_root_t *root) {
  void *p;

  if (root->early == NULL) {
    if (tdo_control_alloc(&p, &root->heap->control, root_bytes(root)) !=
        MPS_RES_OK)
      return false;
    root->early = p;
    ++root->heap->roots_early;
  }
  return true;
}

bool tdo_roots_mark_early(mps_arena_t heap, uint64_t deadline) {
  size_t most = EARLY_MOST;
  tdo_scan_t scan;

  if (!root_scan_early_init(&scan, heap))
    return true;
  TDO_RING_FOR(node, &heap->roots[TDO_RANK_EXACT]) {
    tdo_root_t *root = TDO_RING_ENTRY(tdo_root_t, heap_ring, node);
    if (!root_is_early(root) || root_bytes(root) > most)
      continue;
    most -= root_bytes(root);
    if (!root_begin_early(root))
      return true;
    while (!root_gone(root) &&
           root->early_count < root_bytes(root) / sizeof(mps_word_t)) {
      if (root_mark_chunk(&scan, root) != MPS_RES_OK)
        return true;
      if (tdo_clock_past(deadline))
        return false;
    }
  }
  return true;
}

void tdo_roots_forget_early(mps_arena_t heap) {
  if (heap->roots_early == 0)
    return;
  TDO_RING_FOR(node, &heap->roots[TDO_RANK_EXACT])
  root_forget_early(TDO_RING_ENTRY(tdo_root_t, heap_ring, node));
}

/* One past the last word from I on, below LIMIT, that is as it was noted (or,
   unless SAME, is not). */
TDO_NO_SANITIZE static size_t root_run(const tdo_root_t *root, size_t i,
                                       size_t limit, bool same) {
  const mps_word_t *now = (const mps_word_t *)(const void *)root->base;

  while (i < limit && (now[i] == root->early[i]) == same)
    ++i;
  return i;
}

TDO_NO_SANITIZE static size_t root_count_changed(const tdo_root_t *root,
                                                 size_t i, size_t limit) {
  const mps_word_t *now = (const mps_word_t *)(const void *)root->base;
  size_t count = 0;

  for (; i < limit; ++i)
    count += now[i] != root->early[i];
  return count;
}

/* Words [I, LIMIT) of ROOT. */
static mps_res_t root_scan_words(tdo_scan_t *scan, tdo_root_t *root, size_t i,
                                 size_t limit) {
  return root_scan_area(scan, root, root->base + i * sizeof(mps_word_t),
                        root->base + limit * sizeof(mps_word_t));
}

/* Where much of a chunk has changed, it is scanned as if all had, since what is
   needed for that is fetched together. */
static mps_res_t root_scan_changed(tdo_scan_t *scan, tdo_root_t *root, size_t i,
                                   size_t limit) {
  mps_res_t res = MPS_RES_OK;

  tdo_scan_hurry(scan);
  if (root_count_changed(root, i, limit) > CHUNK_FEW)
    return root_scan_words(scan, root, i, limit);
  while (res == MPS_RES_OK && (i = root_run(root, i, limit, true)) < limit) {
    size_t end = root_run(root, i, limit, false);
    res = root_scan_words(scan, root, i, end);
    i = end;
  }
  return res;
}

mps_res_t tdo_root_scan_rest(tdo_scan_t *scan, tdo_root_t *root) {
  size_t count = root->early_count, all, i = 0;
  mps_res_t res = MPS_RES_OK;

  if (count == 0)
    return tdo_root_scan(scan, root);
  all = root_bytes(root) / sizeof(mps_word_t);
  for (; i < count && res == MPS_RES_OK && !root_gone(root); i += CHUNK_WORDS)
    res = root_scan_changed(scan, root, i, tdo_min(i + CHUNK_WORDS, count));
  return res == MPS_RES_OK && count < all && !root_gone(root)
             ? root_scan_words(scan, root, count, all)
             : res;
}
