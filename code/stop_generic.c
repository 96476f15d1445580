/* Testudo: stopping threads where there is only one.
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/platform.h"
#include "code/stop.h"

#if !TDO_THREADS

#include "code/check.h"

struct tdo_stop_thread {
  size_t references;
};

static tdo_stop_thread_t stop_only;

mps_res_t tdo_stop_register(tdo_stop_thread_t **thread_o) {
  ++stop_only.references;
  *thread_o = &stop_only;
  return MPS_RES_OK;
}

void tdo_stop_deregister(tdo_stop_thread_t *thread) {
  TDO_CHECK(thread->references > 0);
  --thread->references;
}

bool tdo_stop_is_self(const tdo_stop_thread_t *thread) {
  return thread == &stop_only;
}

bool tdo_stop_is_alive(const tdo_stop_thread_t *thread) {
  return thread == &stop_only;
}

void tdo_stop_begin(void) {
}

void tdo_stop_end(void) {
}

bool tdo_stop_has_right(void) {
  return false;
}

void tdo_stop_threads(tdo_stop_thread_t *const threads[], size_t n) {
  (void)threads, (void)n;
}

void tdo_resume_threads(tdo_stop_thread_t *const threads[], size_t n) {
  (void)threads, (void)n;
}

bool tdo_stop_context(tdo_context_t *ctx_o, const tdo_stop_thread_t *thread) {
  (void)ctx_o, (void)thread;
  return false;
}

void tdo_stop_after_fork_in_child(void) {
}

#endif /* !TDO_THREADS */
