/* Testudo: the capacities of generations (manual, "Tuning").
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/capacity.h"
#include "trace/pause.h"

#define ROOT_WORK 256.0 /* bytes scanned in the time that a root takes, however
                           little is in it */

tdo_nursery_facts_t tdo_capacity_bounds(const tdo_heap_t *heap) {
  const tdo_chain_t *chain = heap->default_chain;

  return (tdo_nursery_facts_t){.heap = tdo_heap_size(heap),
                               .rooted = (double)heap->rooted +
                                         ROOT_WORK * (double)heap->root_count,
                               .old = heap->top.size,
                               .stayed = chain == NULL
                                             ? 0
                                             : chain->gens[1].stayed,
                               .unused = chain != NULL &&
                                         chain->gens[1].youngest,
                               .copied = heap->trace.small ? heap->alive : 0,
                               .pause_time = tdo_pause_young(heap),
                               .commit_limit =
                                   (double)tdo_space_most(&heap->space),
                               .least = (double)(TDO_DEFAULT_NURSERY << 10)};
}

/* A chain that the client made has the capacities that the client gave, or more
   where collecting it takes long (.adapt), where most of that is other work
   (.beside), or where nearly all of its nursery survived, which does not tell
   much if that is small (.sample). */
static void capacity_of_client(tdo_chain_t *chain,
                               const tdo_nursery_facts_t *facts) {
  double nursery = tdo_fmin(chain->grown, tdo_nursery_most(facts)), stretch;

  nursery = tdo_fmax(nursery, tdo_nursery_beside(facts, chain->beside));
  if (chain->dense > 0)
    nursery = tdo_fmax(nursery, tdo_nursery_least(facts));
  stretch = tdo_fmax(1, nursery / chain->gens[0].given);
  for (size_t i = 0; i < chain->count; ++i)
    chain->gens[i].capacity =
        tdo_fmax(stretch * chain->gens[i].given,
                 tdo_nursery_again(facts, chain->gens[i].stayed));
}

void tdo_capacity_set(tdo_heap_t *heap, tdo_chain_t *chain,
                      const tdo_nursery_facts_t *facts) {
  if (chain == heap->default_chain)
    tdo_nursery_sizes(&chain->gens[0].capacity, &chain->gens[1].capacity,
                      facts);
  else if (heap->stress.each == 0)
    capacity_of_client(chain, facts);
  heap->due = true; /* with less than before, maybe */
}
