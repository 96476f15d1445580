/* Testudo: primitives on ports and files. SPDX-License-Identifier:
 * BSD-2-Clause */
#include "scheme.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- arguments */

static val arg_port(val *argv, int i) {
  return arg_of(argv, i, T_PORT, "port");
}

static val arg_open(val port, int i, int direction) {
  if (!is_type(port, T_PORT) || !(port_flags(port) & direction))
    raise_type(i, port, direction == PORT_IN ? "input port" : "output port");
  if (!port_is_open(port, direction))
    raise_error(prim_name(), "port is closed", cons(port, NIL));
  return port;
}

static val input(int argc, val *argv, int i) {
  val port = argc > i ? argv[i] : PARAM_VALUE(vm.root[R_CUR_IN]);
  return arg_open(port, i, PORT_IN);
}

static val output(int argc, val *argv, int i) {
  val port = argc > i ? argv[i] : PARAM_VALUE(vm.root[R_CUR_OUT]);
  return arg_open(port, i, PORT_OUT);
}

static char *arg_name(val *argv, int i) {
  return string_to_name(arg_string(argv, i), prim_name());
}

static val char_or_eof(int c) {
  return c < 0 ? EOFVAL : CHAR(c);
}

/* ---- opening and closing */

static val open_named(val *argv, int flags) {
  char *name = arg_name(argv, 0);
  val port = port_open_file(name, flags);
  int error = errno;
  c_string_free(name);
  if (port == FALSE)
    raise_file(prim_name(), "cannot open file", argv[0], error);
  return port;
}

static val p_open_input_file(int argc, val *argv) {
  (void)argc;
  return open_named(argv, PORT_IN);
}

static val p_open_output_file(int argc, val *argv) {
  (void)argc;
  return open_named(argv, PORT_OUT);
}

static val p_open_binary_input_file(int argc, val *argv) {
  (void)argc;
  return open_named(argv, PORT_IN | PORT_BINARY);
}

static val p_open_binary_output_file(int argc, val *argv) {
  (void)argc;
  return open_named(argv, PORT_OUT | PORT_BINARY);
}

static val p_open_input_string(int argc, val *argv) {
  (void)argc;
  size_t n;
  char *s = string_to_utf8(arg_string(argv, 0), &n);
  val port = port_open_string(s, n);
  c_string_free(s);
  return port;
}

static val p_open_output_string(int argc, val *argv) {
  (void)argc;
  (void)argv;
  return port_open_output_string();
}

static val p_open_input_bytevector(int argc, val *argv) {
  (void)argc;
  val bv = arg_of(argv, 0, T_BYTEVECTOR, "bytevector");
  val port = port_open_string((char *)BV_DATA(bv), BV_LEN(bv));
  port_make_binary(port);
  return port;
}

static val p_open_output_bytevector(int argc, val *argv) {
  (void)argc;
  (void)argv;
  val port = port_open_output_string();
  port_make_binary(port);
  return port;
}

static val p_get_output(int argc, val *argv) {
  (void)argc;
  val port = arg_port(argv, 0);
  if ((port_flags(port) & (PORT_OUT | PORT_STRING)) !=
      (PORT_OUT | PORT_STRING))
    raise_type(0, port, "string or bytevector output port");
  return port_get_output(port);
}

static val p_close_port(int argc, val *argv) {
  (void)argc;
  port_close(arg_port(argv, 0));
  return UNSPEC;
}

static val p_portp(int argc, val *argv) {
  (void)argc;
  return boolean(is_type(argv[0], T_PORT));
}

static val port_test(val v, int flags, int wanted) {
  return boolean(is_type(v, T_PORT) && (port_flags(v) & flags) == wanted);
}

static val p_input_portp(int argc, val *argv) {
  (void)argc;
  return port_test(argv[0], PORT_IN, PORT_IN);
}

static val p_output_portp(int argc, val *argv) {
  (void)argc;
  return port_test(argv[0], PORT_OUT, PORT_OUT);
}

static val p_textual_portp(int argc, val *argv) {
  (void)argc;
  return port_test(argv[0], PORT_BINARY, 0);
}

static val p_binary_portp(int argc, val *argv) {
  (void)argc;
  return port_test(argv[0], PORT_BINARY, PORT_BINARY);
}

static val p_input_openp(int argc, val *argv) {
  (void)argc;
  return boolean(port_is_open(arg_port(argv, 0), PORT_IN));
}

static val p_output_openp(int argc, val *argv) {
  (void)argc;
  return boolean(port_is_open(arg_port(argv, 0), PORT_OUT));
}

/* ---- input */

static val p_read(int argc, val *argv) {
  return read_datum(input(argc, argv, 0));
}

static val p_read_place(int argc, val *argv) {
  (void)argc;
  (void)argv;
  return read_place();
}

static val p_read_char(int argc, val *argv) {
  return char_or_eof(port_getc(input(argc, argv, 0)));
}

static val p_peek_char(int argc, val *argv) {
  return char_or_eof(port_peekc(input(argc, argv, 0)));
}

static val p_ready(int argc, val *argv) {
  return boolean(port_ready(input(argc, argv, 0)));
}

/* Text as it comes. Its memory outlives errors. */
static struct text {
  char *s;
  size_t n, size;
} text;

static void text_room(void) {
  if (text.n + 4 > text.size) {
    size_t size = text.size * 2 + 128;
    char *s = memory_may_have(text.n) ? realloc(text.s, size) : NULL;
    if (s == NULL)
      raise_kind("memory", NULL, "out of memory", NIL);
    text.s = s;
    text.size = size;
  }
}

static void text_add(int c) {
  text_room();
  text.n += utf8_encode((uint32_t)c, text.s + text.n);
}

static val p_read_line(int argc, val *argv) {
  val port = input(argc, argv, 0);
  int c = port_get_text(port);
  if (c < 0)
    return EOFVAL;
  for (text.n = 0; c >= 0 && c != '\n'; c = port_get_text(port))
    text_add(c);
  return string_from_utf8(text.s, text.n);
}

static val p_read_string(int argc, val *argv) {
  size_t k = arg_index(argv, 0, (size_t)1 << 40);
  val port = input(argc, argv, 1);
  int c = 0;
  if (k == 0)
    return make_string(0, false);
  text.n = 0;
  for (size_t i = 0; i < k && (c = port_getc(port)) >= 0; i++)
    text_add(c);
  return text.n == 0 ? EOFVAL : string_from_utf8(text.s, text.n);
}

static val p_read_u8(int argc, val *argv) {
  int b = port_get_byte(input(argc, argv, 0), false);
  return b < 0 ? EOFVAL : FIX(b);
}

static val p_peek_u8(int argc, val *argv) {
  int b = port_get_byte(input(argc, argv, 0), true);
  return b < 0 ? EOFVAL : FIX(b);
}

static size_t read_bytes(val port, val bv, size_t start, size_t end) {
  size_t i = start;
  int b;
  while (i < end && (b = port_get_byte(port, false)) >= 0)
    BV_DATA(bv)[i++] = (unsigned char)b;
  return i - start;
}

static val p_read_bytevector(int argc, val *argv) {
  size_t k = arg_index(argv, 0, (size_t)1 << 40);
  val port = input(argc, argv, 1);
  int b;
  text.n = 0;
  text_room();
  while (text.n < k && (b = port_get_byte(port, false)) >= 0) {
    text_room();
    text.s[text.n++] = (char)b;
  }
  if (text.n == 0 && k > 0)
    return EOFVAL;
  val bv = make_leaf(T_BYTEVECTOR, sizeof(val) + text.n);
  BV_LEN(bv) = text.n;
  memcpy(BV_DATA(bv), text.s, text.n);
  return bv;
}

static val p_read_bytevector_into(int argc, val *argv) {
  val bv = arg_of(argv, 0, T_BYTEVECTOR, "bytevector");
  val port = input(argc, argv, 1);
  size_t start, end;
  arg_range(argc, argv, 2, BV_LEN(bv), &start, &end);
  size_t n = read_bytes(port, bv, start, end);
  return n == 0 && end > start ? EOFVAL : FIX(n);
}

/* ---- output */

static val p_write(int argc, val *argv) {
  print(argv[0], output(argc, argv, 1), PRINT_WRITE);
  return UNSPEC;
}

static val p_write_shared(int argc, val *argv) {
  print(argv[0], output(argc, argv, 1), PRINT_SHARED);
  return UNSPEC;
}

static val p_write_simple(int argc, val *argv) {
  print(argv[0], output(argc, argv, 1), PRINT_SIMPLE);
  return UNSPEC;
}

static val p_display(int argc, val *argv) {
  print(argv[0], output(argc, argv, 1), PRINT_DISPLAY);
  return UNSPEC;
}

static val p_newline(int argc, val *argv) {
  port_putc(output(argc, argv, 0), '\n');
  return UNSPEC;
}

static val p_fresh_line(int argc, val *argv) {
  val port = output(argc, argv, 0);
  if (!port_at_line_start(port))
    port_putc(port, '\n');
  return UNSPEC;
}

static val p_write_char(int argc, val *argv) {
  uint32_t c = arg_char(argv, 0);
  port_putc(output(argc, argv, 1), c);
  return UNSPEC;
}

static val p_write_string(int argc, val *argv) {
  val s = arg_string(argv, 0), port = output(argc, argv, 1);
  char part[256];
  size_t start, end, used = 0;
  arg_range(argc, argv, 2, STRING_LEN(s), &start, &end);
  for (size_t i = start; i < end; i++) {
    if (used + 4 > sizeof part) { /* a character is no longer */
      port_write(port, part, used);
      used = 0;
    }
    used += utf8_encode(string_get(s, i), part + used);
  }
  port_write(port, part, used);
  return UNSPEC;
}

static val p_write_u8(int argc, val *argv) {
  size_t b = arg_index(argv, 0, 255);
  char c = (char)b;
  port_write(output(argc, argv, 1), &c, 1);
  return UNSPEC;
}

static val p_write_bytevector(int argc, val *argv) {
  val bv = arg_of(argv, 0, T_BYTEVECTOR, "bytevector");
  val port = output(argc, argv, 1);
  size_t start, end;
  arg_range(argc, argv, 2, BV_LEN(bv), &start, &end);
  port_write(port, (char *)BV_DATA(bv) + start, end - start);
  return UNSPEC;
}

static val p_flush(int argc, val *argv) {
  port_flush(output(argc, argv, 0));
  return UNSPEC;
}

/* ---- the file system */

static val p_file_exists(int argc, val *argv) {
  (void)argc;
  char *name = arg_name(argv, 0);
  bool exists = access(name, F_OK) == 0;
  c_string_free(name);
  return boolean(exists);
}

static val p_delete_file(int argc, val *argv) {
  (void)argc;
  char *name = arg_name(argv, 0);
  bool done = unlink(name) == 0;
  int error = errno;
  c_string_free(name);
  if (!done)
    raise_file("delete-file", "cannot delete file", argv[0], error);
  return UNSPEC;
}

const struct prim prims_io[] = {
    {"open-input-file", p_open_input_file, 1, 1},
    {"open-output-file", p_open_output_file, 1, 1},
    {"open-binary-input-file", p_open_binary_input_file, 1, 1},
    {"open-binary-output-file", p_open_binary_output_file, 1, 1},
    {"open-input-string", p_open_input_string, 1, 1},
    {"open-output-string", p_open_output_string, 0, 0},
    {"open-input-bytevector", p_open_input_bytevector, 1, 1},
    {"open-output-bytevector", p_open_output_bytevector, 0, 0},
    {"get-output-string", p_get_output, 1, 1},
    {"get-output-bytevector", p_get_output, 1, 1},
    {"close-port", p_close_port, 1, 1},
    {"close-input-port", p_close_port, 1, 1},
    {"close-output-port", p_close_port, 1, 1},
    {"port?", p_portp, 1, 1},
    {"input-port?", p_input_portp, 1, 1},
    {"output-port?", p_output_portp, 1, 1},
    {"textual-port?", p_textual_portp, 1, 1},
    {"binary-port?", p_binary_portp, 1, 1},
    {"input-port-open?", p_input_openp, 1, 1},
    {"output-port-open?", p_output_openp, 1, 1},
    {"read", p_read, 0, 1},
    {"%read-place", p_read_place, 0, 0},
    {"read-char", p_read_char, 0, 1},
    {"peek-char", p_peek_char, 0, 1},
    {"char-ready?", p_ready, 0, 1},
    {"u8-ready?", p_ready, 0, 1},
    {"read-line", p_read_line, 0, 1},
    {"read-string", p_read_string, 1, 2},
    {"read-u8", p_read_u8, 0, 1},
    {"peek-u8", p_peek_u8, 0, 1},
    {"read-bytevector", p_read_bytevector, 1, 2},
    {"read-bytevector!", p_read_bytevector_into, 1, 4},
    {"write", p_write, 1, 2},
    {"write-shared", p_write_shared, 1, 2},
    {"write-simple", p_write_simple, 1, 2},
    {"display", p_display, 1, 2},
    {"newline", p_newline, 0, 1},
    {"fresh-line", p_fresh_line, 0, 1},
    {"write-char", p_write_char, 1, 2},
    {"write-string", p_write_string, 1, 4},
    {"write-u8", p_write_u8, 1, 2},
    {"write-bytevector", p_write_bytevector, 1, 4},
    {"flush-output-port", p_flush, 0, 1},
    {"force-output", p_flush, 0, 1},
    {"file-exists?", p_file_exists, 1, 1},
    {"delete-file", p_delete_file, 1, 1},
    {NULL, NULL, 0, 0},
};
