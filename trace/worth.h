/* Testudo: is a minor collection worth its while? Numbers only: learn.c gathers
   them. SPDX-License-Identifier: BSD-2-Clause

   In a heap in which what is old dies as fast as what is young, a minor
   collection copies most of a nursery for the little of it that died, and a
   full one that copies everything frees several times as much in the same time.
   The nursery had better be promoted as it is until then. In a heap of which
   all is copied each time (small.h) nothing else happens anyway. */
#ifndef TDO_TRACE_WORTH_H
#define TDO_TRACE_WORTH_H

#include <stdbool.h>

typedef struct tdo_worth {
  struct {
    double freed, ns; /* bytes; what that took, 0: nothing is known */
  } minor, full;  /* the last collection of a nursery; full one, if it copied */
  unsigned since; /* full ones since the last minor one */
} tdo_worth_t;

/* A nursery was collected, in NS nanoseconds, and so many bytes of it freed. */
void tdo_worth_minor(tdo_worth_t *worth, double freed, double ns);

/* Everything was. COPIED: what survived was copied, not marked. */
void tdo_worth_full(tdo_worth_t *worth, double freed, double ns, bool copied);

/* Was the last full collection hardly longer than a minor one? Now and then the
   answer is no, so that a minor one shows what is true now. */
bool tdo_worth_quick(const tdo_worth_t *worth);
/* Are minor collections not worth it, where ALIVE bytes survived the last full
   one? Not in a small heap. */
bool tdo_worth_little(const tdo_worth_t *worth, double alive);

#endif /* TDO_TRACE_WORTH_H */
