/* Testudo: the table of primitives of the Scheme interpreter.
   SPDX-License-Identifier: BSD-2-Clause */
#include "scheme.h"

enum { PRIM_LIMIT = 1024 };

extern const struct prim prims_list[], prims_number[], prims_char[],
    prims_string[], prims_vector[], prims_io[], prims_control[], prims_table[],
    prims_record[], prims_error[];

static const struct prim *const groups[] = {
    prims_list, prims_number, prims_char,    prims_string, prims_vector,
    prims_io,   prims_table,  prims_control, prims_record, prims_error};

const struct prim *prim_table[PRIM_LIMIT];
size_t prim_count;

void prims_init(void) {
  for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
    for (const struct prim *p = groups[g]; p->name != NULL; p++) {
      val v = make_object(T_PRIM, 1, FIX(prim_count));
      prim_table[prim_count++] = p;
      symbol_define(intern(p->name), v);
    }
}
