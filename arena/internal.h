/* Testudo: what the files of the address-space module share.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_ARENA_INTERNAL_H
#define TDO_ARENA_INTERNAL_H

#include "arena/space.h"

#define TDO_SPACE_SIG ((tdo_sig_t)0x5194AC35) /* SPACES */

static inline size_t space_grain_size(const tdo_space_t *sp) {
  return (size_t)1 << sp->grain_shift;
}

static inline size_t space_zone_of(const tdo_space_t *sp, size_t grain) {
  return grain >> (sp->zone_shift - sp->grain_shift);
}

static inline size_t space_zone_first(const tdo_space_t *sp, size_t zone) {
  return zone << (sp->zone_shift - sp->grain_shift);
}

/* Tables and chunks (space.c). Lay the tables out one after the other for as
   many grains, zones and chunks as SP says; with BASE null only measure. */
size_t tdo_space_lay_out(tdo_space_t *sp, char *base);
/* The tables of TO, zeroed, take over what those of FROM hold. */
void tdo_space_copy_tables(tdo_space_t *to, const tdo_space_t *from);
void tdo_space_init_common(tdo_space_t *sp, size_t commit_limit, double spare);
/* Zones [FIRST, LIMIT) become usable as one chunk. */
mps_res_t tdo_space_chunk_add(tdo_space_t *sp, size_t first, size_t limit);

/* Client memory (space_client.c): a run of N free grains. */
bool tdo_space_client_find(size_t *first_o, const tdo_space_t *sp, size_t n,
                           bool high);

/* Zone lists (space_zones.c). A zone is in the list of its group iff it has
   a grain to give: free zones, iff all of it has memory (warm). */
void tdo_space_zone_list(tdo_space_t *sp, size_t zone);
void tdo_space_zone_assign(tdo_space_t *sp, size_t zone, tdo_group_t group);
/* First of N free zones in a row, chunks extended if need be; for a group that
   has HUGE pages, or not. */
mps_res_t tdo_space_zone_find(size_t *zone_o, tdo_space_t *sp, size_t n,
                              bool high, bool huge);

/* Memory (space_memory.c). */
/* Ask the system what it would grant; and say which limit is exceeded when
   BYTES are committed: what the system grants comes first. */
void tdo_space_ask(tdo_space_t *sp);
mps_res_t tdo_space_short(const tdo_space_t *sp, size_t bytes);
/* Most bytes that these limits allow to be committed. */
size_t tdo_space_limit(const tdo_space_t *sp);
/* Not OK if BYTES more would use what is withheld: why. */
mps_res_t tdo_space_refuse(const tdo_space_t *sp, size_t bytes);
mps_res_t tdo_space_commit(tdo_space_t *sp, size_t first, size_t limit);
/* Empty spare grains until spare is at most TARGET bytes. */
void tdo_space_drain(tdo_space_t *sp, size_t target);

/* Fresh memory (space_fresh.c). The grains below LIMIT were given to a group
   that grows: those beyond are needed next. */
void tdo_space_fresh_ahead(tdo_space_t *sp, size_t limit);

/* Huge pages (space_huge.c). Commit all of the zones around [FIRST, LIMIT),
   which GROUP is about to get, if there is room, and advise huge pages for
   them; advise them for all zones of GROUP; memory of [FIRST, LIMIT) went. */
void tdo_space_huge_prepare(tdo_space_t *sp, size_t first, size_t limit,
                            tdo_group_t group);
void tdo_space_huge_adopt(tdo_space_t *sp, tdo_group_t group);
void tdo_space_huge_forget(tdo_space_t *sp, size_t first, size_t limit);

#endif /* TDO_ARENA_INTERNAL_H */
