/* Testudo: when a small heap is collected as a whole (manual, "Tuning").
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/small.h"
#include "code/base.h"

#define SMALL_MOST   ((double)(16 << 20)) /* old bytes that may be copied */
#define SMALL_PART   0.5 /* of a nursery: as much old is no extra work, */
#define SMALL_GROWTH 1.5 /* times what survived the last time is worth it, */
#define SMALL_DENSE  0.9 /* or, if more than this share did, */
#define SMALL_BUILD  3.0 /* so many times that; */
#define SMALL_LAST   (0.9 * SMALL_MOST) /* this, if that is less */
#define SMALL_LOOSE  0.5 /* share of a heap that is room, to be rid of, */
#define SMALL_SIZE   ((double)(32 << 20)) /* if it has no more than that */
#define SMALL_RATE   4e8 /* bytes copied in a second, for predictions, in */
#define SMALL_PAUSE  0.6 /* this share of the pause time */

bool tdo_small_due(const tdo_small_t *small, double old, double capacity,
                   double pause) {
  double live = tdo_fmax(0, old - small->room);

  if (live > SMALL_MOST || live + capacity > SMALL_PAUSE * pause * SMALL_RATE)
    return false;
  return small->room > 0 || old <= SMALL_PART * capacity || old > small->most;
}

void tdo_small_collected(tdo_small_t *small, double old, double survived) {
  small->most = SMALL_GROWTH * survived;
  if (survived > SMALL_DENSE * old)
    small->most = tdo_fmax(small->most,
                           tdo_fmin(SMALL_BUILD * survived, SMALL_LAST));
  small->room = 0;
}

void tdo_small_marked(tdo_small_t *small, double size, double survived) {
  double room = size - survived;

  small->most = SMALL_GROWTH * survived;
  small->room = size <= SMALL_SIZE && room > SMALL_LOOSE * size ? room : 0;
}
