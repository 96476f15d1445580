/* Testudo: the recording of a shield's requests: what is written, and how it
   is read. SPDX-License-Identifier: BSD-2-Clause

   A recording is a header of 40 bytes and records. Header: the eight bytes
   "TDOREC2" and line feed; then four numbers of eight bytes, the lowest byte
   first: page size, pages of the window, mode that was in force, the system's
   limit of mappings (all bits set: none). A record is one byte, the request
   (tdo_request_t) in bits 0-4 and an argument in bits 5-7. For requests about
   pages two numbers follow (see tdo_record_number): the first page less the
   end of the range before, times two, or the negative of that less one if it
   is below; and the number of pages. Some have one or two numbers more
   (TDO_REQUESTS). A byte of zero, or the end of the file, ends the recording.

   What the shield is asked for depends on what it granted before: pages
   without a write bar are looked at again in each collection. So the collector
   notes what makes it look (a byte a page, the *summary*: bits of generations,
   and TDO_SUMMARY_DIRTY), and what it found, page by page. Between REMEMBER
   and REMEMBERED stand, of its pass over the pages that may refer to what is
   condemned, only the requests that follow from what it found there; its own
   (expose, offer, cover) can be told from the summary. */
#ifndef TDO_SHIELD_RECORD_H
#define TDO_SHIELD_RECORD_H

#include "code/record.h"

#define TDO_RECORD_MAGIC  "TDOREC2\n"
#define TDO_RECORD_HEADER ((size_t)40)

/* X(constant, is about pages, numbers that follow). The order is the file
   format's. */
#define TDO_REQUESTS(X)                                                       \
  X(END, false, 0)                                                            \
  X(COMMITTED, true, 0)                                                       \
  X(DECOMMITTED, true, 0)                                                     \
  X(ADOPT, true, 0) /* one segment */                                         \
  X(RETIRE, true, 0)                                                          \
  X(RAISE, true, 0) /* argument: bars */                                      \
  X(LOWER, true, 0)                                                           \
  X(EXPOSE, true, 0)                                                          \
  X(COVER, true, 0)                                                           \
  X(OFFER, true, 0) /* argument: granted */                                   \
  X(HIT, true, 0)   /* argument: bars */                                      \
  X(FORCE, true, 0)                                                           \
  X(FLUSH, false, 0)                                                          \
  X(LEAVE, false, 0)                                                          \
  X(STOPPED, false, 0)                                                        \
  X(HARVEST, false, 0)                                                        \
  X(WRITTEN, true, 0) /* found by the harvest before */                       \
  X(TRUST, true, 0)                                                           \
  X(OFFERS, false, 0)                                                         \
  X(RELEASE, true, 0)    /* argument: now */                                  \
  X(SUMMARY, true, 1)    /* it is this; argument: these bits more */          \
  X(WHITE, true, 0)      /* condemned: passed over until the next OFFERS */   \
  X(PAGES, true, 2)      /* see below */                                      \
  X(REMEMBER, false, 1)  /* bits condemned, and, times 256, of nurseries */   \
  X(REACHED, true, 0)    /* what follows is because of this page; argument:   \
                            it is left for later */                           \
  X(REMEMBERED, false, 0)

#define TDO_SUMMARY_DIRTY 0x80u

/* PAGES: what scanning each of these pages by itself would find. First number:
   bits of the generations referred to; TDO_PAGES_EMPTY: no object there.
   Second: how many pages before it are scanned with it, how many after it, and
   how many of these then need no scanning of their own, because objects reach
   beyond a page (tdo_pages_reach). */
#define TDO_PAGES_EMPTY 0x80u
#define TDO_PAGES_UNIT  1u /* argument: reach is that of all of them as one */
#define TDO_PAGES_PAYS  2u /* and: their segment may have write bars */
#define TDO_PAGES_LATER 4u /* and: it is scanned as a whole, after others */

/* Three numbers below 2^20, or so many bits of them, as one: short if they
   are. */
typedef struct tdo_pages_reach {
  size_t before, after, done;
} tdo_pages_reach_t;

#define TDO_PAGES_REACH (((size_t)1 << 20) - 1)

static inline uint64_t tdo_pages_pack(const tdo_pages_reach_t *reach) {
  uint64_t b = tdo_min(reach->before, TDO_PAGES_REACH);
  uint64_t a = tdo_min(reach->after, TDO_PAGES_REACH);
  uint64_t d = tdo_min(reach->done, TDO_PAGES_REACH);
  return (b & 1) | (a & 1) << 1 | (d & 1) << 2 | b >> 1 << 3 | a >> 1 << 22 |
         d >> 1 << 41;
}

static inline tdo_pages_reach_t tdo_pages_unpack(uint64_t packed) {
  size_t mask = TDO_PAGES_REACH >> 1;
  return (tdo_pages_reach_t){
      (size_t)(packed >> 3 & mask) << 1 | (packed & 1),
      (size_t)(packed >> 22 & mask) << 1 | (packed >> 1 & 1),
      (size_t)(packed >> 41 & mask) << 1 | (packed >> 2 & 1)};
}

typedef enum tdo_request {
#define TDO_REQUEST_NAME(name, pages, numbers) TDO_REQUEST_##name,
  TDO_REQUESTS(TDO_REQUEST_NAME)
#undef TDO_REQUEST_NAME
      TDO_REQUESTS_COUNT
} tdo_request_t;

typedef struct tdo_shield_record {
  tdo_record_t file;
  size_t last;    /* end of the range of the last record */
  bool quiet;     /* requests follow from what was noted: not recorded, but
                     for those of memory that comes or goes */
  size_t reached; /* the page looked at in a pass: noted before what comes of
                     it; SIZE_MAX: none, or it was */
  volatile bool writing; /* who finds it set is a signal handler: what it asks
                            is left out */
} tdo_shield_record_t;

/* Record into the file PATH. MPS_RES_FAIL if it cannot be written. */
mps_res_t tdo_shield_record_open(tdo_shield_record_t *record, const char *path,
                                 size_t page_size, size_t pages, unsigned mode,
                                 size_t mapping_limit);
/* FIRST and LIMIT if it is about pages. */
void tdo_shield_record_note(tdo_shield_record_t *record, tdo_request_t request,
                            unsigned argument, size_t first, size_t limit);
/* The same with the numbers that follow, as many as the request has. */
void tdo_shield_record_numbers(tdo_shield_record_t *record,
                               tdo_request_t request, unsigned argument,
                               size_t first, size_t limit,
                               const uint64_t *numbers);

#endif /* TDO_SHIELD_RECORD_H */
