/* Testudo: what the library offers beyond the common interface.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef testudo_h
#define testudo_h

#include <stdio.h>
#include "mps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the version ----

   Of this header, and of the library that is linked: a string like "0.1.0".
   Before 1.0 a minor version may change this header. */
#define TDO_VERSION "0.1.0"
const char *tdo_version(void);

/* ---- settings of the shield, one arena's or by environment ----

   Each may be given as a keyword argument to mps_arena_create_k. An
   environment variable of the name beside it, when set, wins over the
   argument. Manual, chapter "Settings". */

/* How barriers reach the system (TESTUDO_SHIELD). */
typedef enum tdo_mode_e {
  TDO_MODE_NAIVE = 0,    /* "naive": one call a page, at once */
  TDO_MODE_RANGED = 1,   /* "ranged": queued and coalesced */
  TDO_MODE_DEFERRED = 2, /* "deferred": and write barriers must be earned */
  TDO_MODE_DIRTY = 3,    /* "dirty": writes tracked by the kernel */
  TDO_MODE_OFF = 4       /* "off": no barriers */
} tdo_mode_t;

extern const struct mps_key_s tdo_key_SHIELD_MODE;
#define TDO_KEY_SHIELD_MODE       (&tdo_key_SHIELD_MODE)
#define TDO_KEY_SHIELD_MODE_FIELD u
/* Ranges queued before the shield flushes early (TESTUDO_QUEUE); at least
   1. */
extern const struct mps_key_s tdo_key_SHIELD_QUEUE;
#define TDO_KEY_SHIELD_QUEUE       (&tdo_key_SHIELD_QUEUE)
#define TDO_KEY_SHIELD_QUEUE_FIELD size
/* Bytes scanned for each barrier hit, beyond the page hit (TESTUDO_QUANTUM). */
extern const struct mps_key_s tdo_key_SHIELD_QUANTUM;
#define TDO_KEY_SHIELD_QUANTUM       (&tdo_key_SHIELD_QUANTUM)
#define TDO_KEY_SHIELD_QUANTUM_FIELD size

/* The lowest generation of each chain whose memory the system is advised to
   back by huge pages (TESTUDO_HUGE): a number, or one of these. The default is
   off. */
extern const struct mps_key_s tdo_key_HUGE;
#define TDO_KEY_HUGE       (&tdo_key_HUGE)
#define TDO_KEY_HUGE_FIELD u
#define TDO_HUGE_ALL 0u        /* "all": every generation, and manual pools */
#define TDO_HUGE_OLD 0xFFFFFFFEu /* "old": only what outlived its chain */
#define TDO_HUGE_OFF 0xFFFFFFFFu /* "off" */

/* Whether a thread of the library's own touches memory shortly before it is
   needed, on another processor, once an arena is large (TESTUDO_POPULATE). The
   default is true. */
extern const struct mps_key_s tdo_key_POPULATE;
#define TDO_KEY_POPULATE       (&tdo_key_POPULATE)
#define TDO_KEY_POPULATE_FIELD b

/* The same as MPS_ARGS_ADD, which takes these keys, too: for clients that want
   to show which arguments are Testudo's own. */
#define TDO_ARGS_ADD(args, key, value)                                        \
  MPS_ARGS_ADD_FIELD(args, key, key##_FIELD, value)

/* ---- statistics ---- */

#define TDO_HISTOGRAM 24 /* bucket i counts values in [2^i, 2^(i+1)) */
#define TDO_HISTOGRAM_LONG 40 /* the same, for times (ns) and sizes (bytes) */

/* Counts since the arena was created, but for mappings, which are those now
   and at most. Times are seconds, sizes bytes, unless said. What each tells:
   manual, chapter "Tuning". */
typedef struct tdo_statistics_s {
  tdo_mode_t mode;      /* in force */
  const char *fallback; /* why dirty mode is not in force though asked for (a
                           static text), or null */
  /* Requests to the shield that named pages: to put bars up, to take them
     down, to open pages to the collector, to end that. */
  size_t raises, lowers, exposes, covers;
  /* Flushes, and why: the queue was full; a barrier was hit, and its quantum
     is done; threads were stopped, and are to be let go; other work of the
     collector is done. */
  size_t flushes_full, flushes_quantum, flushes_stop, flushes_leave;
  /* Protection calls, those refused, pages in them, pages whose access
     really changed; how many calls had so many pages, and how many really
     changed so many (calls that changed none are not among those). */
  size_t protect_calls, protect_refused, protect_pages, protect_changed;
  size_t pages_per_call[TDO_HISTOGRAM], changed_per_call[TDO_HISTOGRAM];
  /* Barrier hits: a read, a write; stale: the page was open already, since
     another thread was faster. */
  size_t hits_read, hits_write, hits_stale;
  size_t hits_spread; /* pages opened along with one that was hit */
  size_t hit_time[TDO_HISTOGRAM_LONG]; /* ns from the fault to the return */
  size_t quantum[TDO_HISTOGRAM_LONG];  /* bytes scanned beyond a page hit */
  /* Pages whose bars the system refused, or which were given up; write bars
     given up since the collector opened the page; those that were not granted,
     since not earned, or for want of mappings. */
  size_t bars_lost, bars_conceded, bars_declined;
  /* Mappings that protection makes in the window, now and at most. */
  size_t mappings, mappings_most;
  /* Dirty mode: calls to arm pages for tracking, those refused, pages in
     them, and calls to undo that; harvests, pages looked at and found written
     in them (a fault that the kernel resolved for each), bars dropped because
     a write might be missed; regions closed and opened; and calls into the
     kernel for all of that. */
  size_t arms, arms_refused, arm_pages, disarms;
  size_t harvests, harvest_pages, harvest_written, unseen_dropped;
  size_t regions_closed, regions_opened, track_calls;
  /* Times that other threads were stopped, threads in them, and how long. */
  size_t stops, threads_stopped;
  double stopped_seconds;
  /* Page faults that the kernel took for the whole process. */
  size_t faults_minor, faults_major;
  /* Collections, those of everything, pauses in all of them; the time in
     pauses, and in the longest. */
  size_t collections, full_collections, pauses;
  double collect_seconds, longest_pause;
  size_t pause_time[TDO_HISTOGRAM_LONG]; /* ns of each */
  /* Bytes that the system is advised to back by huge pages, and calls for
     that which it refused. */
  size_t huge_bytes, huge_refused;
  /* Bytes that were to be touched before they were needed. */
  size_t populated;
  /* Bytes promoted without a collection, since nearly all survived. */
  size_t tenured;
  /* Bytes that survived collections, those of them that were copied, and the
     time in scanning, copying and marking after the flip: without roots and
     what they refer to directly, closing old memory, and giving back what
     died; with opening what is scanned, and the first touch of memory that is
     copied to. */
  size_t survived, copied;
  double trace_seconds;
  /* System calls by the library in the whole process, each attempt counted:
     equal to the kernel's own count. */
  size_t map_calls, unmap_calls, protect_calls_process, advise_calls;
  size_t move_calls; /* mremap */
  /* Of protect_pages, those closed by moving their memory away. */
  size_t pages_hidden;
} tdo_statistics_s;

/* Fill *STATISTICS_O. Locked. */
void tdo_statistics(mps_arena_t arena, tdo_statistics_s *statistics_o);

/* Write a description of the arena, for people, to the stream. Locked: any
   thread may call it, but no callback of the same arena. */
void tdo_arena_describe(mps_arena_t arena, FILE *stream);

/* Walk the whole heap with a checker that shares nothing with the collector,
   and assert that every reference in the objects of automatic pools, and in
   exact and weak roots, leads to memory in use, that objects fill their
   segments, and that every page summary covers the references in its page.
   For tests and debugging; slow. Parks nothing; not while a collection is in
   progress (then it does nothing). Locked. */
void tdo_arena_check(mps_arena_t arena);

/* Offer a memory fault that a handler installed after the library's got:
   arguments as a SA_SIGINFO handler receives them. True if the fault was on
   protected memory and is resolved: return from the handler. */
mps_bool_t tdo_fault(int signal, void *siginfo, void *context);

#ifdef __cplusplus
}
#endif

#endif /* testudo_h */
