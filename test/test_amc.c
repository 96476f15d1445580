/* Testudo: tests of the mostly-copying pools (interface, sections 4.1, 4.2).
   SPDX-License-Identifier: BSD-2-Clause */
#include "test/ambiguous.h"
#include "test/objects.h"
#include "test/random.h"
#include "test/suite.h"

/* ---- movement ---- */

static void check_moves(mps_pool_class_t cls, size_t header) {
  mps_addr_t before[ROOTS];
  mps_word_t collections;
  obj_header = header;
  heap_start(cls);
  for (size_t i = 0; i < ROOTS; ++i)
    table[i] = numbered(i);
  mps_arena_park(arena);
  collections = mps_collections(arena);
  for (int round = 0; round < 4; ++round) {
    memcpy(before, table, sizeof table);
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
    for (size_t i = 0; i < ROOTS; ++i) {
      ck_assert_ptr_ne(table[i], before[i]);
      ck_assert_uint_eq(number_of(table[i]), i);
    }
  }
  ck_assert_uint_eq(mps_collections(arena), collections + 4);
  heap_stop();
}

START_TEST(test_all_move) {
  check_moves(mps_class_amc(), 0);
}
END_TEST

START_TEST(test_all_move_header) {
  check_moves(mps_class_amc(), 2 * WORD);
}
END_TEST

START_TEST(test_all_move_leaf) {
  check_moves(mps_class_amcz(), WORD);
}
END_TEST

START_TEST(test_leaf_not_scanned) {
  heap_start(mps_class_amcz());
  table[0] = node(10);
  *obj_ref(table[0], 3) = (mps_addr_t)(mps_word_t)0x1234560;
  *obj_ref(table[0], 4) = table[0]; /* not a reference any more when moved */
  obj_scans = 0;
  collect();
  ck_assert_uint_eq(obj_scans, 0);
  ck_assert_ptr_ne(*obj_ref(table[0], 4), table[0]);
  heap_stop();
}
END_TEST

/* An object of a leaf pool that is reserved across a flip is committed. */
START_TEST(test_leaf_never_trapped) {
  mps_addr_t p;
  size_t size = obj_bytes(2);
  heap_start(mps_class_amcz());
  table[0] = numbered(0);
  for (int i = 0; i < 5; ++i) {
    ck_assert_int_eq(mps_reserve(&p, ap, size), MPS_RES_OK);
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
    *(mps_word_t *)p = size << 3 | OBJ_NODE;
    ck_assert(mps_commit(ap, p, size));
    table[1 + i] = p;
    *obj_ref(p, 0) = (mps_addr_t)(mps_word_t)(4 * i + 1);
  }
  collect();
  for (int i = 0; i < 5; ++i)
    ck_assert_uint_eq(number_of(table[1 + i]), (size_t)i);
  heap_stop();
}
END_TEST

/* In the other pools the block is void, and the point goes on. */
START_TEST(test_trapped) {
  mps_addr_t p;
  size_t size = obj_bytes(2);
  heap_start(mps_class_amc());
  table[0] = numbered(0);
  for (int i = 0; i < 5; ++i) {
    ck_assert_int_eq(mps_reserve(&p, ap, size), MPS_RES_OK);
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
    for (size_t j = 1; j < 200; ++j) /* what the block's memory might become */
      table[j] = obj_on(ap == NULL ? NULL : point(pool), OBJ_NODE, 2);
    memset(p, 0xAB, size);
    *(mps_word_t *)p = size << 3 | OBJ_NODE;
    ck_assert(!mps_commit(ap, p, size));
    table[200 + i] = numbered((size_t)i);
    collect();
    ck_assert_uint_eq(number_of(table[200 + i]), (size_t)i);
    for (size_t j = 1; j < 200; ++j)
      ck_assert_uint_eq(obj_size(table[j]), size);
  }
  mps_arena_park(arena);
}
END_TEST

/* What is allocated while a collection runs survives it. */
static void check_during(mps_pool_class_t cls) {
  mps_addr_t kept;
  heap_start(cls);
  for (size_t i = 0; i < 200; ++i)
    table[i] = node(1000);
  for (int round = 0; round < 5; ++round) {
    kept = numbered(1000 + (size_t)round);
    table[500] = kept;
    mps_arena_pause_time_set(arena, 0.0);
    ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
    for (size_t i = 0; i < 3000; ++i)
      table[600 + i % 100] = numbered(i);
    for (size_t i = 2900; i < 3000; ++i)
      ck_assert_uint_eq(number_of(table[600 + i % 100]), i);
    mps_arena_park(arena);
    tdo_arena_check(arena);
    for (size_t i = 2900; i < 3000; ++i)
      ck_assert_uint_eq(number_of(table[600 + i % 100]), i);
    mps_arena_release(arena);
    ck_assert_uint_eq(number_of(table[500]), 1000 + (size_t)round);
  }
  heap_stop();
}

START_TEST(test_allocated_during) {
  check_during(mps_class_amc());
}
END_TEST

START_TEST(test_allocated_during_leaf) {
  check_during(mps_class_amcz());
}
END_TEST

/* ---- pinning ---- */

/* Does an ambiguous word at OFFSET from the client pointer keep an object of
   a pool of CLS? And if so, does it stay in place? */
static void check_pin(mps_pool_class_t cls, size_t header, bool interior,
                      ptrdiff_t offset, bool pins) {
  mps_pool_t p;
  mps_ap_t q;
  mps_addr_t before, obj;
  size_t total;
  obj_header = header;
  heap_start(mps_class_amc());
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
    MPS_ARGS_ADD(args, MPS_KEY_CHAIN, chain);
    MPS_ARGS_ADD(args, MPS_KEY_INTERIOR, interior);
    ck_assert_int_eq(mps_pool_create_k(&p, arena, cls, args), MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  q = point(p);
  ambiguous();
  mps_arena_park(arena);
  table[0] = obj_on(q, OBJ_NODE, 6); /* a neighbour on either side */
  before = obj = obj_on(q, OBJ_NODE, 6);
  *obj_ref(obj, 0) = (mps_addr_t)(4 * 77 + 1);
  table[1] = obj_on(q, OBJ_NODE, 6);
  words[0] = (char *)obj + offset;
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  total = mps_pool_total_size(p);
  ck_assert_uint_gt(total, 0);
  if (pins) {
    mps_addr_t found;
    ck_assert_int_eq(mps_addr_object(&found, arena, before), MPS_RES_OK);
    ck_assert_ptr_eq(found, before);
    ck_assert_uint_eq(number_of(before), 77);
    /* Neighbours moved away. */
    ck_assert_ptr_ne(table[0], (char *)before - obj_size(before));
  } else {
    mps_addr_t found;
    if (mps_addr_object(&found, arena, before) == MPS_RES_OK)
      ck_assert(found != before || obj_kind(found) != OBJ_NODE ||
                number_of(found) != 77);
  }
  /* Again, now that pads surround it; then without the word. */
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  if (pins)
    ck_assert_uint_eq(number_of(before), 77);
  ck_assert_uint_eq(obj_size(table[0]), obj_bytes(6));
  unambiguous();
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  mps_ap_destroy(q);
  mps_pool_destroy(p);
  heap_stop();
}

START_TEST(test_pin) {
  mps_pool_class_t cls[] = {mps_class_amc(), mps_class_amcz()};
  static const size_t headers[] = {0, WORD, 2 * WORD};
  mps_pool_class_t c = cls[_i % 2];
  size_t h = headers[_i / 2];
  ptrdiff_t size = 0;
  obj_header = h;
  size = (ptrdiff_t)obj_bytes(6);
  check_pin(c, h, true, 0, true);
  check_pin(c, h, true, -(ptrdiff_t)h, true); /* base */
  check_pin(c, h, true, 1, true);
  check_pin(c, h, true, size - (ptrdiff_t)h - 1, true); /* last byte */
  check_pin(c, h, true, size - (ptrdiff_t)h, false);
  check_pin(c, h, true, -(ptrdiff_t)h - 1, false);
  check_pin(c, h, false, 0, true);
  check_pin(c, h, false, WORD - 1, true); /* the same alignment unit */
  check_pin(c, h, false, WORD, false);
  check_pin(c, h, false, -1, false);
}
END_TEST

/* Dead neighbours get pads, live ones move, a reference to the pinned object
   is not changed, and one within it is. */
START_TEST(test_neighbours) {
  mps_addr_t pinned;
  heap_start(mps_class_amc());
  ambiguous();
  mps_arena_park(arena);
  for (size_t i = 0; i < 90; ++i)
    table[i] = numbered(i);
  pinned = table[45];
  *obj_ref(table[45], 1) = table[44];
  *obj_ref(table[0], 1) = pinned;
  for (size_t i = 1; i < 90; i += 2)
    table[i] = NULL;
  words[2] = pinned;
  obj_pads = 0;
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
  ck_assert_uint_gt(obj_pads, 0);
  ck_assert_ptr_eq(*obj_ref(table[0], 1), pinned);
  ck_assert_ptr_eq(*obj_ref(pinned, 1), table[44]);
  ck_assert_uint_eq(number_of(pinned), 45);
  for (size_t i = 0; i < 90; i += 2)
    ck_assert_uint_eq(number_of(table[i]), i);
  tdo_arena_check(arena);
  unambiguous();
  heap_stop();
}
END_TEST

/* Random pins, many rounds: nothing is lost, nothing pinned moves. */
START_TEST(test_random_pins) {
  static mps_addr_t pins[200];
  mps_root_t root;
  random_start();
  heap_start(mps_class_amc());
  ck_assert_int_eq(mps_root_create_area(&root, arena, mps_rank_ambig(), 0,
                                        pins, pins + 200, mps_scan_area, NULL),
                   MPS_RES_OK);
  for (size_t i = 0; i < ROOTS; ++i)
    table[i] = numbered(i);
  for (int round = 0; round < 60; ++round) {
    mps_arena_clamp(arena);
    for (size_t i = 0; i < 200; ++i) {
      mps_addr_t obj = table[random_below(ROOTS)];
      pins[i] = (char *)obj + random_below(obj_size(obj));
    }
    for (size_t i = 0; i < 100; ++i) {
      size_t at = random_below(ROOTS);
      table[at] = node(2 + random_below(50));
      *obj_ref(table[at], 0) = (mps_addr_t)(at << 2 | 1);
      *obj_ref(table[at], 1) = table[random_below(ROOTS)];
    }
    mps_arena_release(arena);
    if (round % 3 == 0) {
      collect();
    } else {
      (void)mps_arena_start_collect(arena);
      for (size_t i = 0; i < 2000; ++i)
        (void)numbered(i);
    }
    for (size_t i = 0; i < ROOTS; ++i)
      REQUIRE(number_of(table[i]) == i);
  }
  mps_root_destroy(root);
  heap_stop();
}
END_TEST

/* ---- sizes ---- */

static void check_sizes(size_t refs) {
  heap_start(mps_class_amc());
  table[0] = node(refs);
  table[1] = numbered(5);
  for (size_t i = 0; i < refs; i += 97)
    *obj_ref(table[0], i) = table[1];
  for (int round = 0; round < 5; ++round) {
    collect();
    ck_assert_uint_eq(obj_refs(table[0]), refs);
    for (size_t i = 0; i < refs; ++i)
      REQUIRE(*obj_ref(table[0], i) == (i % 97 == 0 ? table[1] : NULL));
    table[1] = numbered(6 + (size_t)round); /* young, in an old one */
    for (size_t i = 0; i < refs; i += 97)
      *obj_ref(table[0], i) = table[1];
    for (size_t i = 0; i < 6000; ++i)
      (void)numbered(i);
    ck_assert_uint_eq(number_of(*obj_ref(table[0], 0)), 6 + (size_t)round);
    ck_assert_ptr_eq(*obj_ref(table[0], 97 * (refs / 98)), table[1]);
  }
  table[0] = NULL;
  mps_ap_destroy(ap); /* it may have a buffer, and a segment for that */
  collect();
  ck_assert_uint_lt(mps_pool_total_size(pool),
                    refs * WORD + suite_pages(20000));
  ap = point(pool);
  heap_stop();
}

START_TEST(test_large) {
  static const size_t refs[] = {500, 4000, 5000, 20000, 300000};
  check_sizes(refs[_i]);
}
END_TEST

START_TEST(test_pinned_large) {
  mps_addr_t large;
  heap_start(mps_class_amc());
  ambiguous();
  table[1] = numbered(9);
  mps_arena_park(arena);
  large = node(20000);
  *obj_ref(large, 19999) = table[1];
  words[0] = obj_ref(large, 12345);
  for (int i = 0; i < 3; ++i) {
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
    ck_assert_ptr_eq(*obj_ref(large, 19999), table[1]);
  }
  unambiguous();
  heap_stop();
}
END_TEST

/* It grows old there, too: minor collections do not look at it for ever. */
START_TEST(test_old_large) {
  mps_message_type_t type = mps_message_type_gc();
  size_t size = 1 << 20, collections = 0, least = SIZE_MAX;
  heap_start(_i ? mps_class_amcz() : mps_class_amc());
  ambiguous();
  mps_message_type_enable(arena, type);
  words[0] = (char *)obj_on(ap, _i ? OBJ_LEAF : OBJ_NODE, size / WORD) +
             size / 2;
  while (collections < 20) {
    mps_message_t m;
    table[0] = numbered(collections);
    while (mps_message_get(&m, arena, type)) {
      size_t condemned = mps_message_gc_condemned_size(arena, m);
      least = condemned < least ? condemned : least;
      ++collections;
      mps_message_discard(arena, m);
    }
  }
  if (!suite_stressed()) /* else all are of everything */
    ck_assert_uint_lt(least, size);
  unambiguous();
  heap_stop();
}
END_TEST

/* So do small ones that stay pinned, if there are many: each minor collection
   scanned them all. */
START_TEST(test_old_pinned) {
  enum { PINNED = 20000, ROUNDS = 60 };
  static mps_addr_t pinned[PINNED];
  mps_message_type_t type = mps_message_type_gc();
  size_t collections = 0, least = SIZE_MAX, bytes = 0;
  mps_root_t root;
  heap_start(_i ? mps_class_amcz() : mps_class_amc());
  ck_assert_int_eq(mps_root_create_area(&root, arena, mps_rank_ambig(), 0,
                                        pinned, pinned + PINNED, mps_scan_area,
                                        NULL),
                   MPS_RES_OK);
  for (size_t i = 0; i < PINNED; ++i) {
    pinned[i] = _i ? obj_on(ap, OBJ_LEAF, 16) : numbered(i);
    bytes += obj_size(pinned[i]);
  }
  mps_message_type_enable(arena, type);
  while (collections < ROUNDS) {
    mps_message_t m;
    table[0] = _i ? obj_on(ap, OBJ_LEAF, 2) : numbered(collections);
    if (!mps_message_get(&m, arena, type))
      continue;
    if (++collections > ROUNDS / 2) {
      size_t live = mps_message_gc_live_size(arena, m);
      least = live < least ? live : least;
    }
    mps_message_discard(arena, m);
  }
  if (!suite_stressed())
    ck_assert_uint_lt(least, bytes);
  for (size_t i = 0; i < PINNED && !_i; ++i)
    ck_assert_uint_eq(number_of(pinned[i]), i);
  mps_root_destroy(root);
  heap_stop();
}
END_TEST

START_TEST(test_keys) {
  static const size_t extend[] = {1, 4096, 100000};
  mps_pool_t p;
  for (int i = 0; i < 3; ++i) {
    heap_start(mps_class_amc());
    MPS_ARGS_BEGIN(args) {
      MPS_ARGS_ADD(args, MPS_KEY_FORMAT, fmt);
      MPS_ARGS_ADD(args, MPS_KEY_EXTEND_BY, extend[i]);
      if (i == 1)
        MPS_ARGS_ADD(args, MPS_KEY_LARGE_SIZE, 1 << 20);
      ck_assert_int_eq(mps_pool_create_k(&p, arena, mps_class_amc(), args),
                       MPS_RES_OK);
      ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
    }
    MPS_ARGS_END(args);
    mps_ap_t q = point(p);
    for (size_t j = 0; j < 1000; ++j)
      table[j] = obj_on(q, OBJ_NODE, j);
    collect();
    for (size_t j = 0; j < 1000; ++j)
      ck_assert_uint_eq(obj_size(table[j]), obj_bytes(j));
    mps_arena_park(arena);
    mps_ap_destroy(q);
    mps_pool_destroy(p);
    heap_stop();
  }
}
END_TEST

START_TEST(test_hash_arrays_and_gen) {
  mps_ap_t q[3];
  heap_start(mps_class_amc());
  for (unsigned g = 0; g < 3; ++g)
    MPS_ARGS_BEGIN(args) {
      MPS_ARGS_ADD(args, MPS_KEY_GEN, g);
      MPS_ARGS_ADD(args, MPS_KEY_AP_HASH_ARRAYS, g == 1);
      ck_assert_int_eq(mps_ap_create_k(&q[g], pool, args), MPS_RES_OK);
      ck_assert_ptr_eq(args[0].key, MPS_KEY_ARGS_END);
    }
  MPS_ARGS_END(args);
  for (size_t i = 0; i < 20000; ++i) {
    table[i % 300] = obj_on(q[i % 3], OBJ_NODE, 2);
    *obj_ref(table[i % 300], 0) = (mps_addr_t)(i << 2 | 1);
    *obj_ref(table[i % 300], 1) = table[(i + 1) % 300];
  }
  for (size_t i = 20000 - 300; i < 20000; ++i)
    ck_assert_uint_eq(number_of(table[i % 300]), i);
  for (int i = 0; i < 3; ++i)
    mps_ap_destroy(q[i]);
  heap_stop();
}
END_TEST

/* ---- alignment of one byte ----

   A byte string: its length plus one in two bytes, then its bytes. A length of
   0xFFFF: forwarding, with the address behind it; pads of one byte are 0xFE,
   longer ones 0xFD and their size. */

enum { BYTE_LEAST = 2 + WORD };

static size_t byte_size(const unsigned char *p) {
  size_t size;
  switch (p[0]) {
  case 0xFE:
    return 1;
  case 0xFD:
    memcpy(&size, p + 1, WORD);
    return size;
  case 0xFC: /* short pads */
    return p[1];
  default:
    return (size_t)p[0] % 128 + BYTE_LEAST;
  }
}

static mps_addr_t byte_skip(mps_addr_t p) {
  return (char *)p + byte_size(p);
}

static void byte_fwd(mps_addr_t old, mps_addr_t new) {
  unsigned char *p = old;
  p[1] = 0xFF;
  memcpy(p + 2, &new, WORD);
}

static mps_addr_t byte_isfwd(mps_addr_t p) {
  unsigned char *q = p;
  mps_addr_t new = NULL;
  if (q[0] < 0xFC && q[1] == 0xFF)
    memcpy(&new, q + 2, WORD);
  return new;
}

static void byte_pad(mps_addr_t base, size_t size) {
  unsigned char *p = base;
  if (size == 1) {
    p[0] = 0xFE;
  } else if (size < 1 + WORD) {
    p[0] = 0xFC;
    p[1] = (unsigned char)size;
  } else {
    p[0] = 0xFD;
    memcpy(p + 1, &size, WORD);
  }
}

START_TEST(test_byte_alignment) {
  mps_fmt_t f;
  mps_pool_t p;
  mps_ap_t q;
  heap_start(mps_class_amc());
  ambiguous();
  f = bytes_format(byte_skip, byte_fwd, byte_isfwd, byte_pad);
  CREATE(p, mps_class_amcz(), FORMAT, f);
  q = point(p);
  for (int round = 0; round < 10; ++round) {
    for (size_t i = 0; i < ROOTS; ++i) {
      size_t n = i % 100;
      unsigned char *s = (unsigned char *)make(q, n + BYTE_LEAST);
      s[0] = (unsigned char)n;
      memset(s + 1, (int)(i % 200), n + BYTE_LEAST - 1);
      table[i] = s;
      if (i % 50 == (size_t)round)
        words[i / 50 % 4] = s + n;
    }
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
    for (size_t i = 0; i < ROOTS; ++i) {
      unsigned char *s = table[i];
      size_t n = i % 100;
      REQUIRE(s[0] == n);
      for (size_t j = 1; j < n + BYTE_LEAST; ++j)
        REQUIRE(s[j] == i % 200);
    }
    mps_arena_release(arena);
  }
  memset(table, 0, sizeof table);
  unambiguous();
  mps_arena_park(arena);
  mps_ap_destroy(q);
  mps_pool_destroy(p);
  mps_fmt_destroy(f);
  heap_stop();
}
END_TEST

/* ---- little memory ---- */

static void limited(size_t limit) {
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_COMMIT_LIMIT, limit);
    MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, 16 << 20);
    ck_assert_int_eq(mps_arena_create_k(&arena, mps_arena_class_vm(), args),
                     MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  asserted_start();
  heap_in_arena(mps_class_amc());
}

/* 1 MiB: live data of a fifth of that, and endless garbage. */
START_TEST(test_one_mebibyte) {
  limited(1 << 20);
  for (size_t i = 0; i < 200000; ++i) {
    table[i % 512] = node(40);
    *obj_ref(table[i % 512], 0) = (mps_addr_t)(i << 2 | 1);
    ck_assert_uint_le(mps_arena_committed(arena), 1 << 20);
  }
  for (size_t i = 200000 - 512; i < 200000; ++i)
    ck_assert_uint_eq(number_of(table[i % 512]), i);
  heap_stop();
}
END_TEST

/* When everything is alive, allocation fails, again and again, and nothing is
   lost; collections never fail; what is dropped can be had again. */
START_TEST(test_full) {
  mps_res_t res = MPS_RES_OK;
  mps_addr_t obj, list = NULL;
  size_t count = 0, seen;
  limited(1 << 20);
  while ((res = obj_try(&obj, ap, OBJ_NODE, 10)) == MPS_RES_OK) {
    *obj_ref(obj, 0) = table[0];
    table[0] = obj;
    ++count;
    REQUIRE(count < 100000);
  }
  ck_assert_int_eq(res, MPS_RES_COMMIT_LIMIT);
  ck_assert_uint_gt(count, 2000);
  for (int i = 0; i < 10; ++i) {
    ck_assert_int_eq(obj_try(&obj, ap, OBJ_NODE, 20000), MPS_RES_COMMIT_LIMIT);
    ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
    mps_arena_release(arena);
    tdo_arena_check(arena);
    ck_assert_uint_le(mps_arena_committed(arena), 1 << 20);
  }
  for (seen = 0, list = table[0]; list != NULL; list = *obj_ref(list, 0))
    ++seen;
  ck_assert_uint_eq(seen, count);
  /* Halve the list. */
  for (seen = 0, list = table[0]; seen < count / 2; ++seen)
    list = *obj_ref(list, 0);
  *obj_ref(list, 0) = NULL;
  for (size_t i = 0; i < 5 * count; ++i)
    ck_assert_int_eq(obj_try(&obj, ap, OBJ_NODE, 10), MPS_RES_OK);
  for (seen = 0, list = table[0]; list != NULL; list = *obj_ref(list, 0))
    ++seen;
  ck_assert_uint_eq(seen, count / 2 + 1);
  heap_stop();
}
END_TEST

/* Long lists and deep trees need no stack. */
START_TEST(test_long_list) {
  size_t seen = 0;
  heap_start(mps_class_amc());
  for (size_t i = 0; i < 200000; ++i) {
    mps_addr_t obj = node(1);
    *obj_ref(obj, 0) = table[0];
    table[0] = obj;
  }
  collect();
  for (mps_addr_t p = table[0]; p != NULL; p = *obj_ref(p, 0))
    ++seen;
  ck_assert_uint_eq(seen, 200000);
  heap_stop();
}
END_TEST

START_TEST(test_varargs) {
  mps_pool_t p;
  mps_ap_t q;
  heap_start(mps_class_amc());
  ck_assert_int_eq(mps_pool_create(&p, arena, mps_class_amc(), fmt, chain),
                   MPS_RES_OK);
  ck_assert_int_eq(mps_ap_create(&q, p, mps_rank_exact()), MPS_RES_OK);
  table[0] = obj_on(q, OBJ_NODE, 3);
  collect();
  mps_arena_park(arena);
  mps_ap_destroy(q);
  mps_pool_destroy(p);
  heap_stop();
}
END_TEST

SUITE_LOOPS_MAIN("amc", 60, {test_all_move, 1}, {test_all_move_header, 1},
                 {test_all_move_leaf, 1}, {test_leaf_not_scanned, 1},
                 {test_leaf_never_trapped, 1}, {test_trapped, 1},
                 {test_allocated_during, 1}, {test_allocated_during_leaf, 1},
                 {test_neighbours, 1}, {test_random_pins, 1},
                 {test_pinned_large, 1}, {test_old_large, 2},
                 {test_old_pinned, 2}, {test_keys, 1},
                 {test_hash_arrays_and_gen, 1}, {test_byte_alignment, 1},
                 {test_one_mebibyte, 1}, {test_full, 1}, {test_long_list, 1},
                 {test_varargs, 1}, {test_pin, 6}, {test_large, 5})
