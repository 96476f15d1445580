/* Testudo: zones: which group has which, and finding grains in them.
   SPDX-License-Identifier: BSD-2-Clause */
#include "arena/internal.h"
#include "code/check.h"

#define ZONES_TRIED 16 /* of a group's list before a fresh zone is taken */
#define RESERVE_MOST ((size_t)64) /* zones at once, of the library's own */
#define LARGE_PART 16 /* of a zone: more than that is large (AMC's buffers are
                         not) */
#define MIX_IDLE 16 /* times the bound of .mix, where more is spare than used */
#define WARM_TRIED  64 /* of the free zones, for one with the right pages */

static bool zone_usable(const tdo_space_t *sp, size_t z) {
  if (sp->zone_group[z] == TDO_GROUP_FREE)
    return sp->zone[z].memory == sp->zone_grains &&
           tdo_bits_get(sp->zone_known, z);
  return sp->zone[z].used < sp->zone_grains;
}

/* Lists hold zone + 1, so that zeroed tables mean "not listed". */
static bool zone_listed(const tdo_space_t *sp, size_t z) {
  return sp->zone[z].prev != 0;
}

#define HEAD_MARK UINT32_MAX /* prev of the first in a list */

static void zone_unlist(tdo_space_t *sp, size_t z) {
  uint32_t next = sp->zone[z].next, prev = sp->zone[z].prev;

  if (prev == HEAD_MARK)
    sp->groups[sp->zone_group[z]].head = next == 0 ? TDO_ZONE_NONE : next - 1;
  else
    sp->zone[prev - 1].next = next;
  if (next != 0)
    sp->zone[next - 1].prev = prev;
  sp->zone[z].next = sp->zone[z].prev = 0;
}

void tdo_space_zone_list(tdo_space_t *sp, size_t z) {
  bool usable = zone_usable(sp, z);
  uint32_t *head = &sp->groups[sp->zone_group[z]].head;

  if (usable == zone_listed(sp, z))
    return;
  if (!usable) {
    zone_unlist(sp, z);
    return;
  }
  sp->zone[z].next = *head == TDO_ZONE_NONE ? 0 : *head + 1;
  if (*head != TDO_ZONE_NONE)
    sp->zone[*head].prev = (uint32_t)z + 1;
  sp->zone[z].prev = HEAD_MARK;
  *head = (uint32_t)z;
}

void tdo_space_zone_assign(tdo_space_t *sp, size_t z, tdo_group_t group) {
  if (zone_listed(sp, z))
    zone_unlist(sp, z);
  if (group == TDO_GROUP_FREE && sp->zone[z].memory < sp->zone_grains)
    sp->cold_hint = tdo_min(sp->cold_hint, z);
  --sp->groups[sp->zone_group[z]].zones;
  ++sp->groups[group].zones;
  sp->zone_group[z] = group;
  sp->zone_byte[z] = sp->groups[group].byte;
  tdo_space_zone_list(sp, z);
}

/* Free zones: known, and of no group. */
static bool zone_is_free(const tdo_space_t *sp, size_t z) {
  return sp->zone_group[z] == TDO_GROUP_FREE &&
         tdo_bits_get(sp->zone_known, z);
}

/* A free zone with memory, of the right kind of pages if there are huge ones.
   What has small pages keeps them, so a group that wants huge ones takes a
   zone without memory instead. */
static uint32_t zone_find_warm(const tdo_space_t *sp, bool huge) {
  uint32_t head = sp->groups[TDO_GROUP_FREE].head, z = head;

  if (!sp->huge)
    return head;
  for (int i = 0; i < WARM_TRIED && z != TDO_ZONE_NONE; ++i) {
    if (tdo_bits_get(sp->zone_huge, z) == huge)
      return z;
    z = sp->zone[z].next == 0 ? TDO_ZONE_NONE : sp->zone[z].next - 1;
  }
  return huge ? TDO_ZONE_NONE : head;
}

/* The first free zone without all of its memory; false if there is none. */
static bool zone_find_cold(size_t *zone_o, const tdo_space_t *sp) {
  for (size_t z = sp->cold_hint; z < sp->zone_limit; ++z)
    if (zone_is_free(sp, z) && sp->zone[z].memory < sp->zone_grains) {
      *zone_o = z;
      return true;
    }
  return false;
}

static bool zone_find_low(size_t *zone_o, tdo_space_t *sp, size_t n) {
  size_t run = 0, z = n == 1 ? sp->cold_hint : 0;

  for (; z < sp->zone_limit; ++z) {
    run = zone_is_free(sp, z) ? run + 1 : 0;
    if (run == n) {
      *zone_o = z + 1 - n;
      if (n == 1)
        sp->cold_hint = z;
      return true;
    }
  }
  if (n == 1)
    sp->cold_hint = sp->zone_limit;
  return false;
}

static bool zone_find_high(size_t *zone_o, tdo_space_t *sp, size_t n) {
  size_t run = 0;

  for (size_t z = sp->zone_limit; z > 0; --z) {
    run = zone_is_free(sp, z - 1) ? run + 1 : 0;
    if (run == n) {
      *zone_o = z - 1;
      return true;
    }
  }
  return false;
}

mps_res_t tdo_space_zone_find(size_t *zone_o, tdo_space_t *sp, size_t n,
                              bool high, bool huge) {
  uint32_t warm = zone_find_warm(sp, huge);

  if (n > sp->zones)
    return MPS_RES_RESOURCE;
  if (n == 1 && warm != TDO_ZONE_NONE && !high) {
    *zone_o = warm;
    return MPS_RES_OK;
  }
  if (n == 1 && huge && !high && zone_find_cold(zone_o, sp))
    return MPS_RES_OK;
  if (high ? zone_find_high(zone_o, sp, n) : zone_find_low(zone_o, sp, n))
    return MPS_RES_OK;
  if (tdo_space_extend(sp, n << sp->zone_shift) != MPS_RES_OK)
    return MPS_RES_RESOURCE;
  return zone_find_low(zone_o, sp, n) ? MPS_RES_OK : MPS_RES_RESOURCE;
}

/* N grains in a zone that GROUP has already: of those tried the one that is
   used most. Where each thread keeps a buffer, in whatever zone it last ran,
   others would each be left with one for long. */
static bool zone_find_grains(size_t *first_o, tdo_space_t *sp, size_t n,
                             tdo_group_t group, bool high) {
  uint32_t z = sp->groups[group].head;
  size_t best = 0, found; /* best: grains used in it, and one */

  if (n > sp->zone_grains)
    return false;
  for (int tried = 0; z != TDO_ZONE_NONE && tried < ZONES_TRIED; ++tried) {
    size_t first = space_zone_first(sp, z);
    uint32_t next = sp->zone[z].next;
    if (sp->zone[z].used >= best &&
        sp->zone_grains - sp->zone[z].used >= n &&
        (high ? tdo_bits_find_clear_run_high : tdo_bits_find_clear_run)(
            &found, sp->used, first, first + sp->zone_grains, n)) {
      best = sp->zone[z].used + 1;
      *first_o = found;
    }
    z = next == 0 ? TDO_ZONE_NONE : next - 1;
  }
  return best > 0;
}

/* N grains anywhere in known zones; unless ANY will do, in those that nobody
   has, or several groups. */
static bool zone_find_across(size_t *first_o, tdo_space_t *sp, size_t n,
                             bool any) {
  size_t grains = space_zone_first(sp, sp->zone_limit), at = 0;

  while (tdo_bits_find_clear_run(first_o, sp->used, at, grains, n)) {
    size_t z = space_zone_of(sp, *first_o);
    size_t end = space_zone_of(sp, *first_o + n - 1) + 1;
    size_t bad = z;
    while (bad < end && tdo_bits_get(sp->zone_known, bad) &&
           (any || sp->zone_group[bad] <= TDO_GROUP_SHARED))
      ++bad;
    if (bad == end)
      return true;
    at = space_zone_first(sp, bad + 1);
    if (at + n > grains)
      return false;
  }
  return false;
}

/* A large object changes its generation where it lies, and its zones are shared
   then: one that fits between others of that kind goes there. Else each that is
   a little larger than a zone would have two. */
static bool zone_find_between(size_t *first_o, tdo_space_t *sp, size_t n,
                              tdo_group_t group, bool high) {
  if (n <= sp->zone_grains / LARGE_PART || group < TDO_GROUP_FIRST || high ||
      sp->groups[group].huge || sp->groups[TDO_GROUP_SHARED].zones == 0)
    return false;
  return n > sp->zone_grains
             ? zone_find_across(first_o, sp, n, false)
             : zone_find_grains(first_o, sp, n, TDO_GROUP_SHARED, false);
}

/* May grains of zone Z go to a group that clients get? The others' zones are
   never protected, nor collected. */
static bool zone_mixes(const tdo_space_t *sp, size_t z) {
  return sp->zone_group[z] != TDO_GROUP_CONTROL &&
         sp->zone_group[z] != TDO_GROUP_MANUAL;
}

/* N spare grains in a zone of whichever group (.mix). */
static bool zone_find_spare(size_t *first_o, const tdo_space_t *sp, size_t n) {
  size_t limit = space_zone_first(sp, sp->zone_limit), g = 0;

  if (sp->spare < tdo_space_bytes(sp, n)) /* no need to look */
    return false;
  while ((g = tdo_bits_next_in(sp->memory, sp->used, g, limit)) < limit) {
    size_t z = space_zone_of(sp, g), end = space_zone_first(sp, z + 1);
    if (zone_mixes(sp, z)) {
      end = tdo_min(tdo_bits_next_set(sp->used, g, end),
                    tdo_bits_next_clear(sp->memory, g, end));
      if (end - g >= n) {
        *first_o = g;
        return true;
      }
    }
    g = end;
  }
  return false;
}

/* May GROUP get what zone_find_spare finds? */
static bool space_mixes(const tdo_space_t *sp, tdo_group_t group, bool high) {
  bool idle = sp->spare > sp->committed / 2; /* more than is in use */

  return sp->committed / (idle ? MIX_IDLE : 1) <= sp->mix_most &&
         group >= TDO_GROUP_FIRST && !high && !sp->groups[group].huge;
}

/* Zones of the run that belong to others become shared, free ones GROUP's. */
static void zone_take(tdo_space_t *sp, size_t first, size_t n,
                      tdo_group_t group) {
  size_t z = space_zone_of(sp, first);
  size_t end = space_zone_of(sp, first + n - 1) + 1;

  for (; z < end; ++z)
    if (sp->zone_group[z] == TDO_GROUP_FREE)
      tdo_space_zone_assign(sp, z, group);
    else if (sp->zone_group[z] != group)
      tdo_space_zone_assign(sp, z, TDO_GROUP_SHARED);
}

/* The library's own blocks are a few percent of a heap. In a large one, zones
   of them here and there would part what is protected together: so with ZONE
   come the ones that follow, as far as they are free and have no memory, as
   many as there are of them already. */
static void zone_reserve(tdo_space_t *sp, size_t zone) {
  size_t most =
      tdo_min((size_t)sp->groups[TDO_GROUP_CONTROL].zones + 1, RESERVE_MOST);
  size_t limit = zone + 1;

  while (limit < sp->zone_limit && limit - zone < most &&
         zone_is_free(sp, limit) && sp->zone[limit].memory == 0)
    ++limit;
  while (--limit > zone) /* the lowest is taken first */
    tdo_space_zone_assign(sp, limit, TDO_GROUP_CONTROL);
}

static mps_res_t space_find(size_t *first_o, tdo_space_t *sp, size_t n,
                            tdo_group_t group, bool high) {
  size_t zone, zones = (n + sp->zone_grains - 1) / sp->zone_grains;
  bool found;

  if (sp->vm == NULL) /* the library's own small blocks lie apart */
    return tdo_space_client_find(first_o, sp, n,
                                 high || group == TDO_GROUP_CONTROL)
               ? MPS_RES_OK
               : MPS_RES_RESOURCE;
  found = zone_find_grains(first_o, sp, n, group, high) ||
          zone_find_between(first_o, sp, n, group, high);
  if (space_mixes(sp, group, high) &&
      !(found && tdo_bits_all_set(sp->memory, *first_o, *first_o + n)))
    found |= zone_find_spare(first_o, sp, n);
  if (found)
    return MPS_RES_OK;
  if (tdo_space_zone_find(&zone, sp, zones, high, sp->groups[group].huge) ==
      MPS_RES_OK) {
    *first_o = space_zone_first(sp, zone);
    if (group == TDO_GROUP_CONTROL && zones == 1)
      zone_reserve(sp, zone);
    if (high)
      *first_o += zones * sp->zone_grains - n;
    return MPS_RES_OK;
  }
  /* Address space is short: the zones touched become shared. */
  return zone_find_across(first_o, sp, n, true) ? MPS_RES_OK : MPS_RES_RESOURCE;
}

/* Bytes of tables of the zones from Z on, before END, that were not charged. */
static size_t zone_tables(const tdo_space_t *sp, size_t z, size_t end) {
  size_t n = 0;

  for (; z < end; ++z)
    n += !sp->zone[z].charged;
  return n * sp->zone_table_bytes;
}

/* What would be committed with memory for [FIRST, LIMIT) and TABLES bytes, and
   the spare memory elsewhere given back. Asked first: what cannot be had shall
   not cost any. */
static size_t space_needs(tdo_space_t *sp, size_t first, size_t limit,
                          size_t tables) {
  size_t there = tdo_bits_count(sp->memory, first, limit);
  size_t missing = tdo_space_bytes(sp, limit - first - there) + tables;
  size_t stays = sp->committed + tdo_space_bytes(sp, there) - sp->spare;

  if (missing > 0)
    tdo_space_ask(sp);
  return missing + stays;
}

/* Memory for the free grains [FIRST, LIMIT), and what its tables take: both, or
   neither. */
static mps_res_t space_fill(tdo_space_t *sp, size_t first, size_t limit,
                            tdo_group_t group) {
  size_t z = space_zone_of(sp, first), end = space_zone_of(sp, limit - 1) + 1;
  size_t tables = zone_tables(sp, z, end);
  size_t needs = space_needs(sp, first, limit, tables);
  mps_res_t res;

  if (needs > tdo_space_limit(sp) || !tdo_space_charge(sp, tables))
    return tdo_space_short(sp, needs - tables); /* they have their memory */
  if (sp->groups[group].huge)
    tdo_space_huge_prepare(sp, first, limit, group);
  res = tdo_space_commit(sp, first, limit);
  if (res != MPS_RES_OK) {
    tdo_space_credit(sp, tables);
    return res;
  }
  for (; z < end; ++z)
    sp->zone[z].charged = true;
  return MPS_RES_OK;
}

static mps_res_t space_take(size_t *first_o, tdo_space_t *sp, size_t n,
                            tdo_group_t group, bool high, void *owner) {
  size_t first;
  mps_res_t res;

  if (n == 0 || n > sp->grains)
    return MPS_RES_RESOURCE;
  res = space_find(&first, sp, n, group, high);
  if (res == MPS_RES_OK)
    res = tdo_space_refuse(sp, tdo_space_bytes(sp, n));
  if (res != MPS_RES_OK)
    return res;
  res = space_fill(sp, first, first + n, group);
  if (res != MPS_RES_OK)
    return res;
  zone_take(sp, first, n, group);
  tdo_bits_set_range(sp->used, first, first + n);
  tdo_bits_clear_range(sp->fresh, first, first + n);
  for (size_t g = first; g < first + n; ++g)
    tdo_space_own(sp, g, owner);
  for (size_t g = first; g < first + n;) {
    size_t z = space_zone_of(sp, g);
    size_t end = tdo_min(space_zone_first(sp, z + 1), first + n);
    sp->zone[z].used += (uint32_t)(end - g);
    tdo_space_zone_list(sp, z);
    g = end;
  }
  if (sp->vm == NULL)
    sp->committed += tdo_space_bytes(sp, n);
  else
    sp->spare -= tdo_space_bytes(sp, n);
  *first_o = first;
  return MPS_RES_OK;
}

mps_res_t tdo_space_alloc(size_t *first_o, tdo_space_t *sp, size_t n,
                          tdo_group_t group, bool high, void *owner) {
  mps_res_t res;

  TDO_CHECK(owner != NULL && sp->groups[group].live);
  ++sp->busy;
  res = space_take(first_o, sp, n, group, high, owner);
  --sp->busy;
  if (res != MPS_RES_OK)
    return res;
  /* To open what was closed may take memory that is spare elsewhere. */
  if (sp->hooks.taken != NULL)
    sp->hooks.taken(sp->hooks.closure, *first_o, *first_o + n);
  if (group >= TDO_GROUP_FIRST)
    tdo_space_fresh_ahead(sp, *first_o + n);
  return MPS_RES_OK;
}

void tdo_space_free(tdo_space_t *sp, size_t first, size_t n) {
  size_t limit = first + n;

  TDO_CHECK(n > 0 && tdo_bits_all_set(sp->used, first, limit));
  if (sp->hooks.dropped != NULL)
    sp->hooks.dropped(sp->hooks.closure, first, limit);
  ++sp->busy;
  tdo_bits_clear_range(sp->used, first, limit);
  for (size_t g = first; g < limit; ++g)
    tdo_space_own(sp, g, NULL);
  if (sp->vm == NULL)
    sp->committed -= tdo_space_bytes(sp, n);
  else
    sp->spare += tdo_space_bytes(sp, n);
  for (size_t g = first; g < limit;) {
    size_t z = space_zone_of(sp, g);
    size_t end = tdo_min(space_zone_first(sp, z + 1), limit);
    sp->zone[z].used -= (uint32_t)(end - g);
    if (sp->zone[z].used == 0)
      tdo_space_zone_assign(sp, z, TDO_GROUP_FREE);
    else
      tdo_space_zone_list(sp, z);
    g = end;
  }
  --sp->busy;
  (void)tdo_space_ease(sp);
}

void tdo_space_share(tdo_space_t *sp, size_t first, size_t limit) {
  size_t z = space_zone_of(sp, first), end = space_zone_of(sp, limit - 1) + 1;

  for (; z < end; ++z)
    if (sp->zone_group[z] != TDO_GROUP_SHARED)
      tdo_space_zone_assign(sp, z, TDO_GROUP_SHARED);
}
