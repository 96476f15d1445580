/* Testudo: the shield's share of the mapping limit, and how it is kept: the
   write bars that cost most mappings are given up.
   SPDX-License-Identifier: BSD-2-Clause */
#include "shield/internal.h"

/* Pages are judged in pieces of so many: a piece has its edges, and costs one
   call or a few to open. */
#define BUDGET_PIECE  ((size_t)512)
#define BUDGET_BUCKET ((size_t)8) /* edge counts told apart */
#define BUDGET_EDGE   ((size_t)32) /* pages that are opened in the time in which
                                      an edge goes: two mappings become one */

size_t tdo_shield_budget(tdo_vm_t *vm, double fraction) {
  size_t limit = vm->mapping_limit(vm);
  if (limit == SIZE_MAX || fraction >= 1.0)
    return limit;
  return fraction > 0.0 ? (size_t)((double)limit * fraction) : 0;
}

static size_t budget_edges(const tdo_shield_t *sh, size_t piece) {
  return tdo_shield_edges(sh, tdo_max(piece, 1),
                          tdo_min(piece + BUDGET_PIECE, sh->used_high));
}

/* The fewest edges that a piece must have to be given up, so that those given
   up have about EXCESS edges together, or all there are. */
static size_t budget_threshold(const tdo_shield_t *sh, size_t excess) {
  size_t buckets[BUDGET_PIECE / BUDGET_BUCKET + 1] = {0};
  size_t low = tdo_round_down(sh->used_low, BUDGET_PIECE);
  size_t bucket = BUDGET_PIECE / BUDGET_BUCKET, sum = 0;
  for (size_t piece = low; piece < sh->used_high; piece += BUDGET_PIECE) {
    size_t edges = budget_edges(sh, piece);
    buckets[edges / BUDGET_BUCKET] += edges;
  }
  while (bucket > 0 && (sum += buckets[bucket]) < excess)
    --bucket;
  return tdo_max(bucket * BUDGET_BUCKET, 3); /* opening leaves up to two */
}

/* May PAGE be opened to save mappings? Not if it hides something, nor if it
   has no memory. */
static bool budget_openable(const tdo_shield_t *sh, size_t page) {
  unsigned state = sh->state[page];
  return (state & TDO_PAGE_COMMITTED) != 0 && (state & TDO_BAR_READ) == 0;
}

/* Open what is write-barred in the piece that starts at PIECE. */
static void budget_open_piece(tdo_shield_t *sh, size_t piece) {
  size_t end = tdo_min(piece + BUDGET_PIECE, sh->used_high);
  size_t page = piece;
  while (page < end) {
    size_t first = end, limit = page;
    for (; page < end && budget_openable(sh, page); ++page) {
      if (tdo_shield_given(sh->actual[page]) != TDO_ACCESS_WRITE) {
        first = tdo_min(first, page);
        limit = page + 1;
      }
    }
    if (first < limit)
      tdo_shield_give_up(sh, first, limit);
    while (page < end && !budget_openable(sh, page))
      ++page;
  }
}

/* Open pieces that have enough edges, upwards from where that ended before,
   until there are no more mappings than TARGET, or as much was opened as may be
   at once. */
static void budget_save(tdo_shield_t *sh, size_t target) {
  size_t opened = 0;
  while (sh->economized < sh->used_high && sh->stats.mappings > target) {
    size_t edges = budget_edges(sh, sh->economized);
    if (edges >= sh->economize_edges) {
      if (opened >= sh->reach)
        return;
      budget_open_piece(sh, sh->economized);
      opened += BUDGET_PIECE + edges * BUDGET_EDGE;
    }
    sh->economized += BUDGET_PIECE;
  }
  sh->economize_edges = 0;
}

/* Each time a quarter of the budget is freed, so that the linear search is
   paid for by the calls that used it up; if so much cannot be freed, because
   of read bars, the next attempt waits until it is worth it. To open it all may
   take longer than a pause should: then the sessions that follow go on. */
void tdo_shield_economize(tdo_shield_t *sh) {
  size_t budget = sh->budget_mappings;
  size_t target = budget - budget / 4;
  if (sh->economize_edges == 0 && sh->stats.mappings > sh->economize_at) {
    sh->economized = tdo_round_down(sh->used_low, BUDGET_PIECE);
    sh->economize_edges = budget_threshold(sh, sh->stats.mappings - target);
  }
  if (sh->economize_edges != 0) {
    budget_save(sh, target);
    sh->economize_at = tdo_max(budget, sh->stats.mappings + budget / 8 + 1);
  } else if (sh->stats.mappings <= budget) {
    sh->economize_at = budget;
  }
}
