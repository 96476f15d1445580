/* Testudo: the double against a plain model, and against the real system.
   SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "code/vm_double.h"
#include "test/random.h"
#include "test/require.h"
#include "test/suite.h"

enum { PAGES = 64, CALLS = 64 };

#define PAGE twin.vm.page_size

static tdo_vm_double_t twin;
static tdo_vm_call_t calls[CALLS];

static char *make(size_t limit, tdo_vm_t *behind) {
  tdo_vm_double_options_t options = {.pages = PAGES,
                                     .mapping_limit = limit,
                                     .calls = calls,
                                     .calls_max = CALLS,
                                     .behind = behind};
  void *base;
  ck_assert_int_eq(tdo_vm_double_init(&twin, &options), MPS_RES_OK);
  ck_assert_int_eq(
      twin.vm.reserve(&base, &twin.vm, PAGES * PAGE, twin.vm.page_size),
      MPS_RES_OK);
  return base;
}

static mps_res_t protect(char *base, size_t first, size_t limit,
                         tdo_access_t access) {
  mps_res_t res = twin.vm.protect(&twin.vm, base + first * PAGE,
                                  (limit - first) * PAGE, access);
  ck_assert(tdo_vm_double_check(&twin));
  return res;
}

START_TEST(records) {
  char *base = make(0, NULL);
  ck_assert_int_eq(twin.vm.commit(&twin.vm, base, 4 * PAGE), MPS_RES_OK);
  ck_assert_int_eq(protect(base, 1, 2, TDO_ACCESS_READ), MPS_RES_OK);
  ck_assert_int_eq(twin.vm.decommit(&twin.vm, base, 4 * PAGE), MPS_RES_OK);
  twin.vm.release(&twin.vm, base, PAGES * PAGE);
  ck_assert_uint_eq(twin.calls_count, 5);
  static const tdo_vm_call_kind_t kinds[] = {TDO_VM_RESERVE, TDO_VM_COMMIT,
                                             TDO_VM_PROTECT, TDO_VM_DECOMMIT,
                                             TDO_VM_RELEASE};
  static const size_t sizes[] = {PAGES, 4, 1, 4, PAGES};
  for (size_t i = 0; i < 5; ++i) {
    ck_assert_int_eq(calls[i].kind, kinds[i]);
    ck_assert(!calls[i].refused);
    ck_assert_uint_eq(calls[i].size, sizes[i] * PAGE);
    ck_assert_ptr_eq(calls[i].base, base + (i == 2 ? PAGE : 0));
  }
  ck_assert_int_eq(calls[2].access, TDO_ACCESS_READ);
  ck_assert_uint_eq(atomic_load(&twin.vm.counters.map), 2);
  ck_assert_uint_eq(atomic_load(&twin.vm.counters.unmap), 1);
  ck_assert_uint_eq(atomic_load(&twin.vm.counters.protect), 2);
  ck_assert_uint_eq(atomic_load(&twin.vm.counters.protect_pages), 5);
  ck_assert_uint_eq(twin.mappings, 0);
  tdo_vm_double_clear(&twin);
  for (int i = 0; i < 2 * CALLS; ++i) { /* more than the record holds */
    void *again;
    ck_assert_int_eq(twin.vm.reserve(&again, &twin.vm, PAGE, PAGE),
                     i < PAGES ? MPS_RES_OK : MPS_RES_RESOURCE);
  }
  ck_assert_uint_eq(twin.calls_count, 2 * CALLS);
  tdo_vm_double_finish(&twin);
}
END_TEST

START_TEST(refuses) {
  char *base = make(0, NULL);
  void *table;
  ck_assert_int_eq(twin.vm.commit(&twin.vm, base, 8 * PAGE), MPS_RES_OK);
  tdo_vm_double_refuse_nth(&twin, 2);
  ck_assert_int_eq(protect(base, 0, 1, TDO_ACCESS_READ), MPS_RES_OK);
  ck_assert_int_eq(protect(base, 1, 2, TDO_ACCESS_READ), MPS_RES_MEMORY);
  ck_assert_int_eq(tdo_vm_double_access(&twin, base + PAGE), TDO_ACCESS_WRITE);
  ck_assert_int_eq(protect(base, 1, 2, TDO_ACCESS_READ), MPS_RES_OK);
  tdo_vm_double_refuse_kind(&twin, TDO_VM_DECOMMIT, true);
  ck_assert_int_eq(twin.vm.decommit(&twin.vm, base, PAGE), MPS_RES_MEMORY);
  ck_assert_int_eq(tdo_vm_double_access(&twin, base), TDO_ACCESS_READ);
  ck_assert_int_eq(protect(base, 2, 3, TDO_ACCESS_READ), MPS_RES_OK);
  tdo_vm_double_refuse_kind(&twin, TDO_VM_DECOMMIT, false);
  ck_assert_int_eq(twin.vm.decommit(&twin.vm, base, PAGE), MPS_RES_OK);
  tdo_vm_double_refuse_kind(&twin, TDO_VM_TABLE, true);
  ck_assert_int_eq(twin.vm.reserve_table(&table, &twin.vm, PAGE),
                   MPS_RES_RESOURCE);
  ck_assert_uint_eq(atomic_load(&twin.vm.counters.refused), 3);
  ck_assert(calls[3].refused);
  ck_assert_int_eq(tdo_vm_double_access(&twin, base - PAGE), TDO_ACCESS_NONE);
  tdo_vm_double_finish(&twin);
}
END_TEST

/* The cases that were measured at the limit. */
START_TEST(mapping_limit) {
  char *base = make(7, NULL);
  ck_assert_int_eq(protect(base, 0, PAGES, TDO_ACCESS_WRITE), MPS_RES_OK);
  ck_assert_uint_eq(twin.mappings, 1);
  ck_assert_int_eq(protect(base, 2, 3, TDO_ACCESS_READ), MPS_RES_OK);
  ck_assert_int_eq(protect(base, 6, 7, TDO_ACCESS_READ), MPS_RES_OK);
  ck_assert_uint_eq(twin.mappings, 5);
  ck_assert_int_eq(protect(base, 3, 4, TDO_ACCESS_READ), MPS_RES_OK);
  ck_assert_uint_eq(twin.mappings, 5); /* the boundary moved */
  tdo_vm_double_limit(&twin, 6);
  ck_assert_int_eq(protect(base, 20, 21, TDO_ACCESS_READ), MPS_RES_MEMORY);
  ck_assert_uint_eq(twin.mappings, 6); /* one split of two stays */
  ck_assert_int_eq(protect(base, 30, 31, TDO_ACCESS_READ), MPS_RES_MEMORY);
  ck_assert_uint_eq(twin.mappings, 6);
  ck_assert_int_eq(twin.vm.decommit(&twin.vm, base + 30 * PAGE, PAGE),
                   MPS_RES_MEMORY);
  ck_assert_int_eq(protect(base, 6, 7, TDO_ACCESS_WRITE), MPS_RES_OK);
  ck_assert_uint_eq(twin.mappings, 4);
  ck_assert_int_eq(protect(base, 2, 4, TDO_ACCESS_NONE), MPS_RES_OK);
  ck_assert_int_eq(protect(base, 0, PAGES, TDO_ACCESS_READ), MPS_RES_OK);
  ck_assert_int_eq(twin.vm.decommit(&twin.vm, base, PAGES * PAGE), MPS_RES_OK);
  ck_assert_uint_eq(twin.mappings, 1);
  ck_assert_uint_eq(twin.mappings_most, 6);
  tdo_vm_double_finish(&twin);
}
END_TEST

START_TEST(data_limit) {
  char *base = make(0, NULL);
  ck_assert_uint_eq(twin.vm.room(&twin.vm), SIZE_MAX);
  tdo_vm_double_limit_data(&twin, 10);
  ck_assert_int_eq(twin.vm.commit(&twin.vm, base, 11 * PAGE), MPS_RES_MEMORY);
  ck_assert_int_eq(twin.vm.commit(&twin.vm, base, 8 * PAGE), MPS_RES_OK);
  ck_assert_int_eq(protect(base, 0, 4, TDO_ACCESS_READ), MPS_RES_OK);
  ck_assert_uint_eq(twin.vm.room(&twin.vm), 6 * PAGE);
  atomic_store(&twin.vm.owed, 4 * PAGE);
  ck_assert_uint_eq(twin.vm.room(&twin.vm), 2 * PAGE);
  ck_assert_int_eq(twin.vm.commit(&twin.vm, base + 8 * PAGE, 3 * PAGE),
                   MPS_RES_MEMORY);
  ck_assert_int_eq(twin.vm.commit(&twin.vm, base + 8 * PAGE, 2 * PAGE),
                   MPS_RES_OK);
  ck_assert_int_eq(protect(base, 0, 10, TDO_ACCESS_WRITE), MPS_RES_OK);
  ck_assert_int_eq(protect(base, 8, 11, TDO_ACCESS_WRITE), MPS_RES_MEMORY);
  twin.vm.release(&twin.vm, base, PAGES * PAGE);
  tdo_vm_double_finish(&twin);
}
END_TEST

START_TEST(against_model) {
  uint8_t model[PAGES] = {0};
  char *base = make(0, NULL);
  random_start();
  for (int round = 0; round < 20000; ++round) {
    static const tdo_access_t accesses[] = {TDO_ACCESS_NONE, TDO_ACCESS_READ,
                                            TDO_ACCESS_WRITE};
    size_t first = random_below(PAGES);
    size_t limit = first + 1 + random_below(PAGES - first);
    tdo_access_t access = accesses[random_below(3)];
    if (access == TDO_ACCESS_NONE && random_below(2) == 0) {
      ck_assert_int_eq(twin.vm.decommit(&twin.vm, base + first * PAGE,
                                        (limit - first) * PAGE),
                       MPS_RES_OK);
      ck_assert(tdo_vm_double_check(&twin));
    } else {
      ck_assert_int_eq(protect(base, first, limit, access), MPS_RES_OK);
    }
    memset(model + first, access, limit - first);
    size_t runs = 0;
    for (size_t p = 0; p < PAGES; ++p) {
      REQUIRE(tdo_vm_double_access(&twin, base + p * PAGE) ==
              (tdo_access_t)model[p]);
      runs += p == 0 || model[p] != model[p - 1];
    }
    ck_assert_uint_eq(twin.mappings, runs);
  }
  tdo_vm_double_finish(&twin);
}
END_TEST

#if defined(__linux__)
/* Mappings of the window, as the system shows them. */
static size_t real_mappings(const char *base) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[512];
  size_t n = 0;
  ck_assert_ptr_nonnull(maps);
  while (fgets(line, sizeof line, maps) != NULL) {
    unsigned long low, high;
    ck_assert_int_eq(sscanf(line, "%lx-%lx", &low, &high), 2);
    n += low < (unsigned long)(base + PAGES * PAGE) &&
         high > (unsigned long)base;
  }
  (void)fclose(maps);
  return n;
}

/* Over real memory, the system keeps as many mappings as the model says. */
START_TEST(as_the_system) {
  char *base = make(0, tdo_vm_system());
  random_start();
  for (int round = 0; round < 2000; ++round) {
    static const tdo_access_t accesses[] = {TDO_ACCESS_NONE, TDO_ACCESS_READ,
                                            TDO_ACCESS_WRITE};
    size_t first = 1 + random_below(PAGES - 2);
    size_t limit = first + 1 + random_below(PAGES - 1 - first);
    size_t i = random_below(3);
    ck_assert_int_eq(protect(base, first, limit, accesses[i]), MPS_RES_OK);
    if (i == 2)
      base[first * PAGE] = 1;
    /* Nobody else's mapping joins the window's first and last page. */
    ck_assert_uint_eq(twin.mappings, real_mappings(base));
  }
  tdo_vm_double_finish(&twin);
}
END_TEST
#endif

SUITE_MAIN("vm_double", 60, records, refuses, mapping_limit, data_limit,
           against_model
#if defined(__linux__)
           ,
           as_the_system
#endif
)
