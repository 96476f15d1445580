/* Testudo: what the shield's own files share. SPDX-License-Identifier:
   BSD-2-Clause */
#ifndef TDO_SHIELD_INTERNAL_H
#define TDO_SHIELD_INTERNAL_H

#include "code/check.h"
#include "code/lanes.h"
#include "shield/shield.h"

/* A page's byte in `state`. Bars keep their values as bits 0 and 1. */
#define TDO_PAGE_BARS      3u
#define TDO_PAGE_ADOPTED   4u
#define TDO_PAGE_SPREAD    8u  /* it counts as hit because neighbours were */
#define TDO_PAGE_COMMITTED 16u /* has memory: a run may bridge it */
#define TDO_PAGE_HITS                                                         \
  32u /* times how often its write bar was hit since adoption, at most         \
         TDO_PAGE_HITS_MOST: deferral doubles */
#define TDO_PAGE_HITS_MOST 6u

/* What a page's byte in `actual` may be besides a tdo_access_t: armed, with
   full access. Bits 0 and 1 are those of TDO_ACCESS_READ, because the page
   wants no more than that. */
#define TDO_ACCESS_ARMED 5u

/* Pages opened ahead of the collector: at first, and at most; and open ones
   between that are passed over. */
#define TDO_SHIELD_AHEAD_LEAST ((size_t)8)
#define TDO_SHIELD_AHEAD       ((size_t)1024)
#define TDO_SHIELD_SLACK       ((size_t)64)

/* What `reach` is at most, and at least: to open 32768 pages takes three
   milliseconds or more. */
#define TDO_SHIELD_REACH_MOST  ((size_t)32768)
#define TDO_SHIELD_REACH_LEAST ((size_t)32)

/* Pages of a region. */
#define TDO_SHIELD_REGION ((size_t)1024)

#define TDO_SHIELD_SIG ((tdo_sig_t)0x5141E1D0)

/* Free pages that one call may bridge, at most: a page costs a fiftieth of a
   call, or nothing if it was never used, like the end of a zone that a nursery
   left; and where they keep another access they are mappings of their own. */
#define TDO_SHIELD_BRIDGE ((size_t)128)
/* Pages that already are as the run wants them are passed over for nothing
   in the kernel; looking at so many of them costs as much as a call. */
#define TDO_SHIELD_PASS ((size_t)4096)

/* The access that the system gives, for a byte or eight of `actual`. */
static inline tdo_lanes_t tdo_shield_given(tdo_lanes_t actual) {
  return (actual | (actual >> 1 & tdo_lanes_all(2))) & tdo_lanes_all(3);
}

/* True in the modes that bridge, open ahead and defer. */
static inline bool tdo_shield_defers(const tdo_shield_t *sh) {
  return sh->settings.mode == TDO_SHIELD_DEFERRED ||
         sh->settings.mode == TDO_SHIELD_DIRTY;
}

/* .wanted, of an adopted page */
static inline tdo_access_t tdo_shield_wanted(const tdo_shield_t *sh,
                                             size_t page) {
  static const uint8_t by_bars[4] = {TDO_ACCESS_WRITE, TDO_ACCESS_READ,
                                     TDO_ACCESS_NONE, TDO_ACCESS_NONE};
  return sh->depth[page] != 0
             ? TDO_ACCESS_WRITE
             : (tdo_access_t)by_bars[sh->state[page] & TDO_PAGE_BARS];
}

/* .wanted, of eight pages; means nothing in the lanes of free pages. */
static inline tdo_lanes_t tdo_shield_wanted_lanes(const tdo_shield_t *sh,
                                                  size_t group) {
  tdo_lanes_t bars = tdo_lanes_load(sh->state, group);
  tdo_lanes_t open = tdo_lanes_nonzero(tdo_lanes_load(sh->depth, group));
  tdo_lanes_t no_read = bars >> 1;
  tdo_lanes_t read = (open | ~no_read) & tdo_lanes_all(1);
  tdo_lanes_t write = (open | ~(bars | no_read)) & tdo_lanes_all(1);
  return read | write << 1;
}

/* .differ, of eight pages: 1 in the lanes that differ. */
static inline tdo_lanes_t tdo_shield_differ_lanes(const tdo_shield_t *sh,
                                                  size_t group) {
  tdo_lanes_t wrong =
      tdo_shield_wanted_lanes(sh, group) ^ tdo_lanes_load(sh->actual, group);
  tdo_lanes_t adopted = tdo_lanes_load(sh->state, group) >> 2;
  return (wrong | wrong >> 1) & adopted & tdo_lanes_all(1);
}

/* Make the differ bits of GROUP right; true if one of them was set. */
static inline bool tdo_shield_update(tdo_shield_t *sh, size_t group) {
  size_t base = group * TDO_LANES;
  unsigned shift = (unsigned)(base % TDO_WORD_BITS);
  tdo_bits_t *word = &sh->differ[base / TDO_WORD_BITS];
  unsigned old = (unsigned)(*word >> shift) & 0xFFu;
  unsigned bits = tdo_lanes_gather(tdo_shield_differ_lanes(sh, group));
  *word ^= (tdo_bits_t)(bits ^ old) << shift;
  if ((bits & ~old) == 0)
    return false;
  sh->differ_low = tdo_min(sh->differ_low, base);
  sh->differ_high =
      tdo_max(sh->differ_high, tdo_min(base + TDO_LANES, sh->pages));
  return true;
}

/* The pages of [FIRST, LIMIT) had BARS, and do not have them any more, though
   nobody asked for that: tell. */
static inline void tdo_shield_lost(const tdo_shield_t *sh, size_t first,
                                   size_t limit, tdo_bar_t bars) {
  if (sh->hooks.lost != NULL)
    sh->hooks.lost(sh->hooks.closure, first, limit, bars);
}

/* Is the memory of PAGE a huge page? */
static inline bool tdo_shield_is_huge(const tdo_shield_t *sh, size_t page) {
  return TDO_UNLIKELY(sh->huge != NULL) &&
         tdo_bits_get(sh->huge, page / sh->settings.huge_pages);
}

/* May a call pass over the free pages [FIRST, LIMIT)? */
static inline bool tdo_shield_bridges(const tdo_shield_t *sh, size_t first,
                                      size_t limit) {
  return tdo_shield_defers(sh) &&
         (limit - first <= TDO_SHIELD_BRIDGE ||
          (tdo_shield_is_huge(sh, first) &&
           first / sh->settings.huge_pages ==
               (limit - 1) / sh->settings.huge_pages));
}

/* Do the bits MASK of `state` have the value BITS in all of [FIRST, LIMIT)?
   For checks of requests; not for working paths. */
static inline bool tdo_shield_all(const tdo_shield_t *sh, size_t first,
                                  size_t limit, unsigned mask, unsigned bits) {
  for (size_t page = first; page < limit; ++page) {
    if ((sh->state[page] & mask) != bits)
      return false;
  }
  return true;
}

/* Is [FIRST, LIMIT) what a request may be about? */
static inline void tdo_shield_check_range(const tdo_shield_t *sh, size_t first,
                                          size_t limit) {
  TDO_CRITICAL(sh->sig == TDO_SHIELD_SIG);
  TDO_CRITICAL(first <= limit && limit <= sh->pages);
  (void)sh, (void)first, (void)limit;
}

/* Every request begins with this: write it down if it is to be recorded. */
static inline void tdo_shield_request(tdo_shield_t *sh, tdo_request_t request,
                                      unsigned argument, size_t first,
                                      size_t limit) {
  sh->active = true;
  if (TDO_UNLIKELY(sh->record != NULL))
    tdo_shield_record_note(sh->record, request, argument, first, limit);
}

/* shield.c */

/* Call `stop` if that was not done in this session. */
void tdo_shield_stop(tdo_shield_t *sh);
/* Set the bars SET of [FIRST, LIMIT), clear the bars CLEAR; queue if that makes
   work. */
void tdo_shield_change(tdo_shield_t *sh, size_t first, size_t limit,
                       tdo_bar_t set, tdo_bar_t clear);
/* Some pages of a request, more than before, are not as wanted. */
void tdo_shield_queue(tdo_shield_t *sh);

/* flush.c */

/* Act on the differing pages of [FIRST, LIMIT); runs may reach beyond. The
   run that reaches LIMIT includes [LIMIT, AHEAD): closed pages, to be opened
   with those before them. */
void tdo_shield_settle(tdo_shield_t *sh, size_t first, size_t limit,
                       size_t ahead);
/* Open what differs in [FIRST, LIMIT), all exposed, to the collector, while the
   threads are stopped, and with it [LIMIT, AHEAD), and the closed pages around
   that will cost a call one way or the other. */
void tdo_shield_open(tdo_shield_t *sh, size_t first, size_t limit,
                     size_t ahead);
/* Act on all differing pages. */
void tdo_shield_settle_all(tdo_shield_t *sh);

/* access.c */

/* Note that `actual` of [FIRST, LIMIT) now is ACCESS; keeps .count and .owed
   (except for pages that get memory, or lost it). Returns the number of pages
   that changed. */
size_t tdo_shield_note_access(tdo_shield_t *sh, size_t first, size_t limit,
                              unsigned access);
/* N pages more are owed, or with a "negative" N fewer (.owed). */
void tdo_shield_owe(tdo_shield_t *sh, size_t n);
/* Pages of [FIRST, LIMIT) that are owed, from scratch. */
size_t tdo_shield_owed(const tdo_shield_t *sh, size_t first, size_t limit);
/* [*FIRST_IO, *LIMIT_IO) was opened. If that is the whole window, close again
   what was never in use, so that nobody has to look at it; the rest of it, if
   that is not refused. */
void tdo_shield_close_rest(tdo_shield_t *sh, size_t *first_io,
                           size_t *limit_io);
/* Give [FIRST, LIMIT), whose adopted pages want ACCESS, that access, or more
   if the system refuses. The pages differ no longer. */
void tdo_shield_set_access(tdo_shield_t *sh, size_t first, size_t limit,
                           tdo_access_t access);
/* Open [FIRST, LIMIT), giving up the bars of what is not exposed. */
void tdo_shield_give_up(tdo_shield_t *sh, size_t first, size_t limit);
/* Open PAGE by a call, though its table says that it is open: a call that is
   under way may have closed it. */
void tdo_shield_open_surely(tdo_shield_t *sh, size_t page);
/* Make the tables right for the pages that signal handlers forced. */
void tdo_shield_catch_up(tdo_shield_t *sh);
/* How many pages in [FIRST, LIMIT), FIRST > 0, allow something else than the
   one before. */
size_t tdo_shield_edges(const tdo_shield_t *sh, size_t first, size_t limit);
/* Number of maximal runs of equal actual access, counted afresh. */
size_t tdo_shield_count_mappings(const tdo_shield_t *sh);

/* One call to the platform, counted; false if refused. Notes nothing. */
bool tdo_shield_protect(tdo_shield_t *sh, size_t first, size_t limit,
                        tdo_access_t access);
/* What that call did, if it was not refused: N pages allow more or less. */
static inline void tdo_shield_changed(tdo_shield_t *sh, size_t n) {
  sh->stats.pages_changed += n;
  if (n > 0) {
    size_t bucket = 63 - (size_t)__builtin_clzll(n);
    bucket = tdo_min(bucket, TDO_SHIELD_HISTOGRAM - 1);
    ++sh->stats.changed_per_call[bucket];
  }
}

/* Count a call for N pages. */
void tdo_shield_count_call(tdo_shield_t *sh, size_t n);

/* hide.c */

/* Of what differs in [LOW, HIGH), at the end of a session, move away what is to
   be closed, if it is much and where that costs less. */
void tdo_shield_hide(tdo_shield_t *sh, size_t low, size_t high);
/* Bring back all units that have a page in [FIRST, LIMIT), where a call for
   WANTED follows; the rest of them differs, or all if that is NONE. False if
   the system refuses to bring something back. */
bool tdo_shield_show(tdo_shield_t *sh, size_t first, size_t limit,
                     tdo_access_t wanted);
/* The first page of [FIRST, LIMIT) whose memory is away, or LIMIT; *END_O is
   where that ends. */
size_t tdo_shield_hidden_in(const tdo_shield_t *sh, size_t first, size_t limit,
                            size_t *end_o);
/* Bring back everything by copying it: all of the window is open. */
void tdo_shield_show_copies(tdo_shield_t *sh);
void tdo_shield_hide_finish(tdo_shield_t *sh);
bool tdo_shield_hide_check(const tdo_shield_t *sh);

/* dirty.c */

/* As a protection call and its note, by tracker where that serves. */
bool tdo_shield_track_access(tdo_shield_t *sh, size_t first, size_t limit,
                             tdo_access_t access);
/* Free pages are about to be used: no write to them is to be noted. */
void tdo_shield_track_adopt(tdo_shield_t *sh, size_t first, size_t limit);
/* [FIRST, LIMIT) was mapped anew. */
void tdo_shield_track_renew(tdo_shield_t *sh, size_t first, size_t limit);
/* Close the tracker, if there is one. */
void tdo_shield_detach(tdo_shield_t *sh);
/* A closing call over [FIRST, LIMIT) may have closed some of it, noted or not:
   as if it had closed all, so that what opens them makes a call. */
void tdo_shield_track_doubt(tdo_shield_t *sh, size_t first, size_t limit);
/* PAGE was hit; if its region is closed, open it. */
void tdo_shield_track_hit(tdo_shield_t *sh, size_t page);

/* budget.c */

/* The part FRACTION of the platform's mapping limit. */
size_t tdo_shield_budget(tdo_vm_t *vm, double fraction);
/* If there are more mappings than the budget has, give up the write bars
   that cost most of them. Nothing may differ. */
void tdo_shield_economize(tdo_shield_t *sh);

#endif /* TDO_SHIELD_INTERNAL_H */
