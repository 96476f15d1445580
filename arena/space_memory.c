/* Testudo: memory behind the address space: commit limit and spare memory.
   SPDX-License-Identifier: BSD-2-Clause */
#include "arena/internal.h"
#include "code/check.h"

#define AHEAD_SHARE 4            /* commit ahead 1/4 of what is committed */
#define AHEAD_REST  4            /* the rest of a zone, if at most 1/4 of it */
#define AHEAD_MOST  ((size_t)64 << 20)

#define RUNS_SHARE 8    /* of the system's limit of mappings: 1/8; each run and
                           what parts it from the next is a mapping */
#define RUNS_FEW   1024 /* for which the limit is not asked for */

size_t tdo_space_spare(const tdo_space_t *sp) {
  return sp->spare - tdo_min(sp->spare, sp->held);
}

size_t tdo_space_spare_most(const tdo_space_t *sp, size_t committed) {
  return tdo_min((size_t)(sp->spare_fraction * (double)committed),
                 sp->spare_bytes);
}

/* How many of the grains beside [FIRST, LIMIT) have memory: none, one, two. */
static size_t memory_beside(const tdo_space_t *sp, size_t first,
                            size_t limit) {
  return (size_t)(first > 0 && tdo_bits_get(sp->memory, first - 1)) +
         (limit < sp->grains && tdo_bits_get(sp->memory, limit));
}

/* Account for grains that gained (or lost) memory. */
static void memory_note(tdo_space_t *sp, size_t first, size_t limit,
                        bool gained) {
  size_t bytes = tdo_space_bytes(sp, limit - first);
  size_t beside = memory_beside(sp, first, limit);

  sp->runs = gained ? sp->runs + 1 - beside : sp->runs + beside - 1;
  if (gained) {
    tdo_bits_set_range(sp->memory, first, limit);
    tdo_bits_set_range(sp->fresh, first, limit);
    sp->committed += bytes;
    sp->spare += bytes;
  } else {
    tdo_bits_clear_range(sp->memory, first, limit);
    tdo_bits_clear_range(sp->fresh, first, limit);
    sp->committed -= bytes;
    sp->spare -= bytes;
    if (sp->huge)
      tdo_space_huge_forget(sp, first, limit);
  }
  for (size_t g = first; g < limit;) {
    size_t z = space_zone_of(sp, g);
    size_t end = tdo_min(space_zone_first(sp, z + 1), limit);
    if (gained)
      sp->zone[z].memory += (uint32_t)(end - g);
    else
      sp->zone[z].memory -= (uint32_t)(end - g);
    tdo_space_zone_list(sp, z);
    if (sp->zone_group[z] == TDO_GROUP_FREE)
      sp->cold_hint = tdo_min(sp->cold_hint, z);
    g = end;
  }
  if (gained && sp->hooks.committed != NULL)
    sp->hooks.committed(sp->hooks.closure, first, limit);
  if (!gained && sp->hooks.decommitted != NULL)
    sp->hooks.decommitted(sp->hooks.closure, first, limit);
}

/* Are there so many runs that none is to be parted? */
static bool memory_parted(tdo_space_t *sp) {
  if (sp->runs < RUNS_FEW)
    return false;
  if (sp->runs_most == 0)
    sp->runs_most = tdo_max(sp->vm->mapping_limit(sp->vm) / RUNS_SHARE,
                            RUNS_FEW);
  return sp->runs >= sp->runs_most;
}

/* Give back the spare run [FIRST, LIMIT). A refusal (at the mapping limit)
   keeps it spare; and what parts two runs stays, unless it MUST go, where
   there are many: mappings are for others, too. */
static bool memory_empty(tdo_space_t *sp, size_t first, size_t limit,
                         bool must) {
  bool ok;

  if (!must && memory_beside(sp, first, limit) == 2 && memory_parted(sp))
    return false;
  if (sp->hooks.decommitting != NULL)
    sp->hooks.decommitting(sp->hooks.closure, first, limit);
  ok = sp->vm->decommit(sp->vm, tdo_space_addr(sp, first),
                        tdo_space_bytes(sp, limit - first)) == MPS_RES_OK;
  if (ok)
    memory_note(sp, first, limit, false);
  return ok;
}

/* Is something of [FIRST, LIMIT) in the run that gets memory? */
static bool memory_kept(const tdo_space_t *sp, size_t first, size_t limit) {
  return first < sp->keep_limit && limit > sp->keep;
}

/* May grain G be given back? Without SPLIT not a part of a zone that is backed
   by huge pages. */
static bool memory_may_go(const tdo_space_t *sp, size_t g, bool split) {
  size_t z = space_zone_of(sp, g);

  return tdo_bits_get(sp->memory, g) && !tdo_bits_get(sp->used, g) &&
         !memory_kept(sp, g, g + 1) &&
         (split || !tdo_bits_get(sp->zone_huge, z) ||
          (sp->zone[z].used == 0 &&
           !memory_kept(sp, space_zone_first(sp, z),
                        space_zone_first(sp, z + 1))));
}

/* Empty the highest spare run below *AT within zones, at most MOST grains of
   it (more, if that would SPLIT huge pages that must not be); false if there
   is none, or none that MUST go. Moves *AT below what it saw. */
static bool memory_empty_below(tdo_space_t *sp, size_t *at, size_t most,
                               bool split, bool must) {
  size_t g = *at;

  while (g > 0) {
    size_t z = space_zone_of(sp, g - 1), low = space_zone_first(sp, z);
    size_t limit, first, piece;
    if (sp->zone[z].memory == sp->zone[z].used) {
      g = low;
      continue;
    }
    limit = g;
    while (limit > low && !memory_may_go(sp, limit - 1, split))
      --limit;
    if (limit == low) {
      g = low;
      continue;
    }
    /* The run may go on below this zone. */
    first = limit;
    while (first > 0 && limit - first < most &&
           memory_may_go(sp, first - 1, split))
      --first;
    if (!split && tdo_bits_get(sp->zone_huge, space_zone_of(sp, first)))
      first = space_zone_first(sp, space_zone_of(sp, first)); /* .huge */
    *at = first;
    if (memory_empty(sp, first, limit, must))
      return true;
    /* That would make one more mapping; so would whatever is inside the run.
       Its lower end need not. */
    piece = limit - first;
    while (first > 0 && memory_may_go(sp, first - 1, split))
      --first;
    *at = g = first;
    if (split && first + piece < limit &&
        memory_empty(sp, first, first + piece, must))
      return true;
  }
  *at = 0;
  return false;
}

/* Give spare memory back until there are at most GOAL bytes, or no more can
   go. Huge pages are split only if they must; and if it MUST, however many
   mappings that makes. */
static void memory_shrink(tdo_space_t *sp, size_t goal, bool must) {
  ++sp->busy;
  for (int split = !sp->huge; split <= 1; ++split) {
    size_t at = space_zone_first(sp, sp->zone_limit);
    while (sp->spare > goal)
      if (!memory_empty_below(sp, &at,
                              tdo_space_grains_for(sp, sp->spare - goal),
                              split != 0, must))
        break;
  }
  --sp->busy;
}

void tdo_space_drain(tdo_space_t *sp, size_t target) {
  if (sp->vm != NULL && tdo_space_spare(sp) > target)
    memory_shrink(sp, target + tdo_min(sp->spare, sp->held), false);
}

#define EASE_BYTES ((size_t)16 << 20) /* a millisecond's worth of giving back */
#define EASE_SHARE 8 /* 1/8 more than what the system refused to take */
#define EASE_LEAST ((size_t)4 << 20) /* that is not worth a call */

/* What is held is kept once, not as often as the fraction says. */
static size_t memory_most(const tdo_space_t *sp) {
  return tdo_space_spare_most(sp, sp->committed -
                                      tdo_min(sp->spare, sp->held));
}

static bool memory_over(const tdo_space_t *sp) {
  return sp->vm != NULL && tdo_space_spare(sp) > memory_most(sp);
}

/* Who asks for less spare memory than usual asks so of what is held, too, and
   of what is not worth a call. */
static size_t memory_share(const tdo_space_t *sp, size_t bytes) {
  double share = tdo_fmin(1, sp->spare_fraction / TDO_SPARE_DEFAULT);

  return (size_t)(share * (double)bytes);
}

/* Is it worth giving back? In a small arena one block may be too much to keep,
   and wanted again next. */
static bool memory_worth(const tdo_space_t *sp) {
  return memory_over(sp) &&
         tdo_space_spare(sp) > memory_share(sp, EASE_LEAST);
}

bool tdo_space_ease(tdo_space_t *sp) {
  size_t spare = tdo_space_spare(sp), target;

  if (!memory_worth(sp) || spare < sp->ease_at)
    return false;
  /* Late, and in large pieces: go well below the limit. */
  target = tdo_max(memory_most(sp) / 2, spare - tdo_min(spare, EASE_BYTES));
  if (sp->spare_fraction <= 0) /* at once */
    target = 0;
  tdo_space_drain(sp, target);
  /* Every run was asked for. What was refused, at the mapping limit, would be
     refused again: not before there is so much more that it is worth it. */
  spare = tdo_space_spare(sp);
  sp->ease_at = spare > target ? spare + spare / EASE_SHARE : 0;
  return sp->ease_at == 0 && memory_worth(sp);
}

void tdo_space_settle(tdo_space_t *sp) {
  while (memory_over(sp)) {
    size_t before = sp->spare;
    tdo_space_drain(sp, memory_most(sp));
    if (sp->spare == before)
      break;
  }
}

void tdo_space_purge(tdo_space_t *sp, size_t bytes) {
  if (sp->vm != NULL)
    memory_shrink(sp, sp->spare - tdo_min(sp->spare, bytes), true);
}

/* Most bytes that may be spare for fresh memory to be added. What is spare in
   the zones of a group does not serve others, and collections leave some in
   many: so even where more is kept, it adds up to the usual share only. */
static size_t memory_spare_most(const tdo_space_t *sp, size_t committed) {
  return tdo_min(tdo_space_spare_most(sp, committed),
                 (size_t)(TDO_SPARE_DEFAULT * (double)committed));
}

/* BYTES of fresh memory are about to come: where more is kept than that, they
   take the place of spare memory elsewhere, unless all of it is to be kept. */
static void memory_replace(tdo_space_t *sp, size_t bytes) {
  if (sp->spare_fraction > TDO_SPARE_DEFAULT && sp->spare_fraction < 1 &&
      tdo_space_spare(sp) > memory_spare_most(sp, sp->committed + bytes))
    tdo_space_purge(sp, bytes);
}

/* How far beyond LIMIT to commit: grains that have no memory, not used, that
   the commit limit and the spare fraction allow. */
static size_t memory_ahead(tdo_space_t *sp, size_t limit, size_t bytes) {
  size_t committed = sp->committed + bytes, most, rest, end;
  size_t spare_most = memory_spare_most(sp, committed);
  size_t spare = tdo_space_spare(sp);

  if (tdo_space_limit(sp) < committed || spare_most <= spare)
    return limit;
  most = tdo_min(committed / AHEAD_SHARE, AHEAD_MOST);
  most -= tdo_min(most, sp->spare); /* what is there is used first */
  /* But a zone is filled by one call if it is a small part of all. */
  rest = tdo_space_bytes(
      sp, space_zone_first(sp, space_zone_of(sp, limit - 1) + 1) - limit);
  if (rest <= committed / AHEAD_REST)
    most = tdo_max(most, rest);
  most = tdo_min(most, (spare_most - spare) / 2);
  most = tdo_min(most, (tdo_space_limit(sp) - committed) / 2);
  end = limit + (most >> sp->grain_shift);
  end = tdo_min(end, space_zone_first(sp, sp->zone_limit));
  end = tdo_bits_next_set(sp->memory, limit, end);
  /* Only zones that are known and charged already, or the run's own. */
  for (size_t z = space_zone_of(sp, limit - 1) + 1;
       z <= space_zone_of(sp, end - 1); ++z)
    if (!tdo_bits_get(sp->zone_known, z))
      return space_zone_first(sp, z);
  return end;
}

void tdo_space_ask(tdo_space_t *sp) {
  size_t room = sp->vm == NULL ? SIZE_MAX : sp->vm->room(sp->vm);

  sp->granted = sp->committed + tdo_min(room, SIZE_MAX - sp->committed);
}

size_t tdo_space_limit(const tdo_space_t *sp) {
  return tdo_min(sp->commit_limit, sp->granted);
}

mps_res_t tdo_space_short(const tdo_space_t *sp, size_t bytes) {
  return sp->granted < sp->commit_limit || bytes > sp->granted
             ? MPS_RES_MEMORY
             : MPS_RES_COMMIT_LIMIT;
}

/* What the limits leave. */
static size_t memory_room(const tdo_space_t *sp) {
  return tdo_space_limit(sp) - tdo_min(tdo_space_limit(sp), sp->committed);
}

/* Do the limits leave room for BYTES more? Spare memory makes room. */
static bool memory_fits(tdo_space_t *sp, size_t bytes) {
  if (bytes <= memory_room(sp))
    return true;
  tdo_space_purge(sp, bytes - memory_room(sp));
  return bytes <= memory_room(sp);
}

static bool memory_commit(tdo_space_t *sp, size_t first, size_t limit) {
  if (sp->vm->commit(sp->vm, tdo_space_addr(sp, first),
                     tdo_space_bytes(sp, limit - first)) != MPS_RES_OK)
    return false;
  memory_note(sp, first, limit, true);
  return true;
}

/* The same where the system refused that, or more: once it has back what is
   spare, it may not. */
static bool memory_commit_tight(tdo_space_t *sp, size_t first, size_t limit) {
  size_t committed = sp->committed;

  if (memory_commit(sp, first, limit))
    return true;
  tdo_space_purge(sp, tdo_space_bytes(sp, limit - first));
  return sp->committed < committed && memory_commit(sp, first, limit);
}

/* Memory for the BYTES of [FIRST, LIMIT) that have none. */
static mps_res_t memory_complete(tdo_space_t *sp, size_t first, size_t limit,
                                 size_t bytes) {
  size_t g = first;

  memory_replace(sp, bytes);
  if (!memory_fits(sp, bytes))
    return tdo_space_short(sp, sp->committed + bytes);
  while ((g = tdo_bits_next_clear(sp->memory, g, limit)) < limit) {
    size_t end = tdo_bits_next_set(sp->memory, g, limit);
    size_t ahead = end == limit ? memory_ahead(sp, limit, bytes) : end;
    if (!memory_commit(sp, g, ahead) && !memory_commit_tight(sp, g, end))
      return MPS_RES_MEMORY;
  }
  return MPS_RES_OK;
}

mps_res_t tdo_space_commit(tdo_space_t *sp, size_t first, size_t limit) {
  size_t missing, bytes;
  mps_res_t res;

  if (sp->vm == NULL) { /* client memory is always there */
    bytes = tdo_space_bytes(sp, limit - first);
    if (sp->committed + bytes > sp->commit_limit)
      return MPS_RES_COMMIT_LIMIT;
    return MPS_RES_OK;
  }
  missing = (limit - first) - tdo_bits_count(sp->memory, first, limit);
  if (missing == 0)
    return MPS_RES_OK;
  sp->keep = first;
  sp->keep_limit = limit;
  res = memory_complete(sp, first, limit, tdo_space_bytes(sp, missing));
  sp->keep = sp->keep_limit = 0;
  return res;
}

/* Address space of which there is no end, as far as memory goes. */
#define AMPLE ((uint64_t)64 << 30)

size_t tdo_space_most(const tdo_space_t *sp) {
  size_t all = SIZE_MAX;

  if (sp->vm == NULL)
    all = tdo_space_reserved(sp);
  else if ((uint64_t)sp->size < AMPLE)
    all = sp->size + sp->charged;
  return tdo_min(tdo_space_limit(sp), all);
}

size_t tdo_space_room(const tdo_space_t *sp) {
  size_t most = tdo_space_most(sp), used = sp->committed - sp->spare;

  return most - tdo_min(most, used);
}

void tdo_space_withhold(tdo_space_t *sp, size_t bytes) {
  sp->withheld = bytes;
}

mps_res_t tdo_space_refuse(const tdo_space_t *sp, size_t bytes) {
  if (TDO_LIKELY(sp->withheld == 0) ||
      tdo_space_room(sp) >= sp->withheld + bytes)
    return MPS_RES_OK;
  return tdo_space_most(sp) < tdo_space_limit(sp)
             ? MPS_RES_RESOURCE
             : tdo_space_short(sp, sp->committed - sp->spare + sp->withheld +
                                       bytes);
}

mps_res_t tdo_space_commit_limit_set(tdo_space_t *sp, size_t limit) {
  if (limit < sp->committed) {
    if (sp->committed - limit > tdo_space_spare(sp))
      return MPS_RES_FAIL;
    tdo_space_purge(sp, sp->committed - limit);
    if (limit < sp->committed)
      return MPS_RES_FAIL;
  }
  sp->commit_limit = limit;
  return MPS_RES_OK;
}

void tdo_space_spare_set(tdo_space_t *sp, double fraction) {
  sp->spare_fraction = fraction;
  sp->spare_bytes = SIZE_MAX;
  if (sp->vm == NULL)
    return;
  sp->held = memory_share(sp, sp->held);
  tdo_space_settle(sp);
  if (memory_over(sp)) /* who asks for it has the mappings to spend */
    memory_shrink(sp, memory_most(sp) + tdo_min(sp->spare, sp->held), true);
}

void tdo_space_hold(tdo_space_t *sp, size_t bytes) {
  sp->held = memory_share(sp, bytes);
  (void)tdo_space_ease(sp);
}
