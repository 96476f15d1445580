/* Testudo: what the two files of non-moving pools share.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_POOL_NONMOVING_INTERNAL_H
#define TDO_POOL_NONMOVING_INTERNAL_H

#include "pool/nonmoving.h"

/* The unit of address P in SEG, and where unit I begins (the last ends). */
static inline size_t tdo_nm_unit(const tdo_nm_seg_t *seg, const char *p) {
  return (size_t)(p - seg->gc.seg.base) >> seg->shift;
}

static inline char *tdo_nm_addr(const tdo_nm_seg_t *seg, size_t i) {
  return i >= seg->units ? seg->top : seg->gc.seg.base + (i << seg->shift);
}

/* One past the last unit of the block that starts at unit I (.starts). */
static inline size_t tdo_nm_block_end(const tdo_nm_seg_t *seg, size_t i) {
  size_t limit = seg->units, known, next = i + 1;
  tdo_bits_t ends;

  if (TDO_LIKELY(seg->gc.ap == NULL && next < limit)) {
    ends = (seg->starts[next / TDO_WORD_BITS] |
            ~seg->used[next / TDO_WORD_BITS]) >> next % TDO_WORD_BITS;
    if (TDO_LIKELY(ends != 0))
      return tdo_min(next + (size_t)__builtin_ctzl(ends), limit);
  }
  if (seg->gc.ap != NULL && seg->units > 1) {
    known = tdo_nm_unit(seg, seg->known);
    if (i < known)
      limit = known;
  }
  limit = tdo_bits_next_set(seg->starts, i + 1, limit);
  return tdo_bits_next_clear(seg->used, i + 1, limit);
}

/* Words of `greys` for UNITS. */
static inline size_t tdo_nm_grey_words(size_t units) {
  return tdo_bits_words((units + 1) / 2);
}

/* The first unit of [I, LIMIT) that is neither a block's nor the buffer's, or
   LIMIT (.used). */
static inline size_t tdo_nm_next_free(const tdo_nm_seg_t *seg, size_t i,
                                      size_t limit) {
  i = tdo_bits_next_clear(seg->used, i, limit);
  while (i < limit && tdo_bits_get(seg->starts, i))
    i = tdo_bits_next_clear(seg->used, i + 1, limit);
  return i;
}

/* Is unit I of a white segment the start of a block that is known to survive
   (.marks)? */
static inline bool tdo_nm_marked(const tdo_nm_seg_t *seg, size_t i) {
  return tdo_bits_get(seg->starts, i) && tdo_bits_get(seg->used, i);
}

/* The first such unit from I on, or seg->units. */
static inline size_t tdo_nm_next_marked(const tdo_nm_seg_t *seg, size_t i) {
  i = tdo_bits_next_set(seg->starts, i, seg->units);
  while (i < seg->units && !tdo_bits_get(seg->used, i))
    i = tdo_bits_next_set(seg->starts, i + 1, seg->units);
  return i;
}

/* Free SEG, whatever is in it. */
void tdo_nm_seg_free(tdo_nm_seg_t *seg);
/* Objects up to TO, in the buffer, become blocks: white, if it is not yet
   known that SEG is white, and black after. */
void tdo_nm_absorb(tdo_nm_seg_t *seg, char *to);
/* SEG may have free units that points can use: keep .room. */
void tdo_nm_give_room(tdo_nm_seg_t *seg);

#endif /* TDO_POOL_NONMOVING_INTERNAL_H */
