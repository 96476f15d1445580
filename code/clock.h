/* Testudo: the clock for pauses and statistics. No system call (vDSO).
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_CLOCK_H
#define TDO_CODE_CLOCK_H

#include "code/base.h"

/* Nanoseconds since some fixed moment; monotonic. Signal-safe. */
uint64_t tdo_clock_ns(void);

/* Is that time over? 0: there is no end to it. */
static inline bool tdo_clock_past(uint64_t deadline) {
  return deadline != 0 && tdo_clock_ns() >= deadline;
}

#endif /* TDO_CODE_CLOCK_H */
