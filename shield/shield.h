/* Testudo: the coalescing shield. Knows, for each page of one window of
   address space, what the page should allow and what it does allow, and
   brings the two together with few calls. It knows pages and a platform
   contract; nothing of segments, pools or objects.
   SPDX-License-Identifier: BSD-2-Clause

   Words. A page is *adopted* while somebody may touch it (it belongs to a
   segment) and *free* otherwise; a free page has no wanted access, so runs
   extend (bridge) across it. A *bar* forbids the mutator something: to write
   (TDO_BAR_WRITE), or to touch at all (TDO_BAR_READ). The collector *exposes*
   pages to get full access whatever the bars, and *covers* them when done;
   exposures nest. Page numbers count from the window's base; ranges are
   [first, limit).

   Invariants, cited where they are checked:
   .wanted   wanted(p) = WRITE if exposed, else NONE if read-barred, else READ
             if write-barred, else WRITE; a free page wants nothing.
   .actual   actual(p) is what the system last agreed to.
   .differ   bit p of `differ` is set iff p is adopted and
             wanted(p) != actual(p).
   .strict   after tdo_shield_flush, no adopted page allows more than wanted,
             except those reported through the `lost` hook, whose bars are
             gone.
   .opened   after tdo_shield_expose, every page of the range is accessible.
   .count    `mappings` = number of maximal runs of equal actual access.
   .owed     `owed` = committed pages that cannot be written; the platform
             knows (code/vm.h), so that they can be opened again.
   .forced   after tdo_shield_force_open, .differ, .count and .owed may not hold
             before the next flush, for that page.

   Nothing here is fatal: a bar that the system refuses is dropped and
   reported (`lost`); an opening that it refuses because the mapping limit is
   reached is widened until it merges mappings instead of splitting them, and
   bars dropped that way are reported too. A flush after which there are more
   mappings than the budget has gives up write bars where they cost most, and
   reports them. A page that lost its bars counts as hit by a write. Where the
   memory of the process is limited, an opening may be refused because the
   program took what is owed; then `spare` is asked for some.

   Dirty mode, once a tracker is attached: a write bar is an armed page of the
   tracker (code/track.h) and splits no mapping. It stops nobody; writes are
   found out by tdo_shield_harvest. Where pages were not written for long, a
   whole *region* is closed by one protection call, so that a harvest need not
   look at it, and opened by the first write into it.
   .unseen   a page that is armed, or was when it was harvested last, and has
             its write bar, was not written except as the next harvest tells;
             whatever would make that untrue drops the bar and reports it
             (`lost`).

   Threads: all calls are made with the arena's lock held. Since a page opened
   to the collector is open to every thread, the `stop` hook is called before
   the first call that opens a barred page in a session, and `go` at the end
   of the session (tdo_shield_leave), after the flush. Any request may have to
   stop the threads, because a refused call may open a read-barred page; so
   whoever took the lock ends with tdo_shield_leave. Whoever relies on read
   bars calls tdo_shield_flush, and does for the mutator what the lost bars
   would have asked for, before tdo_shield_leave. */
#ifndef TDO_SHIELD_SHIELD_H
#define TDO_SHIELD_SHIELD_H

#include "code/base.h"
#include "code/bits.h"
#include "code/settings.h"
#include "code/track.h"
#include "code/vm.h"
#include "shield/record.h"

typedef enum tdo_shield_mode {
  TDO_SHIELD_NAIVE,    /* every request at once, one call a page */
  TDO_SHIELD_RANGED,   /* queue and coalesce */
  TDO_SHIELD_DEFERRED, /* ranged, and write bars must be earned, bridging */
  TDO_SHIELD_DIRTY,    /* write bars by asynchronous write-protection */
  TDO_SHIELD_OFF,      /* no bars at all */
  TDO_SHIELD_MODES
} tdo_shield_mode_t;

typedef unsigned tdo_bar_t; /* a set of: */
#define TDO_BAR_WRITE ((tdo_bar_t)1)
#define TDO_BAR_READ  ((tdo_bar_t)2)

typedef struct tdo_shield_settings {
  tdo_shield_mode_t mode;
  size_t queue_length;  /* ranges queued before an early flush; >= 1. In the
                           modes that defer, while the threads are stopped,
                           there is none */
  unsigned defer_fresh; /* scans without a write before a page that never
                           had a bar earns one (deferred mode); a number
                           above 255 is never reached */
  unsigned defer_hit;   /* the same for a page whose bar was hit or lost */
  double budget;        /* fraction of the mapping limit we may use */
  size_t huge_pages;    /* pages in a huge page of the system, or 0 */
  size_t hide_unit;     /* pages moved as one, a power of two; 0: those of a
                           table of pages, or what has hide_least bytes */
  size_t hide_least;    /* bytes to close in one go before any are moved away
                           (deferred mode) */
} tdo_shield_settings_t;

/* What FROM says of the shield; the same if nobody says anything. */
void tdo_shield_settings_init(tdo_shield_settings_t *settings,
                              const tdo_settings_t *from);
void tdo_shield_settings_defaults(tdo_shield_settings_t *settings);

/* "naive", "ranged", "deferred", "dirty", "off"; false if not one. */
bool tdo_shield_mode_parse(tdo_shield_mode_t *mode_o, const char *name);
const char *tdo_shield_mode_name(tdo_shield_mode_t mode);

/* Bucket i counts values in [2^i, 2^(i+1)), the last all above. */
#define TDO_SHIELD_HISTOGRAM 24

typedef struct tdo_shield_stats {
  size_t raises, lowers, exposes, covers; /* requests that named pages */
  size_t flushes_full;    /* flushes: early, because the queue was full; */
  size_t flushes_quantum; /* at the end of a session that a barrier hit began,
                             and its quantum with it; */
  size_t flushes_stop;    /* of another in which the threads were stopped; */
  size_t flushes_leave;   /* of any other */
  size_t calls; /* protection calls issued */
  size_t calls_refused;
  size_t pages;         /* pages in those calls */
  size_t pages_changed; /* of them, pages whose access really changed */
  size_t pages_hidden;  /* of them, closed by moving their memory away */
  size_t pages_per_call[TDO_SHIELD_HISTOGRAM];
  size_t changed_per_call[TDO_SHIELD_HISTOGRAM]; /* calls that changed one
                                                    page or more */
  size_t hits_read, hits_write, hits_stale; /* barrier hits; stale: the page
                            was already open (another thread was faster) */
  size_t hits_spread;   /* pages opened along with a page that was hit */
  size_t bars_lost;     /* pages whose bars were refused or given up */
  size_t bars_conceded; /* write bars given up for the collector's access */
  size_t bars_declined; /* write bars not granted: not earned, or budget */
  size_t mappings, mappings_most;
  /* Dirty mode. */
  size_t arms, arms_refused, arm_pages; /* calls to the tracker to arm */
  size_t disarms;                       /* and to disarm */
  size_t harvests, harvest_pages, harvest_written; /* written: pages found */
  size_t unseen_dropped; /* bars dropped to keep .unseen */
  size_t regions_closed, regions_opened;
} tdo_shield_stats_t;

typedef struct tdo_shield_hooks {
  void *closure;
  void (*stop)(void *closure); /* stop the other threads; idempotent */
  void (*go)(void *closure);   /* let them run; null: the caller of leave
                                  does */
  /* These pages no longer have the bars in BARS though nobody lowered them.
     Called during requests; must only take notes. */
  void (*lost)(void *closure, size_t first, size_t limit, tdo_bar_t bars);
  /* Decommit free pages, all if possible; false if there was nothing. */
  bool (*spare)(void *closure);
} tdo_shield_hooks_t;

typedef struct tdo_shield tdo_shield_t;

struct tdo_shield {
  tdo_sig_t sig;
  tdo_vm_t *vm;
  char *base;   /* of the window */
  size_t pages; /* in the window */
  unsigned page_shift;
  tdo_shield_settings_t settings;
  tdo_shield_hooks_t hooks;
  /* One byte a page each; `state` = adopted bit and bars, `depth` = number of
     exposures, `calm` = scans survived without a write (deferral). */
  uint8_t *state, *actual, *depth, *calm;
  tdo_bits_t *differ;
  tdo_bits_t *huge; /* bit for each aligned run of huge_pages: backed by one */
  void *tables;  /* the one reservation behind all of them */
  size_t tables_size;
  size_t differ_low, differ_high; /* differing pages lie in [low, high) */
  size_t used_low, used_high; /* pages ever accessible lie in [low, high) */
  size_t forced_low, forced_high; /* those that were forced since the last */
  volatile bool forced;           /* flush, and were there any? */
  size_t ahead;               /* pages opened ahead of the last exposure that
                                 opened any, and where */
  size_t ahead_low, ahead_high;
  size_t run_first, run_limit; /* pages exposed one after the other */
  size_t run_before;           /* how many in the session before */
  size_t owed;       /* pages (.owed), */
  size_t owed_ahead; /* and more, of a closing call not noted yet */
  size_t reach;  /* see tdo_shield_set_reach */
  size_t queued; /* ranges since the last flush */
  size_t budget_mappings;
  bool settling;              /* a flush is in progress */
  bool batches;               /* tdo_shield_begin_offers was called */
  size_t released;            /* pages, in this collection */
  size_t ready, ready_before; /* pages offered that have earned their bars:
                       since the last begin, and between the two before */
  size_t economize_at; /* number of mappings that make bars be given up; */
  size_t economize_edges, economized; /* where there are so many edges, or 0
                       while none are given up, and how far that has come */
  tdo_shield_record_t *record; /* null: requests are not recorded */
  bool active;  /* something was asked in this session, or is recorded */
  bool stopped;                /* `stop` called in this session */
  bool hit;                    /* a barrier was hit in this session */
  /* Memory moved away (hide.c). */
  char *away;           /* null until the first is */
  void *away_block;     /* the reservation that it is in */
  size_t away_size;
  char *away_taken;     /* a part that may be another's by now, or null */
  size_t away_taken_size;
  uint8_t *hidden_as;   /* a byte each unit: 0, or the access it had */
  size_t hidden;        /* units */
  bool hide_refused;    /* the system does not move memory, or not any more */
  /* Dirty mode. */
  tdo_track_t *track;   /* null: none is attached, and write bars are made by
                           protection */
  const char *fallback; /* why dirty mode is not in force though asked for */
  bool harvested;       /* in this session, since the threads stopped */
  uint8_t *region;      /* a byte each: has armed pages, or is closed */
  uint8_t *region_calm; /* harvests without a write */
  size_t region_size;   /* of both tables */
  tdo_shield_stats_t stats;
};

/* Bytes of table memory for each page of the window (for accounting). */
#define TDO_SHIELD_BYTES_PER_PAGE 4.125

/* Make a shield for SIZE bytes at BASE (page aligned), all pages free and
   without access. Hooks may have null functions. MPS_RES_RESOURCE or
   MPS_RES_MEMORY if there is no room for its tables. */
mps_res_t tdo_shield_init(tdo_shield_t *sh, tdo_vm_t *vm, void *base,
                          size_t size, const tdo_shield_settings_t *settings,
                          const tdo_shield_hooks_t *hooks);
void tdo_shield_finish(tdo_shield_t *sh);
/* True if every invariant holds (walks all pages below the highest used). */
bool tdo_shield_check(const tdo_shield_t *sh);

/* Make write bars by TRACK from now on (mode dirty, no pages adopted yet). It
   stays the caller's, but is closed by this shield. MPS_RES_FAIL, or
   MPS_RES_RESOURCE if there is no room for its tables: then deferred mode is
   in force and the tracker closed. */
mps_res_t tdo_shield_attach(tdo_shield_t *sh, tdo_track_t *track);
/* Dirty mode is not to be had, because of WHY (static): deferred is in force
   instead. */
void tdo_shield_fall_back(tdo_shield_t *sh, const char *why);

/* Find the pages with write bars that were written since the last harvest,
   and VISIT them; their bars stay. Does nothing but in dirty mode. If the
   threads are stopped, the answer holds until they go. A harvest that the
   system refuses visits every page that may have been written, and falls
   back. */
typedef void (*tdo_shield_visit_t)(void *closure, size_t first, size_t limit);
void tdo_shield_harvest(tdo_shield_t *sh, tdo_shield_visit_t visit,
                        void *closure);
/* From now on every request is written down; RECORD is the caller's, and is
   closed by him after the shield is finished. */
void tdo_shield_record(tdo_shield_t *sh, tdo_shield_record_t *record);
/* In the child of a fork, before any other call: everything tracked counts as
   written (`lost`), and tracking starts afresh or falls back. */
void tdo_shield_after_fork(tdo_shield_t *sh);
/* In such a child, which forked within a session and has yet to end it: what
   is asked of the tracker until then is refused. */
void tdo_shield_abandon(tdo_shield_t *sh);

/* Is much closed at once by moving its memory away, as far as is known? That
   takes a fifth of the time. */
bool tdo_shield_hides(const tdo_shield_t *sh);

/* The arena tells what it did to free pages: made them readable and writable;
   is about to take, and took, their memory and access away. */
void tdo_shield_committed(tdo_shield_t *sh, size_t first, size_t limit);
void tdo_shield_decommitting(tdo_shield_t *sh, size_t first, size_t limit);
void tdo_shield_decommitted(tdo_shield_t *sh, size_t first, size_t limit);

/* [FIRST, LIMIT), whole huge pages, is backed by huge pages from now on, or no
   more. In the modes that defer the shield then avoids calls about a part of
   one where that is cheap: it bridges any free pages in it, and opens all of
   it to the collector. (Write bars that waited for a whole huge page to earn
   them were measured: the collector scanned a third more.) No-op while
   requests are recorded: a recording does not tell of huge pages. */
void tdo_shield_huge(tdo_shield_t *sh, size_t first, size_t limit, bool huge);

/* Free committed pages become part of a segment: no bars, and accessible when
   this returns (they may have been left closed by bridging). A page gets the
   deferral history of a fresh one. */
void tdo_shield_adopt(tdo_shield_t *sh, size_t first, size_t limit);
/* Pages leave their segment: bars and exposures are dropped, no call made. */
void tdo_shield_retire(tdo_shield_t *sh, size_t first, size_t limit);

/* Put up, take down BARS on adopted pages. */
void tdo_shield_raise(tdo_shield_t *sh, size_t first, size_t limit,
                      tdo_bar_t bars);
void tdo_shield_lower(tdo_shield_t *sh, size_t first, size_t limit,
                      tdo_bar_t bars);
/* Nobody will need the write bars of these adopted pages, and the collector
   will soon write some of them: in the modes that defer the bars go now, so
   that the first call that opens one of the pages opens many; but of so many
   pages only that opening them all is no pause, unless the collector exposes
   them NOW. In dirty mode the kernel notes
   no writes to them any more. */
void tdo_shield_release(tdo_shield_t *sh, size_t first, size_t limit,
                        bool now);
/* Full access for the collector, now; nests. Cover undoes one exposure. */
void tdo_shield_expose(tdo_shield_t *sh, size_t first, size_t limit);
void tdo_shield_cover(tdo_shield_t *sh, size_t first, size_t limit);

/* Have what is known of PAGE read into the cache: it is exposed and offered
   soon. */
static inline void tdo_shield_touch(const tdo_shield_t *sh, size_t page) {
  TDO_TOUCH(sh->state[page]);
  TDO_TOUCH(sh->actual[page]);
  TDO_TOUCH(sh->depth[page]);
  TDO_TOUCH(sh->calm[page]);
}

/* May everybody read PAGE as it is now? */
static inline bool tdo_shield_readable(const tdo_shield_t *sh, size_t page) {
  return sh->actual[page] != TDO_ACCESS_NONE;
}

/* The collector scanned these adopted pages and nobody wrote them since the
   scan; may they be write-barred? Grants (raising the bar) or declines, by
   mode, deferral and budget; in naive, ranged and (with a tracker) dirty mode
   always grants. Handles
   a leading run with one answer and returns its length (at least 1, in
   pages); *BARRED_O tells the answer. Counts one calm scan for each page of
   the run. Pages already write-barred: granted. */
size_t tdo_shield_offer(tdo_shield_t *sh, size_t first, size_t limit,
                        bool *barred_o);

/* Release, and open besides what was asked for (for the budget, too), no more
   than about PAGES at once: it must not make a pause too long. */
void tdo_shield_set_reach(tdo_shield_t *sh, size_t pages);

/* A collection's offers begin. In deferred mode pages that have earned their
   bars then wait until TDO_SHIELD_BATCH of them are ready, so that few calls
   close many; and one that the collector opens loses its write bar (`lost`),
   and has earned the next. Without this call they never wait, and keep their
   bars. */
#define TDO_SHIELD_BATCH 64
void tdo_shield_begin_offers(tdo_shield_t *sh);

/* What these adopted, fresh pages hold has proved calm elsewhere (it survived
   several collections): the next offer in deferred mode grants. */
void tdo_shield_trust(tdo_shield_t *sh, size_t first, size_t limit);

/* What is barred at PAGE now (bars that a flush has not put up yet
   included). */
tdo_bar_t tdo_shield_bars(const tdo_shield_t *sh, size_t page);
bool tdo_shield_adopted(const tdo_shield_t *sh, size_t page);

/* A mutator faulted on PAGE because of BARS (0: stale; it is opened, in case
   that it only seems open). Statistics and deferral; lowers none of its bars.
   In deferred mode, where hits come close together, the write bars of pages
   around it are given up (`lost`). */
void tdo_shield_hit(tdo_shield_t *sh, size_t page, tdo_bar_t bars);

/* Open PAGE to everybody now, bars or not, and drop its bars (reported as
   lost): for a fault that cannot wait. False if the system refuses. */
bool tdo_shield_force_open(tdo_shield_t *sh, size_t page);

/* Make actual access equal to wanted. */
void tdo_shield_flush(tdo_shield_t *sh);
/* End of a session: flush, then let threads go if `stop` was called. */
void tdo_shield_leave(tdo_shield_t *sh);

/* Was nothing asked of the shield since the last session ended? Then that
   session goes on, and there is nothing to leave. */
static inline bool tdo_shield_idle(const tdo_shield_t *sh) {
  return !sh->active;
}
/* The collector stopped the threads itself (a flip): count as a session's
   stop. */
void tdo_shield_note_stopped(tdo_shield_t *sh);

#endif /* TDO_SHIELD_SHIELD_H */
