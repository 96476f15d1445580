/* Testudo: dirty mode: write bars by a tracker of writes, harvests, and the
   regions that are closed because nobody writes them.
   SPDX-License-Identifier: BSD-2-Clause

   A page with a write bar is armed instead of protected. Arming again what is
   armed would forget a write, so that is done only between a harvest and the
   end of its session, with the threads stopped (.unseen).

   Harvesting a region that nobody wrote costs about 1.2 us; closing it 64 us,
   and opening it by a hit as much. So a region is closed after as many calm
   harvests as cost what that costs: then the whole is never worse than twice
   the best. */
#include <string.h>
#include "shield/internal.h"

#define DIRTY_TRACKED ((uint8_t)1) /* may have armed pages */
#define DIRTY_CLOSED  ((uint8_t)2) /* some of its pages are READ */

#define DIRTY_CALM  ((uint8_t)110) /* harvests before a region is closed */
#define DIRTY_CLOSE ((size_t)8)    /* regions closed after one harvest */

static char *dirty_addr(const tdo_shield_t *sh, size_t page) {
  return sh->base + (page << sh->page_shift);
}

static size_t dirty_regions(const tdo_shield_t *sh) {
  return (sh->pages + TDO_SHIELD_REGION - 1) / TDO_SHIELD_REGION;
}

/* Regions that meet [FIRST, LIMIT), not empty. */
#define DIRTY_FOR(r, first, limit)                                            \
  for (size_t r = (first) / TDO_SHIELD_REGION;                                \
       r <= ((limit)-1) / TDO_SHIELD_REGION; ++r)

/* Drop the write bars of the armed pages in [FIRST, LIMIT) and report them:
   what was written there will not be known. Leaves `differ` to the caller. */
static void dirty_forget(tdo_shield_t *sh, size_t first, size_t limit) {
  size_t page = first;
  while (page < limit) {
    size_t start = page;
    for (; page < limit && sh->actual[page] == TDO_ACCESS_ARMED &&
           (sh->state[page] & TDO_BAR_WRITE) != 0;
         ++page) {
      sh->state[page] &= (uint8_t)~TDO_BAR_WRITE;
    }
    if (page == start) {
      ++page;
      continue;
    }
    sh->stats.unseen_dropped += page - start;
    tdo_shield_lost(sh, start, page, TDO_BAR_WRITE);
  }
}

void tdo_shield_track_doubt(tdo_shield_t *sh, size_t first, size_t limit) {
  dirty_forget(sh, first, limit);
  (void)tdo_shield_note_access(sh, first, limit, TDO_ACCESS_NONE);
  TDO_LANES_FOR(group, first, limit) {
    (void)tdo_shield_update(sh, group);
  }
}

/* Open the pages of [FIRST, LIMIT) that are closed with their region; they
   are armed. False if refused. */
static bool dirty_open_pages(tdo_shield_t *sh, size_t first, size_t limit) {
  size_t page = first;
  while (page < limit) {
    uint8_t *next = memchr(sh->actual + page, TDO_ACCESS_READ, limit - page);
    size_t end;
    if (next == NULL)
      return true;
    page = end = (size_t)(next - sh->actual);
    while (end < limit && sh->actual[end] == TDO_ACCESS_READ)
      ++end;
    if (!tdo_shield_protect(sh, page, end, TDO_ACCESS_WRITE))
      return false;
    tdo_shield_changed(
        sh, tdo_shield_note_access(sh, page, end, TDO_ACCESS_ARMED));
    page = end;
  }
  return true;
}

static bool dirty_closed(const tdo_shield_t *sh, size_t first, size_t limit) {
  DIRTY_FOR(r, first, limit) {
    if ((sh->region[r] & DIRTY_CLOSED) != 0)
      return true;
  }
  return false;
}

/* Note which regions that meet [FIRST, LIMIT) have no page left that is
   closed with its region. */
static void dirty_opened(tdo_shield_t *sh, size_t first, size_t limit) {
  DIRTY_FOR(r, first, limit) {
    size_t base = r * TDO_SHIELD_REGION;
    size_t end = tdo_min(base + TDO_SHIELD_REGION, sh->pages);
    if ((sh->region[r] & DIRTY_CLOSED) != 0 &&
        memchr(sh->actual + base, TDO_ACCESS_READ, end - base) == NULL) {
      ++sh->stats.regions_opened;
      sh->region[r] = DIRTY_TRACKED;
    }
    sh->region_calm[r] = 0;
  }
}

/* An opening call in [FIRST, LIMIT) was refused and may have opened some of
   what is closed with its region; writes there would not be looked for. As if
   all that had been written, and was closed for good. */
static void dirty_doubt_closed(tdo_shield_t *sh, size_t first, size_t limit) {
  size_t page = first;
  while (page < limit) {
    size_t start = page;
    while (page < limit && sh->actual[page] == TDO_ACCESS_READ)
      ++page;
    if (start < page) {
      (void)tdo_shield_note_access(sh, start, page, TDO_ACCESS_ARMED);
      tdo_shield_track_doubt(sh, start, page);
    } else {
      ++page;
    }
  }
  dirty_opened(sh, first, limit);
}

/* Open the closed regions that meet [FIRST, LIMIT). Where that is refused,
   for want of a mapping, all that are closed beside them as well: that is a
   whole mapping. */
static bool dirty_open(tdo_shield_t *sh, size_t first, size_t limit) {
  size_t low = tdo_round_down(first, TDO_SHIELD_REGION);
  size_t high = tdo_min(tdo_round_up(limit, TDO_SHIELD_REGION), sh->pages);
  if (!dirty_closed(sh, first, limit))
    return true;
  if (!dirty_open_pages(sh, low, high)) {
    while (low > 0 && sh->actual[low - 1] == TDO_ACCESS_READ)
      --low;
    while (high < sh->pages && sh->actual[high] == TDO_ACCESS_READ)
      ++high;
    if (!dirty_open_pages(sh, low, high)) {
      dirty_doubt_closed(sh, low, high);
      return false;
    }
  }
  dirty_opened(sh, low, high);
  return true;
}

/* Let the mutator at what is closed in [FIRST, LIMIT): one call over all of
   that. */
static bool dirty_unbar(tdo_shield_t *sh, size_t first, size_t limit) {
  uint8_t *next = memchr(sh->actual + first, TDO_ACCESS_NONE, limit - first);
  size_t changed = 0;
  if (next == NULL)
    return true;
  first = (size_t)(next - sh->actual);
  while (sh->actual[limit - 1] != TDO_ACCESS_NONE)
    --limit;
  if (!tdo_shield_protect(sh, first, limit, TDO_ACCESS_WRITE))
    return false;
  for (size_t page = first; page < limit; ++page)
    changed += sh->actual[page] == TDO_ACCESS_NONE;
  tdo_shield_changed(sh, changed);
  return true;
}

/* Open everything by one call over the whole window, which leaves a single
   mapping: the last resort, when calls over parts were refused. What had been
   closed with its region is armed. */
static bool dirty_open_all(tdo_shield_t *sh) {
  size_t changed = 0;
  if (!tdo_shield_protect(sh, 0, sh->pages, TDO_ACCESS_WRITE))
    return false;
  for (size_t page = 0; page < sh->pages; ++page) {
    changed += sh->actual[page] == TDO_ACCESS_NONE;
    if (sh->actual[page] == TDO_ACCESS_READ) {
      (void)tdo_shield_note_access(sh, page, page + 1, TDO_ACCESS_ARMED);
      ++changed;
    }
  }
  tdo_shield_changed(sh, changed);
  dirty_opened(sh, 0, sh->pages);
  return true;
}

/* One call to the tracker; pages that are armed must be free or harvested. */
static bool dirty_arm(tdo_shield_t *sh, size_t first, size_t limit) {
  ++sh->stats.arms;
  sh->stats.arm_pages += limit - first;
  if (sh->track->arm(sh->track, dirty_addr(sh, first),
                     (limit - first) << sh->page_shift) != MPS_RES_OK) {
    ++sh->stats.arms_refused;
    return false;
  }
  (void)tdo_shield_note_access(sh, first, limit, TDO_ACCESS_ARMED);
  DIRTY_FOR(r, first, limit) {
    sh->region[r] |= DIRTY_TRACKED;
    sh->region_calm[r] = 0;
  }
  return true;
}

#define DIRTY_DISARM ((size_t)8) /* pages: fewer are cheaper written */

/* Take the tracking of the pages in [FIRST, LIMIT) back that have lost their
   bars, if it pays: so that the collector's writes to them cost nothing. */
static void dirty_disarm(tdo_shield_t *sh, size_t first, size_t limit) {
  size_t low = limit, high = first;
  for (size_t page = first; page < limit; ++page) {
    if (sh->actual[page] == TDO_ACCESS_ARMED &&
        (sh->state[page] & TDO_BAR_WRITE) == 0) {
      low = tdo_min(low, page);
      high = page + 1;
    }
  }
  if (low + DIRTY_DISARM <= high) {
    ++sh->stats.disarms;
    (void)sh->track->disarm(sh->track, dirty_addr(sh, low),
                            (high - low) << sh->page_shift);
  }
}

bool tdo_shield_track_access(tdo_shield_t *sh, size_t first, size_t limit,
                             tdo_access_t access) {
  bool open = dirty_open(sh, first, limit) &&
              (access == TDO_ACCESS_NONE || dirty_unbar(sh, first, limit));
  if (access == TDO_ACCESS_READ)
    return open && dirty_arm(sh, first, limit);
  if (!open && access == TDO_ACCESS_WRITE && limit - first == sh->pages)
    open = dirty_open_all(sh);
  if (!open)
    return false;
  if (!sh->harvested)
    dirty_forget(sh, first, limit);
  if (access == TDO_ACCESS_WRITE) {
    tdo_shield_close_rest(sh, &first, &limit);
    dirty_disarm(sh, first, limit);
    (void)tdo_shield_note_access(sh, first, limit, access);
  } else {
    if (!tdo_shield_protect(sh, first, limit, access)) {
      tdo_shield_track_doubt(sh, first, limit);
      return false;
    }
    tdo_shield_changed(sh, tdo_shield_note_access(sh, first, limit, access));
  }
  DIRTY_FOR(r, first, limit) {
    sh->region_calm[r] = 0;
  }
  return true;
}

void tdo_shield_track_adopt(tdo_shield_t *sh, size_t first, size_t limit) {
  uint8_t *next = memchr(sh->actual + first, TDO_ACCESS_ARMED, limit - first);
  if (next == NULL)
    return;
  first = (size_t)(next - sh->actual);
  while (sh->actual[limit - 1] != TDO_ACCESS_ARMED)
    --limit;
  /* If that is refused, the first write to each page costs more. */
  ++sh->stats.disarms;
  (void)sh->track->disarm(sh->track, dirty_addr(sh, first),
                          (limit - first) << sh->page_shift);
  for (size_t page = first; page < limit; ++page) {
    if (sh->actual[page] == TDO_ACCESS_ARMED)
      sh->actual[page] = TDO_ACCESS_WRITE; /* both give full access */
  }
}

void tdo_shield_track_hit(tdo_shield_t *sh, size_t page) {
  if (sh->actual[page] == TDO_ACCESS_READ)
    (void)dirty_open(sh, page, page + 1);
}

void tdo_shield_track_renew(tdo_shield_t *sh, size_t first, size_t limit) {
  if (sh->track != NULL && first < limit) {
    /* If refused, arming these pages will be, and they lose their bars. */
    (void)sh->track->cover(sh->track, dirty_addr(sh, first),
                           (limit - first) << sh->page_shift);
  }
}

/* Harvest. */

typedef struct dirty_harvest {
  tdo_shield_t *sh;
  tdo_shield_visit_t visit;
  void *closure;
} dirty_harvest_t;

/* The armed pages [FIRST, LIMIT) were written. They want to be armed again at
   the next flush, those that have their bars. */
static void dirty_written(dirty_harvest_t *h, size_t first, size_t limit) {
  tdo_shield_t *sh = h->sh;
  size_t page = first;
  memset(sh->actual + first, TDO_ACCESS_WRITE, limit - first);
  TDO_LANES_FOR(group, first, limit) {
    (void)tdo_shield_update(sh, group);
  }
  DIRTY_FOR(r, first, limit) {
    sh->region_calm[r] = 0;
  }
  while (page < limit) {
    size_t start = page;
    while (page < limit && (sh->state[page] & TDO_BAR_WRITE) != 0)
      ++page;
    if (start < page) {
      sh->stats.harvest_written += page - start;
      tdo_shield_request(sh, TDO_REQUEST_WRITTEN, 0, start, page);
      h->visit(h->closure, start, page);
    } else {
      ++page;
    }
  }
}

static void dirty_visit(void *closure, char *base, char *limit) {
  dirty_harvest_t *h = closure;
  tdo_shield_t *sh = h->sh;
  size_t page = (size_t)(base - sh->base) >> sh->page_shift;
  size_t end = (size_t)(limit - sh->base) >> sh->page_shift;
  while (page < end) {
    size_t start = page;
    while (page < end && sh->actual[page] == TDO_ACCESS_ARMED)
      ++page;
    if (start < page)
      dirty_written(h, start, page);
    else
      ++page;
  }
}

/* True if region R has armed pages; *ALL_O if it has no others. */
static bool dirty_has_armed(bool *all_o, const tdo_shield_t *sh, size_t r) {
  size_t base = r * TDO_SHIELD_REGION;
  size_t n = tdo_min(TDO_SHIELD_REGION, sh->pages - base);
  const uint8_t *actual = sh->actual + base;
  *all_o =
      actual[0] == TDO_ACCESS_ARMED && memcmp(actual, actual + 1, n - 1) == 0;
  return *all_o || memchr(actual, TDO_ACCESS_ARMED, n) != NULL;
}

/* Close region R; if the system refuses, some of it may be closed, so open it
   again. */
static void dirty_close(tdo_shield_t *sh, size_t r) {
  size_t first = r * TDO_SHIELD_REGION;
  size_t limit = tdo_min(first + TDO_SHIELD_REGION, sh->pages);
  sh->region_calm[r] = 0;
  if (sh->stats.mappings + 2 > sh->budget_mappings)
    return;
  if (!tdo_shield_protect(sh, first, limit, TDO_ACCESS_READ)) {
    if (!tdo_shield_protect(sh, first, limit, TDO_ACCESS_WRITE))
      tdo_shield_track_doubt(sh, first, limit);
  } else {
    tdo_shield_changed(
        sh, tdo_shield_note_access(sh, first, limit, TDO_ACCESS_READ));
    sh->region[r] = DIRTY_CLOSED;
    ++sh->stats.regions_closed;
  }
}

/* After a harvest of the regions [FIRST, LIMIT): are they still worth it? */
static void dirty_judge(tdo_shield_t *sh, size_t first, size_t limit,
                        size_t *closed_io) {
  for (size_t r = first; r < limit; ++r) {
    bool all;
    if (!dirty_has_armed(&all, sh, r)) {
      sh->region[r] &= (uint8_t)~DIRTY_TRACKED;
    } else if (sh->region_calm[r] < DIRTY_CALM) {
      ++sh->region_calm[r];
    } else if (all && *closed_io < DIRTY_CLOSE) {
      ++*closed_io;
      dirty_close(sh, r);
    }
  }
}

static bool dirty_harvest_regions(dirty_harvest_t *h, size_t first,
                                  size_t limit, size_t *closed_io) {
  tdo_shield_t *sh = h->sh;
  size_t low = first * TDO_SHIELD_REGION;
  size_t high = tdo_min(limit * TDO_SHIELD_REGION, sh->pages);
  sh->stats.harvest_pages += high - low;
  if (sh->track->harvest(sh->track, dirty_addr(sh, low),
                         (high - low) << sh->page_shift, dirty_visit,
                         h) != MPS_RES_OK)
    return false;
  dirty_judge(sh, first, limit, closed_io);
  return true;
}

void tdo_shield_harvest(tdo_shield_t *sh, tdo_shield_visit_t visit,
                        void *closure) {
  dirty_harvest_t h = {sh, visit, closure};
  size_t r, end, closed = 0;
  TDO_CHECK(sh->sig == TDO_SHIELD_SIG);
  tdo_shield_request(sh, TDO_REQUEST_HARVEST, 0, 0, 0);
  if (sh->track == NULL || sh->used_low >= sh->used_high)
    return;
  ++sh->stats.harvests;
  end = (sh->used_high - 1) / TDO_SHIELD_REGION + 1;
  for (r = sh->used_low / TDO_SHIELD_REGION; r < end; ++r) {
    size_t first = r;
    while (r < end && sh->region[r] == DIRTY_TRACKED)
      ++r;
    if (first < r && !dirty_harvest_regions(&h, first, r, &closed)) {
      tdo_shield_fall_back(sh, "a harvest was refused");
      return;
    }
  }
  sh->harvested = sh->stopped;
}

/* Life. */

mps_res_t tdo_shield_attach(tdo_shield_t *sh, tdo_track_t *track) {
  size_t n = dirty_regions(sh);
  size_t size = tdo_round_up(2 * n, sh->vm->page_size);
  void *tables;
  mps_res_t res = sh->vm->reserve_table(&tables, sh->vm, size);
  TDO_CHECK(sh->sig == TDO_SHIELD_SIG && sh->track == NULL);
  if (res != MPS_RES_OK) {
    track->close(track);
    tdo_shield_fall_back(sh, "no memory for its tables");
    return res;
  }
  res = track->cover(track, sh->base, sh->pages << sh->page_shift);
  if (res != MPS_RES_OK) {
    sh->vm->release(sh->vm, tables, size);
    track->close(track);
    tdo_shield_fall_back(sh, "the arena's memory cannot be tracked");
    return res;
  }
  sh->region = tables;
  sh->region_calm = sh->region + n;
  sh->region_size = size;
  sh->track = track;
  sh->fallback = NULL;
  return MPS_RES_OK;
}

void tdo_shield_detach(tdo_shield_t *sh) {
  if (sh->track != NULL) {
    sh->track->close(sh->track);
    sh->track = NULL;
    sh->vm->release(sh->vm, sh->region, sh->region_size);
  }
}

/* No page is armed any more: drop the bars made that way. */
static void dirty_forget_all(tdo_shield_t *sh) {
  if (sh->used_low >= sh->used_high)
    return;
  dirty_forget(sh, sh->used_low, sh->used_high);
  for (size_t page = sh->used_low; page < sh->used_high; ++page) {
    if (sh->actual[page] == TDO_ACCESS_ARMED)
      sh->actual[page] = TDO_ACCESS_WRITE;
  }
  TDO_LANES_FOR(group, sh->used_low, sh->used_high) {
    (void)tdo_shield_update(sh, group);
  }
}

void tdo_shield_fall_back(tdo_shield_t *sh, const char *why) {
  TDO_CHECK(sh->sig == TDO_SHIELD_SIG);
  dirty_forget_all(sh);
  tdo_shield_detach(sh);
  sh->harvested = false;
  sh->settings.mode = TDO_SHIELD_DEFERRED;
  sh->fallback = why;
}

void tdo_shield_abandon(tdo_shield_t *sh) {
  if (sh->track != NULL)
    sh->track->abandon(sh->track);
}

/* Closed regions stay closed. When one is opened its pages, which are not
   armed though they seem so, count as written at the next harvest. */
void tdo_shield_after_fork(tdo_shield_t *sh) {
  sh->active = true;
  TDO_CHECK(sh->sig == TDO_SHIELD_SIG);
  if (sh->record != NULL) {
    tdo_record_abandon(&sh->record->file);
    sh->record = NULL;
  }
  if (sh->track == NULL)
    return;
  sh->harvested = false;
  if (sh->track->reopen(sh->track) != MPS_RES_OK ||
      sh->track->cover(sh->track, sh->base, sh->pages << sh->page_shift) !=
          MPS_RES_OK) {
    tdo_shield_fall_back(sh, "it was refused after a fork");
    return;
  }
  dirty_forget_all(sh);
}
