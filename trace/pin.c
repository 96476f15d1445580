/* Testudo: pinned objects that grow old (manual, "Tuning").
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/pin.h"

#define PIN_LEAST ((double)(1 << 20)) /* bytes scanned again and again, and */
#define PIN_TIMES 4 /* times what is pinned now: then it is promoted */

bool tdo_pin_again(tdo_pin_t *pin, size_t live) {
  pin->again += (double)live;
  return pin->promotes;
}

void tdo_pin_learn(tdo_pin_t *pin) {
  pin->spent = pin->promotes ? 0 : pin->spent + pin->again;
  pin->promotes = pin->again > 0 && pin->spent >= PIN_LEAST &&
                  pin->spent >= PIN_TIMES * pin->again;
  pin->again = 0;
}
