/* Testudo: automatic pools of leaf objects, LO (interface, section 4.4): not
   moved, not scanned, never protected.
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/args.h"
#include "mpsclo.h"
#include "pool/nonmoving.h"

static void lo_varargs(mps_arg_s args[], va_list list) {
  args[0].key = MPS_KEY_FORMAT;
  args[0].val.format = va_arg(list, mps_fmt_t);
  args[1].key = MPS_KEY_ARGS_END;
}

static mps_res_t lo_init(tdo_pool_t *pool, mps_arg_s args[]) {
  return tdo_nm_init(tdo_nm_of(pool), args);
}

/* Takes no keys; positional arguments of others are ignored. */
static mps_res_t lo_ap_init(tdo_ap_t *ap, mps_arg_s args[]) {
  mps_arg_s none[] = {{MPS_KEY_ARGS_END, {0}}};

  (void)args;
  return tdo_nm_ap_init(ap, none, 0);
}

static const tdo_pool_class_t lo_class = {
    .sig = TDO_POOL_CLASS_SIG,
    .name = "LO",
    .size = sizeof(tdo_nm_pool_t),
    .automatic = true,
    .varargs = lo_varargs,
    .init = lo_init,
    .finish = tdo_nm_finish,
    .ap_init = lo_ap_init,
    .fill = tdo_nm_fill,
    .empty = tdo_nm_empty,
    .bare = tdo_nm_bare,
    .whiten = tdo_nm_whiten,
    .fix = tdo_nm_fix,
    .whole = tdo_nm_whole,
    .fetch = tdo_nm_fetch,
    .alive = tdo_nm_alive,
    .reclaim = tdo_nm_reclaim,
    .walk = tdo_nm_walk,
};

mps_pool_class_t mps_class_lo(void) {
  return (mps_pool_class_t)&lo_class;
}
