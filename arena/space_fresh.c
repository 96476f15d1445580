/* Testudo: fresh memory: committed and never used, and touched ahead of its
   use where somebody else than the mutator can do it.
   SPDX-License-Identifier: BSD-2-Clause */
#include "arena/internal.h"

#define FRESH_AHEAD ((size_t)1536 << 10) /* bytes touched ahead of the use */
#define FRESH_PIECE ((size_t)256 << 10) /* asked for at a time, at least */
#define FRESH_LEAST ((size_t)24 << 20)  /* committed, for that to be little */

/* Ask for the fresh grains of [FIRST, LIMIT), which begin at the first that is
   fresh, if they are worth a call. */
static void fresh_ask(tdo_space_t *sp, size_t first, size_t limit,
                      size_t least) {
  size_t g = tdo_bits_next_set(sp->fresh, first, limit);
  size_t end = tdo_bits_next_clear(sp->fresh, g, limit);

  if (end - g < least)
    return;
  tdo_bits_clear_range(sp->fresh, g, end);
  sp->populated += tdo_space_bytes(sp, end - g);
  sp->vm->populate(sp->vm, tdo_space_addr(sp, g),
                   tdo_space_bytes(sp, end - g));
}

void tdo_space_fresh_ahead(tdo_space_t *sp, size_t limit) {
  size_t ahead = tdo_min(sp->populate_most, FRESH_AHEAD) >> sp->grain_shift;
  size_t piece = FRESH_PIECE >> sp->grain_shift;
  size_t zone = space_zone_of(sp, limit - 1);
  size_t end = space_zone_first(sp, zone + 1);
  uint32_t next = sp->groups[TDO_GROUP_FREE].head;

  if (!sp->populate || sp->huge || sp->committed < FRESH_LEAST || piece == 0)
    return;
  sp->vm->taken(sp->vm, tdo_space_addr(sp, limit));
  if (limit + ahead <= end) {
    fresh_ask(sp, limit, limit + ahead, piece);
    return;
  }
  fresh_ask(sp, limit, end, 1);
  /* The first in the list is what will be taken next. */
  if (next != TDO_ZONE_NONE) {
    size_t first = space_zone_first(sp, next);
    fresh_ask(sp, first, tdo_min(first + (limit + ahead - end),
                                 space_zone_first(sp, next + 1)), piece);
  }
}
