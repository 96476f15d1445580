/* Testudo: a double of write tracking, for tests and for the tuner; no part of
   the library. It plays the contract of code/track.h on a model of a window of
   pages, is told of writes, counts calls, and can refuse any.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_TRACK_DOUBLE_H
#define TDO_CODE_TRACK_DOUBLE_H

#include "code/track.h"

typedef enum tdo_track_call_kind {
  TDO_TRACK_COVER,
  TDO_TRACK_ARM,
  TDO_TRACK_DISARM,
  TDO_TRACK_HARVEST,
  TDO_TRACK_REOPEN,
  TDO_TRACK_CALL_KINDS
} tdo_track_call_kind_t;

typedef struct tdo_track_double {
  tdo_track_t track; /* first */
  char *window;
  size_t pages;
  unsigned page_shift;
  uint8_t *state; /* a page: bit 0 covered, bit 1 armed */
  size_t size;    /* of that table */
  size_t calls[TDO_TRACK_CALL_KINDS];
  size_t pages_called[TDO_TRACK_CALL_KINDS];
  unsigned refuse_kinds; /* bit for each kind: refuse all of them */
  size_t refuse_in;      /* refuse the n-th call from now; 0: none */
} tdo_track_double_t;

/* For PAGES pages at WINDOW, which is not touched. MPS_RES_RESOURCE if there
   is no memory for the table. */
mps_res_t tdo_track_double_init(tdo_track_double_t *d, char *window,
                                size_t pages, size_t page_size);
void tdo_track_double_finish(tdo_track_double_t *d);

/* Somebody writes the page that holds ADDR; its memory is mapped anew. */
void tdo_track_double_write(tdo_track_double_t *d, const void *addr);
void tdo_track_double_remap(tdo_track_double_t *d, const void *base,
                            size_t size);
/* The process forks and the double is the child's. */
void tdo_track_double_fork(tdo_track_double_t *d);

#endif /* TDO_CODE_TRACK_DOUBLE_H */
