/* Testudo: pinned objects that grow old. Numbers only: pools tell what they
   find. SPDX-License-Identifier: BSD-2-Clause

   What an ambiguous reference leads to stays where it is, and so in its
   generation. Most of it is let go of before the next collection, and dies
   young like anything else. But what is pinned again and again, as objects
   that a deep stack or a large ambiguous block holds, is scanned again by each
   minor collection. When that came to a few times what there is of it, it
   changes its generation where it lies. */
#ifndef TDO_TRACE_PIN_H
#define TDO_TRACE_PIN_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tdo_pin {
  double again;  /* bytes that this collection found pinned once more, */
  double spent;  /* and those before, since the last promotion */
  bool promotes; /* such segments are promoted now */
} tdo_pin_t;

/* LIVE bytes of a young segment stayed in place, as the last time. True if it
   is to be promoted. */
bool tdo_pin_again(tdo_pin_t *pin, size_t live);

/* A collection is over. */
void tdo_pin_learn(tdo_pin_t *pin);

#endif /* TDO_TRACE_PIN_H */
