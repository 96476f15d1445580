/* Testudo: tracking writes on platforms that cannot.
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/platform.h"
#include "code/track.h"

#if TDO_PF_GENERIC

mps_res_t tdo_track_open(tdo_track_t *track, const char **why_o) {
  (void)track;
  *why_o = "this platform has no tracking of writes";
  return MPS_RES_FAIL;
}

#endif /* TDO_PF_GENERIC */
