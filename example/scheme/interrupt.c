/* Testudo: Control-C while the Scheme interpreter's prompt evaluates.
   SPDX-License-Identifier: BSD-2-Clause

   The machine's loop asks nothing: the handler puts something else in the
   table by which it jumps. Reading and printing ask here now and then. */
#include "scheme.h"

#include <signal.h>

static volatile sig_atomic_t pending;
static bool raised; /* in this evaluation */

static void note(int sig) {
  (void)sig;
  pending = 1;
  machine_stop();
}

static void handle(void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
}

void interrupt_begin(void) {
  pending = 0;
  raised = false;
  handle(note);
}

void interrupt_end(void) {
  handle(SIG_IGN);
  machine_resume();
}

/* A program can catch the first; the next one ends the evaluation. */
void interrupt_check(void) {
  if (!pending)
    return;
  machine_resume();
  pending = 0;
  val e = make_error("interrupt", FALSE, string_from_c("interrupted"), NIL);
  if (!raised) {
    raised = true;
    raise_value(e);
  }
  vm.root[R_CONDITION] = e;
  machine_abandon();
}
