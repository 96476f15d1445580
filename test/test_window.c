/* Testudo: tests of how much address space arenas reserve, in numbers.
   SPDX-License-Identifier: BSD-2-Clause */
#include <stdint.h>
#include "arena/window.h"
#include "test/suite.h"

#define GIB ((size_t)1 << 30)
#define TIB ((size_t)1 << 40)

static tdo_window_facts_t facts(size_t physical, size_t space, size_t arenas) {
  return (tdo_window_facts_t){.size = GIB / 4,
                              .limit = SIZE_MAX,
                              .physical = physical,
                              .data = SIZE_MAX,
                              .space = space,
                              .arenas = arenas};
}

static size_t window(size_t physical, size_t space, size_t arenas) {
  tdo_window_facts_t f = facts(physical, space, arenas);
  return tdo_window(&f);
}

/* Several times what the machine has, but a small part of the address space.
 */
START_TEST(by_memory) {
  ck_assert_uint_eq(window(GIB, 128 * TIB, 0), 64 * GIB);
  ck_assert_uint_eq(window(24 * GIB, 128 * TIB, 0), 384 * GIB);
  ck_assert_uint_eq(window(TIB / 2, 128 * TIB, 0), TIB);
  ck_assert_uint_eq(window(3 * TIB, 128 * TIB, 0), 3 * TIB);
  ck_assert_uint_eq(window(3 * TIB, 128 * TIB, 1), TIB);
  ck_assert_uint_eq(window(16 * GIB, TIB / 2, 0), 16 * GIB);
  ck_assert_uint_eq(window(16 * GIB, TIB / 2, 1), 4 * GIB);
  ck_assert_uint_eq(window(TIB, TIB / 2, 0), TIB / 8);
}
END_TEST

/* A thousand arenas leave a third of it, whatever the machine has. */
START_TEST(many_arenas) {
  for (size_t physical = GIB; physical <= 64 * TIB; physical *= 2)
    for (unsigned bits = 39; bits <= 48; ++bits) {
      size_t space = (size_t)1 << bits, sum = 0;
      for (size_t i = 0; i < 1000; ++i)
        sum += window(physical, space, i);
      ck_assert_uint_lt(sum, space / 3 * 2);
    }
}
END_TEST

/* What the process is rationed to, or nobody knows. */
START_TEST(limits) {
  tdo_window_facts_t f = facts(24 * GIB, 128 * TIB, 0);
  f.limit = 10 * GIB;
  ck_assert_uint_eq(tdo_window(&f), 5 * GIB);
  f.size = 7 * GIB;
  ck_assert_uint_eq(tdo_window(&f), 7 * GIB);
  f = facts(SIZE_MAX, SIZE_MAX, 0);
  ck_assert_uint_eq(tdo_window(&f), 4 * GIB);
  f = facts(24 * GIB, 128 * TIB, 0);
  f.data = GIB;
  ck_assert_uint_eq(tdo_window(&f), 2 * GIB);
  f.data = 192 * GIB;
  ck_assert_uint_eq(tdo_window(&f), 384 * GIB);
  f = facts(24 * GIB, SIZE_MAX, 9); /* nobody knows the address space */
  ck_assert_uint_eq(tdo_window(&f), 192 * GIB);
}
END_TEST

SUITE_MAIN("window", 20, by_memory, many_arenas, limits)
