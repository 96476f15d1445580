/* Testudo: the lower bound of protection calls against the fewest that there
   are, found by exhaustive search over small random recordings.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "shield/internal.h"
#include "test/random.h"
#include "test/suite.h"
#include "tool/bound.h"

enum { PAGES = 4, STATES = 81, STEPS = 48, FAR = 1000 };

typedef enum what {
  ADOPT,
  RETIRE,
  RAISE,
  LOWER,
  EXPOSE,
  HIT,
  WHATS,
  LEAVE,
  COLLECTION
} what_t;

typedef struct step {
  what_t what;
  size_t first, limit;
  tdo_bar_t bars;
} step_t;

/* A recording, and what its pages are by then. */
static step_t steps[STEPS + 1];
static size_t count;
static uint8_t state[PAGES];
static tdo_shield_t shield;

static void shield_start(void) {
  memset(state, 0, sizeof state);
  shield = (tdo_shield_t){.pages = PAGES, .used_high = PAGES, .state = state};
}

/* May the step be taken now? A bar that is hit is one of write only. */
static bool fits(const step_t *s) {
  for (size_t p = s->first; p < s->limit; ++p) {
    bool adopted = (state[p] & TDO_PAGE_ADOPTED) != 0;
    if (adopted == (s->what == ADOPT) ||
        (s->what == HIT && (state[p] & TDO_PAGE_BARS) != TDO_BAR_WRITE)) {
      return false;
    }
  }
  return true;
}

static void take(const step_t *s) {
  for (size_t p = s->first; p < s->limit; ++p) {
    switch (s->what) {
    case ADOPT:
      state[p] = TDO_PAGE_ADOPTED;
      break;
    case RETIRE:
      state[p] = 0;
      break;
    case RAISE:
      state[p] |= (uint8_t)s->bars;
      break;
    case LOWER:
    case HIT:
      state[p] &= (uint8_t)~s->bars;
      break;
    default:
      break;
    }
  }
}

static step_t random_step(void) {
  for (;;) {
    step_t s = {.what = (what_t)random_below(WHATS)};
    s.first = random_below(PAGES);
    s.limit = s.first + 1 + random_below(PAGES - s.first);
    s.bars = 1 + (unsigned)random_below(2);
    if (s.what == HIT) {
      s.bars = TDO_BAR_WRITE;
      s.limit = s.first + 1;
    }
    if (fits(&s)) {
      return s;
    }
  }
}

/* Collections begin at the beginning of sessions. */
static void make(void) {
  shield_start();
  count = 0;
  while (count < STEPS) {
    size_t n = count == 0 ? 9 : random_below(9);
    if (n > 2) {
      steps[count] = random_step();
      take(&steps[count++]);
    } else {
      steps[count++] = (step_t){.what = LEAVE};
      if (n == 2 && count < STEPS) {
        steps[count++] = (step_t){.what = COLLECTION};
      }
    }
  }
  steps[count++] = (step_t){.what = LEAVE};
}

static size_t bound_of_steps(void) {
  bound_t *bound;
  shield_start();
  bound = bound_new(&shield);
  ck_assert_ptr_nonnull(bound);
  for (size_t i = 0; i + 1 < count; ++i) {
    const step_t *s = &steps[i];
    take(s);
    if (s->what == LEAVE) {
      bound_session(bound);
    } else if (s->what == COLLECTION) {
      bound_collection(bound);
    } else if (s->what == HIT) {
      bound_useless(bound, s->first, s->limit);
    } else if (s->what == EXPOSE) {
      bound_expose(bound, s->first, s->limit);
    } else {
      bound_touch(bound, s->first, s->limit);
    }
  }
  return bound_finish(bound); /* the last session ends */
}

/* ---- the search: the access of all pages is a number to base 3 */

enum { NONE, READ, WRITE, ANY };

static size_t fewest[STATES]; /* calls by which the pages come to be so */

static unsigned access_of(unsigned number, size_t page) {
  while (page-- > 0) {
    number /= 3;
  }
  return number % 3;
}

static unsigned after_call(unsigned number, size_t first, size_t limit,
                           unsigned access) {
  unsigned result = 0;
  for (size_t p = PAGES; p-- > 0;) {
    result =
        3 * result + (p >= first && p < limit ? access : access_of(number, p));
  }
  return result;
}

static unsigned next[STATES][PAGES * (PAGES + 1) / 2 * 3];

static void make_calls(void) {
  for (unsigned s = 0; s < STATES; ++s) {
    size_t n = 0;
    for (size_t first = 0; first < PAGES; ++first) {
      for (size_t limit = first + 1; limit <= PAGES; ++limit) {
        for (unsigned access = 0; access < 3; ++access) {
          next[s][n++] = after_call(s, first, limit, access);
        }
      }
    }
  }
}

static bool agrees(unsigned number, const unsigned *want) {
  for (size_t p = 0; p < PAGES; ++p) {
    if (want[p] != ANY && access_of(number, p) != want[p]) {
      return false;
    }
  }
  return true;
}

/* Any number of calls are made, none of which disturbs what KEPT says; then
   the pages must be as WANT says. */
static void search(const unsigned *kept, const unsigned *want) {
  bool allowed[STATES];
  for (unsigned s = 0; s < STATES; ++s) {
    allowed[s] = agrees(s, kept);
  }
  for (size_t calls = 0, more = 1; more != 0; ++calls) {
    more = 0;
    for (unsigned s = 0; s < STATES; ++s) {
      more += fewest[s] > calls && fewest[s] < FAR;
      for (size_t i = 0;
           fewest[s] == calls && i < sizeof next[s] / sizeof next[s][0]; ++i) {
        if (allowed[next[s][i]] && fewest[next[s][i]] > calls + 1) {
          fewest[next[s][i]] = calls + 1;
          more = 1;
        }
      }
    }
  }
  for (unsigned s = 0; s < STATES; ++s) {
    fewest[s] = agrees(s, want) ? fewest[s] : FAR;
  }
}

/* Pages whose bars are hit in the period of step I. */
static void find_useless(bool *useless, size_t i) {
  memset(useless, 0, PAGES * sizeof *useless);
  while (i > 0 && steps[i - 1].what != COLLECTION) {
    --i;
  }
  for (; i < count && steps[i].what != COLLECTION; ++i) {
    if (steps[i].what == HIT) {
      useless[steps[i].first] = true;
    }
  }
}

/* What pages must be when the session that ends with step I has ended. */
static void find_wanted(unsigned *want, size_t i) {
  bool useless[PAGES];
  find_useless(useless, i);
  for (size_t p = 0; p < PAGES; ++p) {
    want[p] = (state[p] & TDO_PAGE_ADOPTED) == 0               ? ANY
              : (state[p] & TDO_BAR_READ) != 0                 ? NONE
              : (state[p] & TDO_BAR_WRITE) != 0 && !useless[p] ? READ
                                                               : WRITE;
  }
}

/* A page is open when it comes into use, and from its exposure to the end of
   the session. */
static size_t fewest_of_steps(void) {
  unsigned kept[PAGES], want[PAGES];
  const unsigned any[PAGES] = {ANY, ANY, ANY, ANY};
  size_t best = FAR;
  shield_start();
  for (unsigned s = 0; s < STATES; ++s) {
    fewest[s] = s == STATES - 1 ? 0 : FAR; /* all open */
  }
  memcpy(kept, any, sizeof kept);
  for (size_t i = 0; i < count; ++i) {
    const step_t *s = &steps[i];
    take(s);
    memcpy(want, kept, sizeof want);
    if (s->what == LEAVE) {
      memcpy(kept, any, sizeof kept);
      find_wanted(want, i);
    } else if (s->what != ADOPT && s->what != EXPOSE) {
      if (s->what == RETIRE)
        for (size_t p = s->first; p < s->limit; ++p)
          kept[p] = ANY;
      continue;
    }
    for (size_t p = s->first; p < s->limit; ++p) {
      want[p] = WRITE;
    }
    search(kept, want);
    for (size_t p = s->first; s->what == EXPOSE && p < s->limit; ++p) {
      kept[p] = WRITE;
    }
  }
  for (unsigned s = 0; s < STATES; ++s) {
    best = tdo_min(best, fewest[s]);
  }
  return best;
}

static void print_steps(void) {
  static const char *const names[] = {"adopt", "retire", "raise",
                                      "lower", "expose", "hit",
                                      "",      "leave",  "collection"};
  for (size_t i = 0; i < count; ++i) {
    printf("%s %zu-%zu %u\n", names[steps[i].what], steps[i].first,
           steps[i].limit, steps[i].bars);
  }
}

/* Never above the fewest calls, and seldom far below. */
START_TEST(test_random) {
  size_t bounds = 0, calls = 0, equal = 0, rounds = 5000;
  random_start();
  make_calls();
  for (size_t i = 0; i < rounds; ++i) {
    size_t bound, optimum;
    make();
    bound = bound_of_steps();
    optimum = fewest_of_steps();
    if (bound > optimum || optimum >= FAR) {
      print_steps();
    }
    ck_assert_uint_lt(optimum, FAR);
    ck_assert_uint_le(bound, optimum);
    bounds += bound;
    calls += optimum;
    equal += bound == optimum;
  }
  printf("bound %zu of %zu calls; equal in %zu of %zu\n", bounds, calls, equal,
         rounds);
  ck_assert_uint_ge(10 * bounds, 9 * calls);
}
END_TEST

static size_t both(const step_t *given, size_t n) {
  size_t bound;
  memcpy(steps, given, n * sizeof *given);
  count = n;
  bound = bound_of_steps();
  ck_assert_uint_eq(bound, fewest_of_steps());
  return bound;
}

/* Two borders a call; a kind of change a call; and a bar that is hit before
   the next collection is none. */
START_TEST(test_rules) {
  const step_t each[] = {
      {ADOPT, 0, 4, 0}, {RAISE, 1, 2, 1}, {RAISE, 3, 4, 1}, {LEAVE, 0, 0, 0}};
  const step_t kinds[] = {
      {ADOPT, 0, 4, 0}, {RAISE, 0, 2, 1}, {RAISE, 2, 4, 2}, {LEAVE, 0, 0, 0}};
  const step_t exposed[] = {{ADOPT, 0, 4, 0},
                            {RAISE, 0, 4, 2},
                            {LEAVE, 0, 0, 0},
                            {EXPOSE, 1, 3, 0},
                            {LEAVE, 0, 0, 0}};
  const step_t hit[] = {{ADOPT, 0, 4, 0},
                        {RAISE, 1, 2, 1},
                        {LEAVE, 0, 0, 0},
                        {HIT, 1, 2, 1},
                        {LEAVE, 0, 0, 0}};
  make_calls();
  ck_assert_uint_eq(both(each, 4), 2);
  ck_assert_uint_eq(both(kinds, 4), 2);
  ck_assert_uint_eq(both(exposed, 5), 3);
  ck_assert_uint_eq(both(hit, 5), 0);
}
END_TEST

SUITE_MAIN("bound", 60, test_random, test_rules)
