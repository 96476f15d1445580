/* Testudo: the clock for pauses and statistics. No system call (vDSO).
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_CLOCK_H
#define TDO_CODE_CLOCK_H

#include "code/base.h"

/* Nanoseconds since some fixed moment; monotonic. Signal-safe. */
uint64_t tdo_clock_ns(void);

#endif /* TDO_CODE_CLOCK_H */
