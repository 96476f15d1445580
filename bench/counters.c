/* Testudo: hardware counters of a benchmark, where the machine has them.
   SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "measure.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/perf_event.h>

#define CACHE(cache, result)                                                  \
  (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_READ << 8 |           \
   PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct {
  const char *name;
  uint32_t type;
  uint64_t config;
} counters_known[] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"stalled_cycles", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    {"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"tlb_misses", PERF_TYPE_HW_CACHE, CACHE(DTLB, MISS)},
};

#define COUNTERS (sizeof counters_known / sizeof counters_known[0])

static int counters_file[COUNTERS];
static int counters_errno[COUNTERS];

void counters_open(void) {
  for (unsigned i = 0; i < COUNTERS; ++i) {
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = counters_known[i].type;
    attr.config = counters_known[i].config;
    attr.inherit = 1;
    attr.exclude_hv = 1;
    counters_file[i] = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
                                    PERF_FLAG_FD_CLOEXEC);
    counters_errno[i] = errno;
  }
}

void counters_print(FILE *stream) {
  const char *comma = "";
  for (unsigned i = 0; i < COUNTERS; ++i) {
    uint64_t value;
    if (counters_file[i] >= 0 &&
        read(counters_file[i], &value, sizeof value) == sizeof value) {
      fprintf(stream, "%s\"%s\": %llu", comma, counters_known[i].name,
              (unsigned long long)value);
      comma = ", ";
    }
  }
  if (*comma == '\0')
    fprintf(stream, "\"unavailable\": \"%s\"", strerror(counters_errno[0]));
}
