/* Testudo: allocation frames of manual pools.
   SPDX-License-Identifier: BSD-2-Clause */
#include "pool/frames.h"

mps_res_t tdo_frames_push(mps_frame_t *frame_o, tdo_ap_t *ap) {
  *frame_o = (mps_frame_t)ap->pub.init;
  return MPS_RES_OK;
}

mps_res_t tdo_frames_pop(tdo_ap_t *ap, mps_frame_t frame) {
  char *at = (char *)frame;

  if (ap->seg != NULL && ap->base <= at && at <= (char *)ap->pub.init)
    ap->pub.init = ap->pub.alloc = at;
  return MPS_RES_OK;
}

void tdo_frames_freed(tdo_pool_t *pool, const void *seg, const char *base,
                      char *limit) {
  TDO_RING_FOR(node, &pool->aps) {
    tdo_ap_t *ap = TDO_RING_ENTRY(tdo_ap_t, pool_ring, node);
    if (ap->seg == seg && base >= ap->base && base < (char *)ap->pub.init)
      ap->base = limit;
  }
}
