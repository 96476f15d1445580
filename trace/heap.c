/* Testudo: an arena as its client knows it: making and unmaking.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "arena/window.h"
#include "code/check.h"
#include "code/clock.h"
#include "code/event.h"
#include "testudo.h"
#include "trace/enter.h"
#include "trace/fork.h"
#include "trace/heaps.h"
#include "trace/hit.h"
#include "trace/pause.h"
#include "trace/tell.h"

#define HEAP_CLIENT_ALIGN      64  /* of this structure in client memory */
#define HEAP_CLIENT_PAGE_SHIFT 12  /* "pages" there, for the summary */
#define EXTRA_PER_GRAIN   6.0 /* table bytes: shield, summary */

/* The process's handlers, for the first arena. Under the global lock, which a
   fork takes too: the child must not inherit a lock of theirs. */
static mps_res_t heap_install(void) {
  bool quiet = tdo_heaps_claim();
  mps_res_t res = tdo_fault_install(tdo_hit_fault);

  if (res == MPS_RES_OK)
    res = tdo_heap_fork_install();
  tdo_heaps_release(quiet);
  return res;
}

/* Hooks of the address space: keep the shield's picture true. */
static void pages_of(size_t *first, size_t *limit, const tdo_heap_t *heap) {
  unsigned shift = heap->space.grain_shift - heap->page_shift;

  *first <<= shift;
  *limit <<= shift;
}

static void heap_committed(void *closure, size_t first, size_t limit) {
  tdo_heap_t *heap = closure;

  pages_of(&first, &limit, heap);
  tdo_shield_committed(&heap->shield, first, limit);
}

static void heap_decommitting(void *closure, size_t first, size_t limit) {
  tdo_heap_t *heap = closure;

  pages_of(&first, &limit, heap);
  tdo_shield_decommitting(&heap->shield, first, limit);
}

static void heap_decommitted(void *closure, size_t first, size_t limit) {
  tdo_heap_t *heap = closure;

  pages_of(&first, &limit, heap);
  tdo_shield_decommitted(&heap->shield, first, limit);
}

static void heap_taken(void *closure, size_t first, size_t limit) {
  tdo_heap_t *heap = closure;

  pages_of(&first, &limit, heap);
  tdo_shield_adopt(&heap->shield, first, limit);
}

static void heap_dropped(void *closure, size_t first, size_t limit) {
  tdo_heap_t *heap = closure;

  pages_of(&first, &limit, heap);
  tdo_shield_retire(&heap->shield, first, limit);
}

static void heap_got_huge(void *closure, size_t first, size_t limit,
                          bool huge) {
  tdo_heap_t *heap = closure;

  pages_of(&first, &limit, heap);
  tdo_shield_huge(&heap->shield, first, limit, huge);
}

static void heap_extended(void *closure, void *base, size_t size) {
  tdo_heap_t *heap = closure;

  TDO_EVENT(ARENA, ARENA_EXTEND, (tdo_word_t)heap, (tdo_word_t)base, size);
  if (heap->extended != NULL)
    heap->extended(heap, base, size);
}

static void heap_contracted(void *closure, void *base, size_t size) {
  tdo_heap_t *heap = closure;

  TDO_EVENT(ARENA, ARENA_CONTRACT, (tdo_word_t)heap, (tdo_word_t)base, size);
  if (heap->contracted != NULL)
    heap->contracted(heap, base, size);
}

/* Hooks of the shield. */
static void heap_stop(void *closure) {
  tdo_threads_stop(closure);
}

static void heap_lost(void *closure, size_t first, size_t limit,
                      tdo_bar_t bars) {
  tdo_heap_t *heap = closure;
  void *base = tdo_heap_page_addr(heap, first);

  TDO_EVENT(SEG, REFUSED, (tdo_word_t)heap, (tdo_word_t)base,
            (limit - first) << heap->page_shift, bars);
  if (bars & TDO_BAR_WRITE)
    tdo_summary_set(&heap->summary, first, limit, TDO_DIRTY);
  if (bars & TDO_BAR_READ)
    heap->bars_lost = heap->eventful = true;
}

/* Not in the middle of an operation that a handler has interrupted: it goes on
   with what it saw before. */
static bool heap_spare(void *closure) {
  tdo_space_t *sp = &((tdo_heap_t *)closure)->space;
  size_t before = sp->spare;

  if (sp->busy > 0)
    return false;
  tdo_space_purge(sp, before);
  return sp->spare < before;
}

static void heap_init_fields(tdo_heap_t *heap,
                             const tdo_heap_options_t *options) {
  tdo_lock_init(&heap->lock);
  tdo_ring_init(&heap->pools);
  tdo_ring_init(&heap->traced);
  tdo_ring_init(&heap->formats);
  tdo_ring_init(&heap->chains);
  for (size_t rank = 0; rank < TDO_RANKS; ++rank)
    tdo_ring_init(&heap->roots[rank]);
  tdo_ring_init(&heap->threads);
  tdo_trace_init(&heap->trace, heap);
  tdo_ld_history_init(&heap->ld);
  tdo_messages_init(&heap->messages);
  tdo_evacuate_begin(&heap->evacuate);
  heap->whole.ended = tdo_clock_ns();
  heap->whole.rest = TDO_WHOLE_REST;
  heap->pause_time = options->pause_time;
  heap->extended = options->extended;
  heap->contracted = options->contracted;
  heap->hits.quantum = heap->hits.quantum_now = options->quantum;
  heap->huge = options->huge;
  heap->small_most = options->small;
  heap->adapts = options->adapt;
  heap->stress.each = options->stress;
  heap->stress.blocks = options->stress_blocks && options->stress != 0;
  heap->withheld_most = SIZE_MAX;
  heap->check_heap = options->check_heap;
  heap->log = options->log;
}

/* Bytes of the tables of pages, and of the first of them. */
static size_t heap_summary_size(const tdo_heap_t *heap) {
  return tdo_round_up(
      tdo_summary_bytes(heap->space.size >> heap->page_shift),
      heap->space.vm->page_size);
}

static size_t heap_tables_size(const tdo_heap_t *heap) {
  size_t words = tdo_bits_words(heap->space.size >> heap->page_shift);

  return heap_summary_size(heap) + tdo_round_up(words * sizeof(tdo_bits_t),
                                                heap->space.vm->page_size);
}

/* Where writes cannot be tracked, the shield goes on without. */
static void heap_track(tdo_heap_t *heap) {
  const char *why;

  if (tdo_track_open(&heap->track, &why) != MPS_RES_OK)
    tdo_shield_fall_back(&heap->shield, why);
  else
    (void)tdo_shield_attach(&heap->shield, &heap->track);
}

static mps_res_t heap_init_shield(tdo_heap_t *heap,
                                  const tdo_heap_options_t *options) {
  tdo_vm_t *vm = heap->space.vm;
  tdo_shield_hooks_t hooks = {heap, heap_stop, NULL, heap_lost, heap_spare};
  tdo_shield_settings_t settings = options->shield;
  void *tables;
  mps_res_t res;

  heap->page_shift = tdo_log2(vm->page_size);
  if (heap->space.huge)
    settings.huge_pages = (size_t)1 << (heap->space.zone_shift -
                                        heap->page_shift);
  res = vm->reserve_table(&tables, vm, heap_tables_size(heap));
  if (res != MPS_RES_OK)
    return res;
  tdo_summary_init(&heap->summary, heap->space.size >> heap->page_shift,
                   tables);
  heap->ahead = (void *)((char *)tables + heap_summary_size(heap));
  res = tdo_shield_init(&heap->shield, vm, heap->space.base, heap->space.size,
                        &settings, &hooks);
  if (res != MPS_RES_OK) {
    vm->release(vm, tables, heap_tables_size(heap));
    return res;
  }
  heap->shielded = true;
  tdo_pause_set_time(heap, options->pause_time);
  if (options->shield.mode == TDO_SHIELD_DIRTY)
    heap_track(heap);
  tdo_tell_open(heap, options->record);
  return MPS_RES_OK;
}

static void heap_finish_shield(tdo_heap_t *heap) {
  tdo_vm_t *vm = heap->space.vm;

  tdo_shield_finish(&heap->shield);
  tdo_tell_close(heap);
  vm->release(vm, heap->summary.page, heap_tables_size(heap));
}

static mps_res_t heap_start_space(tdo_heap_t *heap,
                                  const tdo_heap_options_t *options) {
  static const tdo_space_hooks_t none;
  tdo_space_hooks_t hooks = {heap,             heap_committed,
                             heap_decommitting, heap_decommitted,
                             heap_taken,       heap_dropped,
                             heap_got_huge,    heap_extended,
                             heap_contracted};

  return tdo_space_start(&heap->space, options->size,
                         heap->shielded ? &hooks : &none);
}

static size_t heap_window(const tdo_heap_options_t *options) {
  tdo_window_facts_t facts = {.size = options->size,
                              .limit = tdo_vm_address_limit(),
                              .physical = tdo_vm_physical(),
                              .data = tdo_vm_data_limit(),
                              .space = tdo_vm_address_space(),
                              .arenas = tdo_heaps_count()};

  return options->window != 0 ? options->window : tdo_window(&facts);
}

/* The size of huge pages, if any generation shall have them. */
static size_t heap_huge(const tdo_heap_options_t *options) {
  tdo_vm_t *vm = tdo_vm_system();

  return options->huge == TDO_HUGE_OFF ? 0 : vm->huge_size(vm);
}

/* The arena's own structure lies in table memory of its own: the address
   space needs it before it exists. */
static mps_res_t heap_alloc(tdo_heap_t **heap_o) {
  tdo_vm_t *vm = tdo_vm_system();
  void *p;
  mps_res_t res = vm->reserve_table(
      &p, vm, tdo_round_up(sizeof(tdo_heap_t), vm->page_size));

  if (res == MPS_RES_OK)
    *heap_o = p;
  return res;
}

static void heap_free(tdo_heap_t *heap) {
  tdo_vm_t *vm = tdo_vm_system();

  vm->release(vm, heap, tdo_round_up(sizeof(tdo_heap_t), vm->page_size));
}

static mps_res_t heap_init_contents(tdo_heap_t *heap,
                                    const tdo_heap_options_t *options) {
  mps_res_t res = heap_start_space(heap, options);
  void *p;

  if (res != MPS_RES_OK)
    return res;
  heap->space.spare_bytes = options->spare_bytes;
  if (!tdo_space_charge(&heap->space, sizeof(tdo_heap_t)))
    return MPS_RES_COMMIT_LIMIT;
  tdo_control_init(&heap->control, &heap->space);
  tdo_space_group_huge(&heap->space, TDO_GROUP_MANUAL,
                       heap->huge == TDO_HUGE_ALL);
  tdo_gen_init_top(&heap->top, heap);
  /* Secure the first slab, so that a limit too small shows now. */
  res = tdo_control_alloc(&p, &heap->control, 16);
  if (res == MPS_RES_OK)
    tdo_control_free(&heap->control, p, 16);
  return res;
}

/* Telemetry of block I of client memory. */
static void heap_tell_block(tdo_heap_t *heap, size_t i, bool goes) {
  const tdo_block_t *b = &heap->space.blocks[i];

  if (goes)
    TDO_EVENT(ARENA, ARENA_CONTRACT, (tdo_word_t)heap, (tdo_word_t)b->base,
              b->size);
  else
    TDO_EVENT(ARENA, ARENA_EXTEND, (tdo_word_t)heap, (tdo_word_t)b->base,
              b->size);
}

/* Everything lies in the client's memory: this structure, then the tables,
   then the grains. */
static mps_res_t heap_create_client(tdo_heap_t **heap_o,
                                    mps_arena_class_t klass,
                                    const tdo_heap_options_t *options) {
  tdo_word_t base = (tdo_word_t)options->client;
  tdo_word_t low = tdo_round_up(base, HEAP_CLIENT_ALIGN);
  tdo_word_t limit = base + options->size;
  tdo_heap_t *heap = (tdo_heap_t *)low;
  size_t pages;
  mps_res_t res;

  if (limit < base || limit <= low || limit - low <= sizeof *heap)
    return MPS_RES_MEMORY;
  memset(heap, 0, sizeof *heap);
  heap->klass = klass;
  heap_init_fields(heap, options);
  heap->page_shift = HEAP_CLIENT_PAGE_SHIFT;
  pages = tdo_max(options->grain >> HEAP_CLIENT_PAGE_SHIFT, 1);
  res = tdo_space_init_client(&heap->space, heap + 1,
                              limit - low - sizeof *heap, options->grain,
                              options->commit_limit, options->spare, pages);
  if (res == MPS_RES_OK) {
    heap->summary.page = heap->space.extra;
    res = heap_init_contents(heap, options);
  }
  if (res == MPS_RES_OK)
    res = tdo_heaps_add(heap);
  if (res != MPS_RES_OK) {
    tdo_lock_finish(&heap->lock);
    return res == MPS_RES_COMMIT_LIMIT ? res : MPS_RES_MEMORY;
  }
  heap->sig = TDO_HEAP_SIG;
  heap_tell_block(heap, 0, false);
  *heap_o = heap;
  return MPS_RES_OK;
}

mps_res_t tdo_heap_extend(tdo_heap_t *heap, void *base, size_t size) {
  mps_res_t res = tdo_space_add_block(&heap->space, base, size);

  if (res == MPS_RES_OK)
    heap_tell_block(heap, atomic_load(&heap->space.block_count) - 1, false);
  heap->summary.page = heap->space.extra; /* the tables may have moved */
  return res;
}

mps_res_t tdo_heap_create(tdo_heap_t **heap_o, mps_arena_class_t klass,
                          const tdo_heap_options_t *options) {
  tdo_heap_t *heap;
  mps_res_t res;

  res = heap_install();
  if (res != MPS_RES_OK)
    return res;
  if (options->client != NULL)
    return heap_create_client(heap_o, klass, options);
  res = heap_alloc(&heap);
  if (res != MPS_RES_OK)
    return res;
  heap->klass = klass;
  heap_init_fields(heap, options);
  res = tdo_space_init_huge(&heap->space, tdo_vm_system(), options->size,
                            heap_window(options), options->grain,
                            options->commit_limit, options->spare,
                            EXTRA_PER_GRAIN, heap_huge(options));
  if (res != MPS_RES_OK)
    goto fail_space;
  heap->space.populate = options->populate;
  heap->space.mix_most = options->small;
  res = heap_init_shield(heap, options);
  if (res != MPS_RES_OK)
    goto fail_shield;
  res = heap_init_contents(heap, options);
  if (res != MPS_RES_OK)
    goto fail_contents;
  res = tdo_heaps_add(heap);
  if (res != MPS_RES_OK)
    goto fail_contents;
  heap->sig = TDO_HEAP_SIG;
  *heap_o = heap;
  return MPS_RES_OK;

fail_contents:
  heap_finish_shield(heap);
fail_shield:
  tdo_space_finish(&heap->space);
fail_space:
  tdo_lock_finish(&heap->lock);
  heap_free(heap);
  return res;
}

/* Are there chains that the client made? */
static bool heap_chains_left(const tdo_heap_t *heap) {
  TDO_RING_FOR(node, (tdo_ring_t *)&heap->chains) {
    if (TDO_RING_ENTRY(tdo_chain_t, heap_ring, node) != heap->default_chain)
      return true;
  }
  return false;
}

/* Of all that the client made nothing may be left. */
static void heap_check_left(const tdo_heap_t *heap) {
  TDO_ASSERT(tdo_ring_empty(&heap->pools),
             "an arena was destroyed before its pools");
  TDO_ASSERT(tdo_ring_empty(&heap->formats),
             "an arena was destroyed before its formats");
  TDO_ASSERT(heap->root_count == 0,
             "an arena was destroyed before its roots");
  TDO_ASSERT(!heap_chains_left(heap),
             "an arena was destroyed before its chains");
  TDO_ASSERT(tdo_ring_empty(&heap->threads),
             "an arena was destroyed before its threads were deregistered");
}

void tdo_heap_destroy(tdo_heap_t *heap) {
  tdo_heap_enter(heap);
  tdo_trace_finish(heap);
  heap_check_left(heap);
  if (heap->default_chain != NULL && tdo_ring_empty(&heap->pools))
    tdo_chain_destroy(heap->default_chain);
  heap->default_chain = NULL;
  tdo_turnover_forget(heap);
  heap->going = true;
  tdo_heap_leave(heap);
  tdo_heaps_remove(heap); /* without the lock: a fork takes this one first */
  heap->sig = TDO_SIG_DEAD;
  if (heap->shielded)
    heap_finish_shield(heap);
  for (size_t i = atomic_load(&heap->space.block_count); i-- > 0;)
    heap_tell_block(heap, i, true);
  tdo_space_finish(&heap->space);
  tdo_lock_finish(&heap->lock);
  if (heap->space.vm != NULL)
    heap_free(heap);
}

mps_res_t tdo_heap_default_chain(tdo_chain_t **chain_o, tdo_heap_t *heap) {
  static const mps_gen_param_s params[] = {
      {TDO_DEFAULT_NURSERY, 0.85}, {TDO_DEFAULT_MIDDLE, 0.45}};

  if (heap->default_chain == NULL) {
    mps_res_t res = tdo_chain_create(&heap->default_chain, heap, 2, params);
    if (res != MPS_RES_OK)
      return res;
  }
  *chain_o = heap->default_chain;
  return MPS_RES_OK;
}

void tdo_heap_postmortem(tdo_heap_t *heap) {
  heap->clamp = TDO_CLAMPED;
  heap->postmortem = heap->eventful = true; /* from now on */
  if (heap->shielded)
    for (size_t p = 0; p < heap->page_limit; ++p)
      if (tdo_shield_adopted(&heap->shield, p) &&
          tdo_shield_bars(&heap->shield, p) != 0)
        (void)tdo_shield_force_open(&heap->shield, p);
  if (tdo_lock_mine(&heap->lock))
    tdo_heap_release(heap);
}

bool tdo_heap_check(const tdo_heap_t *heap) {
  TDO_CHECK(heap != NULL && heap->sig == TDO_HEAP_SIG);
  return true;
}

static mps_res_t heap_table_alloc(void **p_o, void *closure, size_t size) {
  tdo_heap_t *heap = closure;

  return tdo_control_alloc(p_o, &heap->control, size);
}

static void heap_table_free(void *closure, void *p, size_t size) {
  tdo_heap_t *heap = closure;

  tdo_control_free(&heap->control, p, size);
}

tdo_table_memory_t tdo_heap_table_memory(tdo_heap_t *heap) {
  return (tdo_table_memory_t){heap, heap_table_alloc, heap_table_free};
}

double tdo_heap_size(const tdo_heap_t *heap) {
  double size = heap->top.size;

  TDO_RING_FOR(node, (tdo_ring_t *)&heap->chains) {
    size += tdo_chain_size(TDO_RING_ENTRY(tdo_chain_t, heap_ring, node));
  }
  return size;
}
