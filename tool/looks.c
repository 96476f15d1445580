/* Testudo: which pages the collector would look at.
   SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "looks.h"
#include "shield/internal.h"

#define RUN ((size_t)16) /* pages scanned as one, as in trace/remember.c */

/* What is known of a page. */
typedef struct page {
  uint8_t found; /* generations that it refers to; TDO_PAGES_EMPTY */
  uint8_t flags;
  uint8_t reach; /* two bits each: pages before, after, done; or */
  uint32_t unit; /* its unit, if it has that flag */
} page_t;

/* Flags; TDO_PAGES_PAYS, _LATER, and _UNIT: reach is that of the unit. */
#define KNOWN 8u

/* Pages that are scanned together. */
typedef struct unit {
  size_t first, limit; /* what is scanned */
  size_t done;         /* what needs no more scanning ends here */
} unit_t;

struct looks {
  tdo_shield_t *shield;
  bound_t *bound;
  uint8_t *summary; /* a byte a page, with this shield */
  page_t *page;
  tdo_bits_t *starts; /* first pages of segments */
  tdo_bits_t *white;  /* condemned */
  tdo_bits_t *grey;   /* pages that the pass leaves for later */
  unit_t *units;
  size_t count, room; /* of units */
  unsigned mask, nurseries; /* of the pass */
};

looks_t *looks_new(tdo_shield_t *shield, bound_t *bound) {
  size_t pages = shield->pages, words = tdo_bits_words(pages + 1);
  looks_t *l = calloc(1, sizeof *l);
  if (l == NULL)
    return NULL;
  l->shield = shield;
  l->bound = bound;
  l->summary = calloc(pages, 1);
  l->page = calloc(pages, sizeof *l->page);
  l->starts = calloc(words, sizeof *l->starts);
  l->white = calloc(words, sizeof *l->white);
  l->grey = calloc(words, sizeof *l->grey);
  if (l->summary == NULL || l->page == NULL || l->starts == NULL ||
      l->white == NULL || l->grey == NULL) {
    looks_free(l);
    return NULL;
  }
  return l;
}

void looks_free(looks_t *l) {
  free(l->summary);
  free(l->page);
  free(l->starts);
  free(l->white);
  free(l->grey);
  free(l->units);
  free(l);
}

static uint32_t new_unit(looks_t *l, size_t first, size_t limit, size_t done) {
  if (l->count == l->room) {
    l->room = 2 * l->room + 64;
    l->units = realloc(l->units, l->room * sizeof *l->units);
    if (l->units == NULL || l->count >= UINT32_MAX) {
      (void)fprintf(stderr, "testudo-replay: out of memory\n");
      exit(1);
    }
  }
  l->units[l->count] = (unit_t){first, limit, done};
  return (uint32_t)l->count++;
}

/* The unit of page P, within its segment. */
static unit_t unit_of(const looks_t *l, size_t p, size_t limit) {
  const page_t *page = &l->page[p];
  size_t first = p;
  unit_t unit;
  if ((page->flags & TDO_PAGES_UNIT) != 0) {
    unit = l->units[page->unit];
  } else {
    unit.first = p - tdo_min(p, page->reach & 3u);
    unit.limit = p + 1 + (page->reach >> 2 & 3u);
    unit.done = p + 1 + (page->reach >> 4 & 3u);
  }
  while (first > unit.first && !tdo_bits_get(l->starts, first))
    --first;
  return (unit_t){first, tdo_min(tdo_max(unit.limit, p + 1), limit),
                  tdo_min(tdo_max(unit.done, p + 1), limit)};
}

static void note_pages(looks_t *l, const step_t *step) {
  tdo_pages_reach_t r = tdo_pages_unpack(step->numbers[1]);
  bool unit = (step->argument & TDO_PAGES_UNIT) != 0;
  bool large = r.before > 3 || r.after > 3 || r.done > 3;
  uint32_t number = 0;
  if (unit)
    number = new_unit(l, step->first - tdo_min(step->first, r.before),
                      step->limit + r.after, step->limit + r.done);
  for (size_t p = step->first; p < step->limit; ++p) {
    page_t *page = &l->page[p];
    page->found = (uint8_t)step->numbers[0];
    page->flags = (uint8_t)(step->argument | KNOWN);
    if (!unit && large) {
      number = new_unit(l, p - tdo_min(p, r.before), p + 1 + r.after,
                        p + 1 + r.done);
      page->flags |= TDO_PAGES_UNIT;
    }
    page->unit = number;
    page->reach =
        large ? 0 : (uint8_t)(r.before | r.after << 2 | r.done << 4);
  }
}

void looks_note(looks_t *l, const step_t *step) {
  size_t first = step->first, limit = step->limit;
  switch (step->request) {
  case TDO_REQUEST_ADOPT:
  case TDO_REQUEST_RETIRE:
    memset(l->summary + first, 0, limit - first);
    memset(l->page + first, 0, (limit - first) * sizeof *l->page);
    tdo_bits_clear_range(l->white, first, limit);
    tdo_bits_clear_range(l->starts, first, limit);
    tdo_bits_set(l->starts, first);
    tdo_bits_set(l->starts, limit);
    break;
  case TDO_REQUEST_SUMMARY:
    for (size_t p = first; p < limit; ++p)
      l->summary[p] = (uint8_t)(step->numbers[0] |
                                (step->argument != 0 ? l->summary[p] : 0));
    break;
  case TDO_REQUEST_WHITE:
    tdo_bits_set_range(l->white, first, limit);
    break;
  case TDO_REQUEST_PAGES:
    note_pages(l, step);
    break;
  case TDO_REQUEST_OFFERS:
    memset(l->white, 0, tdo_bits_words(l->shield->pages) * sizeof *l->white);
    break;
  default:
    break;
  }
}

void looks_lost(looks_t *l, size_t first, size_t limit) {
  memset(l->summary + first, (int)TDO_SUMMARY_DIRTY, limit - first);
}

void looks_written(looks_t *l, size_t first, size_t limit) {
  for (size_t p = first; p < limit; ++p)
    l->summary[p] |= TDO_SUMMARY_DIRTY;
}

void looks_offer(looks_t *l, size_t first, size_t limit) {
  while (first < limit) {
    bool barred = false;
    size_t end =
        first + tdo_shield_offer(l->shield, first, limit, &barred);
    for (; first < end; ++first)
      l->summary[first] =
          (uint8_t)(barred ? l->summary[first] & ~TDO_SUMMARY_DIRTY
                           : l->summary[first] | TDO_SUMMARY_DIRTY);
  }
}

/* ---- the pass ---- */

typedef struct pass {
  looks_t *looks;
  const recording_t *recording;
  place_t *place;
  looks_play_t play;
  bool over;
} pass_t;

/* What was found in the pass that goes on at PLACE, and what is left for
   later there. */
static void look_ahead(looks_t *l, const recording_t *r, place_t place) {
  step_t step;
  bool later = false;
  memset(l->grey, 0, tdo_bits_words(l->shield->pages) * sizeof *l->grey);
  while (recording_next(r, &step, &place) &&
         step.request != TDO_REQUEST_REMEMBERED) {
    if (step.request == TDO_REQUEST_PAGES)
      looks_note(l, &step);
    else if (step.request == TDO_REQUEST_REACHED)
      later = step.argument != 0;
    else if (later && step.request == TDO_REQUEST_RAISE &&
               (step.argument & TDO_BAR_READ) != 0)
      tdo_bits_set_range(l->grey, step.first, step.limit);
  }
}

/* Play what comes of looking at the pages below LIMIT. */
static void play_until(pass_t *pass, size_t limit) {
  step_t step;
  while (!pass->over) {
    place_t next = *pass->place;
    if (!recording_next(pass->recording, &step, &next) ||
        step.request == TDO_REQUEST_REMEMBERED)
      pass->over = true;
    else if (step.request == TDO_REQUEST_REACHED && step.first >= limit)
      return;
    *pass->place = next;
    if (!pass->over && step.request != TDO_REQUEST_PAGES)
      pass->play(&step, pass->place);
  }
}

/* The next page from P on that the pass looks at, or LIMIT. */
static size_t next_page(const looks_t *l, size_t p, size_t limit) {
  uint64_t masks = 0x0101010101010101u * l->mask, word;
  for (; p < limit && p % 8 != 0; ++p) {
    if ((l->summary[p] & l->mask) != 0)
      return p;
  }
  for (; p + 8 <= limit; p += 8) {
    memcpy(&word, l->summary + p, 8);
    if ((word & masks) != 0)
      break;
  }
  while (p < limit && (l->summary[p] & l->mask) == 0)
    ++p;
  return p;
}

/* The pages [P, Q) were scanned, and with them those before END. */
static void scanned(looks_t *l, size_t p, size_t end) {
  unsigned found = 0;
  for (size_t i = p; i < end; ++i)
    found |= l->page[i].found & 0x7Fu;
  for (size_t i = p; i < end; ++i)
    l->summary[i] =
        (uint8_t)((l->summary[i] & TDO_SUMMARY_DIRTY) | found);
  if ((l->page[p].flags & TDO_PAGES_PAYS) != 0 &&
      (found & l->nurseries) == 0) {
    looks_offer(l, p, end);
  } else {
    looks_written(l, p, end);
    tdo_shield_lower(l->shield, p, end, TDO_BAR_WRITE);
  }
}

/* Look at the run of pages at P, in a segment that ends at LIMIT; returns
   where to go on. */
static size_t look(pass_t *pass, size_t p, size_t limit) {
  looks_t *l = pass->looks;
  size_t most = tdo_min(limit, p + RUN), q = p, last, end, next;
  unit_t unit;
  while (q < most && (l->summary[q] & l->mask) != 0)
    ++q;
  if ((l->page[p].found & TDO_PAGES_EMPTY) != 0)
    return q;
  for (last = q - 1; (l->page[last].found & TDO_PAGES_EMPTY) != 0; --last) {
  }
  unit = unit_of(l, last, limit);
  end = last == q - 1 ? unit.done : q;
  unit.first = unit_of(l, p, limit).first;
  /* Pages that lose their bars by this are not therefore looked at now. */
  next = next_page(l, q, unit.limit);
  bound_expose(l->bound, unit.first, unit.limit);
  tdo_shield_expose(l->shield, unit.first, unit.limit);
  play_until(pass, q);
  bound_touch(l->bound, p, end);
  scanned(l, p, end);
  tdo_shield_cover(l->shield, unit.first, unit.limit);
  bound_touch(l->bound, unit.first, unit.limit);
  return tdo_max(end, next);
}

/* Look at the segment [FIRST, LIMIT) as a whole, when all else is done. (In
   the recording it was not looked at.) */
static void look_later(looks_t *l, size_t first, size_t limit) {
  tdo_shield_raise(l->shield, first, limit, TDO_BAR_READ);
  bound_expose(l->bound, first, limit);
  tdo_shield_expose(l->shield, first, limit);
  tdo_shield_lower(l->shield, first, limit, TDO_BAR_READ);
  scanned(l, first, limit);
  tdo_shield_cover(l->shield, first, limit);
  bound_touch(l->bound, first, limit);
}

void looks_pass(looks_t *l, const recording_t *r, const step_t *step,
                place_t *place, looks_play_t play) {
  pass_t pass = {l, r, place, play, false};
  size_t p = 0, pages = l->shield->used_high;
  l->mask = step->numbers[0] & 0xFF;
  l->nurseries = step->numbers[0] >> 8 & 0xFF;
  look_ahead(l, r, *place);
  while ((p = next_page(l, p, pages)) < pages) {
    size_t limit = tdo_bits_next_set(l->starts, p + 1, pages);
    if (tdo_bits_get(l->white, p) || tdo_bits_get(l->grey, p)) {
      p = limit;
    } else if (!tdo_shield_adopted(l->shield, p) ||
               (l->page[p].flags & KNOWN) == 0) {
      ++p;
    } else if ((l->page[p].flags & TDO_PAGES_LATER) != 0) {
      while (p > 0 && !tdo_bits_get(l->starts, p))
        --p;
      look_later(l, p, limit);
      p = limit;
    } else {
      p = look(&pass, p, limit);
    }
  }
  play_until(&pass, SIZE_MAX);
}
