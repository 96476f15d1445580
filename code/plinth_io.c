/* Testudo: the default plinth, the output half (interface, section 2.27).
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall */
#endif
#include "code/base.h"
#include "code/platform.h"

#if !defined(CONFIG_PLINTH_NONE)

#include <stdio.h>
#include <stdlib.h>
#include "mpsio.h"
#include "mpslib.h"

/* Weak: a client may bring its own. */
#pragma weak mps_io_create
#pragma weak mps_io_destroy
#pragma weak mps_io_write
#pragma weak mps_io_flush
#pragma weak mps_lib_fputs

static const char *plinth_name(void) {
  const char *name = getenv("MPS_TELEMETRY_FILENAME");

  return name != NULL ? name : "mpsio.log";
}

#if TDO_PF_LINUX

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "code/file.h"

/* Events and lines about collections are written with threads stopped, one of
   which may be inside malloc or hold a stream's lock: so there are no C
   streams here. */

static bool plinth_write(int file, const char *p, size_t size) {
  while (size > 0) {
    ssize_t done = syscall(SYS_write, file, p, size); /* see file.h */
    if (done > 0) {
      p += done;
      size -= (size_t)done;
    } else if (done == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

/* Is nothing kept back in FILE, so that to write to its descriptor is the
   same? Takes no lock, and no memory. */
static bool plinth_unbuffered(FILE *file) {
  return fileno_unlocked(file) >= 0 && !__flbf(file) && __fbufsize(file) <= 1;
}

/* Where the client has given stderr a buffer, the text goes the way of all
   others, unless another thread is in the middle of that. (One that is itself,
   and hit a barrier there, may lose the line.) */
int mps_lib_fputs(const char *text, mps_lib_FILE *stream) {
  FILE *file = (FILE *)(void *)stream;
  int done;

  if (file != stderr)
    return fputs(text, file);
  if (plinth_unbuffered(file) || ftrylockfile(file) != 0)
    return plinth_write(fileno_unlocked(file), text, strlen(text)) ? 0 : EOF;
  done = fputs_unlocked(text, file);
  funlockfile(file);
  return done;
}

/* The handle is twice the file descriptor, and two more; of a pipe three. */

static mps_io_t plinth_handle(int file, bool is_pipe) {
  return (mps_io_t)(((uintptr_t)file + 1) * 2 + is_pipe);
}

static int plinth_file(mps_io_t io) {
  return (int)((uintptr_t)io / 2) - 1;
}

static bool plinth_is_pipe(mps_io_t io) {
  return (uintptr_t)io % 2 != 0;
}

/* A reader that went away is not to end the program: the signal for that is
   taken back, unless there is one that was not ours; by the kernel's call, with
   a set as long as its own (see file.h). */
static bool plinth_write_pipe(int file, const char *p, size_t size) {
  static const struct timespec now = {0, 0};
  sigset_t ours, before, pending;
  bool ok;

  (void)sigemptyset(&ours);
  (void)sigaddset(&ours, SIGPIPE);
  (void)pthread_sigmask(SIG_BLOCK, &ours, &before);
  (void)sigemptyset(&pending);
  (void)sigpending(&pending);
  ok = plinth_write(file, p, size);
  if (!ok && errno == EPIPE && !sigismember(&pending, SIGPIPE))
    while (syscall(SYS_rt_sigtimedwait, &ours, NULL, &now,
                   (size_t)((_NSIG - 1) / 8)) < 0 &&
           errno == EINTR)
      ;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return ok;
}

/* Empty FILE, unless another process writes to it: a program that starts
   another passes its file's name on to it. The lock is of this process alone; a
   child that it forks does not keep it. */
static bool plinth_empty(int file) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
    return true;
  if (fcntl(file, F_SETLK, &lock) != 0 &&
      (errno == EAGAIN || errno == EACCES))
    return false;
  return ftruncate(file, 0) == 0;
}

/* To open a pipe that nobody reads would wait until somebody does, with threads
   stopped, perhaps for ever; what is written later may wait, for a reader. */
mps_res_t mps_io_create(mps_io_t *io_o) {
  struct stat status;
  bool is_pipe;
  int file = tdo_file_open(plinth_name(), O_WRONLY | O_CREAT | O_NONBLOCK);
  if (file < 0)
    return MPS_RES_IO;
  is_pipe = fstat(file, &status) == 0 && S_ISFIFO(status.st_mode);
  if (fcntl(file, F_SETFL, 0) != 0 || !plinth_empty(file)) {
    tdo_file_close(file);
    return MPS_RES_IO;
  }
  *io_o = plinth_handle(file, is_pipe);
  return MPS_RES_OK;
}

void mps_io_destroy(mps_io_t io) {
  tdo_file_close(plinth_file(io));
}

mps_res_t mps_io_write(mps_io_t io, void *buf, size_t size) {
  int file = plinth_file(io);
  off_t at;
  if (plinth_is_pipe(io))
    return plinth_write_pipe(file, buf, size) ? MPS_RES_OK : MPS_RES_IO;
  at = lseek(file, 0, SEEK_CUR); /* of a device perhaps -1 */
  if (at >= 0 && !tdo_file_may_have((size_t)at + size))
    return MPS_RES_IO;
  return plinth_write(file, buf, size) ? MPS_RES_OK : MPS_RES_IO;
}

mps_res_t mps_io_flush(mps_io_t io) {
  (void)io; /* nothing is kept back */
  return MPS_RES_OK;
}

#else

int mps_lib_fputs(const char *text, mps_lib_FILE *stream) {
  return fputs(text, (FILE *)(void *)stream);
}

static FILE *plinth_file(mps_io_t io) {
  return (FILE *)(void *)io;
}

mps_res_t mps_io_create(mps_io_t *io_o) {
  FILE *file = fopen(plinth_name(), "wb");
  if (file == NULL)
    return MPS_RES_IO;
  *io_o = (mps_io_t)(void *)file;
  return MPS_RES_OK;
}

void mps_io_destroy(mps_io_t io) {
  (void)fclose(plinth_file(io));
}

mps_res_t mps_io_write(mps_io_t io, void *buf, size_t size) {
  return fwrite(buf, 1, size, plinth_file(io)) == size ? MPS_RES_OK
                                                       : MPS_RES_IO;
}

mps_res_t mps_io_flush(mps_io_t io) {
  return fflush(plinth_file(io)) == 0 ? MPS_RES_OK : MPS_RES_IO;
}

#endif

#endif /* !CONFIG_PLINTH_NONE */
