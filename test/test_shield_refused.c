/* Testudo: what the shield does when the system refuses a call, when mappings
   run out, and to keep its budget. SPDX-License-Identifier: BSD-2-Clause */
#include "mpslib.h"
#include "shield_story.h"
#include "suite.h"

/* A closing that is refused costs its pages their bars, and no others. */
START_TEST(refused_closing) {
  for (unsigned mode = 0; mode < TDO_SHIELD_OFF; ++mode) {
    begin((tdo_shield_mode_t)mode, 100, 100);
    tdo_shield_raise(&shield, 0, 10, TDO_BAR_WRITE);
    tdo_shield_flush(&shield);
    story[0] = '\0';
    telling = false;
    fake.refuse_next = 1;
    tdo_shield_raise(&shield, 50, 51, TDO_BAR_WRITE | TDO_BAR_READ);
    tdo_shield_raise(&shield, 60, 61, TDO_BAR_WRITE);
    tdo_shield_flush(&shield);
    ck_story("stop lost3[50,51) ");
    ck_assert_uint_eq(tdo_shield_bars(&shield, 50), 0);
    ck_assert_uint_eq(tdo_shield_bars(&shield, 5), TDO_BAR_WRITE);
    ck_assert_uint_eq(fake.access[60], TDO_ACCESS_READ);
    ck_assert_uint_eq(fake.access[50], TDO_ACCESS_WRITE);
    ck_assert_uint_eq(shield.stats.bars_lost, 1);
    ck_assert_uint_eq(shield.stats.calls_refused, 1);
    tdo_shield_raise(&shield, 50, 51, TDO_BAR_WRITE); /* and again */
    tdo_shield_leave(&shield);
    ck_story("go ");
    ck_assert_uint_eq(fake.access[50], TDO_ACCESS_READ);
    end();
  }
}
END_TEST

/* An opening that is refused widens to whole runs. */
START_TEST(refused_opening) {
  for (unsigned mode = 0; mode < TDO_SHIELD_OFF; ++mode) {
    begin((tdo_shield_mode_t)mode, 100, 100);
    telling = false;
    tdo_shield_raise(&shield, 10, 20, TDO_BAR_WRITE);
    tdo_shield_raise(&shield, 30, 40, TDO_BAR_WRITE);
    tdo_shield_leave(&shield);
    telling = true;
    story[0] = '\0';
    fake.refuse_next = 1;
    tdo_shield_expose(&shield, 13, 14);
    ck_story("stop not-write[13,14) write[10,20) lost1[10,13) lost1[14,20) ");
    ck_assert_uint_eq(tdo_shield_bars(&shield, 13), TDO_BAR_WRITE);
    tdo_shield_cover(&shield, 13, 14);
    tdo_shield_leave(&shield);
    ck_story("read[13,14) go ");
    fake.refuse_next = 2;
    tdo_shield_lower(&shield, 13, 14, TDO_BAR_WRITE);
    tdo_shield_leave(&shield);
    ck_story("not-write[13,14) not-write[13,14) write[0,30) ");
    fake.refuse_next = 3; /* all that is used, then all there is */
    tdo_shield_lower(&shield, 33, 34, TDO_BAR_WRITE);
    tdo_shield_leave(&shield);
    ck_story("not-write[33,34) not-write[30,40) not-write[0,100) "
             "write[0,2048) none[100,2048) lost1[30,33) lost1[34,40) ");
    ck_assert_uint_eq(shield.used_high, 100);
    end();
  }
}
END_TEST

static unsigned may; /* have what access */

/* No call but over the whole window, or for that. */
static mps_res_t refused_parts(tdo_vm_t *vm, void *base, size_t size,
                               tdo_access_t access) {
  fake.refuse_next = access != may && size < PAGES * vm->page_size;
  return told_protect(vm, base, size, access);
}

/* The whole window is opened. What was never in use is closed again, if that
   is not refused; what has no memory, and stays open, pays for nothing that is
   owed. */
START_TEST(opened_window) {
  for (unsigned refused = 0; refused < 2; ++refused) {
    begin(TDO_SHIELD_RANGED, 100, 100);
    telling = false;
    fake_commit(&fake, 300, 310, true);
    tdo_shield_committed(&shield, 300, 310);
    tdo_shield_raise(&shield, 10, 20, TDO_BAR_WRITE);
    tdo_shield_raise(&shield, 30, 40, TDO_BAR_WRITE);
    tdo_shield_leave(&shield);
    ck_assert_uint_eq(shield.owed, 20);
    may = refused ? TDO_ACCESS_READ : TDO_ACCESS_NONE;
    fake.twin.vm.protect = refused_parts;
    tdo_shield_lower(&shield, 33, 34, TDO_BAR_WRITE);
    tdo_shield_leave(&shield);
    fake.twin.vm.protect = told_protect;
    ck_assert_uint_eq(fake.access[200], TDO_ACCESS_WRITE);
    ck_assert_uint_eq(shield.used_high, refused ? PAGES : 310);
    ck_assert_uint_eq(shield.owed, 0);
    tdo_shield_raise(&shield, 50, 51, TDO_BAR_WRITE);
    tdo_shield_leave(&shield);
    ck_assert_uint_eq(shield.owed, 1);
    fake_commit(&fake, 200, 201, true);
    tdo_shield_committed(&shield, 200, 201);
    ck_assert_uint_eq(shield.owed, 1);
    fake_commit(&fake, 200, 201, false);
    tdo_shield_decommitted(&shield, 200, 201);
    ck_assert_uint_eq(shield.owed, 1);
    end();
  }
}
END_TEST

static bool give_spare(void *closure) {
  (void)closure;
  tdo_vm_double_limit_data(&fake.twin, 0);
  return true;
}

/* One that is refused for want of memory is made again, and costs no bars. */
START_TEST(refused_memory) {
  for (unsigned mode = 0; mode < TDO_SHIELD_OFF; ++mode) {
    begin((tdo_shield_mode_t)mode, 100, 100);
    telling = false;
    shield.hooks.spare = give_spare;
    tdo_shield_raise(&shield, 10, 20, TDO_BAR_WRITE);
    tdo_shield_leave(&shield);
    ck_assert_uint_eq(shield.owed, 10);
    ck_assert_uint_eq(atomic_load(&fake.twin.vm.owed),
                      10 << shield.page_shift);
    tdo_vm_double_limit_data(&fake.twin, 90);
    ck_assert_uint_eq(fake.twin.vm.room(&fake.twin.vm), 0);
    tdo_shield_expose(&shield, 13, 14);
    ck_assert_uint_eq(fake.access[13], TDO_ACCESS_WRITE);
    ck_assert_uint_eq(shield.stats.bars_lost, 0);
    tdo_shield_cover(&shield, 13, 14);
    tdo_shield_leave(&shield);
    end();
  }
}
END_TEST

/* What a read bar hides is not uncovered behind the collector's back. */
START_TEST(refused_opening_stops) {
  begin(TDO_SHIELD_RANGED, 100, 100);
  telling = false;
  tdo_shield_raise(&shield, 10, 20, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  telling = true;
  fake.refuse_next = 1;
  tdo_shield_lower(&shield, 10, 12, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  ck_story("not-write[10,12) stop write[10,20) lost2[12,20) go ");
  end();
}
END_TEST

static unsigned failures;

static void count_failure(const char *file, unsigned line, const char *text) {
  ck_assert(file != NULL && line > 0 && text != NULL);
  ++failures;
}

/* With everything refused nothing is barred; only what had been closed and
   cannot be opened breaks a promise. */
START_TEST(refused_all) {
  mps_lib_assert_fail_t old = mps_lib_assert_fail_install(count_failure);
  for (unsigned mode = 0; mode < TDO_SHIELD_OFF; ++mode) {
    begin((tdo_shield_mode_t)mode, 100, 100);
    telling = false;
    failures = 0;
    fake.refuse_next = SIZE_MAX;
    tdo_shield_raise(&shield, 10, 20, TDO_BAR_WRITE);
    tdo_shield_leave(&shield);
    ck_assert_uint_eq(tdo_shield_bars(&shield, 15), 0);
    ck_assert_uint_eq(failures, 0);
    fake.refuse_next = 0;
    tdo_shield_raise(&shield, 10, 20, TDO_BAR_WRITE);
    tdo_shield_leave(&shield);
    fake.refuse_next = SIZE_MAX;
    tdo_shield_expose(&shield, 10, 11);
    ck_assert_uint_eq(failures, !TDO_RASH);
    ck_assert_uint_eq(tdo_shield_bars(&shield, 15), 0);
    fake.refuse_next = 0;
    tdo_shield_cover(&shield, 10, 11);
    tdo_shield_leave(&shield);
    ck_assert_uint_eq(fake.access[15], TDO_ACCESS_WRITE);
    end();
  }
  (void)mps_lib_assert_fail_install(old);
}
END_TEST

/* A page can be opened for a fault that cannot wait. */
START_TEST(forces) {
  for (unsigned mode = 0; mode < TDO_SHIELD_OFF; ++mode) {
    begin((tdo_shield_mode_t)mode, 100, 100);
    telling = false;
    tdo_shield_raise(&shield, 10, 20, TDO_BAR_READ);
    tdo_shield_leave(&shield);
    ck_assert(tdo_shield_force_open(&shield, 12));
    ck_story("stop lost2[12,13) ");
    ck_assert_uint_eq(fake.access[12], TDO_ACCESS_WRITE);
    ck_assert_uint_eq(fake.access[13], TDO_ACCESS_NONE);
    tdo_shield_leave(&shield);
    ck_assert_uint_eq(fake.access[12], TDO_ACCESS_WRITE);
    story[0] = '\0';
    end();
  }
}
END_TEST

/* A signal handler that interrupts closing calls writes a page in the middle
   of them: before the call, or when it has come back. */
static bool early;

static void signalled(void) {
  if (fake.access[12] != TDO_ACCESS_WRITE) {
    ck_assert(tdo_shield_force_open(&shield, 12));
    ck_assert_uint_eq(fake.access[12], TDO_ACCESS_WRITE);
  }
}

static mps_res_t interrupted_protect(tdo_vm_t *vm, void *base, size_t size,
                                     tdo_access_t access) {
  mps_res_t res;
  if (early && access != TDO_ACCESS_WRITE)
    signalled();
  res = told_protect(vm, base, size, access);
  if (!early && access != TDO_ACCESS_WRITE)
    signalled();
  return res;
}

/* The page has lost its bars and is open, whatever became of the call. */
START_TEST(forced_inside) {
  for (unsigned mode = 0; mode < TDO_SHIELD_OFF; ++mode) {
    early = _i % 2 != 0;
    begin((tdo_shield_mode_t)mode, 100, 100);
    telling = false;
    tdo_shield_raise(&shield, 12, 13, TDO_BAR_WRITE);
    tdo_shield_leave(&shield);
    fake.twin.vm.protect = interrupted_protect;
    fake.refuse_next = (size_t)(_i / 2 % 2);
    tdo_shield_raise(&shield, 8, 20, _i < 4 ? TDO_BAR_WRITE : TDO_BAR_READ);
    tdo_shield_leave(&shield);
    ck_assert_uint_eq(tdo_shield_bars(&shield, 12), 0);
    ck_assert_uint_eq(fake.access[12], TDO_ACCESS_WRITE);
    story[0] = '\0';
    end();
  }
}
END_TEST

/* A page that its table calls open, and is not, is opened when it is hit. */
START_TEST(stale) {
  begin(TDO_SHIELD_DEFERRED, 100, 100);
  ck_assert_int_eq(
      fake_protects(&fake.twin.vm, fake.base, 20 * 4096, TDO_ACCESS_READ),
      MPS_RES_OK);
  tdo_shield_hit(&shield, 12, 0);
  ck_story("write[12,13) ");
  ck_assert_uint_eq(fake.access[12], TDO_ACCESS_WRITE);
  ck_assert_int_eq(
      fake_protects(&fake.twin.vm, fake.base, 20 * 4096, TDO_ACCESS_WRITE),
      MPS_RES_OK);
  end();
}
END_TEST

/* At the mapping limit everything goes on. */
START_TEST(at_the_limit) {
  settings.budget = 1.0;
  settings.defer_fresh = 0;
  for (unsigned mode = 0; mode < TDO_SHIELD_OFF; ++mode) {
    mapping_limit = 20;
    begin((tdo_shield_mode_t)mode, 400, 400);
    telling = false;
    for (size_t page = 0; page < 400; page += 2) {
      tdo_shield_raise(&shield, page, page + 1,
                       page % 4 ? TDO_BAR_READ : TDO_BAR_WRITE);
      if (page % 32 == 0)
        tdo_shield_leave(&shield);
      story[0] = '\0';
    }
    tdo_shield_leave(&shield);
    ck_assert_uint_gt(fake.refused, 0);
    ck_assert_uint_eq(shield.stats.bars_lost, lost_pages);
    ck_assert_uint_le(fake.twin.mappings, 20);
    for (size_t page = 0; page < 400; ++page) {
      tdo_bar_t bars = tdo_shield_bars(&shield, page);
      ck_assert_uint_eq(fake.access[page], bars == TDO_BAR_READ ? 0
                                           : bars != 0          ? 1
                                                                : 3);
      story[0] = '\0';
      tdo_shield_expose(&shield, page, page + 1);
      ck_assert_uint_eq(fake.access[page], TDO_ACCESS_WRITE);
      tdo_shield_cover(&shield, page, page + 1);
    }
    story[0] = '\0';
    end();
  }
}
END_TEST

/* The budget is kept by giving up write bars where they cost most. */
START_TEST(economizes) {
  settings.budget = 0.5;
  for (unsigned mode = 0; mode < TDO_SHIELD_OFF; ++mode) {
    mapping_limit = 1000;
    begin((tdo_shield_mode_t)mode, 2000, 2000);
    telling = false;
    tdo_shield_raise(&shield, 0, 2000, TDO_BAR_WRITE);
    tdo_shield_raise(&shield, 1990, 2000, TDO_BAR_READ);
    tdo_shield_leave(&shield);
    for (size_t page = 10; page < 110; page += 10) { /* few edges */
      tdo_shield_lower(&shield, page, page + 1, TDO_BAR_WRITE);
    }
    for (size_t page = 512; page < 972; page += 2) { /* many */
      tdo_shield_lower(&shield, page, page + 1, TDO_BAR_WRITE);
      ck_assert_uint_le(shield.stats.mappings, 501);
    }
    tdo_shield_leave(&shield);
    ck_assert_uint_eq(shield.stats.bars_lost, 0);
    for (size_t page = 1100; page < 1124; page += 2)
      tdo_shield_lower(&shield, page, page + 1, TDO_BAR_WRITE);
    tdo_shield_leave(&shield);
    ck_assert_uint_le(shield.stats.mappings, 375);
    ck_assert_uint_eq(shield.stats.bars_lost, lost_pages);
    ck_assert_uint_eq(tdo_shield_bars(&shield, 513), 0);
    ck_assert_uint_eq(tdo_shield_bars(&shield, 11), TDO_BAR_WRITE);
    ck_assert_uint_eq(tdo_shield_bars(&shield, 1101), TDO_BAR_WRITE);
    ck_assert_uint_eq(fake.access[1995], TDO_ACCESS_NONE);
    ck_assert_uint_eq(fake.refused, 0);
    ck_assert(strstr(story, "stop") == NULL);
    end();
  }
}
END_TEST

/* No more is opened at once than may be: the sessions that follow go on, and
   end at the same number. */
START_TEST(economizes_in_parts) {
  size_t sessions = 0, before;
  settings.budget = 0.25;
  mapping_limit = 2000;
  begin(TDO_SHIELD_DEFERRED, 2000, 2000);
  telling = false;
  tdo_shield_set_reach(&shield, 0); /* as few as can be */
  tdo_shield_raise(&shield, 0, 2000, TDO_BAR_WRITE);
  tdo_shield_leave(&shield);
  tdo_shield_note_stopped(&shield); /* one flush for all of them */
  for (size_t page = 0; page < 2000; page += 4)
    tdo_shield_lower(&shield, page, page + 1, TDO_BAR_WRITE);
  tdo_shield_leave(&shield);
  ck_assert_uint_gt(shield.stats.mappings, 375);
  for (; shield.stats.mappings > 375 && sessions < 99; ++sessions) {
    size_t lost = shield.stats.bars_lost;
    before = shield.stats.mappings;
    story[0] = '\0';
    tdo_shield_lower(&shield, 1997 - 4 * sessions, 1998 - 4 * sessions,
                     TDO_BAR_WRITE);
    tdo_shield_leave(&shield);
    ck_assert_uint_lt(shield.stats.mappings, before);
    ck_assert_uint_le(shield.stats.bars_lost - lost, 514);
  }
  story[0] = '\0';
  ck_assert_uint_ge(sessions, 2);
  ck_assert_uint_eq(shield.economize_edges, 0);
  ck_assert_uint_ge(shield.economize_at, 500);
  end();
}
END_TEST

/* Read bars are never given up for the budget, nor searched again and again
   when only they are left. */
START_TEST(economizes_not) {
  settings.budget = 0.1;
  mapping_limit = 1000;
  begin(TDO_SHIELD_RANGED, 2000, 2000);
  telling = false;
  for (size_t page = 0; page < 600; page += 2)
    tdo_shield_raise(&shield, page, page + 1, TDO_BAR_READ);
  tdo_shield_raise(&shield, 601, 602, TDO_BAR_WRITE);
  tdo_shield_leave(&shield);
  ck_assert_uint_gt(shield.stats.mappings, 600);
  ck_assert_uint_gt(shield.economize_at, shield.stats.mappings);
  tdo_shield_lower(&shield, 0, 600, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(shield.economize_at, 100);
  end();
}
END_TEST

START_TEST(offers_at_budget) {
  settings.defer_fresh = 0;
  settings.budget = 0.5;
  mapping_limit = 20;
  begin(TDO_SHIELD_DEFERRED, 100, 100);
  telling = false;
  for (size_t page = 1; page < 100; page += 2) {
    bool barred;
    ck_assert_uint_eq(tdo_shield_offer(&shield, page, page + 1, &barred), 1);
    tdo_shield_leave(&shield);
    ck_assert_uint_le(shield.stats.mappings, 12);
  }
  ck_assert_uint_eq(shield.stats.bars_lost, 0);
  ck_assert_uint_eq(fake.refused, 0);
  ck_assert_uint_gt(shield.stats.bars_declined, 40);
  /* What is barred stays so, and read bars are not offered but raised. */
  bool barred = false;
  ck_assert_uint_eq(tdo_shield_offer(&shield, 1, 2, &barred), 1);
  ck_assert(barred);
  ck_assert_uint_eq(tdo_shield_offer(&shield, 98, 100, &barred), 2);
  ck_assert(!barred);
  end();
}
END_TEST

SUITE_SETUP_MAIN("shield_refused", 100, setup, {refused_closing, 1},
                 {refused_opening, 1}, {opened_window, 1}, {refused_memory, 1},
                 {refused_opening_stops, 1}, {refused_all, 1}, {forces, 1},
                 {forced_inside, 8}, {stale, 1}, {at_the_limit, 1},
                 {economizes, 1}, {economizes_in_parts, 1},
                 {economizes_not, 1}, {offers_at_budget, 1})
