/* Testudo: a format for tests of automatic pools, and a heap of one pool with
   a table of exact roots. SPDX-License-Identifier: BSD-2-Clause

   The first word of a block is its size in bytes and its kind; a forwarding
   object has its new address in the second. References begin after the
   header, or after the first word without one; words with low bits set are
   numbers. Blocks have at least two words; pads may have one. */
#ifndef TDO_TEST_OBJECTS_H
#define TDO_TEST_OBJECTS_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "mpscamc.h"
#include "mpscmvff.h"
#include "test/pools.h"
#include "testudo.h"

enum { OBJ_NODE, OBJ_FORWARD, OBJ_PAD, OBJ_LEAF };
enum { ROOTS = 1024, WORD = sizeof(mps_word_t) };

static size_t obj_header; /* of the format, in bytes */
static atomic_size_t obj_scans; /* of all threads */
static size_t obj_pads;
static mps_fmt_t fmt;
static mps_chain_t chain;
static mps_pool_t pool;
static mps_ap_t ap;
static mps_thr_t thr;
static mps_root_t table_root;
static mps_addr_t table[ROOTS];

/* OBJ is a client pointer. */
static inline mps_word_t *obj_base(mps_addr_t obj) {
  return (mps_word_t *)(void *)((char *)obj - obj_header);
}

static inline unsigned obj_kind(mps_addr_t obj) {
  return (unsigned)(obj_base(obj)[0] & 7);
}

static inline size_t obj_size(mps_addr_t obj) {
  return obj_base(obj)[0] >> 3;
}

static inline size_t obj_lead(void) {
  return obj_header > WORD ? obj_header : WORD;
}

/* Reference I of OBJ. */
static inline mps_addr_t *obj_ref(mps_addr_t obj, size_t i) {
  return (mps_addr_t *)(void *)((char *)obj_base(obj) + obj_lead()) + i;
}

static inline size_t obj_refs(mps_addr_t obj) {
  return (obj_size(obj) - obj_lead()) / WORD;
}

static inline mps_addr_t obj_skip(mps_addr_t obj) {
  REQUIRE(obj_size(obj) >= WORD);
  return (char *)obj + obj_size(obj);
}

static inline mps_res_t obj_scan(mps_ss_t ss, mps_addr_t base,
                                 mps_addr_t limit) {
  ++obj_scans;
  MPS_SCAN_BEGIN(ss) {
    for (char *p = base; p < (char *)limit; p = obj_skip(p)) {
      if (obj_kind(p) != OBJ_NODE)
        continue;
      for (size_t i = 0, n = obj_refs(p); i < n; ++i) {
        mps_addr_t *slot = obj_ref(p, i), ref = *slot;
        if (((mps_word_t)ref & 3) == 0 && MPS_FIX1(ss, ref)) {
          mps_res_t res = MPS_FIX2(ss, &ref);
          if (res != MPS_RES_OK)
            return res;
          if (ref != *slot)
            *slot = ref;
        }
      }
    }
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

static inline void obj_fwd(mps_addr_t old, mps_addr_t new) {
  mps_word_t *base = obj_base(old);
  base[0] = (base[0] & ~(mps_word_t)7) | OBJ_FORWARD;
  base[1] = (mps_word_t) new;
}

static inline mps_addr_t obj_isfwd(mps_addr_t obj) {
  return obj_kind(obj) == OBJ_FORWARD ? (mps_addr_t)obj_base(obj)[1] : NULL;
}

static inline void obj_pad(mps_addr_t base, size_t size) {
  ++obj_pads;
  REQUIRE(size >= WORD);
  *(mps_word_t *)base = size << 3 | OBJ_PAD;
}

/* The format, with a scan method of the test's own. */
static inline mps_fmt_t obj_format_with(mps_fmt_scan_t scan) {
  mps_fmt_t f;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_HEADER_SIZE, obj_header);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SCAN, scan);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, obj_skip);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_FWD, obj_fwd);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ISFWD, obj_isfwd);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_PAD, obj_pad);
    REQUIRE(mps_fmt_create_k(&f, arena, args) == MPS_RES_OK);
    REQUIRE(args[0].key == MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  return f;
}

/* A format of the finest alignment, whose blocks are not scanned. */
static inline mps_fmt_t bytes_format(mps_fmt_skip_t skip, mps_fmt_fwd_t fwd,
                                     mps_fmt_isfwd_t isfwd,
                                     mps_fmt_pad_t pad) {
  mps_fmt_t f;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ALIGN, 1);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, skip);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_FWD, fwd);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ISFWD, isfwd);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_PAD, pad);
    REQUIRE(mps_fmt_create_k(&f, arena, args) == MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  return f;
}

static inline mps_fmt_t obj_format(void) {
  return obj_format_with(obj_scan);
}

/* Bytes of a block with REFS references. */
static inline size_t obj_bytes(size_t refs) {
  size_t size = obj_lead() + refs * WORD;
  return size < 2 * WORD ? 2 * WORD : size;
}

/* A new block of KIND on AP with REFS null references; its client pointer.
   MPS_RES_OK or why not. */
static inline mps_res_t obj_try(mps_addr_t *obj_o, mps_ap_t on, unsigned kind,
                                size_t refs) {
  size_t size = obj_bytes(refs);
  mps_addr_t p;
  do {
    mps_res_t res = mps_reserve(&p, on, size);
    if (res != MPS_RES_OK)
      return res;
    memset(p, 0, size);
    *(mps_word_t *)p = size << 3 | kind;
  } while (!mps_commit(on, p, size));
  *obj_o = (char *)p + obj_header;
  return MPS_RES_OK;
}

static inline mps_addr_t obj_on(mps_ap_t on, unsigned kind, size_t refs) {
  mps_addr_t obj;
  REQUIRE(obj_try(&obj, on, kind, refs) == MPS_RES_OK);
  return obj;
}

/* A node on `ap`. */
static inline mps_addr_t node(size_t refs) {
  return obj_on(ap, OBJ_NODE, refs);
}

/* A node whose first field is the number N (its second is free). */
static inline mps_addr_t numbered(size_t n) {
  mps_addr_t obj = node(2);
  *obj_ref(obj, 0) = (mps_addr_t)(n << 2 | 1);
  return obj;
}

/* A list at the root AT, longer by N. */
static inline void push_nodes(size_t at, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    mps_addr_t obj = node(2);
    *obj_ref(obj, 0) = table[at];
    table[at] = obj;
  }
}

static inline size_t number_of(mps_addr_t obj) {
  return (size_t)*obj_ref(obj, 0) >> 2;
}

/* A pool of CLS with the format and the chain. */
static inline mps_pool_t obj_pool(mps_pool_class_t cls) {
  mps_pool_t p;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
    MPS_ARGS_ADD(args, MPS_KEY_CHAIN, chain);
    REQUIRE(mps_pool_create_k(&p, arena, cls, args) == MPS_RES_OK);
    REQUIRE(args[0].key == MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  return p;
}

/* The same on the arena's own chain. */
static inline mps_pool_t own_chain_pool(mps_pool_class_t cls) {
  mps_pool_t p;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
    REQUIRE(mps_pool_create_k(&p, arena, cls, args) == MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  return p;
}

static inline tdo_statistics_s statistics(void) {
  tdo_statistics_s s;
  tdo_statistics(arena, &s);
  return s;
}

/* Format (with SCAN), chain, thread, table of roots, pool of CLS and a point
   on it, in the arena, which exists. */
static inline void heap_in_arena_with(mps_pool_class_t cls,
                                      mps_fmt_scan_t scan) {
  mps_gen_param_s gens[] = {{64, 0.85}, {256, 0.45}};
  fmt = obj_format_with(scan);
  REQUIRE(mps_chain_create(&chain, arena, 2, gens) == MPS_RES_OK);
  REQUIRE(mps_thread_reg(&thr, arena) == MPS_RES_OK);
  REQUIRE(mps_root_create_table(&table_root, arena, mps_rank_exact(), 0, table,
                                ROOTS) == MPS_RES_OK);
  pool = obj_pool(cls);
  ap = point(pool);
}

static inline void heap_in_arena(mps_pool_class_t cls) {
  heap_in_arena_with(cls, obj_scan);
}

static inline void heap_start_with(mps_pool_class_t cls, mps_fmt_scan_t scan) {
  start();
  heap_in_arena_with(cls, scan);
}

static inline void heap_start(mps_pool_class_t cls) {
  heap_start_with(cls, obj_scan);
}

/* What was in pools that are gone by now. */
static inline void table_forget(void) {
  mps_pool_t p;

  for (size_t i = 0; i < ROOTS; ++i)
    if (!mps_addr_pool(&p, arena, table[i]))
      table[i] = NULL;
}

/* Unmake all that, as far as it is there, and the arena. */
static inline void heap_stop(void) {
  table_forget();
  tdo_arena_check(arena);
  mps_arena_park(arena);
  mps_root_destroy(table_root);
  mps_thread_dereg(thr);
  if (ap != NULL)
    mps_ap_destroy(ap);
  mps_pool_destroy(pool);
  mps_chain_destroy(chain);
  mps_fmt_destroy(fmt);
  memset(table, 0, sizeof table);
  stop();
}

/* A full collection, the arena released again. */
static inline void collect(void) {
  REQUIRE(mps_arena_collect(arena) == MPS_RES_OK);
  mps_arena_release(arena);
}

#endif /* TDO_TEST_OBJECTS_H */
