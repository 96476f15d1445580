/* Testudo: walking pools and roots (interface, section 2.23).
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_WALK_H
#define TDO_TRACE_WALK_H

#include "trace/heap.h"

/* Make SCAN hand every reference into the arena, whatever the collector
   thinks of it, to FIX with CLOSURE in scan->closure. */
void tdo_walk_scan_init(tdo_scan_t *scan, mps_arena_t heap, mps_rank_t rank,
                        mps_res_t (*fix)(tdo_scan_t *scan, mps_addr_t *ref_io),
                        void *closure);

/* Call VISIT for every root. The first result that is not OK. */
typedef mps_res_t (*tdo_walk_root_t)(mps_arena_t heap, tdo_root_t *root,
                                     void *closure);
mps_res_t tdo_walk_each_root(mps_arena_t heap, tdo_walk_root_t visit,
                             void *closure);

/* Call AREA for ranges of client pointers that cover every object of POOL,
   FIX1 in it being always false. What it wrote counts as written by the
   mutator. No collection may be in progress. AREA's first result that is not
   OK, else OK. */
mps_res_t tdo_walk_pool(tdo_pool_t *pool, mps_area_scan_t area, void *closure);

/* Call STEP for each object of POOL but forwarding objects. */
typedef void (*tdo_walk_step_t)(void *closure, tdo_pool_t *pool,
                                mps_addr_t ref);
void tdo_walk_objects(tdo_pool_t *pool, tdo_walk_step_t step, void *closure);

/* Call STEP for each reference in a root that leads to an automatic pool. The
   slot is the root's own unless its scanner fixes a copy, or a register's. */
void tdo_walk_roots(mps_arena_t heap, mps_roots_stepper_t step, void *p,
                    size_t s);

#endif /* TDO_TRACE_WALK_H */
