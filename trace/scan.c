/* Testudo: scanning: the state behind mps_ss_t, and what fixing does.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "code/check.h"
#include "code/event.h"
#include "trace/heap.h"
#include "trace/tell.h"

void tdo_scan_anywhere(tdo_scan_t *scan) {
  static const unsigned char anywhere[2] = {TDO_ZONE_BYTE_SHARED,
                                            TDO_ZONE_BYTE_SHARED};

  scan->ss._zones = anywhere;
  scan->ss._shift = 8 * sizeof(mps_word_t) - 1;
}

void tdo_scan_init(tdo_scan_t *scan, mps_arena_t heap, mps_rank_t rank) {
  memset(scan, 0, sizeof *scan);
  scan->ss._base = (mps_word_t)heap->space.base;
  scan->ss._size = heap->space.size;
  scan->ss._zones = heap->space.zone_byte;
  scan->ss._shift = heap->space.zone_shift;
  /* Client memory in several blocks: any word but null may be a reference. */
  if (tdo_space_many(&heap->space)) {
    scan->ss._base = 1;
    scan->ss._size = SIZE_MAX;
    tdo_scan_anywhere(scan);
  }
  scan->heap = heap;
  scan->rank = rank;
  scan->look = TDO_SCAN_LOOK;
  scan->fix = tdo_trace_fix;
  if (rank == TDO_RANK_EXACT && !tdo_space_many(&heap->space) &&
      heap->trace.ephemerons.count == 0) {
    scan->express = heap->space.owner;
    scan->grain_shift = heap->space.grain_shift;
  }
}

/* The test of MPS_FIX1, on any word. */
static inline bool scan_may_be_white(const tdo_scan_t *scan, mps_word_t word) {
  mps_word_t offset = word - scan->ss._base;

  return offset < scan->ss._size &&
         (scan->ss._zones[offset >> scan->ss._shift] & 0x80);
}

/* What is looked at before it is scanned are whole words of it: formats may
   have any alignment, and what lies behind may have no memory. */
typedef mps_word_t scan_any_word_t __attribute__((aligned(1), may_alias));

TDO_NO_SANITIZE static inline mps_word_t scan_word(const mps_word_t *p) {
  return *(const scan_any_word_t *)(const void *)p;
}

static inline const mps_word_t *scan_end(const char *base, const char *limit) {
  const mps_word_t *p = (const mps_word_t *)(const void *)base;

  return p + (size_t)(limit - base) / sizeof *p;
}

#define AHEAD_OBJECTS 128 /* on their way at any time (.ahead) */
#define AHEAD_WORDS   64  /* looked at for the next one, at most */

/* Have what REF leads to fetched. */
static inline void scan_touch(const tdo_scan_t *scan, const char *ref) {
  size_t limit = (size_t)ref;

  __builtin_prefetch(ref);
  if (TDO_UNLIKELY(scan->rank == TDO_RANK_AMBIG))
    for (size_t p = tdo_round_down(limit, (size_t)1 << TDO_SCAN_CARD_SHIFT);
         p < limit; p += TDO_CACHE_LINE)
      __builtin_prefetch((const void *)p);
  /* Else compilers find that the function does nothing. */
  __asm__ volatile("" : : "r"(ref));
}

/* Have the next object that may be copied fetched (.ahead). The client's scan
   method meets them one by one, at each of which this is called: so as many
   are on their way at any time as there were to begin with, wherever the
   references lie, unless these are few. */
TDO_NO_SANITIZE static inline void scan_ahead(tdo_scan_t *scan) {
  const mps_word_t *p = scan->next_ahead, *end = scan->end_ahead;

  if (end - p > AHEAD_WORDS)
    end = p + AHEAD_WORDS;
  while (p < end) {
    mps_word_t word = scan_word(p++);
    if (scan_may_be_white(scan, word)) {
      scan_touch(scan, (const char *)(word & ~(mps_word_t)7));
      break;
    }
  }
  scan->next_ahead = p;
}

/* The shortest way that there is: most references that are fixed are exact ones
   to objects of segments that have nothing special about them. No pair begins
   to wait for a key in a scan of this rank. */
mps_res_t _mps_fix2(mps_ss_t ss, mps_addr_t *ref_io) {
  tdo_scan_t *scan = tdo_scan_of(ss);
  mps_word_t offset = (mps_word_t)*ref_io - ss->_base;

  scan_ahead(scan);
  if (TDO_LIKELY(scan->express != NULL && offset < ss->_size)) {
    tdo_seg_t *seg = scan->express[offset >> scan->grain_shift];
    if (TDO_LIKELY(seg != NULL && seg->automatic)) {
      tdo_gcseg_t *gc = (tdo_gcseg_t *)(void *)seg;
      if (TDO_LIKELY(gc->express != NULL)) {
        TDO_EVENT_CRITICAL(REF, FIX, (tdo_word_t)scan->heap,
                           (tdo_word_t)*ref_io, scan->rank);
        return gc->express(scan, gc, ref_io);
      }
    }
  }
  return scan->fix(scan, ref_io);
}

mps_res_t tdo_scan_fix(tdo_scan_t *scan, mps_addr_t *ref_io) {
  mps_ss_t ss = &scan->ss;
  mps_res_t res = MPS_RES_OK;

  MPS_SCAN_BEGIN(ss) {
    if (MPS_FIX1(ss, *ref_io))
      res = MPS_FIX2(ss, ref_io);
  }
  MPS_SCAN_END(ss);
  return res;
}

#define MARK_MOST  65536 /* bytes looked at */
#define MARK_BATCH 128 /* references whose tables are fetched together */

/* Get the tables that tell of the objects which [BASE, LIMIT) refers to on
   their way to the cache: what is collected in place is told by bits, which
   are found by way of the segment, which is found by its grain. */
TDO_NO_SANITIZE static void scan_prefetch_marks(const tdo_scan_t *scan,
                                                const char *base,
                                                const char *limit) {
  const tdo_space_t *sp = &scan->heap->space;
  const mps_word_t *p = (const mps_word_t *)(const void *)base, *end;

  if (limit - base > MARK_MOST)
    limit = base + MARK_MOST;
  end = scan_end(base, limit);
  while (p < end) {
    mps_word_t refs[MARK_BATCH];
    void *segs[MARK_BATCH];
    size_t n = 0;
    for (; p < end && n < MARK_BATCH; ++p) {
      mps_word_t word = scan_word(p);
      if (scan_may_be_white(scan, word)) {
        refs[n++] = word;
        __builtin_prefetch(
            &sp->owner[(word - scan->ss._base) >> sp->grain_shift]);
      }
    }
    for (size_t i = 0; i < n; ++i) {
      segs[i] = tdo_space_near_owner(sp, (void *)refs[i]);
      tdo_gcseg_fetch(segs[i]);
    }
    for (size_t i = 0; i < n; ++i) {
      tdo_seg_t *seg = segs[i];
      if (seg != NULL && seg->automatic) {
        tdo_gcseg_t *gc = (tdo_gcseg_t *)(void *)seg;
        if (gc->white && gc->pool->klass->fetch != NULL)
          gc->pool->klass->fetch(gc, (char *)refs[i]);
      }
    }
  }
}

#define FETCH_LEAST 256 /* bytes to scan that are worth it */

void tdo_scan_fetch(tdo_scan_t *scan, const char *base, const char *limit) {
  if (limit - base < FETCH_LEAST)
    return;
  if (scan->ahead) {
    scan->next_ahead = (const mps_word_t *)(const void *)base;
    scan->end_ahead = scan_end(base, limit);
    for (int i = 0; i < AHEAD_OBJECTS; ++i)
      scan_ahead(scan);
  } else if (tdo_trace_busy(&scan->heap->trace) &&
             !tdo_trace_copies(&scan->heap->trace) &&
             !tdo_space_many(&scan->heap->space)) {
    scan_prefetch_marks(scan, base, limit);
  }
}

void tdo_scan_fetched(tdo_scan_t *scan) {
  scan->next_ahead = scan->end_ahead = NULL;
}

mps_res_t tdo_scan_formatted(tdo_scan_t *scan, tdo_pool_t *pool, char *base,
                             char *limit) {
  size_t header = pool->format->header;
  mps_res_t res;

  if (base >= limit)
    return MPS_RES_OK;
  scan->bytes += (size_t)(limit - base);
  tdo_scan_fetch(scan, base, limit);
  if (TDO_UNLIKELY(pool->heap->found != NULL) && scan->fix == tdo_trace_fix)
    res = tdo_tell_scan(scan, pool, base, limit);
  else
    res = pool->format->scan(&scan->ss, base + header, limit + header);
  tdo_scan_fetched(scan);
  return res;
}

/* The area scanners. Words are read once: a root may change at any time. */
TDO_NO_SANITIZE mps_res_t mps_scan_area(mps_ss_t ss, void *base, void *limit,
                                        void *closure) {
  mps_word_t *p = base, *end = limit;

  (void)closure;
  MPS_SCAN_BEGIN(ss) {
    for (; p < end; ++p) {
      mps_word_t w = *(volatile mps_word_t *)p;
      if (MPS_FIX1(ss, w)) {
        mps_addr_t ref = (mps_addr_t)w;
        mps_res_t res;
        tdo_scan_of(ss)->slot = (mps_addr_t *)(void *)p;
        res = MPS_FIX2(ss, &ref);
        if (res != MPS_RES_OK)
          return res;
        if ((mps_word_t)ref != w)
          *p = (mps_word_t)ref;
      }
    }
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

/* Fix the words of [P, END) whose MASK bits are PATTERN (or zero, if ZERO);
   with ANY, all words. The tag is taken off for fixing and put back. */
TDO_NO_SANITIZE static inline mps_res_t scan_tagged(mps_ss_t ss, mps_word_t *p,
                                    mps_word_t *end, mps_word_t mask,
                                    mps_word_t pattern, bool zero, bool any) {
  MPS_SCAN_BEGIN(ss) {
    for (; p < end; ++p) {
      mps_word_t w = *(volatile mps_word_t *)p;
      mps_word_t tag = w & mask;
      if ((any || tag == pattern || (zero && tag == 0)) &&
          MPS_FIX1(ss, w ^ tag)) {
        mps_addr_t ref = (mps_addr_t)(w ^ tag);
        mps_res_t res;
        tdo_scan_of(ss)->slot = tag == 0 ? (mps_addr_t *)(void *)p : NULL;
        res = MPS_FIX2(ss, &ref);
        if (res != MPS_RES_OK)
          return res;
        if (((mps_word_t)ref | tag) != w)
          *p = (mps_word_t)ref | tag;
      }
    }
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

TDO_NO_SANITIZE mps_res_t mps_scan_area_masked(mps_ss_t ss, void *base,
                                               void *limit, void *closure) {
  const mps_scan_tag_s *t = closure;

  return scan_tagged(ss, base, limit, t->mask, 0, false, true);
}

TDO_NO_SANITIZE mps_res_t mps_scan_area_tagged(mps_ss_t ss, void *base,
                                               void *limit, void *closure) {
  const mps_scan_tag_s *t = closure;

  return scan_tagged(ss, base, limit, t->mask, t->pattern, false, false);
}

TDO_NO_SANITIZE mps_res_t
mps_scan_area_tagged_or_zero(mps_ss_t ss, void *base, void *limit,
                             void *closure) {
  const mps_scan_tag_s *t = closure;

  return scan_tagged(ss, base, limit, t->mask, t->pattern, true, false);
}
