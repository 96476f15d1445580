/* Testudo: primitives on procedures, conditions, and the system.
   SPDX-License-Identifier: BSD-2-Clause */
#include "bignum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- procedures and values */

static val p_procedurep(int argc, val *argv) {
  (void)argc;
  return boolean(is_procedure(argv[0]));
}

val values_of(int argc, const val *argv) {
  if (argc == 1)
    return argv[0];
  val v = make_object(T_VALUES, (size_t)argc, FALSE);
  if (argc == 0)
    *obj(v) = HEADER_WITH_FLAG(*obj(v), 1);
  for (int i = 0; i < argc; i++)
    SLOT(v, i + 1) = argv[i];
  return v;
}

static val p_values(int argc, val *argv) {
  return values_of(argc, argv);
}

static val p_make_cases(int argc, val *argv) {
  val v = make_object(T_CASES, (size_t)argc, FALSE);
  if (argc == 0)
    *obj(v) = HEADER_WITH_FLAG(*obj(v), 1);
  for (int i = 0; i < argc; i++)
    SLOT(v, i + 1) = argv[i];
  return v;
}

static val p_compile(int argc, val *argv) {
  val saved = vm.root[R_FILE];
  vm.root[R_FILE] = argc > 1 ? argv[1] : FALSE;
  val closure = compile_toplevel(argv[0], argc > 2 ? argv[2] : FALSE);
  vm.root[R_FILE] = saved;
  return closure;
}

/* The rest of what the machine keeps for a computation. */
static val p_winders(int argc, val *argv) {
  if (argc > 0)
    vm.root[R_WINDERS] = argv[0];
  return vm.root[R_WINDERS];
}

static val p_handlers(int argc, val *argv) {
  if (argc > 0)
    vm.root[R_HANDLERS] = argv[0];
  return vm.root[R_HANDLERS];
}

static val p_cont_winders(int argc, val *argv) {
  (void)argc;
  return CONT_WINDERS(argv[0]);
}

static val p_set_hooks(int argc, val *argv) {
  (void)argc;
  vm.root[R_SIGNAL] = argv[0];
  vm.root[R_REWIND] = argv[1];
  return UNSPEC;
}

/* ---- parameters and promises */

static val p_make_param(int argc, val *argv) {
  (void)argc;
  val p = make_object(T_PARAM, 2, argv[0]);
  PARAM_CONVERT(p) = argv[1];
  return p;
}

static val arg_param(val *argv, int i) {
  return arg_of(argv, i, T_PARAM, "parameter");
}

static val p_param_value(int argc, val *argv) {
  (void)argc;
  return PARAM_VALUE(arg_param(argv, 0));
}

static val p_param_set(int argc, val *argv) {
  (void)argc;
  PARAM_VALUE(arg_param(argv, 0)) = argv[1];
  return UNSPEC;
}

static val p_param_convert(int argc, val *argv) {
  (void)argc;
  return PARAM_CONVERT(arg_param(argv, 0));
}

static val p_make_promise(int argc, val *argv) {
  (void)argc;
  val p = make_object(T_PROMISE, 1, FALSE);
  val content = cons(argv[0], argv[1]);
  PROMISE_BOX(p) = content;
  return p;
}

static val p_promisep(int argc, val *argv) {
  (void)argc;
  return boolean(is_type(argv[0], T_PROMISE));
}

static val p_promise_box(int argc, val *argv) {
  if (argc > 1)
    PROMISE_BOX(argv[0]) = argv[1];
  return PROMISE_BOX(arg_of(argv, 0, T_PROMISE, "promise"));
}

/* ---- conditions */

/* What is said about another error is about where that happened. */
static val p_make_error(int argc, val *argv) {
  (void)argc;
  val e = make_error("error", FALSE, argv[0], argv[1]), cause = CAR(argv[1]);
  if (is_type(cause, T_ERROR) && ERROR_PLACE(cause) != FALSE) {
    ERROR_PLACE(e) = ERROR_PLACE(cause);
    ERROR_PROC(e) = ERROR_PROC(cause);
  }
  return e;
}

static bool has_kind(val v, const char *kind) {
  return is_type(v, T_ERROR) && ERROR_KIND(v) == intern(kind);
}

static val p_errorp(int argc, val *argv) {
  (void)argc;
  return boolean(is_type(argv[0], T_ERROR));
}

static val p_read_errorp(int argc, val *argv) {
  (void)argc;
  return boolean(has_kind(argv[0], "read"));
}

static val p_file_errorp(int argc, val *argv) {
  (void)argc;
  return boolean(has_kind(argv[0], "file"));
}

static val arg_error(val *argv) {
  return arg_of(argv, 0, T_ERROR, "error object");
}

static val p_error_message(int argc, val *argv) {
  (void)argc;
  return ERROR_MESSAGE(arg_error(argv));
}

static val p_error_irritants(int argc, val *argv) {
  (void)argc;
  return ERROR_IRRITANTS(arg_error(argv));
}

static val p_error_place(int argc, val *argv) {
  (void)argc;
  return ERROR_PLACE(arg_error(argv));
}

static val p_report(int argc, val *argv) {
  (void)argc;
  report_condition(argv[0], arg_of(argv, 1, T_PORT, "port"));
  return UNSPEC;
}

/* What is no error object does not know its place. */
static val p_uncaught(int argc, val *argv) {
  (void)argc;
  val e = argv[0];
  if (!is_type(e, T_ERROR))
    e = make_error("raised", FALSE, string_from_c("uncaught:"), cons(e, NIL));
  vm.root[R_CONDITION] = e;
  machine_abandon();
}

/* ---- the system */

/* The low eight bits of an integer, but 0 for nothing that is not 0 or #t. */
static int exit_code(val v) {
  if (v == TRUE || (is_number(v) && arith_is_zero(v)))
    return 0;
  if (is_integer(v))
    v = arith_remainder(to_exact(v), FIX(256));
  int low = is_fix(v) ? (int)(fix_int(v) & 255) : 1;
  return low == 0 ? 1 : low;
}

static val p_exit(int argc, val *argv) {
  int code = argc > 0 ? exit_code(argv[0]) : 0;
  void (*action)(val) = machine_at_end;
  machine_at_end = NULL; /* it may fail, and exit be called again */
  if (action != NULL)
    action(FALSE);
  if (!ports_finish() && code == 0)
    code = 1;
  exit(code);
}

/* Procedures that the program defines for itself are not compiled in line:
   a first look at the text finds them. Its errors are found later again. */
static void note_port(val port) {
  jmp_buf here, *saved = vm.escape;
  vm.escape = &here;
  if (setjmp(here) == 0)
    for (val v = read_datum(port); v != EOFVAL; v = read_datum(port))
      note_redefinitions(v);
  vm.escape = saved;
  port_close(port);
}

static val p_note_port(int argc, val *argv) {
  (void)argc;
  note_port(argv[0]);
  return UNSPEC;
}

/* False if the file can be read only once. */
static val p_note_file(int argc, val *argv) {
  (void)argc;
  struct stat status;
  char *name = string_to_name(arg_string(argv, 0), "load");
  bool once = stat(name, &status) == 0 &&
              (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode) ||
               S_ISSOCK(status.st_mode));
  val port = once ? FALSE : port_open_file(name, PORT_IN);
  int error = errno;
  c_string_free(name);
  if (once)
    return FALSE;
  if (port == FALSE)
    raise_file("load", "cannot open file", argv[0], error);
  note_port(port);
  return TRUE;
}

static double seconds(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static val p_current_second(int argc, val *argv) {
  (void)argc;
  (void)argv;
  return make_flonum(seconds(CLOCK_REALTIME));
}

static val p_current_jiffy(int argc, val *argv) {
  (void)argc;
  (void)argv;
  return FIX(seconds(CLOCK_MONOTONIC) * 1e9);
}

static val p_jiffies_per_second(int argc, val *argv) {
  (void)argc;
  (void)argv;
  return FIX(1000000000);
}

static val p_runtime(int argc, val *argv) {
  (void)argc;
  (void)argv;
  return make_flonum(seconds(CLOCK_PROCESS_CPUTIME_ID));
}

static val p_getenv(int argc, val *argv) {
  (void)argc;
  char *name = string_to_name(arg_string(argv, 0), prim_name());
  const char *value = getenv(name);
  c_string_free(name);
  return value == NULL ? FALSE : string_from_c(value);
}

extern char **environ;

static val p_environment(int argc, val *argv) {
  (void)argc;
  (void)argv;
  val list = NIL;
  for (char **e = environ; *e != NULL; e++) {
    const char *eq = strchr(*e, '=');
    if (eq == NULL)
      continue;
    val name = string_from_utf8(*e, (size_t)(eq - *e));
    list = cons(cons(name, string_from_c(eq + 1)), list);
  }
  return list;
}

static val p_command_line(int argc, val *argv) {
  (void)argc;
  (void)argv;
  return vm.root[R_COMMAND_LINE];
}

static val p_features(int argc, val *argv) {
  (void)argc;
  (void)argv;
  return vm.root[R_FEATURES];
}

static val p_environment_of(int argc, val *argv) {
  (void)argc;
  (void)argv;
  return vm.root[R_ENV];
}

/* What is bound: an association list of names and what they stand for. */
static val p_globals(int argc, val *argv) {
  (void)argc;
  (void)argv;
  val syntax = intern("syntax"), procedure = intern("procedure");
  val other = intern("value"), list = NIL;
  for (val l = vm.root[R_KEPT]; l != NIL; l = CDR(l)) {
    val name = CAR(l), v = SYM_VALUE(name);
    if (v != UNBOUND)
      list = cons(cons(name, is_syntax(v) || is_type(v, T_MACRO) ? syntax
                             : is_procedure(v)                   ? procedure
                                                                 : other),
                  list);
  }
  return list;
}

static val p_void(int argc, val *argv) {
  (void)argc;
  (void)argv;
  return UNSPEC;
}

static val p_eof(int argc, val *argv) {
  (void)argc;
  (void)argv;
  return EOFVAL;
}

static val p_eofp(int argc, val *argv) {
  (void)argc;
  return boolean(argv[0] == EOFVAL);
}

/* ---- the collector */

static val p_gc(int argc, val *argv) {
  (void)argc;
  (void)argv;
  memory_find_lost();
  return UNSPEC;
}

static val p_gc_statistics(int argc, val *argv) {
  (void)argc;
  (void)argv;
  return memory_statistics();
}

static val p_address(int argc, val *argv) {
  (void)argc;
  return FIX(argv[0] >> 3);
}

const struct prim prims_control[] = {
    {"apply", PRIM_SPECIAL(SP_APPLY), 1, -1},
    {"%call/cc", PRIM_SPECIAL(SP_CALLCC), 1, 1},
    {"call/cc", PRIM_SPECIAL(SP_CALLCC), 1, 1},
    {"call-with-current-continuation", PRIM_SPECIAL(SP_CALLCC), 1, 1},
    {"%throw", PRIM_SPECIAL(SP_THROW), 2, 2},
    {"%apply-values", PRIM_SPECIAL(SP_APPLY_VALUES), 2, 2},
    {"procedure?", p_procedurep, 1, 1},
    {"values", p_values, 0, -1},
    {"%make-cases", p_make_cases, 0, -1},
    {"%compile", p_compile, 1, 3},
    {"%winders", p_winders, 0, 1},
    {"%handlers", p_handlers, 0, 1},
    {"%continuation-winders", p_cont_winders, 1, 1},
    {"%set-hooks!", p_set_hooks, 2, 2},
    {"%make-parameter", p_make_param, 2, 2},
    {"%parameter-value", p_param_value, 1, 1},
    {"%parameter-set!", p_param_set, 2, 2},
    {"%parameterize:converter", p_param_convert, 1, 1},
    {"%make-promise", p_make_promise, 2, 2},
    {"promise?", p_promisep, 1, 1},
    {"%promise-box", p_promise_box, 1, 2},
    {"%make-error", p_make_error, 2, 2},
    {"error-object?", p_errorp, 1, 1},
    {"read-error?", p_read_errorp, 1, 1},
    {"file-error?", p_file_errorp, 1, 1},
    {"error-object-message", p_error_message, 1, 1},
    {"error-object-irritants", p_error_irritants, 1, 1},
    {"error-object-place", p_error_place, 1, 1},
    {"%report", p_report, 2, 2},
    {"%uncaught", p_uncaught, 1, 1},
    {"%exit", p_exit, 0, 1},
    {"emergency-exit", p_exit, 0, 1},
    {"%load:note-file", p_note_file, 1, 1},
    {"%note-port", p_note_port, 1, 1},
    {"current-second", p_current_second, 0, 0},
    {"current-jiffy", p_current_jiffy, 0, 0},
    {"jiffies-per-second", p_jiffies_per_second, 0, 0},
    {"runtime", p_runtime, 0, 0},
    {"get-environment-variable", p_getenv, 1, 1},
    {"get-environment-variables", p_environment, 0, 0},
    {"command-line", p_command_line, 0, 0},
    {"features", p_features, 0, 0},
    {"interaction-environment", p_environment_of, 0, 0},
    {"environment", p_environment_of, 0, -1},
    {"scheme-report-environment", p_environment_of, 0, 1},
    {"null-environment", p_environment_of, 0, 1},
    {"system-global-environment", p_environment_of, 0, 0},
    {"%globals", p_globals, 0, 0},
    {"void", p_void, 0, -1},
    {"eof-object", p_eof, 0, 0},
    {"eof-object?", p_eofp, 1, 1},
    {"gc", p_gc, 0, 0},
    {"gc-statistics", p_gc_statistics, 0, 0},
    {"object-address", p_address, 1, 1},
    {NULL, NULL, 0, 0},
};
