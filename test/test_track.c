/* Testudo: write tracking by the real kernel, and its refusals, arranged with
   system call filters.
   SPDX-License-Identifier: BSD-2-Clause */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "code/track.h"
#include "code/vm.h"
#include "refuse_call.h"
#include "require.h"
#include "suite.h"

#define PAGES ((size_t)256)

static tdo_track_t track;
static tdo_vm_t *vm;
static char *base;
static size_t page_size;
static unsigned char written[PAGES];

static void note(void *closure, char *from, char *to) {
  REQUIRE(closure == written);
  REQUIRE(from >= base && from < to && to <= base + PAGES * page_size);
  memset(written + (size_t)(from - base) / page_size, 1,
         (size_t)(to - from) / page_size);
}

static size_t harvest(void) {
  size_t n = 0;
  memset(written, 0, sizeof written);
  REQUIRE(track.harvest(&track, base, PAGES * page_size, note, written) ==
          MPS_RES_OK);
  for (size_t p = 0; p < PAGES; ++p)
    n += written[p];
  return n;
}

static void touch(size_t page) {
  *(volatile char *)(base + page * page_size) = 1;
}

static void map(void) {
  void *p;
  vm = tdo_vm_system();
  page_size = vm->page_size;
  REQUIRE(vm->reserve(&p, vm, PAGES * page_size, page_size) == MPS_RES_OK);
  REQUIRE(vm->commit(vm, p, PAGES * page_size) == MPS_RES_OK);
  base = p;
}

/* False where the kernel has no such thing: then there is nothing to test. */
static bool start(void) {
  const char *why = NULL;
  map();
  if (tdo_track_open(&track, &why) != MPS_RES_OK) {
    printf("no tracking here: %s\n", why);
    return false;
  }
  REQUIRE(track.cover(&track, base, PAGES * page_size) == MPS_RES_OK);
  for (size_t p = 0; p < PAGES; ++p)
    touch(p);
  return true;
}

static void stop(void) {
  track.close(&track);
  vm->release(vm, base, PAGES * page_size);
}

START_TEST(exact) {
  if (!start())
    return;
  ck_assert_uint_eq(harvest(), PAGES);
  ck_assert(track.arm(&track, base, PAGES * page_size) == MPS_RES_OK);
  ck_assert_uint_eq(harvest(), 0);
  touch(3);
  touch(255);
  ck_assert_uint_eq(harvest(), 2);
  ck_assert(written[3] && written[255]);
  ck_assert_uint_eq(harvest(), 2); /* it changes nothing */
  ck_assert(track.arm(&track, base, 10 * page_size) == MPS_RES_OK);
  ck_assert_uint_eq(harvest(), 1);
  ck_assert(track.disarm(&track, base, page_size) == MPS_RES_OK);
  ck_assert_uint_eq(harvest(), 2);
  stop();
}
END_TEST

/* Protection is another matter; a system call writes, too. */
START_TEST(protection) {
  int ends[2];
  if (!start())
    return;
  ck_assert(track.arm(&track, base, PAGES * page_size) == MPS_RES_OK);
  ck_assert(vm->protect(vm, base, PAGES * page_size, TDO_ACCESS_NONE) ==
            MPS_RES_OK);
  ck_assert(vm->protect(vm, base, PAGES * page_size, TDO_ACCESS_WRITE) ==
            MPS_RES_OK);
  ck_assert_uint_eq(harvest(), 0);
  ck_assert_int_eq(pipe(ends), 0);
  ck_assert_int_eq((int)write(ends[1], "x", 1), 1);
  ck_assert_int_eq((int)read(ends[0], base + 9 * page_size, 1), 1);
  (void)close(ends[0]), (void)close(ends[1]);
  ck_assert_uint_eq(harvest(), 1);
  ck_assert(written[9]);
  stop();
}
END_TEST

/* Memory mapped anew must be covered anew. */
START_TEST(remapped) {
  if (!start())
    return;
  ck_assert(track.arm(&track, base, PAGES * page_size) == MPS_RES_OK);
  ck_assert(vm->decommit(vm, base, 4 * page_size) == MPS_RES_OK);
  ck_assert(vm->commit(vm, base, 4 * page_size) == MPS_RES_OK);
  touch(0);
  ck_assert(track.arm(&track, base, 4 * page_size) == MPS_RES_FAIL);
  ck_assert(track.harvest(&track, base, PAGES * page_size, note, written) ==
            MPS_RES_FAIL);
  ck_assert(track.cover(&track, base, 4 * page_size) == MPS_RES_OK);
  ck_assert_uint_eq(harvest(), 4); /* not armed counts as written */
  ck_assert(track.arm(&track, base, 4 * page_size) == MPS_RES_OK);
  touch(3);
  ck_assert_uint_eq(harvest(), 1);
  stop();
}
END_TEST

static int in_child(int (*run)(void)) {
  int status;
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0)
    suite_leave(run());
  REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status));
  return WEXITSTATUS(status);
}

/* The child's own tracker leaves the parent's pages alone, and so does the one
   that it has of the parent, once it is abandoned. */
static int child_tracks(void) {
  track.abandon(&track);
  if (track.arm(&track, base, PAGES * page_size) == MPS_RES_OK ||
      track.disarm(&track, base, PAGES * page_size) == MPS_RES_OK ||
      track.cover(&track, base, PAGES * page_size) == MPS_RES_OK ||
      track.harvest(&track, base, PAGES * page_size, note, written) ==
          MPS_RES_OK)
    return 3;
  if (track.reopen(&track) != MPS_RES_OK ||
      track.cover(&track, base, PAGES * page_size) != MPS_RES_OK ||
      harvest() != PAGES ||
      track.arm(&track, base, PAGES * page_size) != MPS_RES_OK)
    return 1;
  touch(9);
  return harvest() == 1 && written[9] ? 0 : 2;
}

START_TEST(forked) {
  if (!start())
    return;
  ck_assert(track.arm(&track, base, PAGES * page_size) == MPS_RES_OK);
  touch(1);
  ck_assert_int_eq(in_child(child_tracks), 0);
  ck_assert_uint_eq(harvest(), 1);
  ck_assert(written[1]);
  touch(2);
  ck_assert_uint_eq(harvest(), 2);
  stop();
}
END_TEST

static int opens(const char *expected) {
  const char *why = "";
  mps_res_t res = tdo_track_open(&track, &why);
  if (expected == NULL)
    return res != MPS_RES_OK;
  return res == MPS_RES_OK || strcmp(why, expected) != 0;
}

static int no_userfaultfd(void) {
  return !refuse_call(SYS_userfaultfd, 0, EPERM) ||
         opens("userfaultfd was refused");
}

static int no_async(void) { /* UFFDIO_API, as an old kernel */
  return !refuse_call(SYS_ioctl, 0xC018AA3Fu, EINVAL) ||
         opens("userfaultfd has no asynchronous write-protection");
}

static int no_pagemap_scan(void) {
  return !refuse_call(SYS_ioctl, 0xC0606610u, ENOTTY) ||
         opens("PAGEMAP_SCAN is missing");
}

static int no_files(void) {
  struct rlimit none = {3, 3};
  return setrlimit(RLIMIT_NOFILE, &none) != 0 ||
         opens("userfaultfd was refused");
}

static int unprivileged(void) {
  if (getuid() == 0 && setuid(65534) != 0)
    return 1;
  /* As a program started so would be, and may look at itself. */
  return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0 || opens(NULL);
}

START_TEST(refusals) {
  if (!start())
    return;
  stop();
  ck_assert_int_eq(in_child(no_userfaultfd), 0);
  ck_assert_int_eq(in_child(no_async), 0);
  ck_assert_int_eq(in_child(no_pagemap_scan), 0);
  ck_assert_int_eq(in_child(no_files), 0);
  ck_assert_int_eq(in_child(unprivileged), 0);
}
END_TEST

SUITE_MAIN("track", 60, exact, protection, remapped, forked, refusals)
