/* Testudo: what a collection that is over tells about the next ones.
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/learn.h"
#include "code/available.h"
#include "code/clock.h"
#include "trace/capacity.h"
#include "trace/pause.h"
#include "trace/policy.h"
#include "trace/shortage.h"

#define SKIP_DENSE    0.7 /* surviving share of the middle generation that has
                             the nursery promoted past it */
#define SKIP_LEAST    4   /* times in a row, doubled while that holds */
#define SKIP_MOST     16

#define TENURE_DENSE 0.85 /* surviving share of a nursery, */
#define TENURE_RUNS  2    /* times in a row, to promote the next ones as they
                             are; the first time twice this one's size, */
#define TENURE_LEAST 0.25 /* of its capacity that such a nursery has; */
#define TENURE_SHARE 0.4  /* in the end this share of the heap, or */
#define TENURE_END   ((double)(512 << 20)) /* so many bytes */

#define BESIDE_MIX 0.5 /* weight of the last collection */

#define WHOLE_FOUND 0.1 /* of what lived before, dead: much */
#define WHOLE_MOST  (16 * TDO_WHOLE_REST)

#define UNUSED 0.0625 /* of a nursery is made between two collections of the
                         generation after it: pools that do not move make all
                         there */

#define HOLD_NURSERY 1.25 /* of each nursery, of spare memory that is kept */

/* When nearly all of the middle generation survived, the nursery's survivors
   would just be copied once more there: for some collections they go past it
   to the top. Then the middle one is filled and looked at again. */
static void learn_skip(tdo_heap_t *heap) {
  const tdo_trace_t *trace = &heap->trace;
  tdo_learned_t *learned = &heap->learned;
  const tdo_gen_t *middle;

  if (heap->default_chain == NULL || trace->chain != heap->default_chain)
    return;
  if (learned->skip > 0 && trace->skipping)
    --learned->skip;
  middle = &heap->default_chain->gens[1];
  if (trace->last < 1 || middle->condemned_size == 0)
    return;
  if (middle->survived > SKIP_DENSE * middle->condemned_size)
    learned->skip_next = tdo_min(SKIP_MOST, tdo_max(SKIP_LEAST,
                                                    2 * learned->skip_next));
  else
    learned->skip_next = 0;
  learned->skip = learned->skip_next;
}

static void learn_worth(const tdo_heap_t *heap, tdo_chain_t *chain,
                        double ns) {
  const tdo_trace_t *trace = &heap->trace;
  double freed = (double)trace->condemned - (double)trace->survived;

  if (trace->full)
    tdo_worth_full(&chain->worth, freed, ns, !trace->in_place);
  else if (trace->last == 0)
    tdo_worth_minor(&chain->worth, freed, ns);
}

/* A collection that condemned a fair share of the nursery of CHAIN tells
   whether the next ones are worth their while. The heap has SIZE bytes. */
static void learn_judge(const tdo_heap_t *heap, tdo_chain_t *chain,
                        double size) {
  const tdo_gen_t *nursery = &chain->gens[0];

  chain->tenured = 0;
  if (nursery->condemned_size < TENURE_LEAST * nursery->capacity) {
    /* Full collections for want of memory may leave no minor one to look. */
    if (heap->trace.full && chain->tenure > 0 && tdo_shortage_near(heap)) {
      tdo_chain_set_tenure(chain, 0);
      chain->dense = TENURE_RUNS - 1;
    }
    chain->tenured = size; /* the next one tells */
    return;
  }
  if (nursery->survived <= TENURE_DENSE * nursery->condemned_size &&
      !tdo_worth_little(&chain->worth, heap->alive)) {
    chain->dense = 0;
    tdo_chain_set_tenure(chain, 0);
  } else if (++chain->dense >= TENURE_RUNS) {
    double most = tdo_fmin(TENURE_SHARE * size, TENURE_END);
    double next = 2 * tdo_fmax(chain->tenure, nursery->condemned_size);
    tdo_chain_set_tenure(chain, tdo_fmin(most, next));
  }
}

/* What a minor collection scanned besides what moved on: old pages that were
   written and roots, and blocks that stay. */
static void learn_beside(tdo_heap_t *heap) {
  const tdo_trace_t *trace = &heap->trace;
  tdo_chain_t *chain = trace->chain;
  double moved = (double)trace->survived;

  if (chain == NULL)
    return;
  for (size_t i = 0; i <= trace->last; ++i)
    moved -= chain->gens[i].stayed;
  chain->beside += BESIDE_MIX * (tdo_fmax(0, (double)trace->scanned - moved) -
                                 chain->beside);
}

/* Is nothing made in the nursery, so that collections begin with the generation
   after it? When something is, what is there must have bars at once. */
static void learn_youngest(tdo_heap_t *heap) {
  tdo_gen_t *nursery = &heap->default_chain->gens[0];
  tdo_gen_t *middle = &heap->default_chain->gens[1];
  bool used;

  heap->learned.made += nursery->condemned_size;
  used = heap->learned.made >= UNUSED * nursery->capacity;
  if (used || heap->trace.last > 0)
    tdo_gen_set_youngest(middle, !used);
  if (heap->trace.last > 0)
    heap->learned.made = 0;
}

static void learn_adapt_default(tdo_heap_t *heap, double share,
                                const tdo_nursery_found_t *found) {
  tdo_chain_t *chain = heap->default_chain;
  tdo_gen_t *nursery = &chain->gens[0], *middle = &chain->gens[1];
  tdo_nursery_facts_t facts;

  if (heap->trace.last > 0)
    middle->capacity = tdo_nursery_middle(
        middle->capacity, middle->condemned_size, middle->survived);
  learn_youngest(heap);
  if (heap->adapts)
    nursery->capacity = tdo_nursery_adapt(&chain->nursery, nursery->capacity,
                                          share, found);
  facts = tdo_capacity_bounds(heap); /* with what is used */
  tdo_capacity_set(heap, chain, &facts);
}

/* One that the client made, and in which something was, has as much as it gave,
   at least. */
static void learn_adapt_client(tdo_chain_t *chain, double share,
                               const tdo_nursery_found_t *found) {
  double before = chain->gens[0].capacity, after;

  if (chain->gens[0].condemned_size <= 0)
    return;
  after = tdo_nursery_adapt(&chain->nursery, before, share, found);
  if (after > before || after < before)
    chain->grown = after;
}

/* CHAIN adapts to how long collections take: this SHARE of the time. */
static void learn_adapt(tdo_heap_t *heap, tdo_chain_t *chain, double share,
                        double ns, const tdo_nursery_found_t *found) {
  const tdo_trace_t *trace = &heap->trace;
  const tdo_gen_t *nursery = &chain->gens[0];

  if (heap->stress.each != 0 || (trace->full && !trace->small))
    return;
  if (trace->last == 0 &&
      nursery->condemned_size >= TENURE_LEAST * nursery->capacity)
    tdo_nursery_note(&chain->nursery, ns, nursery->condemned_size,
                     nursery->survived);
  if (chain == heap->default_chain)
    learn_adapt_default(heap, share, found);
  else if (heap->adapts)
    learn_adapt_client(chain, share, found);
}

/* The share of the time since the collection before that this one took, NS, and
   the pauses between. */
static double learn_share(tdo_heap_t *heap, double ns) {
  uint64_t now = heap->trace.started + heap->trace.took_ns;
  uint64_t paused = heap->trace.paused + (uint64_t)ns;
  double share = (double)(paused - heap->learned.paused) /
                 (double)(now - heap->learned.ended + 1);

  heap->learned.paused = paused;
  heap->learned.ended = now;
  return share;
}

/* The chain that was collected, or each of them. */
static void learn_chains(tdo_heap_t *heap, double ns) {
  const tdo_trace_t *trace = &heap->trace;
  double share = learn_share(heap, ns);
  tdo_nursery_facts_t facts = tdo_capacity_bounds(heap);
  tdo_nursery_found_t found = {.condemned = (double)trace->condemned,
                               .survived = (double)trace->survived,
                               .scanned = (double)trace->scanned,
                               .most = tdo_nursery_most(&facts)};

  TDO_RING_FOR(node, &heap->chains) {
    tdo_chain_t *chain = TDO_RING_ENTRY(tdo_chain_t, heap_ring, node);
    if (!trace->full && trace->chain != chain)
      continue;
    learn_worth(heap, chain, ns);
    learn_adapt(heap, chain, share, ns, &found);
    learn_judge(heap, chain, facts.heap);
    if (chain != heap->default_chain)
      tdo_capacity_set(heap, chain, &facts);
  }
}

/* Bytes in nurseries that the mutator got since the flip: that they did not
   survive is no sign that they are dead. */
static double learn_made(const tdo_heap_t *heap) {
  double made = 0;

  TDO_RING_FOR(node, &heap->chains) {
    made += TDO_RING_ENTRY(tdo_chain_t, heap_ring, node)->gens[0].fresh;
  }
  return made;
}

/* A small heap was collected whole, by copying. What is old is what facts for
   it take to be (policy.c). */
static void learn_small(tdo_heap_t *heap) {
  const tdo_trace_t *trace = &heap->trace;
  double young = 0, lived = 0;

  TDO_RING_FOR(node, &heap->chains) {
    const tdo_chain_t *chain = TDO_RING_ENTRY(tdo_chain_t, heap_ring, node);
    const tdo_gen_t *nursery = &chain->gens[0];
    if (heap->small_for != NULL && heap->small_for != chain)
      continue;
    young += nursery->condemned_size - nursery->stayed;
    lived += nursery->survived - nursery->stayed;
  }
  tdo_small_collected(&heap->small, (double)trace->condemned - young,
                      (double)trace->survived - lived);
  /* A minor one would have looked at so much, at least. */
  tdo_full_minor(&heap->full, lived, 0);
}

/* A full collection that began since the last one was long ago rests for twice
   as long each time that it was in vain. */
static void learn_rest(tdo_heap_t *heap) {
  if ((double)heap->trace.survived <= (1 - WHOLE_FOUND) * heap->alive)
    heap->whole.rest = TDO_WHOLE_REST;
  else if (heap->whole.late)
    heap->whole.rest = tdo_fmin(2 * heap->whole.rest, WHOLE_MOST);
}

static void learn_whole(tdo_heap_t *heap, double ns) {
  heap->whole.late = false;
  heap->whole.size = tdo_heap_size(heap);
  heap->whole.ended = tdo_clock_ns();
  heap->whole.took = ns;
}

static void learn_full(tdo_heap_t *heap, double ns) {
  tdo_full_facts_t facts = {.filled = (double)heap->trace.filled,
                            .survived = (double)heap->trace.survived,
                            .scanned = (double)heap->trace.scanned,
                            .size = tdo_heap_size(heap),
                            .rooted = (double)heap->rooted,
                            .writes = tdo_policy_writes(heap),
                            .ns = ns,
                            .sparse = heap->small.sparse,
                            .late = heap->whole.late};

  if (!heap->trace.hurried)
    tdo_small_flipped(&heap->small, (double)heap->trace.flip_ns * 1e-9,
                      facts.survived, !heap->trace.in_place);
  if (heap->trace.small)
    learn_small(heap);
  else
    tdo_small_marked(&heap->small, facts.size - learn_made(heap),
                     facts.survived);
  if ((!heap->trace.small || heap->instead) &&
      tdo_full_collected(&heap->full, &facts))
    tdo_full_build(&heap->full, (double)tdo_available(""));
  heap->top.fresh = 0;
}

/* The memory is kept that the next nurseries, and the growth to the next full
   collection, take: where large objects come and go, it was given back, and
   asked for again, several times a second. */
static void learn_hold(tdo_heap_t *heap) {
  double hold = TDO_FULL_LEAST;

  TDO_RING_FOR(node, &heap->chains) {
    tdo_chain_t *chain = TDO_RING_ENTRY(tdo_chain_t, heap_ring, node);
    if (chain->pools > 0)
      hold += HOLD_NURSERY * chain->gens[0].capacity;
  }
  hold = tdo_fmin(hold, (double)heap->space.commit_limit / 4);
  tdo_space_hold(&heap->space, heap->explicit_collect ? 0 : (size_t)hold);
}

void tdo_learn(tdo_heap_t *heap) {
  double ns = (double)tdo_trace_worked_ns(heap);

  if (heap->trace.full) {
    learn_rest(heap);
    heap->alive = (double)heap->trace.survived;
  }
  tdo_pause_collected(heap);
  learn_beside(heap);
  learn_skip(heap);
  learn_chains(heap, ns);
  if (heap->trace.full)
    learn_full(heap, ns);
  else
    tdo_full_minor(&heap->full, (double)heap->trace.scanned, ns);
  tdo_pin_learn(&heap->pin);
  learn_hold(heap);
  if (heap->explicit_collect) {
    tdo_control_settle(&heap->control);
    tdo_space_settle(&heap->space);
  }
  if (heap->trace.full) {
    tdo_space_trim(&heap->space);
    learn_whole(heap, ns);
  }
}
