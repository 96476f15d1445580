/* Testudo: finding the pages that may refer to condemned generations: one
   linear pass over the summary, a word of eight pages at a time.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "code/check.h"
#include "trace/heap.h"

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

/* Scan the run [P, Q) of pages of SEG. */
static void remember_scan_run(mps_arena_t heap, tdo_gcseg_t *seg, size_t p,
                              size_t q) {
  char *base = tdo_heap_page_addr(heap, p);
  char *limit = tdo_heap_page_addr(heap, q);
  char *wide_base = base, *wide_limit = limit;
  tdo_scan_t scan;
  mps_res_t res;

  if (seg->pool->klass->widen != NULL)
    seg->pool->klass->widen(seg->pool, seg, &wide_base, &wide_limit);
  if (wide_base >= wide_limit)
    return;
  tdo_scan_init(&scan, heap, seg->rank);
  tdo_gcseg_expose(seg, wide_base, wide_limit);
  res = seg->pool->klass->scan_range(seg->pool, &scan, seg, wide_base,
                                     wide_limit);
  TDO_ASSERT(res == MPS_RES_OK, "a format's scan method failed");
  heap->trace.scanned += scan.bytes;
  for (size_t i = p; i < q; ++i)
    heap->summary[i] = (uint8_t)((heap->summary[i] & TDO_DIRTY) |
                                 (scan.ss._seen & 0x7F));
  tdo_gcseg_offer(seg, base, limit, scan.ss._seen);
  tdo_gcseg_cover(seg, wide_base, wide_limit);
}

#define REMEMBER_RUN 16 /* pages scanned as one, sharing a summary */

void tdo_remember_scan(mps_arena_t heap) {
  uint8_t mask = (uint8_t)(heap->trace.bits | TDO_DIRTY);
  size_t p = 0, limit = heap->page_limit;

  for (;;) {
    tdo_gcseg_t *seg;
    size_t end, q;
    p = remember_next(heap->summary, p, limit, mask);
    if (p == limit)
      return;
    seg = tdo_gcseg_of(&heap->space, tdo_heap_page_addr(heap, p));
    TDO_CHECK(seg != NULL);
    end = tdo_heap_page(heap, seg->seg.limit);
    if (seg->white) {
      p = end; /* scanned as a whole, as far as it survives */
      continue;
    }
    if (seg->rank > TDO_RANK_EXACT) {
      tdo_gcseg_set_grey(seg); /* its time is later */
      p = end;
      continue;
    }
    end = tdo_min(end, p + REMEMBER_RUN);
    q = remember_run(heap->summary, p, end, mask);
    remember_scan_run(heap, seg, p, q);
    p = q;
  }
}
