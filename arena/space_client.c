/* Testudo: address space over memory that the client gave, in one block or
   several, anywhere. The tables lie in the blocks. Zones are single grains,
   so that groups lie anywhere, too.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "arena/internal.h"
#include "code/check.h"

#define SPACE_CLIENT_ROOM_SHARE 4 /* room in the tables for 1/4 more grains,  \
                                   */
#define SPACE_CLIENT_ROOM   64    /* and so many on top */
#define SPACE_CLIENT_BLOCKS 16    /* room for blocks, at first */
#define SPACE_CLIENT_ALIGN  16    /* of the tables */
#define SPACE_CLIENT_GRAIN  ((size_t)4096) /* the least */

const tdo_block_t *tdo_space_block(const tdo_space_t *sp, const void *p) {
  size_t n = atomic_load_explicit(&sp->block_count, memory_order_acquire);

  for (size_t i = 0; i < n; ++i)
    if ((tdo_word_t)p - (tdo_word_t)sp->blocks[i].base < sp->blocks[i].size)
      return &sp->blocks[i];
  return NULL;
}

/* Limits count: blocks never touch each other. */
size_t tdo_space_far_offset(const tdo_space_t *sp, const void *p) {
  size_t n = atomic_load_explicit(&sp->block_count, memory_order_acquire);

  for (size_t i = 0; i < n; ++i) {
    const tdo_block_t *b = &sp->blocks[i];
    if ((tdo_word_t)p - (tdo_word_t)b->base <= b->size)
      return b->offset + ((tdo_word_t)p - (tdo_word_t)b->base);
  }
  TDO_ASSERT(false, "an address is in no block of the arena");
  return 0;
}

char *tdo_space_far_at(const tdo_space_t *sp, size_t offset) {
  size_t n = atomic_load_explicit(&sp->block_count, memory_order_acquire);

  for (size_t i = 0; i < n; ++i) {
    const tdo_block_t *b = &sp->blocks[i];
    if (offset - b->offset <= b->size)
      return b->base + (offset - b->offset);
  }
  TDO_ASSERT(false, "a grain is in no block of the arena");
  return sp->base;
}

bool tdo_space_client_find(size_t *first_o, const tdo_space_t *sp, size_t n,
                           bool high) {
  for (size_t i = 0; i < sp->chunk_count; ++i) {
    const tdo_chunk_t *c = &sp->chunks[high ? sp->chunk_count - 1 - i : i];
    if ((high ? tdo_bits_find_clear_run_high : tdo_bits_find_clear_run)(
            first_o, sp->used, c->first, c->limit, n))
      return true;
  }
  return false;
}

/* Lay out tables with room for GRAINS grains and BLOCKS blocks at LOW, and
   say where the grains above them begin. SP itself is not in use yet. */
static char *client_lay_out(tdo_space_t *sp, char *low, size_t grains,
                            size_t blocks) {
  char *base = (char *)tdo_round_up((tdo_word_t)low, SPACE_CLIENT_ALIGN);

  sp->grains = sp->zones = grains;
  sp->chunk_max = blocks;
  sp->tables = base;
  sp->tables_size = tdo_space_lay_out(sp, base);
  return (char *)tdo_round_up((tdo_word_t)base + sp->tables_size,
                              space_grain_size(sp));
}

static size_t client_room(size_t grains) {
  return grains + grains / SPACE_CLIENT_ROOM_SHARE + SPACE_CLIENT_ROOM;
}

/* Cut [LOW, HIGH) into tables for BEFORE grains and the new ones, and as many
   new grains as there is space for. Returns their number, 0 if none. */
static size_t client_cut(tdo_space_t *sp, char **first_o, char *low,
                         char *high, size_t before, size_t blocks) {
  size_t grain = space_grain_size(sp);
  size_t n = (size_t)(high - low) / grain, fit = 0;

  /* The largest N that fits; what fits falls as N grows. */
  while (fit < n) {
    size_t middle = n - (n - fit) / 2;
    char *first =
        client_lay_out(sp, low, client_room(before + middle), blocks);
    if (first < high && (size_t)(high - first) / grain >= middle)
      fit = middle;
    else
      n = middle - 1;
  }
  *first_o = client_lay_out(sp, low, client_room(before + fit), blocks);
  return fit;
}

static void client_add(tdo_space_t *sp, char *base, size_t grains,
                       size_t first) {
  size_t i = atomic_load(&sp->block_count);

  sp->blocks[i].base = base;
  sp->blocks[i].size = grains << sp->grain_shift;
  sp->blocks[i].offset = first << sp->grain_shift;
  atomic_store_explicit(&sp->block_count, i + 1, memory_order_release);
}

static mps_res_t client_charge_tables(tdo_space_t *sp) {
  return tdo_space_charge(sp, sp->tables_size) ? MPS_RES_OK
                                               : MPS_RES_COMMIT_LIMIT;
}

mps_res_t tdo_space_init_client(tdo_space_t *sp, void *base, size_t size,
                                size_t grain, size_t commit_limit,
                                double spare, size_t extra) {
  char *low = base, *high = low + size;
  size_t n;

  memset(sp, 0, sizeof *sp);
  grain = tdo_max(grain, SPACE_CLIENT_GRAIN);
  TDO_CHECK(tdo_is_pow2(grain));
  sp->grain_shift = sp->zone_shift = tdo_log2(grain);
  sp->zone_grains = 1;
  sp->extra_bytes = extra;
  if (high <= low)
    return MPS_RES_MEMORY;
  n = client_cut(sp, &sp->base, low, high, 0, SPACE_CLIENT_BLOCKS);
  if (n == 0)
    return MPS_RES_MEMORY;
  sp->size = n << sp->grain_shift;
  memset(sp->tables, 0, sp->tables_size);
  tdo_space_init_common(sp, commit_limit, spare);
  client_add(sp, sp->base, n, 0);
  return client_charge_tables(sp);
}

/* Keep a grain's distance from other blocks, so that the end of one is never
   the start of another. False if [*LOW, *HIGH) overlaps one. */
static bool client_trim(const tdo_space_t *sp, char **low, char **high) {
  size_t n = atomic_load(&sp->block_count);

  for (size_t i = 0; i < n; ++i) {
    char *base = sp->blocks[i].base, *limit = base + sp->blocks[i].size;
    if (*low < limit && base < *high)
      return false;
    if (*low == limit)
      *low += space_grain_size(sp);
    if (*high == base)
      *high -= space_grain_size(sp);
  }
  return true;
}

/* New tables at LOW, for the old grains and those of the new block. */
static mps_res_t client_new_tables(tdo_space_t *sp, char **low, char *high,
                                   size_t before) {
  tdo_space_t new = *sp;
  /* As many blocks more as there are, when there is room for none. */
  size_t blocks = atomic_load(&sp->block_count) < sp->chunk_max
                      ? sp->chunk_max
                      : 2 * sp->chunk_max;
  mps_res_t res;

  if (client_cut(&new, low, *low, high, before, blocks) == 0)
    return MPS_RES_MEMORY;
  memset(new.tables, 0, new.tables_size);
  res = client_charge_tables(&new);
  if (res != MPS_RES_OK)
    return res;
  tdo_space_copy_tables(&new, sp);
  /* Readers without the lock find the same under the old tables. */
  *sp = new;
  return MPS_RES_OK;
}

mps_res_t tdo_space_add_block(tdo_space_t *sp, void *base, size_t size) {
  size_t grain = space_grain_size(sp), count = atomic_load(&sp->block_count);
  const tdo_block_t *last = &sp->blocks[count - 1];
  size_t before = ((last->offset + last->size) >> sp->grain_shift) + 1, n;
  char *high = (char *)tdo_round_down((tdo_word_t)base + size, grain);
  char *low = (char *)tdo_round_up((tdo_word_t)base, grain);
  mps_res_t res;

  TDO_CHECK(sp->vm == NULL);
  if (low >= high)
    return MPS_RES_MEMORY;
  if (!client_trim(sp, &low, &high))
    return MPS_RES_PARAM;
  if (low >= high)
    return MPS_RES_MEMORY;
  n = (size_t)(high - low) >> sp->grain_shift;
  if (before + n > sp->grains || count == sp->chunk_max) {
    res = client_new_tables(sp, &low, high, before);
    if (res != MPS_RES_OK)
      return res;
    n = (size_t)(high - low) >> sp->grain_shift;
  }
  client_add(sp, low, n, before);
  return tdo_space_chunk_add(sp, before, before + n);
}
