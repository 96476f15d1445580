/* Testudo: errors of the Scheme interpreter. SPDX-License-Identifier:
   BSD-2-Clause

   C code raises a condition by a jump to the machine, which calls the
   program's handler; see machine_call. */
#include "scheme.h"

#include <string.h>

void raise_value(val condition) {
  c_strings_free_all();
  vm.root[R_CONDITION] = condition;
  vm.root[R_BLAME] = FALSE;
  longjmp(*vm.escape, 1);
}

val make_error(const char *kind, val proc, val message, val irritants) {
  val place = current_place();
  val e = make_object(T_ERROR, 5, FALSE);
  ERROR_MESSAGE(e) = message;
  ERROR_IRRITANTS(e) = irritants;
  ERROR_PROC(e) = proc;
  ERROR_PLACE(e) = place;
  val symbol = intern(kind);
  ERROR_KIND(e) = symbol;
  return e;
}

void raise_kind(const char *kind, const char *proc, const char *message,
                val irritants) {
  val name = proc == NULL ? FALSE : intern(proc);
  raise_value(make_error(kind, name, string_from_c(message), irritants));
}

void raise_error(const char *proc, const char *message, val irritants) {
  raise_kind("error", proc, message, irritants);
}

void raise_file(const char *proc, const char *message, val name, int error) {
  val why = string_from_c(strerror(error));
  raise_kind("file", proc, message, cons(name, cons(why, NIL)));
}

/* What only the prelude calls has a name of its own, which a program does not
   know: a sign, that of the procedure it is a part of, and if need be a colon
   and more. */
const char *prim_name(void) {
  static char part[32];
  if (vm.fp[-1] == FALSE)
    return NULL;
  const char *name = prim_table[vm.prim]->name;
  if (name[0] != '%')
    return name;
  snprintf(part, sizeof part, "%.*s", (int)strcspn(name + 1, ":"), name + 1);
  return part;
}

void raise_type(int i, val bad, const char *expected) {
  char text[120];
  const char *an = strchr("aeiou", expected[0]) != NULL ? "an" : "a";
  snprintf(text, sizeof text, "argument %d is not %s %s", i + 1, an, expected);
  raise_kind("type", prim_name(), text, cons(bad, NIL));
}

void raise_range(int i, val bad) {
  char text[80];
  snprintf(text, sizeof text, "argument %d is out of range", i + 1);
  raise_kind("range", prim_name(), text, cons(bad, NIL));
}

void raise_syntax(const char *message, val form) {
  val place = place_string(vm.root[R_FILE], compile_position());
  val e = make_object(T_ERROR, 5, FALSE);
  ERROR_KIND(e) = intern("syntax");
  ERROR_MESSAGE(e) = string_from_c(message);
  ERROR_IRRITANTS(e) = cons(syntax_strip(form), NIL);
  ERROR_PLACE(e) = place;
  raise_value(e);
}

bool c_depth_is_used_up(void) {
  char here;
  return &here < vm.c_limit;
}

void check_c_depth(void) {
  if (c_depth_is_used_up())
    raise_kind("depth", NULL, "nested too deeply", NIL);
}

/* What the program itself has made has no place in a file; the program has. */
void check_form_depth(void) {
  if (!c_depth_is_used_up())
    return;
  val e = make_error("depth", FALSE, string_from_c("nested too deeply"), NIL);
  val place = place_string(vm.root[R_FILE], compile_position());
  if (place != FALSE)
    ERROR_PLACE(e) = place;
  raise_value(e);
}

val place_string(val file, val pos) {
  if (!is_string(file) || !is_fix(pos))
    return FALSE;
  char *name = string_to_utf8(file, NULL);
  size_t n = strlen(name) + 48;
  char *text = c_string_new(n);
  snprintf(text, n, "%s:%ld:%ld", name, (long)(fix_int(pos) >> 12),
           (long)(fix_int(pos) & 4095));
  val s = string_from_c(text);
  c_string_free(name);
  c_string_free(text);
  return s;
}

static bool ends_in_colon(val message) {
  return is_string(message) && STRING_LEN(message) > 0 &&
         string_get(message, STRING_LEN(message) - 1) == ':';
}

/* A program may have changed the list: whatever it is is printed. */
static void print_irritants(val list, val port) {
  if (list_length(list) < 0) {
    port_puts(port, " . ");
    print(list, port, PRINT_WRITE);
    return;
  }
  for (; list != NIL; list = CDR(list)) {
    port_putc(port, ' ');
    print(CAR(list), port, PRINT_WRITE);
  }
}

/* place: procedure: message: irritant irritant */
void report_condition(val e, val port) {
  if (!is_type(e, T_ERROR)) {
    port_puts(port, "uncaught: ");
    print(e, port, PRINT_WRITE);
    port_putc(port, '\n');
    return;
  }
  if (is_string(ERROR_PLACE(e))) {
    print(ERROR_PLACE(e), port, PRINT_DISPLAY);
    port_puts(port, ": ");
  }
  if (ERROR_PROC(e) != FALSE) {
    print(ERROR_PROC(e), port, PRINT_DISPLAY);
    port_puts(port, ": ");
  }
  print(ERROR_MESSAGE(e), port, PRINT_DISPLAY);
  if (is_pair(ERROR_IRRITANTS(e)) && !ends_in_colon(ERROR_MESSAGE(e)))
    port_puts(port, ":");
  print_irritants(ERROR_IRRITANTS(e), port);
  port_putc(port, '\n');
}

/* ---- a primitive, so that it knows its place in a tail call, too */

static val p_error(int argc, val *argv) {
  val irritants = NIL;
  for (int i = argc - 1; i > 0; i--)
    irritants = cons(argv[i], irritants);
  raise_value(make_error("error", FALSE, argv[0], irritants));
}

const struct prim prims_error[] = {
    {"error", p_error, 1, -1},
    {NULL, NULL, 0, 0},
};
