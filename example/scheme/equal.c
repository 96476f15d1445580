/* Testudo: equivalence of the Scheme interpreter's values.
   SPDX-License-Identifier: BSD-2-Clause

   equal? must end on whatever has cycles or shares parts. Objects that were
   assumed equal are put into one class (union-find); what is in one class
   already need not be compared again. Every merger leaves one class less, so
   that there are no more of them than objects. Most comparisons are over
   before the first: classes come after many steps, and then, as long lists
   would be slow otherwise, at intervals of random length and for as long as
   they save work (Adams and Dybvig, "Efficient nondestructive equality
   checking").

   Nothing here allocates from the arena, so that no object moves meanwhile:
   addresses serve as keys, and malloc'ed memory may hold references. */
#include "scheme.h"

#include <stdlib.h>

static bool same_bignum(val a, val b) {
  if (*obj(a) != *obj(b))
    return false;
  for (size_t i = 1; i < obj_words(a); i++)
    if (SLOT(a, i) != SLOT(b, i))
      return false;
  return true;
}

bool eqv(val a, val b) {
  if (a == b)
    return true;
  if (!is_ref(a) || !is_ref(b) || ref_type(a) != ref_type(b))
    return false;
  switch (ref_type(a)) {
  case T_FLONUM:
    return SLOT(a, 1) == SLOT(b, 1);
  case T_BIGNUM:
    return same_bignum(a, b);
  case T_RATIO:
    return eqv(RATIO_NUM(a), RATIO_NUM(b)) && eqv(RATIO_DEN(a), RATIO_DEN(b));
  default:
    return false;
  }
}

/* ---- memory; it outlives errors */

/* Parts that are still to be compared: slots next to last of both. */
struct part {
  val a, b;
  size_t next, last;
};

/* A member of a class; of classes of one there are none. The table is open
   addressing by address. */
struct member {
  val object; /* 0: no member */
  size_t up;  /* where its parent is among the parents, or itself */
};

static struct {
  struct part *parts;
  size_t used, size;
  struct member *table;
  size_t places; /* a power of two, or 0 */
  size_t *parents;
  size_t members;
  long steps; /* until classes are looked at; they are below 0 */
} work;

enum { FIRST_STEPS = 2000, STEPS = 2000, CLASS_STEPS = 40 };

static void forget_classes(void) {
  free(work.table);
  free(work.parents);
  work.table = NULL;
  work.parents = NULL;
  work.places = work.members = 0;
}

NORETURN static void no_memory(void) {
  forget_classes();
  raise_kind("memory", "equal?", "out of memory", NIL);
}

/* ---- classes */

static struct member *place_of(val object) {
  size_t i = (object >> 3) * 0x9e3779b97f4a7c15u >> 20;
  for (;; i++) {
    struct member *m = &work.table[i & (work.places - 1)];
    if (m->object == object || m->object == 0)
      return m;
  }
}

static void grow_table(void) {
  struct member *old = work.table;
  size_t n = work.places, places = n == 0 ? 1024 : n * 4;
  size_t *parents = realloc(work.parents, places / 2 * sizeof *parents);
  if (parents == NULL)
    no_memory();
  work.parents = parents;
  struct member *table = calloc(places, sizeof *table);
  if (table == NULL)
    no_memory();
  work.table = table;
  work.places = places;
  for (size_t i = 0; i < n; i++)
    if (old[i].object != 0)
      *place_of(old[i].object) = old[i];
  free(old);
}

/* The representative of the object's class. */
static size_t class_of(val object) {
  struct member *m = place_of(object);
  if (m->object == 0) {
    m->object = object;
    m->up = work.members++;
    work.parents[m->up] = m->up;
  }
  size_t i = m->up, *parents = work.parents;
  while (parents[i] != i) {
    parents[i] = parents[parents[i]];
    i = parents[i];
  }
  return i;
}

/* Were the two in one class? Now they are. */
static bool merge(val a, val b) {
  if (work.members + 2 > work.places / 2)
    grow_table();
  size_t ca = class_of(a), cb = class_of(b);
  work.parents[ca] = cb;
  return ca == cb;
}

static long random_steps(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (long)(state % (2 * STEPS));
}

/* While classes save work, they are looked at in every step. */
static bool assumed_equal(val a, val b) {
  if (LIKELY(--work.steps >= 0))
    return false;
  if (work.steps == -CLASS_STEPS)
    work.steps = random_steps();
  bool known = merge(a, b);
  if (known)
    work.steps = 0;
  return known;
}

/* ---- comparison */

/* The slots from the first to last are still to be compared. */
static void put_off(val a, val b, size_t last) {
  if (work.used == work.size) {
    size_t size = work.size * 2 + 64;
    struct part *parts = realloc(work.parts, size * sizeof *parts);
    if (parts == NULL)
      no_memory();
    work.parts = parts;
    work.size = size;
  }
  work.parts[work.used++] = (struct part){a, b, 1, last};
}

static bool equal_bytes(val a, val b) {
  if (BV_LEN(a) != BV_LEN(b))
    return false;
  for (size_t i = 0; i < BV_LEN(a); i++)
    if (BV_DATA(a)[i] != BV_DATA(b)[i])
      return false;
  return true;
}

/* Are the two equal if the parts that are put off are? */
static bool equal_so_far(val a, val b) {
  while (a != b && is_pair(a) && is_pair(b) && CAR(a) == CAR(b)) {
    if (assumed_equal(a, b))
      return true;
    a = CDR(a);
    b = CDR(b);
  }
  if (a == b)
    return true;
  if (!is_ref(a) || !is_ref(b) || ref_type(a) != ref_type(b))
    return false;
  switch (ref_type(a)) {
  case T_PAIR:
    if (!assumed_equal(a, b))
      put_off(a, b, 2);
    return true;
  case T_VECTOR:
    if (VEC_LEN(a) != VEC_LEN(b))
      return false;
    if (VEC_LEN(a) > 0 && !assumed_equal(a, b))
      put_off(a, b, VEC_LEN(a));
    return true;
  case T_STRING:
    return STRING_LEN(a) == STRING_LEN(b) && string_compare(a, b) == 0;
  case T_BYTEVECTOR:
    return equal_bytes(a, b);
  default:
    return eqv(a, b);
  }
}

static bool equal_parts(void) {
  while (work.used > 0) {
    struct part *p = &work.parts[work.used - 1];
    val a = SLOT(p->a, p->next), b = SLOT(p->b, p->next);
    if (p->next++ == p->last)
      work.used--;
    if (!equal_so_far(a, b))
      return false;
  }
  return true;
}

bool equal(val a, val b) {
  work.used = 0;
  work.steps = FIRST_STEPS;
  bool result = equal_so_far(a, b) && equal_parts();
  if (work.places > 0)
    forget_classes();
  return result;
}
