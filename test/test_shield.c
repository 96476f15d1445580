/* Testudo: each statement of shield/shield.h, in every mode, over a platform
   that records. SPDX-License-Identifier: BSD-2-Clause */
#include <check.h>
#include <stdio.h>
#include "fake_vm.h"
#include "mpslib.h"
#include "shield/shield.h"

#define PAGES 2048

static fake_vm_t fake;
static tdo_shield_t shield;
static tdo_shield_settings_t settings;

/* What the hooks were told, in order, calls to the platform between. */
static char story[4096];
static size_t lost_pages;

static void tell(const char *text) {
  size_t used = strlen(story);
  ck_assert_uint_lt(used + strlen(text), sizeof story);
  memcpy(story + used, text, strlen(text) + 1);
}

static void hook_stop(void *closure) {
  ck_assert_ptr_eq(closure, story);
  tell("stop ");
}

static void hook_go(void *closure) {
  ck_assert_ptr_eq(closure, story);
  tell("go ");
}

static void hook_lost(void *closure, size_t first, size_t limit,
                      tdo_bar_t bars) {
  char text[64];
  ck_assert_ptr_eq(closure, story);
  (void)snprintf(text, sizeof text, "lost%u[%zu,%zu) ", bars, first, limit);
  tell(text);
  lost_pages += limit - first;
}

static mps_res_t (*fake_protects)(tdo_vm_t *, void *, size_t, tdo_access_t);
static bool telling;

static mps_res_t told_protect(tdo_vm_t *vm, void *base, size_t size,
                              tdo_access_t access) {
  mps_res_t res = fake_protects(vm, base, size, access);
  if (telling) {
    static const char *const names[] = {"none", "read", "", "write"};
    char text[64];
    size_t first = (size_t)((char *)base - FAKE_BASE) / FAKE_PAGE;
    (void)snprintf(text, sizeof text, "%s%s[%zu,%zu) ",
                   res == MPS_RES_OK ? "" : "not-", names[access], first,
                   first + size / FAKE_PAGE);
    tell(text);
  }
  return res;
}

/* A shield with pages [0, ADOPTED) adopted and [ADOPTED, COMMITTED) spare. */
static void begin(tdo_shield_mode_t mode, size_t adopted, size_t committed) {
  tdo_shield_hooks_t hooks = {story, hook_stop, hook_go, hook_lost};
  settings.mode = mode;
  story[0] = '\0';
  telling = true;
  lost_pages = 0;
  fake_init(&fake, PAGES, fake.limit == 0 ? SIZE_MAX : fake.limit);
  fake_protects = fake.vm.protect;
  fake.vm.protect = told_protect;
  ck_assert_int_eq(MPS_RES_OK,
                   tdo_shield_init(&shield, &fake.vm, FAKE_BASE,
                                   PAGES * FAKE_PAGE, &settings, &hooks));
  fake_set(&fake, 0, committed, TDO_ACCESS_WRITE);
  tdo_shield_committed(&shield, 0, committed);
  tdo_shield_adopt(&shield, 0, adopted);
  ck_assert_uint_eq(fake.calls, 0);
}

static void end(void) {
  tdo_shield_leave(&shield);
  ck_assert(tdo_shield_check(&shield));
  for (size_t page = 0; page < PAGES; ++page) {
    ck_assert_msg(shield.actual[page] == fake.access[page], "page %zu", page);
  }
  tdo_shield_finish(&shield);
  ck_assert_uint_eq(fake.tables, 0);
}

#define ck_story(expected)                                                    \
  do {                                                                        \
    ck_assert_str_eq(story, expected);                                        \
    story[0] = '\0';                                                          \
  } while (0)

static void setup(void) {
  tdo_shield_settings_init(&settings);
  memset(&fake, 0, sizeof fake);
}

/* The modes that queue. */
static const tdo_shield_mode_t queueing[] = {TDO_SHIELD_RANGED,
                                             TDO_SHIELD_DEFERRED};

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
  tdo_shield_hooks_t none = {NULL, NULL, NULL, NULL};
  fake_init(&fake, PAGES, 1000);
  fake.no_tables = true;
  ck_assert_int_ne(MPS_RES_OK,
                   tdo_shield_init(&shield, &fake.vm, FAKE_BASE,
                                   PAGES * FAKE_PAGE, &settings, &none));
  fake.no_tables = false;
  settings.queue_length = 0; /* too little counts as 1 */
  settings.budget = 0.5;
  ck_assert_int_eq(MPS_RES_OK,
                   tdo_shield_init(&shield, &fake.vm, FAKE_BASE,
                                   PAGES * FAKE_PAGE, &settings, &none));
  ck_assert(tdo_shield_check(&shield));
  ck_assert_uint_eq(shield.budget_mappings, 500);
  ck_assert_uint_eq(shield.stats.mappings, 1);
  ck_assert(!tdo_shield_adopted(&shield, 0));
  ck_assert_uint_eq(tdo_shield_bars(&shield, PAGES - 1), 0);
  ck_assert(shield.tables_size <=
            PAGES * TDO_SHIELD_BYTES_PER_PAGE + FAKE_PAGE);
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
  ck_assert_uint_eq(fake.tables, 0);
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
    ck_assert_uint_eq(shield.stats.flushes_stop, 1);
    ck_assert_uint_eq(shield.stats.flushes_leave, 1);
    ck_assert_uint_eq(shield.stats.flushes_full, 0);
    end();
  }
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

START_TEST(exposes) {
  for (size_t i = 0; i < 2; ++i) {
    begin(queueing[i], 30, 30);
    tdo_shield_raise(&shield, 5, 10, TDO_BAR_WRITE);
    tdo_shield_raise(&shield, 15, 20, TDO_BAR_READ);
    tdo_shield_leave(&shield);
    ck_story("read[5,10) none[15,20) ");
    tdo_shield_expose(&shield, 3, 18); /* stops first, and once */
    ck_story("stop write[5,18) ");
    tdo_shield_expose(&shield, 9, 20); /* nests */
    ck_story("write[18,20) ");
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
  fake_set(&fake, 14, 15, TDO_ACCESS_NONE);
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
    for (size_t page = 0; page < 20; ++page) {
      ck_assert_uint_eq(fake.access[page], TDO_ACCESS_WRITE);
    }
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
  for (int i = 0; i < 4; ++i) {
    ck_assert_uint_eq(offer(5, 7, false), 1);
  }
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
  for (int i = 0; i < 254; ++i) {
    ck_assert_uint_eq(offer(0, 2, false), 2);
  }
  for (int i = 0; i < 600; ++i) {
    ck_assert_uint_eq(offer(0, 2, false), 1);
  }
  ck_assert_uint_eq(offer(1, 2, true), 1);
  end();
}
END_TEST

START_TEST(offers_at_budget) {
  settings.defer_fresh = 0;
  settings.budget = 0.5;
  fake.limit = 20;
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
  ck_assert_uint_eq(offer(1, 2, true), 1);
  ck_assert_uint_eq(offer(98, 100, false), 2);
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
  ck_assert_uint_eq(shield.stats.mappings, 3);
  ck_assert_uint_eq(shield.stats.mappings_most, 6);
  end();
}
END_TEST

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
             "write[0,2048) lost1[30,33) lost1[34,40) ");
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
    ck_assert_uint_eq(failures, 1);
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

/* At the mapping limit everything goes on. */
START_TEST(mapping_limit) {
  settings.budget = 1.0;
  settings.defer_fresh = 0;
  for (unsigned mode = 0; mode < TDO_SHIELD_OFF; ++mode) {
    fake.limit = 20;
    begin((tdo_shield_mode_t)mode, 400, 400);
    telling = false;
    for (size_t page = 0; page < 400; page += 2) {
      tdo_shield_raise(&shield, page, page + 1,
                       page % 4 ? TDO_BAR_READ : TDO_BAR_WRITE);
      if (page % 32 == 0) {
        tdo_shield_leave(&shield);
      }
      story[0] = '\0';
    }
    tdo_shield_leave(&shield);
    ck_assert_uint_gt(fake.refused, 0);
    ck_assert_uint_eq(shield.stats.bars_lost, lost_pages);
    ck_assert_uint_le(fake.mappings, 20);
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
    fake.limit = 1000;
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
    for (size_t page = 1100; page < 1124; page += 2) {
      tdo_shield_lower(&shield, page, page + 1, TDO_BAR_WRITE);
    }
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

/* Read bars are never given up for the budget, nor searched again and again
   when only they are left. */
START_TEST(economizes_not) {
  settings.budget = 0.1;
  fake.limit = 1000;
  begin(TDO_SHIELD_RANGED, 2000, 2000);
  telling = false;
  for (size_t page = 0; page < 600; page += 2) {
    tdo_shield_raise(&shield, page, page + 1, TDO_BAR_READ);
  }
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

int main(void) {
  Suite *suite = suite_create("shield");
  TCase *tests = tcase_create("shield");
  tcase_add_checked_fixture(tests, setup, NULL);
  tcase_add_test(tests, names);
  tcase_add_test(tests, life);
  tcase_add_test(tests, wanted);
  tcase_add_test(tests, empty_ranges);
  tcase_add_test(tests, naive);
  tcase_add_test(tests, queues);
  tcase_add_test(tests, passes);
  tcase_add_test(tests, undone);
  tcase_add_test(tests, unbarred);
  tcase_add_test(tests, exposes);
  tcase_add_test(tests, exposes_queued);
  tcase_add_test(tests, stopped_already);
  tcase_add_test(tests, full_queue);
  tcase_add_test(tests, bridges);
  tcase_add_test(tests, bridges_not);
  tcase_add_test(tests, retires);
  tcase_add_test(tests, offers_simple);
  tcase_add_test(tests, offers_deferred);
  tcase_add_test(tests, offers_never);
  tcase_add_test(tests, offers_at_budget);
  tcase_add_test(tests, hits);
  tcase_add_test(tests, statistics);
  tcase_add_test(tests, refused_closing);
  tcase_add_test(tests, refused_opening);
  tcase_add_test(tests, refused_opening_stops);
  tcase_add_test(tests, refused_all);
  tcase_add_test(tests, mapping_limit);
  tcase_add_test(tests, economizes);
  tcase_add_test(tests, economizes_not);
  tcase_add_test(tests, checks);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
