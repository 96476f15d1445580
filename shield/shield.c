/* Testudo: the shield: its life, the requests made of it, its sessions.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "shield/internal.h"

#define SHIELD_SPREAD 36 /* one page in so many, hit, has the others opened */

static size_t shield_table_pages(size_t pages) {
  return tdo_round_up(pages, 64);
}

/* Bytes of all tables but that of huge pages, which comes last. */
static size_t shield_bytes(size_t pages, size_t hide_unit) {
  size_t n = shield_table_pages(pages);
  size_t units = pages / hide_unit + 2; /* the first and last may be parts */
  return tdo_round_up(4 * n + n / 8 + units, sizeof(tdo_bits_t));
}

static size_t shield_huge_bytes(size_t pages, size_t huge_pages) {
  size_t count = huge_pages == 0 ? 0 : pages / huge_pages + 1;
  return tdo_bits_words(count) * sizeof(tdo_bits_t);
}

static void shield_lay_out(tdo_shield_t *sh) {
  size_t n = shield_table_pages(sh->pages);
  sh->differ = sh->tables;
  sh->state = (uint8_t *)sh->tables + n / 8;
  sh->actual = sh->state + n;
  sh->depth = sh->actual + n;
  sh->calm = sh->depth + n;
  sh->hidden_as = sh->calm + n;
  if (sh->settings.huge_pages != 0) {
    sh->huge = (tdo_bits_t *)sh->tables +
               shield_bytes(sh->pages, sh->settings.hide_unit) /
                   sizeof(tdo_bits_t);
  }
}

/* What a table of pages has, or less. */
static size_t shield_hide_unit(const tdo_shield_settings_t *settings,
                               const tdo_vm_t *vm) {
  size_t least = tdo_max(settings->hide_least / vm->page_size, 1);
  return settings->hide_unit != 0
             ? settings->hide_unit
             : tdo_min(vm->page_size / sizeof(void *),
                       (size_t)1 << (63 - __builtin_clzl(least)));
}

mps_res_t tdo_shield_init(tdo_shield_t *sh, tdo_vm_t *vm, void *base,
                          size_t size, const tdo_shield_settings_t *settings,
                          const tdo_shield_hooks_t *hooks) {
  size_t pages = size / vm->page_size;
  size_t hide_unit = shield_hide_unit(settings, vm);
  size_t tables_size =
      tdo_round_up(shield_bytes(pages, hide_unit) +
                       shield_huge_bytes(pages, settings->huge_pages),
                   vm->page_size);
  void *tables;
  mps_res_t res;
  TDO_CHECK(size > 0 && size % vm->page_size == 0);
  TDO_CHECK((tdo_word_t)base % vm->page_size == 0);
  res = vm->reserve_table(&tables, vm, tables_size);
  if (res != MPS_RES_OK) {
    return res;
  }
  *sh = (tdo_shield_t){.vm = vm,
                       .base = base,
                       .pages = pages,
                       .page_shift = tdo_log2(vm->page_size),
                       .settings = *settings,
                       .hooks = *hooks,
                       .tables = tables,
                       .tables_size = tables_size,
                       .differ_low = pages,
                       .used_low = pages,
                       .reach = TDO_SHIELD_REACH_MOST};
  sh->settings.queue_length = tdo_max(settings->queue_length, 1);
  sh->settings.hide_unit = hide_unit;
  shield_lay_out(sh);
  sh->budget_mappings = tdo_shield_budget(vm, settings->budget);
  sh->economize_at = sh->budget_mappings;
  sh->stats.mappings = sh->stats.mappings_most = 1;
  sh->sig = TDO_SHIELD_SIG;
  return MPS_RES_OK;
}

void tdo_shield_finish(tdo_shield_t *sh) {
  TDO_CHECK(sh->sig == TDO_SHIELD_SIG);
  sh->sig = TDO_SIG_DEAD;
  tdo_shield_detach(sh);
  tdo_shield_hide_finish(sh);
  sh->vm->release(sh->vm, sh->tables, sh->tables_size);
}

static bool shield_check_page(const tdo_shield_t *sh, size_t page) {
  unsigned state = sh->state[page];
  unsigned actual = sh->actual[page];
  bool differs = tdo_bits_get(sh->differ, page);
  if (actual == TDO_ACCESS_ARMED
          ? sh->track == NULL
          : actual != TDO_ACCESS_NONE && actual != TDO_ACCESS_READ &&
                actual != TDO_ACCESS_WRITE) {
    return false;
  }
  if ((state & TDO_PAGE_ADOPTED) == 0) {
    return (state & ~TDO_PAGE_COMMITTED) == 0 && sh->depth[page] == 0 &&
           !differs;
  }
  if (differs != (tdo_shield_wanted(sh, page) != (actual & 3u))) {
    return false; /* .differ */
  }
  return (state & TDO_PAGE_COMMITTED) != 0 &&
         state / TDO_PAGE_HITS <= TDO_PAGE_HITS_MOST &&
         (!differs || (page >= sh->differ_low && page < sh->differ_high)) &&
         (sh->depth[page] == 0 || actual == TDO_ACCESS_WRITE); /* .opened */
}

bool tdo_shield_check(const tdo_shield_t *sh) {
  if (sh->sig != TDO_SHIELD_SIG || sh->vm == NULL || sh->pages == 0 ||
      sh->settings.queue_length == 0 || sh->used_high > sh->pages ||
      sh->differ_high > sh->pages || sh->queued > sh->settings.queue_length) {
    return false;
  }
  for (size_t page = sh->used_low; page < sh->used_high; ++page) {
    if (!shield_check_page(sh, page)) {
      return false;
    }
  }
  return tdo_shield_hide_check(sh) &&
         sh->stats.mappings == tdo_shield_count_mappings(sh); /* .count */
}

void tdo_shield_stop(tdo_shield_t *sh) {
  if (!sh->stopped) {
    sh->stopped = true;
    if (sh->hooks.stop != NULL) {
      sh->hooks.stop(sh->hooks.closure);
    }
  }
}

static void shield_check_range(const tdo_shield_t *sh, size_t first,
                               size_t limit) {
  TDO_CRITICAL(sh->sig == TDO_SHIELD_SIG);
  TDO_CRITICAL(first <= limit && limit <= sh->pages);
  (void)sh, (void)first, (void)limit;
}

/* Some pages of a request, more than before, are not as wanted. */
static void shield_queue(tdo_shield_t *sh) {
  if (sh->settings.mode == TDO_SHIELD_NAIVE) {
    tdo_shield_settle_all(sh);
  } else if (sh->stopped && tdo_shield_defers(sh)) {
    /* Nobody is to be kept out before the session ends, and what is closed
       early, the collector may have to open again (or write, if armed). */
  } else if (++sh->queued > sh->settings.queue_length) {
    ++sh->stats.flushes_full;
    tdo_shield_settle_all(sh);
  }
}

void tdo_shield_committed(tdo_shield_t *sh, size_t first, size_t limit) {
  shield_check_range(sh, first, limit);
  tdo_shield_request(sh, TDO_REQUEST_COMMITTED, 0, first, limit);
  TDO_CRITICAL(tdo_shield_all(sh, first, limit, TDO_PAGE_ADOPTED, 0));
  if (first < limit) {
    memset(sh->state + first, TDO_PAGE_COMMITTED, limit - first);
    (void)tdo_shield_note_access(sh, first, limit, TDO_ACCESS_WRITE);
  }
}

void tdo_shield_decommitting(tdo_shield_t *sh, size_t first, size_t limit) {
  shield_check_range(sh, first, limit);
  if (sh->hidden > 0 && !tdo_shield_show(sh, first, limit, TDO_ACCESS_NONE)) {
    tdo_shield_give_up(sh, first, limit);
  }
}

void tdo_shield_decommitted(tdo_shield_t *sh, size_t first, size_t limit) {
  shield_check_range(sh, first, limit);
  tdo_shield_request(sh, TDO_REQUEST_DECOMMITTED, 0, first, limit);
  TDO_CRITICAL(tdo_shield_all(sh, first, limit, TDO_PAGE_ADOPTED, 0));
  if (first < limit) {
    memset(sh->state + first, 0, limit - first);
    (void)tdo_shield_note_access(sh, first, limit, TDO_ACCESS_NONE);
    tdo_shield_track_renew(sh, first, limit);
  }
}

void tdo_shield_huge(tdo_shield_t *sh, size_t first, size_t limit,
                     bool huge) {
  size_t size = sh->settings.huge_pages;
  shield_check_range(sh, first, limit);
  if (sh->huge != NULL && sh->record == NULL) {
    TDO_CHECK(first % size == 0 && limit % size == 0);
    (huge ? tdo_bits_set_range : tdo_bits_clear_range)(sh->huge, first / size,
                                                       limit / size);
  }
}

/* The bounds of the free, committed, closed pages around [FIRST, LIMIT): they
   are opened once, now or later. */
static void shield_ahead(const tdo_shield_t *sh, size_t *first_io,
                         size_t *limit_io) {
  size_t first = *first_io, limit = *limit_io;
  size_t low = first - tdo_min(first, TDO_SHIELD_AHEAD);
  size_t high = tdo_min(limit + TDO_SHIELD_AHEAD, sh->pages);
  while (first > low && sh->state[first - 1] == TDO_PAGE_COMMITTED &&
         sh->actual[first - 1] != TDO_ACCESS_WRITE) {
    --first;
  }
  while (limit < high && sh->state[limit] == TDO_PAGE_COMMITTED &&
         sh->actual[limit] != TDO_ACCESS_WRITE) {
    ++limit;
  }
  *first_io = first;
  *limit_io = limit;
}

void tdo_shield_adopt(tdo_shield_t *sh, size_t first, size_t limit) {
  size_t start, end;
  shield_check_range(sh, first, limit);
  tdo_shield_request(sh, TDO_REQUEST_ADOPT, 0, first, limit);
  TDO_CRITICAL(tdo_shield_all(sh, first, limit, 0xFF, TDO_PAGE_COMMITTED));
  if (first == limit) {
    return;
  }
  memset(sh->state + first, TDO_PAGE_COMMITTED | TDO_PAGE_ADOPTED,
         limit - first);
  memset(sh->depth + first, 0, limit - first);
  memset(sh->calm + first, 0, limit - first);
  TDO_LANES_FOR(group, first, limit) {
    (void)tdo_shield_update(sh, group);
  }
  start = tdo_bits_next_set(sh->differ, first, limit);
  if (start == limit) {
    return;
  }
  if (sh->settings.mode == TDO_SHIELD_NAIVE) {
    tdo_shield_settle_all(sh);
    return;
  }
  end = tdo_bits_last_set(sh->differ, start, limit);
  if (tdo_shield_defers(sh)) {
    shield_ahead(sh, &start, &end);
  }
  if (sh->track != NULL) {
    tdo_shield_track_adopt(sh, start, end);
  }
  tdo_shield_set_access(sh, start, end, TDO_ACCESS_WRITE);
}

void tdo_shield_retire(tdo_shield_t *sh, size_t first, size_t limit) {
  shield_check_range(sh, first, limit);
  tdo_shield_request(sh, TDO_REQUEST_RETIRE, 0, first, limit);
  if (first < limit) {
    memset(sh->state + first, TDO_PAGE_COMMITTED, limit - first);
    memset(sh->depth + first, 0, limit - first);
    tdo_bits_clear_range(sh->differ, first, limit);
  }
}

/* Set the bars SET, clear the bars CLEAR; queue if that makes work. */
static void shield_change(tdo_shield_t *sh, size_t first, size_t limit,
                          tdo_bar_t set, tdo_bar_t clear) {
  bool fresh = false;
  TDO_LANES_FOR(group, first, limit) {
    tdo_lanes_t mask = tdo_lanes_mask(group, first, limit);
    tdo_lanes_t old = tdo_lanes_load(sh->state, group);
    tdo_lanes_t new =
        (old & ~(tdo_lanes_all(clear) & mask)) | (tdo_lanes_all(set) & mask);
    TDO_CRITICAL((~old & mask & tdo_lanes_all(TDO_PAGE_ADOPTED)) == 0);
    if (new != old) {
      tdo_lanes_store(sh->state, group, new);
      fresh |= tdo_shield_update(sh, group);
    }
  }
  if (fresh) {
    shield_queue(sh);
  }
}

void tdo_shield_raise(tdo_shield_t *sh, size_t first, size_t limit,
                      tdo_bar_t bars) {
  shield_check_range(sh, first, limit);
  tdo_shield_request(sh, TDO_REQUEST_RAISE, bars, first, limit);
  TDO_CRITICAL((bars & ~TDO_PAGE_BARS) == 0);
  if (first < limit) {
    ++sh->stats.raises;
    if (sh->settings.mode != TDO_SHIELD_OFF) {
      shield_change(sh, first, limit, bars, 0);
    }
  }
}

void tdo_shield_lower(tdo_shield_t *sh, size_t first, size_t limit,
                      tdo_bar_t bars) {
  shield_check_range(sh, first, limit);
  tdo_shield_request(sh, TDO_REQUEST_LOWER, bars, first, limit);
  TDO_CRITICAL((bars & ~TDO_PAGE_BARS) == 0);
  if (first < limit) {
    ++sh->stats.lowers;
    shield_change(sh, first, limit, 0, bars);
  }
}

void tdo_shield_release(tdo_shield_t *sh, size_t first, size_t limit,
                        bool now) {
  shield_check_range(sh, first, limit);
  tdo_shield_request(sh, TDO_REQUEST_RELEASE, now, first, limit);
  if (first < limit && tdo_shield_defers(sh) &&
      (now || limit - first + sh->released <= sh->reach)) {
    sh->released += now ? 0 : limit - first;
    ++sh->stats.lowers;
    shield_change(sh, first, limit, 0, TDO_BAR_WRITE);
  }
}

/* Note that [FIRST, LIMIT) is exposed: does it follow what was before? */
static bool shield_follows(tdo_shield_t *sh, size_t first, size_t limit) {
  bool follows = first == sh->run_limit;
  if (!follows) {
    sh->run_first = first;
  }
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
static size_t shield_read_ahead(tdo_shield_t *sh, size_t first, size_t limit,
                                bool follows) {
  unsigned actual = sh->actual[limit - 1];
  size_t end = limit, page = limit, most;
  if (sh->ahead == 0 && follows) {
    most = tdo_max(limit, first + tdo_min(sh->run_before, TDO_SHIELD_AHEAD));
    sh->ahead = tdo_max(most - limit, TDO_SHIELD_AHEAD_LEAST);
  } else {
    follows = first >= sh->ahead_low &&
              first <= sh->ahead_high + (sh->ahead == 0 ? 0 : TDO_SHIELD_SLACK);
    sh->ahead = follows ? tdo_min(2 * sh->ahead, TDO_SHIELD_AHEAD)
                        : sh->ahead / 2;
    sh->ahead = tdo_max(sh->ahead, TDO_SHIELD_AHEAD_LEAST);
    most = actual == TDO_ACCESS_READ && !follows ? limit : limit + sh->ahead;
  }
  if (tdo_shield_is_huge(sh, limit - 1)) {
    most = tdo_max(most, tdo_round_up(limit, sh->settings.huge_pages));
  }
  most = tdo_min(most, sh->pages);
  for (; page < most; ++page) {
    if (sh->actual[page] == actual && (sh->state[page] & TDO_PAGE_BARS) != 0) {
      end = page + 1;
    } else if (!follows || sh->actual[page] != TDO_ACCESS_WRITE ||
               page - end >= TDO_SHIELD_SLACK) {
      break;
    }
  }
  sh->ahead_low = limit;
  sh->ahead_high = end;
  return end;
}

/* Are the pages before LIMIT closed, and may others be opened with them? */
static bool shield_reads_ahead(const tdo_shield_t *sh, size_t limit) {
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
static void shield_concede(tdo_shield_t *sh, size_t first, size_t limit) {
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
    if (sh->hooks.lost != NULL) {
      sh->hooks.lost(sh->hooks.closure, start, first, TDO_BAR_WRITE);
    }
  }
}

/* Some pages of [FIRST, LIMIT) are closed; open them to the collector. */
static void shield_let_in(tdo_shield_t *sh, size_t first, size_t limit,
                          bool follows) {
  size_t ahead = limit;
  bool wide = sh->stopped && sh->track == NULL && tdo_shield_defers(sh);
  if (wide && sh->batches) {
    shield_concede(sh, first, limit);
  }
  if (shield_reads_ahead(sh, limit)) {
    ahead = shield_read_ahead(sh, first, limit, follows);
  }
  if (wide) {
    tdo_shield_open(sh, first, limit, ahead);
  } else {
    tdo_shield_settle(sh, first, limit, ahead);
  }
}

void tdo_shield_expose(tdo_shield_t *sh, size_t first, size_t limit) {
  bool queued = first < sh->differ_high && limit > sh->differ_low;
  /* A page that is armed is open already. */
  tdo_lanes_t stops = tdo_lanes_all(sh->track != NULL ? 2 : 3);
  tdo_lanes_t closed = 0, barred = 0;
  bool follows;
  shield_check_range(sh, first, limit);
  tdo_shield_request(sh, TDO_REQUEST_EXPOSE, 0, first, limit);
  if (first == limit) {
    return;
  }
  ++sh->stats.exposes;
  follows = shield_follows(sh, first, limit);
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
    if (barred != 0) {
      tdo_shield_stop(sh);
    }
    shield_let_in(sh, first, limit, follows);
  }
}

void tdo_shield_cover(tdo_shield_t *sh, size_t first, size_t limit) {
  bool fresh = false;
  shield_check_range(sh, first, limit);
  tdo_shield_request(sh, TDO_REQUEST_COVER, 0, first, limit);
  if (first == limit) {
    return;
  }
  ++sh->stats.covers;
  TDO_LANES_FOR(group, first, limit) {
    tdo_lanes_t mask = tdo_lanes_mask(group, first, limit);
    tdo_lanes_t depth = tdo_lanes_load(sh->depth, group);
    tdo_lanes_t bars =
        tdo_lanes_load(sh->state, group) & tdo_lanes_all(TDO_PAGE_BARS) & mask;
    TDO_CRITICAL(((tdo_lanes_nonzero(depth) ^ tdo_lanes_all(1)) & mask) == 0);
    tdo_lanes_store(sh->depth, group, depth - (tdo_lanes_all(1) & mask));
    if (bars != 0) {
      fresh |= tdo_shield_update(sh, group);
    }
  }
  if (fresh) {
    shield_queue(sh);
  }
}

/* Calm scans before a page in STATE may have a write bar: the more, the more
   often it was hit, so that a page pays for few hits, and for scans no more
   than twice what it must. A setting that is never reached stays so. */
static unsigned shield_patience(const tdo_shield_t *sh, unsigned state) {
  unsigned hits = state / TDO_PAGE_HITS, hit = sh->settings.defer_hit;
  if (hits == 0) {
    return sh->settings.defer_fresh;
  }
  return hit > UINT8_MAX ? hit
                         : (unsigned)tdo_min(hit << (hits - 1), UINT8_MAX);
}

void tdo_shield_set_reach(tdo_shield_t *sh, size_t pages) {
  sh->reach = tdo_max(tdo_min(pages, TDO_SHIELD_REACH_MOST),
                      TDO_SHIELD_REACH_LEAST);
}

void tdo_shield_begin_offers(tdo_shield_t *sh) {
  tdo_shield_request(sh, TDO_REQUEST_OFFERS, 0, 0, 0);
  sh->batches = true;
  sh->ready_before = sh->ready;
  sh->ready = 0;
  sh->released = 0;
}

/* Would an offer of PAGE be granted, counting one more calm scan? */
static bool shield_grants(const tdo_shield_t *sh, size_t page, bool room) {
  unsigned state = sh->state[page];
  unsigned calm = (unsigned)tdo_min(sh->calm[page] + 1u, UINT8_MAX);
  if ((state & TDO_BAR_WRITE) != 0) {
    return true;
  }
  return room && calm >= shield_patience(sh, state);
}

/* The offer in the modes that defer. */
static size_t shield_consider(tdo_shield_t *sh, size_t first, size_t limit,
                              bool *granted_o) {
  bool room = sh->stats.mappings + 2 * sh->queued < sh->budget_mappings;
  bool granted = shield_grants(sh, first, room);
  bool fresh = (sh->state[first] & TDO_BAR_WRITE) == 0;
  size_t page = first;
  do {
    if (sh->calm[page] < UINT8_MAX) {
      ++sh->calm[page];
    }
    ++page;
  } while (
      page < limit && shield_grants(sh, page, room) == granted &&
      (!sh->batches || ((sh->state[page] & TDO_BAR_WRITE) == 0) == fresh));
  if (granted && fresh) {
    sh->ready += page - first;
    if (sh->batches &&
        tdo_max(sh->ready, sh->ready_before) < TDO_SHIELD_BATCH) {
      granted = false;
    }
  }
  *granted_o = granted;
  return page - first;
}

size_t tdo_shield_offer(tdo_shield_t *sh, size_t first, size_t limit,
                        bool *barred_o) {
  bool granted = true;
  size_t n = limit - first;
  shield_check_range(sh, first, limit);
  TDO_CRITICAL(first < limit);
  if (sh->settings.mode == TDO_SHIELD_OFF) {
    granted = false;
  } else if (tdo_shield_defers(sh) && sh->track == NULL) {
    n = shield_consider(sh, first, limit, &granted);
  }
  tdo_shield_request(sh, TDO_REQUEST_OFFER, granted, first, first + n);
  if (granted) {
    ++sh->stats.raises;
    shield_change(sh, first, first + n, TDO_BAR_WRITE, 0);
  } else {
    sh->stats.bars_declined += n;
  }
  *barred_o = granted;
  return n;
}

void tdo_shield_trust(tdo_shield_t *sh, size_t first, size_t limit) {
  shield_check_range(sh, first, limit);
  tdo_shield_request(sh, TDO_REQUEST_TRUST, 0, first, limit);
  memset(sh->calm + first, (int)tdo_min(sh->settings.defer_fresh, UINT8_MAX),
         limit - first);
}

tdo_bar_t tdo_shield_bars(const tdo_shield_t *sh, size_t page) {
  TDO_CRITICAL(page < sh->pages);
  return sh->state[page] & TDO_PAGE_BARS;
}

bool tdo_shield_adopted(const tdo_shield_t *sh, size_t page) {
  TDO_CRITICAL(page < sh->pages);
  return (sh->state[page] & TDO_PAGE_ADOPTED) != 0;
}

/* How many pages next to PAGE, upwards or downwards, lost their bars to hits,
   as far as none has one. */
static size_t shield_trail(const tdo_shield_t *sh, size_t page, bool up) {
  size_t hits = 0;
  for (size_t i = 1; i <= TDO_SHIELD_REGION; ++i) {
    size_t next = up ? page + i : page - i;
    if (next >= sh->pages || (sh->state[next] & TDO_PAGE_ADOPTED) == 0 ||
        (sh->state[next] & TDO_PAGE_BARS) != 0) {
      break;
    }
    hits += sh->state[next] >= TDO_PAGE_HITS;
  }
  return hits;
}

/* Count, of the pages [FIRST, LIMIT), those that are open because they were hit
   themselves, and those that have bars. */
static void shield_count_hits(const tdo_shield_t *sh, size_t first,
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
static size_t shield_dense_span(const tdo_shield_t *sh, size_t page) {
  size_t hits = 1, barred = 0, dense = 1;
  for (size_t span = 1; span < TDO_SHIELD_REGION; span *= 2) {
    size_t other = (page / span ^ 1) * span;
    shield_count_hits(sh, tdo_min(other, sh->pages),
                      tdo_min(other + span, sh->pages), &hits, &barred);
    if (hits > 1 && hits * SHIELD_SPREAD >= hits + barred) {
      dense = 2 * span;
    }
  }
  return dense;
}

/* A hit opens the pages around it that are likely to be hit, too, as if they had
   been hit as often: they are closed together again. And one at the end of a
   trail of pages that were hit before, which is how somebody writes who works
   his way upwards or downwards, opens as many pages ahead of it. */
static void shield_spread(tdo_shield_t *sh, size_t page) {
  size_t span = shield_dense_span(sh, page);
  unsigned hits = sh->state[page] / TDO_PAGE_HITS * TDO_PAGE_HITS;
  size_t below = shield_trail(sh, page, false);
  size_t above = shield_trail(sh, page, true);
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
    if (sh->hooks.lost != NULL) {
      sh->hooks.lost(sh->hooks.closure, start, first, TDO_BAR_WRITE);
    }
  }
}

void tdo_shield_hit(tdo_shield_t *sh, size_t page, tdo_bar_t bars) {
  shield_check_range(sh, page, page + 1);
  tdo_shield_request(sh, TDO_REQUEST_HIT, bars, page, page + 1);
  sh->hit = true;
  sh->stats.hits_stale += bars == 0;
  sh->stats.hits_read += (bars & TDO_BAR_READ) != 0;
  if (sh->track != NULL) {
    tdo_shield_track_hit(sh, page);
  }
  if ((bars & TDO_BAR_WRITE) != 0) {
    ++sh->stats.hits_write;
    sh->state[page] &= (uint8_t)~TDO_PAGE_SPREAD;
    if (sh->state[page] / TDO_PAGE_HITS < TDO_PAGE_HITS_MOST) {
      sh->state[page] += TDO_PAGE_HITS;
    }
    sh->calm[page] = 0;
    if (tdo_shield_defers(sh) && sh->track == NULL) {
      shield_spread(sh, page);
    }
  }
}

/* A flush that is not early: count it by what the session is for. */
static void shield_settle(tdo_shield_t *sh) {
  if (sh->differ_low < sh->differ_high) {
    ++*(sh->hit        ? &sh->stats.flushes_quantum
        : sh->stopped ? &sh->stats.flushes_stop
                      : &sh->stats.flushes_leave);
    tdo_shield_settle_all(sh);
  }
}

void tdo_shield_flush(tdo_shield_t *sh) {
  TDO_CHECK(sh->sig == TDO_SHIELD_SIG);
  tdo_shield_request(sh, TDO_REQUEST_FLUSH, 0, 0, 0);
  shield_settle(sh);
}

void tdo_shield_leave(tdo_shield_t *sh) {
  TDO_CHECK(sh->sig == TDO_SHIELD_SIG);
  tdo_shield_request(sh, TDO_REQUEST_LEAVE, 0, 0, 0);
  shield_settle(sh);
  sh->active = sh->record != NULL;
  sh->harvested = sh->hit = false;
  sh->ahead = 0;
  sh->run_before = sh->run_limit - sh->run_first;
  sh->run_first = sh->run_limit;
  if (sh->stopped) {
    sh->stopped = false;
    if (sh->hooks.go != NULL) {
      sh->hooks.go(sh->hooks.closure);
    }
  }
}

void tdo_shield_note_stopped(tdo_shield_t *sh) {
  tdo_shield_request(sh, TDO_REQUEST_STOPPED, 0, 0, 0);
  sh->stopped = true;
}

void tdo_shield_record(tdo_shield_t *sh, tdo_shield_record_t *record) {
  TDO_CHECK(sh->sig == TDO_SHIELD_SIG && sh->record == NULL);
  sh->record = record;
}
