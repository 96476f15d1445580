/* Testudo: manual: blocks allocated and freed by hand, in pools of the library
   and, in the other build, by malloc.
   SPDX-License-Identifier: BSD-2-Clause */
#include "workload.h"

#include <stdlib.h>

#define SMALLEST 16
#define LARGEST  512
#define MEAN     92 /* of random_size */
#define UNIT     64 /* where all are alike */

const char workload_name[] = "manual";
const unsigned workload_batch = 32;

typedef struct block_s {
  uint64_t *memory; /* its first and last words are its place */
  size_t bytes;
} block_t;

static size_t random_size(uint64_t *state) {
  if (options.kind == BLOCKS_MFS)
    return UNIT;
  size_t small = SMALLEST + random_below(state, 112) / 8 * 8;
  size_t any = SMALLEST + random_below(state, LARGEST - SMALLEST) / 8 * 8;
  return random_next(state) & 7 ? small : any;
}

static void check_block(const block_t *block, size_t place) {
  check(block->memory[0] == place);
  check(block->memory[block->bytes / 8 - 1] == place);
}

static void release(block_t *block, size_t place) {
  check_block(block, place);
  heap_block_free(block->memory, block->bytes);
  block->memory = NULL;
}

static void replace(block_t *block, size_t place, uint64_t *state) {
  if (block->memory != NULL)
    release(block, place);
  block->bytes = random_size(state);
  block->memory = heap_block(block->bytes);
  block->memory[0] = place;
  block->memory[block->bytes / 8 - 1] = place;
}

void workload(void) {
  size_t count = options.heap / 128 + 1, n = 0;
  uint64_t state = random_state(0);
  block_t *blocks = calloc(count, sizeof *blocks);
  check(blocks != NULL);
  heap_blocks_open((unsigned)options.kind,
                   options.kind == BLOCKS_MFS ? UNIT : MEAN);
  for (size_t i = 0; i < count; ++i)
    replace(&blocks[i], i, &state);
  build_done();
  while (n < options.ops) {
    for (unsigned i = 0; i < workload_batch; ++i, ++n) {
      size_t place = random_below(&state, count);
      replace(&blocks[place], place, &state);
    }
    meter_tick(&meter);
  }
  work_done(n);
  for (size_t i = 0; i < count; ++i) {
    check_block(&blocks[i], i);
    release(&blocks[i], i);
  }
  free(blocks);
}
