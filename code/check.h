/* Testudo: assertions. They stay on in the hot build except on the measured
   hot paths (TDO_CRITICAL), and are gone in the rash build.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_CHECK_H
#define TDO_CODE_CHECK_H

#include "code/base.h"

/* A broken invariant or a client's mistake: calls mps_lib_assert_fail with
   file, line and a sentence. The handler may return; then so does this. */
__attribute__((cold)) void tdo_check_failed(const char *file, unsigned line,
                                            const char *text);

/* TDO_CHECK_ALWAYS is on in every variety (debug pools, section 2.25). */
#define TDO_CHECK_ALWAYS(cond, sentence)                                      \
  do {                                                                        \
    if (TDO_UNLIKELY(!(cond)))                                                \
      tdo_check_failed(__FILE__, __LINE__, sentence);                         \
  } while (0)

#if TDO_RASH
#define TDO_ASSERT(cond, sentence) ((void)(0 && (cond)))
#else
/* TDO_ASSERT carries a sentence that helps the client. */
#define TDO_ASSERT(cond, sentence) TDO_CHECK_ALWAYS(cond, sentence)
#endif

/* TDO_CHECK is for our own invariants: the condition is the sentence. */
#define TDO_CHECK(cond) TDO_ASSERT(cond, #cond)

#if TDO_COOL
#define TDO_CRITICAL_ASSERT(cond, sentence) TDO_ASSERT(cond, sentence)
#else
#define TDO_CRITICAL_ASSERT(cond, sentence) ((void)(0 && (cond)))
#endif
#define TDO_CRITICAL(cond) TDO_CRITICAL_ASSERT(cond, #cond)

#endif /* TDO_CODE_CHECK_H */
