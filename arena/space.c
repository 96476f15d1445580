/* Testudo: one arena's address space: making and unmaking, groups, chunks.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "arena/internal.h"
#include "code/check.h"

#define ZONE_SHIFT  20 /* 1 MiB: placement of a large arena stays small */
#define CHUNKS_MAX  65536
#define GRAIN_MOST  (SIZE_MAX / 256 + 1) /* beyond, no zone can be had */
#define TABLE_ALIGN 64

/* Every table: its field, the number of elements, their type. */
#define SPACE_TABLES(TABLE, sp)                                               \
  TABLE(owner, (sp)->grains, void *)                                          \
  TABLE(used, tdo_bits_words((sp)->grains), tdo_bits_t)                       \
  TABLE(memory, tdo_bits_words((sp)->grains), tdo_bits_t)                     \
  TABLE(fresh, tdo_bits_words((sp)->grains), tdo_bits_t)                      \
  TABLE(note, (sp)->grains, uint32_t)                                         \
  TABLE(zone_group, (sp)->zones, tdo_group_t)                                 \
  TABLE(zone, (sp)->zones, tdo_zone_t)                                        \
  TABLE(zone_byte, (sp)->zones, unsigned char)                                \
  TABLE(zone_known, tdo_bits_words((sp)->zones), tdo_bits_t)                  \
  TABLE(zone_huge, tdo_bits_words((sp)->zones), tdo_bits_t)                   \
  TABLE(chunks, (sp)->chunk_max, tdo_chunk_t)                                 \
  TABLE(blocks, (sp)->vm == NULL ? (sp)->chunk_max : 0, tdo_block_t)          \
  TABLE(extra, (sp)->grains *(sp)->extra_bytes, unsigned char)

size_t tdo_space_lay_out(tdo_space_t *sp, char *base) {
  size_t offset = 0, number = 0;
#define LAY_OUT(field, count, type)                                           \
  if (sp->vm != NULL) /* client memory is dear */                              \
    offset = tdo_vm_table_offset(sp->vm, offset, number++);                   \
  if (base != NULL)                                                           \
    sp->field = (type *)(void *)(base + offset);                              \
  offset = tdo_round_up(offset + (count) * sizeof(type), TABLE_ALIGN);
  SPACE_TABLES(LAY_OUT, sp)
#undef LAY_OUT
  return offset;
}

void tdo_space_copy_tables(tdo_space_t *to, const tdo_space_t *from) {
#define COPY(field, count, type)                                              \
  memcpy(to->field, from->field, (count) * sizeof(type));
  SPACE_TABLES(COPY, from)
#undef COPY
}

static mps_res_t space_make_tables(tdo_space_t *sp, double extra) {
  tdo_vm_t *vm = sp->vm;
  void *base;
  mps_res_t res;

  sp->zone_grains = (size_t)1 << (sp->zone_shift - sp->grain_shift);
  sp->grains = sp->size >> sp->grain_shift;
  sp->zones = sp->size >> sp->zone_shift;
  sp->chunk_max = tdo_min(sp->zones, CHUNKS_MAX);
  sp->tables_size = tdo_round_up(tdo_space_lay_out(sp, NULL), vm->page_size);
  res = vm->reserve_table(&base, vm, sp->tables_size);
  if (res != MPS_RES_OK)
    return res;
  sp->tables = base;
  (void)tdo_space_lay_out(sp, base);
  sp->zone_table_bytes = (size_t)((double)sp->zone_grains *
                                      ((double)sizeof(void *) + 0.375 + extra) +
                                  32);
  return MPS_RES_OK;
}

void tdo_space_init_common(tdo_space_t *sp, size_t commit_limit,
                           double spare) {
  sp->commit_limit = commit_limit;
  sp->granted = SIZE_MAX;
  sp->spare_fraction = spare;
  sp->spare_bytes = SIZE_MAX;
  for (size_t i = 0; i < TDO_GROUP_FIRST; ++i) {
    sp->groups[i].head = TDO_ZONE_NONE;
    sp->groups[i].live = true;
  }
  sp->groups[TDO_GROUP_SHARED].byte = TDO_ZONE_BYTE_SHARED;
  sp->sig = TDO_SPACE_SIG;
}

/* Reserve the window: as large as wished if possible. */
static mps_res_t space_reserve(tdo_space_t *sp, size_t size, size_t window) {
  void *base;
  size_t zone = (size_t)1 << sp->zone_shift;

  if (size > SIZE_MAX / 4)
    return MPS_RES_RESOURCE;
  size = tdo_round_up(size, zone);
  window = tdo_round_up(tdo_max(window, size), zone);
  for (;;) {
    mps_res_t res = sp->vm->reserve(&base, sp->vm, window, zone);
    if (res == MPS_RES_OK)
      break;
    if (window == size)
      return MPS_RES_RESOURCE;
    window = tdo_max(size, tdo_round_up(window / 4, zone));
  }
  sp->base = base;
  sp->size = window;
  return MPS_RES_OK;
}

/* At most a sixteenth of the limit of mappings is for borders of advice. */
static void space_init_huge(tdo_space_t *sp, size_t huge) {
  sp->huge = true;
  sp->huge_borders_most = sp->vm->mapping_limit(sp->vm) / 16;
  sp->zone_shift = (unsigned)tdo_max(sp->zone_shift, tdo_log2(huge));
}

mps_res_t tdo_space_init(tdo_space_t *sp, tdo_vm_t *vm, size_t size,
                         size_t window, size_t grain, size_t commit_limit,
                         double spare, double extra) {
  return tdo_space_init_huge(sp, vm, size, window, grain, commit_limit, spare,
                             extra, 0);
}

/* All zero, without a write to what is zero already. */
static void space_clear(tdo_space_t *sp) {
  static const char zero[sizeof sp->groups[0]];

  memset(sp, 0, offsetof(tdo_space_t, groups));
  for (size_t i = 0; i < TDO_GROUPS; ++i)
    if (memcmp(&sp->groups[i], zero, sizeof zero) != 0)
      memset(&sp->groups[i], 0, sizeof zero);
}

mps_res_t tdo_space_init_huge(tdo_space_t *sp, tdo_vm_t *vm, size_t size,
                              size_t window, size_t grain,
                              size_t commit_limit, double spare, double extra,
                              size_t huge) {
  mps_res_t res;

  space_clear(sp);
  sp->vm = vm;
  grain = tdo_max(grain, vm->page_size);
  TDO_CHECK(tdo_is_pow2(grain));
  if (grain > GRAIN_MOST)
    return MPS_RES_RESOURCE;
  sp->grain_shift = tdo_log2(grain);
  /* At least a word's worth of grains, so that bit tables align. */
  sp->zone_shift = (unsigned)tdo_max(ZONE_SHIFT, sp->grain_shift + 6);
  if (huge != 0)
    space_init_huge(sp, huge);
  res = space_reserve(sp, tdo_max(size, 1), window);
  if (res != MPS_RES_OK)
    return res;
  res = space_make_tables(sp, extra);
  if (res != MPS_RES_OK) {
    vm->release(vm, sp->base, sp->size);
    return res;
  }
  tdo_space_init_common(sp, commit_limit, spare);
  return MPS_RES_OK;
}

mps_res_t tdo_space_chunk_add(tdo_space_t *sp, size_t first, size_t limit) {
  if (sp->chunk_count == sp->chunk_max)
    return MPS_RES_RESOURCE;
  tdo_bits_set_range(sp->zone_known, first, limit);
  sp->chunks[sp->chunk_count].first = first;
  sp->chunks[sp->chunk_count].limit = limit;
  ++sp->chunk_count;
  sp->zone_limit = tdo_max(sp->zone_limit, limit);
  sp->cold_hint = tdo_min(sp->cold_hint, first);
  sp->reserved += (limit - first) << sp->zone_shift;
  if (sp->hooks.extended != NULL)
    sp->hooks.extended(sp->hooks.closure, sp->base + (first << sp->zone_shift),
                       (limit - first) << sp->zone_shift);
  return MPS_RES_OK;
}

mps_res_t tdo_space_start(tdo_space_t *sp, size_t size,
                          const tdo_space_hooks_t *hooks) {
  size_t zone = (size_t)1 << sp->zone_shift;

  sp->hooks = *hooks;
  size = tdo_round_up(tdo_max(size, 1), zone);
  if (sp->vm == NULL)
    return tdo_space_chunk_add(sp, 0, sp->size >> sp->zone_shift);
  sp->growth = size;
  sp->growth_min = zone;
  return tdo_space_chunk_add(sp, 0, size >> sp->zone_shift);
}

static void space_chunk_contracted(tdo_space_t *sp, size_t index) {
  tdo_chunk_t *c = &sp->chunks[index];

  if (sp->hooks.contracted != NULL)
    sp->hooks.contracted(sp->hooks.closure,
                         sp->base + (c->first << sp->zone_shift),
                         (c->limit - c->first) << sp->zone_shift);
  sp->reserved -= (c->limit - c->first) << sp->zone_shift;
}

void tdo_space_finish(tdo_space_t *sp) {
  tdo_vm_t *vm = sp->vm;

  TDO_CHECK(sp->sig == TDO_SPACE_SIG);
  while (sp->chunk_count > 0)
    space_chunk_contracted(sp, --sp->chunk_count);
  sp->sig = TDO_SIG_DEAD;
  if (vm == NULL)
    return;
  vm->release(vm, sp->tables, sp->tables_size);
  vm->release(vm, sp->base, sp->size);
}

/* A run of N zones that belong to no chunk, for a new chunk. */
static bool space_find_unknown(size_t *first_o, tdo_space_t *sp, size_t n) {
  return n <= sp->zones &&
         tdo_bits_find_clear_run(first_o, sp->zone_known, 0, sp->zones, n);
}

mps_res_t tdo_space_extend(tdo_space_t *sp, size_t size) {
  size_t need, want, first;

  if (sp->vm == NULL || size > sp->size)
    return MPS_RES_RESOURCE;
  need = tdo_round_up(tdo_max(size, tdo_min(sp->growth_min, sp->size)),
                      (size_t)1 << sp->zone_shift) >>
         sp->zone_shift;
  want = tdo_max(need, tdo_min(sp->growth, sp->size) >> sp->zone_shift);
  while (!space_find_unknown(&first, sp, want)) {
    if (want == need) {
      /* The least that serves may be less than the least preferred. */
      size_t least =
          tdo_round_up(size, (size_t)1 << sp->zone_shift) >> sp->zone_shift;
      if (least == need)
        return MPS_RES_RESOURCE;
      need = least;
    }
    want = tdo_max(need, want / 2);
  }
  return tdo_space_chunk_add(sp, first, first + want);
}

/* True if no zone of the chunk has memory, and so none is used (.owner). */
static bool space_chunk_idle(const tdo_space_t *sp, const tdo_chunk_t *c) {
  for (size_t z = c->first; z < c->limit; ++z)
    if (sp->zone[z].memory != 0)
      return false;
  return true;
}

void tdo_space_trim(tdo_space_t *sp) {
  if (sp->vm == NULL)
    return;
  /* The first chunk stays. One that has nothing but spare memory does as long
     as that may be kept. */
  for (size_t i = sp->chunk_count; i > 1; --i) {
    tdo_chunk_t *c = &sp->chunks[i - 1];
    if (!space_chunk_idle(sp, c))
      continue;
    space_chunk_contracted(sp, i - 1);
    tdo_bits_clear_range(sp->zone_known, c->first, c->limit);
    for (size_t z = c->first; z < c->limit; ++z) /* some may be reserved */
      tdo_space_zone_assign(sp, z, TDO_GROUP_FREE);
    memmove(c, c + 1, (sp->chunk_count - i) * sizeof *c);
    --sp->chunk_count;
  }
}

bool tdo_space_charge(tdo_space_t *sp, size_t bytes) {
  size_t room = sp->commit_limit - tdo_min(sp->commit_limit, sp->committed);

  if (bytes > room)
    tdo_space_purge(sp, bytes - room);
  if (bytes > sp->commit_limit - tdo_min(sp->commit_limit, sp->committed))
    return false;
  sp->committed += bytes;
  sp->charged += bytes;
  return true;
}

void tdo_space_credit(tdo_space_t *sp, size_t bytes) {
  TDO_CHECK(sp->committed >= bytes);
  sp->committed -= bytes;
  sp->charged -= bytes;
}

tdo_group_t tdo_space_group_new(tdo_space_t *sp, unsigned char byte) {
  for (size_t i = TDO_GROUP_FIRST; i < TDO_GROUPS; ++i)
    if (!sp->groups[i].live) {
      sp->groups[i].live = true;
      sp->groups[i].huge = false;
      sp->groups[i].byte = byte;
      sp->groups[i].head = TDO_ZONE_NONE;
      return (tdo_group_t)i;
    }
  return 0;
}

void tdo_space_group_merge(tdo_space_t *sp, tdo_group_t to, tdo_group_t from) {
  for (size_t z = 0; sp->groups[from].zones > 0; ++z)
    if (sp->zone_group[z] == from)
      tdo_space_zone_assign(sp, z, to);
  sp->groups[from].live = false;
  if (sp->groups[to].huge)
    tdo_space_huge_adopt(sp, to);
}

void tdo_space_group_byte(tdo_space_t *sp, tdo_group_t group,
                          unsigned char byte) {
  uint32_t left = sp->groups[group].zones;

  TDO_CHECK(group != TDO_GROUP_SHARED && sp->groups[group].live);
  if (sp->groups[group].byte == byte)
    return;
  sp->groups[group].byte = byte;
  for (size_t z = 0; left > 0; ++z)
    if (sp->zone_group[z] == group) {
      sp->zone_byte[z] = byte;
      --left;
    }
}

/* .owner, .zone, .byte, .limit, .spare, and the accounts from scratch. */
bool tdo_space_check(const tdo_space_t *sp) {
  size_t zones[TDO_GROUPS] = {0}, spare = 0;

  TDO_CHECK(sp->sig == TDO_SPACE_SIG);
  for (size_t z = 0; z < sp->zone_limit; ++z) {
    size_t first = space_zone_first(sp, z), limit = first + sp->zone_grains;
    size_t used = tdo_bits_count(sp->used, first, limit);
    size_t memory = tdo_bits_count(sp->memory, first, limit);
    TDO_CHECK(used == sp->zone[z].used);         /* .owner */
    TDO_CHECK(sp->vm == NULL || memory >= used); /* .owner */
    TDO_CHECK(memory == sp->zone[z].memory);
    TDO_CHECK(used == 0 || sp->zone_group[z] != TDO_GROUP_FREE); /* .zone */
    ++zones[sp->zone_group[z]];
    TDO_CHECK(memory == sp->zone_grains ||
              !tdo_bits_get(sp->zone_huge, z)); /* .huge */
    for (size_t g = first; g < limit; ++g) /* .fresh */
      TDO_CHECK(!tdo_bits_get(sp->fresh, g) ||
                (tdo_bits_get(sp->memory, g) && !tdo_bits_get(sp->used, g)));
    TDO_CHECK(sp->zone_byte[z] ==
              sp->groups[sp->zone_group[z]].byte); /* .byte */
    for (size_t g = first; g < limit; ++g)
      TDO_CHECK((sp->owner[g] != NULL) == tdo_bits_get(sp->used, g));
    spare += (memory - used) << sp->grain_shift;
  }
  for (size_t i = TDO_GROUP_SHARED; i < TDO_GROUPS; ++i)
    TDO_CHECK(zones[i] == sp->groups[i].zones); /* .zone */
  TDO_CHECK(sp->vm == NULL || spare == sp->spare);
  TDO_CHECK(sp->committed <= sp->commit_limit); /* .limit */
  return true;
}
