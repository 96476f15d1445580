/* Testudo: the platform contract for stopping threads and seeing their
   registers. Linux: signals SIGXCPU (suspend) and SIGXFSZ (resume), or what
   CONFIG_PTHREADEXT_SIGSUSPEND / _SIGRESUME name.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_STOP_H
#define TDO_CODE_STOP_H

#include "code/base.h"
#include "code/context.h"

#ifndef CONFIG_PTHREADEXT_SIGSUSPEND
#define CONFIG_PTHREADEXT_SIGSUSPEND SIGXCPU
#endif
#ifndef CONFIG_PTHREADEXT_SIGRESUME
#define CONFIG_PTHREADEXT_SIGRESUME SIGXFSZ
#endif

/* One registered thread of the process, shared by all its registrations;
   opaque, counted, allocated from static or its own mapped memory (never
   malloc, never managed memory). */
typedef struct tdo_stop_thread tdo_stop_thread_t;

/* The record of the calling thread, made at the first call, with one more
   reference; the first call in a process installs the signal handlers.
   MPS_RES_MEMORY if there is no room. */
mps_res_t tdo_stop_register(tdo_stop_thread_t **thread_o);
/* Drop a reference; any thread may. */
void tdo_stop_deregister(tdo_stop_thread_t *thread);

/* True if THREAD is the calling thread. */
bool tdo_stop_is_self(const tdo_stop_thread_t *thread);
/* False once the thread has exited (or did not survive a fork): it is then
   never signalled again. */
bool tdo_stop_is_alive(const tdo_stop_thread_t *thread);

/* Block the calling thread's signals, but for those of faults and of stops.
   True if they were not, and the caller has to make it loud again: on the same
   side of a signal handler's return, which restores what was before it. */
bool tdo_stop_quiet(void);
void tdo_stop_loud(void);
bool tdo_stop_is_quiet(void);
/* Can the calling thread be stopped, from now on, whatever signals it blocks?
   True if it could not be before. */
bool tdo_stop_admit(bool can);

/* Begin and end a stop of the world. Between them the calling thread, which is
   quiet at both, owns the process-wide right to stop threads (two arenas never
   stop each other's collectors half-way). Stops nest: a signal handler or a
   callback may stop threads for another arena. Nothing is stopped by begin
   itself. */
void tdo_stop_begin(void);
void tdo_stop_end(void);
/* Does the calling thread own that right? */
bool tdo_stop_has_right(void);

/* Stop THREADS[0..N) (NULLs, the caller itself and dead ones are skipped; the
   same record may occur twice, or in a stop around this one), returning when
   all have stopped; then let them run again, each when it has been resumed as
   often as it was stopped. Resume does not wait for the scheduler:
   a thread that has not woken yet when it is stopped again is simply still
   stopped; if stops follow each other so fast that it would never wake, one
   in a number of them first leaves it 0.3 ms. Threads blocked in system calls
   stop too, and restartable calls are restarted (SA_RESTART); errno is
   preserved. Call between begin and end. */
void tdo_stop_threads(tdo_stop_thread_t *const threads[], size_t n);
void tdo_resume_threads(tdo_stop_thread_t *const threads[], size_t n);

/* Registers and stack pointer of a stopped thread (red zone included in the
   stack range: sp is lowered by it). A thread inside our fault handler has
   those of the faulting instruction. Only between stop and resume. False if
   the thread is dead. */
bool tdo_stop_context(tdo_context_t *ctx_o, const tdo_stop_thread_t *thread);

/* For the child of a fork: forget every thread but the calling one. */
void tdo_stop_after_fork_in_child(void);

#endif /* TDO_CODE_STOP_H */
