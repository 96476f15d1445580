/* Testudo: an arena as its client knows it: the address space, the shield,
   and everything that lives behind one lock.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_HEAP_H
#define TDO_TRACE_HEAP_H

#include "arena/control.h"
#include "code/lock.h"
#include "shield/shield.h"
#include "trace/evacuate.h"
#include "trace/full.h"
#include "trace/hit.h"
#include "trace/learn.h"
#include "trace/small.h"
#include "trace/worth.h"
#include "trace/nursery.h"
#include "trace/pin.h"
#include "trace/ld.h"
#include "trace/message.h"
#include "trace/finalize.h"
#include "trace/root.h"
#include "trace/summary.h"
#include "trace/tenure.h"
#include "trace/thread.h"
#include "trace/trace.h"
#include "trace/turnover.h"

typedef struct mps_arena_s tdo_heap_t;

typedef enum tdo_clamp { TDO_UNCLAMPED, TDO_CLAMPED, TDO_PARKED } tdo_clamp_t;

typedef struct tdo_heap_stats {
  size_t collections, full_collections;
  size_t tenured;        /* bytes promoted without a collection */
  size_t survived;       /* bytes that lived on, and of these those that were */
  size_t copied;         /* copied */
  uint64_t traced_ns;    /* scanning, copying and marking */
  uint64_t pause_longest_ns;
  size_t pauses;         /* sessions in which the collector worked */
  uint64_t paused_ns;    /* and the time in them */
  size_t pause_log2[40]; /* pauses of [2^i, 2^(i+1)) ns */
  size_t hit_log2[40];   /* barrier hits, from the fault to the return, ns */
  size_t quantum_log2[40]; /* bytes scanned for each hit of a read bar */
  size_t stops;          /* times that other threads were stopped */
  size_t stopped;        /* threads in them */
  uint64_t stopped_ns;   /* and how long they lasted */
} tdo_heap_stats_t;

/* VALUE belongs to one of the powers of two. */
static inline void tdo_heap_tally(size_t log2[40], uint64_t value) {
  unsigned bucket = 63 - (unsigned)__builtin_clzl(value | 1);

  ++log2[bucket < 40 ? bucket : 39];
}

/* What creation may set. */
typedef struct tdo_heap_options {
  size_t size, grain, commit_limit;
  size_t window;         /* address space to reserve; 0: choose */
  size_t quantum;        /* bytes scanned for each barrier hit */
  unsigned huge;         /* lowest generation with huge pages */
  size_t small;          /* TESTUDO_SMALL */
  bool adapt;            /* TESTUDO_ADAPT */
  bool populate;         /* TDO_KEY_POPULATE */
  unsigned stress;       /* collect at every n-th chance; 0: never */
  bool stress_blocks;    /* each block is a chance */
  bool check_heap;       /* run the heap checker around collections */
  bool log;              /* a line about each collection */
  double spare, pause_time;
  size_t spare_bytes;    /* most spare memory; SIZE_MAX: the fraction says */
  const char *record; /* file to record the shield's requests in, or null */
  tdo_shield_settings_t shield;
  mps_arena_extended_t extended;
  mps_arena_contracted_t contracted;
  void *client; /* the client's memory, SIZE bytes; null: the system's */
} tdo_heap_options_t;

struct mps_arena_s {
  tdo_sig_t sig;
  mps_arena_class_t klass;
  tdo_lock_t lock;
  tdo_space_t space;
  tdo_shield_t shield;
  tdo_shield_record_t record; /* TESTUDO_RECORD */
  bool first;            /* of the process: which is recorded */
  uint8_t *found;        /* if so: what each page refers to (tell.h) */
  bool telling;          /* and: its pass over the pages is in progress */
  tdo_track_t track;     /* of writes, in dirty mode; the shield's */
  bool shielded;         /* false: client memory, never protected */
  tdo_control_t control;
  tdo_summary_t summary;
  tdo_bits_t *ahead;     /* pages of segments condemned ahead of the flip
                            (condemn.h); null without a shield */
  unsigned page_shift;
  size_t page_limit;     /* pages ever in use lie below */
  tdo_ring_t pools, formats, chains, threads;
  tdo_ring_t roots[TDO_RANKS];
  size_t root_count, roots_early; /* of all ranks; with marks (.early) */
  tdo_ring_t traced;     /* pools that collections look at: automatic or
                            rooted, and not without a point from the start,
                            since there is nothing in those */
  tdo_chain_t *default_chain;
  unsigned huge;         /* TDO_KEY_HUGE */
  unsigned char bits_taken; /* generation bits in use */
  unsigned char nursery_bits; /* of the youngest generations of chains */
  tdo_gen_t top;
  tdo_trace_t trace;
  tdo_clamp_t clamp;
  size_t cuts; /* how often the client may have cut blocks anew: one more at
                  each release, and for each full collection */
  void *hot;             /* from where on the stack of the thread that entered
                            is scanned, its registers included; null in the
                            fault handler, and where nothing is scanned */
  tdo_stop_thread_t **stopped; /* threads stopped in this session */
  size_t stopped_count, stopped_max, thread_count;
  bool is_stopped;
  bool has_right;        /* to stop threads, in this session */
  size_t abroad;         /* roots in memory of other arenas (abroad.h) */
  bool holds_others;     /* their locks, in this session, */
  size_t others_begun;   /* and none of them goes (heaps.h) */
  atomic_bool lent;      /* its holder waits for the right */
  bool going;            /* is being destroyed: not one of those others */
  uintptr_t lender;      /* that holder; 0: the lock was free */
  struct mps_arena_s *held_for; /* which arena with such roots has the lock */
  bool quiet;            /* signals are blocked until the session is over */
  bool forked;           /* a child that has not entered since the fork */
  bool forking;          /* this thread took the lock to fork */
  bool frozen;           /* it forked in the middle of somebody's session */
  atomic_size_t awaited; /* by threads that fork, while somebody has it */
  tdo_root_t *_Atomic late_roots; /* see tdo_heap_destroy_late */
  atomic_bool behind;    /* a fork or a handler left something to be done */
  bool eventful;         /* more is to be done at the end of this session than
                            to free the lock, besides the shield's part */
  bool postmortem;       /* frozen for good */
  const void *volatile frame; /* where its holder came in, once that is known;
                            null while nobody has */
  uint64_t session_ns;   /* when the collector began work in this session; 0:
                            it did not */
  size_t flushed;        /* collections that were over when events were
                            flushed because of that */
  tdo_word_t frame_last; /* number of a place in a manual pool's buffer */
  size_t transforms;     /* that were applied */
  tdo_ld_history_t ld;
  tdo_messages_t messages;
  tdo_finals_t finals;
  double pause_time;
  unsigned weak_left, weak_next; /* collections for which .weak of pause.h
                            holds; for which it will the next time */
  mps_arena_extended_t extended;
  mps_arena_contracted_t contracted;
  /* Policy (policy.c, learn.c). */
  tdo_full_t full;
  tdo_turnover_t turnover;
  tdo_small_t small;
  size_t small_most;     /* old bytes that a small heap has */
  bool adapts;           /* do generations grow with the time that collecting
                            them takes? */
  bool small_next;       /* the next collection is of a small heap, whole */
  tdo_chain_t *small_for; /* the last of these was so as the nursery of this
                            chain was full, or null */
  bool instead;          /* or as a full one was due */
  tdo_learned_t learned;
  tdo_tenure_t tenure;
  tdo_evacuate_t evacuate;
  tdo_pin_t pin;
  /* Old pages, and runs of them, that refer to what is young, as the last minor
     collection found while something was taken to be built; and all the pages,
     since ever, of those that found many runs. */
  struct {
    size_t runs, pages, written;
  } remembered;
  double alive;          /* bytes that survived the last full collection */
  struct {
    double size;         /* bytes in automatic pools when it was over, */
    uint64_t ended;      /* when that was (or the arena was made), and how long
                            it had worked; ns */
    double took;
    double rest;         /* times as long before what is old is looked at, */
    bool late;           /* and was that why it began? */
  } whole;
  double debt;           /* bytes of scanning owed by a collection */
  double pause_left;     /* ns by which the last pause could have been
                            longer, */
  uint64_t pause_ended;  /* and when it ended */
  size_t rooted;         /* bytes of roots whose size is known, and of blocks
                            that are roots: scanned by each collection */
  size_t unpolled;       /* bytes allocated since the last poll */
  tdo_ap_t *filling;     /* during a poll: the point it is for, about to give up
                            its buffer; or null */
  size_t withheld_most;  /* bytes that requests leave to move with, since the
                            commit limit was raised (shortage.h) */
  bool due;              /* may a generation of a chain be over its capacity? */
  bool full_wanted;      /* "collect all" ramp ended, or: */
  bool full_owed;        /* the client started a full collection while a minor
                            one was in progress: it begins when that is over */
  bool given_up;         /* the last full collection, ahead of its flip; the
                            next one flips at once */
  bool bars_lost;        /* a read bar was refused: finish at once */
  tdo_hits_t hits;
  uint64_t stopped_at;   /* ns */
  bool explicit_collect; /* the client asked: keep no memory back */
  bool trace_emergency_next; /* the next collection starts without memory */
  struct {
    unsigned each, count; /* TESTUDO_STRESS: chances; 0: never, and since the
                             last that was taken */
    bool blocks;         /* points ask for each block (ap.c) */
    bool turn;           /* that was of a chain, not a full one; */
    bool move;           /* the last full one moved all, */
    bool small;          /* as that of a small heap; */
    bool tenure;         /* the last of a chain was a promotion */
  } stress;
  bool log;              /* TESTUDO_LOG */
  bool check_heap;
  size_t check_wait;     /* collections until the next check */
  tdo_heap_stats_t stats;
};

#define TDO_HEAP_SIG ((tdo_sig_t)0x519A4EA0) /* AREA(na) */

/* Make an arena over system memory, or the client's: then without any call of
   the system for memory, and without barriers. */
mps_res_t tdo_heap_create(tdo_heap_t **heap_o, mps_arena_class_t klass,
                          const tdo_heap_options_t *options);
void tdo_heap_destroy(tdo_heap_t *heap);
/* More memory for an arena over the client's. Results as
   tdo_space_add_block. */
mps_res_t tdo_heap_extend(tdo_heap_t *heap, void *base, size_t size);
bool tdo_heap_check(const tdo_heap_t *heap);

/* Are there barriers, as far as the system grants them? */
static inline bool tdo_heap_guarded(const tdo_heap_t *heap) {
  return heap->shielded && heap->shield.settings.mode != TDO_SHIELD_OFF;
}

#define TDO_WHOLE_REST 30.0 /* times as long as a full collection takes, before
                               one looks for what died without a sign */

/* Capacities (kB) of the default chain's generations, to begin with: nurseries
   that are doubled from here leave a quarter of their zones to the buffers of
   points, and so do not begin another zone. */
#define TDO_DEFAULT_NURSERY 192
#define TDO_DEFAULT_MIDDLE  24

/* The chain of pools that name none; made at the first call. */
mps_res_t tdo_heap_default_chain(tdo_chain_t **chain_o, tdo_heap_t *heap);

/* Take protection away and free the lock for a debugger; the arena is only
   fit for looking at afterwards. */
void tdo_heap_postmortem(tdo_heap_t *heap);

/* Whole pages around [BASE, LIMIT). */
static inline size_t tdo_heap_page(const tdo_heap_t *heap, const char *p) {
  return tdo_space_offset(&heap->space, p) >> heap->page_shift;
}

static inline size_t tdo_heap_page_up(const tdo_heap_t *heap,
                                      const char *p) {
  return (tdo_space_offset(&heap->space, p) +
          ((size_t)1 << heap->page_shift) - 1) >>
         heap->page_shift;
}

static inline char *tdo_heap_page_addr(const tdo_heap_t *heap, size_t page) {
  return tdo_space_at(&heap->space, page << heap->page_shift);
}

/* Where tables of the heap's have their memory: among its own blocks. */
tdo_table_memory_t tdo_heap_table_memory(tdo_heap_t *heap);

/* Bytes in automatic pools. */
double tdo_heap_size(const tdo_heap_t *heap);

#endif /* TDO_TRACE_HEAP_H */
