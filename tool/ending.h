/* Testudo: how the programs here end. SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TOOL_ENDING_H
#define TDO_TOOL_ENDING_H

#include <stdio.h>

/* STATUS, if what standard output holds is written; else 1, and the user of
   NAME is told. */
static inline int tool_end(const char *name, int status) {
  if (fflush(stdout) == 0 && !ferror(stdout))
    return status;
  (void)fprintf(stderr, "%s: standard output: it cannot be written\n", name);
  return 1;
}

#endif /* TDO_TOOL_ENDING_H */
