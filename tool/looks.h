/* Testudo: which pages the collector would look at, with another shield than
   that of the recording: it looks at what counts as written, and at what may
   refer to condemned generations. Follows trace/remember.c and trace/gcseg.c.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TOOL_LOOKS_H
#define TDO_TOOL_LOOKS_H

#include "bound.h"
#include "recording.h"

typedef struct looks looks_t;

/* For requests made of SHIELD, which is new. Null: no memory. */
looks_t *looks_new(tdo_shield_t *shield, bound_t *bound);
void looks_free(looks_t *looks);

/* Note what STEP says of pages; asks nothing of the shield. */
void looks_note(looks_t *looks, const step_t *step);
/* These pages lost their write bars; were found to be written. */
void looks_lost(looks_t *looks, size_t first, size_t limit);
void looks_written(looks_t *looks, size_t first, size_t limit);
/* Offer these pages to the shield. */
void looks_offer(looks_t *looks, size_t first, size_t limit);

/* The pass over the pages that begins with STEP, REMEMBER, and goes on at
   *PLACE, which moves beyond its end: makes the requests that the collector
   would make, and PLAYs those that come of what it finds. */
typedef void (*looks_play_t)(const step_t *step, place_t *place);
void looks_pass(looks_t *looks, const recording_t *recording,
                const step_t *step, place_t *place, looks_play_t play);

#endif /* TDO_TOOL_LOOKS_H */
