/* Testudo: memory touched before it is needed, on another processor: the
   first touch of a page costs the thread that does it a microsecond or two.
   SPDX-License-Identifier: BSD-2-Clause

   A thread of the library's own is started when something is asked, and
   leaves when nothing was for a while. It is no thread of the C library's: it
   can be started where nothing may be allocated, in a signal handler too, and
   the process stays single-threaded as far as the C library knows. It touches
   no memory but by one advice to the system, and handles no signals.

   All functions are thread-safe, and do nothing where the system has no such
   advice, or one processor only. */
#ifndef TDO_CODE_POPULATE_H
#define TDO_CODE_POPULATE_H

#include "code/vm.h"

/* Ask that [BASE, BASE+SIZE), whole pages that can be written, be touched
   soon. Contents do not change. Forgotten if too much was asked already. The
   calls are counted as VM's. */
void tdo_populate_ask(tdo_vm_t *vm, void *base, size_t size);

/* The program takes memory up to LIMIT now: it will touch that itself. */
void tdo_populate_taken(void *limit);

/* Forget what was asked of [BASE, BASE+SIZE); then nothing of it is being
   touched. */
void tdo_populate_cancel(void *base, size_t size);

/* Nothing is touched from now on, but for what is just being touched, until it
   is released as often as it was held: a call that changes access waits for
   the system's lock while memory is being touched. */
void tdo_populate_hold(void);
void tdo_populate_release(void);

/* In the child of a fork there is no such thread, and nothing asked; what the
   thread that forked holds it still does. No other one does when it forks: that
   is for who is inside an arena. */
void tdo_populate_after_fork_in_child(void);

#endif /* TDO_CODE_POPULATE_H */
