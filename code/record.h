/* Testudo: a stream of small numbers into a file, fast and safe after a crash:
   the file is mapped and grows by large pieces, so that writing makes no
   system call but once in a MiB, and what was written is there even if the
   process dies. Unwritten bytes at the end are zero.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_RECORD_H
#define TDO_CODE_RECORD_H

#include "code/base.h"

#define TDO_RECORD_ROOM ((size_t)64) /* free bytes after tdo_record_secure */

typedef struct tdo_record {
  unsigned char *window, *at, *limit; /* null: closed, or given up */
  size_t offset;                      /* of the window in the file */
  int fd;
} tdo_record_t;

/* Create or empty the file PATH. MPS_RES_FAIL if that cannot be, or if a
   recording is being written there. */
mps_res_t tdo_record_open(tdo_record_t *r, const char *path);
/* Cut the file to what was written. */
void tdo_record_close(tdo_record_t *r);
/* In the child of a fork: the file is the parent's. */
void tdo_record_abandon(tdo_record_t *r);
/* The next part of the file. On refusal the recording ends. */
void tdo_record_more(tdo_record_t *r);

/* True if TDO_RECORD_ROOM bytes may be written. */
static inline bool tdo_record_secure(tdo_record_t *r) {
  if (r->window != NULL && (size_t)(r->limit - r->at) < TDO_RECORD_ROOM)
    tdo_record_more(r);
  return r->window != NULL;
}

/* Seven bits a byte, the lowest first, bit 7 set in all but the last. */
static inline void tdo_record_number(tdo_record_t *r, uint64_t value) {
  for (; value >= 128; value >>= 7)
    *r->at++ = (unsigned char)(value | 128);
  *r->at++ = (unsigned char)value;
}

#endif /* TDO_CODE_RECORD_H */
