/* Testudo: finding the pages that may refer to condemned generations: one
   linear pass over the summary, a word of eight pages at a time.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "code/check.h"
#include "code/clock.h"
#include "trace/heap.h"
#include "trace/tell.h"

/* First page in [P, LIMIT) whose summary meets MASK, or LIMIT. */
static size_t remember_next(const uint8_t *summary, size_t p, size_t limit,
                            uint8_t mask) {
  uint64_t masks = 0x0101010101010101u * mask, word;

  for (; p < limit && p % 8 != 0; ++p)
    if (summary[p] & mask)
      return p;
  for (; p + 8 <= limit; p += 8) {
    memcpy(&word, summary + p, 8);
    if (word & masks)
      break;
  }
  for (; p < limit; ++p)
    if (summary[p] & mask)
      return p;
  return limit;
}

/* One past the last page of the run at P, within LIMIT. */
static size_t remember_run(const uint8_t *summary, size_t p, size_t limit,
                           uint8_t mask) {
  while (p < limit && (summary[p] & mask))
    ++p;
  return p;
}

size_t tdo_remember_end(mps_arena_t heap, tdo_gcseg_t *seg, size_t q,
                        const char *wide_limit) {
  size_t end = tdo_heap_page(heap, wide_limit);
  char *base = tdo_heap_page_addr(heap, end);
  char *limit = tdo_heap_page_addr(heap, end + 1);

  if (end < q)
    return q;
  if (base < wide_limit) {
    seg->pool->klass->widen(seg->pool, seg, &base, &limit);
    end += limit <= wide_limit;
  }
  return end;
}

/* What was scanned for the run [P, Q) of pages of SEG refers to SEEN: note it,
   and ask for write bars. One past the last page that this is all of. */
static size_t remember_scanned(mps_arena_t heap, tdo_gcseg_t *seg, size_t p,
                               size_t q, const char *wide_limit,
                               unsigned seen) {
  size_t end = tdo_remember_end(heap, seg, q, wide_limit);

  for (size_t i = p; i < end; ++i)
    heap->summary[i] =
        (uint8_t)((heap->summary[i] & TDO_DIRTY) | (seen & 0x7F));
  tdo_tell_summary(heap, p, end, seen & 0x7F, true);
  tdo_tell_pages(seg, tdo_heap_page_addr(heap, p),
                 tdo_heap_page_addr(heap, end));
  tdo_gcseg_offer(seg, tdo_heap_page_addr(heap, p),
                  tdo_heap_page_addr(heap, end), seen);
  return end;
}

static uint8_t remember_mask(mps_arena_t heap) {
  return (uint8_t)(heap->trace.bits | TDO_DIRTY);
}

/* Scan the run [P, Q) of pages of SEG; one past the last page that needs no
   more scanning. */
static size_t remember_scan_run(mps_arena_t heap, tdo_gcseg_t *seg, size_t p,
                                size_t q) {
  char *wide_base = tdo_heap_page_addr(heap, p);
  char *wide_limit = tdo_heap_page_addr(heap, q);
  tdo_scan_t scan;
  size_t next;
  mps_res_t res;

  if (seg->pool->klass->widen != NULL)
    seg->pool->klass->widen(seg->pool, seg, &wide_base, &wide_limit);
  if (wide_base >= wide_limit) {
    tdo_tell_pages(seg, tdo_heap_page_addr(heap, p),
                   tdo_heap_page_addr(heap, q));
    return q;
  }
  tdo_scan_init(&scan, heap, seg->rank);
  scan.ahead = !heap->trace.in_place;
  /* Pages that are opened for what reaches into them lose their bars, but are
     not therefore to be scanned now. */
  next = remember_next(heap->summary, q,
                       tdo_heap_page_up(heap, wide_limit),
                       remember_mask(heap));
  tdo_tell_own(heap, true);
  tdo_gcseg_expose(seg, wide_base, wide_limit);
  tdo_tell_own(heap, false);
  tdo_tell_forget(heap, p, tdo_remember_end(heap, seg, q, wide_limit));
  res = seg->pool->klass->scan_range(seg->pool, &scan, seg, wide_base,
                                     wide_limit);
  TDO_ASSERT(res == MPS_RES_OK, "a format's scan method failed");
  heap->trace.scanned += scan.bytes;
  tdo_tell_own(heap, true);
  q = remember_scanned(heap, seg, p, q, wide_limit, scan.ss._seen);
  tdo_gcseg_cover(seg, wide_base, wide_limit);
  tdo_tell_own(heap, false);
  return tdo_max(q, next);
}

static void remember_written(void *closure, size_t first, size_t limit) {
  mps_arena_t heap = closure;

  for (size_t p = first; p < limit; ++p)
    heap->summary[p] |= TDO_DIRTY;
}

void tdo_remember_harvest(mps_arena_t heap) {
  if (heap->shielded)
    tdo_shield_harvest(&heap->shield, remember_written, heap);
}

size_t tdo_remember_dirty(mps_arena_t heap) {
  const uint64_t dirty = 0x0101010101010101u * TDO_DIRTY;
  size_t p = 0, count = 0;
  uint64_t word;

  for (; p + 8 <= heap->page_limit; p += 8) {
    memcpy(&word, heap->summary + p, 8);
    count += (size_t)(((word & dirty) >> 7) * 0x0101010101010101u >> 56);
  }
  for (; p < heap->page_limit; ++p)
    count += (heap->summary[p] & TDO_DIRTY) != 0;
  return count;
}

#define REMEMBER_RUN   16 /* pages scanned as one, sharing a summary */
#define REMEMBER_CLOCK 16 /* runs scanned between looks at the clock */

/* Scan the run of SEG's pages at P, which may refer to what is condemned; one
   past the last page scanned. */
static size_t remember_step(mps_arena_t heap, tdo_gcseg_t *seg, size_t p,
                            size_t limit) {
  size_t end = tdo_min(limit, p + REMEMBER_RUN);
  size_t q = remember_run(heap->summary, p, end, remember_mask(heap));

  return remember_scan_run(heap, seg, p, q);
}

void tdo_remember_scan_seg(mps_arena_t heap, tdo_gcseg_t *seg) {
  size_t p = tdo_heap_page(heap, seg->seg.base);
  size_t limit = tdo_heap_page(heap, seg->seg.limit);

  for (;;) {
    p = remember_next(heap->summary, p, limit, remember_mask(heap));
    if (p == limit)
      return;
    p = remember_step(heap, seg, p, limit);
  }
}

/* When the flip must be over; 0: it may take its time. */
static uint64_t remember_deadline(const tdo_heap_t *heap) {
  if (!tdo_heap_guarded(heap) || heap->explicit_collect ||
      heap->pause_time > 1e6)
    return 0;
  return heap->trace.started + (uint64_t)(heap->pause_time * 0.5e9);
}

static void remember_pass(mps_arena_t heap) {
  uint64_t deadline = remember_deadline(heap);
  size_t p = 0, limit = heap->page_limit, runs = 0;
  bool late = false;

  for (;;) {
    tdo_gcseg_t *seg;
    size_t end;
    p = remember_next(heap->summary, p, limit, remember_mask(heap));
    if (p == limit)
      return;
    seg = tdo_gcseg_of(&heap->space, tdo_heap_page_addr(heap, p));
    TDO_CHECK(seg != NULL);
    end = tdo_heap_page(heap, seg->seg.limit);
    if (seg->white) {
      p = end; /* scanned as a whole, as far as it survives */
    } else if (seg->rank > TDO_RANK_EXACT) {
      tdo_tell_later(heap, p);
      tdo_gcseg_set_grey(seg); /* its time is later */
      p = end;
    } else if (late) {
      heap->trace.owed += tdo_seg_size(&seg->seg);
      tdo_tell_later(heap, p);
      seg->owed = true; /* behind the read barrier, in a later slice */
      tdo_gcseg_set_grey(seg);
      p = end;
    } else {
      p = remember_step(heap, seg, p, end);
      late = deadline != 0 && ++runs % REMEMBER_CLOCK == 0 &&
             tdo_clock_ns() >= deadline;
    }
  }
}

void tdo_remember_scan(mps_arena_t heap) {
  tdo_tell_pass(heap, true);
  remember_pass(heap);
  tdo_tell_pass(heap, false);
}
