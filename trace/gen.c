/* Testudo: generations and chains.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "code/check.h"
#include "testudo.h"
#include "trace/heap.h"

#define GEN_BITS_OWN 6 /* generations that get a bit of their own */

/* Shall its memory be huge pages? The top generation is the oldest. */
static bool gen_huge(const tdo_gen_t *gen) {
  unsigned lowest = gen->heap->huge;
  return lowest != TDO_HUGE_OFF && (gen->chain == NULL ||
                                    gen->index >= lowest);
}

/* Groups for the first COUNT places, or none. */
static mps_res_t gen_groups(tdo_gen_t *gen, tdo_group_t group[], int count) {
  tdo_space_t *sp = &gen->heap->space;

  for (int i = 0; i < count; ++i) {
    group[i] = tdo_space_group_new(sp, gen->bit);
    if (group[i] == 0) {
      while (i-- > 0) {
        tdo_space_group_merge(sp, TDO_GROUP_SHARED, group[i]);
        group[i] = 0;
      }
      return MPS_RES_LIMIT;
    }
    tdo_space_group_huge(sp, group[i], gen_huge(gen));
  }
  return MPS_RES_OK;
}

static void gen_drop_groups(tdo_gen_t *gen, tdo_group_t group[]) {
  for (int i = 0; i < TDO_PLACES && group[i] != 0; ++i) {
    tdo_space_group_merge(&gen->heap->space, TDO_GROUP_SHARED, group[i]);
    group[i] = 0;
  }
}

static mps_res_t gen_init(tdo_gen_t *gen, mps_arena_t heap) {
  mps_res_t res;

  gen->heap = heap;
  tdo_ring_init(&gen->segs);
  tdo_ring_init(&gen->white);
  res = gen_groups(gen, gen->group, TDO_PLACES);
  if (res == MPS_RES_OK)
    gen->sig = TDO_GEN_SIG;
  return res;
}

mps_res_t tdo_gen_init_top(tdo_gen_t *gen, mps_arena_t heap) {
  mps_res_t res;

  memset(gen, 0, sizeof *gen);
  gen->mortality = 0.5;
  res = gen_init(gen, heap);
  return res == MPS_RES_OK ? gen_groups(gen, gen->next_group, TDO_PLACES) : res;
}

void tdo_gen_finish(tdo_gen_t *gen) {
  TDO_CHECK(tdo_ring_empty(&gen->segs) && tdo_ring_empty(&gen->white));
  gen->sig = TDO_SIG_DEAD;
  gen_drop_groups(gen, gen->group);
  gen_drop_groups(gen, gen->next_group);
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
    gen->capacity = (double)params[i].mps_capacity * 1024.0;
    gen->mortality = params[i].mps_mortality;
    gen->bit = gen_take_bit(heap);
    res = gen_init(gen, heap);
    if (res != MPS_RES_OK) {
      gen_drop_bit(heap, gen->bit);
      while (i-- > 0) {
        gen_drop_bit(heap, chain->gens[i].bit);
        tdo_gen_finish(&chain->gens[i]);
      }
      tdo_control_free(&heap->control, chain, chain_size(count));
      return res;
    }
  }
  heap->nursery_bits |= chain->gens[0].bit;
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
  if (heap->tenuring == chain) /* it is empty */
    heap->tenuring = NULL;
  tdo_ring_remove(&chain->heap_ring);
  chain->sig = TDO_SIG_DEAD;
  for (size_t i = 0; i < chain->count; ++i) {
    gen_drop_bit(heap, chain->gens[i].bit);
    tdo_gen_finish(&chain->gens[i]);
  }
  tdo_control_free(&heap->control, chain, chain_size(chain->count));
}

mps_res_t tdo_chain_secure(tdo_chain_t *chain) {
  if (chain->secured)
    return MPS_RES_OK;
  for (size_t i = 0; i < chain->count; ++i) {
    tdo_gen_t *gen = &chain->gens[i];
    mps_res_t res = gen_groups(gen, gen->next_group, TDO_PLACES);
    if (res != MPS_RES_OK) {
      while (i-- > 0)
        gen_drop_groups(&chain->gens[i], chain->gens[i].next_group);
      return res;
    }
  }
  chain->secured = true;
  return MPS_RES_OK;
}

tdo_gen_t *tdo_chain_gen(tdo_chain_t *chain, size_t index) {
  return index < chain->count ? &chain->gens[index] : &chain->heap->top;
}

/* Groups again for the first COUNT places, of which as many just became free. */
static void gen_renew(tdo_gen_t *gen, int count) {
  mps_res_t res = gen_groups(gen, gen->next_group, count);

  TDO_CHECK(res == MPS_RES_OK);
  (void)res;
}

void tdo_gen_condemn(tdo_gen_t *gen) {
  tdo_space_t *sp = &gen->heap->space;

  TDO_CHECK(!gen->condemned);
  for (int i = 0; i < TDO_PLACES; ++i) {
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
  for (int i = 0; i < TDO_PLACES; ++i) {
    tdo_space_group_merge(&gen->heap->space, gen->group[i],
                          gen->white_group[i]);
    gen->white_group[i] = 0;
  }
  gen_renew(gen, TDO_PLACES);
  gen->condemned = false;
}

/* The next groups for what moves, and the old ones become the top's. */
static void gen_give_groups(tdo_gen_t *gen, tdo_gen_t *top) {
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
