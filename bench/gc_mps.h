/* Testudo: what the parts of the heap over mps.h share.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef bench_gc_mps_h
#define bench_gc_mps_h

#include "gc_api.h"

/* End the program unless the result is MPS_RES_OK. */
void heap_must(mps_res_t res);

/* Make a pool of the heap's objects. */
void heap_pool(mps_pool_t *pool_o, mps_pool_class_t class);

#endif /* bench_gc_mps_h */
