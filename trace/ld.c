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

/* A dependency's `epoch` is the epoch, and above that its arena's mark. */
#define LD_SHIFT (6 * sizeof(unsigned long))
#define LD_EPOCH (((unsigned long)1 << LD_SHIFT) - 1)
#define LD_OWNERS (~0ul >> LD_SHIFT) /* marks; then they are used again */

static atomic_ulong ld_owners; /* arenas so far */

void tdo_ld_history_init(tdo_ld_history_t *h) {
  h->owner = atomic_fetch_add(&ld_owners, 1) % LD_OWNERS + 1;
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
  atomic_ulong *taken = &h->moved[epoch % TDO_LD_EPOCHS];

  /* The slot taken over held what moved at an epoch now too old to tell
     apart. Only the collector writes, so no change need be atomic: all of them
     would take a tenth of a small collection. */
  atomic_store(&h->ancient, atomic_load(&h->ancient) | atomic_load(taken));
  atomic_store(taken, 0); /* after it (ld_moved) */
  for (int i = 0; i < TDO_LD_EPOCHS; ++i) {
    unsigned long moved =
        atomic_load_explicit(&h->moved[i], memory_order_relaxed);
    if ((moved & sets) != sets)
      atomic_store_explicit(&h->moved[i], moved | sets, memory_order_relaxed);
  }
  atomic_store(&h->epoch, epoch);
}

/* Was LD reset in this arena? If in another, that is no use and no harm; if
   never, a client bug. All zero counts as reset when the arena was new. */
static bool ld_is_ours(const ld_t *ld, mps_arena_t heap) {
  unsigned long owner = ld->epoch >> LD_SHIFT;
  bool ours = ld->epoch == 0 ||
              (owner == heap->ld.owner &&
               (ld->epoch & LD_EPOCH) <= atomic_load(&heap->ld.epoch));

  TDO_ASSERT(ours || (owner != 0 && owner != heap->ld.owner &&
                      owner <= atomic_load(&ld_owners)),
             "a location dependency must be reset before its first use");
  return ours;
}

static void ld_set_epoch(ld_t *ld, mps_arena_t heap, unsigned long epoch) {
  ld->epoch = heap->ld.owner << LD_SHIFT | epoch;
}

void tdo_ld_reset(mps_ld_t ld, mps_arena_t heap) {
  ld_set_epoch(ld_of(ld), heap, atomic_load(&heap->ld.epoch) & LD_EPOCH);
  ld_of(ld)->sets = 0;
}

void tdo_ld_add(mps_ld_t ld, mps_arena_t heap, mps_addr_t addr) {
  if (TDO_COOL)
    (void)ld_is_ours(ld_of(ld), heap);
  ld_of(ld)->sets |= tdo_ld_sets(heap, addr);
}

void tdo_ld_merge(mps_ld_t dest, mps_arena_t heap, mps_ld_t src) {
  ld_t *d = ld_of(dest);
  const ld_t *s = ld_of(src);

  if (!ld_is_ours(d, heap) || !ld_is_ours(s, heap))
    ld_set_epoch(d, heap, 0); /* stale as soon as anything moves */
  else if (s->epoch < d->epoch)
    d->epoch = s->epoch;
  d->sets |= s->sets;
}

/* What has moved since THEN, at NOW; collections may go on meanwhile. */
static unsigned long ld_moved(tdo_ld_history_t *h, unsigned long then,
                              unsigned long now) {
  unsigned long moved;

  if (now - then < TDO_LD_EPOCHS)
    return atomic_load(&h->moved[(then + 1) % TDO_LD_EPOCHS]);
  /* In this order: from the slot it goes to `ancient`, and is in one of
     both. */
  moved = atomic_load(&h->moved[(now + 1) % TDO_LD_EPOCHS]);
  return moved | atomic_load(&h->ancient);
}

bool tdo_ld_isstale_any(mps_ld_t ld, mps_arena_t heap) {
  const ld_t *l = ld_of(ld);
  tdo_ld_history_t *h = &heap->ld;
  unsigned long then, now;
  bool stale;

  if (!ld_is_ours(l, heap))
    return l->sets != 0;
  then = l->epoch & LD_EPOCH;
  do {
    now = atomic_load(&h->epoch);
    if (then >= now)
      return false;
    stale = (ld_moved(h, then, now) & l->sets) != 0;
    /* If there were flips meanwhile, the slot may be another epoch's. */
  } while (!stale && now != atomic_load(&h->epoch));
  return stale;
}
