/* Testudo: the process's memory refuses the N-th call from now, or every call
   from the N-th on, of the kinds that are let through to here.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_REFUSING_H
#define TDO_TEST_REFUSING_H

#include <string.h>
#include "code/vm.h"
#include "mps.h"

static size_t refuse_at, refuse_count;
static bool refuse_rest;
static tdo_vm_t refuse_real;

static inline bool refused(void) {
  if (refuse_at == 0)
    return false;
  ++refuse_count;
  return refuse_count == refuse_at ||
         (refuse_rest && refuse_count > refuse_at);
}

static mps_res_t refusing_reserve(void **base_o, tdo_vm_t *vm, size_t size,
                                  size_t align) {
  return refused() ? MPS_RES_RESOURCE
                   : refuse_real.reserve(base_o, vm, size, align);
}

static mps_res_t refusing_table(void **base_o, tdo_vm_t *vm, size_t size) {
  return refused() ? MPS_RES_RESOURCE
                   : refuse_real.reserve_table(base_o, vm, size);
}

static mps_res_t refusing_commit(tdo_vm_t *vm, void *base, size_t size) {
  return refused() ? MPS_RES_MEMORY : refuse_real.commit(vm, base, size);
}

static mps_res_t refusing_decommit(tdo_vm_t *vm, void *base, size_t size) {
  return refused() ? MPS_RES_MEMORY : refuse_real.decommit(vm, base, size);
}

static mps_res_t refusing_protect(tdo_vm_t *vm, void *base, size_t size,
                                  tdo_access_t access) {
  /* Opening everything always works: it merges mappings. */
  return access != TDO_ACCESS_WRITE && refused()
             ? MPS_RES_MEMORY
             : refuse_real.protect(vm, base, size, access);
}

static inline void refuse(size_t n, bool rest) {
  tdo_vm_t *vm = tdo_vm_system();
  if (refuse_real.page_size == 0) {
    memcpy(&refuse_real, vm, sizeof refuse_real);
    vm->reserve = refusing_reserve;
    vm->reserve_table = refusing_table;
    vm->commit = refusing_commit;
    vm->decommit = refusing_decommit;
    vm->protect = refusing_protect;
  }
  refuse_at = n;
  refuse_count = 0;
  refuse_rest = rest;
}

/* Does RES say that there was no memory? */
static inline bool memory_code(mps_res_t res) {
  return res == MPS_RES_MEMORY || res == MPS_RES_RESOURCE ||
         res == MPS_RES_COMMIT_LIMIT;
}

#endif /* TDO_TEST_REFUSING_H */
