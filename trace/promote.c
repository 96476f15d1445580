/* Testudo: when what is young is promoted as it is (manual, "Tuning").
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/promote.h"
#include "trace/capacity.h"
#include "trace/pause.h"
#include "trace/shortage.h"
#include "trace/tenure.h"

#define PROMOTE_COST 1.0 /* more may be promoted than was found to be worth it,
                            while it is less than this share of what a minor
                            collection would have to scan, */
#define PROMOTE_MOST 0.7 /* up to this share of the heap */

/* Bytes of CHAIN that may be promoted before the next minor collection. */
static double promote_room(tdo_heap_t *heap, const tdo_chain_t *chain) {
  double dirty =
      (double)(tdo_summary_dirty(&heap->summary, heap->page_limit)
               << heap->page_shift);
  double most = PROMOTE_MOST * tdo_heap_size(heap);

  return tdo_fmax(chain->tenure, tdo_fmin(PROMOTE_COST * dirty, most));
}

bool tdo_promote_due(tdo_heap_t *heap, const tdo_chain_t *chain) {
  if (chain->tenure > 0 && chain->tenured < promote_room(heap, chain))
    return true;
  return chain == heap->default_chain ? tdo_shortage_crammed(heap)
                                      : !tdo_shortage_fits(heap, chain);
}

bool tdo_promote_part(tdo_heap_t *heap, tdo_chain_t *chain) {
  size_t most = tdo_shortage_near(heap)
                    ? SIZE_MAX
                    : tdo_pause_promotes(heap, tdo_chain_size(chain));
  tdo_nursery_facts_t facts;

  if (most == 0)
    return true;
  chain->tenured += (double)tdo_tenure(heap, chain, most);
  if (heap->tenure.chain != NULL)
    return true;
  facts = tdo_capacity_bounds(heap);
  tdo_capacity_set(heap, chain, &facts);
  return false;
}
