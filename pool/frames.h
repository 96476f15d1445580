/* Testudo: allocation frames of manual pools: a frame is the place in the
   buffer where allocation stood; to pop it is to go back there, if the buffer
   is still the same and nothing since then was freed on its own.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_POOL_FRAMES_H
#define TDO_POOL_FRAMES_H

#include "trace/pool.h"

mps_res_t tdo_frames_push(mps_frame_t *frame_o, tdo_ap_t *ap);
mps_res_t tdo_frames_pop(tdo_ap_t *ap, mps_frame_t frame);
/* [BASE, LIMIT), a block in segment SEG, was freed: no point goes back over
   it. Linear in the pool's points; not needed before the first push. */
void tdo_frames_freed(tdo_pool_t *pool, const void *seg, const char *base,
                      char *limit);

#endif /* TDO_POOL_FRAMES_H */
