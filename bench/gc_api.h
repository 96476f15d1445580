/* Testudo: one heap for the benchmarks, over two collectors or none.
   SPDX-License-Identifier: BSD-2-Clause

   With BENCH_BOEHM defined the heap is that of the Boehm collector, with
   BENCH_NONE memory from which nothing is ever given back, else an arena of
   the library behind mps.h. The same objects in all: a header word, and slots
   that each hold a reference, null or a fixnum, or, in a leaf, bytes. Functions
   here end the program when there is no memory. */
#ifndef bench_gc_api_h
#define bench_gc_api_h

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct obj_s obj_t;
struct obj_s {
  uintptr_t header; /* bytes of the object, times 8, and its kind */
  obj_t *slot[];
};

enum { KIND_SLOTS = 1, KIND_LEAF = 3, KIND_MOVED = 5, KIND_PAD = 7 };

#define OBJ_BYTES(slots)        (sizeof(uintptr_t) * (1 + (slots)))
#define OBJ_HEADER(bytes, kind) ((uintptr_t)(bytes) << 3 | (kind))
#define OBJ_SIZE(o)             ((size_t)((o)->header >> 3))
#define OBJ_KIND(o)             ((o)->header & 7)
#define OBJ_SLOTS(o)            (OBJ_SIZE(o) / sizeof(uintptr_t) - 1)
#define FIXNUM(n)               ((obj_t *)((uintptr_t)(n) << 1 | 1))
#define IS_FIXNUM(o)            ((uintptr_t)(o)&1)
#define FIXNUM_VALUE(o)         ((size_t)((uintptr_t)(o) >> 1))

/* Reading and writing a slot: neither collector wants more. */
#define SLOT(o, i)        ((o)->slot[i])
#define SLOT_SET(o, i, v) ((void)((o)->slot[i] = (v)))

/* Settings that heap_open takes; 0 leaves one as the collector has it. */
typedef struct heap_settings_s {
  size_t size;          /* bytes that will live, about */
  double pause;         /* seconds */
  size_t nursery, gen1; /* kilobytes of the two first generations */
  size_t limit;         /* bytes that it may take */
  int survivors;        /* count the bytes that survive */
  int fixed;            /* objects never move */
} heap_settings_t;

/* What the library says of itself. */
typedef struct heap_report_s {
  double collections, full, seconds, longest_pause; /* negative: not known */
  double calls;    /* system calls for memory and protection, or negative */
  double survived; /* bytes, with settings.survivors; or negative */
  double traced;   /* seconds in scanning and copying alone, or negative */
  size_t memory;   /* bytes held for the heap */
} heap_report_t;

extern const char heap_name[];

/* Make the heap and register the calling thread, whose stack holds
   references no colder than cold. */
void heap_open(const heap_settings_t *settings, void *cold);
void heap_report(heap_report_t *report_o);

/* Take in messages that wait; called now and then. */
void heap_idle(void);

/* Call f(p) in each of n new threads that use the heap; wait for them. */
void heap_threads(size_t n, void (*f)(void *p), void *p, size_t p_size);

/* A table of n references that keeps what it refers to, cleared. */
obj_t **heap_roots(size_t n);

/* Collect everything, now. */
void heap_collect(void);

/* Let a collection that is in progress end. */
void heap_settle(void);

/* A table of n slots that keep nothing alive, cleared; put, and get. */
obj_t *heap_weak_table(size_t n);
void heap_weak_put(obj_t *table, size_t i, obj_t *o);
obj_t *heap_weak_get(obj_t *table, size_t i);

/* Ask to be told of an object's death; and the number told of so far. */
void heap_finalize(obj_t *o);
size_t heap_finalized(void);

/* Blocks managed by hand; the kinds are of the library's pools. */
enum { BLOCKS_MVFF, BLOCKS_MVT, BLOCKS_MFS };
void heap_blocks_open(unsigned kind, size_t mean);
void *heap_block(size_t bytes);
void heap_block_free(void *block, size_t bytes);

/* In the new process after a fork. */
void heap_forked(void);

_Noreturn void heap_full(void);

#ifdef BENCH_BOEHM

#ifndef GC_THREADS
#define GC_THREADS
#endif
#include <gc.h>

static inline obj_t *heap_slots(size_t slots) {
  obj_t *o = GC_malloc(OBJ_BYTES(slots));
  if (__builtin_expect(o == NULL, 0))
    heap_full();
  o->header = OBJ_HEADER(OBJ_BYTES(slots), KIND_SLOTS);
  return o;
}

static inline obj_t *heap_pair(obj_t *a, obj_t *b) {
  obj_t *o = heap_slots(2);
  o->slot[0] = a;
  o->slot[1] = b;
  return o;
}

static inline obj_t *heap_leaf(size_t bytes) {
  bytes = (bytes + 15) & ~(size_t)7;
  obj_t *o = GC_malloc_atomic(bytes);
  if (__builtin_expect(o == NULL, 0))
    heap_full();
  o->header = OBJ_HEADER(bytes, KIND_LEAF);
  return o;
}

#else

#ifdef BENCH_NONE

/* What is left of the memory that was taken last. */
extern char *heap_next, *heap_limit;

/* Take more, for an object of so many bytes. */
void heap_more(size_t bytes);

static inline void *heap_take(size_t bytes) {
  if (__builtin_expect((size_t)(heap_limit - heap_next) < bytes, 0))
    heap_more(bytes);
  heap_next += bytes;
  return heap_next - bytes;
}

#define HEAP_ALLOC(ap, o, bytes, init) ((o) = heap_take(bytes), (void)(init))

#else

#include "mps.h"

/* Where the calling thread allocates. */
extern _Thread_local mps_ap_t heap_ap, heap_ap_leaf;

#define HEAP_ALLOC(ap, o, bytes, init)                                        \
  do {                                                                        \
    mps_addr_t heap_p;                                                        \
    mps_res_t heap_res;                                                       \
    do {                                                                      \
      MPS_RESERVE_BLOCK(heap_res, heap_p, ap, bytes);                         \
      if (__builtin_expect(heap_res != MPS_RES_OK, 0))                        \
        heap_full();                                                          \
      (o) = heap_p;                                                           \
      init;                                                                   \
    } while (!mps_commit(ap, heap_p, bytes));                                 \
  } while (0)

#endif /* BENCH_NONE */

static inline obj_t *heap_slots(size_t slots) {
  obj_t *o;
  size_t bytes = OBJ_BYTES(slots);
  HEAP_ALLOC(heap_ap, o, bytes,
             (o->header = OBJ_HEADER(bytes, KIND_SLOTS),
              memset(o->slot, 0, slots * sizeof(o->slot[0]))));
  return o;
}

static inline obj_t *heap_pair(obj_t *a, obj_t *b) {
  obj_t *o;
  HEAP_ALLOC(heap_ap, o, OBJ_BYTES(2),
             (o->header = OBJ_HEADER(OBJ_BYTES(2), KIND_SLOTS), o->slot[0] = a,
              o->slot[1] = b));
  return o;
}

static inline obj_t *heap_leaf(size_t bytes) {
  obj_t *o;
  bytes = (bytes + 15) & ~(size_t)7;
  HEAP_ALLOC(heap_ap_leaf, o, bytes, o->header = OBJ_HEADER(bytes, KIND_LEAF));
  return o;
}

#endif /* BENCH_BOEHM */

#endif /* bench_gc_api_h */
