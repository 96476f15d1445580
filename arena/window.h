/* Testudo: how much address space an arena reserves for all that it may ever
   have. Numbers only: the arena's maker gathers them.

   .share  As much as the machine's memory several times over, since placement
   by generation leaves room between; but address space is the process's, too,
   and every arena's. So no arena takes more than a small part of it, and all
   of any number of them leave most of it; only the first may always have what
   the machine has.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_ARENA_WINDOW_H
#define TDO_ARENA_WINDOW_H

#include <stddef.h>

/* Bytes; SIZE_MAX: unknown, or no limit. */
typedef struct tdo_window_facts {
  size_t size;     /* that the client wants at least */
  size_t limit;    /* that the process may still reserve */
  size_t physical; /* memory of the machine */
  size_t data;     /* that the process may have of memory of its own */
  size_t space;    /* address space of a process */
  size_t arenas;   /* that there are already */
} tdo_window_facts_t;

size_t tdo_window(const tdo_window_facts_t *facts);

#endif /* TDO_ARENA_WINDOW_H */
