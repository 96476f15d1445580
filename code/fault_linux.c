/* Testudo: memory faults on Linux. SPDX-License-Identifier: BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "code/platform.h"
#include "code/context_linux.h"
#include "code/fault.h"

#if TDO_PF_LINUX

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <ucontext.h>
#include "code/stop_tsan.h"

/* Initial-exec, so that a signal handler reads it without allocating. */
static _Thread_local const void *volatile fault_context
    __attribute__((tls_model("initial-exec")));

static pthread_mutex_t fault_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(tdo_fault_handler_t) fault_handler;
static struct sigaction fault_earlier;  /* written before installation */
static atomic_bool fault_earlier_spent; /* it had SA_RESETHAND, and ran */

const void *tdo_context_linux_fault(void) {
  return fault_context;
}

bool tdo_fault_offer(int signal, void *siginfo, void *context) {
  const siginfo_t *info = siginfo;
  tdo_fault_handler_t handler = atomic_load(&fault_handler);
  if (handler == NULL || signal != SIGSEGV || info == NULL ||
      context == NULL ||
      (info->si_code != SEGV_ACCERR && info->si_code != SEGV_MAPERR))
    return false; /* also what kill and raise send */
  int saved_errno = errno;
  const void *outer = fault_context;
  if (outer == NULL)
    fault_context = context;
  bool ours = handler(info->si_addr, tdo_context_linux_kind(context));
  fault_context = outer;
  errno = saved_errno;
  return ours;
}

/* End the process as the default disposition would: a real fault recurs when
   the handler returns, a sent signal must be sent again. */
static void fault_default(const siginfo_t *info) {
  struct sigaction action = {.sa_handler = SIG_DFL};
  (void)sigemptyset(&action.sa_mask);
  (void)sigaction(SIGSEGV, &action, NULL);
  if (info->si_code <= 0)
    (void)raise(SIGSEGV);
}

/* The mask under which the system would have run the earlier handler. */
static void fault_mask(const ucontext_t *uc) {
  sigset_t mask;
  (void)sigorset(&mask, &uc->uc_sigmask, &fault_earlier.sa_mask);
  if (!(fault_earlier.sa_flags & SA_NODEFER))
    (void)sigaddset(&mask, SIGSEGV);
  (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/* A fault that is not ours goes on as if we had never been here. */
static void fault_pass(int signal, siginfo_t *info, void *context) {
  const struct sigaction *e = &fault_earlier;
  bool is_function = (e->sa_flags & SA_SIGINFO) ||
                     (e->sa_handler != SIG_DFL && e->sa_handler != SIG_IGN);
  if (is_function && (e->sa_flags & (int)SA_RESETHAND) &&
      atomic_exchange(&fault_earlier_spent, true))
    is_function = false;
  if (is_function) {
    fault_mask(context);
    if (e->sa_flags & SA_SIGINFO)
      e->sa_sigaction(signal, info, context);
    else
      e->sa_handler(signal);
  } else if (e->sa_handler != SIG_IGN || info->si_code > 0) {
    fault_default(info); /* the system never lets a real fault be ignored */
  }
}

static void fault_entry(int signal, siginfo_t *info, void *context) {
  int saved_errno = errno;
  if (!tdo_fault_offer(signal, info, context))
    fault_pass(signal, info, context);
  errno = saved_errno;
}

/* No signal is blocked in the handler but SIGSEGV itself: a thread that
   waits there for an arena must be able to stop. SA_NODEFER, because format
   methods that the handler runs may fault on another arena's memory. */
static bool fault_install_entry(void) {
  struct sigaction action = {.sa_sigaction = fault_entry};
  (void)sigemptyset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | SA_NODEFER;
  return sigaction(SIGSEGV, NULL, &fault_earlier) == 0 &&
         stop_set_action(SIGSEGV, &action);
}

mps_res_t tdo_fault_install(tdo_fault_handler_t handler) {
  mps_res_t res = MPS_RES_OK;
  (void)pthread_mutex_lock(&fault_mutex);
  if (atomic_load(&fault_handler) == NULL) {
    if (fault_install_entry())
      atomic_store(&fault_handler, handler);
    else
      res = MPS_RES_FAIL;
  }
  (void)pthread_mutex_unlock(&fault_mutex);
  return res;
}

#endif /* TDO_PF_LINUX */
