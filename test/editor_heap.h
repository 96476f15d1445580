/* Testudo: the heap of test_editor.c: tagged words, objects with a header of
   one word before them, a format, pools of every automatic class.
   SPDX-License-Identifier: BSD-2-Clause

   A header is the size in bytes, the kind, and 5 in the lowest bits. The
   first word of an object is its serial number; then come its slots. A word
   with 1, 2 or 3 in its lowest bits is a reference; with 0 it is a number. */
#ifndef TDO_TEST_EDITOR_HEAP_H
#define TDO_TEST_EDITOR_HEAP_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "mpsavm.h"
#include "mpscamc.h"
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "mpscsnc.h"
#include "test/asserted.h"
#include "test/fix.h"
#include "test/random.h"
#include "test/require.h"
#include "testudo.h"

typedef uintptr_t word_t;

typedef enum {
  NODE = 1,
  LEAF,
  KEYS,       /* slot 0: the values, untagged; the others weak */
  VALUES,     /* slot 0: the keys, untagged */
  EPHEMERONS, /* keys and values in turn */
  WORDS,      /* anything */
  FRAME,      /* on the stack pool, without header */
  FORWARDED,
  PADDING
} kind_t;

enum { HEADER = sizeof(word_t), TAG_NODE = 1, TAG_LEAF = 2, TAG_OTHER = 3 };

static mps_arena_t arena;
static mps_fmt_t object_format, frame_format;
static mps_chain_t chain;
static mps_pool_t amc, amcz, ams, lo, awl, aeph, snc;
static atomic_ulong serials = 1;

static inline size_t size_of(void *p) {
  return ((word_t *)p)[-1] >> 8;
}

static inline kind_t kind_of(void *p) {
  word_t header = ((word_t *)p)[-1];
  REQUIRE((header & 7) == 5);
  return (kind_t)(header >> 3 & 31);
}

static inline word_t header_of(size_t size, kind_t kind) {
  return (word_t)size << 8 | (word_t)kind << 3 | 5;
}

static inline word_t serial_of(void *p) {
  return *(word_t *)p;
}

static inline word_t *slots_of(void *p) {
  return (word_t *)p + 1;
}

static inline size_t slot_count(void *p) {
  return size_of(p) / sizeof(word_t) - 2;
}

static inline word_t untagged(word_t w) {
  return w & ~(word_t)7;
}

static inline void *untag(word_t w) {
  return (void *)untagged(w);
}

static inline bool is_reference(word_t w) {
  return (w & 7) >= TAG_NODE && (w & 7) <= TAG_OTHER;
}

static inline word_t tagged(void *p) {
  kind_t kind = kind_of(p);
  return (word_t)p | (kind == NODE   ? TAG_NODE
                      : kind == LEAF ? TAG_LEAF
                                     : TAG_OTHER);
}

static inline word_t number(word_t n) {
  return n << 3;
}

/* ---- scanning ---- */

static inline mps_res_t scan_range(mps_ss_t ss, word_t *base, word_t *limit) {
  MPS_SCAN_BEGIN(ss) {
    for (word_t *p = base; p < limit; ++p) {
      word_t w = *p;
      if (is_reference(w) && MPS_FIX1(ss, w)) {
        mps_addr_t ref = untag(w);
        mps_res_t res = MPS_FIX2(ss, &ref);
        if (res != MPS_RES_OK)
          return res;
        if (ref != untag(w))
          *p = ref == NULL ? 0 : (word_t)ref | (w & 7);
      }
    }
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

/* A key that died takes its value with it, in the other object. */
static inline mps_res_t scan_keys(mps_ss_t ss, void *p) {
  word_t *keys = slots_of(p);
  mps_res_t res = fix_word(ss, &keys[0]);
  void *values = (void *)keys[0];
  for (size_t i = 1; res == MPS_RES_OK && i < slot_count(p); ++i) {
    if (!is_reference(keys[i]))
      continue;
    res = scan_range(ss, &keys[i], &keys[i + 1]);
    if (keys[i] == 0) {
      keys[i] = number(2);
      if (values != NULL)
        slots_of(values)[i] = 0;
    }
  }
  return res;
}

static inline mps_res_t scan_ephemerons(mps_ss_t ss, void *p) {
  word_t *s = slots_of(p);
  mps_res_t res = MPS_RES_OK;
  for (size_t i = 0; res == MPS_RES_OK && i + 1 < slot_count(p); i += 2) {
    mps_addr_t key = untag(s[i]), value = untag(s[i + 1]);
    word_t key_tag = s[i] & 7, value_tag = s[i + 1] & 7;
    if (!is_reference(s[i]))
      continue;
    res = mps_fix_weak_pair(ss, p, &key, &value);
    s[i] = key == NULL ? 0 : (word_t)key | key_tag;
    s[i + 1] = value == NULL ? 0 : (word_t)value | value_tag;
  }
  return res;
}

static inline mps_res_t scan_words_as_they_are(mps_ss_t ss, void *p) {
  MPS_SCAN_BEGIN(ss) {
    for (size_t i = 0; i < slot_count(p); ++i) {
      mps_addr_t ref = (mps_addr_t)slots_of(p)[i];
      mps_res_t res = MPS_FIX12(ss, &ref);
      if (res != MPS_RES_OK)
        return res;
    }
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

static inline mps_res_t scan_object(mps_ss_t ss, void *p) {
  word_t *slots = slots_of(p);
  mps_res_t res;
  switch (kind_of(p)) {
  case NODE:
    return scan_range(ss, slots, slots + slot_count(p));
  case VALUES:
    res = fix_word(ss, &slots[0]);
    return res != MPS_RES_OK
               ? res
               : scan_range(ss, slots + 1, slots + slot_count(p));
  case KEYS:
    return scan_keys(ss, p);
  case EPHEMERONS:
    return scan_ephemerons(ss, p);
  case WORDS:
    return scan_words_as_they_are(ss, p);
  default:
    return MPS_RES_OK;
  }
}

static inline mps_addr_t object_skip(mps_addr_t p) {
  REQUIRE(size_of(p) >= sizeof(word_t));
  return (char *)p + size_of(p);
}

static inline mps_res_t object_scan(mps_ss_t ss, mps_addr_t base,
                                    mps_addr_t limit) {
  MPS_SCAN_BEGIN(ss) {
    for (void *p = base; p < limit; p = object_skip(p)) {
      mps_res_t res;
      MPS_FIX_CALL(ss, res = scan_object(ss, p));
      if (res != MPS_RES_OK)
        return res;
    }
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

static inline void object_forward(mps_addr_t old, mps_addr_t new) {
  ((word_t *)old)[-1] = header_of(size_of(old), FORWARDED);
  *(mps_addr_t *)old = new;
}

static inline mps_addr_t object_forwarded(mps_addr_t p) {
  return kind_of(p) == FORWARDED ? *(mps_addr_t *)p : NULL;
}

static inline void object_pad(mps_addr_t base, size_t size) {
  *(word_t *)base = header_of(size, PADDING);
}

static inline mps_addr_t partner_of(mps_addr_t p) {
  kind_t kind = kind_of(p);
  return kind == KEYS || kind == VALUES ? (mps_addr_t)slots_of(p)[0] : NULL;
}

static inline mps_addr_t frame_skip(mps_addr_t p) {
  return (char *)p + (*(word_t *)p >> 8);
}

static inline mps_res_t frame_scan(mps_ss_t ss, mps_addr_t base,
                                   mps_addr_t limit) {
  mps_res_t res = MPS_RES_OK;
  for (word_t *p = base; res == MPS_RES_OK && p < (word_t *)limit;
       p = frame_skip(p))
    if ((*p >> 3 & 31) == FRAME)
      res = scan_range(ss, p + 1, frame_skip(p));
  return res;
}

/* ---- scanners of roots and walks ---- */

static inline void *scan_closure(void) {
  return &serials;
}

static inline mps_res_t scan_words(mps_ss_t ss, void *base, void *limit,
                                   void *closure) {
  REQUIRE(closure == scan_closure());
  return scan_range(ss, base, limit);
}

static inline mps_res_t scan_function(mps_ss_t ss, void *p, size_t s) {
  return scan_range(ss, p, (word_t *)p + s);
}

/* CLOSURE is the pool. */
static inline mps_res_t scan_walked(mps_ss_t ss, void *base, void *limit,
                                    void *closure) {
  return closure == snc ? frame_scan(ss, base, limit)
                        : object_scan(ss, base, limit);
}

/* ---- making ---- */

/* An object of KIND with N slots, all FILL; null if there is no memory. */
static inline void *object(mps_ap_t ap, kind_t kind, size_t n, word_t fill) {
  size_t size = (n + 2) * sizeof(word_t);
  void *volatile client; /* the stack refers to it */
  mps_addr_t p;
  do {
    word_t *words;
    client = NULL;
    if (mps_reserve(&p, ap, size) != MPS_RES_OK)
      return NULL;
    words = p;
    words[0] = header_of(size, kind);
    words[1] = atomic_fetch_add(&serials, 1);
    for (size_t i = 0; i < n; ++i)
      words[2 + i] = kind == LEAF ? words[1] * 31 + i : fill;
    if (kind == KEYS || kind == VALUES)
      words[2] = 0;
    client = (char *)p + HEADER;
  } while (!mps_commit(ap, p, size));
  return client;
}

/* N words, the first a header, the others REF, which stays referenced. */
static inline word_t *frame_object(mps_ap_t ap, size_t n, word_t ref) {
  size_t size = n * sizeof(word_t);
  mps_addr_t p;
  do {
    if (mps_reserve(&p, ap, size) != MPS_RES_OK)
      return NULL;
    *(word_t *)p = header_of(size, FRAME);
    for (size_t i = 1; i < n; ++i)
      ((word_t *)p)[i] = ref;
  } while (!mps_commit(ap, p, size));
  return p;
}

/* The pool of a thread's point I, and the kind of objects there. */
static inline mps_pool_t point_pool(size_t i) {
  mps_pool_t pools[] = {amc, amcz, ams, lo, awl};
  return pools[i % 5];
}

static inline kind_t point_kind(size_t i) {
  return i % 5 == 1 || i % 5 == 3 ? LEAF : NODE;
}

static inline mps_ap_t point_on(mps_pool_t pool, mps_rank_t rank) {
  mps_ap_t ap;
  MPS_ARGS_BEGIN(args) {
    if (pool != amc && pool != amcz && pool != lo)
      MPS_ARGS_ADD(args, MPS_KEY_RANK, rank);
    REQUIRE(mps_ap_create_k(&ap, pool, args) == MPS_RES_OK);
    REQUIRE(args[0].key == MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  return ap;
}

static inline mps_pool_t automatic_pool(mps_pool_class_t cls, bool weak) {
  mps_pool_t pool;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, object_format);
    MPS_ARGS_ADD(args, MPS_KEY_CHAIN, chain);
    if (weak)
      MPS_ARGS_ADD(args, MPS_KEY_AWL_FIND_DEPENDENT, partner_of);
    REQUIRE(mps_pool_create_k(&pool, arena, cls, args) == MPS_RES_OK);
    REQUIRE(args[0].key == MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
  return pool;
}

static inline void editor_formats(void) {
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_HEADER_SIZE, HEADER);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SCAN, object_scan);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, object_skip);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_FWD, object_forward);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ISFWD, object_forwarded);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_PAD, object_pad);
    REQUIRE(mps_fmt_create_k(&object_format, arena, args) == MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SCAN, frame_scan);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, frame_skip);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_PAD, object_pad);
    REQUIRE(mps_fmt_create_k(&frame_format, arena, args) == MPS_RES_OK);
  }
  MPS_ARGS_END(args);
}

/* An arena with at most LIMIT bytes (0: any number), and everything in it. */
static inline void editor_heap_start(size_t limit) {
  mps_gen_param_s gens[] = {{500, 0.8}, {2000, 0.5}};
  MPS_ARGS_BEGIN(args) {
    if (limit != 0)
      MPS_ARGS_ADD(args, MPS_KEY_COMMIT_LIMIT, limit);
    REQUIRE(mps_arena_create_k(&arena, mps_arena_class_vm(), args) ==
            MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  asserted_start();
  mps_message_type_enable(arena, mps_message_type_finalization());
  mps_message_type_enable(arena, mps_message_type_gc());
  mps_message_type_enable(arena, mps_message_type_gc_start());
  editor_formats();
  REQUIRE(mps_chain_create(&chain, arena, 2, gens) == MPS_RES_OK);
  amc = automatic_pool(mps_class_amc(), false);
  amcz = automatic_pool(mps_class_amcz(), false);
  ams = automatic_pool(mps_class_ams(), false);
  lo = automatic_pool(mps_class_lo(), false);
  awl = automatic_pool(mps_class_awl(), true);
  aeph = automatic_pool(mps_class_aeph(), true);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, frame_format);
    REQUIRE(mps_pool_create_k(&snc, arena, mps_class_snc(), args) ==
            MPS_RES_OK);
  }
  MPS_ARGS_END(args);
}

static inline void editor_heap_stop(void) {
  tdo_arena_check(arena);
  mps_arena_park(arena);
  mps_pool_destroy(snc);
  mps_pool_destroy(aeph);
  mps_pool_destroy(awl);
  mps_pool_destroy(lo);
  mps_pool_destroy(ams);
  mps_pool_destroy(amcz);
  mps_pool_destroy(amc);
  mps_chain_destroy(chain);
  mps_fmt_destroy(frame_format);
  mps_fmt_destroy(object_format);
  mps_arena_destroy(arena);
  asserted_none();
}

#endif /* TDO_TEST_EDITOR_HEAP_H */
