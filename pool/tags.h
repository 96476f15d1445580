/* Testudo: a table of blocks by address, for debug pools.
   SPDX-License-Identifier: BSD-2-Clause

   A hash table of chains in control blocks. It grows when it can; when memory
   is short the chains get longer instead. Removing needs no memory. */
#ifndef TDO_POOL_TAGS_H
#define TDO_POOL_TAGS_H

#include "trace/pool.h"

typedef struct tdo_tag {
  struct tdo_tag *next;
  char *block;
  size_t size; /* as the client asked */
} tdo_tag_t;

typedef struct tdo_tags {
  tdo_pool_t *pool;
  tdo_tag_t **chains;
  size_t chain_count; /* 0 or a power of two */
  size_t count;       /* tags */
} tdo_tags_t;

void tdo_tags_init(tdo_tags_t *tags, tdo_pool_t *pool);
void tdo_tags_finish(tdo_tags_t *tags);

/* BLOCK is not in the table yet. Memory codes. */
mps_res_t tdo_tags_add(tdo_tags_t *tags, char *block, size_t size);
/* The tag of BLOCK, or null. */
tdo_tag_t *tdo_tags_find(const tdo_tags_t *tags, const char *block);
void tdo_tags_remove(tdo_tags_t *tags, const char *block);

typedef void (*tdo_tags_visit_t)(tdo_pool_t *pool, const tdo_tag_t *tag);
void tdo_tags_each(const tdo_tags_t *tags, tdo_tags_visit_t visit);

#endif /* TDO_POOL_TAGS_H */
