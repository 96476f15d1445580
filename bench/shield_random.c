/* Testudo: random young pointers into old vectors.
   Usage: shield_random [MIB [WRITES [THREADS]]], with so many other threads at
   work. Prints writes, seconds, system calls of the library in the loop, and
   seconds of the processor. SPDX-License-Identifier: BSD-2-Clause */
#include "shield_heap.h"

int main(int argc, char **argv) {
  size_t bytes = heap_megabytes(argc, argv, 1024);
  size_t writes = heap_number(argc, argv, 2, 5000000);
  size_t calls, bad = 0;
  double start, processor;
  heap_start(bytes);
  heap_others(heap_number(argc, argv, 3, 0));
  calls = heap_calls();
  start = heap_seconds();
  processor = heap_processor();
  for (size_t i = 0; i < writes; ++i) {
    size_t v = heap_random() % vectors_count;
    vector_t *young = vector_make(2);
    vectors[v]->slot[heap_random() % VECTOR_SLOTS] = young;
  }
  printf("writes %zu seconds %.3f calls %zu processor %.6f\n", writes,
         heap_seconds() - start, heap_calls() - calls,
         heap_processor() - processor);
  heap_others(0);
  for (size_t v = 0; v < vectors_count; ++v) {
    for (size_t i = 0; i < VECTOR_SLOTS; ++i) {
      vector_t *young = vectors[v]->slot[i];
      bad += young != NULL && young->header != 3 * sizeof(void *);
    }
  }
  printf("wrong %zu\n", bad);
  mps_arena_park(arena);
  return bad != 0;
}
