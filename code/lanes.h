/* Testudo: byte tables looked at eight bytes at a time. A *group* is eight
   neighbouring bytes, aligned; each byte of it is a *lane* of one word, the
   lowest index in the lowest bits whatever the machine's byte order.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_LANES_H
#define TDO_CODE_LANES_H

#include <string.h>
#include "code/base.h"

typedef uint64_t tdo_lanes_t;

#define TDO_LANES ((size_t)8)

/* BYTE in every lane. */
static inline tdo_lanes_t tdo_lanes_all(unsigned byte) {
  return (tdo_lanes_t)0x0101010101010101 * byte;
}

static inline tdo_lanes_t tdo_lanes_order(tdo_lanes_t v) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return __builtin_bswap64(v);
#else
  return v;
#endif
}

/* The eight bytes at P, wherever that is; those of a group. */
static inline tdo_lanes_t tdo_lanes_at(const uint8_t *p) {
  tdo_lanes_t v;
  memcpy(&v, p, sizeof v);
  return tdo_lanes_order(v);
}

static inline tdo_lanes_t tdo_lanes_load(const uint8_t *table, size_t group) {
  return tdo_lanes_at(table + group * TDO_LANES);
}

static inline void tdo_lanes_store(uint8_t *table, size_t group,
                                   tdo_lanes_t v) {
  v = tdo_lanes_order(v);
  memcpy(table + group * TDO_LANES, &v, sizeof v);
}

/* 0xFF in the lanes of GROUP that belong to [FIRST, LIMIT), which meets the
   group; 0 in the others. */
static inline tdo_lanes_t tdo_lanes_mask(size_t group, size_t first,
                                         size_t limit) {
  size_t base = group * TDO_LANES;
  tdo_lanes_t mask = ~(tdo_lanes_t)0;
  if (first > base)
    mask &= ~(tdo_lanes_t)0 << (first - base) * 8;
  if (limit < base + TDO_LANES)
    mask &= ~(tdo_lanes_t)0 >> (base + TDO_LANES - limit) * 8;
  return mask;
}

/* 1 in each lane that is not zero. */
static inline tdo_lanes_t tdo_lanes_nonzero(tdo_lanes_t v) {
  tdo_lanes_t low = tdo_lanes_all(0x7F);
  return ((((v & low) + low) | v) >> 7) & tdo_lanes_all(1);
}

/* The eight lanes, each 0 or 1, as eight bits. */
static inline unsigned tdo_lanes_gather(tdo_lanes_t ones) {
  return (unsigned)((ones * (tdo_lanes_t)0x0102040810204080) >> 56);
}

/* How many of the eight lanes, each 0 or 1, are 1. */
static inline size_t tdo_lanes_count(tdo_lanes_t ones) {
  return (size_t)(ones * tdo_lanes_all(1) >> 56);
}

/* Number of the lowest lane that is not zero; V is not zero. */
static inline size_t tdo_lanes_first(tdo_lanes_t v) {
  return (size_t)__builtin_ctzll(v) / 8;
}

/* Visit the groups that meet [FIRST, LIMIT), not empty. */
#define TDO_LANES_FOR(group, first, limit)                                    \
  for (size_t group = (first) / TDO_LANES; group <= ((limit)-1) / TDO_LANES;  \
       ++group)

#endif /* TDO_CODE_LANES_H */
