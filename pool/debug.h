/* Testudo: what debug pools write over free memory and around blocks, and how
   they look whether it is still there (interface, section 2.25).
   SPDX-License-Identifier: BSD-2-Clause

   A template is repeated over all addresses: the byte at address A is byte
   A mod size of it, so that areas can be cut and joined. */
#ifndef TDO_POOL_DEBUG_H
#define TDO_POOL_DEBUG_H

#include "trace/pool.h"

typedef struct tdo_template {
  char *bytes; /* our copy */
  size_t size; /* 0: nothing is written or checked */
} tdo_template_t;

typedef struct tdo_debug {
  tdo_template_t fence, free;
  size_t fence_bytes; /* of one fencepost: aligned */
} tdo_debug_t;

/* Take MPS_KEY_POOL_DEBUG_OPTIONS and copy the templates. The pool's
   alignment is set. Memory codes. */
mps_res_t tdo_debug_init(tdo_debug_t *debug, tdo_pool_t *pool,
                         mps_arg_s args[]);
void tdo_debug_finish(tdo_debug_t *debug, tdo_pool_t *pool);

/* Write the template over [BASE, LIMIT). */
void tdo_template_fill(const tdo_template_t *t, char *base, char *limit);
/* Does [BASE, LIMIT) show the template? */
bool tdo_template_shown(const tdo_template_t *t, const char *base,
                        const char *limit);

#endif /* TDO_POOL_DEBUG_H */
