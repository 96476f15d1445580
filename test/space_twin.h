/* Testudo: an address space over the double of the platform, and what its hooks
   were told, for the tests of arena/.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_SPACE_TWIN_H
#define TDO_TEST_SPACE_TWIN_H

#include <string.h>
#include "arena/internal.h"
#include "code/vm_double.h"
#include "test/require.h"
#include "test/suite.h"

enum { GRAIN = 4096, ZONES = 24, MANY_ZONES = 160 };

#define ZONE ((size_t)1 << 20)

static tdo_vm_double_t twin;
static tdo_space_t space;

/* What the hooks were told, page by page. */
static tdo_bits_t told_memory[MANY_ZONES * 4], told_taken[MANY_ZONES * 4];
static size_t told_reserved;
static size_t zones = ZONES; /* in the window */

static inline void told_set(tdo_bits_t *bits, size_t first, size_t limit,
                            bool value) {
  REQUIRE(value ? tdo_bits_next_set(bits, first, limit) == limit
                : tdo_bits_all_set(bits, first, limit));
  if (value)
    tdo_bits_set_range(bits, first, limit);
  else
    tdo_bits_clear_range(bits, first, limit);
}

static inline void on_committed(void *closure, size_t first, size_t limit) {
  told_set(closure, first, limit, true);
}

/* They have their memory still, and nobody uses it. */
static inline void on_decommitting(void *closure, size_t first, size_t limit) {
  REQUIRE(tdo_bits_all_set(closure, first, limit));
  REQUIRE(tdo_bits_next_set(told_taken, first, limit) == limit);
}

static inline void on_decommitted(void *closure, size_t first, size_t limit) {
  told_set(closure, first, limit, false);
  REQUIRE(tdo_bits_next_set(told_taken, first, limit) == limit);
}

static inline void on_taken(void *closure, size_t first, size_t limit) {
  REQUIRE(tdo_bits_all_set(closure, first, limit)); /* they have memory */
  REQUIRE(space.busy == 0); /* spare memory may go to open them */
  told_set(told_taken, first, limit, true);
}

static inline void on_dropped(void *closure, size_t first, size_t limit) {
  (void)closure;
  told_set(told_taken, first, limit, false);
}

static inline void on_extended(void *closure, void *base, size_t size) {
  (void)closure, (void)base;
  told_reserved += size;
}

static inline void on_contracted(void *closure, void *base, size_t size) {
  (void)closure, (void)base;
  told_reserved -= size;
}

static const tdo_space_hooks_t hooks = {
    told_memory, on_committed, on_decommitting, on_decommitted, on_taken,
    on_dropped,  NULL,         on_extended,     on_contracted};

/* A space of CHUNK bytes to begin with, in a window of so many zones; with huge
   pages as large as a zone, or without. */
static inline void space_start_with(size_t chunk, size_t limit, double spare,
                                    bool huge) {
  tdo_vm_double_options_t options = {.pages = zones * ZONE / GRAIN,
                                     .huge_size = huge ? ZONE : 0};
  memset(told_memory, 0, sizeof told_memory);
  memset(told_taken, 0, sizeof told_taken);
  told_reserved = 0;
  REQUIRE(tdo_vm_double_init(&twin, &options) == MPS_RES_OK);
  REQUIRE(tdo_space_init_huge(&space, &twin.vm, chunk, zones * ZONE, GRAIN,
                              limit, spare, 0,
                              options.huge_size) == MPS_RES_OK);
  REQUIRE(tdo_space_start(&space, chunk, &hooks) == MPS_RES_OK);
}

static inline void space_start(size_t chunk, size_t limit, double spare) {
  space_start_with(chunk, limit, spare, false);
}

static inline void space_verify(void) {
  size_t runs = 0;
  REQUIRE(tdo_space_check(&space));
  REQUIRE(told_reserved == space.reserved);
  for (size_t g = 0; g < space.grains; ++g) {
    bool memory = tdo_bits_get(space.memory, g);
    REQUIRE(memory == tdo_bits_get(told_memory, g));
    runs += memory && (g == 0 || !tdo_bits_get(space.memory, g - 1));
    REQUIRE(tdo_bits_get(space.used, g) == tdo_bits_get(told_taken, g));
    REQUIRE(memory ==
            (tdo_vm_double_access(&twin, tdo_space_addr(&space, g)) ==
             TDO_ACCESS_WRITE));
    REQUIRE(!tdo_bits_get(space.zone_huge, space_zone_of(&space, g)) ||
            tdo_vm_double_advised(&twin, tdo_space_addr(&space, g)));
  }
  REQUIRE(runs == space.runs);
}

static inline void space_stop(void) {
  space_verify();
  tdo_space_finish(&space);
  ck_assert_uint_eq(told_reserved, 0);
  tdo_vm_double_finish(&twin);
}

static inline size_t take(size_t n, tdo_group_t group, bool high) {
  size_t first = SIZE_MAX;
  REQUIRE(tdo_space_alloc(&first, &space, n, group, high, &space) ==
          MPS_RES_OK);
  return first;
}

#endif /* TDO_TEST_SPACE_TWIN_H */
