/* Testudo: allocation points.
   SPDX-License-Identifier: BSD-2-Clause */
#include <stdatomic.h>
#include <string.h>
#include "code/check.h"
#include "code/event.h"
#include "code/platform.h"
#include "trace/heap.h"

bool tdo_ap_check(const tdo_ap_t *ap) {
  TDO_CHECK(ap != NULL && ap->sig == TDO_AP_SIG);
  if (ap->seg != NULL && !ap->trapped) { /* .protocol */
    TDO_CHECK(ap->base <= (char *)ap->pub.init);
    TDO_CHECK((char *)ap->pub.init <= (char *)ap->pub.alloc);
    TDO_CHECK((char *)ap->pub.alloc <= ap->limit);
  }
  return true;
}

char *tdo_ap_settled(const tdo_ap_t *ap) {
  char *end;

  if (!TDO_STORES_IN_ORDER && !ap->pool->heap->postmortem)
    tdo_threads_stop(ap->pool->heap);
  end = tdo_ap_committed(ap);
  atomic_signal_fence(memory_order_acquire); /* read once, and first */
  return end;
}

mps_res_t tdo_ap_create(tdo_ap_t **ap_o, tdo_pool_t *pool, mps_arg_s args[]) {
  mps_arena_t heap = pool->heap;
  tdo_ap_t *ap;
  void *p;
  mps_res_t res = tdo_control_alloc(&p, &heap->control, sizeof *ap);

  if (res != MPS_RES_OK)
    return res;
  ap = p;
  memset(ap, 0, sizeof *ap);
  ap->pool = pool;
  ap->rank = TDO_RANK_EXACT;
  tdo_ring_init(&ap->pool_ring);
  tdo_ring_init(&ap->framed_ring);
  if (pool->klass->ap_init != NULL) {
    res = pool->klass->ap_init(ap, args);
    if (res != MPS_RES_OK) {
      tdo_control_free(&heap->control, ap, sizeof *ap);
      return res;
    }
  }
  tdo_ring_append(&pool->aps, &ap->pool_ring);
  tdo_pool_pointed(pool);
  ap->sig = TDO_AP_SIG;
  TDO_EVENT(POOL, AP_CREATE, (tdo_word_t)pool, (tdo_word_t)&ap->pub);
  *ap_o = ap;
  return MPS_RES_OK;
}

void tdo_ap_attach(tdo_ap_t *ap, void *seg, char *base, char *limit) {
  TDO_CHECK(ap->seg == NULL && base < limit);
  ap->seg = seg;
  ap->base = ap->counted = base;
  ap->limit = limit;
  ap->trapped = ap->whole = false;
  ap->pub.init = ap->pub.alloc = base;
  ap->pub.limit = limit;
}

/* How far the client may reserve without asking: where each block is to be a
   chance to collect, not at all. */
static char *ap_limit(const tdo_ap_t *ap) {
  return ap->pool->heap->stress.blocks ? (char *)ap->pub.alloc : ap->limit;
}

void tdo_ap_resume(tdo_ap_t *ap) {
  if (!ap->trapped)
    return;
  if (ap->seg == NULL)
    ap->base = ap->frozen = ap->limit = NULL;
  ap->pub.init = ap->pub.alloc = ap->frozen;
  if (ap->seg != NULL && ap->whole) /* who comes back to fill gets it */
    return;
  ap->trapped = false;
  ap->pub.limit = ap_limit(ap);
}

/* Can the rest of the buffer be given to a block of SIZE bytes? */
static bool ap_fits(const tdo_ap_t *ap, size_t size) {
  size_t rest = (size_t)(ap->limit - (char *)ap->pub.alloc);

  return ap->whole ? size == rest : size <= rest;
}

/* What the client committed since the last look is objects, one behind the
   other: a wrong size is noticed here, where it is known what it should be, and
   not when the collector loses its way. */
static void ap_check_objects(tdo_ap_t *ap, char *limit) {
  const tdo_pool_t *pool = ap->pool;
  char *p = ap->counted;

  if (!TDO_COOL || p >= limit || !pool->klass->automatic ||
      pool->format == NULL || !tdo_format_skips(pool->format))
    return;
  tdo_gcseg_expose(ap->seg, p, limit);
  while (p < limit)
    p = tdo_format_next(pool->format, p);
  tdo_gcseg_cover(ap->seg, ap->counted, limit);
  TDO_ASSERT(p == limit, "objects do not fill what was committed: the skip "
                         "method gives another size than was reserved");
}

static void ap_empty(tdo_ap_t *ap, char *init) {
  ap_check_objects(ap, init);
  ap->pool->klass->empty(ap->pool, ap, init, ap->limit);
}

void tdo_ap_detach(tdo_ap_t *ap) {
  if (ap->seg != NULL)
    ap_empty(ap, tdo_ap_committed(ap));
  ap->seg = NULL;
  ap->base = ap->limit = NULL;
  ap->trapped = false;
  ap->pub.init = ap->pub.alloc = ap->pub.limit = NULL;
}

void tdo_ap_trap(tdo_ap_t *ap) {
  if (ap->seg == NULL || ap->trapped)
    return;
  /* Only `limit` may change: the mutator may be anywhere (.protocol). */
  ap->frozen = ap->pub.init;
  ap->trapped = true;
  ap->pub.limit = NULL;
  /* Unless nothing more can be reserved in it, or it is to have another one.
     Else someone may be about to: this thread, too, if this is a signal's
     handler. */
  if (ap->frozen == ap->limit || ap == ap->pool->heap->filling) {
    ap_empty(ap, ap->frozen);
    ap->seg = NULL;
  }
}

void tdo_ap_destroy(tdo_ap_t *ap) {
  mps_arena_t heap = ap->pool->heap;

  TDO_ASSERT(!tdo_ap_reserved(ap),
             "an allocation point was destroyed between reserve and commit");
  for (; ap->ramps > 0; --ap->ramps)
    if (ap->pool->klass->ramp != NULL)
      ap->pool->klass->ramp(ap, false, false);
  if (ap->pool->klass->ap_finish != NULL)
    ap->pool->klass->ap_finish(ap);
  tdo_ap_detach(ap);
  tdo_ring_remove(&ap->pool_ring);
  ap->sig = TDO_SIG_DEAD;
  TDO_EVENT(POOL, AP_DESTROY, (tdo_word_t)&ap->pub);
  tdo_control_free(&heap->control, ap, sizeof *ap);
}

mps_res_t tdo_ap_fill(mps_addr_t *p_o, tdo_ap_t *ap, size_t size) {
  mps_res_t res;

  tdo_ap_resume(ap);
  /* The function form of reserve comes here even when the block fits, and so
     does each block under stress (ap_limit). */
  if (ap->seg == NULL || !ap_fits(ap, size)) {
    tdo_ap_detach(ap);
    res = ap->pool->klass->fill(ap->pool, ap, size);
    if (res != MPS_RES_OK)
      return res;
    TDO_EVENT(OBJECT, FILL, (tdo_word_t)&ap->pub, (tdo_word_t)ap->base,
              (tdo_word_t)(ap->limit - ap->base));
  }
  *p_o = ap->pub.init;
  ap->pub.alloc = (char *)ap->pub.alloc + size;
  ap->trapped = false;
  ap->pub.limit = ap_limit(ap);
  return MPS_RES_OK;
}

bool tdo_ap_trip(tdo_ap_t *ap, mps_addr_t p, size_t size) {
  bool valid = !ap->trapped;

  (void)p, (void)size;
  tdo_ap_resume(ap);
  return valid;
}
