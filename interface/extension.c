/* Testudo: what the extension has besides settings and statistics.
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/fault.h"
#include "interface/entry.h"
#include "testudo.h"
#include "trace/sanity.h"

const char *tdo_version(void) {
  return TDO_VERSION;
}

void tdo_arena_check(mps_arena_t arena) {
  ENTRY_ARENA(arena, );
  ENTRY_ENTER_OUTSIDE(arena, );
  tdo_sanity_check(arena);
  tdo_heap_leave(arena);
}

mps_bool_t tdo_fault(int signal, void *siginfo, void *context) {
  return tdo_fault_offer(signal, siginfo, context);
}
