/* Testudo: the tree of a manual pool's extents.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "pool/extents.h"
#include "code/check.h"

/* ---- one node ---- */

static mps_res_t extents_make(tdo_extents_t **node_o, tdo_freelist_t *fl,
                              bool leaf) {
  void *p;
  mps_res_t res = tdo_pool_control_alloc(&p, fl->pool, sizeof **node_o);

  if (res != MPS_RES_OK)
    return res;
  *node_o = memset(p, 0, sizeof **node_o);
  (*node_o)->leaf = leaf;
  return MPS_RES_OK;
}

static void extents_unmake(tdo_freelist_t *fl, tdo_extents_t *node) {
  tdo_pool_control_free(fl->pool, node, sizeof *node);
}

static size_t extents_most(const tdo_extents_t *node) {
  size_t most = 0;

  for (size_t i = 0; i < TDO_PEAKS; ++i)
    most = tdo_max(most, node->reach[i]);
  return most;
}

/* Length of the free run over the border between what A and B sum up. */
static size_t extents_across(const tdo_extents_sum_t *a,
                             const tdo_extents_sum_t *b) {
  return a->limit == b->base && a->suffix > 0 && b->prefix > 0
             ? a->suffix + b->prefix
             : 0;
}

/* SUM, of what comes before, becomes that of both. */
static void extents_join(tdo_extents_sum_t *sum, const tdo_extents_sum_t *b) {
  bool meet = sum->limit == b->base;

  sum->joint = tdo_max(extents_across(sum, b), tdo_max(sum->joint, b->joint));
  if (meet && sum->prefix == (size_t)(sum->limit - sum->base))
    sum->prefix += b->prefix;
  if (meet && b->suffix == (size_t)(b->limit - b->base))
    sum->suffix += b->suffix;
  else
    sum->suffix = b->suffix;
  sum->limit = b->limit;
}

static tdo_extents_sum_t extents_sum(const tdo_extents_t *node) {
  tdo_extents_sum_t sum = node->sum[0];

  for (unsigned i = 1; i < node->count; ++i)
    extents_join(&sum, &node->sum[i]);
  return sum;
}

static bool extents_sum_equal(const tdo_extents_sum_t *a,
                              const tdo_extents_sum_t *b) {
  return a->base == b->base && a->limit == b->limit &&
         a->prefix == b->prefix && a->suffix == b->suffix &&
         a->joint == b->joint;
}

/* The sum of EXTENT, whose longest free run has REACH bytes. */
static tdo_extents_sum_t extents_sum_one(const tdo_freelist_t *fl,
                                         tdo_extent_t *extent, size_t reach) {
  tdo_extents_sum_t sum = {extent->seg.base, extent->seg.limit, 0, 0, 0};
  size_t grain = tdo_space_bytes(fl->space, 1);
  size_t first = (size_t)(sum.base - extent->origin) >> fl->shift;
  size_t limit = (size_t)(sum.limit - extent->origin) >> fl->shift;
  tdo_runs_t *r = &extent->runs;

  if (reach < grain)
    return sum;
  if (tdo_runs_all_free(r, first, first + 1))
    sum.prefix = tdo_round_down((tdo_runs_limit(r, first) - first) << fl->shift,
                                grain);
  if (tdo_runs_all_free(r, limit - 1, limit))
    sum.suffix = tdo_round_down(
        (limit - tdo_runs_start(r, limit - 1)) << fl->shift, grain);
  return sum;
}

/* The entry in SLOT is there now: make .place hold for it. */
static void extents_place(tdo_extents_t *node, unsigned slot) {
  if (node->leaf) {
    node->entry[slot].extent->node = node;
    node->entry[slot].extent->slot = slot;
  } else {
    node->entry[slot].node->parent = node;
    node->entry[slot].node->slot = slot;
  }
}

/* Copy N entries; those at both places count until one is cleared. */
static void extents_copy(tdo_extents_t *to, unsigned slot,
                         const tdo_extents_t *from, unsigned first,
                         unsigned n) {
  memmove(to->peak + slot, from->peak + first, n);
  memmove(to->reach + slot, from->reach + first, n * sizeof *to->reach);
  memmove(to->sum + slot, from->sum + first, n * sizeof *to->sum);
  memmove(to->entry + slot, from->entry + first, n * sizeof *to->entry);
  for (unsigned i = slot; i < slot + n; ++i)
    extents_place(to, i);
}

/* Entries from COUNT on are no more. */
static void extents_cut(tdo_extents_t *node, unsigned count) {
  memset(node->peak + count, 0, node->count - count);
  memset(node->reach + count, 0, (node->count - count) * sizeof *node->reach);
  memset(node->sum + count, 0, (node->count - count) * sizeof *node->sum);
  node->count = count;
}

/* Room for an entry in SLOT, which is the caller's to fill. */
static void extents_open(tdo_extents_t *node, unsigned slot) {
  extents_copy(node, slot + 1, node, slot, node->count - slot);
  ++node->count;
}

static void extents_close(tdo_extents_t *node, unsigned slot) {
  extents_copy(node, slot, node, slot + 1, node->count - slot - 1);
  extents_cut(node, node->count - 1);
}

/* NODE becomes the entry in SLOT of PARENT. */
static void extents_hang(tdo_extents_t *parent, unsigned slot,
                         tdo_extents_t *node) {
  parent->entry[slot].node = node;
  parent->peak[slot] = (uint8_t)tdo_peaks_most(node->peak);
  parent->reach[slot] = extents_most(node);
  parent->sum[slot] = extents_sum(node);
  extents_place(parent, slot);
}

/* ---- one value, and those above it ---- */

/* Read before written, see starts_set. */
static void extents_peak(tdo_extents_t *node, unsigned slot, unsigned peak) {
  for (;;) {
    unsigned others = tdo_peaks_others(node->peak, slot);
    node->peak[slot] = (uint8_t)peak;
    peak = peak > others ? peak : others;
    slot = node->slot;
    node = node->parent;
    if (node == NULL || node->peak[slot] == peak)
      return;
  }
}

/* A reach of NODE changed. */
static void extents_up_reach(tdo_extents_t *node) {
  while (node->parent != NULL) {
    size_t reach = extents_most(node);
    unsigned slot = node->slot;
    node = node->parent;
    if (node->reach[slot] == reach)
      return;
    node->reach[slot] = reach;
  }
}

/* A sum of NODE changed, which most changes of runs are too far from borders
   for. */
static void extents_up_sum(tdo_extents_t *node) {
  while (node->parent != NULL) {
    tdo_extents_sum_t sum = extents_sum(node);
    unsigned slot = node->slot;
    node = node->parent;
    if (extents_sum_equal(&node->sum[slot], &sum))
      return;
    node->sum[slot] = sum;
  }
}

static void extents_up(tdo_extents_t *node) {
  extents_up_reach(node);
  extents_up_sum(node);
}

/* Make the reach and the sum of EXTENT those that its table tells. */
static void extents_look(const tdo_freelist_t *fl, tdo_extent_t *extent) {
  size_t reach = tdo_runs_longest(&extent->runs) << fl->shift;
  tdo_extents_sum_t sum = extents_sum_one(fl, extent, reach);
  tdo_extents_t *node = extent->node;
  unsigned slot = extent->slot;

  if (node->reach[slot] != reach) {
    node->reach[slot] = reach;
    extents_up_reach(node);
  }
  if (!extents_sum_equal(&node->sum[slot], &sum)) {
    node->sum[slot] = sum;
    extents_up_sum(node);
  }
}

/* ---- entering and leaving ---- */

/* A new root above what is there. */
static mps_res_t extents_raise(tdo_freelist_t *fl) {
  tdo_extents_t *root;
  mps_res_t res = extents_make(&root, fl, fl->extents == NULL);

  if (res != MPS_RES_OK)
    return res;
  if (fl->extents != NULL) {
    root->count = 1;
    extents_hang(root, 0, fl->extents);
  }
  fl->extents = root;
  return MPS_RES_OK;
}

/* NODE is full, its parent is not: the upper half of the entries goes to a
   node of its own behind it. */
static mps_res_t extents_split(tdo_freelist_t *fl, tdo_extents_t *node) {
  enum { HALF = TDO_PEAKS / 2 };
  tdo_extents_t *parent = node->parent, *other;
  mps_res_t res = extents_make(&other, fl, node->leaf);

  if (res != MPS_RES_OK)
    return res;
  extents_copy(other, 0, node, HALF, node->count - HALF);
  other->count = node->count - HALF;
  extents_cut(node, HALF);
  extents_open(parent, node->slot + 1);
  extents_hang(parent, node->slot + 1, other);
  extents_hang(parent, node->slot, node);
  return MPS_RES_OK;
}

static tdo_extent_t *extents_first(const tdo_extents_t *node, unsigned slot) {
  for (; !node->leaf; slot = 0)
    node = node->entry[slot].node;
  return node->entry[slot].extent;
}

/* How many entries of NODE begin before EXTENT. */
static unsigned extents_before(const tdo_extents_t *node,
                               const tdo_extent_t *extent) {
  unsigned n = 0;

  while (n < node->count && tdo_extent_before(extents_first(node, n), extent))
    ++n;
  return n;
}

/* Make .depth hold at the root. */
static void extents_lower(tdo_freelist_t *fl) {
  while (!fl->extents->leaf && fl->extents->count == 1) {
    tdo_extents_t *root = fl->extents;
    fl->extents = root->entry[0].node;
    fl->extents->parent = NULL;
    extents_unmake(fl, root);
  }
}

/* The leaf that EXTENT belongs to; there is room in it, for the full ones on
   the way down were split. */
static mps_res_t extents_leaf(tdo_extents_t **leaf_o, tdo_freelist_t *fl,
                              const tdo_extent_t *extent) {
  tdo_extents_t *node = fl->extents;

  while (!node->leaf) {
    unsigned before = extents_before(node, extent);
    tdo_extents_t *below = node->entry[before == 0 ? 0 : before - 1].node;
    if (below->count == TDO_PEAKS) {
      mps_res_t res = extents_split(fl, below);
      if (res != MPS_RES_OK)
        return res;
    } else {
      node = below;
    }
  }
  *leaf_o = node;
  return MPS_RES_OK;
}

mps_res_t tdo_extents_insert(tdo_freelist_t *fl, tdo_extent_t *extent) {
  tdo_extents_t *leaf;
  unsigned slot;
  mps_res_t res = MPS_RES_OK;

  if (fl->extents == NULL || fl->extents->count == TDO_PEAKS)
    res = extents_raise(fl);
  if (res != MPS_RES_OK)
    return res;
  res = extents_leaf(&leaf, fl, extent);
  if (res != MPS_RES_OK) {
    extents_lower(fl);
    return res;
  }
  slot = extents_before(leaf, extent);
  extents_open(leaf, slot);
  leaf->entry[slot].extent = extent;
  extents_place(leaf, slot);
  extents_peak(leaf, slot, tdo_runs_short(&extent->runs));
  extents_look(fl, extent);
  return MPS_RES_OK;
}

/* Empty the list of stale extents. */
static void extents_renew(tdo_freelist_t *fl) {
  while (fl->stale != NULL) {
    tdo_extent_t *extent = fl->stale;
    fl->stale = extent->stale_next;
    extent->stale = false;
    extents_look(fl, extent);
  }
}

void tdo_extents_remove(tdo_freelist_t *fl, tdo_extent_t *extent) {
  tdo_extents_t *node = extent->node;

  extents_renew(fl); /* it is in the list no longer */
  extents_close(node, extent->slot);
  while (node->count == 0) {
    tdo_extents_t *parent = node->parent;
    unsigned slot = node->slot;
    extents_unmake(fl, node);
    if (parent == NULL) {
      fl->extents = NULL;
      return;
    }
    extents_close(parent, slot);
    node = parent;
  }
  extents_peak(node, 0, node->peak[0]);
  extents_up(node);
  extents_lower(fl);
}

/* The extents A and B, of which B follows A, change places. */
static void extents_swap(tdo_extent_t *a, tdo_extent_t *b) {
  tdo_extents_t *m = a->node, *n = b->node;
  unsigned i = a->slot, j = b->slot;
  uint8_t peak = m->peak[i];
  size_t reach = m->reach[i];
  tdo_extents_sum_t sum = m->sum[i];

  extents_copy(m, i, n, j, 1);
  n->reach[j] = reach;
  n->sum[j] = sum;
  n->entry[j].extent = a;
  extents_place(n, j);
  extents_peak(n, j, peak);
  extents_peak(m, i, m->peak[i]);
  extents_up(m);
  extents_up(n);
}

static tdo_extent_t *extents_after(const tdo_extent_t *extent) {
  const tdo_extents_t *node = extent->node;
  unsigned slot = extent->slot;

  while (slot + 1 == node->count) {
    slot = node->slot;
    node = node->parent;
    if (node == NULL)
      return NULL;
  }
  return extents_first(node, slot + 1);
}

void tdo_extents_moved(tdo_freelist_t *fl, tdo_extent_t *extent) {
  tdo_extent_t *after;

  tdo_extents_changed(fl, extent);
  while ((after = extents_after(extent)) != NULL &&
         tdo_extent_before(after, extent))
    extents_swap(extent, after);
}

void tdo_extents_changed(tdo_freelist_t *fl, tdo_extent_t *extent) {
  uint8_t is = (uint8_t)tdo_runs_short(&extent->runs);
  tdo_extents_t *node = extent->node;
  unsigned slot = extent->slot;

  if (!extent->stale) {
    extent->stale = true;
    extent->stale_next = fl->stale;
    fl->stale = extent;
  }
  while (TDO_UNLIKELY(node->peak[slot] < is)) {
    node->peak[slot] = is;
    if (node->parent == NULL)
      return;
    slot = node->slot;
    node = node->parent;
  }
}

/* ---- searches ---- */

tdo_extent_t *tdo_extents_below(const tdo_freelist_t *fl, const char *base) {
  const tdo_extents_t *node = fl->extents;

  while (node != NULL) {
    unsigned n = 0;
    while (n < node->count && extents_first(node, n)->seg.base < base)
      ++n;
    if (n == 0) /* at the root */
      return NULL;
    if (node->leaf)
      return node->entry[n - 1].extent;
    node = node->entry[n - 1].node;
  }
  return NULL;
}

tdo_extent_t *tdo_extents_short(tdo_freelist_t *fl, size_t n, bool highest) {
  for (;;) {
    tdo_extents_t *node = fl->extents;
    tdo_extent_t *extent;
    unsigned slot, from;
    if (node == NULL)
      return NULL;
    for (;;) {
      from = tdo_peaks_from(node->peak, (unsigned)n);
      if (TDO_UNLIKELY(from == 0)) /* at the root, see .peak */
        return NULL;
      slot = highest ? tdo_peaks_last(from) : tdo_peaks_first(from);
      if (node->leaf)
        break;
      node = node->entry[slot].node;
    }
    extent = node->entry[slot].extent;
    if (TDO_LIKELY(tdo_runs_short(&extent->runs) >= n))
      return extent;
    extents_peak(node, slot, tdo_runs_short(&extent->runs));
  }
}

/* The first, or the last, entry with a reach of SIZE bytes; or count. */
static unsigned extents_reaching(const tdo_extents_t *node, size_t size,
                                 bool highest) {
  unsigned found = node->count;

  for (unsigned i = 0; i < node->count; ++i)
    if (node->reach[i] >= size) {
      found = i;
      if (!highest)
        break;
    }
  return found;
}

tdo_extent_t *tdo_extents_long(tdo_freelist_t *fl, size_t size, bool highest) {
  tdo_extents_t *node = fl->extents;

  extents_renew(fl);
  while (node != NULL) {
    unsigned slot = extents_reaching(node, size, highest);
    if (slot == node->count)
      return NULL;
    if (node->leaf)
      return node->entry[slot].extent;
    node = node->entry[slot].node;
  }
  return NULL;
}

size_t tdo_extents_reach(tdo_freelist_t *fl) {
  extents_renew(fl);
  return fl->extents == NULL ? 0 : extents_most(fl->extents);
}

/* The lowest run of SIZE bytes in NODE that is not in one entry alone; or the
   entry that has one, if that lies lower; or neither. */
static char *extents_joint_in(const tdo_extents_t **below_o,
                              const tdo_extents_t *node, size_t size) {
  tdo_extents_sum_t sum = node->sum[0];

  *below_o = NULL;
  for (unsigned i = 0; i < node->count; ++i) {
    const tdo_extents_sum_t *next = &node->sum[i];
    if (i > 0 && extents_across(&sum, next) >= size)
      return sum.limit - sum.suffix;
    if (next->joint >= size) {
      *below_o = node->entry[i].node; /* leaves have none */
      return NULL;
    }
    if (i > 0)
      extents_join(&sum, next);
  }
  return NULL;
}

char *tdo_extents_joint(tdo_freelist_t *fl, size_t size) {
  const tdo_extents_t *node = fl->extents;
  char *found = NULL;

  extents_renew(fl);
  while (found == NULL && node != NULL)
    found = extents_joint_in(&node, node, size);
  return found;
}

/* ---- checks ---- */

static void extents_check_extent(const tdo_freelist_t *fl,
                                 const tdo_extents_t *leaf, unsigned slot) {
  tdo_extent_t *e = leaf->entry[slot].extent;
  tdo_extents_sum_t sum;

  TDO_CHECK(e->node == leaf && e->slot == slot);           /* .place */
  TDO_CHECK(leaf->peak[slot] >= tdo_runs_short(&e->runs)); /* .peak */
  TDO_CHECK(leaf->reach[slot] == tdo_runs_longest(&e->runs)
                                     << fl->shift); /* .reach */
  sum = extents_sum_one(fl, e, leaf->reach[slot]);
  TDO_CHECK(extents_sum_equal(&leaf->sum[slot], &sum)); /* .sum */
}

/* NODE and what is below it; *LAST_IO is the extent before, and becomes its
   last. Returns the height. */
static unsigned extents_check_below(const tdo_freelist_t *fl,
                                    const tdo_extents_t *node,
                                    const tdo_extent_t **last_io) {
  unsigned height = 0;

  TDO_CHECK(node->count > 0 && node->count <= TDO_PEAKS); /* .depth */
  for (unsigned i = 0; i < TDO_PEAKS; ++i) {
    const tdo_extents_t *below = node->entry[i].node;
    tdo_extents_sum_t sum;
    if (i >= node->count) {
      TDO_CHECK(node->peak[i] == 0 && node->reach[i] == 0); /* .place */
    } else if (node->leaf) {
      extents_check_extent(fl, node, i);
      TDO_CHECK(*last_io == NULL ||
                tdo_extent_before(*last_io, node->entry[i].extent));
      *last_io = node->entry[i].extent; /* .order */
    } else {
      unsigned h = extents_check_below(fl, below, last_io) + 1;
      TDO_CHECK(i == 0 || h == height); /* .depth */
      height = h;
      TDO_CHECK(below->parent == node && below->slot == i);    /* .place */
      TDO_CHECK(node->peak[i] == tdo_peaks_most(below->peak)); /* .peak */
      TDO_CHECK(node->reach[i] == extents_most(below));        /* .reach */
      sum = extents_sum(below);
      TDO_CHECK(extents_sum_equal(&node->sum[i], &sum)); /* .sum */
    }
  }
  return height;
}

bool tdo_extents_check(tdo_freelist_t *fl) {
  const tdo_extent_t *last = NULL;

  extents_renew(fl);
  if (fl->extents != NULL) {
    TDO_CHECK(fl->extents->parent == NULL);
    TDO_CHECK(fl->extents->leaf || fl->extents->count > 1); /* .depth */
    (void)extents_check_below(fl, fl->extents, &last);
  }
  return true;
}
