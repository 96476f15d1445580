/* Testudo: location dependencies (interface, section 2.18).
   SPDX-License-Identifier: BSD-2-Clause

   Its epoch is marked with the arena. Another arena's dependency says nothing,
   without harm; one without a mark was never reset.

   An address belongs to one of 64 sets by its zone. A dependency holds the
   epoch at which it was last reset and the sets of its addresses; the history
   tells which sets had objects moved out of or into them at each epoch. */
#ifndef TDO_TRACE_LD_H
#define TDO_TRACE_LD_H

#include <stdatomic.h>
#include "code/base.h"

#define TDO_LD_EPOCHS 256

typedef struct tdo_ld_history {
  atomic_ulong epoch; /* flips at which something might have moved */
  /* moved[e % N]: sets moved at epochs e and later. */
  atomic_ulong moved[TDO_LD_EPOCHS];
  atomic_ulong ancient; /* sets moved before the history begins */
  unsigned long owner;  /* marks the dependencies reset in this arena */
} tdo_ld_history_t;

void tdo_ld_history_init(tdo_ld_history_t *history);
/* Objects of SETS move now. */
void tdo_ld_age(tdo_ld_history_t *history, unsigned long sets);
unsigned long tdo_ld_sets(mps_arena_t heap, mps_addr_t addr);

void tdo_ld_reset(mps_ld_t ld, mps_arena_t heap);
void tdo_ld_add(mps_ld_t ld, mps_arena_t heap, mps_addr_t addr);
void tdo_ld_merge(mps_ld_t dest, mps_arena_t heap, mps_ld_t src);
bool tdo_ld_isstale_any(mps_ld_t ld, mps_arena_t heap);

#endif /* TDO_TRACE_LD_H */
