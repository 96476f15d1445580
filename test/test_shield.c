/* Testudo: each statement of shield/shield.h, in every mode, over a platform
   that records. SPDX-License-Identifier: BSD-2-Clause */
#include "shield_story.h"
#include "suite.h"

START_TEST(names) {
  tdo_shield_mode_t mode;
  static const char *const all[] = {"naive", "ranged", "deferred", "dirty",
                                    "off"};
  for (size_t i = 0; i < TDO_SHIELD_MODES; ++i) {
    ck_assert(tdo_shield_mode_parse(&mode, all[i]));
    ck_assert_uint_eq(mode, i);
    ck_assert_str_eq(tdo_shield_mode_name(mode), all[i]);
  }
  mode = TDO_SHIELD_OFF;
  ck_assert(!tdo_shield_mode_parse(&mode, "Naive"));
  ck_assert(!tdo_shield_mode_parse(&mode, "naive "));
  ck_assert(!tdo_shield_mode_parse(&mode, ""));
  ck_assert(!tdo_shield_mode_parse(&mode, NULL));
  ck_assert_uint_eq(mode, TDO_SHIELD_OFF);
}
END_TEST

START_TEST(life) {
  tdo_shield_hooks_t none = {NULL, NULL, NULL, NULL, NULL};
  fake_init(&fake, PAGES, 1000);
  tdo_vm_double_refuse_kind(&fake.twin, TDO_VM_TABLE, true);
  ck_assert_int_ne(MPS_RES_OK,
                   tdo_shield_init(&shield, &fake.twin.vm, fake.base,
                                   PAGES * fake.twin.vm.page_size, &settings,
                                   &none));
  tdo_vm_double_refuse_kind(&fake.twin, TDO_VM_TABLE, false);
  settings.queue_length = 0; /* too little counts as 1 */
  settings.budget = 0.5;
  ck_assert_int_eq(MPS_RES_OK,
                   tdo_shield_init(&shield, &fake.twin.vm, fake.base,
                                   PAGES * fake.twin.vm.page_size, &settings,
                                   &none));
  ck_assert(tdo_shield_check(&shield));
  ck_assert_uint_eq(shield.budget_mappings, 500);
  ck_assert_uint_eq(shield.stats.mappings, 1);
  ck_assert(!tdo_shield_adopted(&shield, 0));
  ck_assert_uint_eq(tdo_shield_bars(&shield, PAGES - 1), 0);
  /* Each of five tables begins in a page of its own. */
  ck_assert(shield.tables_size <=
            PAGES * TDO_SHIELD_BYTES_PER_PAGE + 6 * fake.twin.vm.page_size);
  /* Null hooks. */
  tdo_shield_committed(&shield, 0, 9);
  tdo_shield_adopt(&shield, 0, 9);
  tdo_shield_raise(&shield, 0, 9, TDO_BAR_READ);
  fake.refuse_next = 1;
  tdo_shield_flush(&shield);
  tdo_shield_raise(&shield, 0, 9, TDO_BAR_READ);
  tdo_shield_flush(&shield);
  tdo_shield_expose(&shield, 0, 9);
  tdo_shield_leave(&shield);
  ck_assert(tdo_shield_check(&shield));
  tdo_shield_finish(&shield);

  ck_assert(!tdo_shield_check(&shield));
}
END_TEST

/* .wanted */
START_TEST(wanted) {
  static const tdo_access_t by_bars[4] = {TDO_ACCESS_WRITE, TDO_ACCESS_READ,
                                          TDO_ACCESS_NONE, TDO_ACCESS_NONE};
  for (unsigned mode = 0; mode < TDO_SHIELD_OFF; ++mode) {
    begin((tdo_shield_mode_t)mode, 4, 8);
    telling = false;
    for (tdo_bar_t bars = 0; bars < 4; ++bars) {
      tdo_shield_raise(&shield, bars, bars + 1, bars);
      ck_assert_uint_eq(tdo_shield_bars(&shield, bars), bars);
      tdo_shield_flush(&shield);
      ck_assert_uint_eq(fake.access[bars], by_bars[bars]);
      tdo_shield_expose(&shield, bars, bars + 1);
      ck_assert_uint_eq(fake.access[bars], TDO_ACCESS_WRITE);
      tdo_shield_flush(&shield);
      ck_assert_uint_eq(fake.access[bars], TDO_ACCESS_WRITE);
      tdo_shield_cover(&shield, bars, bars + 1);
      tdo_shield_flush(&shield);
      ck_assert_uint_eq(fake.access[bars], by_bars[bars]);
    }
    tdo_shield_lower(&shield, 0, 4, TDO_BAR_READ);
    tdo_shield_flush(&shield);
    ck_assert_uint_eq(fake.access[2], TDO_ACCESS_WRITE);
    ck_assert_uint_eq(fake.access[3], TDO_ACCESS_READ);
    end();
  }
}
END_TEST

START_TEST(empty_ranges) {
  for (unsigned mode = 0; mode < TDO_SHIELD_MODES; ++mode) {
    begin((tdo_shield_mode_t)mode, 8, 8);
    tdo_shield_raise(&shield, 3, 3, TDO_BAR_READ);
    tdo_shield_lower(&shield, 3, 3, TDO_BAR_READ);
    tdo_shield_expose(&shield, 3, 3);
    tdo_shield_cover(&shield, 3, 3);
    tdo_shield_adopt(&shield, 8, 8);
    tdo_shield_retire(&shield, 3, 3);
    tdo_shield_committed(&shield, 8, 8);
    tdo_shield_decommitted(&shield, PAGES, PAGES);
    ck_assert_uint_eq(0, shield.stats.raises + shield.stats.lowers +
                             shield.stats.exposes + shield.stats.covers);
    ck_story("");
    end();
  }
}
END_TEST

/* At once, one call a page, none for a page that is right already. */
START_TEST(naive) {
  begin(TDO_SHIELD_NAIVE, 8, 8);
  tdo_shield_raise(&shield, 1, 3, TDO_BAR_WRITE);
  ck_story("read[1,2) read[2,3) ");
  tdo_shield_raise(&shield, 0, 4, TDO_BAR_WRITE);
  ck_story("read[0,1) read[3,4) ");
  tdo_shield_expose(&shield, 3, 6);
  ck_story("stop write[3,4) ");
  tdo_shield_expose(&shield, 2, 4);
  ck_story("write[2,3) ");
  tdo_shield_cover(&shield, 3, 6);
  ck_story("");
  tdo_shield_cover(&shield, 2, 4);
  ck_story("read[2,3) read[3,4) ");
  tdo_shield_lower(&shield, 2, 8, TDO_BAR_WRITE);
  ck_story("write[2,3) write[3,4) ");
  tdo_shield_leave(&shield);
  ck_story("go ");
  tdo_shield_retire(&shield, 0, 8);
  ck_story("");
  tdo_shield_adopt(&shield, 0, 8);
  ck_story("write[0,1) write[1,2) ");
  ck_assert_uint_eq(shield.stats.flushes_leave, 0);
  end();
}
END_TEST

START_TEST(queues) {
  for (size_t i = 0; i < 2; ++i) {
    begin(queueing[i], 20, 20);
    tdo_shield_raise(&shield, 1, 3, TDO_BAR_WRITE);
    tdo_shield_raise(&shield, 3, 5, TDO_BAR_WRITE);
    tdo_shield_raise(&shield, 9, 12, TDO_BAR_WRITE);
    tdo_shield_raise(&shield, 12, 14, TDO_BAR_READ);
    ck_assert_uint_eq(tdo_shield_bars(&shield, 4), TDO_BAR_WRITE);
    ck_story("");
    tdo_shield_flush(&shield);
    ck_story("read[1,5) read[9,12) none[12,14) ");
    tdo_shield_flush(&shield);
    tdo_shield_leave(&shield);
    ck_story("");
    tdo_shield_lower(&shield, 0, 20, TDO_BAR_READ | TDO_BAR_WRITE);
    ck_story("");
    tdo_shield_leave(&shield);
    ck_story("write[1,14) "); /* passing over what is open */
    ck_assert_uint_eq(shield.stats.flushes_stop, 0);
    ck_assert_uint_eq(shield.stats.flushes_leave, 2);
    ck_assert_uint_eq(shield.stats.flushes_full, 0);
    end();
  }
}
END_TEST

/* A flush is counted by what its session was for. */
START_TEST(counts_flushes) {
  begin(TDO_SHIELD_DEFERRED, 20, 20);
  tdo_shield_raise(&shield, 1, 3, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(shield.stats.flushes_leave, 1);
  tdo_shield_note_stopped(&shield);
  tdo_shield_lower(&shield, 1, 2, TDO_BAR_READ);
  tdo_shield_flush(&shield);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(shield.stats.flushes_stop, 1);
  tdo_shield_hit(&shield, 2, TDO_BAR_READ);
  tdo_shield_expose(&shield, 2, 3); /* and stops the threads */
  tdo_shield_lower(&shield, 2, 3, TDO_BAR_READ);
  tdo_shield_cover(&shield, 2, 3);
  tdo_shield_raise(&shield, 5, 6, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  tdo_shield_raise(&shield, 7, 8, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(shield.stats.flushes_quantum, 1);
  ck_assert_uint_eq(shield.stats.flushes_stop, 1);
  ck_assert_uint_eq(shield.stats.flushes_leave, 2);
  ck_assert_uint_eq(shield.stats.flushes_full, 0);
  end();
}
END_TEST

/* Runs pass over pages that are as wanted, but not over others. */
START_TEST(passes) {
  for (size_t i = 0; i < 2; ++i) {
    begin(queueing[i], 200, 200);
    tdo_shield_raise(&shield, 10, 100, TDO_BAR_WRITE);
    tdo_shield_flush(&shield);
    ck_story("read[10,100) ");
    tdo_shield_raise(&shield, 5, 10, TDO_BAR_WRITE);
    tdo_shield_raise(&shield, 100, 102, TDO_BAR_WRITE);
    tdo_shield_flush(&shield);
    ck_story("read[5,102) ");
    tdo_shield_lower(&shield, 50, 51, TDO_BAR_WRITE);
    tdo_shield_raise(&shield, 4, 5, TDO_BAR_WRITE);
    tdo_shield_raise(&shield, 102, 103, TDO_BAR_WRITE);
    tdo_shield_flush(&shield);
    ck_story("read[4,5) write[50,51) read[102,103) ");
    end();
  }
}
END_TEST

/* What is undone within a session costs nothing. */
START_TEST(undone) {
  for (size_t i = 0; i < 2; ++i) {
    begin(queueing[i], 20, 20);
    tdo_shield_raise(&shield, 1, 19, TDO_BAR_READ | TDO_BAR_WRITE);
    tdo_shield_lower(&shield, 1, 19, TDO_BAR_READ);
    tdo_shield_lower(&shield, 1, 19, TDO_BAR_WRITE);
    tdo_shield_expose(&shield, 2, 9);
    tdo_shield_expose(&shield, 4, 20);
    tdo_shield_cover(&shield, 2, 9);
    tdo_shield_cover(&shield, 4, 20);
    tdo_shield_leave(&shield);
    ck_story("");
    end();
  }
}
END_TEST

/* A page that nothing bars is exposed and covered for nothing. */
START_TEST(unbarred) {
  for (unsigned mode = 0; mode < TDO_SHIELD_MODES; ++mode) {
    begin((tdo_shield_mode_t)mode, 20, 20);
    tdo_shield_expose(&shield, 0, 20);
    tdo_shield_cover(&shield, 0, 20);
    tdo_shield_expose(&shield, 7, 8);
    tdo_shield_cover(&shield, 7, 8);
    tdo_shield_leave(&shield);
    ck_story("");
    ck_assert_uint_eq(shield.queued, 0);
    end();
  }
}
END_TEST

START_TEST(full_queue) {
  settings.queue_length = 2;
  for (size_t i = 0; i < 2; ++i) {
    begin(queueing[i], 30, 30);
    tdo_shield_raise(&shield, 1, 2, TDO_BAR_WRITE);
    tdo_shield_raise(&shield, 3, 4, TDO_BAR_WRITE);
    tdo_shield_raise(&shield, 1, 4, 0); /* makes no work: is not queued */
    tdo_shield_raise(&shield, 3, 4, TDO_BAR_WRITE);
    tdo_shield_lower(&shield, 9, 10, TDO_BAR_WRITE);
    tdo_shield_expose(&shield, 9, 12);
    tdo_shield_cover(&shield, 9, 12);
    ck_story("");
    tdo_shield_raise(&shield, 5, 6, TDO_BAR_WRITE);
    ck_story("read[1,2) read[3,4) read[5,6) ");
    ck_assert_uint_eq(shield.stats.flushes_full, 1);
    tdo_shield_raise(&shield, 7, 8, TDO_BAR_WRITE);
    ck_story("");
    end();
  }
}
END_TEST

/* While the threads are stopped nobody is to be kept out: the modes that
   defer wait for the end of the session. */
START_TEST(full_queue_stopped) {
  settings.queue_length = 1;
  for (size_t i = 0; i < 2; ++i) {
    begin(queueing[i], 30, 30);
    tdo_shield_note_stopped(&shield);
    for (size_t page = 1; page < 20; page += 2)
      tdo_shield_raise(&shield, page, page + 1, TDO_BAR_READ);
    ck_assert_uint_eq(shield.stats.flushes_full,
                      queueing[i] == TDO_SHIELD_RANGED ? 5 : 0);
    tdo_shield_leave(&shield);
    ck_assert_uint_eq(shield.stats.calls, 10);
    end();
  }
}
END_TEST

START_TEST(bridges) {
  /* Deferred only: over spare pages between pages of the same need. */
  for (size_t i = 0; i < 2; ++i) {
    begin(queueing[i], 100, 100);
    tdo_shield_retire(&shield, 10, 20);
    tdo_shield_raise(&shield, 5, 10, TDO_BAR_WRITE);
    tdo_shield_raise(&shield, 20, 30, TDO_BAR_WRITE);
    tdo_shield_leave(&shield);
    if (queueing[i] == TDO_SHIELD_RANGED) {
      ck_story("read[5,10) read[20,30) ");
    } else {
      ck_story("read[5,30) ");
      ck_assert_uint_eq(shield.actual[15], TDO_ACCESS_READ);
      tdo_shield_adopt(&shield, 14, 16); /* open when this returns */
      ck_story("write[10,20) ");         /* and the others ahead */
      tdo_shield_adopt(&shield, 16, 20);
      ck_story("");
    }
    end();
  }
}
END_TEST

START_TEST(bridges_not) {
  begin(TDO_SHIELD_DEFERRED, 400, 400);
  tdo_shield_retire(&shield, 10, 20);
  tdo_shield_decommitted(&shield, 14, 15);
  fake_commit(&fake, 14, 15, false);
  tdo_shield_retire(&shield, 100, 300);
  tdo_shield_retire(&shield, 350, 352);
  tdo_shield_raise(&shield, 5, 10, TDO_BAR_WRITE);
  tdo_shield_raise(&shield, 20, 30, TDO_BAR_WRITE);   /* a hole */
  tdo_shield_raise(&shield, 90, 100, TDO_BAR_WRITE);  /* far */
  tdo_shield_raise(&shield, 300, 350, TDO_BAR_WRITE); /* another need */
  tdo_shield_raise(&shield, 352, 360, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  ck_story("read[5,10) read[20,30) read[90,100) read[300,350) "
           "none[352,360) ");
  end();
}
END_TEST

static void hit_and_lower(size_t page) {
  tdo_shield_hit(&shield, page, TDO_BAR_WRITE);
  tdo_shield_lower(&shield, page, page + 1, TDO_BAR_WRITE);
}

/* Who writes page after page, in whatever direction, costs the fewer hits the
   longer he does, even if a collection lies between any two. */
START_TEST(follows_a_trail) {
  begin(TDO_SHIELD_DEFERRED, 1000, 1000);
  for (int up = 0; up < 2; ++up) {
    size_t hits = 0, base = up ? 600 : 0;
    tdo_shield_raise(&shield, base, base + 400, TDO_BAR_WRITE);
    tdo_shield_leave(&shield);
    for (size_t i = 0; i < 128; ++i) {
      size_t page = up ? base + 200 + i : base + 200 - i;
      if ((tdo_shield_bars(&shield, page) & TDO_BAR_WRITE) != 0) {
        ++hits;
        hit_and_lower(page);
        tdo_shield_leave(&shield);
        for (size_t n = 0; n < 10; ++n) {
          tdo_shield_note_stopped(&shield); /* collections pass */
          tdo_shield_leave(&shield);
        }
      }
    }
    ck_assert_uint_le(hits, 8);
    ck_assert_uint_eq(tdo_shield_bars(&shield, up ? base + 5 : base + 395),
                      TDO_BAR_WRITE);
  }
  end();
}
END_TEST

START_TEST(retires) {
  for (unsigned mode = 0; mode < TDO_SHIELD_OFF; ++mode) {
    begin((tdo_shield_mode_t)mode, 20, 20);
    tdo_shield_raise(&shield, 0, 4, TDO_BAR_WRITE);
    tdo_shield_leave(&shield);
    tdo_shield_raise(&shield, 10, 14, TDO_BAR_WRITE);
    tdo_shield_expose(&shield, 0, 20);
    story[0] = '\0';
    tdo_shield_retire(&shield, 0, 20);
    ck_assert(!tdo_shield_adopted(&shield, 11));
    ck_assert_uint_eq(tdo_shield_bars(&shield, 11), 0);
    ck_story("");
    tdo_shield_flush(&shield);
    ck_story("");
    ck_assert(tdo_shield_check(&shield));
    tdo_shield_adopt(&shield, 0, 20);
    for (size_t page = 0; page < 20; ++page)
      ck_assert_uint_eq(fake.access[page], TDO_ACCESS_WRITE);
    tdo_shield_raise(&shield, 0, 20, TDO_BAR_WRITE); /* not exposed */
    tdo_shield_flush(&shield);
    ck_assert_uint_eq(fake.access[0], TDO_ACCESS_READ);
    end();
  }
}
END_TEST

START_TEST(offers_simple) {
  bool barred = false;
  for (unsigned mode = TDO_SHIELD_NAIVE; mode <= TDO_SHIELD_RANGED; ++mode) {
    begin((tdo_shield_mode_t)mode, 20, 20);
    ck_assert_uint_eq(tdo_shield_offer(&shield, 2, 9, &barred), 7);
    ck_assert(barred);
    tdo_shield_flush(&shield);
    ck_assert_uint_eq(fake.access[2], TDO_ACCESS_READ);
    ck_assert_uint_eq(fake.access[8], TDO_ACCESS_READ);
    ck_assert_uint_eq(fake.access[9], TDO_ACCESS_WRITE);
    end();
  }
  begin(TDO_SHIELD_OFF, 20, 20);
  ck_assert_uint_eq(tdo_shield_offer(&shield, 2, 9, &barred), 7);
  ck_assert(!barred);
  ck_assert_uint_eq(shield.stats.bars_declined, 7);
  tdo_shield_raise(&shield, 0, 20, TDO_BAR_READ | TDO_BAR_WRITE);
  ck_assert_uint_eq(tdo_shield_bars(&shield, 3), 0);
  tdo_shield_leave(&shield);
  ck_story("");
  end();
}
END_TEST

static size_t offer(size_t first, size_t limit, bool expected) {
  bool barred = !expected;
  size_t n = tdo_shield_offer(&shield, first, limit, &barred);
  ck_assert_uint_eq(barred, expected);
  return n;
}

START_TEST(offers_deferred) {
  settings.defer_fresh = 3;
  settings.defer_hit = 5;
  begin(TDO_SHIELD_DEFERRED, 20, 20);
  ck_assert_uint_eq(offer(0, 10, false), 10);
  ck_assert_uint_eq(offer(4, 6, false), 2);
  ck_assert_uint_eq(offer(0, 10, false), 4); /* 4 and 5 have earned it */
  ck_assert_uint_eq(offer(4, 10, true), 2);
  ck_assert_uint_eq(offer(6, 10, false), 4);
  ck_assert_uint_eq(shield.stats.bars_declined, 20);
  ck_assert_uint_eq(offer(0, 10, true), 10); /* all of them, barred or not */
  ck_assert_uint_eq(tdo_shield_bars(&shield, 9), TDO_BAR_WRITE);
  /* A hit starts again, and with more to earn. */
  tdo_shield_hit(&shield, 5, TDO_BAR_WRITE);
  ck_assert_uint_eq(tdo_shield_bars(&shield, 5), TDO_BAR_WRITE);
  tdo_shield_lower(&shield, 5, 6, TDO_BAR_WRITE);
  for (int i = 0; i < 4; ++i)
    ck_assert_uint_eq(offer(5, 7, false), 1);
  ck_assert_uint_eq(offer(5, 7, true), 2);
  /* Adopted anew: fresh. */
  tdo_shield_retire(&shield, 5, 6);
  tdo_shield_adopt(&shield, 5, 6);
  ck_assert_uint_eq(offer(5, 6, false), 1);
  ck_assert_uint_eq(offer(5, 6, false), 1);
  ck_assert_uint_eq(offer(5, 6, true), 1);
  end();
}
END_TEST

START_TEST(offers_never) {
  settings.defer_fresh = 256;
  settings.defer_hit = 255;
  begin(TDO_SHIELD_DEFERRED, 20, 20);
  tdo_shield_hit(&shield, 1, TDO_BAR_WRITE);
  for (int i = 0; i < 254; ++i)
    ck_assert_uint_eq(offer(0, 2, false), 2);
  for (int i = 0; i < 600; ++i)
    ck_assert_uint_eq(offer(0, 2, false), 1);
  ck_assert_uint_eq(offer(1, 2, true), 1);
  end();
}
END_TEST

/* A hit by the program, on a page with a write bar. */
static void hit(size_t page) {
  ck_assert_uint_eq(tdo_shield_bars(&shield, page), TDO_BAR_WRITE);
  hit_and_lower(page);
  tdo_shield_leave(&shield);
}

static size_t open_pages(size_t first, size_t limit) {
  size_t n = 0;
  for (; first < limit; ++first)
    n += fake.access[first] == TDO_ACCESS_WRITE;
  return n;
}

/* Hits far from each other open nothing besides; where one page in 36 was hit,
   the others are opened with it. */
START_TEST(hits_far_and_near) {
  settings.defer_hit = 3;
  begin(TDO_SHIELD_DEFERRED, 1024, 1024);
  tdo_shield_raise(&shield, 0, 1024, TDO_BAR_WRITE);
  tdo_shield_leave(&shield);
  for (size_t page = 8; page < 1024; page += 64)
    hit(page);
  ck_assert_uint_eq(open_pages(0, 1024), 16);
  ck_assert_uint_eq(shield.stats.hits_spread, 0);
  hit(516); /* 2 of 64 pages, but 3 of 128 */
  ck_assert_uint_eq(open_pages(512, 576), 64);
  ck_assert_uint_eq(open_pages(0, 1024), 15 + 64);
  ck_assert_uint_eq(shield.stats.hits_spread, 62);
  ck_assert_uint_eq(lost_pages, 62);
  for (size_t page = 0; page < 1024; ++page) {
    if (tdo_shield_bars(&shield, page) != 0)
      hit(page);
  }
  ck_assert_uint_eq(open_pages(0, 1024), 1024);
  ck_assert_uint_le(shield.stats.hits_write, 29);
  /* All of them earn their bars like pages that were hit. */
  ck_assert_uint_eq(offer(512, 544, false), 32);
  ck_assert_uint_eq(offer(512, 544, false), 32);
  ck_assert_uint_eq(offer(512, 544, true), 32);
  end();
}
END_TEST

START_TEST(hits) {
  begin(TDO_SHIELD_RANGED, 20, 20);
  tdo_shield_raise(&shield, 0, 3, TDO_BAR_READ | TDO_BAR_WRITE);
  tdo_shield_hit(&shield, 0, TDO_BAR_READ);
  tdo_shield_hit(&shield, 1, TDO_BAR_WRITE);
  tdo_shield_hit(&shield, 2, TDO_BAR_WRITE);
  tdo_shield_hit(&shield, 9, 0);
  ck_assert_uint_eq(shield.stats.hits_read, 1);
  ck_assert_uint_eq(shield.stats.hits_write, 2);
  ck_assert_uint_eq(shield.stats.hits_stale, 1);
  ck_assert_uint_eq(tdo_shield_bars(&shield, 0), TDO_BAR_READ | TDO_BAR_WRITE);
  end();
}
END_TEST

START_TEST(statistics) {
  begin(TDO_SHIELD_RANGED, 1000, 1000);
  tdo_shield_raise(&shield, 0, 300, TDO_BAR_WRITE);
  tdo_shield_raise(&shield, 400, 401, TDO_BAR_WRITE);
  tdo_shield_flush(&shield);
  tdo_shield_lower(&shield, 0, 1, TDO_BAR_WRITE);
  tdo_shield_lower(&shield, 299, 300, TDO_BAR_WRITE);
  tdo_shield_flush(&shield);
  tdo_shield_lower(&shield, 400, 401, TDO_BAR_WRITE);
  tdo_shield_raise(&shield, 0, 1, TDO_BAR_WRITE);
  tdo_shield_raise(&shield, 299, 300, TDO_BAR_WRITE);
  tdo_shield_flush(&shield); /* passes over 298 pages: two calls */
  ck_assert_uint_eq(shield.stats.raises, 4);
  ck_assert_uint_eq(shield.stats.lowers, 3);
  ck_assert_uint_eq(shield.stats.calls, 6);
  ck_assert_uint_eq(shield.stats.pages, 301 + 2 + 301);
  ck_assert_uint_eq(shield.stats.pages_changed, 301 + 2 + 3);
  ck_assert_uint_eq(shield.stats.pages_per_call[8], 2);
  ck_assert_uint_eq(shield.stats.pages_per_call[0], 4);
  /* 300, the last call two of as many, the others one */
  ck_assert_uint_eq(shield.stats.changed_per_call[8], 1);
  ck_assert_uint_eq(shield.stats.changed_per_call[1], 1);
  ck_assert_uint_eq(shield.stats.changed_per_call[0], 4);
  ck_assert_uint_eq(shield.stats.mappings, 3);
  ck_assert_uint_eq(shield.stats.mappings_most, 6);
  end();
}
END_TEST

/* .differ, .count and the rest are really checked. */
START_TEST(checks) {
  begin(TDO_SHIELD_RANGED, 100, 200);
  tdo_shield_raise(&shield, 10, 20, TDO_BAR_WRITE);
  ck_assert(tdo_shield_check(&shield));
  tdo_bits_clear(shield.differ, 15);
  ck_assert(!tdo_shield_check(&shield));
  tdo_bits_set(shield.differ, 15);
  tdo_bits_set(shield.differ, 150);
  ck_assert(!tdo_shield_check(&shield));
  tdo_bits_clear(shield.differ, 150);
  ++shield.depth[150];
  ck_assert(!tdo_shield_check(&shield));
  --shield.depth[150];
  ++shield.stats.mappings;
  ck_assert(!tdo_shield_check(&shield));
  --shield.stats.mappings;
  shield.actual[15] = 2;
  ck_assert(!tdo_shield_check(&shield));
  shield.actual[15] = TDO_ACCESS_WRITE;
  ck_assert(tdo_shield_check(&shield));
  end();
}
END_TEST

SUITE_SETUP_MAIN("shield", 100, setup, {names, 1}, {life, 1}, {wanted, 1},
                 {empty_ranges, 1}, {naive, 1}, {queues, 1},
                 {counts_flushes, 1}, {passes, 1}, {undone, 1}, {unbarred, 1},
                 {full_queue, 1}, {full_queue_stopped, 1}, {bridges, 1},
                 {bridges_not, 1}, {follows_a_trail, 1}, {retires, 1},
                 {offers_simple, 1}, {offers_deferred, 1}, {offers_never, 1},
                 {hits_far_and_near, 1}, {hits, 1}, {statistics, 1},
                 {checks, 1})
