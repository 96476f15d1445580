/* Testudo: tests of whether minor collections are worth it, in numbers.
   SPDX-License-Identifier: BSD-2-Clause */
#include "test/suite.h"
#include "trace/worth.h"

#define MIB ((double)(1 << 20))

/* The last full collection copied ALIVE MiB and freed as much in 100 ns; the
   last minor one freed so many MiB in as many nanoseconds. */
static bool little(double alive, double freed, double ns) {
  tdo_worth_t worth = {0};
  tdo_worth_full(&worth, alive * MIB, 100, true);
  tdo_worth_minor(&worth, freed * MIB, ns);
  return tdo_worth_little(&worth, alive * MIB);
}

/* If they free less in the same time. */
START_TEST(by_speed) {
  ck_assert(little(100, 6.9, 10));
  ck_assert(!little(100, 7.1, 10));
  ck_assert(!little(100, 6.9, 9));
  ck_assert(little(100, 0, 1));
}
END_TEST

/* Not in a heap of which everything is copied anyway. */
START_TEST(by_size) {
  ck_assert(little(80, 1, 10));
  ck_assert(!little(79.9, 1, 10));
}
END_TEST

/* Is a full one that took so many ns quick beside a minor one of 100 ns? */
static bool is_quick(double ns, bool copied) {
  tdo_worth_t worth = {0};
  tdo_worth_minor(&worth, 1 * MIB, 100);
  tdo_worth_full(&worth, 10 * MIB, ns, copied);
  return tdo_worth_quick(&worth);
}

START_TEST(quick) {
  tdo_worth_t worth = {0};
  ck_assert(is_quick(119, true));
  ck_assert(!is_quick(121, true));
  ck_assert(!is_quick(119, false));
  ck_assert(!tdo_worth_quick(&worth));
  tdo_worth_full(&worth, 10 * MIB, 100, true);
  ck_assert(!tdo_worth_quick(&worth)); /* beside none */
}
END_TEST

/* After some full ones a minor one is to show whether that still holds. */
START_TEST(again) {
  tdo_worth_t worth = {0};
  tdo_worth_minor(&worth, 1 * MIB, 10);
  for (int i = 0; i < 7; ++i) {
    tdo_worth_full(&worth, 10 * MIB, 10, true);
    ck_assert(tdo_worth_quick(&worth));
  }
  tdo_worth_full(&worth, 10 * MIB, 10, true);
  ck_assert(!tdo_worth_quick(&worth));
  tdo_worth_minor(&worth, 1 * MIB, 10);
  ck_assert(tdo_worth_quick(&worth));
}
END_TEST

/* Not if nothing was copied: then nobody knows. */
START_TEST(unknown) {
  tdo_worth_t worth = {0};
  ck_assert(!tdo_worth_little(&worth, 100 * MIB));
  tdo_worth_full(&worth, 100 * MIB, 100, true);
  ck_assert(!tdo_worth_little(&worth, 100 * MIB)); /* of minor ones */
  tdo_worth_minor(&worth, 1 * MIB, 10);
  ck_assert(tdo_worth_little(&worth, 100 * MIB));
  tdo_worth_full(&worth, 100 * MIB, 100, false);
  ck_assert(!tdo_worth_little(&worth, 100 * MIB));
}
END_TEST

SUITE_MAIN("worth", 10, by_speed, by_size, quick, again, unknown)
