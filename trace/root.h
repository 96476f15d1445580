/* Testudo: roots (interface, section 2.15).
   SPDX-License-Identifier: BSD-2-Clause

   .early  While the flip of a full collection is to come, what large tables of
   exact references refer to is marked already, as far as it stays in place, and
   the words are noted. At the flip those that are the same still need no look,
   which for each would go to another place of the heap's tables. A word of what
   could not be marked is noted as another. */
#ifndef TDO_TRACE_ROOT_H
#define TDO_TRACE_ROOT_H

#include <stdatomic.h>
#include "trace/scan.h"
#include "trace/thread.h"

typedef struct mps_root_s tdo_root_t;

typedef enum tdo_root_kind {
  TDO_ROOT_FUNCTION, /* p, s */
  TDO_ROOT_FORMAT,   /* base, limit */
  TDO_ROOT_AREA,     /* base, limit, scanner, closure or tag */
  TDO_ROOT_THREAD    /* stack and registers, scanner, closure or tag */
} tdo_root_kind_t;

struct mps_root_s {
  tdo_sig_t sig;
  mps_arena_t heap;
  tdo_ring_t heap_ring;
  mps_rank_t rank;
  mps_rm_t mode;
  tdo_root_kind_t kind;
  mps_root_scan_t function;
  void *p;
  size_t s;
  mps_fmt_scan_t format;
  mps_area_scan_t area;
  char *base, *limit;
  void *closure;        /* of `area`; points at `tag` if tagged */
  bool tagged;
  bool abroad;          /* in another arena's memory (abroad.h) */
  mps_scan_tag_s tag;
  tdo_thread_t *thread;
  void *cold;
  mps_word_t *early;    /* .early: copies of the first `early_count` words, or
                           null */
  size_t early_count;
  atomic_bool gone;     /* destroyed by a handler: tdo_heap_destroy_late */
  tdo_root_t *late_next;
};

#define TDO_ROOT_SIG ((tdo_sig_t)0x51960075) /* ROOTS */

/* LIKE gives rank, mode, kind, `abroad` and the kind's fields. */
mps_res_t tdo_root_create(tdo_root_t **root_o, mps_arena_t heap,
                          const tdo_root_t *like);
void tdo_root_destroy(tdo_root_t *root);
bool tdo_root_check(const tdo_root_t *root);
/* THREAD goes away before its roots: they are empty from now on. */
void tdo_root_forget_thread(const tdo_thread_t *thread);
/* Scan one root. Threads must be stopped (other than the caller). */
mps_res_t tdo_root_scan(tdo_scan_t *scan, tdo_root_t *root);
/* The same, but for what was marked before and is the same since (.early). */
mps_res_t tdo_root_scan_rest(tdo_scan_t *scan, tdo_root_t *root);
/* Mark ahead of the flip, until DEADLINE (ns; 0: none). True if there is no
   more to be done. */
bool tdo_roots_mark_early(mps_arena_t heap, uint64_t deadline);
/* What small exact roots have, as far as that can be read: words to TO, MOST of
   them at most; their number. Threads must be stopped. */
size_t tdo_roots_words(mps_arena_t heap, mps_word_t *to, size_t most);
/* There was a flip, or there will be none. */
void tdo_roots_forget_early(mps_arena_t heap);

#endif /* TDO_TRACE_ROOT_H */
