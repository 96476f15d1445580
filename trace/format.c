/* Testudo: object formats.
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/check.h"
#include "trace/heap.h"

/* Stand-ins for methods that the client did not give. */
static mps_res_t format_no_scan(mps_ss_t ss, mps_addr_t base,
                                mps_addr_t limit) {
  (void)ss, (void)base, (void)limit;
  TDO_CHECK_ALWAYS(false, "this pool needs a format with a scan method");
  return MPS_RES_OK;
}

/* Goes on, so that who skips objects gets to the end. */
static mps_addr_t format_no_skip(mps_addr_t p) {
  TDO_CHECK_ALWAYS(false, "this pool needs a format with a skip method");
  return (char *)p + sizeof(tdo_word_t);
}

static void format_no_fwd(mps_addr_t old, mps_addr_t new) {
  (void)old, (void)new;
  TDO_CHECK_ALWAYS(false, "this pool needs a format with a fwd method");
}

static mps_addr_t format_no_isfwd(mps_addr_t p) {
  (void)p;
  TDO_CHECK_ALWAYS(false, "this pool needs a format with an isfwd method");
  return NULL;
}

static void format_no_pad(mps_addr_t base, size_t size) {
  (void)base, (void)size;
  TDO_CHECK_ALWAYS(false, "this pool needs a format with a pad method");
}

bool tdo_format_skips(const tdo_format_t *fmt) {
  return fmt->skip != format_no_skip;
}

char *tdo_format_stuck(const tdo_format_t *fmt, char *p) {
  TDO_ASSERT(false, "a skip method does not go forward: an object has size 0, "
                    "was never written, or follows one whose size is not "
                    "what was reserved");
  return p + fmt->align;
}

bool tdo_format_check(const tdo_format_t *fmt) {
  TDO_CHECK(fmt != NULL && fmt->sig == TDO_FORMAT_SIG);
  TDO_CHECK(tdo_is_pow2(fmt->align));
  return true;
}

mps_res_t tdo_format_create(tdo_format_t **fmt_o, mps_arena_t heap,
                            const tdo_format_t *methods) {
  tdo_format_t *fmt;
  void *p;
  mps_res_t res;

  TDO_ASSERT(tdo_is_pow2(methods->align),
             "a format's alignment must be a power of two");
  if (!tdo_is_pow2(methods->align))
    return MPS_RES_PARAM;
  res = tdo_control_alloc(&p, &heap->control, sizeof *fmt);
  if (res != MPS_RES_OK)
    return res;
  fmt = p;
  *fmt = *methods;
  fmt->heap = heap;
  fmt->pools = 0;
  if (fmt->scan == NULL)
    fmt->scan = format_no_scan;
  if (fmt->skip == NULL)
    fmt->skip = format_no_skip;
  if (fmt->fwd == NULL)
    fmt->fwd = format_no_fwd;
  if (fmt->isfwd == NULL)
    fmt->isfwd = format_no_isfwd;
  if (fmt->pad == NULL)
    fmt->pad = format_no_pad;
  tdo_ring_init(&fmt->heap_ring);
  tdo_ring_append(&heap->formats, &fmt->heap_ring);
  fmt->sig = TDO_FORMAT_SIG;
  *fmt_o = fmt;
  return MPS_RES_OK;
}

void tdo_format_destroy(tdo_format_t *fmt) {
  TDO_ASSERT(fmt->pools == 0, "a format in use by a pool was destroyed");
  if (fmt->pools > 0)
    return;
  tdo_ring_remove(&fmt->heap_ring);
  fmt->sig = TDO_SIG_DEAD;
  tdo_control_free(&fmt->heap->control, fmt, sizeof *fmt);
}
