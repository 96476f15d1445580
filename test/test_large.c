/* Testudo: blocks of more than 2 GiB, and of more than 4, in pools of every
   class: made, found, scanned, pinned, walked, cut, given back (interface,
   section 11.14). Few of their pages are ever touched.
   SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <sys/mman.h>
#include "mpscams.h"
#include "mpscawl.h"
#include "mpsclo.h"
#include "mpscmfs.h"
#include "mpscmvt.h"
#include "mpscsnc.h"
#include "test/objects.h"
#include "test/suite.h"

static const size_t LARGE = (size_t)2150 << 20;      /* 2.1 GiB */
static const size_t VAST = ((size_t)4608 << 20) + 8; /* 4.5 GiB */

static mps_addr_t pin[1]; /* an ambiguous root */
static mps_root_t pin_root;

/* A block of SIZE bytes, of which the first word is written. Its memory was
   never used before, so the rest is zero. */
static mps_res_t large(mps_addr_t *p_o, mps_ap_t on, unsigned kind,
                       size_t size) {
  mps_addr_t p;
  do {
    mps_res_t res = mps_reserve(&p, on, size);
    if (res != MPS_RES_OK)
      return res;
    *(mps_word_t *)p = size << 3 | kind;
  } while (!mps_commit(on, p, size));
  *p_o = p;
  return MPS_RES_OK;
}

static void furnish(mps_pool_class_t cls) {
  heap_start(cls);
  REQUIRE(mps_root_create_table(&pin_root, arena, mps_rank_ambig(), 0, pin,
                                1) == MPS_RES_OK);
}

static void clear(void) {
  pin[0] = NULL;
  mps_root_destroy(pin_root);
  heap_stop();
}

typedef struct seen {
  mps_addr_t large;
  size_t larges, bytes;
} seen_t;

static void see(mps_addr_t obj, mps_fmt_t f, mps_pool_t p, void *closure,
                size_t s) {
  seen_t *seen = closure;
  (void)f, (void)p, (void)s;
  seen->bytes += obj_size(obj);
  if (obj_size(obj) >= LARGE && obj_kind(obj) != OBJ_PAD) {
    seen->large = obj;
    ++seen->larges;
  }
}

/* What the library knows of the block at P. */
static void check_found(char *p, size_t size, bool moving) {
  mps_pool_t found = NULL;
  mps_fmt_t format = NULL;
  mps_addr_t base = NULL;
  seen_t seen = {NULL, 0, 0};
  for (size_t at = 0; at < size; at += size / 5 - 1) {
    ck_assert(mps_arena_has_addr(arena, p + at));
    ck_assert(mps_addr_pool(&found, arena, p + at) && found == pool);
    ck_assert(mps_addr_fmt(&format, arena, p + at) && format == fmt);
    ck_assert_int_eq(mps_addr_object(&base, arena, p + at),
                     moving ? MPS_RES_OK : MPS_RES_UNIMPL);
    ck_assert(!moving || base == p);
  }
  mps_arena_park(arena);
  mps_arena_formatted_objects_walk(arena, see, &seen, 0);
  mps_arena_release(arena);
  ck_assert_uint_eq(seen.larges, 1);
  ck_assert_ptr_eq(seen.large, p);
  ck_assert_uint_ge(seen.bytes, size);
  ck_assert_uint_ge(in_use(pool), size);
  ck_assert_uint_ge(mps_pool_total_size(pool), in_use(pool));
}

static mps_pool_class_t automatic_class(int i) {
  mps_pool_class_t classes[] = {mps_class_amc(), mps_class_amcz(),
                                mps_class_ams(), mps_class_awl(),
                                mps_class_lo()};
  return classes[i];
}
enum { AUTOMATIC = 5, MOVING = 2 };

static bool is_leaf(int i) {
  return i == 1 || i == 4;
}

/* Scanned to its last word, kept by any pointer that keeps, reclaimed. */
START_TEST(automatic) {
  mps_addr_t p, kept[3];
  mps_word_t *words;
  size_t last = LARGE / WORD - 1, slots[] = {1, last - last / 50, last};
  furnish(automatic_class(_i));
  mps_arena_spare_set(arena, 0.0);
  for (size_t i = 0; i < 3; ++i)
    kept[i] = table[i] = obj_on(ap, is_leaf(_i) ? OBJ_LEAF : OBJ_NODE, 1);
  ck_assert_int_eq(large(&p, ap, is_leaf(_i) ? OBJ_LEAF : OBJ_NODE, LARGE),
                   MPS_RES_OK);
  words = p;
  pin[0] = (char *)p + (_i < MOVING ? LARGE - 1 : 0);
  for (size_t i = 0; i < 3; ++i) {
    *obj_ref(kept[i], 0) = (mps_addr_t)(i << 2 | 1);
    words[slots[i]] = (mps_word_t)kept[i];
    if (!is_leaf(_i))
      table[i] = NULL;
  }
  check_found(p, LARGE, _i < MOVING);
  for (int round = 0; round < 2; ++round) {
    collect();
    ck_assert_uint_eq(obj_size(p), LARGE);
    for (size_t i = 0; i < 3; ++i)
      if (!is_leaf(_i))
        ck_assert_uint_eq(number_of((mps_addr_t)words[slots[i]]), i);
      else
        ck_assert_uint_eq(words[slots[i]], (mps_word_t)kept[i]);
  }
  check_found(p, LARGE, _i < MOVING);
  pin[0] = NULL;
  p = words = NULL;
  table[3] = node(1); /* there is always something to collect */
  collect();
  collect();
  ck_assert_uint_lt(in_use(pool), (size_t)1 << 20);
  ck_assert_uint_lt(mps_arena_committed(arena), (size_t)100 << 20);
  clear();
}
END_TEST

/* Without a pin, it may move: all of it. */
START_TEST(moved) {
  mps_addr_t p;
  mps_word_t *words;
  furnish(mps_class_amcz());
  ck_assert_int_eq(large(&p, ap, OBJ_LEAF, LARGE), MPS_RES_OK);
  table[0] = words = p;
  for (size_t i = 1; i < LARGE / WORD; i += LARGE / WORD / 7)
    words[i] = i;
  p = words = NULL;
  collect();
  words = table[0];
  for (size_t i = 1; i < LARGE / WORD; i += LARGE / WORD / 7)
    ck_assert_uint_eq(words[i], i);
  check_found(table[0], LARGE, true);
  words = NULL;
  clear();
}
END_TEST

/* Garbage of many times the commit limit: each is reclaimed in time. */
START_TEST(garbage) {
  mps_addr_t p = NULL;
  furnish(automatic_class(_i));
  ck_assert_int_eq(mps_arena_commit_limit_set(arena, 2 * LARGE), MPS_RES_OK);
  for (int i = 0; i < 6; ++i)
    ck_assert_int_eq(large(&p, ap, OBJ_LEAF, LARGE), MPS_RES_OK);
  pin[0] = p;
  p = &p;
  ck_assert_int_eq(large(&p, ap, OBJ_LEAF, LARGE), MPS_RES_COMMIT_LIMIT);
  ck_assert_ptr_eq(p, &p);
  ck_assert_uint_le(mps_arena_committed(arena), 2 * LARGE);
  clear();
}
END_TEST

/* Of the finest alignment, and more than 32 bits can count. */
START_TEST(bytes) {
  mps_pool_t fine;
  mps_fmt_t fine_fmt;
  mps_addr_t p, found = NULL;
  mps_ap_t fine_ap;
  furnish(mps_class_amcz());
  fine_fmt = bytes_format(obj_skip, obj_fwd, obj_isfwd, obj_pad);
  CREATE(fine, mps_class_amcz(), FORMAT, fine_fmt);
  fine_ap = point(fine);
  ck_assert_int_eq(large(&p, fine_ap, OBJ_LEAF, VAST), MPS_RES_OK);
  pin[0] = (char *)p + VAST - 1;
  collect();
  ck_assert_uint_eq(obj_size(p), VAST);
  for (size_t at = 0; at < VAST; at += VAST / 9 - 1) {
    ck_assert_int_eq(mps_addr_object(&found, arena, (char *)p + at),
                     MPS_RES_OK);
    ck_assert_ptr_eq(found, p);
  }
  mps_arena_park(arena);
  mps_ap_destroy(fine_ap);
  mps_pool_destroy(fine);
  mps_fmt_destroy(fine_fmt);
  mps_arena_release(arena);
  clear();
}
END_TEST

/* One block, which its owner cuts: each part lives by itself. */
START_TEST(cut) {
  enum { PARTS = 4 };
  size_t sizes[PARTS] = {LARGE, 4096, VAST - LARGE - 4096 - 64, 64};
  mps_addr_t p, parts[PARTS], found;
  furnish(_i == 0 ? mps_class_amc() : mps_class_amcz());
  mps_arena_park(arena);
  ck_assert_int_eq(large(&p, ap, OBJ_LEAF, VAST), MPS_RES_OK);
  for (size_t i = 0, at = 0; i < PARTS; at += sizes[i++]) {
    parts[i] = (char *)p + at;
    *(mps_word_t *)parts[i] = sizes[i] << 3 | OBJ_LEAF;
    ((mps_word_t *)parts[i])[sizes[i] / WORD - 1] = i;
  }
  for (size_t i = 0; i < PARTS; ++i) {
    ck_assert_int_eq(
        mps_addr_object(&found, arena, (char *)parts[i] + sizes[i] - 1),
        MPS_RES_OK);
    ck_assert_ptr_eq(found, parts[i]);
  }
  pin[0] = (char *)parts[2] + sizes[2] / 2;
  table[0] = parts[1];
  table[1] = parts[3];
  mps_arena_release(arena);
  collect();
  ck_assert_uint_eq(obj_size(parts[2]), sizes[2]);
  ck_assert_ptr_ne(table[1], parts[3]);
  for (size_t i = 0; i < 2; ++i) {
    ck_assert_uint_eq(obj_size(table[i]), sizes[2 * i + 1]);
    ck_assert_uint_eq(((mps_word_t *)table[i])[sizes[2 * i + 1] / WORD - 1],
                      2 * i + 1);
  }
  clear();
}
END_TEST

/* Small parts that begin beyond what 32 bits can count of the finest units are
   found by any address in them. */
START_TEST(cut_finely) {
  enum { PARTS = 3000, PART = 40 };
  mps_pool_t fine;
  mps_fmt_t fine_fmt;
  mps_addr_t p, found = NULL;
  mps_ap_t fine_ap;
  char *parts;
  furnish(mps_class_amcz());
  fine_fmt = bytes_format(obj_skip, obj_fwd, obj_isfwd, obj_pad);
  CREATE(fine, mps_class_amcz(), FORMAT, fine_fmt);
  fine_ap = point(fine);
  mps_arena_park(arena);
  ck_assert_int_eq(large(&p, fine_ap, OBJ_LEAF, VAST + PARTS * PART),
                   MPS_RES_OK);
  parts = (char *)p + VAST;
  *(mps_word_t *)p = VAST << 3 | OBJ_LEAF;
  for (size_t i = 0; i < PARTS; ++i)
    *(mps_word_t *)(void *)(parts + i * PART) = PART << 3 | OBJ_LEAF;
  for (size_t at = 0; at < PARTS * PART; at += 509) {
    ck_assert_int_eq(mps_addr_object(&found, arena, parts + at), MPS_RES_OK);
    ck_assert_ptr_eq(found, parts + at / PART * PART);
  }
  mps_ap_destroy(fine_ap);
  mps_pool_destroy(fine);
  mps_fmt_destroy(fine_fmt);
  mps_arena_release(arena);
  clear();
}
END_TEST

/* Frames of a stack, whose blocks are scanned. */
START_TEST(stack) {
  mps_pool_t snc;
  mps_ap_t on;
  mps_frame_t frame;
  mps_addr_t p;
  furnish(mps_class_amc());
  CREATE(snc, mps_class_snc(), FORMAT, fmt);
  on = point(snc);
  ck_assert_int_eq(large(&p, on, OBJ_NODE, 64), MPS_RES_OK);
  ck_assert_int_eq(mps_ap_frame_push(&frame, on), MPS_RES_OK);
  ck_assert_int_eq(large(&p, on, OBJ_NODE, LARGE), MPS_RES_OK);
  ((mps_word_t *)p)[LARGE / WORD - 1] = (mps_word_t)numbered(5);
  ck_assert_uint_ge(in_use(snc), LARGE);
  collect();
  ck_assert_uint_eq(number_of(((mps_addr_t *)p)[LARGE / WORD - 1]), 5);
  ck_assert_int_eq(mps_ap_frame_pop(on, frame), MPS_RES_OK);
  ck_assert_int_eq(large(&p, on, OBJ_NODE, 64), MPS_RES_OK);
  ck_assert_uint_lt(in_use(snc), LARGE);
  mps_ap_destroy(on);
  mps_pool_destroy(snc);
  clear();
}
END_TEST

/* Freed whole and in parts, and used again. */
START_TEST(manual) {
  mps_pool_t mvff;
  char *p, *q;
  start();
  CREATE(mvff, mps_class_mvff(), SPARE, 0.0);
  p = alloc(mvff, VAST);
  q = alloc(mvff, LARGE);
  p[0] = p[VAST - 1] = q[0] = q[LARGE - 1] = 1;
  ck_assert_uint_eq(in_use(mvff), VAST + LARGE);
  mps_free(mvff, p + 4096, VAST - 8192);
  ck_assert_uint_eq(in_use(mvff), 8192 + LARGE);
  ck_assert_uint_lt(mps_pool_total_size(mvff), LARGE + ((size_t)1 << 20));
  ck_assert_int_eq(p[0] + p[VAST - 1], 2);
  mps_free(mvff, q, LARGE);
  mps_free(mvff, p, 4096);
  mps_free(mvff, p + VAST - 4096, 4096);
  ck_assert_uint_eq(in_use(mvff), 0);
  mps_arena_spare_set(arena, 0.0);
  ck_assert_uint_lt(mps_arena_committed(arena), (size_t)100 << 20);
  mps_pool_destroy(mvff);
  stop();
}
END_TEST

START_TEST(manual_points) {
  mps_pool_t made;
  mps_ap_t on;
  mps_addr_t p, q;
  start();
  ck_assert_int_eq(
      mps_pool_create_k(&made, arena,
                        _i == 0 ? mps_class_mvff() : mps_class_mvt(),
                        mps_args_none),
      MPS_RES_OK);
  on = point(made);
  ck_assert_int_eq(large(&p, on, OBJ_LEAF, LARGE), MPS_RES_OK);
  ck_assert_int_eq(large(&q, on, OBJ_LEAF, VAST), MPS_RES_OK);
  ((char *)q)[VAST - 1] = 1;
  ck_assert_uint_ge(in_use(made), LARGE + VAST);
  mps_free(made, p, LARGE);
  mps_free(made, q, VAST);
  mps_ap_destroy(on);
  ck_assert_uint_eq(in_use(made), 0);
  mps_pool_destroy(made);
  stop();
}
END_TEST

/* Units, and a cache that passes them on. */
START_TEST(units) {
  mps_sac_class_s classes[] = {{64, 2, 1}};
  mps_pool_t mfs, mvff;
  mps_sac_t sac;
  mps_addr_t p, q;
  start();
  CREATE(mfs, mps_class_mfs(), MFS_UNIT_SIZE, LARGE);
  p = alloc(mfs, LARGE);
  q = alloc(mfs, LARGE);
  ((char *)p)[LARGE - 1] = ((char *)q)[LARGE - 1] = 1;
  ck_assert_uint_eq(in_use(mfs), 2 * LARGE);
  mps_free(mfs, p, LARGE);
  ck_assert_ptr_eq(alloc(mfs, LARGE), p);
  mps_pool_destroy(mfs);
  CREATE(mvff, mps_class_mvff(), ALIGN, 16);
  ck_assert_int_eq(mps_sac_create(&sac, mvff, 1, classes), MPS_RES_OK);
  MPS_SAC_ALLOC_FAST(classes[0].mps_frequency, p, sac, VAST, 0);
  ck_assert_uint_eq(classes[0].mps_frequency, MPS_RES_OK);
  ck_assert_uint_eq(in_use(mvff), (VAST + 15) & ~(size_t)15);
  mps_sac_free(sac, p, VAST);
  mps_sac_destroy(sac);
  mps_pool_destroy(mvff);
  stop();
}
END_TEST

/* A root of that size. */
START_TEST(root) {
  mps_root_t area;
  mps_addr_t *words = mmap(NULL, LARGE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  size_t last = LARGE / WORD - 1;
  ck_assert(words != MAP_FAILED);
  furnish(mps_class_amc());
  words[last] = numbered(9);
  ck_assert_int_eq(mps_root_create_area(&area, arena, mps_rank_exact(), 0,
                                        words, words + last + 1, mps_scan_area,
                                        NULL),
                   MPS_RES_OK);
  collect();
  ck_assert_uint_eq(number_of(words[last]), 9);
  mps_root_destroy(area);
  (void)munmap(words, LARGE);
  clear();
}
END_TEST

/* Bytes that the machine can still give. */
static size_t available(void) {
  char line[200];
  size_t kib = 0;
  FILE *file = fopen("/proc/meminfo", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "MemAvailable: %zu", &kib) == 1)
      break;
  if (file != NULL)
    (void)fclose(file);
  return kib << 10;
}

int main(void) {
  Suite *suite = suite_create("large");
  TCase *tcase = tcase_create("large");
  if (available() < 2 * VAST) {
    (void)printf("skipped: %zu MiB of memory are not enough\n",
                 available() >> 20);
    return 77;
  }
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, automatic, 0, AUTOMATIC);
  tcase_add_test(tcase, moved);
  tcase_add_loop_test(tcase, garbage, 0, AUTOMATIC);
  tcase_add_test(tcase, bytes);
  tcase_add_loop_test(tcase, cut, 0, 2);
  tcase_add_test(tcase, cut_finely);
  tcase_add_test(tcase, stack);
  tcase_add_test(tcase, manual);
  tcase_add_loop_test(tcase, manual_points, 0, 2);
  tcase_add_test(tcase, units);
  tcase_add_test(tcase, root);
  suite_add_tcase(suite, tcase);
  return suite_run(suite);
}
