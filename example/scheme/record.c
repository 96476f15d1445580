/* Testudo: records and guardians of the Scheme interpreter.
   SPDX-License-Identifier: BSD-2-Clause

   A guardian is a procedure: given an object it watches over it; without
   arguments it returns an object that it watched and that is otherwise dead,
   or #f. Watching is finalization; which guardians want an object is in a
   weak table, which keeps the entry while the finalization is pending. */
#include "scheme.h"

#define GUARDIAN_DEAD(g) SLOT(g, 1) /* list of objects to give back */

/* ---- records */

/* Told where the accessor is called, not where the type is defined. */
void record_type_error(val v, val rtd, val accessor) {
  char text[120];
  if (!is_type(rtd, T_RTD))
    raise_error("record", "not a record type", cons(rtd, NIL));
  char *type = string_to_utf8(SYM_NAME(RTD_NAME(rtd)), NULL);
  snprintf(text, sizeof text, "argument 1 is not a record of type %.60s",
           type);
  c_string_free(type);
  val e = make_error("type", accessor, string_from_c(text), cons(v, NIL));
  val place = caller_place();
  if (place != FALSE)
    ERROR_PLACE(e) = place;
  raise_value(e);
}

val make_rtd(val name, val fields) {
  val rtd = make_object(T_RTD, 3, FIX(list_length(fields)));
  RTD_NAME(rtd) = name;
  RTD_FIELDS(rtd) = fields;
  return rtd;
}

static val p_make_rtd(int argc, val *argv) {
  (void)argc;
  if (list_length(argv[1]) < 0)
    raise_type(1, argv[1], "list");
  return make_rtd(argv[0], argv[1]);
}

/* The type, then the fields. */
static val p_record(int argc, val *argv) {
  size_t bytes = (size_t)(argc + 1) * sizeof(val);
  val *p;
  if (!is_type(argv[0], T_RTD) || RTD_COUNT(argv[0]) != FIX(argc - 1))
    raise_type(0, argv[0], "record type with so many fields");
  do {
    p = reserve(vm.ap_object, bytes);
    p[0] = HEADER(T_RECORD, argc + 1);
    for (int i = 0; i < argc; i++)
      p[i + 1] = argv[i];
  } while (!mps_commit(vm.ap_object, p, bytes));
  return (val)p;
}

static val p_recordp(int argc, val *argv) {
  (void)argc;
  return boolean(is_type(argv[0], T_RECORD) && RECORD_RTD(argv[0]) == argv[1]);
}

/* (%record-set! record type index value name) */
static val p_record_set(int argc, val *argv) {
  (void)argc;
  if (!is_type(argv[0], T_RECORD) || RECORD_RTD(argv[0]) != argv[1])
    record_type_error(argv[0], argv[1], argv[4]);
  intptr_t i = arg_fix(argv, 2);
  if (i < 0 || (size_t)i + 2 >= obj_words(argv[0]))
    raise_range(2, argv[2]);
  RECORD_FIELD(argv[0], i) = argv[3];
  return UNSPEC;
}

/* ---- guardians */

static void guardian_watch(val guardian, val v) {
  if (!is_ref(v))
    return;
  val list = table_ref(vm.root[R_GUARDED], v, NIL);
  mps_addr_t ref = (mps_addr_t)v;
  list = cons(guardian, list);
  table_set(vm.root[R_GUARDED], v, list);
  if (mps_finalize(vm.arena, &ref) != MPS_RES_OK)
    raise_kind("memory", NULL, "out of memory", NIL);
}

/* One message is one registration: the object goes to one guardian. There may
   be little memory: the pair that held the guardian holds the object now. */
static void give_back(val v) {
  val pair = table_ref(vm.root[R_GUARDED], v, NIL);
  if (!is_pair(pair))
    return;
  val guardian = CAR(pair);
  if (CDR(pair) == NIL)
    table_delete(vm.root[R_GUARDED], v);
  else
    table_set(vm.root[R_GUARDED], v, CDR(pair));
  CAR(pair) = v;
  CDR(pair) = GUARDIAN_DEAD(guardian);
  GUARDIAN_DEAD(guardian) = pair;
}

void memory_poll_finalization(void) {
  mps_message_t message;
  while (
      mps_message_get(&message, vm.arena, mps_message_type_finalization())) {
    mps_addr_t ref;
    mps_message_finalization_ref(&ref, vm.arena, message);
    mps_message_discard(vm.arena, message);
    val v = (val)ref;
    if (is_type(v, T_PORT))
      port_release(v);
    else
      give_back(v);
  }
}

val guardian_call(val guardian, int argc, const val *argv) {
  /* Until its message has been seen, what died for a guardian that nobody
     has any more lives on. */
  memory_poll_finalization();
  if (argc > 0) {
    guardian_watch(guardian, argv[0]);
    return UNSPEC;
  }
  val dead = GUARDIAN_DEAD(guardian);
  if (!is_pair(dead))
    return FALSE;
  GUARDIAN_DEAD(guardian) = CDR(dead);
  return CAR(dead);
}

static val p_make_guardian(int argc, val *argv) {
  (void)argc;
  (void)argv;
  return make_object(T_GUARDIAN, 1, NIL);
}

const struct prim prims_record[] = {
    {"%make-rtd", p_make_rtd, 2, 2},
    {"%record", p_record, 1, -1},
    {"%record?", p_recordp, 2, 2},
    {"%record-set!", p_record_set, 5, 5},
    {"make-guardian", p_make_guardian, 0, 0},
    {NULL, NULL, 0, 0},
};
