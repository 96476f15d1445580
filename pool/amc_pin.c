/* Testudo: mostly-copying pools: objects found by any address in them, and
   pinned (.pins, .read, .held and .starts in amc.c).
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "code/check.h"
#include "pool/amc.h"

/* ---- finding objects ---- */

/* .starts: has any offset within SEG's cards so few bits? */
static inline bool amc_starts_fit(const amc_seg_t *seg, unsigned bits) {
  unsigned shift = tdo_amc_of(seg->gc.pool)->shift;

  return seg->card_count << TDO_SCAN_CARD_SHIFT >> shift >> bits == 0;
}

size_t tdo_amc_starts_bytes(const amc_seg_t *seg) {
  return seg->card_count *
         (amc_starts_fit(seg, 16) ? sizeof(uint16_t) : sizeof(uint32_t));
}

/* The first object in or beyond CARD; the next entry, of the same. */
static inline char *amc_start(const amc_pool_t *amc, const amc_seg_t *seg,
                              size_t card) {
  const uint16_t *narrow = seg->starts;
  const uint32_t *wide = seg->starts;
  size_t units = amc_starts_fit(seg, 16) ? narrow[card] : wide[card];

  return seg->gc.seg.base + (units << amc->shift);
}

static inline void amc_start_next(const amc_pool_t *amc, amc_seg_t *seg,
                                  const char *start) {
  size_t units = (size_t)(start - seg->gc.seg.base) >> amc->shift;

  if (amc_starts_fit(seg, 16))
    ((uint16_t *)seg->starts)[seg->starts_known++] = (uint16_t)units;
  else
    ((uint32_t *)seg->starts)[seg->starts_known++] = (uint32_t)units;
}

/* .cut: forget starts that may be none any more. The second object is at NEXT.
 */
static void amc_forget_starts(amc_seg_t *seg, const char *next) {
  const tdo_heap_t *heap = seg->gc.pool->heap;

  if (seg->starts_cuts == heap->cuts && seg->starts_next == next)
    return;
  seg->starts_cuts = heap->cuts;
  seg->starts_next = next;
  if (seg->starts != NULL)
    seg->starts_known = 1; /* the base */
}

/* Fill the table of object starts up to CARD. False if there is no memory for
   it, or it would be too large (then walk from the base). */
static bool amc_know_starts(amc_pool_t *amc, amc_seg_t *seg, size_t card) {
  char *base = seg->gc.seg.base, *filled = tdo_gcseg_filled(&seg->gc), *p;

  if (seg->starts == NULL) {
    seg->card_count = tdo_seg_size(&seg->gc.seg) >> TDO_SCAN_CARD_SHIFT;
    if (!amc_starts_fit(seg, 32) ||
        tdo_pool_control_alloc(&seg->starts, &amc->pool,
                               tdo_amc_starts_bytes(seg)) != MPS_RES_OK)
      return false;
    amc_start_next(amc, seg, base);
  }
  p = amc_start(amc, seg, seg->starts_known - 1);
  while (seg->starts_known <= card && p < filled) {
    size_t c;
    /* P is the last known start; cards up to its end begin at the next. */
    p = tdo_amc_next(amc, p);
    c = tdo_min((size_t)(p - base) >> TDO_SCAN_CARD_SHIFT, card);
    while (seg->starts_known <= c)
      amc_start_next(amc, seg, p);
  }
  return seg->starts_known > card;
}

/* Base of the last object that begins at or before ADDR, in a segment with
   at least one object, as the objects are now: a client may cut a large block
   into many (interface, section 11.4). */
char *tdo_amc_find(amc_pool_t *amc, amc_seg_t *seg, char *addr) {
  char *base = seg->gc.seg.base, *p = base, *next;
  size_t card = (size_t)(addr - base) >> TDO_SCAN_CARD_SHIFT;

  next = tdo_amc_next(amc, p);
  if (next <= addr && card > 0) {
    amc_forget_starts(seg, next);
    /* Start in the nearest earlier card that has a start before ADDR. */
    if (amc_know_starts(amc, seg, card))
      while (card > 0) {
        char *start = amc_start(amc, seg, card);
        if (start <= addr) {
          p = start;
          break;
        }
        --card;
      }
    next = tdo_amc_next(amc, p);
  }
  while (next <= addr) {
    p = next;
    next = tdo_amc_next(amc, p);
  }
  return p;
}

/* ---- pinning ---- */

void tdo_amc_open_now(amc_pool_t *amc, amc_seg_t *seg) {
  if (!seg->gc.nailed) {
    tdo_gcseg_open_white(&seg->gc);
    return;
  }
  seg->gc.open = true;
  seg->opened += seg->opened < UINT8_MAX;
  tdo_ring_append(&amc->open, &seg->open_ring);
  tdo_gcseg_expose(&seg->gc, seg->gc.seg.base, seg->gc.seg.limit);
}

/* End the exposure of a nailed segment. */
void tdo_amc_close(amc_seg_t *seg) {
  if (!seg->gc.open || tdo_ring_empty(&seg->open_ring))
    return;
  seg->gc.open = false;
  tdo_ring_remove(&seg->open_ring);
  tdo_gcseg_cover(&seg->gc, seg->gc.seg.base, seg->gc.seg.limit);
}

/* Is there one object in SEG, as in most large ones? */
static bool amc_is_single(const amc_pool_t *amc, const amc_seg_t *seg) {
  return seg->large && tdo_amc_next(amc, seg->gc.seg.base) == seg->condemned;
}

/* Give SEG a table of pins; failing that, keep the whole of it. */
static void amc_nail(amc_pool_t *amc, amc_seg_t *seg) {
  if (seg->gc.nailed)
    return;
  seg->gc.nailed = true;
  seg->gc.express = NULL;
  seg->gc.open = false; /* what was opened for good may be barred again */
  if (seg->pin_table == NULL &&
      (amc_is_single(amc, seg) || tdo_amc_make_pins(amc, seg) != MPS_RES_OK)) {
    seg->kept = true;
    return;
  }
  tdo_amc_use_pins(seg);
}

void tdo_amc_shift_pads(amc_seg_t *seg) {
  size_t words = tdo_bits_words(seg->pin_count);
  size_t by = (size_t)(seg->gc.seg.base - seg->padded) >>
              tdo_amc_of(seg->gc.pool)->shift;
  size_t drop = by / TDO_WORD_BITS;

  by %= TDO_WORD_BITS;
  for (size_t w = 0; w < words; ++w) {
    tdo_bits_t low = w + drop < words ? seg->read[w + drop] : 0;
    tdo_bits_t high = w + drop + 1 < words ? seg->read[w + drop + 1] : 0;
    seg->read[w] = by == 0 ? low : low >> by | high << (TDO_WORD_BITS - by);
  }
  seg->padded = seg->gc.seg.base;
}

/* The segment has something to scan. */
void tdo_amc_grey(amc_pool_t *amc, amc_seg_t *seg) {
  if (!amc->leaf)
    tdo_gcseg_set_grey(&seg->gc);
}

/* The object at BASE stays in place. */
void tdo_amc_pin(amc_pool_t *amc, amc_seg_t *seg, char *base) {
  amc_nail(amc, seg);
  tdo_amc_clean_pins(seg);
  if (seg->pins != NULL) {
    size_t i = tdo_amc_pin_index(amc, seg, base);
    if (tdo_bits_get(seg->pins, i))
      return;
    tdo_amc_set_pin(seg, i);
  }
  tdo_amc_grey(amc, seg);
}

/* Room for .held; false if there is none. */
static bool amc_make_held(amc_pool_t *amc, amc_seg_t *seg) {
  void *p;

  if (seg->held != NULL)
    return true;
  if (seg->kept ||
      (seg->pin_table == NULL && tdo_amc_make_pins(amc, seg) != MPS_RES_OK) ||
      tdo_pool_control_alloc(&p, &amc->pool, tdo_amc_pin_bytes(seg) / 2) !=
          MPS_RES_OK)
    return false;
  seg->held = p;
  memset(seg->held, 0, tdo_amc_pin_bytes(seg) / 2);
  amc_nail(amc, seg);
  return true;
}

/* The object at BASE stays in place, if it lives. */
static void amc_hold(amc_pool_t *amc, amc_seg_t *seg, char *base) {
  if (seg->in_place || seg->moved != NULL)
    return; /* as everything in it */
  if (amc_make_held(amc, seg))
    tdo_bits_set(seg->held, tdo_amc_pin_index(amc, seg, base));
  else
    tdo_amc_pin(amc, seg, base);
}

/* How many objects of SEG have moved; if there is a table for them, in which
   nothing is yet, they are noted. */
static size_t amc_list_moved(const amc_pool_t *amc, amc_seg_t *seg) {
  const tdo_format_t *fmt = amc->pool.format;
  size_t count = 0;

  for (char *p = seg->gc.seg.base; p < seg->condemned;
       p = tdo_amc_next(amc, p)) {
    mps_addr_t moved = fmt->isfwd(p + fmt->header);
    if (moved != NULL && seg->moved != NULL) {
      tdo_bits_set(seg->held, tdo_amc_pin_index(amc, seg, p));
      seg->moved[count] = moved;
    }
    count += moved != NULL;
  }
  return count;
}

void tdo_amc_settle(amc_pool_t *amc, amc_seg_t *seg) {
  size_t bytes = tdo_amc_moved_bytes(amc_list_moved(amc, seg));
  void *p;

  if (!amc_make_held(amc, seg) ||
      tdo_pool_control_alloc(&p, &amc->pool, bytes) != MPS_RES_OK)
    return;
  memset(seg->held, 0, tdo_amc_pin_bytes(seg) / 2);
  seg->moved = p;
  (void)amc_list_moved(amc, seg);
}

/* Does the ambiguous reference ADDR, into the object at BASE, keep it? */
bool tdo_amc_pins(const amc_pool_t *amc, const char *base, const char *addr) {
  size_t ref = (size_t)base + amc->pool.format->header;

  return amc->interior || tdo_round_down((size_t)addr, amc->pool.align) ==
                              tdo_round_down(ref, amc->pool.align);
}

/* Is ADDR in the first word of an object that is pinned already? A stack has
   most of its references more than once, and to find the object that one leads
   into takes a walk. Where there are headers this is not known so easily. */
static bool amc_is_known(const amc_pool_t *amc, const amc_seg_t *seg,
                         const char *addr) {
  return amc->pool.format->header == 0 && tdo_amc_is_pinned(amc, seg, addr);
}

/* An ambiguous reference: pin, or hold, what it points into, if anything. */
mps_res_t tdo_amc_fix_ambig(amc_pool_t *amc, tdo_scan_t *scan, amc_seg_t *seg,
                            char *addr) {
  char *base;

  scan->ss._seen |= tdo_amc_pinned_bits(seg);
  if (addr < seg->first || addr >= seg->condemned ||
      (seg->kept && seg->pins == NULL) ||
      amc_is_known(amc, seg, addr))
    return MPS_RES_OK;
  if (seg->gc.nailed && !seg->in_place)
    tdo_amc_open(amc, seg);
  base = tdo_amc_find(amc, seg, addr);
  if (!tdo_amc_pins(amc, base, addr) || tdo_amc_is_pad(amc, seg, base) ||
      amc->pool.format->isfwd(base + amc->pool.format->header) != NULL)
    return MPS_RES_OK;
  if (scan->hold)
    amc_hold(amc, seg, base);
  else if (!TDO_UNLIKELY(seg->large) ||
           !tdo_amc_promote_large(amc, scan, seg)) /* else it never grows old */
    tdo_amc_pin(amc, seg, base);
  return MPS_RES_OK;
}
