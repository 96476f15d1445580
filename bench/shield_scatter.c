/* Testudo: a write to every second page of a large live array, over and over.
   Usage: shield_scatter [MIB [ROUNDS]]. Prints rounds, seconds, system calls
   of the library, and seconds of the processor.
   SPDX-License-Identifier: BSD-2-Clause */
#include "shield_heap.h"

int main(int argc, char **argv) {
  size_t bytes = heap_megabytes(argc, argv, 1024);
  size_t rounds = heap_number(argc, argv, 2, 20);
  size_t calls, bad = 0;
  double start, processor;
  heap_start(bytes);
  calls = heap_calls();
  start = heap_seconds();
  processor = heap_processor();
  for (size_t round = 0; round < rounds; ++round) {
    for (size_t v = 0; v < vectors_count; ++v) {
      vector_t *young = vector_make(2);
      young->slot[0] = vectors[v];
      vectors[v]->slot[7] = young;
    }
    for (int i = 0; i < 400000; ++i)
      (void)vector_make(2); /* time for collections without writes */
  }
  printf("rounds %zu seconds %.3f calls %zu processor %.6f\n", rounds,
         heap_seconds() - start, heap_calls() - calls,
         heap_processor() - processor);
  for (size_t v = 0; v < vectors_count; ++v)
    bad += vectors[v]->slot[7]->slot[0] != vectors[v];
  printf("wrong %zu\n", bad);
  mps_arena_park(arena);
  return bad != 0;
}
