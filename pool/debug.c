/* Testudo: templates of debug pools. SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "pool/debug.h"
#include "code/args.h"
#include "code/check.h"

static const mps_pool_debug_option_s debug_default = {"POST", 4, "FREE", 4};

const mps_pool_debug_option_s *tdo_debug_options(mps_arg_s args[]) {
  const mps_pool_debug_option_s *option = &debug_default;
  mps_arg_s arg;
  bool good;

  if (tdo_arg_pick(&arg, args, MPS_KEY_POOL_DEBUG_OPTIONS))
    option = arg.val.pool_debug_options;
  good = option != NULL &&
         (option->fence_size == 0 || option->fence_template != NULL) &&
         (option->free_size == 0 || option->free_template != NULL);
  TDO_ASSERT(good, "the options of a debug pool, or a template, are missing");
  return good ? option : NULL;
}

mps_res_t tdo_template_init(tdo_template_t *t, tdo_pool_t *pool,
                            const void *bytes, size_t size) {
  void *p = NULL;
  mps_res_t res;

  if (size > 0) {
    res = tdo_pool_control_alloc(&p, pool, size);
    if (res != MPS_RES_OK)
      return res;
    memcpy(p, bytes, size);
  }
  t->bytes = p;
  t->size = size;
  return MPS_RES_OK;
}

void tdo_template_finish(tdo_template_t *t, tdo_pool_t *pool) {
  if (t->size > 0)
    tdo_pool_control_free(pool, t->bytes, t->size);
  t->size = 0;
}

/* Bytes from BASE that one period of the template takes, if it fits. */
static size_t debug_template_period(const tdo_template_t *t, size_t size) {
  return tdo_min(t->size, size);
}

void tdo_template_fill(const tdo_template_t *t, char *base, char *limit) {
  size_t size = (size_t)(limit - base), done = debug_template_period(t, size);

  for (size_t i = 0; i < done; ++i)
    base[i] = t->bytes[((tdo_word_t)base + i) % t->size];
  while (done > 0 && done < size) {
    size_t part = tdo_min(done, size - done);
    memcpy(base + done, base, part);
    done += part;
  }
}

bool tdo_template_shown(const tdo_template_t *t, const char *base,
                        const char *limit) {
  size_t size = (size_t)(limit - base),
         period = debug_template_period(t, size);

  for (size_t i = 0; i < period; ++i)
    if (base[i] != t->bytes[((tdo_word_t)base + i) % t->size])
      return false;
  return period == 0 || memcmp(base, base + period, size - period) == 0;
}
