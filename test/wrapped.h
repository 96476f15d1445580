/* Testudo: the library's own memory refused. The linker gives the program the
   functions that all blocks and grains of an arena come from (--wrap); each is
   asked for by what a test defines.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_WRAPPED_H
#define TDO_TEST_WRAPPED_H

#include "arena/control.h"

/* May the next block, and the next grains, be had? If not, the code. */
static mps_res_t wrapped_block(void);
static mps_res_t wrapped_grains(void);

mps_res_t __real_tdo_control_alloc(void **p_o, tdo_control_t *c, size_t size);
mps_res_t __wrap_tdo_control_alloc(void **p_o, tdo_control_t *c, size_t size);
mps_res_t __real_tdo_space_alloc(size_t *first_o, tdo_space_t *sp, size_t n,
                                 tdo_group_t group, bool high, void *owner);
mps_res_t __wrap_tdo_space_alloc(size_t *first_o, tdo_space_t *sp, size_t n,
                                 tdo_group_t group, bool high, void *owner);

mps_res_t __wrap_tdo_control_alloc(void **p_o, tdo_control_t *c, size_t size) {
  mps_res_t res = wrapped_block();
  return res == MPS_RES_OK ? __real_tdo_control_alloc(p_o, c, size) : res;
}

mps_res_t __wrap_tdo_space_alloc(size_t *first_o, tdo_space_t *sp, size_t n,
                                 tdo_group_t group, bool high, void *owner) {
  mps_res_t res = wrapped_grains();
  return res == MPS_RES_OK
             ? __real_tdo_space_alloc(first_o, sp, n, group, high, owner)
             : res;
}

#endif /* TDO_TEST_WRAPPED_H */
