/* Testudo: when a small heap is collected as a whole (manual, "Tuning").
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/small.h"
#include "code/base.h"

#define SMALL_MOST  ((double)(4 << 20)) /* old bytes of a small heap */
#define SMALL_RATE  4e8  /* bytes copied in a second, for predictions, in */
#define SMALL_PAUSE 0.25 /* this share of the pause time */
#define SMALL_DENSE 0.7  /* surviving share of the old, if that is more than  \
                          */
#define SMALL_PART      0.5 /* this part of the nursery, from which there are */
#define SMALL_HOLD_MOST 64u /* minor collections first, at most */

bool tdo_small_due(tdo_small_t *small, double old, double capacity,
                   double pause) {
  if (old > SMALL_MOST || old + capacity > SMALL_PAUSE * pause * SMALL_RATE)
    return false;
  if (small->hold == 0)
    return true;
  --small->hold;
  return false;
}

void tdo_small_collected(tdo_small_t *small, double old, double survived,
                         double capacity) {
  bool dense = old > SMALL_PART * capacity && survived > SMALL_DENSE * old;

  small->hold_next =
      dense ? tdo_max(1, tdo_min(2 * small->hold_next, SMALL_HOLD_MOST)) : 0;
  small->hold = small->hold_next;
}
