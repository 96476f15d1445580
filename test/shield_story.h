/* Testudo: a shield over a fake platform for tests, whose hooks and calls are
   told as a story, in order. SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_SHIELD_STORY_H
#define TDO_TEST_SHIELD_STORY_H

#include <check.h>
#include <stdio.h>
#include "code/stop.h"
#include "fake_vm.h"
#include "shield/shield.h"

#define PAGES 2048

static fake_vm_t fake;
static tdo_shield_t shield;
static tdo_shield_settings_t settings;

/* What the hooks were told, in order, calls to the platform between. */
static char story[4096];
static size_t lost_pages;
static size_t mapping_limit; /* of the next shield; 0: none */

static void tell(const char *text) {
  size_t used = strlen(story);
  ck_assert_uint_lt(used + strlen(text), sizeof story);
  memcpy(story + used, text, strlen(text) + 1);
}

static void hook_stop(void *closure) {
  ck_assert_ptr_eq(closure, story);
  ck_assert(!tdo_stop_is_quiet()); /* the session will be */
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
    size_t first = (size_t)((char *)base - fake.base) / vm->page_size;
    (void)snprintf(text, sizeof text, "%s%s[%zu,%zu) ",
                   res == MPS_RES_OK ? "" : "not-", names[access], first,
                   first + size / vm->page_size);
    tell(text);
  }
  return res;
}

/* A shield with pages [0, ADOPTED) adopted and [ADOPTED, COMMITTED) spare. */
static void begin(tdo_shield_mode_t mode, size_t adopted, size_t committed) {
  tdo_shield_hooks_t hooks = {story, hook_stop, hook_go, hook_lost, NULL};
  settings.mode = mode;
  story[0] = '\0';
  telling = true;
  lost_pages = 0;
  fake_init(&fake, PAGES, mapping_limit);
  fake_protects = fake.twin.vm.protect;
  fake.twin.vm.protect = told_protect;
  ck_assert_int_eq(MPS_RES_OK,
                   tdo_shield_init(&shield, &fake.twin.vm, fake.base,
                                   PAGES * fake.twin.vm.page_size, &settings,
                                   &hooks));
  fake_commit(&fake, 0, committed, true);
  tdo_shield_committed(&shield, 0, committed);
  tdo_shield_adopt(&shield, 0, adopted);
  ck_assert_uint_eq(fake.calls, 0);
}

static void end(void) {
  tdo_shield_leave(&shield);
  ck_assert(tdo_shield_check(&shield));
  for (size_t page = 0; page < PAGES; ++page)
    ck_assert_msg(shield.actual[page] == fake.access[page], "page %zu", page);
  tdo_shield_finish(&shield);
  fake_finish(&fake);
}

/* The modes that queue. */
static const tdo_shield_mode_t queueing[] = {TDO_SHIELD_RANGED,
                                             TDO_SHIELD_DEFERRED};

#define ck_story(expected)                                                    \
  do {                                                                        \
    ck_assert_str_eq(story, expected);                                        \
    story[0] = '\0';                                                          \
  } while (0)

static void setup(void) {
  tdo_shield_settings_defaults(&settings);
  mapping_limit = 0;
}

#endif /* TDO_TEST_SHIELD_STORY_H */
