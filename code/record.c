/* Testudo: recordings in files. SPDX-License-Identifier: BSD-2-Clause */
#include "code/record.h"
#include "code/platform.h"

#if TDO_PF_LINUX

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>
#include "code/file.h"

#define RECORD_WINDOW ((size_t)1 << 20)
#define RECORD_TRIES  100 /* where signals interrupt */

/* Room in the file, with its blocks: to write where a full disk has none is a
   fatal signal. Some systems write them, as the C library does it for them: no
   place for a thread to end that another one cancels. */
static bool record_room(int fd, size_t offset) {
  int state, error, tries = RECORD_TRIES;
  if (!tdo_file_may_have(offset + RECORD_WINDOW))
    return false;
  (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  do {
    error = posix_fallocate(fd, (off_t)offset, (off_t)RECORD_WINDOW);
  } while (error == EINTR && --tries > 0);
  (void)pthread_setcancelstate(state, &state);
  return error == 0;
}

static bool record_map(tdo_record_t *r, size_t offset) {
  void *p = MAP_FAILED;
  if (record_room(r->fd, offset))
    p = mmap(NULL, RECORD_WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd,
             (off_t)offset);
  r->window = p == MAP_FAILED ? NULL : p;
  r->at = r->window;
  r->limit = p == MAP_FAILED ? NULL : r->window + RECORD_WINDOW;
  r->offset = offset;
  return p != MAP_FAILED;
}

/* Is the file another process's, which has parts of it mapped? To empty it
   would end that by a signal. Where there are no locks nobody knows. */
static bool record_taken(int fd) {
  return flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

mps_res_t tdo_record_open(tdo_record_t *r, const char *path) {
  r->window = NULL;
  r->fd = tdo_file_open(path, O_RDWR | O_CREAT);
  if (r->fd < 0)
    return MPS_RES_FAIL;
  if (record_taken(r->fd) || ftruncate(r->fd, 0) != 0 || !record_map(r, 0)) {
    tdo_file_close(r->fd);
    return MPS_RES_FAIL;
  }
  return MPS_RES_OK;
}

void tdo_record_close(tdo_record_t *r) {
  if (r->window != NULL) {
    off_t size = (off_t)(r->offset + (size_t)(r->at - r->window));
    (void)munmap(r->window, RECORD_WINDOW);
    r->window = NULL;
    /* If refused, zeros follow, which readers take for the end. */
    int cut = ftruncate(r->fd, size);
    (void)cut;
    tdo_file_close(r->fd);
  }
}

void tdo_record_abandon(tdo_record_t *r) {
  if (r->window != NULL) {
    (void)munmap(r->window, RECORD_WINDOW);
    r->window = NULL;
    tdo_file_close(r->fd);
  }
}

/* What is left of a window moves to the next, which overlaps it by one page;
   so that no record is split over two mappings. */
void tdo_record_more(tdo_record_t *r) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t used = r->offset + (size_t)(r->at - r->window);
  size_t next = tdo_round_down(used, page);
  (void)munmap(r->window, RECORD_WINDOW);
  if (!record_map(r, next)) {
    tdo_file_close(r->fd);
    return;
  }
  r->at = r->window + (used - next);
}

#else

mps_res_t tdo_record_open(tdo_record_t *r, const char *path) {
  (void)path;
  r->window = NULL;
  return MPS_RES_FAIL;
}

void tdo_record_close(tdo_record_t *r) {
  (void)r;
}

void tdo_record_abandon(tdo_record_t *r) {
  (void)r;
}

void tdo_record_more(tdo_record_t *r) {
  (void)r;
}

#endif
