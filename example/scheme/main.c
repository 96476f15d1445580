/* Testudo: the Scheme interpreter's command line. SPDX-License-Identifier:
 * BSD-2-Clause */
#include "scheme.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: testudo-scheme [option...] [file [argument...]]\n"
    "Runs the file, or reads expressions from the terminal.\n"
    "  --arena=SIZE          address space to begin with (K, M or G follow)\n"
    "  --gen=KB:MORTALITY    one generation; repeat for more\n"
    "  --pause=SECONDS       longest pause to aim for\n"
    "  --limit=SIZE          most memory to use\n"
    "  -e EXPR               evaluate the expression, print its value\n"
    "  -q                    no greeting\n"
    "  --statistics          print the collector's statistics at the end\n"
    "  --help, --version\n";

struct options {
  struct memory_options memory;
  const char *expr;
  bool statistics, quiet;
  int first; /* index of the file among the arguments */
};

/* ---- options */

static bool parse_size(const char *s, size_t *size_o) {
  char *end;
  double n = strtod(s, &end);
  if (end == s || n < 0)
    return false;
  switch (*end) {
  case 'G':
  case 'g':
    n *= 1024; /* fall through */
  case 'M':
  case 'm':
    n *= 1024; /* fall through */
  case 'K':
  case 'k':
    n *= 1024;
    end++;
  }
  if (*end != 0 || !(n < 1e18))
    return false;
  *size_o = (size_t)n;
  return true;
}

static bool parse_gen(const char *s, struct memory_options *m) {
  char *end;
  unsigned long kb = strtoul(s, &end, 10);
  if (*s < '0' || *s > '9' || *end != ':' || m->gens == 16)
    return false;
  if (kb == 0 || kb > SIZE_MAX / 1024)
    return false;
  const char *t = end + 1;
  double mortality = strtod(t, &end);
  if (end == t || *end != 0 || !(mortality >= 0 && mortality <= 1))
    return false;
  m->gen[m->gens++] = (struct gen){kb, mortality};
  return true;
}

static bool parse_pause(const char *s, double *pause_o) {
  char *end;
  *pause_o = strtod(s, &end);
  return end != s && *end == 0 && *pause_o >= 0;
}

static const char *value_of(const char *arg, const char *name) {
  size_t n = strlen(name);
  return strncmp(arg, name, n) == 0 ? arg + n : NULL;
}

static bool parse_option(const char *arg, struct options *o) {
  const char *v;
  if ((v = value_of(arg, "--arena=")) != NULL)
    return parse_size(v, &o->memory.arena_size);
  if ((v = value_of(arg, "--limit=")) != NULL)
    return parse_size(v, &o->memory.limit);
  if ((v = value_of(arg, "--gen=")) != NULL)
    return parse_gen(v, &o->memory);
  if ((v = value_of(arg, "--pause=")) != NULL)
    return parse_pause(v, &o->memory.pause);
  if (strcmp(arg, "--statistics") == 0)
    return o->statistics = true;
  if (strcmp(arg, "-q") == 0)
    return o->quiet = true;
  return false;
}

static void parse_options(int argc, char **argv, struct options *o) {
  int i = 1;
  for (; i < argc && argv[i][0] == '-' && argv[i][1] != 0; i++) {
    if (strcmp(argv[i], "--help") == 0) {
      fputs(usage, stdout);
      exit(0);
    }
    if (strcmp(argv[i], "--version") == 0) {
      puts("testudo-scheme 0.1 (R7RS small, without complex numbers)");
      exit(0);
    }
    if (strcmp(argv[i], "--") == 0) {
      i++;
      break;
    }
    if (strcmp(argv[i], "-e") == 0 && i + 1 == argc) {
      fprintf(stderr, "testudo-scheme: -e: the expression is missing\n%s",
              usage);
      exit(2);
    }
    if (strcmp(argv[i], "-e") == 0) {
      o->expr = argv[++i];
    } else if (!parse_option(argv[i], o)) {
      fprintf(stderr, "testudo-scheme: bad option: %s\n%s", argv[i], usage);
      exit(2);
    }
  }
  o->first = i;
}

static void default_generations(struct memory_options *m) {
  if (m->gens > 0)
    return;
  m->gen[0] = (struct gen){8192, 0.85};
  m->gen[1] = (struct gen){36864, 0.45};
  m->gens = 2;
}

/* ---- what there is to do */

static bool failed(val result) {
  if (result == UNBOUND)
    report_uncaught();
  return result == UNBOUND;
}

static val argument_list(int argc, char **argv) {
  val list = NIL;
  for (int i = argc - 1; i >= 0; i--)
    list = cons(string_from_c(argv[i]), list);
  return list;
}

static int run_expr(const char *expr) {
  val text = string_from_c(expr);
  val result = machine_call(global_value_of("%eval-string"), 1, &text);
  return failed(result) || !show_result(result) ? 1 : 0;
}

static int run_file(const char *file) {
  val name = string_from_c(file);
  return failed(machine_call(global_value_of("load"), 1, &name)) ? 1 : 0;
}

static void print_statistics(val unused) {
  (void)unused;
  print(memory_statistics(), vm.root[R_STDERR], PRINT_WRITE);
  port_putc(vm.root[R_STDERR], '\n');
}

/* Returns the exit status. */
static int interpret(struct options *o, int argc, char **argv) {
  machine_at_end = o->statistics ? print_statistics : NULL;
  vm.root[R_COMMAND_LINE] = argument_list(argc - o->first, argv + o->first);
  int status = 0;
  if (o->expr != NULL)
    status = run_expr(o->expr);
  else if (o->first < argc)
    status = run_file(argv[o->first]);
  else
    status = repl(o->quiet);
  if (machine_at_end != NULL)
    machine_do(machine_at_end, FALSE);
  return ports_finish() ? status : 1;
}

/* Not part of main: on some machines a function's frame address has its
   variables on the wrong side for a cold end. */
__attribute__((noinline)) static int run_command(int argc, char **argv,
                                                 void *cold) {
  struct options o = {.memory = {.arena_size = (size_t)1 << 30,
                                 .limit = (size_t)-1,
                                 .pause = -1}};
  setlocale(LC_CTYPE, "C.UTF-8");
  parse_options(argc, argv, &o);
  default_generations(&o.memory);
  const char *why = interpreter_start(&o.memory, cold);
  if (why != NULL) {
    fprintf(stderr, "testudo-scheme: %s\n", why);
    return 1;
  }
  int status = interpret(&o, argc, argv);
  memory_finish();
  return status;
}

int main(int argc, char **argv) {
  return run_command(argc, argv, __builtin_frame_address(0));
}
