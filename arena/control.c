/* Testudo: the library's own blocks: segregated free lists over slabs of one
   grain; blocks beyond the largest class, half a grain, get grains of their
   own. Slabs go back with the arena.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "arena/control.h"
#include "code/check.h"

/* Classes: every multiple of the unit, then of a cache line, at which such
   blocks begin, then powers of two. Descriptors at distances of a power of two
   would compete for few places in a cache. */
#define CONTROL_UNIT  16
#define CONTROL_SMALL 128
#define CONTROL_MID   512
#define CONTROL_MOST  ((size_t)512 << 10) /* of any class */

#define CONTROL_SMALLS (CONTROL_SMALL / CONTROL_UNIT)
#define CONTROL_LINES  ((CONTROL_MID - CONTROL_SMALL) / TDO_CACHE_LINE)
#define CONTROL_MIDS   (CONTROL_SMALLS + CONTROL_LINES)

static unsigned control_class(size_t size) {
  unsigned i = CONTROL_MIDS;

  if (size <= CONTROL_SMALL)
    return (unsigned)((size + CONTROL_UNIT - 1) / CONTROL_UNIT) - 1;
  if (size <= CONTROL_MID)
    return CONTROL_SMALLS +
           (unsigned)((size - CONTROL_SMALL - 1) / TDO_CACHE_LINE);
  for (size_t s = CONTROL_MID * 2; s < size; s *= 2)
    ++i;
  return i;
}

static size_t control_class_size(unsigned i) {
  if (i < CONTROL_SMALLS)
    return (i + 1) * CONTROL_UNIT;
  if (i < CONTROL_MIDS)
    return CONTROL_SMALL + (i - CONTROL_SMALLS + 1) * TDO_CACHE_LINE;
  return (size_t)CONTROL_MID << (i - CONTROL_MIDS + 1);
}

void tdo_control_init(tdo_control_t *c, tdo_space_t *space) {
  memset(c, 0, sizeof *c);
  c->space = space;
  c->large_size = tdo_min(tdo_space_bytes(space, 1) / 2, CONTROL_MOST);
  tdo_ring_init(&c->owner.pool_ring);
  c->owner.sig = TDO_SEG_SIG;
}

/* The largest blocks that what is left of a slab, SIZE bytes, is cut into. */
static size_t control_piece(size_t size) {
  if (size >= 2 * CONTROL_MID)
    return tdo_pow2_at_most(size);
  return size >= CONTROL_SMALL ? CONTROL_SMALL
                               : tdo_round_down(size, CONTROL_UNIT);
}

/* Cut what there is of SLAB before LIMIT into blocks of smaller classes. */
static void control_use_up(tdo_control_t *c, tdo_control_slab_t *slab,
                           const char *limit) {
  while (slab->fresh < limit) {
    size_t size = control_piece((size_t)(limit - slab->fresh));
    unsigned i = control_class(size);
    memcpy(slab->fresh, &c->free[i], sizeof(void *));
    c->free[i] = slab->fresh;
    slab->fresh += size;
  }
}

static mps_res_t control_new_slab(tdo_control_t *c, tdo_control_slab_t *slab) {
  size_t first;
  size_t n = tdo_space_grains_for(c->space, c->large_size);
  mps_res_t res = tdo_space_alloc(&first, c->space, n, TDO_GROUP_CONTROL,
                                  false, &c->owner);

  if (res != MPS_RES_OK)
    return res;
  control_use_up(c, slab, slab->limit);
  slab->fresh = tdo_space_addr(c->space, first);
  slab->limit = slab->fresh + tdo_space_bytes(c->space, n);
  return MPS_RES_OK;
}

/* A block of BYTES, a class's size, that was never used. */
static mps_res_t control_cut(void **p_o, tdo_control_t *c, size_t bytes) {
  tdo_control_slab_t *slab = bytes > CONTROL_MID ? &c->large : &c->small;
  size_t line = TDO_CACHE_LINE - 1;
  size_t gap = bytes > CONTROL_SMALL ? -(size_t)slab->fresh & line : 0;

  if ((size_t)(slab->limit - slab->fresh) < gap + bytes) {
    mps_res_t res = control_new_slab(c, slab);
    if (res != MPS_RES_OK)
      return res;
    gap = 0;
  }
  control_use_up(c, slab, slab->fresh + gap);
  *p_o = slab->fresh;
  slab->fresh += bytes;
  return MPS_RES_OK;
}

static mps_res_t control_alloc_large(void **p_o, tdo_control_t *c,
                                     size_t size) {
  size_t first;
  mps_res_t res =
      tdo_space_alloc(&first, c->space, tdo_space_grains_for(c->space, size),
                      TDO_GROUP_CONTROL, false, &c->owner);

  if (res == MPS_RES_OK) {
    c->allocated += size;
    *p_o = tdo_space_addr(c->space, first);
  }
  return res;
}

mps_res_t tdo_control_alloc(void **p_o, tdo_control_t *c, size_t size) {
  unsigned i;

  TDO_CHECK(size > 0);
  if (size > c->large_size)
    return control_alloc_large(p_o, c, size);
  i = control_class(size);
  if (c->free[i] != NULL) {
    *p_o = c->free[i];
    memcpy(&c->free[i], c->free[i], sizeof(void *));
  } else {
    mps_res_t res = control_cut(p_o, c, control_class_size(i));
    if (res != MPS_RES_OK)
      return res;
  }
  c->allocated += size;
  return MPS_RES_OK;
}

void tdo_control_free(tdo_control_t *c, void *p, size_t size) {
  unsigned i;

  TDO_CHECK(c->allocated >= size);
  c->allocated -= size;
  if (size > c->large_size) {
    tdo_space_free(c->space, tdo_space_grain(c->space, p),
                   tdo_space_grains_for(c->space, size));
    return;
  }
  i = control_class(size);
  memcpy(p, &c->free[i], sizeof(void *));
  c->free[i] = p;
}
