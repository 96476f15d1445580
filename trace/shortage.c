/* Testudo: when memory is short (manual, "Tuning").
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/shortage.h"
#include <math.h>
#include "code/platform.h"
#include "trace/policy.h"
#include "trace/tenure.h"

#define ROOM_SURE 0.9   /* of what is free: survivors leave some of it */
#define ROOM_FITS 0.75  /* the same, where a segment each is a grain or two:
                           what describes it takes room as well */
#define ROOM_NEAR 0.125 /* of all memory, that is little room */
#define ROOM_PACE 0.25  /* of what is free, while a full collection runs */

#define WITHHELD_PART  32 /* of all memory, for moving alone; */
#define WITHHELD_LEAST ((size_t)64 << 10) /* some segments, but at most */
#define WITHHELD_SMALL 16                 /* this part; and in any case at
                                             most */
#define WITHHELD_MOST  ((size_t)16 << 20)

#define DUE_HEAP 0.5  /* of the heap, for which there is no room, */
#define DUE_ALL  0.1  /* and of all memory, promoted since the last time; */
#define DUE_ROOM 0.25 /* or of the room, if so much of the heap may be */
#define DUE_DEAD 0.2  /* dead */

#define MINOR_MOST    0.5   /* of the heap, for which a minor one is tried, */
#define MINOR_GAIN    0.125 /* and of it, that must be free afterwards */
#define MINOR_CHAIN   (1.0 / 16) /* of all that is young, that a chain has for
                                    it */
#define MOST_ATTEMPTS 7     /* each may make room for the next */

bool tdo_shortage_possible(const tdo_heap_t *heap) {
  return tdo_space_most(&heap->space) != SIZE_MAX;
}

static double shortage_free(const tdo_heap_t *heap) {
  return (double)tdo_space_room(&heap->space);
}

static double shortage_young(const tdo_heap_t *heap) {
  return tdo_heap_size(heap) - heap->top.size;
}

double tdo_shortage_room(const tdo_heap_t *heap) {
  return tdo_shortage_possible(heap)
             ? ROOM_SURE * shortage_free(heap) - shortage_young(heap)
             : INFINITY;
}

/* Of ROOM bytes, those that will be filled: of the last grain that its
   survivors take each pool leaves half, more or less. (Of a few large grains
   that may be all, and nothing would move: half of it is tried.) */
static double shortage_filled(const tdo_heap_t *heap, double room) {
  double left = 0;

  TDO_RING_FOR(node, &heap->traced) {
    left += (double)tdo_space_bytes(&heap->space, 1) / 2;
  }
  return tdo_fmax(room - left, room / 2);
}

double tdo_shortage_share(const tdo_heap_t *heap, double *part_o) {
  double room = shortage_filled(heap, tdo_shortage_room(heap));

  return tdo_evacuate_share(&heap->evacuate, room,
                            (double)tdo_space_most(&heap->space), part_o);
}

bool tdo_shortage_crammed(const tdo_heap_t *heap) {
  return tdo_shortage_room(heap) <= 0;
}

bool tdo_shortage_fits(const tdo_heap_t *heap, const tdo_chain_t *chain) {
  return !tdo_shortage_possible(heap) ||
         tdo_chain_size(chain) < ROOM_FITS * shortage_free(heap);
}

bool tdo_shortage_near(const tdo_heap_t *heap) {
  double room = tdo_shortage_room(heap);

  return room < shortage_young(heap) ||
         room < ROOM_NEAR * (double)tdo_space_most(&heap->space);
}

bool tdo_shortage_small(const tdo_heap_t *heap) {
  return tdo_shortage_possible(heap) && heap->alive > shortage_free(heap);
}

bool tdo_shortage_all(const tdo_heap_t *heap) {
  double old = heap->top.size;

  if (heap->alive > 0)
    old = tdo_fmin(old, heap->alive + heap->top.fresh);
  return old > tdo_shortage_room(heap);
}

static size_t shortage_withheld(const tdo_heap_t *heap) {
  size_t most = tdo_space_most(&heap->space);
  size_t least = tdo_min(WITHHELD_LEAST, most / WITHHELD_SMALL);

  if (!tdo_shortage_possible(heap))
    return 0;
  return tdo_min(tdo_max(most / WITHHELD_PART, least), WITHHELD_MOST);
}

size_t tdo_shortage_withheld(const tdo_heap_t *heap) {
  return tdo_min(shortage_withheld(heap), heap->withheld_most);
}

void tdo_shortage_raised(tdo_heap_t *heap, size_t room) {
  heap->withheld_most = room;
}

size_t tdo_shortage_kept(tdo_heap_t *heap, size_t room) {
  heap->withheld_most = SIZE_MAX;
  return tdo_min(room, shortage_withheld(heap));
}

bool tdo_shortage_full_due(const tdo_heap_t *heap) {
  double fresh = heap->top.fresh, size, free;

  if (!tdo_shortage_possible(heap))
    return false;
  size = tdo_heap_size(heap);
  free = shortage_free(heap);
  if (free >= DUE_HEAP * size)
    return false;
  return fresh > DUE_ALL * (double)tdo_space_most(&heap->space) ||
         (fresh > DUE_ROOM * free && heap->alive > 0 &&
          heap->alive < (1 - DUE_DEAD) * size);
}

double tdo_shortage_pace(const tdo_heap_t *heap, double room) {
  return tdo_shortage_possible(heap)
             ? tdo_fmin(room, ROOM_PACE * shortage_free(heap))
             : room;
}

void tdo_shortage_promote(tdo_heap_t *heap) {
  if (tdo_shortage_crammed(heap))
    tdo_tenure_all(heap);
}

/* ---- it ran out ---- */

/* Collect the chains only, those that there is room to copy, and few: each
   takes the roots, and all that others have. Cheap where the heap is full of
   old objects and the program makes garbage. True if that gave back a fair
   share of what was looked at: then it costs no more than any minor
   collection. */
static bool shortage_collect_minor(tdo_heap_t *heap) {
  double all = tdo_heap_size(heap);
  double least = MINOR_CHAIN * shortage_young(heap);
  size_t room = tdo_space_room(&heap->space), looked = 0;

  if (all - heap->top.size > MINOR_MOST * all)
    return false;
  TDO_RING_FOR(node, &heap->chains) {
    tdo_chain_t *chain = TDO_RING_ENTRY(tdo_chain_t, heap_ring, node);
    if (tdo_chain_size(chain) < least || !tdo_shortage_fits(heap, chain))
      continue;
    heap->trace_emergency_next = true;
    if (tdo_trace_start(heap, chain, chain->count - 1, "Memory ran out.")) {
      looked += heap->trace.condemned;
      tdo_trace_finish(heap);
    }
  }
  heap->trace_emergency_next = false;
  return looked > 0 && (double)tdo_space_room(&heap->space) >=
                           (double)room + MINOR_GAIN * looked;
}

static bool shortage_moves(const tdo_heap_t *heap) {
  double part, share = tdo_shortage_share(heap, &part);

  return share > heap->evacuate.least || part > 0;
}

/* Would another full collection move anything? Room for what is young is none
   for what is sparse: if it takes too much, what survived the last one is old.
 */
static bool shortage_helps(tdo_heap_t *heap) {
  if (shortage_moves(heap))
    return true;
  if (tdo_trace_busy(&heap->trace) || shortage_young(heap) <= 0)
    return false;
  tdo_tenure_all(heap);
  return shortage_moves(heap);
}

/* Is that for want of memory? What else is wrong no collection helps. */
static bool shortage_is(mps_res_t res) {
  return res == MPS_RES_RESOURCE || res == MPS_RES_MEMORY ||
         res == MPS_RES_COMMIT_LIMIT;
}

/* What pools keep for themselves serves others. True if there was any. */
static bool shortage_relinquish(tdo_heap_t *heap) {
  size_t bytes = 0;

  TDO_RING_FOR(node, &heap->pools) {
    tdo_pool_t *pool = TDO_RING_ENTRY(tdo_pool_t, heap_ring, node);
    if (pool->klass->relinquish != NULL && pool->free > 0)
      bytes += pool->klass->relinquish(pool);
  }
  return bytes > 0;
}

/* First what is cheap, then all: nothing fails before all was collected. */
bool tdo_shortage_collect(tdo_heap_t *heap, mps_res_t res,
                          unsigned *attempt_io) {
  if (!shortage_is(res))
    return false;
  if (*attempt_io == 0) {
    *attempt_io = 1;
    if (shortage_relinquish(heap))
      return true;
  }
  if (!TDO_POLL || heap->clamp != TDO_UNCLAMPED ||
      (*attempt_io > 2 &&
       (*attempt_io >= MOST_ATTEMPTS || !shortage_helps(heap))))
    return false;
  tdo_threads_stop(heap);
  if ((*attempt_io)++ == 1) {
    if (tdo_trace_busy(&heap->trace)) {
      tdo_trace_finish(heap);
      return true;
    }
    if (shortage_collect_minor(heap))
      return true;
    ++*attempt_io;
  }
  heap->trace_emergency_next = true;
  (void)tdo_policy_collect(heap, "Memory ran out.");
  tdo_control_settle(&heap->control);
  tdo_space_purge(&heap->space, SIZE_MAX / 4);
  return true;
}

/* What moves leaves BYTES, to move it. */
static mps_res_t shortage_fill_leaving(mps_addr_t *p_o, tdo_ap_t *ap,
                                       size_t size, size_t bytes) {
  tdo_space_t *sp = &ap->pool->heap->space;
  mps_res_t res;

  tdo_space_withhold(sp, bytes);
  res = tdo_ap_fill(p_o, ap, size);
  tdo_space_withhold(sp, 0);
  return res;
}

static mps_res_t shortage_fill_once(mps_addr_t *p_o, tdo_ap_t *ap,
                                    size_t size) {
  return ap->pool->klass->moving
             ? shortage_fill_leaving(p_o, ap, size,
                                     tdo_shortage_withheld(ap->pool->heap))
             : tdo_ap_fill(p_o, ap, size);
}

static TDO_NOINLINE mps_res_t shortage_fill_late(mps_addr_t *p_o, tdo_ap_t *ap,
                                                 size_t size, mps_res_t res) {
  mps_arena_t arena = ap->pool->heap;
  size_t room = tdo_space_room(&arena->space);
  unsigned attempt = 0;

  while (tdo_shortage_collect(arena, res, &attempt))
    res = shortage_fill_once(p_o, ap, size);
  if (res != MPS_RES_OK && ap->pool->klass->moving)
    res = shortage_fill_leaving(p_o, ap, size, tdo_shortage_kept(arena, room));
  return res;
}

mps_res_t tdo_shortage_fill(mps_addr_t *p_o, tdo_ap_t *ap, size_t size) {
  mps_res_t res = shortage_fill_once(p_o, ap, size);

  if (TDO_UNLIKELY(res != MPS_RES_OK))
    res = shortage_fill_late(p_o, ap, size, res);
  return res;
}
