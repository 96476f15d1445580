/* Testudo: how much memory the system has left for this process.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_AVAILABLE_H
#define TDO_CODE_AVAILABLE_H

#include <stddef.h>

/* Bytes that this process could take now without others being pushed out of
   memory, nor a limit of its control groups (version 1 or 2) being reached;
   0 if unknown. A few system calls. ROOT stands before the names of the
   system's files: "" but in tests. Any thread, and with others stopped. */
size_t tdo_available(const char *root);

#endif /* TDO_CODE_AVAILABLE_H */
