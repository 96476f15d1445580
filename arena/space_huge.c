/* Testudo: huge pages: which zones the system was advised to back by them.
   SPDX-License-Identifier: BSD-2-Clause */
#include "arena/internal.h"
#include "code/check.h"

#define HUGE_REFUSALS 16 /* after so many nothing is asked any more */

/* Borders between zones that are advised and others: each may be one of a
   mapping. */
static size_t huge_borders(const tdo_space_t *sp, size_t z) {
  bool here = tdo_bits_get(sp->zone_huge, z);

  return (z > 0 && tdo_bits_get(sp->zone_huge, z - 1) != here) +
         (z + 1 < sp->zones && tdo_bits_get(sp->zone_huge, z + 1) != here);
}

static void huge_note(tdo_space_t *sp, size_t z, bool huge) {
  sp->huge_borders -= huge_borders(sp, z);
  if (huge) {
    tdo_bits_set(sp->zone_huge, z);
    sp->huge_bytes += (size_t)1 << sp->zone_shift;
  } else {
    tdo_bits_clear(sp->zone_huge, z);
    sp->huge_bytes -= (size_t)1 << sp->zone_shift;
  }
  sp->huge_borders += huge_borders(sp, z);
  if (sp->hooks.huge != NULL)
    sp->hooks.huge(sp->hooks.closure, space_zone_first(sp, z),
                   space_zone_first(sp, z + 1), huge);
}

void tdo_space_huge_forget(tdo_space_t *sp, size_t first, size_t limit) {
  for (size_t z = space_zone_of(sp, first);
       z <= space_zone_of(sp, limit - 1); ++z)
    if (tdo_bits_get(sp->zone_huge, z))
      huge_note(sp, z, false);
}

/* One call for the zones [FIRST, LIMIT). */
static void huge_advise(tdo_space_t *sp, size_t first, size_t limit) {
  if (sp->huge_refused >= HUGE_REFUSALS ||
      sp->huge_borders + 2 > sp->huge_borders_most)
    return;
  if (sp->vm->advise_huge(sp->vm, sp->base + (first << sp->zone_shift),
                          (limit - first) << sp->zone_shift) != MPS_RES_OK) {
    ++sp->huge_refused;
    return;
  }
  for (size_t z = first; z < limit; ++z)
    huge_note(sp, z, true);
}

/* Zones of GROUP, or of nobody yet, that have all their memory (.huge). */
static bool huge_wanted(const tdo_space_t *sp, size_t z, tdo_group_t group) {
  return (sp->zone_group[z] == group ||
          sp->zone_group[z] == TDO_GROUP_FREE) &&
         sp->zone[z].memory == sp->zone_grains &&
         !tdo_bits_get(sp->zone_huge, z);
}

static void huge_ask(tdo_space_t *sp, size_t first, size_t limit,
                     tdo_group_t group) {
  for (size_t z = first; z < limit;) {
    size_t start = z;
    while (z < limit && huge_wanted(sp, z, group))
      ++z;
    if (z > start)
      huge_advise(sp, start, z);
    else
      ++z;
  }
}

void tdo_space_huge_prepare(tdo_space_t *sp, size_t first, size_t limit,
                            tdo_group_t group) {
  size_t low = space_zone_of(sp, first);
  size_t high = space_zone_of(sp, limit - 1) + 1;
  size_t start = space_zone_first(sp, low), end = space_zone_first(sp, high);
  size_t missing = tdo_space_bytes(
      sp, end - start - tdo_bits_count(sp->memory, start, end));
  size_t most = tdo_space_limit(sp);

  /* A huge page needs all of its memory open; if there is room for that. */
  if (missing > 0 && (missing > most || sp->committed > most - missing ||
                      tdo_space_commit(sp, start, end) != MPS_RES_OK))
    return;
  huge_ask(sp, low, high, group);
}

void tdo_space_huge_adopt(tdo_space_t *sp, tdo_group_t group) {
  for (size_t z = 0; z < sp->zone_limit;) {
    size_t start = z;
    while (z < sp->zone_limit && sp->zone_group[z] == group)
      ++z;
    if (z > start)
      huge_ask(sp, start, z, group);
    else
      ++z;
  }
}

void tdo_space_group_huge(tdo_space_t *sp, tdo_group_t group, bool huge) {
  TDO_CHECK(sp->groups[group].live);
  sp->groups[group].huge = huge && sp->huge;
}
