/* Testudo: a line about each collection, for people who tune (TESTUDO_LOG).
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/log.h"
#include <stdio.h>
#include "mpslib.h"

#define MIB(bytes) ((double)(bytes) / (1 << 20))

/* How TRACE collects what is old, if it does. */
static const char *log_kind(const tdo_trace_t *trace) {
  if (!trace->full)
    return "minor";
  return trace->in_place ? "full, old in place" : "full, copying";
}

void tdo_log_collection(tdo_heap_t *heap) {
  const tdo_trace_t *trace = &heap->trace;
  uint64_t worked;
  char line[400];

  if (!heap->log)
    return;
  worked = tdo_trace_worked_ns(heap);
  (void)snprintf(
      line, sizeof line,
      "testudo: collection %zu, %s: condemned %.1f MiB, survived %.1f, "
      "scanned %.1f, not condemned %.1f; %.2f ms of work, flip %.2f ms, "
      "done after %.2f ms; %.1f MiB committed. %s\n",
      heap->stats.collections, log_kind(trace),
      MIB(trace->condemned), MIB(trace->survived), MIB(trace->scanned),
      MIB(trace->left), (double)worked / 1e6, (double)trace->flip_ns / 1e6,
      (double)trace->took_ns / 1e6, MIB(heap->space.committed),
      trace->why);
  /* Threads may be stopped: the default plinth takes no stream's lock. */
  (void)mps_lib_fputs(line, mps_lib_get_stderr());
}
