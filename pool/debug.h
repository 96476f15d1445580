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

/* Take MPS_KEY_POOL_DEBUG_OPTIONS; without it, what is usual. Null if something
   is missing there, which is reported as a client bug. */
const mps_pool_debug_option_s *tdo_debug_options(mps_arg_s args[]);

/* Copy SIZE BYTES. Memory codes. */
mps_res_t tdo_template_init(tdo_template_t *t, tdo_pool_t *pool,
                            const void *bytes, size_t size);
void tdo_template_finish(tdo_template_t *t, tdo_pool_t *pool);

/* Write the template over [BASE, LIMIT). */
void tdo_template_fill(const tdo_template_t *t, char *base, char *limit);
/* Does [BASE, LIMIT) show the template? */
bool tdo_template_shown(const tdo_template_t *t, const char *base,
                        const char *limit);

#endif /* TDO_POOL_DEBUG_H */
