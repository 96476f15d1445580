/* Testudo: tables of bytes a word at a time.
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/bytes.h"

size_t tdo_bytes_next(const uint8_t *bytes, size_t at, size_t limit,
                      uint8_t mask) {
  uint64_t masks = TDO_BYTES_ONES * mask;

  for (; at < limit && at % 8 != 0; ++at)
    if (bytes[at] & mask)
      return at;
  for (; at + 8 <= limit; at += 8)
    if (tdo_bytes_word(bytes + at) & masks)
      break;
  for (; at < limit; ++at)
    if (bytes[at] & mask)
      return at;
  return limit;
}
