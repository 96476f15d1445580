/* Testudo: tables of bytes a word at a time.
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/bytes.h"
#include "code/lanes.h"

size_t tdo_bytes_next(const uint8_t *bytes, size_t at, size_t limit,
                      uint8_t mask) {
  tdo_lanes_t masks = tdo_lanes_all(mask);

  for (; at < limit && at % TDO_LANES != 0; ++at)
    if (bytes[at] & mask)
      return at;
  for (; at + TDO_LANES <= limit; at += TDO_LANES)
    if (tdo_lanes_at(bytes + at) & masks)
      break;
  for (; at < limit; ++at)
    if (bytes[at] & mask)
      return at;
  return limit;
}
