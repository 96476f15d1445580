/* Testudo: layouts, constants and macros of mps.h. The functions behind the
   macros are doubles; of the library only the keys are needed.
   SPDX-License-Identifier: BSD-2-Clause */
#include <stdint.h>
#include <string.h>

#define mps_ap_fill   double_ap_fill
#define mps_ap_trip   double_ap_trip
#define _mps_fix2     double_fix2
#define mps_sac_fill  double_sac_fill
#define mps_sac_empty double_sac_empty
#include "mps.h"
#include "mpscmvff.h"
#include "mpscmvt.h"
#include "mpslib.h"
#include "mpsio.h"
#include "mpstd.h"
#include "test/suite.h"

enum { WORD = sizeof(mps_word_t), BLOCK = 4 * WORD };

/* ---- Layouts and constants ---- */

_Static_assert(sizeof(mps_word_t) == sizeof(void *), "word");
_Static_assert(sizeof(MPS_T_WORD) == sizeof(void *), "MPS_T_WORD");
_Static_assert(sizeof(MPS_T_WORD) * CHAR_BIT == MPS_WORD_WIDTH, "width");
_Static_assert(1 << MPS_WORD_SHIFT == MPS_WORD_WIDTH, "shift");
_Static_assert(MPS_PF_ALIGN >= sizeof(void *), "align");
_Static_assert(sizeof(MPS_T_ULONGEST) >= sizeof(MPS_T_WORD), "longest");

_Static_assert(offsetof(mps_ap_s, init) == 0, "init");
_Static_assert(offsetof(mps_ap_s, alloc) == WORD, "alloc");
_Static_assert(offsetof(mps_ap_s, limit) == 2 * WORD, "limit");
_Static_assert(sizeof(mps_ld_s) == 2 * WORD, "ld");

_Static_assert(MPS_RES_OK == 0 && MPS_RES_FAIL == 1 && MPS_RES_RESOURCE == 2,
               "results");
_Static_assert(MPS_RES_MEMORY == 3 && MPS_RES_LIMIT == 4 &&
                   MPS_RES_UNIMPL == 5 && MPS_RES_IO == 6,
               "results");
_Static_assert(MPS_RES_COMMIT_LIMIT == 7 && MPS_RES_PARAM == 8, "results");

_Static_assert(MPS_RM_CONST == 1 && MPS_RM_PROT == 2, "modes");
_Static_assert(MPS_RM_PROT_INNER == MPS_RM_PROT, "modes");
_Static_assert(MPS_ARGS_MAX == 32, "args");
_Static_assert(MPS_SAC_CLASS_LIMIT == 8, "classes");

#define SAME_TYPE(expression, type) \
  _Static_assert(_Generic((expression), type: 1, default: 0), #expression)

SAME_TYPE((mps_addr_t)0, void *);
SAME_TYPE((mps_align_t)0, size_t);
SAME_TYPE((mps_bool_t)0, int);
SAME_TYPE((mps_res_t)0, int);
SAME_TYPE((mps_rank_t)0, unsigned);
SAME_TYPE((mps_rm_t)0, unsigned);
SAME_TYPE((mps_message_type_t)0, unsigned);
SAME_TYPE((mps_clock_t)0, mps_word_t);
SAME_TYPE((mps_label_t)0, mps_word_t);
SAME_TYPE((mps_fun_t)0, void (*)(void));
SAME_TYPE((mps_class_t)0, mps_pool_class_t);
SAME_TYPE((mps_sac_t)0, struct _mps_sac_s *);
SAME_TYPE(MPS_KEY_CHAIN, mps_key_t);
SAME_TYPE(mps_message_type_gc(), mps_message_type_t);
SAME_TYPE(MPS_SAC_CLASS_LIMIT, size_t);

static mps_res_t no_scan(mps_ss_t ss, mps_addr_t base, mps_addr_t limit) {
  (void)ss;
  (void)base;
  (void)limit;
  return MPS_RES_OK;
}

static mps_addr_t no_skip(mps_addr_t obj) {
  return obj;
}

static void no_fwd(mps_addr_t from, mps_addr_t to) {
  (void)from;
  (void)to;
}

static void no_pad(mps_addr_t base, size_t size) {
  (void)base;
  (void)size;
}

/* The fields are in the order of positional initialisers. */
static mps_fmt_A_s format_a = {8,      no_scan, no_skip, NULL,
                               no_fwd, no_skip, no_pad};
static mps_fmt_B_s format_b = {8,      no_scan, no_skip, NULL,
                               no_fwd, no_skip, no_pad,  no_skip};
static mps_fmt_auto_header_s format_h = {8,       no_scan, no_skip, no_fwd,
                                         no_skip, no_pad,  16};
static mps_fmt_fixed_s format_f = {8, no_scan, no_fwd, no_skip, no_pad};
static mps_gen_param_s generations[] = {{150, 0.85}, {170, 0.45}};
static mps_scan_tag_s tag = {7, 1};
static struct mps_sac_classes_s classes[] = {{16, 5, 1}, {32, 3, 2}};
static mps_pool_debug_option_s options = {"fence", 5, NULL, 0};

START_TEST(initialisers) {
  mps_fmt_A_t a = &format_a;
  mps_fmt_B_t b = &format_b;
  mps_scan_tag_t t = &tag;
  ck_assert_uint_eq(a->align, 8);
  ck_assert(a->pad == no_pad && a->isfwd == no_skip);
  ck_assert(b->mps_class == no_skip && b->fwd == no_fwd);
  ck_assert_uint_eq(format_h.mps_headerSize, 16);
  ck_assert(format_f.pad == no_pad && format_f.scan == no_scan);
  ck_assert_uint_eq(generations[1].mps_capacity, 170);
  ck_assert(generations[1].mps_mortality < 0.5);
  ck_assert_uint_eq(t->mask, 7);
  ck_assert_uint_eq(t->pattern, 1);
  ck_assert_uint_eq(classes[1].mps_block_size, 32);
  ck_assert_uint_eq(classes[1].mps_cached_count, 3);
  ck_assert_uint_eq(classes[1].mps_frequency, 2);
  ck_assert_uint_eq(options.fence_size, 5);
}
END_TEST

START_TEST(result_list) {
#define ROW(X, name, text) {MPS_RES_##name, #name, text},
  static const struct {
    int code;
    const char *name, *text;
  } rows[] = {_mps_RES_ENUM(ROW, ~)};
#undef ROW
  ck_assert_uint_eq(sizeof rows / sizeof rows[0], 9);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    ck_assert_int_eq(rows[i].code, (int)i);
    ck_assert_uint_gt(strlen(rows[i].text), 0);
  }
  ck_assert_str_eq(rows[7].name, "COMMIT_LIMIT");
}
END_TEST

static int message_number(mps_message_type_t type) {
  switch (type) {
  case mps_message_type_finalization():
    return 0;
  case mps_message_type_gc():
    return 1;
  case mps_message_type_gc_start():
    return 2;
  default:
    return -1;
  }
}

START_TEST(message_types) {
  for (unsigned i = 0; i < 3; ++i)
    ck_assert_int_eq(message_number(i), (int)i);
  ck_assert_int_eq(message_number(3), -1);
}
END_TEST

START_TEST(old_names) {
#define TEXT(name)     #name
#define EXPANDED(name) TEXT(name)
  ck_assert_str_eq(EXPANDED(mps_mvff_size), "mps_pool_total_size");
  ck_assert_str_eq(EXPANDED(mps_mvt_size), "mps_pool_total_size");
  ck_assert_str_eq(EXPANDED(mps_mvff_free_size), "mps_pool_free_size");
  ck_assert_str_eq(EXPANDED(mps_mvt_free_size), "mps_pool_free_size");
}
END_TEST

START_TEST(platform) {
  ck_assert_uint_eq(strlen(MPS_PF_STRING), 6);
#if defined(__linux__) && defined(__x86_64__) && defined(__clang__)
  ck_assert_str_eq(MPS_PF_STRING, "lii6ll");
#elif defined(__linux__) && defined(__x86_64__)
  ck_assert_str_eq(MPS_PF_STRING, "lii6gc");
#endif
}
END_TEST

/* ---- Argument lists ---- */

/* Clients nest lists of one name; we warn ourselves of such. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
START_TEST(lists_nest) {
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_SPARE, 1);
    MPS_ARGS_BEGIN(args) {
      ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
      MPS_ARGS_ADD(args, MPS_KEY_FMT_SCAN, no_scan);
      ck_assert(args[0].val.fmt_scan == no_scan);
    }
    MPS_ARGS_END(args);
    MPS_ARGS_BEGIN(others) {
      MPS_ARGS_ADD_FIELD(others, MPS_KEY_RANK, u, 3);
      MPS_ARGS_ADD(args, MPS_KEY_GEN, (size_t)2);
      ck_assert_uint_eq(others[0].val.u, 3);
      ck_assert_ptr_eq(others[1].key, MPS_KEY_ARGS_END);
    }
    MPS_ARGS_END(others);
    ck_assert_ptr_eq(args[0].key, MPS_KEY_SPARE);
    ck_assert(args[0].val.d == 1.0);
    ck_assert_uint_eq(args[1].val.u, 2);
    ck_assert_ptr_eq(args[2].key, MPS_KEY_ARGS_END);
  }
  MPS_ARGS_END(args);
}
END_TEST
#pragma GCC diagnostic pop

static size_t length(const mps_arg_s list[]) {
  size_t n = 0;
  while (list[n].key != MPS_KEY_ARGS_END)
    ++n;
  return n;
}

/* A list under a name that is itself a macro, values with side effects,
   additions as the only statement of a branch, and an old client's DONE. */
START_TEST(lists_of_all_sorts) {
#define THE_LIST list
  size_t n = 0;
  MPS_ARGS_BEGIN(THE_LIST) {
    for (size_t i = 0; i < 4; ++i) {
      if (i % 2 == 0)
        MPS_ARGS_ADD(list, MPS_KEY_MIN_SIZE, ++n);
      else
        MPS_ARGS_ADD(THE_LIST, MPS_KEY_CHAIN, NULL);
    }
    MPS_ARGS_DONE(THE_LIST);
    ck_assert_uint_eq(length(THE_LIST), 4);
    ck_assert_uint_eq(list[2].val.size, 2);
  }
  MPS_ARGS_END(THE_LIST);
  ck_assert_uint_eq(n, 2);
#undef THE_LIST
}
END_TEST

/* ---- Allocation points ---- */

static unsigned fills, trips;
static char memory[16 * BLOCK];

mps_res_t mps_ap_fill(mps_addr_t *p_o, mps_ap_t ap, size_t size) {
  (void)p_o;
  (void)ap;
  (void)size;
  ++fills;
  return MPS_RES_COMMIT_LIMIT;
}

mps_bool_t mps_ap_trip(mps_ap_t ap, mps_addr_t p, size_t size) {
  ck_assert_ptr_null(ap->limit);
  ck_assert_ptr_eq(ap->init, ap->alloc);
  ck_assert_ptr_eq((char *)p + size, ap->alloc);
  return trips++ % 2 == 0;
}

static void make_ap(mps_ap_t ap) {
  memset(ap, 0, sizeof *ap);
  ap->init = ap->alloc = memory;
  ap->limit = memory + sizeof memory;
  fills = trips = 0;
}

START_TEST(reserve_and_commit) {
  mps_ap_s ap;
  mps_addr_t p;
  make_ap(&ap);
  for (int i = 0; i < 16; ++i) {
    ck_assert_int_eq(mps_reserve(&p, &ap, BLOCK), MPS_RES_OK);
    ck_assert_ptr_eq(p, memory + BLOCK * i);
    ck_assert_ptr_eq(ap.init, p);
    ck_assert_ptr_eq(ap.alloc, (char *)p + BLOCK);
    ck_assert_int_eq(mps_commit(&ap, p, BLOCK), 1);
    ck_assert_ptr_eq(ap.init, ap.alloc);
  }
  ck_assert_uint_eq(fills, 0);
  ck_assert_int_eq(mps_reserve(&p, &ap, WORD), MPS_RES_COMMIT_LIMIT);
  ck_assert_uint_eq(fills, 1);
  ck_assert_ptr_eq(p, memory + BLOCK * 15);
  ck_assert_ptr_eq(ap.alloc, ap.limit);
}
END_TEST

START_TEST(reserve_goes_to_fill) {
  static const size_t sizes[] = {0, sizeof memory + 1, SIZE_MAX,
                                 SIZE_MAX - WORD + 1, SIZE_MAX / 2 + 1};
  mps_ap_s ap;
  mps_addr_t p = NULL;
  mps_res_t res;
  make_ap(&ap);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    MPS_RESERVE_BLOCK(res, p, &ap, sizes[i]);
    ck_assert_int_eq(res, MPS_RES_COMMIT_LIMIT);
    ck_assert_uint_eq(fills, i + 1);
    ck_assert_ptr_eq(ap.alloc, memory);
  }
  ap.limit = NULL;
  ck_assert_int_eq(mps_reserve(&p, &ap, WORD), MPS_RES_COMMIT_LIMIT);
  memset(&ap, 0, sizeof ap);
  ck_assert_int_eq(mps_reserve(&p, &ap, WORD), MPS_RES_COMMIT_LIMIT);
  ck_assert_ptr_null(p);
}
END_TEST

START_TEST(second_reserve_extends) {
  mps_ap_s ap;
  mps_addr_t p, q;
  mps_res_t res;
  make_ap(&ap);
  MPS_RESERVE_BLOCK(res, p, &ap, BLOCK);
  ck_assert_int_eq(res, MPS_RES_OK);
  MPS_RESERVE_BLOCK(res, q, &ap, BLOCK);
  ck_assert_int_eq(res, MPS_RES_OK);
  ck_assert_ptr_eq(p, q);
  ck_assert(mps_commit(&ap, p, 2 * BLOCK));
  ck_assert_ptr_eq(ap.init, memory + 2 * BLOCK);
}
END_TEST

START_TEST(trapped_commit) {
  mps_ap_s ap;
  mps_addr_t p;
  make_ap(&ap);
  ck_assert_int_eq(mps_reserve(&p, &ap, BLOCK), MPS_RES_OK);
  ap.limit = NULL;
  ck_assert_int_eq(mps_commit(&ap, p, BLOCK), 1);
  ck_assert_int_eq(mps_commit(&ap, p, BLOCK), 0);
  ck_assert_uint_eq(trips, 2);
}
END_TEST

/* Where the client keeps the block in a pointer of its own type. */
START_TEST(reserve_in_typed_pointer) {
  struct pair {
    mps_word_t head, tail;
  } *pair = NULL;
  mps_ap_s ap;
  make_ap(&ap);
  do {
    ck_assert(!mps_reserve((mps_addr_t *)&pair, &ap, sizeof *pair));
    pair->head = pair->tail = 1;
  } while (!mps_commit(&ap, pair, sizeof *pair));
  ck_assert_ptr_eq(pair, memory);
}
END_TEST

/* ---- Fixing ---- */

enum { ZONE_SHIFT = 12, ZONES = 8 };
#define WINDOW ((mps_word_t)5 << 20) /* nothing need be there */

static unsigned char zones[ZONES];
static unsigned fixes;
static mps_res_t fix_result;

mps_res_t _mps_fix2(mps_ss_t ss, mps_addr_t *ref_io) {
  ck_assert_ptr_nonnull(ss);
  ++fixes;
  if (fix_result == MPS_RES_OK)
    *ref_io = (char *)*ref_io + WORD;
  return fix_result;
}

/* Zones 1 and 3 are white, 3 with old blocks; 2 and 4 are of ages 0 and 6;
   0 and the rest are empty. */
static void make_ss(mps_ss_t ss) {
  memset(zones, 0, sizeof zones);
  zones[1] = 0x80;
  zones[2] = 0x01;
  zones[3] = 0x80 | 0x04;
  zones[4] = 0x40;
  ss->_base = WINDOW;
  ss->_size = (mps_word_t)ZONES << ZONE_SHIFT;
  ss->_zones = zones;
  ss->_shift = ZONE_SHIFT;
  ss->_seen = 0;
  fixes = 0;
  fix_result = MPS_RES_OK;
}

static mps_word_t in_zone(unsigned zone, unsigned offset) {
  return WINDOW + ((mps_word_t)zone << ZONE_SHIFT) + offset;
}

static mps_bool_t fix1(mps_ss_t ss, mps_word_t word) {
  mps_bool_t interesting;
  MPS_SCAN_BEGIN(ss) {
    interesting = MPS_FIX1(ss, word);
    ck_assert_int_eq(MPS_FIX1(ss, (mps_addr_t)word), interesting);
  }
  MPS_SCAN_END(ss);
  return interesting;
}

START_TEST(fix1_by_zone) {
  static const unsigned offsets[] = {0, 1, 7, 8, (1 << ZONE_SHIFT) - 1};
  mps_ss_s ss;
  make_ss(&ss);
  for (unsigned zone = 0; zone < ZONES; ++zone) {
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; ++i) {
      ss._seen = 0;
      ck_assert_int_eq(fix1(&ss, in_zone(zone, offsets[i])),
                       zone == 1 || zone == 3);
      ck_assert_uint_eq(ss._seen, zones[zone] & 0x80 ? 0 : zones[zone]);
    }
  }
}
END_TEST

START_TEST(fix1_of_any_word) {
  mps_ss_s ss;
  make_ss(&ss);
  memset(zones, 0x80, sizeof zones);
  ck_assert(!fix1(&ss, 0));
  ck_assert(!fix1(&ss, 1));
  ck_assert(!fix1(&ss, WINDOW - 1));
  ck_assert(fix1(&ss, WINDOW));
  ck_assert(fix1(&ss, in_zone(ZONES, 0) - 1));
  ck_assert(!fix1(&ss, in_zone(ZONES, 0)));
  ck_assert(!fix1(&ss, ~(mps_word_t)0));
  ck_assert(!fix1(&ss, WINDOW | ~(~(mps_word_t)0 >> 1)));
  ss._size = 0;
  ck_assert(!fix1(&ss, WINDOW));
  ck_assert_uint_eq(ss._seen, 0);
}
END_TEST

START_TEST(seen_adds_up) {
  mps_ss_s ss;
  make_ss(&ss);
  ss._seen = 0x20;
  ck_assert(!fix1(&ss, in_zone(2, 16)));
  ck_assert(!fix1(&ss, in_zone(4, 16)));
  ck_assert(fix1(&ss, in_zone(3, 16)));
  ck_assert_uint_eq(ss._seen, 0x61);
}
END_TEST

START_TEST(fix1_evaluates_once) {
  mps_ss_s ss;
  mps_word_t words[2] = {in_zone(1, 0), in_zone(2, 0)}, *next = words;
  mps_ss_s *states[4] = {&ss, &ss, &ss, &ss}, **state = states;
  make_ss(&ss);
  MPS_SCAN_BEGIN(*state++) {
    ck_assert(MPS_FIX1(*state++, *next++));
    ck_assert(!MPS_FIX1(*state++, *next++));
  }
  MPS_SCAN_END(*state++);
  ck_assert_ptr_eq(next, words + 2);
  ck_assert_ptr_eq(state, states + 4);
}
END_TEST

START_TEST(fix2_and_fix12) {
  mps_ss_s ss;
  mps_addr_t white = (mps_addr_t)in_zone(1, 0);
  mps_addr_t old = (mps_addr_t)in_zone(2, 0), ref = white;
  make_ss(&ss);
  MPS_SCAN_BEGIN(&ss) {
    ck_assert_int_eq(MPS_FIX12(&ss, &ref), MPS_RES_OK);
    ck_assert_ptr_eq(ref, (char *)white + WORD);
    ref = old;
    ck_assert_int_eq(MPS_FIX(&ss, &ref), MPS_RES_OK);
    ck_assert_ptr_eq(ref, old);
    ck_assert_uint_eq(fixes, 1);
    ck_assert_int_eq(MPS_FIX2(&ss, &ref), MPS_RES_OK);
    ck_assert_ptr_eq(ref, (char *)old + WORD);
    fix_result = MPS_RES_MEMORY;
    ref = white;
    ck_assert_int_eq(MPS_FIX12(&ss, &ref), MPS_RES_MEMORY);
    ck_assert_int_eq(MPS_FIX2(&ss, &ref), MPS_RES_MEMORY);
    ck_assert_ptr_eq(ref, white);
  }
  MPS_SCAN_END(&ss);
  ck_assert_uint_eq(fixes, 4);
}
END_TEST

/* A scanner as clients write them: a bracket inside a loop and a loop inside
   a bracket, continue and break in both, a helper with its own bracket. */
static mps_res_t scan_one(mps_ss_t ss, mps_addr_t *ref) {
  MPS_SCAN_BEGIN(ss) {
    if (*ref == NULL)
      return MPS_RES_OK;
    mps_res_t res = MPS_FIX12(ss, ref);
    if (res != MPS_RES_OK)
      return res;
  }
  MPS_SCAN_END(ss);
  return MPS_RES_OK;
}

static mps_res_t scan_words(mps_ss_t ss, mps_addr_t *base, mps_addr_t *limit) {
  for (; base < limit; ++base) {
    mps_res_t res = MPS_RES_OK;
    MPS_SCAN_BEGIN(ss) {
      if (((mps_word_t)*base & 7) != 0)
        continue; /* leaves the bracket only */
      for (unsigned i = 0; i < 3; ++i) {
        if (i == 0)
          continue;
        if (i == 2)
          break;
        MPS_FIX_CALL(ss, res = scan_one(ss, base));
      }
      if (res != MPS_RES_OK)
        return res;
    }
    MPS_SCAN_END(ss);
  }
  return MPS_RES_OK;
}

START_TEST(brackets) {
  mps_ss_s ss;
  mps_addr_t words[] = {NULL,
                        (mps_addr_t)in_zone(1, 8),
                        (mps_addr_t)in_zone(1, 9),
                        (mps_addr_t)in_zone(2, 0),
                        (mps_addr_t)in_zone(3, 0),
                        (mps_addr_t)in_zone(4, 0)};
  size_t n = sizeof words / sizeof words[0];
  make_ss(&ss);
  ck_assert_int_eq(scan_words(&ss, words, words + n), MPS_RES_OK);
  ck_assert_uint_eq(fixes, 2);
  ck_assert_uint_eq(ss._seen, 0x41);
  ck_assert_ptr_eq(words[1], (mps_addr_t)(in_zone(1, 8) + WORD));
  ck_assert_ptr_eq(words[2], (mps_addr_t)in_zone(1, 9));
  fix_result = MPS_RES_MEMORY;
  ck_assert_int_eq(scan_words(&ss, words, words + n), MPS_RES_MEMORY);
  ck_assert_uint_eq(fixes, 3);
}
END_TEST

/* ---- Segregated allocation caches ---- */

static unsigned sac_fills, sac_empties;

mps_res_t mps_sac_fill(mps_addr_t *p_o, mps_sac_t sac, size_t size,
                       mps_bool_t unused) {
  (void)sac;
  (void)size;
  (void)unused;
  ++sac_fills;
  *p_o = NULL;
  return MPS_RES_MEMORY;
}

void mps_sac_empty(mps_sac_t sac, mps_addr_t p, size_t size) {
  (void)sac;
  (void)p;
  (void)size;
  ++sac_empties;
}

/* Two classes, of two blocks and of one. */
static void make_sac(mps_sac_t sac) {
  memset(sac, 0, sizeof *sac);
  sac->_lists[0]._size = 16;
  sac->_lists[0]._count_max = 2;
  sac->_lists[1]._size = 64;
  sac->_lists[1]._count_max = 1;
  sac->_lists[2]._size = (size_t)-1;
  sac_fills = sac_empties = 0;
}

START_TEST(sac_is_a_stack) {
  _mps_sac_s sac;
  mps_addr_t p;
  mps_res_t res;
  make_sac(&sac);
  MPS_SAC_FREE_FAST(&sac, memory, 16);
  MPS_SAC_FREE(&sac, memory + 16, 1);
  MPS_SAC_FREE(&sac, memory + 64, 17);
  ck_assert_uint_eq(sac_empties, 0);
  MPS_SAC_FREE(&sac, memory + 32, 9);
  MPS_SAC_FREE(&sac, memory + 128, 64);
  ck_assert_uint_eq(sac_empties, 2);
  MPS_SAC_ALLOC(res, p, &sac, 60, 0);
  ck_assert(res == MPS_RES_OK && p == memory + 64);
  MPS_SAC_ALLOC_FAST(res, p, &sac, 9, 0);
  ck_assert(res == MPS_RES_OK && p == memory + 16);
  MPS_SAC_ALLOC_FAST(res, p, &sac, 16, 0);
  ck_assert(res == MPS_RES_OK && p == memory);
  ck_assert_uint_eq(sac_fills, 0);
  MPS_SAC_ALLOC_FAST(res, p, &sac, 16, 0);
  ck_assert(res == MPS_RES_MEMORY && p == NULL);
  ck_assert_uint_eq(sac_fills, 1);
  ck_assert_uint_eq(sac._lists[0]._count + sac._lists[1]._count, 0);
}
END_TEST

START_TEST(sac_has_no_class) {
  _mps_sac_s sac;
  mps_addr_t p;
  mps_res_t res;
  make_sac(&sac);
  if (memory[0] == 0)
    MPS_SAC_ALLOC(res, p, &sac, (size_t)-1, 0);
  else
    MPS_SAC_ALLOC(res, p, &sac, 65, 0);
  ck_assert_int_eq(res, MPS_RES_MEMORY);
  MPS_SAC_FREE(&sac, memory, 65);
  MPS_SAC_FREE(&sac, memory, (size_t)-1);
  ck_assert_uint_eq(sac_fills, 1);
  ck_assert_uint_eq(sac_empties, 2);
}
END_TEST

SUITE_MAIN("macros", 60, initialisers, result_list, message_types, old_names,
           platform, lists_nest, lists_of_all_sorts, reserve_and_commit,
           reserve_goes_to_fill, second_reserve_extends, trapped_commit,
           reserve_in_typed_pointer, fix1_by_zone, fix1_of_any_word,
           seen_adds_up, fix1_evaluates_once, fix2_and_fix12, brackets,
           sac_is_a_stack, sac_has_no_class)
