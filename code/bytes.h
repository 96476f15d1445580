/* Testudo: tables of bytes, of which each bit means something, searched a
   machine word at a time. SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_BYTES_H
#define TDO_CODE_BYTES_H

#include "code/base.h"

/* Index of the first byte in [AT, LIMIT) that has a bit of MASK, or LIMIT.
   BYTES is aligned to words. */
size_t tdo_bytes_next(const uint8_t *bytes, size_t at, size_t limit,
                      uint8_t mask);

#endif /* TDO_CODE_BYTES_H */
