/* Testudo: the recording of a shield's requests: what is written, and how it
   is read. SPDX-License-Identifier: BSD-2-Clause

   A recording is a header of 32 bytes and records. Header: the eight bytes
   "TDOREC1" and line feed; then three numbers of eight bytes, the lowest byte
   first: page size, pages of the window, mode that was in force. A record is
   one byte, the request (tdo_request_t) in bits 0-4 and an argument in bits
   5-7; for requests about pages two numbers follow (see tdo_record_number):
   the first page less the end of the range before, times two, or the negative
   of that less one if it is below; and the number of pages. A byte of zero, or
   the end of the file, ends the recording. */
#ifndef TDO_SHIELD_RECORD_H
#define TDO_SHIELD_RECORD_H

#include "code/record.h"

#define TDO_RECORD_MAGIC  "TDOREC1\n"
#define TDO_RECORD_HEADER ((size_t)32)

/* X(constant, is about pages). Numbers are the file format's. */
#define TDO_REQUESTS(X)                                                       \
  X(END, false)                                                               \
  X(COMMITTED, true)                                                          \
  X(DECOMMITTED, true)                                                        \
  X(ADOPT, true)                                                              \
  X(RETIRE, true)                                                             \
  X(RAISE, true) /* argument: bars */                                         \
  X(LOWER, true)                                                              \
  X(EXPOSE, true)                                                             \
  X(COVER, true)                                                              \
  X(OFFER, true) /* argument: granted */                                      \
  X(HIT, true)   /* argument: bars */                                         \
  X(FORCE, true)                                                              \
  X(FLUSH, false)                                                             \
  X(LEAVE, false)                                                             \
  X(STOPPED, false)                                                           \
  X(HARVEST, false)                                                           \
  X(WRITTEN, true) /* found by the harvest before */                          \
  X(TRUST, true)                                                              \
  X(OFFERS, false)                                                            \
  X(RELEASE, true)

typedef enum tdo_request {
#define TDO_REQUEST_NAME(name, pages) TDO_REQUEST_##name,
  TDO_REQUESTS(TDO_REQUEST_NAME)
#undef TDO_REQUEST_NAME
      TDO_REQUESTS_COUNT
} tdo_request_t;

typedef struct tdo_shield_record {
  tdo_record_t file;
  size_t last; /* end of the range of the last record */
} tdo_shield_record_t;

/* Record into the file PATH. MPS_RES_FAIL if it cannot be written. */
mps_res_t tdo_shield_record_open(tdo_shield_record_t *record, const char *path,
                                 size_t page_size, size_t pages,
                                 unsigned mode);
void tdo_shield_record_note(tdo_shield_record_t *record, tdo_request_t request,
                            unsigned argument, size_t first, size_t limit);

#endif /* TDO_SHIELD_RECORD_H */
