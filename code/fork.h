/* Testudo: the platform contract for forks.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_FORK_H
#define TDO_CODE_FORK_H

#include "code/base.h"

/* From the first call on, every fork of the process calls PREPARE before it,
   and PARENT and CHILD after it in the two processes, all on the thread that
   forks; later calls change nothing. MPS_RES_MEMORY if the system refuses.
   Thread-safe. On a platform without forks nothing is ever called. */
mps_res_t tdo_fork_install(void (*prepare)(void), void (*parent)(void),
                           void (*child)(void));

/* Which process is this? Another one than before in the child of a fork. One
   system call on Linux. */
unsigned long tdo_fork_process(void);

#endif /* TDO_CODE_FORK_H */
