/* Testudo: fixing one reference, or a pair, for the formats of the tests.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_FIX_H
#define TDO_TEST_FIX_H

#include "mps.h"

/* The word at SLOT, from a function that a scan method calls. */
static inline mps_res_t fix_word(mps_ss_t ss, mps_word_t *slot) {
  mps_addr_t ref = (mps_addr_t)*slot;
  mps_res_t res;
  MPS_SCAN_BEGIN(ss) {
    res = MPS_FIX12(ss, &ref);
  }
  MPS_SCAN_END(ss);
  *slot = (mps_word_t)ref;
  return res;
}

/* The key and value at SLOT, of the object at BASE, of which the key keeps the
   value (FORM 0), either keeps the other (1), or neither does (2). */
static inline mps_res_t fix_pair(mps_ss_t ss, unsigned form, void *base,
                                 mps_word_t *slot) {
  mps_addr_t key = (mps_addr_t)slot[0], value = (mps_addr_t)slot[1];
  mps_res_t res = form == 0   ? mps_fix_weak_pair(ss, base, &key, &value)
                  : form == 1 ? mps_fix_weak_or_pair(ss, base, &key, &value)
                              : mps_fix_weak_and_pair(ss, base, &key, &value);
  slot[0] = (mps_word_t)key;
  slot[1] = (mps_word_t)value;
  return res;
}

#endif /* TDO_TEST_FIX_H */
