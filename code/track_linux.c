/* Testudo: tracking writes on Linux: asynchronous write-protection by
   userfaultfd and the PAGEMAP_SCAN ioctl (Linux 6.7 and later).
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/platform.h"
#include "code/track.h"

#if TDO_PF_LINUX

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "code/check.h"
#include "code/file.h"

/* Headers may be older than the kernel: what they may lack, as the kernel's
   interface has it. */
#define TRACK_USER_MODE_ONLY 1 /* flag of userfaultfd */
#define TRACK_WP_ASYNC       ((uint64_t)1 << 15)
#define TRACK_SCAN_WP        ((uint64_t)1 << 0) /* protect what matches */
#define TRACK_SCAN_CHECK     ((uint64_t)1 << 1) /* or fail if it cannot be */
#define TRACK_IS_WRITTEN     ((uint64_t)1 << 1)

struct track_region {
  uint64_t start, end, categories;
};

struct track_scan {
  uint64_t size, flags, start, end, walk_end;
  uint64_t regions, regions_max, pages_max;
  uint64_t inverted, all_of, any_of, reported;
};

#define TRACK_PAGEMAP_SCAN _IOWR('f', 16, struct track_scan)
#define TRACK_REGIONS      64 /* fetched with each call, into the stack */

enum { TRACK_EVENTS, TRACK_PAGEMAP }; /* indices into fds */

/* One call, counted; what it returned. */
static int track_ioctl(tdo_track_t *track, int which, unsigned long request,
                       void *argument) {
  int result = ioctl(track->fds[which], request, argument);
  atomic_fetch_add_explicit(&track->counters.calls, 1, memory_order_relaxed);
  if (result < 0)
    atomic_fetch_add_explicit(&track->counters.refused, 1,
                              memory_order_relaxed);
  return result;
}

static struct uffdio_range track_range(const void *base, size_t size) {
  return (struct uffdio_range){.start = (uintptr_t)base, .len = size};
}

static mps_res_t track_cover(tdo_track_t *track, void *base, size_t size) {
  struct uffdio_register argument = {.range = track_range(base, size),
                                     .mode = UFFDIO_REGISTER_MODE_WP};
  TDO_CHECK(track->sig == TDO_TRACK_SIG);
  return track_ioctl(track, TRACK_EVENTS, UFFDIO_REGISTER, &argument) >= 0
             ? MPS_RES_OK
             : MPS_RES_FAIL;
}

static mps_res_t track_arm(tdo_track_t *track, void *base, size_t size) {
  struct track_scan scan = {.size = sizeof scan,
                            .flags = TRACK_SCAN_WP | TRACK_SCAN_CHECK,
                            .start = (uintptr_t)base,
                            .end = (uintptr_t)base + size,
                            .all_of = TRACK_IS_WRITTEN,
                            .reported = TRACK_IS_WRITTEN};
  TDO_CHECK(track->sig == TDO_TRACK_SIG);
  return track_ioctl(track, TRACK_PAGEMAP, TRACK_PAGEMAP_SCAN, &scan) >= 0 &&
                 scan.walk_end == scan.end
             ? MPS_RES_OK
             : MPS_RES_FAIL;
}

static mps_res_t track_disarm(tdo_track_t *track, void *base, size_t size) {
  struct uffdio_writeprotect argument = {.range = track_range(base, size)};
  TDO_CHECK(track->sig == TDO_TRACK_SIG);
  return track_ioctl(track, TRACK_EVENTS, UFFDIO_WRITEPROTECT, &argument) >= 0
             ? MPS_RES_OK
             : MPS_RES_FAIL;
}

static mps_res_t track_harvest(tdo_track_t *track, void *base, size_t size,
                               tdo_track_visit_t visit, void *closure) {
  struct track_region regions[TRACK_REGIONS];
  struct track_scan scan = {.size = sizeof scan,
                            .flags = TRACK_SCAN_CHECK,
                            .start = (uintptr_t)base,
                            .end = (uintptr_t)base + size,
                            .regions = (uintptr_t)regions,
                            .regions_max = TRACK_REGIONS,
                            .all_of = TRACK_IS_WRITTEN,
                            .reported = TRACK_IS_WRITTEN};
  TDO_CHECK(track->sig == TDO_TRACK_SIG);
  while (scan.start < scan.end) {
    int found = track_ioctl(track, TRACK_PAGEMAP, TRACK_PAGEMAP_SCAN, &scan);
    if (found < 0 || scan.walk_end <= scan.start)
      return MPS_RES_FAIL;
    for (int i = 0; i < found; ++i)
      visit(closure, (char *)(uintptr_t)regions[i].start,
            (char *)(uintptr_t)regions[i].end);
    scan.start = scan.walk_end;
  }
  return MPS_RES_OK;
}

static void track_close_fds(tdo_track_t *track) {
  for (int i = 0; i < 2; ++i) {
    if (track->fds[i] >= 0) {
      tdo_file_close(track->fds[i]);
      track->fds[i] = -1;
    }
  }
}

/* A process without privileges may have one that serves user mode only, which
   is all that is needed; kernels before 5.11 know no such thing. */
static const char *track_open_fds(tdo_track_t *track) {
  struct uffdio_api api = {.api = UFFD_API, .features = TRACK_WP_ASYNC};
  track->fds[TRACK_EVENTS] = (int)syscall(
      SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | TRACK_USER_MODE_ONLY);
  track->fds[TRACK_PAGEMAP] = -1;
  if (track->fds[TRACK_EVENTS] < 0)
    return "userfaultfd was refused";
  if (ioctl(track->fds[TRACK_EVENTS], UFFDIO_API, &api) < 0)
    return "userfaultfd has no asynchronous write-protection";
  track->fds[TRACK_PAGEMAP] = tdo_file_open("/proc/self/pagemap", O_RDONLY);
  if (track->fds[TRACK_PAGEMAP] < 0)
    return "/proc/self/pagemap cannot be opened";
  return NULL;
}

/* Does PAGEMAP_SCAN exist, and is it let through? An empty range will do. */
static const char *track_try_scan(tdo_track_t *track) {
  struct track_scan scan = {.size = sizeof scan,
                            .flags = TRACK_SCAN_WP | TRACK_SCAN_CHECK,
                            .all_of = TRACK_IS_WRITTEN,
                            .reported = TRACK_IS_WRITTEN};
  if (ioctl(track->fds[TRACK_PAGEMAP], TRACK_PAGEMAP_SCAN, &scan) < 0)
    return "PAGEMAP_SCAN is missing";
  return NULL;
}

static mps_res_t track_reopen(tdo_track_t *track) {
  TDO_CHECK(track->sig == TDO_TRACK_SIG);
  track_close_fds(track);
  return track_open_fds(track) == NULL ? MPS_RES_OK : MPS_RES_FAIL;
}

/* A handler may have forked while the tracker was being closed. */
static void track_abandon(tdo_track_t *track) {
  track_close_fds(track); /* -1 is no descriptor to any call */
}

static void track_close(tdo_track_t *track) {
  TDO_CHECK(track->sig == TDO_TRACK_SIG);
  track->sig = TDO_SIG_DEAD;
  track_close_fds(track);
}

mps_res_t tdo_track_open(tdo_track_t *track, const char **why_o) {
  static const tdo_track_t methods = {.cover = track_cover,
                                      .arm = track_arm,
                                      .disarm = track_disarm,
                                      .harvest = track_harvest,
                                      .reopen = track_reopen,
                                      .abandon = track_abandon,
                                      .close = track_close};
  const char *why;
  memcpy(track, &methods, sizeof *track);
  why = track_open_fds(track);
  if (why == NULL)
    why = track_try_scan(track);
  if (why != NULL) {
    track_close_fds(track);
    *why_o = why;
    return MPS_RES_FAIL;
  }
  track->sig = TDO_TRACK_SIG;
  return MPS_RES_OK;
}

#endif /* TDO_PF_LINUX */
