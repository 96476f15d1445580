/* Testudo: the smallest client, to prove that an installed library can be
   found and used. SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include "mps.h"
#include "mpsavm.h"

int main(void) {
  mps_arena_t arena;
  mps_res_t res = mps_arena_create_k(&arena, mps_arena_class_vm(),
                                     mps_args_none);
  if (res != MPS_RES_OK)
    return 1;
  printf("reserved %d\n", mps_arena_reserved(arena) > 0);
  mps_arena_destroy(arena);
  return 0;
}
