/* Testudo: which old segments move in a full collection (manual, "Tuning").
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/evacuate.h"
#include <string.h>

#define EVACUATE_BAND   (1.0 / 64)
#define EVACUATE_SPARSE 48   /* bands that move; more, if less room than */
#define EVACUATE_SHORT  0.25 /* of all memory is left */

void tdo_evacuate_begin(tdo_evacuate_t *evacuate) {
  memset(evacuate, 0, sizeof *evacuate);
  evacuate->least = 1;
}

void tdo_evacuate_found(tdo_evacuate_t *evacuate, size_t live, size_t size) {
  double share = (double)live / (double)size;

  if (share < TDO_EVACUATE_BANDS * EVACUATE_BAND) {
    evacuate->live[(int)(share / EVACUATE_BAND)] += (double)live;
    ++evacuate->count[(int)(share / EVACUATE_BAND)];
  }
  if (share < evacuate->least)
    evacuate->least = share;
}

double tdo_evacuate_share(const tdo_evacuate_t *evacuate, double room,
                          double most, double *part_o) {
  int band = 0, bands = room < EVACUATE_SHORT * most ? TDO_EVACUATE_BANDS
                                                     : EVACUATE_SPARSE;

  while (band < bands && evacuate->live[band] <= room)
    room -= evacuate->live[band++];
  /* One of them, at least? */
  *part_o = band < bands && room > 0 &&
                    room * evacuate->count[band] >= evacuate->live[band]
                ? room
                : 0;
  return band * EVACUATE_BAND;
}

bool tdo_evacuate_take(double *part_io, double share, size_t live,
                       size_t size) {
  if (*part_io < (double)live ||
      (double)live >= (share + EVACUATE_BAND) * (double)size)
    return false;
  *part_io -= (double)live;
  return true;
}
