/* Testudo: argument lists. SPDX-License-Identifier: BSD-2-Clause */
#include "code/args.h"
#include "code/check.h"
#include "code/keys.h"

/* The index of the first element whose key is KEY or that ends the list. */
static size_t args_find(const mps_arg_s args[], mps_key_t key) {
  size_t i = 0;
  while (args[i].key != key && args[i].key != MPS_KEY_ARGS_END)
    ++i;
  return i;
}

mps_bool_t tdo_args_check(const mps_arg_s args[]) {
  TDO_ASSERT(args != NULL, "the argument list is null; pass mps_args_none");
  if (args == NULL)
    return 0;
  for (size_t i = 0; args[i].key != MPS_KEY_ARGS_END; ++i) {
    bool ours = i < TDO_ARGS_MOST && tdo_key_known(args[i].key);
    TDO_ASSERT(ours, "an element of the argument list has no key; does the "
                     "list end with MPS_KEY_ARGS_END?");
    if (!ours)
      return 0;
  }
  return 1;
}

mps_bool_t tdo_arg_pick(mps_arg_s *arg_o, mps_arg_s args[], mps_key_t key) {
  TDO_CHECK(tdo_key_known(key));
  if (!tdo_args_check(args))
    return 0;
  size_t i = args_find(args, key);
  if (args[i].key == MPS_KEY_ARGS_END)
    return 0;
  *arg_o = args[i];
  do {
    args[i] = args[i + 1];
    ++i;
  } while (args[i].key != MPS_KEY_ARGS_END);
  return 1;
}

mps_bool_t tdo_arg_require(mps_arg_s *arg_o, mps_arg_s args[], mps_key_t key) {
  bool found = tdo_arg_pick(arg_o, args, key);
  TDO_ASSERT(found, key->missing);
  return found;
}

void _mps_args_full(void) {
  TDO_ASSERT(0, "an argument was added to a list that is full, or closed by "
                "MPS_ARGS_DONE");
}
