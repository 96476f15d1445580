/* Testudo: forks a second from a process with a large arena, after random
   writes into it. Usage: shield_fork [MIB [SECONDS]].
   SPDX-License-Identifier: BSD-2-Clause */
#include <sys/wait.h>
#include <unistd.h>
#include "shield_heap.h"

/* One child; it ends at once, or runs an empty program first. */
static void fork_once(int exec) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    if (exec) {
      (void)execl("/bin/true", "true", (char *)NULL);
    }
    _exit(exec);
  }
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    (void)fprintf(stderr, "a child failed\n");
    exit(1);
  }
}

static double fork_rate(double seconds, int exec) {
  double start = heap_seconds(), now;
  size_t n = 0;
  do {
    fork_once(exec);
    ++n;
    now = heap_seconds();
  } while (now < start + seconds);
  return (double)n / (now - start);
}

int main(int argc, char **argv) {
  size_t bytes = heap_megabytes(argc, argv, 1024);
  double seconds = argc > 2 ? strtod(argv[2], NULL) : 2;
  heap_start(bytes);
  for (size_t i = 0; i < 1000000; ++i) {
    size_t v = heap_random() % vectors_count;
    vectors[v]->slot[heap_random() % VECTOR_SLOTS] = vector_make(2);
  }
  printf("fork+exit %.1f a second\n", fork_rate(seconds, 0));
  printf("fork+exec+exit %.1f a second\n", fork_rate(seconds, 1));
  mps_arena_park(arena);
  return 0;
}
