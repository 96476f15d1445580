/* Testudo: whether minor collections are worth their while (manual, "Tuning").
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/worth.h"
#include "code/base.h"

#define WORTH_SHARE 0.7 /* of what a full collection frees in the same time */
#define WORTH_LONGER 1.2 /* times as long is hardly longer */
#define WORTH_AGAIN 8   /* full collections, then a minor one is looked at
                           again */
#define WORTH_LEAST ((double)(80 << 20)) /* surviving bytes: others are small */

void tdo_worth_minor(tdo_worth_t *worth, double freed, double ns) {
  worth->minor.freed = freed;
  worth->minor.ns = ns;
  worth->since = 0;
}

void tdo_worth_full(tdo_worth_t *worth, double freed, double ns, bool copied) {
  worth->full.freed = freed;
  worth->full.ns = copied ? ns : 0;
  ++worth->since;
}

bool tdo_worth_quick(const tdo_worth_t *worth) {
  return worth->full.ns > 0 &&
         worth->full.ns <= WORTH_LONGER * worth->minor.ns &&
         worth->since < WORTH_AGAIN;
}

bool tdo_worth_little(const tdo_worth_t *worth, double alive) {
  return alive >= WORTH_LEAST && worth->minor.ns > 0 && worth->full.ns > 0 &&
         worth->minor.freed * worth->full.ns <
             WORTH_SHARE * worth->full.freed * worth->minor.ns;
}
