/* Testudo: pairs whose key keeps their value alive.
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/ephemeron.h"
#include <string.h>
#include "code/check.h"
#include "trace/heap.h"

#define PAIRS_LEAST 64

mps_rank_t mps_rank_ephemeron(void) {
  return TDO_RANK_EPHEMERON;
}

void tdo_ephemerons_init(tdo_ephemerons_t *e, mps_arena_t heap) {
  tdo_table_memory_t memory = tdo_heap_table_memory(heap);

  memset(e, 0, sizeof *e);
  tdo_ring_init(&e->settling);
  tdo_table_init(&e->waiting, &memory);
}

void tdo_ephemerons_reset(tdo_ephemerons_t *e, mps_arena_t heap) {
  size_t searches = e->searches;

  TDO_CHECK(tdo_ring_empty(&e->settling));
  if (e->pairs == NULL)
    return;
  tdo_control_free(&heap->control, e->pairs, e->room * sizeof *e->pairs);
  tdo_table_finish(&e->waiting);
  tdo_ephemerons_init(e, heap);
  e->searches = searches;
}

/* ---- pairs that wait ---- */

static mps_res_t ephemerons_grow(mps_arena_t heap) {
  tdo_ephemerons_t *e = &heap->trace.ephemerons;
  size_t room = e->room == 0 ? PAIRS_LEAST : 2 * e->room;
  void *p;
  mps_res_t res =
      tdo_control_alloc(&p, &heap->control, room * sizeof *e->pairs);

  if (res != MPS_RES_OK)
    return res;
  if (e->pairs != NULL) {
    memcpy(p, e->pairs, e->count * sizeof *e->pairs);
    tdo_control_free(&heap->control, e->pairs, e->room * sizeof *e->pairs);
  }
  e->pairs = p;
  e->room = room;
  return MPS_RES_OK;
}

/* What lives with REF in white SEG, and stands for it in the table. */
static mps_addr_t ephemeron_key(const tdo_gcseg_t *seg, mps_addr_t ref) {
  return seg->pool->klass->whole != NULL ? seg->pool->klass->whole(seg, ref)
                                         : ref;
}

/* TARGET will live if TRIGGER, not known to live, does. */
static mps_res_t ephemerons_wait(mps_arena_t heap, mps_addr_t trigger,
                                 mps_addr_t target) {
  tdo_ephemerons_t *e = &heap->trace.ephemerons;
  void *first = NULL;
  mps_res_t res;

  trigger = ephemeron_key(tdo_gcseg_of(&heap->space, trigger), trigger);
  if (e->count == e->room) {
    res = ephemerons_grow(heap);
    if (res != MPS_RES_OK)
      return res;
  }
  (void)tdo_table_get(&first, &e->waiting, trigger);
  res = tdo_table_set(&e->waiting, trigger, (void *)(e->count + 1));
  if (res != MPS_RES_OK)
    return res;
  e->pairs[e->count].target = target;
  e->pairs[e->count].next = (size_t)first;
  ++e->count;
  e->searched = false;
  return MPS_RES_OK;
}

/* Move the list FIRST (index + 1) to the pairs that are ready. */
static void ephemerons_make_ready(tdo_ephemerons_t *e, size_t first) {
  while (first != 0) {
    tdo_pair_t *pair = &e->pairs[first - 1];
    size_t next = pair->next;
    pair->next = e->ready;
    e->ready = first;
    first = next;
  }
}

mps_res_t tdo_ephemerons_fix(tdo_scan_t *scan, tdo_gcseg_t *seg,
                             mps_addr_t *ref_io) {
  tdo_ephemerons_t *e = &scan->heap->trace.ephemerons;
  mps_addr_t trigger = ephemeron_key(seg, *ref_io), now;
  mps_res_t res = seg->pool->klass->fix(seg->pool, scan, seg, ref_io);
  void *first;

  if (res != MPS_RES_OK || scan->rank == TDO_RANK_WEAK)
    return res;
  e->searched = false;
  now = trigger;
  if (tdo_table_get(&first, &e->waiting, trigger) && first != NULL &&
      tdo_trace_alive(scan->heap, &now)) {
    ephemerons_make_ready(e, (size_t)first);
    (void)tdo_table_set(&e->waiting, trigger, NULL); /* it is there */
  }
  return MPS_RES_OK;
}

/* Look at every trigger, since some may live that no reference to just their
   address was fixed for. True if one does. */
static bool ephemerons_search(mps_arena_t heap) {
  tdo_ephemerons_t *e = &heap->trace.ephemerons;
  tdo_table_entry_t *entry;
  size_t position = 0;

  e->searched = true;
  ++e->searches;
  while ((entry = tdo_table_next(&e->waiting, &position)) != NULL) {
    mps_addr_t trigger = entry->key;
    if (entry->value != NULL && tdo_trace_alive(heap, &trigger)) {
      ephemerons_make_ready(e, (size_t)entry->value);
      entry->value = NULL;
    }
  }
  return e->ready != 0;
}

/* Keep the targets of all pairs that are ready. */
static void ephemerons_run_ready(mps_arena_t heap) {
  tdo_ephemerons_t *e = &heap->trace.ephemerons;
  tdo_scan_t scan;

  tdo_scan_init(&scan, heap, TDO_RANK_EPHEMERON);
  while (e->ready != 0) {
    tdo_pair_t *pair = &e->pairs[e->ready - 1];
    mps_addr_t target = pair->target;
    e->ready = pair->next;
    (void)tdo_scan_fix(&scan, &target);
  }
}

bool tdo_ephemerons_step(mps_arena_t heap) {
  tdo_ephemerons_t *e = &heap->trace.ephemerons;
  tdo_ring_t *grey = &heap->trace.grey[TDO_RANK_EPHEMERON];

  if (e->ready != 0) {
    ephemerons_run_ready(heap);
    return true;
  }
  if (!tdo_ring_empty(grey)) {
    tdo_gcseg_t *seg = TDO_RING_ENTRY(tdo_gcseg_t, grey_ring, grey->next);
    tdo_trace_scan_first(heap, seg);
    tdo_ring_remove(&seg->grey_ring);
    tdo_ring_append(&e->settling, &seg->grey_ring);
    return true;
  }
  return e->count > 0 && !e->searched && ephemerons_search(heap);
}

bool tdo_ephemerons_idle(const mps_arena_t heap) {
  const tdo_ephemerons_t *e = &heap->trace.ephemerons;

  return e->ready == 0 && (e->count == 0 || e->searched) &&
         tdo_ring_empty(&heap->trace.grey[TDO_RANK_EPHEMERON]);
}

void tdo_ephemerons_settle(mps_arena_t heap) {
  tdo_ring_t *settling = &heap->trace.ephemerons.settling;

  while (!tdo_ring_empty(settling))
    tdo_trace_scan_last(
        heap, TDO_RING_ENTRY(tdo_gcseg_t, grey_ring, settling->next));
}

/* ---- what scan methods call ---- */

/* Does *REF_IO refer to something that does not depend on this pair? */
static bool pair_alive(const tdo_scan_t *scan, const mps_addr_t *ref_io) {
  mps_addr_t ref = *ref_io;

  return tdo_trace_alive(scan->heap, &ref);
}

static mps_res_t pair_keep(tdo_scan_t *scan, mps_addr_t *a, mps_addr_t *b) {
  mps_res_t res = tdo_scan_fix(scan, a);

  return res == MPS_RES_OK ? tdo_scan_fix(scan, b) : res;
}

/* The pair is not known to live: clear it, if it never will. */
static bool pair_clear(const tdo_scan_t *scan, mps_addr_t *a, mps_addr_t *b) {
  if (scan->rank != TDO_RANK_WEAK)
    return false;
  *a = *b = NULL;
  return true;
}

/* Are pairs treated as such here? Not by walks, nor in blocks of other
   ranks, whose references are what their rank says. */
static bool pair_matters(const tdo_scan_t *scan) {
  return scan->fix == tdo_trace_fix &&
         (scan->rank == TDO_RANK_EPHEMERON || scan->rank == TDO_RANK_WEAK);
}

mps_res_t mps_fix_weak_pair(mps_ss_t ss, mps_addr_t base, mps_addr_t *key_io,
                            mps_addr_t *value_io) {
  tdo_scan_t *scan = tdo_scan_of(ss);

  (void)base;
  if (!pair_matters(scan) || pair_alive(scan, key_io))
    return pair_keep(scan, key_io, value_io);
  if (pair_clear(scan, key_io, value_io) || pair_alive(scan, value_io))
    return MPS_RES_OK;
  /* Without memory to wait, the pair is kept. */
  return ephemerons_wait(scan->heap, *key_io, *value_io) == MPS_RES_OK
             ? MPS_RES_OK
             : pair_keep(scan, key_io, value_io);
}

mps_res_t mps_fix_weak_or_pair(mps_ss_t ss, mps_addr_t base,
                               mps_addr_t *key_io, mps_addr_t *value_io) {
  tdo_scan_t *scan = tdo_scan_of(ss);

  (void)base;
  if (!pair_matters(scan) || pair_alive(scan, key_io) ||
      pair_alive(scan, value_io))
    return pair_keep(scan, key_io, value_io);
  if (pair_clear(scan, key_io, value_io))
    return MPS_RES_OK;
  return ephemerons_wait(scan->heap, *key_io, *value_io) == MPS_RES_OK &&
                 ephemerons_wait(scan->heap, *value_io, *key_io) == MPS_RES_OK
             ? MPS_RES_OK
             : pair_keep(scan, key_io, value_io);
}

mps_res_t mps_fix_weak_and_pair(mps_ss_t ss, mps_addr_t base,
                                mps_addr_t *key_io, mps_addr_t *value_io) {
  tdo_scan_t *scan = tdo_scan_of(ss);

  (void)base;
  if (!pair_matters(scan) ||
      (pair_alive(scan, key_io) && pair_alive(scan, value_io)))
    return pair_keep(scan, key_io, value_io);
  (void)pair_clear(scan, key_io, value_io);
  return MPS_RES_OK;
}
