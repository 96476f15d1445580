/* Testudo: the greatest of sixteen bytes, and which of them are at least so
   great: one step of a search in a tree of maxima.
   SPDX-License-Identifier: BSD-2-Clause

   Bytes are below 128. */
#ifndef TDO_POOL_PEAKS_H
#define TDO_POOL_PEAKS_H

#include "code/base.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#else
#include "code/lanes.h"
#endif

#define TDO_PEAKS ((size_t)16)

#if defined(__SSE2__)

/* Bit I is set if byte I is at least N. */
static inline unsigned tdo_peaks_from(const uint8_t *p, unsigned n) {
  __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);

  return (unsigned)_mm_movemask_epi8(
      _mm_cmpgt_epi8(v, _mm_set1_epi8((char)(n - 1))));
}

static inline unsigned tdo_peaks_of(__m128i v) {
  v = _mm_max_epu8(v, _mm_srli_si128(v, 8));
  v = _mm_max_epu8(v, _mm_srli_si128(v, 4));
  v = _mm_max_epu8(v, _mm_srli_si128(v, 2));
  v = _mm_max_epu8(v, _mm_srli_si128(v, 1));
  return (unsigned)_mm_cvtsi128_si32(v) & 0x7f;
}

static inline unsigned tdo_peaks_most(const uint8_t *p) {
  return tdo_peaks_of(_mm_loadu_si128((const __m128i *)(const void *)p));
}

/* The greatest of the others than byte I. */
static inline unsigned tdo_peaks_others(const uint8_t *p, size_t i) {
  __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
  __m128i at = _mm_set_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1,
                            0);

  at = _mm_cmpeq_epi8(at, _mm_set1_epi8((char)i));
  return tdo_peaks_of(_mm_andnot_si128(at, v));
}

#else

#define TDO_PEAKS_TOPS tdo_lanes_all(0x80)

static inline tdo_lanes_t tdo_peaks_tops(tdo_lanes_t v, tdo_lanes_t w) {
  return ((v | TDO_PEAKS_TOPS) - w) & TDO_PEAKS_TOPS;
}

/* Bit I is set if byte I is at least N. */
static inline unsigned tdo_peaks_from(const uint8_t *p, unsigned n) {
  tdo_lanes_t all = tdo_lanes_all(n);
  tdo_lanes_t low = tdo_peaks_tops(tdo_lanes_load(p, 0), all) >> 7;
  tdo_lanes_t high = tdo_peaks_tops(tdo_lanes_load(p, 1), all) >> 7;

  return tdo_lanes_gather(low) | tdo_lanes_gather(high) << 8;
}

/* Byte by byte, the greater one. */
static inline tdo_lanes_t tdo_peaks_greater(tdo_lanes_t v, tdo_lanes_t w) {
  tdo_lanes_t top = tdo_peaks_tops(v, w), mask = (top - (top >> 7)) | top;

  return (v & mask) | (w & ~mask);
}

static inline unsigned tdo_peaks_of(tdo_lanes_t v, tdo_lanes_t w) {
  v = tdo_peaks_greater(v, w);
  v = tdo_peaks_greater(v, v >> 32);
  v = tdo_peaks_greater(v, v >> 16);
  return (unsigned)(tdo_peaks_greater(v, v >> 8) & 0x7f);
}

static inline unsigned tdo_peaks_most(const uint8_t *p) {
  return tdo_peaks_of(tdo_lanes_load(p, 0), tdo_lanes_load(p, 1));
}

/* The greatest of the others than byte I. */
static inline unsigned tdo_peaks_others(const uint8_t *p, size_t i) {
  tdo_lanes_t low = tdo_lanes_load(p, 0), high = tdo_lanes_load(p, 1);
  tdo_lanes_t gone = (tdo_lanes_t)0xFF << i % TDO_LANES * 8;

  if (i < TDO_LANES)
    low &= ~gone;
  else
    high &= ~gone;
  return tdo_peaks_of(low, high);
}

#endif

static inline unsigned tdo_peaks_first(unsigned from) {
  return (unsigned)__builtin_ctz(from);
}

static inline unsigned tdo_peaks_last(unsigned from) {
  return 31 - (unsigned)__builtin_clz(from);
}

#endif /* TDO_POOL_PEAKS_H */
