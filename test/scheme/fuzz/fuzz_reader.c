/* Testudo: a fuzz target for the Scheme reader and printer.
   SPDX-License-Identifier: BSD-2-Clause

   Whatever is read and written must read back as something that is written
   the same. The preset "fuzz" builds it for libFuzzer; with run_corpus.c it is
   a test that every input found so far passes. */
#define _GNU_SOURCE /* pthread_getattr_np */
#include "scheme.h"

#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The collector handles faults itself, its references hide from the leak
   checker, and it scans the stack. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return "handle_segv=0:detect_leaks=0:detect_stack_use_after_return=0";
}

static void *stack_end(void) {
  pthread_attr_t attr;
  void *base;
  size_t size;
  pthread_getattr_np(pthread_self(), &attr);
  pthread_attr_getstack(&attr, &base, &size);
  pthread_attr_destroy(&attr);
  return (char *)base + size;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  struct memory_options options = {.arena_size = (size_t)256 << 20,
                                   .limit = (size_t)-1,
                                   .pause = -1,
                                   .gen = {{1024, 0.8}, {4096, 0.5}},
                                   .gens = 2};
  (void)argc;
  (void)argv;
  setlocale(LC_CTYPE, "C.UTF-8");
  if (interpreter_start(&options, stack_end()) != NULL)
    abort();
  return 0;
}

/* What (write v) prints, as a string; UNBOUND after an error. */
static val written(val v) {
  val args[2] = {v, port_open_output_string()};
  if (machine_call(global_value_of("write"), 2, args) == UNBOUND)
    return UNBOUND;
  return port_get_output(args[1]);
}

static val read_back(val text) {
  size_t n;
  char *s = string_to_utf8(text, &n);
  val port = port_open_string(s, n);
  c_string_free(s);
  return machine_call(global_value_of("read"), 1, &port);
}

static void check_round_trip(val v) {
  val first = written(v);
  if (first == UNBOUND)
    return;
  val again = read_back(first);
  if (again == EOFVAL && v == EOFVAL)
    return;
  val second = again == UNBOUND ? UNBOUND : written(again);
  if (second == UNBOUND || string_compare(first, second) != 0) {
    fprintf(stderr, "does not read back: %s\n", string_to_utf8(first, NULL));
    abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  val port = port_open_string((const char *)data, size);
  memory_poll_finalization();
  for (int i = 0; i < 100; i++) {
    val v = machine_call(global_value_of("read"), 1, &port);
    if (v == UNBOUND || v == EOFVAL)
      break;
    check_round_trip(v);
  }
  port_close(port);
  return 0;
}
