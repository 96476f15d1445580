/* Testudo: frames and continuations of the Scheme interpreter.
   SPDX-License-Identifier: BSD-2-Clause

   A continuation is the stack below a frame, moved (not copied) to a segment
   on the heap. When the area runs empty, frames come back from the segment
   in small pieces; the segment itself is never changed, so a continuation
   can be entered any number of times. Deep recursion works the same way: an
   area that is full is moved to a segment. */
#include "ops.h"
#include "scheme.h"

#include <string.h>

/* Words that come back at least, so that returns through a segment are not
   one restoration each. */
enum { RESTORE_WORDS = 256 };

/* The first n words of the area, copied. */
static val make_segment(size_t n) {
  size_t bytes = (n + 3) * sizeof(val);
  val *p;
  do {
    p = reserve(vm.ap_object, bytes);
    p[0] = HEADER(T_SEGMENT, n + 3);
    p[1] = vm.root[R_SEGMENT];
    p[2] = vm.root[R_SEGTOP];
    memcpy(p + 3, vm.stack, n * sizeof(val));
  } while (!mps_commit(vm.ap_object, p, bytes));
  return (val)p;
}

/* Words of the area that a handler may use when there is no memory to move
   the frames below it to. */
enum { LENT_WORDS = 1 << 16 };

bool stack_lend(void) {
  val *top = vm.fp + vm.max_slots, *limit;
  if (top < vm.arg_top)
    top = vm.arg_top;
  limit = top + LENT_WORDS;
  if (limit > vm.stack_end - LENT_WORDS)
    return false;
  if (limit > vm.limit)
    vm.limit = limit;
  if (vm.limit > vm.touched)
    vm.touched = vm.limit;
  return true;
}

void stack_capture(size_t words) {
  val *header = vm.fp - 3;
  if (header[0] == FIX(0))
    return;
  size_t n = (size_t)(header - vm.stack) + 2;
  vm.root[R_SEGMENT] = make_segment(n);
  vm.root[R_SEGTOP] = FIX(n);
  memmove(vm.stack + 2, header + 2, (words + 1) * sizeof(val));
  vm.stack[0] = FIX(0);
  vm.fp = vm.stack + 3;
  vm.limit = vm.stack + STACK_FRAMES;
}

bool stack_restore(void) {
  val seg = vm.root[R_SEGMENT];
  if (seg == NIL)
    return false;
  val *w = SEG_WORDS(seg);
  intptr_t n = fix_int(vm.root[R_SEGTOP]);
  intptr_t callee = n - 2, bottom = callee - fix_int(w[callee]);
  while (callee - bottom < RESTORE_WORDS && w[bottom] != FIX(0))
    bottom -= fix_int(w[bottom]);
  memcpy(vm.stack, w + bottom, (size_t)(n - bottom) * sizeof(val));
  if (w[bottom] == FIX(0)) {
    vm.root[R_SEGMENT] = SEG_NEXT(seg);
    vm.root[R_SEGTOP] = SEG_NEXTTOP(seg);
  } else {
    vm.root[R_SEGTOP] = FIX(bottom + 2);
  }
  vm.stack[0] = FIX(0);
  vm.fp = vm.stack + (callee - bottom) + 3;
  return true;
}

val make_continuation(void) {
  val k = make_object(T_CONT, 4, FALSE);
  CONT_SEG(k) = vm.root[R_SEGMENT];
  CONT_TOP(k) = vm.root[R_SEGTOP];
  CONT_WINDERS(k) = vm.root[R_WINDERS];
  CONT_HANDLERS(k) = vm.root[R_HANDLERS];
  return k;
}

void stack_reinstate(val k) {
  vm.root[R_SEGMENT] = CONT_SEG(k);
  vm.root[R_SEGTOP] = CONT_TOP(k);
  vm.root[R_WINDERS] = CONT_WINDERS(k);
  vm.root[R_HANDLERS] = CONT_HANDLERS(k);
  memory_escaped();
  vm.fp = vm.stack + 3;
  vm.stack[0] = FIX(0);
  vm.limit = vm.stack + STACK_FRAMES;
}

static void use_up_to(val *top) {
  if (top > vm.touched)
    vm.touched = top;
}

void stack_overflow(size_t words, size_t slots) {
  stack_capture(words);
  if (vm.fp + slots + vm.max_slots > vm.stack_end)
    raise_kind("memory", NULL, "stack overflow", NIL);
  use_up_to(vm.fp + slots);
}

int stack_spread(int at, val list) {
  intptr_t n = list_length(list);
  if (n < 0)
    raise_error("apply", "not a list", cons(list, NIL));
  if (vm.fp + at + n + vm.max_slots > vm.limit) {
    stack_overflow((size_t)at, (size_t)(at + n) + vm.max_slots);
  }
  if ((size_t)(at + n) > vm.max_slots)
    vm.arg_top = vm.fp + at + n;
  for (val *p = vm.fp + at; list != NIL; list = CDR(list))
    *p++ = CAR(list);
  return (int)n;
}

void stack_collect_rest(int fixed, int argc) {
  val list = NIL;
  for (int i = argc - 1; i >= fixed; i--)
    list = cons(vm.fp[i], list);
  vm.fp[fixed] = list;
}

void stack_clear_unused(void) {
  val *top = vm.fp + vm.max_slots;
  val proc = vm.fp[-1];
  if (is_type(proc, T_CLOSURE))
    top = vm.fp + INFO_SLOTS(fix_int(CODE_INFO(CLOSURE_CODE(proc))));
  if (top < vm.arg_top)
    top = vm.arg_top;
  if (top < vm.touched)
    memset(top, 0, (size_t)(vm.touched - top) * sizeof(val));
}

/* ---- where the program is */

static val nth(val list, uint32_t n) {
  for (; n > 0; n--)
    list = CDR(list);
  return CAR(list);
}

/* What the lines say of an instruction is true of those after it, too: a
   position or, below all positions, the number of a file. */
static val place_in_code(val code, intptr_t offset) {
  val debug = CODE_DEBUG(code);
  if (!is_pair(debug))
    return FALSE;
  intptr_t start = INFO_START(fix_int(CODE_INFO(code)));
  intptr_t at = (offset - (start * 8)) / 8 - 1;
  const uint64_t *lines = (const uint64_t *)(void *)BODY(CAR(debug));
  size_t n = obj_words(CAR(debug)) - 1;
  uint32_t pos = 0, file = 0;
  for (size_t i = 0; i < n && (intptr_t)(lines[i] >> 32) <= at; i++) {
    uint32_t what = (uint32_t)lines[i];
    if (what < FIRST_POSITION)
      file = what;
    else
      pos = what;
  }
  return pos == 0 ? FALSE : place_string(nth(CDR(debug), file), FIX(pos));
}

static val place_in_closure(val v, intptr_t offset) {
  return is_type(v, T_CLOSURE) ? place_in_code(CLOSURE_CODE(v), offset)
                               : FALSE;
}

/* Looks for a caller with a place in the segment; n words of it count. */
static val place_in_segment(val seg, intptr_t n) {
  for (int frames = 0; seg != NIL && frames < 100; frames++) {
    val *w = SEG_WORDS(seg);
    intptr_t caller = n - 2 - fix_int(w[n - 2]);
    val place = place_in_closure(w[caller + 2], fix_int(w[n - 1]));
    if (place != FALSE)
      return place;
    if (w[caller] != FIX(0)) {
      n = caller + 2;
    } else {
      n = fix_int(SEG_NEXTTOP(seg));
      seg = SEG_NEXT(seg);
    }
  }
  return FALSE;
}

/* Where vm.pc is: in the code that runs, or in that of a caller which has
   been replaced. */
static val place_of_pc(void) {
  val blamed = vm.root[R_BLAME], proc = vm.fp[-1];
  vm.root[R_BLAME] = FALSE;
  if (blamed != FALSE)
    return place_in_code(blamed, vm.blame);
  if (!is_type(proc, T_CLOSURE))
    return FALSE;
  val code = CLOSURE_CODE(proc);
  return place_in_code(code, (const char *)vm.pc - (const char *)code);
}

/* Where a caller of the code in the frame at FP is, the nearest that has a
   place. */
static val place_of_caller(val *fp) {
  for (int frames = 0; frames < 100; frames++) {
    if (fp[-3] == FIX(0))
      return place_in_segment(vm.root[R_SEGMENT], fix_int(vm.root[R_SEGTOP]));
    val *caller = fp - fix_int(fp[-3]);
    val place = place_in_closure(caller[-1], fix_int(fp[-2]));
    if (place != FALSE)
      return place;
    fp = caller;
  }
  return FALSE;
}

val current_place(void) {
  val place = place_of_pc();
  return place == FALSE ? place_of_caller(vm.fp) : place;
}

val caller_place(void) {
  return place_of_caller(vm.fp);
}
