/* Testudo: where short free runs begin: for each word of a bit table the
   longest run of free units that begins in it, and the maxima over sixteen of
   them, over sixteen of those, and so on. The lowest or highest run of at
   least N units is found by one look at each level, without a branch that
   depends on the data; taking or freeing a short block changes a few bytes.
   SPDX-License-Identifier: BSD-2-Clause

   Lengths count up to TDO_STARTS_MOST; longer runs count as that.

   The bit table has a set bit for each unit in use; one word before its first
   and two behind its last are all ones.

   Invariants:
   .word  level 0 has for each word the length of the longest run that begins
          in it; a run that comes from the word before does not begin here.
   .max   level K + 1 has for each sixteen bytes of level K their maximum;
          `most` is that of the last level, which has at most sixteen. */
#ifndef TDO_POOL_STARTS_H
#define TDO_POOL_STARTS_H

#include "code/bits.h"

#define TDO_STARTS_MOST   127u
#define TDO_STARTS_LEVELS 16

typedef struct tdo_starts {
  const tdo_bits_t *used;
  size_t words;
  unsigned levels, most;
  uint8_t *level[TDO_STARTS_LEVELS];
} tdo_starts_t;

/* Bytes of memory (word aligned) for WORDS > 0 words of the bit table. */
size_t tdo_starts_bytes(size_t words);
/* All units used. USED and MEMORY stay the caller's. */
void tdo_starts_init(tdo_starts_t *s, const tdo_bits_t *used, size_t words,
                     void *memory);
bool tdo_starts_check(const tdo_starts_t *s);

/* Units [BASE, LIMIT), not empty, were all taken; were all freed. */
void tdo_starts_taken(tdo_starts_t *s, size_t base, size_t limit);
void tdo_starts_freed(tdo_starts_t *s, size_t base, size_t limit);

/* The base of the lowest (highest) run of at least N units, from 1 to
   TDO_STARTS_MOST; there is one if N <= s->most. */
size_t tdo_starts_lowest(const tdo_starts_t *s, size_t n);
size_t tdo_starts_highest(const tdo_starts_t *s, size_t n);

#endif /* TDO_POOL_STARTS_H */
