/* Testudo: the shield's protection calls, the mappings that they make, and
   what to do when the system refuses. SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "code/stop.h"
#include "shield/internal.h"

/* A refused call may have changed some of its pages before it failed, so
   after one the access of its whole range is in doubt. Every path below ends
   with a successful call over at least that range. */

/* Lanes of eight bytes of the table from PAGE on, at any alignment. */
static tdo_lanes_t access_load(const uint8_t *table, size_t page) {
  tdo_lanes_t v;
  memcpy(&v, table + page, sizeof v);
  return v;
}

size_t tdo_shield_edges(const tdo_shield_t *sh, size_t first, size_t limit) {
  size_t edges = 0, page = first;
  for (; page + TDO_LANES <= limit; page += TDO_LANES) {
    tdo_lanes_t change = tdo_shield_given(access_load(sh->actual, page)) ^
                         tdo_shield_given(access_load(sh->actual, page - 1));
    if (change != 0)
      edges += tdo_lanes_count(tdo_lanes_nonzero(change));
  }
  for (; page < limit; ++page)
    edges += tdo_shield_given(sh->actual[page]) !=
             tdo_shield_given(sh->actual[page - 1]);
  return edges;
}

/* How many pages in [FIRST, LIMIT) do not have ACCESS. */
static size_t access_others(const tdo_shield_t *sh, size_t first, size_t limit,
                            unsigned access) {
  size_t others = 0, page = first;
  for (; page + TDO_LANES <= limit; page += TDO_LANES) {
    tdo_lanes_t change = access_load(sh->actual, page) ^ tdo_lanes_all(access);
    if (change != 0)
      others += tdo_lanes_count(tdo_lanes_nonzero(change));
  }
  for (; page < limit; ++page)
    others += sh->actual[page] != access;
  return others;
}

/* Of an access that allows writing, bit 1 is set in what is given. What can be
   written and has no memory, since a call was widened, pays for nothing. */
size_t tdo_shield_owed(const tdo_shield_t *sh, size_t first, size_t limit) {
  size_t owed = 0;
  if (first >= limit)
    return 0;
  TDO_LANES_FOR(group, first, limit) {
    tdo_lanes_t given = tdo_shield_given(tdo_lanes_load(sh->actual, group));
    tdo_lanes_t committed = tdo_lanes_load(sh->state, group) /
                            TDO_PAGE_COMMITTED;
    owed += tdo_lanes_count(committed & ~(given >> 1) & tdo_lanes_all(1) &
                            tdo_lanes_mask(group, first, limit));
  }
  return owed;
}

void tdo_shield_owe(tdo_shield_t *sh, size_t n) {
  sh->owed += n;
  if (n != 0)
    (void)atomic_fetch_add_explicit(&sh->vm->owed, n << sh->page_shift,
                                    memory_order_relaxed);
}

size_t tdo_shield_count_mappings(const tdo_shield_t *sh) {
  return 1 + tdo_shield_edges(sh, tdo_max(sh->used_low, 1),
                              tdo_min(sh->used_high + 1, sh->pages));
}

size_t tdo_shield_note_access(tdo_shield_t *sh, size_t first, size_t limit,
                              unsigned access) {
  size_t changed = access_others(sh, first, limit, access);
  size_t low = tdo_max(first, 1), high = tdo_min(limit + 1, sh->pages);
  /* What the closing call took for owed was perhaps more. */
  size_t owed = sh->owed_ahead, edges;
  sh->owed_ahead = 0;
  if (changed == 0) {
    tdo_shield_owe(sh, (size_t)0 - owed);
    return 0;
  }
  owed += tdo_shield_owed(sh, first, limit);
  edges = tdo_shield_edges(sh, low, high);
  memset(sh->actual + first, (int)access, limit - first);
  tdo_shield_owe(sh, tdo_shield_owed(sh, first, limit) - owed);
  sh->used_low = tdo_min(sh->used_low, first);
  sh->used_high = tdo_max(sh->used_high, limit);
  if (first > 0)
    sh->stats.mappings +=
        tdo_shield_given(sh->actual[first - 1]) != tdo_shield_given(access);
  if (limit < sh->pages)
    sh->stats.mappings +=
        tdo_shield_given(sh->actual[limit]) != tdo_shield_given(access);
  sh->stats.mappings -= edges;
  sh->stats.mappings_most =
      tdo_max(sh->stats.mappings_most, sh->stats.mappings);
  return changed;
}

void tdo_shield_count_call(tdo_shield_t *sh, size_t n) {
  unsigned bucket = (unsigned)(63 - __builtin_clzll(n));
  ++sh->stats.calls;
  sh->stats.pages += n;
  ++sh->stats.pages_per_call[tdo_min(bucket, TDO_SHIELD_HISTOGRAM - 1)];
}

/* One call; false if it is refused. */
static bool access_try(tdo_shield_t *sh, size_t first, size_t limit,
                       tdo_access_t access) {
  size_t n = limit - first;
  tdo_shield_count_call(sh, n);
  if (sh->vm->protect(sh->vm, sh->base + (first << sh->page_shift),
                      n << sh->page_shift, access) == MPS_RES_OK)
    return true;
  ++sh->stats.calls_refused;
  return false;
}

static bool access_ask(tdo_shield_t *sh, size_t first, size_t limit,
                       tdo_access_t access) {
  size_t ahead = access == TDO_ACCESS_WRITE ? 0 : limit - first;
  tdo_shield_owe(sh, ahead); /* before anybody else can take it */
  if (!access_try(sh, first, limit, access)) {
    tdo_shield_owe(sh, (size_t)0 - ahead);
    return false;
  }
  sh->owed_ahead += ahead;
  return true;
}

/* What is away cannot come back. Signal handlers, too, would see zeros. */
static bool access_copy(tdo_shield_t *sh) {
  bool quiet = tdo_stop_quiet();
  bool ok = access_ask(sh, 0, sh->pages, TDO_ACCESS_WRITE);
  if (ok)
    tdo_shield_show_copies(sh);
  if (quiet)
    tdo_stop_loud();
  return ok;
}

/* When even memory that was moved away cannot come back the system has no
   mappings left: then the whole window is opened, which makes mappings fewer,
   and it is copied. */
bool tdo_shield_protect(tdo_shield_t *sh, size_t first, size_t limit,
                        tdo_access_t access) {
  TDO_CRITICAL(first < limit && limit <= sh->pages);
  if (sh->hidden > 0 && !tdo_shield_show(sh, first, limit, access))
    return limit - first == sh->pages && access == TDO_ACCESS_WRITE &&
           access_copy(sh);
  return access_ask(sh, first, limit, access);
}

/* What was never in use lies in one mapping: a call about it that is refused
   has changed nothing. */
void tdo_shield_close_rest(tdo_shield_t *sh, size_t *first_io,
                           size_t *limit_io) {
  size_t low = sh->used_low, high = sh->used_high;
  if (*limit_io - *first_io < sh->pages)
    return;
  if (low > 0 && access_try(sh, 0, low, TDO_ACCESS_NONE))
    *first_io = low;
  if (high < sh->pages && access_try(sh, high, sh->pages, TDO_ACCESS_NONE))
    *limit_io = high;
}

/* Set and note the access of a range; false if refused. */
static bool access_call(tdo_shield_t *sh, size_t first, size_t limit,
                        tdo_access_t access) {
  if (sh->track != NULL)
    return tdo_shield_track_access(sh, first, limit, access);
  if (!tdo_shield_protect(sh, first, limit, access))
    return false;
  tdo_shield_close_rest(sh, &first, &limit);
  tdo_shield_changed(sh, tdo_shield_note_access(sh, first, limit, access));
  return true;
}

/* Is a closed-off page in [FIRST, LIMIT)? Opening it uncovers to mutators
   what they must not see before the collector has had its turn. */
static bool access_hides(const tdo_shield_t *sh, size_t first, size_t limit) {
  first = tdo_max(first, sh->used_low);
  limit = tdo_min(limit, sh->used_high);
  for (size_t page = first; page < limit; ++page) {
    if ((sh->state[page] & TDO_BAR_READ) != 0 && sh->depth[page] == 0)
      return true;
  }
  return false;
}

/* Give up the bars of the pages in [FIRST, LIMIT) that are not exposed. */
static void access_drop(tdo_shield_t *sh, size_t first, size_t limit) {
  size_t page = tdo_max(first, sh->used_low);
  limit = tdo_min(limit, sh->used_high);
  while (page < limit) {
    tdo_bar_t bars = sh->state[page] & TDO_PAGE_BARS;
    size_t start = page;
    if (bars == 0 || sh->depth[page] != 0) {
      ++page;
      continue;
    }
    while (page < limit && (sh->state[page] & TDO_PAGE_BARS) == bars &&
           sh->depth[page] == 0) {
      /* As if written: the same bars would only be lost again. */
      sh->state[page] &= (uint8_t)~TDO_PAGE_BARS;
      sh->state[page] |= sh->state[page] < TDO_PAGE_HITS ? TDO_PAGE_HITS : 0;
      sh->calm[page] = 0;
      ++page;
    }
    sh->stats.bars_lost += page - start;
    tdo_shield_lost(sh, start, page, bars);
  }
}

/* Extend [*FIRST_IO, *LIMIT_IO) over RUNS more runs of equal actual access on
   each side; by the rest of its outermost runs if RUNS is 0. */
static void access_extend(const tdo_shield_t *sh, size_t *first_io,
                          size_t *limit_io, size_t runs) {
  size_t first = *first_io, limit = *limit_io;
  for (size_t i = 0; i < (runs == 0 ? 1 : runs); ++i) {
    size_t in = runs == 0 ? first : first - 1;
    size_t out = runs == 0 ? limit - 1 : limit;
    while (first > sh->used_low && tdo_shield_given(sh->actual[first - 1]) ==
                                       tdo_shield_given(sh->actual[in]))
      --first;
    while (limit < sh->used_high && tdo_shield_given(sh->actual[limit]) ==
                                        tdo_shield_given(sh->actual[out]))
      ++limit;
  }
  *first_io = first;
  *limit_io = limit;
}

/* Open [FIRST, LIMIT), or more, that has been refused: a call over whole runs
   of equal access splits no mapping, and one over several runs merges them.
   At last the whole window; false if even that is refused. */
static bool access_open_wider(tdo_shield_t *sh, size_t first, size_t limit) {
  size_t runs = 0;
  while (first > 0 || limit < sh->pages) {
    if (first <= sh->used_low && limit >= sh->used_high && runs > 0) {
      first = 0;
      limit = sh->pages;
    } else {
      access_extend(sh, &first, &limit, runs);
    }
    runs = runs == 0 ? 1 : 2 * runs;
    if (access_hides(sh, first, limit))
      tdo_shield_stop(sh);
    if (access_call(sh, first, limit, TDO_ACCESS_WRITE)) {
      access_drop(sh, first, limit);
      tdo_bits_clear_range(sh->differ, tdo_max(first, sh->used_low),
                           tdo_min(limit, sh->used_high));
      return true;
    }
  }
  return false;
}

/* Where memory is limited a call may have been refused for want of that, and
   wider ones would be, too: the same again, with spare memory given back. */
static bool access_open_spared(tdo_shield_t *sh, size_t first, size_t limit) {
  return sh->vm->room(sh->vm) < SIZE_MAX && sh->hooks.spare != NULL &&
         sh->hooks.spare(sh->hooks.closure) &&
         access_call(sh, first, limit, TDO_ACCESS_WRITE);
}

/* Open [FIRST, LIMIT), whose adopted pages want that, by all means. */
static void access_open(tdo_shield_t *sh, size_t first, size_t limit) {
  if (access_call(sh, first, limit, TDO_ACCESS_WRITE) ||
      access_open_spared(sh, first, limit)) {
    tdo_bits_clear_range(sh->differ, first, limit);
  } else if (!access_open_wider(sh, first, limit)) {
    /* Nothing is known any more: rely on nothing. What seems closed differs,
       and the next flush tries again. */
    access_drop(sh, 0, sh->pages);
    TDO_LANES_FOR(group, sh->used_low, sh->used_high) {
      (void)tdo_shield_update(sh, group);
    }
    TDO_ASSERT(access_others(sh, first, limit, TDO_ACCESS_WRITE) == 0,
               "the system lets the pages of an arena be opened");
  }
}

void tdo_shield_give_up(tdo_shield_t *sh, size_t first, size_t limit) {
  if (access_hides(sh, first, limit))
    tdo_shield_stop(sh);
  access_drop(sh, first, limit);
  access_open(sh, first, limit);
}

static void access_set(tdo_shield_t *sh, size_t first, size_t limit,
                       tdo_access_t access) {
  if (access == TDO_ACCESS_WRITE)
    access_open(sh, first, limit);
  else if (access_call(sh, first, limit, access))
    tdo_bits_clear_range(sh->differ, first, limit);
  else
    tdo_shield_give_up(sh, first, limit);
}

void tdo_shield_set_access(tdo_shield_t *sh, size_t first, size_t limit,
                           tdo_access_t access) {
  size_t away, end;
  if (access != TDO_ACCESS_NONE) {
    access_set(sh, first, limit, access);
    return;
  }
  while (first < limit) {
    away = tdo_shield_hidden_in(sh, first, limit, &end);
    if (first < away)
      access_set(sh, first, away, TDO_ACCESS_NONE);
    first = end;
  }
}

void tdo_shield_open_surely(tdo_shield_t *sh, size_t page) {
  size_t calls = sh->stats.calls;
  if (sh->track != NULL)
    tdo_shield_track_doubt(sh, page, page + 1);
  tdo_shield_give_up(sh, page, page + 1);
  if (sh->stats.calls == calls)
    (void)tdo_shield_protect(sh, page, page + 1, TDO_ACCESS_WRITE);
}

/* A signal handler comes at any moment, also in the middle of a request or a
   call of its own thread: to keep it away would cost two system calls each
   time. What it does here is complete; but what it interrupted goes on with
   what it knew before. A call closes the page after all, or notes that it did;
   its bars come back with its neighbours', its differ bit goes or comes, its
   mappings are counted twice. All that is put right by the flush, which looks
   at such pages again when it has done the rest (.forced). Bars and actual
   access then tell what is to be done: what closes a page is noted after the
   call, and handlers only open, so that no page is called open that is not. */
bool tdo_shield_force_open(tdo_shield_t *sh, size_t page) {
  size_t refused = sh->stats.calls_refused, hidden = sh->hidden;
  bool wider;
  tdo_shield_request(sh, TDO_REQUEST_FORCE, 0, page, page + 1);
  tdo_shield_open_surely(sh, page);
  wider = sh->stats.calls_refused != refused || sh->hidden != hidden;
  sh->forced_low = tdo_min(sh->forced_low, wider ? sh->used_low : page);
  sh->forced_high = tdo_max(sh->forced_high, wider ? sh->used_high : page + 1);
  sh->forced = true;
  return sh->actual[page] == TDO_ACCESS_WRITE;
}

/* No handler may force a page between these steps. */
void tdo_shield_catch_up(tdo_shield_t *sh) {
  bool quiet = tdo_stop_quiet();
  TDO_LANES_FOR(group, sh->forced_low, sh->forced_high) {
    (void)tdo_shield_update(sh, group);
  }
  sh->differ_low = tdo_min(sh->differ_low, sh->forced_low);
  sh->differ_high = tdo_max(sh->differ_high, sh->forced_high);
  sh->stats.mappings = tdo_shield_count_mappings(sh);
  tdo_shield_owe(sh, tdo_shield_owed(sh, sh->used_low, sh->used_high) -
                         sh->owed);
  sh->owed_ahead = 0;
  sh->forced_low = sh->pages;
  sh->forced_high = 0;
  sh->forced = false;
  if (quiet)
    tdo_stop_loud();
}
