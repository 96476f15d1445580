/* Testudo: the platform contract for memory faults.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_FAULT_H
#define TDO_CODE_FAULT_H

#include "code/base.h"

/* What the faulting instruction wanted, as far as the machine tells. */
typedef enum tdo_fault_kind {
  TDO_FAULT_UNKNOWN,
  TDO_FAULT_READ,
  TDO_FAULT_WRITE
} tdo_fault_kind_t;

/* Called on the faulting thread, in the signal handler, with the address.
   True: resolved, restart the instruction. False: not ours. */
typedef bool (*tdo_fault_handler_t)(void *addr, tdo_fault_kind_t kind);

/* Install the process's SIGSEGV handler (SA_SIGINFO | SA_RESTART | SA_ONSTACK
   | SA_NODEFER, nothing blocked) with HANDLER behind it; the first call does
   it, later ones change nothing. Faults that HANDLER refuses go to the
   disposition found at installation, its flags honoured (mask, SA_NODEFER,
   SA_RESETHAND, SA_SIGINFO); a default disposition ends the process with
   SIGSEGV. errno is preserved. MPS_RES_FAIL if the system refuses.
   Thread-safe. */
mps_res_t tdo_fault_install(tdo_fault_handler_t handler);

/* Offer a fault that another handler received (interface, 11.13): arguments
   as a SA_SIGINFO handler gets them. True if it was ours and is resolved. */
bool tdo_fault_offer(int signal, void *siginfo, void *context);

#endif /* TDO_CODE_FAULT_H */
