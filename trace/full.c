/* Testudo: when a full collection is due (manual, "Tuning").
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/full.h"
#include <math.h>
#include "code/base.h"

#define FULL_GROWTH 1.0  /* heap growth that makes a full collection due */
#define FULL_DENSE  0.75 /* more than this share survived: once more */
#define FULL_SOLID  0.95 /* and once more; then .build may hold */
#define FULL_FIRST  ((double)(16 << 20)) /* promoted, for the first one, */
#define FULL_CHEAP  ((double)(4 << 20))  /* and for cheap ones, */
#define FULL_MINOR  2.0  /* that scan so many times what minor ones do */
#define FULL_MIX    0.25 /* weight of the last one in what those do */
#define FULL_ROOM   0.5 /* of the heap besides what survived counts as that */

#define PAID_GROWTH 0.5 /* growth without which .paid does not hold */

#define EASY_GROWTH 0.25 /* growth without which .easy does not hold, */
#define EASY_REST   30.0 /* times as long as one takes, between two; */
#define EASY_FOUND  0.1  /* of what was promoted was dead, or twice as long, */
#define EASY_VAIN   4u   /* so many times */

#define BUILD_GROWTH 5.0 /* growth while .build holds, or */
#define BUILD_SHARE  (1.0 / 16) /* this share of what memory the system has, */
#define BUILD_MOST   0.25 /* and at most this one */
#define BUILD_PAGES  (256 * 4096.0) /* bytes scanned for each write that may
                                       be, */
#define BUILD_NEW    (1024 * 4096.0) /* and bytes promoted */
#define BUILD_ROOTS  (1.0 / 16) /* of what survived, in roots */
#define BUILD_LET_GO 4 /* times that words may do so */
#define BUILD_ENDED  0.1 /* of what survived, built since: .ended */
#define BUILD_MUCH   4.0 /* times that, beside which the rest is little */

void tdo_full_minor(tdo_full_t *full, double scanned, double ns) {
  full->spent += ns;
  full->minor += FULL_MIX * (scanned - full->minor);
}

/* What must have been promoted, FRESH bytes, for a full collection of a small
   heap: as much of that is taken to live as the last one found. */
static double full_least(const tdo_full_t *full, double fresh) {
  double cost;

  if (full->filled == 0)
    return FULL_FIRST;
  cost = full->scanned * (1 + fresh / full->filled);
  return cost <= FULL_MINOR * full->minor ? FULL_CHEAP : TDO_FULL_LEAST;
}

/* .paid */
static bool full_paid(const tdo_full_t *full, double fresh) {
  return full->built > 0 && fresh > PAID_GROWTH * full->survivors &&
         full->spent > full->ns * (full->survivors + fresh);
}

bool tdo_full_grown(tdo_full_t *full, double fresh, size_t writes) {
  double most = full->growth * full->survivors;

  if (full->building &&
      (double)(writes - full->writes) > full->writes_most + fresh / BUILD_NEW) {
    full->building = false;
    full->built = fresh;
    if (tdo_full_ended(full) > 0 && fresh < BUILD_MUCH * full->survivors)
      full->growth = FULL_GROWTH;
  }
  if (full->building)
    most = tdo_fmax(most, full->build_most);
  else
    most += (1 + FULL_GROWTH) * full->built;
  return fresh > full_least(full, fresh) &&
         (fresh > most || full_paid(full, fresh));
}

double tdo_full_wait(tdo_full_t *full, double fresh) {
  if (full->building || fresh <= full->asked || full->filled <= 0 ||
      fresh <= EASY_GROWTH * full->survivors ||
      fresh <= full_least(full, fresh))
    return INFINITY;
  full->asked = fresh;
  return EASY_REST * (double)(1u << full->in_vain) * full->ns *
         (full->survivors + fresh);
}

void tdo_full_begin_early(tdo_full_t *full) {
  full->early = true;
}

/* .easy, when a full collection is over. */
static void full_early_over(tdo_full_t *full, double dead) {
  if (full->early)
    full->in_vain = dead < EASY_FOUND * full->asked
                        ? tdo_min(full->in_vain + 1, EASY_VAIN)
                        : 0;
}

void tdo_full_let_go(tdo_full_t *full) {
  ++full->let_go;
  if (full->let_go > full->let_go_most)
    full->building = false;
}

/* .let_go, when a full collection is over. */
static void full_let_go_over(tdo_full_t *full, bool solid) {
  if (full->let_go > full->let_go_most)
    full->let_go_most = solid ? 2 * full->let_go_most : BUILD_LET_GO;
  full->let_go_most = tdo_max(full->let_go_most, BUILD_LET_GO);
  full->let_go = 0;
}

double tdo_full_ended(const tdo_full_t *full) {
  return full->built > BUILD_ENDED * full->survivors
             ? full->survivors + full->built
             : 0;
}

bool tdo_full_collected(tdo_full_t *full, const tdo_full_facts_t *facts) {
  bool dense = facts->survived > FULL_DENSE * facts->filled;
  bool solid = facts->survived > FULL_SOLID * facts->filled;

  full_let_go_over(full, solid);
  full_early_over(full, facts->filled - facts->survived);
  full->filled = facts->filled;
  full->ns = facts->ns / tdo_fmax(facts->filled, 1);
  full->spent = 0;
  full->scanned = facts->scanned;
  if (!full->early)
    full->growth = FULL_GROWTH * (1 + dense + solid);
  else if (!solid)
    full->growth = FULL_GROWTH;
  full->survivors =
      facts->survived +
      FULL_ROOM * tdo_fmax(0, facts->size - facts->survived); /* .room */
  full->building = solid && !facts->sparse && !facts->late && !full->early &&
                   facts->size >= 0.75 * FULL_FIRST &&
                   facts->writes != SIZE_MAX &&
                   facts->rooted < BUILD_ROOTS * facts->survived;
  full->build_most = full->built = 0;
  full->writes = facts->writes;
  full->writes_most = facts->scanned / BUILD_PAGES;
  full->early = false;
  full->asked = 0;
  return full->building;
}

void tdo_full_build(tdo_full_t *full, double available) {
  double most = tdo_fmax(BUILD_GROWTH * full->survivors,
                         BUILD_SHARE * available);

  full->build_most = tdo_fmin(most, BUILD_MOST * available);
}
