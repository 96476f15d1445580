/* Testudo: the debugging variant of MVFF (interface, section 2.25): fenceposts
   around blocks and a pattern over free memory, both checked in every build.
   SPDX-License-Identifier: BSD-2-Clause

   A block lies between two fenceposts; what its size lacks to the pool's
   alignment belongs to the second. Buffers have no fenceposts. Reports go to
   the assertion handler; if it returns, the pool goes on as well as it can:
   damage is ignored, and what is no block is not freed. */
#include <string.h>
#include "pool/debug.h"
#include "pool/frames.h"
#include "pool/mvff.h"
#include "pool/options.h"
#include "code/check.h"
#include "code/table.h"
#include "mpscmvff.h"

typedef struct mvff_debug {
  tdo_mvff_t mvff; /* first */
  tdo_template_t fence, free;
  size_t fence_bytes; /* of one fencepost: aligned */
  tdo_table_t sizes; /* of the blocks with fenceposts, as the client asked */
} mvff_debug_t;

static mvff_debug_t *mvff_debug_of(tdo_pool_t *pool) {
  return (mvff_debug_t *)(void *)pool;
}

static void mvff_debug_varargs(mps_arg_s args[], va_list list) {
  args[0].key = MPS_KEY_POOL_DEBUG_OPTIONS;
  args[0].val.pool_debug_options =
      va_arg(list, struct mps_pool_debug_option_s *);
  tdo_mvff_varargs(args + 1, list);
}

static void mvff_debug_splat(tdo_pool_t *pool, char *base, char *limit) {
  tdo_template_fill(&mvff_debug_of(pool)->free, base, limit);
}

static void mvff_debug_check_free(tdo_pool_t *pool, char *base, char *limit) {
  TDO_CHECK_ALWAYS(
      tdo_template_shown(&mvff_debug_of(pool)->free, base, limit),
      "free memory of a debug pool was written to");
}

static mps_res_t mvff_debug_table_alloc(void **p_o, void *closure,
                                        size_t size) {
  return tdo_pool_control_alloc(p_o, closure, size);
}

static void mvff_debug_table_free(void *closure, void *p, size_t size) {
  tdo_pool_control_free(closure, p, size);
}

static mps_res_t mvff_debug_init(tdo_pool_t *pool, mps_arg_s args[]) {
  mvff_debug_t *self = mvff_debug_of(pool);
  tdo_table_memory_t memory = {pool, mvff_debug_table_alloc,
                               mvff_debug_table_free};
  const mps_pool_debug_option_s *option = tdo_debug_options(args);
  mps_res_t res;

  if (option == NULL)
    return MPS_RES_PARAM;
  res = tdo_mvff_init(pool, args);
  if (res != MPS_RES_OK)
    return res;
  res = tdo_template_init(&self->fence, pool, option->fence_template,
                          option->fence_size);
  if (res != MPS_RES_OK)
    return res;
  res = tdo_template_init(&self->free, pool, option->free_template,
                          option->free_size);
  if (res != MPS_RES_OK) {
    tdo_template_finish(&self->fence, pool);
    return res;
  }
  self->fence_bytes = tdo_round_up(option->fence_size, pool->align);
  tdo_table_init(&self->sizes, &memory);
  self->mvff.list.made = mvff_debug_splat;
  self->mvff.list.leaving = mvff_debug_check_free;
  return MPS_RES_OK;
}

static void mvff_debug_check_block(tdo_pool_t *pool, const char *block,
                                   size_t size) {
  const mvff_debug_t *self = mvff_debug_of(pool);
  const char *limit =
      block + tdo_option_rounded(pool, size) + self->fence_bytes;

  TDO_CHECK_ALWAYS(
      tdo_template_shown(&self->fence, block - self->fence_bytes, block),
      "the fencepost before a block was written to");
  TDO_CHECK_ALWAYS(tdo_template_shown(&self->fence, block + size, limit),
                   "the fencepost after a block was written to");
}

static void mvff_debug_check_fenceposts(tdo_pool_t *pool) {
  tdo_table_entry_t *entry;
  size_t at = 0;

  while ((entry = tdo_table_next(&mvff_debug_of(pool)->sizes, &at)) != NULL)
    mvff_debug_check_block(pool, entry->key, (size_t)entry->value);
}

static void mvff_debug_check_free_space(tdo_pool_t *pool) {
  tdo_area_t area = {NULL, NULL, NULL};

  while (tdo_freelist_next(&area, &tdo_mvff_of(pool)->list))
    mvff_debug_check_free(pool, area.base, area.limit);
}

static void mvff_debug_finish(tdo_pool_t *pool) {
  mvff_debug_t *self = mvff_debug_of(pool);

  mvff_debug_check_fenceposts(pool);
  mvff_debug_check_free_space(pool);
  tdo_table_finish(&self->sizes);
  tdo_mvff_finish(pool);
  tdo_template_finish(&self->free, pool);
  tdo_template_finish(&self->fence, pool);
}

static mps_res_t mvff_debug_alloc(mps_addr_t *p_o, tdo_pool_t *pool,
                                  size_t size) {
  mvff_debug_t *self = mvff_debug_of(pool);
  size_t fence = self->fence_bytes;
  size_t inner = tdo_option_rounded(pool, size);
  tdo_area_t area;
  char *block;
  mps_res_t res;

  if (inner == 0 || inner > SIZE_MAX - 2 * fence)
    return MPS_RES_RESOURCE;
  res = tdo_mvff_find(&area, &self->mvff, inner + 2 * fence);
  if (res != MPS_RES_OK)
    return res;
  block = area.base + fence;
  if (fence > 0) {
    res = tdo_table_set(&self->sizes, block, (void *)size);
    if (res != MPS_RES_OK)
      return res;
  }
  mvff_debug_check_free(pool, area.base, area.limit);
  tdo_freelist_take(&self->mvff.list, &area);
  if (fence > 0) {
    tdo_template_fill(&self->fence, area.base, block);
    tdo_template_fill(&self->fence, block + size, area.limit);
  }
  *p_o = block;
  return MPS_RES_OK;
}

static void mvff_debug_free_area(mvff_debug_t *self, char *base, size_t size) {
  tdo_mvff_t *mvff = &self->mvff;
  tdo_extent_t *extent = tdo_freelist_block(&mvff->list, base, size);
  char *limit = base + tdo_option_rounded(&mvff->pool, size);

  if (extent == NULL)
    return;
  tdo_frames_freed(extent, base, limit);
  mvff_debug_splat(&mvff->pool, base, limit);
  tdo_mvff_release(mvff, extent, base, limit);
}

static void mvff_debug_free(tdo_pool_t *pool, mps_addr_t p, size_t size) {
  mvff_debug_t *self = mvff_debug_of(pool);
  size_t fence = self->fence_bytes;
  void *own = NULL;
  bool known;

  if (fence == 0) {
    mvff_debug_free_area(self, p, size);
    return;
  }
  known = tdo_table_get(&own, &self->sizes, p);
  TDO_CHECK_ALWAYS(known, "a block to free is not a block of the debug pool, "
                          "or was freed already");
  if (!known)
    return;
  TDO_CHECK_ALWAYS((size_t)own == size,
                   "a block is freed with a size that is not its own");
  if ((size_t)own != size)
    return;
  mvff_debug_check_block(pool, p, size);
  (void)tdo_table_remove(NULL, &self->sizes, p);
  mvff_debug_free_area(self, (char *)p - fence,
                       tdo_option_rounded(pool, size) + 2 * fence);
}

static void mvff_debug_mend(tdo_pool_t *pool, char *base, char *limit) {
  if (mvff_debug_of(pool)->fence_bytes > 0)
    tdo_template_fill(&mvff_debug_of(pool)->fence, base, limit);
}

static mps_res_t mvff_debug_fill(tdo_pool_t *pool, tdo_ap_t *ap, size_t size) {
  mps_res_t res = tdo_mvff_fill(pool, ap, size);

  if (res == MPS_RES_OK)
    mvff_debug_check_free(pool, ap->base, ap->limit);
  return res;
}

static void mvff_debug_empty(tdo_pool_t *pool, tdo_ap_t *ap, char *init,
                             char *limit) {
  mvff_debug_splat(pool, init, limit);
  tdo_mvff_empty(pool, ap, init, limit);
}

static const tdo_pool_class_t mvff_debug_class = {
    .sig = TDO_POOL_CLASS_SIG,
    .name = "MVFFDBG",
    .size = sizeof(mvff_debug_t),
    .varargs = mvff_debug_varargs,
    .init = mvff_debug_init,
    .finish = mvff_debug_finish,
    .alloc = mvff_debug_alloc,
    .free = mvff_debug_free,
    .relinquish = tdo_mvff_relinquish,
    .fill = mvff_debug_fill,
    .empty = mvff_debug_empty,
    .frame_push = tdo_frames_push,
    .frame_pop = tdo_frames_pop,
    .check_fenceposts = mvff_debug_check_fenceposts,
    .check_free_space = mvff_debug_check_free_space,
    .mend = mvff_debug_mend,
};

mps_pool_class_t mps_class_mvff_debug(void) {
  return (mps_pool_class_t)(uintptr_t)&mvff_debug_class;
}
