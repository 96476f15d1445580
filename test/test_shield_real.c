/* Testudo: the shield over real memory: pages allow what the tables say, as
   probed by touching them; the kernel's own list of mappings agrees; with the
   mapping limit of the machine nearly used up, everything goes on.
   SPDX-License-Identifier: BSD-2-Clause */
#include <check.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "random.h"
#include "require.h"
#include "shield/shield.h"
#include "suite.h"

/* A sanitizer needs mappings of its own, and dies without. */
#if defined(__has_feature)
#define SANITIZED                                                             \
  (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static tdo_vm_t *vm;
static size_t page_size;
static char *window;
static size_t window_pages;
static tdo_shield_t shield;

static sigjmp_buf probing;

static void on_fault(int sig) {
  (void)sig;
  siglongjmp(probing, 1);
}

/* What PAGE allows, found out by touching it. */
static tdo_access_t probe(size_t page) {
  volatile char *p = window + page * page_size;
  volatile tdo_access_t found = TDO_ACCESS_NONE;
  if (sigsetjmp(probing, 1) == 0) {
    char c = *p;
    found = TDO_ACCESS_READ;
    *p = c;
    found = TDO_ACCESS_WRITE;
  }
  return found;
}

static void setup(void) {
  struct sigaction action = {.sa_handler = on_fault};
  (void)sigaction(SIGSEGV, &action, NULL);
  vm = tdo_vm_system();
  page_size = vm->page_size;
}

static void begin(tdo_shield_mode_t mode, size_t pages, double budget) {
  tdo_shield_settings_t settings;
  tdo_shield_hooks_t hooks = {NULL, NULL, NULL, NULL, NULL};
  void *base;
  tdo_shield_settings_defaults(&settings);
  settings.mode = mode;
  settings.budget = budget;
  settings.defer_fresh = 1;
  settings.hide_unit = 16;
  settings.hide_least = 16 * page_size;
  window_pages = pages;
  ck_assert_int_eq(MPS_RES_OK,
                   vm->reserve(&base, vm, pages * page_size, page_size));
  window = base;
  ck_assert_int_eq(MPS_RES_OK,
                   tdo_shield_init(&shield, vm, window, pages * page_size,
                                   &settings, &hooks));
}

static void end(void) {
  tdo_shield_leave(&shield);
  ck_assert(tdo_shield_check(&shield));
  tdo_shield_finish(&shield);
  vm->release(vm, window, window_pages * page_size);
}

static void commit(size_t first, size_t limit) {
  ck_assert_int_eq(MPS_RES_OK, vm->commit(vm, window + first * page_size,
                                          (limit - first) * page_size));
  tdo_shield_committed(&shield, first, limit);
}

static void compare(void) {
  for (size_t page = 0; page < window_pages; ++page) {
    tdo_access_t found = probe(page);
    if ((unsigned)found != shield.actual[page])
      ck_abort_msg("page %zu allows %d, not %d", page, (int)found,
                   (int)shield.actual[page]);
  }
}

/* Changes of access within the window, by the kernel's list. */
static size_t kernel_edges(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[4096];
  char last[8] = "---p";
  uintptr_t low = (uintptr_t)window;
  uintptr_t high = low + window_pages * page_size;
  size_t edges = 0;
  ck_assert_ptr_nonnull(maps);
  while (fgets(line, sizeof line, maps) != NULL) {
    unsigned long from, to;
    char access[8];
    if (sscanf(line, "%lx-%lx %7s", &from, &to, access) == 3 && to > low &&
        from < high) {
      edges += from > low && strcmp(access, last) != 0;
      memcpy(last, access, sizeof last);
    }
  }
  (void)fclose(maps);
  return edges;
}

START_TEST(allows) {
  begin((tdo_shield_mode_t)_i, 64, 1.0);
  unsigned long protects = atomic_load(&vm->counters.protect);
  unsigned long commits = 1;
  bool barred;
  commit(0, 60);
  tdo_shield_adopt(&shield, 0, 30);
  tdo_shield_adopt(&shield, 32, 60);
  compare();
  tdo_shield_raise(&shield, 3, 10, TDO_BAR_WRITE);
  tdo_shield_raise(&shield, 10, 12, TDO_BAR_READ);
  tdo_shield_raise(&shield, 28, 30, TDO_BAR_READ);
  tdo_shield_raise(&shield, 32, 35, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  compare();
  tdo_shield_expose(&shield, 9, 34);
  ck_assert_int_eq(probe(9), TDO_ACCESS_WRITE);
  ck_assert_int_eq(probe(33), TDO_ACCESS_WRITE);
  compare();
  tdo_shield_cover(&shield, 9, 34);
  (void)tdo_shield_offer(&shield, 40, 50, &barred);
  tdo_shield_leave(&shield);
  compare();
  ck_assert_uint_eq(kernel_edges() + 1, shield.stats.mappings);
  tdo_shield_retire(&shield, 0, 30);
  tdo_shield_adopt(&shield, 5, 30);
  compare();
  ck_assert_int_eq(probe(5), TDO_ACCESS_WRITE);
  ck_assert_uint_eq(atomic_load(&vm->counters.protect),
                    protects + commits + shield.stats.calls);
  end();
}
END_TEST

/* The contents survive all of it. */
START_TEST(keeps) {
  begin((tdo_shield_mode_t)_i, 256, 1.0);
  commit(0, 256);
  tdo_shield_adopt(&shield, 0, 256);
  for (size_t page = 0; page < 256; ++page)
    memset(window + page * page_size, (int)page, page_size);
  for (int i = 0; i < 2000; ++i) {
    size_t first = random_below(256);
    size_t limit = first + 1 + random_below(256 - first);
    tdo_bar_t bars = (tdo_bar_t)(1 + random_below(3));
    if (random_below(4) == 0)
      tdo_shield_note_stopped(&shield);
    switch (random_below(4)) {
    case 0:
      tdo_shield_raise(&shield, first, limit, bars);
      break;
    case 1:
      tdo_shield_lower(&shield, first, limit, bars);
      break;
    case 2:
      tdo_shield_expose(&shield, first, limit);
      for (size_t page = first; page < limit; ++page) {
        char *p = window + page * page_size;
        REQUIRE(p[7] == (char)page);
        p[8] = (char)page;
      }
      tdo_shield_cover(&shield, first, limit);
      break;
    default:
      tdo_shield_leave(&shield);
    }
  }
  tdo_shield_leave(&shield);
  compare();
  tdo_shield_expose(&shield, 0, 256);
  for (size_t page = 0; page < 256; ++page)
    REQUIRE(window[page * page_size + page_size - 1] == (char)page);
  tdo_shield_cover(&shield, 0, 256);
  ck_assert(suite_emulated() || (shield.stats.pages_hidden > 0) ==
                                    (_i == TDO_SHIELD_DEFERRED));
  end();
}
END_TEST

/* Take mappings away until only SPARE are left; the region that does it. */
static char *use_up(size_t spare, size_t *size_o) {
  size_t limit = vm->mapping_limit(vm), edges = 0;
  size_t size = (limit + 1000) * page_size;
  char *p = mmap(NULL, size, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ck_assert_ptr_ne(p, MAP_FAILED);
  while (edges + 1 < limit + 1000 &&
         mprotect(p + (edges + 1) * page_size, page_size, PROT_READ) == 0)
    edges += 2;
  /* Each page given back joins three mappings. */
  for (size_t freed = 0; freed < spare && edges > 0; freed += 2) {
    edges -= 2;
    (void)mprotect(p + (edges + 1) * page_size, page_size, PROT_NONE);
  }
  *size_o = size;
  return p;
}

/* The collector looks at every STEP-th page, and writes it. */
static void look_at(size_t step) {
  for (size_t page = 0; page < 2048; page += step) {
    size_t *p = (size_t *)(void *)(window + page * page_size);
    tdo_shield_expose(&shield, page, page + 1);
    REQUIRE(*p == page);
    *p = page;
    tdo_shield_cover(&shield, page, page + 1);
  }
  tdo_shield_leave(&shield);
  compare();
}

START_TEST(at_the_limit) {
  size_t size, mended, refused = 0;
  char *region, *mend;
  /* An emulator wants mappings of its own; or there are too many to use up in
     a test. */
  if (SANITIZED || suite_emulated() || vm->mapping_limit(vm) > 200000)
    return;
  begin((tdo_shield_mode_t)_i, 2048, 1.0);
  commit(0, 2048);
  tdo_shield_adopt(&shield, 0, 2048);
  region = use_up(200, &size);
  for (size_t page = 0; page < 2048; ++page)
    *(size_t *)(void *)(window + page * page_size) = page;
  for (size_t page = 0; page < 1024; page += 2) {
    tdo_shield_raise(&shield, page, page + 1,
                     page % 4 ? TDO_BAR_READ : TDO_BAR_WRITE);
    if (page % 64 == 0)
      tdo_shield_leave(&shield);
  }
  tdo_shield_leave(&shield);
  compare();
  look_at(2);
  refused = shield.stats.calls_refused;
  tdo_shield_lower(&shield, 0, 2048, TDO_BAR_READ | TDO_BAR_WRITE);
  tdo_shield_leave(&shield);
  tdo_shield_note_stopped(&shield);
  /* Moved, some of it; not where refused calls have left several mappings. */
  tdo_shield_raise(&shield, 1100, 2000, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  ck_assert((shield.hidden > 0) == (_i == TDO_SHIELD_DEFERRED));
  mend = use_up(0, &mended); /* and now it cannot come back */
  look_at(1);
  (void)munmap(mend, mended);
  (void)munmap(region, size);
  tdo_shield_raise(&shield, 0, 2048, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  compare();
  end();
  if (_i != TDO_SHIELD_OFF)
    ck_assert_uint_gt(refused, 0);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("shield_real");
  TCase *tests = tcase_create("shield_real");
  random_start();
  tcase_add_checked_fixture(tests, setup, NULL);
  tcase_add_loop_test(tests, allows, 0, TDO_SHIELD_MODES);
  tcase_add_loop_test(tests, keeps, 0, TDO_SHIELD_MODES);
  tcase_add_loop_test(tests, at_the_limit, 0, TDO_SHIELD_MODES);
  tcase_set_timeout(tests, 100);
  suite_add_tcase(suite, tests);
  return suite_run(suite);
}
