/* Testudo: when a small heap is collected as a whole (manual, "Tuning").
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/small.h"
#include "code/base.h"

#define SMALL_MOST   ((double)(16 << 20)) /* old bytes that may be copied, */
#define SMALL_MORE   ((double)(40 << 20)) /* or this where it is no more work, */
#define SMALL_MINOR  6.0 /* so many times what a minor collection looks at, */
#define SMALL_SPARSE 0.8 /* and at most this share survived the last time */
#define SMALL_PART   0.5 /* of a nursery: as much old is no extra work, */
#define SMALL_GROWTH 1.5 /* times what survived the last time is worth it, */
#define SMALL_DENSE  0.9 /* or, if more than this share did, */
#define SMALL_BUILD  3.0 /* so many times that; */
#define SMALL_LAST   (0.9 * SMALL_MOST) /* this, if that is less */
#define SMALL_LOOSE  0.5 /* share of a heap that is room, to be rid of, */
#define SMALL_SIZE   ((double)(64 << 20)) /* if it has no more than that */
#define SMALL_RATE   1e9 /* bytes copied in a second, for predictions, in */
#define SMALL_PAUSE  0.7 /* this share of the pause time */

#define INSTEAD_LIVE 1.25 /* times what lived the last time may do so now, */
#define INSTEAD_PART 0.6  /* if that is at most this share of old bytes, of */
#define INSTEAD_MOST ((double)(192 << 20)) /* which there are no more than that, */
#define INSTEAD_RATE 1e9  /* and can be copied with a nursery in a pause, so many
                             bytes in a second; */
#define INSTEAD_ALL  2e9  /* the same of all, since even that may live, and be
                             copied in the flip */

/* May LIVE bytes of old objects be copied with a nursery? */
static bool small_fits(double live, const tdo_small_facts_t *facts) {
  return live + facts->nursery <= SMALL_PAUSE * facts->pause * SMALL_RATE;
}

/* Is that hardly more work than a minor collection (.alike)? */
static bool small_alike(const tdo_small_t *small, double live,
                        const tdo_small_facts_t *facts) {
  return small->sparse && live <= SMALL_MORE &&
         live <= SMALL_MINOR * facts->minor;
}

bool tdo_small_due(const tdo_small_t *small, const tdo_small_facts_t *facts) {
  double old = facts->old, live = tdo_fmax(0, old - small->room);

  if (!small_fits(live, facts) ||
      (live > SMALL_MOST && !small_alike(small, live, facts)))
    return false;
  return small->room > 0 || old <= SMALL_PART * facts->nursery ||
         old > small->most;
}

bool tdo_small_instead(const tdo_small_t *small,
                       const tdo_small_facts_t *facts) {
  double live = INSTEAD_LIVE * facts->alive;

  return small->sparse && live <= INSTEAD_PART * facts->old &&
         facts->old <= INSTEAD_MOST &&
         live + facts->nursery <= facts->pause * INSTEAD_RATE &&
         facts->old + facts->nursery <= facts->pause * INSTEAD_ALL;
}

void tdo_small_collected(tdo_small_t *small, double old, double survived) {
  small->most = SMALL_GROWTH * survived;
  if (survived > SMALL_DENSE * old)
    small->most = tdo_fmax(small->most,
                           tdo_fmin(SMALL_BUILD * survived, SMALL_LAST));
  small->room = 0;
  small->sparse = survived <= SMALL_SPARSE * old;
}

void tdo_small_marked(tdo_small_t *small, double size, double survived) {
  double room = size - survived;

  small->most = SMALL_GROWTH * survived;
  small->room = size <= SMALL_SIZE && room > SMALL_LOOSE * size ? room : 0;
  small->sparse = survived <= SMALL_SPARSE * size;
}
