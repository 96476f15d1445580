/* Testudo: the prompt of the Scheme interpreter. SPDX-License-Identifier:
   BSD-2-Clause

   On a terminal lines are edited by a library; otherwise standard input is
   read like a file, and an error is reported and passed over. */
#include "scheme.h"

#include <histedit.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a user who waits for the prompt does not notice. */
#define IDLE_SECONDS 0.02

static bool continued; /* the prompt for the rest of a datum */
static bool dropped;   /* what was typed is not wanted */

static char *prompt(EditLine *el) {
  static char first[] = "> ", more[] = "  ";
  (void)el;
  return continued ? more : first;
}

static void report(val condition) {
  report_condition(condition, vm.root[R_STDERR]);
  port_flush(vm.root[R_STDERR]);
}

static void report_on_new_line(val condition) {
  port_putc(vm.root[R_STDERR], '\n');
  report(condition);
}

/* What it is about may be too deep to be printed: then that is said, too. */
static void report_raised(void) {
  port_flush_all();
  if (!machine_do(report, vm.root[R_CONDITION]))
    machine_do(report_on_new_line, vm.root[R_CONDITION]);
}

/* An error while one is left ends that one only. */
void report_uncaught(void) {
  val winders = vm.root[R_WINDERS];
  report_raised();
  for (; winders != NIL; winders = CDR(winders))
    if (machine_call(global_value_of("%leave"), 1, &winders) == UNBOUND)
      report_raised();
  port_flush_all();
}

static void print_result(val v) {
  if (v != UNSPEC) {
    print(v, vm.root[R_STDOUT], PRINT_WRITE);
    port_putc(vm.root[R_STDOUT], '\n');
  }
  port_flush(vm.root[R_STDOUT]);
}

bool show_result(val v) {
  if (machine_do(print_result, v))
    return true;
  report_uncaught();
  return false;
}

static bool evaluate(val form) {
  val args[2] = {form, string_from_c("prompt")};
  val thunk = machine_call(global_value_of("%compile"), 2, args);
  val result = thunk == UNBOUND ? UNBOUND : machine_call(thunk, 0, NULL);
  if (result == UNBOUND)
    report_uncaught();
  return result != UNBOUND && show_result(result);
}

static void read_all(val port) {
  while (read_datum(port) != EOFVAL)
    continue;
}

/* Does the text end inside a datum? The reader knows. */
static bool is_incomplete(const char *text) {
  val port = port_open_string(text, strlen(text));
  return !machine_do(read_all, port) && read_ended_early();
}

static void evaluate_text(const char *text) {
  val port = port_open_string(text, strlen(text));
  val read = global_value_of("read");
  for (;;) {
    val form = machine_call(read, 1, &port);
    if (form == EOFVAL)
      return;
    if (form == UNBOUND) {
      report_uncaught();
      return;
    }
    if (!evaluate(form))
      return;
  }
}

/* Appends a line; false when there is no memory. */
static bool append(char **text_io, size_t *n_io, const char *line, size_t n) {
  char *p = realloc(*text_io, *n_io + n + 1);
  if (p == NULL)
    return false;
  memcpy(p + *n_io, line, n);
  *n_io += n;
  p[*n_io] = 0;
  *text_io = p;
  return true;
}

/* Control-C while a line is edited: nothing of it, or of what it goes on
   with, is wanted. */
static unsigned char drop_line(EditLine *el, int key) {
  const LineInfo *line = el_line(el);
  (void)key;
  el_cursor(el, (int)(line->lastchar - line->cursor));
  el_set(el, EL_REFRESH);
  el_insertstr(el, "\n"); /* an empty line would be the end */
  fputs("^C\n", stdout);
  dropped = true;
  return CC_NEWLINE;
}

static void bind_keys(EditLine *el) {
  el_set(el, EL_EDITOR, "emacs");
  el_set(el, EL_ADDFN, "drop-line", "Drop what was typed", drop_line);
  el_set(el, EL_SETTY, "-d", "-intr", "intr=", NULL); /* no signal */
  el_set(el, EL_BIND, "^C", "drop-line", NULL);
}

static void read_lines(EditLine *el, History *lines) {
  char *text = NULL;
  size_t n = 0;
  HistEvent event;
  int length;
  for (;;) {
    const char *line = el_gets(el, &length);
    if (line == NULL || length <= 0)
      break;
    if (dropped) {
      dropped = continued = false;
      n = 0;
      continue;
    }
    if (length > 1)
      history(lines, &event, H_ENTER, line);
    if (!append(&text, &n, line, (size_t)length))
      break;
    continued = is_incomplete(text);
    if (!continued) {
      interrupt_begin();
      evaluate_text(text);
      interrupt_end();
      memory_idle(IDLE_SECONDS);
      n = 0;
    }
  }
  free(text);
}

static void edit_lines(void) {
  HistEvent event;
  EditLine *el = el_init("testudo-scheme", stdin, stdout, stderr);
  History *lines = history_init();
  history(lines, &event, H_SETSIZE, 1000);
  el_set(el, EL_PROMPT, prompt);
  bind_keys(el);
  el_set(el, EL_HIST, history, lines);
  interrupt_end();
  read_lines(el, lines);
  history_end(lines);
  el_end(el);
  puts("");
}

static int read_plain(void) {
  val read = global_value_of("read");
  int status = 0;
  for (;;) {
    val form = machine_call(read, 1, &vm.root[R_STDIN]);
    if (form == EOFVAL)
      return status;
    if (form == UNBOUND) {
      report_uncaught();
      /* What the line has left is no program. */
      if (!machine_do(port_skip_line, vm.root[R_STDIN]) ||
          !port_is_open(vm.root[R_STDIN], PORT_IN))
        return 1; /* nothing can be read any more */
      status = 1;
    } else if (!evaluate(form)) {
      status = 1;
    }
  }
}

int repl(bool quiet) {
  if (!isatty(0))
    return read_plain();
  if (!quiet)
    puts("Testudo Scheme. Leave by control-D or (exit).");
  edit_lines();
  return 0;
}
