/* Testudo: exposures: pages opened to the collector, and closed again.
   SPDX-License-Identifier: BSD-2-Clause */
#include "shield/internal.h"

/* Note that [FIRST, LIMIT) is exposed: does it follow what was before? */
static bool exposure_follows(tdo_shield_t *sh, size_t first, size_t limit) {
  bool follows = first == sh->run_limit;
  if (!follows)
    sh->run_first = first;
  sh->run_limit = limit;
  return follows;
}

/* One past the closed pages from LIMIT on that are opened together with
   those before: the collector works its way upwards, and the threads are
   stopped. The number doubles, within a session, as long as exposures come
   where the last one ended, or soon after: a few open pages between are
   passed over, and the call takes them with it. What is not exposed by the
   end of the session is closed again, in one call with its neighbours; so
   where only writes are barred, which may be rare, the first exposure opens
   no more than it needs. If the session goes on where the one before left
   off (FOLLOWS), as many will be needed as then. */
static size_t exposure_read_ahead(tdo_shield_t *sh, size_t first, size_t limit,
                                  bool follows) {
  unsigned actual = sh->actual[limit - 1];
  size_t end = limit, page = limit, most;
  if (sh->ahead == 0 && follows) {
    most = tdo_max(limit, first + tdo_min(sh->run_before, TDO_SHIELD_AHEAD));
    sh->ahead = tdo_max(most - limit, TDO_SHIELD_AHEAD_LEAST);
  } else {
    follows =
        first >= sh->ahead_low &&
        first <= sh->ahead_high + (sh->ahead == 0 ? 0 : TDO_SHIELD_SLACK);
    sh->ahead =
        follows ? tdo_min(2 * sh->ahead, TDO_SHIELD_AHEAD) : sh->ahead / 2;
    sh->ahead = tdo_max(sh->ahead, TDO_SHIELD_AHEAD_LEAST);
    most = actual == TDO_ACCESS_READ && !follows ? limit : limit + sh->ahead;
  }
  if (tdo_shield_is_huge(sh, limit - 1))
    most = tdo_max(most, tdo_round_up(limit, sh->settings.huge_pages));
  most = tdo_min(most, sh->pages);
  for (; page < most; ++page) {
    if (sh->actual[page] == actual && (sh->state[page] & TDO_PAGE_BARS) != 0)
      end = page + 1;
    else if (!follows || sh->actual[page] != TDO_ACCESS_WRITE ||
             page - end >= TDO_SHIELD_SLACK)
      break;
  }
  sh->ahead_low = limit;
  sh->ahead_high = end;
  return end;
}

/* Are the pages before LIMIT closed, and may others be opened with them? */
static bool exposure_reads_ahead(const tdo_shield_t *sh, size_t limit) {
  unsigned actual = sh->actual[limit - 1];
  return tdo_shield_defers(sh) && sh->stopped &&
         (actual == TDO_ACCESS_NONE ||
          (actual == TDO_ACCESS_READ && sh->track == NULL));
}

/* The pages of [FIRST, LIMIT) are about to be opened to the collector. To
   close again those that were closed to writes only takes another call; so
   where bars are earned they are given up, and must be earned again: what the
   collector had to look at in spite of a bar, because of what it refers to, it
   soon will again. */
static void exposure_concede(tdo_shield_t *sh, size_t first, size_t limit) {
  while (first < limit) {
    size_t start = first;
    for (; first < limit && sh->actual[first] == TDO_ACCESS_READ &&
           (sh->state[first] & TDO_PAGE_BARS) == TDO_BAR_WRITE;
         ++first) {
      sh->calm[first] = 0;
      sh->state[first] &= (uint8_t)~TDO_BAR_WRITE;
    }
    if (start == first) {
      ++first;
      continue;
    }
    sh->stats.bars_conceded += first - start;
    tdo_shield_lost(sh, start, first, TDO_BAR_WRITE);
  }
}

/* Some pages of [FIRST, LIMIT) are closed; open them to the collector. */
static void exposure_let_in(tdo_shield_t *sh, size_t first, size_t limit,
                            bool follows) {
  size_t ahead = limit;
  bool wide = sh->stopped && sh->track == NULL && tdo_shield_defers(sh);
  if (wide && sh->batches)
    exposure_concede(sh, first, limit);
  if (exposure_reads_ahead(sh, limit))
    ahead = exposure_read_ahead(sh, first, limit, follows);
  if (wide)
    tdo_shield_open(sh, first, limit, ahead);
  else
    tdo_shield_settle(sh, first, limit, ahead);
}

void tdo_shield_expose(tdo_shield_t *sh, size_t first, size_t limit) {
  bool queued = first < sh->differ_high && limit > sh->differ_low;
  /* A page that is armed is open already. */
  tdo_lanes_t stops = tdo_lanes_all(sh->track != NULL ? 2 : 3);
  tdo_lanes_t closed = 0, barred = 0;
  bool follows;
  tdo_shield_check_range(sh, first, limit);
  tdo_shield_request(sh, TDO_REQUEST_EXPOSE, 0, first, limit);
  if (first == limit)
    return;
  ++sh->stats.exposes;
  follows = exposure_follows(sh, first, limit);
  TDO_LANES_FOR(group, first, limit) {
    tdo_lanes_t mask = tdo_lanes_mask(group, first, limit);
    tdo_lanes_t depth = tdo_lanes_load(sh->depth, group);
    tdo_lanes_t actual = tdo_lanes_load(sh->actual, group);
    tdo_lanes_t shut = (actual ^ tdo_lanes_all(TDO_ACCESS_WRITE)) & mask;
    TDO_CRITICAL(((tdo_lanes_nonzero(~depth) ^ tdo_lanes_all(1)) & mask) == 0);
    tdo_lanes_store(sh->depth, group, depth + (tdo_lanes_all(1) & mask));
    if ((shut | queued) != 0) {
      tdo_lanes_t state = tdo_lanes_load(sh->state, group);
      closed |= shut;
      barred |= tdo_lanes_nonzero(shut) * 3 & state & stops;
      (void)tdo_shield_update(sh, group);
    }
  }
  if (TDO_UNLIKELY(closed != 0)) {
    if (barred != 0)
      tdo_shield_stop(sh);
    exposure_let_in(sh, first, limit, follows);
  }
}

void tdo_shield_cover(tdo_shield_t *sh, size_t first, size_t limit) {
  bool fresh = false;
  tdo_shield_check_range(sh, first, limit);
  tdo_shield_request(sh, TDO_REQUEST_COVER, 0, first, limit);
  if (first == limit)
    return;
  ++sh->stats.covers;
  TDO_LANES_FOR(group, first, limit) {
    tdo_lanes_t mask = tdo_lanes_mask(group, first, limit);
    tdo_lanes_t depth = tdo_lanes_load(sh->depth, group);
    tdo_lanes_t bars =
        tdo_lanes_load(sh->state, group) & tdo_lanes_all(TDO_PAGE_BARS) & mask;
    TDO_CRITICAL(((tdo_lanes_nonzero(depth) ^ tdo_lanes_all(1)) & mask) == 0);
    tdo_lanes_store(sh->depth, group, depth - (tdo_lanes_all(1) & mask));
    if (bars != 0)
      fresh |= tdo_shield_update(sh, group);
  }
  if (fresh)
    tdo_shield_queue(sh);
}
