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
             [base, scanned) are black, in [scanned, filled) grey.
   .unread   a pinned object has its bit in `unread`, too, until it is scanned
             (not in leaf pools).
   .held     in a white nailed segment, an object with its bit in `held` must
             not move, because something that may yet be found alive refers to
             it ambiguously: it is pinned when it is reached, and else dies.
   .condemned in a white segment, objects in [base, condemned) are white; what
             lies beyond, in the buffer that a point had or has there, was
             allocated since, and is black.
   .starts   starts[c] is the offset, in alignment units, of the first object
             whose base lies in or beyond card c, valid for cards below
             starts_known. */
#include <string.h>
#include "code/args.h"
#include "code/check.h"
#include "mpscamc.h"
#include "pool/amc.h"

#define AMC_EXTEND_DEFAULT 8192
#define AMC_LARGE_DEFAULT  32768
#define AMC_BUFFER_MOST    65536 /* of the mutator: grows to this, */
#define AMC_BUFFER_SHARE   32.0  /* or this part of a generation's capacity */
#define AMC_TO_SIZE        65536 /* of segments that survivors fill */
#define AMC_DENSE          0.6   /* live share that leaves them in place */

static amc_pool_t *amc_of(tdo_pool_t *pool) {
  return (amc_pool_t *)(void *)pool;
}

static amc_seg_t *amc_seg_of(tdo_gcseg_t *seg) {
  return (amc_seg_t *)(void *)seg;
}

/* ---- creation ---- */

static void amc_varargs(mps_arg_s args[], va_list list) {
  args[0].key = MPS_KEY_FORMAT;
  args[0].val.format = va_arg(list, mps_fmt_t);
  args[1].key = MPS_KEY_CHAIN;
  args[1].val.chain = va_arg(list, mps_chain_t);
  args[2].key = MPS_KEY_ARGS_END;
}

static mps_res_t amc_take_chain(amc_pool_t *amc, mps_arg_s args[]) {
  mps_arg_s arg;

  if (tdo_arg_pick(&arg, args, MPS_KEY_CHAIN)) {
    bool good = arg.val.chain != NULL &&
                arg.val.chain->sig == TDO_CHAIN_SIG &&
                arg.val.chain->heap == amc->pool.heap;
    TDO_ASSERT(good, "a pool's chain must belong to the pool's arena");
    if (!good)
      return MPS_RES_PARAM;
    amc->chain = arg.val.chain;
    return MPS_RES_OK;
  }
  return tdo_heap_default_chain(&amc->chain, amc->pool.heap);
}

static mps_res_t amc_take_sizes(amc_pool_t *amc, mps_arg_s args[]) {
  mps_arg_s arg;

  amc->extend_by = AMC_EXTEND_DEFAULT;
  amc->large = AMC_LARGE_DEFAULT;
  amc->interior = true;
  if (tdo_arg_pick(&arg, args, MPS_KEY_EXTEND_BY)) {
    TDO_ASSERT(arg.val.size > 0, "EXTEND_BY must be positive");
    if (arg.val.size == 0)
      return MPS_RES_PARAM;
    amc->extend_by = arg.val.size;
  }
  if (tdo_arg_pick(&arg, args, MPS_KEY_LARGE_SIZE))
    amc->large = arg.val.size;
  if (tdo_arg_pick(&arg, args, MPS_KEY_INTERIOR))
    amc->interior = arg.val.b;
  amc->large = tdo_max(amc->large, amc->extend_by);
  return MPS_RES_OK;
}

static mps_res_t amc_init(tdo_pool_t *pool, mps_arg_s args[]) {
  amc_pool_t *amc = amc_of(pool);
  void *p;
  mps_res_t res = tdo_pool_take_format(pool, args);

  if (res == MPS_RES_OK)
    res = amc_take_sizes(amc, args);
  if (res != MPS_RES_OK)
    return res;
  amc->leaf = !pool->klass->scanned;
  amc->shift = tdo_log2(pool->align);
  tdo_ring_init(&amc->open);
  res = amc_take_chain(amc, args);
  if (res != MPS_RES_OK)
    return res;
  res = tdo_pool_control_alloc(&p, pool,
                               (amc->chain->count + 1) * sizeof(amc_to_t));
  if (res != MPS_RES_OK)
    return res;
  amc->to = p;
  memset(p, 0, (amc->chain->count + 1) * sizeof(amc_to_t));
  for (size_t i = 0; i <= amc->chain->count; ++i)
    amc->to[i].gen = tdo_chain_gen(amc->chain, i);
  ++amc->chain->pools;
  return MPS_RES_OK;
}

static size_t amc_pin_bytes(const amc_seg_t *seg) {
  return 2 * tdo_bits_words(seg->pin_count) * sizeof(tdo_bits_t);
}

/* The pins of every segment but large ones have room from the start: they
   are needed when there is no memory. */
static mps_res_t amc_make_pins(amc_pool_t *amc, amc_seg_t *seg) {
  void *p;
  mps_res_t res;

  seg->pin_count = tdo_seg_size(&seg->gc.seg) >> amc->shift;
  res = tdo_pool_control_alloc(&p, &amc->pool, amc_pin_bytes(seg));
  if (res == MPS_RES_OK)
    seg->pin_table = p;
  return res;
}

static void amc_free_tables(amc_seg_t *seg) {
  if (seg->starts != NULL)
    tdo_pool_control_free(seg->gc.pool, seg->starts,
                          seg->card_count * sizeof(uint32_t));
  if (seg->held != NULL)
    tdo_pool_control_free(seg->gc.pool, seg->held, amc_pin_bytes(seg) / 2);
  seg->pins = seg->unread = seg->held = NULL;
  seg->starts = NULL;
  seg->starts_known = 0;
}

static void amc_free_seg(amc_seg_t *seg) {
  amc_pool_t *amc = amc_of(seg->gc.pool);

  for (size_t i = 0; i <= amc->chain->count; ++i)
    if (amc->to[i].seg == seg)
      amc->to[i].seg = NULL;
  amc_free_tables(seg);
  if (seg->pin_table != NULL)
    tdo_pool_control_free(seg->gc.pool, seg->pin_table, amc_pin_bytes(seg));
  tdo_ring_remove(&seg->open_ring);
  tdo_gcseg_free(&seg->gc);
}

static void amc_finish(tdo_pool_t *pool) {
  amc_pool_t *amc = amc_of(pool);

  TDO_RING_FOR(node, &pool->segs) {
    tdo_seg_t *seg = TDO_RING_ENTRY(tdo_seg_t, pool_ring, node);
    amc_free_seg((amc_seg_t *)(void *)seg);
  }
  --amc->chain->pools;
  tdo_pool_control_free(pool, amc->to,
                        (amc->chain->count + 1) * sizeof(amc_to_t));
}

/* ---- buffers ---- */

static mps_res_t amc_ap_init(tdo_ap_t *ap, mps_arg_s args[]) {
  amc_pool_t *amc = amc_of(ap->pool);
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

static mps_res_t amc_new_seg(amc_seg_t **seg_o, amc_pool_t *amc,
                             tdo_gen_t *gen, size_t size, bool large) {
  tdo_gcseg_t *seg;
  mps_res_t res = tdo_gcseg_alloc(&seg, &amc->pool, gen, sizeof(amc_seg_t),
                                  size, amc->leaf);

  if (res != MPS_RES_OK)
    return res;
  *seg_o = amc_seg_of(seg);
  (*seg_o)->scanned = seg->seg.base;
  tdo_ring_init(&(*seg_o)->open_ring);
  if (!large)
    (void)amc_make_pins(amc, *seg_o);
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
  amc_pool_t *amc = amc_of(pool);
  tdo_gen_t *gen = tdo_chain_gen(amc->chain, ap->gen);
  size_t want = tdo_max(size, ap->next_size);
  amc_seg_t *seg;
  mps_res_t res;

  if (size >= amc->large || pool->heap->stress != 0)
    want = size; /* under stress, to have many chances to collect */
  res = amc_new_seg(&seg, amc, gen, want, size >= amc->large);
  if (res != MPS_RES_OK && want > size)
    res = amc_new_seg(&seg, amc, gen, size, size >= amc->large);
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
    seg->gc.gen->fresh += (double)tdo_ap_count(ap, init);
  if (init == seg->gc.seg.base && !seg->gc.white)
    amc_free_seg(seg);
}

static void amc_ramp(tdo_ap_t *ap, bool begin, bool collect_all) {
  amc_pool_t *amc = amc_of(ap->pool);

  if (begin) {
    ++amc->chain->ramps;
    return;
  }
  --amc->chain->ramps;
  if (collect_all && amc->chain->ramps == 0)
    amc->pool.heap->full_wanted = true;
}

/* ---- finding objects ---- */

static char *amc_next(const amc_pool_t *amc, char *p) {
  return tdo_format_next(amc->pool.format, p);
}

/* Fill the table of object starts of the cards up to the one of ADDR. False
   if there is no memory for it (then walk from the base). */
static bool amc_know_starts(amc_pool_t *amc, amc_seg_t *seg, size_t card) {
  char *base = seg->gc.seg.base, *filled = tdo_gcseg_filled(&seg->gc), *p;
  void *mem;

  if (seg->starts == NULL) {
    seg->card_count = (tdo_seg_size(&seg->gc.seg) >> AMC_CARD_SHIFT) + 1;
    if (tdo_pool_control_alloc(&mem, &amc->pool,
                               seg->card_count * sizeof(uint32_t)) !=
        MPS_RES_OK)
      return false;
    seg->starts = mem;
    seg->starts[0] = 0;
    seg->starts_known = 1;
  }
  p = base + ((size_t)seg->starts[seg->starts_known - 1] << amc->shift);
  while (seg->starts_known <= card && p < filled) {
    size_t c;
    /* P is the last known start; cards up to its end begin at the next. */
    p = amc_next(amc, p);
    c = (size_t)(p - base) >> AMC_CARD_SHIFT;
    while (seg->starts_known <= c && seg->starts_known <= card &&
           seg->starts_known < seg->card_count)
      seg->starts[seg->starts_known++] =
          (uint32_t)((size_t)(p - base) >> amc->shift);
  }
  return seg->starts_known > card;
}

/* Base of the last object that begins at or before ADDR, in a segment with
   at least one object. Verified against the objects as they are now, since
   a client may cut a large block into many (interface, section 11.4). */
static char *amc_find(amc_pool_t *amc, amc_seg_t *seg, char *addr) {
  char *base = seg->gc.seg.base, *p = base, *next;
  size_t card = (size_t)(addr - base) >> AMC_CARD_SHIFT;

  next = amc_next(amc, p);
  if (next <= addr && card > 0) {
    /* Start in the nearest earlier card that has a start before ADDR. */
    if (amc_know_starts(amc, seg, card))
      while (card > 0) {
        char *start = base + ((size_t)seg->starts[card] << amc->shift);
        if (start <= addr) {
          p = start;
          break;
        }
        --card;
      }
    next = amc_next(amc, p);
  }
  while (next <= addr) {
    p = next;
    next = amc_next(amc, p);
  }
  return p;
}

/* ---- pinning ---- */

static tdo_gen_t *amc_next_gen(amc_pool_t *amc, tdo_gen_t *gen) {
  tdo_heap_t *heap = amc->pool.heap;

  if (gen->chain == NULL)
    return gen;
  return heap->trace.skipping && gen->chain == heap->trace.chain
             ? &heap->top
             : tdo_chain_gen(amc->chain, gen->index + 1);
}

/* The collector needs white SEG open: an ordinary one until it is freed, a
   nailed one, which the mutator may reach, until this slice ends. */
static void amc_open(amc_pool_t *amc, amc_seg_t *seg) {
  if (TDO_LIKELY(seg->gc.open))
    return;
  if (!seg->gc.nailed) {
    tdo_gcseg_open_white(&seg->gc);
    return;
  }
  seg->gc.open = true;
  tdo_ring_append(&amc->open, &seg->open_ring);
  tdo_gcseg_expose(&seg->gc, seg->gc.seg.base, seg->gc.seg.limit);
}

/* End the exposure of a nailed segment. */
static void amc_close(amc_seg_t *seg) {
  if (!seg->gc.open || tdo_ring_empty(&seg->open_ring))
    return;
  seg->gc.open = false;
  tdo_ring_remove(&seg->open_ring);
  tdo_gcseg_cover(&seg->gc, seg->gc.seg.base, seg->gc.seg.limit);
}

/* Is there one object in SEG, as in most large ones? */
static bool amc_is_single(const amc_pool_t *amc, const amc_seg_t *seg) {
  return seg->large && amc_next(amc, seg->gc.seg.base) == seg->condemned;
}

/* Begin with no pins. */
static void amc_use_pins(amc_seg_t *seg) {
  seg->pins = seg->pin_table;
  seg->unread = seg->pins + tdo_bits_words(seg->pin_count);
  memset(seg->pins, 0, amc_pin_bytes(seg));
}

/* Give SEG a table of pins; failing that, keep the whole of it. */
static void amc_nail(amc_pool_t *amc, amc_seg_t *seg) {
  if (seg->gc.nailed)
    return;
  seg->gc.nailed = true;
  seg->gc.open = false; /* what was opened for good may be barred again */
  if (seg->pin_table == NULL &&
      (amc_is_single(amc, seg) || amc_make_pins(amc, seg) != MPS_RES_OK)) {
    seg->kept = true;
    return;
  }
  amc_use_pins(seg);
}

/* The segment has something to scan. */
static void amc_grey(amc_pool_t *amc, amc_seg_t *seg) {
  if (!amc->leaf)
    tdo_gcseg_set_grey(&seg->gc);
}

static size_t amc_pin_index(const amc_pool_t *amc, const amc_seg_t *seg,
                            const char *base) {
  return (size_t)(base - seg->gc.seg.base) >> amc->shift;
}

static bool amc_is_pinned(const amc_pool_t *amc, const amc_seg_t *seg,
                          const char *base) {
  return seg->pins != NULL &&
         tdo_bits_get(seg->pins, amc_pin_index(amc, seg, base));
}

/* The table of a segment that is collected in place is cleared when the first
   object is found in it. */
static void amc_clean_pins(amc_seg_t *seg) {
  if (seg->in_place && seg->pins == NULL)
    amc_use_pins(seg);
}

/* The object at BASE stays in place. */
static void amc_pin(amc_pool_t *amc, amc_seg_t *seg, char *base) {
  amc_nail(amc, seg);
  amc_clean_pins(seg);
  if (seg->pins != NULL) {
    size_t i = amc_pin_index(amc, seg, base);
    if (tdo_bits_get(seg->pins, i))
      return;
    tdo_bits_set(seg->pins, i);
    tdo_bits_set(seg->unread, i);
  }
  amc_grey(amc, seg);
}

/* Room for .held; false if there is none. */
static bool amc_make_held(amc_pool_t *amc, amc_seg_t *seg) {
  void *p;

  if (seg->held != NULL)
    return true;
  if (seg->kept ||
      (seg->pin_table == NULL && amc_make_pins(amc, seg) != MPS_RES_OK) ||
      tdo_pool_control_alloc(&p, &amc->pool, amc_pin_bytes(seg) / 2) !=
          MPS_RES_OK)
    return false;
  seg->held = p;
  memset(seg->held, 0, amc_pin_bytes(seg) / 2);
  amc_nail(amc, seg);
  return true;
}

/* The object at BASE stays in place, if it lives. */
static void amc_hold(amc_pool_t *amc, amc_seg_t *seg, char *base) {
  if (seg->in_place)
    return; /* as everything in it */
  if (amc_make_held(amc, seg))
    tdo_bits_set(seg->held, amc_pin_index(amc, seg, base));
  else
    amc_pin(amc, seg, base);
}

static bool amc_is_held(const amc_pool_t *amc, const amc_seg_t *seg,
                        const char *base) {
  return seg->held != NULL &&
         tdo_bits_get(seg->held, amc_pin_index(amc, seg, base));
}

/* Does the ambiguous reference ADDR, into the object at BASE, keep it? */
static bool amc_pins(const amc_pool_t *amc, const char *base,
                     const char *addr) {
  size_t ref = (size_t)base + amc->pool.format->header;

  return amc->interior || tdo_round_down((size_t)addr, amc->pool.align) ==
                              tdo_round_down(ref, amc->pool.align);
}

/* An ambiguous reference: pin, or hold, what it points into, if anything. */
static mps_res_t amc_fix_ambig(amc_pool_t *amc, tdo_scan_t *scan,
                               amc_seg_t *seg, char *addr) {
  char *base;

  scan->ss._seen |= seg->gc.gen->bit;
  if (addr >= seg->condemned || (seg->kept && seg->pins == NULL))
    return MPS_RES_OK;
  if (seg->gc.nailed && !seg->in_place)
    amc_open(amc, seg);
  base = amc_find(amc, seg, addr);
  if (!amc_pins(amc, base, addr) ||
      amc->pool.format->isfwd(base + amc->pool.format->header) != NULL)
    return MPS_RES_OK;
  if (scan->hold)
    amc_hold(amc, seg, base);
  else
    amc_pin(amc, seg, base);
  return MPS_RES_OK;
}

/* ---- copying ---- */

static void amc_to_cover(amc_to_t *to) {
  if (to->exposed) {
    to->exposed = false;
    tdo_gcseg_cover(&to->seg->gc, to->seg->gc.seg.base, to->seg->gc.seg.limit);
  }
}

static void amc_to_expose(amc_to_t *to) {
  if (!to->exposed) {
    to->exposed = true;
    tdo_gcseg_expose(&to->seg->gc, to->seg->gc.seg.base,
                     to->seg->gc.seg.limit);
  }
}

/* Bytes of an ordinary new segment for survivors: small while the generation
   is, so that small arenas stay small. */
static size_t amc_to_size(const amc_pool_t *amc, const amc_to_t *to) {
  size_t share = (size_t)(to->gen->size / 16);

  return tdo_max(amc->extend_by, tdo_min(share, AMC_TO_SIZE));
}

/* Make TO have room for SIZE bytes. */
static mps_res_t amc_to_fill(amc_pool_t *amc, amc_to_t *to, size_t size) {
  size_t want =
      size >= amc->large ? size : tdo_max(size, amc_to_size(amc, to));
  amc_seg_t *seg;
  mps_res_t res;

  if (amc->pool.heap->trace.emergency)
    want = size;
  res = amc_new_seg(&seg, amc, to->gen, want, size >= amc->large);
  if (res != MPS_RES_OK && want > size)
    res = amc_new_seg(&seg, amc, to->gen, size, size >= amc->large);
  if (res != MPS_RES_OK)
    return res;
  if (!amc->leaf) {
    /* The mutator cannot reach it before it is black: nothing to remember
       but what scanning will find. */
    tdo_heap_t *heap = amc->pool.heap;
    tdo_gcseg_summarize(&seg->gc, tdo_heap_page(heap, seg->gc.seg.base),
                        tdo_heap_page(heap, seg->gc.seg.limit), 0);
    if (to->gen->chain == NULL)
      tdo_gcseg_trust(&seg->gc);
  }
  seg->large = size >= amc->large;
  to->gen->fresh += (double)tdo_seg_size(&seg->gc.seg);
  if (seg->large) { /* do not give up a half-full ordinary one for it */
    to->large = seg;
    return MPS_RES_OK;
  }
  if (to->seg != NULL) {
    amc_to_cover(to);
    to->seg->gc.filling = false;
  }
  seg->gc.filling = true;
  to->seg = seg;
  to->exposed = false;
  return MPS_RES_OK;
}

/* Room for SIZE bytes in generation TO; null if there is no memory. */
static char *amc_to_alloc(amc_seg_t **seg_o, amc_pool_t *amc, amc_to_t *to,
                          size_t size) {
  amc_seg_t *seg = to->seg;
  char *p;

  if (seg == NULL || size >= amc->large ||
      size > (size_t)(seg->gc.seg.limit - seg->gc.filled)) {
    if (amc_to_fill(amc, to, size) != MPS_RES_OK)
      return NULL;
    seg = size >= amc->large ? to->large : to->seg;
  }
  if (seg == to->seg) {
    if (TDO_UNLIKELY(!to->exposed))
      amc_to_expose(to);
  } else {
    tdo_gcseg_expose(&seg->gc, seg->gc.seg.base, seg->gc.seg.limit);
  }
  p = seg->gc.filled;
  seg->gc.filled = p + size;
  if (!amc->leaf && TDO_UNLIKELY(!seg->gc.grey))
    tdo_gcseg_set_grey(&seg->gc);
  *seg_o = seg;
  return p;
}

/* Copy SIZE bytes; most objects are a few words, and most pools' objects are
   aligned to words. */
static inline void amc_copy_bytes(char *to, const char *from, size_t size) {
  if (size <= 64 && ((size | (tdo_word_t)to | (tdo_word_t)from) &
                     (sizeof(tdo_word_t) - 1)) == 0) {
    const tdo_word_t *f = (const tdo_word_t *)(const void *)from;
    tdo_word_t *t = (tdo_word_t *)(void *)to;
    for (; size > 0; size -= sizeof(tdo_word_t))
      *t++ = *f++;
  } else {
    memcpy(to, from, size);
  }
}

/* Copy the object at BASE out of SEG; null if there is no memory. */
static char *amc_copy(amc_pool_t *amc, amc_seg_t *seg, char *base,
                      tdo_scan_t *scan) {
  tdo_format_t *fmt = amc->pool.format;
  tdo_gen_t *gen = amc_next_gen(amc, seg->gc.gen);
  amc_to_t *to = &amc->to[gen->chain == NULL ? amc->chain->count : gen->index];
  size_t size = (size_t)(amc_next(amc, base) - base);
  amc_seg_t *dest;
  char *copy = amc_to_alloc(&dest, amc, to, size);

  if (copy == NULL)
    return NULL;
  amc_copy_bytes(copy, base, size);
  if (dest != to->seg)
    tdo_gcseg_cover(&dest->gc, dest->gc.seg.base, dest->gc.seg.limit);
  fmt->fwd(base + fmt->header, copy + fmt->header);
  amc->pool.heap->trace.survived += size;
  seg->gc.gen->survived += (double)size;
  scan->ss._seen |= gen->bit;
  return copy;
}

/* A large object alone in its segment moves by changing its generation. */
static bool amc_promote_large(amc_pool_t *amc, amc_seg_t *seg,
                              tdo_scan_t *scan) {
  tdo_gen_t *gen = amc_next_gen(amc, seg->gc.gen);
  char *base = seg->gc.seg.base;
  size_t size = (size_t)(seg->condemned - base);

  if (!seg->large || amc->pool.heap->trace.move_all || seg->gc.nailed ||
      seg->gc.ap != NULL || amc_next(amc, base) != seg->gc.filled)
    return false;
  amc->pool.heap->trace.survived += size;
  seg->gc.gen->survived += (double)size;
  seg->gc.open = false;
  tdo_gcseg_clear_white(&seg->gc);
  tdo_gcseg_promote(&seg->gc, gen);
  gen->fresh += (double)tdo_seg_size(&seg->gc.seg);
  scan->ss._seen |= gen->bit;
  seg->scanned = base;
  if (!amc->leaf)
    tdo_gcseg_set_grey(&seg->gc);
  return true;
}

/* An exact reference to an object of a nailed segment. */
static mps_res_t amc_fix_nailed(amc_pool_t *amc, tdo_scan_t *scan,
                                amc_seg_t *seg, mps_addr_t *ref_io) {
  tdo_format_t *fmt = amc->pool.format;
  char *base = (char *)*ref_io - fmt->header;
  mps_addr_t moved;

  amc_open(amc, seg);
  moved = fmt->isfwd(*ref_io);
  if (moved != NULL) {
    *ref_io = moved;
    scan->ss._seen |= amc_next_gen(amc, seg->gc.gen)->bit;
  } else if (amc_is_pinned(amc, seg, base) || seg->kept) {
    scan->ss._seen |= seg->gc.gen->bit;
  } else if (scan->rank == TDO_RANK_WEAK) {
    *ref_io = NULL;
  } else {
    char *copy = amc_is_held(amc, seg, base)
                     ? NULL
                     : amc_copy(amc, seg, base, scan);
    if (copy != NULL) {
      *ref_io = copy + fmt->header;
    } else {
      amc_pin(amc, seg, base);
      scan->ss._seen |= seg->gc.gen->bit;
    }
  }
  return MPS_RES_OK;
}

/* An exact reference into a segment that is collected in place: nothing but
   tables is touched. */
static mps_res_t amc_fix_in_place(amc_pool_t *amc, tdo_scan_t *scan,
                                  amc_seg_t *seg, mps_addr_t *ref_io) {
  char *base = (char *)*ref_io - amc->pool.format->header;
  size_t i = amc_pin_index(amc, seg, base);

  amc_clean_pins(seg);
  scan->ss._seen |= seg->gc.gen->bit;
  if (tdo_bits_get(seg->pins, i))
    return MPS_RES_OK;
  if (scan->rank == TDO_RANK_WEAK) {
    *ref_io = NULL;
    return MPS_RES_OK;
  }
  tdo_bits_set(seg->pins, i);
  if (!amc->leaf) {
    tdo_bits_set(seg->unread, i);
    if (!seg->gc.grey)
      tdo_gcseg_set_grey(&seg->gc);
  }
  return MPS_RES_OK;
}

static mps_res_t amc_fix(tdo_pool_t *pool, tdo_scan_t *scan, tdo_gcseg_t *gc,
                         mps_addr_t *ref_io) {
  amc_pool_t *amc = amc_of(pool);
  amc_seg_t *seg = amc_seg_of(gc);
  tdo_format_t *fmt = pool->format;
  char *base = (char *)*ref_io - fmt->header, *copy;
  mps_addr_t moved;

  if (scan->rank == TDO_RANK_AMBIG)
    return amc_fix_ambig(amc, scan, seg, *ref_io);
  if (TDO_COOL && (((tdo_word_t)base & (pool->align - 1)) != 0 ||
                   base < gc->seg.base)) {
    TDO_ASSERT(false, "an exact reference leads to no object");
    return MPS_RES_OK;
  }
  if (TDO_UNLIKELY(base >= seg->condemned)) { /* black */
    scan->ss._seen |= gc->gen->bit;
    return MPS_RES_OK;
  }
  if (TDO_UNLIKELY(seg->gc.nailed))
    return seg->in_place ? amc_fix_in_place(amc, scan, seg, ref_io)
                         : amc_fix_nailed(amc, scan, seg, ref_io);
  moved = fmt->isfwd(*ref_io);
  if (moved != NULL) {
    *ref_io = moved;
    scan->ss._seen |= amc_next_gen(amc, gc->gen)->bit;
    return MPS_RES_OK;
  }
  if (scan->rank == TDO_RANK_WEAK) {
    *ref_io = NULL;
    return MPS_RES_OK;
  }
  if (TDO_UNLIKELY(seg->large) && amc_promote_large(amc, seg, scan))
    return MPS_RES_OK;
  amc_open(amc, seg);
  copy = amc_copy(amc, seg, base, scan);
  if (copy == NULL) {
    pool->heap->trace.emergency = true;
    amc_pin(amc, seg, base);
    scan->ss._seen |= gc->gen->bit;
    return MPS_RES_OK;
  }
  *ref_io = copy + fmt->header;
  return MPS_RES_OK;
}

/* ---- scanning ---- */

/* Scan all that has not moved of a kept segment. */
static mps_res_t amc_scan_kept(amc_pool_t *amc, tdo_scan_t *scan,
                               amc_seg_t *seg) {
  tdo_format_t *fmt = amc->pool.format;
  char *p = seg->gc.seg.base, *next;
  mps_res_t res = MPS_RES_OK;

  for (; p < seg->condemned && res == MPS_RES_OK; p = next) {
    next = amc_next(amc, p);
    if (fmt->isfwd(p + fmt->header) == NULL)
      res = tdo_scan_formatted(scan, &amc->pool, p, next);
  }
  return res;
}

/* Scan the pinned objects that were not scanned yet, and those that this
   pins. */
static mps_res_t amc_scan_pinned(amc_pool_t *amc, tdo_scan_t *scan,
                                 amc_seg_t *seg) {
  size_t i = 0, n = seg->pin_count;

  while ((i = tdo_bits_next_set(seg->unread, i, n)) < n ||
         (i = tdo_bits_next_set(seg->unread, 0, n)) < n) {
    char *p = seg->gc.seg.base + (i << amc->shift), *q = p;
    mps_res_t res;
    do { /* neighbours are scanned as one */
      tdo_bits_clear(seg->unread, i);
      q = amc_next(amc, q);
      i = amc_pin_index(amc, seg, q);
    } while (i < n && tdo_bits_get(seg->unread, i));
    seg->marked += (size_t)(q - p);
    res = tdo_scan_formatted(scan, &amc->pool, p, q);
    if (res != MPS_RES_OK)
      return res;
  }
  return MPS_RES_OK;
}

/* Scan what stays in a nailed white segment. */
static mps_res_t amc_scan_nailed(amc_pool_t *amc, tdo_scan_t *scan,
                                 amc_seg_t *seg) {
  mps_res_t res = seg->kept ? amc_scan_kept(amc, scan, seg)
                            : amc_scan_pinned(amc, scan, seg);

  /* The summary that is made of this covers the black ones, too. */
  if (res == MPS_RES_OK && seg->gc.ap == NULL)
    res = tdo_scan_formatted(scan, &amc->pool, seg->condemned, seg->gc.filled);
  return res;
}

static mps_res_t amc_scan(tdo_pool_t *pool, tdo_scan_t *scan,
                          tdo_gcseg_t *gc) {
  amc_seg_t *seg = amc_seg_of(gc);

  if (gc->white)
    return amc_scan_nailed(amc_of(pool), scan, seg);
  while (seg->scanned < gc->filled) {
    char *base = seg->scanned, *limit = gc->filled;
    mps_res_t res = tdo_scan_formatted(scan, pool, base, limit);
    if (res != MPS_RES_OK)
      return res;
    seg->scanned = limit;
  }
  return MPS_RES_OK;
}

static void amc_widen(tdo_pool_t *pool, tdo_gcseg_t *gc, char **base_io,
                      char **limit_io) {
  amc_pool_t *amc = amc_of(pool);
  amc_seg_t *seg = amc_seg_of(gc);
  char *filled = tdo_gcseg_filled(gc);

  if (*base_io >= filled) {
    *limit_io = *base_io;
    return;
  }
  *base_io = amc_find(amc, seg, *base_io);
  *limit_io = *limit_io >= filled
                  ? filled
                  : amc_next(amc, amc_find(amc, seg, *limit_io - 1));
}

static mps_res_t amc_scan_range(tdo_pool_t *pool, tdo_scan_t *scan,
                                tdo_gcseg_t *gc, char *base, char *limit) {
  (void)gc;
  return tdo_scan_formatted(scan, pool, base, limit);
}

/* ---- the collection's start and end ---- */

/* Is white SEG to be collected in place? Not if it was found sparse the last
   time: then its survivors move together. */
static bool amc_may_stay(const amc_pool_t *amc, const amc_seg_t *seg) {
  size_t filled = (size_t)(seg->condemned - seg->gc.seg.base);

  return amc->pool.heap->trace.in_place && seg->gc.gen->chain == NULL &&
         !seg->large && seg->pin_table != NULL && seg->gc.ap == NULL &&
         (seg->live == 0 || (double)seg->live > AMC_DENSE * (double)filled);
}

static void amc_whiten(tdo_pool_t *pool, tdo_gcseg_t *gc) {
  amc_pool_t *amc = amc_of(pool);
  amc_seg_t *seg = amc_seg_of(gc);

  for (size_t i = 0; i <= amc->chain->count; ++i)
    if (amc->to[i].seg == seg)
      amc->to[i].seg = NULL;
  gc->filling = false;
  gc->filled = seg->condemned = tdo_gcseg_filled(gc);
  TDO_CHECK(!seg->gc.nailed && !seg->kept && seg->pins == NULL);
  seg->marked = 0;
  seg->in_place = amc_may_stay(amc, seg);
  gc->nailed = seg->in_place;
}

static void amc_tenured(tdo_pool_t *pool, tdo_gcseg_t *gc) {
  amc_pool_t *amc = amc_of(pool);

  for (size_t i = 0; i <= amc->chain->count; ++i)
    if (amc->to[i].seg == amc_seg_of(gc))
      amc->to[i].seg = NULL;
  gc->filling = false;
}

static void amc_pause(tdo_pool_t *pool) {
  amc_pool_t *amc = amc_of(pool);

  for (size_t i = 0; i <= amc->chain->count; ++i)
    amc_to_cover(&amc->to[i]);
  TDO_RING_FOR(node, &amc->open)
  amc_close(TDO_RING_ENTRY(amc_seg_t, open_ring, node));
}

static bool amc_stays(amc_pool_t *amc, amc_seg_t *seg, char *base) {
  tdo_format_t *fmt = amc->pool.format;

  return amc_is_pinned(amc, seg, base) ||
         (seg->kept && fmt->isfwd(base + fmt->header) == NULL);
}

static bool amc_alive(tdo_pool_t *pool, tdo_gcseg_t *gc, mps_addr_t *ref_io) {
  amc_pool_t *amc = amc_of(pool);
  amc_seg_t *seg = amc_seg_of(gc);
  char *base = (char *)*ref_io - pool->format->header;
  bool alive;
  mps_addr_t moved;

  if (base >= seg->condemned)
    return true;
  if (seg->in_place)
    return amc_is_pinned(amc, seg, base);
  if (seg->gc.nailed)
    amc_open(amc, seg);
  moved = pool->format->isfwd(*ref_io);
  alive = moved != NULL || (seg->gc.nailed && amc_stays(amc, seg, base));
  if (moved != NULL)
    *ref_io = moved;
  return alive;
}

/* Overwrite the dead [BASE, LIMIT) with one padding object. */
static void amc_pad(amc_pool_t *amc, char *base, char *limit) {
  if (base < limit)
    amc->pool.format->pad(base, (size_t)(limit - base));
}

/* Give back the whole grains of dead [seg.base, FIRST), which is then where
   the segment's objects begin, and pad the rest. */
static void amc_cut_front(amc_pool_t *amc, amc_seg_t *seg, char *first) {
  tdo_space_t *sp = tdo_pool_space(&amc->pool);
  char *base = tdo_space_addr(sp, tdo_space_grain(sp, first));

  if (base > seg->gc.seg.base)
    tdo_gcseg_shrink(&seg->gc, seg->gc.seg.base, base);
  amc_pad(amc, seg->gc.seg.base, first);
}

/* What is left of the nailed SEG: pads between what stays, and the grains at
   both ends given back. */
static void amc_reclaim_nailed(amc_pool_t *amc, amc_seg_t *seg) {
  tdo_space_t *sp = tdo_pool_space(&amc->pool);
  char *p = seg->gc.seg.base, *first = NULL, *dead = p, *next, *end;
  size_t live = 0;

  for (; p < seg->gc.filled; p = next) {
    next = amc_next(amc, p);
    if (!amc_stays(amc, seg, p))
      continue;
    if (first == NULL)
      first = p;
    else
      amc_pad(amc, dead, p);
    dead = next;
    live += (size_t)(next - p);
  }
  if (first == NULL) {
    amc_free_seg(seg);
    return;
  }
  seg->gc.filled = seg->scanned = dead;
  seg->live = live;
  amc->pool.heap->trace.survived += live;
  amc_free_tables(seg);
  seg->gc.nailed = seg->kept = seg->in_place = false;
  end = sp->base +
        tdo_round_up((size_t)(dead - sp->base), (size_t)1 << sp->grain_shift);
  if (end < seg->gc.seg.limit)
    tdo_gcseg_shrink(&seg->gc, end, seg->gc.seg.limit);
  amc_cut_front(amc, seg, first);
  amc_close(seg);
  tdo_gcseg_clear_white(&seg->gc);
}

/* A segment with black objects, or a buffer, beyond the white ones: these
   stay. Pinned objects before them just get pads between. */
static void amc_reclaim_tail(amc_pool_t *amc, amc_seg_t *seg) {
  tdo_gcseg_t *gc = &seg->gc;
  char *p = gc->seg.base, *next;

  amc_close(seg);
  tdo_gcseg_expose(gc, gc->seg.base, gc->seg.limit);
  if (gc->nailed) {
    for (; p < seg->condemned; p = next) {
      next = amc_next(amc, p);
      if (!amc_stays(amc, seg, p))
        amc_pad(amc, p, next);
    }
  } else {
    amc_cut_front(amc, seg, seg->condemned);
  }
  amc_free_tables(seg);
  gc->nailed = gc->open = seg->kept = false;
  tdo_gcseg_cover(gc, gc->seg.base, gc->seg.limit);
  tdo_gcseg_dirty(gc, gc->seg.base, gc->seg.limit);
  tdo_gcseg_clear_white(gc);
}

/* A leaf's point whose buffer was full at the flip gets nothing more here. */
static void amc_part(amc_seg_t *seg) {
  tdo_ap_t *ap = seg->gc.ap;

  if (ap != NULL && seg->condemned == ap->limit) {
    ap->seg = NULL;
    seg->gc.ap = NULL;
  }
}

/* Everything in SEG survived in place. */
static void amc_reclaim_full(amc_pool_t *amc, amc_seg_t *seg) {
  seg->live = seg->marked;
  amc->pool.heap->trace.survived += seg->marked;
  seg->pins = seg->unread = NULL;
  seg->gc.nailed = seg->in_place = false;
  tdo_gcseg_clear_white(&seg->gc);
}

static void amc_reclaim(tdo_pool_t *pool, tdo_gcseg_t *gc) {
  amc_pool_t *amc = amc_of(pool);
  amc_seg_t *seg = amc_seg_of(gc);
  size_t filled = (size_t)(seg->condemned - gc->seg.base);

  amc_part(seg);
  if (gc->ap != NULL || gc->filled > seg->condemned) {
    amc_reclaim_tail(amc, seg);
  } else if (seg->in_place && seg->pins == NULL) {
    amc_free_seg(seg);
  } else if (seg->in_place && seg->marked == filled) {
    amc_reclaim_full(amc, seg);
  } else if (seg->gc.nailed) {
    amc_open(amc, seg);
    amc_reclaim_nailed(amc, seg);
  } else {
    amc_free_seg(seg);
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

static mps_res_t amc_addr_object(mps_addr_t *ref_o, tdo_pool_t *pool,
                                 tdo_gcseg_t *gc, mps_addr_t addr) {
  amc_pool_t *amc = amc_of(pool);
  char *base;
  mps_res_t res = MPS_RES_FAIL;

  if ((char *)addr >= tdo_gcseg_filled(gc))
    return MPS_RES_FAIL;
  tdo_gcseg_expose(gc, gc->seg.base, gc->seg.limit);
  base = amc_find(amc, amc_seg_of(gc), addr);
  if (pool->format->isfwd(base + pool->format->header) == NULL) {
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
      !amc_pins(amc_of(pool), (char *)ref - pool->format->header, addr))
    return NULL;
  return ref;
}

#define AMC_METHODS                                                           \
  .sig = TDO_POOL_CLASS_SIG, .size = sizeof(amc_pool_t), .automatic = true,   \
  .moving = true, .varargs = amc_varargs, .init = amc_init,                   \
  .finish = amc_finish, .ap_init = amc_ap_init, .fill = amc_fill,             \
  .empty = amc_empty, .ramp = amc_ramp, .whiten = amc_whiten,                 \
  .pinned = amc_pinned, .fix = amc_fix, .alive = amc_alive,                   \
  .pause = amc_pause, .reclaim = amc_reclaim, .tenured = amc_tenured,         \
  .walk = amc_walk, .addr_object = amc_addr_object

static const tdo_pool_class_t amc_class = {
    AMC_METHODS,      .name = "AMC",      .scanned = true,
    .scan = amc_scan, .widen = amc_widen, .scan_range = amc_scan_range,
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
