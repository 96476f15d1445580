/* Testudo: every arena of the process.
   SPDX-License-Identifier: BSD-2-Clause */
#include <sched.h>
#include "trace/heaps.h"

/* Changed with the global lock held, read without. */
#define HEAPS_MAX 4096
static _Atomic(tdo_heap_t *) heaps[HEAPS_MAX];
static atomic_size_t heaps_limit;

/* Threads that look at what they found in the table. An arena that was taken
   out of it goes when there was none: a hit comes across other arenas than
   its own, which other threads may destroy meanwhile. The low half of the
   word; the high half counts forks, since a child begins anew, and whoever
   looked before, or was about to, may be interrupted by the handler that
   forked at any instruction. */
static atomic_size_t heaps_readers;

#define HEAPS_FORK ((size_t)1 << 32)

size_t tdo_heaps_begin(void) {
  return atomic_fetch_add(&heaps_readers, 1) / HEAPS_FORK;
}

void tdo_heaps_end(size_t since) {
  size_t now = atomic_load(&heaps_readers);

  while (now / HEAPS_FORK == since &&
         !atomic_compare_exchange_weak(&heaps_readers, &now, now - 1))
    ;
}

mps_res_t tdo_heaps_add(tdo_heap_t *heap) {
  mps_res_t res = MPS_RES_LIMIT;

  tdo_lock_global_claim();
  for (size_t i = 0; i < HEAPS_MAX; ++i)
    if (atomic_load(&heaps[i]) == NULL) {
      atomic_store(&heaps[i], heap);
      if (i >= atomic_load(&heaps_limit))
        atomic_store(&heaps_limit, i + 1);
      res = MPS_RES_OK;
      break;
    }
  tdo_lock_global_release();
  return res;
}

void tdo_heaps_remove(tdo_heap_t *heap) {
  tdo_lock_global_claim();
  for (size_t i = 0; i < HEAPS_MAX; ++i)
    if (atomic_load(&heaps[i]) == heap)
      atomic_store(&heaps[i], NULL);
  tdo_lock_global_release();
  while (atomic_load(&heaps_readers) % HEAPS_FORK != 0 ||
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
  size_t limit = atomic_load(&heaps_limit), since;
  tdo_heap_t *found = NULL;

  since = tdo_heaps_begin();
  for (size_t i = 0; i < limit && found == NULL; ++i) {
    tdo_heap_t *heap = atomic_load(&heaps[i]);
    if (heap != NULL && tdo_space_contains(&heap->space, addr))
      found = heap;
  }
  tdo_heaps_end(since);
  return found;
}

bool tdo_heaps_inside(void) {
  size_t limit = atomic_load(&heaps_limit), since;
  bool inside = false;

  since = tdo_heaps_begin();
  for (size_t i = 0; i < limit && !inside; ++i) {
    tdo_heap_t *heap = atomic_load(&heaps[i]);
    inside = heap != NULL && tdo_lock_mine(&heap->lock);
  }
  tdo_heaps_end(since);
  return inside;
}

void tdo_heaps_each(void (*visit)(tdo_heap_t *heap)) {
  size_t limit = atomic_load(&heaps_limit), since;

  since = tdo_heaps_begin();
  for (size_t i = 0; i < limit; ++i) {
    tdo_heap_t *heap = atomic_load(&heaps[i]);
    if (heap != NULL)
      visit(heap);
  }
  tdo_heaps_end(since);
}

void tdo_heaps_after_fork_in_child(void) {
  size_t forks = atomic_load(&heaps_readers) / HEAPS_FORK;

  atomic_store(&heaps_readers, (forks + 1) * HEAPS_FORK);
}
