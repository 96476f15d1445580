/* Testudo: what the parts of the Scheme interpreter share.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef SCHEME_H
#define SCHEME_H

#include "value.h"
#include "mps.h"

#include <setjmp.h>
#include <stdio.h>

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define NORETURN    __attribute__((noreturn))

/* ---- the machine

   Invariant MACHINE-ROOTS. The collector finds what the program uses in
     - the words of vm.root (exact),
     - the stack area from its base to the limit of the running frame
       (exact; the scanner clears what lies above, so that every word of the
       area is valid at all times),
     - the C stack and registers (ambiguous: what a C local refers to is
       pinned, so C code may hold values across allocation),
     - the compiler's region (ambiguous). */

enum root {
  R_SYMTAB,    /* weak array of the symbols that have been read */
  R_KEPT,      /* list of those of them that are not forgotten */
  R_HANDLERS,  /* list of exception handlers */
  R_WINDERS,   /* list of (handlers before . after), innermost first */
  R_SEGMENT,   /* rest of the stack: a segment or NIL, */
  R_SEGTOP,    /* and how many of its words are in use */
  R_CONDITION, /* what is being raised */
  R_RESULT,    /* what the last program returned */
  R_STDIN,
  R_STDOUT,
  R_STDERR,
  R_CUR_IN, /* parameter objects of the current ports */
  R_CUR_OUT,
  R_CUR_ERR,
  R_COMMAND_LINE,
  R_FEATURES,
  R_GUARDED,   /* table: object -> guardians that want it */
  R_SIGNAL,    /* closure that raises a condition */
  R_REWIND,    /* closure that changes winders, then throws */
  R_FILE,      /* name of the file being read, for places */
  R_ENV,       /* the one environment */
  R_NO_MEMORY, /* the condition */
  R_BLAME,     /* code of a caller that has been replaced, or FALSE */
  R_OWN,       /* table: global name -> the interpreter's own: see expand.c */
  R_LIMIT
};

/* The stack area: frames above STACK_FRAMES words go to the heap; the rest
   is room for long argument lists. */
enum { STACK_FRAMES = 1 << 15, STACK_WORDS = 1 << 22 };

struct machine {
  val root[R_LIMIT];
  val *fp; /* slot 0 of the running frame */
  val *stack;
  val *limit;       /* a frame above this goes to the heap first */
  val *stack_end;   /* end of the area */
  val *touched;     /* words at and above this are clear */
  val *arg_top;     /* end of a long argument list, or null */
  size_t max_slots; /* of any code */
  const void *pc;   /* instruction being executed, for places of errors */
  intptr_t blame;   /* offset in R_BLAME of the instruction to blame */
  unsigned prim;    /* primitive being executed */
  jmp_buf *escape;  /* where errors in C code go */
  char *c_limit;    /* C code may recurse down to here */
  mps_arena_t arena;
  mps_ap_t ap_pair, ap_object, ap_leaf, ap_weak, ap_strong, ap_ephemeron;
  bool quiet;
};

extern struct machine vm;

/* ---- memory.c: pools and allocation */

struct gen {
  size_t kb;
  double mortality;
};

struct memory_options {
  size_t arena_size, limit;
  double pause; /* seconds; negative: the library's choice */
  struct gen gen[16];
  size_t gens;
};

/* Returns null, or why the memory could not be had. */
const char *memory_init(const struct memory_options *options, void *cold);
void memory_finish(void);

/* The program has left the handlers that ran, if any. */
void memory_escaped(void);
/* Is that no more than all that may be used? For buffers outside of the
   pools. */
bool memory_may_have(size_t bytes);
/* Can so much be had for sure, without a collection? */
bool memory_has_room(size_t bytes);
/* Slow half of reserve; raises an error when there is no memory. */
void *memory_fill(mps_ap_t ap, size_t bytes);

static inline val *reserve(mps_ap_t ap, size_t bytes) {
  mps_addr_t p = ap->init;
  uintptr_t next = (uintptr_t)ap->alloc + bytes;
  if (LIKELY(next > (uintptr_t)ap->alloc && next <= (uintptr_t)ap->limit)) {
    ap->alloc = (mps_addr_t)next;
    return p;
  }
  return memory_fill(ap, bytes);
}

static inline val cons(val car, val cdr) {
  val *p;
  do {
    p = reserve(vm.ap_pair, 3 * sizeof(val));
    p[0] = HEADER(T_PAIR, 3);
    p[1] = car;
    p[2] = cdr;
  } while (UNLIKELY(!mps_commit(vm.ap_pair, p, 3 * sizeof(val))));
  return (val)p;
}

static inline val make_flonum(double d) {
  val *p;
  do {
    p = reserve(vm.ap_leaf, 2 * sizeof(val));
    p[0] = HEADER(T_FLONUM, 2);
    *(double *)&p[1] = d;
  } while (UNLIKELY(!mps_commit(vm.ap_leaf, p, 2 * sizeof(val))));
  return (val)p;
}

/* A compiler may keep an address derived from a reference instead of the
   reference itself: the difference of two, or the end of an array. Then
   nothing pins the object. PIN(v) after something that allocates makes it
   keep v until then; loops that allocate and index v have it at their top. */
#define PIN(v) __asm__ volatile("" : "+r"(v) : : "memory")

/* An object of references, all slots set to fill. */
val make_object(enum type type, size_t slots, val fill);
/* A leaf of so many bytes after the header; contents undefined. */
val make_leaf(enum type type, size_t bytes);
val make_vector(size_t length, val fill);
val make_pair_at(val car, val cdr, val pos);
val make_box(val v);
/* A code object: info, name, debug and constants, then raw words. */
val make_code(val info, val name, val debug, const val *constants, size_t n,
              const void *insns, size_t insn_words);
/* Arrays of weak tables: their words, from WEAK_FIRST on, are weak or strong
   references; or pairs of a key and a value that lives if the key does. The
   scan method counts what died (memory.c). */
enum { WEAK_FIRST = 3 };
#define WEAK_DEATHS(v) SLOT(v, 2)
val make_weak_array(size_t length, bool weak);
void weak_arrays_link(val a, val b);
val make_ephemerons(size_t pairs);

void memory_collect(void);
/* Collects and does what was to be done about objects found dead. */
void memory_find_lost(void);
/* Collect for about so long, if there is anything to gain. */
void memory_idle(double seconds);
/* The list of (gc-statistics). */
val memory_statistics(void);
/* Give the guardians what the collector found dead. */
void memory_poll_finalization(void);

/* ---- region.c: memory of one compilation, scanned ambiguously */

void *region_alloc(size_t bytes);
void region_reset(void);
struct block;
struct region_mark {
  struct block *block;
  size_t used;
};
struct region_mark region_mark(void);
/* What has been allocated since the mark is given up. */
void region_release(struct region_mark mark);
void region_finish(void);

/* ---- text.c: symbols */

val intern(const char *name);
val intern_string(val string);
val make_uninterned(val string);
void symbols_init(void);
/* If it is a symbol it is not forgotten from now on. */
void symbol_keep(val v);
/* Give the symbol a global value; the first time it takes memory. */
void symbol_define(val symbol, val v);

/* ---- text.c: strings */

val make_string(size_t length, bool wide);
val string_from_utf8(const char *s, size_t bytes);
val string_from_c(const char *s);
uint32_t string_get(val s, size_t i);
void string_put(val s, size_t i, uint32_t c);
bool string_is_wide(val s);
val substring(val s, size_t start, size_t end);
void string_copy(val to, size_t at, val from, size_t start, size_t end);
/* Memory for C: an error frees all that there is. */
char *c_string_new(size_t size);
void c_string_free(char *text);
void c_strings_free_all(void);
/* A C string in UTF-8; its length in *bytes_o unless null. */
char *string_to_utf8(val s, size_t *bytes_o);
/* The same for a name that the system is asked about: proc raises an error if
   the system would see less of it. */
char *string_to_name(val s, const char *proc);
int string_compare(val a, val b);
size_t utf8_encode(uint32_t c, char *out);
/* Decodes one character of n > 0 bytes; malformed bytes give U+FFFD. */
size_t utf8_decode(const char *s, size_t n, uint32_t *c_o);
uint64_t string_hash(val s);
val string_foldcase(val s); /* prim_char.c */

/* ---- error.c: errors unwind to the machine by longjmp */

NORETURN void raise_value(val condition);
NORETURN void raise_error(const char *proc, const char *message,
                          val irritants);
/* Argument i (from 0) of the running primitive is not what it should be. */
NORETURN void raise_type(int i, val bad, const char *expected);
NORETURN void raise_range(int i, val bad);
NORETURN void raise_kind(const char *kind, const char *proc,
                         const char *message, val irritants);
/* The system refused something about a file: error is its errno. */
NORETURN void raise_file(const char *proc, const char *message, val name,
                         int error);
/* A condition that says where the program is. */
val make_error(const char *kind, val proc, val message, val irritants);
NORETURN void raise_syntax(const char *message, val form);
/* Message of a condition, written to port. */
void report_condition(val condition, val port);
const char *prim_name(void); /* null outside of a program */
bool c_depth_is_used_up(void);
void check_c_depth(void); /* raises an error if it is */
void check_form_depth(void); /* the same, about the form being compiled */
/* "file:line:column" of a position in a file, or FALSE. */
val place_string(val file, val pos);
/* Where the program is; where what runs was called from. FALSE if unknown. */
val current_place(void);
val caller_place(void);

/* ---- read.c, number.c */

/* What a file says; pairs get positions. EOFVAL at the end. */
val read_datum(val port);
/* Where a datum begins that has just been read and is no pair. */
val read_place(void);
/* Did the last one fail because the text had ended inside of it? */
bool read_ended_early(void);
val parse_number(const char *s, size_t n, int radix);
char *number_to_c(val n, int radix); /* a C string */

/* ---- print.c */

enum print_mode { PRINT_DISPLAY, PRINT_WRITE, PRINT_SHARED, PRINT_SIMPLE };
void print(val v, val port, enum print_mode mode);

/* ---- port.c */

enum {
  PORT_IN = 1,
  PORT_OUT = 2,
  PORT_BINARY = 4,
  PORT_STRING = 8,
  PORT_FOLD = 16
};
void ports_init(void);
val port_open_fd(int fd, int flags, const char *name);
val port_open_string(const char *s, size_t n);
/* FALSE when it fails, with the reason in errno. */
val port_open_file(const char *name, int flags);
val port_open_output_string(void);
val port_get_output(val port);
int port_getc(val port); /* a character or -1 */
int port_peekc(val port);
/* A line ends in a newline, a return, or both: that is one newline. */
int port_get_text(val port);
void port_skip_line(val port);
void port_putc(val port, uint32_t c);
void port_puts(val port, const char *s);
void port_write(val port, const char *s, size_t n);
void port_flush(val port);
void port_close(val port);
int port_flags(val port);
bool port_is_open(val port, int direction);
val port_position(val port); /* fixnum: line << 12 | column */
enum { FIRST_POSITION = 1 << 12 };
val port_name(val port);
void port_flush_all(void); /* raises nothing */
/* False, after a message, if some output has not been written. */
bool ports_finish(void);
void port_release(val port);
int port_get_byte(val port, bool peek);
bool port_ready(val port);
bool port_at_line_start(val port);
void port_make_binary(val port);
void port_set_fold(val port, bool fold); /* #!fold-case was read */

/* ---- table.c: hash tables */

enum { TABLE_EQ, TABLE_EQV, TABLE_EQUAL, TABLE_STRING };
enum { TABLE_STRONG, TABLE_WEAK_KEY, TABLE_WEAK_VALUE, TABLE_EPHEMERON };
val make_table(int compare, int weakness);
val table_ref(val table, val key, val missing);
void table_set(val table, val key, val value);
void table_delete(val table, val key);

bool eqv(val a, val b);
bool equal(val a, val b);

/* ---- arith.c */

bool is_number(val v);
val arith_add(val a, val b);
val arith_sub(val a, val b);
val arith_mul(val a, val b);
val arith_div(val a, val b);
int arith_compare(val a, val b); /* -1, 0, 1; 2 when not ordered */
bool arith_test_NUMEQ(val a, val b);
bool arith_test_LT(val a, val b);
bool arith_test_GT(val a, val b);
bool arith_test_LE(val a, val b);
bool arith_test_GE(val a, val b);
val arith_quotient(val a, val b);
val arith_remainder(val a, val b);
val arith_negate(val a);
bool arith_is_zero(val a);
val integer_from_int(intptr_t n);
double to_double(val v);

/* ---- expand.c and compile.c */

/* A procedure without arguments that does what the form says. The place is
   the form's if that is no pair. */
val compile_toplevel(val form, val place);
val syntax_strip(val form);
val compile_position(void); /* of the form being compiled */
void syntax_init(void);
/* The symbol by which the interpreter itself means a global name. */
val own_symbol(val name);
void prelude_ends(void);
/* Note global definitions of names that are compiled in line. */
void note_redefinitions(val form);

/* ---- run.c: the machine's loop; stack.c: frames and continuations

   Invariant FRAME. A frame is three words and its slots:
     fp[-3]  distance to the frame of the caller in words, a fixnum;
             0 in the first frame of the area: the rest is in R_SEGMENT
     fp[-2]  offset of the return address in the caller's code, a fixnum
     fp[-1]  the procedure that is running
   The caller finds the result at fp[-3]. All words are values. */

/* Carries out the call at vm.fp (procedure at fp[-1]) of argc arguments. */
val run(int argc);
/* Calls a procedure; returns its value, or UNBOUND after an uncaught
   condition, which is then in R_CONDITION. */
val machine_call(val proc, int argc, const val *argv);
/* Carries out what may raise a condition outside of a program. False after
   one, which is then in R_CONDITION. */
bool machine_do(void (*action)(val), val v);
/* Called, if there is one, when the program ends, by itself or by exit. */
extern void (*machine_at_end)(val);
NORETURN void machine_abandon(void);
/* Before the next instruction run looks for an interrupt; for a signal
   handler. Or it does not. */
void machine_stop(void);
void machine_resume(void);
/* Moves the frames below vm.fp to the heap; `words` of this one are in use.
   Changes vm.fp. */
void stack_capture(size_t words);
/* Brings back some frames; vm.fp is then as when the callee was running.
   False if there are none. */
bool stack_restore(void);
val make_continuation(void);
void stack_reinstate(val cont);
/* Spreads the list over the slots from fp[at]; returns how many. */
int stack_spread(int at, val list);
/* The slow half of entering a procedure: makes room for its slots. */
void stack_overflow(size_t words, size_t slots);
/* There is no memory: lend the handler some of the area. False when that is
   used up. */
bool stack_lend(void);
/* Collects arguments from fp[fixed] into a list there. */
void stack_collect_rest(int fixed, int argc);
/* Clears what no frame uses, so that it keeps nothing alive. */
void stack_clear_unused(void);

/* ---- records and guardians (record.c) */

NORETURN void record_type_error(val v, val rtd, val accessor);
/* A type of records, told from all others. */
val make_rtd(val name, val fields);
val guardian_call(val guardian, int argc, const val *argv);

/* ---- prim_control.c */

/* What (values argument ...) is. */
val values_of(int argc, const val *argv);

/* ---- start.c */

/* Null, or why there is no interpreter. All C frames that hold values lie
   below cold. */
const char *interpreter_start(const struct memory_options *options,
                              void *cold);
/* The value of a global variable of the prelude or a primitive. */
val global_value_of(const char *name);

/* ---- interrupt.c */

/* From begin to end an interrupt is kept for interrupt_check, which raises a
   condition; afterwards they are ignored. */
void interrupt_begin(void);
void interrupt_end(void);
void interrupt_check(void);

/* ---- repl.c */

/* Returns the exit status. */
int repl(bool quiet);
/* Prints what a program returned; false after an error, which is reported. */
bool show_result(val v);
/* Reports the condition in R_CONDITION, which nothing has caught, and leaves
   what was entered by dynamic-wind: parameters have their values back. */
void report_uncaught(void);

/* ---- primitives */

typedef val (*prim_fn)(int argc, val *argv);

struct prim {
  const char *name;
  prim_fn fn;
  int min, max; /* number of arguments; max -1: any */
};

extern const struct prim *prim_table[];
extern size_t prim_count;
void prims_init(void);
/* Primitives that the machine itself carries out. */
enum special {
  SP_APPLY = 1,
  SP_CALLCC,
  SP_THROW,
  SP_APPLY_VALUES,
};

#define PRIM_SPECIAL(s) ((prim_fn)(uintptr_t)(s))

/* ---- arguments of primitives */

static inline bool is_procedure(val v) {
  if (!is_ref(v))
    return false;
  switch (ref_type(v)) {
  case T_CLOSURE:
  case T_CASES:
  case T_PRIM:
  case T_CONT:
  case T_PARAM:
  case T_GUARDIAN:
    return true;
  default:
    return false;
  }
}

static inline val arg_pair(val *argv, int i) {
  if (UNLIKELY(!is_pair(argv[i])))
    raise_type(i, argv[i], "pair");
  return argv[i];
}

static inline val arg_of(val *argv, int i, enum type t, const char *what) {
  if (UNLIKELY(!is_type(argv[i], t)))
    raise_type(i, argv[i], what);
  return argv[i];
}

static inline val arg_string(val *argv, int i) {
  return arg_of(argv, i, T_STRING, "string");
}

static inline val arg_symbol(val *argv, int i) {
  return arg_of(argv, i, T_SYMBOL, "symbol");
}

static inline val arg_vector(val *argv, int i) {
  return arg_of(argv, i, T_VECTOR, "vector");
}

static inline intptr_t arg_fix(val *argv, int i) {
  if (UNLIKELY(!is_fix(argv[i])))
    raise_type(i, argv[i], "small integer");
  return fix_int(argv[i]);
}

static inline uint32_t arg_char(val *argv, int i) {
  if (UNLIKELY(!is_char(argv[i])))
    raise_type(i, argv[i], "character");
  return char_int(argv[i]);
}

/* Argument i as an index from 0 to limit, both allowed. */
static inline size_t arg_index(val *argv, int i, size_t limit) {
  intptr_t n = arg_fix(argv, i);
  if (UNLIKELY(n < 0 || (size_t)n > limit))
    raise_range(i, argv[i]);
  return (size_t)n;
}

/* Optional start and end at i and i + 1 within length. */
static inline void arg_range(int argc, val *argv, int i, size_t length,
                             size_t *start_o, size_t *end_o) {
  size_t end = argc > i + 1 ? arg_index(argv, i + 1, length) : length;
  *start_o = argc > i ? arg_index(argv, i, end) : 0;
  *end_o = end;
}

val list_reverse(val list);
/* How many pairs come before *end_o, which ends them; -1 when nothing does. */
intptr_t pair_count(val list, val *end_o);
/* Length of a list, or -1 when it is none. */
intptr_t list_length(val list);

#endif /* SCHEME_H */
