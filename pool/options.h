/* Testudo: keyword arguments of pools, checked.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_POOL_OPTIONS_H
#define TDO_POOL_OPTIONS_H

#include "trace/gen.h"
#include "trace/pool.h"

/* Each takes its key from ARGS, if it is there, and leaves *VALUE_IO alone if
   not. A value out of range is a client bug: the assertion handler is called,
   and if it returns, so does MPS_RES_PARAM. */

/* MPS_KEY_CHAIN: of the pool's arena; or the arena's own, if none is GIVEN. */
mps_res_t tdo_option_chain(tdo_chain_t **chain_o, bool *given_o,
                           const tdo_pool_t *pool, mps_arg_s args[]);
/* A size in bytes, not 0. */
mps_res_t tdo_option_size(size_t *value_io, mps_arg_s args[], mps_key_t key);
/* A fraction, 0.0 to 1.0. */
mps_res_t tdo_option_fraction(double *value_io, mps_arg_s args[],
                              mps_key_t key);
void tdo_option_bool(bool *value_io, mps_arg_s args[], mps_key_t key);
/* MPS_KEY_ALIGN: sets the pool's alignment, by default MPS_PF_ALIGN. */
mps_res_t tdo_option_align(tdo_pool_t *pool, mps_arg_s args[]);

/* SIZE rounded up to the pool's alignment; 0 if there is no such number. */
static inline size_t tdo_option_rounded(const tdo_pool_t *pool, size_t size) {
  return tdo_round_up(size, pool->align);
}

#endif /* TDO_POOL_OPTIONS_H */
