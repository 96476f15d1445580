/* Testudo: tests of when pinned objects grow old, in numbers.
   SPDX-License-Identifier: BSD-2-Clause */
#include "test/suite.h"
#include "trace/pin.h"

#define KIB ((size_t)1024)

/* A collection finds LIVE bytes pinned once more; true if they are promoted. */
static bool collect_one(tdo_pin_t *pin, size_t live) {
  bool promoted = tdo_pin_again(pin, live);
  tdo_pin_learn(pin);
  return promoted;
}

/* Collections that find LIVE bytes until these are promoted. */
static unsigned times(tdo_pin_t *pin, size_t live) {
  unsigned n = 1;
  while (n < 100 && !collect_one(pin, live))
    ++n;
  return n;
}

/* The fifth time, and from then on anew. */
START_TEST(much) {
  tdo_pin_t pin = {0};
  ck_assert_uint_eq(times(&pin, 1024 * KIB), 5);
  ck_assert_uint_eq(times(&pin, 1024 * KIB), 5);
}
END_TEST

/* What is little is worth it when it came to a MiB. */
START_TEST(little) {
  tdo_pin_t pin = {0};
  ck_assert_uint_eq(times(&pin, 64 * KIB), 17);
  ck_assert_uint_eq(times(&pin, 8 * KIB), 100);
}
END_TEST

/* Not while it becomes more each time, nor where nothing was. */
START_TEST(growing) {
  tdo_pin_t pin = {0};
  for (unsigned i = 0; i < 10; ++i)
    ck_assert(!collect_one(&pin, 1024 * KIB << i));
  tdo_pin_learn(&pin);
  ck_assert(!pin.promotes);
  ck_assert(!collect_one(&pin, 64 * KIB));
  ck_assert(collect_one(&pin, 64 * KIB));
}
END_TEST

SUITE_MAIN("pin", 10, much, little, growing)
