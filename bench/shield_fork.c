/* Testudo: forks a second from a process with a large arena, after random
   writes into it. Usage: shield_fork [MIB [WRITES]]. Says when the writes are
   done, and the number of mappings; then reads lines from the standard input,
   "exit N" or "exec N": N children one after the other that end at once, or
   run an empty program first; and prints how many a second.
   SPDX-License-Identifier: BSD-2-Clause */
#include <sys/wait.h>
#include <unistd.h>
#include "shield_heap.h"

static void fork_once(int exec) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    if (exec)
      (void)execl("/bin/true", "true", (char *)NULL);
    _exit(exec);
  }
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    (void)fprintf(stderr, "a child failed\n");
    exit(1);
  }
}

static double fork_rate(size_t n, int exec) {
  double start = heap_seconds();
  for (size_t i = 0; i < n; ++i)
    fork_once(exec);
  return (double)n / (heap_seconds() - start);
}

int main(int argc, char **argv) {
  size_t bytes = heap_megabytes(argc, argv, 1024);
  size_t writes = heap_number(argc, argv, 2, 5000000);
  size_t n;
  char what[8];
  heap_start(bytes);
  for (size_t i = 0; i < writes; ++i) {
    size_t v = heap_random() % vectors_count;
    vectors[v]->slot[heap_random() % VECTOR_SLOTS] = vector_make(2);
  }
  printf("mappings %zu\n", heap_mappings());
  (void)fflush(stdout);
  while (scanf("%7s %zu", what, &n) == 2) {
    printf("rate %.3f\n", fork_rate(n, strcmp(what, "exec") == 0));
    (void)fflush(stdout);
  }
  mps_arena_park(arena);
  return 0;
}
