/* Testudo: the balanced tree of a manual pool's extents.
   SPDX-License-Identifier: BSD-2-Clause */
#include "pool/extents.h"
#include "code/check.h"

static int extents_height(const tdo_extent_t *e) {
  return e == NULL ? 0 : e->height;
}

static size_t extents_true_reach(const tdo_extent_t *e) {
  return tdo_max(e->longest, tdo_max(tdo_extent_reach(e->child[0]),
                                     tdo_extent_reach(e->child[1])));
}

static unsigned extents_true_short(const tdo_extent_t *e) {
  unsigned a = tdo_extent_short(e->child[0]);
  unsigned b = tdo_extent_short(e->child[1]), most = a > b ? a : b;

  return e->short_own > most ? e->short_own : most;
}

/* Height and both reaches from the children. */
static void extents_settle_one(tdo_extent_t *e) {
  int a = extents_height(e->child[0]), b = extents_height(e->child[1]);

  e->height = 1 + (a > b ? a : b);
  e->reach = extents_true_reach(e);
  e->reach_short = extents_true_short(e);
}

/* The link that points at E. */
static tdo_extent_t **extents_link(tdo_freelist_t *fl, tdo_extent_t *e) {
  if (e->parent == NULL)
    return &fl->root;
  return &e->parent->child[e->parent->child[1] == e];
}

/* The child of E on SIDE takes E's place; E becomes its other child. */
static tdo_extent_t *extents_rotate(tdo_freelist_t *fl, tdo_extent_t *e,
                                    int side) {
  tdo_extent_t *up = e->child[side], *middle = up->child[!side];

  *extents_link(fl, e) = up;
  up->parent = e->parent;
  up->child[!side] = e;
  e->parent = up;
  e->child[side] = middle;
  if (middle != NULL)
    middle->parent = e;
  extents_settle_one(e);
  extents_settle_one(up);
  return up;
}

/* Make .balance and .reach hold from E up to the root. */
static void extents_settle(tdo_freelist_t *fl, tdo_extent_t *e) {
  for (; e != NULL; e = e->parent) {
    int tilt = extents_height(e->child[1]) - extents_height(e->child[0]);
    if (tilt < -1 || tilt > 1) {
      int side = tilt > 0;
      tdo_extent_t *tall = e->child[side];
      if (extents_height(tall->child[!side]) >
          extents_height(tall->child[side]))
        (void)extents_rotate(fl, tall, !side);
      e = extents_rotate(fl, e, side);
    } else {
      extents_settle_one(e);
    }
  }
}

void tdo_extents_insert(tdo_freelist_t *fl, tdo_extent_t *extent) {
  tdo_extent_t **link = &fl->root, *parent = NULL;

  while (*link != NULL) {
    parent = *link;
    link = &parent->child[tdo_extent_before(parent, extent)];
  }
  extent->child[0] = extent->child[1] = NULL;
  extent->parent = parent;
  *link = extent;
  extents_settle(fl, extent);
}

void tdo_extents_remove(tdo_freelist_t *fl, tdo_extent_t *extent) {
  tdo_extent_t *heir, *low;

  if (extent->child[0] == NULL || extent->child[1] == NULL) {
    heir = extent->child[extent->child[0] == NULL];
    low = extent->parent;
    *extents_link(fl, extent) = heir;
    if (heir != NULL)
      heir->parent = extent->parent;
  } else { /* its successor takes its place */
    heir = extent->child[1];
    while (heir->child[0] != NULL)
      heir = heir->child[0];
    low = heir->parent == extent ? heir : heir->parent;
    *extents_link(fl, heir) = heir->child[1];
    if (heir->child[1] != NULL)
      heir->child[1]->parent = heir->parent;
    *extents_link(fl, extent) = heir;
    heir->parent = extent->parent;
    for (int side = 0; side < 2; ++side) {
      heir->child[side] = extent->child[side];
      if (heir->child[side] != NULL)
        heir->child[side]->parent = heir;
    }
  }
  extents_settle(fl, low);
}

void tdo_extents_changed(tdo_freelist_t *fl, tdo_extent_t *extent) {
  unsigned is = tdo_runs_short(&extent->runs);

  if (!extent->stale) {
    extent->stale = true;
    extent->stale_next = fl->stale;
    fl->stale = extent;
  }
  if (TDO_LIKELY(is <= extent->short_own))
    return;
  extent->short_own = is;
  for (; extent != NULL && extent->reach_short < is; extent = extent->parent)
    extent->reach_short = is;
}

void tdo_extents_lower(tdo_extent_t *extent) {
  extent->short_own = tdo_runs_short(&extent->runs);
  for (; extent != NULL; extent = extent->parent) {
    unsigned reach = extents_true_short(extent);
    if (reach == extent->reach_short)
      break;
    extent->reach_short = reach;
  }
}

static void extents_renew_longest(tdo_freelist_t *fl, tdo_extent_t *extent) {
  size_t was = extent->longest;
  size_t is = tdo_runs_longest(&extent->runs) << fl->shift;

  extent->longest = is;
  for (; extent != NULL && was != is; extent = extent->parent) {
    size_t reach = extent->reach;
    if (is > reach)
      extent->reach = is;
    else if (was == reach)
      extent->reach = extents_true_reach(extent);
    was = reach;
    is = extent->reach;
  }
}

void tdo_extents_renew(tdo_freelist_t *fl) {
  while (fl->stale != NULL) {
    tdo_extent_t *extent = fl->stale;
    fl->stale = extent->stale_next;
    extent->stale = false;
    extents_renew_longest(fl, extent);
  }
}

/* The tree below E, whose extents come after LOW and before HIGH. */
static void extents_check_below(tdo_extent_t *e, const tdo_extent_t *low,
                                const tdo_extent_t *high, unsigned shift) {
  int tilt;

  if (e == NULL)
    return;
  tilt = extents_height(e->child[1]) - extents_height(e->child[0]);
  TDO_CHECK(low == NULL || tdo_extent_before(low, e));          /* .order */
  TDO_CHECK(high == NULL || tdo_extent_before(e, high));        /* .order */
  TDO_CHECK(tilt >= -1 && tilt <= 1);                           /* .balance */
  TDO_CHECK(e->longest == tdo_runs_longest(&e->runs) << shift); /* .longest */
  TDO_CHECK(e->short_own >= tdo_runs_short(&e->runs));          /* .short */
  TDO_CHECK(e->reach == extents_true_reach(e));                 /* .reach */
  TDO_CHECK(e->reach_short == extents_true_short(e));           /* .short */
  for (int side = 0; side < 2; ++side)
    TDO_CHECK(e->child[side] == NULL || e->child[side]->parent == e);
  extents_check_below(e->child[0], low, e, shift);
  extents_check_below(e->child[1], e, high, shift);
}

bool tdo_extents_check(tdo_freelist_t *fl) {
  tdo_extents_renew(fl);
  TDO_CHECK(fl->root == NULL || fl->root->parent == NULL);
  extents_check_below(fl->root, NULL, NULL, fl->shift);
  return true;
}
