/* Testudo: an arena whose groups of zones are all taken, for tests of what does
   without. SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_GROUPS_H
#define TDO_TEST_GROUPS_H

#include "trace/heap.h"

static tdo_group_t groups_taken[TDO_GROUPS];
static size_t groups_count;

static void groups_take(tdo_heap_t *heap) {
  tdo_group_t group;
  while ((group = tdo_space_group_new(&heap->space, 0)) != 0)
    groups_taken[groups_count++] = group;
}

static void groups_give(tdo_heap_t *heap) {
  while (groups_count > 0)
    tdo_space_group_merge(&heap->space, TDO_GROUP_SHARED,
                          groups_taken[--groups_count]);
}

#endif
