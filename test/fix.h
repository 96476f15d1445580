/* Testudo: fixing one reference, for the formats of the tests.
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

#endif /* TDO_TEST_FIX_H */
