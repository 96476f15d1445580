/* Testudo: assertions that a test expects: an assertion handler that counts
   and returns, so that the library goes on.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_ASSERTED_H
#define TDO_TEST_ASSERTED_H

#include <check.h>
#include <stdio.h>
#include "code/base.h"
#include "mpslib.h"

static unsigned asserted_count;
static char asserted_first[512]; /* of those that were counted */

static void asserted_handler(const char *file, unsigned line,
                             const char *sentence) {
  ck_assert_ptr_nonnull(file);
  ck_assert_uint_ne(line, 0);
  ck_assert_ptr_nonnull(sentence);
  if (asserted_count++ == 0)
    (void)snprintf(asserted_first, sizeof asserted_first, "%s:%u: %s", file,
                   line, sentence);
}

/* Nothing was asserted since the last start. */
static inline void asserted_none(void) {
  ck_assert_msg(asserted_count == 0, "%u assertions, the first: %s",
                asserted_count, asserted_first);
}

/* From here on assertions are counted. */
static inline void asserted_start(void) {
  (void)mps_lib_assert_fail_install(asserted_handler);
  asserted_count = 0;
}

/* STATEMENT is reported in builds where CHECKED is true, and in no other. */
#define ASSERTED_IF(checked, statement)                                       \
  do {                                                                        \
    asserted_count = 0;                                                       \
    statement;                                                                \
    ck_assert_msg((asserted_count > 0) == (checked), "%u assertions: %s",     \
                  asserted_count, #statement);                                \
    asserted_count = 0;                                                       \
  } while (0)

/* Reported in the cool and the hot build; in every build; only in cool. */
#define ASSERTED(statement)        ASSERTED_IF(!TDO_RASH, statement)
#define ASSERTED_ALWAYS(statement) ASSERTED_IF(true, statement)
#define ASSERTED_COOL(statement)   ASSERTED_IF(TDO_COOL, statement)
#define ASSERTED_NEVER(statement)  ASSERTED_IF(false, statement)

#endif /* TDO_TEST_ASSERTED_H */
