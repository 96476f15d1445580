/* Testudo: a client that includes the library in the file of its format
   methods. Names that a client is likely to have are its own.
   SPDX-License-Identifier: BSD-2-Clause */
#include "mps.c"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include "mpsavm.h"
#include "mpscamc.h"

typedef struct pair {
  mps_word_t kind; /* 0 a pair, 1 forwarded, 2 padding of `size` bytes */
  union {
    mps_addr_t to;
    size_t size;
    struct pair *next;
  } u;
} pair;

static pair *table[1];

static mps_addr_t skip(mps_addr_t p) {
  pair *o = p;
  return (char *)p + (o->kind == 2 ? o->u.size : sizeof(pair));
}

static mps_res_t scan(mps_ss_t ss, mps_addr_t base, mps_addr_t limit) {
  MPS_SCAN_BEGIN(ss) {
    for (pair *p = base; p < (pair *)limit; p = skip(p))
      if (p->kind == 0) {
        mps_addr_t ref = p->u.next;
        mps_res_t res = MPS_FIX12(ss, &ref);
        if (res != MPS_RES_OK)
          return res;
        p->u.next = ref;
      }
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

static void fwd(mps_addr_t p, mps_addr_t to) {
  pair *o = p;
  o->kind = 1;
  o->u.to = to;
}

static mps_addr_t isfwd(mps_addr_t p) {
  pair *o = p;
  return o->kind == 1 ? o->u.to : NULL;
}

static void pad(mps_addr_t p, size_t size) {
  pair *o = p;
  o->kind = 2;
  o->u.size = size;
}

#if defined(TEST_SIGNALS)

/* The build names the signals that stop threads: they do, and the usual ones
   are left alone. */
static mps_arena_t signal_arena;
static atomic_int state;

static void *spin(void *p) {
  mps_thr_t thr;
  if (mps_thread_reg(&thr, signal_arena))
    return NULL;
  atomic_store(&state, 1);
  while (atomic_load(&state) == 1)
    ;
  mps_thread_dereg(thr);
  return p;
}

static int taken(int signal) {
  struct sigaction action;
  return sigaction(signal, NULL, &action) == 0 &&
         action.sa_handler != SIG_DFL;
}

static int signals(mps_arena_t arena) {
  pthread_t other;
  void *result = NULL;
  signal_arena = arena;
  if (pthread_create(&other, NULL, spin, &state) != 0)
    return 0;
  while (atomic_load(&state) == 0)
    ;
  (void)mps_arena_collect(arena);
  mps_arena_release(arena);
  atomic_store(&state, 2);
  (void)pthread_join(other, &result);
  return result != NULL && taken(SIGUSR1) && taken(SIGUSR2) &&
         !taken(SIGXCPU) && !taken(SIGXFSZ);
}

#else

static int signals(mps_arena_t arena) {
  return arena != NULL;
}

#endif

/* Garbage enough for collections, which come of themselves or not at all. */
static int polls(mps_arena_t arena, mps_ap_t ap) {
  for (int i = 0; i < 4000000; ++i) {
    mps_addr_t p;
    do {
      if (mps_reserve(&p, ap, sizeof(pair)))
        return 0;
      ((pair *)p)->kind = 0;
      ((pair *)p)->u.next = NULL;
    } while (!mps_commit(ap, p, sizeof(pair)));
  }
#if defined(CONFIG_POLL_NONE)
  return mps_collections(arena) == 0;
#else
  return mps_collections(arena) > 0;
#endif
}

int main(void) {
  mps_arena_t arena;
  mps_fmt_t fmt;
  mps_pool_t pool;
  mps_ap_t ap;
  mps_root_t root;
  mps_fmt_A_s methods = {16, scan, skip, NULL, fwd, isfwd, pad};
  size_t n = 0;
  if (mps_arena_create_k(&arena, mps_arena_class_vm(), mps_args_none) ||
      mps_fmt_create_A(&fmt, arena, &methods) ||
      mps_root_create_table(&root, arena, mps_rank_exact(), 0,
                            (mps_addr_t *)(void *)table, 1))
    return 1;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
    if (mps_pool_create_k(&pool, arena, mps_class_amc(), args))
      return 2;
  }
  MPS_ARGS_END(args);
  if (mps_ap_create_k(&ap, pool, mps_args_none))
    return 3;
  for (int i = 0; i < 100000; ++i) {
    mps_addr_t p;
    do {
      if (mps_reserve(&p, ap, sizeof(pair)))
        return 4;
      ((pair *)p)->kind = 0;
      ((pair *)p)->u.next = i % 100 == 0 ? NULL : table[0];
    } while (!mps_commit(ap, p, sizeof(pair)));
    table[0] = p;
  }
  if (!polls(arena, ap))
    return 7;
  if (!signals(arena))
    return 8;
  if (mps_arena_collect(arena))
    return 5;
  for (pair *p = table[0]; p != NULL; p = p->u.next)
    ++n;
  mps_root_destroy(root);
  mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  mps_fmt_destroy(fmt);
  mps_arena_destroy(arena);
  puts(n == 100 ? "fine" : "lost");
  return n == 100 ? 0 : 6;
}
