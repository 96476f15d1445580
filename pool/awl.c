/* Testudo: automatic pools of objects whose references may be weak, and which
   may have a dependent object, AWL (interface, section 4.5).
   SPDX-License-Identifier: BSD-2-Clause

   A segment holds objects of one rank. Those of weak rank are scanned last,
   by trace/. What a scan method writes to a dependent object is not scanned
   on the way, so that the segment of a dependent is *unsteady*: always
   dirty.

   The third class, for tables of pairs (section 11, item 2), has blocks of
   ephemeron rank, too: see trace/ephemeron.h for their scans. */
#include "code/args.h"
#include "code/check.h"
#include "mpscawl.h"
#include "pool/nonmoving.h"

#define AWL_RANKS  ((1u << TDO_RANK_EXACT) | (1u << TDO_RANK_WEAK))
#define AEPH_RANKS (AWL_RANKS | (1u << TDO_RANK_EPHEMERON))

typedef struct awl_pool {
  tdo_nm_pool_t nm;                        /* first */
  mps_awl_find_dependent_t find_dependent; /* null: there are none */
} awl_pool_t;

static void awl_varargs(mps_arg_s args[], va_list list) {
  args[0].key = MPS_KEY_FORMAT;
  args[0].val.format = va_arg(list, mps_fmt_t);
  args[1].key = MPS_KEY_AWL_FIND_DEPENDENT;
  args[1].val.addr_method = va_arg(list, mps_awl_find_dependent_t);
  args[2].key = MPS_KEY_ARGS_END;
}

/* What the collector needs of the dependent object at DEP: its pages open
   and dirty. */
typedef struct awl_open {
  tdo_gcseg_t *seg; /* null: nothing to do */
  char *base, *limit;
} awl_open_t;

static awl_open_t awl_open(tdo_nm_pool_t *nm, mps_addr_t dep) {
  tdo_gcseg_t *seg = tdo_gcseg_of(tdo_pool_space(&nm->pool), dep);
  awl_open_t open = {NULL, NULL, NULL};

  if (seg == NULL || seg->leaf)
    return open;
  if (!seg->unsteady) {
    seg->unsteady = true;
    tdo_gcseg_dirty(seg, seg->seg.base, seg->seg.limit);
  }
  open.seg = seg;
  if (seg->pool->klass->fill != tdo_nm_fill ||
      !tdo_nm_block(&open.base, &open.limit, tdo_nm_seg_of(seg), dep)) {
    open.base = seg->seg.base;
    open.limit = seg->seg.limit;
  }
  tdo_gcseg_expose(seg, open.base, open.limit);
  return open;
}

static mps_res_t awl_scan_objects(tdo_nm_pool_t *nm, tdo_scan_t *scan,
                                  char *base, char *limit) {
  awl_pool_t *awl = (awl_pool_t *)(void *)nm;
  const tdo_format_t *fmt = nm->pool.format;

  while (base < limit) {
    char *next = tdo_format_next(fmt, base);
    awl_open_t open = awl_open(nm, awl->find_dependent(base + fmt->header));
    mps_res_t res = tdo_scan_formatted(scan, &nm->pool, base, next);
    if (open.seg != NULL)
      tdo_gcseg_cover(open.seg, open.base, open.limit);
    if (res != MPS_RES_OK)
      return res;
    base = next;
  }
  return MPS_RES_OK;
}

static mps_res_t awl_init(tdo_pool_t *pool, mps_arg_s args[]) {
  awl_pool_t *awl = (awl_pool_t *)(void *)pool;
  mps_res_t res = tdo_nm_init(&awl->nm, args);
  mps_arg_s arg;

  if (res != MPS_RES_OK)
    return res;
  if (tdo_arg_pick(&arg, args, MPS_KEY_AWL_FIND_DEPENDENT))
    awl->find_dependent = arg.val.addr_method;
  if (awl->find_dependent != NULL)
    awl->nm.scan_objects = awl_scan_objects;
  return MPS_RES_OK;
}

static mps_res_t awl_ap_init(tdo_ap_t *ap, mps_arg_s args[]) {
  return tdo_nm_ap_init(ap, args, AWL_RANKS);
}

static mps_res_t aeph_ap_init(tdo_ap_t *ap, mps_arg_s args[]) {
  return tdo_nm_ap_init(ap, args, AEPH_RANKS);
}

/* All but the first scan of pairs is of every block that lives. */
static mps_res_t aeph_scan(tdo_pool_t *pool, tdo_scan_t *scan,
                           tdo_gcseg_t *gc) {
  mps_res_t res = MPS_RES_OK;

  if (gc->rank == TDO_RANK_EPHEMERON && scan->rank != TDO_RANK_EPHEMERON &&
      gc->white)
    res = tdo_nm_scan_all(tdo_nm_of(pool), scan, tdo_nm_seg_of(gc));
  return res == MPS_RES_OK ? tdo_nm_scan(pool, scan, gc) : res;
}

#define AWL_METHODS                                                           \
  .sig = TDO_POOL_CLASS_SIG, .size = sizeof(awl_pool_t), .automatic = true,   \
  .scanned = true, .varargs = awl_varargs, .init = awl_init,                  \
  .finish = tdo_nm_finish, .ap_varargs = tdo_nm_ap_varargs,                   \
  .fill = tdo_nm_fill, .empty = tdo_nm_empty, .bare = tdo_nm_bare,            \
  .whiten = tdo_nm_whiten, .whole = tdo_nm_whole, .fetch = tdo_nm_fetch,      \
  .fix = tdo_nm_fix, .alive = tdo_nm_alive, .widen = tdo_nm_widen,            \
  .scan_range = tdo_nm_scan_range, .reclaim = tdo_nm_reclaim,                 \
  .walk = tdo_nm_walk

static const tdo_pool_class_t awl_class = {
    AWL_METHODS,
    .name = "AWL",
    .ap_init = awl_ap_init,
    .scan = tdo_nm_scan,
};

/* The same: no access to a protected block is ever emulated. */
static const tdo_pool_class_t awl0_class = {
    AWL_METHODS,
    .name = "AWL0",
    .ap_init = awl_ap_init,
    .scan = tdo_nm_scan,
};

static const tdo_pool_class_t aeph_class = {
    AWL_METHODS,
    .name = "AEPH",
    .ap_init = aeph_ap_init,
    .scan = aeph_scan,
};

mps_pool_class_t mps_class_awl(void) {
  return (mps_pool_class_t)&awl_class;
}

mps_pool_class_t mps_class_awl0(void) {
  return (mps_pool_class_t)&awl0_class;
}

mps_pool_class_t mps_class_aeph(void) {
  return (mps_pool_class_t)&aeph_class;
}
