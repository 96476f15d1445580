/* Testudo: when a small heap is collected as a whole (manual, "Tuning").
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/small.h"
#include "code/base.h"

#define SMALL_MORE   5.0 /* times what may be copied, where that is no more
                            work, */
#define SMALL_MINOR  6.0 /* so many times what a minor collection looks at, */
#define SMALL_SPARSE 0.8 /* and at most this share survived the last time */
#define SMALL_PART   0.5 /* of a nursery: as much old is no extra work, */
#define SMALL_GROWTH 1.5 /* times what survived the last time is worth it, */
#define SMALL_DENSE  0.9 /* or, if more than this share did, */
#define SMALL_BUILD  3.0 /* so many times that; */
#define SMALL_LAST   (0.9 * (16 << 20)) /* this, if that is less */
#define SMALL_QUICK  ((double)(8 << 20)) /* or, from so much on, some of which
                                            had died, if that takes hardly
                                            longer than a minor one */
#define SMALL_LOOSE  0.5 /* share of a heap that is room, to be rid of, */
#define SMALL_SIZE   ((double)(256 << 20)) /* if it has no more than that */
#define SMALL_RATE   8.5e8 /* bytes of old objects, to a second of pause time:
                              1.25 times the largest nursery (nursery.c) */

#define WEAK_LIVE    2.0 /* times what lived the last time, when little of it
                            had died */

#define INSTEAD_LIVE 1.25 /* times what lived the last time may do so now, */
#define INSTEAD_PART 0.8  /* if that is at most this share of old bytes, of */
#define INSTEAD_MOST ((double)(1 << 30)) /* which there are no more than
                                            that, */
#define INSTEAD_RATE 2e10 /* and to a second of pause time, with a nursery: of
                             which more is copied in the flip */
#define FLIP_MARKED  25.0 /* times as long as one that copied nothing is the
                             flip of one that does */
#define SOON_ROOM    0.4  /* share of a heap that is room, for the next one
                             to */
#define SOON_GROWTH  0.5  /* come when so much of what lived has been added,
                             or */
#define SOON_LEAST   ((double)(16 << 20)) /* this, if that is more */

/* Can LIVE bytes of old objects be copied each time that a nursery is full? */
static bool small_fits(double live, const tdo_small_facts_t *facts) {
  return live <= SMALL_RATE * facts->pause;
}

/* What of the old is taken to live when everything is copied. */
static double small_live(const tdo_small_t *small,
                         const tdo_small_facts_t *facts) {
  double live = tdo_fmax(0, facts->old - small->room);

  if (!facts->weak || facts->alive <= 0) /* nothing is known yet */
    return live;
  return tdo_fmin(live,
                  (small->sparse ? INSTEAD_LIVE : WEAK_LIVE) * facts->alive);
}

/* Is that hardly more work than a minor collection (.alike)? */
static bool small_alike(const tdo_small_t *small, double live,
                        const tdo_small_facts_t *facts) {
  live = tdo_fmin(live, INSTEAD_LIVE * facts->alive);
  return small->sparse && live <= SMALL_MORE * facts->most &&
         live <= SMALL_MINOR * facts->minor;
}

bool tdo_small_due(const tdo_small_t *small, const tdo_small_facts_t *facts) {
  double old = facts->old, live = small_live(small, facts);

  if (facts->most <= 0)
    return false;
  if (!(facts->weak && tdo_small_at_once(small, facts)) &&
      (!small_fits(live, facts) ||
       (live > facts->most && !small_alike(small, live, facts))))
    return false;
  return small->room > 0 || old <= SMALL_PART * facts->nursery ||
         old > small->most ||
         (facts->quick && small->sparse && old >= SMALL_QUICK);
}

bool tdo_small_instead(const tdo_small_t *small,
                       const tdo_small_facts_t *facts) {
  double live = INSTEAD_LIVE * tdo_fmax(facts->alive, facts->built);

  return (small->sparse || facts->built > 0) &&
         live <= INSTEAD_PART * facts->old && facts->old <= INSTEAD_MOST &&
         small->flip * live <= facts->pause &&
         facts->old + facts->nursery <= facts->pause * INSTEAD_RATE;
}

bool tdo_small_at_once(const tdo_small_t *small,
                       const tdo_small_facts_t *facts) {
  double young = facts->weak ? facts->nursery
                             : tdo_fmax(facts->nursery, facts->young);

  return small_live(small, facts) + young <= facts->once;
}

bool tdo_small_soon(const tdo_small_t *small, double alive, double fresh) {
  return small->loose && fresh > tdo_fmax(SOON_GROWTH * alive, SOON_LEAST);
}

void tdo_small_flipped(tdo_small_t *small, double seconds, double alive,
                       bool copied) {
  double each = seconds / tdo_fmax(alive, 1);

  if (copied) {
    small->flip = small->last > 0 ? tdo_fmin(each, small->last) : each;
    small->last = each;
  } else if (small->last <= 0) {
    small->flip = FLIP_MARKED * each;
  }
}

void tdo_small_collected(tdo_small_t *small, double old, double survived) {
  small->most = SMALL_GROWTH * survived;
  if (survived > SMALL_DENSE * old)
    small->most = tdo_fmax(small->most,
                           tdo_fmin(SMALL_BUILD * survived, SMALL_LAST));
  small->room = 0;
  small->loose = false;
  small->sparse = survived <= SMALL_SPARSE * old;
}

void tdo_small_marked(tdo_small_t *small, double size, double survived) {
  double room = size - survived;

  small->most = SMALL_GROWTH * survived;
  small->room = size <= SMALL_SIZE && room > SMALL_LOOSE * size ? room : 0;
  small->loose = room > SOON_ROOM * size;
  small->sparse = survived <= SMALL_SPARSE * size;
}
