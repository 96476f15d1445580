/* Testudo: reading a recording of a shield's requests (shield/record.h has
   the format). SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TOOL_RECORDING_H
#define TDO_TOOL_RECORDING_H

#include "shield/shield.h"

typedef struct recording {
  const char *path;
  unsigned char *data;
  size_t size;
  size_t page_size, pages; /* of the window, as far as it occurs */
  tdo_shield_mode_t mode;  /* that was in force */
  size_t mapping_limit;    /* the system's; SIZE_MAX: none */
} recording_t;

typedef struct step {
  tdo_request_t request;
  unsigned argument;
  size_t first, limit; /* if it is about pages */
  uint64_t numbers[2]; /* that follow, if any */
} step_t;

/* Where one is in a recording; starts as {TDO_RECORD_HEADER, 0}. */
typedef struct place {
  size_t at;
  size_t last; /* end of the range before */
} place_t;

/* Read the file PATH and check all of it. If it is damaged, or is none, ends
   the process with status 2 and a message with the offset. */
void recording_load(recording_t *recording, const char *path);

/* The step at *PLACE, which moves on; false at the end. */
bool recording_next(const recording_t *recording, step_t *step,
                    place_t *place);

#endif /* TDO_TOOL_RECORDING_H */
