/* Testudo: the library's own blocks: segregated free lists over slabs of one
   grain; blocks beyond the largest class, half a grain, get grains of their
   own. A slab has blocks of many sizes, as small arenas have few slabs; so it
   is not known what blocks a slab has, only how much of it is free, and who
   wants it back goes through the lists.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "arena/control.h"
#include "code/check.h"

/* Classes: every multiple of the unit, then of a cache line, at which such
   blocks begin, then powers of two. Descriptors at distances of a power of two
   would compete for few places in a cache. */
#define CONTROL_UNIT  16
#define CONTROL_SMALL 128
#define CONTROL_MID   512
#define CONTROL_MOST  ((size_t)512 << 10) /* of any class */

#define CONTROL_LEAVING ((uint32_t)1 << 31) /* .note */
#define CONTROL_KEEP    ((size_t)1 << 20) /* bytes of slabs that may stay */
#define CONTROL_PIECE   256 /* blocks looked at by tdo_control_ease */
#define CONTROL_TRIES   16  /* and by an allocation */

#define CONTROL_SMALLS (CONTROL_SMALL / CONTROL_UNIT)
#define CONTROL_LINES  ((CONTROL_MID - CONTROL_SMALL) / TDO_CACHE_LINE)
#define CONTROL_MIDS   (CONTROL_SMALLS + CONTROL_LINES)

static unsigned control_class(size_t size) {
  unsigned i = CONTROL_MIDS;

  if (size <= CONTROL_SMALL)
    return (unsigned)((size + CONTROL_UNIT - 1) / CONTROL_UNIT) - 1;
  if (size <= CONTROL_MID)
    return CONTROL_SMALLS +
           (unsigned)((size - CONTROL_SMALL - 1) / TDO_CACHE_LINE);
  for (size_t s = CONTROL_MID * 2; s < size; s *= 2)
    ++i;
  return i;
}

static size_t control_class_size(unsigned i) {
  if (i < CONTROL_SMALLS)
    return (i + 1) * CONTROL_UNIT;
  if (i < CONTROL_MIDS)
    return CONTROL_SMALL + (i - CONTROL_SMALLS + 1) * TDO_CACHE_LINE;
  return (size_t)CONTROL_MID << (i - CONTROL_MIDS + 1);
}

void tdo_control_init(tdo_control_t *c, tdo_space_t *space) {
  memset(c, 0, sizeof *c);
  c->space = space;
  c->sweep_class = TDO_CONTROL_CLASSES;
  c->large_size = tdo_min(tdo_space_bytes(space, 1) / 2, CONTROL_MOST);
  tdo_ring_init(&c->owner.pool_ring);
  c->owner.sig = TDO_SEG_SIG;
}

static uint32_t *control_note(const tdo_control_t *c, const void *p) {
  return &c->space->note[tdo_space_grain(c->space, p)];
}

static uint32_t control_units(size_t size) {
  return (uint32_t)(size / CONTROL_UNIT);
}

/* What the note of a slab says that is free. */
static uint32_t control_full(const tdo_control_t *c) {
  return control_units(tdo_space_bytes(c->space, 1));
}

/* P of class I is free: into the list. */
static void control_push(tdo_control_t *c, void *p, unsigned i) {
  memcpy(p, &c->free[i], sizeof(void *));
  c->free[i] = p;
}

static void *control_pop(void **list) {
  void *p = *list;

  memcpy(list, p, sizeof(void *));
  return p;
}

static void control_release(tdo_control_t *c, void *p, unsigned i) {
  uint32_t *note = control_note(c, p);

  control_push(c, p, i);
  *note += control_units(control_class_size(i));
  if (*note == control_full(c)) {
    *note = CONTROL_LEAVING;
    ++c->leaving;
  }
}

/* P of class I, of a leaving slab, came out of its list for good. It goes back
   there if it is the last of its slab and .looking. */
static void control_drop(tdo_control_t *c, void *p, unsigned i) {
  uint32_t *note = control_note(c, p);
  uint32_t after = *note + control_units(control_class_size(i));

  if (after != (CONTROL_LEAVING | control_full(c))) {
    *note = after;
    return;
  }
  atomic_thread_fence(memory_order_seq_cst);
  if (tdo_readers_any(&c->looking)) {
    control_push(c, p, i);
    return;
  }
  *note = 0;
  --c->leaving;
  --c->slabs;
  tdo_space_free(c->space, tdo_space_grain(c->space, p), 1);
}

/* The largest blocks that what is left of a slab, SIZE bytes, is cut into. */
static size_t control_piece(size_t size) {
  if (size >= 2 * CONTROL_MID)
    return tdo_pow2_at_most(size);
  return size >= CONTROL_SMALL ? CONTROL_SMALL
                               : tdo_round_down(size, CONTROL_UNIT);
}

/* Cut what there is of SLAB before LIMIT into blocks of smaller classes. */
static void control_use_up(tdo_control_t *c, tdo_control_slab_t *slab,
                           const char *limit) {
  while (slab->fresh < limit) {
    size_t size = control_piece((size_t)(limit - slab->fresh));
    control_release(c, slab->fresh, control_class(size));
    slab->fresh += size;
  }
}

static mps_res_t control_new_slab(tdo_control_t *c, tdo_control_slab_t *slab) {
  size_t first;
  mps_res_t res = tdo_space_alloc(&first, c->space, 1, TDO_GROUP_CONTROL,
                                  false, &c->owner);

  if (res != MPS_RES_OK)
    return res;
  control_use_up(c, slab, slab->limit);
  c->space->note[first] = 0;
  ++c->slabs;
  slab->fresh = tdo_space_addr(c->space, first);
  slab->limit = slab->fresh + tdo_space_bytes(c->space, 1);
  return MPS_RES_OK;
}

/* A block of BYTES, a class's size, that was never used. */
static mps_res_t control_cut(void **p_o, tdo_control_t *c, size_t bytes) {
  tdo_control_slab_t *slab = bytes > CONTROL_MID ? &c->large : &c->small;
  size_t line = TDO_CACHE_LINE - 1;
  size_t gap = bytes > CONTROL_SMALL ? -(size_t)slab->fresh & line : 0;

  if ((size_t)(slab->limit - slab->fresh) < gap + bytes) {
    mps_res_t res = control_new_slab(c, slab);
    if (res != MPS_RES_OK)
      return res;
    gap = 0;
  }
  control_use_up(c, slab, slab->fresh + gap);
  *p_o = slab->fresh;
  slab->fresh += bytes;
  return MPS_RES_OK;
}

static mps_res_t control_alloc_large(void **p_o, tdo_control_t *c,
                                     size_t size) {
  size_t first;
  mps_res_t res =
      tdo_space_alloc(&first, c->space, tdo_space_grains_for(c->space, size),
                      TDO_GROUP_CONTROL, false, &c->owner);

  if (res == MPS_RES_OK) {
    c->allocated += size;
    *p_o = tdo_space_addr(c->space, first);
  }
  return res;
}

/* P of class I came out of its list: may it be used? */
static bool control_take(tdo_control_t *c, void *p, unsigned i) {
  uint32_t *note = control_note(c, p);

  if (*note > CONTROL_LEAVING) {
    control_drop(c, p, i);
    return false;
  }
  if (*note == CONTROL_LEAVING) {
    *note = control_full(c);
    --c->leaving;
  }
  *note -= control_units(control_class_size(i));
  return true;
}

/* A free block of class I, or null. */
static void *control_find(tdo_control_t *c, unsigned i) {
  void **list = &c->free[i];

  if (*list == NULL && i == c->sweep_class)
    list = &c->unswept;
  for (unsigned n = 0; *list != NULL && n < CONTROL_TRIES; ++n) {
    void *p = control_pop(list);
    if (control_take(c, p, i))
      return p;
  }
  return NULL;
}

static mps_res_t control_get(void **p_o, tdo_control_t *c, unsigned i) {
  *p_o = control_find(c, i);
  return *p_o != NULL ? MPS_RES_OK
                      : control_cut(p_o, c, control_class_size(i));
}

mps_res_t tdo_control_alloc(void **p_o, tdo_control_t *c, size_t size) {
  unsigned i;
  void *p;
  mps_res_t res;

  TDO_CHECK(size > 0);
  if (size > c->large_size)
    return control_alloc_large(p_o, c, size);
  i = control_class(size);
  res = control_get(&p, c, i);
  if (res != MPS_RES_OK && c->leaving > 0) {
    tdo_control_settle(c); /* makes room, and lists shorter */
    res = control_get(&p, c, i);
  }
  if (res != MPS_RES_OK)
    return res;
  c->allocated += size;
  *p_o = p;
  return MPS_RES_OK;
}

void tdo_control_free(tdo_control_t *c, void *p, size_t size) {
  TDO_CHECK(c->allocated >= size);
  c->allocated -= size;
  if (size > c->large_size)
    tdo_space_free(c->space, tdo_space_grain(c->space, p),
                   tdo_space_grains_for(c->space, size));
  else
    control_release(c, p, control_class(size));
}

/* Class I is the one that is swept, unless it is behind the last. */
static void control_sweep_class(tdo_control_t *c, unsigned i) {
  c->sweep_class = i;
  if (tdo_control_sweeping(c)) {
    c->unswept = c->free[i];
    c->free[i] = NULL;
  }
}

static void control_sweep_start(tdo_control_t *c) {
  while (c->unswept != NULL)
    control_push(c, control_pop(&c->unswept), c->sweep_class);
  control_sweep_class(c, 0);
}

/* Take blocks of leaving slabs out of the lists; look at no more than MOST. */
static void control_sweep(tdo_control_t *c, size_t most) {
  for (; most > 0; --most) {
    void *p;
    while (c->unswept == NULL) {
      control_sweep_class(c, c->sweep_class + 1);
      if (!tdo_control_sweeping(c))
        return;
    }
    p = control_pop(&c->unswept);
    if (*control_note(c, p) >= CONTROL_LEAVING)
      control_drop(c, p, c->sweep_class);
    else
      control_push(c, p, c->sweep_class);
  }
}

/* A piece of a sweep, which begins where more than MOST slabs may go. */
static bool control_ease(tdo_control_t *c, size_t most) {
  if (!tdo_control_sweeping(c)) {
    if (c->leaving <= most ||
        tdo_space_bytes(c->space, c->leaving) <= CONTROL_KEEP)
      return false;
    control_sweep_start(c);
  }
  control_sweep(c, CONTROL_PIECE);
  return tdo_control_sweeping(c);
}

bool tdo_control_ease(tdo_control_t *c) {
  return control_ease(c, c->slabs / 4 * 3);
}

bool tdo_control_ease_idle(tdo_control_t *c) {
  return control_ease(c, c->slabs / 2);
}

void tdo_control_settle(tdo_control_t *c) {
  if (c->leaving == 0)
    return;
  control_sweep_start(c);
  control_sweep(c, SIZE_MAX);
}
