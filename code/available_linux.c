/* Testudo: memory that Linux has left for this process: /proc/meminfo, and the
   limits of control groups (the kernel's documentation: cgroup-v2, memory.max;
   cgroup-v1, memory.limit_in_bytes).
   SPDX-License-Identifier: BSD-2-Clause

   Little stack is used: a collection may end in a signal handler. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall */
#endif
#include "code/available.h"
#include "code/platform.h"

#if TDO_PF_LINUX

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "code/base.h"
#include "code/file.h"

enum { AVAILABLE_PATH = 512, AVAILABLE_LINES = 2048 };

typedef struct available_files {
  const char *root, *dir, *limit, *used;
} available_files_t;

/* The number in the file NAME of the group that the first N characters of
   GROUP name; SIZE_MAX if there is none ("max"). */
static size_t available_number(const available_files_t *files,
                               const char *group, size_t n, const char *name) {
  char path[AVAILABLE_PATH];
  int length = snprintf(path, sizeof path, "%s%s%.*s/%s", files->root,
                        files->dir, (int)n, group, name);
  return length >= (int)sizeof path ? SIZE_MAX : tdo_file_number(path, 0);
}

/* What GROUP and those that it lies in have left. In a container its name may
   be one that is seen from outside only: then the outermost's is the limit. */
static size_t available_group(const available_files_t *files,
                              const char *group) {
  size_t n = strcspn(group, "\n"), least = SIZE_MAX;
  for (;;) {
    while (n > 0 && group[n - 1] == '/')
      --n;
    size_t limit = available_number(files, group, n, files->limit);
    size_t used = available_number(files, group, n, files->used);
    if (limit != SIZE_MAX && used != SIZE_MAX)
      least = tdo_min(least, limit - tdo_min(limit, used));
    if (n == 0)
      return least;
    while (n > 0 && group[n - 1] != '/')
      --n;
  }
}

/* The same for a LINE "number:controllers:group" of /proc/self/cgroup; version
   2 names no controllers. */
static size_t available_line(const char *root, const char *line) {
  const available_files_t one = {root, "/sys/fs/cgroup/memory",
                                 "memory.limit_in_bytes",
                                 "memory.usage_in_bytes"};
  const available_files_t two = {root, "/sys/fs/cgroup", "memory.max",
                                 "memory.current"};
  const char *rest = line + strcspn(line, ":\n");
  if (strncmp(rest, "::", 2) == 0)
    return available_group(&two, rest + 2);
  if (strncmp(rest, ":memory:", 8) == 0)
    return available_group(&one, rest + 8);
  return SIZE_MAX;
}

/* Version 1 has a dozen lines, each with the whole name of a group: they are
   looked at as they are read. Of one that is longer than all room the
   beginning counts. */
static size_t available_groups(const char *root) {
  char path[AVAILABLE_PATH], text[AVAILABLE_LINES];
  size_t least = SIZE_MAX, held = 0;
  ssize_t got;
  int fd;
  if (snprintf(path, sizeof path, "%s/proc/self/cgroup", root) >=
          (int)sizeof path ||
      (fd = tdo_file_open(path, O_RDONLY)) < 0)
    return SIZE_MAX;
  while ((got = syscall(SYS_read, fd, text + held,
                        sizeof text - 1 - held)) > 0) {
    const char *line = text, *end;
    held += (size_t)got;
    text[held] = '\0';
    while ((end = strchr(line, '\n')) != NULL) {
      least = tdo_min(least, available_line(root, line));
      line = end + 1;
    }
    if (line == text && held == sizeof text - 1) {
      least = tdo_min(least, available_line(root, text));
      line = text + held;
    }
    held -= (size_t)(line - text);
    memmove(text, line, held);
  }
  tdo_file_close(fd);
  text[held] = '\0';
  return tdo_min(least, available_line(root, text));
}

/* /proc/meminfo tells it in kB, in its third line. */
static size_t available_machine(const char *root) {
  static const char key[] = "MemAvailable:";
  char path[AVAILABLE_PATH], text[AVAILABLE_PATH];
  if (snprintf(path, sizeof path, "%s/proc/meminfo", root) >=
          (int)sizeof path ||
      !tdo_file_text(text, sizeof text, path))
    return 0;
  const char *found = strstr(text, key);
  return found == NULL
             ? 0
             : (size_t)strtoull(found + strlen(key), NULL, 10) * 1024;
}

size_t tdo_available(const char *root) {
  return tdo_min(available_machine(root), available_groups(root));
}

#endif /* TDO_PF_LINUX */
