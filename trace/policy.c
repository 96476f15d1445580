/* Testudo: when to collect what, and how fast (interface, section 5).
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/policy.h"
#include <math.h>
#include "code/check.h"
#include "code/clock.h"
#include "code/platform.h"
#include "trace/condemn.h"
#include "trace/pause.h"
#include "trace/promote.h"
#include "trace/shortage.h"
#include "trace/tenure.h"

#define ROOM_SHARE    0.1 /* of the heap allocated while a full one runs */
#define ROOM_LEAST    ((double)(4 << 20))
#define SCAN_RATE     4e8  /* bytes a second, for predictions */
#define STEP_REST     9.0  /* times as long as a full collection took, before
                              steps begin one though nothing was made since */

#define LATE_LEAST ((double)(4 << 20)) /* bytes of a heap that is looked at */
#define LATE_NS    5e9 /* since the last full collection, with the usual rest */

#define FULL_GROWN "The heap has grown since the last full collection."
#define FULL_LATE  "Old objects were not looked at for long."
#define CHAIN_FULL "A generation passed its capacity."
#define SMALL_FULL "The nursery of a small heap is full."

#define RAMP_MOST ((double)(64 << 20)) /* bytes made in a ramp, or as much as is
                                         old, after which it waits no more */

#define STRESS_PART 65536 /* bytes promoted at a time, under stress */

size_t tdo_policy_writes(const tdo_heap_t *heap) {
  const tdo_shield_stats_t *stats = &heap->shield.stats;

  if (heap->tenure.chains == 0 || !tdo_heap_guarded(heap))
    return SIZE_MAX;
  return stats->hits_write + stats->harvest_written +
         heap->remembered.written;
}

/* Is CHAIN not to be collected, for now? What a ramp makes is expected to die
   when it ends; but some never end, or other points make more. */
static bool policy_ramp_waits(const tdo_chain_t *chain) {
  double old = chain->heap->top.size;

  return chain->ramps > 0 &&
         chain->gens[0].fresh <= tdo_fmax(RAMP_MOST, old);
}

/* Highest generation of CHAIN over its capacity, or -1; none during a ramp. */
static long policy_due(const tdo_chain_t *chain) {
  long due = -1;

  if (policy_ramp_waits(chain))
    return due;
  for (size_t i = 0; i < chain->count; ++i)
    if (chain->gens[i].fresh > chain->gens[i].capacity)
      due = (long)i;
  return due;
}

/* A chain with a generation over its capacity, the first, and that one; or
   null. */
static tdo_chain_t *policy_find_due(const tdo_heap_t *heap, size_t *due_o) {
  TDO_RING_FOR(node, (tdo_ring_t *)&heap->chains) {
    tdo_chain_t *chain = TDO_RING_ENTRY(tdo_chain_t, heap_ring, node);
    long due = policy_due(chain);
    if (due >= 0) {
      *due_o = (size_t)due;
      return chain;
    }
  }
  return NULL;
}

/* Not old is what is in GEN, a nursery, but for blocks that stay in it; or all
   of it, if it would just be promoted. */
static void policy_add_nursery(tdo_small_facts_t *facts, const tdo_gen_t *gen,
                               bool promoted) {
  facts->nursery += gen->capacity;
  facts->young += gen->size;
  if (!promoted)
    facts->old -= tdo_fmax(0, gen->size - gen->stayed);
}

/* What small.h asks for, when the nursery of CHAIN is full; what others have is
   as good as old. Or when a full collection is to come, if that is null. */
static tdo_small_facts_t policy_small_facts(const tdo_heap_t *heap,
                                            const tdo_chain_t *chain) {
  tdo_small_facts_t facts = {
      .old = tdo_heap_size(heap),
      .minor = heap->full.minor,
      .alive = heap->alive,
      .built = tdo_full_ended(&heap->full),
      .most = (double)heap->small_most,
      .pause = heap->pause_time,
      .once = tdo_pause_once(heap),
      .weak = tdo_pause_weak(heap),
      .quick = chain != NULL && tdo_worth_quick(&chain->worth)};

  if (chain != NULL) {
    policy_add_nursery(&facts, &chain->gens[0], false);
    return facts;
  }
  TDO_RING_FOR(node, (tdo_ring_t *)&heap->chains) {
    chain = TDO_RING_ENTRY(tdo_chain_t, heap_ring, node);
    policy_add_nursery(&facts, &chain->gens[0], chain->tenure > 0);
  }
  return facts;
}

/* Did the last full collection leave so much room that it is time for another,
   which copies? */
static bool policy_full_soon(const tdo_heap_t *heap) {
  tdo_small_facts_t facts;

  if (!tdo_small_soon(&heap->small, heap->alive, heap->top.fresh) ||
      tdo_shortage_small(heap))
    return false;
  facts = policy_small_facts(heap, NULL);
  return tdo_small_instead(&heap->small, &facts);
}

/* Bytes of nurseries that are now promoted as they are. */
static double policy_promoted(const tdo_heap_t *heap) {
  double bytes = 0;

  if (!heap->due || heap->tenure.chains == 0)
    return 0;
  TDO_RING_FOR(node, (tdo_ring_t *)&heap->chains) {
    const tdo_chain_t *chain = TDO_RING_ENTRY(tdo_chain_t, heap_ring, node);
    if (chain->tenure > 0 && policy_due(chain) >= 0)
      bytes += chain->gens[0].fresh;
  }
  return bytes;
}

/* Was the last full collection over so long ago? */
static bool policy_rested(const tdo_heap_t *heap, double ns) {
  return (double)(tdo_clock_ns() - heap->whole.ended) >= ns;
}

/* A program may let go of most of what it has, and then make only what dies
   young: nothing is promoted, and nothing else tells. So it is looked at in a
   small part of the time (learn.c: smaller, where that was in vain). Not where
   memory is short: that tells, and to move what is young takes of the rest. */
static bool policy_late(const tdo_heap_t *heap) {
  double size = tdo_heap_size(heap), took;

  if (!heap->adapts || size < LATE_LEAST || tdo_shortage_near(heap))
    return false;
  took = tdo_fmax(size / SCAN_RATE * 1e9, heap->whole.took);
  return policy_rested(heap, heap->whole.rest *
                                 tdo_fmax(took, LATE_NS / TDO_WHOLE_REST));
}

/* May another one come early (full.h, .easy)? By the clock, so not where runs
   are to be alike. */
static bool policy_full_easy(tdo_heap_t *heap, double fresh) {
  double wait;

  if (!heap->adapts)
    return false;
  wait = tdo_full_wait(&heap->full, fresh);
  if (wait >= INFINITY || !policy_rested(heap, wait))
    return false;
  tdo_full_begin_early(&heap->full);
  return true;
}

/* Is it time for a full collection? When what was promoted to the top since
   the last one is much beside what then survived, or when copying what there
   is might soon not fit under the commit limit. */
static bool policy_full_due(tdo_heap_t *heap) {
  double fresh = heap->top.fresh;

  if (heap->full_wanted || heap->full_owed)
    return true;
  /* Before a promotion, not after it: then there is a nursery to judge by. */
  fresh += policy_promoted(heap);
  return tdo_full_grown(&heap->full, fresh, tdo_policy_writes(heap)) ||
         tdo_shortage_full_due(heap) || policy_full_soon(heap) ||
         policy_full_easy(heap, fresh);
}

/* May the collection in progress go on in slices? Most minor ones end within
   their first. */
static bool policy_incremental(const tdo_heap_t *heap) {
  double all = (double)heap->trace.condemned + (double)heap->trace.owed;

  return tdo_pause_slices(heap) && !heap->trace.whole &&
         !(tdo_pause_weak(heap) && all <= tdo_pause_once(heap));
}

/* After the flip. If that took most of the time, a full collection goes on
   later: to open what it scans takes time before any is scanned. */
static void policy_run(tdo_heap_t *heap) {
  uint64_t deadline;

  if (!policy_incremental(heap)) {
    tdo_trace_finish(heap);
    return;
  }
  deadline = tdo_pause_first_deadline(heap);
  if (!heap->trace.full ||
      deadline >= tdo_clock_ns() + (uint64_t)tdo_pause_slice_ns(heap))
    (void)tdo_trace_work(heap, SIZE_MAX, deadline);
}

/* All that can be done before the flip, until DEADLINE; true if it is done. */
static bool policy_prepare(tdo_heap_t *heap, uint64_t deadline) {
  return tdo_condemn_ahead(heap, SIZE_MAX, deadline) &&
         tdo_roots_mark_early(heap, deadline);
}

/* A full collection has begun, and its flip is to come: go on with what can be
   done before, then flip, as soon as the pause time allows. */
static void policy_ahead(tdo_heap_t *heap) {
  if (!tdo_pause_has_flip(heap) && !tdo_shortage_near(heap))
    return;
  if (!heap->trace.ahead)
    heap->trace.ahead = policy_prepare(heap, tdo_pause_ahead_deadline(heap));
  else if (tdo_trace_start(heap, NULL, 0, heap->trace.why))
    policy_run(heap);
}

/* A full collection is in progress and the mutator got BYTES: do enough to
   end before it has got a share of the heap. */
static void policy_advance(tdo_heap_t *heap, size_t bytes) {
  double all = (double)heap->trace.condemned + (double)heap->trace.owed;
  double room = tdo_fmax(tdo_fmin(ROOM_LEAST, all), ROOM_SHARE * all);
  double least = SCAN_RATE * tdo_pause_slice_ns(heap) * 1e-9;
  size_t work;

  heap->trace.taken += bytes;
  if (tdo_shortage_crammed(heap) || !policy_incremental(heap)) {
    tdo_trace_finish(heap);
    return;
  }
  /* A slice ends with putting up bars: not for too little. */
  heap->debt += (double)bytes * all / tdo_shortage_pace(heap, room);
  least = tdo_fmin(tdo_fmax(least, (double)heap->hits.quantum), all);
  if (heap->debt < least && !tdo_trace_drained(heap))
    return;
  work = (size_t)heap->debt;
  heap->debt = 0;
  (void)tdo_trace_work(
      heap, work,
      tdo_pause_late_deadline(heap, (double)heap->trace.taken / room));
}

/* Start a collection of everything, as that of a small heap, or not. */
static bool policy_start_all(tdo_heap_t *heap, bool small, const char *why) {
  heap->debt = 0;
  heap->instead = false;
  heap->small_for = NULL;
  heap->small_next = small;
  return tdo_trace_start(heap, NULL, 0, why);
}

/* In turn all moves or not, and twice each as in a small heap, or not; ahead of
   the flip where that can be. */
static void policy_stress_full(tdo_heap_t *heap) {
  heap->stress.move = !heap->stress.move;
  if (heap->stress.move)
    heap->stress.small = !heap->stress.small;
  else if (!heap->stress.small && tdo_pause_slices(heap) &&
           tdo_trace_begin_ahead(heap, "stress, full"))
    return;
  if (!policy_start_all(heap, heap->stress.small, "stress, full"))
    return;
  heap->trace.move_all = heap->stress.move;
  if (policy_incremental(heap) &&
      !(heap->trace.small && heap->stress.move)) /* either way (.instead) */
    (void)tdo_trace_work(heap, 1, 0);
  else
    tdo_trace_finish(heap);
}

/* Each chain in turn, but first the one of which a part is promoted already. */
static tdo_chain_t *policy_stress_next(tdo_heap_t *heap) {
  tdo_ring_t *first = heap->chains.next;

  if (heap->tenure.chain != NULL)
    return heap->tenure.chain;
  tdo_ring_remove(first);
  tdo_ring_append(&heap->chains, first);
  return TDO_RING_ENTRY(tdo_chain_t, heap_ring, first);
}

/* A promotion and a minor collection in turn. */
static void policy_stress_chain(tdo_heap_t *heap) {
  tdo_chain_t *chain = policy_stress_next(heap);

  heap->stress.tenure = !heap->stress.tenure;
  if (heap->stress.tenure && tdo_tenure(heap, chain, STRESS_PART) > 0)
    return;
  if (tdo_trace_start(heap, chain, chain->count - 1, "stress, minor"))
    tdo_trace_finish(heap);
}

/* What is done with a chain, and full collections in turn, so that each path is
   met. */
static bool policy_stress(tdo_heap_t *heap) {
  if (heap->stress.each == 0 || ++heap->stress.count < heap->stress.each)
    return false;
  heap->stress.count = 0;
  if (!tdo_heap_size(heap))
    return false;
  heap->stress.turn = !heap->stress.turn && !tdo_ring_empty(&heap->chains);
  if (heap->stress.turn)
    policy_stress_chain(heap);
  else
    policy_stress_full(heap);
  return true;
}

/* Is there a ramp, which keeps what is made young? */
static bool policy_ramps(const tdo_heap_t *heap) {
  TDO_RING_FOR(node, (tdo_ring_t *)&heap->chains) {
    if (TDO_RING_ENTRY(tdo_chain_t, heap_ring, node)->ramps > 0)
      return true;
  }
  return false;
}

/* Collect a small heap as a whole if that is due (small.h): the nursery of
   CHAIN is full, or if that is null, a full collection is due. True if it
   was. */
static bool policy_small(tdo_heap_t *heap, tdo_chain_t *chain) {
  tdo_small_facts_t facts;
  bool wanted = chain == NULL;

  if (tdo_shortage_small(heap) || policy_ramps(heap))
    return false;
  facts = policy_small_facts(heap, chain);
  if (!(wanted && tdo_small_instead(&heap->small, &facts)) &&
      !tdo_small_due(&heap->small, &facts))
    return false;
  if (policy_start_all(heap, true, wanted ? FULL_GROWN : SMALL_FULL)) {
    heap->instead = wanted;
    heap->small_for = chain;
    if (!tdo_small_at_once(&heap->small, &facts))
      policy_run(heap);
    else if (facts.weak && policy_incremental(heap)) /* by an estimate only */
      (void)tdo_trace_work(heap, SIZE_MAX, tdo_pause_weak_deadline());
    else
      tdo_trace_finish(heap);
  }
  return true;
}

/* The same, when a generation of CHAIN passed its capacity. */
static bool policy_small_chain(tdo_heap_t *heap, tdo_chain_t *chain) {
  return chain->gens[0].fresh > chain->gens[0].capacity &&
         policy_small(heap, chain);
}

/* Promote CHAIN as it is, while minor collections would find next to nothing,
   or there is no room for what they find. What is lost by that until the next
   full collection is bounded. */
static bool policy_tenure(tdo_heap_t *heap, tdo_chain_t *chain) {
  if (!tdo_promote_due(heap, chain))
    return false;
  return tdo_promote_part(heap, chain) || policy_due(chain) < 0;
}

static void policy_begin_full(tdo_heap_t *heap, const char *why) {
  if (!tdo_pause_slices(heap) || !tdo_trace_begin_ahead(heap, why)) {
    (void)tdo_policy_start_full(heap, why);
    return;
  }
  heap->debt = 0;
  heap->full_wanted = false;
  policy_ahead(heap);
}

/* A piece of what is to go back to the system, if there is any; true if there
   is more. */
static bool policy_give_back(tdo_heap_t *heap, bool idle) {
  bool more = idle ? tdo_control_ease_idle(&heap->control)
                   : tdo_control_ease(&heap->control);

  return tdo_space_ease(&heap->space) || more;
}

void tdo_policy_poll(tdo_heap_t *heap) {
  size_t bytes = heap->unpolled, due;
  tdo_chain_t *chain;

  heap->unpolled = 0;
  if (!TDO_POLL || heap->clamp != TDO_UNCLAMPED)
    return;
  (void)policy_give_back(heap, false);
  if (tdo_trace_busy(&heap->trace)) {
    if (heap->trace.state != TDO_TRACE_AHEAD)
      policy_advance(heap, bytes);
    else if (heap->stress.each == 0)
      policy_ahead(heap);
    if (heap->stress.each != 0)
      (void)tdo_trace_work(heap, 4096, 0);
    return;
  }
  if (policy_stress(heap))
    return;
  if (heap->tenure.chain != NULL) {
    (void)tdo_promote_part(heap, heap->tenure.chain);
    return;
  }
  if (policy_full_due(heap)) {
    if (heap->full_wanted || heap->full_owed || !policy_small(heap, NULL))
      policy_begin_full(heap, FULL_GROWN);
    return;
  }
  TDO_CRITICAL(heap->due || policy_find_due(heap, &due) == NULL);
  if (!heap->due)
    return;
  if (policy_late(heap)) {
    heap->whole.late = true;
    policy_begin_full(heap, FULL_LATE);
    return;
  }
  chain = policy_find_due(heap, &due);
  heap->due = chain != NULL;
  if (chain != NULL && !policy_small_chain(heap, chain) &&
      !policy_tenure(heap, chain) &&
      tdo_trace_start(heap, chain, due, CHAIN_FULL))
    policy_run(heap);
}

bool tdo_policy_start_full(tdo_heap_t *heap, const char *why) {
  if (tdo_trace_flipped(&heap->trace)) {
    if (heap->trace.full)
      return true;
    /* A minor one. If more is left of it than a slice, it goes on first. */
    if (!policy_incremental(heap))
      tdo_trace_finish(heap);
    else if (!tdo_trace_work(heap, SIZE_MAX, tdo_pause_deadline(heap))) {
      heap->full_owed = true;
      return true;
    }
  }
  heap->debt = 0;
  heap->full_wanted = false;
  if (!tdo_trace_start(heap, NULL, 0, why))
    return false;
  policy_run(heap);
  return true;
}

bool tdo_policy_collect(tdo_heap_t *heap, const char *why) {
  tdo_trace_give_up(heap);
  tdo_trace_finish(heap);
  heap->full_wanted = false;
  if (!tdo_trace_start(heap, NULL, 0, why)) {
    tdo_space_trim(&heap->space); /* the client waits for this, too */
    return false;
  }
  tdo_trace_finish(heap);
  return true;
}

/* Is a full collection in the time that a client offers worth it? Not where the
   heap is as the last one left it, unless that is long ago: a program with
   nothing to do would collect all day. */
static bool policy_worth_step(const tdo_heap_t *heap, double size) {
  return size > heap->whole.size ||
         policy_rested(heap, STEP_REST * heap->whole.took);
}

/* Begin what is due: a full collection, if it is worth it and fits in the time
   that the client does without; or one of a chain. */
static bool policy_step_begin(tdo_heap_t *heap, double seconds) {
  double size = tdo_heap_size(heap);

  if (size > 0 && (heap->full_owed || (size / SCAN_RATE <= seconds &&
                                       policy_worth_step(heap, size)))) {
    heap->debt = 0;
    return tdo_trace_start(heap, NULL, 0,
                           "The client offered time by a step.");
  }
  TDO_RING_FOR(node, &heap->chains) {
    tdo_chain_t *chain = TDO_RING_ENTRY(tdo_chain_t, heap_ring, node);
    long due = policy_due(chain);
    if (due >= 0 && tdo_trace_start(heap, chain, (size_t)due, CHAIN_FULL))
      return true;
  }
  return false;
}

bool tdo_policy_step(tdo_heap_t *heap, double seconds, double multiplier) {
  uint64_t deadline =
      tdo_clock_ns() + (uint64_t)(tdo_fmin(seconds, 1e6) * 1e9);
  bool worked = tdo_trace_busy(&heap->trace) ||
                policy_step_begin(heap, multiplier * seconds);
  bool more;

  if (tdo_trace_busy(&heap->trace)) {
    if (policy_incremental(heap))
      (void)tdo_trace_work(heap, SIZE_MAX, deadline);
    else
      tdo_trace_finish(heap);
  }
  do
    more = policy_give_back(heap, true);
  while (more && tdo_clock_ns() < deadline);
  return worked || more;
}
