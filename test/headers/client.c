/* Testudo: the macros as clients write them. Compiled only, as C from C90 on
   and as C++, by check_headers.sh: no warning may come of it.
   SPDX-License-Identifier: BSD-2-Clause */
#include "mps.h"
#include "mpsacl.h"
#include "mpsavm.h"
#include "mpscamc.h"
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "mpscmfs.h"
#include "mpscmvff.h"
#include "mpscmvt.h"
#include "mpscsnc.h"
#include "mpswin.h"

#ifdef __cplusplus
extern "C" {
#endif

mps_res_t scan_nothing(mps_ss_t ss, mps_addr_t base, mps_addr_t limit);
mps_res_t scan_words(mps_ss_t ss, mps_addr_t base, mps_addr_t limit);
mps_res_t scan_ambiguous(mps_ss_t ss, void *base, void *limit, void *p);
mps_res_t scan_pairs(mps_ss_t ss, mps_addr_t base, mps_addr_t limit);
mps_res_t make_arena(mps_arena_t *arena_o);
mps_res_t make_client_arena(mps_arena_t *arena_o, void *base);
mps_res_t make_format(mps_fmt_t *fmt_o, mps_arena_t arena);
mps_res_t make_pools(mps_pool_t pools[], mps_arena_t arena, mps_fmt_t fmt,
                     mps_chain_t chain);
mps_res_t make_points(mps_ap_t points[], mps_pool_t pool);
mps_word_t *make_pair(mps_ap_t ap, mps_word_t head);
mps_res_t make_block(mps_ap_t ap);
mps_res_t use_cache(mps_sac_t sac);
const char *message_name(mps_message_type_t type);
size_t total(mps_arena_t arena);

/* A bracket with nothing fixed in it. */
mps_res_t scan_nothing(mps_ss_t ss, mps_addr_t base, mps_addr_t limit) {
  MPS_SCAN_BEGIN(ss) {
    if (base == limit)
      return MPS_RES_OK;
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

/* Tagged words, a bracket in a bracket's callee, and a call to a scanner. */
mps_res_t scan_words(mps_ss_t ss, mps_addr_t base, mps_addr_t limit) {
  mps_word_t *p;
  MPS_SCAN_BEGIN(ss) {
    for (p = (mps_word_t *)base; p < (mps_word_t *)limit; ++p) {
      mps_word_t tag = *p & 7;
      mps_addr_t ref;
      mps_res_t res;
      if (tag == 1)
        continue;
      if (!MPS_FIX1(ss, *p))
        continue;
      ref = (mps_addr_t)(*p - tag);
      res = MPS_FIX2(ss, &ref);
      if (res != MPS_RES_OK)
        return res;
      *p = (mps_word_t)ref + tag;
      if (tag == 2)
        MPS_FIX_CALL(ss, res = scan_nothing(ss, base, limit));
      else
        MPS_FIX_CALL(ss, (void)mps_scan_area(ss, base, limit, NULL));
      if (res != MPS_RES_OK)
        return res;
    }
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

#define FIX(ref)                                                              \
  do {                                                                        \
    mps_addr_t fixed_ = (mps_addr_t)(ref);                                    \
    mps_res_t res_ = MPS_FIX12(ss, &fixed_);                                  \
    if (res_ != MPS_RES_OK)                                                   \
      return res_;                                                            \
    (ref) = (char *)fixed_;                                                   \
  } while (0)

/* Without braces of its own; pointers and integers. */
mps_res_t scan_ambiguous(mps_ss_t ss, void *base, void *limit, void *p) {
  char **ref = (char **)base;
  (void)p;
  while (ref < (char **)limit) {
    MPS_SCAN_BEGIN(ss)
      if (MPS_FIX1(ss, *ref) || MPS_FIX1(ss, 0u) || MPS_FIX1(ss, ref))
        FIX(*ref);
    MPS_SCAN_END(ss);
    ++ref;
  }
  return MPS_RES_OK;
}

mps_res_t scan_pairs(mps_ss_t ss, mps_addr_t base, mps_addr_t limit) {
  mps_addr_t *pair = (mps_addr_t *)base;
  mps_res_t res = MPS_RES_OK;
  MPS_SCAN_BEGIN(ss) {
    for (; res == MPS_RES_OK && pair < (mps_addr_t *)limit; pair += 2) {
      res = mps_fix_weak_pair(ss, base, &pair[0], &pair[1]);
      if (res == MPS_RES_OK)
        res = mps_fix_weak_or_pair(ss, base, &pair[0], &pair[1]);
      if (res == MPS_RES_OK)
        res = mps_fix_weak_and_pair(ss, base, &pair[0], &pair[1]);
    }
  }
  MPS_SCAN_END(ss);
  return res;
}

static void extended(mps_arena_t arena, void *base, size_t size) {
  (void)arena;
  (void)base;
  (void)size;
}

mps_res_t make_arena(mps_arena_t *arena_o) {
  mps_res_t res;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, 1 << 20);
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_GRAIN_SIZE, 4096);
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_ZONED, 1);
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_EXTENDED, (mps_fun_t)extended);
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_CONTRACTED, (mps_fun_t)extended);
    MPS_ARGS_ADD(args, MPS_KEY_COMMIT_LIMIT, (size_t)-1);
    MPS_ARGS_ADD(args, MPS_KEY_SPARE, 0.5);
    MPS_ARGS_ADD(args, MPS_KEY_SPARE_COMMIT_LIMIT, 0);
    MPS_ARGS_ADD(args, MPS_KEY_PAUSE_TIME, 1);
    MPS_ARGS_ADD(args, MPS_KEY_VMW3_TOP_DOWN, 0);
    res = mps_arena_create_k(arena_o, mps_arena_class_vm(), args);
  }
  MPS_ARGS_END(args);
  return res;
}

mps_res_t make_client_arena(mps_arena_t *arena_o, void *base) {
  mps_res_t res;
  mps_arg_s args[3];
  args[0].key = MPS_KEY_ARENA_CL_BASE;
  args[0].val.MPS_KEY_ARENA_CL_BASE_FIELD = base;
  args[1].key = MPS_KEY_ARENA_SIZE;
  args[1].val.size = (size_t)1 << 20;
  args[2].key = MPS_KEY_ARGS_END;
  res = mps_arena_create_k(arena_o, mps_arena_class_cl(), args);
  return res == MPS_RES_OK ? mps_arena_extend(*arena_o, base, 1) : res;
}

static mps_addr_t method(mps_addr_t obj) {
  return obj;
}

static void forward(mps_addr_t from, mps_addr_t to) {
  *(mps_addr_t *)from = to;
}

static void pad(mps_addr_t base, size_t size) {
  *(size_t *)base = size;
}

mps_res_t make_format(mps_fmt_t *fmt_o, mps_arena_t arena) {
  mps_res_t res;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ALIGN, sizeof(mps_word_t));
    MPS_ARGS_ADD(args, MPS_KEY_FMT_HEADER_SIZE, 0);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SCAN, scan_words);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, method);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_FWD, forward);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ISFWD, method);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_PAD, pad);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_CLASS, method);
    MPS_ARGS_DONE(args);
    res = mps_fmt_create_k(fmt_o, arena, args);
  }
  MPS_ARGS_END(args);
  return res;
}

mps_res_t make_pools(mps_pool_t pools[], mps_arena_t arena, mps_fmt_t fmt,
                     mps_chain_t chain) {
  mps_pool_debug_option_s options = {"fence", 5, "free", 4};
  mps_res_t res;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
    MPS_ARGS_ADD(args, MPS_KEY_CHAIN, chain);
    MPS_ARGS_ADD(args, MPS_KEY_GEN, (size_t)1);
    MPS_ARGS_ADD(args, MPS_KEY_INTERIOR, 0);
    MPS_ARGS_ADD(args, MPS_KEY_EXTEND_BY, 4096);
    MPS_ARGS_ADD(args, MPS_KEY_LARGE_SIZE, 32768);
    MPS_ARGS_ADD(args, MPS_KEY_AMS_SUPPORT_AMBIGUOUS, 1);
    MPS_ARGS_ADD(args, MPS_KEY_AWL_FIND_DEPENDENT, method);
    res = mps_pool_create_k(&pools[0], arena, mps_class_amc(), args);
    if (res != MPS_RES_OK)
      return res;
    MPS_ARGS_BEGIN(more) {
      MPS_ARGS_ADD(more, MPS_KEY_MEAN_SIZE, 32);
      MPS_ARGS_ADD(more, MPS_KEY_MIN_SIZE, 8);
      MPS_ARGS_ADD(more, MPS_KEY_MAX_SIZE, 64);
      MPS_ARGS_ADD(more, MPS_KEY_ALIGN, 8);
      MPS_ARGS_ADD(more, MPS_KEY_MFS_UNIT_SIZE, 24);
      MPS_ARGS_ADD(more, MPS_KEY_MVFF_ARENA_HIGH, 1);
      MPS_ARGS_ADD(more, MPS_KEY_MVFF_SLOT_HIGH, 1);
      MPS_ARGS_ADD(more, MPS_KEY_MVFF_FIRST_FIT, 0);
      MPS_ARGS_ADD(more, MPS_KEY_MVT_RESERVE_DEPTH, 10);
      MPS_ARGS_ADD(more, MPS_KEY_MVT_FRAG_LIMIT, 0.25);
      MPS_ARGS_ADD(more, MPS_KEY_POOL_DEBUG_OPTIONS, &options);
      res = mps_pool_create_k(&pools[1], arena, mps_class_mvff_debug(), more);
    }
    MPS_ARGS_END(more);
    MPS_ARGS_BEGIN(args) { /* the same name again */
      MPS_ARGS_ADD_FIELD(args, MPS_KEY_FORMAT, format, fmt);
      if (res == MPS_RES_OK)
        res = mps_pool_create_k(&pools[2], arena, mps_class_lo(), args);
    }
    MPS_ARGS_END(args);
  }
  MPS_ARGS_END(args);
  return res != MPS_RES_OK ? res
                           : mps_pool_create(&pools[3], arena, mps_class_snc(),
                                             fmt);
}

mps_res_t make_points(mps_ap_t points[], mps_pool_t pool) {
  mps_res_t res = mps_ap_create_k(&points[0], pool, mps_args_none);
  if (res == MPS_RES_OK)
    res = mps_ap_create(&points[1], pool, mps_rank_exact());
  if (res != MPS_RES_OK)
    return res;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_RANK, mps_rank_weak());
    MPS_ARGS_ADD(args, MPS_KEY_AP_HASH_ARRAYS, 1);
    res = mps_ap_create_k(&points[2], pool, args);
  }
  MPS_ARGS_END(args);
  return res;
}

/* The block goes straight into a pointer of the client's own type. */
mps_word_t *make_pair(mps_ap_t ap, mps_word_t head) {
  mps_word_t *pair = NULL;
  do {
    if (mps_reserve((mps_addr_t *)&pair, ap, 2 * sizeof *pair) != MPS_RES_OK)
      return NULL;
    pair[0] = head;
    pair[1] = 0;
  } while (!mps_commit(ap, pair, 2 * sizeof *pair));
  return pair;
}

/* A result that is not looked at, and the functions behind the macros. */
mps_res_t make_block(mps_ap_t ap) {
  mps_addr_t p;
  mps_res_t res;
  MPS_RESERVE_BLOCK(res, p, ap, 16);
  if (res == MPS_RES_OK)
    mps_commit(ap, p, 16);
  res = (mps_reserve)(&p, ap, 16);
  if (res == MPS_RES_OK && !(mps_commit)(ap, p, 16))
    res = MPS_RES_FAIL;
#undef mps_reserve
  return res == MPS_RES_OK ? mps_reserve(&p, ap, 16) : res;
}

mps_res_t use_cache(mps_sac_t sac) {
  mps_addr_t p, q;
  mps_res_t res;
  int size = 16;
  MPS_SAC_ALLOC_FAST(res, p, sac, size, 0);
  if (res == MPS_RES_OK)
    MPS_SAC_FREE_FAST(sac, p, size);
  else
    return res;
  MPS_SAC_ALLOC(res, q, sac, 24, 0);
  if (res == MPS_RES_OK)
    MPS_SAC_FREE(sac, q, 24);
  return res;
}

const char *message_name(mps_message_type_t type) {
  switch (type) {
  case mps_message_type_finalization():
    return "finalization";
  case mps_message_type_gc():
    return "gc";
  case mps_message_type_gc_start():
    return "gc_start";
  default:
    return "?";
  }
}

/* Getters as function pointers. */
size_t total(mps_arena_t arena) {
  static size_t (*const getters[])(mps_arena_t) = {
      mps_arena_reserved, mps_arena_committed, mps_arena_spare_committed,
      mps_arena_commit_limit};
  size_t sum = 0;
  size_t i;
  for (i = 0; i < sizeof getters / sizeof getters[0]; ++i)
    sum += getters[i](arena);
  MPS_BEGIN
    sum += 1;
  MPS_END;
  return sum;
}

#ifdef __cplusplus
}
#endif
