/* Testudo: location dependencies.
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/check.h"
#include "trace/heap.h"

/* The client's opaque structure. */
typedef struct ld {
  unsigned long epoch, sets;
} ld_t;

_Static_assert(sizeof(ld_t) == sizeof(mps_ld_s), "mps_ld_s is two words");

static ld_t *ld_of(mps_ld_t ld) {
  return (ld_t *)(void *)ld;
}

void tdo_ld_history_init(tdo_ld_history_t *h) {
  atomic_init(&h->epoch, 0);
  atomic_init(&h->ancient, 0);
  for (int i = 0; i < TDO_LD_EPOCHS; ++i)
    atomic_init(&h->moved[i], 0);
}

unsigned long tdo_ld_sets(mps_arena_t heap, mps_addr_t addr) {
  mps_word_t w;

  if (!tdo_space_contains(&heap->space, addr))
    return 0; /* never moves */
  w = tdo_space_offset(&heap->space, addr) >> heap->space.zone_shift;
  return 1ul << (w % (8 * sizeof(unsigned long)));
}

void tdo_ld_age(tdo_ld_history_t *h, unsigned long sets) {
  unsigned long epoch = atomic_load(&h->epoch) + 1;

  /* The slot taken over held what moved at an epoch now too old to tell
     apart. */
  atomic_fetch_or(&h->ancient, atomic_load(&h->moved[epoch % TDO_LD_EPOCHS]));
  atomic_store(&h->moved[epoch % TDO_LD_EPOCHS], 0);
  for (int i = 0; i < TDO_LD_EPOCHS; ++i)
    atomic_fetch_or(&h->moved[i], sets);
  atomic_store(&h->epoch, epoch);
}

void tdo_ld_reset(mps_ld_t ld, mps_arena_t heap) {
  ld_of(ld)->epoch = atomic_load(&heap->ld.epoch);
  ld_of(ld)->sets = 0;
}

/* What was never reset most often has an epoch of the future. */
static void ld_check(const ld_t *ld, mps_arena_t heap) {
  TDO_ASSERT(ld->epoch <= atomic_load(&heap->ld.epoch),
             "a location dependency must be reset before its first use");
}

void tdo_ld_add(mps_ld_t ld, mps_arena_t heap, mps_addr_t addr) {
  if (TDO_COOL)
    ld_check(ld_of(ld), heap);
  ld_of(ld)->sets |= tdo_ld_sets(heap, addr);
}

void tdo_ld_merge(mps_ld_t dest, mps_arena_t heap, mps_ld_t src) {
  ld_t *d = ld_of(dest);
  const ld_t *s = ld_of(src);

  if (TDO_COOL) {
    ld_check(d, heap);
    ld_check(s, heap);
  }
  if (s->epoch < d->epoch)
    d->epoch = s->epoch;
  d->sets |= s->sets;
}

bool tdo_ld_isstale_any(mps_ld_t ld, mps_arena_t heap) {
  const ld_t *l = ld_of(ld);
  tdo_ld_history_t *h = &heap->ld;
  unsigned long now = atomic_load(&h->epoch), moved;

  ld_check(l, heap);
  if (l->epoch >= now)
    return false;
  if (now - l->epoch >= TDO_LD_EPOCHS)
    moved = atomic_load(&h->ancient) |
            atomic_load(&h->moved[(now + 1) % TDO_LD_EPOCHS]);
  else
    moved = atomic_load(&h->moved[(l->epoch + 1) % TDO_LD_EPOCHS]);
  return (moved & l->sets) != 0;
}
