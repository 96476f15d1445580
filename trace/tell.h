/* Testudo: what the collector tells a recording of the shield's requests, so
   that what it would have asked for with other settings can be worked out:
   what makes it look at a page, and what each page refers to
   (shield/record.h). Nothing here does anything unless the arena is recorded.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_TELL_H
#define TDO_TRACE_TELL_H

#include "trace/scan.h"

/* Record HEAP, whose shield is new, into the file PATH, if that can be. */
void tdo_tell_open(mps_arena_t heap, const char *path);
void tdo_tell_close(mps_arena_t heap);

/* The summary of pages [FIRST, LIMIT) is BITS; or has them as well (MORE). */
void tdo_tell_summary(mps_arena_t heap, size_t first, size_t limit,
                      unsigned bits, bool more);
/* SEG was condemned. */
void tdo_tell_white(const tdo_gcseg_t *seg);
/* What was found in [FIRST, LIMIT) is of no interest any more. */
void tdo_tell_forget(mps_arena_t heap, size_t first, size_t limit);
/* The pages around [BASE, LIMIT) of SEG were scanned. */
void tdo_tell_pages(tdo_gcseg_t *seg, char *base, char *limit);

/* The pass over the pages that may refer to what is condemned begins, ends. */
void tdo_tell_pass(mps_arena_t heap, bool begins);
/* In the pass: the requests that follow are those that each look at pages
   makes (and can be told without); or those that come of what is found. */
void tdo_tell_own(mps_arena_t heap, bool own);
/* In the pass: the segment of PAGE is left for later, and becomes grey. */
void tdo_tell_later(mps_arena_t heap, size_t page);

/* tdo_scan_formatted, of an arena that is recorded: notes what each page
   refers to. */
mps_res_t tdo_tell_scan(tdo_scan_t *scan, tdo_pool_t *pool, char *base,
                        char *limit);

#endif /* TDO_TRACE_TELL_H */
