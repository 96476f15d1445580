/* Testudo: hits of barriers. SPDX-License-Identifier: BSD-2-Clause */
#include "trace/hit.h"
#include "code/clock.h"
#include "code/event.h"
#include "trace/enter.h"
#include "trace/heaps.h"
#include "trace/pause.h"

/* Make read-barred SEG black, and do more than was asked for, so that the hit
   pays: the more, the less the mutator gets done between hits. The pause time
   bounds it; and where the client wants no collection to go on, it does not. */
static void hit_work(tdo_heap_t *heap, tdo_gcseg_t *seg, uint64_t start) {
  uint64_t deadline = tdo_pause_deadline(heap);
  size_t scanned = heap->trace.scanned;
  tdo_hits_t *hits = &heap->hits;

  tdo_trace_access(heap, seg);
  if (heap->clamp != TDO_UNCLAMPED)
    return;
  if (start - hits->ended < hits->took) {
    if (hits->quantum_now <= SIZE_MAX / 4)
      hits->quantum_now *= 2;
  } else {
    hits->quantum_now = tdo_max(hits->quantum, hits->quantum_now / 2);
  }
  if (!tdo_clock_past(deadline)) {
    heap->trace.at_hit = true;
    (void)tdo_trace_work(heap, hits->quantum_now, deadline);
    heap->trace.at_hit = false;
  }
  tdo_heap_tally(heap->stats.quantum_log2, heap->trace.scanned - scanned);
  hits->ended = tdo_clock_ns();
  hits->took = hits->ended - start;
}

/* Resolve a hit on the page of ADDR with the lock held. A read bar is a write
   bar too: a write behind it may have a second bar before it. */
static void hit_page(tdo_heap_t *heap, char *addr, tdo_fault_kind_t kind,
                     uint64_t start) {
  size_t page = tdo_heap_page(heap, addr);
  tdo_bar_t bars = tdo_shield_bars(&heap->shield, page);
  tdo_gcseg_t *seg = tdo_gcseg_of(&heap->space, addr);

  tdo_shield_hit(&heap->shield, page, bars);
  if (seg == NULL)
    return;
  if (bars & TDO_BAR_READ) {
    hit_work(heap, seg, start);
    seg = tdo_gcseg_of(&heap->space, addr);
    if (kind != TDO_FAULT_WRITE || seg == NULL)
      return;
  }
  if (tdo_shield_bars(&heap->shield, page) & TDO_BAR_WRITE) {
    char *base = tdo_heap_page_addr(heap, page);
    tdo_gcseg_dirty(seg, base, base + ((size_t)1 << heap->page_shift));
  }
}

/* A callback, or a signal handler that interrupted the collector, touches
   protected memory: open it, with no more ado. The session does not become
   quiet by that: a handler's return would undo it. */
static bool hit_inside(tdo_heap_t *heap, size_t page) {
  bool quiet, opened;

  if (!tdo_shield_adopted(&heap->shield, page))
    return false;
  quiet = tdo_stop_quiet();
  opened = tdo_shield_force_open(&heap->shield, page);
  if (quiet)
    tdo_stop_loud();
  return opened;
}

bool tdo_hit_fault(void *addr, tdo_fault_kind_t kind) {
  tdo_heap_t *heap = tdo_heaps_find(addr);
  bool ours, had_lock;
  uint64_t start;
  size_t page;

  if (heap == NULL || !heap->shielded)
    return false;
  page = tdo_heap_page(heap, addr);
  if (tdo_lock_mine(&heap->lock) && !tdo_heap_between(heap))
    return hit_inside(heap, page);
  start = tdo_clock_ns();
  had_lock = tdo_heap_enter_hit(heap, __builtin_frame_address(0));
  ours = heap->sig == TDO_HEAP_SIG && tdo_shield_adopted(&heap->shield, page);
  if (ours)
    hit_page(heap, addr, kind, start);
  tdo_shield_flush(&heap->shield); /* part of the hit's time */
  start = tdo_clock_ns() - start;
  TDO_EVENT(SEG, HIT, (tdo_word_t)heap, (tdo_word_t)addr, kind, start);
  tdo_heap_tally(heap->stats.hit_log2, start);
  tdo_heap_leave_hit(heap, had_lock);
  return ours;
}

mps_addr_t tdo_heap_peek(tdo_heap_t *heap, mps_addr_t *p) {
  tdo_gcseg_t *seg = tdo_gcseg_of(&heap->space, p);
  mps_addr_t value;

  if (seg == NULL)
    return *p;
  if (seg->grey)
    tdo_trace_access(heap, seg);
  tdo_gcseg_expose(seg, (char *)p, (char *)(p + 1));
  value = *p;
  tdo_gcseg_cover(seg, (char *)p, (char *)(p + 1));
  return value;
}

void tdo_heap_poke(tdo_heap_t *heap, mps_addr_t *p, mps_addr_t value) {
  tdo_gcseg_t *seg = tdo_gcseg_of(&heap->space, p);

  if (seg == NULL) {
    *p = value;
    return;
  }
  if (seg->grey)
    tdo_trace_access(heap, seg);
  tdo_gcseg_dirty(seg, (char *)p, (char *)(p + 1));
  tdo_gcseg_expose(seg, (char *)p, (char *)(p + 1));
  *p = value;
  tdo_gcseg_cover(seg, (char *)p, (char *)(p + 1));
}
