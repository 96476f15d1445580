/* Testudo: what the shield's benchmarks share: an arena whose old generation
   is a large array of vectors. SPDX-License-Identifier: BSD-2-Clause

   An object is a header word (its size in bytes, or a marker) and slots. */
#ifndef TDO_BENCH_SHIELD_HEAP_H
#define TDO_BENCH_SHIELD_HEAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "mps.h"
#include "mpsavm.h"
#include "mpscamc.h"
#include "testudo.h"

#define VECTOR_SLOTS ((size_t)1023) /* two pages a vector */
#define MARK_MOVED   ((uintptr_t)1)
#define MARK_PAD     ((uintptr_t)2)

typedef struct vector {
  uintptr_t header; /* size | mark */
  struct vector *slot[];
} vector_t;

static mps_arena_t arena;
static mps_ap_t point;
static vector_t **vectors; /* a root, outside of the arena */
static size_t vectors_count;

static size_t vector_size(const vector_t *v) {
  return v->header & ~(MARK_MOVED | MARK_PAD);
}

static mps_res_t heap_scan(mps_ss_t ss, mps_addr_t base, mps_addr_t limit) {
  MPS_SCAN_BEGIN(ss) {
    for (char *p = base; p < (char *)limit;) {
      vector_t *v = (vector_t *)(void *)p;
      size_t size = vector_size(v);
      if ((v->header & (MARK_MOVED | MARK_PAD)) == 0) {
        for (size_t i = 0; i < size / sizeof(void *) - 1; ++i) {
          mps_res_t res = MPS_FIX12(ss, (mps_addr_t *)&v->slot[i]);
          if (res != MPS_RES_OK)
            return res;
        }
      }
      p += size;
    }
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

static mps_addr_t heap_skip(mps_addr_t p) {
  return (char *)p + vector_size(p);
}

static void heap_forward(mps_addr_t from, mps_addr_t to) {
  vector_t *v = from;
  v->header |= MARK_MOVED;
  v->slot[0] = to;
}

static mps_addr_t heap_is_forwarded(mps_addr_t p) {
  vector_t *v = p;
  return v->header & MARK_MOVED ? v->slot[0] : NULL;
}

static void heap_pad(mps_addr_t p, size_t size) {
  ((vector_t *)p)->header = size | MARK_PAD;
}

/* A vector of COUNT slots (at least one), all null. */
static vector_t *vector_make(size_t count) {
  size_t size = (count + 1) * sizeof(void *);
  mps_addr_t p;
  do {
    if (mps_reserve(&p, point, size) != MPS_RES_OK) {
      (void)fprintf(stderr, "out of memory\n");
      exit(1);
    }
    memset(p, 0, size);
    ((vector_t *)p)->header = size;
  } while (!mps_commit(point, p, size));
  return p;
}

static void heap_require(mps_res_t res) {
  if (res != MPS_RES_OK) {
    (void)fprintf(stderr, "the library refused: %d\n", (int)res);
    exit(1);
  }
}

/* BYTES of vectors, all old; the process's own stack is no root. */
static void heap_start(size_t bytes) {
  static mps_gen_param_s gens[] = {{8192, 0.85}, {32768, 0.45}};
  mps_fmt_t format;
  mps_chain_t chain;
  mps_pool_t pool;
  mps_root_t root;
  vectors_count = bytes / ((VECTOR_SLOTS + 1) * sizeof(void *));
  vectors = calloc(vectors_count, sizeof *vectors);
  heap_require(vectors == NULL ? MPS_RES_MEMORY : MPS_RES_OK);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, 3 * bytes);
    heap_require(mps_arena_create_k(&arena, mps_arena_class_vm(), args));
  }
  MPS_ARGS_END(args);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SCAN, heap_scan);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, heap_skip);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_FWD, heap_forward);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ISFWD, heap_is_forwarded);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_PAD, heap_pad);
    heap_require(mps_fmt_create_k(&format, arena, args));
  }
  MPS_ARGS_END(args);
  heap_require(mps_chain_create(&chain, arena, 2, gens));
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, format);
    MPS_ARGS_ADD(args, MPS_KEY_CHAIN, chain);
    heap_require(mps_pool_create_k(&pool, arena, mps_class_amc(), args));
  }
  MPS_ARGS_END(args);
  heap_require(mps_root_create_table(&root, arena, mps_rank_exact(), 0,
                                     (mps_addr_t *)vectors, vectors_count));
  heap_require(mps_ap_create_k(&point, pool, mps_args_none));
  mps_arena_park(arena); /* takes as long in every mode */
  for (size_t i = 0; i < vectors_count; ++i)
    vectors[i] = vector_make(VECTOR_SLOTS);
  for (int i = 0; i < 2; ++i) { /* a generation each time */
    heap_require(mps_arena_collect(arena));
  }
  mps_arena_release(arena);
}

static inline double heap_seconds(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Processor time of the calling thread so far. */
static inline double heap_processor(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static atomic_bool heap_busy;

static void *heap_work(void *memory) {
  volatile unsigned char *bytes = memory;
  for (size_t i = 0; atomic_load(&heap_busy); i += 64)
    ++bytes[i % ((size_t)1 << 20)];
  return NULL;
}

/* With N > 0 as many threads work from now on, in memory of their own: the
   library does not know them, but the kernel must tell their processors of
   every change of protection. With 0 they end. */
static inline void heap_others(size_t n) {
  static pthread_t threads[16];
  static size_t count;
  atomic_store(&heap_busy, n > 0);
  while (count > 0)
    (void)pthread_join(threads[--count], NULL);
  for (; count < n && count < 16; ++count) {
    void *memory = calloc(1, (size_t)1 << 20);
    if (memory == NULL ||
        pthread_create(&threads[count], NULL, heap_work, memory) != 0) {
      (void)fprintf(stderr, "no thread\n");
      exit(1);
    }
  }
}

static inline uint64_t heap_random(void) {
  static uint64_t x = 88172645463325252u;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return x;
}

/* The library's system calls so far. */
static inline size_t heap_calls(void) {
  tdo_statistics_s s;
  tdo_statistics(arena, &s);
  return s.map_calls + s.unmap_calls + s.protect_calls_process +
         s.advise_calls + s.track_calls;
}

static inline size_t heap_mappings(void) {
  tdo_statistics_s s;
  tdo_statistics(arena, &s);
  return s.mappings;
}

static inline size_t heap_number(int argc, char **argv, int at,
                                 size_t otherwise) {
  return argc > at ? strtoul(argv[at], NULL, 10) : otherwise;
}

static inline size_t heap_megabytes(int argc, char **argv, size_t otherwise) {
  return heap_number(argc, argv, 1, otherwise) << 20;
}

#endif /* TDO_BENCH_SHIELD_HEAP_H */
