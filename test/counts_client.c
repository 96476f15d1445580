/* Testudo: a client for test_counts.py. It makes the library map, unmap and
   protect memory, marks begin and end by getppid, and prints what the library
   counted between the two. SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "mps.h"
#include "mpsavm.h"
#include "mpscamc.h"
#include "testudo.h"

/* An object is its size in words, shifted, with its kind; then references.
   One that moved has its new address in the first slot. */
typedef struct object {
  mps_word_t head;
  struct object *slot[];
} object_t;

enum { KIND_OBJECT = 0, KIND_MOVED = 1, KIND_PAD = 2, KIND_MASK = 3 };
enum { OLD_OBJECTS = 512, OLD_SLOTS = 1023, STORES = 100000 };

static object_t *old_objects[OLD_OBJECTS];

static size_t object_bytes(const object_t *object) {
  return (size_t)(object->head >> 2) * sizeof(mps_word_t);
}

static mps_res_t object_scan(mps_ss_t ss, mps_addr_t base, mps_addr_t limit) {
  MPS_SCAN_BEGIN(ss) {
    object_t *object = base;
    while ((mps_addr_t)object < limit) {
      char *end = (char *)object + object_bytes(object);
      if ((object->head & KIND_MASK) == KIND_OBJECT) {
        for (object_t **slot = object->slot; (char *)slot < end; ++slot) {
          mps_addr_t ref = *slot;
          mps_res_t res = MPS_FIX12(ss, &ref);
          if (res != MPS_RES_OK)
            return res;
          *slot = ref;
        }
      }
      object = (object_t *)(void *)end;
    }
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

static mps_addr_t object_skip(mps_addr_t base) {
  return (char *)base + object_bytes(base);
}

/* The size must survive, so the new address goes to the first slot. */
static void object_fwd(mps_addr_t old, mps_addr_t new) {
  object_t *object = old;
  object->head = (object->head & ~(mps_word_t)KIND_MASK) | KIND_MOVED;
  object->slot[0] = new;
}

static mps_addr_t object_isfwd(mps_addr_t base) {
  object_t *object = base;
  return (object->head & KIND_MASK) == KIND_MOVED ? object->slot[0] : NULL;
}

static void object_pad(mps_addr_t base, size_t size) {
  ((object_t *)base)->head = size / sizeof(mps_word_t) << 2 | KIND_PAD;
}

static void require(mps_res_t res, const char *what) {
  if (res != MPS_RES_OK) {
    fprintf(stderr, "counts_client: %s: result %d\n", what, (int)res);
    exit(EXIT_FAILURE);
  }
}

static object_t *object_make(mps_ap_t ap, size_t slots) {
  size_t words = 1 + slots;
  mps_addr_t p;
  do {
    object_t *object;
    require(mps_reserve(&p, ap, words * sizeof(mps_word_t)), "reserve");
    object = p;
    object->head = words << 2 | KIND_OBJECT;
    for (size_t i = 0; i < slots; ++i)
      object->slot[i] = NULL;
  } while (!mps_commit(ap, p, words * sizeof(mps_word_t)));
  return p;
}

static unsigned long draw(unsigned long limit) {
  static unsigned long state = 1;
  state = state * 6364136223846793005ul + 1442695040888963407ul;
  return (state >> 33) % limit;
}

/* Old vectors, and young objects stored at random into them; everything is
   dropped at the end. */
static void mutate(mps_arena_t arena, mps_ap_t ap) {
  for (size_t i = 0; i < OLD_OBJECTS; ++i)
    old_objects[i] = object_make(ap, OLD_SLOTS);
  require(mps_arena_collect(arena), "collect");
  mps_arena_release(arena);
  for (size_t i = 0; i < STORES; ++i) {
    object_t *young = object_make(ap, 1 + draw(30));
    if (i % 8 == 0)
      old_objects[draw(OLD_OBJECTS)]->slot[draw(OLD_SLOTS)] = young;
  }
  require(mps_arena_start_collect(arena), "start");
  for (size_t i = 0; i < STORES; ++i)
    (void)object_make(ap, 4);
  for (size_t i = 0; i < OLD_OBJECTS; ++i)
    old_objects[i] = NULL;
  require(mps_arena_collect(arena), "collect");
  mps_arena_release(arena);
}

/* A second arena comes and goes. */
static void come_and_go(void) {
  mps_arena_t arena;
  require(mps_arena_create_k(&arena, mps_arena_class_vm(), mps_args_none),
          "second arena");
  mps_arena_destroy(arena);
}

static mps_arena_t make_arena(void) {
  mps_arena_t arena;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, (size_t)64 << 20);
    MPS_ARGS_ADD(args, MPS_KEY_SPARE, 0.0);
    require(mps_arena_create_k(&arena, mps_arena_class_vm(), args), "arena");
  }
  MPS_ARGS_END(args);
  return arena;
}

static mps_fmt_t make_format(mps_arena_t arena) {
  mps_fmt_t format;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ALIGN, sizeof(mps_word_t));
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SCAN, object_scan);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, object_skip);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_FWD, object_fwd);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ISFWD, object_isfwd);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_PAD, object_pad);
    require(mps_fmt_create_k(&format, arena, args), "format");
  }
  MPS_ARGS_END(args);
  return format;
}

static mps_pool_t make_pool(mps_arena_t arena, mps_fmt_t format,
                            mps_chain_t chain) {
  mps_pool_t pool;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, format);
    MPS_ARGS_ADD(args, MPS_KEY_CHAIN, chain);
    require(mps_pool_create_k(&pool, arena, mps_class_amc(), args), "pool");
  }
  MPS_ARGS_END(args);
  return pool;
}

static void print_difference(const tdo_statistics_s *then,
                             const tdo_statistics_s *now) {
  printf("mmap %zu\n", now->map_calls - then->map_calls);
  printf("munmap %zu\n", now->unmap_calls - then->unmap_calls);
  printf("mprotect %zu\n",
         now->protect_calls_process - then->protect_calls_process);
  printf("madvise %zu\n", now->advise_calls - then->advise_calls);
  printf("mremap %zu\n", now->move_calls - then->move_calls);
}

int main(void) {
  mps_gen_param_s generations[] = {{512, 0.85}, {1024, 0.45}};
  tdo_statistics_s then, now;
  mps_arena_t arena = make_arena();
  mps_fmt_t format = make_format(arena);
  mps_chain_t chain;
  mps_pool_t pool;
  mps_thr_t thread;
  mps_root_t roots[2];
  mps_ap_t ap;
  void *cold = &cold;

  require(mps_chain_create(&chain, arena, 2, generations), "chain");
  pool = make_pool(arena, format, chain);
  require(mps_thread_reg(&thread, arena), "thread");
  require(mps_root_create_thread(&roots[0], arena, thread, cold), "stack");
  require(mps_root_create_area(&roots[1], arena, mps_rank_exact(), 0,
                               old_objects, old_objects + OLD_OBJECTS,
                               mps_scan_area, NULL),
          "root");
  require(mps_ap_create_k(&ap, pool, mps_args_none), "allocation point");

  tdo_statistics(arena, &then);
  (void)getppid();
  mutate(arena, ap);
  come_and_go();
  (void)getppid();
  tdo_statistics(arena, &now);
  print_difference(&then, &now);

  mps_arena_park(arena);
  mps_ap_destroy(ap);
  mps_root_destroy(roots[0]);
  mps_root_destroy(roots[1]);
  mps_thread_dereg(thread);
  mps_pool_destroy(pool);
  mps_chain_destroy(chain);
  mps_fmt_destroy(format);
  mps_arena_destroy(arena);
  return EXIT_SUCCESS;
}
