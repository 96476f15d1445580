/* Testudo: settings from the environment. SPDX-License-Identifier:
   BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "code/settings.h"
#include "test/suite.h"

static tdo_settings_t settings;
static char said[4096]; /* what went to standard error */

/* Read the settings with VARIABLE set to TEXT. */
static void read_with(const char *variable, const char *text) {
  FILE *file = tmpfile();
  int saved = dup(STDERR_FILENO);
  ck_assert_ptr_nonnull(file);
  ck_assert_int_eq(setenv(variable, text, 1), 0);
  ck_assert_int_ge(dup2(fileno(file), STDERR_FILENO), 0);
  tdo_settings_read(&settings);
  (void)fflush(stderr);
  ck_assert_int_ge(dup2(saved, STDERR_FILENO), 0);
  (void)close(saved);
  rewind(file);
  said[fread(said, 1, sizeof said - 1, file)] = '\0';
  (void)fclose(file);
  ck_assert_int_eq(unsetenv(variable), 0);
}

#define TAKES(field, variable, text, value)                                   \
  do {                                                                        \
    read_with(variable, text);                                                \
    ck_assert_str_eq(said, "");                                               \
    ck_assert(settings.field == (value));                                     \
    ck_assert(settings.field##_given);                                        \
  } while (0)

/* Each variable complains once in a process, and each test is one. */
#define REFUSES(field, variable, text, value)                                 \
  do {                                                                        \
    read_with(variable, text);                                                \
    ck_assert_ptr_nonnull(strstr(said, "testudo: " variable "=" text));       \
    ck_assert(settings.field == (value));                                     \
    ck_assert(!settings.field##_given);                                       \
    ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1);            \
    read_with(variable, text);                                                \
    ck_assert_str_eq(said, "");                                               \
  } while (0)

START_TEST(defaults) {
  size_t n;
  const tdo_setting_row_t *rows = tdo_settings_rows(&n);
  for (size_t i = 0; i < n; ++i) {
    ck_assert_int_eq(unsetenv(rows[i].variable), 0);
    ck_assert_int_eq(strncmp(rows[i].variable, "TESTUDO_", 8), 0);
  }
  ck_assert_uint_eq(n, 19);
  read_with("TESTUDO_SHIELD", ""); /* empty is unset */
  ck_assert_str_eq(said, "");
  ck_assert_str_eq(tdo_settings_shields[settings.shield], "deferred");
  ck_assert(!settings.shield_given);
  ck_assert_uint_eq(settings.queue, 1024);
  ck_assert_uint_eq(settings.quantum, 256 * 1024);
  ck_assert_uint_eq(settings.defer_fresh, 4);
  ck_assert_uint_eq(settings.defer_hit, 16);
  ck_assert(settings.budget == 0.25);
  ck_assert_uint_eq(settings.grain, 0);
  ck_assert(!settings.grain_given && !settings.spare_given);
  ck_assert_uint_eq(settings.huge, TDO_HUGE_OFF);
  ck_assert(settings.populate && !settings.populate_given);
  ck_assert_uint_eq(settings.reserve, 0);
  ck_assert_uint_eq(settings.stress, 0);
  ck_assert(!settings.stress_blocks);
  ck_assert(!settings.statistics && !settings.check &&
            !settings.log);
}
END_TEST

START_TEST(taken) {
  TAKES(shield, "TESTUDO_SHIELD", "naive", 0);
  TAKES(shield, "TESTUDO_SHIELD", "OFF", 4);
  TAKES(queue, "TESTUDO_QUEUE", "1", 1);
  TAKES(quantum, "TESTUDO_QUANTUM", "4K", 4096);
  TAKES(quantum, "TESTUDO_QUANTUM", "3m", 3u << 20);
  TAKES(quantum, "TESTUDO_QUANTUM", "12345", 12345);
  TAKES(defer_fresh, "TESTUDO_DEFER_FRESH", "0", 0);
  TAKES(defer_hit, "TESTUDO_DEFER_HIT", "1000000", 1000000);
  TAKES(budget, "TESTUDO_BUDGET", ".25", 0.25);
  TAKES(budget, "TESTUDO_BUDGET", "1", 1);
  TAKES(budget, "TESTUDO_BUDGET", "0.", 0);
  TAKES(grain, "TESTUDO_GRAIN", "64K", 65536);
  TAKES(spare, "TESTUDO_SPARE", "0.75", 0.75);
  TAKES(spare, "TESTUDO_SPARE", "0", 0);
  TAKES(huge, "TESTUDO_HUGE", "off", TDO_HUGE_OFF);
  TAKES(huge, "TESTUDO_HUGE", "Old", TDO_HUGE_OLD);
  TAKES(huge, "TESTUDO_HUGE", "all", TDO_HUGE_ALL);
  TAKES(huge, "TESTUDO_HUGE", "2", 2);
  TAKES(populate, "TESTUDO_POPULATE", "off", false);
  TAKES(small, "TESTUDO_SMALL", "64m", 64 << 20);
  TAKES(small, "TESTUDO_SMALL", "0", 0);
  TAKES(adapt, "TESTUDO_ADAPT", "off", false);
  TAKES(hide, "TESTUDO_HIDE", "64k", 65536);
  TAKES(hide, "TESTUDO_HIDE", "0", 0);
  TAKES(reserve, "TESTUDO_RESERVE", "2G", (size_t)2 << 30);
  TAKES(stress, "TESTUDO_STRESS", "7", 7);
  TAKES(stress_blocks, "TESTUDO_STRESS_BLOCKS", "on", true);
  TAKES(statistics, "TESTUDO_STATISTICS", "yes", true);
  TAKES(check, "TESTUDO_CHECK", "off", false);
  TAKES(log, "TESTUDO_LOG", "on", true);
  TAKES(check, "TESTUDO_CHECK", "True", true);
}
END_TEST

START_TEST(not_given) {
  read_with("TESTUDO_GRAIN", "0");
  ck_assert_str_eq(said, "");
  ck_assert(!settings.grain_given);
  read_with("TESTUDO_RESERVE", "0K");
  ck_assert_str_eq(said, "");
  ck_assert(!settings.reserve_given);
}
END_TEST

START_TEST(refused) {
  REFUSES(shield, "TESTUDO_SHIELD", "fast", 2);
  REFUSES(queue, "TESTUDO_QUEUE", "0", 1024);
  REFUSES(quantum, "TESTUDO_QUANTUM", "4x", 262144);
  REFUSES(defer_fresh, "TESTUDO_DEFER_FRESH", "-1", 4);
  REFUSES(defer_hit, "TESTUDO_DEFER_HIT", "99999999999999999999", 16);
  REFUSES(budget, "TESTUDO_BUDGET", "1,5", 0.25);
  REFUSES(grain, "TESTUDO_GRAIN", "5000", 0);
  REFUSES(spare, "TESTUDO_SPARE", "1.5", 0);
  REFUSES(huge, "TESTUDO_HUGE", "2M", TDO_HUGE_OFF);
  REFUSES(reserve, "TESTUDO_RESERVE", "99999999999G", 0);
  REFUSES(stress, "TESTUDO_STRESS", "often", 0);
  REFUSES(statistics, "TESTUDO_STATISTICS", "2", false);
  REFUSES(check, "TESTUDO_CHECK", "maybe", false);
}
END_TEST

/* More digits than a number has room for make none. */
START_TEST(refused_digits) {
  char text[400] = "0.5";
  memset(text + 3, '0', 320);
  read_with("TESTUDO_BUDGET", text);
  ck_assert_ptr_nonnull(strstr(said, "testudo: TESTUDO_BUDGET=0.5000"));
  ck_assert(settings.budget == 0.25);
  ck_assert(!settings.budget_given);
}
END_TEST

START_TEST(refused_too) {
  REFUSES(queue, "TESTUDO_QUEUE", "12 ", 1024);
  REFUSES(quantum, "TESTUDO_QUANTUM", "0", 262144);
  REFUSES(budget, "TESTUDO_BUDGET", ".", 0.25);
  REFUSES(grain, "TESTUDO_GRAIN", "4Kb", 0);
  REFUSES(reserve, "TESTUDO_RESERVE", "K", 0);
  REFUSES(shield, "TESTUDO_SHIELD", "naiv", 2);
}
END_TEST

/* The words in the table say what the numbers in it do. */
START_TEST(message) {
  read_with("TESTUDO_SHIELD", "best");
  ck_assert_str_eq(said,
                   "testudo: TESTUDO_SHIELD=best cannot be read: expected "
                   "naive, ranged, deferred, dirty or off; it is ignored\n");
  read_with("TESTUDO_BUDGET", "1e-1");
  ck_assert_str_eq(said,
                   "testudo: TESTUDO_BUDGET=1e-1 cannot be read: expected "
                   "a decimal fraction from 0 to 1; it is ignored\n");
}
END_TEST

SUITE_MAIN("settings", 30, defaults, taken, not_given, refused, refused_too,
           refused_digits, message)
