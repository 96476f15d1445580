/* Testudo: how long the collector may keep the program waiting.
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/pause.h"
#include "code/clock.h"

#define PAUSE_MOST  1e6    /* seconds; longer: no limit */
#define PAUSE_SHARE 0.8    /* of the pause time, until work ends: what ends a
                              pause, and what the program does, takes time */
#define PAUSE_MINOR 0.9    /* the same, for the first one of a minor
                              collection, */
#define PAUSE_TAIL  0.7e6  /* less nanoseconds that it runs over, and at most */
#define PAUSE_OVER  0.1    /* this share */
#define PAUSE_LEAST 0.005  /* the same, for any pause: many hits may follow */
#define PAUSE_LATE  0.2    /* the same, at most, where the program got more than
                              it should meanwhile (.late) */
#define PAUSE_SLICE 0.1    /* the same, for a slice that no hit asked for */
#define PAUSE_REACH 0.1    /* the same, to open pages that were not asked
                              for; */
#define PAGE_OPENED 100    /* nanoseconds for each; */
#define REACH_LEAST 512    /* so many in any case */
#define PAUSE_CLOSE 0.06   /* nanoseconds to close a byte that is to be
                              scanned, */
#define PAUSE_HIDE  0.02   /* where much is closed by moving it away */

#define ONCE_RATE  5.5e8 /* bytes to a second of pause time that need no
                            slices: half of what is copied, or less */
#define WEAK_PAUSE 0.006 /* seconds, by that, that are short enough (.weak), */
#define WEAK_YOUNG 0.25  /* this part of them for the nursery */
#define WEAK_LEAST 64u   /* collections until slices are tried again, twice */
#define WEAK_MOST  65536u /* as many each time, up to this */

#define PAUSE_TENURE 0.25  /* share that must be left for a promotion */
#define TENURE_PART  1048576 /* bytes promoted then, at least */

#define PAUSE_AHEAD 0.2    /* share, to condemn ahead of the flip in */
#define PAUSE_FLIP  0.01   /* nanoseconds a byte for the flip then, which is
                              more than it takes; but no more than */
#define PAUSE_ALONE 0.75   /* this share */
#define PAUSE_START 0.5    /* share for the flip, until what can be left is */

void tdo_pause_set_time(tdo_heap_t *heap, double seconds) {
  heap->pause_time = seconds;
  tdo_pause_set_reach(heap);
}

/* Is the pause time any limit? */
static bool pause_limited(const tdo_heap_t *heap) {
  return heap->pause_time <= PAUSE_MOST;
}

bool tdo_pause_slices(const tdo_heap_t *heap) {
  return tdo_heap_guarded(heap) && pause_limited(heap);
}

double tdo_pause_ns(const tdo_heap_t *heap) {
  return tdo_fmin(heap->pause_time, 1) * 1e9;
}

/* Nanoseconds that a pause which begins at BEGUN may take (.close). */
static double pause_allowance(const tdo_heap_t *heap, uint64_t begun) {
  return tdo_fmin(heap->pause_left + (double)(begun - heap->pause_ended),
                  PAUSE_SHARE * heap->pause_time * 1e9);
}

/* Nanoseconds from NOW that it may last; few, if it has lasted too long. */
static double pause_left(const tdo_heap_t *heap, uint64_t now) {
  uint64_t begun = heap->session_ns != 0 ? heap->session_ns : now;
  double left = pause_allowance(heap, begun) - (double)(now - begun);

  return tdo_fmax(left, PAUSE_LEAST * heap->pause_time * 1e9);
}

bool tdo_pause_weak(const tdo_heap_t *heap) {
  return heap->weak_left > 0 && heap->pause_time < WEAK_PAUSE &&
         heap->small_most > 0 && heap->stress.each == 0;
}

double tdo_pause_once(const tdo_heap_t *heap) {
  return ONCE_RATE * (tdo_pause_weak(heap) ? WEAK_PAUSE : heap->pause_time);
}

uint64_t tdo_pause_weak_deadline(void) {
  return tdo_clock_ns() + (uint64_t)(WEAK_PAUSE * 1e9);
}

double tdo_pause_young(const tdo_heap_t *heap) {
  return tdo_pause_weak(heap)
             ? tdo_fmax(heap->pause_time, WEAK_YOUNG * WEAK_PAUSE)
             : heap->pause_time;
}

void tdo_pause_weak_met(tdo_heap_t *heap) {
  if (heap->weak_left == 0)
    heap->weak_next =
        tdo_min(WEAK_MOST, tdo_max(WEAK_LEAST, 2 * heap->weak_next));
  heap->weak_left = heap->weak_next;
}

void tdo_pause_weak_comes(tdo_heap_t *heap) {
  if (heap->weak_next == 0) /* more points tell nothing new */
    tdo_pause_weak_met(heap);
}

void tdo_pause_collected(tdo_heap_t *heap) {
  if (heap->weak_left > 0)
    --heap->weak_left;
}

uint64_t tdo_pause_late_deadline(const tdo_heap_t *heap, double late) {
  double share = tdo_fmin(PAUSE_LEAST * late * late, PAUSE_LATE);
  double least = share * heap->pause_time * 1e9;
  uint64_t now = tdo_clock_ns();

  return pause_limited(heap)
             ? now + (uint64_t)tdo_fmax(pause_left(heap, now), least)
             : 0;
}

uint64_t tdo_pause_deadline(const tdo_heap_t *heap) {
  return tdo_pause_late_deadline(heap, 0);
}

/* A minor collection gets more of the pause time, since to go on in slices
   costs more than the rest of most. */
uint64_t tdo_pause_first_deadline(const tdo_heap_t *heap) {
  const tdo_trace_t *trace = &heap->trace;
  double rate = tdo_shield_hides(&heap->shield) ? PAUSE_HIDE : PAUSE_CLOSE;
  double closing = rate * (double)(trace->condemned + trace->owed);
  double pause = heap->pause_time * 1e9;
  uint64_t deadline = tdo_pause_deadline(heap);

  if (!trace->full)
    deadline += (uint64_t)((PAUSE_MINOR - PAUSE_SHARE) * pause);
  closing += tdo_fmin(PAUSE_TAIL, PAUSE_OVER * pause);
  return tdo_max(deadline - (uint64_t)tdo_fmin(closing, pause),
                 tdo_clock_ns() + (uint64_t)(PAUSE_LEAST * pause));
}

double tdo_pause_slice_ns(const tdo_heap_t *heap) {
  return PAUSE_SLICE * tdo_pause_ns(heap);
}

size_t tdo_pause_promotes(const tdo_heap_t *heap, double bytes) {
  double left;

  if (!pause_limited(heap))
    return SIZE_MAX;
  left = pause_left(heap, tdo_clock_ns());
  return left < PAUSE_TENURE * tdo_pause_ns(heap) && left < PAUSE_CLOSE * bytes
             ? 0
             : (size_t)tdo_fmax(TENURE_PART, left / PAUSE_CLOSE);
}

bool tdo_pause_has_flip(const tdo_heap_t *heap) {
  return pause_left(heap, tdo_clock_ns()) >=
         tdo_fmin(PAUSE_FLIP * heap->top.size,
                  PAUSE_ALONE * tdo_pause_ns(heap));
}

uint64_t tdo_pause_flip_deadline(const tdo_heap_t *heap) {
  return tdo_pause_slices(heap) && !heap->explicit_collect
             ? heap->trace.started +
                   (uint64_t)(PAUSE_START * heap->pause_time * 1e9)
             : 0;
}

uint64_t tdo_pause_ahead_deadline(const tdo_heap_t *heap) {
  return tdo_clock_ns() + (uint64_t)(PAUSE_AHEAD * tdo_pause_ns(heap));
}

void tdo_pause_over(tdo_heap_t *heap, uint64_t begun, uint64_t ended) {
  heap->pause_left =
      tdo_fmax(0, pause_allowance(heap, begun) - (double)(ended - begun));
  heap->pause_ended = ended;
}

void tdo_pause_set_reach(tdo_heap_t *heap) {
  if (heap->shielded)
    tdo_shield_set_reach(
        &heap->shield,
        tdo_max((size_t)(PAUSE_REACH * tdo_pause_ns(heap) / PAGE_OPENED),
                REACH_LEAST));
}
