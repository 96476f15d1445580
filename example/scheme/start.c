/* Testudo: the Scheme interpreter's start. SPDX-License-Identifier:
 * BSD-2-Clause */
#include "prelude.h"
#include "scheme.h"

#include <sys/resource.h>

val global_value_of(const char *name) {
  return SYM_VALUE(own_symbol(intern(name)));
}

static void define_port(const char *name, enum root root, val port) {
  val p = make_object(T_PARAM, 2, FALSE);
  PARAM_VALUE(p) = port;
  vm.root[root] = p;
  symbol_define(intern(name), p);
}

static void init_features(void) {
  static const char *const names[] = {
      "r7rs",    "exact-closed", "ieee-float", "full-unicode", "ratios",
      "testudo", "linux",        "unix",       "hash-tables",  "guardians"};
  val list = NIL;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    list = cons(intern(names[i]), list);
  vm.root[R_FEATURES] = list;
}

static void init_roots(val unused) {
  (void)unused;
  symbols_init();
  ports_init();
  prims_init();
  syntax_init();
  init_features();
  vm.root[R_NO_MEMORY] =
      make_error("memory", FALSE, string_from_c("out of memory"), NIL);
  vm.root[R_ENV] = make_object(T_ENV, 1, FALSE);
  vm.root[R_GUARDED] = make_table(TABLE_EQ, TABLE_WEAK_KEY);
  define_port("current-input-port", R_CUR_IN, vm.root[R_STDIN]);
  define_port("current-output-port", R_CUR_OUT, vm.root[R_STDOUT]);
  define_port("current-error-port", R_CUR_ERR, vm.root[R_STDERR]);
}

/* False after an error, which is then in R_CONDITION. */
static bool load_prelude(void) {
  val port = port_open_string(scheme_prelude,
                              (size_t)(scheme_prelude_end - scheme_prelude));
  val read = global_value_of("read"), compile = global_value_of("%compile");
  for (;;) {
    val form = machine_call(read, 1, &port);
    if (form == EOFVAL)
      break;
    val thunk = form == UNBOUND ? UNBOUND : machine_call(compile, 1, &form);
    if (thunk == UNBOUND || machine_call(thunk, 0, NULL) == UNBOUND)
      return false;
  }
  port_close(port);
  prelude_ends();
  return true;
}

static void limit_c_stack(char *cold) {
  struct rlimit limit;
  size_t size = (size_t)8 << 20;
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    size = limit.rlim_cur;
  if (size > (size_t)64 << 20)
    size = (size_t)64 << 20;
  vm.c_limit = cold - size + size / 4;
}

const char *interpreter_start(const struct memory_options *options,
                              void *cold) {
  limit_c_stack(cold);
  const char *why = memory_init(options, cold);
  if (why != NULL)
    return why;
  if (machine_do(init_roots, FALSE) && load_prelude())
    return NULL;
  return options->limit == (size_t)-1 ? "the prelude failed"
                                      : "the limit is too small";
}
