/* Testudo: reading small files on Linux.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall */
#endif
#include "code/file.h"
#include "code/platform.h"

#if TDO_PF_LINUX

#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int tdo_file_open(const char *path, int flags) {
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0666);
}

void tdo_file_close(int fd) {
  (void)syscall(SYS_close, fd);
}

bool tdo_file_may_have(size_t size) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || size <= limit.rlim_cur;
}

bool tdo_file_text(char *text, size_t size, const char *path) {
  int fd = tdo_file_open(path, O_RDONLY);
  if (fd < 0)
    return false;
  ssize_t got = syscall(SYS_read, fd, text, size - 1);
  tdo_file_close(fd);
  text[got > 0 ? got : 0] = '\0';
  return got > 0;
}

size_t tdo_file_number(const char *path, unsigned index) {
  char text[129];
  size_t value = SIZE_MAX;
  if (!tdo_file_text(text, sizeof text, path))
    return SIZE_MAX;
  for (const char *p = text; *p != '\0'; ++p) {
    if (*p >= '0' && *p <= '9') {
      size_t digit = (size_t)(*p - '0');
      value = value == SIZE_MAX ? digit : value * 10 + digit;
    } else if (value != SIZE_MAX) {
      if (index == 0)
        break;
      --index;
      value = SIZE_MAX;
    }
  }
  return value;
}

#endif /* TDO_PF_LINUX */
