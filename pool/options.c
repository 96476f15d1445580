/* Testudo: keyword arguments of pools, checked.
   SPDX-License-Identifier: BSD-2-Clause */
#include "pool/options.h"
#include "code/args.h"
#include "code/check.h"
#include "mpstd.h"
#include "trace/heap.h"

mps_res_t tdo_option_chain(tdo_chain_t **chain_o, bool *given_o,
                           const tdo_pool_t *pool, mps_arg_s args[]) {
  mps_arg_s arg;
  bool good;

  *given_o = tdo_arg_pick(&arg, args, MPS_KEY_CHAIN) != 0;
  if (!*given_o)
    return tdo_heap_default_chain(chain_o, pool->heap);
  good = arg.val.chain != NULL && arg.val.chain->sig == TDO_CHAIN_SIG &&
         arg.val.chain->heap == pool->heap;
  TDO_ASSERT(good, "a pool's chain must belong to the pool's arena");
  if (!good)
    return MPS_RES_PARAM;
  *chain_o = arg.val.chain;
  return MPS_RES_OK;
}

mps_res_t tdo_option_size(size_t *value_io, mps_arg_s args[], mps_key_t key) {
  mps_arg_s arg;

  if (!tdo_arg_pick(&arg, args, key))
    return MPS_RES_OK;
  TDO_ASSERT(arg.val.size > 0, "a size given to a pool is zero");
  if (arg.val.size == 0)
    return MPS_RES_PARAM;
  *value_io = arg.val.size;
  return MPS_RES_OK;
}

mps_res_t tdo_option_fraction(double *value_io, mps_arg_s args[],
                              mps_key_t key) {
  mps_arg_s arg;
  bool good;

  if (!tdo_arg_pick(&arg, args, key))
    return MPS_RES_OK;
  good = arg.val.d >= 0.0 && arg.val.d <= 1.0;
  TDO_ASSERT(good, "a fraction given to a pool is outside 0.0 to 1.0");
  if (!good)
    return MPS_RES_PARAM;
  *value_io = arg.val.d;
  return MPS_RES_OK;
}

void tdo_option_bool(bool *value_io, mps_arg_s args[], mps_key_t key) {
  mps_arg_s arg;

  if (tdo_arg_pick(&arg, args, key))
    *value_io = arg.val.b != 0;
}

mps_res_t tdo_option_align(tdo_pool_t *pool, mps_arg_s args[]) {
  size_t grain = (size_t)1 << tdo_pool_space(pool)->grain_shift;
  size_t align = MPS_PF_ALIGN;
  mps_arg_s arg;
  bool good;

  if (tdo_arg_pick(&arg, args, MPS_KEY_ALIGN))
    align = arg.val.align;
  good = tdo_is_pow2(align) && align >= sizeof(void *) && align <= grain;
  TDO_ASSERT(good, "a pool's alignment is not a power of two from the size "
                   "of a pointer to the arena's grain size");
  if (!good)
    return MPS_RES_PARAM;
  pool->align = align;
  return MPS_RES_OK;
}
