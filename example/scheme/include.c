/* Testudo: files within programs, in the Scheme interpreter.
   SPDX-License-Identifier: BSD-2-Clause

   (include name) becomes (%in-file path form ...): while these forms are
   looked at, R_FILE is the path, beside which they look for others. */
#include "ast.h"

#include <errno.h>
#include <string.h>

/* NAME in the folder of the file being read, to be freed; null if that is
   where it is looked for anyway. */
static char *beside_file(const char *name) {
  val file = vm.root[R_FILE];
  if (!is_string(file) || name[0] == '/')
    return NULL;
  char *path = string_to_utf8(file, NULL);
  char *slash = strrchr(path, '/');
  char *joined = NULL;
  if (slash != NULL) {
    slash[1] = 0;
    joined = c_string_new(strlen(path) + strlen(name) + 1);
    strcat(strcpy(joined, path), name);
  }
  c_string_free(path);
  return joined;
}

/* Beside the file being read, or where the system finds it. */
static val open_included(val name) {
  char *s = string_to_name(name, "include");
  char *beside = beside_file(s);
  val port = beside == NULL ? FALSE : port_open_file(beside, PORT_IN);
  if (port == FALSE)
    port = port_open_file(s, PORT_IN);
  int error = errno;
  if (beside != NULL)
    c_string_free(beside);
  c_string_free(s);
  if (port == FALSE)
    raise_file("include", "cannot open file", name, error);
  return port;
}

static val read_all(val port) {
  val list = NIL;
  for (val v = read_datum(port); v != EOFVAL; v = read_datum(port))
    list = cons(v, list);
  return list_reverse(list);
}

/* What the running primitive could not do is include's failure. */
static void blame_include(val condition) {
  if (is_type(condition, T_ERROR) && ERROR_PROC(condition) != FALSE) {
    val name = intern("include");
    ERROR_PROC(condition) = name;
  }
}

/* The data in a file, which is closed whatever is raised. */
static val read_file(val port) {
  jmp_buf here, *outer = vm.escape;
  val volatile list = NIL;
  vm.escape = &here;
  int raised = setjmp(here);
  if (raised == 0)
    list = read_all(port);
  vm.escape = outer;
  port_close(port);
  if (raised == 0)
    return list;
  blame_include(vm.root[R_CONDITION]);
  longjmp(*outer, raised);
}

val included_forms(val form, bool fold) {
  val list = NIL;
  if (list_length(form) < 1)
    raise_syntax("bad syntax", form);
  for (val l = CDR(form); l != NIL; l = CDR(l)) {
    if (!is_string(CAR(l)))
      raise_syntax("bad include", form);
    val port = open_included(CAR(l));
    port_set_fold(port, fold);
    val forms = syntax_cons(port_name(port), read_file(port));
    list = cons(syntax_cons(global_id("%in-file"), forms), list);
  }
  return list_reverse(list);
}

val enter_file(val form) {
  val outer = vm.root[R_FILE];
  if (list_length(form) < 2)
    raise_syntax("bad syntax", form);
  vm.root[R_FILE] = CAR(CDR(form));
  return outer;
}

val rewrite_include(val form, struct scope *sc) {
  (void)sc;
  return syntax_begin(included_forms(form, false));
}

val rewrite_include_ci(val form, struct scope *sc) {
  (void)sc;
  return syntax_begin(included_forms(form, true));
}
