/* Testudo: what the shield opens to the collector, and what it opens or gives
   up along with it; over a platform that records.
   SPDX-License-Identifier: BSD-2-Clause */
#include "shield_story.h"
#include "suite.h"

START_TEST(exposes) {
  for (size_t i = 0; i < 2; ++i) {
    begin(queueing[i], 30, 30);
    tdo_shield_raise(&shield, 5, 10, TDO_BAR_WRITE);
    tdo_shield_raise(&shield, 15, 20, TDO_BAR_READ);
    tdo_shield_leave(&shield);
    ck_story("read[5,10) none[15,20) ");
    tdo_shield_expose(&shield, 3, 18); /* stops first, and once */
    /* deferred: and with it what is closed beyond */
    ck_story(i == 0 ? "stop write[5,18) " : "stop write[5,20) ");
    tdo_shield_expose(&shield, 9, 20); /* nests */
    ck_story(i == 0 ? "write[18,20) " : "");
    tdo_shield_cover(&shield, 3, 18);
    ck_story("");
    tdo_shield_flush(&shield);
    ck_story("read[5,9) ");
    tdo_shield_expose(&shield, 6, 7);
    ck_story("write[6,7) ");
    tdo_shield_cover(&shield, 9, 20);
    tdo_shield_cover(&shield, 6, 7);
    tdo_shield_leave(&shield); /* lets go after the flush */
    ck_story("read[6,10) none[15,20) go ");
    tdo_shield_leave(&shield);
    ck_story("");
    end();
  }
}
END_TEST

/* A closing that is still queued need not be undone, nor anybody stopped. */
START_TEST(exposes_queued) {
  for (size_t i = 0; i < 2; ++i) {
    begin(queueing[i], 30, 30);
    tdo_shield_raise(&shield, 5, 10, TDO_BAR_READ);
    tdo_shield_expose(&shield, 6, 8);
    tdo_shield_flush(&shield);
    ck_story("none[5,6) none[8,10) ");
    tdo_shield_cover(&shield, 6, 8);
    tdo_shield_leave(&shield);
    ck_story("none[6,8) ");
    /* An opening that is still queued is made, but nobody is stopped. */
    tdo_shield_lower(&shield, 5, 10, TDO_BAR_READ);
    tdo_shield_expose(&shield, 6, 8);
    ck_story("write[6,10) ");
    tdo_shield_cover(&shield, 6, 8);
    tdo_shield_leave(&shield);
    ck_story("write[5,6) ");
    end();
  }
}
END_TEST

START_TEST(stopped_already) {
  begin(TDO_SHIELD_RANGED, 30, 30);
  tdo_shield_note_stopped(&shield);
  tdo_shield_raise(&shield, 5, 10, TDO_BAR_READ);
  tdo_shield_flush(&shield);
  tdo_shield_expose(&shield, 5, 10);
  tdo_shield_cover(&shield, 5, 10);
  tdo_shield_leave(&shield);
  ck_story("none[5,10) write[5,10) none[5,10) go ");
  tdo_shield_lower(&shield, 5, 10, TDO_BAR_READ);
  tdo_shield_leave(&shield); /* opening what nothing bars */
  ck_story("write[5,10) ");
  end();
}
END_TEST

/* A session that goes on where the one before left off opens as much at
   once. */
START_TEST(opens_as_before) {
  begin(TDO_SHIELD_DEFERRED, 1000, 1000);
  tdo_shield_raise(&shield, 0, 1000, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  story[0] = '\0';
  for (size_t page = 0; page < 100; page += 10) {
    tdo_shield_expose(&shield, page, page + 10);
    tdo_shield_lower(&shield, page, page + 10, TDO_BAR_READ);
    tdo_shield_cover(&shield, page, page + 10);
  }
  tdo_shield_leave(&shield);
  story[0] = '\0';
  tdo_shield_expose(&shield, 100, 110);
  ck_story("stop write[100,200) ");
  tdo_shield_cover(&shield, 100, 110);
  tdo_shield_leave(&shield);
  end();
}
END_TEST

/* Open pages between what the collector works its way through are passed over;
   not so many that it may have gone elsewhere. */
START_TEST(opens_past) {
  begin(TDO_SHIELD_DEFERRED, 1000, 1000);
  tdo_shield_raise(&shield, 0, 1000, TDO_BAR_READ);
  tdo_shield_lower(&shield, 16, 20, TDO_BAR_READ);
  tdo_shield_lower(&shield, 40, 44, TDO_BAR_READ);
  tdo_shield_lower(&shield, 80, 200, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  story[0] = '\0';
  tdo_shield_expose(&shield, 0, 16);
  tdo_shield_expose(&shield, 20, 30);
  tdo_shield_expose(&shield, 30, 39);
  ck_story("stop write[0,16) write[20,46) ");
  tdo_shield_expose(&shield, 44, 60);
  ck_story("write[46,80) ");
  tdo_shield_expose(&shield, 200, 210);
  ck_story("write[200,226) ");
  tdo_shield_cover(&shield, 0, 16);
  tdo_shield_cover(&shield, 20, 39);
  tdo_shield_cover(&shield, 44, 60);
  tdo_shield_cover(&shield, 200, 210);
  tdo_shield_leave(&shield);
  ck_assert(tdo_shield_check(&shield));
  end();
}
END_TEST

/* Once offers come in batches, a page that is opened to the collector has lost
   its write bar, and has earned the next. */
START_TEST(concedes) {
  bool barred;
  settings.defer_fresh = 1;
  begin(TDO_SHIELD_DEFERRED, 200, 200);
  tdo_shield_begin_offers(&shield);
  ck_assert_uint_eq(tdo_shield_offer(&shield, 0, 100, &barred), 100);
  ck_assert(barred);
  tdo_shield_leave(&shield);
  ck_story("read[0,100) ");
  tdo_shield_note_stopped(&shield);
  tdo_shield_begin_offers(&shield);
  tdo_shield_expose(&shield, 5, 6);
  ck_story("lost1[5,6) write[5,6) ");
  ck_assert_uint_eq(tdo_shield_bars(&shield, 5), 0);
  (void)tdo_shield_offer(&shield, 5, 6, &barred);
  tdo_shield_cover(&shield, 5, 6);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(shield.stats.bars_conceded, 1);
  ck_assert_uint_eq(shield.stats.hits_write, 0);
  end();
}
END_TEST

/* What is released is opened by the first call that opens any of it; only so
   much of it in one collection. */
START_TEST(releases) {
  for (size_t i = 0; i < 2; ++i) {
    begin(queueing[i], 300, 300);
    tdo_shield_raise(&shield, 0, 300, TDO_BAR_WRITE);
    tdo_shield_leave(&shield);
    tdo_shield_note_stopped(&shield);
    tdo_shield_begin_offers(&shield);
    story[0] = '\0';
    tdo_shield_release(&shield, 10, 50, false);
    tdo_shield_release(&shield, 50, 90, false);
    ck_story("");
    tdo_shield_expose(&shield, 20, 21);
    ck_story(i == 0 ? "write[20,21) " : "write[10,90) ");
    tdo_shield_cover(&shield, 20, 21);
    tdo_shield_leave(&shield);
    ck_assert_uint_eq(tdo_shield_bars(&shield, 30),
                      i == 0 ? TDO_BAR_WRITE : 0);
    end();
  }
}
END_TEST

/* With what is opened to the collector goes, in one call, what is closed and
   will cost a call one way or the other: what was released, and what is to be
   closed to readers; not what keeps its write bar. */
START_TEST(reaches) {
  begin(TDO_SHIELD_DEFERRED, 400, 400);
  tdo_shield_raise(&shield, 10, 400, TDO_BAR_WRITE);
  tdo_shield_leave(&shield);
  tdo_shield_note_stopped(&shield);
  tdo_shield_begin_offers(&shield);
  story[0] = '\0';
  tdo_shield_release(&shield, 100, 120, false);
  tdo_shield_raise(&shield, 120, 130, TDO_BAR_READ);
  tdo_shield_release(&shield, 130, 140, false);
  tdo_shield_raise(&shield, 140, 150, TDO_BAR_READ);
  tdo_shield_release(&shield, 160, 170, false);
  tdo_shield_expose(&shield, 130, 131);
  ck_story("write[100,150) ");
  tdo_shield_cover(&shield, 130, 131);
  /* The other one was read in this session, this one was not. */
  tdo_shield_lower(&shield, 120, 130, TDO_BAR_READ | TDO_BAR_WRITE);
  tdo_shield_expose(&shield, 160, 161); /* past what is open, not barred */
  ck_story("write[160,170) ");
  tdo_shield_cover(&shield, 160, 161);
  tdo_shield_leave(&shield);
  ck_story("none[140,150) go ");
  end();
}
END_TEST

/* To both ends of the shield's memory. */
START_TEST(reaches_the_ends) {
  begin(TDO_SHIELD_DEFERRED, PAGES, PAGES);
  tdo_shield_raise(&shield, 0, PAGES, TDO_BAR_WRITE);
  tdo_shield_leave(&shield);
  tdo_shield_note_stopped(&shield);
  tdo_shield_begin_offers(&shield);
  tdo_shield_release(&shield, 0, PAGES, false);
  story[0] = '\0';
  tdo_shield_expose(&shield, 500, 501);
  ck_story("write[0,2048) ");
  tdo_shield_cover(&shield, 500, 501);
  end();
}
END_TEST

/* Opening ahead stops at pages without memory. */
START_TEST(opens_ahead) {
  begin(TDO_SHIELD_DEFERRED, 1000, 1000);
  tdo_shield_raise(&shield, 0, 1000, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  tdo_shield_retire(&shield, 100, 700);
  tdo_shield_decommitted(&shield, 200, 202);
  fake_commit(&fake, 200, 202, false);
  story[0] = '\0';
  tdo_shield_adopt(&shield, 190, 191);
  ck_story("write[100,200) ");
  tdo_shield_adopt(&shield, 202, 204);
  ck_story("write[202,700) ");
  tdo_shield_adopt(&shield, 690, 691);
  ck_story("");
  tdo_shield_adopt(&shield, 695, 700);
  ck_story("");
  end();
}
END_TEST

SUITE_SETUP_MAIN("shield_expose", 100, setup, {exposes, 1},
                 {exposes_queued, 1}, {stopped_already, 1}, {opens_ahead, 1},
                 {opens_past, 1}, {opens_as_before, 1}, {concedes, 1},
                 {releases, 1}, {reaches, 1}, {reaches_the_ends, 1})
