/* Testudo: the shield: closing many pages at once. A protection call takes 60
   to 140 ns for each page, which for a large heap is longer than a pause may
   be. To move the memory of a whole *unit* elsewhere, the kernel only moves an
   entry that stands for all its pages: what is left behind has none, and is
   closed for nothing. A unit comes back when something in it is to be opened.

   .hidden   where `hidden_as` of a unit is not 0, its memory lies as far from
             `away` as it belongs from `base`, with that access; its pages are
             committed, and .actual NONE. `hidden` counts such units.
   .stopped  all threads are stopped while memory is moved away, since until
             it is closed the unit reads as zero, and while a unit comes back
             with more access than some of it may have.
   .quiet    this thread's signals are blocked from before a move until it is
             noted: a handler's touch would see those zeros, or open pages that
             have no memory, or bring back what is back.

   SPDX-License-Identifier: BSD-2-Clause */
#include "code/stop.h"
#include "shield/internal.h"

#define HIDE_COST 8 /* a unit is moved away, and back, in the time that it takes
                       to close an eighth of its pages */
#define HIDE_PASS ((size_t)128) /* pages that a call looks at in vain in the
                                   time that another takes */

/* Pages before the window in the unit where it begins: units are aligned in
   memory, not in the window. */
static size_t hide_lead(const tdo_shield_t *sh) {
  return ((uintptr_t)sh->base >> sh->page_shift) % sh->settings.hide_unit;
}

static size_t hide_index(const tdo_shield_t *sh, size_t page) {
  return (page + hide_lead(sh)) / sh->settings.hide_unit;
}

/* The first unit that begins at or after PAGE. */
static size_t hide_align(const tdo_shield_t *sh, size_t page) {
  size_t lead = hide_lead(sh);
  return tdo_round_up(page + lead, sh->settings.hide_unit) - lead;
}

/* The first page of the unit that has PAGE, or of the next where the window
   begins within one. */
static size_t hide_unit_of(const tdo_shield_t *sh, size_t page) {
  size_t start = hide_align(sh, page);
  return start > page && start >= sh->settings.hide_unit
             ? start - sh->settings.hide_unit
             : start;
}

static char *hide_base(const tdo_shield_t *sh, size_t page) {
  return sh->base + (page << sh->page_shift);
}

static char *hide_away(const tdo_shield_t *sh, size_t page) {
  return sh->away + (page << sh->page_shift);
}

/* Is there room to move things to? Not where memory is limited: it would be
   needed twice to bring them back. */
static bool hide_ready(tdo_shield_t *sh) {
  size_t unit = sh->settings.hide_unit << sh->page_shift;
  size_t size = (sh->pages << sh->page_shift) + unit;
  void *p;
  if (sh->vm->room(sh->vm) < SIZE_MAX) {
    sh->hide_refused = true;
    return false;
  }
  if (sh->away == NULL) {
    if (sh->vm->reserve_away(&p, sh->vm, size) != MPS_RES_OK) {
      sh->hide_refused = true;
      return false;
    }
    sh->away_block = p;
    sh->away_size = size;
    sh->away = (char *)p + ((uintptr_t)sh->base - (uintptr_t)p) % unit;
  }
  return true;
}

static void hide_release(tdo_shield_t *sh, char *base, char *limit) {
  if (base < limit)
    sh->vm->release(sh->vm, base, (size_t)(limit - base));
}

void tdo_shield_hide_finish(tdo_shield_t *sh) {
  char *block = sh->away_block, *end = block + sh->away_size;
  if (block != NULL && sh->away_taken == NULL) {
    hide_release(sh, block, end);
  } else if (block != NULL) {
    hide_release(sh, block, sh->away_taken);
    hide_release(sh, sh->away_taken + sh->away_taken_size, end);
  }
}

bool tdo_shield_hide_check(const tdo_shield_t *sh) {
  size_t unit = sh->settings.hide_unit, hidden = 0;
  for (size_t page = hide_unit_of(sh, sh->used_low);
       sh->hidden > 0 && page + unit <= sh->used_high; page += unit) {
    if (sh->hidden_as[hide_index(sh, page)] != 0) {
      ++hidden;
      for (size_t i = page; i < page + unit; ++i) {
        if ((sh->state[i] & TDO_PAGE_COMMITTED) == 0 ||
            sh->actual[i] != TDO_ACCESS_NONE)
          return false; /* .hidden */
      }
    }
  }
  return hidden == sh->hidden;
}

bool tdo_shield_hides(const tdo_shield_t *sh) {
  return sh->settings.mode == TDO_SHIELD_DEFERRED && sh->huge == NULL &&
         sh->settings.hide_least < SIZE_MAX && !sh->hide_refused;
}

/* The access that most pages of the unit at PAGE have, with which it had better
   be moved; NONE if it had not. All of it must be free or to be closed, and to
   give the rest that access first must not cost as much as closing. */
static tdo_access_t hide_access(const tdo_shield_t *sh, size_t page) {
  size_t unit = sh->settings.hide_unit, end = page + unit;
  size_t closing = 0, read = 0, write = 0, most;
  if (tdo_bits_next_set(sh->differ, page, end) == end)
    return TDO_ACCESS_NONE;
  TDO_LANES_FOR(group, page, end) {
    tdo_lanes_t mask = tdo_lanes_mask(group, page, end) & tdo_lanes_all(1);
    tdo_lanes_t state = tdo_lanes_load(sh->state, group);
    tdo_lanes_t actual = tdo_lanes_load(sh->actual, group);
    tdo_lanes_t wanted = tdo_shield_wanted_lanes(sh, group);
    tdo_lanes_t adopted = state >> 2, committed = state >> 4;
    if (((~committed | (adopted & wanted)) & mask) != 0)
      return TDO_ACCESS_NONE;
    closing += tdo_lanes_count(adopted & actual & mask);
    read += tdo_lanes_count(actual & ~(actual >> 1) & mask);
    write += tdo_lanes_count(actual >> 1 & mask);
  }
  most = tdo_max(read, write);
  if (closing <= unit - most + unit / HIDE_COST)
    return TDO_ACCESS_NONE;
  return most == write ? TDO_ACCESS_WRITE : TDO_ACCESS_READ;
}

/* The first page at or after PAGE that has ACCESS, or has not (SAME), at most
   LIMIT. */
static size_t hide_find(const tdo_shield_t *sh, size_t page, size_t limit,
                        tdo_access_t access, bool same) {
  if (page >= limit)
    return limit;
  TDO_LANES_FOR(group, page, limit) {
    tdo_lanes_t mask = tdo_lanes_mask(group, page, limit) & tdo_lanes_all(1);
    tdo_lanes_t other = tdo_lanes_nonzero(tdo_lanes_load(sh->actual, group) ^
                                          tdo_lanes_all(access));
    tdo_lanes_t found = (same ? ~other : other) & mask;
    if (found != 0)
      return group * TDO_LANES + tdo_lanes_first(found);
  }
  return limit;
}

/* Give all of [FIRST, LIMIT) one ACCESS: only so can it be moved. To look at
   pages that have it costs the kernel time, too. */
static bool hide_unify(tdo_shield_t *sh, size_t first, size_t limit,
                       tdo_access_t access) {
  size_t page = hide_find(sh, first, limit, access, false);
  while (page < limit) {
    size_t end = hide_find(sh, page, limit, access, true);
    size_t next = hide_find(sh, end, limit, access, false);
    while (next < limit && next - end <= HIDE_PASS) {
      end = hide_find(sh, next, limit, access, true);
      next = hide_find(sh, end, limit, access, false);
    }
    if (!tdo_shield_protect(sh, page, end, access)) {
      /* It may have opened some (access.c); all is to be closed, or free. */
      tdo_shield_set_access(sh, page, end, TDO_ACCESS_NONE);
      return false;
    }
    tdo_shield_changed(sh, tdo_shield_note_access(sh, page, end, access));
    TDO_LANES_FOR(group, page, end) {
      (void)tdo_shield_update(sh, group);
    }
    page = next;
  }
  return true;
}

static void hide_move(tdo_shield_t *sh, size_t first, size_t limit,
                      tdo_access_t access);

/* The system has several mappings in [FIRST, LIMIT): see which half is of one;
   a unit that is not stays. */
static void hide_halves(tdo_shield_t *sh, size_t first, size_t limit,
                        tdo_access_t access) {
  size_t unit = sh->settings.hide_unit;
  size_t middle = first + (limit - first) / unit / 2 * unit;
  if (middle > first) {
    hide_move(sh, first, middle, access);
    if (!sh->hide_refused)
      hide_move(sh, middle, limit, access);
  }
}

/* Close [FIRST, LIMIT), units with ACCESS, and note it, unless the system
   refuses. */
static void hide_move(tdo_shield_t *sh, size_t first, size_t limit,
                      tdo_access_t access) {
  size_t n = limit - first;
  mps_res_t res;
  tdo_shield_count_call(sh, n);
  res = sh->vm->hide(sh->vm, hide_base(sh, first), n << sh->page_shift,
                     hide_away(sh, first));
  if (res == MPS_RES_LIMIT) {
    ++sh->stats.calls_refused;
    hide_halves(sh, first, limit, access);
    return;
  }
  if (res == MPS_RES_MEMORY || res == MPS_RES_RESOURCE) {
    ++sh->stats.calls_refused;
    sh->hide_refused = true;
    if (res == MPS_RES_RESOURCE) {
      sh->away_taken = hide_away(sh, first);
      sh->away_taken_size = n << sh->page_shift;
    }
    return;
  }
  for (size_t i = hide_index(sh, first); i < hide_index(sh, limit); ++i) {
    sh->hidden_as[i] = (uint8_t)access;
    ++sh->hidden;
  }
  tdo_shield_changed(sh,
                     tdo_shield_note_access(sh, first, limit, TDO_ACCESS_NONE));
  sh->stats.pages_hidden += n;
  tdo_bits_clear_range(sh->differ, first, limit);
  if (res != MPS_RES_OK) { /* away, but what reads as zero is not closed */
    sh->hide_refused = true;
    tdo_shield_give_up(sh, first, limit);
  }
}

void tdo_shield_hide(tdo_shield_t *sh, size_t low, size_t high) {
  size_t unit = sh->settings.hide_unit, page = hide_unit_of(sh, low);
  if (!sh->stopped || !tdo_shield_hides(sh) ||
      tdo_bits_count(sh->differ, low, high) << sh->page_shift <
          sh->settings.hide_least)
    return;
  while (page < high && page + unit <= sh->pages && !sh->hide_refused) {
    tdo_access_t access = hide_access(sh, page);
    size_t end = page + unit;
    if (access != TDO_ACCESS_NONE) {
      while (end < high && end + unit <= sh->pages &&
             hide_access(sh, end) == access)
        end += unit;
      if (sh->stats.mappings + 2 * (sh->hidden + (end - page) / unit) >=
          sh->budget_mappings)
        return;
      if (hide_ready(sh)) {
        bool quiet = tdo_stop_quiet(); /* .quiet */
        if (hide_unify(sh, page, end, access))
          hide_move(sh, page, end, access);
        if (quiet)
          tdo_stop_loud();
      }
    }
    page = end;
  }
}

static void hide_shown(tdo_shield_t *sh, size_t page) {
  sh->hidden_as[hide_index(sh, page)] = 0;
  --sh->hidden;
}

/* [FIRST, LIMIT), of a unit that has just come back with ACCESS, is to be
   closed as before: when the session ends, since the collector may want to look
   at it, unless that is what happens. */
static void hide_close(tdo_shield_t *sh, size_t first, size_t limit,
                       tdo_access_t access) {
  if (first == limit ||
      (sh->settling &&
       tdo_shield_protect(sh, first, limit, TDO_ACCESS_NONE)))
    return;
  (void)tdo_shield_note_access(sh, first, limit, access);
  TDO_LANES_FOR(group, first, limit) {
    (void)tdo_shield_update(sh, group);
  }
  if (sh->settling) { /* refused */
    tdo_shield_give_up(sh, first, limit);
  }
}

/* Bring back the unit at PAGE, of which [LOW, HIGH) is about to be given some
   access, unless a handler was faster. */
static bool hide_fetch(tdo_shield_t *sh, size_t page, size_t low, size_t high) {
  size_t unit = sh->settings.hide_unit, end = page + unit;
  tdo_access_t access = (tdo_access_t)sh->hidden_as[hide_index(sh, page)];
  if (access == TDO_ACCESS_NONE)
    return true;
  if (sh->vm->show(sh->vm, hide_base(sh, page), unit << sh->page_shift,
                   hide_away(sh, page), access) != MPS_RES_OK)
    return false;
  hide_shown(sh, page);
  hide_close(sh, page, low, access);
  hide_close(sh, high, end, access);
  return true;
}

/* Bring back the unit at PAGE, of which [FIRST, LIMIT) may have WANTED. If that
   is less than it had, nobody may look before the rest is done; and who stops
   the threads for that becomes quiet for longer. */
static bool hide_show(tdo_shield_t *sh, size_t page, size_t first, size_t limit,
                      tdo_access_t wanted) {
  size_t end = page + sh->settings.hide_unit;
  size_t low = wanted == TDO_ACCESS_NONE ? end : tdo_max(page, first);
  size_t high = wanted == TDO_ACCESS_NONE ? end : tdo_min(end, limit);
  bool quiet, shown;
  if (low > page || high < end ||
      (sh->hidden_as[hide_index(sh, page)] & ~(unsigned)wanted) != 0)
    tdo_shield_stop(sh);
  quiet = tdo_stop_quiet(); /* .quiet */
  shown = hide_fetch(sh, page, low, high);
  if (quiet)
    tdo_stop_loud();
  return shown;
}

bool tdo_shield_show(tdo_shield_t *sh, size_t first, size_t limit,
                     tdo_access_t wanted) {
  for (size_t page = hide_unit_of(sh, first); page < limit && sh->hidden > 0;
       page += sh->settings.hide_unit) {
    if (sh->hidden_as[hide_index(sh, page)] != 0 &&
        !hide_show(sh, page, first, limit, wanted))
      return false;
  }
  return true;
}

size_t tdo_shield_hidden_in(const tdo_shield_t *sh, size_t first, size_t limit,
                            size_t *end_o) {
  size_t unit = sh->settings.hide_unit, page = hide_unit_of(sh, first), end;
  while (sh->hidden > 0 && page < limit &&
         sh->hidden_as[hide_index(sh, page)] == 0)
    page += unit;
  page = sh->hidden > 0 ? tdo_min(tdo_max(page, first), limit) : limit;
  for (end = page; end < limit && sh->hidden_as[hide_index(sh, end)] != 0;)
    end = tdo_min(hide_unit_of(sh, end) + unit, limit);
  *end_o = end;
  return page;
}

void tdo_shield_show_copies(tdo_shield_t *sh) {
  size_t unit = sh->settings.hide_unit;
  for (size_t page = hide_unit_of(sh, sh->used_low); sh->hidden > 0;
       page += unit) {
    if (sh->hidden_as[hide_index(sh, page)] != 0) {
      sh->vm->copy(sh->vm, hide_base(sh, page), unit << sh->page_shift,
                   hide_away(sh, page));
      hide_shown(sh, page);
    }
  }
}
