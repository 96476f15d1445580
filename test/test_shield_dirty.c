/* Testudo: the shield's dirty mode over doubles of memory and of tracking: no
   write is missed, refusals and forks included. SPDX-License-Identifier:
   BSD-2-Clause */
#include <check.h>
#include "code/track_double.h"
#include "fake_vm.h"
#include "random.h"
#include "require.h"
#include "shield/internal.h"
#include "suite.h"

#define PAGES FAKE_PAGES

static fake_vm_t fake;
static tdo_track_double_t track;
static tdo_shield_t shield;
static unsigned char dirty[PAGES]; /* reported as written */
static bool protected_write;       /* hook of a closed region */

static void mark(void *closure, size_t first, size_t limit) {
  REQUIRE(closure == dirty);
  REQUIRE(first < limit && limit <= PAGES);
  memset(dirty + first, 1, limit - first);
}

static void hook_lost(void *closure, size_t first, size_t limit,
                      tdo_bar_t bars) {
  if (bars & TDO_BAR_WRITE)
    mark(closure, first, limit);
}

static void begin(size_t adopted) {
  tdo_shield_settings_t settings;
  tdo_shield_hooks_t hooks = {dirty, NULL, NULL, hook_lost, NULL};
  tdo_shield_settings_defaults(&settings);
  settings.mode = TDO_SHIELD_DIRTY;
  fake_init(&fake, PAGES, 0);
  ck_assert_int_eq(MPS_RES_OK, tdo_track_double_init(&track, fake.base, PAGES,
                                                     fake.twin.vm.page_size));
  ck_assert_int_eq(MPS_RES_OK,
                   tdo_shield_init(&shield, &fake.twin.vm, fake.base,
                                   PAGES * fake.twin.vm.page_size, &settings,
                                   &hooks));
  ck_assert_int_eq(MPS_RES_OK, tdo_shield_attach(&shield, &track.track));
  fake_commit(&fake, 0, adopted, true);
  tdo_shield_committed(&shield, 0, adopted);
  tdo_shield_adopt(&shield, 0, adopted);
  memset(dirty, 0, sizeof dirty);
}

static void end(void) {
  tdo_shield_leave(&shield);
  ck_assert(tdo_shield_check(&shield));
  for (size_t page = 0; page < PAGES; ++page)
    ck_assert_msg(tdo_shield_given(shield.actual[page]) == fake.access[page],
                  "page %zu", page);
  tdo_shield_finish(&shield);
  tdo_track_double_finish(&track);
  fake_finish(&fake);
}

static void *addr(size_t page) {
  return fake.base + page * fake.twin.vm.page_size;
}

/* A mutator writes PAGE; a fault is resolved as the collector does it. */
static void write_page(size_t page) {
  if (fake.access[page] != TDO_ACCESS_WRITE) {
    tdo_bar_t bars = tdo_shield_bars(&shield, page);
    protected_write = true;
    tdo_shield_hit(&shield, page, bars);
    tdo_shield_lower(&shield, page, page + 1, bars);
    dirty[page] = 1;
    tdo_shield_leave(&shield);
  }
  REQUIRE(fake.access[page] == TDO_ACCESS_WRITE);
  tdo_track_double_write(&track, addr(page));
}

static void harvest(void) {
  tdo_shield_note_stopped(&shield);
  tdo_shield_harvest(&shield, mark, dirty);
}

/* The same where calls are refused at random, but this one seldom: tracking
   ends with that. */
static void harvest_mostly(void) {
  size_t refuse_in = track.refuse_in;
  if (random_below(200) != 0)
    track.refuse_in = 0;
  harvest();
  track.refuse_in = refuse_in;
}

static void grant(size_t first, size_t limit) {
  bool barred = false;
  tdo_shield_note_stopped(&shield);
  ck_assert_uint_eq(tdo_shield_offer(&shield, first, limit, &barred),
                    limit - first);
  ck_assert(barred);
  memset(dirty + first, 0, limit - first);
}

static size_t dirty_count(size_t first, size_t limit) {
  size_t n = 0;
  for (size_t page = first; page < limit; ++page)
    n += dirty[page];
  return n;
}

START_TEST(arms_in_one_call) {
  begin(3000);
  grant(10, 2000);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(track.calls[TDO_TRACK_ARM], 1);
  ck_assert_uint_eq(fake.calls, 0);
  ck_assert_uint_eq(shield.stats.mappings, 2); /* as without bars */
  harvest();
  ck_assert_uint_eq(dirty_count(0, PAGES), 0);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(track.calls[TDO_TRACK_ARM], 1);
  end();
}
END_TEST

START_TEST(finds_what_was_written) {
  begin(3000);
  grant(0, 2500);
  tdo_shield_leave(&shield);
  write_page(7);
  write_page(2499);
  write_page(2700); /* never granted: nobody's business */
  harvest();
  ck_assert_uint_eq(dirty_count(0, PAGES), 2);
  ck_assert(dirty[7] && dirty[2499]);
  ck_assert_uint_eq(tdo_shield_bars(&shield, 7), TDO_BAR_WRITE);
  tdo_shield_leave(&shield);
  memset(dirty, 0, sizeof dirty);
  harvest();
  ck_assert_uint_eq(dirty_count(0, PAGES), 0);
  tdo_shield_leave(&shield);
  write_page(7); /* armed again */
  harvest();
  ck_assert_uint_eq(dirty_count(0, PAGES), 1);
  ck_assert_uint_eq(fake.calls, 0);
  end();
}
END_TEST

/* Only a harvest makes sure that arming forgets nothing. */
/* A page that lost its bar since it was armed is no news when it is found
   written; its neighbours are. */
START_TEST(lowered_and_written) {
  begin(3000);
  grant(10, 20);
  tdo_shield_leave(&shield);
  tdo_shield_lower(&shield, 13, 15, TDO_BAR_WRITE);
  for (size_t page = 12; page < 17; ++page)
    write_page(page);
  harvest();
  ck_assert_uint_eq(dirty_count(0, PAGES), 3);
  ck_assert_uint_eq(dirty_count(13, 15), 0);
  ck_assert_uint_eq(dirty_count(12, 17), 3);
  end();
}
END_TEST

START_TEST(exposed_unseen) {
  begin(100);
  grant(0, 100);
  tdo_shield_leave(&shield);
  write_page(5);
  tdo_shield_expose(&shield, 0, 10);
  tdo_shield_cover(&shield, 0, 10);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(dirty_count(0, 10), 10);
  ck_assert_uint_eq(tdo_shield_bars(&shield, 5), 0);
  ck_assert_uint_eq(shield.stats.unseen_dropped, 10);
  harvest();
  tdo_shield_expose(&shield, 20, 30);
  tdo_shield_cover(&shield, 20, 30);
  ck_assert_uint_eq(tdo_shield_bars(&shield, 25), TDO_BAR_WRITE);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(dirty_count(20, 30), 0);
  end();
}
END_TEST

START_TEST(read_bars_are_protection) {
  begin(100);
  grant(0, 100);
  tdo_shield_raise(&shield, 10, 20, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(fake.access[15], TDO_ACCESS_NONE);
  ck_assert_uint_eq(fake.access[9], TDO_ACCESS_WRITE);
  harvest();
  tdo_shield_lower(&shield, 10, 20, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(fake.access[15], TDO_ACCESS_WRITE);
  write_page(15);
  harvest();
  ck_assert(dirty[15]);
  end();
}
END_TEST

START_TEST(refused_arm) {
  begin(100);
  grant(10, 20);
  track.refuse_in = 1;
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(dirty_count(10, 20), 10);
  ck_assert_uint_eq(tdo_shield_bars(&shield, 15), 0);
  ck_assert_uint_eq(shield.stats.arms_refused, 1);
  end();
}
END_TEST

START_TEST(refused_harvest) {
  begin(3000);
  grant(10, 2000);
  tdo_shield_leave(&shield);
  track.refuse_in = 1;
  harvest();
  ck_assert_uint_eq(dirty_count(10, 2000), 1990);
  ck_assert_int_eq(shield.settings.mode, TDO_SHIELD_DEFERRED);
  ck_assert_ptr_nonnull(shield.fallback);
  tdo_shield_raise(&shield, 0, 5, TDO_BAR_WRITE); /* by protection, now */
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(fake.access[3], TDO_ACCESS_READ);
  end();
}
END_TEST

/* Where all calls over parts of the window are refused, one over the whole
   window opens everything: what was barred to the mutator, and regions. */
START_TEST(refused_parts) {
  for (unsigned closed = 0; closed < 2; ++closed) {
    begin(3000);
    grant(0, 3000);
    tdo_shield_leave(&shield);
    for (int i = 0; closed && i < 130; ++i) {
      write_page(2999);
      harvest();
      tdo_shield_leave(&shield);
    }
    ck_assert_uint_eq(shield.stats.regions_closed, closed * 2);
    tdo_shield_raise(&shield, 2500, 2510, TDO_BAR_READ);
    tdo_shield_leave(&shield);
    fake.refuse_of = 1;
    if (closed) {
      tdo_shield_expose(&shield, 5, 6);
      tdo_shield_cover(&shield, 5, 6);
    } else {
      tdo_shield_lower(&shield, 2505, 2506, TDO_BAR_READ);
    }
    tdo_shield_leave(&shield);
    fake.refuse_of = 0;
    ck_assert_uint_gt(fake.refused, 1);
    ck_assert_uint_eq(shield.stats.regions_opened, closed * 2);
    ck_assert_uint_eq(fake.access[5], TDO_ACCESS_WRITE);
    ck_assert_uint_eq(fake.access[2505], TDO_ACCESS_WRITE);
    ck_assert_uint_eq(tdo_shield_bars(&shield, 2505), 0);
    ck_assert_uint_eq(dirty_count(0, 3000), 3000); /* no bar is left */
    ck_assert_int_eq(shield.settings.mode, TDO_SHIELD_DIRTY);
    end();
  }
}
END_TEST

/* Pages of which some are closed with their region, and some are not. */
START_TEST(across_regions) {
  begin(3000); /* the last region is never closed */
  grant(0, 3000);
  tdo_shield_leave(&shield);
  for (int i = 0; i < 130; ++i) {
    harvest();
    tdo_shield_leave(&shield);
  }
  ck_assert_uint_eq(shield.stats.regions_closed, 2);
  ck_assert_uint_eq(fake.access[2000], TDO_ACCESS_READ);
  tdo_shield_expose(&shield, 2000, 2100);
  tdo_shield_cover(&shield, 2000, 2100);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(shield.stats.regions_opened, 1);
  ck_assert_uint_eq(fake.access[2000], TDO_ACCESS_WRITE);
  ck_assert_uint_eq(fake.access[5], TDO_ACCESS_READ);
  end();
}
END_TEST

/* An opening that was refused may have opened a part: no write there is
   missed, in neighbouring regions either. */
START_TEST(refused_region) {
  for (unsigned round = 0; round < 20; ++round) {
    begin(3000);
    grant(0, 3000);
    tdo_shield_leave(&shield);
    for (int i = 0; i < 130; ++i) {
      write_page(2999);
      harvest();
      tdo_shield_leave(&shield);
    }
    ck_assert_uint_eq(shield.stats.regions_closed, 2);
    memset(dirty, 0, sizeof dirty);
    fake.refuse_of = 1;
    fake.apart = random_below(2 * TDO_SHIELD_REGION);
    tdo_shield_hit(&shield, 5, TDO_BAR_WRITE);
    fake.refuse_of = fake.apart = 0;
    tdo_shield_lower(&shield, 5, 6, TDO_BAR_WRITE);
    tdo_shield_leave(&shield);
    ck_assert_uint_eq(fake.refused, 2);
    dirty[5] = 1;
    for (size_t page = 0; page < 2 * TDO_SHIELD_REGION; ++page) {
      if (fake.access[page] == TDO_ACCESS_WRITE)
        write_page(page);
    }
    harvest();
    for (size_t page = 0; page < 2 * TDO_SHIELD_REGION; ++page)
      REQUIRE(dirty[page] || fake.access[page] != TDO_ACCESS_WRITE);
    tdo_shield_leave(&shield);
    end();
  }
}
END_TEST

START_TEST(refused_attach) {
  for (unsigned i = 0; i < 2; ++i) {
    begin(10);
    tdo_shield_fall_back(&shield, "for a test");
    ck_assert_str_eq(shield.fallback, "for a test");
    tdo_track_double_finish(&track);
    ck_assert_int_eq(MPS_RES_OK,
                     tdo_track_double_init(&track, fake.base, PAGES,
                                           fake.twin.vm.page_size));
    shield.settings.mode = TDO_SHIELD_DIRTY;
    if (i == 0) {
      track.refuse_in = 1;
    } else {
      tdo_vm_double_refuse_nth(&fake.twin, 1);
      (void)atomic_fetch_sub(&fake.twin.vm.counters.map, 1);
    }
    ck_assert_int_ne(MPS_RES_OK, tdo_shield_attach(&shield, &track.track));
    ck_assert_int_eq(shield.settings.mode, TDO_SHIELD_DEFERRED);
    ck_assert_uint_eq(track.track.sig, TDO_SIG_DEAD); /* closed */
    end();
  }
}
END_TEST

START_TEST(forks) {
  for (unsigned refused = 0; refused < 3; ++refused) {
    begin(3000);
    grant(0, 3000);
    tdo_shield_leave(&shield);
    write_page(77);
    tdo_track_double_fork(&track);
    track.refuse_in = refused; /* the second call covers */
    tdo_shield_after_fork(&shield);
    ck_assert_uint_eq(dirty_count(0, 3000), 3000);
    ck_assert_int_eq(shield.settings.mode,
                     refused > 0 ? TDO_SHIELD_DEFERRED : TDO_SHIELD_DIRTY);
    tdo_shield_leave(&shield);
    if (refused == 0) {
      grant(0, 3000);
      tdo_shield_leave(&shield);
      write_page(78);
      harvest();
      ck_assert_uint_eq(dirty_count(0, 3000), 1);
    }
    end();
  }
}
END_TEST

/* Memory given back is mapped anew. */
START_TEST(spare) {
  begin(3000);
  grant(0, 3000);
  tdo_shield_leave(&shield);
  tdo_shield_retire(&shield, 100, 200);
  fake_commit(&fake, 100, 200, false);
  tdo_track_double_remap(&track, addr(100), 100 * fake.twin.vm.page_size);
  tdo_shield_decommitted(&shield, 100, 200);
  fake_commit(&fake, 100, 200, true);
  tdo_shield_committed(&shield, 100, 200);
  tdo_shield_adopt(&shield, 100, 200);
  harvest();
  ck_assert_uint_eq(dirty_count(0, 3000), 0);
  grant(100, 200);
  tdo_shield_leave(&shield);
  write_page(150);
  harvest();
  ck_assert_uint_eq(dirty_count(0, 3000), 1);
  ck_assert_int_eq(shield.settings.mode, TDO_SHIELD_DIRTY);
  end();
}
END_TEST

/* A page used again is written without a fault of the kernel's. */
START_TEST(adopts) {
  begin(100);
  grant(0, 100);
  tdo_shield_leave(&shield);
  tdo_shield_retire(&shield, 0, 50);
  tdo_shield_adopt(&shield, 0, 50);
  ck_assert_uint_eq(track.calls[TDO_TRACK_DISARM], 1);
  ck_assert_uint_eq(fake.calls, 0);
  end();
}
END_TEST

/* What nobody writes is looked at no more, until somebody does. */
START_TEST(regions) {
  size_t looked;
  begin(4 * TDO_SHIELD_REGION);
  grant(0, 4 * TDO_SHIELD_REGION);
  tdo_shield_leave(&shield);
  for (int i = 0; i < 130; ++i) {
    write_page(TDO_SHIELD_REGION);
    harvest();
    tdo_shield_leave(&shield);
  }
  ck_assert_uint_eq(shield.stats.regions_closed, 3);
  ck_assert_uint_eq(fake.access[5], TDO_ACCESS_READ);
  ck_assert_uint_eq(fake.access[TDO_SHIELD_REGION], TDO_ACCESS_WRITE);
  ck_assert(tdo_shield_check(&shield));
  looked = shield.stats.harvest_pages;
  harvest();
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(shield.stats.harvest_pages - looked, TDO_SHIELD_REGION);
  memset(dirty, 0, sizeof dirty);
  protected_write = false;
  write_page(5);
  ck_assert(protected_write);
  ck_assert_uint_eq(fake.access[6], TDO_ACCESS_WRITE);
  write_page(6);
  harvest();
  ck_assert_uint_eq(dirty_count(0, PAGES), 2);
  ck_assert_uint_eq(shield.stats.regions_opened, 1);
  /* The collector opens one by touching it; retiring closes nothing. */
  tdo_shield_expose(&shield, 3 * TDO_SHIELD_REGION, 3 * TDO_SHIELD_REGION + 1);
  tdo_shield_cover(&shield, 3 * TDO_SHIELD_REGION, 3 * TDO_SHIELD_REGION + 1);
  tdo_shield_retire(&shield, 2 * TDO_SHIELD_REGION, 2 * TDO_SHIELD_REGION + 9);
  tdo_shield_adopt(&shield, 2 * TDO_SHIELD_REGION, 2 * TDO_SHIELD_REGION + 9);
  ck_assert_uint_eq(shield.stats.regions_opened, 3);
  end();
}
END_TEST

/* Signal handlers of the collector's thread touch what they may not, before
   calls and after them. */
static mps_res_t (*track_arms)(tdo_track_t *, void *, size_t);
static mps_res_t (*track_disarms)(tdo_track_t *, void *, size_t);
static size_t touched_below; /* pages; 0: nobody does */
static size_t touches;
static bool touching;

static void touch_some(void) {
  size_t page = random_below(tdo_max(touched_below, 1));
  if (touching || touched_below == 0 || random_below(4) != 0 ||
      shield.depth[page] > 0 || fake.access[page] == TDO_ACCESS_WRITE)
    return;
  touching = true;
  ++touches;
  REQUIRE(tdo_shield_force_open(&shield, page));
  REQUIRE(fake.access[page] == TDO_ACCESS_WRITE);
  REQUIRE(tdo_shield_bars(&shield, page) == 0);
  tdo_track_double_write(&track, addr(page));
  touching = false;
}

static mps_res_t touched(mps_res_t (*call)(tdo_track_t *, void *, size_t),
                         tdo_track_t *t, void *base, size_t size) {
  mps_res_t res;
  touch_some();
  res = call(t, base, size);
  touch_some();
  return res;
}

static mps_res_t touched_arm(tdo_track_t *t, void *base, size_t size) {
  return touched(track_arms, t, base, size);
}

static mps_res_t touched_disarm(tdo_track_t *t, void *base, size_t size) {
  return touched(track_disarms, t, base, size);
}

static void begin_touches(size_t below) {
  touched_below = below;
  touches = 0;
  fake.handler = touch_some;
  track_arms = track.track.arm;
  track.track.arm = touched_arm;
  track_disarms = track.track.disarm;
  track.track.disarm = touched_disarm;
}

/* Anything, in any order: a page with a write bar that was written is dirty
   after the next harvest; calls are refused at random, and every other time
   there are such handlers. */
START_TEST(misses_nothing) {
  static unsigned char written[PAGES]; /* while barred, since seen */
  const size_t used = 3000;
  random_state += (uint64_t)_i << 40; /* the processes begin alike */
  begin(used);
  memset(dirty, 1, sizeof dirty); /* as everything is without a bar */
  memset(written, 0, sizeof written);
  begin_touches(_i % 2 == 0 ? 0 : used);
  for (int i = 0; i < 20000 && shield.track != NULL; ++i) {
    size_t first = random_below(used), span = random_below(5) ? 40 : used;
    size_t limit = first + 1 + random_below(tdo_min(span, used - first));
    track.refuse_in = random_below(50) == 0 ? 1 : 0;
    fake.refuse_of = random_below(10) == 0 ? 2 : 0;
    switch (random_below(6)) {
    case 0: /* scanned and offered, as after a harvest */
      harvest_mostly();
      if (shield.track == NULL)
        break;
      tdo_shield_expose(&shield, first, limit);
      for (size_t p = first; p < limit; ++p)
        REQUIRE(!written[p] || dirty[p]);
      grant(first, limit);
      memset(written + first, 0, limit - first);
      tdo_shield_cover(&shield, first, limit);
      break;
    case 1:
      tdo_shield_expose(&shield, first, limit);
      tdo_shield_cover(&shield, first, limit);
      break;
    case 2:
      harvest_mostly();
      for (size_t p = 0; p < used; ++p)
        REQUIRE(!written[p] || dirty[p]);
      break;
    case 3:
      tdo_shield_raise(&shield, first, limit, TDO_BAR_READ);
      tdo_shield_leave(&shield);
      tdo_shield_lower(&shield, first, limit, TDO_BAR_READ);
      break;
    case 4:
      tdo_shield_retire(&shield, first, limit);
      tdo_shield_adopt(&shield, first, limit);
      memset(dirty + first, 1, limit - first);
      break;
    default:
      track.refuse_in = 0;
      fake.refuse_of = 0;
      tdo_shield_leave(&shield);
      for (size_t n = random_below(30); n > 0; --n) {
        size_t p = random_below(used);
        write_page(p);
        written[p] = 1;
      }
    }
    track.refuse_in = 0;
    fake.refuse_of = 0;
    tdo_shield_leave(&shield);
    REQUIRE(i % 100 != 0 || tdo_shield_check(&shield));
  }
  touched_below = 0;
  REQUIRE((touches > 0) == (_i % 2 != 0));
  end();
}
END_TEST

/* A signal handler writes page 12 when a call that closes it has come back. */
static mps_res_t (*fake_protects)(tdo_vm_t *, void *, size_t, tdo_access_t);

static mps_res_t interrupted_protect(tdo_vm_t *vm, void *base, size_t size,
                                     tdo_access_t access) {
  mps_res_t res = fake_protects(vm, base, size, access);
  if (fake.access[12] != TDO_ACCESS_WRITE) {
    REQUIRE(tdo_shield_force_open(&shield, 12));
    REQUIRE(fake.access[12] == TDO_ACCESS_WRITE);
  }
  return res;
}

static void begin_interrupted(void) {
  begin(3000);
  grant(0, 1024);
  tdo_shield_leave(&shield);
  fake_protects = fake.twin.vm.protect;
  fake.twin.vm.protect = interrupted_protect;
}

START_TEST(forced_inside) {
  begin_interrupted();
  tdo_shield_raise(&shield, 8, 20, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(tdo_shield_bars(&shield, 12), 0);
  ck_assert_uint_eq(dirty[12], 1);
  end();
}
END_TEST

/* The same where a region is closed. */
START_TEST(forced_region) {
  begin_interrupted();
  for (int i = 0; i < 120; ++i) {
    harvest();
    tdo_shield_leave(&shield);
  }
  ck_assert_uint_gt(shield.stats.regions_closed, 0);
  ck_assert_uint_eq(tdo_shield_bars(&shield, 12), 0);
  ck_assert_uint_eq(dirty[12], 1);
  end();
}
END_TEST

int main(void) {
  Suite *suite = suite_create("shield_dirty");
  TCase *tests = tcase_create("shield_dirty");
  random_start();
  tcase_add_test(tests, arms_in_one_call);
  tcase_add_test(tests, finds_what_was_written);
  tcase_add_test(tests, lowered_and_written);
  tcase_add_test(tests, exposed_unseen);
  tcase_add_test(tests, read_bars_are_protection);
  tcase_add_test(tests, refused_arm);
  tcase_add_test(tests, refused_harvest);
  tcase_add_test(tests, refused_parts);
  tcase_add_test(tests, refused_region);
  tcase_add_test(tests, across_regions);
  tcase_add_test(tests, refused_attach);
  tcase_add_test(tests, forks);
  tcase_add_test(tests, spare);
  tcase_add_test(tests, adopts);
  tcase_add_test(tests, regions);
  tcase_add_test(tests, forced_inside);
  tcase_add_test(tests, forced_region);
  tcase_add_loop_test(tests, misses_nothing, 0, 10);
  tcase_set_timeout(tests, 100);
  suite_add_tcase(suite, tests);
  return suite_run(suite);
}
