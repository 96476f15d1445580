/* Testudo: object formats, the client's description of its objects
   (interface, sections 2.8 and 3.3).
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_FORMAT_H
#define TDO_TRACE_FORMAT_H

#include "code/base.h"
#include "code/ring.h"

typedef struct mps_fmt_s tdo_format_t;

/* Missing methods are replaced by ones that assert when they are called, so
   every pointer here can be called. References are client pointers, HEADER
   bytes after an object's base. */
struct mps_fmt_s {
  tdo_sig_t sig;
  mps_arena_t heap;
  tdo_ring_t heap_ring;
  size_t align, header;
  mps_fmt_scan_t scan;
  mps_fmt_skip_t skip;
  mps_fmt_fwd_t fwd;
  mps_fmt_isfwd_t isfwd;
  mps_fmt_pad_t pad;
  size_t pools; /* that use it */
};

#define TDO_FORMAT_SIG ((tdo_sig_t)0x519F0A47) /* FORMAT */

/* METHODS gives align, header and methods (null: missing). MPS_RES_MEMORY
   and relatives. */
mps_res_t tdo_format_create(tdo_format_t **fmt_o, mps_arena_t heap,
                            const tdo_format_t *methods);
void tdo_format_destroy(tdo_format_t *fmt);
bool tdo_format_check(const tdo_format_t *fmt);

/* Has it a skip method? Some pools do without. */
bool tdo_format_skips(const tdo_format_t *fmt);
/* A skip method did not get beyond the object at P: asserts, and gives a place
   beyond it, so that who skips objects gets to the end. */
TDO_NOINLINE char *tdo_format_stuck(const tdo_format_t *fmt, char *p);

/* The base of the object after the one at base P. */
static inline char *tdo_format_next(const tdo_format_t *fmt, char *p) {
  char *next = (char *)fmt->skip(p + fmt->header) - fmt->header;

  return TDO_RASH || TDO_LIKELY(next > p) ? next : tdo_format_stuck(fmt, p);
}

/* The size of the object at client pointer REF, which is to be copied. */
static inline size_t tdo_format_size(const tdo_format_t *fmt, char *ref) {
  char *next = fmt->skip(ref);

  if (TDO_COOL && next <= ref)
    next = tdo_format_stuck(fmt, ref);
  return (size_t)(next - ref);
}

#endif /* TDO_TRACE_FORMAT_H */
