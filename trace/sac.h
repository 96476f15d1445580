/* Testudo: segregated allocation caches (interface, section 2.14): free blocks
   of a few sizes kept back from a manual pool, for one thread.
   SPDX-License-Identifier: BSD-2-Clause

   The client's macros use `pub` directly. Blocks of class I are all of
   lists[I]._size bytes; free ones are linked through their first words, so
   from the pool's point of view they are in use.

   Invariants:
   .count  lists[i]._count = blocks in its chain <= lists[i]._count_max.
   .end    the list after the last class has the size (size_t)-1, holds
           nothing and keeps nothing. */
#ifndef TDO_TRACE_SAC_H
#define TDO_TRACE_SAC_H

#include "trace/pool.h"

typedef struct tdo_sac {
  _mps_sac_s pub; /* first */
  tdo_sig_t sig;
  tdo_pool_t *pool;
} tdo_sac_t;

#define TDO_SAC_SIG ((tdo_sig_t)0x5195ACCA) /* SAC CA(che) */

static inline tdo_sac_t *tdo_sac_of(mps_sac_t sac) {
  return (tdo_sac_t *)(void *)sac;
}

/* These need the arena's lock. Memory codes; MPS_RES_LIMIT for more than
   MPS_SAC_CLASS_LIMIT classes. */
mps_res_t tdo_sac_create(tdo_sac_t **sac_o, tdo_pool_t *pool, size_t n,
                         const mps_sac_class_s classes[]);
void tdo_sac_destroy(tdo_sac_t *sac);
void tdo_sac_flush(tdo_sac_t *sac);
bool tdo_sac_check(const tdo_sac_t *sac);

/* The slow paths: a block of at least SIZE > 0 bytes from the pool, and more
   for the cache; a block, and more from the cache, to the pool. Results as
   the pool's method `alloc`. */
mps_res_t tdo_sac_fill(mps_addr_t *p_o, tdo_sac_t *sac, size_t size);
void tdo_sac_empty(tdo_sac_t *sac, mps_addr_t p, size_t size);

/* What the pool takes a block for that the client calls SIZE. */
size_t tdo_sac_size(tdo_sac_t *sac, size_t size);

/* The fast paths, for functions; no lock. False: the slow path is needed. */
bool tdo_sac_take(mps_addr_t *p_o, tdo_sac_t *sac, size_t size);
bool tdo_sac_put(tdo_sac_t *sac, mps_addr_t p, size_t size);

#endif /* TDO_TRACE_SAC_H */
