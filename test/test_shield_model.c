/* Testudo: the shield against a model that keeps every page by itself, over
   random requests, in every mode, with refused calls and without.
   SPDX-License-Identifier: BSD-2-Clause */
#include <check.h>
#include "fake_vm.h"
#include "random.h"
#include "require.h"
#include "code/stop.h"
#include "shield/shield.h"
#include "suite.h"

#define MODEL_PAGES 300

typedef struct model_page {
  bool committed, adopted, hit;
  tdo_bar_t bars;
  unsigned depth, calm;
  unsigned waits; /* hits after the first, at most 5 */
  unsigned naive; /* what a naive shield would allow now */
} model_page_t;

typedef struct model {
  model_page_t page[MODEL_PAGES];
  bool exposing[MODEL_PAGES]; /* in the request under way */
  bool stopped;               /* by the shield or the collector */
  bool batches;               /* offers come in those */
  bool forcing;               /* a signal handler is at work */
  bool hitting;               /* a hit is under way, on a page that waits */
  unsigned hit_waits;         /* so long from now on */
  size_t stops, goes, naive_calls, lost, forced;
} model_t;

static fake_vm_t fake;
static size_t hides, torn, shows, copies;
static tdo_shield_t shield;
static model_t model;

static unsigned model_wanted(const model_page_t *m) {
  if (m->depth > 0)
    return TDO_ACCESS_WRITE;
  if (m->bars & TDO_BAR_READ)
    return TDO_ACCESS_NONE;
  return m->bars & TDO_BAR_WRITE ? TDO_ACCESS_READ : TDO_ACCESS_WRITE;
}

/* What a naive shield would do about the adopted pages of a range. */
static void model_naive(size_t first, size_t limit) {
  for (size_t i = first; i < limit; ++i) {
    model_page_t *m = &model.page[i];
    if (m->adopted && m->naive != model_wanted(m)) {
      m->naive = model_wanted(m);
      ++model.naive_calls;
    }
  }
}

static void hook_stop(void *closure) {
  REQUIRE(closure == &model);
  REQUIRE(!model.stopped);
  model.stopped = true;
  ++model.stops;
}

static void hook_go(void *closure) {
  REQUIRE(closure == &model);
  REQUIRE(model.stopped);
  model.stopped = false;
  ++model.goes;
}

static void hook_lost(void *closure, size_t first, size_t limit,
                      tdo_bar_t bars) {
  REQUIRE(closure == &model);
  REQUIRE(first < limit && limit <= MODEL_PAGES && bars != 0);
  for (size_t i = first; i < limit; ++i) {
    model_page_t *m = &model.page[i];
    bool conceded = model.batches && model.exposing[i] &&
                    bars == TDO_BAR_WRITE && !model.forcing;
    REQUIRE(m->adopted);
    REQUIRE((m->bars & bars) == bars);
    REQUIRE(m->depth == (conceded ? 1 : 0));
    m->bars &= ~bars;
    m->hit |= !conceded;
    if (model.hitting && m->waits < model.hit_waits)
      m->waits = model.hit_waits;
    m->calm = 0;
    ++model.lost;
  }
}

/* No page is opened to mutators that a bar should hide from them. */
static void watch(void *closure, size_t page, unsigned from, unsigned to) {
  const model_page_t *m = &model.page[page];
  REQUIRE(closure == &model);
  if (m->adopted && to > from) {
    bool hidden = (m->bars & TDO_BAR_READ) != 0 && m->depth == 0;
    bool exposed = model.exposing[page] && m->bars != 0;
    REQUIRE(model.stopped || !(hidden || exposed));
  }
}

static void compare_page(size_t i, bool exact) {
  const model_page_t *m = &model.page[i];
  unsigned actual = shield.actual[i];
  REQUIRE(actual == fake.access[i]);
  REQUIRE(tdo_shield_bars(&shield, i) == m->bars);
  REQUIRE(tdo_shield_adopted(&shield, i) == m->adopted);
  REQUIRE(shield.depth[i] == m->depth);
  if (m->depth > 0)
    REQUIRE(actual == TDO_ACCESS_WRITE);
  if (!m->committed && shield.stats.calls_refused + fake.stays == 0)
    REQUIRE(actual == TDO_ACCESS_NONE);
  if (exact && m->adopted)
    REQUIRE(actual == model_wanted(m));
  if (shield.settings.mode == TDO_SHIELD_OFF && m->adopted)
    REQUIRE(actual == TDO_ACCESS_WRITE);
}

static void compare(bool exact) {
  size_t mappings = 1;
  if (shield.forced && !exact)
    return; /* see shield.h, .forced */
  REQUIRE(tdo_shield_check(&shield));
  for (size_t i = 0; i < MODEL_PAGES; ++i) {
    compare_page(i, exact);
    mappings += i > 0 && fake.access[i] != fake.access[i - 1];
  }
  REQUIRE(mappings == shield.stats.mappings);
  REQUIRE(mappings <= shield.stats.mappings_most);
  REQUIRE(shield.stats.calls == fake.calls);
  REQUIRE(shield.stats.calls_refused == fake.refused);
  REQUIRE(shield.stats.pages == fake.pages_called);
  REQUIRE(shield.stats.bars_lost + shield.stats.bars_conceded == model.lost);
}

/* A random range of pages that are all as FIT says; false if none found. */
static bool pick(size_t *first_o, size_t *limit_o,
                 bool (*fit)(const model_page_t *)) {
  size_t most = random_below(4) == 0 ? 80 : 5;
  size_t first = random_below(MODEL_PAGES), limit;
  size_t n = 1 + random_below(most);
  while (first < MODEL_PAGES && !fit(&model.page[first]))
    ++first;
  limit = first;
  while (limit < MODEL_PAGES && limit < first + n && fit(&model.page[limit]))
    ++limit;
  *first_o = first;
  *limit_o = limit;
  return first < limit;
}

static bool fit_empty(const model_page_t *m) {
  return !m->committed;
}

static bool fit_spare(const model_page_t *m) {
  return m->committed && !m->adopted;
}

static bool fit_adopted(const model_page_t *m) {
  return m->adopted;
}

static bool fit_shallow(const model_page_t *m) {
  return m->adopted && m->depth < 5;
}

static bool fit_exposed(const model_page_t *m) {
  return m->depth > 0;
}

static bool fit_barred(const model_page_t *m) {
  return m->bars != 0;
}

static void do_commit(void) {
  size_t first, limit;
  if (pick(&first, &limit, fit_empty)) {
    for (size_t i = first; i < limit; ++i) {
      model.page[i].committed = true;
      model.page[i].naive = TDO_ACCESS_WRITE;
    }
    fake_commit(&fake, first, limit, true);
    tdo_shield_committed(&shield, first, limit);
  }
}

static void do_decommit(void) {
  size_t first, limit;
  if (pick(&first, &limit, fit_spare)) {
    tdo_shield_decommitting(&shield, first, limit);
    for (size_t i = first; i < limit; ++i) {
      model.page[i] = (model_page_t){0};
    }
    fake_commit(&fake, first, limit, false);
    tdo_shield_decommitted(&shield, first, limit);
  }
}

static void do_adopt(void) {
  size_t first, limit;
  if (pick(&first, &limit, fit_spare)) {
    for (size_t i = first; i < limit; ++i) {
      unsigned naive = model.page[i].naive;
      model.page[i] =
          (model_page_t){.committed = true, .adopted = true, .naive = naive};
    }
    model_naive(first, limit);
    tdo_shield_adopt(&shield, first, limit);
    for (size_t i = first; i < limit; ++i)
      REQUIRE(fake.access[i] == TDO_ACCESS_WRITE);
  }
}

static void do_retire(void) {
  size_t first, limit, calls = shield.hidden == 0 ? fake.calls : SIZE_MAX;
  if (pick(&first, &limit, fit_adopted)) {
    for (size_t i = first; i < limit; ++i) {
      unsigned naive = model.page[i].naive;
      model.page[i] = (model_page_t){.committed = true, .naive = naive};
    }
    tdo_shield_retire(&shield, first, limit);
    REQUIRE(calls == fake.calls || calls == SIZE_MAX);
  }
}

static void do_raise(void) {
  size_t first, limit;
  tdo_bar_t bars = (tdo_bar_t)(1 + random_below(3));
  if (pick(&first, &limit, fit_adopted)) {
    if (shield.settings.mode != TDO_SHIELD_OFF) {
      for (size_t i = first; i < limit; ++i)
        model.page[i].bars |= bars;
    }
    model_naive(first, limit);
    tdo_shield_raise(&shield, first, limit, bars);
  }
}

static void do_lower(void) {
  size_t first, limit;
  tdo_bar_t bars = (tdo_bar_t)(1 + random_below(3));
  if (pick(&first, &limit, random_below(4) ? fit_barred : fit_adopted)) {
    for (size_t i = first; i < limit; ++i)
      model.page[i].bars &= ~bars;
    model_naive(first, limit);
    tdo_shield_lower(&shield, first, limit, bars);
  }
}

static void do_expose(void) {
  size_t first, limit;
  if (pick(&first, &limit, fit_shallow)) {
    for (size_t i = first; i < limit; ++i) {
      ++model.page[i].depth;
      model.exposing[i] = true;
    }
    model_naive(first, limit);
    tdo_shield_expose(&shield, first, limit);
    for (size_t i = first; i < limit; ++i) {
      model.exposing[i] = false;
      REQUIRE(fake.access[i] == TDO_ACCESS_WRITE); /* .opened */
    }
  }
}

static void do_cover(void) {
  size_t first, limit;
  if (pick(&first, &limit, fit_exposed)) {
    for (size_t i = first; i < limit; ++i)
      --model.page[i].depth;
    model_naive(first, limit);
    tdo_shield_cover(&shield, first, limit);
  }
}

static bool model_granted(const model_page_t *m, bool room) {
  const tdo_shield_settings_t *s = &shield.settings;
  switch (s->mode) {
  case TDO_SHIELD_OFF:
    return false;
  case TDO_SHIELD_NAIVE:
  case TDO_SHIELD_RANGED:
    return true;
  default:
    return (m->bars & TDO_BAR_WRITE) != 0 ||
           (room && m->calm + 1 >= (m->hit ? s->defer_hit << m->waits
                                           : s->defer_fresh));
  }
}

/* Where those that have earned their bars wait for others, as many get them as
   the shield says; no others do. */
static void do_offer_batch(size_t first, size_t limit) {
  bool granted = false;
  bool room = shield.stats.mappings + 2 * shield.queued <
              shield.budget_mappings;
  model_page_t before[MODEL_PAGES];
  size_t n;
  memcpy(before, model.page, sizeof before);
  for (size_t i = first; i < limit; ++i)
    model.page[i].bars |= TDO_BAR_WRITE; /* may be lost at once */
  n = tdo_shield_offer(&shield, first, limit, &granted);
  REQUIRE(n > 0 && n <= limit - first);
  for (size_t i = first; i < limit; ++i) {
    model_page_t *m = &model.page[i];
    if (i < first + n) {
      REQUIRE(!granted || model_granted(&before[i], room));
      m->calm += m->calm < 255;
    }
    if (i >= first + n || !granted)
      m->bars &= before[i].bars | TDO_BAR_READ;
  }
}

static void do_begin_offers(void) {
  if (model.batches)
    tdo_shield_begin_offers(&shield);
}

static void do_offer(void) {
  size_t first, limit, n, expected = 0;
  bool granted = false, expected_granted, room;
  if (!pick(&first, &limit, fit_adopted))
    return;
  if (model.batches) {
    do_offer_batch(first, limit);
    return;
  }
  room = shield.stats.mappings + 2 * shield.queued < shield.budget_mappings;
  expected_granted = model_granted(&model.page[first], room);
  while (first + expected < limit &&
         model_granted(&model.page[first + expected], room) ==
             expected_granted) {
    model_page_t *m = &model.page[first + expected++];
    m->calm += m->calm < 255;
    m->bars |= expected_granted ? TDO_BAR_WRITE : 0;
  }
  model_naive(first, first + expected);
  n = tdo_shield_offer(&shield, first, limit, &granted);
  REQUIRE(n == expected);
  REQUIRE(granted == expected_granted);
}

/* What the collector does after a mutator's fault. */
static void do_hit(void) {
  size_t first, limit;
  if (pick(&first, &limit, fit_barred)) {
    tdo_bar_t bars = model.page[first].bars;
    if (bars & TDO_BAR_WRITE) {
      model.page[first].waits += model.page[first].hit &&
                                 model.page[first].waits < 5;
      model.page[first].hit = true;
      model.page[first].calm = 0;
    }
    model.hitting = true;
    model.hit_waits = model.page[first].waits;
    tdo_shield_hit(&shield, first, bars);
    model.hitting = false;
    model.page[first].bars = 0;
    model_naive(first, first + 1);
    tdo_shield_lower(&shield, first, first + 1, bars);
  }
}

/* A fault that cannot wait; only where bars may be lost. */
static void do_force(void) {
  size_t first, limit;
  if (fake.refuse_of > 0 && pick(&first, &limit, fit_barred)) {
    bool exposed = model.page[first].depth > 0;
    REQUIRE(tdo_shield_force_open(&shield, first));
    REQUIRE(fake.access[first] == TDO_ACCESS_WRITE);
    REQUIRE((model.page[first].bars != 0) == exposed);
  }
}

/* Dirty mode without a tracker is as deferred mode. */
static bool model_defers(tdo_shield_mode_t mode) {
  return mode == TDO_SHIELD_DEFERRED || mode == TDO_SHIELD_DIRTY;
}

static void do_release(void) {
  size_t first, limit;
  bool now = random_below(2);
  if (pick(&first, &limit, random_below(4) ? fit_barred : fit_adopted)) {
    if (model_defers(shield.settings.mode) &&
        (now || limit - first + shield.released <= shield.reach))
      for (size_t i = first; i < limit; ++i)
        model.page[i].bars &= ~TDO_BAR_WRITE;
    model_naive(first, limit);
    tdo_shield_release(&shield, first, limit, now);
  }
}

static void do_trust(void) {
  size_t first, limit;
  if (pick(&first, &limit, fit_adopted)) {
    for (size_t i = first; i < limit; ++i)
      model.page[i].calm = shield.settings.defer_fresh;
    tdo_shield_trust(&shield, first, limit);
  }
}

static void do_reach(void) {
  tdo_shield_set_reach(&shield, random_below(MODEL_PAGES));
}

static void do_leave(void) {
  if (random_below(8) == 0 && !model.stopped) {
    model.stopped = true;
    tdo_shield_note_stopped(&shield);
  }
  tdo_shield_leave(&shield);
  REQUIRE(!model.stopped);
  compare(true);
}

static void do_flush(void) {
  tdo_shield_flush(&shield);
  compare(true);
}

static void (*const requests[])(void) = {
    do_commit, do_adopt, do_adopt,    do_retire, do_raise,  do_raise,
    do_lower,  do_lower, do_expose,   do_expose, do_expose, do_cover,
    do_cover,  do_cover, do_offer,    do_offer,  do_hit,    do_leave,
    do_flush,  do_leave, do_decommit, do_force,  do_release, do_trust,
    do_reach,  do_begin_offers};

#define REQUESTS (sizeof requests / sizeof requests[0])

/* A signal handler of the thread's touches what it may not, in the middle of a
   call: before it, or when it has come back. */
static unsigned interrupt_of; /* one call in so many; 0: none */

static void interrupt(void) {
  size_t page = random_below(MODEL_PAGES);
  const model_page_t *m = &model.page[page];
  if (interrupt_of == 0 || random_below(interrupt_of) != 0 || model.forcing ||
      tdo_stop_is_quiet() || !m->adopted || m->depth > 0 ||
      fake.access[page] == TDO_ACCESS_WRITE)
    return;
  model.forcing = true;
  ++model.forced;
  REQUIRE(tdo_shield_force_open(&shield, page));
  REQUIRE(fake.access[page] == TDO_ACCESS_WRITE);
  REQUIRE(m->bars == 0);
  model.forcing = false;
}

static void start(tdo_shield_mode_t mode, unsigned refuse_of, size_t limit,
                  double budget) {
  tdo_shield_settings_t settings;
  tdo_shield_hooks_t hooks = {&model, hook_stop, hook_go, hook_lost, NULL};
  tdo_shield_settings_defaults(&settings);
  settings.mode = mode;
  settings.queue_length = 1 + random_below(random_below(2) ? 100 : 4);
  settings.defer_fresh = (unsigned)random_below(4);
  settings.defer_hit = (unsigned)random_below(6);
  settings.budget = budget;
  settings.hide_unit = (size_t)1 << random_below(5);
  settings.hide_least =
      random_below(2) ? SIZE_MAX : (1 + random_below(40)) * 4096;
  memset(&model, 0, sizeof model);
  model.batches = model_defers(mode) && random_below(2);
  fake_init(&fake, MODEL_PAGES, limit);
  fake.refuse_of = refuse_of;
  fake.refuse_moves_of = refuse_of > 20 ? refuse_of : 0;
  fake.closure = &model;
  fake.handler = interrupt;
  fake.watch = watch;
  ck_assert_int_eq(MPS_RES_OK,
                   tdo_shield_init(&shield, &fake.twin.vm, fake.base,
                                   MODEL_PAGES * fake.twin.vm.page_size,
                                   &settings, &hooks));
}

static void run(tdo_shield_mode_t mode, size_t steps, unsigned refuse_of,
                size_t limit, double budget) {
  start(mode, refuse_of, limit, budget);
  if (limit < 1000 && random_below(2)) { /* others have mappings, too */
    tdo_vm_double_limit(&fake.twin, 2 + limit / 2);
  }
  for (size_t i = 0; i < steps; ++i) {
    requests[random_below(REQUESTS)]();
    if (mode == TDO_SHIELD_NAIVE || i % 16 == 0)
      compare(mode == TDO_SHIELD_NAIVE);
  }
  do_leave();
  REQUIRE(model.stops <= model.goes);
  if (refuse_of == 0 && limit == SIZE_MAX && interrupt_of == 0) {
    REQUIRE(shield.stats.hits_spread + shield.stats.bars_conceded ==
            model.lost);
    REQUIRE(shield.stats.pages_changed == fake.changed || fake.hides > 0);
    if (mode == TDO_SHIELD_NAIVE)
      REQUIRE(shield.stats.calls == model.naive_calls);
    else if (mode == TDO_SHIELD_RANGED)
      REQUIRE(shield.stats.calls <= model.naive_calls);
  }
  hides += fake.hides;
  torn += fake.torn;
  shows += fake.shows;
  copies += fake.copies;
  tdo_shield_finish(&shield);
  fake_finish(&fake);
}

#define ROUNDS 20

static size_t steps(void) {
  const char *given = getenv("TDO_STEPS");
  return given != NULL ? strtoul(given, NULL, 0) : suite_rounds(8000);
}

START_TEST(model_plain) {
  for (int i = 0; i < ROUNDS; ++i)
    run((tdo_shield_mode_t)_i, steps(), 0, SIZE_MAX, 1.0);
  REQUIRE((hides > 0) == (_i == TDO_SHIELD_DEFERRED));
  REQUIRE((shows > 0) == (_i == TDO_SHIELD_DEFERRED));
}
END_TEST

START_TEST(model_refused) {
  for (int i = 0; i < ROUNDS; ++i)
    run((tdo_shield_mode_t)_i, steps(), 2 + (unsigned)random_below(40),
        SIZE_MAX, 1.0);
}
END_TEST

START_TEST(model_limited) {
  for (int i = 0; i < ROUNDS; ++i)
    run((tdo_shield_mode_t)_i, steps(), 0, 2 + random_below(100),
        random_below(2) ? 1.0 : 0.5);
  REQUIRE(_i == TDO_SHIELD_DEFERRED || torn + copies == 0);
}
END_TEST

/* A budget far below the limit: nothing is refused. */
START_TEST(model_budget) {
  for (int i = 0; i < ROUNDS; ++i) {
    run((tdo_shield_mode_t)_i, steps(), 0, 100000,
        0.0001 * (double)random_below(10));
    REQUIRE(fake.refused == 0);
  }
}
END_TEST

/* With signal handlers in the middle of calls, some of which are refused. */
START_TEST(model_interrupted) {
  size_t forced = 0;
  for (int i = 0; i < ROUNDS; ++i) {
    interrupt_of = 1 + (unsigned)random_below(40);
    run((tdo_shield_mode_t)_i, steps(),
        random_below(2) ? 0 : 2 + (unsigned)random_below(40),
        random_below(2) ? SIZE_MAX : 2 + random_below(100),
        random_below(2) ? 1.0 : 0.5);
    forced += model.forced;
  }
  REQUIRE((forced > 0) == (_i != TDO_SHIELD_OFF));
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("shield_model");
  TCase *t = tcase_create("model");
  tcase_set_timeout(t, 300);
  tcase_add_loop_test(t, model_plain, 0, TDO_SHIELD_MODES);
  tcase_add_loop_test(t, model_refused, 0, TDO_SHIELD_MODES);
  tcase_add_loop_test(t, model_limited, 0, TDO_SHIELD_MODES);
  tcase_add_loop_test(t, model_budget, 0, TDO_SHIELD_MODES);
  tcase_add_loop_test(t, model_interrupted, 0, TDO_SHIELD_MODES);
  suite_add_tcase(s, t);
  return s;
}

int main(void) {
  random_start();
  return suite_run(suite());
}
