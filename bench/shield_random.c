/* Testudo: random young pointers into old vectors.
   Usage: shield_random [MIB [WRITES]]. Prints writes, seconds, system calls of
   the library in the loop. SPDX-License-Identifier: BSD-2-Clause */
#include "shield_heap.h"

int main(int argc, char **argv) {
  size_t bytes = heap_megabytes(argc, argv, 1024);
  size_t writes = argc > 2 ? strtoul(argv[2], NULL, 10) : 5000000;
  size_t calls, bad = 0;
  double start;
  heap_start(bytes);
  calls = heap_calls();
  start = heap_seconds();
  for (size_t i = 0; i < writes; ++i) {
    size_t v = heap_random() % vectors_count;
    vector_t *young = vector_make(2);
    vectors[v]->slot[heap_random() % VECTOR_SLOTS] = young;
  }
  printf("writes %zu seconds %.3f calls %zu\n", writes, heap_seconds() - start,
         heap_calls() - calls);
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
