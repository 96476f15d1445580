/* Testudo: the heap of the benchmarks, without a collector: memory is taken
   from the system in order and never given back. What a workload takes here,
   no collector can take less of, but by giving memory out again while it is in
   the caches.
   SPDX-License-Identifier: BSD-2-Clause */
#include "gc_api.h"

#include <stdlib.h>
#include <sys/mman.h>

#define PIECE ((size_t)64 << 20)

const char heap_name[] = "none";

char *heap_next, *heap_limit;

static size_t taken, most = SIZE_MAX;

void heap_more(size_t bytes) {
  size_t size = bytes > PIECE ? bytes : PIECE;
  if (size > most - taken)
    heap_full();
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    heap_full();
  taken += size;
  heap_next = p;
  heap_limit = heap_next + size;
}

void heap_open(const heap_settings_t *settings, void *cold) {
  (void)cold;
  if (settings->limit != 0)
    most = settings->limit;
}

void heap_report(heap_report_t *report_o) {
  *report_o = (heap_report_t){
      .calls = -1, .survived = -1, .traced = -1, .memory = taken};
}

void heap_idle(void) {
}

void heap_collect(void) {
}

obj_t **heap_roots(size_t n) {
  obj_t **table = calloc(n, sizeof *table);
  if (table == NULL)
    heap_full();
  return table;
}
