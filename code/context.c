/* Testudo: what calls leave in the stack.
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/context.h"

/* Stores and no call, so that there is nothing to be saved in between: what
   these functions themselves save would lie there uncleared. */
typedef tdo_word_t context_pair_t __attribute__((vector_size(16)));

#define CONTEXT_CLEAR(bytes)                                                  \
  do {                                                                        \
    volatile context_pair_t dead[(bytes) / sizeof(context_pair_t)];           \
    for (size_t i = 0; i < (bytes) / sizeof(context_pair_t); ++i)             \
      dead[i] = (context_pair_t){0};                                          \
    (void)dead;                                                               \
  } while (0)

TDO_NO_SANITIZE TDO_NOINLINE tdo_word_t tdo_context_clear(tdo_word_t result) {
  CONTEXT_CLEAR(TDO_CONTEXT_DEAD);
  return result;
}

TDO_NO_SANITIZE TDO_NOINLINE void tdo_context_clear_deep(void) {
  CONTEXT_CLEAR(TDO_CONTEXT_DEAD_DEEP);
}
