/* Testudo: statistics printed at exit.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_INTERFACE_STATISTICS_H
#define TDO_INTERFACE_STATISTICS_H

#include "trace/heap.h"

/* From now on print statistics: of each arena when it is destroyed, of those
   left when the process ends. */
void tdo_statistics_at_exit(void);
/* ARENA is about to be destroyed. */
void tdo_statistics_leave(mps_arena_t arena);

#endif /* TDO_INTERFACE_STATISTICS_H */
