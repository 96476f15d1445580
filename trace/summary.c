/* Testudo: what is known of the references in each page.
   SPDX-License-Identifier: BSD-2-Clause */
#include "trace/summary.h"
#include <string.h>
#include "code/bytes.h"
#include "code/check.h"
#include "code/lanes.h"

static size_t summary_block(size_t page) {
  return page / TDO_SUMMARY_BLOCK;
}

size_t tdo_summary_bytes(size_t pages) {
  size_t blocks = (pages + TDO_SUMMARY_BLOCK - 1) / TDO_SUMMARY_BLOCK;

  return blocks * (TDO_SUMMARY_BLOCK + 1);
}

void tdo_summary_init(tdo_summary_t *s, size_t pages, void *memory) {
  s->page = memory;
  s->block = s->page + tdo_round_up(pages, TDO_SUMMARY_BLOCK);
}

/* .block: pages of [FIRST, LIMIT) got BITS. */
static void summary_blocks(tdo_summary_t *s, size_t first, size_t limit,
                           uint8_t bits) {
  if (s->block != NULL && first < limit)
    for (size_t b = summary_block(first); b <= summary_block(limit - 1); ++b)
      s->block[b] |= bits;
}

void tdo_summary_set(tdo_summary_t *s, size_t first, size_t limit,
                     uint8_t bits) {
  memset(s->page + first, bits, limit - first);
  summary_blocks(s, first, limit, bits);
}

void tdo_summary_add(tdo_summary_t *s, size_t first, size_t limit,
                     uint8_t bits) {
  for (size_t p = first; p < limit; ++p)
    s->page[p] |= bits;
  summary_blocks(s, first, limit, bits);
}

void tdo_summary_found(tdo_summary_t *s, size_t first, size_t limit,
                       uint8_t bits) {
  for (size_t p = first; p < limit; ++p)
    s->page[p] = (uint8_t)((s->page[p] & TDO_DIRTY) | bits);
  summary_blocks(s, first, limit, bits);
}

void tdo_summary_clean(tdo_summary_t *s, size_t first, size_t limit) {
  for (size_t p = first; p < limit; ++p)
    s->page[p] &= (uint8_t)~TDO_DIRTY;
}

/* Make the byte of block B exact. */
static void summary_renew(tdo_summary_t *s, size_t b) {
  tdo_lanes_t bits = 0;

  for (size_t i = 0; i < TDO_SUMMARY_BLOCK; i += TDO_LANES)
    bits |= tdo_lanes_at(s->page + b * TDO_SUMMARY_BLOCK + i);
  bits |= bits >> 32;
  bits |= bits >> 16;
  s->block[b] = (uint8_t)(bits | bits >> 8);
}

size_t tdo_summary_next(tdo_summary_t *s, size_t p, size_t limit,
                        uint8_t mask) {
  if (s->block == NULL)
    return tdo_bytes_next(s->page, p, limit, mask);
  while (p < limit) {
    size_t b = tdo_bytes_next(s->block, summary_block(p),
                              summary_block(limit - 1) + 1, mask);
    size_t first = b * TDO_SUMMARY_BLOCK, found, end;
    p = tdo_max(p, first);
    if (p >= limit)
      break;
    end = tdo_min(limit, first + TDO_SUMMARY_BLOCK);
    found = tdo_bytes_next(s->page, p, end, mask);
    if (found < end)
      return found;
    if (p == first)
      summary_renew(s, b);
    p = end;
  }
  return limit;
}

void tdo_summary_touch(const tdo_summary_t *s, size_t p, size_t limit,
                       uint8_t mask, size_t blocks) {
  size_t end = summary_block(limit + TDO_SUMMARY_BLOCK - 1);

  if (s->block == NULL)
    return;
  for (size_t b = summary_block(p); blocks > 0; ++b, --blocks) {
    b = tdo_bytes_next(s->block, b, end, mask);
    if (b >= end)
      return;
    TDO_TOUCH(s->page[b * TDO_SUMMARY_BLOCK]);
  }
}

size_t tdo_summary_run(const tdo_summary_t *s, size_t p, size_t limit,
                       uint8_t mask) {
  while (p < limit && (s->page[p] & mask))
    ++p;
  return p;
}

size_t tdo_summary_dirty(tdo_summary_t *s, size_t limit) {
  const tdo_lanes_t dirty = tdo_lanes_all(TDO_DIRTY);
  size_t p = 0, count = 0;

  while ((p = tdo_summary_next(s, p, limit, TDO_DIRTY)) < limit) {
    size_t end = tdo_min(limit, tdo_round_up(p + 1, TDO_SUMMARY_BLOCK));
    for (; p + TDO_LANES <= end; p += TDO_LANES)
      count += tdo_lanes_count((tdo_lanes_at(s->page + p) & dirty) >> 7);
    for (; p < end; ++p)
      count += (s->page[p] & TDO_DIRTY) != 0;
  }
  return count;
}

bool tdo_summary_check(const tdo_summary_t *s, size_t limit) {
  if (s->block != NULL)
    for (size_t p = 0; p < limit; ++p)
      TDO_CHECK((s->page[p] & ~s->block[summary_block(p)]) == 0);
  return true;
}
