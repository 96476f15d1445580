/* Testudo: the keys of argument lists. SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_KEYS_H
#define TDO_CODE_KEYS_H

#include "code/base.h"

#define TDO_SIG_KEY ((tdo_sig_t)0x5160CE11)

/* A key. Keys are constants and compare by address. */
struct mps_key_s {
  tdo_sig_t sig;
  const char *name;    /* as clients write it */
  const char *missing; /* the sentence for a client who left it out */
};

/* Is KEY one of ours, other than the end? It may be any word. */
bool tdo_key_known(mps_key_t key);

#endif /* TDO_CODE_KEYS_H */
