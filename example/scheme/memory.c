/* Testudo: the Scheme interpreter's pools, formats and roots.
   SPDX-License-Identifier: BSD-2-Clause

   Everything that a runtime must tell the library is in this file: how big
   an object is, where its references are, how a moved object is marked, and
   which words the program can still reach. */
#include "scheme.h"

#include "mpsavm.h"
#include "mpscamc.h"
#include "mpscawl.h"
#include "testudo.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct machine vm;

static mps_thr_t thread;
static mps_chain_t chain;
static mps_fmt_t format;
static mps_pool_t object_pool, leaf_pool, weak_pool, ephemeron_pool;
static mps_root_t root_table, root_stack, root_thread;
static double start_seconds;

/* ---- the format */

/* How many words of the object may hold references, header included. */
static size_t scan_limit(const val *p) {
  switch (HEADER_TYPE(p[0])) {
  case T_PAD:
  case T_FWD:
  case T_FLONUM:
  case T_BIGNUM:
  case T_BYTES:
  case T_BYTEVECTOR:
    return 1;
  case T_CODE:
    return (size_t)fix_int(p[1]) & 0xffff;
  case T_TABLE:
    return 6; /* what follows is a location dependency: see table.c */
  default:
    return HEADER_WORDS(p[0]);
  }
}

/* A weak array is [header, partner, deaths, words...]. The partner lies in
   the same pool, which never moves, and is kept by the table that has both. */
#define WEAK_PARTNER(p) ((val *)(p)[1])

static mps_res_t scan_weak_array(mps_ss_t ss, val *p) {
  size_t n = HEADER_WORDS(p[0]);
  MPS_SCAN_BEGIN(ss) {
    for (size_t i = WEAK_FIRST; i < n; i++) {
      mps_addr_t ref = (mps_addr_t)p[i];
      if (!is_ref(p[i]) || !MPS_FIX1(ss, ref))
        continue;
      mps_res_t res = MPS_FIX2(ss, &ref);
      if (res != MPS_RES_OK)
        return res;
      p[i] = (val)ref;
      if (ref == NULL) {
        p[i] = TOMB;
        p[2] += FIX(1) - FIX(0);
        if (WEAK_PARTNER(p) != NULL)
          WEAK_PARTNER(p)[i] = TOMB;
      }
    }
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

/* The library sees null for what is no reference: always alive. */
static mps_res_t scan_ephemerons(mps_ss_t ss, val *p) {
  size_t n = HEADER_WORDS(p[0]);
  for (size_t i = WEAK_FIRST; i + 1 < n; i += 2) {
    mps_addr_t key = is_ref(p[i]) ? (mps_addr_t)p[i] : NULL;
    mps_addr_t value = is_ref(p[i + 1]) ? (mps_addr_t)p[i + 1] : NULL;
    bool had_key = key != NULL;
    if (!had_key && value == NULL)
      continue;
    mps_res_t res = mps_fix_weak_pair(ss, p, &key, &value);
    if (res != MPS_RES_OK)
      return res;
    if (had_key && key == NULL) {
      p[2] += FIX(1) - FIX(0);
      p[i] = p[i + 1] = TOMB;
      continue;
    }
    if (had_key)
      p[i] = (val)key;
    if (value != NULL)
      p[i + 1] = (val)value;
  }
  return MPS_RES_OK;
}

static mps_res_t scan_words(mps_ss_t ss, val *p, val *limit) {
  MPS_SCAN_BEGIN(ss) {
    for (; p < limit; p++) {
      mps_addr_t ref = (mps_addr_t)*p;
      if (!is_ref(*p) || !MPS_FIX1(ss, ref))
        continue;
      mps_res_t res = MPS_FIX2(ss, &ref);
      if (res != MPS_RES_OK)
        return res;
      *p = (val)ref;
    }
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

static mps_res_t format_scan(mps_ss_t ss, mps_addr_t base, mps_addr_t limit) {
  MPS_SCAN_BEGIN(ss) {
    for (val *p = base; p < (val *)limit; p += HEADER_WORDS(p[0])) {
      mps_res_t res;
      if (HEADER_TYPE(p[0]) == T_WEAK) {
        MPS_FIX_CALL(ss, res = scan_weak_array(ss, p));
        if (res != MPS_RES_OK)
          return res;
        continue;
      }
      if (HEADER_TYPE(p[0]) == T_EPHEMERON) {
        MPS_FIX_CALL(ss, res = scan_ephemerons(ss, p));
        if (res != MPS_RES_OK)
          return res;
        continue;
      }
      for (val *q = p + 1, *end = p + scan_limit(p); q < end; q++) {
        mps_addr_t ref = (mps_addr_t)*q;
        if (!is_ref(*q) || !MPS_FIX1(ss, ref))
          continue;
        res = MPS_FIX2(ss, &ref);
        if (res != MPS_RES_OK)
          return res;
        *q = (val)ref;
      }
    }
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

static mps_addr_t format_skip(mps_addr_t addr) {
  val *p = addr;
  return p + HEADER_WORDS(p[0]);
}

static void format_forward(mps_addr_t old, mps_addr_t new) {
  val *p = old;
  p[0] = HEADER(T_FWD, HEADER_WORDS(p[0]));
  p[1] = (val) new;
}

static mps_addr_t format_is_forwarded(mps_addr_t addr) {
  val *p = addr;
  return HEADER_TYPE(p[0]) == T_FWD ? (mps_addr_t)p[1] : NULL;
}

static void format_pad(mps_addr_t base, size_t size) {
  *(val *)base = HEADER(T_PAD, size / sizeof(val));
}

static mps_addr_t find_partner(mps_addr_t addr) {
  return WEAK_PARTNER((val *)addr);
}

/* ---- roots */

static mps_res_t scan_root_table(mps_ss_t ss, void *base, void *limit,
                                 void *closure) {
  (void)closure;
  return scan_words(ss, base, limit);
}

/* See MACHINE-ROOTS: what lies above the running frame is cleared, so that
   no word of the area is ever out of date. */
static mps_res_t scan_stack(mps_ss_t ss, void *base, void *limit,
                            void *closure) {
  val *top = vm.fp + vm.max_slots;
  (void)limit;
  (void)closure;
  if (top < vm.arg_top)
    top = vm.arg_top;
  if (top < vm.touched)
    memset(top, 0, (size_t)(vm.touched - top) * sizeof(val));
  vm.touched = top > vm.limit ? top : vm.limit;
  return scan_words(ss, base, top);
}

/* ---- starting and finishing */

/* A handler of the error that memory ran out needs some: the last part of
   what the limit allows is lent to it, and taken back when it has escaped to
   where there is enough. (The clauses of a guard still have the place of the
   error, and all that lived there, for they may raise it again.) A program
   that has escaped may live on that for a while: there must be some for the
   handler of the next error, too, so that each gets a part of what is left. */
enum { RESERVE_MOST = 2 << 20, RESERVE_SHARE = 8, RESERVE_LEFT = 4 };
static size_t limit_all, limit_usual;
static bool lent, escaped;

static void set_limits(size_t limit) {
  size_t reserve = limit / RESERVE_SHARE;
  if (reserve > RESERVE_MOST)
    reserve = RESERVE_MOST;
  limit_all = limit;
  limit_usual = limit == (size_t)-1 ? limit : limit - reserve;
}

static void lend_reserve(void) {
  size_t left = limit_all - mps_arena_commit_limit(vm.arena);
  size_t limit = limit_all - left / RESERVE_LEFT;
  escaped = false;
  if (left > 0 && mps_arena_commit_limit_set(vm.arena, limit) == MPS_RES_OK)
    lent = true;
}

static bool take_reserve_back(void) {
  if (!lent || !escaped)
    return false;
  lent = mps_arena_commit_limit_set(vm.arena, limit_usual) != MPS_RES_OK;
  return !lent;
}

/* It was too soon: what was escaped from still lives. */
static void leave_reserve(void) {
  lend_reserve();
  escaped = true;
}

void memory_escaped(void) {
  escaped = true;
}

static mps_res_t create_arena(const struct memory_options *options) {
  mps_res_t res;
  set_limits(options->limit);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, options->arena_size);
    MPS_ARGS_ADD(args, MPS_KEY_COMMIT_LIMIT, limit_usual);
    if (options->pause >= 0)
      MPS_ARGS_ADD(args, MPS_KEY_PAUSE_TIME, options->pause);
    res = mps_arena_create_k(&vm.arena, mps_arena_class_vm(), args);
  }
  MPS_ARGS_END(args);
  return res;
}

static mps_res_t create_format(void) {
  mps_res_t res;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ALIGN, sizeof(val));
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SCAN, format_scan);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, format_skip);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_FWD, format_forward);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_ISFWD, format_is_forwarded);
    MPS_ARGS_ADD(args, MPS_KEY_FMT_PAD, format_pad);
    res = mps_fmt_create_k(&format, vm.arena, args);
  }
  MPS_ARGS_END(args);
  return res;
}

static mps_res_t create_pool(mps_pool_t *pool_o, mps_pool_class_t class) {
  mps_res_t res;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, format);
    MPS_ARGS_ADD(args, MPS_KEY_CHAIN, chain);
    if (class == mps_class_awl())
      MPS_ARGS_ADD(args, MPS_KEY_AWL_FIND_DEPENDENT, find_partner);
    res = mps_pool_create_k(pool_o, vm.arena, class, args);
  }
  MPS_ARGS_END(args);
  return res;
}

static mps_res_t create_ranked_ap(mps_ap_t *ap_o, mps_pool_t pool,
                                  mps_rank_t rank) {
  mps_res_t res;
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_RANK, rank);
    res = mps_ap_create_k(ap_o, pool, args);
  }
  MPS_ARGS_END(args);
  return res;
}

static mps_res_t create_pools(const struct memory_options *options) {
  mps_gen_param_s params[16];
  mps_res_t res;
  for (size_t i = 0; i < options->gens; i++) {
    params[i].mps_capacity = options->gen[i].kb;
    params[i].mps_mortality = options->gen[i].mortality;
  }
  res = mps_chain_create(&chain, vm.arena, options->gens, params);
  if (res == MPS_RES_OK)
    res = create_pool(&object_pool, mps_class_amc());
  if (res == MPS_RES_OK)
    res = create_pool(&leaf_pool, mps_class_amcz());
  if (res == MPS_RES_OK)
    res = create_pool(&weak_pool, mps_class_awl());
  if (res == MPS_RES_OK)
    res = create_pool(&ephemeron_pool, mps_class_aeph());
  return res;
}

static mps_res_t create_aps(void) {
  mps_res_t res = mps_ap_create_k(&vm.ap_pair, object_pool, mps_args_none);
  if (res == MPS_RES_OK)
    res = mps_ap_create_k(&vm.ap_object, object_pool, mps_args_none);
  if (res == MPS_RES_OK)
    res = mps_ap_create_k(&vm.ap_leaf, leaf_pool, mps_args_none);
  if (res == MPS_RES_OK)
    res = create_ranked_ap(&vm.ap_weak, weak_pool, mps_rank_weak());
  if (res == MPS_RES_OK)
    res = create_ranked_ap(&vm.ap_strong, weak_pool, mps_rank_exact());
  if (res == MPS_RES_OK)
    res = create_ranked_ap(&vm.ap_ephemeron, ephemeron_pool,
                           mps_rank_ephemeron());
  return res;
}

static mps_res_t create_roots(void *cold) {
  mps_res_t res = mps_thread_reg(&thread, vm.arena);
  if (res == MPS_RES_OK)
    res = mps_root_create_thread_scanned(&root_thread, vm.arena,
                                         mps_rank_ambig(), 0, thread,
                                         mps_scan_area, NULL, cold);
  if (res == MPS_RES_OK)
    res = mps_root_create_area(&root_table, vm.arena, mps_rank_exact(), 0,
                               vm.root, vm.root + R_LIMIT, scan_root_table,
                               NULL);
  if (res == MPS_RES_OK)
    res = mps_root_create_area(&root_stack, vm.arena, mps_rank_exact(), 0,
                               vm.stack, vm.stack_end, scan_stack, NULL);
  return res;
}

/* Barrier hits have a stack of their own: on this one their frames would hide
   what was left there, or leave it, and other objects would stay in place. */
static stack_t previous_signal_stack;

static void use_signal_stack(void) {
  static char memory[(size_t)1 << 18];
  stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
  sigaltstack(&stack, &previous_signal_stack);
}

static void clear_machine(void) {
  for (int i = 0; i < R_LIMIT; i++)
    vm.root[i] = FALSE;
  vm.root[R_SEGMENT] = vm.root[R_HANDLERS] = vm.root[R_WINDERS] = NIL;
  vm.root[R_SEGTOP] = FIX(0);
  vm.fp = vm.stack + 3;
  vm.fp[-3] = vm.fp[-2] = FIX(0);
  vm.fp[-1] = FALSE;
  vm.limit = vm.touched = vm.stack + STACK_FRAMES;
  vm.stack_end = vm.stack + STACK_WORDS;
  vm.max_slots = 64;
}

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static const char *why_not(mps_res_t res, const char *otherwise) {
  return res == MPS_RES_COMMIT_LIMIT ? "the limit is too small" : otherwise;
}

const char *memory_init(const struct memory_options *options, void *cold) {
  start_seconds = seconds_now();
  vm.stack = calloc(STACK_WORDS, sizeof(val));
  if (vm.stack == NULL)
    return "no memory for the stack";
  clear_machine();
  use_signal_stack();
  mps_res_t res = create_arena(options);
  if (res != MPS_RES_OK)
    return why_not(res, "no address space for the arena");
  res = create_format();
  if (res == MPS_RES_OK)
    res = create_pools(options);
  if (res == MPS_RES_OK)
    res = create_aps();
  if (res == MPS_RES_OK)
    res = create_roots(cold);
  if (res != MPS_RES_OK)
    return why_not(res, "no memory for the pools");
  mps_message_type_enable(vm.arena, mps_message_type_finalization());
  return NULL;
}

void memory_finish(void) {
  mps_arena_park(vm.arena);
  mps_root_destroy(root_stack);
  mps_root_destroy(root_table);
  mps_root_destroy(root_thread);
  region_finish();
  mps_thread_dereg(thread);
  mps_ap_destroy(vm.ap_pair);
  mps_ap_destroy(vm.ap_object);
  mps_ap_destroy(vm.ap_leaf);
  mps_ap_destroy(vm.ap_weak);
  mps_ap_destroy(vm.ap_strong);
  mps_ap_destroy(vm.ap_ephemeron);
  mps_pool_destroy(object_pool);
  mps_pool_destroy(leaf_pool);
  mps_pool_destroy(weak_pool);
  mps_pool_destroy(ephemeron_pool);
  mps_chain_destroy(chain);
  mps_fmt_destroy(format);
  mps_arena_destroy(vm.arena);
  sigaltstack(&previous_signal_stack, NULL);
  free(vm.stack);
}

/* ---- allocation: reserve, fill in, commit, again if that fails */

void *memory_fill(mps_ap_t ap, size_t bytes) {
  mps_addr_t p;
  bool taken = take_reserve_back();
  if (mps_ap_fill(&p, ap, bytes) == MPS_RES_OK)
    return p;
  if (taken) {
    leave_reserve();
    if (mps_ap_fill(&p, ap, bytes) == MPS_RES_OK)
      return p;
  }
  lend_reserve();
  if (!stack_lend()) { /* handlers in handlers, none of which escapes */
    vm.root[R_CONDITION] = vm.root[R_NO_MEMORY];
    machine_abandon();
  }
  raise_value(vm.root[R_NO_MEMORY]); /* made in advance */
}

bool memory_may_have(size_t bytes) {
  return bytes <= limit_all;
}

/* The library keeps a part of the limit for its own moving. */
bool memory_has_room(size_t bytes) {
  size_t limit = mps_arena_commit_limit(vm.arena);
  size_t most = limit - limit / RESERVE_SHARE;
  size_t committed = mps_arena_committed(vm.arena);
  return committed <= most && bytes <= most - committed;
}

static void check_size(size_t slots) {
  if (slots > (size_t)1 << 44)
    raise_kind("memory", NULL, "object too large", NIL);
}

val make_object(enum type type, size_t slots, val fill) {
  check_size(slots);
  size_t words = slots < 1 ? 2 : slots + 1;
  size_t bytes = words * sizeof(val);
  val *p;
  do {
    p = reserve(vm.ap_object, bytes);
    p[0] = HEADER(type, words);
    for (size_t i = 1; i < words; i++)
      p[i] = fill;
  } while (!mps_commit(vm.ap_object, p, bytes));
  return (val)p;
}

val make_vector(size_t length, val fill) {
  val v = make_object(T_VECTOR, length, fill);
  if (length == 0)
    *obj(v) = HEADER_WITH_FLAG(*obj(v), 1);
  return v;
}

val make_pair_at(val car, val cdr, val pos) {
  val *p;
  do {
    p = reserve(vm.ap_pair, 4 * sizeof(val));
    p[0] = HEADER(T_PAIR, 4);
    p[1] = car;
    p[2] = cdr;
    p[3] = pos;
  } while (!mps_commit(vm.ap_pair, p, 4 * sizeof(val)));
  return (val)p;
}

val make_box(val v) {
  return make_object(T_BOX, 1, v);
}

val make_leaf(enum type type, size_t bytes) {
  check_size(bytes / sizeof(val));
  size_t words = 1 + (bytes + sizeof(val) - 1) / sizeof(val);
  if (words < 2)
    words = 2;
  val *p;
  do {
    p = reserve(vm.ap_leaf, words * sizeof(val));
    p[0] = HEADER(type, words);
  } while (!mps_commit(vm.ap_leaf, p, words * sizeof(val)));
  return (val)p;
}

val make_code(val info, val name, val debug, const val *constants, size_t n,
              const void *insns, size_t insn_words) {
  size_t words = 4 + n + insn_words;
  val *p;
  do {
    p = reserve(vm.ap_object, words * sizeof(val));
    p[0] = HEADER(T_CODE, words);
    p[1] = info;
    p[2] = name;
    p[3] = debug;
    if (n > 0)
      memcpy(p + 4, constants, n * sizeof(val));
    memcpy(p + 4 + n, insns, insn_words * sizeof(val));
  } while (!mps_commit(vm.ap_object, p, words * sizeof(val)));
  return (val)p;
}

static val make_array(mps_ap_t ap, enum type type, size_t length) {
  size_t words = length + WEAK_FIRST;
  val *p;
  do {
    p = reserve(ap, words * sizeof(val));
    p[0] = HEADER(type, words);
    p[1] = 0;
    p[2] = FIX(0);
    for (size_t i = WEAK_FIRST; i < words; i++)
      p[i] = UNBOUND;
  } while (!mps_commit(ap, p, words * sizeof(val)));
  return (val)p;
}

val make_weak_array(size_t length, bool weak) {
  return make_array(weak ? vm.ap_weak : vm.ap_strong, T_WEAK, length);
}

val make_ephemerons(size_t pairs) {
  return make_array(vm.ap_ephemeron, T_EPHEMERON, pairs * 2);
}

void weak_arrays_link(val a, val b) {
  obj(a)[1] = b;
  obj(b)[1] = a;
}

/* ---- collecting on demand */

void memory_collect(void) {
  mps_arena_collect(vm.arena);
  mps_arena_release(vm.arena);
}

void memory_find_lost(void) {
  stack_clear_unused();
  memory_collect();
  memory_poll_finalization();
}

/* The collection under way gets on. Multiplier 0: no collection of everything
   begins only because there is time. */
void memory_idle(double seconds) {
  mps_arena_step(vm.arena, seconds, 0);
}

static val entry(const char *name, val value, val list) {
  val pair = cons(FALSE, value);
  CAR(pair) = intern(name);
  return cons(pair, list);
}

/* The collector's share is of the time since the start, by the same clock:
   a pause does not get shorter because others have the processor. */
val memory_statistics(void) {
  tdo_statistics_s s;
  val list = NIL;
  double total = seconds_now() - start_seconds;
  tdo_statistics(vm.arena, &s);
  list = entry("protect-calls", FIX(s.protect_calls_process), list);
  list = entry("write-hits", FIX(s.hits_write), list);
  list = entry("read-hits", FIX(s.hits_read), list);
  list = entry("reserved", FIX(mps_arena_reserved(vm.arena)), list);
  list = entry("spare", FIX(mps_arena_spare_committed(vm.arena)), list);
  list = entry("committed", FIX(mps_arena_committed(vm.arena)), list);
  list = entry("longest-pause", make_flonum(s.longest_pause), list);
  list = entry("collector-share",
               make_flonum(total > 0 ? s.collect_seconds / total : 0), list);
  list = entry("collector-seconds", make_flonum(s.collect_seconds), list);
  list = entry("total-seconds", make_flonum(total), list);
  list = entry("full-collections", FIX(s.full_collections), list);
  return entry("collections", FIX(s.collections), list);
}
