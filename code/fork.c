/* Testudo: forks. SPDX-License-Identifier: BSD-2-Clause */
#include "code/fork.h"
#include <pthread.h>
#include "code/platform.h"

#if TDO_PF_LINUX

#include <unistd.h>

unsigned long tdo_fork_process(void) {
  return (unsigned long)getpid();
}

static pthread_mutex_t fork_mutex = PTHREAD_MUTEX_INITIALIZER;
static bool fork_installed;

mps_res_t tdo_fork_install(void (*prepare)(void), void (*parent)(void),
                           void (*child)(void)) {
  mps_res_t res = MPS_RES_OK;

  (void)pthread_mutex_lock(&fork_mutex);
  if (!fork_installed) {
    if (pthread_atfork(prepare, parent, child) == 0)
      fork_installed = true;
    else
      res = MPS_RES_MEMORY;
  }
  (void)pthread_mutex_unlock(&fork_mutex);
  return res;
}

#else

unsigned long tdo_fork_process(void) {
  return 0;
}

mps_res_t tdo_fork_install(void (*prepare)(void), void (*parent)(void),
                           void (*child)(void)) {
  (void)prepare, (void)parent, (void)child;
  return MPS_RES_OK;
}

#endif
