/* Testudo: finding the pages that may refer to condemned generations: one
   pass over the summary.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_REMEMBER_H
#define TDO_TRACE_REMEMBER_H

#include "trace/heap.h"

/* Learn which pages were written, where that is tracked. Before anything relies
   on the summary. */
void tdo_remember_harvest(tdo_heap_t *heap);
/* Scan the pages that may refer to condemned generations. */
void tdo_remember_scan(tdo_heap_t *heap);
/* Those of SEG alone, put off by the flip. */
void tdo_remember_scan_seg(tdo_heap_t *heap, tdo_gcseg_t *seg);
/* The next pages of SEG, which is not white, from *LIMIT_IO on that may refer
   to what is condemned: [*BASE_O, *LIMIT_IO), false if there are none. */
bool tdo_remember_next(tdo_heap_t *heap, const tdo_gcseg_t *seg, char **base_o,
                       char **limit_io);
/* One past the last page that holds nothing but what was scanned, up to
   WIDE_LIMIT, with a run of pages of SEG before Q: a large object is scanned
   as a whole, so its other pages are, too. */
size_t tdo_remember_end(tdo_heap_t *heap, tdo_gcseg_t *seg, size_t q,
                        const char *wide_limit);

#endif /* TDO_TRACE_REMEMBER_H */
