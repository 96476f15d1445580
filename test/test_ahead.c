/* Testudo: tests of what is condemned ahead of the flip (trace/condemn.h,
   .ahead): the program goes on meanwhile, and does with old objects what it
   likes. SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "trace/condemn.h"
#include "trace/enter.h"

#include "test/objects.h"
#include "test/suite.h"

enum { REFS = 15, LENGTH = 20, OTHERS = 64, HELD = 64 };

static tdo_heap_t *heap;
static mps_pool_t other_pool; /* of a second pool */
static mps_ap_t other_ap;
static mps_ap_t top_ap; /* allocates among the old */
static size_t written; /* numbers given to new nodes */

/* A new node at the head of list I, whose field N refers to what was there. */
static void add_node(size_t i, size_t n) {
  mps_addr_t p = node(REFS);

  *obj_ref(p, 0) = (mps_addr_t)(i << 2 | 1);
  *obj_ref(p, n) = table[i];
  table[i] = p;
}

/* Old lists, one for each root, and one of another pool, on every
   ROOTS / OTHERS-th of them. */
static void begin(void) {
  REQUIRE(setenv("TESTUDO_HIDE", "32K", 1) == 0);
  heap_start(mps_class_amc());
  heap = arena;
  other_pool = obj_pool(mps_class_amc());
  other_ap = point(other_pool);
  MPS_ARGS_BEGIN(args) {
    MPS_ARGS_ADD(args, MPS_KEY_GEN, 2);
    REQUIRE(mps_ap_create_k(&top_ap, pool, args) == MPS_RES_OK);
  }
  MPS_ARGS_END(args);
  for (size_t i = 0; i < ROOTS; ++i)
    for (size_t k = 0; k < LENGTH; ++k)
      add_node(i, 1);
  for (size_t i = 0; i < ROOTS; i += ROOTS / OTHERS) {
    mps_addr_t p = obj_on(other_ap, OBJ_NODE, REFS);
    *obj_ref(table[i], 3) = p;
  }
  for (size_t round = 0; round < 4; ++round)
    collect();
  mps_arena_park(arena);
}

static void end(void) {
  memset(table, 0, sizeof table);
  (void)mps_arena_collect(arena); /* of nothing, maybe */
  mps_ap_destroy(top_ap);
  mps_ap_destroy(other_ap);
  mps_pool_destroy(other_pool);
  heap_stop();
}

/* What was written is there, and so is what was not. */
static void check_lists(void) {
  for (size_t i = 0; i < ROOTS; ++i) {
    size_t length = 0;
    for (mps_addr_t p = table[i]; p != NULL; p = *obj_ref(p, 1), ++length) {
      mps_addr_t young = *obj_ref(p, 2);
      REQUIRE(obj_kind(p) == OBJ_NODE && number_of(p) == i);
      REQUIRE(young == NULL || number_of(young) < written);
    }
    REQUIRE(length == (i % 4 == 3 && written > 0 ? LENGTH / 2 : LENGTH));
  }
}

/* New objects that only old ones refer to; and half of every fourth list
   dies. */
static void write_old(void) {
  for (size_t i = 0; i < ROOTS; ++i) {
    mps_addr_t young = obj_on(i % 2 == 0 ? ap : top_ap, OBJ_NODE, REFS);
    mps_addr_t p = table[i];
    *obj_ref(young, 0) = (mps_addr_t)(written++ << 2 | 1);
    for (size_t k = 0; k + 1 < LENGTH / 2; ++k)
      p = *obj_ref(p, 1);
    *obj_ref(p, 2) = young;
    if (i % 4 == 3)
      *obj_ref(p, 1) = NULL;
  }
}

/* A full collection, some of it condemned. */
static bool begin_ahead(void) {
  bool begun, all;

  tdo_heap_enter(heap);
  heap->stress.move = false;
  begun = tdo_trace_begin_ahead(heap, "test");
  ck_assert_int_eq(begun, tdo_shield_hides(&heap->shield));
  if (begun) {
    all = tdo_condemn_ahead(heap, heap->top.size / 2, 0);
    ck_assert(!all);
    ck_assert_uint_gt(heap->trace.condemned, 0);
    ck_assert_uint_lt(heap->trace.condemned, heap->top.size);
    ck_assert_int_eq(heap->trace.state, TDO_TRACE_AHEAD);
  }
  tdo_heap_leave(heap);
  return begun;
}

static void go_on_ahead(void) {
  tdo_heap_enter(heap);
  ck_assert(tdo_condemn_ahead(heap, SIZE_MAX, 0));
  ck_assert_int_eq(heap->trace.state, TDO_TRACE_AHEAD);
  tdo_heap_leave(heap);
}

static size_t words_marked(void) {
  size_t marked = 0;

  TDO_RING_FOR(node, &heap->roots[TDO_RANK_EXACT])
  marked += TDO_RING_ENTRY(tdo_root_t, heap_ring, node)->early_count;
  return marked;
}

/* The last that is done before the flip. */
static void mark_early(void) {
  tdo_heap_enter(heap);
  ck_assert(tdo_roots_mark_early(heap, 0));
  ck_assert_uint_eq(words_marked(), ROOTS);
  ck_assert(!tdo_ring_empty(&heap->trace.grey[TDO_RANK_EXACT]));
  ck_assert_int_eq(heap->trace.state, TDO_TRACE_AHEAD);
  tdo_heap_leave(heap);
}

/* The flip, and all else. */
static void flip(void) {
  mps_arena_release(arena);
  mps_arena_park(arena);
}

static void check_nothing_early(void) {
  TDO_RING_FOR(node, &heap->roots[TDO_RANK_EXACT]) {
    const tdo_root_t *root = TDO_RING_ENTRY(tdo_root_t, heap_ring, node);
    ck_assert_ptr_null(root->early);
  }
}

START_TEST(written_meanwhile) {
  begin();
  if (begin_ahead()) {
    check_lists();
    write_old();
    check_lists();
    go_on_ahead();
    write_old();
    check_lists();
    mark_early();
    for (size_t i = 0; i < ROOTS; i += 16) /* reads it behind barriers */
      ck_assert_int_eq(mps_finalize(arena, obj_ref(table[i], 1)), MPS_RES_OK);
    write_old();
    check_lists();
    flip();
    check_nothing_early();
    ck_assert_int_eq(heap->trace.state, TDO_TRACE_IDLE);
    ck_assert_uint_eq(tdo_bits_next_set(heap->ahead, 0, heap->page_limit),
                      heap->page_limit);
    check_lists();
    tdo_arena_check(arena);
    mps_arena_release(arena);
    write_old();
    collect();
    check_lists();
  }
  end();
}
END_TEST

/* What dies while it is white is gone after the collection. */
START_TEST(dead_meanwhile) {
  begin();
  if (begin_ahead()) {
    size_t size = mps_pool_total_size(pool);
    go_on_ahead();
    memset(table, 0, sizeof table);
    flip();
    ck_assert_uint_lt(mps_pool_total_size(pool), size / 8);
  }
  end();
}
END_TEST

/* Changes to root I: it gets a new head; after it was marked its list may
   change places with the next one, be dropped, or lose a node. */
enum { STAYS, YOUNG, SWAPPED, SWAPPED_TOO, GROWN, DROPPED, SHORTER, KINDS };

/* Few in the first half, many in the second; each half is scanned otherwise. */
static unsigned kind_of(size_t i) {
  return i < ROOTS / 2 ? (i % 64 < KINDS ? i % 64 : STAYS) : i % 8 % KINDS;
}

static size_t check_list(size_t i, size_t others_from) {
  size_t length = 0;

  for (mps_addr_t p = table[i]; p != NULL; p = *obj_ref(p, 1), ++length)
    REQUIRE(obj_kind(p) == OBJ_NODE &&
            number_of(p) == (length < others_from ? i : i ^ 1));
  return length;
}

START_TEST(roots_change_after_marking) {
  static const size_t lengths[KINDS] = {LENGTH, LENGTH + 1, LENGTH, LENGTH,
                                        LENGTH + 1, 0, LENGTH - 1};
  begin();
  if (begin_ahead()) {
    size_t size;
    go_on_ahead();
    for (size_t i = 0; i < ROOTS; ++i)
      if (kind_of(i) == YOUNG)
        add_node(i, 1);
    mark_early();
    for (size_t i = 0; i < ROOTS; ++i) {
      mps_addr_t next = i + 1 < ROOTS ? table[i + 1] : NULL;
      switch (kind_of(i)) {
      case SWAPPED:
        table[i + 1] = table[i];
        table[i] = next;
        break;
      case GROWN:
        add_node(i, 1);
        break;
      case DROPPED:
        table[i] = NULL;
        break;
      case SHORTER:
        table[i] = *obj_ref(table[i], 1);
        break;
      default:
        break;
      }
    }
    flip();
    check_nothing_early();
    for (size_t i = 0; i < ROOTS; ++i) {
      unsigned kind = kind_of(i);
      bool swapped = kind == SWAPPED || kind == SWAPPED_TOO;
      REQUIRE(check_list(i, swapped ? 0 : LENGTH + 1) == lengths[kind]);
    }
    tdo_arena_check(arena);
    /* What died after it was marked is gone the next time. */
    size = mps_pool_total_size(pool);
    memset(table, 0, sizeof table);
    mps_arena_release(arena);
    collect();
    ck_assert_uint_lt(mps_pool_total_size(pool), size / 8);
  }
  end();
}
END_TEST

static void swap_ends(void) {
  mps_addr_t first = table[0];

  table[0] = table[ROOTS - 1];
  table[ROOTS - 1] = first;
}

/* The flip comes when only the first roots were marked. */
START_TEST(some_roots_marked) {
  begin();
  if (begin_ahead()) {
    go_on_ahead();
    tdo_heap_enter(heap);
    ck_assert(!tdo_roots_mark_early(heap, 1)); /* the time was over long ago */
    ck_assert_uint_gt(words_marked(), 0);
    ck_assert_uint_lt(words_marked(), ROOTS);
    swap_ends();
    ck_assert(tdo_trace_start(heap, NULL, 0, "test"));
    tdo_trace_finish(heap);
    tdo_heap_leave(heap);
    check_nothing_early();
    swap_ends();
    check_lists();
    tdo_arena_check(arena);
  }
  end();
}
END_TEST

static mps_root_t second_root;
static mps_addr_t second[ROOTS];

/* A root that goes, or comes, after roots were marked. */
START_TEST(roots_come_and_go) {
  bool late = _i != 0;

  begin();
  if (!late)
    ck_assert_int_eq(mps_root_create_table(&second_root, arena,
                                           mps_rank_exact(), 0, second, ROOTS),
                     MPS_RES_OK);
  memcpy(second, table, sizeof table);
  if (begin_ahead()) {
    go_on_ahead();
    tdo_heap_enter(heap);
    ck_assert(tdo_roots_mark_early(heap, 0));
    tdo_heap_leave(heap);
    if (late) {
      ck_assert_int_eq(mps_root_create_table(&second_root, arena,
                                             mps_rank_exact(), 0, second,
                                             ROOTS), MPS_RES_OK);
      memset(table, 0, sizeof table);
      flip();
      memcpy(table, second, sizeof table);
      mps_root_destroy(second_root);
    } else {
      size_t own = heap->control.allocated;
      mps_root_destroy(second_root);
      ck_assert_uint_ge(own - heap->control.allocated, sizeof second);
      flip();
    }
    check_nothing_early();
    check_lists();
    mps_arena_release(arena);
    collect();
    check_lists();
  } else if (!late) {
    mps_root_destroy(second_root);
  }
  end();
}
END_TEST

/* A root that was marked is destroyed by a handler in the flip, with its
   memory. */
START_TEST(root_goes_in_the_flip) {
  size_t bytes = tdo_round_up(sizeof second, suite_pages(1));
  mps_addr_t *mine = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  ck_assert_ptr_ne(mine, MAP_FAILED);
  begin();
  ck_assert_int_eq(mps_root_create_table(&second_root, arena, mps_rank_exact(),
                                         0, mine, ROOTS), MPS_RES_OK);
  memcpy(mine, table, sizeof table);
  if (begin_ahead()) {
    go_on_ahead();
    tdo_heap_enter(heap);
    ck_assert(tdo_roots_mark_early(heap, 0));
    tdo_heap_destroy_late(heap, second_root);
    ck_assert_int_eq(munmap(mine, bytes), 0);
    ck_assert(tdo_trace_start(heap, NULL, 0, "test"));
    tdo_trace_finish(heap);
    tdo_heap_leave(heap);
    check_nothing_early();
    check_lists();
  } else {
    mps_root_destroy(second_root);
  }
  end();
}
END_TEST

static void step(void) {
  mps_arena_release(arena);
  while (heap->trace.state != TDO_TRACE_IDLE)
    (void)mps_arena_step(arena, 0.001, 0);
}

static void explicitly(void) {
  ck_assert_int_eq(mps_arena_collect(arena), MPS_RES_OK);
}

static void start_another(void) {
  ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
  mps_arena_park(arena);
}

/* One that has condemned objects. */
static void lose_full_pool(void) {
  for (size_t i = 0; i < ROOTS; i += ROOTS / OTHERS)
    *obj_ref(table[i], 3) = NULL;
  mps_ap_destroy(other_ap);
  mps_pool_destroy(other_pool);
  other_pool = obj_pool(mps_class_amc());
  other_ap = point(other_pool);
}

static void lose_pool(void) {
  lose_full_pool();
  mps_arena_park(arena);
}

static void fork_child(void) {
  pid_t child = fork();
  int status;

  if (child == 0) {
    write_old();
    check_lists();
    mps_arena_park(arena);
    check_lists();
    _exit(0);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  mps_arena_park(arena);
}

/* All is as it should be, and still is after another collection. */
static void check_around_collection(void) {
  check_lists();
  tdo_arena_check(arena);
  collect();
  check_lists();
}

static void (*const others[])(void) = {step, explicitly, start_another,
                                       lose_pool, fork_child};

/* Whatever comes before the flip finds a collection in progress. */
START_TEST(what_comes_between) {
  begin();
  if (begin_ahead()) {
    write_old();
    if (_i % 2 != 0) {
      go_on_ahead();
      mark_early();
      write_old();
    }
    others[_i / 2]();
    check_nothing_early();
    check_around_collection();
  }
  end();
}
END_TEST

/* What is new after a collection was asked for to start survives it. */
START_TEST(asked_to_start) {
  begin();
  if (begin_ahead()) {
    ck_assert_int_eq(mps_arena_start_collect(arena), MPS_RES_OK);
    ck_assert_int_ne(heap->trace.state, TDO_TRACE_AHEAD);
    mps_arena_clamp(arena);
    for (size_t i = 0; i < 10000; ++i)
      (void)obj_on(other_ap, OBJ_NODE, REFS);
    mps_arena_park(arena);
    ck_assert_uint_ge(mps_pool_total_size(other_pool),
                      (10000 + OTHERS) * obj_bytes(REFS));
    check_lists();
  }
  end();
}
END_TEST

/* New nodes, each with its number. */
static void fill(mps_addr_t volatile *to, size_t n) {
  for (size_t i = 0; i < n; ++i)
    to[i] = numbered(i);
}

/* What only the stack of who parks the arena refers to stays alive. */
START_TEST(parked_with_a_stack) {
  mps_addr_t volatile own[HELD];
  mps_root_t stack;
  begin();
  ck_assert_int_eq(mps_root_create_thread(&stack, arena, thr, FRAME_COLD()),
                   MPS_RES_OK);
  fill(own, HELD);
  if (begin_ahead()) {
    go_on_ahead();
    fill(own, HELD);
    flip();
    ck_assert_int_eq(heap->trace.state, TDO_TRACE_IDLE);
    for (size_t i = 0; i < HELD; ++i) {
      mps_addr_t found = NULL;
      ck_assert_int_eq(mps_addr_object(&found, arena, own[i]), MPS_RES_OK);
      ck_assert_ptr_eq(found, own[i]);
      ck_assert_uint_eq(number_of(found), i);
    }
  }
  mps_root_destroy(stack);
  end();
}
END_TEST

/* What old objects and a weak root refer to moves in a collection that a step
   flips: when the step ends the root knows where. */
START_TEST(weak_root_and_step) {
  begin();
  ck_assert_int_eq(mps_root_create_table(&second_root, arena, mps_rank_weak(),
                                         0, second, ROOTS), MPS_RES_OK);
  if (begin_ahead()) {
    mps_word_t collections = mps_collections(arena);
    go_on_ahead();
    for (size_t i = 0; i < ROOTS; ++i) {
      second[i] = numbered(i);
      for (mps_addr_t p = table[i]; p != NULL; p = *obj_ref(p, 1))
        *obj_ref(p, 2) = second[i];
    }
    mark_early();
    mps_arena_release(arena);
    mps_arena_pause_time_set(arena, 0);
    while (mps_collections(arena) == collections)
      ck_assert(mps_arena_step(arena, 0, 0));
    mps_arena_clamp(arena);
    for (size_t i = 0; i < ROOTS; ++i) {
      REQUIRE(second[i] != NULL && obj_kind(second[i]) == OBJ_NODE);
      REQUIRE(number_of(second[i]) == i);
    }
    mps_arena_park(arena);
  }
  mps_root_destroy(second_root);
  end();
}
END_TEST

/* A transform is possible while nothing has moved. */
START_TEST(transformed_meanwhile) {
  begin();
  if (begin_ahead()) {
    mps_addr_t old = *obj_ref(table[0], 1), new = *obj_ref(table[1], 1);
    mps_transform_t t;
    mps_bool_t applied = 0;
    mps_word_t collections;
    go_on_ahead();
    ck_assert_int_eq(mps_transform_create(&t, arena), MPS_RES_OK);
    ck_assert_int_eq(mps_transform_add_oldnew(t, &old, &new, 1), MPS_RES_OK);
    old = new = NULL;
    collections = mps_collections(arena);
    ck_assert_int_eq(mps_transform_apply(&applied, t), MPS_RES_OK);
    ck_assert(applied);
    ck_assert_uint_eq(mps_collections(arena), collections + 1);
    mps_transform_destroy(t);
    ck_assert_ptr_eq(*obj_ref(table[0], 1), *obj_ref(table[1], 1));
    ck_assert_uint_eq(number_of(*obj_ref(table[0], 1)), 1);
    table[0] = NULL;
    tdo_arena_check(arena);
  }
  end();
}
END_TEST

/* ---- the flip that does not come ---- */

static mps_addr_t clue[1]; /* ambiguous */

static void lose_chain(void) {
  mps_gen_param_s gen = {100, 0.5};
  mps_chain_t other;
  ck_assert_int_eq(mps_chain_create(&other, arena, 1, &gen), MPS_RES_OK);
  mps_chain_destroy(other);
}

static void lose_empty_pool(void) {
  mps_pool_destroy(obj_pool(mps_class_amc()));
}

static void park(void) {
  mps_arena_park(arena);
}

static size_t roots_met;

static void meet_root(mps_addr_t *ref, mps_root_t root, void *p, size_t s) {
  (void)ref, (void)root, (void)p, (void)s;
  ++roots_met;
}

/* A transform that an ambiguous reference forbids: the arena is parked. */
static void transform_pinned(void) {
  mps_addr_t old = table[0], new = table[1];
  mps_transform_t t;
  mps_bool_t applied = 7;
  mps_root_t root;
  clue[0] = old;
  ck_assert_int_eq(mps_root_create_table(&root, arena, mps_rank_ambig(), 0,
                                         clue, 1), MPS_RES_OK);
  ck_assert_int_eq(mps_transform_create(&t, arena), MPS_RES_OK);
  ck_assert_int_eq(mps_transform_add_oldnew(t, &old, &new, 1), MPS_RES_OK);
  ck_assert_int_eq(mps_transform_apply(&applied, t), MPS_RES_OK);
  ck_assert(!applied);
  roots_met = 0;
  mps_arena_roots_walk(arena, meet_root, NULL, 0);
  ck_assert_uint_ge(roots_met, ROOTS);
  mps_transform_destroy(t);
  mps_root_destroy(root);
}

static void (*const stills[])(void) = {lose_chain, lose_empty_pool,
                                       lose_full_pool, park, transform_pinned};

/* What the last full collection found is known still, and the next one waits
   for nothing: where the program clamps the arena time and again it would never
   flip. */
static void check_given_up(const tdo_evacuate_t *learned) {
  ck_assert_mem_eq(&heap->evacuate, learned, sizeof *learned);
  tdo_heap_enter(heap);
  if (heap->trace.state == TDO_TRACE_IDLE)
    ck_assert(!tdo_trace_begin_ahead(heap, "test"));
  tdo_heap_leave(heap);
}

/* Nothing moves in a clamped arena, whatever is taken from it, nor when it is
   parked then; and what was begun is done later. */
START_TEST(clamped_meanwhile) {
  mps_addr_t *before;
  tdo_evacuate_t learned;
  begin();
  tdo_evacuate_found(&heap->evacuate, 100, 200);
  learned = heap->evacuate;
  if (begin_ahead()) {
    mps_word_t collections = mps_collections(arena);
    write_old();
    go_on_ahead();
    mark_early();
    mps_arena_clamp(arena);
    before = memcpy(malloc(sizeof table), table, sizeof table);
    stills[_i]();
    ck_assert_uint_eq(mps_collections(arena), collections);
    ck_assert_mem_eq(before, table, sizeof table);
    free(before);
    check_given_up(&learned);
    write_old();
    check_lists();
    mps_arena_release(arena);
    for (size_t i = 0; i < suite_size(1 << 20, 100); ++i)
      (void)node(2);
    mps_arena_park(arena);
    ck_assert(suite_stressed() || heap->stats.full_collections > 4);
    ck_assert(suite_stressed() || !heap->given_up);
    check_around_collection();
  }
  end();
}
END_TEST

/* Between the flip, which closes all at once, and the end. */
START_TEST(closed_at_the_flip) {
  begin();
  if (begin_ahead()) {
    size_t hidden = heap->shield.hidden;
    write_old();
    go_on_ahead();
    mark_early();
    tdo_heap_enter(heap);
    ck_assert_uint_eq(hidden, heap->shield.hidden);
    ck_assert(tdo_trace_start(heap, NULL, 0, "test"));
    ck_assert_int_eq(heap->trace.state, TDO_TRACE_FLIPPED);
    tdo_heap_leave(heap);
    TDO_RING_FOR(link, &heap->top.white) {
      const tdo_gcseg_t *seg = TDO_RING_ENTRY(tdo_gcseg_t, gen_ring, link);
      if (seg->nailed)
        REQUIRE(tdo_shield_bars(&heap->shield,
                                tdo_heap_page(heap, seg->seg.base)) &
                TDO_BAR_READ);
    }
    check_lists();
    write_old();
    check_lists();
  }
  end();
}
END_TEST

/* The collector does it of its own accord. (With a pause time that slow
   machines keep, too: where minor collections do not, the nursery grows
   meanwhile, and with it the time until what is old has.) */
START_TEST(when_the_heap_has_grown) {
  bool seen = false;
  size_t most = suite_size(128 << 20, 1 << 20);

  begin();
  mps_arena_release(arena);
  mps_arena_pause_time_set(arena, 0.5);
  for (size_t size = 0; size < most && !(seen && heap->stats.full_collections);
       size += obj_bytes(REFS)) {
    size_t i = size % 1021;
    mps_addr_t p = node(REFS);
    *obj_ref(p, 0) = (mps_addr_t)(i << 2 | 1);
    *obj_ref(p, 3) = *obj_ref(table[i], 3);
    *obj_ref(table[i], 3) = p;
    seen |= heap->trace.state == TDO_TRACE_AHEAD;
  }
  ck_assert_int_eq(seen, tdo_shield_hides(&heap->shield));
  mps_arena_park(arena);
  check_lists();
  end();
}
END_TEST

SUITE_LOOPS_MAIN("ahead", 60, {written_meanwhile, 1}, {dead_meanwhile, 1},
                 {what_comes_between, 2 * sizeof others / sizeof others[0]},
                 {clamped_meanwhile, sizeof stills / sizeof stills[0]},
                 {roots_change_after_marking, 1}, {some_roots_marked, 1},
                 {roots_come_and_go, 2}, {root_goes_in_the_flip, 1},
                 {asked_to_start, 1}, {parked_with_a_stack, 1},
                 {weak_root_and_step, 1}, {transformed_meanwhile, 1},
                 {closed_at_the_flip, 1}, {when_the_heap_has_grown, 1})
