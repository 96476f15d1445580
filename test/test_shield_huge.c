/* Testudo: the shield over huge pages: it makes no call about a part of one
   that it can do without. SPDX-License-Identifier: BSD-2-Clause */
#include "shield_story.h"
#include "suite.h"

enum { HUGE = 512 };

/* A shield with two huge pages in use, of which the first is backed by one. */
static void begin_huge(tdo_shield_mode_t mode) {
  settings.huge_pages = HUGE;
  begin(mode, 2 * HUGE, 2 * HUGE);
  tdo_shield_huge(&shield, 0, HUGE, true);
}

/* The collector gets all of it at once; but what no longer is a huge page is
   one of many. */
START_TEST(opens) {
  for (size_t i = 0; i < 2; ++i) {
    bool huge = i == 0;
    begin_huge(TDO_SHIELD_DEFERRED);
    tdo_shield_huge(&shield, 0, HUGE, huge);
    tdo_shield_raise(&shield, 0, 2 * HUGE, TDO_BAR_READ);
    tdo_shield_leave(&shield);
    story[0] = '\0';
    tdo_shield_expose(&shield, 100, 101);
    ck_story(huge ? "stop write[100,512) " : "stop write[100,109) ");
    tdo_shield_cover(&shield, 100, 101);
    tdo_shield_leave(&shield);
    ck_story(huge ? "none[100,512) go " : "none[100,109) go ");
    tdo_shield_expose(&shield, HUGE + 100, HUGE + 101);
    ck_story("stop write[612,621) ");
    tdo_shield_cover(&shield, HUGE + 100, HUGE + 101);
    end();
  }
}
END_TEST

/* Any free pages in it are passed over; but not in mode ranged, nor so many
   elsewhere. */
START_TEST(bridges) {
  for (size_t at = 0; at < 3; ++at) {
    size_t base = at == 1 ? HUGE : 0;
    begin_huge(at == 2 ? TDO_SHIELD_RANGED : TDO_SHIELD_DEFERRED);
    tdo_shield_retire(&shield, base + 10, base + 500);
    tdo_shield_raise(&shield, base + 5, base + 10, TDO_BAR_WRITE);
    tdo_shield_raise(&shield, base + 500, base + 510, TDO_BAR_WRITE);
    tdo_shield_leave(&shield);
    ck_story(at == 0   ? "read[5,510) "
             : at == 1 ? "read[517,522) read[1012,1022) "
                       : "read[5,10) read[500,510) ");
    end();
  }
}
END_TEST

/* A shield that was not told of them does not care, nor one whose requests
   are recorded: a recording does not tell of them. */
START_TEST(ignored) {
  for (size_t i = 0; i < 2; ++i) {
    char name[] = "/tmp/testudo-record-XXXXXX";
    tdo_shield_record_t record;
    settings.huge_pages = i == 0 ? 0 : HUGE;
    begin(TDO_SHIELD_DEFERRED, 2 * HUGE, 2 * HUGE);
    if (i == 1) {
      ck_assert_int_ge(mkstemp(name), 0);
      ck_assert_int_eq(
          tdo_shield_record_open(&record, name, 4096, PAGES, 0, 0),
          MPS_RES_OK);
      (void)unlink(name);
      tdo_shield_record(&shield, &record);
    }
    tdo_shield_huge(&shield, 0, HUGE, true);
    tdo_shield_raise(&shield, 0, 2 * HUGE, TDO_BAR_READ);
    tdo_shield_leave(&shield);
    story[0] = '\0';
    tdo_shield_expose(&shield, 100, 101);
    ck_story("stop write[100,109) ");
    tdo_shield_cover(&shield, 100, 101);
    end();
    if (i == 1)
      tdo_record_close(&record.file);
  }
}
END_TEST

SUITE_SETUP_MAIN("shield_huge", 100, setup, {opens, 1}, {bridges, 1},
                 {ignored, 1})
