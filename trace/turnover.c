/* Testudo: do roots let go of what is old?
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/turnover.h"
#include <string.h>
#include "trace/gcseg.h"
#include "trace/heap.h"

static bool turnover_old(const tdo_heap_t *heap, mps_word_t word) {
  const tdo_gcseg_t *seg =
      tdo_gcseg_of(&heap->space, (const void *)(uintptr_t)word);

  return seg != NULL && seg->gen == &heap->top;
}

void tdo_turnover_look(mps_arena_t heap) {
  tdo_turnover_t *turnover = &heap->turnover;
  mps_word_t now[TDO_TURNOVER_WORDS];
  size_t count;
  bool same, lets_go = false;

  if (!heap->full.building)
    return;
  count = tdo_roots_words(heap, now, TDO_TURNOVER_WORDS);
  same = turnover->count == count &&
         turnover->seen_changes == turnover->changes &&
         turnover->collections == heap->stats.full_collections;
  for (size_t i = 0; i < count; ++i) {
    if (!turnover_old(heap, now[i]))
      now[i] = 0;
    if (same && now[i] != 0 && turnover->seen[i] != 0 &&
        now[i] != turnover->seen[i])
      lets_go = true;
  }
  memcpy(turnover->seen, now, count * sizeof *now);
  turnover->count = count;
  turnover->seen_changes = turnover->changes;
  turnover->collections = heap->stats.full_collections;
  if (lets_go)
    tdo_full_let_go(&heap->full);
}
