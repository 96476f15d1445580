/* Testudo: segregated allocation caches.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "trace/sac.h"
#include "code/check.h"

#define SAC_BATCH      3  /* fill and empty this part of a class at a time, */
#define SAC_BATCH_MOST 32 /* but fill at most so many blocks */

/* The smallest class for SIZE bytes, or the end. */
static _mps_sac_list_s *sac_list(tdo_sac_t *sac, size_t size) {
  _mps_sac_list_s *list = sac->pub._lists;

  while (list->_size < size)
    ++list;
  return list;
}

static bool sac_is_end(const _mps_sac_list_s *list) {
  return list->_size == SIZE_MAX;
}

static void sac_push(_mps_sac_list_s *list, mps_addr_t p) {
  memcpy(p, &list->_blocks, sizeof list->_blocks);
  list->_blocks = p;
  ++list->_count;
}

static mps_addr_t sac_pop(_mps_sac_list_s *list) {
  mps_addr_t p = list->_blocks;

  memcpy(&list->_blocks, p, sizeof list->_blocks);
  --list->_count;
  return p;
}

bool tdo_sac_check(const tdo_sac_t *sac) {
  const _mps_sac_list_s *list;

  TDO_CHECK(sac != NULL && sac->sig == TDO_SAC_SIG);
  for (list = sac->pub._lists; !sac_is_end(list); ++list) {
    mps_addr_t p = list->_blocks;
    TDO_CHECK(list->_count <= list->_count_max);
    for (size_t i = 0; i < list->_count; ++i) /* .count */
      memcpy(&p, p, sizeof p);
  }
  TDO_CHECK(list->_count == 0 && list->_count_max == 0); /* .end */
  return true;
}

static bool sac_classes_good(const tdo_pool_t *pool, size_t n,
                             const mps_sac_class_s classes[]) {
  size_t last = sizeof(void *) - 1;

  if (n == 0 || classes == NULL)
    return false;
  for (size_t i = 0; i < n; ++i) {
    size_t size = classes[i].mps_block_size;
    if (size <= last || size == SIZE_MAX || size % pool->align != 0)
      return false;
    last = size;
  }
  return true;
}

/* What no pool takes back is not cached, but refused when it is freed. */
mps_res_t tdo_sac_create(tdo_sac_t **sac_o, tdo_pool_t *pool, size_t n,
                         const mps_sac_class_s classes[]) {
  bool good = sac_classes_good(pool, n, classes);
  tdo_sac_t *sac;
  void *p;
  mps_res_t res;

  TDO_ASSERT(good,
             "the sizes of a cache's classes do not rise, or are smaller "
             "than a pointer, or not aligned as the pool is");
  if (!good)
    return MPS_RES_PARAM;
  if (n > MPS_SAC_CLASS_LIMIT)
    return MPS_RES_LIMIT;
  res = tdo_pool_control_alloc(&p, pool, sizeof *sac);
  if (res != MPS_RES_OK)
    return res;
  sac = p;
  memset(sac, 0, sizeof *sac);
  for (size_t i = 0; i < n; ++i) {
    sac->pub._lists[i]._size = classes[i].mps_block_size;
    sac->pub._lists[i]._count_max =
        pool->klass->free != NULL ? classes[i].mps_cached_count : 0;
  }
  sac->pub._lists[n]._size = SIZE_MAX; /* .end */
  sac->pool = pool;
  sac->sig = TDO_SAC_SIG;
  *sac_o = sac;
  return MPS_RES_OK;
}

/* Give COUNT of the class's blocks to the pool. */
static void sac_drain(tdo_sac_t *sac, _mps_sac_list_s *list, size_t count) {
  for (; count > 0; --count)
    sac->pool->klass->free(sac->pool, sac_pop(list), list->_size);
}

void tdo_sac_flush(tdo_sac_t *sac) {
  for (_mps_sac_list_s *list = sac->pub._lists; !sac_is_end(list); ++list)
    sac_drain(sac, list, list->_count);
}

void tdo_sac_destroy(tdo_sac_t *sac) {
  TDO_CHECK(sac->sig == TDO_SAC_SIG);
  tdo_sac_flush(sac);
  sac->sig = TDO_SIG_DEAD;
  tdo_pool_control_free(sac->pool, sac, sizeof *sac);
}

bool tdo_sac_take(mps_addr_t *p_o, tdo_sac_t *sac, size_t size) {
  _mps_sac_list_s *list = sac_list(sac, size);

  if (list->_count == 0)
    return false;
  *p_o = sac_pop(list);
  return true;
}

bool tdo_sac_put(tdo_sac_t *sac, mps_addr_t p, size_t size) {
  _mps_sac_list_s *list = sac_list(sac, size);

  if (list->_count >= list->_count_max)
    return false;
  sac_push(list, p);
  return true;
}

mps_res_t tdo_sac_fill(mps_addr_t *p_o, tdo_sac_t *sac, size_t size) {
  const tdo_pool_class_t *klass = sac->pool->klass;
  _mps_sac_list_s *list = sac_list(sac, size);
  size_t batch = tdo_min(list->_count_max / SAC_BATCH, SAC_BATCH_MOST);
  mps_addr_t p;
  mps_res_t res;

  TDO_ASSERT(klass->alloc != NULL,
             "the pool of this cache does not support mps_alloc");
  if (klass->alloc == NULL)
    return MPS_RES_UNIMPL;
  if (tdo_sac_take(p_o, sac, size))
    return MPS_RES_OK;
  if (sac_is_end(list))
    return klass->alloc(p_o, sac->pool, size);
  res = klass->alloc(&p, sac->pool, list->_size);
  if (res != MPS_RES_OK)
    return res;
  for (; batch > 0; --batch) {
    mps_addr_t more;
    if (klass->alloc(&more, sac->pool, list->_size) != MPS_RES_OK)
      break;
    sac_push(list, more);
  }
  *p_o = p;
  return MPS_RES_OK;
}

size_t tdo_sac_size(tdo_sac_t *sac, size_t size) {
  const _mps_sac_list_s *list = sac_list(sac, size);

  return sac_is_end(list) ? size : list->_size;
}

void tdo_sac_empty(tdo_sac_t *sac, mps_addr_t p, size_t size) {
  const tdo_pool_class_t *klass = sac->pool->klass;
  _mps_sac_list_s *list = sac_list(sac, size);

  TDO_ASSERT(klass->free != NULL,
             "the pool of this cache does not support mps_free");
  if (klass->free == NULL)
    return;
  if (list->_count_max == 0) { /* the end is such a list */
    klass->free(sac->pool, p, tdo_sac_size(sac, size));
  } else {
    if (list->_count == list->_count_max)
      sac_drain(sac, list, list->_count / SAC_BATCH + 1);
    sac_push(list, p);
  }
}
