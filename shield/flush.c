/* Testudo: the shield's flush: from differing pages to few calls. It walks
   the differ bits by words and makes one call for each maximal run of equal
   wanted access. A run passes over pages that already have that access, and
   bridges free pages where the mode allows.
   SPDX-License-Identifier: BSD-2-Clause */
#include "shield/internal.h"

/* The first page at or after PAGE that does not differ or does not want
   ACCESS, at most BOUND. */
static size_t flush_same(const tdo_shield_t *sh, size_t page, size_t bound,
                         tdo_access_t access) {
  if (page >= bound)
    return bound;
  TDO_LANES_FOR(group, page, bound) {
    tdo_lanes_t wrong =
        tdo_shield_wanted_lanes(sh, group) ^ tdo_lanes_all(access);
    tdo_lanes_t good =
        tdo_shield_differ_lanes(sh, group) & ~(wrong | wrong >> 1);
    tdo_lanes_t bad =
        ~good & tdo_lanes_all(1) & tdo_lanes_mask(group, page, bound);
    if (bad != 0)
      return group * TDO_LANES + tdo_lanes_first(bad);
  }
  return bound;
}

/* 1 in the lanes of pages that must not be armed again though they are armed:
   what was written since would be forgotten (.unseen); nor where that has no
   use, because the region is closed. */
static tdo_lanes_t flush_delicate(const tdo_shield_t *sh, size_t group) {
  tdo_lanes_t actual = tdo_lanes_load(sh->actual, group);
  tdo_lanes_t closed = actual & ~(actual >> 1 | actual >> 2);
  tdo_lanes_t armed = sh->harvested ? 0 : actual >> 2;
  return (closed | armed) & tdo_lanes_all(1);
}

/* May a call for ACCESS include [FIRST, LIMIT), none of which differs? */
static bool flush_passable(const tdo_shield_t *sh, size_t first, size_t limit,
                           tdo_access_t access) {
  bool bridge = tdo_shield_bridges(sh, first, limit);
  TDO_LANES_FOR(group, first, limit) {
    tdo_lanes_t wrong =
        tdo_lanes_load(sh->actual, group) ^ tdo_lanes_all(access);
    tdo_lanes_t state = tdo_lanes_load(sh->state, group);
    tdo_lanes_t spare = ~(state >> 2) & state >> 4;
    wrong = (wrong | wrong >> 1) & tdo_lanes_all(1);
    if (sh->track != NULL && access == TDO_ACCESS_READ)
      wrong |= flush_delicate(sh, group);
    if (bridge)
      wrong &= ~spare;
    if ((wrong & tdo_lanes_mask(group, first, limit)) != 0)
      return false;
  }
  return true;
}

/* The end of the run that starts at the differing page FIRST. */
static size_t flush_run(const tdo_shield_t *sh, size_t first, size_t bound,
                        tdo_access_t access) {
  size_t end = flush_same(sh, first + 1, bound, access);
  while (end < bound) {
    size_t reach = tdo_min(bound, end + TDO_SHIELD_PASS);
    size_t next = tdo_bits_next_set(sh->differ, end, reach);
    if (next >= reach || tdo_shield_wanted(sh, next) != access ||
        (next > end && !flush_passable(sh, end, next, access)))
      break;
    end = flush_same(sh, next + 1, bound, access);
  }
  return end;
}

/* Is a call needed for PAGE anyway, and may it be one that opens it to the
   collector? It wants to be open; or it is to be closed to readers, which the
   collector wants to read, perhaps in this session. */
static bool flush_reachable(const tdo_shield_t *sh, size_t page) {
  return tdo_bits_get(sh->differ, page) &&
         sh->actual[page] != TDO_ACCESS_WRITE &&
         (sh->state[page] & TDO_PAGE_BARS) != TDO_BAR_WRITE;
}

/* Extend a run that ends at LIMIT, or begins at FIRST, over what can be
   reached; no further than opening it all is no pause. */
static size_t flush_reach_up(const tdo_shield_t *sh, size_t limit) {
  size_t most = tdo_min(limit + sh->reach, sh->pages);
  for (;;) {
    size_t reach = tdo_min(limit + TDO_SHIELD_PASS, most);
    size_t next = tdo_bits_next_set(sh->differ, limit, reach);
    if (next >= reach || !flush_reachable(sh, next) ||
        (next > limit && !flush_passable(sh, limit, next, TDO_ACCESS_WRITE)))
      return limit;
    do {
      ++next;
    } while (next < most && flush_reachable(sh, next));
    limit = next;
  }
}

static size_t flush_reach_down(const tdo_shield_t *sh, size_t first) {
  size_t least = first - tdo_min(first, sh->reach);
  for (;;) {
    size_t reach = tdo_max(first - tdo_min(first, TDO_SHIELD_PASS), least);
    size_t next = tdo_bits_last_set(sh->differ, reach, first);
    if (next <= reach || !flush_reachable(sh, next - 1) ||
        (next < first && !flush_passable(sh, next, first, TDO_ACCESS_WRITE)))
      return first;
    do {
      --next;
    } while (next > least && flush_reachable(sh, next - 1));
    first = next;
  }
}

void tdo_shield_open(tdo_shield_t *sh, size_t first, size_t limit,
                     size_t ahead) {
  size_t low = tdo_bits_next_set(sh->differ, first, limit);
  size_t high = tdo_bits_last_set(sh->differ, low, limit);
  if (low == limit)
    return;
  if (low == first)
    low = flush_reach_down(sh, low);
  if (high == limit)
    high = tdo_max(flush_reach_up(sh, high), ahead);
  tdo_shield_set_access(sh, low, high, TDO_ACCESS_WRITE);
  TDO_LANES_FOR(group, low, high) {
    (void)tdo_shield_update(sh, group);
  }
}

void tdo_shield_settle(tdo_shield_t *sh, size_t first, size_t limit,
                       size_t ahead) {
  bool naive = sh->settings.mode == TDO_SHIELD_NAIVE;
  size_t bound = tdo_max(limit, sh->differ_high);
  size_t page = first;
  while ((page = tdo_bits_next_set(sh->differ, page, limit)) < limit) {
    tdo_access_t access = tdo_shield_wanted(sh, page);
    size_t end = naive ? page + 1 : flush_run(sh, page, bound, access);
    if (end >= limit && ahead > limit)
      end = tdo_max(end, ahead);
    tdo_shield_set_access(sh, page, end, access);
    page = tdo_min(end, limit);
  }
  if (ahead > limit) {
    TDO_LANES_FOR(group, limit, ahead) {
      (void)tdo_shield_update(sh, group);
    }
  }
}

static void flush_all(tdo_shield_t *sh) {
  size_t low = sh->differ_low, high = sh->differ_high;
  sh->differ_low = sh->pages;
  sh->differ_high = 0;
  sh->queued = 0;
  if (low < high) {
    sh->settling = true;
    sh->vm->calls(sh->vm, true);
    tdo_shield_hide(sh, low, high);
    /* It may have opened more, and then been refused. */
    low = tdo_min(low, sh->differ_low);
    high = tdo_max(high, sh->differ_high);
    sh->differ_low = sh->pages;
    sh->differ_high = 0;
    tdo_shield_settle(sh, low, high, high);
    tdo_shield_economize(sh);
    sh->vm->calls(sh->vm, false);
    sh->settling = false;
  }
}

void tdo_shield_settle_all(tdo_shield_t *sh) {
  flush_all(sh);
  while (TDO_UNLIKELY(sh->forced)) {
    tdo_shield_catch_up(sh);
    flush_all(sh);
  }
}
