/* Testudo: virtual memory on Linux. SPDX-License-Identifier: BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mremap */
#endif
#include "code/platform.h"
#include "code/vm.h"

#if TDO_PF_LINUX

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "code/check.h"
#include "code/file.h"
#include "code/populate.h"

/* MREMAP_DONTUNMAP, since Linux 5.7; older ones refuse it. */
#define VM_MOVE_STAYS 4

#define VM_STATM_DATA   5  /* which number of /proc/self/statm */
#define VM_DATA_RESERVE 32 /* this part of the limit of data is left alone */
#define VM_DATA_LOOK ((size_t)1 << 20) /* bytes committed between looks at
                                          whether there is such a limit */

/* COUNTED: each vm_sys function makes exactly one call to the kernel, which is
   counted there: the counters equal the kernel's own count. */

static void vm_count(tdo_vm_t *vm, atomic_ulong *calls, bool ok) {
  atomic_fetch_add_explicit(calls, 1, memory_order_relaxed);
  if (!ok)
    atomic_fetch_add_explicit(&vm->counters.refused, 1, memory_order_relaxed);
}

/* The address, or NULL if refused. HINT is used as it is with MAP_FIXED. */
static void *vm_sys_map(tdo_vm_t *vm, void *hint, size_t size, int prot,
                        int flags) {
  void *p = mmap(hint, size, prot,
                 flags | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  vm_count(vm, &vm->counters.map, p != MAP_FAILED);
  return p == MAP_FAILED ? NULL : p;
}

static bool vm_sys_unmap(tdo_vm_t *vm, void *base, size_t size) {
  bool ok = munmap(base, size) == 0;
  vm_count(vm, &vm->counters.unmap, ok);
  return ok;
}

/* COUNTED_PAGES of it go into the statistics of pages. */
static bool vm_sys_protect(tdo_vm_t *vm, void *base, size_t size, int prot,
                           size_t counted_pages) {
  bool ok = mprotect(base, size, prot) == 0;
  vm_count(vm, &vm->counters.protect, ok);
  atomic_fetch_add_explicit(&vm->counters.protect_pages, counted_pages,
                            memory_order_relaxed);
  return ok;
}

/* What was at TO is lost; FROM stays mapped, with nothing in it. */
static bool vm_sys_move(tdo_vm_t *vm, void *from, size_t size, void *to) {
  bool ok = mremap(from, size, size,
                   MREMAP_MAYMOVE | MREMAP_FIXED | VM_MOVE_STAYS,
                   to) != MAP_FAILED;
  vm_count(vm, &vm->counters.move, ok);
  return ok;
}

/* Make that mapping a page longer. */
static bool vm_sys_extend(tdo_vm_t *vm, void *base, size_t size) {
  bool ok = mremap(base, size, size + vm->page_size, 0) != MAP_FAILED;
  vm_count(vm, &vm->counters.move, ok);
  return ok;
}

static bool vm_sys_drop(tdo_vm_t *vm, void *base, size_t size) {
  bool ok = madvise(base, size, MADV_DONTNEED) == 0;
  vm_count(vm, &vm->counters.advise, ok);
  return ok;
}

static bool vm_is_pages(const tdo_vm_t *vm, const void *base, size_t size) {
  return base != NULL && size > 0 &&
         (((uintptr_t)base | size) & (vm->page_size - 1)) == 0;
}

/* Cut [BASE, LIMIT) off a fresh reservation. If the system refuses, at the
   mapping limit, the piece stays reserved for good: address space only. */
static void vm_trim(tdo_vm_t *vm, uintptr_t base, uintptr_t limit) {
  if (base < limit)
    (void)vm_sys_unmap(vm, (void *)base, limit - base);
}

/* Does the process lock all its memory (mlockall)? So it was when the last
   reservation was made. */
static atomic_bool vm_locks;

/* Touch a fresh reservation while it is one mapping, and close it again. The
   kernel then knows all its pages by one owner (anon_vma), which every
   mapping that is split off inherits; mappings of different owners never
   merge, even beside each other and with equal access. Only for speed, so a
   refusal does not matter, unless the window stays open. It is left out where
   the process locks all its memory (an advice is then refused): opening the
   window would fill it. */
static bool vm_prime(tdo_vm_t *vm, void *base, size_t size) {
  bool locks = !vm_sys_drop(vm, base, vm->page_size);
  atomic_store_explicit(&vm_locks, locks, memory_order_relaxed);
  if (locks || !vm_sys_protect(vm, base, size, PROT_READ | PROT_WRITE, 0))
    return true;
  *(volatile char *)base = 0;
  return vm_sys_protect(vm, base, size, PROT_NONE, 0);
}

static mps_res_t vm_reserve(void **base_o, tdo_vm_t *vm, size_t size,
                            size_t align) {
  TDO_CHECK(size > 0 && size % vm->page_size == 0);
  TDO_CHECK(tdo_is_pow2(align) && align >= vm->page_size);
  size_t slack = align - vm->page_size;
  if (size > SIZE_MAX - slack)
    return MPS_RES_RESOURCE;
  void *raw = vm_sys_map(vm, NULL, size + slack, PROT_NONE, 0);
  if (raw == NULL)
    return MPS_RES_RESOURCE;
  uintptr_t base = tdo_round_up((uintptr_t)raw, align);
  vm_trim(vm, (uintptr_t)raw, base);
  vm_trim(vm, base + size, (uintptr_t)raw + size + slack);
  if (!vm_prime(vm, (void *)base, size)) {
    (void)vm_sys_unmap(vm, (void *)base, size);
    return MPS_RES_RESOURCE;
  }
  *base_o = (void *)base;
  return MPS_RES_OK;
}

static void vm_release(tdo_vm_t *vm, void *base, size_t size) {
  TDO_CHECK(vm_is_pages(vm, base, size));
  tdo_populate_cancel(base, size);
  if (!vm_sys_unmap(vm, base, size)) {
    /* At the mapping limit, and merged with a neighbour: at least the memory
       goes back. */
    (void)vm_sys_drop(vm, base, size);
  }
}

/* Where the process locks all its memory the system fills what can be written:
   all of a table, most of which is never touched. Of this one it locks what is
   touched. */
static void *vm_map_locked(tdo_vm_t *vm, size_t size) {
  void *base = vm_sys_map(vm, NULL, size, PROT_NONE, 0);
  if (base != NULL) {
    (void)mlock2(base, size, MLOCK_ONFAULT); /* refused: it is filled */
    if (!vm_sys_protect(vm, base, size, PROT_READ | PROT_WRITE, 0)) {
      (void)vm_sys_unmap(vm, base, size);
      base = NULL;
    }
  }
  return base;
}

static mps_res_t vm_reserve_table(void **base_o, tdo_vm_t *vm, size_t size) {
  TDO_CHECK(size > 0 && size % vm->page_size == 0);
  void *base =
      atomic_load_explicit(&vm_locks, memory_order_relaxed)
          ? vm_map_locked(vm, size)
          : vm_sys_map(vm, NULL, size, PROT_READ | PROT_WRITE, 0);
  if (base == NULL)
    return MPS_RES_RESOURCE;
  *base_o = base;
  return MPS_RES_OK;
}

/* Bytes committed since there was no limit of data. To ask for it at each
   commit were a third of all system calls of some programs, and most have none:
   one that comes later is seen a little later, or when something is refused. */
static atomic_size_t vm_unlooked = VM_DATA_LOOK;

static void vm_look_again(void) {
  atomic_store_explicit(&vm_unlooked, VM_DATA_LOOK, memory_order_relaxed);
}

/* Linux counts against RLIMIT_DATA only what is writable. What barriers close
   drops out of that, and opening it again is refused once something else has
   taken its place. So what may be committed is what the limit leaves after the
   process's data, what is owed, and a reserve: for what others take after we
   looked. Nobody else's memory can be kept from taking more than that. The
   file says pages of data and of the first stack together; if it cannot be
   read, no limit is known. False if there is none. */
static bool vm_data(size_t *limit_o, size_t *taken_o, tdo_vm_t *vm) {
  size_t limit, pages;
  if (atomic_load_explicit(&vm_unlooked, memory_order_relaxed) <
      VM_DATA_LOOK)
    return false;
  limit = tdo_vm_data_limit();
  if (limit == SIZE_MAX) {
    atomic_store_explicit(&vm_unlooked, 0, memory_order_relaxed);
    return false;
  }
  pages = tdo_file_number("/proc/self/statm", VM_STATM_DATA);
  *limit_o = limit;
  *taken_o = pages * vm->page_size + limit / VM_DATA_RESERVE +
             atomic_load_explicit(&vm->owed, memory_order_relaxed);
  return pages != SIZE_MAX;
}

static size_t vm_room(tdo_vm_t *vm) {
  size_t limit, taken;
  return vm_data(&limit, &taken, vm) ? limit - tdo_min(limit, taken)
                                     : SIZE_MAX;
}

/* SIZE is owed until the system counts it, lest two threads get the same. */
static mps_res_t vm_commit(tdo_vm_t *vm, void *base, size_t size) {
  size_t limit, taken;
  bool ok;
  TDO_CHECK(vm_is_pages(vm, base, size));
  (void)atomic_fetch_add_explicit(&vm->owed, size, memory_order_relaxed);
  (void)atomic_fetch_add_explicit(&vm_unlooked, size, memory_order_relaxed);
  ok = (!vm_data(&limit, &taken, vm) || taken <= limit) &&
       vm_sys_protect(vm, base, size, PROT_READ | PROT_WRITE,
                      size / vm->page_size);
  (void)atomic_fetch_sub_explicit(&vm->owed, size, memory_order_relaxed);
  if (!ok)
    vm_look_again();
  return ok ? MPS_RES_OK : MPS_RES_MEMORY;
}

static mps_res_t vm_decommit(tdo_vm_t *vm, void *base, size_t size) {
  TDO_CHECK(vm_is_pages(vm, base, size));
  /* One call drops the pages, takes the access and, where memory is charged
     ahead, gives the charge back. */
  if (vm_sys_map(vm, base, size, PROT_NONE, MAP_FIXED) != NULL)
    return MPS_RES_OK;
  (void)vm_sys_drop(vm, base, size); /* never splits a mapping */
  return MPS_RES_MEMORY;
}

static mps_res_t vm_protect(tdo_vm_t *vm, void *base, size_t size,
                            tdo_access_t access) {
  int prot = (access & 1 ? PROT_READ : 0) | (access & 2 ? PROT_WRITE : 0);
  TDO_CHECK(vm_is_pages(vm, base, size));
  bool ok = vm_sys_protect(vm, base, size, prot, size / vm->page_size);
  if (!ok)
    vm_look_again();
  return ok ? MPS_RES_OK : MPS_RES_MEMORY;
}

/* Without access, lest a process that locks its memory fill it. What is moved
   counts twice for a moment, which a limit may not allow. */
static mps_res_t vm_reserve_away(void **base_o, tdo_vm_t *vm, size_t size) {
  TDO_CHECK(size > 0 && size % vm->page_size == 0);
  *base_o = tdo_vm_address_limit() < SIZE_MAX || tdo_vm_data_limit() < SIZE_MAX
                ? NULL
                : vm_sys_map(vm, NULL, size, PROT_NONE, 0);
  return *base_o == NULL ? MPS_RES_RESOURCE : MPS_RES_OK;
}

/* From Linux 6.17 on a move of several mappings may move the first of them and
   then fail. Nobody makes several longer at once: that is refused in a way of
   its own. One mapping is not made longer because another one follows. */
static bool vm_is_one(tdo_vm_t *vm, void *base, size_t size) {
  if (vm_sys_extend(vm, base, size)) { /* none did */
    return vm_sys_unmap(vm, (char *)base + size, vm->page_size);
  }
  return errno != EFAULT;
}

/* A refused move may have unmapped what was at TO: reserve that again, before
   others do. False if it was there, or they did. */
static bool vm_mend(tdo_vm_t *vm, void *to, size_t size) {
  return vm_sys_map(vm, to, size, PROT_NONE, MAP_FIXED_NOREPLACE) == to;
}

/* The same where memory of an arena belongs. */
static bool vm_mend_base(tdo_vm_t *vm, void *base, size_t size) {
  bool mended = vm_mend(vm, base, size);
  TDO_ASSERT(mended || errno == EEXIST,
             "the system lets an arena have its own addresses again");
  return mended;
}

/* There is nothing in [AWAY, AWAY+SIZE) any more: without access, and mapped
   afresh, it counts for no limit. */
static void vm_emptied(tdo_vm_t *vm, void *away, size_t size) {
  (void)vm_sys_map(vm, away, size, PROT_NONE, MAP_FIXED);
}

static mps_res_t vm_hide(tdo_vm_t *vm, void *base, size_t size, void *away) {
  TDO_CHECK(vm_is_pages(vm, base, size) && vm_is_pages(vm, away, size));
  if (!vm_is_one(vm, base, size))
    return MPS_RES_LIMIT;
  if (!vm_sys_move(vm, base, size, away)) {
    /* EINVAL: the kernel, too old for it, has not begun. */
    return errno == EINVAL || vm_mend(vm, away, size) ? MPS_RES_MEMORY
                                                      : MPS_RES_RESOURCE;
  }
  if (vm_sys_protect(vm, base, size, PROT_NONE, size / vm->page_size))
    return MPS_RES_OK;
  if (vm_sys_move(vm, away, size, base)) {
    vm_emptied(vm, away, size);
    return MPS_RES_MEMORY;
  }
  return vm_mend_base(vm, base, size) ? MPS_RES_OK : MPS_RES_FAIL;
}

static mps_res_t vm_show(tdo_vm_t *vm, void *base, size_t size, void *away,
                         tdo_access_t access) {
  (void)access; /* it comes with the memory */
  TDO_CHECK(vm_is_pages(vm, base, size) && vm_is_pages(vm, away, size));
  if (!vm_sys_move(vm, away, size, base)) {
    (void)vm_mend_base(vm, base, size);
    return MPS_RES_MEMORY;
  }
  vm_emptied(vm, away, size);
  return MPS_RES_OK;
}

static void vm_copy(tdo_vm_t *vm, void *base, size_t size, void *away) {
  memcpy(base, away, size);
  vm_emptied(vm, away, size);
}

static mps_res_t vm_advise_huge(tdo_vm_t *vm, void *base, size_t size) {
  TDO_CHECK(vm_is_pages(vm, base, size));
  bool ok = madvise(base, size, MADV_HUGEPAGE) == 0;
  vm_count(vm, &vm->counters.advise, ok);
  return ok ? MPS_RES_OK : MPS_RES_MEMORY;
}

static void vm_populate(tdo_vm_t *vm, void *base, size_t size) {
  TDO_CHECK(vm_is_pages(vm, base, size));
  tdo_populate_ask(vm, base, size);
}

static void vm_taken(tdo_vm_t *vm, void *limit) {
  (void)vm;
  tdo_populate_taken(limit);
}

static void vm_calls(tdo_vm_t *vm, bool many) {
  (void)vm;
  if (many)
    tdo_populate_hold();
  else
    tdo_populate_release();
}

static size_t vm_huge_size(tdo_vm_t *vm) {
  size_t size = tdo_file_number(
      "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", 0);
  return size != SIZE_MAX && tdo_is_pow2(size) && size > vm->page_size ? size
                                                                      : 0;
}

static size_t vm_mapping_limit(tdo_vm_t *vm) {
  (void)vm;
  return tdo_file_number("/proc/sys/vm/max_map_count", 0);
}

static tdo_vm_t vm_system = {.reserve = vm_reserve,
                             .release = vm_release,
                             .reserve_table = vm_reserve_table,
                             .commit = vm_commit,
                             .room = vm_room,
                             .decommit = vm_decommit,
                             .protect = vm_protect,
                             .reserve_away = vm_reserve_away,
                             .hide = vm_hide,
                             .show = vm_show,
                             .copy = vm_copy,
                             .advise_huge = vm_advise_huge,
                             .populate = vm_populate,
                             .taken = vm_taken,
                             .calls = vm_calls,
                             .huge_size = vm_huge_size,
                             .mapping_limit = vm_mapping_limit};

static void vm_init(void) {
  vm_system.page_size = (size_t)sysconf(_SC_PAGESIZE);
}

tdo_vm_t *tdo_vm_system(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, vm_init);
  return &vm_system;
}

size_t tdo_vm_address_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return SIZE_MAX;
  size_t pages = tdo_file_number("/proc/self/statm", 0);
  size_t page_size = tdo_vm_system()->page_size;
  size_t used = pages == SIZE_MAX ? 0 : pages * page_size;
  size_t total = (size_t)limit.rlim_cur;
  return used < total ? total - used : 0;
}

/* Where the soft limit is 0 the hard one is what counts. */
size_t tdo_vm_data_limit(void) {
  struct rlimit limit;
  rlim_t most;

  if (getrlimit(RLIMIT_DATA, &limit) != 0)
    return SIZE_MAX;
  most = limit.rlim_cur == 0 ? limit.rlim_max : limit.rlim_cur;
  return most == RLIM_INFINITY ? SIZE_MAX : (size_t)most;
}

size_t tdo_vm_physical(void) {
  long pages = sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? (size_t)pages * tdo_vm_system()->page_size : SIZE_MAX;
}

/* The kernel puts a program's first stack, where its random bytes lie, at the
   end of what it has: that of 48 bits, 47, or as few as 39. What is much lower
   is another's idea of a stack. */
size_t tdo_vm_address_space(void) {
  size_t high = getauxval(AT_RANDOM), least = (size_t)1 << 36;
  return high >= least ? 2 * tdo_pow2_at_most(high) : SIZE_MAX;
}

void tdo_vm_faults(size_t *minor_o, size_t *major_o) {
  struct rusage usage;
  bool ok = getrusage(RUSAGE_SELF, &usage) == 0;
  *minor_o = ok ? (size_t)usage.ru_minflt : 0;
  *major_o = ok ? (size_t)usage.ru_majflt : 0;
}

#endif /* TDO_PF_LINUX */
