/* Testudo: bigheap: replace nodes of 64 bytes at random in a heap that lives.
   SPDX-License-Identifier: BSD-2-Clause */
#include "workload.h"

#define NODE_SLOTS 7    /* 64 bytes with the header */
#define LEAF_NODES 1023 /* nodes to a vector of 8 KiB */

const char workload_name[] = "bigheap";
const unsigned workload_batch = 16;

static obj_t *make_node(size_t index, size_t turn) {
  obj_t *node = heap_slots(NODE_SLOTS);
  SLOT_SET(node, 0, FIXNUM(index));
  SLOT_SET(node, 1, FIXNUM(turn));
  return node;
}

static void build(obj_t **vectors, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    vectors[i] = heap_slots(LEAF_NODES);
    for (size_t j = 0; j < LEAF_NODES; ++j) {
      obj_t *node = make_node(i * LEAF_NODES + j, 0);
      SLOT_SET(vectors[i], j, node);
      if (j % workload_batch == 0)
        meter_tick(&meter);
    }
  }
}

static void check_heap(obj_t **vectors, size_t count, size_t replaced) {
  size_t young = 0;
  for (size_t i = 0; i < count; ++i) {
    check(OBJ_SLOTS(vectors[i]) == LEAF_NODES);
    for (size_t j = 0; j < LEAF_NODES; ++j) {
      obj_t *node = SLOT(vectors[i], j);
      check(OBJ_SLOTS(node) == NODE_SLOTS);
      check(FIXNUM_VALUE(SLOT(node, 0)) == i * LEAF_NODES + j);
      check(SLOT(node, 2) == NULL);
      young += FIXNUM_VALUE(SLOT(node, 1)) != 0;
    }
  }
  check(young <= replaced && (replaced == 0 || young != 0));
}

void workload(void) {
  size_t count = options.heap / (LEAF_NODES * OBJ_BYTES(NODE_SLOTS));
  count = count == 0 ? 1 : count;
  obj_t **vectors = heap_roots(count);
  uint64_t state = random_state(0);
  build(vectors, count);
  build_done();
  size_t rounds = options.ops / workload_batch;
  size_t n = 0;
  for (size_t round = 0; round < rounds; ++round) {
    for (unsigned i = 0; i < workload_batch; ++i) {
      size_t v = random_below(&state, count);
      size_t j = random_below(&state, LEAF_NODES);
      obj_t *node = make_node(v * LEAF_NODES + j, ++n);
      SLOT_SET(vectors[v], j, node);
    }
    meter_tick(&meter);
  }
  work_done(n);
  check_heap(vectors, count, n);
}
