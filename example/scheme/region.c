/* Testudo: memory for one compilation of the Scheme interpreter.
   SPDX-License-Identifier: BSD-2-Clause

   The compiler's trees are C structures that hold values. Their blocks are
   ambiguous roots: what they mention stays where it is. All are given up
   together when the compilation ends; what one step of it needs, after it. */
#include "scheme.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 16 };

struct block {
  struct block *next;
  mps_root_t root;
  size_t size, used; /* bytes of data */
  val data[];
};

static struct block *blocks; /* the first is the one in use */

static struct block *block_new(size_t size) {
  struct block *b = calloc(1, sizeof *b + size);
  if (b == NULL)
    raise_kind("memory", NULL, "out of memory", NIL);
  b->size = size;
  mps_res_t res =
      mps_root_create_area(&b->root, vm.arena, mps_rank_ambig(), 0, b->data,
                           (char *)b->data + size, mps_scan_area, NULL);
  if (res != MPS_RES_OK) {
    free(b);
    raise_kind("memory", NULL, "out of memory", NIL);
  }
  b->next = blocks;
  blocks = b;
  return b;
}

void *region_alloc(size_t bytes) {
  bytes = (bytes + sizeof(val) - 1) & ~(sizeof(val) - 1);
  struct block *b = blocks;
  if (b == NULL || b->used + bytes > b->size)
    b = block_new(bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES);
  void *p = (char *)b->data + b->used;
  b->used += bytes;
  return p;
}

static void block_drop(void) {
  struct block *b = blocks;
  blocks = b->next;
  mps_root_destroy(b->root);
  free(b);
}

static void block_clear(struct block *b, size_t used) {
  memset((char *)b->data + used, 0, b->used - used);
  b->used = used;
}

struct region_mark region_mark(void) {
  return (struct region_mark){blocks, blocks == NULL ? 0 : blocks->used};
}

void region_release(struct region_mark mark) {
  while (blocks != mark.block)
    block_drop();
  if (blocks != NULL)
    block_clear(blocks, mark.used);
}

/* Keeps one block for the next compilation. */
void region_reset(void) {
  while (blocks != NULL &&
         (blocks->next != NULL || blocks->size > BLOCK_BYTES))
    block_drop();
  if (blocks != NULL)
    block_clear(blocks, 0);
}

void region_finish(void) {
  while (blocks != NULL)
    block_drop();
}
