/* Testudo: what the Linux platform files share about machine contexts.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_CONTEXT_LINUX_H
#define TDO_CODE_CONTEXT_LINUX_H

#include "code/context.h"
#include "code/fault.h"

/* Take the registers and the stack pointer out of UC, a ucontext_t as a
   signal handler receives it; sp is lowered by the red zone. The vector
   registers stay in place: valid while that handler has not returned. */
void tdo_context_linux_fill(tdo_context_t *ctx_o, const void *uc);

/* Complete CTX, filled from UC: tell the alternate signal stack from the
   thread's own. False if the thread is on the former and what it interrupted
   is not to be found. Signal-safe. */
bool tdo_context_linux_own(tdo_context_t *ctx, const void *uc);

/* Whether the fault that delivered UC was a read or a write. */
tdo_fault_kind_t tdo_context_linux_kind(const void *uc);

/* The context of the outermost memory fault that the calling thread is
   handling, or NULL. Signal-safe. */
const void *tdo_context_linux_fault(void);

#endif /* TDO_CODE_CONTEXT_LINUX_H */
