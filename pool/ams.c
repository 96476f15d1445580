/* Testudo: automatic pools that mark and sweep, AMS, and AMS debug
   (interface, sections 4.3 and 2.25).
   SPDX-License-Identifier: BSD-2-Clause

   Blocks of ambiguous rank are scanned twice, if anything may move: what they
   may refer to in pools that move is pinned with the roots, before anything
   moves; what is left is marked when the blocks themselves are known to
   survive. */
#include "code/args.h"
#include "code/check.h"
#include "mpscams.h"
#include "pool/debug.h"
#include "pool/nonmoving.h"
#include "trace/remember.h"

typedef struct ams_pool {
  tdo_nm_pool_t nm;    /* first */
  bool ambiguous;      /* the client may refer to blocks ambiguously */
  bool ranked;         /* there may be blocks of ambiguous rank */
  tdo_template_t free; /* of the debug class, whose blocks come from points and
                          so have no fenceposts */
} ams_pool_t;

static ams_pool_t *ams_of(tdo_nm_pool_t *nm) {
  return (ams_pool_t *)(void *)nm;
}

/* ---- creation ---- */

static void ams_varargs(mps_arg_s args[], va_list list) {
  args[0].key = MPS_KEY_FORMAT;
  args[0].val.format = va_arg(list, mps_fmt_t);
  args[1].key = MPS_KEY_CHAIN;
  args[1].val.chain = va_arg(list, mps_chain_t);
  args[2].key = MPS_KEY_AMS_SUPPORT_AMBIGUOUS;
  args[2].val.b = va_arg(list, mps_bool_t);
  args[3].key = MPS_KEY_ARGS_END;
}

static void ams_debug_varargs(mps_arg_s args[], va_list list) {
  args[0].key = MPS_KEY_POOL_DEBUG_OPTIONS;
  args[0].val.pool_debug_options = va_arg(list, mps_pool_debug_option_s *);
  ams_varargs(args + 1, list);
}

static mps_res_t ams_init(tdo_pool_t *pool, mps_arg_s args[]) {
  ams_pool_t *ams = ams_of(tdo_nm_of(pool));
  mps_res_t res = tdo_nm_init(&ams->nm, args);
  mps_arg_s arg;

  if (res != MPS_RES_OK)
    return res;
  ams->ambiguous = true;
  if (tdo_arg_pick(&arg, args, MPS_KEY_AMS_SUPPORT_AMBIGUOUS))
    ams->ambiguous = arg.val.b;
  return MPS_RES_OK;
}

static mps_res_t ams_ap_init(tdo_ap_t *ap, mps_arg_s args[]) {
  ams_pool_t *ams = ams_of(tdo_nm_of(ap->pool));
  unsigned ranks = 1u << TDO_RANK_EXACT;
  mps_res_t res;

  if (ams->ambiguous)
    ranks |= 1u << TDO_RANK_AMBIG;
  res = tdo_nm_ap_init(ap, args, ranks);
  if (res == MPS_RES_OK && ap->rank == TDO_RANK_AMBIG)
    ams->ranked = true;
  return res;
}

/* ---- ambiguous rank ---- */

/* Only what moves: the rest has time until the block is scanned. */
static mps_res_t ams_pin(tdo_scan_t *scan, mps_addr_t *ref_io) {
  tdo_gcseg_t *seg = tdo_gcseg_of(&scan->heap->space, *ref_io);

  if (seg == NULL || !seg->pool->klass->moving)
    return MPS_RES_OK;
  return tdo_trace_fix(scan, ref_io);
}

static mps_res_t ams_scan_pins(tdo_scan_t *pins, tdo_gcseg_t *gc, char *base,
                               char *limit) {
  mps_res_t res;

  tdo_gcseg_expose(gc, base, limit);
  res = tdo_nm_scan_range(gc->pool, pins, gc, base, limit);
  tdo_gcseg_cover(gc, base, limit);
  return res;
}

/* The same for the blocks of SEG, not white, in pages that may refer to what is
   condemned. Pages that are opened for what reaches into them lose their bars,
   but are not therefore scanned: so the next are looked for before. */
static mps_res_t ams_scan_remembered(tdo_scan_t *pins, tdo_gcseg_t *gc) {
  char *next, *end = gc->seg.base;
  bool more = tdo_remember_next(pins->heap, gc, &next, &end);
  mps_res_t res = MPS_RES_OK;

  while (more && res == MPS_RES_OK) {
    char *base = next, *limit = end;
    more = tdo_remember_next(pins->heap, gc, &next, &end);
    tdo_nm_widen(gc->pool, gc, &base, &limit);
    if (base < limit)
      res = ams_scan_pins(pins, gc, base, limit);
  }
  return res;
}

/* Nothing that a block of ambiguous rank refers to may move, since the block
   cannot follow. A block that may be dead keeps nothing: what it refers to is
   held in place in case that something else does. */
static mps_res_t ams_scan_roots(tdo_pool_t *pool, tdo_scan_t *scan) {
  if (scan->rank != TDO_RANK_AMBIG || !scan->heap->trace.moves ||
      !ams_of(tdo_nm_of(pool))->ranked)
    return MPS_RES_OK;
  TDO_RING_FOR(node, &pool->segs) {
    tdo_seg_t *seg = TDO_RING_ENTRY(tdo_seg_t, pool_ring, node);
    tdo_gcseg_t *gc = (tdo_gcseg_t *)(void *)seg;
    tdo_scan_t pins = *scan;
    mps_res_t res;
    if (gc->rank != TDO_RANK_AMBIG)
      continue;
    tdo_scan_use(&pins, ams_pin);
    pins.hold = gc->white;
    res = gc->white || scan->heap->trace.full
              ? ams_scan_pins(&pins, gc, seg->base, seg->limit)
              : ams_scan_remembered(&pins, gc);
    if (res != MPS_RES_OK)
      return res;
  }
  return MPS_RES_OK;
}

/* ---- the debug class ---- */

static void ams_check_free(tdo_nm_pool_t *nm, tdo_nm_seg_t *seg, char *base,
                           char *limit) {
  tdo_template_t *t = &ams_of(nm)->free;

  tdo_gcseg_expose(&seg->gc, base, limit);
  TDO_CHECK_ALWAYS(tdo_template_shown(t, base, limit),
                   "free memory of a debug pool was written to");
  tdo_gcseg_cover(&seg->gc, base, limit);
}

static void ams_splat(tdo_nm_pool_t *nm, tdo_nm_seg_t *seg, char *base,
                      char *limit) {
  tdo_gcseg_expose(&seg->gc, base, limit);
  tdo_template_fill(&ams_of(nm)->free, base, limit);
  tdo_gcseg_cover(&seg->gc, base, limit);
}

static void ams_taken(tdo_nm_pool_t *nm, tdo_nm_seg_t *seg, char *base,
                      char *limit, bool fresh) {
  if (fresh)
    ams_splat(nm, seg, base, limit);
  else
    ams_check_free(nm, seg, base, limit);
}

static mps_res_t ams_debug_init(tdo_pool_t *pool, mps_arg_s args[]) {
  const mps_pool_debug_option_s *option = tdo_debug_options(args);
  ams_pool_t *ams = ams_of(tdo_nm_of(pool));
  mps_res_t res;

  if (option == NULL)
    return MPS_RES_PARAM;
  res = ams_init(pool, args);
  if (res != MPS_RES_OK)
    return res;
  res = tdo_template_init(&ams->free, pool, option->free_template,
                          option->free_size);
  if (res != MPS_RES_OK) {
    tdo_nm_finish(pool);
    return res;
  }
  ams->nm.taken = ams_taken;
  ams->nm.freed = ams_splat;
  return MPS_RES_OK;
}

static void ams_check_seg(tdo_pool_t *pool, tdo_seg_t *seg) {
  tdo_nm_each_free(tdo_nm_of(pool), (tdo_nm_seg_t *)(void *)seg,
                   ams_check_free);
}

static void ams_check_free_space(tdo_pool_t *pool) {
  TDO_RING_FOR(node, &pool->segs) {
    ams_check_seg(pool, TDO_RING_ENTRY(tdo_seg_t, pool_ring, node));
  }
}

static void ams_debug_finish(tdo_pool_t *pool) {
  ams_check_free_space(pool);
  tdo_nm_finish(pool);
  tdo_template_finish(&ams_of(tdo_nm_of(pool))->free, pool);
}

/* Its memory may go back to the arena: look at what was free of it. */
static void ams_debug_reclaim(tdo_pool_t *pool, tdo_gcseg_t *gc) {
  ams_check_seg(pool, &gc->seg);
  tdo_nm_reclaim(pool, gc);
}

#define AMS_METHODS                                                           \
  .sig = TDO_POOL_CLASS_SIG, .size = sizeof(ams_pool_t), .automatic = true,   \
  .scanned = true, .ap_varargs = tdo_nm_ap_varargs, .ap_init = ams_ap_init,   \
  .fill = tdo_nm_fill, .empty = tdo_nm_empty, .bare = tdo_nm_bare,            \
  .whiten = tdo_nm_whiten, .whole = tdo_nm_whole, .fetch = tdo_nm_fetch,      \
  .fix = tdo_nm_fix, .alive = tdo_nm_alive, .scan = tdo_nm_scan,              \
  .widen = tdo_nm_widen, .scan_range = tdo_nm_scan_range,                     \
  .scan_roots = ams_scan_roots, .walk = tdo_nm_walk

static const tdo_pool_class_t ams_class = {
    AMS_METHODS,      .name = "AMS",           .varargs = ams_varargs,
    .init = ams_init, .finish = tdo_nm_finish, .reclaim = tdo_nm_reclaim,
};

static const tdo_pool_class_t ams_debug_class = {
    AMS_METHODS,
    .name = "AMS debug",
    .varargs = ams_debug_varargs,
    .init = ams_debug_init,
    .finish = ams_debug_finish,
    .reclaim = ams_debug_reclaim,
    .check_free_space = ams_check_free_space,
};

mps_pool_class_t mps_class_ams(void) {
  return (mps_pool_class_t)&ams_class;
}

mps_pool_class_t mps_class_ams_debug(void) {
  return (mps_pool_class_t)&ams_debug_class;
}
