/* Testudo: threads registered with an arena (interface, section 2.16).
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_THREAD_H
#define TDO_TRACE_THREAD_H

#include "code/ring.h"
#include "code/stop.h"

typedef struct mps_thr_s tdo_thread_t;

struct mps_thr_s {
  tdo_sig_t sig;
  mps_arena_t heap;
  tdo_ring_t heap_ring;
  tdo_stop_thread_t *stop;
  size_t roots; /* that are its registers and stack */
};

#define TDO_THREAD_SIG ((tdo_sig_t)0x51974EAD) /* THREAD */

/* STOP is the calling thread's record, with a reference for the registration,
   which deregister returns. These are had and given back outside of the arena:
   both need the right to stop threads (abroad.h). */
mps_res_t tdo_thread_register(tdo_thread_t **thread_o, mps_arena_t heap,
                              tdo_stop_thread_t *stop);
tdo_stop_thread_t *tdo_thread_deregister(tdo_thread_t *thread);
bool tdo_thread_check(const tdo_thread_t *thread);

/* Stop the arena's other threads, let them go; idempotent. */
void tdo_threads_stop(mps_arena_t heap);
void tdo_threads_go(mps_arena_t heap);

/* No signal handlers until this session is over (heap->quiet). */
void tdo_threads_quiet(mps_arena_t heap);

/* Registers and stack of THREAD: of the caller, what the interface function
   saved (heap->hot), or in the fault handler, where the fault was. False if
   it has exited or has no known state. */
bool tdo_thread_context(tdo_context_t *ctx_o, const tdo_thread_t *thread);

#endif /* TDO_TRACE_THREAD_H */
