/* Testudo: counting threads that look at something without a lock.
   SPDX-License-Identifier: BSD-2-Clause

   Whoever takes that something away sees whether there are any. In the child of
   a fork none is counted: the others are not there, and the handler of a signal
   that forked may have interrupted this thread at any instruction between
   begin and end, or of these, so that nobody can tell whether it counts. What
   it began before it does not end then: the upper half of the word counts
   forks. */
#ifndef TDO_CODE_READERS_H
#define TDO_CODE_READERS_H

#include <stdatomic.h>
#include "code/base.h"

typedef struct tdo_readers {
  atomic_size_t word;
} tdo_readers_t;

#define TDO_READERS_FORK ((size_t)1 << 32)

/* May be nested; end gets what begin returned. */
static inline size_t tdo_readers_begin(tdo_readers_t *readers) {
  return atomic_fetch_add(&readers->word, 1) / TDO_READERS_FORK;
}

static inline void tdo_readers_end(tdo_readers_t *readers, size_t begun) {
  size_t now = atomic_load(&readers->word);

  while (now / TDO_READERS_FORK == begun &&
         !atomic_compare_exchange_weak(&readers->word, &now, now - 1))
    ;
}

static inline bool tdo_readers_any(tdo_readers_t *readers) {
  return atomic_load(&readers->word) % TDO_READERS_FORK != 0;
}

static inline void tdo_readers_after_fork_in_child(tdo_readers_t *readers) {
  size_t forks = atomic_load(&readers->word) / TDO_READERS_FORK;

  atomic_store(&readers->word, (forks + 1) * TDO_READERS_FORK);
}

#endif /* TDO_CODE_READERS_H */
