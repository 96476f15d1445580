/* Testudo: roots (interface, section 2.15).
   SPDX-License-Identifier: BSD-2-Clause */
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
  mps_scan_tag_s tag;
  tdo_thread_t *thread;
  void *cold;
  atomic_bool gone;     /* destroyed by a handler: see tdo_heap_free_late */
  tdo_root_t *late_next;
};

#define TDO_ROOT_SIG ((tdo_sig_t)0x51960075) /* ROOTS */

/* LIKE gives rank, mode, kind and the kind's fields. */
mps_res_t tdo_root_create(tdo_root_t **root_o, mps_arena_t heap,
                          const tdo_root_t *like);
void tdo_root_destroy(tdo_root_t *root);
bool tdo_root_check(const tdo_root_t *root);
/* THREAD goes away before its roots: they are empty from now on. */
void tdo_root_forget_thread(const tdo_thread_t *thread);
/* Scan one root. Threads must be stopped (other than the caller). */
mps_res_t tdo_root_scan(tdo_scan_t *scan, tdo_root_t *root);

#endif /* TDO_TRACE_ROOT_H */
