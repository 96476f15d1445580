/* Testudo: tables of bytes, of which each bit means something, searched a
   machine word at a time. SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_BYTES_H
#define TDO_CODE_BYTES_H

#include "code/base.h"

#define TDO_BYTES_ONES 0x0101010101010101u /* in each byte of eight */

/* The eight bytes at P as a number. */
static inline uint64_t tdo_bytes_word(const uint8_t *p) {
  uint64_t word;

  __builtin_memcpy(&word, p, sizeof word);
  return word;
}

/* Index of the first byte in [AT, LIMIT) that has a bit of MASK, or LIMIT.
   BYTES is aligned to words. */
size_t tdo_bytes_next(const uint8_t *bytes, size_t at, size_t limit,
                      uint8_t mask);

#endif /* TDO_CODE_BYTES_H */
