/* Testudo: the main program of every benchmark workload.
   SPDX-License-Identifier: BSD-2-Clause */
#include "workload.h"

#include <stdlib.h>
#include <sys/resource.h>

options_t options = {
#define X(name, value, meaning) value,
    OPTIONS(X)
#undef X
};
meter_t meter;

#define FIGURES 32

static struct {
  const char *name;
  double value;
} figures[FIGURES];
static unsigned figure_count;
static uint64_t begun, built, built_waited, built_own, done;
static size_t operation_count;
static heap_report_t built_report, report;
static struct rusage usage;

void figure(const char *name, double value) {
  check(figure_count < FIGURES);
  figures[figure_count].name = name;
  figures[figure_count++].value = value;
}

_Noreturn void check_failed(const char *file, int line, const char *what) {
  fprintf(stderr, "%s:%d: the heap is wrong: not (%s)\n", file, line, what);
  exit(1);
}

_Noreturn void heap_full(void) {
  fprintf(stderr, "no memory for the heap\n");
  exit(3);
}

void build_done(void) {
  heap_report(&built_report);
  meter_note(&meter, clock_ns());
  built_waited = meter.waited - meter.waited_first;
  built_own = meter.longest_own;
  meter_skip(&meter);
  built = clock_ns();
}

void work_done(size_t operations) {
  meter_stop(&meter);
  done = clock_ns();
  operation_count = operations;
  getrusage(RUSAGE_SELF, &usage);
  heap_report(&report);
}

/* A line of /proc/self/status, in bytes. */
static double status_bytes(const char *name) {
  char line[256];
  double value = 0;
  FILE *file = fopen("/proc/self/status", "r");
  if (file == NULL)
    return 0;
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, name, strlen(name)) == 0)
      value = 1024 * atof(line + strlen(name) + 1);
  }
  fclose(file);
  return value;
}

static double seconds_of(struct timeval t) {
  return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static void print_pauses(void) {
  printf("\"batch\": %u, \"batches\": %llu, \"pause\": {\"median\": %g, "
         "\"p99\": %g, \"p999\": %g, \"longest\": %g, \"own\": %g, "
         "\"build_own\": %g}, ",
         workload_batch, (unsigned long long)meter.batches,
         (double)meter_quantile(&meter, 0.5) * 1e-9,
         (double)meter_quantile(&meter, 0.99) * 1e-9,
         (double)meter_quantile(&meter, 0.999) * 1e-9,
         (double)meter.longest * 1e-9, (double)meter.longest_own * 1e-9,
         (double)built_own * 1e-9);
  printf("\"utilisation\": {\"10ms\": %.3f, \"50ms\": %.3f, \"200ms\": %.3f, "
         "\"1s\": %.3f}, ",
         meter_utilisation(&meter, 10000000),
         meter_utilisation(&meter, 50000000),
         meter_utilisation(&meter, 200000000),
         meter_utilisation(&meter, 1000000000));
}

static void print_report(double peak) {
  printf("{\"workload\": \"%s\", \"collector\": \"%s\", ", workload_name,
         heap_name);
#define X(name, value, meaning) printf("\"%s\": %zu, ", #name, options.name);
  OPTIONS(X)
#undef X
  double work = (double)(done - (built != 0 ? built : begun)) * 1e-9;
  printf("\"operations\": %zu, \"seconds\": %.6f, \"work_seconds\": %.6f, "
         "\"ns\": %.3f, \"waited\": %.6f, \"build_waited\": %.6f, "
         "\"stolen\": %.6f, \"work_lost\": %.6f, ",
         operation_count, (double)(done - begun) * 1e-9, work,
         work * 1e9 / (double)operation_count,
         (double)(meter.waited - meter.waited_first) * 1e-9,
         (double)built_waited * 1e-9, (double)meter.stolen * 1e-9,
         meter_lost(&meter, built != 0 ? built - meter.begun : 0));
  printf("\"user\": %.3f, \"system\": %.3f, \"faults\": %ld, "
         "\"major_faults\": %ld, \"peak\": %.0f, ",
         seconds_of(usage.ru_utime), seconds_of(usage.ru_stime),
         usage.ru_minflt, usage.ru_majflt, peak);
  print_pauses();
  printf(
      "\"library\": {\"collections\": %.0f, \"full\": %.0f, \"seconds\": %g, "
      "\"longest\": %g, \"calls\": %.0f, \"survived\": %.0f, \"traced\": %g, "
      "\"memory\": %zu, \"work_collections\": %.0f, \"work_full\": %.0f, "
      "\"work_seconds\": %g}, \"figures\": {",
      report.collections, report.full, report.seconds, report.longest_pause,
      report.calls, report.survived, report.traced, report.memory,
      report.collections - built_report.collections,
      report.full - built_report.full, report.seconds - built_report.seconds);
  for (unsigned i = 0; i < figure_count; ++i)
    printf("%s\"%s\": %g", i == 0 ? "" : ", ", figures[i].name,
           figures[i].value);
  printf("}, \"counters\": {");
  counters_print(stdout);
  printf("}}\n");
}

static void usage_print(FILE *stream) {
  fprintf(stream, "usage: %s OPTION=NUMBER...\n", workload_name);
#define X(name, value, meaning)                                               \
  fprintf(stream, "  --%s=%zu  %s\n", #name, (size_t)(value), meaning);
  OPTIONS(X)
#undef X
}

/* The value of --NAME=VALUE if that is what the argument is, else null. */
static const char *value_of(const char *argument, const char *name) {
  size_t size = strlen(name);
  if (strncmp(argument, "--", 2) == 0 &&
      strncmp(argument + 2, name, size) == 0 && argument[size + 2] == '=')
    return argument + size + 3;
  return NULL;
}

/* Read a number; false if it is none. */
static int read_number(const char *text, size_t *number_o) {
  char *end;
  if (*text < '0' || *text > '9')
    return 0;
  size_t number = strtoull(text, &end, 10);
  const char *unit = strchr("KMG", *end);
  if (*end != '\0' && unit != NULL) {
    number <<= 10 * (unit - "KMG" + 1);
    ++end;
  }
  *number_o = number;
  return *end == '\0';
}

static int read_option(const char *argument) {
  const char *value;
#define X(name, standard, meaning)                                            \
  if ((value = value_of(argument, #name)) != NULL)                            \
    return read_number(value, &options.name);
  OPTIONS(X)
#undef X
  return 0;
}

__attribute__((noinline)) static void run(void *cold) {
  heap_settings_t settings = {options.heap,    (double)options.pause * 1e-6,
                              options.nursery, options.gen1,
                              options.limit,   options.survivors != 0,
                              options.fixed != 0};
  counters_open();
  begun = clock_ns();
  heap_open(&settings, cold);
  meter_start(&meter);
  workload();
  check(done != 0);
}

int main(int argc, char *argv[]) {
  for (int i = 1; i < argc; ++i) {
    if (!read_option(argv[i])) {
      fprintf(stderr, "%s: unknown option '%s'\n", workload_name, argv[i]);
      usage_print(stderr);
      return 2;
    }
  }
  run(__builtin_frame_address(0));
  print_report(status_bytes("VmHWM"));
  return 0;
}
