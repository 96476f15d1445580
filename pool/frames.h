/* Testudo: allocation frames of manual pools: a frame is the place in the
   buffer where allocation stood; to pop it is to go back there, if the buffer
   is still the same and nothing since then was freed on its own.
   SPDX-License-Identifier: BSD-2-Clause

   Addresses come again in later buffers, whose blocks may lie otherwise. So
   the places of each buffer of these pools, its limit included, have numbers
   that no other in the arena ever had, and a frame is such a number; null where
   the point had no buffer. */
#ifndef TDO_POOL_FRAMES_H
#define TDO_POOL_FRAMES_H

#include "pool/freelist.h"

/* As tdo_ap_attach, for the pools that have these frames. */
void tdo_frames_attach(tdo_ap_t *ap, tdo_extent_t *extent, char *base,
                       char *limit);
/* The point gives its buffer back. */
void tdo_frames_detach(tdo_ap_t *ap);
mps_res_t tdo_frames_push(mps_frame_t *frame_o, tdo_ap_t *ap);
mps_res_t tdo_frames_pop(tdo_ap_t *ap, mps_frame_t frame);
/* [BASE, LIMIT), blocks in EXTENT, was freed: no point goes back over them.
   Linear in the points with frames in their buffers there. */
void tdo_frames_freed(tdo_extent_t *extent, const char *base, char *limit);
/* EXTENT ceases: all blocks of the buffers there were freed. */
void tdo_frames_leave(tdo_extent_t *extent);

#endif /* TDO_POOL_FRAMES_H */
