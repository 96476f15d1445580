/* Testudo: the collection in progress.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "code/bytes.h"
#include "code/check.h"
#include "code/clock.h"
#include "code/event.h"
#include "trace/condemn.h"
#include "trace/enter.h"
#include "trace/learn.h"
#include "trace/log.h"
#include "trace/pause.h"
#include "trace/remember.h"
#include "trace/sanity.h"
#include "trace/shortage.h"
#include "trace/tell.h"
#include "trace/tenure.h"

#define CLOSE_LEAST 8 /* times what is worth moving is old: close all at once */
#define SWEEP_NEAR 16 /* segments looked at for one that is grey */

void tdo_trace_init(tdo_trace_t *trace, mps_arena_t heap) {
  memset(trace, 0, sizeof *trace);
  for (int i = 0; i < TDO_RANKS; ++i)
    tdo_ring_init(&trace->grey[i]);
  tdo_ephemerons_init(&trace->ephemerons, heap);
}

/* Run VISIT for every generation of the arena. */
typedef void (*trace_gen_visit_t)(mps_arena_t heap, tdo_gen_t *gen);

static void trace_each_gen(mps_arena_t heap, trace_gen_visit_t visit) {
  TDO_RING_FOR(node, &heap->chains) {
    tdo_chain_t *chain = TDO_RING_ENTRY(tdo_chain_t, heap_ring, node);
    for (size_t i = 0; i < chain->count; ++i)
      visit(heap, &chain->gens[i]);
  }
  visit(heap, &heap->top);
}

static void trace_count_left(mps_arena_t heap, tdo_gen_t *gen) {
  if (!gen->condemned && !heap->trace.full)
    heap->trace.left += (size_t)gen->size;
}

static bool trace_any_of(const tdo_chain_t *chain, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (tdo_condemn_any(&chain->gens[i]))
      return true;
  return false;
}

/* Is there anything to condemn in CHAIN up to LAST, or at all? */
static bool trace_any(mps_arena_t heap, const tdo_chain_t *chain,
                      size_t last) {
  if (chain != NULL)
    return trace_any_of(chain, last + 1);
  TDO_RING_FOR(node, &heap->chains) {
    chain = TDO_RING_ENTRY(tdo_chain_t, heap_ring, node);
    if (trace_any_of(chain, chain->count))
      return true;
  }
  return tdo_condemn_any(&heap->top);
}

/* Take the buffers of every point whose blocks may hold references: what is
   reserved and not committed may refer to what moves now. */
static void trace_trap(mps_arena_t heap) {
  TDO_RING_FOR(node, &heap->traced) {
    tdo_pool_t *pool = TDO_RING_ENTRY(tdo_pool_t, traced_ring, node);
    if (pool->klass->scanned)
      TDO_RING_FOR(ap_node, &pool->aps) {
        tdo_ap_trap(TDO_RING_ENTRY(tdo_ap_t, pool_ring, ap_node));
      }
  }
}

/* Location dependencies go stale for every zone with white objects of moving
   pools. */
static void trace_age(mps_arena_t heap) {
  unsigned long sets = 0;
  tdo_space_t *sp = &heap->space;

  for (size_t z = 0; (z = tdo_bytes_next(sp->zone_byte, z, sp->zone_limit,
                                         0x80)) < sp->zone_limit; ++z)
    sets |= tdo_ld_sets(heap, tdo_space_at(sp, z << sp->zone_shift));
  tdo_ld_age(&heap->ld, sets);
}

#define HURRY_LEAST 500000 /* ns, however short a pause is to be: what stays
                              takes memory */

/* When exact roots have taken long enough (scan.h, .hurried); 0: never. */
static uint64_t trace_hurry_deadline(const tdo_heap_t *heap) {
  uint64_t deadline = tdo_pause_flip_deadline(heap);

  return deadline == 0 || !heap->adapts || heap->trace.move_all
             ? 0
             : tdo_max(deadline, heap->trace.started + HURRY_LEAST);
}

static void trace_scan_roots(mps_arena_t heap, mps_rank_t rank) {
  tdo_scan_t scan;

  tdo_scan_init(&scan, heap, rank);
  scan.ahead = tdo_trace_copies(&heap->trace);
  if (rank == TDO_RANK_EXACT)
    scan.deadline = trace_hurry_deadline(heap);
  TDO_RING_FOR(node, &heap->roots[rank]) {
    tdo_root_t *root = TDO_RING_ENTRY(tdo_root_t, heap_ring, node);
    mps_res_t res;
    tdo_scan_hurry(&scan);
    res = tdo_root_scan_rest(&scan, root);
    TDO_ASSERT(res == MPS_RES_OK, "a root's scan method failed");
  }
  heap->trace.hurried |= scan.hurried;
  if (rank == TDO_RANK_EXACT)
    tdo_finals_scan_messages(heap, &scan);
}

/* Pools whose blocks are roots for others (and never white). */
static void trace_scan_rooted(mps_arena_t heap, mps_rank_t rank) {
  tdo_scan_t scan;

  tdo_scan_init(&scan, heap, rank);
  TDO_RING_FOR(node, &heap->traced) {
    tdo_pool_t *pool = TDO_RING_ENTRY(tdo_pool_t, traced_ring, node);
    if (pool->klass->scan_roots != NULL) {
      mps_res_t res = pool->klass->scan_roots(pool, &scan);
      TDO_ASSERT(res == MPS_RES_OK, "a format's scan method failed");
    }
  }
}

/* A reference in a weak root: follow what is known to live. */
static mps_res_t trace_fix_early(tdo_scan_t *scan, mps_addr_t *ref_io) {
  if (!tdo_trace_alive(scan->heap, ref_io))
    scan->heap->trace.whole = true;
  return MPS_RES_OK;
}

static void trace_scan_weak_early(mps_arena_t heap) {
  tdo_scan_t scan;

  tdo_scan_init(&scan, heap, TDO_RANK_WEAK);
  tdo_scan_use(&scan, trace_fix_early);
  TDO_RING_FOR(node, &heap->roots[TDO_RANK_WEAK])
  (void)tdo_root_scan(&scan, TDO_RING_ENTRY(tdo_root_t, heap_ring, node));
}

static void trace_flip(mps_arena_t heap) {
  if (heap->trace.moves)
    trace_age(heap);
  if (heap->trace.closes) /* what is about to be closed need not be opened */
    tdo_shield_set_reach(&heap->shield, 0);
  /* Everything that can be pinned is pinned before anything moves. */
  trace_scan_roots(heap, TDO_RANK_AMBIG);
  trace_scan_rooted(heap, TDO_RANK_AMBIG);
  trace_scan_roots(heap, TDO_RANK_EXACT);
  trace_scan_rooted(heap, TDO_RANK_EXACT);
  tdo_roots_forget_early(heap);
  tdo_remember_scan(heap);
  trace_scan_weak_early(heap);
  tdo_pause_set_reach(heap);
  heap->trace.state = TDO_TRACE_FLIPPED;
}

/* The gc_start and gc messages: both or neither. */
static void trace_post_start(mps_arena_t heap) {
  tdo_message_t *m = heap->messages.start;

  if (!heap->trace.messages)
    return;
  heap->messages.start = NULL;
  if (m != NULL) {
    m->why = heap->trace.why;
    tdo_message_post(heap, m);
  }
}

static void trace_post_end(mps_arena_t heap) {
  tdo_message_t *m = heap->messages.end;

  if (!heap->trace.messages)
    return;
  heap->messages.end = NULL;
  if (m != NULL) {
    m->condemned = heap->trace.condemned;
    m->live = tdo_min(heap->trace.survived, heap->trace.condemned);
    m->not_condemned = heap->trace.left;
    tdo_message_post(heap, m);
  }
}

void tdo_trace_pause(mps_arena_t heap) {
  TDO_RING_FOR(node, &heap->traced) {
    tdo_pool_t *pool = TDO_RING_ENTRY(tdo_pool_t, traced_ring, node);
    if (pool->klass->pause != NULL)
      pool->klass->pause(pool);
  }
}

/* Does what is old stay where it is in a full collection that begins now, if it
   is not that of a small heap? */
static bool trace_stays(const tdo_heap_t *heap) {
  return !heap->explicit_collect && !heap->stress.move;
}

/* Is enough of the heap old to close it in no time? */
static bool trace_closes(const tdo_heap_t *heap) {
  return heap->shielded && tdo_shield_hides(&heap->shield) &&
         heap->top.size / CLOSE_LEAST >
             (double)heap->shield.settings.hide_least;
}

/* A collection as tdo_trace_start, of which nothing is condemned yet. */
static void trace_begin(mps_arena_t heap, tdo_chain_t *chain, size_t last) {
  tdo_trace_t *trace = &heap->trace;

  (void)tdo_tenure_finish(heap);
  heap->cuts += chain == NULL;
  tdo_sanity_around(heap);
  trace->full = chain == NULL;
  trace->chain = chain;
  trace->last = last;
  trace->small = heap->small_next;
  heap->small_next = false;
  trace->skipping =
      trace->small || (chain != NULL && chain == heap->default_chain &&
                       last == 0 && heap->learned.skip > 0);
  trace->move_all = heap->explicit_collect;
  trace->in_place = trace->full && !trace->small &&
                    (trace_stays(heap) || tdo_shortage_all(heap));
  trace->dense = trace->part = 0;
  if (trace->in_place) {
    tdo_shortage_promote(heap);
    trace->dense = tdo_shortage_share(heap, &trace->part);
  }
  trace->emergency = heap->trace_emergency_next && trace->part <= 0 &&
                     trace->dense <= heap->evacuate.least;
  heap->trace_emergency_next = false;
  trace->closes = trace->in_place && trace_closes(heap);
  trace->finalized = trace->moves = trace->whole = false;
  trace->hurried = false;
  trace->bits = trace->refused = 0;
  trace->condemned = trace->filled = 0;
  trace->survived = trace->left = 0;
  trace->scanned = trace->owed = trace->taken = 0;
}

bool tdo_trace_begin_ahead(mps_arena_t heap, const char *why) {
  tdo_trace_t *trace = &heap->trace;

  TDO_CHECK(trace->state == TDO_TRACE_IDLE); /* .one */
  if (heap->given_up || !trace_stays(heap) || !trace_closes(heap))
    return false;
  trace_begin(heap, NULL, 0);
  trace->why = why;
  trace->part = 0; /* what stays is asked, and done, one by one */
  trace->ahead = false;
  trace->state = TDO_TRACE_AHEAD;
  return true;
}

bool tdo_trace_start(mps_arena_t heap, tdo_chain_t *chain, size_t last,
                     const char *why) {
  tdo_trace_t *trace = &heap->trace;

  TDO_CHECK(trace->state == TDO_TRACE_IDLE ||
            (trace->state == TDO_TRACE_AHEAD && chain == NULL)); /* .one */
  tdo_heap_note_work(heap);
  if (trace->state == TDO_TRACE_IDLE)
    trace_begin(heap, chain, last);
  if (trace->full) {
    tdo_evacuate_begin(&heap->evacuate);
    heap->given_up = heap->full_owed = false;
  }
  trace->messages = tdo_messages_secure(heap);
  tdo_threads_stop(heap);
  if (heap->shielded) {
    tdo_shield_note_stopped(&heap->shield);
    tdo_shield_begin_offers(&heap->shield);
  }
  tdo_remember_harvest(heap);
  if (!trace->full)
    tdo_turnover_look(heap);
  trace->state = TDO_TRACE_CONDEMNED;
  trace->started = tdo_clock_ns();
  trace->paused = heap->stats.paused_ns;
  trace->why = why;
  if (trace_any(heap, chain, last)) /* else nothing will flip */
    trace_trap(heap);
  tdo_condemn_bar_ahead(heap);
  if (chain == NULL)
    trace_each_gen(heap, tdo_condemn_gen);
  else
    for (size_t i = 0; i <= last; ++i)
      tdo_condemn_gen(heap, &chain->gens[i]);
  if (trace->condemned == 0) { /* and so nothing was marked before */
    trace->state = TDO_TRACE_IDLE;
    return false;
  }
  trace_each_gen(heap, trace_count_left);
  TDO_EVENT_TEXT(ARENA, COLLECT_BEGIN, why, (tdo_word_t)heap,
                 trace->condemned, trace->full);
  trace_post_start(heap);
  trace_flip(heap);
  tdo_trace_pause(heap);
  trace->flip_ns = tdo_clock_ns() - trace->started;
  TDO_EVENT(TRACE, FLIP, (tdo_word_t)heap, trace->flip_ns);
  return true;
}

/* A reference to a grain of OWNER, which may be null. */
static inline mps_res_t trace_fix_owner(tdo_scan_t *scan, mps_addr_t *ref_io,
                                        tdo_seg_t *owner) {
  tdo_gcseg_t *seg = (tdo_gcseg_t *)(void *)owner;

  if (owner == NULL) {
    TDO_CRITICAL_ASSERT(scan->rank == TDO_RANK_AMBIG,
                        "an exact reference leads to memory not in use: its "
                        "object has moved or died");
    return MPS_RES_OK;
  }
  if (!owner->automatic)
    return MPS_RES_OK;
  if (!seg->white) {
    scan->ss._seen |= seg->gen->bit;
    return MPS_RES_OK;
  }
  if (TDO_UNLIKELY(scan->heap->trace.ephemerons.count != 0))
    return tdo_ephemerons_fix(scan, seg, ref_io);
  return seg->pool->klass->fix(seg->pool, scan, seg, ref_io);
}

/* Client memory beyond its first block, or none. Apart, so that the ordinary
   path saves no registers. */
TDO_NOINLINE static mps_res_t trace_fix_far(tdo_scan_t *scan,
                                            mps_addr_t *ref_io) {
  const tdo_space_t *sp = &scan->heap->space;

  if (!tdo_space_contains(sp, *ref_io))
    return MPS_RES_OK;
  return trace_fix_owner(scan, ref_io, tdo_seg_of(sp, *ref_io));
}

mps_res_t tdo_trace_fix(tdo_scan_t *scan, mps_addr_t *ref_io) {
  const tdo_space_t *sp = &scan->heap->space;

  TDO_EVENT_CRITICAL(REF, FIX, (tdo_word_t)scan->heap, (tdo_word_t)*ref_io,
                     scan->rank);
  if (TDO_UNLIKELY(!tdo_space_near(sp, *ref_io)))
    return trace_fix_far(scan, ref_io);
  return trace_fix_owner(scan, ref_io, tdo_space_near_owner(sp, *ref_io));
}

bool tdo_trace_alive(mps_arena_t heap, mps_addr_t *ref_io) {
  tdo_gcseg_t *seg = tdo_gcseg_of(&heap->space, *ref_io);

  return seg == NULL || !seg->white ||
         seg->pool->klass->alive(seg->pool, seg, ref_io);
}

/* BYTES of SEG were scanned: the first page with nothing but that. A segment
   that was copied to again is scanned from where it was black, and what the
   mutator may have written below since is not known. */
static char *trace_scanned(mps_arena_t heap, tdo_gcseg_t *seg, size_t bytes) {
  size_t page = (size_t)1 << heap->page_shift;
  size_t filled = (size_t)(tdo_gcseg_filled(seg) - seg->seg.base);

  if (seg->white || !seg->pool->klass->moving || bytes >= filled)
    return seg->seg.base;
  return seg->seg.base + tdo_round_up(filled - bytes, page);
}

/* Make grey SEG black by scanning it at RANK. If that is not done at DEADLINE
   it may stay grey, with its read bar: then what is noted of it is what was
   found so far, and it is offered when the rest is scanned. */
static void trace_scan_seg(mps_arena_t heap, tdo_gcseg_t *seg,
                           mps_rank_t rank, uint64_t deadline) {
  /* Once a collection: deferral counts collections. What was granted before
     is still granted, with what was noted since. */
  bool offered = seg->offered == heap->stats.collections + 1;
  tdo_scan_t scan;
  mps_res_t res;

  tdo_scan_init(&scan, heap, rank);
  scan.ahead = tdo_trace_copies(&heap->trace);
  scan.deadline = deadline;
  if (seg->white && !offered)
    tdo_gcseg_release(seg, true);
  tdo_gcseg_expose(seg, seg->seg.base, seg->seg.limit);
  if (seg->owed) {
    seg->owed = false;
    tdo_remember_scan_seg(heap, seg);
  }
  res = seg->pool->klass->scan(seg->pool, &scan, seg);
  TDO_ASSERT(res == MPS_RES_OK, "a format's scan method failed");
  heap->trace.scanned += scan.bytes;
  tdo_gcseg_note(seg, seg->seg.base, seg->seg.limit, scan.ss._seen);
  if (scan.bytes > 0)
    tdo_tell_pages(seg, trace_scanned(heap, seg, scan.bytes), seg->seg.limit);
  if (scan.partly) {
    tdo_gcseg_cover(seg, seg->seg.base, seg->seg.limit);
    return;
  }
  tdo_gcseg_set_black(seg);
  if (!offered && scan.bytes > 0) {
    seg->offered = heap->stats.collections + 1;
    tdo_gcseg_offer(seg, trace_scanned(heap, seg, scan.bytes),
                    seg->seg.limit, scan.ss._seen);
  } else if (!offered && seg->white) {
    tdo_gcseg_dirty(seg, seg->seg.base, seg->seg.limit); /* it has no bars */
  }
  tdo_gcseg_cover(seg, seg->seg.base, seg->seg.limit);
}

void tdo_trace_access(mps_arena_t heap, tdo_gcseg_t *seg) {
  uint64_t begun;

  if (!seg->grey) {
    tdo_gcseg_unbar(seg); /* somebody looks at the dead */
    return;
  }
  if (!tdo_trace_flipped(&heap->trace)) /* (condemn.h, .ahead) */
    return;
  tdo_heap_note_work(heap);
  begun = tdo_clock_ns();
  /* Weak references scanned before their time keep what they refer to. */
  if (seg->rank > TDO_RANK_EXACT)
    tdo_pause_weak_met(heap);
  trace_scan_seg(heap, seg,
                 seg->rank > TDO_RANK_EXACT ? TDO_RANK_EXACT : seg->rank, 0);
  heap->stats.traced_ns += tdo_clock_ns() - begun;
  tdo_trace_pause(heap);
}

/* The next grey segment of the ranks that are due; null if none. */
static tdo_gcseg_t *trace_next_grey(mps_arena_t heap) {
  for (int rank = TDO_RANK_AMBIG; rank <= TDO_RANK_EXACT; ++rank) {
    tdo_ring_t *ring = &heap->trace.grey[rank];
    if (!tdo_ring_empty(ring))
      return TDO_RING_ENTRY(tdo_gcseg_t, grey_ring, ring->next);
  }
  return NULL;
}

/* In a collection of everything, the next grey segment above the one scanned
   last: segments become grey in any order, but neighbours are opened, and
   closed, in one call. Null if there is none near. */
static tdo_gcseg_t *trace_next_above(mps_arena_t heap,
                                     const tdo_gcseg_t *head) {
  const tdo_space_t *sp = &heap->space;
  const char *p = heap->trace.sweep;

  for (int i = 0; i < SWEEP_NEAR && p != NULL; ++i) {
    tdo_gcseg_t *seg = tdo_gcseg_of(sp, p);
    if (seg == NULL)
      return NULL;
    if (seg->grey && seg->rank == head->rank)
      return seg;
    p = seg->seg.limit;
  }
  return NULL;
}

void tdo_trace_scan_first(mps_arena_t heap, tdo_gcseg_t *seg) {
  tdo_scan_t scan;
  mps_res_t res;

  tdo_scan_init(&scan, heap, TDO_RANK_EPHEMERON);
  tdo_gcseg_expose(seg, seg->seg.base, seg->seg.limit);
  res = seg->pool->klass->scan(seg->pool, &scan, seg);
  TDO_ASSERT(res == MPS_RES_OK, "a format's scan method failed");
  heap->trace.scanned += scan.bytes;
  tdo_gcseg_note(seg, seg->seg.base, seg->seg.limit, scan.ss._seen);
  tdo_gcseg_cover(seg, seg->seg.base, seg->seg.limit);
}

void tdo_trace_scan_last(mps_arena_t heap, tdo_gcseg_t *seg) {
  trace_scan_seg(heap, seg, TDO_RANK_WEAK, 0);
}

bool tdo_trace_drained(mps_arena_t heap) {
  return heap->trace.state == TDO_TRACE_FLIPPED &&
         trace_next_grey(heap) == NULL && tdo_ephemerons_idle(heap);
}

/* Scan grey segments; false if the budget ran out first. */
static bool trace_drain(mps_arena_t heap, size_t limit, uint64_t deadline) {
  tdo_trace_t *trace = &heap->trace;
  size_t look = trace->scanned + TDO_SCAN_LOOK;
  tdo_gcseg_t *seg;

  for (;;) {
    seg = trace_next_grey(heap);
    if (seg != NULL && trace->full) {
      tdo_gcseg_t *above = trace_next_above(heap, seg);
      seg = above != NULL ? above : seg;
      trace->sweep = seg->seg.limit;
    }
    if (seg != NULL)
      trace_scan_seg(heap, seg, seg->rank, deadline);
    else if (!tdo_ephemerons_step(heap))
      return true;
    if (trace->scanned >= limit)
      return tdo_trace_drained(heap);
    if (trace->scanned >= look) {
      if (tdo_clock_past(deadline))
        return tdo_trace_drained(heap);
      look = trace->scanned + TDO_SCAN_LOOK;
    }
  }
}

/* May a reference become null when all that lives is known? */
static bool trace_splats(const tdo_trace_t *trace) {
  return !tdo_ring_empty(&trace->grey[TDO_RANK_WEAK]) ||
         !tdo_ring_empty(&trace->ephemerons.settling);
}

/* Nothing but weak references is left: splat those to the dead. */
static void trace_weak(mps_arena_t heap) {
  tdo_ring_t *ring = &heap->trace.grey[TDO_RANK_WEAK];

  trace_scan_roots(heap, TDO_RANK_WEAK);
  while (!tdo_ring_empty(ring)) {
    tdo_gcseg_t *seg = TDO_RING_ENTRY(tdo_gcseg_t, grey_ring, ring->next);
    trace_scan_seg(heap, seg, TDO_RANK_WEAK, 0);
  }
  tdo_ephemerons_settle(heap);
}

#define RECLAIM_CLOCK 32 /* segments reclaimed between looks at the clock */

/* Reclaim the condemned segments of GEN; false if the time is up first. */
static bool trace_reclaim_gen(tdo_gen_t *gen, uint64_t deadline) {
  unsigned count = 0;

  if (!gen->condemned)
    return true;
  while (!tdo_ring_empty(&gen->white)) {
    tdo_gcseg_t *seg =
        TDO_RING_ENTRY(tdo_gcseg_t, gen_ring, gen->white.next);
    seg->pool->klass->reclaim(seg->pool, seg);
    if (++count % RECLAIM_CLOCK == 0 && tdo_clock_past(deadline))
      return false;
  }
  tdo_gen_pardon(gen);
  return true;
}

static bool trace_reclaim(mps_arena_t heap, uint64_t deadline) {
  TDO_RING_FOR(node, &heap->chains) {
    tdo_chain_t *chain = TDO_RING_ENTRY(tdo_chain_t, heap_ring, node);
    for (size_t i = 0; i < chain->count; ++i)
      if (!trace_reclaim_gen(&chain->gens[i], deadline))
        return false;
  }
  return trace_reclaim_gen(&heap->top, deadline);
}

uint64_t tdo_trace_worked_ns(mps_arena_t heap) {
  uint64_t session =
      heap->session_ns != 0 ? tdo_clock_ns() - heap->session_ns : 0;

  return heap->stats.paused_ns - heap->trace.paused + session;
}

static void trace_end(mps_arena_t heap) {
  tdo_trace_t *trace = &heap->trace;

  trace->state = TDO_TRACE_IDLE;
  trace->took_ns = tdo_clock_ns() - trace->started;
  TDO_EVENT(ARENA, COLLECT_END, (tdo_word_t)heap, trace->condemned,
            trace->survived, trace->scanned, trace->took_ns);
  trace_post_end(heap);
  heap->stats.survived += trace->survived;
  ++heap->stats.collections;
  heap->stats.full_collections += trace->full;
  tdo_log_collection(heap);
  tdo_learn(heap);
  tdo_sanity_around(heap);
}

/* Find, and keep, all that lives; false if the budget ran out first. */
static bool trace_trace(mps_arena_t heap, size_t limit, uint64_t deadline) {
  tdo_trace_t *trace = &heap->trace;

  while (trace->state == TDO_TRACE_FLIPPED) {
    if (!trace_drain(heap, limit, deadline))
      return false;
    if (!trace->finalized) {
      tdo_scan_t scan;
      trace->finalized = true;
      tdo_scan_init(&scan, heap, TDO_RANK_FINAL);
      tdo_finals_trace(heap, &scan);
      continue;
    }
    if (trace->at_hit && !trace->whole && trace_splats(trace))
      return false;
    trace_weak(heap);
    if (tdo_trace_drained(heap)) {
      tdo_ephemerons_reset(&trace->ephemerons, heap);
      trace->state = TDO_TRACE_RECLAIM;
    }
  }
  return true;
}

bool tdo_trace_work(mps_arena_t heap, size_t bytes, uint64_t deadline) {
  tdo_trace_t *trace = &heap->trace;
  size_t limit = bytes > SIZE_MAX - trace->scanned ? SIZE_MAX
                                                   : trace->scanned + bytes;
  uint64_t begun;
  bool done;

  if (trace->state == TDO_TRACE_IDLE)
    return true;
  tdo_heap_note_work(heap);
  if (trace->state == TDO_TRACE_AHEAD) {
    if (!tdo_condemn_ahead(heap, bytes, deadline) ||
        !tdo_roots_mark_early(heap, deadline))
      return false;
    if (!tdo_trace_start(heap, NULL, 0, trace->why))
      return true;
  }
  if (trace->whole) { /* the flip may have been this one's */
    limit = SIZE_MAX;
    deadline = 0;
  }
  begun = tdo_clock_ns();
  done = trace_trace(heap, limit, deadline);
  heap->stats.traced_ns += tdo_clock_ns() - begun;
  tdo_trace_pause(heap);
  if (!done || !trace_reclaim(heap, deadline))
    return false;
  trace_end(heap);
  return true;
}

void tdo_trace_finish(mps_arena_t heap) {
  while (!tdo_trace_work(heap, SIZE_MAX, 0)) {
  }
}

void tdo_trace_give_up(mps_arena_t heap) {
  if (heap->trace.state != TDO_TRACE_AHEAD)
    return;
  tdo_roots_forget_early(heap);
  tdo_condemn_pardon(heap);
  heap->trace.state = TDO_TRACE_IDLE;
  heap->full_wanted = heap->given_up = true;
}

void tdo_trace_settle(mps_arena_t heap) {
  if (heap->clamp != TDO_UNCLAMPED)
    tdo_trace_give_up(heap);
  tdo_trace_finish(heap);
  if (heap->full_owed && heap->clamp == TDO_UNCLAMPED &&
      tdo_trace_start(heap, NULL, 0, "The client asked for a full collection "
                                     "to start."))
    tdo_trace_finish(heap);
}
