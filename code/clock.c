/* Testudo: the monotonic clock. SPDX-License-Identifier: BSD-2-Clause */
#include <time.h>
#include "code/clock.h"
#include "code/platform.h"

#if TDO_PF_LINUX

uint64_t tdo_clock_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now); /* never fails for this clock */
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#else

uint64_t tdo_clock_ns(void) {
  return (uint64_t)((double)clock() * (1e9 / CLOCKS_PER_SEC));
}

#endif
