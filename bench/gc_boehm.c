/* Testudo: the heap of the benchmarks, over the Boehm collector.
   SPDX-License-Identifier: BSD-2-Clause */
#include "gc_api.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "measure.h"

const char heap_name[] = "boehm";

static atomic_size_t finalized;
static uint64_t pause_begun, pause_longest, pause_sum;

/* The world is stopped, and goes on. */
static void on_event(GC_EventType event) {
  if (event == GC_EVENT_PRE_STOP_WORLD) {
    pause_begun = clock_ns();
  } else if (event == GC_EVENT_POST_START_WORLD) {
    uint64_t length = clock_ns() - pause_begun;
    pause_sum += length;
    if (length > pause_longest)
      pause_longest = length;
  }
}

void heap_open(const heap_settings_t *settings, void *cold) {
  (void)cold;
  GC_set_handle_fork(1);
  GC_INIT();
  if (settings->limit != 0)
    GC_set_max_heap_size(settings->limit);
  GC_allow_register_threads();
  GC_set_on_collection_event(on_event);
}

void heap_report(heap_report_t *report_o) {
  *report_o = (heap_report_t){(double)GC_get_gc_no(),
                              (double)GC_get_gc_no(),
                              (double)pause_sum * 1e-9,
                              (double)pause_longest * 1e-9,
                              -1,
                              -1,
                              -1,
                              GC_get_heap_size()};
}

void heap_idle(void) {
}

typedef struct start_s {
  void (*f)(void *p);
  void *p;
  pthread_t thread;
} start_t;

static void *thread_main(void *p) {
  start_t *start = p;
  start->f(start->p);
  return NULL;
}

void heap_threads(size_t n, void (*f)(void *p), void *p, size_t p_size) {
  start_t *starts = calloc(n, sizeof *starts);
  if (starts == NULL)
    heap_full();
  for (size_t i = 0; i < n; ++i) {
    starts[i].f = f;
    starts[i].p = (char *)p + i * p_size;
    if (pthread_create(&starts[i].thread, NULL, thread_main, &starts[i]) != 0)
      heap_full();
  }
  for (size_t i = 0; i < n; ++i)
    pthread_join(starts[i].thread, NULL);
  free(starts);
}

obj_t **heap_roots(size_t n) {
  obj_t **table = GC_malloc_uncollectable(n * sizeof *table);
  if (table == NULL)
    heap_full();
  memset(table, 0, n * sizeof *table);
  return table;
}

void heap_collect(void) {
  GC_gcollect();
}

void heap_settle(void) {
}

obj_t *heap_weak_table(size_t n) {
  obj_t *o = GC_malloc_atomic(OBJ_BYTES(n));
  if (o == NULL)
    heap_full();
  memset(o, 0, OBJ_BYTES(n));
  o->header = OBJ_HEADER(OBJ_BYTES(n), KIND_LEAF);
  return o;
}

void heap_weak_put(obj_t *table, size_t i, obj_t *o) {
  void **link = (void **)&table->slot[i];
  if (*link != NULL)
    GC_unregister_disappearing_link(link);
  *link = o;
  if (o != NULL &&
      GC_general_register_disappearing_link(link, o) == GC_NO_MEMORY)
    heap_full();
}

obj_t *heap_weak_get(obj_t *table, size_t i) {
  return SLOT(table, i);
}

static void GC_CALLBACK on_death(void *o, void *data) {
  (void)o;
  (void)data;
  atomic_fetch_add(&finalized, 1);
}

void heap_finalize(obj_t *o) {
  GC_register_finalizer_no_order(o, on_death, NULL, NULL, NULL);
}

size_t heap_finalized(void) {
  GC_invoke_finalizers();
  return atomic_load(&finalized);
}

void heap_blocks_open(unsigned kind, size_t mean) {
  (void)kind;
  (void)mean;
}

/* Blocks managed by hand are the C library's here. */
void *heap_block(size_t bytes) {
  void *p = malloc(bytes);
  if (p == NULL)
    heap_full();
  return p;
}

void heap_block_free(void *block, size_t bytes) {
  (void)bytes;
  free(block);
}

void heap_forked(void) {
}
