/* Testudo: when a small heap is collected as a whole (manual, "Tuning").
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/small.h"
#include "code/base.h"

#define SMALL_MOST  ((double)(8 << 20)) /* old bytes that may be looked at, */
#define SMALL_LIVE  ((double)(4 << 20)) /* and that may survive, or */
#define SMALL_DENSE 0.7 /* this share of the old, if that is less, where these */
#define SMALL_PART  0.5 /* are more than this part of a nursery; else there are */
#define SMALL_HOLD_MOST 64u /* minor collections first, at most */
#define SMALL_LOOSE     0.5 /* share of a heap that is room, to be rid of, */
#define SMALL_SIZE      ((double)(32 << 20)) /* if it has no more than that */
#define SMALL_RATE  4e8  /* bytes copied in a second, for predictions, in */
#define SMALL_PAUSE 0.25 /* this share of the pause time */

bool tdo_small_due(tdo_small_t *small, double old, double capacity,
                   double pause) {
  double live = tdo_fmax(0, old - small->room);

  if (live > SMALL_MOST || live + capacity > SMALL_PAUSE * pause * SMALL_RATE)
    return false;
  if (small->hold == 0 || small->room > 0)
    return true;
  --small->hold;
  return false;
}

void tdo_small_collected(tdo_small_t *small, double old, double survived,
                         double capacity) {
  bool dense = old > SMALL_PART * capacity &&
               survived > tdo_fmin(SMALL_DENSE * old, SMALL_LIVE);

  small->hold_next =
      dense ? tdo_max(1, tdo_min(2 * small->hold_next, SMALL_HOLD_MOST)) : 0;
  small->hold = small->hold_next;
  small->room = 0;
}

void tdo_small_marked(tdo_small_t *small, double size, double survived) {
  double room = size - survived;

  small->room = size <= SMALL_SIZE && room > SMALL_LOOSE * size ? room : 0;
}
