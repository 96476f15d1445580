/* Testudo: tests of what is found by address in the mostly-copying pools, and
   of pads between objects that stay (interface, sections 2.6, 4.1 and 4.2).
   SPDX-License-Identifier: BSD-2-Clause */
#include "test/ambiguous.h"
#include "test/objects.h"
#include "test/suite.h"

/* One block of SIZE bytes, in a heap that is parked from now on. */
static mps_addr_t image(size_t size) {
  mps_addr_t p;
  mps_arena_park(arena);
  do {
    ck_assert_int_eq(mps_reserve(&p, ap, size), MPS_RES_OK);
    *(mps_word_t *)p = size << 3 | OBJ_LEAF;
  } while (!mps_commit(ap, p, size));
  return table[0] = p;
}

/* A memory image: one large block, cut into many objects while parked, each of
   which is found by any address in it: their offsets have 16 bits, or more. */
START_TEST(test_recut) {
  size_t pieces = _i == 0 ? 20000 : 50000;
  size_t piece = obj_bytes(2), size = pieces * piece;
  mps_addr_t p, found;
  char *q;
  heap_start(mps_class_amc());
  p = image(size);
  q = p;
  for (size_t i = 0; i < pieces; ++i, q += piece) {
    memset(q, 0, piece);
    *(mps_word_t *)(void *)q = piece << 3 | OBJ_NODE;
    *obj_ref(q, 0) = (mps_addr_t)(i << 2 | 1);
    *obj_ref(q, 1) = i + 1 < pieces ? q + piece : NULL;
  }
  for (size_t i = 0; i < pieces; ++i) { /* near and far in turn */
    size_t n = i % 2 == 0 ? i : pieces - i;
    q = (char *)p + n * piece;
    REQUIRE(mps_addr_object(&found, arena, q + n % piece) == MPS_RES_OK);
    REQUIRE(found == q);
  }
  ambiguous();
  words[0] = (char *)p + 100 * piece + 3;
  mps_arena_release(arena);
  for (int round = 0; round < 3; ++round) {
    size_t i = 0;
    collect();
    for (mps_addr_t o = table[0]; o != NULL; o = *obj_ref(o, 1), ++i) {
      REQUIRE(number_of(o) == i);
      REQUIRE(i != 100 || o == (char *)p + 100 * piece);
    }
    ck_assert_uint_eq(i, pieces);
  }
  unambiguous();
  heap_stop();
}
END_TEST

/* Cut SIZE bytes at P into nodes, each of which leads to the next: the first
   has FIRST references, others have REFS. */
static void cut(char *p, size_t size, size_t first, size_t refs) {
  size_t piece = obj_bytes(first);
  char *limit = p + size;
  memset(p, 0, size);
  for (size_t i = 0; p < limit; ++i, p += piece, piece = obj_bytes(refs)) {
    if ((size_t)(limit - p) < piece + obj_bytes(refs))
      piece = (size_t)(limit - p);
    *(mps_word_t *)(void *)p = piece << 3 | OBJ_NODE;
    *obj_ref(p, 0) = (mps_addr_t)(i << 2 | 1);
    *obj_ref(p, 1) = p + piece < limit ? p + piece : NULL;
  }
}

/* Every object from P on answers everywhere in it. */
static void check_cut(char *p, size_t size) {
  for (char *limit = p + size; p < limit; p += obj_size(p))
    for (size_t at = 0; at < obj_size(p); at += obj_size(p) / 5 + 1) {
      mps_addr_t found;
      REQUIRE(mps_addr_object(&found, arena, p + at) == MPS_RES_OK);
      REQUIRE(found == p);
    }
}

/* The list of objects from the root on is whole; what the words lead into has
   stayed. */
static void check_cut_list(void) {
  size_t i = 0, stay = 0;
  for (mps_addr_t o = table[0]; o != NULL; o = *obj_ref(o, 1), ++i) {
    REQUIRE(number_of(o) == i);
    for (size_t w = 0; w < WORDS; ++w)
      stay += (char *)words[w] >= (char *)o &&
              (char *)words[w] < (char *)obj_skip(o);
  }
  ck_assert_uint_eq(stay, WORDS);
}

/* The image is cut again, into objects that begin elsewhere, after some were
   looked for: also where the first one is as it was. Words that lead to the
   inside of objects pin them. */
START_TEST(test_cut_again) {
  static const size_t cuts[] = {2, 7, 3, 100, 5, 1000};
  enum { CUTS = sizeof cuts / sizeof cuts[0] };
  size_t size = 400000, refs = cuts[_i % CUTS];
  bool release = _i / CUTS % 2 == 1, same = _i / CUTS / 2 == 1;
  mps_addr_t p;
  heap_start(mps_class_amc());
  p = image(size);
  ambiguous();
  for (size_t i = 0; i < CUTS && !same; ++i) {
    cut(p, size, cuts[i], cuts[i]);
    check_cut(p, size);
  }
  if (same) {
    cut(p, size, 2, 4);
    check_cut(p, size);
  }
  cut(p, size, same ? 2 : refs, refs);
  for (size_t i = 0; i < WORDS; ++i)
    words[i] = (char *)p + size / (WORDS + 1) * (i + 1) + i;
  for (int round = 0; round < 3; ++round) {
    if (release) {
      mps_arena_release(arena);
      for (size_t i = 0; i < suite_size(3000, 30); ++i)
        table[1] = node(10);
      mps_arena_park(arena);
    } else {
      ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
    }
    check_cut_list();
  }
  unambiguous();
  heap_stop();
}
END_TEST

START_TEST(test_addr_object) {
  mps_addr_t obj, found, old;
  obj_header = 2 * WORD;
  heap_start(mps_class_amc());
  mps_arena_park(arena);
  table[0] = obj = numbered(3);
  for (size_t i = 0; i < obj_size(obj); ++i) {
    ck_assert_int_eq(mps_addr_object(&found, arena, (char *)obj_base(obj) + i),
                     MPS_RES_OK);
    ck_assert_ptr_eq(found, obj);
  }
  found = &found;
  ck_assert_int_eq(
      mps_addr_object(&found, arena, (char *)obj_base(obj) + obj_size(obj)),
      MPS_RES_FAIL);
  ck_assert_int_eq(mps_addr_object(&found, arena, NULL), MPS_RES_FAIL);
  ck_assert_int_eq(mps_addr_object(&found, arena, &found), MPS_RES_FAIL);
  ck_assert_ptr_eq(found, &found);
  old = obj;
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_int_eq(mps_addr_object(&found, arena, old), MPS_RES_FAIL);
  heap_stop();
}
END_TEST

/* What becomes pads between objects that stay answers no more, also when it
   becomes pads again; with a point's buffer behind it, and without. */
START_TEST(test_addr_pad) {
  enum { N = 1000 };
  static char *old[N];
  mps_pool_class_t cls[] = {mps_class_amc(), mps_class_amcz()};
  mps_addr_t found;
  heap_start(cls[_i % 2]);
  ambiguous();
  mps_arena_park(arena);
  for (size_t i = 0; i < N; ++i)
    old[i] = table[i] = numbered(i);
  if (_i / 2 == 0) {
    mps_ap_destroy(ap);
    ap = point(pool);
  }
  words[0] = old[10];
  words[1] = old[13] + 1;
  words[2] = old[250];
  for (int round = 0; round < 4; ++round) {
    for (size_t i = 0; i < N; i += 3)
      table[i] = NULL;
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
    for (size_t i = 0; i < N; ++i) {
      bool stays = i == 10 || i == 13 || i == 250;
      for (size_t at = 0; at < obj_size(old[10]); at += 5) {
        if (mps_addr_object(&found, arena, old[i] + at) == MPS_RES_OK)
          ck_assert_int_eq(obj_kind(found), OBJ_NODE);
        else
          ck_assert(!stays);
        ck_assert(!stays || found == old[i]);
      }
    }
  }
  unambiguous();
  heap_stop();
}
END_TEST

/* What is not free is in objects, or in what the point has yet to give out,
   also after a large one that ends within a grain. */
START_TEST(test_in_use) {
  mps_pool_class_t cls[] = {mps_class_amc(), mps_class_amcz()};
  size_t bytes = 0;
  heap_start(cls[_i]);
  mps_arena_park(arena);
  for (size_t refs = 1; refs < 40000; refs += refs / 2 + 1) {
    bytes += obj_size(node(refs));
    ck_assert_uint_eq(in_use(pool),
                      bytes + (size_t)((char *)ap->limit - (char *)ap->init));
  }
  heap_stop();
}
END_TEST

enum { PADDED = 64, PAD_FIRST = 11, PAD_LIMIT = 59 };

/* Nothing in the pads is an object. */
static void check_pads(char *const old[PADDED]) {
  for (size_t i = PAD_FIRST; i < PAD_LIMIT; ++i)
    for (size_t at = 0; at < obj_bytes(2); at += 5) {
      mps_addr_t found = NULL;
      REQUIRE(mps_addr_object(&found, arena, old[i] + at) == MPS_RES_FAIL);
    }
}

/* A word that leads into a pad pins nothing: no object is there, neither in the
   middle of that collection nor later; with a point's buffer behind it, and
   without. */
START_TEST(test_stale_pad) {
  mps_pool_class_t cls[] = {mps_class_amc(), mps_class_amcz()};
  char *old[PADDED];
  size_t collections;
  heap_start(cls[_i % 2]);
  ambiguous();
  mps_arena_park(arena);
  for (size_t i = 0; i < PADDED; ++i)
    old[i] = numbered(i);
  if (_i / 2 == 0) {
    mps_ap_destroy(ap);
    ap = point(pool);
  }
  words[0] = old[PAD_FIRST - 1];
  words[1] = old[PAD_LIMIT];
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  check_pads(old);
  words[2] = old[30];
  for (size_t i = 0; i < suite_size(ROOTS, 50); ++i) /* to be scanned later */
    table[i] = node(200);
  mps_arena_pause_time_set(arena, 0);
  collections = statistics().collections;
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  if (_i % 2 == 0 && !suite_varied())
    ck_assert_uint_eq(statistics().collections, collections);
  check_pads(old);
  mps_arena_park(arena);
  check_pads(old);
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  check_pads(old);
  unambiguous();
  heap_stop();
}
END_TEST

SUITE_LOOPS_MAIN("amc_addr", 60, {test_recut, 2}, {test_cut_again, 24},
                 {test_addr_object, 1}, {test_addr_pad, 4}, {test_in_use, 2},
                 {test_stale_pad, 4})
