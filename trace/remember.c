/* Testudo: finding the pages that may refer to condemned generations.
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/remember.h"
#include "code/check.h"
#include "code/clock.h"
#include "trace/pause.h"
#include "trace/tell.h"

#define REMEMBER_RUN   16 /* pages scanned as one, sharing a summary */
#define REMEMBER_CLOCK 16 /* runs scanned between looks at the clock */
#define REMEMBER_SITES 4  /* runs where something may be being built */

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

  tdo_summary_found(&heap->summary, p, end, seen & 0x7F);
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

/* Pages of [BASE, LIMIT) that refer to what is condemned, the last of them, and
   other such references: a format may fix copies of its own. */
typedef struct remember_young {
  const char *base, *limit;
  size_t pages, last;
} remember_young_t;

/* The same as tracing, with a note of such references. */
static mps_res_t remember_fix(tdo_scan_t *scan, mps_addr_t *ref_io) {
  const tdo_gcseg_t *seg = tdo_gcseg_of(&scan->heap->space, *ref_io);
  const char *at = (const char *)ref_io;
  remember_young_t *young = scan->closure;

  if (seg != NULL && seg->white) {
    size_t page = at >= young->base && at < young->limit
                      ? 1 + tdo_heap_page(scan->heap, at)
                      : 0;
    young->pages += page == 0 || page != young->last;
    young->last = page;
  }
  return tdo_trace_fix(scan, ref_io);
}

/* While something is taken to be built, it counts what is old and refers to
   what is young: it was written to. Hits tell of pages with bars only. */
static void remember_watch(tdo_scan_t *scan, remember_young_t *young,
                           const char *base, const char *limit) {
  const tdo_heap_t *heap = scan->heap;

  *young = (remember_young_t){base, limit, 0, 0};
  if (TDO_LIKELY(!heap->full.building))
    return;
  tdo_scan_use(scan, remember_fix);
  scan->closure = young;
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
  remember_young_t young;

  if (seg->pool->klass->widen != NULL)
    seg->pool->klass->widen(seg->pool, seg, &wide_base, &wide_limit);
  if (wide_base >= wide_limit) {
    tdo_tell_pages(seg, tdo_heap_page_addr(heap, p),
                   tdo_heap_page_addr(heap, q));
    return q;
  }
  tdo_scan_init(&scan, heap, seg->rank);
  scan.ahead = tdo_trace_copies(&heap->trace);
  remember_watch(&scan, &young, wide_base, wide_limit);
  /* Pages that are opened for what reaches into them lose their bars, but are
     not therefore to be scanned now. */
  next = tdo_summary_next(&heap->summary, q,
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
  if (young.pages > 0) { /* a large object is scanned as a whole */
    size_t whole = tdo_heap_page_up(heap, wide_limit) - p;
    size_t pages = tdo_max(q - p, tdo_min(young.pages, whole));
    heap->remembered.runs += 1 + (pages - 1) / REMEMBER_RUN;
    heap->remembered.pages += pages;
  }
  tdo_tell_own(heap, true);
  q = remember_scanned(heap, seg, p, q, wide_limit, scan.ss._seen);
  tdo_gcseg_cover(seg, wide_base, wide_limit);
  tdo_tell_own(heap, false);
  return tdo_max(q, next);
}

static void remember_written(void *closure, size_t first, size_t limit) {
  mps_arena_t heap = closure;

  tdo_summary_add(&heap->summary, first, limit, TDO_DIRTY);
}

void tdo_remember_harvest(mps_arena_t heap) {
  if (heap->shielded)
    tdo_shield_harvest(&heap->shield, remember_written, heap);
}

/* Scan the run of SEG's pages at P, which may refer to what is condemned; one
   past the last page scanned. */
static size_t remember_step(mps_arena_t heap, tdo_gcseg_t *seg, size_t p,
                            size_t limit) {
  size_t end = tdo_min(limit, p + REMEMBER_RUN);
  size_t q = tdo_summary_run(&heap->summary, p, end, remember_mask(heap));

  return remember_scan_run(heap, seg, p, q);
}

void tdo_remember_scan_seg(mps_arena_t heap, tdo_gcseg_t *seg) {
  size_t p = tdo_heap_page(heap, seg->seg.base);
  size_t limit = tdo_heap_page(heap, seg->seg.limit);

  for (;;) {
    p = tdo_summary_next(&heap->summary, p, limit, remember_mask(heap));
    if (p == limit)
      return;
    p = remember_step(heap, seg, p, limit);
  }
}

/* What a pass will touch is spread over the heap and its tables. Before the
   pass gets there, a scout has gone over the next runs, and all that can be
   asked of memory at the same time was: first what the number of a page tells
   of it, then what that leads to. */
#define SCOUT_RUNS  8 /* at a time */
#define SCOUT_LINES 4 /* of a page; the processor guesses the rest */

static void scout_touch_tables(mps_arena_t heap, size_t page) {
  const tdo_space_t *sp = &heap->space;

  TDO_TOUCH(sp->owner[tdo_space_grain(sp, tdo_heap_page_addr(heap, page))]);
  if (heap->shielded)
    tdo_shield_touch(&heap->shield, page);
}

TDO_NO_SANITIZE static void scout_touch_page(mps_arena_t heap, size_t page) {
  const char *p = tdo_heap_page_addr(heap, page);
  const tdo_seg_t *seg = tdo_space_owner(&heap->space, p);

  TDO_CHECK(seg != NULL); /* only what the collector scans is in a summary */
  TDO_TOUCH(*(const char *)seg);
  tdo_gcseg_fetch(seg);
  if (!heap->shielded || tdo_shield_readable(&heap->shield, page))
    TDO_TOUCH(*p);
  for (size_t i = 1; i < SCOUT_LINES; ++i)
    __builtin_prefetch(p + i * TDO_CACHE_LINE);
}

/* Go over some runs from page P on; one past the last page of them. */
static size_t scout(mps_arena_t heap, size_t p) {
  size_t limit = heap->page_limit, page[SCOUT_RUNS], runs = 0;
  uint8_t mask = remember_mask(heap);

  tdo_summary_touch(&heap->summary, p, limit, mask, SCOUT_RUNS);
  while (runs < SCOUT_RUNS &&
         (p = tdo_summary_next(&heap->summary, p, limit, mask)) < limit) {
    page[runs++] = p;
    p = tdo_summary_run(&heap->summary, p, tdo_min(limit, p + REMEMBER_RUN),
                        mask);
  }
  for (size_t i = 0; i < runs; ++i)
    scout_touch_tables(heap, page[i]);
  for (size_t i = 0; i < runs; ++i)
    scout_touch_page(heap, page[i]);
  return p;
}

bool tdo_remember_next(mps_arena_t heap, const tdo_gcseg_t *seg, char **base_o,
                       char **limit_io) {
  size_t limit = tdo_heap_page(heap, seg->seg.limit);
  size_t p = tdo_summary_next(&heap->summary, tdo_heap_page(heap, *limit_io),
                              limit, remember_mask(heap));

  if (p == limit)
    return false;
  *base_o = tdo_heap_page_addr(heap, p);
  p = tdo_summary_run(&heap->summary, p, limit, remember_mask(heap));
  *limit_io = tdo_heap_page_addr(heap, p);
  return true;
}

static void remember_pass(mps_arena_t heap) {
  uint64_t deadline = tdo_pause_flip_deadline(heap);
  size_t p = 0, limit = heap->page_limit, scouted = 0, runs = 0;
  bool late = false;

  for (;;) {
    tdo_gcseg_t *seg;
    size_t end;
    if (p >= scouted)
      scouted = scout(heap, p);
    p = tdo_summary_next(&heap->summary, p, limit, remember_mask(heap));
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
      late = ++runs % REMEMBER_CLOCK == 0 && tdo_clock_past(deadline);
    }
  }
}

void tdo_remember_scan(mps_arena_t heap) {
  heap->remembered.runs = heap->remembered.pages = 0;
  tdo_tell_pass(heap, true);
  remember_pass(heap);
  tdo_tell_pass(heap, false);
  if (heap->remembered.runs > REMEMBER_SITES)
    heap->remembered.written += heap->remembered.pages;
}
