/* Testudo: what a collection that is over tells about the next ones.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_LEARN_H
#define TDO_TRACE_LEARN_H

#include <stdint.h>
#include "code/base.h"

typedef struct tdo_learned {
  size_t skip, skip_next; /* collections for which the nursery is promoted past
                             the middle generation: now, and next time */
  uint64_t ended, paused; /* when the last collection was over, and the time in
                             pauses until then; ns */
  double made;            /* bytes that were condemned in the default chain's
                             nursery since the generation after it was */
} tdo_learned_t;

/* After each collection: capacities, spare memory held for the nursery. */
void tdo_learn(mps_arena_t heap);

#endif /* TDO_TRACE_LEARN_H */
