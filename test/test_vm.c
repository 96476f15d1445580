/* Testudo: the process's own memory. SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "code/vm.h"
#include "test/suite.h"

static sigjmp_buf escape;

static void caught(int signal) {
  (void)signal;
  siglongjmp(escape, 1);
}

static void catch_faults(void) {
  struct sigaction action = {.sa_handler = caught};
  (void)sigemptyset(&action.sa_mask);
  ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
}

static bool can_read(volatile char *p) {
  if (sigsetjmp(escape, 1) != 0)
    return false;
  (void)*p;
  return true;
}

static bool can_write(volatile char *p) {
  if (sigsetjmp(escape, 1) != 0)
    return false;
  *p = 1;
  return true;
}

static tdo_vm_t *vm;
static size_t page;

static void setup(void) {
  vm = tdo_vm_system();
  page = vm->page_size;
  catch_faults();
}

static char *reserve(size_t size, size_t align) {
  void *base;
  ck_assert_int_eq(vm->reserve(&base, vm, size, align), MPS_RES_OK);
  ck_assert_uint_eq((uintptr_t)base % align, 0);
  return base;
}

START_TEST(life_of_a_page) {
  setup();
  char *base = reserve(16 * page, page);
  for (size_t i = 0; i < 16; ++i)
    ck_assert(!can_read(base + i * page));
  ck_assert_int_eq(vm->commit(vm, base, 4 * page), MPS_RES_OK);
  ck_assert_int_eq(base[0], 0);
  ck_assert(can_write(base));
  ck_assert(can_write(base + 4 * page - 1));
  ck_assert(!can_read(base + 4 * page));
  ck_assert_int_eq(vm->protect(vm, base, page, TDO_ACCESS_READ), MPS_RES_OK);
  ck_assert(can_read(base));
  ck_assert(!can_write(base));
  ck_assert_int_eq(base[0], 1);
  ck_assert_int_eq(vm->protect(vm, base, page, TDO_ACCESS_NONE), MPS_RES_OK);
  ck_assert(!can_read(base));
  ck_assert_int_eq(vm->protect(vm, base, page, TDO_ACCESS_WRITE), MPS_RES_OK);
  ck_assert_int_eq(base[0], 1);
  ck_assert_int_eq(vm->decommit(vm, base, 4 * page), MPS_RES_OK);
  ck_assert(!can_read(base));
  ck_assert_int_eq(vm->commit(vm, base, 4 * page), MPS_RES_OK);
  for (size_t i = 0; i < 4 * page; ++i)
    ck_assert_int_eq(base[i], 0);
  vm->release(vm, base, 16 * page);
  ck_assert(!can_read(base));
}
END_TEST

START_TEST(alignment) {
  setup();
  for (size_t align = page; align <= (size_t)1 << 30; align *= 4) {
    char *base = reserve(page, align);
    ck_assert_int_eq(vm->commit(vm, base, page), MPS_RES_OK);
    ck_assert(can_write(base));
    vm->release(vm, base, page);
  }
}
END_TEST

START_TEST(counters) {
  setup();
  tdo_vm_counters_t *c = &vm->counters;
  void *base;
  char *small = reserve(8 * page, page);
  unsigned long map = c->map, unmap = c->unmap, protect = c->protect;
  unsigned long pages = c->protect_pages, refused = c->refused;
  ck_assert_int_eq(vm->commit(vm, small, 8 * page), MPS_RES_OK);
  ck_assert_int_eq(vm->protect(vm, small, 3 * page, TDO_ACCESS_READ),
                   MPS_RES_OK);
  ck_assert_uint_eq(c->protect, protect + 2);
  ck_assert_uint_eq(c->protect_pages, pages + 11);
  ck_assert_int_eq(vm->decommit(vm, small, page), MPS_RES_OK);
  ck_assert_uint_eq(c->map, map + 1);
  vm->release(vm, small, 8 * page);
  ck_assert_uint_eq(c->unmap, unmap + 1);
  ck_assert_uint_eq(c->refused, refused);
  size_t huge = (size_t)1 << (sizeof huge * 8 - 2);
  ck_assert_int_eq(vm->reserve(&base, vm, huge, page), MPS_RES_RESOURCE);
  ck_assert_uint_eq(c->map, map + 2);
  ck_assert_uint_eq(c->refused, refused + 1);
  ck_assert_int_eq(vm->reserve(&base, vm, SIZE_MAX - page + 1, huge),
                   MPS_RES_RESOURCE);
}
END_TEST

START_TEST(table) {
  setup();
  void *base;
  size_t size = (size_t)1 << 32; /* far more than will be touched */
  ck_assert_int_eq(vm->reserve_table(&base, vm, size), MPS_RES_OK);
  char *p = base;
  ck_assert_int_eq(p[size / 2], 0);
  ck_assert(can_write(p + size - 1));
  vm->release(vm, base, size);
}
END_TEST

/* Memory that is moved away is closed, and comes back as it was, all of it or a
   part. */
START_TEST(hiding) {
  setup();
  void *there;
  char *base = reserve(16 * page, page), *away;
  ck_assert_int_eq(vm->reserve_away(&there, vm, 16 * page), MPS_RES_OK);
  away = there;
  ck_assert_int_eq(vm->commit(vm, base, 16 * page), MPS_RES_OK);
  for (size_t i = 0; i < 16; ++i)
    memset(base + i * page, (int)i + 1, page);
  unsigned long move = vm->counters.move;
  unsigned long protect = vm->counters.protect;
  if (vm->hide(vm, base + 4 * page, 8 * page, away) != MPS_RES_OK) {
    ck_assert(suite_emulated());
    ck_assert_int_eq(base[4 * page], 5); /* nothing has changed */
    return;
  }
  ck_assert_uint_eq(vm->counters.move, move + 2); /* and asked first */
  ck_assert_uint_eq(vm->counters.protect, protect + 1);
  ck_assert(can_read(base + 3 * page) && can_read(base + 12 * page));
  ck_assert(!can_read(base + 4 * page) && !can_read(base + 12 * page - 1));
  ck_assert_int_eq(vm->show(vm, base + 6 * page, 2 * page, away + 2 * page,
                            TDO_ACCESS_WRITE),
                   MPS_RES_OK);
  ck_assert_uint_eq(vm->counters.move, move + 3);
  ck_assert_int_eq(base[6 * page], 7);
  ck_assert_int_eq(base[8 * page - 1], 8);
  ck_assert(can_write(base + 7 * page) && !can_read(base + 8 * page));
  ck_assert_int_eq(vm->protect(vm, base, 16 * page, TDO_ACCESS_WRITE),
                   MPS_RES_OK);
  vm->copy(vm, base + 4 * page, 2 * page, away);
  vm->copy(vm, base + 8 * page, 4 * page, away + 4 * page);
  for (size_t i = 0; i < 16; ++i)
    ck_assert_int_eq(base[i * page + 1], (int)i + 1);
  /* Onto itself: refused, and nothing has changed. */
  ck_assert_int_eq(vm->hide(vm, base, 8 * page, base + 4 * page),
                   MPS_RES_MEMORY);
  ck_assert_int_eq(base[7 * page + 1], 8);
  vm->release(vm, base, 16 * page);
  vm->release(vm, there, 16 * page);
}
END_TEST

/* Places for moves: two of 16 pages, the first with contents. False where
   nothing is moved. */
static bool begin_moving(char **base_o, char **away_o) {
  void *away;
  char *base = reserve(16 * page, page);
  if (suite_emulated())
    return false;
  ck_assert_int_eq(vm->reserve_away(&away, vm, 16 * page), MPS_RES_OK);
  ck_assert_int_eq(vm->commit(vm, base, 16 * page), MPS_RES_OK);
  memset(base, 7, 16 * page);
  *base_o = base;
  *away_o = away;
  return true;
}

static void end_moving(char *base, char *away) {
  for (size_t i = 0; i < 16 * page; ++i)
    ck_assert_int_eq(base[i], 7);
  vm->release(vm, base, 16 * page);
  vm->release(vm, away, 16 * page);
}

/* Would others that ask for memory get some at P? */
static bool is_free(char *p) {
  char *q = mmap(p, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert(q != MAP_FAILED);
  ck_assert_int_eq(munmap(q, page), 0);
  return q == p;
}

static void limit_data(rlim_t limit) {
  struct rlimit rlimit;
  ck_assert_int_eq(getrlimit(RLIMIT_DATA, &rlimit), 0);
  rlimit.rlim_cur = limit;
  ck_assert_int_eq(setrlimit(RLIMIT_DATA, &rlimit), 0);
}

/* A refused move changes nothing, though the kernel has made room for it: not
   away, and not back. */
START_TEST(refused_moves) {
  char *base, *away;
  void *other;
  mps_res_t place, res;
  setup();
  if (!begin_moving(&base, &away))
    return;
  limit_data(page);
  place = vm->reserve_away(&other, vm, page);
  res = vm->hide(vm, base, 16 * page, away);
  limit_data(RLIM_INFINITY); /* before anything else allocates */
  ck_assert_int_eq(place, MPS_RES_RESOURCE);
  ck_assert_int_eq(res, MPS_RES_MEMORY);
  ck_assert(can_write(base + page));
  base[page] = 7;
  ck_assert(!is_free(away) && !is_free(away + 15 * page));
  ck_assert_int_eq(vm->hide(vm, base, 16 * page, away), MPS_RES_OK);
  limit_data(page);
  res = vm->show(vm, base, 16 * page, away, TDO_ACCESS_WRITE);
  limit_data(RLIM_INFINITY);
  ck_assert_int_eq(res, MPS_RES_MEMORY);
  ck_assert(!is_free(base) && !is_free(base + 15 * page));
  ck_assert(!can_read(base));
  ck_assert_int_eq(vm->show(vm, base, 8 * page, away, TDO_ACCESS_WRITE),
                   MPS_RES_OK);
  ck_assert_int_eq(vm->protect(vm, base, 16 * page, TDO_ACCESS_WRITE),
                   MPS_RES_OK);
  vm->copy(vm, base + 8 * page, 8 * page, away + 8 * page);
  ck_assert(!can_read(away) && !can_read(away + 15 * page));
  end_moving(base, away);
}
END_TEST

/* Several mappings are not moved by one call, which may move some of them. */
START_TEST(moved_apart) {
  char *base, *away;
  setup();
  if (!begin_moving(&base, &away))
    return;
  ck_assert_int_eq(madvise(base + 8 * page, 4 * page, MADV_DONTFORK), 0);
  ck_assert_int_eq(vm->hide(vm, base, 16 * page, away), MPS_RES_LIMIT);
  ck_assert(can_read(base) && can_read(base + 9 * page));
  ck_assert(!can_read(away) && !is_free(away));
  /* The last in the window, after which there may be nothing. */
  ck_assert_int_eq(vm->hide(vm, base + 12 * page, 4 * page, away), MPS_RES_OK);
  ck_assert_int_eq(vm->show(vm, base + 12 * page, 4 * page, away,
                            TDO_ACCESS_WRITE),
                   MPS_RES_OK);
  end_moving(base, away);
}
END_TEST

/* The same with nothing after it. */
START_TEST(moved_alone) {
  char *base, *away;
  setup();
  if (!begin_moving(&base, &away))
    return;
  char *alone = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
                     -1, 0);
  ck_assert(alone != MAP_FAILED);
  ck_assert_int_eq(munmap(alone + page, 2 * page), 0);
  ck_assert_int_eq(vm->commit(vm, alone, page), MPS_RES_OK);
  ck_assert_int_eq(vm->hide(vm, alone, page, away), MPS_RES_OK);
  ck_assert(is_free(alone + page));
  vm->release(vm, alone, page);
  vm->release(vm, base, 16 * page);
  vm->release(vm, away, 16 * page);
}
END_TEST

/* Pages of data, as limits count them. */
static size_t data_pages(void) {
  size_t pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  ck_assert_ptr_nonnull(file);
  ck_assert_int_eq(fscanf(file, "%*u %*u %*u %*u %*u %zu", &pages), 1);
  (void)fclose(file);
  return pages;
}

/* What has come back counts once. */
START_TEST(counted_once) {
  char *base, *away;
  setup();
  if (!begin_moving(&base, &away))
    return;
  size_t before = data_pages();
  before = data_pages(); /* now that what that allocates is */
  ck_assert_int_eq(vm->hide(vm, base, 16 * page, away), MPS_RES_OK);
  ck_assert_uint_eq(data_pages(), before);
  ck_assert_int_eq(vm->show(vm, base, 8 * page, away, TDO_ACCESS_WRITE),
                   MPS_RES_OK);
  ck_assert_uint_eq(data_pages(), before);
  ck_assert_int_eq(vm->protect(vm, base, 16 * page, TDO_ACCESS_WRITE),
                   MPS_RES_OK);
  vm->copy(vm, base + 8 * page, 8 * page, away + 8 * page);
  ck_assert_uint_eq(data_pages(), before);
  end_moving(base, away);
}
END_TEST

START_TEST(limits) {
  setup();
  size_t limit = vm->mapping_limit(vm);
  ck_assert_uint_gt(limit, 1000);
  ck_assert_uint_gt(tdo_vm_physical(), 1024 * 1024);
  size_t space = tdo_vm_address_space();
  ck_assert(tdo_is_pow2(space));
  ck_assert_uint_gt(space, (uintptr_t)&limit);
  ck_assert_uint_le(space, (size_t)1 << 52);
  pid_t child = fork();
  if (child == 0) {
    struct rlimit rlimit = {(rlim_t)1 << 40, (rlim_t)1 << 40};
    size_t most = (size_t)1 << 40;
    if (setrlimit(RLIMIT_AS, &rlimit) != 0)
      _exit(2);
    if (suite_emulated()) { /* which keeps the limits of its own process */
      _exit(0);
    }
    void *away;
    if (vm->reserve_away(&away, vm, 16 * page) != MPS_RES_RESOURCE)
      _exit(2);
    size_t left = tdo_vm_address_limit();
    _exit(left < most && left > most / 2 ? 0 : 1);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
#endif
}
END_TEST

/* Fill the process up to its mapping limit, for real: commit, protect and
   decommit are refused and say so; the memory goes back all the same. */
static int at_the_limit(void) {
  size_t n = vm->mapping_limit(vm);
  size_t size = n * page;
  void *base;
  if (vm->reserve(&base, vm, size, page) != MPS_RES_OK)
    return 2;
  char *p = base;
  char *full = reserve(4 * page, page);
  if (vm->commit(vm, full, 4 * page) != MPS_RES_OK)
    return 3;
  memset(full, 1, 4 * page);
  size_t i = 0;
  while (i < n && vm->commit(vm, p + i * page, page) == MPS_RES_OK)
    i += 2;
  if (i >= n)
    return 4;
  unsigned long refused = vm->counters.refused;
  unsigned long advise = vm->counters.advise;
  if (vm->protect(vm, full + page, page, TDO_ACCESS_READ) != MPS_RES_MEMORY ||
      vm->decommit(vm, full + page, page) != MPS_RES_MEMORY)
    return 5;
  if (full[page] != 0 || full[0] != 1 || !can_write(full + page))
    return 6;
  if (vm->counters.refused != refused + 2 ||
      vm->counters.advise != advise + 1)
    return 7;
  return vm->protect(vm, p, size, TDO_ACCESS_NONE) == MPS_RES_OK ? 0 : 8;
}

START_TEST(mapping_limit) {
  setup();
  int status;
  if (vm->mapping_limit(vm) > 300000)
    return; /* takes too long */
  pid_t child = fork();
  if (child == 0)
    _exit(at_the_limit());
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status));
  ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* A process that locks all its memory gets neither a window nor a table filled.
   (An emulator need not know how to lock what is touched only.) */
START_TEST(locked_process) {
  if (suite_emulated())
    return;
  setup();
  pid_t child = fork();
  if (child == 0) {
    void *base, *sparse;
    struct rusage before, after; /* in KiB */
    (void)getrusage(RUSAGE_SELF, &before);
    if (mlockall(MCL_FUTURE) != 0 ||
        vm->reserve(&base, vm, (size_t)1 << 33, page) != MPS_RES_OK ||
        vm->reserve_table(&sparse, vm, (size_t)1 << 26) != MPS_RES_OK)
      _exit(0); /* not permitted */
    *(volatile char *)sparse = 1;
    (void)getrusage(RUSAGE_SELF, &after);
    _exit(after.ru_maxrss - before.ru_maxrss > 32 << 10 ? 1 : 0);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

SUITE_MAIN("vm", 60, life_of_a_page, alignment, counters, table, hiding,
           refused_moves, moved_apart, moved_alone, counted_once, limits,
           mapping_limit, locked_process)
