/* Testudo: what is known of the references in each page.
   SPDX-License-Identifier: BSD-2-Clause

   One byte a page: bit 7 (TDO_DIRTY) says that the mutator may write the page,
   or did; bits 0-6 are the bits of the generations (tdo_gen_t.bit) that
   references in a clean page lead to. Above them one byte for each block of
   pages, so that a minor collection finds the few pages it must scan without
   a look at all the others: its time does not grow with the heap.

   Invariants:
   .block  a block's byte has every bit that a page of it has. It may have
           others; who looks through a block in vain makes it exact. */
#ifndef TDO_TRACE_SUMMARY_H
#define TDO_TRACE_SUMMARY_H

#include "code/base.h"

#define TDO_DIRTY         ((uint8_t)0x80)
#define TDO_SUMMARY_BLOCK TDO_CACHE_LINE /* pages */

typedef struct tdo_summary {
  uint8_t *page;
  uint8_t *block; /* null: small, and looked through page by page */
} tdo_summary_t;

/* Bytes of memory, zero to begin with, that PAGES pages need. */
size_t tdo_summary_bytes(size_t pages);
/* MEMORY stays the caller's. */
void tdo_summary_init(tdo_summary_t *s, size_t pages, void *memory);
/* .block, for the pages below LIMIT. */
bool tdo_summary_check(const tdo_summary_t *s, size_t limit);

/* The byte of each page in [FIRST, LIMIT) is BITS; has BITS as well; has them
   and no others, but for TDO_DIRTY; loses TDO_DIRTY. */
void tdo_summary_set(tdo_summary_t *s, size_t first, size_t limit,
                     uint8_t bits);
void tdo_summary_add(tdo_summary_t *s, size_t first, size_t limit,
                     uint8_t bits);
void tdo_summary_found(tdo_summary_t *s, size_t first, size_t limit,
                       uint8_t bits);
void tdo_summary_clean(tdo_summary_t *s, size_t first, size_t limit);

/* First page in [P, LIMIT) that has a bit of MASK, or LIMIT. */
size_t tdo_summary_next(tdo_summary_t *s, size_t p, size_t limit,
                        uint8_t mask);
/* One past the last page of the run of such pages at P, within LIMIT. */
size_t tdo_summary_run(const tdo_summary_t *s, size_t p, size_t limit,
                       uint8_t mask);
/* Have what tells of such pages, in the next BLOCKS blocks that may have one,
   read into the cache. */
void tdo_summary_touch(const tdo_summary_t *s, size_t p, size_t limit,
                       uint8_t mask, size_t blocks);
/* Pages below LIMIT with TDO_DIRTY. */
size_t tdo_summary_dirty(tdo_summary_t *s, size_t limit);

#endif /* TDO_TRACE_SUMMARY_H */
