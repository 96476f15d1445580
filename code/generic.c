/* Testudo: the generic platform: one thread, no memory protection, ISO C only
   (CONFIG_PF_ANSI). SPDX-License-Identifier: BSD-2-Clause

   What a new port must write is in the manual, chapter "Portability". In short:

     needed       code/platform.h, vm.h, clock.h, context.h (TDO_FRAME_SAVE, and
                  where registers are in what the fault handler receives)
     barriers     code/fault.h
     threads      code/stop.h (with tdo_stop_quiet and tdo_stop_loud), lock.h,
                  fork.h
     may be left  code/track.h, available.h, populate.h, file.h, record.h

   A port may begin with this file for all of them and replace one contract
   after another: without protection the collector works stop-and-scan-all,
   and without code/stop.h it works with one thread. */
#include "code/platform.h"
#include "code/base.h"

#if TDO_PF_GENERIC

#include <stdlib.h>
#include <string.h>
#include "code/available.h"
#include "code/check.h"
#include "code/context.h"
#include "code/fault.h"
#include "code/stop.h"
#include "code/vm.h"

enum { GENERIC_PAGE = 4096 };

/* Reservations come zeroed from calloc; the pointer that free wants is kept
   in the word before the base. */
static mps_res_t generic_reserve(void **base_o, tdo_vm_t *vm, size_t size,
                                 size_t align) {
  size_t slack = align + sizeof(void *);
  TDO_CHECK(tdo_is_pow2(align) && align >= vm->page_size);
  if (size > SIZE_MAX - slack)
    return MPS_RES_RESOURCE;
  atomic_fetch_add(&vm->counters.map, 1);
  void *raw = calloc(1, size + slack);
  if (raw == NULL) {
    atomic_fetch_add(&vm->counters.refused, 1);
    return MPS_RES_RESOURCE;
  }
  void **base = (void **)tdo_round_up((uintptr_t)raw + sizeof(void *), align);
  base[-1] = raw;
  *base_o = base;
  return MPS_RES_OK;
}

static void generic_release(tdo_vm_t *vm, void *base, size_t size) {
  (void)size;
  atomic_fetch_add(&vm->counters.unmap, 1);
  free(((void **)base)[-1]);
}

static mps_res_t generic_reserve_table(void **base_o, tdo_vm_t *vm,
                                       size_t size) {
  return generic_reserve(base_o, vm, size, vm->page_size);
}

static mps_res_t generic_commit(tdo_vm_t *vm, void *base, size_t size) {
  (void)vm, (void)base, (void)size;
  return MPS_RES_OK;
}

static size_t generic_room(tdo_vm_t *vm) {
  (void)vm;
  return SIZE_MAX;
}

static mps_res_t generic_decommit(tdo_vm_t *vm, void *base, size_t size) {
  (void)vm;
  memset(base, 0, size);
  return MPS_RES_OK;
}

/* Everything is open and stays so: only that can be asked for. */
static mps_res_t generic_protect(tdo_vm_t *vm, void *base, size_t size,
                                 tdo_access_t access) {
  (void)vm, (void)base, (void)size;
  return access == TDO_ACCESS_WRITE ? MPS_RES_OK : MPS_RES_MEMORY;
}

static void generic_populate(tdo_vm_t *vm, void *base, size_t size) {
  (void)vm, (void)base, (void)size;
}

static void generic_taken(tdo_vm_t *vm, void *limit) {
  (void)vm, (void)limit;
}

static void generic_calls(tdo_vm_t *vm, bool many) {
  (void)vm, (void)many;
}

static mps_res_t generic_advise_huge(tdo_vm_t *vm, void *base, size_t size) {
  (void)vm, (void)base, (void)size;
  return MPS_RES_MEMORY;
}

static mps_res_t generic_reserve_away(void **base_o, tdo_vm_t *vm,
                                      size_t size) {
  (void)base_o, (void)vm, (void)size;
  return MPS_RES_RESOURCE; /* so nothing is ever hidden or shown */
}

static size_t generic_huge_size(tdo_vm_t *vm) {
  (void)vm;
  return 0;
}

static size_t generic_mapping_limit(tdo_vm_t *vm) {
  (void)vm;
  return SIZE_MAX;
}

static tdo_vm_t generic_vm = {.page_size = GENERIC_PAGE,
                              .reserve = generic_reserve,
                              .release = generic_release,
                              .reserve_table = generic_reserve_table,
                              .commit = generic_commit,
                              .room = generic_room,
                              .decommit = generic_decommit,
                              .protect = generic_protect,
                              .reserve_away = generic_reserve_away,
                              .advise_huge = generic_advise_huge,
                              .populate = generic_populate,
                              .taken = generic_taken,
                              .calls = generic_calls,
                              .huge_size = generic_huge_size,
                              .mapping_limit = generic_mapping_limit};

tdo_vm_t *tdo_vm_system(void) {
  return &generic_vm;
}

size_t tdo_vm_address_limit(void) {
  return SIZE_MAX;
}

size_t tdo_vm_data_limit(void) {
  return SIZE_MAX;
}

void tdo_vm_faults(size_t *minor_o, size_t *major_o) {
  *minor_o = *major_o = 0;
}

size_t tdo_vm_physical(void) {
  return SIZE_MAX;
}

size_t tdo_vm_address_space(void) {
  return SIZE_MAX;
}

size_t tdo_available(const char *root) {
  (void)root;
  return 0;
}

mps_res_t tdo_fault_install(tdo_fault_handler_t handler) {
  (void)handler;
  return MPS_RES_OK;
}

bool tdo_fault_offer(int signal, void *siginfo, void *context) {
  (void)signal, (void)siginfo, (void)context;
  return false;
}

void tdo_context_own(tdo_context_t *ctx) {
  (void)ctx;
}

void tdo_context_bound(tdo_context_t *ctx, const void *cold) {
  (void)ctx, (void)cold;
}

bool tdo_context_interrupted(const void *frame) {
  (void)frame;
  return true;
}

bool tdo_context_of_fault(tdo_context_t *ctx_o) {
  (void)ctx_o;
  return false;
}

bool tdo_stop_quiet(void) {
  return false;
}

void tdo_stop_loud(void) {
}

bool tdo_stop_is_quiet(void) {
  return true;
}

bool tdo_stop_admit(bool can) {
  (void)can;
  return false;
}

#endif /* TDO_PF_GENERIC */
