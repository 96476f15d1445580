/* Testudo: memory that is refused at random: by the system, the calls that it
   may refuse, and the library's own blocks and grains, which the linker lets
   this header give out (--wrap). Not while a test is `calm`.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_DENIALS_H
#define TDO_TEST_DENIALS_H

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include "code/vm.h"
#include "test/random.h"
#include "test/require.h"
#include "test/wrapped.h"

typedef enum denial {
  DENY_TABLE,
  DENY_AWAY,
  DENY_COMMIT,
  DENY_DECOMMIT,
  DENY_CLOSE,
  DENY_HIDE,
  DENY_SHOW,
  DENY_ADVISE,
  DENY_TRACK,
  DENY_BLOCK,
  DENY_GRAINS,
  DENIALS
} denial_t;

static unsigned deny_of[DENIALS]; /* one in so many; 0: none */
static size_t denied;
static uint64_t deny_state;
static tdo_vm_t deny_real;

static bool deny(denial_t kind) {
  if (calm > 0 || deny_of[kind] == 0 ||
      random_next(&deny_state) % deny_of[kind] != 0)
    return false;
  ++denied;
  return true;
}

/* ---- the system ---- */

static mps_res_t deny_table(void **base_o, tdo_vm_t *vm, size_t size) {
  return deny(DENY_TABLE) ? MPS_RES_RESOURCE
                          : deny_real.reserve_table(base_o, vm, size);
}

static mps_res_t deny_away(void **base_o, tdo_vm_t *vm, size_t size) {
  return deny(DENY_AWAY) ? MPS_RES_RESOURCE
                         : deny_real.reserve_away(base_o, vm, size);
}

static mps_res_t deny_commit(tdo_vm_t *vm, void *base, size_t size) {
  return deny(DENY_COMMIT) ? MPS_RES_MEMORY : deny_real.commit(vm, base, size);
}

/* The memory goes, its mapping stays. */
static mps_res_t deny_decommit(tdo_vm_t *vm, void *base, size_t size) {
  if (!deny(DENY_DECOMMIT))
    return deny_real.decommit(vm, base, size);
  REQUIRE(madvise(base, size, MADV_DONTNEED) == 0);
  return MPS_RES_MEMORY;
}

/* What closes pages may close some of them first; to open them merges
   mappings, which is never refused for good. */
static mps_res_t deny_close(tdo_vm_t *vm, void *base, size_t size,
                            tdo_access_t access) {
  size_t some;
  if (access == TDO_ACCESS_WRITE || !deny(DENY_CLOSE))
    return deny_real.protect(vm, base, size, access);
  some = random_next(&deny_state) % (size / vm->page_size) * vm->page_size;
  if (some > 0 && random_next(&deny_state) % 2 == 0)
    (void)deny_real.protect(vm, base, some, access);
  return MPS_RES_MEMORY;
}

static mps_res_t deny_hide(tdo_vm_t *vm, void *base, size_t size, void *away) {
  return deny(DENY_HIDE) ? MPS_RES_MEMORY
                         : deny_real.hide(vm, base, size, away);
}

static mps_res_t deny_show(tdo_vm_t *vm, void *base, size_t size, void *away,
                           tdo_access_t access) {
  return deny(DENY_SHOW) ? MPS_RES_MEMORY
                         : deny_real.show(vm, base, size, away, access);
}

static mps_res_t deny_advise(tdo_vm_t *vm, void *base, size_t size) {
  return deny(DENY_ADVISE) ? MPS_RES_MEMORY
                           : deny_real.advise_huge(vm, base, size);
}

int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);

/* All that the tracker of writes does. */
int __wrap_ioctl(int fd, unsigned long request, ...) {
  va_list list;
  void *argument;
  va_start(list, request);
  argument = va_arg(list, void *);
  va_end(list);
  if (!deny(DENY_TRACK))
    return __real_ioctl(fd, request, argument);
  errno = EAGAIN;
  return -1;
}

/* ---- the library's own ---- */

static mps_res_t wrapped_block(void) {
  return deny(DENY_BLOCK) ? MPS_RES_MEMORY : MPS_RES_OK;
}

static mps_res_t wrapped_grains(void) {
  return deny(DENY_GRAINS) ? MPS_RES_COMMIT_LIMIT : MPS_RES_OK;
}

/* ---- moods ---- */

/* From now on some things are refused, seldom, often or always; or none. */
static void deny_change(void) {
  static const unsigned often[] = {0, 0, 0, 1, 2, 5, 30, 200};
  size_t mood = random_below(4);
  for (size_t i = 0; i < DENIALS; ++i)
    deny_of[i] = mood == 0 || (mood == 1 && random_below(3) != 0)
                     ? 0
                     : often[random_below(8)];
  if (random_below(8) != 0) /* once is enough: nothing is tracked any more */
    deny_of[DENY_TRACK] = 0;
}

static void deny_start(void) {
  tdo_vm_t *vm = tdo_vm_system();
  deny_state = random_word();
  memcpy(&deny_real, vm, sizeof deny_real);
  vm->reserve_table = deny_table;
  vm->reserve_away = deny_away;
  vm->commit = deny_commit;
  vm->decommit = deny_decommit;
  vm->protect = deny_close;
  vm->hide = deny_hide;
  vm->show = deny_show;
  vm->advise_huge = deny_advise;
}

#endif /* TDO_TEST_DENIALS_H */
