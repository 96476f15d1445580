/* Testudo: arenas across a fork (interface, section 2.16).
   SPDX-License-Identifier: BSD-2-Clause

   The thread that forks takes every lock first, so that the child inherits
   arenas at rest, whatever the other threads were doing. They do not exist in
   the child: their descriptors stay, dormant. */
#ifndef TDO_TRACE_FORK_H
#define TDO_TRACE_FORK_H

#include "code/base.h"

/* Called before the first arena exists; later calls do nothing. */
mps_res_t tdo_heap_fork_install(void);

/* While this thread has a lock in order to fork (heap->forking): is it in the
   child, where handlers of the client's run before the library's? */
bool tdo_heap_fork_is_over(void);

#endif /* TDO_TRACE_FORK_H */
