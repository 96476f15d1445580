/* Testudo: MVFF, manual variable first fit (interface, section 4.8): blocks
   of any size, placed by address.
   SPDX-License-Identifier: BSD-2-Clause */
#include "pool/mvff.h"
#include "code/check.h"
#include "mpscmvff.h"
#include "pool/frames.h"
#include "pool/options.h"

#define MVFF_EXTEND_BY 65536
#define MVFF_SPARE     0.75

void tdo_mvff_varargs(mps_arg_s args[], va_list list) {
  args[0].key = MPS_KEY_EXTEND_BY;
  args[0].val.size = va_arg(list, size_t);
  args[1].key = MPS_KEY_MEAN_SIZE;
  args[1].val.size = va_arg(list, size_t);
  args[2].key = MPS_KEY_ALIGN;
  args[2].val.align = va_arg(list, mps_align_t);
  args[3].key = MPS_KEY_MVFF_SLOT_HIGH;
  args[3].val.b = va_arg(list, mps_bool_t);
  args[4].key = MPS_KEY_MVFF_ARENA_HIGH;
  args[4].val.b = va_arg(list, mps_bool_t);
  args[5].key = MPS_KEY_MVFF_FIRST_FIT;
  args[5].val.b = va_arg(list, mps_bool_t);
  args[6].key = MPS_KEY_ARGS_END;
}

mps_res_t tdo_mvff_init(tdo_pool_t *pool, mps_arg_s args[]) {
  tdo_mvff_t *mvff = tdo_mvff_of(pool);
  size_t mean = 32; /* a hint that nothing here needs */
  mps_res_t res;

  mvff->extend_by = MVFF_EXTEND_BY;
  mvff->spare = MVFF_SPARE;
  mvff->first_fit = true;
  res = tdo_option_size(&mvff->extend_by, args, MPS_KEY_EXTEND_BY);
  if (res == MPS_RES_OK)
    res = tdo_option_size(&mean, args, MPS_KEY_MEAN_SIZE);
  if (res == MPS_RES_OK)
    res = tdo_option_fraction(&mvff->spare, args, MPS_KEY_SPARE);
  if (res == MPS_RES_OK)
    res = tdo_option_align(pool, args);
  if (res != MPS_RES_OK)
    return res;
  tdo_option_bool(&mvff->arena_high, args, MPS_KEY_MVFF_ARENA_HIGH);
  tdo_option_bool(&mvff->slot_high, args, MPS_KEY_MVFF_SLOT_HIGH);
  tdo_option_bool(&mvff->first_fit, args, MPS_KEY_MVFF_FIRST_FIT);
  tdo_freelist_init(&mvff->list, pool);
  return MPS_RES_OK;
}

void tdo_mvff_finish(tdo_pool_t *pool) {
  tdo_freelist_finish(&tdo_mvff_of(pool)->list);
}

/* New memory for SIZE bytes: as much as the client likes, or just enough, or
   just enough when the arena has back what this pool can spare. */
static mps_res_t mvff_extend_by(tdo_area_t *area_o, tdo_mvff_t *mvff,
                                size_t size) {
  tdo_extend_t how = mvff->arena_high ? TDO_EXTEND_HIGH : TDO_EXTEND_LOW;
  size_t most = tdo_max(size, mvff->extend_by);
  mps_res_t res = tdo_freelist_extend(area_o, &mvff->list, most, how);

  if (res != MPS_RES_OK && most > size)
    res = tdo_freelist_extend(area_o, &mvff->list, size, how);
  if (res != MPS_RES_OK && tdo_freelist_return_all(&mvff->list, SIZE_MAX) > 0)
    res = tdo_freelist_extend(area_o, &mvff->list, size, how);
  return res;
}

/* A free run for SIZE bytes where no extent has one: what is free on both sides
   of a border, that of new memory, too; or else the new memory, and what it is
   part of. Blocks of more than half of an extent would take one each. */
static mps_res_t mvff_extend(tdo_area_t *area_o, tdo_mvff_t *mvff,
                             size_t size) {
  mps_res_t res;

  if (tdo_freelist_join(area_o, &mvff->list, size))
    return MPS_RES_OK;
  res = mvff_extend_by(area_o, mvff, size);
  if (res == MPS_RES_OK && !tdo_freelist_join(area_o, &mvff->list, size))
    *area_o = tdo_freelist_around(&mvff->list, area_o->extent, area_o->base);
  return res;
}

mps_res_t tdo_mvff_find(tdo_area_t *area_o, tdo_mvff_t *mvff, size_t size) {
  bool found = !mvff->slot_high
                   ? tdo_freelist_part(area_o, &mvff->list, size,
                                       !mvff->first_fit)
               : mvff->first_fit
                   ? tdo_freelist_lowest(area_o, &mvff->list, size)
                   : tdo_freelist_highest(area_o, &mvff->list, size);

  if (!found) {
    mps_res_t res = mvff_extend(area_o, mvff, size);
    if (res != MPS_RES_OK)
      return res;
  }
  if (mvff->slot_high)
    area_o->base = area_o->limit - size;
  else
    area_o->limit = area_o->base + size;
  return MPS_RES_OK;
}

mps_res_t tdo_mvff_find_buffer(tdo_area_t *area_o, tdo_mvff_t *mvff,
                               size_t size) {
  size_t most = tdo_max(size, tdo_round_up(mvff->extend_by, mvff->pool.align));

  if (!tdo_freelist_largest(area_o, &mvff->list, size)) {
    mps_res_t res = mvff_extend(area_o, mvff, size);
    if (res != MPS_RES_OK)
      return res;
  }
  if (tdo_area_size(area_o) > most) /* leave some to others */
    area_o->limit = area_o->base + most;
  return MPS_RES_OK;
}

size_t tdo_mvff_relinquish(tdo_pool_t *pool) {
  return tdo_freelist_return_all(&tdo_mvff_of(pool)->list, SIZE_MAX);
}

static mps_res_t mvff_alloc(mps_addr_t *p_o, tdo_pool_t *pool, size_t size) {
  tdo_mvff_t *mvff = tdo_mvff_of(pool);
  tdo_area_t area;
  mps_res_t res;

  size = tdo_option_rounded(pool, size);
  if (size == 0)
    return MPS_RES_RESOURCE;
  res = tdo_mvff_find(&area, mvff, size);
  if (res != MPS_RES_OK)
    return res;
  tdo_freelist_take(&mvff->list, &area);
  *p_o = area.base;
  return MPS_RES_OK;
}

void tdo_mvff_release(tdo_mvff_t *mvff, tdo_extent_t *extent, char *base,
                      char *limit) {
  tdo_freelist_give(&mvff->list, extent, base, limit);
  tdo_freelist_spare(&mvff->list, extent, base, mvff->spare, 0);
}

static void mvff_free(tdo_pool_t *pool, mps_addr_t p, size_t size) {
  tdo_mvff_t *mvff = tdo_mvff_of(pool);
  tdo_extent_t *extent = tdo_freelist_block(&mvff->list, p, size);
  char *base = p, *limit = base + tdo_option_rounded(pool, size);

  if (extent == NULL)
    return;
  tdo_frames_freed(extent, base, limit);
  tdo_mvff_release(mvff, extent, base, limit);
}

mps_res_t tdo_mvff_fill(tdo_pool_t *pool, tdo_ap_t *ap, size_t size) {
  tdo_mvff_t *mvff = tdo_mvff_of(pool);
  tdo_area_t area;
  mps_res_t res = tdo_mvff_find_buffer(&area, mvff, size);

  if (res != MPS_RES_OK)
    return res;
  tdo_freelist_take(&mvff->list, &area);
  tdo_frames_attach(ap, area.extent, area.base, area.limit);
  return MPS_RES_OK;
}

void tdo_mvff_empty(tdo_pool_t *pool, tdo_ap_t *ap, char *init, char *limit) {
  tdo_frames_detach(ap);
  if (init < limit)
    tdo_mvff_release(tdo_mvff_of(pool), ap->seg, init, limit);
}

static const tdo_pool_class_t mvff_class = {
    .sig = TDO_POOL_CLASS_SIG,
    .name = "MVFF",
    .size = sizeof(tdo_mvff_t),
    .varargs = tdo_mvff_varargs,
    .init = tdo_mvff_init,
    .finish = tdo_mvff_finish,
    .alloc = mvff_alloc,
    .free = mvff_free,
    .relinquish = tdo_mvff_relinquish,
    .fill = tdo_mvff_fill,
    .empty = tdo_mvff_empty,
    .frame_push = tdo_frames_push,
    .frame_pop = tdo_frames_pop,
};

mps_pool_class_t mps_class_mvff(void) {
  return (mps_pool_class_t)(uintptr_t)&mvff_class;
}
