/* Testudo: tests of how much memory the system has left, against files like the
   kernel's. SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "code/available.h"
#include "code/vm.h"
#include "test/suite.h"

#define MEMINFO "MemTotal: 9000 kB\nMemFree:  10 kB\nMemAvailable:    5000 kB\n"

static char root[] = "/tmp/tdo-available-XXXXXX";

/* Write TEXT to the file NAME below the root, and make the folders it is in. */
static void file(const char *name, const char *text) {
  char path[512];
  FILE *f;
  (void)snprintf(path, sizeof path, "%s%s", root, name);
  for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')) != NULL; ++p) {
    *p = '\0';
    (void)mkdir(path, 0700);
    *p = '/';
  }
  f = fopen(path, "w");
  ck_assert_ptr_nonnull(f);
  (void)fputs(text, f);
  ck_assert_int_eq(fclose(f), 0);
}

static void begin(const char *meminfo, const char *cgroup) {
  ck_assert_ptr_nonnull(mkdtemp(root));
  if (meminfo != NULL)
    file("/proc/meminfo", meminfo);
  if (cgroup != NULL)
    file("/proc/self/cgroup", cgroup);
}

static void end(void) {
  char command[64];
  (void)snprintf(command, sizeof command, "rm -r %s", root);
  ck_assert_int_eq(system(command), 0);
}

START_TEST(system_itself) {
  size_t available = tdo_available("");
  ck_assert_uint_gt(available, 0);
  ck_assert_uint_lt(available, tdo_vm_physical());
}
END_TEST

START_TEST(nothing_known) {
  begin(NULL, NULL);
  ck_assert_uint_eq(tdo_available(root), 0);
  file("/proc/meminfo", "");
  ck_assert_uint_eq(tdo_available(root), 0);
  file("/proc/meminfo", "MemTotal: 9000 kB\n"); /* a kernel before 3.14 */
  ck_assert_uint_eq(tdo_available(root), 0);
  end();
}
END_TEST

START_TEST(machine) {
  begin(MEMINFO, NULL);
  ck_assert_uint_eq(tdo_available(root), 5000 * 1024);
  file("/proc/self/cgroup", "0::/\nnonsense\n:\n3\n");
  ck_assert_uint_eq(tdo_available(root), 5000 * 1024);
  end();
}
END_TEST

/* The least that any group around the process has left. */
START_TEST(groups) {
  begin(MEMINFO, "0::/user/session/one\n");
  file("/sys/fs/cgroup/user/session/one/memory.max", "max\n");
  file("/sys/fs/cgroup/user/session/one/memory.current", "100000\n");
  ck_assert_uint_eq(tdo_available(root), 5000 * 1024);
  file("/sys/fs/cgroup/user/memory.max", "4000000\n");
  file("/sys/fs/cgroup/user/memory.current", "1000000\n");
  ck_assert_uint_eq(tdo_available(root), 3000000);
  file("/sys/fs/cgroup/user/session/one/memory.max", "200000\n");
  ck_assert_uint_eq(tdo_available(root), 100000);
  file("/sys/fs/cgroup/user/session/one/memory.current", "200001\n");
  ck_assert_uint_eq(tdo_available(root), 0);
  end();
}
END_TEST

/* Version 1, beside version 2 without that controller, in a container: the
   name is the one outside. */
START_TEST(older_groups) {
  begin(MEMINFO, "9:name=systemd:/\n4:memory:/outside/name\n0::/\n");
  file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000\n");
  file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000\n");
  ck_assert_uint_eq(tdo_available(root), 2000000);
  file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  ck_assert_uint_eq(tdo_available(root), 5000 * 1024);
  end();
}
END_TEST

/* However long the lines before are, and however many, that of the last
   controller counts. */
START_TEST(long_file) {
  static char text[8192];
  char name[200];
  memset(name, 'x', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  for (int i = 16; i > 1; --i)
    (void)snprintf(text + strlen(text), sizeof text - strlen(text),
                   "%d:cpu%d:/%s\n", i, i, name);
  ck_assert_uint_gt(strlen(text), 3000);
  if (_i == 1) { /* one that is longer than all room */
    (void)strcat(text, "1:net:/");
    memset(text + strlen(text), 'x', 2500);
    (void)strcat(text, "\n");
  }
  (void)strcat(text, "0:memory:/outside/name\n");
  begin(MEMINFO, text);
  file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000\n");
  file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000\n");
  ck_assert_uint_eq(tdo_available(root), 2000000);
  end();
}
END_TEST

/* Names that are too long are passed over. */
START_TEST(long_names) {
  char name[1100], path[700];
  memset(name, 'x', sizeof name);
  memcpy(name, "0::/", 4);
  memcpy(name + sizeof name - 2, "\n", 2);
  begin(MEMINFO, name);
  file("/sys/fs/cgroup/memory.max", "70000\n");
  file("/sys/fs/cgroup/memory.current", "10000\n");
  ck_assert_uint_eq(tdo_available(root), 60000);
  memset(path, '/', sizeof path - 1);
  path[sizeof path - 1] = '\0';
  ck_assert_uint_eq(tdo_available(path), 0);
  end();
}
END_TEST

SUITE_LOOPS_MAIN("available", 10, {system_itself, 1}, {nothing_known, 1},
                 {machine, 1}, {groups, 1}, {older_groups, 1}, {long_file, 2},
                 {long_names, 1})
