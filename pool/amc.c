/* Testudo: automatic mostly-copying pools, AMC, and AMCZ for leaf objects
   (interface, sections 4.1 and 4.2).
   SPDX-License-Identifier: BSD-2-Clause

   Objects lie back to back in segments. Survivors are copied to the next
   generation, in segments that the pool fills one after the other, except
   where an ambiguous reference pins an object: its segment is *nailed*, the
   pinned objects stay, and what else lives there moves away. When no memory
   can be had for copying an object, it is pinned. If there is none for a table
   of pins, the segment is *kept*: what has not moved yet stays.

   Invariants:
   .pins     in a white nailed segment, bit i of `pins` is set iff an object
             with base at seg.base + i * align is pinned.
   .scanned  in a segment being filled by the collector, objects in
             [base, scanned) are black, in [scanned, filled) grey; in another
             one there are none between: what died there may lie unpadded
             under a pad.
   .read     a pinned object has its bit in `read`, too, once it is scanned
             (not in leaf pools).
   .unread   outside of a scan of the segment, what is pinned and not scanned
             lies within [unread, unread_limit), in units of `pins`.
   .held     in a white nailed segment, an object with its
   bit in `held` must not move, because something that may yet be found alive
   refers to it ambiguously: it is pinned when it is reached, and else dies.
   .settled  a nailed segment is settled when slices have opened it again and
             again: `held` has from then on the objects that have moved, and
             `moved`, in their order, where to. All others stay if they live.
             So no reference to either needs the segment open. Where exact
             roots left much in place (scan.h, .hurried), there may be thousands
             of nailed segments, and each slice would open and close most.
   .padded   if `padded` is not null, a bit of the second half of pin_table
             whose object is not pinned is set iff a pad begins as many
             alignment units beyond `padded`, in what collections left between
             objects that stay. A pad is never pinned: it is nobody's.
   .condemned in a white segment, objects in [base, condemned) are white; what
             lies beyond, in the buffer that a point had or has there, was
             allocated since, and is black.
   .ready    where survivors of a generation go, `ready` is null or the segment
             that is being filled, which is exposed, and grey if it is scanned.
   .starts   entry c of starts is the offset, in alignment units, of the first
             object whose base lies in or beyond card c, valid for cards below
             starts_known. Entries have 16 bits where that holds any offset
             within the segment, else 32: there is a table for each old
             segment in which an object was looked for.
   .cut      a client may cut blocks anew while it has the arena parked, and so
             remove starts: what was known before a release, or before a full
             collection, is forgotten; also when the first object has another
             size than it had. */
#include <string.h>
#include "code/args.h"
#include "code/check.h"
#include "mpscamc.h"
#include "pool/amc.h"
#include "pool/options.h"

#define AMC_EXTEND_DEFAULT 8192
#define AMC_LARGE_DEFAULT  32768
#define AMC_BUFFER_MOST    65536 /* of the mutator: grows to this, */
#define AMC_BUFFER_SHARE   32.0  /* or this part of a generation's capacity */

/* ---- creation ---- */

static void amc_varargs(mps_arg_s args[], va_list list) {
  args[0].key = MPS_KEY_FORMAT;
  args[0].val.format = va_arg(list, mps_fmt_t);
  args[1].key = MPS_KEY_CHAIN;
  args[1].val.chain = va_arg(list, mps_chain_t);
  args[2].key = MPS_KEY_ARGS_END;
}

static mps_res_t amc_take_sizes(amc_pool_t *amc, mps_arg_s args[]) {
  mps_arg_s arg;
  mps_res_t res;

  amc->extend_by = AMC_EXTEND_DEFAULT;
  amc->large = AMC_LARGE_DEFAULT;
  amc->interior = true;
  res = tdo_option_size(&amc->extend_by, args, MPS_KEY_EXTEND_BY);
  if (res != MPS_RES_OK)
    return res;
  if (tdo_arg_pick(&arg, args, MPS_KEY_LARGE_SIZE))
    amc->large = arg.val.size;
  tdo_option_bool(&amc->interior, args, MPS_KEY_INTERIOR);
  amc->large = tdo_max(amc->large, amc->extend_by);
  return MPS_RES_OK;
}

static mps_res_t amc_init(tdo_pool_t *pool, mps_arg_s args[]) {
  amc_pool_t *amc = tdo_amc_of(pool);
  bool given;
  void *p;
  mps_res_t res = tdo_pool_take_format(pool, args);

  if (res == MPS_RES_OK)
    res = amc_take_sizes(amc, args);
  if (res != MPS_RES_OK)
    return res;
  amc->leaf = !pool->klass->scanned;
  amc->shift = tdo_log2(pool->align);
  tdo_ring_init(&amc->open);
  res = tdo_option_chain(&amc->chain, &given, pool, args);
  if (res != MPS_RES_OK)
    return res;
  res = tdo_pool_control_alloc(&p, pool,
                               (amc->chain->count + 1) * sizeof(amc_to_t));
  if (res != MPS_RES_OK)
    return res;
  amc->to = p;
  memset(p, 0, (amc->chain->count + 1) * sizeof(amc_to_t));
  for (size_t i = 0; i <= amc->chain->count; ++i) {
    amc->to[i].gen = tdo_chain_gen(amc->chain, i);
    amc->to[i].bit = amc->to[i].gen->bit;
    amc->to[i].format = pool->format;
    amc->to[i].ordinary = amc->large;
  }
  ++amc->chain->pools;
  return MPS_RES_OK;
}

/* The pins of every segment but large ones have room from the start: they
   are needed when there is no memory. To clear them while a flip meets more
   and more segments would take most of its time. */
mps_res_t tdo_amc_make_pins(amc_pool_t *amc, amc_seg_t *seg) {
  void *p;
  mps_res_t res;

  seg->pin_count = tdo_seg_size(&seg->gc.seg) >> amc->shift;
  res = tdo_pool_control_alloc(&p, &amc->pool, tdo_amc_pin_bytes(seg));
  if (res == MPS_RES_OK) {
    seg->pin_table = p;
    memset(p, 0, tdo_amc_pin_bytes(seg));
  }
  return res;
}

void tdo_amc_free_tables(amc_seg_t *seg) {
  if (seg->starts != NULL)
    tdo_pool_control_free(seg->gc.pool, seg->starts,
                          tdo_amc_starts_bytes(seg));
  if (seg->moved != NULL)
    tdo_pool_control_free(
        seg->gc.pool, seg->moved,
        tdo_amc_moved_bytes(tdo_bits_count(seg->held, 0, seg->pin_count)));
  seg->moved = NULL;
  if (seg->held != NULL)
    tdo_pool_control_free(seg->gc.pool, seg->held, tdo_amc_pin_bytes(seg) / 2);
  seg->pins = seg->read = seg->held = NULL;
  seg->opened = 0;
  seg->starts = NULL;
  seg->starts_known = 0;
}

void tdo_amc_close_to(amc_pool_t *amc, amc_seg_t *seg) {
  for (size_t i = 0; i <= amc->chain->count; ++i)
    if (amc->to[i].seg == seg)
      amc->to[i].seg = amc->to[i].ready = NULL;
  seg->gc.filling = false;
}

void tdo_amc_free_seg(amc_seg_t *seg) {
  amc_pool_t *amc = tdo_amc_of(seg->gc.pool);

  tdo_amc_close_to(amc, seg);
  tdo_amc_free_tables(seg);
  if (seg->pin_table != NULL)
    tdo_pool_control_free(seg->gc.pool, seg->pin_table,
                          tdo_amc_pin_bytes(seg));
  tdo_ring_remove(&seg->open_ring);
  tdo_gcseg_free(&seg->gc);
}

static void amc_finish(tdo_pool_t *pool) {
  amc_pool_t *amc = tdo_amc_of(pool);

  TDO_RING_FOR(node, &pool->segs) {
    tdo_seg_t *seg = TDO_RING_ENTRY(tdo_seg_t, pool_ring, node);
    tdo_amc_free_seg((amc_seg_t *)(void *)seg);
  }
  --amc->chain->pools;
  tdo_pool_control_free(pool, amc->to,
                        (amc->chain->count + 1) * sizeof(amc_to_t));
}

/* ---- buffers ---- */

static mps_res_t amc_ap_init(tdo_ap_t *ap, mps_arg_s args[]) {
  amc_pool_t *amc = tdo_amc_of(ap->pool);
  mps_arg_s arg;

  if (tdo_arg_pick(&arg, args, MPS_KEY_AP_HASH_ARRAYS))
    ap->hash_arrays = arg.val.b;
  if (tdo_arg_pick(&arg, args, MPS_KEY_GEN)) {
    TDO_ASSERT(arg.val.u <= amc->chain->count,
               "GEN exceeds the number of generations");
    if (arg.val.u > amc->chain->count)
      return MPS_RES_PARAM;
    ap->gen = arg.val.u;
  }
  ap->next_size = amc->extend_by;
  return MPS_RES_OK;
}

mps_res_t tdo_amc_new_seg(amc_seg_t **seg_o, amc_pool_t *amc, tdo_gen_t *gen,
                          size_t size, bool large) {
  tdo_gcseg_t *seg;
  mps_res_t res = tdo_gcseg_alloc(&seg, &amc->pool, gen, sizeof(amc_seg_t),
                                  size, amc->leaf);

  if (res != MPS_RES_OK)
    return res;
  *seg_o = tdo_amc_seg_of(seg);
  (*seg_o)->scanned = seg->seg.base;
  tdo_ring_init(&(*seg_o)->open_ring);
  if (!large)
    (void)tdo_amc_make_pins(amc, *seg_o);
  return MPS_RES_OK;
}

/* Bytes of the largest buffer. */
static size_t amc_buffer_most(const amc_pool_t *amc, const tdo_gen_t *gen) {
  double share = gen->capacity / AMC_BUFFER_SHARE;

  if (share <= 0 || share >= AMC_BUFFER_MOST)
    share = AMC_BUFFER_MOST;
  return tdo_max((size_t)share, amc->extend_by);
}

static mps_res_t amc_fill(tdo_pool_t *pool, tdo_ap_t *ap, size_t size) {
  amc_pool_t *amc = tdo_amc_of(pool);
  tdo_gen_t *gen = tdo_chain_gen(amc->chain, ap->gen);
  size_t want = tdo_max(size, ap->next_size);
  amc_seg_t *seg;
  mps_res_t res;

  if (size >= amc->large || pool->heap->stress.each != 0)
    want = size; /* under stress, to have many chances to collect */
  res = tdo_amc_new_seg(&seg, amc, gen, want, size >= amc->large);
  if (res != MPS_RES_OK && want > size)
    res = tdo_amc_new_seg(&seg, amc, gen, size, size >= amc->large);
  if (res != MPS_RES_OK)
    return res;
  seg->gc.ap = ap;
  if (size >= amc->large) {
    /* Its own extent, nothing else behind it. */
    tdo_ap_attach(ap, seg, seg->gc.seg.base, seg->gc.seg.base + size);
    seg->large = true;
  } else {
    tdo_ap_attach(ap, seg, seg->gc.seg.base, seg->gc.seg.limit);
    ap->next_size = tdo_min(2 * ap->next_size, amc_buffer_most(amc, gen));
  }
  return MPS_RES_OK;
}

static void amc_empty(tdo_pool_t *pool, tdo_ap_t *ap, char *init,
                      char *limit) {
  amc_seg_t *seg = ap->seg;

  (void)pool, (void)limit;
  seg->gc.filled = init;
  seg->gc.ap = NULL;
  seg->scanned = init;
  if (!ap->hash_arrays || ap->gen > 0)
    tdo_gen_fill(seg->gc.gen, tdo_ap_count(ap, init));
  if (init == seg->gc.seg.base && !seg->gc.white)
    tdo_amc_free_seg(seg);
}

static void amc_ramp(tdo_ap_t *ap, bool begin, bool collect_all) {
  amc_pool_t *amc = tdo_amc_of(ap->pool);

  if (begin) {
    ++amc->chain->ramps;
    return;
  }
  amc->chain->ramp_all |= collect_all;
  if (--amc->chain->ramps == 0) {
    amc->pool.heap->full_wanted |= amc->chain->ramp_all;
    amc->chain->ramp_all = false;
    amc->pool.heap->due = true; /* maybe since long */
  }
}

/* ---- walking ---- */

static bool amc_walk(tdo_pool_t *pool, tdo_walk_visit_t visit, void *closure) {
  TDO_RING_FOR(node, &pool->segs) {
    tdo_seg_t *seg = TDO_RING_ENTRY(tdo_seg_t, pool_ring, node);
    tdo_gcseg_t *gc = (tdo_gcseg_t *)(void *)seg;
    char *filled = tdo_gcseg_filled(gc);
    bool more = true;
    tdo_gcseg_expose(gc, seg->base, seg->limit);
    if (seg->base < filled)
      more = visit(closure, pool, seg->base, filled);
    tdo_gcseg_cover(gc, seg->base, seg->limit);
    if (!more)
      return false;
  }
  return true;
}

static bool amc_bare(const tdo_gcseg_t *gc) {
  const amc_seg_t *seg = (const amc_seg_t *)(const void *)gc;

  return tdo_ap_committed(gc->ap) ==
         (seg->first != NULL ? seg->first : gc->seg.base);
}

static mps_res_t amc_addr_object(mps_addr_t *ref_o, tdo_pool_t *pool,
                                 tdo_gcseg_t *gc, mps_addr_t addr) {
  amc_pool_t *amc = tdo_amc_of(pool);
  char *base;
  mps_res_t res = MPS_RES_FAIL;

  if ((char *)addr < tdo_amc_seg_of(gc)->first ||
      (char *)addr >= tdo_gcseg_filled(gc))
    return MPS_RES_FAIL;
  tdo_gcseg_expose(gc, gc->seg.base, gc->seg.limit);
  base = tdo_amc_find(amc, tdo_amc_seg_of(gc), addr);
  if (!tdo_amc_is_pad(amc, tdo_amc_seg_of(gc), base) &&
      pool->format->isfwd(base + pool->format->header) == NULL) {
    *ref_o = base + pool->format->header;
    res = MPS_RES_OK;
  }
  tdo_gcseg_cover(gc, gc->seg.base, gc->seg.limit);
  return res;
}

static mps_addr_t amc_pinned(tdo_pool_t *pool, tdo_gcseg_t *gc,
                             mps_addr_t addr) {
  mps_addr_t ref = NULL;

  if (amc_addr_object(&ref, pool, gc, addr) != MPS_RES_OK ||
      !tdo_amc_pins(tdo_amc_of(pool), (char *)ref - pool->format->header,
                    addr))
    return NULL;
  return ref;
}

#define AMC_METHODS                                                           \
  .sig = TDO_POOL_CLASS_SIG, .size = sizeof(amc_pool_t), .automatic = true,   \
  .moving = true, .varargs = amc_varargs, .init = amc_init,                   \
  .finish = amc_finish, .ap_init = amc_ap_init, .fill = amc_fill,             \
  .empty = amc_empty, .ramp = amc_ramp, .bare = amc_bare,                     \
  .whiten = tdo_amc_whiten,                                                   \
  .pinned = amc_pinned, .fix = tdo_amc_fix, .alive = tdo_amc_alive,           \
  .pause = tdo_amc_pause, .reclaim = tdo_amc_reclaim,                         \
  .tenured = tdo_amc_tenured, .fetch = tdo_amc_fetch, .walk = amc_walk,       \
  .addr_object = amc_addr_object

static const tdo_pool_class_t amc_class = {
    AMC_METHODS,
    .name = "AMC",
    .scanned = true,
    .stays = tdo_amc_stays,
    .pardon = tdo_amc_pardon,
    .scan = tdo_amc_scan,
    .widen = tdo_amc_widen,
    .scan_range = tdo_amc_scan_range,
};

static const tdo_pool_class_t amcz_class = {
    AMC_METHODS,
    .name = "AMCZ",
};

mps_pool_class_t mps_class_amc(void) {
  return (mps_pool_class_t)&amc_class;
}

mps_pool_class_t mps_class_amcz(void) {
  return (mps_pool_class_t)&amcz_class;
}
