/* Testudo: what the library offers beyond the common interface.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef testudo_h
#define testudo_h

#include <stdio.h>
#include "mps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Write a description of the arena, for people, to the stream. Locked: any
   thread may call it, but no callback of the same arena. */
void tdo_arena_describe(mps_arena_t arena, FILE *stream);

#ifdef __cplusplus
}
#endif

#endif /* testudo_h */
