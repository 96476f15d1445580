/* Testudo: deferral: when a page earns a write bar, and what it loses when it
   is hit.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "shield/internal.h"

#define DEFERRAL_SPREAD 36 /* one page in so many, hit, has the others opened */

/* ---- offers ---- */

/* Calm scans before a page in STATE may have a write bar: the more, the more
   often it was hit, so that a page pays for few hits, and for scans no more
   than twice what it must. A setting that is never reached stays so. */
static unsigned deferral_patience(const tdo_shield_t *sh, unsigned state) {
  unsigned hits = state / TDO_PAGE_HITS, hit = sh->settings.defer_hit;
  if (hits == 0)
    return sh->settings.defer_fresh;
  return hit > UINT8_MAX ? hit
                         : (unsigned)tdo_min(hit << (hits - 1), UINT8_MAX);
}

void tdo_shield_set_reach(tdo_shield_t *sh, size_t pages) {
  sh->reach =
      tdo_max(tdo_min(pages, TDO_SHIELD_REACH_MOST), TDO_SHIELD_REACH_LEAST);
}

void tdo_shield_begin_offers(tdo_shield_t *sh) {
  tdo_shield_request(sh, TDO_REQUEST_OFFERS, 0, 0, 0);
  sh->batches = true;
  sh->ready_before = sh->ready;
  sh->ready = 0;
  sh->released = 0;
}

/* Would an offer of PAGE be granted, counting one more calm scan? */
static bool deferral_grants(const tdo_shield_t *sh, size_t page, bool room) {
  unsigned state = sh->state[page];
  unsigned calm = (unsigned)tdo_min(sh->calm[page] + 1u, UINT8_MAX);
  if ((state & TDO_BAR_WRITE) != 0)
    return true;
  return room && calm >= deferral_patience(sh, state);
}

/* The offer in the modes that defer. */
static size_t deferral_consider(tdo_shield_t *sh, size_t first, size_t limit,
                                bool *granted_o) {
  bool room = sh->stats.mappings + 2 * sh->queued < sh->budget_mappings;
  bool granted = deferral_grants(sh, first, room);
  bool fresh = (sh->state[first] & TDO_BAR_WRITE) == 0;
  size_t page = first;
  do {
    if (sh->calm[page] < UINT8_MAX)
      ++sh->calm[page];
    ++page;
  } while (
      page < limit && deferral_grants(sh, page, room) == granted &&
      (!sh->batches || ((sh->state[page] & TDO_BAR_WRITE) == 0) == fresh));
  if (granted && fresh) {
    sh->ready += page - first;
    if (sh->batches &&
        tdo_max(sh->ready, sh->ready_before) < TDO_SHIELD_BATCH)
      granted = false;
  }
  *granted_o = granted;
  return page - first;
}

size_t tdo_shield_offer(tdo_shield_t *sh, size_t first, size_t limit,
                        bool *barred_o) {
  bool granted = true;
  size_t n = limit - first;
  tdo_shield_check_range(sh, first, limit);
  TDO_CRITICAL(first < limit);
  if (sh->settings.mode == TDO_SHIELD_OFF)
    granted = false;
  else if (tdo_shield_defers(sh) && sh->track == NULL)
    n = deferral_consider(sh, first, limit, &granted);
  tdo_shield_request(sh, TDO_REQUEST_OFFER, granted, first, first + n);
  if (granted) {
    ++sh->stats.raises;
    tdo_shield_change(sh, first, first + n, TDO_BAR_WRITE, 0);
  } else {
    sh->stats.bars_declined += n;
  }
  *barred_o = granted;
  return n;
}

void tdo_shield_trust(tdo_shield_t *sh, size_t first, size_t limit) {
  tdo_shield_check_range(sh, first, limit);
  tdo_shield_request(sh, TDO_REQUEST_TRUST, 0, first, limit);
  memset(sh->calm + first, (int)tdo_min(sh->settings.defer_fresh, UINT8_MAX),
         limit - first);
}

/* ---- hits ---- */

/* How many pages next to PAGE, upwards or downwards, lost their bars to hits,
   as far as none has one. */
static size_t deferral_trail(const tdo_shield_t *sh, size_t page, bool up) {
  size_t hits = 0;
  for (size_t i = 1; i <= TDO_SHIELD_REGION; ++i) {
    size_t next = up ? page + i : page - i;
    if (next >= sh->pages || (sh->state[next] & TDO_PAGE_ADOPTED) == 0 ||
        (sh->state[next] & TDO_PAGE_BARS) != 0)
      break;
    hits += sh->state[next] >= TDO_PAGE_HITS;
  }
  return hits;
}

/* Count, of the pages [FIRST, LIMIT), those that are open because they were
   hit themselves, and those that have bars. */
static void deferral_count_hits(const tdo_shield_t *sh, size_t first,
                                size_t limit, size_t *hits_io,
                                size_t *barred_io) {
  TDO_LANES_FOR(group, first, limit) {
    tdo_lanes_t mask = tdo_lanes_mask(group, first, limit);
    tdo_lanes_t state = tdo_lanes_load(sh->state, group) & mask;
    tdo_lanes_t hit = state & tdo_lanes_all(7 * TDO_PAGE_HITS);
    tdo_lanes_t spread = state & tdo_lanes_all(TDO_PAGE_SPREAD);
    tdo_lanes_t barred = state & tdo_lanes_all(TDO_PAGE_BARS);
    hit = tdo_lanes_nonzero(hit);
    spread = tdo_lanes_nonzero(spread);
    barred = tdo_lanes_nonzero(barred);
    *hits_io += tdo_lanes_count(hit & ~spread & ~barred);
    *barred_io += tdo_lanes_count(barred);
  }
}

/* The pages around PAGE, which is hit, of which so many were hit that it will
   pay to open the others, too: what is open is scanned each time until it has
   earned its bar again, which costs more than a hit. */
static size_t deferral_dense_span(const tdo_shield_t *sh, size_t page) {
  size_t hits = 1, barred = 0, dense = 1;
  for (size_t span = 1; span < TDO_SHIELD_REGION; span *= 2) {
    size_t other = (page / span ^ 1) * span;
    deferral_count_hits(sh, tdo_min(other, sh->pages),
                        tdo_min(other + span, sh->pages), &hits, &barred);
    if (hits > 1 && hits * DEFERRAL_SPREAD >= hits + barred)
      dense = 2 * span;
  }
  return dense;
}

/* A hit opens the pages around it that are likely to be hit, too, as if they
   had been hit as often: they are closed together again. And one at the end of
   a trail of pages that were hit before, which is how somebody writes who
   works his way upwards or downwards, opens as many pages ahead of it. */
static void deferral_spread(tdo_shield_t *sh, size_t page) {
  size_t span = deferral_dense_span(sh, page);
  unsigned hits = sh->state[page] / TDO_PAGE_HITS * TDO_PAGE_HITS;
  size_t below = deferral_trail(sh, page, false);
  size_t above = deferral_trail(sh, page, true);
  size_t first = tdo_round_down(page, span);
  size_t limit = tdo_min(tdo_max(first + span, page + 1 + below), sh->pages);
  first = tdo_min(first, page - tdo_min(page, above));
  while (first < limit) {
    size_t start = first;
    for (; first < limit && sh->depth[first] == 0 && first != page &&
           (sh->state[first] & TDO_PAGE_BARS) == TDO_BAR_WRITE;
         ++first) {
      unsigned state = sh->state[first] & ~(unsigned)TDO_BAR_WRITE;
      state = tdo_max(state, state % TDO_PAGE_HITS + hits);
      sh->state[first] = (uint8_t)(state | TDO_PAGE_SPREAD);
      sh->calm[first] = 0;
    }
    if (start == first) {
      ++first;
      continue;
    }
    sh->stats.hits_spread += first - start;
    sh->stats.bars_lost += first - start;
    TDO_LANES_FOR(group, start, first) {
      (void)tdo_shield_update(sh, group);
    }
    tdo_shield_lost(sh, start, first, TDO_BAR_WRITE);
  }
}

void tdo_shield_hit(tdo_shield_t *sh, size_t page, tdo_bar_t bars) {
  tdo_shield_check_range(sh, page, page + 1);
  tdo_shield_request(sh, TDO_REQUEST_HIT, bars, page, page + 1);
  sh->hit = true;
  sh->stats.hits_stale += bars == 0;
  sh->stats.hits_read += (bars & TDO_BAR_READ) != 0;
  if (sh->track != NULL)
    tdo_shield_track_hit(sh, page);
  if (bars == 0) { /* else, should the table be wrong, hits never end */
    tdo_shield_open_surely(sh, page);
  }
  if ((bars & TDO_BAR_WRITE) != 0) {
    ++sh->stats.hits_write;
    sh->state[page] &= (uint8_t)~TDO_PAGE_SPREAD;
    if (sh->state[page] / TDO_PAGE_HITS < TDO_PAGE_HITS_MOST)
      sh->state[page] += TDO_PAGE_HITS;
    sh->calm[page] = 0;
    if (tdo_shield_defers(sh) && sh->track == NULL)
      deferral_spread(sh, page);
  }
}
