/* Testudo: what the collector tells a recording.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "trace/remember.h"
#include "trace/tell.h"

static size_t tell_size(const tdo_heap_t *heap) {
  return tdo_round_up(heap->shield.pages, heap->space.vm->page_size);
}

void tdo_tell_open(mps_arena_t heap, const char *path) {
  tdo_shield_t *sh = &heap->shield;
  tdo_vm_t *vm = heap->space.vm;
  void *found;

  if (path == NULL ||
      vm->reserve_table(&found, vm, tell_size(heap)) != MPS_RES_OK)
    return;
  if (tdo_shield_record_open(&heap->record, path, vm->page_size, sh->pages,
                             sh->settings.mode,
                             vm->mapping_limit(vm)) != MPS_RES_OK) {
    vm->release(vm, found, tell_size(heap));
    return;
  }
  heap->found = found;
  tdo_shield_record(sh, &heap->record);
}

void tdo_tell_close(mps_arena_t heap) {
  tdo_vm_t *vm = heap->space.vm;

  tdo_record_close(&heap->record.file);
  if (heap->found != NULL)
    vm->release(vm, heap->found, tell_size(heap));
  heap->found = NULL;
}

static bool tell_recorded(const tdo_heap_t *heap) {
  return TDO_UNLIKELY(heap->found != NULL) && heap->shield.record != NULL;
}

void tdo_tell_summary(mps_arena_t heap, size_t first, size_t limit,
                      unsigned bits, bool more) {
  uint64_t number = bits;

  if (tell_recorded(heap) && first < limit && !heap->record.quiet)
    tdo_shield_record_numbers(&heap->record, TDO_REQUEST_SUMMARY, more, first,
                              limit, &number);
}

void tdo_tell_white(const tdo_gcseg_t *seg) {
  tdo_heap_t *heap = seg->pool->heap;
  size_t first, limit;

  if (!tell_recorded(heap) || seg->leaf)
    return;
  first = tdo_heap_page(heap, seg->seg.base);
  limit = tdo_heap_page(heap, seg->seg.limit);
  tdo_tell_forget(heap, first, limit);
  tdo_shield_record_note(&heap->record, TDO_REQUEST_WHITE, 0, first, limit);
}

void tdo_tell_forget(mps_arena_t heap, size_t first, size_t limit) {
  if (tell_recorded(heap) && first < limit)
    memset(heap->found + first, 0, limit - first);
}

/* What scanning page P of SEG by itself takes; false if no object is there. */
static bool tell_reach(tdo_pages_reach_t *reach_o, tdo_gcseg_t *seg,
                       size_t p) {
  tdo_heap_t *heap = seg->pool->heap;
  char *base = tdo_heap_page_addr(heap, p);
  char *limit = tdo_heap_page_addr(heap, p + 1);

  *reach_o = (tdo_pages_reach_t){0, 0, 0};
  if (seg->pool->klass->widen == NULL)
    return true;
  seg->pool->klass->widen(seg->pool, seg, &base, &limit);
  if (base >= limit)
    return false;
  reach_o->before = p - tdo_min(p, tdo_heap_page(heap, base));
  reach_o->after =
      tdo_max(tdo_heap_page_up(heap, limit), p + 1) - (p + 1);
  reach_o->done = tdo_remember_end(heap, seg, p + 1, limit) - (p + 1);
  return true;
}

/* Pages of which one record tells. */
typedef struct tell_group {
  size_t first, limit; /* empty: there are none yet */
  unsigned argument;
  uint64_t found;
  tdo_pages_reach_t reach; /* of each page, or of all as one */
} tell_group_t;

static void tell_emit(mps_arena_t heap, tell_group_t *g) {
  if (g->first < g->limit) {
    uint64_t numbers[2] = {g->found, tdo_pages_pack(&g->reach)};
    tdo_shield_record_numbers(&heap->record, TDO_REQUEST_PAGES, g->argument,
                              g->first, g->limit, numbers);
  }
}

/* Can one record tell of the page after G, too, with the same FOUND? */
static bool tell_joins(tell_group_t *g, uint64_t found,
                       const tdo_pages_reach_t *reach) {
  const tdo_pages_reach_t *r = &g->reach;
  size_t n = g->limit - g->first;

  if (n == 0 || g->found != found)
    return false;
  if (!(g->argument & TDO_PAGES_UNIT) && r->before == reach->before &&
      r->after == reach->after && r->done == reach->done)
    return true;
  /* The pages of one large object: what lies before, after them stays. */
  if ((n > 1 && !(g->argument & TDO_PAGES_UNIT)) ||
      reach->before != r->before + n || r->after != reach->after + 1 ||
      r->done != reach->done + 1)
    return false;
  g->argument |= TDO_PAGES_UNIT;
  g->reach.after = reach->after;
  g->reach.done = reach->done;
  return true;
}

void tdo_tell_pages(tdo_gcseg_t *seg, char *base, char *limit) {
  tdo_heap_t *heap = seg->pool->heap;
  tell_group_t g = {0, 0, 0, 0, {0, 0, 0}};
  unsigned argument;

  if (!tell_recorded(heap) || seg->leaf)
    return;
  argument = (tdo_gcseg_may_bar(seg) ? TDO_PAGES_PAYS : 0) |
             (seg->rank > TDO_RANK_EXACT ? TDO_PAGES_LATER : 0);
  for (size_t p = tdo_heap_page(heap, base), q = tdo_heap_page_up(heap, limit);
       p < q; ++p) {
    tdo_pages_reach_t reach;
    uint64_t found = heap->found[p] & 0x7Fu;
    if (!tell_reach(&reach, seg, p))
      found = TDO_PAGES_EMPTY;
    if (!tell_joins(&g, found, &reach)) {
      tell_emit(heap, &g);
      g = (tell_group_t){p, p, argument, found, reach};
    }
    g.limit = p + 1;
  }
  tell_emit(heap, &g);
}

void tdo_tell_pass(mps_arena_t heap, bool begins) {
  uint64_t number = (uint64_t)heap->nursery_bits << 8 |
                    ((heap->trace.bits | TDO_DIRTY) & 0xFFu);

  if (!tell_recorded(heap))
    return;
  heap->telling = begins;
  heap->record.reached = SIZE_MAX;
  tdo_shield_record_numbers(&heap->record,
                            begins ? TDO_REQUEST_REMEMBER
                                   : TDO_REQUEST_REMEMBERED,
                            0, 0, 0, &number);
}

void tdo_tell_later(mps_arena_t heap, size_t page) {
  if (heap->telling)
    tdo_shield_record_numbers(&heap->record, TDO_REQUEST_REACHED, 1, page,
                              page + 1, NULL);
}

void tdo_tell_own(mps_arena_t heap, bool own) {
  if (heap->telling) {
    heap->record.quiet = own;
    heap->record.reached = SIZE_MAX;
  }
}

/* The end of the objects from BASE on that lie on one page, or of the one
   there that does not. */
static char *tell_step(const tdo_heap_t *heap, const tdo_format_t *fmt,
                       char *base, char *limit) {
  size_t page = tdo_heap_page(heap, base);
  char *end = base, *next;

  do {
    next = tdo_format_next(fmt, end);
    if (next <= end || next > limit)
      return limit;
    if (tdo_heap_page(heap, next - 1) != page)
      return end == base ? next : end;
    end = next;
  } while (end < limit);
  return end;
}

mps_res_t tdo_tell_scan(tdo_scan_t *scan, tdo_pool_t *pool, char *base,
                        char *limit) {
  tdo_heap_t *heap = pool->heap;
  tdo_format_t *fmt = pool->format;
  unsigned seen = scan->ss._seen;
  mps_res_t res = MPS_RES_OK;

  while (base < limit && res == MPS_RES_OK) {
    char *next = tell_step(heap, fmt, base, limit);
    size_t end = tdo_heap_page_up(heap, next);
    if (heap->telling)
      heap->record.reached = tdo_heap_page(heap, base);
    scan->ss._seen = 0;
    res = fmt->scan(&scan->ss, base + fmt->header, next + fmt->header);
    for (size_t p = tdo_heap_page(heap, base); p < end; ++p)
      heap->found[p] |= (uint8_t)(scan->ss._seen & 0x7F);
    seen |= scan->ss._seen;
    base = next;
  }
  scan->ss._seen = seen;
  return res;
}
