/* Testudo: argument lists, from the side of the functions that get them.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_ARGS_H
#define TDO_CODE_ARGS_H

#include "code/base.h"

/* A list that goes on for so long has no end. */
#define TDO_ARGS_MOST ((size_t)256)

/* tdo_arg_listed: ARGS is an array, each element before its end has a key
   that is one of ours, and the end is there, TDO_ARGS_MOST elements on at
   most. */

/* Check tdo_arg_listed; on failure (a client bug) false, if the assertion
   handler returns. Every function with a list calls this once on entry,
   whether or not it knows any key. No locks; the list is the caller's. */
mps_bool_t tdo_args_check(const mps_arg_s args[]);

/* If KEY is in the list, remove its first occurrence, move the elements
   behind it (the end included) down by one, copy it to *arg_o and give true;
   else change neither and give false. Writes to a list only when it holds
   KEY, so any number of threads may share mps_args_none. */
mps_bool_t tdo_arg_pick(mps_arg_s *arg_o, mps_arg_s args[], mps_key_t key);

/* The same for a key that must be there: its absence is a client bug. If the
   handler returns then the result is false, and the caller gives up with
   MPS_RES_PARAM. */
mps_bool_t tdo_arg_require(mps_arg_s *arg_o, mps_arg_s args[], mps_key_t key);

#endif /* TDO_CODE_ARGS_H */
