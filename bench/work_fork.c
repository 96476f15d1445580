/* Testudo: fork: new processes that end, or run a program, from a process
   with a large heap; each looks at the heap first, writes to it and
   allocates.
   SPDX-License-Identifier: BSD-2-Clause */
#include "workload.h"

#include <sys/wait.h>
#include <unistd.h>

#define VECTOR_SLOTS 511
#define LOOKS        64

const char workload_name[] = "fork";
const unsigned workload_batch = 1;

static int child(obj_t **vectors, size_t count) {
  heap_forked();
  for (size_t i = 0; i < LOOKS; ++i) {
    size_t v = i * count / LOOKS;
    obj_t *pair = SLOT(vectors[v], 0);
    check(FIXNUM_VALUE(SLOT(pair, 0)) == v);
    pair = heap_pair(FIXNUM(v), NULL);
    SLOT_SET(vectors[v], 1, pair);
  }
  if (options.kind == 1)
    execl("/bin/true", "true", (char *)NULL);
  return 0;
}

void workload(void) {
  size_t count = options.heap / OBJ_BYTES(VECTOR_SLOTS) + 1;
  obj_t **vectors = heap_roots(count);
  for (size_t i = 0; i < count; ++i) {
    vectors[i] = heap_slots(VECTOR_SLOTS);
    obj_t *pair = heap_pair(FIXNUM(i), NULL);
    SLOT_SET(vectors[i], 0, pair);
    meter_tick(&meter);
  }
  build_done();
  for (size_t n = 0; n < options.ops; ++n) {
    int status = -1;
    pid_t pid = fork();
    check(pid >= 0);
    if (pid == 0)
      _exit(child(vectors, count));
    check(waitpid(pid, &status, 0) == pid && status == 0);
    /* The parent works on: some of its pages are shared now. */
    for (size_t i = 0; i < LOOKS; ++i) {
      obj_t *pair = heap_pair(FIXNUM(n), NULL);
      SLOT_SET(vectors[i * count / LOOKS], 2, pair);
    }
    meter_tick(&meter);
  }
  work_done(options.ops);
  for (size_t i = 0; i < count; ++i) {
    check(FIXNUM_VALUE(SLOT(SLOT(vectors[i], 0), 0)) == i);
    check(SLOT(vectors[i], 1) == NULL);
  }
}
