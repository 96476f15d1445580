/* Testudo: loaded before a program, makes the system refuse what
   TEST_REFUSE says, a list with commas:
     userfaultfd=ERRNO   the call fails (seccomp);
     scan=ERRNO          PAGEMAP_SCAN fails (seccomp);
     later=N             tracking is refused from the N-th ioctl on;
     protect=N           one mprotect in N fails at random with ENOMEM, some of
                         them after half of the work (TEST_REFUSE_SEED: other
                         ones); or
     close=N             only those that take access away: a client may be
                         told that there is no memory where the others fail;
     undumpable=1        /proc/self belongs to root, as for a program that
                         changed its user.
   Where a filter of calls is not permitted the program ends with status 77.
   SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "refuse_call.h"

#define PAGEMAP_SCAN   0xC0606610u
#define PERMITTED_ROWS 2 /* refusals one after the other: see mprotect */

static unsigned long refuse_later, refuse_protect, refuse_close;

static void filter(unsigned nr, unsigned with, unsigned code) {
  if (!refuse_call(nr, with, code)) {
    perror("seccomp");
    _exit(77);
  }
}

/* The number after NAME= in TEXT, or 0. */
static unsigned long number(const char *text, const char *name) {
  const char *at = strstr(text, name);
  return at == NULL ? 0 : strtoul(at + strlen(name), NULL, 10);
}

__attribute__((constructor)) static void refuse(void) {
  const char *text = getenv("TEST_REFUSE");
  unsigned long code;
  if (text == NULL)
    return;
  if ((code = number(text, "userfaultfd=")) != 0)
    filter(SYS_userfaultfd, 0, (unsigned)code);
  if ((code = number(text, "scan=")) != 0)
    filter(SYS_ioctl, PAGEMAP_SCAN, (unsigned)code);
  if (number(text, "undumpable=") != 0 && prctl(PR_SET_DUMPABLE, 0) != 0)
    _exit(77);
  refuse_later = number(text, "later=");
  refuse_protect = number(text, "protect=");
  refuse_close = number(text, "close=");
}

int ioctl(int fd, unsigned long request, ...) {
  static unsigned long calls;
  va_list list;
  void *argument;
  va_start(list, request);
  argument = va_arg(list, void *);
  va_end(list);
  if (refuse_later != 0 && (uint32_t)request == PAGEMAP_SCAN &&
      __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) >= refuse_later) {
    errno = EAGAIN;
    return -1;
  }
  return (int)syscall(SYS_ioctl, fd, request, argument);
}

/* The kernel never refuses what makes no new mapping, so the wider calls that
   follow a refusal must not all fail: few in a row do. */
int mprotect(void *base, size_t size, int access) {
  static uint64_t state;
  static unsigned row;
  bool closes = access != (PROT_READ | PROT_WRITE);
  unsigned long one_in =
      closes && refuse_close != 0 ? refuse_close : refuse_protect;
  if (one_in != 0) {
    if (state == 0) {
      const char *seed = getenv("TEST_REFUSE_SEED");
      state = 88172645463325252u + (seed != NULL ? strtoul(seed, NULL, 10) : 0);
    }
    state = state * 6364136223846793005u + 1442695040888963407u;
    if ((state >> 33) % one_in == 0 && row < PERMITTED_ROWS) {
      size_t half = size / 2 & ~(size_t)0xFFFF;
      ++row;
      if ((state >> 62 & 1) != 0 && half != 0)
        (void)syscall(SYS_mprotect, base, half, access);
      errno = ENOMEM;
      return -1;
    }
    row = 0;
  }
  return (int)syscall(SYS_mprotect, base, size, access);
}
