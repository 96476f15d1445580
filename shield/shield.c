/* Testudo: the shield: its life, what pages there are and what bars they have,
   its sessions.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "shield/internal.h"

static void *shield_place(char *base, size_t offset) {
  return base != NULL ? base + offset : NULL;
}

/* Lay the tables out at BASE; with BASE null only measure. Returns the bytes of
   all. What is looked at in lanes (bytes.h) has whole ones. */
static size_t shield_lay_out(tdo_shield_t *sh, char *base) {
  uint8_t **const tables[] = {&sh->state, &sh->actual, &sh->depth, &sh->calm};
  size_t units = sh->pages / sh->settings.hide_unit + 2; /* or parts of them */
  size_t offset = tdo_bits_words(sh->pages) * sizeof(tdo_bits_t);
  sh->differ = shield_place(base, 0);
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; ++i) {
    offset = tdo_vm_table_offset(sh->vm, offset, i + 1);
    *tables[i] = shield_place(base, offset);
    offset += tdo_round_up(sh->pages, 64);
  }
  sh->hidden_as = shield_place(base, offset);
  offset = tdo_round_up(offset + units, sizeof(tdo_bits_t));
  if (sh->settings.huge_pages != 0) {
    size_t count = sh->pages / sh->settings.huge_pages + 1;
    sh->huge = shield_place(base, offset);
    offset += tdo_bits_words(count) * sizeof(tdo_bits_t);
  }
  return tdo_round_up(offset, sh->vm->page_size);
}

/* What a table of pages has, or less. */
static size_t shield_hide_unit(const tdo_shield_settings_t *settings,
                               const tdo_vm_t *vm) {
  size_t least = tdo_max(settings->hide_least / vm->page_size, 1);
  return settings->hide_unit != 0
             ? settings->hide_unit
             : tdo_min(vm->page_size / sizeof(void *),
                       tdo_pow2_at_most(least));
}

mps_res_t tdo_shield_init(tdo_shield_t *sh, tdo_vm_t *vm, void *base,
                          size_t size, const tdo_shield_settings_t *settings,
                          const tdo_shield_hooks_t *hooks) {
  size_t pages = size / vm->page_size;
  mps_res_t res;
  TDO_CHECK(size > 0 && size % vm->page_size == 0);
  TDO_CHECK((tdo_word_t)base % vm->page_size == 0);
  *sh = (tdo_shield_t){.vm = vm,
                       .base = base,
                       .pages = pages,
                       .page_shift = tdo_log2(vm->page_size),
                       .settings = *settings,
                       .hooks = *hooks,
                       .differ_low = pages,
                       .used_low = pages,
                       .forced_low = pages,
                       .hide_refused = vm->room(vm) < SIZE_MAX,
                       .reach = TDO_SHIELD_REACH_MOST};
  sh->settings.queue_length = tdo_max(settings->queue_length, 1);
  sh->settings.hide_unit = shield_hide_unit(settings, vm);
  sh->tables_size = shield_lay_out(sh, NULL);
  res = vm->reserve_table(&sh->tables, vm, sh->tables_size);
  if (res != MPS_RES_OK)
    return res;
  (void)shield_lay_out(sh, sh->tables);
  sh->budget_mappings = tdo_shield_budget(vm, settings->budget);
  sh->economize_at = sh->budget_mappings;
  sh->stats.mappings = sh->stats.mappings_most = 1;
  sh->sig = TDO_SHIELD_SIG;
  return MPS_RES_OK;
}

void tdo_shield_finish(tdo_shield_t *sh) {
  TDO_CHECK(sh->sig == TDO_SHIELD_SIG);
  sh->sig = TDO_SIG_DEAD;
  tdo_shield_owe(sh, (size_t)0 - sh->owed);
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
                actual != TDO_ACCESS_WRITE)
    return false;
  if ((state & TDO_PAGE_ADOPTED) == 0)
    return (state & ~TDO_PAGE_COMMITTED) == 0 && sh->depth[page] == 0 &&
           !differs;
  if (differs != (tdo_shield_wanted(sh, page) != (actual & 3u)))
    return false; /* .differ */
  return (state & TDO_PAGE_COMMITTED) != 0 &&
         state / TDO_PAGE_HITS <= TDO_PAGE_HITS_MOST &&
         (!differs || (page >= sh->differ_low && page < sh->differ_high)) &&
         (sh->depth[page] == 0 || actual == TDO_ACCESS_WRITE); /* .opened */
}

/* .owed, from scratch */
static bool shield_check_owed(const tdo_shield_t *sh) {
  return sh->forced ||
         sh->owed - sh->owed_ahead ==
             tdo_shield_owed(sh, sh->used_low, sh->used_high);
}

bool tdo_shield_check(const tdo_shield_t *sh) {
  if (sh->sig != TDO_SHIELD_SIG || sh->vm == NULL || sh->pages == 0 ||
      sh->settings.queue_length == 0 || sh->used_high > sh->pages ||
      sh->differ_high > sh->pages || sh->queued > sh->settings.queue_length)
    return false;
  for (size_t page = sh->used_low; page < sh->used_high; ++page) {
    if (!shield_check_page(sh, page))
      return false;
  }
  return tdo_shield_hide_check(sh) && shield_check_owed(sh) &&
         sh->stats.mappings == tdo_shield_count_mappings(sh); /* .count */
}

void tdo_shield_stop(tdo_shield_t *sh) {
  if (!sh->stopped) {
    if (sh->hooks.stop != NULL)
      sh->hooks.stop(sh->hooks.closure);
    sh->stopped = true; /* not before: a signal handler may ask, too */
  }
}

void tdo_shield_queue(tdo_shield_t *sh) {
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
  tdo_shield_check_range(sh, first, limit);
  tdo_shield_request(sh, TDO_REQUEST_COMMITTED, 0, first, limit);
  TDO_CRITICAL(tdo_shield_all(sh, first, limit, TDO_PAGE_ADOPTED, 0));
  if (first < limit) {
    memset(sh->state + first, TDO_PAGE_COMMITTED, limit - first);
    tdo_shield_owe(sh, tdo_shield_owed(sh, first, limit));
    (void)tdo_shield_note_access(sh, first, limit, TDO_ACCESS_WRITE);
  }
}

void tdo_shield_decommitting(tdo_shield_t *sh, size_t first, size_t limit) {
  tdo_shield_check_range(sh, first, limit);
  if (sh->hidden > 0 && !tdo_shield_show(sh, first, limit, TDO_ACCESS_NONE))
    tdo_shield_give_up(sh, first, limit);
}

void tdo_shield_decommitted(tdo_shield_t *sh, size_t first, size_t limit) {
  tdo_shield_check_range(sh, first, limit);
  tdo_shield_request(sh, TDO_REQUEST_DECOMMITTED, 0, first, limit);
  TDO_CRITICAL(tdo_shield_all(sh, first, limit, TDO_PAGE_ADOPTED, 0));
  if (first < limit) {
    tdo_shield_owe(sh, (size_t)0 - tdo_shield_owed(sh, first, limit));
    memset(sh->state + first, 0, limit - first);
    (void)tdo_shield_note_access(sh, first, limit, TDO_ACCESS_NONE);
    tdo_shield_track_renew(sh, first, limit);
  }
}

void tdo_shield_huge(tdo_shield_t *sh, size_t first, size_t limit,
                     bool huge) {
  size_t size = sh->settings.huge_pages;
  tdo_shield_check_range(sh, first, limit);
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
         sh->actual[first - 1] != TDO_ACCESS_WRITE)
    --first;
  while (limit < high && sh->state[limit] == TDO_PAGE_COMMITTED &&
         sh->actual[limit] != TDO_ACCESS_WRITE)
    ++limit;
  *first_io = first;
  *limit_io = limit;
}

void tdo_shield_adopt(tdo_shield_t *sh, size_t first, size_t limit) {
  size_t start, end;
  tdo_shield_check_range(sh, first, limit);
  tdo_shield_request(sh, TDO_REQUEST_ADOPT, 0, first, limit);
  TDO_CRITICAL(tdo_shield_all(sh, first, limit, 0xFF, TDO_PAGE_COMMITTED));
  if (first == limit)
    return;
  memset(sh->state + first, TDO_PAGE_COMMITTED | TDO_PAGE_ADOPTED,
         limit - first);
  memset(sh->depth + first, 0, limit - first);
  memset(sh->calm + first, 0, limit - first);
  TDO_LANES_FOR(group, first, limit) {
    (void)tdo_shield_update(sh, group);
  }
  start = tdo_bits_next_set(sh->differ, first, limit);
  if (start == limit)
    return;
  if (sh->settings.mode == TDO_SHIELD_NAIVE) {
    tdo_shield_settle_all(sh);
    return;
  }
  end = tdo_bits_last_set(sh->differ, start, limit);
  if (tdo_shield_defers(sh))
    shield_ahead(sh, &start, &end);
  if (sh->track != NULL)
    tdo_shield_track_adopt(sh, start, end);
  tdo_shield_set_access(sh, start, end, TDO_ACCESS_WRITE);
}

void tdo_shield_retire(tdo_shield_t *sh, size_t first, size_t limit) {
  tdo_shield_check_range(sh, first, limit);
  tdo_shield_request(sh, TDO_REQUEST_RETIRE, 0, first, limit);
  if (first < limit) {
    memset(sh->state + first, TDO_PAGE_COMMITTED, limit - first);
    memset(sh->depth + first, 0, limit - first);
    tdo_bits_clear_range(sh->differ, first, limit);
  }
}

void tdo_shield_change(tdo_shield_t *sh, size_t first, size_t limit,
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
  if (fresh)
    tdo_shield_queue(sh);
}

void tdo_shield_raise(tdo_shield_t *sh, size_t first, size_t limit,
                      tdo_bar_t bars) {
  tdo_shield_check_range(sh, first, limit);
  tdo_shield_request(sh, TDO_REQUEST_RAISE, bars, first, limit);
  TDO_CRITICAL((bars & ~TDO_PAGE_BARS) == 0);
  if (first < limit) {
    ++sh->stats.raises;
    if (sh->settings.mode != TDO_SHIELD_OFF)
      tdo_shield_change(sh, first, limit, bars, 0);
  }
}

void tdo_shield_lower(tdo_shield_t *sh, size_t first, size_t limit,
                      tdo_bar_t bars) {
  tdo_shield_check_range(sh, first, limit);
  tdo_shield_request(sh, TDO_REQUEST_LOWER, bars, first, limit);
  TDO_CRITICAL((bars & ~TDO_PAGE_BARS) == 0);
  if (first < limit) {
    ++sh->stats.lowers;
    tdo_shield_change(sh, first, limit, 0, bars);
  }
}

void tdo_shield_release(tdo_shield_t *sh, size_t first, size_t limit,
                        bool now) {
  tdo_shield_check_range(sh, first, limit);
  tdo_shield_request(sh, TDO_REQUEST_RELEASE, now, first, limit);
  if (first < limit && tdo_shield_defers(sh) &&
      (now || limit - first + sh->released <= sh->reach)) {
    sh->released += now ? 0 : limit - first;
    ++sh->stats.lowers;
    tdo_shield_change(sh, first, limit, 0, TDO_BAR_WRITE);
  }
}

tdo_bar_t tdo_shield_bars(const tdo_shield_t *sh, size_t page) {
  TDO_CRITICAL(page < sh->pages);
  return sh->state[page] & TDO_PAGE_BARS;
}

bool tdo_shield_adopted(const tdo_shield_t *sh, size_t page) {
  TDO_CRITICAL(page < sh->pages);
  return (sh->state[page] & TDO_PAGE_ADOPTED) != 0;
}

/* A flush that is not early: count it by what the session is for. */
static void shield_settle(tdo_shield_t *sh) {
  if (TDO_UNLIKELY(sh->forced))
    tdo_shield_catch_up(sh);
  if (sh->differ_low < sh->differ_high) {
    ++*(sh->hit       ? &sh->stats.flushes_quantum
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
    if (sh->hooks.go != NULL)
      sh->hooks.go(sh->hooks.closure);
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
