/* Testudo: testudo-calibrate: what protection costs on this machine, as one
   line of JSON, in nanoseconds. SPDX-License-Identifier: BSD-2-Clause */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "code/clock.h"
#include "code/track.h"
#include "code/vm.h"
#include "ending.h"

#define PAGES  ((size_t)4096)
#define ROUNDS 2000
#define BEST   5

static tdo_vm_t *vm;
static char *base;
static size_t page_size;

static char *page(size_t n) {
  return base + n * page_size;
}

static void change(size_t first, size_t n, tdo_access_t access) {
  (void)vm->protect(vm, page(first), n * page_size, access);
}

/* The least of several measurements of one run of ROUNDS. */
static double least(void (*run)(void), double rounds) {
  double best = 1e18;
  for (int i = 0; i < BEST; ++i) {
    uint64_t start = tdo_clock_ns();
    run();
    double taken = (double)(tdo_clock_ns() - start) / rounds;
    best = taken < best ? taken : best;
  }
  return best;
}

/* Pages in the middle, so that each call splits or merges mappings. */
static void run_calls(void) {
  for (size_t i = 0; i < ROUNDS / 2; ++i) {
    change(2 * i + 1, 1, TDO_ACCESS_READ);
    change(2 * i + 1, 1, TDO_ACCESS_WRITE);
  }
}

static void run_pages(void) {
  for (size_t i = 0; i < 10; ++i) {
    change(0, PAGES, TDO_ACCESS_READ);
    change(0, PAGES, TDO_ACCESS_WRITE);
  }
}

static void on_fault(int sig, siginfo_t *info, void *context) {
  size_t n = (size_t)((char *)info->si_addr - base) / page_size;
  (void)sig, (void)context;
  change(n, 1, TDO_ACCESS_WRITE);
}

static void run_hits(void) {
  change(0, PAGES, TDO_ACCESS_READ);
  for (size_t i = 0; i < ROUNDS; ++i)
    *(volatile char *)page(2 * i + 1) = 1;
}

static tdo_track_t track;

static void run_arms(void) {
  for (size_t i = 0; i < ROUNDS; ++i)
    (void)track.arm(&track, page(2 * i), page_size);
}

static void run_arm_all(void) {
  (void)track.arm(&track, base, PAGES * page_size);
}

static void visit(void *closure, char *from, char *to) {
  (void)closure, (void)from, (void)to;
}

static void run_harvests(void) {
  for (size_t i = 0; i < 100; ++i)
    (void)track.harvest(&track, base, PAGES * page_size, visit, NULL);
}

static void run_writes(void) {
  for (size_t i = 0; i < ROUNDS; ++i)
    *(volatile char *)page(2 * i) = 2;
}

/* Arms everything first; only the writes are of interest. */
static double kernel_fault(void) {
  double best = 1e18;
  for (int i = 0; i < BEST; ++i) {
    run_arm_all();
    uint64_t start = tdo_clock_ns();
    run_writes();
    double taken = (double)(tdo_clock_ns() - start) / ROUNDS;
    best = taken < best ? taken : best;
  }
  return best;
}

/* One call over pages of which every second was written. */
static double arm_page(void) {
  double best = 1e18;
  for (int i = 0; i < BEST; ++i) {
    run_writes();
    uint64_t start = tdo_clock_ns();
    run_arm_all();
    double taken = (double)(tdo_clock_ns() - start) / ROUNDS;
    best = taken < best ? taken : best;
  }
  return best;
}

static void measure_tracking(void) {
  const char *why;
  if (tdo_track_open(&track, &why) != MPS_RES_OK ||
      track.cover(&track, base, PAGES * page_size) != MPS_RES_OK)
    return;
  double fault = kernel_fault();
  run_arm_all();
  double call = least(run_arms, ROUNDS);
  double each = arm_page();
  double harvest = least(run_harvests, 100.0 * (double)PAGES);
  printf(", \"track_call\": %.1f, \"harvest_page\": %.3f, "
         "\"kernel_fault\": %.1f, \"arm_page\": %.1f",
         call, harvest, fault, each);
  track.close(&track);
}

static const char calibrate_usage[] =
    "usage: testudo-calibrate\n"
    "\n"
    "It prints a line of JSON: what protection costs on this machine, in\n"
    "nanoseconds. There are no arguments.\n";

int main(int argc, char *argv[]) {
  struct sigaction action = {.sa_sigaction = on_fault,
                             .sa_flags = SA_SIGINFO | SA_NODEFER};
  void *p;
  if (argc == 2 && strcmp(argv[1], "--help") == 0) {
    printf("%s", calibrate_usage);
    return tool_end("testudo-calibrate", 0);
  }
  if (argc > 1) {
    (void)fprintf(stderr, "%s", calibrate_usage);
    return 2;
  }
  vm = tdo_vm_system();
  page_size = vm->page_size;
  if (vm->reserve(&p, vm, PAGES * page_size, page_size) != MPS_RES_OK ||
      vm->commit(vm, p, PAGES * page_size) != MPS_RES_OK ||
      sigaction(SIGSEGV, &action, NULL) != 0) {
    (void)fprintf(stderr, "testudo-calibrate: out of memory\n");
    return 1;
  }
  base = p;
  for (size_t i = 0; i < PAGES; ++i)
    *page(i) = 1;
  double call = least(run_calls, ROUNDS);
  double each = least(run_pages, 20.0 * (double)PAGES);
  double hit = least(run_hits, ROUNDS);
  printf("{\"call\": %.1f, \"page\": %.1f, \"hit\": %.1f", call, each,
         hit > call ? hit - call : 0);
  measure_tracking();
  printf("}\n");
  return tool_end("testudo-calibrate", 0);
}
