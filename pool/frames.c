/* Testudo: allocation frames of manual pools.
   SPDX-License-Identifier: BSD-2-Clause */
#include "pool/frames.h"
#include "trace/heap.h"

void tdo_frames_attach(tdo_ap_t *ap, tdo_extent_t *extent, char *base,
                       char *limit) {
  mps_arena_t heap = ap->pool->heap;

  tdo_ap_attach(ap, extent, base, limit);
  ap->frame_shift = heap->frame_last + 1 - (tdo_word_t)base;
  heap->frame_last = ap->frame_shift + (tdo_word_t)limit;
}

void tdo_frames_detach(tdo_ap_t *ap) {
  tdo_ring_remove(&ap->framed_ring);
}

mps_res_t tdo_frames_push(mps_frame_t *frame_o, tdo_ap_t *ap) {
  tdo_extent_t *extent = ap->seg;

  /* Of a buffer that is used up the blocks may be free, and the extent gone. */
  if (extent == NULL || ap->pub.init == ap->limit) {
    *frame_o = NULL;
    return MPS_RES_OK;
  }
  *frame_o = (mps_frame_t)((tdo_word_t)ap->pub.init + ap->frame_shift);
  tdo_ring_remove(&ap->framed_ring);
  tdo_ring_append(&extent->framed, &ap->framed_ring);
  return MPS_RES_OK;
}

mps_res_t tdo_frames_pop(tdo_ap_t *ap, mps_frame_t frame) {
  tdo_word_t at = (tdo_word_t)frame - ap->frame_shift;

  if (ap->seg != NULL && (tdo_word_t)ap->base <= at &&
      at <= (tdo_word_t)ap->pub.init)
    ap->pub.init = ap->pub.alloc = (mps_addr_t)at;
  return MPS_RES_OK;
}

/* The points are other threads', which go on, but not before the blocks. */
TDO_NO_SANITIZE void tdo_frames_freed(tdo_extent_t *extent, const char *base,
                                      char *limit) {
  TDO_RING_FOR(node, &extent->framed) {
    tdo_ap_t *ap = TDO_RING_ENTRY(tdo_ap_t, framed_ring, node);
    char *init = ap->pub.init;
    if (limit > ap->base && base < init)
      ap->base = limit < init ? limit : init;
  }
}

void tdo_frames_leave(tdo_extent_t *extent) {
  while (!tdo_ring_empty(&extent->framed))
    tdo_ring_remove(extent->framed.next);
}
