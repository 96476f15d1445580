/* Testudo: an assertion for the inner loops of tests. Check's own tell the
   runner about each success, which is slow and needs memory.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_REQUIRE_H
#define TDO_TEST_REQUIRE_H

#include <check.h>

#define REQUIRE(cond)                                                         \
  do {                                                                        \
    if (!(cond)) {                                                            \
      ck_abort_msg("%s", #cond);                                              \
    }                                                                         \
  } while (0)

#endif /* TDO_TEST_REQUIRE_H */
