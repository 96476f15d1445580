/* Testudo: the platform contract for tracking writes: the kernel notes which
   pages were written, without a fault that user code would see. One
   implementation for each platform (track_linux.c), one that always refuses
   (track_generic.c), and a double (track_double.c).
   SPDX-License-Identifier: BSD-2-Clause

   A page *covered* by a tracker can be *armed*; the first write to an armed
   page disarms it, and a page that is not armed counts as written. Access
   (code/vm.h) is another matter: both can be set without regard to the other.
   Memory that is dropped or mapped anew is no longer armed; mapped anew, no
   longer covered. */
#ifndef TDO_CODE_TRACK_H
#define TDO_CODE_TRACK_H

#include <stdatomic.h>
#include "code/base.h"

/* Calls into the system by one tracker, each attempt counted once. */
typedef struct tdo_track_counters {
  atomic_ulong calls;   /* of any kind, but for opening and closing */
  atomic_ulong refused; /* of them, those that failed */
} tdo_track_counters_t;

typedef void (*tdo_track_visit_t)(void *closure, char *base, char *limit);

typedef struct tdo_track tdo_track_t;

struct tdo_track {
  tdo_sig_t sig;
  tdo_track_counters_t counters;
  int fds[2]; /* the implementation's */

  /* From now on the pages of [BASE, BASE+SIZE) can be armed. */
  mps_res_t (*cover)(tdo_track_t *track, void *base, size_t size);
  /* Arm those pages of the range that were written, in one call whatever
     their number; pages never touched count as written anyway once they are.
     On refusal (MPS_RES_FAIL) some may be armed. */
  mps_res_t (*arm)(tdo_track_t *track, void *base, size_t size);
  /* Take the tracking of the range back: writes cost nothing more. */
  mps_res_t (*disarm)(tdo_track_t *track, void *base, size_t size);
  /* Visit the maximal runs of written pages of the range, in order; changes
     nothing. On refusal (MPS_RES_FAIL) some may not be visited. */
  mps_res_t (*harvest)(tdo_track_t *track, void *base, size_t size,
                       tdo_track_visit_t visit, void *closure);
  /* In the child of a fork, where nothing is armed or covered and the
     parent's tracker would act on the parent: start afresh. On refusal it
     can only be closed. */
  mps_res_t (*reopen)(tdo_track_t *track);
  /* The same child cannot do that yet: all calls are refused until it does.
     Signal-safe. */
  void (*abandon)(tdo_track_t *track);
  void (*close)(tdo_track_t *track);
};

#define TDO_TRACK_SIG ((tdo_sig_t)0x5197AC4B)

/* Open a tracker for this process's memory. MPS_RES_FAIL if the system has or
   grants none; then *WHY_O is a short static reason in English. */
mps_res_t tdo_track_open(tdo_track_t *track, const char **why_o);

#endif /* TDO_CODE_TRACK_H */
