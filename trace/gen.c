/* Testudo: generations and chains.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "code/check.h"
#include "testudo.h"
#include "trace/heap.h"

#define GEN_BITS_OWN 6 /* generations that get a bit of their own */
#define GEN_OWNERS  32 /* of a chain, with groups of their own: a long chain
                          leaves some to others */

/* Shall its memory be huge pages? The top generation is the oldest. */
static bool gen_huge(const tdo_gen_t *gen) {
  unsigned lowest = gen->heap->huge;
  return lowest != TDO_HUGE_OFF && (gen->chain == NULL ||
                                    gen->index >= lowest);
}

/* All of them: the first that is missing is the end. */
static void gen_drop_groups(tdo_gen_t *gen, tdo_group_t group[]) {
  for (int i = 0; i < TDO_PLACES && group[i] != 0; ++i) {
    if (group[i] != TDO_GROUP_SHARED)
      tdo_space_group_merge(&gen->heap->space, TDO_GROUP_SHARED, group[i]);
    group[i] = 0;
  }
}

/* Groups for the first COUNT places; false, and some of them, if there are too
   few. */
static bool gen_groups(tdo_gen_t *gen, tdo_group_t group[], int count) {
  tdo_space_t *sp = &gen->heap->space;

  for (int i = 0; i < count; ++i) {
    group[i] = tdo_space_group_new(sp, gen->bit);
    if (group[i] == 0)
      return false;
    tdo_space_group_huge(sp, group[i], gen_huge(gen));
  }
  return true;
}

/* All the groups that GEN ever needs at once, if there are as many. */
static bool gen_own(tdo_gen_t *gen) {
  if (gen_groups(gen, gen->group, TDO_PLACES) &&
      gen_groups(gen, gen->next_group, TDO_PLACES))
    return true;
  gen_drop_groups(gen, gen->group);
  gen_drop_groups(gen, gen->next_group);
  return false;
}

static void gen_share(tdo_gen_t *gen) {
  gen->shares = true;
  for (int i = 0; i < TDO_PLACES; ++i)
    gen->group[i] = TDO_GROUP_SHARED;
}

static void gen_init(tdo_gen_t *gen, mps_arena_t heap) {
  gen->heap = heap;
  tdo_ring_init(&gen->segs);
  tdo_ring_init(&gen->white);
  gen->sig = TDO_GEN_SIG;
}

void tdo_gen_init_top(tdo_gen_t *gen, mps_arena_t heap) {
  bool owns;

  memset(gen, 0, sizeof *gen);
  gen_init(gen, heap);
  owns = gen_own(gen);
  TDO_CHECK(owns); /* it is the first */
  (void)owns;
}

void tdo_gen_finish(tdo_gen_t *gen) {
  TDO_CHECK(tdo_ring_empty(&gen->segs) && tdo_ring_empty(&gen->white));
  gen->sig = TDO_SIG_DEAD;
  gen_drop_groups(gen, gen->group);
  gen_drop_groups(gen, gen->next_group);
}

/* The common bit, once it is one of these, stays: there may be others. */
void tdo_gen_set_youngest(tdo_gen_t *gen, bool youngest) {
  gen->youngest = youngest;
  if (youngest)
    gen->heap->nursery_bits |= gen->bit;
  else if (gen->bit < (1u << GEN_BITS_OWN))
    gen->heap->nursery_bits &= (unsigned char)~gen->bit;
}

/* A bit for a new generation: its own while they last, else the common one.
   Bits are taken for the arena's life unless the chain goes. */
static unsigned char gen_take_bit(mps_arena_t heap) {
  for (unsigned i = 0; i < GEN_BITS_OWN; ++i)
    if (!(heap->bits_taken & (1u << i))) {
      heap->bits_taken |= (unsigned char)(1u << i);
      return (unsigned char)(1u << i);
    }
  return (unsigned char)(1u << GEN_BITS_OWN);
}

static void gen_drop_bit(mps_arena_t heap, unsigned char bit) {
  if (bit < (1u << GEN_BITS_OWN)) {
    heap->bits_taken &= (unsigned char)~bit;
    heap->nursery_bits &= (unsigned char)~bit;
  }
}

static size_t chain_size(size_t count) {
  return sizeof(tdo_chain_t) + count * sizeof(tdo_gen_t);
}

mps_res_t tdo_chain_create(tdo_chain_t **chain_o, mps_arena_t heap,
                           size_t count, const mps_gen_param_s params[]) {
  tdo_chain_t *chain;
  void *p;
  mps_res_t res = tdo_control_alloc(&p, &heap->control, chain_size(count));

  if (res != MPS_RES_OK)
    return res;
  chain = p;
  memset(chain, 0, chain_size(count));
  chain->heap = heap;
  chain->count = count;
  for (size_t i = 0; i < count; ++i) {
    tdo_gen_t *gen = &chain->gens[i];
    gen->chain = chain;
    gen->index = (unsigned)i;
    gen->capacity = gen->given = (double)params[i].mps_capacity * 1024.0;
    gen->bit = gen_take_bit(heap);
    gen_init(gen, heap);
  }
  tdo_gen_set_youngest(&chain->gens[0], true);
  tdo_ring_init(&chain->heap_ring);
  tdo_ring_append(&heap->chains, &chain->heap_ring);
  chain->sig = TDO_CHAIN_SIG;
  *chain_o = chain;
  return MPS_RES_OK;
}

bool tdo_chain_check(const tdo_chain_t *chain) {
  TDO_CHECK(chain != NULL && chain->sig == TDO_CHAIN_SIG);
  return true;
}

void tdo_chain_destroy(tdo_chain_t *chain) {
  mps_arena_t heap = chain->heap;

  TDO_ASSERT(chain->pools == 0, "a chain in use by a pool was destroyed");
  if (chain->pools > 0)
    return;
  if (heap->tenure.chain == chain) /* it is empty */
    heap->tenure.chain = NULL;
  if (heap->small_for == chain)
    heap->small_for = NULL;
  tdo_chain_set_tenure(chain, 0);
  tdo_ring_remove(&chain->heap_ring);
  chain->sig = TDO_SIG_DEAD;
  for (size_t i = 0; i < chain->count; ++i) {
    gen_drop_bit(heap, chain->gens[i].bit);
    tdo_gen_finish(&chain->gens[i]);
  }
  tdo_control_free(&heap->control, chain, chain_size(chain->count));
}

void tdo_chain_set_tenure(tdo_chain_t *chain, double bytes) {
  tdo_tenure_t *tenure = &chain->heap->tenure;

  tenure->chains += (size_t)(bytes > 0) - (size_t)(chain->tenure > 0);
  chain->tenure = bytes;
}

double tdo_chain_size(const tdo_chain_t *chain) {
  double size = 0;

  for (size_t i = 0; i < chain->count; ++i)
    size += chain->gens[i].size;
  return size;
}

void tdo_chain_secure(tdo_chain_t *chain) {
  size_t i = 0;

  if (chain->secured)
    return;
  while (i < chain->count && i < GEN_OWNERS && gen_own(&chain->gens[i]))
    ++i;
  for (; i < chain->count; ++i)
    gen_share(&chain->gens[i]);
  chain->secured = true;
}

tdo_gen_t *tdo_chain_gen(tdo_chain_t *chain, size_t index) {
  return index < chain->count ? &chain->gens[index] : &chain->heap->top;
}

/* Groups again for the first COUNT places, of which as many just became
   free. */
static void gen_renew(tdo_gen_t *gen, int count) {
  bool owns = gen_groups(gen, gen->next_group, count);

  TDO_CHECK(owns);
  (void)owns;
}

void tdo_gen_fill(tdo_gen_t *gen, size_t bytes) {
  gen->fresh += (double)bytes;
  if (gen->chain != NULL && gen->fresh > gen->capacity)
    gen->heap->due = true;
}

void tdo_gen_condemn(tdo_gen_t *gen) {
  tdo_space_t *sp = &gen->heap->space;

  TDO_CHECK(!gen->condemned);
  for (int i = 0; i < TDO_PLACES && !gen->shares; ++i) {
    gen->white_group[i] = gen->group[i];
    gen->group[i] = gen->next_group[i];
    gen->next_group[i] = 0;
    tdo_space_group_byte(sp, gen->white_group[i],
                         (unsigned char)(gen->bit | 0x80));
  }
  gen->condemned = true;
  gen->fresh = 0;
}

void tdo_gen_pardon(tdo_gen_t *gen) {
  TDO_CHECK(gen->condemned && tdo_ring_empty(&gen->white));
  gen->condemned = false;
  if (gen->shares)
    return;
  for (int i = 0; i < TDO_PLACES; ++i) {
    tdo_space_group_merge(&gen->heap->space, gen->group[i],
                          gen->white_group[i]);
    gen->white_group[i] = 0;
  }
  gen_renew(gen, TDO_PLACES);
}

/* The next groups for what moves, and the old ones become the top's. Shared
   zones stay so. */
static void gen_give_groups(tdo_gen_t *gen, tdo_gen_t *top) {
  if (gen->shares)
    return;
  for (int i = 0; i < TDO_PLACES_MOVING; ++i) {
    tdo_space_group_merge(&gen->heap->space, top->group[i], gen->group[i]);
    gen->group[i] = gen->next_group[i];
  }
  gen_renew(gen, TDO_PLACES_MOVING);
}

size_t tdo_gen_tenure(tdo_gen_t *gen, size_t most) {
  tdo_gen_t *top = &gen->heap->top;
  size_t bytes = 0;

  TDO_CHECK(!gen->condemned && gen != top);
  if (tdo_ring_empty(&gen->segs))
    return 0;
  gen_give_groups(gen, top);
  TDO_RING_FOR(node, &gen->segs) {
    tdo_gcseg_t *seg = TDO_RING_ENTRY(tdo_gcseg_t, gen_ring, node);
    size_t size = tdo_seg_size(&seg->seg);
    if (bytes >= most)
      break;
    tdo_gcseg_fetch_above(seg);
    if (seg->pool->klass->tenured == NULL)
      continue;
    bytes += size;
    seg->gen = top;
    top->size += (double)size;
    gen->size -= (double)size;
    tdo_ring_remove(node);
    tdo_ring_append(&top->segs, node);
  }
  top->fresh += (double)bytes;
  gen->fresh = tdo_fmax(0, gen->fresh - (double)bytes);
  return bytes;
}
