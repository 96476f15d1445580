/* Testudo: entry points for telemetry (interface, section 2.26).
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/event.h"
#include "interface/entry.h"

void mps_telemetry_set(mps_word_t mask) {
  tdo_event_set(mask);
}

void mps_telemetry_reset(mps_word_t mask) {
  tdo_event_reset(mask);
}

mps_word_t mps_telemetry_get(void) {
  return tdo_event_get();
}

mps_label_t mps_telemetry_intern(const char *string) {
  ENTRY_REQUIRE(string != NULL, "no string to intern", 0);
  return tdo_event_intern(string);
}

void mps_telemetry_label(mps_addr_t addr, mps_label_t label) {
  tdo_event_label(addr, label);
}

void mps_telemetry_flush(void) {
  tdo_event_flush();
}
