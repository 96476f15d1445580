/* Testudo: where failed checks go. SPDX-License-Identifier: BSD-2-Clause */
#include "code/check.h"
#include "mpslib.h"

void tdo_check_failed(const char *file, unsigned line, const char *text) {
  /* Clients use line 0 as a marker of their own (interface, 2.27). */
  mps_lib_assert_fail(file, line == 0 ? 1 : line, text);
}
