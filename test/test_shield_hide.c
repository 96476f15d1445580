/* Testudo: many pages closed by moving their memory away.
   SPDX-License-Identifier: BSD-2-Clause */
#include <signal.h>
#include "shield_story.h"
#include "suite.h"

enum { UNIT = 64, MANY = 1024 };

static void begin_hiding(void) {
  settings.hide_unit = UNIT;
  settings.hide_least = 256 * 4096;
  begin(TDO_SHIELD_DEFERRED, MANY + 8, MANY + 16);
  telling = false;
}

/* As at a flip: the threads are stopped, then much is closed. */
static void shut(size_t first, size_t limit) {
  tdo_shield_note_stopped(&shield);
  tdo_shield_raise(&shield, first, limit, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  ck_assert(tdo_shield_check(&shield));
  for (size_t page = first; page < limit; ++page)
    ck_assert_uint_eq(fake.access[page], TDO_ACCESS_NONE);
}

START_TEST(whole_units) {
  begin_hiding();
  shut(10, 1000);
  ck_assert_uint_eq(fake.hides, 1);
  ck_assert_uint_eq(shield.hidden, (960 - 64) / UNIT);
  ck_assert_uint_eq(shield.stats.pages_hidden, 960 - 64);
  /* What lies before and after is closed by a call each. */
  ck_assert_uint_eq(shield.stats.calls, 3);
  ck_assert_uint_eq(shield.stats.mappings, 4); /* and what has no memory */
  end();
}
END_TEST

/* Where the system has several mappings, though access is the same, those units
   go that are of one. */
START_TEST(apart) {
  begin_hiding();
  fake.apart = _i == 0 ? 5 * UNIT + 1 : 5 * UNIT;
  shut(0, MANY);
  ck_assert_uint_eq(shield.hidden, MANY / UNIT - (_i == 0));
  ck_assert(tdo_shield_hides(&shield));
  end();
}
END_TEST

/* The unit comes back, and the rest of it is closed. */
START_TEST(a_part_opened) {
  begin_hiding();
  shut(0, MANY);
  story[0] = '\0';
  telling = true;
  tdo_shield_lower(&shield, 130, 140, TDO_BAR_READ);
  tdo_shield_flush(&shield);
  ck_story("stop none[128,130) none[140,192) write[130,140) ");
  ck_assert_uint_eq(shield.hidden, MANY / UNIT - 1);
  tdo_shield_leave(&shield);
  ck_story("go ");
  ck_assert_uint_eq(fake.access[139], TDO_ACCESS_WRITE);
  ck_assert_uint_eq(fake.access[140], TDO_ACCESS_NONE);
  /* Whole ones need no such care. */
  tdo_shield_lower(&shield, 256, 512, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  ck_story("write[256,512) ");
  ck_assert_uint_eq(shield.hidden, MANY / UNIT - 5);
  end();
}
END_TEST

/* Nobody sees more of it than is wanted: a write bar was put up while the unit
   was away. */
START_TEST(less_than_it_had) {
  begin_hiding();
  shut(0, MANY);
  tdo_shield_raise(&shield, 128, 192, TDO_BAR_WRITE);
  story[0] = '\0';
  telling = true;
  tdo_shield_lower(&shield, 128, 192, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  ck_story("stop read[128,192) go ");
  ck_assert_uint_eq(fake.access[128], TDO_ACCESS_READ);
  end();
}
END_TEST

/* Closed pages beside what is away do not bring it back, but go there, too. */
START_TEST(more_closed) {
  begin_hiding();
  shut(128, 896);
  ck_assert_uint_eq(shield.hidden, 768 / UNIT);
  shut(0, MANY);
  ck_assert_uint_eq(fake.shows, 0);
  ck_assert_uint_eq(shield.hidden, MANY / UNIT);
  end();
}
END_TEST

/* What is free may stay away until it is used, or to lose its memory. */
START_TEST(given_back) {
  begin_hiding();
  shut(0, MANY);
  tdo_shield_retire(&shield, 100, 300);
  tdo_shield_retire(&shield, 705, 710);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(shield.hidden, MANY / UNIT);
  tdo_shield_adopt(&shield, 100, 300);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(shield.hidden, MANY / UNIT - 4);
  ck_assert_uint_eq(fake.access[200], TDO_ACCESS_WRITE);
  ck_assert_uint_eq(fake.access[99], TDO_ACCESS_NONE);
  ck_assert_uint_eq(fake.access[300], TDO_ACCESS_NONE);
  tdo_shield_decommitting(&shield, 705, 710);
  ck_assert_uint_eq(shield.hidden, MANY / UNIT - 5);
  ck_assert_uint_eq(fake.shows, 5);
  end();
}
END_TEST

/* What is to lose its memory, but cannot come back for that, is copied. */
START_TEST(not_given_back) {
  begin_hiding();
  shut(0, MANY);
  tdo_shield_retire(&shield, 705, 710);
  tdo_shield_leave(&shield);
  tdo_vm_double_refuse_kind(&fake.twin, TDO_VM_SHOW, true);
  tdo_shield_decommitting(&shield, 705, 710);
  ck_assert_uint_eq(fake.copies, MANY / UNIT);
  ck_assert_uint_eq(shield.hidden, 0);
  ck_assert_uint_eq(lost_pages, MANY - 5);
  ck_assert(tdo_shield_check(&shield));
  end();
}
END_TEST

/* Pages that have something else than their unit are given that first, in one
   call if they are near; free ones are moved with the others. */
START_TEST(made_one) {
  begin_hiding();
  tdo_shield_retire(&shield, 700, 704);
  for (size_t page = 0; page < MANY; page += UNIT)
    if (page != 640)
      tdo_shield_raise(&shield, page + 1, page + 12, TDO_BAR_WRITE);
  tdo_shield_leave(&shield);
  story[0] = '\0';
  telling = true;
  tdo_shield_note_stopped(&shield);
  tdo_shield_raise(&shield, 0, 700, TDO_BAR_READ);
  tdo_shield_raise(&shield, 704, MANY, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  ck_story("write[1,972) go ");
  ck_assert_uint_eq(fake.hides, 1);
  ck_assert_uint_eq(shield.hidden, MANY / UNIT);
  tdo_shield_lower(&shield, 0, 700, TDO_BAR_READ | TDO_BAR_WRITE);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(fake.access[2], TDO_ACCESS_WRITE);
  end();
}
END_TEST

/* Units that for the most part have less than others are moved with that. */
START_TEST(by_access) {
  begin_hiding();
  tdo_shield_raise(&shield, 256, 512, TDO_BAR_WRITE);
  tdo_shield_lower(&shield, 300, 302, TDO_BAR_WRITE);
  tdo_shield_leave(&shield);
  story[0] = '\0';
  telling = true;
  shut(0, MANY);
  ck_story("read[300,302) go ");
  ck_assert_uint_eq(fake.hides, 3);
  ck_assert_uint_eq(shield.hidden, MANY / UNIT);
  end();
}
END_TEST

/* Where many that have it lie between, that is left out. */
START_TEST(made_one_apart) {
  begin_hiding();
  tdo_shield_raise(&shield, 5, 8, TDO_BAR_WRITE);
  tdo_shield_raise(&shield, 700, 702, TDO_BAR_WRITE);
  tdo_shield_leave(&shield);
  story[0] = '\0';
  telling = true;
  shut(0, MANY);
  ck_story("write[5,8) write[700,702) go ");
  ck_assert_uint_eq(fake.hides, 1);
  ck_assert_uint_eq(shield.hidden, MANY / UNIT);
  ck_assert(tdo_shield_check(&shield));
  end();
}
END_TEST

/* What the system refuses to give one access is closed where it lies. */
START_TEST(not_made_one) {
  begin_hiding();
  for (size_t page = 0; page < MANY; page += UNIT)
    tdo_shield_raise(&shield, page, page + 12, TDO_BAR_WRITE);
  tdo_shield_leave(&shield);
  fake.refuse_next = 1;
  shut(0, MANY);
  ck_assert_uint_eq(fake.hides, 0);
  ck_assert_uint_eq(lost_pages, 0);
  ck_assert_uint_eq(fake.refused, 1);
  end();
}
END_TEST

/* Whoever has read bars in [0, MANY) is closed, as far as the shield knows and
   in fact. */
static void check_closed(void) {
  for (size_t page = 0; page < MANY; ++page) {
    ck_assert(tdo_shield_bars(&shield, page) & TDO_BAR_READ);
    ck_assert_msg(fake.access[page] == TDO_ACCESS_NONE, "page %zu", page);
  }
}

static mps_res_t (*whole_protects)(tdo_vm_t *, void *, size_t, tdo_access_t);

/* The next call that opens is refused when half of its pages are open. */
static mps_res_t half_protect(tdo_vm_t *vm, void *base, size_t size,
                              tdo_access_t access) {
  if (access != TDO_ACCESS_WRITE)
    return whole_protects(vm, base, size, access);
  vm->protect = whole_protects;
  (void)vm->protect(vm, base, size / 2, access);
  ++fake.refused;
  return MPS_RES_MEMORY;
}

/* What was opened before the system refused to give the rest that access is
   closed like the rest. */
START_TEST(made_one_by_half) {
  begin_hiding();
  shut(0, 4);
  whole_protects = fake.twin.vm.protect;
  fake.twin.vm.protect = half_protect;
  shut(4, MANY);
  ck_assert_uint_eq(fake.refused, 1);
  check_closed();
  end();
}
END_TEST

/* What was closed already, and opened to be moved with its unit, is closed
   again in the same flush where that is not moved. */
START_TEST(opened_in_vain) {
  begin_hiding();
  shut(0, 16);
  if (_i == 0)
    tdo_vm_double_refuse_kind(&fake.twin, TDO_VM_HIDE, true);
  else
    fake.apart = 40;
  tdo_shield_note_stopped(&shield);
  tdo_shield_raise(&shield, 16, MANY, TDO_BAR_READ);
  tdo_shield_flush(&shield);
  check_closed();
  end();
}
END_TEST

/* Not what is in part to stay open, or without memory, nor what is closed for
   the most part, nor little, nor while threads run, nor in other modes. */
START_TEST(not_moved) {
  begin_hiding();
  tdo_shield_raise(&shield, 640, 768 - 5, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  tdo_shield_note_stopped(&shield);
  for (size_t page = 0; page < 640; page += UNIT)
    tdo_shield_raise(&shield, page, page + UNIT - 1, TDO_BAR_READ);
  tdo_shield_raise(&shield, 768 - 5, 768, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(fake.hides, 0);
  shut(768, MANY - 1);
  ck_assert_uint_eq(fake.hides, 0);
  tdo_shield_lower(&shield, 768, MANY - 1, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  tdo_shield_raise(&shield, 768, MANY, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(fake.hides, 0);
  end();
  begin(TDO_SHIELD_RANGED, MANY, MANY);
  telling = false;
  shut(0, MANY);
  ck_assert_uint_eq(fake.hides, 0);
  end();
}
END_TEST

/* A system that moves nothing is asked once. */
START_TEST(refused) {
  begin_hiding();
  tdo_vm_double_refuse_kind(&fake.twin, TDO_VM_HIDE, true);
  shut(0, MANY);
  tdo_vm_double_refuse_kind(&fake.twin, TDO_VM_HIDE, false);
  tdo_shield_lower(&shield, 0, MANY, TDO_BAR_READ);
  shut(0, MANY);
  ck_assert_uint_eq(fake.hides, 0);
  ck_assert_uint_eq(fake.refused, 1);
  ck_assert_uint_eq(lost_pages, 0);
  end();
}
END_TEST

/* Where the place for it may be another's then, that is not given back. */
static char *taken;
static size_t taken_size;
static bool given_back_taken;
static void (*fake_releases)(tdo_vm_t *, void *, size_t);

static mps_res_t taken_hide(tdo_vm_t *vm, void *base, size_t size,
                            void *away) {
  (void)vm, (void)base;
  taken = away;
  taken_size = size;
  return MPS_RES_RESOURCE;
}

static void watched_release(tdo_vm_t *vm, void *base, size_t size) {
  char *p = base;
  given_back_taken |= p < taken + taken_size && p + size > taken;
  fake_releases(vm, base, size);
}

START_TEST(taken_away) {
  begin_hiding();
  fake.twin.vm.hide = taken_hide;
  fake_releases = fake.twin.vm.release;
  fake.twin.vm.release = watched_release;
  given_back_taken = false;
  shut(64, MANY);
  ck_assert_uint_eq(taken_size, (MANY - 64) * 4096);
  ck_assert_uint_eq(shield.hidden, 0);
  ck_assert_uint_eq(lost_pages, 0);
  (void)atomic_fetch_add(&fake.twin.vm.counters.map, 1); /* given in two */
  end();
  ck_assert(!given_back_taken);
  tdo_vm_system()->release(tdo_vm_system(), taken, taken_size);
}
END_TEST

START_TEST(no_room) {
  begin_hiding();
  tdo_vm_double_refuse_kind(&fake.twin, TDO_VM_AWAY, true);
  shut(0, MANY);
  ck_assert_uint_eq(fake.hides, 0);
  ck_assert_uint_eq(lost_pages, 0);
  (void)atomic_fetch_sub(&fake.twin.vm.counters.map, 1); /* refused */
  end();
}
END_TEST

static size_t some_room(tdo_vm_t *vm) {
  (void)vm;
  return (size_t)1 << 30;
}

/* Where data is limited nothing is moved, and nobody counts on it. */
START_TEST(limited) {
  begin_hiding();
  fake.twin.vm.room = some_room;
  shut(0, MANY);
  ck_assert_uint_eq(fake.hides, 0);
  ck_assert(!tdo_shield_hides(&shield));
  end();
}
END_TEST

/* What was moved, and cannot be closed nor moved back, is open: it has lost
   its bars, and its contents are copied. */
START_TEST(torn) {
  mapping_limit = 50;
  settings.budget = 1.0;
  begin_hiding();
  tdo_vm_double_limit(&fake.twin, 2);
  tdo_vm_double_refuse_kind(&fake.twin, TDO_VM_SHOW, true);
  tdo_shield_note_stopped(&shield);
  tdo_shield_raise(&shield, UNIT, MANY - UNIT, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(fake.torn, 1);
  ck_assert_uint_eq(fake.copies, MANY / UNIT - 2);
  ck_assert_uint_eq(lost_pages, MANY - 2 * UNIT);
  ck_assert_uint_eq(shield.hidden, 0);
  ck_assert_uint_eq(fake.access[500], TDO_ACCESS_WRITE);
  end();
}
END_TEST

/* What cannot come back is copied, when all is open. */
START_TEST(copied) {
  begin_hiding();
  shut(0, MANY);
  tdo_vm_double_refuse_kind(&fake.twin, TDO_VM_SHOW, true);
  tdo_shield_expose(&shield, 200, 201);
  ck_assert_uint_eq(fake.copies, MANY / UNIT);
  ck_assert_uint_eq(fake.access[200], TDO_ACCESS_WRITE);
  ck_assert_uint_eq(lost_pages, MANY - 1);
  ck_assert_ptr_nonnull(strstr(story, "stop"));
  tdo_shield_cover(&shield, 200, 201);
  end();
}
END_TEST

/* Signals that come while something is moved wait until that is noted: their
   handler touches a page of it. */
static volatile bool moving;
static volatile size_t handled;

static void touch(int signal) {
  (void)signal;
  ck_assert(!moving);
  ++handled;
  if (fake.access[130] != TDO_ACCESS_WRITE)
    ck_assert(tdo_shield_force_open(&shield, 130));
}

/* A handler brings a unit back in the middle of a flush, which forgets what it
   noted of the rest: it is closed all the same. */
START_TEST(forced_meanwhile) {
  begin_hiding();
  shut(0, MANY);
  ck_assert(tdo_shield_force_open(&shield, 130));
  if (_i == 1)
    tdo_bits_clear_range(shield.differ, 0, MANY);
  shield.differ_low = shield.pages;
  shield.differ_high = 0;
  tdo_shield_leave(&shield);
  ck_assert(tdo_shield_check(&shield));
  for (size_t page = 0; page < MANY; ++page)
    ck_assert_uint_eq(fake.access[page],
                      page == 130 ? TDO_ACCESS_WRITE : TDO_ACCESS_NONE);
  end();
}
END_TEST

static mps_res_t (*fake_hides)(tdo_vm_t *, void *, size_t, void *);
static mps_res_t (*fake_shows)(tdo_vm_t *, void *, size_t, void *,
                               tdo_access_t);

static void begin_move(void) {
  moving = true;
  ck_assert_int_eq(raise(SIGUSR1), 0);
}

static mps_res_t interrupted_hide(tdo_vm_t *vm, void *base, size_t size,
                                  void *away) {
  mps_res_t res;
  begin_move();
  res = fake_hides(vm, base, size, away);
  moving = false;
  return res;
}

static mps_res_t interrupted_show(tdo_vm_t *vm, void *base, size_t size,
                                  void *away, tdo_access_t access) {
  mps_res_t res;
  begin_move();
  res = fake_shows(vm, base, size, away, access);
  moving = false;
  return res;
}

static void interrupt(void) {
  struct sigaction action = {.sa_handler = touch};
  ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
  handled = 0;
  fake_hides = fake.twin.vm.hide;
  fake.twin.vm.hide = interrupted_hide;
  fake_shows = fake.twin.vm.show;
  fake.twin.vm.show = interrupted_show;
}

START_TEST(interrupted) {
  begin_hiding();
  interrupt();
  tdo_shield_note_stopped(&shield);
  tdo_shield_raise(&shield, 0, MANY, TDO_BAR_READ);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(handled, 2);
  ck_assert_uint_eq(fake.shows, 1); /* of what it touched */
  ck_assert_uint_eq(fake.access[130], TDO_ACCESS_WRITE);
  ck_assert_uint_eq(fake.access[131], TDO_ACCESS_NONE);
  tdo_shield_expose(&shield, 200, 201);
  ck_assert_uint_eq(handled, 3);
  tdo_shield_cover(&shield, 200, 201);
  end();
}
END_TEST

/* The unit that comes back is the one that the handler touches. */
START_TEST(interrupted_back) {
  begin_hiding();
  shut(0, MANY);
  interrupt();
  tdo_shield_expose(&shield, 140, 141);
  ck_assert_uint_eq(handled, 1);
  ck_assert_uint_eq(fake.shows, 1);
  ck_assert_uint_eq(fake.access[130], TDO_ACCESS_WRITE); /* for now */
  tdo_shield_cover(&shield, 140, 141);
  tdo_shield_leave(&shield);
  ck_assert_uint_eq(fake.access[130], TDO_ACCESS_NONE);
  end();
}
END_TEST

/* Nor do they come between the opening of all and the copies. */
static void (*fake_copies)(tdo_vm_t *, void *, size_t, void *);

static void interrupted_copy(tdo_vm_t *vm, void *base, size_t size,
                             void *away) {
  begin_move();
  fake_copies(vm, base, size, away);
  moving = false;
}

START_TEST(interrupted_copies) {
  begin_hiding();
  shut(0, MANY);
  interrupt();
  fake.twin.vm.show = fake_shows;
  fake_copies = fake.twin.vm.copy;
  fake.twin.vm.copy = interrupted_copy;
  tdo_vm_double_refuse_kind(&fake.twin, TDO_VM_SHOW, true);
  tdo_shield_expose(&shield, 200, 201);
  ck_assert_uint_eq(fake.copies, MANY / UNIT);
  ck_assert_uint_eq(handled, 1);
  tdo_shield_cover(&shield, 200, 201);
  end();
}
END_TEST

/* Where mappings are few, nothing is moved that would need more. */
START_TEST(budget) {
  settings.budget = 0.5;
  mapping_limit = 40;
  begin_hiding();
  shut(0, MANY);
  ck_assert_uint_eq(fake.hides, 0);
  end();
}
END_TEST

SUITE_SETUP_MAIN("shield_hide", 100, setup, {whole_units, 1},
                 {a_part_opened, 1}, {less_than_it_had, 1}, {more_closed, 1},
                 {given_back, 1}, {not_given_back, 1}, {made_one, 1},
                 {made_one_apart, 1}, {by_access, 1}, {not_made_one, 1},
                 {made_one_by_half, 1}, {opened_in_vain, 2}, {not_moved, 1},
                 {apart, 2}, {refused, 1}, {taken_away, 1}, {no_room, 1},
                 {limited, 1}, {forced_meanwhile, 2}, {torn, 1}, {copied, 1},
                 {interrupted, 1}, {interrupted_back, 1},
                 {interrupted_copies, 1}, {budget, 1})
