/* Testudo: every arena of the process.
   SPDX-License-Identifier: BSD-2-Clause */
#include <sched.h>
#include "code/readers.h"
#include "code/stop.h"
#include "trace/heaps.h"

/* Changed with the global lock held, read without. */
#define HEAPS_MAX 4096
static _Atomic(tdo_heap_t *) heaps[HEAPS_MAX];
static atomic_size_t heaps_limit;

/* Threads that look at what they found in the table. An arena that was taken
   out of it goes when there was none: a hit comes across other arenas than
   its own, which other threads may destroy meanwhile. */
static tdo_readers_t heaps_readers;

bool tdo_heaps_claim(void) {
  bool quiet = tdo_stop_quiet();

  tdo_lock_global_claim();
  return quiet;
}

void tdo_heaps_release(bool quiet) {
  tdo_lock_global_release();
  if (quiet)
    tdo_stop_loud();
}

size_t tdo_heaps_begin(void) {
  return tdo_readers_begin(&heaps_readers);
}

void tdo_heaps_end(size_t begun) {
  tdo_readers_end(&heaps_readers, begun);
}

mps_res_t tdo_heaps_add(tdo_heap_t *heap) {
  mps_res_t res = MPS_RES_LIMIT;
  bool quiet = tdo_heaps_claim();

  for (size_t i = 0; i < HEAPS_MAX; ++i)
    if (atomic_load(&heaps[i]) == NULL) {
      atomic_store(&heaps[i], heap);
      if (i >= atomic_load(&heaps_limit))
        atomic_store(&heaps_limit, i + 1);
      res = MPS_RES_OK;
      break;
    }
  tdo_heaps_release(quiet);
  return res;
}

void tdo_heaps_remove(tdo_heap_t *heap) {
  bool quiet = tdo_heaps_claim();

  for (size_t i = 0; i < HEAPS_MAX; ++i)
    if (atomic_load(&heaps[i]) == heap)
      atomic_store(&heaps[i], NULL);
  tdo_heaps_release(quiet);
  while (tdo_readers_any(&heaps_readers) ||
         atomic_load(&heap->awaited) != 0)
    (void)sched_yield();
}

size_t tdo_heaps_count(void) {
  size_t limit = atomic_load(&heaps_limit), count = 0;

  for (size_t i = 0; i < limit; ++i)
    count += atomic_load(&heaps[i]) != NULL;
  return count;
}

tdo_heap_t *tdo_heaps_find(const void *addr) {
  size_t limit = atomic_load(&heaps_limit), begun;
  tdo_heap_t *found = NULL;

  begun = tdo_heaps_begin();
  for (size_t i = 0; i < limit && found == NULL; ++i) {
    tdo_heap_t *heap = atomic_load(&heaps[i]);
    if (heap != NULL && tdo_space_contains(&heap->space, addr))
      found = heap;
  }
  tdo_heaps_end(begun);
  return found;
}

bool tdo_heaps_inside(void) {
  size_t limit = atomic_load(&heaps_limit), begun;
  bool inside = false;

  begun = tdo_heaps_begin();
  for (size_t i = 0; i < limit && !inside; ++i) {
    tdo_heap_t *heap = atomic_load(&heaps[i]);
    inside = heap != NULL && tdo_lock_mine(&heap->lock);
  }
  tdo_heaps_end(begun);
  return inside;
}

bool tdo_heaps_wait(tdo_heap_t *heap) {
  if (tdo_heaps_inside())
    return false;
  tdo_lock_claim(&heap->lock);
  return true;
}

void tdo_heaps_each(void (*visit)(tdo_heap_t *heap)) {
  size_t limit = atomic_load(&heaps_limit), begun;

  begun = tdo_heaps_begin();
  for (size_t i = 0; i < limit; ++i) {
    tdo_heap_t *heap = atomic_load(&heaps[i]);
    if (heap != NULL)
      visit(heap);
  }
  tdo_heaps_end(begun);
}

void tdo_heaps_after_fork_in_child(void) {
  tdo_readers_after_fork_in_child(&heaps_readers);
}
