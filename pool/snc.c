/* Testudo: pools that are stacks, SNC (interface, section 4.6).
   SPDX-License-Identifier: BSD-2-Clause

   Each point has a stack of segments, filled one after the other, and a stack
   of frames, places in them. Blocks are roots: they are scanned at each flip,
   and nothing is ever protected. Segments without blocks are spare, for any
   point of the pool.

   Invariants:
   .filled   blocks lie back to back in [base, filled) of a segment; while the
             point has its buffer there, up to what is committed.
   .frames   the frames of a point are in the order of their places, and of
             their numbers, which are never used again. */
#include <string.h>
#include "code/args.h"
#include "code/check.h"
#include "mpscsnc.h"
#include "trace/heap.h"

#define SNC_SEG_LEAST 4096
#define SNC_SEG_MOST  65536
#define SNC_SIZES     16 /* of segments, told apart by powers of two */
#define SNC_TRIES     16 /* spare ones looked at that may be too small */

typedef struct snc_pool {
  tdo_pool_t pool;             /* first */
  tdo_ring_t spare[SNC_SIZES]; /* snc_seg_t.stack_ring, by snc_size */
} snc_pool_t;

typedef struct snc_seg {
  tdo_seg_t seg;         /* first */
  tdo_ring_t stack_ring; /* in a stack, or among the spare */
  tdo_ap_t *ap;          /* whose stack it is in, or null */
  char *filled;          /* .filled; stale while AP has its buffer here */
  size_t free;           /* bytes counted in pool->free */
} snc_seg_t;

typedef struct snc_frame {
  tdo_word_t number;
  snc_seg_t *seg; /* null: the stack was empty */
  char *at;
} snc_frame_t;

typedef struct snc_stack {
  tdo_ring_t segs; /* the newest is the last */
  snc_frame_t *frames;
  size_t count, room;
  tdo_word_t number; /* of the newest frame ever */
} snc_stack_t;

static snc_pool_t *snc_of(tdo_pool_t *pool) {
  return (snc_pool_t *)(void *)pool;
}

static snc_stack_t *snc_stack_of(const tdo_ap_t *ap) {
  return ap->frames;
}

/* ---- creation ---- */

static void snc_varargs(mps_arg_s args[], va_list list) {
  args[0].key = MPS_KEY_FORMAT;
  args[0].val.format = va_arg(list, mps_fmt_t);
  args[1].key = MPS_KEY_ARGS_END;
}

static mps_res_t snc_init(tdo_pool_t *pool, mps_arg_s args[]) {
  for (int i = 0; i < SNC_SIZES; ++i)
    tdo_ring_init(&snc_of(pool)->spare[i]);
  return tdo_pool_take_format(pool, args);
}

static void snc_set_free(snc_seg_t *seg, size_t bytes) {
  tdo_pool_t *pool = seg->seg.pool;

  pool->free -= seg->free;
  pool->free += bytes;
  seg->free = bytes;
}

static void snc_finish(tdo_pool_t *pool) {
  TDO_RING_FOR(node, &pool->segs) {
    tdo_seg_t *seg = TDO_RING_ENTRY(tdo_seg_t, pool_ring, node);
    snc_set_free((snc_seg_t *)(void *)seg, 0);
    tdo_pool_seg_free(pool, seg, sizeof(snc_seg_t));
  }
}

static void snc_ap_varargs(mps_arg_s args[], va_list list) {
  args[0].key = MPS_KEY_RANK;
  args[0].val.rank = va_arg(list, mps_rank_t);
  args[1].key = MPS_KEY_ARGS_END;
}

static mps_res_t snc_ap_init(tdo_ap_t *ap, mps_arg_s args[]) {
  snc_stack_t *stack;
  mps_arg_s arg;
  void *p;
  mps_res_t res;

  if (tdo_arg_pick(&arg, args, MPS_KEY_RANK)) {
    TDO_ASSERT(arg.val.rank < TDO_RANKS, "not a rank");
    if (arg.val.rank != TDO_RANK_EXACT)
      return MPS_RES_PARAM;
  }
  res = tdo_pool_control_alloc(&p, ap->pool, sizeof *stack);
  if (res != MPS_RES_OK)
    return res;
  stack = p;
  memset(stack, 0, sizeof *stack);
  tdo_ring_init(&stack->segs);
  ap->frames = stack;
  ap->next_size = SNC_SEG_LEAST;
  return MPS_RES_OK;
}

/* ---- segments ---- */

/* The newest segment of the stack, or null. */
static snc_seg_t *snc_top(const snc_stack_t *stack) {
  return tdo_ring_empty(&stack->segs)
             ? NULL
             : TDO_RING_ENTRY(snc_seg_t, stack_ring, stack->segs.prev);
}

/* Where segments of SIZE bytes are when they are spare. */
static unsigned snc_size(size_t size) {
  size_t times = tdo_max(size / SNC_SEG_LEAST, 1);

  return tdo_min(tdo_log2(tdo_pow2_at_most(times)), SNC_SIZES - 1);
}

/* SEG holds no blocks any more. */
static void snc_spare(snc_seg_t *seg) {
  snc_pool_t *snc = snc_of(seg->seg.pool);

  seg->ap = NULL;
  seg->filled = seg->seg.base;
  tdo_ring_remove(&seg->stack_ring);
  tdo_ring_prepend(&snc->spare[snc_size(tdo_seg_size(&seg->seg))],
                   &seg->stack_ring);
  snc_set_free(seg, tdo_seg_size(&seg->seg));
}

/* One of the first MOST in RING that has at least SIZE bytes, or null. */
static snc_seg_t *snc_fitting(const tdo_ring_t *ring, size_t size,
                              size_t most) {
  for (tdo_ring_t *node = ring->next; node != ring && most > 0;
       node = node->next, --most) {
    snc_seg_t *seg = TDO_RING_ENTRY(snc_seg_t, stack_ring, node);
    if (tdo_seg_size(&seg->seg) >= size)
      return seg;
  }
  return NULL;
}

/* A spare segment of at least SIZE bytes, better of WANT, or null; look at MOST
   of one size in vain. */
static snc_seg_t *snc_find_spare(const snc_pool_t *snc, size_t size,
                                 size_t want, size_t most) {
  snc_seg_t *seg = NULL;

  for (unsigned i = snc_size(want); i < SNC_SIZES && seg == NULL; ++i)
    seg = snc_fitting(&snc->spare[i], size, most);
  for (unsigned i = snc_size(want); i-- > snc_size(size) && seg == NULL;)
    seg = snc_fitting(&snc->spare[i], size, most);
  return seg;
}

/* A spare segment of at least SIZE bytes, or a new one of WANT. */
static mps_res_t snc_find_seg(snc_seg_t **seg_o, snc_pool_t *snc, size_t size,
                              size_t want) {
  tdo_seg_t *fresh;
  mps_res_t res;

  *seg_o = snc_find_spare(snc, size, want, SNC_TRIES);
  if (*seg_o != NULL)
    return MPS_RES_OK;
  res = tdo_pool_seg_alloc(&fresh, &snc->pool, sizeof(snc_seg_t), want, false);
  if (res != MPS_RES_OK && want > size)
    res =
        tdo_pool_seg_alloc(&fresh, &snc->pool, sizeof(snc_seg_t), size, false);
  if (res != MPS_RES_OK) {
    *seg_o = snc_find_spare(snc, size, size, SIZE_MAX);
    return *seg_o != NULL ? MPS_RES_OK : res;
  }
  *seg_o = (snc_seg_t *)(void *)fresh;
  tdo_ring_init(&(*seg_o)->stack_ring);
  snc_spare(*seg_o);
  return MPS_RES_OK;
}

/* What is left of SEG becomes the point's buffer. */
static void snc_attach(tdo_ap_t *ap, snc_seg_t *seg) {
  snc_set_free(seg, 0);
  tdo_ap_attach(ap, seg, seg->filled, seg->seg.limit);
}

static mps_res_t snc_fill(tdo_pool_t *pool, tdo_ap_t *ap, size_t size) {
  snc_stack_t *stack = snc_stack_of(ap);
  snc_seg_t *seg = snc_top(stack);
  mps_res_t res;

  if (seg == NULL || (size_t)(seg->seg.limit - seg->filled) < size) {
    res = snc_find_seg(&seg, snc_of(pool), size, tdo_max(size, ap->next_size));
    if (res != MPS_RES_OK)
      return res;
    ap->next_size = tdo_min(2 * ap->next_size, SNC_SEG_MOST);
    seg->ap = ap;
    tdo_ring_remove(&seg->stack_ring);
    tdo_ring_append(&stack->segs, &seg->stack_ring);
  }
  snc_attach(ap, seg);
  return MPS_RES_OK;
}

static void snc_empty(tdo_pool_t *pool, tdo_ap_t *ap, char *init,
                      char *limit) {
  snc_seg_t *seg = ap->seg;

  (void)pool;
  seg->filled = init;
  snc_set_free(seg, (size_t)(limit - init));
}

/* All blocks of the point die with it. */
static void snc_ap_finish(tdo_ap_t *ap) {
  snc_stack_t *stack = snc_stack_of(ap);
  snc_seg_t *seg;

  tdo_ap_detach(ap);
  while ((seg = snc_top(stack)) != NULL)
    snc_spare(seg);
  if (stack->frames != NULL)
    tdo_pool_control_free(ap->pool, stack->frames,
                          stack->room * sizeof(snc_frame_t));
  tdo_pool_control_free(ap->pool, stack, sizeof *stack);
  ap->frames = NULL;
}

/* ---- frames ---- */

static mps_res_t snc_grow_frames(tdo_pool_t *pool, snc_stack_t *stack) {
  size_t room = stack->room == 0 ? 16 : 2 * stack->room;
  void *p;
  mps_res_t res = tdo_pool_control_alloc(&p, pool, room * sizeof(snc_frame_t));

  if (res != MPS_RES_OK)
    return res;
  if (stack->frames != NULL) {
    memcpy(p, stack->frames, stack->count * sizeof(snc_frame_t));
    tdo_pool_control_free(pool, stack->frames,
                          stack->room * sizeof(snc_frame_t));
  }
  stack->frames = p;
  stack->room = room;
  return MPS_RES_OK;
}

static mps_res_t snc_frame_push(mps_frame_t *frame_o, tdo_ap_t *ap) {
  snc_stack_t *stack = snc_stack_of(ap);
  snc_frame_t *frame;

  if (stack->count == stack->room) {
    mps_res_t res = snc_grow_frames(ap->pool, stack);
    if (res != MPS_RES_OK)
      return res;
  }
  frame = &stack->frames[stack->count++];
  frame->number = ++stack->number;
  frame->seg = snc_top(stack);
  frame->at = frame->seg == NULL      ? NULL
              : ap->seg == frame->seg ? tdo_ap_committed(ap)
                                      : frame->seg->filled;
  *frame_o = (mps_frame_t)frame->number;
  return MPS_RES_OK;
}

/* Index of the frame with this number, or count. */
static size_t snc_find_frame(const snc_stack_t *stack, tdo_word_t number) {
  size_t i = stack->count;

  while (i > 0 && stack->frames[i - 1].number > number)
    --i;
  return i > 0 && stack->frames[i - 1].number == number ? i - 1 : stack->count;
}

static mps_res_t snc_frame_pop(tdo_ap_t *ap, mps_frame_t number) {
  snc_stack_t *stack = snc_stack_of(ap);
  size_t i = snc_find_frame(stack, (tdo_word_t)number);
  snc_frame_t frame;
  snc_seg_t *seg;

  TDO_ASSERT(i < stack->count,
             "popped a frame that is not one of the point's, or no more");
  if (i >= stack->count)
    return MPS_RES_FAIL;
  frame = stack->frames[i];
  stack->count = i;
  tdo_ap_detach(ap);
  while ((seg = snc_top(stack)) != frame.seg)
    snc_spare(seg);
  if (seg == NULL)
    return MPS_RES_OK;
  seg->filled = frame.at;
  snc_set_free(seg, (size_t)(seg->seg.limit - seg->filled));
  if (seg->filled < seg->seg.limit)
    snc_attach(ap, seg);
  return MPS_RES_OK;
}

/* ---- blocks ---- */

/* End of the blocks in SEG. */
static char *snc_filled(const snc_seg_t *seg) {
  return seg->ap != NULL && seg->ap->seg == seg ? tdo_ap_settled(seg->ap)
                                                : seg->filled;
}

static bool snc_walk(tdo_pool_t *pool, tdo_walk_visit_t visit, void *closure) {
  TDO_RING_FOR(node, &pool->segs) {
    tdo_seg_t *seg = TDO_RING_ENTRY(tdo_seg_t, pool_ring, node);
    char *filled = snc_filled((snc_seg_t *)(void *)seg);
    if (seg->base < filled && !visit(closure, pool, seg->base, filled))
      return false;
  }
  return true;
}

typedef struct snc_scan {
  tdo_scan_t *scan;
  mps_res_t res;
} snc_scan_t;

static bool snc_scan_visit(void *closure, tdo_pool_t *pool, char *base,
                           char *limit) {
  snc_scan_t *s = closure;
  mps_res_t res = tdo_scan_formatted(s->scan, pool, base, limit);

  if (s->res == MPS_RES_OK)
    s->res = res;
  return true; /* on with the others */
}

static mps_res_t snc_scan_roots(tdo_pool_t *pool, tdo_scan_t *scan) {
  snc_scan_t s = {scan, MPS_RES_OK};

  if (scan->rank == TDO_RANK_EXACT)
    (void)snc_walk(pool, snc_scan_visit, &s);
  return s.res;
}

static const tdo_pool_class_t snc_class = {
    .sig = TDO_POOL_CLASS_SIG,
    .name = "SNC",
    .size = sizeof(snc_pool_t),
    .scanned = true,
    .rooted = true,
    .varargs = snc_varargs,
    .init = snc_init,
    .finish = snc_finish,
    .ap_init = snc_ap_init,
    .ap_varargs = snc_ap_varargs,
    .ap_finish = snc_ap_finish,
    .fill = snc_fill,
    .empty = snc_empty,
    .frame_push = snc_frame_push,
    .frame_pop = snc_frame_pop,
    .scan_roots = snc_scan_roots,
    .walk = snc_walk,
};

mps_pool_class_t mps_class_snc(void) {
  return (mps_pool_class_t)&snc_class;
}
