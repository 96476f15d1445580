/* Testudo: does the program let go of what is old?
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/turnover.h"
#include <string.h>
#include "trace/gcseg.h"
#include "trace/heap.h"

#define TURNOVER_RUN 4 /* dirty pages in a row */

static bool turnover_old(const tdo_heap_t *heap, mps_word_t word) {
  const tdo_gcseg_t *seg =
      tdo_gcseg_of(&heap->space, (const void *)(uintptr_t)word);

  return seg != NULL && seg->gen == &heap->top;
}

/* Note COUNT words; did one let go of what SEEN, from the last time, has? */
TDO_NO_SANITIZE static bool turnover_note(const tdo_heap_t *heap,
                                          mps_word_t *seen,
                                          const mps_word_t *now,
                                          size_t count) {
  bool lets_go = false;

  for (size_t i = 0; i < count; ++i) {
    mps_word_t word = now[i];
    if (word == seen[i])
      continue;
    if (!turnover_old(heap, word))
      word = 0;
    lets_go |= word != 0 && seen[i] != 0;
    seen[i] = word;
  }
  return lets_go;
}

static bool turnover_roots(tdo_heap_t *heap, bool same) {
  tdo_turnover_t *turnover = &heap->turnover;
  mps_word_t now[TDO_TURNOVER_WORDS];
  size_t count = tdo_roots_words(heap, now, TDO_TURNOVER_WORDS);

  if (!same || turnover->roots != count ||
      turnover->seen_changes != turnover->changes)
    memset(turnover->root, 0, sizeof turnover->root);
  turnover->roots = count;
  turnover->seen_changes = turnover->changes;
  return turnover_note(heap, turnover->root, now, count);
}

/* Pages that have a place, and its bytes. */
static size_t turnover_places(const tdo_heap_t *heap) {
  return tdo_min(TDO_TURNOVER_BYTES >> heap->page_shift, TDO_TURNOVER_PAGES);
}

static size_t turnover_bytes(const tdo_heap_t *heap) {
  return turnover_places(heap) << heap->page_shift;
}

/* Room for the words of pages. */
static bool turnover_begin(tdo_heap_t *heap) {
  tdo_turnover_t *turnover = &heap->turnover;
  void *p;

  if (turnover->words != NULL)
    return true;
  if (turnover_places(heap) == 0 ||
      tdo_control_alloc(&p, &heap->control, turnover_bytes(heap)) !=
          MPS_RES_OK)
    return false;
  turnover->words = p;
  memset(turnover->page, 0, sizeof turnover->page);
  return true;
}

/* Old pages that may be written to, as many as there are places for. Not where
   many follow one another: there a point was, which wrote them, or so much is
   written that barriers tell of it. */
static size_t turnover_find(tdo_heap_t *heap, size_t found[]) {
  size_t limit = heap->page_limit, count = 0, p = 0;

  while (count < turnover_places(heap) &&
         (p = tdo_summary_next(&heap->summary, p, limit, TDO_DIRTY)) < limit) {
    const tdo_gcseg_t *seg =
        tdo_gcseg_of(&heap->space, tdo_heap_page_addr(heap, p));
    size_t q = seg == NULL ? p + 1 : tdo_heap_page(heap, seg->seg.limit);
    if (seg != NULL && seg->gen == &heap->top && !seg->leaf &&
        seg->ap == NULL) {
      q = tdo_summary_run(&heap->summary, p, q, TDO_DIRTY);
      for (; q - p <= TURNOVER_RUN && p < q && count < turnover_places(heap);
           ++p)
        found[count++] = p;
    }
    p = q;
  }
  return count;
}

/* The place that has PAGE (0: no page), or none: as many as there are. */
static size_t turnover_place(const tdo_heap_t *heap, size_t page) {
  size_t place = 0;

  while (place < turnover_places(heap) && heap->turnover.page[place] != page)
    ++place;
  return place;
}

static bool turnover_page(tdo_heap_t *heap, size_t page, size_t place,
                          bool same) {
  char *words = (char *)heap->turnover.words + (place << heap->page_shift);
  const char *base = tdo_heap_page_addr(heap, page);
  const char *limit = tdo_heap_page_addr(heap, page + 1);
  const tdo_gcseg_t *seg = tdo_gcseg_of(&heap->space, base);

  if (!same)
    memset(words, 0, (size_t)1 << heap->page_shift);
  limit = limit < seg->filled ? limit : seg->filled;
  return base < limit &&
         turnover_note(heap, (mps_word_t *)(void *)words,
                       (const mps_word_t *)(const void *)base,
                       (size_t)(limit - base) / sizeof(mps_word_t));
}

static bool turnover_pages(tdo_heap_t *heap, bool same) {
  tdo_turnover_t *turnover = &heap->turnover;
  size_t found[TDO_TURNOVER_PAGES], count, left = 0;
  size_t places = turnover_places(heap);
  bool has[TDO_TURNOVER_PAGES] = {false}, lets_go = false;

  if (!turnover_begin(heap))
    return false;
  count = turnover_find(heap, found);
  for (size_t i = 0; i < count; ++i) {
    size_t place = turnover_place(heap, found[i] + 1);
    if (place == places) {
      found[left++] = found[i];
      continue;
    }
    has[place] = true;
    lets_go |= turnover_page(heap, found[i], place, same);
  }
  for (size_t place = 0; place < places; ++place)
    if (!has[place])
      turnover->page[place] = 0;
  for (size_t i = 0; i < left; ++i) {
    size_t place = turnover_place(heap, 0);
    turnover->page[place] = found[i] + 1;
    (void)turnover_page(heap, found[i], place, false);
  }
  return lets_go;
}

void tdo_turnover_look(mps_arena_t heap) {
  tdo_turnover_t *turnover = &heap->turnover;
  bool same = turnover->collections == heap->stats.full_collections, lets_go;

  if (!heap->full.building) {
    tdo_turnover_forget(heap);
    return;
  }
  lets_go = turnover_roots(heap, same);
  lets_go |= turnover_pages(heap, same);
  turnover->collections = heap->stats.full_collections;
  if (lets_go)
    tdo_full_let_go(&heap->full);
}

void tdo_turnover_forget(mps_arena_t heap) {
  tdo_turnover_t *turnover = &heap->turnover;

  if (turnover->words != NULL)
    tdo_control_free(&heap->control, turnover->words, turnover_bytes(heap));
  turnover->words = NULL;
}
