/* Testudo: how large the generations of the arena's own chain are (manual,
   "Tuning"). SPDX-License-Identifier: BSD-2-Clause */
#include "trace/nursery.h"
#include "code/base.h"

#define NURSERY_LOW   0.125 /* of the heap, that the nursery has */
#define NURSERY_HIGH  0.25  /* at least, and at most; within these limits: */
#define NURSERY_FAIR  ((double)(8 << 20)) /* least may be, most may be (or as
                                             large as what else is copied) */
#define NURSERY_SMALL ((double)(384 << 10)) /* least that is fair, or the heap's
                                               size, if that is more */
#define NURSERY_TINY  ((double)(1 << 20))
#define NURSERY_MOST  ((double)(64 << 20))
#define NURSERY_LIMIT 0.0625 /* of the commit limit, at most, */
#define NURSERY_ROOM  0.125  /* and of what the heap leaves of it */
#define NURSERY_RATE  6.8e8 /* bytes copied in a second: the most, in a pause */
#define NURSERY_BESIDE 0.125 /* of what is scanned besides (.beside) */
#define MIDDLE_FAIR   ((double)(36 << 20)) /* for the middle generation, or the
                                             heap's size, */
#define MIDDLE_TIMES  4     /* or so many times the nursery's, if that is
                               less; */
#define MIDDLE_PART   0.125 /* at least this part of the nursery's, */
#define MIDDLE_SMALL  ((double)(8 << 20)) /* and what the heap has beyond
                                             this */

#define MIDDLE_DENSE  0.5   /* surviving share of it that makes it four times */
#define MIDDLE_GROW   0.15  /* as large, or twice, */
#define MIDDLE_SHRINK 0.05  /* and below which it is halved */

#define ADAPT_GROW    0.15 /* share of the time in collections that grows it; */
#define ADAPT_THRIFT  0.25 /* below NURSERY_FAIR, */
#define ADAPT_TINY    0.4  /* and below NURSERY_TINY, */
#define ADAPT_RUNS    3    /* times in a row */
#define ADAPT_SHRINK  0.03 /* and that shrinks it */
#define ADAPT_DEAD    0.3  /* dead share of a nursery that may grow, or */
#define ADAPT_FIXED   0.3  /* scanned besides, to what survived */
#define ADAPT_WORTH   0.85 /* of what a byte took before a trial, that it may
                              take at most after it */
#define ADAPT_LEAST   1.5  /* times a nursery's size, that a trial is of */
#define ADAPT_SEEN    3    /* judged by so many of each, of which */
#define ADAPT_NEAR    0.25 /* about the same share survived, give or take this
                              part of it, or */
#define ADAPT_NEAR_LEAST 0.02 /* this share; */
#define ADAPT_HOLD    8    /* else it does not grow for so many collections, */
#define ADAPT_HOLD_MOST 256 /* next time twice as many, up to this */

static double nursery_copied(const tdo_nursery_facts_t *facts) {
  return NURSERY_RATE * facts->pause_time;
}

/* The most that the commit limit allows: room to copy everything, or else a
   part of it. */
static double nursery_limited(const tdo_nursery_facts_t *facts) {
  double limit = facts->commit_limit, heap = facts->heap;
  double least =
      tdo_fmin(NURSERY_LIMIT * limit, NURSERY_ROOM * (limit - heap));

  return tdo_fmax(least, limit / 2 - heap);
}

/* What the nursery has a share of. */
static double nursery_whole(const tdo_nursery_facts_t *facts) {
  return facts->heap + facts->rooted;
}

double tdo_nursery_least(const tdo_nursery_facts_t *facts) {
  double fair = tdo_fmin(NURSERY_FAIR, nursery_copied(facts));
  double part = NURSERY_LOW * nursery_whole(facts);

  fair = tdo_fmin(fair, nursery_limited(facts));
  return tdo_fmax(tdo_fmin(part, fair), facts->least);
}

double tdo_nursery_most(const tdo_nursery_facts_t *facts) {
  double large = tdo_fmax(NURSERY_FAIR, facts->copied);
  double whole = nursery_whole(facts);
  double fair = tdo_fmin(tdo_fmax(whole, NURSERY_SMALL), large);
  double most = tdo_fmin(tdo_fmax(NURSERY_HIGH * whole, fair),
                         tdo_fmin(NURSERY_MOST, nursery_limited(facts)));

  return tdo_fmin(most,
                  tdo_fmax(nursery_copied(facts), tdo_nursery_least(facts)));
}

double tdo_nursery_beside(const tdo_nursery_facts_t *facts, double bytes) {
  double part = tdo_fmin(NURSERY_LOW * nursery_whole(facts), NURSERY_MOST);
  double most = tdo_fmin(nursery_copied(facts), nursery_limited(facts));

  return tdo_fmin(NURSERY_BESIDE * bytes, tdo_fmin(part, most));
}

double tdo_nursery_again(const tdo_nursery_facts_t *facts, double stayed) {
  return tdo_fmin(stayed, nursery_limited(facts));
}

void tdo_nursery_sizes(double *nursery_io, double *middle_io,
                       const tdo_nursery_facts_t *facts) {
  double most;

  *nursery_io = tdo_fmax(tdo_fmin(*nursery_io, tdo_nursery_most(facts)),
                         tdo_nursery_least(facts));
  most =
      tdo_fmin(tdo_fmin(facts->heap, MIDDLE_FAIR), MIDDLE_TIMES * *nursery_io);
  most = tdo_fmin(most, nursery_limited(facts));
  *middle_io = tdo_fmin(tdo_fmax(*middle_io, facts->old - MIDDLE_SMALL), most);
  *middle_io = tdo_fmax(*middle_io, tdo_nursery_again(facts, facts->stayed));
  *middle_io = tdo_fmax(*middle_io, (facts->unused ? 1 : MIDDLE_PART) *
                                        *nursery_io);
}

double tdo_nursery_middle(double capacity, double condemned, double survived) {
  if (survived > MIDDLE_DENSE * condemned)
    return 4 * capacity;
  if (survived > MIDDLE_GROW * condemned)
    return 2 * capacity;
  return survived < MIDDLE_SHRINK * condemned ? capacity / 2 : capacity;
}

void tdo_nursery_note(tdo_nursery_t *nursery, double ns, double bytes,
                      double survived) {
  if (nursery->seen++ == 0)
    nursery->ns = nursery->bytes = nursery->survived = 0;
  nursery->ns += ns;
  nursery->bytes += bytes;
  nursery->survived += survived;
}

/* Would a larger nursery make collections cheaper? When much of it was dead,
   or much else had to be scanned: not when nearly all of the work was for what
   survived. */
static bool nursery_growth_pays(const tdo_nursery_found_t *found) {
  return found->survived < (1 - ADAPT_DEAD) * found->condemned ||
         found->scanned - found->survived > ADAPT_FIXED * found->survived;
}

/* Did about the same share survive as before the trial? */
static bool nursery_comparable(const tdo_nursery_t *nursery) {
  double share = nursery->survived / nursery->bytes;
  double near = tdo_fmax(ADAPT_NEAR * nursery->share, ADAPT_NEAR_LEAST);

  return share >= nursery->share - near && share <= nursery->share + near;
}

/* A small nursery was doubled: stay with that if it made collecting a byte
   cheaper, else undo it. */
static double nursery_weigh(tdo_nursery_t *nursery, double capacity) {
  if (nursery->before == 0 || nursery->seen < ADAPT_SEEN)
    return capacity;
  if (nursery->ns <= ADAPT_WORTH * nursery->before * nursery->bytes ||
      !nursery_comparable(nursery)) {
    nursery->hold_next = 0;
  } else {
    nursery->hold_next = tdo_max(ADAPT_HOLD, tdo_min(ADAPT_HOLD_MOST,
                                                     2 * nursery->hold_next));
    nursery->hold = nursery->hold_next;
    nursery->seen = 0;
    capacity = nursery->from;
  }
  nursery->before = 0;
  return capacity;
}

/* Double a small one, up to MOST, if it is time to and the last trial is over;
   where it cannot be much larger there is nothing to try. */
static double nursery_try(tdo_nursery_t *nursery, double capacity,
                          double most) {
  if (++nursery->runs < ADAPT_RUNS || nursery->hold > 0 ||
      nursery->before != 0 || nursery->seen < ADAPT_SEEN)
    return capacity;
  if (most < ADAPT_LEAST * capacity)
    return tdo_fmax(capacity, most);
  nursery->from = capacity;
  nursery->before = nursery->ns / nursery->bytes;
  nursery->share = nursery->survived / nursery->bytes;
  nursery->runs = nursery->seen = 0;
  return tdo_fmin(2 * capacity, most);
}

/* The share of the time in collections that a nursery of CAPACITY is not to
   pass. */
static double nursery_share(double capacity) {
  if (capacity >= NURSERY_FAIR)
    return ADAPT_GROW;
  return capacity < NURSERY_TINY ? ADAPT_TINY : ADAPT_THRIFT;
}

double tdo_nursery_adapt(tdo_nursery_t *nursery, double capacity, double share,
                         const tdo_nursery_found_t *found) {
  bool small = capacity < NURSERY_FAIR;

  if (nursery->hold > 0)
    --nursery->hold;
  capacity = nursery_weigh(nursery, capacity);
  if (share <= nursery_share(capacity) || !nursery_growth_pays(found))
    nursery->runs = 0;
  else
    capacity =
        small ? nursery_try(nursery, capacity, found->most) : 2 * capacity;
  return share < ADAPT_SHRINK ? capacity / 2 : capacity;
}
