/* Testudo: tests of which old segments move in a full collection, in numbers.
   SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include "test/suite.h"
#include "trace/evacuate.h"

static tdo_evacuate_t evacuate;

static void check_part(double room, double most, double expected,
                       double expected_part) {
  double part = -1;
  ck_assert_double_eq_tol(tdo_evacuate_share(&evacuate, room, most, &part),
                          expected, 1e-9);
  ck_assert_double_eq_tol(part, expected_part, 1e-9);
}

static void check_share(double room, double most, double expected) {
  double part;
  ck_assert_double_eq_tol(tdo_evacuate_share(&evacuate, room, most, &part),
                          expected, 1e-9);
}

/* So much lives in segments of 64 bytes of which a fifth, the half, 0.7, 0.8
   and nearly all live. */
static void find(void) {
  tdo_evacuate_begin(&evacuate);
  for (int i = 0; i < 10; ++i) {
    tdo_evacuate_found(&evacuate, 13, 64);
    tdo_evacuate_found(&evacuate, 32, 64);
    tdo_evacuate_found(&evacuate, 45, 64);
    tdo_evacuate_found(&evacuate, 52, 64);
    tdo_evacuate_found(&evacuate, 63, 64);
  }
}

/* What is sparse moves, where there is room. */
START_TEST(all_sparse) {
  tdo_evacuate_begin(&evacuate);
  check_share(INFINITY, INFINITY, 0.75);
  find();
  check_share(INFINITY, INFINITY, 0.75);
  check_share(900, 3000, 0.75);
  ck_assert_double_eq_tol(evacuate.least, 13.0 / 64, 1e-9);
  tdo_evacuate_begin(&evacuate);
  ck_assert_double_eq(evacuate.least, 1);
}
END_TEST

/* The sparsest, as far as there is room. */
START_TEST(sparsest) {
  find();
  check_share(899, 3000, 45.0 / 64);
  check_share(450, 1000, 45.0 / 64);
  check_share(449, 1000, 0.5);
  check_share(130, 500, 0.5);
  check_share(129, 500, 13.0 / 64);
  check_share(0, 0, 13.0 / 64);
  check_share(-1, 1000, 0);
}
END_TEST

/* Where memory is short the denser do, too, but what nearly all lives in. */
START_TEST(short_of_memory) {
  find();
  check_share(1420, 1420 * 4, 0.75);
  check_share(1420, 1420 * 4.1, 60.0 / 64);
  check_share(1419, 1420 * 4.1, 52.0 / 64);
}
END_TEST

/* Of what does not fit as a whole some segments move. */
START_TEST(in_part) {
  double part;
  find();
  check_part(900, 3000, 0.75, 0);
  check_part(899, 3000, 45.0 / 64, 449);
  check_part(449, 1000, 0.5, 319);
  check_part(161, 1000, 0.5, 0); /* not a single one */
  check_part(162, 1000, 0.5, 32);
  check_part(-1, 1000, 0, 0);
  part = 70;
  ck_assert(!tdo_evacuate_take(&part, 0.5, 33, 64)); /* denser */
  ck_assert(tdo_evacuate_take(&part, 0.5, 32, 64));
  ck_assert(tdo_evacuate_take(&part, 0.5, 32, 64));
  ck_assert(!tdo_evacuate_take(&part, 0.5, 32, 64));
  ck_assert_double_eq(part, 6);
}
END_TEST

SUITE_MAIN("evacuate", 10, all_sparse, sparsest, short_of_memory,
           in_part)
