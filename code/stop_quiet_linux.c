/* Testudo: keeping the calling thread's signals away on Linux, where there may
   be handlers though there are no other threads. SPDX-License-Identifier:
   BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "code/platform.h"
#include "code/stop.h"

#if TDO_PF_LINUX

#include <pthread.h>
#include <signal.h>

static _Thread_local struct {
  bool quiet;
  sigset_t before;
} quiet_mask __attribute__((tls_model("initial-exec")));

bool tdo_stop_quiet(void) {
  static const int open[] = {SIGSEGV, SIGBUS,  SIGILL,
                             SIGFPE,  SIGTRAP, SIGSYS,
                             CONFIG_PTHREADEXT_SIGSUSPEND};
  sigset_t set;
  if (quiet_mask.quiet)
    return false;
  (void)sigfillset(&set);
  for (size_t i = 0; i < sizeof open / sizeof open[0]; ++i)
    (void)sigdelset(&set, open[i]);
  (void)pthread_sigmask(SIG_BLOCK, &set, &quiet_mask.before);
  quiet_mask.quiet = true;
  return true;
}

void tdo_stop_loud(void) {
  sigset_t before = quiet_mask.before; /* a handler may be quiet in turn */
  quiet_mask.quiet = false;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool tdo_stop_is_quiet(void) {
  return quiet_mask.quiet;
}

bool tdo_stop_admit(bool can) {
  sigset_t set, before;
  (void)sigemptyset(&set);
  (void)sigaddset(&set, CONFIG_PTHREADEXT_SIGSUSPEND);
  (void)pthread_sigmask(can ? SIG_UNBLOCK : SIG_BLOCK, &set, &before);
  return sigismember(&before, CONFIG_PTHREADEXT_SIGSUSPEND) != 0;
}

#endif /* TDO_PF_LINUX */
