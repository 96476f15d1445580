/* Testudo: how much address space an arena reserves.
   SPDX-License-Identifier: BSD-2-Clause */
#include "arena/window.h"
#include "code/base.h"

#define WINDOW_UNKNOWN ((size_t)4 << 30)  /* where nobody knows the memory */
#define WINDOW_LEAST   ((size_t)64 << 30) /* or */
#define WINDOW_SHARE   16  /* times physical memory; but of address space */
#define WINDOW_PART    128 /* one part in so many at most, */
#define WINDOW_FIRST   4   /* and in so many for the first arena; */
#define WINDOW_ARENAS  8   /* arenas have as much, later ones less */

/* .share */
static size_t window_share(const tdo_window_facts_t *facts) {
  size_t most = facts->space / WINDOW_PART;

  if (facts->arenas == 0)
    most =
        tdo_min(tdo_max(most, facts->physical), facts->space / WINDOW_FIRST);
  return tdo_min(most, tdo_max(WINDOW_LEAST, facts->physical * WINDOW_SHARE)) /
         (1 + facts->arenas / WINDOW_ARENAS);
}

size_t tdo_window(const tdo_window_facts_t *facts) {
  size_t window;

  if (facts->limit != SIZE_MAX) /* it is rationed: leave half of it */
    return tdo_max(facts->size, facts->limit / 2);
  if (facts->physical == SIZE_MAX) /* it is taken from the heap of C */
    return tdo_max(facts->size, WINDOW_UNKNOWN);
  window = window_share(facts);
  /* Its tables count as data, used or not. */
  return facts->data < window / 2 ? tdo_max(facts->size, 2 * facts->data)
                                  : window;
}
